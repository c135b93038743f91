// Tests src/io/reader.c and batch.c: particles are what columns, groups and materials say, whatever
// of them a frame lacks; and whoever reads frames through it gets along with that.
#include "repose/repose.h"

#include "check.h"
#include "folder.h"
#include "frame_world.h"
#include "view/frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EVERYTHING = 2 * RP_READ_STRESS - 1 };
#define RESOLVED                                                                                   \
    "{\"materials\": [{\"word\": \"material.sand\", \"young\": 1e5, \"poisson\": 0.25},"           \
    "{\"word\": \"material.elastic\", \"name\": \"rubber\", \"young\": 2e5, \"poisson\": 0.4}]}"

// The folder of a run with a single frame: sand and rubber, two births and two deaths pending.
typedef struct run {
    test_folder folder;
    char frame[128];
    rp_record *record;
    rp_reader *reader;
    rp_frame_group *group;
    int groups;
    int64_t count;
} run;

static void reopen(run *r)
{
    rp_reader_close(r->reader);
    CHECK_OK(rp_reader_open(r->frame, r->record, &r->reader));
}

// @param size of the boxes [cells]
static void make(run *r, int dimension, rp_precision precision, double size)
{
    *r = (run){.folder = test_folder_make()};
    rp_world *world = frame_world(dimension, precision, 2, FRAME_PENDING, size);
    frame_state state = frame_world_save(world);
    CHECK_EQUAL(mkdir(test_path(&r->folder, "frames"), 0777), 0);
    snprintf(r->frame, sizeof r->frame, "%s/frames/frame.000000.hdf", r->folder.path);
    test_write_file(test_path(&r->folder, "run.json"), "{}", 2);
    test_write_file(test_path(&r->folder, "scene.resolved.json"), RESOLVED, sizeof RESOLVED - 1);
    CHECK_OK(rp_frame_write(r->frame, state.data, state.size, NULL));
    rp_state_free(state.data);
    rp_world_destroy(world);
    CHECK_OK(rp_record_open(r->folder.path, &r->record));
    CHECK_HELPER(reopen(r));
    r->count = rp_reader_info(r->reader)->particles;
    CHECK_OK(rp_frame_groups(rp_reader_frame(r->reader), &r->group, &r->groups));
}

static void unmake(run *r)
{
    rp_reader_close(r->reader);
    rp_record_close(r->record);
    free(r->group);
    test_folder_remove(&r->folder);
}

static double *column(const run *r, const char *name)
{
    double *out = calloc((size_t)r->count * 9, sizeof *out);
    if (rp_frame_read(rp_reader_frame(r->reader), name, 0, r->count, out) != RP_OK) {
        free(out);
        return NULL;
    }
    return out;
}

// Puts other numbers into a dataset of the frame.
static void overwrite(run *r, const char *dataset, hid_t type, const void *rows)
{
    const hid_t file = H5Fopen(r->frame, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT);
    CHECK(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    H5Dclose(set);
    H5Fclose(file);
    frame_drop_column(r->frame, "none"); // which seals it
    CHECK_HELPER(reopen(r));
}

static rp_result measure(const run *r, const char *name, double *out)
{
    rp_measure_def def = rp_default_measure_def();
    rp_measured *measured;
    def.folder = r->folder.path;
    def.name = name;
    RP_TRY(rp_measure(&def, &measured));
    memcpy(out, measured->value, (size_t)measured->columns * sizeof *out);
    rp_measured_free(measured);
    return RP_OK;
}

// ---- what is read ----

// Against the columns and the table of groups, one number after the other.
static void check_batch(const run *r, const rp_batch *b)
{
    static const int flat[] = {0, 1, -1, 2, -1, -1}, deep[] = {0, 1, 2, 3, 4, 5};
    const int d = rp_reader_info(r->reader)->dimension, comps = d == 2 ? 3 : 6;
    double *x = column(r, "position"), *v = column(r, "velocity"), *h = column(r, "strain");
    double *id = column(r, "id"), *group = column(r, "group"), *material = column(r, "material");
    double *gain = column(r, "volume_gain");
    for (int64_t i = 0; i < b->count; i++) {
        const int64_t k = b->first + i;
        const bool doomed = id[k] == 1.0 || id[k] == 3.0;
        const rp_frame_group none = {0}, *g = doomed ? &none : &r->group[(int)group[k]];
        CHECK_EQUAL(b->flags[i], doomed ? RP_PARTICLE_DOOMED : 0);
        for (int a = 0; a < 3; a++) {
            CHECK(b->position[i][a] == x[3 * k + a]);
            CHECK(b->velocity[i][a] == (a < d ? v[d * k + a] : 0.0));
        }
        for (int c = 0; c < 6; c++) {
            const int from = d == 2 ? flat[c] : deep[c];
            CHECK(b->strain[i][c] == (from >= 0 ? h[comps * k + from] : 0.0));
        }
        CHECK_EQUAL(b->id[i], id[k]);
        CHECK_EQUAL(b->group[i], group[k]);
        CHECK_EQUAL(b->material[i], material[k]);
        CHECK_EQUAL(b->field[i], g->field);
        CHECK_EQUAL(b->species[i], 0);
        CHECK(b->mass[i] == g->mass && b->volume[i] == g->volume);
        CHECK(b->volume_gain[i] == gain[k] && b->hardening[i] == 0.0);
    }
    free(x), free(v), free(h), free(id), free(group), free(material), free(gain);
}

// Catches components that are swapped or shifted, particles of another group, and the dead.
static void particles_are_what_columns_and_groups_say(void)
{
    for (int i = 0; i < 4; i++) {
        run r;
        rp_batch all = {.want = EVERYTHING}, few = {.want = EVERYTHING};
        check_context("%dD, precision %d", 2 + i % 2, i / 2);
        CHECK_HELPER(make(&r, 2 + i % 2, i / 2 ? RP_DOUBLE : RP_SINGLE, 4.0));
        CHECK_OK(rp_reader_read(r.reader, 0, r.count, &all));
        CHECK_EQUAL(all.count, r.count);
        CHECK_HELPER(check_batch(&r, &all));
        check_context("%dD, precision %d, over others", 2 + i % 2, i / 2);
        CHECK_OK(rp_reader_read(r.reader, 7, 5, &few));
        CHECK_HELPER(check_batch(&r, &few));
        for (int k = 0; k < 5; k++) {
            CHECK(memcmp(few.stress[k], all.stress[7 + k], sizeof few.stress[k]) == 0);
        }
        // more of it, of which some arrays are there already
        few.want = RP_READ_POSITION;
        CHECK_OK(rp_reader_read(r.reader, 0, r.count, &few));
        few.want = EVERYTHING;
        CHECK_OK(rp_reader_read(r.reader, 0, r.count, &few));
        CHECK_OK(rp_reader_read(r.reader, 1, r.count - 1, &few));
        CHECK_HELPER(check_batch(&r, &few));
        CHECK_ERROR(rp_reader_read(r.reader, 1, r.count, &few), RP_ERR_ARGUMENT, "particles, want");
        CHECK_ERROR(rp_reader_read(r.reader, -1, 1, &few), RP_ERR_ARGUMENT, "particles, want");
        CHECK(strcmp(rp_reader_species(r.reader, 0), "solid") == 0);
        CHECK(rp_reader_species(r.reader, 1) == NULL);
        CHECK_EQUAL(rp_reader_fields(r.reader), 1);
        rp_batch_free(&all);
        rp_batch_free(&few);
        unmake(&r);
    }
}

// Catches a particle that is skipped or read twice where batches meet, and stress, which is worked
// out a batch at a time, that lands elsewhere when all is read at once.
static void batches_follow_each_other_to_the_last_particle(void)
{
    const unsigned want = RP_READ_ID | RP_READ_STRESS | RP_READ_RATIO;
    run r;
    rp_batch all = {.want = want}, some = {.want = want};
    CHECK_HELPER(make(&r, 3, RP_SINGLE, 17.0));
    CHECK(r.count > RP_BATCH);
    CHECK_OK(rp_reader_read(r.reader, 0, r.count, &all));
    int64_t seen = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (seen = 0, some.next = 0;; seen += some.count) {
            CHECK_OK(rp_reader_next(r.reader, &some));
            if (some.count == 0) {
                break;
            }
            CHECK_EQUAL(some.first, seen);
            const size_t n = (size_t)some.count;
            CHECK(memcmp(some.id, all.id + seen, n * sizeof *all.id) == 0);
            CHECK(memcmp(some.stress, all.stress + seen, n * sizeof *all.stress) == 0);
            CHECK(memcmp(some.log_ratio, all.log_ratio + seen, n * sizeof(double)) == 0);
        }
        CHECK_EQUAL(seen, r.count);
    }
    rp_batch_free(&all);
    rp_batch_free(&some);
    unmake(&r);
}

// Catches ids that went through a double.
static void ids_are_exact(void)
{
    run r;
    rp_batch b = {.want = RP_READ_ID};
    CHECK_HELPER(make(&r, 2, RP_SINGLE, 2.0));
    uint64_t *id = calloc((size_t)r.count, sizeof *id);
    for (int64_t i = 0; i < r.count; i++) {
        id[i] = i % 2 ? UINT64_MAX - (uint64_t)i : (UINT64_C(1) << 53) + (uint64_t)i + 1;
    }
    frame_put_column(r.frame, "id", H5T_NATIVE_UINT64, 1, id);
    CHECK_HELPER(reopen(&r));
    CHECK_OK(rp_reader_read(r.reader, 0, r.count, &b));
    CHECK(memcmp(b.id, id, (size_t)r.count * sizeof *id) == 0);
    free(id);
    rp_batch_free(&b);
    unmake(&r);
}

// Catches a mass that is the group's though the particle has its own, and a species nobody asked.
static void what_a_particle_has_of_its_own_goes_before_its_group(void)
{
    run r;
    rp_batch b = {.want = RP_READ_MASS};
    double largest;
    CHECK_HELPER(make(&r, 3, RP_SINGLE, 2.0));
    CHECK_OK(rp_reader_largest(r.reader, &largest));
    CHECK_NEAR(largest, 1e-4, 0.0); // of the births
    double *mass = calloc((size_t)r.count, sizeof *mass);
    float *volume = calloc((size_t)r.count, sizeof *volume);
    uint8_t *species = calloc((size_t)r.count, sizeof *species);
    for (int64_t i = 0; i < r.count; i++) {
        mass[i] = (double)i + 0.5;
        volume[i] = i == r.count / 2 ? 0.75f : 0.25f;
        species[i] = i > 3 ? 2 : 1;
    }
    frame_put_column(r.frame, "mass", H5T_NATIVE_DOUBLE, 1, mass);
    frame_put_column(r.frame, "volume", H5T_NATIVE_FLOAT, 1, volume);
    frame_put_column(r.frame, "species", H5T_NATIVE_UINT8, 1, species);
    CHECK_HELPER(reopen(&r));
    CHECK_OK(rp_reader_read(r.reader, 0, r.count, &b));
    for (int64_t i = 0; i < r.count; i++) {
        CHECK(b.mass[i] == mass[i] && b.volume[i] == (double)volume[i]);
        CHECK_EQUAL(b.species[i], species[i]);
    }
    CHECK_OK(rp_reader_largest(r.reader, &largest));
    CHECK_NEAR(largest, 0.75, 0.0);
    free(mass);
    free(volume);
    free(species);
    rp_batch_free(&b);
    unmake(&r);
}

// Catches arrays that do not move together.
static void those_that_are_dropped_leave_the_others_whole(void)
{
    run r;
    rp_batch b = {.want = EVERYTHING}, whole = {.want = EVERYTHING};
    CHECK_HELPER(make(&r, 3, RP_DOUBLE, 2.0));
    double *x = column(&r, "position");
    x[0] = NAN;
    x[3 * 5 + 1] = INFINITY;
    CHECK_HELPER(overwrite(&r, "VTKHDF/Points", H5T_NATIVE_DOUBLE, x));
    CHECK_OK(rp_reader_read(r.reader, 0, r.count, &b));
    CHECK_OK(rp_reader_read(r.reader, 0, r.count, &whole));
    CHECK_EQUAL(b.flags[0] & RP_PARTICLE_NOWHERE, RP_PARTICLE_NOWHERE);
    CHECK_EQUAL(b.flags[5] & RP_PARTICLE_NOWHERE, RP_PARTICLE_NOWHERE);
    const int64_t gone = rp_batch_drop(&b, RP_PARTICLE_DOOMED | RP_PARTICLE_NOWHERE);
    int64_t kept = 0;
    for (int64_t i = 0; i < r.count; i++) {
        if (whole.flags[i] == 0) {
            CHECK(memcmp(b.position[kept], whole.position[i], sizeof b.position[0]) == 0);
            CHECK(memcmp(b.stress[kept], whole.stress[i], sizeof b.stress[0]) == 0);
            CHECK(b.id[kept] == whole.id[i] && b.mass[kept] == whole.mass[i]);
            CHECK(b.material[kept] == whole.material[i] && b.flags[kept] == 0);
            kept++;
        }
    }
    CHECK_EQUAL(b.count, kept);
    CHECK_EQUAL(gone, r.count - kept);
    CHECK(gone >= 2 && gone <= 4);
    // measurements say how many they left out
    double center[10];
    check_expect_warning();
    CHECK_OK(measure(&r, "center", center));
    CHECK(strstr(check_last_warning(), "particles are nowhere") != NULL);
    CHECK(isfinite(center[2] + center[3] + center[4]));
    CHECK_EQUAL(center[9], kept);
    free(x);
    rp_batch_free(&b);
    rp_batch_free(&whole);
    unmake(&r);
}

// ---- stress ----

// Catches a Lame factor, a lost J, components in the wrong order, another particle's material; and
// pressure that is not that of the Cauchy stress over the axes there are.
static void stress_is_hencky_over_the_volume_ratio(void)
{
    for (int d = 2; d <= 3; d++) {
        static const double lambda[] = {4e4, 2e5 * 0.4 / (1.4 * 0.2)}, mu[] = {4e4, 1e5 / 1.4};
        run r;
        rp_batch b = {.want = EVERYTHING};
        check_context("%dD", d);
        CHECK_HELPER(make(&r, d, RP_DOUBLE, 3.0));
        const int comps = d == 2 ? 3 : 6;
        double *h = calloc((size_t)(r.count * comps), sizeof *h);
        double *pressure = calloc((size_t)r.count, sizeof *pressure);
        for (int64_t i = 0; i < r.count * comps; i++) {
            h[i] = 0.01 * (double)(i * 7919 % 13 - 6);
        }
        frame_put_column(r.frame, "strain", H5T_NATIVE_DOUBLE, comps, h);
        CHECK_HELPER(reopen(&r));
        CHECK_OK(rp_reader_read(r.reader, 0, r.count, &b));
        CHECK_OK(rp_reader_values(r.reader, "pressure", 0, r.count, pressure));
        for (int64_t i = 0; i < r.count; i++) {
            // with the group goes the material, and sand is the first
            const int m = b.material[i] == 1 ? 1 : 0;
            const double *e = h + comps * i, *s = b.stress[i];
            const double trace = e[0] + e[1] + (d == 3 ? e[2] : 0.0), j = exp(trace);
            CHECK_NEAR(b.log_ratio[i], trace, 1e-15);
            CHECK_NEAR(s[0] * j, 2.0 * mu[m] * e[0] + lambda[m] * trace, 1e-9);
            CHECK_NEAR(s[1] * j, 2.0 * mu[m] * e[1] + lambda[m] * trace, 1e-9);
            CHECK_NEAR(s[2] * j, 2.0 * mu[m] * (d == 3 ? e[2] : 0.0) + lambda[m] * trace, 1e-9);
            CHECK_NEAR(s[3] * j, 2.0 * mu[m] * e[d == 3 ? 3 : 2], 1e-9);
            CHECK_NEAR(s[5] * j, d == 3 ? 2.0 * mu[m] * e[5] : 0.0, 1e-9);
            CHECK_NEAR(pressure[i] * j, -(2.0 * mu[m] / d + lambda[m]) * trace, 1e-9);
        }
        free(h);
        free(pressure);
        rp_batch_free(&b);
        unmake(&r);
    }
}

static void without_a_record_stress_is_not_known(void)
{
    run r;
    rp_batch b = {.want = RP_READ_STRESS};
    rp_reader *bare;
    double out;
    CHECK_HELPER(make(&r, 3, RP_SINGLE, 2.0));
    CHECK_OK(rp_reader_open(r.frame, NULL, &bare));
    CHECK(rp_reader_has(r.reader, RP_READ_STRESS) && !rp_reader_has(bare, RP_READ_STRESS));
    CHECK(rp_reader_has(bare, RP_READ_STRAIN));
    CHECK_OK(rp_reader_read(bare, 0, 3, &b));
    CHECK(isnan(b.stress[0][0]));
    CHECK_ERROR(rp_reader_need(bare, RP_READ_STRESS, "a test"), RP_ERR_ARGUMENT,
                "a test needs the materials, which are in run.json");
    CHECK_ERROR(rp_reader_values(bare, "pressure", 0, 1, &out), RP_ERR_ARGUMENT, "pressure needs");
    rp_batch_free(&b);
    rp_reader_close(bare);
    unmake(&r);
}

static int find_listed(const rp_reader *reader, const char *name, rp_frame_column_info *out)
{
    int i = 0;
    while (rp_reader_column(reader, i, out) == RP_OK && strcmp(out->name, name) != 0) {
        i++;
    }
    return i;
}

// Catches columns of stress that are not those of batches, and that are listed where nobody knows
// them.
static void stress_and_pressure_are_columns_behind_those_of_the_frame(void)
{
    for (int d = 2; d <= 3; d++) {
        run r;
        rp_batch b = {.want = RP_READ_STRESS};
        rp_frame_column_info info;
        rp_reader *bare;
        check_context("%dD", d);
        CHECK_HELPER(make(&r, d, RP_SINGLE, 4.0));
        const int own = rp_reader_info(r.reader)->columns;
        CHECK_EQUAL(rp_reader_columns(r.reader), own + 2);
        CHECK_EQUAL(find_listed(r.reader, "stress", &info), own);
        CHECK(info.comps == 6 && strcmp(info.unit, "Pa") == 0);
        CHECK_EQUAL(find_listed(r.reader, "pressure", &info), own + 1);
        CHECK_EQUAL(info.comps, 1);
        CHECK_ERROR(rp_reader_column(r.reader, own + 2, &info), RP_ERR_ARGUMENT, "want column 0");
        double(*stress)[6] = calloc((size_t)r.count, sizeof *stress);
        double *pressure = calloc((size_t)r.count, sizeof *pressure);
        CHECK_OK(rp_reader_read(r.reader, 0, r.count, &b));
        CHECK_OK(rp_reader_read_column(r.reader, "stress", 0, r.count, stress[0]));
        CHECK_OK(rp_reader_read_column(r.reader, "pressure", 3, r.count - 3, pressure + 3));
        double most = 0.0;
        for (int64_t i = 0; i < r.count; i++) {
            const double *s = stress[i];
            CHECK(memcmp(s, b.stress[i], sizeof b.stress[i]) == 0);
            if (i >= 3) {
                CHECK_NEAR(pressure[i], -(s[0] + s[1] + (d == 3 ? s[2] : 0.0)) / d, 1e-12);
            }
            most = fmax(most, fabs(s[3]));
        }
        CHECK(most > 0.0);
        CHECK_ERROR(rp_reader_read_column(r.reader, "stress", 1, r.count, stress[0]),
                    RP_ERR_ARGUMENT, "particles, want");
        CHECK_OK(rp_reader_open(r.frame, NULL, &bare));
        CHECK_EQUAL(rp_reader_columns(bare), own);
        CHECK_ERROR(rp_reader_read_column(bare, "stress", 0, 1, stress[0]), RP_ERR_ARGUMENT,
                    "stress needs the materials");
        rp_reader_close(bare);
        // a frame that keeps them, and nothing that they could come from
        for (int64_t i = 0; i < r.count; i++) {
            stress[i][4] = (double)i;
            pressure[i] = 0.5 * (double)i;
        }
        frame_drop_column(r.frame, "strain");
        CHECK_HELPER(reopen(&r));
        CHECK_EQUAL(rp_reader_columns(r.reader), own - 1);
        frame_put_column(r.frame, "stress", H5T_NATIVE_DOUBLE, 6, stress);
        CHECK_HELPER(reopen(&r));
        CHECK_EQUAL(rp_reader_columns(r.reader), own + 1); // pressure follows from it
        CHECK(rp_reader_has(r.reader, RP_READ_STRESS) && !rp_reader_has(r.reader, RP_READ_RATIO));
        CHECK_OK(rp_reader_read(r.reader, 0, r.count, &b));
        CHECK(memcmp(b.stress, stress, (size_t)r.count * sizeof *stress) == 0);
        frame_put_column(r.frame, "pressure", H5T_NATIVE_DOUBLE, 1, pressure);
        CHECK_HELPER(reopen(&r));
        CHECK_EQUAL(rp_reader_columns(r.reader), own + 1);
        double two[2];
        CHECK_OK(rp_reader_values(r.reader, "pressure", 4, 2, two));
        CHECK(two[0] == 2.0 && two[1] == 2.5);
        CHECK_OK(rp_reader_values(r.reader, "stress.xz", 4, 2, two));
        CHECK(two[0] == 4.0 && two[1] == 5.0);
        CHECK_OK(rp_reader_values(r.reader, "stress.4", 4, 2, two));
        CHECK(two[0] == 4.0 && two[1] == 5.0);
        double bin[16];
        CHECK_OK(measure(&r, "stress", bin));
        CHECK(isfinite(bin[3]) && isnan(bin[9])); // the volume is not known
        free(stress);
        free(pressure);
        rp_batch_free(&b);
        unmake(&r);
    }
}

static double spline(double q)
{
    q = fabs(q);
    return q < 0.5 ? 0.75 - q * q : q < 1.5 ? 0.5 * (1.5 - q) * (1.5 - q) : 0.0;
}

// Node after node and particle after particle.
static double smooth_slowly(const rp_batch *b, const double *pressure, int64_t i, int d, double h)
{
    double weight = 0.0, sum = 0.0;
    for (int k = 0; k < (d == 3 ? 125 : 25); k++) {
        double node[3], w = 1.0;
        for (int a = 0; a < d; a++) {
            const int step = (a == 0 ? k : a == 1 ? k / 5 : k / 25) % 5 - 2;
            node[a] = floor(b->position[i][a] / h) + step;
            w *= spline(b->position[i][a] / h - node[a]);
        }
        for (int64_t p = 0; p < b->count && w > 0.0; p++) {
            double own = b->flags[p] == 0 ? w * b->volume[p] * exp(b->log_ratio[p]) : 0.0;
            for (int a = 0; a < d; a++) {
                own *= spline(b->position[p][a] / h - node[a]);
            }
            weight += own;
            sum += own * pressure[p];
        }
    }
    return weight > 0.0 ? sum / weight : 0.0;
}

// Catches weights that are not those of the splines, blocks of nodes that are mixed up or below 0,
// the dead that still count, and a mean that depends on how particles are read.
static void smooth_pressure_is_the_mean_over_the_particles_around(void)
{
    for (int d = 2; d <= 3; d++) {
        run r;
        rp_batch b = {.want = RP_READ_POSITION | RP_READ_MASS | RP_READ_RATIO};
        rp_value_info info;
        check_context("%dD", d);
        CHECK_HELPER(make(&r, d, RP_DOUBLE, d == 2 ? 9.0 : 5.0));
        double *x = column(&r, "position");
        for (int64_t i = 0; i < 3 * r.count; i++) {
            x[i] -= i % 3 < d ? 0.1 : 0.0; // some below 0
        }
        x[3] = NAN;
        CHECK_HELPER(overwrite(&r, "VTKHDF/Points", H5T_NATIVE_DOUBLE, x));
        const double h = rp_reader_info(r.reader)->dx;
        double *pressure = calloc((size_t)r.count, sizeof *pressure);
        double *smooth = calloc((size_t)r.count, sizeof *smooth), few[2];
        CHECK(rp_reader_knows(r.reader, "smooth_pressure", &info) && strcmp(info.unit, "Pa") == 0);
        CHECK_OK(rp_reader_read(r.reader, 0, r.count, &b));
        CHECK_OK(rp_reader_values(r.reader, "pressure", 0, r.count, pressure));
        CHECK_OK(rp_reader_values(r.reader, "smooth_pressure", 0, r.count, smooth));
        double spread = 0.0;
        for (int64_t i = 0; i < r.count; i += 7) {
            const double want = (b.flags[i] & RP_PARTICLE_NOWHERE) == 0
                                    ? smooth_slowly(&b, pressure, i, d, h)
                                    : 0.0;
            CHECK_NEAR(smooth[i], want, 1e-9 * fabs(want) + 1e-9);
            spread = fmax(spread, fabs(pressure[i] - smooth[i]));
        }
        CHECK(spread > 1.0);
        CHECK_HELPER(reopen(&r));
        CHECK_OK(rp_reader_values(r.reader, "smooth_pressure", 5, 2, few));
        CHECK(memcmp(few, smooth + 5, sizeof few) == 0);
        free(x);
        free(pressure);
        free(smooth);
        rp_batch_free(&b);
        unmake(&r);
    }
}

// ---- numbers by name ----

static void check_value(const run *r, const char *name, const char *from, int comps, int comp,
                        const char *unit)
{
    double *got = calloc((size_t)r->count, sizeof *got), *rows = column(r, from);
    rp_value_info info;
    check_context("%s", name);
    CHECK(rp_reader_knows(r->reader, name, &info));
    CHECK(strcmp(info.unit, unit) == 0 && info.length == (comp < 0));
    CHECK_EQUAL(info.names, strcmp(name, "material") == 0);
    CHECK_OK(rp_reader_need(r->reader, info.needs, name));
    CHECK_OK(rp_reader_values(r->reader, name, 0, r->count, got));
    for (int64_t i = 0; i < r->count; i++) {
        const double *x = rows + comps * i;
        const double length = comps == 3 ? hypot(hypot(x[0], x[1]), x[2]) : 0.0;
        CHECK_NEAR(got[i], comp < 0 ? length : x[comp], comp < 0 ? 1e-14 : 0.0);
    }
    double few[2];
    CHECK_OK(rp_reader_values(r->reader, name, 5, 2, few));
    CHECK(memcmp(few, got + 5, sizeof few) == 0);
    free(got);
    free(rows);
}

static void numbers_are_found_by_their_names(void)
{
    static const char *const unknown[] = {
        "velocity.w",  "velocity.3", "velocity.-1", "velocity.", "sped",     "velocity.1x",
        "velocity.xx", "",           "strain.x",    "stress.zy", "stress.6", "smooth_pressure.x"};
    run r;
    rp_value_info info;
    CHECK_HELPER(make(&r, 3, RP_SINGLE, 3.0));
    CHECK_HELPER(check_value(&r, "speed", "velocity", 3, -1, "m/s"));
    CHECK_HELPER(check_value(&r, "velocity", "velocity", 3, -1, "m/s"));
    CHECK_HELPER(check_value(&r, "velocity.y", "velocity", 3, 1, "m/s"));
    CHECK_HELPER(check_value(&r, "height", "position", 3, 1, "m"));
    CHECK_HELPER(check_value(&r, "strain.5", "strain", 6, 5, "1"));
    CHECK_HELPER(check_value(&r, "strain.xz", "strain", 6, 4, "1"));
    CHECK_HELPER(check_value(&r, "material", "material", 1, 0, "1"));
    CHECK_HELPER(check_value(&r, "id", "id", 1, 0, "1"));
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        double out;
        check_context("%s", unknown[i]);
        CHECK(!rp_reader_knows(r.reader, unknown[i], &info));
        CHECK_ERROR(rp_reader_values(r.reader, unknown[i], 0, 1, &out), RP_ERR_ARGUMENT, r.frame);
    }
    check_context("labels");
    CHECK(strcmp(rp_reader_label(r.reader, "material", 1), "rubber") == 0);
    CHECK(strcmp(rp_reader_label(r.reader, "species", 0), "solid") == 0);
    CHECK(rp_reader_label(r.reader, "material", 2) == NULL);
    CHECK(rp_reader_label(r.reader, "body", 0) == NULL &&
          rp_reader_label(r.reader, "id", 0) == NULL);
    // of sand, rubber, and the late births of sand
    static const int32_t field[] = {1, 3, 0};
    CHECK_EQUAL(r.groups, 3);
    CHECK_HELPER(overwrite(&r, "repose/groups/field", H5T_NATIVE_INT32, field));
    CHECK_EQUAL(rp_reader_fields(r.reader), 4);
    double *body = calloc((size_t)r.count, sizeof *body), *group = column(&r, "group");
    CHECK_OK(rp_reader_values(r.reader, "body", 0, r.count, body));
    for (int64_t i = 0; i < r.count; i++) {
        CHECK_NEAR(body[i], group[i] < 3.0 ? field[(int)group[i]] : 0.0, 0.0);
    }
    free(body);
    free(group);
    unmake(&r);
}

// ---- frames that lack something ----

static void what_is_missing_is_neutral_and_can_be_asked_for(void)
{
    run r;
    rp_batch b = {.want = EVERYTHING};
    double out;
    CHECK_HELPER(make(&r, 2, RP_SINGLE, 2.0));
    static const char *const gone[] = {"velocity", "strain", "id", "volume_gain", "group"};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
        frame_drop_column(r.frame, gone[i]);
    }
    CHECK_HELPER(reopen(&r));
    CHECK_OK(rp_reader_read(r.reader, 1, r.count - 1, &b));
    for (int64_t i = 0; i < b.count; i++) {
        CHECK(b.velocity[i][0] == 0.0 && b.velocity[i][2] == 0.0 && b.strain[i][3] == 0.0);
        CHECK(b.volume_gain[i] == 0.0 && b.log_ratio[i] == 0.0 && b.stress[i][0] == 0.0);
        CHECK_EQUAL(b.id[i], i + 1); // its place
        CHECK_EQUAL(b.group[i], RP_GROUP_NONE);
        CHECK(b.mass[i] == 0.0 && b.flags[i] == 0); // not known, which is no reason to go
    }
    static const struct {
        unsigned want;
        const char *sentence;
    } needs[] = {{RP_READ_VELOCITY, "rest needs the column velocity, and "},
                 {RP_READ_STRESS, "rest needs the column strain, and "},
                 {RP_READ_RATIO, "rest needs the column strain, and "},
                 {RP_READ_MASS, "rest needs the column group, and "},
                 {RP_READ_ID, "rest needs the column id, and "}};
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        CHECK(!rp_reader_has(r.reader, needs[i].want));
        CHECK_ERROR(rp_reader_need(r.reader, needs[i].want, "rest"), RP_ERR_ARGUMENT,
                    needs[i].sentence);
    }
    CHECK(rp_reader_has(r.reader, RP_READ_POSITION | RP_READ_STATE));
    CHECK_ERROR(rp_reader_values(r.reader, "speed", 0, 1, &out), RP_ERR_ARGUMENT,
                "speed needs the column velocity");
    rp_batch_free(&b);
    unmake(&r);
}

static rp_result picture(const run *r, const char *color)
{
    rp_render_def def = rp_default_render_def();
    rp_render *render;
    def.width = def.height = 16;
    def.shutter = 0.5;
    def.samples = 1;
    def.threads = 1;
    def.color = color;
    RP_TRY(rp_render_open(r->folder.path, &def, &render));
    const rp_result result = rp_render_frame(render, 0, test_path(&r->folder, "picture.png"));
    rp_render_close(render);
    return result;
}

static rp_result show(const run *r, const char *color)
{
    rp_frames frames = {.record = r->record, .room = 1 << 20};
    rp_parcel parcel;
    snprintf(frames.folder, sizeof frames.folder, "%s", r->folder.path);
    const rp_result result = rp_frames_send(&frames, 0, 1, 0, color, &parcel);
    rp_parcel_release(&parcel);
    rp_frames_end(&frames);
    return result;
}

// Whoever has no use for velocity and strain does without, and who has says which is missing.
static void frames_without_velocity_and_strain_are_shown_exported_and_measured(void)
{
    run r;
    double full[16], bare[16];
    rp_export_def def = rp_default_export_def();
    def.format = RP_FORMAT_CSV;
    CHECK_HELPER(make(&r, 3, RP_SINGLE, 3.0));
    CHECK_OK(measure(&r, "center", full));
    CHECK_EQUAL(full[9], r.count - 2); // the dead do not count
    frame_drop_column(r.frame, "velocity");
    frame_drop_column(r.frame, "strain");
    CHECK_OK(picture(&r, "grains"));
    CHECK_OK(show(&r, "grains"));
    CHECK_OK(show(&r, "material"));
    CHECK_OK(rp_export(r.folder.path, &def, test_path(&r.folder, "csv")));
    CHECK_OK(measure(&r, "runout", bare));
    CHECK_OK(measure(&r, "volume", bare));
    CHECK(bare[2] > 0.0 && isnan(bare[3]) && bare[4] > 0.0);
    CHECK_OK(measure(&r, "center", bare));
    CHECK(bare[2] == full[2] && bare[8] == full[8]);
    CHECK(isfinite(full[5]) && isnan(bare[5]));
    static const char *const want[] = {"needs the column velocity, and ",
                                       "needs the column strain, and "};
    CHECK_ERROR(picture(&r, "speed"), RP_ERR_ARGUMENT, want[0]);
    CHECK_ERROR(picture(&r, "pressure"), RP_ERR_ARGUMENT, want[1]);
    CHECK_ERROR(picture(&r, "case"), RP_ERR_ARGUMENT, want[1]);
    CHECK_ERROR(show(&r, "pressure"), RP_ERR_ARGUMENT, want[1]);
    CHECK_ERROR(measure(&r, "rest", bare), RP_ERR_ARGUMENT, want[0]);
    CHECK_ERROR(measure(&r, "velocity", bare), RP_ERR_ARGUMENT, want[0]);
    CHECK_ERROR(measure(&r, "stress", bare), RP_ERR_ARGUMENT, want[1]);
    unmake(&r);
}

TEST_MAIN(TEST(particles_are_what_columns_and_groups_say),
          TEST(batches_follow_each_other_to_the_last_particle), TEST(ids_are_exact),
          TEST(what_a_particle_has_of_its_own_goes_before_its_group),
          TEST(those_that_are_dropped_leave_the_others_whole),
          TEST(stress_is_hencky_over_the_volume_ratio), TEST(without_a_record_stress_is_not_known),
          TEST(stress_and_pressure_are_columns_behind_those_of_the_frame),
          TEST(smooth_pressure_is_the_mean_over_the_particles_around),
          TEST(numbers_are_found_by_their_names),
          TEST(what_is_missing_is_neutral_and_can_be_asked_for),
          TEST(frames_without_velocity_and_strain_are_shown_exported_and_measured))
