// Where bodies meet: nodes that two or more velocity fields reach, docs/theory.md, section 22.
//
// Contact is a matter of one block: its node pages lie side by side, and so a block is worked
// on by one thread, alone. Where no node is shared, that costs a look at the masses. Otherwise the
// particles around the shared nodes are put in order of cells, body by body, in memory of the
// thread, and each shared node asks them
//   - where the surface of each body points (the gradient of its mass),
//   - for two bodies that disagree, which plane separates their particles best,
//   - how far each body reaches towards the other along that normal: the gap between them.
// Then collide/node.h resolves the node. Particles are only read.
#pragma once

#include "base/threads.h"
#include "collide/glue.h"
#include "collide/node.h"
#include "core/species.h"

// What two bodies gave each other in a block, within the step.
typedef struct rp_meeting {
    double impulse[3]; // on the second body of the pair [kg m/s]
    double rubbed;     // energy that was rubbed off [J]
    double nodes;      // where they pushed
} rp_meeting;

// Where two bodies share the nodes of a quarter of a block, weighted by the mass that can meet
// there: 1, x, y, z, xx, yy, zz, xy, xz, yz from the block's first node [kg, cells].
enum { RP_PATCHES = 4, RP_PATCH_MOMENTS = 10 };
typedef struct rp_patches {
    double moment[RP_PATCHES][RP_PATCH_MOMENTS];
} rp_patches;

typedef struct rp_meetings {
    const rp_pairs *pairs;
    const rp_grid *grid;
    const rp_species *species;
    int species_count;
    double dt;
    double least;              // mass of a node that counts [kg]
    const rp_glue *glue;       // that holds some of them together; NULL: there is none
    struct meeting_room *room; // [thread]
    int64_t *first;            // [block]: of its pairs of pages in `given`; pairs in order
    rp_patches *patches;       // likewise
    bool *shared;              // [block]: some of its nodes are
    rp_local *block_of;        // [node page]
    rp_meeting *given;         // written by the block's thread
    int64_t count;
} rp_meetings;

// What a thread needs for any block, kept from step to step until pages change.
typedef struct rp_meeting_plan {
    uint64_t build; // of the grid
    int64_t particles;
    int pages;
} rp_meeting_plan;

// Memory for the contact of a step.
// @param least mass of a node that counts [kg]
// @param plan zero before the first
rp_result rp_meetings_begin(rp_meetings *m, rp_meeting_plan *plan, const rp_pairs *pairs,
                            const rp_grid *grid, const rp_species *species, int species_count,
                            double dt, double least, int threads, rp_scratch *scratch);

// See where bodies share nodes of a block, whose masses are known. To be done for all blocks before
// the first is resolved.
void rp_meetings_look(const rp_meetings *m, rp_local block, int thread);
// Contact at the nodes of a block, whose velocities are known.
void rp_meetings_apply(const rp_meetings *m, rp_local block, int thread);

// What pairs of bodies gave each other, in the order of blocks.
// @param loads with room for `count` of the meetings more
// @param[in,out] rubbed the energy that was rubbed off is added [J]
void rp_meetings_sum(const rp_meetings *m, rp_pair_loads *loads, double *rubbed);

// What a step came to, for messages and statistics.
typedef struct rp_meeting_report {
    int64_t nodes;    // that bodies share
    int64_t fits;     // pairs whose plane was fitted
    int64_t sweeps;   // over pairs, in all
    int64_t restless; // nodes whose impulses did not come to rest
} rp_meeting_report;
rp_meeting_report rp_meetings_report(const rp_meetings *m, int threads);
