// The thread of the sockets: who is let in, what is read from pages and written to them.
#include "view/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS = 256,  // that are open at a time, pages and others
    HEADERS = 16 << 10, // bytes of one request's headers
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

// ---- clients ----

static rp_view_client *client_of(rp_view *v, const struct lws *wsi)
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
    rp_view_client *c = client_of(v, NULL);
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

void rp_view_drop_replies(rp_view_reply *r)
{
    while (r != NULL) {
        rp_view_reply *next = r->next;
        rp_parcel_release(&r->parcel);
        free(r);
        r = next;
    }
}

void rp_view_farewell(rp_view_client *c)
{
    rp_view_drop_replies(c->first);
    rp_parcel_release(&c->sending);
    c->wsi = NULL;
}

// What a page that is gone still wanted to see is not looked up; what it ordered is done.
static void forget_tasks(rp_view *v, uint64_t serial)
{
    pthread_mutex_lock(&v->mutex);
    v->task_end = &v->task_first;
    for (rp_view_task *t = v->task_first, *next; t != NULL; t = next) {
        next = t->next;
        if (t->serial == serial && t->message.want != RP_WANT_ORDER) {
            free(t);
        } else {
            *v->task_end = t;
            v->task_end = &t->next;
        }
    }
    *v->task_end = NULL;
    pthread_mutex_unlock(&v->mutex);
}

// Answers that have come from the other thread, to those who asked.
static void deliver(rp_view *v)
{
    pthread_mutex_lock(&v->mutex);
    rp_view_reply *r = v->reply_first;
    v->reply_first = NULL;
    v->reply_end = &v->reply_first;
    pthread_mutex_unlock(&v->mutex);
    while (r != NULL) {
        rp_view_reply *next = r->next;
        rp_view_client *c = &v->client[r->slot];
        r->next = NULL;
        if (c->wsi != NULL && c->serial == r->serial) {
            *c->end = r;
            c->end = &r->next;
        } else {
            rp_view_drop_replies(r);
        }
        r = next;
    }
    for (int i = 0; i < RP_VIEW_CLIENTS; i++) {
        if (v->client[i].wsi != NULL) {
            lws_callback_on_writable(v->client[i].wsi);
        }
    }
}

static int ask(rp_view *v, rp_view_client *c, const rp_message *message)
{
    rp_view_task *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return -1;
    }
    *t = (rp_view_task){.slot = (int)(c - v->client), .serial = c->serial, .message = *message};
    pthread_mutex_lock(&v->mutex);
    *v->task_end = t;
    v->task_end = &t->next;
    pthread_cond_signal(&v->wake);
    pthread_mutex_unlock(&v->mutex);
    if (++c->open == RP_VIEW_OPEN) {
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
    rp_view_client *c = client_of(v, wsi);
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
    if (c->open >= 16 * RP_VIEW_OPEN) {
        return hang_up(v, wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION, "too many requests at once");
    }
    return ask(v, c, &message);
}

// ---- writing ----

// New lines of stats.csv, some at a time.
static rp_parcel next_lines(const rp_view *v, rp_view_client *c)
{
    enum { MOST = 64 << 10 };
    c->stats = c->epoch == v->news.epoch ? c->stats : 0;
    const size_t left = v->news.size - c->stats;
    size_t size = left < MOST ? left : MOST;
    while (size < left && size > 0 && v->news.stats[c->stats + size - 1] != '\n') {
        size--;
    }
    size = size > 0 ? size : left < MOST ? left : MOST; // a line longer than all that
    json_t *json = json_pack("{s:s, s:b, s:o}", "type", "stats", "anew", c->stats == 0, "text",
                             json_stringn(size > 0 ? v->news.stats + c->stats : "", size));
    c->stats += size;
    c->epoch = v->news.epoch;
    return rp_parcel_text(json);
}

// What to send next; false: nothing.
static bool choose_parcel(rp_view *v, rp_view_client *c)
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
        rp_view_reply *r = c->first;
        c->first = r->next;
        c->end = c->first == NULL ? &c->first : c->end;
        c->sending = r->parcel;
        free(r);
        if (c->open-- == RP_VIEW_OPEN) {
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
    rp_view_client *c = client_of(v, wsi);
    if (c == NULL) {
        return -1;
    }
    while (c->sending.piece[0] == NULL) { // one that could not be made is empty
        if (!choose_parcel(v, c)) {
            return 0;
        }
    }
    const size_t all = rp_parcel_size(&c->sending);
    const size_t size = rp_parcel_copy(&c->sending, c->sent, v->part + LWS_PRE, RP_VIEW_PART);
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

// ---- who is let in ----

static bool header(struct lws *wsi, enum lws_token_indexes which, char *out, int size)
{
    out[0] = '\0';
    return lws_hdr_total_length(wsi, which) < size && lws_hdr_copy(wsi, out, size, which) > 0;
}

// Host and token; why not, or NULL. @param by_address the token came with the address, as that for
// the socket has to
static const char *check_visitor(rp_view *v, struct lws *wsi, char host[300], bool *by_address)
{
    // those of all servers that this machine ever had: cookies do not know ports
    char cookies[HEADERS], argument[RP_VIEW_TOKEN + 32];
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
    } else if (v->gate.token[0] != '\0' && !by_address) {
        refuse(v, host, "a missing or wrong token");
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
    if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0) {
        refuse(v, host, "a request that is no GET");
        return answer(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, NULL);
    }
    if (!header(wsi, WSI_TOKEN_GET_URI, path, sizeof path)) {
        refuse(v, host, "a path that is too long");
        return answer(wsi, HTTP_STATUS_REQ_URI_TOO_LONG, NULL);
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

// ---- what libwebsockets calls ----

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
        rp_view_client *c = client_of(v, wsi);
        if (c != NULL) {
            forget_tasks(v, c->serial);
            rp_view_farewell(c);
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

// ---- the port ----

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

rp_result rp_view_listen(rp_view *v)
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
        .max_http_header_data2 = HEADERS,
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
