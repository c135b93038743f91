#include "solver/blame.h"

#include "base/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Which particle of a bad page is to blame.
static rp_local find_guilty(const rp_set *set, const rp_page *page)
{
    rp_local guilty = page->first;
    double worst = -1.0;
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        double size = 0.0;
        for (int a = 0; a < set->column[RP_COL_VELOCITY].comps; a++) {
            size += fabs(rp_set_value(set, RP_COL_VELOCITY, slot, a, page));
        }
        for (int c = 0; c < set->column[RP_COL_STRAIN].comps; c++) {
            size += fabs(rp_set_value(set, RP_COL_STRAIN, slot, c, page));
        }
        size = isfinite(size) ? size : INFINITY;
        if (size > worst) {
            worst = size;
            guilty = slot;
        }
    }
    return guilty;
}

rp_result rp_solver_blame(const rp_step *step, const rp_set *set, rp_local page_index)
{
    const rp_page *page = &rp_set_page(set)[page_index];
    const rp_layout *l = &set->layout;
    const rp_local guilty = find_guilty(set, page);
    const uint16_t group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, guilty, 0);
    rp_failure *f = step->failure;
    *f = (rp_failure){.particle = *(uint64_t *)rp_set_at(set, RP_COL_ID, guilty, 0),
                      .material = {rp_set_group(set)[group].material},
                      .step = step->time.step,
                      .dt = step->dt};
    memcpy(f->limiter, step->stats->limiter, sizeof f->limiter);
    double v2 = 0.0, x[3] = {0};
    for (int a = 0; a < l->dim; a++) {
        const double v =
            rp_set_has_mass(set) ? rp_set_value(set, RP_COL_VELOCITY, guilty, a, page) : NAN;
        v2 += v * v;
        x[a] = rp_set_value(set, RP_COL_POSITION, guilty, a, page);
        // what is no place, or beyond all cells, is in none
        f->cell[a] = fabs(x[a] / l->h) < 0x1p62 ? (int64_t)floor(x[a] / l->h) : 0;
    }
    char body[24] = "";
    if (step->pairs != NULL) {
        snprintf(body, sizeof body, " and body %d", page->field);
    }
    return rp_fail(
        RP_ERR_DIVERGED,
        "particle %llu of material %d%s at (%g, %g, %g) m, in cell (%lld, %lld, %lld), has "
        "speed %g m/s after step %lld of dt %g s, bounded by %s: the state is no longer "
        "physical",
        (unsigned long long)f->particle, f->material.index, body, x[0], x[1], x[2],
        (long long)f->cell[0], (long long)f->cell[1], (long long)f->cell[2], sqrt(v2),
        (long long)f->step, f->dt, f->limiter);
}
