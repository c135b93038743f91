// SPDX-License-Identifier: Apache-2.0
// Materials: what particles are made of.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_world rp_world;

/// What a friction angle means for the yield cone (docs/theory.md, The friction angle).
typedef enum rp_yield_fit {
    RP_FIT_DEFAULT,      ///< compression in 3D, plane strain in 2D
    RP_FIT_COMPRESSION,  ///< Klar 2016: matches Mohr-Coulomb in triaxial compression
    RP_FIT_PLANE_STRAIN, ///< matches Mohr-Coulomb in plane strain; exact in 2D
    RP_FIT_SLOPE,        ///< a flowing slope settles at the friction angle
    RP_FIT_INSCRIBED,    ///< the cone inside Mohr-Coulomb's pyramid
    RP_FIT_MIDDLE,       ///< through the inner corners of the pyramid (triaxial extension)
} rp_yield_fit;

typedef enum rp_material_kind { RP_SAND, RP_ELASTIC } rp_material_kind;

typedef struct rp_material_def {
    rp_material_kind kind;
    char name[32];  ///< for messages and frames
    double density; ///< bulk density at rest [kg/m^3]
    double young;   ///< Young's modulus [Pa]
    double poisson; ///< Poisson's ratio, > -1 and < 0.5
    double
        friction_angle; ///< [rad]; not used when friction_coefficient is given or hardening is on
    rp_yield_fit yield_fit;      ///< what the angle means
    double friction_coefficient; ///< shear over normal stress at yield; < 0: use friction_angle
    bool hardening;              ///< friction angle follows h0 + (h1 q - h3) exp(-h2 q)
    double hardening_h[4];       ///< h0 [rad], h1 [rad], h2 [1], h3 [rad]
    double cohesion;             ///< c_C, as stress norm [Pa]
    bool volume_correction;      ///< undo the volume that sand gains when it separates
    uint32_t cookie;             ///< filled in by the default functions
} rp_material_def;

/// Dry sand: 2200 kg/m^3, E 3.537e5 Pa, nu 0.3, 35 degrees, volume correction on, hardening off.
RP_API rp_material_def rp_default_sand_def(void);
/// A soft solid of sand's density that never yields.
RP_API rp_material_def rp_default_elastic_def(void);

typedef struct rp_material {
    uint16_t index;
} rp_material;

RP_API rp_result rp_world_add_material(rp_world *world, const rp_material_def *def,
                                       rp_material *material);
RP_API int rp_world_materials(const rp_world *world);
/// @param index 0 to rp_world_materials() - 1
RP_API const rp_material_def *rp_world_material(const rp_world *world, int index);
/// The slope [rad] at which the sand settles when it flows, as it is before it hardens; 0 for what
/// is no sand (docs/theory.md, What slope to expect).
RP_API double rp_material_slope(const rp_material_def *def, int dimension);

#ifdef __cplusplus
}
#endif
