// The implicit step (Klar 2016, section 5; docs/theory.md, section 26): velocities at the end of a
// step are those that the stresses at its end give, plasticity and contact among them. Newton's
// method on the nodes, with GMRES for what is linear; transfers, laws and the law of contact are
// those of the explicit step.
#include "base/clock.h"
#include "base/result.h"
#include "base/threads.h"
#include "solver/blame.h"
#include "solver/common.h"
#include "solver/implicit/holds.h"
#include "solver/krylov/krylov.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- options ----

typedef struct options {
    double tolerance, newton, krylov, krylov_tolerance;
} options;
_Static_assert(sizeof(options) <= sizeof(((rp_world_def *)0)->option), "room for options");

#define AT(member) .offset = offsetof(options, member)
// clang-format off
static const rp_property option[] = {
    {"tolerance", RP_PROPERTY_NUMBER, .low = 0.0, .high = 1.0, .above_low = true, .otherwise = "1e-3", AT(tolerance),
     .sentence = "What may be missing in the balance of momentum, as a share of what gravity gives in a step."},
    {"newton", RP_PROPERTY_NUMBER, .low = 1.0, .high = 1000.0, .otherwise = "20", AT(newton),
     .sentence = "Newton's steps after which a shorter step is tried."},
    {"krylov", RP_PROPERTY_NUMBER, .low = 1.0, .high = 1e5, .otherwise = "150", AT(krylov),
     .sentence = "Iterations of GMRES after which the best answer there is counts."},
    {"krylov_tolerance", RP_PROPERTY_NUMBER, .low = 0.0, .high = 1.0, .above_low = true, .below_high = true,
     .otherwise = "0.05", AT(krylov_tolerance),
     .sentence = "Share of the residual that each linear system may leave."},
};
// clang-format on

// ---- state ----

// What the next step depends on, and is saved.
typedef struct memory {
    double speed;    // [m/s]
    double gradient; // [1/s]
    double allowed;  // the longest step after one that failed; 0: any [s]
    double rejected; // tries since the start
    double pushed;   // the last step began with the push
    double missed;   // what was missing at its beginning, of what counts as one; 0: no step yet
} memory;

typedef struct implicit_state {
    memory memory;
    // not saved: what these hold can be worked out again
    rp_walls walls;
    rp_node_numbers numbers;
    rp_krylov krylov;
    const rp_allocator *allocator;
} implicit_state;

static rp_result implicit_create(const rp_world_def *def, const rp_allocator *a, void **state)
{
    (void)def;
    implicit_state *s = *state = rp_new(a, sizeof *s, "the implicit solver");
    if (s == NULL) {
        return RP_ERR_MEMORY;
    }
    s->allocator = a;
    return RP_OK;
}

static void implicit_destroy(void *state, const rp_allocator *a)
{
    implicit_state *s = state;
    rp_walls_free(&s->walls, a);
    rp_node_numbers_free(&s->numbers, a);
    rp_krylov_free(&s->krylov, a);
    rp_delete(a, state, sizeof *s);
}

static size_t implicit_bytes(const void *state)
{
    const implicit_state *s = state;
    return rp_krylov_bytes(&s->krylov) + s->numbers.number.bytes;
}

static void implicit_register(void *state, rp_registry *registry)
{
    implicit_state *s = state;
    rp_registry_add(registry, "implicit/memory", &s->memory, sizeof s->memory);
}

static void implicit_needs(const rp_world_def *def, rp_needs *needs)
{
    const unsigned affine = rp_transfer_is_affine(def->transfer) ? 1u << RP_COL_AFFINE : 0u;
    *needs = (rp_needs){.columns = 1u << RP_COL_VELOCITY | affine,
                        .orders = 1u << 2 | 1u << 3,
                        .grid = true,
                        .push_out = true,
                        .particle_bytes = (size_t)rp_linear_reals(def->dimension) *
                                          (def->precision == RP_SINGLE ? 4 : 8)};
    needs->channel[RP_CH_MOMENTUM] = (rp_channel){"momentum", RP_QUAD, RP_FROM_ALL_WITH_MASS};
    if (rp_transfer_keeps(def->transfer)) {
        needs->channel[RP_CH_IMPULSE] = (rp_channel){"impulse", RP_QUAD, RP_FROM_ALL_WITH_MASS};
    }
    needs->channel[RP_CH_BALANCE] = (rp_channel){"balance", RP_QUAD, RP_FROM_ALL_WITH_MASS};
}

// docs/theory.md (30) and (31): particles must not pass by each other unseen, and gradients must
// leave them some volume. Stiffness bounds nothing.
static int implicit_limits(void *state, const rp_step *step, rp_limit out[RP_LIMITS_MOST])
{
    const memory *m = &((const implicit_state *)state)->memory;
    static const double gradient_bound = 0.3;
    const double speed = fmax(m->speed, step->newborn_speed);
    const double gradient = fmax(m->gradient, step->newborn_gradient);
    int n = 0;
    if (speed > 0.0) {
        out[n++] = (rp_limit){"speed", step->cfl * step->grid->layout.h / speed};
    }
    if (gradient > 0.0) {
        out[n++] = (rp_limit){"gradient", gradient_bound / gradient};
    }
    if (m->allowed > 0.0) {
        out[n++] = (rp_limit){"newton", m->allowed};
    }
    return n;
}

// ---- vectors ----

// Everything that a try works with. Vectors have a number for every unknown.
typedef struct work {
    rp_system system;
    rp_holds holds;
    rp_touches touches;
    const options *option;
    double *v, *missing;                    // velocities, and what is missing in the balance
    double *trial, *trial_missing;          // the same of the line search
    double *right, *way, *u, *image;        // of the linear system; in (M^1/2) velocity but for u
    double *partial;                        // of dot products
    int newton, krylov, balances, products; // the latter two of all tries
    double since;                           // the stage that is on began [s]
    double size, scale;                     // of what is missing, and of what counts as one
    const char *reason;                     // why a try failed
} work;

typedef struct scaling {
    const work *w;
    const double *from;
    double *to;
    double sign;
    bool up; // times the root of the mass, or over it
} scaling;

static void scale_page(void *context, int64_t p, int thread)
{
    (void)thread;
    const scaling *c = context;
    const rp_system *s = &c->w->system;
    const int dim = s->step->grid->layout.dim;
    const rp_system_page *page = &s->page[p];
    for (size_t n = page->first; n < page->first + page->count; n++) {
        const double factor = c->sign * (c->up ? s->root[n] : 1.0 / s->root[n]);
        for (size_t k = n * (size_t)dim; k < (n + 1) * (size_t)dim; k++) {
            c->to[k] = factor * c->from[k];
        }
    }
    rp_holds_project(&c->w->holds, dim, (rp_local)p, c->to);
}

static void scaled(const work *w, const double *from, double sign, bool up, double *to)
{
    scaling c = {w, from, to, sign, up};
    rp_parallel_for(w->system.step->threads, w->system.step->grid->pages, 32, scale_page, &c);
}

static double size_of(const work *w, const double *x)
{
    const rp_system *s = &w->system;
    return sqrt(rp_krylov_dot(x, x, s->length, s->step->threads, w->partial));
}

// Parts of a step, in the order of rp_solver.stage below.
typedef enum stage { SORT, P2G, BALANCE, PRODUCT, KRYLOV, G2P } stage;

static void done(work *w, stage part) { rp_stage_done((rp_step *)w->system.step, part, &w->since); }

// @return is it one: do particles keep some of their volume in the step?
static bool balance(work *w, const double *v, double *missing)
{
    static const double LEAST_DET = 0.02;
    done(w, KRYLOV);
    const double least = rp_system_residual(&w->system, v, missing);
    done(w, BALANCE);
    w->balances++;
    return least > LEAST_DET;
}

// x -> M^-1/2 J M^-1/2 x, where nothing is known of the velocities.
static rp_result apply(void *context, const double *x, double *y)
{
    work *w = context;
    done(w, KRYLOV);
    scaled(w, x, 1.0, false, w->u);
    rp_system_product(&w->system, w->u, w->image);
    scaled(w, w->image, 1.0, false, y);
    done(w, PRODUCT);
    w->products++;
    return RP_OK;
}

// ---- Newton's method ----

// Newton's steps in which contact is looked at; after them it stays as it is, so that there is a
// smooth system to be solved.
enum { LOOKS = 4 };

// What is missing at velocities, where colliders know nothing; in `right`, with the sign of the
// way there. @return its size
static double missing_size(const work *w, const double *missing)
{
    memcpy(w->u, missing, (size_t)w->system.length * sizeof *missing);
    rp_holds_rub(&w->holds, &w->system, w->u);
    scaled(w, w->u, -1.0, false, w->right);
    return size_of(w, w->right);
}

// Begin with velocities as they were, with a share of what pushes from outside. @return whether the
// balance is one there
static bool begin_with(work *w, double share)
{
    rp_system *s = &w->system;
    for (int64_t k = 0; k < s->length; k++) {
        w->v[k] = s->before[k] + share * s->dt * s->push[k];
    }
    rp_holds_set(&w->holds, s, w->v);
    const bool known = balance(w, w->v, w->missing);
    w->size = known ? missing_size(w, w->missing) : INFINITY;
    return known;
}

// What rests begins as it was, what falls begins with the push: by where less is missing. It is
// looked for in every LOOK_EVERY-th step, and whenever more is missing than at the last beginning.
// Contact begins with what the push would break.
static bool begin(work *w, memory *m)
{
    enum { LOOK_EVERY = 16 };
    rp_system *s = &w->system;
    for (int64_t k = 0; k < s->length; k++) {
        w->v[k] = s->before[k] + s->dt * s->push[k];
    }
    rp_holds_begin(&w->holds, s, w->v);
    const double likely = m->pushed;
    bool known = begin_with(w, likely);
    const double size = w->size, share = size / w->scale;
    const bool usual = s->step->time.step % LOOK_EVERY != 0 && share <= 1.5 * m->missed;
    if (!(known && (share <= 0.5 || usual))) {
        const bool other = begin_with(w, 1.0 - likely) && w->size <= size;
        m->pushed = other ? 1.0 - likely : likely;
        known = other || begin_with(w, likely);
    }
    m->missed = w->scale > 0.0 ? w->size / w->scale : 0.0;
    return known;
}

// Contact, by the velocities there are. @return whether what is missing is known
static bool look(work *w, bool *changed)
{
    rp_system *s = &w->system;
    *changed = rp_holds_look(&w->holds, s, w->v, w->missing, w->size) > 0;
    if (*changed) {
        rp_holds_set(&w->holds, s, w->v);
        return balance(w, w->v, w->missing);
    }
    return true;
}

// Along the way, half of it, a quarter: as far as less is missing then. @return whether there is
// such a place
static bool go(work *w)
{
    rp_system *s = &w->system;
    enum { HALVES = 6 };
    scaled(w, w->way, 1.0, false, w->way);
    double t = 1.0;
    for (int half = 0; half <= HALVES; half++, t *= 0.5) {
        for (int64_t k = 0; k < s->length; k++) {
            w->trial[k] = w->v[k] + t * w->way[k];
        }
        if (!balance(w, w->trial, w->trial_missing)) {
            continue;
        }
        const double size = missing_size(w, w->trial_missing);
        if (size < (1.0 - 1e-4 * t) * w->size) {
            double *v = w->v, *missing = w->missing;
            w->v = w->trial;
            w->trial = v;
            w->missing = w->trial_missing;
            w->trial_missing = missing;
            w->size = size;
            return true;
        }
    }
    return false;
}

// What counts as one: what is pushed from outside in the step, held or not.
static double find_scale(const work *w)
{
    const rp_system *s = &w->system;
    const size_t dim = (size_t)s->step->grid->layout.dim;
    for (size_t k = 0; k < (size_t)s->length; k++) {
        w->u[k] = s->dt * s->push[k] * s->root[k / dim];
    }
    return size_of(w, w->u);
}

// Rounding of velocities and strains is worth so much of a balance.
static double find_floor(const work *w)
{
    const rp_step *step = w->system.step;
    const double unit = step->grid->layout.precision == RP_SINGLE ? 0x1p-24 : 0x1p-53;
    const double h = step->grid->layout.h, dt = w->system.dt;
    double stiffness = 0.0, mass2 = 0.0, most = 0.0;
    for (int i = 0; i < step->species_count; i++) {
        stiffness = fmax(stiffness, step->species[i].stiffness);
    }
    for (rp_local n = 0; n < w->system.numbers->count; n++) {
        mass2 += w->system.mass[n];
    }
    for (int64_t k = 0; k < w->system.length; k++) {
        most = fmax(most, fabs(w->v[k]));
    }
    return unit * (dt * most / h) * (dt * stiffness / h) * sqrt(mass2);
}

// @param[out] solved false: a shorter step may do
static rp_result newton(work *w, implicit_state *state, bool *solved)
{
    rp_system *s = &w->system;
    const options *o = w->option;
    *solved = false;
    w->newton = w->krylov = 0;
    w->size = INFINITY;
    w->reason = "particles would be turned inside out";
    w->scale = find_scale(w);
    if (!begin(w, &state->memory)) {
        return RP_OK;
    }
    w->scale = w->scale > 0.0 ? w->scale : w->size;
    const double enough = fmax(o->tolerance * w->scale, find_floor(w));
    for (int looks = 0;;) {
        bool changed = false;
        if (w->newton > 0 && looks < LOOKS) {
            looks++;
            if (!look(w, &changed)) {
                return RP_OK;
            }
        }
        w->size = missing_size(w, w->missing);
        if (w->size <= enough && w->newton == 0) {
            if (!look(w, &changed)) {
                return RP_OK;
            }
            w->size = missing_size(w, w->missing);
        }
        if (w->size <= enough) {
            *solved = true;
            return RP_OK;
        }
        if (!isfinite(w->size) || w->newton >= (int)o->newton) {
            w->reason = isfinite(w->size) ? "Newton's method is too slow" : "it is no number";
            return RP_OK;
        }
        const rp_krylov_job job = {.length = s->length,
                                   .matrix = {apply, w},
                                   .tolerance = o->krylov_tolerance,
                                   .absolute = 0.6 * enough,
                                   .most = (int)o->krylov,
                                   .restart = 60,
                                   .threads = s->step->threads};
        rp_krylov_report report;
        RP_TRY(rp_gmres(&state->krylov, state->allocator, &job, w->right, w->way, &report));
        w->krylov += report.iterations;
        w->newton++;
        if (report.end == RP_KRYLOV_NO_NUMBER || !go(w)) {
            w->reason = "no way leads to a better one";
            return RP_OK;
        }
    }
}

// ---- the step ----

static rp_result implicit_prepare(void *state, rp_step *step)
{
    (void)state;
    return rp_sort_and_build(step);
}

enum { CHANNELS = 1 << RP_CH_MOMENTUM | 1 << RP_CH_IMPULSE };

typedef struct loops {
    rp_step *step;
    work *w;
    rp_transfer_job job;
    rp_page_report *report; // [particle page]
    double *dropped;        // [node page]
} loops;

static rp_transfer_job transfer_job(const rp_step *step, int set)
{
    return (rp_transfer_job){.set = &step->set[set],
                             .set_index = set,
                             .grid = step->grid,
                             .law = rp_set_has_mass(&step->set[set]) ? step->law : NULL,
                             .group = step->species[set].group_reals.data,
                             .group_law = step->species[set].group_laws.data,
                             .dt = step->dt,
                             .transfer = step->transfer,
                             .gradient = step->gradient,
                             .kept = rp_kept_share(step),
                             .seed = step->seed,
                             .step = (uint64_t)step->time.step};
}

static void p2g_page(void *context, int64_t p, int thread)
{
    (void)thread;
    const loops *l = context;
    l->step->kernels->p2g(&l->job, (rp_local)p);
}

static void sum_page(void *context, int64_t p, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_step *step = l->step;
    static const double none[3];
    step->kernels->sum(step->grid, step->set, step->species_count, CHANNELS, (rp_local)p);
    l->dropped[p] =
        step->kernels->velocity(step->grid, (rp_local)p, none, rp_least_node_mass(step));
}

static void contact_page(void *context, int64_t p, int thread)
{
    (void)thread;
    const loops *l = context;
    rp_touches_apply(&l->w->touches, l->step->grid, (rp_local)p, l->step->dt);
    if (rp_grid_has(l->step->grid, RP_CH_IMPULSE)) {
        l->step->kernels->keep(l->step->grid, (rp_local)p, rp_kept_share(l->step));
    }
}

static void g2p_page(void *context, int64_t p, int thread)
{
    (void)thread;
    const loops *l = context;
    l->step->kernels->g2p(&l->job, (rp_local)p, &l->report[p]);
}

#define GET(pointer, bytes, what)                                                                  \
    do {                                                                                           \
        (pointer) = rp_scratch_get(step->scratch, (bytes), (what));                                \
        if ((pointer) == NULL) {                                                                   \
            return RP_ERR_MEMORY;                                                                  \
        }                                                                                          \
    } while (0)

static rp_result get_vectors(work *w, rp_step *step)
{
    const size_t bytes = ((size_t)w->system.length + 1) * sizeof(double);
    double **all[] = {&w->v,     &w->missing, &w->trial, &w->trial_missing,
                      &w->right, &w->way,     &w->u,     &w->image};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        GET(*all[i], bytes, "vectors of the implicit step");
    }
    GET(w->partial, ((size_t)rp_krylov_pieces(w->system.length) + 1) * sizeof(double),
        "parts of products");
    return RP_OK;
}

// Nobody can say what comes after this state: where most is missing, and the particle there.
static rp_result blame(const work *w, rp_step *step, int tries)
{
    const rp_grid *grid = step->grid;
    const rp_layout *layout = &grid->layout;
    double worst = -1.0, at[3] = {0}, nearest = INFINITY, x[3] = {0};
    for (rp_local p = 0; p < grid->pages; p++) {
        const uint32_t *number = rp_nodes_numbers(w->system.numbers, grid, p);
        for (int n = 0; n < layout->nodes; n++) {
            double size = 0.0;
            for (int a = 0; a < layout->dim && number[n] != RP_NO_NUMBER; a++) {
                size += fabs(w->right[(size_t)number[n] * (size_t)layout->dim + (size_t)a]);
            }
            size = isfinite(size) ? size : INFINITY;
            if (number[n] != RP_NO_NUMBER && size > worst) {
                worst = size;
                rp_layout_node(layout, rp_grid_page(grid)[p].block, n, at);
            }
        }
    }
    const rp_set *set = NULL;
    rp_local guilty = 0;
    for (int i = 0; i < step->species_count; i++) {
        for (rp_local p = 0; p < step->set[i].pages && rp_set_has_mass(&step->set[i]); p++) {
            const rp_page *page = &rp_set_page(&step->set[i])[p];
            for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
                double away = 0.0;
                for (int a = 0; a < layout->dim; a++) {
                    const double d =
                        rp_set_value(&step->set[i], RP_COL_POSITION, slot, a, page) - at[a];
                    away += d * d;
                }
                if (away < nearest) {
                    nearest = away;
                    set = &step->set[i];
                    guilty = slot;
                    for (int a = 0; a < layout->dim; a++) {
                        x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, page);
                    }
                }
            }
        }
    }
    rp_failure *f = step->failure;
    f->dt = step->dt;
    if (set != NULL) {
        const uint16_t group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, guilty, 0);
        f->particle = *(uint64_t *)rp_set_at(set, RP_COL_ID, guilty, 0);
        f->material.index = rp_set_group(set)[group].material;
    }
    for (int a = 0; a < layout->dim; a++) {
        f->cell[a] = (int64_t)floor(at[a] / layout->h);
    }
    return rp_fail(RP_ERR_DIVERGED,
                   "the balance at the node (%g, %g, %g) m, near particle %llu at (%g, %g, %g) m, "
                   "finds no solution in step %lld, the last of %d tries with dt %g s, bounded by "
                   "%s: %s (residual %.3g after %d of Newton's steps)",
                   at[0], at[1], at[2], (unsigned long long)f->particle, x[0], x[1], x[2],
                   (long long)step->time.step, tries, step->dt, step->stats->limiter, w->reason,
                   w->size / w->scale, w->newton);
}

// Tries, each half as long as the one before.
static rp_result solve(implicit_state *s, work *w, rp_step *step)
{
    enum { TRIES = 10 };
    memory *m = &s->memory;
    const double wanted = step->dt;
    int tries = 0;
    for (bool solved = false; !solved; tries++) {
        w->system.dt = step->dt;
        RP_TRY(rp_holds_find(&w->holds, &w->touches, &w->system));
        RP_TRY(newton(w, s, &solved));
        if (!solved && tries + 1 == TRIES) {
            return blame(w, step, tries + 1);
        }
        step->dt *= solved ? 1.0 : 0.5;
        m->rejected += solved ? 0.0 : 1.0;
    }
    if (step->dt < wanted) {
        m->allowed = 1.5 * step->dt;
    } else {
        // frames are cut into equal steps, which have more than half of what is allowed
        m->allowed *= m->allowed < 4.0 * step->dt ? 1.5 : 0.0;
    }
    step->stats->extra[0] = w->newton;
    step->stats->extra[1] = w->krylov;
    step->stats->extra[2] = w->scale > 0.0 ? w->size / w->scale : 0.0;
    step->stats->extra[3] = m->rejected;
    step->stats->extra[4] = w->balances;
    step->stats->extra[5] = w->products;
    return RP_OK;
}

// Into momentum and work from outside goes what the field of accelerations gave, and what the
// balance still misses, which nobody gave: books are then right to rounding. With the velocities at
// the end; `trial` has those of the solution, `v` those without the impulses of colliders.
static void note_drive(const work *w, rp_step *step)
{
    const rp_system *s = &w->system;
    const size_t dim = (size_t)step->grid->layout.dim;
    for (size_t n = 0; n < (size_t)s->numbers->count; n++) {
        double push[3] = {0};
        for (size_t a = 0, k = n * dim; a < dim; a++, k++) {
            push[a] = s->dt * (s->push[k] - step->gravity[a]) + w->missing[k] / s->mass[n] +
                      w->v[k] - w->trial[k];
        }
        rp_drive_add(&step->drive, (int)dim, s->mass[n], push, &w->trial[n * dim]);
    }
}

static rp_result move_species(loops *l, int species, memory *most)
{
    rp_step *step = l->step;
    rp_set *set = &step->set[species];
    double farthest = 0.0, speed2 = most->speed, gradient2 = most->gradient;
    l->job = transfer_job(step, species);
    rp_parallel_for(step->threads, set->pages, 4, g2p_page, l);
    for (rp_local p = 0; p < set->pages; p++) {
        if (l->report[p].bad) {
            return rp_solver_blame(step, set, p);
        }
        speed2 = fmax(speed2, l->report[p].speed2);
        gradient2 = fmax(gradient2, l->report[p].gradient2);
        farthest = fmax(farthest, l->report[p].move);
    }
    rp_set_travelled(set, farthest);
    most->speed = speed2;
    most->gradient = gradient2;
    return RP_OK;
}

static rp_result implicit_step(void *state, rp_step *step)
{
    implicit_state *s = state;
    double rubbed = 0.0;
    work w = {.option = step->option, .system = {.step = step}, .since = rp_seconds()};
    if (!rp_comm_alone(step->comm)) {
        return rp_fail(RP_ERR_UNSUPPORTED, "method implicit cannot be cut into ranks yet");
    }
    RP_TRY(implicit_prepare(state, step));
    done(&w, SORT);

    loops l = {.step = step, .w = &w};
    double(*field)[3];
    rp_local most_pages = 1;
    for (int i = 0; i < step->species_count; i++) {
        most_pages = step->set[i].pages > most_pages ? step->set[i].pages : most_pages;
    }
    GET(l.dropped, ((size_t)step->grid->pages + 1) * sizeof *l.dropped,
        "dropped momentum per page");
    GET(l.report, (size_t)most_pages * sizeof *l.report, "page reports");
    RP_TRY(rp_touches_find(&w.touches, &s->walls, step->collider, step->colliders, false,
                           step->grid, step->threads, step->scratch));
    w.touches.set = step->set;
    w.touches.span = step->dt;
    w.touches.sets = step->species_count;
    RP_TRY(rp_find_push(step, &field));
    for (int i = 0; i < step->species_count; i++) {
        if (rp_set_has_mass(&step->set[i])) {
            l.job = transfer_job(step, i);
            l.job.law = NULL; // stresses are those at the end
            rp_parallel_for(step->threads, step->set[i].pages, 4, p2g_page, &l);
        }
    }
    rp_parallel_for(step->threads, step->grid->pages, 16, sum_page, &l);
    done(&w, P2G);

    RP_TRY(rp_system_begin(&w.system, &s->numbers, step, field));
    RP_TRY(get_vectors(&w, step));
    RP_TRY(solve(s, &w, step));
    memcpy(w.trial, w.v, (size_t)w.system.length * sizeof *w.v);
    rp_holds_release(&w.holds, &w.system, w.missing, w.v);
    rp_system_spread(&w.system, RP_CH_MOMENTUM, w.v);
    rp_parallel_for(step->threads, step->grid->pages, 16, contact_page, &l);
    for (rp_local p = 0; p < step->grid->pages; p++) {
        step->stats->dropped_momentum += l.dropped[p];
    }
    note_drive(&w, step);
    RP_TRY(rp_touches_sum(&w.touches, step->grid, step->body, &rubbed));
    done(&w, KRYLOV);

    memory most = {0};
    for (int i = 0; i < step->species_count; i++) {
        RP_TRY(move_species(&l, i, &most));
    }
    s->memory.speed = step->stats->max_speed = sqrt(most.speed);
    s->memory.gradient = step->stats->max_gradient = sqrt(most.gradient);
    done(&w, G2P);
    return RP_OK;
}

const rp_solver rp_solver_implicit = {
    .info = {.name = "implicit",
             .sentence = "Elasticity, plasticity and contact solved for in long steps: where "
                         "stiffness costs more than flow.",
             .built = true,
             .materials = 1u << RP_SAND | 1u << RP_ELASTIC | 1u << RP_TRACER,
             .option = option,
             .options = sizeof option / sizeof option[0],
             .regard = {[RP_FEATURE_INERTIAL] = RP_IMPOSSIBLE,
                        [RP_FEATURE_RESTING] = RP_IMPOSSIBLE,
                        [RP_FEATURE_VISCOSITY] = RP_IMPOSSIBLE,
                        [RP_FEATURE_ELASTIC_SHARE] = RP_MEANINGLESS,
                        [RP_FEATURE_ENERGY] = RP_IMPOSSIBLE,
                        [RP_FEATURE_BODIES] = RP_IMPOSSIBLE,
                        [RP_FEATURE_MIXTURE] = RP_IMPOSSIBLE,
                        [RP_FEATURE_PERMEABLE] = RP_IMPOSSIBLE,
                        [RP_FEATURE_FRACTURE] = RP_IMPOSSIBLE,
                        [RP_FEATURE_RIGID] = RP_IMPOSSIBLE},
             .why = {[RP_FEATURE_INERTIAL] = "use method explicit",
                     [RP_FEATURE_RESTING] = "use method explicit",
                     [RP_FEATURE_VISCOSITY] = "use method explicit",
                     [RP_FEATURE_ENERGY] = "its losses are not counted yet",
                     [RP_FEATURE_BODIES] = "what touches sticks here; use method explicit",
                     [RP_FEATURE_MIXTURE] = "use method mixture",
                     [RP_FEATURE_PERMEABLE] = "use method mixture",
                     [RP_FEATURE_FRACTURE] = "use method explicit",
                     [RP_FEATURE_RIGID] = "a collider with a motion moves sand, too"}},
    .stage = {"sort", "p2g", "balance", "product", "krylov", "g2p"},
    .extra = {"newton_iterations", "krylov_iterations", "residual", "rejected", "balances",
              "products"},
    .needs = implicit_needs,
    .create = implicit_create,
    .limits = implicit_limits,
    .prepare = implicit_prepare,
    .step = implicit_step,
    .state = implicit_register,
    .destroy = implicit_destroy,
    .bytes = implicit_bytes,
};
