// Particle sets: particles alike in columns and life (solids, water, glue), kept in pages.
//
// A page holds one field's particles of one block, in whole tiles of sixteen lanes; the lanes after
// the last particle are zero. Columns are [slot / 16][component][16], so a tile of a column is what
// a law or a kernel reads as vectors. Pages are in key order; after a sort the particles of a page
// are in the order of cells, and those of a cell in the order in which they came. Only
// rp_set_sort() and what migrates between ranks change slots; kernels change what is in them, and
// whoever puts a particle somewhere else (rp_set_move()).
#pragma once

#include "base/comm.h"
#include "base/memory.h"
#include "core/columns.h"

#include <math.h>

// Constant per source of particles: a u16 column replaces mass, volume, material and field.
typedef struct rp_group {
    uint16_t material, field;
    double volume; // of a particle at rest [m^3]
    double mass;   // of a particle [kg]
} rp_group;

enum {
    RP_GROUP_DEAD = 0xffff,             // marks a particle that the next sort removes
    RP_GROUP_LIMIT = RP_GROUP_DEAD - 1, // groups a set may have
    RP_PAGE_MIXED = 1,                  // particles of several groups
};
#define RP_NO_PAGE UINT32_MAX

typedef struct rp_page {
    uint64_t key;
    int32_t block[3];
    uint16_t field, flags;
    rp_local first, count;  // slots; first is a multiple of RP_LANES
    uint32_t near[RP_NEAR]; // node pages around, the same field's, or RP_NO_PAGE where no particle
                            // gets before the next sort; periodic wrap lives here
    // nodes of the page's arena that its particles can reach before the next sort, [lo, hi)
    uint8_t reach_lo[3], reach_hi[3];
    uint32_t arena; // where in the set's arenas its nodes begin
} rp_page;

typedef struct rp_column {
    rp_buffer buffer;
    uint8_t comps, bytes; // 0 comps: the set does not keep it
} rp_column;

// Particles that are born at the next sort, one record after the other: [particle][component], in
// the column's own type, but positions as double [m].
typedef struct rp_inbox {
    rp_buffer column[RP_COL_COUNT];
    rp_local count;
} rp_inbox;

typedef struct rp_set {
    rp_layout layout;
    const rp_allocator *allocator;
    rp_comm *comm; // of the ranks that share the particles; NULL: there is only this one
    rp_column column[RP_COL_COUNT];
    rp_buffer group_buffer, page_buffer;
    rp_local groups, pages;
    rp_local ghosts; // pages of other ranks behind those of this one (core/exchange.h)
    rp_local slots;  // in use, a multiple of RP_LANES
    rp_local count;  // particles alive
    rp_local doomed; // particles marked for removal
    rp_inbox inbox;
    double travel; // [cells] the farthest any particle may have moved since the last sort: state,
                   // saved
} rp_set;

// @param columns bit mask of 1u << rp_column_id; position, group and id are always kept
rp_result rp_set_init(rp_set *set, const rp_layout *layout, unsigned columns,
                      const rp_allocator *a);
void rp_set_free(rp_set *set);
// Keep one more column from now on; the particles there are have its neutral value, or what their
// group says of mass and volume. On failure the set is as it was.
rp_result rp_set_want(rp_set *set, rp_column_id column);

static inline rp_page *rp_set_page(const rp_set *set) { return set->page_buffer.data; }
static inline rp_group *rp_set_group(const rp_set *set) { return set->group_buffer.data; }
static inline bool rp_set_has(const rp_set *set, rp_column_id column)
{
    return set->column[column].comps > 0;
}
// Sixteen particles of a column: [component][16].
static inline void *rp_set_tile(const rp_set *set, rp_column_id column, rp_local slot)
{
    const rp_column *c = &set->column[column];
    return (char *)c->buffer.data + (size_t)(slot / RP_LANES) * c->comps * c->bytes * RP_LANES;
}
// One number of one particle.
static inline void *rp_set_at(const rp_set *set, rp_column_id column, rp_local slot, int comp)
{
    const rp_column *c = &set->column[column];
    return (char *)rp_set_tile(set, column, slot) +
           (size_t)(comp * RP_LANES + slot % RP_LANES) * c->bytes;
}
// As double, whatever its type; positions in metres.
double rp_set_value(const rp_set *set, rp_column_id column, rp_local slot, int comp,
                    const rp_page *page);
// Mass [kg] and volume at rest [m^3] of a particle that is alive: its own, or its group's.
// @param page NULL: a birth, `slot` is its place in the inbox
void rp_set_measure(const rp_set *set, const rp_page *page, rp_local slot, double *mass,
                    double *volume);
// The cell of a particle along one axis, relative to its page; 1000 where it is nowhere near.
static inline int32_t rp_set_cell(const rp_set *set, rp_local slot, int axis)
{
    const void *at = rp_set_at(set, RP_COL_POSITION, slot, axis);
    if (set->layout.precision == RP_SINGLE) {
        return *(const int32_t *)at >> RP_FIXED_BITS;
    }
    const double x = floor(*(const double *)at);
    return x > -1e3 && x < 1e3 ? (int32_t)x : 1000; // NaN too
}
// Put a particle of a page somewhere else [m]. Whoever does it sees to the set's travel.
void rp_set_move(const rp_set *set, const rp_page *page, rp_local slot, const double x[3]);

rp_result rp_set_add_group(rp_set *set, const rp_group *group, uint16_t *index);

// Room in the inbox for `count` births, of neutral values; the first `filled` of them have been
// filled already and stay. The caller fills them through rp_set_birth() and ends with
// rp_set_end_births(); until then the set is as it was.
rp_result rp_set_reserve_births(rp_set *set, rp_local filled, rp_local count);
// All of one group, whose mass and volume they get where the set keeps them by particle.
void rp_set_end_births(rp_set *set, rp_local count, uint16_t group);
static inline void *rp_set_birth(const rp_set *set, rp_column_id column, rp_local index, int comp)
{
    const rp_column *c = &set->column[column];
    const size_t bytes = column == RP_COL_POSITION ? sizeof(double) : c->bytes;
    return (char *)set->inbox.column[column].data + ((size_t)index * c->comps + comp) * bytes;
}
// As double, whatever its type; positions in metres.
double rp_set_birth_read(const rp_set *set, rp_column_id column, rp_local index, int comp);
// Write a number into a birth in the column's own type.
void rp_set_birth_value(rp_set *set, rp_column_id column, rp_local index, int comp, double value);

// Take those out of the inbox that are not to be kept; the others keep their order.
// @return how many went
rp_local rp_set_keep_births(rp_set *set, bool (*keeps)(const rp_set *, rp_local, const void *),
                            const void *context);

// Mark a particle; the next sort removes it.
void rp_set_kill(rp_set *set, rp_local slot);

// A page's arena has one cell of tolerance. A little of it is kept for positions that rounding puts
// on the far face of their block.
#define RP_TRAVEL_LIMIT 0.999

// Must the set be sorted before the next transfer?
static inline bool rp_set_wants_sort(const rp_set *set)
{
    return set->inbox.count > 0 || set->doomed > 0 || set->travel > RP_TRAVEL_LIMIT;
}

// Count a step in which no particle moved farther than `cells` along any axis. Fixed-point
// positions round a move by less than 2^-25 cell and its own round-off, so that is added: `travel`
// is a bound, not a guess.
static inline void rp_set_travelled(rp_set *set, double cells)
{
    const bool single = set->layout.precision == RP_SINGLE;
    set->travel += single ? cells * (1.0 + 0x1p-22) + 0x1p-25 : cells;
}

// Scratch that the sort needs for each birth: its key, and the copy that qsort works on.
enum { RP_SORT_BIRTH_BYTES = 64 };

// The block that a particle of a page is in now. false: it is dead, or farther away than a sort can
// follow.
bool rp_set_find_block(const rp_set *set, const rp_page *page, rp_local slot, int32_t block[3]);
// Room for this many slots and pages in all; what there is stays.
rp_result rp_set_reserve(rp_set *set, rp_local slots, rp_local pages);

// Put every particle into the page it belongs to, and before that, where there are several ranks,
// on the rank it belongs to: births in, deaths out. Pages come out in key order, in a page
// particles by cell, and in a cell those that stayed or came keep the order of their old pages,
// births last: the result does not depend on the number of threads. near[] of the new pages is not
// filled in (rp_grid_build does).
// @param scratch reserved here and free for others after the call
// @return on failure the set is as it was, unless there are several ranks
rp_result rp_set_sort(rp_set *set, rp_buffer *scratch, int threads);

// Look how far the particles of each page reach. Call after a sort or a restore; a sort ends the
// word of it.
void rp_set_find_reach(rp_set *set);
// The same for one page, from the cells that its particles are in now, least and largest.
void rp_page_reach(rp_page *page, const rp_layout *l, const int32_t least[3],
                   const int32_t most[3]);

// Look which pages hold several groups. The sort does it; whoever else writes pages must, too.
void rp_set_mark_mixed(rp_set *set);

// Particles without a velocity of their own have no mass either: they go with the flow and add
// nothing to the grid (glue).
static inline bool rp_set_has_mass(const rp_set *set) { return rp_set_has(set, RP_COL_VELOCITY); }

// Orders ids, for qsort and bsearch.
int rp_compare_ids(const void *a, const void *b);
