// Particles give their stress to the nodes of a lattice around a page of glue, body by body, and
// glue takes it from there, both by splines of the first order. What comes out is a mean over two
// steps of the lattice to either side, for a tenth of the work that asking every particle takes;
// each page has a lattice of its own. Steps are wider than cells: among particles at random places
// stress is uneven from cell to cell.
#include "collide/glue_stress.h"

#include "collide/glue_set.h"

static const double STEP = 1.5; // [cells]

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
typedef struct rp_law_lanes {
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

int rp_smear_body(const rp_smear *m, int field)
{
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i] == field) {
            return i;
        }
    }
    return -1;
}

static void add_body(rp_smear *m, int field)
{
    const size_t nodes = rp_smear_nodes(m);
    if (rp_smear_body(m, field) < 0 && m->bodies < m->room) {
        memset(m->sum + (size_t)m->bodies * nodes, 0, nodes * sizeof *m->sum);
        m->body[m->bodies++] = field;
    }
}

// Nodes around a place and their weights. @return how many there are
static int weights_at(const rp_smear *m, const double x[3], int node[8], double weight[8])
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
static void give_stress(rp_smear *m, int place, const double x[3], double volume, double now,
                        const double stress[6])
{
    const size_t nodes = rp_smear_nodes(m);
    double weight[8];
    int node[8];
    const int count = weights_at(m, x, node, weight);
    rp_eight_doubles what = {now};
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
void rp_smear_find(const rp_smear *m, const double x[3], rp_smear_reach *out)
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

static void give_force(rp_smear *m, int place, const double x[3], double volume, double mass,
                       const double stress[6])
{
    const rp_layout *l = &m->job->grid->layout;
    const size_t nodes = rp_smear_nodes(m);
    rp_smear_reach r;
    rp_smear_find(m, x, &r);
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
static void smear_page(rp_smear *m, const rp_species *species, const rp_page *page,
                       const int32_t offset[3], bool forces)
{
    const rp_set *set = species->set;
    const rp_layout *l = &set->layout;
    const int place = rp_smear_body(m, page->field);
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
                tile_stress(m->job, species, tile, m->lanes);
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
                stress[i] = m->lanes->all[i][slot - tile];
            }
            if (forces) {
                give_force(m, place, x, volume, mass, stress);
            } else {
                give_stress(m, place, x, volume, volume * volume_ratio(set, slot), stress);
            }
        }
    }
}

// Everybody around a page of glue.
void rp_smear_around(rp_smear *m, const rp_page *around, bool forces)
{
    const rp_glue_job *job = m->job;
    const rp_set *glue = job->species[job->glue].set;
    const rp_layout *l = &job->grid->layout;
    m->page = around;
    m->bodies = 0;
    m->modulus = 0.0;
    m->step = forces ? 1.0 : STEP;
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
        if (forces) { // nodes of the grid that glue reaches
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
            add_body(m, m->page->field);
            add_body(m, partner_of(glue, slot));
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
                smear_page(m, species, &page[p], offset, forces);
            }
        }
    }
}

// ---- what comes out ----

// The mean Cauchy stress of two bodies around a place. @param[out] alone: one of them is not there.
// @return false: there is nothing
bool rp_smear_stress(const rp_smear *m, const double x[3], int b, int d, double out[3][3],
                     bool *alone)
{
    const int dim = m->job->grid->layout.dim;
    const size_t nodes = rp_smear_nodes(m);
    const int place[2] = {rp_smear_body(m, b), rp_smear_body(m, d)};
    rp_eight_doubles sum = {0};
    double weight[8];
    int node[8];
    for (int a = 0; a < dim; a++) {
        if (!(x[a] >= m->from[a] && x[a] < m->from[a] + (m->side[a] - 1) * m->step)) {
            return false; // runs away
        }
    }
    const int count = weights_at(m, x, node, weight);
    *alone = false;
    for (int k = 0; k < 2; k++) {
        const double before = sum[0];
        for (int i = 0; i < count && place[k] >= 0; i++) {
            sum += m->sum[(size_t)place[k] * nodes + (size_t)node[i]] * weight[i];
        }
        *alone = *alone || !(sum[0] > before);
    }
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            out[i][j] = sum[0] > 0.0 ? sum[1 + SYM_AT[dim - 2][i][j]] / sum[0] : 0.0;
        }
    }
    return sum[0] > 0.0;
}

// ---- memory ----

// How many bodies may be around a page, at most.
int rp_smear_room(const rp_glue_job *job, const rp_page *page)
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
    return count < RP_SMEAR_BODIES ? count : RP_SMEAR_BODIES;
}

rp_result rp_smear_begin(rp_smear *m, const rp_glue_job *job, int bodies)
{
    static const char what[] = "stress around glue";
    *m = (rp_smear){.job = job, .room = bodies};
    m->sum = rp_scratch_get(job->scratch, (size_t)bodies * RP_SMEAR_NODES * sizeof *m->sum, what);
    m->lanes = rp_scratch_get(job->scratch, sizeof *m->lanes, what);
    return m->sum != NULL && m->lanes != NULL ? RP_OK : RP_ERR_MEMORY;
}
