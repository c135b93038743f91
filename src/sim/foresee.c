// What will go wrong in a world that is only planned, told before the run: solids that the grid
// cannot see, passages that sand cannot take, sand that has nothing to land on.
#include "base/hash.h"
#include "base/result.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double THIN = 4.0; // [cells]: what is less is told, where a solver says nothing else
static const double NARROW = 2.0;
static const double HOLDS = 1.0;       // [cells]: what is thinner may let sand through
static const double WIDE = 8.0;        // [cells]: how far one looks for the other side
static const double TOUCH = 0.3;       // [cells]: what is nearer is a contact, no passage
static const double OPPOSED = -0.87;   // cosine between the faces of a wall: less than 30 degrees
static const double THIN_SHARE = 0.1;  // of a surface; every cone has a thin tip
static const double LEAK_SHARE = 0.02; // the same for what lets sand through

typedef struct region {
    double lower[3], upper[3];
} region;

static const region nowhere = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void include(region *r, const double x[3], double margin)
{
    for (int a = 0; a < 3; a++) {
        r->lower[a] = fmin(r->lower[a], x[a] - margin);
        r->upper[a] = fmax(r->upper[a], x[a] + margin);
    }
}

// All that foreseeing looks at.
typedef struct view {
    const rp_world *world;
    double h;
    double parted; // [cells]: a solid that thick parts sand on both sides
    int dim;
    region all;     // particles, and colliders that have an end
    uint64_t draws; // random numbers so far
    // colliders that can be met from where one looks; others are not asked again and again
    int near[RP_COLLIDER_LIMIT], nears;
} view;

static double draw(view *v) { return rp_unit(rp_hash(0, ++v->draws, RP_FOR_SAMPLES, 0)); }

static double distance(const view *v, int collider, const double x[3])
{
    return rp_collider_distance(&v->world->collider[collider], x);
}

// Distances are never more than the truth, so what is farther away than `reach` is not within it.
static void look_around(view *v, const double x[3], double reach)
{
    v->nears = 0;
    for (int i = 0; i < v->world->colliders; i++) {
        if (distance(v, i, x) < reach) {
            v->near[v->nears++] = i;
        }
    }
}

// To the nearest solid of those around, and which it is.
static double solid(const view *v, const double x[3], int *which)
{
    double least = INFINITY;
    for (int i = 0; i < v->nears; i++) {
        const double d = distance(v, v->near[i], x);
        if (d < least) {
            least = d;
            *which = v->near[i];
        }
    }
    return least;
}

// ---- surfaces ----

// A point of a collider's surface, and the way out of it there.
typedef struct spot {
    double x[3], out[3];
} spot;

static void go(const spot *s, double way, double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = s->x[a] + way * s->out[a];
    }
}

// Go to the surface from s->x. @return false when it is not found, or something covers it
static bool find_surface(view *v, int collider, spot *s)
{
    for (int turn = 0; turn < 32; turn++) {
        const double d = rp_collider_look(&v->world->collider[collider], s->x, s->out);
        if (fabs(d) < 0.01 * v->h) {
            double above[3];
            int which;
            look_around(v, s->x, (WIDE + 1.0) * v->h);
            go(s, 0.1 * v->h, above);
            return solid(v, above, &which) > 0.0;
        }
        for (int a = 0; a < v->dim; a++) {
            s->x[a] -= d * s->out[a];
        }
    }
    return false;
}

// How far one comes from a surface, into it or out of it, until solid ends or begins again; `most`
// when it does not.
static double free_way(const view *v, const spot *s, double sign, double most, int *hit)
{
    const double step = 0.125 * v->h;
    for (double way = step; way < most; way += step) {
        double x[3];
        go(s, sign * way, x);
        if (sign * solid(v, x, hit) < 0.0) {
            return way;
        }
    }
    return most;
}

// The same, and not only to an eighth of a cell.
static double way_to(const view *v, const spot *s, double sign, double most, int *hit)
{
    double high = free_way(v, s, sign, most, hit), low = high - 0.125 * v->h;
    for (int i = 0; i < 8 && high < most; i++) {
        const double middle = 0.5 * (low + high);
        double x[3];
        go(s, sign * middle, x);
        *(sign * solid(v, x, hit) < 0.0 ? &high : &low) = middle;
    }
    return high;
}

// Infinite where the faces are no two sides of a wall: within a few cells of any edge the solid
// ends soon, and nothing falls through it.
static double thickness(const view *v, const spot *s)
{
    int hit;
    const double high = way_to(v, s, -1.0, v->parted * v->h, &hit);
    double end[3], out[3], along = 0.0;
    go(s, -high, end);
    if (high < v->parted * v->h && solid(v, end, &hit) < INFINITY) {
        rp_collider_look(&v->world->collider[hit], end, out);
        for (int a = 0; a < v->dim; a++) {
            along += out[a] * s->out[a];
        }
        return along < OPPOSED ? high : INFINITY;
    }
    return high;
}

static double gap(const view *v, const spot *s, double most, int *other)
{
    return way_to(v, s, 1.0, most, other);
}

static bool draw_spot(view *v, int collider, const region *r, spot *s)
{
    for (int a = 0; a < 3; a++) {
        s->x[a] = a < v->dim ? r->lower[a] + (r->upper[a] - r->lower[a]) * draw(v) : 0.0;
    }
    return find_surface(v, collider, s);
}

// ---- colliders ----

typedef struct passage {
    spot spot;
    double width;
    int other;
} passage;

// The narrowest place near a passage: random steps along the surface, ever smaller ones.
static void narrow(view *v, int collider, passage *p)
{
    for (double reach = 4.0 * v->h; reach > 0.05 * v->h; reach *= 0.7) {
        for (int i = 0; i < 8; i++) {
            passage next = {.spot = p->spot};
            for (int a = 0; a < v->dim; a++) {
                next.spot.x[a] += reach * (2.0 * draw(v) - 1.0);
            }
            if (find_surface(v, collider, &next.spot)) {
                next.width = gap(v, &next.spot, p->width + 0.125 * v->h, &next.other);
                *p = next.width < p->width ? next : *p;
            }
        }
    }
}

static void tell_gap(const view *v, int collider, const passage *p)
{
    const rp_collider *c = v->world->collider;
    char who[2 * RP_NAME_SIZE + 48];
    snprintf(who, sizeof who, "collider '%s'%s%s%s", c[collider].name,
             p->other != collider ? " and collider '" : "",
             p->other != collider ? c[p->other].name : "", p->other != collider ? "'" : "");
    rp_log(RP_LOG_WARNING,
           "%s leave%s a gap of about %.2g m at (%.3g, %.3g, %.3g), which is less than 2 dx: "
           "sand will hardly flow through it",
           who, p->other != collider ? "" : "s", p->width, p->spot.x[0], p->spot.x[1],
           p->spot.x[2]);
}

static bool is_free(const rp_world *world, int collider)
{
    for (int i = 0; i < world->rigids; i++) {
        if (world->rigid[i].collider == collider) {
            return true;
        }
    }
    return false;
}

// The narrowest passages from many places, looked at more closely; one is told per collider. Free
// bodies start beside each other, and are elsewhere soon.
static void look_at_gaps(view *v, int collider, passage *found, int count)
{
    passage worst = {.width = NARROW * v->h};
    for (int i = 0; i < count; i++) {
        // between round things one comes nearer and nearer, and at last to where they touch
        for (double before = INFINITY;
             found[i].width < 0.9 * before && found[i].width >= TOUCH * v->h;) {
            before = found[i].width;
            narrow(v, collider, &found[i]);
        }
        // of two colliders, the first one tells
        if (found[i].width >= TOUCH * v->h && found[i].width < worst.width &&
            found[i].other >= collider && !is_free(v->world, found[i].other)) {
            worst = found[i];
        }
    }
    if (worst.width < NARROW * v->h) {
        tell_gap(v, collider, &worst);
    }
}

// A place where a collider is thin.
typedef struct slice {
    double deep;
    spot spot;
} slice;

static int compare_slices(const void *pa, const void *pb)
{
    const slice *a = pa, *b = pb;
    return (a->deep > b->deep) - (a->deep < b->deep);
}

// Of those that are thinner than `most`, one in ten is thinner than this one: what distances are
// off by at seams and edges is not told.
static slice typical(slice *all, int count, double most)
{
    int below = 0;
    qsort(all, (size_t)count, sizeof *all, compare_slices);
    while (below < count && all[below].deep < most) {
        below++;
    }
    return all[below / 10];
}

// Of passages next to each other the narrowest, of many the narrowest ones.
static void keep_narrowest(const view *v, passage *kept, int *count, int most, const passage *p)
{
    int widest = 0;
    for (int i = 0; i < *count; i++) {
        const double *x = kept[i].spot.x, *y = p->spot.x;
        if (hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]) < 4.0 * v->h) {
            kept[i] = p->width < kept[i].width ? *p : kept[i];
            return;
        }
        widest = kept[i].width > kept[widest].width ? i : widest;
    }
    if (*count < most) {
        kept[(*count)++] = *p;
    } else if (p->width < kept[widest].width) {
        kept[widest] = *p;
    }
}

static void look_at_collider(view *v, int collider, int samples)
{
    enum { KEPT = 64, SLICES = 512 };
    const rp_collider *c = &v->world->collider[collider];
    region r = nowhere;
    double box[2][3];
    if (rp_collider_bounds(c, v->dim, box[0], box[1])) {
        include(&r, box[0], 2.0 * v->h);
        include(&r, box[1], 2.0 * v->h);
    } else {
        r = v->all;
    }
    passage kept[KEPT];
    slice slices[SLICES];
    int count = 0, spots = 0, thin = 0, leaky = 0, sliced = 0;
    // particles without nodes do not feel what is a support away
    const double apart = (v->world->needs.grid ? v->parted : HOLDS) * v->h;
    for (int i = 0; i < samples; i++) {
        passage p;
        if (!draw_spot(v, collider, &r, &p.spot)) {
            continue;
        }
        const double deep = thickness(v, &p.spot);
        spots++;
        thin += deep < apart;
        leaky += deep < 0.98 * HOLDS * v->h; // less what places and fields of distances are off by
        // of many any will do, as they come at random; the thinnest matter
        if (deep < apart && sliced < SLICES) {
            slices[sliced++] = (slice){deep, p.spot};
        }
        p.width = gap(v, &p.spot, WIDE * v->h, &p.other);
        if (p.width < WIDE * v->h) {
            keep_narrowest(v, kept, &count, KEPT, &p);
        }
    }
    const bool leaks = leaky > LEAK_SHARE * spots;
    if (leaks || (thin > THIN_SHARE * spots && v->world->needs.grid)) {
        const slice s = typical(slices, sliced, (leaks ? HOLDS : v->parted) * v->h);
        char where[96];
        snprintf(where, sizeof where, "about %.2g m at (%.3g, %.3g, %.3g)", s.deep, s.spot.x[0],
                 s.spot.x[1], s.spot.x[2]);
        if (leaks) {
            rp_log(
                RP_LOG_WARNING,
                "collider '%s' is thinner than dx over %.0f %% of its surface, %s: sand may fall "
                "through it; want at least %.3g m, or dx = %.2g",
                c->name, 100.0 * leaky / spots, where, HOLDS * v->h, s.deep / HOLDS);
        } else {
            rp_log(RP_LOG_WARNING,
                   "collider '%s' is thinner than %.2g dx over %.0f %% of its surface, %s: sand on "
                   "one "
                   "side will feel sand on the other; dx = %.2g would part them",
                   c->name, v->parted, 100.0 * thin / spots, where, s.deep / v->parted);
        }
    }
    look_at_gaps(v, collider, kept, is_free(v->world, collider) ? 0 : count);
}

// ---- particles ----

static bool is_in_sink(const rp_world *world, const double x[3])
{
    for (int i = 0; i < world->sinks; i++) {
        if (rp_shape_distance(world->sink[i], x, NULL) <= 0.0) {
            return true;
        }
    }
    return false;
}

// To the next collider or sink.
static double to_anything(const view *v, const double x[3])
{
    double least = INFINITY;
    for (int i = 0; i < v->world->colliders; i++) {
        least = fmin(least, distance(v, i, x));
    }
    for (int i = 0; i < v->world->sinks; i++) {
        least = fmin(least, rp_shape_distance(v->world->sink[i], x, NULL));
    }
    return least;
}

// Does what falls from here land somewhere? When that is hard to tell, it does.
static bool lands(const view *v, const double x[3], const double down[3])
{
    const double far = 1e6 * v->h;
    double way = 0.0;
    for (int turn = 0; turn < 1000 && way < far; turn++) {
        double at[3];
        for (int a = 0; a < 3; a++) {
            at[a] = x[a] + way * down[a];
        }
        const double d = to_anything(v, at);
        if (d <= 0.0) {
            return true;
        }
        way += fmax(d, 0.25 * v->h);
    }
    return way < far;
}

static bool is_outside(const rp_domain *domain, const double x[3], int dim)
{
    for (int a = 0; a < dim && domain->set; a++) {
        if (x[a] < domain->lower[a] || x[a] > domain->upper[a]) {
            return true;
        }
    }
    return false;
}

// The border of the domain, or space that comes round, ends every fall.
static bool is_bounded_below(const rp_world *world, const double down[3])
{
    for (int a = 0; a < world->def.dimension; a++) {
        const double border = down[a] > 0.0 ? world->domain.upper[a] : world->domain.lower[a];
        const bool closed = world->domain.set && isfinite(border);
        if (fabs(down[a]) > 1e-6 && (closed || world->def.period[a] > 0)) {
            return true;
        }
    }
    return false;
}

// What becomes of sand that starts in a place.
typedef enum fate { FINE, OUTSIDE, SUNK, SOLID, FALLING, FATES } fate;

static fate fate_of(const view *v, const double x[3], const double down[3], bool falls)
{
    if (is_outside(&v->world->domain, x, v->dim)) {
        return OUTSIDE;
    }
    if (is_in_sink(v->world, x)) {
        return SUNK;
    }
    for (int i = 0; i < v->world->colliders; i++) {
        if (distance(v, i, x) < 0.0) {
            return SOLID;
        }
    }
    return falls && !lands(v, x, down) ? FALLING : FINE;
}

// How many share each fate, and one of them.
typedef struct fates {
    double count[FATES], x[FATES][3], all;
} fates;

static void add_fate(fates *f, fate which, const double x[3], double count)
{
    if (f->count[which] == 0.0) {
        memcpy(f->x[which], x, sizeof f->x[which]);
    }
    f->count[which] += count;
    f->all += count;
}

static void tell_fates(const fates *f, const char *who)
{
    static const char *const sentence[FATES] = {
        [OUTSIDE] = "outside of the domain",
        [SUNK] = "inside a sink and will vanish at once",
        [SOLID] = "inside a collider",
        [FALLING] = "above nothing to land on and will fall without end",
    };
    for (int i = 0; i < FATES; i++) {
        if (f->count[i] > 0.0 && sentence[i] != NULL) {
            rp_log(RP_LOG_WARNING, "about %.3g %% of %s, such as at (%.3g, %.3g, %.3g), are %s",
                   100.0 * f->count[i] / f->all, who, f->x[i][0], f->x[i][1], f->x[i][2],
                   sentence[i]);
        }
    }
}

// A particle of each block stands for all of them; an emitter's sites for what it pours.
static rp_result look_at_particles(const view *v)
{
    enum { LOOKS = 2000 };
    const rp_world *world = v->world;
    const rp_plan_block *block = world->plan.buffer.data;
    double down[3];
    RP_TRY(rp_world_gravity(world, down));
    const double g = sqrt(down[0] * down[0] + down[1] * down[1] + down[2] * down[2]);
    for (int a = 0; a < 3; a++) {
        down[a] /= g > 0.0 ? g : 1.0;
    }
    const bool falls = g > 0.0 && !is_bounded_below(world, down);
    fates filled = {0};
    const size_t stride = world->plan.used / LOOKS + 1;
    size_t number = 0;
    for (size_t i = 0; i < world->plan.size; i++) {
        if (block[i].count > 0 && number++ % stride == 0) {
            add_fate(&filled, fate_of(v, block[i].x, down, falls), block[i].x,
                     (double)block[i].count);
        }
    }
    tell_fates(&filled, "the particles at the start");
    for (int i = 0; i < world->emitters; i++) {
        const rp_emitter *e = &world->emitter[i];
        const int32_t step = e->sites / LOOKS + 1;
        fates poured = {0};
        char who[RP_NAME_SIZE + 32];
        for (int32_t k = 0; k < e->sites; k += step) {
            double site[3];
            RP_TRY(rp_emitter_site(world, e, k, e->start, site));
            add_fate(&poured, fate_of(v, site, down, falls), site, 1.0);
        }
        snprintf(who, sizeof who, "what emitter '%s' pours", e->name);
        tell_fates(&poured, who);
    }
    return RP_OK;
}

// Space repeats, colliders do not: one that crosses the border is felt on one side of it only.
static void look_at_borders(const view *v)
{
    for (int i = 0; i < v->world->colliders; i++) {
        const rp_collider *c = &v->world->collider[i];
        double lower[3], upper[3];
        const bool ends = rp_collider_bounds(c, v->dim, lower, upper);
        for (int a = 0; a < v->dim && ends; a++) {
            const double period = v->h * v->world->def.period[a];
            const bool low = lower[a] < 0.0 && upper[a] > 0.0;
            const bool high = lower[a] < period && upper[a] > period;
            if (period > 0.0 && low != high) {
                rp_log(RP_LOG_WARNING,
                       "collider '%s' crosses the border of the periodic domain along %c: what has "
                       "come round does not feel it, so let it cross both borders or none",
                       c->name, "xyz"[a]);
            }
        }
    }
}

// ---- particles among themselves ----

// Shapes that overlap put more into a block than it holds. One shape alone may put in a layer of
// particles more along each axis, where they are in rows; random samples are even to a few per
// cent.
static void look_at_density(const view *v)
{
    static const double UNEVEN = 1.05;
    const rp_layout *l = &v->world->grid.layout;
    const rp_plan_block *block = v->world->plan.buffer.data, *worst = NULL;
    double most = 1.0, room = 1.0;
    for (int a = 0; a < v->dim; a++) {
        room *= v->h * l->cells[a];
    }
    for (size_t i = 0; i < v->world->plan.size; i++) {
        double limit = UNEVEN * room;
        for (int a = 0; a < v->dim && block[i].count > 0; a++) {
            limit *= 1.0 + pow(block[i].coarse, 1.0 / v->dim) / (v->h * l->cells[a]);
        }
        if (block[i].count > 0 && block[i].volume > most * limit) {
            most = block[i].volume / limit;
            worst = &block[i];
        }
    }
    if (worst != NULL) {
        rp_log(
            RP_LOG_WARNING,
            "particles lie in each other: near (%.3g, %.3g, %.3g) there is %.3g times as much as "
            "fits; do shapes overlap?",
            worst->x[0], worst->x[1], worst->x[2], worst->volume / room);
    }
}

// A block among those that lie above each other.
typedef struct storey {
    int32_t at[2]; // of the column
    double mass;
} storey;

static int compare_storeys(const void *pa, const void *pb)
{
    const storey *a = pa, *b = pb;
    const int first = (a->at[0] > b->at[0]) - (a->at[0] < b->at[0]);
    return first != 0 ? first : (a->at[1] > b->at[1]) - (a->at[1] < b->at[1]);
}

// What the heaviest column of blocks along `axis` weighs on its foot [kg/m^(d-1)].
static rp_result heaviest_column(const view *v, int axis, double *out)
{
    const rp_layout *l = &v->world->grid.layout;
    const rp_plan_block *block = v->world->plan.buffer.data;
    const int across[2] = {(axis + 1) % 3, (axis + 2) % 3};
    storey *list = malloc((v->world->plan.used + 1) * sizeof *list);
    size_t count = 0;
    double foot = 1.0, mass = 0.0;
    *out = 0.0;
    if (list == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: columns of sand");
    }
    for (size_t i = 0; i < v->world->plan.size; i++) {
        if (block[i].count > 0) {
            list[count++] =
                (storey){{block[i].block[across[0]], block[i].block[across[1]]}, block[i].mass};
        }
    }
    for (int k = 0; k < 2; k++) {
        foot *= across[k] < v->dim ? v->h * l->cells[across[k]] : 1.0;
    }
    qsort(list, count, sizeof *list, compare_storeys);
    for (size_t i = 0; i < count; i++) {
        mass = i > 0 && compare_storeys(&list[i - 1], &list[i]) == 0 ? mass + list[i].mass
                                                                     : list[i].mass;
        *out = fmax(*out, mass / foot);
    }
    free(list);
    return RP_OK;
}

// How far the foot of the heaviest column is pressed together.
static rp_result look_at_softness(const view *v, const double gravity[3])
{
    static const double SOFT = 0.05;
    const rp_world *world = v->world;
    int down = 0, softest = -1;
    double column, least = INFINITY;
    for (int a = 1; a < v->dim; a++) {
        down = fabs(gravity[a]) > fabs(gravity[down]) ? a : down;
    }
    for (int i = 0; i < world->materials; i++) {
        const rp_material_def *m = &world->material[i];
        const double stiffness =
            m->young * (1.0 - m->poisson) / ((1.0 + m->poisson) * (1.0 - 2.0 * m->poisson));
        if (m->kind == RP_SAND && world->plan.mass[i] > 0.0 && stiffness < least) {
            least = stiffness;
            softest = i;
        }
    }
    RP_TRY(heaviest_column(v, down, &column));
    const double pressed = column * fabs(gravity[down]) / least;
    if (softest >= 0 && pressed > SOFT) {
        const rp_material_def *m = &world->material[softest];
        rp_log(RP_LOG_WARNING,
               "%s is soft for its height: its own weight presses it together by %.2g %% at the "
               "foot; young = %.2g makes that 1 %%, with smaller time steps",
               m->name[0] != '\0' ? m->name : "sand", 100.0 * pressed, 100.0 * m->young * pressed);
    }
    return RP_OK;
}

// ---- two that share a velocity ----

// Water within sand moves with it where both are on one field: nothing seeps, and nothing drains.
static void look_for_mud(const rp_world *world)
{
    double sand = 0.0, water = 0.0;
    for (int i = 0; i < world->materials; i++) {
        const rp_material_kind kind = world->material[i].kind;
        sand += kind == RP_SAND || kind == RP_CAM_CLAY ? world->plan.mass[i] : 0.0;
        water += kind == RP_WATER ? world->plan.mass[i] : 0.0;
    }
    if (sand > 0.0 && water > 0.0 && world->needs.apart == NULL) {
        rp_log(RP_LOG_WARNING,
               "sand and water share one velocity with method %s: where they meet they stick, and "
               "water does not flow through sand",
               world->solver->info.name);
    }
}

// ---- probes ----

// Lines without a number would be all that comes of it.
static void look_at_probes(const rp_world *world)
{
    for (int i = 0; i < world->probes && world->emitters == 0; i++) {
        const rp_probe_def *p = &world->probe[i].def;
        if (p->kind == RP_PROBE_PARTICLE && p->particle >= world->next_id) {
            rp_log(RP_LOG_WARNING,
                   "probe '%s' looks for particle %llu, and there are only those from 0 to %llu",
                   p->name, (unsigned long long)p->particle,
                   (unsigned long long)world->next_id - 1);
        }
    }
}

// ---- all of it ----

static region everything(const rp_world *world)
{
    region all = nowhere;
    const rp_plan_block *block = world->plan.buffer.data;
    for (size_t i = 0; i < world->plan.size; i++) {
        if (block[i].count > 0) {
            include(&all, block[i].x, 8.0 * world->def.dx);
        }
    }
    for (int i = 0; i < world->emitters; i++) {
        for (int32_t k = 0; k < world->emitter[i].sites; k++) {
            double site[3];
            if (rp_emitter_site(world, &world->emitter[i], k, world->emitter[i].start, site) ==
                RP_OK) {
                include(&all, site, 8.0 * world->def.dx);
            }
        }
    }
    for (int i = 0; i < world->colliders; i++) {
        double box[2][3];
        if (rp_collider_bounds(&world->collider[i], world->def.dimension, box[0], box[1])) {
            include(&all, box[0], 8.0 * world->def.dx);
            include(&all, box[1], 8.0 * world->def.dx);
        }
    }
    return all;
}

rp_result rp_world_foresee(rp_world *world)
{
    enum { SAMPLES = 20000, EACH_MOST = 4000 };
    if (!world->def.plan) {
        return rp_fail(RP_ERR_ARGUMENT, "this world is not planned: set rp_world_def.plan");
    }
    if (world->chosen) {
        rp_log(RP_LOG_INFO,
               "frames keep only the columns that were chosen: a run cannot go on from "
               "them, and does so from state.hdf, its newest state");
    }
    RP_TRY(rp_world_move_colliders(world, 0.0));
    RP_TRY(rp_world_check_rigids(world));
    view v = {
        .world = world, .h = world->def.dx, .dim = world->def.dimension, .all = everything(world)};
    v.parted = world->needs.parted > 0.0 ? world->needs.parted : THIN;
    const bool somewhere = v.all.lower[0] <= v.all.upper[0];
    const int each = world->colliders > 0 ? SAMPLES / world->colliders : 0;
    for (int i = 0; i < world->colliders && somewhere; i++) {
        look_at_collider(&v, i, each < EACH_MOST ? each : EACH_MOST);
    }
    look_at_borders(&v);
    look_at_density(&v);
    look_for_mud(world);
    look_at_probes(world);
    double gravity[3];
    RP_TRY(rp_world_gravity(world, gravity));
    RP_TRY(look_at_softness(&v, gravity));
    return look_at_particles(&v);
}
