#include "collide/surface.h"

#include <math.h>
#include <string.h>

// ---- what a node sees ----

// @param[in,out] middle of the cells so far, times two and their particles
static inline rp_four see_cell(rp_sight *s, rp_sight_room *room, const rp_view *view,
                               int32_t number, rp_four shift, rp_four middle)
{
    const rp_cells *c = view->cells;
    const int32_t first = c->start[number], end = c->start[number + 1];
    const int at = room->count;
    s->cut = s->cut || (first != end && at == room->most);
    if (first == end || s->cut) {
        return middle;
    }
    const rp_cell_box box = {c->box[number].lo + shift, c->box[number].hi + shift};
    room->box[at] = box;
    room->first[at] = first;
    room->end[at] = end;
    room->view[at] = view;
    s->particles += end - first;
    room->count++;
    return middle + (box.lo + box.hi) * (float)(end - first);
}

static rp_sight see(const rp_views *views, const int node[3], const int below[3],
                    const int above[3], rp_sight_room *room)
{
    const int dim = views->dim;
    rp_sight s = {.room = room,
                  .first = room->count,
                  .node = {node[0], node[1], node[2]},
                  .dim = dim,
                  .order = views->order};
    rp_four middle = {0};
    for (int v = 0; v < views->count; v++) {
        const rp_view *view = &views->view[v];
        const rp_cells *c = view->cells;
        int lo[3] = {0}, hi[3] = {0}; // cells of the page that reach the node
        bool any = true;
        for (int a = 0; a < dim; a++) {
            const int first = below[a] - views->order - view->away[a] - c->lo[a];
            const int last = above[a] - view->away[a] - c->lo[a];
            lo[a] = first < c->least[a] ? c->least[a] : first;
            hi[a] = last > c->most[a] ? c->most[a] : last;
            any = any && lo[a] <= hi[a];
        }
        if (!any) {
            continue;
        }
        const rp_four shift = {(float)(view->away[0] - node[0]), (float)(view->away[1] - node[1]),
                               (float)(view->away[2] - node[2]), 0.0f};
        for (int i = lo[0]; i <= hi[0]; i++) {
            for (int j = lo[1]; j <= hi[1]; j++) {
                const int32_t row = (i * c->side[1] + j) * c->side[2];
                if (c->start[row + lo[2]] == c->start[row + hi[2] + 1]) {
                    continue; // empty
                }
                for (int k = lo[2]; k <= hi[2]; k++) {
                    middle = see_cell(&s, room, view, row + k, shift, middle);
                }
            }
        }
    }
    s.end = room->count;
    for (int a = 0; a < 3 && s.particles > 0; a++) {
        s.middle[a] = 0.5 * (double)middle[a] / s.particles;
    }
    return s;
}

rp_sight rp_sight_of(const rp_views *views, const int node[3], int ring, rp_sight_room *room)
{
    const int below[3] = {node[0] - ring, node[1] - ring, node[2] - ring};
    const int above[3] = {node[0] + ring, node[1] + ring, node[2] + ring};
    return see(views, node, below, above, room);
}

rp_sight rp_sight_of_box(const rp_views *views, const int first[3], const int last[3],
                         rp_sight_room *room)
{
    return see(views, first, first, last, room);
}

// Each particle of a sight: `i` in the columns of its page `c`, which lies `shift` from the node.
#define FOR_PARTICLES(s, k, c, shift, i)                                                           \
    for (int k = (s)->first; k < (s)->end; k++)                                                    \
        for (const rp_cells *c = (s)->room->view[k]->cells; c != NULL; c = NULL)                   \
            for (const double shift[3] = {(s)->room->view[k]->away[0] - (s)->node[0],              \
                                          (s)->room->view[k]->away[1] - (s)->node[1],              \
                                          (s)->room->view[k]->away[2] - (s)->node[2]},             \
                              *once = shift;                                                       \
                 once != NULL; once = NULL)                                                        \
                for (int32_t i = (s)->room->first[k]; i < (s)->room->end[k]; i++)

// ---- how far it comes ----

// A direction, its parts forwards and backwards apart: the farthest corner of a box along it is
// then two products.
typedef struct heading {
    rp_four ahead, back;
} heading;

static heading heading_of(const double way[3])
{
    heading h = {0};
    for (int a = 0; a < 3; a++) {
        h.ahead[a] = way[a] > 0.0 ? (float)way[a] : 0.0f;
        h.back[a] = way[a] > 0.0 ? 0.0f : (float)way[a];
    }
    return h;
}

static inline float corner(const rp_cell_box *box, const heading *h)
{
    const rp_four u = h->ahead * box->hi + h->back * box->lo;
    return u[0] + u[1] + u[2] + 10.0f * RP_BOX_SLACK;
}

double rp_sight_bound(const rp_sight *s, const double way[3])
{
    const heading h = heading_of(way);
    float most = s->cut ? 1e30f : -1e30f;
    for (int k = s->first; k < s->end; k++) {
        const float u = corner(&s->room->box[k], &h);
        most = u > most ? u : most;
    }
    return (double)most;
}

// The farthest ball of a cell.
static double reach_in_cell(const rp_sight *s, int k, const double way[3], double most)
{
    const rp_view *view = s->room->view[k];
    const rp_cells *c = view->cells;
    double from = 0.0;
    for (int a = 0; a < s->dim; a++) {
        from += way[a] * (view->away[a] - s->node[a]);
    }
    for (int32_t i = s->room->first[k]; i < s->room->end[k]; i++) {
        double u = c->radius[i] + from;
        for (int a = 0; a < s->dim; a++) {
            u += way[a] * c->x[a][i];
        }
        most = u > most ? u : most;
    }
    return most;
}

double rp_sight_reach(const rp_sight *s, const double way[3])
{
    const heading h = heading_of(way);
    int farthest = s->first;
    float ahead = -1e30f;
    for (int k = s->first; k < s->end; k++) {
        const float u = corner(&s->room->box[k], &h);
        farthest = u > ahead ? k : farthest;
        ahead = u > ahead ? u : ahead;
    }
    if (s->first == s->end) {
        return -INFINITY;
    }
    // cells whose boxes end before what is known already say nothing
    double most = reach_in_cell(s, farthest, way, -INFINITY);
    for (int k = s->first; k < s->end; k++) {
        if (k != farthest && (double)corner(&s->room->box[k], &h) > most) {
            most = reach_in_cell(s, k, way, most);
        }
    }
    return most;
}

// ---- where it points ----

// Solve a symmetric positive system by Cholesky's method. @return false: it is none
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

typedef double twice_two __attribute__((vector_size(32)));

rp_face rp_sight_face(const rp_sight *s)
{
    static const double DEEPEST = 1.0; // [cells]: what is deeper may be nearer to another side
    const int dim = s->dim;
    rp_face face = {.known = false};
    twice_two XX[4] = {{0}}, Xd = {0}; // sums of products of X = (x, y, z, 1) and depth
    double left = 0.0, length2 = 0.0;
    int count = 0;
    for (int k = s->first; k < s->end; k++) {
        const rp_view *view = s->room->view[k];
        const rp_cells *c = view->cells;
        const double shift[3] = {view->away[0] - s->node[0], view->away[1] - s->node[1],
                                 view->away[2] - s->node[2]};
        for (int32_t i = s->room->first[k]; i < s->room->end[k]; i++) {
            const double depth = c->depth[i];
            if (!(depth > 0.0 && depth < DEEPEST)) {
                continue;
            }
            const twice_two X = {c->x[0][i] + shift[0], c->x[1][i] + shift[1],
                                 c->x[2][i] + shift[2], 1.0};
            for (int a = 0; a < 4; a++) {
                XX[a] += X * X[a];
            }
            Xd += X * depth;
            left += depth * depth;
            count++;
        }
    }
    if (count < dim + 2) {
        return face;
    }
    // least squares for depth = b . (x, 1)
    double A[4][4] = {{0}}, b[4] = {0}, kept[4];
    for (int a = 0; a <= dim; a++) {
        const int i = a < dim ? a : 3;
        b[a] = Xd[i];
        for (int j = 0; j <= a; j++) {
            A[a][j] = XX[i][j < dim ? j : 3];
        }
        A[a][a] += 1e-9 * count;
    }
    memcpy(kept, b, sizeof kept);
    if (!solve(A, b, dim + 1)) {
        return face;
    }
    for (int a = 0; a <= dim; a++) {
        left -= b[a] * kept[a];
        length2 += a < dim ? b[a] * b[a] : 0.0;
    }
    face.known = length2 > 1e-6;
    face.rough = sqrt((left > 0.0 ? left : 0.0) / (count - dim - 1));
    for (int a = 0; a < dim && face.known; a++) {
        face.normal[a] = -b[a] / sqrt(length2);
    }
    return face;
}

// A spline of this order and its slope, `d` cells from its middle.
static double spline(double d, double *slope, int order)
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

void rp_sight_gradient(const rp_sight *s, double out[3])
{
    double sum[3] = {0};
    FOR_PARTICLES(s, k, c, shift, i)
    {
        double w[3] = {1.0, 1.0, 1.0}, d[3] = {0}, mass, volume;
        for (int a = 0; a < s->dim; a++) {
            w[a] = spline(c->x[a][i] + shift[a], &d[a], s->order);
        }
        const rp_view *view = s->room->view[k];
        rp_set_measure(view->set, view->page, c->slot[i], &mass, &volume);
        sum[0] += mass * d[0] * w[1] * w[2];
        sum[1] += mass * w[0] * d[1] * w[2];
        sum[2] += mass * w[0] * w[1] * d[2];
    }
    memcpy(out, sum, sizeof sum);
}

// exp(-x) for x >= 0, to 1e-9 or so, which is far more than a fit needs: a power of two, and the
// first terms of a series. Not the library's, whose bits depend on the processor.
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

// One Newton step of the fit: the gradient and the curvature that the particles of one body add.
static int add_to_fit(const rp_sight *s, double side, const double plane[4], double A[4][4],
                      double b[4])
{
    const int dim = s->dim;
    int count = 0;
    FOR_PARTICLES(s, k, c, shift, i)
    {
        double X[4] = {0}, z = plane[dim];
        for (int a = 0; a < dim; a++) {
            X[a] = c->x[a][i] + shift[a];
            z += plane[a] * X[a];
        }
        X[dim] = 1.0;
        // probability that the particle is on the wrong side
        const double e = decay(fabs(z)), right = 1.0 / (1.0 + e);
        const double wrong = (z < 0.0) == (side < 0.0) ? e * right : right;
        const double bend = wrong * (1.0 - wrong);
        for (int a = 0; a <= dim; a++) {
            b[a] += side * wrong * X[a];
            for (int j = 0; j <= a; j++) {
                A[a][j] += bend * X[a] * X[j];
            }
        }
        count++;
    }
    return count;
}

void rp_sight_separate(const rp_sight *b, const rp_sight *d, double normal[3])
{
    enum { STEPS = 16 };
    static const double PENALTY = 1e-3, LONGEST = 4.0, STILL = 1e-4;
    const int dim = b->dim;
    double plane[4] = {0};
    for (int a = 0; a < dim; a++) {
        plane[a] = 2.0 * normal[a];
    }
    for (int step = 0; step < STEPS; step++) {
        double A[4][4] = {{0}}, way[4] = {0}, length2 = 0.0, most = 0.0;
        int count = add_to_fit(b, -1.0, plane, A, way);
        count += add_to_fit(d, 1.0, plane, A, way);
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
    double length2 = 0.0;
    for (int a = 0; a < dim; a++) {
        length2 += plane[a] * plane[a];
    }
    for (int a = 0; a < dim && length2 > 1e-18; a++) {
        normal[a] = plane[a] / sqrt(length2);
    }
}
