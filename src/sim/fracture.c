// Bodies that break: glue on their cuts, and what breaks in a step.
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "kernel/kernels.h"
#include "model/material.h"
#include "shape/sequence.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rp_glue_def rp_default_glue_def(void)
{
    return (rp_glue_def){.shear = 1.0, .cookie = RP_DEF_COOKIE};
}

static bool is_strength(const double range[2])
{
    return range[0] > 0.0 && range[0] <= range[1] && !isnan(range[1]);
}

static rp_result check_glue(const rp_world *world, const rp_glue_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "glue: start from rp_default_glue_def()");
    }
    RP_TRY(rp_world_honours(world, RP_FEATURE_FRACTURE));
    if (!world->def.contact) {
        return rp_fail(RP_ERR_ARGUMENT, "glue: want a world whose bodies touch, got one without "
                                        "rp_world_def.contact");
    }
    if (def->cut == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "glue.cut: want a cut, got NULL");
    }
    const int pieces = rp_cut_pieces(def->cut);
    if (def->field < 0 || def->field + pieces > world->def.fields) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "glue.field: want fields for %d pieces from %d on, got %d fields", pieces,
                       def->field, world->def.fields);
    }
    if (!is_strength(def->strength)) {
        return rp_fail(RP_ERR_ARGUMENT, "glue.strength: want > 0 and not falling, got %g to %g",
                       def->strength[0], def->strength[1]);
    }
    if (!(def->shear > 0.0 && isfinite(def->shear))) {
        return rp_fail(RP_ERR_ARGUMENT, "glue.shear: want > 0, got %g", def->shear);
    }
    if (!(def->friction >= 0.0 && isfinite(def->friction))) {
        return rp_fail(RP_ERR_ARGUMENT, "glue.friction: want >= 0, got %g", def->friction);
    }
    if (!(def->spacing >= 0.0 && isfinite(def->spacing))) {
        return rp_fail(RP_ERR_ARGUMENT, "glue.spacing: want >= 0 m, got %g", def->spacing);
    }
    if (!(def->softening >= 0.0 && isfinite(def->softening))) {
        return rp_fail(RP_ERR_ARGUMENT, "glue.softening: want >= 0 m, got %g", def->softening);
    }
    if (def->softening > 0.0 && def->criterion == RP_CRITERION_PAPER) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "glue.softening: want 0 with the criterion of the paper, "
                       "which knows forces alone, got %g",
                       def->softening);
    }
    RP_TRY(def->open != NULL ? rp_shape_check_still("glue.open", def->open) : RP_OK);
    if (def->criterion != RP_CRITERION_TRACTION && def->criterion != RP_CRITERION_PAPER) {
        return rp_fail(RP_ERR_ARGUMENT, "glue.criterion: want one of rp_criterion, got %d",
                       (int)def->criterion);
    }
    return RP_OK;
}

// Particles of a field, in pages, in the inbox or in the plan.
static bool has_particles(const rp_world *world, int field)
{
    for (size_t i = 0; i < world->plan.size; i++) {
        const rp_plan_block *block = (rp_plan_block *)world->plan.buffer.data + i;
        if (block->count > 0 && block->field == field) {
            return true;
        }
    }
    for (int s = 0; s < world->species_count; s++) {
        const rp_set *set = &world->set[s];
        for (rp_local p = 0; p < set->pages && rp_set_has_mass(set); p++) {
            if (rp_set_page(set)[p].field == field) {
                return true;
            }
        }
        for (rp_local i = 0; i < set->inbox.count && rp_set_has_mass(set); i++) {
            const uint16_t group = *(uint16_t *)rp_set_birth(set, RP_COL_GROUP, i, 0);
            if (rp_set_group(set)[group].field == field) {
                return true;
            }
        }
    }
    return false;
}

// Patches of a cut, one after the other.
typedef struct patches {
    rp_cut_patch *list;
    size_t count, room;
} patches;

static rp_result take_patch(void *context, const rp_cut_patch *patch)
{
    patches *p = context;
    if (p->count == p->room) {
        const size_t room = 2 * p->room + 1024;
        rp_cut_patch *more = room < INT32_MAX / 4 ? realloc(p->list, room * sizeof *more) : NULL;
        if (more == NULL) {
            return rp_fail(RP_ERR_MEMORY, "no memory for more than %zu particles of glue",
                           p->count);
        }
        p->list = more;
        p->room = room;
    }
    p->list[p->count++] = *patch;
    return RP_OK;
}

// Of planes that have glue.
static rp_result check_strengths(const rp_glue_def *def, const patches *p)
{
    for (size_t i = 0; i < p->count && def->strengths != NULL; i++) {
        const int plane = p->list[i].plane;
        const double *range = def->strengths[plane];
        if (!is_strength(range)) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "glue.strengths: want > 0 and not falling, got %g to %g for plane %d",
                           range[0], range[1], plane);
        }
    }
    return RP_OK;
}

static double draw_strength(const rp_glue_def *def, int plane, size_t index)
{
    const double *range = def->strengths != NULL ? def->strengths[plane] : def->strength;
    const double u = rp_unit(rp_hash(def->seed, index, RP_FOR_STRENGTH, 0));
    // all alike also where it is infinite
    return range[0] == range[1] ? range[0] : range[0] + u * (range[1] - range[0]);
}

static rp_result plan_glue(rp_world *world, const rp_glue_def *def, const patches *p,
                           rp_material material, double volume)
{
    for (size_t i = 0; i < p->count; i++) {
        const rp_cut_patch *patch = &p->list[i];
        const rp_result result =
            rp_plan_count(world, patch->x, material, def->field + patch->piece[0]);
        if (result != RP_OK) {
            rp_plan_drop(world);
            return result;
        }
    }
    rp_plan_commit(world, material, volume);
    world->next_id += p->count;
    return RP_OK;
}

static rp_result bear_glue(rp_world *world, const rp_glue_def *def, const patches *p,
                           rp_material material, double volume)
{
    static const double rest[3] = {0};
    const rp_species *species = rp_world_species_of(world, material);
    rp_set *set = species->set;
    // what is infinite is out of reach of any number
    const double most = world->def.precision == RP_SINGLE ? 1e30 : 1e250;
    uint16_t first;
    RP_TRY(rp_set_reserve_births(set, 0, (rp_local)p->count));
    RP_TRY(
        rp_world_add_groups(world, material, def->field, rp_cut_pieces(def->cut), volume, &first));
    for (size_t i = 0; i < p->count; i++) {
        const rp_cut_patch *patch = &p->list[i];
        const rp_local at = set->inbox.count + (rp_local)i;
        rp_world_put_birth(world, species, (rp_local)i, &(rp_birth){.x = patch->x, .v = rest});
        rp_set_birth_value(set, RP_COL_STRENGTH, at, 0,
                           fmin(draw_strength(def, patch->plane, i), most));
        rp_set_birth_value(set, RP_COL_AREA, at, 0, patch->area);
        rp_set_birth_value(set, RP_COL_PARTNER, at, 0, def->field + patch->piece[1]);
        for (int a = 0; a < world->def.dimension; a++) {
            rp_set_birth_value(set, RP_COL_NORMAL, at, a, patch->normal[a]);
        }
    }
    rp_world_end_births(world, species, (rp_local)p->count, first);
    for (size_t i = 0; i < p->count; i++) {
        const rp_local at = set->inbox.count - (rp_local)p->count + (rp_local)i;
        rp_set_birth_value(set, RP_COL_GROUP, at, 0, first + p->list[i].piece[0]);
    }
    return RP_OK;
}

static rp_result add_patches(rp_world *world, const rp_glue_def *def, const patches *p,
                             double spacing)
{
    rp_material_def about = rp_default_material_def(RP_GLUE);
    rp_material material;
    const int species = world->species_count;
    snprintf(about.name, sizeof about.name, "%s", def->name != NULL ? def->name : "glue");
    RP_TRY(rp_world_add_material(world, &about, &material));
    world->glue_rule[material.index] = (rp_glue_rule){.criterion = def->criterion,
                                                      .shear = def->shear,
                                                      .friction = def->friction,
                                                      .softening = def->softening};
    const double volume = pow(spacing, world->def.dimension);
    const rp_result result = def->bare         ? RP_OK
                             : world->def.plan ? plan_glue(world, def, p, material, volume)
                                               : bear_glue(world, def, p, material, volume);
    if (result != RP_OK) {
        world->materials--;
        if (world->species_count > species) {
            rp_set_free(&world->set[species]);
            world->species_count = species;
        }
        return result;
    }
    world->broken[world->broken_count].cut = rp_cut_retain(def->cut);
    world->broken[world->broken_count++].field = def->field;
    return RP_OK;
}

rp_result rp_world_add_glue(rp_world *world, const rp_glue_def *def, int64_t *added)
{
    RP_TRY(check_glue(world, def));
    for (int i = 0; i < rp_cut_pieces(def->cut) && !def->bare; i++) {
        if (!has_particles(world, def->field + i)) {
            char name[RP_NAME_SIZE];
            rp_world_body_name(world, def->field + i, name);
            return rp_fail(RP_ERR_ARGUMENT,
                           "want pieces that have particles, got '%s' without any; want fewer or "
                           "larger pieces, or a finer spacing",
                           name);
        }
    }
    patches p = {0};
    const double spacing = def->spacing > 0.0 ? def->spacing : 0.5 * world->def.dx;
    rp_result result =
        def->bare ? RP_OK : rp_cut_scatter(def->cut, spacing, def->open, take_patch, &p);
    if (result == RP_OK && p.count == 0 && !def->bare) {
        result =
            rp_fail(RP_ERR_ARGUMENT,
                    "want glue between two pieces, got none: `open` leaves nothing of the cut");
    }
    result = result == RP_OK ? check_strengths(def, &p) : result;
    result = result == RP_OK ? add_patches(world, def, &p, spacing) : result;
    if (result == RP_OK && added != NULL) {
        *added = (int64_t)p.count;
    }
    free(p.list);
    return result;
}

// ---- in a step ----

static void find_moduli(const rp_world *world, double modulus[RP_MATERIAL_LIMIT])
{
    for (int i = 0; i < world->materials; i++) {
        const rp_material_class *class = rp_material_class_of(world->material[i].kind);
        modulus[i] = class->modulus != NULL
                         ? class->modulus(&world->material[i], world->def.dimension)
                         : 0.0;
    }
}

static rp_result reserve_rows(rp_world *world, int more)
{
    const size_t each = sizeof(rp_crack_row), held = (size_t)world->crack_count * each;
    const size_t wanted = held + (size_t)more * each;
    return wanted <= world->cracks.bytes ? RP_OK
                                         : rp_buffer_reserve(&world->cracks, &world->allocator,
                                                             2 * wanted, held, "what broke");
}

// Rows whose step is not done yet have a kinetic energy from before it, and no time has passed.
rp_result rp_world_break_glue(rp_world *world, rp_step *step)
{
    const int glue = rp_glue_find(world->species, world->species_count);
    if (glue < 0 || world->set[glue].count + world->set[glue].inbox.count == 0) {
        return RP_OK;
    }
    const bool newborn = world->set[glue].inbox.count > 0;
    if (!newborn && !rp_glue_is_due(&world->set[glue])) {
        return RP_OK;
    }
    double modulus[RP_MATERIAL_LIMIT];
    find_moduli(world, modulus);
    // the order of pages, which sums of stress are in
    RP_TRY(world->solver->prepare(world->solver_state, step));
    const rp_glue_job job = {.species = world->species,
                             .species_count = world->species_count,
                             .glue = glue,
                             .grid = &world->grid,
                             .rule = world->glue_rule,
                             .laws = rp_laws_find(world->def.dimension, 64, RP_ISA_PLAIN),
                             .parameters = RP_GROUP_REALS,
                             .threads = world->threads,
                             .scratch = &world->scratch,
                             .modulus = modulus};
    rp_verdict verdict;
    RP_TRY(rp_glue_judge(&job, &verdict));
    // nothing has changed until there is room to tell it
    RP_TRY(verdict.cracks > 0 ? reserve_rows(world, verdict.cracks) : RP_OK);
    rp_glue_settle(&world->set[glue], &verdict);
    if (verdict.cracks == 0) {
        return RP_OK;
    }
    rp_totals totals;
    rp_world_totals(world, &totals);
    rp_crack_row *row = (rp_crack_row *)world->cracks.data + world->crack_count;
    for (int i = 0; i < verdict.cracks; i++) {
        row[i] = (rp_crack_row){.time = rp_world_time(world),
                                .body = {verdict.crack[i].body[0], verdict.crack[i].body[1]},
                                .glue = verdict.crack[i].glue,
                                .area = verdict.crack[i].area,
                                .kinetic = totals.kinetic,
                                .elastic = totals.elastic};
    }
    world->crack_count += verdict.cracks;
    return RP_OK;
}

void rp_world_note_cracks(rp_world *world)
{
    rp_crack_row *row = world->cracks.data;
    rp_totals totals;
    bool known = false;
    const double now = rp_world_time(world);
    for (rp_local i = world->crack_count; i > 0 && row[i - 1].time == now; i--) {
        if (!known) {
            rp_world_totals(world, &totals);
            known = true;
        }
        row[i - 1].kinetic -= totals.kinetic;
        row[i - 1].elastic -= totals.elastic;
    }
}

int64_t rp_world_take_cracks(rp_world *world, rp_crack_row *out, int64_t most)
{
    const rp_local taken = (rp_local)(most < world->crack_count ? most : world->crack_count);
    rp_crack_row *row = world->cracks.data;
    if (taken <= 0) {
        return 0;
    }
    memcpy(out, row, (size_t)taken * sizeof *out);
    world->crack_count -= taken;
    memmove(row, row + taken, (size_t)world->crack_count * sizeof *row);
    return taken;
}

void rp_world_clear_glue(rp_world *world)
{
    const int glue = rp_glue_find(world->species, world->species_count);
    if (glue >= 0) {
        world->stats.removed += rp_glue_clear(&world->set[glue]);
    }
}
