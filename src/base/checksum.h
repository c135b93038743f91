// A checksum of many bytes, to tell a whole file from a cut or damaged one. Four lanes of 64 bits,
// each word mixed into its lane by a step that loses nothing: a change within one word, such as a
// flipped bit, always shows, any other change with a chance of 1 - 2^-64. It does not stop somebody
// who forges files on purpose.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { RP_CHECKSUM_LANES = 4, RP_CHECKSUM_BLOCK = RP_CHECKSUM_LANES * 8 };

typedef struct rp_checksum {
    uint64_t lane[RP_CHECKSUM_LANES];
    uint64_t bytes;                           // seen so far
    unsigned char pending[RP_CHECKSUM_BLOCK]; // the last bytes % RP_CHECKSUM_BLOCK of them
} rp_checksum;

rp_checksum rp_checksum_begin(void);
// How bytes are cut into pieces does not matter.
void rp_checksum_add(rp_checksum *sum, const void *data, size_t bytes);
uint64_t rp_checksum_end(const rp_checksum *sum);
