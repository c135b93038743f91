#include "collide/glue_set.h"

int rp_glue_find(const rp_species *species, int count)
{
    for (int s = 0; s < count; s++) {
        if (rp_set_has(species[s].set, RP_COL_PARTNER)) {
            return s;
        }
    }
    return -1;
}

bool rp_glue_is_due(const rp_set *set)
{
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            if (is_due(set, slot)) {
                return true;
            }
        }
    }
    return false;
}

int64_t rp_glue_clear(rp_set *set)
{
    int64_t gone = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            if (!is_there(set, slot) && !is_dead(set, slot)) {
                rp_set_kill(set, slot);
                gone++;
            }
        }
    }
    return gone;
}
