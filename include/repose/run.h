// SPDX-License-Identifier: Apache-2.0
// A run: a world that is stepped frame by frame, and the folder that holds what came of it.
//
//     run.json  scene.lua  scene.resolved.json  run.log  run.lock  stats.csv
//     scene.files/                  copies of meshes and pictures that the scene reads
//     frames/frame.000000.hdf ...   whole states; a run goes on from the newest
//     state.hdf                     the same in mid-frame, after an interrupt or every so often
//     failure.hdf                   only after a failure: the last state, the guilty marked
//
// A process may be killed at any moment: what the folder then holds is whole, and resuming ends in
// the same bits as a run without the break.
#pragma once

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_run rp_run;

typedef enum rp_run_mode {
    RP_RUN_NEW,       ///< refuse a folder that already holds a run
    RP_RUN_RESUME,    ///< go on from the newest whole state
    RP_RUN_OVERWRITE, ///< remove the run that the folder holds, and only that
} rp_run_mode;

/// Make the folder where needed and lock it: a second process that tries is refused.
/// @param[out] run released with rp_run_close(); NULL on failure
RP_API rp_result rp_run_open(const char *folder, rp_run_mode mode, rp_run **run);
RP_API void rp_run_close(rp_run *run);

/// What rp_run_def.about said when the run was started, as JSON; NULL for a new run.
RP_API const char *rp_run_about(const rp_run *run);

/// Something that whoever looks at the results should know: `warnings` of run.json holds it from
/// the end of the next frame on, once, with those of the run that is resumed. From any thread.
RP_API void rp_run_warn(rp_run *run, const char *sentence);

/// Is there a state to go on from? Otherwise the world must be filled, and begins anew: the process
/// of a resumed run may have been killed before its first frame.
RP_API bool rp_run_has_state(const rp_run *run);

/// A file that is kept beside the frames.
typedef struct rp_run_file {
    const char *name; ///< in the folder; may lie in folders of it
    const void *data;
    size_t size;
    /// Or copy this file. What is there under its name, with other contents and not from a run, is
    /// left alone, and the run refused.
    const char *from;
} rp_run_file;

/// What is known after a step.
typedef struct rp_run_progress {
    const rp_stats *stats;
    const rp_totals *totals; ///< at the end of a frame; NULL in mid-frame
    int64_t frames;          ///< where the run ends
} rp_run_progress;

typedef enum rp_run_answer {
    RP_RUN_GO,
    RP_RUN_STOP, ///< save the state and come back
} rp_run_answer;

typedef struct rp_run_def {
    rp_world *world; ///< filled for a new run; to be restored, so best empty, for a resumed one
    int64_t frames;  ///< run to the end of this one
    double settle;   ///< seconds of rp_world_settle() before the first frame of a new run
    /// Stop as diverged when particles have so many times the energy that they had and that
    /// gravity, emitters, colliders and bodies brought in; twice as much is a warning. 0: never,
    /// and no word
    double energy_limit;
    double save_seconds; ///< wall-clock time between states in mid-frame; 0: none
    bool latest;         ///< only the newest two frames keep all that a restart needs
    const char *title;   ///< goes into every frame
    const char *about;   ///< a JSON object that goes into run.json: scene, parameters, command line
    const rp_run_file *file; ///< written when the run is new
    int files;
    /// Called after every step, and once before the first; NULL: never stop.
    rp_run_answer (*tick)(void *context, const rp_run_progress *progress);
    void *context;
    uint32_t cookie;
} rp_run_def;
RP_API rp_run_def rp_default_run_def(void);

typedef enum rp_run_end {
    RP_RUN_FINISHED, ///< all frames are written
    RP_RUN_STOPPED,  ///< tick said so; the last frame or state.hdf is where to go on
    RP_RUN_FAILED,   ///< see the result
} rp_run_end;

/// Step the world to the end. Frames are written by a thread of their own while the next steps run.
/// Whatever happens, what was written before stays whole; when the simulation diverges, failure.hdf
/// is left, and when anything else fails, the state is saved if that is still possible.
RP_API rp_result rp_run_go(rp_run *run, const rp_run_def *def, rp_run_end *end);

/// The highest number of a frame that a run's folder holds, or -1. Looks only; locks nothing.
RP_API int64_t rp_run_last_frame(const char *folder);
/// Does a process write to the folder now? Looks only; locks nothing.
RP_API bool rp_run_is_active(const char *folder);
/// Where a frame of a run is, or would be.
RP_API rp_result rp_run_frame_path(const char *folder, int64_t frame, char *out, size_t size);

/// A checksum of all bytes of a file, to see whether one that a scene reads has changed.
RP_API rp_result rp_checksum_file(const char *path, uint64_t *checksum);

#ifdef __cplusplus
}
#endif
