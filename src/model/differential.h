// The derivative of Hencky elasticity, in plain double: what an implicit step linearises with, and
// what the law is checked against.
#pragma once

// P, the first Piola-Kirchhoff stress of F [Pa]: P = tau F^-T with tau of docs/theory.md (18).
void rp_hencky_piola(int dim, double lambda, double mu, const double *F, double *P);

// dP, its change under a change dF of F. Matrices are dim x dim, row by row; det F > 0.
void rp_hencky_differential(int dim, double lambda, double mu, const double *F, const double *dF,
                            double *dP);
