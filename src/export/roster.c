#include "export/roster.h"

#include <stdlib.h>
#include <string.h>

// Those of the list who are new join, as of frame `index`. Both are in the order of ids.
static rp_result join(rp_roster *r, const uint64_t *id, int64_t count, int64_t index)
{
    int64_t fresh = 0, at = 0;
    for (int64_t i = 0; i < count; i++) {
        for (; at < r->count && r->id[at] < id[i]; at++) {
        }
        fresh += at == r->count || r->id[at] != id[i];
    }
    if (fresh == 0) {
        return RP_OK;
    }
    const size_t room = (size_t)(r->count + fresh);
    uint64_t *all = malloc(room * sizeof *all);
    int64_t *first = malloc(room * sizeof *first);
    if (all == NULL || first == NULL) {
        free(all);
        free(first);
        return rp_fail(RP_ERR_MEMORY, "no memory to list %zu particles", room);
    }
    int64_t n = 0;
    at = 0;
    for (int64_t i = 0; i < count || at < r->count; n++) {
        const bool old = at < r->count && (i == count || r->id[at] <= id[i]);
        i += i < count && (!old || r->id[at] == id[i]);
        all[n] = old ? r->id[at] : id[i - 1];
        first[n] = old ? r->first[at++] : index;
    }
    free(r->id);
    free(r->first);
    r->id = all;
    r->first = first;
    r->count = n;
    return RP_OK;
}

static void copy_row(const rp_cargo *from, int64_t i, rp_cargo *to, int64_t k)
{
    memcpy(to->position[k], from->position[i], sizeof *to->position);
    memcpy(to->velocity[k], from->velocity[i], sizeof *to->velocity);
    memcpy(to->color[k], from->color[i], sizeof *to->color);
    to->radius[k] = from->radius[i];
    to->mass[k] = from->mass[i];
    to->id[k] = from->id[i];
    to->material[k] = from->material[i];
    for (int e = 0; e < to->extras; e++) {
        const size_t comps = (size_t)to->extra[e].comps;
        memcpy(to->extra[e].data + comps * (size_t)k, from->extra[e].data + comps * (size_t)i,
               comps * sizeof(float));
    }
}

// As `like`, with room for all.
static rp_result make_alike(const rp_roster *r, const rp_cargo *like, rp_cargo *out)
{
    *out = *like;
    out->position = NULL;
    out->velocity = NULL;
    out->radius = out->mass = NULL;
    out->id = NULL;
    out->material = NULL;
    out->color = NULL;
    out->count = r->count;
    return rp_cargo_make(out);
}

// Those who are first seen in frame `index`.
static rp_result meet(const rp_job *job, rp_roster *r, int64_t index)
{
    rp_cargo c;
    RP_TRY(rp_cargo_load(job, job->frame[index], &c));
    rp_result result = r->known.position != NULL ? RP_OK : make_alike(r, &c, &r->known);
    for (int64_t k = 0, i = 0; k < r->count && result == RP_OK; k++) {
        for (; i < c.count && c.id[i] < r->id[k]; i++) {
        }
        if (r->first[k] == index && i < c.count && c.id[i] == r->id[k]) {
            copy_row(&c, i, &r->known, k);
        }
    }
    rp_cargo_free(&c);
    return result;
}

rp_result rp_roster_make(const rp_job *job, rp_roster *r)
{
    *r = (rp_roster){0};
    int64_t least = INT64_MAX;
    for (int64_t f = 0; f < job->frames; f++) {
        uint64_t *id;
        int64_t count;
        RP_TRY(rp_job_go_on(job));
        RP_TRY(rp_cargo_ids(job, job->frame[f], &id, &count));
        least = count < least ? count : least;
        const rp_result result = join(r, id, count, f);
        free(id);
        RP_TRY(result);
    }
    r->changes = least < r->count;
    bool *anew = calloc((size_t)job->frames + 1, sizeof *anew);
    if (anew == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for %lld frames", (long long)job->frames);
    }
    for (int64_t k = 0; k < r->count; k++) {
        anew[r->first[k]] = true;
    }
    rp_result result = RP_OK;
    for (int64_t f = 0; f < job->frames && r->changes && result == RP_OK; f++) {
        result = anew[f] ? meet(job, r, f) : RP_OK;
        result = result == RP_OK ? rp_job_go_on(job) : result;
    }
    free(anew);
    return result;
}

void rp_roster_free(rp_roster *r)
{
    free(r->id);
    free(r->first);
    rp_cargo_free(&r->known);
    *r = (rp_roster){0};
}

rp_result rp_roster_fill(rp_roster *r, rp_cargo *c)
{
    rp_cargo all;
    if (!r->changes) {
        return RP_OK;
    }
    const rp_result result = make_alike(r, c, &all);
    for (int64_t k = 0, i = 0; k < r->count && result == RP_OK; k++) {
        const bool there = i < c->count && c->id[i] == r->id[k];
        if (there) {
            copy_row(c, i++, &r->known, k);
        }
        copy_row(&r->known, k, &all, k);
        if (!there) {
            all.radius[k] = 0.0f;
            memset(all.velocity[k], 0, sizeof *all.velocity);
        }
    }
    rp_cargo_free(c);
    *c = all; // what was made of it, or nothing
    return result;
}
