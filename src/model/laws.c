#include "model/entry.h"
#include "model/linear_law.h"
#include "model/variant_list.h"

// the instruction sets as variant_list.h spells them
enum { with_plain = RP_ISA_PLAIN, with_avx2 = RP_ISA_AVX2, with_avx512 = RP_ISA_AVX512 };

#define DECLARE(d, b, i) extern const rp_law *const RP_LAW_NAME(laws, d, b, i)[RP_MATERIAL_KINDS];
RP_FOR_EACH_LAW_VARIANT(DECLARE)

#define ROW(d, b, i) {d, b, with_##i, RP_LAW_NAME(laws, d, b, i)},
static const struct {
    int dim, bits, isa;
    const rp_law *const *laws;
} table[] = {RP_FOR_EACH_LAW_VARIANT(ROW)};

const rp_law *const *rp_laws_find(int dim, int real_bits, int isa)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].dim == dim && table[i].bits == real_bits && table[i].isa == isa) {
            return table[i].laws;
        }
    }
    return NULL;
}

#define DECLARE_LINEAR(d, b, i)                                                                    \
    extern const rp_linear_law RP_LAW_NAME(elastic_linear, d, b, i),                               \
        RP_LAW_NAME(sand_linear, d, b, i);
RP_FOR_EACH_LAW_VARIANT(DECLARE_LINEAR)

#define LINEAR_ROW(d, b, i)                                                                        \
    {d,                                                                                            \
     b,                                                                                            \
     with_##i,                                                                                     \
     {[RP_ELASTIC] = &RP_LAW_NAME(elastic_linear, d, b, i),                                        \
      [RP_SAND] = &RP_LAW_NAME(sand_linear, d, b, i)}},
static const struct {
    int dim, bits, isa;
    const rp_linear_law *law[RP_MATERIAL_KINDS];
} linear_table[] = {RP_FOR_EACH_LAW_VARIANT(LINEAR_ROW)};

const rp_linear_law *rp_linear_law_find(rp_material_kind kind, int dim, int real_bits, int isa)
{
    for (size_t i = 0; i < sizeof linear_table / sizeof linear_table[0]; i++) {
        if (linear_table[i].dim == dim && linear_table[i].bits == real_bits &&
            linear_table[i].isa == isa) {
            return linear_table[i].law[kind];
        }
    }
    return NULL;
}
