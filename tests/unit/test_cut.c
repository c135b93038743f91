// Cuts through bodies: pieces, the surfaces between them, and what a scene may get wrong.
#include "base/hash.h"
#include "check.h"
#include "repose/repose.h"
#include "scene_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A box of 1 x 0.6 x 0.4 m from the origin on; in 2D a rectangle.
static rp_cut_def def_of_box(int dimension, rp_shape **shape)
{
    const double lower[3] = {0, 0, dimension == 3 ? 0 : -INFINITY};
    const double upper[3] = {1, 0.6, dimension == 3 ? 0.4 : INFINITY};
    rp_cut_def def = rp_default_cut_def();
    if (rp_shape_box(lower, upper, shape) != RP_OK) {
        check_record(__FILE__, __LINE__, "no box");
    }
    def.dimension = dimension;
    def.shape = (const rp_shape *const *)shape;
    def.shapes = 1;
    def.spacing = 0.05;
    return def;
}

typedef struct sums {
    const rp_cut *cut;
    double area;
    int64_t count;
    double worst; // of a patch: is it where its pieces meet?
} sums;

static rp_result add(void *context, const rp_cut_patch *p)
{
    sums *s = context;
    double length2 = 0.0;
    s->area += p->area;
    s->count++;
    for (int side = 0; side < 2; side++) {
        double x[3];
        for (int a = 0; a < 3; a++) {
            x[a] = p->x[a] + (side == 0 ? -1e-4 : 1e-4) * p->normal[a];
        }
        s->worst = fmax(s->worst, rp_cut_piece(s->cut, x) != p->piece[side]);
    }
    for (int a = 0; a < 3; a++) {
        length2 += p->normal[a] * p->normal[a];
    }
    const bool good = fabs(length2 - 1.0) < 1e-9 && p->piece[0] < p->piece[1];
    return good ? RP_OK : RP_ERR_ARGUMENT;
}

static sums scatter(const rp_cut *cut, double spacing, const rp_shape *open)
{
    sums s = {.cut = cut};
    if (rp_cut_scatter(cut, spacing, open, add, &s) != RP_OK) {
        check_record(__FILE__, __LINE__, "no patches: %s", rp_last_error());
    }
    return s;
}

// Areas of cuts are known, however they lie.
static void patches_have_the_area_of_the_cut(void)
{
    static const double point[2][3] = {{0.37, 0.3, 0.2}, {0.5, 0.3, 0.2}};
    static const double normal[2][3] = {{1, 0, 0}, {0, 1, 0}};
    static const double tilted[1][3] = {{1, 0.5, 0}};
    for (int dim = 2; dim <= 3; dim++) {
        const double deep = dim == 3 ? 0.4 : 1.0;
        rp_shape *shape;
        rp_cut *cut;
        rp_cut_def def = def_of_box(dim, &shape);
        check_context("%dD", dim);
        def.point = point;
        def.normal = normal;
        CHECK_OK(rp_cut_create(&def, &cut));
        CHECK_EQUAL(rp_cut_pieces(cut), 2);
        sums s = scatter(cut, 0.05, NULL);
        CHECK_NEAR(s.area, 0.6 * deep, 1e-9);
        CHECK_EQUAL(s.worst, 0.0);
        CHECK_EQUAL(s.count, dim == 3 ? 12 * 8 : 12);
        rp_cut_destroy(cut);

        def.normal = tilted; // through top and bottom
        CHECK_OK(rp_cut_create(&def, &cut));
        s = scatter(cut, 0.05, NULL);
        CHECK_NEAR(s.area, 0.6 * sqrt(1.25) * deep, 0.01 * deep);
        CHECK_EQUAL(s.worst, 0.0);
        rp_cut_destroy(cut);

        def.normal = normal; // a cross: four pieces
        def.count = 2;
        CHECK_OK(rp_cut_create(&def, &cut));
        CHECK_EQUAL(rp_cut_pieces(cut), 4);
        s = scatter(cut, 0.05, NULL);
        CHECK_NEAR(s.area, 1.6 * deep, 1e-9);
        CHECK_EQUAL(s.worst, 0.0);
        rp_cut_destroy(cut);

        def.kind = RP_CUT_ZIGZAG; // flanks of 45 degrees, along y
        def.count = 1;
        def.tooth = 0.1;
        CHECK_OK(rp_cut_create(&def, &cut));
        CHECK_EQUAL(rp_cut_pieces(cut), 2);
        s = scatter(cut, 0.05, NULL);
        CHECK_NEAR(s.area, sqrt(2.0) * 0.6 * deep, 1e-3 * deep);
        CHECK_EQUAL(s.worst, 0.0);
        rp_cut_destroy(cut);
        rp_shape_release(shape);
    }
}

// Every piece has its site, areas agree with the pairs of a fine lattice, and a ball cut out has
// the area of a ball.
static void cells_and_shapes_cut_as_they_should(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        rp_shape *shape, *ball;
        rp_cut *cut;
        rp_cut_def def = def_of_box(dim, &shape);
        check_context("%dD", dim);
        def.kind = RP_CUT_VORONOI;
        def.point = NULL;
        def.count = 9;
        def.seed = 7;
        CHECK_OK(rp_cut_create(&def, &cut));
        CHECK_EQUAL(rp_cut_pieces(cut), 9);
        const sums coarse = scatter(cut, 0.05, NULL), fine = scatter(cut, 0.0125, NULL);
        CHECK_EQUAL(coarse.worst, 0.0);
        CHECK_EQUAL(fine.worst, 0.0);
        CHECK_NEAR(coarse.area, fine.area, 0.03 * fine.area);
        // crossings along one axis of a lattice see the projected area
        enum { N = 200 };
        double across = 0.0;
        for (int i = 0; i < N; i++) {
            for (int k = 0; k < (dim == 3 ? N / 2 : 1); k++) {
                int last = -1;
                for (int j = 0; j < N; j++) {
                    const double x[3] = {(j + 0.5) / N, 0.6 * (i + 0.5) / N,
                                         dim == 3 ? 0.4 * (k + 0.5) / (N / 2) : 0.0};
                    const int piece = rp_cut_piece(cut, x);
                    across += last >= 0 && piece != last;
                    last = piece;
                }
            }
        }
        across *= dim == 3 ? 0.6 / N * 0.4 / (N / 2) : 0.6 / N;
        CHECK(fine.area > across && fine.area < 5.0 * across);
        rp_cut_destroy(cut);

        const double center[3] = {0.5, 0.3, dim == 3 ? 0.2 : 0.0};
        CHECK_OK(rp_shape_sphere(center, 0.15, &ball));
        def.kind = RP_CUT_SHAPE;
        def.cutter = ball;
        CHECK_OK(rp_cut_create(&def, &cut));
        const sums s = scatter(cut, 0.02, NULL);
        const double want = dim == 3 ? 4.0 * M_PI * 0.15 * 0.15 : 2.0 * M_PI * 0.15;
        CHECK_NEAR(s.area, want, 0.03 * want);
        CHECK_EQUAL(s.worst, 0.0);
        rp_cut_destroy(cut);
        rp_shape_release(ball);
        rp_shape_release(shape);
    }
}

// Of the surface of a ball, what is open or not in the body has no glue, and no area either.
static void areas_of_a_ball_end_with_the_body_and_where_it_is_open(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int k = 0; k < 2; k++) {
            rp_shape *shape, *ball, *open;
            rp_cut *cut;
            rp_cut_def def = def_of_box(dim, &shape);
            // whole, or with a cap that looks out of the body
            const double center[3] = {0.5, k == 0 ? 0.3 : 0.55, dim == 3 ? 0.2 : 0.0}, r = 0.15;
            const double point[3] = {0.5, 0, 0}, normal[3] = {1, 0, 0};
            CHECK_OK(rp_shape_sphere(center, r, &ball));
            CHECK_OK(rp_shape_half_space(point, normal, &open));
            def.kind = RP_CUT_SHAPE;
            def.cutter = ball;
            CHECK_OK(rp_cut_create(&def, &cut));
            const double cap = k == 0 ? r : 0.05;
            const double want =
                dim == 3 ? 2.0 * M_PI * r * (r + cap) : 2.0 * r * (M_PI - acos(cap / r));
            check_context("%dD, ball %d", dim, k);
            CHECK_NEAR(scatter(cut, 0.02, NULL).area, want, 0.03 * want);
            CHECK_NEAR(scatter(cut, 0.02, open).area, 0.5 * want, 0.015 * want);
            rp_cut_destroy(cut);
            rp_shape_release(open);
            rp_shape_release(ball);
            rp_shape_release(shape);
        }
    }
}

// A piece as a shape is where its places are, all of them make up the body, and distances change no
// faster than places do: a sign, a slope or a tooth that is wrong shows here.
static void check_pieces(const rp_cut *cut, int dim, double whole)
{
    double volume = 0.0;
    for (int i = 0; i < rp_cut_pieces(cut); i++) {
        rp_shape *piece;
        CHECK_OK(rp_cut_shape(cut, i, &piece));
        volume += whole > 0.0 ? rp_shape_volume(piece, dim) : 0.0;
        for (uint64_t k = 0; k < 400; k++) {
            double x[2][3] = {{0}}, phi[2], gradient[2][3], way2 = 0.0, along = 0.0;
            for (int a = 0; a < dim; a++) {
                x[0][a] = 1.2 * rp_unit(rp_hash(3, k, (uint64_t)i, (uint64_t)a)) - 0.1;
                x[1][a] = x[0][a] + 1e-6 * (rp_unit(rp_hash(4, k, (uint64_t)i, (uint64_t)a)) - 0.5);
            }
            for (int n = 0; n < 2; n++) {
                phi[n] = rp_shape_distance(piece, x[n], gradient[n]);
            }
            for (int a = 0; a < dim; a++) {
                way2 += (x[1][a] - x[0][a]) * (x[1][a] - x[0][a]);
                along += gradient[0][a] * (x[1][a] - x[0][a]);
            }
            CHECK(fabs(phi[1] - phi[0]) <= sqrt(way2) * (1.0 + 1e-6));
            if (memcmp(gradient[0], gradient[1], sizeof gradient[0]) == 0) {
                CHECK_NEAR(phi[1] - phi[0], along, 1e-12);
            }
            const bool body = x[0][0] > 0.0 && x[0][0] < 1.0 && x[0][1] > 0.0 && x[0][1] < 0.6 &&
                              (dim == 2 || (x[0][2] > 0.0 && x[0][2] < 0.4));
            CHECK_EQUAL(phi[0] < 0.0, body && rp_cut_piece(cut, x[0]) == i);
        }
        rp_shape_release(piece);
    }
    CHECK_NEAR(volume, whole, 1e-3 * whole);
}

static void pieces_as_shapes_make_up_the_body(void)
{
    static const double point[2][3] = {{0.37, 0.3, 0.2}, {0.5, 0.3, 0.2}};
    static const double normal[2][3] = {{1, 0.3, 0}, {-0.2, 1, 0}};
    for (int dim = 2; dim <= 3; dim++) {
        for (int kind = RP_CUT_PLANES; kind <= RP_CUT_SHAPE; kind++) {
            rp_shape *shape, *ball, *piece;
            rp_cut *cut;
            rp_cut_def def = def_of_box(dim, &shape);
            CHECK_OK(rp_shape_sphere((const double[3]){0.4, 0.3, 0}, 0.25, &ball));
            check_context("%dD, kind %d", dim, kind);
            def.kind = (rp_cut_kind)kind;
            def.point = kind == RP_CUT_VORONOI ? NULL : point;
            def.normal = normal;
            def.count = kind == RP_CUT_PLANES ? 2 : kind == RP_CUT_ZIGZAG ? 1 : 9;
            def.tooth = 0.13;
            def.seed = 7;
            def.cutter = ball;
            CHECK_OK(rp_cut_create(&def, &cut));
            // volumes of space take long to find: of one kind
            check_pieces(cut, dim, dim == 2 ? 0.6 : kind == RP_CUT_PLANES ? 0.24 : 0.0);
            CHECK_ERROR(rp_cut_shape(cut, rp_cut_pieces(cut), &piece), RP_ERR_ARGUMENT,
                        "cut.piece: want 0 to");
            CHECK(piece == NULL);
            rp_cut_destroy(cut);
            rp_shape_release(shape);
            rp_shape_release(ball);
        }
    }
}

// A cell too thin for the lattice that pieces are looked for on is no piece, and its places are of
// the nearest one.
static void a_sliver_of_a_cell_goes_to_its_neighbour(void)
{
    static const double site[3][3] = {{0.25, 0.3, 0.2}, {0.75, 0.3, 0.2}, {1.2455, 0.3, 0.2}};
    for (int dim = 2; dim <= 3; dim++) {
        rp_shape *shape;
        rp_cut *cut;
        rp_cut_def def = def_of_box(dim, &shape);
        check_context("%dD", dim);
        def.kind = RP_CUT_VORONOI;
        def.point = site;
        def.count = 3;
        CHECK_OK(rp_cut_create(&def, &cut));
        CHECK_EQUAL(rp_cut_pieces(cut), 2);
        const double x[3] = {0.999, 0.3, dim == 3 ? 0.2 : 0.0};
        CHECK_EQUAL(rp_cut_piece(cut, x), 1);
        // one cut, in the middle
        CHECK_NEAR(scatter(cut, 0.05, NULL).area, 0.6 * (dim == 3 ? 0.4 : 1.0), 1e-9);
        rp_cut_destroy(cut);
        def.point = (const double[2][3]){{0.5, 0.3, 0.2}, {0.5, 0.3, 0.2}};
        def.count = 2;
        CHECK_ERROR(rp_cut_create(&def, &cut), RP_ERR_ARGUMENT,
                    "cut.point: want sites at different places, got 1 and 2 at the same");
        rp_shape_release(shape);
    }
}

// ---- what a scene may get wrong ----

#define BAR                                                                                        \
    START                                                                                          \
    "particles { material = material.elastic {}, body = 'bar', shape = box { min = {0,0,0}, max "  \
    "= {1,1,1} } }\n"
#define PLANE "plane { point = {0.5, 0, 0}, normal = {1, 0, 0} }"

static void scenes_that_cannot_break_are_told_why(void)
{
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {BAR "fracture { body = 'bar', by = plane { point = {2, 0, 0}, normal = {1, 0, 0} }, "
             "strength = 1 }",
         "test.lua:3: fracture.by: want a cut that goes through the body, got one that misses it"},
        {BAR "fracture { body = 'bar', by = plane { point = {0, 0, 0}, normal = {0, 0, 0} }, "
             "strength = 1 }",
         "test.lua:3: plane.normal: want a vector that is not 0, got 0"},
        {BAR "fracture { body = 'bra', by = " PLANE ", strength = 1 }",
         "test.lua:3: fracture.body: want a body that particles name, got 'bra'; did you mean "
         "'bar'?"},
        {BAR "fracture { body = 'bar', by = " PLANE ", strength = 0 }",
         "test.lua:3: fracture.strength: want > 0 Pa, got 0"},
        {BAR "fracture { body = 'bar', by = " PLANE ", strength = -1e3 }",
         "test.lua:3: fracture.strength: want > 0 Pa, got -1000"},
        {BAR "fracture { body = 'bar', by = " PLANE ", strength = {3, 2} }",
         "test.lua:3: fracture.strength: want the lower number first"},
        {BAR "fracture { body = 'bar', by = " PLANE ", strength = {3, 2, 4} }",
         "test.lua:3: fracture.strength: want a number or a list of two numbers"},
        {BAR "fracture { body = 'bar', by = material.sand {}, strength = 1 }",
         "test.lua:3: fracture.by: want a shape or a cut, got a material"},
        {BAR "fracture { body = 'bar', by = voronoi {}, strength = 1 }",
         "voronoi: want a count or points, got neither"},
        {BAR "fracture { body = 'bar', by = voronoi { count = 4000 }, strength = 1 }",
         "without any; want fewer or larger pieces, or a finer spacing"},
        {BAR
         "fracture { body = 'bar', by = voronoi { points = {{0.1, 0.1}, {0.9, 0.1}} }, strength "
         "= 1 }",
         "voronoi.points: want 3 components in a 3D scene, got 2"},
        {BAR "fracture { body = 'bar', by = zigzag { point = {0.5, 0.5, 0.5}, normal = {1, 0, 0}, "
             "along = {2, 0, 0}, tooth = 0.2 }, strength = 1 }",
         "zigzag.along: want a direction that is not that of the normal"},
        {BAR "fracture { body = 'bar', by = " PLANE ", strength = 1, open = box { min = {-1, -1, "
             "-1}, max = {2, 2, 2} } }",
         "want glue between two pieces, got none: `open` leaves nothing of the cut"},
        {BAR "fracture { body = 'bar', by = " PLANE ", strength = 1, spacing = 0.2 }",
         "fracture.spacing: want 0.01 to 0.5 dx"},
        {BAR "fracture { body = 'bar', by = " PLANE ", strength = 1, criterion = 'paper', shear = "
             "2 }",
         "fracture.shear: want none with criterion = \"paper\""},
        {BAR "fracture { body = 'bar', by = " PLANE ", strength = 1 }\nfracture { body = 'bar', by "
             "= " PLANE ", strength = 1 }",
         "fracture.body: want each body once, got 'bar' again, as in line 3"},
        {START SAND "fracture { body = 'rest', by = " PLANE ", strength = 1 }",
         "want a body that particles name, got 'rest'"},
        {BAR "fracture { body = 'bar', by = " PLANE
             ", strength = 1 }\ncontact { bodies = {'bar.1', "
             "'bar.3'} }",
         "contact.bodies: want bodies that particles or emitters name, got 'bar.3'; did you mean "
         "'bar.1'?"},
        {START "particles { material = material.water {}, body = 'bar', shape = box { min = "
               "{0,0,0}, max = {1,1,1} } }\nfracture { body = 'bar', by = " PLANE
               ", strength = 1 }",
         "particles.material: want a solid for 'bar', which breaks (fracture), got material.water"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        check_context("%s", wrong[i].text);
        CHECK_ERROR(plan(wrong[i].text, NULL), RP_ERR_ARGUMENT, wrong[i].sentence);
    }
}

// Each plane has a strength that can be; a negative one would be the mark of what has just broken.
static void strengths_of_planes_are_looked_at(void)
{
    static const double point[2][3] = {{0.37, 0.3, 0.2}, {0.5, 0.3, 0.2}};
    static const double normal[2][3] = {{1, 0, 0}, {0, 1, 0}};
    static const double wrong[][2] = {{0, 1}, {-5, -5}, {3, 2}, {NAN, 1}, {1, NAN}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        rp_shape *shape;
        rp_cut *cut;
        rp_world *world;
        rp_material rubber;
        rp_cut_def def = def_of_box(2, &shape);
        def.point = point;
        def.normal = normal;
        def.count = 2;
        CHECK_OK(rp_cut_create(&def, &cut));
        rp_world_def about = rp_default_world_def();
        about.dimension = 2;
        about.dx = 0.1;
        about.contact = true;
        about.fields = 4;
        CHECK_OK(rp_world_create(&about, &world));
        const rp_material_def elastic = rp_default_elastic_def();
        CHECK_OK(rp_world_add_material(world, &elastic, &rubber));
        rp_particles_def particles = rp_default_particles_def();
        particles.material = rubber;
        particles.shape = shape;
        particles.spacing = 0.05;
        particles.cut = cut;
        CHECK_OK(rp_world_add_particles(world, &particles, NULL));
        const double each[2][2] = {{1, 2}, {wrong[i][0], wrong[i][1]}};
        rp_glue_def glue = rp_default_glue_def();
        glue.cut = cut;
        glue.strength[0] = glue.strength[1] = 1.0;
        glue.strengths = each;
        check_context("%g to %g", wrong[i][0], wrong[i][1]);
        const int materials = rp_world_materials(world);
        CHECK_ERROR(rp_world_add_glue(world, &glue, NULL), RP_ERR_ARGUMENT, "glue.strengths: want");
        CHECK_EQUAL(rp_world_materials(world), materials);
        glue.strengths = (const double[2][2]){{1, 2}, {3, INFINITY}};
        CHECK_OK(rp_world_add_glue(world, &glue, NULL));
        rp_world_destroy(world);
        rp_cut_destroy(cut);
        rp_shape_release(shape);
    }
}

// Methods that have no bodies say so.
static void methods_without_bodies_refuse_fracture(void)
{
    char text[1024];
    static const char *const methods[] = {"nonsmooth", "sph"};
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "scene { dx = 0.1, frames = 1, method = '%s' }\n" SAND
                 "fracture { body = 'x', by = " PLANE ", strength = 1 }",
                 methods[i]);
        CHECK_ERROR(plan(text, NULL), RP_ERR_ARGUMENT, "cannot simulate fracture");
    }
}

TEST_MAIN(TEST(patches_have_the_area_of_the_cut), TEST(pieces_as_shapes_make_up_the_body),
          TEST(cells_and_shapes_cut_as_they_should),
          TEST(areas_of_a_ball_end_with_the_body_and_where_it_is_open),
          TEST(a_sliver_of_a_cell_goes_to_its_neighbour),
          TEST(scenes_that_cannot_break_are_told_why), TEST(strengths_of_planes_are_looked_at),
          TEST(methods_without_bodies_refuse_fracture))
