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

// A cube of water, one unit wide, and what rays have crossed when they have gone so far. Fails when
// rays that begin or end within it are not told from those that go through.
static void the_way_through_water_is_known(void)
{
    float vertex[8][4], normal[8][3];
    static uint32_t triangle[12][3];
    int triangles = 0;
    for (int i = 0; i < 8; i++) {
        for (int a = 0; a < 3; a++) {
            vertex[i][a] = (float)(i >> a & 1);
            normal[i][a] = (2.0f * vertex[i][a] - 1.0f) / sqrtf(3.0f);
        }
    }
    for (int a = 0; a < 3; a++) {
        for (int side = 0; side < 2; side++) {
            const uint32_t b = 1u << (a + 1) % 3, c = 1u << (a + 2) % 3, at = (uint32_t)side << a;
            const uint32_t quad[4] = {at, at + b, at + b + c, at + c};
            for (int half = 0; half < 2; half++, triangles++) {
                triangle[triangles][0] = quad[0];
                triangle[triangles][1] = quad[side == 1 ? 1 + half : 2 + half];
                triangle[triangles][2] = quad[side == 1 ? 2 + half : 1 + half];
            }
        }
    }
    const rp_prop prop = {.vertex = {vertex},
                          .normal = normal,
                          .triangle = triangle,
                          .vertices = 8,
                          .triangles = 12,
                          .kind = RP_PROP_WATER};
    const rp_grains nobody = {0};
    const rp_ground ground = {0};
    rp_scenery *stage;
    CHECK_OK(rp_scenery_open(&nobody, &prop, 1, &ground, false, &stage));
    const vec along = {1.0f, 0.0f, 0.0f};
    // the fourth neither enters nor leaves, and does not know where it is
    static const struct {
        float from, far, wet;
        int surfaces;
    } way[] = {{-1.0f, INFINITY, 1.0f, 2}, {0.25f, INFINITY, 0.75f, 1}, {-1.0f, 1.5f, 0.5f, 1},
               {0.25f, 0.5f, 0.0f, 0},     {-1.0f, 0.5f, 0.0f, 0},      {2.0f, INFINITY, 0.0f, 0}};
    for (int i = 0; i < 6; i++) {
        check_context("way %d", i);
        const rp_panes p =
            rp_scenery_panes(stage, (vec){way[i].from, 0.3f, 0.4f}, along, 0.0f, way[i].far);
        CHECK_EQUAL(p.water, way[i].surfaces);
        CHECK_EQUAL(p.glass, 0);
        CHECK_NEAR(p.wet, way[i].wet, 1e-5);
    }
    CHECK(!rp_scenery_blocks(stage, (vec){-1.0f, 0.3f, 0.4f}, along, 0.0f));
    CHECK_EQUAL((int)rp_scenery_meet(stage, (vec){-1.0f, 0.3f, 0.4f}, along, 0.0f, true).kind,
                RP_MEETS_WATER);
    CHECK_EQUAL((int)rp_scenery_meet(stage, (vec){-1.0f, 0.3f, 0.4f}, along, 0.0f, false).kind,
                RP_MEETS_NOTHING);
    rp_scenery_close(stage);
}

TEST_MAIN(TEST(a_coarse_ball_is_lit_as_if_it_were_round), TEST(the_way_through_water_is_known))
