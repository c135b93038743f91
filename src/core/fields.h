// The one list of particle columns. Allocation, sorting, saving and reading are made from it.
//
//   X(ID, name, kind, shape, unit, sentence)      in the order of rp_column_id in repose/world.h
#pragma once

#include "core/layout.h"

typedef enum rp_kind {
    RP_KIND_REAL,     // float or double, by precision
    RP_KIND_POSITION, // cells from the page's origin: int32 fixed point in single, double in double
    RP_KIND_U16,
    RP_KIND_U64,
} rp_kind;

typedef enum rp_comps { RP_SCALAR, RP_VECTOR, RP_MATRIX, RP_SYMMETRIC } rp_comps;

#define RP_FIELDS(X)                                                                               \
    X(POSITION, "position", POSITION, VECTOR, "m", "where the particle is")                        \
    X(VELOCITY, "velocity", REAL, VECTOR, "m/s", "how fast it moves")                              \
    X(AFFINE, "affine", REAL, MATRIX, "1/s", "C, the velocity gradient that APIC carries")         \
    X(STRAIN, "strain", REAL, SYMMETRIC, "1", "elastic Hencky tensor h = 1/2 ln(F F^T)")           \
    X(HARDENING, "hardening", REAL, SCALAR, "1", "q, plastic deformation that hardens")            \
    X(VOLUME_GAIN, "volume_gain", REAL, SCALAR, "1", "v_c, log volume gained by separation")       \
    X(VOLUME_RATIO, "volume_ratio", REAL, SCALAR, "1", "J, current over initial volume")           \
    X(STRENGTH, "strength", REAL, SCALAR, "N", "force that glue withstands")                       \
    X(GROUP, "group", U16, SCALAR, "1", "source the particle came from: material, field, mass")    \
    X(ID, "id", U64, SCALAR, "1", "counted in scene order, never reused")

typedef struct rp_field_info {
    const char *name;
    rp_kind kind;
    rp_comps comps;
    const char *unit, *sentence;
} rp_field_info;

extern const rp_field_info rp_field_table[RP_COL_COUNT];

// Components of a column and bytes of each, in a world of this layout.
int rp_field_comps(const rp_layout *l, rp_column_id column);
int rp_field_bytes(const rp_layout *l, rp_column_id column);
