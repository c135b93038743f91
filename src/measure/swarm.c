#include "measure/swarm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- reading ----

static rp_result no_memory(void) { return rp_fail(RP_ERR_MEMORY, "out of memory: a measurement"); }

static void name_arrays(rp_swarm *s)
{
    const rp_batch *b = &s->batch;
    s->count = b->count;
    s->x = b->position;
    s->v = b->velocity;
    s->mass = b->mass;
    s->volume = b->volume;
    s->log_ratio = b->log_ratio;
    s->stress = b->stress;
    s->id = b->id;
}

rp_result rp_swarm_make(int64_t count, unsigned want, rp_swarm *out)
{
    *out = (rp_swarm){.batch.want = want};
    RP_TRY(rp_batch_reserve(&out->batch, count));
    out->batch.count = count;
    name_arrays(out);
    return RP_OK;
}

void rp_swarm_free(rp_swarm *swarm)
{
    rp_batch_free(&swarm->batch);
    free(swarm->number);
    *swarm = (rp_swarm){0};
}

// Those of other species get a flag of their own.
static rp_result choose_species(const rp_reader *reader, const char *name, rp_batch *b,
                                unsigned flag)
{
    int wanted = 0;
    char names[256] = "";
    for (const char *at; (at = rp_reader_species(reader, wanted)) != NULL; wanted++) {
        const size_t used = strlen(names);
        if (strcmp(at, name) == 0) {
            break;
        }
        snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", at);
    }
    if (rp_reader_species(reader, wanted) == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "no species '%s' in this frame: it has %s", name, names);
    }
    for (int64_t i = 0; i < b->count; i++) {
        b->flags[i] |= (uint8_t)(b->species[i] != wanted ? flag : 0);
    }
    return RP_OK;
}

static rp_result read_number(rp_reader *reader, const char *name, unsigned gone, rp_swarm *out)
{
    const rp_batch *b = &out->batch;
    rp_value_info info;
    if (!rp_reader_knows(reader, name, &info)) {
        return rp_fail(RP_ERR_ARGUMENT, "particles of this frame have no number '%s'", name);
    }
    RP_TRY(rp_reader_need(reader, info.needs, name));
    out->number = malloc(((size_t)b->count + 1) * sizeof *out->number);
    if (out->number == NULL) {
        return no_memory();
    }
    RP_TRY(rp_reader_values(reader, name, 0, b->count, out->number));
    int64_t kept = 0;
    for (int64_t i = 0; i < b->count; i++) {
        if ((b->flags[i] & gone) == 0) {
            out->number[kept++] = out->number[i];
        }
    }
    return RP_OK;
}

rp_result rp_swarm_read(rp_reader *reader, unsigned want, const rp_swarm_choice *choice,
                        rp_swarm *out)
{
    enum { OTHER = 1 << 7 };
    // marks without mass are no matter, whatever volume they were filled in with
    const unsigned gone = RP_PARTICLE_DOOMED | RP_PARTICLE_MASSLESS | OTHER;
    *out = (rp_swarm){.info = *rp_reader_info(reader), .batch.want = want | RP_READ_GROUP};
    rp_result result = rp_reader_read(reader, 0, out->info.particles, &out->batch);
    if (result == RP_OK && choice != NULL && choice->species != NULL) {
        result = choose_species(reader, choice->species, &out->batch, OTHER);
    }
    if (result == RP_OK && choice != NULL && choice->number != NULL) {
        result = read_number(reader, choice->number, gone | RP_PARTICLE_NOWHERE, out);
    }
    if (result != RP_OK) {
        rp_swarm_free(out);
        return result;
    }
    rp_batch_drop(&out->batch, gone);
    const int64_t lost = rp_batch_drop(&out->batch, RP_PARTICLE_NOWHERE);
    if (lost > 0) {
        rp_log(RP_LOG_WARNING, "frame %lld: %lld particles are nowhere and do not count",
               (long long)out->info.frame, (long long)lost);
    }
    name_arrays(out);
    return RP_OK;
}

// ---- who is who ----

typedef struct named {
    uint64_t id;
    int64_t place;
} named;

static int compare_named(const void *a, const void *b)
{
    const uint64_t x = ((const named *)a)->id, y = ((const named *)b)->id;
    return x < y ? -1 : x > y;
}

rp_result rp_swarm_match(const rp_swarm *a, const rp_swarm *b, int64_t **places)
{
    named *list = malloc(((size_t)b->count + 1) * sizeof *list);
    *places = malloc(((size_t)a->count + 1) * sizeof **places);
    if (list == NULL || *places == NULL) {
        free(list);
        free(*places);
        *places = NULL;
        return no_memory();
    }
    for (int64_t i = 0; i < b->count; i++) {
        list[i] = (named){b->id[i], i};
    }
    qsort(list, (size_t)b->count, sizeof *list, compare_named);
    for (int64_t i = 0; i < a->count; i++) {
        const named want = {a->id[i], 0};
        const named *found = bsearch(&want, list, (size_t)b->count, sizeof *list, compare_named);
        (*places)[i] = found != NULL ? found->place : -1;
    }
    free(list);
    return RP_OK;
}

// ---- places ----

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double rp_quantile(double *value, int64_t count, double share)
{
    if (count <= 0) {
        return NAN;
    }
    qsort(value, (size_t)count, sizeof *value, compare_doubles);
    const double at = share * (double)(count - 1);
    const int64_t below = (int64_t)floor(at);
    const int64_t above = below + 1 < count ? below + 1 : below;
    return value[below] + (at - (double)below) * (value[above] - value[below]);
}

double rp_along(const rp_swarm *swarm, int64_t i, int along, const double origin[3])
{
    const double *x = swarm->x[i];
    const int level = rp_swarm_level(swarm);
    return along == RP_ALONG_RADIUS ? hypot(x[0] - origin[0], x[level] - origin[level])
                                    : x[along] - origin[along];
}

rp_result rp_swarm_runout(const rp_swarm *swarm, int along, const double origin[3], double share,
                          rp_runout *out)
{
    double *place = malloc(((size_t)swarm->count + 1) * sizeof *place);
    if (place == NULL) {
        return no_memory();
    }
    for (int64_t i = 0; i < swarm->count; i++) {
        place[i] = rp_along(swarm, i, along, origin);
    }
    out->high = rp_quantile(place, swarm->count, share);
    out->low = along == RP_ALONG_RADIUS ? 0.0 : rp_quantile(place, swarm->count, 1.0 - share);
    out->least = swarm->count > 0 ? place[0] : NAN;
    out->most = swarm->count > 0 ? place[swarm->count - 1] : NAN;
    free(place);
    return RP_OK;
}

rp_bins rp_swarm_bins(const rp_swarm *swarm, int along, const double origin[3], double width)
{
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < swarm->count; i++) {
        const double place = rp_along(swarm, i, along, origin);
        least = fmin(least, place);
        most = fmax(most, place);
    }
    if (!(least <= most)) {
        return (rp_bins){0.0, width, 0};
    }
    const double first = floor(least / width), behind = floor(most / width) + 1.0;
    return (rp_bins){first * width, width, (int)fmin(behind - first, 1e6)};
}

int rp_bin_of(const rp_bins *bins, double place)
{
    const double bin = floor((place - bins->first) / bins->width);
    return bin >= 0.0 && bin < (double)bins->count ? (int)bin : -1;
}

// Numbers sorted into bins: value[start[b]] to value[start[b + 1]] are those of bin b.
typedef struct binned {
    int64_t *start;
    double *value;
} binned;

static void binned_free(binned *b)
{
    free(b->start);
    free(b->value);
}

static rp_result sort_into_bins(const int *bin, const double *value, int64_t count, int bins,
                                binned *out)
{
    out->start = calloc((size_t)bins + 2, sizeof *out->start);
    out->value = malloc(((size_t)count + 1) * sizeof *out->value);
    if (out->start == NULL || out->value == NULL) {
        binned_free(out);
        return no_memory();
    }
    for (int64_t i = 0; i < count; i++) {
        if (bin[i] >= 0) {
            out->start[bin[i] + 2]++;
        }
    }
    for (int b = 0; b < bins; b++) {
        out->start[b + 2] += out->start[b + 1];
    }
    for (int64_t i = 0; i < count; i++) {
        if (bin[i] >= 0) {
            out->value[out->start[bin[i] + 1]++] = value[i];
        }
    }
    return RP_OK;
}

// ---- surfaces ----

static double area_of(const rp_swarm *swarm, int along, const rp_bins *bins, int bin, double depth)
{
    const double a = bins->first + bin * bins->width, b = a + bins->width;
    if (swarm->info.dimension == 2) {
        return along == RP_ALONG_RADIUS ? 2.0 * bins->width : bins->width;
    }
    return along == RP_ALONG_RADIUS ? M_PI * (b * b - a * a) : bins->width * depth;
}

static double extent(const rp_swarm *swarm, int axis)
{
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < swarm->count; i++) {
        least = fmin(least, swarm->x[i][axis]);
        most = fmax(most, swarm->x[i][axis]);
    }
    return most - least;
}

rp_result rp_swarm_profile(const rp_swarm *swarm, int along, const double origin[3],
                           const rp_bins *bins, double share, double depth, rp_column_height *out)
{
    int *bin = malloc(((size_t)swarm->count + 1) * sizeof *bin);
    double *height = malloc(((size_t)swarm->count + 1) * sizeof *height);
    binned sorted = {0};
    const int up = rp_swarm_up(swarm);
    rp_result result = bin != NULL && height != NULL ? RP_OK : no_memory();
    if (depth <= 0.0 && swarm->info.dimension == 3 && along != RP_ALONG_RADIUS) {
        const int level = rp_swarm_level(swarm);
        depth = extent(swarm, along == 0 ? level : along == level ? 0 : along);
    }
    for (int b = 0; b < bins->count; b++) {
        out[b] = (rp_column_height){.place = bins->first + (b + 0.5) * bins->width};
    }
    for (int64_t i = 0; i < swarm->count && result == RP_OK; i++) {
        bin[i] = rp_bin_of(bins, rp_along(swarm, i, along, origin));
        height[i] = swarm->x[i][up] - origin[up];
        if (bin[i] >= 0) {
            out[bin[i]].solid += swarm->volume[i] / area_of(swarm, along, bins, bin[i], depth);
        }
    }
    if (result == RP_OK) {
        result = sort_into_bins(bin, height, swarm->count, bins->count, &sorted);
    }
    for (int b = 0; b < bins->count && result == RP_OK; b++) {
        out[b].particles = sorted.start[b + 1] - sorted.start[b];
        out[b].top = rp_quantile(sorted.value + sorted.start[b], out[b].particles, share);
    }
    binned_free(&sorted);
    free(bin);
    free(height);
    return result;
}

void rp_profile_slope(const rp_column_height *column, int columns, double from, double to, int side,
                      rp_slope *out)
{
    int crest = -1;
    *out = (rp_slope){.slope = NAN, .r2 = NAN, .crest = NAN};
    for (int i = 0; i < columns; i++) {
        if (column[i].particles > 0 && (crest < 0 || column[i].top > column[crest].top)) {
            crest = i;
        }
    }
    if (crest < 0) {
        return;
    }
    out->crest = column[crest].top;
    double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0, syy = 0.0;
    for (int i = crest; i >= 0 && i<columns; i += side> 0 ? 1 : -1) {
        const rp_column_height *c = &column[i];
        if (c->particles == 0 || c->top < from * out->crest || c->top > to * out->crest) {
            continue;
        }
        const double x = c->place - column[crest].place, y = c->top;
        n += 1.0;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        syy += y * y;
    }
    out->columns = (int)n;
    const double vx = n * sxx - sx * sx, vy = n * syy - sy * sy, c = n * sxy - sx * sy;
    if (n >= 2.0 && vx > 0.0) {
        out->slope = (side > 0 ? -1.0 : 1.0) * c / vx;
        out->r2 = vy > 0.0 ? c * c / (vx * vy) : 1.0;
    }
}

rp_result rp_swarm_roundness(const rp_swarm *swarm, const double origin[3], double share,
                             int sectors, double *radius, rp_roundness *out)
{
    int *bin = malloc(((size_t)swarm->count + 1) * sizeof *bin);
    double *r = malloc(((size_t)swarm->count + 1) * sizeof *r);
    binned sorted = {0};
    const int level = rp_swarm_level(swarm);
    rp_result result = bin != NULL && r != NULL ? RP_OK : no_memory();
    for (int64_t i = 0; i < swarm->count && result == RP_OK; i++) {
        const double x = swarm->x[i][0] - origin[0], z = swarm->x[i][level] - origin[level];
        const double turn = atan2(z, x) / (2.0 * M_PI);
        bin[i] = (int)((turn - floor(turn)) * sectors) % sectors;
        r[i] = hypot(x, z);
    }
    if (result == RP_OK) {
        result = sort_into_bins(bin, r, swarm->count, sectors, &sorted);
    }
    if (result == RP_OK) {
        double sum = 0.0, variance = 0.0, c4 = 0.0, s4 = 0.0;
        *out = (rp_roundness){0};
        for (int s = 0; s < sectors; s++) {
            const int64_t count = sorted.start[s + 1] - sorted.start[s];
            radius[s] = rp_quantile(sorted.value + sorted.start[s], count, share);
            out->empty += count == 0;
            sum += radius[s];
        }
        out->mean = sum / sectors;
        for (int s = 0; s < sectors; s++) {
            const double off = radius[s] - out->mean, angle = 2.0 * M_PI * (s + 0.5) / sectors;
            variance += off * off / sectors;
            c4 += off * cos(4.0 * angle) * 2.0 / sectors;
            s4 += off * sin(4.0 * angle) * 2.0 / sectors;
        }
        out->deviation = sqrt(variance) / out->mean;
        // a square along the axes and one across them are equally wrong
        out->cos4 = hypot(c4, s4) / out->mean;
    }
    binned_free(&sorted);
    free(bin);
    free(r);
    return result;
}

// ---- volume ----

static int compare_keys(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    for (int k = 0; k < 3; k++) {
        if (x[k] != y[k]) {
            return x[k] < y[k] ? -1 : 1;
        }
    }
    return 0;
}

// Cells in use: the fullest one, and upright columns up to their highest particle.
typedef struct cell {
    int64_t at[3]; // the last one is upright: the cells of a column follow each other
    double height, volume;
} cell;

rp_result rp_swarm_bulk(const rp_swarm *swarm, double floor_, rp_bulk *out)
{
    cell *list = malloc(((size_t)swarm->count + 1) * sizeof *list);
    const double h = swarm->info.dx;
    const int dim = swarm->info.dimension;
    const int up = rp_swarm_up(swarm), level = rp_swarm_level(swarm);
    *out = (rp_bulk){0};
    if (list == NULL) {
        return no_memory();
    }
    for (int64_t i = 0; i < swarm->count; i++) {
        const double *x = swarm->x[i];
        out->solid += swarm->volume[i] * exp(swarm->log_ratio[i]);
        list[i] = (cell){
            {(int64_t)floor(x[0] / h), (int64_t)floor(x[level] / h), (int64_t)floor(x[up] / h)},
            x[up] - floor_ + 0.5 * pow(swarm->volume[i], 1.0 / dim),
            swarm->volume[i]};
    }
    qsort(list, (size_t)swarm->count, sizeof *list, compare_keys);
    double top = 0.0, full = 0.0;
    for (int64_t i = 0; i < swarm->count; i++) {
        const bool new_column =
            i == 0 || list[i].at[0] != list[i - 1].at[0] || list[i].at[1] != list[i - 1].at[1];
        const bool new_cell = new_column || list[i].at[2] != list[i - 1].at[2];
        out->bulk += new_column ? top * pow(h, dim - 1) : 0.0;
        top = fmax(new_column ? 0.0 : top, list[i].height);
        full = (new_cell ? 0.0 : full) + list[i].volume / pow(h, dim);
        out->densest = fmax(out->densest, full);
    }
    out->bulk += top * pow(h, dim - 1);
    free(list);
    return RP_OK;
}

// ---- bodies as a whole ----

// Of one body: mass, and sums of mass times places then and now, and of their products.
typedef struct fit_sums {
    double mass, then[3], now[3], both[3][3];
} fit_sums;

// The eigenvector of the largest eigenvalue, by Jacobi's rotations.
static void largest_of_four(double A[4][4], double out[4])
{
    double V[4][4] = {{0}};
    for (int i = 0; i < 4; i++) {
        V[i][i] = 1.0;
    }
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0.0, all = 0.0;
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < 4; k++) {
                all += A[i][k] * A[i][k];
                off += i != k ? A[i][k] * A[i][k] : 0.0;
            }
        }
        if (!(off > 1e-30 * all)) {
            break;
        }
        for (int i = 0; i < 4; i++) {
            for (int k = i + 1; k < 4; k++) {
                const double turn = 0.5 * atan2(2.0 * A[i][k], A[k][k] - A[i][i]);
                const double c = cos(turn), s = sin(turn);
                for (int j = 0; j < 4; j++) { // columns, then rows
                    const double one = A[j][i], other = A[j][k], v = V[j][i], w = V[j][k];
                    A[j][i] = c * one - s * other;
                    A[j][k] = s * one + c * other;
                    V[j][i] = c * v - s * w;
                    V[j][k] = s * v + c * w;
                }
                for (int j = 0; j < 4; j++) {
                    const double one = A[i][j], other = A[k][j];
                    A[i][j] = c * one - s * other;
                    A[k][j] = s * one + c * other;
                }
            }
        }
    }
    int best = 0;
    for (int i = 1; i < 4; i++) {
        best = A[i][i] > A[best][best] ? i : best;
    }
    for (int j = 0; j < 4; j++) {
        out[j] = V[3][best] < 0.0 ? -V[j][best] : V[j][best];
    }
}

static void turn_by(const double q[4], const double x[3], double out[3])
{
    double t[3]; // 2 q x x
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        t[a] = 2.0 * (q[b] * x[c] - q[c] * x[b]);
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        out[a] = x[a] + q[3] * t[a] + q[b] * t[c] - q[c] * t[b];
    }
}

// Horn (1987): the turn that takes the one to the other best.
static void solve_fit(const fit_sums *s, rp_fit *f)
{
    double S[3][3], middle[3];
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            S[a][b] = s->both[a][b] / s->mass - s->then[a] / s->mass * (s->now[b] / s->mass);
        }
    }
    double N[4][4] = {
        {S[0][0] - S[1][1] - S[2][2], S[0][1] + S[1][0], S[2][0] + S[0][2], S[1][2] - S[2][1]},
        {0, S[1][1] - S[0][0] - S[2][2], S[1][2] + S[2][1], S[2][0] - S[0][2]},
        {0, 0, S[2][2] - S[0][0] - S[1][1], S[0][1] - S[1][0]},
        {0, 0, 0, S[0][0] + S[1][1] + S[2][2]}};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < i; k++) {
            N[i][k] = N[k][i];
        }
    }
    largest_of_four(N, f->q);
    const double then[3] = {s->then[0] / s->mass, s->then[1] / s->mass, s->then[2] / s->mass};
    turn_by(f->q, then, middle);
    for (int a = 0; a < 3; a++) {
        f->shift[a] = s->now[a] / s->mass - middle[a];
    }
}

// How far a particle is from where its body takes it.
static double stray(const rp_fit *f, const double then[3], const double now[3])
{
    double x[3], way2 = 0.0;
    turn_by(f->q, then, x);
    for (int a = 0; a < 3; a++) {
        x[a] += f->shift[a] - now[a];
        way2 += x[a] * x[a];
    }
    return sqrt(way2);
}

rp_result rp_swarm_fit(const rp_swarm *now, const rp_swarm *then, const int64_t *places, int bodies,
                       double away, rp_fit *fit)
{
    // what has left drags the first fit along: let go of the farthest first
    enum { ROUNDS = 12 };
    static const double FAR = 2.0; // misfits
    fit_sums *sums = malloc(((size_t)bodies + 1) * sizeof *sums);
    if (sums == NULL) {
        return no_memory();
    }
    for (int b = 0; b < bodies; b++) {
        fit[b] = (rp_fit){.q = {0, 0, 0, 1}, .misfit = INFINITY};
    }
    for (int round = 0; round < ROUNDS; round++) {
        memset(sums, 0, (size_t)bodies * sizeof *sums);
        for (int64_t i = 0; i < now->count; i++) {
            const int body = now->batch.field[i];
            if (places[i] < 0 || body >= bodies || !(now->mass[i] > 0.0)) {
                continue;
            }
            const double *x = then->x[places[i]], *y = now->x[i], m = now->mass[i];
            const rp_fit *f = &fit[body];
            if (round > 0 && stray(f, x, y) > fmax(away, FAR * f->misfit)) {
                continue;
            }
            fit_sums *s = &sums[body];
            s->mass += m;
            for (int a = 0; a < 3; a++) {
                s->then[a] += m * x[a];
                s->now[a] += m * y[a];
                for (int b = 0; b < 3; b++) {
                    s->both[a][b] += m * x[a] * y[b];
                }
            }
        }
        for (int b = 0; b < bodies; b++) {
            if (sums[b].mass > 0.0) {
                solve_fit(&sums[b], &fit[b]);
            }
            fit[b].misfit = sums[b].mass = 0.0;
            fit[b].particles = fit[b].debris = 0;
        }
        for (int64_t i = 0; i < now->count; i++) {
            const int body = now->batch.field[i];
            if (places[i] < 0 || body >= bodies || !(now->mass[i] > 0.0)) {
                continue;
            }
            const double way = stray(&fit[body], then->x[places[i]], now->x[i]);
            fit[body].particles++;
            if (way > away) {
                fit[body].debris++;
            }
            if (way <= away || round + 1 < ROUNDS) {
                fit[body].misfit += now->mass[i] * way * way;
                sums[body].mass += now->mass[i];
            }
        }
        for (int b = 0; b < bodies; b++) {
            fit[b].misfit = sums[b].mass > 0.0 ? sqrt(fit[b].misfit / sums[b].mass) : NAN;
        }
    }
    free(sums);
    return RP_OK;
}
