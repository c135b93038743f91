// Names of what each variant exports: a law, and the table of all of them.
#pragma once

#include "model/law.h"

#define RP_LAW_NAME_(name, dim, bits, isa) rp_##name##_##dim##d_f##bits##_##isa
#define RP_LAW_NAME(name, dim, bits, isa)  RP_LAW_NAME_(name, dim, bits, isa)
