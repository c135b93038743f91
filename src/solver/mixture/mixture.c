// Sand and water, each with a velocity of its own on the same nodes (Pradhana Tampubolon 2017;
// docs/theory.md, section 25). Forces are explicit, and the drag between the two is solved exactly
// at each node, so that it bounds no step.
//
// The order of a step follows from what water must know: grains to nodes; the share of space that
// they take there, and from there at the particles of water; water to nodes, its pressure apart,
// which both get by their shares; velocities, drag, contact; and back. Pages of water that meet no
// grain take the way of the explicit step: same kernels, one pass.
#include "base/clock.h"
#include "base/result.h"
#include "base/threads.h"
#include "model/sand.h"
#include "solver/blame.h"
#include "solver/common.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- options ----

typedef enum pressing { PRESSURE_BIOT, PRESSURE_NONE } pressing;
typedef enum filling { FILL_FRACTION, FILL_INDICATOR } filling;
typedef enum wetting { WET_LINEAR, WET_RISE_AND_FALL } wetting;
typedef enum dragging { DRAG_VOLUME, DRAG_PAPER } dragging;

typedef struct options {
    pressing pressure;
    filling saturation;
    wetting wetting;
    dragging drag_law;
} options;
_Static_assert(sizeof(options) <= sizeof(((rp_world_def *)0)->option), "room for options");

static const char *const pressures[] = {"biot", "none", NULL};
static const char *const saturations[] = {"fraction", "indicator", NULL};
static const char *const wettings[] = {"linear", "rise_and_fall", NULL};
static const char *const drag_laws[] = {"volume", "paper", NULL};

#define AT(member) .offset = offsetof(options, member)
// clang-format off
static const rp_property option[] = {
    {"pressure", RP_PROPERTY_CHOICE, .choices = pressures, .otherwise = "\"biot\"", AT(pressure),
     .sentence = "Of water in pores: shared with the grains by volume (biot), so that sand is lifted and its pressure drains; or, as in the paper, "
                 "water presses only itself (none), for comparison."},
    {"saturation", RP_PROPERTY_CHOICE, .choices = saturations, .otherwise = "\"fraction\"", AT(saturation),
     .sentence = "How wet sand is: the share of its pores that is full, or, as in the paper, 1 wherever there is any water."},
    {"wetting", RP_PROPERTY_CHOICE, .choices = wettings, .otherwise = "\"linear\"", AT(wetting),
     .sentence = "What water does to `cohesion`: it fades with saturation (linear), or rises up to a saturation of 0.4 and fades then."},
    {"drag_law", RP_PROPERTY_CHOICE, .choices = drag_laws, .otherwise = "\"volume\"", AT(drag_law),
     .sentence = "Drag by the volume that both share, or, as printed, by the product of their masses, which depends on `dx`: `drag` "
                 "is then in 1/(kg s)."},
};
// clang-format on

// ---- state ----

// What bounds the next step, and is saved.
typedef struct extremes {
    double speed;    // [m/s]
    double gradient; // [1/s]
} extremes;

typedef struct mixture_state {
    extremes most;
    double gravity; // that conductivities are meant at [m/s^2]
    rp_walls walls; // not saved: what it holds can be worked out again
} mixture_state;

enum { SAND_FIELD = 0 };
enum {
    CH_FORCE = RP_CH_OWN, // impulse of water's stress, where there are grains
    CH_PORES,             // sums over sand, see PORES
    CH_SHARE,             // at nodes of water the share of grains, at those of sand the saturation
    CH_FLUX, // at nodes of water the volumetric velocity, at those of sand the impulse of drag
};
enum { PORES = 3 }; // bulk volume, that of grains, drag coefficient times bulk volume

static rp_result mixture_create(const rp_world_def *def, const rp_allocator *a, void **state)
{
    mixture_state *s = *state = rp_new(a, sizeof(mixture_state), "the solver of mixtures");
    if (s == NULL) {
        return RP_ERR_MEMORY;
    }
    // pores do not change while gravity does, nor where there is none: Earth's then
    const double *g = def->gravity;
    const double size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    s->gravity = def->gravity_of_time.call == NULL && size > 0.0 ? size : 9.81;
    return RP_OK;
}

static void mixture_destroy(void *state, const rp_allocator *a)
{
    rp_walls_free(&((mixture_state *)state)->walls, a);
    rp_delete(a, state, sizeof(mixture_state));
}

static void mixture_register(void *state, rp_registry *registry)
{
    mixture_state *s = state;
    rp_registry_add(registry, "mixture/extremes", &s->most, sizeof s->most);
}

static void mixture_needs(const rp_world_def *def, rp_needs *needs)
{
    const unsigned affine = rp_transfer_is_affine(def->transfer) ? 1u << RP_COL_AFFINE : 0u;
    *needs = (rp_needs){.columns = 1u << RP_COL_VELOCITY | affine,
                        .solid_columns = 1u << RP_COL_SATURATION | 1u << RP_COL_BOND,
                        .apart = "water",
                        .orders = 1u << 1 | 1u << 2 | 1u << 3,
                        .grid = true,
                        .push_out = true};
    needs->channel[RP_CH_MOMENTUM] = (rp_channel){"momentum", RP_QUAD, RP_FROM_ALL_WITH_MASS};
    if (rp_transfer_keeps(def->transfer)) {
        needs->channel[RP_CH_IMPULSE] = (rp_channel){"impulse", RP_QUAD, RP_FROM_ALL_WITH_MASS};
    }
    needs->channel[CH_FORCE] = (rp_channel){"force", RP_QUAD, "water"};
    needs->channel[CH_PORES] = (rp_channel){"pores", PORES, "solid"};
    needs->channel[CH_SHARE] = (rp_channel){"share", 1, NULL};
    needs->channel[CH_FLUX] = (rp_channel){"flux", RP_QUAD, NULL};
}

// ---- who is there ----

// What is the same at all nodes.
typedef struct mixed {
    int nodes, dim;
    double cell;            // volume of a cell [m^3]
    double dt, least;       // [s], [kg]
    double water_density;   // [kg/m^3]
    double weight;          // of water per volume [N/m^3]
    double thickness;       // its viscosity [Pa s]
    double per_mass[PORES]; // where all sand is alike
    bool alike, by_mass, indicator, rises, biot;
} mixed;

static int find_species(const rp_step *step, const char *name)
{
    for (int i = 0; i < step->species_count; i++) {
        if (strcmp(step->species[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

// Parameters of a group.
static const double *group_of(const rp_species *species, rp_local group)
{
    return (const double *)species->group_doubles.data + (size_t)group * RP_GROUP_REALS;
}

// docs/theory.md (P2); conductivity, permeability and drag exclude each other.
static double drag_of_sand(const mixed *m, const double *p)
{
    return p[RP_PARAM_DRAG] + p[RP_PARAM_DRAG_WEIGHT] * m->weight +
           p[RP_PARAM_DRAG_THICKNESS] * m->thickness;
}

static rp_result look_at_materials(const rp_step *step, double gravity, int sand, int water,
                                   mixed *m)
{
    m->water_density = 1000.0;
    for (rp_local g = 0; water >= 0 && g < step->set[water].groups; g++) {
        const double density = group_of(&step->species[water], g)[RP_PARAM_DENSITY];
        if (g > 0 && density != m->water_density) {
            return rp_fail(RP_ERR_UNSUPPORTED,
                           "method mixture: want one density of water, got %g and %g kg/m^3",
                           m->water_density, density);
        }
        m->water_density = density;
    }
    m->weight = m->water_density * gravity;
    m->thickness = water >= 0 ? step->species[water].viscosity * m->water_density : 0.0;
    m->thickness = m->thickness > 0.0 ? m->thickness : 1e-3;
    m->alike = true;
    for (rp_local g = 0; sand >= 0 && g < step->set[sand].groups; g++) {
        const double *p = group_of(&step->species[sand], g), volume = 1.0 / p[RP_PARAM_DENSITY];
        const double own[PORES] = {volume, volume * (1.0 - p[RP_PARAM_POROSITY]),
                                   volume * drag_of_sand(m, p)};
        m->alike = m->alike && (g == 0 || memcmp(m->per_mass, own, sizeof own) == 0);
        memcpy(m->per_mass, own, sizeof own);
    }
    return RP_OK;
}

// docs/theory.md (30) to (32). Where both meet, what the pressure of water does to grains comes on
// top of what they do to each other: the matrix of a node is a sum, and so is its largest
// eigenvalue at most.
static int mixture_limits(void *state, const rp_step *step, rp_limit out[RP_LIMITS_MOST])
{
    const mixture_state *s = state;
    const double h = step->grid->layout.h;
    static const double spectrum[][4] = {
        [RP_GRADIENT_SPLINE] = {[1] = 12.0, [2] = 6.0, [3] = 3.14},
        [RP_GRADIENT_AFFINE] = {[1] = 12.0, [2] = 4.0, [3] = 3.0},
    };
    static const double gradient_bound = 0.3;
    const options *o = step->option;
    const double speed = fmax(s->most.speed, step->newborn_speed);
    const double gradient = fmax(s->most.gradient, step->newborn_gradient);
    const int sand = find_species(step, "solid"), water = find_species(step, "water");
    double stiffness = 0.0, viscosity = 0.0, pores = 1.0;
    int n = 0;
    if (speed > 0.0) {
        out[n++] = (rp_limit){"speed", step->cfl * h / speed};
    }
    if (gradient > 0.0) {
        out[n++] = (rp_limit){"gradient", gradient_bound / gradient};
    }
    if (water >= 0) {
        stiffness = step->species[water].stiffness;
        viscosity = step->species[water].viscosity;
    }
    if (sand >= 0) {
        double coupled = 0.0;
        for (rp_local g = 0;
             g < step->set[sand].groups && water >= 0 && o->pressure == PRESSURE_BIOT; g++) {
            const double *p = group_of(&step->species[sand], g), open = p[RP_PARAM_POROSITY];
            for (rp_local w = 0; w < step->set[water].groups; w++) {
                const double density = group_of(&step->species[water], w)[RP_PARAM_DENSITY];
                coupled = fmax(coupled, (1.0 - open) * (1.0 - open) / open * density /
                                            p[RP_PARAM_DENSITY] * step->species[water].stiffness);
            }
            pores = fmin(pores, open);
        }
        stiffness = coupled > 0.0 ? stiffness + coupled + step->species[sand].stiffness
                                  : fmax(stiffness, step->species[sand].stiffness);
    }
    const double wide = spectrum[step->gradient][step->grid->layout.order];
    if (stiffness > 0.0) {
        out[n++] = (rp_limit){"elastic", 2.0 * step->elastic_share * h / sqrt(wide * stiffness)};
    }
    if (viscosity > 0.0) {
        out[n++] = (rp_limit){"viscous", step->elastic_share * h * h * pores / (wide * viscosity)};
    }
    return n;
}

// ---- nodes of either precision ----

#define REAL    float
#define NAME(x) x##_single
#include "solver/mixture/nodes.h"
#undef REAL
#undef NAME
#define REAL    double
#define NAME(x) x##_double
#include "solver/mixture/nodes.h"
#undef REAL
#undef NAME

// One of the two, by the world's precision.
#define EITHER(step, call, ...)                                                                    \
    ((step)->grid->layout.precision == RP_SINGLE ? call##_single(__VA_ARGS__)                      \
                                                 : call##_double(__VA_ARGS__))

// ---- loops ----

typedef struct loops {
    rp_step *step;
    mixed m;
    int sand, water; // species; -1: there is none
    rp_transfer_job job, bare;
    void *inverse;   // real[slots of water]: one over the share of pores
    void *weights;   // real[slots of sand][PORES]; NULL: all sand is alike
    uint8_t *porous; // [node page]: water that meets grains
    uint8_t *meets;  // [page of water]: likewise
    rp_page_report *report;
    double *dropped;     // [node page]
    double (*volume)[2]; // [page of water]: current, at rest
    rp_gift *given;      // first turn of contact
    rp_touches touches;
    rp_rigids rigids;
} loops;

enum { CHANNELS = 1 << RP_CH_MOMENTUM | 1 << RP_CH_IMPULSE };

static rp_transfer_job transfer_job(const rp_step *step, int set)
{
    return (rp_transfer_job){.set = &step->set[set],
                             .set_index = set,
                             .grid = step->grid,
                             .law = step->law,
                             .group = step->species[set].group_reals.data,
                             .group_law = step->species[set].group_laws.data,
                             .dt = step->dt,
                             .transfer = step->transfer,
                             .gradient = step->gradient,
                             .kept = rp_kept_share(step),
                             .seed = step->seed,
                             .step = (uint64_t)step->time.step};
}

// The page of a field in a block; NULL where it has none.
typedef struct pair {
    rp_local sand, water; // -1: none
} pair;

static pair pair_of(const rp_grid *grid, int64_t block)
{
    const rp_node_block *b = &rp_grid_block(grid)[block];
    pair p = {-1, -1};
    for (rp_local i = b->first; i < b->first + b->count; i++) {
        if (rp_grid_page(grid)[i].field == SAND_FIELD) {
            p.sand = i;
        } else {
            p.water = i;
        }
    }
    return p;
}

static void *nodes_of(const rp_grid *grid, int channel, rp_local page)
{
    return page >= 0 ? rp_grid_nodes(grid, channel, page) : NULL;
}

// Where a real of the lanes of a page begins.
static void *lanes_at(const rp_step *step, void *data, rp_local slot, int comps)
{
    return (char *)data + (size_t)slot * (size_t)comps * (size_t)rp_real_bytes(&step->grid->layout);
}

// Whole tiles, whose last lanes are zero.
static rp_local tiles_of(const rp_page *page)
{
    return (page->count + RP_LANES - 1) / RP_LANES * RP_LANES;
}

static void sand_to_nodes(void *context, int64_t p, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_step *step = l->step;
    step->kernels->p2g(&l->job, (rp_local)p);
    if (l->weights != NULL) {
        const rp_page *page = &rp_set_page(l->job.set)[p];
        const rp_carry carry = {.channel = CH_PORES,
                                .form = RP_CARRY_VALUES,
                                .lanes = {l->weights, PORES},
                                .factor = RP_TIMES_VOLUME,
                                .scale = 1.0};
        EITHER(step, spread_pores, &l->m, tiles_of(page),
               rp_set_tile(l->job.set, RP_COL_GROUP, page->first),
               l->step->species[l->sand].group_doubles.data,
               lanes_at(step, l->weights, page->first, PORES));
        step->kernels->scatter(&l->job, &carry, (rp_local)p);
    }
}

static void sum_sand(void *context, int64_t block, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_step *step = l->step;
    const rp_grid *grid = step->grid;
    const pair at = pair_of(grid, block);
    if (at.sand >= 0) {
        const unsigned pores = l->weights != NULL ? 1u << CH_PORES : 0u;
        step->kernels->sum(grid, step->set, step->species_count, CHANNELS | pores, at.sand);
        if (l->weights == NULL) {
            EITHER(step, pores_from_mass, &l->m, nodes_of(grid, RP_CH_MOMENTUM, at.sand),
                   nodes_of(grid, CH_PORES, at.sand));
        }
    }
    if (at.water >= 0) {
        l->porous[at.water] = EITHER(step, mark_grains, &l->m, nodes_of(grid, CH_PORES, at.sand),
                                     nodes_of(grid, CH_SHARE, at.water)) &&
                              l->m.biot;
    }
}

static void clear_force(const loops *l, const rp_page *page)
{
    const rp_grid *grid = l->step->grid;
    const size_t real = (size_t)rp_real_bytes(&grid->layout);
    char *first = (char *)grid->arena[l->water].data +
                  (grid->arena_at[l->water][CH_FORCE] + (size_t)page->arena * RP_QUAD) * real;
    memset(first, 0, rp_page_arena_nodes(&grid->layout, page) * RP_QUAD * real);
}

static void water_to_nodes(void *context, int64_t p, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_page *page = &rp_set_page(l->job.set)[p];
    bool near = false;
    for (int n = 0; n < RP_NEAR; n++) {
        near = near || (page->near[n] != RP_NO_PAGE && l->porous[page->near[n]]);
    }
    // by places alone, so that it does not depend on when particles were sorted
    l->meets[p] =
        near && l->step->kernels->number(&l->job, CH_SHARE, l->inverse, true, (rp_local)p);
    l->step->kernels->p2g(l->meets[p] ? &l->bare : &l->job, (rp_local)p);
}

// Where both meet, the share of each of the space is known now.
static void sum_water(void *context, int64_t block, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_step *step = l->step;
    const rp_grid *grid = step->grid;
    const pair at = pair_of(grid, block);
    if (at.water >= 0) {
        step->kernels->sum(grid, step->set, step->species_count, CHANNELS, at.water);
    }
    if (at.water >= 0 && at.sand >= 0) {
        EITHER(step, solid_share, &l->m, nodes_of(grid, CH_PORES, at.sand),
               nodes_of(grid, RP_CH_MOMENTUM, at.water), nodes_of(grid, CH_SHARE, at.water));
    }
}

static void pressure_to_nodes(void *context, int64_t p, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_step *step = l->step;
    if (!l->meets[p]) {
        clear_force(l, &rp_set_page(l->job.set)[p]);
        return;
    }
    rp_transfer_job push = l->job;
    push.force_channel = CH_FORCE;
    push.times = l->inverse;
    const rp_page *page = &rp_set_page(l->job.set)[p];
    step->kernels->number(&l->job, CH_SHARE, l->inverse, false, (rp_local)p);
    EITHER(step, open_pores, tiles_of(page), lanes_at(step, l->inverse, page->first, 1));
    step->kernels->p2g(&push, (rp_local)p);
}

// Velocities from forces, and the drag between both.
static void force_block(void *context, int64_t block, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_step *step = l->step;
    const rp_grid *grid = step->grid;
    const pair at = pair_of(grid, block);
    const int forces = rp_grid_has(grid, RP_CH_IMPULSE) ? RP_CH_IMPULSE : RP_CH_MOMENTUM;
    double push[3];
    for (int a = 0; a < 3; a++) {
        push[a] = step->gravity[a] * step->dt;
    }
    if (at.water >= 0) {
        step->kernels->sum(grid, step->set, step->species_count, 1u << CH_FORCE, at.water);
        EITHER(step, share_force, &l->m, nodes_of(grid, CH_FORCE, at.water),
               nodes_of(grid, CH_SHARE, at.water), nodes_of(grid, forces, at.sand),
               nodes_of(grid, forces, at.water));
        l->dropped[at.water] = step->kernels->velocity(grid, at.water, push, l->m.least);
    }
    if (at.sand >= 0) {
        l->dropped[at.sand] = step->kernels->velocity(grid, at.sand, push, l->m.least);
    }
    if (at.sand >= 0 && at.water >= 0) {
        EITHER(step, drag, &l->m, nodes_of(grid, CH_PORES, at.sand),
               nodes_of(grid, CH_SHARE, at.water), nodes_of(grid, RP_CH_MOMENTUM, at.sand),
               nodes_of(grid, RP_CH_MOMENTUM, at.water), nodes_of(grid, CH_FLUX, at.sand));
    }
}

// The first turn's gifts of a page, kept or added to those of the second.
static void gifts_of(const loops *l, rp_local page, bool add)
{
    const rp_touch *touch = &l->touches.page[page];
    enum { NUMBERS = sizeof(rp_gift) / sizeof(double) };
    double *now = (double *)(l->touches.given + touch->first);
    double *kept = (double *)(l->given + touch->first);
    for (int i = 0; i < touch->count * NUMBERS; i++) {
        if (add) {
            now[i] += kept[i];
        } else {
            kept[i] = now[i];
        }
    }
}

// Contact with colliders; where it holds one of both, drag and contact get a second turn.
static void contact_block(void *context, int64_t block, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_step *step = l->step;
    const rp_grid *grid = step->grid;
    const pair at = pair_of(grid, block);
    const rp_local page[2] = {at.sand, at.water};
    enum { MOST_NODES = 8 * 8 * 8 };
    double before[MOST_NODES * 6];
    void *sand = nodes_of(grid, RP_CH_MOMENTUM, at.sand);
    void *water = nodes_of(grid, RP_CH_MOMENTUM, at.water);
    const bool both = at.sand >= 0 && at.water >= 0 &&
                      l->touches.page[at.sand].count + l->touches.page[at.water].count > 0;
    RP_ASSERT(l->m.nodes <= MOST_NODES);
    if (both) {
        EITHER(step, note_before, &l->m, sand, water, (void *)before);
    }
    for (int i = 0; i < 2; i++) {
        if (page[i] >= 0) {
            rp_touches_apply(&l->touches, grid, page[i], step->dt);
        }
    }
    if (both) {
        EITHER(step, drag_again, &l->m, (const void *)before, sand, water,
               nodes_of(grid, CH_FLUX, at.sand));
        for (int i = 0; i < 2; i++) {
            gifts_of(l, page[i], false);
            rp_touches_apply(&l->touches, grid, page[i], step->dt);
            gifts_of(l, page[i], true);
        }
    }
    for (int i = 0; i < 2; i++) {
        if (page[i] >= 0 && rp_grid_has(grid, RP_CH_IMPULSE)) {
            step->kernels->keep(grid, page[i], rp_kept_share(step));
        }
    }
    if (at.water >= 0 && l->porous[at.water]) {
        EITHER(step, flux, &l->m, nodes_of(grid, CH_SHARE, at.water), sand, water,
               nodes_of(grid, CH_FLUX, at.water));
    } else if (at.water >= 0) {
        memcpy(nodes_of(grid, CH_FLUX, at.water), water,
               (size_t)l->m.nodes * RP_QUAD * (size_t)rp_real_bytes(&grid->layout));
    }
    if (at.sand >= 0) {
        EITHER(step, saturation, &l->m, nodes_of(grid, CH_PORES, at.sand), water,
               nodes_of(grid, CH_SHARE, at.sand));
    }
}

static void move_sand(void *context, int64_t p, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_step *step = l->step;
    const rp_page *page = &rp_set_page(l->job.set)[p];
    step->kernels->number(&l->job, CH_SHARE, l->job.set->column[RP_COL_SATURATION].buffer.data,
                          false, (rp_local)p);
    EITHER(step, wet, &l->m, tiles_of(page),
           rp_set_tile(l->job.set, RP_COL_SATURATION, page->first),
           rp_set_tile(l->job.set, RP_COL_BOND, page->first));
    step->kernels->g2p(&l->job, (rp_local)p, &l->report[p]);
}

static void move_water(void *context, int64_t p, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_step *step = l->step;
    const rp_page *page = &rp_set_page(l->job.set)[p];
    // in pores its density is that of the grid over their share, and its volume follows u / theta
    rp_transfer_job job = l->job;
    job.flow_channel = l->meets[p] ? CH_FLUX : 0;
    job.times = l->inverse;
    step->kernels->g2p(&job, (rp_local)p, &l->report[p]);
    double *volume = l->volume[p];
    volume[1] = 0.0;
    const rp_set *set = l->job.set;
    // lanes past the end have J = 0, and their volume would count
    volume[0] =
        EITHER(step, volume_of, page->count, rp_set_tile(set, RP_COL_VOLUME_RATIO, page->first),
               rp_set_has(set, RP_COL_VOLUME) ? rp_set_tile(set, RP_COL_VOLUME, page->first) : NULL,
               rp_set_tile(set, RP_COL_GROUP, page->first), l->job.group, &volume[1]);
}

// Parts of a step, in the order of rp_solver.stage below.
typedef enum stage { SORT, P2G, GRID, G2P } stage;

static rp_result mixture_prepare(void *state, rp_step *step)
{
    (void)state;
    return rp_sort_and_build(step);
}

#define GET(pointer, bytes, what)                                                                  \
    do {                                                                                           \
        (pointer) = rp_scratch_get(step->scratch, (bytes), (what));                                \
        if ((pointer) == NULL) {                                                                   \
            return RP_ERR_MEMORY;                                                                  \
        }                                                                                          \
    } while (0)

// All that can fail for lack of memory comes before particles change.
static rp_result get_ready(mixture_state *s, loops *l)
{
    rp_step *step = l->step;
    const rp_layout *layout = &step->grid->layout;
    const options *o = step->option;
    const size_t real = (size_t)rp_real_bytes(layout), pages = (size_t)step->grid->pages;
    l->sand = find_species(step, "solid");
    l->water = find_species(step, "water");
    l->m = (mixed){.nodes = layout->nodes,
                   .dim = layout->dim,
                   .cell = pow(layout->h, layout->dim),
                   .dt = step->dt,
                   .least = rp_least_node_mass(step),
                   .by_mass = o->drag_law == DRAG_PAPER,
                   .indicator = o->saturation == FILL_INDICATOR,
                   .rises = o->wetting == WET_RISE_AND_FALL,
                   .biot = o->pressure == PRESSURE_BIOT};
    RP_TRY(look_at_materials(step, s->gravity, l->sand, l->water, &l->m));
    rp_local most_pages = 1;
    for (int i = 0; i < step->species_count; i++) {
        most_pages = step->set[i].pages > most_pages ? step->set[i].pages : most_pages;
    }
    GET(l->dropped, (pages + 1) * sizeof *l->dropped, "dropped momentum per page");
    GET(l->porous, pages + 1, "pages with pores");
    GET(l->report, (size_t)most_pages * sizeof *l->report, "page reports");
    GET(l->meets, (size_t)most_pages, "pages of water with sand");
    GET(l->volume, (size_t)most_pages * sizeof *l->volume, "volumes of water");
    memset(l->porous, 0, pages + 1);
    if (l->water >= 0) {
        const size_t slots = (size_t)step->set[l->water].slots + RP_LANES;
        GET(l->inverse, slots * real, "pores around water");
    }
    if (l->sand >= 0 && !l->m.alike) {
        GET(l->weights, ((size_t)step->set[l->sand].slots + RP_LANES) * PORES * real,
            "pores of sand");
    }
    RP_TRY(rp_rigids_find(&l->rigids, step->company, step->collider, step->colliders, step->body,
                          step->dt, step->grid, step->threads, step->scratch));
    RP_TRY(rp_touches_find(&l->touches, &s->walls, step->collider, step->colliders, false,
                           step->grid, step->threads, step->scratch));
    l->touches.set = step->set;
    l->touches.sets = step->species_count;
    GET(l->given, ((size_t)l->touches.pairs + 1) * sizeof *l->given, "what colliders were given");
    return RP_OK;
}

// Particles of one species move; the fastest and the most sheared of all of them.
static rp_result move_species(loops *l, int species, double *speed2, double *gradient2)
{
    rp_step *step = l->step;
    if (species < 0) {
        return RP_OK;
    }
    rp_set *set = &step->set[species];
    double farthest = 0.0, volume[2] = {0};
    l->job = transfer_job(step, species);
    rp_parallel_for(step->threads, set->pages, 4, species == l->water ? move_water : move_sand, l);
    for (rp_local p = 0; p < set->pages; p++) {
        if (l->report[p].bad) {
            return rp_solver_blame(step, set, p);
        }
        *speed2 = fmax(*speed2, l->report[p].speed2);
        *gradient2 = fmax(*gradient2, l->report[p].gradient2);
        farthest = fmax(farthest, l->report[p].move);
        for (int k = 0; k < 2 && species == l->water; k++) {
            volume[k] += l->volume[p][k];
        }
    }
    if (species == l->water) {
        step->stats->extra[0] = volume[0];
        step->stats->extra[1] = volume[1] > 0.0 ? volume[0] / volume[1] - 1.0 : 0.0;
    }
    rp_set_travelled(set, farthest);
    return RP_OK;
}

static rp_result mixture_step(void *state, rp_step *step)
{
    mixture_state *s = state;
    double since = rp_seconds(), rubbed = 0.0, speed2 = 0.0, gradient2 = 0.0;
    const int threads = step->threads;
    if (!rp_comm_alone(step->comm)) {
        return rp_fail(RP_ERR_UNSUPPORTED, "method mixture cannot be cut into ranks yet");
    }
    RP_TRY(mixture_prepare(state, step));
    rp_stage_done(step, SORT, &since);

    loops l = {.step = step};
    RP_TRY(get_ready(s, &l));
    const rp_local blocks = step->grid->blocks;
    if (l.sand >= 0) {
        l.job = transfer_job(step, l.sand);
        rp_parallel_for(threads, step->set[l.sand].pages, 4, sand_to_nodes, &l);
    }
    rp_parallel_for(threads, blocks, 8, sum_sand, &l);
    if (l.water >= 0) {
        l.job = l.bare = transfer_job(step, l.water);
        l.bare.law = NULL;
        rp_parallel_for(threads, step->set[l.water].pages, 4, water_to_nodes, &l);
        rp_parallel_for(threads, blocks, 8, sum_water, &l);
        rp_parallel_for(threads, step->set[l.water].pages, 4, pressure_to_nodes, &l);
    }
    rp_stage_done(step, P2G, &since);

    rp_parallel_for(threads, blocks, 8, force_block, &l);
    if (l.rigids.free > 0) {
        rp_rigids_solve(&l.rigids, step->grid, threads, &rubbed);
    }
    rp_parallel_for(threads, blocks, 8, contact_block, &l);
    for (rp_local p = 0; p < step->grid->pages; p++) {
        step->stats->dropped_momentum += l.dropped[p];
    }
    RP_TRY(rp_touches_sum(&l.touches, step->grid, step->body, &rubbed));
    rp_stage_done(step, GRID, &since);

    RP_TRY(move_species(&l, l.sand, &speed2, &gradient2));
    RP_TRY(move_species(&l, l.water, &speed2, &gradient2));
    s->most.speed = step->stats->max_speed = sqrt(speed2);
    s->most.gradient = step->stats->max_gradient = sqrt(gradient2);
    rp_stage_done(step, G2P, &since);
    return RP_OK;
}

const rp_solver rp_solver_mixture = {
    .info = {.name = "mixture",
             .sentence = "Sand and water, each with a velocity of its own: seepage, pore pressure, "
                         "erosion.",
             .built = true,
             .materials = 1u << RP_SAND | 1u << RP_WATER,
             .regard = {[RP_FEATURE_DILATION] = RP_IMPOSSIBLE,
                        [RP_FEATURE_RESTING] = RP_IMPOSSIBLE,
                        [RP_FEATURE_ACCELERATION] = RP_IMPOSSIBLE,
                        [RP_FEATURE_ENERGY] = RP_IMPOSSIBLE,
                        [RP_FEATURE_BODIES] = RP_IMPOSSIBLE,
                        [RP_FEATURE_FRACTURE] = RP_IMPOSSIBLE},
             .why = {[RP_FEATURE_DILATION] = "`porosity` stays what it is",
                     [RP_FEATURE_RESTING] = "`porosity` stays what it is",
                     [RP_FEATURE_ACCELERATION] = "`gravity` may be a function of time",
                     [RP_FEATURE_ENERGY] = "use method explicit",
                     [RP_FEATURE_BODIES] = "use method explicit",
                     [RP_FEATURE_FRACTURE] = "use method explicit"},
             .option = option,
             .options = sizeof option / sizeof option[0]},
    .stage = {"sort", "p2g", "grid", "g2p"},
    .extra = {"water_m3", "water_change"},
    .needs = mixture_needs,
    .create = mixture_create,
    .limits = mixture_limits,
    .prepare = mixture_prepare,
    .step = mixture_step,
    .state = mixture_register,
    .destroy = mixture_destroy,
};
