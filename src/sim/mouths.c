// Emitters whose mouths move: by a motion of their own, with a collider, or with a rigid body.
//
// A mouth pours grain by grain. Grain n is due at start + n times the interval, so that how much
// comes does not depend on how the mouth moves, nor on the steps. It leaves its site where the
// mouth is at that moment, with the velocity that the site has there and the emitter's own, turned
// as the mouth is; from then on it flies. What was due comes at the end of a step, which is when it
// is known where rigid bodies have gone: at the latest when a frame ends, or the first of it would
// be a spacing out of the mouth, since particles are sorted whenever some come. With a rigid body,
// of which only the last step is known, it comes at the end of every step.
//
// Every site gives a grain per layer, always after the same time, and what is given by neighbours
// is about a spacing apart: no two grains of a stream come to lie in each other. The lattice of
// sites drifts to and fro by half a spacing, slowly, so that the stream has no rows.
#include "base/hash.h"
#include "base/result.h"
#include "sim/world.h"

#include <math.h>
#include <string.h>

// A step that has just ended, or one that is planned.
typedef struct span {
    double begin, end; // [s]
} span;

// ---- where the mouth is ----

// A place of the mouth's frame at time t. With a rigid body it goes straight on from where the body
// is at the start of the step to where it is at the end.
static rp_result place_at(const rp_world *world, const rp_emitter *e, const span *s, double t,
                          const double x[3], double out[3])
{
    const rp_collider *c = e->parent >= 0 ? &world->collider[e->parent] : NULL;
    rp_placing own, parent;
    double at[3];
    RP_TRY(rp_motion_place(&e->motion, "emitter", e->name, t, &own));
    if (c != NULL && !c->free) {
        RP_TRY(rp_colliders_place(world->collider, e->parent, t, &parent));
        rp_placing_go_along(&parent, &own);
    }
    rp_rotate(own.rotation, x, at);
    for (int a = 0; a < 3; a++) {
        at[a] += own.position[a];
    }
    if (c == NULL || !c->free) {
        memcpy(out, at, sizeof at);
        return RP_OK;
    }
    double begin[3], end[3];
    const double share = s->end > s->begin ? (t - s->begin) / (s->end - s->begin) : 0.0;
    for (int a = 0; a < 3; a++) {
        at[a] -= e->about[a];
    }
    rp_rotate(e->from.rotation, at, begin);
    rp_rotate(c->end.rotation, at, end);
    for (int a = 0; a < 3; a++) {
        begin[a] += e->from.position[a];
        end[a] += c->end.position[a];
        out[a] = begin[a] + share * (end[a] - begin[a]);
    }
    return RP_OK;
}

void rp_world_note_mouths(rp_world *world)
{
    for (int i = 0; i < world->emitters; i++) {
        rp_emitter *e = &world->emitter[i];
        if (e->parent >= 0) {
            e->from = world->collider[e->parent].begin;
        }
    }
}

rp_result rp_emitter_site(const rp_world *world, const rp_emitter *e, int32_t site, double t,
                          double out[3])
{
    const double *x = ((const double(*)[3])e->site.data)[site];
    memcpy(out, x, 3 * sizeof *out);
    return e->moves ? place_at(world, e, &(span){t - 1.0, t}, t, x, out) : RP_OK;
}

// ---- how long a step may be ----

// How far the mouth goes from now on within dt; colliders have been moved by that.
static rp_result way_of(const rp_world *world, const rp_emitter *e, const span *s, double *way)
{
    double lower[3] = {0}, upper[3] = {0}, most2 = 0.0;
    rp_shape_bounds(e->shape, world->def.dimension, lower, upper);
    for (int k = 0; k < (world->def.dimension == 3 ? 8 : 4); k++) {
        double x[3], from[3], to[3], way2 = 0.0;
        rp_box_corner(lower, upper, k, x);
        x[2] = world->def.dimension == 3 ? x[2] : 0.0;
        RP_TRY(place_at(world, e, s, s->begin, x, from));
        RP_TRY(place_at(world, e, s, s->end, x, to));
        for (int a = 0; a < 3; a++) {
            way2 += (to[a] - from[a]) * (to[a] - from[a]);
        }
        most2 = fmax(most2, way2);
    }
    *way = sqrt(most2);
    return RP_OK;
}

// When its next grain is due; infinite: there is none.
static double next_due(const rp_world *world, int emitter)
{
    const rp_emitter *e = &world->emitter[emitter];
    const double due = e->start + world->layers[emitter] * e->interval;
    return due < e->stop && world->layers[emitter] < e->layers_most ? due : INFINITY;
}

rp_result rp_world_bound_by_mouths(rp_world *world, double floor, double *least, bool *bounded)
{
    const double cell = world->def.cfl * world->def.dx, now = rp_world_time(world);
    const double given = *least;
    // where there are no particles yet, nothing says how long a step is
    floor = fmin(floor, 1e-4 / world->def.fps);
    for (int i = 0; i < world->emitters; i++) {
        const rp_emitter *e = &world->emitter[i];
        const double *v = e->velocity, due = next_due(world, i);
        if (!e->moves || !(due < now + *least)) {
            continue;
        }
        const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        *least = fmin(*least, fmax(due - now, 0.0) + cell / speed);
        while (*least > floor) {
            double way;
            RP_TRY(rp_world_move_colliders(world, *least));
            rp_world_note_mouths(world);
            RP_TRY(way_of(world, e, &(span){now, now + *least}, &way));
            if (!(way > cell)) {
                break;
            }
            *least = fmax(floor, *least * fmax(0.5, 0.999 * cell / way));
        }
    }
    *bounded = *least < given;
    return RP_OK;
}

// ---- grains ----

// To and fro between -1/2 and 1/2, one way in `period`.
static double sway(double x, double period)
{
    const double turns = x / (2.0 * period) + 0.25;
    return 2.0 * fabs(turns - floor(turns) - 0.5) - 0.5;
}

// Where grain n leaves, in the frame of the mouth.
static void site_of(const rp_world *world, const rp_emitter *e, double n, uint64_t id,
                    double out[3])
{
    const double layer = floor(n / e->sites);
    const int32_t site = ((const int32_t *)e->order.data)[(int32_t)(n - layer * e->sites)];
    const double *x = ((const double(*)[3])e->site.data)[site];
    const double shift[2] = {e->spacing * sway(n / e->sites, 11.0),
                             e->spacing * sway(n / e->sites, 17.0)};
    for (int a = 0; a < 3; a++) {
        out[a] = x[a] + shift[0] * e->side[0][a] + shift[1] * e->side[1][a];
    }
    if (rp_shape_distance(e->shape, out, NULL) > 0.0) { // it stays in the mouth
        memcpy(out, x, 3 * sizeof *out);
    }
    for (int k = 0; k < 2; k++) {
        const double u = rp_unit(rp_hash(world->def.seed, id, RP_FOR_JITTER, (uint64_t)k)) - 0.5;
        for (int a = 0; a < 3; a++) {
            out[a] += 0.25 * e->spacing * u * e->side[k][a];
        }
    }
}

// A grain that was due at time t, as it is at the end of the step.
static rp_result send_off(const rp_world *world, const rp_emitter *e, const span *s, double t,
                          const double site[3], const double gravity[3], double x[3], double v[3])
{
    // to either side of t, far less than a step and far more than rounding; or of a time so near
    // that there is time on both sides, whence its acceleration leads back to t
    const double h = 1e-5 / world->def.fps, flight = s->end - t;
    const double near = fmax(fmin(t, s->end - h), h);
    // a body goes through the step with the velocity that it has at its end: gravity is in it
    const double falls = e->parent >= 0 && world->collider[e->parent].free ? 0.0 : flight;
    double before[3], middle[3], after[3], ahead[3], out[3], way[3], mouth[3];
    double length2 = 0.0, speed2 = 0.0, mouth2 = 0.0;
    for (int a = 0; a < 3; a++) {
        ahead[a] = site[a] + e->velocity[a];
    }
    RP_TRY(place_at(world, e, s, t, site, x));
    RP_TRY(place_at(world, e, s, t, ahead, out));
    RP_TRY(place_at(world, e, s, near - h, site, before));
    RP_TRY(place_at(world, e, s, near, site, middle));
    RP_TRY(place_at(world, e, s, near + h, site, after));
    for (int a = 0; a < 3; a++) {
        way[a] = out[a] - x[a];
        mouth[a] = (after[a] - before[a]) / (2.0 * h) +
                   (after[a] - 2.0 * middle[a] + before[a]) / (h * h) * (t - near);
        length2 += way[a] * way[a];
        speed2 += e->velocity[a] * e->velocity[a];
        mouth2 += mouth[a] * mouth[a];
    }
    // steps are so short that a mouth goes a cell at most; one that is elsewhere at once gives
    // grains nothing along
    const bool leaps = !(sqrt(mouth2) * (s->end - s->begin) < 4.0 * world->def.dx);
    for (int a = 0; a < world->def.dimension; a++) {
        v[a] = sqrt(speed2 / length2) * way[a] + (leaps ? 0.0 : mouth[a]);
        x[a] += flight * (v[a] + 0.5 * falls * gravity[a]);
        v[a] += falls * gravity[a];
    }
    return RP_OK;
}

// Grains of an emitter that were due, a layer at most. @return how many by `count`
static rp_result pour_some(rp_world *world, int emitter, const span *s, const double gravity[3],
                           int32_t *count)
{
    const rp_emitter *e = &world->emitter[emitter];
    const double first = world->layers[emitter];
    const size_t room = (size_t)e->sites;
    rp_scratch_reset(&world->scratch);
    double(*x)[3] = rp_scratch_get(&world->scratch, room * sizeof *x, "grains of an emitter");
    double(*v)[3] = rp_scratch_get(&world->scratch, room * sizeof *v, "grains of an emitter");
    if (x == NULL || v == NULL) {
        return RP_ERR_MEMORY;
    }
    for (*count = 0; *count < e->sites; ++*count) {
        const double n = first + *count, due = e->start + n * e->interval;
        if (!(due <= s->end && due < e->stop && n < e->layers_most)) {
            break;
        }
        double site[3];
        memset(x[*count], 0, sizeof *x);
        memset(v[*count], 0, sizeof *v);
        site_of(world, e, n, world->next_id + (uint64_t)*count, site);
        RP_TRY(send_off(world, e, s, due, site, gravity, x[*count], v[*count]));
    }
    if (*count > 0) {
        RP_TRY(rp_world_give_birth(world, e->material, e->field, e->volume, x, v, *count));
    }
    for (int32_t i = 0; i < *count; i++) {
        rp_watch_births(world, e->volume * world->material[e->material.index].density, v[i]);
    }
    world->layers[emitter] += *count;
    return RP_OK;
}

// How long grains may wait: until one has come a spacing out of the mouth, v t + g t^2 / 2 [s].
static double patience(const rp_world *world, const rp_emitter *e, const double gravity[3])
{
    double g2 = 0.0, v2 = 0.0;
    for (int a = 0; a < world->def.dimension; a++) {
        g2 += gravity[a] * gravity[a];
        v2 += e->velocity[a] * e->velocity[a];
    }
    const bool body = e->parent >= 0 && world->collider[e->parent].free;
    return body ? 0.0 : 2.0 * e->spacing / (sqrt(v2) + sqrt(v2 + 2.0 * sqrt(g2) * e->spacing));
}

rp_result rp_world_pour_moving(rp_world *world, double dt, const double gravity[3])
{
    const double now = rp_world_time(world);
    const span s = {now - dt, now};
    for (int i = 0; i < world->emitters; i++) {
        const rp_emitter *e = &world->emitter[i];
        const double wait = world->time.part == 0.0 ? 0.0 : patience(world, e, gravity);
        const bool pours = e->moves && next_due(world, i) + wait <= now;
        for (int32_t count = 1; pours && count > 0;) {
            RP_TRY(pour_some(world, i, &s, gravity, &count));
        }
    }
    return RP_OK;
}
