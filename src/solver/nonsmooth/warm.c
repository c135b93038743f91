// Stresses from one step to the next.
#include "solver/nonsmooth/loops.h"

#include <string.h>

static int compare_warm(const rp_node_stress *w, uint64_t key, uint32_t field)
{
    return w->key != key       ? (w->key < key ? -1 : 1)
           : w->field != field ? (w->field < field ? -1 : 1)
                               : 0;
}

// Is it one that a step can have left? It may come out of a damaged state.
static bool can_be(const rp_node_stress *w, int nodes)
{
    bool good = w->node < (uint32_t)nodes;
    for (int i = 0; i < 6; i++) {
        good = good && isfinite(w->lambda[i]);
    }
    for (int i = 0; i < 12; i++) {
        good = good && isfinite(w->bend[i]);
    }
    return good;
}

void rp_loops_warm(const loops *l, rp_local page, const rp_node_stress *out[NODES_MOST])
{
    const rp_node_page *own = &rp_grid_page(l->step->grid)[page];
    const rp_node_stress *all = l->state->warm.data;
    rp_local low = 0, high = l->state->warms;
    memset(out, 0, sizeof *out * NODES_MOST);
    while (low < high) {
        const rp_local middle = low + (high - low) / 2;
        if (compare_warm(&all[middle], own->key, own->field) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < l->state->warms && compare_warm(&all[low], own->key, own->field) == 0; low++) {
        if (can_be(&all[low], l->step->grid->layout.nodes)) {
            out[all[low].node] = &all[low];
        }
    }
}

double rp_loops_kept(const rp_node_stress *w, int dim, int component)
{
    const int comps = rp_sym_comps(dim);
    return component < comps ? w->lambda[component] : (double)w->bend[component - comps];
}

void rp_loops_keep(const loops *l)
{
    const rp_friction_problem *f = &l->f;
    const rp_grid *grid = l->step->grid;
    nonsmooth_state *s = l->state;
    s->warms = 0;
    for (rp_local p = 0; p < grid->pages; p++) {
        double lambda[NODES_MOST][STRESS_MOST] = {{0}};
        for (rp_local c = f->page_chunk[p]; c < f->page_chunk[p + 1]; c++) {
            for (int lane = 0; lane < f->lanes[c]; lane++) {
                double *to = lambda[f->point[(size_t)c * RP_CHUNK + (size_t)lane] - 1];
                for (int i = 0; i < f->size; i++) {
                    to[i] = l->pressure *
                            f->lambda[((size_t)c * (size_t)f->size + (size_t)i) * RP_CHUNK +
                                      (size_t)lane];
                }
            }
        }
        for (int n = 0; n < grid->layout.nodes; n++) {
            if (lambda[n][0] > 0.0) {
                rp_node_stress *w = (rp_node_stress *)s->warm.data + s->warms++;
                *w = (rp_node_stress){.key = rp_grid_page(grid)[p].key,
                                      .field = rp_grid_page(grid)[p].field,
                                      .node = (uint32_t)n};
                const int comps = rp_sym_comps(f->dim);
                memcpy(w->lambda, lambda[n], (size_t)comps * sizeof *w->lambda);
                for (int i = comps; i < f->size; i++) {
                    w->bend[i - comps] = (float)lambda[n][i];
                }
            }
        }
    }
}
