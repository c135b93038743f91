#include "io/smooth.h"

#include "base/hash.h"
#include "base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void rp_smooth_open(rp_smooth *s, int dim, double dx) { *s = (rp_smooth){.dim = dim, .dx = dx}; }

void rp_smooth_close(rp_smooth *s)
{
    free(s->block);
    *s = (rp_smooth){0};
}

// Where a block is, or the free place where it would be. Some place is always free.
static rp_smooth_block *place_of(rp_smooth_block *block, size_t size, const int32_t at[3])
{
    const uint64_t xy = (uint64_t)(uint32_t)at[0] << 32 | (uint32_t)at[1];
    size_t i = (size_t)rp_mix64(rp_mix64(xy) ^ (uint32_t)at[2]) & (size - 1);
    while (block[i].used && memcmp(block[i].at, at, sizeof block[i].at) != 0) {
        i = (i + 1) & (size - 1);
    }
    return &block[i];
}

static rp_result grow(rp_smooth *s)
{
    const size_t size = s->size > 0 ? 2 * s->size : 64;
    rp_smooth_block *block = calloc(size, sizeof *block);
    if (block == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for a mean over the particles around");
    }
    for (size_t i = 0; i < s->size; i++) {
        if (s->block[i].used) {
            *place_of(block, size, s->block[i].at) = s->block[i];
        }
    }
    free(s->block);
    s->block = block;
    s->size = size;
    return RP_OK;
}

// The nodes that a place reaches: the first along each axis and the weights of the three, of one
// where there is no such axis.
typedef struct reach {
    int32_t first[3];
    int nodes[3];
    double weight[3][3];
} reach;

static bool reach_of(const rp_smooth *s, const double x[3], reach *out)
{
    for (int a = 0; a < 3; a++) {
        const double cells = a < s->dim ? x[a] / s->dx : 0.0;
        const double base = floor(cells - 0.5), q = cells - base - 1.0; // q from -1/2 to 1/2
        if (!(fabs(cells) < 1e9)) {
            return false;
        }
        out->first[a] = a < s->dim ? (int32_t)base : 0;
        out->nodes[a] = a < s->dim ? 3 : 1;
        out->weight[a][0] = a < s->dim ? 0.5 * (0.5 - q) * (0.5 - q) : 1.0;
        out->weight[a][1] = 0.75 - q * q;
        out->weight[a][2] = 0.5 * (0.5 + q) * (0.5 + q);
    }
    return true;
}

// Block and node of the k-th of all nodes within reach, and its weight.
static double node_of(const reach *r, int k, int32_t block[3], int *node)
{
    const int step[3] = {k / r->nodes[2] / r->nodes[1], k / r->nodes[2] % r->nodes[1],
                         k % r->nodes[2]};
    double weight = 1.0;
    *node = 0;
    for (int a = 0; a < 3; a++) {
        const int32_t at = r->first[a] + step[a];
        block[a] = at >> 2; // floors
        *node = RP_SMOOTH_SIDE * *node + (at & (RP_SMOOTH_SIDE - 1));
        weight *= r->weight[a][step[a]];
    }
    return weight;
}
_Static_assert(RP_SMOOTH_SIDE == 1 << 2, "shifts and masks are of this side");

rp_result rp_smooth_add(rp_smooth *s, const double x[3], double weight, double value)
{
    reach r;
    if (!reach_of(s, x, &r) || !(weight > 0.0) || !isfinite(value)) {
        return RP_OK;
    }
    // the eight blocks that it may reach are found once: neighbours differ in their last bits
    enum { NEAR = 8 };
    rp_smooth_block *near[NEAR] = {NULL};
    while (2 * (s->used + NEAR) > s->size) {
        RP_TRY(grow(s));
    }
    for (int k = 0; k < r.nodes[0] * r.nodes[1] * r.nodes[2]; k++) {
        int32_t at[3];
        int node;
        const double w = weight * node_of(&r, k, at, &node);
        rp_smooth_block **block = &near[(at[0] & 1) << 2 | (at[1] & 1) << 1 | (at[2] & 1)];
        if (*block == NULL) {
            *block = place_of(s->block, s->size, at);
            s->used += !(*block)->used;
            (*block)->used = true;
            memcpy((*block)->at, at, sizeof at);
        }
        (*block)->weight[node] += w;
        (*block)->sum[node] += w * value;
    }
    return RP_OK;
}

double rp_smooth_at(const rp_smooth *s, const double x[3])
{
    enum { NEAR = 8 };
    const rp_smooth_block *near[NEAR] = {NULL};
    double weight = 0.0, sum = 0.0;
    reach r;
    if (!reach_of(s, x, &r) || s->size == 0) {
        return 0.0;
    }
    for (int k = 0; k < r.nodes[0] * r.nodes[1] * r.nodes[2]; k++) {
        int32_t at[3];
        int node;
        const double w = node_of(&r, k, at, &node);
        const rp_smooth_block **block = &near[(at[0] & 1) << 2 | (at[1] & 1) << 1 | (at[2] & 1)];
        *block = *block != NULL ? *block : place_of(s->block, s->size, at);
        weight += w * (*block)->weight[node]; // a free place holds zeros
        sum += w * (*block)->sum[node];
    }
    return weight > 0.0 ? sum / weight : 0.0;
}
