// Surfaces that deform: distances, and what they do to sand.
#include "shape/sequence.h"

#include "sim/world.h"

#include "base/hash.h"
#include "repose/mesh.h"
#include "repose/world.h"

#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A cube without one of its corners, or the whole of it: corners of cells of a 2 x 2 x 2 lattice.
enum { LATTICE = 27, MOST = 512 };

typedef struct solid {
    double vertex[LATTICE][3];
    int32_t triangle[MOST][3];
    int triangles;
} solid;

static bool is_full(bool notched, const int cell[3])
{
    bool within = true;
    for (int a = 0; a < 3; a++) {
        within = within && cell[a] >= 0 && cell[a] < 2;
    }
    return within && !(notched && cell[0] == 1 && cell[1] == 1 && cell[2] == 1);
}

// From -1 to 1 along each axis.
static solid make_solid(bool notched)
{
    solid s = {0};
    for (int i = 0; i < LATTICE; i++) {
        s.vertex[i][0] = i / 9 - 1;
        s.vertex[i][1] = i / 3 % 3 - 1;
        s.vertex[i][2] = i % 3 - 1;
    }
    for (int c = 0; c < 8; c++) {
        for (int face = 0; face < 6; face++) {
            const int cell[3] = {c >> 2, c >> 1 & 1, c & 1}, a = face / 2, up = face % 2;
            int beyond[3] = {cell[0], cell[1], cell[2]};
            beyond[a] += up ? 1 : -1;
            if (!is_full(notched, cell) || is_full(notched, beyond)) {
                continue;
            }
            int32_t corner[4];
            for (int k = 0; k < 4; k++) {
                int at[3] = {cell[0], cell[1], cell[2]};
                at[a] += up;
                at[(a + 1) % 3] += k == 1 || k == 2;
                at[(a + 2) % 3] += k >= 2;
                corner[k] = 9 * at[0] + 3 * at[1] + at[2];
            }
            const int32_t two[2][3] = {{corner[0], corner[up ? 1 : 2], corner[up ? 2 : 1]},
                                       {corner[0], corner[up ? 2 : 3], corner[up ? 3 : 2]}};
            memcpy(s.triangle[s.triangles], two, sizeof two);
            s.triangles += 2;
        }
    }
    return s;
}

static rp_sequence_def def_of(const solid *s, const double *vertices, int count)
{
    rp_sequence_def def = rp_default_sequence_def();
    def.vertices = vertices;
    def.count = count;
    def.vertex_count = LATTICE;
    def.triangles = &s->triangle[0][0];
    def.triangle_count = s->triangles;
    return def;
}

// Catches a wrong side near edges and corners, where one normal is not enough, and a distance that
// is not to the nearest triangle. Of the whole cube the distance is known; of the notched one, the
// side.
static void distances_are_exact_and_on_the_right_side(void)
{
    for (int notched = 0; notched < 2; notched++) {
        const solid s = make_solid(notched == 1);
        const rp_sequence_def def = def_of(&s, &s.vertex[0][0], 1);
        const double low[3] = {-1, -1, -1}, high[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
        rp_shape *shape, *box, *notch, *left;
        CHECK_OK(rp_shape_sequence(&def, &shape));
        CHECK_OK(rp_shape_box(low, high, &box));
        CHECK_OK(rp_shape_box(zero, high, &notch));
        CHECK_OK(rp_shape_subtract(box, &notch, 1, &left));
        CHECK(rp_shape_deforms(shape) && !rp_shape_deforms(box));
        CHECK_NEAR(rp_shape_volume(shape, 3), notched ? 7.0 : 8.0, 1e-12);
        for (int i = 0; i < 4000; i++) {
            double x[3], n[3], want[3];
            for (int a = 0; a < 3; a++) {
                x[a] = 3.0 * rp_unit(rp_hash(7, (uint64_t)i, RP_FOR_SAMPLES, (uint64_t)a)) - 1.5;
                // many of them on lines through edges and corners
                x[a] = (i >> a & 1) != 0 ? round(2.0 * x[a]) / 2.0 : x[a];
            }
            const double d = rp_shape_distance(shape, x, n);
            const double known = rp_shape_distance(notched ? left : box, x, want);
            check_context("(%g, %g, %g): %g, %g", x[0], x[1], x[2], d, known);
            CHECK_NEAR(rp_dot(n, n), 1.0, 1e-9);
            if (!notched) {
                CHECK_NEAR(d, known, 1e-12);
            } else if (fabs(known) > 1e-12 && fabs(d) > 1e-12) {
                CHECK((d < 0.0) == (known < 0.0));
                CHECK(fabs(d) >= fabs(known) - 1e-12); // an operator gives a bound
            }
            if (i % 8 != 0) { // as near to several places, perhaps
                continue;
            }
            // a step along the way out is a step away
            const double y[3] = {x[0] + 1e-6 * n[0], x[1] + 1e-6 * n[1], x[2] + 1e-6 * n[2]};
            CHECK_NEAR(rp_shape_distance(shape, y, NULL), d + 1e-6, 2e-7);
        }
        rp_shape_release(shape);
        rp_shape_release(box);
        rp_shape_release(notch);
        rp_shape_release(left);
    }
}

// A thin blade whose tip is shared by two large faces and, on one side, by many slivers: normals
// that are added up without their angles would look to that side alone.
static void slivers_do_not_turn_the_side_of_a_tip(void)
{
    enum { ARC = 30, POINTS = ARC + 3 };
    double vertex[POINTS][3] = {{0, 0, 0}, {-1, -1, -0.1}, {1, -1, -0.1}};
    int32_t triangle[2 * POINTS][3];
    int count = 0;
    for (int i = 0; i < ARC; i++) { // back from right to left
        const double x = 1.0 - 2.0 * i / (ARC - 1);
        vertex[3 + i][0] = x;
        vertex[3 + i][1] = -1.0;
        vertex[3 + i][2] = 0.1 + 0.02 * (1.0 - x * x);
    }
    for (int i = 1; i < POINTS; i++) { // around the tip, and the base as a fan
        const int next = i + 1 < POINTS ? i + 1 : 1;
        memcpy(triangle[count++], (int32_t[3]){0, next, i}, sizeof triangle[0]);
        if (i > 1 && next != 1) {
            memcpy(triangle[count++], (int32_t[3]){1, i, next}, sizeof triangle[0]);
        }
    }
    rp_sequence_def def = rp_default_sequence_def();
    rp_shape *shape;
    def.vertices = &vertex[0][0];
    def.count = 1;
    def.vertex_count = POINTS;
    def.triangles = &triangle[0][0];
    def.triangle_count = count;
    CHECK_OK(rp_shape_sequence(&def, &shape));
    for (int side = -1; side <= 1; side += 2) {
        // out from a large face, and a little upwards: the tip is nearest
        double x[3] = {0.0, 0.1 + 0.05, side * 1.0}, n[3];
        const double length = sqrt(rp_dot(x, x));
        for (int a = 0; a < 3; a++) {
            x[a] *= 0.5 / length;
        }
        const double d = rp_shape_distance(shape, x, n);
        check_context("side %d", side);
        CHECK_NEAR(d, 0.5, 1e-12);
        CHECK_NEAR(n[2], x[2] / 0.5, 1e-9);
    }
    rp_shape_release(shape);
}

// Times of three files, with and without a loop: between them straight on.
static void vertices_go_straight_on_from_file_to_file(void)
{
    const solid s = make_solid(false);
    double vertex[3][LATTICE][3];
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < LATTICE; i++) {
            for (int a = 0; a < 3; a++) {
                vertex[t][i][a] = s.vertex[i][a] + (a == 0 ? t * t : 0.0); // by 0, 1 and 4
            }
        }
    }
    static const struct {
        bool loop;
        double t, x, way; // of the face at x = 1, and its way in 0.01 s
    } cases[] = {{false, -1.0, 0.0, 0.0},    {false, 0.55, 0.5, 0.1}, {false, 0.65, 2.5, 0.3},
                 {false, 0.695, 3.85, 0.15}, {false, 9.0, 4.0, 0.0},  {true, 0.75, 2.0, -0.4},
                 {true, 0.55, 0.5, 0.1},     {true, 1.25, 0.5, 0.1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rp_sequence_def def = def_of(&s, &vertex[0][0][0], 3);
        rp_shape *shape;
        rp_morph *morph;
        def.fps = 10.0;
        def.start = 0.5;
        def.loop = cases[i].loop;
        const double t = cases[i].loop && cases[i].t > 1.0 ? 0.85 : cases[i].t;
        CHECK_OK(rp_shape_sequence(&def, &shape));
        CHECK_OK(rp_morph_make(shape, &morph));
        rp_morph_move(morph, t, 0.01);
        const double x[3] = {9.0, 0.1, 0.2};
        double n[3], way[3];
        rp_mesh_spot spot;
        const double d = rp_morph_look(morph, x, n, &spot);
        rp_morph_way(morph, &spot, way);
        check_context("case %zu", i);
        CHECK_NEAR(d, 8.0 - cases[i].x, 1e-9);
        CHECK_NEAR(way[0], cases[i].way, 1e-9);
        rp_morph_free(morph);
        rp_shape_release(shape);
    }
}

// ---- in a world ----

typedef struct scenery {
    rp_precision precision;
    int threads;
    double gravity;
    bool energy;
    rp_contact contact;
    double friction;
} scenery;

static rp_world *make_world(const scenery *y, const rp_shape *moving, rp_pose_of_time motion,
                            rp_material_def material, const double low[3], const double high[3])
{
    rp_world_def def = rp_default_world_def();
    rp_box_def box = rp_default_box_def();
    rp_collider_def c = rp_default_collider_def();
    rp_world *world = NULL;
    def.dx = 0.02;
    def.precision = y->precision;
    def.threads = y->threads;
    def.gravity[1] = y->gravity;
    def.energy = y->energy;
    c.shape = moving;
    c.motion = motion;
    c.contact = y->contact;
    c.friction = y->friction;
    memcpy(box.lower, low, sizeof box.lower);
    memcpy(box.upper, high, sizeof box.upper);
    box.jitter = 0.0;
    bool ok = rp_world_create(&def, &world) == RP_OK;
    ok = ok && rp_world_add_material(world, &material, &box.material) == RP_OK;
    ok = ok && rp_world_add_box(world, &box, NULL) == RP_OK;
    ok = ok && rp_world_add_collider(world, &c) == RP_OK;
    if (!ok) {
        check_record(__FILE__, __LINE__, "no world: %s", rp_last_error());
    }
    return world;
}

static const rp_pose_of_time STANDS = {NULL, NULL};
static const double SPEED[3] = {0.3, 0.5, 0.0};

static rp_result go(void *context, double t, rp_pose *out)
{
    (void)context;
    *out = (rp_pose){.position = {SPEED[0] * t, SPEED[1] * t, 0.0}, .rotation = {0, 0, 0, 1}};
    return RP_OK;
}

// A box of a sequence: `count` times of the cube, scaled and moved by a function.
static rp_result make_sequence(const double half[3], void (*at)(int time, double x[3]), int count,
                               double fps, bool loop, rp_shape **out)
{
    const solid s = make_solid(false);
    double *vertex = calloc((size_t)count * LATTICE * 3, sizeof *vertex);
    for (int t = 0; t < count; t++) {
        for (int i = 0; i < LATTICE; i++) {
            double *x = vertex + 3 * (t * LATTICE + i);
            for (int a = 0; a < 3; a++) {
                x[a] = half[a] * s.vertex[i][a];
            }
            at(t, x);
        }
    }
    rp_sequence_def def = def_of(&s, vertex, count);
    def.fps = fps;
    def.loop = loop;
    const rp_result result = rp_shape_sequence(&def, out);
    free(vertex);
    return result;
}

static void travel(int time, double x[3])
{
    for (int a = 0; a < 3; a++) {
        x[a] += 0.1 * time * SPEED[a];
    }
}

// A box that goes as files say, and one that goes as a motion says, do the same to sand.
static void a_plate_that_travels_is_the_same_as_one_that_is_moved(void)
{
    static const rp_contact contacts[] = {RP_STICKY, RP_SLIP, RP_SEPARATE};
    const double half[3] = {0.15, 0.06, 0.15}, low[3] = {-0.08, 0.06, -0.04},
                 high[3] = {0.08, 0.12, 0.04}, minus[3] = {-0.15, -0.06, -0.15};
    for (int k = 0; k < 3; k++) {
        const scenery y = {.precision = RP_DOUBLE,
                           .gravity = -9.81,
                           .contact = contacts[k],
                           .friction = k == 0 ? 0.0 : 0.4};
        rp_shape *shape[2];
        rp_world *world[2];
        rp_totals t[2];
        rp_collider_load load[2];
        double *x[2];
        CHECK_OK(make_sequence(half, travel, 5, 10.0, false, &shape[0]));
        CHECK_OK(rp_shape_box(minus, half, &shape[1]));
        for (int i = 0; i < 2; i++) {
            const rp_pose_of_time motion = i == 0 ? STANDS : (rp_pose_of_time){go, NULL};
            world[i] = make_world(&y, shape[i], motion, rp_default_sand_def(), low, high);
            rp_stats stats;
            rp_world_totals(world[i], &t[i]);
            rp_watch_begin(world[i], &t[i]);
            CHECK_OK(rp_world_run_frame(world[i]));
            CHECK_OK(rp_world_run_frame(world[i]));
            rp_world_totals(world[i], &t[i]);
            rp_world_collider_load(world[i], 0, &load[i]);
            rp_world_stats(world[i], &stats);
            x[i] = calloc((size_t)stats.particles * 3, sizeof(double));
            CHECK_OK(rp_world_read(world[i], RP_COL_POSITION, x[i]));
            check_context("contact %d", k);
            for (int64_t p = 0; p < 3 * stats.particles && i == 1; p++) {
                CHECK_NEAR(x[0][p], x[1][p], 1e-7);
            }
        }
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(t[0].momentum[a], t[1].momentum[a], 1e-6);
            CHECK_NEAR(load[0].force[a], load[1].force[a], 1e-4 * fabs(load[1].force[1]));
        }
        CHECK(t[0].momentum[1] > 0.2 * t[0].mass); // it was lifted
        // and the watch on energy that nothing brought in knows the same work of both
        CHECK_NEAR(world[0]->watch.work, world[1]->watch.work, 1e-6 * world[1]->watch.work);
        CHECK(world[1]->watch.work > 0.1);
        for (int i = 0; i < 2; i++) {
            free(x[i]);
            rp_world_destroy(world[i]);
            rp_shape_release(shape[i]);
        }
    }
}

// Its upper face rises by 0.012 m in a second, its lower one stays.
static void breathe(int time, double x[3]) { x[1] += (x[1] > 0.0 ? 0.012 : 0.0) * time - 0.06; }

static rp_result rise(void *context, double t, rp_pose *out)
{
    (void)context;
    *out = (rp_pose){.position = {0.0, 0.012 * t, 0.0}, .rotation = {0, 0, 0, 1}};
    return RP_OK;
}

// A solid that grows does the work p dV on what it presses: a block between smooth walls, which
// stores it, as if a box rose below it. Hencky's elasticity has psi = M ln^2(1 - e) / 2 in uniaxial
// strain; of a block five cells high, stencils that reach into both walls miss a seventh of that.
static void a_box_that_breathes_does_the_work_p_dv(void)
{
    const double half[3] = {0.3, 0.06, 0.3}, low[3] = {0.0, 0.0, 0.0}, high[3] = {0.04, 0.1, 0.04};
    const double below[3] = {-0.3, -0.12, -0.3}, above[3] = {0.3, 0.0, 0.3};
    const scenery y = {.precision = RP_DOUBLE, .energy = true, .contact = RP_SLIP};
    rp_material_def rubber = rp_default_elastic_def();
    rp_shape *shape[2];
    rp_totals t[2];
    rubber.young = 2e4;
    rubber.density = 800.0;
    CHECK_OK(make_sequence(half, breathe, 2, 1.0, false, &shape[0]));
    CHECK_OK(rp_shape_box(below, above, &shape[1]));
    for (int i = 0; i < 2; i++) {
        const rp_pose_of_time motion = i == 0 ? STANDS : (rp_pose_of_time){rise, NULL};
        rp_world *world = make_world(&y, shape[i], motion, rubber, low, high);
        rp_energy e;
        double work = 0.0;
        CHECK_OK(rp_world_add_walls(world, (double[3]){0, -1, 0}, high, RP_SLIP, 0.0));
        for (int frame = 0; frame < 12; frame++) { // half a second
            rp_collider_load load;
            CHECK_OK(rp_world_run_frame(world));
            rp_world_collider_load(world, 0, &load);
            work += -load.force[1] * 0.012 / 24.0; // the mean force in the frame, times the way
        }
        rp_world_totals(world, &t[i]);
        rp_world_energy(world, &e);
        const double M = 2e4 * 0.7 / (1.3 * 0.4), strain = log(1.0 - 0.006 / 0.1);
        const double want = 0.5 * M * strain * strain * 0.04 * 0.04 * 0.1;
        check_context("%d: elastic %g J, theory %g J, p dV %g J, account %g J", i, t[i].elastic,
                      want, work, -e.contact);
        CHECK_NEAR(t[i].elastic, want, 0.2 * want);
        CHECK_NEAR(-e.contact, work, 0.01 * work);
        CHECK_NEAR(work, t[i].elastic + t[i].kinetic, 0.01 * work);
        rp_world_destroy(world);
        rp_shape_release(shape[i]);
    }
    CHECK_NEAR(t[0].elastic, t[1].elastic, 1e-6 * t[1].elastic);
}

static const double SHEAR = 2.0; // [1/s]

static void shear(int time, double x[3])
{
    x[1] -= 0.06;
    x[0] += SHEAR * x[2] * 0.05 * time;
}

// Sand on a plate that is sheared goes along with it, everywhere at its own speed: the velocity is
// that of the vertices around, and not of the plate as a whole.
static void a_plate_that_shears_drags_sand_by_its_vertices(void)
{
    const double half[3] = {0.3, 0.06, 0.2}, low[3] = {-0.08, 0.0, -0.12},
                 high[3] = {0.08, 0.04, 0.12};
    const scenery y = {.precision = RP_DOUBLE, .gravity = -9.81, .contact = RP_STICKY};
    rp_shape *shape;
    CHECK_OK(make_sequence(half, shear, 3, 20.0, false, &shape));
    rp_world *world = make_world(&y, shape, STANDS, rp_default_sand_def(), low, high);
    CHECK_OK(rp_world_run_frame(world));
    CHECK_OK(rp_world_run_frame(world));
    rp_stats stats;
    rp_world_stats(world, &stats);
    double zz = 0.0, vz = 0.0;
    double *x = calloc((size_t)stats.particles * 6, sizeof *x), *v = x + 3 * stats.particles;
    CHECK_OK(rp_world_read(world, RP_COL_POSITION, x));
    CHECK_OK(rp_world_read(world, RP_COL_VELOCITY, v));
    int seen = 0;
    for (int64_t p = 0; p < stats.particles; p++) {
        const double z = x[3 * p + 2];
        // not at the ends, where the layer flows apart
        if (x[3 * p + 1] < 0.01 && fabs(z) < 0.08 && fabs(x[3 * p]) < 0.06) {
            check_context("at z = %g", z);
            CHECK_NEAR(v[3 * p], SHEAR * z, 0.1 * SHEAR * 0.08); // each swings a little
            CHECK_NEAR(v[3 * p + 2], 0.0, 0.1 * SHEAR * 0.08);
            zz += z * z;
            vz += v[3 * p] * z;
            seen++;
        }
    }
    CHECK(seen > 50);
    CHECK_NEAR(vz / zz, SHEAR, 0.02 * SHEAR);
    free(x);
    rp_world_destroy(world);
    rp_shape_release(shape);
}

static void swing(int time, double x[3])
{
    static const double up[4] = {0.0, 0.03, 0.0, -0.03};
    x[1] += up[time] * cos(5.0 * x[0]) - 0.06;
}

// Catches what a surface remembers from the step before, and threads that find another triangle.
static void sand_on_it_goes_on_bit_for_bit(void)
{
    const double half[3] = {0.2, 0.03, 0.2}, low[3] = {-0.08, 0.0, -0.04},
                 high[3] = {0.08, 0.06, 0.04};
    rp_shape *shape;
    void *end[4];
    size_t size[4];
    CHECK_OK(make_sequence(half, swing, 4, 24.0, true, &shape));
    for (int i = 0; i < 4; i++) {
        const scenery y = {.gravity = -9.81,
                           .contact = RP_SEPARATE,
                           .friction = 0.3,
                           .threads = i == 2   ? 5
                                      : i == 3 ? 2
                                               : 1};
        rp_world *world = make_world(&y, shape, STANDS, rp_default_sand_def(), low, high);
        for (int step = 0; step < 70; step++) {
            CHECK_OK(rp_world_step(world));
            if (i % 2 == 1 && step % 30 == 17) {
                rp_world *fresh = make_world(&y, shape, STANDS, rp_default_sand_def(), low, high);
                void *middle;
                size_t bytes;
                CHECK_OK(rp_world_save(world, &middle, &bytes));
                CHECK_OK(rp_world_restore(fresh, middle, bytes));
                rp_state_free(middle);
                rp_world_destroy(world);
                world = fresh;
            }
        }
        CHECK_OK(rp_world_save(world, &end[i], &size[i]));
        rp_world_destroy(world);
    }
    for (int i = 1; i < 4; i++) {
        check_context("run %d", i);
        CHECK(size[0] == size[i] && memcmp(end[0], end[i], size[0]) == 0);
        rp_state_free(end[i]);
    }
    rp_state_free(end[0]);
    rp_shape_release(shape);
}

// Catches a place that nobody sets: of a vertex that no triangle has, as files often have them.
static void vertices_of_no_triangle_are_in_nobodys_way(void)
{
    solid s = make_solid(false);
    double two[2][LATTICE][3], lower[3], upper[3];
    for (int a = 0; a < 3; a++) {
        s.vertex[13][a] = 50.0; // the middle of the cube
    }
    memcpy(two[0], s.vertex, sizeof s.vertex);
    memcpy(two[1], s.vertex, sizeof s.vertex);
    for (int sheet = 0; sheet < 2; sheet++) {
        rp_sequence_def def = def_of(&s, &two[0][0][0], 2);
        def.thickness = sheet ? 0.1 : 0.0;
        rp_shape *shape;
        CHECK_OK(rp_shape_sequence(&def, &shape));
        CHECK(rp_shape_bounds(shape, 3, lower, upper));
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(lower[a], -1.0 - 0.5 * def.thickness, 1e-9);
            CHECK_NEAR(upper[a], 1.0 + 0.5 * def.thickness, 1e-9);
        }
        rp_shape_release(shape);
    }
}

static void nothing_rides_on_what_deforms(void)
{
    const double half[3] = {0.2, 0.03, 0.2}, low[3] = {-0.08, 0.0, -0.04},
                 high[3] = {0.08, 0.06, 0.04};
    const scenery y = {.contact = RP_STICKY, .threads = 1};
    rp_shape *shape, *ball;
    CHECK_OK(make_sequence(half, swing, 4, 24.0, true, &shape));
    CHECK_OK(rp_shape_sphere(low, 0.1, &ball));
    rp_world *world = make_world(&y, shape, STANDS, rp_default_sand_def(), low, high);
    rp_collider_def def = rp_default_collider_def();
    def.shape = ball;
    def.parent = 0;
    CHECK_ERROR(rp_world_add_collider(world, &def), RP_ERR_ARGUMENT, "which deforms");
    rp_world_destroy(world);
    rp_shape_release(shape);
    rp_shape_release(ball);
}

// ---- bad input ----

static void write_text(const char *folder, const char *name, const char *text, char path[300])
{
    snprintf(path, 300, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    fputs(text, f);
    fclose(f);
}

#define TETRA "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
#define FACES "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

// Neither a cut nor what is open of it.
static void refuse_to_cut_by(const rp_shape *shape)
{
    const double lower[3] = {-1, -1, -1}, upper[3] = {1, 1, 1};
    rp_shape *box;
    rp_cut *cut;
    rp_world *world;
    CHECK_OK(rp_shape_box(lower, upper, &box));
    rp_cut_def def = rp_default_cut_def();
    def.shape = (const rp_shape *const *)&box;
    def.shapes = 1;
    def.spacing = 0.1;
    def.kind = RP_CUT_SHAPE;
    def.cutter = shape;
    CHECK_ERROR(rp_cut_create(&def, &cut), RP_ERR_ARGUMENT, "cut.cutter: want one that stays");
    def.kind = RP_CUT_PLANES;
    CHECK_OK(rp_cut_create(&def, &cut));
    rp_world_def about = rp_default_world_def();
    about.dx = 0.2;
    about.contact = true;
    about.fields = 2;
    CHECK_OK(rp_world_create(&about, &world));
    rp_glue_def glue = rp_default_glue_def();
    glue.cut = cut;
    glue.strength[0] = glue.strength[1] = 1e3;
    glue.open = shape;
    CHECK_ERROR(rp_world_add_glue(world, &glue, NULL), RP_ERR_ARGUMENT,
                "glue.open: want one that stays");
    rp_world_destroy(world);
    rp_cut_destroy(cut);
    rp_shape_release(box);
}

static void mistakes_are_named_with_their_file(void)
{
    static const struct {
        const char *text, *says;
        double thickness;
    } files[] = {
        {TETRA FACES "v 5 5 5\n", "b.obj: want 4 vertices and 4 triangles, as in", 0.0},
        {TETRA "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 3 4 2\n",
         "b.obj: triangle 3 joins vertices 2, 3 and 1", 0.0},
        {"v nan 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n" FACES, "b.obj: vertex 0 is not finite", 0.0},
        {"v 0 0 0\nv -1 0 0\nv 0 1 0\nv 0 0 1\n" FACES, "b.obj: the surface is inside out", 0.0},
        {"v 0 0 0\nv 1 0 0\nv 1 0 0\nv 0 0 1\n" FACES, "b.obj: triangle 0, at", 0.1},
        {"nothing", "b.obj: there is no triangle in it", 0.0},
    };
    char folder[] = "/tmp/repose-sequence-XXXXXX", path[2][300], missing[300];
    CHECK(mkdtemp(folder) != NULL);
    CHECK_HELPER(write_text(folder, "a.obj", TETRA FACES, path[0]));
    rp_sequence_def def = rp_default_sequence_def();
    const char *both[2] = {path[0], path[1]};
    rp_shape *shape;
    def.file = both;
    def.count = 2;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        CHECK_HELPER(write_text(folder, "b.obj", files[i].text, path[1]));
        def.thickness = files[i].thickness;
        check_context("file %zu", i);
        rp_result result = rp_shape_sequence(&def, &shape);
        CHECK(result == RP_ERR_ARGUMENT || result == RP_ERR_FILE);
        CHECK_ERROR(result, result, files[i].says);
        CHECK(shape == NULL);
    }
    snprintf(missing, sizeof missing, "%s/c.obj", folder);
    both[1] = missing;
    CHECK_ERROR(rp_shape_sequence(&def, &shape), RP_ERR_FILE, "c.obj");
    def.thickness = 0.0;
    both[1] = path[0];
    rp_sequence_def wrong = def;
    wrong.fps = 0.0;
    CHECK_ERROR(rp_shape_sequence(&wrong, &shape), RP_ERR_ARGUMENT, "mesh_sequence.fps");
    wrong = def;
    wrong.count = 0;
    CHECK_ERROR(rp_shape_sequence(&wrong, &shape), RP_ERR_ARGUMENT, "mesh_sequence.count");
    wrong = def;
    wrong.start = NAN;
    CHECK_ERROR(rp_shape_sequence(&wrong, &shape), RP_ERR_ARGUMENT, "mesh_sequence.start");
    wrong = def;
    wrong.thickness = -1.0;
    CHECK_ERROR(rp_shape_sequence(&wrong, &shape), RP_ERR_ARGUMENT, "mesh_sequence.thickness");
    // an open one has no inside, but may be a sheet
    CHECK_HELPER(write_text(folder, "a.obj", TETRA "f 1 3 2\nf 1 2 4\n", path[0]));
    CHECK_ERROR(rp_shape_sequence(&def, &shape), RP_ERR_ARGUMENT, "a.obj");
    def.thickness = 0.2;
    CHECK_OK(rp_shape_sequence(&def, &shape));
    const double beside[3] = {0.2, 0.2, -0.5};
    CHECK_NEAR(rp_shape_distance(shape, beside, NULL), 0.4, 1e-12);
    // and nothing but a collider can deform
    rp_shape *made;
    CHECK_ERROR(rp_shape_union(&shape, 1, &made), RP_ERR_ARGUMENT, "union: want one that stays");
    CHECK_HELPER(refuse_to_cut_by(shape));
    rp_shape_release(shape);
    unlink(path[0]);
    unlink(path[1]);
    rmdir(folder);
}

TEST_MAIN(TEST(distances_are_exact_and_on_the_right_side),
          TEST(slivers_do_not_turn_the_side_of_a_tip),
          TEST(vertices_go_straight_on_from_file_to_file),
          TEST(a_plate_that_travels_is_the_same_as_one_that_is_moved),
          TEST(a_box_that_breathes_does_the_work_p_dv),
          TEST(a_plate_that_shears_drags_sand_by_its_vertices),
          TEST(sand_on_it_goes_on_bit_for_bit), TEST(vertices_of_no_triangle_are_in_nobodys_way),
          TEST(nothing_rides_on_what_deforms), TEST(mistakes_are_named_with_their_file))
