// What must be saved besides particles. Owners register their state; whoever saves walks the list
// and knows no owner. Entries stay valid as long as their owner does.
#pragma once

#include "repose/base.h"

enum { RP_REGISTRY_LIMIT = 64 };

typedef struct rp_registry_entry {
    const char *name; // "owner/what"
    void *data;
    size_t bytes; // must be the same when the state is restored
} rp_registry_entry;

typedef struct rp_registry {
    rp_registry_entry entry[RP_REGISTRY_LIMIT];
    int entries;
} rp_registry;

void rp_registry_add(rp_registry *registry, const char *name, void *data, size_t bytes);
