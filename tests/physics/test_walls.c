// Contact at the surface of colliders: blocks slide as mechanics says wherever the wall lies in its
// cell, and what a wall is given is what particles lose.
#include "check.h"
#include "repose/repose.h"
#include "scene_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81;

#define BLOCK                                                                                      \
    "local dim, tilt, off, mu, order = %d, %g, %g, %g, %d\n"                                       \
    "local h = 0.01\n"                                                                             \
    "scene { dimension = dim, dx = h, fps = 50, frames = 10, precision = 'double',\n"              \
    "    order = order == 3 and 'cubic' or 'quadratic',\n"                                         \
    "    explicit = { contact_at = 'surface' } }\n"                                                \
    "local function place(s) return move(s, { rotation = { angle = -tilt },\n"                     \
    "    position = { 0, off * h, 0 } }) end\n"                                                    \
    "collider { shape = place(half_space { point = {0, 0, 0}, normal = {0, 1, 0} }), contact = "   \
    "'separate',\n"                                                                                \
    "    friction = mu }\n"                                                                        \
    "particles { material = material.elastic { young = 2e5, density = 1000 },\n"                   \
    "    shape = place(box { min = {0, 0, 0}, max = {0.08, 0.04, 0.04} }) }\n"

// Catches walls whose friction and push depend on where nodes are, impulses that get lost between
// samples, slaves and masters, and forces of colliders that are not the sum of impulses.
static void a_block_slides_down_a_wall_anywhere_in_its_cell(void)
{
    check_expect_warning(); // sweeps end before impulses have settled
    static const struct {
        int dim, order;
        double off, mu;
    } runs[] = {{2, 2, 0.0, 0.0}, {2, 2, 0.3, 0.0}, {2, 2, 0.3, 0.2}, {2, 2, 0.7, 0.2}};
    const double tilt = 17.0 * 3.14159265358979323846 / 180.0;
    for (int i = 0; i < 4; i++) {
        char text[4096];
        rp_world *world;
        rp_totals first, before, after;
        rp_scene_world_def def = rp_default_scene_world_def();
        snprintf(text, sizeof text, BLOCK, runs[i].dim, 17.0, runs[i].off, runs[i].mu,
                 runs[i].order);
        rp_scene *scene = scene_of(text);
        CHECK_OK(rp_scene_create_world(scene, &def, &world));
        rp_world_totals(world, &first);
        before = first;
        check_context("dimension %d, order %d, offset %g, friction %g", runs[i].dim, runs[i].order,
                      runs[i].off, runs[i].mu);
        for (int frame = 0; frame < 10; frame++) {
            rp_collider_load load;
            rp_stats stats;
            CHECK_OK(rp_world_run_frame(world));
            rp_world_totals(world, &after);
            rp_world_collider_load(world, 0, &load);
            rp_world_stats(world, &stats);
            for (int a = 0; a < 2; a++) {
                const double weight = a == 1 ? -g * after.mass : 0.0;
                CHECK_NEAR(after.momentum[a] - before.momentum[a], (weight - load.force[a]) / 50.0,
                           1e-12 * g * after.mass + stats.dropped_momentum);
            }
            before = after;
        }
        const double v =
            (after.momentum[0] * cos(tilt) - after.momentum[1] * sin(tilt)) / after.mass;
        const double exact = g * (sin(tilt) - runs[i].mu * cos(tilt)) * 10.0 / 50.0;
        printf("  offset %g, friction %g: %.4f of Coulomb's\n", runs[i].off, runs[i].mu, v / exact);
        CHECK_NEAR(v, exact, 0.005 * exact);
        rp_world_destroy(world);
        rp_scene_free(scene);
    }
}

static rp_world *block_world(rp_scene *scene, int threads)
{
    rp_world *world;
    rp_scene_world_def def = rp_default_scene_world_def();
    def.threads = threads;
    return rp_scene_create_world(scene, &def, &world) == RP_OK ? world : NULL;
}

// Catches impulses that are not saved, and an order of samples or sums that threads can change.
static void bits_depend_neither_on_threads_nor_on_a_restart(void)
{
    check_expect_warning(); // sweeps end before impulses have settled
    static const int threads[] = {1, 2, 5, 3};
    char text[4096];
    void *half = NULL;
    size_t half_size = 0;
    double *first[2] = {NULL, NULL};
    snprintf(text, sizeof text, BLOCK, 2, 17.0, 0.3, 0.2, 2);
    rp_scene *scene = scene_of(text);
    for (int i = 0; i < 4; i++) { // the last one begins in the middle
        rp_world *world = block_world(scene, threads[i]);
        CHECK(world != NULL);
        if (i == 3) {
            CHECK_OK(rp_world_restore(world, half, half_size));
        }
        for (int frame = i == 3 ? 2 : 0; frame < 4; frame++) {
            CHECK_OK(rp_world_run_frame(world));
            if (i == 0 && frame == 1) {
                CHECK_OK(rp_world_save(world, &half, &half_size));
            }
        }
        rp_stats stats;
        rp_world_stats(world, &stats);
        const size_t n = (size_t)stats.particles * 3;
        check_context("%d threads", threads[i]);
        for (int k = 0; k < 2; k++) {
            double *x = calloc(n, sizeof *x);
            CHECK(x != NULL);
            CHECK_OK(rp_world_read(world, k == 0 ? RP_COL_POSITION : RP_COL_VELOCITY, x));
            if (i == 0) {
                first[k] = x;
            } else {
                CHECK(memcmp(x, first[k], n * sizeof *x) == 0);
                free(x);
            }
        }
        rp_world_destroy(world);
    }
    rp_state_free(half);
    free(first[0]);
    free(first[1]);
    rp_scene_free(scene);
}

// Catches what cannot be done and is done in silence.
static void what_surfaces_cannot_do_is_refused(void)
{
#define IN_2D                                                                                      \
    "scene { dimension = 2, dx = 0.01, frames = 1, explicit = { contact_at = 'surface' } }\n"
#define FLOOR "half_space { point = {0, 0}, normal = {0, 1} }"
#define BOX   "shape = box { min = {0, 0}, max = {0.05, 0.05} } }\n"
    static const struct {
        const char *text, *says;
    } no[] = {
        {"scene { dx = 0.01, frames = 1, explicit = { contact_at = 'surface' } }\n"
         "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }\n"
         "particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {0.05, "
         "0.05, 0.05} } }\n",
         "three dimensions"},
        {IN_2D "collider { shape = " FLOOR " }\n"
               "particles { material = material.water {}, " BOX,
         "liquids"},
        {IN_2D "collider { shape = " FLOOR ", spin = { axis = {0, 0, 1}, rate = 1 } }\n"
               "particles { material = material.sand {}, " BOX,
         "colliders that move"},
    };
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        rp_scene *scene = scene_of(no[i].text);
        rp_world *world = block_world(scene, 1);
        CHECK(world != NULL);
        CHECK_ERROR(rp_world_run_frame(world), RP_ERR_UNSUPPORTED, no[i].says);
        rp_world_destroy(world);
        rp_scene_free(scene);
    }
}

TEST_MAIN(TEST(a_block_slides_down_a_wall_anywhere_in_its_cell),
          TEST(bits_depend_neither_on_threads_nor_on_a_restart),
          TEST(what_surfaces_cannot_do_is_refused))
