#include "collide/touches.h"

#include "base/result.h"
#include "base/threads.h"
#include "collide/contact.h"
#include "collide/thin.h"
#include "core/exchange.h"
#include "shape/class.h"

#include <math.h>
#include <string.h>

// A node that lies on a wall but for rounding is on the wall, so that a floor on a grid line acts
// there, be it that dx was written with seven digits.
static const double ON_WALL = 1e-6; // [cells]

// ---- which pages feel which colliders ----

typedef struct finding {
    const rp_collider *collider;
    int colliders;
    const rp_grid *grid;
    bool only_moving; // the others are known
    bool free;        // free ones, too
    int words;        // of a page: a bit per collider
    uint64_t *near;   // [page][words]
} finding;

static void find_on_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const finding *f = context;
    const int32_t *block = rp_grid_page(f->grid)[page].block;
    const bool water = rp_grid_page(f->grid)[page].field != 0; // in a mixture
    for (int i = 0; i < f->colliders; i++) {
        if ((f->collider[i].moves || !f->only_moving) && (f->free || !f->collider[i].free) &&
            !(water && f->collider[i].permeable) &&
            rp_collider_near_block(&f->collider[i], &f->grid->layout, block)) {
            f->near[page * f->words + i / 64] |= 1ull << i % 64;
        }
    }
}

// What stands still is found once for every build of the grid.
static rp_result find_near(const finding *f, rp_walls *walls, int threads)
{
    const size_t bytes = (size_t)f->grid->pages * (size_t)f->words * sizeof *f->near;
    bool moving = false;
    for (int i = 0; i < f->colliders; i++) {
        moving = moving || f->collider[i].moves;
    }
    if (walls != NULL && walls->build == f->grid->builds && walls->colliders == f->colliders &&
        bytes > 0) {
        memcpy(f->near, walls->near.data, bytes);
        finding rest = *f;
        rest.only_moving = true;
        if (moving) {
            rp_parallel_for(threads, f->grid->pages, 64, find_on_page, &rest);
        }
        return RP_OK;
    }
    memset(f->near, 0, bytes);
    rp_parallel_for(threads, f->grid->pages, 64, find_on_page, (void *)f);
    if (walls != NULL && bytes > 0) {
        walls->build = 0;
        RP_TRY(rp_buffer_reserve(&walls->near, f->grid->allocator, bytes, 0, "walls of pages"));
        memcpy(walls->near.data, f->near, bytes);
        for (rp_local p = 0; p < f->grid->pages; p++) {
            for (int i = 0; i < f->colliders; i++) {
                if (f->collider[i].moves) {
                    ((uint64_t *)walls->near.data)[p * f->words + i / 64] &= ~(1ull << i % 64);
                }
            }
        }
        walls->build = f->grid->builds;
        walls->colliders = f->colliders;
    }
    return RP_OK;
}

rp_result rp_touches_find(rp_touches *t, rp_walls *walls, const rp_collider *collider,
                          int colliders, bool free, const rp_grid *grid, int threads,
                          rp_scratch *scratch)
{
    RP_ASSERT(colliders <= RP_COLLIDER_LIMIT);
    const size_t pages = (size_t)grid->pages;
    finding f = {.collider = collider,
                 .colliders = colliders,
                 .free = free,
                 .grid = grid,
                 .words = (colliders + 63) / 64};
    *t = (rp_touches){.collider = collider};
    t->page = rp_scratch_get(scratch, pages * sizeof *t->page, "pages that touch colliders");
    const size_t words = (size_t)f.words;
    f.near =
        rp_scratch_get(scratch, (pages * words + 1) * sizeof *f.near, "pages that touch colliders");
    if (t->page == NULL || f.near == NULL) {
        return RP_ERR_MEMORY;
    }
    RP_TRY(find_near(&f, walls, threads));
    for (size_t p = 0; p < pages; p++) {
        t->page[p] = (rp_touch){.first = (uint32_t)t->pairs};
        for (size_t w = 0; w < words; w++) {
            t->page[p].count += (uint16_t)__builtin_popcountll(f.near[p * words + w]);
        }
        t->pairs += t->page[p].count;
    }
    t->near = rp_scratch_get(scratch, (size_t)t->pairs * sizeof *t->near, "colliders of pages");
    t->wall = rp_scratch_get(scratch, (size_t)t->pairs * sizeof *t->wall, "colliders of pages");
    t->other = rp_scratch_get(scratch, (size_t)t->pairs * sizeof *t->other, "colliders of pages");
    t->given = rp_scratch_get(scratch, (size_t)t->pairs * sizeof *t->given, "loads of colliders");
    if (t->near == NULL || t->wall == NULL || t->other == NULL || t->given == NULL) {
        return RP_ERR_MEMORY;
    }
    int64_t pair = 0;
    for (size_t p = 0; p < pages; p++) {
        for (size_t w = 0; w < words; w++) {
            for (uint64_t bits = f.near[p * words + w]; bits != 0; bits &= bits - 1) {
                t->wall[pair] = t->other[pair] = -1;
                t->near[pair++] = (uint16_t)(64 * w + (size_t)__builtin_ctzll(bits));
            }
        }
    }
    return walls != NULL && t->pairs > 0 ? rp_walls_find(walls, t, grid, threads, scratch) : RP_OK;
}

// ---- nodes ----

typedef struct node {
    int number; // in its block
    double x[3], mass, v[3];
} node;

// A number in the world's precision.
static double real_at(const rp_layout *l, const void *numbers, int at)
{
    return l->precision == RP_SINGLE ? (double)((const float *)numbers)[at]
                                     : ((const double *)numbers)[at];
}

// ---- thin colliders ----

// The mass that the particles around a page have put at a node beyond its border. Node pages there
// may belong to others, and be summed later; arenas are finished.
static double mass_beyond(const rp_touches *t, const rp_grid *grid, rp_local page, const int at[3])
{
    const rp_layout *l = &grid->layout;
    double sum = 0.0;
    for (int s = 0; s < t->sets; s++) {
        const uint32_t *source = rp_grid_source(grid, s, page);
        for (int n = 0; n < RP_NEAR && (grid->scatters[s] >> RP_CH_MOMENTUM & 1); n++) {
            if (source[n] == RP_NO_PAGE) {
                continue;
            }
            const rp_page *from = &rp_set_page(&t->set[s])[source[n]];
            int32_t offset[3];
            int place[3] = {0};
            bool there = true;
            rp_near_offset(n, offset);
            for (int a = 0; a < l->dim; a++) {
                place[a] =
                    at[a] - offset[a] * l->cells[a] + 1; // an arena begins a cell before its page
                there = there && place[a] >= from->reach_lo[a] && place[a] < from->reach_hi[a];
            }
            const int number = (place[0] * l->arena[1] + place[1]) * l->arena[2] + place[2];
            sum += there ? real_at(l, rp_grid_arena(grid, s, from, RP_CH_MOMENTUM),
                                   number * RP_QUAD + 3)
                         : 0.0;
        }
    }
    return sum;
}

static void masses_around(const rp_touches *t, const rp_grid *grid, rp_local page, int number,
                          rp_masses out)
{
    const rp_layout *l = &grid->layout;
    const int *cells = l->cells;
    const int at[3] = {number / (cells[1] * cells[2]), number / cells[2] % cells[1],
                       number % cells[2]};
    const void *nodes = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    for (int n = 0; n < 27; n++) {
        const int way[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        const int place[3] = {at[0] + way[0], at[1] + way[1], at[2] + way[2]};
        if (l->dim == 2 && way[2] != 0) {
            continue;
        }
        bool within = true;
        for (int a = 0; a < 3; a++) {
            within = within && place[a] >= 0 && place[a] < cells[a];
        }
        const int there = (place[0] * cells[1] + place[1]) * cells[2] + place[2];
        out[1 + way[0]][1 + way[1]][1 + way[2]] =
            within ? real_at(l, nodes, there * RP_QUAD + 3) : mass_beyond(t, grid, page, place);
    }
}

// A thin collider acts with the face that the sand is on. Between sand on both sides it lets
// nothing pass.
static __attribute__((noinline)) void choose_face(const rp_touches *t, const rp_grid *grid,
                                                  rp_local page, uint32_t pair, const node *at,
                                                  rp_constraint *out)
{
    const rp_layout *l = &grid->layout;
    const rp_collider *c = &t->collider[t->near[pair]];
    double other[4];
    if (c->moves) {
        rp_thin_other(c, l, at->x, out->distance, out->normal, other);
    } else if (t->other[pair] < 0) {
        const double numbers[4] = {out->distance, out->normal[0], out->normal[1], out->normal[2]};
        rp_wall_other_numbers(c, l, at->x, numbers, other);
    } else {
        const void *entry = rp_walls_other_at(t->walls, l, t->other[pair]);
        for (int i = 0; i < 4; i++) {
            other[i] = real_at(l, entry, 4 * at->number + i);
        }
    }
    if (other[0] > 0.0) {
        return;
    }
    rp_masses mass;
    masses_around(t, grid, page, at->number, mass);
    const rp_thin_side side = rp_thin_find_side(mass, l->dim, out->distance, out->normal, other);
    if (side == RP_THIN_OTHER) {
        out->distance = other[0];
        memcpy(out->normal, other + 1, sizeof out->normal);
    } else if (side == RP_THIN_BOTH && out->contact == RP_SEPARATE) {
        out->contact = RP_SLIP;
    }
}

// What the collider of a pair asks of a node: the one place where that is worked out. Inlined by
// force: gcc 12 would call it, since it is used twice, and contact would take a tenth longer.
static inline __attribute__((always_inline)) void constrain(const rp_touches *t,
                                                            const rp_grid *grid, rp_local page,
                                                            uint32_t pair, const node *at,
                                                            double dt, rp_constraint *out)
{
    const rp_layout *l = &grid->layout;
    const rp_collider *c = &t->collider[t->near[pair]];
    double phi;
    if (c->moves) {
        phi = rp_collider_meet(c, at->x, t->span > 0.0 ? t->span : dt, out->normal, out->velocity);
    } else {
        double numbers[4];
        if (t->wall[pair] < 0) {
            rp_wall_numbers(c, l, at->x, numbers);
        } else {
            const void *entry = rp_walls_at(t->walls, l, t->wall[pair]);
            for (int i = 0; i < 4; i++) {
                numbers[i] = real_at(l, entry, 4 * at->number + i);
            }
        }
        phi = numbers[0];
        for (int a = 0; a < 3; a++) {
            out->normal[a] = numbers[1 + a];
            out->velocity[a] = 0.0;
        }
    }
    out->node = at->number;
    out->collider = t->near[pair];
    out->contact = c->contact;
    out->friction = c->friction;
    out->massless = !(at->mass > 0.0);
    out->distance = phi;
    if (c->thin && at->mass > 0.0) {
        choose_face(t, grid, page, pair, at, out);
    }
    out->distance = fabs(out->distance) < ON_WALL * l->h ? 0.0 : out->distance;
}

// How far the nodes of a page are from a collider that stands still, cheaply: looked up, or as the
// linear function that a plane is.
typedef struct reach {
    const void *wall;  // [node][4]; NULL: a plane
    const void *other; // the same of the other face; NULL: there is none
    double first, step[3];
} reach;

enum { REACH_MOST = 16 };

typedef struct reaches {
    int colliders; // 0: one of them moves, or there are more than fit: all nodes are worked out
    reach of[REACH_MOST];
} reaches;

static void find_reaches(const rp_touches *t, const rp_layout *l, const rp_touch *touch,
                         const int32_t block[3], reaches *out)
{
    double corner[3];
    rp_layout_node(l, block, 0, corner);
    out->colliders = 0;
    for (int k = 0; k < touch->count; k++) {
        const uint32_t pair = touch->first + (uint32_t)k;
        const rp_collider *c = &t->collider[t->near[pair]];
        if (k >= REACH_MOST || c->moves || (t->wall[pair] < 0 && !rp_shape_is_plane(c->shape))) {
            return;
        }
        out->of[k] = (reach){0};
        if (t->wall[pair] >= 0) {
            out->of[k].wall = rp_walls_at(t->walls, l, t->wall[pair]);
            out->of[k].other =
                t->other[pair] >= 0 ? rp_walls_other_at(t->walls, l, t->other[pair]) : NULL;
        } else {
            out->of[k].first = rp_shape_distance(c->shape, corner, out->of[k].step);
        }
    }
    out->colliders = touch->count;
}

// Is every collider known to be farther from a node than this way? The margins are for rounding: of
// ways out, which are of length 1 up to that, and of a plane's distance.
// @param at where the node is in its block
static bool out_of_reach(const reaches *r, const rp_layout *l, const int at[3], int number,
                         double way2)
{
    bool far = r->colliders > 0;
    for (int k = 0; k < r->colliders && far; k++) {
        const reach *one = &r->of[k];
        double phi = one->first +
                     l->h * (one->step[0] * at[0] + one->step[1] * at[1] + one->step[2] * at[2]);
        if (one->wall != NULL) {
            phi = real_at(l, one->wall, 4 * number);
        }
        far = phi > 1e-6 * l->h && phi * phi > 1.001 * way2 &&
              (one->other == NULL || real_at(l, one->other, 4 * number) > 0.0);
    }
    return far;
}

// A collider gives a node a velocity; what the node loses by that, the collider gets.
// @param about where its angular momentum is counted from
static void collide_once(const rp_constraint *c, bool rubs, double dt, const double about[3],
                         node *at, rp_gift *given)
{
    double lost[3], arm[3], through[2] = {0}, relative[3], slid = 0.0, square = 0.0, *v = at->v;
    for (int a = 0; a < 3; a++) {
        lost[a] = v[a];
        v[a] -= c->velocity[a];
        through[0] += v[a] * c->normal[a];
        relative[a] = v[a];
    }
    rp_contact_resolve(c->contact, rubs ? c->friction : 0.0, c->normal, c->distance, dt, v);
    if (v[0] == relative[0] && v[1] == relative[1] && v[2] == relative[2]) {
        memcpy(v, lost, sizeof lost);
        return;
    }
    for (int a = 0; a < 3; a++) {
        through[1] += v[a] * c->normal[a];
        slid += relative[a] * v[a];
        square += v[a] * v[a];
        v[a] += c->velocity[a];
        lost[a] = at->mass * (lost[a] - v[a]);
        given->worked -= lost[a] * c->velocity[a];
        arm[a] = at->x[a] - about[a];
    }
    rp_impulse_add(&given->impulse, arm, lost);
    // the impulse along the surface times the way that is still slid along it
    given->rubbed += at->mass * (slid - through[0] * through[1] - square + through[1] * through[1]);
}

// Colliders in turn. Where several hold a node, one may push it back into another: they get more
// turns, in which they only push, until none has anything to say.
// @param list of one node
static void collide(const rp_constraint *list, int count, const rp_collider *collider, double dt,
                    node *at, rp_gift *given)
{
    enum { TURNS = 4 };
    const double *v = at->v;
    for (int turn = 0; turn < TURNS; turn++) {
        const double before[3] = {v[0], v[1], v[2]};
        for (int k = 0; k < count; k++) {
            collide_once(&list[k], turn == 0, dt, collider[list[k].collider].begin.position, at,
                         &given[k]);
        }
        if (count == 1 || (v[0] == before[0] && v[1] == before[1] && v[2] == before[2])) {
            return;
        }
    }
}

int32_t rp_touches_list(const rp_touches *t, const rp_grid *grid, rp_local page,
                        const rp_listing *wanted, rp_constraint *out)
{
    const rp_touch *touch = &t->page[page];
    const rp_layout *l = &grid->layout;
    const int32_t *block = rp_grid_page(grid)[page].block;
    const void *nodes = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    const double way2 = wanted->reach * wanted->reach;
    RP_ASSERT(wanted->reach >= 0.0);
    if (touch->count == 0) {
        return 0;
    }
    reaches near;
    find_reaches(t, l, touch, block, &near);
    int32_t count = 0;
    int n = 0;
    for (int i = 0; i < l->cells[0]; i++) {
        for (int j = 0; j < l->cells[1]; j++) {
            for (int k = 0; k < l->cells[2]; k++, n++) {
                const int place[3] = {i, j, k};
                node here = {.number = n, .mass = real_at(l, nodes, n * RP_QUAD + 3)};
                if ((!wanted->massless && !(here.mass > 0.0)) ||
                    out_of_reach(&near, l, place, n, way2)) {
                    continue;
                }
                rp_layout_node_at(l, block, place, here.x);
                for (int p = 0; p < touch->count; p++) {
                    rp_constraint c;
                    constrain(t, grid, page, touch->first + (uint32_t)p, &here, wanted->dt, &c);
                    if (c.distance > wanted->reach) {
                        continue;
                    }
                    if (out != NULL) {
                        out[count] = c;
                    }
                    count++;
                }
            }
        }
    }
    return count;
}

void rp_touches_apply(const rp_touches *t, const rp_grid *grid, rp_local page, double dt)
{
    const rp_touch *touch = &t->page[page];
    const rp_layout *l = &grid->layout;
    const int32_t *block = rp_grid_page(grid)[page].block;
    if (touch->count == 0) {
        return;
    }
    memset(t->given + touch->first, 0, touch->count * sizeof *t->given);
    float *single = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    double *twice = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    const bool is_single = l->precision == RP_SINGLE;
    reaches near;
    rp_constraint list[RP_COLLIDER_LIMIT]; // of one node
    find_reaches(t, l, touch, block, &near);
    int n = 0;
    for (int i = 0; i < l->cells[0]; i++) {
        for (int j = 0; j < l->cells[1]; j++) {
            for (int k = 0; k < l->cells[2]; k++, n++) {
                const int at = n * RP_QUAD, place[3] = {i, j, k};
                const double mass = is_single ? (double)single[at + 3] : twice[at + 3];
                if (!(mass > 0.0)) {
                    continue;
                }
                node here;
                here.number = n;
                here.mass = mass;
                double v2 = 0.0;
                for (int a = 0; a < 3; a++) {
                    here.v[a] = is_single ? (double)single[at + a] : twice[at + a];
                    v2 += here.v[a] * here.v[a];
                }
                // what cannot get to a collider within the step is not changed by it
                if (out_of_reach(&near, l, place, n, dt * dt * v2)) {
                    continue;
                }
                rp_layout_node_at(l, block, place, here.x);
                for (int p = 0; p < touch->count; p++) {
                    constrain(t, grid, page, touch->first + (uint32_t)p, &here, dt, &list[p]);
                }
                collide(list, touch->count, t->collider, dt, &here, t->given + touch->first);
                for (int a = 0; a < l->dim; a++) {
                    if (is_single) {
                        single[at + a] = (float)here.v[a];
                    } else {
                        twice[at + a] = here.v[a];
                    }
                }
            }
        }
    }
}

typedef struct giving {
    rp_body *body;
    double *rubbed;
} giving;

static void hand_over(void *context, uint32_t collider, const double *row)
{
    const giving *g = context;
    rp_gift gift;
    memcpy(&gift, row, sizeof gift);
    rp_body_take(&g->body[collider], &gift.impulse);
    g->body[collider].worked += gift.worked;
    *g->rubbed += gift.rubbed;
}

rp_result rp_touches_sum(const rp_touches *t, const rp_grid *grid, rp_body *body, double *rubbed)
{
    giving g = {body, rubbed};
    rp_sum sum = {.comm = grid->comm,
                  .allocator = grid->allocator,
                  .numbers = sizeof(rp_gift) / sizeof(double),
                  .add = hand_over,
                  .context = &g};
    for (rp_local p = 0; p < grid->pages; p++) {
        const rp_node_page *page = &rp_grid_page(grid)[p];
        for (int k = 0; k < t->page[p].count && rp_grid_owns(grid, p); k++) {
            const uint32_t pair = t->page[p].first + (uint32_t)k;
            rp_sum_put(&sum, page->key, page->field, t->near[pair],
                       (const double *)&t->given[pair]);
        }
    }
    return rp_sum_end(&sum);
}
