// A world that is cut into ranks is the same world, bit for bit: the ranks live in one process and
// exchange through the seams (core/exchange.h) only.
#include "base/result.h"
#include "core/nodes.h"
#include "core/state.h"
#include "sim/world.h"

#include "check.h"
#include "failing_allocator.h"
#include "team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MOST = 5 };

static void must(rp_result result)
{
    if (result != RP_OK) {
        printf("no world for ranks: %s\n", rp_last_error());
        abort();
    }
}

// ---- reduce ----

typedef struct reduced {
    double most[RANKS_MOST][2], sum[RANKS_MOST];
    int64_t count[RANKS_MOST];
    rp_result result[RANKS_MOST];
    char sentence[RANKS_MOST][64];
    int shared[RANKS_MOST];
} reduced;

// Numbers whose sum depends on the order: page k has 1e16, 1, -1e16 or 3 by turns.
static double number_of_page(int k)
{
    static const double turn[] = {1e16, 1.0, -1e16, 3.0, 0.1};
    return turn[k % 5];
}

enum { PAGES = 23 };

static void reduce_something(rp_comm *comm, void *context)
{
    reduced *out = context;
    const int r = comm->rank;
    out->most[r][0] = r == 1 ? 7.0 : -1.0;
    out->most[r][1] = -INFINITY;
    must(rp_reduce_max(comm, out->most[r], 2));
    out->count[r] = 1 + r;
    must(rp_reduce_add(comm, &out->count[r], 1));
    // pages are dealt out, and come in any order of ranks
    rp_sum sum = {
        .comm = comm, .allocator = rp_default_allocator(), .numbers = 1, .context = &out->sum[r]};
    for (int k = 0; k < PAGES; k++) {
        if (k * 7 % comm->size == r) {
            const double number = number_of_page(k);
            rp_sum_put(&sum, 1000 + (uint64_t)k / 2, (uint16_t)(k % 2), 0, &number);
        }
    }
    must(rp_sum_end(&sum));
    // the lowest of those that fail is heard
    out->shared[r] = 100 + r;
    const rp_result own = r == 0 ? RP_OK : rp_fail(RP_ERR_LIMIT, "rank %d has had enough", r);
    out->result[r] = rp_agree(comm, own, &out->shared[r], sizeof out->shared[r]);
    snprintf(out->sentence[r], sizeof out->sentence[r], "%s", rp_last_error());
}

static void what_ranks_reduce_is_what_one_would(void)
{
    double whole = 0.0;
    for (int k = 0; k < PAGES; k++) {
        whole += number_of_page(k);
    }
    for (int size = 2; size <= RANKS_MOST; size += 3) {
        reduced out = {0};
        team_run(size, reduce_something, &out);
        for (int r = 0; r < size; r++) {
            CHECK(out.most[r][0] == 7.0 && out.most[r][1] == -INFINITY);
            CHECK_EQUAL(out.count[r], size * (size + 1) / 2);
            CHECK(out.sum[r] == whole);
            CHECK_EQUAL(out.result[r], RP_ERR_LIMIT);
            CHECK(strcmp(out.sentence[r], "rank 1 has had enough") == 0);
            CHECK_EQUAL(out.shared[r], 101);
        }
    }
}

// ---- nodes that several ranks hold ----

enum { NODE_PAGES_MOST = 64, OWN_COMPS = 3 };

typedef struct nodes {
    rp_local pages;
    uint64_t key[NODE_PAGES_MOST];
    float value[NODE_PAGES_MOST][2]; // of the first and the last number of a page
    double dot;
    rp_result numbered;
} nodes;

// What a page has in a channel, on a rank that has it to itself.
static float own_number(uint64_t key, int i) { return (float)(key % 1000) + 0.37f * (float)i; }

static void copy_nodes(rp_comm *comm, void *context)
{
    nodes *out = (nodes *)context + (comm != NULL ? comm->rank : 0);
    rp_world_def def = rp_default_world_def();
    def.dimension = 2;
    def.dx = 0.1;
    const rp_layout layout = rp_layout_make(&def);
    const rp_allocator *a = rp_default_allocator();
    const rp_channel channel[RP_CHANNEL_LIMIT] = {
        [RP_CH_MOMENTUM] = {"momentum", RP_QUAD, RP_FROM_ALL_WITH_MASS},
        [RP_CH_OWN] = {"pressure", OWN_COMPS, NULL}};
    rp_set set;
    rp_grid grid;
    rp_buffer scratch = {0};
    uint16_t group;
    must(rp_set_init(&set, &layout, 1u << RP_COL_VELOCITY, a));
    rp_grid_init(&grid, &layout, channel, a);
    rp_grid_let_scatter(&grid, 0, "solid", true);
    set.comm = grid.comm = comm;
    must(rp_set_add_group(&set, &(rp_group){.volume = 1.0, .mass = 1.0}, &group));
    must(rp_set_reserve_births(&set, 0, 400));
    for (int i = 0; i < 400; i++) {
        rp_set_birth_value(&set, RP_COL_POSITION, i, 0, 0.2 * (i % 20));
        rp_set_birth_value(&set, RP_COL_POSITION, i, 1, 0.2 * (i / 20));
    }
    rp_set_end_births(&set, 400, group);
    must(rp_set_sort(&set, &scratch, 1));
    must(rp_grid_build(&grid, &set, 1));
    const int numbers = layout.nodes * OWN_COMPS;
    for (rp_local p = 0; p < grid.pages; p++) {
        float *to = rp_grid_nodes(&grid, RP_CH_OWN, p);
        for (int i = 0; i < numbers; i++) {
            to[i] = own_number(rp_grid_page(&grid)[p].key, i) +
                    1000.0f * (float)(comm != NULL ? comm->rank : 0);
        }
    }
    must(rp_halo_copy(&grid, RP_CH_OWN));
    out->pages = grid.pages;
    for (rp_local p = 0; p < grid.pages; p++) {
        float *to = rp_grid_nodes(&grid, RP_CH_OWN, p);
        out->key[p] = rp_grid_page(&grid)[p].key;
        out->value[p][0] = to[0];
        out->value[p][1] = to[numbers - 1];
        for (int i = 0; i < numbers; i++) {
            to[i] = own_number(out->key[p], i) * 1e-3f;
        }
    }
    double partial[NODE_PAGES_MOST];
    rp_node_numbers number = {0};
    out->dot = rp_nodes_dot(&grid, RP_CH_OWN, RP_CH_OWN, OWN_COMPS, 2, partial);
    out->numbered = rp_nodes_number(&number, &grid, 0.0);
    rp_node_numbers_free(&number, a);
    rp_buffer_free(&scratch, a);
    rp_grid_free(&grid);
    rp_set_free(&set);
}

static int lowest_with(const nodes *n, int size, uint64_t key)
{
    for (int r = 0; r < size; r++) {
        for (rp_local p = 0; p < n[r].pages; p++) {
            if (n[r].key[p] == key) {
                return r;
            }
        }
    }
    return -1;
}

static void shared_nodes_become_those_of_the_lowest_rank(void)
{
    static nodes whole, part[RANKS_MOST];
    copy_nodes(NULL, &whole);
    CHECK(whole.pages > 9 && whole.pages <= NODE_PAGES_MOST);
    CHECK_OK(whole.numbered);
    for (int size = 2; size <= RANKS_MOST; size += 3) {
        team_run(size, copy_nodes, part);
        rp_local held = 0;
        for (int r = 0; r < size; r++) {
            held += part[r].pages;
            CHECK(part[r].dot == whole.dot);
            CHECK_EQUAL(part[r].numbered, RP_ERR_UNSUPPORTED);
            for (rp_local p = 0; p < part[r].pages; p++) {
                const float rank = 1000.0f * (float)lowest_with(part, size, part[r].key[p]);
                CHECK(part[r].value[p][0] == own_number(part[r].key[p], 0) + rank);
                CHECK(part[r].value[p][1] == own_number(part[r].key[p], 64 * OWN_COMPS - 1) + rank);
            }
        }
        CHECK(held > whole.pages); // some are shared
    }
}

// ---- six scenes ----

typedef enum scene { FLAT, SOLID, EMITTER, COLLIDERS, MATERIALS, PERIODIC, SCENES } scene;

static const char *const scene_name[SCENES] = {"2D",        "3D",        "emitter",
                                               "colliders", "materials", "periodic"};

static void add_box(rp_world *world, rp_material material, const double lower[3],
                    const double upper[3], const double velocity[3], int field)
{
    rp_box_def box = rp_default_box_def();
    box.material = material;
    box.jitter = 0.7;
    box.per_axis = world->def.dimension == 3 ? 1 : 2;
    box.field = field;
    memcpy(box.lower, lower, sizeof box.lower);
    memcpy(box.upper, upper, sizeof box.upper);
    memcpy(box.velocity, velocity, sizeof box.velocity);
    must(rp_world_add_box(world, &box, NULL));
}

static void add_collider(rp_world *world, rp_shape *shape, rp_contact contact,
                         rp_pose_of_time motion)
{
    rp_collider_def def = rp_default_collider_def();
    def.shape = shape;
    def.contact = contact;
    def.friction = 0.4;
    def.motion = motion;
    must(rp_world_add_collider(world, &def));
    rp_shape_release(shape);
}

static void add_floor(rp_world *world)
{
    rp_shape *floor;
    must(rp_shape_half_space((double[3]){0}, (double[3]){0.0, 1.0, 0.0}, &floor));
    add_collider(world, floor, RP_SEPARATE, (rp_pose_of_time){0});
}

static rp_result sweep(void *context, double t, rp_pose *pose)
{
    (void)context;
    pose->position[0] = 0.4 * sin(40.0 * t);
    return RP_OK;
}

static rp_result swirl(void *context, double t, const double x[3], double out[3])
{
    (void)context;
    out[0] = -20.0 * x[1] * (1.0 + t);
    out[1] = 20.0 * x[0];
    return RP_OK;
}

static rp_world_def def_of(scene which, int threads)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = which == SOLID || which == PERIODIC ? 3 : 2;
    def.dx = 0.02;
    def.threads = threads;
    def.seed = 5;
    switch (which) {
    case FLAT:
        def.energy = true;
        def.acceleration.call = swirl;
        break;
    case SOLID:
        def.precision = RP_DOUBLE;
        break;
    case COLLIDERS:
        def.transfer = RP_FLIP;
        break;
    case MATERIALS:
        def.fields = 2;
        break;
    case PERIODIC:
        def.period[0] = 24;
        def.period[2] = 8;
        def.order = 3;
        def.gradient = RP_GRADIENT_AFFINE;
        break;
    default:
        break;
    }
    return def;
}

static void fill(rp_world *world, scene which)
{
    const rp_material_def sand = rp_default_sand_def(), rubber = rp_default_elastic_def(),
                          water = rp_default_material_def(RP_WATER);
    rp_material grains, other;
    rp_shape *shape;
    must(rp_world_add_material(world, &sand, &grains));
    switch (which) {
    case FLAT: // a column that is thrown apart
        add_floor(world);
        add_box(world, grains, (double[3]){-0.3, 0.0, 0}, (double[3]){0.0, 0.3, 0},
                (double[3]){-6.0, 3.0, 0}, 0);
        add_box(world, grains, (double[3]){0.0, 0.0, 0}, (double[3]){0.3, 0.3, 0},
                (double[3]){3.0, 0.5, 0}, 0);
        break;
    case SOLID:
        add_floor(world);
        add_box(world, grains, (double[3]){-0.09, 0.0, -0.09}, (double[3]){0.09, 0.2, 0.09},
                (double[3]){6.0, -4.0, 8.0}, 0);
        break;
    case EMITTER: { // into a sink, and out of the domain
        rp_emitter_def def = rp_default_emitter_def();
        must(rp_shape_box((double[3]){-0.1, 0.5, -1}, (double[3]){0.1, 0.54, 1}, &shape));
        def.material = grains;
        def.shape = shape;
        memcpy(def.velocity, (double[3]){4.0, -6.0, 0.0}, sizeof def.velocity);
        must(rp_world_add_emitter(world, &def));
        rp_shape_release(shape);
        must(rp_shape_sphere((double[3]){0.1, 0.2, 0.0}, 0.15, &shape));
        must(rp_world_add_sink(world, shape));
        rp_shape_release(shape);
        must(rp_world_set_domain(world, (double[3]){-0.5, 0.05, -1}, (double[3]){0.5, 2.0, 1},
                                 RP_LEAVE_CLAMP));
        add_box(world, grains, (double[3]){-0.3, 0.05, 0}, (double[3]){0.1, 0.25, 0},
                (double[3]){6.0, -20.0, 0}, 0);
        break;
    }
    case COLLIDERS:
        add_floor(world);
        must(rp_shape_box((double[3]){-0.1, -0.1, -1}, (double[3]){0.1, 0.12, 1}, &shape));
        add_collider(world, shape, RP_SLIP, (rp_pose_of_time){.call = sweep});
        must(rp_shape_sphere((double[3]){0.35, 0.05, 0.0}, 0.12, &shape));
        add_collider(world, shape, RP_STICKY, (rp_pose_of_time){0});
        // two that are thin: one lies in the way, one goes through the sand
        must(rp_shape_box((double[3]){-0.38, 0.045, -1}, (double[3]){-0.13, 0.07, 1}, &shape));
        add_collider(world, shape, RP_SEPARATE, (rp_pose_of_time){0});
        must(rp_shape_box((double[3]){0.13, 0.07, -1}, (double[3]){0.155, 0.25, 1}, &shape));
        add_collider(world, shape, RP_SEPARATE, (rp_pose_of_time){.call = sweep});
        add_box(world, grains, (double[3]){-0.4, 0.1, 0}, (double[3]){0.4, 0.3, 0},
                (double[3]){0.0, -6.0, 0}, 0);
        break;
    case MATERIALS:
        add_floor(world);
        must(rp_world_add_material(world, &water, &other));
        add_box(world, grains, (double[3]){-0.3, 0.0, 0}, (double[3]){0.0, 0.2, 0},
                (double[3]){4.0, 0.0, 0}, 0);
        add_box(world, other, (double[3]){-0.02, 0.0, 0}, (double[3]){0.3, 0.2, 0},
                (double[3]){-6.0, 3.0, 0}, 0);
        must(rp_world_add_material(world, &rubber, &other));
        add_box(world, other, (double[3]){-0.1, 0.1, 0}, (double[3]){0.2, 0.3, 0},
                (double[3]){9.0, -5.0, 0}, 1);
        break;
    default:
        add_floor(world);
        add_box(world, grains, (double[3]){0.0, 0.0, 0.0}, (double[3]){0.48, 0.1, 0.16},
                (double[3]){3.0, -1.0, 2.0}, 0);
        break;
    }
}

enum { STEPS = 22, MORE = 10 };

typedef struct memory {
    void *data;
    size_t size;
    rp_totals totals;
    rp_energy energy;
    int64_t particles, pages, node_pages, sunk, clamped, sorts;
    double turned; // angular momentum that bodies got by pushing out and contact
} memory;

typedef struct job {
    scene which;
    int threads;
    const memory *from; // a state to begin with; NULL: the scene
    memory saved[RANKS_MOST];
    rp_local own[RANKS_MOST]; // particles of a rank
} job;

// Unborn and dead ones, too.
static void disturb(rp_world *world)
{
    const double x[6] = {0.05, 0.31, 0.02, -0.03, 0.33, 0.1};
    const uint64_t ids[] = {0, 3, 77, 500, world->next_id};
    int64_t removed;
    rp_points_def points = rp_default_points_def();
    points.count = 2;
    points.position = x;
    points.volume = 1e-6;
    must(rp_world_remove(world, ids, 4, &removed));
    must(rp_world_add_points(world, &points, NULL));
    must(rp_world_remove(world, ids + 4, 1, &removed)); // not born yet
    if (removed != 1) {
        must(rp_fail(RP_ERR_ARGUMENT, "%d removed of one birth", (int)removed));
    }
}

static void look(rp_world *world, memory *out)
{
    rp_stats stats;
    rp_world_stats(world, &stats);
    out->particles = stats.particles;
    out->pages = stats.pages;
    out->node_pages = stats.node_pages;
    out->sunk = stats.sunk;
    out->clamped = stats.clamped;
    out->turned = 0.0;
    for (int i = 0; i < world->colliders; i++) {
        out->turned += fabs(world->load[i].given[5]);
    }
    out->sorts = stats.sorts;
    rp_world_totals(world, &out->totals);
    rp_world_energy(world, &out->energy);
    must(rp_world_save(world, &out->data, &out->size));
}

static void play(rp_comm *comm, void *context)
{
    job *j = context;
    const int r = comm != NULL ? comm->rank : 0;
    const rp_world_def def = def_of(j->which, j->threads);
    rp_world *world;
    must(rp_world_create(&def, &world));
    if (comm != NULL) {
        rp_world_join(world, comm);
    }
    fill(world, j->which);
    if (j->from != NULL) {
        must(rp_world_restore(world, j->from->data, j->from->size));
    }
    for (int i = 0; i < (j->from != NULL ? MORE : STEPS); i++) {
        must(rp_world_step(world));
    }
    if (j->from == NULL && j->which == SOLID) {
        must(rp_world_settle(world, 0.0005));
    }
    if (j->from == NULL) {
        disturb(world);
    }
    look(world, &j->saved[r]);
    for (int s = 0; s < world->species_count; s++) {
        j->own[r] += world->set[s].count;
    }
    rp_world_destroy(world);
}

static void forget(job *j)
{
    for (int r = 0; r < RANKS_MOST; r++) {
        rp_state_free(j->saved[r].data);
    }
}

// The first part in which two states differ, or NULL.
static const char *difference(const memory *a, const memory *b)
{
    static char text[80];
    rp_state_view view;
    if (a->size != b->size) {
        snprintf(text, sizeof text, "%zu and %zu bytes", a->size, b->size);
        return text;
    }
    if (memcmp(a->data, b->data, a->size) == 0) {
        return NULL;
    }
    size_t at = 0;
    while (((const char *)a->data)[at] == ((const char *)b->data)[at]) {
        at++;
    }
    snprintf(text, sizeof text, "byte %zu of %zu", at, a->size);
    must(rp_state_view_make(a->data, a->size, &view));
    for (int i = 0; i < view.header->entries; i++) {
        if (at >= view.entry_at[i] && at < view.entry_at[i] + view.entry[i].bytes) {
            snprintf(text, sizeof text, "entry %s", view.entry[i].name);
        }
    }
    for (int s = 0; s < view.header->species; s++) {
        for (int c = 0; c < RP_COL_COUNT; c++) {
            if (view.part[s].slots_at[c] != 0 && at >= view.part[s].slots_at[c]) {
                snprintf(text, sizeof text, "%s of %s", rp_column_table[c].name,
                         view.part[s].about->name);
            }
        }
    }
    return text;
}

static void check_same(const memory *whole, const job *j, int ranks)
{
    for (int r = 0; r < ranks; r++) {
        const memory *got = &j->saved[r];
        const char *differs = difference(whole, got);
        if (differs != NULL) {
            printf("%s: %d ranks, %d threads, %s: rank %d has another %s\n", scene_name[j->which],
                   ranks, j->threads, j->from != NULL ? "resumed" : "new", r, differs);
        }
        CHECK(differs == NULL);
        CHECK(memcmp(&got->totals, &whole->totals, sizeof got->totals) == 0);
        CHECK(memcmp(&got->energy, &whole->energy, sizeof got->energy) == 0);
        CHECK_EQUAL(got->particles, whole->particles);
        CHECK_EQUAL(got->pages, whole->pages);
        CHECK_EQUAL(got->node_pages, whole->node_pages);
        CHECK_EQUAL(got->sunk, whole->sunk);
        CHECK_EQUAL(got->clamped, whole->clamped);
        CHECK(got->turned == whole->turned);
    }
}

// The ranks share the particles. Where there are few blocks, some of five may go empty, which is
// worth a test, too.
static void check_shares(const job *j, int ranks, rp_local all)
{
    rp_local sum = 0;
    int busy = 0;
    for (int r = 0; r < ranks; r++) {
        busy += j->own[r] > 0;
        sum += j->own[r];
    }
    CHECK_EQUAL(sum, all);
    CHECK(busy >= (ranks < 3 ? ranks : 3));
}

static void check_scene(scene which)
{
    job whole = {.which = which, .threads = 1};
    play(NULL, &whole);
    job later = {.which = which, .threads = 1, .from = &whole.saved[0]};
    play(NULL, &later);
    CHECK(which != EMITTER || (whole.saved[0].sunk > 0 && whole.saved[0].clamped > 0));
    CHECK(which != COLLIDERS || whole.saved[0].turned > 0.0);
    CHECK(whole.saved[0].sorts >= 3 && later.saved[0].sorts > whole.saved[0].sorts);
    static const int sizes[] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        for (int threads = 1; threads <= 2; threads++) {
            job once = {.which = which, .threads = threads};
            team_run(sizes[i], play, &once);
            CHECK_HELPER(check_same(&whole.saved[0], &once, sizes[i]));
            CHECK_HELPER(check_shares(&once, sizes[i], whole.own[0]));
            forget(&once);
            job again = {.which = which, .threads = threads, .from = &whole.saved[0]};
            team_run(sizes[i], play, &again);
            CHECK_HELPER(check_same(&later.saved[0], &again, sizes[i]));
            CHECK_HELPER(check_shares(&again, sizes[i], later.own[0]));
            forget(&again);
        }
    }
    forget(&whole);
    forget(&later);
}

static void ranks_do_not_change_a_heap_in_the_plane(void) { check_scene(FLAT); }
static void ranks_do_not_change_a_heap_in_space(void) { check_scene(SOLID); }
static void ranks_do_not_change_what_is_poured_and_drained(void) { check_scene(EMITTER); }
static void ranks_do_not_change_what_colliders_push(void) { check_scene(COLLIDERS); }
static void ranks_do_not_change_materials_and_fields(void) { check_scene(MATERIALS); }
static void ranks_do_not_change_a_periodic_world(void) { check_scene(PERIODIC); }

// ---- what goes wrong, and what is read ----

typedef enum end { LEAVES, BURSTS, ENDS } end;

typedef struct fate {
    rp_result result, again, probed;
    char sentence[400];
    rp_failure failure;
    bool failed;
    int64_t particles, guilty;
    uint64_t id[8];
    double *x;
    uint8_t *species;
    memory saved;
} fate;

typedef struct fates {
    end how;
    fate of[RANKS_MOST];
} fates;

static rp_result blast(void *context, double t, const double x[3], double out[3])
{
    (void)context;
    out[0] = x[0] > 0.2 && t > 0.002 ? 1e9 : 0.0;
    return RP_OK;
}

static void fail(rp_comm *comm, void *context)
{
    fates *all = context;
    fate *out = &all->of[comm != NULL ? comm->rank : 0];
    rp_world_def def = def_of(MATERIALS, 1);
    rp_world *world;
    def.acceleration.call = all->how == BURSTS ? blast : NULL;
    must(rp_world_create(&def, &world));
    if (comm != NULL) {
        rp_world_join(world, comm);
    }
    fill(world, MATERIALS);
    if (all->how == LEAVES) {
        must(rp_world_set_domain(world, (double[3]){-1, -1, -1}, (double[3]){0.33, 1, 1},
                                 RP_LEAVE_STOP));
    }
    out->result = RP_OK;
    for (int i = 0; i < 2000 && out->result == RP_OK; i++) {
        out->result = rp_world_step(world);
    }
    snprintf(out->sentence, sizeof out->sentence, "%s", rp_last_error());
    out->again = rp_world_step(world);
    out->failed = rp_world_failure(world, &out->failure);
    out->guilty = rp_world_guilty(world, out->id, 8);
    look(world, &out->saved);
    out->particles = out->saved.particles;
    out->x = calloc((size_t)out->particles * 2, sizeof(double));
    out->species = calloc((size_t)out->particles, 1);
    if (out->x == NULL || out->species == NULL) {
        abort();
    }
    must(rp_world_read(world, RP_COL_POSITION, out->x));
    rp_world_read_species(world, out->species);
    rp_probe_def probe = rp_default_probe_def();
    out->probed = rp_world_add_probe(world, &probe);
    rp_world_destroy(world);
}

static void check_fate(const fate *whole, const fate *got)
{
    const size_t particles = (size_t)whole->particles;
    CHECK_EQUAL(got->result, RP_ERR_DIVERGED);
    CHECK(strcmp(got->sentence, whole->sentence) == 0);
    CHECK_EQUAL(got->again, RP_ERR_DIVERGED);
    CHECK(got->failed && got->failure.particle == whole->failure.particle);
    CHECK(memcmp(got->failure.cell, whole->failure.cell, sizeof got->failure.cell) == 0);
    CHECK_EQUAL(got->guilty, whole->guilty);
    CHECK(memcmp(got->id, whole->id, sizeof got->id) == 0);
    CHECK_EQUAL(got->particles, whole->particles);
    CHECK(memcmp(got->x, whole->x, particles * 2 * sizeof(double)) == 0);
    CHECK(memcmp(got->species, whole->species, particles) == 0);
    CHECK(difference(&whole->saved, &got->saved) == NULL);
}

static void free_fates(fates *all)
{
    for (int r = 0; r < RANKS_MOST; r++) {
        free(all->of[r].x);
        free(all->of[r].species);
        rp_state_free(all->of[r].saved.data);
    }
}

static void ranks_fail_together_and_read_the_same(void)
{
    for (end how = LEAVES; how < ENDS; how++) {
        static fates whole, parts;
        whole = (fates){.how = how};
        fail(NULL, &whole);
        CHECK(whole.of[0].guilty > 0 && whole.of[0].failure.particle != RP_NO_PARTICLE);
        for (int size = 1; size <= RANKS_MOST; size += 2) {
            parts = (fates){.how = how};
            team_run(size, fail, &parts);
            for (int r = 0; r < size; r++) {
                CHECK_EQUAL(parts.of[r].probed, size > 1 ? RP_ERR_UNSUPPORTED : RP_OK);
                CHECK_HELPER(check_fate(&whole.of[0], &parts.of[r]));
            }
            free_fates(&parts);
        }
        free_fates(&whole);
    }
}

// ---- what they do not have yet ----

typedef struct refusal {
    rp_result result[RANKS_MOST];
    char sentence[RANKS_MOST][100];
    int colliders[RANKS_MOST];
} refusal;

static void add_a_body(rp_comm *comm, void *context)
{
    refusal *out = context;
    rp_world_def def = def_of(MATERIALS, 1);
    rp_rigid_def rigid = rp_default_rigid_def();
    const double at[3] = {0.0, 1.0, 0.0};
    rp_world *world;
    rp_shape *ball;
    must(rp_world_create(&def, &world));
    rp_world_join(world, comm);
    must(rp_shape_sphere(at, 0.1, &ball));
    rigid.shape = ball;
    rigid.density = 1000.0;
    out->result[comm->rank] = rp_world_add_rigid(world, &rigid, NULL);
    snprintf(out->sentence[comm->rank], sizeof out->sentence[0], "%s", rp_last_error());
    out->colliders[comm->rank] = rp_world_colliders(world);
    rp_shape_release(ball);
    rp_world_destroy(world);
}

// A body would be moved by what its own rank has of the sand only.
static void ranks_refuse_rigid_bodies(void)
{
    refusal out = {0};
    team_run(3, add_a_body, &out);
    for (int r = 0; r < 3; r++) {
        check_context("rank %d", r);
        CHECK_EQUAL(out.result[r], RP_ERR_UNSUPPORTED);
        CHECK(strcmp(out.sentence[r], "rigid: not yet in a world that is cut into ranks") == 0);
        CHECK_EQUAL(out.colliders[r], 0);
    }
}

static void let_bodies_touch(rp_comm *comm, void *context)
{
    refusal *out = context;
    rp_world_def def = def_of(MATERIALS, 1);
    rp_box_def box = rp_default_box_def();
    rp_material_def rubber = rp_default_elastic_def();
    rp_world *world;
    def.fields = 2;
    def.contact = true;
    must(rp_world_create(&def, &world));
    rp_world_join(world, comm);
    must(rp_world_add_material(world, &rubber, &box.material));
    for (int a = 0; a < 3; a++) {
        box.upper[a] = 4.0 * def.dx;
    }
    box.field = 1;
    must(rp_world_add_box(world, &box, NULL));
    out->result[comm->rank] = rp_world_step(world);
    snprintf(out->sentence[comm->rank], sizeof out->sentence[0], "%s", rp_last_error());
    rp_world_destroy(world);
}

// Contact looks at particles around a node, and those of another rank are not there.
static void ranks_refuse_bodies_that_touch(void)
{
    refusal out = {0};
    team_run(3, let_bodies_touch, &out);
    for (int r = 0; r < 3; r++) {
        check_context("rank %d: %s", r, out.sentence[r]);
        CHECK_EQUAL(out.result[r], RP_ERR_UNSUPPORTED);
        CHECK(strstr(out.sentence[r], "bodies that touch each other (particles.body) cannot be") !=
              NULL);
    }
}

// ---- memory ----

enum { POOR = 1 }; // the rank that runs out of memory

typedef struct shortage {
    failing_allocator memory;
    int64_t fail_at; // counted from the first step on
    rp_result result[3];
    char sentence[3][80];
    bool failed[3];
} shortage;

static rp_result live(rp_world *world)
{
    void *state;
    size_t size;
    double *x;
    for (int i = 0; i < 4; i++) {
        RP_TRY(rp_world_step(world));
    }
    RP_TRY(rp_world_prepare(world));
    RP_TRY(rp_world_save(world, &state, &size));
    const rp_result result = rp_world_restore(world, state, size);
    rp_state_free(state);
    RP_TRY(result);
    rp_stats stats;
    rp_world_stats(world, &stats);
    x = malloc((size_t)stats.particles * 2 * sizeof *x);
    const rp_result read =
        x != NULL ? rp_world_read(world, RP_COL_POSITION, x) : rp_fail(RP_ERR_LIMIT, "no room");
    free(x);
    RP_TRY(read);
    return rp_world_step(world);
}

static void run_short(rp_comm *comm, void *context)
{
    shortage *s = context;
    const int r = comm->rank;
    rp_world_def def = def_of(EMITTER, 1);
    rp_world *world;
    def.allocator = r == POOR ? &s->memory.allocator : NULL;
    must(rp_world_create(&def, &world));
    rp_world_join(world, comm);
    fill(world, EMITTER);
    if (r == POOR) {
        s->memory.fail_at = s->memory.count + s->fail_at;
    }
    s->result[r] = live(world);
    snprintf(s->sentence[r], sizeof s->sentence[r], "%s", rp_last_error());
    s->failed[r] = rp_world_check_steppable(world) != RP_OK;
    rp_world_destroy(world);
}

static void memory_that_one_rank_lacks_fails_all(void)
{
    bool failed = true;
    for (int64_t n = 0; failed; n++) {
        shortage s = {.fail_at = n};
        failing_allocator_init(&s.memory, -1);
        team_run(3, run_short, &s);
        failed = s.memory.failed;
        failing_allocator_finish(&s.memory);
        for (int r = 0; r < 3; r++) {
            CHECK_EQUAL(s.result[r], failed ? RP_ERR_MEMORY : RP_OK);
            CHECK(!failed || strcmp(s.sentence[r], s.sentence[POOR]) == 0);
            CHECK_EQUAL(s.failed[r], s.failed[POOR]);
        }
    }
}

TEST_MAIN(TEST(what_ranks_reduce_is_what_one_would),
          TEST(shared_nodes_become_those_of_the_lowest_rank),
          TEST(ranks_do_not_change_a_heap_in_the_plane), TEST(ranks_do_not_change_a_heap_in_space),
          TEST(ranks_do_not_change_what_is_poured_and_drained),
          TEST(ranks_do_not_change_what_colliders_push),
          TEST(ranks_do_not_change_materials_and_fields),
          TEST(ranks_do_not_change_a_periodic_world), TEST(ranks_fail_together_and_read_the_same),
          TEST(ranks_refuse_rigid_bodies), TEST(ranks_refuse_bodies_that_touch),
          TEST(memory_that_one_rank_lacks_fails_all))
