// What must be saved besides particles. Owners register their state; whoever saves walks the list
// and knows no owner. Entries stay valid as long as their owner does.
#pragma once

#include "base/memory.h"
#include "core/layout.h"

enum { RP_REGISTRY_LIMIT = 64 };

typedef struct rp_registry_entry {
    const char *name; // "owner/what"
    void *data;
    size_t bytes; // must be the same when the state is restored
    int columns;  // of a table of doubles; 0: bytes that only their owner understands
    // of an array that may have another length when it is restored; else NULL
    rp_buffer *buffer;
    const rp_allocator *allocator; // of the buffer
    rp_local *count;
    size_t each; // bytes of an element
} rp_registry_entry;

typedef struct rp_registry {
    rp_registry_entry entry[RP_REGISTRY_LIMIT];
    int entries;
} rp_registry;

void rp_registry_add(rp_registry *registry, const char *name, void *data, size_t bytes);
// An array in a buffer of its owner, which may grow and shrink as it likes (warm starts, bodies): a
// state is restored with as many elements as it was saved with.
// @param each bytes of an element
void rp_registry_add_array(rp_registry *registry, const char *name, rp_buffer *buffer,
                           const rp_allocator *a, rp_local *count, size_t each);
// Bytes that an entry has now, and where they are.
static inline size_t rp_registry_bytes(const rp_registry_entry *entry)
{
    return entry->buffer != NULL ? (size_t)*entry->count * entry->each : entry->bytes;
}
static inline void *rp_registry_data(const rp_registry_entry *entry)
{
    return entry->buffer != NULL ? entry->buffer->data : entry->data;
}
// A table of doubles, that readers of a frame can make sense of. It may grow while a world is
// described.
void rp_registry_add_table(rp_registry *registry, const char *name, double *data, int columns);
void rp_registry_set_rows(rp_registry *registry, const char *name, int rows);
