// Worlds to time, and the timing.
//
// Large heaps are made from small ones: a column of at most COARSE_MOST particles collapses, and
// each of its particles is split into eight, as often as needed. The heap that results is left to
// itself for a while, until it carries its own weight.
//
// Noise of a shared machine only ever makes a step slower, so the best of several repeats counts. A
// full sort happens every few dozen steps and would be missed by the best of short repeats: steps
// with and without are kept apart, the best of each is taken, and sorts count by their frequency.
#include "bench_case.h"

#include "host.h"
#include "limits.h"
#include "scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const bench_state_name[BENCH_STATES] = {"initial", "collapsed", "spray", "touching",
                                                    "apart",   "kubbs",     "bed",   "scene"};

enum { COARSE_MOST = 50000 };
static const double WIDTH = 0.1;                                               // [m]
static const double COLLAPSE_TIME = 0.45, SCENE_TIME = 0.25, KUBBS_TIME = 1.0; // [s]

// Every particle as the C API takes it.
typedef struct heap {
    int64_t count;
    double dx, volume;
    double *position, *velocity, *depth;
} heap;

static void heap_free(heap *h)
{
    free(h->position);
    free(h->velocity);
    free(h->depth);
    *h = (heap){0};
}

static rp_result heap_room(heap *h, int64_t count)
{
    h->count = count;
    h->position = malloc((size_t)count * 3 * sizeof *h->position);
    h->velocity = malloc((size_t)count * 3 * sizeof *h->velocity);
    h->depth = calloc((size_t)count, sizeof *h->depth);
    if (h->position == NULL || h->velocity == NULL || h->depth == NULL) {
        heap_free(h);
        return rp_fail(RP_ERR_MEMORY, "out of memory: a heap of %lld particles", (long long)count);
    }
    return RP_OK;
}

enum { BLOCKS = 98, BLOCK_SIDE = 9 }; // particles along an edge

static rp_result act_at_surface(rp_world_def *def)
{
    const rp_method_info *method;
    const rp_result result = rp_method_named("explicit", &method);
    if (result != RP_OK) {
        return result;
    }
    rp_properties_reset(method->option, method->options, def->option);
    for (int i = 0; i < method->options; i++) {
        for (int k = 0; strcmp(method->option[i].name, "contact_at") == 0 &&
                        method->option[i].choices[k] != NULL;
             k++) {
            if (strcmp(method->option[i].choices[k], "surface") == 0) {
                rp_property_set(&method->option[i], def->option, k);
            }
        }
    }
    def->options = true;
    return RP_OK;
}

static rp_result empty_world(const bench_case *c, double dx, rp_world **world, rp_material *sand)
{
    rp_world_def def = rp_default_world_def();
    def.fields = c->fields ? BLOCKS : 1;
    def.contact = c->fields && c->contact;
    rp_material_def material = rp_default_sand_def();
    rp_plane_def ground = rp_default_plane_def();
    def.dx = dx;
    def.order = c->order;
    def.gradient = c->gradient;
    def.transfer = c->transfer;
    def.precision = c->precision;
    def.threads = c->threads;
    def.isa = c->isa;
    rp_result result = c->surface ? act_at_surface(&def) : RP_OK;
    result = result != RP_OK ? result : rp_world_create(&def, world);
    result = result != RP_OK ? result : rp_world_add_material(*world, &material, sand);
    return result != RP_OK ? result : rp_world_add_plane(*world, &ground);
}

// Three times as high as wide, on the ground, 8 particles per cell.
static rp_result column(const bench_case *c, double particles, rp_world **world, double *dx)
{
    const int cells = (int)fmax(1.0, lround(cbrt(particles / 24.0)));
    rp_box_def box = rp_default_box_def();
    *dx = WIDTH / cells;
    rp_result result = empty_world(c, *dx, world, &box.material);
    box.upper[0] = box.upper[2] = cells * *dx;
    box.upper[1] = 3 * cells * *dx;
    return result != RP_OK ? result : rp_world_add_box(*world, &box, NULL);
}

static rp_result run_to(rp_world *world, double time, int least)
{
    rp_stats stats = {0};
    rp_result result = RP_OK;
    while (result == RP_OK && (stats.time < time || stats.step < least)) {
        result = rp_world_step(world);
        rp_world_stats(world, &stats);
    }
    return result;
}

static rp_result coarse_heap(double particles, heap *out)
{
    const bench_case usual = {.order = 2};
    rp_world *world = NULL;
    rp_stats stats;
    rp_result result = column(&usual, particles, &world, &out->dx);
    result = result != RP_OK ? result : run_to(world, COLLAPSE_TIME, 1);
    if (result == RP_OK) {
        rp_world_stats(world, &stats);
        out->volume = out->dx * out->dx * out->dx / 8.0;
        result = heap_room(out, stats.particles);
    }
    result = result != RP_OK ? result : rp_world_read(world, RP_COL_POSITION, out->position);
    result = result != RP_OK ? result : rp_world_read(world, RP_COL_VELOCITY, out->velocity);
    rp_world_destroy(world);
    return result;
}

// Eight for each, in the corners of a cube half as wide as a particle's share of space.
static rp_result split(heap *h)
{
    heap fine = {.dx = 0.5 * h->dx, .volume = h->volume / 8.0};
    const rp_result result = heap_room(&fine, 8 * h->count);
    const double away = 0.25 * cbrt(h->volume);
    for (int64_t i = 0; i < fine.count && result == RP_OK; i++) {
        for (int a = 0; a < 3; a++) {
            fine.position[3 * i + a] = h->position[3 * (i / 8) + a] + (i >> a & 1 ? away : -away);
            fine.velocity[3 * i + a] = h->velocity[3 * (i / 8) + a];
        }
        // what has sunk into the ground by less than a cell must not sink by two
        fine.position[3 * i + 1] = fmax(fine.position[3 * i + 1], -0.2 * fine.dx);
    }
    heap_free(h);
    *h = fine;
    return result;
}

static rp_result heap_world(const bench_case *c, heap *h, rp_world **world)
{
    rp_points_def points = rp_default_points_def();
    rp_result result = empty_world(c, h->dx, world, &points.material);
    points.count = h->count;
    points.position = h->position;
    points.velocity = h->velocity;
    points.volume = h->volume;
    result = result != RP_OK ? result : rp_world_add_points(*world, &points, NULL);
    heap_free(h);
    return result != RP_OK ? result : rp_world_prepare(*world);
}

static rp_result collapsed(const bench_case *c, rp_world **world)
{
    int splits = 0;
    double coarse = c->particles;
    for (; coarse > COARSE_MOST; coarse /= 8.0) {
        splits++;
    }
    heap h = {0};
    rp_result result = coarse_heap(coarse, &h);
    for (int i = 0; i < splits && result == RP_OK; i++) {
        result = split(&h);
    }
    result = result != RP_OK ? result : heap_world(c, &h, world);
    heap_free(&h);
    // the first hundredth of a second, in which the heap takes its weight up
    return result != RP_OK ? result : run_to(*world, c->particles > 2e6 ? 0.0 : 0.01, 10);
}

// Far from the ground and from each other.
static rp_result spray(const bench_case *c, rp_world **world)
{
    const double dx = 0.01, apart = 20.0 * dx;
    const int side = (int)ceil(cbrt(c->particles));
    heap h = {.dx = dx, .volume = dx * dx * dx / 8.0};
    rp_result result = heap_room(&h, (int64_t)c->particles);
    uint64_t random = 1;
    for (int64_t i = 0; i < h.count && result == RP_OK; i++) {
        const int64_t at[3] = {i % side, i / side % side, i / side / side};
        for (int a = 0; a < 3; a++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            const double share = (double)(random >> 11) * 0x1p-53;
            h.position[3 * i + a] = apart * ((double)at[a] + share) + (a == 1 ? 1.0 : 0.0);
            h.velocity[3 * i + a] = 0.2 * (share - 0.5);
        }
    }
    result = result != RP_OK ? result : heap_world(c, &h, world);
    heap_free(&h);
    return result != RP_OK ? result : run_to(*world, 0.0, 3);
}

// Blocks of four and a half cells, 7 x 7 x 2 of them, that drift. Without contact they do not feel
// each other, and what is timed is what fields cost.
static rp_result blocks(const bench_case *c, rp_world **world)
{
    const double dx = 0.01, edge = 0.5 * dx * BLOCK_SIDE;
    const double pitch = c->state == BENCH_APART ? 16.3 * dx : edge;
    rp_points_def points = rp_default_points_def();
    rp_result result = empty_world(c, dx, world, &points.material);
    double position[BLOCK_SIDE * BLOCK_SIDE * BLOCK_SIDE][3], velocity[sizeof position / 24][3];
    double depth[sizeof position / 24];
    points.count = sizeof position / sizeof position[0];
    points.position = &position[0][0];
    points.velocity = &velocity[0][0];
    points.depth = depth;
    points.volume = dx * dx * dx / 8.0;
    for (int b = 0; b < BLOCKS && result == RP_OK; b++) {
        for (int i = 0; i < (int)points.count; i++) {
            const int at[3] = {i % BLOCK_SIDE, i / BLOCK_SIDE % BLOCK_SIDE,
                               i / BLOCK_SIDE / BLOCK_SIDE};
            const int block[3] = {b % 7, b / 49, b / 7 % 7};
            depth[i] = edge;
            for (int a = 0; a < 3; a++) {
                const double below = 0.5 * dx * (at[a] + 0.5);
                depth[i] = fmin(depth[i], fmin(below, edge - below));
                position[i][a] = pitch * block[a] + 0.5 * dx * (at[a] + 0.5) + (a == 1 ? 3.0 : 0.0);
                velocity[i][a] = 0.1 * (a + 1);
            }
        }
        points.field = c->fields ? b : 0;
        result = rp_world_add_points(*world, &points, NULL);
    }
    return result != RP_OK ? result : run_to(*world, 0.0, 3);
}

rp_result bench_world(const char *text, int threads, rp_scene **scene, rp_world **world)
{
    rp_scene_def def = rp_default_scene_def();
    rp_scene_world_def with = rp_default_scene_world_def();
    def.path = "bench";
    def.text = text;
    def.text_size = strlen(text);
    with.threads = threads;
    const rp_result result = rp_scene_load(&def, scene);
    return result != RP_OK ? result : rp_scene_create_world(*scene, &with, world);
}

// A scene of the gallery after some time. Precision and order are its own.
static rp_result scene_at(const char *name, rp_scene_param *param, int params, int threads,
                          double time, rp_scene **scene, rp_world **world)
{
    char path[PATH_SIZE];
    rp_scene_def def = rp_default_scene_def();
    rp_scene_world_def world_def = rp_default_scene_world_def();
    if (!scene_along(name, path)) {
        return rp_fail(RP_ERR_FILE, "the scene %s that comes with Repose was not found", name);
    }
    def.path = path;
    def.param = param;
    def.params = params;
    world_def.threads = threads;
    rp_result result = rp_scene_load(&def, scene);
    result = result != RP_OK ? result : rp_scene_create_world(*scene, &world_def, world);
    return result != RP_OK ? result : run_to(*world, time, 1);
}

// The blocks of the scene kubbs a second after they were let go, in the order of ids, so that a
// block is a run of particles.
static rp_result fallen_kubbs(heap *out)
{
    rp_scene_param whole = {"size", "paper"};
    rp_scene *scene = NULL;
    rp_world *world = NULL;
    rp_stats stats;
    heap found = {0};
    double *id = NULL;
    rp_result result =
        scene_at("kubbs", &whole, 1, rp_default_threads(), KUBBS_TIME, &scene, &world);
    if (result == RP_OK) {
        rp_world_stats(world, &stats);
        result = heap_room(&found, stats.particles);
    }
    result = result != RP_OK ? result : heap_room(out, found.count);
    if (result == RP_OK) {
        id = malloc((size_t)found.count * sizeof *id);
        result = id != NULL ? RP_OK : rp_fail(RP_ERR_MEMORY, "out of memory: ids of kubbs");
    }
    result = result != RP_OK ? result : rp_world_read(world, RP_COL_ID, id);
    result = result != RP_OK ? result : rp_world_read(world, RP_COL_POSITION, found.position);
    result = result != RP_OK ? result : rp_world_read(world, RP_COL_VELOCITY, found.velocity);
    result = result != RP_OK ? result : rp_world_read(world, RP_COL_DEPTH, found.depth);
    for (int64_t i = 0; i < found.count && result == RP_OK; i++) {
        const int64_t to = (int64_t)id[i];
        memcpy(out->position + 3 * to, found.position + 3 * i, 3 * sizeof(double));
        out->depth[to] = found.depth[i];
        memcpy(out->velocity + 3 * to, found.velocity + 3 * i, 3 * sizeof(double));
    }
    free(id);
    heap_free(&found);
    rp_world_destroy(world);
    rp_scene_free(scene);
    return result;
}

// Each with a velocity field of its own, or all of them as one body.
static rp_result kubbs(const bench_case *c, rp_world **world)
{
    static const double middle[3] = {0.0, -1.2, 0.0};
    static heap h; // they fall once for all cases
    const double dx = 0.04, volume = 0.15 * 0.3 * 0.15;
    rp_shape *mound = NULL;
    rp_material sand;
    rp_points_def points = rp_default_points_def();
    rp_material_def wood = rp_default_elastic_def();
    rp_collider_def collider = rp_default_collider_def();
    rp_pair_def rule = rp_default_pair_def();
    wood.density = 500.0;
    wood.young = 1e6;
    rule.friction = 0.4;
    rp_result result = h.count > 0 ? RP_OK : fallen_kubbs(&h);
    result = result != RP_OK ? result : empty_world(c, dx, world, &sand);
    result = result != RP_OK ? result : rp_world_add_material(*world, &wood, &points.material);
    result = result != RP_OK ? result : rp_shape_sphere(middle, 1.5, &mound);
    collider.shape = mound;
    collider.contact = RP_SEPARATE;
    collider.friction = 0.6;
    result = result != RP_OK ? result : rp_world_add_collider(*world, &collider);
    if (result == RP_OK && c->fields && c->contact) {
        result = rp_world_set_contact(*world, &rule);
    }
    points.count = h.count / BLOCKS;
    points.volume = volume / (double)points.count;
    for (int b = 0; b < BLOCKS && result == RP_OK; b++) {
        points.position = h.position + 3 * points.count * b;
        points.velocity = h.velocity + 3 * points.count * b;
        points.depth = h.depth + points.count * b;
        points.field = c->fields ? b : 0;
        result = rp_world_add_points(*world, &points, NULL);
    }
    rp_shape_release(mound);
    return result != RP_OK ? result : run_to(*world, 0.0, 3);
}

// Twice as wide as deep, 8 particles a cell, which carries its weight; with a ball half as heavy
// that lies in it up to its middle.
static rp_result bed(const bench_case *c, rp_world **world)
{
    const int cells = (int)fmax(8.0, lround(cbrt(c->particles / 4.0)));
    const double dx = 0.01, width = cells * dx, height = 0.5 * width;
    const double lower[3] = {0.0, 0.0, 0.0}, upper[3] = {width, height, width};
    const double high[3] = {width, 10.0, width}, middle[3] = {0.5 * width, height, 0.5 * width};
    rp_particles_def particles = rp_default_particles_def();
    rp_rigid_def rigid = rp_default_rigid_def();
    rp_shape *ball = NULL, *sand = NULL;
    rp_result result = empty_world(c, dx, world, &particles.material);
    result = result != RP_OK ? result : rp_world_add_walls(*world, lower, high, RP_SEPARATE, 0.3);
    result = result != RP_OK ? result : rp_shape_sphere(middle, 5.0 * dx, &ball);
    result = result != RP_OK ? result : rp_shape_box(lower, upper, &sand);
    rigid.shape = ball;
    rigid.density = 1000.0;
    if (result == RP_OK && c->rigid) {
        result = rp_world_add_rigid(*world, &rigid, NULL);
    }
    particles.shape = sand;
    particles.spacing = 0.5 * dx;
    particles.prestress = RP_PRESTRESS_K0;
    result = result != RP_OK ? result : rp_world_add_particles(*world, &particles, NULL);
    rp_shape_release(ball);
    rp_shape_release(sand);
    return result != RP_OK ? result : run_to(*world, 0.05, 10);
}

// Operations that the formulas of a step need for a particle, counted by hand: a multiplication and
// an addition are one each, sums over nodes are factored axis by axis, four numbers a node. The
// last figure is weights, stress, strain and return mapping.
static double flops_per_particle(const bench_case *c)
{
    const bool spline = c->gradient == RP_GRADIENT_SPLINE;
    return c->order == 3 ? (spline ? 2100 + 1680 + 620 : 944 + 832 + 564)
                         : (spline ? 980 + 828 + 560 : 428 + 372 + 500);
}

// Bytes that must cross to memory and back: columns that each transfer reads and writes, arenas
// written and read once, nodes written and read once.
static double bytes_per_step(const bench_case *c, const rp_stats *s)
{
    const double real = c->precision == RP_SINGLE ? 4.0 : 8.0;
    const double p2g = 21 * real + 2, g2p = 10 * real + 10 + 22 * real;
    const int reach = 2 + c->order;
    const double arena = 4 * real * (8 + reach) * (8 + reach) * (4 + reach), nodes = 4 * real * 256;
    return (double)s->particles * (p2g + g2p) + 2.0 * arena * (double)s->pages +
           2.0 * nodes * (double)s->node_pages;
}

typedef struct lap {
    double wall, cpu, stage[BENCH_STAGES];
} lap;

static lap lap_now(rp_world *world)
{
    rp_stats s;
    rp_world_stats(world, &s);
    lap l = {wall_seconds(), cpu_seconds(), {0}};
    memcpy(l.stage, s.seconds, sizeof l.stage);
    return l;
}

static lap lap_since(rp_world *world, lap start)
{
    lap l = lap_now(world);
    l.wall -= start.wall;
    l.cpu -= start.cpu;
    for (int i = 0; i < BENCH_STAGES; i++) {
        l.stage[i] -= start.stage[i];
    }
    return l;
}

// Each number for itself: a burst of noise spoils one stage of a step, not all of them.
static void keep_best(lap *best, const lap *l)
{
    best->wall = fmin(best->wall, l->wall);
    best->cpu = fmin(best->cpu, l->cpu);
    for (int i = 0; i < BENCH_STAGES; i++) {
        best->stage[i] = fmin(best->stage[i], l->stage[i]);
    }
}

static rp_result measure(const bench_case *c, rp_world *world, bench_result *out)
{
    const lap never = {INFINITY, INFINITY, {INFINITY, INFINITY, INFINITY, INFINITY}};
    lap plain = never, sorting = never;
    rp_stats s, before;
    rp_world_stats(world, &before);
    const int64_t first = before.step, first_sorts = before.sorts;
    // some hundredths of a second at a go where steps are short; as long as `repeats` says, at
    // least three times, and rather longer than without having seen a sort
    double since = wall_seconds();
    const rp_result first_step = rp_world_step(world);
    if (first_step != RP_OK) {
        return first_step;
    }
    const int group = (int)fmax(1.0, fmin(100.0, 0.03 / (wall_seconds() - since)));
    since = wall_seconds();
    s = before;
    for (int i = 0; i < 3 || wall_seconds() - since < c->repeats * (s.sorts == first_sorts ? 3 : 1);
         i++) {
        if (i % 8 == 0) {
            out->fma = fmax(out->fma, 1e9 * limit_fma(1, c->precision ? 64 : 32));
        }
        rp_world_stats(world, &before);
        const lap start = lap_now(world);
        for (int k = 0; k < group; k++) {
            const rp_result result = rp_world_step(world);
            if (result != RP_OK) {
                return result;
            }
        }
        lap l = lap_since(world, start);
        l.wall /= group;
        l.cpu /= group;
        for (int k = 0; k < BENCH_STAGES; k++) {
            l.stage[k] /= group;
        }
        rp_world_stats(world, &s);
        keep_best(s.sorts > before.sorts ? &sorting : &plain, &l);
    }
    out->particles = s.particles;
    out->steps = s.step - first;
    out->pages = s.pages;
    out->node_pages = s.node_pages;
    out->sorts_per_step = (double)(s.sorts - first_sorts) / (double)out->steps;
    // groups of steps hold sorts as often as they come
    const double share = fmin(1.0, out->sorts_per_step * group);
    const double n = (double)s.particles;
    plain = isfinite(plain.wall) ? plain : sorting;
    sorting = isfinite(sorting.wall) ? sorting : plain;
#define ALL_IN(x) ((plain.x + share * fmax(0.0, sorting.x - plain.x)) / n)
    out->wall = ALL_IN(wall);
    out->cpu = ALL_IN(cpu);
    out->rest = out->wall;
    for (int k = 0; k < BENCH_STAGES; k++) {
        out->stage[k] = ALL_IN(stage[k]);
        out->rest -= out->stage[k];
    }
    out->rest = fmax(0.0, out->rest);
    out->step = out->wall * n;
    out->flops = flops_per_particle(c);
    out->bytes = bytes_per_step(c, &s) / n;
    out->isa = rp_world_isa(world);
    return RP_OK;
}

// A run copies its state and goes on, while the copy is written.
static rp_result write_frame(rp_world *world, double held, bench_result *out)
{
    char path[] = "/tmp/repose-bench-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0) {
        return RP_OK; // not measured
    }
    close(file);
    if (forget_peak()) {
        void *state;
        size_t size;
        rp_result result = rp_world_save(world, &state, &size);
        if (result == RP_OK) {
            result = rp_frame_write(path, state, size, NULL);
            rp_state_free(state);
        }
        remove(path);
        out->bytes_writing = ((double)peak_memory() - held) / (double)out->particles;
        return result;
    }
    remove(path);
    return RP_OK;
}

rp_result bench_run(const bench_case *c, bench_result *out)
{
    *out = (bench_result){0};
    rp_world *world = NULL;
    rp_scene *scene = NULL;
    double dx;
    const double held = (double)resident_memory();
    rp_result result = c->state == BENCH_COLLAPSED ? collapsed(c, &world)
                       : c->state == BENCH_SPRAY   ? spray(c, &world)
                       : c->state == BENCH_KUBBS   ? kubbs(c, &world)
                       : c->state == BENCH_BED     ? bed(c, &world)
                       : c->state == BENCH_SCENE
                           ? scene_at(c->scene, NULL, 0, c->threads, SCENE_TIME, &scene, &world)
                       : c->state == BENCH_TOUCHING || c->state == BENCH_APART
                           ? blocks(c, &world)
                           : column(c, c->particles, &world, &dx);
    if (c->state == BENCH_INITIAL && result == RP_OK) {
        result = run_to(world, 0.0, 5);
    }
    result = result != RP_OK ? result : measure(c, world, out);
    out->bytes_per_particle = ((double)resident_memory() - held) / (double)(out->particles + 1);
    if (result == RP_OK && c->state == BENCH_COLLAPSED && c->particles == 1e6) {
        result = write_frame(world, held, out);
    }
    rp_world_destroy(world);
    rp_scene_free(scene);
    return result;
}

double bench_fraction_of_fma(const bench_result *r) { return r->flops / r->cpu / r->fma; }
