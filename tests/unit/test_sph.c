// Tests src/solver/sph: kernels, who is near whom, and what a step makes of it.
#include "base/result.h"
#include "repose/repose.h"
#include "sim/world.h"
#include "solver/sph/neighbours.h"

#include "check.h"
#include "random.h"
#include "scene_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- kernels ----

// Integrals over the support by the midpoint rule; poly6 and spiky are shares of one particle.
static void kernels_add_up_to_one(void)
{
    enum { N = 20000 };
    for (int dim = 2; dim <= 3; dim++) {
        const rp_sph_kernel k = rp_sph_kernel_make(dim);
        double poly6 = 0.0, spiky = 0.0;
        for (int i = 0; i < N; i++) {
            const double r = (i + 0.5) / N, around = dim == 3 ? 4.0 * M_PI * r * r : 2.0 * M_PI * r;
            poly6 += around * rp_sph_poly6(&k, r) / N;
            // by parts: the integral of W is that of -dW/dr times the volume of the ball over dim
            spiky += around * r / dim * rp_sph_slope(&k, r) / N;
        }
        check_context("%dD", dim);
        CHECK_NEAR(poly6, 1.0, 1e-6);
        CHECK_NEAR(spiky, 1.0, 1e-6);
        CHECK(rp_sph_poly6(&k, 1.0) == 0.0 && rp_sph_slope(&k, 1.0) == 0.0);
        CHECK(rp_sph_poly6(&k, 7.0) == 0.0 && rp_sph_slope(&k, 7.0) == 0.0);
        // nearly the share of space of a lattice of two particles along a cell
        CHECK_NEAR(k.volume * pow(2.0, dim), dim == 3 ? 0.9903 : 0.9856, 1e-4);
    }
}

// ---- a list beside the slow way ----

typedef struct cloud {
    rp_set set;
    rp_buffer scratch;
    rp_neighbours near;
    rp_sph_job job;
    const rp_sph_passes *passes;
    rp_sph_kernel kernel;
    uint64_t random;
} cloud;

static void cloud_init(cloud *c, const rp_sph_passes *passes, const int period[3])
{
    rp_world_def def = rp_default_world_def();
    def.dimension = passes->dim;
    def.precision = passes->real_bits == 32 ? RP_SINGLE : RP_DOUBLE;
    def.dx = 0.1;
    memcpy(def.period, period, sizeof def.period);
    const rp_layout l = rp_layout_make(&def);
    *c = (cloud){.passes = passes, .kernel = rp_sph_kernel_make(passes->dim), .random = 5};
    CHECK_OK(rp_set_init(&c->set, &l, 0, rp_default_allocator()));
    for (int g = 0; g < 2; g++) {
        uint16_t index;
        CHECK_OK(rp_set_add_group(
            &c->set, &(rp_group){.field = (uint16_t)g, .volume = 1.0, .mass = 1.0}, &index));
    }
}

static void cloud_free(cloud *c)
{
    rp_neighbours_free(&c->near, c->set.allocator);
    rp_buffer_free(&c->scratch, c->set.allocator);
    rp_set_free(&c->set);
}

// Particles in a box [cells], of either field; `same` of them in one place.
static void cloud_add(cloud *c, int count, const double corner[3], double size, int same)
{
    rp_set *set = &c->set;
    CHECK_OK(rp_set_reserve_births(set, 0, count));
    double first[3];
    for (int i = 0; i < count; i++) {
        const rp_local at = set->inbox.count + i;
        for (int a = 0; a < set->layout.dim; a++) {
            const double x = corner[a] + size * test_uniform(&c->random);
            first[a] = i == 0 ? x : first[a];
            rp_set_birth_value(set, RP_COL_POSITION, at, a,
                               (i < same ? first[a] : x) * set->layout.h);
        }
        rp_set_birth_value(set, RP_COL_GROUP, at, 0, i >= same && i % 5 == 0);
        *(uint64_t *)rp_set_birth(set, RP_COL_ID, at, 0) = (uint64_t)at;
    }
    set->inbox.count += count;
}

static void cloud_sort(cloud *c, int threads)
{
    CHECK_OK(rp_set_sort(&c->set, &c->scratch, threads));
    CHECK_OK(rp_neighbours_sorted(&c->near, &c->set, threads));
}

// Everybody goes up to `cells` along each axis.
static void cloud_drift(cloud *c, double cells)
{
    rp_set *set = &c->set;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            double x[3] = {0};
            for (int a = 0; a < set->layout.dim; a++) {
                const double u = test_uniform(&c->random);
                // the worst there is among them
                const double move = u < 0.2 ? -1.0 : u > 0.8 ? 1.0 : 2.0 * u - 1.0;
                x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, page) +
                       0.999999 * move * cells * set->layout.h;
            }
            rp_set_move(set, page, slot, x);
        }
    }
    rp_set_travelled(set, cells);
}

static void cloud_list(cloud *c, bool moments, int threads)
{
    CHECK_OK(
        rp_neighbours_find(&c->near, &c->set, &c->kernel, c->passes, moments, threads, &c->job));
}

static double real_of(const cloud *c, const void *array, size_t i)
{
    return c->passes->real_bits == 32 ? (double)((const float *)array)[i]
                                      : ((const double *)array)[i];
}

typedef struct row_view {
    double g[3];
    rp_local slot;
} row_view;

static row_view row_at(const cloud *c, size_t i)
{
    row_view r;
    if (c->passes->real_bits == 32) {
        const rp_sph_row_single *row = (const rp_sph_row_single *)c->job.row + i;
        r = (row_view){{row->g[0], row->g[1], row->g[2]}, row->slot};
    } else {
        const rp_sph_row_double *row = (const rp_sph_row_double *)c->job.row + i;
        r = (row_view){{row->g[0], row->g[1], row->g[2]}, (rp_local)row->slot};
    }
    return r;
}

// The rows of a particle: [*first, *end).
static void rows_of(const cloud *c, rp_local p, rp_local slot, size_t *first, size_t *end)
{
    const rp_page *page = &rp_set_page(&c->set)[p];
    const size_t base = c->job.span[p].first;
    *first = base + (slot > page->first ? c->job.end[slot - 1] : 0);
    *end = base + c->job.end[slot];
}

typedef struct place {
    double x[3]; // [cells]
    uint16_t field;
    rp_local page;
    bool alive;
} place;

static place *places_of(const cloud *c)
{
    const rp_set *set = &c->set;
    place *out = calloc((size_t)set->slots + 1, sizeof *out);
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            out[slot] = (place){.field = page->field, .page = p, .alive = true};
            for (int a = 0; a < set->layout.dim; a++) {
                out[slot].x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, page) / set->layout.h;
            }
        }
    }
    return out;
}

// x_i - x_j the shorter way round [cells].
static double between(const rp_layout *l, const place *i, const place *j, double d[3])
{
    double r2 = 0.0;
    for (int a = 0; a < 3; a++) {
        const double period = l->period[a] * l->cells[a];
        d[a] = i->x[a] - j->x[a];
        d[a] -= period > 0.0 ? period * round(d[a] / period) : 0.0;
        r2 += d[a] * d[a];
    }
    return sqrt(r2);
}

// Everybody against everybody. Who is within rounding of the rim may be there or not.
static void check_list(const cloud *c, bool moments)
{
    const rp_layout *l = &c->set.layout;
    const double unit = c->passes->real_bits == 32 ? 0x1p-24 : 0x1p-53;
    const double rim = c->passes->real_bits == 32 ? 1e-6 : 1e-12;
    place *all = places_of(c);
    size_t found = 0, wanted = 0;
    for (rp_local i = 0; i < c->set.slots; i++) {
        size_t first, end;
        if (!all[i].alive) {
            continue;
        }
        rows_of(c, all[i].page, i, &first, &end);
        double fill = 1.0, square = 0.0, sum[3] = {0}, moment[3][3] = {{0}}, size = 0.0,
               turned = 0.0;
        size_t row = first;
        int sure = 0, unsure = 0;
        for (rp_local j = 0; j < c->set.slots; j++) {
            double d[3];
            if (!all[j].alive || j == i || all[j].field != all[i].field) {
                continue;
            }
            const double r = between(l, &all[i], &all[j], d);
            if (r > 1.0 + rim) {
                continue;
            }
            // rows come in the order of pages around, not of slots: look for it
            for (row = first; row < end && row_at(c, row).slot != j; row++) {
            }
            sure += r < 1.0 - rim;
            unsure += r >= 1.0 - rim && row < end;
            if (row == end) {
                if (r < 1.0 - rim) {
                    check_record(__FILE__, __LINE__, "%d lacks %d at %.9g cells", i, j, r);
                    free(all);
                    return;
                }
                continue;
            }
            const row_view seen = row_at(c, row);
            const double slope = r < 1.0 ? c->kernel.steepness * (1.0 - r) * (1.0 - r) : 0.0;
            for (int a = 0; a < 3; a++) {
                const double want = r > 0.0 ? -slope * d[a] / r : 0.0;
                // the way to metres and back turns the direction of those that are close
                const double turn = 64.0 * 0x1p-53 / (r + 1e-30);
                if (!(fabs(seen.g[a] - want) <= (40.0 * unit + turn) * c->kernel.steepness)) {
                    check_record(__FILE__, __LINE__, "g of %d and %d at %.9g: got %g, want %g", i,
                                 j, r, seen.g[a], want);
                    free(all);
                    return;
                }
                sum[a] += want;
                turned += r > 0.0 ? turn * c->kernel.steepness : 0.0;
                square += want * want;
                size += fabs(want);
                for (int b = 0; b < 3; b++) {
                    moment[a][b] -= want * d[b];
                }
            }
            const double u = 1.0 - r * r;
            fill += u > 0.0 ? u * u * u : 0.0;
        }
        found += end - first;
        wanted += (size_t)(sure + unsure);
        fill *= c->kernel.volume * c->kernel.density;
        square += sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2];
        const double near = 64.0 * unit, scale = c->kernel.steepness;
        const int s = (int)i;
        if (!(fabs(real_of(c, c->job.fill, (size_t)s) - fill) <= near * fill) ||
            !(fabs(real_of(c, c->job.stiffness, (size_t)s) - square) <=
              near * (square + size * scale) + 2.0 * size * turned)) {
            check_record(__FILE__, __LINE__, "particle %d: fill %g, want %g; stiffness %g, want %g",
                         i, real_of(c, c->job.fill, (size_t)s), fill,
                         real_of(c, c->job.stiffness, (size_t)s), square);
            free(all);
            return;
        }
        static const int at3[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
        static const int at2[3][3] = {{0, 2, 0}, {2, 1, 0}, {0, 0, 0}};
        const int dim = l->dim;
        for (int a = 0; a < dim && moments; a++) {
            for (int b = 0; b < dim; b++) {
                const int k = dim == 3 ? at3[a][b] : at2[a][b];
                const size_t where =
                    ((size_t)(i / RP_LANES) * (size_t)rp_sym_comps(dim) + (size_t)k) * RP_LANES +
                    (size_t)(i % RP_LANES);
                const double got = real_of(c, c->job.moment, where);
                if (!(fabs(got - moment[a][b]) <= near * (1.0 + size) + turned)) {
                    check_record(__FILE__, __LINE__, "moment %d %d of %d: got %g, want %g", a, b, i,
                                 got, moment[a][b]);
                    free(all);
                    return;
                }
            }
        }
    }
    free(all);
    CHECK_EQUAL(found, wanted);
}

static void each_variant(void (*body)(const rp_sph_passes *passes))
{
    for (int i = 0; i < rp_sph_passes_count(); i++) {
        const rp_sph_passes *p = rp_sph_passes_at(i);
        if (rp_isa_supported(p->isa)) {
            check_context("%dD, %d bits, %s", p->dim, p->real_bits, rp_isa_name(p->isa));
            CHECK_HELPER(body(p));
        }
    }
}

// In the open and in space that repeats after one block or two; right after a sort, and after
// everybody has gone a little and much. Two fields that do not see each other, a heap, flying
// grains and grains in the same place. Catches cells that are left out, pages that are not wrapped,
// the travel that is forgotten, a tile that is cut at the wrong lane, a particle that is its own
// neighbour.
static void list_of_variant(const rp_sph_passes *passes)
{
    static const int periods[3][3] = {{0, 0, 0}, {8, 16, 4}, {0, 8, 8}};
    static const double drifts[] = {0.0, 0.02, 0.3};
    for (int p = 0; p < 3; p++) {
        cloud c;
        CHECK_HELPER(cloud_init(&c, passes, periods[p]));
        cloud_add(&c, 500, (const double[3]){-1.5, 6.2, 2.1}, 4.0, 1);
        cloud_add(&c, 200, (const double[3]){0.0, 0.0, 0.0}, 1.0, 20);
        cloud_add(&c, 40, (const double[3]){-20.0, -20.0, -20.0}, 40.0, 1);
        CHECK_HELPER(cloud_sort(&c, 1));
        for (int d = 0; d < 3; d++) {
            check_context("%dD, %d bits, %s, periods %d %d %d, drift %g", passes->dim,
                          passes->real_bits, rp_isa_name(passes->isa), periods[p][0], periods[p][1],
                          periods[p][2], drifts[d]);
            cloud_drift(&c, drifts[d]);
            CHECK_HELPER(cloud_list(&c, d != 1, 1));
            CHECK_HELPER(check_list(&c, d != 1));
        }
        cloud_free(&c);
    }
}

static void the_list_is_what_all_pairs_say(void) { CHECK_HELPER(each_variant(list_of_variant)); }

// g_ij = -g_ji to the last bit: then forces between two particles cancel exactly.
static void pairs_of_variant(const rp_sph_passes *passes)
{
    cloud c;
    CHECK_HELPER(cloud_init(&c, passes, (const int[3]){8, 0, 4}));
    cloud_add(&c, 600, (const double[3]){-2.0, -2.0, -2.0}, 6.0, 1);
    CHECK_HELPER(cloud_sort(&c, 1));
    cloud_drift(&c, 0.04);
    CHECK_HELPER(cloud_list(&c, false, 1));
    place *all = places_of(&c);
    int pairs = 0, odd = 0;
    for (rp_local i = 0; i < c.set.slots; i++) {
        size_t first, end, back, back_end;
        if (!all[i].alive) {
            continue;
        }
        rows_of(&c, all[i].page, i, &first, &end);
        for (size_t row = first; row < end; row++) {
            const row_view here = row_at(&c, row);
            rows_of(&c, all[here.slot].page, here.slot, &back, &back_end);
            bool same = false;
            for (; back < back_end && !same; back++) {
                const row_view there = row_at(&c, back);
                same = there.slot == i && there.g[0] == -here.g[0] && there.g[1] == -here.g[1] &&
                       there.g[2] == -here.g[2];
            }
            odd += !same;
            pairs++;
        }
    }
    free(all);
    CHECK_EQUAL(odd, 0);
    CHECK(pairs > 3000);
    cloud_free(&c);
}

static void two_see_each_other_alike(void) { CHECK_HELPER(each_variant(pairs_of_variant)); }

// Rows do not depend on the number of threads, nor on which cells were looked at: a list after a
// state was restored may look at more of them.
static void rows_of_variant(const rp_sph_passes *passes)
{
    static const int threads[] = {1, 2, 5};
    cloud c[3];
    for (int k = 0; k < 3; k++) {
        CHECK_HELPER(cloud_init(&c[k], passes, (const int[3]){8, 0, 0}));
        cloud_add(&c[k], 3000, (const double[3]){-3.0, -3.0, -3.0}, passes->dim == 3 ? 7.0 : 20.0,
                  5);
        CHECK_HELPER(cloud_sort(&c[k], threads[k]));
        cloud_drift(&c[k], 0.03);
        c[k].set.travel = 0.03 + 0.1 * k;
        CHECK_HELPER(cloud_list(&c[k], true, threads[k]));
    }
    for (int k = 1; k < 3; k++) {
        const size_t size =
            passes->real_bits == 32 ? sizeof(rp_sph_row_single) : sizeof(rp_sph_row_double);
        CHECK_EQUAL(c[k].near.rows, c[0].near.rows);
        for (rp_local p = 0; p < c[0].set.pages; p++) {
            CHECK_EQUAL(c[k].job.span[p].rows, c[0].job.span[p].rows);
            CHECK(memcmp((char *)c[k].job.row + c[k].job.span[p].first * size,
                         (char *)c[0].job.row + c[0].job.span[p].first * size,
                         c[0].job.span[p].rows * size) == 0);
        }
    }
    for (int k = 0; k < 3; k++) {
        cloud_free(&c[k]);
    }
}

static void the_list_is_the_same_for_any_threads(void)
{
    CHECK_HELPER(each_variant(rows_of_variant));
}

// Far more neighbours than anybody expects, in one page of many: the list makes room.
static void a_crowd_fits_into_the_list(void)
{
    cloud c;
    CHECK_HELPER(cloud_init(&c, rp_sph_passes_find(3, 32, RP_ISA_PLAIN), (const int[3]){0}));
    cloud_add(&c, 400, (const double[3]){1.0, 1.0, 1.0}, 0.9, 3);
    cloud_add(&c, 400, (const double[3]){8.0, 0.0, 0.0}, 8.0, 1);
    CHECK_HELPER(cloud_sort(&c, 1));
    for (int turn = 0; turn < 2; turn++) {
        CHECK_HELPER(cloud_list(&c, true, 1));
        CHECK_HELPER(check_list(&c, true));
        CHECK(c.near.rows > 100 * 400);
    }
    cloud_free(&c);
}

// A lattice of two particles along a cell is exactly full, its gradients cancel, and it is as stiff
// as the kernel says.
static void a_lattice_is_full(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        cloud c;
        CHECK_HELPER(
            cloud_init(&c, rp_sph_passes_find(dim, 64, RP_ISA_PLAIN), (const int[3]){8, 8, 4}));
        const int count = dim == 3 ? 16 * 16 * 8 : 16 * 16;
        CHECK_OK(rp_set_reserve_births(&c.set, 0, count));
        for (int i = 0; i < count; i++) {
            const int at[3] = {i % 16, i / 16 % 16, i / 256};
            for (int a = 0; a < dim; a++) {
                rp_set_birth_value(&c.set, RP_COL_POSITION, i, a,
                                   (0.5 * at[a] + 0.3) * c.set.layout.h);
            }
        }
        rp_set_end_births(&c.set, count, 0);
        CHECK_HELPER(cloud_sort(&c, 1));
        CHECK_HELPER(cloud_list(&c, true, 1));
        for (rp_local i = 0; i < count; i++) {
            CHECK_NEAR(((double *)c.job.fill)[i], 1.0, 1e-12);
            CHECK_NEAR(((double *)c.job.stiffness)[i], c.kernel.stiffness,
                       1e-12 * c.kernel.stiffness);
        }
        // those on the rim may be among them
        CHECK(c.near.rows >= (size_t)(count * (dim == 3 ? 26 : 8)));
        cloud_free(&c);
    }
}

// ---- worlds ----

// A column that falls over a step onto a wedge that moves, with cohesion in part of it.
static const char scene[] =
    "scene { method = 'sph', dimension = %d, precision = '%s', dx = 0.04, frames = 2, fps = 20 }\n"
    "local dry, damp = material.sand {}, material.sand { cohesion = 500, density = 1800 }\n"
    "particles { material = dry, shape = box { min = {0, 0.1, 0}, max = {0.2, 0.3, 0.2} } }\n"
    "particles { material = damp, velocity = {1, -1, 0}, shape = box { min = {0, 0.3, 0}, max = "
    "{0.2, 0.4, 0.2} } }\n"
    "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "
    "'separate', friction = 0.4 }\n"
    "collider { shape = box { min = {-0.2, 0, -1}, max = {0.04, 0.1, 1} }, motion = function(t) "
    "return {position = {0.3 * t, 0, 0}} end }\n"
    "rigid { shape = sphere { center = {0.15, 0.465, 0.1}, radius = 0.06 }, density = 900, "
    "velocity = {0, -1, 0} }\n";

static rp_world *world_of(int dim, const char *precision, int threads, rp_scene **out)
{
    static char text[2048];
    snprintf(text, sizeof text, scene, dim, precision);
    rp_scene_world_def how = rp_default_scene_world_def();
    rp_world *world = NULL;
    how.threads = threads;
    *out = scene_of(text);
    if (rp_scene_create_world(*out, &how, &world) != RP_OK) {
        check_record(__FILE__, __LINE__, "%s", rp_last_error());
    }
    return world;
}

// The same bits for 1, 2 and 5 threads, and after a state was saved between two sorts in mid-frame.
static void a_run_has_the_same_bits_however_it_is_run(void)
{
    static const struct {
        int dim;
        const char *precision;
    } cases[] = {{2, "single"}, {3, "single"}, {2, "double"}};
    for (int c = 0; c < 3; c++) {
        void *state[4], *half = NULL;
        size_t size[4], half_size = 0;
        static const int threads[] = {1, 2, 5, 1};
        for (int i = 0; i < 4; i++) {
            rp_scene *s;
            rp_world *world = world_of(cases[c].dim, cases[c].precision, threads[i], &s);
            check_context("%dD, %s, run %d", cases[c].dim, cases[c].precision, i);
            CHECK(world != NULL);
            if (i == 3) {
                CHECK_OK(rp_world_restore(world, half, half_size));
                rp_state_free(half);
            }
            for (int k = i == 3 ? 41 : 0; k < 70; k++) {
                CHECK_OK(rp_world_step(world));
                if (i == 0 && k == 40) {
                    CHECK_OK(rp_world_save(world, &half, &half_size));
                }
            }
            CHECK_OK(rp_world_save(world, &state[i], &size[i]));
            rp_world_destroy(world);
            rp_scene_free(s);
        }
        for (int i = 1; i < 4; i++) {
            check_context("%dD, %s, run %d", cases[c].dim, cases[c].precision, i);
            CHECK(size[i] == size[0] && memcmp(state[i], state[0], size[0]) == 0);
        }
        for (int i = 0; i < 4; i++) {
            rp_state_free(state[i]);
        }
    }
}

// Catches cells that are trusted as a damaged state, or a sort without memory for them, left them:
// the next step sorts again, and no slot outside of the set is looked at.
static void cells_that_do_not_fit_are_made_again(void)
{
    for (int i = 0; i < 6; i++) {
        rp_scene *s;
        rp_world *world = world_of(2 + i % 2, "single", 1, &s);
        CHECK(world != NULL);
        for (int k = 0; k < 10; k++) {
            CHECK_OK(rp_world_step(world));
        }
        const rp_registry_entry *e = NULL;
        for (int k = 0; k < world->registry.entries; k++) {
            if (strcmp(world->registry.entry[k].name, "sph/cells") == 0) {
                e = &world->registry.entry[k];
            }
        }
        CHECK(e != NULL && *e->count > 0);
        uint32_t *cell = rp_registry_data(e);
        const int pages = world->set->pages, each = *e->count / pages;
        switch (i / 2) {
        case 0: // a bit that points far away
            cell[each / 2] ^= 1u << 30;
            break;
        case 1: // of fewer pages
            *e->count -= each;
            break;
        default: // each page has one too many
            for (int p = 0; p < pages; p++) {
                cell[(p + 1) * each - 1]++;
            }
        }
        void *state;
        size_t size;
        CHECK_OK(rp_world_save(world, &state, &size));
        CHECK_OK(rp_world_restore(world, state, size));
        rp_state_free(state);
        const int64_t sorts = world->stats.sorts;
        check_context("case %d", i);
        CHECK_OK(rp_world_step(world));
        CHECK(world->stats.sorts == sorts + 1);
        for (int k = 0; k < 10; k++) {
            CHECK_OK(rp_world_step(world));
        }
        rp_world_destroy(world);
        rp_scene_free(s);
    }
}

// Catches a division by the slope of the kernel, which is 0 between two in one place.
static void two_in_one_place_rub_without_harm(void)
{
    check_expect_warning(); // there is twice as much sand as fits
    for (int i = 0; i < 4; i++) {
        static char text[1024];
        snprintf(text, sizeof text,
                 "scene { method = 'sph', dimension = %d, precision = '%s', dx = 0.04, frames = 1, "
                 "fps = 50, gravity = {0, 0, 0}, sph = { viscosity = 1e-3 } }\n"
                 "for side = -1, 1, 2 do\n"
                 "  particles { material = material.sand {}, velocity = {side, 0, 0}, jitter = 0, "
                 "sampling = 'lattice', shape = box { min = {0, 0, 0}, max = {0.08, 0.08, 0.08} } "
                 "}\n"
                 "end\n",
                 2 + i % 2, i / 2 ? "double" : "single");
        rp_scene *s = scene_of(text);
        rp_scene_world_def how = rp_default_scene_world_def();
        rp_world *world = NULL;
        check_context("case %d", i);
        CHECK_OK(rp_scene_create_world(s, &how, &world));
        rp_totals before, after;
        rp_world_totals(world, &before);
        CHECK_OK(rp_world_step(world));
        rp_world_totals(world, &after);
        CHECK(after.kinetic < before.kinetic && after.kinetic > 0.0);
        rp_world_destroy(world);
        rp_scene_free(s);
    }
}

#define BAD(what) "scene { method = 'sph', dx = 0.04, frames = 1" what

// What the method cannot do is named before anything runs.
static void what_cannot_be_done_is_named(void)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {BAD(" }\nparticles { material = material.water {}, shape = box { min = {0,0,0}, max = "
             "{1,1,1} } }"),
         "method sph cannot simulate material.water; it can sand"},
        {BAD(" }\nparticles { material = material.sand { hardening = true }, shape = box { min = "
             "{0,0,0}, max = {1,1,1} } }"),
         "hardening of sand"},
        {BAD(" }\nparticles { material = material.sand {}, per_cell = 27, shape = box { min = "
             "{0,0,0}, max = {1,1,1} } }"),
         "method sph wants 8 particles in a cell of dx, which are 0.02 m apart"},
        {BAD(", sph = { relaxation = 0.7 } }"), "relaxation"},
        {BAD(", sph = { tolerance = 1e-9 } }"), "tolerance"},
        {BAD(", sph = { clamp = 'corner' } }"), "clamp"},
        {BAD(", sph = { continuity = 'predicted' } }"), "continuity"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rp_scene_def def = def_of(cases[i].text);
        rp_scene_world_def how = rp_default_scene_world_def();
        rp_scene *s = NULL;
        rp_world *world = NULL;
        rp_result result = rp_scene_load(&def, &s);
        result = result == RP_OK ? rp_scene_create_world(s, &how, &world) : result;
        check_context("%s: %s", cases[i].text, rp_last_error());
        CHECK(result != RP_OK);
        CHECK(strstr(rp_last_error(), cases[i].sentence) != NULL);
        rp_world_destroy(world);
        rp_scene_free(s);
    }
}

// Whatever walls and impacts do, pressure never pulls, and what flies loosely has none.
static void sand_without_cohesion_never_pulls(void)
{
    rp_scene *s =
        scene_of("scene { method = 'sph', dimension = 2, dx = 0.04, frames = 2, fps = 20 }\n"
                 "particles { material = material.sand {}, velocity = {2, 1}, shape = box { min = "
                 "{0, 0.1}, max = {0.2, 0.3} } }\n"
                 "particles { material = material.sand {}, velocity = {-2, 1}, shape = box { min = "
                 "{0.3, 0.1}, max = {0.5, 0.3} } }\n");
    rp_scene_world_def how = rp_default_scene_world_def();
    rp_world *world;
    CHECK_OK(rp_scene_create_world(s, &how, &world));
    double most = 0.0;
    for (int k = 0; k < 60; k++) {
        CHECK_OK(rp_world_step(world));
        rp_stats stats;
        rp_world_stats(world, &stats);
        double *h = malloc((size_t)stats.particles * 3 * sizeof *h);
        CHECK_OK(rp_world_read(world, RP_COL_STRAIN, h));
        for (int64_t i = 0; i < stats.particles; i++) {
            // the trace of the strain has the sign of the mean stress
            CHECK(h[3 * i] + h[3 * i + 1] <= 1e-9);
            most = fmax(most, -h[3 * i] - h[3 * i + 1]);
        }
        free(h);
    }
    CHECK(most > 1e-4);
    rp_world_destroy(world);
    rp_scene_free(s);
}

TEST_MAIN(TEST(kernels_add_up_to_one), TEST(a_lattice_is_full),
          TEST(the_list_is_what_all_pairs_say), TEST(two_see_each_other_alike),
          TEST(the_list_is_the_same_for_any_threads), TEST(a_crowd_fits_into_the_list),
          TEST(a_run_has_the_same_bits_however_it_is_run), TEST(what_cannot_be_done_is_named),
          TEST(sand_without_cohesion_never_pulls), TEST(cells_that_do_not_fit_are_made_again),
          TEST(two_in_one_place_rub_without_harm))
