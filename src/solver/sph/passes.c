// Passes over the particles of a page; the formulas are in docs/theory.md, section 21.
//
// The list is made in two goes. First everybody in the cells around is looked at, sixteen at a
// time, and only the distances of those within reach are kept, packed; then kernels are worked out
// for whole vectors of neighbours. A third of those looked at are neighbours, so that the roots of
// the others are saved.
#include "model/variant.h"

#include "base/four.h"
#include "kernel/kernels.h"
#include "kernel/position.h"
#include "model/wide_math.h"
#include "solver/sph/passes.h"

#if RP_REAL_BITS == 32
typedef rp_sph_row_single sph_row;
#else
typedef rp_sph_row_double sph_row;
#endif
_Static_assert(sizeof(sph_row) == 4 * sizeof(real), "a row is read as four numbers");

static const real PER_DIM = (real)(1.0 / RP_DIM);

#if RP_REAL_BITS == 32
RP_INLINE real root(real x) { return __builtin_sqrtf(x); }
#else
RP_INLINE real root(real x) { return __builtin_sqrt(x); }
#endif

// ---- the list ----

enum {
    HELD = 96, // neighbours whose distances are held before they are weighed
    CELL_COUNT = RP_SPH_CELLS(RP_DIM),
};

// The place of (i, j) in a symmetric tensor.
static const int sym_at[3][3] = {{0, DIM == 3 ? 3 : 2, 4}, {DIM == 3 ? 3 : 2, 1, 5}, {4, 5, 2}};

typedef struct found {
    _Alignas(64) real d[DIM][HELD + RP_LANES]; // x_i - x_j [cells]
    real slot[HELD + RP_LANES];                // as bits
    int count;
} found;

// What is known of the particle whose rows are being made.
typedef struct sums {
    vec fill, square, g[DIM], moment[SYM];
} sums;

typedef struct lister {
    const rp_sph_job *job;
    const stored *position; // of all
    sph_row *row;           // of the page
    size_t room, rows;
    real steepness;
    bool moments;
    found near;
    sums sum;
} lister;

// Kernels of the neighbours held, and their rows.
static void weigh(lister *l)
{
    found *f = &l->near;
    sums *s = &l->sum;
    // lanes past the last are beyond reach, and weigh nothing
    for (int k = f->count; k < f->count + LANES; k++) {
        f->d[0][k] = R(2.0);
        for (int a = 1; a < DIM; a++) {
            f->d[a][k] = R(0.0);
        }
    }
    _Alignas(64) real g[DIM][HELD + RP_LANES];
    const vec one = vset(1), tiny = vset(R(1e-18)), zero = vset(0);
    for (int k = 0; k < f->count; k += LANES) {
        vec d[DIM], r2 = zero;
        for (int a = 0; a < DIM; a++) {
            d[a] = vload(&f->d[a][k]);
            r2 = vfma(d[a], d[a], r2);
        }
        // particles in the same place have no way apart: d is 0, and so is g
        const vec r = vsqrt(vmax(r2, tiny)), apart = vmax(one - r, zero);
        const vec inside = vmax(one - r2, zero), slope = -l->steepness * apart * apart / r;
        s->fill = vfma(inside * inside, inside, s->fill);
        vec along[DIM];
        for (int a = 0; a < DIM; a++) {
            along[a] = slope * d[a];
            vstore(&g[a][k], along[a]);
            s->g[a] = s->g[a] + along[a];
            s->square = vfma(along[a], along[a], s->square);
        }
        for (int a = 0; a < DIM && l->moments; a++) {
            for (int b = a; b < DIM; b++) {
                s->moment[sym_at[a][b]] = vfma(-along[a], d[b], s->moment[sym_at[a][b]]);
            }
        }
    }
    // what does not fit is only counted
    if (l->rows + (size_t)f->count <= l->room) {
        real *to = (real *)(l->row + l->rows);
        for (int k = 0; k < f->count; k++, to += 4) {
            fstore(to, (four){g[0][k], g[1][k], DIM == 3 ? g[DIM - 1][k] : R(0.0), f->slot[k]});
        }
    }
    l->rows += (size_t)f->count;
    f->count = 0;
}

// x_i - x_j along one axis, j in a tile of a page that lies so many cells further on [cells]. The
// bits are those of x_j - x_i, less the sign: positions are subtracted first, and cells are whole
// numbers.
RP_INLINE vec gap(stored from, const stored *to, int cells)
{
#if RP_REAL_BITS == 32
    ivec x;
    memcpy(&x, to, sizeof x);
    return vtoreal(viset(from - (stored)((uint32_t)cells << RP_FIXED_BITS)) - x) * R(0x1p-26);
#else
    return vset(from) - vload(to) - vset(cells);
#endif
}

static ivec lane_numbers(void)
{
    lane_int number[LANES];
    for (int i = 0; i < LANES; i++) {
        number[i] = i;
    }
    ivec out;
    memcpy(&out, number, sizeof out);
    return out;
}

// Those among the slots [first, end) of another page, or the same, that are within reach.
// @param cells how far on that page begins; own: the slot that is not its own neighbour
RP_INLINE void look(lister *l, rp_local first, rp_local end, const stored from[DIM],
                    const int cells[DIM], rp_local own)
{
    const vec one = vset(1);
    found *f = &l->near;
    int count = f->count;
    for (rp_local tile = first & ~(RP_LANES - 1); tile < end; tile += RP_LANES) {
        const stored *x = l->position + (size_t)tile * DIM;
        // lanes of this tile that count
        unsigned lanes = 0xffffu;
        lanes &= tile < first ? 0xffffu << (first - tile) : 0xffffu;
        lanes &= end - tile < RP_LANES ? (1u << (end - tile)) - 1 : 0xffffu;
        lanes &= own >= tile && own - tile < RP_LANES ? ~(1u << (own - tile)) : 0xffffu;
        for (int k = 0; k < RP_LANES; k += LANES) {
            vec d[DIM], r2 = vset(0);
            for (int a = 0; a < DIM; a++) {
                d[a] = gap(from[a], x + a * RP_LANES + k, cells[a]);
                r2 = vfma(d[a], d[a], r2);
            }
            // packed whether there are any or not: nobody could guess
            const unsigned bits = vbitmask(vlt(r2, one)) & (lanes >> k) & ((1u << LANES) - 1);
            for (int a = 0; a < DIM; a++) {
                vpack(&f->d[a][count], d[a], bits);
            }
            vpack(&f->slot[count], vfrombits(lane_numbers() + viset((lane_int)(tile + k))), bits);
            count += __builtin_popcount(bits);
            if (count > HELD - LANES) {
                f->count = count;
                weigh(l);
                count = 0;
            }
        }
    }
    f->count = count;
}

// The cells along one axis that neighbours can be in, cut at the faces of the block: one or two
// runs.
typedef struct stretch {
    int offset; // block, from the page's
    int lo, hi; // cells of that block, both included
} stretch;

RP_INLINE int stretches(stored x, stored reach, int cells, stretch out[2])
{
#if RP_REAL_BITS == 32
    const int lo = (x - reach) >> RP_FIXED_BITS, hi = (x + reach) >> RP_FIXED_BITS;
#else
    const int lo = (int)__builtin_floor(x - reach), hi = (int)__builtin_floor(x + reach);
#endif
    if (lo < 0) {
        out[0] = (stretch){-1, lo + cells, hi < 0 ? hi + cells : cells - 1};
        out[1] = (stretch){0, 0, hi};
        return hi < 0 ? 1 : 2;
    }
    if (hi >= cells) {
        out[0] = (stretch){0, lo, cells - 1};
        out[1] = (stretch){1, 0, hi - cells};
        if (lo >= cells) {
            out[0] = (stretch){1, lo - cells, hi - cells};
            return 1;
        }
        return 2;
    }
    out[0] = (stretch){0, lo, hi};
    return 1;
}

// All neighbours of the particle in `slot`, in the order of pages and slots.
static void find(lister *l, const rp_page *page, rp_local slot, const stored at[DIM], stored reach)
{
    const rp_sph_job *job = l->job;
    const rp_set *set = job->set;
    stretch s[3][2] = {{{0}}, {{0}}, {{0}}};
    int runs[3] = {1, 1, 1};
    static const int cells[3] = {RP_BLOCK_CELLS(DIM, 0), RP_BLOCK_CELLS(DIM, 1),
                                 RP_BLOCK_CELLS(DIM, 2)};
    for (int a = 0; a < DIM; a++) {
        runs[a] = stretches(at[a], reach, cells[a], s[a]);
    }
    for (int i = 0; i < runs[0]; i++) {
        for (int j = 0; j < runs[1]; j++) {
            for (int k = 0; k < runs[2]; k++) {
                const stretch *b[3] = {&s[0][i], &s[1][j], &s[2][k]};
                const int n = 9 * (b[0]->offset + 1) + 3 * (b[1]->offset + 1) + b[2]->offset + 1;
                if (page->near[n] == RP_NO_PAGE) {
                    continue;
                }
                const rp_page *other = &rp_set_page(set)[page->near[n]];
                const uint32_t *begin = job->cell + (size_t)page->near[n] * (CELL_COUNT + 1);
                int on[DIM];
                for (int a = 0; a < DIM; a++) {
                    on[a] = b[a]->offset * cells[a];
                }
                // a page that repeats is its own neighbour, far away: its slot is out of reach
                // there
                const rp_local own = n == RP_NEAR_SELF ? slot : -1;
                for (int x = b[0]->lo; x <= b[0]->hi; x++) {
#if RP_DIM == 3
                    for (int y = b[1]->lo; y <= b[1]->hi; y++) {
                        const uint32_t *line = begin + (x * cells[1] + y) * cells[2];
                        look(l, other->first + (rp_local)line[b[2]->lo],
                             other->first + (rp_local)line[b[2]->hi + 1], at, on, own);
                    }
#else
                    const uint32_t *line = begin + x * cells[1];
                    look(l, other->first + (rp_local)line[b[1]->lo],
                         other->first + (rp_local)line[b[1]->hi + 1], at, on, own);
#endif
                }
            }
        }
    }
    weigh(l);
}

static void list_page(const rp_sph_job *job, rp_local index)
{
    const rp_set *set = job->set;
    const rp_page *page = &rp_set_page(set)[index];
    rp_sph_span *span = &job->span[index];
    const real volume = (real)job->kernel->volume, own = (real)job->kernel->density * volume;
    lister l = {.job = job,
                .position = rp_set_tile(set, RP_COL_POSITION, 0),
                .row = (sph_row *)job->row + span->first,
                .room = span->room,
                .steepness = (real)job->kernel->steepness,
                .moments = job->moment != NULL};
    // a little more than the travel, for rounding
#if RP_REAL_BITS == 32
    const stored reach = (stored)((1.0 + job->travel) * (1 << RP_FIXED_BITS)) + 64;
#else
    const stored reach = 1.0 + job->travel + 1e-12;
#endif
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        stored at[DIM];
        for (int a = 0; a < DIM; a++) {
            at[a] = *(const stored *)rp_set_at(set, RP_COL_POSITION, slot, a);
        }
        l.sum = (sums){0};
        find(&l, page, slot, at, reach);
        real g2 = R(0.0);
        for (int a = 0; a < DIM; a++) {
            const real g = vsum(l.sum.g[a]);
            g2 += g * g;
        }
        job->end[slot] = (uint32_t)l.rows;
        ((real *)job->fill)[slot] = own * (R(1.0) + vsum(l.sum.fill));
        ((real *)job->stiffness)[slot] = vsum(l.sum.square) + g2;
        for (int c = 0; c < SYM && l.moments; c++) {
            ((real *)job->moment)[(slot / RP_LANES * SYM + c) * RP_LANES + slot % RP_LANES] =
                vsum(l.sum.moment[c]);
        }
    }
    span->rows = l.rows;
}

// ---- what passes of a step share ----

RP_INLINE const sph_row *rows_begin(const rp_sph_job *job, const rp_page *page, rp_local index,
                                    rp_local slot)
{
    const uint32_t first = slot > page->first ? job->end[slot - 1] : 0;
    return (const sph_row *)job->row + job->span[index].first + first;
}

RP_INLINE const sph_row *rows_end(const rp_sph_job *job, rp_local index, rp_local slot)
{
    return (const sph_row *)job->row + job->span[index].first + job->end[slot];
}

// A parameter of the groups of a tile, lane by lane.
RP_INLINE void spread(const rp_sph_job *job, rp_local tile, int parameter, real out[RP_LANES])
{
    const uint16_t *group = rp_set_tile(job->set, RP_COL_GROUP, tile);
    for (int l = 0; l < RP_LANES; l++) {
        out[l] = ((const real *)job->group)[group[l] * RP_SPH_REALS + parameter];
    }
}

// All ones in the lanes [first, RP_LANES) of a tile that hold particles.
RP_INLINE ivec living(const rp_page *page, rp_local slot)
{
    lane_int mask[LANES];
    for (int l = 0; l < LANES; l++) {
        mask[l] = slot + l < page->first + page->count ? -1 : 0;
    }
    ivec out;
    memcpy(&out, mask, sizeof out);
    return out;
}

RP_INLINE real *stress_tile(const rp_sph_job *job, rp_local tile)
{
    return (real *)job->stress + (size_t)(tile / RP_LANES) * (SYM + 1) * RP_LANES;
}

RP_INLINE real *proper_tile(const rp_sph_job *job, rp_local tile)
{
    return (real *)job->proper + (size_t)(tile / RP_LANES) * (SYM + 1) * RP_LANES;
}

// L, the inverse of the moment: gradients of linear fields become exact (Bonet and Lok 1999). Where
// there are too few neighbours for that, there is no stress of deformation: L is 0. 1 without
// correction.
RP_INLINE void correction(const rp_sph_job *job, rp_local tile, int l, vec L[SYM])
{
    if (job->moment == NULL) {
        for (int c = 0; c < SYM; c++) {
            L[c] = vset(c < DIM ? 1 : 0);
        }
        return;
    }
    const real *m = (const real *)job->moment + (size_t)(tile / RP_LANES) * SYM * RP_LANES + l;
    vec A[SYM], C[SYM], det;
    for (int c = 0; c < SYM; c++) {
        A[c] = vload(m + c * RP_LANES);
    }
#if RP_DIM == 3
    C[0] = A[1] * A[2] - A[5] * A[5];
    C[1] = A[0] * A[2] - A[4] * A[4];
    C[2] = A[0] * A[1] - A[3] * A[3];
    C[3] = A[4] * A[5] - A[3] * A[2];
    C[4] = A[3] * A[5] - A[4] * A[1];
    C[5] = A[3] * A[4] - A[0] * A[5];
    det = A[0] * C[0] + A[3] * C[3] + A[4] * C[4];
#else
    C[0] = A[1];
    C[1] = A[0];
    C[2] = -A[2];
    det = A[0] * A[1] - A[2] * A[2];
#endif
    const ivec enough = vlt(vset(R(0.02)), det);
    const vec inverse = vselect(enough, vset(1) / vselect(enough, det, vset(1)), vset(0));
    for (int c = 0; c < SYM; c++) {
        L[c] = C[c] * inverse;
    }
}

// Columns of s L - p 1 of LANES particles, for the force on their neighbours.
RP_INLINE void put_tensors(const rp_sph_job *job, const rp_page *page, rp_local tile, int l,
                           const vec s[SYM], const vec L[SYM], vec p)
{
    real t[DIM][DIM][LANES]; // [column][row]
    for (int a = 0; a < DIM; a++) {
        for (int b = 0; b < DIM; b++) {
            vec sum = a == b ? -p : vset(0);
            for (int k = 0; k < DIM; k++) {
                sum = vfma(s[sym_at[a][k]], L[sym_at[k][b]], sum);
            }
            vstore(t[b][a], sum);
        }
    }
    const rp_local end = page->first + page->count;
    real *to = (real *)job->tensor + (size_t)(tile + l) * DIM * 4;
    for (int i = 0; i < LANES && tile + l + i < end; i++) {
        for (int b = 0; b < DIM; b++, to += 4) {
            fstore(to,
                   (four){t[b][0][i], t[b][1][i], DIM == 3 ? t[b][DIM - 1][i] : R(0.0), R(0.0)});
        }
    }
}

// ---- before the first iteration ----

// Stress to start from, out of the strain that the last step left: s and p.
static void load_page(const rp_sph_job *job, rp_local index)
{
    const rp_set *set = job->set;
    const rp_page *page = &rp_set_page(set)[index];
    for (rp_local tile = page->first; tile < page->first + page->count; tile += RP_LANES) {
        const real *h = rp_set_tile(set, RP_COL_STRAIN, tile);
        real *to = stress_tile(job, tile), *proper = proper_tile(job, tile);
        _Alignas(64) real lambda[RP_LANES], mu[RP_LANES];
        spread(job, tile, RP_SPH_LAMBDA, lambda);
        spread(job, tile, RP_SPH_MU, mu);
        for (int l = 0; l < RP_LANES; l += LANES) {
            vec s[SYM], L[SYM], trace = vset(0), mean = vset(0);
            for (int a = 0; a < DIM; a++) {
                trace = trace + vload(h + a * RP_LANES + l);
            }
            // from Kirchhoff's stress to Cauchy's: over the volume
            const vec scale =
                vselect(living(page, tile + l), vset(job->cold ? 0 : 1), vset(0)) * vexp(-trace);
            for (int c = 0; c < SYM; c++) {
                const vec tau = vset(2) * vload(mu + l) * vload(h + c * RP_LANES + l);
                s[c] = scale * (c < DIM ? vfma(vload(lambda + l), trace, tau) : tau);
                mean = c < DIM ? mean + s[c] * PER_DIM : mean;
            }
            // what presses is pressure, what pulls is cohesion
            const vec p = job->bilateral ? -mean : vmax(-mean, vset(0));
            for (int a = 0; a < DIM; a++) {
                s[a] = s[a] + p;
            }
            for (int c = 0; c < SYM; c++) {
                vstore(to + c * RP_LANES + l, s[c]);
                vstore(proper + c * RP_LANES + l, s[c]);
            }
            vstore(to + SYM * RP_LANES + l, p);
            vstore(proper + SYM * RP_LANES + l, p);
            correction(job, tile, l, L);
            put_tensors(job, page, tile, l, s, L, p);
        }
    }
}

// Everything that does not depend on stress: gravity, viscosity, and a soft push between grains
// that have come too close where nothing else keeps them apart.
static void kick_page(const rp_sph_job *job, rp_local index)
{
    const rp_set *set = job->set;
    const rp_page *page = &rp_set_page(set)[index];
    const real h = (real)set->layout.h, dt = (real)job->dt;
    const real steepest = (real)job->kernel->steepness;
    const real close = (real)RP_SPH_CLOSE, far = R(1.0) - close;
    const real close2 = steepest * steepest * far * far * far * far;
    // 2 (d + 2) nu, in cells
    const real thick = (real)(2.0 * (DIM + 2) * job->viscosity) * dt / (h * h);
    // both change the way they part by this share of what is wanted, and each half of that
    const real rate = (real)job->repulsion,
               share = R(0.5) * (rate * dt < R(0.25) ? rate * dt : R(0.25));
    const real *fill = job->fill;
    const four pull = {(real)job->pull[0] * dt, (real)job->pull[1] * dt,
                       DIM == 3 ? (real)job->pull[2] * dt : R(0.0), R(0.0)};
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        four v = {0};
        for (int a = 0; a < DIM; a++) {
            v[a] = *(const real *)rp_set_at(set, RP_COL_VELOCITY, slot, a);
        }
        four u = v + pull;
        const bool loose = rate > R(0.0) && fill[slot] < R(1.0);
        const sph_row *end = rows_end(job, index, slot);
        for (const sph_row *row = rows_begin(job, page, index, slot);
             row < end && (loose || thick > 0); row++) {
            const rp_local other = (rp_local)row->slot;
            four g = fload((const real *)row);
            g[3] = R(0.0);
            const real g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
            const bool meets = loose && g2 > close2 && fill[other] < R(1.0);
            // two in one place have no slope, and no way apart
            const bool rubs = thick > 0 && g2 > R(0.0);
            if (!meets && !rubs) {
                continue;
            }
            // the distance out of the slope: g = c (1 - r)^2
            const real slope = root(g2), r = R(1.0) - root(slope / steepest);
            real apart = R(0.0); // (v_i - v_j) . (x_i - x_j) / r, x_i - x_j = -r g / |g|
            for (int a = 0; a < DIM; a++) {
                apart -= (v[a] - *(const real *)rp_set_at(set, RP_COL_VELOCITY, other, a)) * g[a];
            }
            apart /= slope;
            const real wanted = rate * h * (close - r);
            if (meets && apart < wanted) {
                u = u - fset(share * (wanted - apart) / slope) * g;
            }
            if (rubs) {
                u = u + fset(thick * r * apart / (r * r + R(0.01))) * g;
            }
        }
        u[3] = R(0.0);
        fstore((real *)job->start + (size_t)slot * 4, u);
    }
}

// ---- an iteration: forces, then deformation ----

// A wall pushes by its mirror image's pressure, keeps out, and rubs.
static void wall_push(const rp_sph_job *job, rp_sph_wall *w, double pressure, double lightness,
                      real *velocity)
{
    const double h = job->set->layout.h, dt = job->dt, closest = RP_SPH_CLOSEST * h;
    const double *n = w->normal;
    double v[3] = {0}, vn = 0.0, t[3], t2 = 0.0;
    for (int a = 0; a < DIM; a++) {
        v[a] = (double)velocity[a] - w->velocity[a];
        vn += v[a] * n[a];
    }
    double push = 2.0 * dt * pressure * lightness * w->weight / h;
    const bool holds = w->distance < RP_SPH_HOLD * h;
    // as near as `closest` it may come, and from nearer it is let back slowly
    const double gap = w->distance - closest;
    const double least = -gap * (gap > 0.0 ? 1.0 : job->recovery) / dt;
    push += vn + push < least ? least - vn - push : 0.0;
    if (w->contact != RP_SEPARATE && holds && vn + push > 0.0 && gap > 0.0) {
        push = -vn; // nor does it leave
    }
    double kept = 1.0;
    for (int a = 0; a < DIM; a++) {
        t[a] = v[a] - vn * n[a];
        t2 += t[a] * t[a];
    }
    const double slip = __builtin_sqrt(t2), bite = w->friction * (push > 0.0 ? push : -push);
    kept = slip > bite ? 1.0 - bite / slip : 0.0;
    kept = w->contact == RP_STICKY && holds ? 0.0 : kept;
    for (int a = 0; a < DIM; a++) {
        const double now = kept * t[a] + (vn + push) * n[a];
        w->push[a] = now - v[a];
        velocity[a] = (real)(now + w->velocity[a]);
    }
}

static void force_page(const rp_sph_job *job, rp_local index)
{
    const rp_set *set = job->set;
    const rp_page *page = &rp_set_page(set)[index];
    const real *tensor = job->tensor, *start = job->start;
    real *velocity = job->velocity;
    const real step = (real)(job->dt / set->layout.h);
    const sph_row *row = rows_begin(job, page, index, page->first);
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        const sph_row *end = rows_end(job, index, slot);
        four sum[DIM], all = {0};
        for (int k = 0; k < DIM; k++) {
            sum[k] = (four){0};
        }
        for (; row < end; row++) {
            const four g = fload((const real *)row);
            const real *other = tensor + (size_t)row->slot * DIM * 4;
            all = all + g;
            _Pragma("GCC unroll 3") for (int k = 0; k < DIM; k++)
            {
                sum[k] = ffma(fload(other + 4 * k), fset(g[k]), sum[k]);
            }
        }
        const real *own = tensor + (size_t)slot * DIM * 4;
        four force = {0};
        for (int k = 0; k < DIM; k++) {
            force = force + ffma(fload(own + 4 * k), fset(all[k]), sum[k]);
        }
        const uint16_t group = *(const uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
        const real lightness = ((const real *)job->group)[group * RP_SPH_REALS + RP_SPH_LIGHTNESS];
        fstore(velocity + (size_t)slot * 4,
               ffma(fset(step * lightness), force, fload(start + (size_t)slot * 4)));
    }
    for (uint32_t w = job->walls[index]; w < job->walls[index + 1]; w++) {
        const rp_local slot = job->wall[w].slot;
        const uint16_t group = *(const uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
        const real p = stress_tile(job, slot)[SYM * RP_LANES + slot % RP_LANES];
        wall_push(job, &job->wall[w], (double)p,
                  (double)((const real *)job->group)[group * RP_SPH_REALS + RP_SPH_LIGHTNESS],
                  velocity + (size_t)slot * 4);
    }
}

// What friction and cohesion leave of a trial stress.
RP_INLINE void clamp(const rp_sph_job *job, vec p, vec friction, vec cohesion, vec s[SYM])
{
    vec full[SYM], mean = vset(0), square = vset(0), whole = vset(0);
    for (int a = 0; a < DIM; a++) {
        mean = mean + s[a] * PER_DIM;
    }
    for (int c = 0; c < SYM; c++) {
        full[c] = s[c];
        s[c] = c < DIM ? s[c] - mean : s[c];
        const vec twice = vset(c < DIM ? 1 : 2);
        square = vfma(twice * s[c], s[c], square);
        whole = vfma(twice * full[c], full[c], whole);
    }
    const vec bound = friction * vmax(p, vset(0)), tiny = vset(R(1e-30));
    if (job->by_component) {
        // as printed: every component by itself, and once more without a trace
        const vec each = bound * R(0.57735026918962576); // alpha p = sqrt(2/3) sin(theta) p
        vec left = vset(0);
        for (int c = 0; c < SYM; c++) {
            s[c] = vmax(vmin(s[c], each), -each);
            left = c < DIM ? left + s[c] * PER_DIM : left;
        }
        square = vset(0);
        for (int c = 0; c < SYM; c++) {
            s[c] = c < DIM ? s[c] - left : s[c];
            square = vfma(vset(c < DIM ? 1 : 2) * s[c], s[c], square);
        }
    } else {
        const vec norm = vsqrt(square), kept = vmin(bound, norm) / vmax(norm, tiny);
        for (int c = 0; c < SYM; c++) {
            s[c] = kept * s[c];
        }
        square = kept * kept * square;
    }
    if (vany(vlt(vset(0), cohesion))) {
        // the full stress within what cohesion holds; the larger of the two stays
        const vec norm = vsqrt(whole), kept = vmin(cohesion, norm) / vmax(norm, tiny);
        const ivec more = vlt(square, kept * kept * whole);
        for (int c = 0; c < SYM; c++) {
            s[c] = vselect(more, kept * full[c], s[c]);
        }
    }
}

// What a page has to report, lane by lane.
typedef struct worst {
    double residual;
    vec excess, change, size, steep2;
    double astray, expanded;
} worst;

RP_INLINE double largest(vec a)
{
    real lane[LANES], most = R(0.0);
    vstore(lane, a);
    for (int l = 0; l < LANES; l++) {
        most = lane[l] > most ? lane[l] : most;
    }
    return (double)most;
}

// Pressure and stress of a tile, from the gradient of velocity.
RP_INLINE void correct_tile(const rp_sph_job *job, const rp_page *page, rp_local tile,
                            const real grad[DIM][DIM][RP_LANES], const real wall[RP_LANES],
                            worst *out)
{
    const rp_set *set = job->set;
    const double h = set->layout.h, dt = job->dt;
    const real per_metre = (real)(1.0 / h), step = (real)dt;
    const real least = (real)(0.5 * job->kernel->stiffness);
    const real unit = (real)(job->relaxation * h * h * DIM / dt); // of stress per rate and density
    const real kept = (real)(1.0 - job->recovery);
    real *state = stress_tile(job, tile), *proper = proper_tile(job, tile);
    const vec momentum = vset((real)job->momentum);
    _Alignas(64) real lightness[RP_LANES], friction[RP_LANES], cohesion[RP_LANES],
        hardest[RP_LANES];
    spread(job, tile, RP_SPH_HARDEST, hardest);
    spread(job, tile, RP_SPH_LIGHTNESS, lightness);
    spread(job, tile, RP_SPH_FRICTION, friction);
    spread(job, tile, RP_SPH_COHESION, cohesion);
    const vec zero = vset(0), one = vset(1);
    for (int l = 0; l < RP_LANES && tile + l < page->first + page->count; l += LANES) {
        const ivec alive = living(page, tile + l);
        vec L[SYM], rate[SYM], s[SYM], G[DIM][DIM], divergence = vload(wall + l), size = zero;
        correction(job, tile, l, L);
        for (int a = 0; a < DIM; a++) {
            for (int b = 0; b < DIM; b++) {
                G[a][b] = vload(grad[b][a] + l) * per_metre;
            }
            divergence = divergence + G[a][a];
        }
        vec steep2 = zero;
        for (int a = 0; a < DIM; a++) {
            for (int b = 0; b < DIM; b++) {
                steep2 = vfma(G[a][b], G[a][b], steep2);
            }
        }
        for (int a = 0; a < DIM; a++) {
            for (int b = a; b < DIM; b++) {
                vec ab = zero, ba = zero;
                for (int k = 0; k < DIM; k++) {
                    ab = vfma(G[a][k], L[sym_at[k][b]], ab);
                    ba = vfma(G[b][k], L[sym_at[k][a]], ba);
                }
                rate[sym_at[a][b]] = R(0.5) * (ab + ba);
            }
        }
        // density after the step, and what it should be: too much of it is undone softly, and a
        // little is left, so that sand at rest is not about to come apart
        const vec fill = vload((const real *)job->fill + tile + l);
        const vec packed = job->bilateral ? fill - one : vmax(fill - one, zero),
                  slack = vmin(packed, vset((real)RP_SPH_SLACK));
        const vec off = fill - step * divergence - one - slack - kept * (packed - slack);
        const vec stiff = vmax(vload((const real *)job->stiffness + tile + l), vset(least));
        const vec gain =
            vselect(alive, unit / (vmax(vload(lightness + l), vset(R(1e-30))) * stiff), zero);
        const vec p_before = vload(state + SYM * RP_LANES + l);
        const vec back = vselect(alive, (packed - slack) * p_before, zero);
        out->expanded += job->recovery * (double)vsum(back);
        vec p = vfma(gain * PER_DIM / step, off, p_before);
        p = vmin(job->bilateral ? p : vmax(p, zero), vload(hardest + l));
        // steps are shorter where the correction is large
        for (int c = 0; c < SYM; c++) {
            size = vfma(vset(c < DIM ? 1 : 2) * L[c], L[c], size);
        }
        const vec careful = gain * vset(DIM) / vmax(size, vset(DIM));
        vec before[SYM], beta2 = one;
        for (int c = 0; c < SYM; c++) {
            before[c] = vload(state + c * RP_LANES + l);
            s[c] = vfma(careful, rate[c], before[c]);
        }
        if (rp_set_has(set, RP_COL_BOND)) {
            const vec beta = vload((const real *)rp_set_tile(set, RP_COL_BOND, tile) + l);
            beta2 = beta * beta;
        }
        clamp(job, p, vload(friction + l), beta2 * vload(cohesion + l), s);

        vec change = zero, most = zero, rate2 = zero, astray = zero;
        for (int c = 0; c < SYM; c++) {
            s[c] = vselect(alive, s[c], zero);
            change = vmax(change, vabs(s[c] - before[c]));
            most = vmax(most, vabs(s[c]));
            rate2 = vfma(vset(c < DIM ? 1 : 2) * rate[c], rate[c], rate2);
        }
        // the next velocities are made of stresses that have gone on as they were going (Nesterov)
        const vec way = p - vload(proper + SYM * RP_LANES + l);
        astray = vfma(vset(DIM) * (p_before - p), way, astray);
        vstore(proper + SYM * RP_LANES + l, p);
        p = vfma(momentum, way, p);
        p = vmin(job->bilateral ? p : vmax(p, zero), vload(hardest + l));
        for (int c = 0; c < SYM; c++) {
            const vec on = s[c] - vload(proper + c * RP_LANES + l);
            astray = vfma(vset(c < DIM ? 1 : 2) * (before[c] - s[c]), on, astray);
            vstore(proper + c * RP_LANES + l, s[c]);
            s[c] = vfma(momentum, on, s[c]);
        }
        clamp(job, p, vload(friction + l), beta2 * vload(cohesion + l), s);
        for (int c = 0; c < SYM; c++) {
            vstore(state + c * RP_LANES + l, s[c]);
        }
        vstore(state + SYM * RP_LANES + l, p);
        put_tensors(job, page, tile, l, s, L, p);
        out->astray +=
            (double)vsum(vselect(alive, astray * stiff / vmax(gain, vset(R(1e-30))), zero));
        if (job->rate != NULL) {
            vstore((real *)job->rate + tile + l, vsqrt(rate2));
        }
        // too dense is no miss where pressure is as high as it may be, nor too loose where there is
        // none
        const vec low = vselect(vlt(zero, p), vmax(-off, zero), zero);
        const vec high = vselect(vlt(p, vload(hardest + l)), vmax(off, zero), zero);
        const vec miss = vselect(alive, low + high, zero);
        const vec excess = vselect(alive, fill - step * divergence - one, zero);
        out->residual += (double)vsum(miss);
        out->excess = vmax(out->excess, excess);
        out->change = vmax(out->change, change);
        out->size = vmax(out->size, most);
        out->steep2 = vmax(out->steep2, vselect(alive, steep2, zero));
    }
}

static void strain_page(const rp_sph_job *job, rp_local index)
{
    const rp_page *page = &rp_set_page(job->set)[index];
    const real *velocity = job->velocity;
    const double per_metre = 1.0 / job->set->layout.h;
    const rp_local last = page->first + page->count;
    const sph_row *row = rows_begin(job, page, index, page->first);
    uint32_t w = job->walls[index];
    worst most = {.residual = 0.0};
    for (rp_local tile = page->first; tile < last; tile += RP_LANES) {
        _Alignas(64) real grad[DIM][DIM][RP_LANES] = {{{0}}}, wall[RP_LANES] = {0};
        for (rp_local slot = tile; slot < tile + RP_LANES && slot < last; slot++) {
            const sph_row *end = rows_end(job, index, slot);
            const four own = fload(velocity + (size_t)slot * 4);
            four sum[DIM];
            for (int k = 0; k < DIM; k++) {
                sum[k] = (four){0};
            }
            for (; row < end; row++) {
                const four g = fload((const real *)row);
                const four relative = fload(velocity + (size_t)row->slot * 4) - own;
                _Pragma("GCC unroll 3") for (int k = 0; k < DIM; k++)
                {
                    sum[k] = ffma(relative, fset(g[k]), sum[k]);
                }
            }
            for (int k = 0; k < DIM; k++) {
                for (int a = 0; a < DIM; a++) {
                    grad[k][a][slot - tile] = sum[k][a];
                }
            }
            for (; w < job->walls[index + 1] && job->wall[w].slot == slot; w++) {
                const rp_sph_wall *at = &job->wall[w];
                double vn = 0.0;
                for (int a = 0; a < DIM; a++) {
                    vn +=
                        ((double)velocity[(size_t)slot * 4 + a] - at->velocity[a]) * at->normal[a];
                }
                wall[slot - tile] += (real)(2.0 * at->weight * per_metre * vn);
            }
        }
        correct_tile(job, page, tile, (const real(*)[DIM][RP_LANES])grad, wall, &most);
    }
    job->report[index] = (rp_sph_report){.residual = most.residual,
                                         .excess = largest(most.excess),
                                         .change = largest(most.change),
                                         .size = largest(most.size),
                                         .astray = most.astray,
                                         .expanded = most.expanded,
                                         .steep2 = largest(most.steep2)};
}

// ---- after the last iteration ----

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

// t with t exp(-t) = ratio, the trace of the strain whose mean Cauchy stress is that share of the
// bulk modulus. There is none for a pull of more than 1 / e: then it is 1, the strongest.
RP_INLINE vec hencky_volume(vec ratio)
{
    enum { ROUNDS = 5 }; // of Newton; squeezed without bound, the first guess is off by less than 1
    const vec one = vset(1), v = vmin(ratio, vset(R(0.36)));
    vec t = -vlog(one + vmax(-v, vset(R(-0.6))));
    for (int i = 0; i < ROUNDS; i++) {
        const vec e = v * vexp(t);
        t = t - (t - e) / (one - e);
    }
    return t;
}

// Velocities and places, the strain that belongs to the stress, and bonds.
static void finish_page(const rp_sph_job *job, rp_local index)
{
    const rp_set *set = job->set;
    const rp_page *page = &rp_set_page(set)[index];
    const real cells = (real)(job->dt / set->layout.h), dt = (real)job->dt;
    const uint64_t mixed = job->seed ^ job->step * 0x9e3779b97f4a7c15ull;
    const uint32_t step_hash = (uint32_t)mixed ^ (uint32_t)(mixed >> 32);
    const rp_local last = page->first + page->count;
    rp_sph_report *out = &job->report[index];
    out->speed2 = out->motion = out->move = 0.0;
    for (rp_local tile = page->first; tile < last; tile += RP_LANES) {
        _Alignas(64) real u[DIM][RP_LANES] = {{0}}, lambda[RP_LANES], mu[RP_LANES];
        spread(job, tile, RP_SPH_LAMBDA, lambda);
        spread(job, tile, RP_SPH_MU, mu);
        for (rp_local slot = tile; slot < tile + RP_LANES && slot < last; slot++) {
            for (int a = 0; a < DIM; a++) {
                u[a][slot - tile] = ((const real *)job->velocity)[(size_t)slot * 4 + a];
            }
        }
        stored *x = rp_set_tile(set, RP_COL_POSITION, tile);
        real *v = rp_set_tile(set, RP_COL_VELOCITY, tile);
        real *strain = rp_set_tile(set, RP_COL_STRAIN, tile);
        const real *state = proper_tile(job, tile);
        const uint64_t *id = rp_set_tile(set, RP_COL_ID, tile);
        for (int l = 0; l < RP_LANES && tile + l < last; l += LANES) {
            const ivec alive = living(page, tile + l), ids = low_ids(id + l);
            vec speed2 = vset(0), move = vset(0), trace = vset(0), all = vset(0);
            for (int a = 0; a < DIM; a++) {
                const vec now = vload(&u[a][l]), way = now * cells;
                // lanes without a particle stay where zeros are
                stored kept[LANES];
                memcpy(kept, x + a * RP_LANES + l, sizeof kept);
                position_move(x + a * RP_LANES + l, way, ids, step_hash, a);
                for (int i = 0; i < LANES; i++) {
                    if (tile + l + i >= last) {
                        x[a * RP_LANES + l + i] = kept[i];
                    }
                }
                vstore(v + a * RP_LANES + l, now);
                speed2 = vfma(now, now, speed2);
                move = vmax(vabs(way), move);
                trace = trace + vload(state + a * RP_LANES + l);
            }
            const vec p = vload(state + SYM * RP_LANES + l), two = vset(2);
            const vec m = vselect(alive, vload(mu + l), vset(1));
            const vec lam = vselect(alive, vload(lambda + l), vset(1));
            const vec stiff = vfma(vset(DIM), lam, two * m);
            // the strain whose Kirchhoff stress, over its volume, is s - p
            const vec volume = hencky_volume((trace - vset(DIM) * p) / stiff), grown = vexp(volume);
            for (int c = 0; c < SYM; c++) {
                const vec sigma = vload(state + c * RP_LANES + l) - (c < DIM ? p : vset(0));
                const vec even = c < DIM ? lam * volume : vset(0);
                const vec h = vfma(grown, sigma, -even) / (two * m);
                all = all + vabs(h);
                vstore(strain + c * RP_LANES + l, vselect(alive, h, vset(0)));
            }
            if (rp_set_has(set, RP_COL_BOND) && job->rate != NULL) {
                real *bond = (real *)rp_set_tile(set, RP_COL_BOND, tile) + l;
                const ivec dense = vlt(vset(R(0.97)), vload((const real *)job->fill + tile + l));
                const vec made = vselect(dense, vset(dt * (real)job->bonding), vset(0));
                const vec broken =
                    vset(dt * (real)job->debonding) * vload((const real *)job->rate + tile + l);
                const vec b = (vload(bond) + made) / (vset(1) + made + broken);
                vstore(bond, vselect(alive, b, vset(0)));
            }
            real lane[3][LANES];
            vstore(lane[0], speed2);
            vstore(lane[1], move);
            vstore(lane[2], all);
            for (int i = 0; i < LANES && tile + l + i < last; i++) {
                const double square = (double)lane[0][i], way = (double)lane[1][i];
                out->motion += square;
                out->speed2 = square > out->speed2 ? square : out->speed2;
                out->move = way > out->move ? way : out->move;
                out->bad = out->bad || !(square < 1e30) || !(way <= RP_RUNAWAY_CELLS) ||
                           !((double)lane[2][i] < 1e30);
            }
        }
    }
}

#define ISA_NUMBER_(isa) RP_ISA_NUMBER_##isa
#define ISA_NUMBER(isa)  ISA_NUMBER_(isa)
enum {
    RP_ISA_NUMBER_plain = RP_ISA_PLAIN,
    RP_ISA_NUMBER_avx2 = RP_ISA_AVX2,
    RP_ISA_NUMBER_avx512 = RP_ISA_AVX512
};

extern const rp_sph_passes RP_LAW_VARIANT(sph_passes);
const rp_sph_passes RP_LAW_VARIANT(sph_passes) = {.dim = DIM,
                                                  .real_bits = RP_REAL_BITS,
                                                  .isa = ISA_NUMBER(RP_ISA),
                                                  .list = list_page,
                                                  .load = load_page,
                                                  .kick = kick_page,
                                                  .force = force_page,
                                                  .strain = strain_page,
                                                  .finish = finish_page};
