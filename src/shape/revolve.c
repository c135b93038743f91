// Shapes that a profile makes when it is turned about an axis. In the half-plane of (r, y), the
// distance from the axis and the height along it, such a shape is a plain figure, and the nearest
// point of its surface lies in the same half-plane. So the distance is that of a figure of segments
// and arcs, and it is exact.
#include "base/memory.h"
#include "base/result.h"
#include "shape/class.h"

#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { MOST_POINTS = 4096 };

typedef struct point {
    double r, y;
} point;

// A piece of the line: a segment, or an arc around `middle` when it has a radius. An arc spans less
// than half a turn, so that its points are those of the circle beyond the chord.
typedef struct piece {
    point a, b;
    point middle;
    double radius; // 0: a segment
} piece;

typedef struct revolve {
    rp_shape shape;
    rp_shape_axis axis;
    double half_thickness; // 0: solid
    double lower[3], upper[3];
    rp_shape_measure measure;
    double formula[2]; // area and volume of a solid
    int pieces;
    piece piece[];
} revolve;

// ---- the figure ----

static double cross(point a, point b) { return a.r * b.y - a.y * b.r; }
static point minus(point a, point b) { return (point){a.r - b.r, a.y - b.y}; }
static point plus(point a, double t, point b) { return (point){a.r + t * b.r, a.y + t * b.y}; }
static double dot(point a, point b) { return a.r * b.r + a.y * b.y; }

// Beyond the chord as seen from the middle of the circle?
static bool beyond_chord(const piece *p, point x)
{
    const point chord = minus(p->b, p->a);
    return cross(chord, minus(x, p->a)) * cross(chord, minus(p->middle, p->a)) < 0.0;
}

static point nearest_on_segment(const piece *p, point x)
{
    const point chord = minus(p->b, p->a);
    const double t = dot(minus(x, p->a), chord) / dot(chord, chord);
    return t >= 1.0 ? p->b : t > 0.0 ? plus(p->a, t, chord) : p->a;
}

static point nearest_on_piece(const piece *p, point x)
{
    if (p->radius == 0.0) {
        return nearest_on_segment(p, x);
    }
    // the nearest point of the circle, if it is on the arc; else one of the ends
    const point from = minus(x, p->middle);
    const double length = sqrt(dot(from, from));
    if (length > 0.0) {
        const point on = plus(p->middle, p->radius / length, from);
        if (beyond_chord(p, on)) {
            return on;
        }
    }
    const point to_a = minus(x, p->a), to_b = minus(x, p->b);
    return dot(to_a, to_a) < dot(to_b, to_b) ? p->a : p->b;
}

// Does a ray from x away from the axis cross the chord?
static bool ray_crosses(const piece *p, point x)
{
    if ((p->a.y > x.y) == (p->b.y > x.y)) {
        return false;
    }
    const double side = cross(minus(p->b, p->a), minus(x, p->a));
    return (side > 0.0) == (p->b.y > p->a.y);
}

// In a circular segment between chord and arc?
static bool in_lens(const piece *p, point x)
{
    const point from = minus(x, p->middle);
    return p->radius > 0.0 && beyond_chord(p, x) && dot(from, from) < p->radius * p->radius;
}

// The way out at a point of the line: at right angles to the piece, to the right of it.
static point normal_of(const piece *p, point on)
{
    point n = {p->b.y - p->a.y, p->a.r - p->b.r};
    if (p->radius > 0.0) {
        const point out = minus(on, p->middle);
        n = dot(out, n) < 0.0 ? (point){-out.r, -out.y} : out;
    }
    const double length = sqrt(dot(n, n));
    return (point){n.r / length, n.y / length};
}

static double figure_distance(const revolve *v, point x, point *gradient)
{
    double best2 = INFINITY;
    point best = {0.0, 0.0};
    int which = 0;
    bool inside = false;
    for (int i = 0; i < v->pieces; i++) {
        const piece *p = &v->piece[i];
        const point on = nearest_on_piece(p, x), from = minus(x, on);
        const double d2 = dot(from, from);
        if (d2 < best2) {
            best2 = d2;
            best = on;
            which = i;
        }
        inside = inside != ray_crosses(p, x);
        inside = inside != in_lens(p, x);
    }
    const double d = sqrt(best2);
    const bool solid = v->half_thickness == 0.0;
    const double sign = solid && inside ? -1.0 : 1.0;
    const bool on_line = !(d > 1e-14 * (fabs(best.r) + fabs(best.y)));
    *gradient = on_line ? normal_of(&v->piece[which], best)
                        : (point){sign * (x.r - best.r) / d, sign * (x.y - best.y) / d};
    return sign * d - v->half_thickness;
}

// ---- the shape ----

static double revolve_distance(const rp_shape *shape, const double x[3], double gradient[3])
{
    const revolve *v = (const revolve *)shape;
    double away[3];
    point at, n;
    rp_shape_to_axis(&v->axis, x, &at.r, &at.y, away);
    const double phi = figure_distance(v, at, &n);
    for (int a = 0; a < 3; a++) {
        gradient[a] = n.r * away[a] + n.y * v->axis.axis[a];
    }
    return phi;
}

static void revolve_bounds(const rp_shape *shape, double lower[3], double upper[3])
{
    const revolve *v = (const revolve *)shape;
    memcpy(lower, v->lower, sizeof v->lower);
    memcpy(upper, v->upper, sizeof v->upper);
}

static double distance_in_half_plane(const void *context, const double x[3], double gradient[3])
{
    point n;
    const double phi = figure_distance(context, (point){x[0], x[1]}, &n);
    gradient[0] = n.r;
    gradient[1] = n.y;
    gradient[2] = 0.0;
    return phi;
}

// The shell, from its figure in the half-plane.
static double integrate_shell(const revolve *v, int dimension)
{
    rp_shape_region region = {.distance = distance_in_half_plane,
                              .context = v,
                              .dimension = 2,
                              .lower = {0.0, INFINITY, 0.0},
                              .upper = {0.0, -INFINITY, 0.0},
                              .revolved = dimension == 3,
                              .cost = v->pieces};
    for (int i = 0; i < v->pieces; i++) {
        const piece *p = &v->piece[i];
        const double reach = v->half_thickness;
        // an arc of less than half a turn stays within its radius of its chord's ends
        region.upper[0] = fmax(region.upper[0], fmax(p->a.r, p->b.r) + reach + p->radius);
        region.lower[1] = fmin(region.lower[1], fmin(p->a.y, p->b.y) - reach - p->radius);
        region.upper[1] = fmax(region.upper[1], fmax(p->a.y, p->b.y) + reach + p->radius);
    }
    return rp_shape_integrate(&region) * (dimension == 2 ? 2.0 : 1.0);
}

static double revolve_volume(const rp_shape *shape, int dimension)
{
    revolve *v = (revolve *)(uintptr_t)shape;
    if (dimension == 2 && !rp_shape_axis_is_flat(&v->axis)) {
        return rp_shape_measured(shape, &v->measure, 2);
    }
    if (v->half_thickness == 0.0) {
        return v->formula[dimension - 2];
    }
    double found = atomic_load(&v->measure.volume[dimension - 2]);
    if (found == 0.0) {
        found = integrate_shell(v, dimension);
        atomic_store(&v->measure.volume[dimension - 2], found);
    }
    return found;
}

// ---- making the figure ----

// Area between chord and arc, and its moment about the axis.
static void lens(const piece *p, double *area, double *moment)
{
    const point chord = minus(p->b, p->a), half = plus(p->a, 0.5, chord);
    const double length = sqrt(dot(chord, chord));
    const double angle = asin(fmin(1.0, 0.5 * length / p->radius)); // half of what the arc spans
    *area = p->radius * p->radius * (angle - sin(angle) * cos(angle));
    // the centre of the area lies on the way from the circle's middle through that of the chord
    const point out = minus(half, p->middle);
    const double to_chord = sqrt(dot(out, out));
    const double offset = *area > 0.0 ? length * length * length / (12.0 * *area) : p->radius;
    *moment = *area * (p->middle.r + (to_chord > 0.0 ? offset * out.r / to_chord : 0.0));
}

// Area of a solid's cut with a plane through its axis, and its volume (Pappus), from its sides.
static void measure_solid(revolve *v)
{
    double area = 0.0, moment = 0.0, lens_area = 0.0, lens_moment = 0.0;
    for (int i = 0; i < v->pieces; i++) {
        const piece *p = &v->piece[i];
        const double up = p->b.y - p->a.y;
        area += 0.5 * up * (p->a.r + p->b.r);
        moment += up * (p->a.r * p->a.r + p->a.r * p->b.r + p->b.r * p->b.r) / 6.0;
        if (p->radius > 0.0) {
            // an arc to the right of its chord adds to a figure that runs upwards
            double extra, turned;
            lens(p, &extra, &turned);
            const bool adds = cross(minus(p->b, p->a), minus(p->middle, p->a)) > 0.0;
            lens_area += adds ? extra : -extra;
            lens_moment += adds ? turned : -turned;
        }
    }
    v->formula[0] = 2.0 * fabs(area + lens_area);
    v->formula[1] = 2.0 * PI * fabs(moment + lens_moment);
}

static bool same(point a, point b) { return a.r == b.r && a.y == b.y; }

// How far from a corner its arc begins, 0 when the line goes straight on.
static double cut_at(point a, point corner, point b, double round)
{
    const point in = minus(corner, a), out = minus(b, corner);
    const double turn = fabs(cross(in, out)), lengths = sqrt(dot(in, in) * dot(out, out));
    // tan(angle / 2) of the turn
    return turn > 1e-12 * lengths ? round * turn / (lengths + dot(in, out)) : 0.0;
}

// Segments between the points, with arcs in place of corners. A solid's line has the ends of the
// axis added; what runs along the axis is inside and no surface.
static rp_result lay_pieces(const char *word, const point *line, int points, double round,
                            bool solid, revolve *v)
{
    point from = line[0];
    double used = 0.0;
    for (int i = 1; i < points; i++) {
        const point way = minus(line[i], line[i - 1]);
        const double length = sqrt(dot(way, way));
        // on the axis a solid's line goes on on the other side
        const bool corner = i + 1 < points && round > 0.0 && !(solid && line[i].r == 0.0);
        const double cut = corner ? cut_at(line[i - 1], line[i], line[i + 1], round) : 0.0;
        if (!(used + cut <= length * (1.0 + 1e-12))) {
            return rp_fail(
                RP_ERR_ARGUMENT,
                "%s.round: want one that fits the corners, got %g m, which needs %g m of "
                "a side of %g m, from (%g, %g) to (%g, %g)",
                word, round, used + cut, length, line[i - 1].r, line[i - 1].y, line[i].r,
                line[i].y);
        }
        const point to = cut > 0.0 ? plus(line[i], -cut / length, way) : line[i];
        const bool on_axis = solid && from.r == 0.0 && to.r == 0.0;
        if (!same(from, to) && !on_axis) {
            v->piece[v->pieces++] = (piece){.a = from, .b = to};
        }
        from = to;
        if (cut > 0.0) {
            const point next = minus(line[i + 1], line[i]);
            const double further = sqrt(dot(next, next));
            const double side = cross(way, next) > 0.0 ? round : -round;
            from = plus(line[i], cut / further, next);
            v->piece[v->pieces++] =
                (piece){.a = to,
                        .b = from,
                        .middle = plus(to, side / length, (point){-way.y, way.r}),
                        .radius = round};
        }
        used = cut;
    }
    return RP_OK;
}

static bool is_between(point a, point b, point x)
{
    const point way = minus(b, a);
    const double t = dot(minus(x, a), way);
    return cross(way, minus(x, a)) == 0.0 && t >= 0.0 && t <= dot(way, way);
}

static bool cross_each_other(point a, point b, point c, point d)
{
    const double s1 = cross(minus(b, a), minus(c, a)), s2 = cross(minus(b, a), minus(d, a));
    const double s3 = cross(minus(d, c), minus(a, c)), s4 = cross(minus(d, c), minus(b, c));
    if (s1 * s2 < 0.0 && s3 * s4 < 0.0) {
        return true;
    }
    return is_between(a, b, c) || is_between(a, b, d) || is_between(c, d, a) || is_between(c, d, b);
}

// A line that crosses itself encloses no clear inside.
static rp_result refuse_crossings(const char *word, const point *line, int points, bool closed)
{
    for (int i = 1; i < points; i++) {
        for (int j = i + 2; j < points - (closed && i == 1); j++) {
            const bool axis = line[j - 1].r == 0.0 && line[j].r == 0.0;
            if (!axis && cross_each_other(line[i - 1], line[i], line[j - 1], line[j])) {
                return rp_fail(RP_ERR_ARGUMENT,
                               "%s.profile: want a line that does not meet itself, got one that "
                               "does between (%g, %g) and (%g, %g)",
                               word, line[j - 1].r, line[j - 1].y, line[j].r, line[j].y);
            }
        }
    }
    return RP_OK;
}

static rp_result check_profile(const char *word, const rp_revolve_def *def)
{
    if (def->points < 2 || def->points > MOST_POINTS || def->profile == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "%s.profile: want 2 to %d points, got %d", word,
                       MOST_POINTS, def->points);
    }
    for (int i = 0; i < def->points; i++) {
        const double r = def->profile[i][0], y = def->profile[i][1];
        if (!(r >= 0.0 && isfinite(r) && isfinite(y))) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "%s.profile[%d]: want finite numbers {r, y} with r >= 0, got {%g, %g}",
                           word, i + 1, r, y);
        }
    }
    if (!(def->thickness >= 0.0 && isfinite(def->thickness))) {
        return rp_fail(RP_ERR_ARGUMENT, "%s.thickness: want > 0 m, or 0 for a solid, got %g", word,
                       def->thickness);
    }
    if (!(def->round >= 0.0 && isfinite(def->round))) {
        return rp_fail(RP_ERR_ARGUMENT, "%s.round: want >= 0 m, got %g", word, def->round);
    }
    return RP_OK;
}

static void bound(revolve *v)
{
    for (int a = 0; a < 3; a++) {
        v->lower[a] = INFINITY;
        v->upper[a] = -INFINITY;
    }
    for (int i = 0; i < v->pieces; i++) {
        const piece *p = &v->piece[i];
        rp_shape_bound_circle(&v->axis, p->a.r, p->a.y, v->lower, v->upper);
        rp_shape_bound_circle(&v->axis, p->b.r, p->b.y, v->lower, v->upper);
        if (p->radius > 0.0) {
            // where the tangents at its ends meet: the arc lies within that triangle
            const point chord = minus(p->b, p->a), half = plus(p->a, 0.5, chord);
            const point out = minus(half, p->middle);
            const double scale = p->radius * p->radius / dot(out, out);
            const point tip = plus(p->middle, scale, out);
            rp_shape_bound_circle(&v->axis, fmax(0.0, tip.r), tip.y, v->lower, v->upper);
        }
    }
    for (int a = 0; a < 3; a++) {
        v->lower[a] -= v->half_thickness;
        v->upper[a] += v->half_thickness;
    }
}

static int add_point(point *line, int points, point next)
{
    if (points == 0 || !same(line[points - 1], next)) {
        line[points++] = next;
    }
    return points;
}

// The profile as a line without steps of no length. A solid's goes on to the axis at both ends, or,
// when it ends where it began, is a ring: that one begins in the middle of a side, not in a corner.
static int draw_line(const rp_revolve_def *def, bool ring, point *line)
{
    const double(*p)[2] = def->profile;
    const int last = def->points - 1;
    const bool to_axis = def->thickness == 0.0 && !ring;
    const point begin = ring ? (point){0.5 * (p[0][0] + p[1][0]), 0.5 * (p[0][1] + p[1][1])}
                             : (point){0.0, p[0][1]};
    int points = 0;
    if (to_axis || ring) {
        points = add_point(line, points, begin);
    }
    for (int i = ring ? 1 : 0; i <= last; i++) {
        points = add_point(line, points, (point){p[i][0], p[i][1]});
    }
    if (to_axis || ring) {
        points = add_point(line, points, ring ? begin : (point){0.0, p[last][1]});
    }
    return points;
}

// Turn the line of a solid so that it has the inside on its left.
static rp_result orient(const char *word, point *line, int points)
{
    double area = 0.0;
    for (int i = 1; i < points; i++) {
        area += (line[i].y - line[i - 1].y) * (line[i].r + line[i - 1].r);
    }
    for (int i = 0; area < 0.0 && i < points / 2; i++) {
        const point other = line[i];
        line[i] = line[points - 1 - i];
        line[points - 1 - i] = other;
    }
    if (area == 0.0) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "%s.profile: want a line that encloses something, got one that does not",
                       word);
    }
    return RP_OK;
}

static rp_result make_figure(const char *word, const rp_revolve_def *def, point *line, revolve *v)
{
    const double *first = def->profile[0], *last = def->profile[def->points - 1];
    const bool solid = def->thickness == 0.0;
    const bool ring = solid && first[0] == last[0] && first[1] == last[1];
    const int points = draw_line(def, ring, line);
    if (points < 2) {
        return rp_fail(RP_ERR_ARGUMENT, "%s.profile: want points that differ, got one place", word);
    }
    if (solid) {
        RP_TRY(refuse_crossings(word, line, points, ring));
        RP_TRY(orient(word, line, points));
    }
    RP_TRY(lay_pieces(word, line, points, def->round, solid, v));
    v->half_thickness = 0.5 * def->thickness;
    bound(v);
    measure_solid(v);
    return RP_OK;
}

static rp_result make(const char *word, const rp_revolve_def *def, const double unit[3],
                      rp_shape **shape)
{
    static const rp_shape_class class = {
        .distance = revolve_distance, .bounds = revolve_bounds, .volume = revolve_volume};
    RP_TRY(check_profile(word, def));
    const rp_allocator *a = rp_default_allocator();
    const size_t points = (size_t)def->points + 2, bytes = points * sizeof(point);
    point *line = rp_new(a, bytes, "a profile");
    if (line == NULL) {
        return RP_ERR_MEMORY;
    }
    rp_result result = rp_shape_new(&class, sizeof(revolve) + 2 * points * sizeof(piece), shape);
    if (result == RP_OK) {
        ((revolve *)*shape)->axis = rp_shape_make_axis(def->base, unit);
        result = make_figure(word, def, line, (revolve *)*shape);
    }
    rp_delete(a, line, bytes);
    if (result != RP_OK) {
        rp_shape_release(*shape);
        *shape = NULL;
    }
    return result;
}

rp_revolve_def rp_default_revolve_def(void)
{
    return (rp_revolve_def){.axis = {0.0, 1.0, 0.0}, .cookie = RP_DEF_COOKIE};
}

rp_result rp_shape_revolve(const rp_revolve_def *def, rp_shape **shape)
{
    double unit[3];
    *shape = NULL;
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "revolve: start from rp_default_revolve_def()");
    }
    RP_TRY(rp_shape_check_point("revolve.base", def->base));
    RP_TRY(rp_shape_check_direction("revolve.axis", def->axis, unit));
    return make("revolve", def, unit, shape);
}

// ---- two profiles with a name of their own ----

static rp_result make_named(const char *word, const double base[3], const double axis[3],
                            double radius, double height, double top, rp_shape **shape)
{
    char name[32];
    double unit[3];
    const double profile[4][2] = {{0.0, 0.0}, {radius, 0.0}, {top, height}, {0.0, height}};
    *shape = NULL;
    snprintf(name, sizeof name, "%s.base", word);
    RP_TRY(rp_shape_check_point(name, base));
    snprintf(name, sizeof name, "%s.axis", word);
    RP_TRY(rp_shape_check_direction(name, axis, unit));
    snprintf(name, sizeof name, "%s.radius", word);
    RP_TRY(rp_shape_check_length(name, radius));
    snprintf(name, sizeof name, "%s.height", word);
    RP_TRY(rp_shape_check_length(name, height));
    rp_revolve_def def = rp_default_revolve_def();
    memcpy(def.base, base, sizeof def.base);
    def.profile = profile;
    def.points = 4;
    return make(word, &def, unit, shape);
}

rp_result rp_shape_cylinder(const double base[3], const double axis[3], double radius,
                            double height, rp_shape **shape)
{
    RP_TRY(make_named("cylinder", base, axis, radius, height, radius, shape));
    (*shape)->convex = true;
    return RP_OK;
}

rp_result rp_shape_cone(const double base[3], const double axis[3], double radius, double height,
                        rp_shape **shape)
{
    RP_TRY(make_named("cone", base, axis, radius, height, 0.0, shape));
    (*shape)->convex = true;
    return RP_OK;
}
