// Tests src/shape/skin.c: the surface of water has water's volume, is closed, smooth where it is
// calm, flat at walls, and the same on any number of threads.
#include "repose/skin.h"

#include "base/hash.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pool {
    double (*point)[3];
    float *volume;
    int64_t count;
    double spacing;
} pool;

// Particles of a lattice, each at a random place in its own cube, where `inside` says so.
static pool fill(double spacing, const double lower[3], const double upper[3],
                 bool (*inside)(const double x[3]))
{
    int64_t n[3], all = 1;
    for (int a = 0; a < 3; a++) {
        n[a] = (int64_t)floor((upper[a] - lower[a]) / spacing + 0.5);
        all *= n[a];
    }
    pool p = {malloc((size_t)all * sizeof *p.point), malloc((size_t)all * sizeof *p.volume), 0,
              spacing};
    for (int64_t i = 0; i < all; i++) {
        const int64_t at[3] = {i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]};
        double x[3];
        for (int a = 0; a < 3; a++) {
            const double u = rp_unit(rp_hash(1, (uint64_t)i, RP_FOR_TEST, (uint64_t)a));
            x[a] = lower[a] + spacing * ((double)at[a] + 0.25 + 0.5 * u);
        }
        if (inside(x)) {
            memcpy(p.point[p.count], x, sizeof x);
            p.volume[p.count++] = (float)(spacing * spacing * spacing);
        }
    }
    return p;
}

static void drop(pool *p)
{
    free(p->point);
    free(p->volume);
}

static bool everywhere(const double x[3])
{
    (void)x;
    return true;
}

static bool in_ball(const double x[3]) { return x[0] * x[0] + x[1] * x[1] + x[2] * x[2] < 1.0; }

static rp_skin_def def_of(const pool *p)
{
    rp_skin_def def = rp_default_skin_def();
    def.water = (rp_skin_crowd){(const double(*)[3])p->point, NULL, p->volume, p->count};
    def.spacing = p->spacing;
    def.threads = 2;
    return def;
}

static rp_surface surface_of(const rp_skin_def *def)
{
    rp_skin *skin;
    rp_surface s = {0};
    if (check_ok(__FILE__, __LINE__, "rp_skin_open", rp_skin_open(def, &skin))) {
        check_ok(__FILE__, __LINE__, "rp_skin_surface", rp_skin_surface(skin, &s, NULL));
        rp_skin_close(skin);
    }
    return s;
}

// What its triangles enclose; `open` is the sum of their areas as vectors, over that of their
// sizes: 0 of what is closed.
static double volume_of(const rp_surface *s, double *open)
{
    double volume = 0.0, sum[3] = {0}, area = 0.0;
    for (int64_t i = 0; i < s->triangles; i++) {
        double x[3][3], n[3];
        for (int c = 0; c < 3; c++) {
            for (int a = 0; a < 3; a++) {
                x[c][a] = (double)s->vertex[s->triangle[i][c]][a];
            }
        }
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            n[a] = 0.5 * ((x[1][b] - x[0][b]) * (x[2][c] - x[0][c]) -
                          (x[1][c] - x[0][c]) * (x[2][b] - x[0][b]));
            sum[a] += n[a];
        }
        volume += (x[0][0] * n[0] + x[0][1] * n[1] + x[0][2] * n[2]) / 3.0;
        area += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    *open = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / area;
    return volume;
}

// Fails when triangles are turned inside out, bricks are not joined, or the radius is wrong.
static void a_ball_of_water_has_its_volume_and_is_closed(void)
{
    const double lower[3] = {-1.2, -1.2, -1.2}, upper[3] = {1.2, 1.2, 1.2};
    pool p = fill(0.08, lower, upper, in_ball);
    const rp_skin_def def = def_of(&p);
    rp_surface s = surface_of(&def);
    double open, most = 0.0;
    CHECK_NEAR(volume_of(&s, &open) / ((double)p.count * pow(p.spacing, 3.0)), 1.0, 0.04);
    CHECK_NEAR(open, 0.0, 1e-5);
    for (int64_t i = 0; i < s.vertices; i++) {
        const float *x = s.vertex[i], *n = s.normal[i];
        const double r = sqrt((double)(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
        most = fmax(most, fabs(r - 1.0));
        CHECK((double)(x[0] * n[0] + x[1] * n[1] + x[2] * n[2]) > 0.7 * r);
    }
    CHECK(most < 0.6 * p.spacing); // its cubes are cut from a lattice: half of one sticks out
    rp_surface_free(&s);
    drop(&p);
}

// Fails when images are missing: the surface would be round along the walls.
static void water_at_walls_is_flat(void)
{
    const double lower[3] = {0.0, 0.0, 0.0}, upper[3] = {1.0, 0.5, 0.5};
    pool p = fill(0.05, lower, upper, everywhere);
    const rp_skin_wall wall[] = {{{0, 0, 0}, {1, 0, 0}, 0.0},
                                 {{0, 0, 0}, {0, 1, 0}, 0.0},
                                 {{0, 0, 0}, {0, 0, 1}, 0.0},
                                 {{1, 0, 0}, {-1, 0, 0}, 0.0},
                                 {{0, 0, 0.5}, {0, 0, -1}, 0.0}};
    rp_skin_def def = def_of(&p);
    def.wall = wall;
    def.walls = 5;
    rp_surface s = surface_of(&def);
    double open, sum = 0.0, square = 0.0;
    int tops = 0;
    CHECK_NEAR(volume_of(&s, &open), 0.25, 0.005);
    CHECK_NEAR(open, 0.0, 1e-5);
    for (int64_t i = 0; i < s.vertices; i++) {
        const float *x = s.vertex[i];
        CHECK(x[0] > -1e-5f && x[0] < 1.00001f && x[1] > -1e-5f);
        CHECK(x[2] > -1e-5f && x[2] < 0.50001f);
        // edges are cut off within a voxel
        if (x[1] > 0.45f && x[0] > 0.04f && x[0] < 0.96f && x[2] > 0.04f && x[2] < 0.46f) {
            sum += (double)x[1];
            square += (double)(x[1] * x[1]);
            tops++;
        }
    }
    // calm: it shows less than half of how far particles lie to and fro
    const double mean = sum / tops, own = 0.5 / sqrt(12.0) * p.spacing;
    CHECK_NEAR(mean, 0.5, 0.2 * p.spacing);
    CHECK(sqrt(square / tops - mean * mean) < 0.5 * own);
    rp_surface_free(&s);
    drop(&p);
}

// The corner of a box: water goes on into it. Fails when faces, or images of images, are missing.
static void water_leaves_no_gap_at_faces(void)
{
    const double lower[3] = {0.0, 0.0, 0.0}, upper[3] = {0.6, 0.4, 0.4};
    pool p = fill(0.05, lower, upper, everywhere);
    const rp_skin_face face[] = {
        {{{-1, 0, 2}, {2, 0, 2}, {2, 0, -2}}}, // a floor, which faces up
        {{{-1, 0, 2}, {2, 0, -2}, {-1, 0, -2}}},
        {{{0, -1, 2}, {0, -1, -2}, {0, 2, -2}}}, // and a wall, which faces along x
        {{{0, -1, 2}, {0, 2, -2}, {0, 2, 2}}},
    };
    rp_skin_def def = def_of(&p);
    def.face = face;
    def.faces = 4;
    rp_surface s = surface_of(&def);
    for (int64_t i = 0; i < s.vertices; i++) {
        const float *x = s.vertex[i];
        // but for what lies behind them, and the far ends
        CHECK(x[0] < -0.02f || x[1] < -0.02f || x[0] > 0.5f || x[1] > 0.3f || x[2] < 0.1f ||
              x[2] > 0.3f);
    }
    rp_surface_free(&s);
    drop(&p);
}

static void a_lone_drop_is_there(void)
{
    double point[1][3] = {{3.0, 4.0, 5.0}};
    float volume[1] = {1e-6f};
    pool p = {point, volume, 1, 0.01};
    rp_skin_def def = def_of(&p);
    rp_surface s = surface_of(&def);
    double open;
    const double v = volume_of(&s, &open);
    CHECK(v > 0.05e-6 && v < 1.2e-6); // a voxel is nearly as wide as the drop
    rp_surface_free(&s);
}

static void sand_in_water_is_as_wet_as_it_is(void)
{
    const double lower[3] = {0.0, 0.0, 0.0}, upper[3] = {1.0, 1.0, 1.0};
    pool p = fill(0.1, lower, upper, everywhere);
    for (int64_t i = 0; i < p.count; i++) {
        p.volume[i] *= p.point[i][0] < 0.5 ? 1.0f : 0.4f;
    }
    const rp_skin_def def = def_of(&p);
    rp_skin *skin;
    CHECK_OK(rp_skin_open(&def, &skin));
    CHECK_NEAR(rp_skin_wetness(skin, (double[3]){0.25, 0.5, 0.5}), 1.0, 0.15);
    CHECK_NEAR(rp_skin_wetness(skin, (double[3]){0.75, 0.5, 0.5}), 0.4, 0.06);
    CHECK_NEAR(rp_skin_wetness(skin, (double[3]){0.5, 1.5, 0.5}), 0.0, 0.0);
    CHECK_NEAR(rp_skin_wetness(skin, (double[3]){1e7, -1e7, 0.5}), 0.0, 0.0);
    rp_skin_close(skin);
    drop(&p);
}

static void threads_change_nothing(void)
{
    const double lower[3] = {-1.2, -1.2, -1.2}, upper[3] = {1.2, 1.2, 1.2};
    pool p = fill(0.15, lower, upper, in_ball);
    rp_skin_def def = def_of(&p);
    rp_surface two = surface_of(&def);
    for (int threads = 1; threads <= 5; threads += 4) {
        def.threads = threads;
        rp_surface s = surface_of(&def);
        CHECK_EQUAL(s.vertices, two.vertices);
        CHECK_EQUAL(s.triangles, two.triangles);
        CHECK(s.vertices != two.vertices ||
              memcmp(s.vertex, two.vertex, (size_t)s.vertices * sizeof *s.vertex) == 0);
        CHECK(s.triangles != two.triangles ||
              memcmp(s.triangle, two.triangle, (size_t)s.triangles * sizeof *s.triangle) == 0);
        rp_surface_free(&s);
    }
    rp_surface_free(&two);
    drop(&p);
}

static void nonsense_is_refused_and_nobody_has_no_surface(void)
{
    rp_skin *skin;
    rp_skin_def def = rp_default_skin_def();
    CHECK_ERROR(rp_skin_open(&def, &skin), RP_ERR_ARGUMENT, "skin.spacing");
    def.spacing = 1.0;
    def.voxel = 0.25; // particles reach 8.8 of them, bricks have 8
    CHECK_ERROR(rp_skin_open(&def, &skin), RP_ERR_ARGUMENT, "skin.voxel");
    def.voxel = 0.0;
    rp_surface s = surface_of(&def);
    CHECK_EQUAL(s.triangles, 0);
    rp_surface_free(&s);
    def.cookie = 0;
    CHECK_ERROR(rp_skin_open(&def, &skin), RP_ERR_ARGUMENT, "rp_default_skin_def");
}

TEST_MAIN(TEST(a_ball_of_water_has_its_volume_and_is_closed), TEST(water_at_walls_is_flat),
          TEST(water_leaves_no_gap_at_faces), TEST(a_lone_drop_is_there),
          TEST(sand_in_water_is_as_wet_as_it_is), TEST(threads_change_nothing),
          TEST(nonsense_is_refused_and_nobody_has_no_surface))
