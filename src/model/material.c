#include "model/material.h"

#include "base/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DECLARE(ID, name) extern const rp_material_class rp_class_##name;
RP_MATERIALS(DECLARE)

#define POINTER(ID, name) [RP_##ID] = &rp_class_##name,
static const rp_material_class *const classes[RP_MATERIAL_KINDS] = {RP_MATERIALS(POINTER)};

const rp_material_class *rp_material_class_of(rp_material_kind kind)
{
    return (int)kind >= 0 && kind < RP_MATERIAL_KINDS ? classes[kind] : NULL;
}

const rp_material_info *rp_material_info_of(rp_material_kind kind)
{
    const rp_material_class *class = rp_material_class_of(kind);
    return class != NULL ? &class->info : NULL;
}

rp_result rp_material_kind_named(const char *name, rp_material_kind *kind)
{
    char known[256] = "";
    for (int k = 0; k < RP_MATERIAL_KINDS; k++) {
        if (strcmp(classes[k]->info.name, name) == 0) {
            *kind = (rp_material_kind)k;
            return RP_OK;
        }
        const size_t used = strlen(known);
        const bool named = classes[k]->info.example != NULL;
        snprintf(known + used, sizeof known - used, "%s%s", k > 0 && named ? ", " : "",
                 named ? classes[k]->info.name : "");
    }
    return rp_fail(RP_ERR_ARGUMENT, "there is no material '%s'; there are %s", name, known);
}

rp_material_def rp_default_material_def(rp_material_kind kind)
{
    const rp_material_class *class = rp_material_class_of(kind);
    RP_ASSERT(class != NULL);
    rp_material_def def = {.kind = kind, .cookie = RP_DEF_COOKIE};
    snprintf(def.name, sizeof def.name, "%s", class->info.name);
    rp_properties_reset(class->info.property, class->info.properties, &def);
    return def;
}

rp_material_def rp_default_sand_def(void) { return rp_default_material_def(RP_SAND); }

rp_material_def rp_default_elastic_def(void) { return rp_default_material_def(RP_ELASTIC); }

static rp_result check_kind(const rp_material_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(
            RP_ERR_ARGUMENT,
            "material: start from rp_default_material_def(), rp_default_sand_def() or another of "
            "its kind");
    }
    if (rp_material_class_of(def->kind) == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "material.kind: want 0 to %d, got %d",
                       RP_MATERIAL_KINDS - 1, (int)def->kind);
    }
    return RP_OK;
}

rp_result rp_material_check(const rp_material_def *def, int dim)
{
    RP_ASSERT(dim == 2 || dim == 3);
    RP_TRY(check_kind(def));
    const rp_material_class *class = rp_material_class_of(def->kind);
    RP_TRY(
        rp_properties_check(class->info.property, class->info.properties, def, class->info.name));
    return class->check != NULL ? class->check(def, dim) : RP_OK;
}

unsigned rp_material_needs(const rp_material_def *def)
{
    return rp_material_class_of(def->kind)->needs(def);
}

void rp_material_parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT])
{
    memset(out, 0, RP_PARAM_COUNT * sizeof *out);
    rp_material_class_of(def->kind)->parameters(def, dim, out);
}

rp_lame rp_lame_parameters(double young, double poisson)
{
    return (rp_lame){
        .lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
        .mu = young / (2.0 * (1.0 + poisson)),
    };
}

void rp_elastic_parameters(const rp_material_def *def, int dim, double out[RP_PARAM_COUNT])
{
    (void)dim;
    const rp_lame lame = rp_lame_parameters(def->young, def->poisson);
    out[RP_PARAM_LAMBDA] = lame.lambda;
    out[RP_PARAM_MU] = lame.mu;
    out[RP_PARAM_DENSITY] = def->density;
}

double rp_elastic_modulus(const rp_material_def *def, int dim)
{
    const rp_lame lame = rp_lame_parameters(def->young, def->poisson);
    return fmax(dim * lame.lambda, 0.0) + 2.0 * lame.mu;
}

// ---- what a law says of particles ----

// What the list of columns says of those that laws keep: scalars and symmetric tensors.
enum { SCALAR = 1, VECTOR = 3, MATRIX = 9, SYMMETRIC = 6 }; // components in space
static const struct {
    int comps;
    double neutral;
} facts[RP_COL_COUNT] = {
#define FACT(id, name, kind, shape, neutral, unit, sentence) [RP_COL_##id] = {shape, neutral},
    RP_COLUMNS(FACT)};

// The law in three dimensions, in double, in plain C, which every build has: a state of plane
// strain is one of space, and brings the stress across the plane with it.
typedef struct asking {
    const rp_law *law;
    int dim; // of the state
    const rp_material_state *state;
    _Alignas(64) double parameter[RP_PARAM_COUNT][RP_LANES];
    _Alignas(64) double column[RP_COL_COUNT][9][RP_LANES];
    rp_law_tile tile;
} asking;

static rp_result start(asking *a, const rp_material_def *def, int dim, const rp_material_state *s)
{
    double p[RP_PARAM_COUNT];
    RP_ASSERT(dim == 2 || dim == 3);
    RP_TRY(check_kind(def));
    *a = (asking){.law = rp_laws_find(3, 64, RP_ISA_PLAIN)[def->kind], .dim = dim, .state = s};
    rp_material_parameters(def, dim, p);
    for (int k = 0; k < RP_PARAM_COUNT; k++) {
        for (int l = 0; l < RP_LANES; l++) {
            a->parameter[k][l] = p[k];
        }
    }
    a->tile.parameter = a->parameter;
    const unsigned needs = rp_material_needs(def);
    for (int c = 0; c < RP_COL_COUNT; c++) {
        a->tile.column[c] = needs >> c & 1 ? a->column[c] : NULL;
    }
    return RP_OK;
}

// Sixteen particles from `first` on; lanes past the last one repeat it.
static void load(asking *a, int64_t first, int64_t count)
{
    static const int flat[3] = {0, 1, 3}; // xx yy xy among xx yy zz xy xz yz
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const double *from = a->state->column[c];
        const bool planar = a->dim == 2 && facts[c].comps == SYMMETRIC;
        const int comps = planar ? 3 : facts[c].comps;
        for (int k = 0; k < facts[c].comps && a->tile.column[c] != NULL; k++) {
            for (int l = 0; l < RP_LANES; l++) {
                a->column[c][k][l] = facts[c].neutral;
            }
        }
        for (int k = 0; k < comps && a->tile.column[c] != NULL && from != NULL; k++) {
            for (int l = 0; l < RP_LANES; l++) {
                const int64_t i = first + l < count ? first + l : count - 1;
                a->column[c][planar ? flat[k] : k][l] = from[i * comps + k];
            }
        }
    }
}

// A law's function of one tile, for all particles. @param comps of its result
static rp_result ask(const rp_material_def *def, int dim, const rp_material_state *state,
                     int64_t count, bool energy, int comps, double *out)
{
    asking a;
    RP_TRY(start(&a, def, dim, state));
    for (int64_t first = 0; first < count; first += RP_LANES) {
        _Alignas(64) double answer[6][RP_LANES] = {{0}};
        if (a.law->stress != NULL) {
            load(&a, first, count);
            (energy ? a.law->energy : a.law->stress)(&a.tile, answer);
        }
        for (int64_t i = first; i < first + RP_LANES && i < count; i++) {
            for (int k = 0; k < comps; k++) {
                out[i * comps + k] = answer[k][i - first];
            }
        }
    }
    return RP_OK;
}

rp_result rp_material_stress(const rp_material_def *def, int dim, const rp_material_state *state,
                             int64_t count, double (*out)[6])
{
    return ask(def, dim, state, count, false, 6, (double *)out);
}

rp_result rp_material_energy(const rp_material_def *def, int dim, const rp_material_state *state,
                             int64_t count, double *out)
{
    return ask(def, dim, state, count, true, 1, out);
}

rp_result rp_material_volume(const rp_material_def *def, int dim, const rp_material_state *state,
                             int64_t count, double *out)
{
    RP_TRY(check_kind(def));
    const unsigned needs = rp_material_needs(def);
    const double *J = needs >> RP_COL_VOLUME_RATIO & 1 ? state->column[RP_COL_VOLUME_RATIO] : NULL;
    const double *h = needs >> RP_COL_STRAIN & 1 ? state->column[RP_COL_STRAIN] : NULL;
    const int gained = rp_material_class_of(def->kind)->gained;
    const double *v = gained != 0 ? state->column[gained] : NULL;
    for (int64_t i = 0; i < count; i++) {
        const double *own = h != NULL ? h + i * (dim * (dim + 1) / 2) : NULL;
        const double trace = own != NULL ? own[0] + own[1] + (dim == 3 ? own[2] : 0.0) : 0.0;
        out[i] = J != NULL ? J[i] : exp(v != NULL ? trace + v[i] : trace);
    }
    return RP_OK;
}

double rp_pressure_of(const double stress[6], int dim)
{
    return (0.0 - (stress[0] + stress[1] + (dim == 3 ? stress[2] : 0.0))) / dim; // no -0
}
