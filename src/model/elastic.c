// Isotropic elasticity in the Hencky strain h = ln(F F^T) / 2 (docs/theory.md, section 8). The
// smallest law there is: docs/adding-a-material.md walks through it.
#include "model/variant.h"

#ifdef RP_DIM // ---- the law ----

#include "model/linear.h"

RP_INLINE linear_follow elastic_follow(const rp_law_tile *tile, int lane)
{
    const sym trial = hencky_trial(tile, lane);
    const vec zero = vset(R(0.0)), one = vset(R(1.0));
    return (linear_follow){trial, trial, {one, zero, zero, one}};
}

RP_LINEAR_ENTRIES(elastic)

static void RP_LAW_VARIANT(elastic_update)(const rp_law_tile *tile) { hencky_update(tile); }

RP_HENCKY_ENTRIES(elastic)

RP_LAW(elastic) = {.stress = RP_LAW_VARIANT(elastic_stress),
                   .update = RP_LAW_VARIANT(elastic_update),
                   .energy = RP_LAW_VARIANT(elastic_energy)};

#else // ---- the material ----

#include "model/material.h"

static const rp_property properties[] = {RP_ELASTIC_PROPERTIES};

static const char example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "local jelly = material.elastic { density = 1000, young = 2e4, poisson = 0.4 }\n"
    "particles { material = jelly, shape = box { min = {0, 0.1, 0}, max = {0.2, 0.3, 0.2} } }\n"
    "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }\n";

static unsigned needs(const rp_material_def *def)
{
    (void)def;
    return 1u << RP_COL_STRAIN;
}

const rp_material_class rp_class_elastic = {
    .info = {.name = "elastic",
             .sentence = "A soft solid that never yields.",
             .example = example,
             .species = "solid",
             .color = {0.3, 0.55, 0.68},
             RP_PROPERTIES(properties)},
    .needs = needs,
    .parameters = rp_elastic_parameters,
    .modulus = rp_elastic_modulus,
};

#endif
