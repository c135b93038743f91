// SPDX-License-Identifier: Apache-2.0
// Measurements: numbers that are read off the folder of a run, or off one frame. They look and
// change nothing, and lock nothing: a run that still goes on may be measured.
//
//     rp_measure_def def = rp_default_measure_def();
//     def.folder = "heap-out";
//     def.name = "runout";
//     rp_measure(&def, &measured);        // a table: a row per frame, or a row per bin of it
//
// docs/measure.md lists every measurement with its arguments and columns.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An argument as a command line would give it: quantile=0.97.
typedef struct rp_measure_argument {
    const char *name, *value;
} rp_measure_argument;

#define RP_LAST_FRAME (-1)

typedef struct rp_measure_def {
    const char *folder;  ///< of a run
    const char *name;    ///< of the measurement
    int64_t first, last; ///< frames to measure; RP_LAST_FRAME: the last that the folder holds
    const rp_measure_argument *argument;
    int arguments;
    uint32_t cookie;
} rp_measure_def;

/// The last frame, without arguments; folder and name must be set.
RP_API rp_measure_def rp_default_measure_def(void);

/// A table of numbers. Names of columns end with their unit, as in stats.csv.
typedef struct rp_measured {
    int columns;
    int64_t rows;
    char (*name)[32]; ///< [columns]
    double *value;    ///< [rows][columns]; what cannot be told is NAN
    bool profile;     ///< several rows per frame, such as one per bin; else one
} rp_measured;

/// @param[out] measured released with rp_measured_free(); NULL on failure
RP_API rp_result rp_measure(const rp_measure_def *def, rp_measured **measured);
RP_API void rp_measured_free(rp_measured *measured);
/// A column of a table by its name, or -1.
RP_API int rp_measured_column(const rp_measured *measured, const char *name);

/// The names of all measurements, in the order of the page that describes them; NULL behind the
/// last.
RP_API const char *rp_measurement(int index);
/// What it measures, in a sentence.
RP_API const char *rp_measurement_sentence(int index);
/// That page as Markdown, made from the table that also checks arguments.
/// @return released with free(); NULL when there is no memory
RP_API char *rp_measure_reference(void);

#ifdef __cplusplus
}
#endif
