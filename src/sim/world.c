#include "sim/world.h"

#include "base/result.h"
#include "base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

rp_world_def rp_default_world_def(void)
{
    return (rp_world_def){
        .dimension = 3,
        .precision = RP_SINGLE,
        .order = 2,
        .transfer = RP_APIC,
        .flip = 0.95,
        .fps = 24.0,
        .gravity = {0.0, -9.81, 0.0},
        .cfl = 1.0,
        .elastic_share = 0.8,
        .dt_max = INFINITY,
        .fields = 1,
        .cookie = RP_DEF_COOKIE,
    };
}

static rp_result check_def(const rp_world_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "world: start from rp_default_world_def()");
    }
    if (def->dimension != 2 && def->dimension != 3) {
        return rp_fail(RP_ERR_ARGUMENT, "world.dimension: want 2 or 3, got %d", def->dimension);
    }
    if (def->order < 1 || def->order > 3) {
        return rp_fail(RP_ERR_ARGUMENT, "world.order: want 1, 2 or 3, got %d", def->order);
    }
    if (def->precision != RP_SINGLE && def->precision != RP_DOUBLE) {
        return rp_fail(RP_ERR_ARGUMENT, "world.precision: want RP_SINGLE or RP_DOUBLE, got %d",
                       (int)def->precision);
    }
    if (def->gradient != RP_GRADIENT_SPLINE && def->gradient != RP_GRADIENT_AFFINE) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "world.gradient: want RP_GRADIENT_SPLINE or RP_GRADIENT_AFFINE, got %d",
                       (int)def->gradient);
    }
    if (def->gradient == RP_GRADIENT_AFFINE && def->order == 1) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "world.gradient: affine gradients want splines of order 2 or 3, got 1");
    }
    if (def->transfer != RP_APIC && def->transfer != RP_PIC && def->transfer != RP_FLIP &&
        def->transfer != RP_STEADY) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "world.transfer: want RP_APIC, RP_PIC, RP_FLIP or RP_STEADY, got %d",
                       (int)def->transfer);
    }
    if (!(def->fade >= 0.0 && isfinite(def->fade))) {
        return rp_fail(RP_ERR_ARGUMENT, "world.fade: want >= 0 s, got %g", def->fade);
    }
    const double *g = def->gravity;
    if (def->transfer == RP_STEADY && def->fade == 0.0 && def->gravity_of_time.call == NULL &&
        g[0] == 0.0 && g[1] == 0.0 && g[2] == 0.0) {
        return rp_fail(RP_ERR_ARGUMENT, "world.fade: the steady transfer takes its time from "
                                        "gravity; without gravity say it, transfer = { steady = "
                                        "seconds }");
    }
    if (!(def->flip >= 0.0 && def->flip <= 1.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "world.flip: want 0 to 1, got %g", def->flip);
    }
    if (!(def->dx > 0.0 && isfinite(def->dx))) {
        return rp_fail(RP_ERR_ARGUMENT, "world.dx: want > 0 m, got %g", def->dx);
    }
    if (!(def->fps > 0.0 && isfinite(def->fps))) {
        return rp_fail(RP_ERR_ARGUMENT, "world.fps: want > 0, got %g", def->fps);
    }
    if (!(def->cfl > 0.0 && def->cfl <= 1.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "world.cfl: want > 0 and at most 1 cell, got %g", def->cfl);
    }
    if (!(def->elastic_share > 0.0 && isfinite(def->elastic_share))) {
        return rp_fail(RP_ERR_ARGUMENT, "world.elastic_share: want > 0, got %g",
                       def->elastic_share);
    }
    if (!(def->dt_max > 0.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "world.dt_max: want > 0 s, got %g", def->dt_max);
    }
    if (def->fields < 1 || def->fields > UINT16_MAX) {
        return rp_fail(RP_ERR_ARGUMENT, "world.fields: want 1 to %d, got %d", UINT16_MAX,
                       def->fields);
    }
    if (def->threads < 0 || def->threads > 1024) {
        return rp_fail(RP_ERR_ARGUMENT, "world.threads: want 0 to 1024, got %d", def->threads);
    }
    for (int a = 0; a < def->dimension; a++) {
        const int cells = RP_BLOCK_CELLS(def->dimension, a);
        if (def->period[a] < 0 || def->period[a] % cells != 0 ||
            def->period[a] / cells >= RP_BLOCK_LIMIT) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "world.period[%d]: want a multiple of %d cells, or 0 for none, got %d",
                           a, cells, def->period[a]);
        }
        if (!isfinite(def->gravity[a])) {
            return rp_fail(RP_ERR_ARGUMENT, "world.gravity[%d]: want a finite number, got %g", a,
                           def->gravity[a]);
        }
    }
    return RP_OK;
}

// The named instruction set, or the widest that this build and this machine have.
static rp_result choose_kernels(rp_world *world)
{
    const rp_world_def *def = &world->def;
    const char *name = def->isa != NULL ? def->isa : getenv("REPOSE_ISA");
    if (rp_kernels_find(def->dimension, def->order, def->precision, RP_ISA_PLAIN) == NULL) {
        return rp_fail(
            RP_ERR_UNSUPPORTED,
            "world: this build lacks %dD worlds with splines of order %d in %s precision",
            def->dimension, def->order, def->precision == RP_SINGLE ? "single" : "double");
    }
    for (int isa = RP_ISA_COUNT - 1; isa >= 0; isa--) {
        if (name != NULL && strcmp(name, rp_isa_name(isa)) != 0) {
            continue;
        }
        const rp_kernels *k = rp_kernels_find(def->dimension, def->order, def->precision, isa);
        if (k != NULL && rp_isa_supported(isa)) {
            world->kernels = k;
            world->laws = rp_laws_find(def->dimension, k->real_bits, isa);
            return RP_OK;
        }
        if (name != NULL) {
            return rp_fail(RP_ERR_UNSUPPORTED, "world.isa: %s has no %s",
                           k == NULL ? "this build" : "this processor", name);
        }
    }
    return rp_fail(RP_ERR_ARGUMENT, "world.isa: want plain, avx2 or avx512, got '%s'",
                   name != NULL ? name : "");
}

rp_result rp_world_honours(const rp_world *world, rp_feature feature)
{
    char remark[8];
    const rp_method_info *method = &world->solver->info;
    if (method->regard[feature] == RP_IMPOSSIBLE) {
        return rp_method_check(method, 1ull << feature, remark, sizeof remark);
    }
    return world->solver->honours != NULL ? world->solver->honours(&world->def, feature) : RP_OK;
}

// The method, its options, and what it needs of this world.
static rp_result choose_method(rp_world *world)
{
    rp_world_def *def = &world->def;
    const rp_method_info *method;
    RP_TRY(rp_method_named(def->method != NULL ? def->method : "explicit", &method));
    world->solver = rp_solver_find(method->name);
    def->method = method->name;
    if (!def->options) {
        rp_properties_reset(method->option, method->options, def->option);
    }
    RP_TRY(rp_properties_check(method->option, method->options, def->option, method->name));
    if (world->solver->check != NULL) {
        RP_TRY(world->solver->check(def));
    }
    const bool asked[RP_FEATURE_COUNT] = {
        [RP_FEATURE_ACCELERATION] = def->acceleration.call != NULL,
        [RP_FEATURE_ENERGY] = def->energy,
        [RP_FEATURE_BODIES] = def->contact,
        [RP_FEATURE_PERIODIC] = def->period[0] > 0 || def->period[1] > 0 || def->period[2] > 0,
        [RP_FEATURE_TWO_DIMENSIONS] = def->dimension == 2,
        [RP_FEATURE_DOUBLE] = def->precision == RP_DOUBLE,
    };
    for (int f = 0; f < RP_FEATURE_COUNT; f++) {
        RP_TRY(asked[f] ? rp_world_honours(world, (rp_feature)f) : RP_OK);
    }
    world->solver->needs(def, &world->needs);
    if (method->regard[RP_FEATURE_ORDER] == RP_MEANINGLESS) {
        // it has splines of its own
        def->order = __builtin_ctz(world->needs.orders);
        def->gradient = RP_GRADIENT_SPLINE;
    }
    if (!(world->needs.orders >> def->order & 1)) {
        return rp_fail(RP_ERR_UNSUPPORTED, "world.order: method %s cannot use splines of order %d",
                       method->name, def->order);
    }
    rp_stats *stats = &world->stats;
    while (stats->stages < RP_STAGE_LIMIT && world->solver->stage[stats->stages] != NULL) {
        stats->stage[stats->stages] = world->solver->stage[stats->stages];
        stats->stages++;
    }
    while (stats->extras < RP_EXTRA_LIMIT && world->solver->extra[stats->extras] != NULL) {
        stats->extra_name[stats->extras] = world->solver->extra[stats->extras];
        stats->extras++;
    }
    strcpy(stats->limiter, "none");
    return RP_OK;
}

// Wall-clock times are not state: two equal runs save equal bytes.
static void register_state(rp_world *world)
{
    rp_registry *r = &world->registry;
    rp_stats *stats = &world->stats;
    rp_registry_add(r, "world/time", &world->time, sizeof world->time);
    rp_registry_add(r, "world/next_id", &world->next_id, sizeof world->next_id);
    rp_registry_add(r, "world/newborn_speed", &world->newborn_speed, sizeof(double));
    rp_registry_add(r, "world/newborn_gradient", &world->newborn_gradient, sizeof(double));
    rp_registry_add_table(r, "colliders/loads", (double *)world->load,
                          sizeof(rp_load) / sizeof(double));
    rp_registry_add_table(r, "bodies/motion", (double *)world->motion,
                          sizeof(rp_rigid_motion) / sizeof(double));
    rp_registry_add_table(r, "joints/state", (double *)world->company.link_state,
                          sizeof(rp_link_state) / sizeof(double));
    rp_registry_add_array(r, "bodies/echoes", &world->company.echo, &world->allocator,
                          &world->company.echoes, sizeof(rp_echo));
    rp_registry_add(r, "stats/born", &stats->born, sizeof stats->born);
    rp_registry_add(r, "stats/removed", &stats->removed, sizeof stats->removed);
    rp_registry_add(r, "stats/sunk", &stats->sunk, sizeof stats->sunk);
    rp_registry_add(r, "stats/left", &stats->left, sizeof stats->left);
    rp_registry_add(r, "stats/clamped", &stats->clamped, sizeof stats->clamped);
    rp_registry_add_table(r, "emitters/layers", world->layers, 1);
    rp_registry_add_table(r, "emitters/buried", world->buried, 1);
    if (world->def.contact) {
        rp_registry_add_array(r, "bodies/loads", &world->pair_loads.list, &world->allocator,
                              &world->pair_loads.count, sizeof(rp_pair_load));
    }
    if (world->def.energy) {
        rp_registry_add(r, "world/energy", &world->energy, sizeof world->energy);
        rp_registry_add(r, "world/funds", &world->funds, sizeof world->funds);
    }
    rp_registry_add(r, "world/watch", &world->watch, sizeof world->watch);
    rp_registry_add(r, "stats/sorts", &stats->sorts, sizeof stats->sorts);
    rp_registry_add(r, "stats/dt", &stats->dt, sizeof stats->dt);
    rp_registry_add(r, "stats/limiter", stats->limiter, sizeof stats->limiter);
    rp_registry_add(r, "stats/max_speed", &stats->max_speed, sizeof(double));
    rp_registry_add(r, "stats/max_gradient", &stats->max_gradient, sizeof(double));
    rp_registry_add(r, "stats/dropped_momentum", &stats->dropped_momentum, sizeof(double));
}

// What a world keeps of each collider and rigid body.
static rp_result make_room(rp_world *world)
{
    const rp_allocator *a = &world->given;
    const size_t count = RP_COLLIDER_LIMIT;
    world->collider = a->allocate(count * sizeof *world->collider, RP_CACHE_LINE, a->context);
    world->rigid = a->allocate(count * sizeof *world->rigid, RP_CACHE_LINE, a->context);
    world->load = a->allocate(count * sizeof *world->load, RP_CACHE_LINE, a->context);
    world->body = a->allocate(count * sizeof *world->body, RP_CACHE_LINE, a->context);
    world->motion = a->allocate(count * sizeof *world->motion, RP_CACHE_LINE, a->context);
    return world->collider != NULL && world->rigid != NULL && world->load != NULL &&
                   world->body != NULL && world->motion != NULL
               ? RP_OK
               : rp_fail(RP_ERR_MEMORY, "out of memory: room for %zu colliders", count);
}

static void drop_room(rp_world *world)
{
    const size_t count = RP_COLLIDER_LIMIT;
    rp_delete(&world->given, world->collider, count * sizeof *world->collider);
    rp_delete(&world->given, world->rigid, count * sizeof *world->rigid);
    rp_delete(&world->given, world->load, count * sizeof *world->load);
    rp_delete(&world->given, world->body, count * sizeof *world->body);
    rp_delete(&world->given, world->motion, count * sizeof *world->motion);
}

rp_result rp_world_create(const rp_world_def *def, rp_world **out)
{
    *out = NULL;
    RP_TRY(check_def(def));
    const rp_allocator *a = def->allocator != NULL ? def->allocator : rp_default_allocator();
    rp_world *world = rp_new(a, sizeof *world, "a world");
    if (world == NULL) {
        return RP_ERR_MEMORY;
    }
    world->def = *def;
    world->funds = NAN;
    world->given = *a;
    const rp_result room = make_room(world);
    world->allocator = def->memory > 0 ? rp_limited_allocator(&world->limited, a, def->memory) : *a;
    a = &world->allocator;
    world->threads = def->threads > 0 ? def->threads : rp_default_threads();
    rp_scratch_init(&world->scratch, a);
    rp_result result = room == RP_OK ? choose_method(world) : room;
    result = result == RP_OK ? choose_kernels(world) : result;
    if (result == RP_OK) {
        result = world->solver->create(&world->def, a, &world->solver_state);
    }
    if (result == RP_OK) {
        const rp_layout layout = rp_layout_make(&world->def);
        rp_grid_init(&world->grid, &layout, world->needs.channel, a);
        world->pairs = rp_pairs_default();
        world->solver->state(world->solver_state, &world->registry);
        register_state(world);
        *out = world;
    } else {
        rp_world_destroy(world);
    }
    return result;
}

void rp_world_join(rp_world *world, rp_comm *comm)
{
    RP_ASSERT(world->species_count == 0 && world->probes == 0 && comm->size <= RP_RANK_LIMIT);
    world->comm = world->grid.comm = comm;
}

void rp_world_destroy(rp_world *world)
{
    if (world == NULL) {
        return;
    }
    const rp_allocator given = world->given, *a = &world->allocator;
    if (world->solver_state != NULL) {
        world->solver->destroy(world->solver_state, a);
        rp_grid_free(&world->grid);
    }
    for (int s = 0; s < world->species_count; s++) {
        rp_set_free(&world->set[s]);
        rp_buffer_free(&world->species[s].group_reals, a);
        rp_buffer_free(&world->species[s].group_doubles, a);
        rp_buffer_free(&world->species[s].group_laws, a);
    }
    for (int i = 0; i < world->colliders; i++) {
        rp_shape_release(world->collider[i].shape);
        rp_morph_free(world->collider[i].morph);
        rp_buffer_free(&world->company.skin[i].buffer, a);
    }
    for (int i = 0; i < world->broken_count; i++) {
        rp_cut_destroy(world->broken[i].cut);
    }
    rp_buffer_free(&world->company.bumps.buffer, a);
    rp_buffer_free(&world->company.echo, a);
    rp_pour_free(world);
    rp_plan_free(world);
    rp_pairs_free(&world->pairs, a);
    rp_buffer_free(&world->pair_loads.list, a);
    rp_buffer_free(&world->cracks, a);
    rp_buffer_free(&world->body_names, a);
    rp_scratch_free(&world->scratch);
    drop_room(world);
    rp_delete(&given, world, sizeof *world);
}

const char *rp_world_isa(const rp_world *world) { return rp_isa_name(world->kernels->isa); }

int rp_world_dimension(const rp_world *world) { return world->def.dimension; }
