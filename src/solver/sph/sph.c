// Granular flow by smoothed particles (Alduan and Otaduy 2011), in the dual form of docs/theory.md,
// section 21.
//
//     list      who is near whom; densities; walls nearby
//     kick      velocities with all that does not depend on stress
//     iterate   velocities with stress and walls (force), then stress from their gradient (strain),
//               until densities are what they may be and stresses stay what they are
//     finish    particles move
//
// Stresses start from those of the last step. They are kept as the strain that young and poisson
// would make of them, so that all who read stress from frames read the same of every method.
// Nothing is changed before the loop has ended: where it does not converge, the step is tried again
// at half its length.
#include "base/clock.h"
#include "base/result.h"
#include "base/threads.h"
#include "model/material.h"
#include "model/sand.h"
#include "solver/blame.h"
#include "solver/common.h"
#include "solver/sph/bodies.h"
#include "solver/sph/neighbours.h"
#include "solver/sph/walls.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- options ----

typedef enum clamping { CLAMP_NORM, CLAMP_COMPONENT } clamping;
typedef enum beginning { BEGIN_WARM, BEGIN_COLD } beginning;

typedef struct sph_options {
    bool bilateral;
    clamping clamp;
    beginning start;
    double tolerance;  // mean density error
    double iterations; // most of them
    double relaxation;
    double recovery;  // time in which too much density is undone [s]
    double viscosity; // [m^2/s]
    double repulsion;
    double bonding;   // [1/s]
    double debonding; //
} sph_options;
_Static_assert(sizeof(sph_options) <= sizeof(((rp_world_def *)0)->option), "room for options");

static const char *const clamps[] = {"norm", "component", NULL};
static const char *const starts[] = {"warm", "cold", NULL};

#define AT(member) .offset = offsetof(sph_options, member)
// clang-format off
static const rp_property option[] = {
    {"bilateral", RP_PROPERTY_BOOLEAN, .otherwise = "false", AT(bilateral),
     .sentence = "Sand resists being pulled apart, too, as a liquid does: for comparison."},
    {"clamp", RP_PROPERTY_CHOICE, .choices = clamps, .otherwise = "\"norm\"", AT(clamp),
     .sentence = "What friction bounds: the norm of shear stress, or, as printed in the paper, each component by "
                 "itself, which is weaker and depends on how the axes lie."},
    {"start", RP_PROPERTY_CHOICE, .choices = starts, .otherwise = "\"warm\"", AT(start),
     .sentence = "Stresses start from those of the last step, or, as printed, from none: deep sand then sinks."},
    {"tolerance", RP_PROPERTY_NUMBER, NULL, .low = 1e-6, .high = 0.1, .otherwise = "3e-5",
     AT(tolerance), .sentence = "Iterations end when densities are off by less than this share in the mean, and 0.0005 "
                                "of the cells that particles cross in the step."},
    {"iterations", RP_PROPERTY_NUMBER, NULL, .low = 5.0, .high = 1000.0, .otherwise = "40", AT(iterations),
     .sentence = "The most that a step takes before it is tried again at half its length, down to a quarter of what "
                 "all else allows."},
    {"relaxation", RP_PROPERTY_NUMBER, NULL, .low = 0.0, .high = 0.5, .above_low = true, .otherwise = "0.15",
     AT(relaxation), .sentence = "Share of a correction that is made at once. From about 0.25 on it diverges."},
    {"recovery", RP_PROPERTY_NUMBER, "s", .low = 0.0, .high = INFINITY, .above_low = true, .otherwise = "0.2",
     AT(recovery), .sentence = "Time in which sand that is too dense comes apart."},
    {"viscosity", RP_PROPERTY_NUMBER, "m^2/s", .low = 0.0, .high = INFINITY, .below_high = true, .otherwise = "0",
     AT(viscosity), .sentence = "Kinematic viscosity, besides friction."},
    {"repulsion", RP_PROPERTY_NUMBER, "1/s", .low = 0.0, .high = INFINITY, .below_high = true, .otherwise = "20",
     AT(repulsion), .sentence = "How fast grains of loose sand that are too close come apart."},
    {"bonding", RP_PROPERTY_NUMBER, "1/s", .low = 0.0, .high = INFINITY, .below_high = true, .otherwise = "2",
     AT(bonding), .sentence = "How fast dense sand gets its cohesion back."},
    {"debonding", RP_PROPERTY_NUMBER, NULL, .low = 0.0, .high = INFINITY, .below_high = true, .otherwise = "2",
     AT(debonding), .sentence = "How much of its cohesion sand loses for every unit of shear."},
};
// clang-format on

static rp_result sph_check(const rp_world_def *def)
{
    const sph_options *o = (const sph_options *)def->option;
    if (o->clamp == CLAMP_COMPONENT) {
        rp_log(RP_LOG_WARNING,
               "sph.clamp: friction by component, as printed, is for comparison: it is weaker "
               "than its angle says");
    }
    if (o->start == BEGIN_COLD) {
        rp_log(RP_LOG_WARNING,
               "sph.start: a cold start, as printed, is for comparison: deep sand loses height");
    }
    return RP_OK;
}

// ---- state ----

// What bounds the next step.
typedef struct bounds {
    double speed;    // of the fastest particle [m/s]
    double motion;   // mean of squares of all speeds [m^2/s^2]
    double gradient; // of velocity, the steepest [1/s]
    int32_t coheres; // 0: there is nothing to hold together
    double effort; // a step that took about as many iterations as it should [s]; infinite: none was
                   // too long
} bounds;

// What has happened since time began.
typedef struct record {
    double retries; // steps that were done again, shorter
    double missed;  // steps that went on with more than the tolerance
} record;

typedef struct sph_state {
    bounds bound;
    record record;
    rp_neighbours near;
    // not saved
    const rp_allocator *allocator;
    rp_sph_kernel kernel;
    const rp_sph_passes *passes;
    rp_sph_walls walls;
    rp_buffer sort, start, velocity, tensor, stress, proper, rate, report, group;
} sph_state;

static rp_result sph_create(const rp_world_def *def, const rp_allocator *a, void **state)
{
    sph_state *s = rp_new(a, sizeof *s, "the solver of SPH");
    *state = s;
    if (s == NULL) {
        return RP_ERR_MEMORY;
    }
    s->kernel = rp_sph_kernel_make(def->dimension);
    s->allocator = a;
    s->bound.effort = INFINITY;
    return RP_OK;
}

static void sph_destroy(void *state, const rp_allocator *a)
{
    sph_state *s = state;
    rp_buffer *all[] = {&s->sort,   &s->start, &s->velocity, &s->tensor, &s->stress,
                        &s->proper, &s->rate,  &s->report,   &s->group};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        rp_buffer_free(all[i], a);
    }
    rp_neighbours_free(&s->near, a);
    rp_sph_walls_free(&s->walls, a);
    rp_delete(a, s, sizeof *s);
}

static size_t sph_bytes(const void *state)
{
    const sph_state *s = state;
    return rp_neighbours_bytes(&s->near) + s->sort.bytes + s->start.bytes + s->velocity.bytes +
           s->tensor.bytes + s->stress.bytes + s->proper.bytes + s->rate.bytes + s->report.bytes +
           s->group.bytes + s->walls.entry.bytes + s->walls.first.bytes;
}

static void sph_register(void *state, rp_registry *registry)
{
    sph_state *s = state;
    rp_registry_add(registry, "sph/bounds", &s->bound, sizeof s->bound);
    rp_registry_add(registry, "sph/record", &s->record, sizeof s->record);
    rp_registry_add_array(registry, "sph/cells", &s->near.cell, s->allocator, &s->near.cells,
                          sizeof(uint32_t));
}

static void sph_needs(const rp_world_def *def, rp_needs *needs)
{
    const int dim = def->dimension, real = def->precision == RP_SINGLE ? 4 : 8;
    const int numbers = 4 * RP_SPH_ROWS(dim) + 2 + 8 + 4 * dim + rp_sym_comps(dim) + 1;
    *needs = (rp_needs){.columns = 1u << RP_COL_VELOCITY | 1u << RP_COL_BOND,
                        .orders = 1u << 1 | 1u << 2 | 1u << 3,
                        .per_cell = dim == 3 ? 8 : 4,
                        .particle_bytes = (size_t)(numbers * real) + sizeof(uint32_t),
                        .push_out = true};
}

// ---- how long a step is ----

static const double SPEED_SHARE =
    0.25; // of cfl: cells that the fastest particle may cross in a step
// strain in a step; what holds together and spins grows by half the square of its turn in every
// step
static const double GRADIENT_SHARE[2] = {0.1, 0.02};
static const double GRAVITY_SHARE = 0.02; // of the time that gravity takes across a cell
static const double EFFORT_SHARE = 0.25;  // of all other limits

static int plain_limits(const sph_state *s, const rp_step *step, rp_limit out[RP_LIMITS_MOST])
{
    const sph_options *o = step->option;
    const double h = step->grid->layout.h, speed = fmax(s->bound.speed, step->newborn_speed);
    const double gradient = fmax(s->bound.gradient, step->newborn_gradient);
    double g = 0.0;
    int n = 0;
    for (int a = 0; a < step->grid->layout.dim; a++) {
        g += step->gravity[a] * step->gravity[a];
    }
    g = sqrt(g);
    if (speed > 0.0) {
        out[n++] = (rp_limit){"speed", SPEED_SHARE * step->cfl * h / speed};
    }
    if (gradient > 0.0) {
        out[n++] = (rp_limit){"gradient", GRADIENT_SHARE[s->bound.coheres != 0] / gradient};
    }
    if (g > 0.0) {
        out[n++] = (rp_limit){"gravity", GRAVITY_SHARE * sqrt(h / g)};
    }
    if (o->viscosity > 0.0) {
        out[n++] = (rp_limit){"viscous", 0.025 * h * h / o->viscosity};
    }
    return n;
}

// Below this, shorter steps do not help a loop that takes long: what strikes at once reaches as far
// as there are iterations, however short the step.
static double least_effort(const sph_state *s, const rp_step *step)
{
    rp_limit limit[RP_LIMITS_MOST];
    double least = INFINITY;
    for (int i = plain_limits(s, step, limit) - 1; i >= 0; i--) {
        least = fmin(least, limit[i].dt);
    }
    return EFFORT_SHARE * least;
}

static int sph_limits(void *state, const rp_step *step, rp_limit out[RP_LIMITS_MOST])
{
    const sph_state *s = state;
    int n = plain_limits(s, step, out);
    if (isfinite(s->bound.effort)) {
        out[n++] = (rp_limit){"iterations", fmax(s->bound.effort, least_effort(s, step))};
    }
    return n;
}

// Steps that needed many iterations are followed by shorter ones, until few are needed again.
static void learn(sph_state *s, const rp_step *step, int iterations)
{
    enum { MANY = 20, FEW = 10 };
    if (iterations > MANY) {
        s->bound.effort = fmax(0.8 * step->dt, least_effort(s, step));
    } else if (iterations <= FEW && isfinite(s->bound.effort)) {
        s->bound.effort *= 1.05;
        s->bound.effort = s->bound.effort > 8.0 * step->dt ? INFINITY : s->bound.effort;
    }
}

// ---- a step ----

typedef enum stage { SORT, LIST, SOLVE, MOVE } stage;

static rp_result sph_prepare(void *state, rp_step *step)
{
    sph_state *s = state;
    if (!rp_comm_alone(step->comm)) {
        return rp_fail(RP_ERR_UNSUPPORTED, "method sph runs on one rank only, got %d",
                       step->comm->size);
    }
    rp_set *set = step->set;
    if (step->species_count > 0 && (rp_set_wants_sort(set) || set->travel > RP_SPH_TRAVEL ||
                                    !rp_neighbours_fit(&s->near, set))) {
        RP_TRY(rp_set_sort(set, &s->sort, step->threads));
        step->stats->sorts++;
        return rp_neighbours_sorted(&s->near, set, step->threads);
    }
    return RP_OK;
}

// Pressure in bulk moduli that there can be. Without a bound, sand between colliders that leave it
// no room is shot out ever faster.
static const double HARDEST = 10.0;

// What passes read of groups, from what materials say. @return whether any has cohesion
static rp_result make_groups(sph_state *s, const rp_step *step, bool *coheres)
{
    const rp_set *set = step->set;
    const double *from = step->species->group_doubles.data;
    const size_t bytes = (size_t)set->groups * RP_SPH_REALS * (size_t)rp_real_bytes(&set->layout);
    if (s->group.bytes < bytes) {
        RP_TRY(rp_buffer_reserve(&s->group, set->allocator, 2 * bytes, 0, "groups"));
    }
    *coheres = false;
    for (rp_local g = 0; g < set->groups; g++, from += RP_GROUP_REALS) {
        const double value[RP_SPH_REALS] = {
            [RP_SPH_LIGHTNESS] = 1.0 / from[RP_PARAM_DENSITY],
            [RP_SPH_FRICTION] =
                sqrt(2.0) * rp_friction_coefficient(from[RP_PARAM_SLOPE], set->layout.dim),
            [RP_SPH_COHESION] = from[RP_PARAM_COHESION],
            [RP_SPH_HARDEST] =
                HARDEST * (from[RP_PARAM_LAMBDA] + 2.0 / set->layout.dim * from[RP_PARAM_MU]),
            [RP_SPH_LAMBDA] = from[RP_PARAM_LAMBDA],
            [RP_SPH_MU] = from[RP_PARAM_MU],
        };
        *coheres = *coheres || value[RP_SPH_COHESION] > 0.0;
        for (int k = 0; k < RP_SPH_REALS; k++) {
            if (set->layout.precision == RP_SINGLE) {
                ((float *)s->group.data)[g * RP_SPH_REALS + k] = (float)value[k];
            } else {
                ((double *)s->group.data)[g * RP_SPH_REALS + k] = value[k];
            }
        }
    }
    return RP_OK;
}

// Room for what passes write.
static rp_result make_room(sph_state *s, const rp_set *set, bool rates)
{
    const size_t real = (size_t)rp_real_bytes(&set->layout), slots = (size_t)set->slots;
    const size_t dim = (size_t)set->layout.dim, sym = (size_t)rp_sym_comps(set->layout.dim);
    const struct {
        rp_buffer *buffer;
        size_t bytes;
        const char *what;
    } all[] = {{&s->start, 4 * slots * real, "velocities"},
               {&s->velocity, 4 * slots * real, "velocities"},
               {&s->tensor, 4 * dim * slots * real, "stresses"},
               {&s->stress, (sym + 1) * slots * real, "stresses"},
               {&s->proper, (sym + 1) * slots * real, "stresses"},
               {&s->rate, rates ? slots * real : 0, "rates of deformation"},
               {&s->report, (size_t)set->pages * sizeof(rp_sph_report), "page reports"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].buffer->bytes < all[i].bytes) {
            RP_TRY(rp_buffer_reserve(all[i].buffer, set->allocator,
                                     all[i].bytes + all[i].bytes / 16, 0, all[i].what));
        }
    }
    return RP_OK;
}

typedef struct loop {
    void (*pass)(const rp_sph_job *job, rp_local page);
    const rp_sph_job *job;
} loop;

static void loop_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const loop *l = context;
    l->pass(l->job, (rp_local)page);
}

static void over_pages(const rp_step *step, const rp_sph_job *job,
                       void (*pass)(const rp_sph_job *job, rp_local page))
{
    rp_parallel_for(step->threads, step->set->pages, 1, loop_page, &(loop){pass, job});
}

// The field of accelerations at every particle. A script has one thread.
static rp_result add_field(rp_step *step, const rp_sph_job *job)
{
    const rp_vector_field *field = step->acceleration;
    const rp_set *set = step->set;
    step->drive = (rp_drive){0}; // a step may be tried again
    if (field == NULL || field->call == NULL) {
        return RP_OK;
    }
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            double x[3] = {0}, v[3] = {0}, push[3] = {0}, mass, volume;
            for (int a = 0; a < set->layout.dim; a++) {
                x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, page);
                v[a] = rp_set_value(set, RP_COL_VELOCITY, slot, a, page);
            }
            RP_TRY(field->call(field->context, step->begin, x, push));
            for (int a = 0; a < set->layout.dim; a++) {
                if (!isfinite(push[a])) {
                    return rp_fail(RP_ERR_ARGUMENT,
                                   "world.acceleration gave %g along axis %d at (%g, %g, %g) m",
                                   push[a], a, x[0], x[1], x[2]);
                }
                if (set->layout.precision == RP_SINGLE) {
                    ((float *)job->start)[4 * (size_t)slot + a] += (float)(push[a] * job->dt);
                } else {
                    ((double *)job->start)[4 * (size_t)slot + a] += push[a] * job->dt;
                }
                push[a] *= job->dt;
                v[a] += 0.5 * push[a];
            }
            rp_set_measure(set, page, slot, &mass, &volume);
            rp_drive_add(&step->drive, set->layout.dim, mass, push, v);
        }
    }
    return RP_OK;
}

// What all pages report, one after the other.
static rp_sph_report all_reports(const rp_sph_job *job)
{
    rp_sph_report all = {0};
    for (rp_local p = 0; p < job->set->pages; p++) {
        const rp_sph_report *r = &job->report[p];
        all.residual += r->residual;
        all.excess = fmax(all.excess, r->excess);
        all.change = fmax(all.change, r->change);
        all.size = fmax(all.size, r->size);
        all.speed2 = fmax(all.speed2, r->speed2);
        all.steep2 = fmax(all.steep2, r->steep2);
        all.astray += r->astray;
        all.expanded += r->expanded;
        all.motion += r->motion;
        all.move = fmax(all.move, r->move);
    }
    const rp_local count = job->set->count > 0 ? job->set->count : 1;
    all.residual /= count;
    all.motion /= count;
    return all;
}

// How far densities may be off in the mean: what moves need not be as quiet as what rests.
static double tolerance(const sph_state *s, const rp_step *step)
{
    static const double SHARE = 5e-4; // of the cells that particles cross
    const sph_options *o = step->option;
    return o->tolerance + SHARE * sqrt(s->bound.motion) * step->dt / step->grid->layout.h;
}

// Stress and velocity of the step, from the strains of the last. @return how many iterations it
// took
static rp_result iterate(const sph_state *s, rp_step *step, rp_sph_job *job, rp_sph_bodies *bodies,
                         int *iterations, rp_sph_report *out)
{
    enum { LEAST = 5 };
    static const double STEADY =
        0.05; // share of the largest stress that any may change by in the last iteration
    static const double TOGETHER = 1e-4; // cells that a body may be taken elsewhere by it
    const sph_options *o = step->option;
    job->dt = step->dt;
    job->recovery = fmin(1.0, step->dt / o->recovery);
    over_pages(step, job, s->passes->load);
    over_pages(step, job, s->passes->kick);
    RP_TRY(add_field(step, job));
    RP_TRY(rp_sph_bodies_begin(bodies, step, job));
    bool done = false;
    int since = 0; // that momentum has been gathering
    for (*iterations = 0; !done && *iterations < (int)o->iterations; ++*iterations) {
        over_pages(step, job, s->passes->force);
        const double led = rp_sph_bodies_answer(bodies, job);
        job->momentum = since / (since + 3.0);
        over_pages(step, job, s->passes->strain);
        *out = all_reports(job);
        since = out->astray > 0.0 ? 0 : since + 1;
        done = *iterations + 1 >= LEAST && out->residual < tolerance(s, step) &&
               out->change <= STEADY * out->size &&
               led * step->dt <= TOGETHER * step->grid->layout.h;
    }
    *iterations += !done; // one more than are allowed
    return RP_OK;
}

// A step that is as short as it may be goes on with what its loop has come to. What is too dense
// then comes apart in the steps after it.
static void note_miss(sph_state *s, const rp_step *step, const rp_sph_report *report)
{
    const sph_options *o = step->option;
    if (s->record.missed == 0.0) {
        rp_log(RP_LOG_WARNING,
               "step %lld went on after %d iterations with densities off by %.3g in the mean "
               "(tolerance %g) and stresses that still change by %.2g of the largest. Further ones "
               "are counted (stats.csv: missed)",
               (long long)step->time.step, (int)o->iterations, report->residual, tolerance(s, step),
               report->change / fmax(report->size, 1e-300));
    }
    s->record.missed += 1.0;
}

// Bodies where there is no sand.
static rp_result meet_alone(const rp_step *step)
{
    rp_led led;
    RP_TRY(rp_led_find(&led, step));
    RP_TRY(rp_led_begin(&led, step));
    rp_led_meet(&led);
    return RP_OK;
}

static rp_result sph_step(void *state, rp_step *step)
{
    sph_state *s = state;
    const sph_options *o = step->option;
    double since = rp_seconds();
    RP_TRY(sph_prepare(state, step));
    rp_stage_done(step, SORT, &since);
    if (step->species_count == 0) {
        return meet_alone(step);
    }

    rp_set *set = step->set;
    rp_sph_job job;
    bool coheres;
    s->passes = rp_sph_passes_find(set->layout.dim, step->kernels->real_bits, step->kernels->isa);
    RP_TRY(make_groups(s, step, &coheres));
    RP_TRY(make_room(s, set, coheres));
    RP_TRY(rp_neighbours_find(&s->near, set, &s->kernel, s->passes, coheres, step->threads, &job));
    RP_TRY(rp_sph_walls_find(&s->walls, step->collider, step->colliders, step->dt, step->threads,
                             &job));
    job.relaxation = o->relaxation;
    job.viscosity = o->viscosity;
    job.repulsion = o->repulsion;
    job.bonding = o->bonding;
    job.debonding = o->debonding;
    job.bilateral = o->bilateral;
    job.by_component = o->clamp == CLAMP_COMPONENT;
    job.cold = o->start == BEGIN_COLD;
    job.seed = step->seed;
    job.step = (uint64_t)step->time.step;
    job.group = s->group.data;
    job.start = s->start.data;
    job.velocity = s->velocity.data;
    job.tensor = s->tensor.data;
    job.stress = s->stress.data;
    job.proper = s->proper.data;
    job.rate = coheres ? s->rate.data : NULL;
    job.report = s->report.data;
    memcpy(job.pull, step->gravity, sizeof job.pull);
    rp_sph_bodies bodies;
    RP_TRY(rp_sph_bodies_find(&bodies, step, &job));
    rp_stage_done(step, LIST, &since);

    int iterations = 0;
    bool done = false;
    rp_sph_report report = {0};
    for (const double shortest = least_effort(s, step); !done;) {
        RP_TRY(iterate(s, step, &job, &bodies, &iterations, &report));
        done = iterations <= (int)o->iterations;
        if (!done && 0.5 * step->dt < shortest) {
            note_miss(s, step, &report);
            done = true;
        } else if (!done) {
            step->dt *= 0.5;
            s->record.retries += 1.0;
        }
    }
    rp_stage_done(step, SOLVE, &since);

    rp_sph_bodies_settle(&bodies, &job);
    over_pages(step, &job, s->passes->finish);
    for (rp_local p = 0; p < set->pages; p++) {
        if (job.report[p].bad) {
            return rp_solver_blame(step, set, p);
        }
    }
    report = all_reports(&job);
    rp_set_travelled(set, report.move);
    rp_sph_walls_sum(&job, step->body);
    rp_led_meet(&bodies.led);
    // what is too dense comes apart against its pressure, which is energy that was never there
    const double h = set->layout.h;
    step->drive.energy +=
        report.expanded * s->kernel.volume * h * h * (set->layout.dim == 3 ? h : 1.0);
    s->bound.speed = step->stats->max_speed = sqrt(report.speed2);
    s->bound.motion = report.motion;
    s->bound.gradient = step->stats->max_gradient = sqrt(report.steep2);
    s->bound.coheres = coheres;
    learn(s, step, iterations);
    step->stats->extra[0] = iterations;
    step->stats->extra[1] = report.residual;
    step->stats->extra[2] = report.excess;
    step->stats->extra[3] = s->record.retries;
    step->stats->extra[4] = s->record.missed;
    rp_stage_done(step, MOVE, &since);
    return RP_OK;
}

const rp_solver rp_solver_sph = {
    .info = {.name = "sph",
             .sentence =
                 "Granular flow by smoothed particles, without a grid: grains scatter freely.",
             .built = true,
             .materials = 1u << RP_SAND,
             .regard = {[RP_FEATURE_HARDENING] = RP_IMPOSSIBLE,
                        [RP_FEATURE_STIFFNESS] = RP_MEANINGLESS,
                        [RP_FEATURE_VOLUME_CORRECTION] = RP_MEANINGLESS,
                        [RP_FEATURE_INERTIAL] = RP_IMPOSSIBLE,
                        [RP_FEATURE_DILATION] = RP_IMPOSSIBLE,
                        [RP_FEATURE_RESTING] = RP_MEANINGLESS,
                        [RP_FEATURE_VISCOSITY] = RP_IMPOSSIBLE,
                        [RP_FEATURE_ORDER] = RP_MEANINGLESS,
                        [RP_FEATURE_TRANSFER] = RP_MEANINGLESS,
                        [RP_FEATURE_GRADIENT] = RP_MEANINGLESS,
                        [RP_FEATURE_ELASTIC_SHARE] = RP_MEANINGLESS,
                        [RP_FEATURE_ENERGY] = RP_IMPOSSIBLE,
                        [RP_FEATURE_BODIES] = RP_IMPOSSIBLE,
                        [RP_FEATURE_MIXTURE] = RP_IMPOSSIBLE,
                        [RP_FEATURE_PERMEABLE] = RP_IMPOSSIBLE,
                        [RP_FEATURE_FRACTURE] = RP_IMPOSSIBLE},
             .why = {[RP_FEATURE_MIXTURE] = "use method mixture",
                     [RP_FEATURE_PERMEABLE] = "use method mixture",
                     [RP_FEATURE_HARDENING] = "give friction_angle alone",
                     [RP_FEATURE_INERTIAL] = "use method explicit",
                     [RP_FEATURE_DILATION] = "use method explicit",
                     [RP_FEATURE_VISCOSITY] = "sand has `sph = { viscosity = ... }`",
                     [RP_FEATURE_BODIES] = "what touches is one sand here",
                     [RP_FEATURE_FRACTURE] = "use method explicit",
                     [RP_FEATURE_ENERGY] = "its losses are not counted yet"},
             .option = option,
             .options = sizeof option / sizeof option[0]},
    .stage = {"sort", "list", "solve", "move"},
    .extra = {"iterations", "residual", "density_excess", "retries", "missed"},
    .check = sph_check,
    .needs = sph_needs,
    .create = sph_create,
    .limits = sph_limits,
    .prepare = sph_prepare,
    .step = sph_step,
    .state = sph_register,
    .destroy = sph_destroy,
    .bytes = sph_bytes,
};
