// The transfer kernels of one variant (dimension, spline order, precision, instruction set), picked
// once when a world is created. cmake/variants.cmake lists the variants; tests walk the table.
#pragma once

#include "core/grid.h"
#include "model/law.h"

// What kernels read of a group: its material's parameters, its particles' mass and volume.
enum { RP_GROUP_MASS = RP_PARAM_COUNT, RP_GROUP_VOLUME, RP_GROUP_REALS };

// What both transfers of a step need. Shared by all threads, read only.
typedef struct rp_transfer_job {
    rp_set *set;
    int set_index; // of the grid's arenas
    const rp_grid *grid;
    const rp_law *const *law; // [RP_MATERIAL_KINDS]; NULL: no stress (massless or bare particles)
    const void *group;        // real[groups][RP_GROUP_REALS]
    const uint8_t *group_law; // [groups] rp_material_kind
    double dt;                // [s]
    rp_transfer transfer;
    rp_gradient gradient;
    double flip;
    uint64_t seed, step; // of the dither
    bool account;        // fill in rp_page_report.plastic
} rp_transfer_job;

// What a page has to report after G2P.
typedef struct rp_page_report {
    double speed2;    // largest squared particle speed [m^2/s^2]
    double gradient2; // largest squared Frobenius norm of the velocity gradient [1/s^2]
    double move;      // largest displacement along any axis [cells]
    double plastic;   // work that the return mapping took [J], where it is asked for
    bool bad;         // a particle is not finite or moved farther than RP_RUNAWAY_CELLS
} rp_page_report;

#define RP_RUNAWAY_CELLS 4.0

// What every variant can do, once: declarations, the struct, the rows of the table and the
// prototypes of the sources come from this list. X(result, name, parameters, ...), where what
// follows X is handed on, such as the variant.
// clang-format off
#define RP_KERNEL_ENTRIES(X, ...)                                                                            \
    /* scatter a particle page into its arena */                                                             \
    X(void, p2g, (const rp_transfer_job *job, rp_local page), __VA_ARGS__)                                   \
    /* gather, move, update strain; only the particles of this page are written */                           \
    X(void, g2p, (const rp_transfer_job *job, rp_local page, rp_page_report *out), __VA_ARGS__)              \
    /* add up the arenas around a node page, in these channels: 1u << channel */                             \
    X(void, sum, (const rp_grid *grid, const rp_set *set, int sets, unsigned channels, rp_local page),       \
      __VA_ARGS__)                                                                                           \
    /* Momentum to velocity, with a push (gravity times dt) for all; nodes lighter than `least` get none.    \
       With RP_CH_IMPULSE the impulse is added and the channel left with the velocity before it. Returns     \
       the momentum dropped, as absolute components summed over light nodes. */                              \
    X(double, velocity, (const rp_grid *grid, rp_local page, const double push[3], double least),            \
      __VA_ARGS__)                                                                                           \
    /* RP_CH_IMPULSE: from the velocity before to the change since */                                        \
    X(void, change, (const rp_grid *grid, rp_local page), __VA_ARGS__)
// clang-format on

typedef struct rp_kernels {
    int dim, order, real_bits, isa;
#define RP_KERNEL_FIELD(result, name, parameters, ...) result(*name) parameters;
    RP_KERNEL_ENTRIES(RP_KERNEL_FIELD, )
#undef RP_KERNEL_FIELD
} rp_kernels;

// The name of an entry of a variant, e.g. rp_p2g_3d_q2_f32_avx2, so that it shows in profiles.
#define RP_KERNEL_NAME_(name, dim, order, bits, isa) rp_##name##_##dim##d_q##order##_f##bits##_##isa
#define RP_KERNEL_NAME(name, dim, order, bits, isa)  RP_KERNEL_NAME_(name, dim, order, bits, isa)

int rp_kernels_count(void);
const rp_kernels *rp_kernels_at(int index);
// NULL when this build lacks the variant.
const rp_kernels *rp_kernels_find(int dim, int order, rp_precision precision, int isa);
