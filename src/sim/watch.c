#include "sim/watch.h"

#include "base/result.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Times what is accounted for: steps that are finite stay far below.
static const double TOLD = 2.0;

static void start_frame(rp_world *world, const rp_totals *t)
{
    rp_watch *w = &world->watch;
    w->energy = t->kinetic + t->elastic + rp_world_affine(world);
    w->work = 0.0;
    w->mass = t->mass;
    memcpy(w->momentum, t->momentum, sizeof w->momentum);
}

void rp_watch_begin(rp_world *world, const rp_totals *totals)
{
    world->watch = (rp_watch){0};
    start_frame(world, totals);
}

void rp_watch_births(rp_world *world, double mass, const double velocity[3])
{
    rp_watch *w = &world->watch;
    w->mass += mass;
    for (int a = 0; a < 3; a++) {
        w->momentum[a] += mass * velocity[a];
        w->work += 0.5 * mass * velocity[a] * velocity[a];
    }
}

static void count_births(rp_world *world, const double *layers)
{
    for (int i = 0; i < world->emitters; i++) {
        const rp_emitter *e = &world->emitter[i];
        const double grains = (world->layers[i] - layers[i]) * e->sites;
        if (!e->moves) { // mouths that move count their own
            rp_watch_births(world, grains * e->volume * world->material[e->material.index].density,
                            e->velocity);
        }
    }
}

void rp_watch_step(rp_world *world, const rp_step *step, const double *layers)
{
    rp_watch *w = &world->watch;
    const double *before = w->momentum;
    double after[3];
    count_births(world, layers);
    for (int a = 0; a < 3; a++) {
        const double gravity = a < world->def.dimension ? step->gravity[a] : 0.0;
        after[a] = before[a] + w->mass * gravity * step->dt + step->drive.momentum[a];
    }
    for (int i = 0; i < world->colliders; i++) {
        const rp_body *b = &world->body[i];
        const rp_impulse *met = &world->company.met[i]; // stays 0 without free bodies
        for (int a = 0; a < 3; a++) {
            const double taken = b->given.linear[a] - met->linear[a];
            const double turned = b->given.angular[a] - met->angular[a];
            after[a] -= taken;
            w->work -=
                b->collider->morph != NULL ? 0.0 : taken * b->velocity[a] + turned * b->spin[a];
        }
        w->work += b->collider->morph != NULL ? b->worked : 0.0;
    }
    w->work += step->drive.energy;
    for (int a = 0; a < world->def.dimension; a++) {
        w->work += 0.5 * step->dt * step->gravity[a] * (before[a] + after[a]);
        w->momentum[a] = after[a];
    }
}

// Energy that nobody would see: a hundredth of a cell a frame, and a hundredth of a cell up, of
// the particles and of bodies that they may carry.
static double hardly_any(const rp_world *world, const double gravity[3], double mass)
{
    for (int i = 0; i < world->rigids; i++) {
        mass += world->body[world->rigid[i].collider].mass;
    }
    const double creep = 0.01 * world->def.dx * world->def.fps;
    const double g =
        sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]);
    return mass * (0.5 * creep * creep + 0.01 * world->def.dx * g);
}

static void advise(const rp_world *world, char out[160])
{
    const bool elastic = world->solver->info.regard[RP_FEATURE_ELASTIC_SHARE] == RP_HONOURED;
    if (elastic && world->def.elastic_share > 1.0) {
        snprintf(out, 160, "elastic_share is %g, and steps longer than 1 are not stable: want 0.8",
                 world->def.elastic_share);
    } else if (elastic) {
        snprintf(out, 160, "try half of elastic_share (now %g) or of cfl (now %g)",
                 world->def.elastic_share, world->def.cfl);
    } else {
        snprintf(out, 160, "try half of cfl (now %g), or a dt_max below %.2g s", world->def.cfl,
                 world->stats.dt);
    }
}

rp_result rp_watch_frame(rp_world *world, const rp_totals *totals, double limit)
{
    rp_watch *w = &world->watch;
    const double began = w->energy, work = w->work;
    double gravity[3];
    RP_TRY(rp_world_gravity(world, gravity));
    start_frame(world, totals);
    if (!(w->surplus > 0.0)) {
        w->account = w->most = began;
    }
    w->account += work;
    w->most = fmax(w->most, w->account);
    const double more = w->surplus + w->energy - began - work;
    w->surplus = more <= 0.0 ? 0.0 : more; // what is no number stays none, and is too much
    const double least = hardly_any(world, gravity, totals->mass), base = fmax(w->most, least);
    const double times = w->surplus == 0.0 ? 1.0 : 1.0 + w->surplus / base;
    char advice[160], sentence[256];
    advise(world, advice);
    snprintf(sentence, sizeof sentence,
             "by t = %g s (frame %lld) the particles have %.3g times the energy that they had and "
             "that gravity, emitters and colliders brought in",
             rp_world_time(world), (long long)world->time.frame, times);
    if (limit > 0.0 && !(times <= limit)) {
        world->failed = true;
        world->failure = (rp_failure){
            .particle = RP_NO_PARTICLE, .step = world->time.step, .dt = world->stats.dt};
        memcpy(world->failure.limiter, world->stats.limiter, sizeof world->failure.limiter);
        return rp_fail(RP_ERR_DIVERGED, "%s, and energy_limit is %g: %s", sentence, limit, advice);
    }
    if (limit > 0.0 && times > TOLD && w->told == 0.0) {
        w->told = 1.0;
        rp_log(RP_LOG_WARNING, "%s: the run is blowing up; %s", sentence, advice);
    }
    return RP_OK;
}
