// The passes of a step over all particles of a page: hot code, compiled per dimension, precision
// and instruction set, picked once when a world is created.
//
// Lengths are in cells, which are as wide as the support H. A *row* is what one particle knows of
// one neighbour: the gradient of its kernel there, times a particle's volume, and who it is. Rows
// of a page lie one after the other, those of a particle in the order of its neighbours' pages and
// slots. They are read twice in every iteration and written once a step.
//
//     particle of a page  0        1     2           ...
//     rows                r r r r  r r   r r r r r   ...
//     end[]                      ^    ^            ^
//
// Every pair has two rows, one with each of the two: nobody adds to what another thread adds to,
// and sums have one order.
#pragma once

#include "core/set.h"
#include "repose/collider.h"
#include "solver/sph/kernel.h"

// Of each precision: 16 and 32 bytes.
typedef struct rp_sph_row_single {
    float g[3]; // volume grad W(x_i - x_j), scaled (kernel.h) [1/cell]; in 2D the third is 0
    int32_t slot;
} rp_sph_row_single;
typedef struct rp_sph_row_double {
    double g[3];
    int64_t slot;
} rp_sph_row_double;

// Cells of a block, and where the particles of each begin: [RP_SPH_CELLS(dim) + 1] of them, counted
// from the first of the page, as the sort left them.
#define RP_SPH_CELLS(dim) ((dim) == 3 ? 256 : 64)

// Where in the list the rows of a page are.
typedef struct rp_sph_span {
    size_t first;
    size_t room; // rows that there is room for
    size_t rows; // that there are; more than `room`: nothing past it was written
} rp_sph_span;

// Distances [cells]: grains of loose sand closer than CLOSE push each other apart; no particle
// comes CLOSEST to a wall, and sticky ones hold what is nearer than HOLD, which is the first layer
// on them.
#define RP_SPH_CLOSE   0.3
#define RP_SPH_CLOSEST 0.125
#define RP_SPH_HOLD    0.375
// Sand denser than full by this share stays so.
#define RP_SPH_SLACK 0.005

// What a step wants of a material, by group.
enum {
    RP_SPH_LIGHTNESS, // 1 / density [m^3/kg]
    RP_SPH_FRICTION,  // sqrt(2) times the friction coefficient of plain shear
    RP_SPH_COHESION,  // as stress norm [Pa]
    RP_SPH_HARDEST,   // pressure that there can be [Pa]
    RP_SPH_LAMBDA,    // moduli, for the strain that frames keep [Pa]
    RP_SPH_MU,
    RP_SPH_REALS
};

// One particle near one collider, as it is at the start of a step.
typedef struct rp_sph_wall {
    rp_local slot;
    uint16_t collider;
    uint8_t contact; // rp_contact
    double friction;
    double at[3];       // the particle [m]
    double distance;    // from there to the surface [m]
    double weight;      // of the mirror image's gradient, others' share taken off [1/cell]
    double normal[3];   // the way out
    double velocity[3]; // of the collider there [m/s]
    double push[3];     // what it has changed the particle's velocity by [m/s]; the passes write it
} rp_sph_wall;

// What a page has to report.
typedef struct rp_sph_report {
    double residual;       // sum over particles of what their density is off
    double excess;         // most that any is too dense
    double change, size;   // largest change of a stress in an iteration, and largest stress [Pa]
    double expanded;       // sum of pressure times the share of volume that comes back [Pa]
    double astray;         // how far the momentum of corrections goes against the next of them
    double speed2, steep2; // largest squares of speed [m^2/s^2] and velocity gradient [1/s^2]
    double motion;         // sum of squares of speeds [m^2/s^2]
    double move;           // largest displacement along any axis [cells]
    bool bad;              // a particle is not finite, or moved farther than RP_RUNAWAY_CELLS
} rp_sph_report;

// What passes share: read only but for what belongs to the page at hand. Arrays of reals are of the
// world's precision.
typedef struct rp_sph_job {
    const rp_set *set;
    const rp_sph_kernel *kernel;
    // neighbours
    const uint32_t *cell; // [page][RP_SPH_CELLS + 1]
    double travel;        // [cells] that particles may have gone since the sort
    rp_sph_span *span;    // [page]
    void *row;            // rp_sph_row_single or _double
    uint32_t *end;        // [slot]: its rows end here, counted from the first of its page
    // what the list says of each particle
    void *fill;      // real[slot]: the share of space that is filled, without walls; 1 is dense
    void *stiffness; // real[slot]: sum |g|^2 + |sum g|^2 [1/cell^2]
    void *moment;    // real[tile][sym][16]: sum of g (x_j - x_i)^T; NULL: nobody asks
    // the step; NULL and 0 where only a list is made
    double dt;                 // [s]
    double pull[3];            // gravity [m/s^2]
    double relaxation;         // of both stresses
    double recovery;           // share of too much density that is undone in this step
    double viscosity;          // kinematic [m^2/s]
    double repulsion;          // of close pairs [1/s]
    double momentum;           // share of the last correction that is made once more
    double bonding, debonding; // [1/s], [1]
    bool bilateral, by_component, cold;
    uint64_t seed, step;   // of the dither
    const void *group;     // real[groups][RP_SPH_REALS]
    void *start;           // real[slot][4]: velocity with all that does not depend on stress
    void *velocity;        // real[slot][4]: with stress and walls
    void *tensor;          // real[slot][dim][4]: columns of s L - p 1 [Pa]
    void *stress;          // real[tile][sym + 1][16]: s, p that velocities are made of
    void *proper;          // the same: as the last correction left them
    void *rate;            // real[slot]: norm of the rate of deformation; NULL: nobody asks
    rp_sph_wall *wall;     // by page and slot
    const uint32_t *walls; // [page + 1]: where those of a page begin
    rp_sph_report *report; // [page]
} rp_sph_job;

typedef struct rp_sph_passes {
    int dim, real_bits, isa;
    // find the neighbours of a page's particles; rp_page.near must hold the pages around
    void (*list)(const rp_sph_job *job, rp_local page);
    // stresses of the last step, and velocities without any
    void (*load)(const rp_sph_job *job, rp_local page);
    void (*kick)(const rp_sph_job *job, rp_local page);
    // an iteration: velocities from stress and walls, then stress from their gradient
    void (*force)(const rp_sph_job *job, rp_local page);
    void (*strain)(const rp_sph_job *job, rp_local page);
    // particles move
    void (*finish)(const rp_sph_job *job, rp_local page);
} rp_sph_passes;

int rp_sph_passes_count(void);
const rp_sph_passes *rp_sph_passes_at(int index);
// NULL when this build lacks the variant.
const rp_sph_passes *rp_sph_passes_find(int dim, int real_bits, int isa);
