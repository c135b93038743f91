// Snow: Hencky elasticity that gives way where it is stretched or pressed together too far in any
// direction, and is stiffer the more it has been compacted (docs/theory.md, section 19; Stomakhin
// et al. 2013).
//
//   -c <= each eigenvalue of h <= s; v <- v + sum of what is cut off                       (55)
//   lambda, mu <- lambda, mu times exp(-hardening v), which is kept within 0.2 and 20      (56)
//
// The column is v: the log of the volume gained for good, below 0 where snow was compacted.
#include "model/variant.h"

enum {
    PARAM_COMPRESSION = RP_PARAM_OWN, // c
    PARAM_STRETCH,                    // s
    PARAM_HARDENING,                  // e-folds of stiffness per log volume lost
};

#define SOFTEST  0.2
#define STIFFEST 20.0

#ifdef RP_DIM // ---- the law ----

#include "model/hencky.h"

// Beyond a limit by less than this, as a share of both, is round-off: cut off step by step, it
// would add up.
#define CLOSE (RP_REAL_BITS == 32 ? R(1e-6) : R(2e-15))

// What both moduli are multiplied with. Where the column is a NaN so is the factor: it stands
// second.
RP_INLINE vec stiffening(const rp_law_tile *tile, int lane)
{
    const vec gained = vload((const real *)tile->column[RP_COL_PLASTIC_VOLUME] + lane);
    const vec factor = vexp(-law_parameter(tile, PARAM_HARDENING, lane) * gained);
    return vmin(vset((real)STIFFEST), vmax(vset((real)SOFTEST), factor));
}

static void RP_LAW_VARIANT(snow_update)(const rp_law_tile *tile)
{
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        real *strain = (real *)tile->column[RP_COL_STRAIN] + lane;
        real *column = (real *)tile->column[RP_COL_PLASTIC_VOLUME] + lane;
        const vec least = -law_parameter(tile, PARAM_COMPRESSION, lane);
        const vec most = law_parameter(tile, PARAM_STRETCH, lane);
        const vec slack = vset(CLOSE) * (most - least);

        // no eigenvalue is larger than the norm, which most snow has well within the limits
        const sym trial = hencky_trial(tile, lane);
        const vec near = vmin(most, -least);
        ivec inside = vle(sym_norm2(trial), near * near);
        if (!vany(~inside)) {
            sym_store(strain, trial);
            continue;
        }
        vec value[DIM], v[DIM][DIM];
        sym_eigen(trial, value, v);
        vec cut = vset(R(0.0));
        ivec outside = viset(0);
        for (int k = 0; k < DIM; k++) {
            outside = outside | ~(vle(least - slack, value[k]) & vle(value[k], most + slack));
            // in this order of operands a NaN stays a NaN
            const vec kept = vmin(most, vmax(least, value[k]));
            cut += value[k] - kept;
            value[k] = kept;
        }
        inside = inside | ~outside;
        sym_store(strain, sym_select(inside, trial, sym_from_eigen(value, v)));
        const vec gained = vload(column);
        vstore(column, vselect(inside, gained, gained + cut));
    }
}

static void RP_LAW_VARIANT(snow_stress)(const rp_law_tile *tile, void *out)
{
    hencky_stress(tile, out);
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        real *tau = (real *)out + lane;
        sym_store(tau, sym_scaled(sym_load(tau), stiffening(tile, lane)));
    }
}

static void RP_LAW_VARIANT(snow_energy)(const rp_law_tile *tile, void *out)
{
    hencky_energy(tile, out);
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        real *stored = (real *)out + lane;
        vstore(stored, vload(stored) * stiffening(tile, lane));
    }
}

RP_LAW(snow) = {.stress = RP_LAW_VARIANT(snow_stress),
                .update = RP_LAW_VARIANT(snow_update),
                .energy = RP_LAW_VARIANT(snow_energy)};

#else // ---- the material ----

#include "model/material.h"

// clang-format off
static const rp_property properties[] = {
    RP_DENSITY_PROPERTY("400", "Density as it lies, before it is compacted: 100 of powder to 500 of old snow."),
    {"young", RP_PROPERTY_NUMBER, "Pa", RP_POSITIVE, .otherwise = "1.4e5", RP_AT(young),
     .sentence = "Young's modulus, before it hardens."},
    {"poisson", RP_PROPERTY_NUMBER, NULL, RP_BETWEEN(-1.0, 0.5), .otherwise = "0.2", RP_AT(poisson),
     .sentence = "Poisson's ratio."},
    {"critical_compression", RP_PROPERTY_NUMBER, NULL, RP_POSITIVE, .otherwise = "0.025", RP_AT(critical_compression),
     .sentence = "Log strain in any direction beyond which it is compacted for good. Dry powder takes less than wet snow."},
    {"critical_stretch", RP_PROPERTY_NUMBER, NULL, RP_POSITIVE, .otherwise = "0.0075", RP_AT(critical_stretch),
     .sentence = "Log strain in any direction beyond which it comes apart; the smaller, the more it crumbles."},
    {"hardening", RP_PROPERTY_NUMBER, NULL, RP_NOT_NEGATIVE, .otherwise = "10", RP_AT(snow_hardening),
     .sentence = "E-folds of stiffness per log of volume that is lost for good; it becomes 20 times as stiff at most, and a fifth "
                 "where it came apart. Time steps are those of the stiffest snow; with 0 they are 4.5 times as long."},
};

static const char example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "particles { material = material.snow {}, shape = sphere { center = {0, 0.3, 0}, radius = 0.15 }, velocity = {1, -3, 0} }\n"
    "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }\n";
// clang-format on

static unsigned needs(const rp_material_def *def)
{
    (void)def;
    return 1u << RP_COL_STRAIN | 1u << RP_COL_PLASTIC_VOLUME;
}

static void parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT])
{
    rp_elastic_parameters(def, dim, out);
    out[PARAM_COMPRESSION] = def->critical_compression;
    out[PARAM_STRETCH] = def->critical_stretch;
    out[PARAM_HARDENING] = def->snow_hardening;
}

// As it is where nothing can harden it further.
static double modulus(const rp_material_def *def, int dim)
{
    return rp_elastic_modulus(def, dim) * (def->snow_hardening > 0.0 ? STIFFEST : 1.0);
}

const rp_material_class rp_class_snow = {
    .info = {.name = "snow",
             .sentence = "Snow that crumbles when it is pulled and hardens as it is compacted.",
             .example = example,
             .species = "solid",
             .color = {0.86, 0.9, 0.95},
             RP_PROPERTIES(properties)},
    .needs = needs,
    .parameters = parameters,
    .modulus = modulus,
    .gained = RP_COL_PLASTIC_VOLUME,
    .grains = true,
};

#endif
