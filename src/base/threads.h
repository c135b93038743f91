// Parallel loops (repose/threads.h), and the mode of numbers in which their bodies run.
#pragma once

#include "repose/threads.h"

// Round to nearest, denormals flushed to zero, for as long as a step runs on this thread.
typedef struct rp_float_mode {
    unsigned saved;
} rp_float_mode;
rp_float_mode rp_float_mode_enter(void);
void rp_float_mode_leave(rp_float_mode mode);
