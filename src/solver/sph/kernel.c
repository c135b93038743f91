#include "solver/sph/kernel.h"

#include <math.h>

#define PI 3.14159265358979323846

double rp_sph_poly6(const rp_sph_kernel *k, double r)
{
    const double u = 1.0 - r * r;
    return r < 1.0 ? k->density * u * u * u : 0.0;
}

double rp_sph_slope(const rp_sph_kernel *k, double r)
{
    const double u = 1.0 - r;
    return r < 1.0 ? k->gradient * u * u : 0.0;
}

// The integral of a kernel over the plane at distance d.
static double over_plane(const rp_sph_kernel *k, double d, bool spiky)
{
    enum { N = 256 };
    const double rim = sqrt(fmax(0.0, 1.0 - d * d));
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
        // closer together towards the rim and the middle, by t = rim sin^2
        const double u = (i + 0.5) / N, t = rim * u * u * (3.0 - 2.0 * u),
                     dt = rim * 6.0 * u * (1.0 - u) / N;
        const double r = fmin(1.0, sqrt(d * d + t * t)), apart = 1.0 - r;
        const double w = spiky ? k->gradient / 3.0 * apart * apart * apart : rp_sph_poly6(k, r);
        sum += w * dt * (k->dim == 3 ? 2.0 * PI * t : 2.0);
    }
    return sum;
}

// @param beside what a plane of a lattice fills at a distance of one spacing
static void make_walls(rp_sph_kernel *k, double beside)
{
    enum { FINE = 4 * RP_SPH_TABLE };
    double fill[FINE + 1];
    fill[FINE] = 0.0;
    for (int i = FINE - 1; i >= 0; i--) {
        fill[i] = fill[i + 1] + over_plane(k, (i + 0.5) / FINE, false) / FINE;
    }
    // further back by so much, the half-space fills what the missing planes of a lattice would
    int back = 0;
    while (fill[FINE / 4 + back] > beside) {
        back++;
    }
    for (int i = 0; i <= RP_SPH_TABLE; i++) {
        const int at = 4 * i + back;
        k->wall_slope[i] = over_plane(k, (double)i / RP_SPH_TABLE, true);
        k->wall_fill[i] = at < FINE ? fill[at] : 0.0;
    }
}

static double look_up(const double table[RP_SPH_TABLE + 1], double d)
{
    const double at = d * RP_SPH_TABLE;
    if (!(at < RP_SPH_TABLE)) {
        return 0.0;
    }
    const int i = (int)at;
    return table[i] + (at - i) * (table[i + 1] - table[i]);
}

double rp_sph_wall_fill(const rp_sph_kernel *k, double d)
{
    return d < 0.0 ? 2.0 * k->wall_fill[0] - look_up(k->wall_fill, -d) : look_up(k->wall_fill, d);
}

double rp_sph_wall_slope(const rp_sph_kernel *k, double d)
{
    return look_up(k->wall_slope, d < 0.0 ? 0.0 : d);
}

rp_sph_kernel rp_sph_kernel_make(int dim)
{
    rp_sph_kernel k = {.dim = dim,
                       .density = dim == 3 ? 315.0 / (64.0 * PI) : 4.0 / PI,
                       .gradient = dim == 3 ? 45.0 / PI : 30.0 / PI};
    // a particle in the middle of a lattice: those at 2 spacings are on the rim
    double sum = 0.0, square = 0.0, moment = 0.0, beside = 0.0;
    for (int x = -1; x <= 1; x++) {
        for (int y = -1; y <= 1; y++) {
            for (int z = dim == 3 ? -1 : 0; z <= (dim == 3 ? 1 : 0); z++) {
                const double r = 0.5 * sqrt((double)(x * x + y * y + z * z));
                const double apart = r > 0.0 ? (1.0 - r) * (1.0 - r) : 0.0;
                sum += rp_sph_poly6(&k, r);
                beside += x == 1 ? rp_sph_poly6(&k, r) : 0.0;
                square += apart * apart;
                moment += apart * r / dim;
            }
        }
    }
    k.volume = 1.0 / sum;
    k.steepness = 1.0 / moment;
    k.stiffness = k.steepness * k.steepness * square;
    make_walls(&k, k.volume * beside);
    return k;
}
