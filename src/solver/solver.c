#include "solver/solver.h"

#include "base/result.h"

#include <stdio.h>
#include <string.h>

extern const rp_solver rp_solver_explicit, rp_solver_implicit, rp_solver_mixture,
    rp_solver_nonsmooth, rp_solver_sph;

enum { SOLVERS_MOST = 8 };
static const rp_solver *solvers[SOLVERS_MOST] = {&rp_solver_explicit, &rp_solver_implicit,
                                                 &rp_solver_mixture, &rp_solver_nonsmooth,
                                                 &rp_solver_sph};
static int solver_count = 5;

void rp_solver_add(const rp_solver *solver)
{
    RP_ASSERT(solver_count < SOLVERS_MOST);
    solvers[solver_count++] = solver;
}

const rp_solver *rp_solver_find(const char *name)
{
    for (int i = 0; i < solver_count; i++) {
        if (strcmp(solvers[i]->info.name, name) == 0) {
            return solvers[i];
        }
    }
    return NULL;
}

int rp_methods(void) { return solver_count; }

const rp_method_info *rp_method_at(int index)
{
    RP_ASSERT(index >= 0 && index < rp_methods());
    return &solvers[index]->info;
}

rp_result rp_method_named(const char *name, const rp_method_info **method)
{
    char list[256] = "";
    *method = NULL;
    for (int i = 0; i < rp_methods(); i++) {
        const rp_method_info *m = rp_method_at(i);
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s%s", i > 0 ? ", " : "", m->name,
                 m->built ? "" : " (not built yet)");
        if (strcmp(m->name, name) == 0) {
            *method = m;
        }
    }
    if (*method != NULL && (*method)->built) {
        return RP_OK;
    }
    const bool known = *method != NULL;
    *method = NULL;
    return rp_fail(RP_ERR_ARGUMENT, "method: %s '%s'; there are %s",
                   known ? "not built yet:" : "no method", name, list);
}

#define NAME(id, name, sentence)     [RP_FEATURE_##id] = name,
#define SENTENCE(id, name, sentence) [RP_FEATURE_##id] = sentence,
static const char *const feature_names[RP_FEATURE_COUNT] = {RP_FEATURES(NAME)};
static const char *const feature_sentences[RP_FEATURE_COUNT] = {RP_FEATURES(SENTENCE)};

const char *rp_feature_name(rp_feature feature) { return feature_names[feature]; }

const char *rp_feature_sentence(rp_feature feature) { return feature_sentences[feature]; }

rp_result rp_method_check_material(const rp_method_info *m, rp_material_kind kind)
{
    if (m->materials >> kind & 1) {
        return RP_OK;
    }
    char list[256] = "";
    for (int k = 0; k < RP_MATERIAL_KINDS; k++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s",
                 !(m->materials >> k & 1) ? ""
                 : used > 0               ? ", "
                                          : "",
                 m->materials >> k & 1 ? rp_material_info_of((rp_material_kind)k)->name : "");
    }
    return rp_fail(RP_ERR_UNSUPPORTED, "method %s cannot simulate material.%s; it can %s", m->name,
                   rp_material_info_of(kind)->name, list);
}

rp_result rp_method_check(const rp_method_info *m, uint64_t features, char *remark, size_t size)
{
    remark[0] = '\0';
    for (int f = 0; f < RP_FEATURE_COUNT; f++) {
        if (!(features >> f & 1)) {
            continue;
        }
        if (m->regard[f] == RP_IMPOSSIBLE) {
            return rp_fail(RP_ERR_UNSUPPORTED, "method %s cannot simulate %s (%s)%s%s", m->name,
                           feature_names[f], feature_sentences[f], m->why[f] != NULL ? ": " : "",
                           m->why[f] != NULL ? m->why[f] : "");
        }
        if (m->regard[f] == RP_MEANINGLESS) {
            const size_t used = strlen(remark);
            snprintf(remark + used, size - used, "%s%s",
                     used > 0 ? ", " : "without meaning for this method: ", feature_names[f]);
        }
    }
    return RP_OK;
}
