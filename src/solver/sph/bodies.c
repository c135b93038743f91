#include "solver/sph/bodies.h"

#include "base/result.h"
#include "base/three.h"

#include <math.h>
#include <string.h>

enum { UNKNOWNS = 6 };

static bool is_free(const rp_sph_bodies *b, int collider)
{
    return b->rigids.collider[collider].free;
}

rp_result rp_sph_bodies_find(rp_sph_bodies *b, const rp_step *step, const rp_sph_job *job)
{
    *b = (rp_sph_bodies){.wanted = step->dt};
    b->rigids.collider = step->collider;
    const size_t colliders = (size_t)step->colliders;
    for (size_t c = 0; c < colliders; c++) {
        b->rigids.free += step->collider[c].free;
    }
    if (b->rigids.free == 0) {
        return RP_OK;
    }
    static const char what[] = "particles near bodies";
    const uint32_t walls = job->walls[job->set->pages];
    b->came = rp_scratch_get(step->scratch, colliders * sizeof *b->came, what);
    b->alone = rp_scratch_get(step->scratch, colliders * sizeof *b->alone, what);
    b->unknown = rp_scratch_get(step->scratch, colliders * sizeof *b->unknown, what);
    b->last = rp_scratch_get(step->scratch, colliders * sizeof *b->last, what);
    b->sum = rp_scratch_get(step->scratch, colliders * sizeof *b->sum, what);
    b->grip = rp_scratch_get(step->scratch, walls * sizeof *b->grip + 1, what);
    if (b->came == NULL || b->alone == NULL || b->unknown == NULL || b->last == NULL ||
        b->sum == NULL || b->grip == NULL) {
        return RP_ERR_MEMORY;
    }
    memcpy(b->came, step->body, colliders * sizeof *b->came);
    for (rp_local p = 0; p < job->set->pages; p++) {
        const rp_page *page = &rp_set_page(job->set)[p];
        for (uint32_t w = job->walls[p]; w < job->walls[p + 1]; w++) {
            const rp_sph_wall *wall = &job->wall[w];
            if (!is_free(b, wall->collider)) {
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
        const double *u = b->unknown[g->collider];
        double turn[3];
        rp_cross(u + 3, g->arm, turn);
        for (int a = 0; a < 3; a++) {
            job->wall[g->wall].velocity[a] = u[a] + turn[a];
        }
    }
}

static void note(const rp_body *body, double out[UNKNOWNS])
{
    memcpy(out, body->velocity, sizeof body->velocity);
    memcpy(out + 3, body->spin, sizeof body->spin);
}

rp_result rp_sph_bodies_begin(rp_sph_bodies *b, const rp_step *step, const rp_sph_job *job)
{
    if (b->rigids.free == 0) {
        return RP_OK;
    }
    rp_body *body = step->body;
    memcpy(body, b->came, (size_t)step->colliders * sizeof *body);
    for (int c = 0; c < step->colliders; c++) {
        if (is_free(b, c) && step->dt != b->wanted) {
            rp_impulse less = step->company->pull[c];
            for (int a = 0; a < 3; a++) {
                less.linear[a] *= step->dt / b->wanted - 1.0;
                less.angular[a] *= step->dt / b->wanted - 1.0;
            }
            rp_body_take(&body[c], &less);
            body[c].given = (rp_impulse){0};
        }
    }
    RP_TRY(rp_rigids_gather(&b->rigids, step->company, step->collider, step->colliders, body,
                            step->dt, step->grid->layout.dim, job->set->allocator));
    rp_rigids_warm(&b->rigids);
    for (int c = 0; c < step->colliders; c++) {
        note(&body[c], b->alone[c]);
        note(&body[c], b->unknown[c]);
    }
    tell(b, job);
    return RP_OK;
}

// What one particle gives its body back, and how that would change if it went along with the body.
static void add_grip(const rp_sph_grip *g, const rp_sph_wall *w, double sum[42])
{
    double back[3], turn[3], (*K)[UNKNOWNS] = (double(*)[UNKNOWNS])(sum + UNKNOWNS);
    for (int a = 0; a < 3; a++) {
        back[a] = -g->mass * w->push[a];
    }
    if (back[0] == 0.0 && back[1] == 0.0 && back[2] == 0.0) {
        return;
    }
    rp_cross(g->arm, back, turn);
    const double *r = g->arm, m = g->mass, r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        sum[a] += back[a];
        sum[3 + a] += turn[a];
        K[a][a] += m;
        // velocity by turns is w x r, and momentum turns by r x it
        K[a][3 + b] += m * r[c];
        K[a][3 + c] -= m * r[b];
        K[3 + b][a] += m * r[c];
        K[3 + c][a] -= m * r[b];
        for (int k = 0; k < 3; k++) {
            K[3 + a][3 + k] += m * ((a == k ? r2 : 0.0) - r[a] * r[k]);
        }
    }
}

double rp_sph_bodies_answer(rp_sph_bodies *b, const rp_sph_job *job)
{
    if (b->rigids.free == 0) {
        return 0.0;
    }
    double changed = 0.0;
    const rp_body *body = b->rigids.meeting.body;
    memset(b->sum, 0, (size_t)b->rigids.colliders * sizeof *b->sum);
    for (int64_t i = 0; i < b->grips; i++) {
        add_grip(&b->grip[i], &job->wall[b->grip[i].wall], b->sum[b->grip[i].collider]);
    }
    for (int c = 0; c < b->rigids.colliders; c++) {
        if (is_free(b, c)) {
            memcpy(b->last[c], b->unknown[c], sizeof b->last[c]);
            changed = fmax(changed, rp_rigids_newton(&body[c], b->alone[c], b->sum[c],
                                                     (const double(*)[6])(b->sum[c] + UNKNOWNS),
                                                     b->unknown[c]));
        }
    }
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
        double last[UNKNOWNS], more[3];
        for (int k = 0; k < UNKNOWNS; k++) {
            last[k] = b->unknown[g->collider][k] - b->last[g->collider][k];
        }
        rp_cross(last + 3, g->arm, more);
        for (int a = 0; a < l->dim; a++) {
            const size_t at = (size_t)w->slot * 4 + (size_t)a;
            more[a] += last[a];
            w->push[a] += more[a];
            if (l->precision == RP_SINGLE) {
                ((float *)job->velocity)[at] += (float)more[a];
            } else {
                ((double *)job->velocity)[at] += more[a];
            }
        }
    }
}

void rp_sph_bodies_meet(rp_sph_bodies *b)
{
    if (b->rigids.free > 0) {
        rp_rigids_meet(&b->rigids);
    }
}
