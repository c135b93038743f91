#include "base/hash.h"
#include "check.h"
#include "random.h"

#include <stdlib.h>

// Every number here is fixed by the hash, so that a bound of five deviations is not a matter of
// luck.
enum { DEVIATIONS = 5 };

// Pearson's sum for equally likely bins: about bins - 1, with deviation sqrt(2 (bins - 1)).
static double chi_square(const int *bin, int bins, double draws)
{
    const double want = draws / bins;
    double sum = 0.0;
    for (int i = 0; i < bins; i++) {
        sum += (bin[i] - want) * (bin[i] - want) / want;
    }
    return sum;
}

// Too even is as wrong as too rough.
static void check_even(const int *bin, int bins, double draws)
{
    CHECK_NEAR(chi_square(bin, bins, draws), bins - 1, DEVIATIONS * sqrt(2.0 * (bins - 1)));
}

// Files and resumed runs rely on these numbers. Catches any change of the hash; the values come
// from an independent implementation in another language, the first pair from the published
// finaliser.
static void the_hash_is_the_one_that_saved_runs_were_made_with(void)
{
    CHECK(rp_mix64(0) == 0);
    CHECK(rp_mix64(1) == 0xb456bcfc34c2cb2cull);
    CHECK(rp_hash(0, 0, RP_FOR_JITTER, 0) == 0xddec1f552ce17cbbull);
    CHECK(rp_hash(1, 0, RP_FOR_JITTER, 0) == 0x2931e5e00b8ef0caull);
    CHECK(rp_hash(0, 1, RP_FOR_JITTER, 0) == 0x40ed92f93d4b4abeull);
    CHECK(rp_hash(0, 0, RP_FOR_DITHER, 0) == 0x2970e83ecaac4d05ull);
    CHECK(rp_hash(0, 0, RP_FOR_JITTER, 1) == 0x06d0e3f0051c165full);
    CHECK(rp_hash(12345, 678901234567, RP_FOR_DITHER, 1000000) == 0x4df1c4da4aad53c9ull);
    CHECK(rp_hash(UINT64_MAX, UINT64_MAX, RP_FOR_TEST, UINT64_MAX) == 0xe3784b6fa7e79346ull);
}

// Catches a 1.0, which would put a jittered particle into the next cell.
static void unit_numbers_reach_from_zero_to_just_below_one(void)
{
    CHECK(rp_unit(0) == 0.0);
    CHECK(rp_unit(UINT64_MAX) == 1.0 - 0x1p-53);
    CHECK(rp_unit(1ull << 63) == 0.5);
}

typedef uint64_t (*sequence)(uint64_t n);

static uint64_t by_id(uint64_t n) { return rp_hash(1, n, RP_FOR_JITTER, 0); }
static uint64_t by_far_id(uint64_t n) { return rp_hash(1, n << 32, RP_FOR_JITTER, 0); }
static uint64_t by_step(uint64_t n) { return rp_hash(1, 42, RP_FOR_DITHER, n); }
static uint64_t by_seed(uint64_t n) { return rp_hash(n, 42, RP_FOR_JITTER, 0); }
static uint64_t by_both(uint64_t n) { return rp_hash(1, n, RP_FOR_DITHER, n); }

static const struct {
    const char *name;
    sequence at;
} sequences[] = {{"ids", by_id},
                 {"ids, 2^32 apart", by_far_id},
                 {"steps", by_step},
                 {"seeds", by_seed},
                 {"id = step", by_both}};
enum { SEQUENCES = sizeof sequences / sizeof sequences[0], DRAWS = 1 << 18 };

// Catches a hash that is rough in some of its bits: high ones make jitter, low ones pick lanes.
static void numbers_in_sequence_are_uniform(void)
{
    for (int s = 0; s < SEQUENCES; s++) {
        check_context("%s", sequences[s].name);
        int high[256] = {0}, low[256] = {0};
        for (uint64_t n = 0; n < DRAWS; n++) {
            const uint64_t hash = sequences[s].at(n);
            high[(int)(rp_unit(hash) * 256.0)]++;
            low[hash % 256]++;
        }
        CHECK_HELPER(check_even(high, 256, DRAWS));
        CHECK_HELPER(check_even(low, 256, DRAWS));
    }
}

// Catches a lattice: neighbours whose jitter, or steps whose dither, know of each other.
static void consecutive_ids_and_steps_are_independent(void)
{
    static const int gaps[] = {1, 2, 3, 16, 64, 1024};
    for (int s = 0; s < SEQUENCES; s++) {
        for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
            check_context("%s, %d apart", sequences[s].name, gaps[g]);
            int bin[256] = {0};
            for (uint64_t n = 0; n < DRAWS; n++) {
                const double u = rp_unit(sequences[s].at(n));
                const double v = rp_unit(sequences[s].at(n + (uint64_t)gaps[g]));
                bin[(int)(u * 16.0) * 16 + (int)(v * 16.0)]++;
            }
            CHECK_HELPER(check_even(bin, 256, DRAWS));
        }
    }
}

// Catches a purpose that is left out: jitter and dither of one particle would be one number.
static void purposes_are_independent(void)
{
    int bin[256] = {0};
    for (uint64_t n = 0; n < DRAWS; n++) {
        const double u = rp_unit(rp_hash(1, n, RP_FOR_JITTER, 7));
        const double v = rp_unit(rp_hash(1, n, RP_FOR_DITHER, 7));
        bin[(int)(u * 16.0) * 16 + (int)(v * 16.0)]++;
    }
    CHECK_HELPER(check_even(bin, 256, DRAWS));
}

// Catches an input bit that hardly matters: each must turn each output bit half of the time.
static void every_input_bit_turns_every_output_bit(void)
{
    enum { TRIALS = 4096 };
    static const char *const inputs[] = {"seed", "id", "step"};
    for (int input = 0; input < 3; input++) {
        for (int bit = 0; bit < 64; bit++) {
            check_context("bit %d of %s", bit, inputs[input]);
            int turned[64] = {0};
            for (uint64_t n = 0; n < TRIALS; n++) {
                uint64_t in[3] = {n % 16, n * 3, n % 100};
                const uint64_t before = rp_hash(in[0], in[1], RP_FOR_DITHER, in[2]);
                in[input] ^= 1ull << bit;
                const uint64_t after = rp_hash(in[0], in[1], RP_FOR_DITHER, in[2]);
                for (int out = 0; out < 64; out++) {
                    turned[out] += (int)((before ^ after) >> out & 1);
                }
            }
            for (int out = 0; out < 64; out++) {
                CHECK_NEAR(turned[out], TRIALS / 2, DEVIATIONS * sqrt(TRIALS / 4.0));
            }
        }
    }
}

// Catches dither that drifts or cancels: over many steps a particle's sum is a random walk, whose
// square grows as steps / 12.
static void dither_over_steps_is_a_random_walk(void)
{
    enum { IDS = 2000, STEPS = 1000 };
    double mean = 0.0, square = 0.0;
    for (uint64_t id = 0; id < IDS; id++) {
        double walk = 0.0;
        for (uint64_t step = 0; step < STEPS; step++) {
            walk += rp_unit(rp_hash(9, id, RP_FOR_DITHER, step)) - 0.5;
        }
        mean += walk / IDS;
        square += walk * walk / IDS;
    }
    const double variance = STEPS / 12.0;
    CHECK_NEAR(mean, 0.0, DEVIATIONS * sqrt(variance / IDS));
    CHECK_NEAR(square, variance, DEVIATIONS * variance * sqrt(2.0 / IDS));
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Catches inputs that are merged before they are mixed, such as id + step.
static void no_two_of_a_million_ids_and_steps_share_a_hash(void)
{
    enum { SIDE = 1000, COUNT = SIDE * SIDE };
    uint64_t *hash = malloc(COUNT * sizeof *hash);
    CHECK(hash != NULL);
    for (uint64_t n = 0; n < COUNT; n++) {
        hash[n] = rp_hash(1, n / SIDE, RP_FOR_DITHER, n % SIDE);
    }
    qsort(hash, COUNT, sizeof *hash, by_value);
    int shared = 0;
    for (int n = 1; n < COUNT; n++) {
        shared += hash[n] == hash[n - 1];
    }
    free(hash);
    CHECK_EQUAL(shared, 0);
}

// Catches helpers that feed other tests numbers from another distribution than their names say.
static void the_helpers_of_tests_are_what_they_say(void)
{
    enum { COUNT = 100000 };
    uint64_t state = 1;
    double sum = 0.0, square = 0.0, fourth = 0.0, z_square = 0.0;
    int below[7] = {0};
    for (int n = 0; n < COUNT; n++) {
        const double x = test_normal(&state);
        sum += x / COUNT;
        square += x * x / COUNT;
        fourth += x * x * x * x / COUNT;
        below[test_below(&state, 7)]++;
        const double y = test_between(&state, -3.0, 2.0);
        CHECK(y >= -3.0 && y < 2.0);
        double direction[3];
        test_direction(&state, direction);
        CHECK_NEAR(direction[0] * direction[0] + direction[1] * direction[1] +
                       direction[2] * direction[2],
                   1.0, 1e-14);
        z_square += direction[2] * direction[2] / COUNT;
    }
    CHECK_NEAR(sum, 0.0, DEVIATIONS * sqrt(1.0 / COUNT));
    CHECK_NEAR(square, 1.0, DEVIATIONS * sqrt(2.0 / COUNT));
    CHECK_NEAR(fourth, 3.0, DEVIATIONS * sqrt(96.0 / COUNT));
    CHECK_NEAR(z_square, 1.0 / 3.0, DEVIATIONS * sqrt(4.0 / 45.0 / COUNT));
    CHECK_HELPER(check_even(below, 7, COUNT));
}

TEST_MAIN(TEST(the_hash_is_the_one_that_saved_runs_were_made_with),
          TEST(unit_numbers_reach_from_zero_to_just_below_one),
          TEST(numbers_in_sequence_are_uniform), TEST(consecutive_ids_and_steps_are_independent),
          TEST(purposes_are_independent), TEST(every_input_bit_turns_every_output_bit),
          TEST(dither_over_steps_is_a_random_walk),
          TEST(no_two_of_a_million_ids_and_steps_share_a_hash),
          TEST(the_helpers_of_tests_are_what_they_say))
