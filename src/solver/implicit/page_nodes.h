// Vectors and the nodes of a page, in numbers of one precision: included once for each, with REAL
// and NAME(x) defined.

static void NAME(spread)(const rp_system *s, int channel, const double *x, rp_local p)
{
    const rp_grid *grid = s->step->grid;
    const uint32_t *number = rp_nodes_numbers(s->numbers, grid, p);
    const int dim = grid->layout.dim;
    REAL *node = rp_grid_nodes(grid, channel, p);
    for (int n = 0; n < grid->layout.nodes; n++) {
        for (int a = 0; a < dim; a++) {
            const bool none = number[n] == RP_NO_NUMBER;
            node[n * RP_QUAD + a] = none ? 0 : (REAL)x[(size_t)number[n] * (size_t)dim + (size_t)a];
        }
    }
}

// What particles scattered, times a factor, onto a vector.
static void NAME(collect)(const rp_system *s, double *x, rp_local p)
{
    const rp_grid *grid = s->step->grid;
    const uint32_t *number = rp_nodes_numbers(s->numbers, grid, p);
    const int dim = grid->layout.dim;
    const REAL *node = rp_grid_nodes(grid, RP_CH_BALANCE, p);
    for (int n = 0; n < grid->layout.nodes; n++) {
        for (int a = 0; a < dim && number[n] != RP_NO_NUMBER; a++) {
            x[(size_t)number[n] * (size_t)dim + (size_t)a] += (double)node[n * RP_QUAD + a];
        }
    }
}

static void NAME(take)(const rp_system *s, rp_local p)
{
    const rp_grid *grid = s->step->grid;
    const uint32_t *number = rp_nodes_numbers(s->numbers, grid, p);
    const int dim = grid->layout.dim;
    const REAL *node = rp_grid_nodes(grid, RP_CH_MOMENTUM, p);
    for (int n = 0; n < grid->layout.nodes; n++) {
        if (number[n] == RP_NO_NUMBER) {
            continue;
        }
        s->mass[number[n]] = (double)node[n * RP_QUAD + 3];
        s->root[number[n]] = sqrt(s->mass[number[n]]);
        for (int a = 0; a < dim; a++) {
            s->before[(size_t)number[n] * (size_t)dim + (size_t)a] = (double)node[n * RP_QUAD + a];
        }
    }
}
