// Worlds of several species: solid, water and marks without mass, through steps, states and frames.
#include "core/state.h"
#include "repose/frame.h"
#include "repose/world.h"
#include "sim/world.h"

#include "check.h"
#include "folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    void *data;
    size_t size;
} bytes;

static bytes save(const rp_world *world)
{
    bytes b = {0};
    if (rp_world_save(world, &b.data, &b.size) != RP_OK) {
        check_record(__FILE__, __LINE__, "no state: %s", rp_last_error());
    }
    return b;
}

static bool same(const bytes *a, const bytes *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

enum { SOLID, WATER, TRACER, SPECIES };

// A block of rubber with marks in it falls into water between walls.
static rp_world *make_world(int dim, rp_precision precision, int threads, bool filled)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = dim;
    def.precision = precision;
    def.threads = threads;
    def.dx = 0.05;
    def.fps = 100.0;
    rp_world *world;
    rp_material_def kind[] = {rp_default_elastic_def(), rp_default_material_def(RP_WATER),
                              rp_default_material_def(RP_TRACER)};
    kind[0].young = 1e5;
    kind[1].bulk_modulus = 1e5;
    kind[1].viscosity = 0.5;
    static const double box[3][2][3] = {
        {{0.2, 0.35, 0.2}, {0.5, 0.6, 0.5}},
        {{0.0, 0.0, 0.0}, {0.7, 0.3, 0.7}},
        {{0.25, 0.4, 0.25}, {0.45, 0.55, 0.45}},
    };
    static const double lower[3] = {0.0, 0.0, 0.0}, upper[3] = {0.7, 2.0, 0.7};
    if (rp_world_create(&def, &world) != RP_OK) {
        return NULL;
    }
    for (int s = 0; s < SPECIES; s++) {
        rp_box_def b = rp_default_box_def();
        if (rp_world_add_material(world, &kind[s], &b.material) != RP_OK) {
            return NULL;
        }
        memcpy(b.lower, box[s][0], sizeof b.lower);
        memcpy(b.upper, box[s][1], sizeof b.upper);
        b.velocity[1] = s == SOLID ? -1.0 : 0.0;
        if (filled && rp_world_add_box(world, &b, NULL) != RP_OK) {
            return NULL;
        }
    }
    return rp_world_add_walls(world, lower, upper, RP_SLIP, 0.0) == RP_OK ? world : NULL;
}

static void step_many(rp_world *world, int steps)
{
    for (int i = 0; i < steps; i++) {
        CHECK_OK(rp_world_step(world));
    }
}

// Catches anything of a species that is not saved, or saved for one only.
static void three_species_go_on_bit_for_bit(void)
{
    for (int i = 0; i < 4; i++) {
        const int dim = 2 + i % 2;
        const rp_precision precision = i < 2 ? RP_SINGLE : RP_DOUBLE;
        check_context("%dD, precision %d", dim, precision);
        rp_world *world = make_world(dim, precision, 2, true);
        CHECK(world != NULL);
        CHECK_EQUAL(rp_world_species(world), 3);
        CHECK(strcmp(rp_world_species_name(world, WATER), "water") == 0);
        CHECK_HELPER(step_many(world, check_rounds(60)));
        const bytes middle = save(world);
        CHECK_HELPER(step_many(world, check_rounds(40)));
        const bytes end = save(world);

        rp_world *empty = make_world(dim, precision, 5, false);
        CHECK_OK(rp_world_restore(empty, middle.data, middle.size));
        const bytes again = save(empty);
        CHECK(same(&middle, &again));
        CHECK_HELPER(step_many(empty, check_rounds(40)));
        const bytes other = save(empty);
        CHECK(same(&end, &other));

        // a world of fewer species, or of others, does not take it
        rp_world_def def = rp_default_world_def();
        def.dimension = dim;
        def.precision = precision;
        def.dx = 0.05;
        def.fps = 100.0;
        rp_world *poor;
        rp_material material;
        const rp_material_def rubber = rp_default_elastic_def();
        CHECK_OK(rp_world_create(&def, &poor));
        CHECK_OK(rp_world_add_material(poor, &rubber, &material));
        CHECK_ERROR(rp_world_restore(poor, end.data, end.size), RP_ERR_ARGUMENT, "another world");
        rp_world_destroy(poor);
        rp_state_free(middle.data);
        rp_state_free(end.data);
        rp_state_free(again.data);
        rp_state_free(other.data);
        rp_world_destroy(empty);
        rp_world_destroy(world);
    }
}

static void threads_make_no_difference(void)
{
    bytes end[3];
    static const int threads[] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        rp_world *world = make_world(3, RP_SINGLE, threads[i], true);
        CHECK_HELPER(step_many(world, check_rounds(80)));
        end[i] = save(world);
        rp_world_destroy(world);
        check_context("%d threads", threads[i]);
        CHECK(same(&end[0], &end[i]));
    }
    for (int i = 0; i < 3; i++) {
        rp_state_free(end[i].data);
    }
}

// Marks go where their block goes and weigh nothing; water has its own columns and no strain.
static void species_keep_what_they_need(void)
{
    rp_world *world = make_world(2, RP_DOUBLE, 1, true);
    rp_totals before, after;
    CHECK(rp_set_has(&world->set[SOLID], RP_COL_STRAIN));
    CHECK(!rp_set_has(&world->set[WATER], RP_COL_STRAIN));
    CHECK(rp_set_has(&world->set[WATER], RP_COL_VOLUME_RATIO));
    CHECK(rp_set_has(&world->set[WATER], RP_COL_RATE));
    CHECK(!rp_set_has(&world->set[TRACER], RP_COL_VELOCITY));
    rp_world_totals(world, &before);
    CHECK_HELPER(step_many(world, 100));
    rp_world_totals(world, &after);
    CHECK_NEAR(after.mass, before.mass, 1e-12 * before.mass);
    CHECK_NEAR(after.mass, 2200.0 * 0.3 * 0.25 + 1000.0 * 0.7 * 0.3, 1e-9);

    rp_stats stats;
    rp_world_stats(world, &stats);
    const size_t n = (size_t)stats.particles;
    double(*x)[2] = calloc(n, sizeof *x), *J = calloc(n, sizeof *J), *h = calloc(3 * n, sizeof *h);
    uint8_t *species = calloc(n, 1);
    CHECK_OK(rp_world_read(world, RP_COL_POSITION, &x[0][0]));
    CHECK_OK(rp_world_read(world, RP_COL_VOLUME_RATIO, J));
    CHECK_OK(rp_world_read(world, RP_COL_STRAIN, h));
    rp_world_read_species(world, species);
    double middle[SPECIES] = {0};
    int count[SPECIES] = {0};
    for (size_t i = 0; i < n; i++) {
        middle[species[i]] += x[i][1];
        count[species[i]]++;
        CHECK(species[i] == WATER ? J[i] > 0.8 && J[i] < 4.0 : J[i] == 1.0);
        CHECK(species[i] == SOLID || h[3 * i] == 0.0);
        CHECK(i == 0 || species[i] >= species[i - 1]);
    }
    // where the marks were in the middle of the block, they still are
    CHECK_NEAR(middle[TRACER] / count[TRACER], middle[SOLID] / count[SOLID], 0.01);
    CHECK(middle[SOLID] / count[SOLID] < 0.475 - 0.02);
    free(x);
    free(J);
    free(h);
    free(species);
    rp_world_destroy(world);
}

// Frames: all species one after the other, the union of columns, groups numbered through; and what
// is read back is the state, to the byte.
static void frames_hold_all_species(void)
{
    for (int i = 0; i < 4; i++) {
        const int dim = 2 + i % 2;
        test_folder folder = test_folder_make();
        const char *path = test_path(&folder, "frame.hdf");
        rp_world *world = make_world(dim, i < 2 ? RP_SINGLE : RP_DOUBLE, 2, true);
        check_context("%dD, precision %d", dim, i / 2);
        CHECK_HELPER(step_many(world, 30));
        // births and deaths in the middle of the frame's order
        rp_points_def points = rp_default_points_def();
        const double place[3] = {0.1, 1.0, 0.1};
        const uint64_t gone[] = {3, 5};
        points.count = 1;
        points.position = place;
        points.volume = 1e-4;
        CHECK_OK(rp_world_add_points(world, &points, NULL));
        points.material.index = 1;
        CHECK_OK(rp_world_add_points(world, &points, NULL));
        CHECK_OK(rp_world_remove(world, gone, 2, NULL));
        bytes state = save(world), back = {0};
        CHECK_OK(rp_frame_write(path, state.data, state.size, NULL));
        CHECK_OK(rp_frame_read_state(path, &back.data, &back.size));
        CHECK(same(&state, &back));

        rp_frame *frame;
        rp_frame_info info;
        CHECK_OK(rp_frame_open(path, &frame));
        rp_frame_get_info(frame, &info);
        CHECK_EQUAL(info.species, 3);
        CHECK(strcmp(rp_frame_species_name(frame, 2), "tracer") == 0);
        CHECK(rp_frame_species_name(frame, 3) == NULL);
        const size_t n = (size_t)info.particles;
        double *species = calloc(n, sizeof *species), *group = calloc(n, sizeof *group);
        double *J = calloc(n, sizeof *J), *material = calloc(n, sizeof *material);
        CHECK_OK(rp_frame_read(frame, "species", 0, info.particles, species));
        CHECK_OK(rp_frame_read(frame, "group", 0, info.particles, group));
        CHECK_OK(rp_frame_read(frame, "volume_ratio", 0, info.particles, J));
        CHECK_OK(rp_frame_read(frame, "material", 0, info.particles, material));
        rp_frame_group *table;
        int groups;
        CHECK_OK(rp_frame_groups(frame, &table, &groups));
        CHECK_EQUAL(groups, 5);
        int dead = 0;
        for (size_t k = 0; k < n; k++) {
            if (group[k] == 65535.0) {
                dead++;
                continue;
            }
            // materials were added in the order of species
            CHECK(group[k] < groups && table[(int)group[k]].material == (int)material[k]);
            CHECK(material[k] == species[k]);
            CHECK(species[k] == WATER || J[k] == 1.0);
        }
        CHECK_EQUAL(dead, 2);
        free(table);
        free(species);
        free(group);
        free(J);
        free(material);
        rp_frame_close(frame);
        rp_state_free(state.data);
        rp_state_free(back.data);
        rp_world_destroy(world);
        test_folder_remove(&folder);
    }
}

static rp_world *cloud(const double *volumes, double volume, bytes *out)
{
    enum { GRAINS = 300 };
    static double x[GRAINS][3];
    rp_world_def def = rp_default_world_def();
    def.dx = 0.1;
    rp_world *world;
    rp_points_def points = rp_default_points_def();
    rp_material_def rubber = rp_default_elastic_def();
    if (rp_world_create(&def, &world) != RP_OK ||
        rp_world_add_material(world, &rubber, &points.material) != RP_OK) {
        return NULL;
    }
    for (int i = 0; i < GRAINS; i++) {
        for (int a = 0; a < 3; a++) {
            x[i][a] = fmod(0.754877666 * (i + 1) * (a + 1), 0.8);
        }
    }
    points.count = GRAINS;
    points.position = &x[0][0];
    points.volume = volume;
    points.volumes = volumes;
    if (rp_world_add_points(world, &points, NULL) != RP_OK) {
        return NULL;
    }
    for (int i = 0; i < 20; i++) {
        if (rp_world_step(world) != RP_OK) {
            return NULL;
        }
    }
    *out = save(world);
    return world;
}

// Particles with volumes of their own: the same numbers as a group's give the same motion, others
// the mass they should have, and all of it survives.
static void particles_may_have_volumes_of_their_own(void)
{
    enum { GRAINS = 300 };
    double volumes[GRAINS], sum = 0.0, x[2][3 * GRAINS];
    bytes state[2];
    for (int i = 0; i < GRAINS; i++) {
        volumes[i] = 1e-4;
    }
    for (int own = 0; own < 2; own++) {
        rp_world *world = cloud(own ? volumes : NULL, 1e-4, &state[own]);
        CHECK(world != NULL);
        CHECK_EQUAL(rp_world_column_comps(world, RP_COL_VOLUME), own);
        CHECK_EQUAL(rp_world_column_comps(world, RP_COL_MASS), own);
        CHECK_OK(rp_world_read(world, RP_COL_POSITION, x[own]));
        rp_state_free(state[own].data);
        rp_world_destroy(world);
    }
    CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0);

    for (int i = 0; i < GRAINS; i++) {
        volumes[i] = 1e-4 * (1.0 + i % 7);
        sum += volumes[i];
    }
    rp_totals t;
    double mass[GRAINS], volume[GRAINS];
    rp_world *world = cloud(volumes, 1e-4, &state[0]);
    rp_world_totals(world, &t);
    CHECK_NEAR(t.mass, 2200.0 * sum, 1e-6 * t.mass);
    // what falls freely keeps the momentum that its weight gives it
    CHECK_NEAR(t.momentum[1], -9.81 * t.mass * rp_world_time(world), 1e-4 * t.mass);
    CHECK_OK(rp_world_read(world, RP_COL_MASS, mass));
    CHECK_OK(rp_world_read(world, RP_COL_VOLUME, volume));
    for (int i = 0; i < GRAINS; i++) {
        CHECK_NEAR(mass[i], 2200.0 * volume[i], 1e-6 * mass[i]);
    }
    // what nothing can weigh is refused, and the world stays as it was
    rp_state_view view;
    CHECK_OK(rp_state_view_make(state[0].data, state[0].size, &view));
    static const float wrong[] = {0.0f, -1.0f, NAN, INFINITY};
    float *own = (float *)((char *)state[0].data + view.part[0].slots_at[RP_COL_MASS]),
          kept = own[0];
    for (int k = 0; k < 4; k++) {
        own[0] = wrong[k];
        CHECK_ERROR(rp_world_restore(world, state[0].data, state[0].size), RP_ERR_ARGUMENT,
                    "a particle has a mass that cannot be");
    }
    own[0] = kept;

    rp_world_def def = rp_default_world_def();
    def.dx = 0.1;
    rp_world *fresh;
    rp_material material;
    const rp_material_def rubber = rp_default_elastic_def();
    CHECK_OK(rp_world_create(&def, &fresh));
    CHECK_OK(rp_world_add_material(fresh, &rubber, &material));
    CHECK_OK(rp_world_restore(fresh, state[0].data, state[0].size));
    state[1] = save(fresh);
    CHECK(same(&state[0], &state[1]));
    for (int i = 0; i < 2; i++) {
        rp_state_free(state[i].data);
    }
    rp_world_destroy(fresh);
    rp_world_destroy(world);
}

// A species that comes when the world has stepped already, and has nobody yet: the grid must not
// look for its pages.
static void a_species_may_come_late(void)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = 2;
    def.dx = 0.1;
    rp_world *world;
    rp_box_def box = rp_default_box_def();
    rp_material wet;
    const rp_material_def rubber = rp_default_elastic_def();
    const rp_material_def water = rp_default_material_def(RP_WATER);
    box.upper[0] = box.upper[1] = 0.5;
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_OK(rp_world_add_material(world, &rubber, &box.material));
    CHECK_OK(rp_world_add_box(world, &box, NULL));
    CHECK_HELPER(step_many(world, 3));
    CHECK_OK(rp_world_add_material(world, &water, &wet));
    CHECK_HELPER(step_many(world, 3));
    box.material = wet;
    box.lower[0] = 1.0;
    box.upper[0] = 1.5;
    CHECK_OK(rp_world_add_box(world, &box, NULL));
    CHECK_HELPER(step_many(world, 3));
    rp_totals t;
    rp_world_totals(world, &t);
    CHECK_NEAR(t.mass, 0.25 * (2200.0 + 1000.0), 1e-6);
    rp_world_destroy(world);
}

TEST_MAIN(TEST(a_species_may_come_late), TEST(three_species_go_on_bit_for_bit),
          TEST(threads_make_no_difference), TEST(species_keep_what_they_need),
          TEST(frames_hold_all_species), TEST(particles_may_have_volumes_of_their_own))
