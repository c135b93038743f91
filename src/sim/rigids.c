// Free rigid bodies of a world: how they come into it, and how a step takes them along.
#include "base/result.h"
#include "base/text.h"
#include "shape/class.h"
#include "sim/world.h"

#include <stdio.h>
#include <string.h>

rp_rigid_def rp_default_rigid_def(void)
{
    return (rp_rigid_def){.contact = RP_SEPARATE,
                          .friction = 0.5,
                          .look = RP_LOOK_SOLID,
                          .color = {0.62, 0.64, 0.66},
                          .cookie = RP_DEF_COOKIE};
}

static rp_result check_numbers(const char *name, const double x[3], int dim)
{
    for (int a = 0; a < dim; a++) {
        if (!isfinite(x[a])) {
            return rp_fail(RP_ERR_ARGUMENT, "%s[%d]: want a finite number, got %g", name, a, x[a]);
        }
    }
    return RP_OK;
}

static rp_result check_def(const rp_world *world, const rp_rigid_def *def)
{
    const int dim = world->def.dimension;
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "rigid: start from rp_default_rigid_def()");
    }
    RP_TRY(rp_world_honours(world, RP_FEATURE_RIGID));
    if (!rp_comm_alone(world->comm)) {
        return rp_fail(RP_ERR_UNSUPPORTED, "rigid: not yet in a world that is cut into ranks");
    }
    if (def->shape == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "rigid.shape: want a shape, got NULL");
    }
    RP_TRY(rp_shape_check_still("rigid.shape", def->shape));
    for (int i = 0; i < world->colliders; i++) {
        if (world->collider[i].morph != NULL) {
            return rp_fail(RP_ERR_UNSUPPORTED, RP_NO_RIGIDS, def->name != NULL ? def->name : "",
                           world->collider[i].name);
        }
    }
    const double weight = def->mass != 0.0 ? def->mass : def->density;
    if ((def->mass != 0.0) == (def->density != 0.0) || !(weight > 0.0 && isfinite(weight))) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "rigid.mass: want > 0 kg, or rigid.density > 0 kg/m^3, and not both, got "
                       "mass %g and density %g",
                       def->mass, def->density);
    }
    if (!(def->restitution >= 0.0 && def->restitution <= 1.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "rigid.restitution: want 0 to 1, got %g", def->restitution);
    }
    if (!(def->friction >= 0.0 && isfinite(def->friction))) { // sticky to sand, not to other bodies
        return rp_fail(RP_ERR_ARGUMENT, "rigid.friction: want >= 0, got %g", def->friction);
    }
    RP_TRY(check_numbers("rigid.velocity", def->velocity, dim));
    RP_TRY(check_numbers("rigid.spin", def->spin, 3));
    RP_TRY(check_numbers("rigid.force", def->force, dim));
    RP_TRY(check_numbers("rigid.torque", def->torque, 3));
    for (int i = 0; i < world->colliders && def->name != NULL; i++) {
        if (strcmp(world->collider[i].name, def->name) == 0) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "rigid.name: want one that no other body or collider has, got '%s'",
                           def->name);
        }
    }
    return RP_OK;
}

// Mass and inertia of a shape of this volume and second moments: I = m (tr S 1 - S).
static void inertia_of(double mass, int dim, const double S[3][3], double out[3][3])
{
    const double trace = S[0][0] + S[1][1] + S[2][2];
    memset(out, 0, 9 * sizeof out[0][0]);
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            if (dim == 3 || (a == 2 && b == 2)) {
                out[a][b] = mass * ((a == b ? trace : 0.0) - S[a][b]);
            }
        }
    }
}

// The shape about its own centre of mass, which is what turns.
static rp_result make_centered(const rp_world *world, const rp_rigid_def *def,
                               rp_shape_moments *moments, rp_shape **out)
{
    const int dim = world->def.dimension;
    RP_TRY(rp_shape_find_moments(def->shape, dim, moments));
    if (!(moments->volume > 0.0 && isfinite(moments->volume))) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "rigid.shape: want one with a finite volume, got one of %g %s",
                       moments->volume, dim == 3 ? "m^3" : "m^2");
    }
    double back[3];
    for (int a = 0; a < 3; a++) {
        back[a] = -moments->center[a];
    }
    static const double unturned[4] = {0.0, 0.0, 0.0, 1.0};
    return rp_shape_move(def->shape, back, unturned, 1.0, out);
}

// How far any point of it is from its centre of mass [m].
static double reach_of(const rp_shape *shape, int dim)
{
    double lower[3], upper[3], far = 0.0;
    rp_shape_bounds(shape, dim, lower, upper);
    for (int a = 0; a < dim; a++) {
        const double most = fmax(fabs(lower[a]), fabs(upper[a]));
        far += most * most;
    }
    return sqrt(far);
}

rp_result rp_world_add_rigid(rp_world *world, const rp_rigid_def *def, int *collider)
{
    rp_shape_moments moments;
    const int dim = world->def.dimension, number = world->colliders;
    RP_TRY(check_def(world, def));
    rp_collider_def solid = rp_default_collider_def();
    rp_shape *shape;
    RP_TRY(make_centered(world, def, &moments, &shape));
    solid.shape = shape;
    solid.contact = def->contact;
    solid.friction = def->contact == RP_STICKY ? 0.0 : def->friction;
    solid.name = def->name;
    solid.look = def->look;
    memcpy(solid.color, def->color, sizeof solid.color);
    const rp_result result = rp_world_add_collider(world, &solid);
    const double reach = reach_of(shape, dim);
    rp_shape_release(shape);
    RP_TRY(result);
    rp_collider *c = &world->collider[number];
    rp_rigid *rigid = &world->rigid[world->rigids];
    rp_rigid_motion *motion = &world->motion[world->rigids];
    *rigid = (rp_rigid){.collider = number,
                        .reach = reach,
                        .friction = def->friction,
                        .restitution = def->restitution,
                        .force_of_time = def->force_of_time,
                        .torque_of_time = def->torque_of_time};
    *motion = (rp_rigid_motion){.pose = {.rotation = {0.0, 0.0, 0.0, 1.0}}};
    memcpy(motion->pose.position, moments.center, sizeof motion->pose.position);
    memcpy(motion->velocity, def->velocity, (size_t)dim * sizeof(double));
    memcpy(rigid->force, def->force, (size_t)dim * sizeof(double));
    for (int a = dim == 2 ? 2 : 0; a < 3; a++) {
        motion->spin[a] = def->spin[a];
        rigid->torque[a] = def->torque[a];
    }
    c->moves = c->free = true;
    c->begin = c->end = rp_placing_of(&motion->pose);
    double inertia[3][3];
    const double mass = def->mass != 0.0 ? def->mass : def->density * moments.volume;
    inertia_of(mass, dim, (const double(*)[3])moments.second, inertia);
    world->body[number] = rp_body_free(c, dim, mass, (const double(*)[3])inertia);
    world->rigids++;
    rp_registry_set_rows(&world->registry, "bodies/motion", world->rigids);
    rp_world_place_rigids(world, 0.0);
    if (collider != NULL) {
        *collider = number;
    }
    return RP_OK;
}

rp_joint_def rp_default_joint_def(void)
{
    return (rp_joint_def){.a = -1,
                          .b = -1,
                          .axis = {0.0, 0.0, 1.0},
                          .low = -INFINITY,
                          .high = INFINITY,
                          .strength = INFINITY,
                          .cookie = RP_DEF_COOKIE};
}

static rp_result check_joint(const rp_world *world, const rp_joint_def *def)
{
    const int side[2] = {def->a, def->b};
    bool free = false;
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "joint: start from rp_default_joint_def()");
    }
    if (world->company.links == RP_JOINT_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d joints", RP_JOINT_LIMIT);
    }
    if (def->kind != RP_JOINT_FIXED && def->kind != RP_JOINT_HINGE &&
        def->kind != RP_JOINT_SLIDER) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "joint.kind: want RP_JOINT_FIXED, RP_JOINT_HINGE or RP_JOINT_SLIDER, got %d",
                       (int)def->kind);
    }
    for (int k = 0; k < 2; k++) {
        if (side[k] < (k == 0 ? 0 : -1) || side[k] >= world->colliders) {
            return rp_fail(RP_ERR_ARGUMENT, "joint.%c: want a collider, 0 to %d%s, got %d", "ab"[k],
                           world -> colliders - 1, k == 0 ? "" : ", or -1 for the world", side[k]);
        }
        free = free || (side[k] >= 0 && world->collider[side[k]].free);
    }
    if (!free || def->a == def->b) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "joint: want a rigid body on one side at least, and two that differ");
    }
    if (!(def->low <= 0.0 && def->high >= 0.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "joint.range: want it around 0, got %g to %g", def->low,
                       def->high);
    }
    if (!(def->strength > 0.0) || !isfinite(def->speed)) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "joint.strength: want > 0, and a finite speed, got %g and %g", def->strength,
                       def->speed);
    }
    const double *n = def->axis, length2 = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    if (def->kind != RP_JOINT_FIXED && !(length2 > 0.0 && isfinite(length2))) {
        return rp_fail(RP_ERR_ARGUMENT, "joint.axis: want a vector that is not 0, got 0");
    }
    const bool across = n[0] == 0.0 && n[1] == 0.0, within = n[2] == 0.0;
    if (world->def.dimension == 2 &&
        ((def->kind == RP_JOINT_HINGE && !across) || (def->kind == RP_JOINT_SLIDER && !within))) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "joint.axis: want (0, 0, 1) of a hinge and (x, y, 0) of a slider in 2D, got "
                       "(%g, %g, %g)",
                       n[0], n[1], n[2]);
    }
    return check_numbers("joint.at", def->at, world->def.dimension);
}

rp_result rp_world_add_joint(rp_world *world, const rp_joint_def *def)
{
    RP_TRY(check_joint(world, def));
    RP_TRY(rp_world_move_colliders(world, 0.0));
    const double *n = def->axis, length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    static const rp_placing nowhere = {.rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const rp_placing *at[2] = {&world->collider[def->a].begin,
                               def->b >= 0 ? &world->collider[def->b].begin : &nowhere};
    rp_link *l = &world->company.link[world->company.links];
    *l = (rp_link){.kind = def->kind,
                   .a = def->a,
                   .b = def->b,
                   .low = def->low,
                   .high = def->high,
                   .driven = def->driven,
                   .speed = def->speed,
                   .strength = def->strength};
    double axis[3] = {0.0, 0.0, 1.0}, place[3] = {0.0, 0.0, 0.0};
    for (int a = 0; a < 3; a++) {
        axis[a] = length > 0.0 && def->kind != RP_JOINT_FIXED ? n[a] / length : axis[a];
        place[a] = a < world->def.dimension ? def->at[a] : 0.0;
    }
    for (int k = 0; k < 2; k++) {
        rp_placing_local(at[k], place, l->place[k]);
        rp_unrotate(at[k]->rotation, axis, l->axis[k]);
    }
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            for (int k = 0; k < 3; k++) {
                l->turned[a][b] += at[1]->rotation[k][a] * at[0]->rotation[k][b];
            }
        }
    }
    world->joint_speed[world->company.links] = def->speed_of_time;
    world->company.link_state[world->company.links++] = (rp_link_state){0};
    rp_registry_set_rows(&world->registry, "joints/state", world->company.links);
    return RP_OK;
}

// ---- in a step ----

// Bodies as they are at the start of a step.
static void recall(rp_world *world, int index)
{
    const rp_rigid_motion *m = &world->motion[index];
    rp_body *body = &world->body[world->rigid[index].collider];
    body->pose = rp_placing_of(&m->pose);
    memcpy(body->velocity, m->velocity, sizeof body->velocity);
    memcpy(body->spin, m->spin, sizeof body->spin);
    memset(body->mend, 0, sizeof body->mend); // of the step before, and not state
}

void rp_world_place_rigids(rp_world *world, double dt)
{
    for (int i = 0; i < world->rigids; i++) {
        rp_collider *c = &world->collider[world->rigid[i].collider];
        recall(world, i);
        // as it would go on
        rp_body body = world->body[world->rigid[i].collider];
        rp_pose pose = world->motion[i].pose;
        rp_body_fly(&body, c->free ? dt : 0.0, &pose);
        c->begin = rp_placing_of(&world->motion[i].pose);
        c->end = rp_placing_of(&pose);
    }
}

rp_result rp_world_move_colliders(rp_world *world, double dt)
{
    RP_TRY(rp_colliders_move(world->collider, world->colliders, rp_world_time(world), dt));
    rp_world_place_rigids(world, dt);
    return RP_OK;
}

static rp_result vector_at(const rp_world *world, const char *what, int index,
                           const rp_vector_of_time *f, double out[3])
{
    if (f->call == NULL) {
        return RP_OK;
    }
    const double t = rp_world_time(world);
    RP_TRY(f->call(f->context, t, out));
    if (!isfinite(out[0]) || !isfinite(out[1]) || !isfinite(out[2])) {
        return rp_fail(RP_ERR_ARGUMENT, "the %s of body '%s' is not finite at t = %g s", what,
                       world->collider[world->rigid[index].collider].name, t);
    }
    return RP_OK;
}

// What colliders are to bodies, as far as it is not known yet.
static rp_result make_skins(rp_world *world)
{
    rp_company *company = &world->company;
    for (; company->skins < world->colliders && world->rigids > 0; company->skins++) {
        const int i = company->skins;
        const rp_collider *c = &world->collider[i];
        RP_TRY(rp_skin_make(&company->skin[i], c->shape, world->def.dimension, &world->allocator));
        company->temper[i] = (rp_temper){
            .friction = c->contact == RP_STICKY ? INFINITY : c->friction, .restitution = 1.0};
    }
    for (int i = 0; i < world->rigids; i++) {
        const int own = world->rigid[i].collider;
        if (company->skin[own].points == 0) { // it would fall through everything
            return rp_fail(
                RP_ERR_ARGUMENT,
                "rigid.shape: too thin for points on its surface, which lie %.2g m apart "
                "and by which '%s' touches others: want it thicker",
                company->skin[own].spacing, world->collider[own].name);
        }
        company->temper[world->rigid[i].collider] = (rp_temper){
            .friction = world->rigid[i].friction, .restitution = world->rigid[i].restitution};
    }
    return RP_OK;
}

rp_result rp_world_check_rigids(rp_world *world)
{
    RP_TRY(make_skins(world));
    const rp_bumping m = {.collider = world->collider,
                          .colliders = world->colliders,
                          .skin = world->company.skin,
                          .dim = world->def.dimension};
    rp_ball ball[RP_COLLIDER_LIMIT];
    for (int i = 0; i < world->colliders; i++) {
        ball[i] = rp_ball_of(&world->collider[i], m.dim);
    }
    for (int i = 0; i < world->rigids; i++) {
        const int a = world->rigid[i].collider;
        for (int b = 0; b < world->colliders; b++) {
            double x[3];
            if (b == a || (world->collider[b].free && b < a) ||
                !rp_ball_near(&ball[b], ball[a].middle, ball[a].radius) ||
                rp_links_join(world->company.link, world->company.links, a, b)) {
                continue;
            }
            const double deep = rp_bumps_overlap(&m, a, b, x);
            if (deep > 0.0) {
                return rp_fail(RP_ERR_ARGUMENT,
                               "rigid '%s' and %s '%s' lie in each other at the start, by about "
                               "%.2g m at (%.3g, %.3g, %.3g)",
                               world->collider[a].name,
                               world->collider[b].free ? "rigid" : "collider",
                               world->collider[b].name, deep, x[0], x[1], x[2]);
            }
        }
    }
    return RP_OK;
}

rp_result rp_world_begin_rigids(rp_world *world, const rp_step *step)
{
    const int dim = world->def.dimension;
    const double *gravity = step->gravity;
    RP_TRY(make_skins(world));
    for (int i = 0; i < world->company.links; i++) {
        const rp_vector_of_time *f = &world->joint_speed[i];
        double speed[3] = {0.0, 0.0, 0.0};
        if (f->call != NULL) {
            RP_TRY(f->call(f->context, step->begin, speed));
            world->company.link[i].speed = speed[0];
        }
        if (!isfinite(world->company.link[i].speed)) {
            return rp_fail(RP_ERR_ARGUMENT, "the speed of joint %d is not finite at t = %g s", i,
                           step->begin);
        }
    }
    memcpy(world->company.gravity, gravity, sizeof world->company.gravity);
    world->company.rest = step->dt * sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] +
                                          gravity[2] * gravity[2]);
    for (int i = 0; i < world->rigids; i++) {
        const rp_rigid *rigid = &world->rigid[i];
        rp_body *body = &world->body[rigid->collider];
        recall(world, i);
        if (!world->collider[rigid->collider].free) { // it is held
            memset(body->velocity, 0, sizeof body->velocity);
            memset(body->spin, 0, sizeof body->spin);
            continue;
        }
        double force[3] = {rigid->force[0], rigid->force[1], rigid->force[2]}, field[3] = {0};
        rp_impulse push = {.angular = {rigid->torque[0], rigid->torque[1], rigid->torque[2]}};
        RP_TRY(vector_at(world, "force", i, &rigid->force_of_time, force));
        RP_TRY(vector_at(world, "torque", i, &rigid->torque_of_time, push.angular));
        if (step->acceleration->call != NULL) {
            RP_TRY(step->acceleration->call(step->acceleration->context, step->begin,
                                            body->pose.position, field));
        }
        for (int a = 0; a < 3; a++) {
            push.linear[a] =
                a < dim ? step->dt * (body->mass * (step->gravity[a] + field[a]) + force[a]) : 0.0;
            push.angular[a] *= dim == 3 || a == 2 ? step->dt : 0.0;
        }
        rp_body_take(body, &push);
        world->company.pull[rigid->collider] = push;
        body->given = (rp_impulse){0};
    }
    return RP_OK;
}

rp_result rp_world_end_rigids(rp_world *world, const rp_step *step)
{
    for (int i = 0; i < world->rigids; i++) {
        rp_rigid_motion *m = &world->motion[i];
        rp_collider *c = &world->collider[world->rigid[i].collider];
        rp_body *body = &world->body[world->rigid[i].collider];
        if (!c->free) {
            continue;
        }
        rp_body_fly(body, step->dt, &m->pose);
        memcpy(m->velocity, body->velocity, sizeof m->velocity);
        memcpy(m->spin, body->spin, sizeof m->spin);
        c->end = body->pose;
        bool finite = true;
        for (int a = 0; a < 3; a++) {
            finite = finite && isfinite(m->pose.position[a]) && isfinite(m->velocity[a]) &&
                     isfinite(m->spin[a]);
        }
        if (!finite) {
            return rp_fail(RP_ERR_DIVERGED,
                           "body '%s' is at (%g, %g, %g) m after step %lld of dt %g s, bounded by "
                           "%s: the state is no longer physical",
                           c->name, m->pose.position[0], m->pose.position[1], m->pose.position[2],
                           (long long)world->time.step, step->dt, world->stats.limiter);
        }
    }
    return RP_OK;
}

void rp_world_note_rigids(rp_world *world, bool frame_ends)
{
    for (int i = 0; i < world->rigids; i++) {
        rp_rigid_motion *m = &world->motion[i];
        const rp_body *body = &world->body[world->rigid[i].collider];
        // what putting particles back has turned
        memcpy(m->velocity, body->velocity, sizeof m->velocity);
        memcpy(m->spin, body->spin, sizeof m->spin);
        for (int a = 0; a < 3; a++) {
            m->given[a] += body->given.linear[a];
            m->given[3 + a] += body->given.angular[a];
        }
        for (int a = 0; a < 3 && frame_ends; a++) {
            m->force[a] = m->given[a] * world->def.fps;
            m->torque[a] = m->given[3 + a] * world->def.fps;
        }
        if (frame_ends) {
            memset(m->given, 0, sizeof m->given);
        }
    }
}

void rp_world_hold_rigids(rp_world *world, bool hold)
{
    for (int i = 0; i < world->rigids; i++) {
        world->collider[world->rigid[i].collider].free = !hold;
    }
}

double rp_world_rigid_limit(const rp_world *world)
{
    static const double TURN = 0.1;      // [rad] in a step, so that a turn is nearly straight
    static const double LONGEST = 0.002; // [s], for what they do to each other
    double least = world->rigids > 0 ? LONGEST : INFINITY;
    for (int i = 0; i < world->rigids; i++) {
        const double *w = world->motion[i].spin;
        const double rate = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        least = rate > 0.0 ? fmin(least, TURN / rate) : least;
    }
    return least;
}

int rp_world_rigids(const rp_world *world) { return world->rigids; }

void rp_world_rigid(const rp_world *world, int index, rp_rigid_state *out)
{
    RP_ASSERT(index >= 0 && index < world->rigids);
    const rp_rigid_motion *m = &world->motion[index];
    const int collider = world->rigid[index].collider;
    rp_body body = world->body[collider];
    body.pose = rp_placing_of(&m->pose);
    memcpy(body.velocity, m->velocity, sizeof body.velocity);
    memcpy(body.spin, m->spin, sizeof body.spin);
    *out = (rp_rigid_state){.name = world->collider[collider].name,
                            .collider = collider,
                            .mass = body.mass,
                            .pose = m->pose,
                            .kinetic = rp_body_kinetic(&body)};
    memcpy(out->inertia, body.inertia, sizeof out->inertia);
    memcpy(out->velocity, m->velocity, sizeof out->velocity);
    memcpy(out->spin, m->spin, sizeof out->spin);
    memcpy(out->force, m->force, sizeof out->force);
    memcpy(out->torque, m->torque, sizeof out->torque);
}
