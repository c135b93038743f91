#include "view/frames.h"

#include "view/gate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repose/run.h"

json_t *rp_json_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *rp_json_triple(const double x[3])
{
    return json_pack("[o,o,o]", rp_json_number(x[0]), rp_json_number(x[1]), rp_json_number(x[2]));
}

// ---- the cache ----

static void release(rp_sheet *s)
{
    if (s != NULL && --s->users == 0) {
        rp_blob_release(s->codes);
        free(s);
    }
}

static size_t weight(const rp_sheet *s) { return sizeof *s + s->codes->size; }

static void put(rp_frames *f, rp_sheet *s)
{
    s->users++;
    s->next = f->first;
    f->first = s;
    f->used += weight(s);
    // the ones that were not used for longest go; the newest stays however large it is
    while (f->used > f->room && f->first->next != NULL) {
        rp_sheet **last = &f->first;
        while ((*last)->next != NULL) {
            last = &(*last)->next;
        }
        rp_sheet *gone = *last;
        *last = NULL;
        f->used -= weight(gone);
        release(gone);
    }
}

static rp_sheet *find(rp_frames *f, int64_t frame, const struct stat *file, const char *color)
{
    for (rp_sheet **at = &f->first; *at != NULL; at = &(*at)->next) {
        rp_sheet *s = *at;
        if (s->frame == frame && strcmp(s->color, color) == 0 && s->inode == file->st_ino &&
            s->device == file->st_dev && s->written.tv_sec == file->st_mtim.tv_sec &&
            s->written.tv_nsec == file->st_mtim.tv_nsec) {
            *at = s->next;
            s->next = f->first;
            f->first = s;
            return s;
        }
    }
    return NULL;
}

void rp_frames_forget(rp_frames *f)
{
    while (f->first != NULL) {
        rp_sheet *next = f->first->next;
        release(f->first);
        f->first = next;
    }
    f->used = 0;
    for (int i = 0; i < RP_VIEW_CLIENTS; i++) {
        release(f->has[i].places);
        release(f->has[i].colors);
        f->has[i].serial = 0;
        f->has[i].places = f->has[i].colors = NULL;
    }
}

void rp_frames_end(rp_frames *f) { rp_frames_forget(f); }

// ---- from a file to codes ----

// A frame that is opened when the first sheet of it is made.
typedef struct opener {
    char path[4400];
    struct stat file;
    int64_t number;
    rp_reader *reader;
    const rp_frame_info *info;
    int64_t step, count; // one in so many is shown; those that are
} opener;

static rp_result look_for(const rp_frames *f, int64_t number, opener *o)
{
    *o = (opener){.number = number};
    RP_TRY(rp_run_frame_path(f->folder, number, o->path, sizeof o->path));
    if (stat(o->path, &o->file) != 0) {
        return rp_fail(RP_ERR_FILE, "frame %lld is not there", (long long)number);
    }
    if (!rp_gate_inside(f->folder, o->path)) {
        return rp_fail(RP_ERR_FILE, "frame %lld is a link that leads out of the run's folder",
                       (long long)number);
    }
    return RP_OK;
}

static rp_result open_frame(const rp_frames *f, opener *o)
{
    if (o->reader == NULL) {
        RP_TRY(rp_reader_open(o->path, f->record, &o->reader));
        o->info = rp_reader_info(o->reader);
        const int64_t all = o->info->particles;
        o->step = f->most > 0 && all > f->most ? (all + f->most - 1) / f->most : 1;
        o->count = (all + o->step - 1) / o->step;
    }
    return RP_OK;
}

static rp_sheet *make_sheet(const opener *o, const char *color, int comps)
{
    rp_sheet *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->users = 1;
    s->frame = o->number;
    s->device = o->file.st_dev;
    s->inode = o->file.st_ino;
    s->written = o->file.st_mtim;
    s->step = o->step;
    s->count = o->count;
    s->info = *o->info;
    snprintf(s->color, sizeof s->color, "%s", color);
    s->codes = rp_blob_make((size_t)(s->count * comps) * sizeof(uint16_t));
    if (s->codes == NULL) {
        free(s);
        return NULL;
    }
    return s;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// What all but one in a hundred have, from a few thousand of them.
static void usual_range(const double *number, int64_t stride, int64_t count, double *low,
                        double *high)
{
    enum { SAMPLES = 8192 };
    double *sample = malloc(SAMPLES * sizeof *sample);
    int64_t found = 0;
    const int64_t step = count / SAMPLES + 1;
    for (int64_t i = 0; sample != NULL && i < count; i += step) {
        if (isfinite(number[i * stride])) {
            sample[found++] = number[i * stride];
        }
    }
    *low = *high = 0.0;
    if (found > 0) {
        qsort(sample, (size_t)found, sizeof *sample, by_value);
        *low = sample[found / 100];
        *high = sample[found - 1 - found / 100];
    }
    free(sample);
}

// Takes those few out of the places that are more than four times as far away from most others as
// these are from each other: flung off, or fallen past the floor. Where they are many, they are not
// strays.
static void take_strays(rp_sheet *s, double (*place)[3])
{
    double low[3], high[3], wide = s->info.dx;
    for (int k = 0; k < 3; k++) {
        usual_range(place[0] + k, 3, s->count, &low[k], &high[k]);
        wide = fmax(wide, high[k] - low[k]);
    }
    int64_t found = 0;
    for (int64_t i = 0; i < s->count && found <= RP_STRAYS; i++) {
        double away = 0.0;
        for (int k = 0; k < 3; k++) {
            away = fmax(away, fmax(low[k] - place[i][k], place[i][k] - high[k]));
        }
        if (away > 4.0 * wide && isfinite(place[i][0] + place[i][1] + place[i][2])) {
            if (found < RP_STRAYS) {
                s->stray[found] = (rp_stray){i, {place[i][0], place[i][1], place[i][2]}};
            }
            found++;
        }
    }
    s->strays = found <= RP_STRAYS ? (int)found : 0;
    for (int i = 0; i < s->strays; i++) {
        double *gone = place[s->stray[i].row];
        gone[0] = gone[1] = gone[2] = NAN;
    }
}

// Where a particle cannot sensibly be.
static const double FAR = 1e9; // [m]

// @param stride of the numbers, in particles
// @param most what is larger is left out; 0: whole numbers, which are their own codes
static void encode(rp_sheet *s, const double *numbers, int64_t stride, int comps, double most)
{
    uint16_t *code = (uint16_t *)s->codes->data;
    for (int k = 0; k < comps; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < s->count; i++) {
            const double x = numbers[i * stride * comps + k];
            if (fabs(x) <= most) {
                low = x < low ? x : low;
                high = x > high ? x : high;
            }
        }
        s->box[0][k] = low;
        s->box[1][k] = high;
        s->lattice[k] = most > 0.0 ? rp_lattice_for(low, high) : (rp_lattice){0.0, 1.0};
        const rp_lattice lattice = s->lattice[k];
        for (int64_t i = 0; i < s->count; i++) {
            code[i * comps + k] = rp_lattice_code(&lattice, numbers[i * stride * comps + k]);
        }
    }
}

// Of the particles that are shown.
static rp_result read_some_places(const opener *o, double (*place)[3])
{
    rp_batch b = {.want = RP_READ_POSITION};
    rp_result result;
    while ((result = rp_reader_next(o->reader, &b)) == RP_OK && b.count > 0) {
        for (int64_t i = (o->step - b.first % o->step) % o->step; i < b.count; i += o->step) {
            memcpy(*place++, b.position[i], sizeof *place);
        }
    }
    rp_batch_free(&b);
    return result;
}

static rp_result read_places(rp_frames *f, opener *o, rp_sheet **out)
{
    double volume = 0.0;
    RP_TRY(open_frame(f, o));
    RP_TRY(rp_reader_largest(o->reader, &volume));
    rp_sheet *s = make_sheet(o, "", 3);
    double(*place)[3] = malloc(((size_t)o->count + 1) * sizeof *place);
    const rp_result result = s != NULL && place != NULL
                                 ? read_some_places(o, place)
                                 : rp_fail(RP_ERR_MEMORY, "out of memory: a frame to show");
    if (result == RP_OK) {
        take_strays(s, place);
        encode(s, place[0], 1, 3, FAR);
        s->radius = volume > 0.0 ? 0.5 * pow(volume, 1.0 / o->info->dimension) : 0.25 * o->info->dx;
        *out = s;
    } else {
        release(s);
    }
    free(place);
    return result;
}

// ---- colours ----

// Grains and classes are numbered, and the page is told the colour of each number.
static void make_palette(rp_sheet *s, const rp_colors *colors)
{
    char *at = s->palette;
    for (int i = 0; i < 256 && s->colors.kind != RP_COLOR_NUMBERS; i++) {
        unsigned char rgb[3];
        rp_colors_rgb(colors, i, rgb);
        at += sprintf(at, "%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
    }
}

static rp_result read_colors(rp_frames *f, opener *o, const char *name, rp_sheet **out)
{
    rp_colors *colors;
    RP_TRY(open_frame(f, o));
    RP_TRY(rp_colors_open(o->reader, name, &colors));
    rp_sheet *s = make_sheet(o, name, 1);
    double *number = malloc(((size_t)o->info->particles + 1) * sizeof *number);
    const rp_result result = s != NULL && number != NULL
                                 ? rp_colors_read(colors, number)
                                 : rp_fail(RP_ERR_MEMORY, "out of memory: the colours of a frame");
    if (result == RP_OK) {
        rp_colors_get_info(colors, &s->colors);
        make_palette(s, colors);
        if (s->colors.kind == RP_COLOR_NUMBERS) {
            usual_range(number, 1, o->info->particles, &s->low, &s->high);
        }
        encode(s, number, s->step, 1, s->colors.kind == RP_COLOR_NUMBERS ? 1e300 : 0.0);
        *out = s;
    } else {
        release(s);
    }
    free(number);
    rp_colors_close(colors);
    return result;
}

// The places (color "") or colours of a frame, read when nobody has yet. Stays in the cache.
static rp_result sheet_of(rp_frames *f, opener *o, const char *color, rp_sheet **out)
{
    *out = find(f, o->number, &o->file, color);
    if (*out == NULL) {
        RP_TRY(color[0] == '\0' ? read_places(f, o, out) : read_colors(f, o, color, out));
        put(f, *out);
        (*out)->users--; // the cache alone has it
    }
    return RP_OK;
}

// ---- what differs from what a client has ----

static bool same_lattice(const rp_sheet *a, const rp_sheet *b, int comps)
{
    bool same = true;
    for (int k = 0; k < comps; k++) {
        same = same && rp_lattice_same(&a->lattice[k], &b->lattice[k]);
    }
    return same;
}

// Only those blocks of codes that changed. @return NULL: so many that all should be sent
static rp_blob *changes(const rp_sheet *before, const rp_sheet *now, int comps, json_t *list)
{
    if (before == NULL || before->count != now->count || before->step != now->step ||
        !same_lattice(before, now, comps)) {
        return NULL;
    }
    const int64_t blocks = (now->count + RP_BLOCK - 1) / RP_BLOCK;
    const uint16_t *code = (const uint16_t *)now->codes->data;
    uint32_t *changed = malloc(((size_t)blocks + 1) * sizeof *changed);
    rp_blob *out = NULL;
    const int64_t found = changed != NULL ? rp_changed_blocks((const uint16_t *)before->codes->data,
                                                              code, now->count, comps, changed)
                                          : blocks;
    if (found < blocks - blocks / 8) {
        const size_t block = (size_t)(RP_BLOCK * comps) * sizeof *code;
        out = rp_blob_make((size_t)found * block);
        size_t used = 0;
        for (int64_t i = 0; i < found && out != NULL; i++) {
            const size_t at = changed[i] * block;
            const size_t part = now->codes->size - at < block ? now->codes->size - at : block;
            memcpy(out->data + used, now->codes->data + at, part);
            used += part;
            json_array_append_new(list, json_integer(changed[i]));
        }
        if (out != NULL) {
            out->size = used;
        }
    }
    free(changed);
    return out;
}

// Which codes follow: "same" (none), "blocks" (those of the list) or "all".
static rp_blob *choose(const rp_sheet *before, const rp_sheet *now, int comps, json_t *about)
{
    if (before == now) {
        json_object_set_new(about, "codes", json_string("same"));
        return NULL;
    }
    json_t *list = json_array();
    rp_blob *some = changes(before, now, comps, list);
    json_object_set_new(about, "codes", json_string(some != NULL ? "blocks" : "all"));
    if (some != NULL) {
        json_object_set_new(about, "blocks", list);
        return some;
    }
    json_decref(list);
    return rp_blob_share(now->codes);
}

static json_t *describe_lattice(const rp_sheet *s, int comps)
{
    json_t *origin = json_array(), *unit = json_array();
    for (int k = 0; k < comps; k++) {
        json_array_append_new(origin, json_real(s->lattice[k].origin));
        json_array_append_new(unit, json_real(s->lattice[k].unit));
    }
    return json_pack("{s:o, s:o}", "origin", origin, "unit", unit);
}

static json_t *describe_colors(const rp_sheet *s)
{
    static const char *const kind[] = {"grains", "numbers", "classes"};
    json_t *about = describe_lattice(s, 1), *labels = json_array();
    for (int i = 0; i < 8 && s->colors.label[i][0] != '\0'; i++) {
        json_array_append_new(labels, rp_json_text(s->colors.label[i]));
    }
    json_object_set_new(about, "name", rp_json_text(s->color));
    json_object_set_new(about, "unit_name", rp_json_text(s->colors.unit));
    json_object_set_new(about, "kind", json_string(kind[s->colors.kind]));
    json_object_set_new(about, "low", rp_json_number(s->low));
    json_object_set_new(about, "high", rp_json_number(s->high));
    json_object_set_new(about, "labels", labels);
    json_object_set_new(about, "palette", json_string(s->palette));
    return about;
}

// Of colliders that move; the others stay where the scene put them.
static json_t *describe_poses(const rp_frames *f, int64_t frame)
{
    rp_record_info info = {0};
    json_t *poses = json_object();
    if (f->record != NULL) {
        rp_record_get_info(f->record, &info);
    }
    for (int i = 0; i < info.colliders; i++) {
        if (rp_record_collider_at(f->record, i)->moves) {
            const rp_pose p = rp_record_pose(f->record, i, (double)frame);
            char key[16];
            snprintf(key, sizeof key, "%d", i);
            json_object_set_new(poses, key,
                                json_pack("[f,f,f,f,f,f,f]", p.position[0], p.position[1],
                                          p.position[2], p.rotation[0], p.rotation[1],
                                          p.rotation[2], p.rotation[3]));
        }
    }
    return poses;
}

static json_t *describe_strays(const rp_sheet *s)
{
    json_t *list = json_array();
    for (int i = 0; i < s->strays; i++) {
        const double *x = s->stray[i].place;
        json_array_append_new(
            list, json_pack("[I,f,f,f]", (json_int_t)s->stray[i].row, x[0], x[1], x[2]));
    }
    return list;
}

static void remember(rp_sheet **place, rp_sheet *now)
{
    now->users++;
    release(*place);
    *place = now;
}

static rp_result send_sheets(rp_frames *f, int slot, uint64_t serial, opener *o, const char *color,
                             rp_parcel *out)
{
    rp_sheet *places, *colors;
    RP_TRY(sheet_of(f, o, "", &places));
    places->users++; // the cache may not drop it while the colours are read
    const rp_result result = sheet_of(f, o, color, &colors);
    if (result != RP_OK) {
        release(places);
        return result;
    }
    if (f->has[slot].serial != serial) {
        release(f->has[slot].places);
        release(f->has[slot].colors);
        f->has[slot].places = f->has[slot].colors = NULL;
        f->has[slot].serial = serial;
    }
    json_t *where = describe_lattice(places, 3), *how = describe_colors(colors);
    rp_blob *first = choose(f->has[slot].places, places, 3, where);
    // codes of another quantity may be the same by chance and mean something else
    const rp_sheet *before = f->has[slot].colors;
    rp_blob *second =
        choose(before != NULL && strcmp(before->color, color) == 0 ? before : NULL, colors, 1, how);
    json_t *box =
        json_pack("[o,o]", rp_json_triple(places->box[0]), rp_json_triple(places->box[1]));
    json_t *json = json_pack("{s:s, s:o, s:I, s:f, s:I, s:I, s:I, s:f, s:f, s:i, s:o, s:o, s:o}",
                             "type", "frame", "box", box, "frame", (json_int_t)o->number, "time",
                             places->info.time, "particles", (json_int_t)places->info.particles,
                             "count", (json_int_t)places->count, "step", (json_int_t)places->step,
                             "radius", places->radius, "dx", places->info.dx, "block", RP_BLOCK,
                             "places", where, "colors", how, "poses", describe_poses(f, o->number));
    json_object_set_new(json, "generation", json_integer(f->generation));
    json_object_set_new(json, "strays", describe_strays(places));
    *out = rp_parcel_binary(json, first, second);
    rp_blob_release(first);
    rp_blob_release(second);
    const bool made = out->piece[0] != NULL;
    if (made) {
        remember(&f->has[slot].places, places);
        remember(&f->has[slot].colors, colors);
    }
    release(places);
    return made ? RP_OK : rp_fail(RP_ERR_MEMORY, "out of memory: a frame to show");
}

rp_result rp_frames_send(rp_frames *f, int slot, uint64_t serial, int64_t frame, const char *color,
                         rp_parcel *out)
{
    opener o;
    *out = (rp_parcel){0};
    RP_TRY(look_for(f, frame, &o));
    const rp_result result = send_sheets(f, slot, serial, &o, color, out);
    rp_reader_close(o.reader);
    return result;
}

// ---- one particle ----

// How far along a ray a particle is met; INFINITY: it is not.
static double meet(const rp_message *m, double radius, const double place[3])
{
    const bool sliced = m->plane[0] != 0.0 || m->plane[1] != 0.0 || m->plane[2] != 0.0;
    double along = 0.0, square = 0.0, side = -m->plane[3];
    for (int k = 0; k < 3; k++) {
        const double x = place[k] - m->from[k];
        side += m->plane[k] * place[k];
        along += x * m->along[k];
        square += x * x;
    }
    const double reach = fmax(radius, m->spread * along);
    // written so that a place that is not finite is never met
    const bool met = along > 0.0 && square - along * along < reach * reach;
    return met && !(sliced && side > 0.0) ? along : INFINITY;
}

// The first that a ray meets; -1: none.
static int64_t shoot(const rp_sheet *s, const rp_message *m)
{
    const uint16_t *code = (const uint16_t *)s->codes->data;
    const double radius = s->radius * cbrt((double)s->step);
    double nearest = INFINITY;
    int64_t found = -1;
    for (int64_t i = 0; i < s->count + s->strays; i++) {
        const rp_stray *stray = i >= s->count ? &s->stray[i - s->count] : NULL;
        double x[3];
        for (int k = 0; k < 3; k++) {
            x[k] =
                stray != NULL ? stray->place[k] : rp_lattice_value(&s->lattice[k], code[3 * i + k]);
        }
        const double along = meet(m, radius, x);
        if (along < nearest) {
            nearest = along;
            found = stray != NULL ? stray->row : i;
        }
    }
    return found;
}

static rp_result find_id(const opener *o, uint64_t id, int64_t *row)
{
    rp_batch b = {.want = RP_READ_ID};
    rp_result result = RP_OK;
    *row = -1;
    while (*row < 0 && (result = rp_reader_next(o->reader, &b)) == RP_OK && b.count > 0) {
        for (int64_t i = 0; i < b.count && *row < 0; i++) {
            *row = b.id[i] == id ? b.first + i : -1;
        }
    }
    rp_batch_free(&b);
    return result;
}

static rp_result describe_particle(const opener *o, int64_t row, json_t *columns)
{
    for (int c = 0; c < rp_reader_columns(o->reader); c++) {
        rp_frame_column_info column;
        double value[16];
        RP_TRY(rp_reader_column(o->reader, c, &column));
        if (column.comps > 16) {
            continue;
        }
        RP_TRY(rp_reader_read_column(o->reader, column.name, row, 1, value));
        json_t *list = json_array();
        for (int k = 0; k < column.comps; k++) {
            json_array_append_new(list, rp_json_number(value[k]));
        }
        json_array_append_new(columns,
                              json_pack("{s:o, s:o, s:o, s:o}", "name", rp_json_text(column.name),
                                        "unit", rp_json_text(column.unit), "sentence",
                                        rp_json_text(column.sentence), "values", list));
    }
    return RP_OK;
}

// What a particle is coloured by, as exactly as its colour shows it. Those that have none of their
// own, because only one in so many is shown, are left out.
static rp_result describe_color(rp_frames *f, opener *o, const char *color, int64_t row,
                                json_t **out)
{
    rp_sheet *s;
    RP_TRY(sheet_of(f, o, color, &s));
    if (s->colors.kind == RP_COLOR_GRAINS || row % s->step != 0) {
        return RP_OK;
    }
    const uint16_t code = ((const uint16_t *)s->codes->data)[row / s->step];
    const bool has_label = s->colors.kind == RP_COLOR_CLASSES && code < 8;
    *out = json_pack("{s:o, s:o, s:o, s:o}", "name", rp_json_text(s->color), "unit",
                     rp_json_text(s->colors.unit), "value",
                     rp_json_number(rp_lattice_value(&s->lattice[0], code)), "label",
                     rp_json_text(has_label ? s->colors.label[code] : ""));
    return RP_OK;
}

static rp_result particle(rp_frames *f, opener *o, const rp_message *m, json_t *columns,
                          json_t **colored)
{
    int64_t row;
    RP_TRY(open_frame(f, o));
    if (m->want == RP_WANT_PICK) {
        rp_sheet *places;
        RP_TRY(sheet_of(f, o, "", &places));
        row = shoot(places, m);
        row = row >= 0 ? row * places->step : -1;
    } else {
        RP_TRY(find_id(o, m->id, &row));
    }
    if (row < 0) {
        return RP_OK;
    }
    RP_TRY(describe_particle(o, row, columns));
    return describe_color(f, o, m->color, row, colored);
}

rp_result rp_frames_particle(rp_frames *f, const rp_message *message, rp_parcel *out)
{
    opener o;
    *out = (rp_parcel){0};
    RP_TRY(look_for(f, message->frame, &o));
    json_t *columns = json_array(), *colored = NULL;
    const rp_result result = particle(f, &o, message, columns, &colored);
    rp_reader_close(o.reader);
    if (result != RP_OK) {
        json_decref(columns);
        return result;
    }
    *out = rp_parcel_text(json_pack("{s:s, s:I, s:o, s:o}", "type", "particle", "frame",
                                    (json_int_t)message->frame, "columns", columns, "colored",
                                    colored != NULL ? colored : json_null()));
    return RP_OK;
}
