// Materials as users describe them, and what laws are told: cold code, in double. Each kind has a
// class, made in the source of its law.
#pragma once

#include "model/law.h"

#include <math.h>
#include <stddef.h>

typedef struct rp_material_class {
    rp_material_info info;
    // columns that its law cannot work without, as 1u << rp_column_id
    unsigned (*needs)(const rp_material_def *def);
    // beyond the ranges of its properties; NULL: nothing. Warns where a value is allowed but
    // unlikely to be meant
    rp_result (*check)(const rp_material_def *def, int dim);
    // the numbers for its law; zeros when called
    void (*parameters)(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT]);
    // its stiffest direction [Pa], which bounds explicit steps
    double (*modulus)(const rp_material_def *def, int dim);
    // what resists the rate of deformation [Pa s]; NULL: nothing
    double (*viscosity)(const rp_material_def *def);
    // friction coefficient in plain shear at yield, after hardening by so much; NULL: it has none
    double (*friction)(const rp_material_def *def, int dim, double hardening);
    // column with the log of volume gained for good, which is not in the strain; 0: there is none
    int gained;
    bool grains;   // may be moved by themselves: put back where they sank into a collider
    bool massless; // goes with the flow and adds nothing to it
} rp_material_class;

// NULL when there is no such kind.
const rp_material_class *rp_material_class_of(rp_material_kind kind);

// Whether laws can work with this def in this dimension. Names the field that they cannot.
rp_result rp_material_check(const rp_material_def *def, int dim);
// The def must have passed the check.
unsigned rp_material_needs(const rp_material_def *def);
void rp_material_parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT]);

// ---- for the sources of laws ----

#define RP_PROPERTIES(array) .property = (array), .properties = sizeof(array) / sizeof((array)[0])
#define RP_ANY               .low = -INFINITY, .high = INFINITY, .above_low = true, .below_high = true
#define RP_POSITIVE          .low = 0.0, .high = INFINITY, .above_low = true, .below_high = true
#define RP_NOT_NEGATIVE      .low = 0.0, .high = INFINITY, .below_high = true
#define RP_BETWEEN(a, b)     .low = (a), .high = (b), .above_low = true, .below_high = true
#define RP_AT(member)        .offset = offsetof(rp_material_def, member)

// clang-format off
#define RP_DENSITY_PROPERTY(otherwise_, sentence_)                                                          \
    {"density", RP_PROPERTY_NUMBER, "kg/m^3", RP_POSITIVE, .otherwise = otherwise_, RP_AT(density),         \
     .sentence = sentence_}

#define RP_ELASTIC_PROPERTIES                                                                               \
    RP_DENSITY_PROPERTY("2200", "Bulk density at rest, pores included."),                                   \
    {"young", RP_PROPERTY_NUMBER, "Pa", RP_POSITIVE, .otherwise = "3.537e5", RP_AT(young),                  \
     .sentence = "Young's modulus. Softer than real grains, so that steps can be longer."},                 \
    {"poisson", RP_PROPERTY_NUMBER, NULL, RP_BETWEEN(-1.0, 0.5), .otherwise = "0.3", RP_AT(poisson),        \
     .sentence = "Poisson's ratio."}

// What inner friction is, for every law that has it; one of several ways to say it.
extern const char *const rp_yield_fit_names[];
#define RP_FRICTION_PROPERTIES                                                                              \
    {"friction_angle", RP_PROPERTY_NUMBER, "degrees", .low = 0.0, .high = 90.0, .below_high = true,         \
     .otherwise = "35", .not_with = "friction_coefficient", RP_AT(friction_angle),                          \
     .sentence = "Inner friction. `repose check` says at what slope it comes to rest when it flows; " \
                 "a heap that a collapse leaves is flatter. For a slope near this angle say `yield_fit = \"slope\"`."}, \
    {"yield_fit", RP_PROPERTY_CHOICE, .choices = rp_yield_fit_names, .otherwise = "\"default\"",            \
     .not_with = "friction_coefficient", RP_AT(yield_fit),                                                  \
     .sentence = "What the angle means for the yield cone (docs/theory.md): the default is compression in 3D and " \
                 "plane strain in 2D; with slope, what flows comes to rest at the angle."},               \
    {"friction_coefficient", RP_PROPERTY_NUMBER, NULL, RP_NOT_NEGATIVE, .absent = "follows from the angle", \
     .none = -1.0, .not_with = "friction_angle yield_fit", RP_AT(friction_coefficient),                     \
     .sentence = "Shear over normal stress at yield, instead of an angle."}
// clang-format on

typedef struct rp_lame {
    double lambda, mu; // [Pa]
} rp_lame;
rp_lame rp_lame_parameters(double young, double poisson);

// Moduli and density from young, poisson and density.
void rp_elastic_parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT]);
// Volume, or shear where lambda is negative.
double rp_elastic_modulus(const rp_material_def *def, int dim);

// ---- friction ----

// alpha = scale s / ((1 + tilt s) sqrt(1 + bend s^2)), s = sin phi: docs/theory.md (20), by the
// table in its section 11
typedef struct rp_yield_curve {
    double scale, tilt, bend;
} rp_yield_curve;
rp_yield_curve rp_yield_curve_of(rp_yield_fit fit, int dim);

// Slope alpha of the yield cone at the friction angle phi [rad], docs/theory.md (20).
double rp_yield_slope(rp_yield_fit fit, double phi, int dim);

// Shear over normal stress in plain shear at yield, docs/theory.md (29): a flowing slope settles at
// the arc tangent of it.
double rp_friction_coefficient(double slope, int dim);
// The other way round.
double rp_slope_of_friction(double coefficient, int dim);
// Volume per plastic flow, eta, of sand that swells by tan(angle) in plain shear: theory (22a).
double rp_dilation_of(double angle, int dim);
// The largest angle that makes no energy: flow is at a right angle to the cone.
double rp_associated_dilation(double coefficient, int dim);

// Shear over normal stress from the def's coefficient, or from its angle and fit.
double rp_plain_friction(const rp_material_def *def, int dim);
// The same for classes whose friction does not change.
double rp_steady_friction(const rp_material_def *def, int dim, double hardening);
// Warns where it is 1 or more.
void rp_warn_of_friction(const char *name, double coefficient);
