#include "render/pool.h"

#include "render/tone.h"

#include <stdlib.h>
#include <string.h>

static const float TINT[3] = {0.30f, 0.62f, 0.70f}; // of water without a colour, sRGB
static const float DEEP = 1.3f; // the way after which it has that colour, over what is seen
static const double DAMP = 0.04, SOAKED = 0.25; // share of space: wet sand begins, and is darkest

rp_result rp_pool_open(rp_pool *p, int64_t room, bool moving)
{
    *p = (rp_pool){.room = (size_t)room};
    const bool fits = (uint64_t)room < PTRDIFF_MAX / sizeof *p->point;
    p->point = fits ? malloc((p->room + 1) * sizeof *p->point) : NULL;
    p->volume = fits ? malloc((p->room + 1) * sizeof *p->volume) : NULL;
    p->velocity = fits && moving ? malloc((p->room + 1) * sizeof *p->velocity) : NULL;
    if (p->point == NULL || p->volume == NULL || (moving && p->velocity == NULL)) {
        rp_pool_free(p);
        return rp_fail(RP_ERR_MEMORY, "no memory for the %lld particles of a picture",
                       (long long)room);
    }
    return RP_OK;
}

void rp_pool_free(rp_pool *p)
{
    free(p->point);
    free(p->velocity);
    free(p->volume);
    *p = (rp_pool){0};
}

void rp_pool_add(rp_pool *p, const double x[3], const double *velocity, double volume)
{
    bool somewhere = volume > 0.0 && p->count < p->room;
    for (int a = 0; a < 3; a++) {
        somewhere = somewhere && fabs(x[a]) <= RP_FARTHEST; // NaN fails
    }
    if (!somewhere) {
        return;
    }
    for (int a = 0; a < 3; a++) {
        p->point[p->count][a] = x[a];
        if (p->velocity != NULL) {
            p->velocity[p->count][a] = isfinite(velocity[a]) ? (float)velocity[a] : 0.0f;
        }
    }
    p->volume[p->count++] = (float)volume;
}

// Water fills the gaps that made dry grains pale.
static void wet(rp_crowd *sand, const rp_skin *skin)
{
    for (size_t i = 0; i < sand->count; i++) {
        const double share = rp_skin_wetness(skin, sand->point[i]);
        const float w = smoothly((float)DAMP, (float)SOAKED, (float)share);
        for (int a = 0; a < 3 && w > 0.0f; a++) {
            const float c = (float)sand->color[i][a] / 255.0f;
            const float dark = powf(c, 1.0f + 0.35f * w) * (1.0f - 0.2f * w);
            sand->color[i][a] = (unsigned char)(255.0f * dark + 0.5f);
        }
    }
}

static rp_result place(const rp_surface *from, const float (*velocity)[3], const rp_shot *shot,
                       rp_prop *p)
{
    const rp_scale scale = rp_shot_scale(&shot->camera);
    const size_t vertices = (size_t)from->vertices, triangles = (size_t)from->triangles;
    const int times = velocity != NULL ? 2 : 1;
    p->vertices = vertices;
    p->triangles = triangles;
    p->normal = malloc((vertices + 1) * sizeof *p->normal);
    p->triangle = malloc((triangles + 1) * sizeof *p->triangle);
    for (int k = 0; k < times; k++) {
        p->vertex[k] = malloc((vertices + 1) * sizeof *p->vertex[k]);
    }
    if (p->normal == NULL || p->triangle == NULL || p->vertex[0] == NULL ||
        (times == 2 && p->vertex[1] == NULL)) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the surface of water");
    }
    for (size_t i = 0; i < vertices; i++) {
        const float *n = from->normal[i];
        const vec normal = rp_scale_direction(&scale, (double[3]){n[0], n[1], n[2]});
        memcpy(p->normal[i], (float[3]){normal.x, normal.y, normal.z}, sizeof p->normal[i]);
        for (int k = 0; k < times; k++) {
            double x[3];
            for (int a = 0; a < 3; a++) {
                const double lead = times == 2 ? (k - 0.5) * shot->shutter : 0.0;
                x[a] = (double)from->vertex[i][a] +
                       (velocity != NULL ? lead * (double)velocity[i][a] : 0.0);
            }
            const vec at = rp_scale_place(&scale, x);
            memcpy(p->vertex[k][i], (float[4]){at.x, at.y, at.z, 0.0f}, 4 * sizeof(float));
        }
    }
    memcpy(p->triangle, from->triangle, triangles * sizeof *p->triangle);
    return RP_OK;
}

// How far light goes through it until it has its colour [units].
static float depth_of(const rp_shot *shot, bool flat, double spacing)
{
    const rp_scale scale = rp_shot_scale(&shot->camera);
    double seen = 0.0;
    for (int a = 0; a < 3; a++) {
        seen = hypot(seen, shot->camera.upper[a] - shot->camera.lower[a]);
    }
    return (float)((flat ? 2.0 * spacing : 0.5 * (double)DEEP * seen) / scale.unit);
}

static double largest(const rp_pool *p)
{
    float most = 0.0f;
    for (size_t i = 0; i < p->count; i++) {
        most = fmaxf(most, p->volume[i]);
    }
    return (double)most;
}

static rp_result make(const rp_pool *p, rp_crowd *sand, rp_skin_def *def, const rp_shot *shot,
                      rp_prop *prop)
{
    rp_skin *skin = NULL;
    rp_surface surface = {0};
    float(*velocity)[3] = NULL;
    RP_TRY(rp_skin_open(def, &skin));
    wet(sand, skin);
    rp_result result = rp_skin_surface(skin, &surface, &velocity);
    rp_skin_close(skin);
    if (result == RP_OK) {
        *prop = (rp_prop){.kind = RP_PROP_WATER,
                          .color = p->color,
                          .deep = depth_of(shot, sand->flat, def->spacing)};
        for (int a = 0; a < 3 && !p->colored; a++) {
            (&prop->color.x)[a] = rp_linear_of(TINT[a]);
        }
        result = place(&surface, (const float(*)[3])velocity, shot, prop);
    }
    free(velocity);
    rp_surface_free(&surface);
    return result;
}

rp_result rp_pool_show(const rp_pool *p, rp_crowd *sand, const rp_record *record, int64_t frame,
                       const rp_shot *shot, rp_prop *prop)
{
    *prop = (rp_prop){0};
    if (p->count == 0) {
        return RP_OK;
    }
    const double volume = largest(p);
    rp_skin_def def = rp_default_skin_def();
    rp_skin_wall *wall = NULL;
    rp_skin_face *face = NULL;
    def.spacing = sand->flat ? sqrt(volume) : cbrt(volume);
    def.flat = sand->flat;
    def.threads = shot->effort.threads;
    def.water = (rp_skin_crowd){(const double(*)[3])p->point, (const float(*)[3])p->velocity,
                                p->volume, (int64_t)p->count};
    def.sand =
        (rp_skin_crowd){(const double(*)[3])sand->point, NULL, sand->volume, (int64_t)sand->count};
    RP_TRY(rp_record_walls(record, frame, 0.4 * def.spacing, &wall, &def.walls));
    def.wall = wall;
    rp_result result = rp_record_faces(record, frame, &face, &def.faces);
    def.face = face;
    result = result == RP_OK ? make(p, sand, &def, shot, prop) : result;
    free(face);
    free(wall);
    return result;
}
