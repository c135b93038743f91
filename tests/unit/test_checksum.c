// Tests src/base/checksum.c.
#include "base/checksum.h"

#include "check.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t checksum_of(const void *data, size_t bytes)
{
    rp_checksum sum = rp_checksum_begin();
    rp_checksum_add(&sum, data, bytes);
    return rp_checksum_end(&sum);
}

static void fill(unsigned char *data, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (unsigned char)test_bits(&seed);
    }
}

// Catches bytes that are lost or taken twice where pieces meet.
static void how_bytes_are_cut_does_not_matter(void)
{
    unsigned char data[300];
    fill(data, sizeof data, 1);
    uint64_t random = 2;
    for (int trial = 0; trial < 2000; trial++) {
        const size_t bytes = (size_t)test_below(&random, sizeof data + 1);
        rp_checksum sum = rp_checksum_begin();
        for (size_t at = 0; at < bytes;) {
            const size_t piece = (size_t)test_below(&random, 70);
            const size_t taken = piece < bytes - at ? piece : bytes - at;
            rp_checksum_add(&sum, data + at, taken);
            at += taken;
        }
        CHECK(rp_checksum_end(&sum) == checksum_of(data, bytes));
    }
}

// A step that loses bits would let some flip through.
static void every_flipped_bit_shows(void)
{
    unsigned char data[200];
    for (int zeros = 0; zeros < 2; zeros++) {
        fill(data, sizeof data, 3);
        if (zeros) {
            memset(data, 0, sizeof data);
        }
        const uint64_t whole = checksum_of(data, sizeof data);
        for (size_t bit = 0; bit < 8 * sizeof data; bit++) {
            data[bit / 8] ^= (unsigned char)(1 << bit % 8);
            CHECK(checksum_of(data, sizeof data) != whole);
            data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
}

// Zeros at the end are padding of the last block; only the length tells.
static void length_and_order_show(void)
{
    unsigned char data[256] = {0};
    uint64_t seen[256];
    for (int bytes = 0; bytes < 256; bytes++) {
        seen[bytes] = checksum_of(data, (size_t)bytes);
        for (int i = 0; i < bytes; i++) {
            CHECK(seen[i] != seen[bytes]);
        }
    }
    fill(data, sizeof data, 4);
    const uint64_t before = checksum_of(data, sizeof data);
    // two words of one lane, two of different lanes
    for (int apart = 8; apart <= 32; apart += 24) {
        unsigned char swapped[256];
        memcpy(swapped, data, sizeof data);
        memcpy(swapped, data + apart, 8);
        memcpy(swapped + apart, data, 8);
        CHECK(checksum_of(swapped, sizeof data) != before);
    }
}

// One gigabyte a second, or frames wait for it; measured fifteen on a Zen 3. Sanitizers are slower,
// so the bound is loose.
static void it_is_fast(void)
{
    const size_t bytes = 64 << 20;
    unsigned char *data = malloc(bytes);
    CHECK(data != NULL);
    memset(data, 1, bytes);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    const uint64_t sum = checksum_of(data, bytes);
    clock_gettime(CLOCK_MONOTONIC, &end);
    free(data);
    CHECK(sum != 0);
    const double seconds =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    CHECK(seconds < 1.0);
}

TEST_MAIN(TEST(how_bytes_are_cut_does_not_matter), TEST(every_flipped_bit_shows),
          TEST(length_and_order_show), TEST(it_is_fast))
