// Drives laws lane by lane in double, whatever the precision of the variant under test.
#pragma once

#include "model/law.h"
#include "model/sand.h"

typedef struct law_variant {
    const rp_law *const *laws;
    int dim, bits, isa;
    double unit; // round-off: 2^-24 in single, 2^-53 in double
} law_variant;

// The variants that this build has and this machine can run; at most LAW_VARIANTS of them.
enum { LAW_VARIANTS = 2 * 2 * RP_ISA_COUNT };
int law_variants(law_variant out[LAW_VARIANTS]);

// What a law sees of one particle.
typedef struct law_lane {
    double parameter[RP_PARAM_COUNT];
    double increment[9];
    double density;
    double strain[6];
    double hardening, volume_gain;
    double volume_ratio, rate[6], consolidation;
    double plastic_volume;
} law_lane;

#define LAW_FALL_RATE 0.5 // [1/s]

typedef enum law_columns {
    LAW_STRAIN_ONLY = 0,
    LAW_WITH_HARDENING = 1,
    LAW_WITH_GAIN = 2,
    LAW_WITH_ALL = 3,
    LAW_WITH_RATE = 4,
    LAW_WITHOUT_PLASTIC_VOLUME = 8
} law_columns;

// One update of sixteen particles over a step of 1 s, where the rate of falls is LAW_FALL_RATE.
// Hardening, gain and rate are NULL in the tile where they are not named; a law takes no notice of
// columns that it does not need.
void law_update(const law_variant *v, rp_material_kind law, law_lane lane[RP_LANES],
                law_columns columns);
// Their Kirchhoff stress; with the rate of deformation.
void law_stress(const law_variant *v, rp_material_kind law, const law_lane lane[RP_LANES],
                double out[RP_LANES][6]);
// What they have stored, per volume at rest.
void law_energy(const law_variant *v, rp_material_kind law, const law_lane lane[RP_LANES],
                double out[RP_LANES]);
// The same for one particle, which all lanes hold.
void law_update_one(const law_variant *v, rp_material_kind law, law_lane *lane,
                    law_columns columns);
void law_stress_one(const law_variant *v, rp_material_kind law, const law_lane *lane,
                    double out[6]);

// The nearest number that the variant can hold.
double law_rounded(const law_variant *v, double x);
// Every number of a lane rounded so, that a reference can start from what the law will see.
void law_round_lane(const law_variant *v, law_lane *lane);
