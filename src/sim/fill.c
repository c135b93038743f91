// Shapes filled with particles.
#include "base/hash.h"
#include "base/result.h"
#include "repose/fracture.h"
#include "shape/sample.h"
#include "sim/places.h"
#include "sim/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

rp_particles_def rp_default_particles_def(void)
{
    return (rp_particles_def){.jitter = 0.5, .share = 1.0, .cookie = RP_DEF_COOKIE};
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

// A place on its way to whoever visits: a planned world keeps it for the world to come.
typedef struct passing {
    rp_places *places;
    rp_sample_visit visit;
    void *context;
} passing;

static rp_result pass_place(void *context, const double x[3])
{
    const passing *p = context;
    rp_places_note(p->places, x);
    return p->visit(p->context, x);
}

static rp_result sample(const rp_world *world, const rp_particles_def *def, rp_sample_visit visit,
                        void *context)
{
    return def->sampling == RP_LATTICE ? visit_lattice(world, def, visit, context)
                                       : visit_blue_noise(world, def, visit, context);
}

// All places that particles will be at, in their order.
static rp_result visit_places(rp_world *world, const rp_particles_def *def, rp_sample_visit visit,
                              void *context)
{
    rp_places *places = world->def.places;
    const rp_filling_key key = {.call = world->fillings++,
                                .first_id = world->next_id,
                                .seed = world->def.seed,
                                .spacing = spacing_of(world, def),
                                .jitter = def->jitter,
                                .volume = rp_shape_volume(def->shape, world->def.dimension),
                                .sampling = def->sampling};
    rp_result result;
    if (places == NULL) {
        return sample(world, def, visit, context);
    }
    if (rp_places_visit(places, &key, !world->def.plan, visit, context, &result)) {
        return result;
    }
    if (!world->def.plan) {
        return sample(world, def, visit, context);
    }
    passing p = {places, visit, context};
    rp_places_begin(places, &key);
    return sample(world, def, pass_place, &p);
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
    RP_TRY(rp_world_check_target(world, "particles", def->cookie, def->material, def->field));
    if (def->shape == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "particles.shape: want a shape, got NULL");
    }
    RP_TRY(rp_shape_check_still("particles.shape", def->shape));
    const int pieces = def->cut != NULL ? rp_cut_pieces(def->cut) : 1;
    if (def->field + pieces > world->def.fields) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "particles.cut: want fields for %d pieces from %d on, got %d fields", pieces,
                       def->field, world->def.fields);
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
    const rp_set *set = rp_world_species_of((rp_world *)(uintptr_t)world, def->material)->set;
    if (def->prestress != RP_PRESTRESS_NONE) {
        RP_TRY(rp_world_honours(world, RP_FEATURE_PRESTRESS));
        if (!rp_set_has(set, RP_COL_STRAIN)) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "particles.prestress: want a solid, which has a strain, got %s",
                           world->material[def->material.index].name);
        }
    }
    if (!(def->share > 0.0 && def->share <= 1.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "particles.share: want > 0 to 1, got %g", def->share);
    }
    if (!(def->jitter >= 0.0 && def->jitter <= 1.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "particles.jitter: want 0 to 1, got %g", def->jitter);
    }
    if (!(def->spacing >= 0.0 && isfinite(def->spacing))) {
        return rp_fail(RP_ERR_ARGUMENT, "particles.spacing: want > 0 m, got %g", def->spacing);
    }
    RP_TRY(rp_world_check_spacing(world, "particles.per_cell", spacing_of(world, def), 1e-6));
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
    RP_TRY(rp_layout_place(&world->grid.layout, lower, block, local));
    return rp_layout_place(&world->grid.layout, upper, block, local);
}

// A shape is sampled once: how many particles there are, and with it the volume of each, is known
// when all of them are in the inbox, and until then they do not count.
typedef struct filling {
    rp_world *world;
    const rp_particles_def *def;
    const rp_species *species;
    rp_local count, room; // so far; in the inbox
    rp_local carved;      // lie inside a collider
    bool solid;           // keeps its shape, and particles know how deep they are
    rp_shape **piece;     // [pieces] of a solid that is cut
    double gravity[3];
} filling;

// Where something solid is, no particle can be.
static bool is_inside_collider(const rp_world *world, const double x[3])
{
    for (int i = 0; i < world->colliders; i++) {
        if (!world->collider[i].permeable && rp_collider_distance(&world->collider[i], x) < 0.0) {
            return true;
        }
    }
    return false;
}

static rp_result count_place(const filling *f)
{
    return f->count + f->carved <= INT32_MAX / 2 ? RP_OK : too_many(spacing_of(f->world, f->def));
}

static int field_at(const rp_particles_def *def, const double x[3])
{
    return def->field + (def->cut != NULL ? rp_cut_piece(def->cut, x) : 0);
}

// Counted instead of made; its velocity bounds the first step all the same, and may fail.
static rp_result plan_place(void *context, const double x[3])
{
    filling *f = context;
    double v[3] = {0}, gradient[3][3] = {{0}};
    RP_TRY(count_place(f));
    if (is_inside_collider(f->world, x)) {
        f->carved++;
        return RP_OK;
    }
    f->count++;
    RP_TRY(velocity_at(f->world, f->def, x, v, gradient));
    rp_world_note_newborn(f->world, v, &gradient[0][0]);
    return rp_plan_count(f->world, x, f->def->material, field_at(f->def, x));
}

static rp_result fill_place(void *context, const double x[3])
{
    filling *f = context;
    double v[3] = {0}, gradient[3][3] = {{0}}, strain[6];
    rp_birth birth = {.x = x, .v = v, .gradient = &gradient[0][0]};
    RP_TRY(count_place(f));
    if (is_inside_collider(f->world, x)) {
        f->carved++;
        return RP_OK;
    }
    if (f->count == f->room) {
        f->room += f->room / 8 + RP_LANES;
        RP_TRY(rp_set_reserve_births(f->species->set, f->count, f->room));
    }
    RP_TRY(velocity_at(f->world, f->def, x, v, gradient));
    if (f->def->prestress == RP_PRESTRESS_K0) {
        rp_prestress_at(f->world, f->def, f->gravity, x, strain);
        birth.strain = strain;
    }
    // what flows makes surfaces of its own; of what is cut each side of a cut is one
    if (f->solid) {
        const rp_shape *own =
            f->piece != NULL ? f->piece[rp_cut_piece(f->def->cut, x)] : f->def->shape;
        birth.depth = fmax(0.0, -rp_shape_distance(own, x, NULL));
    }
    rp_world_put_birth(f->world, f->species, f->count++, &birth);
    return RP_OK;
}

// About how many particles a shape takes.
static double expected(const rp_world *world, const rp_particles_def *def)
{
    const int dim = world->def.dimension;
    return rp_shape_volume(def->shape, dim) / pow(spacing_of(world, def), dim);
}

// What is far too much is refused before it is counted.
static rp_result check_room(const rp_world *world, const rp_particles_def *def)
{
    const rp_set *set = rp_world_species_of((rp_world *)(uintptr_t)world, def->material)->set;
    const double count = expected(world, def);
    double bytes = 0.0;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        bytes += set->column[c].comps * set->column[c].bytes;
    }
    if (world->def.memory > 0 && isfinite(count) && count * bytes > (double)world->def.memory) {
        return rp_fail(RP_ERR_MEMORY, "about %.3g of them need %.3g GB, and there are %.3g GB",
                       count, 1e-9 * count * bytes, 1e-9 * (double)world->def.memory);
    }
    return 0.9 * count > INT32_MAX / 2 ? too_many(spacing_of(world, def)) : RP_OK;
}

// Particles that were just born go to the pieces that they lie in. Groups of all pieces, or none.
static rp_result divide(rp_world *world, const rp_species *species, const rp_particles_def *def,
                        double volume, rp_local count)
{
    const int pieces = rp_cut_pieces(def->cut);
    rp_set *set = species->set;
    uint16_t first, group;
    RP_TRY(rp_world_add_groups(world, def->material, def->field, pieces, volume, &first));
    rp_world_end_births(world, species, count, first);
    for (rp_local i = set->inbox.count - count; i < set->inbox.count; i++) {
        double x[3] = {0};
        for (int a = 0; a < world->def.dimension; a++) {
            x[a] = rp_set_birth_read(set, RP_COL_POSITION, i, a);
        }
        group = (uint16_t)(first + rp_cut_piece(def->cut, x));
        rp_set_birth_value(set, RP_COL_GROUP, i, 0, group);
    }
    return RP_OK;
}

static void drop_pieces(filling *f)
{
    for (int i = 0; f->piece != NULL && i < rp_cut_pieces(f->def->cut); i++) {
        rp_shape_release(f->piece[i]);
    }
    free(f->piece);
    f->piece = NULL;
}

static rp_result find_pieces(filling *f)
{
    const int pieces = f->def->cut != NULL ? rp_cut_pieces(f->def->cut) : 0;
    rp_result result = RP_OK;
    if (!f->solid || pieces == 0) {
        return RP_OK;
    }
    f->piece = calloc((size_t)pieces, sizeof(rp_shape *));
    if (f->piece == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the shapes of %d pieces", pieces);
    }
    for (int i = 0; i < pieces && result == RP_OK; i++) {
        result = rp_cut_shape(f->def->cut, i, &f->piece[i]);
    }
    return result;
}

static rp_result fill_places(filling *f)
{
    rp_world *world = f->world;
    const rp_particles_def *def = f->def;
    uint16_t group = 0;
    if (!world->def.plan) {
        // room for a few more than that: most shapes are then filled without moving
        const double most = fmin(1.01 * expected(world, def) + 64.0, INT32_MAX / 4);
        f->room = isfinite(most) ? (rp_local)most : RP_LANES;
        RP_TRY(rp_world_gravity(world, f->gravity));
        RP_TRY(rp_set_reserve_births(f->species->set, 0, f->room));
    }
    RP_TRY(visit_places(world, def, world->def.plan ? plan_place : fill_place, f));
    if (f->count == 0) {
        return rp_fail(RP_ERR_ARGUMENT, f->carved == 0
                                            ? "none fits into the shape; want a finer spacing"
                                            : "the whole shape lies inside colliders");
    }
    // of the whole shape, so that what is carved out is missing
    const double volume = def->share * rp_shape_volume(def->shape, world->def.dimension) /
                          (double)(f->count + f->carved);
    if (world->def.plan) {
        rp_plan_commit(world, def->material, volume);
        world->next_id += (uint64_t)f->count;
    } else if (def->cut != NULL) {
        RP_TRY(divide(world, f->species, def, volume, f->count));
    } else {
        RP_TRY(rp_world_add_group(world, def->material, def->field, volume, &group));
        rp_world_end_births(world, f->species, f->count, group);
    }
    if (f->carved > 0) {
        rp_log(RP_LOG_INFO, "%d of %d particles would lie inside a collider and are left out",
               f->carved, f->count + f->carved);
    }
    return RP_OK;
}

rp_result rp_world_add_particles(rp_world *world, const rp_particles_def *def, int64_t *added)
{
    filling f = {.world = world, .def = def};
    RP_TRY(check_particles(world, def));
    RP_TRY(check_room(world, def));
    RP_TRY(check_bounds(world, def->shape));
    RP_TRY(rp_world_move_colliders(world, 0.0));
    f.species = rp_world_species_of(world, def->material);
    f.solid = world->material[def->material.index].kind == RP_ELASTIC && !world->def.plan &&
              rp_set_has(f.species->set, RP_COL_DEPTH);
    // a velocity function may fail half way: nothing of it stays
    const double speed = world->newborn_speed, gradient = world->newborn_gradient;
    const int64_t clamped = world->stats.clamped;
    const rp_result found = find_pieces(&f);
    const rp_result result = found == RP_OK ? fill_places(&f) : found;
    drop_pieces(&f);
    if (result != RP_OK) {
        rp_plan_drop(world);
        world->stats.clamped = clamped;
        world->newborn_speed = speed;
        world->newborn_gradient = gradient;
        return result;
    }
    if (added != NULL) {
        *added = f.count;
    }
    return RP_OK;
}

rp_box_def rp_default_box_def(void)
{
    return (rp_box_def){.per_axis = 2, .jitter = 0.5, .cookie = RP_DEF_COOKIE};
}

rp_result rp_world_add_box(rp_world *world, const rp_box_def *box, int64_t *added)
{
    RP_TRY(rp_world_check_target(world, "box", box->cookie, box->material, box->field));
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
