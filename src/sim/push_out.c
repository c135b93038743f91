// Particles that have sunk into colliders.
//
// Nodes inside a collider stop, nodes outside do not know of it yet, and a particle between the two
// moves with the mean: what hits a wall fast and loosely sinks in by up to a cell before it is
// stopped, and would stay there. It is put back to where the grid cannot tell the difference, with
// the same velocity. That changes its angular momentum, which the collider gets. Only what flows is
// put back: grains and drops may go anywhere, while parts of an elastic body belong to each other,
// and some may be held inside a sticky collider on purpose. The way back is
// through the nearer face, so that particles near a thin collider are looked at before they can
// have passed its middle.
#include "base/result.h"
#include "base/threads.h"
#include "model/material.h"
#include "sim/world.h"

#include <math.h>
#include <string.h>

static const double DEPTH = 0.25; // [cells] that a particle may be inside a collider
static const double STRIDE = 1.0; // [cells] that it is put back at once: what is deep needs several
static const double WATCH = 0.2;  // [cells] that particles near a thin collider may go unwatched

// How deep beyond what is allowed a place is [m], and the way out.
static double excess(const rp_world *world, int collider, const double x[3], double out[3])
{
    const double phi = rp_collider_look(&world->collider[collider], x, out);
    return -DEPTH * world->def.dx - phi;
}

// Dead ones are none.
static bool is_grain(const rp_world *world, const rp_set *set, rp_local slot)
{
    const uint16_t group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
    return group != RP_GROUP_DEAD &&
           rp_material_class_of(world->material[rp_set_group(set)[group].material].kind)->grains;
}

// Can a particle of this page be in it?
static bool is_near(const rp_world *world, int collider, const rp_page *page)
{
    double middle[3];
    const double reach = rp_layout_page_ball(&world->grid.layout, page->block, middle);
    return rp_collider_distance(&world->collider[collider], middle) < reach;
}

static void place_of(const rp_set *set, const rp_page *page, rp_local slot, double x[3])
{
    x[2] = 0.0;
    for (int a = 0; a < set->layout.dim; a++) {
        x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, page);
    }
}

// ---- who has sunk: all pages, in parallel ----

typedef struct search {
    const rp_world *world;
    const rp_set *set;
    bool all;       // also in colliders that are not thin
    uint16_t *sunk; // [tile]: a bit for each of its particles that is too deep
} search;

// Distances at the middles of cubes, worked out when first asked for. A distance changes by no more
// than the way, so what is far enough from a middle needs no look of its own. Coarse cubes are
// asked first: fine ones are then only looked at along walls.
enum { LEVELS = 2, CUBES = 16 }; // along each axis, from MARGIN cells before the page on
static const int CUBE_CELLS[LEVELS] = {2, 1};
static const int MARGIN = 4;
typedef struct cubes {
    float phi[LEVELS][CUBES][CUBES][CUBES]; // NaN: not known
} cubes;

static bool may_be_deep(const rp_world *world, int collider, const rp_page *page, cubes *near,
                        const double x[3])
{
    const rp_layout *l = &world->grid.layout;
    for (int level = 0; level < LEVELS; level++) {
        const double size = CUBE_CELLS[level] * l->h;
        double middle[3] = {0}, way2 = 0.0;
        int at[3] = {0};
        for (int a = 0; a < l->dim; a++) {
            const double first = l->h * (page->block[a] * l->cells[a] - MARGIN);
            const double cube = floor((x[a] - first) / size);
            if (!(cube >= 0.0 && cube < CUBES)) {
                return true;
            }
            at[a] = (int)cube;
            middle[a] = first + (cube + 0.5) * size;
            way2 += (x[a] - middle[a]) * (x[a] - middle[a]);
        }
        float *phi = &near->phi[level][at[0]][at[1]][at[2]];
        if (isnan(*phi)) {
            *phi = (float)rp_collider_distance(&world->collider[collider], middle);
        }
        // margins: distances to a mesh are interpolated and may change a little faster than the
        // way; a float rounds
        const double least = *phi - 1.1 * sqrt(way2) - 0.01 * l->h;
        if (least > -DEPTH * l->h) {
            return false;
        }
    }
    return true;
}

static void search_page(void *context, int64_t index, int thread)
{
    (void)thread;
    const search *s = context;
    const rp_set *set = s->set;
    const rp_page *page = &rp_set_page(set)[index];
    memset(s->sunk + page->first / RP_LANES, 0,
           (size_t)((page->count + RP_LANES - 1) / RP_LANES) * sizeof *s->sunk);
    for (int c = 0; c < s->world->colliders; c++) {
        if (s->world->collider[c].permeable || !(s->all || s->world->collider[c].thin) ||
            !is_near(s->world, c, page)) {
            continue;
        }
        cubes near;
        memset(&near, 0xff, sizeof near);
        for (rp_local i = page->first; i < page->first + page->count; i++) {
            double x[3], out[3];
            place_of(set, page, i, x);
            if (may_be_deep(s->world, c, page, &near, x) && excess(s->world, c, x, out) > 0.0 &&
                is_grain(s->world, set, i)) {
                s->sunk[i / RP_LANES] |= (uint16_t)(1u << i % RP_LANES);
            }
        }
    }
}

// ---- back to the surface: few, in their order, since colliders add up what they get ----

static void take_turn(void *context, uint32_t collider, const double *row)
{
    rp_world *world = context;
    rp_impulse turn = {0};
    memcpy(turn.angular, row, sizeof turn.angular);
    rp_body_take(&world->body[collider], &turn);
}

// Angular momentum that a particle loses by being moved goes to the collider's body.
static void give_turn(rp_sum *turns, const rp_set *set, int collider, const rp_page *page,
                      rp_local slot, const double way[3])
{
    double p[3] = {0}, mass, volume;
    rp_set_measure(set, page, slot, &mass, &volume);
    for (int a = 0; a < set->layout.dim && rp_set_has_mass(set); a++) {
        p[a] = mass * rp_set_value(set, RP_COL_VELOCITY, slot, a, page);
    }
    double turn[3];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        turn[a] = -(way[b] * p[c] - way[c] * p[b]);
    }
    rp_sum_put(turns, page->key, page->field, (uint32_t)collider, turn);
}

static void push_particle(const rp_world *world, const rp_set *set, const rp_page *page,
                          rp_local slot, rp_sum *turns, double *most)
{
    double x[3], from[3];
    place_of(set, page, slot, x);
    memcpy(from, x, sizeof from);
    bool pushed = false;
    // what is in a corner between two is pushed by both
    for (int turn = 0; turn < 2; turn++) {
        for (int c = 0; c < world->colliders; c++) {
            double out[3], way[3] = {0};
            const double sunk = excess(world, c, x, out);
            const double much = fmin(sunk, STRIDE * world->def.dx);
            if (much <= 0.0) {
                continue;
            }
            for (int a = 0; a < world->def.dimension; a++) {
                way[a] = much * out[a];
                x[a] += way[a];
            }
            give_turn(turns, set, c, page, slot, way);
            pushed = true;
        }
    }
    if (pushed) {
        rp_set_move(set, page, slot, x);
        *most = fmax(*most, sqrt((x[0] - from[0]) * (x[0] - from[0]) +
                                 (x[1] - from[1]) * (x[1] - from[1]) +
                                 (x[2] - from[2]) * (x[2] - from[2])));
    }
}

static rp_result push_set_out(rp_world *world, rp_set *set, bool all)
{
    rp_scratch_reset(&world->scratch);
    search s = {.world = world, .set = set, .all = all};
    s.sunk = rp_scratch_get(&world->scratch, (size_t)(set->slots / RP_LANES) * sizeof *s.sunk,
                            "particles in walls");
    RP_TRY(rp_agree(world->comm, s.sunk != NULL ? RP_OK : RP_ERR_MEMORY, NULL, 0));
    rp_sum turns = {.comm = world->comm,
                    .allocator = &world->allocator,
                    .numbers = 3,
                    .add = take_turn,
                    .context = world};
    rp_parallel_for(world->threads, set->pages, 16, search_page, &s);
    double most = 0.0;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local tile = page->first; tile < page->first + page->count; tile += RP_LANES) {
            for (unsigned bits = s.sunk[tile / RP_LANES]; bits != 0; bits &= bits - 1) {
                push_particle(world, set, page, tile + __builtin_ctz(bits), &turns, &most);
            }
        }
    }
    rp_result result = rp_sum_end(&turns);
    result = result == RP_OK ? rp_reduce_max(world->comm, &most, 1) : result;
    if (most > 0.0) {
        rp_set_travelled(set, most / set->layout.h); // they have moved, whatever went wrong
    }
    return result;
}

// Have particles gone another stretch of WATCH cells in the last step? The same on all ranks, and
// after a restore: travel and the largest speed are. (What FLIP moves is not quite its speed; hence
// the half.)
static bool is_due(const rp_world *world, const rp_set *set)
{
    const double moved = 1.5 * world->stats.max_speed * world->stats.dt / set->layout.h;
    return floor(set->travel / WATCH) > floor((set->travel - moved) / WATCH);
}

static bool has_thin(const rp_world *world)
{
    bool thin = false;
    for (int i = 0; i < world->colliders; i++) {
        thin = thin || world->collider[i].thin;
    }
    return thin;
}

rp_result rp_world_push_out(rp_world *world, bool all)
{
    if (world->colliders == 0 || !world->needs.push_out || (!all && !has_thin(world))) {
        return RP_OK;
    }
    for (int i = 0; i < world->colliders; i++) {
        world->collider[i].begin = world->collider[i].end; // where they are now
        if (world->collider[i].morph != NULL) {
            rp_morph_end_step(world->collider[i].morph);
        }
    }
    for (int s = 0; s < world->species_count; s++) {
        if (all || is_due(world, &world->set[s])) {
            RP_TRY(push_set_out(world, &world->set[s], all));
        }
    }
    return RP_OK;
}
