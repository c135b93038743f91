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

rp_result rp_swarm_fit(const rp_swarm *now, const rp_swarm *then, const int64_t *places, int bodies,
                       double away, rp_fit *fit)
{
    const size_t count = (size_t)now->count;
    double(*before)[3] = malloc((count + 1) * sizeof *before);
    int *body = malloc((count + 1) * sizeof *body);
    rp_result result = before != NULL && body != NULL ? RP_OK : no_memory();
    for (size_t i = 0; i < count && result == RP_OK; i++) {
        body[i] = places[i] < 0 ? -1 : now->batch.field[i];
        memcpy(before[i], then->x[places[i] < 0 ? 0 : places[i]], sizeof before[i]);
    }
    const rp_fit_def def = {.count = now->count,
                            .then = (const double(*)[3])before,
                            .now = (const double(*)[3])now->x,
                            .mass = now->mass,
                            .body = body,
                            .away = away};
    result = result == RP_OK ? rp_fit_bodies(&def, bodies, fit, NULL) : result;
    free(before);
    free(body);
    return result;
}
