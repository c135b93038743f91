// The grid between the transfers: add up arenas, turn momentum into velocity, docs/theory.md (11).
#include "kernel/arena.h"
#include "kernel/entry.h"

void RP_VARIANT(sum)(const rp_grid *grid, int sets, rp_local page)
{
    for (int c = 0; c < grid->channels; c++) {
        real *node = rp_grid_nodes(grid, c, page);
        memset(node, 0, sizeof(real) * BLOCK_NODES * RP_QUAD);
        for (int s = 0; s < sets; s++) {
            const uint32_t *source = rp_grid_source(grid, s, page);
            for (int n = 0; n < RP_NEAR; n++) {
                if (source[n] == RP_NO_PAGE) {
                    continue;
                }
                // seen from the arena's page, this block lies on the opposite side
                int32_t offset[3];
                rp_near_offset(RP_NEAR - 1 - n, offset);
                const overlap o = overlap_at(offset);
                const real *arena = rp_grid_arena(grid, s, (rp_local)source[n], c);
                FOR_OVERLAP(o, x, y)
                {
                    real *to = node + overlap_in_block(&o, x, y);
                    const real *from = arena + overlap_in_arena(&o, x, y);
                    for (int i = 0; i < overlap_reals(&o); i++) {
                        to[i] += from[i];
                    }
                }
            }
        }
    }
}

double RP_VARIANT(velocity)(const rp_grid *grid, rp_local page, const double push[3], double least)
{
    real *node = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    real *impulse =
        grid->channels > RP_CH_IMPULSE ? rp_grid_nodes(grid, RP_CH_IMPULSE, page) : NULL;
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
                const real lost = q[a] + (impulse != NULL ? impulse[n * RP_QUAD + a] : 0);
                dropped += (double)(lost < 0 ? -lost : lost);
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
