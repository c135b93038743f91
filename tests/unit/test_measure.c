// Tests measurements against swarms of which the answers are known, and the folder of a small run.
#include "measure/swarm.h"
#include "measure/table.h"

#include "check.h"
#include "folder.h"
#include "page.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double zero[3] = {0};
enum { WANT = RP_READ_POSITION | RP_READ_MASS | RP_READ_ID | RP_READ_RATIO };

// A cone of sand, filled evenly: radius R, height H, particles of one volume.
static void make_cone(double R, double H, double h, int64_t count, rp_swarm *out)
{
    uint64_t state = 7;
    CHECK_OK(rp_swarm_make(count, WANT, out));
    out->info.dimension = 3;
    out->info.dx = h;
    for (int64_t i = 0; i < count;) {
        const double x = (2.0 * test_uniform(&state) - 1.0) * R;
        const double z = (2.0 * test_uniform(&state) - 1.0) * R, y = test_uniform(&state) * H;
        if (hypot(x, z) < R * (1.0 - y / H)) {
            memcpy(out->x[i], (double[]){x, y, z}, sizeof out->x[i]);
            out->volume[i] = M_PI * R * R * H / 3.0 / (double)count;
            out->mass[i] = 1000.0 * out->volume[i];
            out->id[i] = (uint64_t)(count - i);
            i++;
        }
    }
}

// Two bodies that turned and went, each by itself; of the one every tenth particle flew off.
// Catches a turn the wrong way round, a shift before the turn, debris that drags its body along.
static void pieces_are_found_where_they_went(void)
{
    static const double axis[2][3] = {{0.6, 0.0, 0.8}, {0.0, 1.0, 0.0}}, angle[] = {2.5, -0.7};
    uint64_t state = 5;
    rp_swarm now, then;
    int64_t places[400];
    rp_fit fit[3];
    CHECK_OK(rp_swarm_make(400, WANT, &then));
    CHECK_OK(rp_swarm_make(400, WANT | RP_READ_GROUP, &now));
    for (int i = 0; i < 400; i++) {
        const int b = i % 2, to = (i * 7) % 400;
        const double *n = axis[b], c = cos(angle[b]), s = sin(angle[b]);
        double x[3], along = 0.0;
        for (int a = 0; a < 3; a++) {
            x[a] = test_uniform(&state) + (double)(3 * b);
            along += n[a] * x[a];
        }
        for (int a = 0; a < 3; a++) { // Rodrigues' formula
            const int d = (a + 1) % 3, e = (a + 2) % 3;
            now.x[to][a] =
                c * x[a] + (1.0 - c) * along * n[a] + s * (n[d] * x[e] - n[e] * x[d]) + 1.0 + a;
        }
        memcpy(then.x[i], x, sizeof x);
        now.x[to][0] += i % 20 == 0 ? 5.0 : 0.0;
        now.mass[to] = 1.0 + i % 3;
        now.batch.field[to] = (uint16_t)(1 + b);
        places[to] = i;
    }
    CHECK_OK(rp_swarm_fit(&now, &then, places, 3, 0.05, fit));
    CHECK_EQUAL(fit[0].particles, 0);
    for (int b = 0; b < 2; b++) {
        check_context("body %d", b + 1);
        CHECK_EQUAL(fit[b + 1].particles, 200);
        CHECK_EQUAL(fit[b + 1].debris, b == 0 ? 20 : 0);
        CHECK_NEAR(fit[b + 1].misfit, 0.0, 1e-12);
        const double sign = cos(0.5 * angle[b]) < 0.0 ? -1.0 : 1.0;
        CHECK_NEAR(fit[b + 1].q[3], sign * cos(0.5 * angle[b]), 1e-12);
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(fit[b + 1].q[a], sign * sin(0.5 * angle[b]) * axis[b][a], 1e-12);
            CHECK_NEAR(fit[b + 1].shift[a], 1.0 + a, 1e-11);
        }
    }
    rp_swarm_free(&now);
    rp_swarm_free(&then);
}

// Catches a wrong share, an unsorted list, an end that is off by one.
static void quantiles_are_those_of_a_ramp(void)
{
    double ramp[101];
    for (int i = 0; i <= 100; i++) {
        ramp[i] = (i * 37) % 101;
    }
    CHECK_NEAR(rp_quantile(ramp, 101, 0.97), 97.0, 1e-12);
    CHECK_NEAR(rp_quantile(ramp, 101, 0.0), 0.0, 0.0);
    CHECK_NEAR(rp_quantile(ramp, 101, 1.0), 100.0, 0.0);
    CHECK_NEAR(rp_quantile(ramp, 101, 0.505), 50.5, 1e-12);
    CHECK(isnan(rp_quantile(ramp, 0, 0.5)));
}

// Catches areas of rings or slabs, a fit of the wrong side, a sign: the surface of a cone falls by
// H / R per metre on every side, and its volume is in the columns.
static void check_cone(bool z_up)
{
    const double R = 0.5, H = 0.3, h = 0.02;
    rp_swarm swarm;
    CHECK_HELPER(make_cone(R, H, h, 400000, &swarm));
    swarm.z_up = z_up;
    for (int64_t i = 0; i < swarm.count && z_up; i++) {
        const double y = swarm.x[i][1];
        swarm.x[i][1] = -swarm.x[i][2];
        swarm.x[i][2] = y;
    }
    rp_bins bins = rp_swarm_bins(&swarm, RP_ALONG_RADIUS, zero, h);
    rp_column_height column[64];
    rp_slope s;
    CHECK(bins.count <= 64);
    CHECK_OK(rp_swarm_profile(&swarm, RP_ALONG_RADIUS, zero, &bins, 1.0, 0.0, column));
    rp_profile_slope(column, bins.count, 0.2, 0.8, 1, &s);
    CHECK_NEAR(s.slope, H / R, 0.03 * H / R);
    CHECK(s.r2 > 0.995);
    CHECK_NEAR(s.crest, H, 0.05 * H);
    CHECK_NEAR(column[10].solid, H * (1.0 - column[10].place / R), 0.02 * H);
    // the same from the left of a cut along x
    bins = rp_swarm_bins(&swarm, 0, zero, h);
    CHECK_OK(rp_swarm_profile(&swarm, 0, zero, &bins, 1.0, 0.0, column));
    rp_profile_slope(column, bins.count, 0.3, 0.8, -1, &s);
    CHECK_NEAR(s.slope, H / R, 0.06 * H / R);
    // a quantile of the radius: the share of a cone within r is 1 - (1 - r/R)^2 (1 + 2 r/R)
    rp_runout out;
    CHECK_OK(rp_swarm_runout(&swarm, RP_ALONG_RADIUS, zero, 0.5, &out));
    CHECK_NEAR(out.high, 0.5 * R, 0.005 * R);
    CHECK_NEAR(out.low, 0.0, 0.0);
    CHECK(out.most <= R && out.most > 0.95 * R);
    rp_bulk bulk;
    CHECK_OK(rp_swarm_bulk(&swarm, 0.0, &bulk));
    CHECK_NEAR(bulk.solid, M_PI * R * R * H / 3.0, 1e-9);
    CHECK(bulk.bulk > bulk.solid && bulk.bulk < 1.15 * bulk.solid);
    double radius[24];
    rp_roundness round;
    CHECK_OK(rp_swarm_roundness(&swarm, zero, 0.97, 24, radius, &round));
    CHECK(round.deviation < 0.02);
    rp_swarm_free(&swarm);
}

static void a_cone_has_its_slope(void)
{
    for (int z_up = 0; z_up < 2; z_up++) {
        check_context("%s up", z_up ? "z" : "y");
        CHECK_HELPER(check_cone(z_up));
    }
}

// Catches sectors that are mixed up, and amplitudes that are wrong by a factor: discs that bulge by
// 4 % four times around, turned or not, and a round one.
static void a_bulging_disc_is_not_round(void)
{
    for (int turn = 0; turn < 3; turn++) {
        const double bulge = turn == 2 ? 0.0 : 0.04;
        uint64_t state = 3;
        rp_swarm swarm;
        rp_roundness r;
        double radius[24];
        CHECK_OK(rp_swarm_make(200000, WANT, &swarm));
        for (int64_t i = 0; i < swarm.count; i++) {
            const double angle = 2.0 * M_PI * test_uniform(&state);
            const double edge = 1.0 + bulge * cos(4.0 * angle + turn), at = test_uniform(&state);
            swarm.x[i][0] = 2.0 + edge * sqrt(at) * cos(angle);
            swarm.x[i][2] = edge * sqrt(at) * sin(angle);
        }
        const double origin[3] = {2.0, 0.0, 0.0};
        CHECK_OK(rp_swarm_roundness(&swarm, origin, 0.97, 24, radius, &r));
        check_context("turn %d", turn);
        CHECK_NEAR(r.mean, sqrt(0.97), 0.005);
        // a sector sees the mean over its 15 degrees: sin(30 deg) / 30 deg
        CHECK_NEAR(r.cos4, bulge * 0.955, 0.003);
        CHECK_NEAR(r.deviation, bulge * 0.955 / sqrt(2.0), 0.003);
        CHECK_EQUAL(r.empty, 0);
        rp_swarm_free(&swarm);
    }
}

// Catches particles that are taken for others when their order changes, or when some are gone.
static void particles_are_matched_by_id(void)
{
    rp_swarm a, b;
    int64_t *places;
    CHECK_OK(rp_swarm_make(4, WANT, &a));
    CHECK_OK(rp_swarm_make(3, WANT, &b));
    memcpy(a.id, (uint64_t[]){5, 9, 2, 7}, 4 * sizeof *a.id);
    memcpy(b.id, (uint64_t[]){7, 2, 5}, 3 * sizeof *b.id);
    CHECK_OK(rp_swarm_match(&a, &b, &places));
    CHECK_EQUAL(places[0], 2);
    CHECK_EQUAL(places[1], -1);
    CHECK_EQUAL(places[2], 1);
    CHECK_EQUAL(places[3], 0);
    free(places);
    rp_swarm_free(&a);
    rp_swarm_free(&b);
}

// Catches a quoted name with a comma, a torn last line, rows of other frames and colliders.
static void tables_are_read_as_they_are_written(void)
{
    static const char text[] = "frame,time_s,name,force_y_N\n0,0,\"a, b\",1\n1,0.5,\"c\",2\n"
                               "1,0.5,\"a, b\",-3.5e-2\n2,1,\"a, b\",7\n3,1.5,\"a, ";
    test_folder folder = test_folder_make();
    rp_measured *table;
    test_write_file(test_path(&folder, "forces.csv"), text, sizeof text - 1);
    CHECK_OK(rp_csv_read(folder.path, "forces.csv", 1, 9, "a, b", &table));
    CHECK_EQUAL(table->columns, 4);
    CHECK_EQUAL(table->rows, 2);
    CHECK_NEAR(table->value[rp_measured_column(table, "force_y_N")], -0.035, 0.0);
    CHECK_NEAR(table->value[4], 2.0, 0.0);
    CHECK(isnan(table->value[2]));
    rp_measured_free(table);
    CHECK_ERROR(rp_csv_read(folder.path, "none.csv", 0, 9, NULL, &table), RP_ERR_FILE, "none.csv");
    test_folder_remove(&folder);
}

static rp_result measure(const char *folder, const char *name, const char *key, const char *value,
                         rp_measured **out)
{
    rp_measure_def def = rp_default_measure_def();
    const rp_measure_argument argument = {key, value};
    def.folder = folder;
    def.name = name;
    def.argument = &argument;
    def.arguments = key != NULL;
    return rp_measure(&def, out);
}

static void ignore(rp_log_level level, const char *message, void *context)
{
    (void)level, (void)message, (void)context;
}

// Catches a mass that is not read, a frame that is another: a block that falls freely. Every
// measurement works with its defaults, and wrong words are refused with a hint.
static void a_falling_block_is_measured(void)
{
    static const char resolved[] = "{\"materials\": [{\"word\": \"material.sand\", "
                                   "\"young\": 1e5, \"poisson\": 0.25}]}";
    const rp_run_file file = {
        .name = "scene.resolved.json", .data = resolved, .size = sizeof resolved - 1};
    test_folder folder = test_folder_make();
    rp_world_def def = rp_default_world_def();
    rp_box_def box = rp_default_box_def();
    rp_run_def run_def = rp_default_run_def();
    const rp_material_def sand = rp_default_sand_def();
    rp_collider_def ground = rp_default_collider_def();
    const double origin[3] = {0}, up[3] = {0, 1, 0};
    rp_shape *shape;
    rp_run *run;
    rp_run_end end;
    def.dx = 0.1;
    def.fps = 10.0;
    CHECK_OK(rp_world_create(&def, &run_def.world));
    CHECK_OK(rp_world_add_material(run_def.world, &sand, &box.material));
    for (int a = 0; a < 3; a++) {
        box.lower[a] = a == 1 ? 5.0 : -0.2;
        box.upper[a] = a == 1 ? 5.4 : 0.2;
    }
    CHECK_OK(rp_world_add_box(run_def.world, &box, NULL));
    CHECK_OK(rp_shape_half_space(origin, up, &shape));
    ground.shape = shape;
    ground.name = "ground";
    CHECK_OK(rp_world_add_collider(run_def.world, &ground));
    rp_shape_release(shape);
    run_def.frames = 2;
    run_def.file = &file;
    run_def.files = 1;
    CHECK_OK(rp_run_open(folder.path, RP_RUN_NEW, &run));
    CHECK_OK(rp_run_go(run, &run_def, &end));
    rp_run_close(run);
    rp_world_destroy(run_def.world);

    rp_measured *m;
    CHECK_OK(measure(folder.path, "center", NULL, NULL, &m));
    CHECK_EQUAL(m->rows, 1);
    CHECK_NEAR(m->value[rp_measured_column(m, "mass_kg")], 2200.0 * 0.064, 1e-9);
    CHECK_NEAR(m->value[rp_measured_column(m, "vy_m_s")], -1.962, 1e-5);
    CHECK_NEAR(m->value[1], 0.2, 1e-12);
    rp_measured_free(m);
    CHECK_OK(measure(folder.path, "rest", "quantile", "0.5", &m));
    CHECK_NEAR(m->value[rp_measured_column(m, "v_rms_m_s")], 1.962, 1e-5);
    CHECK_NEAR(m->value[rp_measured_column(m, "moved_m")], 0.5 * 9.81 * 0.04, 0.02);
    rp_measured_free(m);
    rp_set_log_hook(ignore, NULL); // a block has no slope, and that is said
    for (int i = 0; rp_measurement(i) != NULL; i++) {
        check_context("%s", rp_measurement(i));
        CHECK(rp_measurement_sentence(i) != NULL);
        if (strcmp(rp_measurement(i), "body") == 0) { // there is none
            CHECK_ERROR(measure(folder.path, "body", NULL, NULL, &m), RP_ERR_ARGUMENT,
                        "has no rigid body");
            continue;
        }
        CHECK_OK(measure(folder.path, rp_measurement(i), NULL, NULL, &m));
        CHECK(m->rows > 0 && m->columns > 2);
        rp_measured_free(m);
    }
    rp_set_log_hook(NULL, NULL);
    CHECK_OK(measure(folder.path, "wall", "collider", "ground", &m)); // 0, its number, was above
    CHECK_EQUAL(m->rows, 1);
    const double force = hypot(hypot(m->value[2], m->value[3]), m->value[4]);
    CHECK(isnan(m->value[5])); // it was the force over 1 m^2, whatever the collider's size
    rp_measured_free(m);
    CHECK_OK(measure(folder.path, "wall", "area", "2", &m));
    CHECK_NEAR(m->value[5], force / 2.0, 1e-12 * force);
    rp_measured_free(m);
    check_context("wrong words");
    CHECK_ERROR(measure(folder.path, "runuot", NULL, NULL, &m), RP_ERR_ARGUMENT, "runout?");
    CHECK_ERROR(measure(folder.path, "runout", "quantil", "1", &m), RP_ERR_ARGUMENT,
                "quantile? It takes along, quantile, x0, y0, z0, species");
    CHECK_ERROR(measure(folder.path, "runout", "quantile", "1.5", &m), RP_ERR_ARGUMENT, "1.5");
    CHECK_ERROR(measure(folder.path, "runout", "quantile", "x", &m), RP_ERR_ARGUMENT, "'x'");
    CHECK_ERROR(measure(folder.path, "runout", "along", "q", &m), RP_ERR_ARGUMENT, "x y z r");
    CHECK_ERROR(measure(folder.path, "rest", "since", "9", &m), RP_ERR_FILE, "frame.000009");
    CHECK_ERROR(measure(folder.path, "wall", "collider", "lid", &m), RP_ERR_ARGUMENT, "lid");
    CHECK_ERROR(measure("/nowhere", "runout", NULL, NULL, &m), RP_ERR_FILE, "/nowhere");
    test_folder_remove(&folder);
}

// Water above sand, both falling. Catches a choice of species that is dropped, particles that no
// longer belong to their numbers, a mass that is that of all.
static void species_are_measured_apart(void)
{
    test_folder folder = test_folder_make();
    rp_world_def def = rp_default_world_def();
    rp_box_def box = rp_default_box_def();
    rp_run_def run_def = rp_default_run_def();
    const rp_material_def sand = rp_default_sand_def(), water = rp_default_material_def(RP_WATER);
    rp_material of_sand, of_water;
    rp_run *run;
    rp_run_end end;
    rp_measured *m;
    def.method = "mixture";
    def.dimension = 2;
    def.dx = 0.1;
    def.fps = 10.0;
    CHECK_OK(rp_world_create(&def, &run_def.world));
    CHECK_OK(rp_world_add_material(run_def.world, &sand, &of_sand));
    CHECK_OK(rp_world_add_material(run_def.world, &water, &of_water));
    for (int k = 0; k < 2; k++) {
        box.material = k == 0 ? of_sand : of_water;
        memcpy(box.lower, (double[]){0.0, 2.0 * k, 0.0}, sizeof box.lower);
        memcpy(box.upper, (double[]){0.4, 2.0 * k + 0.4, 0.0}, sizeof box.upper);
        CHECK_OK(rp_world_add_box(run_def.world, &box, NULL));
    }
    run_def.frames = 1;
    CHECK_OK(rp_run_open(folder.path, RP_RUN_NEW, &run));
    CHECK_OK(rp_run_go(run, &run_def, &end));
    rp_run_close(run);
    rp_world_destroy(run_def.world);
    for (int k = 0; k < 2; k++) {
        const char *species = k == 0 ? "solid" : "water";
        const double mass = 0.16 * (k == 0 ? sand.density : water.density);
        check_context("%s", species);
        CHECK_OK(measure(folder.path, "center", "species", species, &m));
        CHECK_NEAR(m->value[rp_measured_column(m, "mass_kg")], mass, 1e-6 * mass);
        CHECK_NEAR(m->value[rp_measured_column(m, "y_m")], 2.0 * k + 0.2 - 0.5 * 9.81 * 0.01, 5e-3);
        rp_measured_free(m);
        CHECK_OK(measure(folder.path, "discharge", "species", species, &m));
        CHECK_NEAR(m->value[rp_measured_column(m, "mass_kg")], mass, 1e-6 * mass);
        rp_measured_free(m);
    }
    CHECK_OK(measure(folder.path, "mean", "of", "velocity.y", &m));
    CHECK_NEAR(m->value[rp_measured_column(m, "mean")], -0.981, 1e-5);
    rp_measured_free(m);
    CHECK_ERROR(measure(folder.path, "mean", "of", "velocty", &m), RP_ERR_ARGUMENT, "'velocty'");
    CHECK_ERROR(measure(folder.path, "center", "species", "mud", &m), RP_ERR_ARGUMENT,
                "no species 'mud' in this frame: it has solid, water");
    test_folder_remove(&folder);
}

static void the_page_is_made_from_the_table(void)
{
    check_page("measure.md", rp_measure_reference());
}

TEST_MAIN(TEST(quantiles_are_those_of_a_ramp), TEST(pieces_are_found_where_they_went),
          TEST(a_cone_has_its_slope), TEST(a_bulging_disc_is_not_round),
          TEST(particles_are_matched_by_id), TEST(tables_are_read_as_they_are_written),
          TEST(a_falling_block_is_measured), TEST(species_are_measured_apart),
          TEST(the_page_is_made_from_the_table))
