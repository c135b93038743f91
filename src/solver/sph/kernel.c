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

rp_sph_kernel rp_sph_kernel_make(int dim)
{
    rp_sph_kernel k = {.dim = dim,
                       .density = dim == 3 ? 315.0 / (64.0 * PI) : 4.0 / PI,
                       .gradient = dim == 3 ? 45.0 / PI : 30.0 / PI};
    // a particle in the middle of a lattice: those at 2 spacings are on the rim
    double sum = 0.0, square = 0.0;
    for (int x = -1; x <= 1; x++) {
        for (int y = -1; y <= 1; y++) {
            for (int z = dim == 3 ? -1 : 0; z <= (dim == 3 ? 1 : 0); z++) {
                const double r = 0.5 * sqrt((double)(x * x + y * y + z * z));
                sum += rp_sph_poly6(&k, r);
                square += r > 0.0 ? rp_sph_slope(&k, r) * rp_sph_slope(&k, r) : 0.0;
            }
        }
    }
    k.volume = 1.0 / sum;
    k.stiffness = k.volume * k.volume * square;
    return k;
}
