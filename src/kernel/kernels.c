#include "kernel/kernels.h"

#include "kernel/variant_list.h"

#define DECLARE(dim, order, bits, isa)                                                             \
    void rp_p2g_##dim##d_q##order##_f##bits##_##isa(const rp_transfer_job *, rp_local);            \
    void rp_g2p_##dim##d_q##order##_f##bits##_##isa(const rp_transfer_job *, rp_local,             \
                                                    rp_page_report *);                             \
    void rp_sum_##dim##d_q##order##_f##bits##_##isa(const rp_grid *, const rp_set *, int,          \
                                                    unsigned, rp_local);                           \
    double rp_velocity_##dim##d_q##order##_f##bits##_##isa(const rp_grid *, rp_local,              \
                                                           const double[3], double);               \
    void rp_change_##dim##d_q##order##_f##bits##_##isa(const rp_grid *, rp_local);
RP_FOR_EACH_KERNEL_VARIANT(DECLARE)

enum { isa_plain = RP_ISA_PLAIN, isa_avx2 = RP_ISA_AVX2, isa_avx512 = RP_ISA_AVX512 };

#define ROW(d, q, b, i)                                                                            \
    {.dim = d,                                                                                     \
     .order = q,                                                                                   \
     .real_bits = b,                                                                               \
     .isa = isa_##i,                                                                               \
     .p2g = rp_p2g_##d##d_q##q##_f##b##_##i,                                                       \
     .g2p = rp_g2p_##d##d_q##q##_f##b##_##i,                                                       \
     .sum = rp_sum_##d##d_q##q##_f##b##_##i,                                                       \
     .velocity = rp_velocity_##d##d_q##q##_f##b##_##i,                                             \
     .change = rp_change_##d##d_q##q##_f##b##_##i},
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
