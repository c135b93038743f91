#include "render/camera.h"

#include <math.h>
#include <stdlib.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void unit(double a[3])
{
    const double length = sqrt(dot(a, a));
    for (int i = 0; i < 3; i++) {
        a[i] /= length;
    }
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = a[j] * b[k] - a[k] * b[j];
    }
}

rp_axes rp_camera_axes(const double eye[3], const double look[3], bool z_up)
{
    rp_axes a;
    const double up[3] = {0.0, z_up ? 0.0 : 1.0, z_up ? 1.0 : 0.0};
    for (int i = 0; i < 3; i++) {
        a.forward[i] = look[i] - eye[i];
    }
    unit(a.forward);
    cross(a.forward, up, a.right);
    if (dot(a.right, a.right) > 1e-12) {
        unit(a.right);
    } else {
        a.right[0] = 1.0; // straight up or down
        a.right[1] = a.right[2] = 0.0;
    }
    cross(a.right, a.forward, a.up);
    return a;
}

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

// The number that has `rank` larger ones; reorders them all (Hoare's selection).
static double ranked(double *x, size_t count, size_t rank)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        const double pivot = x[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (x[i] > pivot) {
                i++;
            }
            while (x[j] < pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            swap(&x[i++], &x[j--]);
        }
        // up to j none is smaller than the pivot, from j + 1 on none is larger
        *(rank <= j ? &high : &low) = rank <= j ? j : j + 1;
    }
    return x[low];
}

rp_result rp_camera_aim(rp_camera *v, const double (*point)[3], size_t loose, size_t count,
                        double radius, bool flat)
{
    const double azimuth = flat ? 0.0 : 0.45, elevation = flat ? 0.0 : 0.30; // [rad]
    const double down = -sin(elevation), away = -cos(azimuth) * cos(elevation);
    const double to[3] = {-sin(azimuth) * cos(elevation), v->z_up ? -away : down,
                          v->z_up ? down : away};
    const rp_axes a = rp_camera_axes((double[3]){0}, to, v->z_up);
    const double fill = 0.80; // share of the picture that the points may take
    const double ty = fill * tan(0.5 * v->fov), tx = ty * v->width / v->height;
    const double narrow = fmin(1.0, (1.0 - 2.0 * v->free_right) / fill);
    // slopes of the sides: left, right, below, above
    const double slope[4] = {tx, fmax(0.1, narrow) * tx, ty, ty};

    // how far the points reach beyond planes through the origin, parallel to the sides of the
    // camera's pyramid; stray ones among many do not count
    double *beyond = malloc((count + 1) * sizeof *beyond), reach[4] = {0};
    if (beyond == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory to aim the camera");
    }
    for (int side = 0; side < 4 && count > 0; side++) {
        const double *across = side < 2 ? a.right : a.up;
        const double pad = radius * sqrt(1.0 + slope[side] * slope[side]);
        for (size_t i = 0; i < count; i++) {
            const double x = dot(point[i], across), z = dot(point[i], a.forward);
            beyond[i] = (side % 2 == 0 ? -x : x) - slope[side] * z + pad;
        }
        reach[side] = loose > 0 ? ranked(beyond, loose, loose / 1500) : -INFINITY;
        for (size_t i = loose; i < count; i++) {
            reach[side] = fmax(reach[side], beyond[i]);
        }
    }
    free(beyond);

    // the nearest eye for which each lies inside: opposite sides give the distance and the middle
    const double z = fmin(-(reach[0] + reach[1]) / (slope[0] + slope[1]),
                          -(reach[2] + reach[3]) / (slope[2] + slope[3]));
    const double aside = (reach[1] - reach[0] + (slope[1] - slope[0]) * z) / 2.0;
    double middle[3];
    for (int i = 0; i < 3; i++) {
        v->eye[i] = aside * a.right[i] + (reach[3] - reach[2]) / 2.0 * a.up[i] + z * a.forward[i];
        middle[i] = 0.5 * (v->lower[i] + v->upper[i]) - v->eye[i];
    }
    const double distance = dot(middle, a.forward);
    for (int i = 0; i < 3; i++) {
        v->look[i] = v->eye[i] + distance * a.forward[i];
    }
    return RP_OK;
}
