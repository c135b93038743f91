// A heap of triangles becomes a closed surface, or a sentence that says where it is open.
#include "base/hash.h"
#include "base/result.h"
#include "shape/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rp_result rp_mesh_reserve(rp_mesh *mesh, int64_t places, int64_t triangles)
{
    const rp_allocator *a = rp_default_allocator();
    if (places > RP_MESH_LIMIT || triangles > RP_MESH_LIMIT) {
        return rp_fail(RP_ERR_LIMIT,
                       "mesh: want at most %d vertices and triangles, got %lld and %lld",
                       RP_MESH_LIMIT, (long long)places, (long long)triangles);
    }
    RP_TRY(rp_buffer_reserve(&mesh->place_buffer, a, (size_t)places * sizeof(double[3]),
                             (size_t)mesh->places * sizeof(double[3]), "vertices of a mesh"));
    return rp_buffer_reserve(&mesh->triangle_buffer, a, (size_t)triangles * sizeof(int32_t[3]),
                             (size_t)mesh->triangles * sizeof(int32_t[3]), "triangles of a mesh");
}

void rp_mesh_free(rp_mesh *mesh)
{
    rp_buffer_free(&mesh->place_buffer, rp_default_allocator());
    rp_buffer_free(&mesh->triangle_buffer, rp_default_allocator());
}

void rp_mesh_bounds(const rp_mesh *mesh, double lower[3], double upper[3])
{
    for (int a = 0; a < 3; a++) {
        lower[a] = INFINITY;
        upper[a] = -INFINITY;
    }
    for (int32_t i = 0; i < 3 * mesh->triangles; i++) {
        const double *x = rp_mesh_place(mesh)[rp_mesh_triangle(mesh)[i / 3][i % 3]];
        for (int a = 0; a < 3; a++) {
            lower[a] = fmin(lower[a], x[a]);
            upper[a] = fmax(upper[a], x[a]);
        }
    }
}

// Six times the volume between a triangle and a point.
static double volume6(const rp_mesh *mesh, int32_t t, const double from[3])
{
    double p[3][3];
    for (int k = 0; k < 3; k++) {
        for (int a = 0; a < 3; a++) {
            p[k][a] = rp_mesh_place(mesh)[rp_mesh_triangle(mesh)[t][k]][a] - from[a];
        }
    }
    return p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
           p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
           p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
}

// From the middle, where the terms that cancel are smallest.
double rp_mesh_volume(const rp_mesh *mesh)
{
    double lower[3], upper[3], sum = 0.0;
    rp_mesh_bounds(mesh, lower, upper);
    const double middle[3] = {0.5 * (lower[0] + upper[0]), 0.5 * (lower[1] + upper[1]),
                              0.5 * (lower[2] + upper[2])};
    for (int32_t t = 0; t < mesh->triangles; t++) {
        sum += volume6(mesh, t, middle);
    }
    return sum / 6.0;
}

static void flip(rp_mesh *mesh, int32_t t)
{
    int32_t *corner = rp_mesh_triangle(mesh)[t];
    const int32_t last = corner[2];
    corner[2] = corner[1];
    corner[1] = last;
}

// Welding: files give every face its own corners
// -----------------------------------------------------------------------------------------------

typedef struct weld {
    rp_mesh *mesh;
    double lower[3], reach; // places no farther apart are one; 0: only the same numbers are
    int32_t *table;         // open addressing; -1: free
    size_t size;
    int32_t kept;
} weld;

// Where in the table the places of a cell begin; a cell is as long as the reach.
static size_t slot_of(const weld *w, const double x[3], const int step[3])
{
    uint64_t hash = 0;
    for (int a = 0; a < 3; a++) {
        const double cell =
            w->reach > 0.0 ? floor((x[a] - w->lower[a]) / w->reach) + step[a] : x[a];
        const double plain = cell + 0.0; // -0 is 0
        uint64_t bits;
        memcpy(&bits, &plain, sizeof bits);
        hash = rp_mix64(hash ^ bits);
    }
    return (size_t)hash & (w->size - 1);
}

static bool are_one(const weld *w, const double x[3], const double y[3])
{
    const double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= w->reach * w->reach &&
           (w->reach > 0.0 || (d[0] == 0.0 && d[1] == 0.0 && d[2] == 0.0));
}

// The first place that this one is the same as; itself when it is new.
static int32_t find_same(weld *w, const double x[3])
{
    double(*place)[3] = rp_mesh_place(w->mesh);
    const int cells = w->reach > 0.0 ? 27 : 1;
    size_t slot = 0;
    for (int k = 0; k < cells; k++) {
        // the place's own cell comes last, so that its end is where a new one goes
        const int c = cells == 1 ? 13 : (k + 14) % 27;
        const int step[3] = {c / 9 - 1, c / 3 % 3 - 1, c % 3 - 1};
        for (slot = slot_of(w, x, step); w->table[slot] >= 0; slot = (slot + 1) & (w->size - 1)) {
            if (are_one(w, x, place[w->table[slot]])) {
                return w->table[slot];
            }
        }
    }
    w->table[slot] = w->kept;
    memmove(place[w->kept], x, sizeof *place);
    return w->kept++;
}

static rp_result weld_places(rp_mesh *mesh, double reach)
{
    const rp_allocator *a = rp_default_allocator();
    weld w = {.mesh = mesh, .reach = reach, .size = 16};
    rp_buffer table = {0}, name = {0};
    double upper[3];
    rp_mesh_bounds(mesh, w.lower, upper);
    while (w.size < 2 * (size_t)mesh->places) {
        w.size *= 2;
    }
    rp_result result = rp_buffer_reserve(&table, a, w.size * sizeof(int32_t), 0, "welding a mesh");
    if (result == RP_OK) {
        result = rp_buffer_reserve(&name, a, (size_t)mesh->places * sizeof(int32_t), 0,
                                   "welding a mesh");
    }
    if (result == RP_OK) {
        w.table = table.data;
        memset(w.table, 0xff, w.size * sizeof *w.table);
        int32_t *named = name.data;
        for (int32_t i = 0; i < mesh->places; i++) {
            named[i] = find_same(&w, rp_mesh_place(mesh)[i]);
        }
        for (int32_t i = 0; i < 3 * mesh->triangles; i++) {
            int32_t *corner = &rp_mesh_triangle(mesh)[i / 3][i % 3];
            *corner = named[*corner];
        }
        mesh->places = w.kept;
    }
    rp_buffer_free(&table, a);
    rp_buffer_free(&name, a);
    return result;
}

// Edges
// -----------------------------------------------------------------------------------------------

// One side of a triangle. Those between the same two places stand together once sorted.
typedef struct side {
    int32_t low, high; // places
    int32_t triangle;
    bool upward; // walked from low to high
} side;

static int compare_sides(const void *a, const void *b)
{
    const side *x = a, *y = b;
    const int32_t d[3][2] = {{x->low, y->low}, {x->high, y->high}, {x->triangle, y->triangle}};
    for (int i = 0; i < 3; i++) {
        if (d[i][0] != d[i][1]) {
            return d[i][0] < d[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static rp_result list_sides(const rp_mesh *mesh, rp_buffer *out)
{
    const size_t bytes = 3 * (size_t)mesh->triangles * sizeof(side);
    RP_TRY(rp_buffer_reserve(out, rp_default_allocator(), bytes, 0, "edges of a mesh"));
    side *list = out->data;
    for (int32_t i = 0; i < 3 * mesh->triangles; i++) {
        const int32_t *corner = rp_mesh_triangle(mesh)[i / 3];
        const int32_t from = corner[i % 3], to = corner[(i + 1) % 3];
        list[i] = (side){from < to ? from : to, from < to ? to : from, i / 3, from < to};
    }
    qsort(list, 3 * (size_t)mesh->triangles, sizeof *list, compare_sides);
    return RP_OK;
}

// How many sides, from `first` on, are of one edge; `net` is by how much more often it is walked
// upward than downward.
static int32_t edge_at(const side *list, int32_t count, int32_t first, int32_t *net)
{
    int32_t n = 0;
    *net = 0;
    for (; first + n < count && list[first + n].low == list[first].low &&
           list[first + n].high == list[first].high;
         n++) {
        *net += list[first + n].upward ? 1 : -1;
    }
    return n;
}

// Refusing
// -----------------------------------------------------------------------------------------------

static bool has_no_area(const rp_mesh *mesh, int32_t t)
{
    const int32_t *corner = rp_mesh_triangle(mesh)[t];
    const double *a = rp_mesh_place(mesh)[corner[0]], *b = rp_mesh_place(mesh)[corner[1]];
    const double *c = rp_mesh_place(mesh)[corner[2]];
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    return u[1] * v[2] == u[2] * v[1] && u[2] * v[0] == u[0] * v[2] && u[0] * v[1] == u[1] * v[0];
}

static rp_result check_areas(const rp_mesh *mesh, const char *name)
{
    int32_t bad = 0, first = 0;
    for (int32_t t = mesh->triangles - 1; t >= 0; t--) {
        if (has_no_area(mesh, t)) {
            first = t;
            bad++;
        }
    }
    if (bad > 0) {
        const double *x = rp_mesh_place(mesh)[rp_mesh_triangle(mesh)[first][0]];
        return rp_fail(RP_ERR_ARGUMENT,
                       "%s: %d of %d triangles have no area, the first at (%g, %g, %g); "
                       "repair = true drops them",
                       name, bad, mesh->triangles, x[0], x[1], x[2]);
    }
    return RP_OK;
}

static rp_result check_edges(const rp_mesh *mesh, const char *name, const side *list)
{
    enum { OPEN, CROWDED, TURNED, FAULTS };
    static const char *const what[FAULTS] = {
        "the surface is open at %d edges, the first",
        "more than two triangles meet at %d edges, the first",
        "triangles disagree about which side is out at %d edges, the first",
    };
    int32_t bad[FAULTS] = {0}, first[FAULTS] = {0}, net;
    for (int32_t i = 0, n; i < 3 * mesh->triangles; i += n) {
        n = edge_at(list, 3 * mesh->triangles, i, &net);
        const int fault = n == 1 ? OPEN : n > 2 ? CROWDED : net != 0 ? TURNED : FAULTS;
        if (fault < FAULTS) {
            first[fault] = bad[fault]++ == 0 ? i : first[fault];
        }
    }
    for (int fault = 0; fault < FAULTS; fault++) {
        if (bad[fault] > 0) {
            char sentence[160];
            const double *a = rp_mesh_place(mesh)[list[first[fault]].low];
            const double *b = rp_mesh_place(mesh)[list[first[fault]].high];
            snprintf(sentence, sizeof sentence, what[fault], bad[fault]);
            return rp_fail(RP_ERR_ARGUMENT,
                           "%s: %s from (%g, %g, %g) to (%g, %g, %g); repair = true %s", name,
                           sentence, a[0], a[1], a[2], b[0], b[1], b[2],
                           fault == OPEN ? "fills its holes" : "mends it");
        }
    }
    return RP_OK;
}

static rp_result check_surface(const rp_mesh *mesh, const char *name)
{
    rp_buffer sides = {0};
    rp_result result = check_areas(mesh, name);
    if (result == RP_OK) {
        result = list_sides(mesh, &sides);
    }
    if (result == RP_OK) {
        result = check_edges(mesh, name, sides.data);
    }
    rp_buffer_free(&sides, rp_default_allocator());
    if (result == RP_OK && rp_mesh_volume(mesh) < 0.0) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: the surface is inside out; repair = true turns it",
                       name);
    }
    return result;
}

// Mending
// -----------------------------------------------------------------------------------------------

typedef struct repairs {
    int32_t welded, dropped, flipped, holes, filled;
    double widest; // hole
} repairs;

static void drop_collapsed(rp_mesh *mesh, repairs *did)
{
    int32_t kept = 0;
    for (int32_t t = 0; t < mesh->triangles; t++) {
        int32_t *corner = rp_mesh_triangle(mesh)[t];
        if (corner[0] != corner[1] && corner[1] != corner[2] && corner[2] != corner[0]) {
            memmove(rp_mesh_triangle(mesh)[kept++], corner, sizeof(int32_t[3]));
        }
    }
    did->dropped = mesh->triangles - kept;
    mesh->triangles = kept;
}

typedef struct neighbour {
    int32_t triangle; // -1: none
    bool agrees;      // both walk their edge in opposite ways, as neighbours should
} neighbour;

// One part of the surface, walked from edge to edge: every triangle turned as the first one is. A
// part that needed that is then turned so that it holds a positive volume.
static void orient_part(rp_mesh *mesh, const neighbour (*around)[3], int32_t first, int8_t *turned,
                        int32_t *queue, repairs *did)
{
    int32_t count = 0, flips = 0;
    double volume = 0.0;
    const double *from = rp_mesh_place(mesh)[rp_mesh_triangle(mesh)[first][0]];
    queue[count++] = first;
    turned[first] = 1;
    for (int32_t i = 0; i < count; i++) {
        const int32_t t = queue[i];
        for (int k = 0; k < 3; k++) {
            const neighbour next = around[t][k];
            if (next.triangle >= 0 && turned[next.triangle] == 0) {
                turned[next.triangle] = next.agrees ? turned[t] : (int8_t)-turned[t];
                queue[count++] = next.triangle;
            }
        }
        flips += turned[t] < 0;
        volume += turned[t] * volume6(mesh, t, from);
    }
    const int wrong = flips > 0 && volume < 0.0 ? 1 : -1;
    for (int32_t i = 0; i < count; i++) {
        if (turned[queue[i]] == wrong) {
            flip(mesh, queue[i]);
            did->flipped++;
        }
    }
}

static rp_result orient(rp_mesh *mesh, const side *list, repairs *did)
{
    const rp_allocator *a = rp_default_allocator();
    const size_t count = (size_t)mesh->triangles;
    const size_t row = sizeof(neighbour[3]) + sizeof(int32_t) + sizeof(int8_t);
    rp_buffer scratch = {0};
    RP_TRY(rp_buffer_reserve(&scratch, a, count * row, 0, "turning a mesh"));
    neighbour(*around)[3] = scratch.data;
    int32_t *queue = (int32_t *)(around + count);
    int8_t *turned = (int8_t *)(queue + count);
    memset(turned, 0, count);
    for (size_t t = 0; t < count; t++) {
        for (int k = 0; k < 3; k++) {
            around[t][k].triangle = -1;
        }
    }
    for (int32_t i = 0, n, net; i < 3 * mesh->triangles; i += n) {
        n = edge_at(list, 3 * mesh->triangles, i, &net);
        for (int s = 0; s < 2 && n == 2; s++) {
            neighbour *free_place = around[list[i + s].triangle];
            free_place += free_place->triangle >= 0;
            free_place += free_place->triangle >= 0;
            *free_place = (neighbour){list[i + 1 - s].triangle, net == 0};
        }
    }
    for (int32_t t = 0; t < mesh->triangles; t++) {
        if (turned[t] == 0) {
            orient_part(mesh, (const neighbour(*)[3])around, t, turned, queue, did);
        }
    }
    rp_buffer_free(&scratch, a);
    return RP_OK;
}

static int32_t root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// A fan for every connected rim: a new place in its middle, and a triangle for every time that one
// of its edges lacks the way back. That closes whatever is open: what enters a place of the rim
// leaves it too.
static rp_result fill_holes(rp_mesh *mesh, const side *list, repairs *did)
{
    const rp_allocator *a = rp_default_allocator();
    const int32_t sides = 3 * mesh->triangles, places = mesh->places;
    int32_t missing = 0;
    for (int32_t i = 0, n, net; i < sides; i += n) {
        n = edge_at(list, sides, i, &net);
        missing += abs(net);
    }
    if (missing == 0) {
        return RP_OK;
    }
    rp_buffer scratch = {0};
    RP_TRY(rp_mesh_reserve(mesh, (int64_t)places + missing, (int64_t)mesh->triangles + missing));
    RP_TRY(
        rp_buffer_reserve(&scratch, a, (size_t)places * 3 * sizeof(int32_t), 0, "holes of a mesh"));
    int32_t *parent = scratch.data, *middle = parent + places, *corners = middle + places;
    for (int32_t i = 0; i < places; i++) {
        parent[i] = i;
        middle[i] = -1;
    }
    for (int32_t i = 0, n, net; i < sides; i += n) {
        n = edge_at(list, sides, i, &net);
        if (net != 0) {
            parent[root(parent, list[i].low)] = root(parent, list[i].high);
        }
    }
    double(*place)[3] = rp_mesh_place(mesh);
    for (int32_t i = 0, n, net; i < sides; i += n) {
        n = edge_at(list, sides, i, &net);
        for (int k = 0; k < abs(net); k++) {
            const int32_t rim = root(parent, list[i].low);
            if (middle[rim] < 0) {
                middle[rim] = mesh->places++;
                corners[rim] = 0;
                memset(place[middle[rim]], 0, sizeof *place);
                did->holes++;
            }
            const int32_t from = net > 0 ? list[i].high : list[i].low;
            const int32_t to = net > 0 ? list[i].low : list[i].high;
            int32_t *corner = rp_mesh_triangle(mesh)[mesh->triangles++];
            corner[0] = from;
            corner[1] = to;
            corner[2] = middle[rim];
            corners[rim]++;
            for (int x = 0; x < 3; x++) {
                place[middle[rim]][x] += 0.5 * (place[from][x] + place[to][x]);
            }
        }
    }
    for (int32_t i = 0; i < places; i++) {
        for (int x = 0; x < 3 && middle[i] >= 0; x++) {
            place[middle[i]][x] /= corners[i];
        }
    }
    for (int32_t i = 0, n, net; i < sides; i += n) {
        n = edge_at(list, sides, i, &net);
        if (net != 0) {
            const double *rim = place[list[i].low], *mid = place[middle[root(parent, list[i].low)]];
            const double away = hypot(hypot(rim[0] - mid[0], rim[1] - mid[1]), rim[2] - mid[2]);
            did->widest = fmax(did->widest, 2.0 * away);
        }
    }
    did->filled = missing;
    rp_buffer_free(&scratch, a);
    return RP_OK;
}

static rp_result mend_edges(rp_mesh *mesh, rp_buffer *sides, repairs *did)
{
    if (mesh->triangles == 0) {
        return RP_OK; // all of them were dropped
    }
    RP_TRY(list_sides(mesh, sides));
    RP_TRY(orient(mesh, sides->data, did));
    // turned triangles walk their edges the other way
    RP_TRY(list_sides(mesh, sides));
    return fill_holes(mesh, sides->data, did);
}

static rp_result mend(rp_mesh *mesh, const char *name, int32_t given, double size)
{
    repairs did = {.welded = given - mesh->places};
    rp_buffer sides = {0};
    drop_collapsed(mesh, &did);
    const rp_result result = mend_edges(mesh, &sides, &did);
    rp_buffer_free(&sides, rp_default_allocator());
    if (result == RP_OK && rp_mesh_volume(mesh) < 0.0) {
        for (int32_t t = 0; t < mesh->triangles; t++) {
            flip(mesh, t);
        }
        did.flipped = mesh->triangles - did.filled - did.flipped;
    }
    if (result == RP_OK) {
        rp_log(RP_LOG_INFO,
               "%s: repaired: %d vertices welded, %d triangles without area dropped, %d turned, "
               "%d holes filled with %d triangles",
               name, did.welded, did.dropped, did.flipped, did.holes, did.filled);
    }
    if (result == RP_OK && did.widest > 0.25 * size) {
        rp_log(RP_LOG_WARNING,
               "%s: repaired: a hole of %.0f %% of its size has a lid now, and what it held is "
               "solid; a vessel wants walls: give it a thickness where it was made",
               name, 100.0 * did.widest / size);
    }
    return result;
}

rp_result rp_mesh_close(rp_mesh *mesh, const char *name, bool repair)
{
    // what is nearer than this, relative to the whole, was meant to be one
    const double reach = 1e-5;
    double lower[3], upper[3], size = 0.0;
    const int32_t given = mesh->places;
    rp_mesh_bounds(mesh, lower, upper);
    for (int a = 0; a < 3; a++) {
        size = fmax(size, upper[a] - lower[a]);
    }
    if (!(size > 0.0 && isfinite(size))) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: the mesh has a size of %g m", name, size);
    }
    RP_TRY(weld_places(mesh, repair ? reach * size : 0.0));
    RP_TRY(repair ? mend(mesh, name, given, size) : check_surface(mesh, name));
    if (mesh->triangles == 0 || !(rp_mesh_volume(mesh) > 0.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: the surface encloses nothing", name);
    }
    return RP_OK;
}
