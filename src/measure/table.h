// Tables: what a measurement fills, and the .csv files of a run.
#pragma once

#include <repose/measure.h>

// Names separated by spaces. @return NULL when there is no memory, with the sentence set
rp_measured *rp_measured_make(const char *names);
// One row more, all NAN; NULL when there is no memory, with the sentence set.
double *rp_measured_add_row(rp_measured *table);

// The rows of a file of the run whose first column, the frame, is from `first` to `last`. Texts
// become NAN, except those of the column `name`: where it is not `want`, the row is left out. "#3"
// wants the collider of that number, whatever its name is.
// @param want NULL: all rows
rp_result rp_csv_read(const char *folder, const char *file, int64_t first, int64_t last,
                      const char *want, rp_measured **out);
