// What is known of a column besides its name. The one list of columns is in repose/columns.h.
#pragma once

#include "core/layout.h"

typedef enum rp_kind {
    RP_KIND_REAL,     // float or double, by precision
    RP_KIND_POSITION, // cells from the page's origin: int32 fixed point in single, double in double
    RP_KIND_U16,
    RP_KIND_U64,
} rp_kind;

typedef enum rp_comps { RP_SCALAR, RP_VECTOR, RP_MATRIX, RP_SYMMETRIC } rp_comps;

typedef struct rp_column_info {
    const char *name;
    rp_kind kind;
    rp_comps comps;
    double neutral; // of every component: J = 1 is not 0
    const char *unit, *sentence;
} rp_column_info;

extern const rp_column_info rp_column_table[RP_COL_COUNT];

// Components of a column and bytes of each, in a world of this layout.
int rp_layout_comps(const rp_layout *l, rp_column_id column);
int rp_layout_bytes(const rp_layout *l, rp_column_id column);
