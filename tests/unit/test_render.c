// Tests src/render: grains are where particles are, whichever way they come, and what cannot be
// drawn is said. Pictures are judged by their pixels; of a frame, by the PNG read back.
#include "repose/frame.h"
#include "repose/render.h"

#include "check.h"

#include <dirent.h>
#include <math.h>
#include <png.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const double DEGREE = M_PI / 180.0;

// ---- pictures ----

typedef struct picture {
    int width, height;
    unsigned char *rgb; // NULL: there is none
} picture;

static picture new_picture(int width, int height)
{
    picture p = {width, height, malloc((size_t)width * (size_t)height * 3)};
    if (p.rgb == NULL) {
        abort();
    }
    memset(p.rgb, 0x5a, (size_t)width * (size_t)height * 3);
    return p;
}

static const unsigned char *at(picture p, double x, double y)
{
    return &p.rgb[3 * ((size_t)y * (size_t)p.width + (size_t)x)];
}

static int sum_at(picture p, double x, double y)
{
    const unsigned char *c = at(p, x, y);
    return c[0] + c[1] + c[2];
}

static bool same(picture a, picture b)
{
    return a.width == b.width && a.height == b.height &&
           memcmp(a.rgb, b.rgb, (size_t)a.width * (size_t)a.height * 3) == 0;
}

// Between the largest and the least of the three.
static int spread(const unsigned char *c)
{
    int low = 255, high = 0;
    for (int i = 0; i < 3; i++) {
        low = c[i] < low ? c[i] : low;
        high = c[i] > high ? c[i] : high;
    }
    return high - low;
}

// Ground and backdrop are grey, but for what grains throw onto them; most grains are not.
static bool is_sand(const unsigned char *c) { return c[0] - c[2] > 70; }

// What sand covers. Between two grains of a row there is sand too; so white grains count.
typedef struct cover {
    double area, x, y;            // pixels; centre
    int left, right, top, bottom; // the last two beyond
} cover;

static cover cover_of(picture p)
{
    cover c = {.left = p.width, .top = p.height};
    for (int y = 0; y < p.height; y++) {
        int first = p.width, last = -1;
        for (int x = 0; x < p.width; x++) {
            if (is_sand(at(p, x, y))) {
                first = x < first ? x : first;
                last = x;
            }
        }
        if (last < 0) {
            continue;
        }
        const double n = last - first + 1;
        c.area += n;
        c.x += n * (first + last + 1) / 2.0;
        c.y += n * (y + 0.5);
        c.left = first < c.left ? first : c.left;
        c.right = last + 1 > c.right ? last + 1 : c.right;
        c.top = y < c.top ? y : c.top;
        c.bottom = y + 1;
    }
    c.x /= c.area;
    c.y /= c.area;
    return c;
}

enum { AMBER, BROWN, WHITE };

// Which of the three grains a lit pixel shows.
static int colour_of(const unsigned char *c)
{
    return spread(c) < 56 ? WHITE : c[0] < 150 ? BROWN : AMBER;
}

// ---- defs and points ----

static rp_render_def sized(int width, int height)
{
    rp_render_def def = rp_default_render_def();
    def.width = width;
    def.height = height;
    def.samples = 8;
    return def;
}

// A picture of one frame, in one call.
static rp_result picture_of(const char *frame, const rp_render_def *def, const char *png)
{
    rp_render *render;
    RP_TRY(rp_render_open(frame, def, &render));
    const rp_result result = rp_render_frame(render, -1, png);
    rp_render_close(render);
    return result;
}

// A camera on the z axis that looks at the origin.
static rp_render_def from_front(int width, int height, double distance, double radius)
{
    rp_render_def def = sized(width, height);
    def.has_eye = def.has_look = true;
    def.eye[2] = distance;
    def.radius = radius;
    return def;
}

// The picture of points; its rgb is NULL when a check failed.
static picture draw(const rp_render_def *def, const double (*x)[3], const uint64_t *id, int count,
                    int dimension)
{
    picture p = new_picture(def->width, def->height);
    if (!check_ok(__FILE__, __LINE__, "rp_render_points",
                  rp_render_points((const double *)x, id, count, dimension, def, p.rgb))) {
        free(p.rgb);
        p.rgb = NULL;
    }
    return p;
}

// Points on a sphere, evenly.
static void fill_sphere(double (*x)[3], int count, double radius, const double center[3])
{
    for (int i = 0; i < count; i++) {
        const double y = 1.0 - (2.0 * i + 1.0) / count, r = sqrt(1.0 - y * y);
        const double angle = i * M_PI * (3.0 - sqrt(5.0));
        x[i][0] = center[0] + radius * r * cos(angle);
        x[i][1] = center[1] + radius * y;
        x[i][2] = center[2] + radius * r * sin(angle);
    }
}

// ---- where things are ----

// A wrong focal length, a stretched axis or a shifted centre. Bounds: half a pixel for the centre;
// the area to 3 %, less than a pixel at the rim, which is soft and made of grains.
static void a_sphere_is_round_centred_and_of_the_right_size(void)
{
    enum { N = 20000 };
    static double x[N + 1][3];
    x[N][1] =
        -50.0; // takes the ground away from what is judged: it would take on the colour of sand
    const double radius = 0.5, grain = 0.01, distance = 4.0, outer = radius + grain;
    fill_sphere(x, N, radius, (double[3]){0});
    const rp_render_def def = from_front(320, 240, distance, grain);
    picture p = draw(&def, x, NULL, N + 1, 3);
    CHECK(p.rgb != NULL);
    const cover c = cover_of(p);
    free(p.rgb);
    const double focal = 240 / 2 / tan(15.0 * DEGREE);
    const double want = focal * outer / sqrt(distance * distance - outer * outer);
    CHECK_NEAR(c.area / (M_PI * want * want), 1.0, 0.03);
    CHECK_NEAR(c.x, 160.0, 0.5);
    CHECK_NEAR(c.y, 120.0, 0.5);
}

// Far from the origin, so that a forgotten offset shows. Four fifths of the height, to two pixels.
static void the_default_camera_frames_the_particles(void)
{
    enum { N = 5000 };
    static double x[N][3];
    fill_sphere(x, N, 3.0, (double[3]){70.0, -30.0, 200.0});
    static const struct {
        int width, height;
        double fov, want;
    } cases[] = {{320, 240, 30.0, 192.0}, {320, 240, 60.0, 192.0}, {200, 300, 30.0, 160.0}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        check_context("%d x %d, %g degrees", cases[i].width, cases[i].height, cases[i].fov);
        rp_render_def def = sized(cases[i].width, cases[i].height);
        def.fov = cases[i].fov * DEGREE;
        picture p = draw(&def, x, NULL, N, 3);
        CHECK(p.rgb != NULL);
        const cover c = cover_of(p);
        free(p.rgb);
        // below, the ground has the colour of what lies on it
        CHECK_NEAR(c.top, 0.5 * (cases[i].height - cases[i].want), 2.0);
        CHECK_NEAR(c.right - c.left, cases[i].want, 2.0);
        CHECK_NEAR(c.left + c.right, cases[i].width, 2.0);
    }
}

// A camera that is told where to look, and no more, keeps its distance: looking a quarter of a
// metre to the right moves the sphere to the left and leaves its size alone.
static void a_place_to_look_at_moves_the_camera_along(void)
{
    enum { N = 5000 };
    static double x[N][3];
    fill_sphere(x, N, 1.0, (double[3]){0});
    rp_render_def def = sized(320, 240);
    def.has_look = true;
    def.look_at[0] = 0.25 * cos(0.45); // the camera stands 0.45 rad to the right of the z axis
    def.look_at[2] = -0.25 * sin(0.45);
    def.radius = 0.03;
    picture p = draw(&def, x, NULL, N, 3);
    CHECK(p.rgb != NULL);
    const cover c = cover_of(p);
    free(p.rgb);
    const double tangent = tan(15.0 * DEGREE), distance = 1.03 / sin(atan(0.8 * tangent));
    CHECK_NEAR(c.right - c.left, 192.0, 2.0);
    CHECK_NEAR(160.0 - (c.left + c.right) / 2.0, 0.25 * 120.0 / tangent / distance, 1.5);
    CHECK_NEAR(c.top, 24.0, 2.0);
}

enum { GRID_X = 41, GRID_Y = 31, GRID = GRID_X * GRID_Y };

// The colour of each grain of a grid, looked up where it must be in the picture.
static void grid_colours(const uint64_t *id, int colour[GRID])
{
    static double x[GRID][3];
    for (int i = 0; i < GRID; i++) {
        x[i][0] = i % GRID_X - GRID_X / 2;
        x[i][1] = i / GRID_X - GRID_Y / 2;
    }
    rp_render_def def = from_front(656, 496, 100.0, 0.2);
    def.fov = 20.0 * DEGREE;
    picture p = draw(&def, x, id, GRID, 3);
    CHECK(p.rgb != NULL);
    const double focal = p.height / 2 / tan(10.0 * DEGREE);
    for (int i = 0; i < GRID; i++) {
        // a little up and left of a grain's middle, where the light is
        colour[i] = colour_of(at(p, p.width / 2 + focal * (x[i][0] - 0.08) / 100.0,
                                 p.height / 2 - focal * (x[i][1] + 0.06) / 100.0));
    }
    free(p.rgb);
}

// 1271 grains; the bounds are four standard deviations.
static void grains_have_three_colours_in_their_shares(void)
{
    static const double share[] = {[AMBER] = 0.85, [BROWN] = 0.10, [WHITE] = 0.05};
    int colour[GRID], count[3] = {0};
    CHECK_HELPER(grid_colours(NULL, colour));
    for (int i = 0; i < GRID; i++) {
        count[colour[i]]++;
    }
    for (int k = 0; k < 3; k++) {
        check_context("colour %d", k);
        CHECK_NEAR((double)count[k] / GRID, share[k],
                   4.0 * sqrt(share[k] * (1.0 - share[k]) / GRID));
    }
}

// A grain that changed its colour whenever particles are sorted would flicker in a film.
static void the_id_of_a_particle_decides_its_colour(void)
{
    int colour[GRID], again[GRID];
    uint64_t id[GRID];
    CHECK_HELPER(grid_colours(NULL, colour));
    for (int i = 0; i < GRID; i++) {
        id[i] = (uint64_t)(GRID - 1 - i);
    }
    CHECK_HELPER(grid_colours(id, again));
    int wrong = 0; // one in a hundred is told wrongly, in the shade of its neighbours
    for (int i = 0; i < GRID; i++) {
        wrong += again[i] != colour[id[i]];
    }
    CHECK(wrong <= GRID / 50);
}

static void the_order_of_particles_does_not_change_the_picture(void)
{
    enum { N = 3000 };
    static double x[N][3], y[N][3];
    static uint64_t id[N], other[N];
    fill_sphere(x, N, 1.0, (double[3]){0});
    for (int i = 0; i < N; i++) {
        const int k = (int)((i * 1237L + 5) % N); // 1237 and N have no common divisor
        id[i] = (uint64_t)i;
        memcpy(y[k], x[i], sizeof x[i]);
        other[k] = id[i];
    }
    rp_render_def def = sized(160, 120);
    def.radius = 0.04;
    picture a = draw(&def, x, id, N, 3), b = draw(&def, y, other, N, 3);
    const bool equal = a.rgb != NULL && b.rgb != NULL && same(a, b);
    free(a.rgb);
    free(b.rgb);
    CHECK(equal);
}

// Whichever comes first; the others wait behind the camera.
static void nearer_particles_hide_farther_ones(void)
{
    int colour[GRID], amber = -1, white = -1, last_white = -1;
    CHECK_HELPER(grid_colours(NULL, colour));
    for (int i = 0; i < GRID; i++) {
        amber = amber < 0 && colour[i] == AMBER ? i : amber;
        white = white < 0 && colour[i] == WHITE ? i : white;
        last_white = colour[i] == WHITE ? i : last_white;
    }
    const int cases[][2] = {{amber, white}, {white, amber}, {last_white, amber}};
    for (int k = 0; k < COUNT_OF(cases); k++) {
        static double x[GRID][3];
        for (int i = 0; i < GRID; i++) {
            x[i][2] = 50.0;
        }
        x[cases[k][0]][2] = 0.5;
        x[cases[k][1]][2] = -0.5;
        const rp_render_def def = from_front(64, 48, 5.0, 0.3);
        picture p = draw(&def, x, NULL, GRID, 3);
        CHECK(p.rgb != NULL);
        const int got = colour_of(at(p, 30, 22));
        free(p.rgb);
        CHECK_EQUAL(got, colour[cases[k][0]]);
    }
}

// The camera sees 4.29 m of height in 180 pixels at the origin: 1.2 m are 50 of them.
static void up_is_up_right_is_right_and_light_comes_from_the_upper_left(void)
{
    rp_render_def def = from_front(240, 180, 8.0, 1.0);
    picture ball = draw(&def, (double[][3]){{0}}, NULL, 1, 3);
    CHECK(ball.rgb != NULL);
    const int lit = sum_at(ball, 102, 72), dark = sum_at(ball, 138, 108);
    free(ball.rgb);
    CHECK(lit > 1.3 * dark);

    def.radius = 0.3;
    picture p = draw(&def, (double[][3]){{0}, {1.2, 0.0, 0.0}, {0.0, -1.2, 0.0}}, NULL, 3, 3);
    CHECK(p.rgb != NULL);
    const cover c = cover_of(p);
    const bool right = is_sand(at(p, 170, 90)), below = is_sand(at(p, 120, 140));
    free(p.rgb);
    CHECK(right && below);
    CHECK(c.left > 90 && c.right > 170 && c.top > 60 && c.top < 90 && c.bottom > 140);
}

static void a_ball_throws_its_shadow_to_the_right(void)
{
    rp_render_def def = from_front(240, 180, 12.0, 1.0);
    def.eye[1] = 3.0;
    picture p = draw(&def, (double[][3]){{0.0, 1.0, 0.0}}, NULL, 1, 3);
    CHECK(p.rgb != NULL);
    const int left = sum_at(p, 40, 90), right = sum_at(p, 160, 88);
    const bool neutral =
        spread(at(p, 40, 90)) < 32 && spread(at(p, 160, 88)) < 32 && spread(at(p, 5, 5)) < 70;
    free(p.rgb);
    CHECK(left > right + 60);
    CHECK(neutral);
}

// A square stays as wide as high; seen at an angle it would be narrower by a tenth. The third
// component of a 2D world means nothing.
static void a_flat_world_is_seen_from_the_front(void)
{
    enum { SIDE = 41, N = SIDE * SIDE };
    static double x[N][3], other[N][3];
    for (int i = 0; i < N; i++) {
        x[i][0] = other[i][0] = i % SIDE / 40.0;
        x[i][1] = other[i][1] = i / SIDE / 40.0;
        other[i][2] = i % 3 == 0 ? NAN : i;
    }
    const rp_render_def def = sized(320, 240);
    picture p = draw(&def, x, NULL, N, 2), q = draw(&def, other, NULL, N, 2);
    CHECK(p.rgb != NULL && q.rgb != NULL);
    const cover c = cover_of(p);
    const bool equal = same(p, q);
    free(p.rgb);
    free(q.rgb);
    CHECK_NEAR((double)(c.right - c.left) / (c.bottom - c.top), 1.0, 0.03);
    CHECK_NEAR(c.bottom - c.top, 192.0, 4.0);
    CHECK(equal);
}

// ---- odd ones ----

// One point, all in one place, a line, far away, and so close together that doubles barely tell.
static void odd_clouds_are_drawn(void)
{
    static const struct {
        int count;
        double x[10][3];
    } cases[] = {
        {1, {{1, 2, 3}}},
        {4, {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}}},
        {3, {{0, 0, 0}, {0, 9, 0}, {0, 4, 0}}},
        {2, {{1e9, 1e9, 1e9}, {-1e9, 0, 0}}},
        {2, {{1e6, 0, 0}, {1000000.000000001, 0, 0}}},
        {2, {{1e-200, 0, 0}, {0, 0, 0}}},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        for (int dimension = 2; dimension <= 3; dimension++) {
            check_context("case %d in %dD", i, dimension);
            const rp_render_def def = sized(80, 60);
            picture p = draw(&def, cases[i].x, NULL, cases[i].count, dimension);
            CHECK(p.rgb != NULL);
            const cover c = cover_of(p);
            free(p.rgb);
            CHECK(c.area > 0.0);
        }
    }
}

// Straight down and up, inside the cloud, under the ground, looking away, very wide.
static void odd_cameras_are_no_trouble(void)
{
    enum { N = 500 };
    static double x[N][3];
    fill_sphere(x, N, 1.0, (double[3]){0});
    static const double cases[][2][3] = {{{0, 9, 0}, {0, 0, 0}},
                                         {{0, -9, 0}, {0, 0, 0}},
                                         {{0, 0, 0}, {1, 0, 0}},
                                         {{0, 0, 9}, {0, 0, 10}},
                                         {{1e9, 1e9, 1e9}, {0, 0, 0}}};
    for (int i = 0; i < COUNT_OF(cases); i++) {
        rp_render_def def = sized(80, 60);
        def.has_eye = def.has_look = true;
        memcpy(def.eye, cases[i][0], sizeof def.eye);
        memcpy(def.look_at, cases[i][1], sizeof def.look_at);
        picture p = draw(&def, x, NULL, N, 3);
        CHECK(p.rgb != NULL);
        free(p.rgb);
    }
    rp_render_def def = sized(1, 1);
    def.has_eye = true;
    def.eye[0] = def.eye[1] = def.eye[2] = 5.0;
    def.fov = 150.0 * DEGREE;
    def.radius = 2.0;
    picture p = draw(&def, x, NULL, N, 3);
    CHECK(p.rgb != NULL);
    free(p.rgb);
}

// A world that failed may hold them. They must leave no trace: not in the bounds, not in the
// colours of the others.
static void particles_that_are_nowhere_are_left_out(void)
{
    enum { N = 300 };
    static double x[N][3], all[2 * N][3];
    static uint64_t id[N], all_id[2 * N];
    static const double bad[] = {NAN, INFINITY, -INFINITY, 2e9, -1e300};
    fill_sphere(x, N, 1.0, (double[3]){0});
    for (int i = 0; i < N; i++) {
        id[i] = all_id[2 * i + 1] = (uint64_t)i;
        all_id[2 * i] = (uint64_t)(i + N);
        memcpy(all[2 * i + 1], x[i], sizeof x[i]);
        all[2 * i][i % 3] = bad[i % COUNT_OF(bad)];
    }
    const rp_render_def def = sized(80, 60);
    picture a = draw(&def, x, id, N, 3), b = draw(&def, all, all_id, 2 * N, 3);
    const bool equal = a.rgb != NULL && b.rgb != NULL && same(a, b);
    free(a.rgb);
    free(b.rgb);
    CHECK(equal);
}

static void nothing_at_all_is_a_picture_of_empty_ground(void)
{
    const double nowhere[][3] = {{NAN, 0.0, 0.0}};
    for (int k = 0; k < 4; k++) {
        const rp_render_def def = sized(64, 48);
        picture p = draw(&def, nowhere, NULL, k / 2, 2 + k % 2);
        CHECK(p.rgb != NULL);
        int worst = 0, darkest = 255;
        for (int i = 0; i < 64 * 48; i++) {
            const unsigned char *c = &p.rgb[3 * i];
            worst = spread(c) > worst ? spread(c) : worst;
            darkest = c[0] < darkest ? c[0] : darkest;
        }
        free(p.rgb);
        CHECK(worst < 70);
        CHECK(darkest > 90);
    }
}

// ---- what cannot be drawn ----

static void bad_values_are_named(void)
{
    const double x[3] = {0};
    unsigned char rgb[9 * 9 * 3];
    const rp_render_def good = sized(9, 9);
    rp_render_def def;
#define REFUSES(change, text)                                                                      \
    def = good;                                                                                    \
    change;                                                                                        \
    CHECK_ERROR(rp_render_points(x, NULL, 1, 3, &def, rgb), RP_ERR_ARGUMENT, text);                \
    CHECK_ERROR(picture_of("no.hdf", &def, "no.png"), RP_ERR_ARGUMENT, text)
    REFUSES(def.cookie = 0, "render: start from rp_default_render_def()");
    REFUSES(def.width = 0, "render.width: want 1 to 8192, got 0");
    REFUSES(def.width = 8193, "render.width: want 1 to 8192, got 8193");
    REFUSES(def.height = -1, "render.height: want 1 to 8192, got -1");
    REFUSES(def.fov = -1.0, "render.fov: want 0.017 to 2.62 rad, or 0 for the scene's, got -1");
    REFUSES(def.fov = NAN, "render.fov: want 0.017 to 2.62 rad, or 0 for the scene's, got nan");
    REFUSES(def.fov = 30.0, "render.fov: want 0.017 to 2.62 rad, or 0 for the scene's, got 30");
    REFUSES(def.radius = -1.0, "render.radius: want 1e-09 to 1e+06 m");
    REFUSES(def.radius = NAN, "render.radius: want 1e-09 to 1e+06 m");
    REFUSES((def.has_eye = true, def.eye[1] = INFINITY), "render.eye: want finite numbers");
    REFUSES((def.has_look = true, def.look_at[2] = 2e9), "render.look_at: want finite numbers");
#undef REFUSES
    def = good;
    def.has_eye = def.has_look = true;
    CHECK_ERROR(rp_render_points(x, NULL, 1, 3, &def, rgb), RP_ERR_ARGUMENT, "the same place");
    def.has_look = false; // the middle of the particles
    CHECK_ERROR(rp_render_points(x, NULL, 1, 3, &def, rgb), RP_ERR_ARGUMENT, "the same place");
    CHECK_ERROR(rp_render_points(x, NULL, 1, 4, &good, rgb), RP_ERR_ARGUMENT,
                "render.dimension: want 2 or 3, got 4");
    CHECK_ERROR(rp_render_points(x, NULL, -1, 3, &good, rgb), RP_ERR_ARGUMENT, "render.count");
    CHECK_ERROR(rp_render_points(x, NULL, INT64_MAX, 3, &good, rgb), RP_ERR_MEMORY, "particles");
    // what is not asked for does not matter
    def = good;
    def.eye[0] = def.look_at[0] = NAN;
    CHECK_OK(rp_render_points(x, NULL, 1, 3, &def, rgb));
}

// ---- frames ----

static char folder[64];

// folder/name, in one of a few buffers that take turns
static const char *in_folder(const char *name)
{
    static char path[4][384];
    static int turn;
    char *out = path[turn++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

static void open_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/repose-render-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
}

// Removes it; `files` is how many must have been in it.
static void close_folder(int files)
{
    int count = 0;
    DIR *directory = opendir(folder);
    CHECK(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] != '.') {
            count++;
            remove(in_folder(entry->d_name));
        }
    }
    closedir(directory);
    rmdir(folder);
    CHECK_EQUAL(count, files);
}

// A frame of a cube of sand with `side` particles along each axis; 0: of an empty world.
static void write_frame(const char *path, int dimension, int side)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = dimension;
    def.dx = 0.02;
    def.threads = 1;
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    for (int a = 0; a < 3; a++) {
        box.upper[a] = 0.01 * side;
    }
    rp_world *world = NULL;
    void *state = NULL;
    size_t size = 0;
    rp_result result = rp_world_create(&def, &world);
    if (result == RP_OK) result = rp_world_add_material(world, &sand, &box.material);
    if (result == RP_OK && side > 0) result = rp_world_add_box(world, &box, NULL);
    if (result == RP_OK && side > 0) result = rp_world_step(world);
    if (result == RP_OK) result = rp_world_save(world, &state, &size);
    if (result == RP_OK) result = rp_frame_write(path, state, size, NULL);
    rp_state_free(state);
    rp_world_destroy(world);
    CHECK_OK(result);
}

static picture read_png(const char *path)
{
    picture p = {0};
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (png_image_begin_read_from_file(&image, path)) {
        const bool is_rgb = image.format == PNG_FORMAT_RGB;
        image.format = PNG_FORMAT_RGB;
        p = new_picture((int)image.width, (int)image.height);
        if (!png_image_finish_read(&image, NULL, p.rgb, 0, NULL) || !is_rgb) {
            free(p.rgb);
            p.rgb = NULL;
        }
    }
    return p;
}

// More particles than are read at a time, in an order that is not that of their ids: a chunk at the
// wrong place or ids that are not used would show.
static void the_picture_of_a_frame_is_that_of_its_particles(void)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        check_context("%dD", dimension);
        CHECK_HELPER(open_folder());
        CHECK_HELPER(write_frame(in_folder("f.hdf"), dimension, dimension == 3 ? 42 : 300));
        rp_render_def def = sized(160, 120);
        def.radius = 0.006;
        CHECK_OK(picture_of(in_folder("f.hdf"), &def, in_folder("f.png")));
        picture got = read_png(in_folder("f.png"));

        rp_frame *frame;
        rp_frame_info info;
        CHECK_OK(rp_frame_open(in_folder("f.hdf"), &frame));
        rp_frame_get_info(frame, &info);
        CHECK(info.particles > 1 << 16);
        const size_t count = (size_t)info.particles;
        double(*x)[3] = malloc(count * sizeof *x), *number = malloc(count * sizeof *number);
        uint64_t *id = malloc(count * sizeof *id);
        CHECK_OK(rp_frame_read(frame, "position", 0, info.particles, x[0]));
        CHECK_OK(rp_frame_read(frame, "id", 0, info.particles, number));
        bool sorted = true;
        for (size_t i = 0; i < count; i++) {
            id[i] = (uint64_t)number[i];
            sorted = sorted && id[i] == i;
        }
        picture want = draw(&def, x, id, (int)count, dimension);
        const bool equal = got.rgb != NULL && want.rgb != NULL && same(got, want);
        rp_frame_close(frame);
        free(x);
        free(number);
        free(id);
        free(got.rgb);
        free(want.rgb);
        CHECK(!sorted);
        CHECK(equal);
        CHECK_HELPER(close_folder(2));
    }
}

static void an_empty_frame_is_a_picture_of_empty_ground(void)
{
    CHECK_HELPER(open_folder());
    CHECK_HELPER(write_frame(in_folder("f.hdf"), 3, 0));
    const rp_render_def def = sized(64, 48);
    CHECK_OK(picture_of(in_folder("f.hdf"), &def, in_folder("f.png")));
    picture got = read_png(in_folder("f.png")), want = draw(&def, NULL, NULL, 0, 3);
    const bool equal = got.rgb != NULL && want.rgb != NULL && same(got, want);
    free(got.rgb);
    free(want.rgb);
    CHECK(equal);
    CHECK_HELPER(close_folder(2));
}

static void a_frame_that_cannot_be_read_is_named(void)
{
    CHECK_HELPER(open_folder());
    const rp_render_def def = sized(9, 9);
    const char *missing = in_folder("missing.hdf");
    CHECK_ERROR(picture_of(missing, &def, in_folder("f.png")), RP_ERR_FILE, missing);
    FILE *file = fopen(in_folder("text.hdf"), "w");
    CHECK(file != NULL);
    fputs("no frame\n", file);
    fclose(file);
    const char *text = in_folder("text.hdf");
    CHECK_ERROR(picture_of(text, &def, in_folder("f.png")), RP_ERR_FILE, text);
    CHECK_HELPER(close_folder(1));
}

static void a_picture_that_cannot_be_written_leaves_nothing_behind(void)
{
    CHECK_HELPER(open_folder());
    CHECK_HELPER(write_frame(in_folder("f.hdf"), 3, 4));
    const rp_render_def def = sized(9, 9);
    const char *frame = in_folder("f.hdf");
    char want[512];

    const char *nowhere = in_folder("no/f.png");
    snprintf(want, sizeof want, "cannot write %s.tmp: No such file", nowhere);
    CHECK_ERROR(picture_of(frame, &def, nowhere), RP_ERR_FILE, want);

    snprintf(want, sizeof want, "cannot write %s: Is a directory", folder);
    CHECK_ERROR(picture_of(frame, &def, folder), RP_ERR_FILE, want);
    snprintf(want, sizeof want, "%s.tmp", folder);
    CHECK(access(want, F_OK) != 0);

    // a frame is worth more than its picture
    CHECK_ERROR(picture_of(frame, &def, frame), RP_ERR_ARGUMENT, frame);
    CHECK_OK(picture_of(frame, &def, in_folder("f.png")));
    CHECK_HELPER(close_folder(2));
}

// A limit on the size of files stands in for a disk without room.
static void a_full_disk_leaves_the_old_picture(void)
{
    CHECK_HELPER(open_folder());
    CHECK_HELPER(write_frame(in_folder("f.hdf"), 3, 4));
    FILE *file = fopen(in_folder("f.png"), "w+");
    CHECK(file != NULL);
    fputs("old", file);
    fflush(file);
    struct rlimit before, limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit = before;
    limit.rlim_cur = 1000;
    void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const rp_render_def def = sized(300, 200);
    const rp_result result = picture_of(in_folder("f.hdf"), &def, in_folder("f.png"));
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, old);
    char want[512], text[8] = "";
    snprintf(want, sizeof want, "cannot write %s", in_folder("f.png"));
    CHECK_ERROR(result, RP_ERR_FILE, want);
    rewind(file);
    CHECK(fgets(text, sizeof text, file) != NULL && strcmp(text, "old") == 0);
    fclose(file);
    CHECK_HELPER(close_folder(2));
}

// A tint that takes another draw than the colours of sand would change which grains are dark.
static void a_tint_has_the_shades_of_sand(void)
{
    const double color[3] = {0.2, 0.4, 0.8};
    for (uint64_t id = 0; id < 1000; id++) {
        unsigned char sand[3], tint[3];
        rp_grain_color(id, sand);
        rp_grain_tint(color, id, tint);
        const int bright = tint[0] + tint[1] + tint[2], usual = 51 + 102 + 204;
        check_context("grain %d", (int)id);
        CHECK(sand[0] == 225 ? bright == usual : sand[0] == 107 ? bright < usual : bright > usual);
        CHECK(tint[0] < tint[1] && tint[1] < tint[2]);
    }
}

TEST_MAIN(
    TEST(a_tint_has_the_shades_of_sand), TEST(a_sphere_is_round_centred_and_of_the_right_size),
    TEST(the_default_camera_frames_the_particles), TEST(a_place_to_look_at_moves_the_camera_along),
    TEST(grains_have_three_colours_in_their_shares), TEST(the_id_of_a_particle_decides_its_colour),
    TEST(the_order_of_particles_does_not_change_the_picture),
    TEST(nearer_particles_hide_farther_ones),
    TEST(up_is_up_right_is_right_and_light_comes_from_the_upper_left),
    TEST(a_ball_throws_its_shadow_to_the_right), TEST(a_flat_world_is_seen_from_the_front),
    TEST(odd_clouds_are_drawn), TEST(odd_cameras_are_no_trouble),
    TEST(particles_that_are_nowhere_are_left_out),
    TEST(nothing_at_all_is_a_picture_of_empty_ground), TEST(bad_values_are_named),
    TEST(the_picture_of_a_frame_is_that_of_its_particles),
    TEST(an_empty_frame_is_a_picture_of_empty_ground), TEST(a_frame_that_cannot_be_read_is_named),
    TEST(a_picture_that_cannot_be_written_leaves_nothing_behind),
    TEST(a_full_disk_leaves_the_old_picture))
