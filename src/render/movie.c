#define _GNU_SOURCE
// Movies: a picture per frame in a folder beside the movie, then the ffmpeg program, which gets
// them through a pipe. Pictures that are there already, made with the same settings and newer than
// their frames, are kept, so that a movie that was interrupted goes on where it was.
#include "render/show.h"
#include "repose/file.h"
#include "repose/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { COOKIE = 0x9ec7e5, BIG = 2000000 }; // particles: from here on frames are made one by one

rp_movie_def rp_default_movie_def(void)
{
    return (rp_movie_def){.first = 0, .last = -1, .every = 1, .cookie = COOKIE};
}

typedef struct movie {
    const rp_render *render;
    const rp_movie_def *def;
    char folder[RP_SHOW_PATH];
    int64_t *frame; // numbers of all that the movie shows
    int64_t frames;
    int64_t *missing; // indices of those that must be made
    int64_t missing_count;
    // shared by the threads
    pthread_mutex_t mutex;
    int64_t done;
    rp_result result;
    char sentence[1024];
} movie;

static void picture_path(const movie *m, int64_t index, char out[RP_SHOW_PATH])
{
    snprintf(out, RP_SHOW_PATH, "%.8000s/frame.%06" PRId64 ".png", m->folder, m->frame[index]);
}

// ---- what is there already ----

static void describe(const movie *m, char *out, size_t size)
{
    const rp_render_def *d = &m->render->def;
    const rp_camera *v = &m->render->shot.camera;
    const rp_quantity *q = &m->render->quantity;
    snprintf(
        out, size,
        "repose %s\nrun %s\nsize %d %d\nsamples %d\npreview %d\neye %.17g %.17g %.17g\nlook %.17g "
        "%.17g %.17g\nfov %.17g\nradius %.17g\nshutter %.17g\ncolor %s %.17g %.17g\nlegend %d\n"
        "time %d\nplot %d\nparallel %d\n",
        RP_VERSION, m->render->path, d->width, d->height, m->render->shot.effort.samples,
        d->preview, v->eye[0], v->eye[1], v->eye[2], v->look[0], v->look[1], v->look[2], v->fov,
        d->radius, d->shutter, q->name, q->low, q->high, d->legend, d->stamp, (int)d->plot,
        v->parallel);
}

static bool same_text(const char *path, const char *text)
{
    char have[4096] = "";
    FILE *file;
    if (rp_file_open(path, &file) == RP_OK) {
        have[fread(have, 1, sizeof have - 1, file)] = '\0';
        fclose(file);
    }
    return strcmp(have, text) == 0;
}

// Removes pictures, or only what a kill has left half done.
static void sweep(const char *folder, bool all)
{
    char path[RP_SHOW_PATH + 300];
    DIR *entries = opendir(folder);
    for (struct dirent *e; entries != NULL && (e = readdir(entries)) != NULL;) {
        const char *dot = strrchr(e->d_name, '.');
        if (strncmp(e->d_name, "frame.", 6) == 0 && dot != NULL &&
            (strcmp(dot, ".tmp") == 0 || (all && strcmp(dot, ".png") == 0))) {
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            unlink(path);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

static rp_result open_folder(movie *m, const char *mp4)
{
    char text[4096], path[RP_SHOW_PATH + 16];
    const size_t length = strlen(mp4);
    const bool ending = length > 4 && strcmp(mp4 + length - 4, ".mp4") == 0;
    if (length + 16 > RP_SHOW_PATH) {
        return rp_fail(RP_ERR_ARGUMENT, "the path of a movie is too long: %.60s...", mp4);
    }
    snprintf(m->folder, sizeof m->folder, "%.*s.frames", (int)(ending ? length - 4 : length), mp4);
    if (mkdir(m->folder, 0777) != 0 && errno != EEXIST) {
        return rp_file_cannot("make", m->folder, errno);
    }
    describe(m, text, sizeof text);
    snprintf(path, sizeof path, "%s/settings.txt", m->folder);
    const bool same = same_text(path, text);
    sweep(m->folder, !same);
    return same ? RP_OK : rp_file_write_all(path, text, strlen(text));
}

static bool is_done(const movie *m, int64_t index)
{
    char path[RP_SHOW_PATH], source[RP_SHOW_PATH];
    struct stat picture, frame;
    picture_path(m, index, path);
    return stat(path, &picture) == 0 &&
           rp_record_frame(m->render->record, m->frame[index], source, sizeof source) &&
           stat(source, &frame) == 0 &&
           (picture.st_mtim.tv_sec > frame.st_mtim.tv_sec ||
            (picture.st_mtim.tv_sec == frame.st_mtim.tv_sec &&
             picture.st_mtim.tv_nsec >= frame.st_mtim.tv_nsec));
}

static rp_result list_frames(movie *m)
{
    char path[RP_SHOW_PATH];
    rp_record_info info;
    rp_record_get_info(m->render->record, &info);
    const int64_t last = m->def->last < 0 ? info.last : m->def->last;
    if (last > info.last || m->def->first < 0 || m->def->first > last || m->def->every < 1) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "movie: want frames from 0 to %lld, got %lld to %lld, every %lld",
                       (long long)info.last, (long long)m->def->first, (long long)last,
                       (long long)m->def->every);
    }
    const size_t most = (size_t)((last - m->def->first) / m->def->every + 1);
    m->frame = malloc(most * sizeof *m->frame);
    m->missing = malloc(most * sizeof *m->missing);
    if (m->frame == NULL || m->missing == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the list of frames");
    }
    for (int64_t f = m->def->first; f <= last; f += m->def->every) {
        if (rp_record_frame(m->render->record, f, path, sizeof path)) {
            m->frame[m->frames++] = f;
        }
    }
    return RP_OK;
}

// ---- pictures ----

static void tell(movie *m)
{
    if (m->def->progress != NULL) {
        m->def->progress(m->def->context, m->done, m->frames);
    }
}

static void make_picture(void *context, int64_t number, int thread)
{
    (void)thread;
    movie *m = context;
    char path[RP_SHOW_PATH];
    pthread_mutex_lock(&m->mutex);
    const bool stop = m->result != RP_OK;
    pthread_mutex_unlock(&m->mutex);
    if (stop) {
        return;
    }
    picture_path(m, m->missing[number], path);
    const rp_result result = rp_render_frame(m->render, m->frame[m->missing[number]], path);
    pthread_mutex_lock(&m->mutex);
    if (result == RP_OK) {
        m->done++;
        tell(m);
    } else if (m->result == RP_OK) {
        m->result = result;
        snprintf(m->sentence, sizeof m->sentence, "%s", rp_last_error());
    }
    pthread_mutex_unlock(&m->mutex);
}

// Small frames are made side by side, a thread each: reading and sorting do not wait then. Large
// ones one after the other by all threads, for the sake of memory.
static rp_result make_pictures(movie *m)
{
    char path[RP_SHOW_PATH];
    rp_frame *frame;
    rp_frame_info info = {0};
    for (int64_t i = 0; i < m->frames; i++) {
        if (!is_done(m, i)) {
            m->missing[m->missing_count++] = i;
        }
    }
    m->done = m->frames - m->missing_count;
    tell(m);
    if (m->missing_count > 0 &&
        rp_record_frame(m->render->record, m->frame[m->frames - 1], path, sizeof path)) {
        RP_TRY(rp_frame_open(path, &frame));
        rp_frame_get_info(frame, &info);
        rp_frame_close(frame);
    }
    const int threads = info.particles < BIG ? m->render->shot.effort.threads : 1;
    rp_parallel_for(threads, m->missing_count, 1, make_picture, m);
    return m->result == RP_OK ? RP_OK : rp_fail(m->result, "%s", m->sentence);
}

// ---- ffmpeg ----

// Is there such a program? Looked for before anything is drawn.
static rp_result find_ffmpeg(void)
{
    const char *path = getenv("PATH");
    for (const char *at = path != NULL ? path : "/usr/bin:/bin"; *at != '\0';) {
        const char *end = strchr(at, ':');
        const int length = (int)(end != NULL ? end - at : (long)strlen(at));
        char name[4096];
        snprintf(name, sizeof name, "%.*s/ffmpeg", length, at);
        if (access(name, X_OK) == 0) {
            return RP_OK;
        }
        at += length + (end != NULL);
    }
    return rp_fail(RP_ERR_FILE,
                   "movies are made by the ffmpeg program, and there is none: install ffmpeg "
                   "(Debian: apt install ffmpeg)");
}

static bool ends(const movie *m) { return rp_effort_ends(&m->render->shot.effort); }

static bool send_all(const movie *m, int fd, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t sent = write(fd, data, size);
        if (sent < 0 && errno == EINTR && !ends(m)) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        data += sent;
        size -= (size_t)sent;
    }
    return true;
}

static rp_result send_picture(const movie *m, int fd, const char *path, bool *gone)
{
    char buffer[1 << 16];
    FILE *file;
    RP_TRY(rp_file_open(path, &file));
    for (size_t got; !*gone && (got = fread(buffer, 1, sizeof buffer, file)) > 0;) {
        *gone = ends(m) || !send_all(m, fd, buffer, got);
    }
    fclose(file);
    return RP_OK;
}

// The last line that a program said.
static void last_line(const char *path, char out[256])
{
    char line[256];
    FILE *file = fopen(path, "r");
    strcpy(out, "it did not say why");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0') {
            strcpy(out, line);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

// Without "file:" ffmpeg takes what stands before a colon for a protocol, and a - for an option.
static rp_result start_ffmpeg(const movie *m, const char *part, const char *log, pid_t *child,
                              int *pipe_end)
{
    char fps[32], out[RP_SHOW_PATH + 16];
    int ends[2];
    rp_record_info info;
    rp_record_get_info(m->render->record, &info);
    const double rate = m->def->fps > 0.0 ? m->def->fps : info.fps / (double)m->def->every;
    snprintf(fps, sizeof fps, "%.6f", rate);
    snprintf(out, sizeof out, "file:%s", part);
    // H.264 in 4:2:0 wants an even size; faststart lets a page play it while it loads; without
    // xerror a disk that fills up is no failure
    const char *const words[] = {"ffmpeg",     "-hide_banner",
                                 "-loglevel",  "error",
                                 "-xerror",    "-y",
                                 "-f",         "image2pipe",
                                 "-c:v",       "png",
                                 "-framerate", fps,
                                 "-i",         "-",
                                 "-vf",        "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                 "-c:v",       "libx264",
                                 "-preset",    "slow",
                                 "-crf",       "18",
                                 "-pix_fmt",   "yuv420p",
                                 "-movflags",  "+faststart",
                                 "-f",         "mp4",
                                 out,          NULL};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return rp_fail(RP_ERR_FILE, "cannot start ffmpeg: %s", strerror(errno));
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int error =
        posix_spawnp(child, "ffmpeg", &actions, NULL, (char *const *)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    *pipe_end = ends[1];
    if (error != 0) {
        close(ends[1]);
        return rp_fail(RP_ERR_FILE, "cannot start ffmpeg: %s", strerror(error));
    }
    return RP_OK;
}

// It has got all that it will get; when nobody wants the movie any more it is told so.
static void end_ffmpeg(const movie *m, pid_t child, int *status)
{
    do {
        if (ends(m)) {
            kill(child, SIGTERM);
        }
    } while (waitpid(child, status, 0) < 0 && errno == EINTR);
}

static rp_result encode(const movie *m, const char *mp4)
{
    char log[RP_SHOW_PATH + 16], picture[RP_SHOW_PATH], why[256];
    rp_file file; // ffmpeg writes it
    pid_t child;
    int fd = -1, status = 0;
    bool gone = false;
    RP_TRY(rp_file_replace(&file, mp4));
    snprintf(log, sizeof log, "%s/ffmpeg.log", m->folder);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    rp_result result = start_ffmpeg(m, file.tmp, log, &child, &fd);
    if (result == RP_OK) {
        for (int64_t i = 0; i < m->frames && result == RP_OK && !gone; i++) {
            picture_path(m, i, picture);
            result = send_picture(m, fd, picture, &gone);
        }
        close(fd);
        end_ffmpeg(m, child, &status);
        last_line(log, why);
        if (ends(m)) {
            result = rp_fail(RP_ERR_STOPPED, "stopped before %s was finished", mp4);
        } else if (result == RP_OK && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
            result = rp_fail(RP_ERR_FILE, "ffmpeg failed to make %s: %s", mp4, why);
        }
        unlink(log);
    }
    signal(SIGPIPE, before);
    return rp_file_end(&file, result);
}

rp_result rp_render_movie(const rp_render *render, const rp_movie_def *def, const char *mp4)
{
    if (def->cookie != COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "movie: start from rp_default_movie_def()");
    }
    if (!(def->fps >= 0.0 && def->fps <= 1000.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "movie.fps: want 0 to 1000, got %g", def->fps);
    }
    if (render->record == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "%s is a single frame: a movie wants the folder of a run",
                       render->path);
    }
    movie m = {.render = render, .def = def, .mutex = PTHREAD_MUTEX_INITIALIZER};
    rp_result result = find_ffmpeg();
    result = result == RP_OK ? list_frames(&m) : result;
    result = result == RP_OK ? open_folder(&m, mp4) : result;
    result = result == RP_OK ? make_pictures(&m) : result;
    result = result == RP_OK ? encode(&m, mp4) : result;
    free(m.frame);
    free(m.missing);
    return result;
}
