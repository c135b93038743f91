// Pieces of bodies that break, as meshes: which there are, how each went as a whole since it was
// cut, and who has left its piece.
#include "export/job.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A particle of a piece.
typedef struct member {
    uint64_t id;
    double x[3], mass;
    int piece;
    uint16_t material;
} member;

static int by_id(const void *a, const void *b)
{
    const uint64_t x = ((const member *)a)->id, y = ((const member *)b)->id;
    return (x > y) - (x < y);
}

static rp_result no_memory(void)
{
    return rp_fail(RP_ERR_MEMORY, "no memory for the pieces of bodies");
}

// ---- reading ----

static rp_result read_members(rp_job *job, int64_t frame, member **out, int64_t *count)
{
    rp_job_pieces *p = &job->pieces;
    rp_reader *reader;
    RP_TRY(rp_job_open(job, frame, &reader));
    rp_batch b = {.want = RP_READ_POSITION | RP_READ_ID | RP_READ_MASS};
    p->away = job->def->away > 0.0 ? job->def->away : rp_reader_info(reader)->dx;
    member *list = malloc(((size_t)rp_reader_info(reader)->particles + 1) * sizeof *list);
    rp_result result = list != NULL ? RP_OK : no_memory();
    *count = 0;
    while (result == RP_OK && (result = rp_reader_next(reader, &b)) == RP_OK && b.count > 0) {
        for (int64_t i = 0; i < b.count; i++) {
            const int piece = b.field[i] < p->bodies ? p->of_body[b.field[i]] : -1;
            if (piece >= 0 && b.flags[i] == 0) {
                member *m = &list[(*count)++];
                *m = (member){
                    .id = b.id[i], .mass = b.mass[i], .piece = piece, .material = b.material[i]};
                memcpy(m->x, b.position[i], sizeof m->x);
            }
        }
    }
    rp_batch_free(&b);
    rp_reader_close(reader);
    if (result != RP_OK) {
        free(list);
        return result;
    }
    qsort(list, (size_t)*count, sizeof *list, by_id);
    *out = list;
    return RP_OK;
}

// Meshes that the run has, of bodies that its frames may have.
static rp_result find_pieces(rp_job *job)
{
    rp_job_pieces *p = &job->pieces;
    p->bodies = job->info.bodies;
    p->list = calloc((size_t)p->bodies + 1, sizeof *p->list);
    p->of_body = calloc((size_t)p->bodies + 1, sizeof *p->of_body);
    if (p->list == NULL || p->of_body == NULL) {
        return no_memory();
    }
    for (int b = 0; b < p->bodies; b++) {
        rp_job_piece *piece = &p->list[p->count];
        RP_TRY(rp_record_piece(job->record, b, &piece->surface));
        p->of_body[b] = piece->surface.vertices > 0 ? p->count++ : -1;
        piece->body = b;
    }
    return p->count > 0
               ? RP_OK
               : rp_fail(RP_ERR_ARGUMENT,
                         "export.pieces: %s has no bodies that may break (fracture), or is "
                         "of a version that did not write their pieces",
                         job->folder);
}

// Of the material that it has most of, or a grey.
static void find_colors(rp_job *job, const member *list, int64_t count)
{
    rp_job_pieces *p = &job->pieces;
    for (int i = 0; i < p->count; i++) {
        const double grey[3] = {0.6, 0.6, 0.6};
        memcpy(p->list[i].color, grey, sizeof grey);
    }
    for (int64_t i = 0; i < count; i++) {
        rp_job_piece *piece = &p->list[list[i].piece];
        if (piece->particles++ == 0) {
            rp_record_material_color(job->record, list[i].material, piece->color);
        }
    }
}

// ---- poses ----

// Those that are in both, side by side.
typedef struct both {
    double (*then)[3], (*now)[3], *mass;
    int *body;
    uint64_t *id;
    bool *left;
} both;

static bool make_both(both *b, size_t count)
{
    b->then = malloc((count + 1) * sizeof *b->then);
    b->now = malloc((count + 1) * sizeof *b->now);
    b->mass = malloc((count + 1) * sizeof *b->mass);
    b->body = malloc((count + 1) * sizeof *b->body);
    b->id = malloc((count + 1) * sizeof *b->id);
    b->left = malloc((count + 1) * sizeof *b->left);
    return b->then != NULL && b->now != NULL && b->mass != NULL && b->body != NULL &&
           b->id != NULL && b->left != NULL;
}

static void free_both(both *b)
{
    free(b->then);
    free(b->now);
    free(b->mass);
    free(b->body);
    free(b->id);
    free(b->left);
}

static int64_t join(const member *then, int64_t thens, const member *now, int64_t nows, both *b)
{
    int64_t count = 0, at = 0;
    for (int64_t i = 0; i < nows; i++) {
        for (; at < thens && then[at].id < now[i].id; at++) {
        }
        if (at < thens && then[at].id == now[i].id) {
            memcpy(b->then[count], then[at].x, sizeof then[at].x);
            memcpy(b->now[count], now[i].x, sizeof now[i].x);
            b->mass[count] = now[i].mass;
            b->body[count] = now[i].piece;
            b->id[count++] = now[i].id;
        }
    }
    return count;
}

// A turn and its opposite are the same: of both, that which is closer to the turn before. One that
// has lost all of its particles stays where it was.
static void go_on_from(const rp_fit *before, rp_fit *now)
{
    if (now->particles == 0) {
        memcpy(now->q, before->q, sizeof now->q);
        memcpy(now->shift, before->shift, sizeof now->shift);
    }
    double along = 0.0;
    for (int k = 0; k < 4; k++) {
        along += before->q[k] * now->q[k];
    }
    for (int k = 0; k < 4 && along < 0.0; k++) {
        now->q[k] = -now->q[k];
    }
}

static rp_result fit_frame(rp_job *job, int64_t index, const member *then, int64_t thens)
{
    rp_job_pieces *p = &job->pieces;
    member *now;
    int64_t nows;
    both b = {0};
    RP_TRY(rp_job_go_on(job));
    RP_TRY(read_members(job, job->frame[index], &now, &nows));
    rp_fit *fit = p->fit + index * p->count;
    rp_result result = make_both(&b, (size_t)nows) ? RP_OK : no_memory();
    if (result == RP_OK) {
        const rp_fit_def def = {.count = join(then, thens, now, nows, &b),
                                .then = (const double(*)[3])b.then,
                                .now = (const double(*)[3])b.now,
                                .mass = b.mass,
                                .body = b.body,
                                .away = p->away};
        result = rp_fit_bodies(&def, p->count, fit, b.left);
        for (int64_t i = 0; i < def.count && result == RP_OK; i++) {
            if (b.left[i]) {
                b.id[p->debris_count[index]++] = b.id[i];
            }
        }
    }
    for (int i = 0; i < p->count && result == RP_OK; i++) {
        static const rp_fit rest = {.q = {0.0, 0.0, 0.0, 1.0}};
        go_on_from(index > 0 ? &fit[i - p->count] : &rest, &fit[i]);
    }
    p->debris[index] = b.id;
    b.id = NULL;
    free_both(&b);
    free(now);
    return result;
}

rp_result rp_job_pieces_make(rp_job *job)
{
    rp_job_pieces *p = &job->pieces;
    member *then;
    int64_t thens;
    RP_TRY(find_pieces(job));
    const size_t frames = (size_t)job->frames;
    p->fit = calloc(frames * (size_t)p->count + 1, sizeof *p->fit);
    p->debris = calloc(frames + 1, sizeof *p->debris);
    p->debris_count = calloc(frames + 1, sizeof *p->debris_count);
    if (p->fit == NULL || p->debris == NULL || p->debris_count == NULL) {
        return no_memory();
    }
    RP_TRY(read_members(job, 0, &then, &thens));
    find_colors(job, then, thens);
    rp_result result = RP_OK;
    for (int64_t i = 0; i < job->frames && result == RP_OK; i++) {
        result = fit_frame(job, i, then, thens);
    }
    free(then);
    return result;
}

void rp_job_pieces_free(rp_job *job)
{
    rp_job_pieces *p = &job->pieces;
    for (int i = 0; i < p->count; i++) {
        rp_surface_free(&p->list[i].surface);
    }
    for (int64_t i = 0; i < job->frames && p->debris != NULL; i++) {
        free(p->debris[i]);
    }
    free(p->list);
    free(p->of_body);
    free(p->fit);
    free(p->debris);
    free(p->debris_count);
}

// ---- what they say ----

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int compare_frames(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool rp_job_in_piece(const rp_job *job, int64_t frame, int body, uint64_t id)
{
    const rp_job_pieces *p = &job->pieces;
    if (body >= p->bodies || p->of_body[body] < 0) {
        return false;
    }
    const int64_t *at =
        bsearch(&frame, job->frame, (size_t)job->frames, sizeof frame, compare_frames);
    if (at == NULL) {
        return false;
    }
    const int64_t index = at - job->frame;
    return bsearch(&id, p->debris[index], (size_t)p->debris_count[index], sizeof id, compare_ids) ==
           NULL;
}

rp_pose rp_job_piece_pose(const rp_job *job, int piece, int64_t index)
{
    const rp_fit *f = &job->pieces.fit[index * job->pieces.count + piece];
    rp_pose pose;
    memcpy(pose.position, f->shift, sizeof pose.position);
    memcpy(pose.rotation, f->q, sizeof pose.rotation);
    rp_job_turn(job, pose.position);
    rp_job_turn(job, pose.rotation);
    return pose;
}

void rp_job_place(const rp_job *job, const rp_pose *pose, const float at[3], bool place,
                  float out[3])
{
    double x[3] = {at[0], at[1], at[2]}, t[3];
    const double *q = pose->rotation;
    rp_job_turn(job, x);
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        t[a] = 2.0 * (q[b] * x[c] - q[c] * x[b]);
    }
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const double turned = x[a] + q[3] * t[a] + q[b] * t[c] - q[c] * t[b];
        out[a] = (float)(turned + (place ? pose->position[a] : 0.0));
    }
}

// "vase_12"; as file names and prims want it, and no other body has it.
void rp_job_piece_name(const rp_job *job, int piece, char out[RP_NAME_SIZE + 32])
{
    const int body = job->pieces.list[piece].body;
    const char *own = rp_record_body(job->record, body);
    bool plain = isalpha((unsigned char)own[0]);
    char name[RP_NAME_SIZE];
    snprintf(name, sizeof name, "%s", own);
    for (char *c = name; *c != '\0'; c++) {
        plain = plain && (isalnum((unsigned char)*c) || *c == '.');
        *c = isalnum((unsigned char)*c) ? *c : '_';
    }
    if (plain) {
        snprintf(out, RP_NAME_SIZE + 32, "%s", name);
    } else {
        snprintf(out, RP_NAME_SIZE + 32, "piece%d_%s", body, name);
    }
}

rp_result rp_job_pieces_tables(const rp_job *job)
{
    const rp_job_pieces *p = &job->pieces;
    char path[RP_JOB_PATH], name[RP_NAME_SIZE + 32];
    rp_out o;
    rp_job_path(job, path, "pieces.csv");
    RP_TRY(rp_out_open(&o, job, path));
    rp_out_text(&o, "frame,time_s,piece,x_m,y_m,z_m,qx,qy,qz,qw,misfit_m,particles,debris\n");
    for (int64_t f = 0; f < job->frames; f++) {
        for (int i = 0; i < p->count; i++) {
            const rp_pose at = rp_job_piece_pose(job, i, f);
            const rp_fit *fit = &p->fit[f * p->count + i];
            rp_job_piece_name(job, i, name);
            rp_out_text(
                &o, "%lld,%.17g,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.6g,%lld,%lld\n",
                (long long)job->frame[f], job->time[f], name, at.position[0], at.position[1],
                at.position[2], at.rotation[0], at.rotation[1], at.rotation[2], at.rotation[3],
                fit->misfit, (long long)fit->particles, (long long)fit->debris);
        }
    }
    RP_TRY(rp_out_close(&o));
    rp_job_path(job, path, "debris.csv");
    RP_TRY(rp_out_open(&o, job, path));
    rp_out_text(&o, "frame,id\n");
    for (int64_t f = 0; f < job->frames; f++) {
        for (int64_t i = 0; i < p->debris_count[f]; i++) {
            rp_out_text(&o, "%lld,%llu\n", (long long)job->frame[f],
                        (unsigned long long)p->debris[f][i]);
        }
    }
    return rp_out_close(&o);
}
