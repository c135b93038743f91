// Free rigid bodies (Daviet and Bertails-Descoubes 2016, section 5): walls that the sweeps lead.
#include "base/result.h"
#include "solver/nonsmooth/loops.h"

#include <string.h>

// A node that a free body may press.
typedef struct loops_hold {
    rp_local grip;
    double mass;   // [kg]
    double arm[3]; // [m]
} loops_hold;

static void tell(const loops *l)
{
    for (int64_t i = 0; i < l->holds; i++) {
        const loops_hold *k = &l->hold[i];
        rp_friction_grip *grip = &l->f.grip[k->grip];
        double v[3];
        rp_led_velocity(&l->led, grip->collider, k->arm, false, v);
        for (int a = 0; a < l->f.dim; a++) {
            grip->velocity[a] = v[a] * l->time / l->h;
        }
    }
}

rp_result rp_loops_bodies_begin(loops *l)
{
    const rp_step *step = l->step;
    const rp_grid *grid = step->grid;
    RP_TRY(rp_led_find(&l->led, step));
    if (l->led.rigids.free == 0) {
        return RP_OK;
    }
    const size_t grips = (size_t)l->f.grips;
    l->hold = rp_scratch_get(step->scratch, (grips + 1) * sizeof *l->hold, "nodes near bodies");
    if (l->hold == NULL) {
        return RP_ERR_MEMORY;
    }
    for (rp_local i = 0; i < l->f.grips; i++) {
        const rp_friction_grip *grip = &l->f.grip[i];
        if (!step->collider[grip->collider].free) {
            continue;
        }
        const size_t place = l->place[grip->node - 1], nodes = (size_t)grid->layout.nodes;
        loops_hold *k = &l->hold[l->holds++];
        double x[3];
        *k = (loops_hold){.grip = i, .mass = l->sum[place].mass * mass_unit(l)};
        rp_layout_node(&grid->layout, rp_grid_page(grid)[place / nodes].block, (int)(place % nodes),
                       x);
        for (int a = 0; a < 3; a++) {
            k->arm[a] = x[a] - step->body[grip->collider].pose.position[a];
        }
    }
    RP_TRY(rp_led_begin(&l->led, step));
    tell(l);
    return RP_OK;
}

bool rp_loops_bodies_answer(void *context)
{
    static const double TOGETHER = 1e-4; // cells that a body may be taken elsewhere by a round
    loops *l = context;
    rp_led_clear(&l->led);
    for (int64_t i = 0; i < l->holds; i++) {
        const loops_hold *k = &l->hold[i];
        const rp_friction_grip *grip = &l->f.grip[k->grip];
        const double *change = l->f.u + (size_t)grip->at * 4;
        double back[3] = {0};
        for (int a = 0; a < l->f.dim; a++) {
            back[a] = -k->mass * change[a] * l->h / l->time;
        }
        rp_led_give(&l->led, grip->collider, k->arm, k->mass, back);
    }
    const double changed = rp_led_go_on(&l->led);
    tell(l);
    return changed * l->step->dt > TOGETHER * l->h;
}

void rp_loops_bodies_settle(loops *l)
{
    if (l->led.rigids.free == 0) {
        return;
    }
    (void)rp_loops_bodies_answer(l);
    for (int64_t i = 0; i < l->holds; i++) {
        const loops_hold *k = &l->hold[i];
        const rp_friction_grip *grip = &l->f.grip[k->grip];
        double *u = l->f.u + (size_t)grip->node * 4, *change = l->f.u + (size_t)grip->at * 4, v[3];
        if (change[0] == 0.0 && change[1] == 0.0 && change[2] == 0.0) {
            continue;
        }
        rp_led_velocity(&l->led, grip->collider, k->arm, true, v);
        for (int a = 0; a < l->f.dim; a++) {
            change[a] += v[a] * l->time / l->h;
            u[a] += v[a] * l->time / l->h;
        }
    }
}
