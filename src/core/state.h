// A saved state: what rp_world_save() makes, rp_world_restore() takes and a frame on disk holds.
//
//   rp_state_header
//   rp_state_species [species]
//   rp_state_entry [entries]        what owners registered: names and sizes, then
//   the entries' bytes              one after the other, each padded to RP_STATE_ALIGN
//   for every species
//     rp_state_group [groups]
//     rp_state_page [pages]
//     for every column in the mask  [slot / 16][component][16] for the slots in use, then
//                                   [particle][component] for births, positions as double [m]
//
// Every part starts at a multiple of RP_STATE_ALIGN; what lies between is 0.
//
// Nothing in it is a pointer, it is little-endian, and whoever gets one from outside must not
// trust it (rp_state_view_make() checks its shape, rp_world_restore() its sense).
#pragma once

#include "core/registry.h"
#include "core/species.h"

enum { RP_STATE_ALIGN = 16, RP_STATE_NAME = 48, RP_STATE_ENTRY_LIMIT = 1 << 30 };
#define RP_STATE_MAGIC 0x3545544154535052ull // "RPSTATE5"

typedef struct rp_state_header {
    uint64_t magic, bytes; // of the whole state
    uint64_t seed;
    double h, fps;
    int32_t period[3], fields;
    int32_t dim, order, precision;
    int32_t entries, species;
    int32_t padding;
    char method[RP_SPECIES_NAME];
} rp_state_header;

typedef struct rp_state_species {
    char name[RP_SPECIES_NAME];
    double travel;   // [cells]
    int32_t columns; // bit mask of 1 << rp_column_id
    int32_t groups, pages, slots, count, doomed, births;
    int32_t padding[3];
} rp_state_species;

typedef struct rp_state_entry {
    char name[RP_STATE_NAME]; // "owner/what"
    uint64_t bytes;
    uint64_t columns; // of a table of doubles; 0: bytes that only their owner understands
} rp_state_entry;

typedef struct rp_state_group {
    int32_t material, field;
    double volume, mass;
} rp_state_group;

typedef struct rp_state_page {
    int32_t block[3], field, first, count;
} rp_state_page;

// Where the parts of a species are. Offsets are from the start of the state.
typedef struct rp_state_part {
    const rp_state_species *about;
    const rp_state_group *group;
    const rp_state_page *page;
    size_t group_at, page_at;
    size_t slots_at[RP_COL_COUNT]; // 0: the species does not have the column
    size_t births_at[RP_COL_COUNT];
    int32_t first_group; // groups of the species before it
} rp_state_part;

// Where everything is in a state. Pointers are into it; they are aligned as their types want when
// the state is aligned to RP_STATE_ALIGN.
typedef struct rp_state_view {
    const rp_state_header *header;
    rp_layout layout; // as far as columns need it: dim, order, precision, h, cells, period
    const rp_state_entry *entry;
    size_t entry_at[RP_REGISTRY_LIMIT];
    rp_state_part part[RP_SET_LIMIT]; // [header->species]
    int64_t particles;                // of all species, births included
    int32_t groups;
    size_t bytes;
} rp_state_view;

// Find the parts of a state, which must be aligned. @return RP_ERR_ARGUMENT when sizes and counts
// do not fit together
rp_result rp_state_view_make(const void *state, size_t size, rp_state_view *view);

// The same for a header, species and entries alone, of which a state is about to be made.
rp_result rp_state_measure(const rp_state_header *header, const rp_state_species *species,
                           const rp_state_entry *entry, rp_state_view *view);

// Room for a state, not zeroed, to be freed by rp_state_free(); NULL when there is no memory.
void *rp_state_new(const rp_allocator *a, size_t bytes);

static inline const void *rp_state_at(const rp_state_view *view, size_t offset)
{
    return (const char *)view->header + offset;
}
