// Grid to particle: gather velocity, its gradient and its affine moment; move; update strain
// (docs/theory.md, section 6).
//
//   v_p      = sum_i w_ip v_i                                                               (14)
//   C_p      = D^-1 sum_i w_ip v_i (x_i - x_p)^T          linear splines: C_p = grad v_p    (15)
//   grad v_p = sum_i v_i (grad w_ip)^T                    affine gradients: C_p      (16), (46)
//   x_p     += dt sum_i w_ip v_i                                                            (17)
//
// FLIP and the steady transfer keep a share s of what a particle has, theory (14) and (14a), both
//
//   a_p = s a_p + G(v_i - s v_i before forces),     a = v, and C with G = D^-1 sum w (x_i - x_p)^T
//
// of which the nodes have what is in brackets: where it is gathered too, the new velocity gives
// only what moves, v_p of (17) and grad v_p.
//
// The nodes around a page are first copied into a local arena, so that a stencil is a few rows, and
// the rows of a cell are read once for all particles in a row that are in it. Moments are taken
// about node 1 of the stencil, from where nodes are whole numbers of cells away, and moved to the
// particle afterwards.
#include "base/result.h"
#include "kernel/gather.h"

// What is gathered of a particle, in quads: the value, whose fourth number is the mass of the
// nodes, and either moments about node 1 or slopes, one an axis. Affine gradients need the first
// four, what is kept of another field goes into those and the new velocity into the rest; see
// `places`.
enum { HALF = 4, QUADS_HALF = 4, QUADS_ALL = 8 };

typedef struct places {
    int quads;
    int own_value, own; // of the velocity and affine matrix that particles get
    int value, slope;   // of the velocity that moves them; its slopes, or moments
} places;

RP_INLINE places places_of(bool slopes, bool keeps)
{
    const int value = slopes ? 3 : 0, first = slopes ? 0 : 1;
    if (!keeps) {
        // slopes come after value and moments, and share the value with them
        return (places){slopes ? QUADS_ALL : QUADS_HALF, 0, 1, 0, slopes ? HALF : 1};
    }
    const bool linear = RP_ORDER == 1; // C is the gradient
    return (places){QUADS_ALL, linear ? 3 : 0, linear ? 0 : 1, HALF + value, HALF + first};
}

// What is asked for of one particle, from the rows of its cell: value and moments in four quads,
// and slopes in four more, or, alone, followed by the value.
RP_INLINE void gather(const cell_rows *cell, const stencil_tile *s, int l, bool slopes, real *out)
{
    const axis_reals wx = axis_of(s->w[0], l);
    row sum[WIDTH], V, X, Y = row_zero();
#if RP_DIM == 2
    UNROLL(4) for (int i = 0; i < WIDTH; i++) { sum[i] = cell->r[i][0]; }
#else
    const axis_reals wy = axis_of(s->w[1], l);
    UNROLL(4) for (int i = 0; i < WIDTH; i++)
    {
        row first;
        row_moments(cell->r[i], wy.n, &sum[i], &first);
        Y = i == 0 ? row_scale(wx.n[i], first) : row_axpy(wx.n[i], first, Y);
    }
#endif
    row_moments(sum, wx.n, &V, &X);
    const row w = row_spread(s->row_w[quad_at(l)]);
    const row Vw = row_mul(V, w), Xw = row_mul(X, w), Z = row_mul(Vw, row_places());
    if (DIM == 3) {
        row_sums(Vw, Xw, row_mul(Y, w), Z, out);
    } else {
        row_sums(Vw, Xw, Z, Z, out);
    }
    if (slopes) {
        const axis_reals dx = axis_of(s->d[0], l);
        row Gx = row_scale(dx.n[0], sum[0]);
        UNROLL(4) for (int i = 1; i < WIDTH; i++) { Gx = row_axpy(dx.n[i], sum[i], Gx); }
        const row Gxw = row_mul(Gx, w), Gz = row_mul(V, row_spread(s->row_d[quad_at(l)]));
#if RP_DIM == 2
        row_sums(Gxw, Gz, Gz, Gz, out + HALF * RP_QUAD);
#else
        const axis_reals dy = axis_of(s->d[1], l);
        row Gy = row_zero();
        UNROLL(4) for (int i = 0; i < WIDTH; i++)
        {
            row along = row_scale(dy.n[0], cell->r[i][0]);
            UNROLL(4) for (int j = 1; j < WIDTH; j++)
            {
                along = row_axpy(dy.n[j], cell->r[i][j], along);
            }
            Gy = i == 0 ? row_scale(wx.n[i], along) : row_axpy(wx.n[i], along, Gy);
        }
        row_sums(Gxw, row_mul(Gy, w), Gz, Gz, out + HALF * RP_QUAD);
#endif
    }
}

// A cell by what its rows have more than the middle ones: weights sum to one and derivatives to
// zero, so that the middle ones need neither.
RP_INLINE void cell_about_middle(cell_rows *c)
{
    UNROLL(4) for (int i = 0; i < WIDTH; i++)
    {
        UNROLL(4) for (int j = 0; j < DEEP; j++)
        {
            c->r[i][j] = DIM == 3 && j != 1 ? row_sub(c->r[i][j], c->r[i][1]) : c->r[i][j];
        }
    }
    UNROLL(4) for (int i = 0; i < WIDTH; i++)
    {
        UNROLL(4) for (int j = 0; j < DEEP; j++)
        {
            c->r[i][j] = i != 1 ? row_sub(c->r[i][j], c->r[1][j]) : c->r[i][j];
        }
    }
}

// Slopes and then the value in four quads, from a cell about its middle.
RP_INLINE void gather_slopes(const cell_rows *cell, const stencil_tile *s, int l, real *out)
{
    const axis_reals wx = axis_of(s->w[0], l), dx = axis_of(s->d[0], l);
    row V = row_zero(), Gx = row_zero(), Gy = row_zero();
#if RP_DIM == 3
    const axis_reals wy = axis_of(s->w[1], l), dy = axis_of(s->d[1], l);
#endif
    UNROLL(4) for (int n = 0; n < WIDTH; n++)
    {
        const int i = n == 0 ? 1 : n == 1 ? 0 : n; // the middle first
#if RP_DIM == 2
        const row sum = cell->r[i][0], along = row_zero();
#else
        row sum = row_axpy(wy.n[0], cell->r[i][0], cell->r[i][1]);
        row along = row_scale(dy.n[0], cell->r[i][0]);
        UNROLL(4) for (int j = 2; j < WIDTH; j++)
        {
            sum = row_axpy(wy.n[j], cell->r[i][j], sum);
            along = row_axpy(dy.n[j], cell->r[i][j], along);
        }
#endif
        V = n == 0 ? sum : row_axpy(wx.n[i], sum, V);
        Gy = n == 0 ? along : row_axpy(wx.n[i], along, Gy);
        Gx = n == 0 ? Gx : n == 1 ? row_scale(dx.n[i], sum) : row_axpy(dx.n[i], sum, Gx);
    }
    const row w = row_spread(s->row_w[quad_at(l)]), Gxw = row_mul(Gx, w), Vw = row_mul(V, w);
    const row Gz = row_mul(V, row_spread(s->row_d[quad_at(l)]));
    if (DIM == 3) {
        row_sums(Gxw, row_mul(Gy, w), Gz, Vw, out);
    } else {
        row_sums(Gxw, Gz, Gz, Vw, out);
    }
}

// Slopes and value from a cell about its middle, or value and moments from one as it is.
RP_INLINE void gather_either(const cell_rows *cell, const stencil_tile *s, int l, bool slopes,
                             real *out)
{
    if (slopes) {
        gather_slopes(cell, s, l, out);
    } else {
        gather(cell, s, l, false, out);
    }
}

// Running extremes of a page, lane by lane.
typedef struct extremes {
    vec speed2, gradient2, move;
    ivec bad;
    double plastic;
} extremes;

enum { SCALAR_REALS = 1, VECTOR_REALS = DIM, MATRIX_REALS = DIM * DIM, SYMMETRIC_REALS = SYM };
#define ADD_REALS(id, name, kind, shape, neutral, unit, sentence) +shape##_REALS
enum { MOST_REALS = 0 RP_COLUMNS(ADD_REALS) }; // that a particle can have

// Several laws in a tile: each works on a copy of it as it was and keeps its own lanes.
static void update_by_laws(const rp_transfer_job *job, const law_columns *columns,
                           const rp_law_tile *tile, const group_lanes *g)
{
    _Alignas(64) real before[MOST_REALS][RP_LANES], after[MOST_REALS][RP_LANES];
    rp_law_tile copy = *tile;
    int reals = 0;
    for (int i = 0; i < columns->count; i++) {
        const int id = columns->id[i], comps = columns->comps[i];
        memcpy(before[reals], tile->column[id], sizeof before[0] * (size_t)comps);
        copy.column[id] = after[reals];
        reals += comps;
    }
    for (int law = 0; law < RP_MATERIAL_KINDS; law++) {
        if (!(g->laws >> law & 1)) {
            continue;
        }
        memcpy(after, before, sizeof after[0] * (size_t)reals);
        job->law[law]->update(&copy);
        for (int i = 0; i < columns->count; i++) {
            const int id = columns->id[i];
            for (int k = 0; k < columns->comps[i] * RP_LANES; k++) {
                real *own = (real *)tile->column[id] + k;
                *own = g->law[k % RP_LANES] == law ? ((real *)copy.column[id])[k] : *own;
            }
        }
    }
}

static void update_state(const rp_transfer_job *job, const law_columns *columns,
                         const rp_law_tile *tile, const group_lanes *g)
{
    if ((g->laws & (g->laws - 1)) == 0) {
        job->law[g->law[0]]->update(tile);
        return;
    }
    update_by_laws(job, columns, tile, g);
}

// The strain of a tile that never yields.
static void trial_strain(const rp_transfer_job *job, const rp_law_tile *tile,
                         real (*strain)[RP_LANES])
{
    rp_law_tile copy = *tile;
    memcpy(strain, tile->column[RP_COL_STRAIN], sizeof(real) * SYM * RP_LANES);
    copy.column[RP_COL_STRAIN] = strain;
    job->law[RP_ELASTIC]->update(&copy);
}

// Work of the stress on the strain that the law has taken back, docs/theory.md (43). Lanes past the
// end hold none.
static double plastic_work(const rp_transfer_job *job, const rp_law_tile *tile,
                           const group_lanes *g, const real (*trial)[RP_LANES])
{
    const real *strain = tile->column[RP_COL_STRAIN];
    _Alignas(64) real tau[SYM][RP_LANES];
    double sum = 0.0;
    tile_stress(job, tile, g, tau);
    for (int l = 0; l < RP_LANES; l++) {
        double product = 0.0;
        for (int c = 0; c < SYM; c++) {
            const double taken = (double)trial[c][l] - (double)strain[c * RP_LANES + l];
            product += (c < DIM ? 1.0 : 2.0) * (double)tau[c][l] * taken;
        }
        sum += (double)g->value[RP_GROUP_VOLUME][l] * product;
    }
    return sum;
}

// What is no number, or absurd, in the state that laws keep: any component that is none makes the
// sum none.
RP_INLINE void check_state(const law_columns *columns, const rp_law_tile *tile, extremes *most)
{
    for (int i = 0; i < columns->count; i++) {
        const int id = columns->id[i], comps = columns->comps[i];
        const real *column = tile->column[id];
        const real limit = id == RP_COL_STRAIN ? R(1e6) : R(1e30);
        for (int l = 0; l < RP_LANES; l += LANES) {
            // columns of laws are scalars or symmetric tensors: both are known lengths
            vec sum = vabs(vload(column + l));
            if (comps == SYM) {
                UNROLL(6) for (int c = 1; c < SYM; c++)
                {
                    sum += vabs(vload(column + c * RP_LANES + l));
                }
            }
            most->bad |= ~vlt(sum, vset(limit));
        }
    }
}

// The low halves of the ids, for the dither.
RP_INLINE ivec low_ids(const uint64_t *id)
{
    ivec out;
    lane_int low[LANES];
    for (int l = 0; l < LANES; l++) {
        low[l] = (lane_int)(uint32_t)id[l];
    }
    memcpy(&out, low, sizeof out);
    return out;
}

RP_INLINE uint32_t hash_of_step(const rp_transfer_job *job)
{
    const uint64_t hash = job->seed ^ job->step * 0x9e3779b97f4a7c15ull;
    return (uint32_t)hash ^ (uint32_t)(hash >> 32);
}

// Comparisons that a NaN fails, so that it counts as bad.
RP_INLINE void note_extremes(vec speed2, vec gradient2, vec move, extremes *most)
{
    const ivec calm =
        vle(move, vset((real)RP_RUNAWAY_CELLS)) & vlt(speed2 + gradient2, vset(R(1e30)));
    most->bad |= ~calm;
    most->speed2 = vmax(speed2, most->speed2);
    most->gradient2 = vmax(gradient2, most->gradient2);
    most->move = vmax(move, most->move);
}

// The laws of a tile, after its increment and its density are known.
RP_INLINE void update_laws(const rp_transfer_job *job, const law_columns *columns,
                           const group_lanes *g, rp_law_tile *tile, extremes *most)
{
    _Alignas(64) real trial[SYM][RP_LANES];
    const bool account = job->account && rp_set_has(job->set, RP_COL_STRAIN);
    if (account) {
        trial_strain(job, tile, trial);
    }
    update_state(job, columns, tile, g);
    most->plastic += account ? plastic_work(job, tile, g, trial) : 0.0;
    check_state(columns, tile, most);
    law_tile_next(columns, tile);
}

// An affine matrix from the moment about node 1, moved to the particle.
RP_INLINE vec fit(vec moment, vec away, vec value, real per_cell)
{
    return vfma(away, value, moment) * (SPLINE_INERTIA_INVERSE * per_cell);
}

// The gradient is another when what is around has moved: the last term of theory (14a). What comes
// together does not do so ever faster: a lone grain, which nothing stops, would in finite time.
RP_INLINE void turn_affine(const real increment[DIM * DIM][RP_LANES], int l, real per_second,
                           vec affine[DIM][DIM])
{
    vec square[DIM][DIM], together = vset(0);
    UNROLL(3) for (int i = 0; i < DIM; i++)
    {
        together = together - vload(&increment[i * DIM + i][l]);
    }
    together = vmax(together, vset(0));
    UNROLL(3) for (int i = 0; i < DIM; i++)
    {
        UNROLL(3) for (int j = 0; j < DIM; j++)
        {
            square[i][j] = together * vload(&increment[i * DIM + j][l]);
            UNROLL(3) for (int k = 0; k < DIM; k++)
            {
                square[i][j] = vfma(vload(&increment[i * DIM + k][l]),
                                    vload(&increment[k * DIM + j][l]), square[i][j]);
            }
        }
    }
    UNROLL(3) for (int i = 0; i < DIM; i++)
    {
        UNROLL(3) for (int j = 0; j < DIM; j++)
        {
            affine[i][j] -= (square[i][j] + square[j][i]) * (R(0.5) * per_second);
        }
    }
}

// Gradients that laws follow instead of those of the velocity, and the mass that they see.
typedef struct flow_lanes {
    const real (*in)[RP_LANES]; // as gathered, one half; NULL: those of the velocity
    const real *times;          // of the tile; NULL: 1
} flow_lanes;

RP_INLINE void flow_tile(const rp_transfer_job *job, const flow_lanes *flow, const stencil_tile *s,
                         int l, bool slopes, real increment[DIM * DIM][RP_LANES],
                         real density[RP_LANES], extremes *most)
{
    const double h = job->grid->layout.h;
    const real per_cell = (real)(1.0 / h), dt = (real)job->dt;
    const int value = slopes ? 3 : 0, first = slopes ? 0 : 1;
    const vec times = flow->times != NULL ? vload(flow->times + l) : vset(1);
    vec gradient2 = vset(0);
    for (int i = 0; i < DIM; i++) {
        const vec ui = vload(&flow->in[value * RP_QUAD + i][l]);
        for (int j = 0; j < DIM; j++) {
            const vec slope = vload(&flow->in[(first + j) * RP_QUAD + i][l]);
            const vec dui =
                slopes ? slope * per_cell : fit(slope, vload(&s->away[j][l]), ui, per_cell);
            const vec rate = dui * times;
            gradient2 = vfma(rate, rate, gradient2);
            vstore(&increment[i * DIM + j][l], rate * dt);
        }
    }
    const real volume = (real)(1.0 / (DIM == 3 ? h * h * h : h * h));
    vstore(&density[l], vload(&flow->in[value * RP_QUAD + 3][l]) * times * volume);
    note_extremes(vset(0), gradient2, vset(0), most);
}

// Lane by lane: in[quad * 4 + number].
RP_INLINE void update_tile(const rp_transfer_job *job, const law_columns *columns,
                           const group_lanes *g, const transfer_tile *own, rp_law_tile *tile,
                           const stencil_tile *s, const real (*in)[RP_LANES], bool slopes,
                           bool keeps, const flow_lanes *flow, extremes *most)
{
    _Alignas(64) real increment[DIM * DIM][RP_LANES], density[RP_LANES];
    const double h = job->grid->layout.h;
    const real per_cell = (real)(1.0 / h), cells = (real)(job->dt / h), dt = (real)job->dt;
    const vec kept = vset((real)job->kept);
    const real volume = (real)(1.0 / (DIM == 3 ? h * h * h : h * h));
    const uint32_t step_hash = hash_of_step(job);
    const places at = places_of(slopes, keeps);
    const bool has = rp_transfer_is_affine(job->transfer);
    stored *x = own->x;
    real *velocity = own->v, *C = own->C;

    for (int l = 0; l < RP_LANES; l += LANES) {
        vec speed2 = vset(0), gradient2 = vset(0), move = vset(0);
        vec affine[DIM][DIM];
        const ivec ids = low_ids(own->id + l);
        for (int i = 0; i < DIM; i++) {
            const vec vi = vload(&in[at.value * RP_QUAD + i][l]);
            const vec gathered = vload(&in[at.own_value * RP_QUAD + i][l]);
            const vec step = vi * cells;
            position_move(x + i * RP_LANES + l, step, ids, step_hash, i);
            move = vmax(vabs(step), move);
            vec now = vi;
            if (keeps) {
                now = vfma(kept, vload(velocity + i * RP_LANES + l), gathered);
            }
            speed2 = vfma(now, now, speed2);
            if (velocity != NULL) {
                vstore(velocity + i * RP_LANES + l, now);
            }
            for (int j = 0; j < DIM; j++) {
                const vec slope = vload(&in[(at.slope + j) * RP_QUAD + i][l]);
                const vec moment = vload(&in[(at.own + j) * RP_QUAD + i][l]);
                const vec away = vload(&s->away[j][l]);
                const vec dvi = slopes ? slope * per_cell : fit(slope, away, vi, per_cell);
                gradient2 = vfma(dvi, dvi, gradient2);
                vstore(&increment[i * DIM + j][l], dvi * dt);
                if (RP_ORDER == 1) {
                    affine[i][j] = keeps ? moment * per_cell : dvi;
                } else {
                    affine[i][j] = fit(moment, away, gathered, per_cell);
                }
            }
        }
        if (C != NULL && keeps && has) {
            UNROLL(3) for (int i = 0; i < DIM; i++)
            {
                UNROLL(3) for (int j = 0; j < DIM; j++)
                {
                    affine[i][j] =
                        vfma(kept, vload(C + (i * DIM + j) * RP_LANES + l), affine[i][j]);
                }
            }
            turn_affine(increment, l, (real)(1.0 / job->dt), affine);
        }
        UNROLL(3) for (int i = 0; i < DIM && C != NULL; i++)
        {
            UNROLL(3) for (int j = 0; j < DIM; j++)
            {
                vstore(C + (i * DIM + j) * RP_LANES + l, has ? affine[i][j] : vset(0));
            }
        }
        vstore(&density[l], vload(&in[at.value * RP_QUAD + 3][l]) * volume);
        note_extremes(speed2, gradient2, move, most);
        if (flow->in != NULL) {
            flow_tile(job, flow, s, l, slopes, increment, density, most);
        }
    }
    if (job->law != NULL) {
        tile->increment = increment;
        tile->density = density;
        update_laws(job, columns, g, tile, most);
    }
}

static double largest(vec a)
{
    real lane[LANES];
    memcpy(lane, &a, sizeof a);
    real most = lane[0];
    for (int l = 1; l < LANES; l++) {
        most = lane[l] > most ? lane[l] : most;
    }
    return (double)most;
}

static const extremes nothing = {.plastic = 0.0};

// Adds to what a page has to report already.
static void report(const extremes *most, rp_page_report *out)
{
    const double speed2 = largest(most->speed2), gradient2 = largest(most->gradient2),
                 move = largest(most->move);
    out->speed2 = speed2 > out->speed2 ? speed2 : out->speed2;
    out->gradient2 = gradient2 > out->gradient2 ? gradient2 : out->gradient2;
    out->move = move > out->move ? move : out->move;
    out->plastic += most->plastic;
    out->bad |= vany(most->bad) != 0;
}

// Particles of one cell that follow each other share its rows.
// @param kept the field of which a share is kept, or NULL
RP_INLINE void gather_tile(const local_arena *from, const local_arena *kept, const stencil_tile *s,
                           int lanes, bool slopes, real *gathered, real (*out)[RP_LANES])
{
    enum { ALL = QUADS_ALL * RP_QUAD };
    const int quads = places_of(slopes, kept != NULL).quads;
    for (int l = 0; l < lanes;) {
        const lane_int at = s->at[l];
        cell_rows cell = cell_load(from->node + at);
        if (kept == NULL) {
            do {
                gather(&cell, s, l, slopes, &gathered[l * quads * RP_QUAD]);
            } while (++l < lanes && s->at[l] == at);
            continue;
        }
        cell_rows own = cell_load(kept->node + at);
        if (slopes) {
            cell_about_middle(&cell);
        }
        if (RP_ORDER == 1) {
            cell_about_middle(&own);
        }
        do {
            real *out_own = &gathered[l * ALL], *out_new = out_own + HALF * RP_QUAD;
            gather_either(&own, s, l, RP_ORDER == 1, out_own);
            gather_either(&cell, s, l, slopes, out_new);
        } while (++l < lanes && s->at[l] == at);
    }
    // lanes past the end gather nothing and stay zero
    memset(&gathered[lanes * quads * RP_QUAD], 0,
           sizeof(real) * (size_t)((RP_LANES - lanes) * quads * RP_QUAD));
    quads_to_lanes(quads, gathered, out);
}

// Value and slopes, or moments, of one more field.
RP_INLINE void gather_half(const local_arena *from, const stencil_tile *s, int lanes, bool slopes,
                           real *gathered, real (*out)[RP_LANES])
{
    for (int l = 0; l < lanes;) {
        const lane_int at = s->at[l];
        cell_rows cell = cell_load(from->node + at);
        if (slopes) {
            cell_about_middle(&cell);
        }
        do {
            gather_either(&cell, s, l, slopes, &gathered[l * HALF * RP_QUAD]);
        } while (++l < lanes && s->at[l] == at);
    }
    memset(&gathered[lanes * HALF * RP_QUAD], 0,
           sizeof(real) * (size_t)((RP_LANES - lanes) * HALF * RP_QUAD));
    quads_to_lanes(HALF, gathered, out);
}

RP_INLINE void gather_page(const rp_transfer_job *job, rp_local p, bool slopes, rp_page_report *out)
{
    const rp_page *page = &rp_set_page(job->set)[p];
    const bool keeps = rp_transfer_keeps(job->transfer) && rp_set_has(job->set, RP_COL_VELOCITY);
    const bool flows = job->flow_channel != 0;
    const real *times = flows ? job->times : NULL;
    local_arena velocity, kept, flow;
    load_arena(job->grid, RP_CH_MOMENTUM, page, &velocity);
    if (flows) {
        load_arena(job->grid, job->flow_channel, page, &flow);
    }
    if (keeps) {
        load_arena(job->grid, RP_CH_IMPULSE, page, &kept);
    }

    const law_columns columns = law_columns_of(job->set);
    group_lanes g;
    rp_law_tile tile = law_tile(job, page, &g, &columns);
    transfer_tile own = transfer_tile_of(job->set, page->first);
    if (job->group != NULL && !(page->flags & RP_PAGE_MIXED)) {
        spread_uniform(job, page, &g);
    }
    extremes most = nothing;
    for (rp_local first = 0; first < page->count; first += RP_LANES) {
        const rp_local slot = page->first + first;
        const int lanes = page->count - first < RP_LANES ? page->count - first : RP_LANES;
        _Alignas(64) real gathered[RP_LANES * QUADS_ALL * RP_QUAD];
        _Alignas(64) real in[QUADS_ALL * RP_QUAD][RP_LANES];
        _Alignas(64) real flowing[HALF * RP_QUAD][RP_LANES];
        stencil_tile s;
        if (job->group != NULL && page->flags & RP_PAGE_MIXED) {
            spread_groups(job, slot, &g);
        }
        if (job->account) {
            spread_own(job, slot, &g);
        }
        fetch_next(&own);
        stencil_fill(own.x, slopes ? SPLINE_SLOPES : NO_SLOPES, &s);
        if (keeps) {
            gather_tile(&velocity, &kept, &s, lanes, slopes, gathered, in);
        } else {
            gather_tile(&velocity, NULL, &s, lanes, slopes, gathered, in);
        }
        if (flows) {
            gather_half(&flow, &s, lanes, slopes, gathered, flowing);
        }
        const flow_lanes followed = {flows ? flowing : NULL, times != NULL ? times + slot : NULL};
        update_tile(job, &columns, &g, &own, &tile, &s, in, slopes, keeps, &followed, &most);
        transfer_tile_next(&own);
    }
    *out = (rp_page_report){0};
    report(&most, out);
}

void RP_VARIANT(g2p)(const rp_transfer_job *job, rp_local page, rp_page_report *out)
{
    if (RP_ORDER > 1 && job->gradient == RP_GRADIENT_AFFINE) {
        gather_page(job, page, false, out);
    } else {
        gather_page(job, page, true, out);
    }
}

void RP_VARIANT(move)(const rp_transfer_job *job, rp_lanes velocity, rp_local p,
                      rp_page_report *out)
{
    const rp_page *page = &rp_set_page(job->set)[p];
    const real cells = (real)(job->dt / job->grid->layout.h);
    const uint32_t step_hash = hash_of_step(job);
    extremes most = nothing;
    for (rp_local slot = page->first; slot < page->first + page->count; slot += RP_LANES) {
        stored *x = rp_set_tile(job->set, RP_COL_POSITION, slot);
        const uint64_t *id = rp_set_tile(job->set, RP_COL_ID, slot);
        const real *v = (const real *)velocity.data + (size_t)slot * DIM;
        for (int l = 0; l < RP_LANES; l += LANES) {
            vec speed2 = vset(0), farthest = vset(0);
            const ivec ids = low_ids(id + l);
            for (int i = 0; i < DIM; i++) {
                const vec vi = vload(v + i * RP_LANES + l), step = vi * cells;
                position_move(x + i * RP_LANES + l, step, ids, step_hash, i);
                farthest = vmax(vabs(step), farthest);
                speed2 = vfma(vi, vi, speed2);
            }
            note_extremes(speed2, vset(0), farthest, &most);
        }
    }
    report(&most, out);
}

void RP_VARIANT(update)(const rp_transfer_job *job, rp_lanes gradient, rp_lanes density, rp_local p,
                        rp_page_report *out)
{
    const rp_page *page = &rp_set_page(job->set)[p];
    const law_columns columns = law_columns_of(job->set);
    const real dt = (real)job->dt;
    RP_ASSERT(job->law != NULL);
    group_lanes g;
    rp_law_tile tile = law_tile(job, page, &g, &columns);
    extremes most = nothing;
    for (rp_local slot = page->first; slot < page->first + page->count; slot += RP_LANES) {
        _Alignas(64) real increment[DIM * DIM][RP_LANES];
        const real *dv = (const real *)gradient.data + (size_t)slot * DIM * DIM;
        for (int l = 0; l < RP_LANES; l += LANES) {
            vec gradient2 = vset(0);
            for (int c = 0; c < DIM * DIM; c++) {
                const vec each = vload(dv + c * RP_LANES + l);
                gradient2 = vfma(each, each, gradient2);
                vstore(&increment[c][l], each * dt);
            }
            note_extremes(vset(0), gradient2, vset(0), &most);
        }
        if (page->flags & RP_PAGE_MIXED) {
            spread_groups(job, slot, &g);
        } else {
            spread_uniform(job, page, &g);
        }
        spread_own(job, slot, &g);
        tile.increment = increment;
        tile.density = (const real *)density.data + slot;
        update_laws(job, &columns, &g, &tile, &most);
    }
    report(&most, out);
}

typedef real four_reals __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real))));

// The nodes around a page, one number each.
static void load_numbers(const rp_grid *grid, int channel, const rp_page *page, real *out)
{
    for (int n = 0; n < RP_NEAR; n++) {
        if (page->near[n] == RP_NO_PAGE) {
            continue; // out of reach
        }
        int32_t offset[3];
        rp_near_offset(n, offset);
        const overlap o = overlap_reached(overlap_at(offset), page);
        const real *from = rp_grid_nodes(grid, channel, (rp_local)page->near[n]);
        FOR_OVERLAP(o, x, y)
        {
            memcpy(out + overlap_in_arena(&o, x, y), from + overlap_in_block(&o, x, y),
                   sizeof(real) * (size_t)(o.hi[ROW] - o.lo[ROW]));
        }
    }
}

bool RP_VARIANT(number)(const rp_transfer_job *job, int channel, void *out, bool any, rp_local p)
{
    const rp_page *page = &rp_set_page(job->set)[p];
    // rows hang over, and what is there must be a number
    real arena[ARENA_NODES + 4] = {0};
    RP_ASSERT(job->grid->channel[channel].comps == 1);
    load_numbers(job->grid, channel, page, arena);
    bool found = false;
    for (rp_local first = 0; first < page->count; first += RP_LANES) {
        const rp_local slot = page->first + first;
        const int lanes = page->count - first < RP_LANES ? page->count - first : RP_LANES;
        real *to = (real *)out + slot;
        memset(to, 0, sizeof(real) * RP_LANES);
        if (any && found) {
            continue;
        }
        stencil_tile s;
        stencil_fill(rp_set_tile(job->set, RP_COL_POSITION, slot), NO_SLOPES, &s);
        for (int l = 0; l < lanes; l++) {
            const real *base = arena + s.at[l] / RP_QUAD;
            four_reals sum = {0}, along;
            UNROLL(4) for (int i = 0; i < WIDTH; i++)
            {
                four_reals rows = {0};
                UNROLL(4) for (int j = 0; j < DEEP; j++)
                {
                    const four_reals each =
                        *(const four_reals *)(base + (i * ARENA_Y + j) * ARENA_Z);
                    rows += DIM == 3 ? each * s.w[OUTER - 1][j][l] : each;
                }
                sum += rows * s.w[0][i][l];
            }
            memcpy(&along, s.row_w[quad_at(l)], sizeof along);
            sum *= along;
            to[l] = sum[0] + sum[1] + (sum[2] + sum[3]);
            found = found || to[l] != 0;
        }
    }
    return found;
}
