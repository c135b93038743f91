#include "render/shot.h"

#include "render/tone.h"

#include <stdlib.h>
#include <string.h>

vec rp_scale_place(const rp_scale *s, const double x[3])
{
    const double from[3] = {(x[0] - s->origin[0]) / s->unit, (x[1] - s->origin[1]) / s->unit,
                            (x[2] - s->origin[2]) / s->unit};
    return rp_scale_direction(s, from);
}

vec rp_scale_direction(const rp_scale *s, const double n[3])
{
    return (vec){(float)n[0], (float)(s->z_up ? n[2] : n[1]), (float)(s->z_up ? -n[1] : n[2])};
}

rp_scale rp_shot_scale(const rp_camera *v)
{
    rp_scale s = {.unit = 0.0, .z_up = v->z_up};
    for (int a = 0; a < 3; a++) {
        s.origin[a] = v->look[a];
        s.unit = hypot(s.unit, v->look[a] - v->eye[a]);
    }
    return s;
}

static rp_lens lens_of(const rp_camera *v, const rp_scale *s)
{
    const rp_axes a = rp_camera_axes(v->eye, v->look, v->z_up);
    rp_lens lens = {.width = v->width, .height = v->height, .eye = rp_scale_place(s, v->eye)};
    lens.right = rp_scale_direction(s, a.right);
    lens.up = rp_scale_direction(s, a.up);
    lens.forward = rp_scale_direction(s, a.forward);
    lens.tangent = (float)tan(0.5 * v->fov);
    lens.focus = vec_scale(0.5f, vec_add(rp_scale_place(s, v->lower), rp_scale_place(s, v->upper)));
    const float half =
        0.5f * vec_length(vec_sub(rp_scale_place(s, v->upper), rp_scale_place(s, v->lower)));
    lens.reach = fmaxf(half, 0.5f * lens.tangent);
    return lens;
}

static void place(const rp_crowd *c, const rp_scale *s, double radius, double lead, size_t i,
                  float out[4])
{
    double x[3];
    for (int a = 0; a < 3; a++) {
        x[a] = c->point[i][a] + (c->velocity != NULL ? lead * (double)c->velocity[i][a] : 0.0);
    }
    const vec at = rp_scale_place(s, x);
    out[0] = at.x;
    out[1] = at.y;
    out[2] = at.z;
    out[3] = (float)((c->radius != NULL ? (double)c->radius[i] : radius) / s->unit);
}

static rp_result make_grains(const rp_shot *shot, const rp_crowd *c, const rp_scale *s,
                             double radius, rp_grains *g)
{
    *g = (rp_grains){.color = c->color, .count = c->count};
    const int times = c->velocity != NULL ? 2 : 1;
    for (int k = 0; k < times; k++) {
        g->at[k] = malloc((c->count + 1) * sizeof *g->at[k]);
        if (g->at[k] == NULL) {
            free(g->at[0]);
            return rp_fail(RP_ERR_MEMORY, "no memory for a picture of %zu particles", c->count);
        }
        const double lead = (k - 0.5) * shot->shutter;
        for (size_t i = 0; i < c->count; i++) {
            place(c, s, radius, lead, i, g->at[k][i]);
        }
    }
    return RP_OK;
}

static rp_ground make_ground(const rp_shot *shot, const rp_scale *s)
{
    rp_ground g = {
        .there = true, .normal = {0.0f, 1.0f, 0.0f}, .color = vec_of(shot->ground_color)};
    g.point = rp_scale_place(s, shot->has_ground ? shot->ground_point : shot->camera.lower);
    if (shot->has_ground) {
        g.normal = rp_scale_direction(s, shot->ground_normal);
    }
    return g;
}

// What a parallel view shows of half-spaces, the ground before others.
static void make_cuts(const rp_shot *shot, const rp_ground *ground, rp_lens *lens,
                      rp_cut cut[RP_CUTS_MOST + 1])
{
    lens->parallel = shot->camera.parallel;
    if (!lens->parallel) {
        return;
    }
    memcpy(cut + 1, shot->cut, (size_t)shot->cuts * sizeof *cut);
    cut[0] = (rp_cut){.point = ground->point,
                      .normal = ground->normal,
                      .color = ground->color,
                      .deep = shot->horizon ? INFINITY : lens->tangent,
                      .fades = !shot->horizon};
    lens->cut = cut;
    lens->cuts = shot->cuts + 1;
}

rp_result rp_shot_take(const rp_shot *shot, rp_crowd *crowd, const rp_prop *prop, int props,
                       double radius, unsigned char *rgb)
{
    const rp_scale s = rp_shot_scale(&shot->camera);
    rp_lens lens = lens_of(&shot->camera, &s);
    lens.flat = crowd->flat;
    lens.horizon = shot->horizon;
    const rp_ground ground = make_ground(shot, &s);
    rp_cut cut[RP_CUTS_MOST + 1];
    make_cuts(shot, &ground, &lens, cut);
    const size_t pixels = (size_t)lens.width * (size_t)lens.height;
    rp_grains grains;
    rp_scenery *stage = NULL;
    RP_TRY(make_grains(shot, crowd, &s, radius, &grains));
    free(crowd->point); // the stage has them now
    crowd->point = NULL;
    vec *image = malloc(pixels * sizeof *image);
    rp_result result =
        image != NULL ? rp_scenery_open(&grains, prop, props, &ground, shot->effort.quick, &stage)
                      : rp_fail(RP_ERR_MEMORY, "no memory for a picture of %d x %d pixels",
                                lens.width, lens.height);
    if (result == RP_OK) {
        rp_trace(stage, &lens, &shot->effort, shot->mood, image);
        if (rp_effort_ends(&shot->effort)) {
            result = rp_fail(RP_ERR_STOPPED, "stopped before the picture was finished");
        }
        for (size_t i = 0; result == RP_OK && i < pixels; i++) {
            rp_tone_bytes(image[i], &rgb[3 * i]);
        }
    }
    rp_scenery_close(stage);
    free(image);
    free(grains.at[0]);
    free(grains.at[1]);
    return result;
}
