// The surface of a body as a node sees it: fast answers beside slow ones, and exact faces.
#include "collide/surface.h"

#include "check.h"
#include "random.h"
#include "scene_text.h"
#include "sim/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A block that is turned against the grid, of particles at random places, and another far away.
#define BLOCKS                                                                                     \
    "scene { dimension = 3, dx = 0.1, fps = 100, frames = 1, gravity = {0, 0, 0},\n"               \
    "        precision = 'double' }\n"                                                             \
    "local rubber = material.elastic { density = 1000, young = 1e4 }\n"                            \
    "particles { material = rubber, body = 'block', shape = move(box { min = {-0.5, -0.4, -0.3}, " \
    "max = {0.5, 0.4, 0.3} }, { rotation = { axis = {1, 2, 3}, angle = 40 } }) }\n"                \
    "particles { material = rubber, body = 'other', shape = box { min = {3, 3, 3}, max = {3.3, "   \
    "3.3, 3.3} } }\n"

enum { PAGES_MOST = 64, SEEN_MOST = 4096 };

// All pages of one body around a block, in order.
typedef struct crowd {
    rp_cells cells[PAGES_MOST];
    rp_view view[PAGES_MOST];
    rp_views views;
    rp_sight_room room;
} crowd;

static void *get(size_t count, size_t size)
{
    return aligned_alloc(64, (count * size + 64) / 64 * 64 + 64);
}

static void seat(crowd *c, const rp_set *set, const rp_layout *l, const int32_t block[3], int field)
{
    memset(c, 0, sizeof *c);
    c->views = (rp_views){.view = c->view, .dim = l->dim, .order = l->order};
    c->room = (rp_sight_room){.box = get(SEEN_MOST, sizeof(rp_cell_box)),
                              .first = get(SEEN_MOST, sizeof(int32_t)),
                              .end = get(SEEN_MOST, sizeof(int32_t)),
                              .view = get(SEEN_MOST, sizeof(rp_view *)),
                              .most = SEEN_MOST};
    for (rp_local p = 0; p < set->pages && c->views.count < PAGES_MOST; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        bool near = page->field == field;
        for (int a = 0; a < 3; a++) {
            near = near && abs(page->block[a] - block[a]) <= 1;
        }
        if (!near) {
            continue;
        }
        rp_cells *cells = &c->cells[c->views.count];
        rp_view *view = &c->view[c->views.count++];
        rp_cells_cover(cells, l, page);
        const size_t n = (size_t)page->count, boxes = (size_t)rp_cells_count(cells);
        cells->start = get(boxes + 1, sizeof(int32_t));
        cells->box = get(boxes, sizeof(rp_cell_box));
        for (int a = 0; a < 3; a++) {
            cells->x[a] = get(n, sizeof(double));
        }
        cells->radius = get(n, sizeof(double));
        cells->depth = get(n, sizeof(double));
        cells->slot = get(n, sizeof(int32_t));
        int32_t *order = get(n, sizeof(int32_t));
        rp_cells_fill(cells, set, page, order);
        free(order);
        *view = (rp_view){.cells = cells, .set = set, .page = page};
        for (int a = 0; a < 3; a++) {
            view->away[a] = (page->block[a] - block[a]) * l->cells[a];
        }
    }
}

static void leave(crowd *c)
{
    for (int i = 0; i < c->views.count; i++) {
        rp_cells *cells = &c->cells[i];
        void *const all[] = {cells->start, cells->box,    cells->x[0],  cells->x[1],
                             cells->x[2],  cells->radius, cells->depth, cells->slot};
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
            free(all[k]);
        }
    }
    free(c->room.box);
    free(c->room.first);
    free(c->room.end);
    free((void *)c->room.view);
}

typedef struct fixture {
    rp_scene *scene;
    rp_world *world;
} fixture;

static fixture begin(void)
{
    fixture f = {.scene = scene_of(BLOCKS)};
    rp_scene_world_def def = rp_default_scene_world_def();
    if (rp_scene_create_world(f.scene, &def, &f.world) != RP_OK ||
        rp_world_step(f.world) != RP_OK) {
        check_record(__FILE__, __LINE__, "no world: %s", rp_last_error());
    }
    return f;
}

static void end(fixture *f)
{
    rp_world_destroy(f->world);
    rp_scene_free(f->scene);
}

// Particles that reach a node, one by one.
static int reach_slowly(const crowd *c, const int node[3], const double way[3], double *most)
{
    int count = 0;
    *most = -INFINITY;
    for (int v = 0; v < c->views.count; v++) {
        const rp_cells *cells = c->view[v].cells;
        for (int32_t i = 0; i < cells->start[rp_cells_count(cells)]; i++) {
            bool reaches = true;
            double u = cells->radius[i];
            for (int a = 0; a < 3; a++) {
                const double x = cells->x[a][i] + c->view[v].away[a] - node[a];
                reaches = reaches && fabs(x) < 0.5 * (c->views.order + 1);
                u += way[a] * x;
            }
            count += reaches;
            *most = reaches && u > *most ? u : *most;
        }
    }
    return count;
}

// Catches cells that are left out, boxes that are too small, and particles in the wrong cell.
static void a_body_reaches_as_far_as_its_farthest_ball(void)
{
    fixture f = begin();
    const rp_set *set = &f.world->set[0];
    const rp_layout *l = &f.world->grid.layout;
    static const int32_t origin[3] = {0};
    crowd c;
    uint64_t seed = 7;
    int seen = 0;
    seat(&c, set, l, origin, 1);
    for (int n = 0; n < 400; n++) {
        int node[3];
        double way[3], length2 = 0.0, most;
        for (int a = 0; a < 3; a++) {
            node[a] = (int)(test_uniform(&seed) * l->cells[a]);
            way[a] = 2.0 * test_uniform(&seed) - 1.0;
            length2 += way[a] * way[a];
        }
        for (int a = 0; a < 3; a++) {
            way[a] /= sqrt(length2);
        }
        c.room.count = 0;
        const rp_sight s = rp_sight_of(&c.views, node, 0, &c.room);
        const int count = reach_slowly(&c, node, way, &most);
        CHECK_EQUAL(s.particles, count);
        if (count > 0) {
            CHECK_NEAR(rp_sight_reach(&s, way), most, 1e-12);
            CHECK(rp_sight_bound(&s, way) >= most);
            seen++;
        }
    }
    CHECK(seen > 100);
    leave(&c);
    end(&f);
}

// Catches a face that depends on where particles are: they are at random places.
static void a_flat_face_is_exact(void)
{
    fixture f = begin();
    const rp_set *set = &f.world->set[0];
    const rp_layout *l = &f.world->grid.layout;
    // how the block was turned, by Rodrigues' formula
    const double angle = 40.0 * M_PI / 180.0, k = 1.0 / sqrt(14.0);
    const double u[3] = {k, 2.0 * k, 3.0 * k}, c0 = cos(angle), s0 = sin(angle);
    double R[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int other = 3 - i - j;
            const double cross = i == j ? 0.0 : ((j - i + 3) % 3 == 1 ? -1.0 : 1.0) * u[other % 3];
            R[i][j] = (i == j) * c0 + (1.0 - c0) * u[i] * u[j] + s0 * cross;
        }
    }
    // the middle of the face where z was 0.3
    double middle[3];
    int32_t block[3];
    int node[3];
    for (int a = 0; a < 3; a++) {
        middle[a] = 0.3 * R[a][2] / l->h;
        block[a] = (int32_t)floor(middle[a] / l->cells[a]);
        node[a] = (int)(floor(middle[a] + 0.5) - block[a] * l->cells[a]);
        if (node[a] == l->cells[a]) {
            node[a]--;
        }
    }
    crowd c;
    seat(&c, set, l, block, 1);
    const rp_sight s = rp_sight_of(&c.views, node, 0, &c.room);
    const rp_face face = rp_sight_face(&s);
    double reach = 0.0, way[3];
    CHECK(face.known);
    CHECK(face.rough < 1e-4); // the root of what keeps the fit regular, 1e-9
    for (int a = 0; a < 3; a++) {
        way[a] = R[a][2];
        CHECK_NEAR(face.normal[a], R[a][2], 1e-6);
        reach += way[a] * (middle[a] - block[a] * l->cells[a] - node[a]);
    }
    // the balls touch it from inside
    CHECK_NEAR(rp_sight_reach(&s, way), reach, 1e-6);
    leave(&c);
    end(&f);
}

TEST_MAIN(TEST(a_body_reaches_as_far_as_its_farthest_ball), TEST(a_flat_face_is_exact))
