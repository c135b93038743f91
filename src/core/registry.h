// What must be saved besides particles. Owners register their state; whoever saves walks the list
// and knows no owner. Entries stay valid as long as their owner does.
#pragma once

#include "repose/base.h"

enum { RP_REGISTRY_LIMIT = 64 };

typedef struct rp_registry_entry {
    const char *name; // "owner/what"
    void *data;
    size_t bytes; // must be the same when the state is restored
    int columns;  // of a table of doubles; 0: bytes that only their owner understands
} rp_registry_entry;

typedef struct rp_registry {
    rp_registry_entry entry[RP_REGISTRY_LIMIT];
    int entries;
} rp_registry;

void rp_registry_add(rp_registry *registry, const char *name, void *data, size_t bytes);
// A table of doubles, that readers of a frame can make sense of. It may grow while a world is
// described.
void rp_registry_add_table(rp_registry *registry, const char *name, double *data, int columns);
void rp_registry_set_rows(rp_registry *registry, const char *name, int rows);
