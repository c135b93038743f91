// The public side: which frames, where to, and one after the other.
#include "export/job.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COOKIE = 0x9ec7e6 };

static const rp_exporter *const exporters[] = {
    [RP_FORMAT_VTP] = &rp_export_vtp, [RP_FORMAT_PLY] = &rp_export_ply,
    [RP_FORMAT_VDB] = &rp_export_vdb, [RP_FORMAT_USDA] = &rp_export_usda,
    [RP_FORMAT_CSV] = &rp_export_csv,
};

rp_export_def rp_default_export_def(void)
{
    return (rp_export_def){.format = RP_FORMAT_VTP, .last = -1, .every = 1, .cookie = COOKIE};
}

void rp_job_path(const rp_job *job, char out[RP_JOB_PATH], const char *format, ...)
{
    char name[512];
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    snprintf(out, RP_JOB_PATH, "%.7600s/%s", job->out, name);
}

void rp_export_collider_name(const rp_job *job, int index, char out[RP_EXPORT_NAME])
{
    const rp_record_collider *c = rp_record_collider_at(job->record, index);
    char name[RP_NAME_SIZE];
    snprintf(name, sizeof name, "%s", c->name);
    // "collider1_box" must stay free for a collider 1 that is called "box" in another way
    bool plain = isalpha((unsigned char)name[0]) && strncmp(name, "collider", 8) != 0;
    for (char *at = name; *at != '\0'; at++) {
        plain = plain && (isalnum((unsigned char)*at) || *at == '_');
        *at = isalnum((unsigned char)*at) ? *at : '_';
    }
    for (int i = 0; i < job->info.colliders; i++) {
        plain = plain &&
                (i == index || strcmp(rp_record_collider_at(job->record, i)->name, c->name) != 0);
    }
    if (plain) {
        snprintf(out, RP_EXPORT_NAME, "%s", name);
    } else {
        snprintf(out, RP_EXPORT_NAME, "collider%d_%s", index, name);
    }
}

rp_pose rp_job_pose(const rp_job *job, int collider, double frame)
{
    rp_pose pose = rp_record_pose(job->record, collider, frame);
    double length = 0.0;
    rp_job_turn(job, pose.position);
    rp_job_turn(job, pose.rotation); // the axis of a turn is a vector too
    for (int k = 0; k < 4; k++) {
        length += pose.rotation[k] * pose.rotation[k];
    }
    for (int k = 0; k < 4; k++) {
        pose.rotation[k] /= sqrt(length);
    }
    return pose;
}

static rp_result check_def(const rp_export_def *def)
{
    if (def->cookie != COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "export: start from rp_default_export_def()");
    }
    if ((int)def->format < RP_FORMAT_VTP || (int)def->format > RP_FORMAT_CSV) {
        return rp_fail(RP_ERR_ARGUMENT, "export.format: want one of rp_format, got %d",
                       (int)def->format);
    }
    if (def->up < 0 || def->up > 2) {
        return rp_fail(RP_ERR_ARGUMENT, "export.up: want 0, 1 or 2, got %d", def->up);
    }
    if (!(def->voxel >= 0.0 && isfinite(def->voxel))) {
        return rp_fail(RP_ERR_ARGUMENT, "export.voxel: want > 0 m, or 0, got %g", def->voxel);
    }
    if (def->surface && def->format != RP_FORMAT_PLY) {
        return rp_fail(RP_ERR_ARGUMENT, "export.surface: want it with ply, which holds meshes");
    }
    if (!(def->away >= 0.0 && isfinite(def->away))) {
        return rp_fail(RP_ERR_ARGUMENT, "export.away: want > 0 m, or 0, got %g", def->away);
    }
    return RP_OK;
}

static rp_result check_water(const rp_job *job)
{
    bool any = !job->def->surface;
    for (int i = 0; i < job->info.materials; i++) {
        any = any || rp_record_material(job->record, i)->kind == RP_WATER;
    }
    return any ? RP_OK
               : rp_fail(RP_ERR_ARGUMENT, "export.surface: %s has no water (material.water)",
                         job->folder);
}

static rp_result list_frames(rp_job *job)
{
    char path[RP_JOB_PATH];
    const rp_export_def *def = job->def;
    const int64_t last = def->last < 0 ? job->info.last : def->last;
    if (job->info.last < 0) {
        return rp_fail(RP_ERR_FILE, "%s has no frames yet", job->folder);
    }
    if (last > job->info.last || def->first < 0 || def->first > last || def->every < 1) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "export.frames: want frames from 0 to %lld, got %lld to %lld, every %lld",
                       (long long)job->info.last, (long long)def->first, (long long)last,
                       (long long)def->every);
    }
    const size_t most = (size_t)((last - def->first) / def->every + 1);
    job->frame = malloc(most * sizeof *job->frame);
    job->time = calloc(most, sizeof *job->time);
    if (job->frame == NULL || job->time == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the list of frames");
    }
    for (int64_t f = def->first; f <= last; f += def->every) {
        if (rp_record_frame(job->record, f, path, sizeof path)) {
            job->frame[job->frames++] = f;
        }
    }
    return job->frames > 0 ? RP_OK
                           : rp_fail(RP_ERR_FILE, "%s has none of these frames", job->folder);
}

rp_result rp_job_go_on(const rp_job *job)
{
    return job->def->stop != NULL && job->def->stop(job->def->context)
               ? rp_fail(RP_ERR_STOPPED, "the export into %s was stopped", job->out)
               : RP_OK;
}

static rp_result export_frames(rp_job *job)
{
    const rp_exporter *e = job->exporter;
    RP_TRY(job->def->pieces ? rp_job_pieces_make(job) : RP_OK);
    if (e->start != NULL) {
        RP_TRY(e->start(job));
    }
    for (int64_t i = 0; i < job->frames; i++) {
        rp_cargo cargo;
        RP_TRY(rp_job_go_on(job));
        RP_TRY(rp_cargo_load(job, job->frame[i], &cargo));
        job->time[i] = cargo.time;
        const rp_result result = e->frame(job, i, &cargo);
        rp_cargo_free(&cargo);
        RP_TRY(result);
        if (job->def->progress != NULL) {
            job->def->progress(job->def->context, i + 1, job->frames);
        }
    }
    RP_TRY(job->def->pieces ? rp_job_pieces_tables(job) : RP_OK);
    return e->finish != NULL ? e->finish(job) : RP_OK;
}

rp_result rp_export(const char *folder, const rp_export_def *def, const char *out)
{
    RP_TRY(check_def(def));
    rp_job job = {.def = def, .exporter = exporters[def->format], .folder = folder, .out = out};
    RP_TRY(rp_record_open(folder, &job.record));
    rp_record_get_info(job.record, &job.info);
    job.z_up = (def->up != 0 ? def->up : job.info.up) == 2;
    job.turn = (job.z_up ? 2 : 1) - job.info.up;
    rp_result result = check_water(&job);
    result = result == RP_OK ? list_frames(&job) : result;
    const bool made = result == RP_OK && mkdir(out, 0777) == 0;
    if (result == RP_OK && !made && errno != EEXIST) {
        result = rp_file_cannot("make", out, errno);
    }
    result = result == RP_OK ? export_frames(&job) : result;
    if (made && result != RP_OK) {
        rmdir(out); // which it does only when nothing was written
    }
    if (job.drop != NULL) {
        job.drop(&job);
    }
    rp_job_pieces_free(&job);
    rp_record_close(job.record);
    free(job.frame);
    free(job.time);
    return result;
}
