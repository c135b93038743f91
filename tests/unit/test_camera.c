// Tests src/render/camera.c: what is to be seen is in the picture.
#include "render/camera.h"

#include "check.h"
#include "random.h"

#include <math.h>
#include <string.h>

enum { GRAINS = 6000, CORNERS = 8 };

// How far from the middle of the picture a point lies; 1: on its edge.
static double off_middle(const rp_camera *v, const double x[3])
{
    const rp_axes a = rp_camera_axes(v->eye, v->look, v->z_up);
    double right = 0.0, up = 0.0, ahead = 0.0;
    for (int k = 0; k < 3; k++) {
        const double to = x[k] - v->eye[k];
        right += to * a.right[k];
        up += to * a.up[k];
        ahead += to * a.forward[k];
    }
    const double tangent = tan(0.5 * v->fov);
    return fmax(fabs(up) / tangent, fabs(right) * v->height / (v->width * tangent)) / ahead;
}

// Stray grains do not make the picture small, but the few corners of a box are no stray grains.
static void a_collider_of_few_corners_is_in_the_picture(void)
{
    static double point[GRAINS + CORNERS][3];
    uint64_t state = 7;
    for (int i = 0; i < GRAINS; i++) {
        for (int k = 0; k < 3; k++) {
            point[i][k] = test_uniform(&state);
        }
    }
    point[0][0] = -40.0; // flung off
    for (int i = 0; i < CORNERS; i++) {
        const double corner[3] = {2.0 + (i & 1), i >> 1 & 1, i >> 2};
        memcpy(point[GRAINS + i], corner, sizeof corner);
    }
    for (int with = 0; with < 2; with++) {
        rp_camera v = {
            .width = 640, .height = 400, .fov = 0.5, .lower = {0, 0, 0}, .upper = {3, 1, 1}};
        const size_t count = GRAINS + (with ? CORNERS : 0);
        CHECK_OK(rp_camera_aim(&v, (const double(*)[3])point, GRAINS, count, 0.01, false));
        double grains = 0.0, corners = 0.0;
        for (int i = 1; i < GRAINS; i++) {
            grains = fmax(grains, off_middle(&v, point[i]));
        }
        for (int i = 0; i < CORNERS; i++) {
            corners = fmax(corners, off_middle(&v, point[GRAINS + i]));
        }
        CHECK(grains < 0.9);
        CHECK((corners < 0.9) == (with == 1));
        CHECK(off_middle(&v, point[0]) > 1.0);
    }
}

// With z up the same things, turned, are seen from the same side.
static void z_up_is_y_up_turned(void)
{
    static double point[2][GRAINS][3];
    rp_camera v[2];
    rp_axes axes[2];
    uint64_t state = 9;
    for (int i = 0; i < GRAINS; i++) {
        const double x[3] = {test_uniform(&state), 0.3 * test_uniform(&state),
                             test_uniform(&state)};
        memcpy(point[0][i], x, sizeof x);
        memcpy(point[1][i], (double[3]){x[0], -x[2], x[1]}, sizeof x);
    }
    for (int z_up = 0; z_up < 2; z_up++) {
        v[z_up] = (rp_camera){.width = 640,
                              .height = 400,
                              .fov = 0.5,
                              .lower = {0, z_up ? -1 : 0, 0},
                              .upper = {1, z_up ? 0 : 0.3, z_up ? 0.3 : 1},
                              .z_up = z_up};
        CHECK_OK(
            rp_camera_aim(&v[z_up], (const double(*)[3])point[z_up], GRAINS, GRAINS, 0.01, false));
        axes[z_up] = rp_camera_axes(v[z_up].eye, v[z_up].look, z_up);
    }
    const double *pairs[][2] = {{v[0].eye, v[1].eye},
                                {v[0].look, v[1].look},
                                {axes[0].right, axes[1].right},
                                {axes[0].up, axes[1].up}};
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(pairs[i][1][0], pairs[i][0][0], 1e-12);
        CHECK_NEAR(pairs[i][1][1], -pairs[i][0][2], 1e-12);
        CHECK_NEAR(pairs[i][1][2], pairs[i][0][1], 1e-12);
    }
    CHECK(v[1].eye[2] > 0.3 && v[1].eye[1] < -1.0 && axes[1].up[2] > 0.9);
}

TEST_MAIN(TEST(a_collider_of_few_corners_is_in_the_picture), TEST(z_up_is_y_up_turned))
