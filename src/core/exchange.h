// The seams: the only ways by which something crosses from one rank to another. With one rank they
// do nothing, or what a plain loop would do.
//
//   reduce      numbers of all ranks become one, and a failure of one that of all
//   migrate     before a sort particles go to the rank whose blocks they are in
//   halo_add    after P2G arenas go to the ranks whose node pages they reach
//   halo_copy   node pages that several ranks hold become those of the lowest
//
// Every seam is called by all ranks, and comes back with the same result on all of them.
#pragma once

#include "base/comm.h"
#include "core/grid.h"

// ---- reduce ----

// The result of the lowest rank that failed, with its sentence and with what it left in `shared`.
rp_result rp_agree(rp_comm *comm, rp_result own, void *shared, size_t bytes);
// The same bytes to every rank: what each of them had to say is in[rank], its own too. For several
// ranks only.
rp_result rp_tell_all(rp_comm *comm, const void *data, size_t bytes, rp_bytes *in);
rp_result rp_reduce_max(rp_comm *comm, double *value, int count);
rp_result rp_reduce_add(rp_comm *comm, int64_t *value, int count);

// A sum over the pages of all ranks, in key order, so that its bits depend neither on threads nor
// on ranks. Each page is put in by one rank, in one go. Alone, a row is added as soon as it is put
// in.
typedef struct rp_sum {
    // described by the caller
    rp_comm *comm;
    const rp_allocator *allocator;
    int numbers; // of a row
    // NULL: numbers are added to those at `context`
    void (*add)(void *context, uint32_t which, const double *row);
    void *context;
    // the rows of this rank
    rp_buffer rows;
    size_t bytes;
    uint32_t count;
    rp_result result;
} rp_sum;

void rp_sum_keep(rp_sum *sum, uint64_t key, uint16_t field, uint32_t which, const double *row);
void rp_sum_add(const rp_sum *sum, uint32_t which, const double *row);
// @param which for `add`: which of several sums
static inline void rp_sum_put(rp_sum *sum, uint64_t key, uint16_t field, uint32_t which,
                              const double *row)
{
    if (rp_comm_alone(sum->comm)) {
        rp_sum_add(sum, which, row);
    } else {
        rp_sum_keep(sum, key, field, which, row);
    }
}
// All rows are in. Alone it cannot fail; on failure the sum is good for nothing.
rp_result rp_sum_end(rp_sum *sum);

// ---- migrate ----

// Cut blocks anew into runs in key order, by how many particles they hold, and give every particle
// to the rank whose block it is in. It stays in a piece of its old page, which is inserted in key
// order: the sort that follows finds the same order as if there was one rank. Births, which all
// ranks have until then, stay with one of them.
rp_result rp_migrate(rp_set *set);

// ---- halos ----

// Which pages of others reach node pages of this rank, and the other way round; part of
// rp_grid_build(), after node pages are known. Pages of others become ghosts: pages behind those of
// the set, without particles, whose arenas rp_halo_add() fills.
// @param result of what this rank did before
rp_result rp_halo_find(rp_grid *grid, rp_set *set, int sets, rp_result result);
// Fill the arenas of ghosts in these channels: 1u << channel.
rp_result rp_halo_add(rp_grid *grid, const rp_set *set, unsigned channels);
// Node pages that several ranks hold get the numbers that the lowest of them has in this channel.
rp_result rp_halo_copy(rp_grid *grid, int channel);
// Is this the rank that counts a node page in sums: the lowest one that holds it?
static inline bool rp_grid_owns(const rp_grid *grid, rp_local page)
{
    return rp_comm_alone(grid->comm) ||
           ((const uint16_t *)grid->halo.lowest.data)[page] == grid->comm->rank;
}
