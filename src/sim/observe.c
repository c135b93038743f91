// Looking at a world: columns, sums, and its whole state as bytes.
#include "base/result.h"
#include "base/threads.h"
#include "io/frame.h"
#include "model/material.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A particle in a page, or one that is about to be born.
typedef struct particle {
    const rp_set *set;
    const rp_page *page; // NULL: in the inbox, at place `slot`
    rp_local slot;
} particle;

static double value(const particle *p, rp_column_id column, int comp)
{
    return p->page != NULL ? rp_set_value(p->set, column, p->slot, comp, p->page)
                           : rp_set_birth_read(p->set, column, p->slot, comp);
}

// The living particle after this one: species after species, each in memory order; false at the
// end. Start with everything 0 but slot = -1.
typedef struct walk {
    const rp_world *world;
    int species;
    rp_local page;
    bool in_inbox;
} walk;

static bool next_particle(walk *w, particle *p)
{
    for (; w->species < w->world->species_count; w->species++) {
        const rp_set *set = p->set = &w->world->set[w->species];
        while (!w->in_inbox) {
            if (w->page == set->pages) {
                w->in_inbox = true;
                p->page = NULL;
                p->slot = -1;
                break;
            }
            const rp_page *page = &rp_set_page(set)[w->page];
            p->slot = p->page == page ? p->slot + 1 : page->first;
            p->page = page;
            if (p->slot == page->first + page->count) {
                w->page++;
            } else if (*(uint16_t *)rp_set_at(set, RP_COL_GROUP, p->slot, 0) != RP_GROUP_DEAD) {
                return true;
            }
        }
        if (++p->slot < set->inbox.count) {
            return true;
        }
        w->page = 0;
        w->in_inbox = false;
        p->page = NULL;
        p->slot = -1;
    }
    return false;
}

#define FOR_PARTICLES(p, which)                                                                    \
    walk walk_ = {.world = (which)};                                                               \
    particle p = {.slot = -1};                                                                     \
    while (next_particle(&walk_, &p))

int rp_world_column_comps(const rp_world *world, rp_column_id column)
{
    int comps = 0;
    for (int s = 0; s < world->species_count && column >= 0 && column < RP_COL_COUNT; s++) {
        const int own = world->set[s].column[column].comps;
        comps = own > comps ? own : comps;
    }
    return comps;
}

// What a name adds to a choice; false: nothing here has it.
static bool choose(const rp_world *world, const char *name, rp_frame_choice *choice)
{
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (strcmp(rp_column_name(c), name) == 0) {
            choice->columns |= 1u << c;
            return rp_world_column_comps(world, c) > 0;
        }
    }
    for (int k = 0; k < RP_DERIVED_COUNT; k++) {
        if (strcmp(rp_derived_table[k].name, name) == 0) {
            choice->derived |= 1u << k;
            return true;
        }
    }
    return false;
}

rp_result rp_world_choose_columns(rp_world *world, const char *const *name, int count)
{
    rp_frame_choice choice = {.material = world->material, .materials = world->materials};
    for (int i = 0; i < count; i++) {
        if (!choose(world, name[i], &choice)) {
            char known[256] = "";
            for (int c = RP_COL_VELOCITY; c < RP_COL_GROUP; c++) {
                const size_t used = strlen(known);
                if (rp_world_column_comps(world, c) > 0) {
                    snprintf(known + used, sizeof known - used, "%s, ", rp_column_name(c));
                }
            }
            return rp_fail(RP_ERR_ARGUMENT,
                           "columns: nothing here has '%s'; want any of %sstress or pressure",
                           name[i], known);
        }
    }
    world->choice = choice;
    world->chosen = true;
    return RP_OK;
}

rp_result rp_world_read(const rp_world *world, rp_column_id column, double *out)
{
    const int comps = rp_world_column_comps(world, column);
    const bool measure = column == RP_COL_MASS || column == RP_COL_VOLUME;
    if (comps == 0) {
        return rp_fail(RP_ERR_ARGUMENT, "this world keeps no column '%s'", rp_column_name(column));
    }
    FOR_PARTICLES(p, world)
    {
        double mass, volume;
        rp_set_measure(p.set, p.page, p.slot, &mass, &volume);
        for (int c = 0; c < comps; c++) {
            *out++ = measure                     ? (column == RP_COL_MASS ? mass : volume)
                     : rp_set_has(p.set, column) ? value(&p, column, c)
                                                 : rp_column_table[column].neutral;
        }
    }
    return RP_OK;
}

int rp_world_species(const rp_world *world) { return world->species_count; }

const char *rp_world_species_name(const rp_world *world, int index)
{
    RP_ASSERT(index >= 0 && index < world->species_count);
    return world->species[index].name;
}

void rp_world_read_species(const rp_world *world, uint8_t *out)
{
    FOR_PARTICLES(p, world) { *out++ = (uint8_t)(p.set - world->set); }
}

// ---- sums ----

// Sums are made over a fixed number of runs of pages and then added up in order: whoever does a
// run, the result is the same.
enum { SUM_PARTS = 64 };

typedef struct summing {
    const rp_world *world;
    const rp_species *species;
    const rp_law *const *laws;     // in double, in plain C
    rp_totals part[SUM_PARTS + 1]; // the last one is the inbox's
} summing;

// Sixteen particles at most in double, as laws and sums want them.
typedef struct lanes {
    int count;
    double x[3][RP_LANES], mass[RP_LANES], volume[RP_LANES];
    _Alignas(64) double parameter[RP_GROUP_REALS][RP_LANES];
    _Alignas(64) double column[RP_COL_COUNT][9][RP_LANES];
    uint8_t law[RP_LANES];
    bool alive[RP_LANES];
} lanes;

static void take_group(const summing *s, uint16_t group, int lane, lanes *out)
{
    out->alive[lane] = group != RP_GROUP_DEAD;
    if (!out->alive[lane]) {
        return;
    }
    const double *parameter =
        (const double *)s->species->group_doubles.data + (size_t)group * RP_GROUP_REALS;
    for (int k = 0; k < RP_GROUP_REALS; k++) {
        out->parameter[k][lane] = parameter[k];
    }
    const rp_set *set = s->species->set;
    out->mass[lane] =
        rp_set_has(set, RP_COL_MASS) ? out->column[RP_COL_MASS][0][lane] : parameter[RP_GROUP_MASS];
    out->volume[lane] = rp_set_has(set, RP_COL_VOLUME) ? out->column[RP_COL_VOLUME][0][lane]
                                                       : parameter[RP_GROUP_VOLUME];
    out->law[lane] = ((const uint8_t *)s->species->group_laws.data)[group];
}

// Particles in pages are many, so a tile's columns are looked up once.
static void take_tile(const summing *s, const rp_page *page, rp_local slot, lanes *out)
{
    const rp_set *set = s->species->set;
    const rp_layout *l = &set->layout;
    const int bytes = rp_real_bytes(l);
    const char *x = rp_set_tile(set, RP_COL_POSITION, slot);
    const uint16_t *group = rp_set_tile(set, RP_COL_GROUP, slot);
    for (int c = RP_COL_VELOCITY; c < RP_COL_GROUP; c++) {
        const void *from = rp_set_has(set, c) ? rp_set_tile(set, c, slot) : NULL;
        double *to = out->column[c][0];
        for (int i = 0; i < set->column[c].comps * RP_LANES; i++) {
            to[i] = bytes == 4 ? (double)((const float *)from)[i] : ((const double *)from)[i];
        }
    }
    for (int lane = 0; lane < out->count; lane++) {
        for (int a = 0; a < l->dim; a++) {
            out->x[a][lane] = rp_layout_metres(l, page->block, a,
                                               x + (size_t)(a * RP_LANES + lane) * (size_t)bytes);
        }
        take_group(s, group[lane], lane, out);
    }
}

static void take_birth(const summing *s, rp_local index, lanes *out)
{
    const rp_set *set = s->species->set;
    for (int c = RP_COL_VELOCITY; c < RP_COL_GROUP; c++) {
        for (int k = 0; k < set->column[c].comps; k++) {
            out->column[c][k][0] = rp_set_birth_read(set, c, index, k);
        }
    }
    for (int a = 0; a < set->layout.dim; a++) {
        out->x[a][0] = rp_set_birth_read(set, RP_COL_POSITION, index, a);
    }
    take_group(s, *(uint16_t *)rp_set_birth(set, RP_COL_GROUP, index, 0), 0, out);
}

// What each has stored [J].
static void stored_energy(const summing *s, const lanes *l, double out[RP_LANES])
{
    rp_law_tile tile = {.parameter = l->parameter};
    for (int c = 0; c < RP_COL_COUNT; c++) {
        tile.column[c] = rp_set_has(s->species->set, c) ? (void *)(uintptr_t)l->column[c] : NULL;
    }
    memset(out, 0, RP_LANES * sizeof *out);
    for (int lane = 0; lane < l->count; lane++) {
        const rp_law *law = s->laws[l->law[lane]];
        bool first = law->energy != NULL && l->alive[lane];
        for (int before = 0; before < lane; before++) {
            first = first && !(l->alive[before] && l->law[before] == l->law[lane]);
        }
        if (first) {
            _Alignas(64) double energy[RP_LANES];
            law->energy(&tile, energy);
            for (int k = lane; k < l->count; k++) {
                out[k] = l->law[k] == l->law[lane] ? l->volume[k] * energy[k] : out[k];
            }
        }
    }
}

static void add_lanes(const summing *s, const lanes *l, rp_totals *out)
{
    const double h = s->world->def.dx;
    const int dim = s->world->def.dimension;
    // APIC's particles turn: D : C is their spin; D is h^2 / 4 or h^2 / 3
    const double inertia = s->world->def.order == 3 ? h * h / 3.0 : h * h / 4.0;
    const bool turns = rp_set_has(s->species->set, RP_COL_AFFINE) && s->world->def.order > 1;
    double energy[RP_LANES];
    stored_energy(s, l, energy);
    for (int i = 0; i < l->count; i++) {
        const double m = l->mass[i];
        double x[3] = {0}, v[3] = {0}, C[3][3] = {{0}};
        if (!l->alive[i]) {
            continue;
        }
        for (int a = 0; a < dim; a++) {
            x[a] = l->x[a][i];
            v[a] = l->column[RP_COL_VELOCITY][a][i];
            for (int b = 0; b < dim && turns; b++) {
                C[a][b] = l->column[RP_COL_AFFINE][a * dim + b][i];
            }
        }
        out->mass += m;
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            out->momentum[a] += m * v[a];
            out->center[a] += m * x[a];
            out->kinetic += 0.5 * m * v[a] * v[a];
            out->angular[a] += m * (x[b] * v[c] - x[c] * v[b] + inertia * (C[c][b] - C[b][c]));
        }
        out->elastic += energy[i];
    }
}

static void sum_pages(void *context, int64_t part, int thread)
{
    (void)thread;
    summing *s = context;
    const rp_set *set = s->species->set;
    const int64_t pages = set->pages;
    lanes l;
    memset(&l, 0, sizeof l);
    for (int64_t i = part * pages / SUM_PARTS; i < (part + 1) * pages / SUM_PARTS; i++) {
        const rp_page *page = &rp_set_page(set)[i];
        for (rp_local first = 0; first < page->count; first += RP_LANES) {
            l.count = page->count - first < RP_LANES ? page->count - first : RP_LANES;
            take_tile(s, page, page->first + first, &l);
            add_lanes(s, &l, &s->part[part]);
        }
    }
}

static void sum_inbox(summing *s)
{
    lanes l;
    memset(&l, 0, sizeof l);
    l.count = 1;
    for (rp_local i = 0; i < s->species->set->inbox.count; i++) {
        take_birth(s, i, &l);
        add_lanes(s, &l, &s->part[SUM_PARTS]);
    }
}

double rp_world_affine(const rp_world *world)
{
    const double h = world->def.dx, inertia = world->def.order == 3 ? h * h / 3.0 : h * h / 4.0;
    double sum = 0.0;
    for (int s = 0; s < world->species_count && world->def.order > 1; s++) {
        const rp_set *set = &world->set[s];
        const int comps = set->column[RP_COL_AFFINE].comps;
        for (rp_local p = 0; p < set->pages && comps > 0; p++) {
            const rp_page *page = &rp_set_page(set)[p];
            for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
                const uint16_t group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
                double square = 0.0, mass = 0.0, volume;
                for (int c = 0; c < comps && group != RP_GROUP_DEAD; c++) {
                    const double value_ = rp_set_value(set, RP_COL_AFFINE, slot, c, page);
                    square += value_ * value_;
                }
                if (group != RP_GROUP_DEAD) {
                    rp_set_measure(set, page, slot, &mass, &volume);
                }
                sum += 0.5 * mass * inertia * square;
            }
        }
    }
    return sum;
}

void rp_world_energy(const rp_world *world, rp_energy *out) { *out = world->energy; }

void rp_world_totals(const rp_world *world, rp_totals *out)
{
    *out = (rp_totals){0};
    for (int k = 0; k < world->species_count; k++) {
        summing s = {.world = world,
                     .species = &world->species[k],
                     .laws = rp_laws_find(world->def.dimension, 64, RP_ISA_PLAIN)};
        rp_parallel_for(world->threads, SUM_PARTS, 1, sum_pages, &s);
        sum_inbox(&s);
        for (int i = 0; i <= SUM_PARTS; i++) {
            out->mass += s.part[i].mass;
            out->kinetic += s.part[i].kinetic;
            out->elastic += s.part[i].elastic;
            for (int a = 0; a < 3; a++) {
                out->momentum[a] += s.part[i].momentum[a];
                out->angular[a] += s.part[i].angular[a];
                out->center[a] += s.part[i].center[a];
            }
        }
    }
    for (int a = 0; a < 3 && out->mass > 0.0; a++) {
        out->center[a] /= out->mass;
    }
}

// ---- failures ----

bool rp_world_failure(const rp_world *world, rp_failure *out)
{
    *out = world->failure;
    return world->failed;
}

// Not finite, or faster than a cell a step.
static bool is_guilty(const particle *p, const rp_world *world)
{
    double sum = 0.0, v2 = 0.0;
    for (int c = 0; c < RP_COL_GROUP; c++) {
        for (int i = 0; i < p->set->column[c].comps; i++) {
            const double x = value(p, c, i);
            sum += fabs(x);
            v2 += c == RP_COL_VELOCITY ? x * x : 0.0;
        }
    }
    const double dt = world->failed ? world->failure.dt : world->stats.dt;
    return !isfinite(sum) || sqrt(v2) * dt > world->def.dx;
}

int64_t rp_world_guilty(const rp_world *world, uint64_t *ids, int64_t capacity)
{
    int64_t count = 0;
    FOR_PARTICLES(p, world)
    {
        const uint64_t id = p.page != NULL ? *(uint64_t *)rp_set_at(p.set, RP_COL_ID, p.slot, 0)
                                           : *(uint64_t *)rp_set_birth(p.set, RP_COL_ID, p.slot, 0);
        const bool blamed = world->failed && id == world->failure.particle;
        if (is_guilty(&p, world) || blamed) {
            if (count < capacity) {
                ids[count] = id;
            }
            count++;
        }
    }
    const int64_t kept = count < capacity ? count : capacity;
    if (kept > 0) {
        qsort(ids, (size_t)kept, sizeof *ids, rp_compare_ids);
    }
    return count;
}
