#include "model/entry.h"
#include "model/variant_list.h"

// the instruction sets as variant_list.h spells them
enum { with_plain = RP_ISA_PLAIN, with_avx2 = RP_ISA_AVX2, with_avx512 = RP_ISA_AVX512 };

RP_FOR_EACH_LAW_VARIANT(RP_DECLARE_LAWS)

#define ROW(d, b, i)                                                                               \
    {                                                                                              \
        .dim = d,                                                                                  \
        .bits = b,                                                                                 \
        .isa = with_##i,                                                                           \
        .laws =                                                                                    \
            {                                                                                      \
                [RP_LAW_ELASTIC] = {"elastic", RP_NEEDS_STRAIN,                                    \
                                    RP_LAW_NAME(hencky_stress, d, b, i),                           \
                                    RP_LAW_NAME(hencky_update, d, b, i)},                          \
                [RP_LAW_DRUCKER_PRAGER] = {"drucker-prager", RP_NEEDS_STRAIN,                      \
                                           RP_LAW_NAME(hencky_stress, d, b, i),                    \
                                           RP_LAW_NAME(drucker_prager_update, d, b, i)},           \
            },                                                                                     \
    },

static const struct {
    int dim, bits, isa;
    rp_law laws[RP_LAW_COUNT];
} table[] = {RP_FOR_EACH_LAW_VARIANT(ROW)};

const rp_law *rp_laws_find(int dim, int real_bits, int isa)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].dim == dim && table[i].bits == real_bits && table[i].isa == isa) {
            return table[i].laws;
        }
    }
    return NULL;
}
