#include "solver/sph/bodies.h"

#include "base/result.h"

rp_result rp_sph_bodies_find(rp_sph_bodies *b, const rp_step *step, const rp_sph_job *job)
{
    *b = (rp_sph_bodies){0};
    RP_TRY(rp_led_find(&b->led, step));
    if (b->led.rigids.free == 0) {
        return RP_OK;
    }
    const uint32_t walls = job->walls[job->set->pages];
    b->grip = rp_scratch_get(step->scratch, walls * sizeof *b->grip + 1, "particles near bodies");
    if (b->grip == NULL) {
        return RP_ERR_MEMORY;
    }
    for (rp_local p = 0; p < job->set->pages; p++) {
        const rp_page *page = &rp_set_page(job->set)[p];
        for (uint32_t w = job->walls[p]; w < job->walls[p + 1]; w++) {
            const rp_sph_wall *wall = &job->wall[w];
            if (!step->collider[wall->collider].free) {
                continue;
            }
            rp_sph_grip *g = &b->grip[b->grips++];
            double volume;
            *g = (rp_sph_grip){.wall = w, .collider = wall->collider};
            rp_set_measure(job->set, page, wall->slot, &g->mass, &volume);
            for (int a = 0; a < 3; a++) {
                g->arm[a] = wall->at[a] - step->body[wall->collider].pose.position[a];
            }
        }
    }
    return RP_OK;
}

// Walls go as their bodies do.
static void tell(const rp_sph_bodies *b, const rp_sph_job *job)
{
    for (int64_t i = 0; i < b->grips; i++) {
        const rp_sph_grip *g = &b->grip[i];
        rp_led_velocity(&b->led, g->collider, g->arm, false, job->wall[g->wall].velocity);
    }
}

rp_result rp_sph_bodies_begin(rp_sph_bodies *b, const rp_step *step, const rp_sph_job *job)
{
    RP_TRY(rp_led_begin(&b->led, step));
    tell(b, job);
    return RP_OK;
}

double rp_sph_bodies_answer(rp_sph_bodies *b, const rp_sph_job *job)
{
    if (b->led.rigids.free == 0) {
        return 0.0;
    }
    rp_led_clear(&b->led);
    for (int64_t i = 0; i < b->grips; i++) {
        const rp_sph_grip *g = &b->grip[i];
        const double *push = job->wall[g->wall].push;
        const double back[3] = {-g->mass * push[0], -g->mass * push[1], -g->mass * push[2]};
        rp_led_give(&b->led, g->collider, g->arm, g->mass, back);
    }
    const double changed = rp_led_go_on(&b->led);
    tell(b, job);
    return changed;
}

void rp_sph_bodies_settle(const rp_sph_bodies *b, const rp_sph_job *job)
{
    const rp_layout *l = &job->set->layout;
    for (int64_t i = 0; i < b->grips; i++) {
        const rp_sph_grip *g = &b->grip[i];
        rp_sph_wall *w = &job->wall[g->wall];
        if (w->push[0] == 0.0 && w->push[1] == 0.0 && w->push[2] == 0.0) {
            continue;
        }
        double more[3];
        rp_led_velocity(&b->led, g->collider, g->arm, true, more);
        for (int a = 0; a < l->dim; a++) {
            const size_t at = (size_t)w->slot * 4 + (size_t)a;
            w->push[a] += more[a];
            if (l->precision == RP_SINGLE) {
                ((float *)job->velocity)[at] += (float)more[a];
            } else {
                ((double *)job->velocity)[at] += more[a];
            }
        }
    }
}
