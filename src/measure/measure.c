// The measurements by name: one table lists each with its arguments and columns. Checks, the page
// docs/measure.md and the loop over frames are made from it.
#include <repose/measure.h>

#include "measure/swarm.h"
#include "measure/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COOKIE = 0x3ea5, ARGUMENTS = 12, PATH = 4096 };

typedef struct argument {
    const char *name, *otherwise, *sentence;
    const char *words; // what it may be, separated by spaces; NULL: a number, or a text if `text`
    double least, most;
    bool text;
} argument;

// What a measurement is given: the frame, and those that it may be compared with.
typedef struct measuring {
    const struct measurement *what;
    const rp_measure_def *def;
    const char *value[ARGUMENTS]; // as given, or the default
    int64_t first, last;
    rp_record *record;  // NULL: nothing of it is needed
    rp_swarm now, then; // `then` when there is what->since
    rp_reader *reader;  // of `now`
    bool z_up;          // in this run
    int64_t *places;    // of the particles of `now` in `then`
} measuring;

typedef struct measurement {
    const char *name, *sentence;
    const char *columns; // besides frame and time_s
    bool profile;
    // of a frame; puts rows of which the first two columns are filled in by the loop
    rp_result (*frame)(measuring *m, rp_measured *out);
    // of all frames at once, from the tables of a run
    rp_result (*table)(measuring *m, rp_measured *out);
    unsigned want;     // of particles, besides their positions
    unsigned need;     // of that, what it cannot do without
    const char *since; // the argument that names the frame to compare with; NULL: none
    argument argument[ARGUMENTS];
} measurement;

// ---- arguments ----

static int argument_index(const measurement *what, const char *name)
{
    for (int i = 0; i < ARGUMENTS && what->argument[i].name != NULL; i++) {
        if (strcmp(what->argument[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static const char *text(const measuring *m, const char *name)
{
    return m->value[argument_index(m->what, name)];
}

// Which particles, of measurements that know species.
static rp_swarm_choice choice_of(const measuring *m)
{
    const int species = argument_index(m->what, "species"), of = argument_index(m->what, "of");
    const bool one = species >= 0 && strcmp(m->value[species], "all") != 0;
    return (rp_swarm_choice){one ? m->value[species] : NULL, of >= 0 ? m->value[of] : NULL};
}

static double number(const measuring *m, const char *name) { return strtod(text(m, name), NULL); }

static bool is_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; length > 0 && (at = strstr(at, word)) != NULL; at += length) {
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static rp_result check_value(const measurement *what, const argument *a, const char *value)
{
    char *end;
    if (a->words != NULL) {
        return is_word(a->words, value)
                   ? RP_OK
                   : rp_fail(RP_ERR_ARGUMENT, "%s.%s: want one of %s, got '%s'", what->name,
                             a->name, a->words, value);
    }
    const double given = strtod(value, &end);
    if (!a->text && (end == value || *end != '\0' || !(given >= a->least && given <= a->most))) {
        return rp_fail(RP_ERR_ARGUMENT, "%s.%s: want a number from %g to %g, got '%s'", what->name,
                       a->name, a->least, a->most, value);
    }
    return RP_OK;
}

static rp_result take_arguments(measuring *m)
{
    for (int i = 0; i < ARGUMENTS; i++) {
        m->value[i] = m->what->argument[i].otherwise;
    }
    for (int k = 0; k < m->def->arguments; k++) {
        const rp_measure_argument *given = &m->def->argument[k];
        const int i = argument_index(m->what, given->name);
        if (i < 0) {
            rp_nearest near = rp_nearest_start(given->name);
            char names[256] = "";
            for (int j = 0; j < ARGUMENTS && m->what->argument[j].name != NULL; j++) {
                const size_t used = strlen(names);
                rp_nearest_try(&near, m->what->argument[j].name);
                snprintf(names + used, sizeof names - used, "%s%s", j > 0 ? ", " : "",
                         m->what->argument[j].name);
            }
            return rp_fail(RP_ERR_ARGUMENT, "%s has no argument '%s'%s%s%s%s %s", m->what->name,
                           given->name, near.best != NULL ? "; did you mean " : "",
                           near.best != NULL ? near.best : "", near.best != NULL ? "?" : "",
                           near.best != NULL ? " It takes" : "; it takes",
                           names[0] != '\0' ? names : "none");
        }
        RP_TRY(check_value(m->what, &m->what->argument[i], given->value));
        m->value[i] = given->value;
    }
    return RP_OK;
}

#define MOST 1e300
#define ORIGIN                                                                                       \
    {"x0", "0", "where places are counted from [m]", NULL, -MOST, MOST},                             \
        {"y0", "0", "the same; where y is up, the floor that heights are above", NULL, -MOST, MOST}, \
    {                                                                                                \
        "z0", "0", "the same; where z is up, the floor that heights are above", NULL, -MOST, MOST    \
    }

static void origin_of(const measuring *m, double out[3])
{
    out[0] = number(m, "x0");
    out[1] = number(m, "y0");
    out[2] = number(m, "z0");
}

static int along_of(const measuring *m)
{
    return (int)(strchr("xyzr", text(m, "along")[0]) - "xyzr");
}

// Bins as the arguments want them; a width of 0 means a cell.
static rp_bins bins_of(const measuring *m, const rp_swarm *places, const double origin[3])
{
    const double width = number(m, "width");
    return rp_swarm_bins(places, along_of(m), origin, width > 0.0 ? width : m->now.info.dx);
}

// A row of which the caller fills in what follows frame and time.
static double *put_row(measuring *m, rp_measured *out)
{
    double *row = rp_measured_add_row(out);
    if (row != NULL) {
        row[0] = (double)m->now.info.frame;
        row[1] = m->now.info.time;
    }
    return row != NULL ? row + 2 : NULL;
}

static rp_result put(measuring *m, rp_measured *out, int count, const double *value)
{
    double *row = put_row(m, out);
    if (row == NULL) {
        return RP_ERR_MEMORY;
    }
    memcpy(row, value, (size_t)count * sizeof *value);
    return RP_OK;
}
#define PUT(...)                                                                                   \
    put(m, out, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

// ---- frame by frame ----

// Sums of one body.
typedef struct body_sums {
    double mass, x[3], v[3], square, particles;
} body_sums;

static rp_result measure_bodies(measuring *m, rp_measured *out)
{
    const rp_swarm *c = &m->now;
    const int bodies = rp_reader_fields(m->reader);
    const bool moves = rp_reader_has(m->reader, RP_READ_VELOCITY);
    body_sums *sums = calloc((size_t)bodies + 1, sizeof *sums);
    if (sums == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: sums of bodies");
    }
    for (int64_t i = 0; i < c->count; i++) {
        const int body = c->batch.field[i] < bodies ? c->batch.field[i] : bodies;
        body_sums *s = &sums[body];
        s->mass += c->mass[i];
        s->particles += 1.0;
        for (int a = 0; a < 3; a++) {
            s->x[a] += c->mass[i] * c->x[i][a];
            s->v[a] += moves ? c->mass[i] * c->v[i][a] : NAN;
            s->square += moves ? c->mass[i] * c->v[i][a] * c->v[i][a] : NAN;
        }
    }
    rp_result result = RP_OK;
    for (int b = 0; b < bodies && result == RP_OK; b++) {
        const body_sums *s = &sums[b];
        if (s->mass > 0.0) {
            result = PUT(b, s->x[0] / s->mass, s->x[1] / s->mass, s->x[2] / s->mass,
                         s->v[0] / s->mass, s->v[1] / s->mass, s->v[2] / s->mass,
                         sqrt(s->square / s->mass), s->mass, s->particles);
        }
    }
    free(sums);
    return result;
}

static rp_result measure_pieces(measuring *m, rp_measured *out)
{
    const rp_swarm *c = &m->now;
    const int bodies = rp_reader_fields(m->reader);
    const double away = number(m, "away") > 0.0 ? number(m, "away") : c->info.dx;
    rp_fit *fit = malloc(((size_t)bodies + 1) * sizeof *fit);
    if (fit == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: poses of bodies");
    }
    rp_result result = rp_swarm_fit(c, &m->then, m->places, bodies, away, fit);
    for (int b = 0; b < bodies && result == RP_OK; b++) {
        const rp_fit *f = &fit[b];
        if (f->particles > 0) {
            result = PUT(b, f->shift[0], f->shift[1], f->shift[2], f->q[0], f->q[1], f->q[2],
                         f->q[3], f->misfit, (double)f->particles, (double)f->debris);
        }
    }
    free(fit);
    return result;
}

static rp_result measure_center(measuring *m, rp_measured *out)
{
    const rp_swarm *c = &m->now;
    double mass = 0.0, x[3] = {0}, v[3] = {0};
    if (!rp_reader_has(m->reader, RP_READ_VELOCITY)) {
        v[0] = v[1] = v[2] = NAN;
    }
    for (int64_t i = 0; i < c->count; i++) {
        mass += c->mass[i];
        for (int a = 0; a < 3; a++) {
            x[a] += c->mass[i] * c->x[i][a];
            v[a] += c->mass[i] * c->v[i][a];
        }
    }
    return PUT(x[0] / mass, x[1] / mass, x[2] / mass, v[0] / mass, v[1] / mass, v[2] / mass, mass,
               (double)c->count);
}

static rp_result measure_runout(measuring *m, rp_measured *out)
{
    double origin[3];
    rp_runout r;
    origin_of(m, origin);
    RP_TRY(rp_swarm_runout(&m->now, along_of(m), origin, number(m, "quantile"), &r));
    return PUT(r.low, r.high, r.least, r.most);
}

static rp_result make_profile(measuring *m, rp_bins *bins, rp_column_height **column)
{
    double origin[3];
    origin_of(m, origin);
    *bins = bins_of(m, &m->now, origin);
    *column = calloc((size_t)bins->count + 1, sizeof **column);
    if (*column == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: a profile");
    }
    const rp_result result =
        rp_swarm_profile(&m->now, along_of(m), origin, bins, number(m, "quantile"), 0.0, *column);
    if (result != RP_OK) {
        free(*column);
    }
    return result;
}

static rp_result measure_profile(measuring *m, rp_measured *out)
{
    rp_bins bins;
    rp_column_height *column;
    RP_TRY(make_profile(m, &bins, &column));
    rp_result result = RP_OK;
    for (int b = 0; b < bins.count && result == RP_OK; b++) {
        const rp_column_height *c = &column[b];
        result = PUT(c->place, c->top, c->solid, (double)c->particles);
    }
    free(column);
    return result;
}

static rp_result measure_slope(measuring *m, rp_measured *out)
{
    rp_bins bins;
    rp_column_height *column;
    rp_slope s;
    RP_TRY(make_profile(m, &bins, &column));
    rp_profile_slope(column, bins.count, number(m, "from"), number(m, "to"),
                     strcmp(text(m, "side"), "left") == 0 ? -1 : 1, &s);
    free(column);
    if (s.columns < 2) {
        rp_log(RP_LOG_WARNING,
               "slope: frame %lld has fewer than two columns between %g and %g of the crest's "
               "height on the %s side",
               (long long)m->now.info.frame, number(m, "from"), number(m, "to"), text(m, "side"));
    }
    return PUT(s.slope, atan(s.slope) * 180.0 / M_PI, s.r2, s.crest, (double)s.columns);
}

static rp_result measure_roundness(measuring *m, rp_measured *out)
{
    double origin[3], radius[360];
    rp_roundness r;
    origin_of(m, origin);
    if (m->now.info.dimension != 3) {
        return rp_fail(RP_ERR_ARGUMENT, "roundness: a 2D run has none");
    }
    RP_TRY(rp_swarm_roundness(&m->now, origin, number(m, "quantile"), (int)number(m, "sectors"),
                              radius, &r));
    return PUT(r.mean, r.deviation, r.cos4, (double)r.empty);
}

static rp_result measure_rest(measuring *m, rp_measured *out)
{
    const rp_swarm *c = &m->now;
    double *moved = malloc(((size_t)c->count + 1) * sizeof *moved), sum = 0.0, mass = 0.0;
    int64_t known = 0;
    if (moved == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: displacements");
    }
    for (int64_t i = 0; i < c->count; i++) {
        const double *v = c->v[i], *x = c->x[i];
        sum += c->mass[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        mass += c->mass[i];
        if (m->places[i] >= 0) {
            const double *y = m->then.x[m->places[i]];
            moved[known++] = hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
        }
    }
    const double slow = rp_quantile(moved, known, number(m, "quantile"));
    const double most = known > 0 ? moved[known - 1] : NAN;
    free(moved);
    return PUT(sqrt(sum / mass), slow, most);
}

static rp_result measure_volume(measuring *m, rp_measured *out)
{
    rp_bulk b;
    const char *wrong = m->now.z_up ? "y0" : "z0", *right = m->now.z_up ? "z0" : "y0";
    if (number(m, wrong) != 0.0) {
        return rp_fail(RP_ERR_ARGUMENT, "volume.%s: %c is up in this run: want %s, got %s", wrong,
                       right[0], right, wrong);
    }
    RP_TRY(rp_swarm_bulk(&m->now, number(m, right), &b));
    double rest = 0.0;
    for (int64_t i = 0; i < m->now.count; i++) {
        rest += m->now.volume[i];
    }
    return PUT(rest, rp_reader_has(m->reader, RP_READ_RATIO) ? b.solid : NAN, b.bulk, b.densest);
}

// Means over bins, weighted with the volume at rest: what a particle gives is in `value`.
typedef struct means {
    double place, weight, sum[8];
    int64_t particles;
} means;

static rp_result bin_means(measuring *m, int values,
                           void (*value)(const rp_swarm *, int64_t, double *), rp_measured *out)
{
    const bool start = m->what->since != NULL;
    double origin[3];
    origin_of(m, origin);
    const rp_swarm *places = start ? &m->then : &m->now;
    const rp_bins bins = bins_of(m, places, origin);
    means *mean = calloc((size_t)bins.count + 1, sizeof *mean);
    if (mean == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: a profile");
    }
    for (int64_t i = 0; i < m->now.count; i++) {
        const int64_t place = start ? m->places[i] : i;
        const int bin =
            place >= 0 ? rp_bin_of(&bins, rp_along(places, place, along_of(m), origin)) : -1;
        if (bin >= 0) {
            double v[8];
            value(&m->now, i, v);
            mean[bin].weight += m->now.volume[i];
            mean[bin].particles++;
            for (int k = 0; k < values; k++) {
                mean[bin].sum[k] += m->now.volume[i] * v[k];
            }
        }
    }
    rp_result result = RP_OK;
    for (int b = 0; b < bins.count && result == RP_OK; b++) {
        double *row = put_row(m, out);
        result = row != NULL ? RP_OK : RP_ERR_MEMORY;
        for (int k = 0; k < values && result == RP_OK; k++) {
            row[1 + k] = mean[b].sum[k] / mean[b].weight;
        }
        if (result == RP_OK) {
            row[0] = bins.first + (b + 0.5) * bins.width;
            row[1 + values] = (double)mean[b].particles;
        }
    }
    free(mean);
    return result;
}

static void stress_of(const rp_swarm *c, int64_t i, double out[8])
{
    memcpy(out, c->stress[i], sizeof c->stress[i]);
    out[6] = c->log_ratio[i];
}

static rp_result measure_stress(measuring *m, rp_measured *out)
{
    const int64_t first = out->rows;
    RP_TRY(bin_means(m, 7, stress_of, out));
    // a frame may keep stress without what it came from
    for (int64_t r = first; r < out->rows && !rp_reader_has(m->reader, RP_READ_RATIO); r++) {
        out->value[r * out->columns + rp_measured_column(out, "ln_J")] = NAN;
    }
    return RP_OK;
}

static void velocity_of(const rp_swarm *c, int64_t i, double out[8])
{
    const double *v = c->v[i];
    memcpy(out, v, 3 * sizeof *v);
    out[3] = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

static rp_result measure_velocity(measuring *m, rp_measured *out)
{
    const int64_t first = out->rows;
    RP_TRY(bin_means(m, 4, velocity_of, out));
    for (int64_t r = first; r < out->rows; r++) {
        double *speed = &out->value[r * out->columns + 6];
        *speed = sqrt(*speed);
    }
    return RP_OK;
}

static void number_of(const rp_swarm *c, int64_t i, double out[8]) { out[0] = c->number[i]; }

static rp_result measure_mean(measuring *m, rp_measured *out)
{
    return bin_means(m, 1, number_of, out);
}

// ---- from the tables of a run ----

// Columns of a table of the run by name, as rows of ours; those that it does not have stay NAN.
static rp_result copy_columns(const rp_measured *from, rp_measured *out)
{
    for (int64_t r = 0; r < from->rows; r++) {
        double *row = rp_measured_add_row(out);
        if (row == NULL) {
            return RP_ERR_MEMORY;
        }
        for (int c = 0; c < out->columns; c++) {
            const int k = rp_measured_column(from, out->name[c]);
            row[c] = k >= 0 ? from->value[r * from->columns + k] : NAN;
        }
    }
    return RP_OK;
}

static rp_result copy_file(measuring *m, const char *file, const char *want, rp_measured *out)
{
    rp_measured *table;
    RP_TRY(rp_csv_read(m->def->folder, file, m->first, m->last, want, &table));
    const rp_result result = copy_columns(table, out);
    rp_measured_free(table);
    return result;
}

static rp_result measure_stats(measuring *m, rp_measured *out)
{
    return copy_file(m, "stats.csv", NULL, out);
}

static rp_result measure_energy(measuring *m, rp_measured *out)
{
    RP_TRY(copy_file(m, "stats.csv", NULL, out));
    const int total = rp_measured_column(out, "total_J");
    for (int64_t r = 0; r < out->rows; r++) {
        double *row = out->value + r * out->columns;
        row[total] = row[2] + row[3] + row[4];
    }
    return RP_OK;
}

static rp_result open_frame(const measuring *m, int64_t frame, rp_reader **reader)
{
    char path[PATH];
    RP_TRY(rp_run_frame_path(m->def->folder, frame, path, sizeof path));
    return rp_reader_open(path, m->record, reader);
}

// The mass of one species instead of that of all, in the rows of stats.csv.
static rp_result put_species_mass(const measuring *m, rp_measured *table, int mass, int born)
{
    const rp_swarm_choice choice = choice_of(m);
    for (int64_t r = 0; r < table->rows && choice.species != NULL; r++) {
        double *row = table->value + r * table->columns;
        rp_reader *reader;
        rp_swarm swarm;
        if (row[born] > table->value[born]) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "discharge.species: of which species what was poured in is, the folder "
                           "does not say; want all");
        }
        RP_TRY(open_frame(m, (int64_t)row[0], &reader));
        const rp_result result = rp_swarm_read(reader, RP_READ_MASS, &choice, &swarm);
        rp_reader_close(reader);
        RP_TRY(result);
        row[mass] = 0.0;
        for (int64_t i = 0; i < swarm.count; i++) {
            row[mass] += swarm.mass[i];
        }
        rp_swarm_free(&swarm);
    }
    return RP_OK;
}

// What has left: from the mass that is still there, or, while more is poured in, from the number of
// particles that were removed and their mean mass.
static rp_result measure_discharge(measuring *m, rp_measured *out)
{
    static const char *const need[] = {"time_s", "mass_kg", "particles", "born", "removed"};
    enum { TIME, MASS, PARTICLES, BORN, REMOVED, NEEDS };
    rp_measured *table;
    RP_TRY(rp_csv_read(m->def->folder, "stats.csv", 0, m->last, NULL, &table));
    rp_result result = RP_OK;
    int at[NEEDS];
    for (int k = 0; k < NEEDS; k++) {
        at[k] = rp_measured_column(table, need[k]);
        if (at[k] < 0) {
            result = rp_fail(RP_ERR_FILE, "%s/stats.csv has no %s", m->def->folder, need[k]);
        }
    }
    result = result == RP_OK ? put_species_mass(m, table, at[MASS], at[BORN]) : result;
    double left = 0.0, given = 0.0; // [kg], since the start
    for (int64_t r = 0; r < table->rows && result == RP_OK; r++) {
        const double *now = table->value + r * table->columns, *before = now - table->columns;
        const bool poured = r > 0 && now[at[BORN]] > before[at[BORN]];
        double went = 0.0;
        given = r == 0 ? now[at[MASS]] : given;
        if (poured) {
            const double *those = now[at[PARTICLES]] > 0.0 ? now : before;
            const double each = those[at[MASS]] / fmax(1.0, those[at[PARTICLES]]);
            went = (now[at[REMOVED]] - before[at[REMOVED]]) * each;
            given += now[at[MASS]] - before[at[MASS]] + went;
        } else if (r > 0 && now[at[REMOVED]] > before[at[REMOVED]]) {
            went = before[at[MASS]] - now[at[MASS]];
        }
        left += went;
        double *row = now[0] >= (double)m->first ? rp_measured_add_row(out) : NULL;
        if (now[0] < (double)m->first) {
            continue;
        }
        if (row == NULL) {
            result = RP_ERR_MEMORY;
            break;
        }
        row[0] = now[0];
        row[1] = now[at[TIME]];
        row[2] = now[at[MASS]];
        row[3] = given > 0.0 ? left / given : 0.0;
        row[4] = r > 0 ? went / (now[at[TIME]] - before[at[TIME]]) : NAN;
    }
    rp_measured_free(table);
    return result;
}

static rp_result measure_wall(measuring *m, rp_measured *out)
{
    RP_TRY(copy_file(m, "forces.csv", text(m, "collider"), out));
    if (out->rows == 0) { // its number, then
        char number[64];
        snprintf(number, sizeof number, "#%.60s", text(m, "collider"));
        RP_TRY(copy_file(m, "forces.csv", number, out));
    }
    if (out->rows == 0) {
        return rp_fail(RP_ERR_ARGUMENT, "%s/forces.csv has no collider '%s' in these frames",
                       m->def->folder, text(m, "collider"));
    }
    const double area = number(m, "area");
    for (int64_t r = 0; r < out->rows; r++) {
        double *row = out->value + r * out->columns;
        row[5] = area > 0.0 ? hypot(hypot(row[2], row[3]), row[4]) / area : NAN;
    }
    return RP_OK;
}

static rp_result measure_body(measuring *m, rp_measured *out)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/bodies.csv", m->def->folder);
    if (access(path, F_OK) != 0) {
        return rp_fail(RP_ERR_ARGUMENT, "%s has no bodies.csv: its scene has no rigid body",
                       m->def->folder);
    }
    RP_TRY(copy_file(m, "bodies.csv", text(m, "name"), out));
    if (out->rows == 0) { // its number, then
        char number[64];
        snprintf(number, sizeof number, "#%.60s", text(m, "name"));
        RP_TRY(copy_file(m, "bodies.csv", number, out));
    }
    return out->rows > 0
               ? RP_OK
               : rp_fail(RP_ERR_ARGUMENT, "%s/bodies.csv has no body '%s' in these frames",
                         m->def->folder, text(m, "name"));
}

// ---- all of them ----

#define ALONG                                                                                      \
    {                                                                                              \
        "along", "x", "an axis, or r for the distance from the upright axis", "x y z r"            \
    }
#define WIDTH                                                                                      \
    {                                                                                              \
        "width", "0", "of a bin [m]; 0: a cell", NULL, 0.0, MOST                                   \
    }

#define SPECIES                                                                                    \
    {                                                                                              \
        "species", "all",                                                                          \
            "`water` or `solid`: what there is of these alone; the stress of sand is then what "   \
            "grains do to each other, and that of water the pressure in its pores",                \
            NULL, 0.0, 0.0, true                                                                   \
    }

// arguments name what they have and leave the rest 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static const measurement measurements[] = {
    {.name = "center",
     .sentence = "Centre of mass, mean velocity, mass and number of particles.",
     .columns = "x_m y_m z_m vx_m_s vy_m_s vz_m_s mass_kg particles",
     .frame = measure_center,
     .want = RP_READ_VELOCITY | RP_READ_MASS,
     .argument = {SPECIES}},
    {.name = "bodies",
     .sentence =
         "Of each body of particles its centre of mass, mean velocity, the root of the mean "
         "square of its particles' speeds, mass and number of particles. Body 0 is `rest`; "
         "`bodies` in run.json has the names.",
     .columns = "body x_m y_m z_m vx_m_s vy_m_s vz_m_s rms_m_s mass_kg particles",
     .frame = measure_bodies,
     .want = RP_READ_VELOCITY | RP_READ_MASS | RP_READ_GROUP,
     .argument = {SPECIES}},
    {.name = "pieces",
     .sentence =
         "How each body of particles went as a whole since an earlier frame, those that are "
         "broken pieces among them: what was at x then is at q x q* + (x_m, y_m, z_m) now, "
         "but for `misfit_m`, a root mean square. `debris` of its `particles` are farther "
         "away than that; they have no say. `bodies` in run.json has the names.",
     .columns = "body x_m y_m z_m qx qy qz qw misfit_m particles debris",
     .frame = measure_pieces,
     .want = RP_READ_MASS | RP_READ_ID | RP_READ_GROUP,
     .since = "since",
     .argument = {{"since", "0", "a frame", NULL, 0.0, 1e9},
                  {"away", "0", "what is so far off has left its piece [m]; 0: a cell", NULL, 0.0,
                   MOST}}},
    {.name = "runout",
     .sentence = "How far particles are: quantiles, and the extremes of all. `high_m` is the place "
                 "that the share `quantile` does not exceed, `low_m` that of one minus the share.",
     .columns = "low_m high_m least_m most_m",
     .frame = measure_runout,
     .argument = {ALONG, {"quantile", "0.995", "a share", NULL, 0.0, 1.0}, ORIGIN, SPECIES}},
    {.name = "profile",
     .sentence = "Height of the surface over bins: `top_m` is a quantile of the heights of the "
                 "particles in a bin, `solid_m` their volume at rest over the bin's area.",
     .columns = "place_m top_m solid_m particles",
     .profile = true,
     .frame = measure_profile,
     .want = RP_READ_MASS,
     .argument = {ALONG, WIDTH, {"quantile", "1", "of heights", NULL, 0.0, 1.0}, ORIGIN, SPECIES}},
    {.name = "slope",
     .sentence = "A line through the surface of a heap between two shares of its height.",
     .columns = "slope angle_deg r2 crest_m bins",
     .frame = measure_slope,
     .want = RP_READ_MASS,
     .argument = {ALONG,
                  WIDTH,
                  {"quantile", "1", "of heights", NULL, 0.0, 1.0},
                  {"side", "right", "of the crest", "left right"},
                  {"from", "0.2", "share of the crest's height", NULL, 0.0, 1.0},
                  {"to", "0.8", "share of the crest's height", NULL, 0.0, 1.0},
                  ORIGIN,
                  SPECIES}},
    {.name = "roundness",
     .sentence =
         "Radius of a heap in sectors about the upright axis: mean, standard deviation over "
         "the mean, amplitude of the fourfold part over the mean, sectors without particles.",
     .columns = "mean_m deviation cos4 empty",
     .frame = measure_roundness,
     .argument = {{"sectors", "24", "how many", NULL, 8.0, 360.0},
                  {"quantile", "0.97", "of the radii in a sector", NULL, 0.0, 1.0},
                  ORIGIN,
                  SPECIES}},
    {.name = "rest",
     .sentence =
         "Root mean square of the velocity, and how far particles have gone since an earlier "
         "frame: a quantile, and the farthest.",
     .columns = "v_rms_m_s moved_m farthest_m",
     .frame = measure_rest,
     .want = RP_READ_VELOCITY | RP_READ_MASS | RP_READ_ID,
     .need = RP_READ_VELOCITY,
     .since = "since",
     .argument = {{"since", "0", "a frame", NULL, 0.0, 1e9},
                  {"quantile", "0.9", "of the ways", NULL, 0.0, 1.0},
                  SPECIES}},
    {.name = "volume",
     .sentence =
         "Volume at rest, as strained, and of upright columns of a cell up to their highest "
         "particle; and the volume of the particles of the fullest cell over its own: 1 as filled, "
         "up to 2 or 3 where few particles a cell have been mixed.",
     .columns = "rest_m3 solid_m3 bulk_m3 densest",
     .frame = measure_volume,
     .want = RP_READ_MASS | RP_READ_RATIO,
     .argument = {{"y0", "0", "the floor, where y is up [m]", NULL, -MOST, MOST},
                  {"z0", "0", "the floor, where z is up [m]", NULL, -MOST, MOST},
                  SPECIES}},
    {.name = "stress",
     .sentence =
         "Mean Cauchy stress and logarithm of the volume ratio over bins of where particles "
         "were in frame `start`. `ln_J` is not a number where frames keep stress but no strain.",
     .columns = "place_m xx_Pa yy_Pa zz_Pa xy_Pa xz_Pa yz_Pa ln_J particles",
     .profile = true,
     .frame = measure_stress,
     .want = RP_READ_MASS | RP_READ_ID | RP_READ_RATIO | RP_READ_STRESS,
     .need = RP_READ_STRESS,
     .since = "start",
     .argument = {ALONG, WIDTH, {"start", "0", "a frame", NULL, 0.0, 1e9}, ORIGIN, SPECIES}},
    {.name = "velocity",
     .sentence = "Mean velocity over bins, and the root mean square of the speed.",
     .columns = "place_m vx_m_s vy_m_s vz_m_s rms_m_s particles",
     .profile = true,
     .frame = measure_velocity,
     .want = RP_READ_VELOCITY | RP_READ_MASS,
     .need = RP_READ_VELOCITY,
     .argument = {ALONG, WIDTH, ORIGIN, SPECIES}},
    {.name = "mean",
     .sentence = "Mean of any number of particles over bins, as pictures name it: `saturation`, "
                 "`pressure`, `velocity.x`.",
     .columns = "place_m mean particles",
     .profile = true,
     .frame = measure_mean,
     .want = RP_READ_MASS,
     .argument =
         {{"of", "speed", "the number", NULL, 0.0, 0.0, true}, ALONG, WIDTH, ORIGIN, SPECIES}},
    {.name = "wall",
     .sentence = "Mean force on a collider over the frame, and what it is over an area, where one "
                 "is given.",
     .columns = "force_x_N force_y_N force_z_N pressure_Pa",
     .table = measure_wall,
     .argument = {{"collider", "0", "its name in forces.csv, or its number", NULL, 0.0, 0.0, true},
                  {"area", "none",
                   "of it that the force is on [m^2]; `pressure_Pa` is not a number without", NULL,
                   1e-300, MOST}}},
    {.name = "body",
     .sentence =
         "Where a rigid body is, how it moves, and the mean force and torque on it over the "
         "frame.",
     .columns = "x_m y_m z_m qx qy qz qw velocity_x_m_s velocity_y_m_s velocity_z_m_s spin_x_rad_s "
                "spin_y_rad_s spin_z_rad_s force_x_N force_y_N force_z_N torque_x_N_m torque_y_N_m "
                "torque_z_N_m",
     .table = measure_body,
     .argument = {{"name", "0", "its name in bodies.csv, or its number", NULL, 0.0, 0.0, true}}},
    {.name = "discharge",
     .sentence = "Mass that is there, the share of all mass so far that has gone, and the rate at "
                 "which it went since the frame before.",
     .columns = "mass_kg gone rate_kg_s",
     .table = measure_discharge,
     .argument = {SPECIES}},
    {.name = "energy",
     .sentence = "Kinetic, elastic and potential energy and their sum; and, of a run with "
                 "`output { energy = true }`, what went where since the start.",
     .columns = "kinetic_J elastic_J potential_J total_J affine_J plastic_J contact_J friction_J "
                "transfer_J stepping_J brought_J",
     .table = measure_energy},
    {.name = "stats",
     .sentence = "What else stats.csv knows.",
     .columns = "steps dt_s particles born removed mass_kg momentum_x_kg_m_s momentum_y_kg_m_s "
                "momentum_z_kg_m_s kinetic_J elastic_J potential_J max_speed_m_s",
     .table = measure_stats},
};
#pragma GCC diagnostic pop
enum { MEASUREMENTS = sizeof measurements / sizeof measurements[0] };

const char *rp_measurement_sentence(int index)
{
    return rp_measurement(index) != NULL ? measurements[index].sentence : NULL;
}

const char *rp_measurement(int index)
{
    return index >= 0 && index < MEASUREMENTS ? measurements[index].name : NULL;
}

static const measurement *find(const char *name)
{
    rp_nearest near = rp_nearest_start(name);
    for (int i = 0; i < MEASUREMENTS; i++) {
        if (strcmp(measurements[i].name, name) == 0) {
            return &measurements[i];
        }
        rp_nearest_try(&near, measurements[i].name);
    }
    rp_fail(RP_ERR_ARGUMENT, "no measurement '%s'%s%s%s", name,
            near.best != NULL ? "; did you mean " : "", near.best != NULL ? near.best : "",
            near.best != NULL ? "?" : "");
    return NULL;
}

rp_measure_def rp_default_measure_def(void)
{
    return (rp_measure_def){.first = RP_LAST_FRAME, .last = RP_LAST_FRAME, .cookie = COOKIE};
}

static rp_result read_then(measuring *m)
{
    rp_reader *reader;
    RP_TRY(open_frame(m, (int64_t)number(m, m->what->since), &reader));
    const rp_result result = rp_swarm_read(reader, RP_READ_POSITION | RP_READ_ID, NULL, &m->then);
    m->then.z_up = m->z_up;
    rp_reader_close(reader);
    return result;
}

static rp_result measure_frame(measuring *m, rp_measured *out)
{
    RP_TRY(rp_reader_need(m->reader, m->what->need, m->what->name));
    const rp_swarm_choice choice = choice_of(m);
    RP_TRY(rp_swarm_read(m->reader, RP_READ_POSITION | m->what->want, &choice, &m->now));
    m->now.z_up = m->z_up;
    rp_result result =
        m->what->since != NULL ? rp_swarm_match(&m->now, &m->then, &m->places) : RP_OK;
    result = result == RP_OK ? m->what->frame(m, out) : result;
    free(m->places);
    m->places = NULL;
    rp_swarm_free(&m->now);
    return result;
}

static rp_result measure_frames(measuring *m, rp_measured *out)
{
    // stress and volume are what the laws of the materials say
    if (((m->what->need | m->what->want) & (RP_READ_STRESS | RP_READ_RATIO)) != 0) {
        RP_TRY(rp_record_open(m->def->folder, &m->record));
    }
    m->z_up = rp_record_up(m->def->folder) == 2;
    rp_result result = m->what->since != NULL ? read_then(m) : RP_OK;
    for (int64_t frame = m->first; frame <= m->last && result == RP_OK; frame++) {
        result = open_frame(m, frame, &m->reader);
        result = result == RP_OK ? measure_frame(m, out) : result;
        rp_reader_close(m->reader);
        m->reader = NULL;
    }
    rp_swarm_free(&m->then);
    rp_record_close(m->record);
    return result;
}

rp_result rp_measure(const rp_measure_def *def, rp_measured **measured)
{
    *measured = NULL;
    if (def->cookie != COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "measure: start from rp_default_measure_def()");
    }
    measuring m = {.what = find(def->name), .def = def};
    if (m.what == NULL) {
        return RP_ERR_ARGUMENT;
    }
    RP_TRY(take_arguments(&m));
    const int64_t last = rp_run_last_frame(def->folder);
    m.first = def->first == RP_LAST_FRAME ? last : def->first;
    m.last = def->last == RP_LAST_FRAME ? last : def->last;
    if (last < 0) {
        return rp_fail(RP_ERR_FILE, "%s holds no frames", def->folder);
    }
    if (m.first < 0 || m.first > m.last || m.last > last) {
        return rp_fail(RP_ERR_ARGUMENT, "%s has no frames %lld to %lld; its last is %lld",
                       def->folder, (long long)m.first, (long long)m.last, (long long)last);
    }
    char names[512];
    snprintf(names, sizeof names, "frame time_s %s", m.what->columns);
    rp_measured *out = rp_measured_make(names);
    if (out == NULL) {
        return RP_ERR_MEMORY;
    }
    out->profile = m.what->profile;
    const rp_result result =
        m.what->table != NULL ? m.what->table(&m, out) : measure_frames(&m, out);
    if (result != RP_OK) {
        rp_measured_free(out);
        return result;
    }
    *measured = out;
    return RP_OK;
}

// ---- the page ----

static void describe_argument(FILE *page, const argument *a)
{
    fprintf(page, "| `%s` | ", a->name);
    if (a->words != NULL) {
        for (const char *at = a->words; *at != '\0';) {
            const int length = (int)strcspn(at, " ");
            fprintf(page, "%s`%.*s`", at == a->words ? "" : ", ", length, at);
            at += length + (at[length] == ' ');
        }
    } else {
        fputs(a->text ? "a text" : "a number", page);
    }
    fprintf(page, " | `%s` | %s |\n", a->otherwise, a->sentence);
}

static void describe(FILE *page, const measurement *m)
{
    fprintf(page, "\n## %s\n\n%s\n\nColumns: `frame time_s %s`%s.\n", m->name, m->sentence,
            m->columns, m->profile ? ", a row per bin" : "");
    if (m->argument[0].name != NULL) {
        fputs("\n| argument | takes | default | |\n|---|---|---|---|\n", page);
    }
    for (int i = 0; i < ARGUMENTS && m->argument[i].name != NULL; i++) {
        describe_argument(page, &m->argument[i]);
    }
}

char *rp_measure_reference(void)
{
    char *text_ = NULL;
    size_t size;
    FILE *page = open_memstream(&text_, &size);
    if (page == NULL) {
        return NULL;
    }
    fputs(
        "# Measurements\n\n"
        "Numbers that `repose measure DIR NAME` reads off the folder of a run, that checks\n"
        "(`repose validate`) are made of, and that `include/repose/measure.h` gives to programs.\n"
        "This page is made from the table that also checks arguments (`src/measure/measure.c`).\n"
        "\n"
        "    repose measure heap-out runout                      of the last frame\n"
        "    repose measure heap-out runout --all quantile=0.97  of every frame\n"
        "    repose measure heap-out profile --frame 10 --json   as JSON\n"
        "\n"
        "Units are SI and stand at the end of a column's name. In 2D a slice one metre thick is\n"
        "meant, and a radius is the distance from an upright line.\n",
        page);
    for (int i = 0; i < MEASUREMENTS; i++) {
        describe(page, &measurements[i]);
    }
    if (fclose(page) != 0) {
        free(text_);
        return NULL;
    }
    return text_;
}
