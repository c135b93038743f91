// The surface of water from its particles (Zhu and Bridson 2005, Animating sand as a fluid): at a
// node of a fine grid, the distance from the weighted mean place of the particles around it, less
// the radius of one. That is smooth along a calm surface and a ball around a lone particle. What
// their places still print onto it is smoothed away, by no more than a part of their spacing, so
// that no drop and no sheet vanishes.
//
// Triangles are those of surface nets: each cell that the surface crosses has a vertex at the mean
// of the crossings of its edges, and each edge that it crosses joins those of the four cells
// around.
//
// The grid has bricks of 8 x 8 x 8 nodes where particles are near, in the order in which particles
// name them, so that nothing depends on threads or addresses.
#include "repose/skin.h"

#include "base/result.h"
#include "base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COOKIE = 0x5c19f1,
    SIDE = 8, // nodes of a brick along a side
    NODES = SIDE * SIDE * SIDE,
    PAD = SIDE + 2, // with one node around
    PADDED = PAD * PAD * PAD,
    NEAR = 27,
    MIDDLE = NEAR / 2,
    ROUNDS = 10, // of smoothing
    MOST_BRICKS = 1 << 22,
};

static const double REACH = 2.2;  // of a particle [spacings]
static const double RADIUS = 0.8; // puts a flat surface half a spacing beyond the last layer
// most that smoothing moves the surface [spacings]: of a lone drop, and where there are many, which
// is where so much of the space is water
static const double LONE = 0.1, MANY = 1.0, MANY_FROM = 0.15, MANY_AT = 0.4;
static const double CLOSE = 2.2; // what lies before a face and has an image [spacings]
static const double BALL = 64.0 * M_PI / 315.0; // of (1 - r^2)^3 over the unit ball

// Places are kept less an origin, in voxels.
typedef struct drop {
    float at[3], volume;
    float velocity[3];
} drop;

typedef struct bin {
    int64_t *first; // [bricks + 1]
    drop *drop;
} bin;

typedef struct brick {
    int64_t at[3]; // in bricks
    int32_t near[NEAR];
} brick;

struct rp_skin {
    double origin[3], voxel, spacing;
    double reach, radius; // [voxels]
    int threads;
    bool moving;
    brick *brick;
    int64_t bricks, room;
    int32_t *slot; // hash table of bricks; -1: free
    uint64_t slots;
    bin water, sand;
    float *level;             // [bricks][NODES], [voxels]; negative inside
    float *wet, *grains;      // shares of space
    float (*velocity)[3];     // NULL unless water came with it
    const rp_skin_wall *wall; // of the def, while it is made
    const rp_skin_face *face; // likewise
    int walls, faces;
    bool flat;
};

rp_skin_def rp_default_skin_def(void) { return (rp_skin_def){.cookie = COOKIE}; }

static rp_result no_memory(int64_t count)
{
    return rp_fail(RP_ERR_MEMORY, "no memory for the surface of %lld particles of water",
                   (long long)count);
}

// ---- bricks ----

static uint64_t hash_of(const int64_t at[3])
{
    uint64_t h = 0;
    for (int a = 0; a < 3; a++) {
        h = (h ^ (uint64_t)at[a]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

static uint64_t slot_of(const rp_skin *s, const int64_t at[3])
{
    uint64_t i = hash_of(at) & (s->slots - 1);
    while (s->slot[i] >= 0 && memcmp(s->brick[s->slot[i]].at, at, sizeof s->brick->at) != 0) {
        i = (i + 1) & (s->slots - 1);
    }
    return i;
}

static int32_t find_brick(const rp_skin *s, const int64_t at[3]) { return s->slot[slot_of(s, at)]; }

static bool grow_table(rp_skin *s)
{
    const uint64_t slots = s->slots == 0 ? 1 << 12 : 2 * s->slots;
    int32_t *slot = malloc(slots * sizeof *slot);
    brick *list = slot != NULL ? realloc(s->brick, slots / 2 * sizeof *list) : NULL;
    if (list == NULL) {
        free(slot);
        return false;
    }
    memset(slot, -1, slots * sizeof *slot);
    free(s->slot);
    s->slot = slot;
    s->slots = slots;
    s->brick = list;
    s->room = (int64_t)slots / 2;
    for (int64_t b = 0; b < s->bricks; b++) {
        slot[slot_of(s, list[b].at)] = (int32_t)b;
    }
    return true;
}

static bool add_brick(rp_skin *s, const int64_t at[3])
{
    if (s->bricks == s->room && !grow_table(s)) {
        return false;
    }
    const uint64_t i = slot_of(s, at);
    if (s->slot[i] < 0) {
        s->slot[i] = (int32_t)s->bricks;
        memcpy(s->brick[s->bricks++].at, at, sizeof s->brick->at);
    }
    return s->bricks < MOST_BRICKS;
}

static int64_t brick_of(double voxels) { return (int64_t)floor(voxels / SIDE); }

// Bricks with nodes that a particle reaches, and one more: at the outermost ones there is no water.
static bool add_bricks(rp_skin *s, const float x[3])
{
    int64_t low[3], high[3], at[3];
    const double far = s->reach + 1.0;
    for (int a = 0; a < 3; a++) {
        low[a] = brick_of((double)x[a] - far);
        high[a] = brick_of((double)x[a] + far);
    }
    for (at[0] = low[0]; at[0] <= high[0]; at[0]++) {
        for (at[1] = low[1]; at[1] <= high[1]; at[1]++) {
            for (at[2] = low[2]; at[2] <= high[2]; at[2]++) {
                if (!add_brick(s, at)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static void find_near(rp_skin *s)
{
    for (int64_t b = 0; b < s->bricks; b++) {
        for (int n = 0; n < NEAR; n++) {
            const int64_t *c = s->brick[b].at;
            s->brick[b].near[n] = find_brick(
                s, (int64_t[3]){c[0] + n / 9 - 1, c[1] + n / 3 % 3 - 1, c[2] + n % 3 - 1});
        }
    }
}

// ---- particles ----

typedef struct drops {
    drop *list;
    int64_t count, room;
} drops;

static bool add_drop(drops *d, drop one)
{
    if (d->count == d->room) {
        const int64_t room = d->room == 0 ? 1024 : d->room + d->room / 2;
        drop *list = realloc(d->list, (size_t)room * sizeof *list);
        if (list == NULL) {
            return false;
        }
        d->list = list;
        d->room = room;
    }
    d->list[d->count++] = one;
    return true;
}

static void across(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = a[j] * b[k] - a[k] * b[j];
    }
}

static double along(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Images of those from `first` on that lie right before a triangle, by no more than CLOSE spacings.
static bool reflect(const rp_skin *s, const rp_skin_face *face, int64_t first, int64_t end,
                    drops *out)
{
    double x[3][3], edge[3][3], normal[3], inward[3][3];
    for (int c = 0; c < 3; c++) {
        for (int a = 0; a < 3; a++) {
            x[c][a] = (face->corner[c][a] - s->origin[a]) / s->voxel;
        }
    }
    for (int c = 0; c < 3; c++) {
        for (int a = 0; a < 3; a++) {
            edge[c][a] = x[(c + 1) % 3][a] - x[c][a];
        }
    }
    across(edge[0], edge[1], normal);
    const double size = sqrt(along(normal, normal));
    if (!(size > 0.0)) {
        return true;
    }
    for (int a = 0; a < 3; a++) {
        normal[a] /= size;
    }
    for (int c = 0; c < 3; c++) {
        across(normal, edge[c], inward[c]);
    }
    const double most = CLOSE * s->spacing / s->voxel;
    for (int64_t i = first; i < end; i++) {
        drop image = out->list[i];
        double at[3];
        for (int a = 0; a < 3; a++) {
            at[a] = (double)image.at[a] - x[0][a];
        }
        const double high = along(at, normal);
        bool before = high > 0.0 && high < most;
        for (int c = 0; c < 3 && before; c++) {
            const double from[3] = {at[0] - (x[c][0] - x[0][0]), at[1] - (x[c][1] - x[0][1]),
                                    at[2] - (x[c][2] - x[0][2])};
            before = along(from, inward[c]) >= 0.0;
        }
        for (int a = 0; a < 3; a++) {
            image.at[a] -= (float)(2.0 * high * normal[a]);
        }
        if (before && !add_drop(out, image)) {
            return false;
        }
    }
    return true;
}

// In voxels, with images: beyond a wall the same again, so that nothing ends at it, and in 2D a
// layer to either side.
static bool take(const rp_skin *s, const rp_skin_crowd *c, drops *out)
{
    for (int64_t i = 0; i < c->count; i++) {
        const double deep = s->flat ? s->spacing : 1.0;
        drop one = {.volume = (float)((double)c->volume[i] * deep / pow(s->voxel, 3.0))};
        for (int a = 0; a < 3; a++) {
            one.at[a] = (float)((c->point[i][a] - s->origin[a]) / s->voxel);
            one.velocity[a] = c->velocity != NULL ? c->velocity[i][a] : 0.0f;
        }
        for (int layer = s->flat ? -1 : 0; layer <= (s->flat ? 1 : 0); layer++) {
            drop image = one;
            image.at[2] += (float)(layer * s->spacing / s->voxel);
            if (!add_drop(out, image)) {
                return false;
            }
        }
    }
    for (int w = 0; w < s->walls; w++) {
        const rp_skin_wall *wall = &s->wall[w];
        for (int64_t i = 0, count = out->count; i < count; i++) {
            drop image = out->list[i];
            double high = 0.0;
            for (int a = 0; a < 3; a++) {
                const double foot = (wall->point[a] - s->origin[a]) / s->voxel;
                high += wall->normal[a] * ((double)image.at[a] - foot);
            }
            for (int a = 0; a < 3; a++) {
                image.at[a] -= (float)(2.0 * high * wall->normal[a]);
            }
            if (high > -0.5 * s->reach && high < s->reach && !add_drop(out, image)) {
                return false;
            }
        }
    }
    // and in corners images of images
    int64_t first = 0;
    for (int round = 0; round < 2; round++) {
        const int64_t end = out->count;
        for (int f = 0; f < s->faces; f++) {
            if (!reflect(s, &s->face[f], first, end, out)) {
                return false;
            }
        }
        first = end;
    }
    return true;
}

static int32_t home_of(const rp_skin *s, const drop *d)
{
    return find_brick(s, (int64_t[3]){brick_of((double)d->at[0]), brick_of((double)d->at[1]),
                                      brick_of((double)d->at[2])});
}

// By brick, those of a brick in the order in which they came; who has none is of no account.
static bool sort_drops(const rp_skin *s, const drops *d, bin *out)
{
    out->first = calloc((size_t)s->bricks + 2, sizeof *out->first);
    out->drop = malloc(((size_t)d->count + 1) * sizeof *out->drop);
    if (out->first == NULL || out->drop == NULL) {
        return false;
    }
    int64_t *next = out->first + 1;
    for (int64_t i = 0; i < d->count; i++) {
        const int32_t b = home_of(s, &d->list[i]);
        if (b >= 0) {
            next[b + 1]++;
        }
    }
    for (int64_t b = 0; b < s->bricks; b++) {
        next[b + 1] += next[b];
    }
    for (int64_t i = 0; i < d->count; i++) {
        const int32_t b = home_of(s, &d->list[i]);
        if (b >= 0) {
            out->drop[next[b]++] = d->list[i];
        }
    }
    return true;
}

// ---- levels ----

typedef struct sums {
    float weight[NODES], place[NODES][3], share[NODES], velocity[NODES][3];
} sums;

// What the particles of the bricks around give to the nodes of one.
static void gather(const rp_skin *s, const bin *from, int64_t b, bool whole, sums *t)
{
    const float reach = (float)s->reach, inverse2 = 1.0f / (reach * reach);
    float foot[3];
    for (int a = 0; a < 3; a++) {
        foot[a] = (float)(s->brick[b].at[a] * SIDE);
    }
    for (int n = 0; n < NEAR; n++) {
        const int32_t other = s->brick[b].near[n];
        for (int64_t i = other >= 0 ? from->first[other] : 0,
                     end = other >= 0 ? from->first[other + 1] : 0;
             i < end; i++) {
            const drop *d = &from->drop[i];
            int low[3], high[3];
            float x[3];
            bool far = false;
            for (int a = 0; a < 3; a++) {
                x[a] = d->at[a] - foot[a];
                low[a] = (int)fmaxf(0.0f, ceilf(x[a] - reach));
                high[a] = (int)fminf(SIDE - 1.0f, floorf(x[a] + reach));
                far = far || low[a] > high[a];
            }
            for (int p = low[0]; p <= high[0] && !far; p++) {
                for (int q = low[1]; q <= high[1]; q++) {
                    const float dx = (float)p - x[0], dy = (float)q - x[1];
                    for (int r = low[2]; r <= high[2]; r++) {
                        const float dz = (float)r - x[2];
                        const float left = 1.0f - (dx * dx + dy * dy + dz * dz) * inverse2;
                        if (!(left > 0.0f)) {
                            continue;
                        }
                        const float w = left * left * left;
                        const int node = (p * SIDE + q) * SIDE + r;
                        t->share[node] += w * d->volume;
                        if (!whole) {
                            continue;
                        }
                        t->weight[node] += w;
                        t->place[node][0] -= w * dx;
                        t->place[node][1] -= w * dy;
                        t->place[node][2] -= w * dz;
                        for (int a = 0; a < 3 && s->moving; a++) {
                            t->velocity[node][a] += w * d->velocity[a];
                        }
                    }
                }
            }
        }
    }
}

static void level_brick(void *context, int64_t b, int thread)
{
    (void)thread;
    const rp_skin *s = context;
    const float ball = (float)(1.0 / (BALL * pow(s->reach, 3.0)));
    const float outside = (float)s->radius;
    sums t = {0};
    gather(s, &s->water, b, true, &t);
    for (int n = 0; n < NODES; n++) {
        const size_t at = (size_t)b * NODES + (size_t)n;
        const float w = t.weight[n];
        const float *x = t.place[n];
        s->level[at] = outside;
        s->wet[at] = ball * t.share[n];
        if (w > 0.0f) {
            const float away = sqrtf(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) / w;
            // where most of the space is water a gap between particles is none of water
            const float full = (0.75f - s->wet[at]) * (float)(s->spacing / s->voxel);
            s->level[at] = fminf(fminf(outside, full), away - (float)s->radius);
        }
        for (int a = 0; a < 3 && s->moving; a++) {
            s->velocity[at][a] = w > 0.0f ? t.velocity[n][a] / w : 0.0f;
        }
        t.share[n] = 0.0f;
    }
    gather(s, &s->sand, b, false, &t);
    for (int n = 0; n < NODES; n++) {
        s->grains[(size_t)b * NODES + (size_t)n] = ball * t.share[n];
    }
}

// The nodes of a brick with those around it.
static void pad(const rp_skin *s, const float *level, int64_t b, float out[PADDED])
{
    const float outside = (float)s->radius;
    float *to = out;
    for (int p = -1; p <= SIDE; p++) {
        for (int q = -1; q <= SIDE; q++) {
            for (int r = -1; r <= SIDE; r++, to++) {
                const int n = ((p + SIDE) / SIDE * 3 + (q + SIDE) / SIDE) * 3 + (r + SIDE) / SIDE;
                const int32_t other = s->brick[b].near[n];
                const int node =
                    ((p & (SIDE - 1)) * SIDE + (q & (SIDE - 1))) * SIDE + (r & (SIDE - 1));
                *to = other >= 0 ? level[(size_t)other * NODES + (size_t)node] : outside;
            }
        }
    }
}

typedef struct turn {
    const rp_skin *skin;
    const float *from;
    float *to;
} turn;

// The mean with weights 1 2 1 along each axis.
static void smooth_brick(void *context, int64_t b, int thread)
{
    (void)thread;
    const turn *t = context;
    float x[PADDED];
    pad(t->skin, t->from, b, x);
    static const int step[3] = {PAD * PAD, PAD, 1};
    for (int a = 0; a < 3; a++) {
        float y[PADDED];
        memcpy(y, x, sizeof y);
        for (int i = step[a]; i < PADDED - step[a]; i++) {
            y[i] = 0.25f * (x[i - step[a]] + x[i + step[a]]) + 0.5f * x[i];
        }
        memcpy(x, y, sizeof x);
    }
    for (int n = 0; n < NODES; n++) {
        const int p = n / (SIDE * SIDE) + 1, q = n / SIDE % SIDE + 1, r = n % SIDE + 1;
        t->to[(size_t)b * NODES + (size_t)n] = x[(p * PAD + q) * PAD + r];
    }
}

// What was smoothed, but no farther from what it was than allowed; without what sand hides, and cut
// at walls.
static void finish_brick(void *context, int64_t b, int thread)
{
    (void)thread;
    const turn *t = context;
    const rp_skin *s = t->skin;
    const double unit = s->spacing / s->voxel;
    for (int n = 0; n < NODES; n++) {
        const size_t at = (size_t)b * NODES + (size_t)n;
        const double was = (double)t->to[at];
        const double many = ((double)s->wet[at] - MANY_FROM) / (MANY_AT - MANY_FROM);
        const double most = unit * (LONE + (MANY - LONE) * fmin(fmax(many, 0.0), 1.0));
        double now = fmin(fmax((double)t->from[at], was - most), was + most);
        const double hidden = fmin(fmax(((double)s->grains[at] - 0.65) / 0.3, 0.0), 1.0);
        now += 1.2 * unit * hidden * hidden * (3.0 - 2.0 * hidden);
        const int at_node[3] = {n / (SIDE * SIDE), n / SIDE % SIDE, n % SIDE};
        double x[3];
        for (int a = 0; a < 3; a++) {
            x[a] = s->origin[a] + s->voxel * (double)(s->brick[b].at[a] * SIDE + at_node[a]);
        }
        for (int w = 0; w < s->walls; w++) {
            const rp_skin_wall *wall = &s->wall[w];
            double high = wall->over;
            for (int a = 0; a < 3; a++) {
                high += wall->normal[a] * (x[a] - wall->point[a]);
            }
            now = fmax(now, -high / s->voxel);
        }
        if (s->flat) {
            now = fmax(now, (fabs(x[2]) - s->spacing) / s->voxel);
        }
        t->to[at] = (float)now;
    }
}

static rp_result make_levels(rp_skin *s)
{
    const size_t nodes = (size_t)s->bricks * NODES;
    float *turned[2] = {malloc((nodes + 1) * sizeof(float)), malloc((nodes + 1) * sizeof(float))};
    const bool fits = turned[0] != NULL && turned[1] != NULL;
    if (fits) {
        turn t = {s, s->level, turned[0]};
        rp_parallel_for(s->threads, s->bricks, 4, level_brick, s);
        for (int round = 0; round < ROUNDS; round++) {
            rp_parallel_for(s->threads, s->bricks, 16, smooth_brick, &t);
            t.from = t.to;
            t.to = turned[(round + 1) % 2];
        }
        t.to = s->level;
        rp_parallel_for(s->threads, s->bricks, 16, finish_brick, &t);
    }
    free(turned[0]);
    free(turned[1]);
    return fits ? RP_OK : no_memory(s->water.first[s->bricks]);
}

// ---- making ----

static rp_result check_def(const rp_skin_def *def)
{
    if (def->cookie != COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "skin: start from rp_default_skin_def()");
    }
    if (!(def->spacing > 0.0 && isfinite(def->spacing))) {
        return rp_fail(RP_ERR_ARGUMENT, "skin.spacing: want a positive number, got %g",
                       def->spacing);
    }
    // finer than that, a particle would reach past the next brick, and nothing is seen of it
    if (def->voxel != 0.0 && !(def->voxel >= 0.3 * def->spacing && def->voxel <= def->spacing)) {
        return rp_fail(RP_ERR_ARGUMENT, "skin.voxel: want 0.3 to 1 spacings (%g m), got %g",
                       def->spacing, def->voxel);
    }
    return RP_OK;
}

static rp_result make_bricks(rp_skin *s, const rp_skin_def *def, drops *water, drops *sand)
{
    if (!take(s, &def->water, water) || !take(s, &def->sand, sand) || !grow_table(s)) {
        return no_memory(def->water.count);
    }
    for (int64_t i = 0; i < water->count; i++) {
        if (!add_bricks(s, water->list[i].at)) {
            return no_memory(def->water.count);
        }
    }
    find_near(s);
    const size_t nodes = (size_t)s->bricks * NODES + 1;
    s->level = malloc(nodes * sizeof *s->level);
    s->wet = malloc(nodes * sizeof *s->wet);
    s->grains = malloc(nodes * sizeof *s->grains);
    s->velocity = s->moving ? malloc(nodes * sizeof *s->velocity) : NULL;
    return s->level != NULL && s->wet != NULL && s->grains != NULL &&
                   (!s->moving || s->velocity != NULL) && sort_drops(s, water, &s->water) &&
                   sort_drops(s, sand, &s->sand)
               ? make_levels(s)
               : no_memory(def->water.count);
}

static void free_bins(rp_skin *s)
{
    free(s->water.first);
    free(s->water.drop);
    free(s->sand.first);
    free(s->sand.drop);
    s->water = s->sand = (bin){0};
}

rp_result rp_skin_open(const rp_skin_def *def, rp_skin **out)
{
    *out = NULL;
    RP_TRY(check_def(def));
    rp_skin *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return no_memory(def->water.count);
    }
    s->spacing = def->spacing;
    s->voxel = def->voxel > 0.0 ? def->voxel : 0.75 * def->spacing;
    s->reach = REACH * s->spacing / s->voxel;
    s->radius = RADIUS * s->spacing / s->voxel;
    s->threads = def->threads > 0 ? def->threads : rp_default_threads();
    s->moving = def->water.velocity != NULL;
    s->wall = def->wall;
    s->walls = def->walls;
    s->face = def->face;
    s->faces = def->faces;
    s->flat = def->flat;
    // from the first particle: numbers of single precision are small then
    for (int a = 0; a < 3 && def->water.count > 0; a++) {
        s->origin[a] = s->flat && a == 2 ? 0.0 : def->water.point[0][a];
    }
    drops water = {0}, sand = {0};
    const rp_result result = make_bricks(s, def, &water, &sand);
    free(water.list);
    free(sand.list);
    free_bins(s);
    s->wall = NULL;
    s->face = NULL;
    if (result != RP_OK) {
        rp_skin_close(s);
        return result;
    }
    *out = s;
    return RP_OK;
}

void rp_skin_close(rp_skin *s)
{
    if (s != NULL) {
        free_bins(s);
        free(s->brick);
        free(s->slot);
        free(s->level);
        free(s->wet);
        free(s->grains);
        free(s->velocity);
        free(s);
    }
}

double rp_skin_wetness(const rp_skin *s, const double x[3])
{
    int64_t home[3], node = 0;
    for (int a = 0; a < 3; a++) {
        const double at = floor((x[a] - s->origin[a]) / s->voxel + 0.5);
        home[a] = brick_of(at);
        node = node * SIDE + ((int64_t)at - home[a] * SIDE);
    }
    const int32_t b = find_brick(s, home);
    return b >= 0 ? (double)s->wet[(int64_t)b * NODES + node] : 0.0;
}

// ---- triangles ----

typedef struct net {
    const rp_skin *skin;
    int32_t *vertex;           // [bricks][NODES] of the cell above a node; -1: none
    int64_t *vertices, *quads; // [bricks + 1] before a brick
    rp_surface *surface;
    bool moves; // velocities are wanted
    float (*velocity)[3];
} net;

static const int CORNER[8][3] = {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1},
                                 {1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1}};

// Levels at the corners of a cell. @return whether the surface crosses it
static bool corners_of(const float x[PADDED], int n, float corner[8])
{
    const int p = n / (SIDE * SIDE) + 1, q = n / SIDE % SIDE + 1, r = n % SIDE + 1;
    int inside = 0;
    for (int c = 0; c < 8; c++) {
        corner[c] = x[((p + CORNER[c][0]) * PAD + q + CORNER[c][1]) * PAD + r + CORNER[c][2]];
        inside += corner[c] < 0.0f;
    }
    return inside > 0 && inside < 8;
}

// Does the surface cross the edge from a node along an axis? 1 where it faces along it, -1 back.
static int crossed(const float x[PADDED], int n, int axis)
{
    static const int step[3] = {PAD * PAD, PAD, 1};
    const int at = ((n / (SIDE * SIDE) + 1) * PAD + n / SIDE % SIDE + 1) * PAD + n % SIDE + 1;
    const bool here = x[at] < 0.0f, there = x[at + step[axis]] < 0.0f;
    return here == there ? 0 : here ? 1 : -1;
}

static void count_brick(void *context, int64_t b, int thread)
{
    (void)thread;
    const net *t = context;
    float x[PADDED], corner[8];
    int64_t vertices = 0, quads = 0;
    pad(t->skin, t->skin->level, b, x);
    for (int n = 0; n < NODES; n++) {
        t->vertex[b * NODES + n] = corners_of(x, n, corner) ? (int32_t)vertices++ : -1;
        for (int a = 0; a < 3; a++) {
            quads += crossed(x, n, a) != 0;
        }
    }
    t->vertices[b + 1] = vertices;
    t->quads[b + 1] = quads;
}

// The mean of the crossings of a cell's edges, and the slope of its levels there.
static void place_vertex(const float corner[8], float at[3], float normal[3])
{
    int crossings = 0;
    float sum[3] = {0};
    for (int c = 0; c < 8; c++) {
        for (int a = 0; a < 3; a++) {
            const int d = c | 4 >> a;
            if (d == c || (corner[c] < 0.0f) == (corner[d] < 0.0f)) {
                continue;
            }
            for (int k = 0; k < 3; k++) {
                sum[k] += k == a ? corner[c] / (corner[c] - corner[d]) : (float)CORNER[c][k];
            }
            crossings++;
        }
    }
    for (int k = 0; k < 3; k++) {
        at[k] = sum[k] / (float)crossings;
        normal[k] = 0.0f;
    }
    for (int c = 0; c < 8; c++) {
        for (int a = 0; a < 3; a++) {
            float slope = corner[c];
            for (int k = 0; k < 3; k++) {
                slope *=
                    k == a ? (CORNER[c][k] ? 1.0f : -1.0f) : (CORNER[c][k] ? at[k] : 1.0f - at[k]);
            }
            normal[a] += slope;
        }
    }
    const float length =
        sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int k = 0; k < 3; k++) {
        normal[k] = length > 0.0f ? normal[k] / length : k == 1 ? 1.0f : 0.0f;
    }
}

static void fill_vertices(void *context, int64_t b, int thread)
{
    (void)thread;
    const net *t = context;
    const rp_skin *s = t->skin;
    float x[PADDED], corner[8];
    pad(s, s->level, b, x);
    for (int n = 0; n < NODES; n++) {
        int32_t *vertex = &t->vertex[b * NODES + n];
        if (*vertex < 0 || !corners_of(x, n, corner)) {
            continue;
        }
        *vertex += (int32_t)t->vertices[b];
        float at[3];
        place_vertex(corner, at, t->surface->normal[*vertex]);
        const int node[3] = {n / (SIDE * SIDE), n / SIDE % SIDE, n % SIDE};
        for (int a = 0; a < 3; a++) {
            const double voxels = (double)(s->brick[b].at[a] * SIDE + node[a]) + (double)at[a];
            t->surface->vertex[*vertex][a] = (float)(s->origin[a] + s->voxel * voxels);
            if (t->velocity != NULL) {
                t->velocity[*vertex][a] = s->velocity[b * NODES + n][a];
            }
        }
    }
}

// The vertex of a cell that may lie in the brick before; -1: none.
static int32_t vertex_at(const net *t, int64_t b, const int cell[3])
{
    int near = MIDDLE, node = 0;
    static const int weight[3] = {9, 3, 1};
    for (int a = 0; a < 3; a++) {
        near -= cell[a] < 0 ? weight[a] : 0;
        node = node * SIDE + (cell[a] & (SIDE - 1));
    }
    const int32_t other = t->skin->brick[b].near[near];
    return other >= 0 ? t->vertex[(int64_t)other * NODES + node] : -1;
}

static void fill_triangles(void *context, int64_t b, int thread)
{
    (void)thread;
    const net *t = context;
    float x[PADDED];
    int64_t quad = t->quads[b];
    pad(t->skin, t->skin->level, b, x);
    for (int n = 0; n < NODES; n++) {
        for (int a = 0; a < 3; a++) {
            const int facing = crossed(x, n, a);
            if (facing == 0) {
                continue;
            }
            // the cells around the edge, counter-clockwise seen from where it leads
            static const int around[4][2] = {{0, 0}, {-1, 0}, {-1, -1}, {0, -1}};
            const int node[3] = {n / (SIDE * SIDE), n / SIDE % SIDE, n % SIDE};
            uint32_t corner[4];
            bool whole = true;
            for (int k = 0; k < 4; k++) {
                int cell[3] = {node[0], node[1], node[2]};
                cell[(a + 1) % 3] += around[k][0];
                cell[(a + 2) % 3] += around[k][1];
                const int32_t v = vertex_at(t, b, cell);
                whole = whole && v >= 0;
                corner[facing > 0 ? k : 3 - k] = (uint32_t)(v >= 0 ? v : 0);
            }
            for (int half = 0; half < 2; half++) {
                uint32_t *to = t->surface->triangle[2 * quad + half];
                to[0] = corner[0];
                to[1] = whole ? corner[1 + half] : corner[0];
                to[2] = whole ? corner[2 + half] : corner[0];
            }
            quad++;
        }
    }
}

static rp_result make_surface(net *t, int64_t bricks)
{
    const rp_skin *s = t->skin;
    t->vertex = malloc(((size_t)bricks * NODES + 1) * sizeof *t->vertex);
    t->vertices = calloc((size_t)bricks + 1, sizeof *t->vertices);
    t->quads = calloc((size_t)bricks + 1, sizeof *t->quads);
    if (t->vertex == NULL || t->vertices == NULL || t->quads == NULL) {
        return RP_ERR_MEMORY;
    }
    rp_parallel_for(s->threads, bricks, 16, count_brick, t);
    for (int64_t b = 0; b < bricks; b++) {
        t->vertices[b + 1] += t->vertices[b];
        t->quads[b + 1] += t->quads[b];
    }
    rp_surface *o = t->surface;
    o->vertices = t->vertices[bricks];
    o->triangles = 2 * t->quads[bricks];
    if (o->vertices > INT32_MAX) {
        return RP_ERR_MEMORY;
    }
    o->vertex = malloc(((size_t)o->vertices + 1) * sizeof *o->vertex);
    o->normal = malloc(((size_t)o->vertices + 1) * sizeof *o->normal);
    o->triangle = malloc(((size_t)o->triangles + 1) * sizeof *o->triangle);
    t->velocity = t->moves ? malloc(((size_t)o->vertices + 1) * sizeof *t->velocity) : NULL;
    if (o->vertex == NULL || o->normal == NULL || o->triangle == NULL ||
        (t->moves && t->velocity == NULL)) {
        return RP_ERR_MEMORY;
    }
    rp_parallel_for(s->threads, bricks, 16, fill_vertices, t);
    rp_parallel_for(s->threads, bricks, 16, fill_triangles, t);
    return RP_OK;
}

rp_result rp_skin_surface(const rp_skin *s, rp_surface *surface, float (**velocity)[3])
{
    *surface = (rp_surface){0};
    net t = {.skin = s, .surface = surface, .moves = velocity != NULL && s->moving};
    const rp_result result = make_surface(&t, s->bricks);
    free(t.vertex);
    free(t.vertices);
    free(t.quads);
    if (velocity != NULL) {
        *velocity = result == RP_OK ? t.velocity : NULL;
    }
    if (result != RP_OK) {
        free(t.velocity);
        rp_surface_free(surface);
        return rp_fail(RP_ERR_MEMORY, "no memory for the surface of water");
    }
    return RP_OK;
}
