// Tests the operators on shapes: against the logic of sets, their volumes, and how deep they go.
#include "repose/shape.h"
#include "shape/class.h"

#include "check.h"
#include "random.h"
#include "specimens.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

// ---- operators ----

// A tree of operators with its own idea of what is inside.
typedef struct tree {
    int op; // 0: a specimen, 1: union, 2: intersect, 3: subtract, 4: invert, 5: move
    int which;
    int children;
    struct tree *child[3];
    double position[3], angle, scale;
    rp_shape *shape;
} tree;

static bool in_tree(const tree *t, const double x[3])
{
    double local[3];
    bool inside;
    switch (t->op) {
    case 0:
        return specimens[t->which].inside(x);
    case 1:
    case 2:
        inside = in_tree(t->child[0], x);
        for (int i = 1; i < t->children; i++) {
            inside =
                t->op == 1 ? in_tree(t->child[i], x) || inside : in_tree(t->child[i], x) && inside;
        }
        return inside;
    case 3:
        inside = in_tree(t->child[0], x);
        for (int i = 1; i < t->children; i++) {
            inside = inside && !in_tree(t->child[i], x);
        }
        return inside;
    case 4:
        return !in_tree(t->child[0], x);
    default:
        for (int a = 0; a < 3; a++) {
            local[a] = (x[a] - t->position[a]) / t->scale;
        }
        const double c = cos(t->angle), s = sin(t->angle), u = local[0], v = local[1];
        local[0] = c * u + s * v;
        local[1] = -s * u + c * v;
        return in_tree(t->child[0], local);
    }
}

static tree *grow(uint64_t *random, int depth)
{
    tree *t = calloc(1, sizeof *t);
    t->op = depth == 0 ? 0 : test_below(random, 6);
    t->which = test_below(random, SPECIMENS);
    t->children = t->op == 0 ? 0 : t->op >= 4 ? 1 : 1 + (t->op == 3) + test_below(random, 2);
    rp_shape *child[3] = {NULL, NULL, NULL};
    for (int i = 0; i < t->children; i++) {
        t->child[i] = grow(random, depth - 1);
        child[i] = t->child[i]->shape;
    }
    t->scale = test_between(random, 0.5, 1.5);
    t->angle = test_between(random, -3.0, 3.0);
    for (int a = 0; a < 3; a++) {
        t->position[a] = test_between(random, -0.3, 0.3);
    }
    const double turn[4] = {0.0, 0.0, sin(0.5 * t->angle), cos(0.5 * t->angle)};
    rp_result result = RP_OK;
    switch (t->op) {
    case 0:
        result = specimens[t->which].make(&t->shape);
        break;
    case 1:
        result = rp_shape_union(child, t->children, &t->shape);
        break;
    case 2:
        result = rp_shape_intersect(child, t->children, &t->shape);
        break;
    case 3:
        result = rp_shape_subtract(child[0], child + 1, t->children - 1, &t->shape);
        break;
    case 4:
        result = rp_shape_invert(child[0], &t->shape);
        break;
    default:
        result = rp_shape_move(child[0], t->position, turn, t->scale, &t->shape);
    }
    must(result, t->shape);
    return t;
}

static void fell(tree *t)
{
    for (int i = 0; i < t->children; i++) {
        fell(t->child[i]);
    }
    rp_shape_release(t->shape);
    free(t);
}

static void operators_follow_the_logic_of_sets(void)
{
    uint64_t random = 11;
    for (int k = 0; k < 300; k++) {
        tree *t = grow(&random, 3);
        double low[3], high[3];
        const bool bounded = rp_shape_bounds(t->shape, 3, low, high);
        CHECK(bounded || isinf(rp_shape_volume(t->shape, 3)));
        for (int i = 0; i < 200; i++) {
            double x[3], n[3], way[3], there[3];
            random_place(&random, x);
            const double phi = rp_shape_distance(t->shape, x, n);
            check_context("tree %d, sample %d", k, i);
            CHECK((phi < 0.0) == in_tree(t, x));
            CHECK_NEAR(rp_dot(n, n), 1.0, 1e-12);
            // never farther than the surface, and no steeper than 1
            test_direction(&random, way);
            step(x, 0.999 * fabs(phi), way, there);
            CHECK(in_tree(t, there) == (phi < 0.0));
            const double by = test_between(&random, 0.0, 0.5);
            step(x, by, way, there);
            CHECK(fabs(rp_shape_distance(t->shape, there, NULL) - phi) <= by + 1e-13);
            for (int a = 0; a < 3 && phi < 0.0; a++) {
                CHECK(x[a] >= low[a] && x[a] <= high[a]);
            }
        }
        fell(t);
    }
}

static rp_shape *ball_at(double x, double y, double z, double radius)
{
    const double center[3] = {x, y, z};
    rp_shape *shape;
    const rp_result result = rp_shape_sphere(center, radius, &shape);
    return must(result, shape);
}

// Two balls of radius r whose centres are d apart share a lens of this volume.
static double lens(double r, double d) { return PI * (4.0 * r + d) * square(2.0 * r - d) / 12.0; }

static void volumes_of_operators_are_integrated(void)
{
    rp_shape *two[2] = {ball_at(-0.1, 0.0, 0.0, 0.3), ball_at(0.1, 0.0, 0.0, 0.3)};
    const double whole = 4.0 / 3.0 * PI * 0.027, shared = lens(0.3, 0.2);
    const double flat = 2.0 * (0.09 * acos(1.0 / 3.0) - 0.1 * sqrt(0.08)), disc = PI * 0.09;
    rp_shape *shape[8];
    CHECK_OK(rp_shape_union(two, 2, &shape[0]));
    CHECK_OK(rp_shape_intersect(two, 2, &shape[1]));
    CHECK_OK(rp_shape_subtract(two[0], two + 1, 1, &shape[2]));
    CHECK_OK(rp_shape_offset(two[0], 0.1, &shape[3]));
    CHECK_OK(rp_shape_offset(two[0], -0.1, &shape[4]));
    const double position[3] = {0.2, 0.1, 0.0}, turn[4] = {0.0, 0.0, 1.0, 2.0};
    CHECK_OK(rp_shape_move(shape[1], position, turn, 0.5, &shape[5]));
    rp_shape *nest[2] = {ball_at(0.0, 0.0, 0.0, 0.4), ball_at(0.0, 0.0, 0.0, 0.395)};
    CHECK_OK(rp_shape_subtract(nest[0], nest + 1, 1, &shape[6])); // a bubble, 1 % thin
    rp_shape *apart[2] = {two[0], ball_at(2.0, 0.0, 0.0, 0.3)};
    CHECK_OK(rp_shape_intersect(apart, 2, &shape[7]));
    const double want[8][2] = {
        {2.0 * disc - flat, 2.0 * whole - shared},
        {flat, shared},
        {disc - flat, whole - shared},
        {PI * 0.16, 4.0 / 3.0 * PI * 0.064},
        {PI * 0.04, 4.0 / 3.0 * PI * 0.008},
        {0.25 * flat, 0.125 * shared},
        {PI * (0.16 - 0.395 * 0.395), 4.0 / 3.0 * PI * (0.064 - 0.395 * 0.395 * 0.395)},
        {0.0, 0.0},
    };
    for (int i = 0; i < 8; i++) {
        for (int dimension = 2; dimension <= 3; dimension++) {
            const double exact = want[i][dimension - 2];
            check_context("shape %d in %dD", i, dimension);
            CHECK_NEAR(rp_shape_volume(shape[i], dimension), exact, 2e-5 * exact);
            CHECK(rp_shape_volume(shape[i], dimension) == rp_shape_volume(shape[i], dimension));
        }
        rp_shape_release(shape[i]);
    }
    for (int i = 0; i < 2; i++) {
        rp_shape_release(two[i]);
        rp_shape_release(nest[i]);
    }
    rp_shape_release(apart[1]);
}

// Six half-spaces make a box, known to end; a landscape is cut out of one.
static void half_spaces_and_hills_can_be_cut_to_size(void)
{
    rp_shape *side[7], *box, *hills;
    for (int i = 0; i < 6; i++) {
        double at[3] = {0.0, 0.0, 0.0}, out[3] = {0.0, 0.0, 0.0};
        out[i / 2] = i % 2 == 0 ? 2.0 : -2.0;
        at[i / 2] = i % 2 == 0 ? 0.5 : -0.25;
        CHECK_OK(rp_shape_half_space(at, out, &side[i]));
    }
    double low[3], high[3];
    CHECK_OK(rp_shape_intersect(side, 6, &box));
    CHECK(rp_shape_bounds(box, 3, low, high));
    CHECK_NEAR(low[1], -0.25, 0.0);
    CHECK_NEAR(high[2], 0.5, 0.0);
    CHECK_NEAR(rp_shape_volume(box, 3), 0.421875, 1e-6);
    side[6] = made(make_hills);
    CHECK_OK(rp_shape_intersect(side, 7, &hills));
    uint64_t random = 12;
    CHECK_HELPER(compare_volumes(hills, &random));
    rp_shape_release(hills);
    rp_shape_release(box);
    for (int i = 0; i < 7; i++) {
        rp_shape_release(side[i]);
    }
}

// Where a distance is a bound, a thicker shape grows a tip that the bounds must hold.
static void an_offset_of_a_wedge_is_within_its_bounds(void)
{
    const double zero[3] = {0.0, 0.0, 0.0}, a[3] = {0.2, 1.0, 0.0}, b[3] = {0.2, -1.0, 0.0};
    rp_shape *part[3], *wedge, *thick;
    CHECK_OK(rp_shape_half_space(zero, a, &part[0]));
    CHECK_OK(rp_shape_half_space(zero, b, &part[1]));
    part[2] = ball_at(0.0, 0.0, 0.0, 1.0);
    CHECK_OK(rp_shape_intersect(part, 3, &wedge));
    CHECK_OK(rp_shape_offset(wedge, 0.15, &thick));
    double low[3], high[3];
    CHECK(rp_shape_bounds(thick, 3, low, high));
    uint64_t random = 13;
    for (int k = 0; k < 20000; k++) {
        double x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = test_between(&random, -1.5, 1.5);
        }
        const bool within = x[0] >= low[0] && x[0] <= high[0] && x[1] >= low[1] &&
                            x[1] <= high[1] && x[2] >= low[2] && x[2] <= high[2];
        CHECK(within || rp_shape_distance(thick, x, NULL) >= 0.0);
    }
    const double tip[3] = {0.7, 0.0, 0.0};
    CHECK(rp_shape_distance(thick, tip, NULL) < 0.0);
    rp_shape_release(thick);
    rp_shape_release(wedge);
    for (int i = 0; i < 3; i++) {
        rp_shape_release(part[i]);
    }
}

// A tree that leaves a part out; in the open, among the balls and inside of them.
static void a_heap_of_balls_is_the_least_of_them(void)
{
    enum { BALLS = 500 };
    uint64_t random = 14;
    rp_shape *ball[BALLS], *heap;
    for (int i = 0; i < BALLS; i++) {
        double x[3];
        random_place(&random, x);
        ball[i] = ball_at(x[0], x[1], x[2], test_between(&random, 0.01, 0.2));
    }
    for (int count = 1; count <= BALLS; count = count < 20 ? count + 1 : count + 37) {
        CHECK_OK(rp_shape_union(ball, count, &heap));
        for (int k = 0; k < 500; k++) {
            double x[3], least = INFINITY;
            random_place(&random, x);
            for (int a = 0; a < 3; a++) {
                x[a] *= k % 3 + 1;
            }
            for (int i = 0; i < count; i++) {
                least = fmin(least, rp_shape_distance(ball[i], x, NULL));
            }
            CHECK_NEAR(rp_shape_distance(heap, x, NULL), least, 0.0);
        }
        rp_shape_release(heap);
    }
    for (int i = 0; i < BALLS; i++) {
        rp_shape_release(ball[i]);
    }
}

// A recursion that eats the stack, or a shape that is used twice at each of forty levels and would
// be asked a million million times.
static void nesting_has_an_end(void)
{
    rp_shape *shape = ball_at(0.0, 0.0, 0.0, 0.5), *next;
    const double x[3] = {0.7, 0.0, 0.0};
    int depth = 0;
    while (depth < 10000 && rp_shape_offset(shape, 1e-4, &next) == RP_OK) {
        rp_shape_release(shape);
        shape = next;
        depth++;
    }
    CHECK_EQUAL(depth, 256);
    CHECK(strstr(rp_last_error(), "offset: want at most 256 operators inside each other") != NULL);
    CHECK_NEAR(rp_shape_distance(shape, x, NULL), 0.2 - 0.0256, 1e-14);
    rp_shape_release(shape);

    shape = ball_at(0.0, 0.0, 0.0, 0.5);
    rp_result result = RP_OK;
    for (depth = 0; depth < 40 && result == RP_OK; depth++) {
        rp_shape *twice[2] = {shape, shape};
        result = rp_shape_union(twice, 2, &next);
        if (result == RP_OK) {
            rp_shape_release(shape);
            shape = next;
        }
    }
    CHECK_ERROR(result, RP_ERR_ARGUMENT, "union: want at most 10000 simple shapes in all");
    rp_shape_release(shape);
}

static void operators_without_operands_are_refused(void)
{
    rp_shape *ball = ball_at(0.0, 0.0, 0.0, 1.0), *none[1] = {NULL}, *shape;
    const double zero[3] = {0}, bad[3] = {NAN, 0.0, 0.0}, still[4] = {0.0, 0.0, 0.0, 1.0};
    const double no_turn[4] = {0};
    CHECK_ERROR(rp_shape_union(&ball, 0, &shape), RP_ERR_ARGUMENT,
                "union: want at least one shape");
    CHECK_ERROR(rp_shape_union(none, 1, &shape), RP_ERR_ARGUMENT, "union: want shapes, got NULL");
    CHECK_ERROR(rp_shape_intersect(none, 1, &shape), RP_ERR_ARGUMENT, "intersect: want shapes");
    CHECK_ERROR(rp_shape_intersect(none, 0, &shape), RP_ERR_ARGUMENT, "intersect: want at least");
    CHECK_ERROR(rp_shape_subtract(NULL, &ball, 1, &shape), RP_ERR_ARGUMENT,
                "subtract: want a shape");
    CHECK_ERROR(rp_shape_subtract(ball, &ball, 0, &shape), RP_ERR_ARGUMENT,
                "subtract: want at least");
    CHECK_ERROR(rp_shape_invert(NULL, &shape), RP_ERR_ARGUMENT, "invert: want");
    CHECK_ERROR(rp_shape_offset(NULL, 1.0, &shape), RP_ERR_ARGUMENT, "offset: want");
    CHECK_ERROR(rp_shape_offset(ball, NAN, &shape), RP_ERR_ARGUMENT, "offset.distance");
    CHECK_ERROR(rp_shape_move(NULL, zero, still, 1.0, &shape), RP_ERR_ARGUMENT, "move: want");
    CHECK_ERROR(rp_shape_move(ball, bad, still, 1.0, &shape), RP_ERR_ARGUMENT, "move.position");
    CHECK_ERROR(rp_shape_move(ball, zero, no_turn, 1.0, &shape), RP_ERR_ARGUMENT, "move.rotation");
    CHECK_ERROR(rp_shape_move(ball, zero, still, 0.0, &shape), RP_ERR_ARGUMENT, "move.scale");
    CHECK(shape == NULL);
    rp_shape_release(ball);
}

// Colliders are looked at as thin walls unless their shape is surely none. Catches a flag that is
// set where it is not true: what is called convex has the middle of any two of its points, and from
// the surface of what is called massive one comes in without end.
static void what_is_called_convex_or_massive_is_so(void)
{
    enum { SHAPES = 20, TRIES = 4000 };
    static const double zero[3], up[3] = {0.2, 1.0, 0.1}, side[3] = {1.0, -0.3, 0.2},
                                 one[3] = {0.6, 0.4, 0.5}, less[3] = {-0.5, -0.6, -0.4};
    static const double place[3] = {0.1, 0.2, -0.1}, turn[4] = {0.1, 0.4, 0.2, 0.9};
    static const double no_turn[4] = {0.0, 0.0, 0.0, 1.0};
    rp_shape *s[SHAPES];
    CHECK_OK(rp_shape_half_space(zero, up, &s[0]));
    CHECK_OK(rp_shape_half_space(place, side, &s[1]));
    CHECK_OK(rp_shape_box(less, one, &s[2]));
    CHECK_OK(rp_shape_rounded_box(less, one, 0.2, &s[3]));
    CHECK_OK(rp_shape_sphere(place, 0.6, &s[4]));
    CHECK_OK(rp_shape_capsule(less, one, 0.2, &s[5]));
    CHECK_OK(rp_shape_cylinder(zero, up, 0.5, 0.8, &s[6]));
    CHECK_OK(rp_shape_cone(zero, up, 0.7, 0.8, &s[7]));
    CHECK_OK(rp_shape_ellipsoid(place, one, &s[8]));
    CHECK_OK(rp_shape_torus(zero, up, 0.6, 0.2, &s[9]));
    CHECK_OK(rp_shape_invert(s[2], &s[10]));
    CHECK_OK(rp_shape_invert(s[9], &s[11]));
    CHECK_OK(rp_shape_union((rp_shape *[]){s[0], s[1], s[10]}, 3, &s[12]));
    CHECK_OK(rp_shape_union((rp_shape *[]){s[0], s[2]}, 2, &s[13]));
    CHECK_OK(rp_shape_intersect((rp_shape *[]){s[0], s[2], s[4]}, 3, &s[14]));
    CHECK_OK(rp_shape_subtract(s[2], (rp_shape *[]){s[4]}, 1, &s[15]));
    CHECK_OK(rp_shape_move(s[0], place, turn, 2.0, &s[16]));
    CHECK_OK(rp_shape_move(s[10], place, turn, 0.5, &s[17]));
    CHECK_OK(rp_shape_move(s[9], place, no_turn, 1.0, &s[18]));
    CHECK_OK(rp_shape_invert(s[14], &s[19]));
    static const bool convex[SHAPES] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0};
    static const bool massive[SHAPES] = {1, 1, 0, 0, 0, 0, 0, 0, 0, 0,
                                         1, 0, 1, 0, 0, 0, 1, 1, 0, 1};
    for (int i = 0; i < SHAPES; i++) {
        uint64_t seed = 7;
        check_context("shape %d", i);
        CHECK_EQUAL(s[i]->convex, convex[i]);
        CHECK_EQUAL(s[i]->massive, massive[i]);
        for (int k = 0; k < TRIES; k++) {
            double x[2][3], middle[3], out[3];
            for (int a = 0; a < 3; a++) {
                x[0][a] = test_between(&seed, -1.0, 1.0);
                x[1][a] = test_between(&seed, -1.0, 1.0);
                middle[a] = 0.5 * (x[0][a] + x[1][a]);
            }
            if (convex[i] && rp_shape_distance(s[i], x[0], NULL) < 0.0 &&
                rp_shape_distance(s[i], x[1], NULL) < 0.0) {
                CHECK(rp_shape_distance(s[i], middle, NULL) < 1e-12);
            }
            for (int to = 0; to < 64; to++) { // the surface
                const double d = rp_shape_distance(s[i], x[0], out);
                for (int a = 0; a < 3; a++) {
                    x[0][a] -= d * out[a];
                }
            }
            for (double way = 0.01; massive[i] && way < 5.0; way *= 1.5) {
                for (int a = 0; a < 3; a++) {
                    middle[a] = x[0][a] - way * out[a];
                }
                CHECK(rp_shape_distance(s[i], middle, NULL) < 1e-9);
            }
        }
    }
    for (int i = 0; i < SHAPES; i++) {
        rp_shape_release(s[i]);
    }
}

TEST_MAIN(TEST(operators_follow_the_logic_of_sets), TEST(volumes_of_operators_are_integrated),
          TEST(half_spaces_and_hills_can_be_cut_to_size),
          TEST(an_offset_of_a_wedge_is_within_its_bounds),
          TEST(a_heap_of_balls_is_the_least_of_them), TEST(nesting_has_an_end),
          TEST(what_is_called_convex_or_massive_is_so),
          TEST(operators_without_operands_are_refused))
