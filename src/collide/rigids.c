#include "collide/rigids.h"

#include "base/result.h"
#include "base/threads.h"
#include "base/three.h"

#include <string.h>

enum {
    UNKNOWNS = 6, // of a body: velocity, then spin; in 2D three of them stay 0
    PIECE = 256,  // grips whose sum is one
    NEWTON = 24,  // steps for a body's own unknowns
    USUAL = 2, // of them are the rule: slopes cost as much again, and are not asked for at the end
    SWEEPS = 64, // over bodies that touch the same nodes
};
static const double SETTLED = 1e-12; // of the fastest: change of a velocity that ends a search
enum { MEETINGS = 200 };             // sweeps over bumps
static const double MEETING = 1e-6;  // change that ends them, of what gravity does in a step
static const double TOGETHER = 1e-9; // the same, of a body by what others do

// ---- which pages ----

typedef struct finding {
    const rp_rigids *r;
    const rp_grid *grid;
    rp_reach *near; // [node page]
    rp_ball *ball;  // [colliders]
    int32_t *many;  // [node page]: bodies near it
} finding;

static void find_on_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const finding *f = context;
    const rp_layout *l = &f->grid->layout;
    const int32_t *block = rp_grid_page(f->grid)[page].block;
    double middle[3];
    const double reach = rp_layout_page_ball(l, block, middle) + 2.0 * l->h;
    f->many[page] = 0;
    for (int i = 0; i < f->r->colliders; i++) {
        const rp_collider *c = &f->r->collider[i];
        if (c->free && rp_ball_near(&f->ball[i], middle, reach) &&
            rp_collider_near_block(c, l, block)) {
            if (f->many[page]++ == 0) {
                memset(&f->near[page], 0, sizeof f->near[page]);
            }
            f->near[page].bits[i / 64] |= 1ull << i % 64;
        }
    }
}

static bool are_joined(const void *context, int a, int b)
{
    const rp_company *company = context;
    return rp_links_join(company->link, company->links, a, b);
}

rp_result rp_rigids_gather(rp_rigids *r, rp_company *company, const rp_collider *collider,
                           int colliders, rp_body *body, double dt, int dim,
                           const rp_allocator *allocator)
{
    *r = (rp_rigids){.collider = collider, .colliders = colliders, .company = company};
    for (int i = 0; i < colliders; i++) {
        r->free += collider[i].free;
    }
    if (r->free == 0) {
        return RP_OK;
    }
    RP_ASSERT(colliders <= RP_COLLIDER_LIMIT && company->skins == colliders);
    r->meeting = (rp_bumping){.collider = collider,
                              .colliders = colliders,
                              .body = body,
                              .skin = company->skin,
                              .temper = company->temper,
                              .dim = dim,
                              .apart = are_joined,
                              .context = company,
                              .dt = dt,
                              .gravity = company->gravity,
                              .slow = -4.0 * company->rest};
    RP_TRY(rp_bumps_find(&company->bumps, &r->meeting, company->echo.data, company->echoes,
                         allocator));
    const size_t echoes = (size_t)company->bumps.count * sizeof(rp_echo);
    return echoes > company->echo.bytes
               ? rp_buffer_reserve(&company->echo, allocator, 2 * echoes,
                                   (size_t)company->echoes * sizeof(rp_echo), "bodies that touch")
               : RP_OK;
}

rp_result rp_rigids_find(rp_rigids *r, rp_company *company, const rp_collider *collider,
                         int colliders, rp_body *body, double dt, const rp_grid *grid, int threads,
                         rp_scratch *scratch)
{
    RP_TRY(rp_rigids_gather(r, company, collider, colliders, body, dt, grid->layout.dim,
                            grid->allocator));
    if (r->free == 0) {
        return RP_OK;
    }
    static const char what[] = "nodes that bodies touch";
    const size_t pages = (size_t)grid->pages;
    finding f = {.r = r, .grid = grid};
    f.near = rp_scratch_get(scratch, pages * sizeof *f.near, what);
    f.many = rp_scratch_get(scratch, pages * sizeof *f.many, what);
    f.ball = rp_scratch_get(scratch, (size_t)colliders * sizeof *f.ball, what);
    r->page = rp_scratch_get(scratch, pages * sizeof *r->page, what);
    r->near = rp_scratch_get(scratch, pages * sizeof *r->near, what);
    r->first = rp_scratch_get(scratch, (pages + 1) * sizeof *r->first, what);
    r->count = rp_scratch_get(scratch, pages * sizeof *r->count, what);
    r->own_first = rp_scratch_get(scratch, ((size_t)colliders + 1) * sizeof *r->own_first, what);
    if (f.near == NULL || f.many == NULL || f.ball == NULL || r->page == NULL || r->near == NULL ||
        r->first == NULL || r->count == NULL || r->own_first == NULL) {
        return RP_ERR_MEMORY;
    }
    for (int i = 0; i < colliders; i++) {
        f.ball[i] = rp_ball_of(&collider[i], grid->layout.dim);
    }
    rp_parallel_for(threads, grid->pages, 64, find_on_page, &f);
    for (rp_local p = 0; p < grid->pages; p++) {
        if (f.many[p] > 0) {
            r->page[r->pages] = p;
            r->near[r->pages] = f.near[p];
            r->first[r->pages++] = r->room;
            r->room += (int64_t)f.many[p] * grid->layout.nodes;
        }
    }
    const size_t room = (size_t)r->room, pieces = room / PIECE + 1;
    r->grip = rp_scratch_get(scratch, room * sizeof *r->grip, what);
    r->own = rp_scratch_get(scratch, room * sizeof *r->own, what);
    r->piece = rp_scratch_get(scratch, pieces * UNKNOWNS * (UNKNOWNS + 1) * sizeof(double), what);
    return r->grip != NULL && r->own != NULL && r->piece != NULL ? RP_OK : RP_ERR_MEMORY;
}

bool rp_rigids_reach(const rp_rigids *r, rp_local page)
{
    rp_local low = 0, high = r->pages;
    while (low < high) {
        const rp_local middle = low + (high - low) / 2;
        low = r->page[middle] < page ? middle + 1 : low;
        high = r->page[middle] < page ? high : middle;
    }
    return low < r->pages && r->page[low] == page;
}

// ---- nodes ----

static double real_at(const rp_layout *l, const void *numbers, int at)
{
    return l->precision == RP_SINGLE ? (double)((const float *)numbers)[at]
                                     : ((const double *)numbers)[at];
}

typedef struct solving {
    rp_rigids *r;
    rp_body *body;
    const rp_grid *grid;
    double dt;
    int threads;
    // of one body
    int which;
    bool slopes; // are wanted, too
    double unknown[UNKNOWNS];
} solving;

// Sand ends where the last node is that is held: half a cell inside of a body, on average, if those
// inside of it were. A body that floats would lie too deep by that.
static const double HELD = 0.5; // cells from the surface

// A body holds nodes up to a cell away from those: what is farther it does not reach within a step.
static const double REACH = 1.0 + 0.5; // cells from the surface: 1 + HELD

enum { SIDE = 4 }; // nodes along an edge of a part of a block

// A part of a block, and which of the bodies near the block may reach it: a node is no nearer to a
// body than the part's middle is, less its own way to that.
typedef struct part {
    int first[3], end[3]; // nodes along each axis
    double middle[3];
    int bodies; // colliders
    uint16_t body[RP_COLLIDER_LIMIT];
    double phi[RP_COLLIDER_LIMIT]; // of them, at the middle
} part;

static void find_part(const solving *s, int64_t index, int number, part *out)
{
    const rp_layout *l = &s->grid->layout;
    const int32_t *block = rp_grid_page(s->grid)[s->r->page[index]].block;
    double half2 = 0.0;
    for (int a = 0; a < 3; a++) {
        const int parts = a < l->dim ? l->cells[a] / SIDE : 1;
        out->first[a] = a < l->dim ? number % parts * SIDE : 0;
        out->end[a] = a < l->dim ? out->first[a] + SIDE : 1;
        out->middle[a] =
            a < l->dim ? l->h * (block[a] * l->cells[a] + 0.5 * (out->first[a] + out->end[a] - 1))
                       : 0.0;
        half2 += a < l->dim ? 0.25 * (SIDE - 1) * (SIDE - 1) : 0.0;
        number /= parts;
    }
    out->bodies = 0;
    for (int w = 0; w < (RP_COLLIDER_LIMIT + 63) / 64; w++) {
        for (uint64_t bits = s->r->near[index].bits[w]; bits != 0; bits &= bits - 1) {
            const int which = 64 * w + __builtin_ctzll(bits);
            const double phi = rp_collider_distance(&s->r->collider[which], out->middle);
            if (phi < l->h * (sqrt(half2) + REACH + 0.5)) { // some to spare for distances of meshes
                out->body[out->bodies] = (uint16_t)which;
                out->phi[out->bodies++] = phi;
            }
        }
    }
}

// @return how many of the bodies of a part hold this node
static uint16_t grip_node(const solving *s, const part *k, rp_local page, int node, rp_grip *out)
{
    const rp_layout *l = &s->grid->layout;
    const void *nodes = rp_grid_nodes(s->grid, RP_CH_MOMENTUM, page);
    const double mass = real_at(l, nodes, node * RP_QUAD + 3);
    if (!(mass > 0.0)) {
        return 0;
    }
    double x[3], way2 = 0.0;
    uint16_t here = 0;
    rp_layout_node(l, rp_grid_page(s->grid)[page].block, node, x);
    for (int a = 0; a < 3; a++) {
        way2 += (x[a] - k->middle[a]) * (x[a] - k->middle[a]);
    }
    for (int i = 0; i < k->bodies; i++) {
        const int which = k->body[i];
        const double spare = k->phi[i] - l->h * (REACH + 0.5);
        if (spare > 0.0 && spare * spare > way2) {
            continue;
        }
        rp_grip *g = &out[here];
        double normal[3];
        const double phi = rp_collider_look(&s->r->collider[which], x, normal) - HELD * l->h;
        if (!(phi < l->h * (REACH - HELD))) {
            continue;
        }
        *g = (rp_grip){.page = page,
                       .node = node,
                       .collider = (uint16_t)which,
                       .before = here++,
                       .mass = mass,
                       .normal = {normal[0], normal[1], normal[2]},
                       .gap = phi > 0.0 ? phi / s->dt : 0.0,
                       .inside = phi <= 0.0};
        for (int a = 0; a < 3; a++) {
            g->velocity[a] = real_at(l, nodes, node * RP_QUAD + a);
            g->arm[a] = x[a] - s->body[which].pose.position[a];
        }
    }
    for (int i = 0; i < here; i++) {
        out[i].after = (uint16_t)(here - 1 - i);
    }
    return here;
}

static void grip_page(void *context, int64_t index, int thread)
{
    (void)thread;
    const solving *s = context;
    const rp_layout *l = &s->grid->layout;
    rp_grip *out = s->r->grip + s->r->first[index];
    int32_t count = 0;
    const int parts = l->nodes / (l->dim == 3 ? SIDE * SIDE * SIDE : SIDE * SIDE);
    for (int number = 0; number < parts; number++) {
        part k;
        find_part(s, index, number, &k);
        for (int i = k.first[0]; i < k.end[0] && k.bodies > 0; i++) {
            for (int j = k.first[1]; j < k.end[1]; j++) {
                for (int m = k.first[2]; m < k.end[2]; m++) {
                    const int node = (i * l->cells[1] + j) * l->cells[2] + m;
                    count += grip_node(s, &k, s->r->page[index], node, &out[count]);
                }
            }
        }
    }
    s->r->count[index] = count;
}

// The grips of each body, in the order of pages and nodes.
// @return whether any node is held by several
static bool list_own(rp_rigids *r)
{
    bool shared = false;
    memset(r->own_first, 0, ((size_t)r->colliders + 1) * sizeof *r->own_first);
    for (int pass = 0; pass < 2; pass++) {
        for (rp_local p = 0; p < r->pages; p++) {
            for (int64_t i = r->first[p]; i < r->first[p] + r->count[p]; i++) {
                if (pass == 0) {
                    shared = shared || r->grip[i].before > 0;
                    r->own_first[r->grip[i].collider + 1]++;
                } else {
                    r->own[r->own_first[r->grip[i].collider]++] = i;
                }
            }
        }
        for (int c = 0; c < r->colliders && pass == 0; c++) {
            r->own_first[c + 1] += r->own_first[c];
        }
    }
    // filling has moved every beginning to its end
    for (int c = r->colliders; c > 0; c--) {
        r->own_first[c] = r->own_first[c - 1];
    }
    r->own_first[0] = 0;
    return shared;
}

// ---- one body ----

// What contact gives a node whose velocity relative to the body is u, and how that changes with it.
// docs/theory.md (73): nothing, all of it where the node sticks, or what the cone allows.
// @param[out] slope minus the derivative by u; NULL: not wanted
static void resolve(const rp_grip *g, const rp_collider *c, const double u[3], double impulse[3],
                    double slope[3][3])
{
    const double *n = g->normal, m = g->mass;
    const double un = u[0] * n[0] + u[1] * n[1] + u[2] * n[2] + g->gap;
    const bool held = c->contact == RP_SEPARATE ? un < 0.0 : g->inside;
    memset(impulse, 0, 3 * sizeof *impulse);
    if (!held) {
        return;
    }
    if (slope != NULL) {
        memset(slope, 0, 9 * sizeof slope[0][0]);
    }
    double t[3], t2 = 0.0;
    for (int a = 0; a < 3; a++) {
        t[a] = u[a] - (un - g->gap) * n[a];
        t2 += t[a] * t[a];
    }
    const double slip = sqrt(t2), bite = c->friction * fabs(un);
    if (c->contact == RP_STICKY || slip <= bite) {
        for (int a = 0; a < 3; a++) {
            impulse[a] = -m * (un * n[a] + t[a]);
            if (slope != NULL) {
                slope[a][a] = m;
            }
        }
        return;
    }
    // along the slip, against it; towards the body it is pulled instead of pushed with slip contact
    const double sign = un < 0.0 ? 1.0 : -1.0;
    for (int a = 0; a < 3; a++) {
        t[a] /= slip;
        impulse[a] = -m * un * (n[a] - sign * c->friction * t[a]);
    }
    for (int a = 0; a < 3 && slope != NULL; a++) {
        for (int b = 0; b < 3; b++) {
            slope[a][b] = m * (n[a] - sign * c->friction * t[a]) * n[b] +
                          m * bite / slip * ((a == b ? 1.0 : 0.0) - t[a] * t[b] - n[a] * n[b]);
        }
    }
}

// Relative to a body of these velocities, with what other bodies give the node.
static void relative(const rp_grip *g, const double unknown[UNKNOWNS], double u[3])
{
    const double *V = unknown, *w = unknown + 3;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        u[a] = g->velocity[a] - V[a] - (w[b] * g->arm[c] - w[c] * g->arm[b]);
    }
    for (int k = -(int)g->before; k <= (int)g->after; k++) {
        for (int a = 0; a < 3 && k != 0; a++) {
            u[a] += g[k].impulse[a] / g->mass;
        }
    }
}

// Sums over a piece of a body's grips: impulse and angular impulse that nodes get, then the slope.
static void sum_piece(void *context, int64_t piece, int thread)
{
    (void)thread;
    const solving *s = context;
    const rp_rigids *r = s->r;
    double *sum = r->piece + piece * UNKNOWNS * (UNKNOWNS + 1), *A = sum + UNKNOWNS;
    memset(sum, 0, UNKNOWNS * (UNKNOWNS + 1) * sizeof *sum);
    const int64_t first = r->own_first[s->which] + piece * PIECE;
    const int64_t end = r->own_first[s->which + 1];
    for (int64_t n = first; n < first + PIECE && n < end; n++) {
        rp_grip *g = &r->grip[r->own[n]];
        double u[3], slope[3][3];
        relative(g, s->unknown, u);
        resolve(g, &r->collider[s->which], u, g->impulse, s->slopes ? slope : NULL);
        if (g->impulse[0] == 0.0 && g->impulse[1] == 0.0 && g->impulse[2] == 0.0) {
            continue;
        }
        double turn[3], KB[3][3];
        rp_cross(g->arm, g->impulse, turn);
        for (int i = 0; i < 3; i++) {
            sum[i] += g->impulse[i];
            sum[3 + i] += turn[i];
        }
        if (!s->slopes) {
            continue;
        }
        // a turn w moves the node by w x arm = B w: rows of K B, then arm x its columns are B^T K B
        for (int i = 0; i < 3; i++) {
            rp_cross(g->arm, slope[i], KB[i]);
        }
        for (int j = 0; j < 3; j++) {
            const double k[3] = {slope[0][j], slope[1][j], slope[2][j]};
            const double kb[3] = {KB[0][j], KB[1][j], KB[2][j]};
            double BK[3], BKB[3];
            rp_cross(g->arm, k, BK);
            rp_cross(g->arm, kb, BKB);
            for (int i = 0; i < 3; i++) {
                A[UNKNOWNS * i + j] += k[i];
                A[UNKNOWNS * i + 3 + j] += kb[i];
                A[UNKNOWNS * (3 + i) + j] += BK[i];
                A[UNKNOWNS * (3 + i) + 3 + j] += BKB[i];
            }
        }
    }
}

static void sum_pieces(const solving *s, double sum[UNKNOWNS * (UNKNOWNS + 1)])
{
    const int64_t grips = s->r->own_first[s->which + 1] - s->r->own_first[s->which];
    const int64_t pieces = (grips + PIECE - 1) / PIECE;
    rp_parallel_for(s->threads, pieces, 1, sum_piece, (void *)s);
    memset(sum, 0, UNKNOWNS * (UNKNOWNS + 1) * sizeof *sum);
    for (int64_t p = 0; p < pieces; p++) {
        for (int k = 0; k < UNKNOWNS * (UNKNOWNS + 1); k++) {
            sum[k] += s->r->piece[p * UNKNOWNS * (UNKNOWNS + 1) + k];
        }
    }
}

// A x = b by elimination with pivots; b becomes x. Unknowns that nothing can move stay 0.
static void eliminate(double A[UNKNOWNS][UNKNOWNS], double b[UNKNOWNS])
{
    for (int i = 0; i < UNKNOWNS; i++) {
        int best = i;
        for (int k = i + 1; k < UNKNOWNS; k++) {
            best = fabs(A[k][i]) > fabs(A[best][i]) ? k : best;
        }
        for (int j = 0; j < UNKNOWNS && best != i; j++) {
            const double swap = A[i][j];
            A[i][j] = A[best][j];
            A[best][j] = swap;
        }
        const double swap = b[i];
        b[i] = b[best];
        b[best] = swap;
        for (int k = i + 1; k < UNKNOWNS && A[i][i] != 0.0; k++) {
            const double f = A[k][i] / A[i][i];
            for (int j = i; j < UNKNOWNS; j++) {
                A[k][j] -= f * A[i][j];
            }
            b[k] -= f * b[i];
        }
    }
    for (int i = UNKNOWNS - 1; i >= 0; i--) {
        for (int j = i + 1; j < UNKNOWNS; j++) {
            b[i] -= A[i][j] * b[j];
        }
        b[i] = A[i][i] != 0.0 ? b[i] / A[i][i] : 0.0;
    }
}

// Mass and inertia where the body is now; 1 for what does not move in 2D.
static void mass_matrix(const rp_body *body, double out[UNKNOWNS][UNKNOWNS])
{
    memset(out, 0, UNKNOWNS * UNKNOWNS * sizeof out[0][0]);
    const double(*R)[3] = body->pose.rotation;
    for (int a = 0; a < 3; a++) {
        out[a][a] = a < body->dim ? body->mass : 1.0;
        for (int b = 0; b < 3 && body->dim == 3; b++) {
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++) {
                    out[3 + a][3 + b] += R[a][i] * body->inertia[i][j] * R[b][j];
                }
            }
        }
        if (body->dim == 2) {
            out[3 + a][3 + a] = a == 2 ? body->inertia[2][2] : 1.0;
        }
    }
}

// Towards where nothing is left over. @param rest what is @return largest change of a velocity
static double go_on(const double M[UNKNOWNS][UNKNOWNS], const double slope[UNKNOWNS][UNKNOWNS],
                    double radius, double share, double rest[UNKNOWNS], double unknown[UNKNOWNS])
{
    double A[UNKNOWNS][UNKNOWNS], change = 0.0;
    for (int i = 0; i < UNKNOWNS; i++) {
        for (int j = 0; j < UNKNOWNS; j++) {
            A[i][j] = M[i][j] + slope[i][j];
        }
    }
    eliminate(A, rest);
    for (int i = 0; i < UNKNOWNS; i++) {
        unknown[i] += share * rest[i];
        change = fmax(change, (i < 3 ? 1.0 : radius) * fabs(rest[i]));
    }
    return change;
}

double rp_rigids_newton(const rp_body *body, const double alone[6], const double given[6],
                        const double slope[6][6], double unknown[6])
{
    double M[UNKNOWNS][UNKNOWNS], rest[UNKNOWNS];
    mass_matrix(body, M);
    for (int i = 0; i < UNKNOWNS; i++) {
        rest[i] = given[i];
        for (int j = 0; j < UNKNOWNS; j++) {
            rest[i] -= M[i][j] * (unknown[j] - alone[j]);
        }
    }
    return go_on((const double(*)[UNKNOWNS])M, slope, sqrt(M[5][5] / body->mass), 1.0, rest,
                 unknown);
}

// Give a body the sum of what its grips give nodes (sign 1: back; -1: take it away again).
static void answer(rp_body *body, const double sum[UNKNOWNS], double sign)
{
    rp_impulse impulse;
    for (int a = 0; a < 3; a++) {
        impulse.linear[a] = -sign * sum[a];
        impulse.angular[a] = -sign * sum[3 + a];
    }
    rp_body_take(body, &impulse);
}

// The sum of what its grips give nodes as they stand.
static void own_sum(const rp_rigids *r, int which, double sum[UNKNOWNS])
{
    memset(sum, 0, UNKNOWNS * sizeof *sum);
    for (int64_t i = r->own_first[which]; i < r->own_first[which + 1]; i++) {
        const rp_grip *g = &r->grip[r->own[i]];
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            sum[a] += g->impulse[a];
            sum[3 + a] += g->arm[b] * g->impulse[c] - g->arm[c] * g->impulse[b];
        }
    }
}

static double fastest_of(const solving *s, double radius)
{
    const double *V = s->unknown;
    double most = sqrt(V[0] * V[0] + V[1] * V[1] + V[2] * V[2]) +
                  radius * sqrt(V[3] * V[3] + V[4] * V[4] + V[5] * V[5]);
    for (int64_t i = s->r->own_first[s->which]; i < s->r->own_first[s->which + 1]; i++) {
        const double *v = s->r->grip[s->r->own[i]].velocity;
        const double speed = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
        most = speed > most ? speed : most;
    }
    return most;
}

// What is left of (72) with the velocities that are tried.
// @return its size, as a change of velocity
static double find_rest(const solving *s, const double M[UNKNOWNS][UNKNOWNS],
                        const double free_of[UNKNOWNS], double radius,
                        double sum[UNKNOWNS * (UNKNOWNS + 1)], double rest[UNKNOWNS])
{
    double most = 0.0;
    sum_pieces(s, sum);
    for (int i = 0; i < UNKNOWNS; i++) {
        rest[i] = -sum[i];
        for (int j = 0; j < UNKNOWNS; j++) {
            rest[i] -= M[i][j] * (s->unknown[j] - free_of[j]);
        }
        most = fmax(most, (i < 3 ? 1.0 : radius) * fabs(rest[i]) / M[i][i]);
    }
    return most;
}

// A body and its nodes come to terms, with all others as they are: docs/theory.md (72), by Newton's
// method where contact may change its mind. Whatever is left of the residual when it ends, the body
// gets what its nodes give: momentum is exact.
// @return how much its velocity changed by that, of the fastest of all
static double solve_body(solving *s, int which)
{
    rp_body *body = &s->body[which];
    s->which = which;
    double free_of[UNKNOWNS], sum[UNKNOWNS * (UNKNOWNS + 1)], M[UNKNOWNS][UNKNOWNS];
    const double before[UNKNOWNS] = {body->velocity[0], body->velocity[1], body->velocity[2],
                                     body->spin[0],     body->spin[1],     body->spin[2]};
    own_sum(s->r, which, sum);
    answer(body, sum, -1.0);
    for (int a = 0; a < 3; a++) {
        free_of[a] = body->velocity[a];
        free_of[3 + a] = body->spin[a];
    }
    memcpy(s->unknown, before, sizeof before);
    mass_matrix(body, M);
    const double radius = sqrt(M[5][5] / body->mass);
    const double small = SETTLED * fastest_of(s, radius);
    double change = INFINITY;
    for (int turn = 0;; turn++) {
        double step[UNKNOWNS];
        s->slopes = turn < USUAL;
        const double left = find_rest(s, M, free_of, radius, sum, step);
        if (turn > 0 && (!(left > small) || !(change > small) || turn == NEWTON)) {
            break;
        }
        if (!s->slopes) {
            s->slopes = true;
            find_rest(s, M, free_of, radius, sum, step);
        }
        // one that goes to and fro is led to the middle
        change = go_on((const double(*)[UNKNOWNS])M, (const double(*)[UNKNOWNS])(sum + UNKNOWNS),
                       radius, turn < NEWTON / 2 ? 1.0 : 0.5, step, s->unknown);
    }
    answer(body, sum, 1.0);
    double changed = 0.0;
    for (int a = 0; a < 3; a++) {
        changed = fmax(changed, fabs(body->velocity[a] - before[a]));
        changed = fmax(changed, radius * fabs(body->spin[a] - before[3 + a]));
    }
    return changed > small ? changed / (small / SETTLED) : 0.0;
}

// ---- all of them ----

// Nodes get what is theirs, in the precision that they have, and bodies what nodes have lost.
static void hand_out(const solving *s, double *rubbed)
{
    const rp_rigids *r = s->r;
    const rp_layout *l = &s->grid->layout;
    double sum[UNKNOWNS];
    for (int c = 0; c < r->colliders; c++) {
        if (r->collider[c].free) {
            own_sum(r, c, sum);
            answer(&s->body[c], sum, -1.0);
            s->body[c].given = (rp_impulse){0};
        }
    }
    for (rp_local p = 0; p < r->pages; p++) {
        for (int64_t i = r->first[p]; i < r->first[p] + r->count[p]; i++) {
            rp_grip *g = &r->grip[i];
            void *nodes = rp_grid_nodes(s->grid, RP_CH_MOMENTUM, g->page);
            double lost[3] = {0};
            for (int a = 0; a < l->dim; a++) {
                const int at = g->node * RP_QUAD + a;
                const double old = real_at(l, nodes, at);
                if (l->precision == RP_SINGLE) {
                    ((float *)nodes)[at] = (float)(old + g->impulse[a] / g->mass);
                } else {
                    ((double *)nodes)[at] = old + g->impulse[a] / g->mass;
                }
                lost[a] = g->mass * (old - real_at(l, nodes, at));
            }
            memcpy(g->impulse, lost, sizeof lost);
        }
    }
    for (int c = 0; c < r->colliders; c++) {
        if (!r->collider[c].free) {
            continue;
        }
        own_sum(r, c, sum); // what they have lost by now
        answer(&s->body[c], sum, -1.0);
        double unknown[UNKNOWNS];
        memcpy(unknown, s->body[c].velocity, 3 * sizeof(double));
        memcpy(unknown + 3, s->body[c].spin, 3 * sizeof(double));
        for (int64_t i = r->own_first[c]; i < r->own_first[c + 1]; i++) {
            const rp_grip *g = &r->grip[r->own[i]];
            const void *nodes = rp_grid_nodes(s->grid, RP_CH_MOMENTUM, g->page);
            double along = 0.0, slid = 0.0;
            for (int a = 0; a < 3; a++) {
                along += g->impulse[a] * g->normal[a];
            }
            for (int a = 0; a < 3; a++) {
                const int b = (a + 1) % 3, d = (a + 2) % 3;
                const double u = real_at(l, nodes, g->node * RP_QUAD + a) - unknown[a] -
                                 (unknown[3 + b] * g->arm[d] - unknown[3 + d] * g->arm[b]);
                slid += (g->impulse[a] - along * g->normal[a]) * u;
            }
            *rubbed += slid;
        }
    }
}

// Bodies among themselves, as far as they come to terms. @return how much the first sweep changed,
// of what counts
static double solve_bumps(const rp_rigids *r)
{
    rp_bumps *bumps = &r->company->bumps;
    double first = 0.0, fastest = 0.0;
    for (int c = 0; c < r->colliders; c++) {
        const rp_body *body = &r->meeting.body[c];
        const double *v = body->velocity, *w = body->spin, (*I)[3] = body->inertia;
        const double trace = rp_body_is_free(body) ? I[0][0] + I[1][1] + I[2][2] : 0.0;
        const double radius = sqrt(trace / body->mass);
        fastest = fmax(fastest, fabs(v[0]) + fabs(v[1]) + fabs(v[2]) +
                                    radius * (fabs(w[0]) + fabs(w[1]) + fabs(w[2])));
    }
    const double small = MEETING * (r->company->rest + 0.01 * fastest);
    for (int sweep = 0; sweep < MEETINGS && bumps->count + r->company->links > 0; sweep++) {
        const double changed =
            fmax(rp_bumps_sweep(bumps, &r->meeting),
                 rp_links_sweep(r->company->link, r->company->links, &r->meeting));
        first = sweep == 0 ? changed : first;
        if (!(changed > small)) {
            break;
        }
    }
    return first > 10.0 * small ? first : 0.0;
}

// Move back what is too deep or has drifted apart, by velocities that are found as others are, but
// not kept.
static void mend(const rp_rigids *r)
{
    enum { ROUNDS = 20 };
    rp_company *company = r->company;
    rp_body *body = r->meeting.body;
    if (!rp_bumps_need_mending(&company->bumps, &r->meeting) && company->links == 0) {
        return;
    }
    double kept[RP_COLLIDER_LIMIT][2][3];
    for (int c = 0; c < r->colliders; c++) {
        memcpy(kept[c][0], body[c].velocity, sizeof kept[c][0]);
        memcpy(kept[c][1], body[c].spin, sizeof kept[c][1]);
        memset(body[c].velocity, 0, sizeof kept[c][0]);
        memset(body[c].spin, 0, sizeof kept[c][1]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        rp_bumps_mend(&company->bumps, &r->meeting, round == 0);
        rp_links_mend(company->link, company->links, &r->meeting, round == 0);
    }
    for (int c = 0; c < r->colliders; c++) {
        memcpy(body[c].mend[0], body[c].velocity, sizeof kept[c][0]);
        memcpy(body[c].mend[1], body[c].spin, sizeof kept[c][1]);
        memcpy(body[c].velocity, kept[c][0], sizeof kept[c][0]);
        memcpy(body[c].spin, kept[c][1], sizeof kept[c][1]);
    }
}

void rp_rigids_warm(rp_rigids *r)
{
    rp_company *company = r->company;
    rp_links_begin(company->link, company->links, &r->meeting, company->link_state);
    rp_bumps_warm(&company->bumps, &r->meeting);
    rp_links_warm(company->link, company->links, &r->meeting);
}

// What bodies did to each other is theirs, and known to the next step.
static void end_meeting(rp_rigids *r)
{
    rp_company *company = r->company;
    const rp_body *body = r->meeting.body;
    rp_impulse of_others[RP_COLLIDER_LIMIT];
    for (int c = 0; c < r->colliders; c++) {
        of_others[c] = body[c].given;
    }
    rp_bumps_end(&company->bumps, &r->meeting, company->echo.data);
    company->echoes = company->bumps.count;
    rp_links_end(company->link, company->links, &r->meeting, company->link_state);
    for (int c = 0; c < r->colliders; c++) {
        for (int a = 0; a < 3; a++) {
            company->met[c].linear[a] = body[c].given.linear[a] - of_others[c].linear[a];
            company->met[c].angular[a] = body[c].given.angular[a] - of_others[c].angular[a];
        }
    }
    mend(r);
}

void rp_rigids_meet(rp_rigids *r)
{
    (void)solve_bumps(r);
    end_meeting(r);
}

void rp_rigids_solve(rp_rigids *r, const rp_grid *grid, int threads, double *rubbed)
{
    if (r->free == 0) {
        return;
    }
    rp_body *body = r->meeting.body;
    rp_company *company = r->company;
    solving s = {.r = r, .body = body, .grid = grid, .dt = r->meeting.dt, .threads = threads};
    rp_parallel_for(threads, r->pages, 4, grip_page, &s);
    const bool shared = list_own(r);
    const int64_t own = r->own_first[r->colliders];
    rp_rigids_warm(r);
    // what depends on no other body is done after one sweep
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double changed = 0.0;
        for (int c = 0; c < r->colliders; c++) {
            if (r->collider[c].free && r->own_first[c] < r->own_first[c + 1]) {
                changed = fmax(changed, solve_body(&s, c));
            }
        }
        const double met = solve_bumps(r);
        const bool alone = company->bumps.count + company->links == 0;
        if ((!shared && (alone || own == 0)) || (!(changed > TOGETHER) && met == 0.0)) {
            break;
        }
    }
    hand_out(&s, rubbed);
    end_meeting(r);
}
