// Colliders of a world: how they come into it, and what acts on them.
#include "base/result.h"
#include "base/text.h"
#include "collide/thin.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

rp_collider_def rp_default_collider_def(void)
{
    return (rp_collider_def){.contact = RP_STICKY,
                             .parent = -1,
                             .look = RP_LOOK_SOLID,
                             .color = {0.62, 0.64, 0.66},
                             .cookie = RP_DEF_COOKIE};
}

rp_result rp_world_add_collider(rp_world *world, const rp_collider_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "collider: start from rp_default_collider_def()");
    }
    RP_TRY(rp_world_honours(world, RP_FEATURE_COLLIDERS));
    RP_TRY(def->permeable ? rp_world_honours(world, RP_FEATURE_PERMEABLE) : RP_OK);
    if (def->motion.call != NULL) {
        RP_TRY(rp_world_honours(world, RP_FEATURE_MOTION));
    }
    const bool deforms = def->shape != NULL && rp_shape_deforms(def->shape);
    if (deforms) {
        RP_TRY(rp_world_honours(world, RP_FEATURE_MOTION));
        RP_TRY(rp_world_honours(world, RP_FEATURE_DEFORMING));
    }
    if (deforms && world->def.dimension == 2) {
        return rp_fail(RP_ERR_ARGUMENT, "collider.shape: want no mesh_sequence in 2D, got one");
    }
    if (deforms && world->rigids > 0) {
        return rp_fail(RP_ERR_UNSUPPORTED, RP_NO_RIGIDS,
                       world->collider[world->rigid[0].collider].name,
                       def->name != NULL ? def->name : "");
    }
    if (world->colliders == RP_COLLIDER_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d colliders", RP_COLLIDER_LIMIT);
    }
    if (def->shape == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "collider.shape: want a shape, got NULL");
    }
    if (def->contact != RP_STICKY && def->contact != RP_SLIP && def->contact != RP_SEPARATE) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "collider.contact: want RP_STICKY, RP_SLIP or RP_SEPARATE, got %d",
                       (int)def->contact);
    }
    if (!(def->friction >= 0.0 && isfinite(def->friction))) {
        return rp_fail(RP_ERR_ARGUMENT, "collider.friction: want >= 0, got %g", def->friction);
    }
    if (def->look != RP_LOOK_SOLID && def->look != RP_LOOK_GLASS && def->look != RP_LOOK_HIDDEN) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "collider.look: want RP_LOOK_SOLID, RP_LOOK_GLASS or RP_LOOK_HIDDEN, got %d",
                       (int)def->look);
    }
    for (int k = 0; k < 3; k++) {
        if (!(def->color[k] >= 0.0 && def->color[k] <= 1.0)) {
            return rp_fail(RP_ERR_ARGUMENT, "collider.color[%d]: want 0 to 1, got %g", k,
                           def->color[k]);
        }
    }
    if (def->name != NULL) {
        RP_TRY(rp_check_name("collider.name", def->name));
    }
    if (def->parent < -1 || def->parent >= world->colliders) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "collider.parent: want an earlier collider, 0 to %d, or -1, got %d",
                       world->colliders - 1, def->parent);
    }
    if (def->parent >= 0 && world->collider[def->parent].free) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "collider.parent: want a collider that goes its own way, got the rigid body "
                       "'%s'",
                       world->collider[def->parent].name);
    }
    if (def->parent >= 0 && world->collider[def->parent].morph != NULL) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "collider.parent: want a collider that keeps its shape, got '%s', which "
                       "deforms",
                       world->collider[def->parent].name);
    }
    rp_morph *morph = NULL;
    RP_TRY(deforms ? rp_morph_make(def->shape, &morph) : RP_OK);
    rp_collider *collider = &world->collider[world->colliders];
    static const rp_placing at_rest = {.rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    *collider = (rp_collider){
        .shape = rp_shape_retain(def->shape),
        .contact = def->contact,
        .friction = def->friction,
        .permeable = def->permeable,
        .motion = def->motion,
        .parent = def->parent,
        .morph = morph,
        .moves = deforms || def->motion.call != NULL ||
                 (def->parent >= 0 && world->collider[def->parent].moves),
        .begin = at_rest,
        .end = at_rest,
        .look = def->look,
        .color = {def->color[0], def->color[1], def->color[2]},
        .thin = rp_shape_is_thin(def->shape, &world->grid.layout),
    };
    if (def->name != NULL) {
        snprintf(collider->name, sizeof collider->name, "%s", def->name);
    } else {
        snprintf(collider->name, sizeof collider->name, "%d", world->colliders);
    }
    world->load[world->colliders] = (rp_load){0};
    world->body[world->colliders] = rp_body_scripted(collider);
    world->colliders++;
    rp_registry_set_rows(&world->registry, "colliders/loads", world->colliders);
    return RP_OK;
}

int rp_world_colliders(const rp_world *world) { return world->colliders; }

void rp_world_collider_load(const rp_world *world, int index, rp_collider_load *out)
{
    RP_ASSERT(index >= 0 && index < world->colliders);
    const rp_load *load = &world->load[index];
    *out = (rp_collider_load){.name = world->collider[index].name, .pose = load->pose};
    memcpy(out->force, load->force, sizeof out->force);
    memcpy(out->torque, load->torque, sizeof out->torque);
}

rp_plane_def rp_default_plane_def(void)
{
    return (rp_plane_def){.normal = {0.0, 1.0, 0.0}, .contact = RP_STICKY, .cookie = RP_DEF_COOKIE};
}

rp_result rp_world_add_plane(rp_world *world, const rp_plane_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "plane: start from rp_default_plane_def()");
    }
    double point[3] = {0}, normal[3] = {0};
    memcpy(point, def->point, (size_t)world->def.dimension * sizeof *point);
    memcpy(normal, def->normal, (size_t)world->def.dimension * sizeof *normal);
    rp_shape *shape;
    RP_TRY(rp_shape_half_space(point, normal, &shape));
    rp_collider_def collider = rp_default_collider_def();
    collider.shape = shape;
    collider.contact = def->contact;
    collider.friction = def->friction;
    const rp_result result = rp_world_add_collider(world, &collider);
    rp_shape_release(shape);
    return result;
}

rp_result rp_world_add_walls(rp_world *world, const double lower[3], const double upper[3],
                             rp_contact contact, double friction)
{
    const int before = world->colliders;
    for (int side = 0; side < 2 * world->def.dimension; side++) {
        rp_plane_def def = rp_default_plane_def();
        const int axis = side / 2;
        def.contact = contact;
        def.friction = friction;
        def.normal[1] = 0.0;
        def.normal[axis] = side % 2 == 0 ? 1.0 : -1.0;
        def.point[axis] = side % 2 == 0 ? lower[axis] : upper[axis];
        rp_result result = RP_OK;
        if (!(lower[axis] < upper[axis])) {
            result = rp_fail(RP_ERR_ARGUMENT,
                             "walls.upper[%d]: want more than walls.lower[%d] = %g, got %g", axis,
                             axis, lower[axis], upper[axis]);
        } else {
            result = rp_world_add_plane(world, &def);
        }
        if (result != RP_OK) {
            while (world->colliders > before) {
                rp_shape_release(world->collider[--world->colliders].shape);
            }
            rp_registry_set_rows(&world->registry, "colliders/loads", world->colliders);
            return result;
        }
    }
    return RP_OK;
}
