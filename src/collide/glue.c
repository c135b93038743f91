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

static bool holds(const rp_set *set, rp_local slot)
{
    return read_real(set, RP_COL_STRENGTH, slot, 0) > 0.0 && !is_dead(set, slot);
}

static int partner_of(const rp_set *set, rp_local slot)
{
    return (int)read_real(set, RP_COL_PARTNER, slot, 0);
}

// ---- stress around glue ----

// Cells around a block in which particles count: glue may have left it by one cell, and looks one
// cell and a half around.
enum { AROUND = 4, CELLS_MOST = (8 + 2 * AROUND) * (8 + 2 * AROUND) * (4 + 2 * AROUND) };

// The particles around a page of glue.
typedef struct crowd {
    const rp_glue_job *job;
    const rp_page *page; // of glue
    rp_local room, count;
    double *x[3];      // from the first node of the block [cells]
    double *volume;    // at present [m^d]
    double *stress[6]; // times the volume at rest: xx yy zz xy xz yz, in 2D xx yy xy
    int32_t *body, *cell, *order;
    int32_t start[CELLS_MOST + 1];
    int32_t side[3];           // cells along each axis
    double lower[3], upper[3]; // where particles are wanted
} crowd;

static int cell_number(const crowd *c, const double x[3])
{
    int number = 0;
    for (int a = 0; a < 3; a++) {
        const int at = a < c->job->grid->layout.dim ? (int)floor(x[a]) + AROUND : 0;
        if (at < 0 || at >= c->side[a]) {
            return -1;
        }
        number = number * c->side[a] + at;
    }
    return number;
}

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
        if (!rp_set_has(set, c) || rp_column_table[c].kind != RP_KIND_REAL) {
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

// Particles of a page that lie where they are wanted.
static void collect_page(crowd *c, const rp_species *species, const rp_page *page,
                         const int32_t offset[3], law_lanes *lanes)
{
    const rp_set *set = species->set;
    const rp_layout *l = &set->layout;
    for (rp_local tile = page->first; tile < page->first + page->count; tile += RP_LANES) {
        bool known = false;
        for (rp_local slot = tile; slot < tile + RP_LANES && slot < page->first + page->count;
             slot++) {
            double x[3], mass, volume;
            bool wanted = !is_dead(set, slot);
            read_place(set, slot, x);
            for (int a = 0; a < l->dim; a++) {
                x[a] += (double)(offset[a] * l->cells[a]);
                wanted = wanted && x[a] > c->lower[a] && x[a] < c->upper[a];
            }
            const int cell = wanted ? cell_number(c, x) : -1;
            if (cell < 0 || c->count == c->room) {
                continue;
            }
            if (!known) {
                tile_stress(c->job, species, tile, lanes);
                known = true;
            }
            rp_set_measure(set, page, slot, &mass, &volume);
            const rp_local at = c->count++;
            for (int a = 0; a < 3; a++) {
                c->x[a][at] = x[a];
            }
            for (int i = 0; i < rp_sym_comps(l->dim); i++) {
                c->stress[i][at] = volume * lanes->all[i][slot - tile];
            }
            c->volume[at] = volume * volume_ratio(set, slot);
            c->body[at] = page->field;
            c->cell[at] = cell;
        }
    }
}

// In the order of cells, and in a cell as they came.
static void order_crowd(crowd *c)
{
    const int cells = c->side[0] * c->side[1] * c->side[2];
    memset(c->start, 0, ((size_t)cells + 1) * sizeof *c->start);
    for (rp_local i = 0; i < c->count; i++) {
        c->start[c->cell[i] + 1]++;
    }
    for (int k = 0; k < cells; k++) {
        c->start[k + 1] += c->start[k];
    }
    for (rp_local i = c->count; i > 0; i--) {
        // from behind, so that starts end where they should be
        c->order[--c->start[c->cell[i - 1] + 1]] = i - 1;
    }
    // what was the end of a cell is now its beginning
    memmove(c->start, c->start + 1, (size_t)cells * sizeof *c->start);
    c->start[cells] = c->count;
}

// Everybody around a page of glue that glue of it holds, or might.
static void collect(crowd *c, law_lanes *lanes)
{
    static const double LOOK = 1.5; // [cells]
    const rp_glue_job *job = c->job;
    const rp_set *glue = job->species[job->glue].set;
    const rp_layout *l = &job->grid->layout;
    c->count = 0;
    for (int a = 0; a < 3; a++) {
        c->side[a] = a < l->dim ? l->cells[a] + 2 * AROUND : 1;
        c->lower[a] = INFINITY;
        c->upper[a] = -INFINITY;
    }
    for (rp_local slot = c->page->first; slot < c->page->first + c->page->count; slot++) {
        double x[3];
        read_place(glue, slot, x);
        for (int a = 0; a < l->dim && holds(glue, slot); a++) {
            c->lower[a] = fmin(c->lower[a], x[a] - LOOK);
            c->upper[a] = fmax(c->upper[a], x[a] + LOOK);
        }
    }
    for (int s = 0; s < job->species_count; s++) {
        const rp_species *species = &job->species[s];
        for (int n = 0; n < RP_NEAR && rp_set_has_mass(species->set); n++) {
            int32_t offset[3];
            uint64_t key;
            if (!neighbour(l, c->page->block, n, offset, &key)) {
                continue;
            }
            const rp_page *page = rp_set_page(species->set);
            for (rp_local p = find_block(species->set, key);
                 p < species->set->pages && page[p].key == key; p++) {
                collect_page(c, species, &page[p], offset, lanes);
            }
        }
    }
    order_crowd(c);
}

// How many particles there may be around a page.
static rp_local count_around(const rp_glue_job *job, const rp_page *page)
{
    rp_local count = 0;
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
                count += there[p].count;
            }
        }
    }
    return count;
}

// ---- the criterion ----

// A quadratic spline that ends one cell away.
static double weight(double d)
{
    const double a = 1.5 * fabs(d), far = a < 1.5 ? 1.5 - a : 0.0;
    return a < 0.5 ? 0.75 - a * a : 0.5 * far * far;
}

// The mean Cauchy stress of two bodies around a place. @return false: there is nothing
static bool mean_stress(const crowd *c, const double x[3], int b, int d, double out[3][3])
{
    const int dim = c->job->grid->layout.dim;
    double sum[6] = {0}, volume = 0.0;
    int low[3] = {0}, high[3] = {0};
    for (int a = 0; a < dim; a++) {
        low[a] = (int)floor(x[a] - 1.0) + AROUND;
        high[a] = (int)floor(x[a] + 1.0) + AROUND;
        if (low[a] < 0 || high[a] >= c->side[a]) {
            return false;
        }
    }
    for (int i = low[0]; i <= high[0]; i++) {
        for (int j = low[1]; j <= high[1]; j++) {
            const int row = (i * c->side[1] + j) * c->side[2];
            for (int32_t k = c->start[row + low[2]]; k < c->start[row + high[2] + 1]; k++) {
                const int32_t p = c->order[k];
                double w = c->volume[p] > 0.0 ? 1.0 : 0.0;
                for (int a = 0; a < dim; a++) {
                    w *= weight(c->x[a][p] - x[a]);
                }
                if (w > 0.0 && (c->body[p] == b || c->body[p] == d)) {
                    volume += w * c->volume[p];
                    for (int s = 0; s < rp_sym_comps(dim); s++) {
                        sum[s] += w * c->stress[s][p];
                    }
                }
            }
        }
    }
    static const int place[2][3][3] = {{{0, 2, 0}, {2, 1, 0}, {0, 0, 0}},
                                       {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}};
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            out[i][j] = volume > 0.0 ? sum[place[dim - 2][i][j]] / volume : 0.0;
        }
    }
    return volume > 0.0;
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

typedef struct breaking {
    const rp_glue_job *job;
    crowd *crowd;     // [thread]
    law_lanes *lanes; // [thread]
    double *slack;    // [page]
    int32_t *broken;  // [page]
} breaking;

static void break_page(void *ctx, int64_t index, int thread)
{
    const breaking *b = ctx;
    const rp_glue_job *job = b->job;
    rp_set *set = job->species[job->glue].set;
    const rp_page *page = &rp_set_page(set)[index];
    const int dim = set->layout.dim;
    crowd *c = &b->crowd[thread];
    c->page = page;
    b->slack[index] = INFINITY;
    b->broken[index] = 0;
    collect(c, &b->lanes[thread]);
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        if (!holds(set, slot)) {
            continue;
        }
        const uint16_t group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
        const rp_glue_rule *rule = &job->rule[rp_set_group(set)[group].material];
        const double strength = read_real(set, RP_COL_STRENGTH, slot, 0);
        double x[3], normal[3] = {0}, stress[3][3] = {{0}};
        read_place(set, slot, x);
        for (int a = 0; a < dim; a++) {
            normal[a] = read_real(set, RP_COL_NORMAL, slot, a);
        }
        if (!mean_stress(c, x, page->field, partner_of(set, slot), stress)) {
            continue;
        }
        const double use = use_of(rule, strength, stress, normal, dim);
        const double weaker = rule->shear < 1.0 ? rule->shear * strength : strength;
        const double left = (1.0 - use) * weaker / (1.0 + rule->friction);
        if (!(use < 1.0)) {
            write_real(set, RP_COL_STRENGTH, slot, 0, -strength); // told apart below
            b->broken[index]++;
        } else {
            b->slack[index] = fmin(b->slack[index], left);
        }
    }
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
static int sum_cracks(rp_set *set, const int32_t *broken, rp_crack *list)
{
    int count = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count && broken[p] > 0;
             slot++) {
            if (!(read_real(set, RP_COL_STRENGTH, slot, 0) < 0.0)) {
                continue;
            }
            write_real(set, RP_COL_STRENGTH, slot, 0, 0.0);
            const int b = page->field, d = partner_of(set, slot);
            const int at = find_crack(list, count, b, d);
            if (at == count || list[at].body[0] != b || list[at].body[1] != d) {
                memmove(&list[at + 1], &list[at], (size_t)(count - at) * sizeof *list);
                list[at] = (rp_crack){.body = {b, d}};
                count++;
            }
            list[at].area += read_real(set, RP_COL_AREA, slot, 0);
            list[at].glue++;
        }
    }
    return count;
}

rp_result rp_glue_break(const rp_glue_job *job, rp_crack **crack, int *cracks, double *slack)
{
    static const char what[] = "stress around glue";
    rp_set *set = job->species[job->glue].set;
    const size_t threads = (size_t)job->threads, pages = (size_t)set->pages + 1;
    breaking b = {.job = job};
    *crack = NULL;
    *cracks = 0;
    *slack = INFINITY;
    rp_local most = 1;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_local around = count_around(job, &rp_set_page(set)[p]);
        most = around > most ? around : most;
    }
    b.crowd = rp_scratch_get(job->scratch, threads * sizeof *b.crowd, what);
    b.lanes = rp_scratch_get(job->scratch, threads * sizeof *b.lanes, what);
    b.slack = rp_scratch_get(job->scratch, pages * sizeof *b.slack, what);
    b.broken = rp_scratch_get(job->scratch, pages * sizeof *b.broken, what);
    if (b.crowd == NULL || b.lanes == NULL || b.slack == NULL || b.broken == NULL) {
        return RP_ERR_MEMORY;
    }
    for (size_t t = 0; t < threads; t++) {
        crowd *c = &b.crowd[t];
        bool there = true;
        c->job = job;
        c->room = most;
        for (int a = 0; a < 3; a++) {
            c->x[a] = rp_scratch_get(job->scratch, (size_t)most * sizeof(double), what);
            there = there && c->x[a] != NULL;
        }
        for (int i = 0; i < 6; i++) {
            c->stress[i] = rp_scratch_get(job->scratch, (size_t)most * sizeof(double), what);
            there = there && c->stress[i] != NULL;
        }
        c->volume = rp_scratch_get(job->scratch, (size_t)most * sizeof(double), what);
        c->body = rp_scratch_get(job->scratch, (size_t)most * sizeof(int32_t), what);
        c->cell = rp_scratch_get(job->scratch, (size_t)most * sizeof(int32_t), what);
        c->order = rp_scratch_get(job->scratch, (size_t)most * sizeof(int32_t), what);
        if (!there || c->volume == NULL || c->body == NULL || c->cell == NULL || c->order == NULL) {
            return RP_ERR_MEMORY;
        }
    }
    rp_parallel_for(job->threads, set->pages, 1, break_page, &b);
    int64_t broken = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        *slack = fmin(*slack, b.slack[p]);
        broken += b.broken[p];
    }
    if (broken == 0) {
        return RP_OK;
    }
    *crack = rp_scratch_get(job->scratch, (size_t)(broken + 1) * sizeof **crack, what);
    if (*crack == NULL) {
        // what broke holds again, and breaks when there is memory
        for (rp_local s = 0; s < set->slots; s++) {
            write_real(set, RP_COL_STRENGTH, s, 0, fabs(read_real(set, RP_COL_STRENGTH, s, 0)));
        }
        return RP_ERR_MEMORY;
    }
    *cracks = sum_cracks(set, b.broken, *crack);
    return RP_OK;
}

int64_t rp_glue_clear(rp_set *set)
{
    int64_t gone = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            if (!holds(set, slot) && !is_dead(set, slot)) {
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

rp_result rp_glue_begin(rp_glue *g, const rp_grid *grid, rp_set *set, double least, int threads,
                        rp_scratch *scratch)
{
    static const char what[] = "nodes that glue holds";
    *g = (rp_glue){.grid = grid, .set = set, .least = least};
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
        if (room->bond == NULL || room->some == NULL || room->root == NULL) {
            return RP_ERR_MEMORY;
        }
    }
    return g->room != NULL ? RP_OK : RP_ERR_MEMORY;
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

// The nodes of a block that glue at a place holds.
static void add_bond(const rp_layout *l, const double x[3], double reach, uint64_t bond[MASK_WORDS])
{
    int low[3] = {0}, high[3] = {0};
    for (int a = 0; a < l->dim; a++) {
        const int first = (int)ceil(x[a] - reach), last = (int)floor(x[a] + reach);
        low[a] = first > 0 ? first : 0;
        high[a] = last < l->cells[a] - 1 ? last : l->cells[a] - 1;
        if (low[a] > high[a]) {
            return;
        }
    }
    // a row of nodes lies within one word
    for (int i = low[0]; i <= high[0]; i++) {
        for (int j = low[1]; j <= high[1]; j++) {
            const int n = (i * l->cells[1] + j) * l->cells[2] + low[2];
            const uint64_t row = (1ull << (high[2] - low[2] + 1)) - 1;
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
    const double reach = 0.5 * (l->order + 1) + MARGIN;
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
        for (rp_local p = find_block(g->set, key); p < g->set->pages && page[p].key == key; p++) {
            const int own = page_of_field(grid, block, page[p].field);
            for (rp_local slot = page[p].first; slot < page[p].first + page[p].count && own >= 0;
                 slot++) {
                const int other =
                    holds(g->set, slot) ? page_of_field(grid, block, partner_of(g->set, slot)) : -1;
                if (other < 0) {
                    continue;
                }
                double x[3];
                read_place(g->set, slot, x);
                for (int a = 0; a < l->dim; a++) {
                    x[a] += (double)(offset[a] * l->cells[a]);
                }
                if (!any) {
                    memset(room->bond, 0, pairs * sizeof *room->bond);
                    memset(room->some, 0, pairs * sizeof *room->some);
                    any = true;
                }
                const int64_t number = pair_number(block->count, own, other);
                add_bond(l, x, reach, room->bond[number]);
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
    enum { MOST = 64 }; // pages at one node; beyond, contact sees to the node alone
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
            int here[MOST], unit[MOST], pages = 0;
            for (int p = 0; p < block->count && pages < MOST; p++) {
                if (mask[p][w] >> n % 64 & 1) {
                    here[pages++] = p;
                }
            }
            const int units = rp_glue_units(g, b, thread, n, here, pages, unit);
            for (int u = 0; u < units && units < pages; u++) {
                merge_unit(g, block, n, here, unit, pages, u);
            }
            if (units == 1) {
                shared[w] &= ~(1ull << n % 64);
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

// The velocity of the two pieces together, at a node. @return false: there is nobody
static bool node_velocity(const rp_glue *g, const uint32_t page[2], int n, double v[3])
{
    const rp_layout *l = &g->grid->layout;
    double mass = 0.0, momentum[3] = {0};
    for (int k = 0; k < 2; k++) {
        if (page[k] == RP_NO_PAGE) {
            continue;
        }
        const void *q = rp_grid_nodes(g->grid, RP_CH_MOMENTUM, (rp_local)page[k]);
        const double m = node_real(l, q, n * RP_QUAD + 3);
        if (!(m > g->least)) {
            continue;
        }
        mass += m;
        for (int a = 0; a < l->dim; a++) {
            momentum[a] += m * node_real(l, q, n * RP_QUAD + a);
        }
    }
    for (int a = 0; a < 3 && mass > 0.0; a++) {
        v[a] = momentum[a] / mass;
    }
    return mass > 0.0;
}

// A spline of this order and its slope, `d` cells from its middle.
static double spline(double d, int order, double *slope)
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

// Where the node pages of two fields around a block are.
typedef struct surroundings {
    int32_t field[2];
    uint32_t page[RP_NEAR][2];
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
        for (int k = 0; k < 2; k++) {
            out->page[n][k] =
                there ? rp_grid_find(g->grid, key, (uint16_t)out->field[k]) : RP_NO_PAGE;
        }
    }
}

// Velocity and its gradient [m/s], [1/s] at a place of a block, of the nodes that are there.
static void flow_at(const rp_glue *g, const surroundings *around, const double x[3], double v[3],
                    double gradient[3][3])
{
    enum { WIDE = 4 };
    const rp_layout *l = &g->grid->layout;
    const int wide = l->order + 1;
    int base[3] = {0};
    double w[3][WIDE] = {{1.0}, {1.0}, {1.0}}, s[3][WIDE] = {{0}};
    for (int a = 0; a < l->dim; a++) {
        base[a] = (int)floor(x[a] - l->shift);
        for (int i = 0; i < wide; i++) {
            w[a][i] = spline(x[a] - (base[a] + i), l->order, &s[a][i]);
        }
    }
    double all = 0.0, first[3] = {0}, slope[3] = {0}, sum[3][3] = {{0}};
    for (int i = 0; i < wide * wide * (l->dim == 3 ? wide : 1); i++) {
        const int at[3] = {i % wide, i / wide % wide, i / wide / wide};
        int near = 0, n = 0;
        for (int a = 0; a < 3; a++) {
            const int node = base[a] + (a < l->dim ? at[a] : 0);
            const int block = node < 0 ? -1 : node >= l->cells[a] ? 1 : 0;
            near = near * 3 + block + 1;
            n = n * l->cells[a] + node - block * l->cells[a];
        }
        double u[3] = {0};
        if (n < 0 || n >= l->nodes || !node_velocity(g, around->page[near], n, u)) {
            continue;
        }
        const double wx = w[0][at[0]], wy = w[1][at[1]], wz = l->dim == 3 ? w[2][at[2]] : 1.0;
        const double weight = wx * wy * wz;
        const double ds[3] = {s[0][at[0]] * wy * wz, wx * s[1][at[1]] * wz,
                              l->dim == 3 ? wx * wy * s[2][at[2]] : 0.0};
        all += weight;
        for (int a = 0; a < l->dim; a++) {
            first[a] += weight * u[a];
            slope[a] += ds[a];
            for (int k = 0; k < l->dim; k++) {
                sum[a][k] += u[a] * ds[k];
            }
        }
    }
    for (int a = 0; a < l->dim; a++) {
        v[a] = all > 0.0 ? first[a] / all : 0.0;
        for (int k = 0; k < l->dim; k++) {
            // as if nodes that are not there had the velocity of the place
            gradient[a][k] = (sum[a][k] - v[a] * slope[k]) / l->h;
        }
    }
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
        if (is_dead(set, slot)) {
            continue;
        }
        look_around(g, page, page->field, partner_of(set, slot), &around);
        read_place(set, slot, x);
        flow_at(g, &around, x, v, gradient);
        // a piece of surface that goes along: n' = -(grad v)^T n, and its area grows by the
        // divergence less the stretch across it
        double stretch = 0.0, divergence = 0.0, length2 = 0.0;
        for (int a = 0; a < l->dim; a++) {
            normal[a] = read_real(set, RP_COL_NORMAL, slot, a);
        }
        for (int a = 0; a < l->dim; a++) {
            turned[a] = normal[a];
            for (int k = 0; k < l->dim; k++) {
                turned[a] -= m->dt * gradient[k][a] * normal[k];
                stretch += normal[a] * gradient[a][k] * normal[k];
            }
            divergence += gradient[a][a];
            length2 += turned[a] * turned[a];
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

double rp_glue_move(const rp_glue *g, double dt, int threads)
{
    enum { THREADS_MOST = 1024 };
    double move[THREADS_MOST] = {0}, most = 0.0;
    const int used = threads < THREADS_MOST ? threads : THREADS_MOST;
    const moving m = {g, dt, move};
    rp_parallel_for(used, g->set->pages, 2, move_page, (void *)(uintptr_t)&m);
    for (int t = 0; t < used; t++) {
        most = fmax(most, move[t]);
    }
    return most;
}
