// Bodies of particles: their names, and how they touch.
#include "base/result.h"
#include "base/text.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

rp_pair_def rp_default_pair_def(void)
{
    return (rp_pair_def){
        .body = {-1, -1}, .contact = RP_SEPARATE, .gap = true, .cookie = RP_DEF_COOKIE};
}

static rp_result check_pair(const rp_world *world, const rp_pair_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "contact: start from rp_default_pair_def()");
    }
    if (!world->def.contact) {
        return rp_fail(RP_ERR_ARGUMENT, "contact: want a world whose bodies touch, got one without "
                                        "rp_world_def.contact");
    }
    const bool all = def->body[0] == -1 && def->body[1] == -1;
    for (int i = 0; i < 2 && !all; i++) {
        if (def->body[i] < 0 || def->body[i] >= world->def.fields) {
            return rp_fail(RP_ERR_ARGUMENT, "contact.bodies: want 0 to %d, got %d",
                           world->def.fields - 1, def->body[i]);
        }
    }
    if (!all && def->body[0] == def->body[1]) {
        return rp_fail(RP_ERR_ARGUMENT, "contact.bodies: want two, got %d twice", def->body[0]);
    }
    if (def->contact != RP_SEPARATE && def->contact != RP_STICKY) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "contact.contact: want RP_SEPARATE or RP_STICKY between bodies, got %d",
                       (int)def->contact);
    }
    if (!(def->friction >= 0.0 && isfinite(def->friction))) {
        return rp_fail(RP_ERR_ARGUMENT, "contact.friction: want >= 0, got %g", def->friction);
    }
    if ((int)def->normals < RP_NORMALS_AUTO || def->normals > RP_NORMALS_REGRESSION) {
        return rp_fail(RP_ERR_ARGUMENT, "contact.normals: want one of rp_normals, got %d",
                       (int)def->normals);
    }
    if (def->impulses != RP_IMPULSES_EXACT && (def->impulses != RP_IMPULSES_PAIRS || !all)) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "contact.impulses: want one of rp_impulses, of all pairs, got %d of %s",
                       (int)def->impulses, all ? "all" : "one");
    }
    return RP_OK;
}

rp_result rp_world_set_contact(rp_world *world, const rp_pair_def *def)
{
    RP_TRY(check_pair(world, def));
    const rp_pair_rule rule = {.contact = def->contact,
                               .friction = def->friction,
                               .normals = def->normals,
                               .gap = def->gap};
    if (def->body[0] >= 0) {
        return rp_pairs_set(&world->pairs, &world->allocator, def->body[0], def->body[1], &rule);
    }
    world->pairs.all = rule;
    world->pairs.impulses = def->impulses;
    return RP_OK;
}

int rp_world_bodies(const rp_world *world) { return world->def.fields; }

static char *name_at(const rp_world *world, int body)
{
    return world->body_names.data != NULL
               ? (char *)world->body_names.data + (size_t)body * RP_NAME_SIZE
               : NULL;
}

void rp_world_body_name(const rp_world *world, int body, char *name)
{
    RP_ASSERT(body >= 0 && body < world->def.fields);
    const char *given = name_at(world, body);
    if (given != NULL && given[0] != '\0') {
        memcpy(name, given, RP_NAME_SIZE);
    } else if (body == 0) {
        strcpy(name, "rest");
    } else {
        snprintf(name, RP_NAME_SIZE, "body %d", body);
    }
}

rp_result rp_world_name_body(rp_world *world, int body, const char *name)
{
    if (body < 0 || body >= world->def.fields) {
        return rp_fail(RP_ERR_ARGUMENT, "body: want 0 to %d, got %d", world->def.fields - 1, body);
    }
    RP_TRY(rp_check_name("body.name", name));
    if (world->body_names.data == NULL) {
        const size_t bytes = (size_t)world->def.fields * RP_NAME_SIZE;
        RP_TRY(
            rp_buffer_reserve(&world->body_names, &world->allocator, bytes, 0, "names of bodies"));
        memset(world->body_names.data, 0, bytes);
    }
    char *own = name_at(world, body);
    memset(own, 0, RP_NAME_SIZE);
    snprintf(own, RP_NAME_SIZE, "%s", name);
    return RP_OK;
}
