// Snow in a box under a piston: it hardens as theory says.
#include "repose/world.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>

static const double side = 0.2, height = 0.4, speed = 0.2; // of snow [m], of the piston [m/s]

static rp_result sink(void *context, double t, rp_pose *out)
{
    (void)context;
    out->position[1] = -speed * t;
    return RP_OK;
}

static rp_world *make_press(int dim, rp_precision precision, double dx)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = dim;
    def.precision = precision;
    def.dx = dx;
    def.fps = 20.0;
    def.gravity[1] = 0.0;
    rp_world *world;
    const rp_material_def snow = rp_default_material_def(RP_SNOW);
    rp_box_def box = rp_default_box_def();
    box.jitter = 0.0;
    // the piston is the first collider; the lid of the box is far above it
    rp_collider_def piston = rp_default_collider_def();
    const double lower[3] = {0}, upper[3] = {side, 10.0, side};
    const double at[3] = {0.0, height, 0.0}, down[3] = {0.0, -1.0, 0.0};
    rp_shape *shape;
    for (int a = 0; a < dim; a++) {
        box.lower[a] = 0.0;
        box.upper[a] = a == 1 ? height : side;
    }
    if (rp_world_create(&def, &world) != RP_OK ||
        rp_world_add_material(world, &snow, &box.material) != RP_OK ||
        rp_shape_half_space(at, down, &shape) != RP_OK) {
        return NULL;
    }
    piston.shape = shape;
    piston.contact = RP_SLIP;
    piston.motion.call = sink;
    const rp_result result = rp_world_add_collider(world, &piston);
    rp_shape_release(shape);
    return result == RP_OK && rp_world_add_walls(world, lower, upper, RP_SLIP, 0.0) == RP_OK &&
                   rp_world_add_box(world, &box, NULL) == RP_OK
               ? world
               : NULL;
}

// The mean of the column in the middle half of what is there: walls are decided by node, which
// spoils the cells next to them.
static double mean_gain(const rp_world *world, int dim, double now)
{
    rp_stats s;
    rp_world_stats(world, &s);
    const size_t n = (size_t)s.particles;
    double *x = calloc(n * 3, sizeof *x), *v = calloc(n, sizeof *v), sum = 0.0, count = 0.0;
    if (rp_world_read(world, RP_COL_POSITION, x) != RP_OK ||
        rp_world_read(world, RP_COL_PLASTIC_VOLUME, v) != RP_OK) {
        check_record(__FILE__, __LINE__, "no columns: %s", rp_last_error());
    }
    for (size_t i = 0; i < n; i++) {
        const double y = x[i * (size_t)dim + 1] / now;
        if (y > 0.25 && y < 0.75) {
            sum += v[i];
            count += 1.0;
        }
    }
    free(x);
    free(v);
    return sum / count;
}

// Pressed slowly along one axis, strain stays at its limit c and v takes the rest. The force is
// that of docs/theory.md (57): it shows the moduli, their hardening and the volume at once.
static void a_piston_feels_snow_harden(void)
{
    static const struct {
        int dim;
        rp_precision precision;
        double dx;
    } way[] = {
        {2, RP_DOUBLE, 0.02}, {3, RP_SINGLE, 0.025}, {2, RP_SINGLE, 0.02}, {2, RP_SINGLE, 0.01}};
    const rp_material_def def = rp_default_material_def(RP_SNOW);
    const double c = def.critical_compression;
    const double along =
        def.young * (1.0 - def.poisson) / ((1.0 + def.poisson) * (1.0 - 2.0 * def.poisson));
    for (int i = 0; i < (check_long() ? 4 : 2); i++) {
        rp_world *world = make_press(way[i].dim, way[i].precision, way[i].dx);
        CHECK(world != NULL);
        double before = 0.0;
        for (int frame = 1; frame <= 10; frame++) {
            rp_collider_load load;
            CHECK_OK(rp_world_run_frame(world));
            rp_world_collider_load(world, 0, &load);
            const double now = height + load.pose.position[1];
            const double gained = mean_gain(world, way[i].dim, now);
            const double v = 0.5 * (before + gained); // forces are those of a whole frame
            const double want = along * c * exp(c - (def.snow_hardening + 1.0) * v);
            const double area = way[i].dim == 2 ? side : side * side;
            check_context("%dD, precision %d, dx %g, frame %d: v %g (box %g), %g Pa, want %g",
                          way[i].dim, way[i].precision, way[i].dx, frame, gained,
                          log(now / height) + c, load.force[1] / area, want);
            before = gained;
            // from the third frame on waves have faded and all of it yields
            if (frame >= 3) {
                CHECK_NEAR(gained, log(now / height) + c, way[i].dx / height);
                CHECK_NEAR(load.force[1] / area, want, 0.04 * want);
            }
        }
        rp_world_destroy(world);
    }
}

TEST_MAIN(TEST(a_piston_feels_snow_harden))
