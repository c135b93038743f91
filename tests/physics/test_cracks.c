// Bodies that break: glue holds as if there were no cut, and opens at the stress that was asked
// for.
#include "check.h"
#include "repose/repose.h"
#include "scene_text.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    rp_scene *scene;
    rp_world *world;
} run;

static run start(const char *text, int threads)
{
    run r = {.scene = scene_of(text)};
    rp_scene_world_def def = rp_default_scene_world_def();
    def.threads = threads;
    if (rp_scene_create_world(r.scene, &def, &r.world) != RP_OK) {
        check_record(__FILE__, __LINE__, "no world: %s", rp_last_error());
    }
    return r;
}

static void stop(run *r)
{
    rp_world_destroy(r->world);
    rp_scene_free(r->scene);
}

static void run_frames(rp_world *world, int frames)
{
    for (int i = 0; i < frames; i++) {
        CHECK_OK(rp_world_run_frame(world));
    }
}

// Places of all particles with mass, by id.
static double *places(const rp_world *world, uint64_t *count)
{
    *count = 0;
    double *out = calloc(3 * world->next_id, sizeof *out);
    for (int s = 0; s < world->species_count; s++) {
        const rp_set *set = &world->set[s];
        for (rp_local p = 0; p < set->pages && rp_set_has_mass(set); p++) {
            const rp_page *page = &rp_set_page(set)[p];
            for (rp_local i = page->first; i < page->first + page->count; i++) {
                const uint64_t id = *(uint64_t *)rp_set_at(set, RP_COL_ID, i, 0);
                for (int a = 0; a < world->def.dimension; a++) {
                    out[3 * id + (uint64_t)a] = rp_set_value(set, RP_COL_POSITION, i, a, page);
                }
                ++*count;
            }
        }
    }
    return out;
}

__attribute__((unused)) static int64_t glue_left(const rp_world *world)
{
    const int s = rp_glue_find(world->species, world->species_count);
    const rp_set *set = &world->set[s];
    int64_t left = set->inbox.count;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local i = page->first; i < page->first + page->count; i++) {
            left += rp_set_value(set, RP_COL_STRENGTH, i, 0, page) > 0.0 &&
                    *(uint16_t *)rp_set_at(set, RP_COL_GROUP, i, 0) != RP_GROUP_DEAD;
        }
    }
    return left;
}

// ---- an unbreakable cut ----

// A block that spins, swings and falls on a floor, whole or cut.
static void write_block(char *text, size_t size, int dimension, const char *more, const char *cut)
{
    const bool flat = dimension == 2;
    snprintf(
        text, size,
        "scene { dimension = %d, dx = 0.1, fps = 20, frames = 20, precision = 'double', %s }\n"
        "particles { material = material.elastic { density = 1000, young = 2e5 }, body = 'block',\n"
        "  velocity = %s, velocity_gradient = %s, jitter = 0, sampling = 'lattice',\n"
        "  shape = box { min = %s, max = %s } }\n"
        "%s\n"
        "collider { shape = half_space { point = %s, normal = %s }, contact = 'separate', "
        "friction = 0.3 }\n",
        dimension, more, flat ? "{1, -2}" : "{1, -2, 0.5}",
        flat ? "{{0, -2}, {2.5, 0}}" : "{{0, -2, 0}, {2.5, 0, 1}, {0, 1, 0}}",
        flat ? "{-0.53, 0.1}" : "{-0.53, 0.1, -0.3}", flat ? "{0.49, 0.9}" : "{0.49, 0.9, 0.3}",
        cut, flat ? "{0, 0}" : "{0, 0, 0}", flat ? "{0, 1}" : "{0, 1, 0}");
}

// V-M7. A node that glue misses, or a merge that is none, shows here.
static void glue_that_never_breaks_is_as_no_cut(void)
{
    static const char *const cuts[2][5] = {
        {"plane { point = {0.031, 0.4}, normal = {1, 0} }",
         "plane { point = {0, 0.5}, normal = {0.3, 1} }",
         "planes { list = {{ point = {0, 0.5}, normal = {1, 1} }, { point = {0.1, 0.5}, normal = "
         "{1, -1} }} }",
         "zigzag { point = {0, 0.5}, normal = {0, 1}, along = {1, 0}, tooth = 0.23 }",
         "voronoi { count = 7, seed = 3 }"},
        {"plane { point = {0.031, 0.4, 0}, normal = {1, 0, 0} }",
         "plane { point = {0, 0.5, 0}, normal = {0.3, 1, 0.2} }",
         "sphere { center = {0, 0.5, 0}, radius = 0.31 }",
         "zigzag { point = {0, 0.5, 0}, normal = {0, 1, 0}, along = {1, 0, 0.3}, tooth = 0.23 }",
         "voronoi { count = 9, seed = 5 }"},
    };
    static const char *const kinds[] = {"order = 'quadratic'", "order = 'cubic'",
                                        "transfer = { flip = 0.95 }", "order = 'linear'"};
    for (int dim = 2; dim <= 3; dim++) {
        for (int k = 0; k < (dim == 2 ? 4 : 2); k++) {
            char text[2048];
            uint64_t count[2];
            // linear splines blow up, cut or not
            const int frames = k == 3 ? 1 : dim == 2 ? 10 : 4;
            write_block(text, sizeof text, dim, kinds[k], "");
            run whole = start(text, 1);
            CHECK_HELPER(run_frames(whole.world, frames));
            double *x = places(whole.world, &count[0]);
            for (int c = 0; c < 5; c++) {
                char cut[512];
                snprintf(cut, sizeof cut, "fracture { body = 'block', strength = 1e9, by = %s }",
                         cuts[dim - 2][c]);
                write_block(text, sizeof text, dim, kinds[k], cut);
                check_context("%dD, %s, %s", dim, kinds[k], cuts[dim - 2][c]);
                run r = start(text, 1);
                CHECK_HELPER(run_frames(r.world, frames));
                double *y = places(r.world, &count[1]);
                double most = 0.0;
                for (uint64_t i = 0; i < 3 * count[0]; i++) {
                    most = fmax(most, fabs(x[i] - y[i]));
                }
                CHECK_EQUAL(count[0], count[1]);
                CHECK(r.world->crack_count == 0);
                CHECK_NEAR(most, 0.0, 1e-12);
                free(y);
                stop(&r);
            }
            free(x);
            stop(&whole);
        }
    }
}

TEST_MAIN(TEST(glue_that_never_breaks_is_as_no_cut))
