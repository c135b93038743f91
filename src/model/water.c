// Water: weakly compressible (docs/theory.md, section 17). Its state is the ratio J of current to
// initial volume; viscosity needs the rate of deformation besides.
//
//   J   <- (1 + dt tr grad v) J                                  docs/theory.md (47)
//   p    = k (J^-gamma - 1),   k = K / gamma                     docs/theory.md (48)
//   tau  = -J p I + 2 eta J dev d                                docs/theory.md (49)
//
// Water that cannot be pulled has p >= 0. That alone would let J run off in spray, which then
// falls together too dense; so J is not more than the density that the grid sees can explain.
#include "model/variant.h"

enum {
    PARAM_STIFFNESS = RP_PARAM_OWN, // k [Pa]
    PARAM_GAMMA,
    PARAM_VISCOSITY, // eta [Pa s]
    PARAM_TENSION,   // 1 where it may be pulled, else 0
};

#ifdef RP_DIM // ---- the law ----

#include "model/hencky.h"

// At a flat surface the grid sees half the density of what is whole; only what is thinner has
// gained volume.
#define SEEN R(0.5)

// Lanes past the last particle hold J = 0, and 1 is as good.
RP_INLINE vec ratio_of(const rp_law_tile *tile, int lane)
{
    const vec J = vload((const real *)tile->column[RP_COL_VOLUME_RATIO] + lane);
    return vselect(vle(J, vset(R(0.0))), vset(R(1.0)), J);
}

// (48), and no less than 0 where it cannot be pulled; a NaN stays one.
RP_INLINE vec pressure_of(const rp_law_tile *tile, int lane, vec J)
{
    const vec zero = vset(R(0.0));
    const vec k = law_parameter(tile, PARAM_STIFFNESS, lane);
    const vec p = k * vexpm1(-law_parameter(tile, PARAM_GAMMA, lane) * vlog(J));
    const ivec pulled = vlt(p, zero) & ~vlt(zero, law_parameter(tile, PARAM_TENSION, lane));
    return vselect(pulled, zero, p);
}

static void RP_LAW_VARIANT(water_stress)(const rp_law_tile *tile, void *out)
{
    const real *rate = tile->column[RP_COL_RATE];
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        const vec J = ratio_of(tile, lane), zero = vset(R(0.0));
        const vec pressure = J * pressure_of(tile, lane, J);
        sym tau;
        for (int c = 0; c < SYM; c++) {
            tau.c[c] = c < DIM ? -pressure : zero;
        }
        if (rate != NULL) {
            const sym d = sym_load(rate + lane);
            const vec eta = law_parameter(tile, PARAM_VISCOSITY, lane) * J;
            const vec mean = vset(R(1.0) / R(3.0)) * sym_trace(d); // in 2D too: plane strain
            for (int c = 0; c < SYM; c++) {
                tau.c[c] = vfma(eta + eta, c < DIM ? d.c[c] - mean : d.c[c], tau.c[c]);
            }
        }
        sym_store((real *)out + lane, tau);
    }
}

// Where a tile's column is, or the place of a component of the increment.
RP_INLINE vec increment_at(const rp_law_tile *tile, int i, int j, int lane)
{
    return vload((const real *)tile->increment + RP_LANES * (i * DIM + j) + lane);
}

static void RP_LAW_VARIANT(water_update)(const rp_law_tile *tile)
{
    real *rate = tile->column[RP_COL_RATE];
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        const vec zero = vset(R(0.0)), one = vset(R(1.0));
        real *column = (real *)tile->column[RP_COL_VOLUME_RATIO] + lane;
        vec growth = increment_at(tile, 0, 0, lane);
        for (int a = 1; a < DIM; a++) {
            growth += increment_at(tile, a, a, lane);
        }
        const vec J = vload(column);
        const vec grown = vfma(J, growth, J);
        // what is turned inside out is no state of water
        const vec sound = vselect(vlt(grown, zero), vset((real)__builtin_nan("")), grown);
        const vec rest = law_parameter(tile, RP_PARAM_DENSITY, lane);
        const vec most = vmax(one, SEEN * rest / vload((const real *)tile->density + lane));
        const ivec holds = vlt(zero, law_parameter(tile, PARAM_TENSION, lane));
        // in this order of operands a NaN stays a NaN
        vstore(column, vselect(holds, sound, vmin(most, sound)));
        if (rate != NULL) {
            const real per_step = (real)(1.0 / tile->dt);
            static const int row[6] = {0, 1, DIM == 3 ? 2 : 0, 0, 0, 1};
            static const int across[6] = {0, 1, DIM == 3 ? 2 : 1, 1, 2, 2};
            sym d;
            for (int c = 0; c < SYM; c++) {
                const vec both = increment_at(tile, row[c], across[c], lane) +
                                 increment_at(tile, across[c], row[c], lane);
                d.c[c] = both * (R(0.5) * per_step);
            }
            sym_store(rate + lane, d);
        }
    }
}

// What compressing it has taken: k ((J^(1 - gamma) - 1) / (gamma - 1) + J - 1), docs/theory.md
// (50).
static void RP_LAW_VARIANT(water_energy)(const rp_law_tile *tile, void *out)
{
    for (int lane = 0; lane < RP_LANES; lane += LANES) {
        const vec J = ratio_of(tile, lane), zero = vset(R(0.0)), one = vset(R(1.0));
        const vec k = law_parameter(tile, PARAM_STIFFNESS, lane);
        const vec power = law_parameter(tile, PARAM_GAMMA, lane) - one;
        const vec stored = k * (vexpm1(-power * vlog(J)) / power + (J - one));
        const ivec pulled = vlt(one, J) & ~vlt(zero, law_parameter(tile, PARAM_TENSION, lane));
        vstore((real *)out + lane, vselect(pulled, zero, stored));
    }
}

RP_LAW(water) = {.stress = RP_LAW_VARIANT(water_stress),
                 .update = RP_LAW_VARIANT(water_update),
                 .energy = RP_LAW_VARIANT(water_energy)};

#else // ---- the material ----

#include "model/material.h"

// clang-format off
static const rp_property properties[] = {
    RP_DENSITY_PROPERTY("1000", "Density at rest."),
    {"bulk_modulus", RP_PROPERTY_NUMBER, "Pa", RP_POSITIVE, .otherwise = "1e6", .not_with = "sound_speed", RP_AT(bulk_modulus),
     .sentence = "Resistance to compression at rest. Much softer than real water (2.2e9), so that steps can be longer; sound should be "
                 "ten times as fast as the water ever is."},
    {"sound_speed", RP_PROPERTY_NUMBER, "m/s", RP_POSITIVE, .absent = "follows from `bulk_modulus`", .none = -1.0,
     .not_with = "bulk_modulus", RP_AT(sound_speed), .sentence = "Instead of `bulk_modulus`, which is density times its square."},
    {"gamma", RP_PROPERTY_NUMBER, NULL, .low = 1.0, .high = 20.0, .above_low = true, .otherwise = "7", RP_AT(gamma),
     .sentence = "How much stiffer it becomes: pressure is `bulk_modulus` / `gamma` times (J^-gamma - 1), J being the volume over that at rest."},
    {"viscosity", RP_PROPERTY_NUMBER, "Pa s", RP_NOT_NEGATIVE, .otherwise = "0", RP_AT(viscosity),
     .sentence = "Real water has 0.001, honey 10. Thick liquids take short steps."},
    {"tension", RP_PROPERTY_BOOLEAN, .otherwise = "false", RP_AT(tension),
     .sentence = "Whether it pulls back where it is torn apart; without, it becomes spray."},
};

static const char example[] =
    "scene { dimension = 2, dx = 0.01, frames = 48 }\n"
    "particles { material = material.water { sound_speed = 30 }, shape = box { min = {0, 0}, max = {0.2, 0.4} } }\n"
    "collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = \"slip\" }\n"
    "collider { shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = \"slip\" }\n";
// clang-format on

// K, density times the square of the speed of sound.
static double bulk_of(const rp_material_def *def)
{
    return def->sound_speed > 0.0 ? def->density * def->sound_speed * def->sound_speed
                                  : def->bulk_modulus;
}

static unsigned needs(const rp_material_def *def)
{
    return 1u << RP_COL_VOLUME_RATIO | (unsigned)(def->viscosity > 0.0) << RP_COL_RATE;
}

static void parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT])
{
    (void)dim;
    out[RP_PARAM_DENSITY] = def->density;
    out[PARAM_STIFFNESS] = bulk_of(def) / def->gamma;
    out[PARAM_GAMMA] = def->gamma;
    out[PARAM_VISCOSITY] = def->viscosity;
    out[PARAM_TENSION] = def->tension;
}

// As it is where something has hit it: pressed together by a twentieth, more than the weight and
// speed that such a softness allows would do.
static double modulus(const rp_material_def *def, int dim)
{
    return dim * bulk_of(def) * pow(0.95, -def->gamma);
}

static double viscosity(const rp_material_def *def) { return def->viscosity; }

const rp_material_class rp_class_water = {
    .info = {.name = "water",
             .sentence = "Water, or another liquid, that gives way a little when it is pressed.",
             .example = example,
             .species = "water",
             .color = {0.22, 0.44, 0.66},
             RP_PROPERTIES(properties)},
    .needs = needs,
    .parameters = parameters,
    .modulus = modulus,
    .viscosity = viscosity,
    .grains = true,
};

#endif
