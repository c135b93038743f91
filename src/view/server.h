// The server behind the page. Two threads: one serves sockets and touches no file;
// the other reads files, asks the host about its run, and never waits for a socket.
//
//     page ──message──▶ sockets ──task──▶ files ──parcel──▶ sockets ──▶ page
//
// A page asks for each frame, and has at most a few requests open; until they are answered nothing
// more is read from it. So what is kept for a client that reads slowly, or not at all, is bounded:
// its open requests and one parcel in the middle. The run is another process, which knows nothing
// of all this.
//
// Sockets belong to their thread; the other one only calls rp_view_wake().
#pragma once

#include "view/aims.h"
#include "view/frames.h"
#include "view/gate.h"
#include "view/http.h"
#include "view/message.h"
#include "view/watch.h"
#include "view/wire.h"

#include "repose/view.h"

#include <pthread.h>

enum { RP_VIEW_OPEN = 4 }; // requests of one client

// A request on its way to the thread that reads files.
typedef struct rp_view_task {
    struct rp_view_task *next;
    int slot;
    uint64_t serial; // of the client
    rp_message message;
} rp_view_task;

typedef struct rp_view_reply {
    struct rp_view_reply *next;
    int slot;
    uint64_t serial;
    rp_parcel parcel;
} rp_view_reply;

// A page that is connected; belongs to the thread of the sockets.
typedef struct rp_view_client {
    bool here;       // or the slot is free
    uint64_t serial; // never used again
    int open;        // requests
    rp_view_reply *first, **end;
    // the message that is being written, with the head of its frame
    rp_parcel sending;
    unsigned char head[RP_WIRE_HEAD];
    size_t head_size, sent, left;
    // what it was sent of what all get
    uint64_t status, scene, epoch;
    size_t stats;
    // what comes in parts
    rp_wire_read read;
    char text[RP_MESSAGE_BYTES];
    unsigned char control[RP_WIRE_CONTROL];
} rp_view_client;

typedef struct rp_view_sockets rp_view_sockets;

struct rp_view {
    rp_view_def def;
    rp_gate gate;
    char address[64];
    rp_view_sockets *sockets;
    rp_view_client client[RP_VIEW_CLIENTS];
    uint64_t serials;

    pthread_t files;
    pthread_mutex_t mutex; // all below
    pthread_cond_t wake;
    rp_view_task *task_first, **task_end;
    rp_view_reply *reply_first, **reply_end;
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
    rp_aims aims;

    struct { // so that a flood of refusals does not become one of lines
        time_t second;
        int said, left_out;
    } refusals;
};

// server.c: of a clock that only goes forward
double rp_view_seconds(void);

// sockets.c
rp_result rp_view_listen(rp_view *v);
void rp_view_serve_sockets(rp_view *v); // what there is to do, or waits for it, a second at most
void rp_view_wake(rp_view *v);          // from the other thread: there is something to be sent
void rp_view_hang_up_all(rp_view *v);
void rp_view_drop_replies(rp_view_reply *r);
