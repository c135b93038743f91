#include "team.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct team team;

typedef struct member {
    rp_comm comm; // first: what a rank is handed
    team *team;
    const rp_bytes *out;        // [size]: what it has for each
    void *in[RP_RANK_LIMIT];    // what it got
    size_t room[RP_RANK_LIMIT]; // bytes of it
    pthread_t thread;
} member;

struct team {
    member *member;
    pthread_barrier_t barrier;
    void (*body)(rp_comm *comm, void *context);
    void *context;
};

static void *get(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes);
    if (memory == NULL) {
        fprintf(stderr, "out of memory: a team\n");
        abort();
    }
    return memory;
}

// All have written, then all read, and nobody goes on before the last has read.
static rp_result exchange(rp_comm *comm, const rp_bytes *out, rp_bytes *in)
{
    member *own = (member *)comm;
    own->out = out;
    pthread_barrier_wait(&own->team->barrier);
    for (int r = 0; r < comm->size; r++) {
        const rp_bytes *letter = &own->team->member[r].out[comm->rank];
        if (own->room[r] < letter->bytes) {
            own->room[r] = letter->bytes;
            own->in[r] = get(own->in[r], letter->bytes);
        }
        if (letter->bytes > 0) {
            memcpy(own->in[r], letter->data, letter->bytes);
        }
        in[r] = (rp_bytes){own->in[r], letter->bytes};
    }
    pthread_barrier_wait(&own->team->barrier);
    return RP_OK;
}

static void *take_part(void *context)
{
    member *own = context;
    own->team->body(&own->comm, own->team->context);
    return NULL;
}

void team_run(int size, void (*body)(rp_comm *comm, void *context), void *context)
{
    team t = {.body = body, .context = context};
    t.member = get(NULL, (size_t)size * sizeof *t.member);
    memset(t.member, 0, (size_t)size * sizeof *t.member);
    pthread_barrier_init(&t.barrier, NULL, (unsigned)size);
    for (int r = 0; r < size; r++) {
        t.member[r].comm = (rp_comm){.rank = r, .size = size, .exchange = exchange};
        t.member[r].team = &t;
        if (pthread_create(&t.member[r].thread, NULL, take_part, &t.member[r]) != 0) {
            fprintf(stderr, "no thread: a team\n");
            abort();
        }
    }
    for (int r = 0; r < size; r++) {
        pthread_join(t.member[r].thread, NULL);
    }
    for (int r = 0; r < size; r++) {
        for (int k = 0; k < size; k++) {
            free(t.member[r].in[k]);
        }
    }
    pthread_barrier_destroy(&t.barrier);
    free(t.member);
}
