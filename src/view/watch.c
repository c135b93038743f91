#define _GNU_SOURCE // memrchr
#include "view/watch.h"

#include "view/gate.h"

#include "view/frames.h"

#include "repose/colors.h"
#include "repose/file.h"
#include "repose/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- files ----

static void path_in(const rp_watch *w, const char *name, char out[4400])
{
    snprintf(out, 4400, "%s/%s", w->folder, name);
}

static bool same_mark(const rp_file_mark *a, const rp_file_mark *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->written.tv_sec == b->written.tv_sec && a->written.tv_nsec == b->written.tv_nsec;
}

// Has the file changed since the last look? One that is not there has size -1.
static bool look_at(const rp_watch *w, const char *name, rp_file_mark *mark)
{
    char path[4400];
    struct stat file;
    rp_file_mark seen = {.size = -1};
    path_in(w, name, path);
    if (stat(path, &file) == 0) {
        seen = (rp_file_mark){file.st_dev, file.st_ino, file.st_size, file.st_mtim};
    }
    const bool changed = !same_mark(&seen, mark);
    *mark = seen;
    return changed;
}

// A file that lies in the folder itself, when links are followed: no pipe, nothing from elsewhere.
static bool may_read(const rp_watch *w, const char *path)
{
    struct stat about;
    return rp_gate_inside(w->folder, path) && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

// All that rp_record_open() would read. What is not there does no harm.
static bool may_read_record(const rp_watch *w)
{
    static const char *const files[] = {"run.json", "scene.resolved.json", "forces.csv"};
    char path[4400];
    bool may = true;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        path_in(w, files[i], path);
        may = may && (access(path, F_OK) != 0 || may_read(w, path));
    }
    path_in(w, "shapes", path);
    DIR *shapes = opendir(path);
    for (const struct dirent *entry; shapes != NULL && (entry = readdir(shapes)) != NULL;) {
        char name[300];
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            snprintf(name, sizeof name, "shapes/%s", entry->d_name);
            path_in(w, name, path);
            may = may && may_read(w, path);
        }
    }
    if (shapes != NULL) {
        closedir(shapes);
    }
    return may;
}

// ---- stats.csv ----

static void read_table(rp_watch *w, bool anew)
{
    enum { PART = 1 << 20, MOST = 256 << 20 };
    char path[4400];
    path_in(w, "stats.csv", path);
    const int fd = may_read(w, path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (anew) {
        w->stats_size = 0;
        w->stats_epoch++;
    }
    while (fd >= 0 && w->stats_size < MOST) {
        if (w->stats_room - w->stats_size < PART) {
            const size_t room = 2 * w->stats_room + PART;
            char *text = realloc(w->stats, room);
            if (text == NULL) {
                break;
            }
            w->stats = text;
            w->stats_room = room;
        }
        char *at = w->stats + w->stats_size;
        const ssize_t n = pread(fd, at, PART, (off_t)w->stats_size);
        // a line that is not whole is taken the next time
        const char *end = n > 0 ? memrchr(at, '\n', (size_t)n) : NULL;
        if (end == NULL) {
            break;
        }
        w->stats_size += (size_t)(end + 1 - at);
    }
    if (fd >= 0) {
        close(fd);
    }
}

static bool watch_table(rp_watch *w)
{
    const rp_file_mark before = w->table;
    if (!look_at(w, "stats.csv", &w->table)) {
        return false;
    }
    const bool anew = w->table.inode != before.inode || w->table.device != before.device ||
                      w->table.size < (off_t)w->stats_size;
    const size_t size = w->stats_size;
    read_table(w, anew);
    return anew || w->stats_size != size;
}

// ---- the scene ----

static json_t *load_json(const rp_watch *w, const char *name)
{
    char path[4400];
    path_in(w, name, path);
    json_t *json = may_read(w, path) ? json_load_file(path, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!json_is_object(json)) {
        json_decref(json);
        json = NULL;
    }
    return json;
}

// Of the vertices of one that deforms. What no page could hold stays as it is at first.
static size_t moving_bytes(const rp_record *record, int collider)
{
    enum { MOST = 1 << 26 };
    rp_record_sequence q;
    if (!rp_record_sequence_of(record, collider, &q)) {
        return 0;
    }
    const int64_t each = rp_record_collider_at(record, collider)->surface.vertices;
    return q.count * each < MOST / 12 ? (size_t)(q.count * each) * 12 : 0;
}

// Vertices, normals, triangles of one collider after the other; of one that deforms, then its
// vertices at all times.
static rp_blob *pack_meshes(const rp_record *record, int colliders, json_t *list)
{
    static const char *const look[] = {"solid", "glass", "hidden"};
    enum { MOST = 4000000 };
    size_t size = 0;
    int64_t triangles = 0;
    for (int i = 0; i < colliders; i++) {
        const rp_surface *s = &rp_record_collider_at(record, i)->surface;
        triangles += s->triangles;
        size += (size_t)s->vertices * 24 + (size_t)s->triangles * 12;
        size += moving_bytes(record, i);
    }
    // what no page could draw is left out
    const bool all = triangles <= MOST;
    rp_blob *blob = rp_blob_make(all ? size : 0);
    size_t at = 0;
    for (int i = 0; i < colliders && blob != NULL; i++) {
        const rp_record_collider *c = rp_record_collider_at(record, i);
        const size_t n = all ? (size_t)c->surface.vertices : 0;
        const size_t m = all ? (size_t)c->surface.triangles : 0;
        const rp_pose pose = rp_record_pose(record, i, 0.0);
        json_t *turn = json_pack("[f,f,f,f]", pose.rotation[0], pose.rotation[1], pose.rotation[2],
                                 pose.rotation[3]);
        json_t *said =
            json_pack("{s:o, s:s, s:o, s:b, s:I, s:I, s:o, s:o}", "name", rp_json_text(c->name),
                      "look", look[c->look], "color", rp_json_triple(c->color), "moves", c->moves,
                      "vertices", (json_int_t)n, "triangles", (json_int_t)m, "position",
                      rp_json_triple(pose.position), "rotation", turn);
        rp_record_sequence q;
        const size_t bytes = all ? moving_bytes(record, i) : 0;
        if (bytes > 0 && rp_record_sequence_of(record, i, &q)) {
            json_object_set_new(said, "sequence",
                                json_pack("{s:I, s:f, s:f, s:b}", "count", (json_int_t)q.count,
                                          "fps", q.fps, "start", q.start, "loop", (int)q.loop));
            memcpy(blob->data + at + 24 * n + 12 * m, q.vertex, bytes);
        }
        json_array_append_new(list, said);
        memcpy(blob->data + at, c->surface.vertex, 12 * n);
        memcpy(blob->data + at + 12 * n, c->surface.normal, 12 * n);
        memcpy(blob->data + at + 24 * n, c->surface.triangle, 12 * m);
        at += 24 * n + 12 * m + bytes;
    }
    return blob;
}

static json_t *list_columns(const rp_watch *w)
{
    char path[4400];
    rp_reader *reader;
    json_t *list = json_array();
    if (w->last < 0 || rp_run_frame_path(w->folder, w->last, path, sizeof path) != RP_OK ||
        !may_read(w, path) || rp_reader_open(path, w->record, &reader) != RP_OK) {
        return list;
    }
    for (int i = 0; i < rp_reader_columns(reader); i++) {
        rp_frame_column_info column;
        if (rp_reader_column(reader, i, &column) == RP_OK) {
            json_array_append_new(
                list, json_pack("{s:o, s:o, s:o, s:i}", "name", rp_json_text(column.name), "unit",
                                rp_json_text(column.unit), "sentence",
                                rp_json_text(column.sentence), "comps", column.comps));
        }
    }
    rp_reader_close(reader);
    return list;
}

static json_t *ramp(void)
{
    char text[6 * 256 + 1], *at = text;
    for (int i = 0; i < 256; i++) {
        unsigned char rgb[3];
        rp_color_ramp(i / 255.0, rgb);
        at += sprintf(at, "%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
    }
    return json_string(text);
}

static void make_scene(rp_watch *w)
{
    rp_record_info info;
    rp_record_get_info(w->record, &info);
    json_t *resolved = load_json(w, "scene.resolved.json"), *colliders = json_array();
    json_t *params = json_object_get(resolved, "params"), *materials = json_array();
    for (int i = 0; i < info.materials; i++) {
        json_array_append_new(materials, rp_json_text(rp_record_material(w->record, i)->name));
    }
    rp_blob *meshes = pack_meshes(w->record, info.colliders, colliders);
    json_t *json = json_pack(
        "{s:s, s:I, s:o, s:o, s:i, s:i, s:f, s:o, s:o, s:o, s:o}", "type", "scene", "generation",
        (json_int_t)w->generation, "title", rp_json_text(info.title), "folder",
        rp_json_text(w->folder), "dimension", info.dimension, "up", info.up, "fps", info.fps,
        "colliders", colliders, "materials", materials, "columns", list_columns(w), "ramp", ramp());
    json_object_set(json, "params", params != NULL ? params : json_null());
    json_decref(resolved);
    rp_parcel_release(&w->scene);
    w->scene = rp_parcel_binary(json, meshes, NULL);
    rp_blob_release(meshes);
    w->scene_count++;
}

static bool colliders_move(const rp_record *record)
{
    rp_record_info info = {0};
    bool any = false;
    if (record != NULL) {
        rp_record_get_info(record, &info);
    }
    for (int i = 0; i < info.colliders && !any; i++) {
        any = rp_record_collider_at(record, i)->moves;
    }
    return any;
}

// Meshes and materials once; poses as they come.
static void watch_scene(rp_watch *w)
{
    const bool first = w->record == NULL || w->record_last < 0;
    if (!(first || (w->last > w->record_last && colliders_move(w->record)))) {
        return;
    }
    if (w->record != NULL && w->last == w->record_last) {
        return;
    }
    rp_record *record;
    if (!may_read_record(w) || rp_record_open(w->folder, &record) != RP_OK) {
        return;
    }
    rp_record_close(w->record);
    w->record = record;
    w->record_last = w->last;
    if (first) {
        make_scene(w); // and once more when the first frame has told the columns
    }
}

// ---- how it goes ----

// The same for every server that shows this run, so that a page which comes back to another one
// knows whether all it has is still right.
static int64_t name_run(const rp_watch *w)
{
    uint64_t hash = 0xcbf29ce484222325u;
    const uint64_t about[] = {(uint64_t)w->script.device, (uint64_t)w->script.inode,
                              (uint64_t)w->script.written.tv_sec,
                              (uint64_t)w->script.written.tv_nsec};
    for (const char *c = w->folder; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    }
    for (size_t i = 0; i < sizeof about / sizeof about[0]; i++) {
        hash = (hash ^ about[i] ^ about[i] >> 32) * 0x100000001b3u;
    }
    return (int64_t)(hash >> 11); // what a page's numbers can hold
}

static void forget(rp_watch *w)
{
    rp_record_close(w->record);
    json_decref(w->run);
    w->record = NULL;
    w->run = NULL;
    w->record_last = w->last = -1;
    w->seens = 0;
    w->failure[0] = '\0';
    w->json = (rp_file_mark){.size = -2};
    w->table = (rp_file_mark){.size = -2};
    w->stats_size = 0;
    w->stats_epoch++;
    w->generation = name_run(w);
}

static void note_frame(rp_watch *w)
{
    enum { MOST = sizeof w->seen / sizeof w->seen[0] };
    if (w->seens > 0 && w->last <= w->seen[w->seens - 1].frame) {
        return;
    }
    if (w->seens == MOST) {
        memmove(w->seen, w->seen + 1, (MOST - 1) * sizeof w->seen[0]);
        w->seens--;
    }
    w->seen[w->seens].at = now();
    w->seen[w->seens++].frame = w->last;
}

// Seconds until frame `frames`, as the last few went; negative: not yet known.
static double time_left(const rp_watch *w, int64_t frames)
{
    // one frame says little, and less when it came after a pause
    const int newest = w->seens - 1;
    if (newest < 2 || w->seen[newest].at - w->seen[0].at < 1.0) {
        return -1.0;
    }
    const double each =
        (w->seen[newest].at - w->seen[0].at) / (double)(w->seen[newest].frame - w->seen[0].frame);
    const double left = each * (double)(frames - w->last) - (now() - w->seen[newest].at);
    return left > 0.0 ? left : 0.0;
}

// Why a run failed: what its last state says, else the last line of its log.
static void find_failure(rp_watch *w)
{
    char path[4400], line[sizeof w->failure];
    rp_frame *frame;
    rp_frame_info info;
    path_in(w, "failure.hdf", path);
    w->failure[0] = '\0';
    if (may_read(w, path) && rp_frame_open(path, &frame) == RP_OK) {
        rp_frame_get_info(frame, &info);
        snprintf(w->failure, sizeof w->failure, "%s", info.failure);
        rp_frame_close(frame);
        return;
    }
    path_in(w, "run.log", path);
    FILE *log = NULL;
    if (may_read(w, path)) {
        rp_file_open(path, &log);
    }
    while (log != NULL && fgets(line, sizeof line, log) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *words = strchr(line, ' '); // after the time
        snprintf(w->failure, sizeof w->failure, "%s", words != NULL ? words + 1 : line);
    }
    if (log != NULL) {
        fclose(log);
    }
}

typedef struct outlook {
    const char *state;
    bool can_go_on;
    char sentence[1400];
} outlook;

static outlook judge(rp_watch *w, const rp_view_run *run)
{
    outlook o = {.state = "vanished"};
    const bool there = access(w->folder, F_OK) == 0;
    w->was_there = w->was_there || there;
    const char *status = json_string_value(json_object_get(w->run, "status"));
    const bool active = run->active || rp_run_is_active(w->folder);
    const bool running = status != NULL && strcmp(status, "running") == 0;
    // what the run before has left in the file does not count
    w->ran = w->ran || (running && (!same_mark(&w->json, &w->found) || w->last != w->found_last));
    o.can_go_on = !active && (running || (status != NULL && strcmp(status, "interrupted") == 0));
    if (run->active) {
        // its last word is in the file a moment before it ends
        o.state = run->stopping ? "stopping"
                  : !w->ran     ? "starting"
                  : run->paused ? "paused"
                                : "running";
    } else if (!there && (w->was_there || run->sentence[0] == '\0')) {
        snprintf(o.sentence, sizeof o.sentence, "%.1000s is not there any more: %s", w->folder,
                 strerror(errno));
    } else if (run->sentence[0] != '\0') {
        o.state = "failed";
        snprintf(o.sentence, sizeof o.sentence, "%s", run->sentence);
    } else if (status == NULL) {
        o.state = active ? "starting" : "empty";
        snprintf(o.sentence, sizeof o.sentence, "%.1000s holds no run", w->folder);
    } else if (running) {
        o.state = active ? "running" : "interrupted";
        snprintf(o.sentence, sizeof o.sentence, "%s",
                 active ? "" : "its process has ended without a word; what it wrote is whole");
    } else if (strcmp(status, "failed") == 0) {
        o.state = "failed";
        if (w->failure[0] == '\0') {
            find_failure(w);
        }
        snprintf(o.sentence, sizeof o.sentence, "%s", w->failure);
    } else {
        o.state = strcmp(status, "finished") == 0 ? "finished" : "interrupted";
    }
    return o;
}

static void add_set(json_t *status, const rp_watch *w)
{
    json_t *set = json_object_get(json_object_get(w->run, "about"), "set");
    json_object_set(status, "set", set != NULL ? set : json_null());
}

static void make_status(rp_watch *w, const rp_view_run *run)
{
    const outlook o = judge(w, run);
    const bool going = strcmp(o.state, "running") == 0;
    const json_t *total = json_object_get(w->run, "frames");
    const int64_t frames = json_is_integer(total) ? json_integer_value(total) : w->last;
    if (going) {
        note_frame(w);
    } else {
        w->seens = 0; // a pause says nothing about how fast it goes
    }
    const double left = going ? time_left(w, frames) : -1.0;
    json_t *json = json_pack("{s:s, s:I, s:s, s:o, s:I, s:I, s:o}", "type", "status", "generation",
                             (json_int_t)w->generation, "state", o.state, "sentence",
                             rp_json_text(o.sentence), "last", (json_int_t)w->last, "frames",
                             (json_int_t)frames, "folder", rp_json_text(w->folder));
    json_object_set_new(json, "left",
                        left >= 0.0 ? json_integer((json_int_t)(left + 0.5)) : json_null());
    json_object_set_new(json, "can",
                        json_pack("{s:b, s:b, s:b, s:b}", "pause",
                                  run->ours && run->active && !run->stopping, "stop",
                                  run->ours && run->active && !run->stopping, "go_on", o.can_go_on,
                                  "start", run->can_start));
    json_object_set_new(json, "notice", rp_json_text(run->notice));
    add_set(json, w);
    rp_parcel status = rp_parcel_text(json);
    const rp_blob *a = status.piece[0], *b = w->status.piece[0];
    if (a != NULL && (b == NULL || a->size != b->size || memcmp(a->data, b->data, a->size) != 0)) {
        rp_parcel_release(&w->status);
        w->status = status;
        w->status_count++;
    } else {
        rp_parcel_release(&status);
    }
}

bool rp_watch_look(rp_watch *w, const rp_view_run *run)
{
    const uint64_t before[] = {w->status_count, w->scene_count};
    const bool elsewhere = strcmp(w->folder, run->folder) != 0;
    if (elsewhere) {
        snprintf(w->folder, sizeof w->folder, "%s", run->folder);
        w->was_there = false;
    }
    // the script is written once, when a run begins
    const bool anew = look_at(w, "scene.lua", &w->script) && w->script.size >= 0;
    if (elsewhere || anew) {
        forget(w);
    }
    if (run->starts != w->starts) {
        w->starts = run->starts;
        look_at(w, "run.json", &w->found);
        w->found_last = rp_run_last_frame(w->folder);
        w->ran = false;
        w->seens = 0;
    }
    if (look_at(w, "run.json", &w->json) && w->json.size >= 0) {
        json_t *run_json = load_json(w, "run.json");
        if (run_json != NULL) {
            json_decref(w->run);
            w->run = run_json;
        }
    }
    if (w->json.size < 0) {
        json_decref(w->run);
        w->run = NULL;
    }
    w->last = rp_run_last_frame(w->folder);
    if (w->run != NULL) {
        watch_scene(w);
    }
    const bool lines = watch_table(w);
    make_status(w, run);
    return lines || w->status_count != before[0] || w->scene_count != before[1];
}

void rp_watch_end(rp_watch *w)
{
    forget(w);
    rp_parcel_release(&w->status);
    rp_parcel_release(&w->scene);
    free(w->stats);
}
