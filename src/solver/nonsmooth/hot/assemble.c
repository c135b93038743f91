// From particles to nodes, pulled by the nodes: each adds up the particles of the cells around it
// in the order of cells and slots. No two threads write to one place, and no sum depends on them.
//
//   m_i = sum_p m_p N_i,   (m u)_i = sum_p m_p N_i (u_p + C_p (x_i - x_p)),   V_i = sum_p V_p N_i
//   b_ij = sum_p V_p N_i grad N_j          and for a cell          b_j = sum_p V_p grad N_j
#include "solver/nonsmooth/hot/variant.h"

#include <stddef.h>

// The grains of the cell at a corner of a node; the node is the cell's corner `corner` (bits x y
// z).
RP_INLINE const rp_grain *grains_of(const rp_grains *from, const int at[3], int corner, int *count)
{
    static const int block[3] = {BLOCK_X, BLOCK_Y, BLOCK_Z};
    int cell[3] = {0, 0, 0}, side = 0;
    for (int a = 0; a < DIM; a++) {
        cell[a] = at[a] - (corner >> a & 1);
        if (cell[a] < 0) {
            cell[a] += block[a];
            side |= 1 << a;
        }
    }
    const uint32_t *first = from->cell[side];
    *count = 0;
    if (first == NULL) {
        return NULL;
    }
    first += (cell[0] * BLOCK_Y + cell[1]) * BLOCK_Z + cell[2];
    *count = (int)(first[1] - first[0]);
    return from->grain + first[0];
}

RP_INLINE void add_stuff(const rp_grain *g, double volume, rp_node_sum *out)
{
    out->volume += volume;
    out->friction += volume * g->friction;
    out->faster += volume * g->faster;
    out->rate += volume * g->rate;
    out->shear += volume * g->shear;
    out->glue += volume * g->glue;
}

// The weight of a corner, and where it lies from the grain [cells].
RP_INLINE double weight_of(const rp_grain *g, int corner, double away[DIM])
{
    double w = 1.0;
    for (int a = 0; a < DIM; a++) {
        away[a] = (corner >> a & 1) - g->at[a];
        w *= corner >> a & 1 ? g->at[a] : 1.0 - g->at[a];
    }
    return w;
}

static void sum_of_node(const rp_grains *from, const int at[3], rp_node_sum *out)
{
    *out = (rp_node_sum){0};
    for (int corner = 0; corner < CORNERS; corner++) {
        int count;
        const rp_grain *g = grains_of(from, at, corner, &count);
        for (int i = 0; i < count; i++, g++) {
            double away[DIM];
            const double w = weight_of(g, corner, away), m = w * g->mass;
            out->mass += m;
            add_stuff(g, w * g->volume, out);
            for (int a = 0; a < DIM; a++) {
                double u = g->velocity[a];
                for (int b = 0; b < DIM; b++) {
                    u += g->slope[a * DIM + b] * away[b];
                }
                out->momentum[a] += m * u;
            }
        }
    }
}

void RP_FRICTION(sum)(const rp_grains *from, rp_node_sum *out)
{
    for (int x = 0; x < BLOCK_X; x++) {
        for (int y = 0; y < BLOCK_Y; y++) {
            for (int z = 0; z < BLOCK_Z; z++) {
                sum_of_node(from, (const int[3]){x, y, z}, out++);
            }
        }
    }
}

// The gradients of the corners of a cell along an axis differ in sign only, so that one sum for
// each edge along it is enough: products of the weights across.
RP_INLINE void add_edges(const rp_grain *g, double w, quad edge[DIM])
{
    const double x = g->at[0], y = g->at[1], ox = 1.0 - x, oy = 1.0 - y;
    const quad all = quad_all(w);
#if RP_DIM == 2
    edge[0] = quad_fma(all, (quad){oy, y, 0.0, 0.0}, edge[0]);
    edge[1] = quad_fma(all, (quad){ox, x, 0.0, 0.0}, edge[1]);
#else
    const double z = g->at[2], oz = 1.0 - z;
    const quad xs = {ox, x, ox, x}, ys = {oy, oy, y, y};
    const quad ys_first = {oy, y, oy, y}, zs = {oz, oz, z, z};
    edge[0] = quad_fma(all, ys_first * zs, edge[0]);
    edge[1] = quad_fma(all, xs * zs, edge[1]);
    edge[2] = quad_fma(all, xs * ys, edge[2]);
#endif
}

// Which edge along an axis a corner lies on.
RP_INLINE int edge_of(int corner, int axis)
{
    return axis == 0 ? corner >> 1 : axis == 1 ? (corner & 1) | (corner >> 2) << 1 : corner & 3;
}

void RP_FRICTION(vectors)(const rp_grains *from, const int at[3], double *out)
{
    memset(out, 0, sizeof(double) * AROUND * 3);
    for (int own = 0; own < CORNERS; own++) {
        int count;
        const rp_grain *g = grains_of(from, at, own, &count);
        if (count == 0) {
            continue;
        }
        quad edge[DIM];
        for (int a = 0; a < DIM; a++) {
            edge[a] = quad_all(0.0);
        }
        for (int i = 0; i < count; i++, g++) {
            double away[DIM];
            add_edges(g, g->volume * weight_of(g, own, away), edge);
        }
        for (int corner = 0; corner < CORNERS; corner++) {
            int link = 0;
            for (int a = 0; a < DIM; a++) {
                link = link * 3 + (corner >> a & 1) - (own >> a & 1) + 1;
            }
            for (int a = 0; a < DIM; a++) {
                const double sum = edge[a][edge_of(corner, a)];
                out[link * 3 + a] += corner >> a & 1 ? sum : -sum;
            }
        }
    }
}

void RP_FRICTION(corners)(const rp_grains *from, const int at[3], double *out, rp_node_sum *sum)
{
    int count;
    const rp_grain *g = grains_of(from, at, 0, &count);
    quad edge[DIM];
    for (int a = 0; a < DIM; a++) {
        edge[a] = quad_all(0.0);
    }
    *sum = (rp_node_sum){0};
    for (int i = 0; i < count; i++, g++) {
        add_edges(g, g->volume, edge);
        sum->mass += g->mass;
        add_stuff(g, g->volume, sum);
    }
    for (int corner = 0; corner < CORNERS; corner++) {
        for (int a = 0; a < DIM; a++) {
            const double along = edge[a][edge_of(corner, a)];
            out[corner * 3 + a] = corner >> a & 1 ? along : -along;
        }
    }
}
