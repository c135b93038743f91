#include "sim/probes.h"

#include "base/number.h"
#include "base/result.h"
#include "base/threads.h"
#include "io/mixture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- describing ----

rp_probe_def rp_default_probe_def(void) { return (rp_probe_def){.cookie = RP_DEF_COOKIE}; }

static rp_result check_name(const rp_world *world, const char *name)
{
    const size_t length = strlen(name);
    const size_t plain =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (length == 0 || length >= RP_PROBE_NAME || plain != length) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "probe.name: want 1 to %d letters, digits and _, got '%.60s'",
                       RP_PROBE_NAME - 1, name);
    }
    for (int i = 0; i < world->probes; i++) {
        if (strcmp(world->probe[i].name, name) == 0) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "probe.name: want one that no other probe has, got '%s'", name);
        }
    }
    return RP_OK;
}

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static rp_result check_probe(const rp_probe_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "probe: start from rp_default_probe_def()");
    }
    if ((int)def->kind < RP_PROBE_POINT || (int)def->kind > RP_PROBE_PARTICLE) {
        return rp_fail(RP_ERR_ARGUMENT, "probe.kind: want one of rp_probe_kind, got %d",
                       (int)def->kind);
    }
    if (!isfinite(length_of(def->point))) {
        return rp_fail(RP_ERR_ARGUMENT, "probe.point: want finite numbers, got (%g, %g, %g)",
                       def->point[0], def->point[1], def->point[2]);
    }
    const double normal = length_of(def->normal);
    if (def->kind == RP_PROBE_PLANE && !(normal > 0.0 && normal < INFINITY)) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "probe.normal: want a vector that is not 0, got (%g, %g, %g)",
                       def->normal[0], def->normal[1], def->normal[2]);
    }
    if (!(def->radius >= 0.0 && def->radius < INFINITY)) {
        return rp_fail(RP_ERR_ARGUMENT, "probe.radius: want >= 0 m, got %g", def->radius);
    }
    if (!(def->every >= 0.0 && def->every < INFINITY)) {
        return rp_fail(RP_ERR_ARGUMENT, "probe.every: want >= 0 s, got %g", def->every);
    }
    return RP_OK;
}

rp_result rp_world_add_probe(rp_world *world, const rp_probe_def *def)
{
    rp_probe probe = {.def = *def};
    for (int a = world->def.dimension; a < 3; a++) {
        probe.def.point[a] = probe.def.normal[a] = 0.0;
    }
    RP_TRY(check_probe(&probe.def));
    if (!rp_comm_alone(world->comm)) {
        return rp_fail(RP_ERR_UNSUPPORTED, "probe: several ranks cannot have probes yet");
    }
    if (world->probes == RP_PROBE_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world may have at most %d probes", RP_PROBE_LIMIT);
    }
    char number[16];
    snprintf(number, sizeof number, "%d", world->probes);
    const char *name = def->name != NULL ? def->name : number;
    RP_TRY(check_name(world, name));
    snprintf(probe.name, sizeof probe.name, "%s", name);
    const double normal = length_of(probe.def.normal);
    for (int a = 0; a < 3 && def->kind == RP_PROBE_PLANE; a++) {
        probe.def.normal[a] /= normal;
    }
    if (def->kind == RP_PROBE_POINT && def->radius == 0.0) {
        probe.def.radius = 2.0 * world->def.dx;
    }
    if (world->probes == 0) {
        rp_registry_add_table(&world->registry, "probes/passed", world->passed, 1);
    }
    rp_probe *own = &world->probe[world->probes++];
    *own = probe;
    own->def.name = own->name;
    rp_registry_set_rows(&world->registry, "probes/passed", world->probes);
    return RP_OK;
}

int rp_world_probes(const rp_world *world) { return world->probes; }

void rp_world_probe(const rp_world *world, int index, rp_probe_def *out)
{
    RP_ASSERT(index >= 0 && index < world->probes);
    *out = world->probe[index].def;
}

// ---- where particles are ----

// May a particle of the page be within `reach` of the probe: of its point along every axis, or
// across its plane? Then a place plus `shift` is the way to it from the probe's point, the short
// one where space repeats.
static bool may_reach(const rp_set *set, const rp_page *page, const rp_probe *probe, double reach,
                      double shift[3])
{
    const rp_layout *l = &set->layout;
    double across = 0.0, room = reach;
    bool near = true;
    shift[2] = 0.0;
    for (int a = 0; a < l->dim; a++) {
        // particles have left the block by no more than the set has travelled
        const double half = l->h * (0.5 * l->cells[a] + set->travel + 1e-3);
        const double middle = l->h * ((page->block[a] + 0.5) * l->cells[a] + l->shift);
        const double period = l->h * l->period[a] * l->cells[a];
        double way = middle - probe->def.point[a];
        way -= period > 0.0 ? period * nearbyint(way / period) : 0.0;
        shift[a] = way - middle;
        near = near && fabs(way) <= half + reach;
        across += way * probe->def.normal[a];
        room += half * fabs(probe->def.normal[a]);
    }
    return probe->def.kind == RP_PROBE_PLANE ? fabs(across) <= room : near;
}

static double coordinate(const rp_set *set, const rp_page *page, rp_local slot, int axis)
{
    return rp_layout_metres(&set->layout, page->block, axis,
                            rp_set_at(set, RP_COL_POSITION, slot, axis));
}

// A column of reals.
static double real_of(const rp_set *set, rp_column_id column, rp_local slot, int comp)
{
    const void *at = rp_set_at(set, column, slot, comp);
    return set->layout.precision == RP_SINGLE ? (double)*(const float *)at : *(const double *)at;
}

static bool is_alive(const rp_set *set, rp_local slot)
{
    return *(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0) != RP_GROUP_DEAD;
}

// The quadratic spline, which reaches 1.5 to either side, and the area below it up to q: 1 in all.
static const double SPLINE_REACH = 1.5;
static double spline(double q)
{
    q = fabs(q);
    return q < 0.5 ? 0.75 - q * q : q < 1.5 ? 0.5 * (1.5 - q) * (1.5 - q) : 0.0;
}
static double area(double q)
{
    const double rest = 1.5 - fabs(q), tail = rest * rest * rest / 6.0;
    return rest <= 0.0      ? (q > 0.0 ? 1.0 : 0.0)
           : fabs(q) >= 0.5 ? (q > 0.0 ? 1.0 - tail : tail)
                            : 0.5 + 0.75 * q - q * q * q / 3.0;
}

// ---- planes ----

// Sums are made over a fixed number of runs of pages and then added up in order: whoever does a
// run, the result is the same.
enum { PARTS = 64 };

typedef struct crossing {
    const rp_set *set;
    const rp_probe *probe;
    double dt;    // of the step that was taken [s]; 0: the rate of this moment
    double reach; // [m]
    double part[PARTS];
} crossing;

// A particle is spread over a spline one cell wide, and what of it has gone through the plane in a
// step is an area below the spline. It came straight to where it is, by its velocity: areas of
// successive steps add up to 1.
static double sum_page(const crossing *c, const rp_page *page, const double shift[3])
{
    const rp_set *set = c->set;
    const rp_probe_def *p = &c->probe->def;
    const int dim = set->layout.dim;
    const double h = set->layout.h;
    double sum = 0.0;
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        double across = 0.0, square = 0.0, speed = 0.0, mass, volume;
        for (int a = 0; a < dim; a++) {
            across += p->normal[a] != 0.0
                          ? (coordinate(set, page, slot, a) + shift[a]) * p->normal[a]
                          : 0.0;
        }
        if (!(fabs(across) <= c->reach) || !is_alive(set, slot)) { // most of them
            continue;
        }
        for (int a = 0; a < dim; a++) {
            const double way = coordinate(set, page, slot, a) + shift[a];
            square += way * way;
            speed += real_of(set, RP_COL_VELOCITY, slot, a) * p->normal[a];
        }
        if (p->radius > 0.0 && square - across * across > p->radius * p->radius) {
            continue;
        }
        rp_set_measure(set, page, slot, &mass, &volume);
        sum += mass * (c->dt > 0.0 ? area(across / h) - area((across - c->dt * speed) / h)
                                   : speed * spline(across / h) / h);
    }
    return sum;
}

static void sum_pages(void *context, int64_t part, int thread)
{
    (void)thread;
    crossing *c = context;
    const int64_t pages = c->set->pages;
    for (int64_t i = part * pages / PARTS; i < (part + 1) * pages / PARTS; i++) {
        const rp_page *page = &rp_set_page(c->set)[i];
        double shift[3];
        if (may_reach(c->set, page, c->probe, c->reach, shift)) {
            c->part[part] += sum_page(c, page, shift);
        }
    }
}

// Mass that went through a plane in the last step [kg], or goes through it now [kg/s].
static double crossed(const rp_world *world, const rp_probe *probe, double dt)
{
    double sum = 0.0;
    for (int s = 0; s < world->species_count; s++) {
        crossing c = {.set = &world->set[s],
                      .probe = probe,
                      .dt = dt,
                      .reach = SPLINE_REACH * world->def.dx + dt * world->stats.max_speed};
        if (rp_set_has(c.set, RP_COL_VELOCITY)) { // what has none has no mass
            rp_parallel_for(world->threads, PARTS, 1, sum_pages, &c);
        }
        for (int i = 0; i < PARTS; i++) {
            sum += c.part[i];
        }
    }
    return sum;
}

void rp_probes_step(rp_world *world, double dt)
{
    for (int i = 0; i < world->probes; i++) {
        if (world->probe[i].def.kind == RP_PROBE_PLANE) {
            world->passed[i] += crossed(world, &world->probe[i], dt);
        }
    }
}

// ---- points and particles ----

// Particles that a probe looks at, of one species.
typedef struct found {
    const rp_set *set;
    const rp_page *page;
    rp_local slot;
    double weight;
} found;

typedef struct looking {
    found *list;
    size_t count, room;
} looking;

static rp_result add_found(looking *l, found one)
{
    if (l->count == l->room) {
        const size_t room = 2 * l->room + 256;
        found *list = realloc(l->list, room * sizeof *list);
        if (list == NULL) {
            return rp_fail(RP_ERR_MEMORY, "out of memory: what a probe looks at");
        }
        l->list = list;
        l->room = room;
    }
    l->list[l->count++] = one;
    return RP_OK;
}

static rp_result look_around(const rp_set *set, const rp_probe *probe, looking *out)
{
    const double radius = probe->def.radius, unit = radius / SPLINE_REACH;
    for (rp_local i = 0; i < set->pages; i++) {
        const rp_page *page = &rp_set_page(set)[i];
        double shift[3];
        const bool near = may_reach(set, page, probe, radius, shift);
        for (rp_local slot = page->first; near && slot < page->first + page->count; slot++) {
            double weight = 1.0;
            for (int a = 0; a < set->layout.dim && weight > 0.0; a++) {
                weight *= spline((coordinate(set, page, slot, a) + shift[a]) / unit) / unit;
            }
            if (weight > 0.0 && is_alive(set, slot)) {
                RP_TRY(add_found(out, (found){set, page, slot, weight}));
            }
        }
    }
    return RP_OK;
}

static rp_result look_for(const rp_set *set, uint64_t id, looking *out)
{
    for (rp_local i = 0; i < set->pages && out->count == 0; i++) {
        const rp_page *page = &rp_set_page(set)[i];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            if (*(uint64_t *)rp_set_at(set, RP_COL_ID, slot, 0) == id && is_alive(set, slot)) {
                return add_found(out, (found){set, page, slot, 1.0});
            }
        }
    }
    return RP_OK;
}

// Sums over what was found: by mass, and by volume for stress.
typedef struct sums {
    double mass, volume, momentum[3], position[3], stress[6];
} sums;

enum { ASKED = 256 }; // particles of which laws are asked at once

// Columns of a few particles of one species, as laws want them.
typedef struct columns {
    double value[RP_COL_COUNT][9 * ASKED];
    rp_material_state state;
    uint16_t material[ASKED];
} columns;

static void take_columns(const rp_mixture *m, const found *f, int64_t count, columns *out)
{
    const rp_set *set = f->set;
    const unsigned needs = rp_mixture_needs(m);
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const bool has = (needs >> c & 1) != 0 && rp_set_has(set, c);
        const int comps = has ? set->column[c].comps : 0;
        out->state.column[c] = has ? out->value[c] : NULL;
        for (int64_t i = 0; i < count * comps; i++) {
            out->value[c][i] = real_of(set, c, f[i / comps].slot, (int)(i % comps));
        }
    }
    for (int64_t i = 0; i < count; i++) {
        const uint16_t group = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, f[i].slot, 0);
        out->material[i] = (uint16_t)rp_set_group(set)[group].material;
    }
}

static rp_result add_up(const rp_mixture *m, const found *f, int64_t count, columns *c, sums *out)
{
    double stress[ASKED][6], log_ratio[ASKED];
    take_columns(m, f, count, c);
    RP_TRY(rp_mixture_ask(m, c->material, &c->state, count, stress, log_ratio));
    for (int64_t i = 0; i < count; i++) {
        double mass, rest;
        rp_set_measure(f->set, f[i].page, f[i].slot, &mass, &rest);
        const double volume = mass > 0.0 ? rest * exp(log_ratio[i]) : 0.0;
        out->mass += f[i].weight * mass;
        out->volume += f[i].weight * volume;
        for (int a = 0; a < f->set->layout.dim; a++) {
            const double v = rp_set_has(f->set, RP_COL_VELOCITY)
                                 ? real_of(f->set, RP_COL_VELOCITY, f[i].slot, a)
                                 : 0.0;
            out->momentum[a] += f[i].weight * mass * v;
            out->position[a] = coordinate(f->set, f[i].page, f[i].slot, a);
        }
        for (int k = 0; k < 6; k++) {
            out->stress[k] += f[i].weight * volume * stress[i][k];
        }
    }
    return RP_OK;
}

static rp_result sum_found(const rp_mixture *m, const looking *l, sums *out)
{
    columns *c = malloc(sizeof *c);
    rp_result result =
        c != NULL ? RP_OK : rp_fail(RP_ERR_MEMORY, "out of memory: what a probe looks at");
    for (size_t i = 0, count; i < l->count && result == RP_OK; i += count) {
        for (count = 1; count < ASKED && i + count < l->count; count++) {
            if (l->list[i + count].set != l->list[i].set) {
                break;
            }
        }
        result = add_up(m, &l->list[i], (int64_t)count, c, out);
    }
    free(c);
    return result;
}

static rp_result look(const rp_world *world, const rp_probe *probe, sums *out, bool *any)
{
    const bool point = probe->def.kind == RP_PROBE_POINT;
    looking l = {0};
    rp_mixture mixture = {0};
    rp_result result = RP_OK;
    *out = (sums){0};
    for (int s = 0; s < world->species_count && result == RP_OK; s++) {
        result = point ? look_around(&world->set[s], probe, &l)
                       : look_for(&world->set[s], probe->def.particle, &l);
    }
    if (result == RP_OK && l.count > 0) {
        result = rp_mixture_open(&mixture, world->material, world->materials, world->def.dimension,
                                 ASKED);
        result = result == RP_OK ? sum_found(&mixture, &l, out) : result;
    }
    *any = l.count > 0;
    rp_mixture_close(&mixture);
    free(l.list);
    return result;
}

rp_result rp_world_read_probe(const rp_world *world, int index, rp_probe_reading *out)
{
    RP_ASSERT(index >= 0 && index < world->probes);
    const rp_probe *probe = &world->probe[index];
    const bool point = probe->def.kind == RP_PROBE_POINT;
    double *const all = (double *)out;
    for (size_t i = 0; i < sizeof *out / sizeof *all; i++) {
        all[i] = NAN;
    }
    if (probe->def.kind != RP_PROBE_PARTICLE) {
        memcpy(out->position, probe->def.point, sizeof out->position);
    }
    if (probe->def.kind == RP_PROBE_PLANE) {
        out->flux = crossed(world, probe, 0.0);
        out->passed = world->passed[index];
        return RP_OK;
    }
    sums s;
    bool any;
    RP_TRY(look(world, probe, &s, &any));
    if (any && !point) {
        memcpy(out->position, s.position, sizeof out->position);
    }
    if (point) {
        out->density = s.mass; // weights are per volume
    } else if (s.volume > 0.0) {
        out->density = s.mass / s.volume;
    }
    for (int a = 0; a < 3 && s.mass > 0.0; a++) {
        out->velocity[a] = s.momentum[a] / s.mass;
    }
    for (int k = 0; k < 6 && s.volume > 0.0; k++) {
        out->stress[k] = s.stress[k] / s.volume;
    }
    out->pressure = rp_pressure_of(out->stress, world->def.dimension);
    return RP_OK;
}

// ---- probes.csv ----

const char rp_probes_header[] = "step,time_s,probe,x_m,y_m,z_m,vx_m_s,vy_m_s,vz_m_s,density_kg_m3,"
                                "xx_Pa,yy_Pa,zz_Pa,xy_Pa,xz_Pa,"
                                "yz_Pa,pressure_Pa,flux_kg_s,passed_kg\n";

// Of a table with a number of each probe; what is not known stays empty.
enum { LINE_MOST = 32 * (RP_NUMBER_TEXT + 1) };
_Static_assert(sizeof(rp_probe_reading) / sizeof(double) + 4 < 32, "a line has room");

static rp_result reserve(rp_probe_lines *lines)
{
    if (lines->room - lines->used < LINE_MOST) {
        const size_t room = 2 * lines->room + 4 * LINE_MOST;
        char *text = realloc(lines->text, room);
        if (text == NULL) {
            return rp_fail(RP_ERR_MEMORY, "out of memory: lines of probes.csv");
        }
        lines->text = text;
        lines->room = room;
    }
    return RP_OK;
}

static rp_result put_line(const rp_world *world, int index, rp_probe_lines *lines)
{
    rp_probe_reading reading;
    char number[RP_NUMBER_TEXT];
    RP_TRY(rp_world_read_probe(world, index, &reading));
    RP_TRY(reserve(lines));
    const double *value = (const double *)&reading;
    char *at = lines->text + lines->used;
    at += sprintf(at, "%" PRId64 ",%s,", world->time.step,
                  rp_print_number(rp_world_time(world), number));
    at += sprintf(at, "%s", world->probe[index].name);
    for (size_t i = 0; i < sizeof reading / sizeof *value; i++) {
        at += sprintf(at, ",%s", isnan(value[i]) ? "" : rp_print_number(value[i], number));
    }
    *at++ = '\n';
    *at = '\0';
    lines->used = (size_t)(at - lines->text);
    return RP_OK;
}

// Has a multiple of `every` come about? A frame that ends on one must not miss it by round-off.
static bool is_due(double every, double before, double now)
{
    return every == 0.0 || floor(now / every + 1e-9) > floor(before / every + 1e-9);
}

rp_result rp_probes_read(const rp_world *world, double before, rp_probe_lines *lines)
{
    for (int i = 0; i < world->probes; i++) {
        if (before == -INFINITY ||
            is_due(world->probe[i].def.every, before, rp_world_time(world))) {
            RP_TRY(put_line(world, i, lines));
        }
    }
    return RP_OK;
}
