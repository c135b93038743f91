// SPDX-License-Identifier: Apache-2.0
// Frames: the whole state of a world in one HDF5 file, which is a checkpoint and opens in ParaView.
//
// The layout is VTKHDF 1.0, an UnstructuredGrid of one vertex per particle; what VTK has no place
// for is in the group /repose. docs/frames.md lists every dataset.
#pragma once

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RP_FRAME_FORMAT = 2 }; ///< written to /repose@format; older ones are read, not resumed

/// Which columns a frame keeps besides position, id, group, material and species, instead of all of
/// them and the state: no run goes on from it.
typedef struct rp_frame_choice {
    unsigned columns;                ///< of the state, as 1u << rp_column_id
    unsigned derived;                ///< as 1u << rp_derived_id, by the laws of
    const rp_material_def *material; ///< these, by their numbers
    int materials;
} rp_frame_choice;

/// Words that go with a frame.
typedef struct rp_frame_words {
    const char *title;      ///< of the scene; NULL: none
    const char *failure;    ///< the sentence of a run that failed; NULL: it did not
    const uint64_t *guilty; ///< ids of the particles to blame, sorted; marked in a column of theirs
    int64_t guilty_count;
    const rp_frame_choice *choice; ///< NULL: all columns, and the state
} rp_frame_words;

/// Write a state made by rp_world_save() as a frame: to PATH.tmp, synced, then renamed, so that
/// `path` is whole or as it was.
/// @param words may be NULL
RP_API rp_result rp_frame_write(const char *path, const void *state, size_t size,
                                const rp_frame_words *words);
/// The state that a frame holds, for rp_world_restore(). Nothing in the file is trusted.
/// @param[out] state released by rp_state_free(); NULL on failure
RP_API rp_result rp_frame_read_state(const char *path, void **state, size_t *size);
/// Write the frame anew without what only a restart needs. Afterwards rp_frame_read_state() refuses
/// it and everything else works.
RP_API rp_result rp_frame_drop_state(const char *path);

/// A frame open for reading. Not for use by several threads at once.
typedef struct rp_frame rp_frame;

typedef struct rp_frame_info {
    int64_t frame, step; ///< whole frames done; steps since the start
    double time;         ///< [s]
    double dx, fps;      ///< grid spacing [m]; frames per second of simulated time [1/s]
    int dimension;       ///< 2 or 3
    rp_precision precision;
    int64_t particles;
    int columns;        ///< see rp_frame_column()
    int species;        ///< see rp_frame_species_name()
    int format;         ///< of the file
    bool whole;         ///< it keeps a state; a run goes on from it if it has RP_FRAME_FORMAT
    char title[128];    ///< of the scene
    char failure[1024]; ///< why the run failed; empty when it did not
} rp_frame_info;

/// A column of a frame.
typedef struct rp_frame_column_info {
    char name[64], unit[32], sentence[128];
    int comps;
} rp_frame_column_info;

/// @param[out] frame released with rp_frame_close(); NULL on failure
RP_API rp_result rp_frame_open(const char *path, rp_frame **frame);
RP_API void rp_frame_close(rp_frame *frame);
RP_API void rp_frame_get_info(const rp_frame *frame, rp_frame_info *out);
/// What a number of the column `species` means. @return NULL when there is no such species
RP_API const char *rp_frame_species_name(const rp_frame *frame, int index);
/// @param index 0 to rp_frame_info.columns - 1; "position" [m] is the first and has 3 components
RP_API rp_result rp_frame_column(const rp_frame *frame, int index, rp_frame_column_info *out);
/// What all particles of one source share; the column `group` holds its number.
typedef struct rp_frame_group {
    int material, field; ///< numbers of the material and of the velocity field
    double volume, mass; ///< of one particle: at rest [m^3], [kg]
} rp_frame_group;
/// @param[out] groups released with free(); NULL on failure
RP_API rp_result rp_frame_groups(const rp_frame *frame, rp_frame_group **groups, int *count);
/// Part of a column as double, [count][comps].
RP_API rp_result rp_frame_read(const rp_frame *frame, const char *column, int64_t first,
                               int64_t count, double *out);

#ifdef __cplusplus
}
#endif
