#include "render/props.h"

#include "render/tone.h"

#include <stdlib.h>
#include <string.h>

static void rotate(const double q[4], const double x[3], double out[3])
{
    // x + 2 w (u × x) + 2 u × (u × x), for a quaternion of length 1
    const double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], s = 2.0 / n;
    double t[3];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        t[i] = s * (q[j] * x[k] - q[k] * x[j]);
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = x[i] + q[3] * t[i] + q[j] * t[k] - q[k] * t[j];
    }
}

void rp_props_place(const rp_pose *pose, const float x[3], double out[3])
{
    rotate(pose->rotation, (double[3]){x[0], x[1], x[2]}, out);
    for (int a = 0; a < 3; a++) {
        out[a] += pose->position[a];
    }
}

static bool is_plane(const rp_surface *s) { return s->vertices == 4 && s->triangles == 2; }

// A slope was drawn when the run began, and does not know how far the sand would go: a rectangle
// that has all there is to see above it, in the frame of the collider.
static void stretch(const rp_camera *camera, const rp_pose *pose, const rp_surface *s,
                    float out[4][3])
{
    const double back[4] = {-pose->rotation[0], -pose->rotation[1], -pose->rotation[2],
                            pose->rotation[3]};
    double to[3], middle[3], reach = 0.0, height = 0.0;
    for (int a = 0; a < 3; a++) {
        to[a] = 0.5 * (camera->lower[a] + camera->upper[a]) - pose->position[a];
        reach = hypot(reach, 0.6 * (camera->upper[a] - camera->lower[a]));
    }
    rotate(back, to, middle);
    for (int a = 0; a < 3; a++) {
        height += (double)s->normal[0][a] * (middle[a] - (double)s->vertex[0][a]);
    }
    for (int a = 0; a < 3; a++) {
        middle[a] -= height * (double)s->normal[0][a];
    }
    memcpy(out, s->vertex, 4 * sizeof out[0]);
    for (int side = 0; side < 2; side++) { // from corner 0 to 1, and from 0 to 3
        double along[3], length = 0.0;
        for (int a = 0; a < 3; a++) {
            along[a] = (double)s->vertex[side == 0 ? 1 : 3][a] - (double)s->vertex[0][a];
            length = hypot(length, along[a]);
        }
        for (int k = 0; k < 4 && length > 0.0; k++) {
            const double sign = (side == 0 ? k == 1 || k == 2 : k >= 2) ? 1.0 : -1.0;
            double at = 0.0;
            for (int a = 0; a < 3; a++) {
                at += sign * ((double)s->vertex[k][a] - middle[a]) * along[a] / length;
            }
            for (int a = 0; a < 3; a++) {
                out[k][a] += (float)(sign * fmax(0.0, reach - at) * along[a] / length);
            }
        }
    }
}

int rp_props_ground(const rp_record *record)
{
    rp_record_info info;
    rp_record_get_info(record, &info);
    for (int i = 0; i < info.colliders; i++) {
        const rp_record_collider *c = rp_record_collider_at(record, i);
        if (c->look == RP_LOOK_SOLID && !c->moves && is_plane(&c->surface) &&
            c->surface.normal[0][info.up] > 0.94f) {
            return i;
        }
    }
    return -1;
}

// Sand may lie on it: not a wall.
static bool faces_up(const rp_pose *pose, const float normal[3], int up)
{
    double n[3];
    rotate(pose->rotation, (double[3]){normal[0], normal[1], normal[2]}, n);
    return n[up] > 0.1;
}

static vec color_of(const rp_record_collider *c)
{
    return (vec){rp_linear_of((float)c->color[0]), rp_linear_of((float)c->color[1]),
                 rp_linear_of((float)c->color[2])};
}

// From the front depth is not seen, but things that stand out would shade a slice of sand: they
// keep their order and become thin. Glass shades nothing, and is seen by its depth.
static float squeezed(const rp_camera *camera, float z)
{
    const float most = 0.04f * (float)tan(0.5 * camera->fov); // a fiftieth of the picture's height
    return most * z / (fabsf(z) + most);
}

// The surface of a collider at a frame: its own, or one that was made for it.
static const rp_surface *surface_at(const rp_record *record, int index, double frame,
                                    rp_surface *made)
{
    const rp_record_collider *c = rp_record_collider_at(record, index);
    *made = (rp_surface){0};
    if (!c->deforms) {
        return &c->surface;
    }
    return rp_record_surface(record, index, frame, made) == RP_OK ? made : NULL;
}

static bool make_prop(const rp_record *record, int index, const rp_camera *camera, double begin,
                      double end, rp_prop *p)
{
    const rp_scale scale = rp_shot_scale(camera);
    const rp_record_collider *c = rp_record_collider_at(record, index);
    const size_t vertices = (size_t)c->surface.vertices, triangles = (size_t)c->surface.triangles;
    const int times = c->moves && end > begin ? 2 : 1;
    *p = (rp_prop){.vertices = vertices,
                   .triangles = triangles,
                   .kind = c->look == RP_LOOK_GLASS ? RP_PROP_GLASS : RP_PROP_SOLID};
    p->color = color_of(c);
    p->normal = malloc((vertices + 1) * sizeof *p->normal);
    p->triangle = malloc((triangles + 1) * sizeof *p->triangle);
    for (int k = 0; k < times; k++) {
        p->vertex[k] = malloc((vertices + 1) * sizeof *p->vertex[k]);
        const rp_pose pose = rp_record_pose(record, index, k == 0 ? begin : end);
        float plate[4][3];
        const bool slope = is_plane(&c->surface) && c->look == RP_LOOK_SOLID &&
                           faces_up(&pose, c->surface.normal[0], camera->z_up ? 2 : 1);
        if (slope) {
            stretch(camera, &pose, &c->surface, plate);
        }
        rp_surface made;
        const rp_surface *now = surface_at(record, index, k == 0 ? begin : end, &made);
        for (size_t i = 0; i < vertices && p->vertex[k] != NULL && now != NULL; i++) {
            double x[3];
            rp_props_place(&pose, slope ? plate[i] : now->vertex[i], x);
            vec at = rp_scale_place(&scale, x);
            at.z = camera->parallel && p->kind == RP_PROP_SOLID ? squeezed(camera, at.z) : at.z;
            memcpy(p->vertex[k][i], (float[4]){at.x, at.y, at.z, 0.0f}, 4 * sizeof(float));
        }
        rp_surface_free(&made);
        if (now == NULL) {
            return false;
        }
    }
    if (p->normal == NULL || p->triangle == NULL || p->vertex[0] == NULL ||
        (times == 2 && p->vertex[1] == NULL)) {
        return false;
    }
    const rp_pose middle = rp_record_pose(record, index, 0.5 * (begin + end));
    rp_surface made;
    const rp_surface *now = surface_at(record, index, 0.5 * (begin + end), &made);
    for (size_t i = 0; i < vertices && now != NULL; i++) {
        double n[3];
        const float *local = now->normal[i];
        rotate(middle.rotation, (double[3]){local[0], local[1], local[2]}, n);
        const vec on_stage = rp_scale_direction(&scale, n);
        memcpy(p->normal[i], (float[3]){on_stage.x, on_stage.y, on_stage.z}, sizeof p->normal[i]);
    }
    memcpy(p->triangle, c->surface.triangle, triangles * sizeof *p->triangle);
    rp_surface_free(&made);
    return now != NULL;
}

rp_result rp_props_make(const rp_record *record, const rp_camera *camera, int64_t frame,
                        double frames, rp_prop **out, int *props)
{
    rp_record_info info;
    rp_record_get_info(record, &info);
    const int ground = rp_props_ground(record);
    *props = 0;
    *out = calloc((size_t)info.colliders + 2, sizeof **out); // one more for water
    for (int i = 0; i < info.colliders && *out != NULL; i++) {
        const rp_record_collider *c = rp_record_collider_at(record, i);
        if (i == ground || c->look == RP_LOOK_HIDDEN || c->surface.triangles == 0) {
            continue;
        }
        if (camera->parallel && c->look == RP_LOOK_SOLID && is_plane(&c->surface)) {
            continue; // a cut
        }
        const double at = (double)frame, half = 0.5 * frames;
        if (!make_prop(record, i, camera, at - half, at + half, &(*out)[(*props)++])) {
            rp_props_free(*out, *props);
            *out = NULL;
        }
    }
    return *out != NULL ? RP_OK
                        : rp_fail(RP_ERR_MEMORY, "no memory for the colliders of a picture");
}

int rp_props_cuts(const rp_record *record, const rp_camera *camera, int64_t frame,
                  rp_cut cut[RP_CUTS_MOST])
{
    const double thick = 0.04; // of the picture's height
    const rp_scale scale = rp_shot_scale(camera);
    const int ground = rp_props_ground(record);
    rp_record_info info;
    int cuts = 0;
    rp_record_get_info(record, &info);
    for (int i = 0; i < info.colliders && cuts < RP_CUTS_MOST; i++) {
        const rp_record_collider *c = rp_record_collider_at(record, i);
        if (i == ground || c->look != RP_LOOK_SOLID || !is_plane(&c->surface)) {
            continue;
        }
        const rp_pose pose = rp_record_pose(record, i, (double)frame);
        const float *local = c->surface.normal[0];
        double x[3], n[3];
        rp_props_place(&pose, c->surface.vertex[0], x);
        rotate(pose.rotation, (double[3]){local[0], local[1], local[2]}, n);
        cut[cuts++] = (rp_cut){.point = rp_scale_place(&scale, x),
                               .normal = rp_scale_direction(&scale, n),
                               .color = color_of(c),
                               .deep = (float)(2.0 * thick * tan(0.5 * camera->fov))};
    }
    return cuts;
}

void rp_props_free(rp_prop *prop, int props)
{
    for (int i = 0; i < props && prop != NULL; i++) {
        free(prop[i].vertex[0]);
        free(prop[i].vertex[1]);
        free(prop[i].normal);
        free(prop[i].triangle);
    }
    free(prop);
}
