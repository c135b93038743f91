// The surface of a shape as triangles, by dual contouring: every cell that the surface crosses gets
// one vertex, and every edge of the grid that it crosses joins the vertices of the four cells
// around it.
//
// A vertex is put where the planes through the crossings of its cell's edges meet, so that edges
// and corners of a shape stay sharp; where those planes agree, it is brought onto the surface.
// Normals come from the distance itself, asked a little inside each triangle: a vertex on a crease
// becomes as many as there are sides.
//
// Blocks of cells that a distance tells to be far from the surface are never looked at.
//
// Shapes that are made of triangles, such as meshes and boxes, come back as these, with normals
// that are smooth but for creases.
#include "base/result.h"
#include "base/threads.h"
#include "shape/class.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 8,            // cells along a side
    CORNERS = BLOCK + 1,  // of them along a side
    CELLS_MOST = 1 << 20, // along an axis: a cell's number fits into 64 bits
};

static const double SHARP = 0.9;  // cosine: crossings that agree less make an edge
static const double CREASE = 0.8; // cosine: normals that agree less make two vertices
static const double CUSP = 0.5;   // the same of faces, which stand for something round

// What is turned into triangles.
typedef struct field {
    const rp_shape *shape;
    bool slab;                 // in 2D: the cut, as thick as the box
    double lower[3], upper[3]; // the box
    double cell;
    int64_t cells[3];
} field;

static double distance(const field *f, const double x[3], double gradient[3])
{
    if (!f->slab) {
        return rp_shape_distance(f->shape, x, gradient);
    }
    const double flat[3] = {x[0], x[1], 0.0}, middle = 0.5 * (f->lower[2] + f->upper[2]);
    const double phi = rp_shape_distance(f->shape, flat, gradient);
    // a cell away from the end of the box, so that the slab is closed
    const double across = fabs(x[2] - middle) - (0.5 * (f->upper[2] - f->lower[2]) - f->cell);
    if (across > phi) {
        gradient[0] = gradient[1] = 0.0;
        gradient[2] = x[2] > middle ? 1.0 : -1.0;
        return across;
    }
    gradient[2] = 0.0;
    return phi;
}

static void corner_of(const field *f, const int64_t at[3], double x[3])
{
    for (int a = 0; a < 3; a++) {
        x[a] = f->lower[a] + f->cell * (double)at[a];
    }
}

// ---- lists that grow ----

typedef struct list {
    void *data;
    size_t count, room, size; // size: of one
    bool failed;
} list;

static void *list_add(list *l)
{
    if (l->count == l->room && !l->failed) {
        const size_t room = l->room == 0 ? 64 : 2 * l->room;
        void *data = realloc(l->data, room * l->size);
        l->failed = data == NULL;
        if (!l->failed) {
            l->data = data;
            l->room = room;
        }
    }
    return l->failed ? NULL : (char *)l->data + l->size * l->count++;
}

// ---- blocks near the surface ----

typedef struct block {
    int64_t at[3]; // first cell
    list cells;    // of dual_cell
} block;

typedef struct dual_cell {
    int64_t at[3];
    float vertex[3];
    uint8_t inside; // a bit per corner
} dual_cell;

static uint64_t key_of(const int64_t at[3])
{
    return (uint64_t)at[0] << 42 | (uint64_t)at[1] << 21 | (uint64_t)at[2];
}

// Halves a box of blocks along its longest axis until a distance rules it out, or one is left.
static void find_blocks(const field *f, const int64_t low[3], const int64_t high[3], list *blocks)
{
    double middle[3], gradient[3], reach2 = 0.0;
    int longest = 0;
    for (int a = 0; a < 3; a++) {
        const double half = 0.5 * BLOCK * f->cell * (double)(high[a] - low[a]);
        middle[a] = f->lower[a] + BLOCK * f->cell * (double)low[a] + half;
        reach2 += half * half;
        longest = high[a] - low[a] > high[longest] - low[longest] ? a : longest;
    }
    if (fabs(distance(f, middle, gradient)) > sqrt(reach2) * (1.0 + 1e-9)) {
        return;
    }
    if (high[longest] - low[longest] == 1) {
        block *b = list_add(blocks);
        for (int a = 0; a < 3 && b != NULL; a++) {
            b->at[a] = BLOCK * low[a];
        }
        if (b != NULL) {
            b->cells = (list){.size = sizeof(dual_cell)};
        }
        return;
    }
    int64_t end[3], begin[3];
    memcpy(end, high, sizeof end);
    memcpy(begin, low, sizeof begin);
    end[longest] = begin[longest] = (low[longest] + high[longest]) / 2;
    find_blocks(f, low, end, blocks);
    find_blocks(f, begin, high, blocks);
}

// ---- a vertex ----

static bool solve(double A[3][3], double b[3], double x[3])
{
    // by Cramer's rule: the matrix is small, symmetric and made regular before
    const double c0 = A[1][1] * A[2][2] - A[1][2] * A[2][1];
    const double c1 = A[1][2] * A[2][0] - A[1][0] * A[2][2];
    const double c2 = A[1][0] * A[2][1] - A[1][1] * A[2][0];
    const double det = A[0][0] * c0 + A[0][1] * c1 + A[0][2] * c2;
    if (!(fabs(det) > 0.0)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        double M[3][3];
        memcpy(M, A, sizeof M);
        for (int i = 0; i < 3; i++) {
            M[i][k] = b[i];
        }
        x[k] = (M[0][0] * (M[1][1] * M[2][2] - M[1][2] * M[2][1]) +
                M[0][1] * (M[1][2] * M[2][0] - M[1][0] * M[2][2]) +
                M[0][2] * (M[1][0] * M[2][1] - M[1][1] * M[2][0])) /
               det;
    }
    return true;
}

// Where the surface crosses the line from a (distance p) to b (distance q).
static void crossing(const field *f, const double a[3], const double b[3], double p, double q,
                     double x[3], double normal[3])
{
    double low = 0.0, high = 1.0;
    for (int turn = 0; turn < 4; turn++) {
        const double t = low + (high - low) * p / (p - q);
        for (int k = 0; k < 3; k++) {
            x[k] = a[k] + t * (b[k] - a[k]);
        }
        const double phi = distance(f, x, normal);
        if ((phi < 0.0) == (p < 0.0)) {
            low = t, p = phi;
        } else {
            high = t, q = phi;
        }
        if (fabs(phi) < 1e-6 * f->cell || p == q) {
            break;
        }
    }
}

static void place_vertex(const field *f, const int64_t at[3], const double phi[8], float out[3])
{
    double x[12][3], n[12][3], mean[3] = {0}, corner[8][3];
    int count = 0;
    for (int c = 0; c < 8; c++) {
        corner_of(f, (int64_t[3]){at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)},
                  corner[c]);
    }
    for (int c = 0; c < 8; c++) {
        for (int a = 0; a < 3; a++) {
            const int d = c | 1 << a;
            if (d != c && (phi[c] < 0.0) != (phi[d] < 0.0)) {
                crossing(f, corner[c], corner[d], phi[c], phi[d], x[count], n[count]);
                for (int k = 0; k < 3; k++) {
                    mean[k] += x[count][k];
                }
                count++;
            }
        }
    }
    double A[3][3] = {{0}}, b[3] = {0}, away[3] = {0}, agree = 1.0;
    for (int k = 0; k < 3; k++) {
        mean[k] /= count;
    }
    for (int i = 0; i < count; i++) {
        const double to[3] = {x[i][0] - mean[0], x[i][1] - mean[1], x[i][2] - mean[2]};
        const double height = rp_dot(n[i], to);
        for (int r = 0; r < 3; r++) {
            b[r] += n[i][r] * height;
            for (int s = 0; s < 3; s++) {
                A[r][s] += n[i][r] * n[i][s];
            }
        }
        for (int j = 0; j < i; j++) {
            agree = fmin(agree, rp_dot(n[i], n[j]));
        }
    }
    for (int k = 0; k < 3; k++) {
        A[k][k] += 0.02 * count; // holds it near the crossings where the planes do not say
    }
    double v[3];
    const bool solved = agree < SHARP && solve(A, b, away);
    for (int k = 0; k < 3; k++) {
        v[k] = mean[k] + (solved ? away[k] : 0.0);
        v[k] = fmax(corner[0][k], fmin(v[k], corner[7][k]));
    }
    for (int turn = 0; turn < 3 && agree >= SHARP; turn++) {
        double g[3];
        const double d = distance(f, v, g);
        for (int k = 0; k < 3; k++) {
            v[k] -= d * g[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        out[k] = (float)v[k];
    }
}

typedef struct making {
    const field *field;
    block *block;
} making;

static void make_cells(void *context, int64_t number, int thread)
{
    (void)thread;
    const making *m = context;
    const field *f = m->field;
    block *b = &m->block[number];
    double phi[CORNERS][CORNERS][CORNERS], x[3], gradient[3];
    for (int i = 0; i < CORNERS; i++) {
        for (int j = 0; j < CORNERS; j++) {
            for (int k = 0; k < CORNERS; k++) {
                corner_of(f, (int64_t[3]){b->at[0] + i, b->at[1] + j, b->at[2] + k}, x);
                phi[i][j][k] = distance(f, x, gradient);
            }
        }
    }
    for (int i = 0; i < BLOCK; i++) {
        for (int j = 0; j < BLOCK; j++) {
            for (int k = 0; k < BLOCK; k++) {
                double at_corner[8];
                uint8_t inside = 0;
                for (int c = 0; c < 8; c++) {
                    at_corner[c] = phi[i + (c & 1)][j + (c >> 1 & 1)][k + (c >> 2)];
                    inside |= (uint8_t)((at_corner[c] < 0.0) << c);
                }
                const bool within = b->at[0] + i < f->cells[0] && b->at[1] + j < f->cells[1] &&
                                    b->at[2] + k < f->cells[2];
                if (inside == 0 || inside == 255 || !within) {
                    continue;
                }
                dual_cell *cell = list_add(&b->cells);
                if (cell == NULL) {
                    return;
                }
                *cell =
                    (dual_cell){.at = {b->at[0] + i, b->at[1] + j, b->at[2] + k}, .inside = inside};
                place_vertex(f, cell->at, at_corner, cell->vertex);
            }
        }
    }
}

// ---- cells by place ----

typedef struct places {
    uint64_t *key;
    uint32_t *vertex;
    size_t mask;
} places;

static size_t slot_of(const places *p, uint64_t key)
{
    size_t slot = (size_t)(key * 0x9e3779b97f4a7c15ull >> 20) & p->mask;
    while (p->key[slot] != UINT64_MAX && p->key[slot] != key) {
        slot = (slot + 1) & p->mask;
    }
    return slot;
}

static bool places_open(places *p, size_t count)
{
    size_t room = 64;
    while (room < 2 * count) {
        room *= 2;
    }
    p->mask = room - 1;
    p->key = malloc(room * sizeof *p->key);
    p->vertex = malloc(room * sizeof *p->vertex);
    if (p->key != NULL) {
        memset(p->key, 0xff, room * sizeof *p->key);
    }
    return p->key != NULL && p->vertex != NULL;
}

// ---- triangles ----

static double gap2(const float a[3], const float b[3])
{
    const double x = (double)a[0] - b[0], y = (double)a[1] - b[1], z = (double)a[2] - b[2];
    return x * x + y * y + z * z;
}

// The two triangles across an edge of the grid along axis a, at the first corner of a cell.
static void join(const places *p, const dual_cell *cell, int a, const list *vertices,
                 list *triangles)
{
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    uint32_t corner[4];
    for (int k = 0; k < 4; k++) {
        // around the edge, counter-clockwise about axis a
        int64_t at[3] = {cell->at[0], cell->at[1], cell->at[2]};
        at[b] -= k == 0 || k == 3;
        at[c] -= k == 0 || k == 1;
        if (at[b] < 0 || at[c] < 0) {
            return; // at the edge of the box: the surface is cut off there
        }
        const size_t slot = slot_of(p, key_of(at));
        if (p->key[slot] == UINT64_MAX) {
            return;
        }
        corner[k] = p->vertex[slot];
    }
    if (!(cell->inside & 1)) { // outside first: turned the other way
        const uint32_t swap = corner[1];
        corner[1] = corner[3];
        corner[3] = swap;
    }
    const float(*v)[3] = vertices->data;
    const int turn = gap2(v[corner[0]], v[corner[2]]) <= gap2(v[corner[1]], v[corner[3]]) ? 0 : 1;
    for (int k = 0; k < 2; k++) {
        uint32_t(*t)[3] = list_add(triangles);
        if (t != NULL) {
            (*t)[0] = corner[turn];
            (*t)[1] = corner[(turn + 1 + k) % 4];
            (*t)[2] = corner[(turn + 2 + k) % 4];
        }
    }
}

static bool join_all(const block *blocks, size_t count, list *vertices, list *triangles)
{
    size_t cells = 0;
    places p = {0};
    for (size_t i = 0; i < count; i++) {
        cells += blocks[i].cells.count;
        if (blocks[i].cells.failed) {
            return false;
        }
    }
    bool enough = cells < UINT32_MAX && places_open(&p, cells);
    for (size_t i = 0; i < count && enough; i++) {
        const dual_cell *cell = blocks[i].cells.data;
        for (size_t k = 0; k < blocks[i].cells.count; k++) {
            const size_t slot = slot_of(&p, key_of(cell[k].at));
            float(*v)[3] = list_add(vertices);
            enough = enough && v != NULL;
            if (v != NULL) {
                memcpy(*v, cell[k].vertex, sizeof *v);
                p.key[slot] = key_of(cell[k].at);
                p.vertex[slot] = (uint32_t)(vertices->count - 1);
            }
        }
    }
    for (size_t i = 0; i < count && enough; i++) {
        const dual_cell *cell = blocks[i].cells.data;
        for (size_t k = 0; k < blocks[i].cells.count; k++) {
            for (int a = 0; a < 3; a++) {
                if ((cell[k].inside & 1) != (cell[k].inside >> (1 << a) & 1)) {
                    join(&p, &cell[k], a, vertices, triangles);
                }
            }
        }
    }
    free(p.key);
    free(p.vertex);
    return enough && !triangles->failed;
}

// ---- normals ----

typedef struct shading {
    const field *field;
    const float (*vertex)[3];
    const uint32_t (*triangle)[3];
    float (*normal)[3][3]; // of the corners of each triangle
} shading;

static void ask_normals(void *context, int64_t number, int thread)
{
    (void)thread;
    const shading *s = context;
    const uint32_t *t = s->triangle[number];
    double middle[3];
    for (int k = 0; k < 3; k++) {
        middle[k] = ((double)s->vertex[t[0]][k] + s->vertex[t[1]][k] + s->vertex[t[2]][k]) / 3.0;
    }
    for (int c = 0; c < 3; c++) {
        double x[3], g[3];
        for (int k = 0; k < 3; k++) {
            x[k] = 0.8 * s->vertex[t[c]][k] + 0.2 * middle[k];
        }
        distance(s->field, x, g);
        for (int k = 0; k < 3; k++) {
            s->normal[number][c][k] = (float)g[k];
        }
    }
}

static float dot3(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void make_unit(float v[3])
{
    const float length = sqrtf(dot3(v, v));
    for (int k = 0; k < 3 && length > 0.0f; k++) {
        v[k] /= length;
    }
}

// Every corner finds the vertex at its place whose normal is like its own, or makes one; long
// normals count more. `next` chains the vertices of a place.
static bool part_creases(list *vertices, list *normals, list *triangles, float (*corner)[3][3],
                         double crease)
{
    list next = {.size = sizeof(uint32_t)};
    const size_t places_count = vertices->count;
    for (size_t i = 0; i < places_count; i++) {
        float(*n)[3] = list_add(normals);
        uint32_t *none = list_add(&next);
        if (n == NULL || none == NULL) {
            free(next.data);
            return false;
        }
        memset(*n, 0, sizeof *n);
        *none = UINT32_MAX;
    }
    bool enough = true;
    uint32_t(*t)[3] = triangles->data;
    for (size_t i = 0; i < triangles->count && enough; i++) {
        for (int c = 0; c < 3 && enough; c++) {
            const float *n = corner[i][c], size = sqrtf(dot3(n, n));
            uint32_t v = t[i][c];
            for (;;) {
                float *have = ((float(*)[3])normals->data)[v];
                const float length = sqrtf(dot3(have, have));
                if (length == 0.0f || size == 0.0f ||
                    dot3(have, n) > (float)crease * length * size) {
                    break;
                }
                uint32_t *link = &((uint32_t *)next.data)[v];
                if (*link == UINT32_MAX) {
                    const uint32_t fresh = (uint32_t)vertices->count;
                    *link = fresh;
                    float(*x)[3] = list_add(vertices), (*m)[3] = list_add(normals);
                    uint32_t *none = list_add(&next);
                    enough = x != NULL && m != NULL && none != NULL;
                    if (!enough) {
                        break;
                    }
                    memcpy(*x, ((float(*)[3])vertices->data)[v], sizeof *x);
                    memset(*m, 0, sizeof *m);
                    *none = UINT32_MAX;
                    v = fresh;
                    break;
                }
                v = *link;
            }
            if (enough) {
                float *have = ((float(*)[3])normals->data)[v];
                for (int k = 0; k < 3; k++) {
                    have[k] += n[k];
                }
                t[i][c] = v;
            }
        }
    }
    for (size_t i = 0; i < normals->count; i++) {
        make_unit(((float(*)[3])normals->data)[i]);
    }
    free(next.data);
    return enough;
}

// ---- what comes out ----

void rp_surface_free(rp_surface *s)
{
    free(s->vertex);
    free(s->normal);
    free(s->triangle);
    *s = (rp_surface){0};
}

static rp_result finish(bool enough, const list *vertices, const list *normals,
                        const list *triangles, rp_surface *out)
{
    *out = (rp_surface){.vertex = vertices->data,
                        .normal = normals->data,
                        .triangle = triangles->data,
                        .vertices = (int64_t)vertices->count,
                        .triangles = (int64_t)triangles->count};
    if (!enough) {
        rp_surface_free(out);
        return rp_fail(RP_ERR_MEMORY, "no memory for the surface of a shape");
    }
    return RP_OK;
}

// ---- planes ----

// Is the shape what lies behind a plane, as far as the box can tell?
static bool is_plane(const field *f, double normal[3], double *offset)
{
    for (int c = 0; c < 9; c++) {
        double x[3], g[3];
        for (int a = 0; a < 3; a++) {
            const double size = f->upper[a] - f->lower[a];
            x[a] = f->lower[a] + size * (c == 8 ? 0.37 : (c >> a & 1) ? 1.9 : -0.9);
            x[a] = a == 2 && f->slab ? 0.0 : x[a];
        }
        const double phi = rp_shape_distance(f->shape, x, g), at = rp_dot(g, x) - phi;
        if (c == 0) {
            memcpy(normal, g, sizeof g);
            *offset = at;
        }
        const double size = f->upper[0] - f->lower[0] + f->upper[1] - f->lower[1];
        if (!(rp_dot(g, normal) > 1.0 - 1e-9) || !(fabs(at - *offset) < 1e-9 * (size + fabs(at)))) {
            return false;
        }
    }
    return true;
}

// A rectangle on the plane, as large as the box is along it.
static rp_result make_quad(const field *f, const double normal[3], double offset, rp_surface *out)
{
    static const uint32_t triangle[2][3] = {{0, 1, 2}, {0, 2, 3}};
    static const int sign[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    double u[3] = {0}, v[3], middle[3], half[2] = {0};
    int least = 0;
    for (int a = 1; a < 3; a++) {
        least = fabs(normal[a]) < fabs(normal[least]) ? a : least;
    }
    u[least] = 1.0;
    const double along = rp_dot(u, normal);
    double length = 0.0;
    for (int a = 0; a < 3; a++) {
        u[a] -= along * normal[a];
        length += u[a] * u[a];
    }
    for (int a = 0; a < 3; a++) {
        u[a] /= sqrt(length);
        middle[a] = 0.5 * (f->lower[a] + f->upper[a]);
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        v[a] = normal[b] * u[c] - normal[c] * u[b];
    }
    const double height = rp_dot(normal, middle) - offset;
    for (int a = 0; a < 3; a++) {
        middle[a] -= height * normal[a];
        half[0] += 0.5 * fabs(u[a]) * (f->upper[a] - f->lower[a]);
        half[1] += 0.5 * fabs(v[a]) * (f->upper[a] - f->lower[a]);
    }
    out->vertex = malloc(4 * sizeof *out->vertex);
    out->normal = malloc(4 * sizeof *out->normal);
    out->triangle = malloc(sizeof triangle);
    if (out->vertex == NULL || out->normal == NULL || out->triangle == NULL) {
        rp_surface_free(out);
        return rp_fail(RP_ERR_MEMORY, "no memory for the surface of a shape");
    }
    for (int k = 0; k < 4; k++) {
        for (int a = 0; a < 3; a++) {
            out->vertex[k][a] =
                (float)(middle[a] + sign[k][0] * half[0] * u[a] + sign[k][1] * half[1] * v[a]);
            out->normal[k][a] = (float)normal[a];
        }
    }
    memcpy(out->triangle, triangle, sizeof triangle);
    out->vertices = 4;
    out->triangles = 2;
    return RP_OK;
}

// ---- triangles of its own ----

// The normal of a triangle at each of its corners, as long as the angle there: how a face is cut
// into triangles then does not matter. 0 where it has no area.
static void face_normals(const double (*place)[3], const int32_t triangle[3], float out[3][3])
{
    double side[3][3], n[3], length[3]; // sides lie opposite their corners
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++) {
            side[c][k] = place[triangle[(c + 2) % 3]][k] - place[triangle[(c + 1) % 3]][k];
        }
        length[c] = sqrt(rp_dot(side[c], side[c]));
    }
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        n[k] = side[0][a] * side[1][b] - side[0][b] * side[1][a];
    }
    const double area = sqrt(rp_dot(n, n));
    for (int c = 0; c < 3; c++) {
        const int a = (c + 1) % 3, b = (c + 2) % 3;
        const double cosine = -rp_dot(side[a], side[b]) / (length[a] * length[b]);
        for (int k = 0; k < 3; k++) {
            out[c][k] =
                area > 0.0 ? (float)(acos(fmax(-1.0, fmin(1.0, cosine))) * n[k] / area) : 0.0f;
        }
    }
}

static rp_result take_triangles(const rp_mesh *mesh, rp_surface *out)
{
    list vertices = {.size = 3 * sizeof(float)}, normals = vertices;
    list triangles = {.size = 3 * sizeof(uint32_t)};
    float(*corner)[3][3] = malloc((size_t)mesh->triangles * sizeof *corner);
    bool enough = corner != NULL;
    for (int32_t i = 0; i < mesh->places && enough; i++) {
        float(*v)[3] = list_add(&vertices);
        enough = v != NULL;
        for (int k = 0; k < 3 && enough; k++) {
            (*v)[k] = (float)rp_mesh_place(mesh)[i][k];
        }
    }
    for (int32_t i = 0; i < mesh->triangles && enough; i++) {
        const int32_t *from = rp_mesh_triangle(mesh)[i];
        uint32_t(*t)[3] = list_add(&triangles);
        enough = t != NULL;
        for (int k = 0; k < 3 && enough; k++) {
            (*t)[k] = (uint32_t)from[k];
        }
        face_normals((const double(*)[3])rp_mesh_place(mesh), from, corner[i]);
    }
    enough = enough && part_creases(&vertices, &normals, &triangles, corner, CUSP);
    free(corner);
    return finish(enough, &vertices, &normals, &triangles, out);
}

// The mesh stays empty where the shape has none, or where the box would cut it.
static rp_result own_triangles(const field *f, int dimension, rp_mesh *out)
{
    double lower[3], upper[3];
    const rp_shape_slab slab = {.middle = 0.5 * (f->lower[2] + f->upper[2]),
                                .half = 0.5 * (f->upper[2] - f->lower[2]) - f->cell};
    bool within =
        f->shape->class->triangles != NULL && rp_shape_bounds(f->shape, dimension, lower, upper);
    for (int a = 0; a < dimension && within; a++) {
        within = f->lower[a] <= lower[a] && upper[a] <= f->upper[a];
    }
    return within ? f->shape->class->triangles(f->shape, f->slab ? &slab : NULL, out) : RP_OK;
}

// ---- all of it ----

static bool make_all(const field *f, list *blocks, list *vertices, list *normals, list *triangles)
{
    int64_t low[3] = {0}, high[3];
    const int threads = rp_default_threads();
    for (int a = 0; a < 3; a++) {
        high[a] = (f->cells[a] + BLOCK - 1) / BLOCK;
    }
    find_blocks(f, low, high, blocks);
    if (blocks->failed) {
        return false;
    }
    making m = {.field = f, .block = blocks->data};
    rp_parallel_for(threads, (int64_t)blocks->count, 4, make_cells, &m);
    if (!join_all(blocks->data, blocks->count, vertices, triangles)) {
        return false;
    }
    float(*corner)[3][3] = malloc((triangles->count + 1) * sizeof *corner);
    shading s = {.field = f,
                 .vertex = vertices->data,
                 .triangle = (const uint32_t(*)[3])triangles->data,
                 .normal = corner};
    bool enough = corner != NULL;
    if (enough) {
        rp_parallel_for(threads, (int64_t)triangles->count, 256, ask_normals, &s);
        enough = part_creases(vertices, normals, triangles, corner, CREASE);
    }
    free(corner);
    return enough;
}

// The part of the box that the shape reaches, in whole cells with one to spare on each side.
static rp_result fit_box(field *f, int dimension)
{
    double lower[3], upper[3];
    rp_shape_bounds(f->shape, dimension, lower, upper);
    for (int a = 0; a < 3; a++) {
        if (a < dimension) {
            f->lower[a] = fmax(f->lower[a], lower[a] - 1.5 * f->cell);
            f->upper[a] = fmin(f->upper[a], upper[a] + 1.5 * f->cell);
        }
        const double cells = ceil((f->upper[a] - f->lower[a]) / f->cell);
        if (cells > CELLS_MOST) {
            return rp_fail(RP_ERR_LIMIT, "surface.cell: %g m is too fine for a box of %g m",
                           f->cell, f->upper[a] - f->lower[a]);
        }
        f->cells[a] = cells > 0.0 ? (int64_t)cells : 0;
    }
    return RP_OK;
}

static rp_result contour(field *f, int dimension, rp_surface *out)
{
    RP_TRY(fit_box(f, dimension));
    if (f->cells[0] == 0 || f->cells[1] == 0 || f->cells[2] == 0) {
        return RP_OK; // the box holds nothing of it
    }
    list blocks = {.size = sizeof(block)}, vertices = {.size = 3 * sizeof(float)};
    list normals = vertices, triangles = {.size = 3 * sizeof(uint32_t)};
    const bool enough = make_all(f, &blocks, &vertices, &normals, &triangles);
    for (size_t i = 0; i < blocks.count; i++) {
        free(((block *)blocks.data)[i].cells.data);
    }
    free(blocks.data);
    return finish(enough, &vertices, &normals, &triangles, out);
}

rp_result rp_shape_surface(const rp_shape *shape, int dimension, const double lower[3],
                           const double upper[3], double cell, rp_surface *out)
{
    field f = {.shape = shape, .slab = dimension == 2, .cell = cell};
    double normal[3], offset = 0.0;
    *out = (rp_surface){0};
    for (int a = 0; a < 3; a++) {
        f.lower[a] = lower[a];
        f.upper[a] = upper[a];
        if (!(isfinite(lower[a]) && isfinite(upper[a]) && lower[a] < upper[a])) {
            return rp_fail(RP_ERR_ARGUMENT, "surface: want a box, got %g to %g m", lower[a],
                           upper[a]);
        }
    }
    if (!(cell > 0.0 && isfinite(cell))) {
        return rp_fail(RP_ERR_ARGUMENT, "surface.cell: want > 0 m, got %g", cell);
    }
    if (is_plane(&f, normal, &offset)) {
        return make_quad(&f, normal, offset, out);
    }
    rp_mesh own = {0};
    rp_result result = own_triangles(&f, dimension, &own);
    if (result == RP_OK) {
        result = own.triangles > 0 ? take_triangles(&own, out) : contour(&f, dimension, out);
    }
    rp_mesh_free(&own);
    return result;
}
