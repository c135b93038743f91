// How colliders and the mouths of emitters move when no function says so: evenly, or from key frame
// to key frame.
#include "scene/scene.h"

#include <math.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)

// Even motion
// -------------------------------------------------------------------------------------------------------

// How fast it goes evenly; what an emitter calls velocity is that of its grains.
static const double *even_velocity(const scene_call *r)
{
    const bool emitter = strcmp(r->word->name, "emitter") == 0;
    return rp_call_vector(r, emitter ? "mouth_velocity" : "velocity");
}

static rp_result even_pose(void *context, double t, rp_pose *out)
{
    const scene_call *r = context;
    const double *velocity = even_velocity(r);
    const scene_value *spin = rp_call_value(r, "spin");
    for (int a = 0; a < 3; a++) {
        out->position[a] = velocity[a] * t;
    }
    if (spin->kind == 0) {
        return RP_OK;
    }
    const double *axis = rp_call_vector(spin->call, "axis");
    const bool own = rp_call_value(spin->call, "center")->kind != 0;
    const double *center = own ? rp_call_vector(spin->call, "center") : rp_call_vector(r, "pivot");
    const double angle = DEGREE * rp_call_number(spin->call, "rate") * t;
    const double length = hypot(hypot(axis[0], axis[1]), axis[2]);
    double n[3], along = 0.0;
    for (int a = 0; a < 3; a++) {
        n[a] = axis[a] / length;
        along += n[a] * center[a];
        out->rotation[a] = sin(0.5 * angle) * n[a];
    }
    out->rotation[3] = cos(0.5 * angle);
    // the centre stays where it is: move back what turning about the origin does to it
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const double turned = cos(angle) * center[a] + (1.0 - cos(angle)) * along * n[a] +
                              sin(angle) * (n[b] * center[c] - n[c] * center[b]);
        out->position[a] += center[a] - turned;
    }
    return RP_OK;
}

static bool moves_evenly(const scene_call *r)
{
    const double *v = even_velocity(r);
    return v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0 || rp_call_value(r, "spin")->kind != 0;
}

// Key frames
// --------------------------------------------------------------------------------------------------------

// What is interpolated: position, and rotation as a vector, axis times angle [rad].
enum { COMPONENTS = 6 };

static void components_of(const scene_call *key, double out[COMPONENTS])
{
    memset(out, 0, COMPONENTS * sizeof *out);
    memcpy(out, rp_call_vector(key, "position"), 3 * sizeof *out);
    const scene_value *rotation = rp_call_value(key, "rotation");
    if (rotation->kind != 0) {
        const double *axis = rp_call_vector(rotation->call, "axis");
        const double length = hypot(hypot(axis[0], axis[1]), axis[2]);
        const double angle = DEGREE * rp_call_number(rotation->call, "angle");
        for (int a = 0; a < 3; a++) {
            out[3 + a] = angle * (axis[a] / length);
        }
    }
}

// The slope of a smooth curve at a key between two others: 0 where the curve turns round, so that
// it never overshoots, otherwise the harmonic mean of the slopes to either side, weighted by their
// lengths (F. N. Fritsch and J. Butland, 1984).
static double slope_at(double before, double after, double length_before, double length_after)
{
    if (!(before * after > 0.0)) {
        return 0.0;
    }
    const double w = (length_before + 2.0 * length_after) / (3.0 * (length_before + length_after));
    return before * after / (w * after + (1.0 - w) * before);
}

// Component c at time t in the piece that begins with key i.
static double between_keys(const scene_value *keys, bool smooth, int i, int c, double t)
{
    double time[4] = {0}, x[4] = {0}; // keys i - 1 to i + 2, as far as there are
    for (int k = 0; k < 4; k++) {
        if (i - 1 + k >= 0 && i - 1 + k < keys->count) {
            double all[COMPONENTS];
            time[k] = rp_call_number(keys->tables[i - 1 + k], "time");
            components_of(keys->tables[i - 1 + k], all);
            x[k] = all[c];
        }
    }
    const double length = time[2] - time[1], s = (t - time[1]) / length;
    const double rise = (x[2] - x[1]) / length;
    if (!smooth) {
        return x[1] + s * (x[2] - x[1]);
    }
    double begin = 0.0, end = 0.0; // at rest at the first and the last key
    if (i > 0) {
        const double before = time[1] - time[0];
        begin = slope_at((x[1] - x[0]) / before, rise, before, length);
    }
    if (i + 2 < keys->count) {
        const double after = time[3] - time[2];
        end = slope_at(rise, (x[3] - x[2]) / after, length, after);
    }
    const double r = 1.0 - s;
    return x[1] * r * r * (1.0 + 2.0 * s) + x[2] * s * s * (1.0 + 2.0 * r) +
           length * s * r * (begin * r - end * s);
}

static rp_result key_frame_pose(void *context, double t, rp_pose *out)
{
    const scene_call *r = context;
    const scene_value *keys = rp_call_value(r, "keys");
    const bool smooth = rp_call_choice(r, "between") == 0;
    const double first = rp_call_number(keys->tables[0], "time");
    const double last = rp_call_number(keys->tables[keys->count - 1], "time");
    t = fmin(fmax(t, first), last);
    // the piece that t is in: the last one that begins at t or before
    int low = 0, high = keys->count - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (rp_call_number(keys->tables[middle], "time") <= t) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double x[COMPONENTS];
    for (int c = 0; c < COMPONENTS; c++) {
        x[c] = between_keys(keys, smooth, low, c, t);
    }
    const double angle = hypot(hypot(x[3], x[4]), x[5]);
    const double scale = angle > 0.0 ? sin(0.5 * angle) / angle : 0.0;
    for (int a = 0; a < 3; a++) {
        out->position[a] = x[a];
        out->rotation[a] = scale * x[3 + a];
    }
    out->rotation[3] = cos(0.5 * angle);
    return RP_OK;
}

// About the pivot
// --------------------------------------------------------------------------------------------------------

// Turned by a quaternion of any length but 0.
static void turn(const double q[4], const double x[3], double out[3])
{
    const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    double cross[3];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        cross[a] = q[b] * x[c] - q[c] * x[b] + q[3] * x[a];
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        out[a] = x[a] + 2.0 / square * (q[b] * cross[c] - q[c] * cross[b]);
    }
}

// What a function or key frames say, with the pivot in the place of the origin.
static rp_result pivoted_pose(void *context, double t, rp_pose *out)
{
    const scene_call *r = context;
    const double *pivot = rp_call_vector(r, "pivot");
    double turned[3];
    if (rp_call_value(r, "motion")->kind != 0) {
        const rp_pose_of_time motion = rp_scene_pose_of_time(r, "motion");
        const rp_result result = motion.call(motion.context, t, out);
        if (result != RP_OK) {
            return result;
        }
    } else {
        key_frame_pose(context, t, out);
    }
    turn(out->rotation, pivot, turned);
    for (int a = 0; a < 3; a++) {
        out->position[a] += pivot[a] - turned[a];
    }
    return RP_OK;
}

rp_pose_of_time rp_scene_motion(const scene_call *r)
{
    const bool scripted = rp_call_value(r, "motion")->kind != 0;
    const bool keyed = rp_call_value(r, "keys")->kind != 0;
    const double *pivot = rp_call_vector(r, "pivot");
    if ((scripted || keyed) && (pivot[0] != 0.0 || pivot[1] != 0.0 || pivot[2] != 0.0)) {
        return (rp_pose_of_time){pivoted_pose, (void *)(uintptr_t)r};
    }
    if (scripted) {
        return rp_scene_pose_of_time(r, "motion");
    }
    return (rp_pose_of_time){keyed             ? key_frame_pose
                             : moves_evenly(r) ? even_pose
                                               : NULL,
                             (void *)(uintptr_t)r};
}
