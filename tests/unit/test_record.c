// Tests src/io/record.c: what a run's folder says of its materials.
#include "repose/record.h"

#include "check.h"
#include "folder.h"

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

TEST_MAIN(TEST(materials_are_as_the_scene_said), TEST(a_material_that_is_not_known_is_named))
