#include "shape/sample.h"

#include "base/hash.h"
#include "base/result.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

// The tile
// -----------------------------------------------------------------------------------------------

// Its lengths are in cells. The diagonal of a cell is the least distance of samples, so that a cell
// holds one at most. Cells form bricks, the smallest pieces that are kept or skipped as one. In 2D
// the tile is one cell thick.
enum {
    BRICK = 8,     // cells along an edge
    SIDE_2D = 128, // cells along an edge of the tile
    SIDE_3D = 40,
    MOST_CELLS = SIDE_3D * SIDE_3D * SIDE_3D,
    MOST_BRICKS = SIDE_2D / BRICK * (SIDE_2D / BRICK),
    MOST_SAMPLES = MOST_CELLS / 4, // in 3D an eighth of the cells is full, in 2D fewer than half
    DARTS = 8, // thrown per cell; twice as many would bring samples closer by 1 % in 3D, 2 % in 2D
};
_Static_assert(SIDE_2D *SIDE_2D / 2 <= MOST_SAMPLES, "the tile in 2D is the smaller one");
_Static_assert(SIDE_3D / BRICK * (SIDE_3D / BRICK) * (SIDE_3D / BRICK) <= MOST_BRICKS,
               "the tile in 3D has fewer bricks");

typedef struct tile {
    int dim, side[3], brick[3];
    double spacing;             // (cells per sample)^(1/dim)
    int first[MOST_BRICKS + 1]; // sample of each brick
    float x[MOST_SAMPLES][3];   // from the corner of its brick
} tile;

// While darts are thrown: the sample in each cell, and the cells that may still take one.
typedef struct board {
    bool full[MOST_CELLS];
    float x[MOST_CELLS][3]; // from the corner of the cell
    int open[MOST_CELLS], opens;
} board;

static int volume(const int n[3]) { return n[0] * n[1] * n[2]; }

static void split(const int n[3], int index, int out[3])
{
    out[0] = index / (n[1] * n[2]);
    out[1] = index / n[2] % n[1];
    out[2] = index % n[2];
}

// The tile meets itself on all sides.
static int cell_at(const tile *t, const int place[3])
{
    int cell = 0;
    for (int a = 0; a < 3; a++) {
        const int over = place[a] >= t->side[a] ? t->side[a] : place[a] < 0 ? -t->side[a] : 0;
        cell = cell * t->side[a] + place[a] - over;
    }
    return cell;
}

typedef enum landing { LANDS, TOO_NEAR, COVERED } landing;

// How a dart fares against the sample in a cell `step` cells away. Covered: that sample leaves no
// room in the whole cell of the dart.
static landing compare(const tile *t, const float x[3], const int step[3], const float other[3])
{
    float near2 = 0.0F, far2 = 0.0F;
    for (int a = 0; a < t->dim; a++) {
        const float at = (float)step[a] + other[a], corner = at < 0.5F ? 1.0F - at : at;
        near2 += (at - x[a]) * (at - x[a]);
        far2 += corner * corner;
    }
    return near2 >= (float)t->dim ? LANDS : far2 >= (float)t->dim ? TOO_NEAR : COVERED;
}

static landing try_dart(const tile *t, const board *b, int cell, const float x[3])
{
    static const int near_first[] = {0, -1, 1, -2, 2};
    int place[3];
    split(t->side, cell, place);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) {
            for (int k = 0; k < (t->dim == 2 ? 1 : 5); k++) {
                const int step[3] = {near_first[i], near_first[j], near_first[k]};
                const int there[3] = {place[0] + step[0], place[1] + step[1], place[2] + step[2]};
                const int other = cell_at(t, there);
                const landing how = b->full[other] ? compare(t, x, step, b->x[other]) : LANDS;
                if (how != LANDS) {
                    return how;
                }
            }
        }
    }
    return LANDS;
}

static void throw_darts(const tile *t, board *b)
{
    const int cells = volume(t->side);
    for (b->opens = 0; b->opens < cells; b->opens++) {
        b->open[b->opens] = b->opens;
    }
    for (int k = 0; k < DARTS * cells && b->opens > 0; k++) {
        uint64_t bits[4];
        float x[3] = {0};
        for (int a = 0; a <= t->dim; a++) {
            bits[a] = rp_hash((uint64_t)t->dim, (uint64_t)k, RP_FOR_SAMPLES, (uint64_t)a);
        }
        for (int a = 0; a < t->dim; a++) {
            x[a] = (float)(bits[a] >> 44) * 0x1p-20F;
        }
        const int i = (int)((bits[t->dim] >> 32) * (uint64_t)b->opens >> 32);
        const int cell = b->open[i];
        const landing how = try_dart(t, b, cell, x);
        if (how == LANDS) {
            memcpy(b->x[cell], x, sizeof x);
            b->full[cell] = true;
        }
        if (how != TOO_NEAR) {
            b->open[i] = b->open[--b->opens];
        }
    }
}

// Samples by brick, each in the order of its cells.
static void collect(tile *t, const board *b)
{
    const int bricks[3] = {t->side[0] / t->brick[0], t->side[1] / t->brick[1],
                           t->side[2] / t->brick[2]};
    int samples = 0;
    for (int i = 0; i < volume(bricks); i++) {
        int corner[3];
        split(bricks, i, corner);
        t->first[i] = samples;
        for (int j = 0; j < volume(t->brick); j++) {
            int within[3], place[3];
            split(t->brick, j, within);
            for (int a = 0; a < 3; a++) {
                place[a] = corner[a] * t->brick[a] + within[a];
            }
            const int cell = cell_at(t, place);
            if (b->full[cell]) {
                RP_ASSERT(samples < MOST_SAMPLES);
                for (int a = 0; a < 3; a++) {
                    t->x[samples][a] = (float)within[a] + b->x[cell][a];
                }
                samples++;
            }
        }
    }
    t->first[volume(bricks)] = samples;
    const double share = (double)volume(t->side) / samples;
    t->spacing = t->dim == 2 ? sqrt(share) : cbrt(share);
}

static tile tiles[2] = {
    {.dim = 2, .side = {SIDE_2D, SIDE_2D, 1}, .brick = {BRICK, BRICK, 1}},
    {.dim = 3, .side = {SIDE_3D, SIDE_3D, SIDE_3D}, .brick = {BRICK, BRICK, BRICK}},
};

static void make_tile(tile *t)
{
    static board boards[2]; // one each: two threads may make one each
    board *b = &boards[t->dim - 2];
    throw_darts(t, b);
    collect(t, b);
}

static void make_tile_2d(void) { make_tile(&tiles[0]); }
static void make_tile_3d(void) { make_tile(&tiles[1]); }

static const tile *tile_of(int dimension)
{
    static pthread_once_t once[2] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT};
    pthread_once(&once[dimension - 2], dimension == 2 ? make_tile_2d : make_tile_3d);
    return &tiles[dimension - 2];
}

double rp_sample_distance(int dimension) { return sqrt(dimension) / tile_of(dimension)->spacing; }

// The pattern, turned and shifted
// -----------------------------------------------------------------------------------------------

typedef struct walk {
    const tile *tile;
    const rp_shape *shape;
    double center[3];  // of the shape's bounds [m]
    double start[3];   // the place of the pattern that lies there [cells]
    double axis[3][3]; // of the pattern, each as long as a cell [m]
    rp_sample_visit visit;
    void *context;
} walk;

// A random rotation, about z in 2D.
static void turn(walk *w, uint64_t seed, double length)
{
    double q[4], norm = 0.0;
    for (uint64_t k = 0; !(norm > 0.01 && norm <= 1.0); k++) {
        norm = 0.0;
        for (int a = 0; a < 4; a++) {
            const double u = 2.0 * rp_unit(rp_hash(seed, k, RP_FOR_SAMPLES, (uint64_t)a)) - 1.0;
            q[a] = w->tile->dim == 2 && a < 2 ? 0.0 : u;
            norm += q[a] * q[a];
        }
    }
    const double twice = 2.0 / norm;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        w->axis[a][a] = length * (1.0 - twice * (q[b] * q[b] + q[c] * q[c]));
        w->axis[a][b] = length * twice * (q[a] * q[b] + q[c] * q[3]);
        w->axis[a][c] = length * twice * (q[a] * q[c] - q[b] * q[3]);
    }
}

static void to_world(const walk *w, const double pattern[3], double x[3])
{
    for (int a = 0; a < 3; a++) {
        x[a] = w->center[a];
        for (int b = 0; b < w->tile->dim; b++) {
            x[a] += (pattern[b] - w->start[b]) * w->axis[b][a];
        }
    }
}

static rp_result visit_brick(const walk *w, const int64_t at[3], bool inside)
{
    const tile *t = w->tile;
    int index = 0;
    for (int a = 0; a < 3; a++) {
        const int64_t n = t->side[a] / t->brick[a];
        index = index * (int)n + (int)((at[a] % n + n) % n);
    }
    for (int i = t->first[index]; i < t->first[index + 1]; i++) {
        double pattern[3], x[3];
        for (int a = 0; a < 3; a++) {
            pattern[a] = (double)(at[a] * t->brick[a]) + (double)t->x[i][a];
        }
        to_world(w, pattern, x);
        if (inside || rp_shape_distance(w->shape, x, NULL) <= 0.0) {
            RP_TRY(w->visit(w->context, x));
        }
    }
    return RP_OK;
}

// A cube of 2^level bricks a side. What is farther from the surface than its corners from its
// middle lies inside or outside as a whole.
static rp_result visit_cube(const walk *w, const int64_t at[3], int level, bool inside)
{
    const int64_t bricks = INT64_C(1) << level;
    if (!inside) {
        double middle[3] = {0}, x[3], length2 = 0.0;
        for (int a = 0; a < w->tile->dim; a++) {
            middle[a] = BRICK * ((double)at[a] + 0.5 * (double)bricks);
            length2 += w->axis[0][a] * w->axis[0][a];
        }
        to_world(w, middle, x);
        const double reach = 0.5 * (double)bricks * BRICK * sqrt(w->tile->dim * length2);
        const double distance = rp_shape_distance(w->shape, x, NULL);
        if (distance > reach) {
            return RP_OK;
        }
        inside = distance < -reach;
    }
    if (level == 0) {
        return visit_brick(w, at, inside);
    }
    for (int child = 0; child < 1 << w->tile->dim; child++) {
        int64_t corner[3] = {at[0], at[1], at[2]};
        for (int a = 0; a < w->tile->dim; a++) {
            corner[a] += (child >> a & 1) * (bricks / 2);
        }
        RP_TRY(visit_cube(w, corner, level - 1, inside));
    }
    return RP_OK;
}

rp_result rp_sample_shape(const rp_shape *shape, int dimension, double spacing, uint64_t seed,
                          rp_sample_visit visit, void *context)
{
    walk w = {.tile = tile_of(dimension), .shape = shape, .visit = visit, .context = context};
    double lower[3], upper[3], half2 = 0.0;
    const bool bounded = rp_shape_bounds(shape, dimension, lower, upper);
    RP_ASSERT(bounded);
    const double cell = spacing / w.tile->spacing;
    turn(&w, seed, cell);
    int64_t at[3] = {0};
    for (int a = 0; a < dimension; a++) {
        const double u = rp_unit(rp_hash(seed, (uint64_t)a, RP_FOR_SAMPLES, 4));
        w.start[a] = u * w.tile->side[a];
        w.center[a] = 0.5 * (lower[a] + upper[a]);
        half2 += 0.25 * (upper[a] - lower[a]) * (upper[a] - lower[a]);
    }
    // a cube around the middle that holds the bounds however they are turned
    int level = 1;
    while ((double)(INT64_C(1) << (level - 1)) * BRICK * cell < sqrt(half2) + BRICK * cell) {
        level++;
        RP_ASSERT(level < 40); // callers have counted
    }
    for (int a = 0; a < dimension; a++) {
        at[a] = (int64_t)(w.start[a] / BRICK) - (INT64_C(1) << (level - 1));
    }
    return visit_cube(&w, at, level, false);
}
