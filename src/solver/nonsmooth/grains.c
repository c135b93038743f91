// From particles to sums at nodes.
#include "model/material.h"
#include "model/sand.h"
#include "solver/nonsmooth/loops.h"

#include <string.h>

// Where in its cell a particle is. A set that has just been sorted has all particles in the cells
// of their blocks, up to rounding on the far face.
static int place_of(const rp_set *set, rp_local slot, double at[3])
{
    const rp_layout *l = &set->layout;
    int cell = 0;
    for (int a = 0; a < l->dim; a++) {
        const void *x = rp_set_at(set, RP_COL_POSITION, slot, a);
        const double place =
            l->precision == RP_SINGLE ? (double)*(const int32_t *)x * 0x1p-26 : *(const double *)x;
        double whole = floor(place);
        whole = whole < 0.0 ? 0.0 : whole < l->cells[a] ? whole : l->cells[a] - 1.0;
        at[a] = place - whole;
        cell = cell * l->cells[a] + (int)whole;
    }
    return l->dim == 2 ? cell * l->cells[2] : cell;
}

// The rate of shear of a gradient of velocity: sqrt(2 dev D : dev D).
static double shear_of(int dim, const double *slope)
{
    double mean = 0.0, sum = 0.0;
    for (int a = 0; a < dim; a++) {
        mean += slope[a * dim + a] / dim;
    }
    for (int a = 0; a < dim; a++) {
        for (int b = 0; b < dim; b++) {
            const double d = 0.5 * (slope[a * dim + b] + slope[b * dim + a]) - (a == b) * mean;
            sum += d * d;
        }
    }
    return sqrt(2.0 * sum);
}

// The pressure that is missing to the tip of a cohesive grain's cone, theory (G8). What shear has
// broken in the last step is lost.
static double glue_of(const loops *l, const rp_set *set, rp_local slot, double cohesion,
                      const rp_grain *g)
{
    const options *o = l->step->option;
    void *at = rp_set_at(set, RP_COL_BOND, slot, 0);
    const double bond = real_of(set, RP_COL_BOND, slot, 0) /
                        (1.0 + o->debonding * g->shear * l->step->dt / l->time);
    if (set->layout.precision == RP_SINGLE) {
        *(float *)at = (float)bond;
    } else {
        *(double *)at = bond;
    }
    return 0.5 * sqrt(set->layout.dim) / fmax(g->friction, 0.01) * bond * cohesion / l->pressure;
}

void rp_loops_grains(void *context, int64_t page_index, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_set *set = &l->step->set[l->set];
    const rp_layout *layout = &set->layout;
    const rp_page *page = &rp_set_page(set)[page_index];
    const double(*group)[RP_GROUP_REALS] = l->step->species[l->set].group_doubles.data;
    uint32_t *first =
        l->cell + (l->first_page[l->set] + (size_t)page_index) * (size_t)(layout->nodes + 1);
    const double volume = l->h * l->h * (layout->dim == 3 ? l->h : 1.0), speed = l->h / l->time;
    int cell = -1;
    for (rp_local i = 0; i < page->count; i++) {
        const rp_local slot = page->first + i;
        const size_t index = l->first_grain[l->set] + (size_t)slot;
        rp_grain *g = &l->grain[index];
        const int here = place_of(set, slot, g->at);
        for (; cell < here; first[++cell] = (uint32_t)index) {
        }
        double mass, rest;
        rp_set_measure(set, page, slot, &mass, &rest);
        g->mass = mass / (l->density * volume);
        g->volume = rest / volume;
        const uint16_t of = *(const uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
        const double *own = group[of], fast = own[RP_PARAM_FAST_SLOPE];
        g->friction = rp_friction_coefficient(own[RP_PARAM_SLOPE], layout->dim);
        g->faster = fast > 0.0 ? rp_friction_coefficient(fast, layout->dim) - g->friction : 0.0;
        g->rate = sqrt(2.0 * l->pressure) * own[RP_PARAM_FAST_RATE] * l->time;
        for (int a = 0; a < layout->dim; a++) {
            g->velocity[a] = real_of(set, RP_COL_VELOCITY, slot, a) / speed;
        }
        for (int c = 0; c < layout->dim * layout->dim; c++) {
            g->slope[c] = real_of(set, RP_COL_AFFINE, slot, c) * l->time;
        }
        const bool sticks = own[RP_PARAM_COHESION] > 0.0;
        g->shear = g->faster > 0.0 || sticks ? shear_of(layout->dim, g->slope) : 0.0;
        g->glue = sticks ? glue_of(l, set, slot, own[RP_PARAM_COHESION], g) : 0.0;
    }
    const uint32_t end = (uint32_t)(l->first_grain[l->set] + (size_t)(page->first + page->count));
    for (; cell < layout->nodes; first[++cell] = end) {
    }
}

rp_grains rp_loops_around(const loops *l, int set, rp_local page)
{
    const rp_layout *layout = &l->step->grid->layout;
    rp_grains out = {.grain = l->grain};
    for (int side = 0; side < 8; side++) {
        const int x = side & 1, y = side >> 1 & 1, z = side >> 2;
        const uint32_t block = layout->dim == 2 && z > 0
                                   ? RP_NO_PAGE
                                   : l->near[page][(1 - x) * 9 + (1 - y) * 3 + 1 - z];
        const uint32_t from = block != RP_NO_PAGE ? l->inside[set][block] : RP_NO_PAGE;
        if (from != RP_NO_PAGE) {
            out.cell[side] =
                l->cell + (l->first_page[set] + (size_t)from) * (size_t)(layout->nodes + 1);
        }
    }
    return out;
}

void rp_loops_add(rp_node_sum *to, const rp_node_sum *from, int nodes)
{
    for (int n = 0; n < nodes; n++) {
        to[n].mass += from[n].mass;
        to[n].volume += from[n].volume;
        to[n].friction += from[n].friction;
        to[n].faster += from[n].faster;
        to[n].rate += from[n].rate;
        to[n].shear += from[n].shear;
        to[n].glue += from[n].glue;
        for (int a = 0; a < 3; a++) {
            to[n].momentum[a] += from[n].momentum[a];
        }
    }
}

void rp_loops_sums(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_grid *grid = l->step->grid;
    const int nodes = grid->layout.nodes;
    rp_node_sum *sum = l->sum + (size_t)page * (size_t)nodes, other[NODES_MOST];
    memset(sum, 0, (size_t)nodes * sizeof *sum);
    for (int s = 0; s < l->step->species_count; s++) {
        if (counts(&l->step->set[s])) {
            const rp_grains from = rp_loops_around(l, s, (rp_local)page);
            l->k->sum(&from, other);
            rp_loops_add(sum, other, nodes);
        }
    }
    const double mass = mass_unit(l);
    double dropped = 0.0;
    for (int n = 0; n < nodes; n++) {
        const bool light = !(sum[n].mass * mass > l->least);
        for (int a = 0; a < 3; a++) {
            write_node(grid, (rp_local)page, n, a, 0.0);
            dropped += light ? fabs(sum[n].momentum[a]) : 0.0;
        }
        write_node(grid, (rp_local)page, n, 3, light ? 0.0 : sum[n].mass * mass);
    }
    l->dropped[page] = dropped * mass * l->h / l->time;
}
