// Looking at a world: columns, sums, and its whole state as bytes.
#include "base/result.h"
#include "base/threads.h"
#include "model/material.h"
#include "sim/world.h"

#include <math.h>
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

// The living particle after this one, in memory order; false at the end. Start with page = NULL,
// slot = -1 and *page_index = 0.
static bool next_particle(particle *p, rp_local *page_index, bool *in_inbox)
{
    const rp_set *set = p->set;
    while (!*in_inbox) {
        if (*page_index == set->pages) {
            *in_inbox = true;
            p->page = NULL;
            p->slot = -1;
            break;
        }
        const rp_page *page = &rp_set_page(set)[*page_index];
        p->slot = p->page == page ? p->slot + 1 : page->first;
        p->page = page;
        if (p->slot == page->first + page->count) {
            ++*page_index;
        } else if (*(uint16_t *)rp_set_at(set, RP_COL_GROUP, p->slot, 0) != RP_GROUP_DEAD) {
            return true;
        }
    }
    return ++p->slot < set->inbox.count;
}

#define FOR_PARTICLES(p, world)                                                                    \
    particle p = {.set = &(world)->set, .slot = -1};                                               \
    rp_local page_index_ = 0;                                                                      \
    bool in_inbox_ = false;                                                                        \
    while (next_particle(&p, &page_index_, &in_inbox_))

int rp_world_column_comps(const rp_world *world, rp_column_id column)
{
    return column >= 0 && column < RP_COL_COUNT ? world->set.column[column].comps : 0;
}

rp_result rp_world_read(const rp_world *world, rp_column_id column, double *out)
{
    const int comps = rp_world_column_comps(world, column);
    if (comps == 0) {
        return rp_fail(RP_ERR_ARGUMENT, "this world keeps no column '%s'", rp_column_name(column));
    }
    FOR_PARTICLES(p, world)
    {
        for (int c = 0; c < comps; c++) {
            *out++ = value(&p, column, c);
        }
    }
    return RP_OK;
}

// ---- sums ----

// Sums are made over a fixed number of runs of pages and then added up in order: whoever does a
// run, the result is the same.
enum { SUM_PARTS = 64 };

typedef struct summing {
    const rp_world *world;
    rp_totals part[SUM_PARTS + 1]; // the last one is the inbox's
} summing;

// What the sums need of a particle.
typedef struct motion {
    double x[3], v[3], C[3][3], strain[6];
} motion;

static void add_particle(const rp_world *world, const rp_group *g, const motion *p, rp_totals *out)
{
    const int dim = world->def.dimension;
    const double h = world->def.dx;
    // APIC's particles turn: D : C is their spin; D is h^2 / 4 or h^2 / 3
    const double inertia = world->def.order == 3 ? h * h / 3.0 : h * h / 4.0;
    const rp_material_def *def = &world->material[g->material];
    out->mass += g->mass;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        out->momentum[a] += g->mass * p->v[a];
        out->center[a] += g->mass * p->x[a];
        out->kinetic += 0.5 * g->mass * p->v[a] * p->v[a];
        out->angular[a] +=
            g->mass * (p->x[b] * p->v[c] - p->x[c] * p->v[b] + inertia * (p->C[c][b] - p->C[b][c]));
    }
    double trace = 0.0, square = 0.0;
    for (int c = 0; c < rp_sym_comps(dim); c++) {
        trace += c < dim ? p->strain[c] : 0.0;
        square += (c < dim ? 1.0 : 2.0) * p->strain[c] * p->strain[c];
    }
    const rp_lame lame = rp_lame_parameters(def->young, def->poisson);
    out->elastic += g->volume * (lame.mu * square + 0.5 * lame.lambda * trace * trace);
}

// Particles in pages are many, so a tile's columns are looked up once.
typedef struct tile {
    const rp_layout *layout;
    const rp_page *page;
    const char *position, *velocity, *affine, *strain; // affine: NULL where nothing turns
    int bytes;                                         // of a number
} tile;

static tile tile_at(const rp_world *world, const rp_page *page, rp_local slot)
{
    const rp_set *set = &world->set;
    const bool affine = rp_set_has(set, RP_COL_AFFINE) && world->def.order > 1;
    return (tile){.layout = &set->layout,
                  .page = page,
                  .position = rp_set_tile(set, RP_COL_POSITION, slot),
                  .velocity = rp_set_tile(set, RP_COL_VELOCITY, slot),
                  .affine = affine ? rp_set_tile(set, RP_COL_AFFINE, slot) : NULL,
                  .strain = rp_set_tile(set, RP_COL_STRAIN, slot),
                  .bytes = rp_real_bytes(&set->layout)};
}

static inline double real_at(const char *column, int bytes, int comp, int lane)
{
    const int at = comp * RP_LANES + lane;
    return bytes == 4 ? ((const float *)(const void *)column)[at]
                      : ((const double *)(const void *)column)[at];
}

static inline motion motion_in_tile(const tile *t, int lane, const int dim)
{
    motion p = {0};
    for (int a = 0; a < dim; a++) {
        p.x[a] = rp_layout_metres(t->layout, t->page->block, a,
                                  t->position + (size_t)(a * RP_LANES + lane) * (size_t)t->bytes);
        p.v[a] = real_at(t->velocity, t->bytes, a, lane);
        for (int b = 0; b < dim && t->affine != NULL; b++) {
            p.C[a][b] = real_at(t->affine, t->bytes, a * dim + b, lane);
        }
    }
    for (int c = 0; c < rp_sym_comps(dim); c++) {
        p.strain[c] = real_at(t->strain, t->bytes, c, lane);
    }
    return p;
}

static motion motion_in_inbox(const rp_world *world, rp_local index)
{
    const rp_set *set = &world->set;
    const int dim = set->layout.dim;
    const bool affine = rp_set_has(set, RP_COL_AFFINE) && world->def.order > 1;
    motion p = {0};
    for (int a = 0; a < dim; a++) {
        p.x[a] = rp_set_birth_read(set, RP_COL_POSITION, index, a);
        p.v[a] = rp_set_birth_read(set, RP_COL_VELOCITY, index, a);
        for (int b = 0; b < dim && affine; b++) {
            p.C[a][b] = rp_set_birth_read(set, RP_COL_AFFINE, index, a * dim + b);
        }
    }
    return p;
}

static void sum_pages(void *context, int64_t part, int thread)
{
    (void)thread;
    summing *s = context;
    const rp_set *set = &s->world->set;
    const int64_t pages = set->pages;
    for (int64_t i = part * pages / SUM_PARTS; i < (part + 1) * pages / SUM_PARTS; i++) {
        const rp_page *page = &rp_set_page(set)[i];
        for (rp_local slot = page->first; slot < page->first + page->count; slot += RP_LANES) {
            const tile t = tile_at(s->world, page, slot);
            const uint16_t *group = rp_set_tile(set, RP_COL_GROUP, slot);
            const rp_local left = page->first + page->count - slot;
            for (int lane = 0; lane < RP_LANES && lane < left; lane++) {
                if (group[lane] != RP_GROUP_DEAD) {
                    const motion p = set->layout.dim == 3 ? motion_in_tile(&t, lane, 3)
                                                          : motion_in_tile(&t, lane, 2);
                    add_particle(s->world, &rp_set_group(set)[group[lane]], &p, &s->part[part]);
                }
            }
        }
    }
}

double rp_world_affine(const rp_world *world)
{
    const rp_set *set = &world->set;
    const double h = world->def.dx, inertia = world->def.order == 3 ? h * h / 3.0 : h * h / 4.0;
    const int comps = set->column[RP_COL_AFFINE].comps;
    double sum = 0.0;
    for (rp_local p = 0; p < set->pages && world->def.order > 1; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            const uint16_t group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
            double square = 0.0;
            for (int c = 0; c < comps && group != RP_GROUP_DEAD; c++) {
                const double value_ = rp_set_value(set, RP_COL_AFFINE, slot, c, page);
                square += value_ * value_;
            }
            sum += group != RP_GROUP_DEAD ? 0.5 * rp_set_group(set)[group].mass * inertia * square
                                          : 0.0;
        }
    }
    return sum;
}

void rp_world_energy(const rp_world *world, rp_energy *out) { *out = world->energy; }

void rp_world_totals(const rp_world *world, rp_totals *out)
{
    summing s = {.world = world};
    rp_parallel_for(world->threads, SUM_PARTS, 1, sum_pages, &s);
    for (rp_local i = 0; i < world->set.inbox.count; i++) {
        const uint16_t group = *(uint16_t *)rp_set_birth(&world->set, RP_COL_GROUP, i, 0);
        const motion p = motion_in_inbox(world, i);
        add_particle(world, &rp_set_group(&world->set)[group], &p, &s.part[SUM_PARTS]);
    }
    *out = (rp_totals){0};
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
    for (int c = 0; c <= RP_COL_STRAIN; c++) {
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
