// SPDX-License-Identifier: Apache-2.0
// Materials: what particles are made of. A kind of material is a law (how stress follows from
// deformation) and a list of properties; whoever describes materials (scenes, files, tables of the
// manual) walks that list. docs/adding-a-material.md adds a kind.
#pragma once

#include "columns.h"
#include "property.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_world rp_world;

/// Every kind of material: X(ID, name). Its law is src/model/NAME.c, scenes call it material.NAME.
#define RP_MATERIALS(X)                                                                            \
    X(SAND, sand)                                                                                  \
    X(ELASTIC, elastic)                                                                            \
    X(WATER, water)                                                                                \
    X(CAM_CLAY, cam_clay)                                                                          \
    X(TRACER, tracer)                                                                              \
    X(SNOW, snow)                                                                                  \
    X(GLUE, glue)

/// RP_SAND, RP_ELASTIC and so on.
typedef enum rp_material_kind {
#define RP_MATERIAL_ID(id, name) RP_##id,
    RP_MATERIALS(RP_MATERIAL_ID)
#undef RP_MATERIAL_ID
        RP_MATERIAL_KINDS,
} rp_material_kind;

/// What a friction angle means for the yield cone (docs/theory.md, The friction angle).
typedef enum rp_yield_fit {
    RP_FIT_DEFAULT,      ///< compression in 3D, plane strain in 2D
    RP_FIT_COMPRESSION,  ///< Klar 2016: matches Mohr-Coulomb in triaxial compression
    RP_FIT_PLANE_STRAIN, ///< matches Mohr-Coulomb in plane strain; exact in 2D
    RP_FIT_SLOPE,        ///< a flowing slope settles at the friction angle
    RP_FIT_INSCRIBED,    ///< the cone inside Mohr-Coulomb's pyramid
    RP_FIT_MIDDLE,       ///< through the inner corners of the pyramid (triaxial extension)
} rp_yield_fit;

/// How sand slides (docs/theory.md, Sand that comes to rest).
typedef enum rp_sand_flow {
    RP_FLOW_PAPER,   ///< at constant volume
    RP_FLOW_RESTING, ///< it swells a little, and pays that back with time
} rp_sand_flow;

/// A material as its user describes it. A kind looks at the members that its properties name.
typedef struct rp_material_def {
    rp_material_kind kind;
    char name[RP_NAME_SIZE]; ///< for messages and frames
    double density;          ///< bulk density at rest [kg/m^3]
    double young;            ///< Young's modulus [Pa]
    double poisson;          ///< Poisson's ratio, > -1 and < 0.5
    double
        friction_angle; ///< [rad]; not used when friction_coefficient is given or hardening is on
    rp_yield_fit yield_fit;      ///< what the angle means
    double friction_coefficient; ///< shear over normal stress at yield; < 0: use friction_angle
    bool hardening;              ///< friction angle follows h0 + (h1 q - h3) exp(-h2 q)
    double hardening_h[4];       ///< h0 [rad], h1 [rad], h2 [1], h3 [rad]
    double cohesion;             ///< c_C, as stress norm [Pa]
    double dilation_angle;       ///< [rad]: how steeply sheared sand swells
    double dilation_limit;       ///< log of volume that it gains so in all; < 0: without end
    double porosity;             ///< share of the volume at rest that is pores
    double conductivity; ///< of sand for water [m/s]; what `permeability` and `drag` say otherwise
    double permeability; ///< of sand [m^2]; < 0: not given
    double drag;         ///< between sand and water [kg/(m^3 s)]; < 0: not given
    bool volume_correction;   ///< undo the volume that sand gains when it separates
    rp_sand_flow flow;        ///< whether sand swells while it slides and pays that back
    bool inertial;            ///< friction grows with the rate of shear, mu(I)
    double inertial_friction; ///< what it grows to; < 0: 0.26 more than friction at rest
    double inertial_number;   ///< I0, at which it has grown by half
    double inertial_grain;    ///< diameter of grains [m]
    double inertial_density;  ///< in I [kg/m^3]; < 0: that of grains, density / (1 - porosity)
    double bulk_modulus;      ///< of water at rest, density times the square of sound's speed [Pa]
    double sound_speed;       ///< instead of bulk_modulus [m/s]; < 0: not given
    double gamma;             ///< of water: pressure goes with J^-gamma
    double viscosity;         ///< of water [Pa s]
    bool tension;             ///< water holds together when it is pulled
    double preconsolidation;  ///< of clay: pressure at which it first yields in compression [Pa]
    double compression;       ///< of clay: log of volume lost per e-fold of that pressure
    double critical_compression; ///< of snow: log strain beyond which it is compacted for good
    double critical_stretch;     ///< of snow: log strain beyond which it comes apart
    double snow_hardening;       ///< of snow: e-folds of stiffness per log volume lost
    uint32_t cookie;             ///< filled in by the default functions
} rp_material_def;

/// All defaults of a kind.
RP_API rp_material_def rp_default_material_def(rp_material_kind kind);
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

/// The friction coefficient of plain shear at yield, before anything hardens: what angle,
/// coefficient and yield_fit come down to, for every method (docs/theory.md (29)). 0 for what has
/// no friction of its own.
RP_API double rp_material_friction(const rp_material_def *def, int dimension);
/// The same for a particle that has hardened by so much: its column `hardening`.
RP_API double rp_material_friction_after(const rp_material_def *def, int dimension,
                                         double hardening);
/// What friction grows to at high rates of shear, as rp_material_friction() counts it; the same as
/// at rest without `inertial` (docs/theory.md (28a)).
RP_API double rp_material_inertial_friction(const rp_material_def *def, int dimension);
/// The density in I of a def with `inertial` [kg/m^3].
RP_API double rp_material_inertial_density(const rp_material_def *def);
/// The slope [rad] at which the sand settles when it flows, as it is before it hardens; 0 for what
/// is no sand (docs/theory.md, What slope to expect).
RP_API double rp_material_slope(const rp_material_def *def, int dimension);

// ---- what a kind is ----

typedef struct rp_material_info {
    const char *name;     ///< "sand"
    const char *sentence; ///< what it is, for the manual
    const char *example;  ///< a whole scene; NULL: none that scenes name, others make it
    const char *species;  ///< which set its particles are kept in: "solid", "water"
    double color[3];      ///< of its grains in pictures, sRGB; the first is -1: the colours of sand
    const rp_property *property;
    int properties;
} rp_material_info;
/// @return NULL when there is no such kind
RP_API const rp_material_info *rp_material_info_of(rp_material_kind kind);
/// The kind of this name. @return RP_ERR_ARGUMENT with the names that there are
RP_API rp_result rp_material_kind_named(const char *name, rp_material_kind *kind);

// ---- what its law says of particles ----

/// Particles whose law is asked, as frames have them: column[c] is [particle][component] or NULL
/// where there is none; then the neutral value counts.
typedef struct rp_material_state {
    const double *column[RP_COL_COUNT];
} rp_material_state;

/// Kirchhoff stress of particles of one material [Pa]: xx yy zz xy xz yz each, also in 2D, where zz
/// is that of plane strain.
RP_API rp_result rp_material_stress(const rp_material_def *def, int dimension,
                                    const rp_material_state *state, int64_t count,
                                    double (*out)[6]);
/// What they have stored, per volume at rest [J/m^3].
RP_API rp_result rp_material_energy(const rp_material_def *def, int dimension,
                                    const rp_material_state *state, int64_t count, double *out);
/// Current over initial volume of each.
RP_API rp_result rp_material_volume(const rp_material_def *def, int dimension,
                                    const rp_material_state *state, int64_t count, double *out);
/// Mean pressure [Pa] of a stress as rp_material_stress() gives it: what pictures show, the mean
/// over the dimensions that there are.
RP_API double rp_pressure_of(const double stress[6], int dimension);

#ifdef __cplusplus
}
#endif
