// The grid between the transfers: add up arenas, turn momentum into velocity (docs/theory.md, Grid update).
#include "kernel/entry.h"

// Adds the part of a neighbour's arena that lies in this block. The neighbour's own block is `offset`
// blocks away, its arena begins one cell before that.
static void add_arena(real *node, const real *arena, const int32_t offset[3])
{
    static const int block[3] = {BLOCK_X, BLOCK_Y, BLOCK_Z}, size[3] = {ARENA_X, ARENA_Y, ARENA_Z};
    int lo[3] = {0}, hi[3] = {1, 1, 1}, shift[3] = {0};
    for (int a = 0; a < DIM; a++) {
        const int first = offset[a] * block[a] - 1; // arena node 0 in block coordinates
        lo[a] = first > 0 ? first : 0;
        hi[a] = first + size[a] < block[a] ? first + size[a] : block[a];
        shift[a] = -first;
    }
    for (int x = lo[0]; x < hi[0]; x++) {
        for (int y = lo[1]; y < hi[1]; y++) {
            real *to = node + ((x * BLOCK_Y + y) * BLOCK_Z + lo[2]) * RP_QUAD;
            const real *from = arena + ((x + shift[0]) * STEP_X + (y + shift[1]) * STEP_Y +
                                        (lo[2] + shift[2]) * STEP_Z);
            for (int i = 0; i < (hi[2] - lo[2]) * RP_QUAD; i++) {
                to[i] += from[i];
            }
        }
    }
}

void RP_VARIANT(sum)(const rp_grid *grid, int sets, rp_local page)
{
    for (int c = 0; c < grid->channels; c++) {
        real *node = rp_grid_nodes(grid, c, page);
        memset(node, 0, sizeof(real) * BLOCK_NODES * RP_QUAD);
        for (int s = 0; s < sets; s++) {
            const uint32_t *source = rp_grid_source(grid, s, page);
            for (int n = 0; n < RP_NEAR; n++) {
                if (source[n] != RP_NO_PAGE) {
                    int32_t offset[3];
                    rp_near_offset(n, offset);
                    add_arena(node, rp_grid_arena(grid, s, (rp_local)source[n], c), offset);
                }
            }
        }
    }
}

double RP_VARIANT(velocity)(const rp_grid *grid, rp_local page, const double push[3], double least)
{
    real *node = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    real *impulse = grid->channels > RP_CH_IMPULSE ? rp_grid_nodes(grid, RP_CH_IMPULSE, page) : NULL;
    double dropped = 0.0;
    for (int n = 0; n < BLOCK_NODES; n++) {
        real *q = node + n * RP_QUAD;
        const real m = q[3];
        if (m > (real)least) {
            const real inverse = 1 / m;
            for (int a = 0; a < DIM; a++) {
                const real before = q[a] * inverse;
                q[a] = before + (real)push[a];
                if (impulse != NULL) {
                    q[a] += impulse[n * RP_QUAD + a] * inverse;
                    impulse[n * RP_QUAD + a] = before;
                }
            }
        } else {
            for (int a = 0; a < DIM; a++) {
                dropped += (double)(q[a] < 0 ? -q[a] : q[a]);
                q[a] = 0;
                if (impulse != NULL) {
                    impulse[n * RP_QUAD + a] = 0;
                }
            }
        }
    }
    return dropped;
}

void RP_VARIANT(change)(const rp_grid *grid, rp_local page)
{
    const real *now = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    real *before = rp_grid_nodes(grid, RP_CH_IMPULSE, page);
    for (int i = 0; i < BLOCK_NODES * RP_QUAD; i++) {
        before[i] = now[i] - before[i];
    }
}
