// USD as text: /Particles of type Points and /Colliders with a Mesh each. Time codes are the run's
// frame numbers. While there are few samples all of them go into run.usda; beyond that, or when
// asked for, each frame is a file of its own and run.usda joins them by value clips.
#include "export/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 1000000 }; // particles of all frames together

// What is kept until the end when everything goes into one file.
typedef struct keep {
    rp_cargo *cargo;
    int64_t count;
} keep;

// ---- attributes ----

typedef enum attribute { POINTS, VELOCITIES, WIDTHS, IDS, COLORS, EXTENT, EXTRA } attribute;

static float linear(unsigned char c)
{
    const float v = (float)c / 255.0f;
    return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
}

static void put_declaration(rp_out *o, const rp_cargo *c, int which)
{
    static const char *const text[] = {
        "point3f[] points", "vector3f[] velocities",           "float[] widths",
        "int64[] ids",      "color3f[] primvars:displayColor", "float3[] extent"};
    if (which < EXTRA) {
        rp_out_text(o, "    %s", text[which]);
    } else {
        const rp_cargo_extra *e = &c->extra[which - EXTRA];
        rp_out_text(o, "    %s primvars:%s", e->comps == 3 ? "float3[]" : "float[]", e->name);
    }
}

// What stands behind the declaration of a value without samples.
static void put_metadata(rp_out *o, const rp_cargo *c, int which)
{
    const int comps = which < EXTRA ? 1 : c->extra[which - EXTRA].comps;
    if (which == COLORS || which >= EXTRA) {
        rp_out_text(o, " (\n        interpolation = \"vertex\"\n");
        if (which >= EXTRA && comps != 1 && comps != 3) {
            rp_out_text(o, "        elementSize = %d\n", comps);
        }
        rp_out_text(o, "    )");
    } else if (which == WIDTHS) {
        rp_out_text(o, " (\n        interpolation = \"vertex\"\n    )");
    }
    rp_out_text(o, "\n");
}

static void put_value(rp_out *o, const rp_cargo *c, int which, int64_t i)
{
    const double *x = c->position[i];
    const float *v = c->velocity[i];
    const unsigned char *k = c->color[i];
    switch (which) {
    case POINTS:
        rp_out_text(o, "(%.9g, %.9g, %.9g)", x[0], x[1], x[2]);
        return;
    case VELOCITIES:
        rp_out_text(o, "(%.9g, %.9g, %.9g)", (double)v[0], (double)v[1], (double)v[2]);
        return;
    case WIDTHS:
        rp_out_text(o, "%.9g", 2.0 * (double)c->radius[i]);
        return;
    case IDS:
        rp_out_text(o, "%lld", (long long)c->id[i]);
        return;
    case COLORS:
        rp_out_text(o, "(%.4g, %.4g, %.4g)", (double)linear(k[0]), (double)linear(k[1]),
                    (double)linear(k[2]));
        return;
    default: {
        const rp_cargo_extra *e = &c->extra[which - EXTRA];
        const float *f = &e->data[i * e->comps];
        if (e->comps == 3) {
            rp_out_text(o, "(%.9g, %.9g, %.9g)", (double)f[0], (double)f[1], (double)f[2]);
            return;
        }
        for (int q = 0; q < e->comps; q++) {
            rp_out_text(o, "%s%.9g", q > 0 ? ", " : "", (double)f[q]);
        }
    }
    }
}

static void put_sample(rp_out *o, const rp_cargo *c, int which)
{
    rp_out_text(o, "        %lld: [", (long long)c->frame);
    if (which == EXTENT) {
        double low[3], high[3];
        for (int a = 0; a < 3; a++) {
            low[a] = c->count > 0 ? INFINITY : 0.0;
            high[a] = c->count > 0 ? -INFINITY : 0.0;
            for (int64_t i = 0; i < c->count; i++) {
                low[a] = fmin(low[a], c->position[i][a] - (double)c->radius[i]);
                high[a] = fmax(high[a], c->position[i][a] + (double)c->radius[i]);
            }
        }
        rp_out_text(o, "(%.9g, %.9g, %.9g), (%.9g, %.9g, %.9g)", low[0], low[1], low[2], high[0],
                    high[1], high[2]);
    }
    for (int64_t i = 0; i < c->count && which != EXTENT; i++) {
        if (i > 0) {
            rp_out_text(o, ", ");
        }
        put_value(o, c, which, i);
    }
    rp_out_text(o, "],\n");
}

static int attributes(const rp_cargo *c) { return EXTRA + c->extras; }

static void put_samples(rp_out *o, const rp_cargo *cargo, int64_t count)
{
    for (int which = 0; which < attributes(&cargo[0]); which++) {
        if (which == COLORS || which == WIDTHS || which >= EXTRA) {
            put_declaration(o, &cargo[0], which);
            put_metadata(o, &cargo[0], which);
        }
        put_declaration(o, &cargo[0], which);
        rp_out_text(o, ".timeSamples = {\n");
        for (int64_t i = 0; i < count; i++) {
            put_sample(o, &cargo[i], which);
        }
        rp_out_text(o, "    }\n");
    }
}

// ---- layers ----

static void put_head(rp_out *o, const rp_job *job)
{
    rp_out_text(o,
                "#usda 1.0\n(\n    defaultPrim = \"Particles\"\n    metersPerUnit = 1\n"
                "    upAxis = \"%s\"\n    startTimeCode = %lld\n    endTimeCode = %lld\n"
                "    timeCodesPerSecond = %.17g\n    framesPerSecond = %.17g\n)\n\n",
                job->def->z_up ? "Z" : "Y", (long long)job->frame[0],
                (long long)job->frame[job->frames - 1], job->info.fps, job->info.fps);
}

static void put_mesh(rp_out *o, const rp_job *job, int index)
{
    const rp_record_collider *c = rp_record_collider_at(job->record, index);
    const rp_surface *s = &c->surface;
    char name[64];
    rp_export_collider_name(job, index, name);
    rp_out_text(o,
                "    def Mesh \"%s\"\n    {\n        uniform token subdivisionScheme = \"none\"\n",
                name);
    if (c->look == RP_LOOK_HIDDEN) {
        rp_out_text(o, "        token visibility = \"invisible\"\n");
    }
    rp_out_text(o, "        color3f[] primvars:displayColor = [(%.4g, %.4g, %.4g)]\n",
                (double)linear((unsigned char)(255.0 * c->color[0])),
                (double)linear((unsigned char)(255.0 * c->color[1])),
                (double)linear((unsigned char)(255.0 * c->color[2])));
    if (c->look == RP_LOOK_GLASS) {
        rp_out_text(o, "        float[] primvars:displayOpacity = [0.2]\n");
    }
    rp_out_text(o, "        int[] faceVertexCounts = [");
    for (int64_t i = 0; i < s->triangles; i++) {
        rp_out_text(o, i > 0 ? ", 3" : "3");
    }
    rp_out_text(o, "]\n        int[] faceVertexIndices = [");
    for (int64_t i = 0; i < s->triangles; i++) {
        rp_out_text(o, "%s%u, %u, %u", i > 0 ? ", " : "", s->triangle[i][0], s->triangle[i][1],
                    s->triangle[i][2]);
    }
    for (int pass = 0; pass < 2; pass++) {
        rp_out_text(o, pass == 0 ? "]\n        point3f[] points = ["
                                 : "]\n        normal3f[] normals = [");
        for (int64_t i = 0; i < s->vertices; i++) {
            const float *v = pass == 0 ? s->vertex[i] : s->normal[i];
            double x[3] = {v[0], v[1], v[2]};
            rp_job_turn(job, x);
            rp_out_text(o, "%s(%.7g, %.7g, %.7g)", i > 0 ? ", " : "", x[0], x[1], x[2]);
        }
    }
    rp_out_text(o, "] (\n            interpolation = \"vertex\"\n        )\n");
    for (int pass = 0; pass < 2; pass++) {
        rp_out_text(o, pass == 0 ? "        double3 xformOp:translate.timeSamples = {\n"
                                 : "        quatf xformOp:orient.timeSamples = {\n");
        for (int64_t i = 0; i < (c->moves ? job->frames : 1); i++) {
            const rp_pose p = rp_job_pose(job, index, (double)job->frame[i]);
            if (pass == 0) {
                rp_out_text(o, "            %lld: (%.17g, %.17g, %.17g),\n",
                            (long long)job->frame[i], p.position[0], p.position[1], p.position[2]);
            } else {
                rp_out_text(o, "            %lld: (%.9g, %.9g, %.9g, %.9g),\n",
                            (long long)job->frame[i], p.rotation[3], p.rotation[0], p.rotation[1],
                            p.rotation[2]);
            }
        }
        rp_out_text(o, "        }\n");
    }
    rp_out_text(o, "        uniform token[] xformOpOrder = [\"xformOp:translate\", "
                   "\"xformOp:orient\"]\n    }\n");
}

static void put_colliders(rp_out *o, const rp_job *job)
{
    if (job->info.colliders > 0) {
        rp_out_text(o, "\ndef Xform \"Colliders\"\n{\n");
        for (int i = 0; i < job->info.colliders; i++) {
            put_mesh(o, job, i);
        }
        rp_out_text(o, "}\n");
    }
}

// ---- one file ----

static rp_result write_one(const rp_job *job, const keep *k)
{
    char path[RP_JOB_PATH];
    rp_out o;
    rp_job_path(job, path, "run.usda");
    RP_TRY(rp_out_open(&o, job, path));
    put_head(&o, job);
    rp_out_text(&o, "def Points \"Particles\"\n{\n");
    put_samples(&o, k->cargo, k->count);
    rp_out_text(&o, "}\n");
    put_colliders(&o, job);
    return rp_out_close(&o);
}

// ---- clips ----

static rp_result write_clip(const rp_job *job, const rp_cargo *c)
{
    char path[RP_JOB_PATH];
    rp_out o;
    rp_job_path(job, path, "particles.%04lld.usda", (long long)c->frame);
    RP_TRY(rp_out_open(&o, job, path));
    put_head(&o, job);
    rp_out_text(&o, "def Points \"Particles\"\n{\n");
    put_samples(&o, c, 1);
    rp_out_text(&o, "}\n");
    return rp_out_close(&o);
}

// The names without values: what clips may have something to say about.
static rp_result write_manifest(const rp_job *job, const rp_cargo *c)
{
    char path[RP_JOB_PATH];
    rp_out o;
    rp_job_path(job, path, "particles.manifest.usda");
    RP_TRY(rp_out_open(&o, job, path));
    rp_out_text(&o, "#usda 1.0\n\nover \"Particles\"\n{\n");
    for (int which = 0; which < attributes(c); which++) {
        put_declaration(&o, c, which);
        rp_out_text(&o, "\n");
    }
    rp_out_text(&o, "}\n");
    return rp_out_close(&o);
}

static rp_result write_master(const rp_job *job, const rp_cargo *c)
{
    char path[RP_JOB_PATH];
    rp_out o;
    rp_job_path(job, path, "run.usda");
    RP_TRY(rp_out_open(&o, job, path));
    put_head(&o, job);
    rp_out_text(&o, "def Points \"Particles\" (\n    clips = {\n        dictionary default = {\n"
                    "            asset[] assetPaths = [");
    for (int64_t i = 0; i < job->frames; i++) {
        rp_out_text(&o, "%s@./particles.%04lld.usda@", i > 0 ? ", " : "", (long long)job->frame[i]);
    }
    rp_out_text(&o,
                "]\n            asset manifestAssetPath = @./particles.manifest.usda@\n"
                "            string primPath = \"/Particles\"\n            double2[] active = [");
    for (int64_t i = 0; i < job->frames; i++) {
        rp_out_text(&o, "%s(%lld, %lld)", i > 0 ? ", " : "", (long long)job->frame[i],
                    (long long)i);
    }
    rp_out_text(&o, "]\n            double2[] times = [");
    for (int64_t i = 0; i < job->frames; i++) {
        rp_out_text(&o, "%s(%lld, %lld)", i > 0 ? ", " : "", (long long)job->frame[i],
                    (long long)job->frame[i]);
    }
    rp_out_text(&o, "]\n        }\n    }\n)\n{\n");
    for (int which = 0; which < attributes(c); which++) {
        put_declaration(&o, c, which);
        put_metadata(&o, c, which);
    }
    rp_out_text(&o, "}\n");
    put_colliders(&o, job);
    return rp_out_close(&o);
}

// ---- the exporter ----

static void drop(rp_job *job)
{
    keep *k = job->state;
    for (int64_t i = 0; k != NULL && i < k->count; i++) {
        rp_cargo_free(&k->cargo[i]);
    }
    free(k != NULL ? k->cargo : NULL);
    free(k);
    job->state = NULL;
}

static rp_result start(rp_job *job)
{
    int64_t samples = 0;
    char path[RP_JOB_PATH];
    for (int64_t i = 0; i < job->frames && samples <= FEW; i++) {
        rp_frame *frame;
        rp_frame_info info;
        rp_record_frame(job->record, job->frame[i], path, sizeof path);
        RP_TRY(rp_frame_open(path, &frame));
        rp_frame_get_info(frame, &info);
        rp_frame_close(frame);
        samples += info.particles;
    }
    if (samples <= FEW && !job->def->clips) {
        keep *k = calloc(1, sizeof *k);
        job->state = k;
        job->drop = drop;
        if (k == NULL || (k->cargo = calloc((size_t)job->frames, sizeof *k->cargo)) == NULL) {
            return rp_fail(RP_ERR_MEMORY, "no memory for %lld frames", (long long)job->frames);
        }
    }
    return RP_OK;
}

static rp_result write_frame(rp_job *job, int64_t index, rp_cargo *c)
{
    keep *k = job->state;
    if (k != NULL) {
        k->cargo[k->count++] = *c;
        *c = (rp_cargo){0}; // kept
        return RP_OK;
    }
    RP_TRY(write_clip(job, c));
    if (index == job->frames - 1) {
        RP_TRY(write_manifest(job, c));
        return write_master(job, c);
    }
    return RP_OK;
}

static rp_result finish(rp_job *job)
{
    return job->state != NULL ? write_one(job, job->state) : RP_OK;
}

const rp_exporter rp_export_usda = {
    .name = "usda", .start = start, .frame = write_frame, .finish = finish};
