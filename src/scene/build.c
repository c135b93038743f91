// From what a scene said to a world.
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COOKIE = 0x5ce9e6 };
#define DEGREE (3.14159265358979323846 / 180.0)

rp_scene_world_def rp_default_scene_world_def(void)
{
    return (rp_scene_world_def){.cookie = COOKIE};
}

static const char *method_of(const rp_scene *scene)
{
    return scene->method != NULL ? scene->method : rp_call_text(scene->said, "method");
}

void rp_scene_get_info(const rp_scene *scene, rp_scene_info *out)
{
    const scene_call *camera = rp_call_find(scene->first, "camera");
    const scene_call *output = rp_call_find(scene->first, "output");
    *out = (rp_scene_info){
        .title = scene->title,
        .dimension = scene->dimension,
        .precision = (rp_precision)rp_call_choice(scene->said, "precision"),
        .order = rp_call_choice(scene->said, "order") + 1,
        .gradient = (rp_gradient)rp_call_choice(scene->said, "gradient"),
        .energy = rp_call_boolean(output, "energy"),
        .method = method_of(scene),
        .frames = rp_call_integer(scene->said, "frames"),
        .fps = rp_call_number(scene->said, "fps"),
        .settle = rp_call_number(scene->said, "settle"),
        .energy_limit = rp_call_number(scene->said, "energy_limit"),
        .state = (rp_frame_state)rp_call_choice(output, "state"),
        .up = scene->up,
        .has_camera = camera != NULL,
    };
    if (camera != NULL) {
        memcpy(out->eye, rp_call_vector(camera, "eye"), sizeof out->eye);
        memcpy(out->look_at, rp_call_vector(camera, "look_at"), sizeof out->look_at);
        out->fov = DEGREE * rp_call_number(camera, "fov");
    }
}

// What a call says of properties goes to the members that they describe.
static void describe(const scene_call *call, const rp_property *p, int count, void *base)
{
    for (int i = 0; i < count; i++) {
        const scene_value *v = rp_call_value(call, p[i].name);
        switch (v->kind) {
        case TAKES_NUMBER:
            rp_property_set(&p[i], base, v->number);
            break;
        case TAKES_BOOLEAN:
            rp_property_set(&p[i], base, v->boolean);
            break;
        case TAKES_CHOICE:
            rp_property_set(&p[i], base, v->choice);
            break;
        case TAKES_TABLE:
            rp_property_set(&p[i], base, 1.0);
            describe(v->call, p[i].form, p[i].forms, base);
            break;
        default:
            break; // absent
        }
    }
}

// Of the method in use.
static void read_options(const rp_scene *scene, rp_world_def *w)
{
    for (int m = 0; m < rp_methods(); m++) {
        const rp_method_info *method = rp_method_at(m);
        if (strcmp(method->name, w->method) != 0 || method->options == 0) {
            continue;
        }
        rp_properties_reset(method->option, method->options, w->option);
        describe(rp_call_value(scene->said, method->name)->call, method->option, method->options,
                 w->option);
        w->options = true;
    }
}

// Choices in the table of words are in the order of the enums; linear, quadratic, cubic count
// from 1.
static rp_world_def world_def(const rp_scene *scene, const rp_scene_world_def *def)
{
    const scene_call *said = scene->said;
    rp_world_def w = rp_default_world_def();
    w.method = method_of(scene);
    read_options(scene, &w);
    w.dimension = scene->dimension;
    w.precision = (rp_precision)rp_call_choice(said, "precision");
    w.order = rp_call_choice(said, "order") + 1;
    w.gradient =
        def->gradient != NULL ? *def->gradient : (rp_gradient)rp_call_choice(said, "gradient");
    w.dx = rp_call_number(said, "dx");
    w.fps = rp_call_number(said, "fps");
    w.cfl = rp_call_number(said, "cfl");
    w.elastic_share = rp_call_number(said, "elastic_share");
    w.energy = rp_call_boolean(rp_call_find(scene->first, "output"), "energy");
    if (rp_call_value(said, "acceleration")->kind != 0) {
        w.acceleration = rp_scene_vector_field(said, "acceleration");
    }
    w.fields = scene->fields;
    w.contact = scene->fields > 1;
    w.seed = (uint64_t)rp_call_integer(said, "seed");
    w.threads = def->threads;
    w.allocator = def->allocator;
    w.memory = def->memory;
    w.plan = def->plan;
    w.places = scene->places;

    const scene_value *transfer = rp_call_value(said, "transfer");
    if (transfer->kind == TAKES_TABLE) {
        if (rp_call_value(transfer->call, "steady")->kind != 0) {
            w.transfer = RP_STEADY;
            w.fade = rp_call_number(transfer->call, "steady");
        } else {
            w.transfer = RP_FLIP;
            w.flip = rp_call_number(transfer->call, "flip");
        }
    } else {
        static const rp_transfer named[] = {RP_APIC, RP_PIC, RP_STEADY};
        w.transfer = named[transfer->choice];
    }
    const scene_value *gravity = rp_call_value(said, "gravity");
    if (gravity->kind == TAKES_FUNCTION) {
        w.gravity_of_time = rp_scene_vector_of_time(said, "gravity");
    } else {
        memcpy(w.gravity, gravity->vector, sizeof w.gravity);
    }
    if (rp_call_value(said, "dt_max")->kind != 0) {
        w.dt_max = rp_call_number(said, "dt_max");
    }
    const scene_call *domain = rp_call_find(scene->first, "domain");
    for (int a = 0; a < scene->dimension && domain != NULL; a++) {
        w.period[a] = rp_scene_period(scene, domain, a);
    }
    return w;
}

// Materials
// ------------------------------------------------------------------------------------------------------

static rp_result add_material(rp_world *world, const scene_call *call, rp_material *out)
{
    rp_material_kind kind;
    const rp_result known = rp_material_kind_named(call->word->name + strlen("material."), &kind);
    if (known != RP_OK) {
        return known;
    }
    const rp_material_info *info = rp_material_info_of(kind);
    rp_material_def def = rp_default_material_def(kind);
    snprintf(def.name, sizeof def.name, "%s", rp_call_text(call, "name"));
    describe(call, info->property, info->properties, &def);
    return rp_world_add_material(world, &def, out);
}

// Particles and colliders
// ----------------------------------------------------------------------------------------

static rp_result add_particles(rp_world *world, const rp_scene *scene, const scene_call *r,
                               const rp_material *materials)
{
    rp_particles_def def = rp_default_particles_def();
    def.material = materials[rp_call_value(r, "material")->call->index];
    def.shape = rp_call_value(r, "shape")->call->shape;
    def.spacing = rp_call_number(r, "spacing");
    def.sampling = (rp_sampling)rp_call_choice(r, "sampling");
    def.jitter = rp_call_number(r, "jitter");
    def.prestress = (rp_prestress)rp_call_choice(r, "prestress");
    const scene_value *within = rp_call_value(r, "within");
    def.share = within->kind != 0 ? rp_call_number(within->call, "porosity") : 1.0;
    const scene_body *body = rp_scene_find_body(scene, rp_call_text(r, "body"));
    def.field = body->number;
    def.cut = body->fracture != NULL ? body->fracture->cut : NULL;
    const scene_value *velocity = rp_call_value(r, "velocity");
    if (velocity->kind == TAKES_FUNCTION) {
        def.velocity_of_place = rp_scene_vector_of_place(r, "velocity");
    } else {
        memcpy(def.velocity, velocity->vector, sizeof def.velocity);
    }
    const scene_value *gradient = rp_call_value(r, "velocity_gradient");
    if (gradient->kind != 0) {
        memcpy(def.velocity_gradient, gradient->matrix, sizeof def.velocity_gradient);
    }
    return rp_world_add_particles(world, &def, NULL);
}

static rp_result add_collider(rp_world *world, const rp_scene *scene, const scene_call *r)
{
    rp_collider_def def = rp_default_collider_def();
    def.shape = rp_call_value(r, "shape")->call->shape;
    def.contact = (rp_contact)rp_call_choice(r, "contact");
    def.friction = rp_call_number(r, "friction");
    def.permeable = rp_call_boolean(r, "permeable");
    def.name = rp_call_text(r, "name");
    def.motion = rp_scene_motion(r);
    def.look = (rp_look)rp_call_choice(r, "look");
    memcpy(def.color, rp_call_vector(r, "color"), sizeof def.color);
    const char *parent = rp_call_text(r, "attach");
    def.parent = parent != NULL ? rp_scene_find_collider(scene, parent, r)->index : -1;
    return rp_world_add_collider(world, &def);
}

// A vector, or a function of time that gives it.
static void vector_or_function(const scene_call *r, const char *key, double constant[3],
                               rp_vector_of_time *function)
{
    const scene_value *v = rp_call_value(r, key);
    if (v->kind == TAKES_FUNCTION) {
        *function = rp_scene_vector_of_time(r, key);
    } else {
        memcpy(constant, v->vector, 3 * sizeof *constant);
    }
}

// A number that may have been left out.
static double number_or(const scene_call *r, const char *key, double otherwise)
{
    return rp_call_value(r, key)->kind != 0 ? rp_call_number(r, key) : otherwise;
}

static rp_result add_rigid(rp_world *world, const scene_call *r)
{
    rp_rigid_def def = rp_default_rigid_def();
    const scene_value *spin = rp_call_value(r, "spin");
    def.shape = rp_call_value(r, "shape")->call->shape;
    def.density = number_or(r, "density", 0.0);
    def.mass = number_or(r, "mass", 0.0);
    memcpy(def.velocity, rp_call_vector(r, "velocity"), sizeof def.velocity);
    if (spin->kind != 0) {
        const double *axis = rp_call_vector(spin->call, "axis");
        const double length = hypot(hypot(axis[0], axis[1]), axis[2]);
        for (int a = 0; a < 3; a++) {
            def.spin[a] = DEGREE * rp_call_number(spin->call, "rate") * (axis[a] / length);
        }
    }
    def.contact = (rp_contact)rp_call_choice(r, "contact");
    def.friction = rp_call_number(r, "friction");
    def.restitution = rp_call_number(r, "restitution");
    vector_or_function(r, "force", def.force, &def.force_of_time);
    vector_or_function(r, "torque", def.torque, &def.torque_of_time);
    def.name = rp_call_text(r, "name");
    def.look = (rp_look)rp_call_choice(r, "look");
    memcpy(def.color, rp_call_vector(r, "color"), sizeof def.color);
    return rp_world_add_rigid(world, &def, NULL);
}

// The number of a collider or rigid body; -1: the world.
static int solid_number(const rp_scene *scene, const char *name)
{
    int colliders = 0;
    for (const scene_call *c = scene->first; c != NULL; c = c->next) {
        colliders += strcmp(c->word->name, "collider") == 0;
    }
    const scene_call *r = name != NULL ? rp_scene_find_solid(scene, name, NULL) : NULL;
    return r == NULL ? -1 : r->index + (strcmp(r->word->name, "rigid") == 0 ? colliders : 0);
}

// What the script says in degrees.
static rp_result speed_in_radians(void *context, double t, double out[3])
{
    const scene_call *r = context;
    const rp_vector_of_time f = rp_scene_vector_of_time(r, "speed");
    const rp_result result = f.call(f.context, t, out);
    out[0] *= rp_call_choice(r, "kind") == RP_JOINT_HINGE ? DEGREE : 1.0;
    return result;
}

static rp_result add_joint(rp_world *world, const rp_scene *scene, const scene_call *r)
{
    rp_joint_def def = rp_default_joint_def();
    const scene_value *range = rp_call_value(r, "range"), *speed = rp_call_value(r, "speed");
    def.kind = (rp_joint_kind)rp_call_choice(r, "kind");
    const double unit = def.kind == RP_JOINT_HINGE ? DEGREE : 1.0;
    def.a = solid_number(scene, rp_call_text(r, "a"));
    def.b = solid_number(scene, rp_call_text(r, "b"));
    memcpy(def.at, rp_call_vector(r, "at"), sizeof def.at);
    memcpy(def.axis, rp_call_vector(r, "axis"), sizeof def.axis);
    if (range->kind != 0) {
        def.low = unit * number_or(range->call, "min", -INFINITY);
        def.high = unit * number_or(range->call, "max", INFINITY);
    }
    def.driven = speed->kind != 0;
    if (speed->kind == TAKES_FUNCTION) {
        def.speed_of_time = (rp_vector_of_time){speed_in_radians, (void *)(uintptr_t)r};
    } else if (speed->kind != 0) {
        def.speed = unit * speed->number;
    }
    def.strength = number_or(r, "strength", INFINITY);
    return rp_world_add_joint(world, &def);
}

static rp_result add_emitter(rp_world *world, const rp_scene *scene, const scene_call *r,
                             const rp_material *materials)
{
    rp_emitter_def def = rp_default_emitter_def();
    def.material = materials[rp_call_value(r, "material")->call->index];
    def.shape = rp_call_value(r, "shape")->call->shape;
    memcpy(def.velocity, rp_call_vector(r, "velocity"), sizeof def.velocity);
    def.rate = number_or(r, "rate", 0.0);
    def.volume = number_or(r, "volume", 0.0);
    def.start = rp_call_number(r, "start");
    def.stop = number_or(r, "stop", INFINITY);
    def.spacing = number_or(r, "spacing", 0.0);
    def.field = rp_scene_find_body(scene, rp_call_text(r, "body"))->number;
    def.motion = rp_scene_motion(r);
    def.parent = solid_number(scene, rp_call_text(r, "attach"));
    def.name = rp_call_text(r, "name");
    return rp_world_add_emitter(world, &def);
}

// The velocity fields that a name stands for: those of all its pieces where it is broken.
static int fields_of(const scene_body *body) { return body->pieces > 0 ? body->pieces : 1; }

static rp_result add_contact(rp_world *world, const rp_scene *scene, const scene_call *r)
{
    rp_pair_def def = rp_default_pair_def();
    const scene_value *bodies = rp_call_value(r, "bodies");
    def.contact = rp_call_choice(r, "contact") == 0 ? RP_SEPARATE : RP_STICKY;
    def.friction = rp_call_number(r, "friction");
    def.normals = (rp_normals)rp_call_choice(r, "normals");
    def.gap = rp_call_boolean(r, "gap");
    if (bodies->kind == 0) {
        def.impulses = (rp_impulses)rp_call_choice(r, "impulses");
        return rp_world_set_contact(world, &def);
    }
    const scene_body *one = rp_scene_find_body(scene, bodies->texts[0]);
    const scene_body *other = rp_scene_find_body(scene, bodies->texts[1]);
    rp_result result = RP_OK;
    for (int i = 0; i < fields_of(one); i++) {
        for (int k = 0; k < fields_of(other) && result == RP_OK; k++) {
            def.body[0] = one->number + i;
            def.body[1] = other->number + k;
            result = def.body[0] != def.body[1] ? rp_world_set_contact(world, &def) : RP_OK;
        }
    }
    return result;
}

static void read_strength(const scene_value *v, double out[2])
{
    out[0] = v->kind == TAKES_RANGE ? v->vector[0] : v->number;
    out[1] = v->kind == TAKES_RANGE ? v->vector[1] : v->number;
}

static rp_result add_fracture(rp_world *world, const rp_scene *scene, const scene_call *r,
                              bool empty)
{
    rp_glue_def def = rp_default_glue_def();
    def.bare = empty;
    const scene_body *body = rp_scene_find_body(scene, rp_call_text(r, "body"));
    const scene_value *strength = rp_call_value(r, "strength"), *open = rp_call_value(r, "open");
    char name[RP_NAME_SIZE];
    def.cut = body->fracture->cut;
    def.field = body->number;
    read_strength(strength, def.strength);
    def.shear = number_or(r, "shear", 0.5 * (def.strength[0] + def.strength[1])) /
                (0.5 * (def.strength[0] + def.strength[1]));
    def.friction = rp_call_number(r, "friction");
    def.softening = number_or(r, "softening", 0.0);
    def.criterion = (rp_criterion)rp_call_choice(r, "criterion");
    def.open = open->kind != 0 ? open->call->shape : NULL;
    def.spacing = number_or(r, "spacing", 0.0);
    def.seed = (uint64_t)rp_call_integer(r, "seed");
    snprintf(name, sizeof name, "glue of %.50s", body->name);
    def.name = name;
    double strengths[30][2];
    const scene_value *by = rp_call_value(r, "by");
    if (by->kind == TAKES_CUT && strcmp(by->call->word->name, "planes") == 0) {
        const scene_value *list = rp_call_value(by->call, "list");
        for (int i = 0; i < list->count; i++) {
            const scene_value *own = rp_call_value(list->tables[i], "strength");
            read_strength(own->kind != 0 ? own : strength, strengths[i]);
        }
        def.strengths = (const double(*)[2])strengths;
    }
    return rp_world_add_glue(world, &def, NULL);
}

// "rest" has its name already.
static rp_result name_bodies(rp_world *world, const rp_scene *scene)
{
    rp_result result = RP_OK;
    for (int i = 0; i < scene->bodies && result == RP_OK; i++) {
        const scene_body *body = &scene->body[i];
        result = body->number > 0 && body->pieces == 0
                     ? rp_world_name_body(world, body->number, body->name)
                     : RP_OK;
    }
    return result;
}

static rp_result add_probe(rp_world *world, const scene_call *r)
{
    rp_probe_def def = rp_default_probe_def();
    const scene_value *point = rp_call_value(r, "point"), *plane = rp_call_value(r, "plane");
    def.name = rp_call_text(r, "name");
    def.radius = number_or(r, "radius", 0.0);
    def.every = number_or(r, "every", 0.0);
    if (point->kind != 0) {
        def.kind = RP_PROBE_POINT;
        memcpy(def.point, point->vector, sizeof def.point);
    } else if (plane->kind != 0) {
        def.kind = RP_PROBE_PLANE;
        memcpy(def.point, rp_call_vector(plane->call, "point"), sizeof def.point);
        memcpy(def.normal, rp_call_vector(plane->call, "normal"), sizeof def.normal);
    } else {
        def.kind = RP_PROBE_PARTICLE;
        def.particle = (uint64_t)rp_call_integer(r, "particle");
    }
    return rp_world_add_probe(world, &def);
}

static rp_result set_domain(rp_world *world, const scene_call *r)
{
    double lower[3] = {-INFINITY, -INFINITY, -INFINITY}, upper[3] = {INFINITY, INFINITY, INFINITY};
    for (int a = 0; a < rp_world_dimension(world); a++) {
        if (!rp_call_value(r, "periodic")->axes[a]) {
            lower[a] = rp_call_vector(r, "min")[a];
            upper[a] = rp_call_vector(r, "max")[a];
        }
    }
    return rp_world_set_domain(world, lower, upper, (rp_leave)rp_call_choice(r, "leave"));
}

// All of it
// --------------------------------------------------------------------------------------------------------

// What frames keep, once all materials are known.
static rp_result choose_columns(rp_world *world, const scene_call *output)
{
    const scene_value *columns = rp_call_value(output, "columns");
    return columns->kind == TAKES_STRINGS
               ? rp_world_choose_columns(world, columns->texts, columns->count)
               : RP_OK;
}

static rp_result add_call(rp_world *world, const rp_scene *scene, const scene_call *r,
                          rp_material *materials, bool empty)
{
    if (r->word->kind == WORD_MATERIAL) {
        return add_material(world, r, &materials[r->index]);
    }
    if (strcmp(r->word->name, "particles") == 0) {
        return empty ? RP_OK : add_particles(world, scene, r, materials);
    }
    if (strcmp(r->word->name, "collider") == 0) {
        return add_collider(world, scene, r);
    }
    if (strcmp(r->word->name, "rigid") == 0) {
        return add_rigid(world, r);
    }
    if (strcmp(r->word->name, "joint") == 0) {
        return add_joint(world, scene, r);
    }
    if (strcmp(r->word->name, "emitter") == 0) {
        return add_emitter(world, scene, r, materials);
    }
    if (strcmp(r->word->name, "contact") == 0) {
        return scene->fields > 1 ? add_contact(world, scene, r) : RP_OK;
    }
    if (strcmp(r->word->name, "fracture") == 0) {
        return add_fracture(world, scene, r, empty);
    }
    if (strcmp(r->word->name, "probe") == 0) {
        return add_probe(world, r);
    }
    if (strcmp(r->word->name, "sink") == 0) {
        return rp_world_add_sink(world, rp_call_value(r, "shape")->call->shape);
    }
    return strcmp(r->word->name, "domain") == 0 ? set_domain(world, r) : RP_OK;
}

static int turn_of(const rp_scene *scene, const scene_call *r)
{
    const bool rigid = strcmp(r->word->name, "rigid") == 0;
    const bool joint = strcmp(r->word->name, "joint") == 0;
    if (strcmp(r->word->name, "fracture") == 0) {
        return 5; // pieces have particles then
    }
    if (strcmp(r->word->name, "contact") == 0) {
        // of one piece after those of all pieces
        const scene_value *bodies = rp_call_value(r, "bodies");
        return bodies->kind == 0 || rp_scene_names_all(scene, r) ? 0 : 4;
    }
    const bool emitter = strcmp(r->word->name, "emitter") == 0;
    return strcmp(r->word->name, "particles") == 0 ? 3 : joint || emitter ? 2 : rigid;
}

rp_result rp_scene_create_world(rp_scene *scene, const rp_scene_world_def *def, rp_world **out)
{
    *out = NULL;
    if (def->cookie != COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "scene: start from rp_default_scene_world_def()");
    }
    int count = 1;
    for (const scene_call *r = scene->first; r != NULL; r = r->next) {
        count += r->word->kind == WORD_MATERIAL;
    }
    rp_material *materials = calloc((size_t)count, sizeof *materials);
    if (materials == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for materials", scene->path);
    }

    rp_world *world;
    const rp_world_def w = world_def(scene, def);
    const scene_call *at = scene->said;
    rp_result result = rp_world_create(&w, &world);
    result = result == RP_OK ? name_bodies(world, scene) : result;
    // particles last: what they are made of and what they must not lie in comes first; rigid bodies
    // after colliders, so that these are numbered as the scene says them, and what is joined or
    // attached to them after both
    for (int turn = 0; turn < 6; turn++) {
        for (const scene_call *r = scene->first; result == RP_OK && r != NULL; r = r->next) {
            if (turn_of(scene, r) == turn) {
                at = r;
                result = add_call(world, scene, r, materials, def->empty);
            }
        }
    }
    if (result == RP_OK) {
        at = rp_call_find(scene->first, "output");
        result = choose_columns(world, at);
    }
    free(materials);
    if (result != RP_OK) {
        result = rp_call_place(scene, at, result);
        rp_world_destroy(world);
        return result;
    }
    *out = world;
    return RP_OK;
}
