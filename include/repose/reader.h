// SPDX-License-Identifier: Apache-2.0
// Particles of a frame, as whoever shows, converts or measures them wants them. A file keeps some
// of what a particle is with it, some with its group, and some nowhere because nothing needed it;
// here every particle has everything, in plain arrays, a batch at a time or all at once.
#pragma once

#include "frame.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A frame open for reading its particles. Not for use by several threads at once.
typedef struct rp_reader rp_reader;

/// @param record of the run that the frame belongs to; must outlive the reader. NULL: there is
/// none, and stress is unknown
/// @param[out] reader released with rp_reader_close(); NULL on failure
RP_API rp_result rp_reader_open(const char *path, const rp_record *record, rp_reader **reader);
RP_API void rp_reader_close(rp_reader *reader);
RP_API const rp_frame_info *rp_reader_info(const rp_reader *reader);
/// For columns as they are in the file.
RP_API const rp_frame *rp_reader_frame(const rp_reader *reader);
RP_API const rp_record *rp_reader_record(const rp_reader *reader);
/// The name of a species, "solid" of the first; NULL: there are not so many.
RP_API const char *rp_reader_species(const rp_reader *reader, int index);
/// How many velocity fields the particles may belong to.
RP_API int rp_reader_fields(const rp_reader *reader);
/// The largest volume that a particle stands for [m^3]; 0 when there is none.
RP_API rp_result rp_reader_largest(rp_reader *reader, double *volume);

// ---- batches ----

/// What to read, combined with |.
typedef enum rp_read {
    RP_READ_POSITION = 1 << 0, ///< position, RP_PARTICLE_NOWHERE
    RP_READ_VELOCITY = 1 << 1,
    RP_READ_ID = 1 << 2,
    RP_READ_GROUP = 1 << 3,  ///< group, material, field, species, RP_PARTICLE_DOOMED, _MASSLESS
    RP_READ_MASS = 1 << 4,   ///< mass, volume, and what RP_READ_GROUP brings
    RP_READ_STRAIN = 1 << 5, ///< strain
    RP_READ_STATE = 1 << 6,  ///< hardening, volume_gain: what laws keep besides
    RP_READ_RATIO = 1 << 7,  ///< log_ratio
    RP_READ_STRESS = 1 << 8, ///< stress
} rp_read;

/// Why a particle may not count, combined with |.
typedef enum rp_particle_flag {
    RP_PARTICLE_DOOMED = 1,   ///< the next step removes it; it has lost its group
    RP_PARTICLE_NOWHERE = 2,  ///< its position is not finite
    RP_PARTICLE_MASSLESS = 4, ///< a mark that goes along and is no matter
} rp_particle_flag;

enum {
    RP_BATCH = 1 << 16,     ///< particles that rp_reader_next() reads at a time
    RP_GROUP_NONE = 0xffff, ///< group and material of a particle that has lost its group
};

/// Some particles of a frame. Start with {.want = …}; release with rp_batch_free(). Arrays belong
/// to the batch, and those of what is not wanted may be NULL.
typedef struct rp_batch {
    unsigned want;         ///< of rp_read
    int64_t first, count;  ///< which ones, in the order of the frame
    int64_t next;          ///< where rp_reader_next() goes on; 0: it starts anew
    int64_t room;          ///< particles that the arrays have room for
    uint8_t *flags;        ///< of rp_particle_flag
    double (*position)[3]; ///< [m]; z = 0 in 2D
    double (*velocity)[3]; ///< [m/s]
    uint64_t *id;          ///< the place in the frame where that has no ids
    uint16_t *group, *material, *field;
    uint8_t *species;      ///< see rp_reader_species()
    double *mass, *volume; ///< [kg], at rest [m^3]; 0: not known
    double (*strain)[6];   ///< elastic Hencky tensor xx yy zz xy xz yz
    double *hardening, *volume_gain;
    double *log_ratio;   ///< logarithm of the volume over that at rest
    double (*stress)[6]; ///< Cauchy xx yy zz xy xz yz [Pa]; zz in 2D is that of plane strain
} rp_batch;

/// Read some particles. What the frame has no column for has neutral values: nothing moves, nothing
/// is strained.
/// @return on failure nothing in the batch may be used
RP_API rp_result rp_reader_read(rp_reader *reader, int64_t first, int64_t count, rp_batch *batch);
/// Read those that follow the ones in the batch, RP_BATCH at most; into a new batch, the first
/// ones. Behind the last, batch->count is 0.
RP_API rp_result rp_reader_next(rp_reader *reader, rp_batch *batch);
/// Does the frame know it, or are values neutral? For stress, it takes a record with materials.
RP_API bool rp_reader_has(const rp_reader *reader, unsigned want);
/// The sentence for somebody who cannot do without: RP_ERR_ARGUMENT unless rp_reader_has().
/// @param who begins it, such as "color: pressure"
RP_API rp_result rp_reader_need(const rp_reader *reader, unsigned want, const char *who);

/// Arrays for so many particles of what is wanted, zeroed where they are new.
RP_API rp_result rp_batch_reserve(rp_batch *batch, int64_t room);
/// Leave out the particles that have one of these flags; the others close up.
/// @return how many have gone
RP_API int64_t rp_batch_drop(rp_batch *batch, unsigned flags);
RP_API void rp_batch_free(rp_batch *batch);

// ---- columns ----

/// Columns of the frame, and behind them those of RP_DERIVED_COLUMNS that it does not keep itself,
/// where the materials of the run and what their laws need are known.
RP_API int rp_reader_columns(const rp_reader *reader);
/// @param index 0 to rp_reader_columns() - 1
RP_API rp_result rp_reader_column(const rp_reader *reader, int index, rp_frame_column_info *out);
/// Part of a column as double, [count][comps].
RP_API rp_result rp_reader_read_column(rp_reader *reader, const char *name, int64_t first,
                                       int64_t count, double *out);

// ---- numbers by name ----

/// A number of each particle, as users name it: a column such as "hardening" or "pressure", its
/// length where it has several components, one of these ("velocity.y", "stress.xx", "strain.3"),
/// "speed", "height", "smooth_pressure", which is the mean over the particles around, or what it
/// belongs to: "material", "body", which is the velocity field, and "species".
typedef struct rp_value_info {
    char unit[32];  ///< "1" where there is none
    unsigned needs; ///< of rp_read, for rp_reader_need()
    bool length;    ///< of several components: it cannot be negative
    bool names;     ///< it is the number of something, which may have a name: rp_reader_label()
} rp_value_info;

/// @return false: there is nothing of that name
RP_API bool rp_reader_knows(const rp_reader *reader, const char *name, rp_value_info *out);
/// What a number stands for; NULL: it has no name.
RP_API const char *rp_reader_label(const rp_reader *reader, const char *name, int number);
/// Fails where the frame lacks what it would take.
RP_API rp_result rp_reader_values(rp_reader *reader, const char *name, int64_t first, int64_t count,
                                  double *out);

#ifdef __cplusplus
}
#endif
