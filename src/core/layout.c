#include "core/layout.h"

#include "base/result.h"

#include <math.h>

rp_layout rp_layout_make(const rp_world_def *def)
{
    rp_layout l = {
        .dim = def->dimension,
        .order = def->order,
        .precision = def->precision,
        .h = def->dx,
        .shift = 0.5 * (def->order - 1),
        .nodes = 1,
        .arena_nodes = 1,
    };
    for (int a = 0; a < 3; a++) {
        l.cells[a] = RP_BLOCK_CELLS(l.dim, a);
        l.arena[a] = RP_ARENA_NODES(l.dim, l.order, a);
        l.period[a] = a < l.dim ? def->period[a] / l.cells[a] : 0;
        l.nodes *= l.cells[a];
        l.arena_nodes *= l.arena[a];
    }
    return l;
}

// Every third bit of the result, lowest first.
static uint64_t spread_bits(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffffull;
    x = (x | x << 16) & 0x1f0000ff0000ffull;
    x = (x | x << 8) & 0x100f00f00f00f00full;
    x = (x | x << 4) & 0x10c30c30c30c30c3ull;
    return (x | x << 2) & 0x1249249249249249ull;
}

uint64_t rp_block_key(const int32_t block[3])
{
    uint64_t key = 0;
    for (int a = 0; a < 3; a++) {
        key |= spread_bits((uint64_t)(block[a] + RP_BLOCK_LIMIT)) << (2 - a);
    }
    return key;
}

void rp_block_wrap(const rp_layout *l, int32_t block[3])
{
    for (int a = 0; a < l->dim; a++) {
        if (l->period[a] > 0) {
            block[a] = (block[a] % l->period[a] + l->period[a]) % l->period[a];
        }
    }
}

rp_result rp_layout_place(const rp_layout *l, const double metres[3], int32_t block[3],
                          double local[3])
{
    for (int a = 0; a < 3; a++) {
        block[a] = 0;
        local[a] = 0.0;
        if (a < l->dim) {
            const double x = metres[a] / l->h - l->shift;
            const double b = floor(x / l->cells[a]);
            if (!(fabs(b) < RP_BLOCK_LIMIT - 1)) {
                return rp_fail(RP_ERR_LIMIT,
                               "a particle at %g m along axis %d lies outside the addressable "
                               "space (less than %g m from the origin)",
                               metres[a], a, (double)RP_BLOCK_LIMIT * l->cells[a] * l->h);
            }
            block[a] = (int32_t)b;
            local[a] = x - b * l->cells[a];
        }
    }
    return RP_OK;
}

double rp_layout_page_ball(const rp_layout *l, const int32_t block[3], double middle[3])
{
    double reach2 = 0.0;
    middle[2] = 0.0;
    for (int a = 0; a < l->dim; a++) {
        const double half = 0.5 * l->cells[a] + 2.0;
        middle[a] = l->h * (block[a] * l->cells[a] + 0.5 * l->cells[a] + l->shift);
        reach2 += half * half;
    }
    return l->h * sqrt(reach2);
}
