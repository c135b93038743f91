// The server behind the page. Two threads: one serves sockets (libwebsockets) and touches no file;
// the other reads files, asks the host about its run, and never waits for a socket.
//
//     page ──message──▶ sockets ──task──▶ files ──parcel──▶ sockets ──▶ page
//
// A page asks for each frame, and has at most a few requests open; until they are answered nothing
// more is read from it. So what is kept for a client that reads slowly, or not at all, is bounded:
// its open requests and one parcel in the middle. The run is another process, which knows nothing
// of all this.
//
// Of libwebsockets only lws_cancel_service() may be called from another thread, and lws_write()
// only when the socket can take something, once.
#include "view/frames.h"
#include "view/gate.h"
#include "view/message.h"
#include "view/watch.h"

#include "repose/view.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libwebsockets.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    OPEN_REQUESTS = 4,      // of one client
    PART_BYTES = 512 << 10, // of a message that are handed to a socket at once
    CONNECTIONS = 256,      // that are open at a time, pages and others
    LOOK_MS = 200,          // between two looks at the folder
    VIEW_COOKIE = 0x76696577,
};

// A request on its way to the thread that reads files.
typedef struct task {
    struct task *next;
    int slot;
    uint64_t serial; // of the client
    rp_message message;
} task;

typedef struct reply {
    struct reply *next;
    int slot;
    uint64_t serial;
    rp_parcel parcel;
} reply;

// A page that is connected; belongs to the thread of the sockets.
typedef struct client {
    struct lws *wsi; // NULL: the slot is free
    uint64_t serial; // never used again
    int open;        // requests
    reply *first, **end;
    rp_parcel sending;
    size_t sent;
    // what it was sent of what all get
    uint64_t status, scene, epoch;
    size_t stats;
    // a message that comes in parts
    char text[RP_MESSAGE_BYTES];
    size_t size;
} client;

struct rp_view {
    rp_view_def def;
    rp_gate gate;
    char address[64];
    struct lws_context *context;
    client client[RP_VIEW_CLIENTS];
    uint64_t serials;
    unsigned char part[LWS_PRE + PART_BYTES];

    pthread_t files;
    pthread_mutex_t mutex; // all below
    pthread_cond_t wake;
    task *task_first, **task_end;
    reply *reply_first, **reply_end;
    struct { // what all clients get, as rp_watch has it
        rp_parcel status, scene;
        uint64_t status_count, scene_count, epoch;
        char *stats;
        size_t size, room;
    } news;
    bool quit;

    // of the thread that reads files
    rp_watch watch;
    rp_frames frames;

    struct { // so that a flood of refusals does not become one of lines
        time_t second;
        int said, left_out;
    } refusals;
};

// ---- saying what was refused ----

static void refuse(rp_view *v, const char *what, const char *why)
{
    enum { PER_SECOND = 5 };
    const time_t second = time(NULL);
    char clean[160];
    if (second != v->refusals.second) {
        if (v->refusals.left_out > 0) {
            rp_log(RP_LOG_WARNING, "view: refused %d more", v->refusals.left_out);
        }
        v->refusals.second = second;
        v->refusals.said = v->refusals.left_out = 0;
    }
    if (v->refusals.said++ >= PER_SECOND) {
        v->refusals.left_out++;
        return;
    }
    // what strangers send does not reach a terminal as it is
    snprintf(clean, sizeof clean, "%s", what);
    for (char *c = clean; *c != '\0'; c++) {
        *c = *c >= 0x20 && *c < 0x7f ? *c : '?';
    }
    rp_log(RP_LOG_WARNING, "view: refused %s: %s", why, clean);
}

// ---- the thread that reads files ----

static void push_reply(rp_view *v, int slot, uint64_t serial, rp_parcel parcel)
{
    reply *r = calloc(1, sizeof *r);
    if (r == NULL) {
        rp_parcel_release(&parcel);
        return;
    }
    *r = (reply){.slot = slot, .serial = serial, .parcel = parcel};
    pthread_mutex_lock(&v->mutex);
    *v->reply_end = r;
    v->reply_end = &r->next;
    pthread_mutex_unlock(&v->mutex);
    lws_cancel_service(v->context);
}

static rp_parcel trouble(const task *t)
{
    static const char *const what[] = {"frame", "particle", "particle", "order"};
    return rp_parcel_text(json_pack("{s:s, s:s, s:I, s:o}", "type", "trouble", "what",
                                    what[t->message.want], "frame", (json_int_t)t->message.frame,
                                    "sentence", rp_json_text(rp_last_error())));
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
    lws_cancel_service(v->context);
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
    }
    v->frames.record = v->watch.record;
    if (changed || run.quit) {
        publish(v, run.quit);
    }
}

static void work(rp_view *v, const task *t)
{
    rp_parcel parcel = {0};
    rp_result result = RP_ERR_ARGUMENT;
    switch (t->message.want) {
    case RP_WANT_FRAME:
        result = rp_frames_send(&v->frames, t->slot, t->serial, t->message.frame, t->message.color,
                                &parcel);
        break;
    case RP_WANT_PICK:
    case RP_WANT_FOLLOW:
        result = rp_frames_particle(&v->frames, &t->message, &parcel);
        break;
    case RP_WANT_ORDER:
        result = v->def.order != NULL
                     ? v->def.order(v->def.context, &t->message.order)
                     : rp_fail(RP_ERR_UNSUPPORTED, "this run cannot be told anything");
        look(v);
        if (result == RP_OK) {
            parcel = rp_parcel_text(json_pack("{s:s}", "type", "done"));
        }
    }
    push_reply(v, t->slot, t->serial, result == RP_OK ? parcel : trouble(t));
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Waits for a request, or until the next look is due.
static task *next_task(rp_view *v, double due)
{
    struct timespec until = {.tv_sec = (time_t)due,
                             .tv_nsec = (long)((due - (double)(time_t)due) * 1e9)};
    pthread_mutex_lock(&v->mutex);
    int late = 0;
    while (v->task_first == NULL && late == 0) {
        late = pthread_cond_timedwait(&v->wake, &v->mutex, &until);
    }
    task *t = v->task_first;
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
    while (!v->quit) {
        if (seconds() >= due) {
            look(v);
            due = seconds() + 1e-3 * LOOK_MS;
        }
        task *t = next_task(v, due);
        if (t != NULL) {
            work(v, t);
            free(t);
        }
    }
    return NULL;
}

// ---- sockets: clients ----

static client *client_of(rp_view *v, const struct lws *wsi)
{
    for (int i = 0; i < RP_VIEW_CLIENTS; i++) {
        if (v->client[i].wsi == wsi) {
            return &v->client[i];
        }
    }
    return NULL;
}

static bool is_full(const rp_view *v)
{
    int used = 0;
    for (int i = 0; i < RP_VIEW_CLIENTS; i++) {
        used += v->client[i].wsi != NULL;
    }
    return used == RP_VIEW_CLIENTS;
}

static int welcome(rp_view *v, struct lws *wsi)
{
    client *c = client_of(v, NULL);
    if (c == NULL) {
        return -1;
    }
    memset(c, 0, sizeof *c);
    c->wsi = wsi;
    c->serial = ++v->serials;
    c->end = &c->first;
    lws_callback_on_writable(wsi);
    return 0;
}

static void drop_replies(reply *r)
{
    while (r != NULL) {
        reply *next = r->next;
        rp_parcel_release(&r->parcel);
        free(r);
        r = next;
    }
}

static void farewell(client *c)
{
    drop_replies(c->first);
    rp_parcel_release(&c->sending);
    c->wsi = NULL;
}

// Answers that have come from the other thread, to those who asked.
static void deliver(rp_view *v)
{
    pthread_mutex_lock(&v->mutex);
    reply *r = v->reply_first;
    v->reply_first = NULL;
    v->reply_end = &v->reply_first;
    pthread_mutex_unlock(&v->mutex);
    while (r != NULL) {
        reply *next = r->next;
        client *c = &v->client[r->slot];
        r->next = NULL;
        if (c->wsi != NULL && c->serial == r->serial) {
            *c->end = r;
            c->end = &r->next;
        } else {
            drop_replies(r);
        }
        r = next;
    }
    for (int i = 0; i < RP_VIEW_CLIENTS; i++) {
        if (v->client[i].wsi != NULL) {
            lws_callback_on_writable(v->client[i].wsi);
        }
    }
}

static int ask(rp_view *v, client *c, const rp_message *message)
{
    task *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return -1;
    }
    *t = (task){.slot = (int)(c - v->client), .serial = c->serial, .message = *message};
    pthread_mutex_lock(&v->mutex);
    *v->task_end = t;
    v->task_end = &t->next;
    pthread_cond_signal(&v->wake);
    pthread_mutex_unlock(&v->mutex);
    if (++c->open == OPEN_REQUESTS) {
        lws_rx_flow_control(c->wsi, 0);
    }
    return 0;
}

static int hang_up(rp_view *v, struct lws *wsi, enum lws_close_status status, const char *why)
{
    char text[100];
    snprintf(text, sizeof text, "%s", why);
    lws_close_reason(wsi, status, (unsigned char *)text, strlen(text));
    refuse(v, why, "a message");
    return -1;
}

static int take(rp_view *v, struct lws *wsi, const char *data, size_t size)
{
    client *c = client_of(v, wsi);
    rp_message message;
    if (c == NULL) {
        return -1;
    }
    if (lws_frame_is_binary(wsi)) {
        return hang_up(v, wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, "binary messages");
    }
    if (size > sizeof c->text - c->size ||
        lws_remaining_packet_payload(wsi) > sizeof c->text - c->size - size) {
        return hang_up(v, wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "it is too long");
    }
    memcpy(c->text + c->size, data, size);
    c->size += size;
    if (lws_remaining_packet_payload(wsi) > 0 || !lws_is_final_fragment(wsi)) {
        return 0;
    }
    const rp_result result = rp_message_parse(c->text, c->size, &message);
    c->size = 0;
    if (result != RP_OK) {
        return hang_up(v, wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION, rp_last_error());
    }
    // one that does not stop when it is told to
    if (c->open >= 16 * OPEN_REQUESTS) {
        return hang_up(v, wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION, "too many requests at once");
    }
    return ask(v, c, &message);
}

// ---- sockets: writing ----

// New lines of stats.csv, some at a time.
static rp_parcel next_lines(const rp_view *v, client *c)
{
    enum { MOST = 64 << 10 };
    c->stats = c->epoch == v->news.epoch ? c->stats : 0;
    const size_t left = v->news.size - c->stats;
    size_t size = left < MOST ? left : MOST;
    while (size < left && size > 0 && v->news.stats[c->stats + size - 1] != '\n') {
        size--;
    }
    json_t *json = json_pack("{s:s, s:b, s:o}", "type", "stats", "anew", c->stats == 0, "text",
                             json_stringn(size > 0 ? v->news.stats + c->stats : "", size));
    c->stats += size;
    c->epoch = v->news.epoch;
    return rp_parcel_text(json);
}

// What to send next; false: nothing.
static bool choose_parcel(rp_view *v, client *c)
{
    bool found = true;
    pthread_mutex_lock(&v->mutex);
    if (c->scene != v->news.scene_count) {
        c->scene = v->news.scene_count;
        c->sending = rp_parcel_share(&v->news.scene);
    } else if (c->status != v->news.status_count) {
        c->status = v->news.status_count;
        c->sending = rp_parcel_share(&v->news.status);
    } else if (c->epoch != v->news.epoch || c->stats < v->news.size) {
        c->sending = next_lines(v, c);
    } else if (c->first != NULL) {
        reply *r = c->first;
        c->first = r->next;
        c->end = c->first == NULL ? &c->first : c->end;
        c->sending = r->parcel;
        free(r);
        if (c->open-- == OPEN_REQUESTS) {
            lws_rx_flow_control(c->wsi, 1);
        }
    } else {
        found = false;
    }
    pthread_mutex_unlock(&v->mutex);
    c->sent = 0;
    return found;
}

static int write_some(rp_view *v, struct lws *wsi)
{
    client *c = client_of(v, wsi);
    if (c == NULL) {
        return -1;
    }
    while (c->sending.piece[0] == NULL) { // one that could not be made is empty
        if (!choose_parcel(v, c)) {
            return 0;
        }
    }
    const size_t all = rp_parcel_size(&c->sending);
    const size_t size = rp_parcel_copy(&c->sending, c->sent, v->part + LWS_PRE, PART_BYTES);
    const bool first = c->sent == 0, last = c->sent + size == all;
    const int flags =
        lws_write_ws_flags(c->sending.binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT, first, last);
    if (lws_write(wsi, v->part + LWS_PRE, size, (enum lws_write_protocol)flags) < (int)size) {
        return -1;
    }
    c->sent += size;
    if (last) {
        rp_parcel_release(&c->sending);
    }
    lws_callback_on_writable(wsi);
    return 0;
}

// ---- sockets: who is let in ----

static bool header(struct lws *wsi, enum lws_token_indexes which, char *out, int size)
{
    out[0] = '\0';
    return lws_hdr_total_length(wsi, which) < size && lws_hdr_copy(wsi, out, size, which) > 0;
}

// Host and token; why not, or NULL. @param by_address the token came with the address
static const char *check_visitor(rp_view *v, struct lws *wsi, char host[300], bool *by_address)
{
    char cookies[1024], argument[RP_VIEW_TOKEN + 32];
    if (!header(wsi, WSI_TOKEN_HOST, host, 300) || !rp_gate_host(&v->gate, host)) {
        return "a foreign host";
    }
    const char *given = lws_get_urlarg_by_name(wsi, "token=", argument, sizeof argument);
    *by_address = v->gate.token[0] != '\0' && rp_gate_token(&v->gate, given);
    header(wsi, WSI_TOKEN_HTTP_COOKIE, cookies, sizeof cookies);
    if (!*by_address && !rp_gate_cookie(&v->gate, cookies)) {
        return "a missing or wrong token";
    }
    return NULL;
}

static int answer(struct lws *wsi, unsigned status, const char *text)
{
    lws_return_http_status(wsi, status, text);
    return -1; // and close: nobody who was refused keeps a connection
}

static int confirm_upgrade(rp_view *v, struct lws *wsi)
{
    char host[300], origin[300], path[64];
    bool by_address;
    const char *why = check_visitor(v, wsi, host, &by_address);
    header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin);
    header(wsi, WSI_TOKEN_GET_URI, path, sizeof path);
    if (why != NULL) {
        refuse(v, host, why);
    } else if (!rp_gate_origin(&v->gate, origin, host)) {
        refuse(v, origin, "a foreign origin");
    } else if (strcmp(path, "/socket") != 0) {
        refuse(v, path, "an unknown path");
    } else if (is_full(v)) {
        refuse(v, "all places are taken", "a page");
        lws_return_http_status(wsi, HTTP_STATUS_SERVICE_UNAVAILABLE, NULL);
        return 1;
    } else {
        return 0;
    }
    lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, NULL);
    return 1;
}

static int add(struct lws *wsi, const char *name, const char *value, unsigned char **at,
               unsigned char *end)
{
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name,
                                       (const unsigned char *)value, (int)strlen(value), at, end);
}

// The page may load its own files, open its own socket, and nothing else.
static int send_headers(rp_view *v, struct lws *wsi, const rp_page_file *file, bool with_cookie)
{
    static const char *const fixed[][2] = {
        {"content-security-policy:",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
         "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"x-content-type-options:", "nosniff"},
        {"x-frame-options:", "DENY"},
        {"referrer-policy:", "no-referrer"},
        {"cross-origin-resource-policy:", "same-origin"},
        {"cross-origin-opener-policy:", "same-origin"},
        {"cache-control:", "no-store"}};
    unsigned char buffer[LWS_PRE + 2048], *start = buffer + LWS_PRE, *at = start,
                                          *end = buffer + sizeof buffer - 1;
    char cookie[128];
    if (lws_add_http_common_headers(wsi, HTTP_STATUS_OK, file->type, file->size, &at, end)) {
        return -1;
    }
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (add(wsi, fixed[i][0], fixed[i][1], &at, end)) {
            return -1;
        }
    }
    rp_gate_make_cookie(&v->gate, cookie);
    if (with_cookie && add(wsi, "set-cookie:", cookie, &at, end)) {
        return -1;
    }
    return lws_finalize_write_http_header(wsi, start, &at, end);
}

static int serve_file(rp_view *v, struct lws *wsi, const rp_page_file **remember)
{
    char host[300], path[256];
    bool by_address = false;
    const char *why = check_visitor(v, wsi, host, &by_address);
    if (why != NULL) {
        refuse(v, host, why);
        return answer(wsi, HTTP_STATUS_FORBIDDEN,
                      "Open the address that repose view has printed, with its token.");
    }
    if (!header(wsi, WSI_TOKEN_GET_URI, path, sizeof path)) {
        refuse(v, host, "a request that is no GET");
        return answer(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, NULL);
    }
    const rp_page_file *file = rp_gate_file(path);
    if (file == NULL) {
        refuse(v, path, "an unknown path");
        return answer(wsi, HTTP_STATUS_NOT_FOUND, NULL);
    }
    *remember = file;
    if (send_headers(v, wsi, file, by_address)) {
        return -1;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

static int write_file(struct lws *wsi, const rp_page_file *file)
{
    unsigned char *copy = file != NULL ? malloc(LWS_PRE + file->size) : NULL;
    if (copy == NULL) {
        return -1;
    }
    memcpy(copy + LWS_PRE, file->data, file->size);
    const int written = lws_write(wsi, copy + LWS_PRE, file->size, LWS_WRITE_HTTP_FINAL);
    free(copy);
    return written < (int)file->size || lws_http_transaction_completed(wsi) ? -1 : 0;
}

// ---- sockets: what libwebsockets calls ----

static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t size)
{
    rp_view *v = lws_context_user(lws_get_context(wsi));
    const rp_page_file **file = user;
    (void)in, (void)size;
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return serve_file(v, wsi, file);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return write_file(wsi, *file);
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return confirm_upgrade(v, wsi);
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        deliver(v);
        return 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        refuse(v, "want repose-view", "another protocol");
        return -1;
    case LWS_CALLBACK_RAW_ADOPT: // CONNECT turns a connection into a raw one
    case LWS_CALLBACK_RAW_CONNECTED:
    case LWS_CALLBACK_RAW_RX:
        refuse(v, "want GET", "a request that is no HTTP");
        return -1;
    default:
        return 0;
    }
}

static int on_view(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t size)
{
    rp_view *v = lws_context_user(lws_get_context(wsi));
    (void)user;
    switch (reason) {
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
        return confirm_upgrade(v, wsi);
    case LWS_CALLBACK_ESTABLISHED:
        return welcome(v, wsi);
    case LWS_CALLBACK_RECEIVE:
        return take(v, wsi, in, size);
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return write_some(v, wsi);
    case LWS_CALLBACK_CLOSED: {
        client *c = client_of(v, wsi);
        if (c != NULL) {
            farewell(c);
        }
        return 0;
    }
    default:
        return 0;
    }
}

static const struct lws_protocols protocols[] = {
    {.name = "http", .callback = on_http, .per_session_data_size = sizeof(rp_page_file *)},
    {.name = "repose-view", .callback = on_view, .rx_buffer_size = 4096},
    {0},
};

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

// Could we listen there? libwebsockets does not tell why not.
static rp_result try_port(const char *address, int port)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const bool is_four = inet_pton(AF_INET, address, &four.sin_addr) == 1;
    const bool is_six = inet_pton(AF_INET6, address, &six.sin6_addr) == 1;
    if (!is_four && !is_six) {
        return rp_fail(RP_ERR_ARGUMENT, "listen: want an IP address of this machine, got '%s'",
                       address);
    }
    const int fd = socket(is_four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    int error = fd < 0 ? errno : 0;
    // a server that ended a moment ago may have left connections behind
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
                    (is_four ? bind(fd, (struct sockaddr *)&four, sizeof four)
                             : bind(fd, (struct sockaddr *)&six, sizeof six)) != 0 ||
                    listen(fd, 1) != 0)) {
        error = errno;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (error == EADDRINUSE) {
        return rp_fail(RP_ERR_FILE, "port %d of %s is in use: choose another (0: any that is free)",
                       port, address);
    }
    return error == 0 ? RP_OK
                      : rp_fail(RP_ERR_FILE, "cannot listen on port %d of %s: %s", port, address,
                                strerror(error));
}

static rp_result start_sockets(rp_view *v)
{
    struct lws_context_creation_info info = {
        .port = v->def.port,
        .iface = v->address,
        .protocols = protocols,
        .user = v,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND | LWS_SERVER_OPTION_VALIDATE_UTF8 |
                   (strchr(v->address, ':') == NULL ? LWS_SERVER_OPTION_DISABLE_IPV6 : 0),
        .fd_limit_per_thread = CONNECTIONS,
        .timeout_secs = 10,
        .timeout_secs_ah_idle = 5,
        .keepalive_timeout = 5,
        // a client that vanished without a word is noticed
        .ka_time = 30,
        .ka_probes = 3,
        .ka_interval = 10,
    };
    lws_set_log_level(0, NULL);
    RP_TRY(try_port(v->address, v->def.port));
    v->context = lws_create_context(&info);
    if (v->context == NULL) {
        return rp_fail(RP_ERR_FILE, "cannot listen on port %d of %s", v->def.port, v->address);
    }
    v->gate.port = lws_get_vhost_port(lws_get_vhost_by_name(v->context, "default"));
    if (v->def.port == 0 || v->gate.port <= 0) {
        v->gate.port = lws_get_vhost_listen_port(lws_get_vhost_by_name(v->context, "default"));
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
    const rp_result result = start_sockets(v);
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
        lws_service(v->context, 0);
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
    if (v->context != NULL) {
        lws_context_destroy(v->context);
    }
    for (int i = 0; i < RP_VIEW_CLIENTS; i++) {
        if (v->client[i].wsi != NULL) {
            farewell(&v->client[i]);
        }
    }
    while (v->task_first != NULL) {
        task *next = v->task_first->next;
        free(v->task_first);
        v->task_first = next;
    }
    drop_replies(v->reply_first);
    rp_parcel_release(&v->news.status);
    rp_parcel_release(&v->news.scene);
    free(v->news.stats);
    rp_frames_end(&v->frames);
    rp_watch_end(&v->watch);
    pthread_cond_destroy(&v->wake);
    pthread_mutex_destroy(&v->mutex);
    free(v);
}
