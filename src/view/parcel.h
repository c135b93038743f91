// What goes to a browser. A parcel is a few pieces of memory that are sent one after the other as
// one message; pieces are shared by all clients that get the same frame, and by the cache.
//
// A text parcel is JSON. A binary one is: the length of a JSON text (uint32), the text, blanks up
// to a multiple of four bytes, and numbers that the text describes.
#pragma once

#include "repose/base.h"

#include <jansson.h>
#include <stdatomic.h>
#include <sys/uio.h>

typedef struct rp_blob {
    atomic_int users;
    size_t size;
    _Alignas(16) unsigned char data[];
} rp_blob;

rp_blob *rp_blob_make(size_t size); // with one user; NULL: out of memory
rp_blob *rp_blob_share(rp_blob *blob);
void rp_blob_release(rp_blob *blob); // NULL will do

enum { RP_PARCEL_PIECES = 3 };

typedef struct rp_parcel {
    rp_blob *piece[RP_PARCEL_PIECES]; // NULL: there are no more
    bool binary;
} rp_parcel;

size_t rp_parcel_size(const rp_parcel *parcel);
// What is left of it from `offset` on. @return how many pieces
int rp_parcel_rest(const rp_parcel *parcel, size_t offset, struct iovec out[RP_PARCEL_PIECES]);
rp_parcel rp_parcel_share(const rp_parcel *parcel);
void rp_parcel_release(rp_parcel *parcel);

// Text as JSON has it: what is not UTF-8, such as the name of an odd folder, becomes question
// marks.
json_t *rp_json_text(const char *text);

// Both take the JSON over; a parcel without pieces when memory runs out.
rp_parcel rp_parcel_text(json_t *json);
rp_parcel rp_parcel_binary(json_t *json, rp_blob *first, rp_blob *second);
