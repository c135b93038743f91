// Tests src/shape/surface.c: triangles lie on the shape, close around it and face outwards.
#include "repose/shape.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LOWER[3] = {-1, -1, -1}, UPPER[3] = {1, 1, 1};

typedef struct measure {
    double area, volume; // the volume is right only where the surface is closed
    double worst;        // distance of a vertex from the shape
    double turned;       // least cosine between a triangle's side and its corners' normals
} measure;

static measure measure_of(const rp_surface *s, const rp_shape *shape)
{
    measure m = {.turned = 1.0};
    for (int64_t i = 0; i < s->vertices; i++) {
        const double x[3] = {s->vertex[i][0], s->vertex[i][1], s->vertex[i][2]};
        m.worst = fmax(m.worst, fabs(rp_shape_distance(shape, x, NULL)));
    }
    for (int64_t i = 0; i < s->triangles; i++) {
        double x[3][3], n[3], length = 0.0;
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                x[c][k] = s->vertex[s->triangle[i][c]][k];
            }
        }
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            n[k] = (x[1][a] - x[0][a]) * (x[2][b] - x[0][b]) -
                   (x[1][b] - x[0][b]) * (x[2][a] - x[0][a]);
            length += n[k] * n[k];
            m.volume += n[k] * x[0][k] / 6.0;
        }
        length = sqrt(length);
        m.area += 0.5 * length;
        for (int c = 0; c < 3 && length > 1e-8; c++) {
            const float *normal = s->normal[s->triangle[i][c]];
            const double cosine = (n[0] * normal[0] + n[1] * normal[1] + n[2] * normal[2]) / length;
            m.turned = fmin(m.turned, cosine);
        }
    }
    return m;
}

// Flat triangles on a sphere lose area and volume by the square of the cell: 2.5 cells to the
// radius's tenth part, so half a percent.
static void a_sphere_is_round_closed_and_faces_outwards(void)
{
    rp_shape *shape;
    rp_surface s;
    CHECK_OK(rp_shape_sphere((double[3]){0.1, 0.0, -0.1}, 0.5, &shape));
    CHECK_OK(rp_shape_surface(shape, 3, LOWER, UPPER, 0.04, &s));
    const measure m = measure_of(&s, shape);
    rp_surface_free(&s);
    rp_shape_release(shape);
    CHECK_NEAR(m.area / (M_PI), 1.0, 0.005);
    CHECK_NEAR(m.volume / (M_PI / 6.0), 1.0, 0.005);
    CHECK(m.worst < 1e-6);
    CHECK(m.turned > 0.9);
}

// Edges do not lie on the grid. Dual contouring keeps them; marching cubes would cut them off.
// An operation on a box has no triangles of its own.
static void what_is_cut_out_keeps_its_edges(void)
{
    rp_shape *box, *shape;
    rp_surface s;
    CHECK_OK(
        rp_shape_box((double[3]){-0.513, -0.317, -0.211}, (double[3]){0.509, 0.401, 0.233}, &box));
    CHECK_OK(rp_shape_offset(box, 0.0, &shape));
    rp_shape_release(box);
    CHECK_OK(rp_shape_surface(shape, 3, LOWER, UPPER, 0.05, &s));
    const measure m = measure_of(&s, shape);
    double nearest = 1.0;
    for (int64_t i = 0; i < s.vertices; i++) {
        nearest = fmin(nearest, fabs(s.vertex[i][0] - 0.509) + fabs(s.vertex[i][1] - 0.401) +
                                    fabs(s.vertex[i][2] - 0.233));
    }
    rp_surface_free(&s);
    rp_shape_release(shape);
    CHECK_NEAR(m.volume / (1.022 * 0.718 * 0.444), 1.0, 0.003);
    CHECK(nearest < 0.005); // a corner is a corner
    CHECK(m.worst < 0.1 * 0.05);
    CHECK(m.turned > 0.98); // and creases are not smoothed over
}

// Exactly its corners and faces, also where it was turned, made larger and moved, and a slab of it
// in 2D. Triangles of a grid's making are off by what a cell loses, and thousands.
static void a_box_has_twelve_triangles(void)
{
    const double lower[3] = {-0.513, -0.317, -0.211}, upper[3] = {0.509, 0.401, 0.233};
    rp_shape *shape[2];
    CHECK_OK(rp_shape_box(lower, upper, &shape[0]));
    CHECK_OK(rp_shape_move(shape[0], (double[3]){0.1, 0.05, 0.02}, (double[4]){0, 0, 0.3, 1}, 1.2,
                           &shape[1]));
    for (int moved = 0; moved < 2; moved++) {
        for (int dim = 2; dim <= 3; dim++) {
            rp_surface s;
            const double scale = moved ? 1.2 : 1.0;
            CHECK_OK(rp_shape_surface(shape[moved], dim, LOWER, UPPER, 0.05, &s));
            const measure m = measure_of(&s, shape[moved]);
            const int64_t vertices = s.vertices, triangles = s.triangles;
            rp_surface_free(&s);
            check_context("%s, %dD", moved ? "moved" : "as it is", dim);
            CHECK_EQUAL(triangles, 12);
            CHECK_EQUAL(vertices, 24); // three normals at each corner
            // a slab ends a cell before the box does
            const double deep = dim == 2 ? 2.0 - 2.0 * 0.05 : 0.444 * scale;
            CHECK_NEAR(m.volume, 1.022 * 0.718 * scale * scale * deep, 1e-6);
            CHECK(m.turned > 0.999999);
            CHECK(dim == 2 || m.worst < 1e-7);
        }
    }
    // where the box cuts it, it is open, as others are
    rp_surface s;
    CHECK_OK(rp_shape_surface(shape[0], 3, LOWER, (double[3]){0.2, 1, 1}, 0.05, &s));
    CHECK(s.triangles > 12);
    rp_surface_free(&s);
    rp_shape_release(shape[0]);
    rp_shape_release(shape[1]);
}

// A thin disc: it comes back as it came, flat where it is flat, smooth where sides meet at 20
// degrees and sharp where they meet at 90.
static void a_mesh_comes_back_as_its_own_triangles(void)
{
    enum { SIDES = 18 };
    double vertex[2 * SIDES + 2][3] = {{0}};
    int32_t triangle[4 * SIDES][3];
    for (int i = 0; i < SIDES; i++) {
        for (int end = 0; end < 2; end++) {
            vertex[2 * i + end][0] = 0.4 * cos(2.0 * M_PI * i / SIDES);
            vertex[2 * i + end][1] = end == 0 ? -0.01 : 0.01; // thinner than a cell
            vertex[2 * i + end][2] = 0.4 * sin(2.0 * M_PI * i / SIDES);
        }
        const int32_t a = 2 * i, b = 2 * ((i + 1) % SIDES);
        const int32_t four[4][3] = {
            {a, a + 1, b}, {b, a + 1, b + 1}, {2 * SIDES, a, b}, {2 * SIDES + 1, b + 1, a + 1}};
        memcpy(triangle[4 * i], four, sizeof four);
    }
    vertex[2 * SIDES][1] = -0.01;
    vertex[2 * SIDES + 1][1] = 0.01;
    rp_mesh_def def = rp_default_mesh_def();
    def.vertices = vertex[0];
    def.triangles = triangle[0];
    def.vertex_count = 2 * SIDES + 2;
    def.triangle_count = 4 * SIDES;
    def.resolution = 0.02;
    rp_shape *mesh, *moved;
    rp_surface s;
    CHECK_OK(rp_shape_mesh(&def, &mesh));
    CHECK_OK(rp_shape_move(mesh, (double[3]){0, 0.25, 0}, (double[4]){0, 0, 0, 1}, 2.0, &moved));
    CHECK_OK(rp_shape_surface(moved, 3, LOWER, UPPER, 0.05, &s));
    CHECK_EQUAL(s.triangles, 4 * SIDES);
    CHECK_EQUAL(s.vertices, 4 * SIDES + 2); // the rim has two normals
    int64_t off = 0;
    double worst = 1.0, round = 1.0;
    for (int t = 0; t < 4 * SIDES; t++) {
        for (int c = 0; c < 3; c++) {
            const double *want = vertex[triangle[t][c]];
            const float *x = s.vertex[s.triangle[t][c]], *n = s.normal[s.triangle[t][c]];
            off += !(fabs(x[0] - 2.0 * want[0]) < 1e-6 &&
                     fabs(x[1] - 2.0 * want[1] - 0.25) < 1e-6 && fabs(x[2] - 2.0 * want[2]) < 1e-6);
            if (t % 4 >= 2) {
                worst = fmin(worst, t % 4 == 2 ? -(double)n[1] : (double)n[1]);
            } else {
                round = fmin(round, (n[0] * want[0] + n[2] * want[2]) / 0.4);
            }
        }
    }
    CHECK_EQUAL(off, 0);
    CHECK(worst > 0.999999);
    CHECK(round > 0.999);
    rp_surface_free(&s);
    rp_shape_release(moved);
    rp_shape_release(mesh);
}

static void a_thin_shell_has_two_sides(void)
{
    static const double profile[][2] = {{0.3, -0.5}, {0.3, 0.5}};
    rp_revolve_def def = rp_default_revolve_def();
    def.profile = profile;
    def.points = 2;
    def.thickness = 0.06;
    rp_shape *shape;
    rp_surface s;
    CHECK_OK(rp_shape_revolve(&def, &shape));
    CHECK_OK(rp_shape_surface(shape, 3, LOWER, UPPER, 0.011, &s));
    const measure m = measure_of(&s, shape);
    const double want = rp_shape_volume(shape, 3);
    rp_surface_free(&s);
    rp_shape_release(shape);
    CHECK_NEAR(m.volume / want, 1.0, 0.02);
    CHECK(m.turned > 0.7);
}

static void a_half_space_is_one_rectangle_as_large_as_the_box(void)
{
    rp_shape *half, *moved;
    rp_surface s;
    CHECK_OK(rp_shape_half_space((double[3]){0, 0.25, 0}, (double[3]){0, 2, 0}, &half));
    CHECK_OK(rp_shape_move(half, (double[3]){0, -0.5, 0}, (double[4]){0, 0, 0, 1}, 1.0, &moved));
    CHECK_OK(rp_shape_surface(moved, 3, LOWER, UPPER, 0.05, &s));
    const measure m = measure_of(&s, moved);
    const int64_t vertices = s.vertices, triangles = s.triangles;
    const float up = s.normal[0][1];
    rp_surface_free(&s);
    rp_shape_release(moved);
    rp_shape_release(half);
    CHECK_EQUAL(vertices, 4);
    CHECK_EQUAL(triangles, 2);
    CHECK_NEAR(m.area, 4.0, 1e-6);
    CHECK(m.worst < 1e-6);
    CHECK(up == 1.0f && m.turned > 0.999);
}

// A tube around the box: only what is inside the box is drawn, and there are no lids.
static void the_box_cuts_a_shape_open(void)
{
    rp_shape *shape;
    rp_surface s;
    CHECK_OK(rp_shape_capsule((double[3]){0, -5, 0}, (double[3]){0, 5, 0}, 0.5, &shape));
    CHECK_OK(rp_shape_surface(shape, 3, LOWER, UPPER, 0.05, &s));
    const measure m = measure_of(&s, shape);
    rp_surface_free(&s);
    rp_shape_release(shape);
    CHECK_NEAR(m.area / (2.0 * M_PI * 0.5 * 2.0), 1.0, 0.05);
}

static void in_2d_it_is_a_slab_of_the_cut(void)
{
    rp_shape *shape;
    rp_surface s;
    CHECK_OK(rp_shape_sphere((double[3]){0}, 0.5, &shape));
    CHECK_OK(
        rp_shape_surface(shape, 2, (double[3]){-1, -1, -0.1}, (double[3]){1, 1, 0.1}, 0.02, &s));
    const measure m = measure_of(&s, shape);
    rp_surface_free(&s);
    rp_shape_release(shape);
    CHECK_NEAR(m.volume / (M_PI * 0.25 * 0.16), 1.0, 0.02);
}

static void bad_boxes_and_cells_are_refused(void)
{
    rp_shape *shape;
    rp_surface s;
    CHECK_OK(rp_shape_sphere((double[3]){0}, 0.5, &shape));
    CHECK_ERROR(rp_shape_surface(shape, 3, UPPER, LOWER, 0.1, &s), RP_ERR_ARGUMENT, "want a box");
    CHECK_ERROR(rp_shape_surface(shape, 3, LOWER, UPPER, 0.0, &s), RP_ERR_ARGUMENT,
                "surface.cell: want > 0 m");
    CHECK_ERROR(rp_shape_surface(shape, 3, LOWER, UPPER, 1e-9, &s), RP_ERR_LIMIT, "too fine");
    CHECK_OK(rp_shape_surface(shape, 3, (double[3]){2, 2, 2}, (double[3]){3, 3, 3}, 0.1, &s));
    CHECK_EQUAL(s.triangles, 0);
    rp_surface_free(&s);
    rp_shape_release(shape);
}

TEST_MAIN(TEST(a_sphere_is_round_closed_and_faces_outwards), TEST(what_is_cut_out_keeps_its_edges),
          TEST(a_box_has_twelve_triangles), TEST(a_mesh_comes_back_as_its_own_triangles),
          TEST(a_thin_shell_has_two_sides), TEST(a_half_space_is_one_rectangle_as_large_as_the_box),
          TEST(the_box_cuts_a_shape_open), TEST(in_2d_it_is_a_slab_of_the_cut),
          TEST(bad_boxes_and_cells_are_refused))
