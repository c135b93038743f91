#include "solver/solver.h"

#include <string.h>

extern const rp_solver rp_solver_explicit;

static const rp_solver *const solvers[] = {&rp_solver_explicit};

const rp_solver *rp_solver_find(const char *name)
{
    for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; i++) {
        if (strcmp(solvers[i]->name, name) == 0) {
            return solvers[i];
        }
    }
    return NULL;
}
