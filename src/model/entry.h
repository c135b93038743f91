// The entry points that each variant exports. The variant sources see the prototypes of their own
// variant, laws.c those of all.
#pragma once

#include "model/law.h"

#define RP_LAW_NAME_(name, dim, bits, isa) rp_##name##_##dim##d_f##bits##_##isa
#define RP_LAW_NAME(name, dim, bits, isa)  RP_LAW_NAME_(name, dim, bits, isa)

#define RP_DECLARE_LAWS(dim, bits, isa)                                                            \
    void RP_LAW_NAME(hencky_stress, dim, bits, isa)(const rp_law_tile *tile, void *out);           \
    void RP_LAW_NAME(hencky_update, dim, bits, isa)(const rp_law_tile *tile);                      \
    void RP_LAW_NAME(drucker_prager_update, dim, bits, isa)(const rp_law_tile *tile);
