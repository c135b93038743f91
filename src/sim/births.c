// How particles come into a world, one by one, and how they are taken out again.
#include "base/result.h"
#include "sim/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

rp_result rp_world_check_target(const rp_world *world, const char *what, uint32_t cookie,
                                rp_material material, int field)
{
    if (cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: start from rp_default_%s_def()", what, what);
    }
    if (material.index >= world->materials) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "%s.material: want one that was added to this world, got %d", what,
                       material.index);
    }
    if (world->material[material.index].kind == RP_GLUE) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "%s.material: want one with mass, got glue, which lies between two pieces; "
                       "it comes by rp_world_add_glue()",
                       what);
    }
    if (field < 0 || field >= world->def.fields) {
        return rp_fail(RP_ERR_ARGUMENT, "%s.field: want 0 to %d, got %d", what,
                       world->def.fields - 1, field);
    }
    return RP_OK;
}

rp_result rp_world_check_spacing(const rp_world *world, const char *what, double spacing,
                                 double tolerance)
{
    const int per_cell = world->needs.per_cell, dim = world->def.dimension;
    if (per_cell == 0) {
        return RP_OK;
    }
    const double wanted = world->def.dx / pow(per_cell, 1.0 / dim);
    return fabs(spacing / wanted - 1.0) <= tolerance
               ? RP_OK
               : rp_fail(RP_ERR_UNSUPPORTED,
                         "%s: method %s wants %d particles in a cell of dx, which are %g m apart, "
                         "got %g m",
                         what, world->def.method, per_cell, wanted, spacing);
}

void rp_world_note_newborn(rp_world *world, const double v[3], const double *gradient)
{
    const int dim = world->def.dimension;
    double v2 = 0.0, g2 = 0.0;
    for (int i = 0; i < dim; i++) {
        v2 += v[i] * v[i];
        for (int j = 0; j < dim && gradient != NULL; j++) {
            g2 += gradient[3 * i + j] * gradient[3 * i + j];
        }
    }
    world->newborn_speed = fmax(world->newborn_speed, sqrt(v2));
    world->newborn_gradient = fmax(world->newborn_gradient, sqrt(g2));
}

// Where a particle is born: on the border, when it would be beyond one that keeps what it holds.
static const double *keep_inside(rp_world *world, const double x[3], double inside[3])
{
    const rp_domain *d = &world->domain;
    bool moved = false;
    for (int a = 0; a < 3; a++) {
        const bool keeps = d->set && d->leave == RP_LEAVE_CLAMP && a < world->def.dimension;
        inside[a] = keeps ? fmin(fmax(x[a], d->lower[a]), d->upper[a]) : x[a];
        moved = moved || inside[a] != x[a];
    }
    world->stats.clamped += moved;
    return inside;
}

void rp_world_put_birth(rp_world *world, const rp_species *species, rp_local index,
                        const rp_birth *birth)
{
    rp_set *set = species->set;
    const int dim = world->def.dimension;
    double inside[3];
    const double *x = keep_inside(world, birth->x, inside);
    rp_world_note_newborn(world, birth->v, birth->gradient);
    const rp_local at = set->inbox.count + index;
    *(uint64_t *)rp_set_birth(set, RP_COL_ID, at, 0) = world->next_id + (uint64_t)index;
    for (int i = 0; i < dim; i++) {
        rp_set_birth_value(set, RP_COL_POSITION, at, i, x[i]);
        if (rp_set_has(set, RP_COL_VELOCITY)) {
            rp_set_birth_value(set, RP_COL_VELOCITY, at, i, birth->v[i]);
        }
        for (int j = 0; j < dim && birth->gradient != NULL; j++) {
            if (rp_set_has(set, RP_COL_AFFINE)) {
                rp_set_birth_value(set, RP_COL_AFFINE, at, i * dim + j, birth->gradient[3 * i + j]);
            }
        }
    }
    if (rp_set_has(set, RP_COL_DEPTH)) {
        rp_set_birth_value(set, RP_COL_DEPTH, at, 0, birth->depth);
    }
    for (int c = 0; c < rp_sym_comps(dim) && birth->strain != NULL; c++) {
        if (rp_set_has(set, RP_COL_STRAIN)) {
            rp_set_birth_value(set, RP_COL_STRAIN, at, c, birth->strain[c]);
        }
    }
}

void rp_world_end_births(rp_world *world, const rp_species *species, rp_local count, uint16_t group)
{
    rp_set_end_births(species->set, count, group);
    world->next_id += (uint64_t)count;
    world->stats.born += count;
}

rp_result rp_world_give_birth(rp_world *world, rp_material material, int field, double volume,
                              const double (*position)[3], const double (*velocity)[3],
                              rp_local count)
{
    const rp_species *species = rp_world_species_of(world, material);
    uint16_t group;
    RP_TRY(rp_set_reserve_births(species->set, 0, count));
    RP_TRY(rp_world_add_group(world, material, field, volume, &group));
    for (rp_local i = 0; i < count; i++) {
        rp_world_put_birth(world, species, i, &(rp_birth){.x = position[i], .v = velocity[i]});
    }
    rp_world_end_births(world, species, count, group);
    return RP_OK;
}

rp_points_def rp_default_points_def(void) { return (rp_points_def){.cookie = RP_DEF_COOKIE}; }

// Columns for particles that are not alike. All or nothing.
static rp_result want_volumes(rp_set *set, const rp_points_def *def)
{
    if (def->volumes == NULL || rp_set_has(set, RP_COL_VOLUME)) {
        return RP_OK;
    }
    RP_TRY(rp_set_want(set, RP_COL_VOLUME));
    const rp_result result = rp_set_want(set, RP_COL_MASS);
    set->column[RP_COL_VOLUME].comps = result == RP_OK;
    return result;
}

// Of the particles that were born last.
static void put_volumes(rp_world *world, const rp_species *species, const rp_points_def *def)
{
    const double density = world->material[def->material.index].density;
    const rp_local first = species->set->inbox.count - (rp_local)def->count;
    for (rp_local i = 0; i < (rp_local)def->count; i++) {
        rp_set_birth_value(species->set, RP_COL_VOLUME, first + i, 0, def->volumes[i]);
        rp_set_birth_value(species->set, RP_COL_MASS, first + i, 0, density * def->volumes[i]);
    }
}

static rp_result plan_points(rp_world *world, const rp_points_def *def)
{
    static const double rest[3] = {0};
    double mean = def->volume;
    for (int64_t i = 0; i < def->count; i++) {
        const rp_result result =
            rp_plan_count(world, def->position + 3 * i, def->material, def->field);
        if (result != RP_OK) {
            rp_plan_drop(world);
            return result;
        }
    }
    for (int64_t i = 0; i < def->count; i++) {
        rp_world_note_newborn(world, def->velocity != NULL ? def->velocity + 3 * i : rest,
                              def->gradient != NULL ? def->gradient + 9 * i : NULL);
        mean += def->volumes != NULL ? (def->volumes[i] - mean) / (double)(i + 1) : 0.0;
    }
    rp_plan_commit(world, def->material, mean);
    world->next_id += (uint64_t)def->count;
    return RP_OK;
}

static rp_result fill_points(rp_world *world, const rp_species *species, const rp_points_def *def)
{
    static const double rest[3] = {0};
    const rp_local count = (rp_local)def->count;
    uint16_t group;
    RP_TRY(rp_set_reserve_births(species->set, 0, count));
    RP_TRY(rp_world_add_group(world, def->material, def->field, def->volume, &group));
    for (int64_t i = 0; i < def->count; i++) {
        rp_world_put_birth(
            world, species, (rp_local)i,
            &(rp_birth){.x = def->position + 3 * i,
                        .v = def->velocity != NULL ? def->velocity + 3 * i : rest,
                        .gradient = def->gradient != NULL ? def->gradient + 9 * i : NULL,
                        .depth = def->depth != NULL ? def->depth[i] : 0.0});
    }
    rp_world_end_births(world, species, count, group);
    if (def->volumes != NULL) {
        put_volumes(world, species, def);
    }
    return RP_OK;
}

rp_result rp_world_add_points(rp_world *world, const rp_points_def *def, uint64_t *first)
{
    const int dim = world->def.dimension;
    RP_TRY(rp_world_check_target(world, "points", def->cookie, def->material, def->field));
    if (def->count < 0 || def->count > INT32_MAX / 2) {
        return rp_fail(RP_ERR_ARGUMENT, "points.count: want 0 to %d, got %lld", INT32_MAX / 2,
                       (long long)def->count);
    }
    if (!(def->volume > 0.0 && isfinite(def->volume))) {
        return rp_fail(RP_ERR_ARGUMENT, "points.volume: want > 0 m^3, got %g", def->volume);
    }
    RP_TRY(rp_world_check_spacing(world, "points.volume", pow(def->volume, 1.0 / dim), 0.1));
    for (int64_t i = 0; i < def->count && def->volumes != NULL; i++) {
        RP_TRY(
            rp_world_check_spacing(world, "points.volumes", pow(def->volumes[i], 1.0 / dim), 0.1));
        if (!(def->volumes[i] > 0.0 && isfinite(def->volumes[i]))) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "points.volumes: want > 0 m^3, got %g for particle %lld",
                           def->volumes[i], (long long)i);
        }
    }
    if (def->count > 0 && def->position == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "points.position: want %lld places, got NULL",
                       (long long)def->count);
    }
    for (int64_t i = 0; i < def->count; i++) {
        const char *bad = NULL;
        for (int a = 0; a < dim; a++) {
            bad = isfinite(def->position[3 * i + a]) ? bad : "position";
            bad = def->velocity == NULL || isfinite(def->velocity[3 * i + a]) ? bad : "velocity";
            for (int b = 0; b < dim && def->gradient != NULL; b++) {
                bad = isfinite(def->gradient[9 * i + 3 * a + b]) ? bad : "gradient";
            }
        }
        if (bad != NULL) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "points.%s: particle %lld has a number that is not finite", bad,
                           (long long)i);
        }
        if (def->depth != NULL && !(def->depth[i] >= 0.0 && isfinite(def->depth[i]))) {
            return rp_fail(RP_ERR_ARGUMENT, "points.depth: want >= 0 m, got %g for particle %lld",
                           def->depth[i], (long long)i);
        }
        int32_t block[3];
        double local[3];
        RP_TRY(rp_layout_place(&world->grid.layout, def->position + 3 * i, block, local));
    }
    if (first != NULL) {
        *first = world->next_id;
    }
    const rp_species *species = rp_world_species_of(world, def->material);
    const bool had = rp_set_has(species->set, RP_COL_VOLUME);
    RP_TRY(want_volumes(species->set, def));
    const rp_result result =
        world->def.plan ? plan_points(world, def) : fill_points(world, species, def);
    if (result != RP_OK && !had) {
        // all or nothing: the columns that only these would have had go again
        species->set->column[RP_COL_VOLUME].comps = species->set->column[RP_COL_MASS].comps = 0;
    }
    return result;
}

static bool is_among(uint64_t id, const uint64_t *sorted, int64_t count)
{
    return bsearch(&id, sorted, (size_t)count, sizeof id, rp_compare_ids) != NULL;
}

typedef struct id_list {
    const uint64_t *sorted;
    int64_t count;
} id_list;

static bool stays(const rp_set *set, rp_local birth, const void *context)
{
    const id_list *list = context;
    return !is_among(*(uint64_t *)rp_set_birth(set, RP_COL_ID, birth, 0), list->sorted,
                     list->count);
}

rp_result rp_world_remove(rp_world *world, const uint64_t *ids, int64_t count, int64_t *removed)
{
    if (count < 0) {
        return rp_fail(RP_ERR_ARGUMENT, "remove.count: want >= 0, got %lld", (long long)count);
    }
    rp_scratch_reset(&world->scratch);
    uint64_t *sorted =
        rp_scratch_get(&world->scratch, (size_t)count * sizeof *ids, "ids to remove");
    RP_TRY(rp_agree(world->comm, sorted != NULL ? RP_OK : RP_ERR_MEMORY, NULL, 0));
    if (count > 0) {
        memcpy(sorted, ids, (size_t)count * sizeof *ids);
        qsort(sorted, (size_t)count, sizeof *sorted, rp_compare_ids);
    }
    int64_t gone = 0, unborn = 0; // births are on all ranks, and counted once
    for (int s = 0; s < world->species_count; s++) {
        rp_set *set = &world->set[s];
        gone -= set->doomed;
        for (rp_local p = 0; p < set->pages; p++) {
            const rp_page *page = &rp_set_page(set)[p];
            for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
                if (is_among(*(uint64_t *)rp_set_at(set, RP_COL_ID, slot, 0), sorted, count)) {
                    rp_set_kill(set, slot);
                }
            }
        }
        gone += set->doomed;
        unborn += rp_set_keep_births(set, stays, &(id_list){sorted, count});
    }
    RP_TRY(rp_reduce_add(world->comm, &gone, 1));
    gone += unborn;
    world->stats.removed += gone;
    if (removed != NULL) {
        *removed = gone;
    }
    return RP_OK;
}
