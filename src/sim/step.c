// Time: how long a step is, and frames that end exactly.
#include "base/result.h"
#include "base/threads.h"
#include "sim/probes.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double rp_world_time(const rp_world *world)
{
    return ((double)world->time.frame + world->time.part) / world->def.fps;
}

// Where particles are, with room for what they move between sorts.
static rp_result particle_box(const rp_world *world, double lower[3], double upper[3])
{
    const rp_layout *l = &world->grid.layout;
    for (int a = 0; a < 3; a++) {
        lower[a] = INFINITY;
        upper[a] = -INFINITY;
    }
    for (int s = 0; s < world->species_count; s++) {
        const rp_set *set = &world->set[s];
        for (rp_local p = 0; p < set->pages; p++) {
            const int32_t *block = rp_set_page(set)[p].block;
            for (int a = 0; a < l->dim; a++) {
                lower[a] = fmin(lower[a], l->h * (block[a] * l->cells[a] - 2));
                upper[a] = fmax(upper[a], l->h * ((block[a] + 1) * l->cells[a] + 4));
            }
        }
        for (rp_local i = 0; i < set->inbox.count; i++) {
            for (int a = 0; a < l->dim; a++) {
                const double x = *(double *)rp_set_birth(set, RP_COL_POSITION, i, a);
                lower[a] = fmin(lower[a], x - 2.0 * l->h);
                upper[a] = fmax(upper[a], x + 2.0 * l->h);
            }
        }
    }
    double corner[6];
    for (int a = 0; a < 3; a++) {
        corner[a] = -lower[a];
        corner[3 + a] = upper[a];
    }
    RP_TRY(rp_reduce_max(world->comm, corner, 6));
    for (int a = 0; a < 3; a++) {
        lower[a] = a < l->dim ? -corner[a] : 0.0;
        upper[a] = a < l->dim ? corner[3 + a] : 0.0;
    }
    return RP_OK;
}

static void limited_by(rp_world *world, const char *name)
{
    snprintf(world->stats.limiter, sizeof world->stats.limiter, "%s", name);
}

// A collider must not jump over particles. Motions may be anything, so the step is tried and made
// shorter, but never shorter than `floor`: one that leaps in no time at all is let go.
static rp_result bound_by_colliders(rp_world *world, double floor, double *least)
{
    const double cell = world->def.cfl * world->def.dx;
    double lower[3], upper[3];
    bool any = false;
    for (int i = 0; i < world->colliders; i++) {
        any = any || world->collider[i].moves;
    }
    if (!any) {
        return RP_OK;
    }
    RP_TRY(particle_box(world, lower, upper));
    while (*least > floor) {
        RP_TRY(rp_world_move_colliders(world, *least));
        const double way =
            rp_colliders_way(world->collider, world->colliders, world->def.dimension, lower, upper);
        if (!(way > cell)) {
            break;
        }
        *least = fmax(floor, *least * fmax(0.5, 0.999 * cell / way));
        limited_by(world, "collider");
    }
    return RP_OK;
}

double rp_world_least_limit(rp_world *world, const rp_step *step, double most)
{
    rp_limit limit[RP_LIMITS_MOST];
    const int limits = world->solver->limits(world->solver_state, step, limit);
    double least = fmin(world->def.dt_max, most);
    limited_by(world, "dt_max");
    for (int i = 0; i < limits; i++) {
        if (limit[i].dt < least) {
            least = limit[i].dt;
            limited_by(world, limit[i].name);
        }
    }
    return least;
}

rp_result rp_world_choose_dt(rp_world *world, rp_step *step, double *steps)
{
    const double left = (1.0 - world->time.part) / world->def.fps;
    double least = rp_world_least_limit(world, step, INFINITY);
    const double floor = least / 64.0;
    if (rp_world_rigid_limit(world) < least) {
        least = rp_world_rigid_limit(world);
        limited_by(world, "body");
    }
    least = fmin(least, left);
    bool mouth = false;
    RP_TRY(rp_world_bound_by_mouths(world, floor, &least, &mouth));
    if (mouth) {
        limited_by(world, "emitter");
    }
    RP_TRY(bound_by_colliders(world, floor, &least));
    if (least >= left && world->time.part == 0.0) {
        limited_by(world, "frame");
    }
    // rounding must not cost a whole step
    *steps = fmax(1.0, ceil(left / least * (1.0 - 1e-12)));
    step->dt = left / *steps;
    return RP_OK;
}

rp_result rp_world_gravity(const rp_world *world, double out[3])
{
    const rp_vector_of_time *f = &world->def.gravity_of_time;
    for (int a = 0; a < 3; a++) {
        out[a] = world->def.gravity[a];
    }
    if (f->call != NULL) {
        RP_TRY(f->call(f->context, rp_world_time(world), out));
    }
    for (int a = 0; a < world->def.dimension; a++) {
        if (!isfinite(out[a])) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "world.gravity_of_time gave %g along axis %d at t = %g s", out[a], a,
                           rp_world_time(world));
        }
    }
    return RP_OK;
}

rp_step rp_world_make_step(rp_world *world)
{
    return (rp_step){
        .species = world->species,
        .set = world->set,
        .species_count = world->species_count,
        .grid = &world->grid,
        .kernels = world->kernels,
        .law = world->laws,
        .collider = world->collider,
        .colliders = world->colliders,
        .glue_rule = world->glue_rule,
        .pairs = world->def.contact ? &world->pairs : NULL,
        .pair_loads = &world->pair_loads,
        .company = &world->company,
        .body = world->body,
        .option = world->def.option,
        .transfer = world->def.transfer,
        .gradient = world->def.gradient,
        .flip = world->def.flip,
        .fade = world->def.fade,
        .cfl = world->def.cfl,
        .elastic_share = world->def.elastic_share,
        .acceleration = &world->def.acceleration,
        .begin = rp_world_time(world),
        .newborn_speed = world->newborn_speed,
        .newborn_gradient = world->newborn_gradient,
        .seed = world->def.seed,
        .threads = world->threads,
        .comm = world->comm,
        .scratch = &world->scratch,
        .stats = &world->stats,
        .failure = &world->failure,
        .time = world->time,
    };
}

bool rp_world_wants_sort(const rp_world *world)
{
    bool wants = false;
    for (int s = 0; s < world->species_count; s++) {
        wants = wants || rp_set_wants_sort(&world->set[s]);
    }
    return wants;
}

static rp_failure failure_of(const rp_world *world, double dt)
{
    rp_failure f = {.particle = RP_NO_PARTICLE, .step = world->time.step, .dt = dt};
    memcpy(f.limiter, world->stats.limiter, sizeof f.limiter);
    return f;
}

// What the step gave to bodies, and at the end of a frame the mean of it.
static void note_loads(rp_world *world, bool frame_ends)
{
    for (int i = 0; i < world->colliders; i++) {
        rp_load *load = &world->load[i];
        load->pose = rp_collider_pose(&world->collider[i]);
        for (int a = 0; a < 3; a++) {
            load->given[a] += world->body[i].given.linear[a];
            load->given[3 + a] += world->body[i].given.angular[a];
        }
        for (int a = 0; a < 3 && frame_ends; a++) {
            load->force[a] = load->given[a] * world->def.fps;
            load->torque[a] = load->given[3 + a] * world->def.fps;
        }
        if (frame_ends) {
            memset(load->given, 0, sizeof load->given);
        }
    }
    if (frame_ends) {
        rp_pair_loads_end_frame(&world->pair_loads, world->def.fps);
    }
}

// What the particles have: kinetic energy with APIC's part, elastic and potential [J].
typedef struct funds {
    double kinetic, elastic, potential;
} funds;

static funds count_funds(const rp_world *world, const double gravity[3], double *affine)
{
    rp_totals t;
    rp_world_totals(world, &t);
    *affine = rp_world_affine(world);
    funds f = {.kinetic = t.kinetic + *affine, .elastic = t.elastic};
    for (int a = 0; a < 3; a++) {
        f.potential -= t.mass * gravity[a] * t.center[a];
    }
    return f;
}

static double all_funds(const funds *f) { return f->kinetic + f->elastic + f->potential; }

void rp_world_energy(const rp_world *world, rp_energy *out)
{
    double gravity[3];
    *out = world->energy;
    if (world->def.energy && isfinite(world->funds) &&
        rp_world_gravity(world, gravity) == RP_OK) { // what has come since the last step
        const funds now = count_funds(world, gravity, &out->affine);
        out->brought += all_funds(&now) - world->funds;
    }
}

// docs/theory.md (41) to (44)
static void book(rp_energy *e, const rp_ledger *l, const funds *before, const funds *after)
{
    const double transfer = before->kinetic - l->before + l->after - after->kinetic;
    const double all = before->kinetic + before->elastic + before->potential + l->field -
                       after->kinetic - after->elastic - after->potential;
    e->transfer += transfer;
    e->contact += l->contact - l->rubbed;
    e->friction += l->rubbed;
    e->plastic += l->plastic;
    e->stepping += all - transfer - l->contact - l->plastic;
}

rp_result rp_world_solve(rp_world *world, rp_step *step)
{
    rp_ledger ledger = {0};
    funds before = {0};
    if (world->def.energy) {
        before = count_funds(world, step->gravity, &world->energy.affine);
        world->energy.brought += isfinite(world->funds) ? all_funds(&before) - world->funds : 0.0;
        world->funds = all_funds(&before); // which a step that fails has not changed
        step->ledger = &ledger;
    }
    for (int i = 0; i < world->colliders; i++) {
        rp_body_begin(&world->body[i], step->dt);
    }
    RP_TRY(rp_world_begin_rigids(world, step));
    rp_scratch_reset(&world->scratch);
    world->failure = failure_of(world, step->dt); // whoever knows a particle to blame says so
    const double wanted = step->dt;
    rp_result result = rp_world_break_glue(world, step);
    result = result == RP_OK ? world->solver->step(world->solver_state, step) : result;
    result = result == RP_OK ? rp_world_end_rigids(world, step) : result;
    RP_ASSERT(result != RP_OK || (step->dt > 0.0 && step->dt <= wanted));
    // a particle that has gone where no grid can be will not come back
    world->failed = result == RP_ERR_DIVERGED || result == RP_ERR_LIMIT;
    if (result == RP_ERR_LIMIT) {
        char sentence[512];
        snprintf(sentence, sizeof sentence, "%s", rp_last_error());
        return rp_fail(RP_ERR_DIVERGED, "%s; before step %lld of dt %g s, bounded by %s", sentence,
                       (long long)world->time.step, step->dt, world->stats.limiter);
    }
    if (result == RP_OK && world->def.energy) {
        const funds after = count_funds(world, step->gravity, &world->energy.affine);
        world->funds = all_funds(&after);
        book(&world->energy, &ledger, &before, &after);
    }
    if (result == RP_OK) {
        rp_world_note_cracks(world);
        world->newborn_speed = world->newborn_gradient = 0.0;
        world->stats.dt = step->dt;
        world->time.step++;
    }
    return result;
}

rp_result rp_world_check_dt(rp_world *world, double dt)
{
    if (dt > RP_LEAST_STEP / world->def.fps) {
        return RP_OK;
    }
    world->failed = true;
    world->failure = failure_of(world, dt);
    return rp_fail(RP_ERR_DIVERGED, "the time step fell to %g s, bounded by %s", dt,
                   world->stats.limiter);
}

// All of a step's arithmetic, so that none of it runs in the host's float mode.
static __attribute__((noinline)) rp_result step_in_mode(rp_world *world)
{
    double layers[RP_EMITTER_LIMIT], gravity[3];
    memcpy(layers, world->layers, sizeof layers);
    RP_TRY(rp_agree(world->comm, rp_world_gravity(world, gravity), NULL, 0));
    if (world->def.energy && !isfinite(world->funds)) { // before anything comes
        const funds f = count_funds(world, gravity, &world->energy.affine);
        world->funds = all_funds(&f);
    }
    RP_TRY(rp_agree(world->comm, rp_world_pour(world), NULL, 0));
    rp_step step = rp_world_make_step(world);
    memcpy(step.gravity, gravity, sizeof step.gravity);
    double steps;
    RP_TRY(rp_world_choose_dt(world, &step, &steps));
    RP_TRY(rp_world_check_dt(world, step.dt));

    RP_TRY(rp_world_move_colliders(world, step.dt));
    // a solver may do a shorter step than it was asked for; then the frame does not end here, and
    // what is left of it is cut anew
    const double wanted = step.dt;
    RP_TRY(rp_world_solve(world, &step));
    // the step is done now, and counted whatever comes
    rp_result rest = step.dt < wanted ? rp_colliders_move(world->collider, world->colliders,
                                                          rp_world_time(world), step.dt)
                                      : RP_OK;
    rp_world_note_mouths(world);
    const bool frame_ends = steps == 1.0 && step.dt == wanted;
    const bool settle = frame_ends || rp_world_wants_sort(world);
    rest = rest == RP_OK ? rp_world_push_out(world, settle) : rest;
    note_loads(world, frame_ends);
    rp_world_note_rigids(world, frame_ends);
    rp_watch_step(world, &step, layers);
    rp_probes_step(world, step.dt);
    if (frame_ends) {
        rp_world_clear_glue(world);
        world->time.frame++;
        world->time.part = 0.0;
    } else {
        world->time.part += step.dt * world->def.fps;
    }
    RP_TRY(rest);
    RP_TRY(rp_agree(world->comm, rp_world_pour_moving(world, step.dt, step.gravity), NULL, 0));
    return settle ? rp_world_drain(world) : RP_OK;
}

rp_result rp_world_check_steppable(const rp_world *world)
{
    if (world->def.plan) {
        return rp_fail(RP_ERR_ARGUMENT, "this world is only planned: it has no particles");
    }
    if (world->failed) {
        return rp_fail(RP_ERR_DIVERGED,
                       "this world has failed in an earlier step; restore a state first");
    }
    return RP_OK;
}

rp_result rp_world_ends(rp_world *world, rp_result result)
{
    // what was on its way from one rank to another cannot be called back
    world->failed = world->failed || (result != RP_OK && !rp_comm_alone(world->comm));
    return result;
}

rp_result rp_world_prepare(rp_world *world)
{
    RP_TRY(rp_world_check_steppable(world));
    RP_TRY(rp_world_move_colliders(world, 0.0));
    RP_TRY(world->time.step == 0 ? rp_world_check_rigids(world) : RP_OK);
    for (int i = 0; i < world->colliders; i++) {
        world->load[i].pose = rp_collider_pose(&world->collider[i]);
    }
    rp_step step = rp_world_make_step(world);
    const rp_float_mode mode = rp_float_mode_enter();
    const rp_result result = world->solver->prepare(world->solver_state, &step);
    rp_float_mode_leave(mode);
    return rp_world_ends(world, result);
}

rp_result rp_world_step(rp_world *world)
{
    RP_TRY(rp_world_check_steppable(world));
    const rp_float_mode mode = rp_float_mode_enter();
    const rp_result result = step_in_mode(world);
    rp_float_mode_leave(mode);
    return rp_world_ends(world, result);
}

rp_result rp_world_run_frame(rp_world *world)
{
    const int64_t frame = world->time.frame;
    while (world->time.frame == frame) {
        RP_TRY(rp_world_step(world));
    }
    return RP_OK;
}

void rp_world_stats(const rp_world *world, rp_stats *out)
{
    *out = world->stats;
    out->frame = world->time.frame;
    out->step = world->time.step;
    out->time = rp_world_time(world);
    out->max_speed = fmax(out->max_speed, world->newborn_speed);
    out->max_gradient = fmax(out->max_gradient, world->newborn_gradient);
    out->memory = rp_grid_bytes(&world->grid);
    out->memory += world->solver->bytes != NULL ? world->solver->bytes(world->solver_state) : 0;
    int64_t counted[] = {0, 0, 0}; // particles, pages and node pages of this rank
    for (rp_local p = 0; p < world->grid.pages; p++) {
        counted[2] += rp_grid_owns(&world->grid, p);
    }
    for (int i = 0; i < world->species_count; i++) {
        const rp_set *set = &world->set[i];
        counted[0] += set->count - set->doomed;
        counted[1] += set->pages;
        out->particles += set->inbox.count; // which all ranks have
        for (int c = 0; c < RP_COL_COUNT; c++) {
            out->memory += set->column[c].buffer.bytes + set->inbox.column[c].bytes;
        }
    }
    if (rp_reduce_add(world->comm, counted, 3) != RP_OK) {
        out->particles = out->pages = out->node_pages = -1;
        return;
    }
    out->particles += counted[0];
    out->pages = counted[1];
    out->node_pages = counted[2];
}
