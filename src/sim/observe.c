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

// Bytes of every particle, written by `put`.
typedef struct reading {
    size_t each;
    void (*put)(const struct reading *r, const rp_world *world, const particle *p, void *out);
    rp_column_id column;
    int comps;
} reading;

// Births are on all ranks. Of each species the particles of all ranks come first, in key order.
static rp_result read_ranks(const reading *r, const rp_world *world, char *out)
{
    rp_bytes in[RP_RANK_LIMIT];
    int64_t count[RP_SET_LIMIT] = {0}; // particles in pages of this rank
    size_t bytes = sizeof count;
    {
        FOR_PARTICLES(p, world) { count[p.set - world->set] += p.page != NULL; }
    }
    for (int s = 0; s < world->species_count; s++) {
        bytes += (size_t)count[s] * r->each;
    }
    rp_buffer own = {0};
    rp_result result =
        rp_agree(world->comm,
                 rp_buffer_reserve(&own, &world->allocator, bytes, 0, "what ranks read"), NULL, 0);
    if (result == RP_OK) {
        char *to = (char *)own.data + sizeof count;
        memcpy(own.data, count, sizeof count);
        FOR_PARTICLES(p, world)
        {
            if (p.page != NULL) {
                r->put(r, world, &p, to);
                to += r->each;
            }
        }
        result = rp_tell_all(world->comm, own.data, bytes, in);
    }
    rp_buffer_free(&own, &world->allocator);
    RP_TRY(result);
    size_t at[RP_RANK_LIMIT];
    for (int k = 0; k < world->comm->size; k++) {
        at[k] = sizeof count;
    }
    for (int s = 0; s < world->species_count; s++) {
        for (int k = 0; k < world->comm->size; k++) {
            const size_t part = (size_t)((const int64_t *)in[k].data)[s] * r->each;
            memcpy(out, (const char *)in[k].data + at[k], part);
            at[k] += part;
            out += part;
        }
        for (rp_local i = 0; i < world->set[s].inbox.count; i++, out += r->each) {
            r->put(r, world, &(particle){.set = &world->set[s], .slot = i}, out);
        }
    }
    return RP_OK;
}

static rp_result read_all(const reading *r, const rp_world *world, char *out)
{
    if (!rp_comm_alone(world->comm)) {
        return read_ranks(r, world, out);
    }
    FOR_PARTICLES(p, world)
    {
        r->put(r, world, &p, out);
        out += r->each;
    }
    return RP_OK;
}

static void put_column(const reading *r, const rp_world *world, const particle *p, void *out)
{
    (void)world;
    const bool measure = r->column == RP_COL_MASS || r->column == RP_COL_VOLUME;
    double mass, volume, *to = out;
    rp_set_measure(p->set, p->page, p->slot, &mass, &volume);
    for (int c = 0; c < r->comps; c++) {
        *to++ = measure                         ? (r->column == RP_COL_MASS ? mass : volume)
                : rp_set_has(p->set, r->column) ? value(p, r->column, c)
                                                : rp_column_table[r->column].neutral;
    }
}

rp_result rp_world_read(const rp_world *world, rp_column_id column, double *out)
{
    const int comps = rp_world_column_comps(world, column);
    if (comps == 0) {
        return rp_fail(RP_ERR_ARGUMENT, "this world keeps no column '%s'", rp_column_name(column));
    }
    const reading r = {
        .each = (size_t)comps * sizeof *out, .put = put_column, .column = column, .comps = comps};
    return read_all(&r, world, (char *)out);
}

int rp_world_species(const rp_world *world) { return world->species_count; }

const char *rp_world_species_name(const rp_world *world, int index)
{
    RP_ASSERT(index >= 0 && index < world->species_count);
    return world->species[index].name;
}

static void put_species(const reading *r, const rp_world *world, const particle *p, void *out)
{
    (void)r;
    *(uint8_t *)out = (uint8_t)(p->set - world->set);
}

void rp_world_read_species(const rp_world *world, uint8_t *out)
{
    const reading r = {.each = sizeof *out, .put = put_species};
    read_all(&r, world, (char *)out);
}

// ---- sums ----

// Sums are made page by page and added up in key order, species after species: the same for any
// number of threads and ranks. Some pages at a time, so that no memory is needed.
enum { PAGES_AT_ONCE = 64 };

typedef struct summing {
    const rp_world *world;
    const rp_species *species;
    const rp_law *const *laws; // in double, in plain C
    rp_local first;            // page of those that are being summed
    rp_totals page[PAGES_AT_ONCE];
    double affine[PAGES_AT_ONCE];
} summing;
_Static_assert(sizeof(rp_totals) % sizeof(double) == 0, "totals are added number by number");

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

static void sum_page(void *context, int64_t index, int thread)
{
    (void)thread;
    summing *s = context;
    const rp_page *page = &rp_set_page(s->species->set)[s->first + (rp_local)index];
    lanes l;
    memset(&l, 0, sizeof l);
    s->page[index] = (rp_totals){0};
    for (rp_local first = 0; first < page->count; first += RP_LANES) {
        l.count = page->count - first < RP_LANES ? page->count - first : RP_LANES;
        take_tile(s, page, page->first + first, &l);
        add_lanes(s, &l, &s->page[index]);
    }
}

static void sum_affine(void *context, int64_t index, int thread)
{
    (void)thread;
    summing *s = context;
    const double h = s->world->def.dx,
                 inertia = s->world->def.order == 3 ? h * h / 3.0 : h * h / 4.0;
    const rp_set *set = s->species->set;
    const rp_page *page = &rp_set_page(set)[s->first + (rp_local)index];
    s->affine[index] = 0.0;
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        const uint16_t group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0);
        double square = 0.0, mass = 0.0, volume;
        if (group == RP_GROUP_DEAD) {
            continue;
        }
        for (int c = 0; c < set->column[RP_COL_AFFINE].comps; c++) {
            const double value_ = rp_set_value(set, RP_COL_AFFINE, slot, c, page);
            square += value_ * value_;
        }
        rp_set_measure(set, page, slot, &mass, &volume);
        s->affine[index] += 0.5 * mass * inertia * square;
    }
}

static rp_result sum_set(summing *s, void (*body)(void *, int64_t, int), const double *of_page,
                         int numbers, double *out)
{
    const rp_world *world = s->world;
    const rp_set *set = s->species->set;
    rp_sum sum = {
        .comm = world->comm, .allocator = &world->allocator, .numbers = numbers, .context = out};
    for (s->first = 0; s->first < set->pages; s->first += PAGES_AT_ONCE) {
        const rp_local left = set->pages - s->first,
                       pages = left < PAGES_AT_ONCE ? left : PAGES_AT_ONCE;
        rp_parallel_for(world->threads, pages, 1, body, s);
        for (rp_local p = 0; p < pages; p++) {
            const rp_page *page = &rp_set_page(set)[s->first + p];
            rp_sum_put(&sum, page->key, page->field, 0, of_page + p * numbers);
        }
    }
    return rp_sum_end(&sum);
}

static void sum_inbox(const summing *s, rp_totals *out)
{
    rp_totals births = {0};
    lanes l;
    memset(&l, 0, sizeof l);
    l.count = 1;
    for (rp_local i = 0; i < s->species->set->inbox.count; i++) {
        take_birth(s, i, &l);
        add_lanes(s, &l, &births);
    }
    for (size_t i = 0; i < sizeof births / sizeof(double); i++) {
        ((double *)out)[i] += ((const double *)&births)[i];
    }
}

double rp_world_affine(const rp_world *world)
{
    double sum = 0.0;
    for (int k = 0; k < world->species_count && world->def.order > 1; k++) {
        summing s = {.world = world, .species = &world->species[k]};
        if (rp_set_has(s.species->set, RP_COL_AFFINE) &&
            sum_set(&s, sum_affine, s.affine, 1, &sum) != RP_OK) {
            return NAN;
        }
    }
    return sum;
}

void rp_world_totals(const rp_world *world, rp_totals *out)
{
    enum { NUMBERS = sizeof(rp_totals) / sizeof(double) };
    double *numbers = (double *)out;
    *out = (rp_totals){0};
    for (int k = 0; k < world->species_count; k++) {
        summing s = {.world = world,
                     .species = &world->species[k],
                     .laws = rp_laws_find(world->def.dimension, 64, RP_ISA_PLAIN)};
        if (sum_set(&s, sum_page, (const double *)s.page, NUMBERS, numbers) != RP_OK) {
            for (int i = 0; i < NUMBERS; i++) {
                numbers[i] = NAN;
            }
            return;
        }
        sum_inbox(&s, out);
    }
    for (int a = 0; a < 3 && out->mass > 0.0; a++) {
        out->center[a] /= out->mass;
    }
    // where moduli mean nothing, strain only keeps stress, and nothing is stored
    if (world->solver->info.regard[RP_FEATURE_STIFFNESS] == RP_MEANINGLESS &&
        isfinite(out->elastic)) {
        out->elastic = 0.0;
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

// One particle after the other; of all ranks, where there are several.
typedef struct guilty_list {
    const rp_world *world;
    uint64_t *ids;
    int64_t capacity, count;
} guilty_list;

static void add_guilty(guilty_list *list, uint64_t id)
{
    if (list->count < list->capacity) {
        list->ids[list->count] = id;
    }
    list->count++;
}

// Its id, if it is to blame.
static uint64_t guilty_id(const rp_world *world, const particle *p)
{
    const uint64_t id = p->page != NULL ? *(uint64_t *)rp_set_at(p->set, RP_COL_ID, p->slot, 0)
                                        : *(uint64_t *)rp_set_birth(p->set, RP_COL_ID, p->slot, 0);
    const bool blamed = world->failed && id == world->failure.particle;
    return is_guilty(p, world) || blamed ? id : RP_NO_PARTICLE;
}

// Each rank asks for its own, and then all are told.
static rp_result list_guilty(guilty_list *list)
{
    const rp_world *world = list->world;
    const bool alone = rp_comm_alone(world->comm);
    rp_buffer own = {0};
    size_t count = 0;
    rp_result result = RP_OK;
    FOR_PARTICLES(p, world)
    {
        const uint64_t id = guilty_id(world, &p);
        if (id == RP_NO_PARTICLE) {
            continue;
        }
        if (alone || p.page == NULL) {
            add_guilty(list, id);
            continue;
        }
        if (result == RP_OK && own.bytes < (count + 1) * sizeof id) {
            result = rp_buffer_reserve(&own, &world->allocator, 2 * (count + 16) * sizeof id,
                                       count * sizeof id, "guilty particles");
        }
        if (result == RP_OK) {
            ((uint64_t *)own.data)[count++] = id;
        }
    }
    if (alone) {
        return RP_OK;
    }
    rp_bytes in[RP_RANK_LIMIT];
    result = rp_agree(world->comm, result, NULL, 0);
    result =
        result == RP_OK ? rp_tell_all(world->comm, own.data, count * sizeof(uint64_t), in) : result;
    rp_buffer_free(&own, &world->allocator);
    for (int k = 0; k < world->comm->size && result == RP_OK; k++) {
        for (size_t i = 0; i < in[k].bytes / sizeof(uint64_t); i++) {
            add_guilty(list, ((const uint64_t *)in[k].data)[i]);
        }
    }
    return result;
}

int64_t rp_world_guilty(const rp_world *world, uint64_t *ids, int64_t capacity)
{
    guilty_list list = {.world = world, .ids = ids, .capacity = capacity};
    if (list_guilty(&list) != RP_OK) {
        return -1;
    }
    const int64_t kept = list.count < capacity ? list.count : capacity;
    if (kept > 0) {
        qsort(ids, (size_t)kept, sizeof *ids, rp_compare_ids);
    }
    return list.count;
}
