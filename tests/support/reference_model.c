#include "reference_model.h"

#include "model/sand.h"

#include <math.h>
#include <string.h>

int reference_components(int dim) { return dim == 2 ? 3 : 6; }

int reference_at(int dim, int i, int j)
{
    static const int at2[2][2] = {{0, 2}, {2, 1}};
    static const int at3[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    return dim == 2 ? at2[i][j] : at3[i][j];
}

void reference_eigen(int dim, const reference_matrix matrix, long double value[3],
                     reference_matrix U)
{
    reference_matrix a;
    memcpy(a, matrix, sizeof a);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            U[i][j] = i == j;
        }
    }
    // far more sweeps than it needs; the entries off the diagonal become exactly 0
    for (int sweep = 0; sweep < 20; sweep++) {
        for (int p = 0; p < dim - 1; p++) {
            for (int q = p + 1; q < dim; q++) {
                if (a[p][q] == 0.0L) {
                    continue;
                }
                const long double theta = (a[q][q] - a[p][p]) / (2.0L * a[p][q]);
                const long double t =
                    copysignl(1.0L, theta) / (fabsl(theta) + sqrtl(theta * theta + 1.0L));
                const long double c = 1.0L / sqrtl(t * t + 1.0L), s = t * c;
                for (int k = 0; k < dim; k++) {
                    const long double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < dim; k++) {
                    const long double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
                for (int k = 0; k < dim; k++) {
                    const long double x = U[k][p], y = U[k][q];
                    U[k][p] = c * x - s * y;
                    U[k][q] = s * x + c * y;
                }
            }
        }
    }
    for (int i = 0; i < dim; i++) {
        value[i] = a[i][i];
    }
}

// U diag(value) U^T
static void assemble(int dim, const reference_matrix U, const long double value[3],
                     reference_matrix out)
{
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            out[i][j] = 0.0L;
            for (int k = 0; k < dim; k++) {
                out[i][j] += U[i][k] * value[k] * U[j][k];
            }
        }
    }
}

static void multiply(int dim, const reference_matrix a, const reference_matrix b,
                     reference_matrix out)
{
    reference_matrix c = {{0}};
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            for (int k = 0; k < dim; k++) {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    memcpy(out, c, sizeof c);
}

// Left singular vectors of F and the logarithms of its singular values.
static void principal_strain(int dim, const reference_matrix F, long double strain[3],
                             reference_matrix U)
{
    reference_matrix transposed = {{0}}, b;
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            transposed[i][j] = F[j][i];
        }
    }
    multiply(dim, F, transposed, b);
    long double square[3];
    reference_eigen(dim, b, square, U);
    for (int i = 0; i < dim; i++) {
        strain[i] = 0.5L * logl(square[i]);
    }
}

void reference_init(reference_particle *p, int dim)
{
    memset(p, 0, sizeof *p);
    p->dim = dim;
    for (int i = 0; i < dim; i++) {
        p->F[i][i] = 1.0L;
    }
}

void reference_set_strain(reference_particle *p, const double h[6])
{
    reference_matrix m = {{0}}, U;
    for (int i = 0; i < p->dim; i++) {
        for (int j = 0; j < p->dim; j++) {
            m[i][j] = h[reference_at(p->dim, i, j)];
        }
    }
    long double value[3];
    reference_eigen(p->dim, m, value, U);
    for (int i = 0; i < p->dim; i++) {
        value[i] = expl(value[i]);
    }
    assemble(p->dim, U, value, p->F);
}

void reference_strain(const reference_particle *p, double h[6])
{
    long double strain[3];
    reference_matrix U, m;
    principal_strain(p->dim, p->F, strain, U);
    assemble(p->dim, U, strain, m);
    for (int i = 0; i < p->dim; i++) {
        for (int j = i; j < p->dim; j++) {
            h[reference_at(p->dim, i, j)] = (double)m[i][j];
        }
    }
}

void reference_stress(int dim, double lambda, double mu, const double h[6], double tau[6])
{
    double trace = 0.0;
    for (int i = 0; i < dim; i++) {
        trace += h[i];
    }
    for (int k = 0; k < reference_components(dim); k++) {
        tau[k] = 2.0 * mu * h[k] + (k < dim ? lambda * trace : 0.0);
    }
}

// The return mapping of docs/theory.md (21) to (28) on principal strains e, which become the new
// ones.
static void project(reference_particle *p, const double par[RP_PARAM_COUNT], double density,
                    long double e[3])
{
    const int d = p->dim;
    const long double lambda = par[RP_PARAM_LAMBDA], mu = par[RP_PARAM_MU];
    const bool corrects = par[RP_PARAM_CORRECTS] > 0.0, hardens = par[RP_PARAM_HARDENS] > 0.0;

    long double alpha = par[RP_PARAM_SLOPE];
    if (hardens) {
        const long double phi = par[RP_PARAM_H0] + (par[RP_PARAM_H1] * p->q - par[RP_PARAM_H3]) *
                                                       expl(-par[RP_PARAM_H2] * p->q);
        const long double s = sinl(phi);
        alpha =
            par[RP_PARAM_FIT_SCALE] * s /
            ((1.0L + par[RP_PARAM_FIT_TILT] * s) * sqrtl(1.0L + par[RP_PARAM_FIT_BEND] * s * s));
    }
    const bool rests = par[RP_PARAM_RESTS] > 0.0;
    long double gain = corrects ? p->gain : 0.0L, owed = 0.0L;
    const long double apart = rests ? fmaxl(0.0L, gain - 0.015L) : gain;
    const long double c = par[RP_PARAM_COHESION] * fmaxl(0.0L, 1.0L - apart / 0.05L);

    long double trace = 0.0L, size2 = 0.0L, dev2 = 0.0L, dev[3];
    for (int i = 0; i < d; i++) {
        trace += e[i];
        size2 += e[i] * e[i];
    }
    for (int i = 0; i < d; i++) {
        dev[i] = e[i] - trace / d;
        dev2 += dev[i] * dev[i];
    }
    if (rests) {
        const long double x = 0.2L * p->falls * (1.0L + p->gain / 0.0025L);
        gain = fmaxl(fminl(p->gain * x / (1.0L + x), fmaxl(0.0L, -trace)), p->gain - 0.015L);
        owed = p->gain - gain;
    }
    const long double t = trace + gain, shear = sqrtl(dev2);
    const long double flow =
        shear + (d * lambda + 2.0L * mu) / (2.0L * mu) * alpha * t - c / (2.0L * mu);
    const bool has_tip = !(c > 0.0L && alpha == 0.0L);
    const long double tip = c > 0.0L && has_tip ? c / (alpha * (d * lambda + 2.0L * mu)) : 0.0L;

    const long double lasting =
        par[RP_PARAM_DILATION] * fmaxl(0.0L, 1.0L - par[RP_PARAM_DILATION_FADING] * p->swollen);
    const long double eta = rests ? d * alpha : lasting;
    const long double k = (d * lambda + 2.0L * mu) / (2.0L * mu);

    long double new_gain = 0.0L, step = 0.0L, swelling = 0.0L, plastic = 0.0L;
    if (flow <= 0.0L) {
        p->mapping = 1;
        for (int i = 0; i < d; i++) {
            e[i] = dev[i] + t / d;
        }
    } else if (shear == 0.0L || (has_tip && t >= tip + eta * shear)) {
        p->mapping = 2;
        plastic = shear;
        swelling = eta * shear;
        new_gain = t - tip - swelling;
        step = sqrtl(size2);
        for (int i = 0; i < d; i++) {
            e[i] = tip / d;
        }
    } else {
        p->mapping = 3;
        step = flow / (1.0L + k * alpha * eta);
        plastic = step;
        swelling = eta * step;
        for (int i = 0; i < d; i++) {
            e[i] = (t - swelling) / d + dev[i] * (1.0L - step / shear);
        }
    }
    p->swollen += lasting * plastic;
    if (corrects || rests) {
        const long double slid = owed + (eta - lasting) * plastic;
        p->gain = fminl(slid + (corrects ? new_gain : 0.0L),
                        1.0L + fmaxl(0.0L, logl(par[RP_PARAM_DENSITY] / (long double)density)));
    }
    if (hardens) {
        p->q += step;
    }
}

void reference_step(reference_particle *p, reference_kind kind,
                    const double parameter[RP_PARAM_COUNT], const double *L, double density)
{
    const int d = p->dim;
    reference_matrix grow = {{0}};
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) {
            grow[i][j] = (i == j ? 1.0L : 0.0L) + L[d * i + j];
        }
    }
    multiply(d, grow, p->F, p->F);
    if (kind == REFERENCE_ELASTIC) {
        return;
    }

    // the mapping keeps the singular vectors: F <- U exp(new - trial) U^T F
    long double trial[3], strain[3], factor[3];
    reference_matrix U, shrink;
    principal_strain(d, p->F, trial, U);
    memcpy(strain, trial, sizeof strain);
    project(p, parameter, density, strain);
    for (int i = 0; i < d; i++) {
        factor[i] = expl(strain[i] - trial[i]);
    }
    assemble(d, U, factor, shrink);
    multiply(d, shrink, p->F, p->F);
}
