// What implicit steps go back and forth for: from velocities of nodes to gradients of particles, to
// what the laws make of them, and back to nodes, tile by tile and in one pass (docs/theory.md, (I1)
// to (I4)).
//
//   to node i   scale sum_p V_p s_p grad w_ip,   s_p = tau A^-T of dt grad v_p, or its change
//
// Weights sum to one and slopes to nothing, so node 1 needs no weight and no slope where the other
// nodes of an axis are told from it, and two or three terms are left of three or four:
//
//   sum_n w_n u_n = u_1 + sum_(n != 1) w_n (u_n - u_1)
//   sum_n d_n u_n =       sum_(n != 1) d_n (u_n - u_1)
//
// The rows of a cell are told so once for all its particles, along both outer axes; what particles
// give back is summed in that form and told as numbers of nodes when the cell is left. Affine
// gradients have other slopes, and are the same otherwise.
//
// Linear splines, whose gradients jump within a cell, have no such steps.
#include "base/result.h"
#include "kernel/gather.h"
#include "kernel/scatter.h"

#if RP_ORDER == 1

void RP_VARIANT(balance)(const rp_transfer_job *job, const rp_balance *what, rp_local page)
{
    (void)job, (void)what, (void)page;
    RP_ASSERT(!"implicit steps are refused linear splines");
}

#else

// Nodes of an axis but the middle one.
#define FOR_OTHERS(n) UNROLL(4) for (int n = 0; n < WIDTH; n++) if (n != 1)

// From numbers of nodes to differences from the middle ones, and the transpose.
RP_INLINE void cell_differ(cell_rows *c)
{
    UNROLL(4) for (int i = 0; i < WIDTH && DIM == 3; i++)
    {
        FOR_OTHERS(j) { c->r[i][j] = row_sub(c->r[i][j], c->r[i][1]); }
    }
    FOR_OTHERS(i)
    {
        UNROLL(4) for (int j = 0; j < DEEP; j++) { c->r[i][j] = row_sub(c->r[i][j], c->r[1][j]); }
    }
}

RP_INLINE void cell_gather_up(cell_rows *c)
{
    FOR_OTHERS(i)
    {
        UNROLL(4) for (int j = 0; j < DEEP; j++) { c->r[1][j] = row_sub(c->r[1][j], c->r[i][j]); }
    }
    UNROLL(4) for (int i = 0; i < WIDTH && DIM == 3; i++)
    {
        FOR_OTHERS(j) { c->r[i][1] = row_sub(c->r[i][1], c->r[i][j]); }
    }
}

// The gradient of one particle, from the differences of its cell: a quad for each axis.
RP_INLINE void gather_gradient(const cell_rows *cell, const stencil_tile *s, int l, real *out)
{
    const axis_reals wx = axis_of(s->w[0], l), dx = axis_of(s->d[0], l);
    const row w = row_spread(s->row_w[quad_at(l)]), d = row_spread(s->row_d[quad_at(l)]);
    row value[WIDTH], X = row_zero(), Y = X;
#if RP_DIM == 2
    UNROLL(4) for (int i = 0; i < WIDTH; i++) { value[i] = cell->r[i][0]; }
#else
    const axis_reals wy = axis_of(s->w[1], l), dy = axis_of(s->d[1], l);
    row slope[WIDTH];
    UNROLL(4) for (int i = 0; i < WIDTH; i++)
    {
        value[i] = row_axpy(wy.n[0], cell->r[i][0], cell->r[i][1]);
        slope[i] = row_scale(dy.n[0], cell->r[i][0]);
        UNROLL(2) for (int j = 2; j < WIDTH; j++)
        {
            value[i] = row_axpy(wy.n[j], cell->r[i][j], value[i]);
            slope[i] = row_axpy(dy.n[j], cell->r[i][j], slope[i]);
        }
    }
    Y = slope[1];
    FOR_OTHERS(i) { Y = row_axpy(wx.n[i], slope[i], Y); }
#endif
    row V = value[1];
    FOR_OTHERS(i)
    {
        V = row_axpy(wx.n[i], value[i], V);
        X = i == 0 ? row_scale(dx.n[i], value[i]) : row_axpy(dx.n[i], value[i], X);
    }
    const row Vd = row_mul(V, d);
    row_sums(row_mul(X, w), DIM == 3 ? row_mul(Y, w) : Vd, Vd, Vd, out);
}

// dt grad v of a tile.
RP_INLINE void gather_gradients(const rp_transfer_job *job, const local_arena *from,
                                const stencil_tile *s, int lanes,
                                real increment[DIM * DIM][RP_LANES])
{
    _Alignas(64) real gathered[RP_LANES * 4 * RP_QUAD], in[4 * RP_QUAD][RP_LANES];
    const real cells = (real)(job->dt / job->grid->layout.h);
    for (int l = 0; l < lanes;) {
        const lane_int at = s->at[l];
        cell_rows cell = cell_load(from->node + at);
        cell_differ(&cell);
        do {
            gather_gradient(&cell, s, l, &gathered[l * 4 * RP_QUAD]);
        } while (++l < lanes && s->at[l] == at);
    }
    // lanes past the end gather nothing
    memset(&gathered[lanes * 4 * RP_QUAD], 0,
           sizeof(real) * (size_t)((RP_LANES - lanes) * 4 * RP_QUAD));
    quads_to_lanes(4, gathered, in);
    for (int k = 0; k < DIM * DIM; k++) {
        for (int l = 0; l < RP_LANES; l += LANES) {
            vstore(&increment[k][l], vload(&in[k % DIM * RP_QUAD + k / DIM][l]) * cells);
        }
    }
}

// What sixteen particles scatter, at quad_at(lane): the columns of scale V s / h.
typedef struct push_tile {
    _Alignas(64) real S[DIM][RP_LANES][RP_QUAD];
} push_tile;

RP_INLINE void fill_push(const rp_transfer_job *job, const rp_balance *what, const group_lanes *g,
                         const real press[DIM * DIM][RP_LANES], push_tile *out)
{
    const vec scale = vset((real)(what->scale / job->grid->layout.h)), zero = vset(0);
    for (int l = 0; l < RP_LANES; l += LANES) {
        const vec force = vload(&g->value[RP_GROUP_VOLUME][l]) * scale;
        UNROLL(3) for (int j = 0; j < DIM; j++)
        {
            vec S[RP_QUAD] = {zero, zero, zero, zero};
            UNROLL(3) for (int i = 0; i < DIM; i++)
            {
                S[i] = force * vload(&press[i * DIM + j][l]);
            }
            quads_store(S, l, out->S[j]);
        }
    }
}

// One particle onto the differences of its cell.
RP_INLINE void scatter_push(const stencil_tile *s, const push_tile *t, int l, cell_rows *cell)
{
    const int at = quad_at(l);
    const row w = row_spread(s->row_w[at]), d = row_spread(s->row_d[at]);
    const axis_reals wx = axis_of(s->w[0], l), dx = axis_of(s->d[0], l);
    const row Z = row_mul(d, row_repeat(t->S[ROW][at])), X = row_mul(w, row_repeat(t->S[0][at]));
    row value[WIDTH];
    UNROLL(4) for (int i = 0; i < WIDTH; i++)
    {
        value[i] = i == 1 ? Z : row_axpy(wx.n[i], Z, row_scale(dx.n[i], X));
    }
#if RP_DIM == 2
    UNROLL(4) for (int i = 0; i < WIDTH; i++) { cell->r[i][0] = row_add(cell->r[i][0], value[i]); }
#else
    const axis_reals wy = axis_of(s->w[1], l), dy = axis_of(s->d[1], l);
    const row Y = row_mul(w, row_repeat(t->S[1][at]));
    UNROLL(4) for (int i = 0; i < WIDTH; i++)
    {
        const row slope = i == 1 ? Y : row_scale(wx.n[i], Y);
        cell->r[i][1] = row_add(cell->r[i][1], value[i]);
        FOR_OTHERS(j)
        {
            cell->r[i][j] = row_axpy(wy.n[j], value[i], row_axpy(dy.n[j], slope, cell->r[i][j]));
        }
    }
#endif
}

RP_INLINE void push_end(run *r, real *arena)
{
    cell_gather_up(&r->sum);
    run_end(r->at, &r->sum, arena);
}

RP_INLINE void scatter_pushes(const stencil_tile *s, const push_tile *t, int lanes, run *open,
                              real *arena)
{
    run r = *open;
    for (int l = 0; l < lanes;) {
        if (s->at[l] != r.at) {
            push_end(&r, arena);
            r.at = s->at[l];
            r.sum = cell_zero();
        }
        do {
            scatter_push(s, t, l, &r.sum);
        } while (++l < lanes && s->at[l] == r.at);
    }
    *open = r;
}

enum { REALS = DIM * DIM + SYM + 8 }; // of a linearisation

// Nearly always one law; otherwise each works on all lanes, and its own are kept.
static void linearise_tile(const rp_balance *what, const rp_law_tile *tile, const group_lanes *g,
                           real press[DIM * DIM][RP_LANES], real det[RP_LANES], real *linear)
{
    if ((g->laws & (g->laws - 1)) == 0) {
        what->law[g->law[0]]->linearise(tile, press, det, linear);
        return;
    }
    for (int law = 0; law < RP_MATERIAL_KINDS; law++) {
        _Alignas(64) real one[DIM * DIM][RP_LANES], D[RP_LANES], L[REALS][RP_LANES];
        if (!(g->laws >> law & 1)) {
            continue;
        }
        what->law[law]->linearise(tile, one, D, L);
        for (int l = 0; l < RP_LANES; l++) {
            for (int k = 0; k < DIM * DIM && g->law[l] == law; k++) {
                press[k][l] = one[k][l];
            }
            for (int k = 0; k < REALS && g->law[l] == law; k++) {
                linear[k * RP_LANES + l] = L[k][l];
            }
            det[l] = g->law[l] == law ? D[l] : det[l];
        }
    }
}

void RP_VARIANT(balance)(const rp_transfer_job *job, const rp_balance *what, rp_local p)
{
    const slopes_of slopes = job->gradient == RP_GRADIENT_AFFINE ? AFFINE_SLOPES : SPLINE_SLOPES;
    const rp_page *page = &rp_set_page(job->set)[p];
    local_arena around;
    load_arena(job->grid, what->channel, page, &around);
    real *arena = clear_arena(job, page, what->channel);
    const law_columns columns = law_columns_of(job->set);
    group_lanes g;
    rp_law_tile tile = law_tile(job, page, &g, &columns);
    if (!(page->flags & RP_PAGE_MIXED)) {
        spread_uniform(job, page, &g);
    }
    run open = {.sum = cell_zero(), .at = -1};
    double least = INFINITY;
    for (rp_local first = 0; first < page->count; first += RP_LANES) {
        const rp_local slot = page->first + first;
        const int lanes = page->count - first < RP_LANES ? page->count - first : RP_LANES;
        real *linear = (real *)what->linear.data + (size_t)slot * (size_t)what->linear.comps;
        _Alignas(64) real press[DIM * DIM][RP_LANES];
        stencil_tile s;
        push_tile t;
        if (page->flags & RP_PAGE_MIXED) {
            spread_groups(job, slot, &g);
        }
        spread_own(job, slot, &g);
        fetch_reals(linear, REALS);
        stencil_fill(rp_set_tile(job->set, RP_COL_POSITION, slot), slopes, &s);
        if (what->least_det != NULL) {
            _Alignas(64) real increment[DIM * DIM][RP_LANES], det[RP_LANES];
            gather_gradients(job, &around, &s, lanes, increment);
            tile.increment = increment;
            linearise_tile(what, &tile, &g, press, det, linear);
            law_tile_next(&columns, &tile);
            for (int l = 0; l < lanes; l++) {
                least = (double)det[l] >= least || isnan(least) ? least : (double)det[l];
            }
        } else {
            gather_gradients(job, &around, &s, lanes, press);
            what->law[g.law[0]]->respond(linear, press); // all respond alike
        }
        fill_push(job, what, &g, press, &t);
        scatter_pushes(&s, &t, lanes, &open, arena);
    }
    push_end(&open, arena);
    if (what->least_det != NULL) {
        *what->least_det = least;
    }
}

#endif
