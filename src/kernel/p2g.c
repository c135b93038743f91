// Particle to grid: scatter mass, affine momentum and the impulse of internal forces
// (docs/theory.md, section 3).
//
//   m_i     = sum_p w_ip m_p                                                                  (8)
//   (m v)_i = sum_p w_ip m_p (v_p + C_p (x_i - x_p))  -  dt sum_p V_p tau_p grad w_ip    (9), (10)
//
// Along the row axis a particle's nodes are one row; the other axes are combined first, so that a
// node costs two multiply-adds. With q the momentum quad, A_a the columns of m C h and T_a those of
// -dt V tau / h, node (i, j, row) receives
//
//   w_j P_i + w_i S_j,   P_i = w_i Z + (w k)_i (w_row A_x) + d_i (w_row T_x)
//                        S_j =         (w k)_j (w_row A_y) + d_j (w_row T_y)
//                        Z   = w_row q + (w k)_row A_z + d_row T_z
//
// Every page scatters into its own arena; the grid pass adds neighbouring arenas in a fixed order.
#include "kernel/tile.h"

typedef struct quad_tile {
    _Alignas(64) real q[RP_LANES][RP_QUAD]; // m v, m
    real A[DIM][RP_LANES][RP_QUAD];         // m C h
    real T[DIM][RP_LANES][RP_QUAD];         // -dt V tau / h
} quad_tile;

static void tile_stress(const rp_transfer_job *job, rp_local slot, const group_lanes *g,
                        real tau[SYM][RP_LANES])
{
    if (job->law == NULL || !rp_set_has(job->set, RP_COL_STRAIN)) {
        memset(tau, 0, sizeof(real) * SYM * RP_LANES);
        return;
    }
    const rp_law_tile tile = {
        .parameter = g->value,
        .strain = rp_set_tile(job->set, RP_COL_STRAIN, slot),
    };
    // nearly always one law; otherwise each computes all lanes and keeps its own
    for (int law = 0; law < RP_LAW_COUNT; law++) {
        if (g->laws == 1u << law) {
            job->law[law].stress(&tile, tau);
        } else if (g->laws >> law & 1) {
            _Alignas(64) real out[SYM][RP_LANES];
            job->law[law].stress(&tile, out);
            for (int c = 0; c < SYM; c++) {
                for (int l = 0; l < RP_LANES; l++) {
                    tau[c][l] = g->law[l] == law ? out[c][l] : tau[c][l];
                }
            }
        }
    }
}

static void fill_quads(const rp_transfer_job *job, rp_local slot, const group_lanes *g,
                       quad_tile *out)
{
    _Alignas(64) real tau[SYM][RP_LANES], q[RP_QUAD][RP_LANES], A[DIM][RP_QUAD][RP_LANES],
        T[DIM][RP_QUAD][RP_LANES];
    const real h = (real)job->grid->layout.h, push = (real)(-job->dt / job->grid->layout.h);
    const real *v = rp_set_tile(job->set, RP_COL_VELOCITY, slot);
    const real *C =
        rp_set_has(job->set, RP_COL_AFFINE) ? rp_set_tile(job->set, RP_COL_AFFINE, slot) : NULL;
    tile_stress(job, slot, g, tau);
    memset(q, 0, sizeof q);
    memset(A, 0, sizeof A);
    memset(T, 0, sizeof T);
    for (int l = 0; l < RP_LANES; l += LANES) {
        const vec m = vload(&g->value[RP_GROUP_MASS][l]);
        const vec force = vload(&g->value[RP_GROUP_VOLUME][l]) * push;
        vstore(&q[3][l], m);
        for (int i = 0; i < DIM; i++) {
            vstore(&q[i][l], m * vload(v + i * RP_LANES + l));
            for (int j = 0; j < DIM; j++) {
                if (C != NULL) {
                    vstore(&A[j][i][l], m * h * vload(C + (i * DIM + j) * RP_LANES + l));
                }
                vstore(&T[j][i][l], force * vload(&tau[sym_index(i, j)][l]));
            }
        }
    }
#define LANES_OF(m) ((const real *const[RP_QUAD]){m[0], m[1], m[2], m[3]})
    lanes_to_quads(LANES_OF(q), out->q);
    for (int a = 0; a < DIM; a++) {
        lanes_to_quads(LANES_OF(A[a]), out->A[a]);
        lanes_to_quads(LANES_OF(T[a]), out->T[a]);
    }
#undef LANES_OF
}

// One particle into the arena.
RP_INLINE void scatter(const stencil_tile *s, int l, const real *q,
                       const real (*A)[RP_LANES][RP_QUAD], const real (*T)[RP_LANES][RP_QUAD],
                       real *arena)
{
    const row w = row_spread(s->row_w[l]), k = row_spread(s->row_k[l]), d = row_spread(s->row_d[l]);
    const row Z = row_fma(w, row_repeat(q),
                          row_fma(k, row_repeat(A[ROW][l]), row_mul(d, row_repeat(T[ROW][l]))));
    const row Ax = row_mul(w, row_repeat(A[0][l])), Tx = row_mul(w, row_repeat(T[0][l]));
    real *node = arena + s->at[l];
#if RP_DIM == 2
    for (int i = 0; i < WIDTH; i++) {
        const row P =
            row_axpy(s->w[0][i][l], Z, row_axpy(s->k[0][i][l], Ax, row_scale(s->d[0][i][l], Tx)));
        real *at = node + i * STEP_X;
        row_store(at, row_axpy(1, P, row_load(at)));
    }
#else
    const row Ay = row_mul(w, row_repeat(A[1][l])), Ty = row_mul(w, row_repeat(T[1][l]));
    row S[WIDTH];
    _Pragma("GCC unroll 4") for (int j = 0; j < WIDTH; j++)
    {
        S[j] = row_axpy(s->k[1][j][l], Ay, row_scale(s->d[1][j][l], Ty));
    }
    _Pragma("GCC unroll 4") for (int i = 0; i < WIDTH; i++)
    {
        const row P =
            row_axpy(s->w[0][i][l], Z, row_axpy(s->k[0][i][l], Ax, row_scale(s->d[0][i][l], Tx)));
        _Pragma("GCC unroll 4") for (int j = 0; j < WIDTH; j++)
        {
            real *at = node + i * STEP_X + j * STEP_Y;
            row_store(at, row_axpy(s->w[1][j][l], P, row_axpy(s->w[0][i][l], S[j], row_load(at))));
        }
    }
#endif
}

void RP_VARIANT(p2g)(const rp_transfer_job *job, rp_local p)
{
    const rp_page *page = &rp_set_page(job->set)[p];
    const bool apart = job->grid->channels > RP_CH_IMPULSE;
    static const real none[DIM][RP_LANES][RP_QUAD];
    real *momentum = rp_grid_arena(job->grid, job->set_index, p, RP_CH_MOMENTUM);
    real *impulse = rp_grid_arena(job->grid, job->set_index, p, RP_CH_IMPULSE);
    memset(momentum, 0, sizeof(real) * (size_t)job->grid->layout.arena_reals * (apart ? 2 : 1));

    group_lanes g;
    if (!(page->flags & RP_PAGE_MIXED)) {
        spread_uniform(job, page, &g);
    }
    for (rp_local first = 0; first < page->count; first += RP_LANES) {
        const rp_local slot = page->first + first;
        const int lanes = page->count - first < RP_LANES ? page->count - first : RP_LANES;
        stencil_tile s;
        quad_tile q;
        if (page->flags & RP_PAGE_MIXED) {
            spread_groups(job, slot, &g);
        }
        stencil_fill(job, slot, &s);
        fill_quads(job, slot, &g, &q);
        if (!apart) {
            for (int l = 0; l < lanes; l++) {
                scatter(&s, l, q.q[l], q.A, q.T, momentum);
            }
        } else {
            for (int l = 0; l < lanes; l++) {
                scatter(&s, l, q.q[l], q.A, none, momentum);
                scatter(&s, l, none[0][0], none, q.T, impulse);
            }
        }
    }
}
