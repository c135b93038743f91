// Cuts through a body: which piece a place belongs to, and where the surfaces between pieces are.
//
// A cut gives every place a label: on which side of each plane it lies, which site is nearest, or
// whether it is inside. Labels that the body has any of become pieces, numbered in their order.
//
// The surfaces are facets, pieces of planes: all of a plane, the flanks of a zigzag, the polygons
// between sites. A facet is divided into squares (in 2D into lines) of the spacing that is wanted,
// and a square into samples; those that lie in the body, on the border of the same two pieces, make
// one patch, at their middle. So each patch knows its area, and at the rim of a body no sliver of
// the cut goes without. The surface of a shape has no facets: points of a lattice near it are drawn
// onto it.
#include "shape/cut.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/result.h"
#include "shape/sequence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLANES_MOST = 30,  // a label has a bit for each
    SITES_MOST = 4096, // every pair of them is looked at
    CORNERS_MOST = 64, // of a polygon
    SAMPLES = 4,       // along the side of a square; of a line, squared
    TRIES = 12,        // of a site, so that sites keep their distance
};

rp_cut_def rp_default_cut_def(void)
{
    static const double origin[1][3], across[1][3] = {{1, 0, 0}};
    return (rp_cut_def){.kind = RP_CUT_PLANES,
                        .dimension = 3,
                        .point = origin,
                        .normal = across,
                        .count = 1,
                        .along = {0, 1, 0},
                        .cookie = RP_DEF_COOKIE};
}

static bool make_unit(double v[3])
{
    const double length = sqrt(dot(v, v));
    for (int a = 0; a < 3 && length > 0.0; a++) {
        v[a] /= length;
    }
    return length > 0.0 && isfinite(length);
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = a[j] * b[k] - a[k] * b[j];
    }
}

// ---- labels ----

static bool is_in_body(const rp_cut *cut, const double x[3])
{
    for (int i = 0; i < cut->def.shapes; i++) {
        if (rp_shape_distance(cut->def.shape[i], x, NULL) <= 0.0) {
            return true;
        }
    }
    return false;
}

static double distance2(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return dot(d, d);
}

static int64_t label_of(const rp_cut *cut, const double x[3])
{
    int64_t label = 0;
    switch (cut->def.kind) {
    case RP_CUT_PLANES:
        for (int i = 0; i < cut->def.count; i++) {
            label |= (int64_t)(height_over(cut, i, x) > 0.0) << i;
        }
        return label;
    case RP_CUT_ZIGZAG:
        return height_over(cut, 0, x) > tooth_at(cut, way_along(cut, x));
    case RP_CUT_VORONOI: {
        double least = INFINITY;
        for (int i = 0; i < cut->def.count; i++) {
            const double d2 = distance2(x, cut->point[i]);
            if (d2 < least) {
                least = d2;
                label = i;
            }
        }
        return label;
    }
    case RP_CUT_SHAPE:
        return rp_shape_distance(cut->def.cutter, x, NULL) > 0.0;
    }
    return 0;
}

static int compare_labels(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The piece of a label. One that the body seemed to have nothing of goes with the piece that is on
// the other side of the fewest planes; sites have no such labels (see drop_sites).
static int piece_of(const rp_cut *cut, int64_t label)
{
    const int64_t *found =
        bsearch(&label, cut->label, (size_t)cut->pieces, sizeof label, compare_labels);
    if (found != NULL) {
        return (int)(found - cut->label);
    }
    int best = 0, least = 64;
    for (int i = 0; i < cut->pieces; i++) {
        const int sides = __builtin_popcountll((uint64_t)(cut->label[i] ^ label));
        if (sides < least) {
            least = sides;
            best = i;
        }
    }
    return best;
}

int rp_cut_pieces(const rp_cut *cut) { return cut->pieces; }

int rp_cut_piece(const rp_cut *cut, const double x[3]) { return piece_of(cut, label_of(cut, x)); }

// ---- making one ----

static rp_result check_def(const rp_cut_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "cut: start from rp_default_cut_def()");
    }
    if (def->dimension != 2 && def->dimension != 3) {
        return rp_fail(RP_ERR_ARGUMENT, "cut.dimension: want 2 or 3, got %d", def->dimension);
    }
    if (def->shapes < 1 || def->shape == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "cut.shape: want the shapes of a body, got none");
    }
    if (!(def->spacing > 0.0 && isfinite(def->spacing))) {
        return rp_fail(RP_ERR_ARGUMENT, "cut.spacing: want > 0 m, got %g", def->spacing);
    }
    if (def->kind == RP_CUT_SHAPE) {
        return def->cutter != NULL ? rp_shape_check_still("cut.cutter", def->cutter)
                                   : rp_fail(RP_ERR_ARGUMENT, "cut.cutter: want a shape, got NULL");
    }
    const int most = def->kind == RP_CUT_PLANES   ? PLANES_MOST
                     : def->kind == RP_CUT_ZIGZAG ? 1
                                                  : SITES_MOST;
    const int least = def->kind == RP_CUT_VORONOI ? 2 : 1;
    if (def->count < least || def->count > most) {
        return rp_fail(RP_ERR_ARGUMENT, "cut.count: want %d to %d, got %d", least, most,
                       def->count);
    }
    if (def->kind != RP_CUT_VORONOI && (def->point == NULL || def->normal == NULL)) {
        return rp_fail(RP_ERR_ARGUMENT, "cut.point: want points and normals of planes, got NULL");
    }
    if (def->kind == RP_CUT_ZIGZAG && !(def->tooth > 0.0 && isfinite(def->tooth))) {
        return rp_fail(RP_ERR_ARGUMENT, "cut.tooth: want > 0 m, got %g", def->tooth);
    }
    return RP_OK;
}

static rp_result find_bounds(rp_cut *cut)
{
    for (int a = 0; a < 3; a++) {
        cut->lower[a] = INFINITY;
        cut->upper[a] = -INFINITY;
    }
    for (int i = 0; i < cut->def.shapes; i++) {
        double lower[3], upper[3];
        if (!rp_shape_bounds(cut->def.shape[i], cut->def.dimension, lower, upper)) {
            return rp_fail(RP_ERR_ARGUMENT, "cut.shape: want shapes of finite size");
        }
        for (int a = 0; a < cut->def.dimension; a++) {
            cut->lower[a] = fmin(cut->lower[a], lower[a]);
            cut->upper[a] = fmax(cut->upper[a], upper[a]);
        }
    }
    for (int a = cut->def.dimension; a < 3; a++) {
        cut->lower[a] = cut->upper[a] = 0.0;
    }
    return RP_OK;
}

static rp_result copy_planes(rp_cut *cut)
{
    for (int i = 0; i < cut->def.count && cut->def.kind != RP_CUT_VORONOI; i++) {
        memcpy(cut->normal[i], cut->def.normal[i], sizeof cut->normal[i]);
        cut->normal[i][2] *= cut->def.dimension == 3;
        if (!make_unit(cut->normal[i])) {
            return rp_fail(RP_ERR_ARGUMENT, "cut.normal: want a vector that is not 0, got 0");
        }
    }
    if (cut->def.kind == RP_CUT_ZIGZAG) {
        double *along = cut->def.along;
        along[2] *= cut->def.dimension == 3;
        const double lean = dot(along, cut->normal[0]);
        for (int a = 0; a < 3; a++) {
            along[a] -= lean * cut->normal[0][a];
        }
        if (!(dot(along, along) > 1e-12) || !make_unit(along)) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "cut.along: want a direction in the plane of the cut, got one across");
        }
    }
    return RP_OK;
}

// Sites at random places in the body, each the farthest of some tries from those there are.
static rp_result place_sites(rp_cut *cut)
{
    enum { PLACES_MOST = 100000 };
    uint64_t draw = 0;
    for (int i = 0; i < cut->def.count; i++) {
        double farthest = -1.0;
        for (int t = 0; t < TRIES; t++) {
            double x[3] = {0};
            int places = 0;
            do {
                for (int a = 0; a < cut->def.dimension; a++) {
                    const double u =
                        rp_unit(rp_hash(cut->def.seed, draw, RP_FOR_SITES, (uint64_t)a));
                    x[a] = cut->lower[a] + u * (cut->upper[a] - cut->lower[a]);
                }
                draw++;
            } while (!is_in_body(cut, x) && ++places < PLACES_MOST);
            if (places == PLACES_MOST) {
                return rp_fail(RP_ERR_ARGUMENT,
                               "cut.shape: want a body with room for sites, got "
                               "one that %d random places miss",
                               PLACES_MOST);
            }
            double nearest = INFINITY;
            for (int k = 0; k < i; k++) {
                nearest = fmin(nearest, distance2(x, cut->point[k]));
            }
            if (nearest > farthest) {
                farthest = nearest;
                memcpy(cut->point[i], x, sizeof x);
            }
        }
    }
    return RP_OK;
}

static rp_result check_sites(const rp_cut *cut)
{
    for (int i = 0; i < cut->def.count; i++) {
        for (int k = i + 1; k < cut->def.count; k++) {
            const double d2 = distance2(cut->point[i], cut->point[k]);
            if (!(d2 > 0.0 && isfinite(d2))) {
                return rp_fail(RP_ERR_ARGUMENT,
                               "cut.point: want sites at different places, got %d and %d "
                               "at the same",
                               i + 1, k + 1);
            }
        }
    }
    return RP_OK;
}

// Sites that the body seemed to have nothing of are none: their places go to the nearest other, and
// there is no surface between them and it.
static void drop_sites(rp_cut *cut)
{
    for (int i = 0; i < cut->pieces; i++) {
        // labels ascend: nothing is written over that is still to be read
        memmove(cut->point[i], cut->point[cut->label[i]], sizeof cut->point[i]);
        cut->label[i] = i;
    }
    cut->def.count = cut->pieces;
}

// A growing list of labels that were seen; few, and seldom new.
typedef struct labels {
    int64_t *list;
    size_t count, room;
} labels;

static bool note_label(labels *l, int64_t label)
{
    for (size_t i = l->count; i > 0; i--) {
        if (l->list[i - 1] == label) {
            return true;
        }
    }
    if (l->count == l->room) {
        const size_t room = 2 * l->room + 16;
        int64_t *more = realloc(l->list, room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        l->list = more;
        l->room = room;
    }
    l->list[l->count++] = label;
    return true;
}

// Look at the body along a lattice, half as wide as its particles are apart: what labels are there?
static rp_result find_pieces(rp_cut *cut)
{
    enum { SITES = 2000000 };
    const int dim = cut->def.dimension;
    double step = 0.5 * cut->def.spacing, sites = 1.0;
    for (int a = 0; a < dim; a++) {
        sites *= fmax(1.0, (cut->upper[a] - cut->lower[a]) / step);
    }
    step *= fmax(1.0, dim == 3 ? cbrt(sites / SITES) : sqrt(sites / SITES));
    int count[3] = {1, 1, 1};
    for (int a = 0; a < dim; a++) {
        count[a] = (int)ceil((cut->upper[a] - cut->lower[a]) / step);
        count[a] = count[a] < 1 ? 1 : count[a];
    }
    labels seen = {0};
    bool room = true;
    for (int i = 0; i < count[0] && room; i++) {
        for (int j = 0; j < count[1] && room; j++) {
            for (int k = 0; k < count[2] && room; k++) {
                const int at[3] = {i, j, k};
                double x[3] = {0};
                for (int a = 0; a < dim; a++) {
                    x[a] =
                        cut->lower[a] + (at[a] + 0.5) / count[a] * (cut->upper[a] - cut->lower[a]);
                }
                room = !is_in_body(cut, x) || note_label(&seen, label_of(cut, x));
            }
        }
    }
    // sites in the body have at least themselves
    for (int i = 0; i < cut->def.count && cut->def.kind == RP_CUT_VORONOI && room; i++) {
        room = !is_in_body(cut, cut->point[i]) || note_label(&seen, i);
    }
    cut->label = seen.list;
    cut->pieces = (int)seen.count;
    if (!room) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the pieces of a cut");
    }
    if (cut->pieces < 2) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "want a cut that goes through the body, got one that misses it");
    }
    qsort(cut->label, (size_t)cut->pieces, sizeof *cut->label, compare_labels);
    return RP_OK;
}

static rp_result make_cut(rp_cut *cut)
{
    const bool own = cut->def.kind == RP_CUT_VORONOI && cut->def.point == NULL;
    RP_TRY(find_bounds(cut));
    if (cut->def.kind != RP_CUT_SHAPE) {
        const size_t bytes = (size_t)cut->def.count * sizeof *cut->point;
        cut->point = calloc(1, bytes);
        cut->normal = calloc(1, bytes);
        if (cut->point == NULL || cut->normal == NULL) {
            return rp_fail(RP_ERR_MEMORY, "no memory for a cut");
        }
        if (!own) {
            memcpy(cut->point, cut->def.point, bytes);
        }
        for (int i = 0; i < cut->def.count && cut->def.dimension == 2; i++) {
            cut->point[i][2] = 0.0;
        }
        RP_TRY(copy_planes(cut));
    } else {
        cut->def.count = 0;
    }
    const bool cells = cut->def.kind == RP_CUT_VORONOI;
    RP_TRY(own ? place_sites(cut) : RP_OK);
    RP_TRY(cells ? check_sites(cut) : RP_OK);
    RP_TRY(find_pieces(cut));
    if (cells) {
        drop_sites(cut);
    }
    return RP_OK;
}

rp_result rp_cut_create(const rp_cut_def *def, rp_cut **out)
{
    *out = NULL;
    RP_TRY(check_def(def));
    rp_cut *cut = calloc(1, sizeof *cut);
    const rp_shape **shape = calloc((size_t)def->shapes, sizeof *shape);
    if (cut == NULL || shape == NULL) {
        free(cut);
        free(shape);
        return rp_fail(RP_ERR_MEMORY, "no memory for a cut");
    }
    atomic_init(&cut->references, 1);
    cut->def = *def;
    cut->def.shape = shape;
    for (int i = 0; i < def->shapes; i++) {
        shape[i] = rp_shape_retain(def->shape[i]);
    }
    cut->def.cutter = def->cutter != NULL ? rp_shape_retain(def->cutter) : NULL;
    const rp_result result = make_cut(cut);
    if (result != RP_OK) {
        rp_cut_destroy(cut);
        return result;
    }
    *out = cut;
    return RP_OK;
}

rp_cut *rp_cut_retain(const rp_cut *cut)
{
    rp_cut *own = (rp_cut *)(uintptr_t)cut;
    atomic_fetch_add(&own->references, 1);
    return own;
}

void rp_cut_destroy(rp_cut *cut)
{
    if (cut == NULL || atomic_fetch_sub(&cut->references, 1) > 1) {
        return;
    }
    for (int i = 0; i < cut->def.shapes; i++) {
        rp_shape_release((rp_shape *)(uintptr_t)cut->def.shape[i]);
    }
    free((void *)(uintptr_t)cut->def.shape);
    rp_shape_release((rp_shape *)(uintptr_t)cut->def.cutter);
    free(cut->point);
    free(cut->normal);
    free(cut->label);
    free(cut);
}

// ---- facets ----

// A piece of a plane: from `low` to `high` along u and v, and within a convex polygon where there
// is one.
typedef struct facet {
    double at[3], normal[3], u[3], v[3];
    double low[2], high[2];
    double (*corner)[2];
    int corners;
    int64_t label[2]; // behind and before it; -1: look
    int plane;
} facet;

typedef struct scattering {
    const rp_cut *cut;
    double spacing;
    const rp_shape *open;
    rp_cut_visit visit;
    void *context;
} scattering;

// Two directions across a normal; in 2D the second is across the plane.
static void span_plane(const rp_cut *cut, facet *f)
{
    if (cut->def.dimension == 2) {
        const double u[3] = {-f->normal[1], f->normal[0], 0.0}, v[3] = {0.0, 0.0, 1.0};
        memcpy(f->u, u, sizeof u);
        memcpy(f->v, v, sizeof v);
        return;
    }
    const double *n = f->normal;
    int least = 0;
    for (int a = 1; a < 3; a++) {
        least = fabs(n[a]) < fabs(n[least]) ? a : least;
    }
    double axis[3] = {0};
    axis[least] = 1.0;
    cross(n, axis, f->u);
    make_unit(f->u);
    cross(n, f->u, f->v);
}

// As far as the body goes.
static void bound_facet(const rp_cut *cut, facet *f)
{
    const double *way[2] = {f->u, f->v};
    for (int k = 0; k < 2; k++) {
        f->low[k] = INFINITY;
        f->high[k] = -INFINITY;
        for (int corner = 0; corner < 8; corner++) {
            double s = 0.0;
            for (int a = 0; a < 3; a++) {
                const double x = corner >> a & 1 ? cut->upper[a] : cut->lower[a];
                s += (x - f->at[a]) * way[k][a];
            }
            f->low[k] = fmin(f->low[k], s);
            f->high[k] = fmax(f->high[k], s);
        }
    }
}

static bool is_in_polygon(const facet *f, double s, double t)
{
    for (int i = 0; i < f->corners; i++) {
        const double *a = f->corner[i], *b = f->corner[(i + 1) % f->corners];
        if ((b[0] - a[0]) * (t - a[1]) - (b[1] - a[1]) * (s - a[0]) < 0.0) {
            return false;
        }
    }
    return true;
}

// Which two pieces does a place of a facet lie between? false: it is on no border in the body
static bool find_sides(const scattering *w, const facet *f, const double x[3], int piece[2])
{
    const rp_cut *cut = w->cut;
    if (!is_in_body(cut, x) || (w->open != NULL && rp_shape_distance(w->open, x, NULL) <= 0.0)) {
        return false;
    }
    for (int side = 0; side < 2; side++) {
        int64_t label = f->label[side];
        if (label < 0) {
            double away[3];
            for (int a = 0; a < 3; a++) {
                away[a] = x[a] + (side == 0 ? -1e-6 : 1e-6) * cut->def.spacing * f->normal[a];
            }
            label = label_of(cut, away);
        }
        piece[side] = piece_of(cut, label);
    }
    return piece[0] != piece[1];
}

static rp_result give_patch(const scattering *w, const double middle[3], const double normal[3],
                            double area, const int piece[2], int plane)
{
    const bool turn = piece[0] > piece[1];
    rp_cut_patch p = {.area = area, .piece = {piece[turn], piece[!turn]}, .plane = plane};
    for (int a = 0; a < 3; a++) {
        p.x[a] = middle[a];
        p.normal[a] = turn ? -normal[a] : normal[a];
    }
    return w->visit(w->context, &p);
}

// The samples of a square that lie between the same two pieces are a patch.
typedef struct pile {
    int piece[2], count;
    double sum[3];
} pile;

static rp_result scatter_square(const scattering *w, const facet *f, const double from[2],
                                const double side[2])
{
    const bool flat = w->cut->def.dimension == 2;
    const int across = flat ? SAMPLES * SAMPLES : SAMPLES, deep = flat ? 1 : SAMPLES;
    pile piles[SAMPLES * SAMPLES];
    int count = 0;
    for (int i = 0; i < across; i++) {
        for (int k = 0; k < deep; k++) {
            const double s = from[0] + (i + 0.5) / across * side[0];
            const double t = flat ? 0.0 : from[1] + (k + 0.5) / deep * side[1];
            double x[3];
            int piece[2], at = 0;
            for (int a = 0; a < 3; a++) {
                x[a] = f->at[a] + s * f->u[a] + t * f->v[a];
            }
            if (!is_in_polygon(f, s, t) || !find_sides(w, f, x, piece)) {
                continue;
            }
            while (at < count && memcmp(piles[at].piece, piece, sizeof piece) != 0) {
                at++;
            }
            if (at == count) {
                piles[count++] = (pile){.piece = {piece[0], piece[1]}};
            }
            piles[at].count++;
            for (int a = 0; a < 3; a++) {
                piles[at].sum[a] += x[a];
            }
        }
    }
    const double whole = side[0] * (flat ? 1.0 : side[1]);
    for (int i = 0; i < count; i++) {
        double middle[3];
        for (int a = 0; a < 3; a++) {
            middle[a] = piles[i].sum[a] / piles[i].count;
        }
        RP_TRY(give_patch(w, middle, f->normal, whole * piles[i].count / (across * deep),
                          piles[i].piece, f->plane));
    }
    return RP_OK;
}

static rp_result scatter_facet(const scattering *w, const facet *f)
{
    const bool flat = w->cut->def.dimension == 2;
    double count[2] = {1.0, 1.0}, side[2] = {0};
    for (int k = 0; k < (flat ? 1 : 2); k++) {
        count[k] = fmax(1.0, ceil((f->high[k] - f->low[k]) / w->spacing * (1.0 - 1e-9)));
        side[k] = (f->high[k] - f->low[k]) / count[k];
    }
    if (!(count[0] * count[1] < 1e8)) {
        return rp_fail(RP_ERR_LIMIT, "a spacing of %g m gives too many particles of glue",
                       w->spacing);
    }
    for (int64_t i = 0; i < (int64_t)count[0]; i++) {
        for (int64_t k = 0; k < (int64_t)count[1]; k++) {
            const double from[2] = {f->low[0] + (double)i * side[0],
                                    f->low[1] + (double)k * side[1]};
            RP_TRY(scatter_square(w, f, from, side));
        }
    }
    return RP_OK;
}

static rp_result scatter_planes(const scattering *w)
{
    for (int i = 0; i < w->cut->def.count; i++) {
        facet f = {.label = {-1, -1}, .plane = i};
        memcpy(f.at, w->cut->point[i], sizeof f.at);
        memcpy(f.normal, w->cut->normal[i], sizeof f.normal);
        span_plane(w->cut, &f);
        bound_facet(w->cut, &f);
        RP_TRY(scatter_facet(w, &f));
    }
    return RP_OK;
}

// Flanks of 45 degrees, down and up in turn.
static rp_result scatter_zigzag(const scattering *w)
{
    const rp_cut *cut = w->cut;
    const double t = cut->def.tooth, *n = cut->normal[0], *e = cut->def.along;
    facet whole = {.label = {-1, -1}};
    memcpy(whole.at, cut->point[0], sizeof whole.at);
    memcpy(whole.normal, n, sizeof whole.normal);
    memcpy(whole.u, e, sizeof whole.u);
    cross(n, e, whole.v);
    bound_facet(cut, &whole);
    const double first = floor(whole.low[0] / t), last = ceil(whole.high[0] / t);
    if (!(last - first < 1e6)) {
        return rp_fail(RP_ERR_LIMIT, "cut.tooth: want fewer than a million teeth in the body");
    }
    for (int64_t k = (int64_t)first; k < (int64_t)last; k++) {
        const double rise = k % 2 == 0 ? -1.0 : 1.0; // of this flank
        const double mid = ((double)k + 0.5) * t;
        facet f = {.label = {-1, -1},
                   .low = {-t * sqrt(0.5), whole.low[1]},
                   .high = {t * sqrt(0.5), whole.high[1]}};
        for (int a = 0; a < 3; a++) {
            f.at[a] = cut->point[0][a] + mid * e[a];
            f.u[a] = sqrt(0.5) * (e[a] + rise * n[a]);
            f.normal[a] = sqrt(0.5) * (n[a] - rise * e[a]);
            f.v[a] = whole.v[a];
        }
        RP_TRY(scatter_facet(w, &f));
    }
    return RP_OK;
}

// Keep the part of a convex polygon where a s + b t <= c.
static int clip(double (*corner)[2], int corners, double a, double b, double c)
{
    double out[CORNERS_MOST + 2][2];
    int count = 0;
    for (int i = 0; i < corners; i++) {
        const double *p = corner[i], *q = corner[(i + 1) % corners];
        const double dp = a * p[0] + b * p[1] - c, dq = a * q[0] + b * q[1] - c;
        if (dp <= 0.0) {
            memcpy(out[count++], p, sizeof out[0]);
        }
        if ((dp < 0.0 && dq > 0.0) || (dp > 0.0 && dq < 0.0)) {
            const double share = dp / (dp - dq);
            out[count][0] = p[0] + share * (q[0] - p[0]);
            out[count++][1] = p[1] + share * (q[1] - p[1]);
        }
        if (count > CORNERS_MOST) {
            break; // more would be no facet of any use
        }
    }
    memcpy(corner, out, (size_t)count * sizeof *out);
    return count;
}

// The polygon between two sites: what of the plane in their middle is nearer to no other.
static rp_result scatter_pair(const scattering *w, int i, int k)
{
    const rp_cut *cut = w->cut;
    const bool flat = cut->def.dimension == 2;
    facet f = {.label = {i, k}};
    double corner[CORNERS_MOST + 2][2];
    for (int a = 0; a < 3; a++) {
        f.at[a] = 0.5 * (cut->point[i][a] + cut->point[k][a]);
        f.normal[a] = cut->point[k][a] - cut->point[i][a];
    }
    make_unit(f.normal);
    span_plane(cut, &f);
    bound_facet(cut, &f);
    if (flat) {
        f.low[1] = -1.0;
        f.high[1] = 1.0;
    }
    for (int c = 0; c < 4; c++) {
        corner[c][0] = c == 1 || c == 2 ? f.high[0] : f.low[0];
        corner[c][1] = c >= 2 ? f.high[1] : f.low[1];
    }
    int corners = 4;
    for (int o = 0; o < cut->def.count && corners > 2; o++) {
        if (o == i || o == k) {
            continue;
        }
        // |x - p_i|^2 <= |x - p_o|^2: 2 x (p_o - p_i) <= p_o^2 - p_i^2, x on the plane
        double way[3], c = 0.0;
        for (int a = 0; a < 3; a++) {
            way[a] = cut->point[o][a] - cut->point[i][a];
            c += way[a] * (0.5 * (cut->point[o][a] + cut->point[i][a]) - f.at[a]);
        }
        corners = clip(corner, corners, dot(way, f.u), flat ? 0.0 : dot(way, f.v), c);
    }
    if (corners < 3) {
        return RP_OK;
    }
    f.corner = corner;
    f.corners = corners;
    for (int a = 0; a < 2; a++) {
        f.low[a] = f.high[a] = corner[0][a];
        for (int c = 1; c < corners; c++) {
            f.low[a] = fmin(f.low[a], corner[c][a]);
            f.high[a] = fmax(f.high[a], corner[c][a]);
        }
    }
    // a facet that is hardly one has no area that counts
    const double least = 1e-6 * cut->def.spacing;
    return f.high[0] - f.low[0] > least && f.high[1] - f.low[1] > least ? scatter_facet(w, &f)
                                                                        : RP_OK;
}

static rp_result scatter_sites(const scattering *w)
{
    for (int i = 0; i < w->cut->def.count; i++) {
        for (int k = i + 1; k < w->cut->def.count; k++) {
            RP_TRY(scatter_pair(w, i, k));
        }
    }
    return RP_OK;
}

// ---- the surface of a shape ----

// Points of a lattice near the surface, drawn onto it; one for each cell of the lattice that they
// come to lie in. Areas are all alike, and as large as the volume of a thin sheet says, of which
// those are left out that come to lie where there is no glue.
typedef struct drawn {
    double x[3], normal[3];
    int32_t cell[3];
    int64_t site; // that it came from
} drawn;

static int compare_drawn(const void *a, const void *b)
{
    const drawn *one = a, *other = b;
    const int cells = memcmp(one->cell, other->cell, sizeof one->cell);
    return cells != 0 ? cells : (one->site > other->site) - (one->site < other->site);
}

static void draw_onto(const rp_shape *shape, double x[3], double normal[3])
{
    for (int i = 0; i < 8; i++) {
        const double away = rp_shape_distance(shape, x, normal);
        for (int a = 0; a < 3; a++) {
            x[a] -= away * normal[a];
        }
    }
    rp_shape_distance(shape, x, normal);
}

static rp_result scatter_surface(const scattering *w)
{
    const rp_cut *cut = w->cut;
    const int dim = cut->def.dimension;
    const double step = 0.5 * w->spacing;
    int64_t n[3] = {1, 1, 1};
    double sites = 1.0;
    for (int a = 0; a < dim; a++) {
        // one more on both sides, which may be drawn into the body
        n[a] = 2 + (int64_t)fmax(1.0, ceil((cut->upper[a] - cut->lower[a]) / step));
        sites *= (double)n[a];
    }
    if (!(sites < 1e9)) {
        return rp_fail(RP_ERR_LIMIT, "a spacing of %g m gives too many particles of glue",
                       w->spacing);
    }
    drawn *list = NULL;
    size_t count = 0, room = 0;
    double sheet = 0.0; // the area of all of it
    rp_result result = RP_OK;
    for (int64_t s = 0; s < n[0] * n[1] * n[2] && result == RP_OK; s++) {
        const int64_t at[3] = {s / (n[1] * n[2]), s / n[2] % n[1], s % n[2]};
        drawn d = {.site = s};
        for (int a = 0; a < dim; a++) {
            d.x[a] = cut->lower[a] + ((double)at[a] - 0.5) * step;
        }
        const double away = fabs(rp_shape_distance(cut->def.cutter, d.x, NULL));
        if (!(away < step)) {
            continue;
        }
        draw_onto(cut->def.cutter, d.x, d.normal);
        if (!is_in_body(cut, d.x) ||
            (w->open != NULL && rp_shape_distance(w->open, d.x, NULL) <= 0.0)) {
            continue;
        }
        // a hat of area 1 across the surface
        sheet += (dim == 3 ? step * step : step) * (1.0 - away / step);
        for (int a = 0; a < dim; a++) {
            d.cell[a] = (int32_t)floor((d.x[a] - cut->lower[a]) / w->spacing);
        }
        if (count == room) {
            room = 2 * room + 1024;
            drawn *more = realloc(list, room * sizeof *more);
            if (more == NULL) {
                result = rp_fail(RP_ERR_MEMORY, "no memory for glue");
                break;
            }
            list = more;
        }
        list[count++] = d;
    }
    if (count > 0) {
        qsort(list, count, sizeof *list, compare_drawn);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || memcmp(list[i].cell, list[i - 1].cell, sizeof list[i].cell) != 0) {
            list[kept++] = list[i];
        }
    }
    const double area = kept > 0 ? sheet / (double)kept : 0.0;
    for (size_t i = 0; i < kept && result == RP_OK; i++) {
        static const int piece[2] = {0, 1};
        result = give_patch(w, list[i].x, list[i].normal, area, piece, 0);
    }
    free(list);
    return result;
}

rp_result rp_cut_scatter(const rp_cut *cut, double spacing, const rp_shape *open,
                         rp_cut_visit visit, void *context)
{
    const scattering w = {cut, spacing, open, visit, context};
    if (!(spacing > 0.0 && isfinite(spacing))) {
        return rp_fail(RP_ERR_ARGUMENT, "glue.spacing: want > 0 m, got %g", spacing);
    }
    switch (cut->def.kind) {
    case RP_CUT_PLANES:
        return scatter_planes(&w);
    case RP_CUT_ZIGZAG:
        return scatter_zigzag(&w);
    case RP_CUT_VORONOI:
        return scatter_sites(&w);
    case RP_CUT_SHAPE:
        return scatter_surface(&w);
    }
    return RP_OK;
}
