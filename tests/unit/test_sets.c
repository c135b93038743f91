// Several fields and several sets on one grid, through the kernels and through a whole step.
#include "base/memory.h"
#include "check.h"
#include "model/material.h"
#include "random.h"
#include "solver/solver.h"
#include "test_set.h"

#include <math.h>
#include <string.h>

enum { GRAINS = 300 };

static void random_grains(int dim, double h, uint64_t seed, test_particle *out)
{
    memset(out, 0, sizeof *out * GRAINS);
    for (int i = 0; i < GRAINS; i++) {
        for (int a = 0; a < dim; a++) {
            out[i].x[a] = h * test_between(&seed, -9.0, 9.0);
            out[i].v[a] = test_between(&seed, -1.0, 1.0);
            out[i].strain[a] = test_between(&seed, -0.01, 0.01);
            for (int b = 0; b < dim; b++) {
                out[i].C[a][b] = test_between(&seed, -1.0, 1.0);
            }
        }
    }
}

// The same grains in one field, and dealt out to two: node by node the two fields must add up to
// the one. A field mixed up with its neighbour in a block, or summed twice, shows here.
static void two_fields_add_up_to_one(const rp_kernels *k)
{
    const double h = 0.1;
    test_particle grain[GRAINS];
    random_grains(k->dim, h, 7, grain);
    test_bed one, two;
    test_bed_def def = test_default_bed(k, h);
    CHECK_HELPER(test_bed_init(&one, &def));
    CHECK_HELPER(test_bed_add(&one, 0, grain, GRAINS));
    CHECK_HELPER(test_bed_sort(&one));
    test_bed_p2g(&one, 1);

    def.group[0][1] = def.group[0][0];
    def.group[0][1].field = 1;
    def.groups[0] = 2;
    for (int i = 0; i < GRAINS; i++) {
        grain[i].group = i % 2;
    }
    CHECK_HELPER(test_bed_init(&two, &def));
    CHECK_HELPER(test_bed_add(&two, 0, grain, GRAINS));
    CHECK_HELPER(test_bed_sort(&two));
    test_bed_p2g(&two, 1);

    double mass[2] = {0};
    for (rp_local p = 0; p < one.grid.pages; p++) {
        for (int n = 0; n < one.layout.nodes; n++) {
            int32_t index[3];
            test_bed_index(&one, p, n, index);
            for (int c = 0; c < RP_QUAD; c++) {
                double sum = 0.0;
                for (int field = 0; field < 2; field++) {
                    if (test_bed_node(&two, field, RP_CH_MOMENTUM, index) != NULL) {
                        const double part =
                            test_bed_node_value(&two, field, RP_CH_MOMENTUM, index, c);
                        sum += part;
                        mass[field] += c == 3 ? part : 0.0;
                    }
                }
                // at most GRAINS terms of size below 4 (mass 1, |v| + |C| 2 cells h + stress) in
                // either order of summation, each sum off by less than its number of terms in units
                CHECK_NEAR(sum, test_bed_node_value(&one, 0, RP_CH_MOMENTUM, index, c),
                           2.0 * GRAINS * 4.0 * one.unit);
            }
        }
    }
    // and each field has its half of the grains, of mass 1 each
    for (int field = 0; field < 2; field++) {
        CHECK_NEAR(mass[field], GRAINS / 2, GRAINS * GRAINS * one.unit);
    }
    test_bed_free(&one);
    test_bed_free(&two);
}

static void two_fields_sum_to_the_one_field_run(void)
{
    test_each_variant(two_fields_add_up_to_one);
}

enum { SAND, WATER, GLUE, SETS };
#define G  2000.0 // strong, so that the step is well below the elastic limit and still sorts
#define DT 0.001

// Solids, a fluid-like set (J, no strain, its own masses) and a glue-like set (no velocity, no
// mass), three sets with their own groups on one grid, moved by the explicit solver's own step. All
// fall together: a set that reads another's masses, or glue that weighs something, falls otherwise
// or breaks the sum of masses.
static void three_sets_fall_together(const rp_kernels *k)
{
    const rp_allocator *a = rp_default_allocator();
    rp_world_def def = rp_default_world_def();
    def.dimension = k->dim;
    def.order = k->order;
    def.precision = k->real_bits == 32 ? RP_SINGLE : RP_DOUBLE;
    def.dx = 0.1;
    const rp_layout layout = rp_layout_make(&def);
    const unsigned columns[SETS] = {
        [SAND] = 1u << RP_COL_VELOCITY | 1u << RP_COL_AFFINE | 1u << RP_COL_STRAIN,
        [WATER] = 1u << RP_COL_VELOCITY | 1u << RP_COL_AFFINE | 1u << RP_COL_STRAIN |
                  1u << RP_COL_VOLUME_RATIO,
        [GLUE] = 1u << RP_COL_STRENGTH,
    };
    const double mass[SETS] = {2.0, 0.5, 0.0};
    rp_set set[SETS];
    double group[SETS][RP_GROUP_REALS];
    float group_single[SETS][RP_GROUP_REALS];
    static uint8_t law[1] = {RP_ELASTIC};
    rp_species species[SETS];
    memset(species, 0, sizeof species);
    const rp_material_def rubber = rp_default_elastic_def();
    for (int s = 0; s < SETS; s++) {
        // the same places for all: glue that reached a node without mass would stay behind there
        uint64_t seed = 3;
        CHECK_OK(rp_set_init(&set[s], &layout, columns[s], a));
        uint16_t index;
        const rp_group g = {.volume = 1e-3, .mass = mass[s]};
        CHECK_OK(rp_set_add_group(&set[s], &g, &index));
        CHECK_OK(rp_set_reserve_births(&set[s], 0, GRAINS));
        for (int i = 0; i < GRAINS; i++) {
            for (int c = 0; c < k->dim; c++) {
                rp_set_birth_value(&set[s], RP_COL_POSITION, i, c, test_between(&seed, -0.5, 0.5));
            }
            if (s == WATER) {
                rp_set_birth_value(&set[s], RP_COL_VOLUME_RATIO, i, 0, 0.75);
            }
            if (s == GLUE) {
                rp_set_birth_value(&set[s], RP_COL_STRENGTH, i, 0, 140.0);
            }
            rp_set_birth_value(&set[s], RP_COL_ID, i, 0, i);
        }
        set[s].inbox.count = GRAINS;
        rp_material_parameters(&rubber, k->dim, group[s]);
        if (s == WATER) {
            group[s][RP_PARAM_LAMBDA] = group[s][RP_PARAM_MU] = 0.0; // no stress of its own
        }
        group[s][RP_GROUP_MASS] = mass[s];
        group[s][RP_GROUP_VOLUME] = 1e-3;
        for (int r = 0; r < RP_GROUP_REALS; r++) {
            group_single[s][r] = (float)group[s][r];
        }
        if (s != GLUE) {
            const bool single = k->real_bits == 32;
            species[s].group_reals.data = single ? (void *)group_single[s] : group[s];
            species[s].group_laws.data = law;
            species[s].lightest = mass[s];
        }
        species[s].set = &set[s];
    }

    const rp_solver *solver = rp_solver_find("explicit");
    rp_grid grid;
    rp_scratch scratch;
    void *state;
    rp_stats stats = {0};
    rp_needs needs;
    solver->needs(&def, &needs);
    rp_grid_init(&grid, &layout, needs.channel, a);
    for (int s = 0; s < SETS; s++) {
        rp_grid_let_scatter(&grid, s, "", rp_set_has_mass(&set[s]));
    }
    rp_scratch_init(&scratch, a);
    CHECK_OK(solver->create(&def, a, &state));
    rp_step step = {.species = species,
                    .set = set,
                    .species_count = SETS,
                    .grid = &grid,
                    .kernels = k,
                    .law = rp_laws_find(k->dim, k->real_bits, k->isa),
                    .transfer = RP_APIC,
                    .cfl = 1.0,
                    .gravity = {0.0, -G, 0.0},
                    .threads = 2,
                    .scratch = &scratch,
                    .stats = &stats,
                    .dt = DT,
                    .option = def.option};
    double start[SETS] = {0};
    enum { STEPS = 12 };
    for (int n = 0; n <= STEPS; n++) {
        for (int s = 0; s < SETS && n > 0; s++) {
            double mean = 0.0;
            for (rp_local p = 0; p < set[s].pages; p++) {
                const rp_page *page = &rp_set_page(&set[s])[p];
                for (rp_local i = page->first; i < page->first + page->count; i++) {
                    mean += rp_set_value(&set[s], RP_COL_POSITION, i, 1, page) / GRAINS;
                }
            }
            if (n == 1) {
                start[s] = mean + G * DT * DT; // it has made its first step
            }
            // symplectic Euler: n (n + 1) / 2 steps' worth of fall; positions carry the unit of
            // velocity and, in single, of 2^-26 cell a step
            const double fall = G * DT * DT * n * (n + 1) / 2.0;
            const double unit = k->real_bits == 32 ? 0x1p-24 : 0x1p-53;
            CHECK_NEAR(mean, start[s] - fall, 64.0 * n * unit * (1.0 + fall));
            CHECK_EQUAL(set[s].count, GRAINS);
        }
        rp_scratch_reset(&scratch);
        step.time.step = n;
        CHECK_OK(solver->step(state, &step));
        if (n == 0) {
            double sum = 0.0;
            for (rp_local p = 0; p < grid.pages; p++) {
                const void *q = rp_grid_nodes(&grid, RP_CH_MOMENTUM, p);
                for (int i = 0; i < layout.nodes; i++) {
                    sum += k->real_bits == 32 ? ((const float *)q)[4 * i + 3]
                                              : ((const double *)q)[4 * i + 3];
                }
            }
            CHECK_NEAR(sum, GRAINS * (mass[SAND] + mass[WATER]), 1e-4);
        }
    }
    CHECK(rp_set_value(&set[WATER], RP_COL_VOLUME_RATIO, 0, 0, rp_set_page(&set[WATER])) == 0.75);
    CHECK(rp_set_value(&set[GLUE], RP_COL_STRENGTH, 0, 0, rp_set_page(&set[GLUE])) == 140.0);
    solver->destroy(state, a);
    rp_scratch_free(&scratch);
    rp_grid_free(&grid);
    for (int s = 0; s < SETS; s++) {
        rp_set_free(&set[s]);
    }
}

static void sand_water_and_glue_share_a_step(void) { test_each_variant(three_sets_fall_together); }

TEST_MAIN(TEST(two_fields_sum_to_the_one_field_run), TEST(sand_water_and_glue_share_a_step))
