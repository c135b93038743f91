#include "collide/collider.h"

#include "base/result.h"
#include "base/threads.h"

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

enum { COLLIDER_WORDS = 4, COLLIDERS_MOST = 64 * COLLIDER_WORDS };

typedef struct finding {
    const rp_collider *collider;
    int colliders;
    const rp_grid *grid;
    uint64_t (*near)[COLLIDER_WORDS]; // a bit per collider, for each page
} finding;

static void find_on_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const finding *f = context;
    const int32_t *block = rp_grid_page(f->grid)[page].block;
    memset(f->near[page], 0, sizeof f->near[page]);
    for (int i = 0; i < f->colliders; i++) {
        if (rp_collider_near_block(&f->collider[i], &f->grid->layout, block)) {
            f->near[page][i / 64] |= 1ull << i % 64;
        }
    }
}

rp_result rp_touches_find(rp_touches *t, const rp_collider *collider, int colliders,
                          const rp_grid *grid, int threads, rp_arena *scratch)
{
    RP_ASSERT(colliders <= COLLIDERS_MOST);
    const size_t pages = (size_t)grid->pages;
    finding f = {.collider = collider, .colliders = colliders, .grid = grid};
    *t = (rp_touches){.collider = collider};
    t->page = rp_arena_get(scratch, pages * sizeof *t->page, "pages that touch colliders");
    f.near = rp_arena_get(scratch, pages * sizeof *f.near, "pages that touch colliders");
    if (t->page == NULL || f.near == NULL) {
        return RP_ERR_MEMORY;
    }
    rp_parallel_for(threads, grid->pages, 64, find_on_page, &f);
    for (size_t p = 0; p < pages; p++) {
        t->page[p] = (rp_touch){.first = (uint32_t)t->pairs};
        for (int w = 0; w < COLLIDER_WORDS; w++) {
            t->page[p].count += (uint16_t)__builtin_popcountll(f.near[p][w]);
        }
        t->pairs += t->page[p].count;
    }
    t->near = rp_arena_get(scratch, (size_t)t->pairs * sizeof *t->near, "colliders of pages");
    t->given = rp_arena_get(scratch, (size_t)t->pairs * sizeof *t->given, "loads of colliders");
    if (t->near == NULL || t->given == NULL) {
        return RP_ERR_MEMORY;
    }
    int64_t pair = 0;
    for (size_t p = 0; p < pages; p++) {
        for (int i = 0; i < colliders; i++) {
            if (f.near[p][i / 64] >> i % 64 & 1) {
                t->near[pair++] = (uint16_t)i;
            }
        }
    }
    return RP_OK;
}

// ---- nodes ----

// A collider gives a node a velocity; what the node loses by that, the collider gets.
static void collide_once(const rp_collider *c, double friction, double h, const double x[3],
                         double dt, double mass, double v[3], double given[7])
{
    double normal[3], moving[3], lost[3], arm[3], through[2] = {0};
    double relative[3], slid = 0.0, square = 0.0;
    double phi = look(c, x, dt, normal, moving);
    phi = fabs(phi) < ON_WALL * h ? 0.0 : phi;
    for (int a = 0; a < 3; a++) {
        lost[a] = v[a];
        arm[a] = x[a] - c->begin.position[a];
        v[a] -= moving[a];
    }
    for (int a = 0; a < 3; a++) {
        through[0] += v[a] * normal[a];
        relative[a] = v[a];
    }
    rp_contact_resolve(c->contact, friction, normal, phi, dt, v);
    for (int a = 0; a < 3; a++) {
        through[1] += v[a] * normal[a];
        slid += relative[a] * v[a];
        square += v[a] * v[a];
        v[a] += moving[a];
        lost[a] = mass * (lost[a] - v[a]);
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        given[a] += lost[a];
        given[3 + a] += arm[b] * lost[d] - arm[d] * lost[b];
    }
    // the impulse along the surface times the way that is still slid along it
    given[6] += mass * (slid - through[0] * through[1] - square + through[1] * through[1]);
}

// Colliders in turn. Where several hold a node, one may push it back into another: they get more
// turns, in which they only push, until none has anything to say.
static void collide(const rp_touches *t, const rp_touch *touch, double h, const double x[3],
                    double dt, double mass, double v[3])
{
    enum { TURNS = 4 };
    for (int turn = 0; turn < TURNS; turn++) {
        const double before[3] = {v[0], v[1], v[2]};
        for (int k = 0; k < touch->count; k++) {
            const rp_collider *c = &t->collider[t->near[touch->first + (uint32_t)k]];
            collide_once(c, turn == 0 ? c->friction : 0.0, h, x, dt, mass, v,
                         t->given[touch->first + (uint32_t)k]);
        }
        if (touch->count == 1 || (v[0] == before[0] && v[1] == before[1] && v[2] == before[2])) {
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
    int n = 0;
    for (int i = 0; i < l->cells[0]; i++) {
        for (int j = 0; j < l->cells[1]; j++) {
            for (int k = 0; k < l->cells[2]; k++, n += RP_QUAD) {
                const double mass = is_single ? (double)single[n + 3] : twice[n + 3];
                if (!(mass > 0.0)) {
                    continue;
                }
                const double x[3] = {
                    l->h * (block[0] * l->cells[0] + i),
                    l->h * (block[1] * l->cells[1] + j),
                    l->dim == 3 ? l->h * (block[2] * l->cells[2] + k) : 0.0,
                };
                double v[3];
                for (int a = 0; a < 3; a++) {
                    v[a] = is_single ? (double)single[n + a] : twice[n + a];
                }
                collide(t, touch, l->h, x, dt, mass, v);
                for (int a = 0; a < l->dim; a++) {
                    if (is_single) {
                        single[n + a] = (float)v[a];
                    } else {
                        twice[n + a] = v[a];
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
