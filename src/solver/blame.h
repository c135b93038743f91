// Who is to blame when the state is no longer physical.
#pragma once

#include "solver/solver.h"

// Says which particle of a bad page it was, where and when, and remembers it in the step's failure.
// @return RP_ERR_DIVERGED
rp_result rp_solver_blame(const rp_step *step, const rp_set *set, rp_local page);
