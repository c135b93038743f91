// Passes over the particles of a page.
//
// The list is made in two goes. First everybody in the cells around is looked at, sixteen at a
// time, and only the distances of those within reach are kept, packed; then kernels are worked out
// for whole vectors of neighbours. A third of those looked at are neighbours, so that the roots of
// the others are saved.
#include "model/variant.h"

#include "base/four.h"
#include "kernel/position.h"
#include "solver/sph/passes.h"

#if RP_REAL_BITS == 32
typedef rp_sph_row_single sph_row;
#else
typedef rp_sph_row_double sph_row;
#endif
_Static_assert(sizeof(sph_row) == 4 * sizeof(real), "a row is read as four numbers");

// ---- the list ----

enum {
    HELD = 64, // neighbours whose distances are held before they are weighed
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
    sph_row *row; // of the page
    size_t room, rows;
    real gradient; // of spiky, times the volume
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
        const vec inside = vmax(one - r2, zero), slope = -l->gradient * apart * apart / r;
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
    const rp_set *set = l->job->set;
    const vec one = vset(1);
    for (rp_local tile = first & ~(RP_LANES - 1); tile < end; tile += RP_LANES) {
        const stored *x = rp_set_tile(set, RP_COL_POSITION, tile);
        // lanes of this tile that count
        unsigned lanes = 0xffffu;
        lanes &= tile < first ? 0xffffu << (first - tile) : 0xffffu;
        lanes &= end - tile < RP_LANES ? (1u << (end - tile)) - 1 : 0xffffu;
        lanes &= own >= tile && own - tile < RP_LANES ? ~(1u << (own - tile)) : 0xffffu;
        for (int k = 0; k < RP_LANES; k += LANES) {
            const unsigned wanted = lanes >> k & ((1u << LANES) - 1);
            if (wanted == 0) {
                continue;
            }
            vec d[DIM], r2 = vset(0);
            for (int a = 0; a < DIM; a++) {
                d[a] = gap(from[a], x + a * RP_LANES + k, cells[a]);
                r2 = vfma(d[a], d[a], r2);
            }
            const unsigned bits = vbitmask(vlt(r2, one)) & wanted;
            if (bits == 0) {
                continue;
            }
            found *f = &l->near;
            for (int a = 0; a < DIM; a++) {
                vpack(&f->d[a][f->count], d[a], bits);
            }
            vpack(&f->slot[f->count], vfrombits(lane_numbers() + viset((lane_int)(tile + k))),
                  bits);
            f->count += __builtin_popcount(bits);
            if (f->count > HELD - LANES) {
                weigh(l);
            }
        }
    }
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
                .row = (sph_row *)job->row + span->first,
                .room = span->room,
                .gradient = volume * (real)job->kernel->gradient,
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

#define ISA_NUMBER_(isa) RP_ISA_NUMBER_##isa
#define ISA_NUMBER(isa)  ISA_NUMBER_(isa)
enum {
    RP_ISA_NUMBER_plain = RP_ISA_PLAIN,
    RP_ISA_NUMBER_avx2 = RP_ISA_AVX2,
    RP_ISA_NUMBER_avx512 = RP_ISA_AVX512
};

extern const rp_sph_passes RP_LAW_VARIANT(sph_passes);
const rp_sph_passes RP_LAW_VARIANT(sph_passes) = {
    .dim = DIM, .real_bits = RP_REAL_BITS, .isa = ISA_NUMBER(RP_ISA), .list = list_page};
