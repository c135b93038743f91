// What goes into a world before and between steps: materials, particles, walls.
#include "base/hash.h"
#include "base/result.h"
#include "model/material.h"
#include "shape/sample.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
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

int rp_world_materials(const rp_world *world) { return world->materials; }

const rp_material_def *rp_world_material(const rp_world *world, int index)
{
    RP_ASSERT(index >= 0 && index < world->materials);
    return &world->material[index];
}

rp_result rp_world_reserve_groups(rp_world *world, int groups)
{
    const rp_allocator *a = &world->allocator;
    const size_t row = (size_t)RP_GROUP_REALS * rp_real_bytes(&world->set.layout);
    const struct {
        rp_buffer *buffer;
        size_t row;
        const char *what;
    } table[] = {
        {&world->group_reals, row, "group parameters"},
        {&world->group_laws, 1, "group laws"},
        {&world->set.group_buffer, sizeof(rp_group), "particle groups"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].buffer->bytes < (size_t)groups * table[i].row) {
            RP_TRY(rp_buffer_reserve(table[i].buffer, a, (2 * (size_t)groups + 4) * table[i].row,
                                     (size_t)world->set.groups * table[i].row, table[i].what));
        }
    }
    return RP_OK;
}

uint16_t rp_world_put_group(rp_world *world, const rp_group *group)
{
    const rp_material_def *def = &world->material[group->material];
    uint16_t index;
    const rp_result result = rp_set_add_group(&world->set, group, &index);
    RP_ASSERT(result == RP_OK); // there is room
    double value[RP_GROUP_REALS];
    rp_material_parameters(def, world->def.dimension, value);
    value[RP_GROUP_MASS] = group->mass;
    value[RP_GROUP_VOLUME] = group->volume;
    for (int i = 0; i < RP_GROUP_REALS; i++) {
        if (world->def.precision == RP_SINGLE) {
            ((float *)world->group_reals.data)[index * RP_GROUP_REALS + i] = (float)value[i];
        } else {
            ((double *)world->group_reals.data)[index * RP_GROUP_REALS + i] = value[i];
        }
    }
    ((uint8_t *)world->group_laws.data)[index] = (uint8_t)rp_material_law(def);
    const bool lighter = world->lightest == 0.0 || group->mass < world->lightest;
    world->lightest = lighter ? group->mass : world->lightest;
    return index;
}

// The group of these particles: a new one, or an old one that is the same. All or nothing.
static rp_result add_group(rp_world *world, rp_material material, int field, double volume,
                           uint16_t *index)
{
    const rp_group group = {.material = material.index,
                            .field = (uint16_t)field,
                            .volume = volume,
                            .mass = world->material[material.index].density * volume};
    // a source that pours again and again needs one group
    for (rp_local i = 0; i < world->set.groups; i++) {
        const rp_group *old = &rp_set_group(&world->set)[i];
        if (old->material == group.material && old->field == group.field &&
            old->volume == group.volume) {
            *index = (uint16_t)i;
            return RP_OK;
        }
    }
    if (world->set.groups == RP_GROUP_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d groups of particles",
                       RP_GROUP_LIMIT);
    }
    RP_TRY(rp_world_reserve_groups(world, world->set.groups + 1));
    *index = rp_world_put_group(world, &group);
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

// Particles that have not stepped yet bound the next step, too.
static void note_newborn(rp_world *world, const double v[3], const double *gradient)
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

// One particle into the inbox, `index` places beyond its count; finish_births() gives it a group.
// @param gradient, strain NULL: none
static void put_birth(rp_world *world, rp_local index, const double x[3], const double v[3],
                      const double *gradient, const double *strain)
{
    rp_set *set = &world->set;
    const int dim = world->def.dimension;
    double inside[3];
    x = keep_inside(world, x, inside);
    note_newborn(world, v, gradient);
    *(uint64_t *)rp_set_birth(set, RP_COL_ID, set->inbox.count + index, 0) =
        world->next_id + (uint64_t)index;
    index += set->inbox.count;
    for (int i = 0; i < dim; i++) {
        rp_set_birth_value(set, RP_COL_POSITION, index, i, x[i]);
        rp_set_birth_value(set, RP_COL_VELOCITY, index, i, v[i]);
        for (int j = 0; j < dim && gradient != NULL; j++) {
            if (rp_set_has(set, RP_COL_AFFINE)) {
                rp_set_birth_value(set, RP_COL_AFFINE, index, i * dim + j, gradient[3 * i + j]);
            }
        }
    }
    for (int c = 0; c < rp_sym_comps(dim) && strain != NULL; c++) {
        rp_set_birth_value(set, RP_COL_STRAIN, index, c, strain[c]);
    }
}

static void finish_births(rp_world *world, rp_local count, uint16_t group)
{
    for (rp_local i = world->set.inbox.count; i < world->set.inbox.count + count; i++) {
        *(uint16_t *)rp_set_birth(&world->set, RP_COL_GROUP, i, 0) = group;
    }
    world->set.inbox.count += count;
    world->next_id += (uint64_t)count;
    world->stats.born += count;
}

rp_particles_def rp_default_particles_def(void)
{
    return (rp_particles_def){.jitter = 0.5, .cookie = RP_DEF_COOKIE};
}

static double spacing_of(const rp_world *world, const rp_particles_def *def)
{
    return def->spacing > 0.0 ? def->spacing : 0.5 * world->def.dx;
}

static rp_result too_many(double spacing)
{
    return rp_fail(RP_ERR_LIMIT,
                   "particles: a spacing of %g m gives more than the %d that a world holds",
                   spacing, INT32_MAX / 2);
}

// The lattice that fills a shape: along each axis as many particles as come nearest to the wanted
// spacing.
typedef struct lattice {
    double lower[3], step[3];
    int64_t n[3], sites;
} lattice;

static rp_result make_lattice(const rp_world *world, const rp_particles_def *def, lattice *out)
{
    const int dim = world->def.dimension;
    const double spacing = spacing_of(world, def);
    double upper[3];
    rp_shape_bounds(def->shape, dim, out->lower, upper);
    out->sites = 1;
    for (int a = 0; a < 3; a++) {
        const double size = a < dim ? upper[a] - out->lower[a] : spacing;
        const double along = fmax(1.0, round(size / spacing));
        if (!(along * (double)out->sites < (double)INT32_MAX)) {
            return too_many(spacing);
        }
        out->n[a] = (int64_t)along;
        out->step[a] = size / along;
        out->sites *= out->n[a];
    }
    return RP_OK;
}

// The particle of a site. @return false when it lies outside the shape
static bool place_at_site(const rp_world *world, const rp_particles_def *def, const lattice *l,
                          int64_t site, double x[3])
{
    const int64_t cell[3] = {site / (l->n[1] * l->n[2]), site / l->n[2] % l->n[1], site % l->n[2]};
    const uint64_t key = world->next_id + (uint64_t)site;
    x[2] = 0.0;
    for (int a = 0; a < world->def.dimension; a++) {
        const double u = rp_unit(rp_hash(world->def.seed, key, RP_FOR_JITTER, (uint64_t)a)) - 0.5;
        x[a] = l->lower[a] + l->step[a] * ((double)cell[a] + 0.5 + def->jitter * u);
    }
    return rp_shape_distance(def->shape, x, NULL) <= 0.0;
}

static rp_result visit_lattice(const rp_world *world, const rp_particles_def *def,
                               rp_sample_visit visit, void *context)
{
    lattice l;
    RP_TRY(make_lattice(world, def, &l));
    for (int64_t site = 0; site < l.sites; site++) {
        double x[3];
        if (place_at_site(world, def, &l, site, x)) {
            RP_TRY(visit(context, x));
        }
    }
    return RP_OK;
}

// Every shape gets a pattern of its own, so that what is filled twice does not coincide.
static rp_result visit_blue_noise(const rp_world *world, const rp_particles_def *def,
                                  rp_sample_visit visit, void *context)
{
    const int dim = world->def.dimension;
    const double spacing = spacing_of(world, def);
    const uint64_t seed = rp_hash(world->def.seed, world->next_id, RP_FOR_SAMPLES, 0);
    double lower[3], upper[3], most = rp_shape_volume(def->shape, dim) / pow(spacing, dim);
    rp_shape_bounds(def->shape, dim, lower, upper);
    for (int a = 0; a < dim; a++) {
        most = fmax(most, (upper[a] - lower[a]) / spacing);
    }
    if (!(most < (double)INT32_MAX)) {
        return too_many(spacing);
    }
    return rp_sample_shape(def->shape, dim, spacing, seed, visit, context);
}

// All places that particles will be at, in their order.
static rp_result visit_places(const rp_world *world, const rp_particles_def *def,
                              rp_sample_visit visit, void *context)
{
    return def->sampling == RP_LATTICE ? visit_lattice(world, def, visit, context)
                                       : visit_blue_noise(world, def, visit, context);
}

// Velocity and its gradient at a place; of a function by differences over a quarter of a cell.
static rp_result velocity_at(const rp_world *world, const rp_particles_def *def, const double x[3],
                             double v[3], double gradient[3][3])
{
    const int dim = world->def.dimension;
    const rp_vector_of_place *f = &def->velocity_of_place;
    if (f->call == NULL) {
        for (int a = 0; a < dim; a++) {
            v[a] = def->velocity[a];
            for (int b = 0; b < dim; b++) {
                gradient[a][b] = def->velocity_gradient[a][b];
                v[a] += gradient[a][b] * x[b];
            }
        }
        return RP_OK;
    }
    RP_TRY(f->call(f->context, x, v));
    for (int b = 0; b < dim; b++) {
        const double reach = 0.25 * world->def.dx;
        double ahead[3] = {x[0], x[1], x[2]}, behind[3] = {x[0], x[1], x[2]};
        double there[3] = {0}, here[3] = {0};
        ahead[b] += reach;
        behind[b] -= reach;
        RP_TRY(f->call(f->context, ahead, there));
        RP_TRY(f->call(f->context, behind, here));
        for (int a = 0; a < dim; a++) {
            gradient[a][b] = (there[a] - here[a]) / (ahead[b] - behind[b]);
        }
    }
    for (int a = 0; a < dim; a++) {
        for (int b = 0; b < dim; b++) {
            if (!isfinite(v[a]) || !isfinite(gradient[a][b])) {
                return rp_fail(RP_ERR_ARGUMENT,
                               "particles.velocity: want finite numbers, got (%g, %g, %g) at "
                               "(%g, %g, %g) m",
                               v[0], v[1], v[2], x[0], x[1], x[2]);
            }
        }
    }
    return RP_OK;
}

static rp_result check_particles(const rp_world *world, const rp_particles_def *def)
{
    RP_TRY(check_target(world, "particles", def->cookie, def->material, def->field));
    if (def->shape == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "particles.shape: want a shape, got NULL");
    }
    if (def->sampling != RP_POISSON && def->sampling != RP_LATTICE) {
        return rp_fail(RP_ERR_ARGUMENT, "particles.sampling: want RP_POISSON or RP_LATTICE, got %d",
                       (int)def->sampling);
    }
    if (def->prestress != RP_PRESTRESS_NONE && def->prestress != RP_PRESTRESS_K0) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "particles.prestress: want RP_PRESTRESS_NONE or RP_PRESTRESS_K0, got %d",
                       (int)def->prestress);
    }
    if (!(def->jitter >= 0.0 && def->jitter <= 1.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "particles.jitter: want 0 to 1, got %g", def->jitter);
    }
    if (!(def->spacing >= 0.0 && isfinite(def->spacing))) {
        return rp_fail(RP_ERR_ARGUMENT, "particles.spacing: want > 0 m, got %g", def->spacing);
    }
    for (int a = 0; a < world->def.dimension; a++) {
        for (int b = 0; b < world->def.dimension; b++) {
            if (!isfinite(def->velocity[a]) || !isfinite(def->velocity_gradient[a][b])) {
                return rp_fail(RP_ERR_ARGUMENT, "particles.velocity%s: want finite numbers",
                               isfinite(def->velocity[a]) ? "_gradient" : "");
            }
        }
    }
    double lower[3], upper[3];
    if (!rp_shape_bounds(def->shape, world->def.dimension, lower, upper)) {
        return rp_fail(RP_ERR_ARGUMENT, "particles.shape: want one of finite size");
    }
    if (isnan(rp_shape_volume(def->shape, world->def.dimension))) {
        return rp_fail(RP_ERR_ARGUMENT, "particles.shape: want one with an area in a 2D world");
    }
    return RP_OK;
}

static rp_result check_bounds(const rp_world *world, const rp_shape *shape)
{
    double lower[3], upper[3], local[3];
    int32_t block[3];
    rp_shape_bounds(shape, world->def.dimension, lower, upper);
    RP_TRY(rp_layout_place(&world->set.layout, lower, block, local));
    return rp_layout_place(&world->set.layout, upper, block, local);
}

typedef struct filling {
    rp_world *world;
    const rp_particles_def *def;
    rp_local count;  // so far
    rp_local carved; // of them lie inside a collider
    double volume;   // of each [m^d]: of the whole shape, so that what is carved out is missing
    double gravity[3];
} filling;

// Where something solid is, no particle can be.
static bool is_inside_collider(const rp_world *world, const double x[3])
{
    for (int i = 0; i < world->colliders; i++) {
        if (rp_collider_distance(&world->collider[i], x) < 0.0) {
            return true;
        }
    }
    return false;
}

static rp_result count_place(void *context, const double x[3])
{
    filling *f = context;
    f->carved += is_inside_collider(f->world, x);
    return ++f->count <= INT32_MAX / 2 ? RP_OK : too_many(spacing_of(f->world, f->def));
}

// Counted instead of made; its velocity bounds the first step all the same, and may fail.
static rp_result plan_place(void *context, const double x[3])
{
    const filling *f = context;
    double v[3] = {0}, gradient[3][3] = {{0}};
    if (f->carved > 0 && is_inside_collider(f->world, x)) {
        return RP_OK;
    }
    RP_TRY(velocity_at(f->world, f->def, x, v, gradient));
    note_newborn(f->world, v, &gradient[0][0]);
    return rp_plan_count(f->world, x, f->def->material, f->def->field, f->volume);
}

static rp_result fill_place(void *context, const double x[3])
{
    filling *f = context;
    const bool stressed = f->def->prestress == RP_PRESTRESS_K0;
    double v[3] = {0}, gradient[3][3] = {{0}}, strain[6];
    if (f->carved > 0 && is_inside_collider(f->world, x)) {
        return RP_OK;
    }
    RP_TRY(velocity_at(f->world, f->def, x, v, gradient));
    if (stressed) {
        rp_prestress_at(f->world, f->def, f->gravity, x, strain);
    }
    put_birth(f->world, f->count++, x, v, &gradient[0][0], stressed ? strain : NULL);
    return RP_OK;
}

static rp_result fill_places(rp_world *world, const filling *counted)
{
    const rp_particles_def *def = counted->def;
    const rp_local total = counted->count - counted->carved;
    filling f = {world, def, 0, counted->carved, counted->volume, {0}};
    uint16_t group;
    RP_TRY(rp_world_gravity(world, f.gravity));
    RP_TRY(rp_set_reserve_births(&world->set, total));
    RP_TRY(visit_places(world, def, fill_place, &f));
    RP_TRY(add_group(world, def->material, def->field, f.volume, &group));
    finish_births(world, total, group);
    return RP_OK;
}

// What is far too much is refused before it is counted.
static rp_result check_room(const rp_world *world, const rp_particles_def *def)
{
    const int dim = world->def.dimension;
    const double spacing = def->spacing > 0.0 ? def->spacing : 0.5 * world->def.dx;
    const double count = rp_shape_volume(def->shape, dim) / pow(spacing, dim);
    double bytes = 0.0;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        bytes += world->set.column[c].comps * world->set.column[c].bytes;
    }
    if (world->def.memory > 0 && isfinite(count) && count * bytes > (double)world->def.memory) {
        return rp_fail(RP_ERR_MEMORY, "about %.3g of them need %.3g GB, and there are %.3g GB",
                       count, 1e-9 * count * bytes, 1e-9 * (double)world->def.memory);
    }
    return RP_OK;
}

rp_result rp_world_add_particles(rp_world *world, const rp_particles_def *def, int64_t *added)
{
    filling f = {world, def, 0, 0, 0.0, {0}};
    RP_TRY(check_particles(world, def));
    RP_TRY(check_room(world, def));
    RP_TRY(rp_colliders_move(world->collider, world->colliders, rp_world_time(world), 0.0));
    RP_TRY(visit_places(world, def, count_place, &f));
    RP_TRY(check_bounds(world, def->shape));
    if (f.count == f.carved) {
        return rp_fail(RP_ERR_ARGUMENT, f.count == 0
                                            ? "none fits into the shape; want a finer spacing"
                                            : "the whole shape lies inside colliders");
    }
    f.volume = rp_shape_volume(def->shape, world->def.dimension) / (double)f.count;
    if (f.carved > 0) {
        rp_log(RP_LOG_INFO, "%d of %d particles would lie inside a collider and are left out",
               f.carved, f.count);
    }
    if (world->def.plan) {
        RP_TRY(visit_places(world, def, plan_place, &f));
        world->next_id += (uint64_t)(f.count - f.carved);
    } else {
        // a velocity function may fail half way: nothing of it stays
        const double speed = world->newborn_speed, gradient = world->newborn_gradient;
        const int64_t clamped = world->stats.clamped;
        const rp_result result = fill_places(world, &f);
        if (result != RP_OK) {
            world->stats.clamped = clamped;
            world->newborn_speed = speed;
            world->newborn_gradient = gradient;
            return result;
        }
    }
    if (added != NULL) {
        *added = f.count - f.carved;
    }
    return RP_OK;
}

rp_box_def rp_default_box_def(void)
{
    return (rp_box_def){.per_axis = 2, .jitter = 0.5, .cookie = RP_DEF_COOKIE};
}

rp_result rp_world_add_box(rp_world *world, const rp_box_def *box, int64_t *added)
{
    RP_TRY(check_target(world, "box", box->cookie, box->material, box->field));
    if (box->per_axis < 1 || box->per_axis > 16) {
        return rp_fail(RP_ERR_ARGUMENT, "box.per_axis: want 1 to 16, got %d", box->per_axis);
    }
    double lower[3] = {-INFINITY, -INFINITY, -INFINITY};
    double upper[3] = {INFINITY, INFINITY, INFINITY};
    for (int a = 0; a < world->def.dimension; a++) {
        lower[a] = box->lower[a];
        upper[a] = box->upper[a];
        if (!(upper[a] > lower[a] && isfinite(upper[a] - lower[a]))) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "box.upper[%d]: want more than box.lower[%d] = %g, got %g", a, a,
                           lower[a], upper[a]);
        }
    }
    rp_particles_def def = rp_default_particles_def();
    def.material = box->material;
    def.spacing = world->def.dx / box->per_axis;
    def.sampling = RP_LATTICE;
    def.jitter = box->jitter;
    def.field = box->field;
    memcpy(def.velocity, box->velocity, sizeof def.velocity);
    memcpy(def.velocity_gradient, box->velocity_gradient, sizeof def.velocity_gradient);
    rp_shape *shape;
    RP_TRY(rp_shape_box(lower, upper, &shape));
    def.shape = shape;
    const rp_result result = rp_world_add_particles(world, &def, added);
    rp_shape_release(shape);
    return result;
}

rp_result rp_world_give_birth(rp_world *world, rp_material material, int field, double volume,
                              const double (*position)[3], const double velocity[3], rp_local count)
{
    uint16_t group;
    RP_TRY(rp_set_reserve_births(&world->set, count));
    RP_TRY(add_group(world, material, field, volume, &group));
    for (rp_local i = 0; i < count; i++) {
        put_birth(world, i, position[i], velocity, NULL, NULL);
    }
    finish_births(world, count, group);
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
    if (first != NULL) {
        *first = world->next_id;
    }
    if (world->def.plan) {
        for (int64_t i = 0; i < def->count; i++) {
            RP_TRY(rp_plan_count(world, def->position + 3 * i, def->material, def->field,
                                 def->volume));
        }
        world->next_id += (uint64_t)def->count;
        return RP_OK;
    }
    uint16_t group;
    RP_TRY(rp_set_reserve_births(&world->set, (rp_local)def->count));
    RP_TRY(add_group(world, def->material, def->field, def->volume, &group));
    static const double rest[3] = {0};
    for (int64_t i = 0; i < def->count; i++) {
        put_birth(world, (rp_local)i, def->position + 3 * i,
                  def->velocity != NULL ? def->velocity + 3 * i : rest,
                  def->gradient != NULL ? def->gradient + 9 * i : NULL, NULL);
    }
    finish_births(world, (rp_local)def->count, group);
    return RP_OK;
}

static bool is_among(uint64_t id, const uint64_t *sorted, int64_t count)
{
    return bsearch(&id, sorted, (size_t)count, sizeof id, rp_compare_ids) != NULL;
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
    rp_scratch_reset(&world->scratch);
    uint64_t *sorted =
        rp_scratch_get(&world->scratch, (size_t)count * sizeof *ids, "ids to remove");
    if (sorted == NULL) {
        return RP_ERR_MEMORY;
    }
    if (count > 0) {
        memcpy(sorted, ids, (size_t)count * sizeof *ids);
        qsort(sorted, (size_t)count, sizeof *sorted, rp_compare_ids);
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

rp_collider_def rp_default_collider_def(void)
{
    return (rp_collider_def){.contact = RP_STICKY,
                             .parent = -1,
                             .look = RP_LOOK_SOLID,
                             .color = {0.62, 0.64, 0.66},
                             .cookie = RP_DEF_COOKIE};
}

rp_result rp_world_add_collider(rp_world *world, const rp_collider_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "collider: start from rp_default_collider_def()");
    }
    if (world->colliders == RP_COLLIDER_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d colliders", RP_COLLIDER_LIMIT);
    }
    if (def->shape == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "collider.shape: want a shape, got NULL");
    }
    if (def->contact != RP_STICKY && def->contact != RP_SLIP && def->contact != RP_SEPARATE) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "collider.contact: want RP_STICKY, RP_SLIP or RP_SEPARATE, got %d",
                       (int)def->contact);
    }
    if (!(def->friction >= 0.0 && isfinite(def->friction))) {
        return rp_fail(RP_ERR_ARGUMENT, "collider.friction: want >= 0, got %g", def->friction);
    }
    if (def->look != RP_LOOK_SOLID && def->look != RP_LOOK_GLASS && def->look != RP_LOOK_HIDDEN) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "collider.look: want RP_LOOK_SOLID, RP_LOOK_GLASS or RP_LOOK_HIDDEN, got %d",
                       (int)def->look);
    }
    for (int k = 0; k < 3; k++) {
        if (!(def->color[k] >= 0.0 && def->color[k] <= 1.0)) {
            return rp_fail(RP_ERR_ARGUMENT, "collider.color[%d]: want 0 to 1, got %g", k,
                           def->color[k]);
        }
    }
    if (def->parent < -1 || def->parent >= world->colliders) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "collider.parent: want an earlier collider, 0 to %d, or -1, got %d",
                       world->colliders - 1, def->parent);
    }
    rp_collider *collider = &world->collider[world->colliders];
    static const rp_placing at_rest = {.rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    *collider = (rp_collider){
        .shape = rp_shape_retain(def->shape),
        .contact = def->contact,
        .friction = def->friction,
        .motion = def->motion,
        .parent = def->parent,
        .moves =
            def->motion.call != NULL || (def->parent >= 0 && world->collider[def->parent].moves),
        .begin = at_rest,
        .end = at_rest,
        .look = def->look,
        .color = {def->color[0], def->color[1], def->color[2]},
    };
    if (def->name != NULL) {
        snprintf(collider->name, sizeof collider->name, "%s", def->name);
    } else {
        snprintf(collider->name, sizeof collider->name, "%d", world->colliders);
    }
    world->body[world->colliders] = rp_body_scripted(collider);
    world->colliders++;
    rp_registry_set_rows(&world->registry, "colliders/loads", world->colliders);
    return RP_OK;
}

int rp_world_colliders(const rp_world *world) { return world->colliders; }

void rp_world_collider_load(const rp_world *world, int index, rp_collider_load *out)
{
    RP_ASSERT(index >= 0 && index < world->colliders);
    const rp_load *load = &world->load[index];
    *out = (rp_collider_load){.name = world->collider[index].name, .pose = load->pose};
    memcpy(out->force, load->force, sizeof out->force);
    memcpy(out->torque, load->torque, sizeof out->torque);
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
    double point[3] = {0}, normal[3] = {0};
    memcpy(point, def->point, (size_t)world->def.dimension * sizeof *point);
    memcpy(normal, def->normal, (size_t)world->def.dimension * sizeof *normal);
    rp_shape *shape;
    RP_TRY(rp_shape_half_space(point, normal, &shape));
    rp_collider_def collider = rp_default_collider_def();
    collider.shape = shape;
    collider.contact = def->contact;
    collider.friction = def->friction;
    const rp_result result = rp_world_add_collider(world, &collider);
    rp_shape_release(shape);
    return result;
}

rp_result rp_world_add_walls(rp_world *world, const double lower[3], const double upper[3],
                             rp_contact contact, double friction)
{
    const int before = world->colliders;
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
            while (world->colliders > before) {
                rp_shape_release(world->collider[--world->colliders].shape);
            }
            rp_registry_set_rows(&world->registry, "colliders/loads", world->colliders);
            return result;
        }
    }
    return RP_OK;
}
