// The explicit step (Klar 2016, section 5): transfer, forces, contact, transfer back, strain and
// plasticity. Symplectic Euler: forces from the old strain, positions from the new velocity.
#include "base/clock.h"
#include "base/result.h"
#include "base/threads.h"
#include "collide/samples.h"
#include "solver/blame.h"
#include "solver/common.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef enum contact_choice { CONTACT_NODES, CONTACT_SURFACE } contact_choice;

typedef struct options {
    contact_choice contact_at;
} options;
_Static_assert(sizeof(options) <= sizeof(((rp_world_def *)0)->option), "room for options");

static const char *const contact_names[] = {"nodes", "surface", NULL};
static const rp_property option[] = {
    {.name = "contact_at",
     .type = RP_PROPERTY_CHOICE,
     .choices = contact_names,
     .otherwise = "\"nodes\"",
     .sentence = "Where colliders act: at the nodes that they hold, or by impulses at places of "
                 "their surface, finer than a cell. The latter presses and rubs alike wherever a "
                 "wall lies in its cell and however it is turned, and costs more; not with rigid "
                 "bodies, bodies that touch each other, colliders that deform, several ranks or "
                 "an account of energy.",
     .offset = offsetof(options, contact_at)},
};

// Plates of so many cells with sand on both sides carry what thick ones do, docs/theory.md (W5)
static const double SURFACE_PARTS = 2.0;

static bool at_surface(const void *chosen)
{
    return ((const options *)chosen)->contact_at == CONTACT_SURFACE;
}

// Fastest particle and steepest gradient after the last step: they bound the next one, so they are
// state.
typedef struct extremes {
    double speed;    // [m/s]
    double gradient; // [1/s]
} extremes;

typedef struct explicit_state {
    extremes most;
    rp_walls walls;       // not saved: what it holds can be worked out again
    rp_meeting_plan plan; // likewise
    rp_samples samples;   // what impulses begin with: state
    const rp_allocator *allocator;
    double told; // the largest share of nodes that a warning has named
} explicit_state;

static rp_result explicit_create(const rp_world_def *def, const rp_allocator *a, void **state)
{
    (void)def;
    explicit_state *s = rp_new(a, sizeof *s, "the explicit solver");
    *state = s;
    if (s == NULL) {
        return RP_ERR_MEMORY;
    }
    s->allocator = a;
    return RP_OK;
}

static void explicit_destroy(void *state, const rp_allocator *a)
{
    rp_walls_free(&((explicit_state *)state)->walls, a);
    rp_samples_free(&((explicit_state *)state)->samples, a);
    rp_meeting_plan_free(&((explicit_state *)state)->plan, a);
    rp_delete(a, state, sizeof(explicit_state));
}

static void explicit_register(void *state, rp_registry *registry)
{
    explicit_state *s = state;
    rp_registry_add(registry, "explicit/extremes", &s->most, sizeof s->most);
    rp_registry_add_array(registry, "explicit/walls", &s->samples.warm, s->allocator,
                          &s->samples.warms, sizeof(rp_warm));
}

static rp_result refuse_surface(const char *what)
{
    return rp_fail(RP_ERR_UNSUPPORTED,
                   "explicit.contact_at: want \"nodes\" where there are %s, got \"surface\"", what);
}

// What contact at surfaces cannot do.
static rp_result explicit_honours(const rp_world_def *def, rp_feature feature)
{
    static const char *const what[RP_FEATURE_COUNT] = {
        [RP_FEATURE_BODIES] = "bodies that touch each other",
        [RP_FEATURE_RIGID] = "rigid bodies",
        [RP_FEATURE_DEFORMING] = "colliders that deform",
        [RP_FEATURE_FRACTURE] = "bodies that break",
        [RP_FEATURE_ENERGY] = "an account of energy"};
    return at_surface(def->option) && what[feature] != NULL ? refuse_surface(what[feature]) : RP_OK;
}

static rp_result explicit_check(const rp_world_def *def)
{
    return at_surface(def->option) && def->fields > 1 ? refuse_surface("several velocity fields")
                                                      : RP_OK;
}

// FLIP needs the velocity before the forces, and so does the account of energy: forces are then
// scattered apart.
static void explicit_needs(const rp_world_def *def, rp_needs *needs)
{
    const unsigned affine = rp_transfer_is_affine(def->transfer) ? 1u << RP_COL_AFFINE : 0u;
    const unsigned depth = def->contact ? 1u << RP_COL_DEPTH : 0u; // surfaces of bodies
    *needs = (rp_needs){.columns = 1u << RP_COL_VELOCITY | affine | depth,
                        .orders = 1u << 1 | 1u << 2 | 1u << 3,
                        .grid = true,
                        .parted = at_surface(&def->option) ? SURFACE_PARTS : 0.0,
                        .push_out = true};
    needs->channel[RP_CH_MOMENTUM] = (rp_channel){"momentum", RP_QUAD, RP_FROM_ALL_WITH_MASS};
    if (rp_transfer_keeps(def->transfer) || def->energy || at_surface(&def->option)) {
        needs->channel[RP_CH_IMPULSE] = (rp_channel){"impulse", RP_QUAD, RP_FROM_ALL_WITH_MASS};
    }
}

// docs/theory.md (30) to (32), and (51) for what resists the rate of deformation
static int explicit_limits(void *state, const rp_step *step, rp_limit out[RP_LIMITS_MOST])
{
    const explicit_state *s = state;
    const double h = step->grid->layout.h;
    // spread of the stencil's spectrum: largest eigenvalue of the discrete Laplacian in units of 1
    // / h^2
    static const double spectrum[][4] = {
        [RP_GRADIENT_SPLINE] = {[1] = 12.0, [2] = 6.0, [3] = 3.14},
        [RP_GRADIENT_AFFINE] = {[1] = 12.0, [2] = 4.0, [3] = 3.0},
    };
    static const double gradient_bound = 0.3;
    const double speed = fmax(s->most.speed, step->newborn_speed);
    const double gradient = fmax(s->most.gradient, step->newborn_gradient);
    int n = 0;
    if (speed > 0.0) {
        out[n++] = (rp_limit){"speed", step->cfl * h / speed};
    }
    if (gradient > 0.0) {
        out[n++] = (rp_limit){"gradient", gradient_bound / gradient};
    }
    double stiffness = 0.0, viscosity = 0.0;
    for (int i = 0; i < step->species_count; i++) {
        stiffness = fmax(stiffness, step->species[i].stiffness);
        viscosity = fmax(viscosity, step->species[i].viscosity);
    }
    const double wide = spectrum[step->gradient][step->grid->layout.order];
    if (stiffness > 0.0) {
        const double fastest = sqrt(wide * stiffness);
        out[n++] = (rp_limit){"elastic", 2.0 * step->elastic_share * h / fastest};
    }
    if (viscosity > 0.0) {
        out[n++] = (rp_limit){"viscous", step->elastic_share * h * h / (wide * viscosity)};
    }
    return n;
}

// Numbers of contact at surfaces, rp_solver.extra.
enum { WALL_SWEEPS, WALL_UNSETTLED };

// What particles scatter into.
enum { CHANNELS = 1 << RP_CH_MOMENTUM | 1 << RP_CH_IMPULSE };

// Shared by the loops of one step; `report` and `dropped` are written per page.
typedef struct loops {
    rp_step *step;
    rp_transfer_job job;
    rp_page_report *report; // [particle page]
    double *dropped;        // [node page]
    double (*push)[3]; // [node page][node]: what the field of accelerations adds [m/s]; or NULL
    rp_drive *drive;   // [node page]: what that comes to; NULL where there is no field
    rp_touches touches;
    rp_meetings meetings; // of bodies of particles, where they have velocities of their own
    int glued;            // the species of glue; -1: there is none
    rp_glue glue;
    rp_rigids rigids;
    double (*forced)[3]; // [node page][node]: velocities before contact; NULL: nobody asks
    rp_ledger *ledger;   // [node page]; NULL: nobody asks
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
                             .fall_rate = rp_fall_rate(step),
                             .transfer = step->transfer,
                             .gradient = step->gradient,
                             .kept = rp_kept_share(step),
                             .seed = step->seed,
                             .step = (uint64_t)step->time.step,
                             .account = step->ledger != NULL};
}

static void p2g_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    const loops *l = ctx;
    l->step->kernels->p2g(&l->job, (rp_local)page);
}

static void g2p_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    const loops *l = ctx;
    l->step->kernels->g2p(&l->job, (rp_local)page, &l->report[page]);
}

static double node_at(const rp_grid *grid, int channel, rp_local page, int n, int comp)
{
    const void *nodes = rp_grid_nodes(grid, channel, page);
    const int at = n * RP_QUAD + comp;
    return grid->layout.precision == RP_SINGLE ? (double)((const float *)nodes)[at]
                                               : ((const double *)nodes)[at];
}

static void add_push(const loops *l, rp_local page)
{
    const rp_grid *grid = l->step->grid;
    const rp_layout *layout = &grid->layout;
    const double least = rp_least_node_mass(l->step);
    void *nodes = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    for (int n = 0; n < layout->nodes; n++) {
        const double *push = l->push[(size_t)page * (size_t)layout->nodes + (size_t)n];
        for (int a = 0; a < layout->dim; a++) {
            if (layout->precision == RP_SINGLE) {
                float *q = (float *)nodes + n * RP_QUAD;
                q[a] += q[3] > (float)least ? (float)push[a] : 0.0f;
            } else {
                double *q = (double *)nodes + n * RP_QUAD;
                q[a] += q[3] > least ? push[a] : 0.0;
            }
        }
    }
}

// What the field of accelerations did to a page's nodes. It works with their velocity at the end:
// then it does nothing to what is held against it.
static void note_drive(const loops *l, rp_local page)
{
    const rp_grid *grid = l->step->grid;
    const int nodes = grid->layout.nodes, dim = grid->layout.dim;
    const double least = rp_least_node_mass(l->step);
    l->drive[page] = (rp_drive){0};
    for (int n = 0; n < nodes; n++) {
        const double m = node_at(grid, RP_CH_MOMENTUM, page, n, 3);
        double v[3] = {0};
        for (int a = 0; a < dim; a++) {
            v[a] = node_at(grid, RP_CH_MOMENTUM, page, n, a);
        }
        if (m > least) {
            rp_drive_add(&l->drive[page], dim, m, l->push[(size_t)page * (size_t)nodes + (size_t)n],
                         v);
        }
    }
}

// What a page's nodes do in the step, docs/theory.md (42). An impulse works with the mean of the
// velocities before and after: then what a floor holds at rest costs nothing.
static void keep_account(const loops *l, rp_local page)
{
    const rp_grid *grid = l->step->grid;
    rp_ledger *own = &l->ledger[page];
    double(*forced)[3] = l->forced + (size_t)page * (size_t)grid->layout.nodes;
    *own = (rp_ledger){0};
    for (int n = 0; n < grid->layout.nodes; n++) {
        const double m = node_at(grid, RP_CH_MOMENTUM, page, n, 3);
        const double *push =
            l->push != NULL ? l->push[(size_t)page * (size_t)grid->layout.nodes + (size_t)n] : NULL;
        for (int a = 0; a < grid->layout.dim && m > 0.0; a++) {
            const double before = node_at(grid, RP_CH_IMPULSE, page, n, a);
            const double after = node_at(grid, RP_CH_MOMENTUM, page, n, a);
            const double mean = 0.5 * (before + after);
            own->before += 0.5 * m * before * before;
            own->after += 0.5 * m * after * after;
            own->contact += m * (forced[n][a] - after) * mean;
            own->field += push != NULL ? m * push[a] * mean : 0.0;
        }
    }
}

// Velocities from forces.
static void force_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    const loops *l = ctx;
    const rp_step *step = l->step;
    const rp_grid *grid = step->grid;
    double push[3];
    for (int a = 0; a < 3; a++) {
        push[a] = step->gravity[a] * step->dt;
    }
    step->kernels->sum(grid, step->set, step->species_count, CHANNELS, (rp_local)page);
    l->dropped[page] =
        step->kernels->velocity(grid, (rp_local)page, push, rp_least_node_mass(step));
    if (l->push != NULL) {
        add_push(l, (rp_local)page);
    }
    for (int n = 0; n < grid->layout.nodes && l->ledger != NULL; n++) {
        for (int a = 0; a < grid->layout.dim; a++) {
            l->forced[(size_t)page * (size_t)grid->layout.nodes + (size_t)n][a] =
                node_at(grid, RP_CH_MOMENTUM, (rp_local)page, n, a);
        }
    }
}

// Contact with colliders that go their own way.
static void contact_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    const loops *l = ctx;
    const rp_step *step = l->step;
    const rp_grid *grid = step->grid;
    if (!at_surface(step->option)) {
        rp_touches_apply(&l->touches, grid, (rp_local)page, step->dt);
    }
    if (l->ledger != NULL) {
        keep_account(l, (rp_local)page);
    }
    if (l->drive != NULL) {
        note_drive(l, (rp_local)page);
    }
    if (rp_grid_has(grid, RP_CH_IMPULSE)) {
        step->kernels->keep(grid, (rp_local)page, rp_kept_share(step));
    }
}

static void grid_page(void *ctx, int64_t page, int thread)
{
    force_page(ctx, page, thread);
    contact_page(ctx, page, thread);
}

// Nodes that no free body reaches are done while they are in the cache; the others wait for it.
static void early_page(void *ctx, int64_t page, int thread)
{
    const loops *l = ctx;
    (rp_rigids_reach(&l->rigids, (rp_local)page) ? force_page : grid_page)(ctx, page, thread);
}

static void late_page(void *ctx, int64_t index, int thread)
{
    const loops *l = ctx;
    contact_page(ctx, l->rigids.page[index], thread);
}

// All pages of a block, and where bodies of particles share its nodes. What nobody shares is done
// while it is in the cache.
static void force_block(void *ctx, int64_t index, int thread)
{
    const loops *l = ctx;
    const rp_node_block *block = &rp_grid_block(l->step->grid)[index];
    const bool alone = block->count == 1 && l->rigids.free == 0;
    for (rp_local p = block->first; p < block->first + block->count; p++) {
        (alone ? grid_page : force_page)(ctx, p, thread);
    }
    rp_meetings_look(&l->meetings, (rp_local)index, thread);
}

static void order_crowd(void *ctx, int64_t index, int thread)
{
    const loops *l = ctx;
    rp_meetings_order(&l->meetings, (rp_local)index, thread);
}

static void meet_block(void *ctx, int64_t index, int thread)
{
    const loops *l = ctx;
    const rp_local b = rp_meetings_block(&l->meetings, (rp_local)index);
    const rp_node_block *block = &rp_grid_block(l->step->grid)[b];
    rp_meetings_apply(&l->meetings, b, thread);
    for (rp_local p = block->first; p < block->first + block->count && l->rigids.free == 0; p++) {
        contact_page(ctx, p, thread);
    }
}

// The next step goes on from there, so that a little of it is only told by the statistics. Much is
// said once, and when it has doubled.
static void tell_unsettled(explicit_state *s, const rp_step *step, const rp_sample_report *report)
{
    step->stats->extra[WALL_SWEEPS] = report->sweeps;
    step->stats->extra[WALL_UNSETTLED] = report->unsettled;
    static const double much = 0.05;
    if (!report->settled && report->share > fmax(much, 2.0 * s->told)) {
        s->told = report->share;
        rp_log(
            RP_LOG_WARNING,
            "frame %lld, step %lld: after %d sweeps velocities at the surface of colliders still "
            "change by %.2g m/s, %.2g of what colliders change",
            (long long)step->time.frame + 1, (long long)step->time.step, report->sweeps,
            report->unsettled, report->share);
    }
}

// Free bodies need all of their nodes at once, and bodies of particles those around a block;
// without them a page is done while it is in the cache.
static rp_result update_nodes(explicit_state *s, loops *l, double *rubbed)
{
    const rp_step *step = l->step;
    const rp_local pages = step->grid->pages;
    if (at_surface(step->option)) {
        rp_sample_report report;
        rp_parallel_for(step->threads, pages, 16, force_page, l);
        RP_TRY(rp_samples_solve(&s->samples, step->collider, step->colliders, step->grid, step->set,
                                step->species_count, step->dt, step->body, step->scratch, &report));
        tell_unsettled(s, step, &report);
        rp_parallel_for(step->threads, pages, 16, contact_page, l);
        return RP_OK;
    }
    if (step->pairs != NULL) {
        const rp_meetings *m = &l->meetings;
        rp_parallel_for(step->threads, step->grid->blocks, 8, force_block, l);
        rp_parallel_for(step->threads, rp_meetings_crowds(m), 4, order_crowd, l);
        rp_parallel_for(step->threads, rp_meetings_blocks(m), 2, meet_block, l);
    } else {
        rp_parallel_for(step->threads, pages, 16, l->rigids.free > 0 ? early_page : grid_page, l);
    }
    if (l->rigids.free > 0) {
        rp_rigids_solve(&l->rigids, step->grid, step->threads, rubbed);
        const bool all = step->pairs != NULL;
        rp_parallel_for(step->threads, all ? pages : l->rigids.pages, 16,
                        all ? contact_page : late_page, l);
    }
    return RP_OK;
}

// Parts of a step, in the order of rp_solver.stage below.
typedef enum stage { SORT, P2G, GRID, G2P } stage;

static rp_result explicit_prepare(void *state, rp_step *step)
{
    (void)state;
    // what one rank must do all do: sort a species, build the grid
    double wants[RP_SET_LIMIT + 1] = {0};
    double *build = &wants[RP_SET_LIMIT];
    for (int s = 0; s < step->species_count; s++) {
        wants[s] = rp_set_wants_sort(&step->set[s]);
        *build = fmax(*build, step->grid->pages == 0 && step->set[s].pages > 0);
    }
    RP_TRY(rp_reduce_max(step->comm, wants, RP_SET_LIMIT + 1));
    for (int s = 0; s < step->species_count; s++) {
        if (wants[s] > 0.0) {
            rp_grid_forget(step->grid); // of other pages from now on, also when a later sort fails
            RP_TRY(rp_set_sort(&step->set[s], &step->grid->arena[s], step->threads));
            step->stats->sorts++;
            *build = 1.0;
        }
    }
    return *build > 0.0 ? rp_grid_build(step->grid, step->set, step->species_count) : RP_OK;
}

// All that can fail for lack of memory comes before particles change.
static rp_result get_ready(explicit_state *s, loops *l)
{
    rp_step *step = l->step;
    rp_local most_pages = 0;
    for (int i = 0; i < step->species_count; i++) {
        most_pages = step->set[i].pages > most_pages ? step->set[i].pages : most_pages;
    }
    l->dropped = rp_scratch_get(step->scratch, (size_t)step->grid->pages * sizeof *l->dropped,
                                "dropped momentum per page");
    l->report =
        rp_scratch_get(step->scratch, (size_t)most_pages * sizeof *l->report, "page reports");
    if (l->dropped == NULL || l->report == NULL) {
        return RP_ERR_MEMORY;
    }
    if (step->ledger != NULL) {
        l->ledger = rp_scratch_get(step->scratch, (size_t)step->grid->pages * sizeof *l->ledger,
                                   "energies of pages");
        l->forced = rp_scratch_get(step->scratch,
                                   (size_t)step->grid->pages * (size_t)step->grid->layout.nodes *
                                       sizeof *l->forced,
                                   "velocities before contact");
        if (l->ledger == NULL || l->forced == NULL) {
            return RP_ERR_MEMORY;
        }
    }
    RP_TRY(rp_find_push(step, &l->push));
    if (l->push != NULL) {
        l->drive = rp_scratch_get(step->scratch, (size_t)step->grid->pages * sizeof *l->drive,
                                  "work of the acceleration on pages");
        RP_TRY(l->drive != NULL ? RP_OK : RP_ERR_MEMORY);
    }
    if (step->pairs != NULL) {
        RP_TRY(rp_meetings_begin(&l->meetings, &s->plan, step->pairs, step->grid, step->species,
                                 step->species_count, step->dt, rp_least_node_mass(step),
                                 step->threads, step->scratch));
        RP_TRY(rp_pair_loads_reserve(step->pair_loads, step->grid->allocator, l->meetings.count));
    }
    l->glued = step->pairs != NULL ? rp_glue_find(step->species, step->species_count) : -1;
    if (l->glued >= 0) {
        RP_TRY(rp_glue_begin(&l->glue, step->grid, &step->set[l->glued], step->glue_rule, step->dt,
                             rp_least_node_mass(step), step->threads, step->scratch));
        l->meetings.glue = &l->glue;
    }
    RP_TRY(rp_rigids_find(&l->rigids, step->company, step->collider, step->colliders, step->body,
                          step->dt, step->grid, step->threads, step->scratch));
    RP_TRY(rp_touches_find(&l->touches, &s->walls, step->collider, step->colliders, false,
                           step->grid, step->threads, step->scratch));
    l->touches.set = step->set;
    l->touches.sets = step->species_count;
    return RP_OK;
}

// Sums over node pages, each counted by one rank.
static rp_result sum_nodes(const loops *l, double *rubbed)
{
    rp_step *step = l->step;
    const rp_grid *grid = step->grid;
    rp_sum dropped = {.comm = step->comm,
                      .allocator = grid->allocator,
                      .numbers = 1,
                      .context = &step->stats->dropped_momentum};
    rp_sum energies = {.comm = step->comm,
                       .allocator = grid->allocator,
                       .numbers = sizeof(rp_ledger) / sizeof(double),
                       .context = step->ledger};
    rp_sum drive = {.comm = step->comm,
                    .allocator = grid->allocator,
                    .numbers = sizeof(rp_drive) / sizeof(double),
                    .context = &step->drive};
    for (rp_local p = 0; p < grid->pages; p++) {
        const rp_node_page *page = &rp_grid_page(grid)[p];
        if (rp_grid_owns(grid, p)) {
            rp_sum_put(&dropped, page->key, page->field, 0, &l->dropped[p]);
        }
        if (l->ledger != NULL && rp_grid_owns(grid, p)) {
            rp_sum_put(&energies, page->key, page->field, 0, (const double *)&l->ledger[p]);
        }
        if (l->drive != NULL && rp_grid_owns(grid, p)) {
            rp_sum_put(&drive, page->key, page->field, 0, (const double *)&l->drive[p]);
        }
    }
    const rp_result light = rp_sum_end(&dropped);
    RP_TRY(l->ledger != NULL ? rp_sum_end(&energies) : RP_OK);
    RP_TRY(l->drive != NULL ? rp_sum_end(&drive) : RP_OK);
    RP_TRY(light);
    if (step->pairs != NULL) {
        rp_meetings_sum(&l->meetings, step->pair_loads, rubbed);
    }
    if (at_surface(step->option)) {
        return RP_OK; // colliders have it
    }
    return rp_touches_sum(&l->touches, grid, step->body, rubbed);
}

// Impulses of many bodies at a node may still change when sweeps end. That is said, and said again
// when it is so at twice as many of their nodes.
static void tell_restless(explicit_state *s, const loops *l)
{
    const rp_step *step = l->step;
    const rp_meeting_report report = rp_meetings_report(&l->meetings, step->threads);
    const double share = (double)report.restless / fmax((double)report.nodes, 1.0);
    if (share > 2.0 * s->told) {
        s->told = share;
        rp_log(RP_LOG_WARNING,
               "frame %lld, step %lld: impulses between bodies still change after %d sweeps at "
               "%lld of %lld nodes that they share",
               (long long)step->time.frame + 1, (long long)step->time.step, RP_NODE_SWEEPS,
               (long long)report.restless, (long long)report.nodes);
    }
}

// Particles of one species move; the fastest and the most sheared of all of them.
static rp_result move_species(loops *l, int species, double *speed2, double *gradient2)
{
    rp_step *step = l->step;
    rp_set *set = &step->set[species];
    rp_result result = RP_OK;
    double most[] = {*speed2, *gradient2, 0.0};
    l->job = transfer_job(step, species);
    rp_parallel_for(step->threads, set->pages, 4, g2p_page, l);
    rp_sum plastic = {.comm = step->comm,
                      .allocator = set->allocator,
                      .numbers = 1,
                      .context = step->ledger != NULL ? &step->ledger->plastic : NULL};
    for (rp_local p = 0; p < set->pages; p++) {
        if (l->report[p].bad) {
            result = rp_solver_blame(step, set, p);
            break;
        }
        most[0] = fmax(most[0], l->report[p].speed2);
        most[1] = fmax(most[1], l->report[p].gradient2);
        most[2] = fmax(most[2], l->report[p].move);
        if (step->ledger != NULL) {
            rp_sum_put(&plastic, rp_set_page(set)[p].key, rp_set_page(set)[p].field, 0,
                       &l->report[p].plastic);
        }
    }
    // ranks hold pages in key order, so that the lowest one has the page that one rank would blame
    result = rp_agree(step->comm, result, step->failure, sizeof *step->failure);
    if (result != RP_OK) {
        rp_buffer_free(&plastic.rows, set->allocator);
        return result;
    }
    RP_TRY(step->ledger != NULL ? rp_sum_end(&plastic) : RP_OK);
    RP_TRY(rp_reduce_max(step->comm, most, 3));
    rp_set_travelled(set, most[2]);
    *speed2 = most[0];
    *gradient2 = most[1];
    return RP_OK;
}

static rp_result explicit_step(void *state, rp_step *step)
{
    explicit_state *s = state;
    double since = rp_seconds();

    if (step->pairs != NULL && !rp_comm_alone(step->comm)) {
        return rp_fail(RP_ERR_UNSUPPORTED,
                       "bodies that touch each other (particles.body) cannot be "
                       "cut into ranks yet: their contact looks at particles");
    }
    RP_TRY(explicit_prepare(state, step));
    rp_stage_done(step, SORT, &since);

    if (at_surface(step->option) && !rp_comm_alone(step->comm)) {
        return refuse_surface("several ranks");
    }
    loops l = {.step = step};
    RP_TRY(rp_agree(step->comm, get_ready(s, &l), NULL, 0));
    for (int i = 0; i < step->species_count; i++) {
        if (rp_set_has_mass(&step->set[i])) {
            l.job = transfer_job(step, i);
            rp_parallel_for(step->threads, step->set[i].pages, 4, p2g_page, &l);
        }
    }
    RP_TRY(rp_halo_add(step->grid, step->set, CHANNELS));
    rp_stage_done(step, P2G, &since);

    double rubbed = 0.0;
    RP_TRY(update_nodes(s, &l, &rubbed));
    RP_TRY(sum_nodes(&l, &rubbed));
    if (step->pairs != NULL) {
        tell_restless(s, &l);
    }
    rp_stage_done(step, GRID, &since);

    double speed2 = 0.0, gradient2 = 0.0;
    for (int i = 0; i < step->species_count; i++) {
        if (i == l.glued) {
            rp_set_travelled(&step->set[i], rp_glue_move(&l.glue, step->threads));
        } else {
            RP_TRY(move_species(&l, i, &speed2, &gradient2));
        }
    }
    if (step->ledger != NULL) {
        step->ledger->rubbed = rubbed;
    }
    s->most.speed = step->stats->max_speed = sqrt(speed2);
    s->most.gradient = step->stats->max_gradient = sqrt(gradient2);
    rp_stage_done(step, G2P, &since);
    return RP_OK;
}

// Everything that has one velocity at a place, it honours.
const rp_solver rp_solver_explicit = {
    .info =
        {.name = "explicit",
         .sentence = "Elastic grains in short steps: any material, any collider, every detail of "
                     "the motion.",
         .built = true,
         .materials = ~0u,
         .option = option,
         .options = sizeof option / sizeof option[0],
         .regard = {[RP_FEATURE_MIXTURE] = RP_IMPOSSIBLE, [RP_FEATURE_PERMEABLE] = RP_IMPOSSIBLE},
         .why = {[RP_FEATURE_MIXTURE] = "use method mixture",
                 [RP_FEATURE_PERMEABLE] = "use method mixture"}},
    .stage = {"sort", "p2g", "grid", "g2p"},
    .extra = {[WALL_SWEEPS] = "wall_sweeps", [WALL_UNSETTLED] = "wall_unsettled_m_s"},
    .check = explicit_check,
    .honours = explicit_honours,
    .needs = explicit_needs,
    .create = explicit_create,
    .limits = explicit_limits,
    .prepare = explicit_prepare,
    .step = explicit_step,
    .state = explicit_register,
    .destroy = explicit_destroy,
};
