// Glue: particles without mass that hold two pieces of a body together (collide/glue.h). They have
// no stress of their own: the pieces have.
#include "model/variant.h"

#ifdef RP_DIM // ---- the law: there is none ----

RP_LAW(glue) = {.stress = NULL, .update = NULL, .energy = NULL};

#else // ---- the material ----

#include "model/material.h"

static unsigned needs(const rp_material_def *def)
{
    (void)def;
    return 1u << RP_COL_STRENGTH | 1u << RP_COL_NORMAL | 1u << RP_COL_AREA | 1u << RP_COL_PARTNER |
           1u << RP_COL_SLACK | 1u << RP_COL_OPENING;
}

static void parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT])
{
    (void)def, (void)dim, (void)out;
}

const rp_material_class rp_class_glue = {
    .info = {.name = "glue",
             .sentence = "Marks without mass on the cuts of a body that is broken into pieces: it "
                         "holds where they are. Made by `fracture`.",
             .species = "glue",
             .color = {0.95, 0.8, 0.2}},
    .needs = needs,
    .parameters = parameters,
    .massless = true,
};

#endif
