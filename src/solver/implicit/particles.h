// Laws of a page of particles, in numbers of one precision: included once for each, with REAL and
// NAME(x) defined.

// The parameters of sixteen particles. @return the laws among them, as 1u << kind
static unsigned NAME(spread_parameters)(const rp_species *species, const uint16_t *group, int lanes,
                                        REAL out[RP_PARAM_COUNT][RP_LANES], uint8_t law[RP_LANES])
{
    unsigned laws = 0;
    for (int l = 0; l < RP_LANES; l++) {
        const uint16_t of = group[l < lanes ? l : 0]; // those past the end stay calm
        const REAL *from = (const REAL *)species->group_reals.data + (size_t)of * RP_GROUP_REALS;
        for (int p = 0; p < RP_PARAM_COUNT; p++) {
            out[p][l] = from[p];
        }
        law[l] = ((const uint8_t *)species->group_laws.data)[of];
        laws |= 1u << law[l];
    }
    return laws;
}

// From gradients to what presses, in their place. @return the least det A, NaN where one is none
static double NAME(linearise)(const rp_system *s, int set, rp_local p)
{
    enum { MATRIX = 9, MOST = 9 + 6 + 8 };
    const rp_step *step = s->step;
    const rp_set *of = &step->set[set];
    const rp_page *page = &rp_set_page(of)[p];
    const int dim = step->grid->layout.dim, matrix = dim * dim, reals = s->linear[set].comps;
    const REAL dt = (REAL)s->dt;
    double least = INFINITY;
    _Alignas(64) REAL parameter[RP_PARAM_COUNT][RP_LANES], increment[MATRIX][RP_LANES];
    uint8_t law[RP_LANES];
    unsigned laws = 0;
    for (rp_local first = 0; first < page->count; first += RP_LANES) {
        const rp_local slot = page->first + first;
        const int lanes = page->count - first < RP_LANES ? page->count - first : RP_LANES;
        _Alignas(64) REAL det[RP_LANES];
        REAL *press = (REAL *)s->rate[set].data + (size_t)slot * (size_t)matrix;
        REAL *linear = (REAL *)s->linear[set].data + (size_t)slot * (size_t)reals;
        rp_law_tile tile = {.parameter = parameter, .increment = increment, .dt = s->dt};
        for (int c = 0; c < RP_COL_COUNT; c++) {
            tile.column[c] = rp_set_has(of, c) ? rp_set_tile(of, c, slot) : NULL;
        }
        if (first == 0 || page->flags & RP_PAGE_MIXED) {
            laws = NAME(spread_parameters)(&step->species[set], rp_set_tile(of, RP_COL_GROUP, slot),
                                           lanes, parameter, law);
        }
        for (int k = 0; k < matrix; k++) {
            for (int l = 0; l < RP_LANES; l++) {
                increment[k][l] = dt * press[k * RP_LANES + l];
            }
        }
        if ((laws & (laws - 1)) == 0) {
            s->law[law[0]]->linearise(&tile, press, det, linear);
        } else { // each law works on all lanes, and its own are kept
            for (int kind = 0; kind < RP_MATERIAL_KINDS; kind++) {
                _Alignas(64) REAL one[MATRIX][RP_LANES], D[RP_LANES], L[MOST][RP_LANES];
                if (!(laws >> kind & 1)) {
                    continue;
                }
                s->law[kind]->linearise(&tile, one, D, L);
                for (int l = 0; l < RP_LANES; l++) {
                    for (int k = 0; k < matrix && law[l] == kind; k++) {
                        press[k * RP_LANES + l] = one[k][l];
                    }
                    for (int k = 0; k < reals && law[l] == kind; k++) {
                        linear[k * RP_LANES + l] = L[k][l];
                    }
                    det[l] = law[l] == kind ? D[l] : det[l];
                }
            }
        }
        for (int l = 0; l < lanes; l++) {
            least = (double)det[l] >= least || isnan(least) ? least : (double)det[l];
        }
    }
    return least;
}

static void NAME(respond)(const rp_system *s, int set, rp_local p)
{
    const rp_set *of = &s->step->set[set];
    const rp_page *page = &rp_set_page(of)[p];
    const int matrix = s->rate[set].comps, reals = s->linear[set].comps;
    const uint16_t *group = rp_set_tile(of, RP_COL_GROUP, page->first);
    const uint8_t *law = s->step->species[set].group_laws.data;
    const REAL dt = (REAL)s->dt;
    for (rp_local slot = page->first; slot < page->first + page->count; slot += RP_LANES) {
        REAL *change = (REAL *)s->rate[set].data + (size_t)slot * (size_t)matrix;
        for (int k = 0; k < matrix * RP_LANES; k++) {
            change[k] *= dt;
        }
        s->law[law[group[0]]]->respond(
            (const REAL *)s->linear[set].data + (size_t)slot * (size_t)reals, change);
    }
}

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
