// Particle to grid: scatter mass, affine momentum and the impulse of internal forces
// (docs/theory.md, section 3).
//
//   m_i     = sum_p w_ip m_p                                                                  (8)
//   (m v)_i = sum_p w_ip m_p (v_p + C_p (x_i - x_p))  -  dt sum_p V_p tau_p grad w_ip    (9), (10)
//
// With affine gradients grad w_ip is w_ip D^-1 (x_i - x_p), theory (45), so that momentum and force
// of a particle are one affine field: q + A k, with k the place of a node in cells from node 1 of
// the stencil and A = m C h - dt V tau D^-1 h. Node k gets w times that, and along the rows and
// from row to row the field grows by additions.
//
// With spline gradients the columns T_a of -dt V tau / h go with the derivatives d instead. Along
// the row axis everything is combined first; node (i, j, row) receives w_j P_i + w_i S_j:
//
//   P_i = w_i (Z + (i - 1) w_row A_x) + d_i (w_row T_x),     Z = w_row (q + k A_z) + d_row T_z
//   S_j = w_j       (j - 1) w_row A_y + d_j (w_row T_y)
//
// Where a particle keeps what nodes cannot hold, nodes need their velocity before forces: momentum
// and impulse go to channels of their own. Momentum is an affine field for either kind of gradient
// then, of A = m C h, and with affine gradients so is the impulse, of the columns T_a D^-1 h^2;
// with spline gradients it is what is left of the sums above,
//
//   P_i = w_i (d_row T_z) + d_i (w_row T_x),     S_j = d_j (w_row T_y)
//
// Every page scatters into its own arena; the grid pass adds neighbouring arenas in a fixed order.
// Particles of one cell that follow each other are summed in registers, and the arena gets the sum.
#include "kernel/scatter.h"

// What sixteen particles scatter, at quad_at(lane).
typedef struct quad_tile {
    _Alignas(64) real q[RP_LANES][RP_QUAD]; // at node 1 of the stencil: momentum, mass
    real A[DIM][RP_LANES][RP_QUAD];         // its growth a cell along each axis
    real T[DIM][RP_LANES][RP_QUAD];         // -dt V tau / h; with spline gradients or apart
    real f[RP_LANES][RP_QUAD];              // impulse at node 1; affine gradients apart only
    real w[WIDTH][DEEP][RP_LANES];          // products of the outer weights; for affine fields
} quad_tile;

RP_INLINE void fill_quads(const rp_transfer_job *job, const transfer_tile *in, const group_lanes *g,
                          const real tau[SYM][RP_LANES], const stencil_tile *s, bool affine,
                          bool apart, const real *times, quad_tile *out)
{
    const double h = job->grid->layout.h;
    const vec cell = vset((real)h);
    const vec push = vset((real)(-job->dt / h * (affine ? SPLINE_INERTIA_INVERSE : R(1.0))));
    const real *v = in->v, *C = in->C;
    for (int l = 0; l < RP_LANES; l += LANES) {
        const vec zero = vset(0);
        const vec m = vload(&g->value[RP_GROUP_MASS][l]);
        vec force = vload(&g->value[RP_GROUP_VOLUME][l]) * push;
        force = times != NULL ? force * vload(times + l) : force;
        vec q[RP_QUAD] = {zero, zero, zero, m}, f[RP_QUAD] = {zero, zero, zero, zero};
        UNROLL(3) for (int i = 0; i < DIM; i++) { q[i] = m * vload(v + i * RP_LANES + l); }
        UNROLL(3) for (int j = 0; j < DIM; j++)
        {
            vec A[RP_QUAD] = {zero, zero, zero, zero}, T[RP_QUAD] = {zero, zero, zero, zero};
            const vec away = vload(&s->away[j][l]);
            UNROLL(3) for (int i = 0; i < DIM; i++)
            {
                const vec stress = vload(&tau[sym_index(i, j)][l]);
                A[i] = C != NULL ? m * cell * vload(C + (i * DIM + j) * RP_LANES + l) : zero;
                if (affine && !apart) {
                    A[i] = vfma(force, stress, A[i]);
                } else {
                    T[i] = force * stress;
                    f[i] = vfma(T[i], away, f[i]);
                }
                q[i] = vfma(A[i], away, q[i]);
            }
            quads_store(A, l, out->A[j]);
            if (!affine || apart) {
                quads_store(T, l, out->T[j]);
            }
        }
        quads_store(q, l, out->q);
        if (affine && apart) {
            quads_store(f, l, out->f);
        }
        if (affine || apart) {
            FOR_CELL
            {
                const vec w = vload(&s->w[0][i][l]);
                vstore(&out->w[i][j][l], DIM == 3 ? w * vload(&s->w[OUTER - 1][j][l]) : w);
            }
        }
    }
}

// One particle into the rows of its cell: w (q + A k).
RP_INLINE void scatter_field(const stencil_tile *s, const quad_tile *t,
                             const real q[RP_LANES][RP_QUAD], const real A[DIM][RP_LANES][RP_QUAD],
                             int l, cell_rows *cell)
{
    const int at = quad_at(l);
    const row w = row_spread(s->row_w[at]);
    const row Z = row_mul(w, row_fma(row_places(), row_repeat(A[ROW][at]), row_repeat(q[at])));
    row x[WIDTH], y[WIDTH];
    row_fan(Z, row_mul(w, row_repeat(A[0][at])), x);
    const row step = DIM == 3 ? row_mul(w, row_repeat(A[1][at])) : Z;
    UNROLL(4) for (int i = 0; i < WIDTH; i++)
    {
        y[0] = x[i];
        if (DIM == 3) {
            row_fan(x[i], step, y);
        }
        UNROLL(4) for (int j = 0; j < DEEP; j++)
        {
            cell->r[i][j] = row_axpy(vset(t->w[i][j][l]), y[j], cell->r[i][j]);
        }
    }
}

RP_INLINE void scatter_spline(const stencil_tile *s, const quad_tile *t, int l, cell_rows *cell)
{
    const int at = quad_at(l);
    const row w = row_spread(s->row_w[at]), d = row_spread(s->row_d[at]);
    const axis_reals wx = axis_of(s->w[0], l), dx = axis_of(s->d[0], l);
    const row field = row_fma(row_places(), row_repeat(t->A[ROW][at]), row_repeat(t->q[at]));
    const row Z = row_fma(w, field, row_mul(d, row_repeat(t->T[ROW][at])));
    const row Tx = row_mul(w, row_repeat(t->T[0][at]));
    row x[WIDTH];
    row_fan(Z, row_mul(w, row_repeat(t->A[0][at])), x);
#if RP_DIM == 2
    UNROLL(4) for (int i = 0; i < WIDTH; i++)
    {
        cell->r[i][0] = row_axpy(wx.n[i], x[i], row_axpy(dx.n[i], Tx, cell->r[i][0]));
    }
#else
    const axis_reals wy = axis_of(s->w[1], l), dy = axis_of(s->d[1], l);
    const row Ay = row_mul(w, row_repeat(t->A[1][at])), Ty = row_mul(w, row_repeat(t->T[1][at]));
    row S[WIDTH];
    UNROLL(4) for (int j = 0; j < WIDTH; j++)
    {
        S[j] = row_scale(dy.n[j], Ty);
        if (j != 1) {
            S[j] = row_axpy((real)(j - 1) * wy.n[j], Ay, S[j]);
        }
    }
    UNROLL(4) for (int i = 0; i < WIDTH; i++)
    {
        const row P = row_axpy(wx.n[i], x[i], row_scale(dx.n[i], Tx));
        UNROLL(4) for (int j = 0; j < WIDTH; j++)
        {
            cell->r[i][j] = row_axpy(wy.n[j], P, row_axpy(wx.n[i], S[j], cell->r[i][j]));
        }
    }
#endif
}

// The impulse alone, with spline gradients.
RP_INLINE void scatter_impulse(const stencil_tile *s, const quad_tile *t, int l, cell_rows *cell)
{
    const int at = quad_at(l);
    const row w = row_spread(s->row_w[at]), d = row_spread(s->row_d[at]);
    const axis_reals wx = axis_of(s->w[0], l), dx = axis_of(s->d[0], l);
    const row Tz = row_mul(d, row_repeat(t->T[ROW][at])), Tx = row_mul(w, row_repeat(t->T[0][at]));
#if RP_DIM == 2
    UNROLL(4) for (int i = 0; i < WIDTH; i++)
    {
        cell->r[i][0] = row_axpy(wx.n[i], Tz, row_axpy(dx.n[i], Tx, cell->r[i][0]));
    }
#else
    const axis_reals wy = axis_of(s->w[1], l), dy = axis_of(s->d[1], l);
    const row Ty = row_mul(w, row_repeat(t->T[1][at]));
    row S[WIDTH];
    UNROLL(4) for (int j = 0; j < WIDTH; j++) { S[j] = row_scale(dy.n[j], Ty); }
    UNROLL(4) for (int i = 0; i < WIDTH; i++)
    {
        const row P = row_axpy(wx.n[i], Tz, row_scale(dx.n[i], Tx));
        UNROLL(4) for (int j = 0; j < WIDTH; j++)
        {
            cell->r[i][j] = row_axpy(wy.n[j], P, row_axpy(wx.n[i], S[j], cell->r[i][j]));
        }
    }
#endif
}

// @param impulse, impulses the sum of the run and the arena where it goes apart
RP_INLINE void scatter_tile(const stencil_tile *s, const quad_tile *t, bool affine, bool apart,
                            int lanes, run *open, real *arena, cell_rows *impulse, real *impulses)
{
    run r = *open;
    cell_rows f = apart ? *impulse : cell_zero();
    for (int l = 0; l < lanes;) {
        if (s->at[l] != r.at) {
            run_end(r.at, &r.sum, arena);
            r.sum = cell_zero();
            if (apart) {
                run_end(r.at, &f, impulses);
                f = cell_zero();
            }
            r.at = s->at[l];
        }
        do {
            if (affine || apart) {
                scatter_field(s, t, t->q, t->A, l, &r.sum);
            } else {
                scatter_spline(s, t, l, &r.sum);
            }
            if (affine && apart) {
                scatter_field(s, t, t->f, t->T, l, &f);
            } else if (apart) {
                scatter_impulse(s, t, l, &f);
            }
        } while (++l < lanes && s->at[l] == r.at);
    }
    *open = r;
    if (apart) {
        *impulse = f;
    }
}

// Impulses of forces and nothing else.
RP_INLINE void scatter_forces(const stencil_tile *s, const quad_tile *t, bool affine, int lanes,
                              run *open, real *arena)
{
    run r = *open;
    for (int l = 0; l < lanes; l++) {
        if (s->at[l] != r.at) {
            run_end(r.at, &r.sum, arena);
            r.sum = cell_zero();
            r.at = s->at[l];
        }
        if (affine) {
            scatter_field(s, t, t->f, t->T, l, &r.sum);
        } else {
            scatter_impulse(s, t, l, &r.sum);
        }
    }
    *open = r;
}

RP_INLINE void scatter_page(const rp_transfer_job *job, rp_local p, bool affine)
{
    const rp_page *page = &rp_set_page(job->set)[p];
    const bool forces = job->force_channel != 0;
    const bool apart = !forces && rp_grid_has(job->grid, RP_CH_IMPULSE);
    const real *times = forces ? job->times : NULL;
    // where only forces are scattered they take the place of momentum
    real *momentum = clear_arena(job, page, forces ? job->force_channel : RP_CH_MOMENTUM);
    real *impulse = apart ? clear_arena(job, page, RP_CH_IMPULSE) : NULL;
    run open = no_run;
    cell_rows pushes = cell_zero();

    const law_columns columns = law_columns_of(job->set);
    group_lanes g;
    rp_law_tile tile = law_tile(job, page, &g, &columns);
    transfer_tile in = transfer_tile_of(job->set, page->first);
    if (!(page->flags & RP_PAGE_MIXED)) {
        spread_uniform(job, page, &g);
    }
    for (rp_local first = 0; first < page->count; first += RP_LANES) {
        const rp_local slot = page->first + first;
        const int lanes = page->count - first < RP_LANES ? page->count - first : RP_LANES;
        _Alignas(64) real tau[SYM][RP_LANES];
        stencil_tile s;
        quad_tile t;
        if (page->flags & RP_PAGE_MIXED) {
            spread_groups(job, slot, &g);
        }
        spread_own(job, slot, &g);
        // this call comes first: whatever is in registers before it has to be stored
        if (job->law != NULL) {
            tile_stress(job, &tile, &g, tau);
            law_tile_next(&columns, &tile);
        } else {
            memset(tau, 0, sizeof tau);
        }
        fetch_next(&in);
        stencil_fill(in.x, affine ? NO_SLOPES : SPLINE_SLOPES, &s);
        if (forces) {
            fill_quads(job, &in, &g, tau, &s, affine, true, times != NULL ? times + slot : NULL,
                       &t);
            scatter_forces(&s, &t, affine, lanes, &open, momentum);
        } else if (apart) {
            fill_quads(job, &in, &g, tau, &s, affine, true, NULL, &t);
            scatter_tile(&s, &t, affine, true, lanes, &open, momentum, &pushes, impulse);
        } else {
            fill_quads(job, &in, &g, tau, &s, affine, false, NULL, &t);
            scatter_tile(&s, &t, affine, false, lanes, &open, momentum, NULL, NULL);
        }
        transfer_tile_next(&in);
    }
    run_end(open.at, &open.sum, momentum);
    if (apart) {
        run_end(open.at, &pushes, impulse);
    }
}

void RP_VARIANT(p2g)(const rp_transfer_job *job, rp_local page)
{
    if (RP_ORDER > 1 && job->gradient == RP_GRADIENT_AFFINE) {
        scatter_page(job, page, true);
    } else {
        scatter_page(job, page, false);
    }
}
