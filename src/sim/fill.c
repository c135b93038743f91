// What goes into a world before and between steps: materials, particles, walls.
#include "base/hash.h"
#include "base/result.h"
#include "model/material.h"
#include "sim/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

rp_result rp_world_add_material(rp_world *world, const rp_material_def *def, rp_material *material)
{
    RP_TRY(rp_material_check(def, world->def.dimension));
    if (world->materials == RP_MATERIAL_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d materials", RP_MATERIAL_LIMIT);
    }
    const bool hardened = rp_set_has(&world->set, RP_COL_HARDENING);
    if (def->kind == RP_SAND && def->hardening) {
        RP_TRY(rp_set_want(&world->set, RP_COL_HARDENING));
    }
    if (def->kind == RP_SAND && def->volume_correction) {
        const rp_result result = rp_set_want(&world->set, RP_COL_VOLUME_GAIN);
        if (result != RP_OK) {
            // all or nothing: the column that only this material would have had goes again
            world->set.column[RP_COL_HARDENING].comps *= hardened;
            return result;
        }
    }
    double p[RP_PARAM_COUNT];
    rp_material_parameters(def, world->def.dimension, p);
    // the stiffest direction: volume, or shear where lambda is negative
    const double modulus =
        fmax(world->def.dimension * p[RP_PARAM_LAMBDA], 0.0) + 2.0 * p[RP_PARAM_MU];
    world->stiffness = fmax(world->stiffness, modulus / p[RP_PARAM_DENSITY]);
    material->index = (uint16_t)world->materials;
    world->material[world->materials++] = *def;
    return RP_OK;
}

// A group, and what kernels read of it. All or nothing.
static rp_result add_group(rp_world *world, rp_material material, int field, double volume,
                           uint16_t *index)
{
    const rp_material_def *def = &world->material[material.index];
    const rp_allocator *a = &world->allocator;
    const size_t groups = (size_t)world->set.groups;
    const size_t row = (size_t)RP_GROUP_REALS * rp_real_bytes(&world->set.layout);
    if (world->group_reals.bytes < (groups + 1) * row) {
        RP_TRY(rp_buffer_reserve(&world->group_reals, a, (2 * groups + 4) * row, groups * row,
                                 "group parameters"));
    }
    if (world->group_laws.bytes < groups + 1) {
        RP_TRY(rp_buffer_reserve(&world->group_laws, a, 2 * groups + 64, groups, "group laws"));
    }
    const rp_group group = {.material = material.index,
                            .field = (uint16_t)field,
                            .volume = volume,
                            .mass = def->density * volume};
    // a source that pours again and again needs one group
    for (size_t i = 0; i < groups; i++) {
        const rp_group *old = &rp_set_group(&world->set)[i];
        if (old->material == group.material && old->field == group.field &&
            old->volume == group.volume) {
            *index = (uint16_t)i;
            return RP_OK;
        }
    }
    RP_TRY(rp_set_add_group(&world->set, &group, index));

    double value[RP_GROUP_REALS];
    rp_material_parameters(def, world->def.dimension, value);
    value[RP_GROUP_MASS] = group.mass;
    value[RP_GROUP_VOLUME] = volume;
    for (int i = 0; i < RP_GROUP_REALS; i++) {
        if (world->def.precision == RP_SINGLE) {
            ((float *)world->group_reals.data)[*index * RP_GROUP_REALS + i] = (float)value[i];
        } else {
            ((double *)world->group_reals.data)[*index * RP_GROUP_REALS + i] = value[i];
        }
    }
    ((uint8_t *)world->group_laws.data)[*index] = (uint8_t)rp_material_law(def);
    const bool lighter = world->lightest == 0.0 || group.mass < world->lightest;
    world->lightest = lighter ? group.mass : world->lightest;
    return RP_OK;
}

static rp_result check_target(const rp_world *world, const char *what, uint32_t cookie,
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
    if (field < 0 || field >= world->def.fields) {
        return rp_fail(RP_ERR_ARGUMENT, "%s.field: want 0 to %d, got %d", what,
                       world->def.fields - 1, field);
    }
    return RP_OK;
}

// One particle into the inbox, at place `index` beyond its count.
static void put_birth(rp_world *world, rp_local index, uint16_t group, const double x[3],
                      const double v[3], const double *gradient, uint64_t id)
{
    rp_set *set = &world->set;
    const int dim = world->def.dimension;
    double v2 = 0.0, g2 = 0.0;
    for (int i = 0; i < dim; i++) {
        rp_set_birth_value(set, RP_COL_POSITION, index, i, x[i]);
        rp_set_birth_value(set, RP_COL_VELOCITY, index, i, v[i]);
        v2 += v[i] * v[i];
        for (int j = 0; j < dim && gradient != NULL; j++) {
            g2 += gradient[3 * i + j] * gradient[3 * i + j];
            if (rp_set_has(set, RP_COL_AFFINE)) {
                rp_set_birth_value(set, RP_COL_AFFINE, index, i * dim + j, gradient[3 * i + j]);
            }
        }
    }
    *(uint16_t *)rp_set_birth(set, RP_COL_GROUP, index, 0) = group;
    *(uint64_t *)rp_set_birth(set, RP_COL_ID, index, 0) = id;
    world->newborn_speed = fmax(world->newborn_speed, sqrt(v2));
    world->newborn_gradient = fmax(world->newborn_gradient, sqrt(g2));
}

static void finish_births(rp_world *world, rp_local count)
{
    world->set.inbox.count += count;
    world->next_id += (uint64_t)count;
    world->stats.born += count;
}

rp_box_def rp_default_box_def(void)
{
    return (rp_box_def){.per_axis = 2, .jitter = 0.5, .cookie = RP_DEF_COOKIE};
}

rp_result rp_world_add_box(rp_world *world, const rp_box_def *def, int64_t *added)
{
    const int dim = world->def.dimension;
    RP_TRY(check_target(world, "box", def->cookie, def->material, def->field));
    if (def->per_axis < 1 || def->per_axis > 16) {
        return rp_fail(RP_ERR_ARGUMENT, "box.per_axis: want 1 to 16, got %d", def->per_axis);
    }
    if (!(def->jitter >= 0.0 && def->jitter <= 1.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "box.jitter: want 0 to 1, got %g", def->jitter);
    }
    // as many particles along each axis as come nearest to the wanted spacing
    int64_t n[3] = {1, 1, 1}, total = 1;
    double volume = 1.0;
    for (int a = 0; a < dim; a++) {
        const double size = def->upper[a] - def->lower[a];
        if (!(size > 0.0 && isfinite(size))) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "box.upper[%d]: want more than box.lower[%d] = %g, got %g", a, a,
                           def->lower[a], def->upper[a]);
        }
        const double along = fmax(1.0, round(size / world->def.dx * def->per_axis));
        if (!(along * (double)total < INT32_MAX / 2)) {
            return rp_fail(RP_ERR_LIMIT, "box: more than %d particles", INT32_MAX / 2);
        }
        n[a] = (int64_t)along;
        total *= n[a];
        volume *= size;
        for (int b = 0; b < dim; b++) {
            if (!isfinite(def->velocity[a]) || !isfinite(def->velocity_gradient[a][b])) {
                return rp_fail(RP_ERR_ARGUMENT, "box.velocity%s: want finite numbers",
                               isfinite(def->velocity[a]) ? "_gradient" : "");
            }
        }
    }
    int32_t block[3];
    double local[3];
    RP_TRY(rp_layout_place(&world->set.layout, def->lower, block, local));
    RP_TRY(rp_layout_place(&world->set.layout, def->upper, block, local));
    uint16_t group;
    RP_TRY(rp_set_reserve_births(&world->set, (rp_local)total));
    RP_TRY(add_group(world, def->material, def->field, volume / (double)total, &group));

    for (int64_t i = 0; i < total; i++) {
        const int64_t cell[3] = {i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]};
        const uint64_t id = world->next_id + (uint64_t)i;
        double x[3] = {0}, v[3] = {0};
        for (int a = 0; a < dim; a++) {
            const double spacing = (def->upper[a] - def->lower[a]) / (double)n[a];
            const double u =
                rp_unit(rp_hash(world->def.seed, id, RP_FOR_JITTER, (uint64_t)a)) - 0.5;
            x[a] = def->lower[a] + spacing * ((double)cell[a] + 0.5 + def->jitter * u);
        }
        for (int a = 0; a < dim; a++) {
            v[a] = def->velocity[a];
            for (int b = 0; b < dim; b++) {
                v[a] += def->velocity_gradient[a][b] * x[b];
            }
        }
        put_birth(world, world->set.inbox.count + (rp_local)i, group, x, v,
                  &def->velocity_gradient[0][0], id);
    }
    finish_births(world, (rp_local)total);
    if (added != NULL) {
        *added = total;
    }
    return RP_OK;
}

rp_points_def rp_default_points_def(void) { return (rp_points_def){.cookie = RP_DEF_COOKIE}; }

rp_result rp_world_add_points(rp_world *world, const rp_points_def *def, uint64_t *first)
{
    const int dim = world->def.dimension;
    RP_TRY(check_target(world, "points", def->cookie, def->material, def->field));
    if (def->count < 0 || def->count > INT32_MAX / 2) {
        return rp_fail(RP_ERR_ARGUMENT, "points.count: want 0 to %d, got %lld", INT32_MAX / 2,
                       (long long)def->count);
    }
    if (!(def->volume > 0.0 && isfinite(def->volume))) {
        return rp_fail(RP_ERR_ARGUMENT, "points.volume: want > 0 m^3, got %g", def->volume);
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
        int32_t block[3];
        double local[3];
        RP_TRY(rp_layout_place(&world->set.layout, def->position + 3 * i, block, local));
    }
    uint16_t group;
    RP_TRY(rp_set_reserve_births(&world->set, (rp_local)def->count));
    RP_TRY(add_group(world, def->material, def->field, def->volume, &group));
    if (first != NULL) {
        *first = world->next_id;
    }
    static const double rest[3] = {0};
    for (int64_t i = 0; i < def->count; i++) {
        put_birth(world, world->set.inbox.count + (rp_local)i, group, def->position + 3 * i,
                  def->velocity != NULL ? def->velocity + 3 * i : rest,
                  def->gradient != NULL ? def->gradient + 9 * i : NULL,
                  world->next_id + (uint64_t)i);
    }
    finish_births(world, (rp_local)def->count);
    return RP_OK;
}

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_among(uint64_t id, const uint64_t *sorted, int64_t count)
{
    return bsearch(&id, sorted, (size_t)count, sizeof id, compare_ids) != NULL;
}

// Take particles out of the inbox; the others keep their order. Returns how many went.
static rp_local drop_births(rp_set *set, const uint64_t *sorted, int64_t count)
{
    rp_local kept = 0;
    for (rp_local i = 0; i < set->inbox.count; i++) {
        if (is_among(*(uint64_t *)rp_set_birth(set, RP_COL_ID, i, 0), sorted, count)) {
            continue;
        }
        for (int c = 0; c < RP_COL_COUNT; c++) {
            if (rp_set_has(set, c)) {
                const size_t bytes = (size_t)((char *)rp_set_birth(set, c, 1, 0) -
                                              (char *)rp_set_birth(set, c, 0, 0));
                memmove(rp_set_birth(set, c, kept, 0), rp_set_birth(set, c, i, 0), bytes);
            }
        }
        kept++;
    }
    const rp_local gone = set->inbox.count - kept;
    set->inbox.count = kept;
    return gone;
}

rp_result rp_world_remove(rp_world *world, const uint64_t *ids, int64_t count, int64_t *removed)
{
    rp_set *set = &world->set;
    const rp_local before = set->doomed;
    if (count < 0) {
        return rp_fail(RP_ERR_ARGUMENT, "remove.count: want >= 0, got %lld", (long long)count);
    }
    rp_arena_reset(&world->scratch);
    uint64_t *sorted = rp_arena_get(&world->scratch, (size_t)count * sizeof *ids, "ids to remove");
    if (sorted == NULL) {
        return RP_ERR_MEMORY;
    }
    if (count > 0) {
        memcpy(sorted, ids, (size_t)count * sizeof *ids);
        qsort(sorted, (size_t)count, sizeof *sorted, compare_ids);
    }
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            if (is_among(*(uint64_t *)rp_set_at(set, RP_COL_ID, slot, 0), sorted, count)) {
                rp_set_kill(set, slot);
            }
        }
    }
    const rp_local unborn = drop_births(set, sorted, count);
    world->stats.removed += set->doomed - before + unborn;
    if (removed != NULL) {
        *removed = set->doomed - before + unborn;
    }
    return RP_OK;
}

rp_plane_def rp_default_plane_def(void)
{
    return (rp_plane_def){.normal = {0.0, 1.0, 0.0}, .contact = RP_STICKY, .cookie = RP_DEF_COOKIE};
}

rp_result rp_world_add_plane(rp_world *world, const rp_plane_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "plane: start from rp_default_plane_def()");
    }
    if (world->planes == RP_PLANE_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d planes", RP_PLANE_LIMIT);
    }
    if (def->contact != RP_STICKY && def->contact != RP_SLIP && def->contact != RP_SEPARATE) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "plane.contact: want RP_STICKY, RP_SLIP or RP_SEPARATE, got %d",
                       (int)def->contact);
    }
    if (!(def->friction >= 0.0 && isfinite(def->friction))) {
        return rp_fail(RP_ERR_ARGUMENT, "plane.friction: want >= 0, got %g", def->friction);
    }
    rp_plane plane = {.contact = def->contact, .friction = def->friction};
    double norm2 = 0.0;
    for (int a = 0; a < world->def.dimension; a++) {
        plane.point[a] = def->point[a];
        norm2 += def->normal[a] * def->normal[a];
        if (!isfinite(def->point[a])) {
            return rp_fail(RP_ERR_ARGUMENT, "plane.point[%d]: want a finite number, got %g", a,
                           def->point[a]);
        }
    }
    if (!(norm2 > 0.0 && isfinite(norm2))) {
        return rp_fail(RP_ERR_ARGUMENT, "plane.normal: want a direction, got a vector of length %g",
                       sqrt(norm2));
    }
    for (int a = 0; a < world->def.dimension; a++) {
        plane.normal[a] = def->normal[a] / sqrt(norm2);
    }
    world->plane[world->planes++] = plane;
    return RP_OK;
}

rp_result rp_world_add_walls(rp_world *world, const double lower[3], const double upper[3],
                             rp_contact contact, double friction)
{
    const int before = world->planes;
    for (int side = 0; side < 2 * world->def.dimension; side++) {
        rp_plane_def def = rp_default_plane_def();
        const int axis = side / 2;
        def.contact = contact;
        def.friction = friction;
        def.normal[1] = 0.0;
        def.normal[axis] = side % 2 == 0 ? 1.0 : -1.0;
        def.point[axis] = side % 2 == 0 ? lower[axis] : upper[axis];
        rp_result result = RP_OK;
        if (!(lower[axis] < upper[axis])) {
            result = rp_fail(RP_ERR_ARGUMENT,
                             "walls.upper[%d]: want more than walls.lower[%d] = %g, got %g", axis,
                             axis, lower[axis], upper[axis]);
        } else {
            result = rp_world_add_plane(world, &def);
        }
        if (result != RP_OK) {
            world->planes = before;
            return result;
        }
    }
    return RP_OK;
}
