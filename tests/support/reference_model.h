// Sand the slow and obvious way: the deformation gradient F itself, its singular values, principal
// strains one by one, as in the papers (docs/theory.md, sections 1, 9 and 10), in long double. It
// shares no code with src/model.
#pragma once

#include "model/law.h"

typedef long double reference_matrix[3][3]; // 2D uses the leading part

typedef enum reference_kind { REFERENCE_ELASTIC, REFERENCE_SAND } reference_kind;

typedef struct reference_particle {
    int dim;
    reference_matrix F;
    long double q, gain, swollen;
    long double falls; // the step's dt sqrt(g / dx): what resting flow pays back with
    int mapping;       // the case of the last step: 1 inside, 2 apart, 3 sliding
} reference_particle;

// F = I, q = gain = swollen = falls = 0.
void reference_init(reference_particle *p, int dim);

// F <- (I + L) F, then the return mapping for sand. `parameter` is what rp_material_parameters()
// gives; L is row-major dim x dim.
void reference_step(reference_particle *p, reference_kind kind,
                    const double parameter[RP_PARAM_COUNT], const double *L, double density);

// ln(F F^T) / 2 and tau in the order of law tiles.
void reference_strain(const reference_particle *p, double h[6]);
void reference_stress(int dim, double lambda, double mu, const double h[6], double tau[6]);

// A state with this strain: F = exp(h).
void reference_set_strain(reference_particle *p, const double h[6]);

// Place of component (i, j) in a law's tensor, and how many components there are.
int reference_at(int dim, int i, int j);
int reference_components(int dim);

// Eigenvalues of a symmetric matrix, eigenvectors in the columns of U.
void reference_eigen(int dim, const reference_matrix a, long double value[3], reference_matrix U);
