// Looks into the folder of a run a few times a second and says what is new: its state, how far it
// has come, the scene with the meshes of its colliders, lines of stats.csv. Nothing here writes or
// locks. All of it belongs to one thread.
#pragma once

#include "view/parcel.h"

#include "repose/record.h"
#include "repose/view.h"

#include <sys/stat.h>

typedef struct rp_file_mark {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec written;
} rp_file_mark;

typedef struct rp_watch {
    char folder[4096];
    int64_t generation; // names the run: another folder, or one begun anew, has another
    rp_file_mark script, json, table;
    rp_record *record;
    int64_t record_last; // frames that the record knows the poses of
    json_t *run;         // run.json
    int64_t last;        // frame
    char failure[1024];
    bool was_there; // the folder, at some look

    // how fast frames come
    struct {
        double at; // wall clock [s]
        int64_t frame;
    } seen[16];
    int seens;
    // of the process that the host has started last: what it found, and whether it writes by now
    int64_t starts, found_last;
    rp_file_mark found;
    bool ran;

    // what clients should have; each change counts one up
    rp_parcel status, scene;
    uint64_t status_count, scene_count;
    char *stats; // whole lines of stats.csv
    size_t stats_size, stats_room;
    uint64_t stats_epoch; // another one begins from the start
} rp_watch;

// @return whether anything is new
bool rp_watch_look(rp_watch *w, const rp_view_run *run);
void rp_watch_end(rp_watch *w);
