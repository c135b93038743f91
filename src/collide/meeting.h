// Where bodies meet: nodes that two or more velocity fields reach, docs/theory.md, section 22.
//
// Contact is a matter of one block: its node pages lie side by side, and so a block is worked on by
// one thread, alone. In a step
//   - blocks that several bodies reach look which of their nodes are shared,
//   - particle pages near shared nodes are put in the order of cells (collide/cells.h),
//   - each shared node asks the particles around it where the surfaces of its bodies point and how
//     far apart they are (collide/surface.h; collide/sheet.h where no surface is flat), and
//     collide/node.h resolves the node.
// Most pairs that share a node are too far apart to touch within the step: boxes around the
// particles of cells tell, and nothing else is asked of them. Particles are only read.
#pragma once

#include "base/threads.h"
#include "collide/glue.h"
#include "collide/node.h"
#include "collide/surface.h"
#include "core/grid.h"
#include "core/species.h"

// A bit for each node of a block.
enum { RP_MASK_WORDS = 4 };

// What two bodies gave each other in a block, within the step.
typedef struct rp_meeting {
    double impulse[3]; // on the second body of the pair [kg m/s]
    double rubbed;     // energy that was rubbed off [J]
    double nodes;      // where they pushed
} rp_meeting;

// What depends on pages alone, kept from step to step until they change. Zero before the first.
typedef struct rp_meeting_plan {
    uint64_t build;     // of the grid
    rp_buffer block_of; // rp_local [node page]
    rp_buffer first;    // int64_t [block]: of its pairs of pages
    rp_buffer meeting;  // rp_local: blocks that several bodies reach
    rp_buffer number;   // int32_t [page of every species in turn]: among `crowd`, or -1
    rp_buffer crowd;    // rp_crowd: pages that may have to be put in order
    int64_t pairs, particles, cells;
    rp_local meetings, crowds, most; // most: particles of a page
    int pages;                       // of a block, at most
} rp_meeting_plan;
void rp_meeting_plan_free(rp_meeting_plan *plan, const rp_allocator *a);

// A page of particles near a block that several bodies reach.
typedef struct rp_crowd {
    int species;
    rp_local page;
    rp_cells cells;
} rp_crowd;

typedef struct rp_meetings {
    const rp_pairs *pairs;
    const rp_grid *grid;
    const rp_species *species;
    int species_count;
    double dt;
    double least;        // mass of a node that counts [kg]
    const rp_glue *glue; // that holds some of them together; NULL: there is none
    const rp_meeting_plan *plan;
    struct meeting_room *room;       // [thread]
    bool *shared;                    // [block]: some of its nodes are
    uint64_t (*mask)[RP_MASK_WORDS]; // [node page], of shared blocks: a bit per node with mass
    rp_meeting *given;               // [pair of pages of a block], in order; by the block's thread
    int64_t count;
} rp_meetings;

// The blocks and pages of a step that have work to do, for loops over them.
static inline rp_local rp_meetings_blocks(const rp_meetings *m) { return m->plan->meetings; }
static inline rp_local rp_meetings_block(const rp_meetings *m, rp_local index)
{
    return ((const rp_local *)m->plan->meeting.data)[index];
}
static inline rp_local rp_meetings_crowds(const rp_meetings *m) { return m->plan->crowds; }

// Memory for the contact of a step.
// @param least mass of a node that counts [kg]
rp_result rp_meetings_begin(rp_meetings *m, rp_meeting_plan *plan, const rp_pairs *pairs,
                            const rp_grid *grid, const rp_species *species, int species_count,
                            double dt, double least, int threads, rp_scratch *scratch);

// See where bodies share nodes of a block, whose masses are known. To be done for all blocks before
// the first page is put in order.
void rp_meetings_look(const rp_meetings *m, rp_local block, int thread);
// Put the particles of a page in order, if they are near a node that is shared. To be done for all
// crowds before the first block is resolved.
void rp_meetings_order(const rp_meetings *m, rp_local crowd, int thread);
// Contact at the nodes of a block, whose velocities are known.
void rp_meetings_apply(const rp_meetings *m, rp_local block, int thread);

// What pairs of bodies gave each other, in the order of blocks.
// @param loads with room for `count` of the meetings more
// @param[in,out] rubbed the energy that was rubbed off is added [J]
void rp_meetings_sum(const rp_meetings *m, rp_pair_loads *loads, double *rubbed);

// What a step came to, for messages and statistics.
typedef struct rp_meeting_report {
    int64_t nodes;    // that bodies share
    int64_t close;    // pairs at them that may touch within the step
    int64_t fits;     // pairs whose plane was fitted
    int64_t sweeps;   // over pairs, in all
    int64_t restless; // nodes whose impulses did not come to rest
} rp_meeting_report;
rp_meeting_report rp_meetings_report(const rp_meetings *m, int threads);
