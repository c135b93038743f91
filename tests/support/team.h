// Ranks in one process: each is a thread, and what they tell each other goes through mailboxes.
#pragma once

#include "base/comm.h"

// Calls body on `size` ranks at once and waits for all of them. Checks belong after it: they are
// for one thread.
void team_run(int size, void (*body)(rp_comm *comm, void *context), void *context);
