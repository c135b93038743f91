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
    const rp_axes a = rp_camera_axes(v->eye, v->look);
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

TEST_MAIN(TEST(a_collider_of_few_corners_is_in_the_picture))
