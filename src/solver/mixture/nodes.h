// What sand and water do to each other at the nodes of a block, in numbers of one precision:
// included once for each, with REAL and NAME(x) defined.
//
// A block has a page of sand, a page of water, or both; where one is missing its pointers are NULL.

// Sums over the sand around a node, docs/theory.md (P1): its bulk volume, that of its grains, and
// its drag times its volume.
static void NAME(pores_from_mass)(const mixed *m, const REAL *momentum, REAL *pores)
{
    for (int n = 0; n < m->nodes; n++) {
        for (int k = 0; k < PORES; k++) {
            pores[n * PORES + k] = momentum[n * RP_QUAD + 3] * (REAL)m->per_mass[k];
        }
    }
}

// Where grains are at all. @return whether there are any
static bool NAME(mark_grains)(const mixed *m, const REAL *pores, REAL *solid)
{
    bool any = false;
    for (int n = 0; n < m->nodes; n++) {
        solid[n] = pores != NULL && pores[n * PORES] > 0 ? 1 : 0;
        any = any || solid[n] > 0;
    }
    return any;
}

// The share of space that grains take at a node, docs/theory.md (P1): of what grains and water take
// together, and no more than in sand at rest. Not of the cell: part of it may lie behind a wall.
static void NAME(solid_share)(const mixed *m, const REAL *pores, const REAL *water, REAL *solid)
{
    for (int n = 0; n < m->nodes; n++) {
        REAL share = 0;
        if (pores[n * PORES] > 0) {
            const REAL grains = pores[n * PORES + 1], rest = grains / pores[n * PORES];
            const REAL wet = water[n * RP_QUAD + 3] / (REAL)m->water_density;
            share = grains / (grains + wet);
            share = share < rest ? share : rest;
        }
        solid[n] = share;
    }
}

// The impulse of pressure goes to both by their shares of the volume: the adjoint of the volumetric
// velocity that pressure follows, so that nothing is lost or made.
static void NAME(share_force)(const mixed *m, const REAL *force, const REAL *solid, REAL *sand,
                              REAL *water)
{
    for (int n = 0; n < m->nodes; n++) {
        for (int a = 0; a < m->dim; a++) {
            const REAL f = force[n * RP_QUAD + a], part = m->biot ? solid[n] * f : 0;
            water[n * RP_QUAD + a] += f - part;
            if (sand != NULL) {
                sand[n * RP_QUAD + a] += part;
            }
        }
    }
}

// dt times the drag coefficient of a node [kg], docs/theory.md (P3).
static REAL NAME(drag_of)(const mixed *m, const REAL *pores, REAL solid, REAL sand, REAL water)
{
    if (!(sand > (REAL)m->least) || !(water > (REAL)m->least) || !(pores[0] > 0)) {
        return 0;
    }
    if (m->by_mass) {
        return (REAL)m->dt * (pores[2] / pores[0]) * sand * water;
    }
    const REAL room = water / ((REAL)m->water_density * (1 - solid)); // with the pores around it
    const REAL share = room < pores[0] ? room / pores[0] : 1;
    return (REAL)m->dt * pores[2] * share;
}

// Both velocities after the drag, solved for together, docs/theory.md (P4). Keeps the impulse that
// sand got, and dt times the coefficient.
static void NAME(drag)(const mixed *m, const REAL *pores, const REAL *solid, REAL *sand,
                       REAL *water, REAL *kept)
{
    for (int n = 0; n < m->nodes; n++) {
        REAL *s = sand + n * RP_QUAD, *w = water + n * RP_QUAD, *k = kept + n * RP_QUAD;
        const REAL q = NAME(drag_of)(m, pores + n * PORES, solid[n], s[3], w[3]);
        memset(k, 0, RP_QUAD * sizeof *k);
        k[3] = q;
        if (!(q > 0)) {
            continue;
        }
        // q / (1 + q (1/m_s + 1/m_w)): as it stands q may be anything
        const REAL gain = 1 / (1 / q + 1 / s[3] + 1 / w[3]);
        for (int a = 0; a < m->dim; a++) {
            const REAL given = gain * (w[a] - s[a]);
            k[a] = given;
            s[a] += given / s[3];
            w[a] -= given / w[3];
        }
    }
}

// A collider holds one of the two at a node: the other is dragged by what it holds.
// @param before velocities before contact, of sand and of water [node][2][3]
static void NAME(drag_again)(const mixed *m, const REAL *before, REAL *sand, REAL *water,
                             const REAL *kept)
{
    for (int n = 0; n < m->nodes; n++) {
        REAL *s = sand + n * RP_QUAD, *w = water + n * RP_QUAD;
        const REAL *k = kept + n * RP_QUAD, *b = before + n * 6;
        const REAL q = k[3];
        for (int a = 0; a < m->dim && q > 0; a++) {
            const bool sand_held = s[a] != b[a], water_held = w[a] != b[3 + a];
            if (sand_held == water_held) {
                continue;
            }
            // what is held stays at its velocity, the other one meets it there
            const REAL other = sand_held ? w[3] : s[3];
            const REAL free = sand_held ? w[a] + k[a] / w[3] : s[a] - k[a] / s[3];
            const REAL held = sand_held ? s[a] : w[a];
            const REAL given = (sand_held ? 1 : -1) * (free - held) / (1 / q + 1 / other);
            s[a] += (given - k[a]) / s[3];
            w[a] -= (given - k[a]) / w[3];
        }
    }
}

static void NAME(note_before)(const mixed *m, const REAL *sand, const REAL *water, REAL *before)
{
    for (int n = 0; n < m->nodes; n++) {
        for (int a = 0; a < 3; a++) {
            before[n * 6 + a] = sand[n * RP_QUAD + a];
            before[n * 6 + 3 + a] = water[n * RP_QUAD + a];
        }
    }
}

// u = theta v_w + (1 - theta) v_s, docs/theory.md (P5), and beside it the mass of water.
static void NAME(flux)(const mixed *m, const REAL *solid, const REAL *sand, const REAL *water,
                       REAL *out)
{
    for (int n = 0; n < m->nodes; n++) {
        const REAL *w = water + n * RP_QUAD;
        REAL *u = out + n * RP_QUAD;
        memcpy(u, w, RP_QUAD * sizeof *u);
        for (int a = 0; a < m->dim && sand != NULL && solid[n] > 0; a++) {
            u[a] += solid[n] * (sand[n * RP_QUAD + a] - w[a]);
        }
    }
}

// How full of water the pores at a node are, docs/theory.md (P7).
static void NAME(saturation)(const mixed *m, const REAL *pores, const REAL *water, REAL *out)
{
    for (int n = 0; n < m->nodes; n++) {
        const REAL room = pores[n * PORES] - pores[n * PORES + 1];
        const REAL mass = water != NULL ? water[n * RP_QUAD + 3] : 0;
        REAL share = 0;
        if (room > 0 && mass > (REAL)m->least) {
            const REAL full = mass / ((REAL)m->water_density * room);
            share = m->indicator || full > 1 ? 1 : full;
        }
        out[n] = share;
    }
}

// Pages of particles ------------------------------------------------------------------------------

// From the share of grains at particles to one over that of pores.
static void NAME(open_pores)(rp_local count, REAL *share)
{
    for (rp_local i = 0; i < count; i++) {
        share[i] = 1 / (share[i] < 1 ? 1 - share[i] : 1);
    }
}

// The share of its cohesion that wet sand has, docs/theory.md (P8).
static void NAME(wet)(const mixed *m, rp_local count, REAL *saturation, REAL *bond)
{
    for (rp_local i = 0; i < count; i++) {
        const REAL s = saturation[i] < 1 ? saturation[i] : 1;
        saturation[i] = s;
        const REAL rising = s / (REAL)0.4, falling = (1 - s) / (REAL)0.6;
        bond[i] = !m->rises ? 1 - s : rising < falling ? rising : falling;
    }
}

// Three numbers of each particle for the sums over sand.
static void NAME(spread_pores)(const mixed *m, rp_local count, const uint16_t *group,
                               const double *table, REAL *out)
{
    for (rp_local i = 0; i < count; i++) {
        const double *g = table + (size_t)group[i] * RP_GROUP_REALS;
        REAL *to = out + (i / RP_LANES) * RP_LANES * PORES + i % RP_LANES;
        to[0] = 1;
        to[RP_LANES] = (REAL)(1.0 - g[RP_PARAM_POROSITY]);
        to[2 * RP_LANES] = (REAL)drag_of_sand(m, g);
    }
}

static double NAME(volume_of)(rp_local count, const REAL *J, const REAL *volume,
                              const uint16_t *group, const REAL *table, double *rest)
{
    double sum = 0.0;
    for (rp_local i = 0; i < count; i++) {
        const double v =
            (double)(volume != NULL ? volume[i]
                                    : table[(size_t)group[i] * RP_GROUP_REALS + RP_GROUP_VOLUME]);
        sum += (double)J[i] * v;
        *rest += v;
    }
    return sum;
}
