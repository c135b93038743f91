// What is not wrong but hardly meant. Each doubt is a warning; the scene is taken at its word.
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

// Radians
// ------------------------------------------------------------------------------------------------------

// math.rad() of a whole number, or a known part of pi, written out to three digits or more.
static bool is_part_of_pi(double angle)
{
    static const double parts[] = {1.0 / 6, 1.0 / 4, 1.0 / 3, 1.0 / 2, 2.0 / 3,
                                   3.0 / 4, 1.0,     3.0 / 2, 2.0};
    const double x = fabs(angle), degrees = x * (180.0 / PI), whole = round(degrees);
    bool found = whole >= 1.0 && fabs(degrees - whole) < 1e-9 * degrees;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        found = found || fabs(x / (parts[i] * PI) - 1.0) < 1e-3;
    }
    return found;
}

// Sand without friction is no sand, and nobody looks through a slit.
static bool is_never_small(const char *key)
{
    return strcmp(key, "friction_angle") == 0 || strcmp(key, "h0") == 0 || strcmp(key, "fov") == 0;
}

static bool is_friction(const char *key)
{
    return strcmp(key, "friction") == 0 || strcmp(key, "friction_coefficient") == 0;
}

// @param at the call that the warning is of: that which holds the table
static void doubt_angles(const rp_scene *scene, const scene_call *at, const scene_call *call,
                         const char *path)
{
    for (int k = 0; k < call->word->keys; k++) {
        const scene_key *key = &call->word->key[k];
        const scene_value *v = &call->value[k];
        char inner[96];
        snprintf(inner, sizeof inner, "%s%s%s", path, path[0] != '\0' ? "." : "", key->name);
        if (v->kind == TAKES_TABLE) {
            doubt_angles(scene, at, v->call, inner);
        }
        for (int i = 0; v->kind == TAKES_TABLES && i < v->count; i++) {
            doubt_angles(scene, at, v->tables[i], inner);
        }
        const bool angle = v->kind == TAKES_NUMBER && v->given && key->unit != NULL &&
                           strncmp(key->unit, "degrees", 7) == 0;
        const bool small = angle && v->number > 0.0 && v->number <= 0.5 * PI + 1e-3;
        // nothing rubs like that, and a coefficient that stands for no slip at all is larger
        if (v->kind == TAKES_NUMBER && v->given && is_friction(key->name) && v->number >= 5.0 &&
            v->number < 90.0) {
            rp_call_warn(scene, at, inner,
                         "%.4g; that looks like an angle in degrees, of which the coefficient "
                         "would be %.3g (math.tan(math.rad(angle)))",
                         v->number, tan(v->number * (PI / 180.0)));
        }
        if (angle && (is_part_of_pi(v->number) || (small && is_never_small(key->name)))) {
            rp_call_warn(scene, at, inner,
                         "%.4g %s; that looks like radians, which would be %.4g %s (math.deg "
                         "converts)",
                         v->number, key->unit, v->number * (180.0 / PI), key->unit);
        }
    }
}

// A motion that turns its collider, but by less in the whole run than anybody would see.
static void doubt_motion(const rp_scene *scene, const scene_call *collider)
{
    enum { TIMES = 17 };
    static const char *const keys[] = {"motion", "keys", "spin"};
    const double fps = rp_call_number(scene->said, "fps");
    const double end = (double)rp_call_integer(scene->said, "frames") / fps;
    const rp_pose_of_time motion = rp_scene_motion(collider);
    double most = 0.0;
    for (int i = 1; i <= TIMES && motion.call != NULL; i++) {
        const double turn = i * 0.6180339887498949; // no part of any period
        rp_pose pose;
        if (motion.call(motion.context, i == TIMES ? end : end * (turn - floor(turn)), &pose) !=
            RP_OK) {
            return; // the run will say so
        }
        const double *q = pose.rotation;
        most = fmax(most, 2.0 * atan2(hypot(hypot(q[0], q[1]), q[2]), fabs(q[3])) * (180.0 / PI));
    }
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        if (most > 1e-6 && most <= 0.5 * PI + 1e-3 && rp_call_value(collider, keys[k])->kind != 0) {
            rp_call_warn(scene, collider, keys[k],
                         "it turns by no more than %.3g degrees in the whole run; angles are in "
                         "degrees (math.deg converts)",
                         most);
        }
    }
}

// Which way is up
// ----------------------------------------------------------------------------------------------

typedef struct extent {
    double lower[3], upper[3];
} extent;

static double longest(const extent *e, int dim)
{
    double most = 0.0;
    for (int a = 0; a < dim; a++) {
        most = fmax(most, e->upper[a] - e->lower[a]);
    }
    return most;
}

// Around all that is filled and poured.
static extent extent_of_particles(const rp_scene *scene)
{
    extent all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        double lower[3], upper[3];
        if ((strcmp(r->word->name, "particles") == 0 || strcmp(r->word->name, "emitter") == 0) &&
            rp_shape_bounds(rp_call_value(r, "shape")->call->shape, 3, lower, upper)) {
            for (int a = 0; a < 3; a++) {
                all.lower[a] = fmin(all.lower[a], lower[a]);
                all.upper[a] = fmax(all.upper[a], upper[a]);
            }
        }
    }
    return all;
}

// Places that fill a box evenly, however many of them (Roberts' sequence).
static void nth_place(const double lower[3], const double upper[3], int dim, int n, double out[3])
{
    static const double step[2][3] = {{0.7548776662466927, 0.5698402909980532, 0.0},
                                      {0.8191725133961645, 0.6710436067037893, 0.5497004779019703}};
    for (int a = 0; a < 3; a++) {
        const double turn = 0.5 + n * step[dim - 2][a];
        out[a] = a < dim ? lower[a] + (upper[a] - lower[a]) * (turn - floor(turn)) : 0.0;
    }
}

// The collider that one comes to from x straight on; NULL: none, or one is within it at once.
static const scene_call *meets(const rp_scene *scene, const double x[3], int axis, double sign,
                               double far)
{
    enum { TURNS = 100 };
    const double least = 0.25 * rp_call_number(scene->said, "dx");
    double at[3] = {x[0], x[1], x[2]}, way = 0.0;
    for (int turn = 0; turn < TURNS && way < far; turn++) {
        double nearest = INFINITY;
        for (const scene_call *r = rp_call_find(scene->first, "collider"); r != NULL;
             r = rp_call_find(r->next, "collider")) {
            const double d = rp_shape_distance(rp_call_value(r, "shape")->call->shape, at, NULL);
            if (d <= 0.0) {
                return turn > 0 ? r : NULL;
            }
            nearest = fmin(nearest, d);
        }
        way += fmax(nearest, least);
        at[axis] = x[axis] + sign * way;
    }
    return NULL;
}

// What is filled and poured falls on something along z and has nothing above it there, and along
// y hardly any of it: the first collider that it falls on.
static const scene_call *find_floor_along_z(const rp_scene *scene)
{
    enum { EACH = 4, TRIES = 64, MOST = 64 };
    const extent all = extent_of_particles(scene);
    const double far = 4.0 * longest(&all, 3);
    const scene_call *floor_ = NULL;
    int places = 0, on_y = 0, on_z = 0;
    for (const scene_call *r = scene->first; r != NULL && places < MOST; r = r->next) {
        double lower[3], upper[3];
        if ((strcmp(r->word->name, "particles") != 0 && strcmp(r->word->name, "emitter") != 0) ||
            !rp_shape_bounds(rp_call_value(r, "shape")->call->shape, 3, lower, upper)) {
            continue;
        }
        for (int i = 0, found = 0; i < TRIES && found < EACH; i++) {
            double x[3];
            nth_place(lower, upper, 3, i, x);
            if (rp_shape_distance(rp_call_value(r, "shape")->call->shape, x, NULL) > 0.0) {
                continue;
            }
            const scene_call *below = meets(scene, x, 2, -1.0, far);
            on_y += meets(scene, x, 1, -1.0, far) != NULL && meets(scene, x, 1, 1.0, far) == NULL;
            on_z += below != NULL && meets(scene, x, 2, 1.0, far) == NULL;
            floor_ = floor_ != NULL ? floor_ : below;
            found++;
            places++;
        }
        if (on_y > MOST / 10) {
            return NULL;
        }
    }
    return 10 * on_z >= 9 * places && 10 * on_y <= places ? floor_ : NULL;
}

static void doubt_up(const rp_scene *scene)
{
    const scene_value *gravity = rp_call_value(scene->said, "gravity");
    const double *g = gravity->vector;
    const int other = 3 - scene->up;
    if (gravity->kind == TAKES_FUNCTION) {
        return;
    }
    if (gravity->given && fabs(g[other]) > 2.0 * fmax(fabs(g[0]), fabs(g[scene->up]))) {
        rp_call_warn(
            scene, scene->said, "gravity",
            "it points along %c, and %c is up in this scene: say scene { up = \"%c\" }, or "
            "pictures and measurements lie on their side",
            rp_axis_name(other), rp_axis_name(scene->up), rp_axis_name(other));
    }
    const scene_call *floor_ = !gravity->given && scene->up == 1 ? find_floor_along_z(scene) : NULL;
    if (floor_ != NULL) {
        rp_call_warn(scene, floor_, "shape",
                     "it looks like a floor where z is up, and gravity points along y: say scene { "
                     "up = \"z\" } if that is meant");
    }
}

// Sizes
// --------------------------------------------------------------------------------------------------------

static const double COARSE = 4.0; // cells across what is well resolved
static const double THIN = 3.0;   // and what is less is told
static const double SOLID = 1.0;  // the same of what keeps together by itself, however thin it is

static bool is_within(const rp_shape *shape, const double x[3], double way, const double out[3])
{
    const double at[3] = {x[0] + way * out[0], x[1] + way * out[1], x[2] + way * out[2]};
    return rp_shape_distance(shape, at, NULL) <= 0.0;
}

// Through the inside from x, along the way out and against it [m].
static double chord(const rp_shape *shape, const double x[3], const double out[3], double most)
{
    enum { STEPS = 32, HALVES = 32 };
    double sum = 0.0;
    for (int side = -1; side <= 1; side += 2) {
        double low = 0.0, high = most / STEPS;
        for (; high < most && is_within(shape, x, side * high, out); high += most / STEPS) {
            low = high;
        }
        for (int i = 0; i < HALVES && high < most; i++) {
            const double middle = 0.5 * (low + high);
            *(is_within(shape, x, side * middle, out) ? &low : &high) = middle;
        }
        sum += high;
    }
    return sum;
}

static int compare_numbers(const void *pa, const void *pb)
{
    const double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

// How thick a shape is where half of its inside is [m]: the way through, along the way to the
// nearest face. Infinite where that is more than `most`, or not to be told.
static double thickness_of(const rp_shape *shape, int dim, double most)
{
    enum { DRAWS = 20000, FOUND = 101 };
    double lower[3], upper[3], found[FOUND];
    int count = 0;
    if (!rp_shape_bounds(shape, dim, lower, upper)) {
        return INFINITY;
    }
    for (int i = 0; i < DRAWS && count < FOUND; i++) {
        double x[3], out[3];
        nth_place(lower, upper, dim, i, x);
        if (rp_shape_distance(shape, x, out) < 0.0) {
            found[count++] = chord(shape, x, out, most);
        }
    }
    if (count < FOUND / 4) {
        return INFINITY;
    }
    qsort(found, (size_t)count, sizeof *found, compare_numbers);
    return found[count / 2] < most ? found[count / 2] : INFINITY;
}

static const char *method_of(const rp_scene *scene)
{
    return scene->method != NULL ? scene->method : rp_call_text(scene->said, "method");
}

// Grains in a body so thin move as the grid does, not as grains.
static void doubt_thickness(const rp_scene *scene, const scene_call *r)
{
    const double dx = rp_call_number(scene->said, "dx");
    const scene_call *material = rp_call_value(r, "material")->call;
    const rp_shape *shape = rp_call_value(r, "shape")->call->shape;
    const double thick = thickness_of(shape, scene->dimension, COARSE * dx);
    extent e;
    const bool is_grain = rp_shape_bounds(shape, scene->dimension, e.lower, e.upper) &&
                          longest(&e, scene->dimension) <= dx;
    const char *kind = material->word->name;
    const double least = strcmp(kind, "material.elastic") == 0 ? SOLID : THIN;
    if (thick < 0.95 * least * dx && !is_grain && strcmp(kind, "material.tracer") != 0) {
        rp_call_warn(scene, r, "shape",
                     "it is about %.2g m thick, which is %.2g dx: the grid hardly sees it, and it "
                     "spreads over the cells around; dx = %.2g puts 4 cells across it",
                     thick, thick / dx, thick / COARSE);
    }
}

// A mouth that moves is elsewhere when it begins, and during the run grains tell.
static bool stands_still(const scene_call *emitter)
{
    return rp_call_value(emitter, "attach")->kind == 0 && rp_scene_motion(emitter).call == NULL;
}

// What of an emitter's mouth lies in particles that are there when it begins.
static void doubt_mouth(const rp_scene *scene, const scene_call *emitter)
{
    enum { LOOKS = 4000 };
    const rp_shape *mouth = rp_call_value(emitter, "shape")->call->shape;
    double lower[3], upper[3], all = 0.0, buried = 0.0;
    const scene_call *by = NULL;
    if (!rp_shape_bounds(mouth, scene->dimension, lower, upper)) {
        return;
    }
    for (int i = 0; i < LOOKS; i++) {
        double x[3];
        nth_place(lower, upper, scene->dimension, i, x);
        if (rp_shape_distance(mouth, x, NULL) > 0.0) {
            continue;
        }
        bool within = false;
        for (const scene_call *r = rp_call_find(scene->first, "particles"); r != NULL && !within;
             r = rp_call_find(r->next, "particles")) {
            within = rp_shape_distance(rp_call_value(r, "shape")->call->shape, x, NULL) < 0.0;
            by = within ? r : by;
        }
        all += 1.0;
        buried += within;
    }
    if (buried > 0.05 * all) {
        rp_call_warn(
            scene, emitter, "shape",
            "%.0f %% of its mouth lies in the particles of line %d: what it pours will lie "
            "in them; move it out, or let it begin (start) when they have gone",
            100.0 * buried / all, by->line);
    }
}

// How long what others pour may meet it [s]; of a volume nobody knows here when it ends.
static double end_of(const scene_call *emitter)
{
    const double start = rp_call_number(emitter, "start");
    return rp_call_value(emitter, "stop")->given     ? rp_call_number(emitter, "stop")
           : rp_call_value(emitter, "volume")->given ? nextafter(start, INFINITY)
                                                     : INFINITY;
}

// Two mouths that pour into each other.
static void doubt_mouths(const rp_scene *scene, const scene_call *later)
{
    const rp_shape *shape = rp_call_value(later, "shape")->call->shape;
    const double dx = rp_call_number(scene->said, "dx");
    for (const scene_call *r = rp_call_find(scene->first, "emitter"); r != later;
         r = rp_call_find(r->next, "emitter")) {
        double x[3] = {0};
        const bool together = rp_call_number(r, "start") < end_of(later) &&
                              rp_call_number(later, "start") < end_of(r);
        const double depth =
            together && stands_still(r)
                ? rp_scene_overlap(scene, shape, rp_call_value(r, "shape")->call->shape, x)
                : 0.0;
        if (depth > 0.25 * dx) {
            rp_call_warn(scene, later, "shape",
                         "it lies in the mouth of line %d, %.2g m deep near (%.3g, %.3g, %.3g): "
                         "what they pour there lies in each other; move one out of the other",
                         r->line, depth, x[0], x[1], x[2]);
            return;
        }
    }
}

// Water that is said to fill pores, where none of that sand is: it is as thin there as in pores,
// and falls together.
static void doubt_pores(const rp_scene *scene, const scene_call *water)
{
    enum { LOOKS = 2000 };
    const scene_call *sand = rp_call_value(water, "within")->call;
    const rp_shape *shape = rp_call_value(water, "shape")->call->shape;
    double lower[3], upper[3], all = 0.0, outside = 0.0;
    if (!rp_shape_bounds(shape, scene->dimension, lower, upper)) {
        return;
    }
    for (int i = 0; i < LOOKS; i++) {
        double x[3];
        nth_place(lower, upper, scene->dimension, i, x);
        if (rp_shape_distance(shape, x, NULL) > 0.0) {
            continue;
        }
        bool within = false;
        for (const scene_call *r = rp_call_find(scene->first, "particles"); r != NULL && !within;
             r = rp_call_find(r->next, "particles")) {
            within = rp_call_value(r, "material")->call == sand &&
                     rp_shape_distance(rp_call_value(r, "shape")->call->shape, x, NULL) <= 0.0;
        }
        all += 1.0;
        outside += !within;
    }
    if (outside > 0.02 * all) {
        rp_call_warn(scene, water, "within",
                     "%.0f %% of the shape has none of that sand in it: water is thin there and "
                     "falls together; want the shape of the sand",
                     100.0 * outside / all);
    }
}

// A smooth upright wall between nodes does not see how full the cell beside it is: water that it
// holds is stirred without end.
static void doubt_wall(const rp_scene *scene, const scene_call *collider)
{
    const scene_call *shape = rp_call_value(collider, "shape")->call;
    const int contact = rp_call_choice(collider, "contact");
    const bool smooth = contact == RP_SLIP ||
                        (contact == RP_SEPARATE && rp_call_number(collider, "friction") == 0.0);
    bool water = false;
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        water = water || strcmp(r->word->name, "material.water") == 0;
    }
    if (strcmp(method_of(scene), "mixture") != 0 || !water || !smooth ||
        strcmp(shape->word->name, "half_space") != 0) {
        return;
    }
    const double dx = rp_call_number(scene->said, "dx");
    const double *point = rp_call_vector(shape, "point"), *n = rp_call_vector(shape, "normal");
    const double size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int a = 0; a < scene->dimension; a++) {
        // the outermost node that it acts at, seen from the water, may lie a little behind it, but
        // not before it by more than rounding: then it would be the next one
        const double sign = n[a] > 0.0 ? 1.0 : -1.0, at = sign * point[a] / dx + 1e-9;
        if (a != scene->up && fabs(n[a]) > 0.999 * size && at - floor(at + 1e-6) > 0.02) {
            rp_call_warn(scene, collider, "shape",
                         "a smooth wall between nodes stirs the water that it holds; put it onto "
                         "one, such as %c = %.12g, or make the scene periodic there",
                         "xyz"[a], sign * round(at) * dx);
        }
    }
}

// A mesh that is hundreds of times as large as all else, and thousands of cells: most files are in
// centimetres or millimetres.
static void doubt_units(const rp_scene *scene, const scene_call *mesh)
{
    const double dx = rp_call_number(scene->said, "dx"), scale = rp_call_number(mesh, "scale");
    const extent particles = extent_of_particles(scene);
    extent e;
    if (!rp_shape_bounds(mesh->shape, 3, e.lower, e.upper)) {
        return;
    }
    const double size = longest(&e, 3), others = longest(&particles, 3);
    if (!(others > 0.0 && isfinite(others))) {
        return;
    }
    if (size > 50.0 * others && size > 2000.0 * dx) {
        const double less = size > 400.0 * others ? 0.001 : 0.01;
        rp_call_warn(scene, mesh, "scale",
                     "it is %.3g m large, and all particles are within %.3g m: is the file in %s? "
                     "then want scale = %g",
                     size, others, less == 0.001 ? "millimetres" : "centimetres", less * scale);
    } else if (size < 0.02 * others && size < COARSE * dx) {
        rp_call_warn(scene, mesh, "scale",
                     "it is %.2g m large, less than 4 dx, and particles are spread over %.3g m: "
                     "does a unit of the file have more metres?",
                     size, others);
    }
}

// Sand pays back what it swelled at a rate that follows gravity, theory (26a).
static void doubt_rest(const rp_scene *scene, const scene_call *sand)
{
    const scene_value *gravity = rp_call_value(scene->said, "gravity");
    const double *g = gravity->vector;
    if (rp_call_choice(sand, "flow") == RP_FLOW_RESTING && gravity->kind != TAKES_FUNCTION &&
        g[0] == 0.0 && g[1] == 0.0 && g[2] == 0.0) {
        rp_call_warn(scene, sand, "flow",
                     "without gravity sand never pays back by how much it swelled: it stays up to "
                     "1.5 %% larger where it slid; want \"paper\"");
    }
}

// A step that nothing else bounds.
static void doubt_steps(const rp_scene *scene)
{
    const double share = rp_call_number(scene->said, "elastic_share");
    const char *method = method_of(scene);
    if (share > 1.0 && !rp_call_value(scene->said, "dt_max")->given &&
        (strcmp(method, "explicit") == 0 || strcmp(method, "mixture") == 0)) {
        rp_call_warn(scene, scene->said, "elastic_share",
                     "%g: steps longer than 1 are not stable, and the run may blow up, or nearly "
                     "so; want 0.8",
                     share);
    }
}

void rp_scene_doubt(const rp_scene *scene)
{
    doubt_steps(scene);
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        doubt_angles(scene, r, r, "");
        if (strcmp(r->word->name, "collider") == 0) {
            doubt_motion(scene, r);
            doubt_wall(scene, r);
        }
        // smoothed particles know each other, not a grid
        if (strcmp(r->word->name, "particles") == 0 && strcmp(method_of(scene), "sph") != 0) {
            doubt_thickness(scene, r);
        }
        if (strcmp(r->word->name, "particles") == 0 && rp_call_value(r, "within")->kind != 0) {
            doubt_pores(scene, r);
        }
        if (strcmp(r->word->name, "emitter") == 0 && rp_call_number(r, "start") <= 0.0 &&
            stands_still(r)) {
            doubt_mouth(scene, r);
        }
        if (strcmp(r->word->name, "emitter") == 0 && stands_still(r)) {
            doubt_mouths(scene, r);
        }
        if (strcmp(r->word->name, "mesh") == 0) {
            doubt_units(scene, r);
        }
        if (strcmp(r->word->name, "material.sand") == 0) {
            doubt_rest(scene, r);
        }
    }
    if (scene->dimension == 3) {
        doubt_up(scene);
    }
}
