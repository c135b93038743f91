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
