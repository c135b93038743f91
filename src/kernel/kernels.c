#include "kernel/kernels.h"

#include "kernel/variant_list.h"

#define DECLARE(result, name, parameters, dim, order, bits, isa)                                   \
    result RP_KERNEL_NAME(name, dim, order, bits, isa) parameters;
#define DECLARE_ALL(dim, order, bits, isa)                                                         \
    RP_KERNEL_ENTRIES(DECLARE, dim, order, bits, isa)                                              \
    RP_PLAIN_KERNEL_ENTRIES(DECLARE, dim, order, bits, plain)
RP_FOR_EACH_KERNEL_VARIANT(DECLARE_ALL)

enum { isa_plain = RP_ISA_PLAIN, isa_avx2 = RP_ISA_AVX2, isa_avx512 = RP_ISA_AVX512 };

#define FILL(result, entry, parameters, d, q, b, i) .entry = RP_KERNEL_NAME(entry, d, q, b, i),
#define ROW(d, q, b, i)                                                                            \
    {.dim = d,                                                                                     \
     .order = q,                                                                                   \
     .real_bits = b,                                                                               \
     .isa = isa_##i,                                                                               \
     RP_KERNEL_ENTRIES(FILL, d, q, b, i) RP_PLAIN_KERNEL_ENTRIES(FILL, d, q, b, plain)},
static const rp_kernels table[] = {RP_FOR_EACH_KERNEL_VARIANT(ROW)};

int rp_kernels_count(void) { return (int)(sizeof table / sizeof table[0]); }

const rp_kernels *rp_kernels_at(int index) { return &table[index]; }

const rp_kernels *rp_kernels_find(int dim, int order, rp_precision precision, int isa)
{
    const int bits = precision == RP_SINGLE ? 32 : 64;
    for (int i = 0; i < rp_kernels_count(); i++) {
        const rp_kernels *k = &table[i];
        if (k->dim == dim && k->order == order && k->real_bits == bits && k->isa == isa) {
            return k;
        }
    }
    return NULL;
}
