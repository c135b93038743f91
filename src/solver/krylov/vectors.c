#include "solver/krylov/vectors.h"

#include "base/threads.h"

#include <string.h>

void rp_krylov_free(rp_krylov *krylov, const rp_allocator *a)
{
    rp_buffer_free(&krylov->vectors, a);
    rp_buffer_free(&krylov->partial, a);
}

int64_t rp_krylov_pieces(int64_t length) { return (length + RP_PIECE - 1) / RP_PIECE; }

// Does a loop over pieces pay for waking threads? A matter of speed: no sum depends on it.
enum { PIECES_AT_ONCE = 8 };

typedef struct loop {
    const rp_vectors *v;
    const double *x, *from, *c;
    double *y;
    int64_t stride;
    int count;
    double scale;
} loop;

static int64_t end_of(const rp_vectors *v, int64_t piece)
{
    const int64_t end = (piece + 1) * RP_PIECE;
    return end < v->length ? end : v->length;
}

// In four strands, so that it does not wait for one addition after the other.
static double dot_of_piece(const double *x, const double *y, int64_t count)
{
    double sum[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += x[i + k] * y[i + k];
        }
    }
    for (; i < count; i++) {
        sum[0] += x[i] * y[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void dots_piece(void *context, int64_t piece, int thread)
{
    (void)thread;
    const loop *j = context;
    const int64_t first = piece * RP_PIECE, count = end_of(j->v, piece) - first;
    for (int i = 0; i < j->count; i++) {
        j->v->partial[piece * j->count + i] =
            dot_of_piece(j->x + i * j->stride + first, j->from + first, count);
    }
}

void rp_vectors_dots(const rp_vectors *v, const double *x, int64_t stride, int count,
                     const double *y, double *out)
{
    loop j = {.v = v, .x = x, .from = y, .stride = stride, .count = count};
    rp_parallel_for(v->threads, v->pieces, PIECES_AT_ONCE, dots_piece, &j);
    for (int i = 0; i < count; i++) {
        out[i] = 0.0;
        for (int64_t p = 0; p < v->pieces; p++) {
            out[i] += v->partial[p * count + i];
        }
    }
}

double rp_vectors_dot(const rp_vectors *v, const double *x, const double *y)
{
    double out;
    rp_vectors_dots(v, x, 0, 1, y, &out);
    return out;
}

double rp_krylov_dot(const double *x, const double *y, int64_t length, int threads, double *partial)
{
    const rp_vectors v = {length, rp_krylov_pieces(length), threads, partial};
    return rp_vectors_dot(&v, x, y);
}

static void combine_piece(void *context, int64_t piece, int thread)
{
    (void)thread;
    const loop *j = context;
    const int64_t first = piece * RP_PIECE, end = end_of(j->v, piece);
    if (j->scale == 0.0) {
        memset(j->y + first, 0, sizeof(double) * (size_t)(end - first));
    } else if (j->scale != 1.0) {
        for (int64_t n = first; n < end; n++) {
            j->y[n] *= j->scale;
        }
    }
    for (int i = 0; i < j->count; i++) {
        const double c = j->c[i], *x = j->x + i * j->stride;
        for (int64_t n = first; n < end; n++) {
            j->y[n] += c * x[n];
        }
    }
}

void rp_vectors_combine(const rp_vectors *v, double scale, double *y, const double *c,
                        const double *x, int64_t stride, int count)
{
    loop j = {.v = v, .x = x, .c = c, .y = y, .stride = stride, .count = count, .scale = scale};
    rp_parallel_for(v->threads, v->pieces, PIECES_AT_ONCE, combine_piece, &j);
}

void rp_vectors_copy(const rp_vectors *v, const double *x, double *y)
{
    memcpy(y, x, sizeof(double) * (size_t)v->length);
}

rp_result rp_vectors_get(rp_krylov *krylov, const rp_allocator *a, const rp_krylov_job *job,
                         int vectors, int sums, rp_vectors *out, double **first, int64_t *stride)
{
    enum { LINE = RP_CACHE_LINE / sizeof(double) };
    *stride = (job->length + LINE - 1) / LINE * LINE;
    const size_t bytes = sizeof(double) * (size_t)*stride * (size_t)vectors;
    const size_t partial = sizeof(double) * (size_t)rp_krylov_pieces(job->length) * (size_t)sums;
    if (krylov->vectors.bytes < bytes) {
        RP_TRY(rp_buffer_reserve(&krylov->vectors, a, bytes + bytes / 4, 0, "Krylov vectors"));
    }
    if (krylov->partial.bytes < partial) {
        RP_TRY(rp_buffer_reserve(&krylov->partial, a, partial + partial / 4, 0,
                                 "products of Krylov vectors"));
    }
    *out = (rp_vectors){.length = job->length,
                        .pieces = rp_krylov_pieces(job->length),
                        .threads = job->threads,
                        .partial = krylov->partial.data};
    *first = krylov->vectors.data;
    return RP_OK;
}

rp_result rp_krylov_residual(const rp_vectors *v, const rp_krylov_job *job, const double *b,
                             double *x, double *r)
{
    if (!job->guess) {
        memset(x, 0, sizeof(double) * (size_t)v->length);
        rp_vectors_copy(v, b, r);
        return RP_OK;
    }
    RP_TRY(job->matrix.apply(job->matrix.context, x, r));
    rp_vectors_combine(v, -1.0, r, &(double){1.0}, b, 0, 1);
    return RP_OK;
}

rp_result rp_krylov_precondition(const rp_vectors *v, const rp_krylov_job *job, const double *r,
                                 double *z)
{
    if (job->preconditioner.apply == NULL) {
        rp_vectors_copy(v, r, z);
        return RP_OK;
    }
    return job->preconditioner.apply(job->preconditioner.context, r, z);
}
