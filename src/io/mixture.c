#include "io/mixture.h"

#include "base/result.h"
#include "core/set.h"

#include <stdlib.h>
#include <string.h>

enum { ANSWER = 7 }; // numbers of stress and volume

rp_result rp_mixture_open(rp_mixture *m, const rp_material_def *material, int materials, int dim,
                          int64_t most)
{
    *m = (rp_mixture){.materials = materials, .dim = dim, .most = most};
    m->material = malloc(((size_t)materials + 1) * sizeof *m->material);
    if (m->material == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: materials");
    }
    if (materials > 0) {
        memcpy(m->material, material, (size_t)materials * sizeof *material);
    }
    const unsigned needs = rp_mixture_needs(m);
    size_t each = ANSWER;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        each += (needs >> c & 1) != 0 ? (size_t)rp_mixture_comps(m, c) : 0;
    }
    m->gathered = malloc((size_t)most * each * sizeof *m->gathered);
    if (m->gathered == NULL) {
        rp_mixture_close(m);
        return rp_fail(RP_ERR_MEMORY, "out of memory: columns for the laws of materials");
    }
    return RP_OK;
}

void rp_mixture_close(rp_mixture *m)
{
    free(m->material);
    free(m->gathered);
    *m = (rp_mixture){0};
}

int rp_mixture_comps(const rp_mixture *m, rp_column_id column)
{
    return rp_layout_comps(&(rp_layout){.dim = m->dim}, column);
}

unsigned rp_mixture_needs(const rp_mixture *m)
{
    unsigned needs = 0;
    for (int k = 0; k < m->materials; k++) {
        needs |= rp_material_needs(&m->material[k]);
    }
    return needs;
}

// What has lost its group counts as of the first material: it is gone with the next step, and a
// number that is none would spoil the range of colours.
static int material_of(uint16_t material) { return material == RP_GROUP_DEAD ? 0 : material; }

static rp_result ask_one(const rp_mixture *m, int k, const uint16_t *material,
                         const rp_material_state *all, int64_t count, double (*stress)[6],
                         double *log_ratio)
{
    const rp_material_def *def = &m->material[k];
    const unsigned needs = rp_material_needs(def);
    rp_material_state own = {{NULL}};
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        n += material_of(material[i]) == k;
    }
    double(*tau)[6] = (double(*)[6])m->gathered;
    double *volume = m->gathered + 6 * n, *at = volume + n;
    for (int c = 0; c < RP_COL_COUNT && n > 0; c++) {
        if ((needs >> c & 1) == 0 || all->column[c] == NULL) {
            continue;
        }
        const int comps = rp_mixture_comps(m, c);
        own.column[c] = at;
        for (int64_t i = 0; i < count; i++) {
            if (material_of(material[i]) == k) {
                memcpy(at, all->column[c] + i * comps, (size_t)comps * sizeof *at);
                at += comps;
            }
        }
    }
    RP_TRY(rp_material_stress(def, m->dim, &own, n, tau));
    RP_TRY(rp_material_volume(def, m->dim, &own, n, volume));
    for (int64_t i = 0, from = 0; i < count; i++) {
        if (material_of(material[i]) == k) {
            log_ratio[i] = log(volume[from]);
            for (int c = 0; c < 6; c++) {
                stress[i][c] = tau[from][c] / volume[from];
            }
            from++;
        }
    }
    return RP_OK;
}

rp_result rp_mixture_ask(const rp_mixture *m, const uint16_t *material,
                         const rp_material_state *state, int64_t count, double (*stress)[6],
                         double *log_ratio)
{
    RP_ASSERT(count <= m->most);
    for (int k = 0; k < m->materials; k++) {
        RP_TRY(ask_one(m, k, material, state, count, stress, log_ratio));
    }
    return RP_OK;
}
