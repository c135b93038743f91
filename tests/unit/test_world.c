// Tests src/sim (world.c, fill.c, step.c, observe.c) through the public interface; looks inside
// where a promise ("the world is exactly as it was") cannot be seen from outside.
#include "repose/world.h"
#include "sim/world.h"

#include "check.h"
#include "random.h"
#include "test_set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const double not_finite[] = {NAN, INFINITY, -INFINITY};

// ---- a small world ----

static rp_world_def small_def(int dim)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = dim;
    def.dx = 0.1;
    def.threads = 1;
    return def;
}

// A world with sand and one box of it; the box is not born yet.
static rp_world *small_world(int dim, rp_precision precision)
{
    rp_world_def def = small_def(dim);
    def.precision = precision;
    rp_world *world = NULL;
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    for (int a = 0; a < 3; a++) {
        box.upper[a] = 0.3;
    }
    if (rp_world_create(&def, &world) != RP_OK ||
        rp_world_add_material(world, &sand, &box.material) != RP_OK ||
        rp_world_add_box(world, &box, NULL) != RP_OK) {
        check_record(__FILE__, __LINE__, "no small world: %s", rp_last_error());
        abort();
    }
    return world;
}

static rp_stats stats_of(const rp_world *world)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    return stats;
}

// Everything a refused call may not have touched.
typedef struct picture {
    void *state;
    size_t size;
    int materials, colliders, groups, columns;
    double stiffness, lightest, newborn_speed, newborn_gradient;
} picture;

static picture take_picture(const rp_world *world)
{
    picture p = {.materials = world->materials,
                 .colliders = world->colliders,
                 .groups = world->species_count > 0 ? world->set[0].groups : 0,
                 .stiffness = world->species_count > 0 ? world->species[0].stiffness : 0.0,
                 .lightest = world->species_count > 0 ? world->species[0].lightest : 0.0,
                 .newborn_speed = world->newborn_speed,
                 .newborn_gradient = world->newborn_gradient};
    for (int c = 0; c < RP_COL_COUNT; c++) {
        p.columns += rp_world_column_comps(world, c);
    }
    if (rp_world_save(world, &p.state, &p.size) != RP_OK) {
        check_record(__FILE__, __LINE__, "no picture: %s", rp_last_error());
    }
    return p;
}

static void check_picture(const rp_world *world, picture *before)
{
    picture now = take_picture(world);
    const bool same = now.materials == before->materials && now.colliders == before->colliders &&
                      now.groups == before->groups && now.columns == before->columns &&
                      now.stiffness == before->stiffness && now.lightest == before->lightest &&
                      now.newborn_speed == before->newborn_speed &&
                      now.newborn_gradient == before->newborn_gradient &&
                      now.size == before->size && memcmp(now.state, before->state, now.size) == 0;
    rp_state_free(now.state);
    rp_state_free(before->state);
    CHECK(same);
}

// ---- wrong input ----

static void refuse_world(const rp_world_def *def, const char *field)
{
    rp_world *world = (rp_world *)(uintptr_t)1;
    check_context("world.%s", field);
    CHECK_ERROR(rp_world_create(def, &world), RP_ERR_ARGUMENT, field);
    CHECK(world == NULL);
}

#define REFUSE_WORLD(member, value, field)                                                         \
    do {                                                                                           \
        rp_world_def def_ = small_def(3);                                                          \
        def_.member = (value);                                                                     \
        CHECK_HELPER(refuse_world(&def_, field));                                                  \
    } while (0)

// Catches a field that is used without a look at it.
static void a_world_def_with_a_wrong_number_is_refused_by_name(void)
{
    REFUSE_WORLD(dimension, 0, "world.dimension");
    REFUSE_WORLD(dimension, 1, "world.dimension");
    REFUSE_WORLD(dimension, 4, "world.dimension");
    REFUSE_WORLD(precision, (rp_precision)7, "world.precision");
    REFUSE_WORLD(precision, (rp_precision)-1, "world.precision");
    REFUSE_WORLD(order, 0, "world.order");
    REFUSE_WORLD(order, 4, "world.order");
    REFUSE_WORLD(transfer, (rp_transfer)9, "world.transfer");
    REFUSE_WORLD(flip, -0.1, "world.flip");
    REFUSE_WORLD(flip, 1.1, "world.flip");
    REFUSE_WORLD(fade, -0.1, "world.fade");
    REFUSE_WORLD(dx, 0.0, "world.dx");
    REFUSE_WORLD(dx, -0.1, "world.dx");
    REFUSE_WORLD(fps, 0.0, "world.fps");
    REFUSE_WORLD(fps, -24.0, "world.fps");
    REFUSE_WORLD(cfl, 0.0, "world.cfl");
    REFUSE_WORLD(cfl, -1.0, "world.cfl");
    REFUSE_WORLD(cfl, 1.01, "world.cfl");
    REFUSE_WORLD(dt_max, 0.0, "world.dt_max");
    REFUSE_WORLD(dt_max, -1.0, "world.dt_max");
    REFUSE_WORLD(dt_max, NAN, "world.dt_max");
    REFUSE_WORLD(fields, 0, "world.fields");
    REFUSE_WORLD(fields, -1, "world.fields");
    REFUSE_WORLD(fields, 65536, "world.fields");
    REFUSE_WORLD(threads, -1, "world.threads");
    REFUSE_WORLD(threads, 1000000, "world.threads");
    REFUSE_WORLD(period[0], -8, "world.period[0]");
    REFUSE_WORLD(period[1], 12, "world.period[1]");
    REFUSE_WORLD(period[2], 6, "world.period[2]");
    REFUSE_WORLD(isa, "sse9", "world.isa");
    REFUSE_WORLD(cookie, 0, "rp_default_world_def");
    for (size_t i = 0; i < COUNT_OF(not_finite); i++) {
        REFUSE_WORLD(flip, not_finite[i], "world.flip");
        REFUSE_WORLD(fade, not_finite[i], "world.fade");
        REFUSE_WORLD(dx, not_finite[i], "world.dx");
        REFUSE_WORLD(fps, not_finite[i], "world.fps");
        REFUSE_WORLD(cfl, not_finite[i], "world.cfl");
        REFUSE_WORLD(gravity[0], not_finite[i], "world.gravity[0]");
        REFUSE_WORLD(gravity[1], not_finite[i], "world.gravity[1]");
        REFUSE_WORLD(gravity[2], not_finite[i], "world.gravity[2]");
    }
    const rp_world_def zeros = {0};
    CHECK_HELPER(refuse_world(&zeros, "rp_default_world_def"));
}

// Catches a check of an axis that a 2D world does not have.
static void a_flat_world_ignores_the_third_axis(void)
{
    rp_world_def def = small_def(2);
    def.gravity[2] = NAN;
    def.period[2] = 3;
    rp_world *world;
    CHECK_OK(rp_world_create(&def, &world));
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = rp_default_box_def();
    CHECK_OK(rp_world_add_material(world, &sand, &box.material));
    box.upper[0] = box.upper[1] = 0.2;
    box.lower[2] = NAN;
    box.velocity[2] = NAN;
    box.velocity_gradient[2][0] = box.velocity_gradient[0][2] = NAN;
    CHECK_OK(rp_world_add_box(world, &box, NULL));
    rp_plane_def plane = rp_default_plane_def();
    plane.point[2] = NAN;
    plane.normal[2] = NAN;
    CHECK_OK(rp_world_add_plane(world, &plane));
    rp_points_def points = rp_default_points_def();
    const double place[3] = {1.0, 1.0, NAN}, gradient[9] = {0, 0, NAN, 0, 0, NAN, NAN, NAN, NAN};
    points.count = 1;
    points.position = points.velocity = place;
    points.gradient = gradient;
    points.volume = 1e-3;
    CHECK_OK(rp_world_add_points(world, &points, NULL));
    for (int i = 0; i < 5; i++) {
        CHECK_OK(rp_world_step(world));
    }
    rp_totals totals;
    rp_world_totals(world, &totals);
    CHECK(isfinite(totals.momentum[0]) && isfinite(totals.angular[2]) && isfinite(totals.kinetic));
    rp_world_destroy(world);
}

static void refuse_material(const rp_material_def *def, const char *field)
{
    rp_world *world = small_world(3, RP_SINGLE);
    rp_material material;
    picture before = take_picture(world);
    check_context("material.%s", field);
    CHECK_ERROR(rp_world_add_material(world, def, &material), RP_ERR_ARGUMENT, field);
    CHECK_HELPER(check_picture(world, &before));
    rp_world_destroy(world);
}

#define REFUSE_SAND(member, value, field)                                                          \
    do {                                                                                           \
        rp_material_def def_ = rp_default_sand_def();                                              \
        def_.member = (value);                                                                     \
        CHECK_HELPER(refuse_material(&def_, field));                                               \
    } while (0)
#define REFUSE_HARDENING(member, value, field)                                                     \
    do {                                                                                           \
        rp_material_def def_ = rp_default_sand_def();                                              \
        def_.hardening = true;                                                                     \
        def_.member = (value);                                                                     \
        CHECK_HELPER(refuse_material(&def_, field));                                               \
    } while (0)

// Catches a material that makes NaN of every particle, or a column that stays after a refusal.
static void a_material_with_a_wrong_number_is_refused_by_name(void)
{
    REFUSE_SAND(kind, (rp_material_kind)99, "kind");
    REFUSE_SAND(density, 0.0, "density");
    REFUSE_SAND(density, -1.0, "density");
    REFUSE_SAND(young, 0.0, "young");
    REFUSE_SAND(young, -1.0, "young");
    REFUSE_SAND(poisson, 0.5, "poisson");
    REFUSE_SAND(poisson, -1.0, "poisson");
    REFUSE_SAND(friction_angle, -0.1, "friction_angle");
    REFUSE_SAND(friction_angle, 1.6, "friction_angle");
    REFUSE_SAND(yield_fit, (rp_yield_fit)17, "yield_fit");
    REFUSE_SAND(yield_fit, (rp_yield_fit)-1, "yield_fit");
    REFUSE_SAND(cohesion, -1.0, "cohesion");
    REFUSE_SAND(cookie, 0, "rp_default_sand_def");
    REFUSE_HARDENING(friction_coefficient, 0.5, "friction_coefficient");
    REFUSE_HARDENING(hardening_h[2], 0.0, "hardening.h2");
    REFUSE_HARDENING(hardening_h[0], -1.0, "sand.hardening");
    REFUSE_HARDENING(hardening_h[0], 3.0, "sand.hardening");
    for (size_t i = 0; i < COUNT_OF(not_finite); i++) {
        REFUSE_SAND(density, not_finite[i], "density");
        REFUSE_SAND(young, not_finite[i], "young");
        REFUSE_SAND(poisson, not_finite[i], "poisson");
        REFUSE_SAND(friction_angle, not_finite[i], "friction_angle");
        REFUSE_SAND(friction_coefficient, not_finite[i], "friction_coefficient");
        REFUSE_SAND(cohesion, not_finite[i], "cohesion");
        REFUSE_HARDENING(hardening_h[0], not_finite[i], "hardening.h0");
        REFUSE_HARDENING(hardening_h[1], not_finite[i], "hardening.h1");
        REFUSE_HARDENING(hardening_h[2], not_finite[i], "hardening.h2");
        REFUSE_HARDENING(hardening_h[3], not_finite[i], "hardening.h3");
    }
    rp_material_def elastic = rp_default_elastic_def();
    elastic.young = NAN;
    CHECK_HELPER(refuse_material(&elastic, "elastic.young"));
}

static void refuse_box(const rp_box_def *def, const char *field)
{
    rp_world *world = small_world(3, RP_SINGLE);
    int64_t added = -5;
    picture before = take_picture(world);
    check_context("%s", field);
    CHECK_ERROR(rp_world_add_box(world, def, &added), RP_ERR_ARGUMENT, field);
    CHECK_EQUAL(added, -5);
    CHECK_HELPER(check_picture(world, &before));
    rp_world_destroy(world);
}

static rp_box_def good_box(void)
{
    rp_box_def def = rp_default_box_def();
    for (int a = 0; a < 3; a++) {
        def.lower[a] = 1.0;
        def.upper[a] = 1.2;
    }
    return def;
}

#define REFUSE_BOX(member, value, field)                                                           \
    do {                                                                                           \
        rp_box_def def_ = good_box();                                                              \
        def_.member = (value);                                                                     \
        CHECK_HELPER(refuse_box(&def_, field));                                                    \
    } while (0)

// Catches a box of NaN, of nothing, or of a material that does not exist.
static void a_box_with_a_wrong_number_is_refused_by_name(void)
{
    REFUSE_BOX(material.index, 1, "box.material");
    REFUSE_BOX(per_axis, 0, "box.per_axis");
    REFUSE_BOX(per_axis, -2, "box.per_axis");
    REFUSE_BOX(per_axis, 17, "box.per_axis");
    REFUSE_BOX(jitter, -0.1, "particles.jitter");
    REFUSE_BOX(jitter, 1.1, "particles.jitter");
    REFUSE_BOX(field, -1, "box.field");
    REFUSE_BOX(field, 1, "box.field");
    REFUSE_BOX(cookie, 0, "rp_default_box_def");
    for (int a = 0; a < 3; a++) {
        char upper[32], lower[32];
        snprintf(upper, sizeof upper, "box.upper[%d]", a);
        snprintf(lower, sizeof lower, "box.lower[%d]", a);
        REFUSE_BOX(upper[a], 1.0, upper);
        REFUSE_BOX(upper[a], 0.5, upper);
        for (size_t i = 0; i < COUNT_OF(not_finite); i++) {
            REFUSE_BOX(upper[a], not_finite[i], upper);
            REFUSE_BOX(lower[a], not_finite[i], lower);
            REFUSE_BOX(jitter, not_finite[i], "particles.jitter");
            REFUSE_BOX(velocity[a], not_finite[i], "particles.velocity");
            for (int b = 0; b < 3; b++) {
                REFUSE_BOX(velocity_gradient[a][b], not_finite[i], "particles.velocity_gradient");
            }
        }
    }
}

static void refuse_points(const rp_points_def *def, const char *field)
{
    rp_world *world = small_world(3, RP_SINGLE);
    uint64_t first = 12345;
    picture before = take_picture(world);
    check_context("%s", field);
    CHECK_ERROR(rp_world_add_points(world, def, &first), RP_ERR_ARGUMENT, field);
    CHECK(first == 12345);
    CHECK_HELPER(check_picture(world, &before));
    rp_world_destroy(world);
}

static rp_points_def good_points(const double *position)
{
    rp_points_def def = rp_default_points_def();
    def.count = 2;
    def.position = position;
    def.volume = 1e-4;
    return def;
}

#define REFUSE_POINTS(member, value, field)                                                        \
    do {                                                                                           \
        rp_points_def def_ = good_points(place);                                                   \
        def_.member = (value);                                                                     \
        CHECK_HELPER(refuse_points(&def_, field));                                                 \
    } while (0)

// Catches a point that is accepted with a number that only the grid will notice.
static void points_with_a_wrong_number_are_refused_by_name(void)
{
    const double place[6] = {1.0, 1.0, 1.0, 1.1, 1.1, 1.1};
    REFUSE_POINTS(material.index, 1, "points.material");
    REFUSE_POINTS(count, -1, "points.count");
    REFUSE_POINTS(count, INT64_MAX, "points.count");
    REFUSE_POINTS(position, NULL, "points.position");
    REFUSE_POINTS(volume, 0.0, "points.volume");
    REFUSE_POINTS(volume, -1.0, "points.volume");
    REFUSE_POINTS(field, -1, "points.field");
    REFUSE_POINTS(field, 1, "points.field");
    REFUSE_POINTS(cookie, 0, "rp_default_points_def");
    for (size_t i = 0; i < COUNT_OF(not_finite); i++) {
        REFUSE_POINTS(volume, not_finite[i], "points.volume");
        for (int k = 0; k < 6; k++) {
            double spoilt[6];
            memcpy(spoilt, place, sizeof spoilt);
            spoilt[k] = not_finite[i];
            REFUSE_POINTS(position, spoilt, "points.position");
            REFUSE_POINTS(velocity, spoilt, "points.velocity");
        }
        for (int k = 0; k < 18; k++) {
            double gradient[18] = {0};
            gradient[k] = not_finite[i];
            REFUSE_POINTS(gradient, gradient, "points.gradient");
        }
    }
}

static void refuse_plane(const rp_plane_def *def, const char *field)
{
    rp_world *world = small_world(3, RP_SINGLE);
    picture before = take_picture(world);
    check_context("%s", field);
    CHECK_ERROR(rp_world_add_plane(world, def), RP_ERR_ARGUMENT, field);
    CHECK_HELPER(check_picture(world, &before));
    rp_world_destroy(world);
}

#define REFUSE_PLANE(member, value, field)                                                         \
    do {                                                                                           \
        rp_plane_def def_ = rp_default_plane_def();                                                \
        def_.member = (value);                                                                     \
        CHECK_HELPER(refuse_plane(&def_, field));                                                  \
    } while (0)

// Catches a wall without a side, or one that pulls.
static void a_plane_with_a_wrong_number_is_refused_by_name(void)
{
    REFUSE_PLANE(normal[1], 0.0, "half_space.normal");
    REFUSE_PLANE(contact, (rp_contact)7, "collider.contact");
    REFUSE_PLANE(contact, (rp_contact)-1, "collider.contact");
    REFUSE_PLANE(friction, -0.1, "collider.friction");
    REFUSE_PLANE(cookie, 0, "rp_default_plane_def");
    for (size_t i = 0; i < COUNT_OF(not_finite); i++) {
        REFUSE_PLANE(friction, not_finite[i], "collider.friction");
        for (int a = 0; a < 3; a++) {
            REFUSE_PLANE(point[a], not_finite[i], "half_space.point");
            REFUSE_PLANE(normal[a], not_finite[i], "half_space.normal");
        }
    }
}

// Catches walls of which some stay after the others were refused.
static void walls_are_all_or_nothing(void)
{
    rp_world *world = small_world(3, RP_SINGLE);
    const double lower[3] = {0.0, 0.0, 0.0}, upper[3] = {1.0, 1.0, 1.0};
    const double swapped[3] = {1.0, 1.0, -1.0}, holey[3] = {1.0, NAN, 1.0};
    picture before = take_picture(world);
    CHECK_ERROR(rp_world_add_walls(world, lower, swapped, RP_SLIP, 0.0), RP_ERR_ARGUMENT,
                "walls.upper[2]");
    CHECK_ERROR(rp_world_add_walls(world, lower, holey, RP_SLIP, 0.0), RP_ERR_ARGUMENT,
                "walls.upper[1]");
    CHECK_ERROR(rp_world_add_walls(world, holey, upper, RP_SLIP, 0.0), RP_ERR_ARGUMENT,
                "walls.lower[0]");
    CHECK_ERROR(rp_world_add_walls(world, lower, upper, (rp_contact)5, 0.0), RP_ERR_ARGUMENT,
                "contact");
    CHECK_ERROR(rp_world_add_walls(world, lower, upper, RP_SLIP, NAN), RP_ERR_ARGUMENT, "friction");
    CHECK_HELPER(check_picture(world, &before));

    // the last places go to planes, and the sixth wall finds none
    const rp_plane_def plane = rp_default_plane_def();
    for (int i = 0; i < RP_COLLIDER_LIMIT - 5; i++) {
        CHECK_OK(rp_world_add_plane(world, &plane));
    }
    CHECK_ERROR(rp_world_add_walls(world, lower, upper, RP_SLIP, 0.0), RP_ERR_LIMIT, "colliders");
    CHECK_EQUAL(world->colliders, RP_COLLIDER_LIMIT - 5);
    for (int i = 0; i < 5; i++) {
        CHECK_OK(rp_world_add_plane(world, &plane));
    }
    CHECK_ERROR(rp_world_add_plane(world, &plane), RP_ERR_LIMIT, "colliders");
    rp_world_destroy(world);
}

// Catches a table that is written past its end.
static void materials_have_a_limit(void)
{
    rp_world *world = small_world(2, RP_SINGLE);
    const rp_material_def def = rp_default_elastic_def();
    rp_material material;
    for (int i = 1; i < RP_MATERIAL_LIMIT; i++) {
        CHECK_OK(rp_world_add_material(world, &def, &material));
        CHECK_EQUAL(material.index, i);
    }
    CHECK_ERROR(rp_world_add_material(world, &def, &material), RP_ERR_LIMIT, "materials");
    rp_world_destroy(world);
}

// Catches a count that overflows before it is compared.
static void a_box_of_too_many_particles_is_refused(void)
{
    rp_world *world = small_world(3, RP_SINGLE);
    rp_box_def box = good_box();
    for (int a = 0; a < 3; a++) {
        box.upper[a] = 1000.0;
    }
    picture before = take_picture(world);
    CHECK_ERROR(rp_world_add_box(world, &box, NULL), RP_ERR_LIMIT, "particles");
    CHECK_HELPER(check_picture(world, &before));
    box.upper[0] = 1e300;
    before = take_picture(world);
    CHECK_ERROR(rp_world_add_box(world, &box, NULL), RP_ERR_LIMIT, "particles");
    CHECK_HELPER(check_picture(world, &before));
    rp_world_destroy(world);
}

// Catches a particle that nobody can place: it must be refused when it is added, for a step that
// refuses it can never be taken again.
static void particles_beyond_the_addressable_space_are_refused_when_added(void)
{
    rp_world *world = small_world(3, RP_SINGLE);
    const double place[6] = {1.0, 1.0, 1.0, 1.0, 1e9, 1.0};
    rp_points_def points = good_points(place);
    picture before = take_picture(world);
    CHECK_ERROR(rp_world_add_points(world, &points, NULL), RP_ERR_LIMIT, "addressable");
    CHECK_HELPER(check_picture(world, &before));
    rp_box_def box = good_box();
    box.lower[0] = 1e9;
    box.upper[0] = 1e9 + 0.5;
    before = take_picture(world);
    CHECK_ERROR(rp_world_add_box(world, &box, NULL), RP_ERR_LIMIT, "addressable");
    CHECK_HELPER(check_picture(world, &before));
    CHECK_OK(rp_world_step(world));
    rp_world_destroy(world);
}

// ---- filling ----

// Catches a mass that depends on how the particles fall into the box, and one outside of it.
static void a_box_has_its_exact_mass_and_keeps_inside_its_sides(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int per_axis = 1; per_axis <= 3; per_axis++) {
            rp_world_def def = small_def(dim);
            def.precision = RP_DOUBLE;
            rp_world *world;
            CHECK_OK(rp_world_create(&def, &world));
            rp_material_def sand = rp_default_sand_def();
            rp_box_def box = rp_default_box_def();
            CHECK_OK(rp_world_add_material(world, &sand, &box.material));
            const double lower[3] = {-0.31, 0.17, -0.05}, upper[3] = {0.44, 0.63, 0.29};
            memcpy(box.lower, lower, sizeof lower);
            memcpy(box.upper, upper, sizeof upper);
            box.per_axis = per_axis;
            box.jitter = 1.0;
            for (int a = 0; a < 3; a++) {
                box.velocity[a] = 0.25 * (a + 1);
                for (int b = 0; b < 3; b++) {
                    box.velocity_gradient[a][b] = 0.5 * a - 0.375 * b + 0.125;
                }
            }
            int64_t added = 0;
            CHECK_OK(rp_world_add_box(world, &box, &added));
            double volume = 1.0, want = 1.0;
            for (int a = 0; a < dim; a++) {
                volume *= upper[a] - lower[a];
                want *= round((upper[a] - lower[a]) / 0.1 * per_axis);
            }
            check_context("%dD, %d per axis", dim, per_axis);
            CHECK_EQUAL(added, want);
            CHECK_EQUAL(stats_of(world).particles, added);
            rp_totals totals;
            rp_world_totals(world, &totals);
            CHECK_NEAR(totals.mass, 2200.0 * volume, 1e-13 * 2200.0 * volume);

            double *x = malloc(sizeof *x * (size_t)(added * dim));
            double *v = malloc(sizeof *v * (size_t)(added * dim));
            double *C = malloc(sizeof *C * (size_t)(added * dim * dim));
            CHECK_OK(rp_world_read(world, RP_COL_POSITION, x));
            CHECK_OK(rp_world_read(world, RP_COL_VELOCITY, v));
            CHECK_OK(rp_world_read(world, RP_COL_AFFINE, C));
            for (int64_t i = 0; i < added; i++) {
                for (int a = 0; a < dim; a++) {
                    CHECK(x[i * dim + a] >= lower[a] && x[i * dim + a] <= upper[a]);
                    double speed = box.velocity[a];
                    for (int b = 0; b < dim; b++) {
                        speed += box.velocity_gradient[a][b] * x[i * dim + b];
                        CHECK(C[(i * dim + a) * dim + b] == box.velocity_gradient[a][b]);
                    }
                    CHECK_NEAR(v[i * dim + a], speed, 1e-15);
                }
            }
            free(x);
            free(v);
            free(C);
            rp_world_destroy(world);
        }
    }
}

// Catches ids that start again, or are given twice.
static void ids_are_counted_on_and_never_reused(void)
{
    rp_world *world = small_world(2, RP_SINGLE);
    const int64_t box = stats_of(world).particles;
    const double place[6] = {1.0, 1.0, 0.0, 1.5, 1.0, 0.0};
    rp_points_def points = good_points(place);
    uint64_t first = 0;
    CHECK_OK(rp_world_add_points(world, &points, &first));
    CHECK_EQUAL(first, box);
    CHECK_OK(rp_world_step(world));
    int64_t removed = 0;
    const uint64_t both[2] = {first, first + 1};
    CHECK_OK(rp_world_remove(world, both, 2, &removed));
    CHECK_EQUAL(removed, 2);
    CHECK_OK(rp_world_step(world));
    CHECK_OK(rp_world_add_points(world, &points, &first));
    CHECK_EQUAL(first, box + 2);
    CHECK_EQUAL(stats_of(world).born, box + 4);
    CHECK_EQUAL(stats_of(world).removed, 2);
    CHECK_EQUAL(stats_of(world).particles, box + 2);
    rp_world_destroy(world);
}

static bool has_id(const rp_world *world, uint64_t id)
{
    const int64_t n = stats_of(world).particles;
    double *ids = malloc(sizeof *ids * (size_t)(n + 1));
    bool found = false;
    if (rp_world_read(world, RP_COL_ID, ids) == RP_OK) {
        for (int64_t i = 0; i < n; i++) {
            found = found || ids[i] == (double)id;
        }
    }
    free(ids);
    return found;
}

// Catches a particle that is counted twice, and one that is still seen after it was removed.
static void removed_particles_are_gone_at_once_for_those_who_look(void)
{
    rp_world *world = small_world(2, RP_SINGLE);
    CHECK_OK(rp_world_step(world));
    const int64_t before = stats_of(world).particles;
    const uint64_t ids[] = {3, 7, 3, 1000000, 11};
    int64_t removed = -1;
    CHECK_OK(rp_world_remove(world, ids, 5, &removed));
    CHECK_EQUAL(removed, 3);
    CHECK_EQUAL(stats_of(world).particles, before - 3);
    CHECK_EQUAL(stats_of(world).removed, 3);
    CHECK(!has_id(world, 3) && !has_id(world, 7) && !has_id(world, 11) && has_id(world, 4));
    CHECK_OK(rp_world_remove(world, ids, 5, &removed)); // again
    CHECK_EQUAL(removed, 0);
    CHECK_OK(rp_world_remove(world, NULL, 0, &removed));
    CHECK_EQUAL(removed, 0);
    CHECK_OK(rp_world_remove(world, ids, 5, NULL));
    CHECK_OK(rp_world_step(world));
    CHECK_EQUAL(stats_of(world).particles, before - 3);
    CHECK(!has_id(world, 3) && has_id(world, 4));
    rp_world_destroy(world);
}

// Catches a particle that cannot be removed before its first step, though it can be read.
static void a_particle_can_be_removed_before_its_first_step(void)
{
    rp_world *world = small_world(2, RP_SINGLE);
    const int64_t before = stats_of(world).particles;
    CHECK(has_id(world, 3));
    const uint64_t id = 3;
    int64_t removed = -1;
    CHECK_OK(rp_world_remove(world, &id, 1, &removed));
    CHECK_EQUAL(removed, 1);
    CHECK_EQUAL(stats_of(world).particles, before - 1);
    CHECK(!has_id(world, 3));
    CHECK_OK(rp_world_step(world));
    CHECK_EQUAL(stats_of(world).particles, before - 1);
    CHECK(!has_id(world, 3) && has_id(world, 2) && has_id(world, 4));
    rp_world_destroy(world);
}

// Catches a wall with its back to the room, or one too many in 2D.
static void walls_are_the_inside_of_a_box(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        rp_world *world = small_world(dim, RP_SINGLE);
        const double lower[3] = {-1.0, -2.0, -3.0}, upper[3] = {1.5, 2.5, 3.5};
        CHECK_OK(rp_world_add_walls(world, lower, upper, RP_SEPARATE, 0.25));
        CHECK_EQUAL(world->colliders, 2 * dim);
        for (int p = 0; p < world->colliders; p++) {
            const rp_collider *wall = &world->collider[p];
            CHECK_EQUAL(wall->contact, RP_SEPARATE);
            CHECK(wall->friction == 0.25);
            // from the middle, each wall is as far as its side
            const int axis = p / 2;
            const double middle[3] = {0};
            double normal[3];
            const double inside = rp_shape_distance(wall->shape, middle, normal);
            CHECK_NEAR(normal[axis], p % 2 == 0 ? 1.0 : -1.0, 0.0);
            CHECK_NEAR(inside, p % 2 == 0 ? -lower[axis] : upper[axis], 0.0);
        }
        rp_world_destroy(world);
    }
}

// Catches a wall that lets sand through: a spray in every direction stays in its box.
static void nothing_leaves_a_closed_box(void)
{
    static const rp_contact contacts[] = {RP_STICKY, RP_SLIP, RP_SEPARATE};
    for (int dim = 2; dim <= 3; dim++) {
        for (int k = 0; k < 3; k++) {
            rp_world *world = small_world(dim, RP_SINGLE);
            const double lower[3] = {-0.3, -0.3, -0.3}, upper[3] = {0.6, 0.6, 0.6};
            CHECK_OK(rp_world_add_walls(world, lower, upper, contacts[k], 0.3));
            enum { GRAINS = 50 };
            double x[GRAINS][3], v[GRAINS][3];
            uint64_t random = 5;
            for (int i = 0; i < GRAINS; i++) {
                test_direction(&random, v[i]);
                for (int a = 0; a < 3; a++) {
                    x[i][a] = test_between(&random, -0.1, 0.4);
                    v[i][a] *= 5.0;
                }
            }
            rp_points_def points = good_points(&x[0][0]);
            points.count = GRAINS;
            points.velocity = &v[0][0];
            CHECK_OK(rp_world_add_points(world, &points, NULL));
            for (int frame = 0; frame < 10; frame++) {
                CHECK_OK(rp_world_run_frame(world));
            }
            const int64_t n = stats_of(world).particles;
            double *now = malloc(sizeof *now * (size_t)(n * dim));
            CHECK_OK(rp_world_read(world, RP_COL_POSITION, now));
            for (int64_t i = 0; i < n * dim; i++) {
                // walls act on nodes: a particle may come as near as half a cell, never through by
                // a cell
                check_context("%dD, contact %d, particle %lld", dim, k, (long long)(i / dim));
                CHECK(now[i] > -0.4 && now[i] < 0.7);
            }
            free(now);
            rp_world_destroy(world);
        }
    }
}

// ---- time ----

// Catches time that is added up: after any number of frames it is frame / fps to the last bit.
static void frames_end_exactly_on_time(void)
{
    static const double fps[] = {24.0, 29.97, 7.0, 1.0 / 3.0, 59.94, 1000.0 / 3.0, 0.1, 48.000001};
    static const double parts[] = {0.1, 0.35, 1.0 / 3.0, 0.999999, 1.0, 1.000001, 7.0};
    for (size_t i = 0; i < COUNT_OF(fps); i++) {
        for (size_t k = 0; k < COUNT_OF(parts); k++) {
            rp_world_def def = small_def(2);
            def.fps = fps[i];
            def.dt_max = parts[k] / fps[i];
            def.gravity[1] = 0.0;
            rp_world *world;
            CHECK_OK(rp_world_create(&def, &world));
            check_context("%g fps, dt_max %g of a frame", fps[i], parts[k]);
            for (int64_t frame = 1; frame <= 40; frame++) {
                const int64_t before = stats_of(world).step;
                CHECK_OK(rp_world_run_frame(world));
                const rp_stats s = stats_of(world);
                CHECK_EQUAL(s.frame, frame);
                CHECK(s.time == (double)frame / fps[i]);
                // as few equal steps as dt_max allows; a part of 1/3 may need one more for rounding
                const int64_t steps = s.step - before, least = (int64_t)ceil(1.0 / parts[k] - 1e-9);
                CHECK(steps >= least && steps <= least + 1);
                CHECK(s.dt <= def.dt_max * (1.0 + 1e-9));
                CHECK_NEAR(s.dt * (double)steps * fps[i], 1.0, 1e-9);
            }
            rp_world_destroy(world);
        }
    }
}

// Catches a step that runs past the frame, or time that does not move by dt.
static void steps_add_up_to_frames(void)
{
    rp_world *world = small_world(2, RP_SINGLE);
    double sum = 0.0;
    int64_t steps = 0;
    while (stats_of(world).frame < 3) {
        const double before = stats_of(world).time;
        CHECK_OK(rp_world_step(world));
        const rp_stats s = stats_of(world);
        CHECK_EQUAL(s.step, ++steps);
        CHECK(s.dt > 0.0);
        CHECK_NEAR(s.time - before, s.dt, 1e-15);
        CHECK(s.time <= ((double)s.frame + 1.0) / 24.0);
        sum += s.dt;
    }
    // one rounding a step
    CHECK_NEAR(sum, 3.0 / 24.0, 1e-16 * (double)steps);
    rp_world_destroy(world);
}

// A particle or a block that one limit should stop first; what the first step was bounded by.
typedef struct limit_case {
    const char *name;
    double young, speed, gradient, dt_max, fps, limit;
} limit_case;

// Catches a limit with a wrong formula or under a wrong name.
static void the_step_names_what_bounded_it(void)
{
    // elastic: docs/theory.md (32), with E = 1e6, nu = 0.3, rho = 2200 in 2D, quadratic
    const double lambda = 1e6 * 0.3 / (1.3 * 0.4), mu = 1e6 / 2.6;
    const double elastic = 2.0 * 0.8 * 0.1 / sqrt(6.0 * (2.0 * lambda + 2.0 * mu) / 2200.0);
    const limit_case cases[] = {
        {"speed", 1.0, 3.0, 0.0, INFINITY, 1.0, 0.7 * 0.1 / 3.0},
        {"gradient", 1.0, 0.01, 40.0, INFINITY, 1.0, 0.3 / 40.0},
        {"elastic", 1e6, 0.01, 0.0, INFINITY, 1.0, elastic},
        {"dt_max", 1.0, 0.01, 0.0, 0.0123, 1.0, 0.0123},
        {"frame", 1.0, 0.01, 0.0, INFINITY, 1000.0, 0.001},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const limit_case *c = &cases[i];
        rp_world_def def = small_def(2);
        def.dt_max = c->dt_max;
        def.fps = c->fps;
        def.cfl = 0.7;
        def.gravity[1] = 0.0;
        rp_world *world;
        CHECK_OK(rp_world_create(&def, &world));
        rp_material_def rubber = rp_default_elastic_def();
        rubber.young = c->young;
        rp_points_def points = rp_default_points_def();
        CHECK_OK(rp_world_add_material(world, &rubber, &points.material));
        const double x[3] = {0.52, 0.57, 0.0}, v[3] = {0.0, -c->speed, 0.0};
        const double gradient[9] = {0.0, c->gradient};
        points.count = 1;
        points.position = x;
        points.velocity = v;
        points.gradient = gradient;
        points.volume = 0.0025;
        CHECK_OK(rp_world_add_points(world, &points, NULL));
        check_context("%s", c->name);
        CHECK(strcmp(stats_of(world).limiter, "none") == 0);
        CHECK_OK(rp_world_step(world));
        const rp_stats s = stats_of(world);
        CHECK(strcmp(s.limiter, c->name) == 0);
        // the frame in as few equal steps as the limit allows
        CHECK_NEAR(s.dt, 1.0 / c->fps / ceil(1.0 / c->fps / c->limit - 1e-9), 1e-12 * s.dt);
        // the second step: the same limit, now from the state and not from the newborn
        CHECK_OK(rp_world_step(world));
        CHECK(strcmp(stats_of(world).limiter, c->name) == 0);
        rp_world_destroy(world);
    }
}

// Catches a maximum over some of the pages, and one that outlives the particle it came from.
static void the_fastest_particle_of_all_bounds_the_step(void)
{
    enum { LONERS = 5 };
    for (int fastest = 0; fastest < LONERS; fastest++) {
        rp_world_def def = small_def(2);
        def.fps = 1.0;
        def.gravity[1] = 0.0;
        rp_world *world;
        CHECK_OK(rp_world_create(&def, &world));
        rp_material_def rubber = rp_default_elastic_def();
        rubber.young = 1.0;
        rp_points_def points = rp_default_points_def();
        CHECK_OK(rp_world_add_material(world, &rubber, &points.material));
        // each in a page of its own; one is fast and shears
        double x[LONERS][3] = {{0}}, v[LONERS][3] = {{0}}, C[LONERS][9] = {{0}};
        for (int i = 0; i < LONERS; i++) {
            x[i][0] = 3.0 * i;
            v[i][0] = i == fastest ? 8.0 : 1.0 + 0.1 * i;
            C[i][1] = i == fastest ? 12.0 : 1.0;
        }
        points.count = LONERS;
        points.position = &x[0][0];
        points.velocity = &v[0][0];
        points.gradient = &C[0][0];
        points.volume = 0.0025;
        CHECK_OK(rp_world_add_points(world, &points, NULL));
        check_context("particle %d is the fastest", fastest);
        for (int i = 0; i < 3; i++) {
            CHECK_OK(rp_world_step(world));
            const rp_stats s = stats_of(world);
            CHECK_EQUAL(s.pages, LONERS);
            CHECK(strcmp(s.limiter, "speed") == 0);
            CHECK(s.dt <= 0.1 / 8.0 * (1.0 + 1e-6) && s.dt > 0.9 * 0.1 / 8.0);
            // a particle on its own keeps its velocity, and its affine motion as gradient
            CHECK_NEAR(s.max_speed, 8.0, 1e-4);
            CHECK(s.max_gradient > 3.0);
        }
        const uint64_t id = (uint64_t)fastest;
        CHECK_OK(rp_world_remove(world, &id, 1, NULL));
        // the first step still goes by what was; after it the fast one is forgotten
        CHECK_OK(rp_world_step(world));
        CHECK_OK(rp_world_step(world));
        CHECK(stats_of(world).max_speed < 1.5);
        CHECK(stats_of(world).dt > 0.03);
        rp_world_destroy(world);
    }
}

typedef struct swing {
    int calls;
    double last;
    double spoil_at; // [s] from here on it gives NaN
} swing;

static rp_result swinging_gravity(void *context, double t, double out[3])
{
    swing *s = context;
    s->calls++;
    s->last = t;
    out[0] = t < s->spoil_at ? 3.0 - 40.0 * t : NAN;
    out[1] = 16.0 * t * t - 1.0;
    out[2] = -2.0;
    return RP_OK;
}

// Catches gravity that is asked for at another time than the start of the step, or not used.
static void gravity_may_change_with_time(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        swing s = {.spoil_at = 1e9};
        rp_world_def def = small_def(dim);
        def.precision = RP_DOUBLE;
        def.gravity_of_time = (rp_vector_of_time){swinging_gravity, &s};
        def.dt_max = 0.003;
        rp_world *world;
        CHECK_OK(rp_world_create(&def, &world));
        rp_material_def sand = rp_default_sand_def();
        rp_points_def points = rp_default_points_def();
        CHECK_OK(rp_world_add_material(world, &sand, &points.material));
        const double x[3] = {0.52, 0.57, 0.51};
        points.count = 1;
        points.position = x;
        points.volume = 0.001;
        CHECK_OK(rp_world_add_points(world, &points, NULL));
        double v[3] = {0};
        for (int i = 1; i <= 100; i++) {
            const double t = stats_of(world).time;
            CHECK_OK(rp_world_step(world));
            CHECK_EQUAL(s.calls, i);
            CHECK(s.last == t);
            const double dt = stats_of(world).dt;
            v[0] += dt * (3.0 - 40.0 * t);
            v[1] += dt * (16.0 * t * t - 1.0);
            v[2] -= dt * 2.0;
        }
        double got[3];
        CHECK_OK(rp_world_read(world, RP_COL_VELOCITY, got));
        for (int a = 0; a < dim; a++) {
            // a step rounds like a dozen sums and products of the velocity, which stays below 2 m/s
            CHECK_NEAR(got[a], v[a], 100 * 12 * 2.0 * 0x1p-53);
        }
        rp_world_destroy(world);
    }
}

// Catches a step that has begun when it finds that gravity is no number.
static void gravity_that_is_no_number_stops_before_the_step(void)
{
    swing s = {.spoil_at = 0.01};
    rp_world_def def = small_def(2);
    def.gravity_of_time = (rp_vector_of_time){swinging_gravity, &s};
    def.dt_max = 0.001;
    rp_world *world;
    CHECK_OK(rp_world_create(&def, &world));
    rp_material_def sand = rp_default_sand_def();
    rp_box_def box = good_box();
    CHECK_OK(rp_world_add_material(world, &sand, &box.material));
    CHECK_OK(rp_world_add_box(world, &box, NULL));
    while (stats_of(world).time < s.spoil_at) {
        CHECK_OK(rp_world_step(world));
    }
    picture before = take_picture(world);
    CHECK_ERROR(rp_world_step(world), RP_ERR_ARGUMENT, "gravity_of_time");
    CHECK_ERROR(rp_world_run_frame(world), RP_ERR_ARGUMENT, "gravity_of_time");
    CHECK_HELPER(check_picture(world, &before));
    s.spoil_at = 1e9;
    CHECK_OK(rp_world_run_frame(world));
    rp_world_destroy(world);
}

// Catches a division by a number of particles, pages or nodes that is zero.
static void an_empty_world_lets_time_pass(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        rp_world_def def = small_def(dim);
        rp_world *world;
        CHECK_OK(rp_world_create(&def, &world));
        CHECK_OK(rp_world_run_frame(world));
        CHECK(strcmp(stats_of(world).limiter, "frame") == 0);
        rp_material_def sand = rp_default_sand_def();
        rp_box_def box = good_box();
        CHECK_OK(rp_world_add_material(world, &sand, &box.material));
        CHECK_OK(rp_world_run_frame(world));
        rp_totals totals;
        rp_world_totals(world, &totals);
        CHECK(totals.mass == 0.0 && totals.kinetic == 0.0 && totals.center[1] == 0.0);
        CHECK_OK(rp_world_read(world, RP_COL_POSITION, NULL)); // nothing is written
        const uint64_t id = 0;
        int64_t removed = -1;
        CHECK_OK(rp_world_remove(world, &id, 1, &removed));
        CHECK_EQUAL(removed, 0);
        rp_points_def none = rp_default_points_def();
        none.volume = 1.0;
        CHECK_OK(rp_world_add_points(world, &none, NULL));
        CHECK_OK(rp_world_run_frame(world));

        // and after everybody has left
        int64_t added;
        CHECK_OK(rp_world_add_box(world, &box, &added));
        CHECK_OK(rp_world_run_frame(world));
        for (uint64_t i = 0; i < (uint64_t)added; i++) {
            CHECK_OK(rp_world_remove(world, &i, 1, NULL));
        }
        CHECK_OK(rp_world_run_frame(world));
        CHECK_EQUAL(stats_of(world).particles, 0);
        CHECK_EQUAL(stats_of(world).pages, 0);
        CHECK(stats_of(world).time == 5.0 / 24.0);
        rp_world_destroy(world);
    }
    rp_world_destroy(NULL);
}

// Catches a page without room for particles on its edge: they start within rounding of the upper
// edge of block -1 and cross exactly one cell a step, so no sort comes in between.
static void a_cell_a_step_from_the_edge_of_a_block_stays_in_the_arena(void)
{
    for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
        for (int axis = 0; axis < 2; axis++) {
            rp_world_def def = small_def(2);
            def.precision = (rp_precision)precision;
            def.dx = 1.0;
            def.fps = 1.0;
            def.gravity[1] = 0.0;
            rp_world *world;
            CHECK_OK(rp_world_create(&def, &world));
            rp_material_def rubber = rp_default_elastic_def();
            rubber.young = 1.0;
            rp_points_def points = rp_default_points_def();
            CHECK_OK(rp_world_add_material(world, &rubber, &points.material));
            double x[3] = {4.0, 4.0, 0.0}, v[3] = {0};
            x[axis] = nextafter(0.5, 0.0);
            v[axis] = 1.0;
            points.count = 1;
            points.position = x;
            points.velocity = v;
            points.volume = 0.25;
            CHECK_OK(rp_world_add_points(world, &points, NULL));
            for (int i = 1; i <= 20; i++) {
                CHECK_OK(rp_world_step(world));
                double got[2], place[2];
                check_context("precision %d, axis %d, step %d", precision, axis, i);
                CHECK_OK(rp_world_read(world, RP_COL_VELOCITY, got));
                CHECK_OK(rp_world_read(world, RP_COL_POSITION, place));
                // a particle on its own keeps its velocity; a lost row of nodes takes a part of it
                const double unit = precision == RP_SINGLE ? 0x1p-24 : 0x1p-53;
                CHECK_NEAR(got[axis], 1.0, 20 * 12 * unit);
                CHECK_NEAR(place[axis], 0.5 + i, 20 * 20 * 12 * unit);
            }
            rp_world_destroy(world);
        }
    }
}

// ---- looking ----

// Catches a column that is read in another order, another type or another number of components.
static void every_column_can_be_read_before_and_after_a_step(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
            rp_world_def def = small_def(dim);
            def.precision = (rp_precision)precision;
            def.gravity[1] = 0.0;
            rp_world *world;
            CHECK_OK(rp_world_create(&def, &world));
            rp_material_def sand = rp_default_sand_def();
            sand.hardening = true;
            sand.yield_fit = RP_FIT_PLANE_STRAIN; // the steepest cone stays below the warning
            rp_points_def points = rp_default_points_def();
            CHECK_OK(rp_world_add_material(world, &sand, &points.material));
            enum { GRAINS = 40 };
            double x[GRAINS][3], v[GRAINS][3], C[GRAINS][9];
            uint64_t random = 21;
            for (int i = 0; i < GRAINS; i++) {
                for (int a = 0; a < 3; a++) {
                    x[i][a] = test_between(&random, -2.0, 2.0);
                    v[i][a] = test_between(&random, -1.0, 1.0);
                    for (int b = 0; b < 3; b++) {
                        C[i][3 * a + b] = test_between(&random, -1.0, 1.0);
                    }
                }
            }
            points.count = GRAINS;
            points.position = &x[0][0];
            points.velocity = &v[0][0];
            points.gradient = &C[0][0];
            points.volume = 1e-4;
            CHECK_OK(rp_world_add_points(world, &points, NULL));

            static const int comps2[RP_COL_COUNT] = {
                [RP_COL_POSITION] = 2, [RP_COL_VELOCITY] = 2,  [RP_COL_AFFINE] = 4,
                [RP_COL_STRAIN] = 3,   [RP_COL_HARDENING] = 1, [RP_COL_VOLUME_GAIN] = 1,
                [RP_COL_GROUP] = 1,    [RP_COL_ID] = 1};
            static const int comps3[RP_COL_COUNT] = {
                [RP_COL_POSITION] = 3, [RP_COL_VELOCITY] = 3,  [RP_COL_AFFINE] = 9,
                [RP_COL_STRAIN] = 6,   [RP_COL_HARDENING] = 1, [RP_COL_VOLUME_GAIN] = 1,
                [RP_COL_GROUP] = 1,    [RP_COL_ID] = 1};
            double out[RP_COL_COUNT][GRAINS * 9 + 1];
            for (int after = 0; after < 2; after++) {
                if (after) {
                    CHECK_OK(rp_world_step(world));
                }
                for (int c = 0; c < RP_COL_COUNT; c++) {
                    const int comps = dim == 2 ? comps2[c] : comps3[c];
                    check_context("%dD, precision %d, %s", dim, precision, rp_column_name(c));
                    CHECK_EQUAL(rp_world_column_comps(world, c), comps);
                    if (comps == 0) {
                        CHECK_ERROR(rp_world_read(world, c, out[c]), RP_ERR_ARGUMENT,
                                    rp_column_name(c));
                        continue;
                    }
                    out[c][GRAINS * comps] = -77.0; // the end must stay
                    CHECK_OK(rp_world_read(world, c, out[c]));
                    CHECK(out[c][GRAINS * comps] == -77.0);
                }
                const double unit = precision == RP_SINGLE ? 0x1p-24 : 0x1p-53;
                for (int i = 0; i < GRAINS; i++) {
                    const int id = (int)out[RP_COL_ID][i];
                    check_context("%dD, precision %d, particle %d", dim, precision, id);
                    CHECK(id >= 0 && id < GRAINS);
                    CHECK(out[RP_COL_GROUP][i] == 0.0);
                    for (int a = 0; a < dim; a++) {
                        // before the step as it was put in; after it the particle has gone its way
                        const double place = out[RP_COL_POSITION][i * dim + a];
                        if (!after) {
                            CHECK(place == x[id][a]);
                            CHECK_NEAR(out[RP_COL_VELOCITY][i * dim + a], v[id][a], unit);
                            for (int b = 0; b < dim; b++) {
                                CHECK_NEAR(out[RP_COL_AFFINE][(i * dim + a) * dim + b],
                                           C[id][3 * a + b], unit);
                            }
                        } else {
                            const double way =
                                stats_of(world).dt * out[RP_COL_VELOCITY][i * dim + a];
                            // half of 2^-26 cell at birth, one for the dither, and rounding
                            CHECK_NEAR(place, x[id][a] + way,
                                       (precision == RP_SINGLE ? 0.1 * 1.5 * 0x1p-26 : 0.0) +
                                           8.0 * unit * (fabs(way) + 0.1) + 4e-15);
                        }
                    }
                }
            }
            CHECK_ERROR(rp_world_read(world, RP_COL_COUNT, out[0]), RP_ERR_ARGUMENT, "column");
            CHECK_EQUAL(rp_world_column_comps(world, (rp_column_id)-1), 0);
            rp_world_destroy(world);
        }
    }
}

// Catches a column that is kept where nothing uses it.
static void only_affine_transfers_keep_an_affine_column(void)
{
    static const rp_transfer transfers[] = {RP_APIC, RP_PIC, RP_FLIP, RP_STEADY};
    for (int i = 0; i < 4; i++) {
        rp_world_def def = small_def(3);
        def.transfer = transfers[i];
        rp_world *world;
        CHECK_OK(rp_world_create(&def, &world));
        CHECK_EQUAL(rp_world_column_comps(world, RP_COL_AFFINE), 0); // no species yet
        const rp_material_def rubber = rp_default_elastic_def();
        rp_material material;
        CHECK_OK(rp_world_add_material(world, &rubber, &material));
        CHECK_EQUAL(rp_world_column_comps(world, RP_COL_AFFINE), i % 3 == 0 ? 9 : 0);
        CHECK_EQUAL(rp_world_column_comps(world, RP_COL_VOLUME_GAIN), 0);
        rp_world_destroy(world);
    }
}

// Catches a sum with a wrong sign or a wrong moment of inertia: against sums over the columns.
static void totals_are_the_sums_over_the_columns(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int order = 2; order <= 3; order++) {
            rp_world_def def = small_def(dim);
            def.order = order;
            if (!test_is_built(dim, order, def.precision)) {
                continue;
            }
            rp_world *world;
            CHECK_OK(rp_world_create(&def, &world));
            rp_material_def rubber = rp_default_elastic_def();
            rp_box_def box = good_box();
            CHECK_OK(rp_world_add_material(world, &rubber, &box.material));
            for (int a = 0; a < 3; a++) {
                box.velocity[a] = 0.3 * a - 0.2;
                for (int b = 0; b < 3; b++) {
                    box.velocity_gradient[a][b] = 0.7 * a - 0.4 * b * b + 0.1;
                }
            }
            int64_t n;
            CHECK_OK(rp_world_add_box(world, &box, &n));
            for (int i = 0; i < 20; i++) {
                CHECK_OK(rp_world_step(world));
            }
            double *x = malloc(sizeof *x * (size_t)n * 3), *v = malloc(sizeof *v * (size_t)n * 3);
            double *C = malloc(sizeof *C * (size_t)n * 9), *e = malloc(sizeof *e * (size_t)n * 6);
            CHECK_OK(rp_world_read(world, RP_COL_POSITION, x));
            CHECK_OK(rp_world_read(world, RP_COL_VELOCITY, v));
            CHECK_OK(rp_world_read(world, RP_COL_AFFINE, C));
            CHECK_OK(rp_world_read(world, RP_COL_STRAIN, e));
            const double volume = pow(0.2, dim) / (double)n, m = 2200.0 * volume;
            const double D = 0.01 / (order == 3 ? 3.0 : 4.0);
            const double lambda = 3.537e5 * 0.3 / (1.3 * 0.4), mu = 3.537e5 / 2.6;
            double p[3] = {0}, L[3] = {0}, center[3] = {0}, kinetic = 0.0, elastic = 0.0;
            for (int64_t i = 0; i < n; i++) {
                const double *xi = x + i * dim, *vi = v + i * dim, *Ci = C + i * dim * dim,
                             *ei = e + i * (dim == 2 ? 3 : 6);
                for (int a = 0; a < dim; a++) {
                    p[a] += m * vi[a];
                    center[a] += xi[a] / (double)n;
                    kinetic += 0.5 * m * vi[a] * vi[a];
                }
                L[2] += m * (xi[0] * vi[1] - xi[1] * vi[0] + D * (Ci[dim] - Ci[1]));
                double trace = ei[0] + ei[1], square = ei[0] * ei[0] + ei[1] * ei[1];
                if (dim == 2) {
                    square += 2.0 * ei[2] * ei[2];
                } else {
                    L[0] += m * (xi[1] * vi[2] - xi[2] * vi[1] + D * (Ci[7] - Ci[5]));
                    L[1] += m * (xi[2] * vi[0] - xi[0] * vi[2] + D * (Ci[2] - Ci[6]));
                    trace += ei[2];
                    square += ei[2] * ei[2] + 2.0 * (ei[3] * ei[3] + ei[4] * ei[4] + ei[5] * ei[5]);
                }
                elastic += volume * (mu * square + 0.5 * lambda * trace * trace);
            }
            rp_totals t;
            rp_world_totals(world, &t);
            check_context("%dD, order %d", dim, order);
            CHECK_NEAR(t.mass, m * (double)n, 1e-12 * t.mass);
            CHECK_NEAR(t.kinetic, kinetic, 1e-12 * kinetic);
            CHECK(elastic > 0.0);
            CHECK_NEAR(t.elastic, elastic, 1e-12 * elastic);
            for (int a = 0; a < 3; a++) {
                CHECK_NEAR(t.momentum[a], p[a], 1e-11 * m * (double)n);
                CHECK_NEAR(t.center[a], center[a], 1e-12);
                CHECK_NEAR(t.angular[a], L[a], 1e-11 * m * (double)n);
            }
            free(x);
            free(v);
            free(C);
            free(e);
            rp_world_destroy(world);
        }
    }
}

// Catches counters that do not count.
static void stats_tell_what_happened(void)
{
    rp_world *world = small_world(3, RP_SINGLE);
    rp_stats s = stats_of(world);
    CHECK_EQUAL(s.step, 0);
    CHECK_EQUAL(s.particles, 216);
    CHECK_EQUAL(s.born, 216);
    for (int i = 0; i < 12; i++) {
        CHECK_OK(rp_world_run_frame(world));
    }
    s = stats_of(world);
    CHECK_EQUAL(s.frame, 12);
    CHECK(s.step >= 12);
    CHECK(s.sorts >= 4); // it has fallen 1.2 m = 12 cells
    CHECK(s.pages >= 1 && s.node_pages >= s.pages);
    CHECK_NEAR(s.max_speed, 9.81 * 0.5, 0.05);
    CHECK(s.memory > 216 * 100);
    for (int stage = 0; stage < s.stages; stage++) {
        CHECK(s.seconds[stage] > 0.0);
    }
    rp_world_destroy(world);
}

// ---- a world that fails ----

// One particle (id 0) far from the others, in a page of its own.
static rp_world *world_with_a_loner(int dim, rp_precision precision, rp_material_def material)
{
    rp_world_def def = small_def(dim);
    def.precision = precision;
    rp_world *world = NULL;
    rp_box_def box = good_box();
    rp_points_def points = rp_default_points_def();
    const double place[3] = {-5.05, 3.02, -2.03};
    points.count = 1;
    points.position = place;
    points.volume = 1e-4;
    if (rp_world_create(&def, &world) != RP_OK ||
        rp_world_add_material(world, &material, &box.material) != RP_OK ||
        rp_world_add_points(world, &points, NULL) != RP_OK ||
        rp_world_add_box(world, &box, NULL) != RP_OK || rp_world_step(world) != RP_OK) {
        check_record(__FILE__, __LINE__, "no world with a loner: %s", rp_last_error());
        abort();
    }
    return world;
}

static void put_into_loner(rp_world *world, rp_column_id column, int comp, double value)
{
    rp_set *set = world->set;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_local slot = rp_set_page(set)[p].first;
        if (*(uint64_t *)rp_set_at(set, RP_COL_ID, slot, 0) == 0) {
            if (set->layout.precision == RP_SINGLE) {
                *(float *)rp_set_at(set, column, slot, comp) = (float)value;
            } else {
                *(double *)rp_set_at(set, column, slot, comp) = value;
            }
        }
    }
}

// What a failed world must still be able to do, and what it must refuse.
static void check_failed_world(rp_world *world, const void *good, size_t size)
{
    CHECK_ERROR(rp_world_step(world), RP_ERR_DIVERGED, "failed");
    CHECK_ERROR(rp_world_run_frame(world), RP_ERR_DIVERGED, "failed");
    const rp_stats s = stats_of(world);
    double *out = malloc(sizeof *out * (size_t)s.particles * 9);
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (rp_world_column_comps(world, c) > 0) {
            CHECK_OK(rp_world_read(world, c, out));
        }
    }
    free(out);
    rp_totals totals;
    rp_world_totals(world, &totals);
    CHECK(totals.mass > 0.0);

    // its state can be kept; where a world takes it back, a step from there must do no harm
    void *bad;
    size_t bad_size;
    CHECK_OK(rp_world_save(world, &bad, &bad_size));
    if (rp_world_restore(world, bad, bad_size) == RP_OK) {
        const rp_result again = rp_world_step(world);
        CHECK(again == RP_ERR_DIVERGED || again == RP_OK);
    } else {
        CHECK_ERROR(rp_world_step(world), RP_ERR_DIVERGED, "failed");
    }
    rp_state_free(bad);

    CHECK_OK(rp_world_restore(world, good, size));
    CHECK_OK(rp_world_step(world));
}

// Catches a NaN that is not noticed, blamed on another particle, or ends in a crash.
static void a_particle_that_is_no_number_fails_the_world_by_name(void)
{
    static const struct {
        rp_column_id column;
        int comp;
    } places[] = {{RP_COL_VELOCITY, 0}, {RP_COL_VELOCITY, 1},  {RP_COL_AFFINE, 0},
                  {RP_COL_AFFINE, 3},   {RP_COL_STRAIN, 0},    {RP_COL_STRAIN, 1},
                  {RP_COL_STRAIN, 2},   {RP_COL_HARDENING, 0}, {RP_COL_VOLUME_GAIN, 0}};
    for (int dim = 2; dim <= 3; dim++) {
        for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
            for (size_t i = 0; i < COUNT_OF(places); i++) {
                for (size_t k = 0; k < COUNT_OF(not_finite); k++) {
                    rp_material_def sand = rp_default_sand_def();
                    sand.hardening = true;
                    sand.yield_fit =
                        RP_FIT_PLANE_STRAIN; // the steepest cone stays below the warning
                    rp_world *world = world_with_a_loner(dim, (rp_precision)precision, sand);
                    void *good;
                    size_t size;
                    CHECK_OK(rp_world_save(world, &good, &size));
                    put_into_loner(world, places[i].column, places[i].comp, not_finite[k]);
                    check_context("%dD, precision %d, %s[%d] = %g", dim, precision,
                                  rp_column_name(places[i].column), places[i].comp, not_finite[k]);
                    // a gain of -inf or a hardening of inf may be mapped back to a good state
                    const bool must = isnan(not_finite[k]) || places[i].column <= RP_COL_STRAIN;
                    rp_result result = RP_OK;
                    for (int step = 0; step < 3 && result == RP_OK; step++) {
                        result = rp_world_step(world);
                    }
                    if (must || result != RP_OK) {
                        CHECK_ERROR(result, RP_ERR_DIVERGED, "particle 0 ");
                        CHECK(strstr(rp_last_error(), "material 0") != NULL);
                        CHECK_HELPER(check_failed_world(world, good, size));
                    }
                    rp_state_free(good);
                    rp_world_destroy(world);
                }
            }
        }
    }
}

// Catches a runaway particle that leaves its arena before anyone looks.
static void a_particle_of_absurd_speed_fails_the_world_by_name(void)
{
    static const double speeds[] = {1e4, -1e4, 1e9, -1e9, 1e14, 1e30};
    for (int dim = 2; dim <= 3; dim++) {
        for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
            for (size_t i = 0; i < COUNT_OF(speeds); i++) {
                rp_world *world =
                    world_with_a_loner(dim, (rp_precision)precision, rp_default_elastic_def());
                void *good;
                size_t size;
                CHECK_OK(rp_world_save(world, &good, &size));
                put_into_loner(world, RP_COL_VELOCITY, 1, speeds[i]);
                check_context("%dD, precision %d, speed %g", dim, precision, speeds[i]);
                CHECK_ERROR(rp_world_step(world), RP_ERR_DIVERGED, "particle 0 ");
                CHECK_HELPER(check_failed_world(world, good, size));
                rp_state_free(good);
                rp_world_destroy(world);
            }
        }
    }
}

// Catches a world that goes on in ever smaller steps without an end.
static void a_step_that_falls_to_nothing_is_an_error(void)
{
    rp_world *world = small_world(2, RP_DOUBLE);
    const double x[3] = {3.0, 3.0, 0.0}, v[3] = {1e25, 0.0, 0.0};
    rp_points_def points = good_points(x);
    points.count = 1;
    points.velocity = v;
    CHECK_OK(rp_world_add_points(world, &points, NULL));
    picture before = take_picture(world);
    CHECK_ERROR(rp_world_step(world), RP_ERR_DIVERGED, "speed");
    rp_state_free(before.state);
    rp_world_destroy(world);
}

// ---- instruction sets ----

// Catches a choice that is ignored, or a fallback that nobody asked for.
static void the_instruction_set_can_be_chosen(void)
{
    const char *was = getenv("REPOSE_ISA");
    char *keep = was != NULL ? strdup(was) : NULL;
    rp_world_def def = small_def(3);
    rp_world *world;
    static const char *const names[] = {"plain", "avx2", "avx512"};
    int widest = 0;
    for (int isa = 0; isa < RP_ISA_COUNT; isa++) {
        const bool built = rp_kernels_find(3, 2, RP_SINGLE, isa) != NULL;
        const bool there = built && rp_isa_supported(isa);
        widest = there ? isa : widest;
        for (int by_def = 0; by_def < 2; by_def++) {
            check_context("%s by %s", names[isa], by_def ? "def" : "REPOSE_ISA");
            def.isa = by_def ? names[isa] : NULL;
            setenv("REPOSE_ISA", by_def ? "nonsense" : names[isa], 1);
            if (there) {
                CHECK_OK(rp_world_create(&def, &world));
                CHECK(strcmp(rp_world_isa(world), names[isa]) == 0);
                rp_world_destroy(world);
            } else {
                CHECK_ERROR(rp_world_create(&def, &world), RP_ERR_UNSUPPORTED, names[isa]);
                CHECK(strstr(rp_last_error(), built ? "this processor" : "this build") != NULL);
                CHECK(world == NULL);
            }
        }
    }
    check_context("%s", "");
    def.isa = NULL;
    setenv("REPOSE_ISA", "mmx", 1);
    CHECK_ERROR(rp_world_create(&def, &world), RP_ERR_ARGUMENT, "mmx");
    CHECK(world == NULL);
    unsetenv("REPOSE_ISA");
    CHECK_OK(rp_world_create(&def, &world));
    CHECK(strcmp(rp_world_isa(world), names[widest]) == 0);
    rp_world_destroy(world);
    if (keep != NULL) {
        setenv("REPOSE_ISA", keep, 1);
        free(keep);
    }
}

TEST_MAIN(TEST(a_world_def_with_a_wrong_number_is_refused_by_name),
          TEST(a_flat_world_ignores_the_third_axis),
          TEST(a_material_with_a_wrong_number_is_refused_by_name),
          TEST(a_box_with_a_wrong_number_is_refused_by_name),
          TEST(points_with_a_wrong_number_are_refused_by_name),
          TEST(a_plane_with_a_wrong_number_is_refused_by_name), TEST(walls_are_all_or_nothing),
          TEST(materials_have_a_limit), TEST(a_box_of_too_many_particles_is_refused),
          TEST(particles_beyond_the_addressable_space_are_refused_when_added),
          TEST(a_box_has_its_exact_mass_and_keeps_inside_its_sides),
          TEST(ids_are_counted_on_and_never_reused),
          TEST(removed_particles_are_gone_at_once_for_those_who_look),
          TEST(a_particle_can_be_removed_before_its_first_step),
          TEST(walls_are_the_inside_of_a_box), TEST(nothing_leaves_a_closed_box),
          TEST(frames_end_exactly_on_time), TEST(steps_add_up_to_frames),
          TEST(the_step_names_what_bounded_it), TEST(the_fastest_particle_of_all_bounds_the_step),
          TEST(gravity_may_change_with_time), TEST(gravity_that_is_no_number_stops_before_the_step),
          TEST(an_empty_world_lets_time_pass),
          TEST(a_cell_a_step_from_the_edge_of_a_block_stays_in_the_arena),
          TEST(every_column_can_be_read_before_and_after_a_step),
          TEST(only_affine_transfers_keep_an_affine_column),
          TEST(totals_are_the_sums_over_the_columns), TEST(stats_tell_what_happened),
          TEST(a_particle_that_is_no_number_fails_the_world_by_name),
          TEST(a_particle_of_absurd_speed_fails_the_world_by_name),
          TEST(a_step_that_falls_to_nothing_is_an_error), TEST(the_instruction_set_can_be_chosen))
