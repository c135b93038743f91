#include "base/checksum.h"

#include "base/hash.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are little-endian");

rp_checksum rp_checksum_begin(void)
{
    rp_checksum sum = {0};
    for (int i = 0; i < RP_CHECKSUM_LANES; i++) {
        sum.lane[i] = rp_mix64((uint64_t)i + 1);
    }
    return sum;
}

// Invertible in the lane as in the word: an odd factor and a rotation lose nothing.
static inline uint64_t mixed(uint64_t lane, uint64_t word)
{
    const uint64_t x = (lane ^ word) * 0x9e3779b97f4a7c15ull;
    return x << 29 | x >> 35;
}

static const unsigned char *add_blocks(rp_checksum *sum, const unsigned char *at, size_t blocks)
{
    // in locals, so that the lanes stay in registers
    uint64_t lane[RP_CHECKSUM_LANES], word[RP_CHECKSUM_LANES];
    memcpy(lane, sum->lane, sizeof lane);
    for (size_t b = 0; b < blocks; b++, at += RP_CHECKSUM_BLOCK) {
        memcpy(word, at, sizeof word);
        for (int i = 0; i < RP_CHECKSUM_LANES; i++) {
            lane[i] = mixed(lane[i], word[i]);
        }
    }
    memcpy(sum->lane, lane, sizeof lane);
    return at;
}

void rp_checksum_add(rp_checksum *sum, const void *data, size_t bytes)
{
    const unsigned char *at = data, *end = at + bytes;
    const size_t waiting = sum->bytes % RP_CHECKSUM_BLOCK;
    sum->bytes += bytes;

    // fill up the block that was begun
    if (waiting > 0) {
        const size_t room = RP_CHECKSUM_BLOCK - waiting, taken = bytes < room ? bytes : room;
        memcpy(sum->pending + waiting, at, taken);
        at += taken;
        if (taken < room) {
            return;
        }
        add_blocks(sum, sum->pending, 1);
    }
    at = add_blocks(sum, at, (size_t)(end - at) / RP_CHECKSUM_BLOCK);
    if (end > at) {
        memcpy(sum->pending, at, (size_t)(end - at));
    }
}

uint64_t rp_checksum_end(const rp_checksum *sum)
{
    // the rest with zeros behind it; the length tells it from real zeros
    rp_checksum last = *sum;
    const size_t waiting = sum->bytes % RP_CHECKSUM_BLOCK;
    memset(last.pending + waiting, 0, RP_CHECKSUM_BLOCK - waiting);
    add_blocks(&last, last.pending, 1);
    uint64_t all = rp_mix64(sum->bytes);
    for (int i = 0; i < RP_CHECKSUM_LANES; i++) {
        all = rp_mix64(all ^ last.lane[i]);
    }
    return all;
}
