#include "collide/glue.h"

#include "base/result.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { MASK_WORDS = 4 }; // of 64 nodes, for the 256 of a block

// How far glue holds nodes beyond those that it reaches by its own stencil [cells]. Particles of
// glue are half a cell apart, so that a node whose stencil a cut just grazes would be left out.
static const double MARGIN = 0.5;

// What a thread works with.
struct glue_room {
    // holding: [pair of pages of the block][MASK_WORDS]: nodes that glue holds
    uint64_t (*bond)[MASK_WORDS];
    bool *some; // [pair of pages]: any of them
    int *root;  // [page]: of the unit that it belongs to
    // merging: [page] of those at a node, and the unit of each
    int *here, *unit;
};

// Nodes that glue holds, from the first of its page's block on. `partner` -1: it holds none.
struct glue_box {
    int16_t low[3], high[3];
    int32_t partner;
    int32_t boxes; // of a page: how many it has
    bool soft;     // of a page: some of it softens
};

int rp_glue_find(const rp_species *species, int count)
{
    for (int s = 0; s < count; s++) {
        if (rp_set_has(species[s].set, RP_COL_PARTNER)) {
            return s;
        }
    }
    return -1;
}

// ---- pages ----

// The first page of a block, or of what comes after it.
static rp_local find_block(const rp_set *set, uint64_t key)
{
    const rp_page *page = rp_set_page(set);
    rp_local low = 0, high = set->pages;
    while (low < high) {
        const rp_local middle = low + (high - low) / 2;
        if (page[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The n-th neighbour of a block. @return false: there is none in this dimension
static bool neighbour(const rp_layout *l, const int32_t block[3], int n, int32_t offset[3],
                      uint64_t *key)
{
    int32_t there[3];
    rp_near_offset(n, offset);
    if (l->dim == 2 && offset[2] != 0) {
        return false;
    }
    for (int a = 0; a < 3; a++) {
        there[a] = block[a] + offset[a];
    }
    rp_block_wrap(l, there);
    *key = rp_block_key(there);
    return true;
}

static double read_real(const rp_set *set, rp_column_id column, rp_local slot, int comp)
{
    const void *at = rp_set_at(set, column, slot, comp);
    return set->layout.precision == RP_SINGLE ? (double)*(const float *)at : *(const double *)at;
}

static void write_real(const rp_set *set, rp_column_id column, rp_local slot, int comp, double x)
{
    void *at = rp_set_at(set, column, slot, comp);
    if (set->layout.precision == RP_SINGLE) {
        *(float *)at = (float)x;
    } else {
        *(double *)at = x;
    }
}

// Where a particle is, from the first node of its page's block [cells].
static void read_place(const rp_set *set, rp_local slot, double x[3])
{
    const rp_layout *l = &set->layout;
    x[2] = 0.0;
    for (int a = 0; a < l->dim; a++) {
        const void *at = rp_set_at(set, RP_COL_POSITION, slot, a);
        x[a] = l->shift + (l->precision == RP_SINGLE
                               ? *(const int32_t *)at * (1.0 / (1 << RP_FIXED_BITS))
                               : *(const double *)at);
    }
}

static bool is_dead(const rp_set *set, rp_local slot)
{
    return *(const uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0) == RP_GROUP_DEAD;
}

static int material_of(const rp_set *set, rp_local slot)
{
    const uint16_t group = *(const uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
    return rp_set_group(set)[group].material;
}

// It has not broken.
static bool is_there(const rp_set *set, rp_local slot)
{
    return read_real(set, RP_COL_STRENGTH, slot, 0) > 0.0 && !is_dead(set, slot);
}

static bool softens(const rp_set *set, rp_local slot)
{
    return is_there(set, slot) && read_real(set, RP_COL_OPENING, slot, 0) > 0.0;
}

static bool holds(const rp_set *set, rp_local slot)
{
    return is_there(set, slot) && !(read_real(set, RP_COL_OPENING, slot, 0) > 0.0);
}

// Could it break by now? What softens has slack until it is all gone.
static bool is_due(const rp_set *set, rp_local slot)
{
    return is_there(set, slot) && !(read_real(set, RP_COL_SLACK, slot, 0) > 0.0);
}

bool rp_glue_is_due(const rp_set *set)
{
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            if (is_due(set, slot)) {
                return true;
            }
        }
    }
    return false;
}

static int partner_of(const rp_set *set, rp_local slot)
{
    return (int)read_real(set, RP_COL_PARTNER, slot, 0);
}

// A spline of this order and its slope, `d` cells from its middle.
static inline double spline(double d, int order, double *slope)
{
    const double a = fabs(d), sign = d < 0.0 ? -1.0 : 1.0;
    if (order == 1) {
        *slope = a < 1.0 ? -sign : 0.0;
        return a < 1.0 ? 1.0 - a : 0.0;
    }
    if (order == 2) {
        const double far = a < 1.5 ? 1.5 - a : 0.0;
        *slope = a < 0.5 ? -2.0 * d : -sign * far;
        return a < 0.5 ? 0.75 - d * d : 0.5 * far * far;
    }
    const double far = a < 2.0 ? 2.0 - a : 0.0;
    *slope = a < 1.0 ? (1.5 * a - 2.0) * d : -sign * 0.5 * far * far;
    return a < 1.0 ? (0.5 * a - 1.0) * d * d + 2.0 / 3.0 : far * far * far * (1.0 / 6.0);
}

// ---- stress around glue ----

// Particles give their stress to the nodes of a lattice around a page of glue, body by body, and
// glue takes it from there, both by splines of the first order. What comes out is a mean over two
// steps of the lattice to either side, for a tenth of the work that asking every particle takes;
// each page has a lattice of its own. Steps are wider than cells: among particles at random places
// stress is uneven from cell to cell.
static const double STEP = 1.5; // [cells]
enum {
    AROUND = 4,                 // nodes beyond those of the block
    SIDE_MOST = 8 + 2 * AROUND, // along the longest side
    NODES_MOST = SIDE_MOST * SIDE_MOST * (4 + 2 * AROUND),
    STRESSES = 7,     // numbers of a node: the volume, and with it the stress
    BODIES_MOST = 64, // around a page; what more there are have no say
};

typedef double eight_doubles __attribute__((vector_size(64), aligned(16)));

typedef struct smear {
    const rp_glue_job *job;
    const rp_page *page;           // of glue
    double from[3], step;          // the first node, and from one to the next [cells]
    int side[3];                   // how many nodes
    double lower[3], upper[3];     // where particles count [cells]
    int body[BODIES_MOST], bodies; // fields, in the order in which they came
    int room;                      // bodies that there is memory for
    double modulus;                // of the stiffest particle around [Pa]
    eight_doubles *sum;            // [body][node]: STRESSES numbers, and nothing
    bool forces;                   // those of the grid's nodes instead, and gradients of mass
    double (*held)[2];             // [node]: strengths of glue there, and their weights
    bool *open;                    // [node]: the force is too much for them
} smear;

// exp(x), not the library's, whose bits depend on the processor: a series of x / 2^k, squared k
// times. To 1e-12 for what strains are.
static double exponential(double x)
{
    const double r = x * (1.0 / 16.0);
    double e =
        1.0 +
        r * (1.0 + r * (1.0 / 2.0 + r * (1.0 / 6.0 + r * (1.0 / 24.0 +
                                                          r * (1.0 / 120.0 + r * (1.0 / 720.0))))));
    for (int i = 0; i < 4; i++) {
        e *= e;
    }
    return e;
}

// Sixteen particles as the laws of double precision see them.
typedef struct law_lanes {
    double parameter[RP_PARAM_COUNT][RP_LANES];
    double column[RP_COL_COUNT][9][RP_LANES];
    double stress[6][RP_LANES];
    double all[6][RP_LANES];
} law_lanes;

// Kirchhoff stress of a tile.
static void tile_stress(const rp_glue_job *job, const rp_species *species, rp_local slot,
                        law_lanes *l)
{
    const rp_set *set = species->set;
    const uint16_t *group = rp_set_tile(set, RP_COL_GROUP, slot);
    const double *row = species->group_doubles.data;
    const uint8_t *law_of = species->group_laws.data;
    const int sym = rp_sym_comps(set->layout.dim);
    rp_law_tile tile = {.parameter = l->parameter};
    for (int c = 0; c < RP_COL_COUNT; c++) {
        // no law asks how particles move
        if (!rp_set_has(set, c) || rp_column_table[c].kind != RP_KIND_REAL ||
            c == RP_COL_VELOCITY || c == RP_COL_AFFINE) {
            continue;
        }
        const int numbers = set->column[c].comps * RP_LANES;
        const void *from = rp_set_tile(set, c, slot);
        double *to = &l->column[c][0][0];
        for (int i = 0; i < numbers; i++) {
            to[i] = set->layout.precision == RP_SINGLE ? (double)((const float *)from)[i]
                                                       : ((const double *)from)[i];
        }
        tile.column[c] = to;
    }
    unsigned laws = 0;
    for (int k = 0; k < RP_LANES; k++) {
        const uint16_t g = group[k] == RP_GROUP_DEAD ? 0 : group[k];
        laws |= 1u << law_of[g];
        for (int p = 0; p < RP_PARAM_COUNT; p++) {
            l->parameter[p][k] = row[(size_t)g * (size_t)job->parameters + (size_t)p];
        }
    }
    memset(l->all, 0, sizeof l->all);
    for (int kind = 0; kind < RP_MATERIAL_KINDS; kind++) {
        if (!(laws >> kind & 1) || job->laws[kind]->stress == NULL) {
            continue;
        }
        job->laws[kind]->stress(&tile, l->stress);
        for (int k = 0; k < RP_LANES; k++) {
            const uint16_t g = group[k] == RP_GROUP_DEAD ? 0 : group[k];
            for (int i = 0; i < sym && law_of[g] == kind; i++) {
                l->all[i][k] = l->stress[i][k];
            }
        }
    }
}

// What a particle's volume is over that at rest.
static double volume_ratio(const rp_set *set, rp_local slot)
{
    if (rp_set_has(set, RP_COL_VOLUME_RATIO) && !rp_set_has(set, RP_COL_STRAIN)) {
        return read_real(set, RP_COL_VOLUME_RATIO, slot, 0);
    }
    double trace = 0.0;
    for (int a = 0; a < set->layout.dim && rp_set_has(set, RP_COL_STRAIN); a++) {
        trace += read_real(set, RP_COL_STRAIN, slot, a);
    }
    return exponential(trace);
}

// The place of a body; -1: there is no more room.
static int body_place(smear *m, int field, bool add)
{
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i] == field) {
            return i;
        }
    }
    if (!add || m->bodies == m->room) {
        return -1;
    }
    const size_t nodes = (size_t)(m->side[0] * m->side[1] * m->side[2]);
    memset(m->sum + (size_t)m->bodies * nodes, 0, nodes * sizeof *m->sum);
    m->body[m->bodies] = field;
    return m->bodies++;
}

// Nodes around a place and their weights. @return how many there are
static int weights_at(const smear *m, const double x[3], int node[8], double weight[8])
{
    const int dim = m->job->grid->layout.dim;
    int base[3] = {0};
    double share[3] = {0};
    for (int a = 0; a < dim; a++) {
        const double at = (x[a] - m->from[a]) / m->step, below = floor(at);
        base[a] = (int)below;
        share[a] = at - below;
    }
    for (int k = 0; k < 1 << dim; k++) {
        int number = 0;
        weight[k] = 1.0;
        for (int a = 0; a < 3; a++) {
            const int up = a < dim ? k >> a & 1 : 0;
            number = number * m->side[a] + base[a] + up;
            weight[k] *= a >= dim ? 1.0 : up ? share[a] : 1.0 - share[a];
        }
        node[k] = number;
    }
    return 1 << dim;
}

// What a particle gives to the nodes of a lattice: its volume and stress; or, for the criterion of
// the paper, the force that it puts on nodes of the grid and its share of the gradient of mass.
static void give_stress(smear *m, int place, const double x[3], double volume, double now,
                        const double stress[6])
{
    const size_t nodes = (size_t)(m->side[0] * m->side[1] * m->side[2]);
    double weight[8];
    int node[8];
    const int count = weights_at(m, x, node, weight);
    eight_doubles what = {now};
    for (int i = 0; i < 6; i++) {
        what[1 + i] = volume * stress[i];
    }
    for (int k = 0; k < count; k++) {
        m->sum[(size_t)place * nodes + (size_t)node[k]] += what * weight[k];
    }
}

static const int SYM_AT[2][3][3] = {{{0, 2, 0}, {2, 1, 0}, {0, 0, 0}},
                                    {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}};

// Nodes of a lattice that a particle of the grid's splines reaches: number, weight, slopes
// [1/cell].
typedef struct reached {
    int count, node[64];
    double weight[64], slope[64][3];
} reached;

static void reach_from(const smear *m, const double x[3], reached *out)
{
    const rp_layout *l = &m->job->grid->layout;
    const int wide = l->order + 1;
    int base[3] = {0}, low[3] = {0}; // nodes of the grid
    for (int a = 0; a < l->dim; a++) {
        base[a] = (int)floor(x[a] - l->shift);
        low[a] = (int)m->from[a];
    }
    out->count = 0;
    for (int k = 0; k < wide * wide * (l->dim == 3 ? wide : 1); k++) {
        const int at[3] = {k % wide, k / wide % wide, k / wide / wide};
        double w[3] = {1.0, 1.0, 1.0}, d[3] = {0};
        int number = 0;
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            const int node = a < l->dim ? base[a] + at[a] : 0;
            if (a < l->dim) {
                w[a] = spline(x[a] - node, l->order, &d[a]);
                inside = inside && node >= low[a] && node < low[a] + m->side[a];
            }
            number = number * m->side[a] + node - low[a];
        }
        if (inside) {
            const int n = out->count++;
            out->node[n] = number;
            out->weight[n] = w[0] * w[1] * w[2];
            out->slope[n][0] = d[0] * w[1] * w[2];
            out->slope[n][1] = w[0] * d[1] * w[2];
            out->slope[n][2] = w[0] * w[1] * d[2];
        }
    }
}

static void give_force(smear *m, int place, const double x[3], double volume, double mass,
                       const double stress[6])
{
    const rp_layout *l = &m->job->grid->layout;
    const size_t nodes = (size_t)(m->side[0] * m->side[1] * m->side[2]);
    reached r;
    reach_from(m, x, &r);
    for (int n = 0; n < r.count; n++) {
        double *to = (double *)&m->sum[(size_t)place * nodes + (size_t)r.node[n]];
        for (int i = 0; i < l->dim; i++) {
            for (int k = 0; k < l->dim; k++) {
                to[i] -= volume * stress[SYM_AT[l->dim - 2][i][k]] * r.slope[n][k] / l->h;
            }
            to[3 + i] += mass * r.slope[n][i];
        }
    }
}

// Between two corners, the second excluded [cells]; as single precision has positions, exactly.
typedef struct between {
    double from[3], to[3];
    int32_t least[3], end[3];
} between;

static int32_t fixed_of(double x)
{
    const double at = ceil(x * (1 << RP_FIXED_BITS));
    return at > INT32_MAX ? INT32_MAX : at < -INT32_MAX ? -INT32_MAX : (int32_t)at;
}

static unsigned lanes_between(const rp_set *set, rp_local tile, const between *b)
{
    const rp_layout *l = &set->layout;
    const void *at = rp_set_tile(set, RP_COL_POSITION, tile);
    int32_t inside[RP_LANES];
    memset(inside, 0xff, sizeof inside);
    for (int a = 0; a < l->dim; a++) {
        if (l->precision == RP_SINGLE) {
            const int32_t *x = (const int32_t *)at + (ptrdiff_t)a * RP_LANES;
            const int32_t least = b->least[a], end = b->end[a];
            for (int i = 0; i < RP_LANES; i++) {
                inside[i] &= -(int32_t)(x[i] >= least) & -(int32_t)(x[i] < end);
            }
        } else {
            const double *x = (const double *)at + (ptrdiff_t)a * RP_LANES;
            for (int i = 0; i < RP_LANES; i++) {
                const double place = l->shift + x[i];
                inside[i] &= -(int32_t)(place >= b->from[a]) & -(int32_t)(place < b->to[a]);
            }
        }
    }
    unsigned bits = 0;
    for (int i = 0; i < RP_LANES; i++) {
        bits |= (unsigned)inside[i] & 1u << i;
    }
    return bits;
}

// Particles of a page that lie where they count.
static void smear_page(smear *m, const rp_species *species, const rp_page *page,
                       const int32_t offset[3], law_lanes *lanes)
{
    const rp_set *set = species->set;
    const rp_layout *l = &set->layout;
    const int place = body_place(m, page->field, false);
    bool near = place >= 0;
    for (int a = 0; a < l->dim; a++) { // the cells that its particles are in
        const double first = page->reach_lo[a] - 1 + l->shift + (double)(offset[a] * l->cells[a]);
        const int cells = page->reach_hi[a] - page->reach_lo[a] - l->order;
        near = near && first < m->upper[a] && first + cells >= m->lower[a];
    }
    if (!near) {
        return;
    }
    between counts = {0};
    for (int a = 0; a < l->dim; a++) {
        counts.from[a] = m->lower[a] - (double)(offset[a] * l->cells[a]);
        counts.to[a] = m->upper[a] - (double)(offset[a] * l->cells[a]);
        counts.least[a] = fixed_of(counts.from[a] - l->shift);
        counts.end[a] = fixed_of(counts.to[a] - l->shift);
    }
    const rp_local end = page->first + page->count;
    for (rp_local tile = page->first; tile < end; tile += RP_LANES) {
        unsigned bits = lanes_between(set, tile, &counts);
        bool known = false;
        bits &= end - tile < RP_LANES ? (1u << (end - tile)) - 1 : ~0u;
        for (; bits != 0; bits &= bits - 1) {
            const rp_local slot = tile + __builtin_ctz(bits);
            double x[3], mass, volume, stress[6] = {0};
            if (is_dead(set, slot)) {
                continue;
            }
            if (!known) {
                tile_stress(m->job, species, tile, lanes);
                known = true;
            }
            const double modulus = m->job->modulus[material_of(set, slot)];
            m->modulus = modulus > m->modulus ? modulus : m->modulus;
            read_place(set, slot, x);
            for (int a = 0; a < l->dim; a++) {
                x[a] += (double)(offset[a] * l->cells[a]);
            }
            rp_set_measure(set, page, slot, &mass, &volume);
            for (int i = 0; i < rp_sym_comps(l->dim); i++) {
                stress[i] = lanes->all[i][slot - tile];
            }
            if (m->forces) {
                give_force(m, place, x, volume, mass, stress);
            } else {
                give_stress(m, place, x, volume, volume * volume_ratio(set, slot), stress);
            }
        }
    }
}

// Everybody around a page of glue.
static void smear_around(smear *m, law_lanes *lanes)
{
    const rp_glue_job *job = m->job;
    const rp_set *glue = job->species[job->glue].set;
    const rp_layout *l = &job->grid->layout;
    m->bodies = 0;
    m->modulus = 0.0;
    m->step = m->forces ? 1.0 : STEP;
    for (int a = 0; a < 3; a++) {
        m->from[a] = m->lower[a] = m->upper[a] = 0.0;
        m->side[a] = 1;
        double least = INFINITY, most = -INFINITY;
        for (rp_local slot = m->page->first; slot < m->page->first + m->page->count; slot++) {
            double x[3];
            read_place(glue, slot, x);
            if (is_due(glue, slot)) {
                least = fmin(least, x[a]);
                most = fmax(most, x[a]);
            }
        }
        // glue may have left its block by a cell
        least = fmax(least, -1.5);
        most = fmin(most, l->cells[a] + 1.5);
        if (a >= l->dim || !(least <= most)) {
            continue;
        }
        if (m->forces) { // nodes of the grid that glue reaches
            const double half = 0.5 * (l->order + 1);
            m->from[a] = floor(least - l->shift);
            m->side[a] = (int)(floor(most - l->shift) - m->from[a]) + l->order + 1;
            m->lower[a] = m->from[a] - half;
            m->upper[a] = m->from[a] + m->side[a] - 1 + half;
        } else { // particles up to a step away give to nodes that glue takes from
            const double first = m->step * floor(least / m->step);
            const int nodes = (int)((most - first) / m->step) + 2;
            m->from[a] = first - m->step;
            m->side[a] = nodes + 2;
            m->lower[a] = m->from[a];
            m->upper[a] = m->from[a] + (nodes + 1) * m->step;
        }
    }
    // only those that glue asks for
    for (rp_local slot = m->page->first; slot < m->page->first + m->page->count; slot++) {
        if (is_due(glue, slot)) {
            body_place(m, m->page->field, true);
            body_place(m, partner_of(glue, slot), true);
        }
    }
    for (int s = 0; s < job->species_count; s++) {
        const rp_species *species = &job->species[s];
        for (int n = 0; n < RP_NEAR && rp_set_has_mass(species->set); n++) {
            int32_t offset[3];
            uint64_t key;
            if (!neighbour(l, m->page->block, n, offset, &key)) {
                continue;
            }
            const rp_page *page = rp_set_page(species->set);
            for (rp_local p = find_block(species->set, key);
                 p < species->set->pages && page[p].key == key; p++) {
                smear_page(m, species, &page[p], offset, lanes);
            }
        }
    }
}

// ---- the criterion ----

// The mean Cauchy stress of two bodies around a place. @return false: there is nothing
static bool mean_stress(smear *m, const double x[3], int b, int d, double out[3][3])
{
    const int dim = m->job->grid->layout.dim;
    const size_t nodes = (size_t)(m->side[0] * m->side[1] * m->side[2]);
    const int place[2] = {body_place(m, b, false), body_place(m, d, false)};
    eight_doubles sum = {0};
    double weight[8];
    int node[8];
    for (int a = 0; a < dim; a++) {
        if (!(x[a] >= m->from[a] && x[a] < m->from[a] + (m->side[a] - 1) * m->step)) {
            return false; // runs away
        }
    }
    const int count = weights_at(m, x, node, weight);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < count && place[k] >= 0; i++) {
            sum += m->sum[(size_t)place[k] * nodes + (size_t)node[i]] * weight[i];
        }
    }
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            out[i][j] = sum[0] > 0.0 ? sum[1 + SYM_AT[dim - 2][i][j]] / sum[0] : 0.0;
        }
    }
    return sum[0] > 0.0;
}

// How much of what glue withstands is used up, docs/theory.md (C3): at 1 it breaks.
static double use_of(const rp_glue_rule *rule, double strength, const double stress[3][3],
                     const double normal[3], int dim)
{
    double traction[3] = {0}, across = 0.0, along2 = 0.0;
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            traction[i] += stress[i][j] * normal[j];
        }
        across += traction[i] * normal[i];
    }
    for (int i = 0; i < dim; i++) {
        const double along = traction[i] - across * normal[i];
        along2 += along * along;
    }
    const double pull = across > 0.0 ? across / strength : 0.0;
    const double shear = rule->shear * strength + rule->friction * (across < 0.0 ? -across : 0.0);
    return sqrt(pull * pull + along2 / (shear * shear));
}

// ---- the criterion of the paper ----

// Wretborn (2017) (20), with outward normals and the sign that lets tension break:
// docs/theory.md (C5). @return the force between two bodies at a node, without what presses
static double force_between(const double *b, const double *d, int dim)
{
    double normal[3] = {0}, gap[3] = {0}, bb = 0.0, dd = 0.0, nn = 0.0, push_b = 0.0, push_d = 0.0;
    double force2 = 0.0;
    for (int a = 0; a < dim; a++) {
        bb += b[3 + a] * b[3 + a];
        dd += d[3 + a] * d[3 + a];
    }
    if (!(bb > 0.0 && dd > 0.0)) {
        return 0.0;
    }
    for (int a = 0; a < dim; a++) {
        normal[a] = b[3 + a] / sqrt(bb) - d[3 + a] / sqrt(dd);
        nn += normal[a] * normal[a];
    }
    for (int a = 0; a < dim && nn > 0.0; a++) {
        normal[a] /= sqrt(nn);
        push_b += b[a] * normal[a];
        push_d -= d[a] * normal[a];
    }
    push_b = push_b > 0.0 ? push_b : 0.0;
    push_d = push_d > 0.0 ? push_d : 0.0;
    for (int a = 0; a < dim; a++) {
        gap[a] = b[a] - push_b * normal[a] - (d[a] + push_d * normal[a]);
        force2 += gap[a] * gap[a];
    }
    return sqrt(force2);
}

// Strengths of all glue between two bodies, at the nodes of the lattice.
static void hold_nodes(smear *m, int partner)
{
    const rp_set *set = m->job->species[m->job->glue].set;
    const rp_layout *l = &set->layout;
    const rp_page *page = rp_set_page(set);
    memset(m->held, 0, (size_t)(m->side[0] * m->side[1] * m->side[2]) * sizeof *m->held);
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t offset[3];
        uint64_t key;
        if (!neighbour(l, m->page->block, n, offset, &key)) {
            continue;
        }
        for (rp_local p = find_block(set, key); p < set->pages && page[p].key == key; p++) {
            for (rp_local slot = page[p].first;
                 slot < page[p].first + page[p].count && page[p].field == m->page->field; slot++) {
                const double strength = read_real(set, RP_COL_STRENGTH, slot, 0);
                double x[3];
                reached r;
                if (!(strength > 0.0) || is_dead(set, slot) || partner_of(set, slot) != partner) {
                    continue;
                }
                read_place(set, slot, x);
                for (int a = 0; a < l->dim; a++) {
                    x[a] += (double)(offset[a] * l->cells[a]);
                }
                reach_from(m, x, &r);
                for (int k = 0; k < r.count; k++) {
                    m->held[r.node[k]][0] += r.weight[k] * strength;
                    m->held[r.node[k]][1] += r.weight[k];
                }
            }
        }
    }
}

// Nodes whose glue between two bodies gives way.
static void open_nodes(smear *m, int partner)
{
    const int dim = m->job->grid->layout.dim;
    const size_t nodes = (size_t)(m->side[0] * m->side[1] * m->side[2]);
    const int b = body_place(m, m->page->field, false), d = body_place(m, partner, false);
    hold_nodes(m, partner);
    for (size_t n = 0; n < nodes; n++) {
        m->open[n] = b >= 0 && d >= 0 && m->held[n][1] > 0.0 &&
                     force_between((const double *)&m->sum[(size_t)b * nodes + n],
                                   (const double *)&m->sum[(size_t)d * nodes + n],
                                   dim) >= m->held[n][0] / m->held[n][1];
    }
}

// Does glue reach an open node?
static bool gives_way(const smear *m, const double x[3])
{
    reached r;
    bool any = false;
    reach_from(m, x, &r);
    for (int k = 0; k < r.count; k++) {
        any = any || (m->open[r.node[k]] && r.weight[k] > 0.0);
    }
    return any;
}

// ---- all of it ----

// Where a slack is asked for.
static const double BREAKS = -1.0, SOFTENS = -2.0, AS_IT_WAS = INFINITY;

typedef struct breaking {
    const rp_glue_job *job;
    smear *smear;     // [thread]
    law_lanes *lanes; // [thread]
    double *slack;    // [slot]: strengths stay as they are while others look at them
    int32_t *broken;  // [page]
    bool forces;      // now it is the turn of the paper's criterion
} breaking;

static const rp_glue_rule *rule_of(const rp_glue_job *job, rp_local slot)
{
    return &job->rule[material_of(job->species[job->glue].set, slot)];
}

// Is it glue that is due, and by this criterion?
static bool is_work(const breaking *b, rp_local slot)
{
    return is_due(b->job->species[b->job->glue].set, slot) &&
           (rule_of(b->job, slot)->criterion == RP_CRITERION_PAPER) == b->forces;
}

static bool has_work(const breaking *b, const rp_page *page)
{
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        if (is_work(b, slot)) {
            return true;
        }
    }
    return false;
}

// What it says of one particle of glue. @param[out] slack 0 or what may be added; where nothing is
// around it, nobody knows. @return true: its strength is overcome
static bool judge(smear *m, rp_local slot, int *partner, double *slack)
{
    const rp_glue_job *job = m->job;
    const rp_set *set = job->species[job->glue].set;
    const rp_glue_rule *rule = rule_of(job, slot);
    const double strength = read_real(set, RP_COL_STRENGTH, slot, 0);
    const int other = partner_of(set, slot);
    double x[3], normal[3] = {0}, stress[3][3] = {{0}};
    read_place(set, slot, x);
    *slack = 0.0; // forces at nodes may be anything in the next step
    if (m->forces) {
        if (other != *partner) {
            open_nodes(m, other);
            *partner = other;
        }
        return gives_way(m, x);
    }
    for (int a = 0; a < set->layout.dim; a++) {
        normal[a] = read_real(set, RP_COL_NORMAL, slot, a);
    }
    if (!mean_stress(m, x, m->page->field, other, stress)) {
        return false;
    }
    const double use = use_of(rule, strength, stress, normal, set->layout.dim);
    const double weaker = rule->shear < 1.0 ? rule->shear * strength : strength;
    if (!(use < 1.0)) {
        return true;
    }
    // twice what the gradient can add: it turns, and sees particles that are strained faster
    static const double SAFE = 2.0;
    *slack = (1.0 - use) * weaker / (1.0 + rule->friction) / (SAFE * m->modulus);
    return false;
}

static void break_page(void *ctx, int64_t index, int thread)
{
    const breaking *b = ctx;
    const rp_set *set = b->job->species[b->job->glue].set;
    const rp_page *page = &rp_set_page(set)[index];
    smear *m = &b->smear[thread];
    int partner = -1;
    if (!has_work(b, page)) {
        return;
    }
    m->page = page;
    m->forces = b->forces;
    smear_around(m, &b->lanes[thread]);
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        double slack;
        if (is_work(b, slot)) {
            const bool gone = softens(set, slot);
            const bool gives = gone || judge(m, slot, &partner, &slack);
            const bool breaks = gives && (gone || !(rule_of(b->job, slot)->softening > 0.0));
            b->slack[slot] = breaks ? BREAKS : gives ? SOFTENS : slack;
            b->broken[index] += breaks;
        }
    }
}

// How many bodies may be around a page, at most.
static int bodies_around(const rp_glue_job *job, const rp_page *page)
{
    int count = 0;
    for (int s = 0; s < job->species_count; s++) {
        const rp_set *set = job->species[s].set;
        for (int n = 0; n < RP_NEAR && rp_set_has_mass(set); n++) {
            int32_t offset[3];
            uint64_t key;
            if (!neighbour(&job->grid->layout, page->block, n, offset, &key)) {
                continue;
            }
            const rp_page *there = rp_set_page(set);
            for (rp_local p = find_block(set, key); p < set->pages && there[p].key == key; p++) {
                count++;
            }
        }
    }
    return count < BODIES_MOST ? count : BODIES_MOST;
}

static int find_crack(const rp_crack *list, int count, int b, int d)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        const rp_crack *k = &list[middle];
        if (k->body[0] < b || (k->body[0] == b && k->body[1] < d)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// What broke, page by page.
static int sum_cracks(const breaking *b, rp_crack *list)
{
    const rp_set *set = b->job->species[b->job->glue].set;
    int count = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count && b->broken[p] > 0;
             slot++) {
            if (b->slack[slot] != BREAKS) {
                continue;
            }
            const int own = page->field, other = partner_of(set, slot);
            const int at = find_crack(list, count, own, other);
            if (at == count || list[at].body[0] != own || list[at].body[1] != other) {
                memmove(&list[at + 1], &list[at], (size_t)(count - at) * sizeof *list);
                list[at] = (rp_crack){.body = {own, other}};
                count++;
            }
            list[at].area += read_real(set, RP_COL_AREA, slot, 0);
            list[at].glue++;
        }
    }
    return count;
}

rp_result rp_glue_judge(const rp_glue_job *job, rp_verdict *out)
{
    static const char what[] = "stress around glue";
    const rp_set *set = job->species[job->glue].set;
    const size_t threads = (size_t)job->threads, pages = (size_t)set->pages + 1;
    breaking b = {.job = job};
    *out = (rp_verdict){0};
    int most = 2;
    for (rp_local p = 0; p < set->pages; p++) {
        const int around = bodies_around(job, &rp_set_page(set)[p]);
        most = around > most ? around : most;
    }
    b.smear = rp_scratch_get(job->scratch, threads * sizeof *b.smear, what);
    b.lanes = rp_scratch_get(job->scratch, threads * sizeof *b.lanes, what);
    b.slack = rp_scratch_get(job->scratch, ((size_t)set->slots + 1) * sizeof *b.slack, what);
    b.broken = rp_scratch_get(job->scratch, pages * sizeof *b.broken, what);
    if (b.smear == NULL || b.lanes == NULL || b.slack == NULL || b.broken == NULL) {
        return RP_ERR_MEMORY;
    }
    for (size_t t = 0; t < threads; t++) {
        smear *m = &b.smear[t];
        *m = (smear){.job = job, .room = most};
        m->sum = rp_scratch_get(job->scratch, (size_t)most * NODES_MOST * sizeof *m->sum, what);
        m->held = rp_scratch_get(job->scratch, NODES_MOST * sizeof *m->held, what);
        m->open = rp_scratch_get(job->scratch, NODES_MOST * sizeof *m->open, what);
        if (m->sum == NULL || m->held == NULL || m->open == NULL) {
            return RP_ERR_MEMORY;
        }
    }
    for (rp_local slot = 0; slot < set->slots; slot++) {
        b.slack[slot] = AS_IT_WAS;
    }
    memset(b.broken, 0, pages * sizeof *b.broken);
    for (int forces = 0; forces < 2; forces++) {
        b.forces = forces;
        rp_parallel_for(job->threads, set->pages, 1, break_page, &b);
    }
    out->slack = b.slack;
    int64_t broken = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        broken += b.broken[p];
    }
    if (broken == 0) {
        return RP_OK;
    }
    out->crack = rp_scratch_get(job->scratch, (size_t)(broken + 1) * sizeof *out->crack, what);
    if (out->crack == NULL) {
        return RP_ERR_MEMORY;
    }
    out->cracks = sum_cracks(&b, out->crack);
    return RP_OK;
}

static const double BEGINS = 1e-30; // more than nothing [m]

void rp_glue_settle(rp_set *set, const rp_verdict *verdict)
{
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            const double slack = verdict->slack[slot];
            if (slack == BREAKS) {
                write_real(set, RP_COL_STRENGTH, slot, 0, 0.0);
            } else if (slack == SOFTENS) {
                write_real(set, RP_COL_OPENING, slot, 0, BEGINS);
                write_real(set, RP_COL_SLACK, slot, 0, 1.0);
            } else if (slack != AS_IT_WAS) {
                write_real(set, RP_COL_SLACK, slot, 0, slack);
            }
        }
    }
}

int64_t rp_glue_clear(rp_set *set)
{
    int64_t gone = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            if (!is_there(set, slot) && !is_dead(set, slot)) {
                rp_set_kill(set, slot);
                gone++;
            }
        }
    }
    return gone;
}

// ---- holding ----

static int64_t pairs_of(int64_t n) { return n * (n - 1) / 2; }

static int64_t pair_number(int pages, int b, int d)
{
    return pairs_of(pages) - pairs_of(pages - b) + d - b - 1;
}

static void box_page(void *ctx, int64_t index, int thread)
{
    (void)thread;
    const rp_glue *g = ctx;
    const rp_set *set = g->set;
    const rp_layout *l = &set->layout;
    const rp_page *page = &rp_set_page(set)[index];
    const double reach = 0.5 * (l->order + 1) + MARGIN;
    enum { LAST = 8 }; // several lie in a cell: one of them holds what all do
    struct glue_box all = {.low = {INT16_MAX, INT16_MAX, INT16_MAX},
                           .high = {INT16_MIN, INT16_MIN, INT16_MIN},
                           .partner = -1};
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        struct glue_box box = {.partner = -1};
        double x[3];
        all.soft |= softens(set, slot);
        if (!holds(set, slot)) {
            continue;
        }
        read_place(set, slot, x);
        box.partner = all.partner = partner_of(set, slot);
        for (int a = 0; a < l->dim; a++) {
            const double at = fmin(fmax(x[a], -100.0), 100.0); // a runaway is told elsewhere
            box.low[a] = (int16_t)ceil(at - reach);
            box.high[a] = (int16_t)floor(at + reach);
        }
        bool again = false;
        for (int i = all.boxes > LAST ? all.boxes - LAST : 0; i < all.boxes && !again; i++) {
            again = memcmp(&g->box[page->first + i], &box, sizeof box) == 0;
        }
        if (again) {
            continue;
        }
        g->box[page->first + all.boxes++] = box;
        for (int a = 0; a < 3; a++) {
            all.low[a] = box.low[a] < all.low[a] ? box.low[a] : all.low[a];
            all.high[a] = box.high[a] > all.high[a] ? box.high[a] : all.high[a];
        }
    }
    g->pages[index] = all;
}

rp_result rp_glue_begin(rp_glue *g, const rp_grid *grid, rp_set *set, const rp_glue_rule *rule,
                        double dt, double least, int threads, rp_scratch *scratch)
{
    static const char what[] = "nodes that glue holds";
    *g = (rp_glue){.grid = grid, .set = set, .rule = rule, .dt = dt, .least = least};
    rp_local most = 2;
    for (rp_local b = 0; b < grid->blocks; b++) {
        const rp_local count = rp_grid_block(grid)[b].count;
        most = count > most ? count : most;
    }
    g->room = rp_scratch_get(scratch, (size_t)threads * sizeof *g->room, what);
    for (int t = 0; t < threads && g->room != NULL; t++) {
        struct glue_room *room = &g->room[t];
        const size_t pairs = (size_t)pairs_of(most);
        room->bond = rp_scratch_get(scratch, pairs * sizeof *room->bond, what);
        room->some = rp_scratch_get(scratch, pairs * sizeof *room->some, what);
        room->root = rp_scratch_get(scratch, (size_t)most * sizeof *room->root, what);
        room->here = rp_scratch_get(scratch, (size_t)most * sizeof *room->here, what);
        room->unit = rp_scratch_get(scratch, (size_t)most * sizeof *room->unit, what);
        if (room->bond == NULL || room->some == NULL || room->root == NULL || room->here == NULL ||
            room->unit == NULL) {
            return RP_ERR_MEMORY;
        }
    }
    g->box = rp_scratch_get(scratch, (size_t)(set->slots + 1) * sizeof *g->box, what);
    g->pages = rp_scratch_get(scratch, (size_t)(set->pages + 1) * sizeof *g->pages, what);
    if (g->room == NULL || g->box == NULL || g->pages == NULL) {
        return RP_ERR_MEMORY;
    }
    rp_parallel_for(threads, set->pages, 8, box_page, g);
    return RP_OK;
}

// The place of a field among the pages of a block; -1: it has none.
static int page_of_field(const rp_grid *grid, const rp_node_block *block, int field)
{
    const rp_node_page *page = rp_grid_page(grid) + block->first;
    int low = 0, high = block->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (page[middle].field < field) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < block->count && page[low].field == field ? low : -1;
}

// What of a box, moved by `away` nodes, lies in a block. @return false: nothing
static bool clip_box(const rp_layout *l, const struct glue_box *box, const int away[3], int low[3],
                     int high[3])
{
    bool any = box->partner >= 0;
    for (int a = 0; a < 3; a++) {
        const int first = box->low[a] + away[a], last = box->high[a] + away[a];
        low[a] = first > 0 ? first : 0;
        high[a] = last < l->cells[a] - 1 ? last : l->cells[a] - 1;
        any = any && low[a] <= high[a];
    }
    return any;
}

// A row of nodes lies within one word.
static void add_bond(const rp_layout *l, const int low[3], const int high[3],
                     uint64_t bond[MASK_WORDS])
{
    const uint64_t row = (1ull << (high[2] - low[2] + 1)) - 1;
    for (int i = low[0]; i <= high[0]; i++) {
        for (int j = low[1]; j <= high[1]; j++) {
            const int n = (i * l->cells[1] + j) * l->cells[2] + low[2];
            bond[n / 64] |= row << n % 64;
        }
    }
}

bool rp_glue_bind(const rp_glue *g, rp_local b, int thread)
{
    const rp_grid *grid = g->grid;
    const rp_layout *l = &grid->layout;
    const rp_node_block *block = &rp_grid_block(grid)[b];
    const int32_t *at = rp_grid_page(grid)[block->first].block;
    struct glue_room *room = &g->room[thread];
    const size_t pairs = (size_t)pairs_of(block->count);
    const rp_page *page = rp_set_page(g->set);
    bool any = false;
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t offset[3];
        uint64_t key;
        if (!neighbour(l, at, n, offset, &key)) {
            continue;
        }
        const int away[3] = {offset[0] * l->cells[0], offset[1] * l->cells[1],
                             offset[2] * l->cells[2]};
        int low[3], high[3];
        for (rp_local p = find_block(g->set, key); p < g->set->pages && page[p].key == key; p++) {
            if (!clip_box(l, &g->pages[p], away, low, high)) {
                continue;
            }
            const int own = page_of_field(grid, block, page[p].field);
            int partner = -1, other = -1; // the last one asked for
            for (int i = 0; i < g->pages[p].boxes && own >= 0; i++) {
                const struct glue_box *box = &g->box[page[p].first + i];
                if (!clip_box(l, box, away, low, high)) {
                    continue;
                }
                if (box->partner != partner) {
                    partner = box->partner;
                    other = page_of_field(grid, block, partner);
                }
                if (other < 0) {
                    continue;
                }
                if (!any) {
                    memset(room->bond, 0, pairs * sizeof *room->bond);
                    memset(room->some, 0, pairs * sizeof *room->some);
                    any = true;
                }
                const int64_t number = pair_number(block->count, own, other);
                add_bond(l, low, high, room->bond[number]);
                room->some[number] = true;
            }
        }
    }
    return any;
}

static int root_of(const int *root, int page)
{
    while (root[page] != page) {
        page = root[page];
    }
    return page;
}

int rp_glue_units(const rp_glue *g, rp_local b, int thread, int node, const int *here, int pages,
                  int *unit)
{
    const struct glue_room *room = &g->room[thread];
    const int all = rp_grid_block(g->grid)[b].count;
    int *root = room->root;
    for (int i = 0; i < pages; i++) {
        root[i] = i;
    }
    for (int i = 0; i < pages; i++) {
        for (int k = i + 1; k < pages; k++) {
            const int64_t number = pair_number(all, here[i], here[k]);
            if (room->some[number] && (room->bond[number][node / 64] >> node % 64 & 1)) {
                const int one = root_of(root, i), other = root_of(root, k);
                root[one > other ? one : other] = one < other ? one : other;
            }
        }
    }
    int units = 0;
    for (int i = 0; i < pages; i++) {
        unit[i] = root[i] == i ? units++ : unit[root_of(root, i)];
    }
    return units;
}

static double node_real(const rp_layout *l, const void *nodes, int at)
{
    return l->precision == RP_SINGLE ? (double)((const float *)nodes)[at]
                                     : ((const double *)nodes)[at];
}

static void put_node_real(const rp_layout *l, void *nodes, int at, double x)
{
    if (l->precision == RP_SINGLE) {
        ((float *)nodes)[at] = (float)x;
    } else {
        ((double *)nodes)[at] = x;
    }
}

// Pages of a unit get their common velocity; where there is one from before the forces (FLIP), that
// too, since what counts there is the change.
static void merge_unit(const rp_glue *g, const rp_node_block *block, int n, const int *here,
                       const int *unit, int pages, int which)
{
    static const int channels[] = {RP_CH_MOMENTUM, RP_CH_IMPULSE};
    const rp_layout *l = &g->grid->layout;
    double mass = 0.0, momentum[2][3] = {{0}};
    int count = 0;
    for (int i = 0; i < pages; i++) {
        if (unit[i] != which) {
            continue;
        }
        const void *q = rp_grid_nodes(g->grid, RP_CH_MOMENTUM, block->first + here[i]);
        const double m = node_real(l, q, n * RP_QUAD + 3);
        mass += m;
        count++;
        for (int c = 0; c < 2 && rp_grid_has(g->grid, channels[c]); c++) {
            const void *v = rp_grid_nodes(g->grid, channels[c], block->first + here[i]);
            for (int a = 0; a < l->dim; a++) {
                momentum[c][a] += m * node_real(l, v, n * RP_QUAD + a);
            }
        }
    }
    for (int i = 0; i < pages && count > 1; i++) {
        for (int c = 0; c < 2 && unit[i] == which && rp_grid_has(g->grid, channels[c]); c++) {
            void *v = rp_grid_nodes(g->grid, channels[c], block->first + here[i]);
            for (int a = 0; a < l->dim; a++) {
                put_node_real(l, v, n * RP_QUAD + a, momentum[c][a] / mass);
            }
        }
    }
}

void rp_glue_merge(const rp_glue *g, rp_local b, int thread, uint64_t (*mask)[MASK_WORDS],
                   uint64_t shared[MASK_WORDS])
{
    const rp_node_block *block = &rp_grid_block(g->grid)[b];
    const struct glue_room *room = &g->room[thread];
    uint64_t held[MASK_WORDS] = {0};
    for (int64_t k = 0; k < pairs_of(block->count); k++) {
        for (int w = 0; w < MASK_WORDS && room->some[k]; w++) {
            held[w] |= room->bond[k][w];
        }
    }
    for (int w = 0; w < MASK_WORDS; w++) {
        for (uint64_t bits = shared[w] & held[w]; bits != 0; bits &= bits - 1) {
            const int n = 64 * w + __builtin_ctzll(bits);
            int pages = 0;
            for (int p = 0; p < block->count; p++) {
                if (mask[p][w] >> n % 64 & 1) {
                    room->here[pages++] = p;
                }
            }
            const int units = rp_glue_units(g, b, thread, n, room->here, pages, room->unit);
            for (int u = 0; u < units && units < pages; u++) {
                merge_unit(g, block, n, room->here, room->unit, pages, u);
            }
            if (units == 1) {
                shared[w] &= ~(1ull << n % 64);
            }
        }
    }
}

// ---- softening ----

// Glue whose strength falls, and two of the pages at a node of a block.
typedef struct soft_glue {
    const rp_glue *glue;
    const rp_node_block *block;
    rp_local number; // of the block
    int thread, pages[2];
    bool bound;
    uint64_t (*mask)[MASK_WORDS];
    double normal[3];
    double strength, shear; // what is left across the cut [N], and of that along it
} soft_glue;

// What is left of its strength [Pa].
static double strength_left(const rp_set *set, rp_local slot, const rp_glue_rule *rule)
{
    const double left = 1.0 - read_real(set, RP_COL_OPENING, slot, 0) / rule->softening;
    return read_real(set, RP_COL_STRENGTH, slot, 0) * (left > 0.0 ? left : 0.0);
}

// Of a relative velocity, what comes apart across the normal and slides along it.
static double coming_apart(const double normal[3], int dim, double u[3], double *across)
{
    double length2 = 0.0;
    *across = 0.0;
    for (int a = 0; a < dim; a++) {
        *across += u[a] * normal[a];
    }
    for (int a = 0; a < dim; a++) {
        u[a] -= *across < 0.0 ? *across * normal[a] : 0.0;
        length2 += u[a] * u[a];
    }
    *across = *across > 0.0 ? *across : 0.0;
    return sqrt(length2);
}

// The force that it withstands is that of an ellipse; an impulse takes no more than all of what
// comes apart. What other glue holds together at the node goes along.
static void pull_at(const soft_glue *s, int n, double weight)
{
    const rp_glue *g = s->glue;
    const rp_layout *l = &g->grid->layout;
    struct glue_room *room = &g->room[s->thread];
    double mass[2] = {0}, v[2][3] = {{0}}, u[3] = {0}, across;
    int pages = 0, unit[2] = {-1, -1};
    for (int p = 0; p < s->block->count; p++) {
        if (s->mask[p][n / 64] >> n % 64 & 1) {
            room->unit[pages] = pages;
            room->here[pages++] = p;
        }
    }
    if (s->bound) {
        rp_glue_units(g, s->number, s->thread, n, room->here, pages, room->unit);
    }
    for (int i = 0; i < pages; i++) {
        for (int k = 0; k < 2; k++) {
            unit[k] = room->here[i] == s->pages[k] ? room->unit[i] : unit[k];
        }
    }
    if (unit[0] < 0 || unit[1] < 0 || unit[0] == unit[1]) {
        return;
    }
    for (int i = 0; i < pages; i++) {
        const void *q = rp_grid_nodes(g->grid, RP_CH_MOMENTUM, s->block->first + room->here[i]);
        for (int k = 0; k < 2 && (room->unit[i] == unit[0] || room->unit[i] == unit[1]); k++) {
            mass[k] += room->unit[i] == unit[k] ? node_real(l, q, n * RP_QUAD + 3) : 0.0;
            for (int a = 0; a < l->dim && room->here[i] == s->pages[k]; a++) {
                v[k][a] = node_real(l, q, n * RP_QUAD + a);
            }
        }
    }
    for (int a = 0; a < l->dim; a++) {
        u[a] = v[1][a] - v[0][a];
    }
    const double length = coming_apart(s->normal, l->dim, u, &across);
    if (!(length > 0.0)) {
        return;
    }
    const double c = across / length, along2 = 1.0 - c * c > 0.0 ? 1.0 - c * c : 0.0;
    const double force = s->strength / sqrt(c * c + along2 / (s->shear * s->shear));
    const double whole = mass[0] * mass[1] / (mass[0] + mass[1]) * length;
    const double impulse = fmin(force * weight * g->dt, whole);
    for (int i = 0; i < pages; i++) {
        void *q = rp_grid_nodes(g->grid, RP_CH_MOMENTUM, s->block->first + room->here[i]);
        for (int k = 0; k < 2; k++) {
            const double change = (k == 0 ? impulse : -impulse) / (length * mass[k]);
            for (int a = 0; a < l->dim && room->unit[i] == unit[k]; a++) {
                put_node_real(l, q, n * RP_QUAD + a, v[k][a] + change * u[a]);
            }
        }
    }
}

static void pull_around(const soft_glue *s, const double x[3])
{
    const rp_layout *l = &s->glue->grid->layout;
    double w[3][4] = {{1.0}, {1.0}, {1.0}};
    int base[3] = {0}, wide[3] = {1, 1, 1};
    for (int a = 0; a < l->dim; a++) {
        base[a] = (int)floor(x[a] - l->shift);
        wide[a] = l->order + 1;
        for (int i = 0; i <= l->order; i++) {
            double slope;
            w[a][i] = spline(x[a] - (base[a] + i), l->order, &slope);
        }
    }
    for (int k = 0; k < wide[0] * wide[1] * wide[2]; k++) {
        const int at[3] = {k / (wide[1] * wide[2]), k / wide[2] % wide[1], k % wide[2]};
        int n = 0;
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            const int node = base[a] + at[a];
            inside = inside && node >= 0 && node < l->cells[a];
            n = n * l->cells[a] + node;
        }
        const double weight = w[0][at[0]] * w[1][at[1]] * w[2][at[2]];
        if (inside && weight > 0.0) {
            pull_at(s, n, weight);
        }
    }
}

void rp_glue_soften(const rp_glue *g, rp_local b, int thread, bool bound,
                    uint64_t (*mask)[MASK_WORDS])
{
    const rp_layout *l = &g->grid->layout;
    const rp_node_block *block = &rp_grid_block(g->grid)[b];
    const int32_t *here = rp_grid_page(g->grid)[block->first].block;
    const rp_page *page = rp_set_page(g->set);
    soft_glue s = {
        .glue = g, .block = block, .number = b, .thread = thread, .bound = bound, .mask = mask};
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t offset[3];
        uint64_t key;
        if (!neighbour(l, here, n, offset, &key)) {
            continue;
        }
        for (rp_local p = find_block(g->set, key); p < g->set->pages && page[p].key == key; p++) {
            s.pages[0] = g->pages[p].soft ? page_of_field(g->grid, block, page[p].field) : -1;
            for (rp_local slot = page[p].first;
                 slot < page[p].first + page[p].count && s.pages[0] >= 0; slot++) {
                const rp_glue_rule *rule = &g->rule[material_of(g->set, slot)];
                double x[3];
                if (!softens(g->set, slot)) {
                    continue;
                }
                s.pages[1] = page_of_field(g->grid, block, partner_of(g->set, slot));
                if (s.pages[1] < 0) {
                    continue;
                }
                s.strength =
                    strength_left(g->set, slot, rule) * read_real(g->set, RP_COL_AREA, slot, 0);
                s.shear = rule->shear;
                read_place(g->set, slot, x);
                for (int a = 0; a < l->dim; a++) {
                    s.normal[a] = read_real(g->set, RP_COL_NORMAL, slot, a);
                    x[a] += (double)(offset[a] * l->cells[a]);
                }
                pull_around(&s, x);
            }
        }
    }
}

// ---- moving ----

typedef struct moving {
    const rp_glue *glue;
    double dt;
    double *move; // [thread]: the farthest of any [cells]
} moving;

// Where the nodes of two fields around a block are; NULL: nowhere.
typedef struct surroundings {
    int32_t field[2];
    const void *nodes[RP_NEAR][2];
} surroundings;

static void look_around(const rp_glue *g, const rp_page *page, int b, int d, surroundings *out)
{
    if (out->field[0] == b && out->field[1] == d) {
        return;
    }
    *out = (surroundings){.field = {b, d}};
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t offset[3];
        uint64_t key;
        const bool there = neighbour(&g->grid->layout, page->block, n, offset, &key);
        for (int k = 0; k < 2 && there; k++) {
            const uint32_t found = rp_grid_find(g->grid, key, (uint16_t)out->field[k]);
            out->nodes[n][k] = found != RP_NO_PAGE
                                   ? rp_grid_nodes(g->grid, RP_CH_MOMENTUM, (rp_local)found)
                                   : NULL;
        }
    }
}

#define ALWAYS static inline __attribute__((always_inline))

// The nodes around a place: along each axis the block that they are in (0 to 2), their number in
// it, weights and slopes [1/cell].
typedef struct stencil {
    int block[3][4], within[3][4];
    double w[3][4], s[3][4];
} stencil;

// @return false: it has left the blocks around its own, which is told elsewhere
ALWAYS bool find_stencil(const rp_layout *l, const double x[3], stencil *out, const int dim,
                         const int order)
{
    for (int a = 0; a < dim; a++) {
        const int base = (int)floor(x[a] - l->shift);
        if (base < -l->cells[a] || base + order + 1 > 2 * l->cells[a]) {
            return false;
        }
        const double d = x[a] - base;
        if (order == 2) { // without a question
            const double below = 1.5 - d, above = d - 0.5;
            const double w[] = {0.5 * below * below, 0.75 - (d - 1.0) * (d - 1.0),
                                0.5 * above * above};
            const double slope[] = {-below, -2.0 * (d - 1.0), above};
            memcpy(out->w[a], w, sizeof w);
            memcpy(out->s[a], slope, sizeof slope);
        }
        for (int i = 0; i <= order; i++) {
            const int node = base + i;
            if (order != 2) {
                out->w[a][i] = spline(d - i, order, &out->s[a][i]);
            }
            out->block[a][i] = node < 0 ? 0 : node >= l->cells[a] ? 2 : 1;
            out->within[a][i] = node - (out->block[a][i] - 1) * l->cells[a];
        }
    }
    if (dim == 2) {
        out->block[2][0] = 1;
        out->within[2][0] = 0;
        out->w[2][0] = 1.0;
        out->s[2][0] = 0.0;
    }
    return true;
}

// Sums over the nodes that are there, of weights and slopes times the velocity, with 1 behind its
// three numbers. Glue that holds has merged all nodes that it reaches: either of its pieces has
// their velocity. Of glue that broke it does not matter.
typedef float four_floats __attribute__((vector_size(16)));

ALWAYS void sum_floats(const surroundings *around, const stencil *t, const int32_t cells[3],
                       double least, double out[4][4], const int dim, const int order)
{
    four_floats sum[4] = {{0}};
    for (int i = 0; i <= order; i++) {
        for (int j = 0; j <= order; j++) {
            const int row = (t->within[0][i] * cells[1] + t->within[1][j]) * cells[2];
            const void *const(*column)[2] =
                around->nodes + (ptrdiff_t)(t->block[0][i] * 3 + t->block[1][j]) * 3;
            four_floats along = {0}, sloped = {0};
            for (int k = 0; k <= (dim == 3 ? order : 0); k++) {
                const int n = RP_QUAD * (row + t->within[2][k]);
                const float *one = column[t->block[2][k]][0];
                if (one == NULL || !(one[n + 3] > (float)least)) {
                    one = column[t->block[2][k]][1];
                    if (one == NULL || !(one[n + 3] > (float)least)) {
                        continue;
                    }
                }
                four_floats u;
                memcpy(&u, one + n, sizeof u);
                u[3] = 1.0f;
                along += u * (float)t->w[2][k];
                sloped += u * (float)t->s[2][k];
            }
            const float flat = (float)(t->w[0][i] * t->w[1][j]);
            sum[0] += along * (float)(t->s[0][i] * t->w[1][j]);
            sum[1] += along * (float)(t->w[0][i] * t->s[1][j]);
            sum[2] += sloped * flat;
            sum[3] += along * flat;
        }
    }
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            out[i][k] = (double)sum[i][k];
        }
    }
}

static void sum_doubles(const surroundings *around, const stencil *t, const int32_t cells[3],
                        double least, double out[4][4], int dim, int order)
{
    memset(out, 0, 4 * sizeof *out);
    for (int i = 0; i <= order; i++) {
        for (int j = 0; j <= order; j++) {
            const int row = (t->within[0][i] * cells[1] + t->within[1][j]) * cells[2];
            for (int k = 0; k <= (dim == 3 ? order : 0); k++) {
                const int near = (t->block[0][i] * 3 + t->block[1][j]) * 3 + t->block[2][k];
                const int n = RP_QUAD * (row + t->within[2][k]);
                const double *one = around->nodes[near][0], *other = around->nodes[near][1];
                if (one == NULL || !(one[n + 3] > least)) {
                    one = other;
                }
                if (one == NULL || !(one[n + 3] > least)) {
                    continue;
                }
                const double u[4] = {one[n], one[n + 1], one[n + 2], 1.0};
                const double share[4] = {
                    t->s[0][i] * t->w[1][j] * t->w[2][k], t->w[0][i] * t->s[1][j] * t->w[2][k],
                    t->w[0][i] * t->w[1][j] * t->s[2][k], t->w[0][i] * t->w[1][j] * t->w[2][k]};
                for (int r = 0; r < 4; r++) {
                    for (int c = 0; c < 4; c++) {
                        out[r][c] += share[r] * u[c];
                    }
                }
            }
        }
    }
}

// Velocity and its gradient [m/s], [1/s] at a place of a block.
static void find_flow(const rp_glue *g, const surroundings *around, const double x[3], double v[3],
                      double gradient[3][3])
{
    const rp_layout *l = &g->grid->layout;
    stencil t;
    double sum[4][4];
    // what most worlds have is known when this is compiled
    if (l->dim == 3 && l->order == 2 && l->precision == RP_SINGLE) {
        if (!find_stencil(l, x, &t, 3, 2)) {
            return;
        }
        sum_floats(around, &t, l->cells, g->least, sum, 3, 2);
    } else {
        if (!find_stencil(l, x, &t, l->dim, l->order)) {
            return;
        }
        if (l->precision == RP_SINGLE) {
            sum_floats(around, &t, l->cells, g->least, sum, l->dim, l->order);
        } else {
            sum_doubles(around, &t, l->cells, g->least, sum, l->dim, l->order);
        }
    }
    for (int a = 0; a < l->dim; a++) {
        v[a] = sum[3][3] > 0.0 ? sum[3][a] / sum[3][3] : 0.0;
        for (int k = 0; k < l->dim; k++) {
            // as if nodes that are not there had the velocity of the place
            gradient[a][k] = (sum[k][a] - v[a] * sum[k][3]) / l->h;
        }
    }
}

// The same where the two pieces have velocities of their own: those of their mass, and how fast the
// second leaves the first [m/s].
static void find_parting(const rp_glue *g, const surroundings *around, const double x[3],
                         double v[3], double gradient[3][3], double parting[3])
{
    const rp_layout *l = &g->grid->layout;
    double sum[4][4] = {{0}}, both = 0.0;
    stencil t;
    if (!find_stencil(l, x, &t, l->dim, l->order)) {
        return;
    }
    const int wide = l->order + 1, deep = l->dim == 3 ? wide : 1;
    for (int k = 0; k < wide * wide * deep; k++) {
        const int at[3] = {k / (wide * deep), k / deep % wide, k % deep};
        const int near = (t.block[0][at[0]] * 3 + t.block[1][at[1]]) * 3 + t.block[2][at[2]];
        const int n =
            RP_QUAD * ((t.within[0][at[0]] * l->cells[1] + t.within[1][at[1]]) * l->cells[2] +
                       t.within[2][at[2]]);
        double mass[2] = {0}, u[2][3] = {{0}};
        for (int i = 0; i < 2 && t.w[0][at[0]] > 0.0; i++) {
            const void *q = around->nodes[near][i];
            mass[i] = q != NULL ? node_real(l, q, n + 3) : 0.0;
            mass[i] = mass[i] > g->least ? mass[i] : 0.0;
            for (int a = 0; a < l->dim && mass[i] > 0.0; a++) {
                u[i][a] = node_real(l, q, n + a);
            }
        }
        if (!(mass[0] + mass[1] > 0.0)) {
            continue;
        }
        const double w = t.w[0][at[0]] * t.w[1][at[1]] * t.w[2][at[2]];
        const double share[4] = {t.s[0][at[0]] * t.w[1][at[1]] * t.w[2][at[2]],
                                 t.w[0][at[0]] * t.s[1][at[1]] * t.w[2][at[2]],
                                 t.w[0][at[0]] * t.w[1][at[1]] * t.s[2][at[2]], w};
        const bool meet = mass[0] > 0.0 && mass[1] > 0.0;
        both += meet ? w : 0.0;
        for (int c = 0; c <= 3; c++) {
            const double mean =
                c < 3 ? (mass[0] * u[0][c] + mass[1] * u[1][c]) / (mass[0] + mass[1]) : 1.0;
            for (int r = 0; r < 4; r++) {
                sum[r][c] += share[r] * mean;
            }
            if (c < 3) {
                parting[c] += meet ? w * (u[1][c] - u[0][c]) : 0.0;
            }
        }
    }
    for (int a = 0; a < l->dim; a++) {
        v[a] = sum[3][3] > 0.0 ? sum[3][a] / sum[3][3] : 0.0;
        parting[a] = both > 0.0 ? parting[a] / both : 0.0;
        for (int k = 0; k < l->dim; k++) {
            gradient[a][k] = (sum[k][a] - v[a] * sum[k][3]) / l->h;
        }
    }
}

// What softens opens by what comes apart and slides. All is gone once nothing is left of its
// strength, or of one of its pieces around it.
static void open_further(const moving *m, rp_local slot, const double normal[3], double parting[3])
{
    const rp_set *set = m->glue->set;
    const double softening = m->glue->rule[material_of(set, slot)].softening;
    double across;
    const double opening = read_real(set, RP_COL_OPENING, slot, 0) +
                           m->dt * coming_apart(normal, set->layout.dim, parting, &across);
    write_real(set, RP_COL_OPENING, slot, 0, opening);
    write_real(set, RP_COL_SLACK, slot, 0, opening < softening ? 1.0 : 0.0);
}

static const double RUNAWAY = 8.0; // [cells]

static void move_page(void *ctx, int64_t index, int thread)
{
    const moving *m = ctx;
    const rp_glue *g = m->glue;
    const rp_set *set = g->set;
    const rp_layout *l = &set->layout;
    const rp_page *page = &rp_set_page(set)[index];
    surroundings around = {.field = {-1, -1}};
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        double x[3], v[3] = {0}, gradient[3][3] = {{0}}, normal[3] = {0}, turned[3] = {0};
        double parting[3] = {0};
        if (is_dead(set, slot)) {
            continue;
        }
        look_around(g, page, page->field, partner_of(set, slot), &around);
        read_place(set, slot, x);
        const bool soft = softens(set, slot);
        if (soft) {
            find_parting(g, &around, x, v, gradient, parting);
        } else {
            find_flow(g, &around, x, v, gradient);
        }
        // a piece of surface that goes along: n' = -(grad v)^T n, and its area grows by the
        // divergence less the stretch across it
        double stretch = 0.0, divergence = 0.0, length2 = 0.0, steep2 = 0.0;
        for (int a = 0; a < l->dim; a++) {
            normal[a] = read_real(set, RP_COL_NORMAL, slot, a);
        }
        for (int a = 0; a < l->dim; a++) {
            turned[a] = normal[a];
            for (int k = 0; k < l->dim; k++) {
                turned[a] -= m->dt * gradient[k][a] * normal[k];
                stretch += normal[a] * gradient[a][k] * normal[k];
                steep2 += gradient[a][k] * gradient[a][k];
            }
            divergence += gradient[a][a];
            length2 += turned[a] * turned[a];
        }
        const double slack = read_real(set, RP_COL_SLACK, slot, 0) - m->dt * sqrt(steep2);
        if (soft) {
            open_further(m, slot, normal, parting);
        } else {
            write_real(set, RP_COL_SLACK, slot, 0, slack > 0.0 ? slack : 0.0);
        }
        const double length = sqrt(length2);
        for (int a = 0; a < l->dim && length > 0.0; a++) {
            write_real(set, RP_COL_NORMAL, slot, a, turned[a] / length);
        }
        const double area = read_real(set, RP_COL_AREA, slot, 0);
        const double grown = area * (1.0 + m->dt * (divergence - stretch));
        write_real(set, RP_COL_AREA, slot, 0, grown > 0.0 ? grown : area);
        for (int a = 0; a < l->dim; a++) {
            const double way = v[a] * m->dt / l->h;
            if (!(fabs(way) < RUNAWAY)) {
                continue; // who runs away is told elsewhere
            }
            void *at = rp_set_at(set, RP_COL_POSITION, slot, a);
            m->move[thread] = fmax(m->move[thread], fabs(way));
            if (l->precision == RP_SINGLE) {
                *(int32_t *)at += (int32_t)floor(way * (1 << RP_FIXED_BITS) + 0.5);
            } else {
                *(double *)at += way;
            }
        }
    }
}

double rp_glue_move(const rp_glue *g, int threads)
{
    enum { THREADS_MOST = 1024 };
    double move[THREADS_MOST] = {0}, most = 0.0;
    const int used = threads < THREADS_MOST ? threads : THREADS_MOST;
    const moving m = {g, g->dt, move};
    rp_parallel_for(used, g->set->pages, 2, move_page, (void *)(uintptr_t)&m);
    for (int t = 0; t < used; t++) {
        most = fmax(most, move[t]);
    }
    return most;
}
