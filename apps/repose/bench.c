// repose bench: how fast this build steps on this machine, beside what the machine can do.
#include "bench_goals.h"
#include "commands.h"
#include "host.h"
#include "limits.h"
#include "say.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option bench_options[] = {
    {.name = "--quick", .help = "only the cases that a change of the kernels should be judged by"},
    {.name = "--render", .help = "only how long pictures take"},
    {.name = "--method",
     .value = "M",
     .help = "only this method: nonsmooth, or implicit, mixture or sph (with\n--particles N)",
     .words = "nonsmooth implicit mixture sph"},
    {.name = "--json", .help = "print limits and results as JSON"},
    {.name = "--csv", .value = "FILE", .help = "append results to a file", .words = "FILE"},
    {.name = "--particles", .value = "N", .help = "one case with about this many particles"},
    {.name = "--order", .value = "Q", .help = "... of this spline order (2)", .words = "2 3"},
    {.name = "--gradient",
     .value = "G",
     .help = "... with spline or affine gradients (affine)",
     .words = "spline affine"},
    {.name = "--transfer",
     .value = "T",
     .help = "... that loses per step or per second (apic)",
     .words = "apic steady"},
    {.name = "--precision",
     .value = "P",
     .help = "... in single or double precision (single)",
     .words = "single double"},
    {.name = "--state",
     .value = "S",
     .help = "... a column just let go (initial), the heap that it becomes\n"
             "(collapsed), grains far apart (spray), blocks side by side (touching),\n"
             "far apart (apart) or as they have fallen (kubbs); collapsed",
     .words = "initial collapsed spray touching apart kubbs bed"},
    {.name = "--fields", .help = "... with a velocity field for each of the blocks"},
    {.name = "--contact", .help = "... that feel each other"},
    {.name = "--surface", .help = "... on a floor that acts at its surface"},
    {.name = "--rigid", .help = "... with a rigid ball in the bed"},
    {.name = "--scene", .value = "NAME", .help = "one case: this scene after a quarter second"},
    {.name = "--threads", .value = "N", .help = "... on this many threads (1)"},
    {.name = "--isa",
     .value = "NAME",
     .help = "... with this instruction set",
     .words = "plain avx2 avx512"},
    {.name = "--repeat", .value = "N", .help = "seconds to look for the best of each case (5)"},
    {0},
};

enum { CASES_MOST = 64 };

typedef struct plan {
    bench_case item[CASES_MOST];
    int count;
} plan;

static void add_case(plan *p, bench_case c)
{
    if (p->count < CASES_MOST) {
        p->item[p->count++] = c;
    }
}

// The same on one core and on all.
static void add_pair(plan *p, bench_case c)
{
    c.threads = 1;
    add_case(p, c);
    c.threads = rp_default_threads();
    if (c.threads > 1) {
        add_case(p, c);
    }
}

static bench_case usual_case(int repeats)
{
    return (bench_case){.state = BENCH_COLLAPSED,
                        .particles = 1e6,
                        .order = 2,
                        .gradient = RP_GRADIENT_AFFINE,
                        .repeats = repeats};
}

static void plan_quick(plan *p, int repeats)
{
    const bench_case usual = usual_case(repeats);
    bench_case c = usual;
    c.name = "heap";
    add_pair(p, c);
    c.order = 3;
    c.gradient = RP_GRADIENT_SPLINE;
    c.name = "cubic heap";
    add_pair(p, c);
    c = usual;
    c.precision = RP_DOUBLE;
    c.threads = 1;
    c.name = "double heap";
    add_case(p, c);
}

static void plan_all(plan *p, int repeats)
{
    const bench_case usual = usual_case(repeats);
    bench_case c = usual;
    for (c.precision = RP_SINGLE; c.precision <= RP_DOUBLE; c.precision++) {
        for (c.order = 2; c.order <= 3; c.order++) {
            for (int affine = 0; affine <= 1; affine++) {
                c.gradient = affine ? RP_GRADIENT_AFFINE : RP_GRADIENT_SPLINE;
                c.name = "heap";
                add_pair(p, c);
            }
        }
    }
    c = usual;
    c.name = "column";
    c.state = BENCH_INITIAL;
    add_pair(p, c);
    c.name = "handful";
    c.particles = 1e3;
    add_pair(p, c);
    c.state = BENCH_COLLAPSED;
    for (c.particles = 1e5; c.particles < 4e7; c.particles *= c.particles < 1e6   ? 10.0
                                                              : c.particles < 2e6 ? 8.0
                                                                                  : 3.75) {
        if (c.particles != 1e6) {
            c.name = "heap";
            add_pair(p, c);
        }
    }
    c = usual;
    c.state = BENCH_SPRAY;
    c.particles = 1e3;
    c.name = "spray";
    add_pair(p, c);
    c = usual;
    c.threads = 1;
    c.gradient = RP_GRADIENT_SPLINE; // as bodies have it in scenes
    for (c.state = BENCH_TOUCHING; c.state <= BENCH_KUBBS; c.state++) {
        for (int kind = 0; kind < 3; kind++) {
            c.fields = kind > 0;
            c.contact = kind > 1;
            c.name = c.contact ? "98 bodies" : c.fields ? "98 fields" : "one field";
            add_case(p, c);
        }
    }
    c = usual;
    c.threads = 1;
    c.gradient = RP_GRADIENT_SPLINE;
    c.state = BENCH_BED;
    c.particles = 1e5;
    for (int rigid = 0; rigid < 2; rigid++) {
        c.rigid = rigid == 1;
        c.name = c.rigid ? "rigid ball" : "bed";
        add_case(p, c);
    }
    c = usual;
    c.state = BENCH_SCENE;
    c.gradient = RP_GRADIENT_SPLINE; // as the scenes say
    c.name = c.scene = "hourglass";
    add_pair(p, c);
    c.name = c.scene = "rock";
    add_pair(p, c);
    c.scene = NULL; // to put them beside
    c.state = BENCH_COLLAPSED;
    c.particles = BENCH_SMALL;
    c.name = "small heap";
    add_pair(p, c);
}

// One case from the command line. @return 0 or an exit status
static int plan_one(const args *a, plan *p, int repeats)
{
    bool wrong = false;
    bench_case c = {.name = "case", .state = BENCH_COLLAPSED, .repeats = repeats};
    const char *gradient = args_value(a, "--gradient"), *transfer = args_value(a, "--transfer");
    const char *precision = args_value(a, "--precision"), *state = args_value(a, "--state");
    c.particles = args_number(a, "--particles", 1.0, 1e9, 1e6, &wrong);
    c.order = (int)args_integer(a, "--order", 1, 3, 2, &wrong);
    c.threads = (int)args_integer(a, "--threads", 1, 1024, 1, &wrong);
    c.isa = args_value(a, "--isa");
    c.scene = args_value(a, "--scene");
    c.rigid = args_has(a, "--rigid");
    c.surface = args_has(a, "--surface");
    c.contact = args_has(a, "--contact");
    c.fields = c.contact || args_has(a, "--fields");
    if (gradient != NULL && strcmp(gradient, "spline") != 0 && strcmp(gradient, "affine") != 0) {
        return say_usage("--gradient: want spline or affine, got %s", gradient);
    }
    c.gradient = gradient != NULL && gradient[0] == 's' ? RP_GRADIENT_SPLINE : RP_GRADIENT_AFFINE;
    if (transfer != NULL && strcmp(transfer, "apic") != 0 && strcmp(transfer, "steady") != 0) {
        return say_usage("--transfer: want apic or steady, got %s", transfer);
    }
    c.transfer = transfer != NULL && transfer[0] == 's' ? RP_STEADY : RP_APIC;
    if (precision != NULL && strcmp(precision, "single") != 0 && strcmp(precision, "double") != 0) {
        return say_usage("--precision: want single or double, got %s", precision);
    }
    c.precision = precision != NULL && precision[0] == 'd' ? RP_DOUBLE : RP_SINGLE;
    for (int s = 0; s < BENCH_SCENE && state != NULL; s++) {
        if (strcmp(bench_state_name[s], state) == 0) {
            c.state = s;
            state = NULL;
        }
    }
    if (state != NULL) {
        return say_usage(
            "--state: want initial, collapsed, spray, touching, apart, kubbs or bed, got %s",
            state);
    }
    if (c.scene != NULL) {
        c.state = BENCH_SCENE;
        c.gradient = RP_GRADIENT_SPLINE; // what scenes that come with Repose have
        c.name = c.scene;
    }
    add_case(p, c);
    return wrong ? EXIT_USAGE : 0;
}

// ---- what the machine can do ----

typedef struct limits {
    char cpu[64];
    int threads;
    double clock;                      // [GHz]
    double triad[2], fma[2], fma64[2]; // on one thread, on all
} limits;

static void name_cpu(char out[64])
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(out, 64, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(out, 64, "%.63s", colon + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static limits find_limits(void)
{
    limits l = {.threads = rp_default_threads(), .clock = limit_clock()};
    name_cpu(l.cpu);
    for (int i = 0; i < 2; i++) {
        const int threads = i == 0 ? 1 : l.threads;
        l.triad[i] = limit_triad(threads);
        l.fma[i] = limit_fma(threads, 32);
        l.fma64[i] = limit_fma(threads, 64);
    }
    return l;
}

static json_t *json_limits(const limits *l)
{
    return json_pack("{s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "cpu", l->cpu, "threads",
                     l->threads, "clock_ghz", l->clock, "triad_gb_s", l->triad[0], "fma_gflop_s",
                     l->fma[0], "fma_double_gflop_s", l->fma64[0], "triad_gb_s_all", l->triad[1],
                     "fma_gflop_s_all", l->fma[1], "fma_double_gflop_s_all", l->fma64[1]);
}

// ---- results ----

static const char *precision_name(const bench_case *c)
{
    return c->precision == RP_SINGLE ? "single" : "double";
}

static const char *gradient_name(const bench_case *c)
{
    return c->gradient == RP_GRADIENT_SPLINE ? "spline" : "affine";
}

static const char *const stage_name[BENCH_STAGES] = {"sort", "p2g", "grid", "g2p"};

static json_t *json_case(const bench_case *c, const bench_result *r)
{
    json_t *stages = json_object();
    for (int s = 0; s < BENCH_STAGES; s++) {
        json_object_set_new(stages, stage_name[s], json_real(1e9 * r->stage[s]));
    }
    json_object_set_new(stages, "rest", json_real(1e9 * r->rest));
    return json_pack(
        "{s:s, s:I, s:i, s:s, s:s, s:i, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
        "s:f, s:f, s:f, s:I, s:I, s:o}",
        "name", c->name, "particles", (json_int_t)r->particles, "order", c->order, "gradient",
        gradient_name(c), "precision", precision_name(c), "threads", c->threads, "isa", r->isa,
        "state", bench_state_name[c->state], "particle_steps_per_s", 1.0 / r->wall,
        "particle_steps_per_cpu_s", 1.0 / r->cpu, "step_us", 1e6 * r->step, "bytes_per_particle",
        r->bytes_per_particle, "bytes_per_particle_writing", r->bytes_writing, "gflop_s",
        1e-9 * r->flops / r->wall, "fma_gflop_s", 1e-9 * r->fma, "fraction_of_fma_peak",
        bench_fraction_of_fma(r), "gb_s", 1e-9 * r->bytes / r->wall, "sorts_per_step",
        r->sorts_per_step, "pages", (json_int_t)r->pages, "node_pages", (json_int_t)r->node_pages,
        "stages", stages);
}

static void print_head(const limits *l)
{
    printf("%s, %.2f GHz; one thread: triad %.1f GB/s, FMA %.0f Gflop/s single, %.0f double;\n"
           "%d threads: %.1f GB/s, %.0f and %.0f Gflop/s\n\n"
           "M/s      million particle-steps a second, by the clock on the wall\n"
           "M/cpu-s  ... per second of processor time: what others took does not count\n"
           "FMA %%    multiply-adds of the formulas, as a share of what the same processor time\n"
           "         gives in a loop of nothing else\n"
           "B        resident bytes per particle; sort to rest: stages in ns per particle-step\n\n"
           "%-13s %9s %-9s q %-6s %-6s thr | %7s %7s %6s %6s %5s %4s | %6s %6s %6s %6s %6s | %9s\n",
           l->cpu, l->clock, l->triad[0], l->fma[0], l->fma64[0], l->threads, l->triad[1],
           l->fma[1], l->fma64[1], "case", "particles", "state", "grad", "real", "M/s", "M/cpu-s",
           "ns", "cycles", "FMA %", "B", "sort", "p2g", "grid", "g2p", "rest", "us a step");
}

static void print_case(const bench_case *c, const bench_result *r, const limits *l)
{
    printf("%-13s %9lld %-9s %d %-6s %-6s %3d | %7.2f %7.2f %6.1f %6.0f %5.1f %4.0f | "
           "%6.2f %6.2f %6.2f %6.2f %6.2f | %9.0f\n",
           c->name, (long long)r->particles, bench_state_name[c->state], c->order, gradient_name(c),
           precision_name(c), c->threads, 1e-6 / r->wall, 1e-6 / r->cpu, 1e9 * r->wall,
           1e9 * r->cpu * l->clock, 100.0 * bench_fraction_of_fma(r), r->bytes_per_particle,
           1e9 * r->stage[BENCH_SORT], 1e9 * r->stage[BENCH_P2G], 1e9 * r->stage[BENCH_GRID],
           1e9 * r->stage[BENCH_G2P], 1e9 * r->rest, 1e6 * r->step);
    fflush(stdout);
}

static void csv_case(FILE *csv, const bench_case *c, const bench_result *r, const limits *l)
{
    if (ftell(csv) == 0) {
        fputs("cpu,version,case,state,particles,order,gradient,precision,threads,isa,"
              "particle_steps_per_s,particle_steps_per_cpu_s,bytes_per_particle,"
              "bytes_per_particle_writing,"
              "fraction_of_fma_peak,fma_gflop_s,triad_gb_s,sort_ns,p2g_ns,grid_ns,g2p_ns,rest_ns\n",
              csv);
    }
    fprintf(csv, "%s,%s,%s,%s,%lld,%d,%s,%s,%d,%s,%.4g,%.4g,%.1f,%.1f,%.3f,%.1f,%.1f", l->cpu,
            RP_VERSION, c->name, bench_state_name[c->state], (long long)r->particles, c->order,
            gradient_name(c), precision_name(c), c->threads, r->isa, 1.0 / r->wall, 1.0 / r->cpu,
            r->bytes_per_particle, r->bytes_writing, bench_fraction_of_fma(r), 1e-9 * r->fma,
            l->triad[c->threads > 1]);
    for (int s = 0; s < BENCH_STAGES; s++) {
        fprintf(csv, ",%.2f", 1e9 * r->stage[s]);
    }
    fprintf(csv, ",%.2f\n", 1e9 * r->rest);
    fflush(csv);
}

// While it is set up a case takes about this much for each particle.
static bool fits(const bench_case *c)
{
    return c->particles * (c->precision == RP_SINGLE ? 320.0 : 520.0) < (double)available_memory();
}

static int bench_main(const args *a)
{
    if (args_has(a, "--render")) {
        bench_render();
        return EXIT_DONE;
    }
    const char *method = args_value(a, "--method");
    bool wrong = false;
    const bool sph = method != NULL && strcmp(method, "sph") == 0;
    const bool implicit = method != NULL && strcmp(method, "implicit") == 0;
    const bool mixture = method != NULL && strcmp(method, "mixture") == 0;
    if (method != NULL && strcmp(method, "nonsmooth") != 0 && !sph && !implicit && !mixture) {
        return say_usage("--method: want nonsmooth, implicit, mixture or sph, got %s", method);
    }
    if (method != NULL) {
        const double particles =
            args_number(a, "--particles", 1000.0, 1e8, implicit ? 2e5 : 1e6, &wrong);
        if (wrong) {
            return EXIT_USAGE;
        }
        const rp_result result = implicit  ? bench_implicit(particles)
                                 : mixture ? bench_mixture(particles)
                                 : sph     ? bench_sph(particles)
                                           : bench_nonsmooth();
        return result != RP_OK ? say_error(result, true) : EXIT_DONE;
    }
    plan p = {.count = 0};
    const int repeats = (int)args_integer(a, "--repeat", 1, 1000, 5, &wrong);
    const bool one = args_has(a, "--particles") || args_has(a, "--order") ||
                     args_has(a, "--gradient") || args_has(a, "--transfer") ||
                     args_has(a, "--precision") || args_has(a, "--state") ||
                     args_has(a, "--scene") || args_has(a, "--threads") || args_has(a, "--isa");
    if (wrong) {
        return EXIT_USAGE;
    }
    if (one) {
        const int status = plan_one(a, &p, repeats);
        if (status != 0) {
            return status;
        }
    } else {
        (args_has(a, "--quick") ? plan_quick : plan_all)(&p, repeats);
    }
    const char *path = args_value(a, "--csv");
    FILE *csv = path != NULL ? fopen(path, "ae") : NULL;
    if (path != NULL && csv == NULL) {
        say_usage("--csv: cannot write %s", path);
        return EXIT_FILE;
    }
    const bool json = args_has(a, "--json");
    const limits l = find_limits();
    json_t *cases = json_array();
    bench_done done[CASES_MOST];
    int dones = 0, status = EXIT_DONE;
    if (!json) {
        print_head(&l);
    }
    for (int i = 0; i < p.count && status == EXIT_DONE; i++) {
        bench_result r;
        if (!fits(&p.item[i])) {
            say("%.0e particles: left out, there is too little memory", p.item[i].particles);
            continue;
        }
        const rp_result result = bench_run(&p.item[i], &r);
        if (result != RP_OK) {
            status = say_error(result, true);
            break;
        }
        done[dones++] = (bench_done){p.item[i], r};
        json_array_append_new(cases, json_case(&p.item[i], &r));
        if (!json) {
            print_case(&p.item[i], &r, &l);
        }
        if (csv != NULL) {
            csv_case(csv, &p.item[i], &r, &l);
        }
    }
    if (!json && !one) {
        bench_print_goals(done, dones, l.threads);
    }
    if (json && status == EXIT_DONE) {
        json_t *all = json_pack("{s:o, s:O}", "limits", json_limits(&l), "cases", cases);
        json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        putchar('\n');
        json_decref(all);
    }
    json_decref(cases);
    if (csv != NULL) {
        fclose(csv);
    }
    if (status == EXIT_DONE && !one && !json && !args_has(a, "--quick")) {
        bench_render();
    }
    return status;
}

const command command_bench = {
    .name = "bench",
    .operands = "",
    .summary = "time steps, beside what this machine can do",
    .text = "Steps columns and heaps of sand of several sizes, grains that fly apart and scenes "
            "with\ncolliders, and says how many particle-steps a second that is, where the time "
            "goes, and\nwhich share it is of the multiply-adds that this machine can do. The best "
            "of several\ncounts. Then it times pictures. All of it takes about half an hour and 10 "
            "GB of memory; --quick "
            "takes three minutes.",
    .option = bench_options,
    .main = bench_main,
};
