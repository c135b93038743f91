// Volumes where there is no formula.
//
// The box around the region is cut into cells. A cell whose middle is farther from the surface than
// its corners are from the middle lies on one side; any other is cut in two along each axis, down
// to a given level, where the surface passes for a plane. The error of that falls by four from
// level to level, so that the volumes of the last two levels, found in one walk, tell how good they
// are and what is missing (Richardson's extrapolation). Levels are added until that is little
// enough, or until the work would be too much.
#include "shape/class.h"

#define PI 3.14159265358979323846

enum {
    ROOTS = 16,      // cells along the longest side, to begin with
    FIRST_LEVEL = 1, // how often they are halved at least
    LAST_LEVEL = 9,
};
// Differences of two levels, relative to the volume; what is left after the extrapolation is much
// less.
static const double fine = 2e-5; // needs no further level
static const double fair = 3e-4; // needs none that is dear
// Distances of simple shapes in one walk.
static const double dear = 4e6, too_dear = 6e7;

typedef struct walk {
    const rp_shape_region *region;
    int last;         // level of the smallest cells
    double volume[2]; // with cells of the last level but one, and of the last
    double looks;     // distances asked for
    double deepest;   // least distance seen
    bool moments;     // are wanted, too
    // of x and of x x^T about the middle of the box, as for the volume
    double first[2][3], second[2][3][3];
} walk;

// What is inside a cell adds its share. Of a cell that the surface cuts the middle stands for all
// of it, which is as good as the plane that cuts it.
static void add_moments(walk *w, int of, const double middle[3], const double size[3],
                        double inside)
{
    double x[3] = {0.0, 0.0, 0.0};
    for (int a = 0; a < w->region->dimension; a++) {
        x[a] = middle[a] - 0.5 * (w->region->lower[a] + w->region->upper[a]);
    }
    for (int a = 0; a < w->region->dimension; a++) {
        w->first[of][a] += inside * x[a];
        for (int b = 0; b < w->region->dimension; b++) {
            w->second[of][a][b] +=
                inside * (x[a] * x[b] + (a == b ? size[a] * size[a] / 12.0 : 0.0));
        }
    }
}

// The part of a cell on the inner side of a plane: phi is the plane's distance from the middle,
// and `rise` how much that grows along each side of the cell. The volume under a plane is a corner
// tetrahedron (triangle) less those that stick out of the cell.
static double part_below(double phi, const double rise[3], int dimension)
{
    double n[3], sum = 0.0, product = 1.0, longest = 0.0;
    for (int a = 0; a < dimension; a++) {
        longest = fmax(longest, fabs(rise[a]));
    }
    for (int a = 0; a < dimension; a++) {
        // a plane along a side is tilted a little, which keeps the quotient below in check and
        // turns about the middle of the plane
        n[a] = fmax(fabs(rise[a]), 1e-4 * longest);
        sum += n[a];
        product *= n[a] * (a + 1);
    }
    const double depth = 0.5 * sum - phi; // of the innermost corner below the plane
    if (depth <= 0.0 || depth >= sum) {
        return depth <= 0.0 ? 0.0 : 1.0;
    }
    double part = 0.0;
    for (int corner = 0; corner < 1 << dimension; corner++) {
        double left = depth, sign = 1.0;
        for (int a = 0; a < dimension; a++) {
            if ((corner >> a & 1) != 0) {
                left -= n[a];
                sign = -sign;
            }
        }
        part += left > 0.0 ? sign * (dimension == 3 ? left * left * left : left * left) : 0.0;
    }
    return fmin(1.0, fmax(0.0, part / product));
}

static void visit(walk *w, const double middle[3], const double size[3], int level)
{
    const rp_shape_region *region = w->region;
    const int dimension = region->dimension;
    double gradient[3], rise[3], reach2 = 0.0,
                                 volume = region->revolved ? 2.0 * PI * middle[0] : 1.0;
    const double phi = region->distance(region->context, middle, gradient);
    w->looks += 1.0;
    w->deepest = fmin(w->deepest, phi);
    for (int a = 0; a < dimension; a++) {
        rise[a] = gradient[a] * size[a];
        reach2 += 0.25 * size[a] * size[a];
        volume *= size[a];
    }
    const bool whole = phi * phi >= reach2;
    if (whole || level >= w->last - 1) {
        const double inside =
            whole ? (phi < 0.0 ? volume : 0.0) : volume * part_below(phi, rise, dimension);
        w->volume[0] += level <= w->last - 1 ? inside : 0.0;
        w->volume[1] += whole || level == w->last ? inside : 0.0;
        if (w->moments && level <= w->last - 1) {
            add_moments(w, 0, middle, size, inside);
        }
        if (w->moments && (whole || level == w->last)) {
            add_moments(w, 1, middle, size, inside);
        }
    }
    if (whole || level == w->last) {
        return;
    }
    for (int child = 0; child < 1 << dimension; child++) {
        double there[3] = {0.0, 0.0, 0.0}, half[3] = {0.0, 0.0, 0.0};
        for (int a = 0; a < dimension; a++) {
            half[a] = 0.5 * size[a];
            there[a] = middle[a] + ((child >> a & 1) != 0 ? 0.25 : -0.25) * size[a];
        }
        visit(w, there, half, level + 1);
    }
}

static walk walk_to(const rp_shape_region *region, int last, bool moments)
{
    walk w = {.region = region, .last = last, .moments = moments};
    double longest = 0.0, size[3] = {0.0, 0.0, 0.0};
    int n[3] = {1, 1, 1};
    for (int a = 0; a < region->dimension; a++) {
        longest = fmax(longest, region->upper[a] - region->lower[a]);
    }
    for (int a = 0; a < region->dimension; a++) {
        const double side = region->upper[a] - region->lower[a];
        n[a] = (int)fmax(1.0, ceil(ROOTS * (side / longest) - 1e-9));
        size[a] = side / n[a];
    }
    for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int cell[3] = {i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]};
        double middle[3] = {0.0, 0.0, 0.0};
        for (int a = 0; a < region->dimension; a++) {
            middle[a] = region->lower[a] + (cell[a] + 0.5) * size[a];
        }
        visit(&w, middle, size, 0);
    }
    return w;
}

// The last walk that was needed; without looks where there is nothing to walk in.
static walk walk_well(const rp_shape_region *region, bool moments)
{
    walk w = {.region = region};
    for (int a = 0; a < region->dimension; a++) {
        if (!(region->upper[a] > region->lower[a])) {
            return w;
        }
    }
    double before = INFINITY;
    for (int last = FIRST_LEVEL; last <= LAST_LEVEL; last++) {
        w = walk_to(region, last, moments);
        const double change = w.volume[1] - w.volume[0], wanted = fine * w.volume[1];
        // one small change may be chance
        if (fabs(change) <= wanted && before <= 8.0 * wanted) {
            break;
        }
        before = fabs(change);
        const double growth = region->dimension == 3 ? 4.0 : 2.0;
        const double work = growth * w.looks * (region->cost > 0 ? region->cost : 1);
        if (work > (fabs(change) <= fair * w.volume[1] ? dear : too_dear)) {
            break;
        }
    }
    return w;
}

// What two levels say of the one without end.
static double beyond(double coarse, double fine_) { return fine_ + (fine_ - coarse) / 3.0; }

double rp_shape_integrate(const rp_shape_region *region)
{
    const walk w = walk_well(region, false);
    return beyond(w.volume[0], w.volume[1]);
}

static double distance_of_shape(const void *context, const double x[3], double gradient[3])
{
    const rp_shape *shape = context;
    return shape->class->distance(shape, x, gradient);
}

// The box around a shape; false when it has no end.
static bool region_of(const rp_shape *shape, int dimension, rp_shape_region *out)
{
    // most shapes with many parts are unions, which ask few of them
    *out = (rp_shape_region){.distance = distance_of_shape,
                             .context = shape,
                             .dimension = dimension,
                             .cost = shape->parts < 16 ? shape->parts : 16};
    return rp_shape_bounds(shape, dimension, out->lower, out->upper);
}

double rp_shape_integrate_shape(const rp_shape *shape, int dimension)
{
    rp_shape_region region;
    return region_of(shape, dimension, &region) ? rp_shape_integrate(&region) : INFINITY;
}

// From the moments of all of the volume about a place to those about its own centre.
static void center_moments(double volume, const double about[3], const double first[3],
                           const double second[3][3], rp_shape_moments *out)
{
    double mean[3];
    for (int a = 0; a < 3; a++) {
        mean[a] = first[a] / volume;
        out->center[a] = about[a] + mean[a];
    }
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            out->second[a][b] = second[a][b] / volume - mean[a] * mean[b];
        }
    }
}

// Exact: a tetrahedron from a point to each triangle, those that face the point count negative.
static void moments_of_mesh(const rp_mesh *mesh, const double about[3], rp_shape_moments *out)
{
    double volume = 0.0, first[3] = {0}, second[3][3] = {{0}};
    for (int32_t t = 0; t < mesh->triangles; t++) {
        double x[3][3], sum[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < 3; k++) {
            for (int a = 0; a < 3; a++) {
                x[k][a] = rp_mesh_place(mesh)[rp_mesh_triangle(mesh)[t][k]][a] - about[a];
                sum[a] += x[k][a];
            }
        }
        const double part = (x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) +
                             x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
                             x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0])) /
                            6.0;
        volume += part;
        for (int a = 0; a < 3; a++) {
            first[a] += part * sum[a] / 4.0;
            for (int b = 0; b < 3; b++) {
                const double squares = x[0][a] * x[0][b] + x[1][a] * x[1][b] + x[2][a] * x[2][b];
                second[a][b] += part * (squares + sum[a] * sum[b]) / 20.0;
            }
        }
    }
    center_moments(volume, about, first, second, out);
}

rp_result rp_shape_find_moments(const rp_shape *shape, int dimension, rp_shape_moments *out)
{
    rp_shape_region region;
    *out = (rp_shape_moments){.volume = rp_shape_volume(shape, dimension)};
    if (!(out->volume > 0.0) || !region_of(shape, dimension, &region)) {
        return RP_OK;
    }
    double middle[3] = {0.0, 0.0, 0.0};
    for (int a = 0; a < dimension; a++) {
        middle[a] = 0.5 * (region.lower[a] + region.upper[a]);
    }
    if (dimension == 3 && shape->class->triangles != NULL) {
        rp_mesh mesh = {0};
        const rp_result result = shape->class->triangles(shape, NULL, &mesh);
        const bool some = result == RP_OK && mesh.triangles > 0;
        if (some) {
            moments_of_mesh(&mesh, middle, out);
        }
        rp_mesh_free(&mesh);
        if (result != RP_OK || some) {
            return result;
        }
    }
    const walk w = walk_well(&region, true);
    if (!(w.deepest < 0.0)) { // a surface with nothing behind it passes for a thin layer above
        out->volume = 0.0;
        return RP_OK;
    }
    double first[3] = {0}, second[3][3] = {{0}};
    for (int a = 0; a < dimension; a++) {
        first[a] = beyond(w.first[0][a], w.first[1][a]);
        for (int b = 0; b < dimension; b++) {
            second[a][b] = beyond(w.second[0][a][b], w.second[1][a][b]);
        }
    }
    center_moments(beyond(w.volume[0], w.volume[1]), middle, first, second, out);
    return RP_OK;
}

double rp_shape_measured(const rp_shape *shape, rp_shape_measure *measure, int dimension)
{
    _Atomic double *kept = &measure->volume[dimension - 2];
    double found = atomic_load(kept);
    if (found == 0.0) {
        found = rp_shape_integrate_shape(shape, dimension);
        atomic_store(kept, found > 0.0 ? found : -1.0);
    }
    return fmax(0.0, found);
}
