#define _GNU_SOURCE // accept4
// The thread of the sockets: who is let in, what is read from pages and written to them.
//
//     asks ──a page's file──▶ answered ──▶ leaves        (closed within seconds, whatever comes)
//       └────/socket────────▶ talks ──────▶ leaves
//
// No call here waits but poll(). What is read from a page is bounded by its buffer, since reading
// stops while its requests are open; who asks, takes an answer or leaves slowly makes room for
// others.
#include "view/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS = 256, // that are open at a time, pages and others
    AT_ONCE = 2 << 20, // bytes for one page, then others have a turn
    OUT = 2048,        // bytes of an answer without its file, or of control frames
};

// [s]
static const double to_ask = 5.0, to_answer = 30.0, to_leave = 2.0;

typedef enum state {
    FREE,
    ASKS,     // the head of a request comes
    ANSWERED, // it gets a file, or hears why not
    TALKS,    // a WebSocket
    REFUSED,  // it was one: the message on its way ends, and then a frame says why
    LEAVES,   // all is written; what still comes is thrown away, or the answer could be lost
} state;

typedef struct visitor {
    state state;
    int fd;
    double since; // it is here
    double until; // when patience ends; 0: never
    bool blocked; // the socket has no room for what is to be written
    unsigned char in[RP_HTTP_HEAD];
    size_t have;
    unsigned char out[OUT];
    size_t size, sent;
    const rp_page_file *file;
    size_t file_sent;
    rp_view_client *client; // of one that talks
} visitor;

struct rp_view_sockets {
    int listening, wake;
    double accept_after; // there were no descriptors left
    visitor visitor[CONNECTIONS];
};

// ---- saying what was refused ----

// What strangers send reaches neither a terminal nor them as it is.
static void write_plain(const char *text, size_t room, char *out)
{
    snprintf(out, room, "%s", text);
    for (char *c = out; *c != '\0'; c++) {
        *c = *c >= 0x20 && *c < 0x7f ? *c : '?';
    }
}

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
    write_plain(what, sizeof clean, clean);
    rp_log(RP_LOG_WARNING, "view: refused %s: %s", why, clean);
}

// ---- clients ----

static rp_view_client *new_client(rp_view *v)
{
    for (int i = 0; i < RP_VIEW_CLIENTS; i++) {
        rp_view_client *c = &v->client[i];
        if (!c->here) {
            memset(c, 0, sizeof *c);
            *c = (rp_view_client){.here = true, .serial = ++v->serials};
            c->end = &c->first;
            c->read.room = sizeof c->text;
            return c;
        }
    }
    return NULL;
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

static void farewell(rp_view *v, rp_view_client *c)
{
    forget_tasks(v, c->serial);
    rp_view_drop_replies(c->first);
    rp_parcel_release(&c->sending);
    c->here = false;
}

static void drop(rp_view *v, visitor *s)
{
    if (s->client != NULL) {
        farewell(v, s->client);
    }
    close(s->fd);
    s->client = NULL;
    s->state = FREE;
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
        if (c->here && c->serial == r->serial) {
            *c->end = r;
            c->end = &r->next;
        } else {
            rp_view_drop_replies(r);
        }
        r = next;
    }
}

// @return false: no memory
static bool ask(rp_view *v, rp_view_client *c, const rp_message *message)
{
    rp_view_task *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return false;
    }
    *t = (rp_view_task){.slot = (int)(c - v->client), .serial = c->serial, .message = *message};
    pthread_mutex_lock(&v->mutex);
    *v->task_end = t;
    v->task_end = &t->next;
    pthread_cond_signal(&v->wake);
    pthread_mutex_unlock(&v->mutex);
    c->open++;
    return true;
}

// ---- who is let in ----

static void set_state(visitor *s, state to, double patience)
{
    s->state = to;
    s->until = patience > 0.0 ? rp_view_seconds() + patience : 0.0;
}

// Answers are far shorter than the room for them, and so are frames where may_talk() has looked.
static void say_bytes(visitor *s, const void *bytes, size_t size)
{
    const size_t left = sizeof s->out - s->size;
    size = size < left ? size : left;
    memcpy(s->out + s->size, bytes, size);
    s->size += size;
}

static void say(visitor *s, const char *text) { say_bytes(s, text, strlen(text)); }

static void answer(visitor *s, const char *status, const char *text)
{
    char head[256];
    snprintf(head, sizeof head,
             "HTTP/1.1 %s\r\ncontent-type: text/plain\r\ncontent-length: %zu\r\n"
             "connection: close\r\n\r\n",
             status, strlen(text));
    say(s, head);
    say(s, text);
    set_state(s, ANSWERED, to_answer);
}

// Host and token; why not, or NULL. @param by_address the token came with the address, as that for
// the socket has to
static const char *check_visitor(const rp_view *v, const rp_http *asked, bool *by_address)
{
    *by_address = v->gate.token[0] != '\0' && rp_gate_token(&v->gate, asked->token);
    if (!rp_gate_host(&v->gate, asked->host)) {
        return "a foreign host";
    }
    return *by_address || rp_gate_cookie(&v->gate, asked->cookie) ? NULL
                                                                  : "a missing or wrong token";
}

static void open_socket(rp_view *v, visitor *s, const rp_http *asked, bool by_address)
{
    char accept[RP_WIRE_ACCEPT + 1];
    if (v->gate.token[0] != '\0' && !by_address) {
        refuse(v, asked->host, "a missing or wrong token");
        answer(s, "403 Forbidden", "");
    } else if (!rp_gate_origin(&v->gate, asked->origin, asked->host)) {
        refuse(v, asked->origin, "a foreign origin");
        answer(s, "403 Forbidden", "");
    } else if (strcmp(asked->version, "13") != 0 || !rp_wire_accept(asked->key, accept)) {
        refuse(v, asked->host, "a WebSocket that is none");
        answer(s, "400 Bad Request", "");
    } else if (!rp_http_list_has(asked->protocols, "repose-view")) {
        refuse(v, "want repose-view", "another protocol");
        answer(s, "400 Bad Request", "");
    } else if ((s->client = new_client(v)) == NULL) {
        refuse(v, "all places are taken", "a page");
        answer(s, "503 Service Unavailable", "");
    } else {
        say(s, "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
               "sec-websocket-protocol: repose-view\r\nsec-websocket-accept: ");
        say(s, accept);
        say(s, "\r\n\r\n");
        set_state(s, TALKS, 0.0);
    }
}

// The page may load its own files, open its own socket, and nothing else.
static void send_file(const rp_view *v, visitor *s, const rp_page_file *file, bool with_cookie)
{
    char head[512], cookie[128];
    snprintf(head, sizeof head,
             "HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %zu\r\nconnection: close\r\n",
             file->type, file->size);
    say(s, head);
    say(s, "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; "
           "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
           "frame-ancestors 'none'\r\n"
           "x-content-type-options: nosniff\r\n"
           "x-frame-options: DENY\r\n"
           "referrer-policy: no-referrer\r\n"
           "cross-origin-resource-policy: same-origin\r\n"
           "cross-origin-opener-policy: same-origin\r\n"
           "cache-control: no-store\r\n");
    if (with_cookie) {
        rp_gate_make_cookie(&v->gate, cookie);
        say(s, "set-cookie: ");
        say(s, cookie);
        say(s, "\r\n");
    }
    say(s, "\r\n");
    s->file = file;
    set_state(s, ANSWERED, to_answer);
}

// Of somebody whose request is whole.
static void hear(rp_view *v, visitor *s, char *head, size_t size)
{
    rp_http asked;
    bool by_address;
    if (!rp_http_parse(head, size, &asked)) {
        refuse(v, "want GET", "a request that is no HTTP");
        answer(s, "400 Bad Request", "");
        return;
    }
    const char *why = check_visitor(v, &asked, &by_address);
    if (why != NULL) {
        refuse(v, asked.host, why);
        answer(s, "403 Forbidden",
               "Open the address that repose view has printed, with its token.\n");
        return;
    }
    if (strcmp(asked.method, "GET") != 0) {
        refuse(v, asked.host, "a request that is no GET");
        answer(s, "405 Method Not Allowed", "");
        return;
    }
    if (strcmp(asked.path, "/socket") == 0 && asked.upgrade) {
        open_socket(v, s, &asked, by_address);
        return;
    }
    const rp_page_file *file = rp_gate_file(asked.path);
    if (file == NULL) {
        refuse(v, asked.path, "an unknown path");
        answer(s, "404 Not Found", "");
        return;
    }
    send_file(v, s, file, by_address);
}

// What has come of a request so far.
static void listen_to(rp_view *v, visitor *s)
{
    char head[RP_HTTP_HEAD];
    const size_t size = rp_http_head_size((const char *)s->in, s->have);
    if (size > 0) {
        memcpy(head, s->in, size);
        s->have -= size; // a page may talk at once
        memmove(s->in, s->in + size, s->have);
        hear(v, s, head, size);
    } else if (s->have > 0 && (s->in[0] < 'A' || s->in[0] > 'Z')) {
        refuse(v, "want GET", "a request that is no HTTP");
        drop(v, s);
    } else if (s->have == sizeof s->in) {
        refuse(v, "too long", "a request");
        answer(s, "431 Request Header Fields Too Large", "");
    }
}

// ---- reading ----

static void hang_up(visitor *s, int why, const char *words)
{
    unsigned char frame[RP_WIRE_HEAD + RP_WIRE_CONTROL];
    char plain[RP_WIRE_CONTROL];
    write_plain(words, sizeof plain, plain);
    say_bytes(s, frame, (size_t)rp_wire_close(why, plain, frame));
    set_state(s, REFUSED, to_leave);
}

static void refuse_message(rp_view *v, visitor *s, int why, const char *words)
{
    hang_up(s, why, words);
    refuse(v, words, "a message");
}

// A control frame is whole.
static void control(visitor *s, int kind, const unsigned char *data, size_t size)
{
    if (kind == RP_WIRE_PING) {
        unsigned char head[RP_WIRE_HEAD];
        say_bytes(s, head, (size_t)rp_wire_head(RP_WIRE_PONG, size, head));
        say_bytes(s, data, size);
    } else if (kind == RP_WIRE_CLOSE) {
        hang_up(s, size == 1 ? RP_WIRE_WRONG : RP_WIRE_NORMAL, "");
    }
}

static void take(rp_view *v, visitor *s, const rp_wire_part *part)
{
    rp_view_client *c = s->client;
    if (part->kind >= RP_WIRE_CLOSE) {
        memcpy(c->control + part->at, part->data, part->size);
        if (part->whole) {
            control(s, part->kind, c->control, part->at + part->size);
        }
    } else if (part->kind != 0) {
        rp_message message;
        memcpy(c->text + part->at, part->data, part->size);
        if (!part->whole) {
            return;
        }
        if (rp_message_parse(c->text, part->at + part->size, &message) != RP_OK) {
            refuse_message(v, s, RP_WIRE_REFUSED, rp_last_error());
        } else if (!ask(v, c, &message)) {
            drop(v, s);
        }
    }
}

// Is there room for what a page may ask, and for what it is answered at once?
static bool may_talk(const visitor *s)
{
    return s->state == TALKS && s->client->open < RP_VIEW_OPEN &&
           sizeof s->out - s->size >= 2 * (RP_WIRE_HEAD + RP_WIRE_CONTROL);
}

static void talk(rp_view *v, visitor *s)
{
    size_t done = 0;
    while (done < s->have && may_talk(s)) {
        rp_wire_part part;
        size_t used = 0;
        const int wrong =
            rp_wire_take(&s->client->read, s->in + done, s->have - done, &used, &part);
        done += used;
        if (wrong != 0) {
            refuse_message(v, s, wrong,
                           wrong == RP_WIRE_LONG   ? "it is too long"
                           : wrong == RP_WIRE_KIND ? "binary messages"
                                                   : "no frame that a browser sends");
        } else {
            take(v, s, &part);
        }
    }
    if (s->state == TALKS) {
        s->have -= done;
        memmove(s->in, s->in + done, s->have);
    }
}

// Does anything that it sends get read now?
static bool may_read(const visitor *s)
{
    return s->state == ASKS || s->state == LEAVES ||
           (s->state == TALKS && s->have < sizeof s->in && may_talk(s));
}

static void read_some(rp_view *v, visitor *s)
{
    if (s->state == LEAVES) {
        s->have = 0;
    }
    const ssize_t size = recv(s->fd, s->in + s->have, sizeof s->in - s->have, 0);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
        drop(v, s);
        return;
    }
    s->have += size > 0 ? (size_t)size : 0;
    if (s->state == ASKS) {
        listen_to(v, s);
    }
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
        c->open--;
    } else {
        found = false;
    }
    pthread_mutex_unlock(&v->mutex);
    return found;
}

// A message to be written; false: none. One that could not be made is empty, and left out
static bool next_message(rp_view *v, rp_view_client *c)
{
    while (c->sending.piece[0] == NULL) {
        if (!choose_parcel(v, c)) {
            return false;
        }
        const size_t size = rp_parcel_size(&c->sending);
        c->head_size =
            (size_t)rp_wire_head(c->sending.binary ? RP_WIRE_BINARY : RP_WIRE_TEXT, size, c->head);
        c->left = c->head_size + size;
        c->sent = 0;
    }
    return true;
}

typedef enum written { ALL, FULL, LOST } written;

// Hands pieces to the socket. @return false: lost; `*done` bytes were taken
static bool hand(visitor *s, const struct iovec *piece, int pieces, size_t *done)
{
    const struct msghdr message = {.msg_iov = (struct iovec *)piece, .msg_iovlen = (size_t)pieces};
    const ssize_t size = sendmsg(s->fd, &message, MSG_NOSIGNAL);
    *done = size > 0 ? (size_t)size : 0;
    return size >= 0 || errno == EAGAIN || errno == EINTR;
}

static bool hand_message(visitor *s, rp_view_client *c, size_t *done)
{
    struct iovec piece[1 + RP_PARCEL_PIECES];
    int pieces = 0;
    if (c->sent < c->head_size) {
        piece[pieces++] = (struct iovec){c->head + c->sent, c->head_size - c->sent};
    }
    const size_t at = c->sent > c->head_size ? c->sent - c->head_size : 0;
    pieces += rp_parcel_rest(&c->sending, at, piece + pieces);
    if (!hand(s, piece, pieces, done)) {
        return false;
    }
    c->sent += *done;
    c->left -= *done;
    if (c->left == 0) {
        rp_parcel_release(&c->sending);
    }
    return true;
}

static written write_some(rp_view *v, visitor *s)
{
    for (size_t total = 0; total < AT_ONCE;) {
        rp_view_client *c = s->client;
        size_t done = 0;
        // a message that has begun is not parted by what the connection itself has to say
        if (c != NULL && c->sending.piece[0] != NULL && c->sent > 0) {
            if (!hand_message(s, c, &done)) {
                return LOST;
            }
        } else if (s->sent < s->size) {
            const struct iovec piece = {s->out + s->sent, s->size - s->sent};
            if (!hand(s, &piece, 1, &done)) {
                return LOST;
            }
            s->sent += done;
            if (s->sent == s->size) {
                s->sent = s->size = 0;
            }
        } else if (s->file != NULL && s->file_sent < s->file->size) {
            const struct iovec piece = {(void *)(s->file->data + s->file_sent),
                                        s->file->size - s->file_sent};
            if (!hand(s, &piece, 1, &done)) {
                return LOST;
            }
            s->file_sent += done;
        } else if (s->state == TALKS && next_message(v, c)) {
            if (!hand_message(s, c, &done)) {
                return LOST;
            }
        } else {
            return ALL;
        }
        if (done == 0) {
            return FULL;
        }
        total += done;
    }
    return FULL;
}

// What it has sent is answered, and what there is for it is written, as far as that goes.
static void serve(rp_view *v, visitor *s)
{
    written how;
    do { // an answer that is on its way makes room for the next request
        if (s->state == TALKS) {
            talk(v, s);
        }
        how = s->state == FREE ? ALL : write_some(v, s);
    } while (how == ALL && s->have > 0 && may_talk(s));
    s->blocked = how == FULL;
    if (how == LOST) {
        drop(v, s);
    } else if (how == ALL && (s->state == ANSWERED || s->state == REFUSED)) {
        shutdown(s->fd, SHUT_WR);
        set_state(s, LEAVES, to_leave);
    }
}

// ---- the port ----

static void welcome(rp_view_sockets *k, int fd)
{
    visitor *s = NULL, *slowest = NULL;
    const int yes = 1, idle = 30, between = 10, probes = 3;
    for (int i = 0; i < CONNECTIONS && s == NULL; i++) {
        visitor *at = &k->visitor[i];
        s = at->state == FREE ? at : NULL;
        // pages stay, and there are far fewer of them
        if (at->client == NULL && (slowest == NULL || at->since < slowest->since)) {
            slowest = at;
        }
    }
    if (s == NULL) { // whoever has been at it for longest has to come again
        close(slowest->fd);
        s = slowest;
    }
    // a page that vanished without a word is noticed
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    s->fd = fd;
    s->since = rp_view_seconds();
    s->blocked = false;
    s->have = s->size = s->sent = s->file_sent = 0;
    s->file = NULL;
    s->client = NULL;
    set_state(s, ASKS, to_ask);
}

static void accept_all(rp_view_sockets *k)
{
    for (int i = 0; i < CONNECTIONS; i++) {
        const int fd = accept4(k->listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            welcome(k, fd);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            k->accept_after = rp_view_seconds() + 0.1;
            return;
        }
    }
}

void rp_view_wake(rp_view *v)
{
    const uint64_t one = 1;
    // full means that it is about to wake up anyway
    if (write(v->sockets->wake, &one, sizeof one) < 0) {
        return;
    }
}

void rp_view_serve_sockets(rp_view *v)
{
    rp_view_sockets *k = v->sockets;
    struct pollfd watched[2 + CONNECTIONS];
    visitor *whose[2 + CONNECTIONS];
    const double now = rp_view_seconds();
    double until = now + 1.0;
    int count = 2;
    watched[0] = (struct pollfd){.fd = k->wake, .events = POLLIN};
    watched[1] =
        (struct pollfd){.fd = now >= k->accept_after ? k->listening : -1, .events = POLLIN};
    until = now < k->accept_after ? k->accept_after : until;
    for (int i = 0; i < CONNECTIONS; i++) {
        visitor *s = &k->visitor[i];
        if (s->state != FREE && s->until > 0.0 && s->until <= now) {
            drop(v, s);
        }
        if (s->state != FREE) {
            until = s->until > 0.0 && s->until < until ? s->until : until;
            watched[count] = (struct pollfd){
                .fd = s->fd,
                .events = (short)((may_read(s) ? POLLIN : 0) | (s->blocked ? POLLOUT : 0))};
            whose[count++] = s;
        }
    }
    if (poll(watched, (nfds_t)count, (int)(1e3 * (until - now)) + 1) < 0) {
        return; // a signal
    }
    uint64_t woken;
    if (watched[0].revents != 0 && read(k->wake, &woken, sizeof woken) > 0) {
        deliver(v);
    }
    for (int i = 2; i < count; i++) {
        visitor *s = whose[i];
        const short happened = watched[i].revents;
        if ((happened & POLLIN) != 0) {
            read_some(v, s);
        } else if ((happened & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
            drop(v, s);
        }
        if (s->state != FREE && (happened != 0 || s->state == TALKS)) {
            serve(v, s);
        }
    }
    if (watched[1].revents != 0) {
        accept_all(k);
    }
}

static int open_port(const char *address, int port)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const bool is_four = inet_pton(AF_INET, address, &four.sin_addr) == 1;
    const int yes = 1;
    if (!is_four && inet_pton(AF_INET6, address, &six.sin6_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    const int fd =
        socket(is_four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // a server that ended a moment ago may have left connections behind
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
                    (is_four ? bind(fd, (struct sockaddr *)&four, sizeof four)
                             : bind(fd, (struct sockaddr *)&six, sizeof six)) != 0 ||
                    listen(fd, CONNECTIONS) != 0)) {
        const int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

// The one that was given, or that the system has chosen.
static int port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } name = {0};
    socklen_t size = sizeof name;
    getsockname(fd, &name.any, &size);
    return ntohs(name.any.sa_family == AF_INET6 ? name.six.sin6_port : name.four.sin_port);
}

rp_result rp_view_listen(rp_view *v)
{
    v->sockets = calloc(1, sizeof *v->sockets);
    if (v->sockets == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: sockets of a server");
    }
    v->sockets->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    v->sockets->listening = open_port(v->address, v->def.port);
    if (v->sockets->listening < 0 && errno == EINVAL) {
        return rp_fail(RP_ERR_ARGUMENT, "listen: want an IP address of this machine, got '%s'",
                       v->address);
    }
    if (v->sockets->listening < 0 && errno == EADDRINUSE) {
        return rp_fail(RP_ERR_FILE, "port %d of %s is in use: choose another (0: any that is free)",
                       v->def.port, v->address);
    }
    if (v->sockets->listening < 0 || v->sockets->wake < 0) {
        return rp_fail(RP_ERR_FILE, "cannot listen on port %d of %s: %s", v->def.port, v->address,
                       strerror(errno));
    }
    v->gate.port = port_of(v->sockets->listening);
    return RP_OK;
}

void rp_view_hang_up_all(rp_view *v)
{
    rp_view_sockets *k = v->sockets;
    if (k == NULL) {
        return;
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        if (k->visitor[i].state != FREE) {
            drop(v, &k->visitor[i]);
        }
    }
    if (k->listening >= 0) {
        close(k->listening);
    }
    if (k->wake >= 0) {
        close(k->wake);
    }
    free(k);
    v->sockets = NULL;
}
