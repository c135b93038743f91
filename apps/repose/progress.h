// How far a run has come: one line that is rewritten on a terminal, plain lines elsewhere, or JSON.
#pragma once

#include <repose/run.h>

#include <stdbool.h>
#include <stdio.h>

typedef enum progress_style {
    PROGRESS_NONE,
    PROGRESS_TERMINAL, // one line, ten times a second
    PROGRESS_LINES,    // one line per frame
    PROGRESS_JSON,     // one object per frame
} progress_style;

typedef struct progress {
    FILE *out;
    progress_style style;
    double began, shown; // wall clock [s]
    double first_part;   // frames that were done when this process began
    int64_t first_work;  // particle-steps done so far by the world
    double work;         // particle-steps of this process
    int64_t last_step;
    bool line_open; // the terminal's line holds something
} progress;

void progress_begin(progress *p, progress_style style, FILE *out);
// After every step; fps turns time into frames.
void progress_step(progress *p, const rp_run_progress *at, double fps);
// Leave the terminal's line.
void progress_end(progress *p);

double wall_clock(void); // [s]
// "3 min 20 s"
void print_duration(double seconds, char out[32]);
