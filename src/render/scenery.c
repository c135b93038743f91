#include "render/scenery.h"

#include "render/tone.h"

#include <embree3/rtcore.h>
#include <stdlib.h>

struct rp_scenery {
    RTCDevice device;
    RTCScene solid, glass; // the second is NULL where there is none
    const rp_grains *grains;
    const rp_prop *prop, *water; // all, and that of water
    rp_ground ground;
    int *solid_prop, *glass_prop; // prop of a geometry, less the grains' in `solid`
    float linear[256];            // of sRGB bytes
};

static const float HAIR = 2e-5f; // what a ray begins above triangles and the ground [units]

// ---- making ----

// A surface that is left from within is not there: one may look into a box of sand from outside.
static void only_from_outside(const struct RTCFilterFunctionNArguments *a)
{
    const struct RTCRay *ray = (const struct RTCRay *)a->ray;
    const struct RTCHit *hit = (const struct RTCHit *)a->hit;
    if (ray->dir_x * hit->Ng_x + ray->dir_y * hit->Ng_y + ray->dir_z * hit->Ng_z > 0.0f) {
        a->valid[0] = 0;
    }
}

// Counts what a ray crosses, in any order, and stops it nowhere.
typedef struct pane_count {
    struct RTCIntersectContext context; // Embree hands on its address
    rp_panes panes;
    int inside; // of water: how often it was entered, less how often it was left
} pane_count;

static void count_pane(const struct RTCFilterFunctionNArguments *a)
{
    pane_count *count = (pane_count *)a->context;
    count->panes.glass++;
    a->valid[0] = 0;
}

static void count_water(const struct RTCFilterFunctionNArguments *a)
{
    pane_count *count = (pane_count *)a->context;
    const struct RTCRay *ray = (const struct RTCRay *)a->ray;
    const struct RTCHit *hit = (const struct RTCHit *)a->hit;
    const float slant = ray->dir_x * hit->Ng_x + ray->dir_y * hit->Ng_y + ray->dir_z * hit->Ng_z;
    count->panes.water++;
    count->inside += slant < 0.0f ? 1 : -1;
    count->panes.wet += slant < 0.0f ? -ray->tfar : ray->tfar;
    a->valid[0] = 0;
}

static void add(RTCScene scene, RTCGeometry geometry, bool quick)
{
    rtcSetGeometryBuildQuality(geometry, quick ? RTC_BUILD_QUALITY_LOW : RTC_BUILD_QUALITY_MEDIUM);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
}

static void add_grains(rp_scenery *s, bool quick)
{
    const rp_grains *g = s->grains;
    RTCGeometry geometry = rtcNewGeometry(s->device, RTC_GEOMETRY_TYPE_SPHERE_POINT);
    const unsigned times = g->at[1] != NULL ? 2 : 1;
    rtcSetGeometryTimeStepCount(geometry, times);
    for (unsigned k = 0; k < times; k++) {
        rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, k, RTC_FORMAT_FLOAT4, g->at[k],
                                   0, sizeof *g->at[k], g->count);
    }
    add(s->solid, geometry, quick);
}

static void add_prop(rp_scenery *s, const rp_prop *p, RTCScene scene, bool quick)
{
    RTCGeometry geometry = rtcNewGeometry(s->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    const unsigned times = p->vertex[1] != NULL ? 2 : 1;
    rtcSetGeometryTimeStepCount(geometry, times);
    for (unsigned k = 0; k < times; k++) {
        rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, k, RTC_FORMAT_FLOAT3,
                                   p->vertex[k], 0, sizeof *p->vertex[k], p->vertices);
    }
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, p->triangle, 0,
                               sizeof *p->triangle, p->triangles);
    if (p->kind == RP_PROP_SOLID) {
        rtcSetGeometryIntersectFilterFunction(geometry, only_from_outside);
        rtcSetGeometryOccludedFilterFunction(geometry, only_from_outside);
    } else {
        rtcSetGeometryOccludedFilterFunction(geometry,
                                             p->kind == RP_PROP_WATER ? count_water : count_pane);
    }
    add(scene, geometry, quick);
}

static rp_result fill(rp_scenery *s, int props, bool quick)
{
    int solids = 0, panes = 0;
    s->solid = rtcNewScene(s->device);
    s->solid_prop = calloc((size_t)props + 1, sizeof *s->solid_prop);
    s->glass_prop = calloc((size_t)props + 1, sizeof *s->glass_prop);
    if (s->solid == NULL || s->solid_prop == NULL || s->glass_prop == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the stage of a picture");
    }
    rtcSetSceneBuildQuality(s->solid, quick ? RTC_BUILD_QUALITY_LOW : RTC_BUILD_QUALITY_MEDIUM);
    add_grains(s, quick);
    for (int i = 0; i < props; i++) {
        const rp_prop *p = &s->prop[i];
        const bool clear = p->kind != RP_PROP_SOLID;
        if (clear && s->glass == NULL) {
            s->glass = rtcNewScene(s->device);
        }
        s->water = p->kind == RP_PROP_WATER ? p : s->water;
        add_prop(s, p, clear ? s->glass : s->solid, quick);
        *(clear ? &s->glass_prop[panes++] : &s->solid_prop[solids++]) = i;
    }
    rtcCommitScene(s->solid);
    if (s->glass != NULL) {
        rtcCommitScene(s->glass);
    }
    const enum RTCError error = rtcGetDeviceError(s->device);
    return error == RTC_ERROR_NONE
               ? RP_OK
               : rp_fail(RP_ERR_MEMORY, "no memory for a picture of %zu particles",
                         s->grains->count);
}

rp_result rp_scenery_open(const rp_grains *grains, const rp_prop *prop, int props,
                          const rp_ground *ground, bool quick, rp_scenery **out)
{
    *out = NULL;
    rp_scenery *s = calloc(1, sizeof *s);
    if (s == NULL || (s->device = rtcNewDevice(NULL)) == NULL) {
        free(s);
        return rp_fail(RP_ERR_MEMORY, "no memory for the stage of a picture");
    }
    s->grains = grains;
    s->prop = prop;
    s->ground = *ground;
    for (int i = 0; i < 256; i++) {
        s->linear[i] = rp_linear_of((float)i / 255.0f);
    }
    const rp_result result = fill(s, props, quick);
    if (result != RP_OK) {
        rp_scenery_close(s);
        return result;
    }
    *out = s;
    return RP_OK;
}

void rp_scenery_close(rp_scenery *s)
{
    if (s == NULL) {
        return;
    }
    if (s->solid != NULL) {
        rtcReleaseScene(s->solid);
    }
    if (s->glass != NULL) {
        rtcReleaseScene(s->glass);
    }
    rtcReleaseDevice(s->device);
    free(s->solid_prop);
    free(s->glass_prop);
    free(s);
}

// ---- asking ----

static struct RTCRay ray_of(vec from, vec to, float time, float near, float far)
{
    return (struct RTCRay){.org_x = from.x,
                           .org_y = from.y,
                           .org_z = from.z,
                           .tnear = near,
                           .dir_x = to.x,
                           .dir_y = to.y,
                           .dir_z = to.z,
                           .time = time,
                           .tfar = far,
                           .mask = ~0u};
}

static struct RTCRayHit look(RTCScene scene, vec from, vec to, float time, float near, float far)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    struct RTCRayHit hit = {.ray = ray_of(from, to, time, near, far)};
    hit.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(scene, &context, &hit);
    return hit;
}

static void meet_grain(const rp_scenery *s, const struct RTCRayHit *h, vec from, vec to, float time,
                       rp_meeting *m)
{
    const rp_grains *g = s->grains;
    const float *a = g->at[0][h->hit.primID];
    const unsigned char *c = g->color[h->hit.primID];
    vec center = vec_of(a);
    if (g->at[1] != NULL) {
        center = vec_mix(center, vec_of(g->at[1][h->hit.primID]), time);
    }
    m->kind = RP_MEETS_GRAIN;
    m->normal = vec_unit(vec_sub(vec_along(from, m->t, to), center));
    m->at = vec_along(center, a[3], m->normal); // more exact than along the ray
    m->color = (vec){s->linear[c[0]], s->linear[c[1]], s->linear[c[2]]};
    m->step = 1e-3f * a[3];
}

// A place on a triangle, lifted to the round surface that its normals tell of: from the flat one
// the sun would be seen or not facet by facet (Hanika 2021, Hacking the shadow terminator).
static vec round_place(const rp_prop *p, const uint32_t t[3], const float weight[3], float time,
                       vec at)
{
    vec out = at;
    for (int c = 0; c < 3; c++) {
        const vec n = vec_of(p->normal[t[c]]);
        vec corner = vec_of(p->vertex[0][t[c]]);
        if (p->vertex[1] != NULL) {
            corner = vec_mix(corner, vec_of(p->vertex[1][t[c]]), time);
        }
        const float below = fminf(0.0f, vec_dot(vec_sub(at, corner), n));
        out = vec_along(out, -weight[c] * below, n);
    }
    return out;
}

static void meet_prop(const rp_prop *p, const struct RTCRayHit *h, vec from, vec to, float time,
                      rp_meeting *m)
{
    const uint32_t *t = p->triangle[h->hit.primID];
    const float u = h->hit.u, v = h->hit.v, weight[3] = {1.0f - u - v, u, v};
    const vec flat = vec_unit((vec){h->hit.Ng_x, h->hit.Ng_y, h->hit.Ng_z});
    vec n = {0.0f, 0.0f, 0.0f};
    for (int c = 0; c < 3; c++) {
        n = vec_along(n, weight[c], vec_of(p->normal[t[c]]));
    }
    n = vec_dot(n, n) > 0.0f ? vec_unit(n) : flat;
    n = vec_dot(n, flat) < 0.0f ? vec_scale(-1.0f, n) : n;
    // at a grazing look the smooth normal may point away where the flat one does not
    m->normal = vec_dot(n, to) * vec_dot(flat, to) > 0.0f ? n : flat;
    m->kind = p->kind == RP_PROP_GLASS   ? RP_MEETS_GLASS
              : p->kind == RP_PROP_WATER ? RP_MEETS_WATER
                                         : RP_MEETS_PROP;
    m->at = vec_along(from, m->t, to);
    if (p->kind == RP_PROP_SOLID) {
        m->at = round_place(p, t, weight, time, m->at);
    }
    m->color = p->color;
    m->step = HAIR;
}

static void meet_ground(const rp_ground *g, vec from, vec to, rp_meeting *m)
{
    const float height = vec_dot(vec_sub(from, g->point), g->normal);
    const float fall = -vec_dot(to, g->normal);
    if (g->there && height > 0.0f && fall > 0.0f && height < m->t * fall) {
        m->t = height / fall;
        m->kind = RP_MEETS_GROUND;
        m->at = vec_along(from, m->t, to);
        m->normal = g->normal;
        m->color = g->color;
        m->step = HAIR;
    }
}

rp_meeting rp_scenery_meet(const rp_scenery *s, vec from, vec to, float time, bool glass)
{
    rp_meeting m = {.t = INFINITY, .kind = RP_MEETS_NOTHING};
    const struct RTCRayHit h = look(s->solid, from, to, time, 0.0f, INFINITY);
    if (h.hit.geomID != RTC_INVALID_GEOMETRY_ID) {
        m.t = h.ray.tfar;
        if (h.hit.geomID == 0) {
            meet_grain(s, &h, from, to, time, &m);
        } else {
            meet_prop(&s->prop[s->solid_prop[h.hit.geomID - 1]], &h, from, to, time, &m);
        }
    }
    meet_ground(&s->ground, from, to, &m);
    if (glass && s->glass != NULL) {
        const struct RTCRayHit pane = look(s->glass, from, to, time, 0.0f, m.t);
        if (pane.hit.geomID != RTC_INVALID_GEOMETRY_ID) {
            m.t = pane.ray.tfar;
            meet_prop(&s->prop[s->glass_prop[pane.hit.geomID]], &pane, from, to, time, &m);
        }
    }
    return m;
}

bool rp_scenery_blocks(const rp_scenery *s, vec from, vec to, float time)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    struct RTCRay ray = ray_of(from, to, time, 0.0f, INFINITY);
    rtcOccluded1(s->solid, &context, &ray);
    return ray.tfar < 0.0f;
}

rp_panes rp_scenery_panes(const rp_scenery *s, vec from, vec to, float time, float far)
{
    pane_count count = {.inside = 0};
    if (s->glass != NULL) {
        rtcInitIntersectContext(&count.context);
        struct RTCRay ray = ray_of(from, to, time, 0.0f, far);
        rtcOccluded1(s->glass, &count.context, &ray);
        // it ends in water; where it began there, the surface that it left has been counted
        count.panes.wet += count.inside > 0 && far < INFINITY ? (float)count.inside * far : 0.0f;
        count.panes.wet = fmaxf(count.panes.wet, 0.0f);
    }
    return count.panes;
}

const rp_prop *rp_scenery_water(const rp_scenery *s) { return s->water; }
