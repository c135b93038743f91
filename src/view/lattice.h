// Numbers as 16 bits each. A lattice is a row of up to 65535 places, `unit` apart; the unit is a
// power of two and the origin a multiple of 4096 units, chosen just large enough. So the lattice
// stays the same while particles move about, and what rests has the same code in every frame: only
// blocks of particles that changed need to be sent.
//
// A unit is at most 1/30000 of the extent: less than a pixel until a view is enlarged tenfold.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    RP_CODE_NONE = 65535, // not a finite number, or absurdly large
    RP_BLOCK = 2048,      // particles that are sent or left out together
};

typedef struct rp_lattice {
    double origin, unit;
} rp_lattice;

// One that holds low to high; any that are not finite give a lattice of one place.
rp_lattice rp_lattice_for(double low, double high);
// The nearest place to a number; RP_CODE_NONE for what the lattice does not reach.
uint16_t rp_lattice_code(const rp_lattice *lattice, double value);
// The number that a code stands for.
double rp_lattice_value(const rp_lattice *lattice, uint16_t code);

bool rp_lattice_same(const rp_lattice *a, const rp_lattice *b);

// Which blocks of `count` particles, `comps` codes each, differ.
// @param[out] changed [count / RP_BLOCK, rounded up], numbers of blocks in order
// @return how many
int64_t rp_changed_blocks(const uint16_t *before, const uint16_t *now, int64_t count, int comps,
                          uint32_t *changed);
