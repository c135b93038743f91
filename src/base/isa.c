#include "base/isa.h"

bool rp_isa_supported(int isa)
{
#if defined(__x86_64__)
    if (isa == RP_ISA_AVX2) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    }
    if (isa == RP_ISA_AVX512) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    }
#endif
    return isa == RP_ISA_PLAIN;
}

const char *rp_isa_name(int isa)
{
    static const char *const names[RP_ISA_COUNT] = {"plain", "avx2", "avx512"};
    return isa >= 0 && isa < RP_ISA_COUNT ? names[isa] : "?";
}
