#include "collide/plane.h"

#include <math.h>

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

static double distance(const rp_plane *plane, const double x[3])
{
    double phi = 0.0;
    for (int a = 0; a < 3; a++) {
        phi += (x[a] - plane->point[a]) * plane->normal[a];
    }
    return phi;
}

bool rp_plane_near_block(const rp_plane *plane, const rp_layout *l, const int32_t block[3])
{
    // the corner farthest behind the plane, and a step's way of at most one cell with some to spare
    double corner[3] = {0};
    for (int a = 0; a < l->dim; a++) {
        const int32_t first = block[a] * l->cells[a];
        corner[a] = l->h * (plane->normal[a] > 0.0 ? first : first + l->cells[a] - 1);
    }
    return distance(plane, corner) < 2.0 * l->h;
}

void rp_planes_apply(const rp_plane *plane, int planes, const rp_layout *l, const int32_t block[3],
                     double dt, void *quads)
{
    float *single = quads;
    double *twice = quads;
    int n = 0;
    for (int i = 0; i < l->cells[0]; i++) {
        for (int j = 0; j < l->cells[1]; j++) {
            for (int k = 0; k < l->cells[2]; k++, n += RP_QUAD) {
                const bool is_single = l->precision == RP_SINGLE;
                if (!(is_single ? single[n + 3] > 0.0f : twice[n + 3] > 0.0)) {
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
                for (int p = 0; p < planes; p++) {
                    double phi = distance(&plane[p], x);
                    phi = fabs(phi) < ON_WALL * l->h ? 0.0 : phi;
                    rp_contact_resolve(plane[p].contact, plane[p].friction, plane[p].normal, phi,
                                       dt, v);
                }
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
