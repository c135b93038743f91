#include "render/trace.h"

#include "render/sampler.h"
#include "repose/threads.h"

enum {
    TILE = 16,       // pixels along a side
    PANES_DEEP = 14, // surfaces of glass along one way
    SPLITS = 2,      // of them that are followed both ways, the others by a throw of dice
};

static const float PI = 3.14159265f;
static const float BEFORE = 8.0f;       // parallel looks start so far before the eye [units]
static const float SUN_SPREAD = 0.045f; // tangent of its half angle: how soft shadows are
static const vec BACKDROP_TOP = {0.24f, 0.32f, 0.44f}; // over its foot
static const float GLASS_INDEX = 1.5f;
static const vec GLASS_BODY = {1.5f, 0.85f, 0.95f}; // what it swallows, over the reach of the scene
static const vec GLASS_TINT = {0.93f, 0.965f, 0.955f}; // of light that crosses one surface
static const float WATER_INDEX = 1.333f;
static const float WATER_PASSES =
    0.96f; // of light that crosses one surface, when it is not followed
static const float MURK =
    0.35f; // of what water swallows, how much comes back out of it as its colour

typedef struct light {
    vec sun;                   // where it stands, a unit vector
    vec sun_a, sun_b;          // across
    vec sun_color;             // irradiance on a face turned to it
    vec zenith, horizon, back; // radiance of the sky above, around, and of what is seen behind
    float fade_near, fade_far; // the ground melts into the backdrop between them [units]
} light;

typedef struct work {
    const rp_scenery *stage;
    const rp_lens *lens;
    const rp_effort *effort;
    light light;
    vec *image;
    vec water_body; // what water swallows [1/unit]
    vec water_glow; // what comes out of much of it
    int tiles_across;
} work;

// ---- light ----

static light make_light(const rp_lens *lens, rp_mood mood)
{
    // low, from the left and a little from behind what is shown: slopes that face the camera have
    // light and shade, and shadows fall to the right and towards it
    const vec flat_right = vec_unit((vec){lens->right.x, 0.0f, lens->right.z});
    const vec flat_back = {-flat_right.z, 0.0f, flat_right.x};
    light l;
    l.sun = vec_unit(vec_add(
        (vec){0.0f, 0.64f, 0.0f},
        vec_add(vec_scale(-0.86f, flat_right), vec_scale(lens->flat ? 0.7f : -0.24f, flat_back))));
    vec_frame(l.sun, &l.sun_a, &l.sun_b);
    const bool chart = mood == RP_MOOD_CHART;
    l.sun_color = chart ? (vec){3.6f, 3.6f, 3.6f} : (vec){6.6f, 5.65f, 4.5f};
    l.zenith = chart ? (vec){0.50f, 0.50f, 0.50f} : (vec){0.25f, 0.345f, 0.50f};
    l.horizon = chart ? (vec){0.62f, 0.62f, 0.62f} : (vec){0.58f, 0.63f, 0.70f};
    l.back = chart ? (vec){2.2f, 2.2f, 2.2f} : (vec){1.42f, 1.41f, 1.40f};
    l.fade_near = (lens->horizon ? 6.0f : 1.6f) * lens->reach;
    l.fade_far = (lens->horizon ? 60.0f : 5.0f) * lens->reach;
    return l;
}

static vec sky(const light *l, vec to)
{
    const float height = clampf(to.y, 0.0f, 1.0f);
    return vec_mix(l->horizon, l->zenith, sqrtf(height));
}

// What glass reflects: the sky, and the sun as a soft lamp.
static vec sky_with_sun(const light *l, vec to)
{
    const float c = vec_dot(to, l->sun);
    const float lamp = smoothly(0.985f, 0.9965f, c);
    return vec_along(sky(l, to), 14.0f * lamp, (vec){1.0f, 0.93f, 0.82f});
}

// Behind everything hangs a sheet that grows darker towards the top of the picture.
static vec backdrop(const light *l, const rp_lens *lens, vec from, vec to)
{
    const float ahead = vec_dot(to, lens->forward);
    float up = ahead > 0.0f ? vec_dot(to, lens->up) / (ahead * lens->tangent) : 1.0f;
    if (lens->parallel) {
        up = vec_dot(vec_sub(from, lens->eye), lens->up) / lens->tangent;
    }
    return vec_mix(l->back, vec_mul(l->back, BACKDROP_TOP), smoothly(-0.5f, 1.6f, up));
}

static vec toward_sun(const light *l, float u, float v)
{
    const float r = SUN_SPREAD * sqrtf(u), phi = 2.0f * PI * v;
    return vec_unit(vec_along(vec_along(l->sun, r * cosf(phi), l->sun_a), r * sinf(phi), l->sun_b));
}

// What water leaves of light.
static vec through_water(const work *w, float length)
{
    return (vec){expf(-w->water_body.x * length), expf(-w->water_body.y * length),
                 expf(-w->water_body.z * length)};
}

// Of light that goes through glass and water on its way.
static vec dimmed(const work *w, rp_panes panes)
{
    vec c = {1.0f, 1.0f, 1.0f};
    for (int i = 0; i < panes.glass; i++) {
        c = vec_mul(c, GLASS_TINT);
    }
    for (int i = 0; i < panes.water; i++) {
        c = vec_scale(WATER_PASSES, c);
    }
    return panes.wet > 0.0f ? vec_mul(c, through_water(w, panes.wet)) : c;
}

// ---- matte things ----

// What the sun gives to a matte place.
static vec sunlit(const work *w, const rp_meeting *m, vec from, float time, float u, float v)
{
    const vec sun = toward_sun(&w->light, u, v);
    const float slant = vec_dot(sun, m->normal);
    if (!(slant > 0.0f) || rp_scenery_blocks(w->stage, from, sun, time)) {
        return (vec){0};
    }
    const vec dim = dimmed(w, rp_scenery_panes(w->stage, from, sun, time, INFINITY));
    return vec_mul(vec_scale(slant / PI, w->light.sun_color), dim);
}

// The same light with one ray: where a grain turns away from the eye its neighbours hide the sky,
// and give back some of their own colour.
static vec glance(const work *w, const rp_meeting *m, vec to, float time, sampler *s)
{
    float u, v;
    sampler_draw(s, &u, &v);
    const vec from = vec_along(m->at, m->step, m->normal);
    const bool grain = m->kind == RP_MEETS_GRAIN;
    const float open = grain ? 0.4f + 0.6f * fabsf(vec_dot(to, m->normal)) : 0.8f;
    const vec around =
        grain ? vec_scale(1.5f, vec_mul(w->light.horizon, m->color)) : w->light.horizon;
    const vec above = vec_mix(w->light.horizon, w->light.zenith, 0.6f);
    const vec sky_light = vec_mix(around, above, 0.5f + 0.5f * m->normal.y);
    return vec_mul(m->color, vec_along(sunlit(w, m, from, time, u, v), open, sky_light));
}

// Sun and sky on a matte place, and what comes back to it from other places.
static vec shade(const work *w, rp_meeting m, float time, sampler *s)
{
    vec sum = {0}, through = {1.0f, 1.0f, 1.0f};
    for (int bounce = 0;; bounce++) {
        float u, v;
        const vec from = vec_along(m.at, m.step, m.normal);
        through = vec_mul(through, m.color);

        // the sun
        sampler_draw(s, &u, &v);
        sum = vec_add(sum, vec_mul(through, sunlit(w, &m, from, time, u, v)));

        // all else, from one direction chosen by the cosine
        sampler_draw(s, &u, &v);
        vec a, b;
        vec_frame(m.normal, &a, &b);
        const float r = sqrtf(u), phi = 2.0f * PI * v;
        vec to = vec_scale(sqrtf(1.0f - u), m.normal);
        to = vec_along(vec_along(to, r * cosf(phi), a), r * sinf(phi), b);
        m = rp_scenery_meet(w->stage, from, to, time, false);
        through = vec_mul(through, dimmed(w, rp_scenery_panes(w->stage, from, to, time, m.t)));
        if (m.kind == RP_MEETS_NOTHING) {
            return vec_add(sum, vec_mul(through, sky(&w->light, to)));
        }
        if (bounce == w->effort->bounces) {
            // what would still come is little, and even
            const vec rest = vec_mul(m.color, vec_scale(0.45f, w->light.horizon));
            return vec_add(sum, vec_mul(through, rest));
        }
    }
}

// ---- glass ----

// Share of light that is reflected; `ratio` is the index it comes from over the one it goes to.
static float reflected(float cosine, float ratio, float *cosine_in)
{
    const float sine2 = ratio * ratio * (1.0f - cosine * cosine);
    if (sine2 >= 1.0f) {
        return 1.0f;
    }
    *cosine_in = sqrtf(1.0f - sine2);
    const float p = (ratio * cosine - *cosine_in) / (ratio * cosine + *cosine_in);
    const float q = (cosine - ratio * *cosine_in) / (cosine + ratio * *cosine_in);
    return 0.5f * (p * p + q * q);
}

typedef struct way {
    vec from, to, through;
    int panes;
    bool mirrored; // no longer what is seen straight
    bool in_glass, in_water;
} way;

static float index_of(const way *w)
{
    return w->in_glass ? GLASS_INDEX : w->in_water ? WATER_INDEX : 1.0f;
}

// What is left of light after a way through glass: rims, where it is long, are darker.
static vec swallowed(float length)
{
    return (vec){expf(-GLASS_BODY.x * length), expf(-GLASS_BODY.y * length),
                 expf(-GLASS_BODY.z * length)};
}

// A clear surface splits a way in two; one is followed, the other may be put aside.
static bool split(const rp_meeting *m, way *on, way *aside, sampler *s)
{
    float cosine = -vec_dot(on->to, m->normal), cosine_in = 0.0f;
    const bool enters = cosine > 0.0f;
    const vec n = enters ? m->normal : vec_scale(-1.0f, m->normal);
    cosine = fabsf(cosine);
    way back = *on, in = *on;
    back.panes = in.panes = on->panes + 1;
    *(m->kind == RP_MEETS_GLASS ? &in.in_glass : &in.in_water) = enters;
    // glass in water goes before it: where water begins or ends within glass, nothing bends
    const float ratio = index_of(on) / index_of(&in);
    const float share = ratio == 1.0f ? 0.0f : reflected(cosine, ratio, &cosine_in);
    back.to = vec_unit(vec_along(on->to, 2.0f * cosine, n));
    back.from = vec_along(m->at, m->step, n);
    back.mirrored = true;
    if (share >= 1.0f) {
        *on = back;
        return false;
    }
    in.from = vec_along(m->at, -m->step, n);
    if (ratio == 1.0f) {
        *on = in;
        return false;
    }
    in.to = vec_unit(vec_along(vec_scale(ratio, on->to), ratio * cosine - cosine_in, n));
    if (on->panes < SPLITS) {
        back.through = vec_scale(share, back.through);
        in.through = vec_scale(1.0f - share, in.through);
        *on = in;
        *aside = back;
        return true;
    }
    float u, v;
    sampler_draw(s, &u, &v);
    *on = u < share ? back : in;
    return false;
}

// ---- a sample ----

// A cut stands in the open, in front of nothing that could shade it.
static vec cut_face(const light *l, const rp_cut *cut)
{
    const vec sky_light = vec_mix(l->horizon, l->zenith, 0.6f);
    return vec_mul(cut->color, vec_along(sky_light, 0.64f / PI, l->sun_color));
}

// What lies behind everything: the backdrop, or in a mirror the sky. Ground that is far melts into
// the same, so that no line shows where it ends.
static vec beyond(const work *w, const way *at)
{
    if (at->mirrored) {
        return sky_with_sun(&w->light, at->to);
    }
    const vec sheet = backdrop(&w->light, w->lens, at->from, at->to);
    for (int i = 0; i < w->lens->cuts; i++) {
        const rp_cut *cut = &w->lens->cut[i];
        const float depth = vec_dot(vec_sub(cut->point, at->from), cut->normal);
        if (depth > 0.0f && depth < cut->deep) {
            return vec_mix(cut_face(&w->light, cut), sheet,
                           cut->fades ? smoothly(0.0f, cut->deep, depth) : 0.0f);
        }
    }
    return sheet;
}

static vec follow(const work *w, vec from, vec to, float time, sampler *s)
{
    way open[1 + SPLITS * 2];
    int ways = 1;
    vec sum = {0};
    open[0] = (way){.from = from, .to = to, .through = {1.0f, 1.0f, 1.0f}};
    while (ways > 0) {
        way at = open[--ways];
        for (;;) {
            const rp_meeting m =
                rp_scenery_meet(w->stage, at.from, at.to, time, at.panes < PANES_DEEP);
            if (at.in_glass && m.kind != RP_MEETS_NOTHING) {
                at.through = vec_mul(at.through, swallowed(m.t / w->lens->reach));
            } else if (at.in_water && m.kind != RP_MEETS_NOTHING) {
                const vec left = through_water(w, m.t), one = {1.0f, 1.0f, 1.0f};
                const vec glow = vec_mul(vec_sub(one, left), w->water_glow);
                sum = vec_add(sum, vec_mul(at.through, glow));
                at.through = vec_mul(at.through, left);
            }
            if (m.kind == RP_MEETS_NOTHING) {
                sum = vec_add(sum, vec_mul(at.through, beyond(w, &at)));
                break;
            }
            if (m.kind == RP_MEETS_GLASS || m.kind == RP_MEETS_WATER) {
                way aside;
                if (split(&m, &at, &aside, s)) {
                    open[ways++] = aside;
                }
                continue;
            }
            float fade = 0.0f;
            if (m.kind == RP_MEETS_GROUND) {
                const float away = vec_length(vec_sub(m.at, w->lens->focus));
                fade = smoothly(w->light.fade_near, w->light.fade_far, away);
                sum = vec_add(sum, vec_mul(vec_scale(fade, at.through), beyond(w, &at)));
            }
            if (fade < 1.0f) {
                const vec got =
                    w->effort->quick ? glance(w, &m, at.to, time, s) : shade(w, m, time, s);
                sum = vec_add(sum, vec_mul(vec_scale(1.0f - fade, at.through), got));
            }
            break;
        }
    }
    return sum;
}

// A tent two pixels wide.
static float tent(float u)
{
    return u < 0.5f ? sqrtf(2.0f * u) - 1.0f : 1.0f - sqrtf(2.0f - 2.0f * u);
}

static vec pixel(const work *w, int x, int y)
{
    const rp_lens *lens = w->lens;
    vec sum = {0};
    sampler s = {.pixel = sampler_hash((uint32_t)x, (uint32_t)y)};
    for (int i = 0; i < w->effort->samples; i++) {
        float u, v, time, unused;
        s.index = (uint32_t)i;
        s.use = 0;
        sampler_draw(&s, &u, &v);
        sampler_draw(&s, &time, &unused);
        const float px = ((float)x + 0.5f + tent(u)) / (float)lens->height * 2.0f -
                         (float)lens->width / (float)lens->height;
        const float py = 1.0f - ((float)y + 0.5f + tent(v)) / (float)lens->height * 2.0f;
        const vec base =
            lens->parallel ? vec_along(lens->eye, -BEFORE, lens->forward) : lens->forward;
        const vec at = vec_along(vec_along(base, lens->tangent * px, lens->right),
                                 lens->tangent * py, lens->up);
        const vec c = lens->parallel ? follow(w, at, lens->forward, time, &s)
                                     : follow(w, lens->eye, vec_unit(at), time, &s);
        // one sample may not outshine its pixel for good
        const float peak = vec_most(c), limit = 12.0f;
        sum = vec_along(sum, peak > limit ? limit / peak : 1.0f, c);
    }
    return vec_scale(1.0f / (float)w->effort->samples, sum);
}

static void tile(void *context, int64_t number, int thread)
{
    (void)thread;
    const work *w = context;
    const int x0 = (int)(number % w->tiles_across) * TILE,
              y0 = (int)(number / w->tiles_across) * TILE;
    if (rp_effort_ends(w->effort)) {
        return;
    }
    for (int y = y0; y < y0 + TILE && y < w->lens->height; y++) {
        for (int x = x0; x < x0 + TILE && x < w->lens->width; x++) {
            w->image[(size_t)y * (size_t)w->lens->width + (size_t)x] = pixel(w, x, y);
        }
    }
}

static void look_at_water(work *w)
{
    const rp_prop *water = rp_scenery_water(w->stage);
    if (water == NULL) {
        return;
    }
    const vec c = {clampf(water->color.x, 0.01f, 0.99f), clampf(water->color.y, 0.01f, 0.99f),
                   clampf(water->color.z, 0.01f, 0.99f)};
    w->water_body = vec_scale(-1.0f / water->deep, (vec){logf(c.x), logf(c.y), logf(c.z)});
    w->water_glow = vec_scale(MURK, vec_mul(c, w->light.horizon));
}

void rp_trace(const rp_scenery *stage, const rp_lens *lens, const rp_effort *effort, rp_mood mood,
              vec *image)
{
    work w = {.stage = stage, .lens = lens, .effort = effort, .image = image};
    w.light = make_light(lens, mood);
    look_at_water(&w);
    w.tiles_across = (lens->width + TILE - 1) / TILE;
    const int down = (lens->height + TILE - 1) / TILE;
    rp_parallel_for(effort->threads, (int64_t)w.tiles_across * down, 1, tile, &w);
}
