// Tracers: marks without mass that go with the flow and add nothing to it.
#include "model/variant.h"

#ifdef RP_DIM // ---- the law: there is none ----

RP_LAW(tracer) = {.stress = NULL, .update = NULL, .energy = NULL};

#else // ---- the material ----

#include "model/material.h"

static const char example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "local block = box { min = {0, 0, 0}, max = {0.2, 0.3, 0.2} }\n"
    "particles { material = material.sand {}, shape = block }\n"
    "particles { material = material.tracer {}, shape = intersect(block, "
    "box { min = {0, 0.14, 0}, max = {0.2, 0.16, 0.2} }) }\n"
    "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }\n";

static unsigned needs(const rp_material_def *def)
{
    (void)def;
    return 0;
}

static void parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT])
{
    (void)def, (void)dim, (void)out;
}

const rp_material_class rp_class_tracer = {
    .info = {.name = "tracer",
             .sentence = "Marks without mass that go along with what they lie in, to see where it "
                         "went. They have no velocity of their own, in frames 0, and measurements "
                         "leave them out.",
             .example = example,
             .species = "tracer",
             .color = {0.85, 0.2, 0.25}},
    .needs = needs,
    .parameters = parameters,
    .grains = true,
    .massless = true,
};

#endif
