// Tests src/io/record.c: what a run's folder says of its materials and colliders.
#include "repose/measure.h"
#include "repose/record.h"
#include "repose/run.h"

#include "check.h"
#include "folder.h"

#include <stdio.h>
#include <string.h>

static rp_result open_with(const test_folder *folder, const char *scene, rp_record **record)
{
    test_write_file(test_path(folder, "run.json"), "{}", 2);
    test_write_file(test_path(folder, "scene.resolved.json"), scene, (long)strlen(scene));
    return rp_record_open(folder->path, record);
}

static void materials_are_as_the_scene_said(void)
{
    test_folder folder = test_folder_make();
    rp_record *record;
    rp_record_info info;
    double rgb[3] = {0};
    CHECK_OK(
        open_with(&folder,
                  "{\"materials\": [{\"word\": \"material.sand\", \"name\": \"a\", \"young\": 5}, "
                  "{\"word\": \"material.elastic\", \"poisson\": 0.1, \"color\": [0.1, 0.2, 1]}]}",
                  &record));
    rp_record_get_info(record, &info);
    CHECK_EQUAL(info.up, 1);
    CHECK_EQUAL(rp_record_up(folder.path), 1);
    CHECK_EQUAL(rp_record_up("/nowhere"), 1);
    CHECK_EQUAL(info.materials, 2);
    CHECK_EQUAL(rp_record_material(record, 0)->kind, RP_SAND);
    CHECK_EQUAL(rp_record_material(record, 1)->kind, RP_ELASTIC);
    CHECK(strcmp(rp_record_material(record, 0)->name, "a") == 0);
    CHECK_NEAR(rp_record_material(record, 0)->young, 5.0, 0.0);
    CHECK_NEAR(rp_record_material(record, 1)->poisson, 0.1, 0.0);
    CHECK(!rp_record_material_color(record, 0, rgb) && rp_record_material_color(record, 1, rgb));
    CHECK_NEAR(rgb[1], 0.2, 0.0);
    rp_record_close(record);
    CHECK_OK(open_with(&folder, "{\"scene\": {\"up\": \"z\"}}", &record));
    rp_record_get_info(record, &info);
    CHECK_EQUAL(info.up, 2);
    CHECK_EQUAL(rp_record_up(folder.path), 2);
    rp_record_close(record);
    test_folder_remove(&folder);
}

// Catches one that is taken for sand because nobody knows better.
static void a_material_that_is_not_known_is_named(void)
{
    test_folder folder = test_folder_make();
    rp_record *record;
    CHECK_ERROR(
        open_with(&folder,
                  "{\"materials\": [{\"word\": \"material.sand\"}, "
                  "{\"word\": \"material.treacle\"}]}",
                  &record),
        RP_ERR_FILE,
        "scene.resolved.json: materials[1]: there is no material 'treacle'; there are sand, "
        "elastic, water");
    CHECK(record == NULL);
    CHECK_ERROR(open_with(&folder, "{\"materials\": [{\"young\": 5}]}", &record), RP_ERR_FILE,
                "does not say what it is");
    CHECK_ERROR(open_with(&folder,
                          "{\"materials\": [{\"word\": \"material.sand\", \"young\": \"soft\"}]}",
                          &record),
                RP_ERR_FILE, "material sand: its young cannot be read");
    CHECK_ERROR(open_with(&folder,
                          "{\"materials\": [{\"word\": \"material.sand\", \"young\": -5}]}",
                          &record),
                RP_ERR_FILE, "sand.young: want > 0 Pa, got -5");
    test_folder_remove(&folder);
}

// ---- colliders ----

static rp_result glide(void *context, double t, rp_pose *pose)
{
    *pose = (rp_pose){{*(const double *)context * t}, {0.0, 0.0, 0.0, 1.0}};
    return RP_OK;
}

// Each goes its own way, whatever it is called. A name that was cut inside a letter made no JSON,
// so that the next collider took its place in the list and its way; one that was empty never moved.
static void colliders_go_by_number(void)
{
    static const char *const names[] = {
        ("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
         "\u00e9"
         "\u00e9"), // 32 bytes: once there was room for 31
        "=1+1",
        "-x",
        "a \"quoted\", comma",
        "x_y-4",
        "x y",
        "'",
        "../../tmp/x",
        "collider8_a_b",
        "a b",
        "A B",
        "123456789012345678901234567890123456789012345678901234567890123", // 63
    };
    enum { NAMES = sizeof names / sizeof names[0] };
    double speed[NAMES];
    rp_world_def def = rp_default_world_def();
    rp_run_def run_def = rp_default_run_def();
    test_folder folder = test_folder_make();
    rp_run *run;
    rp_run_end end;
    rp_shape *ball;
    def.dx = 0.1;
    def.fps = 10.0;
    CHECK_OK(rp_world_create(&def, &run_def.world));
    for (int i = 0; i < NAMES; i++) {
        rp_collider_def c = rp_default_collider_def();
        const double center[3] = {0.0, i, 0.0};
        speed[i] = 1.0 + i;
        CHECK_OK(rp_shape_sphere(center, 0.2, &ball));
        c.shape = ball;
        c.name = names[i];
        c.motion = (rp_pose_of_time){glide, &speed[i]};
        CHECK_OK(rp_world_add_collider(run_def.world, &c));
        rp_shape_release(ball);
    }
    run_def.frames = 2;
    CHECK_OK(rp_run_open(folder.path, RP_RUN_NEW, &run));
    CHECK_OK(rp_run_go(run, &run_def, &end));
    rp_run_close(run);
    rp_world_destroy(run_def.world);

    rp_record *record;
    rp_record_info info;
    CHECK_OK(rp_record_open(folder.path, &record));
    rp_record_get_info(record, &info);
    CHECK_EQUAL(info.colliders, NAMES);
    for (int i = 0; i < NAMES; i++) {
        const rp_record_collider *c = rp_record_collider_at(record, i);
        check_context("%s", names[i]);
        CHECK_EQUAL(c->number, i);
        CHECK(strcmp(c->name, names[i]) == 0);
        CHECK_NEAR(rp_record_pose(record, i, 2.0).position[0], 0.2 * speed[i], 1e-12);
        // its own mesh, not that of one whose file has the same name
        CHECK_NEAR((double)c->surface.vertex[0][1], i, 0.21);
        // and tables find it by that name
        rp_measure_def m = rp_default_measure_def();
        rp_measured *table;
        m.folder = folder.path;
        m.name = "wall";
        m.argument = &(rp_measure_argument){"collider", names[i]};
        m.arguments = 1;
        CHECK_OK(rp_measure(&m, &table));
        CHECK_EQUAL(table->rows, 1);
        rp_measured_free(table);
    }
    rp_record_close(record);
    // those that cannot be drawn are not in the list
    const char *list = "[{\"collider\": 1, \"name\": \"b\", \"file\": \"_1_1-1.ply\"}]";
    test_write_file(test_path(&folder, "shapes/shapes.json"), list, (long)strlen(list));
    CHECK_OK(rp_record_open(folder.path, &record));
    CHECK_NEAR(rp_record_pose(record, 0, 2.0).position[0], 0.2 * speed[1], 1e-12);
    rp_record_close(record);
    test_folder_remove(&folder);
}

TEST_MAIN(TEST(colliders_go_by_number), TEST(materials_are_as_the_scene_said),
          TEST(a_material_that_is_not_known_is_named))
