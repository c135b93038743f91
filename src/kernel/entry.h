// Prototypes of the entry points of the variant being compiled.
#pragma once

#include "kernel/kernels.h"
#include "kernel/variant.h"

void RP_VARIANT(p2g)(const rp_transfer_job *job, rp_local page);
void RP_VARIANT(g2p)(const rp_transfer_job *job, rp_local page, rp_page_report *out);
void RP_VARIANT(sum)(const rp_grid *grid, const rp_set *set, int sets, unsigned channels,
                     rp_local page);
double RP_VARIANT(velocity)(const rp_grid *grid, rp_local page, const double push[3], double least);
void RP_VARIANT(change)(const rp_grid *grid, rp_local page);
