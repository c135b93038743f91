#include "render/crowd.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// A sphere of this many spacings hides what is behind the grains next to it.
static const double CLOSED = 0.66;

rp_result rp_crowd_open(rp_crowd *c, int64_t room, bool flat, bool moving)
{
    *c = (rp_crowd){.room = (size_t)room, .flat = flat};
    const bool fits = (uint64_t)room < PTRDIFF_MAX / sizeof *c->point;
    // one more, for malloc(0) may be NULL
    c->point = fits ? malloc((c->room + 1) * sizeof *c->point) : NULL;
    c->color = fits ? malloc((c->room + 1) * sizeof *c->color) : NULL;
    c->velocity = fits && moving ? malloc((c->room + 1) * sizeof *c->velocity) : NULL;
    if (c->point == NULL || c->color == NULL || (moving && c->velocity == NULL)) {
        rp_crowd_free(c);
        return rp_fail(RP_ERR_MEMORY, "no memory for the %lld particles of a picture",
                       (long long)room);
    }
    return RP_OK;
}

void rp_crowd_free(rp_crowd *c)
{
    free(c->point);
    free(c->velocity);
    free(c->radius);
    free(c->volume);
    free(c->color);
    *c = (rp_crowd){0};
}

size_t rp_crowd_add(rp_crowd *c, const double x[3])
{
    const double z = c->flat ? 0.0 : x[2];
    // comparisons that NaN fails
    if (!(fabs(x[0]) <= RP_FARTHEST && fabs(x[1]) <= RP_FARTHEST && fabs(z) <= RP_FARTHEST)) {
        return SIZE_MAX;
    }
    double *point = c->point[c->count];
    point[0] = x[0];
    point[1] = x[1];
    point[2] = z;
    return c->count++;
}

void rp_crowd_bounds(const rp_crowd *c, double lower[3], double upper[3])
{
    for (int a = 0; a < 3; a++) {
        lower[a] = c->count > 0 ? INFINITY : a == 1 ? 0.0 : -0.5;
        upper[a] = c->count > 0 ? -INFINITY : a == 1 ? 0.0 : 0.5;
        for (size_t i = 0; i < c->count; i++) {
            const double x = c->point[i][a];
            lower[a] = x < lower[a] ? x : lower[a];
            upper[a] = x > upper[a] ? x : upper[a];
        }
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double rp_crowd_radius(const rp_crowd *c)
{
    // The third neighbour of a few: less moved by chance than the first, and one spacing away in a
    // lattice of any dimension. Few points are to be told apart, so there the first counts.
    enum { PROBES = 128, FEW = 100, BLOCK = 1024 };
    const size_t count = c->count;
    double near[PROBES][3], distance[PROBES]; // squares of the three least; what was chosen
    for (size_t k = 0; k < PROBES; k++) {
        near[k][0] = near[k][1] = near[k][2] = INFINITY;
    }
    // a block of points stays in the cache while all probes look at it
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        const size_t end = count - begin < BLOCK ? count : begin + BLOCK;
        for (size_t k = 0; k < PROBES; k++) {
            const double *p = c->point[k * count / PROBES];
            double first = near[k][0], second = near[k][1], third = near[k][2];
            for (size_t i = begin; i < end; i++) {
                const double *q = c->point[i];
                const double x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
                const double dd = x * x + y * y + z * z;
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
    return (count < FEW ? 0.45 : CLOSED) * distance[n / 2];
}

double rp_radius_of_volume(double volume, int dimension)
{
    // in 2D there is no second layer behind the gaps
    return dimension == 2 ? 1.3 * CLOSED * sqrt(volume) : CLOSED * cbrt(volume);
}

int rp_grain_shade(uint64_t id)
{
    // splitmix64
    uint64_t h = (id + 1) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    const double u = (double)((h ^ h >> 31) >> 11) * 0x1p-53;
    return u < 0.85 ? 0 : u < 0.95 ? 1 : 2;
}

void rp_shade_color(const double *color, int shade, unsigned char rgb[3])
{
    static const unsigned char sand[3][3] = {
        {225, 169, 95}, {107, 84, 30}, {255, 255, 255}}; // amber, brown, white
    const double dark = 0.48, light = 0.65;              // brown over amber, and how far to white
    for (int k = 0; k < 3; k++) {
        const double c = color != NULL ? fmin(fmax(color[k], 0.0), 1.0) : 0.0;
        const double v = shade == 0 ? c : shade == 1 ? dark * c : c + light * (1.0 - c);
        rgb[k] = color != NULL ? (unsigned char)(255.0 * v + 0.5) : sand[shade][k];
    }
}

void rp_grain_color(uint64_t id, unsigned char rgb[3])
{
    rp_shade_color(NULL, rp_grain_shade(id), rgb);
}

void rp_grain_tint(const double color[3], uint64_t id, unsigned char rgb[3])
{
    rp_shade_color(color, rp_grain_shade(id), rgb);
}
