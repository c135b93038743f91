// Tests src/render/scenery.c: what a ray meets.
#include "render/scenery.h"

#include "check.h"

#include <math.h>

// An octahedron with the normals of a ball. Rays towards the sun begin where that ball would be: in
// the middle of a face at sqrt(3) (1/3 + 2/9) of its radius, where the face itself is at 0.577.
static void a_coarse_ball_is_lit_as_if_it_were_round(void)
{
    float vertex[6][4] = {{0}}, normal[6][3] = {{0}};
    uint32_t triangle[8][3];
    for (uint32_t i = 0; i < 6; i++) {
        vertex[i][i / 2] = normal[i][i / 2] = i % 2 == 0 ? 1.0f : -1.0f;
    }
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t x = i & 1, y = 2 + (i >> 1 & 1), z = 4 + (i >> 2);
        const bool turned = (x + y + z) % 2 == 1;
        triangle[i][0] = x;
        triangle[i][1] = turned ? z : y;
        triangle[i][2] = turned ? y : z;
    }
    const rp_prop prop = {
        .vertex = {vertex}, .normal = normal, .triangle = triangle, .vertices = 6, .triangles = 8};
    const rp_grains nobody = {0};
    const rp_ground ground = {0};
    rp_scenery *stage;
    CHECK_OK(rp_scenery_open(&nobody, &prop, 1, &ground, false, &stage));
    const float third = 1.0f / sqrtf(3.0f);
    const vec in = {-third, -third, -third}, from = {3.0f, 3.0f, 3.0f};
    const rp_meeting m = rp_scenery_meet(stage, from, in, 0.0f, false);
    CHECK_EQUAL((int)m.kind, RP_MEETS_PROP);
    CHECK_NEAR(vec_length(m.at), sqrt(3.0) * 5.0 / 9.0, 1e-5);
    CHECK_NEAR(vec_dot(m.normal, in), -1.0, 1e-5);
    // a corner stays where it is
    const rp_meeting corner =
        rp_scenery_meet(stage, (vec){3.0f, 1e-4f, 1e-4f}, (vec){-1.0f, 0.0f, 0.0f}, 0.0f, false);
    CHECK_NEAR(corner.at.x, 1.0, 1e-3);
    rp_scenery_close(stage);
}

TEST_MAIN(TEST(a_coarse_ball_is_lit_as_if_it_were_round))
