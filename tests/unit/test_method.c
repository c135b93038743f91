// Tests src/solver/solver.c, and what sim makes of a method that is not the explicit one.
#include "repose/method.h"
#include "repose/run.h"
#include "sim/world.h"

#include "check.h"
#include "folder.h"
#include "page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rp_world *small_world(void)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = 2;
    def.dx = 0.1;
    def.fps = 20.0;
    rp_world *world;
    rp_box_def box = rp_default_box_def();
    const rp_material_def rubber = rp_default_elastic_def();
    box.upper[0] = box.upper[1] = 0.6;
    if (rp_world_create(&def, &world) != RP_OK ||
        rp_world_add_material(world, &rubber, &box.material) != RP_OK ||
        rp_world_add_box(world, &box, NULL) != RP_OK) {
        return NULL;
    }
    return world;
}

static const char all_five[] = "there are explicit, implicit, mixture, nonsmooth, sph";

// Every method is known by name; what nobody knows is refused with the list of all.
static void methods_are_known_by_name(void)
{
    CHECK_EQUAL(rp_methods(), 5);
    for (int m = 0; m < rp_methods(); m++) {
        const rp_method_info *info = rp_method_at(m), *found;
        rp_world_def def = rp_default_world_def();
        rp_world *world;
        def.dx = 0.1;
        def.method = info->name;
        check_context("%s", info->name);
        CHECK_OK(rp_method_named(info->name, &found));
        CHECK(found == info && info->built && rp_solver_find(info->name) != NULL);
        CHECK_OK(rp_world_create(&def, &world));
        rp_world_destroy(world);
    }
    const rp_method_info *found;
    CHECK_ERROR(rp_method_named("magic", &found), RP_ERR_ARGUMENT,
                "method: no method 'magic'; there");
    CHECK_ERROR(rp_method_named("magic", &found), RP_ERR_ARGUMENT, all_five);
}

static void the_page_is_made_from_the_tables(void)
{
    check_page("methods.md", rp_methods_reference());
}

// A method that has no use for some things and cannot do others.
static rp_method_info odd_method(void)
{
    rp_method_info odd = {.name = "odd", .built = true, .materials = 1u << RP_SAND};
    for (int f = 0; f < RP_FEATURE_COUNT; f++) {
        odd.regard[f] = (rp_regard)(f % 3);
    }
    return odd;
}

// Every cell of features times methods: done, remarked upon or refused, as the table says.
static void every_feature_is_sorted_into_three(void)
{
    const rp_method_info odd = odd_method();
    for (int m = 0; m <= rp_methods(); m++) {
        const rp_method_info *method = m < rp_methods() ? rp_method_at(m) : &odd;
        for (int f = 0; f < RP_FEATURE_COUNT && method->built; f++) {
            char remark[256];
            check_context("%s, %s", method->name, rp_feature_name((rp_feature)f));
            const rp_result result = rp_method_check(method, 1ull << f, remark, sizeof remark);
            CHECK(strlen(rp_feature_sentence((rp_feature)f)) > 4);
            switch (method->regard[f]) {
            case RP_HONOURED:
                CHECK_EQUAL(result, RP_OK);
                CHECK(remark[0] == '\0');
                break;
            case RP_MEANINGLESS:
                CHECK_EQUAL(result, RP_OK);
                CHECK(strstr(remark, rp_feature_name((rp_feature)f)) != NULL);
                break;
            case RP_IMPOSSIBLE:
                CHECK_EQUAL(result, RP_ERR_UNSUPPORTED);
                CHECK(strstr(rp_last_error(), rp_feature_name((rp_feature)f)) != NULL);
                break;
            }
        }
        for (int k = 0; k < RP_MATERIAL_KINDS && method->built; k++) {
            const rp_result result = rp_method_check_material(method, (rp_material_kind)k);
            CHECK_EQUAL(result, method->materials >> k & 1 ? RP_OK : RP_ERR_UNSUPPORTED);
        }
    }
    CHECK_ERROR(rp_method_check_material(&odd, RP_WATER), RP_ERR_UNSUPPORTED,
                "method odd cannot simulate material.water; it can sand");
}

// What a method cannot do is refused where it is asked for, by the table and by nothing else.
static void worlds_refuse_what_their_method_cannot(void)
{
    rp_world *world = small_world();
    rp_solver odd = *world->solver;
    for (int f = 0; f < RP_FEATURE_COUNT; f++) {
        odd.info.regard[f] = RP_IMPOSSIBLE;
    }
    odd.info.name = "odd";
    odd.info.materials = 1u << RP_ELASTIC;
    world->solver = &odd;
    const double lower[3] = {0, 0, 0}, upper[3] = {1, 1, 1}, normal[3] = {0, 1, 0};
    rp_shape *shape;
    rp_material material;
    const rp_material_def sand = rp_default_sand_def();
    CHECK_OK(rp_shape_half_space(lower, normal, &shape));
    rp_collider_def collider = rp_default_collider_def();
    rp_emitter_def emitter = rp_default_emitter_def();
    collider.shape = emitter.shape = shape;
    CHECK_ERROR(rp_world_add_material(world, &sand, &material), RP_ERR_UNSUPPORTED,
                "material.sand");
    CHECK_ERROR(rp_world_add_collider(world, &collider), RP_ERR_UNSUPPORTED, "collider");
    CHECK_ERROR(rp_world_add_emitter(world, &emitter), RP_ERR_UNSUPPORTED, "emitter");
    CHECK_ERROR(rp_world_add_sink(world, shape), RP_ERR_UNSUPPORTED, "sink");
    CHECK_ERROR(rp_world_set_domain(world, lower, upper, RP_LEAVE_STOP), RP_ERR_UNSUPPORTED,
                "domain");
    CHECK_ERROR(rp_world_settle(world, 1.0), RP_ERR_UNSUPPORTED, "scene.settle");
    rp_shape_release(shape);
    world->solver = rp_solver_find("explicit");
    rp_world_destroy(world);
}

// ---- solvers that do not do as they are told ----

static const rp_solver *honest;
static int calls;

// Every other step it can only do a third of what it is asked for.
static rp_result hesitant_step(void *state, rp_step *step)
{
    step->dt *= calls++ % 2 == 0 ? 1.0 / 3.0 : 1.0;
    step->stats->extra[0] = calls;
    step->stats->extra[1] = 0.5 * calls;
    return honest->step(state, step);
}

static rp_solver hesitant(void)
{
    honest = rp_solver_find("explicit");
    rp_solver solver = *honest;
    calls = 0;
    solver.step = hesitant_step;
    return solver;
}

// A step that is shorter than asked counts as what it was, and frames still end on time.
static void shorter_steps_still_end_on_frames(void)
{
    rp_world *world = small_world();
    const rp_solver solver = hesitant();
    world->solver = &solver;
    double sum = 0.0;
    for (int frame = 0; frame < 3;) {
        rp_stats before, after;
        rp_world_stats(world, &before);
        CHECK_OK(rp_world_step(world));
        rp_world_stats(world, &after);
        CHECK_NEAR(after.time - before.time, after.dt, 1e-12);
        sum += after.dt;
        if (after.frame > frame) {
            frame = (int)after.frame;
            CHECK(after.time == frame / 20.0);
            CHECK_NEAR(sum, frame / 20.0, 1e-12);
        }
    }
    // it fell as far as the time that passed
    rp_totals t;
    rp_world_totals(world, &t);
    CHECK_NEAR(t.momentum[1], -9.81 * t.mass * 0.15, 1e-5 * t.mass);
    world->solver = honest;
    rp_world_destroy(world);
}

// What a solver names reaches stats.csv.
static void numbers_of_a_method_reach_stats(void)
{
    test_folder folder = test_folder_make();
    rp_world *world = small_world();
    const rp_solver solver = hesitant();
    world->solver = &solver;
    world->stats.extra_name[0] = "iterations";
    world->stats.extra_name[1] = "residual_m_s";
    world->stats.extras = 2;
    rp_run *run;
    rp_run_def def = rp_default_run_def();
    rp_run_end end;
    def.world = world;
    def.frames = 2;
    CHECK_OK(rp_run_open(test_path(&folder, "out"), RP_RUN_NEW, &run));
    CHECK_OK(rp_run_go(run, &def, &end));
    rp_run_close(run);
    long size;
    char *text = test_read_file(test_path(&folder, "out/stats.csv"), &size);
    CHECK(size > 100);
    text = realloc(text, (size_t)size + 1);
    text[size] = '\0';
    CHECK(strstr(text, ",sort_s,p2g_s,grid_s,g2p_s,write_s,hold_s,iterations,residual_m_s\n") !=
          NULL);
    char *last = strrchr(text, '\n');
    *last = '\0';
    char wanted[64];
    snprintf(wanted, sizeof wanted, ",%d,%.17g", calls, 0.5 * calls);
    CHECK(strstr(strrchr(text, '\n'), wanted) != NULL);
    free(text);
    text = test_read_file(test_path(&folder, "out/run.json"), &size);
    text = realloc(text, (size_t)size + 1);
    text[size] = '\0';
    CHECK(strstr(text, "\"method\": \"explicit\"") != NULL);
    CHECK(strstr(text, "\"material\": \"elastic\"") != NULL);
    free(text);
    world->solver = honest;
    rp_world_destroy(world);
    test_folder_remove(&folder);
}

// A step that was done, and a motion that is stopped when its colliders are put where it ended.
static int64_t halt_at; // number of the step
static bool is_cut;     // a step is done and was shorter than asked

static rp_result cutting_step(void *state, rp_step *step)
{
    const bool cut = step->time.step % 2 == 0;
    step->dt *= cut ? 1.0 / 3.0 : 1.0;
    is_cut = cut && step->time.step == halt_at;
    return honest->step(state, step);
}

static rp_result halting_motion(void *context, double t, rp_pose *out)
{
    (void)context;
    out->position[0] = 0.1 * t;
    return is_cut ? rp_fail(RP_ERR_STOPPED, "a motion was stopped") : RP_OK;
}

static rp_world *halting_world(const rp_solver *solver)
{
    static const double point[3] = {0.0, -0.05, 0.0}, up[3] = {0.0, 1.0, 0.0};
    rp_world *world = small_world();
    rp_collider_def floor = rp_default_collider_def();
    rp_shape *shape;
    world->solver = solver;
    is_cut = false;
    if (rp_shape_half_space(point, up, &shape) != RP_OK) {
        return NULL;
    }
    floor.shape = shape;
    floor.motion.call = halting_motion;
    const rp_result added = rp_world_add_collider(world, &floor);
    rp_shape_release(shape);
    return added == RP_OK ? world : NULL;
}

// Catches a step that is done and not counted, which whoever goes on would do again: it counts, and
// a run that is stopped there keeps no state that lacks a part of it.
static void a_step_that_is_stopped_at_its_end_is_not_done_twice(void)
{
    test_folder folder = test_folder_make();
    honest = rp_solver_find("explicit");
    rp_solver solver = *honest;
    solver.step = cutting_step;
    void *state[2];
    size_t size[2];
    // twice: undisturbed, and stopped in the middle of a frame and resumed
    for (int i = 0; i < 2; i++) {
        halt_at = i == 0 ? -1 : 4;
        rp_world *world = halting_world(&solver);
        rp_run *run;
        rp_run_def def = rp_default_run_def();
        rp_run_end end;
        def.world = world;
        def.frames = 3;
        const char *path = test_path(&folder, i == 0 ? "whole" : "halted");
        CHECK_OK(rp_run_open(path, RP_RUN_NEW, &run));
        CHECK_OK(rp_run_go(run, &def, &end));
        rp_run_close(run);
        if (i == 1) {
            CHECK_EQUAL(end, RP_RUN_STOPPED);
            CHECK_EQUAL(world->time.step, 5);
            CHECK(world->time.part > 0.0);
            CHECK(access(test_path(&folder, "halted/state.hdf"), F_OK) != 0);
            world->solver = honest;
            rp_world_destroy(world);
            halt_at = -1;
            def.world = world = halting_world(&solver);
            CHECK_OK(rp_run_open(test_path(&folder, "halted"), RP_RUN_RESUME, &run));
            CHECK_OK(rp_run_go(run, &def, &end));
            rp_run_close(run);
        }
        CHECK_EQUAL(end, RP_RUN_FINISHED);
        CHECK_OK(rp_world_save(world, &state[i], &size[i]));
        world->solver = honest;
        rp_world_destroy(world);
    }
    CHECK(size[0] == size[1] && memcmp(state[0], state[1], size[0]) == 0);
    rp_state_free(state[0]);
    rp_state_free(state[1]);

    // a host that goes on in the same world
    halt_at = 4;
    rp_world *world = halting_world(&solver);
    rp_stats before, after;
    for (int k = 0; k < 4; k++) {
        CHECK_OK(rp_world_step(world));
    }
    rp_world_stats(world, &before);
    CHECK_ERROR(rp_world_step(world), RP_ERR_STOPPED, "a motion was stopped");
    rp_world_stats(world, &after);
    CHECK_EQUAL(after.step, before.step + 1);
    CHECK_NEAR(after.time - before.time, after.dt, 1e-12);
    world->solver = honest;
    rp_world_destroy(world);
    test_folder_remove(&folder);
}

static double allowed; // [s]

static int shrinking_limits(void *state, const rp_step *step, rp_limit out[RP_LIMITS_MOST])
{
    (void)state;
    (void)step;
    out[0] = (rp_limit){"patience", allowed *= 0.01};
    return 1;
}

// Catches steps without end: where they get shorter and shorter, settling says so as a run does.
static void settling_does_not_stand_still(void)
{
    rp_world *world = small_world();
    honest = rp_solver_find("explicit");
    rp_solver shrinking = *honest;
    shrinking.limits = shrinking_limits;
    allowed = 0.1;
    world->solver = &shrinking;
    CHECK_ERROR(rp_world_settle(world, 1.0), RP_ERR_DIVERGED, "bounded by patience");
    CHECK(world->failed && world->time.step < 10);
    world->solver = honest;
    rp_world_destroy(world);
}

// Five cells and a half to the right.
static rp_result leaping_step(void *state, rp_step *step)
{
    RP_TRY(honest->prepare(state, step));
    rp_set *set = step->set;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            double x[3] = {0};
            for (int a = 0; a < set->layout.dim; a++) {
                x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, page);
            }
            x[0] += 5.5 * set->layout.h;
            rp_set_move(set, page, slot, x);
        }
    }
    rp_set_travelled(set, 5.5);
    return RP_OK;
}

// Particles may go several cells in a step: the next sort finds them, and what follows is a block
// that falls as it would have.
static void particles_may_go_several_cells(void)
{
    rp_world *world = small_world();
    honest = rp_solver_find("explicit");
    rp_solver leaping = *honest;
    leaping.step = leaping_step;
    rp_totals before, after;
    rp_world_totals(world, &before);
    world->solver = &leaping;
    for (int i = 0; i < 3; i++) {
        CHECK_OK(rp_world_step(world));
    }
    world->solver = honest;
    CHECK_OK(rp_world_step(world));
    rp_world_totals(world, &after);
    CHECK_NEAR(after.center[0] - before.center[0], 3 * 0.55, 1e-5);
    CHECK_NEAR(after.mass, before.mass, 1e-9);
    for (int i = 0; i < 10; i++) {
        CHECK_OK(rp_world_step(world));
    }
    rp_world_destroy(world);
}

// ---- arrays that change their length ----

// A warm start that is longer or shorter when it is restored than it is now; and one that cannot be
// elements of its kind.
static void registered_arrays_may_change_their_length(void)
{
    rp_world *world[2];
    rp_buffer buffer[2] = {{0}};
    rp_local count[2] = {0};
    for (int w = 0; w < 2; w++) {
        world[w] = small_world();
        rp_registry_add_array(&world[w]->registry, "warm/start", &buffer[w], &world[w]->allocator,
                              &count[w], sizeof(double[3]));
    }
    static const rp_local lengths[] = {7, 0, 2000, 3};
    for (int i = 0; i < 4; i++) {
        check_context("%d elements", lengths[i]);
        const size_t bytes = (size_t)lengths[i] * sizeof(double[3]);
        CHECK_OK(rp_buffer_reserve(&buffer[0], &world[0]->allocator, bytes, 0, "a warm start"));
        for (rp_local k = 0; k < 3 * lengths[i]; k++) {
            ((double *)buffer[0].data)[k] = 1000.0 * i + k;
        }
        count[0] = lengths[i];
        void *state, *again;
        size_t size, other;
        CHECK_OK(rp_world_save(world[0], &state, &size));
        CHECK_OK(rp_world_restore(world[1], state, size));
        CHECK_EQUAL(count[1], lengths[i]);
        CHECK(bytes == 0 || memcmp(buffer[1].data, buffer[0].data, bytes) == 0);
        CHECK_OK(rp_world_save(world[1], &again, &other));
        CHECK(size == other && memcmp(state, again, size) == 0);
        rp_state_free(state);
        rp_state_free(again);
    }
    // elements of another size
    world[1]->registry.entry[world[1]->registry.entries - 1].each = 16;
    void *state;
    size_t size;
    CHECK_OK(rp_world_save(world[0], &state, &size));
    CHECK_ERROR(rp_world_restore(world[1], state, size), RP_ERR_ARGUMENT, "saves other things");
    rp_state_free(state);
    for (int w = 0; w < 2; w++) {
        rp_buffer_free(&buffer[w], &world[w]->allocator);
        rp_world_destroy(world[w]);
    }
}

// A state of another method is refused by both names.
static void a_state_of_another_method_is_refused(void)
{
    rp_world *world = small_world();
    rp_solver odd = *world->solver;
    void *state;
    size_t size;
    odd.info.name = "odd";
    CHECK_OK(rp_world_save(world, &state, &size));
    const rp_solver *own = world->solver;
    world->solver = &odd;
    CHECK_ERROR(rp_world_restore(world, state, size), RP_ERR_ARGUMENT,
                "state: made by another method: it is explicit there, odd here");
    world->solver = own;
    CHECK_OK(rp_world_restore(world, state, size));
    rp_state_free(state);
    rp_world_destroy(world);
}

TEST_MAIN(TEST(methods_are_known_by_name), TEST(the_page_is_made_from_the_tables),
          TEST(every_feature_is_sorted_into_three), TEST(worlds_refuse_what_their_method_cannot),
          TEST(shorter_steps_still_end_on_frames), TEST(numbers_of_a_method_reach_stats),
          TEST(a_step_that_is_stopped_at_its_end_is_not_done_twice),
          TEST(settling_does_not_stand_still), TEST(particles_may_go_several_cells),
          TEST(registered_arrays_may_change_their_length),
          TEST(a_state_of_another_method_is_refused))
