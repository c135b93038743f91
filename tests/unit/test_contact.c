// Contact with walls, V-A12: what must hold after it, for velocities, normals, friction and
// distances of all kinds; then the same through planes on the pages of a grid.
#include "collide/contact.h"
#include "collide/touches.h"

#include "check.h"
#include "flight.h"
#include "test_set.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// One node and a wall, before and after.
typedef struct meeting {
    int dim;
    rp_contact contact;
    double friction, normal[3], phi, dt;
    double v[3], after[3];
} meeting;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double norm(const double a[3]) { return sqrt(dot(a, a)); }

static void tangent(const double v[3], const double n[3], double t[3])
{
    const double vn = dot(v, n);
    for (int a = 0; a < 3; a++) {
        t[a] = v[a] - vn * n[a];
    }
}

static void random_normal(uint64_t *random, int dim, double n[3])
{
    test_direction(random, n);
    if (dim == 2) {
        const double angle = test_between(random, 0.0, 6.283185307179586);
        n[0] = cos(angle);
        n[1] = sin(angle);
        n[2] = 0.0;
    }
    if (test_below(random, 4) == 0) {
        // along an axis, as walls of a box are
        const int axis = test_below(random, dim), sign = test_below(random, 2) ? 1 : -1;
        n[0] = n[1] = n[2] = 0.0;
        n[axis] = sign;
    }
}

// Every kind, with the special cases more often than chance would have them.
static meeting random_meeting(uint64_t *random)
{
    meeting m = {.dim = 2 + test_below(random, 2),
                 .contact = (rp_contact)test_below(random, 3),
                 .dt = pow(10.0, test_between(random, -5.0, -1.0))};
    random_normal(random, m.dim, m.normal);
    const int kind = test_below(random, 6);
    m.friction = kind == 0 ? 0.0 : kind == 1 ? 1e9 : test_between(random, 0.0, 2.0);
    const double speed = pow(10.0, test_between(random, -6.0, 2.0));
    for (int a = 0; a < m.dim; a++) {
        m.v[a] = speed * test_between(random, -1.0, 1.0);
    }
    switch (test_below(random, 4)) {
    case 0: // straight at the wall or away from it
        for (int a = 0; a < 3; a++) {
            m.v[a] = (test_below(random, 2) ? speed : -speed) * m.normal[a];
        }
        break;
    case 1: // along it
        tangent(m.v, m.normal, m.v);
        break;
    default:
        break;
    }
    // on either side, on the wall, and about as far as a step goes
    m.phi = test_below(random, 5) == 0 ? 0.0 : 2.0 * speed * m.dt * test_between(random, -1.0, 1.0);
    memcpy(m.after, m.v, sizeof m.v);
    rp_contact_resolve(m.contact, m.friction, m.normal, m.phi, m.dt, m.after);
    return m;
}

// Does the wall have a say at all? theory (12)
static bool acts(const meeting *m)
{
    if (m->contact == RP_SEPARATE) {
        return m->phi + m->dt * dot(m->v, m->normal) < fmin(m->phi, 0.0);
    }
    return m->phi <= 0.0;
}

enum { MEETINGS = 100000 };

// Catches a wall that pulls, a node that passes the surface within a step, a slipping wall that
// lets go.
static void no_node_moves_into_a_wall(void)
{
    uint64_t random = 1;
    int count[3] = {0};
    for (int i = 0; i < MEETINGS; i++) {
        const meeting m = random_meeting(&random);
        const double before = dot(m.v, m.normal), after = dot(m.after, m.normal);
        const double tiny = 1e-14 * norm(m.v);
        check_context("meeting %d, contact %d, phi %g", i, m.contact, m.phi);
        count[m.contact] += acts(&m);
        switch (m.contact) {
        case RP_STICKY:
            CHECK(m.phi > 0.0 || (m.after[0] == 0.0 && m.after[1] == 0.0 && m.after[2] == 0.0));
            break;
        case RP_SLIP:
            CHECK_NEAR(after, m.phi <= 0.0 ? 0.0 : before, tiny);
            break;
        case RP_SEPARATE:
            // not past the surface, not deeper than it was; and not a push more than that takes
            CHECK_NEAR(after, fmax(before, -fmax(m.phi, 0.0) / m.dt), tiny);
            break;
        }
    }
    CHECK(count[0] > 1000 && count[1] > 1000 && count[2] > 1000);
}

// Where (12) changes nothing, nothing changes, bit for bit: lift-off is free, and so is what is far
// away. Catches friction without a push, and glue on separating walls.
static void a_wall_leaves_alone_what_does_not_press(void)
{
    uint64_t random = 2;
    int left = 0, lifted = 0;
    for (int i = 0; i < MEETINGS; i++) {
        const meeting m = random_meeting(&random);
        check_context("meeting %d, contact %d, phi %g", i, m.contact, m.phi);
        const double slack = 1e-12 * (fabs(m.phi) + m.dt * norm(m.v));
        if (m.contact == RP_SEPARATE &&
            m.phi + m.dt * dot(m.v, m.normal) > fmin(m.phi, 0.0) + slack) {
            CHECK(memcmp(m.v, m.after, sizeof m.v) == 0);
            left++;
            lifted += m.phi <= 0.0;
        } else if (m.contact != RP_SEPARATE && m.phi > 0.0) {
            CHECK(memcmp(m.v, m.after, sizeof m.v) == 0);
            left++;
        }
    }
    CHECK(left > 10000 && lifted > 1000);
}

// V-A12: the tangential velocity shrinks along itself, by at most mu times the normal change and
// never below zero; by exactly that while it slides. Catches friction that speeds up, turns the
// slip round, acts along one axis only, or uses the speed in place of the push.
static void friction_slows_and_never_reverses(void)
{
    uint64_t random = 3;
    int sliding = 0, stuck = 0;
    for (int i = 0; i < MEETINGS; i++) {
        const meeting m = random_meeting(&random);
        if (m.contact == RP_STICKY) {
            continue;
        }
        check_context("meeting %d, contact %d, phi %g, friction %g", i, m.contact, m.phi,
                      m.friction);
        double was[3], is[3], change[3];
        tangent(m.v, m.normal, was);
        tangent(m.after, m.normal, is);
        for (int a = 0; a < 3; a++) {
            change[a] = is[a] - was[a];
        }
        const double tiny = 1e-14 * norm(m.v);
        const double push = fabs(dot(m.after, m.normal) - dot(m.v, m.normal));
        const double bite = m.friction * push;
        // the push itself is known within tiny
        const double blur = tiny * (1.0 + m.friction);
        CHECK(norm(change) <= bite + blur);
        // the same direction, no more than before: |is|^2 <= is . was
        CHECK(dot(is, was) >= -tiny * norm(was));
        CHECK_NEAR(norm(is) * norm(was), dot(is, was), 1e-13 * norm(was) * norm(m.v));
        CHECK_NEAR(norm(is), fmax(0.0, norm(was) - bite), blur);
        if (push > 1e3 * tiny && m.friction > 0.01 && m.friction < 10.0) {
            sliding += norm(is) > 0.01 * norm(was);
            stuck += norm(is) < tiny && norm(was) > 1e3 * tiny;
        }
    }
    CHECK(sliding > 1000 && stuck > 1000);
}

// A wall at rest takes energy or leaves it. Catches a push that overshoots.
static void a_wall_at_rest_adds_no_energy(void)
{
    uint64_t random = 4;
    for (int i = 0; i < MEETINGS; i++) {
        const meeting m = random_meeting(&random);
        check_context("meeting %d, contact %d, phi %g", i, m.contact, m.phi);
        CHECK(norm(m.after) <= norm(m.v) * (1.0 + 1e-14));
    }
}

// What a wall has settled, it leaves as it is. Catches friction taken twice from one push.
static void a_second_look_changes_nothing(void)
{
    uint64_t random = 5;
    for (int i = 0; i < MEETINGS; i++) {
        const meeting m = random_meeting(&random);
        double again[3];
        memcpy(again, m.after, sizeof again);
        rp_contact_resolve(m.contact, m.friction, m.normal, m.phi, m.dt, again);
        check_context("meeting %d, contact %d, phi %g", i, m.contact, m.phi);
        for (int a = 0; a < 3; a++) {
            // the rounding of the first push rubs
            CHECK_NEAR(again[a], m.after[a],
                       1e-14 * norm(m.v) * (1.0 + fmin(m.friction, 1e3)) +
                           (m.friction > 1e3 ? norm(m.after) : 0.0));
        }
    }
}

// A block on a slope of 30 degrees, one step of gravity from rest: friction above tan 30 holds it
// exactly, friction below leaves g dt (sin - mu cos). Catches a friction cone of the wrong width.
static void a_block_on_a_slope_obeys_coulomb(void)
{
    const double angle = 0.5235987755982988, g_dt = 9.81e-3;
    const double normal[3] = {sin(angle), cos(angle), 0.0},
                 down[3] = {cos(angle), -sin(angle), 0.0};
    for (double mu = 0.0; mu < 1.0; mu += 0.05) {
        double v[3] = {0.0, -g_dt, 0.0};
        check_context("friction %g", mu);
        rp_contact_resolve(RP_SEPARATE, mu, normal, -0.01, 1e-3, v);
        const double want = g_dt * fmax(0.0, sin(angle) - mu * cos(angle));
        CHECK_NEAR(dot(v, down), want, 1e-15 * g_dt);
        CHECK_NEAR(dot(v, normal), 0.0, 1e-15 * g_dt);
        CHECK(mu < 0.58 || norm(v) <= 1e-15 * g_dt);
    }
}

// Pages
// -------------------------------------------------------------------------------------------------

// Random velocities up to a cell per step; one node in four has no mass.
static void random_node(void *ctx, const int32_t index[3], double quad[RP_QUAD])
{
    const test_bed *bed = ctx;
    uint64_t random = rp_mix64((uint64_t)(index[0] * 1000003 + index[1] * 1009 + index[2]));
    for (int a = 0; a < bed->layout.dim; a++) {
        quad[a] = test_between(&random, -1.0, 1.0) * bed->layout.h / bed->def.dt;
    }
    quad[3] = test_below(&random, 4) == 0 ? 0.0 : test_between(&random, 0.5, 1.5);
}

static void node_place(const test_bed *bed, const int32_t index[3], double x[3])
{
    for (int a = 0; a < 3; a++) {
        x[a] = a < bed->layout.dim ? bed->layout.h * index[a] : 0.0;
    }
}

typedef struct wall {
    double point[3], normal[3];
    rp_contact contact;
    double friction;
    double radius; // > 0: a ball around the point instead
} wall;

static rp_collider collider_of(const wall *plane)
{
    rp_collider collider = {.contact = plane->contact, .friction = plane->friction, .parent = -1};
    if (plane->radius > 0.0) {
        rp_shape_sphere(plane->point, plane->radius, &collider.shape);
    } else {
        rp_shape_half_space(plane->point, plane->normal, &collider.shape);
    }
    return collider;
}

static double distance(const wall *plane, const double x[3])
{
    double phi = 0.0;
    for (int a = 0; a < 3; a++) {
        phi += (x[a] - plane->point[a]) * plane->normal[a];
    }
    return phi;
}

static void make_bed(test_bed *bed, const rp_kernels *k)
{
    test_bed_def def = test_default_bed(k, 0.1);
    def.dt = 1e-3;
    CHECK_HELPER(test_bed_init(bed, &def));
    // pages on both sides of the origin
    test_particle p[] = {{.x = {0.05, 0.05, 0.05}}, {.x = {-0.75, -0.75, -0.35}}};
    CHECK_HELPER(test_bed_add(bed, 0, p, 2));
    CHECK_HELPER(test_bed_sort(bed));
    test_bed_set_nodes(bed, RP_CH_MOMENTUM, random_node, bed);
}

// As the step does it.
static void apply_with(test_bed *bed, rp_walls *walls, const wall *plane, int planes)
{
    rp_collider collider[3];
    for (int i = 0; i < planes; i++) {
        collider[i] = collider_of(&plane[i]);
    }
    rp_scratch scratch;
    rp_touches touches;
    rp_scratch_init(&scratch, rp_default_allocator());
    CHECK_OK(rp_touches_find(&touches, walls, collider, planes, false, &bed->grid, 2, &scratch));
    for (rp_local p = 0; p < bed->grid.pages; p++) {
        rp_touches_apply(&touches, &bed->grid, p, bed->def.dt);
    }
    rp_scratch_free(&scratch);
    for (int i = 0; i < planes; i++) {
        rp_shape_release(collider[i].shape);
    }
}

static void apply(test_bed *bed, const wall *plane, int planes)
{
    rp_walls walls = {0};
    apply_with(bed, &walls, plane, planes);
    rp_walls_free(&walls, bed->grid.allocator);
}

static wall random_plane(uint64_t *random, int dim)
{
    wall plane = {.contact = (rp_contact)test_below(random, 3),
                  .friction = test_between(random, 0.0, 1.0)};
    random_normal(random, dim, plane.normal);
    for (int a = 0; a < dim; a++) {
        plane.point[a] = test_between(random, -0.5, 0.5);
    }
    return plane;
}

static void planes_on_pages(const rp_kernels *k)
{
    uint64_t random = 6;
    for (int round = 0; round < 10; round++) {
        test_bed bed;
        wall plane[3];
        const int planes = 1 + round % 3;
        for (int i = 0; i < planes; i++) {
            plane[i] = random_plane(&random, k->dim);
        }
        CHECK_HELPER(make_bed(&bed, k));
        apply(&bed, plane, planes);
        int changed = 0, massless = 0;
        for (rp_local p = 0; p < bed.grid.pages; p++) {
            for (int n = 0; n < bed.layout.nodes; n++) {
                int32_t index[3];
                double quad[RP_QUAD] = {0}, x[3], v[3], was[3];
                test_bed_index(&bed, p, n, index);
                random_node(&bed, index, quad);
                node_place(&bed, index, x);
                for (int a = 0; a < 3; a++) {
                    was[a] = v[a] = test_bed_rounded(&bed, quad[a]);
                }
                // one wall after the other, far or near; then three more times without friction,
                // for where one has pushed the node into another
                for (int i = 0; i < 4 * planes && quad[3] > 0.0; i++) {
                    const wall *w = &plane[i % planes];
                    rp_contact_resolve(w->contact, i < planes ? w->friction : 0.0, w->normal,
                                       distance(w, x), bed.def.dt, v);
                }
                // the shape normalises once more, which rounds distances of up to a metre
                const double allowed = 4.0 * bed.unit * norm(was) + 2.0 * DBL_EPSILON / bed.def.dt;
                const void *node = rp_grid_nodes(&bed.grid, RP_CH_MOMENTUM, p);
                for (int a = 0; a < 3; a++) {
                    const double got = test_bed_get(&bed, node, RP_QUAD * n + a);
                    CHECK_NEAR(got, v[a], quad[3] > 0.0 ? allowed : 0.0);
                    changed += got != was[a];
                }
                CHECK(test_bed_get(&bed, node, RP_QUAD * n + 3) == test_bed_rounded(&bed, quad[3]));
                massless += quad[3] == 0.0;
            }
        }
        CHECK(changed > 100 && massless > 100);
        test_bed_free(&bed);
    }
}

// Every node with mass gets what one call per wall gives it, in turn; nodes without mass, masses
// and in 2D the third number are left as they are, and pages that are left out would not have
// changed. Catches a wrong place of a node, axes swapped in the loop, a block skipped that a wall
// reaches.
static void walls_act_on_every_node_with_mass(void) { test_each_variant(planes_on_pages); }

static void corner_of_planes(const rp_kernels *k)
{
    uint64_t random = 7;
    for (int round = 0; round < 8; round++) {
        test_bed bed;
        wall plane[3];
        memset(plane, 0, sizeof plane);
        for (int i = 0; i < k->dim; i++) {
            plane[i].contact = RP_SEPARATE;
            plane[i].friction = test_between(&random, 0.0, 1.0);
            plane[i].normal[i] = test_below(&random, 2) ? 1.0 : -1.0;
            // on a grid line, or anywhere
            plane[i].point[i] = round % 2 ? 0.3 : test_between(&random, -0.5, 0.5);
        }
        CHECK_HELPER(make_bed(&bed, k));
        apply(&bed, plane, k->dim);
        int cornered = 0;
        for (rp_local p = 0; p < bed.grid.pages; p++) {
            const void *node = rp_grid_nodes(&bed.grid, RP_CH_MOMENTUM, p);
            for (int n = 0; n < bed.layout.nodes; n++) {
                int32_t index[3];
                double quad[RP_QUAD] = {0}, x[3], v[3] = {0};
                int pressed = 0;
                test_bed_index(&bed, p, n, index);
                random_node(&bed, index, quad);
                node_place(&bed, index, x);
                for (int a = 0; a < k->dim; a++) {
                    v[a] = test_bed_get(&bed, node, RP_QUAD * n + a);
                }
                for (int i = 0; i < k->dim && quad[3] > 0.0; i++) {
                    const double phi = distance(&plane[i], x), least = -fmax(phi, 0.0) / bed.def.dt;
                    CHECK(dot(v, plane[i].normal) >= least - 4.0 * bed.unit * norm(quad) - 1e-12);
                    pressed += dot(quad, plane[i].normal) < least;
                }
                CHECK(quad[3] == 0.0 || norm(v) <= norm(quad) * (1.0 + 4.0 * bed.unit));
                cornered += pressed == k->dim;
            }
        }
        CHECK(cornered > 0);
        test_bed_free(&bed);
    }
}

// In a corner of orthogonal walls with friction, no node moves into any of them after one sweep.
// Catches friction of one wall that undoes the push of another.
static void a_corner_holds_from_all_sides(void) { test_each_variant(corner_of_planes); }

static void floors_on_grid_lines(const rp_kernels *k)
{
    // 0.1 times a whole number, added up or multiplied: the two differ by rounding
    double height = -0.7;
    for (int line = -7; line <= 7; line++, height += 0.1) {
        test_bed bed;
        wall floor = {.contact = RP_STICKY};
        floor.normal[1] = 1.0;
        floor.point[1] = height;
        CHECK_HELPER(make_bed(&bed, k));
        apply(&bed, &floor, 1);
        int held = 0;
        for (rp_local p = 0; p < bed.grid.pages; p++) {
            const void *node = rp_grid_nodes(&bed.grid, RP_CH_MOMENTUM, p);
            for (int n = 0; n < bed.layout.nodes; n++) {
                int32_t index[3];
                double quad[RP_QUAD] = {0};
                test_bed_index(&bed, p, n, index);
                random_node(&bed, index, quad);
                if (quad[3] == 0.0) {
                    continue;
                }
                for (int a = 0; a < k->dim; a++) {
                    const double got = test_bed_get(&bed, node, RP_QUAD * n + a);
                    CHECK(index[1] <= line ? got == 0.0 : got == test_bed_rounded(&bed, quad[a]));
                }
                held += index[1] == line;
            }
        }
        CHECK(held > 0);
        test_bed_free(&bed);
    }
}

// A floor on a grid line holds the nodes on it, however its height was computed. Catches a
// comparison that rounding decides.
static void a_floor_on_a_grid_line_acts_there(void) { test_each_variant(floors_on_grid_lines); }

// Catches a block that is left out although a node in it is behind the wall, or so close that it
// would get there within a cell; a wall that is far away costs nothing.
static void a_wall_is_near_the_blocks_it_reaches(void)
{
    uint64_t random = 8;
    int near = 0, far = 0;
    for (int i = 0; i < 4000; i++) {
        rp_world_def def = rp_default_world_def();
        def.dimension = 2 + i % 2;
        def.dx = 0.1;
        const rp_layout l = rp_layout_make(&def);
        const wall plane = random_plane(&random, l.dim);
        int32_t block[3] = {0};
        for (int a = 0; a < l.dim; a++) {
            block[a] = test_below(&random, 9) - 4;
        }
        double least = INFINITY;
        for (int n = 0; n < l.nodes; n++) {
            const int in[3] = {n / (l.cells[1] * l.cells[2]), n / l.cells[2] % l.cells[1],
                               n % l.cells[2]};
            double x[3] = {0};
            for (int a = 0; a < l.dim; a++) {
                x[a] = l.h * (block[a] * l.cells[a] + in[a]);
            }
            least = fmin(least, distance(&plane, x));
        }
        check_context("pair %d", i);
        const rp_collider collider = collider_of(&plane);
        const bool says = rp_collider_near_block(&collider, &l, block);
        CHECK(says || least > l.h);
        // a ball around the block, and two cells
        CHECK(!says || least < (2.0 + 0.5 * sqrt(49.0 + 49.0 + 9.0)) * l.h);
        rp_shape_release(collider.shape);
        near += says;
        far += !says;
    }
    CHECK(near > 500 && far > 500);
}

static void remembered_walls(const rp_kernels *k)
{
    uint64_t random = 16;
    test_bed bed;
    rp_walls walls = {0};
    CHECK_HELPER(make_bed(&bed, k));
    const size_t bytes = (size_t)bed.grid.pages * (size_t)bed.layout.nodes * RP_QUAD *
                         (size_t)rp_real_bytes(&bed.layout);
    void *worked_out = malloc(bytes);
    wall plane[3];
    for (int i = 0; i < 3; i++) {
        plane[i] = random_plane(&random, k->dim);
        plane[i].radius = 0.2 * (i + 1);
    }
    apply_with(&bed, NULL, plane, 3);
    memcpy(worked_out, bed.grid.node[RP_CH_MOMENTUM].data, bytes);
    // filled, looked up, and after the grid was built again
    for (int round = 0; round < 3; round++) {
        if (round == 2) {
            CHECK_HELPER(test_bed_sort(&bed));
        }
        test_bed_set_nodes(&bed, RP_CH_MOMENTUM, random_node, &bed);
        apply_with(&bed, &walls, plane, 3);
        CHECK(memcmp(worked_out, bed.grid.node[RP_CH_MOMENTUM].data, bytes) == 0);
    }
    CHECK(walls.entries > 0);
    free(worked_out);
    rp_walls_free(&walls, bed.grid.allocator);
    test_bed_free(&bed);
}

// Catches a wall that is looked up under another block's name, forgotten when the grid is built, or
// rounded otherwise than when it is worked out.
static void a_wall_that_is_remembered_acts_as_one_that_is_not(void)
{
    test_each_variant(remembered_walls);
}

// Constraints
// -------------------------------------------------------------------------------------------------

enum { CROWD_MOST = 20 };

// Colliders of every kind: standing, moving and turning, some hanging on others.
typedef struct crowd {
    rp_collider collider[CROWD_MOST];
    test_flight flight[CROWD_MOST];
    int colliders;
} crowd;

static void random_crowd(crowd *all, uint64_t *random, int dim, int colliders)
{
    static const rp_placing at_rest = {.rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    memset(all, 0, sizeof *all);
    all->colliders = colliders;
    for (int i = 0; i < colliders; i++) {
        rp_collider *c = &all->collider[i];
        *c = (rp_collider){.contact = (rp_contact)test_below(random, 3),
                           .friction = test_between(random, 0.0, 1.0),
                           .parent = i > 0 && test_below(random, 4) == 0 ? i - 1 : -1,
                           .begin = at_rest,
                           .end = at_rest};
        all->flight[i] = test_random_flight(random, dim);
        if (test_below(random, 2)) {
            c->motion = (rp_pose_of_time){test_fly, &all->flight[i]};
        }
        c->moves = c->motion.call != NULL || (c->parent >= 0 && all->collider[c->parent].moves);
        double normal[3], center[3] = {0}, lower[3] = {-1.0, -1.0, -1.0},
                          upper[3] = {1.0, 1.0, 1.0};
        random_normal(random, dim, normal);
        for (int a = 0; a < dim; a++) {
            center[a] = test_between(random, -0.5, 0.5);
            lower[a] = center[a] - test_between(random, 0.1, 0.6);
            upper[a] = center[a] + test_between(random, 0.1, 0.6);
        }
        switch (test_below(random, 3)) {
        case 0:
            CHECK_OK(rp_shape_half_space(center, normal, &c->shape));
            break;
        case 1:
            CHECK_OK(rp_shape_sphere(center, test_between(random, 0.2, 0.6), &c->shape));
            break;
        default:
            CHECK_OK(rp_shape_box(lower, upper, &c->shape));
            break;
        }
    }
}

static void free_crowd(crowd *all)
{
    for (int i = 0; i < all->colliders; i++) {
        rp_shape_release(all->collider[i].shape);
    }
}

// A bed, a crowd where it is in a step, and which pages feel it.
typedef struct stage {
    test_bed bed;
    crowd all;
    rp_walls walls;
    rp_scratch scratch;
    rp_touches touches;
    rp_constraint *list; // room for those of any page
} stage;

static void make_stage(stage *s, const rp_kernels *k, uint64_t *random, int colliders)
{
    int32_t most = 1;
    memset(s, 0, sizeof *s);
    CHECK_HELPER(make_bed(&s->bed, k));
    CHECK_HELPER(random_crowd(&s->all, random, k->dim, colliders));
    rp_scratch_init(&s->scratch, rp_default_allocator());
    CHECK_OK(rp_colliders_move(s->all.collider, colliders, test_between(random, 0.0, 1.0),
                               s->bed.def.dt));
    CHECK_OK(rp_touches_find(&s->touches, test_below(random, 3) ? &s->walls : NULL, s->all.collider,
                             colliders, false, &s->bed.grid, 2, &s->scratch));
    for (rp_local p = 0; p < s->bed.grid.pages; p++) {
        const int32_t count = rp_touches_most(&s->touches, &s->bed.grid, p);
        most = count > most ? count : most;
    }
    s->list = malloc((size_t)most * sizeof *s->list);
}

static void free_stage(stage *s)
{
    free(s->list);
    rp_walls_free(&s->walls, s->bed.grid.allocator);
    rp_scratch_free(&s->scratch);
    free_crowd(&s->all);
    test_bed_free(&s->bed);
}

static int random_count(uint64_t *random, int round)
{
    // now and then more than there are quick answers for
    return round % 5 == 4 ? CROWD_MOST : 1 + test_below(random, 4);
}

// The constraints of one node in turn, as docs/theory.md has it.
static void resolve_by_hand(const rp_constraint *c, int count, double dt, double v[3])
{
    bool quiet = false;
    for (int turn = 0; turn < 4 && !quiet; turn++) {
        double before[3];
        memcpy(before, v, sizeof before);
        for (int i = 0; i < count; i++) {
            double u[3], after[3];
            for (int a = 0; a < 3; a++) {
                u[a] = after[a] = v[a] - c[i].velocity[a];
            }
            rp_contact_resolve(c[i].contact, turn == 0 ? c[i].friction : 0.0, c[i].normal,
                               c[i].distance, dt, after);
            const bool acted = u[0] != after[0] || u[1] != after[1] || u[2] != after[2];
            for (int a = 0; a < 3 && acted; a++) {
                v[a] = after[a] + c[i].velocity[a];
            }
        }
        quiet = count == 1 || (v[0] == before[0] && v[1] == before[1] && v[2] == before[2]);
    }
}

static void lists_by_hand(const rp_kernels *k)
{
    uint64_t random = 17;
    int busy = 0; // rounds in which something happened: a crowd may stand aside
    for (int round = 0; round < 15; round++) {
        stage s;
        CHECK_HELPER(make_stage(&s, k, &random, random_count(&random, round)));
        const rp_layout *l = &s.bed.layout;
        const rp_listing all = {.dt = s.bed.def.dt, .reach = INFINITY};
        const size_t bytes =
            (size_t)l->nodes * RP_QUAD * (size_t)rp_real_bytes(l); // of a page's nodes
        void *by_hand = malloc(bytes);
        int changed = 0;
        for (rp_local p = 0; p < s.bed.grid.pages; p++) {
            void *nodes = rp_grid_nodes(&s.bed.grid, RP_CH_MOMENTUM, p);
            memcpy(by_hand, nodes, bytes);
            const int32_t count = rp_touches_list(&s.touches, &s.bed.grid, p, &all, s.list);
            for (int32_t i = 0, next; i < count; i = next) {
                const int at = RP_QUAD * s.list[i].node;
                double v[3];
                for (next = i; next < count && s.list[next].node == s.list[i].node; next++) {
                    CHECK(next == i || s.list[next].collider > s.list[next - 1].collider);
                }
                for (int a = 0; a < 3; a++) {
                    v[a] = test_bed_get(&s.bed, by_hand, at + a);
                }
                resolve_by_hand(s.list + i, next - i, all.dt, v);
                for (int a = 0; a < l->dim; a++) {
                    test_bed_put(&s.bed, by_hand, at + a, v[a]);
                }
            }
            changed += memcmp(nodes, by_hand, bytes) != 0;
            rp_touches_apply(&s.touches, &s.bed.grid, p, all.dt);
            check_context("round %d, page %d", round, (int)p);
            CHECK(memcmp(nodes, by_hand, bytes) == 0);
        }
        busy += changed > 0;
        free(by_hand);
        free_stage(&s);
    }
    CHECK(busy >= 12);
}

// Bit for bit. Catches a list and an application that see a collider differently: its velocity, its
// order, a distance that is rounded in one of them only, a node that one of them leaves out.
static void constraints_applied_by_hand_are_what_a_page_gets(void)
{
    test_each_variant(lists_by_hand);
}

static void lists_of_some(const rp_kernels *k)
{
    uint64_t random = 18;
    int near = 0, left_out = 0, empty = 0;
    for (int round = 0; round < 10; round++) {
        stage s;
        CHECK_HELPER(make_stage(&s, k, &random, random_count(&random, round)));
        const rp_layout *l = &s.bed.layout;
        const rp_listing all = {.dt = s.bed.def.dt, .reach = INFINITY, .massless = true};
        const rp_listing some = {.dt = s.bed.def.dt, .reach = (round % 3) * l->h};
        for (rp_local p = 0; p < s.bed.grid.pages; p++) {
            const void *nodes = rp_grid_nodes(&s.bed.grid, RP_CH_MOMENTUM, p);
            const int32_t most = rp_touches_most(&s.touches, &s.bed.grid, p);
            check_context("round %d, page %d", round, (int)p);
            CHECK(rp_touches_list(&s.touches, &s.bed.grid, p, &all, s.list) == most);
            const int32_t count = rp_touches_list(&s.touches, &s.bed.grid, p, &some, NULL);
            rp_constraint *few = malloc((size_t)(count + 1) * sizeof *few);
            CHECK(rp_touches_list(&s.touches, &s.bed.grid, p, &some, few) == count);
            int32_t next = 0;
            for (int32_t i = 0; i < most; i++) {
                const rp_constraint *c = &s.list[i];
                double x[3], normal[3], velocity[3];
                const rp_collider *collider = &s.all.collider[c->collider];
                rp_layout_node(l, rp_grid_page(&s.bed.grid)[p].block, c->node, x);
                const double phi = rp_collider_look(collider, x, normal);
                rp_collider_velocity(collider, x, all.dt, velocity);
                CHECK_NEAR(c->distance, phi, s.bed.unit * fabs(phi) + 1.1e-9 * l->h);
                for (int a = 0; a < 3; a++) {
                    CHECK_NEAR(c->normal[a], normal[a], s.bed.unit);
                    CHECK(c->velocity[a] == velocity[a]);
                }
                CHECK(c->contact == collider->contact && c->friction == collider->friction);
                CHECK(c->massless == (test_bed_get(&s.bed, nodes, RP_QUAD * c->node + 3) == 0.0));
                empty += c->massless;
                if (c->massless || c->distance > some.reach) {
                    left_out++;
                } else {
                    CHECK(next < count && few[next].node == c->node &&
                          few[next].collider == c->collider && few[next].distance == c->distance);
                    next++;
                    near++;
                }
            }
            CHECK(next == count);
            free(few);
        }
        free_stage(&s);
    }
    CHECK(near > 100 && left_out > 100 && empty > 100);
}

// Catches a list that forgets nodes on the edge of its reach or without mass, and a count that
// differs from what is written.
static void a_list_holds_what_was_asked_for_and_no_more(void) { test_each_variant(lists_of_some); }

static void sticky_nodes(const rp_kernels *k)
{
    uint64_t random = 19;
    int eliminated = 0, moving = 0;
    for (int round = 0; round < 10; round++) {
        stage s;
        CHECK_HELPER(make_stage(&s, k, &random, 1));
        rp_collider *c = s.all.collider;
        c->contact = RP_STICKY;
        const rp_layout *l = &s.bed.layout;
        const rp_listing inside = {.dt = s.bed.def.dt, .reach = 0.0};
        const size_t bytes =
            (size_t)s.bed.grid.pages * (size_t)l->nodes * RP_QUAD * (size_t)rp_real_bytes(l);
        void *held = malloc(bytes);
        for (rp_local p = 0; p < s.bed.grid.pages; p++) {
            void *nodes = rp_grid_nodes(&s.bed.grid, RP_CH_MOMENTUM, p);
            const int32_t count = rp_touches_list(&s.touches, &s.bed.grid, p, &inside, s.list);
            for (int32_t i = 0; i < count; i++) {
                for (int a = 0; a < l->dim; a++) {
                    test_bed_put(&s.bed, nodes, RP_QUAD * s.list[i].node + a,
                                 s.list[i].velocity[a]);
                }
            }
            eliminated += count;
            moving += c->moves ? count : 0;
        }
        // every node with mass inside goes along with the collider, as far as it can be written
        memcpy(held, s.bed.grid.node[RP_CH_MOMENTUM].data, bytes);
        for (rp_local p = 0; p < s.bed.grid.pages; p++) {
            const void *nodes = rp_grid_nodes(&s.bed.grid, RP_CH_MOMENTUM, p);
            for (int n = 0; n < l->nodes; n++) {
                double x[3], velocity[3];
                rp_layout_node(l, rp_grid_page(&s.bed.grid)[p].block, n, x);
                rp_collider_velocity(c, x, inside.dt, velocity);
                if (rp_collider_distance(c, x) > 0.0 ||
                    test_bed_get(&s.bed, nodes, RP_QUAD * n + 3) == 0.0) {
                    continue;
                }
                for (int a = 0; a < l->dim; a++) {
                    const double relative =
                        test_bed_get(&s.bed, nodes, RP_QUAD * n + a) - velocity[a];
                    check_context("round %d, page %d, node %d, axis %d", round, (int)p, n, a);
                    CHECK_NEAR(relative, 0.0,
                               l->precision == RP_DOUBLE ? 0.0 : s.bed.unit * fabs(velocity[a]));
                }
            }
            // and contact has nothing to add
            rp_touches_apply(&s.touches, &s.bed.grid, p, inside.dt);
        }
        check_context("round %d", round);
        CHECK(memcmp(held, s.bed.grid.node[RP_CH_MOMENTUM].data, bytes) == 0);
        free(held);
        free_stage(&s);
    }
    CHECK(eliminated > 1000 && moving > 100);
}

// Catches a list that lacks a node inside, or a velocity that is not the collider's.
static void a_node_that_is_eliminated_goes_along_with_its_collider(void)
{
    test_each_variant(sticky_nodes);
}

static void bodies_on_pages(const rp_kernels *k)
{
    uint64_t random = 20;
    for (int round = 0; round < 10; round++) {
        stage s;
        CHECK_HELPER(make_stage(&s, k, &random, random_count(&random, round)));
        const rp_layout *l = &s.bed.layout;
        const double inertia[3][3] = {{3.0, 0.0, 0.0}, {0.0, 4.0, 0.0}, {0.0, 0.0, 5.0}};
        rp_body body[CROWD_MOST];
        for (int i = 0; i < s.all.colliders; i++) {
            body[i] = rp_body_scripted(&s.all.collider[i]);
            rp_body_begin(&body[i], s.bed.def.dt);
        }
        // the last one can be moved
        rp_body *last = &body[s.all.colliders - 1];
        *last = rp_body_free(last->collider, k->dim, 2.0, inertia);
        double lost[6] = {0}, got[6] = {0}, moved = 0.0;
        for (rp_local p = 0; p < s.bed.grid.pages; p++) {
            const void *nodes = rp_grid_nodes(&s.bed.grid, RP_CH_MOMENTUM, p);
            for (int turn = 0; turn < 2; turn++) {
                for (int n = 0; n < l->nodes; n++) {
                    const double m = test_bed_get(&s.bed, nodes, RP_QUAD * n + 3);
                    double x[3], v[3];
                    rp_layout_node(l, rp_grid_page(&s.bed.grid)[p].block, n, x);
                    for (int a = 0; a < 3; a++) {
                        v[a] = (turn == 0 ? m : -m) * test_bed_get(&s.bed, nodes, RP_QUAD * n + a);
                        moved += fabs(v[a]) * (1.0 + norm(x));
                    }
                    for (int a = 0; a < 3; a++) {
                        const int b = (a + 1) % 3, c = (a + 2) % 3;
                        lost[a] += v[a];
                        lost[3 + a] += x[b] * v[c] - x[c] * v[b];
                    }
                }
                if (turn == 0) {
                    rp_touches_apply(&s.touches, &s.bed.grid, p, s.bed.def.dt);
                }
            }
        }
        double rubbed = 0.0;
        CHECK_OK(rp_touches_sum(&s.touches, &s.bed.grid, body, &rubbed));
        CHECK(rubbed >= 0.0);
        for (int i = 0; i < s.all.colliders; i++) {
            const double *o = body[i].pose.position, *J = body[i].given.linear;
            for (int a = 0; a < 3; a++) {
                const int b = (a + 1) % 3, c = (a + 2) % 3;
                got[a] += J[a];
                got[3 + a] += body[i].given.angular[a] + o[b] * J[c] - o[c] * J[b];
            }
        }
        check_context("round %d", round);
        for (int a = 0; a < 6; a++) {
            // nodes keep rounded velocities; sums of thousands, and what colliders that disagree
            // give each other back
            CHECK_NEAR(got[a], lost[a], (2.0 * s.bed.unit + 20.0 * DBL_EPSILON) * moved);
        }
        for (int a = 0; a < 3; a++) {
            // in the order of pages, in which impulses may be large and cancel
            CHECK_NEAR(2.0 * last->velocity[a], last->given.linear[a], 1e-13 * moved);
        }
        free_stage(&s);
    }
}

// Catches a collider that gets another one's share, an arm from the wrong place, and a body that
// counts but does not move.
static void bodies_get_what_nodes_lose(void) { test_each_variant(bodies_on_pages); }

TEST_MAIN(TEST(a_wall_that_is_remembered_acts_as_one_that_is_not), TEST(no_node_moves_into_a_wall),
          TEST(a_wall_leaves_alone_what_does_not_press), TEST(friction_slows_and_never_reverses),
          TEST(a_wall_at_rest_adds_no_energy), TEST(a_second_look_changes_nothing),
          TEST(a_block_on_a_slope_obeys_coulomb), TEST(walls_act_on_every_node_with_mass),
          TEST(a_corner_holds_from_all_sides), TEST(a_floor_on_a_grid_line_acts_there),
          TEST(a_wall_is_near_the_blocks_it_reaches),
          TEST(constraints_applied_by_hand_are_what_a_page_gets),
          TEST(a_list_holds_what_was_asked_for_and_no_more),
          TEST(a_node_that_is_eliminated_goes_along_with_its_collider),
          TEST(bodies_get_what_nodes_lose))
