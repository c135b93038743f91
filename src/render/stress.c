#include "render/stress.h"

#include <math.h>

// Cohesion is gone once sand has gained 1/20 of its volume: docs/theory.md (24).
static const double FADING = 20.0;

// The public side knows the friction coefficient of the cone: d alpha / sqrt 2.
double rp_yield_slope_at(const rp_yield *y, double q)
{
    return sqrt(2.0) * rp_material_friction_after(y->def, y->dimension, q) / y->dimension;
}

// The moduli are what the law answers to two small strains.
rp_yield rp_yield_of(const rp_material_def *def, int dimension)
{
    rp_yield y = {.def = def, .dimension = dimension};
    const double strain[2][6] = {{1.0, 0.0, 0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0, 0.0, 0.0}};
    rp_material_state state = {.column = {[RP_COL_STRAIN] = strain[0]}};
    double stress[2][6] = {{0}};
    if (rp_material_stress(def, 3, &state, 2, stress) == RP_OK) {
        y.lambda = stress[0][1];
        y.mu = 0.5 * stress[1][3];
    }
    y.slope = rp_yield_slope_at(&y, 0.0);
    return y;
}

static double trace(const double h[6]) { return h[0] + h[1] + h[2]; }

// Frobenius norm of the deviator.
static double shear(int d, const double h[6])
{
    const double mean = trace(h) / d;
    double sum = 0.0;
    for (int k = 0; k < 6; k++) {
        const double value = k < d ? h[k] - mean : h[k];
        sum += (k < 3 ? 1.0 : 2.0) * value * value;
    }
    return sqrt(sum);
}

void rp_stress_principal(const rp_yield *y, const double h[6], double out[3])
{
    const int d = y->dimension;
    const double mean = trace(h) / d, volume = y->lambda * trace(h);
    double eigen[3] = {0};
    if (d == 2) {
        const double half = 0.5 * (h[0] - h[1]), r = sqrt(half * half + h[3] * h[3]);
        eigen[0] = mean + r;
        eigen[1] = mean - r;
    } else {
        // by the angle that solves the cubic of the deviator
        const double a = h[0] - mean, b = h[1] - mean, c = h[2] - mean;
        const double J = shear(3, h) * shear(3, h) / 2.0;
        const double det = a * (b * c - h[5] * h[5]) - h[3] * (h[3] * c - h[5] * h[4]) +
                           h[4] * (h[3] * h[5] - b * h[4]);
        const double r = 2.0 * sqrt(J / 3.0);
        const double cosine = J > 0.0 ? det / 2.0 * pow(3.0 / J, 1.5) : 0.0;
        const double angle = acos(fmax(-1.0, fmin(1.0, cosine))) / 3.0;
        for (int k = 0; k < 3; k++) {
            eigen[k] = mean + r * cos(angle - k * (2.0 * M_PI / 3.0));
        }
        const double swap = eigen[1]; // cos(x), cos(x - 2pi/3), cos(x + 2pi/3): the last is least
        if (eigen[1] < eigen[2]) {
            eigen[1] = eigen[2];
            eigen[2] = swap;
        }
    }
    for (int k = 0; k < 3; k++) {
        out[k] = k < d ? 2.0 * y->mu * eigen[k] + volume : 0.0;
    }
}

rp_case rp_stress_case(const rp_yield *y, const double strain[6], double gain, double hardening)
{
    const int d = y->dimension;
    if (y->def->kind != RP_SAND) {
        return RP_CASE_NONE;
    }
    const double alpha = rp_yield_slope_at(y, hardening), bulk = 2.0 * y->mu + d * y->lambda;
    const double cohesion = y->def->cohesion * fmax(0.0, 1.0 - FADING * gain);
    const double t = trace(strain), s = shear(d, strain);
    const double tip = cohesion > 0.0 ? cohesion / (alpha * bulk) : 0.0;
    const double radius = (cohesion - bulk * alpha * t) / (2.0 * y->mu);
    const double dust = 1e-9; // strain that is nothing but rounding
    if (t >= tip - dust && s <= dust) {
        return RP_CASE_APART;
    }
    return s >= 0.999 * radius - dust ? RP_CASE_SLIDING : RP_CASE_INSIDE;
}
