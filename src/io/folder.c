#include "io/folder.h"

#include "base/number.h"
#include "base/result.h"
#include "repose/file.h"
#include "repose/frame.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

// Everything that a run writes, besides its frames.
static const char *const RUN_FILES[] = {
    "run.json",   "scene.lua",    "scene.resolved.json", "run.log",   "stats.csv",   "forces.csv",
    "bodies.csv", "contacts.csv", "probes.csv",          "state.hdf", "failure.hdf", "cracks.csv",
};
static const char SERIES[] = "frames/frame.hdf.series";
enum { RUN_FILE_COUNT = sizeof RUN_FILES / sizeof RUN_FILES[0] };

const char *rp_folder_path(const rp_folder *folder, const char *name, char out[RP_PATH])
{
    snprintf(out, RP_PATH, "%s/%s", folder->path, name);
    return out;
}

const char *rp_folder_frame(const rp_folder *folder, int64_t frame, char out[RP_PATH])
{
    snprintf(out, RP_PATH, "%s/frames/frame.%06lld.hdf", folder->path, (long long)frame);
    return out;
}

// ---- whose it is ----

static bool is_there(const rp_folder *folder, const char *name)
{
    struct stat about;
    char path[RP_PATH];
    return lstat(rp_folder_path(folder, name, path), &about) == 0;
}

static bool holds_anything(const rp_folder *folder, const char *name)
{
    char path[RP_PATH];
    DIR *entries = opendir(rp_folder_path(folder, name, path));
    bool found = entries == NULL && is_there(folder, name);
    for (struct dirent *e; entries != NULL && (e = readdir(entries)) != NULL;) {
        found = found || (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0);
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return found;
}

// Is there a lock of a run? One that was begun and never filled counts.
static bool has_lock(const rp_folder *folder)
{
    char path[RP_PATH], text[32] = "";
    struct stat about;
    rp_folder_path(folder, "run.lock", path);
    FILE *file = lstat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "re") : NULL;
    if (file == NULL) {
        return false;
    }
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return strspn(text, "0123456789") + (strchr(text, '\n') != NULL) == length;
}

static bool has_record(const rp_folder *folder)
{
    json_t *record = rp_folder_json(folder, "run.json");
    const bool ours = json_object_get(record, "repose") != NULL;
    json_decref(record);
    return ours;
}

// A folder that a run has begun with has its lock; one that came from another machine its record.
// In any other nothing may be overwritten.
static rp_result check_owner(const rp_folder *folder)
{
    if (has_lock(folder) || has_record(folder)) {
        return RP_OK;
    }
    static const char *const folders[] = {"frames", "shapes", "scene.files"};
    const char *foreign = is_there(folder, "run.lock") ? "run.lock" : NULL;
    for (int i = 0; i < 3 && foreign == NULL; i++) {
        foreign = holds_anything(folder, folders[i]) ? folders[i] : NULL;
    }
    char tmp[64];
    for (int i = 0; i < RUN_FILE_COUNT && foreign == NULL; i++) {
        snprintf(tmp, sizeof tmp, "%s.tmp", RUN_FILES[i]);
        foreign = is_there(folder, RUN_FILES[i]) ? RUN_FILES[i]
                  : is_there(folder, tmp)        ? tmp
                                                 : NULL;
    }
    return foreign == NULL ? RP_OK
                           : rp_fail(RP_ERR_ARGUMENT,
                                     "%s holds %s, which is not of a run and would be overwritten: "
                                     "choose another folder",
                                     folder->path, foreign);
}

// ---- the lock ----

// With the folders it is to lie in.
static rp_result make_folder(const char *path)
{
    char parent[RP_PATH];
    snprintf(parent, sizeof parent, "%s", path);
    char *slash = strrchr(parent, '/');
    while (slash != NULL && slash > parent && slash[1] == '\0') { // "out/" is "out"
        *slash = '\0';
        slash = strrchr(parent, '/');
    }
    if (slash != NULL && slash > parent) {
        *slash = '\0';
        if (access(parent, F_OK) != 0) {
            RP_TRY(make_folder(parent));
        }
    }
    if (mkdir(path, 0777) == 0) {
        return RP_OK;
    }
    const int error = errno;
    struct stat about;
    if (error == EEXIST && stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        return RP_OK;
    }
    return rp_file_cannot("make", path, error == EEXIST ? ENOTDIR : error);
}

static rp_result take_lock(rp_folder *folder)
{
    char path[RP_PATH], holder[32] = "";
    rp_folder_path(folder, "run.lock", path);
    folder->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (folder->lock < 0) {
        return rp_file_cannot("write", path, errno);
    }
    if (flock(folder->lock, LOCK_EX | LOCK_NB) != 0 && errno != EWOULDBLOCK) {
        return rp_file_cannot("lock", path, errno);
    }
    if (flock(folder->lock, LOCK_EX | LOCK_NB) != 0) {
        const ssize_t n = read(folder->lock, holder, sizeof holder - 1);
        holder[n > 0 ? strcspn(holder, "\n") : 0] = '\0';
        return rp_fail(RP_ERR_FILE, "%s is in use by another run (process %s)", folder->path,
                       holder[0] != '\0' ? holder : "unknown");
    }
    const int length = snprintf(holder, sizeof holder, "%ld\n", (long)getpid());
    if (ftruncate(folder->lock, 0) != 0 || pwrite(folder->lock, holder, (size_t)length, 0) < 0) {
        return rp_file_cannot("write", path, errno);
    }
    return RP_OK;
}

rp_result rp_folder_open(rp_folder *folder, const char *path)
{
    *folder = (rp_folder){.lock = -1};
    if (path[0] == '\0' || strlen(path) > RP_PATH - 64) {
        return rp_fail(RP_ERR_ARGUMENT, "run.folder: want a path of 1 to %d characters, got %zu",
                       RP_PATH - 64, strlen(path));
    }
    RP_TRY(make_folder(path));
    folder->path = strdup(path);
    if (folder->path == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: a path");
    }
    rp_result result = check_owner(folder);
    result = result == RP_OK ? take_lock(folder) : result;
    if (result != RP_OK) {
        rp_folder_close(folder);
    }
    return result;
}

void rp_folder_close(rp_folder *folder)
{
    if (folder->lock >= 0) {
        close(folder->lock);
    }
    free(folder->path);
    *folder = (rp_folder){.lock = -1};
}

bool rp_folder_is_locked(const rp_folder *folder)
{
    char path[RP_PATH], line[256];
    struct stat file;
    bool found = false;
    long holder = -1;
    rp_folder_path(folder, "run.lock", path);
    FILE *lock = stat(path, &file) == 0 && S_ISREG(file.st_mode) ? fopen(path, "re") : NULL;
    FILE *locks = lock != NULL ? fopen("/proc/locks", "re") : NULL;
    if (lock != NULL) {
        holder = fscanf(lock, "%ld", &holder) == 1 ? holder : -1;
        fclose(lock);
    }
    while (locks != NULL && !found && fgets(line, sizeof line, locks) != NULL) {
        long process;
        unsigned high, low;
        unsigned long inode;
        // layered file systems show another device here than to stat
        found = sscanf(line, "%*d: FLOCK ADVISORY WRITE %ld %x:%x:%lu", &process, &high, &low,
                       &inode) == 4 &&
                inode == file.st_ino &&
                ((high == major(file.st_dev) && low == minor(file.st_dev)) || process == holder);
    }
    if (locks != NULL) {
        fclose(locks);
    }
    return found;
}

// ---- what is in it ----

// The number of a frame's file name; -1 when it is another file.
static int64_t frame_number(const char *name)
{
    long long number;
    int end = 0;
    char again[64];
    if (sscanf(name, "frame.%18lld.hdf%n", &number, &end) != 1 || end == 0 || name[end] != '\0') {
        return -1;
    }
    // only what a run would write
    enum { FRAMES_MOST = 10000000 };
    snprintf(again, sizeof again, "frame.%06lld.hdf", number);
    return strcmp(name, again) == 0 && number <= FRAMES_MOST ? number : -1;
}

typedef void visit_frame(void *context, const char *name, int64_t number);

// None where there is no such folder yet.
static rp_result each_frame(const rp_folder *folder, visit_frame *visit, void *context)
{
    char path[RP_PATH];
    DIR *frames = opendir(rp_folder_path(folder, "frames", path));
    if (frames == NULL && errno != ENOENT) {
        return rp_file_cannot("read", path, errno);
    }
    for (struct dirent *e; frames != NULL && (e = readdir(frames)) != NULL;) {
        const int64_t number = frame_number(e->d_name);
        if (number >= 0) {
            visit(context, e->d_name, number);
        }
    }
    if (frames != NULL) {
        closedir(frames);
    }
    return RP_OK;
}

static void keep_highest(void *context, const char *name, int64_t number)
{
    int64_t *highest = context;
    (void)name;
    *highest = number > *highest ? number : *highest;
}

int64_t rp_folder_last_frame(const rp_folder *folder)
{
    int64_t last = -1;
    return each_frame(folder, keep_highest, &last) == RP_OK ? last : -1;
}

bool rp_folder_has_run(const rp_folder *folder)
{
    char path[RP_PATH];
    // a run begins with run.json: a process killed before that has left nothing of worth
    return rp_folder_last_frame(folder) >= 0 ||
           access(rp_folder_path(folder, "run.json", path), F_OK) == 0 ||
           access(rp_folder_path(folder, "stats.csv", path), F_OK) == 0;
}

typedef struct removal {
    const rp_folder *folder;
    rp_result result;
} removal;

static rp_result remove_file(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT ? RP_OK : rp_file_cannot("remove", path, errno);
}

static void remove_frame(void *context, const char *name, int64_t number)
{
    removal *r = context;
    char path[RP_PATH];
    (void)number;
    snprintf(path, sizeof path, "%s/frames/%.255s", r->folder->path, name);
    r->result = r->result == RP_OK ? remove_file(path) : r->result;
}

// Those that the list names; others in the folder are not the run's.
static void each_shape(const rp_folder *folder, void visit(const char *path, void *context),
                       void *context)
{
    char path[RP_PATH];
    size_t i;
    json_t *list = rp_folder_json(folder, "shapes/shapes.json"), *shape;
    json_array_foreach(list, i, shape)
    {
        const char *file = json_string_value(json_object_get(shape, "file"));
        const char *dot = file != NULL ? strrchr(file, '.') : NULL;
        if (dot != NULL && strcmp(dot, ".ply") == 0 && strchr(file, '/') == NULL &&
            strlen(file) < 256) {
            snprintf(path, sizeof path, "%.3800s/shapes/%s", folder->path, file);
            visit(path, context);
        }
    }
    json_decref(list);
}

static void remove_shape(const char *path, void *context)
{
    removal *r = context;
    r->result = r->result == RP_OK ? remove_file(path) : r->result;
}

static void remove_shapes(removal *r)
{
    char path[RP_PATH];
    each_shape(r->folder, remove_shape, r);
    if (r->result == RP_OK) {
        r->result = remove_file(rp_folder_path(r->folder, "shapes/shapes.json", path));
    }
    rmdir(rp_folder_path(r->folder, "shapes", path)); // where nothing else is in it
}

static bool leads_up(const char *name)
{
    for (const char *at = name; (at = strstr(at, "..")) != NULL; at++) {
        if ((at == name || at[-1] == '/') && (at[2] == '/' || at[2] == '\0')) {
            return true;
        }
    }
    return false;
}

// What run.json says was copied into scene.files, and folders that are empty then.
static void remove_copies(removal *r, const json_t *copies)
{
    static const char within[] = "scene.files/";
    for (size_t i = 0; i < json_array_size(copies); i++) {
        char path[RP_PATH];
        const char *name = json_string_value(json_array_get(copies, i));
        if (name == NULL || strncmp(name, within, sizeof within - 1) != 0 || leads_up(name) ||
            strlen(name) > 3000) {
            continue;
        }
        rp_folder_path(r->folder, name, path);
        r->result = r->result == RP_OK ? remove_file(path) : r->result;
        const size_t first = strlen(r->folder->path) + 1;
        for (char *slash; (slash = strrchr(path + first, '/')) != NULL;) {
            *slash = '\0';
            rmdir(path); // where nothing else is in it
        }
    }
}

static rp_result clear(const rp_folder *folder, const json_t *copies)
{
    char path[RP_PATH];
    // first what makes it a run that can be resumed: half a removal must not look like one. Who
    // keeps the log has begun a new one by now.
    for (int i = 0; i < RUN_FILE_COUNT; i++) {
        if (strcmp(RUN_FILES[i], "run.log") == 0) {
            continue;
        }
        RP_TRY(remove_file(rp_folder_path(folder, RUN_FILES[i], path)));
    }
    removal r = {.folder = folder};
    RP_TRY(each_frame(folder, remove_frame, &r));
    remove_shapes(&r);
    remove_copies(&r, copies);
    return r.result == RP_OK ? remove_file(rp_folder_path(folder, SERIES, path)) : r.result;
}

rp_result rp_folder_clear(const rp_folder *folder)
{
    json_t *record = rp_folder_json(folder, "run.json");
    const rp_result result = clear(folder, json_object_get(record, "copies"));
    json_decref(record);
    return result;
}

rp_result rp_folder_read(const rp_folder *folder, const char *name, char **data, size_t *size)
{
    char path[RP_PATH];
    return rp_file_read_all(rp_folder_path(folder, name, path), SIZE_MAX, data, size);
}

json_t *rp_folder_json(const rp_folder *folder, const char *name)
{
    char *text;
    size_t size;
    if (rp_folder_read(folder, name, &text, &size) != RP_OK) {
        return NULL;
    }
    json_t *json = json_loadb(text, size, 0, NULL);
    free(text);
    return json;
}

// ---- where to go on ----

typedef struct frame_list {
    int64_t *number;
    size_t count, room;
    bool failed;
} frame_list;

static void list_frame(void *context, const char *name, int64_t number)
{
    frame_list *list = context;
    (void)name;
    if (list->count == list->room) {
        list->room = 2 * list->room + 256;
        int64_t *more = realloc(list->number, list->room * sizeof *more);
        list->failed = list->failed || more == NULL;
        list->number = more != NULL ? more : list->number;
    }
    if (!list->failed) {
        list->number[list->count++] = number;
    }
}

static int oldest_first(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

rp_result rp_folder_index(const rp_folder *folder, double fps)
{
    char path[RP_PATH], line[128];
    frame_list list = {0};
    rp_file file;
    RP_TRY(each_frame(folder, list_frame, &list));
    if (list.failed) {
        free(list.number);
        return rp_fail(RP_ERR_MEMORY, "out of memory: a list of frames");
    }
    if (list.count > 0) {
        qsort(list.number, list.count, sizeof *list.number, oldest_first);
    }
    rp_result result = rp_file_replace(&file, rp_folder_path(folder, SERIES, path));
    if (result == RP_OK) {
        static const char head[] = "{\"file-series-version\":\"1.0\",\"files\":[";
        result = rp_file_write(&file, head, sizeof head - 1);
        for (size_t i = 0; i < list.count && result == RP_OK; i++) {
            const double time = (double)list.number[i] / fps;
            const int length =
                snprintf(line, sizeof line, "%s\n{\"name\":\"frame.%06lld.hdf\",\"time\":%.17g}",
                         i > 0 ? "," : "", (long long)list.number[i], time);
            result = rp_file_write(&file, line, (size_t)length);
        }
        result = result == RP_OK ? rp_file_write(&file, "\n]}\n", 4) : result;
        result = rp_file_end(&file, result);
    }
    free(list.number);
    return result;
}

static int newest_first(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

// When a file's state is: steps since the start; -1 when it holds none that is whole, and the frame
// too when the file is damaged.
static rp_result state_step(const char *path, int64_t *frame, int64_t *step)
{
    rp_frame *file;
    rp_frame_info info;
    *frame = *step = -1;
    if (access(path, R_OK) != 0) {
        return rp_file_cannot("read", path, errno);
    }
    const rp_result result = rp_frame_open(path, &file);
    if (result == RP_ERR_FILE) {
        rp_log(RP_LOG_WARNING, "passed over: %s", rp_last_error());
        return RP_OK;
    }
    RP_TRY(result);
    rp_frame_get_info(file, &info);
    rp_frame_close(file);
    *frame = info.frame;
    *step = info.whole ? info.step : -1;
    return RP_OK;
}

bool rp_folder_is_whole(const char *path)
{
    int64_t frame, step;
    return state_step(path, &frame, &step) == RP_OK && step >= 0;
}

// The newest whole one of those after frame `after`.
static rp_result newest_frame(const rp_folder *folder, const frame_list *list, int64_t after,
                              char path[RP_PATH], int64_t *frame, int64_t *step)
{
    *frame = *step = -1;
    for (size_t i = 0; i < list->count && list->number[i] > after && *step < 0; i++) {
        RP_TRY(state_step(rp_folder_frame(folder, list->number[i], path), frame, step));
    }
    return RP_OK;
}

rp_result rp_folder_newest(const rp_folder *folder, char path[RP_PATH], int64_t *frame, bool *found)
{
    char middle[RP_PATH];
    frame_list list = {0};
    int64_t frame_step = -1, middle_step = -1, middle_frame = -1;
    *found = false;
    const bool has_middle = access(rp_folder_path(folder, "state.hdf", middle), F_OK) == 0;
    if (has_middle) {
        RP_TRY(state_step(middle, &middle_frame, &middle_step));
    }
    RP_TRY(each_frame(folder, list_frame, &list));
    if (list.count > 0) {
        qsort(list.number, list.count, sizeof *list.number, newest_first);
    }
    rp_result result = list.failed
                           ? rp_fail(RP_ERR_MEMORY, "out of memory: a list of frames")
                           : newest_frame(folder, &list, middle_step >= 0 ? middle_frame : -1, path,
                                          frame, &frame_step);
    free(list.number);
    RP_TRY(result);
    // a frame of chosen columns comes before the state: a kill between the two leaves the first one
    // alone, and nothing that could be lost
    const bool only_first = list.count == 1 && *frame == 0;
    if (!has_middle && (list.count == 0 || (frame_step < 0 && only_first))) {
        return RP_OK;
    }
    if (frame_step < 0 && middle_step < 0) {
        return rp_fail(RP_ERR_FILE,
                       "%s holds frames, but no whole state to go on from; --overwrite starts anew",
                       folder->path);
    }
    if (middle_step > frame_step) {
        *frame = middle_frame;
        strcpy(path, middle);
    }
    *found = true;
    return RP_OK;
}

static void sweep(const char *path)
{
    char tmp[RP_PATH + 8];
    snprintf(tmp, sizeof tmp, "%s.tmp", path);
    unlink(tmp);
}

static void sweep_shape(const char *path, void *context)
{
    (void)context;
    sweep(path);
}

void rp_folder_sweep(const rp_folder *folder)
{
    char path[RP_PATH];
    for (int i = 0; i < RUN_FILE_COUNT; i++) {
        sweep(rp_folder_path(folder, RUN_FILES[i], path));
    }
    sweep(rp_folder_path(folder, SERIES, path));
    each_shape(folder, sweep_shape, NULL);
    // of frames, those that are named as such
    DIR *frames = opendir(rp_folder_path(folder, "frames", path));
    for (struct dirent *e; frames != NULL && (e = readdir(frames)) != NULL;) {
        const size_t length = strlen(e->d_name);
        if (length > 4 && strcmp(e->d_name + length - 4, ".tmp") == 0) {
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)(length - 4), e->d_name);
            if (frame_number(name) >= 0) {
                snprintf(path, sizeof path, "%.3800s/frames/%s", folder->path, name);
                sweep(path);
            }
        }
    }
    if (frames != NULL) {
        closedir(frames);
    }
}

// ---- tables ----

rp_result rp_table_append(const rp_folder *folder, const char *name, const char *lines)
{
    char path[RP_PATH];
    rp_folder_path(folder, name, path);
    // not O_CREAT: where somebody has deleted it, what was in it would be lost in silence. A pipe
    // would keep us waiting for somebody who reads it.
    const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return rp_file_cannot("write", path, errno);
    }
    const size_t size = strlen(lines);
    const ssize_t wrote = write(file, lines, size);
    const int error = wrote < 0 ? errno : ENOSPC;
    if (wrote != (ssize_t)size) {
        close(file);
        return rp_file_cannot("write", path, error);
    }
    // before the frame that it belongs to: a power cut must not leave the frame without its line
    if (fsync(file) != 0) {
        const int sync_error = errno;
        close(file);
        return rp_file_cannot("write", path, sync_error);
    }
    return close(file) == 0 ? RP_OK : rp_file_cannot("write", path, errno);
}

rp_result rp_table_cut(const rp_folder *folder, const char *name, const char *header, int64_t last)
{
    char path[RP_PATH], old[RP_PATH + 8], *text;
    size_t size;
    rp_folder_path(folder, name, path);
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        rp_log(RP_LOG_WARNING, "%s is missing: its earlier lines are lost", path);
        return rp_file_write_all(path, header, strlen(header));
    }
    RP_TRY(rp_folder_read(folder, name, &text, &size));
    if (size < strlen(header) || memcmp(text, header, strlen(header)) != 0) {
        free(text);
        snprintf(old, sizeof old, "%s.old", path);
        if (rename(path, old) != 0) {
            return rp_file_cannot("rename", path, errno);
        }
        rp_log(RP_LOG_WARNING, "%s has other columns than this version writes: kept as %s", path,
               old);
        return rp_file_write_all(path, header, strlen(header));
    }
    // the header, then whole lines up to the last one
    size_t kept = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char *rest;
        const long long number = strtoll(line, &rest, 10);
        if (line != text && (rest == line || *rest != ',' || number > last)) {
            break;
        }
        kept = (size_t)(end + 1 - text);
    }
    const rp_result result = rp_file_write_all(path, text, kept);
    free(text);
    return result;
}
