// SPDX-License-Identifier: Apache-2.0
// Columns: what particles carry, one quantity each.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_world rp_world;

/// The one list of particle columns. The names below, allocation, sorting, saving, reading and
/// exports are made from it.
///
///     X(ID, name, kind, shape, neutral, unit, sentence)
///
/// Kinds and shapes are told in src/core/columns.h. A particle that has just been born, and one of
/// a species without the column where others have it, has the neutral value; of mass and volume
/// that is what its group says.
// clang-format off
#define RP_COLUMNS(X) \
    X(POSITION,     "position",     POSITION, VECTOR,    0, "m",   "where the particle is") \
    X(VELOCITY,     "velocity",     REAL,     VECTOR,    0, "m/s", "how fast it moves") \
    X(AFFINE,       "affine",       REAL,     MATRIX,    0, "1/s", "C, the velocity gradient that APIC carries") \
    X(STRAIN,       "strain",       REAL,     SYMMETRIC, 0, "1",   "elastic Hencky tensor h = 1/2 ln(F F^T)") \
    X(HARDENING,    "hardening",    REAL,     SCALAR,    0, "1",   "q, plastic deformation that hardens") \
    X(VOLUME_GAIN,  "volume_gain",  REAL,     SCALAR,    0, "1",   "v_c, log volume gained by separation") \
    X(VOLUME_RATIO, "volume_ratio", REAL,     SCALAR,    1, "1",   "J, current over initial volume") \
    X(RATE,         "rate",         REAL,     SYMMETRIC, 0, "1/s", "rate of deformation, where it meets viscosity") \
    X(CONSOLIDATION, "consolidation", REAL,   SCALAR,    0, "1",   "log of clay's yield pressure over that at the start") \
    X(PLASTIC_VOLUME, "plastic_volume", REAL, SCALAR,    0, "1",   "log of volume that snow gained for good; below 0 where it was compacted") \
    X(SATURATION,   "saturation",   REAL,     SCALAR,    0, "1",   "share of the pores around a grain of sand that is full of water") \
    X(BOND,         "bond",         REAL,     SCALAR,    1, "1",   "share of its cohesion that a particle has, where it can be lost") \
    X(STRENGTH,     "strength",     REAL,     SCALAR,    0, "Pa",  "stress that glue withstands; a force in N where its criterion is the paper's") \
    X(NORMAL,       "normal",       REAL,     VECTOR,    0, "1",   "of the cut that glue holds, from its first body to its second") \
    X(AREA,         "area",         REAL,     SCALAR,    0, "m^2", "of the cut that a particle of glue stands for") \
    X(PARTNER,      "partner",      REAL,     SCALAR,    0, "1",   "number of the second body that glue holds; its group names the first") \
    X(SLACK,        "slack",        REAL,     SCALAR,    0, "1",   "strain that may be added around glue before it has to be looked at whether it breaks") \
    X(OPENING,      "opening",      REAL,     SCALAR,    0, "m",   "how far what glue holds has come apart since its strength began to fall; 0: it has not") \
    X(MASS,         "mass",         REAL,     SCALAR,    0, "kg",  "of the particle, where not all of its group weigh the same") \
    X(VOLUME,       "volume",       REAL,     SCALAR,    0, "m^3", "of the particle at rest, likewise") \
    X(DEPTH,        "depth",        REAL,     SCALAR,    0, "m",   "how far below the surface of its solid body it was made; 0: nobody knows") \
    X(GROUP,        "group",        U16,      SCALAR,    0, "1",   "source the particle came from: material, field, mass") \
    X(ID,           "id",           U64,      SCALAR,    0, "1",   "counted in scene order, never reused")

/// What the laws of materials say of particles, as columns: X(ID, name, components, unit, sentence). Frames keep
/// these only where a scene's output.columns asks for them; rp_reader works them out otherwise.
#define RP_DERIVED_COLUMNS(X) \
    X(STRESS,   "stress",   6, "Pa", "Cauchy stress xx yy zz xy xz yz, tension positive; zz in 2D is that of plane strain") \
    X(PRESSURE, "pressure", 1, "Pa", "minus the mean of the normal stresses along the axes of the scene: compression is positive")
// clang-format on

/// Names a particle column: RP_COL_POSITION, RP_COL_VELOCITY and so on.
typedef enum rp_column_id {
#define RP_COLUMN_ID(id, name, kind, shape, neutral, unit, sentence) RP_COL_##id,
    RP_COLUMNS(RP_COLUMN_ID)
#undef RP_COLUMN_ID
        RP_COL_COUNT,
} rp_column_id;
RP_API const char *rp_column_name(rp_column_id column);
/// RP_DERIVED_STRESS and RP_DERIVED_PRESSURE.
typedef enum rp_derived_id {
#define RP_DERIVED_ID(id, name, comps, unit, sentence) RP_DERIVED_##id,
    RP_DERIVED_COLUMNS(RP_DERIVED_ID)
#undef RP_DERIVED_ID
        RP_DERIVED_COUNT,
} rp_derived_id;
/// Components of a column in this world; 0 when the world does not keep it.
RP_API int rp_world_column_comps(const rp_world *world, rp_column_id column);
/// Species, one after the other in the order of memory: "solid", "water" and so on.
RP_API int rp_world_species(const rp_world *world);
/// @param index 0 to rp_world_species() - 1
RP_API const char *rp_world_species_name(const rp_world *world, int index);
/// The species of every particle, in the order of rp_world_read().
RP_API void rp_world_read_species(const rp_world *world, uint8_t *out);
/// Copy a column in memory order, as double, to out[particles][components].
/// Every column is copied in the same order as long as no step is taken in between; particles of a
/// species that does not keep it have the neutral value.
RP_API rp_result rp_world_read(const rp_world *world, rp_column_id column, double *out);

/// Which columns frames of a run keep besides position, id, group, material and species, instead of
/// all of them: some that the world has, or of RP_DERIVED_COLUMNS. Frames then hold no state, and a
/// run goes on from state.hdf alone. To be said once all materials are there.
RP_API rp_result rp_world_choose_columns(rp_world *world, const char *const *name, int count);

#ifdef __cplusplus
}
#endif
