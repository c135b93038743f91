#include "solver/implicit/holds.h"

#include "base/result.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void get(const double *x, uint32_t number, int dim, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    memcpy(out, x + (size_t)number * (size_t)dim, (size_t)dim * sizeof *out);
}

static void put(double *x, uint32_t number, int dim, const double from[3])
{
    memcpy(x + (size_t)number * (size_t)dim, from, (size_t)dim * sizeof *from);
}

// ---- which nodes ----

typedef struct listing {
    const rp_touches *touches;
    const rp_grid *grid;
    rp_listing wanted;
    int32_t *count;        // [page]
    rp_constraint *all;    // NULL: only count
    const uint32_t *first; // [page], of `all`
} listing;

static void list_page(void *context, int64_t p, int thread)
{
    (void)thread;
    const listing *l = context;
    rp_constraint *out = l->all != NULL ? l->all + l->first[p] : NULL;
    l->count[p] = rp_touches_list(l->touches, l->grid, (rp_local)p, &l->wanted, out);
}

rp_result rp_holds_find(rp_holds *holds, const rp_touches *touches, const rp_system *s)
{
    const rp_step *step = s->step;
    const rp_grid *grid = step->grid;
    const size_t pages = (size_t)grid->pages + 1;
    listing l = {.touches = touches,
                 .grid = grid,
                 // as far as a particle may go within the step
                 .wanted = {.dt = s->dt, .reach = grid->layout.h * fmax(step->cfl, 1.0)}};
    uint32_t *first = rp_scratch_get(step->scratch, pages * sizeof *first, "contact of pages");
    l.count = rp_scratch_get(step->scratch, pages * sizeof *l.count, "contact of pages");
    holds->first = rp_scratch_get(step->scratch, pages * sizeof *first, "contact of pages");
    if (first == NULL || l.count == NULL || holds->first == NULL) {
        return RP_ERR_MEMORY;
    }
    rp_parallel_for(step->threads, grid->pages, 16, list_page, &l);
    first[0] = 0;
    for (rp_local p = 0; p < grid->pages; p++) {
        first[p + 1] = first[p] + (uint32_t)l.count[p];
    }
    l.first = first;
    l.all =
        rp_scratch_get(step->scratch, (first[grid->pages] + 1) * sizeof *l.all, "contact of nodes");
    holds->hold = rp_scratch_get(step->scratch, (first[grid->pages] + 1) * sizeof *holds->hold,
                                 "nodes that colliders hold");
    if (l.all == NULL || holds->hold == NULL) {
        return RP_ERR_MEMORY;
    }
    rp_parallel_for(step->threads, grid->pages, 16, list_page, &l);
    uint32_t next = 0;
    for (rp_local p = 0; p < grid->pages; p++) {
        const uint32_t *number = rp_nodes_numbers(s->numbers, grid, p);
        holds->first[p] = next;
        for (uint32_t i = first[p]; i < first[p + 1]; i++) {
            const rp_constraint *c = &l.all[i];
            if (number[c->node] == RP_NO_NUMBER) {
                continue; // too light to move
            }
            rp_hold *last = next > holds->first[p] ? &holds->hold[next - 1] : NULL;
            if (last == NULL || last->number != number[c->node]) {
                last = &holds->hold[next++];
                *last = (rp_hold){.number = number[c->node], .constraint = c};
            }
            last->count += last->count < RP_HOLDS_MOST;
        }
    }
    holds->first[grid->pages] = next;
    return RP_OK;
}

// ---- one node ----

// The least speed along the normal.
static double least_speed(const rp_constraint *c, double dt)
{
    const double ahead = c->contact == RP_SEPARATE && c->distance > 0.0 ? c->distance / dt : 0.0;
    return dot(c->velocity, c->normal) - ahead;
}

// Does it hold the node whatever that does?
static bool always(const rp_constraint *c)
{
    return c->contact != RP_SEPARATE && c->distance <= 0.0;
}

static void hold_all(rp_hold *h, int dim, const double velocity[3])
{
    h->axes = dim;
    memset(h->axis, 0, sizeof h->axis);
    for (int a = 0; a < dim; a++) {
        h->axis[a][a] = 1.0;
        h->speed[a] = velocity[a];
    }
}

// What is known of the velocity, from the constraints that are active. Normals that nearly follow
// from those before say nothing new.
static void find_axes(rp_hold *h, int dim, double dt)
{
    h->axes = 0;
    for (int k = 0; k < h->count; k++) {
        const rp_constraint *c = &h->constraint[k];
        if (!(h->active >> k & 1)) {
            continue;
        }
        double speed = least_speed(c, dt);
        if (c->contact == RP_STICKY || h->sticks) {
            double v[3];
            const double more = h->sticks ? speed - dot(c->velocity, c->normal) : 0.0;
            for (int a = 0; a < 3; a++) {
                v[a] = c->velocity[a] + more * c->normal[a];
            }
            hold_all(h, dim, v);
            return;
        }
        double axis[3] = {c->normal[0], c->normal[1], c->normal[2]};
        for (int m = 0; m < h->axes; m++) {
            const double share = dot(axis, h->axis[m]);
            speed -= share * h->speed[m];
            for (int a = 0; a < 3; a++) {
                axis[a] -= share * h->axis[m][a];
            }
        }
        const double length = sqrt(dot(axis, axis));
        if (length < 0.01 || h->axes == dim) {
            continue;
        }
        for (int a = 0; a < 3; a++) {
            h->axis[h->axes][a] = axis[a] / length;
        }
        h->speed[h->axes++] = speed / length;
    }
}

static int active_count(const rp_hold *h) { return __builtin_popcount(h->active); }

// Friction can hold a node that one collider alone pushes.
static bool may_stick(const rp_hold *h)
{
    const int k = h->active != 0 ? __builtin_ctz(h->active) : 0;
    return active_count(h) == 1 && h->constraint[k].contact != RP_STICKY &&
           h->constraint[k].friction > 0.0;
}

// Does it stick or slide, and with what impulse? `push` is what the collider gives along its
// normal, `impulse` all that it gives.
static void look_at_friction(rp_hold *h, const double v[3], const double impulse[3], double push,
                             double mass)
{
    const int k = __builtin_ctz(h->active);
    const rp_constraint *c = &h->constraint[k];
    double along[3];
    for (int a = 0; a < 3; a++) {
        // what would have to be given to stop it
        along[a] = h->sticks ? impulse[a] : h->rubbed[a] - mass * (v[a] - c->velocity[a]);
    }
    const double across = dot(along, c->normal);
    for (int a = 0; a < 3; a++) {
        along[a] -= across * c->normal[a];
    }
    const double length = sqrt(dot(along, along)), most = c->friction * fabs(push);
    h->sticks = length <= most;
    for (int a = 0; a < 3; a++) {
        h->rubbed[a] = h->sticks || length == 0.0 ? 0.0 : along[a] * most / length;
    }
}

static void begin_hold(rp_hold *h, int dim, double dt, const double v[3], double mass)
{
    h->active = 0;
    for (int k = 0; k < h->count; k++) {
        const rp_constraint *c = &h->constraint[k];
        const bool breaks = c->contact == RP_SEPARATE && dot(v, c->normal) < least_speed(c, dt);
        h->active |= (uint8_t)((always(c) || breaks) << k);
    }
    h->sticks = false;
    memset(h->rubbed, 0, sizeof h->rubbed);
    if (may_stick(h)) { // what the law of contact would do to the node alone
        const rp_constraint *c = &h->constraint[__builtin_ctz(h->active)];
        const double none[3] = {0};
        look_at_friction(h, v, none, mass * (least_speed(c, dt) - dot(v, c->normal)), mass);
    }
    find_axes(h, dim, dt);
}

// The impulses along the normals of several colliders that make up one: Gauss-Seidel on the
// products of the normals.
static void share_impulse(const rp_hold *h, const double impulse[3], double out[RP_HOLDS_MOST])
{
    enum { TURNS = 30 };
    double rest[3] = {impulse[0], impulse[1], impulse[2]};
    memset(out, 0, RP_HOLDS_MOST * sizeof *out);
    for (int turn = 0; turn < (active_count(h) > 1 ? TURNS : 1); turn++) {
        for (int k = 0; k < h->count; k++) {
            const double *n = h->constraint[k].normal;
            const double more = h->active >> k & 1 ? dot(rest, n) : 0.0;
            out[k] += more;
            for (int a = 0; a < 3; a++) {
                rest[a] -= more * n[a];
            }
        }
    }
}

// @param impulse that colliders give: what is missing in the balance without them
// @param noise pulls that are none [kg m/s]
static bool look_at(rp_hold *h, int dim, double dt, const double v[3], const double impulse[3],
                    double mass, double noise)
{
    const uint8_t was = h->active;
    const bool stuck = h->sticks;
    double push[RP_HOLDS_MOST];
    share_impulse(h, impulse, push);
    bool sticky = false;
    for (int k = 0; k < h->count; k++) {
        const rp_constraint *c = &h->constraint[k];
        sticky = sticky || (c->contact == RP_STICKY && always(c));
        if (c->contact != RP_SEPARATE) {
            continue;
        }
        const double speed = dot(v, c->normal), least = least_speed(c, dt);
        if (h->active >> k & 1) {
            h->active &= (uint8_t) ~((push[k] < -noise) << k);
        } else {
            h->active |= (uint8_t)((speed < least - 1e-12 * (fabs(speed) + fabs(least))) << k);
        }
    }
    if (sticky) {
        return false;
    }
    if (!may_stick(h)) {
        h->sticks = false;
        memset(h->rubbed, 0, sizeof h->rubbed);
    } else if (h->active != was) {
        h->sticks = true; // until the next look
        memset(h->rubbed, 0, sizeof h->rubbed);
    } else {
        look_at_friction(h, v, impulse, push[__builtin_ctz(h->active)], mass);
    }
    find_axes(h, dim, dt);
    return h->active != was || h->sticks != stuck;
}

// ---- all nodes ----

typedef struct doing {
    const rp_holds *holds;
    const rp_system *s;
    const double *v, *missing;
    double *out;
    void (*what)(const struct doing *d, rp_hold *h);
} doing;

static void do_page(void *context, int64_t p, int thread)
{
    (void)thread;
    const doing *d = context;
    for (uint32_t i = d->holds->first[p]; i < d->holds->first[p + 1]; i++) {
        d->what(d, &d->holds->hold[i]);
    }
}

static void over_pages(doing *d)
{
    rp_parallel_for(d->s->step->threads, d->s->step->grid->pages, 32, do_page, d);
}

static int dim_of(const rp_system *s) { return s->step->grid->layout.dim; }

static void begin_one(const doing *d, rp_hold *h)
{
    double v[3];
    get(d->v, h->number, dim_of(d->s), v);
    begin_hold(h, dim_of(d->s), d->s->dt, v, d->s->mass[h->number]);
}

void rp_holds_begin(const rp_holds *holds, const rp_system *s, const double *v)
{
    doing d = {.holds = holds, .s = s, .v = v, .what = begin_one};
    over_pages(&d);
}

int64_t rp_holds_look(const rp_holds *holds, const rp_system *s, const double *v,
                      const double *missing, double size)
{
    const double noise = size / sqrt((double)s->length);
    int64_t changed = 0;
    for (uint32_t i = 0; i < holds->first[s->step->grid->pages]; i++) {
        rp_hold *h = &holds->hold[i];
        double at[3], impulse[3];
        get(v, h->number, dim_of(s), at);
        get(missing, h->number, dim_of(s), impulse);
        changed += look_at(h, dim_of(s), s->dt, at, impulse, s->mass[h->number],
                           noise * s->root[h->number]);
    }
    return changed;
}

void rp_holds_project(const rp_holds *holds, int dim, rp_local p, double *x)
{
    for (uint32_t i = holds->first[p]; i < holds->first[p + 1]; i++) {
        const rp_hold *h = &holds->hold[i];
        double u[3];
        get(x, h->number, dim, u);
        for (int m = 0; m < h->axes; m++) {
            const double share = dot(u, h->axis[m]);
            for (int a = 0; a < dim; a++) {
                u[a] -= share * h->axis[m][a];
            }
        }
        put(x, h->number, dim, u);
    }
}

static void set_one(const doing *d, rp_hold *h)
{
    double v[3];
    get(d->out, h->number, dim_of(d->s), v);
    for (int m = 0; m < h->axes; m++) {
        const double more = h->speed[m] - dot(v, h->axis[m]);
        for (int a = 0; a < 3; a++) {
            v[a] += more * h->axis[m][a];
        }
    }
    put(d->out, h->number, dim_of(d->s), v);
}

void rp_holds_set(const rp_holds *holds, const rp_system *s, double *v)
{
    doing d = {.holds = holds, .s = s, .out = v, .what = set_one};
    over_pages(&d);
}

static void rub_one(const doing *d, rp_hold *h)
{
    double x[3];
    get(d->out, h->number, dim_of(d->s), x);
    for (int a = 0; a < 3; a++) {
        x[a] -= h->rubbed[a];
    }
    put(d->out, h->number, dim_of(d->s), x);
}

void rp_holds_rub(const rp_holds *holds, const rp_system *s, double *missing)
{
    doing d = {.holds = holds, .s = s, .out = missing, .what = rub_one};
    over_pages(&d);
}

static void release_one(const doing *d, rp_hold *h)
{
    double v[3], impulse[3];
    if (h->axes == 0) {
        return;
    }
    get(d->out, h->number, dim_of(d->s), v);
    get(d->missing, h->number, dim_of(d->s), impulse);
    double given[3] = {h->rubbed[0], h->rubbed[1], h->rubbed[2]};
    double push[RP_HOLDS_MOST];
    share_impulse(h, impulse, push);
    for (int k = 0; k < h->count; k++) {
        if (h->active >> k & 1 && h->constraint[k].contact == RP_SEPARATE && push[k] < 0.0) {
            return; // held although it should not be: for this step it keeps its velocity
        }
    }
    for (int m = 0; m < h->axes; m++) {
        const double share = dot(impulse, h->axis[m]) - dot(h->rubbed, h->axis[m]);
        for (int a = 0; a < 3; a++) {
            given[a] += share * h->axis[m][a];
        }
    }
    for (int a = 0; a < 3; a++) {
        v[a] -= given[a] / d->s->mass[h->number];
    }
    put(d->out, h->number, dim_of(d->s), v);
}

void rp_holds_release(const rp_holds *holds, const rp_system *s, const double *missing, double *v)
{
    doing d = {.holds = holds, .s = s, .out = v, .missing = missing, .what = release_one};
    over_pages(&d);
}
