// OpenVDB volumes, by the plugin.
#include "export/vdb.h"

#include "export/job.h"

#include <repose/plugin.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// What is kept from the start to the end.
typedef struct keep {
    const rp_vdb_plugin *plugin;
    char (*text)[64];
    const char **name; // of materials that get grids of their own
    int materials;
} keep;

static void drop(rp_job *job)
{
    keep *k = job->state;
    free(k->text);
    free(k->name);
    free(k);
}

// Of several materials that weigh something, each; of one alone, none. Letters, digits and
// underscores; a number makes a name unique.
static rp_result name_materials(const rp_job *job, keep *k)
{
    const int count = job->info.materials;
    k->text = calloc((size_t)count + 1, sizeof *k->text);
    k->name = calloc((size_t)count + 1, sizeof *k->name);
    if (k->text == NULL || k->name == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the names of %d materials", count);
    }
    int named = 0;
    for (int i = 0; i < count; i++) {
        const rp_material_def *m = rp_record_material(job->record, i);
        bool again = false;
        for (int j = 0; j < count; j++) {
            again =
                again || (j != i && strcmp(rp_record_material(job->record, j)->name, m->name) == 0);
        }
        snprintf(k->text[i], sizeof k->text[i], again ? "%s_%d" : "%s", m->name, i);
        for (char *c = k->text[i]; *c != '\0'; c++) {
            *c = isalnum((unsigned char)*c) ? *c : '_';
        }
        k->name[i] = m->density > 0.0 ? k->text[i] : NULL;
        named += k->name[i] != NULL;
    }
    k->materials = named > 1 ? count : 0;
    return RP_OK;
}

static rp_result start(rp_job *job)
{
    const void *table;
    RP_TRY(rp_plugin_open("repose-vdb.so", "rp_vdb_plugin_get", RP_VDB_VERSION,
                          "vdb needs OpenVDB (Debian: install libopenvdb-dev, then build again)",
                          &table));
    keep *k = calloc(1, sizeof *k);
    if (k == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for volumes");
    }
    k->plugin = table;
    job->state = k;
    job->drop = drop;
    return name_materials(job, k);
}

static rp_result write_frame(rp_job *job, int64_t index, rp_cargo *c)
{
    const keep *k = job->state;
    char path[RP_JOB_PATH], why[512] = "";
    rp_file file;
    const rp_vdb_particles p = {
        .count = c->count,
        .position = c->position,
        .velocity = c->velocity,
        .radius = c->radius,
        .mass = c->mass,
        .material = c->material,
        .name = k->name,
        .materials = k->materials,
        .voxel = job->def->voxel > 0.0 ? job->def->voxel : 0.5 * c->dx,
        .time = c->time,
        .fps = c->fps,
        .frame = c->frame,
        .z_up = job->z_up,
    };
    rp_job_path(job, path, "particles.%04lld.vdb", (long long)job->frame[index]);
    // the plugin writes; that the file is whole and on the disk before it gets its name is up to us
    RP_TRY(rp_file_replace(&file, path));
    const rp_result result = k->plugin->write(file.tmp, &p, why, sizeof why) == 0
                                 ? RP_OK
                                 : rp_fail(RP_ERR_FILE, "cannot write %s: %s", path, why);
    return rp_file_end(&file, result);
}

static rp_result finish(rp_job *job)
{
    RP_TRY(rp_export_pieces(job));
    return rp_export_colliders(job);
}

const rp_exporter rp_export_vdb = {
    .name = "vdb", .matter_only = true, .start = start, .frame = write_frame, .finish = finish};
