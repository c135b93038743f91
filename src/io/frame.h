// What the writer and the readers of frames share: where everything is in the file. docs/frames.md
// describes it for people.
#pragma once

#include "core/state.h"
#include "io/h5.h"
#include "repose/frame.h"

#define RP_AT_VTK     "VTKHDF"
#define RP_AT_POINTS  "VTKHDF/Points"
#define RP_AT_COLUMNS "VTKHDF/PointData"
#define RP_AT_REPOSE  "repose"
#define RP_AT_GROUPS  "repose/groups"
#define RP_AT_SPECIES "repose/species"
// only a restart needs these
#define RP_AT_AFFINE   "VTKHDF/PointData/affine"
#define RP_AT_PAGES    "repose/pages"
#define RP_AT_POSITION "repose/position"
#define RP_AT_REGISTRY "repose/registry"
#define RP_AT_ENTRIES  "repose/entries"

#define RP_TIME_ENTRY "world/time" // the registry entry of which a frame knows the meaning

enum {
    RP_FRAME_COLUMNS = 64,
    RP_FRAME_PATH = 128,
    RP_FRAME_LIST = 256, // names of the columns that a species keeps
    RP_FRAME_ROWS_BYTES = RP_H5_CHUNK * 9 * sizeof(double), // a slab of the widest column
};

// A number of a state's header that is an attribute of /repose.
typedef struct rp_frame_number {
    const char *name;
    size_t offset; // in rp_state_header
    rp_h5_type type;
    int count;
    const char *unit;
} rp_frame_number;

enum { RP_FRAME_NUMBERS = 7 };
extern const rp_frame_number rp_frame_number_table[RP_FRAME_NUMBERS];

// A number of a species that is a row of a dataset in /repose/species.
typedef struct rp_frame_species_number {
    const char *name;
    size_t offset; // in rp_state_species
    rp_h5_type type;
    const char *unit, *description;
} rp_frame_species_number;

enum { RP_FRAME_SPECIES_NUMBERS = 6 };
extern const rp_frame_species_number rp_frame_species_table[RP_FRAME_SPECIES_NUMBERS];

// What is known of columns that laws give.
extern const rp_frame_column_info rp_derived_table[RP_DERIVED_COUNT];

// What the registry's time entry holds.
typedef struct rp_frame_time {
    int64_t frame, step;
    double part; // of the current frame that has passed
} rp_frame_time;

// The type of a column's numbers in PointData, or of stored positions.
rp_h5_type rp_frame_type(const rp_layout *layout, rp_column_id column);
// Components as a frame has them: 0 for one number a row.
int rp_frame_comps(const rp_layout *layout, rp_column_id column);

// "owner/what", of letters, digits and underscores, ended within RP_STATE_NAME bytes: names of
// entries become paths in the file and must not lead elsewhere.
bool rp_frame_is_entry_name(const char *name);

struct rp_frame {
    rp_h5 h5;
    int fd;
    char *path; // owned
    rp_frame_info info;
    int format;
    int species;
    char species_name[RP_SET_LIMIT][RP_SPECIES_NAME];
    rp_frame_column_info column[RP_FRAME_COLUMNS];
};

// A column by name; NULL: the frame has none.
const rp_frame_column_info *rp_frame_column_named(const rp_frame *frame, const char *name);
// Are there so many particles? The sentence says how many there are.
rp_result rp_frame_check_rows(const rp_frame *frame, int64_t first, int64_t count);
// As rp_frame_read(), as numbers of any type: doubles do not hold every id.
rp_result rp_frame_read_as(const rp_frame *frame, const char *column, int64_t first, int64_t count,
                           rp_h5_type type, void *out);
// The state that an open frame holds.
rp_result rp_frame_state(const rp_frame *frame, void **state, size_t *size);
