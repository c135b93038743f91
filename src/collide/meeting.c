#include "collide/meeting.h"

#include "base/result.h"
#include "collide/sheet.h"

#include <math.h>
#include <string.h>

enum { MASK_WORDS = RP_MASK_WORDS };

// A body at a node.
typedef struct guest {
    int page;    // of the block
    bool seen;   // what reaches the node is in `sight`
    bool looked; // ... and its face is known, too
    rp_sight sight;
    rp_face face;
} guest;

// What a thread works with: one block, and in it one node.
struct meeting_room {
    rp_view *view;   // [page][pages around]
    rp_views *views; // [page]
    rp_sight_room sights;
    guest *guest;        // bodies at a node
    int *here, *unit;    // likewise: the pages that they are, and which of them glue makes one
    double (*v)[3], *m;  // likewise
    double (*before)[3]; // ... velocities before contact
    rp_node_pair *pair;  // of units, that may touch
    rp_node_pair *aside; // that are too far apart, `speed` is what they would need
    int (*who)[2], (*who_aside)[2]; // the guests that they are
    double *padded;                 // [page][RP_PADDED_MOST], where a normal needs it
    bool *is_padded;                // [page]
    uint32_t (*around)[RP_NEAR];    // [page], likewise
    rp_lens *lens;                  // [pair of pages][patch]
    double *apart; // [pair of pages][patch]: speed that closes what is between them there
    int32_t *cell; // [particle of a page]
    rp_meeting_report report;
};

// ---- memory ----

static int64_t pairs_of(int64_t n) { return n * (n - 1) / 2; }

void rp_meeting_plan_free(rp_meeting_plan *plan, const rp_allocator *a)
{
    rp_buffer *const all[] = {&plan->block_of, &plan->first, &plan->meeting, &plan->number,
                              &plan->crowd};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        rp_buffer_free(all[i], a);
    }
}

// Blocks that several bodies reach, and the pairs of their pages.
static rp_result plan_blocks(rp_meeting_plan *plan, const rp_grid *grid)
{
    const rp_allocator *a = grid->allocator;
    const size_t blocks = (size_t)grid->blocks, pages = (size_t)grid->pages;
    RP_TRY(rp_buffer_reserve(&plan->block_of, a, pages * sizeof(rp_local), 0, "blocks of pages"));
    RP_TRY(rp_buffer_reserve(&plan->first, a, blocks * sizeof(int64_t), 0, "shared blocks"));
    RP_TRY(rp_buffer_reserve(&plan->meeting, a, blocks * sizeof(rp_local), 0, "shared blocks"));
    for (rp_local b = 0; b < grid->blocks; b++) {
        const rp_node_block *block = &rp_grid_block(grid)[b];
        ((int64_t *)plan->first.data)[b] = plan->pairs;
        for (rp_local p = block->first; p < block->first + block->count; p++) {
            ((rp_local *)plan->block_of.data)[p] = b;
        }
        if (block->count > 1) {
            ((rp_local *)plan->meeting.data)[plan->meetings++] = b;
            plan->pairs += pairs_of(block->count);
            plan->pages = block->count > plan->pages ? block->count : plan->pages;
        }
    }
    return RP_OK;
}

// Does a page of particles reach a block that others reach as well?
static bool has_company(const rp_meeting_plan *plan, const rp_grid *grid, const rp_page *page)
{
    for (int n = 0; n < RP_NEAR; n++) {
        if (page->near[n] != RP_NO_PAGE) {
            const rp_local block = ((const rp_local *)plan->block_of.data)[page->near[n]];
            if (rp_grid_block(grid)[block].count > 1) {
                return true;
            }
        }
    }
    return false;
}

// Pages of particles that may be needed.
static rp_result plan_crowds(rp_meeting_plan *plan, const rp_grid *grid, const rp_species *species,
                             int species_count)
{
    const rp_allocator *a = grid->allocator;
    size_t pages = 0;
    for (int s = 0; s < species_count; s++) {
        pages += (size_t)species[s].set->pages;
    }
    RP_TRY(rp_buffer_reserve(&plan->number, a, pages * sizeof(int32_t), 0, "pages of bodies"));
    RP_TRY(rp_buffer_reserve(&plan->crowd, a, pages * sizeof(rp_crowd), 0, "pages of bodies"));
    size_t at = 0;
    for (int s = 0; s < species_count; s++) {
        const rp_set *set = species[s].set;
        for (rp_local p = 0; p < set->pages; p++, at++) {
            const rp_page *page = &rp_set_page(set)[p];
            const bool wanted = rp_set_has_mass(set) && has_company(plan, grid, page);
            ((int32_t *)plan->number.data)[at] = wanted ? plan->crowds : -1;
            if (!wanted) {
                continue;
            }
            rp_crowd *crowd = (rp_crowd *)plan->crowd.data + plan->crowds++;
            *crowd = (rp_crowd){.species = s, .page = p};
            rp_cells_cover(&crowd->cells, &grid->layout, page);
            plan->particles += page->count;
            plan->cells += rp_cells_count(&crowd->cells);
            plan->most = page->count > plan->most ? page->count : plan->most;
        }
    }
    return RP_OK;
}

static rp_result make_plan(rp_meeting_plan *plan, const rp_grid *grid, const rp_species *species,
                           int species_count)
{
    if (plan->build == grid->builds) {
        return RP_OK;
    }
    plan->build = 0; // until all of it is there
    plan->pairs = plan->particles = plan->cells = 0;
    plan->meetings = plan->crowds = plan->most = 0;
    plan->pages = 0;
    RP_TRY(plan_blocks(plan, grid));
    RP_TRY(plan_crowds(plan, grid, species, species_count));
    plan->build = grid->builds;
    return RP_OK;
}

// Memory for the particles of a step: one after the other, page by page.
static rp_result seat_crowds(const rp_meeting_plan *plan, const rp_species *species, rp_scratch *s)
{
    static const char what[] = "contact of bodies";
    const size_t particles = (size_t)plan->particles + 1, cells = (size_t)plan->cells + 1;
    double *number = rp_scratch_get(s, 5 * particles * sizeof *number, what);
    int32_t *slot = rp_scratch_get(s, particles * sizeof *slot, what);
    int32_t *start = rp_scratch_get(s, (cells + (size_t)plan->crowds) * sizeof *start, what);
    rp_cell_box *box = rp_scratch_get(s, cells * sizeof *box, what);
    if (number == NULL || slot == NULL || start == NULL || box == NULL) {
        return RP_ERR_MEMORY;
    }
    for (rp_local i = 0; i < plan->crowds; i++) {
        rp_crowd *crowd = (rp_crowd *)plan->crowd.data + i;
        rp_cells *c = &crowd->cells;
        const rp_local count = rp_set_page(species[crowd->species].set)[crowd->page].count;
        for (int a = 0; a < 3; a++) {
            c->x[a] = number + (size_t)a * particles;
        }
        c->radius = number + 3 * particles;
        c->depth = number + 4 * particles;
        c->slot = slot;
        c->start = start;
        c->box = box;
        number += count;
        slot += count;
        start += rp_cells_count(c) + 1;
        box += rp_cells_count(c);
    }
    return RP_OK;
}

static rp_result furnish(struct meeting_room *room, const rp_meetings *m, rp_scratch *s)
{
    static const char what[] = "contact of bodies";
    const rp_meeting_plan *plan = m->plan;
    const size_t p = (size_t)plan->pages + 1, pairs = (size_t)pairs_of(plan->pages + 1);
    *room = (struct meeting_room){.sights.most = (int)p * 2 * RP_SIGHT_MOST};
    const size_t seen = (size_t)room->sights.most;
    room->sights.box = rp_scratch_get(s, seen * sizeof *room->sights.box, what);
    room->view =
        rp_scratch_get(s, p * RP_NEAR * (size_t)m->species_count * sizeof *room->view, what);
    room->views = rp_scratch_get(s, p * sizeof *room->views, what);
    room->sights.first = rp_scratch_get(s, seen * sizeof *room->sights.first, what);
    room->sights.end = rp_scratch_get(s, seen * sizeof *room->sights.end, what);
    room->sights.view = rp_scratch_get(s, seen * sizeof *room->sights.view, what);
    room->guest = rp_scratch_get(s, p * sizeof *room->guest, what);
    room->here = rp_scratch_get(s, p * sizeof *room->here, what);
    room->unit = rp_scratch_get(s, p * sizeof *room->unit, what);
    room->who = rp_scratch_get(s, pairs * sizeof *room->who, what);
    room->who_aside = rp_scratch_get(s, pairs * sizeof *room->who_aside, what);
    room->v = rp_scratch_get(s, p * sizeof *room->v, what);
    room->before = rp_scratch_get(s, p * sizeof *room->before, what);
    room->m = rp_scratch_get(s, p * sizeof *room->m, what);
    room->pair = rp_scratch_get(s, pairs * sizeof *room->pair, what);
    room->aside = rp_scratch_get(s, pairs * sizeof *room->aside, what);
    room->padded = rp_scratch_get(s, p * RP_PADDED_MOST * sizeof *room->padded, what);
    room->around = rp_scratch_get(s, p * sizeof *room->around, what);
    room->is_padded = rp_scratch_get(s, p * sizeof *room->is_padded, what);
    room->lens = rp_scratch_get(s, pairs * RP_PATCHES * sizeof *room->lens, what);
    room->apart = rp_scratch_get(s, pairs * RP_PATCHES * sizeof *room->apart, what);
    room->cell = rp_scratch_get(s, ((size_t)plan->most + 1) * sizeof *room->cell, what);
    // memory that is not there is told by the last one that asked, and all after it fail as well
    const void *got[] = {
        room->around,     room->sights.box,  room->view,  room->views,  room->sights.first,
        room->sights.end, room->sights.view, room->guest, room->v,      room->before,
        room->m,          room->pair,        room->aside, room->padded, room->is_padded,
        room->lens,       room->apart,       room->cell,  room->here,   room->unit,
        room->who,        room->who_aside};
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
                       .least = least,
                       .plan = plan};
    RP_TRY(make_plan(plan, grid, species, species_count));
    RP_TRY(seat_crowds(plan, species, scratch));
    m->count = plan->pairs;
    const size_t count = (size_t)m->count + 1;
    m->room = rp_scratch_get(scratch, (size_t)threads * sizeof *m->room, "contact of bodies");
    m->shared =
        rp_scratch_get(scratch, ((size_t)grid->blocks + 1) * sizeof *m->shared, "shared blocks");
    m->mask = rp_scratch_get(scratch, ((size_t)grid->pages + 1) * sizeof *m->mask, "shared nodes");
    m->given = rp_scratch_get(scratch, count * sizeof *m->given, "impulses of pairs");
    if (m->room == NULL || m->shared == NULL || m->mask == NULL || m->given == NULL) {
        return RP_ERR_MEMORY;
    }
    memset(m->shared, 0, (size_t)grid->blocks * sizeof *m->shared);
    for (int t = 0; t < threads; t++) {
        RP_TRY(furnish(&m->room[t], m, scratch));
    }
    return RP_OK;
}

static int64_t first_pair(const rp_meetings *m, rp_local block)
{
    return ((const int64_t *)m->plan->first.data)[block];
}

// ---- nodes that are shared ----

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
        for (int n = 0; n < l->nodes; n += 16) { // blocks have 64 or 256 nodes
            unsigned some = 0;
            for (int k = 0; k < 16; k++) {
                some |= (unsigned)(mass[(n + k) * RP_QUAD] > least) << k;
            }
            mask[n / 64] |= (uint64_t)some << n % 64;
        }
    } else {
        const double *mass = (const double *)q + 3;
        for (int n = 0; n < l->nodes; n++) {
            mask[n / 64] |= (uint64_t)(mass[n * RP_QUAD] > m->least) << n % 64;
        }
    }
}

// Nodes that two or more pages have mass at.
static bool add_shared(uint64_t (*mask)[MASK_WORDS], int pages, uint64_t shared[MASK_WORDS])
{
    uint64_t once[MASK_WORDS] = {0}, any = 0;
    memset(shared, 0, MASK_WORDS * sizeof *shared);
    for (int p = 0; p < pages; p++) {
        for (int w = 0; w < MASK_WORDS; w++) {
            shared[w] |= once[w] & mask[p][w];
            once[w] |= mask[p][w];
            any |= shared[w];
        }
    }
    return any != 0;
}

void rp_meetings_look(const rp_meetings *m, rp_local b, int thread)
{
    const rp_node_block *block = &rp_grid_block(m->grid)[b];
    uint64_t shared[MASK_WORDS], (*mask)[MASK_WORDS] = m->mask + block->first;
    if (block->count < 2) {
        return;
    }
    const size_t pairs = (size_t)pairs_of(block->count);
    for (int p = 0; p < block->count; p++) {
        find_mask(m, block->first + p, mask[p]);
    }
    m->shared[b] = add_shared(mask, block->count, shared);
    // where glue holds all there is, nobody touches, and no particles are asked for
    if (m->shared[b] && m->glue != NULL) {
        const bool bound = rp_glue_bind(m->glue, b, thread);
        if (bound) {
            rp_glue_merge(m->glue, b, thread, mask, shared);
            m->shared[b] = (shared[0] | shared[1] | shared[2] | shared[3]) != 0;
        }
        if (m->shared[b]) {
            rp_glue_soften(m->glue, b, thread, bound, mask);
        }
    }
    memset(m->given + first_pair(m, b), 0, pairs * sizeof *m->given);
}

void rp_meetings_order(const rp_meetings *m, rp_local index, int thread)
{
    rp_crowd *crowd = (rp_crowd *)m->plan->crowd.data + index;
    const rp_set *set = m->species[crowd->species].set;
    const rp_page *page = &rp_set_page(set)[crowd->page];
    bool wanted = false;
    for (int n = 0; n < RP_NEAR && !wanted; n++) {
        wanted = page->near[n] != RP_NO_PAGE &&
                 m->shared[((const rp_local *)m->plan->block_of.data)[page->near[n]]];
    }
    if (wanted) {
        rp_cells_fill(&crowd->cells, set, page, m->room[thread].cell);
    }
}

// ---- a block ----

// The block as its contact is worked out.
typedef struct scene {
    const rp_meetings *m;
    struct meeting_room *room;
    const rp_layout *l;
    rp_local first, block;
    int pages, thread;
    bool bound;                   // glue holds some of its nodes
    uint64_t (*mask)[MASK_WORDS]; // [page]: nodes with mass
} scene;

static void *quads(const scene *s, int page)
{
    return rp_grid_nodes(s->m->grid, RP_CH_MOMENTUM, s->first + page);
}

// The pages of particles that reach a node page.
static void find_views(const scene *s, int page)
{
    const rp_meetings *m = s->m;
    rp_view *view = s->room->view + (size_t)page * RP_NEAR * (size_t)m->species_count;
    rp_views *views = &s->room->views[page];
    const int32_t *number = m->plan->number.data;
    *views = (rp_views){.view = view, .dim = s->l->dim, .order = s->l->order};
    for (int k = 0; k < m->species_count; number += m->species[k].set->pages, k++) {
        const rp_set *set = m->species[k].set;
        const uint32_t *source = rp_grid_source(m->grid, k, s->first + page);
        for (int n = 0; n < RP_NEAR && rp_set_has_mass(set); n++) {
            if (source[n] == RP_NO_PAGE) {
                continue;
            }
            int32_t away[3];
            bool near = true;
            rp_near_offset(n, away);
            const rp_cells *c = &((const rp_crowd *)m->plan->crowd.data)[number[source[n]]].cells;
            for (int a = 0; a < s->l->dim; a++) {
                // of no node of the block, nor of the cells around it
                const int32_t from = away[a] * s->l->cells[a] + c->lo[a];
                near = near && c->least[a] <= c->most[a] && from + c->least[a] <= s->l->cells[a] &&
                       from + c->most[a] >= -s->l->order - 1;
            }
            if (!near) {
                continue;
            }
            view[views->count] =
                (rp_view){.cells = c, .set = set, .page = &rp_set_page(set)[source[n]]};
            for (int a = 0; a < 3; a++) {
                view[views->count].away[a] = away[a] * s->l->cells[a];
            }
            views->count++;
        }
    }
}

// ---- a pair at a node ----

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// A direction from the one to the other, good enough to tell that they are far apart.
static void rough_normal(const rp_sight *b, const rp_sight *d, double out[3])
{
    double length2 = 0.0;
    for (int a = 0; a < 3; a++) {
        out[a] = d->middle[a] - b->middle[a];
        length2 += out[a] * out[a];
    }
    for (int a = 0; a < 3; a++) {
        out[a] = length2 > 0.0 ? out[a] / sqrt(length2) : a == 0;
    }
}

// The speed at which two bodies must approach, in whatever direction, to touch within the step.
static double speed_to_touch(const scene *s, const rp_sight *b, const rp_sight *d,
                             const double normal[3])
{
    const double back[3] = {-normal[0], -normal[1], -normal[2]};
    return -(rp_sight_bound(b, normal) + rp_sight_bound(d, back)) * s->l->h / s->m->dt;
}

// The box of a patch's nodes that two pages share. @return false: there are none
static bool shared_box(const scene *s, int b, int d, int patch, int lo[3], int hi[3])
{
    const int32_t *cells = s->l->cells;
    const int from[2] = {patch / 2 * RP_PATCH, patch % 2 * RP_PATCH};
    const uint64_t all = cells[2] == 1 ? 0xfu : 0xffffu; // a row of a patch: its nodes are in turn
    for (int a = 0; a < 3; a++) {
        lo[a] = cells[a];
        hi[a] = -1;
    }
    for (int i = from[0]; i < from[0] + RP_PATCH; i++) {
        const int n = (i * cells[1] + from[1]) * cells[2];
        uint64_t bits = (s->mask[b][n / 64] & s->mask[d][n / 64]) >> n % 64 & all;
        for (; bits != 0; bits &= bits - 1) {
            const int at = __builtin_ctzll(bits);
            const int node[3] = {i, from[1] + at / cells[2], at % cells[2]};
            for (int a = 0; a < 3; a++) {
                lo[a] = node[a] < lo[a] ? node[a] : lo[a];
                hi[a] = node[a] > hi[a] ? node[a] : hi[a];
            }
        }
    }
    return hi[0] >= 0;
}

// Pairs that are apart in a whole patch need not be looked at, node by node.
static void find_apart(const scene *s)
{
    struct meeting_room *room = s->room;
    double *apart = room->apart;
    for (int b = 0; b < s->pages; b++) {
        for (int d = b + 1; d < s->pages; d++) {
            for (int patch = 0; patch < RP_PATCHES; patch++, apart++) {
                int lo[3], hi[3];
                double normal[3];
                *apart = INFINITY;
                if (shared_box(s, b, d, patch, lo, hi)) {
                    room->sights.count = 0;
                    const rp_sight one = rp_sight_of_box(&room->views[b], lo, hi, &room->sights);
                    const rp_sight other = rp_sight_of_box(&room->views[d], lo, hi, &room->sights);
                    rough_normal(&one, &other, normal);
                    *apart = speed_to_touch(s, &one, &other, normal);
                }
            }
        }
    }
}

static void see_guest(const scene *s, guest *g, const int node[3])
{
    if (!g->seen) {
        g->seen = true;
        g->sight = rp_sight_of(&s->room->views[g->page], node, 0, &s->room->sights);
    }
}

// The way out of a body. Where few of its particles reach the node, those around them help.
static const rp_face *face_of(const scene *s, guest *g, const int node[3])
{
    const int few = 4 * (s->l->dim + 1);
    if (!g->looked) {
        g->looked = true;
        g->face = (rp_face){.known = false};
        if (g->sight.particles >= few) {
            g->face = rp_sight_face(&g->sight);
        }
        if (!g->face.known) {
            rp_sight_room *room = &s->room->sights;
            const int kept = room->count;
            const rp_sight wide = rp_sight_of(&s->room->views[g->page], node, 1, room);
            g->face = rp_sight_face(&wide);
            room->count = kept;
        }
    }
    return &g->face;
}

// From the masses at nodes, for bodies that know nothing of a surface.
static double normal_of_sheet(const scene *s, const guest *b, const guest *d, const int node[3],
                              double normal[3])
{
    struct meeting_room *room = s->room;
    const int page[2] = {b->page, d->page}, patch = rp_patch_of(node);
    double gradient[2][3];
    rp_lens *lens = &room->lens[rp_pair_number(s->pages, page[0], page[1]) * RP_PATCHES + patch];
    for (int i = 0; i < 2; i++) {
        double *padded = room->padded + (size_t)page[i] * RP_PADDED_MOST;
        if (!room->is_padded[page[i]]) {
            rp_sheet_around(s->m->grid, s->first + page[i], room->around[page[i]]);
            rp_sheet_pad(s->m->grid, room->around[page[i]], padded);
            room->is_padded[page[i]] = true;
        }
        rp_sheet_gradient(s->l, padded, node, gradient[i]);
    }
    if (!lens->known) {
        rp_sheet_lens(s->m, room->around[page[0]], room->around[page[1]], patch, lens);
    }
    return rp_sheet_normal(&b->sight, &d->sight, gradient[0], gradient[1], lens, normal,
                           &room->report.fits);
}

// What is rougher is a corner, an edge or round. [cells]
static const double FLAT = 0.03;
static bool is_flat(const rp_face *face) { return face->known && face->rough < FLAT; }

// Sides of balls and barrels: what is left over of a plane is how much they bend. Edges and corners
// leave more, and two that are round face each other where they touch.
static bool are_round(const rp_face *one, const rp_face *other)
{
    static const double ROUND = 0.15; // [cells]
    static const double AGREE = 0.3;
    return one->known && other->known && one->rough < ROUND && other->rough < ROUND &&
           dot(one->normal, other->normal) < -AGREE;
}

// Bodies of which one shows a flat face at least: that is right about the normal, and a corner is
// wrong. Of two that agree the flatter one counts more. If they do not, each shows a face that has
// nothing to do with the other: what separates bodies does so with the widest gap.
// @return the gap along the normal [cells]
static double normal_of_faces(const guest *b, const guest *d, double normal[3])
{
    static const double AGREE = 0.9;
    static const double FINEST = 0.01; // [cells]: what is flatter is flat
    const rp_face *face[2] = {&b->face, &d->face};
    double way[2][3], sum[3], length2 = 0.0, share[2];
    const bool round = !is_flat(face[0]) && !is_flat(face[1]);
    for (int i = 0; i < 2; i++) {
        const double spread = face[i]->rough * face[i]->rough + FINEST * FINEST;
        share[i] = round || is_flat(face[i]) ? 1.0 / spread : 0.0;
        for (int a = 0; a < 3; a++) {
            way[i][a] = (i == 0 ? 1.0 : -1.0) * face[i]->normal[a];
        }
    }
    if (is_flat(face[0]) && is_flat(face[1]) && dot(way[0], way[1]) < AGREE) {
        const double gap[2] = {rp_sight_gap(&b->sight, &d->sight, way[0]),
                               rp_sight_gap(&b->sight, &d->sight, way[1])};
        share[gap[0] > gap[1] ? 1 : 0] = 0.0;
    }
    for (int a = 0; a < 3; a++) {
        sum[a] = share[0] * way[0][a] + share[1] * way[1][a];
        length2 += sum[a] * sum[a];
    }
    for (int a = 0; a < 3; a++) {
        normal[a] = sum[a] / sqrt(length2);
    }
    return rp_sight_gap(&b->sight, &d->sight, normal);
}

// As Wretborn prints it, or without making both gradients alike. @return false: there is none
static bool normal_of_gradients(const guest *b, const guest *d, bool paper, double normal[3])
{
    double of_b[3], of_d[3], length2 = 0.0;
    rp_sight_gradient(&b->sight, of_b);
    rp_sight_gradient(&d->sight, of_d);
    const double bb = dot(of_b, of_b), dd = dot(of_d, of_d);
    const double share_b = !paper ? 1.0 : bb > 0.0 ? 1.0 / sqrt(bb) : 0.0;
    const double share_d = !paper ? 1.0 : dd > 0.0 ? 1.0 / sqrt(dd) : 0.0;
    for (int a = 0; a < 3; a++) {
        normal[a] = share_b * of_b[a] - share_d * of_d[a];
        length2 += normal[a] * normal[a];
    }
    const double length = sqrt(length2), least = paper ? 0.1 : 0.0;
    for (int a = 0; a < 3 && length > least; a++) {
        normal[a] /= length;
    }
    return length > least;
}

// Normal and gap of two bodies. @return false: they do not touch here
static bool meet_pair(const scene *s, rp_node_pair *p, guest *b, guest *d, const int node[3])
{
    struct meeting_room *room = s->room;
    const rp_pair_rule *rule = p->rule;
    double gap = 0.0;
    see_guest(s, b, node);
    see_guest(s, d, node);
    rough_normal(&b->sight, &d->sight, p->normal);
    room->report.close++;
    switch (rule->normals) {
    case RP_NORMALS_PAPER:
    case RP_NORMALS_DIFFERENCE:
        if (!normal_of_gradients(b, d, rule->normals == RP_NORMALS_PAPER, p->normal)) {
            return false;
        }
        gap = rule->gap ? rp_sight_gap(&b->sight, &d->sight, p->normal) : 0.0;
        break;
    case RP_NORMALS_REGRESSION:
        rp_sight_separate(&b->sight, &d->sight, p->normal);
        room->report.fits++;
        gap = rule->gap ? rp_sight_gap(&b->sight, &d->sight, p->normal) : 0.0;
        break;
    default:
        face_of(s, b, node);
        face_of(s, d, node);
        gap = is_flat(&b->face) || is_flat(&d->face) || are_round(&b->face, &d->face)
                  ? normal_of_faces(b, d, p->normal)
                  : normal_of_sheet(s, b, d, node, p->normal);
        break;
    }
    p->speed = rule->gap && gap > 0.0 ? gap * s->l->h / s->m->dt : 0.0;
    p->touches = !rule->gap || !(gap > 0.0);
    return true;
}

// ---- a node ----

// What the pairs asked for, and what they got, is noted per pair of pages.
static void note(const scene *s, const rp_node_pair *p, const int who[2])
{
    struct meeting_room *room = s->room;
    const int64_t number =
        rp_pair_number(s->pages, room->guest[who[0]].page, room->guest[who[1]].page);
    rp_meeting *given = &s->m->given[first_pair(s->m, s->block) + number];
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

// Bodies at a node, with mass and velocity. @return how many
static int welcome(const scene *s, int n)
{
    struct meeting_room *room = s->room;
    int bodies = 0;
    room->sights.count = 0;
    for (int p = 0; p < s->pages; p++) {
        if (s->mask[p][n / 64] >> n % 64 & 1) {
            const void *q = quads(s, p);
            for (int a = 0; a < 3; a++) {
                room->v[bodies][a] = a < s->l->dim ? real_at(s->l, q, n * RP_QUAD + a) : 0.0;
            }
            room->m[bodies] = real_at(s->l, q, n * RP_QUAD + 3);
            guest *g = &room->guest[bodies++];
            g->page = room->here[bodies - 1] = p;
            g->seen = g->looked = false;
        }
    }
    return bodies;
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

static double approach(const struct meeting_room *room, const rp_node_pair *p)
{
    double length2 = 0.0;
    for (int a = 0; a < 3; a++) {
        const double u = room->v[p->b][a] - room->v[p->d][a];
        length2 += u * u;
    }
    return sqrt(length2);
}

// All pairs of a node: those that may touch within the step in room->pair, and the others aside,
// with the speed that they would need.
static int sort_pairs(const scene *s, int n, const int node[3], int bodies, int units, int *asides)
{
    struct meeting_room *room = s->room;
    const rp_meetings *m = s->m;
    const rp_node_page *page = rp_grid_page(m->grid) + s->first;
    int pairs = 0;
    *asides = 0;
    for (int b = 0; b < bodies; b++) {
        for (int d = b + 1; d < bodies; d++) {
            guest *one = &room->guest[b], *other = &room->guest[d];
            rp_node_pair p = {.b = room->unit[b], .d = room->unit[d]};
            if (p.b == p.d || (units < bodies && !speaks_for_units(s, n, bodies, b, d))) {
                continue;
            }
            p.rule = rp_pairs_rule(m->pairs, page[one->page].field, page[other->page].field);
            if (p.rule->gap) {
                const double speed = approach(room, &p);
                p.speed =
                    room->apart[rp_pair_number(s->pages, one->page, other->page) * RP_PATCHES +
                                rp_patch_of(node)];
                if (!(p.speed > speed)) {
                    see_guest(s, one, node);
                    see_guest(s, other, node);
                    rough_normal(&one->sight, &other->sight, p.normal);
                    p.speed = speed_to_touch(s, &one->sight, &other->sight, p.normal);
                }
                if (!(p.speed > speed)) {
                    p.speed = rp_sight_gap(&one->sight, &other->sight, p.normal) * s->l->h / m->dt;
                }
                if (p.speed > speed) {
                    room->who_aside[*asides][0] = b;
                    room->who_aside[*asides][1] = d;
                    room->aside[(*asides)++] = p;
                    continue;
                }
            }
            if (meet_pair(s, &p, one, other, node)) {
                room->who[pairs][0] = b;
                room->who[pairs][1] = d;
                room->pair[pairs++] = p;
            }
        }
    }
    return pairs;
}

// What was put aside, and has become faster by what others gave it.
static int call_back(const scene *s, const int node[3], int pairs, int *asides)
{
    struct meeting_room *room = s->room;
    int kept = 0;
    for (int i = 0; i < *asides; i++) {
        rp_node_pair p = room->aside[i];
        const int who[2] = {room->who_aside[i][0], room->who_aside[i][1]};
        if (p.speed > approach(room, &p)) {
            memcpy(room->who_aside[kept], who, sizeof who);
            room->aside[kept++] = p;
        } else if (meet_pair(s, &p, &room->guest[who[0]], &room->guest[who[1]], node)) {
            memcpy(room->who[pairs], who, sizeof who);
            room->pair[pairs++] = p;
        }
    }
    *asides = kept;
    return pairs;
}

static void meet_at_node(const scene *s, int n)
{
    struct meeting_room *room = s->room;
    const int32_t *cells = s->l->cells;
    const int node[3] = {n / (cells[1] * cells[2]), n / cells[2] % cells[1], n % cells[2]};
    const int bodies = welcome(s, n);
    const int units = join_units(s, n, bodies);
    int asides, pairs = sort_pairs(s, n, node, bodies, units, &asides);
    room->report.nodes++;
    if (pairs == 0) {
        return;
    }
    memcpy(room->before, room->v, (size_t)bodies * sizeof *room->v);
    for (int known = 0; known < pairs;) {
        known = pairs;
        memcpy(room->v, room->before, (size_t)bodies * sizeof *room->v);
        const int sweeps =
            rp_node_resolve(room->v, room->m, units, room->pair, pairs, s->m->pairs->impulses,
                            s->l->precision == RP_SINGLE ? 1e-8 : 1e-13);
        room->report.sweeps += sweeps;
        room->report.restless += sweeps == RP_NODE_SWEEPS;
        pairs = call_back(s, node, pairs, &asides);
    }
    for (int i = 0; i < pairs; i++) {
        note(s, &room->pair[i], room->who[i]);
    }
    for (int b = 0; b < bodies; b++) {
        void *q = quads(s, room->guest[b].page);
        const double *v = room->v[room->unit[b]];
        for (int a = 0; a < s->l->dim; a++) {
            if (s->l->precision == RP_SINGLE) {
                ((float *)q)[n * RP_QUAD + a] = (float)v[a];
            } else {
                ((double *)q)[n * RP_QUAD + a] = v[a];
            }
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
               .thread = thread,
               .mask = m->mask + block->first};
    uint64_t shared[MASK_WORDS];
    add_shared(s.mask, s.pages, shared);
    s.bound = m->glue != NULL && rp_glue_bind(m->glue, b, thread);
    if (s.bound) {
        rp_glue_merge(m->glue, b, thread, s.mask, shared);
        if ((shared[0] | shared[1] | shared[2] | shared[3]) == 0) {
            return;
        }
    }
    for (int p = 0; p < s.pages; p++) {
        find_views(&s, p);
        s.room->is_padded[p] = false;
    }
    find_apart(&s);
    for (int64_t i = 0; i < pairs_of(s.pages) * RP_PATCHES; i++) {
        s.room->lens[i].known = false;
    }
    for (int w = 0; w < MASK_WORDS; w++) {
        for (uint64_t bits = shared[w]; bits != 0; bits &= bits - 1) {
            meet_at_node(&s, 64 * w + __builtin_ctzll(bits));
        }
    }
}

// ---- what came of it ----

void rp_meetings_sum(const rp_meetings *m, rp_pair_loads *loads, double *rubbed)
{
    const rp_node_page *page = rp_grid_page(m->grid);
    for (rp_local at = 0; at < rp_meetings_blocks(m); at++) {
        const rp_local b = rp_meetings_block(m, at);
        const rp_node_block *block = &rp_grid_block(m->grid)[b];
        const rp_meeting *given = m->given + first_pair(m, b);
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
        all.close += own->close;
        all.fits += own->fits;
        all.sweeps += own->sweeps;
        all.restless += own->restless;
    }
    return all;
}
