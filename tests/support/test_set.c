#include "test_set.h"

#include "base/threads.h"
#include "model/material.h"

#include "check.h"

#include <math.h>
#include <string.h>

test_group test_group_of(int dim, rp_material_kind law, double mass, double volume, double lambda,
                         double mu)
{
    test_group g = {.mass = mass, .volume = volume, .law = law};
    const rp_material_def def =
        law == RP_ELASTIC ? rp_default_elastic_def() : rp_default_sand_def();
    rp_material_parameters(&def, dim, g.parameter);
    g.parameter[RP_PARAM_LAMBDA] = lambda;
    g.parameter[RP_PARAM_MU] = mu;
    return g;
}

test_bed_def test_default_bed(const rp_kernels *kernels, double h)
{
    test_bed_def def = {
        .kernels = kernels,
        .h = h,
        .channels = 1,
        .sets = 1,
        .columns = {TEST_COLUMN(VELOCITY) | TEST_COLUMN(AFFINE) | TEST_COLUMN(STRAIN)},
        .groups = {1},
        .transfer = RP_APIC,
        .gradient = mpm_affine ? RP_GRADIENT_AFFINE : RP_GRADIENT_SPLINE,
        .dt = 1.0,
    };
    def.group[0][0] = test_group_of(kernels->dim, RP_ELASTIC, 1.0, 1.0, 0.0, 0.5);
    return def;
}

double test_bed_get(const test_bed *bed, const void *numbers, int64_t at)
{
    return bed->layout.precision == RP_SINGLE ? (double)((const float *)numbers)[at]
                                              : ((const double *)numbers)[at];
}

void test_bed_put(const test_bed *bed, void *numbers, int64_t at, double value)
{
    if (bed->layout.precision == RP_SINGLE) {
        ((float *)numbers)[at] = (float)value;
    } else {
        ((double *)numbers)[at] = value;
    }
}

double test_bed_rounded(const test_bed *bed, double x)
{
    return bed->layout.precision == RP_SINGLE ? (double)(float)x : x;
}

static void init_set(test_bed *bed, int s)
{
    const test_bed_def *def = &bed->def;
    const rp_allocator *a = rp_default_allocator();
    CHECK_OK(rp_set_init(&bed->set[s], &bed->layout, def->columns[s], a));
    CHECK_OK(rp_buffer_reserve(&bed->group_reals[s], a,
                               TEST_GROUPS * RP_GROUP_REALS * sizeof(double), 0, "groups"));
    for (int g = 0; g < def->groups[s]; g++) {
        const test_group *group = &def->group[s][g];
        uint16_t index;
        CHECK_OK(rp_set_add_group(&bed->set[s],
                                  &(rp_group){.material = (uint16_t)g,
                                              .field = (uint16_t)group->field,
                                              .volume = group->volume,
                                              .mass = group->mass},
                                  &index));
        bed->group_law[s][g] = (uint8_t)group->law;
        for (int k = 0; k < RP_PARAM_COUNT; k++) {
            test_bed_put(bed, bed->group_reals[s].data, RP_GROUP_REALS * g + k,
                         group->parameter[k]);
        }
        test_bed_put(bed, bed->group_reals[s].data, RP_GROUP_REALS * g + RP_GROUP_MASS,
                     group->mass);
        test_bed_put(bed, bed->group_reals[s].data, RP_GROUP_REALS * g + RP_GROUP_VOLUME,
                     group->volume);
    }
    if (def->groups[s] == 0) {
        // the set itself always knows groups: they say which field a particle is in
        uint16_t index;
        CHECK_OK(rp_set_add_group(&bed->set[s], &(rp_group){0}, &index));
    }
    bed->job[s] = (rp_transfer_job){
        .set = &bed->set[s],
        .set_index = s,
        .grid = &bed->grid,
        .law = def->lawless[s]
                   ? NULL
                   : rp_laws_find(def->kernels->dim, def->kernels->real_bits, def->kernels->isa),
        .group = def->groups[s] > 0 ? bed->group_reals[s].data : NULL,
        .group_law = def->groups[s] > 0 ? bed->group_law[s] : NULL,
        .dt = def->dt,
        .transfer = def->transfer,
        .gradient = def->gradient,
        .kept = def->kept,
        .seed = 7,
        .step = 0,
    };
}

void test_channels(rp_channel channel[RP_CHANNEL_LIMIT], int count)
{
    memset(channel, 0, RP_CHANNEL_LIMIT * sizeof *channel);
    channel[RP_CH_MOMENTUM] = (rp_channel){"momentum", RP_QUAD, RP_FROM_ALL_WITH_MASS};
    if (count > 1) {
        channel[RP_CH_IMPULSE] = (rp_channel){"impulse", RP_QUAD, RP_FROM_ALL_WITH_MASS};
    }
}

void test_bed_init(test_bed *bed, const test_bed_def *def)
{
    *bed = (test_bed){.def = *def};
    rp_world_def world = rp_default_world_def();
    world.dimension = def->kernels->dim;
    world.order = def->kernels->order;
    world.precision = def->kernels->real_bits == 32 ? RP_SINGLE : RP_DOUBLE;
    world.dx = def->h;
    memcpy(world.period, def->period, sizeof world.period);
    bed->layout = rp_layout_make(&world);
    bed->unit = world.precision == RP_SINGLE ? 0x1p-24 : 0x1p-53;
    rp_channel channel[RP_CHANNEL_LIMIT];
    test_channels(channel, def->channels);
    for (int c = 0; c < TEST_OWN; c++) {
        channel[RP_CH_OWN + c] = (rp_channel){"own", def->own[c], RP_FROM_ALL_WITH_MASS};
    }
    rp_grid_init(&bed->grid, &bed->layout, channel, rp_default_allocator());
    for (int s = 0; s < def->sets; s++) {
        CHECK_HELPER(init_set(bed, s));
        rp_grid_let_scatter(&bed->grid, s, "", rp_set_has_mass(&bed->set[s]));
    }
}

void test_bed_free(test_bed *bed)
{
    rp_grid_free(&bed->grid);
    for (int s = 0; s < bed->def.sets; s++) {
        rp_set_free(&bed->set[s]);
        rp_buffer_free(&bed->group_reals[s], rp_default_allocator());
    }
}

// One number of a particle, where a column wants it.
static const double *part_of(const test_particle *p, int dim, rp_column_id column, int comp)
{
    switch (column) {
    case RP_COL_POSITION:
        return &p->x[comp];
    case RP_COL_VELOCITY:
        return &p->v[comp];
    case RP_COL_AFFINE:
        return &p->C[comp / dim][comp % dim];
    case RP_COL_STRAIN:
        return &p->strain[comp];
    case RP_COL_HARDENING:
        return &p->hardening;
    case RP_COL_VOLUME_GAIN:
        return &p->volume_gain;
    case RP_COL_VOLUME_RATIO:
        return &p->volume_ratio;
    case RP_COL_STRENGTH:
        return &p->strength;
    default:
        return NULL;
    }
}

void test_bed_add(test_bed *bed, int s, const test_particle *p, int count)
{
    rp_set *set = &bed->set[s];
    CHECK_OK(rp_set_reserve_births(set, 0, count));
    for (int i = 0; i < count; i++) {
        const rp_local index = set->inbox.count + i;
        for (int c = 0; c < RP_COL_COUNT; c++) {
            for (int k = 0; k < set->column[c].comps; k++) {
                const double *value = part_of(&p[i], bed->layout.dim, c, k);
                if (value != NULL) {
                    rp_set_birth_value(set, c, index, k, *value);
                }
            }
        }
        *(uint16_t *)rp_set_birth(set, RP_COL_GROUP, index, 0) = (uint16_t)p[i].group;
        *(uint64_t *)rp_set_birth(set, RP_COL_ID, index, 0) = (uint64_t)(set->count + index);
    }
    set->inbox.count += count;
}

void test_bed_sort(test_bed *bed)
{
    for (int s = 0; s < bed->def.sets; s++) {
        CHECK_OK(rp_set_sort(&bed->set[s], &bed->grid.arena[s], 1));
    }
    CHECK_OK(rp_grid_build(&bed->grid, bed->set, bed->def.sets));
}

void test_bed_sort_if_wanted(test_bed *bed)
{
    for (int s = 0; s < bed->def.sets; s++) {
        if (rp_set_wants_sort(&bed->set[s])) {
            test_bed_sort(bed);
            return;
        }
    }
}

// The loops of a step, with the float mode that rp_parallel_for() sets.
typedef struct loops {
    const rp_kernels *kernels;
    test_bed *bed;
    int set, sets;
    const double *push;
    double least, kept, dropped;
    rp_page_report report;
} loops;

static void p2g_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    const loops *l = ctx;
    l->kernels->p2g(&l->bed->job[l->set], (rp_local)page);
}

static void sum_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    const loops *l = ctx;
    l->kernels->sum(&l->bed->grid, l->bed->set, l->sets, ~0u, (rp_local)page);
}

static void velocity_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    loops *l = ctx;
    l->dropped += l->kernels->velocity(&l->bed->grid, (rp_local)page, l->push, l->least);
}

static void keep_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    const loops *l = ctx;
    l->kernels->keep(&l->bed->grid, (rp_local)page, l->kept);
}

static void g2p_page(void *ctx, int64_t page, int thread)
{
    (void)thread;
    loops *l = ctx;
    rp_page_report r;
    l->kernels->g2p(&l->bed->job[l->set], (rp_local)page, &r);
    l->report.speed2 = fmax(l->report.speed2, r.speed2);
    l->report.gradient2 = fmax(l->report.gradient2, r.gradient2);
    l->report.move = fmax(l->report.move, r.move);
    l->report.bad |= r.bad;
}

void test_bed_p2g(test_bed *bed, int sets)
{
    loops l = {.kernels = bed->def.kernels, .bed = bed, .sets = sets};
    for (l.set = 0; l.set < sets; l.set++) {
        rp_parallel_for(1, bed->set[l.set].pages, 1, p2g_page, &l);
    }
    rp_parallel_for(1, bed->grid.pages, 1, sum_page, &l);
}

double test_bed_velocity(test_bed *bed, const double push[3], double least)
{
    loops l = {.kernels = bed->def.kernels, .bed = bed, .push = push, .least = least};
    rp_parallel_for(1, bed->grid.pages, 1, velocity_page, &l);
    return l.dropped;
}

void test_bed_keep(test_bed *bed, double kept)
{
    loops l = {.kernels = bed->def.kernels, .bed = bed, .kept = kept};
    rp_parallel_for(1, bed->grid.pages, 1, keep_page, &l);
}

rp_page_report test_bed_g2p(test_bed *bed, int set)
{
    loops l = {.kernels = bed->def.kernels, .bed = bed, .set = set};
    rp_parallel_for(1, bed->set[set].pages, 1, g2p_page, &l);
    bed->set[set].travel += l.report.move;
    return l.report;
}

// Calls visit() for every particle of a set.
static void each_particle(const test_bed *bed, int s,
                          void (*visit)(const test_bed *bed, int s, const rp_page *page,
                                        rp_local slot, void *out),
                          void *out)
{
    const rp_set *set = &bed->set[s];
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            visit(bed, s, page, slot, out);
        }
    }
}

static void read_one(const test_bed *bed, int s, const rp_page *page, rp_local slot, void *out)
{
    const rp_set *set = &bed->set[s];
    test_particle *p = (test_particle *)out + *(const uint64_t *)rp_set_at(set, RP_COL_ID, slot, 0);
    *p = (test_particle){.group = *(const uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0)};
    for (int c = 0; c < RP_COL_COUNT; c++) {
        for (int k = 0; k < set->column[c].comps; k++) {
            // out is writable, whatever part_of() says
            double *value = (double *)part_of(p, bed->layout.dim, c, k);
            if (value != NULL) {
                *value = rp_set_value(set, c, slot, k, page);
            }
        }
    }
}

void test_bed_read(const test_bed *bed, int set, test_particle *out)
{
    each_particle(bed, set, read_one, out);
}

static void copy_one(const test_bed *bed, int s, const rp_page *page, rp_local slot, void *out)
{
    const rp_set *set = &bed->set[s];
    const rp_layout *l = &bed->layout;
    const uint64_t id = *(const uint64_t *)rp_set_at(set, RP_COL_ID, slot, 0);
    const int group = *(const uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
    mpm_particle *to = (mpm_particle *)out + id;
    *to = (mpm_particle){.field = page->field};
    for (int a = 0; a < l->dim; a++) {
        const void *at = rp_set_at(set, RP_COL_POSITION, slot, a);
        const long double local = l->precision == RP_SINGLE
                                      ? (long double)*(const int32_t *)at * 0x1p-26L
                                      : (long double)*(const double *)at;
        to->x[a] = local + l->shift + (long double)page->block[a] * l->cells[a];
        for (int b = 0; b < l->dim && rp_set_has(set, RP_COL_AFFINE); b++) {
            to->C[a][b] = rp_set_value(set, RP_COL_AFFINE, slot, l->dim * a + b, page);
        }
        if (rp_set_has(set, RP_COL_VELOCITY)) {
            to->v[a] = rp_set_value(set, RP_COL_VELOCITY, slot, a, page);
        }
    }
    if (bed->job[s].group == NULL) {
        return;
    }
    const void *reals = bed->group_reals[s].data;
    to->mass = test_bed_get(bed, reals, RP_GROUP_REALS * group + RP_GROUP_MASS);
    to->volume = test_bed_get(bed, reals, RP_GROUP_REALS * group + RP_GROUP_VOLUME);
    if (rp_set_has(set, RP_COL_STRAIN) && bed->job[s].law != NULL) {
        const double lambda = test_bed_get(bed, reals, RP_GROUP_REALS * group + RP_PARAM_LAMBDA);
        const double mu = test_bed_get(bed, reals, RP_GROUP_REALS * group + RP_PARAM_MU);
        static const int place2[2][2] = {{0, 2}, {2, 1}},
                         place3[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
        double trace = 0.0;
        for (int a = 0; a < l->dim; a++) {
            trace += rp_set_value(set, RP_COL_STRAIN, slot, a, page);
        }
        for (int a = 0; a < l->dim; a++) {
            for (int b = 0; b < l->dim; b++) {
                const int k = l->dim == 2 ? place2[a][b] : place3[a][b];
                to->tau[a][b] = 2.0 * mu * rp_set_value(set, RP_COL_STRAIN, slot, k, page) +
                                (a == b ? lambda * trace : 0.0);
            }
        }
    }
}

void test_bed_copy(const test_bed *bed, int set, mpm_particle *out)
{
    each_particle(bed, set, copy_one, out);
}

typedef struct wanted {
    uint64_t id;
    rp_local slot;
} wanted;

static void find_one(const test_bed *bed, int s, const rp_page *page, rp_local slot, void *out)
{
    (void)page;
    wanted *w = out;
    if (*(const uint64_t *)rp_set_at(&bed->set[s], RP_COL_ID, slot, 0) == w->id) {
        w->slot = slot;
    }
}

rp_local test_bed_slot(const test_bed *bed, int set, uint64_t id)
{
    wanted w = {id, -1};
    each_particle(bed, set, find_one, &w);
    return w.slot;
}

void *test_bed_node(const test_bed *bed, int field, int channel, const int32_t index[3])
{
    const rp_layout *l = &bed->layout;
    int32_t block[3] = {0}, in[3] = {0};
    for (int a = 0; a < l->dim; a++) {
        block[a] = (int32_t)floor((double)index[a] / l->cells[a]);
        in[a] = index[a] - block[a] * l->cells[a];
    }
    rp_block_wrap(l, block);
    const uint64_t key = rp_block_key(block);
    // the first page that is not before (key, field)
    rp_local low = 0, high = bed->grid.pages;
    while (low < high) {
        const rp_local mid = (low + high) / 2;
        const rp_node_page *page = &rp_grid_page(&bed->grid)[mid];
        if (page->key < key || (page->key == key && page->field < field)) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    const rp_node_page *page = &rp_grid_page(&bed->grid)[low];
    if (low == bed->grid.pages || page->key != key || page->field != field) {
        return NULL;
    }
    const int n = (in[0] * l->cells[1] + in[1]) * l->cells[2] + in[2];
    return (char *)rp_grid_nodes(&bed->grid, channel, low) + n * RP_QUAD * rp_real_bytes(l);
}

double test_bed_node_value(const test_bed *bed, int field, int channel, const int32_t index[3],
                           int comp)
{
    const void *node = test_bed_node(bed, field, channel, index);
    return node != NULL ? test_bed_get(bed, node, comp) : 0.0;
}

void test_bed_index(const test_bed *bed, rp_local page, int n, int32_t index[3])
{
    const rp_layout *l = &bed->layout;
    const int32_t *block = rp_grid_page(&bed->grid)[page].block;
    for (int a = 2; a >= 0; a--) {
        index[a] = block[a] * l->cells[a] + n % l->cells[a];
        n /= l->cells[a];
    }
}

void test_bed_set_nodes(test_bed *bed, int channel,
                        void (*field)(void *ctx, const int32_t index[3], double quad[RP_QUAD]),
                        void *ctx)
{
    for (rp_local p = 0; p < bed->grid.pages; p++) {
        void *node = rp_grid_nodes(&bed->grid, channel, p);
        for (int n = 0; n < bed->layout.nodes; n++) {
            int32_t index[3];
            double quad[RP_QUAD] = {0};
            test_bed_index(bed, p, n, index);
            field(ctx, index, quad);
            for (int c = 0; c < RP_QUAD; c++) {
                test_bed_put(bed, node, RP_QUAD * n + c, quad[c]);
            }
        }
        rp_grid_page(&bed->grid)[p].clean = 0;
    }
}

bool test_bed_reaches(const test_bed *bed, rp_local page, int n)
{
    const rp_layout *l = &bed->layout;
    const rp_node_page *q = &rp_grid_page(&bed->grid)[page];
    const int x = n / (l->cells[1] * l->cells[2]), y = n / l->cells[2] % l->cells[1];
    return x >= q->lo[0] && x < q->hi[0] && (l->dim == 2 || (y >= q->lo[1] && y < q->hi[1]));
}

bool test_is_built(int dim, int order, rp_precision precision)
{
    return rp_kernels_find(dim, order, precision, RP_ISA_PLAIN) != NULL;
}

void test_each_variant(void (*body)(const rp_kernels *kernels))
{
    for (int i = 0; i < rp_kernels_count(); i++) {
        const rp_kernels *k = rp_kernels_at(i);
        if (rp_isa_supported(k->isa)) {
            // linear splines have no affine fit
            for (int affine = 0; affine <= (k->order > 1); affine++) {
                check_context("%dD q%d f%d %s, %s gradients", k->dim, k->order, k->real_bits,
                              rp_isa_name(k->isa), affine ? "affine" : "spline");
                mpm_affine = affine;
                body(k);
            }
            mpm_affine = false;
        }
    }
}
