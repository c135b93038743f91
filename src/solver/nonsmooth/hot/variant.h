// Included first by the sources of the friction problem that are compiled per dimension and
// instruction set, always in double precision.
#pragma once

#include "base/simd.h"
#include "solver/nonsmooth/cone.h"
#include "solver/nonsmooth/problem.h"

enum {
    DIM = RP_DIM,
    SIZE = CONE_SIZE(RP_DIM),
    PAIRS = SIZE * (SIZE + 1) / 2,
    AROUND = DIM == 3 ? 27 : 9, // nodes that a node sees
    CORNERS = DIM == 3 ? 8 : 4, // and a cell
    MODES = DIM == 3 ? 4 : 1,   // ways of a cell to bend: its corners move by turns
    BENDS = DIM * MODES,        // their components
    WHOLE = SIZE + BENDS,       // components of a cell's stress
    BLOCK_X = RP_BLOCK_CELLS(RP_DIM, 0),
    BLOCK_Y = RP_BLOCK_CELLS(RP_DIM, 1),
    BLOCK_Z = RP_BLOCK_CELLS(RP_DIM, 2),
};

#define RP_FRICTION_JOIN_(name, dim, isa) rp_friction_##name##_##dim##d_##isa
#define RP_FRICTION_JOIN(name, dim, isa)  RP_FRICTION_JOIN_(name, dim, isa)
#define RP_FRICTION(name)                 RP_FRICTION_JOIN(name, RP_DIM, RP_ISA)

void RP_FRICTION(sum)(const rp_grains *from, rp_node_sum *out);
void RP_FRICTION(vectors)(const rp_grains *from, const int at[3], double *out);
void RP_FRICTION(corners)(const rp_grains *from, const int at[3], double *out, rp_node_sum *sum);
void RP_FRICTION(measure)(const rp_friction_problem *f, rp_local page);
void RP_FRICTION(apply)(const rp_friction_problem *f, rp_local page);
void RP_FRICTION(sweep)(const rp_friction_problem *f, rp_local page, bool exact);
void RP_FRICTION(hold)(const rp_friction_problem *f, rp_local page);
double RP_FRICTION(residual)(const rp_friction_problem *f, const double *lambda, const double *u,
                             rp_local page, double *worst);
void RP_FRICTION(compare)(const rp_friction_problem *f, const rp_anderson *a, rp_local page,
                          double sums[RP_SUMS]);
void RP_FRICTION(mix)(const rp_friction_problem *f, const rp_anderson *a, rp_local page);

// Four numbers of a node. Whoever takes one is inlined, so that it does not matter how plain C
// would hand it over (-Wno-psabi).
typedef double quad __attribute__((vector_size(32)));
typedef double quad_unaligned __attribute__((vector_size(32), aligned(8), may_alias));
typedef float single_quad __attribute__((vector_size(16), aligned(4), may_alias));

RP_INLINE quad quad_load(const double *p) { return *(const quad_unaligned *)p; }
RP_INLINE void quad_store(double *p, quad a) { *(quad_unaligned *)p = a; }
RP_INLINE quad quad_fma(quad a, quad b, quad c)
{
#ifdef RP_PLAIN
    return a * b + c;
#else
    return (quad)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#endif
}
RP_INLINE quad quad_all(double x) { return (quad){x, x, x, x}; }
