// Rigid grains (Daviet and Bertails-Descoubes 2016; docs/theory.md, section 20): no elasticity, and
// stress is found together with the velocity at the end of the step, so that a step may be as long
// as a frame. What grains feel of each other is one friction problem per step (problem.h).
#include "solver/nonsmooth/nonsmooth.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/threads.h"
#include "core/nodes.h"
#include "model/material.h"
#include "model/sand.h"
#include "solver/blame.h"
#include "solver/common.h"
#include "solver/nonsmooth/problem.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef enum solver_choice { ANDERSON, GAUSS_SEIDEL } solver_choice;
typedef enum norm_choice { NORM_L2, NORM_MAX } norm_choice;

typedef enum stress_choice { STRESS_CELL, STRESS_NODE } stress_choice;

typedef struct options {
    stress_choice stress;
    solver_choice solver;
    norm_choice norm;
    double tolerance;
    double sweeps, substeps;
    double viscosity, debonding;
} options;
_Static_assert(sizeof(options) <= sizeof(((rp_world_def *)0)->option), "room for options");

#define AT(member) .offset = offsetof(options, member)
static const char *const solver_names[] = {"anderson", "gauss-seidel", NULL};
static const char *const norm_names[] = {"l2", "max", NULL};
static const char *const stress_names[] = {"cell", "node", NULL};
static const rp_property option[] = {
    {.name = "stress",
     .type = RP_PROPERTY_CHOICE,
     .choices = stress_names,
     .otherwise = "\"cell\"",
     .sentence =
         "Where stress is: one in each cell, or linear between nodes as in the paper, whose "
         "pressure oscillates.",
     AT(stress)},
    {.name = "solver",
     .type = RP_PROPERTY_CHOICE,
     .choices = solver_names,
     .otherwise = "\"anderson\"",
     .sentence =
         "Sweeps that learn from the last ones, or plain ones that solve each point exactly.",
     AT(solver)},
    {.name = "norm",
     .type = RP_PROPERTY_CHOICE,
     .choices = norm_names,
     .otherwise = "\"l2\"",
     .sentence = "Is the residual the mean over all points or that of the worst one?",
     AT(norm)},
    {.name = "tolerance",
     .type = RP_PROPERTY_NUMBER,
     .low = 0.0,
     .high = 1.0,
     .above_low = true,
     .otherwise = "1e-8",
     .sentence = "The residual at which a step ends, squared: docs/theory.md (G3).",
     AT(tolerance)},
    {.name = "sweeps",
     .type = RP_PROPERTY_NUMBER,
     .low = 2.0,
     .high = 1e6,
     .otherwise = "1000",
     .sentence = "Sweeps after which a step ends in any case.",
     AT(sweeps)},
    {.name = "substeps",
     .type = RP_PROPERTY_NUMBER,
     .low = 1.0,
     .high = 1e4,
     .otherwise = "1",
     .sentence = "The least number of steps in a frame; more are done where grains are fast.",
     AT(substeps)},
    {.name = "viscosity",
     .type = RP_PROPERTY_NUMBER,
     .unit = "m^2/s",
     .low = 0.0,
     .high = INFINITY,
     .below_high = true,
     .otherwise = "0",
     .sentence = "Kinematic viscosity, besides friction.",
     AT(viscosity)},
    {.name = "debonding",
     .type = RP_PROPERTY_NUMBER,
     .low = 0.0,
     .high = INFINITY,
     .below_high = true,
     .otherwise = "2",
     .sentence = "How much of its cohesion sand loses for every unit of shear.",
     AT(debonding)},
};

// What bounds the next step, and what is counted: state.
typedef struct record {
    double speed;  // [m/s]
    double missed; // steps that ended above their tolerance
} record;

typedef struct nonsmooth_state {
    const rp_allocator *allocator;
    record record;
    rp_buffer warm;
    rp_local warms;
    double fps, pull; // [1/s], of the world's gravity [m/s^2]
    rp_walls walls;   // not saved: what it holds can be worked out again
    rp_node_numbers numbers;
} nonsmooth_state;

static double size_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static rp_result nonsmooth_create(const rp_world_def *def, const rp_allocator *a, void **state)
{
    nonsmooth_state *s = rp_new(a, sizeof *s, "the nonsmooth solver");
    *state = s;
    if (s == NULL) {
        return RP_ERR_MEMORY;
    }
    s->allocator = a;
    s->fps = def->fps;
    s->pull = size_of(def->gravity);
    return RP_OK;
}

static void nonsmooth_destroy(void *state, const rp_allocator *a)
{
    nonsmooth_state *s = state;
    rp_walls_free(&s->walls, a);
    rp_buffer_free(&s->warm, a);
    rp_node_numbers_free(&s->numbers, a);
    rp_delete(a, s, sizeof *s);
}

static void nonsmooth_register(void *state, rp_registry *registry)
{
    nonsmooth_state *s = state;
    rp_registry_add(registry, "nonsmooth/record", &s->record, sizeof s->record);
    rp_registry_add_array(registry, "nonsmooth/stress", &s->warm, s->allocator, &s->warms,
                          sizeof(rp_node_stress));
}

static void nonsmooth_needs(const rp_world_def *def, rp_needs *needs)
{
    (void)def;
    *needs = (rp_needs){.columns = 1u << RP_COL_VELOCITY | 1u << RP_COL_AFFINE | 1u << RP_COL_BOND,
                        .orders = 1u << 1,
                        .grid = true,
                        .push_out = true};
    needs->channel[RP_CH_MOMENTUM] = (rp_channel){"momentum", RP_QUAD, NULL};
}

// The acceleration that units are made from: gravity, or that of the Earth where there is none.
static double pull_of(const nonsmooth_state *s, const rp_step *step)
{
    const double now = size_of(step->gravity);
    return now > 0.0 ? now : s->pull > 0.0 ? s->pull : 9.81;
}

// The fastest grain may cross `cfl` cells in a step, docs/theory.md (G5). One at rest may fall.
static int nonsmooth_limits(void *state, const rp_step *step, rp_limit out[RP_LIMITS_MOST])
{
    const nonsmooth_state *s = state;
    const options *o = step->option;
    const double h = step->grid->layout.h;
    const double speed = fmax(s->record.speed, step->newborn_speed);
    const double falls = sqrt(pull_of(s, step) * h);
    int n = 0;
    out[n++] = (rp_limit){"speed", step->cfl * h / fmax(speed, falls)};
    if (o->substeps > 1.0) {
        out[n++] = (rp_limit){"substeps", 1.0 / (s->fps * o->substeps)};
    }
    return n;
}

// ---- loops of one step ----

// What a step works with. Lengths in cells, times in `time`, densities in `density`.
typedef struct loops {
    rp_step *step;
    nonsmooth_state *state;
    const rp_friction_kernels *k;
    int set;                           // of the loop over particle pages
    double h, time, density, pressure; // units: [m], [s], [kg/m^3], [Pa]
    double push[3];                    // what gravity adds in the step, in cells over time
    double least;                      // mass of a node that counts [kg]
    rp_grain *grain;                   // [slot], sets one after the other
    uint32_t *cell;                    // [particle page][cells + 1]
    size_t first_grain[RP_SET_LIMIT];
    size_t first_page[RP_SET_LIMIT];
    rp_node_sum *sum;   // [node page][node]
    double (*field)[3]; // [node page][node]: what the field of accelerations adds [m/s]; or NULL
    double (*room)[8];  // [node page][node]: its hat outside of walls, by cells around
    double (*smooth)[3][3]; // [node page][node]: ways out of walls without friction that it is on
    double *dropped;        // [node page]
    rp_page_report *report; // [particle page]
    rp_touches touches;
    rp_constraint *list; // [thread][most] of a page
    int32_t list_most;
    uint32_t (*near)[RP_NEAR];      // [node page] node pages around
    uint32_t *inside[RP_SET_LIMIT]; // [node page] particle page of the same block, or RP_NO_PAGE
    bool cells;                     // are stress points, not nodes
    size_t *place;                  // [node number]: page * nodes + node
    rp_friction_problem f;
} loops;

enum { NODES_MOST = 256, CUBE_MOST = 10 * 10 * 10, STRESS_MOST = 18 };

static double mass_unit(const loops *l)
{
    return l->density * (l->f.dim == 3 ? l->h * l->h * l->h : l->h * l->h);
}

static bool counts(const rp_set *set) { return rp_set_has_mass(set); }

static double real_of(const rp_set *set, rp_column_id column, rp_local slot, int comp)
{
    const void *at = rp_set_at(set, column, slot, comp);
    return set->layout.precision == RP_SINGLE ? (double)*(const float *)at : *(const double *)at;
}

// ---- particles, cell by cell ----

// Where in its cell a particle is. A set that has just been sorted has all particles in the cells
// of their blocks, up to rounding on the far face.
static int place_of(const rp_set *set, rp_local slot, double at[3])
{
    const rp_layout *l = &set->layout;
    int cell = 0;
    for (int a = 0; a < l->dim; a++) {
        const void *x = rp_set_at(set, RP_COL_POSITION, slot, a);
        const double place =
            l->precision == RP_SINGLE ? (double)*(const int32_t *)x * 0x1p-26 : *(const double *)x;
        double whole = floor(place);
        whole = whole < 0.0 ? 0.0 : whole < l->cells[a] ? whole : l->cells[a] - 1.0;
        at[a] = place - whole;
        cell = cell * l->cells[a] + (int)whole;
    }
    return l->dim == 2 ? cell * l->cells[2] : cell;
}

// The rate of shear of a gradient of velocity: sqrt(2 dev D : dev D).
static double shear_of(int dim, const double *slope)
{
    double mean = 0.0, sum = 0.0;
    for (int a = 0; a < dim; a++) {
        mean += slope[a * dim + a] / dim;
    }
    for (int a = 0; a < dim; a++) {
        for (int b = 0; b < dim; b++) {
            const double d = 0.5 * (slope[a * dim + b] + slope[b * dim + a]) - (a == b) * mean;
            sum += d * d;
        }
    }
    return sqrt(2.0 * sum);
}

// The pressure that is missing to the tip of a cohesive grain's cone, theory (G8). What shear has
// broken in the last step is lost.
static double glue_of(const loops *l, const rp_set *set, rp_local slot, double cohesion,
                      const rp_grain *g)
{
    const options *o = l->step->option;
    void *at = rp_set_at(set, RP_COL_BOND, slot, 0);
    const double bond = real_of(set, RP_COL_BOND, slot, 0) /
                        (1.0 + o->debonding * g->shear * l->step->dt / l->time);
    if (set->layout.precision == RP_SINGLE) {
        *(float *)at = (float)bond;
    } else {
        *(double *)at = bond;
    }
    return 0.5 * sqrt(set->layout.dim) / fmax(g->friction, 0.01) * bond * cohesion / l->pressure;
}

static void grains_of_page(void *context, int64_t page_index, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_set *set = &l->step->set[l->set];
    const rp_layout *layout = &set->layout;
    const rp_page *page = &rp_set_page(set)[page_index];
    const double(*group)[RP_GROUP_REALS] = l->step->species[l->set].group_doubles.data;
    uint32_t *first =
        l->cell + (l->first_page[l->set] + (size_t)page_index) * (size_t)(layout->nodes + 1);
    const double volume = l->h * l->h * (layout->dim == 3 ? l->h : 1.0), speed = l->h / l->time;
    int cell = -1;
    for (rp_local i = 0; i < page->count; i++) {
        const rp_local slot = page->first + i;
        const size_t index = l->first_grain[l->set] + (size_t)slot;
        rp_grain *g = &l->grain[index];
        const int here = place_of(set, slot, g->at);
        for (; cell < here; first[++cell] = (uint32_t)index) {
        }
        double mass, rest;
        rp_set_measure(set, page, slot, &mass, &rest);
        g->mass = mass / (l->density * volume);
        g->volume = rest / volume;
        const uint16_t of = *(const uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
        const double *own = group[of], fast = own[RP_PARAM_FAST_SLOPE];
        g->friction = rp_friction_coefficient(own[RP_PARAM_SLOPE], layout->dim);
        g->faster = fast > 0.0 ? rp_friction_coefficient(fast, layout->dim) - g->friction : 0.0;
        g->rate = sqrt(2.0 * l->pressure) * own[RP_PARAM_FAST_RATE] * l->time;
        for (int a = 0; a < layout->dim; a++) {
            g->velocity[a] = real_of(set, RP_COL_VELOCITY, slot, a) / speed;
        }
        for (int c = 0; c < layout->dim * layout->dim; c++) {
            g->slope[c] = real_of(set, RP_COL_AFFINE, slot, c) * l->time;
        }
        const bool sticks = own[RP_PARAM_COHESION] > 0.0;
        g->shear = g->faster > 0.0 || sticks ? shear_of(layout->dim, g->slope) : 0.0;
        g->glue = sticks ? glue_of(l, set, slot, own[RP_PARAM_COHESION], g) : 0.0;
    }
    const uint32_t end = (uint32_t)(l->first_grain[l->set] + (size_t)(page->first + page->count));
    for (; cell < layout->nodes; first[++cell] = end) {
    }
}

// The particles of one set around a node page.
static rp_grains grains_around(const loops *l, int set, rp_local page)
{
    const rp_layout *layout = &l->step->grid->layout;
    rp_grains out = {.grain = l->grain};
    for (int side = 0; side < 8; side++) {
        const int x = side & 1, y = side >> 1 & 1, z = side >> 2;
        const uint32_t block = layout->dim == 2 && z > 0
                                   ? RP_NO_PAGE
                                   : l->near[page][(1 - x) * 9 + (1 - y) * 3 + 1 - z];
        const uint32_t from = block != RP_NO_PAGE ? l->inside[set][block] : RP_NO_PAGE;
        if (from != RP_NO_PAGE) {
            out.cell[side] =
                l->cell + (l->first_page[set] + (size_t)from) * (size_t)(layout->nodes + 1);
        }
    }
    return out;
}

// ---- nodes ----

static void add_sums(rp_node_sum *to, const rp_node_sum *from, int nodes)
{
    for (int n = 0; n < nodes; n++) {
        to[n].mass += from[n].mass;
        to[n].volume += from[n].volume;
        to[n].friction += from[n].friction;
        to[n].faster += from[n].faster;
        to[n].rate += from[n].rate;
        to[n].shear += from[n].shear;
        to[n].glue += from[n].glue;
        for (int a = 0; a < 3; a++) {
            to[n].momentum[a] += from[n].momentum[a];
        }
    }
}

static void write_node(const rp_grid *grid, rp_local page, int n, int comp, double value)
{
    void *nodes = rp_grid_nodes(grid, RP_CH_MOMENTUM, page);
    if (grid->layout.precision == RP_SINGLE) {
        ((float *)nodes)[n * RP_QUAD + comp] = (float)value;
    } else {
        ((double *)nodes)[n * RP_QUAD + comp] = value;
    }
}

// Mass, momentum and volume of a page's nodes; the masses also where colliders look for them.
static void sums_of_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_grid *grid = l->step->grid;
    const int nodes = grid->layout.nodes;
    rp_node_sum *sum = l->sum + (size_t)page * (size_t)nodes, other[NODES_MOST];
    memset(sum, 0, (size_t)nodes * sizeof *sum);
    for (int s = 0; s < l->step->species_count; s++) {
        if (counts(&l->step->set[s])) {
            const rp_grains from = grains_around(l, s, (rp_local)page);
            l->k->sum(&from, other);
            add_sums(sum, other, nodes);
        }
    }
    const double mass = mass_unit(l);
    double dropped = 0.0;
    for (int n = 0; n < nodes; n++) {
        const bool light = !(sum[n].mass * mass > l->least);
        for (int a = 0; a < 3; a++) {
            write_node(grid, (rp_local)page, n, a, 0.0);
            dropped += light ? fabs(sum[n].momentum[a]) : 0.0;
        }
        write_node(grid, (rp_local)page, n, 3, light ? 0.0 : sum[n].mass * mass);
    }
    l->dropped[page] = dropped * mass * l->h / l->time;
}

// ---- walls ----

// The integral over half of a node's hat, before it along an axis or behind it, of what lies on the
// free side of a plane across the axis, at a distance of d cells from the node.
// @param towards does the half lie on the way out of the wall?
static double room_across(double d, bool towards)
{
    const double c = d < -1.0 ? -1.0 : d > 1.0 ? 1.0 : d;
    if (towards) {
        return c < 0.0 ? 0.5 * (1.0 + c) * (1.0 + c) : 0.5;
    }
    return c < 0.0 ? 0.0 : c - 0.5 * c * c;
}

// The same for any walls, which are flat as far as the node sees: by samples in the cells around.
static void room_among(const rp_constraint *c, int count, int dim, double h, double room[8])
{
    enum { SIDE = 4 };
    static const double weight[SIDE] = {0.125, 0.375, 0.375, 0.125};
    const double apart = 2.0 / SIDE;
    memset(room, 0, 8 * sizeof *room);
    for (int i = 0; i < (dim == 3 ? SIDE * SIDE * SIDE : SIDE * SIDE); i++) {
        const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        double share = 1.0;
        int side = 0;
        for (int a = 0; a < dim; a++) {
            share *= weight[at[a]];
            side |= (at[a] >= SIDE / 2) << a;
        }
        for (int k = 0; k < count; k++) {
            double gap = c[k].distance / h;
            for (int a = 0; a < dim; a++) {
                gap += c[k].normal[a] * (-1.0 + apart * (at[a] + 0.5));
            }
            share *= fmin(1.0, fmax(0.0, 0.5 + gap / apart));
        }
        room[side] += share;
    }
}

// The part of a node's hat outside of walls, in each of the cells around it (bits: behind it along
// x, y, z).
static void room_of(const rp_constraint *c, int count, int dim, double h, double room[8])
{
    for (int a = 0; a < dim && count == 1; a++) {
        if (fabs(c->normal[a]) > 1.0 - 1e-9) {
            for (int side = 0; side < 1 << dim; side++) {
                const bool towards = (side >> a & 1) == (c->normal[a] > 0.0);
                room[side] = room_across(c->distance / h, towards) * (dim == 3 ? 0.25 : 0.5);
            }
            return;
        }
    }
    room_among(c, count, dim, h, room);
}

// Colliders are known to pages up to two cells away.
static rp_listing listing_of(const loops *l)
{
    return (rp_listing){.dt = l->step->dt, .reach = 2.0 * l->h};
}

static bool holds(const rp_constraint *c) { return c->contact == RP_STICKY && c->distance <= 0.0; }

// Can this wall change the node's velocity?
static bool grips(const rp_constraint *c)
{
    return c->contact == RP_SEPARATE || (c->contact == RP_SLIP && c->distance <= 0.0);
}

// The ways out of the walls that a node is on, where none of them rubs: sand there bears no shear
// along the wall (Daviet and Bertails-Descoubes take it out, too). Nothing otherwise.
static void find_smooth(const rp_constraint *c, int count, double out[3][3])
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (c[i].distance > 0.0) {
            continue;
        }
        if (c[i].contact == RP_STICKY || c[i].friction > 0.0 || found == 3) {
            memset(out, 0, 3 * sizeof *out);
            return;
        }
        memcpy(out[found++], c[i].normal, sizeof out[0]);
    }
}

// How many grips a page has, how much room its nodes have, and what their walls do to shear.
static void walls_of_page(void *context, int64_t page, int thread)
{
    const loops *l = context;
    const rp_grid *grid = l->step->grid;
    const int nodes = grid->layout.nodes;
    rp_constraint *list = l->list + (size_t)thread * (size_t)l->list_most;
    double(*room)[8] = l->room + (size_t)page * (size_t)nodes;
    const rp_listing wanted = listing_of(l);
    const int32_t count = rp_touches_list(&l->touches, grid, (rp_local)page, &wanted, list);
    rp_local found = 0;
    for (int n = 0; n < nodes; n++) {
        for (int side = 0; side < 8; side++) {
            room[n][side] = grid->layout.dim == 3 ? 0.125 : 0.25;
        }
    }
    memset(l->smooth + (size_t)page * (size_t)nodes, 0, (size_t)nodes * sizeof *l->smooth);
    for (int32_t i = 0; i < count;) {
        int32_t end = i;
        bool held = false;
        for (; end < count && list[end].node == list[i].node; end++) {
            held = held || (holds(&list[end]));
        }
        for (int32_t k = i; k < end && !held; k++) {
            found += grips(&list[k]);
        }
        found += held; // by one, and no other has a say
        room_of(list + i, end - i, grid->layout.dim, l->h, room[list[i].node]);
        find_smooth(list + i, end - i,
                    l->smooth[(size_t)page * (size_t)nodes + (size_t)list[i].node]);
        i = end;
    }
    l->f.page_grip[page + 1] = found;
}

// ---- the problem ----

// The node pages around each.
static void near_of_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_grid *grid = l->step->grid;
    const rp_node_page *own = &rp_grid_page(grid)[page];
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t block[3], offset[3];
        rp_near_offset(n, offset);
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            block[a] = own->block[a] + offset[a];
            inside = inside && (a < grid->layout.dim || offset[a] == 0) &&
                     block[a] >= -RP_BLOCK_LIMIT && block[a] < RP_BLOCK_LIMIT;
        }
        if (inside) {
            rp_block_wrap(&grid->layout, block);
        }
        l->near[page][n] =
            inside ? rp_grid_find(grid, rp_block_key(block), own->field) : RP_NO_PAGE;
    }
}

// Pages of one colour have no neighbour in common: two colours along an axis, and a third one for
// the last block where space repeats after an odd number of them.
static int colour_of(const rp_layout *l, const int32_t block[3])
{
    int colour = 0;
    for (int a = 0; a < l->dim; a++) {
        const bool odd_end =
            l->period[a] > 1 && l->period[a] % 2 == 1 && block[a] == l->period[a] - 1;
        colour = colour * 3 + (odd_end ? 2 : block[a] & 1);
    }
    return colour;
}

static void colour_pages(loops *l)
{
    const rp_grid *grid = l->step->grid;
    rp_friction_problem *f = &l->f;
    rp_local next = 0;
    for (int c = 0; c < RP_COLOURS_MOST; c++) {
        f->colour[c] = next;
        for (rp_local p = 0; p < grid->pages; p++) {
            if (colour_of(&grid->layout, rp_grid_page(grid)[p].block) == c &&
                f->page_chunk[p + 1] > f->page_chunk[p]) {
                f->in_colour[next++] = p;
            }
        }
    }
    f->colour[RP_COLOURS_MOST] = next;
}

// The colour of a point in its page: two an axis for cells, three for nodes, or four where a block
// is its own neighbour.
static int colour_of_point(const rp_layout *l, bool cells, int n)
{
    const int at[3] = {n / (l->cells[1] * l->cells[2]), n / l->cells[2] % l->cells[1],
                       n % l->cells[2]};
    int colour = 0;
    for (int a = 0; a < l->dim; a++) {
        colour = colour * 4 + at[a] % (cells ? 2 : l->period[a] == 1 ? 4 : 3);
    }
    return colour;
}

enum { POINT_COLOURS = 64 };

// Colours of the stress points of a page, by node or cell; -1: it is none.
static void find_points(const loops *l, rp_local page, int colour[NODES_MOST])
{
    const rp_grid *grid = l->step->grid;
    const uint32_t *number = rp_nodes_numbers(&l->state->numbers, grid, page);
    bool is[NODES_MOST] = {false};
    for (int s = 0; s < l->step->species_count && l->cells; s++) {
        if (counts(&l->step->set[s])) {
            const uint32_t *first = grains_around(l, s, page).cell[0];
            for (int n = 0; n < grid->layout.nodes && first != NULL; n++) {
                is[n] = is[n] || first[n + 1] > first[n];
            }
        }
    }
    for (int n = 0; n < grid->layout.nodes; n++) {
        is[n] = l->cells ? is[n] : number[n] != RP_NO_NUMBER;
        colour[n] = is[n] ? colour_of_point(&grid->layout, l->cells, n) : -1;
    }
}

// Chunks that a page's points fill.
// @param[out] walled which of them are on walls without friction; NULL: do not look
// @param[in,out] points is added to
static rp_local chunks_of_page(const loops *l, rp_local page, int32_t *walled, rp_local *points)
{
    const rp_grid *grid = l->step->grid;
    int count[POINT_COLOURS] = {0}, colour[NODES_MOST];
    rp_local chunks = 0, first[POINT_COLOURS];
    find_points(l, page, colour);
    for (int n = 0; n < grid->layout.nodes; n++) {
        if (colour[n] >= 0) {
            count[colour[n]]++;
            ++*points;
        }
    }
    for (int c = 0; c < POINT_COLOURS; c++) {
        first[c] = chunks;
        chunks += (count[c] + RP_CHUNK - 1) / RP_CHUNK;
        count[c] = 0;
    }
    for (int n = 0; n < grid->layout.nodes && walled != NULL && !l->cells; n++) {
        const size_t node = (size_t)page * (size_t)grid->layout.nodes + (size_t)n;
        if (colour[n] >= 0 && size_of(l->smooth[node][0]) > 0.0) {
            walled[first[colour[n]] + count[colour[n]] / RP_CHUNK] = 1;
        }
        count[colour[n] >= 0 ? colour[n] : 0] += colour[n] >= 0;
    }
    return chunks;
}

// Numbers, from 1, of the nodes of a page and of those one farther on each side.
static void cube_of_page(const loops *l, rp_local page, uint32_t *cube)
{
    const rp_grid *grid = l->step->grid;
    const rp_layout *layout = &grid->layout;
    const int wide[3] = {layout->cells[0] + 2, layout->cells[1] + 2,
                         layout->dim == 3 ? layout->cells[2] + 2 : 1};
    for (int x = 0; x < wide[0]; x++) {
        for (int y = 0; y < wide[1]; y++) {
            for (int z = 0; z < wide[2]; z++) {
                int at[3] = {x - 1, y - 1, layout->dim == 3 ? z - 1 : 0}, near = 0;
                for (int a = 0; a < 3; a++) {
                    const int side = at[a] < 0 ? -1 : at[a] >= layout->cells[a] ? 1 : 0;
                    at[a] -= side * layout->cells[a];
                    near = near * 3 + side + 1;
                }
                const uint32_t other = l->near[page][near];
                uint32_t number = RP_NO_NUMBER;
                if (other != RP_NO_PAGE) {
                    number = rp_nodes_numbers(
                        &l->state->numbers, grid,
                        (rp_local)
                            other)[(at[0] * layout->cells[1] + at[1]) * layout->cells[2] + at[2]];
                }
                *cube++ = number == RP_NO_NUMBER ? 0 : number + 1;
            }
        }
    }
}

static double room_at(const loops *l, size_t node)
{
    double sum = 0.0;
    for (int side = 0; side < 1 << l->f.dim; side++) {
        sum += l->room[node][side];
    }
    return sum;
}

// What sand withstands of shear beside friction, for what it holds in all: viscosity, and what rate
// adds to friction, taken so at the pressure and the rate that there were in the last step that in
// steady flow nothing is missing, theory (G7).
static double thick_of(const loops *l, const rp_node_sum *all, const rp_node_stress *before)
{
    const options *o = l->step->option;
    const double across = sqrt(2.0 / l->f.dim);
    const double p = before != NULL ? fmax(0.0, across * before->lambda[0] / l->pressure) : 0.0;
    const double half = all->rate * sqrt(p) + all->shear;
    double thick = o->viscosity * l->time / (l->h * l->h) * all->mass / all->volume;
    thick += all->faster > 0.0 && half > 0.0 ? all->faster * p / half : 0.0;
    return thick / all->volume;
}

// Sand that is loose by a twentieth does not cohere.
static double dense_share(double empty, double room)
{
    return empty > 0.0 ? fmax(0.0, 1.0 - 20.0 * empty / room) : 1.0;
}

// A stress point that is a node: its links, what volume it may gain, its friction.
static void fill_node(const loops *l, rp_local page, int n, const uint32_t *cube, rp_local chunk,
                      int lane, const rp_node_stress *before)
{
    const rp_friction_problem *f = &l->f;
    const rp_layout *layout = &l->step->grid->layout;
    const int at[3] = {n / (layout->cells[1] * layout->cells[2]),
                       n / layout->cells[2] % layout->cells[1], n % layout->cells[2]};
    const int wide_y = layout->cells[1] + 2, wide_z = layout->dim == 3 ? layout->cells[2] + 2 : 1;
    const size_t own = (size_t)chunk * RP_CHUNK + (size_t)lane;
    double sum[RP_LINKS_MOST * 3] = {0}, b[RP_LINKS_MOST * 3];
    for (int s = 0; s < l->step->species_count; s++) {
        if (counts(&l->step->set[s])) {
            const rp_grains from = grains_around(l, s, page);
            l->k->vectors(&from, at, b);
            for (int i = 0; i < f->links * 3; i++) {
                sum[i] += b[i];
            }
        }
    }
    rp_friction_link *link = f->link + own * (size_t)f->links;
    for (int i = 0; i < f->links; i++) {
        const int x = at[0] + (layout->dim == 3 ? i / 9 : i / 3),
                  y = at[1] + (layout->dim == 3 ? i / 3 % 3 : i % 3),
                  z = layout->dim == 3 ? at[2] + i % 3 : 0;
        link[i].node = cube[(x * wide_y + y) * wide_z + z];
        for (int a = 0; a < 3; a++) {
            link[i].b[a] = (float)sum[i * 3 + a];
        }
    }
    const size_t node = (size_t)page * (size_t)layout->nodes + (size_t)n;
    const rp_node_sum *here = &l->sum[node];
    const double gain = fmax(0.0, room_at(l, node) - here->volume) / f->dt;
    const double across = sqrt(2.0 / layout->dim);
    f->k[own] = across * gain;
    f->mu[own] = across * here->friction / here->volume;
    f->thick[own] = thick_of(l, here, before);
    f->glue[own] =
        here->glue / here->volume * dense_share(room_at(l, node) - here->volume, room_at(l, node));
}

// One that is a cell. Free volume is that of its corners: what the cell itself holds says too
// little, since its particles are few.
static void fill_cell(const loops *l, rp_local page, int n, const uint32_t *cube, rp_local chunk,
                      int lane, const rp_node_stress *before)
{
    const rp_friction_problem *f = &l->f;
    const rp_layout *layout = &l->step->grid->layout;
    const int at[3] = {n / (layout->cells[1] * layout->cells[2]),
                       n / layout->cells[2] % layout->cells[1], n % layout->cells[2]};
    const int wide_y = layout->cells[1] + 2, wide_z = layout->dim == 3 ? layout->cells[2] + 2 : 1;
    const size_t own = (size_t)chunk * RP_CHUNK + (size_t)lane;
    double sum[8 * 3] = {0}, b[8 * 3];
    rp_node_sum all = {0}, some;
    for (int s = 0; s < l->step->species_count; s++) {
        if (counts(&l->step->set[s])) {
            const rp_grains from = grains_around(l, s, page);
            l->k->corners(&from, at, b, &some);
            add_sums(&all, &some, 1);
            for (int i = 0; i < f->links * 3; i++) {
                sum[i] += b[i];
            }
        }
    }
    rp_friction_link *link = f->link + own * (size_t)f->links;
    double room = 0.0, loose = 0.0;
    int corners = 0;
    for (int i = 0; i < f->links; i++) {
        const int x = at[0] + (i & 1), y = at[1] + (i >> 1 & 1), z = at[2] + (i >> 2);
        const int in_cube = ((x + 1) * wide_y + y + 1) * wide_z + (layout->dim == 3 ? z + 1 : 0);
        link[i].node = cube[in_cube];
        for (int a = 0; a < 3; a++) {
            link[i].b[a] = (float)sum[i * 3 + a];
        }
        if (link[i].node == 0) {
            continue;
        }
        const size_t node = l->place[link[i].node - 1];
        const double free = room_at(l, node);
        room += l->room[node][f->links - 1 - i];
        if (free > 1e-3) {
            loose += 1.0 - l->sum[node].volume / free;
            corners++;
        }
    }
    const double across = sqrt(2.0 / layout->dim);
    const double empty = corners > 0 ? room * loose / corners : 0.0;
    f->k[own] = across * fmax(0.0, fmin(empty, room - all.volume)) / f->dt;
    f->mu[own] = across * all.friction / all.volume;
    f->thick[own] = thick_of(l, &all, before);
    f->glue[own] = all.glue / all.volume * dense_share(fmin(empty, room - all.volume), room);
    f->bulk[own] = (float)all.volume;
}

// The vector of the shear n t^T + t n^T (cone.h).
static void shear_vector(int dim, const double n[3], const double t[3], double out[6])
{
    if (dim == 2) {
        out[0] = 0.0;
        out[1] = n[0] * t[0] - n[1] * t[1];
        out[2] = n[0] * t[1] + n[1] * t[0];
        return;
    }
    out[0] = 0.0;
    out[1] = n[0] * t[0] - n[1] * t[1];
    out[2] = (2.0 * n[2] * t[2] - n[0] * t[0] - n[1] * t[1]) / sqrt(3.0);
    out[3] = n[0] * t[1] + n[1] * t[0];
    out[4] = n[0] * t[2] + n[2] * t[0];
    out[5] = n[1] * t[2] + n[2] * t[1];
}

// The shears along walls without friction, at right angles to each other; returns how many.
static int find_off(int dim, const double smooth[3][3], double off[RP_OFF_MOST][6])
{
    int found = 0;
    for (int w = 0; w < 3 && size_of(smooth[w]) > 0.0; w++) {
        const double *n = smooth[w];
        // two directions along the wall, from the axis that lies flattest
        const int flat = fabs(n[0]) <= fabs(n[1]) && (dim == 2 || fabs(n[0]) <= fabs(n[2])) ? 0
                         : dim == 2 || fabs(n[1]) <= fabs(n[2])                             ? 1
                                                                                            : 2;
        double t[2][3];
        for (int a = 0; a < 3; a++) {
            t[0][a] = (a == flat) - n[flat] * n[a];
        }
        const double length = size_of(t[0]);
        for (int a = 0; a < 3; a++) {
            t[0][a] /= length;
        }
        for (int a = 0; a < 3; a++) {
            t[1][a] = n[(a + 1) % 3] * t[0][(a + 2) % 3] - n[(a + 2) % 3] * t[0][(a + 1) % 3];
        }
        for (int k = 0; k < dim - 1 && found < RP_OFF_MOST; k++) {
            double s[6] = {0}, left = 0.0;
            shear_vector(dim, n, t[k], s);
            for (int i = 0; i < found; i++) {
                double along = 0.0;
                for (int a = 0; a < 6; a++) {
                    along += s[a] * off[i][a];
                }
                for (int a = 0; a < 6; a++) {
                    s[a] -= along * off[i][a];
                }
            }
            for (int a = 0; a < 6; a++) {
                left += s[a] * s[a];
            }
            if (left > 1e-6) { // else other walls have taken it
                for (int a = 0; a < 6; a++) {
                    off[found][a] = s[a] / sqrt(left);
                }
                found++;
            }
        }
    }
    return found;
}

// What walls take from a point: noted for the sweeps, and taken from the stress it starts with.
static void fill_off(const loops *l, size_t node, rp_local chunk, int lane)
{
    const rp_friction_problem *f = &l->f;
    double off[RP_OFF_MOST][6] = {{0}};
    const int found = find_off(f->dim, (const double(*)[3])l->smooth[node], off);
    double *to = f->off + (size_t)f->off_at[chunk] * RP_OFF_MOST * (size_t)f->size * RP_CHUNK;
    double *lambda = f->lambda + (size_t)chunk * (size_t)f->size * RP_CHUNK + (size_t)lane;
    for (int i = 0; i < found; i++) {
        double along = 0.0;
        for (int a = 0; a < f->size; a++) {
            to[(i * f->size + a) * RP_CHUNK + lane] = off[i][a];
            along += off[i][a] * lambda[a * RP_CHUNK];
        }
        for (int a = 0; a < f->size; a++) {
            lambda[a * RP_CHUNK] -= along * off[i][a];
        }
    }
}

static void clear_lane(const rp_friction_problem *f, rp_local chunk, int lane)
{
    const size_t own = (size_t)chunk * RP_CHUNK + (size_t)lane;
    f->point[own] = 0;
    f->k[own] = f->mu[own] = f->thick[own] = f->glue[own] = 0.0;
    if (f->bulk != NULL) {
        f->bulk[own] = 0.0f;
    }
    memset(f->link + own * (size_t)f->links, 0, (size_t)f->links * sizeof *f->link);
    for (int c = 0; c < f->size; c++) {
        f->lambda[((size_t)chunk * (size_t)f->size + (size_t)c) * RP_CHUNK + (size_t)lane] = 0.0;
    }
}

static int compare_warm(const rp_node_stress *w, uint64_t key, uint32_t field)
{
    return w->key != key       ? (w->key < key ? -1 : 1)
           : w->field != field ? (w->field < field ? -1 : 1)
                               : 0;
}

// Is it one that a step can have left? It may come out of a damaged state.
static bool can_be(const rp_node_stress *w, int nodes)
{
    bool good = w->node < (uint32_t)nodes;
    for (int i = 0; i < 6; i++) {
        good = good && isfinite(w->lambda[i]);
    }
    for (int i = 0; i < 12; i++) {
        good = good && isfinite(w->bend[i]);
    }
    return good;
}

// The stresses that the nodes of a page had, by node; NULL where there was none.
static void warm_of_page(const loops *l, rp_local page, const rp_node_stress *out[NODES_MOST])
{
    const rp_node_page *own = &rp_grid_page(l->step->grid)[page];
    const rp_node_stress *all = l->state->warm.data;
    rp_local low = 0, high = l->state->warms;
    memset(out, 0, sizeof *out * NODES_MOST);
    while (low < high) {
        const rp_local middle = low + (high - low) / 2;
        if (compare_warm(&all[middle], own->key, own->field) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < l->state->warms && compare_warm(&all[low], own->key, own->field) == 0; low++) {
        if (can_be(&all[low], l->step->grid->layout.nodes)) {
            out[all[low].node] = &all[low];
        }
    }
}

static double kept(const rp_node_stress *w, int dim, int component)
{
    const int comps = rp_sym_comps(dim);
    return component < comps ? w->lambda[component] : (double)w->bend[component - comps];
}

static void points_of_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_friction_problem *f = &l->f;
    const rp_grid *grid = l->step->grid;
    uint32_t cube[CUBE_MOST];
    const rp_node_stress *before[NODES_MOST];
    int colour[NODES_MOST];
    rp_local chunk = f->page_chunk[page];
    if (chunk == f->page_chunk[page + 1]) {
        return;
    }
    cube_of_page(l, (rp_local)page, cube);
    warm_of_page(l, (rp_local)page, before);
    find_points(l, (rp_local)page, colour);
    for (int c = 0; c < POINT_COLOURS; c++) {
        int lane = 0;
        for (int n = 0; n < grid->layout.nodes; n++) {
            if (colour[n] != c) {
                continue;
            }
            f->point[(size_t)chunk * RP_CHUNK + (size_t)lane] = (uint32_t)n + 1;
            if (l->cells) {
                fill_cell(l, (rp_local)page, n, cube, chunk, lane, before[n]);
            } else {
                fill_node(l, (rp_local)page, n, cube, chunk, lane, before[n]);
            }
            for (int i = 0; i < f->size; i++) {
                f->lambda[((size_t)chunk * (size_t)f->size + (size_t)i) * RP_CHUNK + (size_t)lane] =
                    before[n] != NULL ? kept(before[n], f->dim, i) / l->pressure
                    : i == 0          ? f->glue[(size_t)chunk * RP_CHUNK + (size_t)lane]
                                      : 0.0;
            }
            if (f->off_at[chunk] >= 0) {
                fill_off(l, (size_t)page * (size_t)grid->layout.nodes + (size_t)n, chunk, lane);
            }
            f->lanes[chunk] = (uint8_t)++lane;
            if (lane == RP_CHUNK) {
                chunk++;
                lane = 0;
            }
        }
        for (int empty = lane; lane > 0 && empty < RP_CHUNK; empty++) {
            clear_lane(f, chunk, empty);
        }
        chunk += lane > 0;
    }
}

// A wall that holds a node takes its freedom: the node has the wall's velocity and no inverse mass,
// and what it would have done is kept with the grip.
static void fill_grip(const loops *l, const rp_constraint *c, uint32_t node, rp_local index)
{
    const rp_friction_problem *f = &l->f;
    rp_friction_grip *grip = &f->grip[index];
    *grip = (rp_friction_grip){.node = node,
                               .at = 1 + (uint32_t)f->nodes + (uint32_t)index,
                               .collider = c->collider,
                               .contact = c->contact,
                               .friction = c->friction,
                               .distance = c->distance / l->h};
    double *own = f->start + (size_t)grip->at * 4, *u = f->start + (size_t)node * 4;
    memset(own, 0, 4 * sizeof *own);
    for (int a = 0; a < 3; a++) {
        grip->normal[a] = c->normal[a];
        grip->velocity[a] = a < f->dim ? c->velocity[a] * l->time / l->h : 0.0;
    }
    if (c->contact == RP_STICKY) {
        memcpy(own, u, 4 * sizeof *own);
        memcpy(u, grip->velocity, sizeof grip->velocity);
        u[3] = 0.0;
    }
}

// Velocities before any stress, and who holds them.
static void start_of_page(void *context, int64_t page, int thread)
{
    const loops *l = context;
    const rp_friction_problem *f = &l->f;
    const rp_grid *grid = l->step->grid;
    const int nodes = grid->layout.nodes;
    const uint32_t *number = rp_nodes_numbers(&l->state->numbers, grid, (rp_local)page);
    for (int n = 0; n < nodes; n++) {
        if (number[n] == RP_NO_NUMBER) {
            continue;
        }
        const size_t node = (size_t)page * (size_t)nodes + (size_t)n;
        const rp_node_sum *sum = &l->sum[node];
        double *u = f->start + ((size_t)number[n] + 1) * 4;
        for (int a = 0; a < 3; a++) {
            u[a] = a < f->dim ? sum->momentum[a] / sum->mass + l->push[a] : 0.0;
            u[a] += l->field != NULL ? l->field[node][a] * l->time / l->h : 0.0;
        }
        // no node is so light that the stress of a cell throws it farther than this
        u[3] = f->dt / (sum->mass + 1e-8 * f->dt);
    }
    rp_constraint *list = l->list + (size_t)thread * (size_t)l->list_most;
    const rp_listing wanted = listing_of(l);
    const int32_t count = rp_touches_list(&l->touches, grid, (rp_local)page, &wanted, list);
    rp_local next = f->page_grip[page];
    for (int32_t i = 0; i < count;) {
        int32_t end = i;
        const rp_constraint *holder = NULL;
        for (; end < count && list[end].node == list[i].node; end++) {
            if (holder == NULL && holds(&list[end])) {
                holder = &list[end];
            }
        }
        const uint32_t node = number[list[i].node] + 1;
        for (int32_t k = i; k < end; k++) {
            if (holder != NULL ? &list[k] == holder : grips(&list[k])) {
                fill_grip(l, &list[k], node, next++);
            }
        }
        i = end;
    }
}

// ---- results ----

static void velocities_of_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_grid *grid = l->step->grid;
    const uint32_t *number = rp_nodes_numbers(&l->state->numbers, grid, (rp_local)page);
    for (int n = 0; n < grid->layout.nodes; n++) {
        for (int a = 0; a < l->f.dim && number[n] != RP_NO_NUMBER; a++) {
            write_node(grid, (rp_local)page, n, a,
                       l->f.u[((size_t)number[n] + 1) * 4 + (size_t)a] * l->h / l->time);
        }
    }
}

// What a node gave up to the collider of one of its grips, `change` of its velocity.
static void give(const loops *l, rp_local page, const rp_friction_grip *grip,
                 const double change[3])
{
    const rp_grid *grid = l->step->grid;
    const rp_touch *touch = &l->touches.page[page];
    const size_t place = l->place[grip->node - 1];
    const int n = (int)(place % (size_t)grid->layout.nodes);
    const double mass = l->sum[place].mass * mass_unit(l);
    double x[3], arm[3], lost[3];
    rp_layout_node(&grid->layout, rp_grid_page(grid)[page].block, n, x);
    for (int a = 0; a < 3; a++) {
        arm[a] = x[a] - l->step->collider[grip->collider].begin.position[a];
        lost[a] = a < l->f.dim ? -mass * change[a] * l->h / l->time : 0.0;
    }
    double velocity[3];
    const rp_collider *met = &l->step->collider[grip->collider];
    if (met->morph != NULL) {
        rp_collider_velocity(met, x, l->step->dt, velocity);
    }
    for (uint32_t pair = touch->first; pair < touch->first + touch->count; pair++) {
        if (l->touches.near[pair] == grip->collider) {
            rp_impulse_add(&l->touches.given[pair].impulse, arm, lost);
            for (int a = 0; a < 3 && met->morph != NULL; a++) {
                l->touches.given[pair].worked -= lost[a] * velocity[a];
            }
        }
    }
}

static void gifts_of_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_touch *touch = &l->touches.page[page];
    memset(l->touches.given + touch->first, 0, touch->count * sizeof *l->touches.given);
    for (rp_local i = l->f.page_grip[page]; i < l->f.page_grip[page + 1]; i++) {
        const rp_friction_grip *grip = &l->f.grip[i];
        if (grip->contact != RP_STICKY) {
            give(l, (rp_local)page, grip, l->f.u + (size_t)grip->at * 4);
        }
    }
}

// What held nodes gave up is what they would have done: with their masses, and nobody who holds
// them.
static void held_of_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    for (rp_local i = l->f.page_grip[page]; i < l->f.page_grip[page + 1]; i++) {
        const rp_friction_grip *grip = &l->f.grip[i];
        if (grip->contact == RP_STICKY) {
            double change[3] = {0};
            for (int a = 0; a < l->f.dim; a++) {
                change[a] = grip->velocity[a] - l->f.u[(size_t)grip->node * 4 + (size_t)a];
            }
            give(l, (rp_local)page, grip, change);
        }
    }
}

static void give_all(loops *l)
{
    rp_friction_problem *f = &l->f;
    const int threads = l->step->threads;
    bool held = false;
    rp_parallel_for(threads, f->pages, 8, gifts_of_page, l);
    memcpy(f->u, f->start, rp_friction_velocities(f) * 4 * sizeof(double));
    for (rp_local i = 0; i < f->grips; i++) {
        if (f->grip[i].contact == RP_STICKY) {
            memcpy(f->u + (size_t)f->grip[i].node * 4, f->start + (size_t)f->grip[i].at * 4,
                   4 * sizeof(double));
            held = true;
        }
    }
    if (held) {
        rp_friction_apply(f, l->k, threads);
        rp_parallel_for(threads, f->pages, 8, held_of_page, l);
    }
}

// The stresses, in key order, for the next step. There is room.
static void keep_stresses(const loops *l)
{
    const rp_friction_problem *f = &l->f;
    const rp_grid *grid = l->step->grid;
    nonsmooth_state *s = l->state;
    s->warms = 0;
    for (rp_local p = 0; p < grid->pages; p++) {
        double lambda[NODES_MOST][STRESS_MOST] = {{0}};
        for (rp_local c = f->page_chunk[p]; c < f->page_chunk[p + 1]; c++) {
            for (int lane = 0; lane < f->lanes[c]; lane++) {
                double *to = lambda[f->point[(size_t)c * RP_CHUNK + (size_t)lane] - 1];
                for (int i = 0; i < f->size; i++) {
                    to[i] = l->pressure *
                            f->lambda[((size_t)c * (size_t)f->size + (size_t)i) * RP_CHUNK +
                                      (size_t)lane];
                }
            }
        }
        for (int n = 0; n < grid->layout.nodes; n++) {
            if (lambda[n][0] > 0.0) {
                rp_node_stress *w = (rp_node_stress *)s->warm.data + s->warms++;
                *w = (rp_node_stress){.key = rp_grid_page(grid)[p].key,
                                      .field = rp_grid_page(grid)[p].field,
                                      .node = (uint32_t)n};
                const int comps = rp_sym_comps(f->dim);
                memcpy(w->lambda, lambda[n], (size_t)comps * sizeof *w->lambda);
                for (int i = comps; i < f->size; i++) {
                    w->bend[i - comps] = (float)lambda[n][i];
                }
            }
        }
    }
}

// ---- the step ----

// Parts of a step, in the order of rp_solver.stage below.
typedef enum stage { SORT, ASSEMBLE, SOLVE, G2P } stage;

static void stage_done(rp_stats *stats, stage done, double *since)
{
    const double now = rp_seconds();
    stats->seconds[done] += now - *since;
    *since = now;
}

// Particles are looked for by cell, so that sets are sorted whenever anything has moved.
static rp_result nonsmooth_prepare(void *state, rp_step *step)
{
    (void)state;
    if (!rp_comm_alone(step->comm)) {
        return rp_fail(RP_ERR_UNSUPPORTED, "method nonsmooth cannot be cut into ranks yet");
    }
    bool build = step->grid->pages == 0;
    for (int s = 0; s < step->species_count; s++) {
        rp_set *set = &step->set[s];
        if (rp_set_wants_sort(set) || set->travel > 0.0) {
            rp_grid_forget(step->grid); // of other pages from now on, also when a later sort fails
            RP_TRY(rp_set_sort(set, &step->grid->arena[s], step->threads));
            step->stats->sorts++;
            build = true;
        }
    }
    return build ? rp_grid_build(step->grid, step->set, step->species_count) : RP_OK;
}

// Room in the scratch memory of the step, for `count` of something.
#define GET(pointer, count, what)                                                                  \
    do {                                                                                           \
        (pointer) = rp_scratch_get(step->scratch, (size_t)(count) * sizeof *(pointer), (what));    \
        if ((pointer) == NULL) {                                                                   \
            return RP_ERR_MEMORY;                                                                  \
        }                                                                                          \
    } while (0)

// Components of the ways in which a cell can bend.
static int bends_of(int dim) { return dim == 3 ? 12 : 2; }

// Units, and room for all that does not depend on how many nodes there are.
static rp_result get_ready(loops *l)
{
    rp_step *step = l->step;
    const rp_layout *layout = &step->grid->layout;
    const size_t pages = (size_t)step->grid->pages, nodes = pages * (size_t)layout->nodes;
    size_t grains = 0, particle_pages = 0, most_pages = 0;
    l->h = layout->h;
    l->f.dim = layout->dim;
    for (int s = 0; s < step->species_count; s++) {
        const rp_set *set = &step->set[s];
        l->first_grain[s] = grains;
        l->first_page[s] = particle_pages;
        most_pages = (size_t)set->pages > most_pages ? (size_t)set->pages : most_pages;
        if (counts(set)) {
            grains += (size_t)set->slots;
            particle_pages += (size_t)set->pages;
            for (rp_local g = 0; g < set->groups; g++) {
                const rp_group *group = &rp_set_group(set)[g];
                l->density = fmax(l->density, group->mass / group->volume);
            }
        }
    }
    l->density = l->density > 0.0 ? l->density : 1.0;
    const double pull = pull_of(l->state, step);
    l->time = sqrt(l->h / pull);
    l->pressure = l->density * pull * l->h;
    for (int a = 0; a < layout->dim; a++) {
        l->push[a] = step->gravity[a] * step->dt * l->time / l->h;
    }
    l->least = rp_least_node_mass(step);
    GET(l->grain, grains, "grains");
    GET(l->cell, particle_pages * (size_t)(layout->nodes + 1), "cells of pages");
    GET(l->sum, nodes, "sums at nodes");
    GET(l->room, nodes, "room at nodes");
    GET(l->smooth, nodes, "walls of nodes");
    GET(l->dropped, pages, "dropped momentum per page");
    GET(l->report, most_pages, "page reports");
    GET(l->near, pages, "pages around pages");
    for (int s = 0; s < step->species_count; s++) {
        GET(l->inside[s], pages, "particles of node pages");
        memset(l->inside[s], 0xff, pages * sizeof *l->inside[s]);
        for (rp_local p = 0; p < step->set[s].pages; p++) {
            l->inside[s][rp_set_page(&step->set[s])[p].near[RP_NEAR_SELF]] = (uint32_t)p;
        }
    }
    RP_TRY(rp_find_push(step, &l->field));
    RP_TRY(rp_touches_find(&l->touches, &l->state->walls, step->collider, step->colliders,
                           step->grid, step->threads, step->scratch));
    for (rp_local p = 0; p < step->grid->pages; p++) {
        const int32_t most = rp_touches_most(&l->touches, step->grid, p);
        l->list_most = most > l->list_most ? most : l->list_most;
    }
    GET(l->list, (size_t)step->threads * (size_t)l->list_most, "walls of nodes");

    rp_friction_problem *f = &l->f;
    f->pages = step->grid->pages;
    l->cells = ((const options *)step->option)->stress == STRESS_CELL;
    f->links = l->cells ? 1 << layout->dim : layout->dim == 3 ? 27 : 9;
    f->size = rp_sym_comps(layout->dim) + (l->cells ? bends_of(layout->dim) : 0);
    f->dt = step->dt / l->time;
    GET(f->page_chunk, pages + 1, "pages of points");
    GET(f->page_grip, pages + 1, "pages of walls");
    GET(f->page_node, pages + 1, "pages of nodes");
    GET(f->in_colour, pages, "colours of pages");
    return RP_OK;
}

// Everything in the problem whose size is known once nodes are numbered.
static rp_result make_room(loops *l)
{
    rp_step *step = l->step;
    rp_friction_problem *f = &l->f;
    const rp_grid *grid = step->grid;
    RP_TRY(rp_nodes_number(&l->state->numbers, grid, 0.0));
    f->nodes = l->state->numbers.count;
    GET(l->place, f->nodes, "places of nodes");
    f->page_chunk[0] = f->page_grip[0] = f->page_node[0] = 0;
    for (rp_local p = 0; p < grid->pages; p++) {
        const uint32_t *number = rp_nodes_numbers(&l->state->numbers, grid, p);
        f->page_node[p + 1] = f->page_node[p];
        for (int n = 0; n < grid->layout.nodes; n++) {
            if (number[n] != RP_NO_NUMBER) {
                l->place[f->page_node[p + 1]++] =
                    (size_t)p * (size_t)grid->layout.nodes + (size_t)n;
            }
        }
        f->page_chunk[p + 1] = f->page_chunk[p] + chunks_of_page(l, p, NULL, &f->points);
        f->page_grip[p + 1] += f->page_grip[p];
    }
    f->chunks = f->page_chunk[grid->pages];
    f->grips = f->page_grip[grid->pages];
    colour_pages(l);
    const size_t chunks = (size_t)f->chunks, eight = chunks * RP_CHUNK, size = (size_t)f->size;
    GET(f->u, rp_friction_velocities(f) * 4, "velocities");
    GET(f->start, rp_friction_velocities(f) * 4, "velocities");
    GET(f->grip, f->grips, "walls of nodes");
    GET(f->lanes, chunks, "stress points");
    GET(f->point, eight, "stress points");
    GET(f->link, eight * (size_t)f->links, "links of stress points");
    GET(f->lambda, eight * size, "stresses");
    if (l->cells) {
        GET(f->bulk, eight, "stress points");
    }
    if (!l->cells || ((const options *)step->option)->solver == GAUSS_SEIDEL) {
        GET(f->block, eight * (size * (size + 1) / 2), "blocks of stress points");
    }
    GET(f->per, eight * 2, "stress points");
    GET(f->mu, eight, "stress points");
    GET(f->k, eight, "stress points");
    GET(f->thick, eight, "stress points");
    GET(f->glue, eight, "stress points");
    GET(f->scale, eight, "stress points");
    GET(f->off_at, chunks, "stress points");
    memset(f->off_at, 0, chunks * sizeof *f->off_at);
    int32_t walled = 0;
    rp_local again = 0;
    for (rp_local p = 0; p < grid->pages; p++) {
        (void)chunks_of_page(l, p, f->off_at + f->page_chunk[p], &again);
    }
    for (size_t c = 0; c < chunks; c++) {
        f->off_at[c] = f->off_at[c] > 0 ? walled++ : -1;
    }
    const size_t off = (size_t)walled * RP_OFF_MOST * size * RP_CHUNK;
    GET(f->off, off, "shears at walls");
    memset(f->off, 0, off * sizeof *f->off);
    memset(f->start, 0, 4 * sizeof(double));
    const size_t bytes = (size_t)f->points * sizeof(rp_node_stress);
    return l->state->warm.bytes < bytes
               ? rp_buffer_reserve(&l->state->warm, l->state->allocator, bytes + bytes / 4,
                                   (size_t)l->state->warms * sizeof(rp_node_stress),
                                   "stresses of nodes")
               : RP_OK;
}

// What the field of accelerations does to nodes, which come in key order.
static void note_drive(const loops *l)
{
    const rp_grid *grid = l->step->grid;
    const size_t nodes = (size_t)grid->pages * (size_t)grid->layout.nodes;
    for (size_t n = 0; n < nodes; n++) {
        const double mass = l->sum[n].mass * mass_unit(l);
        double v[3] = {0};
        for (int a = 0; a < l->f.dim && mass > l->least; a++) {
            v[a] = l->sum[n].momentum[a] / l->sum[n].mass * l->h / l->time + 0.5 * l->field[n][a];
        }
        if (mass > l->least) {
            rp_drive_add(&l->step->drive, l->f.dim, mass, l->field[n], v);
        }
    }
}

static rp_result assemble(loops *l)
{
    rp_step *step = l->step;
    const rp_local pages = step->grid->pages;
    RP_TRY(get_ready(l));
    for (l->set = 0; l->set < step->species_count; l->set++) {
        if (counts(&step->set[l->set])) {
            rp_parallel_for(step->threads, step->set[l->set].pages, 4, grains_of_page, l);
        }
    }
    rp_parallel_for(step->threads, pages, 16, near_of_page, l);
    rp_parallel_for(step->threads, pages, 4, sums_of_page, l);
    rp_parallel_for(step->threads, pages, 4, walls_of_page, l);
    RP_TRY(make_room(l));
    rp_parallel_for(step->threads, pages, 4, points_of_page, l);
    rp_parallel_for(step->threads, pages, 4, start_of_page, l);
    if (l->field != NULL) {
        note_drive(l);
    }
    return RP_OK;
}

static rp_result solve(loops *l)
{
    rp_step *step = l->step;
    const options *o = step->option;
    const rp_friction_wish wish = {.tolerance = o->tolerance,
                                   .sweeps = (int)o->sweeps,
                                   .accelerate = o->solver == ANDERSON,
                                   .exact = o->solver == GAUSS_SEIDEL,
                                   .largest = o->norm == NORM_MAX,
                                   .threads = step->threads};
    char *memory;
    GET(memory, rp_friction_bytes(&l->f), "the friction problem");
    const rp_friction_outcome out = rp_friction_solve(&l->f, l->k, &wish, memory);
    step->stats->extra[0] = out.sweeps;
    step->stats->extra[1] = out.residual;
    if (isnan(out.residual)) {
        double x[3];
        rp_layout_node(&step->grid->layout, rp_grid_page(step->grid)[out.worst_page].block,
                       (int)out.worst - 1, x);
        return rp_fail(RP_ERR_DIVERGED,
                       "the stress at (%g, %g, %g) m is no number in step %lld of dt %g s, "
                       "bounded by %s: the state is no longer physical",
                       x[0], x[1], x[2], (long long)step->time.step, step->dt,
                       step->stats->limiter);
    }
    if (!(out.residual < wish.tolerance)) {
        double x[3];
        rp_layout_node(&step->grid->layout, rp_grid_page(step->grid)[out.worst_page].block,
                       (int)out.worst - 1, x);
        if (l->state->record.missed == 0.0) {
            rp_log(RP_LOG_WARNING,
                   "step %lld ended after %d sweeps with residual %.3g, above its tolerance of %g; "
                   "the "
                   "worst is near (%g, %g, %g) m. Further ones are counted (stats.csv: missed)",
                   (long long)step->time.step, out.sweeps, out.residual, wish.tolerance, x[0], x[1],
                   x[2]);
        }
        l->state->record.missed += 1.0;
    }
    step->stats->extra[2] = l->state->record.missed;
    return RP_OK;
}

typedef struct moving {
    loops *l;
    rp_transfer_job job;
} moving;

static void g2p_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const moving *m = context;
    m->l->step->kernels->g2p(&m->job, (rp_local)page, &m->l->report[page]);
}

// Particles of one species move; the fastest and the most sheared of all of them.
static rp_result move_species(loops *l, int species, double *speed2, double *gradient2)
{
    rp_step *step = l->step;
    rp_set *set = &step->set[species];
    moving m = {.l = l,
                .job = {.set = set,
                        .set_index = species,
                        .grid = step->grid,
                        .dt = step->dt,
                        .transfer = RP_APIC,
                        .gradient = RP_GRADIENT_SPLINE,
                        .seed = step->seed,
                        .step = (uint64_t)step->time.step}};
    double farthest = 0.0;
    rp_parallel_for(step->threads, set->pages, 4, g2p_page, &m);
    for (rp_local p = 0; p < set->pages; p++) {
        if (l->report[p].bad) {
            return rp_solver_blame(step, set, p);
        }
        *speed2 = fmax(*speed2, l->report[p].speed2);
        *gradient2 = fmax(*gradient2, l->report[p].gradient2);
        farthest = fmax(farthest, l->report[p].move);
    }
    rp_set_travelled(set, farthest);
    return RP_OK;
}

static rp_result nonsmooth_step(void *state, rp_step *step)
{
    double since = rp_seconds(), speed2 = 0.0, gradient2 = 0.0, rubbed = 0.0;
    RP_TRY(nonsmooth_prepare(state, step));
    stage_done(step->stats, SORT, &since);

    loops l = {.step = step,
               .state = state,
               .k = rp_friction_kernels_find(step->grid->layout.dim, step->kernels->isa)};
    RP_TRY(assemble(&l));
    stage_done(step->stats, ASSEMBLE, &since);

    RP_TRY(solve(&l));
    rp_parallel_for(step->threads, step->grid->pages, 16, velocities_of_page, &l);
    keep_stresses(&l);
    give_all(&l);
    RP_TRY(rp_touches_sum(&l.touches, step->grid, step->body, &rubbed));
    for (rp_local p = 0; p < step->grid->pages; p++) {
        step->stats->dropped_momentum += l.dropped[p];
    }
    stage_done(step->stats, SOLVE, &since);

    for (int i = 0; i < step->species_count; i++) {
        RP_TRY(move_species(&l, i, &speed2, &gradient2));
    }
    l.state->record.speed = step->stats->max_speed = sqrt(speed2);
    step->stats->max_gradient = sqrt(gradient2);
    stage_done(step->stats, G2P, &since);
    return RP_OK;
}

const rp_solver rp_solver_nonsmooth = {
    .info = {.name = "nonsmooth",
             .sentence = "Rigid grains with exact friction, in steps of a frame.",
             .built = true,
             .materials = 1u << RP_SAND | 1u << RP_TRACER,
             .regard = {[RP_FEATURE_HARDENING] = RP_MEANINGLESS,
                        [RP_FEATURE_STIFFNESS] = RP_MEANINGLESS,
                        [RP_FEATURE_VOLUME_CORRECTION] = RP_MEANINGLESS,
                        [RP_FEATURE_DILATION] = RP_IMPOSSIBLE,
                        [RP_FEATURE_RESTING] = RP_MEANINGLESS,
                        [RP_FEATURE_VISCOSITY] = RP_IMPOSSIBLE,
                        [RP_FEATURE_ORDER] = RP_MEANINGLESS,
                        [RP_FEATURE_TRANSFER] = RP_MEANINGLESS,
                        [RP_FEATURE_GRADIENT] = RP_MEANINGLESS,
                        [RP_FEATURE_ELASTIC_SHARE] = RP_MEANINGLESS,
                        [RP_FEATURE_ENERGY] = RP_IMPOSSIBLE,
                        [RP_FEATURE_BODIES] = RP_IMPOSSIBLE,
                        [RP_FEATURE_MIXTURE] = RP_IMPOSSIBLE,
                        [RP_FEATURE_PERMEABLE] = RP_IMPOSSIBLE,
                        [RP_FEATURE_FRACTURE] = RP_IMPOSSIBLE,
                        [RP_FEATURE_RIGID] = RP_IMPOSSIBLE,
                        [RP_FEATURE_PRESTRESS] = RP_MEANINGLESS},
             .why = {[RP_FEATURE_MIXTURE] = "use method mixture",
                     [RP_FEATURE_PERMEABLE] = "use method mixture",
                     [RP_FEATURE_HARDENING] = "friction stays what `friction_angle` makes it",
                     [RP_FEATURE_DILATION] = "use method explicit",
                     [RP_FEATURE_VISCOSITY] = "use method explicit",
                     [RP_FEATURE_ENERGY] = "use method explicit",
                     [RP_FEATURE_BODIES] = "use method explicit",
                     [RP_FEATURE_FRACTURE] = "use method explicit",
                     [RP_FEATURE_RIGID] = "use method explicit"},
             .option = option,
             .options = sizeof option / sizeof option[0]},
    .stage = {"sort", "assemble", "solve", "g2p"},
    .extra = {"sweeps", "residual", "missed"},
    .needs = nonsmooth_needs,
    .create = nonsmooth_create,
    .limits = nonsmooth_limits,
    .prepare = nonsmooth_prepare,
    .step = nonsmooth_step,
    .state = nonsmooth_register,
    .destroy = nonsmooth_destroy,
};
