// What comes and goes while a world runs: emitters, sinks, and the border of the domain.
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "base/threads.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- emitters ----

rp_emitter_def rp_default_emitter_def(void)
{
    return (rp_emitter_def){.stop = INFINITY, .parent = -1, .cookie = RP_DEF_COOKIE};
}

static rp_result check_emitter(const rp_world *world, const rp_emitter_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter: start from rp_default_emitter_def()");
    }
    if (def->name != NULL) {
        RP_TRY(rp_check_name("emitter.name", def->name));
    }
    RP_TRY(rp_world_honours(world, RP_FEATURE_EMITTERS));
    if (world->emitters == RP_EMITTER_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d emitters", RP_EMITTER_LIMIT);
    }
    if (def->material.index >= world->materials) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter.material: want one that was added to this world");
    }
    if (def->field < 0 || def->field >= world->def.fields) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter.field: want 0 to %d, got %d",
                       world->def.fields - 1, def->field);
    }
    if (def->shape == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter.shape: want a shape, got NULL");
    }
    RP_TRY(rp_shape_check_still("emitter.shape", def->shape));
    if (!(def->rate >= 0.0 && isfinite(def->rate))) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter.rate: want > 0 kg/s, got %g", def->rate);
    }
    if (!(def->volume >= 0.0 && isfinite(def->volume))) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter.volume: want > 0 m^3, got %g", def->volume);
    }
    if (!(def->start >= 0.0 && isfinite(def->start))) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter.start: want >= 0 s, got %g", def->start);
    }
    if (!(def->stop > def->start)) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter.stop: want more than emitter.start = %g s, got %g",
                       def->start, def->stop);
    }
    if (!(def->spacing >= 0.0 && isfinite(def->spacing))) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter.spacing: want > 0 m, got %g", def->spacing);
    }
    if (def->parent < -1 || def->parent >= world->colliders) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter.parent: want a collider, 0 to %d, or -1, got %d",
                       world->colliders - 1, def->parent);
    }
    if (def->parent >= 0 && world->collider[def->parent].morph != NULL) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "emitter.attach: want what stays as it is, got '%s', which deforms",
                       world->collider[def->parent].name);
    }
    RP_TRY(rp_world_check_spacing(world, "emitter.spacing",
                                  def->spacing > 0.0 ? def->spacing : 0.5 * world->def.dx, 1e-6));
    return RP_OK;
}

// Sites in an order that looks like none: what leaves one after the other is not side by side.
static rp_result shuffle_sites(const rp_world *world, rp_emitter *e)
{
    RP_TRY(rp_buffer_reserve(&e->order, &world->allocator, (size_t)e->sites * sizeof(int32_t), 0,
                             "the order of grains of an emitter"));
    int32_t *order = e->order.data;
    for (int32_t i = 0; i < e->sites; i++) {
        const uint64_t draw =
            rp_hash(world->def.seed, (uint64_t)i, RP_FOR_LAYER, (uint64_t)world->emitters);
        const int32_t j = (int32_t)(draw % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    return RP_OK;
}

// Does it go along with what may move, or by itself?
static rp_result make_movable(const rp_world *world, const rp_emitter_def *def, rp_emitter *e)
{
    e->motion = def->motion;
    e->parent = def->parent;
    e->moves = def->motion.call != NULL || (def->parent >= 0 && world->collider[def->parent].moves);
    if (def->parent >= 0) {
        e->from = world->collider[def->parent].begin;
    }
    for (int i = 0; i < world->rigids && def->parent >= 0; i++) {
        if (world->rigid[i].collider == def->parent) {
            memcpy(e->about, world->motion[i].pose.position, sizeof e->about);
        }
    }
    return e->moves ? shuffle_sites(world, e) : RP_OK;
}

// Two directions that span the layer with the first one, which is the way out.
static void span(const double way[3], int dim, double side[2][3])
{
    memset(side, 0, 2 * sizeof *side);
    if (dim == 2) {
        side[0][0] = -way[1];
        side[0][1] = way[0];
        return;
    }
    // start from the axis that the way is least along
    int least = 0;
    for (int a = 1; a < 3; a++) {
        least = fabs(way[a]) < fabs(way[least]) ? a : least;
    }
    double length2 = 0.0;
    for (int a = 0; a < 3; a++) {
        side[0][a] = (a == least) - way[least] * way[a];
        length2 += side[0][a] * side[0][a];
    }
    for (int a = 0; a < 3; a++) {
        side[0][a] /= sqrt(length2);
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        side[1][a] = way[b] * side[0][c] - way[c] * side[0][b];
    }
}

// Sites on a square lattice in the plane of the layer, as far as they lie in the shape. Counts when
// `out` is NULL.
static int64_t list_sites(const rp_world *world, const rp_shape *shape, const double way[3],
                          double spacing, double (*out)[3])
{
    const int dim = world->def.dimension;
    double lower[3], upper[3], middle[3] = {0}, side[2][3], reach2 = 0.0;
    rp_shape_bounds(shape, dim, lower, upper);
    for (int a = 0; a < dim; a++) {
        middle[a] = 0.5 * (lower[a] + upper[a]);
        reach2 += 0.25 * (upper[a] - lower[a]) * (upper[a] - lower[a]);
    }
    span(way, dim, side);
    const int64_t n = (int64_t)(sqrt(reach2) / spacing) + 1, m = dim == 3 ? n : 0;
    int64_t sites = 0;
    for (int64_t i = -n; i < n; i++) {
        for (int64_t j = -m; j <= (m > 0 ? m - 1 : 0); j++) {
            double x[3] = {0};
            for (int a = 0; a < dim; a++) {
                x[a] = middle[a] + spacing * (((double)i + 0.5) * side[0][a] +
                                              (m > 0 ? (double)j + 0.5 : 0.0) * side[1][a]);
            }
            if (rp_shape_distance(shape, x, NULL) <= 0.0) {
                if (out != NULL) {
                    memcpy(out[sites], x, sizeof x);
                }
                sites++;
            }
        }
    }
    return sites;
}

static rp_result make_emitter(const rp_world *world, const rp_emitter_def *def, rp_emitter *e)
{
    const int dim = world->def.dimension;
    double lower[3], upper[3], way[3] = {0}, speed2 = 0.0, span2 = 0.0;
    *e = (rp_emitter){.material = def->material,
                      .field = def->field,
                      .start = def->start,
                      .stop = def->stop,
                      .spacing = def->spacing > 0.0 ? def->spacing : 0.5 * world->def.dx};
    for (int a = 0; a < dim; a++) {
        e->velocity[a] = def->velocity[a];
        speed2 += def->velocity[a] * def->velocity[a];
    }
    if (!(speed2 > 0.0 && isfinite(speed2))) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "emitter.velocity: want a direction and a speed, got %g m/s", sqrt(speed2));
    }
    if (!rp_shape_bounds(def->shape, dim, lower, upper)) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter.shape: want one of finite size");
    }
    for (int a = 0; a < dim; a++) {
        way[a] = e->velocity[a] / sqrt(speed2);
        span2 += (upper[a] - lower[a]) * (upper[a] - lower[a]);
    }
    if (!(pow(sqrt(span2) / e->spacing, dim - 1) < 1e8)) {
        return rp_fail(RP_ERR_LIMIT,
                       "emitter.spacing: %g m gives more than a hundred million "
                       "particles a layer",
                       e->spacing);
    }
    const int64_t sites = list_sites(world, def->shape, way, e->spacing, NULL);
    if (sites == 0 || sites > INT32_MAX / 4) {
        return rp_fail(RP_ERR_ARGUMENT, "emitter.shape: %lld particles fit into a layer of it",
                       (long long)sites);
    }
    RP_TRY(rp_buffer_reserve(&e->site, &world->allocator, (size_t)sites * 3 * sizeof(double), 0,
                             "the layer of an emitter"));
    e->sites = (int32_t)list_sites(world, def->shape, way, e->spacing, e->site.data);
    span(way, dim, e->side);
    e->volume = pow(e->spacing, dim);
    const double layer = e->volume * e->sites,
                 density = world->material[def->material.index].density;
    e->interval = e->spacing / sqrt(speed2);
    if (def->rate > 0.0) {
        const double interval = density * layer / def->rate;
        if (interval < e->interval * (1.0 - 1e-9)) {
            rp_buffer_free(&e->site, &world->allocator);
            return rp_fail(RP_ERR_ARGUMENT,
                           "emitter.rate: %g kg/s do not fit through this shape at %g m/s, at most "
                           "%g kg/s do: want a larger shape or velocity",
                           def->rate, sqrt(speed2), density * layer / e->interval);
        }
        e->interval = interval;
    }
    e->layers_most = def->volume > 0.0 ? fmax(1.0, round(def->volume / layer)) : INFINITY;
    const rp_result result = make_movable(world, def, e);
    if (result != RP_OK) {
        rp_buffer_free(&e->site, &world->allocator);
        return result;
    }
    if (e->moves) { // grain by grain
        e->interval /= e->sites;
        e->layers_most = def->volume > 0.0 ? fmax(1.0, round(def->volume / e->volume)) : INFINITY;
    }
    return RP_OK;
}

rp_result rp_world_add_emitter(rp_world *world, const rp_emitter_def *def)
{
    rp_emitter *e = &world->emitter[world->emitters];
    RP_TRY(check_emitter(world, def));
    RP_TRY(make_emitter(world, def, e));
    if (def->name != NULL) {
        snprintf(e->name, sizeof e->name, "%s", def->name);
    } else {
        snprintf(e->name, sizeof e->name, "%d", world->emitters);
    }
    e->shape = rp_shape_retain(def->shape);
    world->emitters++;
    rp_registry_set_rows(&world->registry, "emitters/layers", world->emitters);
    rp_registry_set_rows(&world->registry, "emitters/buried", world->emitters);
    return RP_OK;
}

int64_t rp_world_poured_by(const rp_world *world, double time)
{
    double poured = 0.0;
    for (int i = 0; i < world->emitters; i++) {
        const rp_emitter *e = &world->emitter[i];
        // layers are due at start, start + interval and so on, before stop
        const double layers = ceil((fmin(time, e->stop) - e->start) / e->interval);
        poured += fmin(fmax(layers, 0.0), e->layers_most) * (e->moves ? 1 : e->sites);
    }
    return poured < 9e18 ? (int64_t)poured : INT64_MAX;
}

// Where a site is in this layer: the lattice lies elsewhere in every one, so that the stream has no
// rows; what that would put outside of the mouth stays.
static void shift_site(const rp_emitter *e, const double site[3], const double shift[2],
                       double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = site[a] + shift[0] * e->side[0][a] + shift[1] * e->side[1][a];
    }
    if (rp_shape_distance(e->shape, out, NULL) > 0.0) {
        memcpy(out, site, 3 * sizeof *out);
    }
}

// One layer, `since` seconds after it was due: as far out as it has come by then, and spread over
// half the way to the layers before and after it, so that the stream has no rings.
static rp_result pour_layer(rp_world *world, int emitter, double since)
{
    const rp_emitter *e = &world->emitter[emitter];
    const int dim = world->def.dimension;
    const double(*site)[3] = e->site.data;
    double shift[2];
    for (int k = 0; k < 2; k++) {
        const uint64_t draw = rp_hash(world->def.seed, (uint64_t)world->layers[emitter],
                                      RP_FOR_LAYER, (uint64_t)(2 * emitter + k));
        shift[k] = e->spacing * (rp_unit(draw) - 0.5);
    }
    double(*x)[3] = rp_scratch_get(&world->scratch, (size_t)e->sites * sizeof *x, "a layer");
    double(*v)[3] = rp_scratch_get(&world->scratch, (size_t)e->sites * sizeof *v, "a layer");
    if (x == NULL || v == NULL) {
        return RP_ERR_MEMORY;
    }
    for (int32_t i = 0; i < e->sites; i++) {
        const uint64_t id = world->next_id + (uint64_t)i;
        double u[4];
        for (int k = 0; k < 4; k++) {
            u[k] = rp_unit(rp_hash(world->def.seed, id, RP_FOR_JITTER, (uint64_t)k)) - 0.5;
        }
        shift_site(e, site[i], shift, x[i]);
        for (int a = 0; a < dim; a++) {
            x[i][a] += 0.5 * e->spacing * u[a] + (since + e->interval * u[3]) * e->velocity[a];
        }
        memcpy(v[i], e->velocity, sizeof v[i]);
    }
    return rp_world_give_birth(world, e->material, e->field, e->volume, x, v, e->sites);
}

rp_result rp_world_pour(rp_world *world)
{
    const double now = rp_world_time(world);
    for (int i = 0; i < world->emitters; i++) {
        const rp_emitter *e = &world->emitter[i];
        while (!e->moves) {
            const double due = e->start + world->layers[i] * e->interval;
            if (due > now || due >= e->stop || world->layers[i] >= e->layers_most) {
                break;
            }
            rp_scratch_reset(&world->scratch);
            RP_TRY(pour_layer(world, i, now - due));
            world->layers[i]++;
        }
    }
    return RP_OK;
}

// ---- mouths that are buried ----

// Nothing holds a grain back that is poured where others lie: it lies in them, and what is denser
// than sand can be stays so. Looked for at the ends of frames, around some sites of each mouth.
enum { MOUTH_LOOKS = 32 };
static const double CROWDED = 1.25; // times as dense as the material; a free stream has about 0.6

typedef struct mouth {
    double x[MOUTH_LOOKS][3], mass[MOUTH_LOOKS];
    int looks;
} mouth;

static void weigh_page(const rp_set *set, const rp_page *page, double reach, mouth *m)
{
    const rp_layout *l = &set->layout;
    double middle[3];
    const double ball = rp_layout_page_ball(l, page->block, middle);
    for (int i = 0; i < m->looks; i++) {
        bool near = true;
        for (int a = 0; a < l->dim; a++) {
            near = near && fabs(m->x[i][a] - middle[a]) < ball + reach;
        }
        for (rp_local slot = page->first; near && slot < page->first + page->count; slot++) {
            bool within = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0) != RP_GROUP_DEAD;
            for (int a = 0; a < l->dim && within; a++) {
                within =
                    fabs(rp_set_value(set, RP_COL_POSITION, slot, a, page) - m->x[i][a]) < reach;
            }
            double mass, volume;
            if (within) {
                rp_set_measure(set, page, slot, &mass, &volume);
                m->mass[i] += mass;
            }
        }
    }
}

void rp_world_look_at_mouths(rp_world *world)
{
    const double now = rp_world_time(world), reach = world->def.dx;
    const double room = pow(2.0 * reach, world->def.dimension);
    for (int k = 0; k < world->emitters; k++) {
        const rp_emitter *e = &world->emitter[k];
        const double due = e->start + world->layers[k] * e->interval;
        const bool pours = world->layers[k] > 0.0 && due < e->stop &&
                           world->layers[k] < e->layers_most && due - e->interval <= now;
        if (!pours || world->buried[k] != 0.0) {
            continue;
        }
        mouth m = {.looks = e->sites < MOUTH_LOOKS ? e->sites : MOUTH_LOOKS};
        for (int i = 0; i < m.looks; i++) {
            const int64_t site = (int64_t)i * e->sites / m.looks;
            if (rp_emitter_site(world, e, (int32_t)site, now, m.x[i]) != RP_OK) {
                return; // the next step says why
            }
        }
        for (int s = 0; s < world->species_count; s++) {
            const rp_set *set = &world->set[s];
            for (rp_local p = 0; p < set->pages && rp_set_has_mass(set); p++) {
                weigh_page(set, &rp_set_page(set)[p], reach, &m);
            }
        }
        const double full = room * world->material[e->material.index].density;
        int crowded = 0;
        double most = 0.0;
        for (int i = 0; i < m.looks; i++) {
            crowded += m.mass[i] > CROWDED * full;
            most = fmax(most, m.mass[i] / full);
        }
        if (4 * crowded > m.looks) {
            world->buried[k] = 1.0;
            rp_log(RP_LOG_WARNING,
                   "emitter '%s': by t = %g s (frame %lld) its mouth is buried: %d %% of what it "
                   "pours comes out where grains lie already, up to %.2g times as dense as they "
                   "can be; put it higher, pour less (rate), or end it before (stop)",
                   e->name, now, (long long)world->time.frame, 100 * crowded / m.looks, most);
        }
    }
}

// ---- sinks and the border ----

rp_result rp_world_add_sink(rp_world *world, const rp_shape *shape)
{
    RP_TRY(rp_world_honours(world, RP_FEATURE_SINKS));
    if (world->sinks == RP_SINK_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d sinks", RP_SINK_LIMIT);
    }
    if (shape == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "sink.shape: want a shape, got NULL");
    }
    RP_TRY(rp_shape_check_still("sink.shape", shape));
    world->sink[world->sinks++] = rp_shape_retain(shape);
    return RP_OK;
}

rp_result rp_world_set_domain(rp_world *world, const double lower[3], const double upper[3],
                              rp_leave leave)
{
    RP_TRY(rp_world_honours(world, RP_FEATURE_DOMAIN));
    for (int a = 0; a < world->def.dimension; a++) {
        if (!(lower[a] < upper[a])) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "domain.upper[%d]: want more than domain.lower[%d] = %g, got %g", a, a,
                           lower[a], upper[a]);
        }
    }
    if (leave != RP_LEAVE_STOP && leave != RP_LEAVE_REMOVE && leave != RP_LEAVE_CLAMP) {
        return rp_fail(RP_ERR_ARGUMENT, "domain.leave: want one of rp_leave, got %d", (int)leave);
    }
    world->domain = (rp_domain){.leave = leave, .set = true};
    memcpy(world->domain.lower, lower, sizeof world->domain.lower);
    memcpy(world->domain.upper, upper, sizeof world->domain.upper);
    return RP_OK;
}

void rp_pour_free(rp_world *world)
{
    for (int i = 0; i < world->emitters; i++) {
        rp_buffer_free(&world->emitter[i].site, &world->allocator);
        rp_buffer_free(&world->emitter[i].order, &world->allocator);
        rp_shape_release(world->emitter[i].shape);
    }
    for (int i = 0; i < world->sinks; i++) {
        rp_shape_release(world->sink[i]);
    }
}

// What a page's thread finds; added up in page order.
typedef struct drained {
    int32_t sunk, left, clamped;
    rp_local leaver; // a slot outside a domain that must not be left, or -1
} drained;

typedef struct draining {
    rp_world *world;
    rp_set *set;
    drained *page;
} draining;

static bool is_sunk(const rp_world *world, const double x[3])
{
    for (int i = 0; i < world->sinks; i++) {
        if (rp_shape_distance(world->sink[i], x, NULL) < 0.0) {
            return true;
        }
    }
    return false;
}

static bool has_left(const rp_domain *d, int dim, const double x[3])
{
    bool left = false;
    for (int a = 0; a < dim && d->set; a++) {
        left = left || x[a] < d->lower[a] || x[a] > d->upper[a];
    }
    return left;
}

// Can a particle of this page be in a sink or outside?
static bool is_concerned(const rp_world *world, const rp_page *page)
{
    const rp_layout *l = &world->grid.layout;
    const rp_domain *d = &world->domain;
    double middle[3];
    const double reach = rp_layout_page_ball(l, page->block, middle);
    bool concerned = false;
    for (int a = 0; a < l->dim && d->set; a++) {
        concerned = concerned || middle[a] - reach < d->lower[a] || middle[a] + reach > d->upper[a];
    }
    for (int i = 0; i < world->sinks; i++) {
        concerned = concerned || rp_shape_distance(world->sink[i], middle, NULL) < reach;
    }
    return concerned;
}

// Not from so far that its page cannot say where it goes; births are within, and nothing moves so
// far between two looks.
static bool can_be_clamped(const rp_world *world, const double x[3])
{
    enum { CELLS = 8 };
    double far = 0.0;
    for (int a = 0; a < world->def.dimension; a++) {
        far = fmax(far, fmax(world->domain.lower[a] - x[a], x[a] - world->domain.upper[a]));
    }
    return far < CELLS * world->def.dx;
}

// Onto the border, and at rest across it.
static void clamp(const rp_world *world, const rp_set *set, const rp_page *page, rp_local slot,
                  const double x[3])
{
    const rp_layout *l = &set->layout;
    double inside[3] = {0};
    for (int a = 0; a < l->dim; a++) {
        inside[a] = fmin(fmax(x[a], world->domain.lower[a]), world->domain.upper[a]);
        if (inside[a] != x[a] && rp_set_has(set, RP_COL_VELOCITY)) {
            memset(rp_set_at(set, RP_COL_VELOCITY, slot, a), 0, rp_real_bytes(l));
        }
    }
    rp_set_move(set, page, slot, inside);
}

static void drain_page(void *context, int64_t index, int thread)
{
    (void)thread;
    const draining *d = context;
    const rp_world *world = d->world;
    rp_set *set = d->set;
    const rp_page *page = &rp_set_page(set)[index];
    drained found = {.leaver = -1};
    const rp_local count = is_concerned(world, page) ? page->count : 0;
    for (rp_local i = 0; i < count; i++) {
        const rp_local slot = page->first + i;
        uint16_t *group = rp_set_at(set, RP_COL_GROUP, slot, 0);
        double x[3] = {0};
        for (int a = 0; a < set->layout.dim; a++) {
            x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, page);
        }
        if (*group == RP_GROUP_DEAD) {
            continue;
        }
        const bool sunk = is_sunk(world, x);
        const bool left = !sunk && has_left(&world->domain, set->layout.dim, x);
        if (sunk || (left && world->domain.leave == RP_LEAVE_REMOVE)) {
            *group = RP_GROUP_DEAD; // counted by the caller, page by page
            found.sunk += sunk;
            found.left += left;
        } else if (left && world->domain.leave == RP_LEAVE_CLAMP && can_be_clamped(world, x)) {
            clamp(world, set, page, slot, x);
            found.clamped++;
        } else if (left && found.leaver < 0) {
            found.leaver = slot;
        }
    }
    d->page[index] = found;
}

static rp_result blame_leaver(rp_world *world, const rp_set *set, const rp_page *page,
                              rp_local slot)
{
    double x[3] = {0};
    const uint16_t group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
    rp_failure *f = &world->failure;
    *f = (rp_failure){.particle = *(uint64_t *)rp_set_at(set, RP_COL_ID, slot, 0),
                      .material = {rp_set_group(set)[group].material},
                      .step = world->time.step,
                      .dt = world->stats.dt};
    memcpy(f->limiter, world->stats.limiter, sizeof f->limiter);
    for (int a = 0; a < set->layout.dim; a++) {
        x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, page);
        f->cell[a] = (int64_t)floor(x[a] / set->layout.h);
    }
    world->failed = true;
    return rp_fail(RP_ERR_DIVERGED,
                   "particle %llu of material %d has left the domain: it is at (%g, %g, %g) m, in "
                   "cell (%lld, %lld, %lld), after step %lld of dt %g s, bounded by %s",
                   (unsigned long long)f->particle, f->material.index, x[0], x[1], x[2],
                   (long long)f->cell[0], (long long)f->cell[1], (long long)f->cell[2],
                   (long long)f->step, f->dt, f->limiter);
}

static rp_result drain_set(rp_world *world, rp_set *set)
{
    rp_scratch_reset(&world->scratch);
    draining d = {.world = world, .set = set};
    d.page = rp_scratch_get(&world->scratch, (size_t)set->pages * sizeof *d.page, "drained pages");
    RP_TRY(rp_agree(world->comm, d.page != NULL ? RP_OK : RP_ERR_MEMORY, NULL, 0));
    rp_parallel_for(world->threads, set->pages, 16, drain_page, &d);
    rp_result result = RP_OK;
    int64_t sum[] = {0, 0, 0}; // sunk, left, clamped
    // all of them, also behind one that left: what is marked must be counted
    for (rp_local p = 0; p < set->pages; p++) {
        const drained *found = &d.page[p];
        sum[0] += found->sunk;
        sum[1] += found->left;
        sum[2] += found->clamped;
        if (found->leaver >= 0 && !world->failed) {
            result = blame_leaver(world, set, &rp_set_page(set)[p], found->leaver);
        }
    }
    set->doomed += (rp_local)(sum[0] + sum[1]);
    RP_TRY(rp_reduce_add(world->comm, sum, 3));
    world->stats.removed += sum[0] + sum[1];
    world->stats.sunk += sum[0];
    world->stats.left += sum[1];
    world->stats.clamped += sum[2];
    if (sum[2] > 0) {
        set->travel = 2.0 * RP_TRAVEL_LIMIT; // some may be far from their page now: sort first
    }
    result = rp_agree(world->comm, result, &world->failure, sizeof world->failure);
    world->failed = world->failed || result != RP_OK;
    return result;
}

rp_result rp_world_drain(rp_world *world)
{
    const bool any = world->sinks > 0 || world->domain.set;
    for (int s = 0; s < world->species_count && any; s++) {
        RP_TRY(drain_set(world, &world->set[s]));
    }
    return RP_OK;
}
