// An export: frames of a run, one after the other, become cargo and then files.
#pragma once

#include "repose/export.h"
#include "repose/file.h"
#include "repose/fit.h"
#include "repose/reader.h"

#include <stdio.h>

enum { RP_JOB_PATH = 8192, RP_CARGO_EXTRAS = 24 };

// ---- files ----

// Bytes and text to a file that becomes whole at the end. After a failure nothing more is written,
// and closing says why.
typedef struct rp_out {
    rp_file file;
    char *buffer;
    size_t used;
    rp_result result;
    const struct rp_job *job;
} rp_out;

rp_result rp_out_open(rp_out *o, const struct rp_job *job, const char *path);
void rp_out_bytes(rp_out *o, const void *bytes, size_t size);
void rp_out_text(rp_out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
rp_result rp_out_close(rp_out *o);

// ---- particles ----

// A column besides those that all formats have.
typedef struct rp_cargo_extra {
    char name[64], unit[32];
    int comps;
    float *data; // [count][comps]
} rp_cargo_extra;

// The particles of a frame, by id.
typedef struct rp_cargo {
    int64_t frame, count;
    double time, fps, dx;
    int dimension;
    double (*position)[3];
    float (*velocity)[3];
    float *radius, *mass;
    uint64_t *id;
    uint16_t *material;
    unsigned char (*color)[3]; // of a grain of sand, sRGB
    rp_cargo_extra extra[RP_CARGO_EXTRAS];
    int extras;
} rp_cargo;

// ---- pieces of bodies ----

// One that goes out as a mesh.
typedef struct rp_job_piece {
    int body;
    rp_surface surface; // as it was cut
    double color[3];    // sRGB
    int64_t particles;  // that it has at first
} rp_job_piece;

// How they went, frame by frame.
typedef struct rp_job_pieces {
    rp_job_piece *list;
    int count;
    int *of_body; // [bodies] its place in the list; -1: it is none
    int bodies;
    double away;       // what is farther from its piece is debris [m]
    rp_fit *fit;       // [frame of the job][piece]
    uint64_t **debris; // [frame of the job]: ids of those that have left their piece, upward
    int64_t *debris_count;
} rp_job_pieces;

// ---- the job ----

struct rp_exporter;

typedef struct rp_job {
    const rp_export_def *def;
    const struct rp_exporter *exporter;
    const char *folder, *out;
    rp_record *record;
    rp_record_info info;
    bool z_up;      // in the files
    int turn;       // from the run to them: 1 takes what is up along y to z, -1 takes z to y
    int64_t *frame; // numbers
    int64_t frames;
    double *time;                     // of each, once it was read
    rp_job_pieces pieces;             // none unless they were asked for
    void *state;                      // an exporter's own
    void (*drop)(struct rp_job *job); // releases it; may be NULL
} rp_job;

// RP_ERR_STOPPED once the caller wants no more.
rp_result rp_job_go_on(const rp_job *job);

rp_result rp_cargo_load(const rp_job *job, int64_t frame, rp_cargo *cargo);
// Arrays for `count` particles, and for those of its extras.
rp_result rp_cargo_make(rp_cargo *cargo);
// Only who is in a frame, upward. @param[out] ids released with free()
rp_result rp_cargo_ids(const rp_job *job, int64_t frame, uint64_t **ids, int64_t *count);
void rp_cargo_free(rp_cargo *cargo);
// A frame of the run, for reading.
rp_result rp_job_open(const rp_job *job, int64_t frame, rp_reader **reader);
// Turns a vector where files have another way up than the run.
void rp_job_turn(const rp_job *job, double v[3]);
rp_pose rp_job_pose(const rp_job *job, int collider, double frame);

// Which pieces there are and how they went in the frames of the job.
rp_result rp_job_pieces_make(rp_job *job);
void rp_job_pieces_free(rp_job *job);
// Does a particle go out with its piece, as part of a mesh?
bool rp_job_in_piece(const rp_job *job, int64_t frame, int body, uint64_t id);
// Where a piece is in a frame of the job, turned with the files.
rp_pose rp_job_piece_pose(const rp_job *job, int piece, int64_t index);
// A place, or a direction, of a mesh where its pose takes it, turned with the files.
void rp_job_place(const rp_job *job, const rp_pose *pose, const float at[3], bool place,
                  float out[3]);
void rp_job_piece_name(const rp_job *job, int piece, char out[RP_NAME_SIZE + 32]);
// pieces.csv, with the poses of all, and debris.csv.
rp_result rp_job_pieces_tables(const rp_job *job);

// The surface of the water in a frame, as it is in the run; without triangles where there is none.
// @param[out] surface, velocity of its vertices: released with rp_surface_free() and free()
rp_result rp_job_water(const rp_job *job, int64_t frame, rp_surface *surface,
                       float (**velocity)[3]);

// OUT/name
void rp_job_path(const rp_job *job, char out[RP_JOB_PATH], const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- formats ----

// `frame` writes one frame, the index-th of the job; `finish` what ties them together.
typedef struct rp_exporter {
    const char *name;
    bool all_columns; // unless some are named
    bool matter_only; // marks, which weigh nothing, are left out
    rp_result (*start)(rp_job *job);
    rp_result (*frame)(rp_job *job, int64_t index, rp_cargo *cargo); // may keep what is in it
    rp_result (*finish)(rp_job *job);
} rp_exporter;

extern const rp_exporter rp_export_vtp, rp_export_ply, rp_export_vdb, rp_export_usda, rp_export_csv;

// Colliders for formats without a scene of their own: colliders/NAME.ply at rest, and colliders.csv
// with the pose of each at each frame.
rp_result rp_export_colliders(const rp_job *job);
// And pieces, where they were asked for: pieces/NAME.ply, as they were cut.
rp_result rp_export_pieces(const rp_job *job);
// A name for files and prims: letters, digits and underscores; the number makes it unique.
enum { RP_EXPORT_NAME = RP_NAME_SIZE + 32 };
void rp_export_collider_name(const rp_job *job, int index, char out[RP_EXPORT_NAME]);
