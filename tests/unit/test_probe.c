// Tests src/sim/probes.c: what probes read is what particles say, and nothing comes of it.
#include "repose/repose.h"

#include "check.h"
#include "scene_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct setup {
    rp_scene *scene;
    rp_world *world;
} setup;

static setup make(const char *text, int threads)
{
    setup s = {.scene = scene_of(text)};
    rp_scene_world_def def = rp_default_scene_world_def();
    def.threads = threads;
    if (rp_scene_create_world(s.scene, &def, &s.world) != RP_OK ||
        rp_world_prepare(s.world) != RP_OK) {
        check_record(__FILE__, __LINE__, "no world: %s", rp_last_error());
    }
    return s;
}

static void unmake(setup *s)
{
    rp_world_destroy(s->world);
    rp_scene_free(s->scene);
}

static void run(setup *s, int steps)
{
    for (int i = 0; i < steps; i++) {
        CHECK_OK(rp_world_step(s->world));
    }
}

static double *column(const rp_world *world, rp_column_id id)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    double *out = calloc((size_t)stats.particles * 9 + 1, sizeof *out);
    if (rp_world_column_comps(world, id) > 0 && rp_world_read(world, id, out) != RP_OK) {
        check_record(__FILE__, __LINE__, "no column: %s", rp_last_error());
    }
    return out;
}

// ---- points ----

static double spline(double q)
{
    q = fabs(q);
    return q < 0.5 ? 0.75 - q * q : q < 1.5 ? 0.5 * (1.5 - q) * (1.5 - q) : 0.0;
}

// Particle after particle: a mean by mass, stress by volume.
static void look_slowly(const rp_world *world, const rp_probe_def *p, double period,
                        rp_probe_reading *out)
{
    const int d = rp_world_dimension(world), sym = d == 2 ? 3 : 6;
    double *x = column(world, RP_COL_POSITION), *v = column(world, RP_COL_VELOCITY);
    double *h = column(world, RP_COL_STRAIN), *group = column(world, RP_COL_GROUP);
    double *J = column(world, RP_COL_VOLUME_RATIO), all = 0.0;
    rp_stats stats;
    rp_world_stats(world, &stats);
    uint8_t *species = calloc((size_t)stats.particles, 1);
    rp_world_read_species(world, species);
    *out = (rp_probe_reading){0};
    for (int64_t i = 0; i < stats.particles; i++) {
        // groups are numbered by species: the two solids; then water
        const rp_material_def *m = rp_world_material(world, species[i] > 0 ? 2 : (int)group[i]);
        const double mass = m->density * pow(0.05, d);
        const rp_material_state state = {
            .column = {[RP_COL_STRAIN] = h + i * sym, [RP_COL_VOLUME_RATIO] = J + i}};
        double w = 1.0, ratio, tau[1][6];
        for (int k = 0; k < d; k++) {
            double way = x[i * d + k] - p->point[k];
            way -= k == 0 && period > 0.0 ? period * nearbyint(way / period) : 0.0;
            w *= spline(1.5 * way / p->radius) * 1.5 / p->radius;
        }
        CHECK_OK(rp_material_stress(m, d, &state, 1, tau));
        CHECK_OK(rp_material_volume(m, d, &state, 1, &ratio));
        const double volume = w * pow(0.05, d) * ratio;
        all += volume;
        out->density += w * mass;
        for (int k = 0; k < d; k++) {
            out->velocity[k] += w * mass * v[i * d + k];
        }
        for (int k = 0; k < 6; k++) {
            out->stress[k] += volume * tau[0][k] / ratio;
        }
    }
    for (int k = 0; k < 6; k++) {
        out->stress[k] /= all;
        out->velocity[k % 3] /= k < 3 ? out->density : 1.0;
    }
    free(x), free(v), free(h), free(group), free(J), free(species);
}

// Two solids and water that meet and are strained; in a space that repeats along x. Sand and water
// need a method of their own, which has no rubber.
#define CROWD(dimension, precision, method, first, second)                                         \
    "scene { method = '" method "', dimension = " dimension                                        \
    ", dx = 0.1, frames = 9, precision = '" precision "' }\n"                                      \
    "domain { min = {0,-9,-9}, max = {1.6,9,9}, periodic = {true,false,false} }\n"                 \
    "local s, r = " first ", " second "\n"                                                         \
    "local w = material.water { sound_speed = 10 }\n"                                              \
    "local function put(m, x, v)\n"                                                                \
    "  particles { material = m, sampling = 'lattice', jitter = 0, velocity = v,\n"                \
    "    shape = box { min = {x,0,0}, max = {x+0.4,0.8,0.4} } }\n"                                 \
    "end\n"                                                                                        \
    "put(s, 0, {1,0,0.1}) put(r, 0.4, {-1,0,0}) put(w, 1.2, {1,0.3,0})\n"                          \
    "collider { shape = half_space { point = {0,0,0}, normal = {0,1,0} } }\n"                      \
    "probe { point = {0.4,0.3,0.2} }\n"                                                            \
    "probe { name = 'wide', point = {0.1,0.2,0.1}, radius = 0.55 }\n"                              \
    "probe { name = 'border', point = {1.59,0.25,0.2} }\n"                                         \
    "probe { name = 'nothing', point = {0.9,1.4,0.2}, radius = 0.05 }\n"                           \
    "probe { name = 'one', particle = 77 }\n"                                                      \
    "probe { name = 'none', particle = 123456789 }\n"
#define STONES(dimension, precision)                                                               \
    CROWD(dimension, precision, "explicit",                                                        \
          "material.elastic { young = 3e5, poisson = 0.1, density = 2200 }",                       \
          "material.elastic { young = 1e5 }")
#define SANDS(dimension, precision)                                                                \
    CROWD(dimension, precision, "mixture", "material.sand { density = 2200 }",                     \
          "material.sand { young = 1e5, porosity = 0.3 }")

// Catches particles that are left out or counted twice where pages or the ends of space meet, means
// with the wrong weight, and laws that are asked of the wrong particles.
static void a_point_reads_the_means_of_what_is_around(void)
{
    static const char *const scenes[] = {STONES("3", "single"), SANDS("3", "double"),
                                         SANDS("2", "single"), STONES("2", "double")};
    for (int i = 0; i < 4; i++) {
        setup s = make(scenes[i], 2);
        CHECK_EQUAL(rp_world_probes(s.world), 6);
        for (int time = 0; time < 2; time++, run(&s, 30)) {
            for (int k = 0; k < 3; k++) {
                rp_probe_def def;
                rp_probe_reading got, want;
                rp_world_probe(s.world, k, &def);
                check_context("scene %d, probe %s, time %d", i, def.name, time);
                CHECK_OK(rp_world_read_probe(s.world, k, &got));
                CHECK_HELPER(look_slowly(s.world, &def, 1.6, &want));
                CHECK_NEAR(def.radius, k == 1 ? 0.55 : 0.2, 1e-15);
                CHECK_NEAR(got.density, want.density, 1e-9 * want.density);
                CHECK(want.density > 300.0);
                for (int a = 0; a < 3; a++) {
                    CHECK_NEAR(got.position[a], def.point[a], 0.0);
                    CHECK_NEAR(got.velocity[a], want.velocity[a], 1e-9);
                }
                double most = 1.0;
                for (int c = 0; c < 6; c++) {
                    most = fmax(most, fabs(want.stress[c]));
                }
                CHECK(time == 0 || most > 10.0);
                for (int c = 0; c < 6; c++) {
                    CHECK_NEAR(got.stress[c], want.stress[c], 1e-9 * most);
                }
                CHECK_NEAR(got.pressure, rp_pressure_of(got.stress, i < 2 ? 3 : 2), 0.0);
                CHECK(isnan(got.flux) && isnan(got.passed));
            }
        }
        rp_probe_reading nothing;
        CHECK_OK(rp_world_read_probe(s.world, 3, &nothing));
        CHECK(nothing.density == 0.0 && isnan(nothing.velocity[0]) && isnan(nothing.pressure));
        unmake(&s);
    }
}

// Catches the state of another particle, and numbers of one that is not there.
static void a_particle_is_found_wherever_it_is(void)
{
    static const char *const scenes[] = {STONES("3", "single"), SANDS("2", "double"),
                                         SANDS("3", "single")};
    for (int i = 0; i < 3; i++) {
        const int d = i == 1 ? 2 : 3;
        setup s = make(scenes[i], 1);
        CHECK_HELPER(run(&s, 25));
        rp_probe_reading one, none;
        CHECK_OK(rp_world_read_probe(s.world, 4, &one));
        CHECK_OK(rp_world_read_probe(s.world, 5, &none));
        double *id = column(s.world, RP_COL_ID), *x = column(s.world, RP_COL_POSITION);
        double *v = column(s.world, RP_COL_VELOCITY), *h = column(s.world, RP_COL_STRAIN);
        int64_t k = 0;
        while (id[k] != 77.0) {
            k++;
        }
        const rp_material_state state = {.column = {[RP_COL_STRAIN] = h + k * (d == 2 ? 3 : 6)}};
        const rp_material_def *first = rp_world_material(s.world, 0);
        double tau[1][6], ratio;
        CHECK_OK(rp_material_stress(first, d, &state, 1, tau));
        CHECK_OK(rp_material_volume(first, d, &state, 1, &ratio));
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(one.position[a], a < d ? x[k * d + a] : 0.0, 0.0);
            CHECK_NEAR(one.velocity[a], a < d ? v[k * d + a] : 0.0, 1e-12);
            CHECK(isnan(none.position[a]) && isnan(none.velocity[a]));
        }
        for (int c = 0; c < 6; c++) {
            CHECK_NEAR(one.stress[c], tau[0][c] / ratio, 1e-9 * (fabs(tau[0][c]) + 1.0));
        }
        CHECK_NEAR(one.density, 2200.0 / ratio, 1e-6);
        CHECK(isnan(none.density) && isnan(none.pressure) && isnan(one.flux));
        free(id), free(x), free(v), free(h);
        unmake(&s);
    }
}

// ---- planes ----

#define FLIGHT(more)                                                                               \
    "scene { dx = 0.1, frames = 9, fps = 10, gravity = {0,0,0}" more " }\n"                        \
    "particles { material = material.elastic {}, velocity = {3,-1.5,0.75},\n"                      \
    "  shape = box { min = {0,0,0}, max = {0.5,0.5,0.5} } }\n"                                     \
    "probe { name = 'x', plane = { point = {0.8,7,7}, normal = {2,0,0} } }\n"                      \
    "probe { name = 'back', plane = { point = {0.8,-7,0}, normal = {-1,0,0} } }\n"                 \
    "probe { name = 'slant', plane = { point = {0.8,-0.2,0.3}, normal = {2,-1,0.5} } }\n"          \
    "probe { name = 'part', plane = { point = {0.9,0,0.4}, normal = {1,0,0} }, radius = 0.1 }\n"   \
    "probe { name = 'far', plane = { point = {9,0,0}, normal = {1,0,0} } }\n"

static rp_probe_reading read(const setup *s, int probe)
{
    rp_probe_reading out = {0};
    if (rp_world_read_probe(s->world, probe, &out) != RP_OK) {
        check_record(__FILE__, __LINE__, "no reading: %s", rp_last_error());
    }
    return out;
}

// Catches particles that are counted by halves or twice, in few long steps as in many short ones,
// and a flux that is not the change of what has passed.
static void what_crosses_a_plane_has_passed_it_once(void)
{
    static const char *const scenes[] = {FLIGHT(""), FLIGHT(", cfl = 0.07"),
                                         FLIGHT(", precision = 'double'"),
                                         FLIGHT(", transfer = 'pic'")};
    const double mass = 2200.0 * 0.125;
    double passed[5] = {0};
    for (int i = 0; i < 4; i++) {
        setup s = make(scenes[i], 1 + i % 2);
        check_context("scene %d", i);
        CHECK_EQUAL(rp_world_probes(s.world), 5);
        double halfway = 0.0;
        for (int frame = 0; frame < 6; frame++) {
            CHECK_OK(rp_world_run_frame(s.world));
            const rp_probe_reading x = read(&s, 0);
            CHECK(isnan(x.velocity[0]) && isnan(x.pressure) && x.position[0] == 0.8);
            halfway = frame == 1 ? x.passed : halfway;
            if (frame == 1) {
                // 3 m/s through a square of 0.5 m, all of it in solid matter
                CHECK_NEAR(x.flux, 2200.0 * 0.25 * 3.0, 0.03 * 2200.0 * 0.25 * 3.0);
                const double before = x.passed;
                rp_stats a, b;
                rp_world_stats(s.world, &a);
                CHECK_OK(rp_world_step(s.world));
                rp_world_stats(s.world, &b);
                CHECK_NEAR(read(&s, 0).passed - before, x.flux * (b.time - a.time),
                           0.03 * x.flux * (b.time - a.time));
            }
        }
        CHECK(halfway > 0.3 * mass && halfway < 0.7 * mass);
        CHECK_NEAR(read(&s, 0).passed, mass, 1e-6 * mass);
        CHECK_NEAR(read(&s, 1).passed, -mass, 1e-6 * mass);
        CHECK_NEAR(read(&s, 2).passed, mass, 1e-6 * mass);
        CHECK(read(&s, 4).passed == 0.0 && read(&s, 4).flux == 0.0);
        // a disc of 0.1 m out of a square of 0.5 m, which flies by at a slant
        CHECK_NEAR(read(&s, 3).passed, mass * 3.14159 * 0.01 / 0.25, 0.15 * mass * 0.1257);
        CHECK(read(&s, 0).flux == 0.0);
        for (int k = 0; k < 5 && i == 0; k++) {
            passed[k] = read(&s, k).passed;
        }
        unmake(&s);
    }
    // the same bits on any number of threads
    setup s = make(scenes[0], 3);
    for (int frame = 0; frame < 6; frame++) {
        CHECK_OK(rp_world_run_frame(s.world));
        if (frame == 1) {
            CHECK_OK(rp_world_step(s.world));
        }
    }
    for (int k = 0; k < 5; k++) {
        CHECK(read(&s, k).passed == passed[k]);
    }
    unmake(&s);
}

// Catches what is born, drained or comes back counted wrongly, in 2D, next to a floor that sand is
// pushed out of.
static void planes_count_what_emitters_pour_and_sinks_take(void)
{
    setup s = make("scene { dimension = 2, dx = 0.02, frames = 9, fps = 10 }\n"
                   "emitter { material = material.sand {}, stop = 0.3, velocity = {0,-1},\n"
                   "  shape = box { min = {-0.1,1}, max = {0.1,1.1} } }\n"
                   "sink { shape = half_space { point = {0,0}, normal = {0,1} } }\n"
                   "probe { plane = { point = {0,0.5}, normal = {0,-1} } }\n"
                   "probe { name = 'low', plane = { point = {0,0.2}, normal = {0,-1} } }\n",
                   2);
    for (int frame = 0; frame < 9; frame++) {
        CHECK_OK(rp_world_run_frame(s.world));
    }
    rp_stats stats;
    rp_world_stats(s.world, &stats);
    CHECK(stats.sunk > 500 && stats.sunk == stats.born);
    const double mass = (double)stats.born * 2200.0 * 1e-4;
    CHECK_NEAR(read(&s, 0).passed, mass, 1e-5 * mass);
    CHECK_NEAR(read(&s, 1).passed, mass, 1e-5 * mass);
    unmake(&s);
}

// ---- looking only ----

// Catches a probe that moves, sorts or shortens anything, and mass that is forgotten with a state.
static void probes_change_nothing_and_go_on_from_a_state(void)
{
    static const char bare[] =
        "scene { dx = 0.1, frames = 9 }\n"
        "particles { material = material.sand {}, shape = box { min = {0,0.05,0}, max = "
        "{0.6,0.8,0.4} } }\n"
        "collider { shape = half_space { point = {0,0,0}, normal = {0,1,0} } }\n";
    char text[1024];
    snprintf(text, sizeof text, "%s%s", bare,
             "probe { name = 'out', plane = { point = {0.6,0,0}, normal = {1,0,0} } }\n"
             "probe { name = 'in', point = {0.3,0.2,0.2} }\nprobe { particle = 5 }\n");
    setup a = make(bare, 1), b = make(text, 2), c = make(text, 1);
    void *state;
    size_t size;
    for (int i = 0; i < 40; i++) {
        CHECK_HELPER(run(&a, 1));
        CHECK_HELPER(run(&b, 1));
        for (int k = 0; k < 3; k++) {
            read(&b, k);
        }
        if (i == 20) {
            CHECK_OK(rp_world_save(b.world, &state, &size));
            CHECK_OK(rp_world_restore(c.world, state, size));
            rp_state_free(state);
        } else if (i > 20) {
            CHECK_HELPER(run(&c, 1));
        }
    }
    rp_stats stats;
    rp_world_stats(a.world, &stats);
    for (int col = 0; col < RP_COL_COUNT; col++) {
        const int comps = rp_world_column_comps(a.world, col);
        double *x = column(a.world, col), *y = column(b.world, col), *z = column(c.world, col);
        const size_t bytes = (size_t)stats.particles * (size_t)comps * sizeof *x;
        check_context("%s", rp_column_name(col));
        CHECK(memcmp(x, y, bytes) == 0 && memcmp(x, z, bytes) == 0);
        free(x), free(y), free(z);
    }
    for (int k = 0; k < 3; k++) {
        const rp_probe_reading one = read(&b, k), other = read(&c, k);
        CHECK(memcmp(&one, &other, sizeof one) == 0);
    }
    CHECK(read(&b, 0).passed > 1.0);
    // a state without probes is of another world
    CHECK_OK(rp_world_save(a.world, &state, &size));
    CHECK_ERROR(rp_world_restore(c.world, state, size), RP_ERR_ARGUMENT, "another world");
    rp_state_free(state);
    unmake(&a);
    unmake(&b);
    unmake(&c);
}

// ---- mistakes ----

static void probes_that_make_no_sense_are_refused(void)
{
    static const struct {
        const char *text, *sentence;
    } scenes[] = {
        {"probe {}", "test.lua:3: probe: want a point, a plane or a particle, got none of them"},
        {"probe { point = {0,0,0}, particle = 1 }",
         "test.lua:3: probe: want point or particle, got both"},
        {"probe { particle = 1, radius = 1 }", "probe: want radius or particle, got both"},
        {"probe { point = {0,0,0}, name = 'a b' }",
         "test.lua:3: probe.name: want 1 to 31 letters, digits and _, got 'a b'"},
        {"probe { point = {0,0,0}, name = '' }", "probe.name: want 1 to "},
        {"probe { point = {0,0,0}, name = ('x'):rep(32) }", "probe.name: want 1 to 31 letters"},
        {"probe { point = {0,0,0}, name = 'a' } probe { name = 'a', particle = 3 }",
         "probe.name: want one that no other probe has, got 'a'"},
        {"probe { name = '1', particle = 3 } probe { particle = 3 }",
         "no other probe has, got '1'"},
        {"probe { plane = { point = {0,0,0}, normal = {0,0,0} } }",
         "probe.normal: want a vector that is not 0"},
        {"probe { plane = { point = {0,0,0} } }", "probe.plane.normal: want a vector, got nothing"},
        {"probe { point = {0,0,0}, every = 0 }", "probe.every: want > 0 s, got 0"},
        {"probe { particle = -1 }", "probe.particle: want 0 to"},
        {"for i = 1, 257 do probe { particle = i } end", "at most 256 probes"},
        {"sensor {}", "did you mean 'probe'?"},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, START SAND "%s\n", scenes[i].text);
        check_context("%s", scenes[i].text);
        CHECK(plan(text, NULL) != RP_OK);
        check_context("%s: %s", scenes[i].text, rp_last_error());
        CHECK(strstr(rp_last_error(), scenes[i].sentence) != NULL);
    }
    CHECK_ERROR(plan("scene { dimension = 2, dx = 0.1, frames = 1 }\n"
                     "probe { plane = { point = {0,0,0}, normal = {0,0,1} } }",
                     NULL),
                RP_ERR_ARGUMENT, "probe.normal: want a vector that is not 0");
}

TEST_MAIN(TEST(a_point_reads_the_means_of_what_is_around), TEST(a_particle_is_found_wherever_it_is),
          TEST(what_crosses_a_plane_has_passed_it_once),
          TEST(planes_count_what_emitters_pour_and_sinks_take),
          TEST(probes_change_nothing_and_go_on_from_a_state),
          TEST(probes_that_make_no_sense_are_refused))
