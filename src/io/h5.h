// HDF5 in the few shapes that frames need: numbers and words as attributes, datasets of rows.
//
// Writing is sticky: after the first failure every call does nothing, and rp_h5_close() tells. That
// keeps the writer free of a check at every line. Reading trusts nothing: before a byte is read its
// type and extent are known to be the ones asked for, and no larger than the file.
#pragma once

#include "io/disk.h"
#include "repose/base.h"

typedef struct rp_h5 {
    hid_t file;
    rp_disk disk;
    const char *path; // for sentences; the caller's
    bool failed;      // writing only
    char cause[160];  // what HDF5 said first
} rp_h5;

typedef enum rp_h5_type {
    RP_H5_U8,
    RP_H5_U16,
    RP_H5_I32,
    RP_H5_U64,
    RP_H5_I64,
    RP_H5_F32,
    RP_H5_F64
} rp_h5_type;
int rp_h5_bytes(rp_h5_type type);

// A dataset of rows: [rows], or [rows][comps] when comps > 0.
typedef struct rp_h5_spec {
    const char *path;
    rp_h5_type type;
    uint64_t rows;
    int comps;
    const char *unit, *description; // attributes
    bool packed;                    // compressed, in chunks of RP_H5_CHUNK rows
} rp_h5_spec;

enum { RP_H5_CHUNK = 1 << 16, RP_H5_TEXT = 4096 }; // bytes of a text, its end included
#define RP_H5_UNIT        "unit"
#define RP_H5_DESCRIPTION "description"

// Both take an open file, which stays the caller's. `size` is how much of it HDF5 may see.
rp_result rp_h5_create(rp_h5 *h5, int fd, const char *path);
rp_result rp_h5_open(rp_h5 *h5, int fd, uint64_t size, const char *path);
// @return why writing failed, if it did
rp_result rp_h5_close(rp_h5 *h5);
// After reading there is nothing to fail.
void rp_h5_leave(rp_h5 *h5);
// HDF5 prints its errors unless told not to, in each thread: call this first where a file that is
// open already is used.
void rp_h5_enter(void);

// --- writing ---

// A call of HDF5's own, which fails with a negative number.
void rp_h5_expect(rp_h5 *h5, herr_t status);
void rp_h5_put_group(rp_h5 *h5, const char *path);
void rp_h5_put_text(rp_h5 *h5, const char *object, const char *name, const char *text);
// count 0: a scalar
void rp_h5_put_numbers(rp_h5 *h5, const char *object, const char *name, rp_h5_type type, int count,
                       const void *numbers);
// Groups on the way are made. The dataset is filled row by row, in order, then closed.
hid_t rp_h5_begin_rows(rp_h5 *h5, const rp_h5_spec *spec);
void rp_h5_put_rows(rp_h5 *h5, hid_t dataset, uint64_t first, uint64_t count, rp_h5_type type,
                    const void *rows);
void rp_h5_end_rows(rp_h5 *h5, hid_t dataset);
// All of a small dataset.
void rp_h5_put_dataset(rp_h5 *h5, const rp_h5_spec *spec, const void *rows);
// One text a row, each of `bytes` with zeros behind it.
void rp_h5_put_texts(rp_h5 *h5, const char *path, int count, int bytes, const void *texts,
                     const char *description);

// --- reading ---

bool rp_h5_has(const rp_h5 *h5, const char *path);
bool rp_h5_has_attribute(const rp_h5 *h5, const char *object, const char *name);
// Cut to `size`, between characters; an attribute that is not there is "".
rp_result rp_h5_get_text(const rp_h5 *h5, const char *object, const char *name, char *text,
                         size_t size);
rp_result rp_h5_get_numbers(const rp_h5 *h5, const char *object, const char *name, rp_h5_type type,
                            int count, void *numbers);

typedef struct rp_h5_rows {
    hid_t dataset;
    uint64_t rows;
    int comps; // 0: one number a row
    int bytes; // of a number
} rp_h5_rows;

// Open any dataset of rows of numbers.
rp_result rp_h5_open_rows(const rp_h5 *h5, const char *path, rp_h5_rows *rows);
// Open one of which type and extent are known.
rp_result rp_h5_expect_rows(const rp_h5 *h5, const char *path, rp_h5_type type, uint64_t count,
                            int comps, rp_h5_rows *rows);
void rp_h5_close_rows(rp_h5_rows *rows);
// As `type`, which may differ from the one in the file.
rp_result rp_h5_get_rows(const rp_h5 *h5, const rp_h5_rows *rows, uint64_t first, uint64_t count,
                         rp_h5_type type, void *out);
// All of a small dataset of which type and extent are known.
rp_result rp_h5_get_dataset(const rp_h5 *h5, const char *path, rp_h5_type type, uint64_t count,
                            int comps, void *out);
// How many texts there are, and the texts, each of `bytes`.
rp_result rp_h5_count_texts(const rp_h5 *h5, const char *path, int bytes, uint64_t *count);
rp_result rp_h5_get_texts(const rp_h5 *h5, const char *path, int bytes, uint64_t count, void *out);

// "PATH: WHAT": the sentence of a file that is not as it should be
rp_result rp_h5_damaged(const rp_h5 *h5, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
