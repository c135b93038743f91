// Ranks: worlds that are parts of one, each with memory of its own. All of them make the same calls
// in the same order; what one has to tell another goes through exchange(), and nothing else does.
#pragma once

#include "repose/base.h"

#include <stdbool.h>
#include <stddef.h>

enum { RP_RANK_LIMIT = 1024 };

typedef struct rp_bytes {
    const void *data;
    size_t bytes;
} rp_bytes;

typedef struct rp_comm rp_comm;
struct rp_comm {
    int rank, size;
    // Hands out[r] to every rank r and takes what each of them has for this one: in[r], aligned as
    // malloc() does and good until the next call. None of it lies in out[], which is the caller's
    // again on return, not even what a rank has for itself. All ranks call it at the same time, and
    // when it fails, it fails on all.
    rp_result (*exchange)(rp_comm *comm, const rp_bytes *out, rp_bytes *in);
};

// Nobody to talk to: NULL is the usual case.
static inline bool rp_comm_alone(const rp_comm *comm) { return comm == NULL || comm->size == 1; }
