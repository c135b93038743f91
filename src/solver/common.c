#include "solver/common.h"

#include "base/clock.h"
#include "base/result.h"

#include <math.h>
#include <string.h>

void rp_stage_done(rp_step *step, int stage, double *since)
{
    const double now = rp_seconds();
    step->stats->seconds[stage] += now - *since;
    *since = now;
}

rp_result rp_sort_and_build(rp_step *step)
{
    bool build = false;
    for (int s = 0; s < step->species_count; s++) {
        build = build || (step->grid->pages == 0 && step->set[s].pages > 0);
        if (rp_set_wants_sort(&step->set[s])) {
            rp_grid_forget(step->grid); // of other pages from now on, also when a later sort fails
            RP_TRY(rp_set_sort(&step->set[s], &step->grid->arena[s], step->threads));
            step->stats->sorts++;
            build = true;
        }
    }
    return build ? rp_grid_build(step->grid, step->set, step->species_count) : RP_OK;
}

double rp_least_node_mass(const rp_step *step)
{
    double lightest = 0.0;
    for (int i = 0; i < step->species_count; i++) {
        const double mass = step->species[i].lightest;
        lightest = mass > 0.0 && (lightest == 0.0 || mass < lightest) ? mass : lightest;
    }
    return lightest * (step->grid->layout.precision == RP_SINGLE ? 1e-10 : 1e-20);
}

double rp_fall_rate(const rp_step *step)
{
    const double *g = step->gravity;
    return sqrt(sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) / step->grid->layout.h);
}

double rp_kept_share(const rp_step *step)
{
    if (step->transfer == RP_FLIP) {
        return step->flip;
    }
    const double rate = step->fade > 0.0 ? 1.0 / step->fade : rp_fall_rate(step);
    return exp(-step->dt * rate);
}

rp_result rp_find_push(const rp_step *step, double (**out)[3])
{
    const rp_grid *grid = step->grid;
    const rp_layout *layout = &grid->layout;
    *out = NULL;
    if (step->acceleration == NULL || step->acceleration->call == NULL) {
        return RP_OK;
    }
    double(*all)[3] =
        rp_scratch_get(step->scratch, (size_t)grid->pages * (size_t)layout->nodes * sizeof *all,
                       "the acceleration of nodes");
    if (all == NULL) {
        return RP_ERR_MEMORY;
    }
    const int32_t *cells = layout->cells;
    for (rp_local p = 0; p < grid->pages; p++) {
        const rp_node_page *page = &rp_grid_page(grid)[p];
        for (int n = 0; n < layout->nodes; n++) {
            const int32_t at[3] = {n / (cells[1] * cells[2]), n / cells[2] % cells[1],
                                   n % cells[2]};
            double x[3] = {0}, *push = all[(size_t)p * (size_t)layout->nodes + (size_t)n];
            for (int a = 0; a < layout->dim; a++) {
                x[a] = layout->h * ((double)page->block[a] * cells[a] + at[a]);
            }
            memset(push, 0, 3 * sizeof *push);
            RP_TRY(step->acceleration->call(step->acceleration->context, step->begin, x, push));
            for (int a = 0; a < layout->dim; a++) {
                push[a] *= step->dt;
                if (!isfinite(push[a])) {
                    return rp_fail(RP_ERR_ARGUMENT,
                                   "world.acceleration gave %g along axis %d at (%g, %g, %g) m",
                                   push[a] / step->dt, a, x[0], x[1], x[2]);
                }
            }
        }
    }
    *out = all;
    return RP_OK;
}
