// Prototypes of the entry points of the variant being compiled.
#pragma once

#include "kernel/kernels.h"
#include "kernel/variant.h"

#define RP_VARIANT(name) RP_KERNEL_NAME(name, RP_DIM, RP_ORDER, RP_REAL_BITS, RP_ISA)

#define RP_KERNEL_PROTOTYPE(result, name, parameters, ...) result RP_VARIANT(name) parameters;
RP_KERNEL_ENTRIES(RP_KERNEL_PROTOTYPE, )
RP_PLAIN_KERNEL_ENTRIES(RP_KERNEL_PROTOTYPE, )
#undef RP_KERNEL_PROTOTYPE
