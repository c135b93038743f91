// What a benchmark says about the goals that docs/architecture.md, "Measurements", lists.
#include "bench_goals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// What was found for a heap.
static const bench_done *heap_of(const bench_done *done, int count, double particles, int order,
                                 rp_gradient gradient, rp_precision precision, int threads)
{
    for (int i = 0; i < count; i++) {
        const bench_case *c = &done[i].asked;
        if (c->state == BENCH_COLLAPSED && c->particles == particles && c->order == order &&
            c->gradient == gradient && c->precision == precision && c->threads == threads) {
            return &done[i];
        }
    }
    return NULL;
}

// ... and for a scene, on one thread.
static const bench_done *scene_of(const bench_done *done, int count, const char *scene)
{
    for (int i = 0; i < count; i++) {
        const bench_case *c = &done[i].asked;
        if (c->scene != NULL && strcmp(c->scene, scene) == 0 && c->threads == 1) {
            return &done[i];
        }
    }
    return NULL;
}

// ... and for blocks.
static const bench_done *blocks_of(const bench_done *done, int count, bench_state state,
                                   bool fields, bool contact)
{
    for (int i = 0; i < count; i++) {
        if (done[i].asked.state == state && done[i].asked.fields == fields &&
            done[i].asked.contact == contact) {
            return &done[i];
        }
    }
    return NULL;
}

// One line; what was not measured is left out.
static void goal(const char *what, double measured, const char *unit, const char *sign, double want)
{
    if (isfinite(measured)) {
        const bool met = sign[0] == '<' ? measured <= want : measured >= want;
        printf("  %-58s %8.1f %-6s want %s %g%s\n", what, measured, unit, sign, want,
               met ? "" : "   MISSED");
    }
}

static double rate(const bench_done *d) { return d != NULL ? 1e-6 / d->found.wall : NAN; }

static double outside(const bench_done *d)
{
    if (d == NULL) {
        return NAN;
    }
    const double *stage = d->found.stage;
    const double inside = stage[BENCH_P2G] + stage[BENCH_GRID] + stage[BENCH_G2P];
    return 100.0 * (1.0 - inside / d->found.wall);
}

void bench_print_goals(const bench_done *done, int count, int threads)
{
    const rp_gradient AFFINE = RP_GRADIENT_AFFINE, SPLINE = RP_GRADIENT_SPLINE;
#define HEAP(particles, order, gradient, precision, threads)                                       \
    heap_of(done, count, particles, order, gradient, precision, threads)
    const bench_done *heap = HEAP(1e6, 2, AFFINE, RP_SINGLE, 1),
                     *heap2 = HEAP(1e6, 2, AFFINE, RP_SINGLE, threads),
                     *cubic = HEAP(1e6, 3, SPLINE, RP_SINGLE, 1),
                     *cubic2 = HEAP(1e6, 3, SPLINE, RP_SINGLE, threads),
                     *twice = HEAP(1e6, 2, AFFINE, RP_DOUBLE, 1),
                     *small = HEAP(BENCH_SMALL, 2, SPLINE, RP_SINGLE, 1);
#undef HEAP

    printf("\nGoals, for two cores of a Zen 4 EPYC:\n");
    goal("heap of 1 M, quadratic, affine, one thread", rate(heap), "M/s", ">=", 30.0);
    goal("  beside the FMA loop, in the time that the core gave",
         heap != NULL ? 100.0 * bench_fraction_of_fma(&heap->found) : NAN, "%", ">=", 28.0);
    goal("heap of 1 M, cubic, spline, one thread", rate(cubic), "M/s", ">=", 17.0);
    if (threads == 2) {
        goal("heap of 1 M, quadratic, affine, two threads", rate(heap2), "M/s", ">=", 48.0);
        goal("heap of 1 M, cubic, spline, two threads", rate(cubic2), "M/s", ">=", 26.0);
        goal("efficiency of two threads", 50.0 * rate(heap2) / rate(heap), "%", ">=", 90.0);
    }
    goal("double beside single", 100.0 * rate(twice) / rate(heap), "%", ">=", 33.3);
    goal("memory while stepping", heap != NULL ? heap->found.bytes_per_particle : NAN, "B",
         "<=", 135.0);
    goal("memory while a frame is written",
         heap != NULL && heap->found.bytes_writing > 0.0 ? heap->found.bytes_writing : NAN, "B",
         "<=", 240.0);
    goal("outside of P2G, grid and G2P", outside(heap), "%", "<=", 8.0);

    // from a hundred thousand particles to thirty million, on one thread
    double least = NAN, most = NAN, fewest = NAN, largest = NAN;
    for (int i = 0; i < count; i++) {
        const bench_case *k = &done[i].asked;
        if (k->state == BENCH_COLLAPSED && k->order == 2 && k->gradient == RP_GRADIENT_AFFINE &&
            k->precision == RP_SINGLE && k->threads == 1 && k->particles > 5e4) {
            const double cost = 1e9 * done[i].found.wall;
            least = fmin(least, cost);
            most = fmax(most, cost);
            fewest = fmin(fewest, k->particles);
            largest = fmax(largest, k->particles);
            if (k->particles > 2e7) {
                goal("thirty million particles while stepping",
                     1e-9 * done[i].found.bytes_per_particle * (double)done[i].found.particles,
                     "GB", "<=", 8.0);
            }
        }
    }
    char label[80];
    snprintf(label, sizeof label, "cost from %.0e to %.0e particles: half of the range by the mean",
             fewest, largest);
    if (most > least) {
        goal(label, 100.0 * (most - least) / (most + least), "%", "<=", 15.0);
    }
    for (bench_state state = BENCH_TOUCHING; state <= BENCH_APART; state++) {
        const bench_done *one = blocks_of(done, count, state, false, false),
                         *many = blocks_of(done, count, state, true, false);
        if (one != NULL && many != NULL) {
            const bool touching = state == BENCH_TOUCHING;
            goal(touching ? "98 fields that touch beside one field" : "98 fields apart beside one",
                 many->found.cpu / one->found.cpu, "times", "<=", touching ? 1.5 : 1.05);
            goal("  their memory", many->found.bytes_per_particle / one->found.bytes_per_particle,
                 "times", "<=", 2.0);
        }
    }
    const bench_done *apart = blocks_of(done, count, BENCH_APART, false, false),
                     *bodies = blocks_of(done, count, BENCH_APART, true, true),
                     *fallen = blocks_of(done, count, BENCH_KUBBS, false, false),
                     *kubbs = blocks_of(done, count, BENCH_KUBBS, true, true);
    if (apart != NULL && bodies != NULL) {
        goal("98 bodies that touch nothing: more than one field",
             100.0 * (bodies->found.cpu / apart->found.cpu - 1.0), "%", "<=", 3.0);
    }
    if (fallen != NULL && kubbs != NULL) {
        goal("98 kubbs in contact: rate beside one body",
             100.0 * fallen->found.cpu / kubbs->found.cpu, "%", ">=", 45.0);
    }
    double with[2] = {NAN, NAN};
    for (int i = 0; i < count; i++) {
        if (done[i].asked.state == BENCH_BED) {
            with[done[i].asked.rigid] = done[i].found.cpu;
        }
    }
    goal("a rigid ball in a bed of 0.1 M: more than the bed", 100.0 * (with[1] / with[0] - 1.0),
         "%", "<=", 5.0);
    for (int i = 0; i < count; i++) {
        if (done[i].asked.state == BENCH_SPRAY && done[i].asked.threads == 1) {
            goal("a thousand grains that fly alone", 1e3 * done[i].found.step, "ms", "<=", 5.0);
        }
    }
    goal("hourglass beside a heap of its size, spline gradients",
         100.0 * rate(scene_of(done, count, "hourglass")) / rate(small), "%", ">=", 70.0);
}
