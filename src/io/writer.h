// Writes frames in a thread of its own while the world steps on. One file is in the making at a
// time, so that no more than one copy of the state is held.
#pragma once

#include "io/folder.h"
#include "repose/frame.h"

typedef struct rp_writer rp_writer;

// What is to be done with a state. The writer owns `state` and the lines from the moment they are
// handed over, and does the parts in this order, so that a kill between any two of them leaves a
// folder that can be resumed: the lines of tables first, since lines without their frame are cut
// off again.
typedef struct rp_writing {
    char path[RP_PATH];
    void *state;
    size_t size;
    // lines of stats.csv, forces.csv, bodies.csv, contacts.csv, probes.csv and cracks.csv, for
    // free(); NULL: none
    char *stats, *forces, *bodies, *contacts, *probes, *cracks;
    double fps;               // of the index of frames; 0: it stays as it is
    char whole[RP_PATH];      // the file keeps chosen columns, and this one all; empty: it does
    char drop_state[RP_PATH]; // a frame that no longer needs what only a restart does; empty: none
    char remove[RP_PATH];     // a file that this one makes superfluous; empty: none
} rp_writing;

// @param title copied
// @param choice of columns, where some are chosen; what it points to must outlive the writer
rp_result rp_writer_open(rp_writer **writer, const rp_folder *folder, const char *title,
                         const rp_frame_choice *choice);
// Waits for what is being written, then ends the thread. @return how that went
rp_result rp_writer_close(rp_writer *writer);

// Wait until nothing is being written. @return whether all went well so far, with the sentence
rp_result rp_writer_wait(rp_writer *writer);
// Hand over, after rp_writer_wait().
void rp_writer_write(rp_writer *writer, const rp_writing *writing);
// Is it done with what it was given? Never waits.
bool rp_writer_idle(rp_writer *writer);
// Seconds spent writing so far.
double rp_writer_seconds(rp_writer *writer);
