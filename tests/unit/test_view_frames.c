// Tests how frames become what a page gets: src/view/frames.c and parcel.c.
#include "base/result.h"
#include "view/frames.h"

#include "check.h"
#include "folder.h"
#include "frame_world.h"
#include "repose/render.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct scenery {
    test_folder folder;
    rp_frames frames;
    double (*x)[3]; // of frame 0
    double *id;
    int64_t count;
} scenery;

// A run's folder with three frames of the same world: at the start, after a step, as after the
// first.
// @param size of the boxes [cells]
static void make(scenery *s, int dimension, double size)
{
    static const int steps[] = {0, 1, 0};
    char path[128];
    *s = (scenery){.folder = test_folder_make()};
    rp_world *world = frame_world(dimension, RP_SINGLE, 2, FRAME_PENDING, size);
    snprintf(s->frames.folder, sizeof s->frames.folder, "%s", s->folder.path);
    CHECK_EQUAL(mkdir(test_path(&s->folder, "frames"), 0777), 0);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < steps[i]; k++) {
            CHECK_OK(rp_world_step(world));
        }
        frame_state state = frame_world_save(world);
        snprintf(path, sizeof path, "%s/frames/frame.%06d.hdf", s->folder.path, i);
        CHECK_OK(rp_frame_write(path, state.data, state.size, NULL));
        rp_state_free(state.data);
    }
    rp_world_destroy(world);
    rp_frame *frame;
    rp_frame_info info;
    snprintf(path, sizeof path, "%s/frames/frame.000000.hdf", s->folder.path);
    CHECK_OK(rp_frame_open(path, &frame));
    rp_frame_get_info(frame, &info);
    s->count = info.particles;
    s->x = malloc((size_t)s->count * sizeof *s->x);
    s->id = malloc((size_t)s->count * sizeof *s->id);
    CHECK_OK(rp_frame_read(frame, "position", 0, s->count, s->x[0]));
    CHECK_OK(rp_frame_read(frame, "id", 0, s->count, s->id));
    rp_frame_close(frame);
    s->frames.room = 1 << 20;
}

static void unmake(scenery *s)
{
    rp_frames_end(&s->frames);
    test_folder_remove(&s->folder);
    free(s->x);
    free(s->id);
}

// A binary parcel, taken apart as the page does it.
typedef struct message {
    unsigned char *bytes;
    size_t size;
    json_t *json;
    const uint16_t *codes;
    size_t code_count;
} message;

static message unpack(rp_parcel *parcel)
{
    message m = {.size = rp_parcel_size(parcel)};
    uint32_t length = 0;
    m.bytes = malloc(m.size + 1);
    // in odd portions, as a socket would take it
    for (size_t at = 0; at < m.size;) {
        struct iovec piece[RP_PARCEL_PIECES];
        RP_ASSERT(rp_parcel_rest(parcel, at, piece) > 0);
        const size_t part = piece[0].iov_len < 1013 ? piece[0].iov_len : 1013;
        memcpy(m.bytes + at, piece[0].iov_base, part);
        at += part;
    }
    memcpy(&length, m.bytes, 4);
    m.json = json_loadb((char *)m.bytes + 4, length, 0, NULL);
    m.codes = (const uint16_t *)(void *)(m.bytes + 4 + length);
    m.code_count = (m.size - 4 - length) / 2;
    rp_parcel_release(parcel);
    return m;
}

static void discard(message *m)
{
    json_decref(m->json);
    free(m->bytes);
}

static const char *codes_of(const message *m, const char *what)
{
    return json_string_value(json_object_get(json_object_get(m->json, what), "codes"));
}

static double part(const message *m, const char *what, const char *key, size_t k)
{
    const json_t *list = json_object_get(json_object_get(m->json, what), key);
    return json_number_value(json_array_get(list, k));
}

// @param step one in so many is expected
static void check_places(const scenery *s, const message *m, int64_t step)
{
    const int64_t count = (s->count + step - 1) / step;
    CHECK_EQUAL(json_integer_value(json_object_get(m->json, "count")), count);
    CHECK_EQUAL(json_integer_value(json_object_get(m->json, "step")), step);
    CHECK_EQUAL(json_integer_value(json_object_get(m->json, "particles")), s->count);
    CHECK_EQUAL(m->code_count, 4 * count);
    for (int64_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 3; k++) {
            const double unit = part(m, "places", "unit", k);
            CHECK_NEAR(part(m, "places", "origin", k) + unit * m->codes[3 * i + (int64_t)k],
                       s->x[i * step][k], 0.51 * unit);
        }
        CHECK_NEAR(part(m, "colors", "origin", 0) +
                       part(m, "colors", "unit", 0) * m->codes[3 * count + i],
                   s->id[i * step], 0.51 * part(m, "colors", "unit", 0));
    }
}

static void codes_stand_for_places_and_ids(void)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        scenery s;
        rp_parcel parcel;
        CHECK_HELPER(make(&s, dimension, 6));
        check_context("%dD", dimension);
        CHECK_OK(rp_frames_send(&s.frames, 0, 1, 0, "id", &parcel));
        message m = unpack(&parcel);
        CHECK_HELPER(check_places(&s, &m, 1));
        discard(&m);
        unmake(&s);
    }
}

// Catches shades by another number than the id, and materials without their colours: sand is
// amber, rubber is what the scene says.
static void grains_look_as_in_pictures(void)
{
    static const char scene[] = "{\"materials\": [{\"word\": \"material.sand\"}, "
                                "{\"word\": \"material.elastic\", \"color\": [0.2, 0.4, 1.0]}]}";
    static const double blue[3] = {0.2, 0.4, 1.0};
    scenery s;
    rp_parcel parcel;
    rp_record *record;
    CHECK_HELPER(make(&s, 3, 6));
    test_write_file(test_path(&s.folder, "run.json"), "{}", 2);
    test_write_file(test_path(&s.folder, "scene.resolved.json"), scene, sizeof scene - 1);
    CHECK_OK(rp_record_open(s.folder.path, &record));
    s.frames.record = record;
    CHECK_OK(rp_frames_send(&s.frames, 0, 1, 0, "grains", &parcel));
    message m = unpack(&parcel);
    const char *palette =
        json_string_value(json_object_get(json_object_get(m.json, "colors"), "palette"));
    rp_reader *reader;
    rp_batch b = {.want = RP_READ_ID | RP_READ_GROUP};
    char path[128];
    snprintf(path, sizeof path, "%s/frames/frame.000000.hdf", s.folder.path);
    CHECK_OK(rp_reader_open(path, record, &reader));
    CHECK_OK(rp_reader_read(reader, 0, s.count, &b));
    for (int64_t i = 0; i < s.count; i++) {
        unsigned char rgb[3];
        char want[7];
        if (b.material[i] == 1) {
            rp_grain_tint(blue, b.id[i], rgb);
        } else {
            rp_grain_color(b.id[i], rgb);
        }
        snprintf(want, sizeof want, "%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
        CHECK(strncmp(palette + 6 * (size_t)m.codes[3 * s.count + i], want, 6) == 0);
    }
    rp_batch_free(&b);
    rp_reader_close(reader);
    discard(&m);
    unmake(&s);
    rp_record_close(record);
}

static int64_t picked(rp_frames *frames, rp_message m)
{
    rp_parcel parcel;
    int64_t id = -2;
    if (rp_frames_particle(frames, &m, &parcel) != RP_OK) {
        return id;
    }
    json_t *json = json_loadb((char *)parcel.piece[0]->data, parcel.piece[0]->size, 0, NULL);
    const json_t *columns = json_object_get(json, "columns");
    id = -1;
    for (size_t c = 0; c < json_array_size(columns); c++) {
        const json_t *column = json_array_get(columns, c);
        if (strcmp(json_string_value(json_object_get(column, "name")), "id") == 0) {
            id = (int64_t)json_number_value(json_array_get(json_object_get(column, "values"), 0));
        }
    }
    json_decref(json);
    rp_parcel_release(&parcel);
    return id;
}

// Catches a particle that is skipped or taken twice where parts of a column meet.
static void of_too_many_one_in_so_many_is_sent(void)
{
    scenery s;
    rp_parcel parcel;
    CHECK_HELPER(make(&s, 3, 17));
    CHECK(s.count > 65536);            // a part
    s.frames.most = (s.count + 2) / 3; // three do not divide a part evenly
    CHECK_OK(rp_frames_send(&s.frames, 0, 1, 0, "id", &parcel));
    message m = unpack(&parcel);
    CHECK_HELPER(check_places(&s, &m, (s.count + s.frames.most - 1) / s.frames.most));
    discard(&m);
    // and the last of all is found
    const rp_message last = {
        .want = RP_WANT_FOLLOW, .color = "speed", .id = (uint64_t)s.id[s.count - 1]};
    CHECK_EQUAL(picked(&s.frames, last), last.id);
    unmake(&s);
}

static void a_client_gets_what_it_has_not(void)
{
    scenery s;
    rp_parcel parcel;
    CHECK_HELPER(make(&s, 2, 6));
    static const struct {
        int slot;
        uint64_t serial;
        int64_t frame;
        const char *color, *places, *colors;
    } step[] = {
        {0, 1, 0, "speed", "all", "all"},        {0, 1, 0, "speed", "same", "same"},
        {0, 1, 0, "height", "same", "all"},      {0, 1, 1, "height", "all", "all"},
        {0, 1, 2, "height", "blocks", "blocks"}, // another file that holds the same
        {1, 2, 2, "height", "all", "all"},       // another client
        {0, 3, 2, "height", "all", "all"},       // one that took the place of the first
    };
    for (size_t i = 0; i < sizeof step / sizeof step[0]; i++) {
        check_context("step %zu", i);
        CHECK_OK(rp_frames_send(&s.frames, step[i].slot, step[i].serial, step[i].frame,
                                step[i].color, &parcel));
        message m = unpack(&parcel);
        CHECK(strcmp(codes_of(&m, "places"), step[i].places) == 0);
        CHECK(strcmp(codes_of(&m, "colors"), step[i].colors) == 0);
        CHECK(strcmp(step[i].places, "blocks") != 0 || m.code_count == 0);
        discard(&m);
    }
    unmake(&s);
}

static message sent(rp_frames *frames, int slot, int64_t frame, const char *color)
{
    rp_parcel parcel;
    if (rp_frames_send(frames, slot, 1, frame, color, &parcel) != RP_OK) {
        return (message){0};
    }
    return unpack(&parcel);
}

// What the page does with what it gets, "all" or "blocks".
// @return how many codes of the message are used by then
static size_t patch(const message *m, const char *what, int comps, size_t used, uint16_t *codes)
{
    const json_t *about = json_object_get(m->json, what);
    const size_t count = (size_t)json_integer_value(json_object_get(m->json, "count"));
    const json_t *blocks = json_object_get(about, "blocks");
    if (strcmp(codes_of(m, what), "all") == 0) {
        memcpy(codes, m->codes + used, count * (size_t)comps * sizeof *codes);
        return used + count * (size_t)comps;
    }
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        const size_t first = (size_t)json_integer_value(json_array_get(blocks, i)) * RP_BLOCK;
        const size_t rows = count - first < RP_BLOCK ? count - first : RP_BLOCK;
        memcpy(codes + first * (size_t)comps, m->codes + used,
               rows * (size_t)comps * sizeof *codes);
        used += rows * (size_t)comps;
    }
    return used;
}

// A frame of grains at rest in a row, of which one in the second block and the last one of all may
// have moved.
static void write_row(const scenery *s, int frame, double moved)
{
    enum { GRAINS = 4 * RP_BLOCK + 100 };
    double(*x)[3] = calloc(GRAINS, sizeof *x);
    char path[128];
    rp_world_def def = rp_default_world_def();
    rp_world *world;
    def.dx = 0.1;
    CHECK_OK(rp_world_create(&def, &world));
    for (int i = 0; i < GRAINS; i++) {
        x[i][0] = 0.1 * i;
    }
    x[RP_BLOCK + 7][1] = x[GRAINS - 1][1] = moved;
    rp_points_def points = rp_default_points_def();
    const rp_material_def sand = rp_default_sand_def();
    CHECK_OK(rp_world_add_material(world, &sand, &points.material));
    points.count = GRAINS;
    points.position = x[0];
    points.volume = 1e-4;
    CHECK_OK(rp_world_add_points(world, &points, NULL));
    frame_state state = frame_world_save(world);
    snprintf(path, sizeof path, "%s/frames/frame.%06d.hdf", s->folder.path, frame);
    CHECK_OK(rp_frame_write(path, state.data, state.size, NULL));
    rp_state_free(state.data);
    rp_world_destroy(world);
    free(x);
}

// Catches a block that lands in the wrong place, and the last one, which is not full.
static void blocks_that_changed_make_the_new_frame_of_the_old(void)
{
    scenery s;
    CHECK_HELPER(make(&s, 2, 6));
    CHECK_HELPER(write_row(&s, 5, 0.5));
    CHECK_HELPER(write_row(&s, 6, 0.75));
    message before = sent(&s.frames, 0, 5, "height"), after = sent(&s.frames, 0, 6, "height");
    message whole = sent(&s.frames, 1, 6, "height");
    CHECK(before.json != NULL && after.json != NULL && whole.json != NULL);
    CHECK(strcmp(codes_of(&after, "places"), "blocks") == 0);
    const json_t *blocks = json_object_get(json_object_get(after.json, "places"), "blocks");
    CHECK_EQUAL(json_array_size(blocks), 2);
    CHECK_EQUAL(json_integer_value(json_array_get(blocks, 0)), 1);
    CHECK_EQUAL(json_integer_value(json_array_get(blocks, 1)), 4);
    uint16_t *codes = malloc(before.code_count * sizeof *codes);
    uint16_t *colors = codes + before.code_count / 4 * 3;
    for (int i = 0; i < 2; i++) {
        const message *m = i == 0 ? &before : &after;
        const size_t used = patch(m, "places", 3, 0, codes);
        CHECK_EQUAL(patch(m, "colors", 1, used, colors), m->code_count);
    }
    CHECK_EQUAL(whole.code_count, before.code_count);
    CHECK(memcmp(codes, whole.codes, whole.code_count * sizeof *codes) == 0);
    CHECK(memcmp(codes, before.codes, whole.code_count * sizeof *codes) != 0);
    free(codes);
    discard(&before);
    discard(&after);
    discard(&whole);
    unmake(&s);
}

// What is remembered is bounded, and what clients still have outlives it.
static void the_cache_keeps_to_its_room(void)
{
    scenery s;
    rp_parcel parcel, first;
    CHECK_HELPER(make(&s, 2, 6));
    s.frames.room = 1; // the newest sheet stays, whatever its size
    CHECK_OK(rp_frames_send(&s.frames, 0, 1, 0, "id", &first));
    for (int i = 0; i < 6; i++) {
        CHECK_OK(rp_frames_send(&s.frames, i % 3, 1, i % 3, i % 2 ? "speed" : "id", &parcel));
        rp_parcel_release(&parcel);
        CHECK(s.frames.first != NULL && s.frames.first->next == NULL);
    }
    message m = unpack(&first);
    CHECK_HELPER(check_places(&s, &m, 1));
    discard(&m);
    rp_frames_forget(&s.frames);
    CHECK_EQUAL(s.frames.used, 0);
    unmake(&s);
}

// Against the obvious: of all that the ray passes, the one with the least distance along it.
static void a_ray_meets_the_first_particle(void)
{
    scenery s;
    CHECK_HELPER(make(&s, 3, 6));
    rp_message m = {.want = RP_WANT_PICK, .color = "speed", .along = {0, 0, -1}};
    for (int64_t i = 0; i < s.count; i += 17) {
        memcpy(m.from, (double[]){s.x[i][0], s.x[i][1], s.x[i][2] + 5.0}, sizeof m.from);
        const int64_t id = picked(&s.frames, m);
        const rp_sheet *places = s.frames.first;
        while (places->color[0] != '\0') {
            places = places->next;
        }
        const double radius = places->radius;
        int64_t nearest = i;
        for (int64_t k = 0; k < s.count; k++) {
            const bool hit = hypot(s.x[k][0] - s.x[i][0], s.x[k][1] - s.x[i][1]) < radius;
            nearest = hit && s.x[k][2] > s.x[nearest][2] ? k : nearest;
        }
        // codes are rounded, so of two that are as near either will do
        int64_t found = 0;
        while (found < s.count && (int64_t)s.id[found] != id) {
            found++;
        }
        check_context("particle %lld", (long long)i);
        CHECK(found < s.count);
        CHECK_NEAR(s.x[found][2], s.x[nearest][2], 1e-3);
        // what a plane hides is not met
        memcpy(m.plane, (double[]){0, 0, 1, s.x[i][2] - 1e3}, sizeof m.plane);
        CHECK_EQUAL(picked(&s.frames, m), -1);
        memset(m.plane, 0, sizeof m.plane);
    }
    m.along[2] = 1.0;
    CHECK_EQUAL(picked(&s.frames, m), -1);
    m = (rp_message){.want = RP_WANT_FOLLOW, .color = "speed", .id = 5};
    CHECK_EQUAL(picked(&s.frames, m), 5);
    m.id = 1 << 30;
    CHECK_EQUAL(picked(&s.frames, m), -1);
    m.frame = 9;
    CHECK_EQUAL(picked(&s.frames, m), -2);
    unmake(&s);
}

// Catches a lattice that is too coarse for a heap because one grain of it flew off.
static void what_flew_off_does_not_make_the_rest_coarse(void)
{
    static const double away[2][3] = {{1000.5, 2.25, -3.0}, {0.25, -40.5, 0.0}};
    scenery s;
    rp_parcel parcel;
    CHECK_HELPER(make(&s, 3, 6));
    rp_world *world = frame_world(3, RP_DOUBLE, 2, FRAME_CALM, 6);
    rp_points_def points = rp_default_points_def();
    points.count = 2;
    points.position = away[0];
    points.volume = 1e-4;
    CHECK_OK(rp_world_add_points(world, &points, NULL));
    frame_state state = frame_world_save(world);
    CHECK_OK(rp_frame_write(test_path(&s.folder, "frames/frame.000005.hdf"), state.data, state.size,
                            NULL));
    CHECK_OK(rp_frames_send(&s.frames, 0, 1, 5, "id", &parcel));
    message m = unpack(&parcel);
    const json_t *strays = json_object_get(m.json, "strays");
    CHECK_EQUAL(json_array_size(strays), 2);
    for (size_t k = 0; k < 3; k++) {
        CHECK(part(&m, "places", "unit", k) < 1e-4); // the heap is about a metre wide
    }
    for (size_t i = 0; i < 2; i++) {
        const json_t *stray = json_array_get(strays, i);
        const json_int_t row = json_integer_value(json_array_get(stray, 0));
        for (size_t k = 0; k < 3; k++) {
            CHECK_EQUAL(json_number_value(json_array_get(stray, k + 1)), away[i][k]);
            CHECK_EQUAL(m.codes[3 * row + (json_int_t)k], RP_CODE_NONE);
        }
        // and it can be clicked on
        rp_message ray = {.want = RP_WANT_PICK, .frame = 5, .color = "speed", .along = {0, 0, -1}};
        memcpy(ray.from, (double[]){away[i][0], away[i][1], away[i][2] + 5.0}, sizeof ray.from);
        const double id =
            part(&m, "colors", "origin", 0) +
            part(&m, "colors", "unit", 0) * m.codes[m.code_count / 4 * 3 + (size_t)row];
        CHECK_NEAR((double)picked(&s.frames, ray), id, 0.5);
    }
    discard(&m);
    rp_state_free(state.data);
    rp_world_destroy(world);
    unmake(&s);
}

static void frames_that_are_damaged_or_missing_are_named(void)
{
    scenery s;
    rp_parcel parcel;
    CHECK_HELPER(make(&s, 2, 6));
    CHECK_ERROR(rp_frames_send(&s.frames, 0, 1, 7, "speed", &parcel), RP_ERR_FILE, "frame 7");
    CHECK_ERROR(rp_frames_send(&s.frames, 0, 1, 0, "sped", &parcel), RP_ERR_ARGUMENT, "speed");
    test_write_file(test_path(&s.folder, "frames/frame.000001.hdf"), "no frame", 8);
    CHECK_ERROR(rp_frames_send(&s.frames, 0, 1, 1, "speed", &parcel), RP_ERR_FILE, "000001");
    CHECK_OK(rp_frames_send(&s.frames, 0, 1, 0, "speed", &parcel));
    rp_parcel_release(&parcel);
    unmake(&s);
}

static void text_that_is_not_utf_8_can_be_said(void)
{
    json_t *odd = rp_json_text("a\xff\"b"), *even = rp_json_text("é");
    CHECK(strcmp(json_string_value(odd), "a?\"b") == 0);
    CHECK(strcmp(json_string_value(even), "é") == 0);
    json_decref(odd);
    json_decref(even);
    CHECK(json_is_null(rp_json_number(NAN)) && json_is_null(rp_json_number(INFINITY)));
}

TEST_MAIN(TEST(codes_stand_for_places_and_ids), TEST(grains_look_as_in_pictures),
          TEST(of_too_many_one_in_so_many_is_sent), TEST(a_client_gets_what_it_has_not),
          TEST(blocks_that_changed_make_the_new_frame_of_the_old),
          TEST(the_cache_keeps_to_its_room), TEST(a_ray_meets_the_first_particle),
          TEST(what_flew_off_does_not_make_the_rest_coarse),
          TEST(frames_that_are_damaged_or_missing_are_named),
          TEST(text_that_is_not_utf_8_can_be_said))
