#include "collide/bumps.h"

#include "base/result.h"
#include "base/three.h"
#include "shape/class.h"

#include <stdlib.h>
#include <string.h>

// ---- skins ----

enum { ALONG = 10 };              // points along the longest side, or more where there are corners
static const double ROUND = 0.02; // radius of the balls, of the spacing

typedef struct thinning {
    double (*kept)[3];
    int32_t count, room;
    int32_t *table; // open addressing: cell -> one of them
    size_t size;
    double cell, radius;
    int dim;
} thinning;

// One point a cell, the first one that comes.
static void offer(thinning *t, const double x[3])
{
    int64_t at[3] = {0};
    uint64_t hash = 0;
    for (int a = 0; a < t->dim; a++) {
        at[a] = (int64_t)floor(x[a] / t->cell);
        hash = (hash ^ (uint64_t)at[a]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    size_t slot = (size_t)hash & (t->size - 1);
    for (; t->table[slot] >= 0; slot = (slot + 1) & (t->size - 1)) {
        const double *other = t->kept[t->table[slot]];
        bool same = true;
        for (int a = 0; a < t->dim; a++) {
            same = same && (int64_t)floor(other[a] / t->cell) == at[a];
        }
        if (same) {
            return;
        }
    }
    if (t->count < t->room) {
        memcpy(t->kept[t->count], x, sizeof t->kept[0]);
        t->table[slot] = t->count++;
    }
}

// Corners first, so that they are kept; then edges and the inside of triangles, as finely as the
// spacing is.
static void offer_triangle(thinning *t, const rp_shape *shape, double x[3][3], int cuts,
                           bool corners)
{
    for (int i = 0; i <= cuts; i++) {
        for (int j = 0; j <= cuts - i; j++) {
            const bool corner =
                (i == 0 || i == cuts) && (j == 0 || j == cuts) && (i + j == 0 || i + j == cuts);
            double p[3], out[3];
            if (corner != corners) {
                continue;
            }
            for (int a = 0; a < 3; a++) {
                p[a] = x[0][a] + (x[1][a] - x[0][a]) * i / cuts + (x[2][a] - x[0][a]) * j / cuts;
            }
            p[2] = t->dim == 2 ? 0.0 : p[2];
            const double phi = rp_shape_distance(shape, p, out);
            if (fabs(phi) > 0.25 * t->cell) { // in 2D, of the faces that are only drawn
                continue;
            }
            // inwards, away from all faces around
            for (int turn = 0; turn < 12; turn++) {
                const double excess = rp_shape_distance(shape, p, out) + t->radius;
                for (int a = 0; a < t->dim; a++) {
                    p[a] -= excess * out[a];
                }
            }
            if (fabs(rp_shape_distance(shape, p, out) + t->radius) < 0.1 * t->radius) {
                offer(t, p);
            }
        }
    }
}

// Points of all triangles, a radius below them.
static void find_points(thinning *t, const rp_shape *shape, const rp_surface *surface)
{
    t->count = 0;
    memset(t->table, 0xff, t->size * sizeof *t->table);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < surface->triangles; i++) {
            double x[3][3], longest = 0.0;
            for (int k = 0; k < 3; k++) {
                for (int c = 0; c < 3; c++) {
                    x[k][c] = surface->vertex[surface->triangle[i][k]][c];
                }
            }
            for (int k = 0; k < 3; k++) {
                double edge2 = 0.0;
                for (int c = 0; c < 3; c++) {
                    edge2 += (x[k][c] - x[(k + 1) % 3][c]) * (x[k][c] - x[(k + 1) % 3][c]);
                }
                longest = fmax(longest, sqrt(edge2));
            }
            const int cuts = (int)fmin(64.0, fmax(1.0, ceil(longest / t->cell)));
            offer_triangle(t, shape, x, cuts, pass == 0);
        }
    }
}

rp_result rp_skin_make(rp_skin *skin, const rp_shape *shape, int dim, const rp_allocator *a)
{
    enum { MOST = 1 << 14, TRIES = 10, GRIDS = 6 };
    double lower[3], upper[3], size = 0.0;
    *skin = (rp_skin){0};
    if (!rp_shape_bounds(shape, dim, lower, upper)) {
        return RP_OK;
    }
    for (int k = 0; k < dim; k++) {
        size = fmax(size, upper[k] - lower[k]);
    }
    for (int k = 0; k < 3; k++) { // a slice in 2D, and some room
        lower[k] = k < dim ? lower[k] - 0.05 * size : -0.05 * size;
        upper[k] = k < dim ? upper[k] + 0.05 * size : 0.05 * size;
    }
    const double spacing = size / (dim == 3 ? ALONG : 4 * ALONG);
    rp_surface surface = {0};
    double cell = spacing; // of a grid between whose nodes a thin body may hide
    for (int i = 0; i < GRIDS && surface.triangles == 0; i++, cell *= 0.5) {
        rp_surface_free(&surface);
        RP_TRY(rp_shape_surface(shape, dim, lower, upper, cell, &surface));
    }
    thinning t = {.size = 4 * MOST, .room = MOST, .cell = spacing, .dim = dim};
    t.table = malloc(t.size * sizeof *t.table);
    t.kept = malloc(MOST * sizeof *t.kept);
    rp_result result = t.table != NULL && t.kept != NULL
                           ? RP_OK
                           : rp_fail(RP_ERR_MEMORY, "out of memory: points of a body's surface");
    // balls that have no room in a thin body are made smaller
    t.radius = ROUND * spacing;
    for (int i = 0; i < TRIES && t.count == 0 && result == RP_OK; i++) {
        t.radius *= i > 0 ? 0.5 : 1.0;
        find_points(&t, shape, &surface);
    }
    rp_surface_free(&surface);
    const size_t bytes = (size_t)t.count * sizeof *t.kept;
    if (result == RP_OK && bytes > 0) {
        result = rp_buffer_reserve(&skin->buffer, a, bytes, 0, "points of a body's surface");
    }
    if (result == RP_OK && bytes > 0) {
        memcpy(skin->buffer.data, t.kept, bytes);
        skin->points = t.count;
    }
    skin->spacing = spacing;
    skin->radius = t.radius;
    free(t.table);
    free(t.kept);
    return result;
}

// ---- who meets whom ----

// A candidate: a point of the owner's skin near the other's surface.
typedef struct spot {
    int owner;
    int32_t point;
    bool known;          // it was a bump in the step before
    double x[3], out[3]; // out of the other; once all are found, out of b
    double gap;
    double left; // of the gap at the end of the step, if nothing acts; 0: they touch by then
} spot;

enum { SPOTS_MOST = 4096, WAYS = 8, SHEAVES = 8 };

// Where the owner's surface faces to, as seen from a spacing away towards the other: at an edge the
// nearest of its faces would be anybody's guess.
// @return whether that is the other. A point of an edge that hangs over is beside the other, whose
// way out leads along the owner's face or into it: it says nothing about the two.
static bool faces(const rp_collider *owner, const rp_skin *skin, const spot *s, double up[3])
{
    double x[3];
    for (int a = 0; a < 3; a++) {
        x[a] = s->x[a] - skin->spacing * s->out[a];
    }
    // less what a ball is below the tip of a sharp edge, and a slope
    return rp_collider_look(owner, x, up) > 0.5 * skin->spacing;
}

// Slide along the owner's surface to where it is deepest in the other, if that is no farther than
// about the spacing of points: a ball is then as round as its distance says. A face that lies on
// another has no such place near, and its points stay where they are, however little it is tilted.
// A slope leads to a deeper point that others find: its own points would only brake what rolls.
typedef enum sliding { STAYS, SLID, LEADS_ON } sliding;
static sliding deepen(const rp_collider *owner, const rp_collider *other, const rp_skin *skin,
                      int dim, spot *s)
{
    static const double LEVEL = 1e-5; // slope that counts as none
    static const double STEEP = 0.15; // and one that is no face on a face
    static const double FAR = 1.5;    // spacings to the next point, where they are far apart
    bool steep = false;
    const double spacing = skin->spacing;
    const spot from = *s;
    double stride = 0.25 * spacing, last[3] = {INFINITY, INFINITY, INFINITY};
    for (int turn = 0; turn < 60 && stride > 1e-7 * spacing; turn++) {
        double up[3], slope[3], size2 = 0.0, bent2 = 0.0, x[3], out[3], way2 = 0.0;
        if (!faces(owner, skin, s, up) && turn == 0) {
            return LEADS_ON;
        }
        const double along = rp_dot(s->out, up);
        for (int a = 0; a < 3; a++) {
            slope[a] = s->out[a] - along * up[a];
            size2 += slope[a] * slope[a];
            bent2 += (slope[a] - last[a]) * (slope[a] - last[a]);
        }
        const double size = sqrt(size2);
        if (!(size > LEVEL)) {
            return turn > 0 ? SLID : STAYS;
        }
        steep = turn == 0 ? size > STEEP : steep;
        // on a face the slope is the same everywhere: no need to go to its end
        if (stride * size > 2.0 * FAR * spacing * sqrt(bent2)) {
            break;
        }
        for (int a = 0; a < dim; a++) {
            x[a] = s->x[a] - stride * slope[a] / size;
            way2 += (x[a] - from.x[a]) * (x[a] - from.x[a]);
        }
        x[2] = dim == 3 ? x[2] : 0.0;
        for (int back = 0; back < 2; back++) { // onto the surface again
            const double excess = rp_collider_look(owner, x, up) + skin->radius;
            for (int a = 0; a < dim; a++) {
                x[a] -= excess * up[a];
            }
        }
        // at a sharp edge it is not there yet: a ball would stick out of the surface
        const bool there =
            fabs(rp_collider_look(owner, x, up) + skin->radius) < 0.05 * skin->radius;
        const double gap = rp_collider_look(other, x, out) - skin->radius;
        if (there && gap < s->gap && way2 <= FAR * FAR * spacing * spacing) {
            memcpy(s->x, x, sizeof x);
            memcpy(s->out, out, sizeof out);
            s->gap = gap;
            memcpy(last, slope, sizeof last);
        } else {
            stride *= 0.5;
            last[0] = INFINITY;
        }
    }
    double way2 = 0.0;
    for (int a = 0; a < 3; a++) {
        way2 += (s->x[a] - from.x[a]) * (s->x[a] - from.x[a]);
    }
    *s = from;
    return steep && way2 > 0.01 * spacing * spacing ? LEADS_ON : STAYS;
}

// Has one of those that slid come to the same place?
static bool is_there(const spot *spots, int32_t count, double near, const spot *s)
{
    for (int32_t i = 0; i < count; i++) {
        double way2 = 0.0;
        for (int a = 0; a < 3; a++) {
            way2 += (spots[i].x[a] - s->x[a]) * (spots[i].x[a] - s->x[a]);
        }
        if (way2 < near * near) {
            return true;
        }
    }
    return false;
}

// Spots whose ways out are alike are thinned to the outermost ones, which hold as well as all do.
// Points of a face that lies on a face are as deep and as far out as each other, to rounding: of
// such the one that was a bump before stays one, or what it did would be forgotten in every step,
// and a stack would tremble.
typedef struct sheaf {
    double out[3], side[3], third[3]; // the way, and two across
    double least;                     // gap of all
    int32_t deepest, outer[WAYS];
    double gap, reach[WAYS];
} sheaf;

static void begin_sheaf(sheaf *f, const double out[3])
{
    *f = (sheaf){.least = INFINITY, .gap = INFINITY};
    memcpy(f->out, out, sizeof f->out);
    memset(f->outer, 0xff, sizeof f->outer);
    rp_across(out, f->side, f->third);
}

static void add_to_sheaf(sheaf *f, const spot *spots, int32_t i, double spacing)
{
    static const double way[WAYS][2] = {{1, 0},  {0.7, 0.7},   {0, 1},  {-0.7, 0.7},
                                        {-1, 0}, {-0.7, -0.7}, {0, -1}, {0.7, -0.7}};
    // what does not touch, as the round edge beside a face, would only do so after a turn [rad]
    static const double TILT = 0.002;
    const double bonus = spots[i].known ? 0.01 * spacing : 0.0;
    const double u = rp_dot(f->side, spots[i].x), v = rp_dot(f->third, spots[i].x);
    const double apart = spots[i].left - f->least;
    if (spots[i].gap - bonus < f->gap) {
        f->gap = spots[i].gap - bonus;
        f->deepest = i;
    }
    for (int k = 0; k < WAYS; k++) {
        const double reach = way[k][0] * u + way[k][1] * v + bonus - apart / TILT;
        if (f->outer[k] < 0 || reach > f->reach[k]) {
            f->reach[k] = reach;
            f->outer[k] = i;
        }
    }
}

// @return how many of `spots` are left, in the order in which they came
static int32_t thin_out(spot *spots, int32_t count, double spacing)
{
    sheaf sheaves[SHEAVES];
    uint8_t of[SPOTS_MOST];
    bool keep[SPOTS_MOST] = {false};
    int used = 0;
    if (count <= WAYS) {
        return count;
    }
    for (int32_t i = 0; i < count; i++) {
        int k = 0;
        while (k < used && rp_dot(sheaves[k].out, spots[i].out) < 0.99) {
            k++;
        }
        if (k == used && k < SHEAVES) {
            begin_sheaf(&sheaves[used++], spots[i].out);
        }
        of[i] = (uint8_t)k;
        keep[i] = k == SHEAVES; // as many as there are points: these are few
        if (!keep[i]) {
            sheaves[k].least = fmin(sheaves[k].least, spots[i].left);
        }
    }
    for (int32_t i = 0; i < count; i++) {
        if (!keep[i]) {
            add_to_sheaf(&sheaves[of[i]], spots, i, spacing);
        }
    }
    for (int k = 0; k < used; k++) {
        keep[sheaves[k].deepest] = true;
        for (int w = 0; w < WAYS; w++) {
            keep[sheaves[k].outer[w]] = true;
        }
    }
    int32_t left = 0;
    for (int32_t i = 0; i < count; i++) {
        if (keep[i]) {
            spots[left++] = spots[i];
        }
    }
    return left;
}

static double speed_of(const rp_body *b, double radius)
{
    return sqrt(rp_dot(b->velocity, b->velocity)) + radius * sqrt(rp_dot(b->spin, b->spin));
}

static void find_turned(rp_body *body)
{
    const double(*R)[3] = body->pose.rotation;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            body->turned[a][b] = 0.0;
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++) {
                    body->turned[a][b] += R[a][i] * body->inverse[i][j] * R[b][j];
                }
            }
        }
    }
}

// How much an impulse along a unit vector changes the velocity along it.
static double answer_of(const rp_body *body, const double arm[3], const double along[3])
{
    double turn[3], spin[3], moved[3];
    if (!rp_body_is_free(body)) {
        return 0.0;
    }
    rp_cross(arm, along, turn);
    rp_rotate(body->turned, turn, spin); // any matrix will do
    rp_cross(spin, arm, moved);
    return 1.0 / body->mass + rp_dot(moved, along);
}

static void velocity_at(const rp_body *body, const double arm[3], double out[3])
{
    rp_cross(body->spin, arm, out);
    for (int a = 0; a < 3; a++) {
        out[a] += body->velocity[a];
    }
}

static void between(const rp_bump *p, const rp_bumping *m, double u[3])
{
    double other[3];
    velocity_at(&m->body[p->a], p->arm[0], u);
    velocity_at(&m->body[p->b], p->arm[1], other);
    for (int a = 0; a < 3; a++) {
        u[a] -= other[a];
    }
}

static void push(rp_body *body, const double arm[3], const double impulse[3], double sign)
{
    if (!rp_body_is_free(body)) {
        return;
    }
    double turn[3], spin[3];
    rp_cross(arm, impulse, turn);
    rp_rotate(body->turned, turn, spin);
    const double each = sign / body->mass;
    for (int a = 0; a < 3; a++) {
        body->velocity[a] += a < body->dim ? each * impulse[a] : 0.0;
        body->spin[a] += sign * spin[a];
    }
}

// Coulomb's coefficient of two: the mean of their kinds, or that of the other where one is sticky.
static double friction_of(const rp_temper *a, const rp_temper *b)
{
    if (!(a->friction < INFINITY) || !(b->friction < INFINITY)) {
        return fmin(a->friction, b->friction);
    }
    return sqrt(a->friction * b->friction);
}

static void fill_in(rp_bump *p, const rp_bumping *m, const spot *s)
{
    const rp_body *A = &m->body[p->a], *B = &m->body[p->b];
    for (int k = 0; k < 3; k++) {
        p->normal[k] = s->out[k];
        p->arm[0][k] = s->x[k] - A->pose.position[k];
        p->arm[1][k] = s->x[k] - B->pose.position[k];
    }
    p->gap = s->gap;
    p->friction = friction_of(&m->temper[p->a], &m->temper[p->b]);
    p->answer[0] = answer_of(A, p->arm[0], p->normal) + answer_of(B, p->arm[1], p->normal);
    // across: the larger of the two by two of directions there
    double side[3], third[3];
    rp_across(p->normal, side, third);
    if (m->dim == 2) { // there is only the one in the plane
        const double *flat = fabs(side[2]) < 0.5 ? side : third;
        p->answer[1] = answer_of(A, p->arm[0], flat) + answer_of(B, p->arm[1], flat);
    } else {
        const double one = answer_of(A, p->arm[0], side) + answer_of(B, p->arm[1], side);
        const double two = answer_of(A, p->arm[0], third) + answer_of(B, p->arm[1], third);
        double diagonal[3];
        for (int k = 0; k < 3; k++) {
            diagonal[k] = sqrt(0.5) * (side[k] + third[k]);
        }
        const double off = answer_of(A, p->arm[0], diagonal) + answer_of(B, p->arm[1], diagonal) -
                           0.5 * (one + two);
        // the larger eigenvalue of the two by two
        p->answer[1] = 0.5 * (one + two) + sqrt(0.25 * (one - two) * (one - two) + off * off);
    }
    // a hit comes back with some of its speed, if it is one: what gravity does within a few steps
    // is none
    double u[3];
    between(p, m, u);
    const double un = rp_dot(u, p->normal);
    const double bounce = fmin(m->temper[p->a].restitution, m->temper[p->b].restitution);
    p->least = -fmax(p->gap, 0.0) / m->dt;
    if (bounce > 0.0 && un < m->slow && un * m->dt < -p->gap) {
        // it is as fast as it will be at the surface, whence it comes back to where it is: with
        // what gravity does on the way and within the step, so that no energy is gained
        const double fall = rp_body_is_free(B) ? 0.0 : -rp_dot(m->gravity, p->normal);
        const double in = -un - 0.5 * fall * m->dt;
        const double out2 =
            bounce * bounce * in * in - 2.0 * fall * fmax(p->gap, 0.0) * (1.0 - bounce * bounce);
        p->least = fmax(p->least, sqrt(fmax(out2, 0.0)) - 0.5 * fall * m->dt);
    }
}

// What is known of two that met in the step before.
typedef struct memory {
    const rp_echo *echo;
    int32_t count;
} memory;

static bool recalls(const memory *old, int owner, int32_t point)
{
    bool known = false;
    for (int32_t i = 0; i < old->count; i++) {
        known = known || (old->echo[i].owner == owner && old->echo[i].point == point);
    }
    return known;
}

// Points of one that are near the other, after those that have been found already.
// @return how many there are then
static int32_t find_spots(const rp_bumping *m, int owner, int other, double margin,
                          const memory *old, spot *spots, int32_t count)
{
    const rp_collider *own = &m->collider[owner], *met = &m->collider[other];
    const rp_skin *skin = &m->skin[owner];
    const int32_t first = count;
    for (int32_t i = 0; i < skin->points && count < SPOTS_MOST; i++) {
        spot *s = &spots[count];
        rp_placing_world(&own->begin, rp_skin_point(skin)[i], s->x);
        s->gap = rp_collider_look(met, s->x, s->out) - skin->radius;
        // a spacing away may be a deeper one
        if (s->gap < margin + 0.5 * skin->spacing) {
            const sliding how = deepen(own, met, skin, m->dim, s);
            s->owner = owner;
            s->point = i;
            s->known = recalls(old, owner, i);
            count +=
                s->gap < margin && how != LEADS_ON &&
                !(how == SLID && is_there(spots + first, count - first, 0.1 * skin->spacing, s));
        }
    }
    return count;
}

static rp_result add_bumps(rp_bumps *bumps, const rp_bumping *m, int a, int b, double margin,
                           const memory *old, const rp_allocator *allocator)
{
    static _Thread_local spot spots[SPOTS_MOST];
    const double spacing = m->skin[a].spacing;
    int32_t count = find_spots(m, a, b, margin, old, spots, 0);
    const int32_t own = count;
    count = find_spots(m, b, a, margin, old, spots, count);
    for (int32_t i = 0; i < count; i++) { // from the middle of the ball to where it touches
        const double sign = i < own ? 1.0 : -1.0, radius = m->skin[spots[i].owner].radius;
        double u[2][3];
        for (int k = 0; k < 3; k++) {
            spots[i].x[k] -= radius * spots[i].out[k];
            spots[i].out[k] *= sign;
        }
        rp_body_velocity(&m->body[a], spots[i].x, u[0]);
        rp_body_velocity(&m->body[b], spots[i].x, u[1]);
        const double apart = rp_dot(u[0], spots[i].out) - rp_dot(u[1], spots[i].out);
        spots[i].left = fmax(0.0, spots[i].gap + fmin(0.0, apart) * m->dt);
    }
    // where the other's points have found the two already, these say nothing new
    int32_t left = own;
    for (int32_t i = own; i < count; i++) {
        if (!is_there(spots, own, (spots[i].known ? 0.08 : 0.1) * spacing, &spots[i])) {
            spots[left++] = spots[i];
        }
    }
    count = thin_out(spots, left, spacing);
    const size_t bytes = ((size_t)bumps->count + (size_t)count) * sizeof(rp_bump);
    if (bytes > bumps->buffer.bytes) {
        RP_TRY(rp_buffer_reserve(&bumps->buffer, allocator, 2 * bytes,
                                 (size_t)bumps->count * sizeof(rp_bump), "bodies that touch"));
    }
    for (int32_t i = 0; i < count; i++) {
        rp_bump *p = (rp_bump *)bumps->buffer.data + bumps->count++;
        *p = (rp_bump){.a = a, .b = b, .owner = spots[i].owner, .point = spots[i].point};
        fill_in(p, m, &spots[i]);
    }
    return RP_OK;
}

double rp_bumps_overlap(const rp_bumping *m, int a, int b, double where[3])
{
    double deepest = 0.0;
    for (int side = 0; side < 2; side++) {
        const int owner = side == 0 ? a : b, other = side == 0 ? b : a;
        const rp_skin *skin = &m->skin[owner];
        for (int32_t i = 0; i < skin->points; i++) {
            double x[3], out[3];
            rp_rotate(m->collider[owner].begin.rotation, rp_skin_point(skin)[i], x);
            for (int k = 0; k < 3; k++) {
                x[k] += m->collider[owner].begin.position[k];
            }
            const double deep = skin->radius - rp_collider_look(&m->collider[other], x, out);
            // what lies on a face is in it by rounding, or by what a curve differs from its points
            if (deep > fmax(deepest, 0.1 * skin->spacing)) {
                deepest = deep;
                memcpy(where, x, sizeof x);
            }
        }
    }
    return deepest;
}

static void recall(rp_bumps *bumps, const rp_bumping *m, const rp_echo *echo, int32_t echoes)
{
    // both lists are in the same order
    rp_bump *p = bumps->buffer.data;
    int32_t e = 0;
    for (int32_t i = 0; i < bumps->count; i++) {
        const double key[4] = {p[i].a, p[i].b, p[i].owner == p[i].b, p[i].point};
        int order = -1;
        for (; e < echoes && order < 0; e += order < 0) {
            const double known[4] = {echo[e].a, echo[e].b, echo[e].owner == echo[e].b,
                                     echo[e].point};
            order = 0;
            for (int k = 0; k < 4 && order == 0; k++) {
                order = known[k] < key[k] ? -1 : known[k] > key[k];
            }
        }
        if (order != 0) {
            continue;
        }
        const double along = fmax(0.0, m->dt * rp_dot(echo[e].force, p[i].normal));
        double rub2 = 0.0;
        for (int k = 0; k < 3; k++) {
            p[i].rub[k] =
                m->dt * (echo[e].force[k] - rp_dot(echo[e].force, p[i].normal) * p[i].normal[k]);
            rub2 += p[i].rub[k] * p[i].rub[k];
        }
        const double most = p[i].friction * along,
                     kept = sqrt(rub2) > most ? most / sqrt(rub2) : 1.0;
        p[i].push = along;
        for (int k = 0; k < 3; k++) {
            p[i].rub[k] *= kept;
        }
        e++;
    }
}

rp_result rp_bumps_find(rp_bumps *bumps, const rp_bumping *m, const rp_echo *echo, int32_t echoes,
                        const rp_allocator *allocator)
{
    memory old = {.echo = echo};
    const rp_echo *end = echo + echoes;
    rp_ball ball[RP_COLLIDER_LIMIT];
    double speed[RP_COLLIDER_LIMIT];
    bumps->count = 0;
    for (int a = 0; a < m->colliders; a++) {
        find_turned(&m->body[a]);
        ball[a] = rp_ball_of(&m->collider[a], m->dim);
        speed[a] = ball[a].radius < INFINITY ? speed_of(&m->body[a], ball[a].radius) : 0.0;
    }
    for (int a = 0; a < m->colliders; a++) {
        if (!m->collider[a].free) {
            continue;
        }
        const rp_ball A = ball[a];
        for (int b = 0; b < m->colliders; b++) {
            // of two free ones the first has the bumps
            if (b == a || (m->collider[b].free && b < a)) {
                continue;
            }
            const double other =
                ball[b].radius < INFINITY ? speed[b] : speed_of(&m->body[b], A.radius);
            const double margin = 1.5 * m->dt * (speed[a] + other) + 0.01 * A.radius;
            if (!rp_ball_near(&ball[b], A.middle, A.radius + margin) ||
                (m->apart != NULL && m->apart(m->context, a, b)) ||
                rp_collider_distance(&m->collider[b], A.middle) > A.radius + margin) {
                continue;
            }
            // echoes are in the order in which bumps are found
            while (old.echo < end && (old.echo->a < a || (old.echo->a == a && old.echo->b < b))) {
                old.echo++;
            }
            for (old.count = 0; old.echo + old.count < end && old.echo[old.count].a == a &&
                                old.echo[old.count].b == b;) {
                old.count++;
            }
            RP_TRY(add_bumps(bumps, m, a, b, margin, &old, allocator));
        }
    }
    recall(bumps, m, echo, echoes);
    return RP_OK;
}

// ---- what they do ----

void rp_bumps_warm(rp_bumps *bumps, const rp_bumping *m)
{
    rp_bump *p = bumps->buffer.data;
    for (int32_t i = 0; i < bumps->count; i++) {
        double impulse[3];
        for (int k = 0; k < 3; k++) {
            impulse[k] = p[i].push * p[i].normal[k] + p[i].rub[k];
        }
        push(&m->body[p[i].a], p[i].arm[0], impulse, 1.0);
        push(&m->body[p[i].b], p[i].arm[1], impulse, -1.0);
    }
}

// docs/theory.md (74): along the normal, then across it within the cone.
static double solve_bump(rp_bump *p, const rp_bumping *m)
{
    double u[3], change[3], rub[3], rub2 = 0.0;
    between(p, m, u);
    const double more = fmax(-p->push, (p->least - rp_dot(u, p->normal)) / p->answer[0]);
    p->push += more;
    for (int k = 0; k < 3; k++) {
        change[k] = more * p->normal[k];
    }
    push(&m->body[p->a], p->arm[0], change, 1.0);
    push(&m->body[p->b], p->arm[1], change, -1.0);
    between(p, m, u);
    const double un = rp_dot(u, p->normal);
    for (int k = 0; k < 3; k++) {
        rub[k] = p->rub[k] - (u[k] - un * p->normal[k]) / p->answer[1];
        rub2 += rub[k] * rub[k];
    }
    const double most = p->push > 0.0 ? p->friction * p->push : 0.0;
    const double kept = rub2 > most * most ? most / sqrt(rub2) : 1.0;
    double changed2 = 0.0;
    for (int k = 0; k < 3; k++) {
        change[k] = kept * rub[k] - p->rub[k];
        p->rub[k] += change[k];
        changed2 += change[k] * change[k];
    }
    push(&m->body[p->a], p->arm[0], change, 1.0);
    push(&m->body[p->b], p->arm[1], change, -1.0);
    return fmax(fabs(more) * p->answer[0], sqrt(changed2) * p->answer[1]);
}

double rp_bumps_sweep(rp_bumps *bumps, const rp_bumping *m)
{
    rp_bump *p = bumps->buffer.data;
    double changed = 0.0;
    for (int32_t i = 0; i < bumps->count; i++) {
        changed = fmax(changed, solve_bump(&p[i], m));
    }
    for (int32_t i = bumps->count - 1; i >= 0; i--) {
        changed = fmax(changed, solve_bump(&p[i], m));
    }
    return changed;
}

void rp_bumps_end(const rp_bumps *bumps, const rp_bumping *m, rp_echo *echo)
{
    const rp_bump *p = bumps->buffer.data;
    for (int32_t i = 0; i < bumps->count; i++) {
        double impulse[3], back[3];
        echo[i] = (rp_echo){.a = p[i].a, .b = p[i].b, .owner = p[i].owner, .point = p[i].point};
        for (int k = 0; k < 3; k++) {
            impulse[k] = p[i].push * p[i].normal[k] + p[i].rub[k];
            back[k] = -impulse[k];
            echo[i].force[k] = impulse[k] / m->dt;
        }
        rp_impulse_add(&m->body[p[i].a].given, p[i].arm[0], impulse);
        rp_impulse_add(&m->body[p[i].b].given, p[i].arm[1], back);
    }
}

static const double ALLOWED = 1e-3; // of the spacing, that a bump may be too deep

bool rp_bumps_need_mending(const rp_bumps *bumps, const rp_bumping *m)
{
    const rp_bump *p = bumps->buffer.data;
    bool any = false;
    for (int32_t i = 0; i < bumps->count; i++) {
        any = any || p[i].gap < -ALLOWED * m->skin[p[i].owner].spacing;
    }
    return any;
}

void rp_bumps_mend(const rp_bumps *bumps, const rp_bumping *m, bool first)
{
    static const double SHARE = 0.2; // of what is too deep, in a step
    rp_bump *p = bumps->buffer.data;
    for (int32_t i = 0; i < bumps->count; i++) {
        const double allowed = ALLOWED * m->skin[p[i].owner].spacing;
        // what is apart must stay so
        const double wanted =
            p[i].gap < 0.0 ? SHARE * fmax(0.0, -p[i].gap - allowed) / m->dt : -p[i].gap / m->dt;
        double u[3], change[3];
        p[i].push = first ? 0.0 : p[i].push;
        between(&p[i], m, u);
        const double more = fmax(-p[i].push, (wanted - rp_dot(u, p[i].normal)) / p[i].answer[0]);
        p[i].push += more;
        for (int k = 0; k < 3; k++) {
            change[k] = more * p[i].normal[k];
        }
        push(&m->body[p[i].a], p[i].arm[0], change, 1.0);
        push(&m->body[p[i].b], p[i].arm[1], change, -1.0);
    }
}
