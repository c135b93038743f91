// The table of variants of passes.c.
#include "model/entry.h"
#include "model/variant_list.h"
#include "solver/sph/passes.h"

#define DECLARE(dim, bits, isa) extern const rp_sph_passes RP_LAW_NAME(sph_passes, dim, bits, isa);
RP_FOR_EACH_LAW_VARIANT(DECLARE)

#define ROW(dim, bits, isa) &RP_LAW_NAME(sph_passes, dim, bits, isa),
static const rp_sph_passes *const table[] = {RP_FOR_EACH_LAW_VARIANT(ROW)};

int rp_sph_passes_count(void) { return (int)(sizeof table / sizeof table[0]); }

const rp_sph_passes *rp_sph_passes_at(int index) { return table[index]; }

const rp_sph_passes *rp_sph_passes_find(int dim, int real_bits, int isa)
{
    for (int i = 0; i < rp_sph_passes_count(); i++) {
        if (table[i]->dim == dim && table[i]->real_bits == real_bits && table[i]->isa == isa) {
            return table[i];
        }
    }
    return NULL;
}
