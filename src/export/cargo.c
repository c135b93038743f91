#include "export/job.h"

#include "repose/nearest.h"
#include "repose/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMPS = 9 };

// (x, y, z) with y up becomes (x, -z, y) with z up, and back: a quarter turn about x.
void rp_job_turn(const rp_job *job, double v[3])
{
    if (job->turn != 0) {
        const double y = v[1];
        v[1] = -job->turn * v[2];
        v[2] = job->turn * y;
    }
}

// A matrix by rows.
static void turn_matrix(const rp_job *job, double m[9])
{
    if (job->turn == 0) {
        return;
    }
    for (int r = 0; r < 3; r++) {
        rp_job_turn(job, &m[3 * r]);
    }
    for (int c = 0; c < 3; c++) {
        double column[3] = {m[c], m[3 + c], m[6 + c]};
        rp_job_turn(job, column);
        m[c] = column[0];
        m[3 + c] = column[1];
        m[6 + c] = column[2];
    }
}

static void turn_symmetric(const rp_job *job, double h[6])
{
    double m[9] = {h[0], h[3], h[4], h[3], h[1], h[5], h[4], h[5], h[2]};
    turn_matrix(job, m);
    const double out[6] = {m[0], m[4], m[8], m[1], m[2], m[5]};
    memcpy(h, out, sizeof out);
}

// Vectors and tensors of space turn with it; others stay, those of the plane among them.
static void turn_extra(const rp_job *job, int comps, double *value)
{
    if (comps == 3) {
        rp_job_turn(job, value);
    } else if (comps == 6) {
        turn_symmetric(job, value);
    } else if (comps == 9) {
        turn_matrix(job, value);
    }
}

// ---- which columns ----

static bool is_standard(const char *name)
{
    return strcmp(name, "position") == 0 || strcmp(name, "velocity") == 0 ||
           strcmp(name, "id") == 0 || strcmp(name, "mass") == 0;
}

static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL;
         at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL) {
        const size_t part = strcspn(at, ",");
        if (part == length && strncmp(at, name, length) == 0) {
            return true;
        }
    }
    return false;
}

static void add_extra(rp_cargo *c, const char *name, const char *unit, int comps)
{
    bool again = false; // named twice
    for (int k = 0; k < c->extras; k++) {
        again = again || strcmp(c->extra[k].name, name) == 0;
    }
    if (!again && c->extras < RP_CARGO_EXTRAS && comps <= COMPS) {
        rp_cargo_extra *e = &c->extra[c->extras++];
        snprintf(e->name, sizeof e->name, "%s", name);
        snprintf(e->unit, sizeof e->unit, "%s", unit);
        e->comps = comps;
    }
}

// A name that is no column: a number that the reader knows, such as speed, or a mistake. Formats
// have no dots in names, so a component is not had by itself.
static rp_result add_value(const rp_reader *reader, const char *name, rp_cargo *c)
{
    rp_value_info info;
    if (strchr(name, '.') == NULL && rp_reader_knows(reader, name, &info)) {
        char who[96];
        snprintf(who, sizeof who, "export.columns: %s", name);
        RP_TRY(rp_reader_need(reader, info.needs, who));
        add_extra(c, name, info.unit, 1);
        return RP_OK;
    }
    static const char *const numbers[] = {"speed", "smooth_pressure", "height", "body"};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    rp_nearest nearest = rp_nearest_start(name);
    char known[64][64], list[64 * 65] = ""; // they outlive the search
    rp_frame_column_info column;
    const int columns =
        rp_reader_columns(reader) < 64 - NUMBERS ? rp_reader_columns(reader) : 64 - NUMBERS;
    for (int i = 0; i < columns + NUMBERS; i++) {
        const bool there = i < columns ? rp_reader_column(reader, i, &column) == RP_OK
                                       : rp_reader_knows(reader, numbers[i - columns], &info);
        if (there) {
            snprintf(known[i], sizeof known[i], "%s",
                     i < columns ? column.name : numbers[i - columns]);
            rp_nearest_try(&nearest, known[i]);
            strcat(strcat(list, " "), known[i]);
        }
    }
    return nearest.best != NULL
               ? rp_fail(RP_ERR_ARGUMENT,
                         "export.columns: frames have no column '%s'; did you mean '%s'?", name,
                         nearest.best)
               : rp_fail(RP_ERR_ARGUMENT, "export.columns: frames have no column '%s'; there are%s",
                         name, list);
}

static rp_result choose_extras(const rp_job *job, const rp_reader *reader, rp_cargo *c)
{
    const char *list = job->def->columns;
    const int columns = rp_reader_columns(reader);
    rp_frame_column_info column;
    for (int i = 0; i < columns; i++) {
        RP_TRY(rp_reader_column(reader, i, &column));
        const bool wanted =
            list != NULL ? is_listed(list, column.name) : job->exporter->all_columns;
        if (wanted && !is_standard(column.name)) {
            add_extra(c, column.name, column.unit, column.comps);
        }
    }
    for (const char *at = list; at != NULL && *at != '\0';
         at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL) {
        char name[64] = "";
        bool found = false;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        for (int i = 0; i < columns && !found; i++) {
            RP_TRY(rp_reader_column(reader, i, &column));
            found = strcmp(column.name, name) == 0;
        }
        RP_TRY(found ? RP_OK : add_value(reader, name, c));
    }
    return RP_OK;
}

// ---- reading ----

static void *array(int64_t count, size_t size, bool *enough)
{
    void *data = malloc(((size_t)count + 1) * size);
    *enough = *enough && data != NULL;
    return data;
}

void rp_cargo_free(rp_cargo *c)
{
    free(c->position);
    free(c->velocity);
    free(c->radius);
    free(c->mass);
    free(c->id);
    free(c->material);
    free(c->color);
    for (int i = 0; i < c->extras; i++) {
        free(c->extra[i].data);
    }
    *c = (rp_cargo){0};
}

rp_result rp_cargo_make(rp_cargo *c)
{
    bool enough = true;
    c->position = array(c->count, sizeof *c->position, &enough);
    c->velocity = array(c->count, sizeof *c->velocity, &enough);
    c->radius = array(c->count, sizeof *c->radius, &enough);
    c->mass = array(c->count, sizeof *c->mass, &enough);
    c->id = array(c->count, sizeof *c->id, &enough);
    c->material = array(c->count, sizeof *c->material, &enough);
    c->color = array(c->count, sizeof *c->color, &enough);
    for (int i = 0; i < c->extras; i++) {
        c->extra[i].data = array(c->count, (size_t)c->extra[i].comps * sizeof(float), &enough);
    }
    return enough ? RP_OK
                  : rp_fail(RP_ERR_MEMORY, "no memory for the %lld particles of frame %lld",
                            (long long)c->count, (long long)c->frame);
}

// ---- order ----

typedef struct keyed {
    uint64_t id;
    int64_t row;
} keyed;

static int by_id(const void *a, const void *b)
{
    const uint64_t x = ((const keyed *)a)->id, y = ((const keyed *)b)->id;
    return (x > y) - (x < y);
}

// Which rows of a frame go along, by id: a frame has them in the order of memory, which changes,
// and may have some that a sink or the border has taken already.
static rp_result list_rows(const rp_job *job, int64_t number, rp_reader *reader, keyed **out,
                           int64_t *count)
{
    const unsigned leave_out =
        RP_PARTICLE_DOOMED | (job->exporter->matter_only ? RP_PARTICLE_MASSLESS : 0);
    const int64_t particles = rp_reader_info(reader)->particles;
    rp_batch b = {.want = RP_READ_ID | RP_READ_GROUP};
    keyed *list = malloc(((size_t)particles + 1) * sizeof *list);
    rp_result result = list != NULL ? RP_OK
                                    : rp_fail(RP_ERR_MEMORY, "no memory to sort %lld particles",
                                              (long long)particles);
    *count = 0;
    while (result == RP_OK && (result = rp_reader_next(reader, &b)) == RP_OK && b.count > 0) {
        for (int64_t i = 0; i < b.count; i++) {
            if ((b.flags[i] & leave_out) == 0 &&
                !rp_job_in_piece(job, number, b.field[i], b.id[i])) {
                list[(*count)++] = (keyed){b.id[i], b.first + i};
            }
        }
    }
    rp_batch_free(&b);
    if (result == RP_OK) {
        qsort(list, (size_t)*count, sizeof *list, by_id);
        *out = list;
    } else {
        free(list);
    }
    return result;
}

// Where each row of a frame goes to; -1: nowhere.
static rp_result list_places(const rp_job *job, int64_t number, rp_reader *reader, int64_t **out,
                             int64_t *count)
{
    const int64_t particles = rp_reader_info(reader)->particles;
    keyed *list;
    RP_TRY(list_rows(job, number, reader, &list, count));
    int64_t *place = malloc(((size_t)particles + 1) * sizeof *place);
    for (int64_t i = 0; i < particles && place != NULL; i++) {
        place[i] = -1;
    }
    for (int64_t i = 0; i < *count && place != NULL; i++) {
        place[list[i].row] = i;
    }
    free(list);
    *out = place;
    return place != NULL
               ? RP_OK
               : rp_fail(RP_ERR_MEMORY, "no memory to sort %lld particles", (long long)particles);
}

// The particles of a batch, turned and with the looks that pictures give them.
static void take_batch(const rp_job *job, const rp_batch *b, const int64_t *place, rp_cargo *c)
{
    for (int64_t i = 0; i < b->count; i++) {
        const int64_t at = place[b->first + i];
        if (at < 0) {
            continue;
        }
        double *x = c->position[at], v[3], color[3];
        memcpy(x, b->position[i], sizeof b->position[i]);
        memcpy(v, b->velocity[i], sizeof v);
        rp_job_turn(job, x);
        rp_job_turn(job, v);
        for (int a = 0; a < 3; a++) {
            c->velocity[at][a] = (float)v[a];
        }
        c->id[at] = b->id[i];
        c->material[at] = b->material[i];
        c->mass[at] = (float)b->mass[i];
        // half the distance to its neighbours
        c->radius[at] =
            (float)(0.5 * (c->dimension == 2 ? sqrt(b->volume[i]) : cbrt(b->volume[i])));
        if (rp_record_material_color(job->record, b->material[i], color)) {
            rp_grain_tint(color, b->id[i], c->color[at]);
        } else {
            rp_grain_color(b->id[i], c->color[at]);
        }
    }
}

static rp_result take_extra(const rp_job *job, rp_reader *reader, const rp_batch *b,
                            const int64_t *place, double *scratch, const rp_cargo *c,
                            rp_cargo_extra *e)
{
    RP_TRY(e->comps == 1 ? rp_reader_values(reader, e->name, b->first, b->count, scratch)
                         : rp_reader_read_column(reader, e->name, b->first, b->count, scratch));
    for (int64_t i = 0; i < b->count; i++) {
        if (c->dimension == 3 || e->comps == 6) {
            turn_extra(job, e->comps, &scratch[e->comps * i]);
        }
        const int64_t at = place[b->first + i];
        for (int q = 0; q < e->comps && at >= 0; q++) {
            e->data[at * e->comps + q] = (float)scratch[e->comps * i + q];
        }
    }
    return RP_OK;
}

static rp_result read_all(const rp_job *job, rp_reader *reader, const int64_t *place, rp_cargo *c)
{
    rp_batch b = {.want = RP_READ_POSITION | RP_READ_VELOCITY | RP_READ_ID | RP_READ_MASS};
    double *scratch = malloc(RP_BATCH * COMPS * sizeof *scratch);
    rp_result result =
        scratch != NULL ? RP_OK : rp_fail(RP_ERR_MEMORY, "no memory to read a frame");
    while (result == RP_OK && (result = rp_reader_next(reader, &b)) == RP_OK && b.count > 0) {
        take_batch(job, &b, place, c);
        for (int k = 0; k < c->extras && result == RP_OK; k++) {
            result = take_extra(job, reader, &b, place, scratch, c, &c->extra[k]);
        }
    }
    free(scratch);
    rp_batch_free(&b);
    return result;
}

static rp_result load(const rp_job *job, rp_reader *reader, rp_cargo *c)
{
    const rp_frame_info *info = rp_reader_info(reader);
    int64_t *place = NULL;
    c->time = info->time;
    c->fps = info->fps;
    c->dx = info->dx;
    c->dimension = info->dimension;
    RP_TRY(choose_extras(job, reader, c));
    RP_TRY(list_places(job, c->frame, reader, &place, &c->count));
    rp_result result = rp_cargo_make(c);
    result = result == RP_OK ? read_all(job, reader, place, c) : result;
    free(place);
    return result;
}

rp_result rp_job_open(const rp_job *job, int64_t number, rp_reader **reader)
{
    char path[RP_JOB_PATH];
    if (!rp_record_frame(job->record, number, path, sizeof path)) {
        return rp_fail(RP_ERR_FILE, "%s has no frame %lld", job->folder, (long long)number);
    }
    return rp_reader_open(path, job->record, reader);
}

rp_result rp_cargo_load(const rp_job *job, int64_t number, rp_cargo *c)
{
    rp_reader *reader;
    *c = (rp_cargo){.frame = number};
    RP_TRY(rp_job_open(job, number, &reader));
    const rp_result result = load(job, reader, c);
    rp_reader_close(reader);
    if (result != RP_OK) {
        rp_cargo_free(c);
    }
    return result;
}

rp_result rp_cargo_ids(const rp_job *job, int64_t number, uint64_t **out, int64_t *count)
{
    rp_reader *reader;
    keyed *list;
    RP_TRY(rp_job_open(job, number, &reader));
    const rp_result result = list_rows(job, number, reader, &list, count);
    rp_reader_close(reader);
    RP_TRY(result);
    uint64_t *id = (uint64_t *)list; // in place: a key begins with its id
    for (int64_t i = 0; i < *count; i++) {
        id[i] = list[i].id;
    }
    *out = id;
    return RP_OK;
}
