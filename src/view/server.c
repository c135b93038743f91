// The thread that reads files, and the public side.
#include "view/server.h"

#include "repose/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    LOOK_MS = 200, // between two looks at the folder
    VIEW_COOKIE = 0x76696577,
};

// ---- the thread that reads files ----

static void push_reply(rp_view *v, int slot, uint64_t serial, rp_parcel parcel)
{
    rp_view_reply *r = calloc(1, sizeof *r);
    if (r == NULL) {
        rp_parcel_release(&parcel);
        return;
    }
    *r = (rp_view_reply){.slot = slot, .serial = serial, .parcel = parcel};
    pthread_mutex_lock(&v->mutex);
    *v->reply_end = r;
    v->reply_end = &r->next;
    pthread_mutex_unlock(&v->mutex);
    rp_view_wake(v);
}

static rp_parcel trouble(const rp_view_task *t, rp_result result, const char *sentence)
{
    static const char *const what[] = {"frame", "particle", "particle", "view", "order"};
    return rp_parcel_text(json_pack("{s:s, s:s, s:I, s:b, s:o}", "type", "trouble", "what",
                                    what[t->message.want], "frame", (json_int_t)t->message.frame,
                                    "wrong", result == RP_ERR_ARGUMENT, "sentence",
                                    rp_json_text(sentence)));
}

// Lines that are new. @return false: there is no memory, they come the next time
static bool copy_lines(rp_view *v)
{
    const rp_watch *w = &v->watch;
    if (v->news.epoch != w->stats_epoch) {
        v->news.epoch = w->stats_epoch;
        v->news.size = 0;
    }
    if (w->stats_size > v->news.room) {
        char *text = realloc(v->news.stats, 2 * w->stats_size);
        if (text == NULL) {
            return false;
        }
        v->news.stats = text;
        v->news.room = 2 * w->stats_size;
    }
    if (w->stats_size > v->news.size) {
        memcpy(v->news.stats + v->news.size, w->stats + v->news.size, w->stats_size - v->news.size);
        v->news.size = w->stats_size;
    }
    return true;
}

static void publish(rp_view *v, bool quit)
{
    const rp_watch *w = &v->watch;
    pthread_mutex_lock(&v->mutex);
    if (v->news.status_count != w->status_count) {
        rp_parcel_release(&v->news.status);
        v->news.status = rp_parcel_share(&w->status);
        v->news.status_count = w->status_count;
    }
    if (v->news.scene_count != w->scene_count) {
        rp_parcel_release(&v->news.scene);
        v->news.scene = rp_parcel_share(&w->scene);
        v->news.scene_count = w->scene_count;
    }
    copy_lines(v);
    v->quit = quit;
    pthread_mutex_unlock(&v->mutex);
    rp_view_wake(v);
}

static void look(rp_view *v)
{
    rp_view_run run = {0};
    const int64_t generation = v->watch.generation;
    v->def.look(v->def.context, &run);
    const bool changed = rp_watch_look(&v->watch, &run);
    if (v->watch.generation != generation) {
        rp_frames_forget(&v->frames);
        snprintf(v->frames.folder, sizeof v->frames.folder, "%s", v->watch.folder);
        v->frames.generation = v->watch.generation;
    }
    v->frames.record = v->watch.record;
    if (changed || run.quit) {
        publish(v, run.quit);
    }
}

static void work(rp_view *v, const rp_view_task *t)
{
    rp_parcel parcel = {0};
    rp_result result = RP_ERR_ARGUMENT;
    char sentence[1400] = "";
    switch (t->message.want) {
    case RP_WANT_FRAME:
        result = rp_frames_send(&v->frames, t->slot, t->serial, t->message.frame, t->message.color,
                                &parcel);
        break;
    case RP_WANT_PICK:
    case RP_WANT_FOLLOW:
        result = rp_frames_particle(&v->frames, &t->message, &parcel);
        break;
    case RP_WANT_VIEW:
        result = rp_aims_send(&v->aims, &v->frames, t->message.color, &parcel);
        break;
    case RP_WANT_ORDER:
        result = v->def.order != NULL
                     ? v->def.order(v->def.context, &t->message.order)
                     : rp_fail(RP_ERR_UNSUPPORTED, "this run cannot be told anything");
        if (result == RP_OK) {
            parcel = rp_parcel_text(json_pack("{s:s}", "type", "done"));
        }
    }
    snprintf(sentence, sizeof sentence, "%s", result != RP_OK ? rp_last_error() : "");
    if (t->message.want == RP_WANT_ORDER) {
        look(v); // what it did is told at once
    }
    push_reply(v, t->slot, t->serial, result == RP_OK ? parcel : trouble(t, result, sentence));
}

double rp_view_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Waits for a request, or until the next look is due.
static rp_view_task *next_task(rp_view *v, double due)
{
    struct timespec until = {.tv_sec = (time_t)due,
                             .tv_nsec = (long)((due - (double)(time_t)due) * 1e9)};
    pthread_mutex_lock(&v->mutex);
    int late = 0;
    while (v->task_first == NULL && late == 0) {
        late = pthread_cond_timedwait(&v->wake, &v->mutex, &until);
    }
    rp_view_task *t = v->task_first;
    if (t != NULL) {
        v->task_first = t->next;
        v->task_end = t->next == NULL ? &v->task_first : v->task_end;
    }
    pthread_mutex_unlock(&v->mutex);
    return t;
}

static void *read_files(void *context)
{
    rp_view *v = context;
    double due = 0.0;
    rp_thread_begin();
    while (!v->quit) {
        if (rp_view_seconds() >= due) {
            look(v);
            due = rp_view_seconds() + 1e-3 * LOOK_MS;
        }
        rp_view_task *t = next_task(v, due);
        if (t != NULL) {
            work(v, t);
            free(t);
        }
    }
    return NULL;
}

// ---- the public side ----

rp_view_def rp_default_view_def(void)
{
    return (rp_view_def){.address = "127.0.0.1",
                         .cache = (size_t)1 << 30,
                         .particles = 4000000,
                         .cookie = VIEW_COOKIE};
}

rp_result rp_view_token(char out[RP_VIEW_TOKEN + 1])
{
    unsigned char bytes[RP_VIEW_TOKEN / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return rp_fail(RP_ERR_UNSUPPORTED, "no random numbers for a token: %s", strerror(errno));
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    }
    return RP_OK;
}

rp_result rp_view_open(const rp_view_def *def, rp_view **out)
{
    *out = NULL;
    if (def->cookie != VIEW_COOKIE || def->look == NULL || def->address == NULL ||
        strlen(def->address) >= 64) {
        return rp_fail(RP_ERR_ARGUMENT, "view: start from rp_default_view_def() and set look");
    }
    if (def->token == NULL && !rp_gate_is_loopback(def->address)) {
        return rp_fail(RP_ERR_ARGUMENT, "view: others can reach %s: want a token", def->address);
    }
    if (def->token != NULL && strlen(def->token) != RP_VIEW_TOKEN) {
        return rp_fail(RP_ERR_ARGUMENT, "view.token: want %d characters", RP_VIEW_TOKEN);
    }
    rp_view *v = calloc(1, sizeof *v);
    if (v == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: a server");
    }
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&v->mutex, NULL);
    pthread_cond_init(&v->wake, &steady);
    pthread_condattr_destroy(&steady);
    v->def = *def;
    snprintf(v->address, sizeof v->address, "%s", def->address);
    v->task_end = &v->task_first;
    v->reply_end = &v->reply_first;
    v->watch.last = v->watch.record_last = -1;
    v->frames.room = def->cache;
    v->frames.most = def->particles;
    v->gate.loopback = rp_gate_is_loopback(def->address);
    gethostname(v->gate.machine, sizeof v->gate.machine - 1);
    snprintf(v->gate.token, sizeof v->gate.token, "%s", def->token != NULL ? def->token : "");
    rp_result result = rp_view_token(v->gate.pass);
    result = result == RP_OK ? rp_view_listen(v) : result;
    if (result != RP_OK) {
        rp_view_close(v);
        return result;
    }
    *out = v;
    return RP_OK;
}

int rp_view_port(const rp_view *v) { return v->gate.port; }

rp_result rp_view_serve(rp_view *v)
{
    const int error = pthread_create(&v->files, NULL, read_files, v);
    if (error != 0) {
        return rp_fail(RP_ERR_MEMORY, "cannot start a thread: %s", strerror(error));
    }
    for (bool quit = false; !quit;) {
        rp_view_serve_sockets(v);
        pthread_mutex_lock(&v->mutex);
        quit = v->quit;
        pthread_mutex_unlock(&v->mutex);
    }
    pthread_join(v->files, NULL);
    return RP_OK;
}

void rp_view_close(rp_view *v)
{
    if (v == NULL) {
        return;
    }
    rp_view_hang_up_all(v);
    while (v->task_first != NULL) {
        rp_view_task *next = v->task_first->next;
        free(v->task_first);
        v->task_first = next;
    }
    rp_view_drop_replies(v->reply_first);
    rp_parcel_release(&v->news.status);
    rp_parcel_release(&v->news.scene);
    free(v->news.stats);
    rp_frames_end(&v->frames);
    rp_aims_end(&v->aims);
    rp_watch_end(&v->watch);
    pthread_cond_destroy(&v->wake);
    pthread_mutex_destroy(&v->mutex);
    free(v);
}
