#include "solver/led.h"

#include "base/result.h"
#include "base/three.h"

#include <math.h>
#include <string.h>

enum { UNKNOWNS = 6 };

rp_result rp_led_find(rp_led *led, const rp_step *step)
{
    *led = (rp_led){.wanted = step->dt, .rigids.collider = step->collider};
    const size_t colliders = (size_t)step->colliders;
    for (size_t c = 0; c < colliders; c++) {
        led->rigids.free += step->collider[c].free;
    }
    if (led->rigids.free == 0) {
        return RP_OK;
    }
    static const char what[] = "free bodies";
    led->came = rp_scratch_get(step->scratch, colliders * sizeof *led->came, what);
    led->alone = rp_scratch_get(step->scratch, colliders * sizeof *led->alone, what);
    led->unknown = rp_scratch_get(step->scratch, colliders * sizeof *led->unknown, what);
    led->last = rp_scratch_get(step->scratch, colliders * sizeof *led->last, what);
    led->sum = rp_scratch_get(step->scratch, colliders * sizeof *led->sum, what);
    if (led->came == NULL || led->alone == NULL || led->unknown == NULL || led->last == NULL ||
        led->sum == NULL) {
        return RP_ERR_MEMORY;
    }
    memcpy(led->came, step->body, colliders * sizeof *led->came);
    return RP_OK;
}

static void note(const rp_body *body, double out[UNKNOWNS])
{
    memcpy(out, body->velocity, sizeof body->velocity);
    memcpy(out + 3, body->spin, sizeof body->spin);
}

rp_result rp_led_begin(rp_led *led, const rp_step *step)
{
    if (led->rigids.free == 0) {
        return RP_OK;
    }
    rp_body *body = step->body;
    memcpy(body, led->came, (size_t)step->colliders * sizeof *body);
    for (int c = 0; c < step->colliders; c++) {
        if (step->collider[c].free && step->dt != led->wanted) {
            rp_impulse less = step->company->pull[c];
            for (int a = 0; a < 3; a++) {
                less.linear[a] *= step->dt / led->wanted - 1.0;
                less.angular[a] *= step->dt / led->wanted - 1.0;
            }
            rp_body_take(&body[c], &less);
            body[c].given = (rp_impulse){0};
        }
    }
    RP_TRY(rp_rigids_gather(&led->rigids, step->company, step->collider, step->colliders, body,
                            step->dt, step->grid->layout.dim, step->grid->allocator));
    rp_rigids_warm(&led->rigids);
    for (int c = 0; c < step->colliders; c++) {
        note(&body[c], led->alone[c]);
        note(&body[c], led->unknown[c]);
        note(&body[c], led->last[c]);
    }
    return RP_OK;
}

void rp_led_velocity(const rp_led *led, int collider, const double arm[3], bool by_last,
                     double out[3])
{
    double u[UNKNOWNS], turn[3];
    for (int k = 0; k < UNKNOWNS; k++) {
        u[k] = led->unknown[collider][k] - (by_last ? led->last[collider][k] : 0.0);
    }
    rp_cross(u + 3, arm, turn);
    for (int a = 0; a < 3; a++) {
        out[a] = u[a] + turn[a];
    }
}

void rp_led_clear(rp_led *led)
{
    memset(led->sum, 0, (size_t)led->rigids.colliders * sizeof *led->sum);
}

void rp_led_give(rp_led *led, int collider, const double arm[3], double mass, const double back[3])
{
    double turn[3], *sum = led->sum[collider];
    double(*K)[UNKNOWNS] = (double(*)[UNKNOWNS])(sum + UNKNOWNS);
    if (back[0] == 0.0 && back[1] == 0.0 && back[2] == 0.0) {
        return;
    }
    rp_cross(arm, back, turn);
    const double *r = arm, r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        sum[a] += back[a];
        sum[3 + a] += turn[a];
        // a turn w moves it by w x r, and its momentum turns by r x it
        K[a][a] += mass;
        K[a][3 + b] += mass * r[c];
        K[a][3 + c] -= mass * r[b];
        K[3 + b][a] += mass * r[c];
        K[3 + c][a] -= mass * r[b];
        for (int k = 0; k < 3; k++) {
            K[3 + a][3 + k] += mass * ((a == k ? r2 : 0.0) - r[a] * r[k]);
        }
    }
}

double rp_led_go_on(rp_led *led)
{
    double changed = 0.0;
    for (int c = 0; c < led->rigids.colliders; c++) {
        if (led->rigids.collider[c].free) {
            memcpy(led->last[c], led->unknown[c], sizeof led->last[c]);
            changed = fmax(changed, rp_rigids_newton(&led->rigids.meeting.body[c], led->alone[c],
                                                     led->sum[c],
                                                     (const double(*)[6])(led->sum[c] + UNKNOWNS),
                                                     led->unknown[c]));
        }
    }
    return changed;
}

void rp_led_meet(rp_led *led)
{
    if (led->rigids.free > 0) {
        rp_rigids_meet(&led->rigids);
    }
}
