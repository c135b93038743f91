#include "sim/places.h"

#include "base/result.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 24 }; // places that are kept in all: 400 MB

typedef struct filling {
    rp_filling_key key;
    double (*x)[3]; // NULL: forgotten, or too many
    int64_t count, room;
} filling;

struct rp_places {
    filling *filling;
    int fillings, room;
    int64_t kept; // places of all
};

rp_result rp_places_create(rp_places **places)
{
    *places = calloc(1, sizeof **places);
    return *places != NULL ? RP_OK : rp_fail(RP_ERR_MEMORY, "out of memory: places of particles");
}

static void forget(rp_places *p, filling *f)
{
    p->kept -= f->x != NULL ? f->count : 0;
    free(f->x);
    f->x = NULL;
    f->count = f->room = 0;
}

void rp_places_destroy(rp_places *p)
{
    for (int i = 0; p != NULL && i < p->fillings; i++) {
        free(p->filling[i].x);
    }
    if (p != NULL) {
        free(p->filling);
        free(p);
    }
}

static bool same_key(const rp_filling_key *a, const rp_filling_key *b)
{
    return a->call == b->call && a->first_id == b->first_id && a->seed == b->seed &&
           a->spacing == b->spacing && a->jitter == b->jitter && a->volume == b->volume &&
           a->sampling == b->sampling;
}

static filling *find(rp_places *p, const rp_filling_key *key)
{
    for (int i = 0; i < p->fillings; i++) {
        if (p->filling[i].key.call == key->call) {
            return &p->filling[i];
        }
    }
    return NULL;
}

void rp_places_begin(rp_places *p, const rp_filling_key *key)
{
    filling *f = find(p, key);
    if (f == NULL && p->fillings == p->room) {
        filling *more = realloc(p->filling, (size_t)(2 * p->room + 8) * sizeof *more);
        if (more == NULL) {
            return; // they are found again
        }
        p->filling = more;
        p->room = 2 * p->room + 8;
    }
    if (f == NULL) {
        f = &p->filling[p->fillings++];
        *f = (filling){0};
    }
    forget(p, f);
    f->key = *key;
    f->room = 1024;
    f->x = malloc((size_t)f->room * sizeof *f->x);
    // the one that is noted is the last
    const filling last = *f;
    *f = p->filling[p->fillings - 1];
    p->filling[p->fillings - 1] = last;
}

void rp_places_note(rp_places *p, const double x[3])
{
    filling *f = p->fillings > 0 ? &p->filling[p->fillings - 1] : NULL;
    if (f == NULL || f->x == NULL) {
        return;
    }
    if (f->count == f->room && p->kept < MOST) {
        void *more = realloc(f->x, (size_t)(2 * f->room) * sizeof *f->x);
        if (more == NULL) {
            forget(p, f);
            return;
        }
        f->x = more;
        f->room *= 2;
    }
    if (p->kept >= MOST) {
        forget(p, f);
        return;
    }
    memcpy(f->x[f->count++], x, sizeof *f->x);
    p->kept++;
}

bool rp_places_visit(rp_places *p, const rp_filling_key *key, bool last, rp_sample_visit visit,
                     void *context, rp_result *result)
{
    filling *f = find(p, key);
    if (f == NULL || f->x == NULL || !same_key(&f->key, key)) {
        return false;
    }
    *result = RP_OK;
    for (int64_t i = 0; i < f->count && *result == RP_OK; i++) {
        *result = visit(context, f->x[i]);
    }
    if (last) {
        forget(p, f);
    }
    return true;
}
