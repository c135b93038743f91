// Bodies that meet at one node: the impulses between them (V-M1, V-M2, and the
// node of V-M3).
#include "collide/node.h"

#include "check.h"
#include "random.h"

#include <math.h>
#include <string.h>

enum { MOST = 8, PAIRS_MOST = MOST * (MOST - 1) / 2 };

typedef struct meeting {
    int bodies, pairs;
    double v[MOST][3], m[MOST];
    rp_node_pair pair[PAIRS_MOST];
} meeting;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void unit(uint64_t *seed, double out[3])
{
    double length;
    do {
        for (int a = 0; a < 3; a++) {
            out[a] = 2.0 * test_uniform(seed) - 1.0;
        }
        length = sqrt(dot(out, out));
    } while (length < 0.1 || length > 1.0);
    for (int a = 0; a < 3; a++) {
        out[a] /= length;
    }
}

// Bodies of any mass around the node: each lies in a direction of its own, and
// two of them touch along the line between.
static meeting make(uint64_t *seed, int bodies, const rp_pair_rule *rule)
{
    meeting t = {.bodies = bodies};
    double place[MOST][3];
    for (int b = 0; b < bodies; b++) {
        unit(seed, place[b]);
        t.m[b] = pow(10.0, 4.0 * test_uniform(seed) - 2.0);
        for (int a = 0; a < 3; a++) {
            t.v[b][a] = 2.0 * test_uniform(seed) - 1.0;
        }
    }
    for (int b = 0; b < bodies; b++) {
        for (int d = b + 1; d < bodies; d++) {
            rp_node_pair *p = &t.pair[t.pairs++];
            double way[3], length = 0.0;
            for (int a = 0; a < 3; a++) {
                way[a] = place[d][a] - place[b][a];
                length += way[a] * way[a];
            }
            *p = (rp_node_pair){.b = b, .d = d, .rule = rule, .touches = true};
            for (int a = 0; a < 3; a++) {
                p->normal[a] = way[a] / sqrt(length);
            }
        }
    }
    return t;
}

static void momentum(const meeting *t, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (int b = 0; b < t->bodies; b++) {
        for (int a = 0; a < 3; a++) {
            out[a] += t->m[b] * t->v[b][a];
        }
    }
}

static double kinetic(const meeting *t)
{
    double sum = 0.0;
    for (int b = 0; b < t->bodies; b++) {
        sum += 0.5 * t->m[b] * dot(t->v[b], t->v[b]);
    }
    return sum;
}

// V-M1. An impulse without magnitudes, or friction that turns the slip round,
// would fail.
static void two_bodies_exchange_an_impulse_within_the_cone(void)
{
    uint64_t seed = 1;
    for (int i = 0; i < 2000; i++) {
        const rp_pair_rule rule = {.contact = RP_SEPARATE,
                                   .friction = i % 3 == 0 ? 0.0 : test_uniform(&seed)};
        meeting t = make(&seed, 2, &rule);
        rp_node_pair *p = &t.pair[0];
        p->speed = i % 2 == 0 ? 0.0 : 0.3 * test_uniform(&seed);
        const meeting before = t;
        double was[3], is[3], relative[3], after[3], impulse = 0.0;
        momentum(&t, was);
        for (int a = 0; a < 3; a++) {
            relative[a] = t.v[0][a] - t.v[1][a];
        }
        check_context("case %d", i);
        CHECK_EQUAL(rp_node_resolve(t.v, t.m, 2, t.pair, 1, RP_IMPULSES_EXACT, 1e-13), 1);
        momentum(&t, is);
        double scale = 0.0;
        for (int b = 0; b < 2; b++) {
            scale += t.m[b] * sqrt(dot(before.v[b], before.v[b]));
        }
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(is[a], was[a], 1e-14 * scale);
            after[a] = t.v[0][a] - t.v[1][a];
            impulse += fabs(p->impulse[a]);
        }
        const double approach = dot(relative, p->normal), left = dot(after, p->normal);
        if (approach <= p->speed) {
            CHECK(impulse == 0.0);
            CHECK(memcmp(t.v, before.v, 2 * sizeof *t.v) == 0);
            continue;
        }
        CHECK_NEAR(left, p->speed, 1e-13);
        double along = 0.0, slip = 0.0, turned = 0.0;
        const double across = dot(p->impulse, p->normal);
        for (int a = 0; a < 3; a++) {
            const double tangent = p->impulse[a] - across * p->normal[a];
            const double old = relative[a] - approach * p->normal[a];
            const double new = after[a] - left * p->normal[a];
            along += tangent * tangent;
            slip += new *new;
            turned += old * new;
        }
        CHECK(across > 0.0);
        CHECK(sqrt(along) <= rule.friction * across + 1e-14 * scale);
        CHECK(turned >= -1e-13);
        CHECK(kinetic(&t) <= kinetic(&before) * (1.0 + 1e-13));
        // what still slides has all the friction there can be
        if (sqrt(slip) > 1e-12) {
            CHECK_NEAR(sqrt(along), rule.friction * across, 1e-12 * (1.0 + across));
        }
    }
}

// V-M2: an order of the bodies that shows would fail; so would a sweep that
// stops early.
static void many_bodies_part_alike_whatever_their_order(void)
{
    static const rp_pair_rule rules[] = {
        {.contact = RP_SEPARATE, .friction = 0.0},
        {.contact = RP_SEPARATE, .friction = 0.2},
    };
    uint64_t seed = 2;
    int differ = 0;
    for (int i = 0; i < 300; i++) {
        const int bodies = 3 + i % 4;
        meeting t = make(&seed, bodies, &rules[0]), turned = {.bodies = bodies};
        const meeting before = t;
        // the same bodies the other way round
        for (int b = 0; b < bodies; b++) {
            turned.m[b] = t.m[bodies - 1 - b];
            memcpy(turned.v[b], t.v[bodies - 1 - b], sizeof t.v[0]);
        }
        for (int k = 0; k < t.pairs; k++) {
            const rp_node_pair *p = &t.pair[t.pairs - 1 - k];
            rp_node_pair *q = &turned.pair[turned.pairs++];
            *q = *p;
            q->b = bodies - 1 - p->d;
            q->d = bodies - 1 - p->b;
            for (int a = 0; a < 3; a++) {
                q->normal[a] = -p->normal[a];
            }
        }
        double was[3], is[3];
        momentum(&t, was);
        check_context("case %d of %d bodies", i, bodies);
        CHECK(rp_node_resolve(t.v, t.m, bodies, t.pair, t.pairs, RP_IMPULSES_EXACT, 1e-13) <
              RP_NODE_SWEEPS);
        CHECK(rp_node_resolve(turned.v, turned.m, bodies, turned.pair, turned.pairs,
                              RP_IMPULSES_EXACT, 1e-13) < RP_NODE_SWEEPS);
        momentum(&t, is);
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(is[a], was[a], 1e-12);
        }
        // without friction velocities are those of one convex problem
        for (int b = 0; b < bodies; b++) {
            for (int a = 0; a < 3; a++) {
                CHECK_NEAR(turned.v[bodies - 1 - b][a], t.v[b][a], 1e-8);
            }
        }
        for (int k = 0; k < t.pairs; k++) {
            const rp_node_pair *p = &t.pair[k];
            double relative[3];
            for (int a = 0; a < 3; a++) {
                relative[a] = t.v[p->b][a] - t.v[p->d][a];
            }
            CHECK(dot(relative, p->normal) < 1e-8); // none goes on into another
        }
        CHECK(kinetic(&t) <= kinetic(&before) * (1.0 + 1e-12));
        // the printed sweep shows the order
        meeting swept = before, other = turned;
        memcpy(other.v, (double[MOST][3]){{0}}, sizeof other.v);
        for (int b = 0; b < bodies; b++) {
            memcpy(other.v[b], before.v[bodies - 1 - b], sizeof other.v[b]);
        }
        rp_node_resolve(swept.v, swept.m, bodies, swept.pair, swept.pairs, RP_IMPULSES_PAIRS,
                        1e-13);
        rp_node_resolve(other.v, other.m, bodies, other.pair, other.pairs, RP_IMPULSES_PAIRS,
                        1e-13);
        differ += fabs(swept.v[0][0] - other.v[bodies - 1][0]) > 1e-6;
    }
    CHECK(differ > 30);
}

// The node of V-M3: three at 120 degrees and one on the axis, turned in every
// way.
static void three_that_one_hits_leave_alike_in_any_turn(void)
{
    static const rp_pair_rule rule = {.contact = RP_SEPARATE, .friction = 0.2};
    uint64_t seed = 3;
    for (int i = 0; i < 200; i++) {
        double axis[3], side[3], up[3];
        unit(&seed, axis);
        unit(&seed, side);
        const double along = dot(axis, side);
        double length = 0.0;
        for (int a = 0; a < 3; a++) {
            side[a] -= along * axis[a];
            length += side[a] * side[a];
        }
        for (int a = 0; a < 3; a++) {
            side[a] /= sqrt(length);
        }
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            up[a] = axis[b] * side[c] - axis[c] * side[b];
        }
        meeting t = {.bodies = 4};
        const int hit = i % 4; // where in the order the one that hits is
        double place[4][3];
        for (int b = 0, k = 0; b < 4; b++) {
            t.m[b] = 1.0;
            for (int a = 0; a < 3; a++) {
                t.v[b][a] = b == hit ? -3.0 * axis[a] : 0.0;
                const double angle = 2.0 * 3.14159265358979323846 / 3.0 * k;
                place[b][a] =
                    b == hit ? 0.75 * axis[a] : 0.5 * (cos(angle) * side[a] + sin(angle) * up[a]);
            }
            k += b != hit;
        }
        for (int b = 0; b < 4; b++) {
            for (int d = b + 1; d < 4; d++) {
                rp_node_pair *p = &t.pair[t.pairs++];
                *p = (rp_node_pair){.b = b, .d = d, .rule = &rule, .touches = true};
                double l2 = 0.0;
                for (int a = 0; a < 3; a++) {
                    p->normal[a] = place[d][a] - place[b][a];
                    l2 += p->normal[a] * p->normal[a];
                }
                for (int a = 0; a < 3; a++) {
                    p->normal[a] /= sqrt(l2);
                }
            }
        }
        CHECK(rp_node_resolve(t.v, t.m, 4, t.pair, t.pairs, RP_IMPULSES_EXACT, 1e-13) <
              RP_NODE_SWEEPS);
        double speed[3], fall[3];
        for (int b = 0, k = 0; b < 4; b++) {
            if (b != hit) {
                speed[k] = sqrt(dot(t.v[b], t.v[b]));
                fall[k++] = dot(t.v[b], axis);
            }
        }
        check_context("turn %d", i);
        for (int k = 1; k < 3; k++) {
            CHECK_NEAR(speed[k], speed[0], 1e-12);
            CHECK_NEAR(fall[k], fall[0], 1e-12);
        }
        CHECK(speed[0] > 0.3);
    }
}

// A wedge that two bodies squeeze leaves faster than any of them came, so that it closes a gap that
// none could have closed. A pair that were left out for its wide gap would fail.
static void a_wedge_that_is_squeezed_out_does_not_fly_through_what_is_behind_a_gap(void)
{
    static const rp_pair_rule rule = {.contact = RP_SEPARATE};
    const double slope = atan(0.2), reach = 2.1; // the gap closes at this, and the fastest has 1
    for (int behind = 0; behind < 2; behind++) {
        meeting t = {.bodies = 4,
                     .pairs = 2 + behind,
                     .m = {20.0, 20.0, 1.0, 1.0},
                     .v = {{1.0, 0.0, 0.0}, {-1.0, 0.0, 0.0}}};
        t.pair[0] = (rp_node_pair){0, 2, &rule, {cos(slope), sin(slope), 0.0}, .touches = true};
        t.pair[1] = (rp_node_pair){1, 2, &rule, {-cos(slope), sin(slope), 0.0}, .touches = true};
        t.pair[2] = (rp_node_pair){2, 3, &rule, {0.0, 1.0, 0.0}, .speed = reach};
        CHECK(rp_node_resolve(t.v, t.m, t.bodies, t.pair, t.pairs, RP_IMPULSES_EXACT, 1e-13) <
              RP_NODE_SWEEPS);
        const double approach = t.v[2][1] - t.v[3][1];
        check_context("wedge at %g m/s, the other at %g m/s", t.v[2][1], t.v[3][1]);
        CHECK(behind ? approach < reach + 1e-9 && t.v[3][1] > 0.1 : approach > reach + 0.5);
    }
}

static void sticky_bodies_move_as_one_and_do_not_part(void)
{
    static const rp_pair_rule rule = {.contact = RP_STICKY};
    uint64_t seed = 4;
    for (int i = 0; i < 100; i++) {
        const int bodies = 2 + i % 3;
        meeting t = make(&seed, bodies, &rule);
        double was[3], mass = 0.0;
        momentum(&t, was);
        for (int b = 0; b < bodies; b++) {
            mass += t.m[b];
        }
        rp_node_resolve(t.v, t.m, bodies, t.pair, t.pairs, RP_IMPULSES_EXACT, 1e-13);
        for (int b = 0; b < bodies; b++) {
            for (int a = 0; a < 3; a++) {
                CHECK_NEAR(t.v[b][a], was[a] / mass, 1e-9);
            }
        }
    }
}

TEST_MAIN(TEST(two_bodies_exchange_an_impulse_within_the_cone),
          TEST(many_bodies_part_alike_whatever_their_order),
          TEST(three_that_one_hits_leave_alike_in_any_turn),
          TEST(a_wedge_that_is_squeezed_out_does_not_fly_through_what_is_behind_a_gap),
          TEST(sticky_bodies_move_as_one_and_do_not_part))
