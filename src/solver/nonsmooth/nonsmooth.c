// Rigid grains (Daviet and Bertails-Descoubes 2016; docs/theory.md, section 20): no elasticity, and
// stress is found together with the velocity at the end of the step, so that a step may be as long
// as a frame. What grains feel of each other is one friction problem per step (problem.h).
#include "base/clock.h"
#include "base/result.h"
#include "base/threads.h"
#include "model/material.h"
#include "model/sand.h"
#include "solver/blame.h"
#include "solver/common.h"
#include "solver/nonsmooth/loops.h"

#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(options) <= sizeof(((rp_world_def *)0)->option), "room for options");

#define AT(member) .offset = offsetof(options, member)
static const char *const solver_names[] = {"anderson", "gauss-seidel", NULL};
static const char *const norm_names[] = {"l2", "max", NULL};
static const char *const stress_names[] = {"cell", "node", NULL};
static const rp_property option[] = {
    {.name = "stress",
     .type = RP_PROPERTY_CHOICE,
     .choices = stress_names,
     .otherwise = "\"cell\"",
     .sentence =
         "Where stress is: one in each cell, or linear between nodes as in the paper, whose "
         "pressure oscillates.",
     AT(stress)},
    {.name = "solver",
     .type = RP_PROPERTY_CHOICE,
     .choices = solver_names,
     .otherwise = "\"anderson\"",
     .sentence =
         "Sweeps that learn from the last ones, or plain ones that solve each point exactly.",
     AT(solver)},
    {.name = "norm",
     .type = RP_PROPERTY_CHOICE,
     .choices = norm_names,
     .otherwise = "\"l2\"",
     .sentence = "Is the residual the mean over all points or that of the worst one?",
     AT(norm)},
    {.name = "tolerance",
     .type = RP_PROPERTY_NUMBER,
     .low = 0.0,
     .high = 1.0,
     .above_low = true,
     .otherwise = "1e-8",
     .sentence = "The residual at which a step ends, squared: docs/theory.md (G3).",
     AT(tolerance)},
    {.name = "sweeps",
     .type = RP_PROPERTY_NUMBER,
     .low = 2.0,
     .high = 1e6,
     .otherwise = "1000",
     .sentence = "Sweeps after which a step ends in any case.",
     AT(sweeps)},
    {.name = "substeps",
     .type = RP_PROPERTY_NUMBER,
     .low = 1.0,
     .high = 1e4,
     .otherwise = "1",
     .sentence = "The least number of steps in a frame; more are done where grains are fast.",
     AT(substeps)},
    {.name = "viscosity",
     .type = RP_PROPERTY_NUMBER,
     .unit = "m^2/s",
     .low = 0.0,
     .high = INFINITY,
     .below_high = true,
     .otherwise = "0",
     .sentence = "Kinematic viscosity, besides friction.",
     AT(viscosity)},
    {.name = "debonding",
     .type = RP_PROPERTY_NUMBER,
     .low = 0.0,
     .high = INFINITY,
     .below_high = true,
     .otherwise = "2",
     .sentence = "How much of its cohesion sand loses for every unit of shear.",
     AT(debonding)},
};

static rp_result nonsmooth_create(const rp_world_def *def, const rp_allocator *a, void **state)
{
    nonsmooth_state *s = rp_new(a, sizeof *s, "the nonsmooth solver");
    *state = s;
    if (s == NULL) {
        return RP_ERR_MEMORY;
    }
    s->allocator = a;
    s->fps = def->fps;
    s->pull = size_of(def->gravity);
    return RP_OK;
}

static void nonsmooth_destroy(void *state, const rp_allocator *a)
{
    nonsmooth_state *s = state;
    rp_walls_free(&s->walls, a);
    rp_buffer_free(&s->warm, a);
    rp_node_numbers_free(&s->numbers, a);
    rp_delete(a, s, sizeof *s);
}

static void nonsmooth_register(void *state, rp_registry *registry)
{
    nonsmooth_state *s = state;
    rp_registry_add(registry, "nonsmooth/record", &s->record, sizeof s->record);
    rp_registry_add_array(registry, "nonsmooth/stress", &s->warm, s->allocator, &s->warms,
                          sizeof(rp_node_stress));
}

static void nonsmooth_needs(const rp_world_def *def, rp_needs *needs)
{
    (void)def;
    *needs = (rp_needs){.columns = 1u << RP_COL_VELOCITY | 1u << RP_COL_AFFINE | 1u << RP_COL_BOND,
                        .orders = 1u << 1,
                        .grid = true,
                        .push_out = true};
    needs->channel[RP_CH_MOMENTUM] = (rp_channel){"momentum", RP_QUAD, NULL};
}

// The acceleration that units are made from: gravity, or that of the Earth where there is none.
static double pull_of(const nonsmooth_state *s, const rp_step *step)
{
    const double now = size_of(step->gravity);
    return now > 0.0 ? now : s->pull > 0.0 ? s->pull : 9.81;
}

// The fastest grain may cross `cfl` cells in a step, docs/theory.md (G5). One at rest may fall.
static int nonsmooth_limits(void *state, const rp_step *step, rp_limit out[RP_LIMITS_MOST])
{
    const nonsmooth_state *s = state;
    const options *o = step->option;
    const double h = step->grid->layout.h;
    const double speed = fmax(s->record.speed, step->newborn_speed);
    const double falls = sqrt(pull_of(s, step) * h);
    int n = 0;
    out[n++] = (rp_limit){"speed", step->cfl * h / fmax(speed, falls)};
    if (o->substeps > 1.0) {
        out[n++] = (rp_limit){"substeps", 1.0 / (s->fps * o->substeps)};
    }
    return n;
}

static void velocities_of_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_grid *grid = l->step->grid;
    const uint32_t *number = rp_nodes_numbers(&l->state->numbers, grid, (rp_local)page);
    for (int n = 0; n < grid->layout.nodes; n++) {
        for (int a = 0; a < l->f.dim && number[n] != RP_NO_NUMBER; a++) {
            write_node(grid, (rp_local)page, n, a,
                       l->f.u[((size_t)number[n] + 1) * 4 + (size_t)a] * l->h / l->time);
        }
    }
}

// ---- the step ----

// Parts of a step, in the order of rp_solver.stage below.
typedef enum stage { SORT, ASSEMBLE, SOLVE, G2P } stage;

// Particles are looked for by cell, so that sets are sorted whenever anything has moved.
static rp_result nonsmooth_prepare(void *state, rp_step *step)
{
    (void)state;
    if (!rp_comm_alone(step->comm)) {
        return rp_fail(RP_ERR_UNSUPPORTED, "method nonsmooth cannot be cut into ranks yet");
    }
    for (int c = 0; c < step->colliders; c++) {
        if (step->collider[c].free && step->collider[c].contact == RP_STICKY) {
            return rp_fail(RP_ERR_UNSUPPORTED,
                           "rigid.contact: method nonsmooth has no sticky bodies yet, and '%s' is "
                           "one; want separate or slip",
                           step->collider[c].name);
        }
    }
    bool build = step->grid->pages == 0;
    for (int s = 0; s < step->species_count; s++) {
        rp_set *set = &step->set[s];
        if (rp_set_wants_sort(set) || set->travel > 0.0) {
            rp_grid_forget(step->grid); // of other pages from now on, also when a later sort fails
            RP_TRY(rp_set_sort(set, &step->grid->arena[s], step->threads));
            step->stats->sorts++;
            build = true;
        }
    }
    return build ? rp_grid_build(step->grid, step->set, step->species_count) : RP_OK;
}

// Room in the scratch memory of the step, for `count` of something.
#define GET(pointer, count, what)                                                                  \
    do {                                                                                           \
        (pointer) = rp_scratch_get(step->scratch, (size_t)(count) * sizeof *(pointer), (what));    \
        if ((pointer) == NULL) {                                                                   \
            return RP_ERR_MEMORY;                                                                  \
        }                                                                                          \
    } while (0)

// Components of the ways in which a cell can bend.
static int bends_of(int dim) { return dim == 3 ? 12 : 2; }

// Units, and room for all that does not depend on how many nodes there are.
static rp_result get_ready(loops *l)
{
    rp_step *step = l->step;
    const rp_layout *layout = &step->grid->layout;
    const size_t pages = (size_t)step->grid->pages, nodes = pages * (size_t)layout->nodes;
    size_t grains = 0, particle_pages = 0, most_pages = 0;
    l->h = layout->h;
    l->f.dim = layout->dim;
    for (int s = 0; s < step->species_count; s++) {
        const rp_set *set = &step->set[s];
        l->first_grain[s] = grains;
        l->first_page[s] = particle_pages;
        most_pages = (size_t)set->pages > most_pages ? (size_t)set->pages : most_pages;
        if (counts(set)) {
            grains += (size_t)set->slots;
            particle_pages += (size_t)set->pages;
            for (rp_local g = 0; g < set->groups; g++) {
                const rp_group *group = &rp_set_group(set)[g];
                l->density = fmax(l->density, group->mass / group->volume);
            }
        }
    }
    l->density = l->density > 0.0 ? l->density : 1.0;
    const double pull = pull_of(l->state, step);
    l->time = sqrt(l->h / pull);
    l->pressure = l->density * pull * l->h;
    for (int a = 0; a < layout->dim; a++) {
        l->push[a] = step->gravity[a] * step->dt * l->time / l->h;
    }
    l->least = rp_least_node_mass(step);
    GET(l->grain, grains, "grains");
    GET(l->cell, particle_pages * (size_t)(layout->nodes + 1), "cells of pages");
    GET(l->sum, nodes, "sums at nodes");
    GET(l->room, nodes, "room at nodes");
    GET(l->smooth, nodes, "walls of nodes");
    GET(l->dropped, pages, "dropped momentum per page");
    GET(l->report, most_pages, "page reports");
    GET(l->near, pages, "pages around pages");
    for (int s = 0; s < step->species_count; s++) {
        GET(l->inside[s], pages, "particles of node pages");
        memset(l->inside[s], 0xff, pages * sizeof *l->inside[s]);
        for (rp_local p = 0; p < step->set[s].pages; p++) {
            l->inside[s][rp_set_page(&step->set[s])[p].near[RP_NEAR_SELF]] = (uint32_t)p;
        }
    }
    RP_TRY(rp_find_push(step, &l->field));
    RP_TRY(rp_touches_find(&l->touches, &l->state->walls, step->collider, step->colliders, true,
                           step->grid, step->threads, step->scratch));
    for (rp_local p = 0; p < step->grid->pages; p++) {
        const int32_t most = rp_touches_most(&l->touches, step->grid, p);
        l->list_most = most > l->list_most ? most : l->list_most;
    }
    GET(l->list, (size_t)step->threads * (size_t)l->list_most, "walls of nodes");

    rp_friction_problem *f = &l->f;
    f->pages = step->grid->pages;
    l->cells = ((const options *)step->option)->stress == STRESS_CELL;
    f->links = l->cells ? 1 << layout->dim : layout->dim == 3 ? 27 : 9;
    f->size = rp_sym_comps(layout->dim) + (l->cells ? bends_of(layout->dim) : 0);
    f->dt = step->dt / l->time;
    GET(f->page_chunk, pages + 1, "pages of points");
    GET(f->page_grip, pages + 1, "pages of walls");
    GET(f->page_node, pages + 1, "pages of nodes");
    GET(f->in_colour, pages, "colours of pages");
    return RP_OK;
}

// Everything in the problem whose size is known once nodes are numbered.
static rp_result make_room(loops *l)
{
    rp_step *step = l->step;
    rp_friction_problem *f = &l->f;
    const rp_grid *grid = step->grid;
    RP_TRY(rp_nodes_number(&l->state->numbers, grid, 0.0));
    f->nodes = l->state->numbers.count;
    GET(l->place, f->nodes, "places of nodes");
    f->page_chunk[0] = f->page_grip[0] = f->page_node[0] = 0;
    for (rp_local p = 0; p < grid->pages; p++) {
        const uint32_t *number = rp_nodes_numbers(&l->state->numbers, grid, p);
        f->page_node[p + 1] = f->page_node[p];
        for (int n = 0; n < grid->layout.nodes; n++) {
            if (number[n] != RP_NO_NUMBER) {
                l->place[f->page_node[p + 1]++] =
                    (size_t)p * (size_t)grid->layout.nodes + (size_t)n;
            }
        }
        f->page_chunk[p + 1] = f->page_chunk[p] + rp_loops_chunks(l, p, NULL, &f->points);
        f->page_grip[p + 1] += f->page_grip[p];
    }
    f->chunks = f->page_chunk[grid->pages];
    f->grips = f->page_grip[grid->pages];
    rp_loops_colour(l);
    const size_t chunks = (size_t)f->chunks, eight = chunks * RP_CHUNK, size = (size_t)f->size;
    GET(f->u, rp_friction_velocities(f) * 4, "velocities");
    GET(f->start, rp_friction_velocities(f) * 4, "velocities");
    GET(f->grip, f->grips, "walls of nodes");
    GET(f->lanes, chunks, "stress points");
    GET(f->point, eight, "stress points");
    GET(f->link, eight * (size_t)f->links, "links of stress points");
    GET(f->lambda, eight * size, "stresses");
    if (l->cells) {
        GET(f->bulk, eight, "stress points");
    }
    if (!l->cells || ((const options *)step->option)->solver == GAUSS_SEIDEL) {
        GET(f->block, eight * (size * (size + 1) / 2), "blocks of stress points");
    }
    GET(f->per, eight * 2, "stress points");
    GET(f->mu, eight, "stress points");
    GET(f->k, eight, "stress points");
    GET(f->thick, eight, "stress points");
    GET(f->glue, eight, "stress points");
    GET(f->scale, eight, "stress points");
    GET(f->off_at, chunks, "stress points");
    memset(f->off_at, 0, chunks * sizeof *f->off_at);
    int32_t walled = 0;
    rp_local again = 0;
    for (rp_local p = 0; p < grid->pages; p++) {
        (void)rp_loops_chunks(l, p, f->off_at + f->page_chunk[p], &again);
    }
    for (size_t c = 0; c < chunks; c++) {
        f->off_at[c] = f->off_at[c] > 0 ? walled++ : -1;
    }
    const size_t off = (size_t)walled * RP_OFF_MOST * size * RP_CHUNK;
    GET(f->off, off, "shears at walls");
    memset(f->off, 0, off * sizeof *f->off);
    memset(f->start, 0, 4 * sizeof(double));
    const size_t bytes = (size_t)f->points * sizeof(rp_node_stress);
    return l->state->warm.bytes < bytes
               ? rp_buffer_reserve(&l->state->warm, l->state->allocator, bytes + bytes / 4,
                                   (size_t)l->state->warms * sizeof(rp_node_stress),
                                   "stresses of nodes")
               : RP_OK;
}

// What the field of accelerations does to nodes, which come in key order.
static void note_drive(const loops *l)
{
    const rp_grid *grid = l->step->grid;
    const size_t nodes = (size_t)grid->pages * (size_t)grid->layout.nodes;
    for (size_t n = 0; n < nodes; n++) {
        const double mass = l->sum[n].mass * mass_unit(l);
        double v[3] = {0};
        for (int a = 0; a < l->f.dim && mass > l->least; a++) {
            v[a] = l->sum[n].momentum[a] / l->sum[n].mass * l->h / l->time + 0.5 * l->field[n][a];
        }
        if (mass > l->least) {
            rp_drive_add(&l->step->drive, l->f.dim, mass, l->field[n], v);
        }
    }
}

static rp_result assemble(loops *l)
{
    rp_step *step = l->step;
    const rp_local pages = step->grid->pages;
    RP_TRY(get_ready(l));
    for (l->set = 0; l->set < step->species_count; l->set++) {
        if (counts(&step->set[l->set])) {
            rp_parallel_for(step->threads, step->set[l->set].pages, 4, rp_loops_grains, l);
        }
    }
    rp_parallel_for(step->threads, pages, 16, rp_loops_near, l);
    rp_parallel_for(step->threads, pages, 4, rp_loops_sums, l);
    rp_parallel_for(step->threads, pages, 4, rp_loops_walls, l);
    RP_TRY(make_room(l));
    rp_parallel_for(step->threads, pages, 4, rp_loops_points, l);
    rp_parallel_for(step->threads, pages, 4, rp_loops_start, l);
    if (l->field != NULL) {
        note_drive(l);
    }
    return rp_loops_bodies_begin(l);
}

static rp_result solve(loops *l)
{
    rp_step *step = l->step;
    const options *o = step->option;
    const rp_friction_wish wish = {.tolerance = o->tolerance,
                                   .sweeps = (int)o->sweeps,
                                   .accelerate = o->solver == ANDERSON,
                                   .exact = o->solver == GAUSS_SEIDEL,
                                   .largest = o->norm == NORM_MAX,
                                   .lead = l->led.rigids.free > 0 ? rp_loops_bodies_answer : NULL,
                                   .context = l,
                                   .threads = step->threads};
    char *memory;
    GET(memory, rp_friction_bytes(&l->f), "the friction problem");
    const rp_friction_outcome out = rp_friction_solve(&l->f, l->k, &wish, memory);
    step->stats->extra[0] = out.sweeps;
    step->stats->extra[1] = out.residual;
    if (isnan(out.residual)) {
        double x[3];
        rp_layout_node(&step->grid->layout, rp_grid_page(step->grid)[out.worst_page].block,
                       (int)out.worst - 1, x);
        return rp_fail(RP_ERR_DIVERGED,
                       "the stress at (%g, %g, %g) m is no number in step %lld of dt %g s, "
                       "bounded by %s: the state is no longer physical",
                       x[0], x[1], x[2], (long long)step->time.step, step->dt,
                       step->stats->limiter);
    }
    if (!(out.residual < wish.tolerance)) {
        double x[3];
        rp_layout_node(&step->grid->layout, rp_grid_page(step->grid)[out.worst_page].block,
                       (int)out.worst - 1, x);
        if (l->state->record.missed == 0.0) {
            rp_log(RP_LOG_WARNING,
                   "step %lld ended after %d sweeps with residual %.3g, above its tolerance of %g; "
                   "the "
                   "worst is near (%g, %g, %g) m. Further ones are counted (stats.csv: missed)",
                   (long long)step->time.step, out.sweeps, out.residual, wish.tolerance, x[0], x[1],
                   x[2]);
        }
        l->state->record.missed += 1.0;
    }
    step->stats->extra[2] = l->state->record.missed;
    rp_loops_bodies_settle(l);
    return RP_OK;
}

typedef struct moving {
    loops *l;
    rp_transfer_job job;
} moving;

static void g2p_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const moving *m = context;
    m->l->step->kernels->g2p(&m->job, (rp_local)page, &m->l->report[page]);
}

// Particles of one species move; the fastest and the most sheared of all of them.
static rp_result move_species(loops *l, int species, double *speed2, double *gradient2)
{
    rp_step *step = l->step;
    rp_set *set = &step->set[species];
    moving m = {.l = l,
                .job = {.set = set,
                        .set_index = species,
                        .grid = step->grid,
                        .dt = step->dt,
                        .transfer = RP_APIC,
                        .gradient = RP_GRADIENT_SPLINE,
                        .seed = step->seed,
                        .step = (uint64_t)step->time.step}};
    double farthest = 0.0;
    rp_parallel_for(step->threads, set->pages, 4, g2p_page, &m);
    for (rp_local p = 0; p < set->pages; p++) {
        if (l->report[p].bad) {
            return rp_solver_blame(step, set, p);
        }
        *speed2 = fmax(*speed2, l->report[p].speed2);
        *gradient2 = fmax(*gradient2, l->report[p].gradient2);
        farthest = fmax(farthest, l->report[p].move);
    }
    rp_set_travelled(set, farthest);
    return RP_OK;
}

static rp_result nonsmooth_step(void *state, rp_step *step)
{
    double since = rp_seconds(), speed2 = 0.0, gradient2 = 0.0, rubbed = 0.0;
    RP_TRY(nonsmooth_prepare(state, step));
    rp_stage_done(step, SORT, &since);

    loops l = {.step = step,
               .state = state,
               .k = rp_friction_kernels_find(step->grid->layout.dim, step->kernels->isa)};
    RP_TRY(assemble(&l));
    rp_stage_done(step, ASSEMBLE, &since);

    RP_TRY(solve(&l));
    rp_parallel_for(step->threads, step->grid->pages, 16, velocities_of_page, &l);
    rp_loops_keep(&l);
    rp_loops_give(&l);
    RP_TRY(rp_touches_sum(&l.touches, step->grid, step->body, &rubbed));
    rp_led_meet(&l.led);
    for (rp_local p = 0; p < step->grid->pages; p++) {
        step->stats->dropped_momentum += l.dropped[p];
    }
    rp_stage_done(step, SOLVE, &since);

    for (int i = 0; i < step->species_count; i++) {
        RP_TRY(move_species(&l, i, &speed2, &gradient2));
    }
    l.state->record.speed = step->stats->max_speed = sqrt(speed2);
    step->stats->max_gradient = sqrt(gradient2);
    rp_stage_done(step, G2P, &since);
    return RP_OK;
}

const rp_solver rp_solver_nonsmooth = {
    .info = {.name = "nonsmooth",
             .sentence = "Rigid grains with exact friction, in steps of a frame.",
             .built = true,
             .materials = 1u << RP_SAND | 1u << RP_TRACER,
             .regard = {[RP_FEATURE_HARDENING] = RP_MEANINGLESS,
                        [RP_FEATURE_STIFFNESS] = RP_MEANINGLESS,
                        [RP_FEATURE_VOLUME_CORRECTION] = RP_MEANINGLESS,
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
                        [RP_FEATURE_FRACTURE] = RP_IMPOSSIBLE,
                        [RP_FEATURE_PRESTRESS] = RP_MEANINGLESS},
             .why = {[RP_FEATURE_MIXTURE] = "use method mixture",
                     [RP_FEATURE_PERMEABLE] = "use method mixture",
                     [RP_FEATURE_HARDENING] = "friction stays what `friction_angle` makes it",
                     [RP_FEATURE_DILATION] = "use method explicit",
                     [RP_FEATURE_VISCOSITY] = "use method explicit",
                     [RP_FEATURE_ENERGY] = "use method explicit",
                     [RP_FEATURE_BODIES] = "use method explicit",
                     [RP_FEATURE_FRACTURE] = "use method explicit"},
             .option = option,
             .options = sizeof option / sizeof option[0]},
    .stage = {"sort", "assemble", "solve", "g2p"},
    .extra = {"sweeps", "residual", "missed"},
    .needs = nonsmooth_needs,
    .create = nonsmooth_create,
    .limits = nonsmooth_limits,
    .prepare = nonsmooth_prepare,
    .step = nonsmooth_step,
    .state = nonsmooth_register,
    .destroy = nonsmooth_destroy,
};
