#include "collide/collider.h"

#include "base/hash.h"
#include "base/result.h"
#include "base/threads.h"
#include "shape/class.h"

#include <math.h>
#include <string.h>

// A node that lies on a wall up to rounding is on the wall, so that a floor on a grid line acts
// there.
static const double ON_WALL = 1e-9; // [cells]

void rp_contact_resolve(rp_contact contact, double friction, const double normal[3], double phi,
                        double dt, double v[3])
{
    if (contact == RP_STICKY) {
        if (phi <= 0.0) {
            v[0] = v[1] = v[2] = 0.0;
        }
        return;
    }
    const double vn = v[0] * normal[0] + v[1] * normal[1] + v[2] * normal[2];
    double push = 0.0; // change of the normal velocity that the wall causes
    if (contact == RP_SEPARATE) {
        // phi(x') >= min(phi(x), 0)
        const double least = phi > 0.0 ? -phi / dt : 0.0;
        push = vn < least ? least - vn : 0.0;
    } else if (phi <= 0.0) {
        push = -vn;
    }
    if (push == 0.0) {
        return;
    }
    double t[3], t2 = 0.0;
    for (int a = 0; a < 3; a++) {
        t[a] = v[a] - vn * normal[a];
        t2 += t[a] * t[a];
    }
    // friction takes at most friction * |push| and never reverses the slip
    const double slip = sqrt(t2), bite = friction * fabs(push);
    const double kept = slip > bite ? 1.0 - bite / slip : 0.0;
    for (int a = 0; a < 3; a++) {
        v[a] = kept * t[a] + (vn + push) * normal[a];
    }
}

// ---- motion ----

static void rotation_matrix(const double q[4], double R[3][3])
{
    const double n = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        R[i][i] = 1.0 - n * (q[j] * q[j] + q[k] * q[k]);
        R[i][j] = n * (q[i] * q[j] - q[k] * q[3]);
        R[j][i] = n * (q[i] * q[j] + q[k] * q[3]);
    }
}

static rp_result pose_at(const rp_collider *c, double t, struct rp_placing *out)
{
    rp_pose pose = {.rotation = {0.0, 0.0, 0.0, 1.0}};
    if (c->motion.call != NULL) {
        RP_TRY(c->motion.call(c->motion.context, t, &pose));
    }
    double length2 = 0.0;
    bool finite = true;
    for (int i = 0; i < 4; i++) {
        length2 += pose.rotation[i] * pose.rotation[i];
        finite = finite && (i == 3 || isfinite(pose.position[i]));
    }
    if (!finite || !(length2 > 0.0 && isfinite(length2))) {
        return rp_fail(RP_ERR_ARGUMENT, "the motion of collider '%s' gave no pose at t = %g s",
                       c->name, t);
    }
    memcpy(out->position, pose.position, sizeof pose.position);
    rotation_matrix(pose.rotation, out->rotation);
    return RP_OK;
}

static void rotate(const double R[3][3], const double x[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = R[a][0] * x[0] + R[a][1] * x[1] + R[a][2] * x[2];
    }
}

// What is described in the parent's frame, in the world's.
static void go_along(const struct rp_placing *parent, struct rp_placing *own)
{
    struct rp_placing out;
    rotate(parent->rotation, own->position, out.position);
    for (int a = 0; a < 3; a++) {
        out.position[a] += parent->position[a];
        for (int b = 0; b < 3; b++) {
            out.rotation[a][b] = 0.0;
            for (int k = 0; k < 3; k++) {
                out.rotation[a][b] += parent->rotation[a][k] * own->rotation[k][b];
            }
        }
    }
    *own = out;
}

rp_result rp_colliders_move(rp_collider *collider, int colliders, double t, double dt)
{
    for (int i = 0; i < colliders; i++) {
        rp_collider *c = &collider[i];
        if (c->moves) {
            RP_TRY(pose_at(c, t, &c->begin));
            RP_TRY(pose_at(c, t + dt, &c->end));
        }
        if (c->parent >= 0) {
            go_along(&collider[c->parent].begin, &c->begin);
            go_along(&collider[c->parent].end, &c->end);
        }
    }
    return RP_OK;
}

rp_pose rp_collider_pose(const rp_collider *c)
{
    const double(*R)[3] = c->end.rotation;
    rp_pose pose;
    memcpy(pose.position, c->end.position, sizeof pose.position);
    // the largest component first, so that nothing small is divided by
    const double trace = R[0][0] + R[1][1] + R[2][2];
    int i = R[1][1] > R[0][0] ? 1 : 0;
    i = R[2][2] > R[i][i] ? 2 : i;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    if (trace >= R[i][i]) {
        pose.rotation[3] = 1.0 + trace;
        for (int a = 0; a < 3; a++) {
            pose.rotation[a] = R[(a + 2) % 3][(a + 1) % 3] - R[(a + 1) % 3][(a + 2) % 3];
        }
    } else {
        pose.rotation[i] = 1.0 + R[i][i] - R[j][j] - R[k][k];
        pose.rotation[j] = R[i][j] + R[j][i];
        pose.rotation[k] = R[i][k] + R[k][i];
        pose.rotation[3] = R[k][j] - R[j][k];
    }
    const double *q = pose.rotation;
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int a = 0; a < 4; a++) {
        pose.rotation[a] /= length;
    }
    return pose;
}

// A place in the frame in which the shape is described, at the start of the step.
static void to_shape(const rp_collider *c, const double x[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = 0.0;
        for (int b = 0; b < 3; b++) {
            out[a] += c->begin.rotation[b][a] * (x[b] - c->begin.position[b]);
        }
    }
}

// Distance and way out at the start of the step, and how fast the collider moves there: from where
// its pose takes that point of it within the step.
static double look(const rp_collider *c, const double x[3], double dt, double normal[3],
                   double velocity[3])
{
    velocity[0] = velocity[1] = velocity[2] = 0.0;
    if (!c->moves) {
        return rp_shape_distance(c->shape, x, normal);
    }
    double local[3], gradient[3], there[3];
    to_shape(c, x, local);
    const double phi = rp_shape_distance(c->shape, local, gradient);
    rotate(c->begin.rotation, gradient, normal);
    rotate(c->end.rotation, local, there);
    for (int a = 0; a < 3; a++) {
        velocity[a] = (there[a] + c->end.position[a] - x[a]) / dt;
    }
    return phi;
}

double rp_collider_look(const rp_collider *c, const double x[3], double normal[3])
{
    double velocity[3];
    return look(c, x, 1.0, normal, velocity);
}

double rp_collider_distance(const rp_collider *c, const double x[3])
{
    double normal[3];
    return rp_collider_look(c, x, normal);
}

// ---- where it is, and how far it goes ----

static void corner(const double lower[3], const double upper[3], int number, double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = number >> a & 1 ? upper[a] : lower[a];
    }
}

// A box around a box that is placed.
static void placed_bounds(const struct rp_placing *at, const double lower[3], const double upper[3],
                          double out[2][3])
{
    for (int i = 0; i < 8; i++) {
        double x[3], turned[3];
        corner(lower, upper, i, x);
        rotate(at->rotation, x, turned);
        for (int a = 0; a < 3; a++) {
            const double there = turned[a] + at->position[a];
            out[0][a] = i == 0 ? there : fmin(out[0][a], there);
            out[1][a] = i == 0 ? there : fmax(out[1][a], there);
        }
    }
}

static bool shape_bounds(const rp_collider *c, int dim, double lower[3], double upper[3])
{
    const bool bounded = rp_shape_bounds(c->shape, dim, lower, upper);
    if (dim == 2) {
        lower[2] = upper[2] = 0.0;
    }
    return bounded;
}

bool rp_collider_bounds(const rp_collider *c, int dim, double lower[3], double upper[3])
{
    double box[2][3];
    if (!shape_bounds(c, dim, lower, upper)) {
        return false;
    }
    placed_bounds(&c->begin, lower, upper, box);
    memcpy(lower, box[0], sizeof box[0]);
    memcpy(upper, box[1], sizeof box[1]);
    return true;
}

// The part of `box` that a collider is in at the start or at the end of the step, or between.
static bool common_box(const rp_collider *c, int dim, double lower[3], double upper[3])
{
    double own[2][3], begin[2][3], end[2][3];
    if (!shape_bounds(c, dim, own[0], own[1])) {
        return true;
    }
    placed_bounds(&c->begin, own[0], own[1], begin);
    placed_bounds(&c->end, own[0], own[1], end);
    bool some = true;
    for (int a = 0; a < dim; a++) {
        lower[a] = fmax(lower[a], fmin(begin[0][a], end[0][a]));
        upper[a] = fmin(upper[a], fmax(begin[1][a], end[1][a]));
        some = some && lower[a] <= upper[a];
    }
    return some;
}

double rp_colliders_way(const rp_collider *collider, int colliders, int dim, const double lower[3],
                        const double upper[3])
{
    double most2 = 0.0;
    for (int i = 0; i < colliders; i++) {
        const rp_collider *c = &collider[i];
        double box[2][3];
        memcpy(box[0], lower, sizeof box[0]);
        memcpy(box[1], upper, sizeof box[1]);
        if (!c->moves || !(lower[0] <= upper[0]) || !common_box(c, dim, box[0], box[1])) {
            continue;
        }
        // the way is an affine function of the place: the longest is at a corner
        for (int k = 0; k < 8; k++) {
            double x[3], local[3], there[3], way2 = 0.0;
            corner(box[0], box[1], k, x);
            to_shape(c, x, local);
            rotate(c->end.rotation, local, there);
            for (int a = 0; a < dim; a++) {
                const double way = there[a] + c->end.position[a] - x[a];
                way2 += way * way;
            }
            most2 = fmax(most2, way2);
        }
    }
    return sqrt(most2);
}

// ---- which pages ----

bool rp_collider_near_block(const rp_collider *c, const rp_layout *l, const int32_t block[3])
{
    // from the middle of the block to its last node, and a step's way of at most one cell with some
    // to spare
    double middle[3] = {0}, normal[3], velocity[3], reach2 = 0.0;
    for (int a = 0; a < l->dim; a++) {
        const double half = 0.5 * (l->cells[a] - 1);
        middle[a] = l->h * (block[a] * l->cells[a] + half);
        reach2 += half * half;
    }
    return look(c, middle, 1.0, normal, velocity) < l->h * (sqrt(reach2) + 2.0);
}

// ---- distances that are remembered ----

typedef struct wall_slot {
    uint64_t key;  // of the block
    int32_t entry; // -1: free
    uint16_t collider;
} wall_slot;

void rp_walls_free(rp_walls *walls, const rp_allocator *a)
{
    rp_buffer_free(&walls->table, a);
    rp_buffer_free(&walls->entry, a);
    rp_buffer_free(&walls->near, a);
}

static wall_slot *wall_at(const rp_walls *walls, uint64_t key, int collider)
{
    wall_slot *table = walls->table.data;
    size_t i = (size_t)rp_mix64(key * 256 + (uint64_t)collider) & (walls->table_size - 1);
    while (table[i].entry >= 0 && (table[i].key != key || table[i].collider != collider)) {
        i = (i + 1) & (walls->table_size - 1);
    }
    return &table[i];
}

static size_t wall_bytes(const rp_layout *l)
{
    return (size_t)l->nodes * 4 * (size_t)rp_real_bytes(l);
}

// Forget all, and make room for as many as twice what is wanted.
static rp_result walls_clear(rp_walls *walls, const rp_grid *grid, int64_t wanted)
{
    size_t size = 64;
    while (size < 4 * (size_t)wanted) {
        size *= 2;
    }
    walls->entries = 0;
    walls->table_size = 0;
    RP_TRY(rp_buffer_reserve(&walls->table, grid->allocator, size * sizeof(wall_slot), 0,
                             "the table of walls"));
    walls->table_size = size;
    for (size_t i = 0; i < size; i++) {
        ((wall_slot *)walls->table.data)[i].entry = -1;
    }
    return RP_OK;
}

// The place of a block's n-th node.
static void node_place(const rp_layout *l, const int32_t block[3], int n, double x[3])
{
    for (int a = 2; a >= 0; a--) {
        x[a] = a < l->dim ? l->h * (block[a] * l->cells[a] + n % l->cells[a]) : 0.0;
        n /= l->cells[a];
    }
}

// Distance and way out of a collider that stands still, with no more digits than nodes have. Not
// inlined: gcc 12 then left two of the four numbers as they were, and a test saw it.
static __attribute__((noinline)) void wall_numbers(const rp_collider *c, const rp_layout *l,
                                                   const double x[3], double out[4])
{
    out[0] = rp_shape_distance(c->shape, x, out + 1);
    if (l->precision == RP_SINGLE) {
        float rounded[4];
        for (int i = 0; i < 4; i++) {
            rounded[i] = (float)out[i];
        }
        for (int i = 0; i < 4; i++) {
            out[i] = (double)rounded[i];
        }
    }
}

typedef struct wall_job {
    const rp_touches *touches;
    const rp_grid *grid;
    const struct wall_order {
        int32_t entry;
        rp_local page;
        uint16_t collider;
    } * order;
} wall_job;

static void fill_wall(void *context, int64_t i, int thread)
{
    (void)thread;
    const wall_job *job = context;
    const rp_layout *l = &job->grid->layout;
    char *out =
        (char *)job->touches->walls->entry.data + (size_t)job->order[i].entry * wall_bytes(l);
    for (int n = 0; n < l->nodes; n++) {
        double x[3], numbers[4];
        node_place(l, rp_grid_page(job->grid)[job->order[i].page].block, n, x);
        wall_numbers(&job->touches->collider[job->order[i].collider], l, x, numbers);
        for (int k = 0; k < 4; k++) {
            if (l->precision == RP_SINGLE) {
                ((float *)out)[4 * n + k] = (float)numbers[k];
            } else {
                ((double *)out)[4 * n + k] = numbers[k];
            }
        }
    }
}

// An entry for every pair of a page and a collider that stands still; new ones are filled.
static rp_result find_walls(rp_touches *t, rp_walls *walls, const rp_grid *grid, int threads,
                            rp_scratch *scratch)
{
    wall_job job = {.touches = t, .grid = grid};
    struct wall_order *order =
        rp_scratch_get(scratch, (size_t)t->pairs * sizeof *order, "walls to look at");
    int64_t standing = 0, orders = 0;
    if (order == NULL) {
        return RP_ERR_MEMORY;
    }
    for (int64_t i = 0; i < t->pairs; i++) {
        const rp_collider *c = &t->collider[t->near[i]];
        standing += !c->moves && !rp_shape_is_plane(c->shape);
    }
    // too many that nobody needs, or too few places: begin anew
    if (walls->entries > 2 * standing + 64 ||
        walls->table_size < 2 * ((size_t)walls->entries + (size_t)standing)) {
        RP_TRY(walls_clear(walls, grid, walls->entries + standing));
    }
    for (rp_local p = 0; p < grid->pages; p++) {
        for (int k = 0; k < t->page[p].count; k++) {
            const uint32_t pair = t->page[p].first + (uint32_t)k;
            const uint16_t collider = t->near[pair];
            t->wall[pair] = -1;
            // a plane is worked out as fast as it is looked up
            if (t->collider[collider].moves || rp_shape_is_plane(t->collider[collider].shape)) {
                continue;
            }
            // fields share what is the same for all
            const uint64_t key = rp_grid_page(grid)[p].key;
            wall_slot *slot = wall_at(walls, key, collider);
            if (slot->entry < 0) {
                *slot = (wall_slot){key, walls->entries++, collider};
                order[orders++] = (struct wall_order){slot->entry, p, collider};
            }
            t->wall[pair] = slot->entry;
        }
    }
    const size_t used = (size_t)(walls->entries - orders) * wall_bytes(&grid->layout),
                 bytes = (size_t)walls->entries * wall_bytes(&grid->layout);
    if (walls->entry.bytes < bytes &&
        rp_buffer_reserve(&walls->entry, grid->allocator, bytes + bytes / 8, used, "walls") !=
            RP_OK) {
        walls->table_size = 0; // what was promised is not there
        walls->entries = 0;
        return RP_ERR_MEMORY;
    }
    t->walls = walls;
    job.order = order;
    rp_parallel_for(threads, orders, 4, fill_wall, &job);
    return RP_OK;
}

// ---- which pages feel which colliders ----

enum { COLLIDER_WORDS = 4, COLLIDERS_MOST = 64 * COLLIDER_WORDS };

typedef struct finding {
    const rp_collider *collider;
    int colliders;
    const rp_grid *grid;
    bool only_moving;                 // the others are known
    uint64_t (*near)[COLLIDER_WORDS]; // a bit per collider, for each page
} finding;

static void find_on_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const finding *f = context;
    const int32_t *block = rp_grid_page(f->grid)[page].block;
    for (int i = 0; i < f->colliders; i++) {
        if ((f->collider[i].moves || !f->only_moving) &&
            rp_collider_near_block(&f->collider[i], &f->grid->layout, block)) {
            f->near[page][i / 64] |= 1ull << i % 64;
        }
    }
}

// What stands still is found once for every build of the grid.
static rp_result find_near(const finding *f, rp_walls *walls, int threads)
{
    const size_t bytes = (size_t)f->grid->pages * sizeof *f->near;
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
                    ((uint64_t(*)[COLLIDER_WORDS])walls->near.data)[p][i / 64] &= ~(1ull << i % 64);
                }
            }
        }
        walls->build = f->grid->builds;
        walls->colliders = f->colliders;
    }
    return RP_OK;
}

rp_result rp_touches_find(rp_touches *t, rp_walls *walls, const rp_collider *collider,
                          int colliders, const rp_grid *grid, int threads, rp_scratch *scratch)
{
    RP_ASSERT(colliders <= COLLIDERS_MOST);
    const size_t pages = (size_t)grid->pages;
    finding f = {.collider = collider, .colliders = colliders, .grid = grid};
    *t = (rp_touches){.collider = collider};
    t->page = rp_scratch_get(scratch, pages * sizeof *t->page, "pages that touch colliders");
    f.near = rp_scratch_get(scratch, pages * sizeof *f.near, "pages that touch colliders");
    if (t->page == NULL || f.near == NULL) {
        return RP_ERR_MEMORY;
    }
    RP_TRY(find_near(&f, walls, threads));
    for (size_t p = 0; p < pages; p++) {
        t->page[p] = (rp_touch){.first = (uint32_t)t->pairs};
        for (int w = 0; w < COLLIDER_WORDS; w++) {
            t->page[p].count += (uint16_t)__builtin_popcountll(f.near[p][w]);
        }
        t->pairs += t->page[p].count;
    }
    t->near = rp_scratch_get(scratch, (size_t)t->pairs * sizeof *t->near, "colliders of pages");
    t->wall = rp_scratch_get(scratch, (size_t)t->pairs * sizeof *t->wall, "colliders of pages");
    t->given = rp_scratch_get(scratch, (size_t)t->pairs * sizeof *t->given, "loads of colliders");
    if (t->near == NULL || t->wall == NULL || t->given == NULL) {
        return RP_ERR_MEMORY;
    }
    int64_t pair = 0;
    for (size_t p = 0; p < pages; p++) {
        for (int w = 0; w < COLLIDER_WORDS; w++) {
            for (uint64_t bits = f.near[p][w]; bits != 0; bits &= bits - 1) {
                t->wall[pair] = -1;
                t->near[pair++] = (uint16_t)(64 * w + __builtin_ctzll(bits));
            }
        }
    }
    return walls != NULL && t->pairs > 0 ? find_walls(t, walls, grid, threads, scratch) : RP_OK;
}

// ---- nodes ----

typedef struct node {
    int number; // in its block
    double x[3], mass, v[3];
} node;

// Distance, way out and velocity of the collider of a pair at a node.
static double see(const rp_touches *t, const rp_layout *l, uint32_t pair, const node *at, double dt,
                  double normal[3], double moving[3])
{
    const rp_collider *c = &t->collider[t->near[pair]];
    double numbers[4];
    if (c->moves) {
        return look(c, at->x, dt, normal, moving);
    }
    moving[0] = moving[1] = moving[2] = 0.0;
    if (t->wall[pair] < 0) {
        wall_numbers(c, l, at->x, numbers);
    } else {
        const char *entry =
            (const char *)t->walls->entry.data + (size_t)t->wall[pair] * wall_bytes(l);
        for (int i = 0; i < 4; i++) {
            numbers[i] = l->precision == RP_SINGLE
                             ? (double)((const float *)entry)[4 * at->number + i]
                             : ((const double *)entry)[4 * at->number + i];
        }
    }
    memcpy(normal, numbers + 1, 3 * sizeof *normal);
    return numbers[0];
}

// How far the nodes of a page are from a collider that stands still, cheaply: looked up, or as the
// linear function that a plane is.
typedef struct reach {
    const void *wall; // [node][4]; NULL: a plane
    double first, step[3];
} reach;

enum { REACH_MOST = 16 }; // colliders near a page; where there are more, all nodes are worked out

static bool find_reach(const rp_touches *t, const rp_layout *l, const rp_touch *touch,
                       const int32_t block[3], reach out[REACH_MOST])
{
    double corner[3];
    node_place(l, block, 0, corner);
    for (int k = 0; k < touch->count; k++) {
        const uint32_t pair = touch->first + (uint32_t)k;
        const rp_collider *c = &t->collider[t->near[pair]];
        if (k >= REACH_MOST || c->moves || (t->wall[pair] < 0 && !rp_shape_is_plane(c->shape))) {
            return false;
        }
        out[k] = (reach){0};
        if (t->wall[pair] >= 0) {
            out[k].wall =
                (const char *)t->walls->entry.data + (size_t)t->wall[pair] * wall_bytes(l);
        } else {
            out[k].first = rp_shape_distance(c->shape, corner, out[k].step);
        }
    }
    return true;
}

// Is every collider too far from a node for it to get there within the step? Then contact changes
// nothing. The margins are for rounding: of ways out, which are of length 1 up to that, and of a
// plane's distance.
static bool out_of_reach(const reach *r, int count, const rp_layout *l, const int at[3], int number,
                         const double v[3], double dt)
{
    const double way2 = 1.001 * dt * dt * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    bool far = true;
    for (int k = 0; k < count && far; k++) {
        double phi = r[k].first +
                     l->h * (r[k].step[0] * at[0] + r[k].step[1] * at[1] + r[k].step[2] * at[2]);
        if (r[k].wall != NULL) {
            phi = l->precision == RP_SINGLE ? (double)((const float *)r[k].wall)[4 * number]
                                            : ((const double *)r[k].wall)[4 * number];
        }
        far = phi > 1e-6 * l->h && phi * phi > way2;
    }
    return far;
}

// A collider gives a node a velocity; what the node loses by that, the collider gets.
static void collide_once(const rp_touches *t, const rp_layout *l, uint32_t pair, bool rubs,
                         double dt, node *at)
{
    const rp_collider *c = &t->collider[t->near[pair]];
    double normal[3], moving[3], lost[3], arm[3], through[2] = {0}, *v = at->v;
    double relative[3], slid = 0.0, square = 0.0, *given = t->given[pair];
    double phi = see(t, l, pair, at, dt, normal, moving);
    phi = fabs(phi) < ON_WALL * l->h ? 0.0 : phi;
    for (int a = 0; a < 3; a++) {
        lost[a] = v[a];
        v[a] -= moving[a];
        through[0] += v[a] * normal[a];
        relative[a] = v[a];
    }
    rp_contact_resolve(c->contact, rubs ? c->friction : 0.0, normal, phi, dt, v);
    if (v[0] == relative[0] && v[1] == relative[1] && v[2] == relative[2]) {
        memcpy(v, lost, sizeof lost);
        return;
    }
    for (int a = 0; a < 3; a++) {
        through[1] += v[a] * normal[a];
        slid += relative[a] * v[a];
        square += v[a] * v[a];
        v[a] += moving[a];
        lost[a] = at->mass * (lost[a] - v[a]);
        arm[a] = at->x[a] - c->begin.position[a];
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        given[a] += lost[a];
        given[3 + a] += arm[b] * lost[d] - arm[d] * lost[b];
    }
    // the impulse along the surface times the way that is still slid along it
    given[6] += at->mass * (slid - through[0] * through[1] - square + through[1] * through[1]);
}

// Colliders in turn. Where several hold a node, one may push it back into another: they get more
// turns, in which they only push, until none has anything to say.
static void collide(const rp_touches *t, const rp_layout *l, const rp_touch *touch, double dt,
                    node *at)
{
    enum { TURNS = 4 };
    for (int turn = 0; turn < TURNS; turn++) {
        const double before[3] = {at->v[0], at->v[1], at->v[2]};
        for (int k = 0; k < touch->count; k++) {
            collide_once(t, l, touch->first + (uint32_t)k, turn == 0, dt, at);
        }
        if (touch->count == 1 ||
            (at->v[0] == before[0] && at->v[1] == before[1] && at->v[2] == before[2])) {
            return;
        }
    }
}

void rp_touches_apply(const rp_touches *t, const rp_grid *grid, rp_local page, double dt)
{
    const rp_touch *touch = &t->page[page];
    const rp_layout *l = &grid->layout;
    const int32_t *block = rp_grid_page(grid)[page].block;
    if (touch->count == 0) {
        return;
    }
    memset(t->given[touch->first], 0, touch->count * sizeof *t->given);
    float *single = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    double *twice = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    const bool is_single = l->precision == RP_SINGLE;
    reach reaches[REACH_MOST];
    const bool may_skip = find_reach(t, l, touch, block, reaches);
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
                for (int a = 0; a < 3; a++) {
                    here.v[a] = is_single ? (double)single[at + a] : twice[at + a];
                }
                if (may_skip && out_of_reach(reaches, touch->count, l, place, n, here.v, dt)) {
                    continue;
                }
                node_place(l, block, n, here.x);
                collide(t, l, touch, dt, &here);
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

double rp_touches_sum(const rp_touches *t, rp_local pages, double (*load)[6])
{
    double rubbed = 0.0;
    for (rp_local p = 0; p < pages; p++) {
        for (int k = 0; k < t->page[p].count; k++) {
            const uint32_t pair = t->page[p].first + (uint32_t)k;
            for (int a = 0; a < 6; a++) {
                load[t->near[pair]][a] += t->given[pair][a];
            }
            rubbed += t->given[pair][6];
        }
    }
    return rubbed;
}
