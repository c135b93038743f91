// Bodies that break: glue holds as if there were no cut, and opens at the stress that was asked
// for.
#include "check.h"
#include "repose/repose.h"
#include "scene_text.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    rp_scene *scene;
    rp_world *world;
} run;

static run start(const char *text, int threads, bool empty)
{
    run r = {.scene = scene_of(text)};
    rp_scene_world_def def = rp_default_scene_world_def();
    def.threads = threads;
    def.empty = empty;
    if (rp_scene_create_world(r.scene, &def, &r.world) != RP_OK) {
        check_record(__FILE__, __LINE__, "no world: %s", rp_last_error());
    }
    return r;
}

static void stop(run *r)
{
    rp_world_destroy(r->world);
    rp_scene_free(r->scene);
}

static void run_frames(rp_world *world, int frames)
{
    for (int i = 0; i < frames; i++) {
        CHECK_OK(rp_world_run_frame(world));
    }
}

// Of linear splines: such bodies blow up, cut or not, and rounding with them.
static void run_steps(rp_world *world, int steps)
{
    for (int i = 0; i < steps; i++) {
        CHECK_OK(rp_world_step(world));
    }
}

// Places of all particles with mass, by id.
static double *places(const rp_world *world, uint64_t *count)
{
    *count = 0;
    double *out = calloc(3 * world->next_id, sizeof *out);
    for (int s = 0; s < world->species_count; s++) {
        const rp_set *set = &world->set[s];
        for (rp_local p = 0; p < set->pages && rp_set_has_mass(set); p++) {
            const rp_page *page = &rp_set_page(set)[p];
            for (rp_local i = page->first; i < page->first + page->count; i++) {
                const uint64_t id = *(uint64_t *)rp_set_at(set, RP_COL_ID, i, 0);
                for (int a = 0; a < world->def.dimension; a++) {
                    out[3 * id + (uint64_t)a] = rp_set_value(set, RP_COL_POSITION, i, a, page);
                }
                ++*count;
            }
        }
    }
    return out;
}

static int64_t glue_left(const rp_world *world)
{
    const int s = rp_glue_find(world->species, world->species_count);
    const rp_set *set = &world->set[s];
    int64_t left = set->inbox.count;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local i = page->first; i < page->first + page->count; i++) {
            left += rp_set_value(set, RP_COL_STRENGTH, i, 0, page) > 0.0 &&
                    *(uint16_t *)rp_set_at(set, RP_COL_GROUP, i, 0) != RP_GROUP_DEAD;
        }
    }
    return left;
}

// ---- an unbreakable cut ----

// A block that spins, swings and falls on a floor, whole or cut.
static void write_block(char *text, size_t size, int dimension, const char *more, const char *cut)
{
    const bool flat = dimension == 2;
    snprintf(
        text, size,
        "scene { dimension = %d, dx = 0.1, fps = 20, frames = 20, precision = 'double', %s }\n"
        "particles { material = material.elastic { density = 1000, young = 2e5 }, body = 'block',\n"
        "  velocity = %s, velocity_gradient = %s, jitter = 0, sampling = 'lattice',\n"
        "  shape = box { min = %s, max = %s } }\n"
        "%s\n"
        "collider { shape = half_space { point = %s, normal = %s }, contact = 'separate', "
        "friction = 0.3 }\n",
        dimension, more, flat ? "{1, -2}" : "{1, -2, 0.5}",
        flat ? "{{0, -2}, {2.5, 0}}" : "{{0, -2, 0}, {2.5, 0, 1}, {0, 1, 0}}",
        flat ? "{-0.53, 0.1}" : "{-0.53, 0.1, -0.3}", flat ? "{0.49, 0.9}" : "{0.49, 0.9, 0.3}",
        cut, flat ? "{0, 0}" : "{0, 0, 0}", flat ? "{0, 1}" : "{0, 1, 0}");
}

// V-M7. A node that glue misses, or a merge that is none, shows here.
static void glue_that_never_breaks_is_as_no_cut(void)
{
    static const char *const cuts[2][5] = {
        {"plane { point = {0.031, 0.4}, normal = {1, 0} }",
         "plane { point = {0, 0.5}, normal = {0.3, 1} }",
         "planes { list = {{ point = {0, 0.5}, normal = {1, 1} }, { point = {0.1, 0.5}, normal = "
         "{1, -1} }} }",
         "zigzag { point = {0, 0.5}, normal = {0, 1}, along = {1, 0}, tooth = 0.23 }",
         "voronoi { count = 7, seed = 3 }"},
        {"plane { point = {0.031, 0.4, 0}, normal = {1, 0, 0} }",
         "plane { point = {0, 0.5, 0}, normal = {0.3, 1, 0.2} }",
         "sphere { center = {0, 0.5, 0}, radius = 0.31 }",
         "zigzag { point = {0, 0.5, 0}, normal = {0, 1, 0}, along = {1, 0, 0.3}, tooth = 0.23 }",
         "voronoi { count = 9, seed = 5 }"},
    };
    static const char *const kinds[] = {"order = 'quadratic'", "order = 'cubic'",
                                        "transfer = { flip = 0.95 }", "order = 'linear'"};
    for (int dim = 2; dim <= 3; dim++) {
        for (int k = 0; k < (dim == 2 ? 4 : 2); k++) {
            char text[2048];
            uint64_t count[2];
            const int frames = dim == 2 ? 10 : 4;
            write_block(text, sizeof text, dim, kinds[k], "");
            run whole = start(text, 1, false);
            CHECK_HELPER(k == 3 ? run_steps(whole.world, 20) : run_frames(whole.world, frames));
            double *x = places(whole.world, &count[0]);
            for (int c = 0; c < 5; c++) {
                char cut[512];
                snprintf(cut, sizeof cut, "fracture { body = 'block', strength = 1e9, by = %s }",
                         cuts[dim - 2][c]);
                write_block(text, sizeof text, dim, kinds[k], cut);
                check_context("%dD, %s, %s", dim, kinds[k], cuts[dim - 2][c]);
                run r = start(text, 1, false);
                CHECK_HELPER(k == 3 ? run_steps(r.world, 20) : run_frames(r.world, frames));
                double *y = places(r.world, &count[1]);
                double most = 0.0;
                for (uint64_t i = 0; i < 3 * count[0]; i++) {
                    most = fmax(most, fabs(x[i] - y[i]));
                }
                CHECK_EQUAL(count[0], count[1]);
                CHECK(r.world->crack_count == 0);
                CHECK_NEAR(most, 0.0, 1e-12);
                free(y);
                stop(&r);
            }
            free(x);
            stop(&whole);
        }
    }
}

// More than 64 pieces at one node: none is left out of what glue holds there.
static void a_hundred_pieces_at_one_node_hold_together(void)
{
    static const char text[] =
        "local sites = {}\n"
        "for i = 0, 99 do sites[i + 1] = {0.03 * (i % 10) + 0.015, 0.03 * (i // 10) + 0.015} end\n"
        "scene { dimension = 2, dx = 0.1, fps = 50, frames = 20, precision = 'double' }\n"
        "particles { material = material.elastic { density = 1000, young = 2e5 }, body = 'block',\n"
        "  velocity = {1, 2}, velocity_gradient = {{1, -3}, {4, 2}}, jitter = 0, sampling = "
        "'lattice',\n"
        "  spacing = 0.015, shape = box { min = {0, 0}, max = {0.3, 0.3} } }\n";
    static const char cut[] =
        "fracture { body = 'block', strength = 1e9, by = voronoi { points = sites } }\n";
    char both[2048];
    uint64_t count[2];
    snprintf(both, sizeof both, "%s%s", text, cut);
    run whole = start(text, 1, false), r = start(both, 1, false);
    CHECK_EQUAL(rp_world_bodies(r.world), 101);
    CHECK_HELPER(run_frames(whole.world, 2));
    CHECK_HELPER(run_frames(r.world, 2));
    double *x = places(whole.world, &count[0]), *y = places(r.world, &count[1]), most = 0.0;
    CHECK_EQUAL(count[0], count[1]);
    for (uint64_t i = 0; i < 3 * count[0]; i++) {
        most = fmax(most, fabs(x[i] - y[i]));
    }
    CHECK_NEAR(most, 0.0, 1e-12);
    free(x);
    free(y);
    stop(&whole);
    stop(&r);
}

// ---- strength ----

// A bar whose ends are pulled apart, or together, ever harder.
typedef struct bar {
    int dimension;
    double h;         // cells
    double angle;     // of the bar to the grid [degrees]
    double offset;    // of the cut [cells]
    double tilt;      // of its normal to the axis of the bar [degrees]
    double sign;      // 1: pulled, -1: pressed
    double young;     // [Pa]
    double pull;      // [m/s^4]
    const char *by;   // instead of a plane
    const char *more; // of fracture
    const char *sampling;
    const char *scene; // more of the scene
} bar;

static const bar plain_bar = {.dimension = 2,
                              .h = 0.1,
                              .sign = 1.0,
                              .young = 1e6,
                              .pull = 100.0,
                              .more = "strength = 1e4",
                              .sampling = "sampling = 'lattice', jitter = 0",
                              .scene = ""};

static run start_bar(const bar *b)
{
    char text[4096], by[512];
    snprintf(by, sizeof by,
             "plane { point = at(%.17g, 0), normal = way(math.sin(%.17g), math.cos(%.17g)) }", 0.0,
             b->tilt * M_PI / 180.0, b->tilt * M_PI / 180.0);
    snprintf(
        text, sizeof text,
        "local h, turn, flat = %.17g, math.rad(%.17g), %s\n"
        "scene { dimension = flat and 2 or 3, dx = h, fps = 100, frames = 1000, gravity = flat and "
        "{0, 0} or {0, 0, 0}, precision = 'double' %s,\n"
        "  acceleration = function(t, x, y, z) local along = math.cos(turn) * y - math.sin(turn) * "
        "x\n"
        "    local pull = math.abs(along) > 0.8 and %.17g * t * t * (along > 0 and 1 or -1) or 0\n"
        "    return -math.sin(turn) * pull, math.cos(turn) * pull, 0 end }\n"
        "local function way(x, y) local c, s = math.cos(turn), math.sin(turn)\n"
        "  if flat then return {c * x - s * y, s * x + c * y} else return {c * x - s * y, s * x + "
        "c * y, 0} end end\n"
        "local function at(x, y) local p = way(x, y + %.17g * h); return p end\n"
        "local function block(x, y) local low, high = {-x, -y, -x}, {x, y, x}\n"
        "  if flat then low, high = {-x, -y}, {x, y} end\n"
        "  return move(box { min = low, max = high }, { rotation = { angle = math.deg(turn) } }) "
        "end\n"
        "particles { material = material.elastic { density = 1000, young = %.17g, poisson = 0.3 "
        "},\n"
        "  body = 'bar', shape = block(0.4, 1.2), %s }\n"
        "fracture { body = 'bar', by = %s, %s }\n",
        b->h, b->angle, b->dimension == 2 ? "true" : "false", b->scene, b->sign * b->pull,
        b->offset, b->young, b->sampling, b->by != NULL ? b->by : by, b->more);
    return start(text, 1, false);
}

// Mean Cauchy stress along the axis of the bar, around its middle.
static double axial_stress(const rp_world *world, const bar *b)
{
    const double lambda = b->young * 0.3 / (1.3 * 0.4), mu = b->young / 2.6;
    const double axis[3] = {-sin(b->angle * M_PI / 180.0), cos(b->angle * M_PI / 180.0), 0.0};
    double sum = 0.0, volume = 0.0;
    for (int s = 0; s < world->species_count; s++) {
        const rp_set *set = &world->set[s];
        for (rp_local p = 0; p < set->pages && rp_set_has_mass(set); p++) {
            const rp_page *page = &rp_set_page(set)[p];
            for (rp_local i = page->first; i < page->first + page->count; i++) {
                double h[6], along = 0.0, trace = 0.0, stretch;
                const int dim = world->def.dimension;
                for (int c = 0; c < rp_sym_comps(dim); c++) {
                    h[c] = rp_set_value(set, RP_COL_STRAIN, i, c, page);
                }
                for (int a = 0; a < dim; a++) {
                    along += axis[a] * rp_set_value(set, RP_COL_POSITION, i, a, page);
                    trace += h[a];
                }
                stretch = axis[0] * axis[0] * h[0] + axis[1] * axis[1] * h[1] +
                          2.0 * axis[0] * axis[1] * h[dim == 2 ? 2 : 3];
                if (fabs(along) < 0.4) {
                    volume += exp(trace);
                    sum += lambda * trace + 2.0 * mu * stretch;
                }
            }
        }
    }
    return sum / volume;
}

// The stress when the first glue breaks; 0: none does before `most` is reached.
// @param[out] left share of the glue that holds a while later; may be NULL
static double breaking_stress(const bar *b, double most, double *left)
{
    run r = start_bar(b);
    double stress = 0.0, before = 0.0;
    const double all = (double)glue_left(r.world);
    while (r.world->crack_count == 0 && fabs(stress) < most && rp_world_time(r.world) < 8.0) {
        before = stress;
        if (rp_world_step(r.world) != RP_OK) {
            check_record(__FILE__, __LINE__, "%s", rp_last_error());
            break;
        }
        stress = axial_stress(r.world, b);
    }
    const bool broke = r.world->crack_count > 0;
    if (left != NULL && broke) {
        run_frames(r.world, 20);
        *left = (double)glue_left(r.world) / all;
    }
    stop(&r);
    return broke ? before : 0.0; // glue is looked at before a step
}

static double degrees(double x) { return x * M_PI / 180.0; }

// V-M8 in pascals, and that all of the cut opens. Where it lies on the grid and how it is tilted,
// how the bar is turned and how fine all is: none of it may show.
static void a_bar_breaks_at_the_strength_that_was_asked_for(void)
{
    static const struct {
        int dimension;
        double h, angle, offset, tilt;
        const char *scene;
    } cases[] = {
        {2, 0.1, 0, 0, 0, ""},
        {2, 0.1, 0, 0.5, 45, ", order = 'cubic'"},
        {2, 0.1, 30, 0.25, 0, ", transfer = { flip = 0.95 }"},
        {3, 0.1, 0, 0.25, 17, ""},
        {2, 0.1, 0, 0.25, 17, ""}, // from here on in long tests only
        {2, 0.05, 0, 0.5, 17, ""},
        {2, 0.025, 0, 0.25, 17, ""},
        {2, 0.025, 20, 0, 0, ""},
        {2, 0.1, 0, 0.25, 0, ""},
        {2, 0.1, 0, 0.5, 0, ""},
        {2, 0.1, 0, 0, 17, ""},
        {2, 0.1, 0, 0.5, 17, ""},
        {2, 0.1, 0, 0, 45, ""},
        {2, 0.1, 0, 0.25, 45, ""},
        {2, 0.05, 0, 0.25, 0, ""},
        {2, 0.05, 0, 0, 45, ""},
        {2, 0.025, 0, 0.5, 45, ""},
        {3, 0.1, 0, 0, 0, ""},
        {3, 0.1, 0, 0.5, 45, ""},
    };
    for (size_t i = 0; i < (check_long() ? sizeof cases / sizeof cases[0] : 4); i++) {
        bar b = plain_bar;
        double left = 1.0;
        b.dimension = cases[i].dimension;
        b.h = cases[i].h;
        b.angle = cases[i].angle;
        b.offset = cases[i].offset;
        b.tilt = cases[i].tilt;
        b.scene = cases[i].scene;
        check_context("case %zu", i);
        // as strong along the cut as across it: all of the traction counts
        const double want = 1e4 / cos(degrees(b.tilt));
        CHECK_NEAR(breaking_stress(&b, 5e4, &left), want, 0.05 * want);
        CHECK_EQUAL(left, 0.0);
    }
}

// With particles at random places stress is uneven by itself, and some glue goes before the rest:
// what the bar carries at most is its strength all the same.
static void a_bar_of_random_places_carries_what_was_asked_for(void)
{
    for (int i = 0; i < (check_long() ? 12 : 3); i++) {
        char seed[32];
        snprintf(seed, sizeof seed, ", seed = %d", i);
        bar b = plain_bar;
        b.dimension = i % 4 == 0 ? 3 : 2;
        b.h = b.dimension == 3 ? 0.1 : 0.05;
        b.angle = i % 3 * 20.0;
        b.sampling = "sampling = 'poisson'";
        b.scene = seed;
        run r = start_bar(&b);
        double first = 0.0, most = 0.0, stress = 0.0;
        while (glue_left(r.world) > 0 && rp_world_time(r.world) < 8.0) {
            CHECK_OK(rp_world_step(r.world));
            first = r.world->crack_count > 0 && first == 0.0 ? stress : first;
            stress = axial_stress(r.world, &b);
            most = fmax(most, stress);
        }
        check_context("%dD, %g degrees%s", b.dimension, b.angle, seed);
        CHECK_NEAR(most, 1e4, 500.0);
        CHECK(first > (b.dimension == 3 ? 9.3e3 : 8.3e3) && first < 1.05e4);
        stop(&r);
    }
}

// How much of the stress along the axis pulls at the glue that faces it most.
static double steepest_glue(const bar *b)
{
    run r = start_bar(b);
    double most = 0.0;
    if (rp_world_step(r.world) != RP_OK) {
        check_record(__FILE__, __LINE__, "%s", rp_last_error());
    }
    const rp_set *set = &r.world->set[rp_glue_find(r.world->species, r.world->species_count)];
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local i = page->first; i < page->first + page->count; i++) {
            const double along =
                cos(degrees(b->angle)) * rp_set_value(set, RP_COL_NORMAL, i, 1, page) -
                sin(degrees(b->angle)) * rp_set_value(set, RP_COL_NORMAL, i, 0, page);
            most = fmax(most, fabs(along));
        }
    }
    stop(&r);
    return most;
}

// V-M8 with cells: two, with the cut between them at a tilt, and five, of which the cut that faces
// the pull most goes first.
static void cells_break_at_the_strength_that_was_asked_for(void)
{
    static const char *const by[] = {
        "voronoi { points = {way(-0.1, -0.3), way(0.1, 0.3)} }",
        "voronoi { points = {way(-0.2, -0.41), way(0.22, -0.33), way(-0.16, 0.05), way(0.21, "
        "0.12), way(0.03, 0.47)} }",
    };
    for (int i = 0; i < (check_long() ? 8 : 2); i++) {
        bar b = plain_bar;
        b.by = by[i % 2];
        b.h = i / 2 % 2 == 0 ? 0.1 : 0.05;
        b.angle = i / 4 * 25.0;
        const double want = 1e4 / steepest_glue(&b);
        check_context("%s, h = %g, %g degrees", b.by, b.h, b.angle);
        CHECK_NEAR(breaking_stress(&b, 5e4, NULL), want, 0.05 * want);
    }
}

// V-M10
static void more_glue_is_no_stronger(void)
{
    bar b = plain_bar;
    const double once = breaking_stress(&b, 5e4, NULL);
    b.more = "strength = 1e4, spacing = 0.0125";
    CHECK_NEAR(breaking_stress(&b, 5e4, NULL), once, 0.02 * once);
}

// V-M9, and Coulomb's law along a tilted cut: t_t = tau_c + mu |t_n|.
static void pressure_across_a_cut_never_opens_it(void)
{
    bar b = plain_bar;
    b.sign = -1.0;
    b.young = 4e6;
    b.pull = 1000.0;
    CHECK_EQUAL(breaking_stress(&b, 1e5, NULL), 0.0);
    b.tilt = 45.0;
    b.more = "strength = 1e4, shear = 2e4, friction = 0.4";
    const double share = sin(degrees(45.0)) * cos(degrees(45.0));
    const double stress = -breaking_stress(&b, 2e5, NULL);
    CHECK_NEAR(share * stress, 2e4 + 0.4 * share * stress, 0.1 * share * stress);
    CHECK_NEAR(stress, 2e4 / (share - 0.4 * share), 0.1 * stress);
}

// V-M8 as printed: sigma = c / (2 N h^(d-1)), which a cut between nodes changes.
static void the_criterion_of_the_paper_depends_on_the_grid(void)
{
    static const double offsets[] = {0.0, 0.5}, weight[] = {0.75, 0.5};
    for (int i = 0; i < 2; i++) {
        bar b = plain_bar;
        b.offset = offsets[i];
        b.more = "strength = 1500, criterion = 'paper'";
        check_context("offset %g", b.offset);
        const double want = 1500.0 / (2.0 * weight[i] * b.h);
        CHECK_NEAR(breaking_stress(&b, 5e4, NULL), want, 0.05 * want);
        b.sign = -1.0;
        CHECK_EQUAL(breaking_stress(&b, 3e4, NULL), 0.0);
    }
}

// ---- softening ----

// Two halves of a stiff bar fly apart, or along their cut, and one that softens slows them.
static void write_parting(char *text, size_t size, int dimension, double angle, double shear,
                          const char *more)
{
    const double c = cos(degrees(angle)), s = sin(degrees(angle));
    const double out[2] = {shear > 0.0 ? c : -s, shear > 0.0 ? s : c}; // that they go, per m/s
    snprintf(text, size,
             "local flat, c, s = %s, %.17g, %.17g\n"
             "local function place(x, y) if flat then return {x, y} else return {x, y, 0} end end\n"
             "scene { dimension = flat and 2 or 3, dx = 0.1, fps = 50, frames = 50, precision = "
             "'double', gravity = place(0, 0) }\n"
             "local low, high = {-0.4, -0.5, -0.2}, {0.4, 0.5, 0.2}\n"
             "if flat then low, high = {-0.4, -0.5}, {0.4, 0.5} end\n"
             "particles { material = material.elastic { density = 1000, young = 2e7, poisson = 0 "
             "}, body = 'bar', sampling = 'lattice', jitter = 0,\n"
             "  velocity = function(x, y, z) local side = c * y - s * x > 0.0123 and 1 or -1\n"
             "    return side * %.17g, side * %.17g, 0 end,\n"
             "  shape = move(box { min = low, max = high }, { rotation = { angle = %.17g } }) }\n"
             "fracture { body = 'bar', by = plane { point = place(-0.0123 * s, 0.0123 * c), normal "
             "= place(-s, c) }, strength = 2e4, %s }\n",
             dimension == 2 ? "true" : "false", c, s, out[0], out[1], angle, more);
}

// The energy that is gone a while after [J]. @param[out] left share of the glue that has not broken
static double taken_by_parting(int dimension, double angle, double shear, const char *more,
                               double *left)
{
    char text[2048];
    rp_totals before, now;
    write_parting(text, sizeof text, dimension, angle, shear, more);
    run r = start(text, 1, false);
    const double all = (double)glue_left(r.world);
    if (rp_world_step(r.world) != RP_OK) {
        check_record(__FILE__, __LINE__, "%s", rp_last_error());
    }
    rp_world_totals(r.world, &before);
    run_frames(r.world, 8);
    rp_world_totals(r.world, &now);
    for (int a = 0; a < dimension; a++) {
        if (!(fabs(now.momentum[a] - before.momentum[a]) < 1e-11 * now.mass)) {
            check_record(__FILE__, __LINE__, "momentum %g", now.momentum[a] - before.momentum[a]);
        }
    }
    *left = (double)glue_left(r.world) / all;
    stop(&r);
    return 0.5 * now.mass - now.kinetic - now.elastic;
}

// Half of the product of strength and softening is what it takes, more than what is lost where the
// cut breaks at once. Slower than that pieces never part.
static void what_softens_takes_the_energy_that_was_asked_for(void)
{
    static const struct {
        int dimension;
        double angle, shear;
        const char *more;
        double per_area; // [J/m^2]
    } cases[] = {
        {2, 0.0, 0.0, "softening = 0.03", 300.0},
        {2, 25.0, 0.0, "softening = 0.02", 200.0},
        {2, 25.0, 1.0, "softening = 0.04, shear = 1e4", 200.0},
        {3, 0.0, 0.0, "softening = 0.02", 200.0},
    };
    for (int i = 0; i < 4; i++) {
        const double area = cases[i].dimension == 2 ? 0.8 : 0.8 * 0.4;
        double left;
        check_context("case %d", i);
        const double at_once =
            taken_by_parting(cases[i].dimension, cases[i].angle, cases[i].shear, "", &left);
        CHECK_EQUAL(left, 0.0);
        const double taken = taken_by_parting(cases[i].dimension, cases[i].angle, cases[i].shear,
                                              cases[i].more, &left);
        CHECK_EQUAL(left, 0.0);
        CHECK_NEAR((taken - at_once) / area, cases[i].per_area, 0.05 * cases[i].per_area);
    }
    double left;
    const double all = taken_by_parting(2, 0.0, 0.0, "softening = 0.08", &left);
    CHECK_EQUAL(left, 1.0);
    CHECK_NEAR(all, 0.5 * 800.0, 10.0);
}

// ---- many pieces ----

// Glue that holds on cuts across a bar that stands upright, below its middle.
static int64_t weak_glue(const rp_world *world)
{
    const rp_set *set = &world->set[rp_glue_find(world->species, world->species_count)];
    int64_t count = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local i = page->first; i < page->first + page->count; i++) {
            count += rp_set_value(set, RP_COL_STRENGTH, i, 0, page) > 0.0 &&
                     rp_set_value(set, RP_COL_POSITION, i, 1, page) < 0.0 &&
                     fabs(rp_set_value(set, RP_COL_NORMAL, i, 1, page)) > 0.5;
        }
    }
    return count;
}

// Six pieces, four at a junction of three cuts: only the weak cut opens, not the strong one above
// it, nor the one lengthwise that meets both.
static void only_the_weak_cut_opens(void)
{
    bar b = plain_bar;
    b.by = "planes { list = {{ point = way(0, 0.3), normal = way(0, 1), strength = 1.3e4 }, "
           "{ point = way(0, -0.2), normal = way(0, 1) }, "
           "{ point = way(0.03, 0), normal = way(1, 0) }} }";
    b.more = "strength = 1e4";
    run r = start_bar(&b);
    CHECK_OK(rp_world_step(r.world));
    const int64_t all = glue_left(r.world), weak = weak_glue(r.world);
    CHECK_EQUAL(rp_world_bodies(r.world), 7);
    CHECK(weak >= 16 && all > 4 * weak);
    while (r.world->crack_count == 0 && rp_world_time(r.world) < 3.0) {
        CHECK_OK(rp_world_step(r.world));
    }
    CHECK_NEAR(axial_stress(r.world, &b), 1e4, 500.0);
    CHECK_HELPER(run_frames(r.world, 10));
    CHECK_EQUAL(weak_glue(r.world), 0);
    CHECK_EQUAL(glue_left(r.world), all - weak);
    stop(&r);
}

#define SHARDS                                                                                     \
    "scene { dx = 0.1, fps = 25, frames = 100, gravity = %s, %s }\n"                               \
    "particles { material = material.elastic { density = 1000, young = 5e5 }, body = 'block',\n"   \
    "  velocity = {0.3, %g, 0}, velocity_gradient = {{%g, -3, 0}, {3, %g, 0}, {0, 0, 0}},\n"       \
    "  shape = box { min = {-0.5, 0.15, -0.4}, max = {0.5, 1.0, 0.4} } }\n"                        \
    "fracture { body = 'block', by = voronoi { count = %d, seed = 4 }, strength = {6e3, 9e3} }\n"  \
    "contact { friction = 0 }\n"                                                                   \
    "contact { bodies = {'block', 'rest'}, friction = 0.5 }\n"                                     \
    "contact { bodies = {'block.2', 'block.1'}, friction = 0.1 }\n"

// A block that flies apart: all impulses are between its pieces, and what breaks takes energy.
static void a_block_that_breaks_keeps_its_momentum(void)
{
    char text[2048];
    snprintf(text, sizeof text, SHARDS, "{0, 0, 0}", "precision = 'double'", 0.0, 2.5, 2.5, 6);
    run r = start(text, 1, false);
    rp_totals before, last, now;
    CHECK_OK(rp_world_step(r.world));
    rp_world_totals(r.world, &before);
    last = before;
    const int64_t glue = glue_left(r.world);
    for (int f = 0; f < 8; f++) {
        CHECK_HELPER(run_frames(r.world, 1));
        rp_world_totals(r.world, &now);
        check_context("frame %d", f);
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(now.momentum[a], before.momentum[a], 1e-12 * now.mass);
            CHECK_NEAR(now.angular[a], before.angular[a], 1e-11 * now.mass);
        }
        CHECK(now.kinetic + now.elastic <= 1.0005 * (last.kinetic + last.elastic));
        last = now;
    }
    CHECK(glue_left(r.world) < 0.7 * (double)glue && glue_left(r.world) > 0);
    rp_crack_row row[1000];
    const int64_t rows = rp_world_take_cracks(r.world, row, 1000);
    int64_t told = 0;
    CHECK(rows > 3 && rows < 1000);
    for (int64_t i = 0; i < rows; i++) {
        CHECK(row[i].body[0] >= 1 && row[i].body[0] < row[i].body[1] && row[i].body[1] <= 6);
        CHECK(row[i].area > 0.0 && (i == 0 || row[i].time >= row[i - 1].time));
        told += row[i].glue;
    }
    CHECK_EQUAL(told, glue - glue_left(r.world));
    CHECK_EQUAL(rp_world_take_cracks(r.world, row, 1000), 0);
    stop(&r);
}

// The same bits for 1, 2 and 5 threads, and in an empty world that goes on from the middle of a
// frame in which it breaks.
static void compare_bits(const char *text)
{
    void *state[4] = {0}, *half = NULL;
    size_t size[4] = {0}, half_size = 0;
    static const int threads[] = {1, 2, 5, 3};
    for (int i = 0; i < 4; i++) {
        run r = start(text, threads[i], i == 3); // as a run that goes on does
        if (i == 3) {
            CHECK_OK(rp_world_restore(r.world, half, half_size));
        } else {
            while (r.world->crack_count == 0 && r.world->time.step < 200) {
                CHECK_OK(rp_world_step(r.world));
            }
            CHECK(r.world->time.part > 0.0);
            if (i == 0) {
                CHECK_OK(rp_world_save(r.world, &half, &half_size));
            }
        }
        CHECK_HELPER(run_frames(r.world, 2));
        CHECK(r.world->crack_count > 3);
        CHECK_OK(rp_world_save(r.world, &state[i], &size[i]));
        stop(&r);
        check_context("%d threads", threads[i]);
        CHECK_EQUAL(size[i], size[0]);
        CHECK(memcmp(state[i], state[0], size[0]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        rp_state_free(state[i]);
    }
    rp_state_free(half);
}

// On a floor, in single precision, by both criteria.
static void what_breaks_does_so_to_the_bit(void)
{
    static const char strength[] = "strength = {6e3, 9e3}", paper[] = "criterion = 'paper', ";
    char text[2048], forces[2048];
    snprintf(text, sizeof text,
             SHARDS "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, "
                    "contact = 'separate', friction = 0.4 }\n",
             "{0, -9.81, 0}", "precision = 'single'", -4.0, 0.0, 0.0, 6);
    CHECK_HELPER(compare_bits(text));
    const char *at = strstr(text, strength);
    CHECK(at != NULL);
    snprintf(forces, sizeof forces, "%.*s%sstrength = {60, 90}%s", (int)(at - text), text, paper,
             at + strlen(strength));
    CHECK_HELPER(compare_bits(forces));
    snprintf(forces, sizeof forces, "%.*ssoftening = 2e-3, %s", (int)(at - text), text, at);
    CHECK_HELPER(compare_bits(forces));
}

// ---- what goes wrong ----

#define HALVES                                                                                     \
    "scene { dimension = 2, dx = 0.1, frames = 10, precision = '%s' }\n"                           \
    "particles { material = material.elastic {}, body = 'block', shape = box { min = {0, 0}, "     \
    "max = {1, 1} } }\n"                                                                           \
    "fracture { body = 'block', by = plane { point = {0.5, 0}, normal = {1, 0} }, strength = "     \
    "1e9 }\n"

static void put_real(const rp_world *world, void *at, double value)
{
    if (world->def.precision == RP_SINGLE) {
        *(float *)at = (float)value;
    } else {
        *(double *)at = value;
    }
}

static void *no_memory(size_t size, size_t align, void *context)
{
    (void)size, (void)align, (void)context;
    return NULL;
}

// What breaks is told, also where there was no memory to tell it when it did.
static void a_crack_without_memory_for_its_row_comes_when_there_is_some(void)
{
    int64_t left[2] = {0}, step = 0;
    int rows[2] = {0};
    for (int i = 0; i < 2; i++) {
        bar b = plain_bar;
        run r = start_bar(&b);
        while (i == 0 ? r.world->crack_count == 0 && rp_world_time(r.world) < 8.0
                      : r.world->time.step < step) {
            CHECK_OK(rp_world_step(r.world));
            step = i == 0 ? r.world->time.step - 1 : step;
        }
        if (i == 1) {
            const rp_allocator own = r.world->allocator;
            CHECK_EQUAL(r.world->crack_count, 0);
            r.world->allocator.allocate = no_memory;
            CHECK_ERROR(rp_world_step(r.world), RP_ERR_MEMORY, "what broke");
            r.world->allocator = own;
            CHECK_OK(rp_world_step(r.world));
        }
        left[i] = glue_left(r.world);
        rows[i] = (int)r.world->crack_count;
        stop(&r);
    }
    CHECK(rows[0] > 0);
    CHECK_EQUAL(rows[1], rows[0]);
    CHECK_EQUAL(left[1], left[0]);
}

// Tables of pairs are written at a place that comes from it, and it is asked for its name.
static void glue_with_bodies_that_are_not_there_is_refused(void)
{
    static const double wrong[] = {60000.0, -5.0, NAN, 3.0, 1.0, 0.0, 1.5};
    for (int i = 0; i < 7; i++) {
        for (int born = 0; born < 2; born++) {
            char text[1024];
            void *state;
            size_t size;
            snprintf(text, sizeof text, HALVES, i % 2 == 0 ? "single" : "double");
            run r = start(text, 1, false), fresh = start(text, 1, true);
            rp_set *set = &r.world->set[rp_glue_find(r.world->species, r.world->species_count)];
            if (born) {
                CHECK_OK(rp_world_step(r.world));
                put_real(r.world, rp_set_at(set, RP_COL_PARTNER, rp_set_page(set)[0].first, 0),
                         wrong[i]);
            } else {
                put_real(r.world, rp_set_birth(set, RP_COL_PARTNER, 2, 0), wrong[i]);
            }
            check_context("%g, %s", wrong[i], born ? "born" : "to be born");
            CHECK_OK(rp_world_save(r.world, &state, &size));
            CHECK_ERROR(rp_world_restore(fresh.world, state, size), RP_ERR_ARGUMENT,
                        "state: glue between two bodies");
            rp_state_free(state);
            stop(&r);
            stop(&fresh);
        }
    }
}

// Glue is looked at before a step, and sorts particles for that: one that is gone is found there.
static void a_particle_that_is_gone_ends_the_run_also_where_glue_finds_it(void)
{
    static const char *const sentence[] = {"a particle crossed more than", "; before step 1 of dt"};
    for (int far = 0; far < 2; far++) {
        char text[1024];
        snprintf(text, sizeof text, HALVES, "double");
        run r = start(text, 1, false);
        CHECK_OK(rp_world_step(r.world));
        rp_set *set = &r.world->set[0];
        rp_page *page = &rp_set_page(set)[set->pages - 1];
        if (far) { // one block more, and there is none
            page->block[0] = RP_BLOCK_LIMIT - 2;
            page->key = rp_block_key(page->block);
        }
        put_real(r.world, rp_set_at(set, RP_COL_POSITION, page->first, 0),
                 far ? 1.5 * set->layout.cells[0] : 1e12);
        set->travel = 10.0;
        // so that glue is looked at
        rp_set *glue = &r.world->set[rp_glue_find(r.world->species, r.world->species_count)];
        put_real(r.world, rp_set_at(glue, RP_COL_SLACK, rp_set_page(glue)[0].first, 0), 0.0);
        check_context("%s", sentence[far]);
        CHECK_ERROR(rp_world_step(r.world), RP_ERR_DIVERGED, sentence[far]);
        CHECK_ERROR(rp_world_step(r.world), RP_ERR_DIVERGED, "has failed in an earlier step");
        stop(&r);
    }
}

TEST_MAIN(TEST(glue_that_never_breaks_is_as_no_cut),
          TEST(a_hundred_pieces_at_one_node_hold_together),
          TEST(a_bar_breaks_at_the_strength_that_was_asked_for),
          TEST(a_bar_of_random_places_carries_what_was_asked_for),
          TEST(cells_break_at_the_strength_that_was_asked_for), TEST(more_glue_is_no_stronger),
          TEST(pressure_across_a_cut_never_opens_it),
          TEST(the_criterion_of_the_paper_depends_on_the_grid),
          TEST(what_softens_takes_the_energy_that_was_asked_for), TEST(only_the_weak_cut_opens),
          TEST(a_block_that_breaks_keeps_its_momentum), TEST(what_breaks_does_so_to_the_bit),
          TEST(a_crack_without_memory_for_its_row_comes_when_there_is_some),
          TEST(glue_with_bodies_that_are_not_there_is_refused),
          TEST(a_particle_that_is_gone_ends_the_run_also_where_glue_finds_it))
