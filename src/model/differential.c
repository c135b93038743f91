// Derivative of P(F) = tau F^-T, tau = 2 mu h + lambda tr(h) I, h = ln(b) / 2, b = F F^T
// (docs/theory.md, section 8).
//
//   dP = dtau F^-T - tau F^-T dF^T F^-T
//   dh = U ( r_ij (U^T db U)_ij ) U^T,   r_ij = (ln b_i - ln b_j) / (2 (b_i - b_j))
//
// U and b_i being the eigenvectors and eigenvalues of b. r_ij goes to 1 / (2 b_i) where two meet.
#include "model/differential.h"

#include <math.h>
#include <string.h>

// leading dim x dim part
typedef struct matrix {
    double m[3][3];
} matrix;

static matrix matrix_from(int dim, const double *rows)
{
    matrix a = {0};
    for (int i = 0; i < dim; i++) {
        memcpy(a.m[i], rows + dim * i, (size_t)dim * sizeof(double));
    }
    return a;
}

static void matrix_to(int dim, matrix a, double *rows)
{
    for (int i = 0; i < dim; i++) {
        memcpy(rows + dim * i, a.m[i], (size_t)dim * sizeof(double));
    }
}

static matrix transpose(matrix a)
{
    matrix t;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            t.m[i][j] = a.m[j][i];
        }
    }
    return t;
}

static matrix product(int dim, matrix a, matrix b)
{
    matrix c = {0};
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            for (int k = 0; k < dim; k++) {
                c.m[i][j] += a.m[i][k] * b.m[k][j];
            }
        }
    }
    return c;
}

// F^-T: the cofactors over the determinant
static matrix inverse_transpose(int dim, matrix F)
{
    matrix c = {0};
    if (dim == 2) {
        c.m[0][0] = F.m[1][1];
        c.m[0][1] = -F.m[1][0];
        c.m[1][0] = -F.m[0][1];
        c.m[1][1] = F.m[0][0];
    } else {
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
                c.m[i][j] = F.m[i1][j1] * F.m[i2][j2] - F.m[i1][j2] * F.m[i2][j1];
            }
        }
    }
    double det = 0.0;
    for (int j = 0; j < dim; j++) {
        det += F.m[0][j] * c.m[0][j];
    }
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            c.m[i][j] /= det;
        }
    }
    return c;
}

// Jacobi's rotations until nothing is left off the diagonal.
static void eigen(int dim, matrix a, double value[3], matrix *U)
{
    enum { MOST_SWEEPS = 30 };
    *U = (matrix){{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        double off = 0.0;
        for (int p = 0; p < dim - 1; p++) {
            for (int q = p + 1; q < dim; q++) {
                const double apq = a.m[p][q];
                if (apq == 0.0) {
                    continue;
                }
                off += fabs(apq);
                const double theta = (a.m[q][q] - a.m[p][p]) / (2.0 * apq);
                const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
                const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < dim; k++) {
                    const double x = a.m[k][p], y = a.m[k][q];
                    a.m[k][p] = c * x - s * y;
                    a.m[k][q] = s * x + c * y;
                }
                for (int k = 0; k < dim; k++) {
                    const double x = a.m[p][k], y = a.m[q][k];
                    a.m[p][k] = c * x - s * y;
                    a.m[q][k] = s * x + c * y;
                }
                for (int k = 0; k < dim; k++) {
                    const double x = U->m[k][p], y = U->m[k][q];
                    U->m[k][p] = c * x - s * y;
                    U->m[k][q] = s * x + c * y;
                }
            }
        }
        if (off == 0.0) {
            break;
        }
    }
    for (int i = 0; i < dim; i++) {
        value[i] = a.m[i][i];
    }
}

// (ln a - ln b) / (a - b) for positive numbers, to round-off however near they are.
static double log_quotient(double a, double b)
{
    const double x = (a - b) / b;
    return x == 0.0 ? 1.0 / b : log1p(x) / x / b;
}

// 2 mu h + lambda tr(h) I
static matrix stress_of(int dim, double lambda, double mu, matrix h)
{
    double trace = 0.0;
    for (int i = 0; i < dim; i++) {
        trace += h.m[i][i];
    }
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            h.m[i][j] = 2.0 * mu * h.m[i][j] + (i == j ? lambda * trace : 0.0);
        }
    }
    return h;
}

// tau and, where dF is given, dtau
static void kirchhoff(int dim, double lambda, double mu, matrix F, const matrix *dF, matrix *tau,
                      matrix *dtau)
{
    double b[3];
    matrix U;
    eigen(dim, product(dim, F, transpose(F)), b, &U);
    const matrix Ut = transpose(U);

    matrix h = {0};
    for (int i = 0; i < dim; i++) {
        h.m[i][i] = 0.5 * log(b[i]);
    }
    *tau = stress_of(dim, lambda, mu, product(dim, product(dim, U, h), Ut));
    if (dF == NULL) {
        return;
    }

    // db = dF F^T + (dF F^T)^T, in the axes of b
    const matrix half = product(dim, product(dim, Ut, product(dim, *dF, transpose(F))), U);
    matrix dh = {0};
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            dh.m[i][j] = 0.5 * log_quotient(b[i], b[j]) * (half.m[i][j] + half.m[j][i]);
        }
    }
    *dtau = stress_of(dim, lambda, mu, product(dim, product(dim, U, dh), Ut));
}

void rp_hencky_piola(int dim, double lambda, double mu, const double *F, double *P)
{
    const matrix f = matrix_from(dim, F);
    matrix tau;
    kirchhoff(dim, lambda, mu, f, NULL, &tau, NULL);
    matrix_to(dim, product(dim, tau, inverse_transpose(dim, f)), P);
}

void rp_hencky_differential(int dim, double lambda, double mu, const double *F, const double *dF,
                            double *dP)
{
    const matrix f = matrix_from(dim, F), df = matrix_from(dim, dF);
    const matrix g = inverse_transpose(dim, f);
    matrix tau, dtau;
    kirchhoff(dim, lambda, mu, f, &df, &tau, &dtau);

    const matrix moved = product(dim, product(dim, tau, g), product(dim, transpose(df), g));
    matrix result = product(dim, dtau, g);
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            result.m[i][j] -= moved.m[i][j];
        }
    }
    matrix_to(dim, result, dP);
}
