// The folder of a run: who may write to it, what is in it, where a run can go on.
#pragma once

#include "repose/run.h"

#include <jansson.h>

typedef struct rp_folder {
    char *path;
    int lock; // file descriptor of run.lock, held as long as the folder is open
} rp_folder;

// Make the folder if need be and take its lock; another process that has it is named.
rp_result rp_folder_open(rp_folder *folder, const char *path);
void rp_folder_close(rp_folder *folder);
// Does any process have the lock? Told from /proc/locks: to try the lock would be to take it for a
// moment, in which a run that starts would be refused.
bool rp_folder_is_locked(const rp_folder *folder);

// A path in the folder, such as ("run.json"), into a buffer of the caller's.
enum { RP_PATH = 4096 };
const char *rp_folder_path(const rp_folder *folder, const char *name, char out[RP_PATH]);
const char *rp_folder_frame(const rp_folder *folder, int64_t frame, char out[RP_PATH]);

// The highest number of a frame, or -1.
int64_t rp_folder_last_frame(const rp_folder *folder);
// Is there a run in it?
bool rp_folder_has_run(const rp_folder *folder);
// Remove the files of a run and nothing else.
rp_result rp_folder_clear(const rp_folder *folder);

// The file of the newest state that is whole: of the frames and state.hdf. What is damaged is
// logged and passed over; what cannot be read for another reason is an error, and so is a folder
// with states of which none is whole.
// @param[out] frame whole frames that are done in it
// @param[out] found false: there is no state of any kind yet
rp_result rp_folder_newest(const rp_folder *folder, char path[RP_PATH], int64_t *frame,
                           bool *found);
// Can a run go on from this frame?
bool rp_folder_is_whole(const char *path);
// Remove temporary files that a kill has left behind.
void rp_folder_sweep(const rp_folder *folder);

// frames/frame.hdf.series: the frames that are there with their times, so that ParaView plays them
// as they were. Made anew from the files each time.
rp_result rp_folder_index(const rp_folder *folder, double fps);

// A whole file, with a 0 behind its end. @param[out] data to be freed with free()
rp_result rp_folder_read(const rp_folder *folder, const char *name, char **data, size_t *size);
// JSON of the folder, of which nobody complains when it is missing or none. @return NULL: so it is
json_t *rp_folder_json(const rp_folder *folder, const char *name);

// Tables with lines that begin with the number of a frame (stats.csv, forces.csv) or of a step
// (probes.csv). Appending opens and closes the file, so that a kill can tear no more than the last
// lines; cutting back drops torn lines and those of numbers above `last`.
rp_result rp_table_append(const rp_folder *folder, const char *name, const char *lines);
rp_result rp_table_cut(const rp_folder *folder, const char *name, const char *header, int64_t last);
