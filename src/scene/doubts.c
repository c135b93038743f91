// What is not wrong but hardly meant. Each doubt is a warning; the scene is taken at its word.
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
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
    return strcmp(key, "friction_angle") == 0 || strcmp(key, "fov") == 0;
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
    enum { TIMES = 9 };
    const double fps = rp_call_number(scene->said, "fps");
    const double end = (double)rp_call_integer(scene->said, "frames") / fps;
    const rp_pose_of_time motion = rp_scene_pose_of_time(collider, "motion");
    double most = 0.0;
    for (int i = 0; i < TIMES; i++) {
        rp_pose pose;
        if (motion.call(motion.context, end * i / (TIMES - 1), &pose) != RP_OK) {
            return; // the run will say so
        }
        most = fmax(most, 2.0 * acos(fmin(1.0, fabs(pose.rotation[3]))) * (180.0 / PI));
    }
    if (most > 1e-6 && most <= 0.5 * PI + 1e-3) {
        rp_call_warn(scene, collider, "motion",
                     "it turns by no more than %.3g degrees in the whole run; angles are in "
                     "degrees (math.deg converts)",
                     most);
    }
}

// Which way is up
// ----------------------------------------------------------------------------------------------

typedef struct extent {
    double lower[3], upper[3];
} extent;

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

// How much of a half-space's normal points along an axis; NAN for other shapes.
static double facing(const scene_call *shape, int axis)
{
    if (strcmp(shape->word->name, "half_space") != 0) {
        return NAN;
    }
    const double *n = rp_call_vector(shape, "normal");
    return n[axis] / hypot(hypot(n[0], n[1]), n[2]);
}

// A plane that faces up if z is up, or a flat thing that all particles are above.
static bool is_floor_along_z(const scene_call *shape, const extent *particles)
{
    extent e;
    const double up = facing(shape, 2);
    if (!isnan(up) || !rp_shape_bounds(shape->shape, 3, e.lower, e.upper)) {
        return up > 0.9;
    }
    const double thick = e.upper[2] - e.lower[2];
    const double wide = fmin(e.upper[0] - e.lower[0], e.upper[1] - e.lower[1]);
    return thick < 0.25 * wide && e.upper[2] <= particles->lower[2] + 0.5 * thick;
}

// Could it hold what falls along y?
static bool holds_along_y(const scene_call *shape, const extent *particles)
{
    extent e;
    const double up = facing(shape, 1);
    return !isnan(up) ? up > 0.3
                      : !rp_shape_bounds(shape->shape, 3, e.lower, e.upper) ||
                            e.lower[1] < particles->lower[1];
}

// A floor along z, and nothing that would hold sand along y.
static const scene_call *find_floor_along_z(const rp_scene *scene)
{
    const scene_call *floor_ = NULL;
    const extent particles = extent_of_particles(scene);
    for (const scene_call *r = rp_call_find(scene->first, "collider"); r != NULL;
         r = rp_call_find(r->next, "collider")) {
        const scene_call *shape = rp_call_value(r, "shape")->call;
        if (is_floor_along_z(shape, &particles)) {
            floor_ = r;
        } else if (holds_along_y(shape, &particles)) {
            return NULL;
        }
    }
    return floor_;
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

void rp_scene_doubt(const rp_scene *scene)
{
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        doubt_angles(scene, r, r, "");
        if (strcmp(r->word->name, "collider") == 0 &&
            rp_call_value(r, "motion")->kind == TAKES_FUNCTION) {
            doubt_motion(scene, r);
        }
    }
    if (scene->dimension == 3) {
        doubt_up(scene);
    }
}
