// Particle sets on a grid without a world: made from plain numbers for any variant of the kernels,
// stepped stage by stage, read back particle by particle and node by node.
//
// The helpers check what they do and record failures; call them through CHECK_HELPER.
#pragma once

#include "kernel/kernels.h"

#include "reference_mpm.h"

enum {
    TEST_SETS = 2,   // on one grid
    TEST_GROUPS = 4, // in a set
    TEST_OWN = 2,    // channels of a test's own
};

#define TEST_COLUMN(name) (1u << RP_COL_##name)

typedef struct test_particle {
    double x[3]; // [m]
    double v[3], C[3][3];
    double strain[6]; // as in a law's tile: xx yy xy, or xx yy zz xy xz yz
    double hardening, volume_gain, volume_ratio, strength;
    int group;
} test_particle;

typedef struct test_group {
    double mass, volume;
    double parameter[RP_PARAM_COUNT];
    rp_material_kind law;
    int field;
} test_group;

// Dry sand or something elastic with these moduli [Pa].
test_group test_group_of(int dim, rp_material_kind law, double mass, double volume, double lambda,
                         double mu);

// Momentum, and with two the impulse of forces apart.
void test_channels(rp_channel channel[RP_CHANNEL_LIMIT], int count);

typedef struct test_bed_def {
    const rp_kernels *kernels;
    double h;          // [m]
    int32_t period[3]; // [cells]
    int channels;
    int own[TEST_OWN]; // numbers of channels RP_CH_OWN, ..., which sets with mass scatter into
    int sets;
    unsigned columns[TEST_SETS]; // TEST_COLUMN(...), besides position, group and id
    test_group group[TEST_SETS][TEST_GROUPS];
    int groups[TEST_SETS]; // 0: the jobs of this set get no groups at all
    bool lawless[TEST_SETS];
    rp_transfer transfer;
    rp_gradient gradient;
    double kept, dt;
} test_bed_def;

// One channel, one set of all columns that solids have, one elastic group of mass 1 and volume 1
// whose stress is its strain times 1 Pa.
test_bed_def test_default_bed(const rp_kernels *kernels, double h);

typedef struct test_bed {
    test_bed_def def;
    rp_layout layout;
    rp_set set[TEST_SETS];
    rp_grid grid;
    rp_buffer group_reals[TEST_SETS];
    uint8_t group_law[TEST_SETS][TEST_GROUPS];
    rp_transfer_job job[TEST_SETS]; // a test may change what is in it
    double unit;                    // round-off: 2^-24 in single, 2^-53 in double
} test_bed;

void test_bed_init(test_bed *bed, const test_bed_def *def);
void test_bed_free(test_bed *bed);

// Ids count up from 0 in each set, in the order of these calls. The particles are there after the
// next test_bed_sort().
void test_bed_add(test_bed *bed, int set, const test_particle *p, int count);
// Sort all sets and build the grid.
void test_bed_sort(test_bed *bed);
// Does what the step does before a transfer: sorts if a set asks for it.
void test_bed_sort_if_wanted(test_bed *bed);

// The stages of a step, on one thread. P2G of the sets [0, sets) and the sum over their arenas.
void test_bed_p2g(test_bed *bed, int sets);
// Gives the momentum that was dropped.
double test_bed_velocity(test_bed *bed, const double push[3], double least);
void test_bed_keep(test_bed *bed, double kept);
// Adds to the set's travel as the step does.
rp_page_report test_bed_g2p(test_bed *bed, int set);

// Particles by id, as double. An array holds as many as were added.
void test_bed_read(const test_bed *bed, int set, test_particle *out);
// The same for the reference: exactly where the set has them, with the stress of their strain.
void test_bed_copy(const test_bed *bed, int set, mpm_particle *out);
// Which slot a particle is in; -1 when it is nowhere.
rp_local test_bed_slot(const test_bed *bed, int set, uint64_t id);

// A node's quad, or NULL where the grid has no page. Numbers are in the variant's precision.
void *test_bed_node(const test_bed *bed, int field, int channel, const int32_t index[3]);
double test_bed_node_value(const test_bed *bed, int field, int channel, const int32_t index[3],
                           int comp);
// The global index of node n of a node page.
void test_bed_index(const test_bed *bed, rp_local page, int n, int32_t index[3]);
// Does any particle of its field reach the row that this node is in?
bool test_bed_reaches(const test_bed *bed, rp_local page, int n);
double test_bed_get(const test_bed *bed, const void *numbers, int64_t at);
void test_bed_put(const test_bed *bed, void *numbers, int64_t at, double value);
// Sets every node of the grid from its global index: velocity and mass in, rounded ones out.
void test_bed_set_nodes(test_bed *bed, int channel,
                        void (*field)(void *ctx, const int32_t index[3], double quad[RP_QUAD]),
                        void *ctx);

// The nearest number that the variant can hold.
double test_bed_rounded(const test_bed *bed, double x);

// A build that only looks for mistakes has fewer spline orders than the library (REPOSE_COVER).
bool test_is_built(int dim, int order, rp_precision precision);

// Runs a test for every variant that this build has and this machine can run.
// With spline and with affine gradients (mpm_affine).
void test_each_variant(void (*body)(const rp_kernels *kernels));
