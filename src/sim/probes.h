// Probes of a world, and probes.csv.
#pragma once

#include "sim/world.h"

// Add what has crossed the planes in a step to what did so before.
void rp_probes_step(rp_world *world, double dt);

// Lines of probes.csv that wait to be written. Start with {0}.
typedef struct rp_probe_lines {
    char *text; // for free(); NULL: none
    size_t used, room;
} rp_probe_lines;
extern const char rp_probes_header[];

// A line for each probe that is due in a step that began at `before` [s]; -INFINITY: for all.
rp_result rp_probes_read(const rp_world *world, double before, rp_probe_lines *lines);
