#include "collide/meeting.h"

#include "base/result.h"

#include <math.h>
#include <string.h>

enum {
    NODES_MOST = 256,         // of a block
    CELLS_MOST = 11 * 11 * 7, // from which particles reach a block, cubic splines in 3D
    MASK_WORDS = NODES_MOST / 64,
};

// The mass of a body is smoothed over this many nodes to either side before its
// gradient is taken.
enum { SMOOTH = 2, PADDED_MOST = (8 + 2 * SMOOTH) * (8 + 2 * SMOOTH) * (4 + 2 * SMOOTH) };

#define ALWAYS static inline __attribute__((always_inline))

// The surface that two bodies share around a patch is a sheet; what it is thin
// along is its normal. The lens turns a rough normal into that: the inverse of
// the sheet's spread, three times over. Where there is no sheet (a corner, a
// ball, a comb), spreads are alike and the lens turns nothing.
typedef struct lens {
    bool known;
    double turn[3][3];
} lens;

// What a thread works with: the particles around the shared nodes of one block.
struct meeting_room {
    double *x[3];                 // [particle]: from node 0 of the block [cells]
    double *half;                 // half the size of it [cells]
    double *mass;                 // [kg]
    int32_t *cell;                // that it is in, or -1
    int32_t *slot;                // order by cells: particles as they came
    int32_t *start;               // [page of the block][CELLS_MOST + 1]: first particle of a cell
    uint64_t (*mask)[MASK_WORDS]; // [page]: nodes with mass
    int *here;                    // pages at a node
    int *unit;                    // which of them glue makes one
    int (*who)[2];                // [pair of a node]: the pages that it is of
    double (*v)[3], (*surface)[3], *m; // of the bodies at a node
    double *padded;                    // [page][PADDED_MOST]: masses of nodes, of those around the
                                       // block too
    rp_node_pair *pair;
    struct lens *lens; // [pair of pages][patch]
    rp_meeting_report report;
    double *sorted; // room for one column while it is put in order
};

// ---- memory ----

static int64_t pairs_of(int64_t n) { return n * (n - 1) / 2; }

// The number of a pair of pages among those of a block with so many pages, b <
// d.
static int64_t pair_number(int pages, int b, int d)
{
    return pairs_of(pages) - pairs_of(pages - b) + d - b - 1;
}

// Particles in the pages around a node page.
static int64_t particles_around(const rp_meetings *m, rp_local page)
{
    int64_t count = 0;
    for (int s = 0; s < m->species_count; s++) {
        const rp_set *set = m->species[s].set;
        const uint32_t *source = rp_grid_source(m->grid, s, page);
        for (int n = 0; n < RP_NEAR && rp_set_has_mass(set); n++) {
            count += source[n] != RP_NO_PAGE ? rp_set_page(set)[source[n]].count : 0;
        }
    }
    return count;
}

static rp_result furnish(struct meeting_room *room, int64_t particles, int pages, rp_scratch *s)
{
    static const char what[] = "contact of bodies";
    const size_t n = (size_t)particles + 16, p = (size_t)pages + 1;
    *room = (struct meeting_room){0};
    for (int a = 0; a < 3; a++) {
        room->x[a] = rp_scratch_get(s, n * sizeof(double), what);
    }
    room->half = rp_scratch_get(s, n * sizeof(double), what);
    room->mass = rp_scratch_get(s, n * sizeof(double), what);
    room->sorted = rp_scratch_get(s, n * sizeof(double), what);
    room->cell = rp_scratch_get(s, n * sizeof *room->cell, what);
    room->slot = rp_scratch_get(s, n * sizeof *room->slot, what);
    room->start = rp_scratch_get(s, p * (CELLS_MOST + 1) * sizeof *room->start, what);
    room->mask = rp_scratch_get(s, p * sizeof *room->mask, what);
    room->here = rp_scratch_get(s, p * sizeof *room->here, what);
    room->unit = rp_scratch_get(s, p * sizeof *room->unit, what);
    room->who = rp_scratch_get(s, (size_t)pairs_of(pages + 1) * sizeof *room->who, what);
    room->v = rp_scratch_get(s, p * sizeof *room->v, what);
    room->surface = rp_scratch_get(s, p * sizeof *room->surface, what);
    room->m = rp_scratch_get(s, p * sizeof *room->m, what);
    room->padded = rp_scratch_get(s, p * PADDED_MOST * sizeof *room->padded, what);
    room->lens = rp_scratch_get(s, (size_t)pairs_of(pages) * RP_PATCHES * sizeof *room->lens, what);
    room->pair = rp_scratch_get(s, (size_t)pairs_of(pages + 1) * sizeof *room->pair, what);
    // memory that is not there is told by the last one that asked, and all after
    // it fail as well
    const void *got[] = {room->x[0],   room->x[1],    room->x[2],  room->half, room->mass,
                         room->cell,   room->slot,    room->start, room->mask, room->here,
                         room->v,      room->surface, room->m,     room->pair, room->sorted,
                         room->padded, room->lens,    room->unit,  room->who};
    for (size_t i = 0; i < sizeof got / sizeof got[0]; i++) {
        if (got[i] == NULL) {
            return RP_ERR_MEMORY;
        }
    }
    return RP_OK;
}

rp_result rp_meetings_begin(rp_meetings *m, rp_meeting_plan *plan, const rp_pairs *pairs,
                            const rp_grid *grid, const rp_species *species, int species_count,
                            double dt, double least, int threads, rp_scratch *scratch)
{
    *m = (rp_meetings){.pairs = pairs,
                       .grid = grid,
                       .species = species,
                       .species_count = species_count,
                       .dt = dt,
                       .least = least};
    m->first = rp_scratch_get(scratch, (size_t)grid->blocks * sizeof *m->first, "shared blocks");
    m->room = rp_scratch_get(scratch, (size_t)threads * sizeof *m->room, "contact of bodies");
    m->shared = rp_scratch_get(scratch, (size_t)grid->blocks * sizeof *m->shared, "shared blocks");
    m->block_of =
        rp_scratch_get(scratch, (size_t)grid->pages * sizeof *m->block_of, "blocks of pages");
    if (m->first == NULL || m->room == NULL || m->block_of == NULL || m->shared == NULL) {
        return RP_ERR_MEMORY;
    }
    // what the pages of a build of the grid can need at most
    const bool again = plan->build != grid->builds;
    if (again) {
        *plan = (rp_meeting_plan){.build = grid->builds};
    }
    for (rp_local b = 0; b < grid->blocks; b++) {
        const rp_node_block *block = &rp_grid_block(grid)[b];
        m->first[b] = m->count;
        for (rp_local p = block->first; p < block->first + block->count; p++) {
            m->block_of[p] = b;
        }
        if (block->count < 2) {
            continue;
        }
        m->count += pairs_of(block->count);
        int64_t particles = 0;
        for (rp_local p = block->first; p < block->first + block->count && again; p++) {
            particles += particles_around(m, p);
        }
        plan->particles = particles > plan->particles ? particles : plan->particles;
        plan->pages = block->count > plan->pages ? block->count : plan->pages;
    }
    m->given = rp_scratch_get(scratch, (size_t)m->count * sizeof *m->given, "impulses of pairs");
    m->patches = rp_scratch_get(scratch, (size_t)m->count * sizeof *m->patches, "shared nodes");
    rp_result result = m->given != NULL && m->patches != NULL ? RP_OK : RP_ERR_MEMORY;
    for (int t = 0; t < threads && result == RP_OK; t++) {
        result = furnish(&m->room[t], plan->particles, plan->pages, scratch);
    }
    return result;
}

static double real_at(const rp_layout *l, const void *numbers, int at)
{
    return l->precision == RP_SINGLE ? (double)((const float *)numbers)[at]
                                     : ((const double *)numbers)[at];
}

// Nodes of a page that carry mass.
static void find_mask(const rp_meetings *m, rp_local page, uint64_t mask[MASK_WORDS])
{
    const rp_layout *l = &m->grid->layout;
    const void *q = rp_grid_nodes(m->grid, RP_CH_MOMENTUM, page);
    memset(mask, 0, MASK_WORDS * sizeof *mask);
    if (l->precision == RP_SINGLE) {
        const float *mass = (const float *)q + 3, least = (float)m->least;
        for (int n = 0; n < l->nodes; n++) {
            mask[n / 64] |= (uint64_t)(mass[n * RP_QUAD] > least) << n % 64;
        }
    } else {
        const double *mass = (const double *)q + 3;
        for (int n = 0; n < l->nodes; n++) {
            mask[n / 64] |= (uint64_t)(mass[n * RP_QUAD] > m->least) << n % 64;
        }
    }
}

// Nodes that two or more pages have mass at.
static bool find_shared(const rp_meetings *m, const rp_node_block *block,
                        uint64_t (*mask)[MASK_WORDS], uint64_t shared[MASK_WORDS])
{
    uint64_t once[MASK_WORDS] = {0};
    bool any = false;
    memset(shared, 0, MASK_WORDS * sizeof *shared);
    for (int p = 0; p < block->count; p++) {
        find_mask(m, block->first + p, mask[p]);
        for (int w = 0; w < MASK_WORDS; w++) {
            shared[w] |= once[w] & mask[p][w];
            once[w] |= mask[p][w];
            any = any || shared[w] != 0;
        }
    }
    return any;
}

// ---- patches ----

enum { PATCH = 4 }; // cells along each side of a patch

// A block has eight cells along the first two axes; along the third, if any, it is one patch.
static int patch_of(const int node[3]) { return node[0] / PATCH * 2 + node[1] / PATCH; }

static void node_place(const rp_layout *l, int n, int node[3])
{
    node[0] = n / (l->cells[1] * l->cells[2]);
    node[1] = n / l->cells[2] % l->cells[1];
    node[2] = n % l->cells[2];
}

static void look_at_pair(const rp_meetings *m, rp_local b, rp_local d,
                         const uint64_t both[MASK_WORDS], rp_patches *out)
{
    const rp_layout *l = &m->grid->layout;
    const void *q_b = rp_grid_nodes(m->grid, RP_CH_MOMENTUM, b);
    const void *q_d = rp_grid_nodes(m->grid, RP_CH_MOMENTUM, d);
    memset(out, 0, sizeof *out);
    for (int w = 0; w < MASK_WORDS; w++) {
        for (uint64_t bits = both[w]; bits != 0; bits &= bits - 1) {
            const int n = 64 * w + __builtin_ctzll(bits);
            int node[3];
            node_place(l, n, node);
            double *to = out->moment[patch_of(node)];
            const double one = real_at(l, q_b, n * RP_QUAD + 3),
                         other = real_at(l, q_d, n * RP_QUAD + 3);
            const double weight = one * other / (one + other);
            const double x = node[0], y = node[1], z = node[2];
            const double term[RP_PATCH_MOMENTS] = {1.0,   x,     y,     z,     x * x,
                                                   y * y, z * z, x * y, x * z, y * z};
            for (int k = 0; k < RP_PATCH_MOMENTS; k++) {
                to[k] += weight * term[k];
            }
        }
    }
}

void rp_meetings_look(const rp_meetings *m, rp_local b, int thread)
{
    const rp_node_block *block = &rp_grid_block(m->grid)[b];
    uint64_t shared[MASK_WORDS], (*mask)[MASK_WORDS] = m->room[thread].mask;
    if (block->count < 2) {
        return;
    }
    rp_patches *out = m->patches + m->first[b];
    m->shared[b] = find_shared(m, block, mask, shared);
    if (!m->shared[b]) {
        memset(out, 0, (size_t)pairs_of(block->count) * sizeof *out);
        memset(m->given + m->first[b], 0, (size_t)pairs_of(block->count) * sizeof *m->given);
        return;
    }
    for (int i = 0; i < block->count; i++) {
        for (int k = i + 1; k < block->count; k++, out++) {
            uint64_t both[MASK_WORDS];
            for (int w = 0; w < MASK_WORDS; w++) {
                both[w] = mask[i][w] & mask[k][w];
            }
            look_at_pair(m, block->first + i, block->first + k, both, out);
        }
    }
}

// Add the moments of a patch, moved by `away` cells, with a weight.
static void add_patch(const double from[RP_PATCH_MOMENTS], const double away[3], double weight,
                      double to[RP_PATCH_MOMENTS])
{
    const double w = weight * from[0];
    const double x = weight * from[1], y = weight * from[2], z = weight * from[3];
    to[0] += w;
    to[1] += x + w * away[0];
    to[2] += y + w * away[1];
    to[3] += z + w * away[2];
    to[4] += weight * from[4] + (2.0 * x + w * away[0]) * away[0];
    to[5] += weight * from[5] + (2.0 * y + w * away[1]) * away[1];
    to[6] += weight * from[6] + (2.0 * z + w * away[2]) * away[2];
    to[7] += weight * from[7] + x * away[1] + y * away[0] + w * away[0] * away[1];
    to[8] += weight * from[8] + x * away[2] + z * away[0] + w * away[0] * away[2];
    to[9] += weight * from[9] + y * away[2] + z * away[1] + w * away[1] * away[2];
}

static void make_lens(const rp_meetings *m, rp_local page_b, rp_local page_d, int patch, lens *out)
{
    static const double THIN = 0.05;   // [cells^2]: least spread
    static const double REACH2 = 64.0; // [cells^2]
    const rp_grid *grid = m->grid;
    const rp_layout *l = &grid->layout;
    const rp_node_page *page = rp_grid_page(grid);
    const int own[3] = {patch / 2, patch % 2, 0};
    double sum[RP_PATCH_MOMENTS] = {0};
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t step[3];
        rp_near_offset(n, step);
        const double r2 =
            (double)PATCH * PATCH * (step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
        if (r2 >= REACH2 || (l->dim == 2 && step[2] != 0)) {
            continue;
        }
        // the block that the patch is in, and which of its patches it is
        int32_t block[3], away[3] = {0, 0, step[2]};
        int at[2];
        for (int a = 0; a < 2; a++) {
            const int place = own[a] + step[a];
            away[a] = place < 0 ? -1 : place > 1 ? 1 : 0;
            at[a] = place - 2 * away[a];
        }
        rp_local b = page_b, d = page_d;
        if (away[0] != 0 || away[1] != 0 || away[2] != 0) {
            for (int a = 0; a < 3; a++) {
                block[a] = page[page_b].block[a] + away[a];
            }
            rp_block_wrap(l, block);
            const uint64_t key = rp_block_key(block);
            const uint32_t found[2] = {rp_grid_find(grid, key, page[page_b].field),
                                       rp_grid_find(grid, key, page[page_d].field)};
            if (found[0] == RP_NO_PAGE || found[1] == RP_NO_PAGE) {
                continue;
            }
            b = (rp_local)found[0];
            d = (rp_local)found[1];
        }
        const rp_node_block *around = &rp_grid_block(grid)[m->block_of[b]];
        const int64_t number = m->first[m->block_of[b]] +
                               pair_number(around->count, b - around->first, d - around->first);
        const double share = 1.0 - r2 / REACH2;
        const double shift[3] = {(double)away[0] * l->cells[0], (double)away[1] * l->cells[1],
                                 (double)away[2] * l->cells[2]};
        add_patch(m->patches[number].moment[at[0] * 2 + at[1]], shift, share * share, sum);
    }
    // spread, about the middle; what lies across the plane in 2D stays apart
    double A[3][3] = {{0}}, power[3][3] = {{0}};
    static const int place[3][3] = {{4, 7, 8}, {7, 5, 9}, {8, 9, 6}};
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            A[a][c] =
                sum[0] > 0.0 ? (sum[place[a][c]] - sum[1 + a] * sum[1 + c] / sum[0]) / sum[0] : 0.0;
        }
        A[a][a] += THIN;
    }
    // adjugate: the inverse up to its size, which does not matter
    double inverse[3][3];
    double size = 0.0;
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            const int i = (c + 1) % 3, j = (c + 2) % 3, k = (a + 1) % 3, o = (a + 2) % 3;
            inverse[a][c] = A[i][k] * A[j][o] - A[i][o] * A[j][k];
        }
        size += inverse[a][a];
    }
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            inverse[a][c] /= size;
        }
    }
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                power[a][c] += inverse[a][k] * inverse[k][c];
            }
        }
    }
    memset(out, 0, sizeof *out);
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                out->turn[a][c] += power[a][k] * inverse[k][c];
            }
        }
    }
    out->known = true;
}

// ---- particles around a block ----

// The block as its contact is worked out.
typedef struct scene {
    const rp_meetings *m;
    struct meeting_room *room;
    const rp_layout *l;
    rp_local first, block;
    int pages, thread;
    bool bound;                 // glue holds some of its nodes
    int reach[3];               // cells along each axis from which particles reach the block
    uint8_t wanted[CELLS_MOST]; // cells whose particles reach a shared node
} scene;

// Number of the cell that lies `at` from the block's first node.
ALWAYS int cell_number(const scene *s, const int at[3], int order)
{
    const int z = s->l->dim == 3 ? at[2] + order : 0;
    return ((at[0] + order) * s->reach[1] + at[1] + order) * s->reach[2] + z;
}

// The cube root of a positive number, by Newton's method from a guess that
// halves the exponent's third: the library's own chooses its code by the
// processor.
static double cube_root(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = bits / 3 + 0x2a9f7893782da1ceull;
    double y;
    memcpy(&y, &bits, sizeof y);
    for (int i = 0; i < 5; i++) {
        y -= (y - x / (y * y)) * (1.0 / 3.0);
    }
    return y;
}

// Half the edge of a cube of this volume [cells].
static double half_size(const rp_layout *l, double volume)
{
    const double edge = l->dim == 3 ? cube_root(volume) : sqrt(volume);
    return 0.5 * edge / l->h;
}

// Particles of a page that reach a shared node, behind those there are. @return
// how many there are
ALWAYS int32_t collect_page(const scene *s, const rp_set *set, const rp_page *page,
                            const int32_t offset[3], int32_t count, const int dim, const int order,
                            const bool single)
{
    struct meeting_room *room = s->room;
    const rp_group *group = rp_set_group(set);
    const bool own = rp_set_has(set, RP_COL_VOLUME) || rp_set_has(set, RP_COL_MASS);
    int known = -1; // the group that half and mass are of
    double half = 0.0, mass = 0.0;
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        double x[3] = {0};
        int at[3] = {0};
        bool inside = true;
        for (int a = 0; a < dim; a++) {
            const void *stored = rp_set_at(set, RP_COL_POSITION, slot, a);
            const int away = offset[a] * s->l->cells[a];
            if (single) {
                const int32_t fixed = *(const int32_t *)stored;
                at[a] = (fixed >> RP_FIXED_BITS) + away;
                x[a] = fixed * (1.0 / (1 << RP_FIXED_BITS)) + away;
            } else {
                const double local = *(const double *)stored;
                const double below = floor(local);
                // a runaway is told elsewhere
                at[a] = below > -100.0 && below < 100.0 ? (int)below + away : -100;
                x[a] = local + away;
            }
            inside = inside && at[a] >= -order && at[a] < s->l->cells[a];
            x[a] += 0.5 * (order - 1);
        }
        const int cell = inside ? cell_number(s, at, order) : 0;
        if (!inside || !s->wanted[cell]) {
            continue;
        }
        const int number = *(const uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
        if (number == RP_GROUP_DEAD) {
            continue;
        }
        if (own) {
            double volume;
            rp_set_measure(set, page, slot, &mass, &volume);
            half = half_size(s->l, volume);
        } else if (number != known) {
            half = half_size(s->l, group[number].volume);
            mass = group[number].mass;
            known = number;
        }
        for (int a = 0; a < 3; a++) {
            room->x[a][count] = x[a];
        }
        room->half[count] = half;
        room->mass[count] = mass;
        room->cell[count] = cell;
        count++;
    }
    return count;
}

static void put_in_order(struct meeting_room *room, double *column, int32_t first, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        room->sorted[room->slot[first + i] - first] = column[first + i];
    }
    memcpy(column + first, room->sorted, (size_t)count * sizeof *column);
}

// All particles of one body, in the order of cells, and of a cell as they come.
ALWAYS int32_t collect_body(const scene *s, int page, int32_t first, const int dim, const int order)
{
    struct meeting_room *room = s->room;
    const rp_grid *grid = s->m->grid;
    const bool single = s->l->precision == RP_SINGLE;
    const int cells = s->reach[0] * s->reach[1] * s->reach[2];
    int32_t count = first;
    for (int k = 0; k < s->m->species_count; k++) {
        const rp_set *set = s->m->species[k].set;
        const uint32_t *source = rp_grid_source(grid, k, s->first + page);
        for (int n = 0; n < RP_NEAR && rp_set_has_mass(set); n++) {
            if (source[n] != RP_NO_PAGE) {
                int32_t offset[3];
                rp_near_offset(n, offset);
                count = collect_page(s, set, &rp_set_page(set)[source[n]], offset, count, dim,
                                     order, single);
            }
        }
    }
    int32_t *start = room->start + (size_t)page * (CELLS_MOST + 1);
    memset(start, 0, ((size_t)cells + 1) * sizeof *start);
    for (int32_t i = first; i < count; i++) {
        start[room->cell[i] + 1]++;
    }
    start[0] = first;
    for (int c = 0; c < cells; c++) {
        start[c + 1] += start[c];
    }
    for (int32_t i = first; i < count; i++) {
        room->slot[i] = start[room->cell[i]]++;
    }
    for (int c = cells; c > 0; c--) {
        start[c] = start[c - 1];
    }
    start[0] = first;
    for (int a = 0; a < dim; a++) {
        put_in_order(room, room->x[a], first, count - first);
    }
    put_in_order(room, room->half, first, count - first);
    put_in_order(room, room->mass, first, count - first);
    return count;
}

// ---- smooth surfaces ----

// The masses of a body at the nodes of the block and SMOOTH nodes around it.
ALWAYS void pad_masses(const scene *s, int page, const int dim)
{
    const rp_grid *grid = s->m->grid;
    const rp_layout *l = s->l;
    const rp_node_page *own = &rp_grid_page(grid)[s->first + page];
    const int margin[3] = {SMOOTH, SMOOTH, dim == 3 ? SMOOTH : 0};
    const int side[3] = {l->cells[0] + 2 * margin[0], l->cells[1] + 2 * margin[1],
                         l->cells[2] + 2 * margin[2]};
    double *to = s->room->padded + (size_t)page * PADDED_MOST;
    memset(to, 0, (size_t)(side[0] * side[1] * side[2]) * sizeof *to);
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t offset[3], block[3];
        rp_near_offset(n, offset);
        if (dim == 2 && offset[2] != 0) {
            continue;
        }
        for (int a = 0; a < 3; a++) {
            block[a] = own->block[a] + offset[a];
        }
        rp_block_wrap(l, block);
        const uint32_t found = n == RP_NEAR_SELF
                                   ? (uint32_t)(s->first + page)
                                   : rp_grid_find(grid, rp_block_key(block), own->field);
        if (found == RP_NO_PAGE) {
            continue;
        }
        const void *q = rp_grid_nodes(grid, RP_CH_MOMENTUM, (rp_local)found);
        int lo[3], hi[3]; // of its nodes
        for (int a = 0; a < 3; a++) {
            lo[a] = offset[a] < 0 ? l->cells[a] - margin[a] : 0;
            hi[a] = offset[a] > 0 ? margin[a] : l->cells[a];
        }
        for (int i = lo[0]; i < hi[0]; i++) {
            for (int j = lo[1]; j < hi[1]; j++) {
                for (int k = lo[2]; k < hi[2]; k++) {
                    const int at = ((i + offset[0] * l->cells[0] + margin[0]) * side[1] + j +
                                    offset[1] * l->cells[1] + margin[1]) *
                                       side[2] +
                                   k + offset[2] * l->cells[2] + margin[2];
                    const int number = (i * l->cells[1] + j) * l->cells[2] + k;
                    to[at] = real_at(l, q, number * RP_QUAD + 3);
                }
            }
        }
    }
}

// The outward gradient of a body's mass, smoothed by binomial weights.
ALWAYS void smooth_surface(const scene *s, int page, const int node[3], double out[3],
                           const int dim)
{
    static const double keep[] = {1, 4, 6, 4, 1}, slope[] = {-1, -2, 0, 2, 1};
    enum { TAPS = 2 * SMOOTH + 1 };
    const int side1 = s->l->cells[1] + 2 * SMOOTH,
              side2 = dim == 3 ? s->l->cells[2] + 2 * SMOOTH : 1;
    const double *from = s->room->padded + (size_t)page * PADDED_MOST;
    double sum[3] = {0};
    for (int i = 0; i < TAPS; i++) {
        for (int j = 0; j < TAPS; j++) {
            const double *row = from + ((node[0] + i) * side1 + node[1] + j) * side2 + node[2];
            double kept = row[0], sloped = 0.0;
            if (dim == 3) {
                kept = sloped = 0.0;
                for (int k = 0; k < TAPS; k++) {
                    kept += keep[k] * row[k];
                    sloped += slope[k] * row[k];
                }
            }
            sum[0] -= slope[i] * keep[j] * kept;
            sum[1] -= keep[i] * slope[j] * kept;
            sum[2] -= keep[i] * keep[j] * sloped;
        }
    }
    memcpy(out, sum, sizeof sum);
}

// ---- what a node asks of particles ----

// Runs of particles that reach a node: one for each row of cells.
typedef struct runs {
    int count;
    struct {
        int32_t first, end;
    } of[16];
} runs;

ALWAYS runs runs_of(const scene *s, int page, const int node[3], const int dim, const int order)
{
    const int32_t *start = s->room->start + (size_t)page * (CELLS_MOST + 1);
    runs r = {0};
    for (int i = node[0] - order; i <= node[0]; i++) {
        for (int j = dim == 3 ? node[1] - order : node[1]; j <= node[1]; j++) {
            // rows lie along the last axis
            const int low[3] = {i, dim == 3 ? j : node[1] - order, dim == 3 ? node[2] - order : 0};
            const int first = cell_number(s, low, order);
            r.of[r.count].first = start[first];
            r.of[r.count].end = start[first + order + 1];
            r.count += r.of[r.count].end > r.of[r.count].first;
        }
    }
    return r;
}

// A spline of this order and its slope, `d` cells from its middle.
ALWAYS double spline(double d, double *slope, const int order)
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

// The outward gradient of a body's mass at a node, sum of m grad w, with the
// gradient by the particle's place [kg / cell].
ALWAYS void find_surface(const scene *s, const runs *r, const int node[3], double out[3],
                         const int dim, const int order)
{
    const struct meeting_room *room = s->room;
    double sum[3] = {0};
    for (int k = 0; k < r->count; k++) {
        for (int32_t i = r->of[k].first; i < r->of[k].end; i++) {
            double w[3] = {1.0, 1.0, 1.0}, d[3] = {0};
            for (int a = 0; a < dim; a++) {
                w[a] = spline(room->x[a][i] - node[a], &d[a], order);
            }
            const double m = room->mass[i];
            sum[0] += m * d[0] * w[1] * w[2];
            sum[1] += m * w[0] * d[1] * w[2];
            if (dim == 3) {
                sum[2] += m * w[0] * w[1] * d[2];
            }
        }
    }
    memcpy(out, sum, sizeof sum);
}

// How far a body reaches along a direction, from the node [cells].
ALWAYS double find_support(const scene *s, const runs *r, const int node[3], const double way[3],
                           const int dim)
{
    const struct meeting_room *room = s->room;
    double from = 0.0, most = -INFINITY;
    for (int a = 0; a < dim; a++) {
        from += way[a] * node[a];
    }
    for (int k = 0; k < r->count; k++) {
        for (int32_t i = r->of[k].first; i < r->of[k].end; i++) {
            double u = room->half[i];
            for (int a = 0; a < dim; a++) {
                u += way[a] * room->x[a][i];
            }
            most = u > most ? u : most;
        }
    }
    return most - from;
}

// Between two bodies along a normal from the first to the second [cells];
// negative: they overlap.
ALWAYS double find_gap(const scene *s, const runs *b, const runs *d, const int node[3],
                       const double normal[3], const int dim)
{
    const double back[3] = {-normal[0], -normal[1], -normal[2]};
    return -(find_support(s, b, node, normal, dim) + find_support(s, d, node, back, dim));
}

// exp(-x) for x >= 0, to 1e-9 or so, which is far more than a fit needs: a
// power of two, and the first terms of a series. Not the library's, whose bits
// depend on the processor.
static double decay(double x)
{
    if (!(x < 700.0)) {
        return 0.0;
    }
    const double turns = floor(x * 1.4426950408889634 + 0.5);
    const double r = turns * 0.6931471805599453 - x; // |r| <= 0.35
    const double series =
        1.0 +
        r * (1.0 + r * (1.0 / 2.0 +
                        r * (1.0 / 6.0 +
                             r * (1.0 / 24.0 +
                                  r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0)))))));
    const uint64_t bits = (uint64_t)(1023 - (int64_t)turns) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power * series;
}

// Solve a symmetric positive system by Cholesky's method. @return false: it is
// none
static bool solve(double A[4][4], double b[4], int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            double sum = A[i][k];
            for (int j = 0; j < k; j++) {
                sum -= A[i][j] * A[k][j];
            }
            A[i][k] = sum / A[k][k];
        }
        double left = A[i][i];
        for (int j = 0; j < i; j++) {
            left -= A[i][j] * A[i][j];
        }
        if (!(left > 0.0)) {
            return false;
        }
        A[i][i] = sqrt(left);
        double sum = b[i];
        for (int j = 0; j < i; j++) {
            sum -= A[i][j] * b[j];
        }
        b[i] = sum / A[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = b[i];
        for (int j = i + 1; j < n; j++) {
            sum -= A[j][i] * b[j];
        }
        b[i] = sum / A[i][i];
    }
    return true;
}

// One Newton step of the fit: the gradient and the curvature that the particles
// of one body add.
ALWAYS int add_to_fit(const scene *s, const runs *r, const int node[3], double side,
                      const double plane[4], double A[4][4], double b[4], const int dim)
{
    const struct meeting_room *room = s->room;
    int count = 0;
    for (int k = 0; k < r->count; k++) {
        for (int32_t i = r->of[k].first; i < r->of[k].end; i++, count++) {
            double X[4] = {0}, z = plane[dim];
            for (int a = 0; a < dim; a++) {
                X[a] = room->x[a][i] - node[a];
                z += plane[a] * X[a];
            }
            X[dim] = 1.0;
            // probability that the particle is on the wrong side
            const double e = decay(fabs(z)), right = 1.0 / (1.0 + e);
            const double wrong = (z < 0.0) == (side < 0.0) ? e * right : right;
            const double bend = wrong * (1.0 - wrong);
            for (int a = 0; a <= dim; a++) {
                b[a] += side * wrong * X[a];
                for (int c = 0; c <= a; c++) {
                    A[a][c] += bend * X[a] * X[c];
                }
            }
        }
    }
    return count;
}

// The normal of the plane that separates the particles of two bodies best:
// penalised logistic regression (Nairn, Hammerquist & Smith 2020),
// docs/theory.md (B3). It starts from a guess and keeps it where it finds no
// better one.
ALWAYS void fit_plane(const scene *s, const runs *b, const runs *d, const int node[3],
                      double normal[3], const int dim)
{
    enum { STEPS = 16 };
    static const double PENALTY = 1e-3, LONGEST = 4.0, STILL = 1e-4;
    double plane[4] = {0};
    for (int a = 0; a < dim; a++) {
        plane[a] = 2.0 * normal[a];
    }
    for (int step = 0; step < STEPS; step++) {
        double A[4][4] = {{0}}, way[4] = {0}, length2 = 0.0, most = 0.0;
        int count = add_to_fit(s, b, node, -1.0, plane, A, way, dim);
        count += add_to_fit(s, d, node, 1.0, plane, A, way, dim);
        for (int a = 0; a <= dim; a++) {
            const double stiff = PENALTY * count * (a < dim ? 1.0 : 1e-3);
            A[a][a] += stiff + 1e-12;
            way[a] -= stiff * plane[a];
        }
        if (!solve(A, way, dim + 1)) {
            break;
        }
        for (int a = 0; a <= dim; a++) {
            length2 += way[a] * way[a];
            most = fmax(most, fabs(way[a]));
        }
        const double share = length2 > LONGEST * LONGEST ? LONGEST / sqrt(length2) : 1.0;
        for (int a = 0; a <= dim; a++) {
            plane[a] += share * way[a];
        }
        if (most < STILL) {
            break;
        }
    }
    const double length =
        sqrt(plane[0] * plane[0] + plane[1] * plane[1] + (dim == 3 ? plane[2] * plane[2] : 0.0));
    for (int a = 0; a < dim && length > 1e-9; a++) {
        normal[a] = plane[a] / length;
    }
}

// From body b to body d, by the gradients of their mass. @return false: there
// is none
static bool surface_normal(const double b[3], const double d[3], rp_normals how, double normal[3],
                           bool *agree)
{
    static const double SAME = 0.99, LEAST = 0.1;
    double bb = 0.0, dd = 0.0, bd = 0.0, length2 = 0.0;
    for (int a = 0; a < 3; a++) {
        bb += b[a] * b[a];
        dd += d[a] * d[a];
        bd += b[a] * d[a];
    }
    *agree = -bd > SAME * sqrt(bb * dd);
    const double share_b = how == RP_NORMALS_PAPER ? (bb > 0.0 ? 1.0 / sqrt(bb) : 0.0) : 1.0;
    const double share_d = how == RP_NORMALS_PAPER ? (dd > 0.0 ? 1.0 / sqrt(dd) : 0.0) : 1.0;
    for (int a = 0; a < 3; a++) {
        normal[a] = share_b * b[a] - share_d * d[a];
        length2 += normal[a] * normal[a];
    }
    const double length = sqrt(length2), least = how == RP_NORMALS_PAPER ? LEAST : 0.0;
    for (int a = 0; a < 3 && length > least; a++) {
        normal[a] /= length;
    }
    return length > least;
}

// ---- a node ----

static void *quads(const scene *s, int page)
{
    return rp_grid_nodes(s->m->grid, RP_CH_MOMENTUM, s->first + page);
}

// What the pairs asked for, and what they got, is noted per pair of pages.
static void note(const scene *s, const rp_node_pair *p, int b, int d, int64_t first)
{
    struct meeting_room *room = s->room;
    const int64_t number = pair_number(s->pages, b, d);
    rp_meeting *given = &s->m->given[first + number];
    double along = 0.0, across = 0.0, slid = 0.0, relative = 0.0;
    for (int a = 0; a < 3; a++) {
        const double way = room->v[p->b][a] - room->v[p->d][a];
        given->impulse[a] += p->impulse[a];
        across += p->impulse[a] * p->normal[a];
        relative += way * p->normal[a];
        slid += p->impulse[a] * way;
        along += fabs(p->impulse[a]);
    }
    // the impulse along the surface times the way that is still slid along it
    given->rubbed += slid - across * relative;
    given->nodes += along > 0.0;
}

// Bodies that disagree about where their surface points: the one with the
// corner is wrong, and the one with the face is right. So of all that could be
// the normal it is the one along which they are farthest apart: what separates
// them at all does so with the widest gap. Where none of the gradients
// separates them, the fitted plane may.
// @param gap along the normal that there is; @return along the one that is
// chosen
ALWAYS double find_widest(const scene *s, const runs *of_b, const runs *of_d, const int node[3],
                          int b, int d, double gap, double normal[3], const int dim)
{
    static const double APART = -0.5; // [cells]: less is in each other
    struct meeting_room *room = s->room;
    const double *surface[2] = {room->surface[b], room->surface[d]};
    double best[3] = {normal[0], normal[1], normal[2]}, widest = gap;
    for (int i = 0; i < 3; i++) {
        double way[3] = {normal[0], normal[1], normal[2]};
        if (i < 2) {
            const double length =
                sqrt(surface[i][0] * surface[i][0] + surface[i][1] * surface[i][1] +
                     surface[i][2] * surface[i][2]);
            if (!(length > 0.0)) {
                continue;
            }
            for (int a = 0; a < 3; a++) {
                way[a] = (i == 0 ? 1.0 : -1.0) * surface[i][a] / length;
            }
        } else {
            if (widest > APART) {
                break;
            }
            fit_plane(s, of_b, of_d, node, way, dim);
            room->report.fits++;
        }
        const double other = find_gap(s, of_b, of_d, node, way, dim);
        if (other > widest) {
            widest = other;
            memcpy(best, way, sizeof best);
        }
    }
    memcpy(normal, best, sizeof best);
    return widest;
}

// The normal of the sheet that two bodies share, unless they lie in each other
// along it more than along the one that there is.
// @param gap along the normal that there is; @return along the one that is
// chosen
ALWAYS double find_sheet(const scene *s, const runs *of_b, const runs *of_d, const int node[3],
                         int b, int d, double gap, double normal[3], const int dim)
{
    static const double WORSE = 0.3; // [cells]: roughness
    struct meeting_room *room = s->room;
    const int page_b = room->here[b], page_d = room->here[d], patch = patch_of(node);
    lens *l = &room->lens[pair_number(s->pages, page_b, page_d) * RP_PATCHES + patch];
    if (!l->known) {
        make_lens(s->m, s->first + page_b, s->first + page_d, patch, l);
    }
    double way[3] = {0}, length2 = 0.0;
    for (int a = 0; a < dim; a++) {
        for (int c = 0; c < dim; c++) {
            way[a] += l->turn[a][c] * normal[c];
        }
        length2 += way[a] * way[a];
    }
    const double length = sqrt(length2);
    if (!(length > 0.0)) {
        return gap;
    }
    for (int a = 0; a < dim; a++) {
        way[a] /= length;
    }
    const double other = find_gap(s, of_b, of_d, node, way, dim);
    if (other < gap - WORSE) {
        return gap;
    }
    memcpy(normal, way, sizeof way);
    return other;
}

// Bodies at a node that glue holds together have one velocity already, and one mass from here on.
// @return how many there are then; the numbers of bodies are in room->unit
static int join_units(const scene *s, int n, int bodies)
{
    struct meeting_room *room = s->room;
    int units = bodies;
    for (int b = 0; b < bodies; b++) {
        room->unit[b] = b;
    }
    if (s->bound) {
        units = rp_glue_units(s->m->glue, s->block, s->thread, n, room->here, bodies, room->unit);
    }
    // a unit has no higher number than the first of its bodies
    for (int b = 0, next = 0; b < bodies && units < bodies; b++) {
        const int u = room->unit[b];
        if (u == next) {
            next++;
            room->m[u] = room->m[b];
            memmove(room->v[u], room->v[b], sizeof room->v[u]);
        } else {
            room->m[u] += room->m[b];
        }
    }
    return units;
}

// What two bodies of a node weigh together, as far as they can push each other.
static double reduced_mass(const scene *s, int n, int b, int d)
{
    const double one = real_at(s->l, quads(s, s->room->here[b]), n * RP_QUAD + 3);
    const double other = real_at(s->l, quads(s, s->room->here[d]), n * RP_QUAD + 3);
    return one * other / (one + other);
}

// Of all pairs of bodies that belong to the same two units, the heaviest alone touches: several
// normals between the same two would wedge them.
static bool speaks_for_units(const scene *s, int n, int bodies, int b, int d)
{
    const int *unit = s->room->unit;
    const double own = reduced_mass(s, n, b, d);
    for (int i = 0; i < bodies; i++) {
        for (int k = i + 1; k < bodies; k++) {
            const bool same = (unit[i] == unit[b] && unit[k] == unit[d]) ||
                              (unit[i] == unit[d] && unit[k] == unit[b]);
            if (!same || (i == b && k == d)) {
                continue;
            }
            const double mass = reduced_mass(s, n, i, k);
            if (mass > own || (mass == own && (i < b || (i == b && k < d)))) {
                return false;
            }
        }
    }
    return true;
}

ALWAYS void meet_at_node(const scene *s, int n, int64_t first, const int dim, const int order)
{
    struct meeting_room *room = s->room;
    const rp_meetings *m = s->m;
    const int32_t *cells = s->l->cells;
    const int node[3] = {n / (cells[1] * cells[2]), n / cells[2] % cells[1], n % cells[2]};
    int bodies = 0;
    for (int p = 0; p < s->pages; p++) {
        if (room->mask[p][n / 64] >> n % 64 & 1) {
            const void *q = quads(s, p);
            room->here[bodies] = p;
            for (int a = 0; a < 3; a++) {
                room->v[bodies][a] = a < dim ? real_at(s->l, q, n * RP_QUAD + a) : 0.0;
            }
            room->m[bodies] = real_at(s->l, q, n * RP_QUAD + 3);
            smooth_surface(s, p, node, room->surface[bodies], dim);
            bodies++;
        }
    }
    const int units = join_units(s, n, bodies);
    int pairs = 0;
    for (int b = 0; b < bodies; b++) {
        for (int d = b + 1; d < bodies; d++) {
            if (room->unit[b] == room->unit[d] ||
                (units < bodies && !speaks_for_units(s, n, bodies, b, d))) {
                continue;
            }
            const rp_node_page *page = rp_grid_page(m->grid) + s->first;
            rp_node_pair *p = &room->pair[pairs];
            bool agree;
            *p = (rp_node_pair){.b = room->unit[b], .d = room->unit[d]};
            room->who[pairs][0] = room->here[b];
            room->who[pairs][1] = room->here[d];
            p->rule = rp_pairs_rule(m->pairs, page[room->here[b]].field, page[room->here[d]].field);
            const runs of_b = runs_of(s, room->here[b], node, dim, order);
            const runs of_d = runs_of(s, room->here[d], node, dim, order);
            double raw[2][3];
            const double *surface[2] = {room->surface[b], room->surface[d]};
            if (p->rule->normals == RP_NORMALS_PAPER || p->rule->normals == RP_NORMALS_DIFFERENCE) {
                find_surface(s, &of_b, node, raw[0], dim, order);
                find_surface(s, &of_d, node, raw[1], dim, order);
                surface[0] = raw[0];
                surface[1] = raw[1];
            }
            if (!surface_normal(surface[0], surface[1], p->rule->normals, p->normal, &agree)) {
                continue;
            }
            double gap = 0.0;
            if (p->rule->normals == RP_NORMALS_REGRESSION) {
                fit_plane(s, &of_b, &of_d, node, p->normal, dim);
                room->report.fits++;
            }
            if (p->rule->gap || p->rule->normals == RP_NORMALS_AUTO) {
                gap = find_gap(s, &of_b, &of_d, node, p->normal, dim);
            }
            if (p->rule->normals == RP_NORMALS_AUTO) {
                const double before = gap;
                gap = find_sheet(s, &of_b, &of_d, node, b, d, gap, p->normal, dim);
                if (gap == before && !agree) {
                    gap = find_widest(s, &of_b, &of_d, node, b, d, gap, p->normal, dim);
                }
            }
            if (p->rule->gap) {
                p->speed = gap > 0.0 ? gap * s->l->h / m->dt : 0.0;
                p->touches = !(gap > 0.0);
            }
            p->touches = p->touches || !p->rule->gap;
            pairs++;
        }
    }
    // all of them, also across a gap that none closes by itself: one that is squeezed out leaves
    // faster than any came
    const int sweeps =
        rp_node_resolve(room->v, room->m, units, room->pair, pairs, m->pairs->impulses,
                        s->l->precision == RP_SINGLE ? 1e-8 : 1e-13);
    room->report.nodes++;
    room->report.sweeps += sweeps;
    room->report.restless += sweeps == RP_NODE_SWEEPS;
    for (int i = 0; i < pairs; i++) {
        note(s, &room->pair[i], room->who[i][0], room->who[i][1], first);
    }
    for (int b = 0; b < bodies; b++) {
        void *q = quads(s, room->here[b]);
        const double *v = room->v[room->unit[b]];
        for (int a = 0; a < dim; a++) {
            if (s->l->precision == RP_SINGLE) {
                ((float *)q)[n * RP_QUAD + a] = (float)v[a];
            } else {
                ((double *)q)[n * RP_QUAD + a] = v[a];
            }
        }
    }
}

// ---- a block ----

// Cells whose particles reach a shared node.
ALWAYS void mark_cells(scene *s, const uint64_t shared[MASK_WORDS], const int dim, const int order)
{
    const int32_t *cells = s->l->cells;
    memset(s->wanted, 0, sizeof s->wanted);
    for (int n = 0; n < s->l->nodes; n++) {
        if (!(shared[n / 64] >> n % 64 & 1)) {
            continue;
        }
        const int node[3] = {n / (cells[1] * cells[2]), n / cells[2] % cells[1], n % cells[2]};
        for (int i = node[0] - order; i <= node[0]; i++) {
            for (int j = node[1] - order; j <= node[1]; j++) {
                const int at[3] = {i, j, dim == 3 ? node[2] - order : 0};
                memset(s->wanted + cell_number(s, at, order), 1, dim == 3 ? (size_t)order + 1 : 1);
            }
        }
    }
}

ALWAYS void meet_in_block(scene *s, const uint64_t shared[MASK_WORDS], int64_t first, const int dim,
                          const int order)
{
    for (int a = 0; a < 3; a++) {
        s->reach[a] = a < dim ? s->l->cells[a] + order : 1;
    }
    mark_cells(s, shared, dim, order);
    int32_t count = 0;
    for (int p = 0; p < s->pages; p++) {
        count = collect_body(s, p, count, dim, order);
        pad_masses(s, p, dim);
    }
    for (int64_t i = 0; i < pairs_of(s->pages) * RP_PATCHES; i++) {
        s->room->lens[i].known = false;
    }
    for (int n = 0; n < s->l->nodes; n++) {
        if (shared[n / 64] >> n % 64 & 1) {
            meet_at_node(s, n, first, dim, order);
        }
    }
}

void rp_meetings_apply(const rp_meetings *m, rp_local b, int thread)
{
    const rp_node_block *block = &rp_grid_block(m->grid)[b];
    if (block->count < 2 || !m->shared[b]) {
        return;
    }
    scene s = {.m = m,
               .room = &m->room[thread],
               .l = &m->grid->layout,
               .first = block->first,
               .block = b,
               .pages = block->count,
               .thread = thread};
    uint64_t shared[MASK_WORDS];
    memset(m->given + m->first[b], 0, (size_t)pairs_of(block->count) * sizeof *m->given);
    find_shared(m, block, s.room->mask, shared);
    s.bound = m->glue != NULL && rp_glue_bind(m->glue, b, thread);
    if (s.bound) {
        rp_glue_merge(m->glue, b, thread, s.room->mask, shared);
        if ((shared[0] | shared[1] | shared[2] | shared[3]) == 0) {
            return;
        }
    }
    // dimension and order are constants in what follows
    switch (s.l->dim * 10 + s.l->order) {
    case 21:
        meet_in_block(&s, shared, m->first[b], 2, 1);
        break;
    case 22:
        meet_in_block(&s, shared, m->first[b], 2, 2);
        break;
    case 23:
        meet_in_block(&s, shared, m->first[b], 2, 3);
        break;
    case 31:
        meet_in_block(&s, shared, m->first[b], 3, 1);
        break;
    case 32:
        meet_in_block(&s, shared, m->first[b], 3, 2);
        break;
    default:
        meet_in_block(&s, shared, m->first[b], 3, 3);
        break;
    }
}

void rp_meetings_sum(const rp_meetings *m, rp_pair_loads *loads, double *rubbed)
{
    const rp_node_page *page = rp_grid_page(m->grid);
    for (rp_local b = 0; b < m->grid->blocks; b++) {
        const rp_node_block *block = &rp_grid_block(m->grid)[b];
        const rp_meeting *given = m->given + m->first[b];
        for (rp_local i = block->first; i < block->first + block->count; i++) {
            for (rp_local k = i + 1; k < block->first + block->count; k++, given++) {
                if (given->nodes > 0.0) {
                    rp_pair_loads_add(loads, page[i].field, page[k].field, given->impulse,
                                      given->rubbed);
                    *rubbed += given->rubbed;
                }
            }
        }
    }
}

rp_meeting_report rp_meetings_report(const rp_meetings *m, int threads)
{
    rp_meeting_report all = {0};
    for (int t = 0; t < threads; t++) {
        const rp_meeting_report *own = &m->room[t].report;
        all.nodes += own->nodes;
        all.fits += own->fits;
        all.sweeps += own->sweeps;
        all.restless += own->restless;
    }
    return all;
}
