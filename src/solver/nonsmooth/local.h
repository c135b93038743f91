// The law of sand at one point by itself, solved exactly: for blocks that couple pressure and shear
// so strongly that steps towards the law take long, and for tests.
#pragma once

// Find the stress l with the rate g = W l + b such that (g, l) obeys the law (cone.h). There is
// always one where W is positive definite.
// @param n 2 to 18
// @param W symmetric, [n * n]; a row of zeros keeps its component out of the matter
void rp_cone_solve(int n, const double *W, const double *b, double mu, double *l);
