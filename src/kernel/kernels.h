// The transfer kernels of one variant (dimension, spline order, precision, instruction set), picked
// once when a world is created. cmake/variants.cmake lists the variants; tests walk the table.
#pragma once

#include "core/grid.h"
#include "model/law.h"
#include "model/linear_law.h"

// What kernels read of a group: its material's parameters, its particles' mass and volume.
enum { RP_GROUP_MASS = RP_PARAM_COUNT, RP_GROUP_VOLUME, RP_GROUP_REALS };

// Particles keep a share of what they have and nodes have not.
static inline bool rp_transfer_keeps(rp_transfer t) { return t == RP_FLIP || t == RP_STEADY; }
// Particles have an affine matrix.
static inline bool rp_transfer_is_affine(rp_transfer t) { return t == RP_APIC || t == RP_STEADY; }

// What both transfers of a step need. Shared by all threads, read only.
typedef struct rp_transfer_job {
    rp_set *set;
    int set_index; // of the grid's arenas
    const rp_grid *grid;
    const rp_law *const *law; // [RP_MATERIAL_KINDS]; NULL: no stress (massless or bare particles)
    const void *group;        // real[groups][RP_GROUP_REALS]
    const uint8_t *group_law; // [groups] rp_material_kind
    double dt;                // [s]
    double fall_rate;         // as laws are told it [1/s]
    rp_transfer transfer;
    rp_gradient gradient;
    double kept;         // share of what particles have and nodes have not: RP_FLIP, RP_STEADY
    uint64_t seed, step; // of the dither
    bool account;        // fill in rp_page_report.plastic
    // Where they are not 0: p2g scatters nothing but the impulse of forces, and into this channel
    // of quads; in g2p laws follow the velocities of that one, and see its fourth number as mass.
    int force_channel, flow_channel;
    const void *times; // real[slots]: multiplies those forces, gradients and masses; NULL: 1
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

// ---- what methods carry between particles and nodes besides momentum ----

// Numbers of the particles of a set, tile by tile as a column has them: real[slots /
// 16][comps][16].
typedef struct rp_lanes {
    void *data;
    int comps;
} rp_lanes;

// A column of reals; without data where the set does not keep it.
static inline rp_lanes rp_lanes_of(const rp_set *set, rp_column_id column)
{
    return (rp_lanes){set->column[column].buffer.data, set->column[column].comps};
}

// How the numbers a of a particle and the numbers u of a node belong together, in d dimensions.
// Scatter and gather of the same form are transposes of each other.
//
//                          a has          u has   scatter: u_k gets     gather: a is the sum of
//   RP_CARRY_VALUES        n              n       w a_k                 a_k  = w u_k
//   RP_CARRY_GRADIENTS     n d, by rows   n       a_kj dw/dx_j          a_kj = u_k dw/dx_j
//   RP_CARRY_SYMMETRIC     a tensor       d       a_kj dw/dx_j          its symmetric part
//   RP_CARRY_DIVERGENCE    1              d       a dw/dx_k             a    = u_k dw/dx_k
typedef enum rp_carry_form {
    RP_CARRY_VALUES,
    RP_CARRY_GRADIENTS,
    RP_CARRY_SYMMETRIC,
    RP_CARRY_DIVERGENCE,
} rp_carry_form;

enum { RP_CARRY_LIMIT = 9 }; // numbers of a node that go at once; wider channels go in parts

typedef enum rp_carry_factor { RP_TIMES_ONE, RP_TIMES_MASS, RP_TIMES_VOLUME } rp_carry_factor;

// One quantity between the particles of a set and a channel of the grid, either way:
//
//   sum_p m_p grad w    {.channel = c, .form = RP_CARRY_DIVERGENCE, .lanes = {NULL, 1},
//                        .factor = RP_TIMES_MASS, .scale = 1.0}
//   -dt sum_p V tau grad w    {.channel = c, .form = RP_CARRY_SYMMETRIC, .stress = true,
//                              .factor = RP_TIMES_VOLUME, .scale = -dt}
//   C_p                 {.channel = c, .form = RP_CARRY_GRADIENTS, .gradient = RP_GRADIENT_AFFINE,
//                        .lanes = rp_lanes_of(set, RP_COL_AFFINE), .scale = 1.0}
typedef struct rp_carry {
    int channel, first; // the numbers of a node from `first` on
    rp_carry_form form;
    rp_gradient gradient; // linear splines only have those of the spline
    rp_lanes lanes;       // read by scatter, where no data are ones; written by gather
    bool stress;          // scatter the stress of the laws instead of `lanes`
    bool add;             // scatter onto what the arena holds: it is not cleared before
    rp_carry_factor factor;
    rp_lanes times; // one number a particle that multiplies as well; no data: none
    double scale;   // of all particles
} rp_carry;

// A balance of implicit steps, from velocities in a channel of quads to what presses, in the arenas
// of the same channel; or its change, for a change of the velocities.
typedef struct rp_balance {
    int channel;
    rp_lanes linear;                 // what is known of each particle where the balance was taken
    const rp_linear_law *const *law; // [RP_MATERIAL_KINDS]
    double scale;                    // of what presses
    double *least_det;               // take the balance, keep what is known, and put the least
                                     // det A of the page here, NaN where one is none; NULL: change
} rp_balance;

// What every variant can do, once: declarations, the struct, the rows of the table and the
// prototypes of the sources come from this list. X(result, name, parameters, ...), where what
// follows X is handed on, such as the variant.
// clang-format off
#define RP_KERNEL_ENTRIES(X, ...)                                                                            \
    /* scatter a particle page into its arena */                                                             \
    X(void, p2g, (const rp_transfer_job *job, rp_local page), __VA_ARGS__)                                   \
    /* gather, move, update strain; only the particles of this page are written */                           \
    X(void, g2p, (const rp_transfer_job *job, rp_local page, rp_page_report *out), __VA_ARGS__)              \
    /* The number of a channel that has one, by weights, into real[slots]; lanes past the end become zero.   \
       `any`: only until a tile has one that is not 0, and 0 after it. Returns whether one had. */           \
    X(bool, number, (const rp_transfer_job *job, int channel, void *out, bool any, rp_local page),           \
      __VA_ARGS__)                                                                                           \
    /* add up the arenas around a node page, in these channels: 1u << channel */                             \
    X(void, sum, (const rp_grid *grid, const rp_set *set, int sets, unsigned channels, rp_local page),       \
      __VA_ARGS__)                                                                                           \
    /* Momentum to velocity, with a push (gravity times dt) for all; nodes lighter than `least` get none.    \
       With RP_CH_IMPULSE the impulse is added and the channel left with the velocity before it. Returns     \
       the momentum dropped, as absolute components summed over light nodes. */                              \
    X(double, velocity, (const rp_grid *grid, rp_local page, const double push[3], double least),            \
      __VA_ARGS__)                                                                                           \
    /* RP_CH_IMPULSE: from the velocity before to the new one less the share of it that particles keep */    \
    X(void, keep, (const rp_grid *grid, rp_local page, double kept), __VA_ARGS__)                            \
    /* The rest of g2p, apart: move with these velocities [m/s] for dt; and let the laws follow these        \
       gradients [1/s] for dt and see this density [kg/m^3]. Both add what they find to the report. Lanes    \
       past the end of the page are zero, as `gather` leaves them. */                                        \
    X(void, move, (const rp_transfer_job *job, rp_lanes velocity, rp_local page, rp_page_report *out),       \
      __VA_ARGS__)                                                                                           \
    X(void, update, (const rp_transfer_job *job, rp_lanes gradient, rp_lanes density, rp_local page,         \
                     rp_page_report *out), __VA_ARGS__)                                                      \
    /* a balance of implicit steps, or its change, from the nodes around a page into its arena */            \
    X(void, balance, (const rp_transfer_job *job, const rp_balance *what, rp_local page), __VA_ARGS__)

// Likewise, but compiled as plain C only, for worlds of all instruction sets.
#define RP_PLAIN_KERNEL_ENTRIES(X, ...)                                                                      \
    /* a quantity of a particle page into its arena of a channel that the set scatters into; `sum` adds up */ \
    X(void, scatter, (const rp_transfer_job *job, const rp_carry *what, rp_local page), __VA_ARGS__)         \
    /* and from the nodes of any channel into the lanes of the page; lanes past its end become zero */       \
    X(void, gather, (const rp_transfer_job *job, const rp_carry *what, rp_local page), __VA_ARGS__)
// clang-format on

typedef struct rp_kernels {
    int dim, order, real_bits, isa;
#define RP_KERNEL_FIELD(result, name, parameters, ...) result(*name) parameters;
    RP_KERNEL_ENTRIES(RP_KERNEL_FIELD, )
    RP_PLAIN_KERNEL_ENTRIES(RP_KERNEL_FIELD, )
#undef RP_KERNEL_FIELD
} rp_kernels;

// The name of an entry of a variant, e.g. rp_p2g_3d_q2_f32_avx2, so that it shows in profiles.
#define RP_KERNEL_NAME_(name, dim, order, bits, isa) rp_##name##_##dim##d_q##order##_f##bits##_##isa
#define RP_KERNEL_NAME(name, dim, order, bits, isa)  RP_KERNEL_NAME_(name, dim, order, bits, isa)

int rp_kernels_count(void);
const rp_kernels *rp_kernels_at(int index);
// NULL when this build lacks the variant.
const rp_kernels *rp_kernels_find(int dim, int order, rp_precision precision, int isa);
