#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void print_duration(double seconds, char out[32])
{
    if (!(seconds >= 0.0 && seconds < 1e8)) {
        strcpy(out, "unknown");
    } else if (seconds < 9.95) {
        snprintf(out, 32, "%.1f s", seconds);
    } else if (seconds < 99.5) {
        snprintf(out, 32, "%.0f s", seconds);
    } else if (seconds < 5940.0) {
        const int whole = (int)round(seconds);
        snprintf(out, 32, "%d min %02d s", whole / 60, whole % 60);
    } else {
        const int minutes = (int)round(seconds / 60.0);
        snprintf(out, 32, "%d h %02d min", minutes / 60, minutes % 60);
    }
}

void progress_begin(progress *p, progress_style style, FILE *out)
{
    *p = (progress){.out = out, .style = style, .began = wall_clock(), .first_part = -1.0};
}

typedef struct rates {
    double elapsed, left; // [s]
    double work;          // particle-steps per second
} rates;

static rates rates_of(const progress *p, const rp_run_progress *at, double part)
{
    rates r = {.elapsed = wall_clock() - p->began, .left = NAN};
    const double done = part - p->first_part;
    if (r.elapsed > 0.0) {
        r.work = p->work / r.elapsed;
    }
    if (done > 0.0) {
        r.left = r.elapsed * ((double)at->frames - part) / done;
    }
    return r;
}

static void print_json(const progress *p, const rp_run_progress *at, const rates *r)
{
    const rp_stats *s = at->stats;
    fprintf(p->out,
            "{\"frame\":%" PRId64 ",\"frames\":%" PRId64 ",\"time\":%.17g,\"step\":%" PRId64
            ",\"dt\":%.17g,\"limiter\":\"%s\",\"particles\":%" PRId64
            ",\"kinetic\":%.17g,\"elastic\":%.17g,\"particle_steps_per_s\":%.6g,\"seconds\":%.3f",
            s->frame, at->frames, s->time, s->step, s->dt, s->limiter, s->particles,
            at->totals->kinetic, at->totals->elastic, r->work, r->elapsed);
    if (isfinite(r->left)) {
        fprintf(p->out, ",\"seconds_left\":%.3f", r->left);
    }
    fputs("}\n", p->out);
    fflush(p->out);
}

static void print_line(progress *p, const rp_run_progress *at, const rates *r)
{
    const rp_stats *s = at->stats;
    char left[32], line[256];
    print_duration(r->left, left);
    snprintf(line, sizeof line,
             "frame %" PRId64 " of %" PRId64 "  t %.4g s  dt %.3g s (%s)  %.2f M particle-steps/s  "
             "%s left",
             s->frame, at->frames, s->time, s->dt, s->limiter, 1e-6 * r->work, left);
    if (p->style == PROGRESS_TERMINAL) {
        fprintf(p->out, "\r%s\033[K", line);
        p->line_open = true;
    } else {
        fprintf(p->out, "%s\n", line);
    }
    fflush(p->out);
}

void progress_step(progress *p, const rp_run_progress *at, double fps)
{
    const rp_stats *s = at->stats;
    const double part = s->time * fps;
    if (p->first_part < 0.0) {
        p->first_part = part;
        p->last_step = s->step;
    }
    p->work += (double)(s->step - p->last_step) * (double)s->particles;
    p->last_step = s->step;
    if (p->style == PROGRESS_NONE) {
        return;
    }
    const double now = wall_clock();
    const bool due = p->style == PROGRESS_TERMINAL && now - p->shown > 0.1;
    if (at->totals == NULL && !due) {
        return;
    }
    const rates r = rates_of(p, at, part);
    if (p->style == PROGRESS_JSON) {
        print_json(p, at, &r);
    } else {
        print_line(p, at, &r);
    }
    p->shown = now;
}

void progress_end(progress *p)
{
    if (p->line_open) {
        fputc('\n', p->out);
        p->line_open = false;
    }
}
