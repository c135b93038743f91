#include "core/registry.h"

#include "base/result.h"

#include <string.h>

void rp_registry_add(rp_registry *registry, const char *name, void *data, size_t bytes)
{
    RP_ASSERT(registry->entries < RP_REGISTRY_LIMIT);
    for (int i = 0; i < registry->entries; i++) {
        RP_ASSERT(strcmp(registry->entry[i].name, name) != 0);
    }
    registry->entry[registry->entries++] =
        (rp_registry_entry){.name = name, .data = data, .bytes = bytes};
}

void rp_registry_add_array(rp_registry *registry, const char *name, rp_buffer *buffer,
                           const rp_allocator *a, rp_local *count, size_t each)
{
    rp_registry_add(registry, name, NULL, 0);
    rp_registry_entry *entry = &registry->entry[registry->entries - 1];
    entry->buffer = buffer;
    entry->allocator = a;
    entry->count = count;
    entry->each = each;
}

void rp_registry_add_table(rp_registry *registry, const char *name, double *data, int columns)
{
    rp_registry_add(registry, name, data, 0);
    registry->entry[registry->entries - 1].columns = columns;
}

void rp_registry_set_rows(rp_registry *registry, const char *name, int rows)
{
    for (int i = 0; i < registry->entries; i++) {
        rp_registry_entry *entry = &registry->entry[i];
        if (strcmp(entry->name, name) == 0) {
            entry->bytes = (size_t)rows * (size_t)entry->columns * sizeof(double);
        }
    }
}
