// Tests src/io: a frame gives back the state it was made of, and nothing else is taken for one.
#include "io/frame.h"
#include "io/rows.h"
#include "io/seal.h"
#include "repose/frame.h"

#include "check.h"
#include "folder.h"
#include "frame_world.h"
#include "random.h"
#include "test_set.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALL = 2 }; // cells along a box of particles

static void write_small_frame(const char *path, int dimension, rp_precision precision)
{
    rp_world *world = frame_world(dimension, precision, 2, FRAME_PENDING, SMALL);
    frame_state state = frame_world_save(world);
    CHECK_OK(rp_frame_write(path, state.data, state.size, NULL));
    rp_state_free(state.data);
    rp_world_destroy(world);
}

// Neither opens nor gives a state, and says why.
static void check_refused(const char *path, const char *sentence)
{
    rp_frame *frame;
    void *state;
    size_t size;
    CHECK_ERROR(rp_frame_open(path, &frame), RP_ERR_FILE, sentence);
    CHECK(frame == NULL);
    CHECK(strstr(rp_last_error(), path) != NULL);
    CHECK_ERROR(rp_frame_read_state(path, &state, &size), RP_ERR_FILE, sentence);
    CHECK(state == NULL && size == 0);
    CHECK(strstr(rp_last_error(), path) != NULL);
}

static void the_library_is_the_one_for_threads(void)
{
    hbool_t threadsafe = 0;
    CHECK(H5is_library_threadsafe(&threadsafe) >= 0);
    CHECK(threadsafe);
}

// --- there and back ---

// Anything that the file forgets, orders otherwise or rounds makes the bytes differ.
static void a_frame_gives_the_state_back_bit_for_bit(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    for (int i = 0; i < 2 * 2 * 3 * FRAME_KINDS; i++) {
        const int dim = 2 + i % 2, order = 1 + i / 4 % 3;
        const rp_precision precision = i / 2 % 2 ? RP_DOUBLE : RP_SINGLE;
        const frame_world_kind kind = (frame_world_kind)(i / 12);
        if (!test_is_built(dim, order, precision)) {
            continue;
        }
        check_context("%dD, %s, order %d, kind %d", dim, precision ? "double" : "single", order,
                      kind);
        rp_world *world = frame_world(dim, precision, order, kind, 9.0);
        frame_state state = frame_world_save(world);
        CHECK_OK(rp_frame_write(path, state.data, state.size, NULL));
        void *back;
        size_t size;
        CHECK_OK(rp_frame_read_state(path, &back, &size));
        CHECK_EQUAL(size, state.size);
        CHECK(memcmp(back, state.data, size) == 0);
        CHECK_OK(rp_world_restore(world, back, size));
        rp_state_free(back);
        rp_state_free(state.data);
        rp_world_destroy(world);
    }
    CHECK_EQUAL(test_folder_entries(&folder), 1);
    test_folder_remove(&folder);
}

static void the_same_state_makes_the_same_file(void)
{
    test_folder folder = test_folder_make();
    long size[2];
    char *bytes[2];
    for (int i = 0; i < 2; i++) {
        const char *path = test_path(&folder, i == 0 ? "one.hdf" : "two.hdf");
        CHECK_HELPER(write_small_frame(path, 3, RP_SINGLE));
        bytes[i] = test_read_file(path, &size[i]);
        sleep(i == 0); // a time in the file would differ
    }
    CHECK_EQUAL(size[0], size[1]);
    CHECK(memcmp(bytes[0], bytes[1], (size_t)size[0]) == 0);
    free(bytes[0]);
    free(bytes[1]);
    test_folder_remove(&folder);
}

// A state of one particle per page, made by hand: blocks anywhere in the addressable space,
// positions anywhere in their range.
static void *random_positions(uint64_t *random, int dim, int order, double h, rp_state_view *view)
{
    enum { PAGES = 2000 };
    const rp_state_header header = {
        .magic = RP_STATE_MAGIC,
        .h = h,
        .fps = 24.0,
        .fields = 1,
        .dim = dim,
        .order = order,
        .precision = RP_SINGLE,
        .species = 1,
    };
    const rp_state_species species = {
        .name = "solid",
        .columns = 1 << RP_COL_POSITION | 1 << RP_COL_GROUP | 1 << RP_COL_ID,
        .pages = PAGES,
        .slots = PAGES * RP_LANES,
        .count = PAGES,
    };
    if (rp_state_measure(&header, &species, NULL, view) != RP_OK) {
        return NULL;
    }
    char *state = calloc(1, view->bytes + RP_STATE_ALIGN);
    memcpy(state, &header, sizeof header);
    memcpy(state + sizeof header, &species, sizeof species);
    ((rp_state_header *)state)->bytes = view->bytes;
    rp_state_page *page = (rp_state_page *)(state + view->part[0].page_at);
    for (int p = 0; p < PAGES; p++) {
        page[p] = (rp_state_page){.first = p * RP_LANES, .count = 1};
        for (int a = 0; a < dim; a++) {
            page[p].block[a] = test_below(random, 2 * RP_BLOCK_LIMIT) - RP_BLOCK_LIMIT;
            int32_t *x = (int32_t *)(state + view->part[0].slots_at[RP_COL_POSITION]);
            x[(p * dim + a) * RP_LANES] = (int32_t)(test_bits(random) >> 32);
        }
    }
    return rp_state_view_make(state, view->bytes, view) == RP_OK ? state : NULL;
}

// Metres as doubles hold a fixed-point position exactly, wherever it is and whatever the spacing: a
// rounding too many would show in the last bit at the far end of space.
static void fixed_point_positions_survive_metres(void)
{
    uint64_t random = 11;
    for (int trial = 0; trial < 200; trial++) {
        const int dim = 2 + trial % 2, order = 1 + trial % 3;
        const double h = trial < 20 ? 0.01 : exp(test_between(&random, -500.0, 500.0));
        rp_state_view view;
        check_context("%dD, order %d, h %g", dim, order, h);
        char *state = random_positions(&random, dim, order, h, &view);
        CHECK(state != NULL);
        CHECK(rp_metres_are_exact(&view.layout));
        char *back = calloc(1, view.bytes);
        memcpy(back, state, view.part[0].slots_at[RP_COL_POSITION]);
        rp_rows_walk walk = {.view = &view};
        for (rp_stretch part; rp_rows_next(&walk, 1000, &part);) {
            double metres[1][3];
            rp_rows_gather_metres(&view, part, metres);
            CHECK(rp_rows_scatter_metres(&view, part, (const double(*)[3])metres, back));
        }
        CHECK(memcmp(back, state, view.bytes) == 0);
        free(back);
        free(state);
    }
}

// Where metres cannot hold a position, the file keeps the stored one.
static void positions_survive_absurd_spacings(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    uint64_t random = 12;
    for (int trial = 0; trial < 2; trial++) {
        rp_state_view view;
        char *state = random_positions(&random, 3, 2, trial == 0 ? 1e-310 : 1e300, &view);
        CHECK(state != NULL);
        CHECK(!rp_metres_are_exact(&view.layout));
        void *back;
        size_t size;
        CHECK_OK(rp_frame_write(path, state, view.bytes, NULL));
        CHECK_OK(rp_frame_read_state(path, &back, &size));
        CHECK(size == view.bytes && memcmp(back, state, size) == 0);
        rp_state_free(back);
        free(state);
    }
    test_folder_remove(&folder);
}

// --- looking at frames ---

static void check_column(const rp_world *world, const rp_frame *frame, rp_column_id column)
{
    rp_frame_info info;
    rp_frame_get_info(frame, &info);
    const char *name = rp_column_name(column);
    const int comps = rp_world_column_comps(world, column);
    const int stored = column == RP_COL_POSITION ? 3 : comps; // positions always have three
    double *want = calloc((size_t)info.particles * 9, sizeof *want);
    double *got = calloc((size_t)info.particles * 9, sizeof *got);
    CHECK_OK(rp_world_read(world, column, want));
    CHECK_OK(rp_frame_read(frame, name, 0, info.particles, got));
    for (int64_t i = 0; i < info.particles; i++) {
        for (int c = 0; c < stored; c++) {
            CHECK(got[i * stored + c] == (c < comps ? want[i * comps + c] : 0.0));
        }
    }
    // a part of it
    double few[3 * 9];
    CHECK_OK(rp_frame_read(frame, name, 7, 3, few));
    CHECK(memcmp(few, got + 7 * stored, 3 * (size_t)stored * sizeof *few) == 0);
    free(want);
    free(got);
}

static bool has_column(const rp_frame *frame, const char *name, const char *unit, int comps)
{
    rp_frame_info info;
    rp_frame_column_info column;
    rp_frame_get_info(frame, &info);
    for (int i = 0; i < info.columns; i++) {
        if (rp_frame_column(frame, i, &column) == RP_OK && strcmp(column.name, name) == 0) {
            return strcmp(column.unit, unit) == 0 && column.comps == comps && column.sentence[0];
        }
    }
    return false;
}

static void a_frame_shows_what_the_world_shows(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    for (int i = 0; i < 4; i++) {
        const int dim = 2 + i % 2;
        check_context("%dD, precision %d", dim, i / 2);
        rp_world *world = frame_world(dim, i / 2 ? RP_DOUBLE : RP_SINGLE, 2, FRAME_CALM, 4.0);
        frame_state state = frame_world_save(world);
        rp_stats stats;
        rp_frame *frame;
        rp_frame_info info;
        rp_world_stats(world, &stats);
        CHECK_OK(rp_frame_write(path, state.data, state.size,
                                &(rp_frame_words){.title = "Column collapse"}));
        CHECK_OK(rp_frame_open(path, &frame));
        rp_frame_get_info(frame, &info);
        CHECK_EQUAL(info.frame, stats.frame);
        CHECK_EQUAL(info.step, stats.step);
        CHECK_NEAR(info.time, stats.time, 1e-15);
        CHECK_NEAR(info.dx, 0.07, 0.0);
        CHECK_NEAR(info.fps, 48.0, 0.0);
        CHECK_EQUAL(info.dimension, dim);
        CHECK_EQUAL(info.precision, i / 2 ? RP_DOUBLE : RP_SINGLE);
        CHECK_EQUAL(info.particles, stats.particles);
        CHECK(info.whole);
        CHECK(strcmp(info.title, "Column collapse") == 0);
        CHECK(info.failure[0] == 0);
        for (int c = 0; c < RP_COL_COUNT; c++) {
            if (rp_world_column_comps(world, c) > 0) {
                CHECK_HELPER(check_column(world, frame, c));
            }
        }
        CHECK(has_column(frame, "position", "m", 3));
        CHECK(has_column(frame, "velocity", "m/s", dim));
        CHECK(has_column(frame, "affine", "1/s", dim * dim));
        CHECK(has_column(frame, "material", "1", 1));
        CHECK(!has_column(frame, "guilty", "1", 1));
        rp_frame_column_info first;
        CHECK_OK(rp_frame_column(frame, 0, &first));
        CHECK(strcmp(first.name, "position") == 0);
        rp_frame_close(frame);
        rp_state_free(state.data);
        rp_world_destroy(world);
    }
    test_folder_remove(&folder);
}

static void what_a_frame_does_not_have_is_refused(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    rp_frame *frame;
    rp_frame_info info;
    rp_frame_column_info column;
    double out[3];
    CHECK_HELPER(write_small_frame(path, 2, RP_SINGLE));
    CHECK_OK(rp_frame_open(path, &frame));
    rp_frame_get_info(frame, &info);
    CHECK_ERROR(rp_frame_column(frame, -1, &column), RP_ERR_ARGUMENT, "want column 0 to");
    CHECK_ERROR(rp_frame_column(frame, info.columns, &column), RP_ERR_ARGUMENT, "want column");
    CHECK_ERROR(rp_frame_read(frame, "pressure", 0, 1, out), RP_ERR_ARGUMENT, "'pressure'");
    CHECK_ERROR(rp_frame_read(frame, "../Types", 0, 1, out), RP_ERR_ARGUMENT, "no column");
    CHECK_ERROR(rp_frame_read(frame, "id", -1, 1, out), RP_ERR_ARGUMENT, "particles");
    CHECK_ERROR(rp_frame_read(frame, "id", info.particles, 1, out), RP_ERR_ARGUMENT, "particles");
    CHECK_ERROR(rp_frame_read(frame, "id", 1, INT64_MAX, out), RP_ERR_ARGUMENT, "particles");
    CHECK_OK(rp_frame_read(frame, "id", info.particles, 0, out));
    rp_frame_close(frame);
    rp_frame_close(NULL);
    test_folder_remove(&folder);
}

// The dead keep their place until the next step removes them, without a group and a material.
static void materials_and_the_guilty_are_marked(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    rp_world *world = frame_world(3, RP_SINGLE, 2, FRAME_PENDING, SMALL);
    frame_state state = frame_world_save(world);
    const uint64_t guilty[] = {0, 5, 6, 100000};
    rp_frame *frame;
    rp_frame_info info;
    CHECK_OK(rp_frame_write(path, state.data, state.size,
                            &(rp_frame_words){.failure = "particle 5 is not finite",
                                              .guilty = guilty,
                                              .guilty_count = 4}));
    CHECK_OK(rp_frame_open(path, &frame));
    rp_frame_get_info(frame, &info);
    CHECK(strcmp(info.failure, "particle 5 is not finite") == 0);
    CHECK(has_column(frame, "guilty", "1", 1));
    double *id = calloc((size_t)info.particles, sizeof *id);
    double *group = calloc((size_t)info.particles, sizeof *id);
    double *material = calloc((size_t)info.particles, sizeof *id);
    double *mark = calloc((size_t)info.particles, sizeof *id);
    CHECK_OK(rp_frame_read(frame, "id", 0, info.particles, id));
    CHECK_OK(rp_frame_read(frame, "group", 0, info.particles, group));
    CHECK_OK(rp_frame_read(frame, "material", 0, info.particles, material));
    CHECK_OK(rp_frame_read(frame, "guilty", 0, info.particles, mark));
    int dead = 0, marked = 0;
    for (int64_t i = 0; i < info.particles; i++) {
        const bool doomed = id[i] == 1.0 || id[i] == 3.0;
        dead += doomed;
        marked += mark[i] == 1.0;
        CHECK(doomed == (group[i] == RP_GROUP_DEAD));
        // sand, rubber, and the late births of sand
        CHECK(material[i] == (doomed ? RP_GROUP_DEAD : group[i] == 1.0 ? 1.0 : 0.0));
        CHECK(mark[i] == (id[i] == 0.0 || id[i] == 5.0 || id[i] == 6.0));
    }
    CHECK_EQUAL(dead, 2);
    CHECK_EQUAL(marked, 3);
    free(id);
    free(group);
    free(material);
    free(mark);
    rp_frame_close(frame);
    rp_state_free(state.data);
    rp_world_destroy(world);
    test_folder_remove(&folder);
}

// Too long for the reader, too long for the file, empty; and never half a character.
static void words_of_any_length_are_kept_or_cut(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    rp_world *world = frame_world(2, RP_SINGLE, 2, FRAME_EMPTY, SMALL);
    frame_state state = frame_world_save(world);
    static char text[100000];
    for (int length = 0; length < (int)sizeof text - 2; length = 2 * length + 2) {
        for (int shift = 0; shift < 2; shift++) {
            memset(text, 0, sizeof text);
            memset(text, 'x', (size_t)shift);
            for (int i = 0; i < length; i += 2) {
                memcpy(text + shift + i, "\xc3\xa4", 2);
            }
            const rp_frame_words words = {.title = text, .failure = text};
            rp_frame *frame;
            rp_frame_info info;
            CHECK_OK(rp_frame_write(path, state.data, state.size, &words));
            CHECK_OK(rp_frame_open(path, &frame));
            rp_frame_get_info(frame, &info);
            rp_frame_close(frame);
            const size_t whole = (size_t)(length + shift);
            const size_t title = strlen(info.title), failure = strlen(info.failure);
            CHECK(title == whole || (title < whole && title >= sizeof info.title - 3));
            CHECK(failure == whole || (failure < whole && failure >= sizeof info.failure - 3));
            CHECK(title % 2 == (size_t)shift && failure % 2 == (size_t)shift);
            CHECK(memcmp(info.title, text, title) == 0 && memcmp(info.failure, text, failure) == 0);
        }
    }
    rp_state_free(state.data);
    rp_world_destroy(world);
    test_folder_remove(&folder);
}

typedef struct unit_walk {
    int datasets, without;
} unit_walk;

static herr_t look_for_unit(hid_t file, const char *name, const H5O_info_t *info, void *context)
{
    unit_walk *walk = context;
    if (info->type == H5O_TYPE_DATASET) {
        const bool words = H5Aexists_by_name(file, name, "unit", H5P_DEFAULT) > 0 &&
                           H5Aexists_by_name(file, name, "description", H5P_DEFAULT) > 0;
        walk->datasets++;
        if (!words) {
            printf("     %s has no unit or description\n", name);
            walk->without++;
        }
    }
    return 0;
}

static void every_dataset_has_a_unit_and_a_description(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    for (int i = 0; i < 2; i++) {
        unit_walk walk = {0};
        CHECK_HELPER(write_small_frame(path, 2 + i, i ? RP_DOUBLE : RP_SINGLE));
        const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        CHECK(file >= 0);
        CHECK(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, look_for_unit, &walk, H5O_INFO_BASIC) >=
              0);
        H5Fclose(file);
        CHECK(walk.datasets > 20);
        CHECK_EQUAL(walk.without, 0);
    }
    test_folder_remove(&folder);
}

// --- without the state ---

static void a_frame_without_its_state_shows_the_rest(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    for (int i = 0; i < 4; i++) {
        const int dim = 2 + i % 2;
        rp_world *world = frame_world(dim, i / 2 ? RP_DOUBLE : RP_SINGLE, 2, FRAME_CALM, 4.0);
        frame_state state = frame_world_save(world);
        rp_frame *frame;
        rp_frame_info before, after;
        struct stat whole, rest;
        CHECK_OK(rp_frame_write(path, state.data, state.size, &(rp_frame_words){.title = "Heap"}));
        CHECK_OK(rp_frame_open(path, &frame));
        rp_frame_get_info(frame, &before);
        rp_frame_close(frame);
        CHECK_EQUAL(stat(path, &whole), 0);
        // a second time there is nothing left to drop
        for (int time = 0; time < 2; time++) {
            void *none;
            size_t size;
            CHECK_OK(rp_frame_drop_state(path));
            CHECK_EQUAL(stat(path, &rest), 0);
            CHECK(rest.st_size < whole.st_size);
            CHECK_ERROR(rp_frame_read_state(path, &none, &size), RP_ERR_FILE, "keeps no state");
            CHECK(none == NULL);
            CHECK_OK(rp_frame_open(path, &frame));
            rp_frame_get_info(frame, &after);
            CHECK(!after.whole);
            CHECK_EQUAL(after.columns, before.columns - 1);
            CHECK(!has_column(frame, "affine", "1/s", dim * dim));
            after.whole = true;
            after.columns = before.columns;
            CHECK(memcmp(&before, &after, sizeof before) == 0);
            for (int c = 0; c < RP_COL_COUNT; c++) {
                if (rp_world_column_comps(world, c) > 0 && c != RP_COL_AFFINE) {
                    CHECK_HELPER(check_column(world, frame, c));
                }
            }
            rp_frame_close(frame);
        }
        CHECK_EQUAL(test_folder_entries(&folder), 1);
        rp_state_free(state.data);
        rp_world_destroy(world);
    }
    CHECK_ERROR(rp_frame_drop_state(test_path(&folder, "none.hdf")), RP_ERR_FILE, "No such file");
    test_folder_remove(&folder);
}

// Catches stress of another particle, material or species, a column that was not asked for, and a
// state that is left in.
static void a_frame_of_chosen_columns_keeps_those_and_what_laws_say(void)
{
    static const char *const kept[] = {"position", "group",   "id",     "material",
                                       "pressure", "species", "stress", "velocity"};
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    for (int i = 0; i < 4; i++) {
        const int dim = 2 + i % 2, sym = dim == 2 ? 3 : 6;
        rp_world *world = frame_world(dim, i / 2 ? RP_DOUBLE : RP_SINGLE, 2, FRAME_PENDING, 12.0);
        rp_material_def material[2] = {*rp_world_material(world, 0), *rp_world_material(world, 1)};
        const rp_frame_choice choice = {1u << RP_COL_VELOCITY, 3, material, 2};
        frame_state state = frame_world_save(world);
        rp_frame *frame;
        rp_frame_info info;
        void *none;
        size_t size;
        check_context("%dD, precision %d", dim, i / 2);
        CHECK_OK(rp_frame_write(path, state.data, state.size, NULL));
        CHECK_OK(rp_frame_open(path, &frame));
        rp_frame_get_info(frame, &info);
        const size_t n = (size_t)info.particles;
        double *strain = calloc(n * 6, sizeof *strain), *number = calloc(n, sizeof *number);
        CHECK_OK(rp_frame_read(frame, "strain", 0, info.particles, strain));
        CHECK_OK(rp_frame_read(frame, "material", 0, info.particles, number));
        rp_frame_close(frame);

        CHECK_OK(
            rp_frame_write(path, state.data, state.size, &(rp_frame_words){.choice = &choice}));
        CHECK_ERROR(rp_frame_read_state(path, &none, &size), RP_ERR_FILE, "keeps no state");
        CHECK_OK(rp_frame_open(path, &frame));
        rp_frame_get_info(frame, &info);
        CHECK(!info.whole && info.particles == (int64_t)n);
        CHECK_EQUAL(info.columns, sizeof kept / sizeof kept[0]);
        for (int c = 0; c < info.columns; c++) {
            rp_frame_column_info column;
            CHECK_OK(rp_frame_column(frame, c, &column));
            CHECK(strcmp(column.name, kept[c]) == 0);
        }
        CHECK(has_column(frame, "stress", "Pa", 6) && has_column(frame, "pressure", "Pa", 1));
        double *stress = calloc(n * 6, sizeof *stress), *pressure = calloc(n, sizeof *pressure);
        CHECK_OK(rp_frame_read(frame, "stress", 0, info.particles, stress));
        CHECK_OK(rp_frame_read(frame, "pressure", 0, info.particles, pressure));
        double most = 0.0;
        for (size_t k = 0; k < n; k++) {
            const rp_material_state one = {.column = {[RP_COL_STRAIN] = strain + k * (size_t)sym}};
            const double *h = one.column[RP_COL_STRAIN];
            const double j = exp(h[0] + h[1] + (dim == 3 ? h[2] : 0.0));
            double want[1][6];
            // with its group a particle has lost its material, and counts as of the first
            CHECK_OK(rp_material_stress(&material[number[k] == 1.0], dim, &one, 1, want));
            for (int c = 0; c < 6; c++) {
                const double near = (i / 2 ? 1e-12 : 1e-6) * (fabs(want[0][c]) + 1.0);
                CHECK_NEAR(stress[6 * k + (size_t)c], want[0][c] / j, near);
                most = fmax(most, fabs(want[0][c]));
            }
            CHECK_NEAR(pressure[k], rp_pressure_of(&stress[6 * k], dim),
                       (i / 2 ? 1e-12 : 1e-6) * (most + 1.0));
        }
        CHECK(most > 10.0);
        rp_frame_close(frame);
        free(strain), free(number), free(stress), free(pressure);
        rp_state_free(state.data);
        rp_world_destroy(world);
    }
    test_folder_remove(&folder);
}

// --- files that are no frames ---

static void a_cut_frame_is_refused(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf"), *cut = test_path(&folder, "cut.hdf");
    long size;
    CHECK_HELPER(write_small_frame(path, 3, RP_SINGLE));
    char *bytes = test_read_file(path, &size);
    for (int i = 0; i < 40 + 200; i++) {
        const long length = i < 40 ? size * i / 40 : i < 140 ? size - 1 - (i - 40) : i - 140;
        check_context("%ld of %ld bytes", length, size);
        test_write_file(cut, bytes, length);
        CHECK_HELPER(check_refused(cut, "no frame of Repose"));
    }
    // and one with something behind it
    char *longer = calloc(1, (size_t)size + 1);
    memcpy(longer, bytes, (size_t)size);
    test_write_file(cut, longer, size + 1);
    CHECK_HELPER(check_refused(cut, "no frame of Repose"));
    free(longer);
    free(bytes);
    test_folder_remove(&folder);
}

static void a_frame_with_a_wrong_byte_is_refused(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf"), *wrong = test_path(&folder, "wrong.hdf");
    const int open_files = test_open_files();
    long size;
    CHECK_HELPER(write_small_frame(path, 2, RP_DOUBLE));
    char *bytes = test_read_file(path, &size);
    uint64_t random = 21;
    for (int trial = 0; trial < 3000; trial++) {
        const long at = (long)(test_bits(&random) % (uint64_t)size);
        const char bit = (char)(1 << test_below(&random, 8));
        check_context("trial %d, byte %ld", trial, at);
        bytes[at] ^= bit;
        test_write_file(wrong, bytes, size);
        CHECK_HELPER(check_refused(wrong, wrong));
        bytes[at] ^= bit;
    }
    CHECK_EQUAL(test_open_files(), open_files);
    free(bytes);
    test_folder_remove(&folder);
}

static void seal_again(const char *path)
{
    const int fd = open(path, O_RDWR);
    CHECK(fd >= 0);
    CHECK_OK(rp_seal(fd, path));
    close(fd);
}

static void other_files_are_refused(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "other.hdf");
    const int open_files = test_open_files();
    CHECK_HELPER(check_refused(path, "No such file or directory"));
    CHECK_HELPER(check_refused(folder.path, "Is a directory"));
    test_write_file(path, "", 0);
    CHECK_HELPER(check_refused(path, "no frame of Repose"));
    test_write_file(path, "a text that somebody gave the wrong name", 40);
    CHECK_HELPER(check_refused(path, "no frame of Repose"));
    CHECK_HELPER(seal_again(path));
    CHECK_HELPER(check_refused(path, "HDF5 cannot make sense of it"));

    // HDF5 of another kind, without and with a seal
    for (int vtk = 0; vtk < 2; vtk++) {
        const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        H5Gclose(H5Gcreate2(file, vtk ? "VTKHDF" : "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Fclose(file);
        CHECK_HELPER(check_refused(path, "no frame of Repose, or cut off"));
        CHECK_HELPER(seal_again(path));
        CHECK_HELPER(check_refused(path, "/repose@format is missing"));
    }

    // nobody writes into this pipe
    CHECK_EQUAL(mkfifo(test_path(&folder, "pipe"), 0600), 0);
    CHECK_HELPER(check_refused(test_path(&folder, "pipe"), "no ordinary file"));
    CHECK_EQUAL(test_open_files(), open_files);
    test_folder_remove(&folder);
}

// --- frames whose contents are wrong, under a good seal ---

static hid_t open_to_change(const char *path) { return H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT); }

// Closing cuts the old seal off.
static void close_changed(hid_t file, const char *path)
{
    CHECK(H5Fclose(file) >= 0);
    CHECK_HELPER(seal_again(path));
}

// An attribute of /repose, or the first row of a dataset of /repose/species.
static void set_number(const char *path, const char *name, double value)
{
    const hid_t file = open_to_change(path);
    char species[96];
    snprintf(species, sizeof species, "repose/species/%s", name);
    if (H5Lexists(file, species, H5P_DEFAULT) > 0) {
        const hid_t dataset = H5Dopen2(file, species, H5P_DEFAULT);
        CHECK(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0);
        H5Dclose(dataset);
        CHECK_HELPER(close_changed(file, path));
        return;
    }
    const hid_t group = H5Gopen2(file, "repose", H5P_DEFAULT);
    const hid_t attribute = H5Aopen(group, name, H5P_DEFAULT);
    CHECK(attribute >= 0);
    CHECK(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(attribute);
    H5Gclose(group);
    CHECK_HELPER(close_changed(file, path));
}

static void a_newer_format_is_refused_by_number(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    CHECK_HELPER(write_small_frame(path, 2, RP_SINGLE));
    CHECK_HELPER(set_number(path, "format", 3));
    // another code than damage has: a newer frame must not be passed over
    static const char wanted[] =
        "this frame has format 3, this version reads up to 2: use a newer Repose";
    rp_frame *frame;
    void *state;
    size_t size;
    CHECK_ERROR(rp_frame_open(path, &frame), RP_ERR_UNSUPPORTED, wanted);
    CHECK_ERROR(rp_frame_read_state(path, &state, &size), RP_ERR_UNSUPPORTED, wanted);
    CHECK_HELPER(set_number(path, "format", 0));
    CHECK_HELPER(check_refused(path, "format 0"));
    test_folder_remove(&folder);
}

// Frames of the format before can be looked at, and say that no run goes on from them.
static void an_older_format_is_read_but_not_resumed(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    CHECK_HELPER(write_small_frame(path, 3, RP_SINGLE));
    CHECK_HELPER(set_number(path, "format", 1));
    const hid_t file = open_to_change(path);
    CHECK(H5Ldelete(file, "repose/species", H5P_DEFAULT) >= 0);
    CHECK(H5Ldelete(file, "VTKHDF/PointData/species", H5P_DEFAULT) >= 0);
    CHECK_HELPER(close_changed(file, path));
    rp_frame *frame;
    rp_frame_info info;
    CHECK_OK(rp_frame_open(path, &frame));
    rp_frame_get_info(frame, &info);
    CHECK_EQUAL(info.format, 1);
    CHECK_EQUAL(info.species, 1);
    CHECK(strcmp(rp_frame_species_name(frame, 0), "solid") == 0);
    double x[3];
    CHECK_OK(rp_frame_read(frame, "position", 0, 1, x));
    rp_frame_close(frame);
    void *state;
    size_t size;
    CHECK_ERROR(
        rp_frame_read_state(path, &state, &size), RP_ERR_UNSUPPORTED,
        "this frame has format 1: it can be looked at, but a run goes on only from format 2");
    CHECK(state == NULL);
    test_folder_remove(&folder);
}

static void absurd_numbers_are_refused(void)
{
    const struct {
        const char *name;
        double value;
    } absurd[] = {
        {"dimension", 4},
        {"dimension", 2},
        {"dimension", -1},
        {"order", 0},
        {"order", 4},
        {"dx", 0},
        {"dx", -1},
        {"dx", NAN},
        {"fps", 0},
        {"fps", INFINITY},
        {"fields", 0},
        {"fields", -7},
        // rows of /repose/species
        {"births", -1},
        {"births", 2147483647},
        {"births", 3},
        {"births", 1},
        {"doomed", -1},
        {"doomed", 1e9},
        {"count", -1},
        {"count", 1},
        {"count", 1e9},
        {"groups", -1},
        {"groups", 9},
        {"groups", 1e9},
        {"pages", -1},
        {"pages", 0},
        {"pages", 1e9},
    };
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
        void *state;
        size_t size;
        check_context("%s %g", absurd[i].name, absurd[i].value);
        CHECK_HELPER(write_small_frame(path, 3, RP_SINGLE));
        CHECK_HELPER(set_number(path, absurd[i].name, absurd[i].value));
        CHECK_ERROR(rp_frame_read_state(path, &state, &size), RP_ERR_FILE, path);
        CHECK(state == NULL);
    }
    test_folder_remove(&folder);
}

enum { MOST_NAMES = 100 };
typedef struct name_walk {
    char name[MOST_NAMES][96];
    int names;
} name_walk;

static herr_t note_name(hid_t file, const char *name, const H5O_info_t *info, void *context)
{
    (void)file, (void)info;
    name_walk *walk = context;
    if (strcmp(name, ".") != 0 && walk->names < MOST_NAMES) {
        snprintf(walk->name[walk->names++], sizeof walk->name[0], "%s", name);
    }
    return 0;
}

static void list_names(const char *path, name_walk *walk)
{
    walk->names = 0;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, note_name, walk, H5O_INFO_BASIC) >= 0);
    H5Fclose(file);
    CHECK(walk->names > 30 && walk->names < MOST_NAMES);
}

// What VTK needs and we do not: a state can do without.
static bool is_for_vtk(const char *name)
{
    return strncmp(name, "VTKHDF/", 7) == 0 && strcmp(name, "VTKHDF/Points") != 0 &&
           strncmp(name, "VTKHDF/PointData", 16) != 0;
}

// Opens and reads whatever there is; the state or a sentence, never a crash.
static rp_result use_frame(const char *path)
{
    rp_frame *frame;
    rp_frame_info info;
    void *state;
    size_t size;
    if (rp_frame_open(path, &frame) == RP_OK) {
        rp_frame_get_info(frame, &info);
        for (int i = 0; i < info.columns; i++) {
            rp_frame_column_info column;
            if (rp_frame_column(frame, i, &column) == RP_OK) {
                double *out =
                    calloc((size_t)info.particles * (size_t)column.comps + 1, sizeof *out);
                rp_frame_read(frame, column.name, 0, info.particles, out);
                free(out);
            }
        }
        rp_frame_close(frame);
    }
    const rp_result result = rp_frame_read_state(path, &state, &size);
    rp_state_free(state);
    return result;
}

// One part at a time is missing; then is of another kind, type or size.
static void a_frame_with_a_part_missing_or_wrong_is_refused(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    const int open_files = test_open_files();
    name_walk *walk = calloc(1, sizeof *walk);
    for (int i = 0; i < 2; i++) {
        CHECK_HELPER(write_small_frame(path, 2 + i, i ? RP_SINGLE : RP_DOUBLE));
        CHECK_HELPER(list_names(path, walk));
        long size;
        char *good = test_read_file(path, &size);
        for (int n = 0; n < walk->names; n++) {
            const char *name = walk->name[n];
            if (is_for_vtk(name) || strcmp(name, "VTKHDF/PointData/material") == 0 ||
                strcmp(name, "VTKHDF/PointData/species") == 0) {
                continue;
            }
            enum { GONE, GROUP, TEXT, WIDE, SHORT, HUGE, DEEP, WAYS };
            for (int way = GONE; way < WAYS; way++) {
                if (way == SHORT && strncmp(name, "repose/species/", 15) == 0) {
                    continue; // one row is right where there is one species
                }
                check_context("%s, way %d", name, way);
                test_write_file(path, good, size);
                const hid_t file = open_to_change(path);
                CHECK(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
                const hsize_t extent[3] = {way == HUGE ? 1ull << 40 : way == SHORT ? 1 : 100, 2, 2};
                const hid_t space = H5Screate_simple(way == DEEP ? 3 : 1, extent, NULL);
                const hid_t type = way == TEXT   ? H5T_C_S1
                                   : way == WIDE ? H5T_NATIVE_LDOUBLE
                                                 : H5T_NATIVE_INT;
                if (way == GROUP) {
                    H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                } else if (way != GONE) {
                    H5Dclose(
                        H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                }
                H5Sclose(space);
                CHECK_HELPER(close_changed(file, path));
                // the species say which columns there are, so that one that is gone is missed
                CHECK_EQUAL(use_frame(path), RP_ERR_FILE);
            }
        }
        free(good);
    }
    CHECK_EQUAL(test_open_files(), open_files);
    free(walk);
    test_folder_remove(&folder);
}

static void replace_velocity(hid_t file, hid_t layout, const char *folder)
{
    const char *name = "VTKHDF/PointData/velocity";
    char path[512];
    snprintf(path, sizeof path, "%s/elsewhere", folder);
    const hid_t old = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t type = H5Dget_type(old), space = H5Dget_space(old);
    const hsize_t chunk[2] = {1, 1};
    H5Dclose(old);
    H5Ldelete(file, name, H5P_DEFAULT);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (layout == H5D_CHUNKED) {
        H5Pset_chunk(list, 2, chunk);
    } else if (layout == H5D_VIRTUAL) {
        H5Pset_virtual(list, space, path, "velocity", space);
    } else {
        H5Pset_external(list, path, 0, H5F_UNLIMITED);
    }
    H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT));
    H5Pclose(list);
    H5Sclose(space);
    H5Tclose(type);
}

// A frame is one file. Numbers that lie elsewhere would be read without a seal.
static void what_lies_in_other_files_is_not_read(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf"), *other = test_path(&folder, "other.hdf");
    const char *velocity = "VTKHDF/PointData/velocity";
    const H5D_layout_t layout[] = {H5D_CHUNKED, H5D_VIRTUAL, H5D_CONTIGUOUS};
    CHECK_HELPER(write_small_frame(other, 3, RP_SINGLE));
    for (int way = 0; way < 5; way++) {
        check_context("way %d", way);
        CHECK_HELPER(write_small_frame(path, 3, RP_SINGLE));
        const hid_t file = open_to_change(path);
        if (way < 2) {
            H5Ldelete(file, velocity, H5P_DEFAULT);
        }
        if (way == 0) {
            H5Lcreate_external(other, velocity, file, velocity, H5P_DEFAULT, H5P_DEFAULT);
        } else if (way == 1) {
            H5Lcreate_soft("/VTKHDF/Points", file, velocity, H5P_DEFAULT, H5P_DEFAULT);
        } else {
            replace_velocity(file, layout[way - 2], folder.path);
        }
        CHECK_HELPER(close_changed(file, path));
        CHECK_HELPER(check_refused(path, "velocity is missing or no dataset of a frame"));
    }
    test_folder_remove(&folder);
}

static void damage_pages(const char *path, int column, int32_t value)
{
    int32_t page[64][6];
    const hid_t file = open_to_change(path);
    const hid_t pages = H5Dopen2(file, "repose/pages", H5P_DEFAULT);
    const hid_t space = H5Dget_space(pages);
    CHECK(H5Sget_simple_extent_npoints(space) <= 64 * 6);
    H5Sclose(space);
    CHECK(H5Dread(pages, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, page) >= 0);
    page[0][column] = value;
    CHECK(H5Dwrite(pages, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, page) >= 0);
    H5Dclose(pages);
    CHECK_HELPER(close_changed(file, path));
}

static void pages_that_lie_are_refused(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    const int32_t value[] = {-1, 0, 1, 1 << 20, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 6; i++) {
        // first slot, count; and blocks so far away that positions cannot be in them
        for (int column = 0; column < 6; column++) {
            check_context("column %d, value %d", column, value[i]);
            CHECK_HELPER(write_small_frame(path, 3, RP_SINGLE));
            CHECK_HELPER(damage_pages(path, column, value[i]));
            if (column >= 4 && !(column == 4 && value[i] == 0)) {
                CHECK_EQUAL(use_frame(path), RP_ERR_FILE);
            } else if (column < 3 && fabs((double)value[i]) > 16.0) {
                CHECK_EQUAL(use_frame(path), RP_ERR_FILE);
            } else {
                use_frame(path);
            }
        }
    }
    test_folder_remove(&folder);
}

// --- disks that do not take it ---

static void bytes_that_are_no_state_are_not_written(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    rp_world *world = frame_world(2, RP_SINGLE, 2, FRAME_CALM, SMALL);
    frame_state state = frame_world_save(world);
    CHECK_ERROR(rp_frame_write(path, state.data, 10, NULL), RP_ERR_ARGUMENT, "state");
    CHECK_ERROR(rp_frame_write(path, state.data, state.size - 16, NULL), RP_ERR_ARGUMENT, "state");
    rp_state_view view;
    CHECK_OK(rp_state_view_make(state.data, state.size, &view));
    rp_state_page *page = (rp_state_page *)((char *)state.data + view.part[0].page_at);
    page->count += 1 << 20;
    CHECK_ERROR(rp_frame_write(path, state.data, state.size, NULL), RP_ERR_ARGUMENT, "page");
    page->count -= 1 << 20;
    rp_state_entry *entry =
        (rp_state_entry *)((rp_state_species *)((rp_state_header *)state.data + 1) + 1);
    const char *names[] = {"../up", "/root", "a//b", "a/", ".", "", "a b", "\xc3\xa4/x"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(entry->name, sizeof entry->name, "%s", names[i]);
        CHECK_ERROR(rp_frame_write(path, state.data, state.size, NULL), RP_ERR_ARGUMENT,
                    "no name of an entry");
    }
    CHECK_EQUAL(test_folder_entries(&folder), 0);
    rp_state_free(state.data);
    rp_world_destroy(world);
    test_folder_remove(&folder);
}

static void a_place_that_cannot_be_written_is_named(void)
{
    test_folder folder = test_folder_make();
    rp_world *world = frame_world(2, RP_SINGLE, 2, FRAME_CALM, SMALL);
    frame_state state = frame_world_save(world);
    const char *nowhere = test_path(&folder, "no/frame.hdf");
    CHECK_ERROR(rp_frame_write(nowhere, state.data, state.size, NULL), RP_ERR_FILE,
                "no/frame.hdf.tmp: No such file or directory");
    CHECK_EQUAL(mkdir(test_path(&folder, "full"), 0700), 0);
    test_write_file(test_path(&folder, "full/inside"), "x", 1);
    CHECK_ERROR(rp_frame_write(test_path(&folder, "full"), state.data, state.size, NULL),
                RP_ERR_FILE, "full: ");
    CHECK_EQUAL(test_folder_entries(&folder), 1);
    // root may write anywhere
    if (geteuid() != 0) {
        CHECK_EQUAL(chmod(folder.path, 0500), 0);
        CHECK_ERROR(rp_frame_write(test_path(&folder, "frame.hdf"), state.data, state.size, NULL),
                    RP_ERR_FILE, "Permission denied");
        CHECK_EQUAL(chmod(folder.path, 0700), 0);
    }
    rp_state_free(state.data);
    rp_world_destroy(world);
    test_folder_remove(&folder);
}

// In a process of its own: tries to write or strip a frame while files must not grow beyond `limit`
// bytes. @return 0 when all is as it should be, 2 when the limit was high enough
static int write_with_limit(const char *path, const frame_state *state, rlim_t limit, bool drop)
{
    const struct rlimit small = {.rlim_cur = limit, .rlim_max = RLIM_INFINITY};
    const struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    const int open_files = test_open_files();
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const rp_result result =
        drop ? rp_frame_drop_state(path) : rp_frame_write(path, state->data, state->size, NULL);
    setrlimit(RLIMIT_FSIZE, &none);
    if (result == RP_OK) {
        return 2;
    }
    char want[512];
    snprintf(want, sizeof want, "cannot write %s: %s", path, strerror(EFBIG));
    if (result != RP_ERR_FILE || strcmp(rp_last_error(), want) != 0) {
        printf("     limit %ld: %s\n", (long)limit, rp_last_error());
        return 1;
    }
    return test_open_files() == open_files ? 0 : 1;
}

static void check_full_disk(const char *path, const frame_state *state, bool drop)
{
    long before;
    char *old = test_read_file(path, &before);
    int limited = 0;
    for (long limit = 0; limit <= before + 5000; limit += before / check_rounds(60) + 1) {
        check_context("limit %ld, drop %d", limit, drop);
        test_write_file(path, old, before);
        fflush(stdout);
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            // exit() and not _exit(): libraries that clean up at exit must survive it, too
            const int ended = write_with_limit(path, state, (rlim_t)limit, drop);
            free(old);
            exit(ended);
        }
        int status;
        CHECK_EQUAL(waitpid(child, &status, 0), child);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
        if (WEXITSTATUS(status) == 0) {
            long size;
            char *now = test_read_file(path, &size);
            CHECK(size == before && memcmp(now, old, (size_t)size) == 0);
            free(now);
            limited++;
        }
        // no temporary file
        char tmp[512];
        snprintf(tmp, sizeof tmp, "%s.tmp", path);
        CHECK(access(tmp, F_OK) != 0);
    }
    CHECK(limited > check_rounds(20));
    free(old);
}

static void a_full_disk_leaves_the_old_frame(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "frame.hdf");
    rp_world *world = frame_world(3, RP_SINGLE, 2, FRAME_PENDING, 8.0);
    frame_state state = frame_world_save(world);
    CHECK_OK(rp_frame_write(path, state.data, state.size, NULL));
    CHECK_HELPER(check_full_disk(path, &state, false));
    CHECK_HELPER(check_full_disk(path, &state, true));
    rp_state_free(state.data);
    rp_world_destroy(world);
    test_folder_remove(&folder);
}

// A device that takes nothing: the cause is the disk's own, and HDF5 closes as if nothing were
// wrong.
static void the_cause_of_a_failed_write_is_named(void)
{
    const int fd = open("/dev/full", O_RDWR);
    if (fd < 0) {
        printf("     skipped: no /dev/full\n");
        return;
    }
    static const double numbers[1 << 16];
    for (int i = 0; i < 20; i++) {
        rp_h5 h5;
        CHECK_OK(rp_h5_create(&h5, fd, "here.hdf"));
        const rp_h5_spec spec = {.path = "a/b",
                                 .type = RP_H5_F64,
                                 .rows = i % 2 ? 1 << 16 : 1,
                                 .unit = "1",
                                 .description = "numbers",
                                 .packed = i % 3 == 0};
        rp_h5_put_dataset(&h5, &spec, numbers);
        rp_h5_put_text(&h5, "a", "name", "text");
        CHECK_ERROR(rp_h5_close(&h5), RP_ERR_FILE,
                    "cannot write here.hdf: No space left on device");
    }
    close(fd);
}

TEST_MAIN(TEST(the_library_is_the_one_for_threads), TEST(a_frame_gives_the_state_back_bit_for_bit),
          TEST(the_same_state_makes_the_same_file), TEST(fixed_point_positions_survive_metres),
          TEST(positions_survive_absurd_spacings), TEST(a_frame_shows_what_the_world_shows),
          TEST(what_a_frame_does_not_have_is_refused), TEST(materials_and_the_guilty_are_marked),
          TEST(words_of_any_length_are_kept_or_cut),
          TEST(every_dataset_has_a_unit_and_a_description),
          TEST(a_frame_without_its_state_shows_the_rest),
          TEST(a_frame_of_chosen_columns_keeps_those_and_what_laws_say),
          TEST(a_cut_frame_is_refused), TEST(a_frame_with_a_wrong_byte_is_refused),
          TEST(other_files_are_refused), TEST(a_newer_format_is_refused_by_number),
          TEST(an_older_format_is_read_but_not_resumed), TEST(absurd_numbers_are_refused),
          TEST(a_frame_with_a_part_missing_or_wrong_is_refused),
          TEST(what_lies_in_other_files_is_not_read), TEST(pages_that_lie_are_refused),
          TEST(bytes_that_are_no_state_are_not_written),
          TEST(a_place_that_cannot_be_written_is_named), TEST(a_full_disk_leaves_the_old_frame),
          TEST(the_cause_of_a_failed_write_is_named))
