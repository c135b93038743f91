// How the picture is made: points go into a depth buffer of 2 x 2 samples per pixel; then light
// comes from many directions, half of them close together (a soft sun, upper left), half spread
// over the sky. For each direction the points are drawn once more as seen from there, and every
// sample that is not hidden from it is lit. That one mechanism gives shading, cast shadows, the
// contact shadow and the darkening of hollows.
//
// The four samples of a pixel take turns: each sees every fourth direction, their average sees all
// of them, at a quarter of the cost and without noise.
#include "render/splat.h"

#include <math.h>
#include <stdlib.h>

typedef rp_vec3 vec;

enum {
    SUNS = 32,
    SKIES = 32,
    MAP_MIN = 256, // texels along a side of a shadow map
    MAP_MAX = 1024,
};

// tangent of the sun's half angle: how soft shadows are
static const double SUN_SPREAD = 0.08;
// how far ground looks aside, in widths of the points: melts the edges of the sky's shadows
static const float SKY_BLUR = 0.012f;
static const double GOLDEN_ANGLE = 2.39996322972865332; // [rad]

// linear light: on a face turned to the sun, from the open sky, and thrown back by the ground
static const float SUN[3] = {1.15f, 1.10f, 1.02f};
static const float SKY[3] = {0.42f, 0.45f, 0.49f};
static const float BOUNCE[3] = {0.10f, 0.095f, 0.09f};

// what a sample shows; grains in the order of their share
enum { AMBER, BROWN, WHITE, GROUND, BACKDROP };
static const unsigned char COLOUR[][3] = {
    [AMBER] = {225, 169, 95},   [BROWN] = {107, 84, 30},      [WHITE] = {255, 255, 255},
    [GROUND] = {226, 224, 220}, [BACKDROP] = {244, 243, 241},
};

typedef struct sample {
    float depth;           // along the camera's axis [m]
    float sun, sky;        // light received, 1: all of it
    signed char normal[3]; // times 127
    unsigned char kind;
} sample;

typedef struct axes {
    vec right, up, forward;
} axes;

// Of numbers, none of which is NaN: fmin and fmax would be calls.
static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

static vec plus(vec a, double s, vec b)
{
    return (vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static void to_floats(vec a, double s, float out[3])
{
    out[0] = (float)(s * a.x);
    out[1] = (float)(s * a.y);
    out[2] = (float)(s * a.z);
}

static double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static double length(vec a) { return sqrt(dot(a, a)); }
static vec unit(vec a) { return plus((vec){0}, 1.0 / length(a), a); }
static vec cross(vec a, vec b)
{
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Right-handed, with `up` as near to y as it can be.
static axes axes_along(vec direction)
{
    const vec forward = unit(direction), side = cross(forward, (vec){0, 1, 0});
    const vec right = length(side) > 1e-6 ? unit(side) : (vec){1, 0, 0};
    return (axes){right, cross(right, forward), forward};
}

// The k-th of n points spread evenly over the unit disc.
static void on_disc(int k, int n, double *x, double *y)
{
    const double r = sqrt((k + 0.5) / n);
    *x = r * cos(k * GOLDEN_ANGLE);
    *y = r * sin(k * GOLDEN_ANGLE);
}

// ---- the cloud ----

static unsigned char grain_kind(uint64_t id)
{
    // splitmix64
    uint64_t h = (id + 1) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    const double u = (double)((h ^ h >> 31) >> 11) * 0x1p-53;
    return u < 0.85 ? AMBER : u < 0.95 ? BROWN : WHITE;
}

bool rp_cloud_open(rp_cloud *cloud, int64_t room, bool flat)
{
    *cloud = (rp_cloud){.room = (size_t)room, .flat = flat};
    if (cloud->room > PTRDIFF_MAX / sizeof *cloud->point) {
        return false;
    }
    // one more, for malloc(0) may be NULL
    cloud->point = malloc((cloud->room + 1) * sizeof *cloud->point);
    cloud->grain = malloc(cloud->room + 1);
    if (cloud->point == NULL || cloud->grain == NULL) {
        rp_cloud_free(cloud);
        return false;
    }
    return true;
}

void rp_cloud_free(rp_cloud *cloud)
{
    free(cloud->point);
    free(cloud->grain);
    *cloud = (rp_cloud){0};
}

void rp_cloud_add(rp_cloud *cloud, const double (*position)[3], const uint64_t *id, int64_t first,
                  int64_t count)
{
    for (int64_t i = 0; i < count && cloud->count < cloud->room; i++) {
        const double *x = position[i];
        const vec p = {x[0], x[1], cloud->flat ? 0.0 : x[2]};
        // comparisons that NaN fails
        if (fabs(p.x) <= RP_FARTHEST && fabs(p.y) <= RP_FARTHEST && fabs(p.z) <= RP_FARTHEST) {
            cloud->point[cloud->count] = p;
            cloud->grain[cloud->count++] = grain_kind(id != NULL ? id[i] : (uint64_t)(first + i));
        }
    }
}

void rp_cloud_close(rp_cloud *cloud)
{
    if (cloud->count == 0) {
        cloud->lower = (vec){-0.5, 0.0, -0.5};
        cloud->upper = (vec){0.5, 0.0, 0.5};
        return;
    }
    vec lower = cloud->point[0], upper = lower;
    for (size_t i = 1; i < cloud->count; i++) {
        const vec p = cloud->point[i];
        lower = (vec){least(lower.x, p.x), least(lower.y, p.y), least(lower.z, p.z)};
        upper = (vec){most(upper.x, p.x), most(upper.y, p.y), most(upper.z, p.z)};
    }
    cloud->lower = lower;
    cloud->upper = upper;
}

vec rp_cloud_middle(const rp_cloud *cloud)
{
    return plus(plus((vec){0}, 0.5, cloud->lower), 0.5, cloud->upper);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double rp_cloud_radius(const rp_cloud *cloud)
{
    // The third neighbour of a few: less moved by chance than the first, and one spacing away in a
    // lattice of any dimension. Few points are to be told apart, so there the first counts.
    enum { PROBES = 128, FEW = 100, BLOCK = 1024 };
    const size_t count = cloud->count;
    double near[PROBES][3], distance[PROBES]; // squares of the three least; what was chosen
    for (size_t k = 0; k < PROBES; k++) {
        near[k][0] = near[k][1] = near[k][2] = INFINITY;
    }
    // a block of points stays in the cache while all probes look at it
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        const size_t end = count - begin < BLOCK ? count : begin + BLOCK;
        for (size_t k = 0; k < PROBES; k++) {
            const vec p = cloud->point[k * count / PROBES];
            double first = near[k][0], second = near[k][1], third = near[k][2];
            for (size_t i = begin; i < end; i++) {
                const vec d = plus(cloud->point[i], -1.0, p);
                const double dd = dot(d, d);
                if (dd < third && dd > 0.0) {
                    third = dd < second ? second : dd;
                    second = dd < second ? dd < first ? first : dd : second;
                    first = dd < first ? dd : first;
                }
            }
            near[k][0] = first, near[k][1] = second, near[k][2] = third;
        }
    }
    int n = 0;
    for (size_t k = 0; k < PROBES; k++) {
        const double chosen = near[k][count < FEW ? 0 : 2];
        if (chosen < INFINITY) {
            distance[n++] = sqrt(chosen);
        }
    }
    // a lone point may have any size: the camera goes where it fills the picture
    if (n == 0) {
        return 0.01;
    }
    qsort(distance, (size_t)n, sizeof *distance, compare);
    return (count < FEW ? 0.45 : 0.75) * distance[n / 2];
}

// ---- the camera ----

void rp_view_aim(rp_view *v, const rp_cloud *cloud)
{
    const bool flat = cloud->flat;
    const double azimuth = flat ? 0.0 : 0.45, elevation = flat ? 0.08 : 0.35; // [rad]
    const axes a = axes_along(
        (vec){-sin(azimuth) * cos(elevation), -sin(elevation), -cos(azimuth) * cos(elevation)});
    const double fill = 0.80; // share of the picture that the points may take
    const double ty = fill * tan(0.5 * v->fov), tx = ty * v->width / v->height;
    const double pad_x = v->radius * sqrt(1.0 + tx * tx), pad_y = v->radius * sqrt(1.0 + ty * ty);

    // how far the points reach beyond planes through the origin, parallel to the sides of the
    // camera's pyramid
    const vec corners[] = {cloud->lower, cloud->upper};
    const vec *points = cloud->count > 0 ? cloud->point : corners;
    const size_t count = cloud->count > 0 ? cloud->count : 2;
    double west = -INFINITY, east = -INFINITY, south = -INFINITY, north = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        const vec p = points[i];
        const double x = dot(p, a.right), y = dot(p, a.up), z = dot(p, a.forward);
        west = most(west, -x - tx * z + pad_x);
        east = most(east, x - tx * z + pad_x);
        south = most(south, -y - ty * z + pad_y);
        north = most(north, y - ty * z + pad_y);
    }
    // the nearest eye for which each lies inside: opposite sides give the distance and the middle
    const double z = least(-(west + east) / (2.0 * tx), -(south + north) / (2.0 * ty));
    v->eye = plus(plus(plus((vec){0}, (east - west) / 2.0, a.right), (north - south) / 2.0, a.up),
                  z, a.forward);
    const double distance = dot(plus(rp_cloud_middle(cloud), -1.0, v->eye), a.forward);
    v->look = plus(v->eye, distance, a.forward);
}

// ---- what the camera sees ----

typedef struct canvas {
    int w, h;     // samples
    double focal; // samples per unit of tangent
    axes cam;
    vec eye;
    sample *at;
} canvas;

// The ray through a sample; it gains one metre of depth per unit.
static vec ray(const canvas *c, int x, int y)
{
    const double u = (x + 0.5 - 0.5 * c->w) / c->focal, v = (0.5 * c->h - y - 0.5) / c->focal;
    return plus(plus(c->cam.forward, u, c->cam.right), v, c->cam.up);
}

static signed char to_byte(double x) { return (signed char)((int)(127.0 * x + 127.5) - 127); }

static void set_normal(sample *s, vec n)
{
    s->normal[0] = to_byte(n.x);
    s->normal[1] = to_byte(n.y);
    s->normal[2] = to_byte(n.z);
}

static void draw_ground(canvas *c, double ground)
{
    for (int y = 0; y < c->h; y++) {
        for (int x = 0; x < c->w; x++) {
            const vec r = ray(c, x, y);
            sample *s = &c->at[(size_t)y * c->w + x];
            *s = (sample){.depth = INFINITY, .kind = BACKDROP};
            if (c->eye.y > ground && r.y < 0.0) {
                *s = (sample){.depth = (float)((ground - c->eye.y) / r.y), .kind = GROUND};
                set_normal(s, (vec){0, 1, 0});
            }
        }
    }
}

static void draw_grain(canvas *c, vec p, double radius, unsigned char grain)
{
    const vec d = plus(p, -1.0, c->eye);
    const double z = dot(d, c->cam.forward);
    if (z <= radius) {
        return;
    }
    const double px = 0.5 * c->w + c->focal * dot(d, c->cam.right) / z;
    const double py = 0.5 * c->h - c->focal * dot(d, c->cam.up) / z;
    const double size = most(c->focal * radius / z, 0.71); // no grain slips between samples
    if (px + size < 0.0 || px - size > c->w || py + size < 0.0 || py - size > c->h) {
        return;
    }
    const int x0 = (int)most(ceil(px - size - 0.5), 0.0);
    const int y0 = (int)most(ceil(py - size - 0.5), 0.0);
    const int x1 = (int)least(px + size - 0.5, c->w - 1.0);
    const int y1 = (int)least(py + size - 0.5, c->h - 1.0);
    const float scale = (float)(1.0 / size), left = (float)(x0 + 0.5 - px) * scale;
    const float center = (float)z, nearest = (float)(z - radius), thick = (float)radius;
    for (int y = y0; y <= y1; y++) {
        const float dy = (float)(py - y - 0.5) * scale, chord = 1.0f - dy * dy;
        sample *s = &c->at[(size_t)y * (size_t)c->w + (size_t)x0];
        for (int x = x0; x <= x1; x++, s++) {
            const float dx = left + (float)(x - x0) * scale, rest = chord - dx * dx;
            if (nearest >= s->depth || rest < 0.0f) {
                continue;
            }
            const float dz = sqrtf(rest), depth = center - thick * dz;
            if (depth < s->depth) {
                *s = (sample){.depth = depth, .kind = grain};
                set_normal(s, plus(plus(plus((vec){0}, dx, c->cam.right), dy, c->cam.up), -dz,
                                   c->cam.forward));
            }
        }
    }
}

// ---- light ----

// What the light from one direction meets first.
typedef struct map {
    int n;         // texels along a side
    double texel;  // [m]
    vec center;    // of the map and of the points
    axes a;        // forward: towards the light
    float *height; // of the highest grain's centre above `center`, along forward [texels]
} map;

// `offset` holds the points less the map's center.
static void draw_map(map *m, const float (*offset)[3], size_t count, double radius)
{
    for (size_t i = 0; i < (size_t)m->n * m->n; i++) {
        m->height[i] = -INFINITY;
    }
    const float half = 0.5f * (float)m->n, last = (float)m->n - 1.0f;
    const float size = (float)(radius / m->texel), reach = size > 0.5f ? size - 0.5f : 0.0f;
    float r[3], u[3], f[3];
    to_floats(m->a.right, 1.0 / m->texel, r);
    to_floats(m->a.up, 1.0 / m->texel, u);
    to_floats(m->a.forward, 1.0 / m->texel, f);
    for (size_t i = 0; i < count; i++) {
        const float *d = offset[i];
        const float x = d[0] * r[0] + d[1] * r[1] + d[2] * r[2] + half;
        const float y = d[0] * u[0] + d[1] * u[1] + d[2] * u[2] + half;
        const float height = d[0] * f[0] + d[1] * f[1] + d[2] * f[2];
        if (!(x >= reach && x + reach <= last && y >= reach && y + reach <= last)) {
            continue; // rounding, in points that are too close together for doubles
        }
        const int y1 = (int)(y + reach);
        for (int ty = (int)(y - reach); ty <= y1; ty++) {
            // a small disc may be square
            const float dy = (float)ty + 0.5f - y, rest = reach * reach - dy * dy;
            const float chord = reach < 1.5f ? reach : rest > 0.0f ? sqrtf(rest) : 0.0f;
            const int x1 = (int)(x + chord);
            float *row = &m->height[(size_t)ty * (size_t)m->n];
            for (int tx = (int)(x - chord); tx <= x1; tx++) {
                row[tx] = height > row[tx] ? height : row[tx];
            }
        }
    }
}

// One coordinate of a sample in the map: from + depth * (row + u * step), for its ray at u in the
// picture.
typedef struct slope {
    float from, row, step;
} slope;

static slope slope_of(const canvas *c, const map *m, vec axis, double v, double shift)
{
    const vec start = plus(c->eye, -1.0, m->center), middle = plus(c->cam.forward, v, c->cam.up);
    return (slope){(float)(dot(start, axis) / m->texel + shift),
                   (float)(dot(middle, axis) / m->texel),
                   (float)(dot(c->cam.right, axis) / m->texel)};
}

static float is_open(const map *m, float x, float y, float height)
{
    const float n = (float)m->n;
    const bool outside = !(x >= 0.0f && x < n && y >= 0.0f && y < n);
    return outside || height >= m->height[(size_t)y * (size_t)m->n + (size_t)x] ? 1.0f : 0.0f;
}

// Light the samples whose turn it is from the direction m->a.forward. What is higher than a grain's
// sample by more than `tolerance` hides it; `blur` is how far ground looks beside its own place
// [both in texels].
static void add_light(canvas *c, const map *m, int turn, bool sun, float share, float tolerance,
                      float blur)
{
    const float a = blur, b = 0.4f * blur, margin = 2.0f * blur, far = (float)m->n + margin;
    float n[3];
    to_floats(m->a.forward, 1.0 / 127.0, n);
    for (int y = turn >> 1; y < c->h; y += 2) {
        const double v = (0.5 * c->h - y - 0.5) / c->focal;
        const slope right = slope_of(c, m, m->a.right, v, 0.5 * m->n);
        const slope up = slope_of(c, m, m->a.up, v, 0.5 * m->n);
        const slope forward = slope_of(c, m, m->a.forward, v, 0.0);
        for (int x = turn & 1; x < c->w; x += 2) {
            sample *s = &c->at[(size_t)y * (size_t)c->w + (size_t)x];
            const float facing = s->normal[0] * n[0] + s->normal[1] * n[1] + s->normal[2] * n[2];
            if (facing <= 0.0f) {
                continue;
            }
            const float u = ((float)x + 0.5f - 0.5f * (float)c->w) / (float)c->focal;
            const float px = right.from + s->depth * (right.row + u * right.step);
            const float py = up.from + s->depth * (up.row + u * up.step);
            const float height = forward.from + s->depth * (forward.row + u * forward.step);
            // four looks aside from smooth ground, where an edge would show; one from a grain
            float seen = 1.0f;
            if (s->kind != GROUND) {
                seen = is_open(m, px, py, height + tolerance);
            } else if (px > -margin && px < far && py > -margin && py < far) {
                seen = 0.25f *
                       (is_open(m, px + a, py + b, height) + is_open(m, px - b, py + a, height) +
                        is_open(m, px - a, py - b, height) + is_open(m, px + b, py - a, height));
            }
            *(sun ? &s->sun : &s->sky) += share * facing * seen;
        }
    }
}

// ---- colours ----

static float to_linear(unsigned char c)
{
    const float x = c / 255.0f;
    return x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f);
}

static unsigned char to_srgb(float x)
{
    x = x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x;
    return (unsigned char)lroundf(
        255.0f * (x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f));
}

// Behind the points the ground fades into the backdrop [m].
typedef struct haze {
    float begins, length;
} haze;

// Add the colour of a sample in linear light. `open` is what ground under a free sky receives.
static void shade(const sample *s, const sample *open, haze air, const float colours[][3],
                  float rgb[3])
{
    const float below = 0.5f - 0.5f * s->normal[1] / 127.0f, past = s->depth - air.begins;
    const float thick = past > 0.0f ? past / air.length : 0.0f;
    const float clear = s->kind == GROUND ? expf(-thick * thick) : 0.0f;
    for (int i = 0; i < 3; i++) {
        const float light = SUN[i] * s->sun + SKY[i] * s->sky, back = colours[BACKDROP][i];
        const float full = SUN[i] * open->sun + SKY[i] * open->sky;
        if (s->kind < GROUND) {
            rgb[i] += colours[s->kind][i] * (light + BOUNCE[i] * below);
        } else {
            rgb[i] += back + clear * (colours[GROUND][i] * light / full - back);
        }
    }
}

static void resolve(const canvas *c, const sample open[4], haze air, unsigned char *rgb)
{
    float colours[sizeof COLOUR / sizeof *COLOUR][3];
    for (size_t k = 0; k < sizeof COLOUR / sizeof *COLOUR; k++) {
        for (int i = 0; i < 3; i++) {
            colours[k][i] = to_linear(COLOUR[k][i]);
        }
    }
    for (int y = 0; y < c->h; y += 2) {
        for (int x = 0; x < c->w; x += 2, rgb += 3) {
            float sum[3] = {0};
            for (int turn = 0; turn < 4; turn++) {
                shade(&c->at[(size_t)(y + (turn >> 1)) * c->w + x + (turn & 1)], &open[turn], air,
                      colours, sum);
            }
            for (int i = 0; i < 3; i++) {
                rgb[i] = to_srgb(sum[i] / 4.0f);
            }
        }
    }
}

bool rp_view_draw(const rp_view *v, const rp_cloud *cloud, unsigned char *rgb)
{
    // all fits into a ball this wide
    const double extent = length(plus(cloud->upper, -1.0, cloud->lower)) + 2.0 * v->radius;

    canvas c = {.w = 2 * v->width, .h = 2 * v->height, .eye = v->eye};
    c.focal = 0.5 * c.h / tan(0.5 * v->fov);
    c.cam = axes_along(plus(v->look, -1.0, v->eye));
    c.at = malloc((size_t)c.w * (size_t)c.h * sizeof *c.at);

    // a grain is three texels wide, as far as the largest map allows
    map m = {.center = rp_cloud_middle(cloud),
             .n = (int)least(most(1.5 * extent / v->radius, MAP_MIN), MAP_MAX)};
    m.texel = extent / (m.n - 4); // a margin for rounding
    m.height = malloc((size_t)m.n * (size_t)m.n * sizeof *m.height);
    float(*offset)[3] = malloc((cloud->count + 1) * sizeof *offset);
    const bool enough = c.at != NULL && m.height != NULL && offset != NULL;
    if (!enough) {
        goto done;
    }

    draw_ground(&c, cloud->lower.y - v->radius);
    for (size_t i = 0; i < cloud->count; i++) {
        to_floats(plus(cloud->point[i], -1.0, m.center), 1.0, offset[i]);
        draw_grain(&c, cloud->point[i], v->radius, cloud->grain[i]);
    }

    // the sun stands upper left of the camera, always above the ground
    const vec back = unit(cross(c.cam.right, (vec){0, 1, 0}));
    const double behind = cloud->flat ? 0.9 : 0.3;
    const axes sun = axes_along(plus(plus((vec){0, 0.62, 0}, -0.85, c.cam.right), behind, back));
    const float tolerance = (float)(0.8 * v->radius / m.texel + 1.5), blur = SKY_BLUR * (float)m.n;
    sample open[4] = {0};
    for (int k = 0; k < SUNS + SKIES; k++) {
        double x, y;
        vec direction;
        if (k < SUNS) {
            on_disc(k, SUNS, &x, &y);
            direction = plus(plus(sun.forward, SUN_SPREAD * x, sun.right), SUN_SPREAD * y, sun.up);
        } else {
            on_disc(k - SUNS, SKIES, &x, &y);
            direction = (vec){x, sqrt(1.0 - x * x - y * y), y};
        }
        m.a = axes_along(direction);
        draw_map(&m, offset, cloud->count, v->radius);
        // four turns; 1.5 since a sky that brightens towards its top sends 2/3 to a level ground
        const float share = k < SUNS ? 4.0f / SUNS : 4.0f * 1.5f / SKIES;
        add_light(&c, &m, k % 4, k < SUNS, share, tolerance, k < SUNS ? 0.5f : blur);
        *(k < SUNS ? &open[k % 4].sun : &open[k % 4].sky) += share * (float)m.a.forward.y;
    }
    const vec to = plus(m.center, -1.0, v->eye);
    const haze air = {(float)(dot(to, c.cam.forward) + 0.5 * extent), (float)(4.0 * extent)};
    resolve(&c, open, air, rgb);
done:
    free(c.at);
    free(m.height);
    free(offset);
    return enough;
}
