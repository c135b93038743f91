// Binary PLY, a file per frame, and colliders as meshes. Every property is a scalar with a name
// that Blender (from 4.1 on) turns into an attribute of the same name and Houdini's File node
// reads.
#include "export/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void put_header(rp_out *o, const rp_cargo *c, bool wide, bool z_up)
{
    rp_out_text(o,
                "ply\nformat binary_little_endian 1.0\ncomment Repose, metres and seconds, %s up\n"
                "comment frame %lld time %.17g fps %.17g\nelement vertex %lld\n"
                "property float x\nproperty float y\nproperty float z\n"
                "property float vx\nproperty float vy\nproperty float vz\n"
                "property float radius\nproperty float pscale\nproperty %s id\n"
                "property uchar red\nproperty uchar green\nproperty uchar blue\n",
                z_up ? "z" : "y", (long long)c->frame, c->time, c->fps, (long long)c->count,
                wide ? "double" : "uint");
    for (int k = 0; k < c->extras; k++) {
        for (int q = 0; q < c->extra[k].comps; q++) {
            if (c->extra[k].comps == 1) {
                rp_out_text(o, "property float %s\n", c->extra[k].name);
            } else {
                rp_out_text(o, "property float %s_%d\n", c->extra[k].name, q);
            }
        }
    }
    rp_out_text(o, "end_header\n");
}

// All pieces of bodies where they are; each vertex knows the number of its body.
static rp_result write_pieces(const rp_job *job, int64_t index)
{
    const rp_job_pieces *p = &job->pieces;
    char path[RP_JOB_PATH];
    rp_out o;
    int64_t vertices = 0, triangles = 0;
    const rp_fit *fit = p->fit + index * p->count;
    for (int i = 0; i < p->count; i++) {
        vertices += fit[i].particles > 0 ? p->list[i].surface.vertices : 0;
        triangles += fit[i].particles > 0 ? p->list[i].surface.triangles : 0;
    }
    rp_job_path(job, path, "pieces.%04lld.ply", (long long)job->frame[index]);
    RP_TRY(rp_out_open(&o, job, path));
    rp_out_text(&o,
                "ply\nformat binary_little_endian 1.0\ncomment Repose, metres, %s up\n"
                "comment frame %lld time %.17g fps %.17g\nelement vertex %lld\n"
                "property float x\nproperty float y\nproperty float z\n"
                "property float nx\nproperty float ny\nproperty float nz\n"
                "property uchar red\nproperty uchar green\nproperty uchar blue\n"
                "property float body\nelement face %lld\n"
                "property list uchar uint vertex_indices\nend_header\n",
                job->z_up ? "z" : "y", (long long)job->frame[index], job->time[index],
                job->info.fps, (long long)vertices, (long long)triangles);
    for (int i = 0; i < p->count; i++) {
        const rp_surface *s = &p->list[i].surface;
        const rp_pose pose = rp_job_piece_pose(job, i, index);
        const float body = (float)p->list[i].body;
        unsigned char rgb[3];
        for (int k = 0; k < 3; k++) {
            rgb[k] = (unsigned char)(255.0 * p->list[i].color[k] + 0.5);
        }
        for (int64_t v = 0; v < s->vertices && fit[i].particles > 0; v++) {
            float both[6];
            rp_job_place(job, &pose, s->vertex[v], true, both);
            rp_job_place(job, &pose, s->normal[v], false, both + 3);
            rp_out_bytes(&o, both, sizeof both);
            rp_out_bytes(&o, rgb, sizeof rgb);
            rp_out_bytes(&o, &body, sizeof body);
        }
    }
    uint32_t first = 0;
    for (int i = 0; i < p->count; i++) {
        const rp_surface *s = &p->list[i].surface;
        for (int64_t t = 0; t < s->triangles && fit[i].particles > 0; t++) {
            const unsigned char three = 3;
            const uint32_t corner[3] = {first + s->triangle[t][0], first + s->triangle[t][1],
                                        first + s->triangle[t][2]};
            rp_out_bytes(&o, &three, 1);
            rp_out_bytes(&o, corner, sizeof corner);
        }
        first += fit[i].particles > 0 ? (uint32_t)s->vertices : 0;
    }
    return rp_out_close(&o);
}

// The surface of water; vertices move with it.
static rp_result write_water(const rp_job *job, int64_t index)
{
    char path[RP_JOB_PATH];
    rp_out o;
    rp_surface s;
    float(*velocity)[3];
    RP_TRY(rp_job_water(job, job->frame[index], &s, &velocity));
    rp_job_path(job, path, "water.%04lld.ply", (long long)job->frame[index]);
    rp_result result = rp_out_open(&o, job, path);
    if (result == RP_OK) {
        rp_out_text(
            &o,
            "ply\nformat binary_little_endian 1.0\ncomment Repose, metres and seconds, %s up\n"
            "comment frame %lld time %.17g fps %.17g\nelement vertex %lld\n"
            "property float x\nproperty float y\nproperty float z\n"
            "property float nx\nproperty float ny\nproperty float nz\n"
            "property float vx\nproperty float vy\nproperty float vz\nelement face %lld\n"
            "property list uchar uint vertex_indices\nend_header\n",
            job->z_up ? "z" : "y", (long long)job->frame[index], job->time[index], job->info.fps,
            (long long)s.vertices, (long long)s.triangles);
        for (int64_t i = 0; i < s.vertices; i++) {
            float all[9];
            for (int part = 0; part < 3; part++) {
                const float *from = part == 0 ? s.vertex[i] : part == 1 ? s.normal[i] : velocity[i];
                double v[3] = {from[0], from[1], from[2]};
                rp_job_turn(job, v);
                for (int a = 0; a < 3; a++) {
                    all[3 * part + a] = (float)v[a];
                }
            }
            rp_out_bytes(&o, all, sizeof all);
        }
        for (int64_t i = 0; i < s.triangles; i++) {
            const unsigned char three = 3;
            rp_out_bytes(&o, &three, 1);
            rp_out_bytes(&o, s.triangle[i], sizeof s.triangle[i]);
        }
        result = rp_out_close(&o);
    }
    free(velocity);
    rp_surface_free(&s);
    return result;
}

static rp_result write_frame(rp_job *job, int64_t index, rp_cargo *c)
{
    char path[RP_JOB_PATH];
    rp_out o;
    bool wide = false; // ids that 32 bits do not hold
    for (int64_t i = 0; i < c->count; i++) {
        wide = wide || c->id[i] > UINT32_MAX;
    }
    rp_job_path(job, path, "particles.%04lld.ply", (long long)job->frame[index]);
    RP_TRY(rp_out_open(&o, job, path));
    put_header(&o, c, wide, job->z_up);
    for (int64_t i = 0; i < c->count; i++) {
        const float x[3] = {(float)c->position[i][0], (float)c->position[i][1],
                            (float)c->position[i][2]};
        const double long_id = (double)c->id[i];
        const uint32_t short_id = (uint32_t)c->id[i];
        rp_out_bytes(&o, x, sizeof x);
        rp_out_bytes(&o, c->velocity[i], sizeof c->velocity[i]);
        rp_out_bytes(&o, &c->radius[i], sizeof(float));
        rp_out_bytes(&o, &c->radius[i], sizeof(float));
        rp_out_bytes(&o, wide ? (const void *)&long_id : &short_id, wide ? 8 : 4);
        rp_out_bytes(&o, c->color[i], 3);
        for (int k = 0; k < c->extras; k++) {
            const int comps = c->extra[k].comps;
            rp_out_bytes(&o, &c->extra[k].data[i * comps], (size_t)comps * sizeof(float));
        }
    }
    RP_TRY(rp_out_close(&o));
    RP_TRY(job->def->surface ? write_water(job, index) : RP_OK);
    return job->pieces.count > 0 ? write_pieces(job, index) : RP_OK;
}

// ---- colliders ----

static rp_result write_mesh(const rp_job *job, const rp_surface *s, const char *kind,
                            const char *name, const char *path)
{
    rp_out o;
    RP_TRY(rp_out_open(&o, job, path));
    rp_out_text(&o,
                "ply\nformat binary_little_endian 1.0\ncomment %s %s at rest, metres\n"
                "element vertex %lld\nproperty float x\nproperty float y\nproperty float z\n"
                "property float nx\nproperty float ny\nproperty float nz\n"
                "element face %lld\nproperty list uchar uint vertex_indices\nend_header\n",
                kind, name, (long long)s->vertices, (long long)s->triangles);
    for (int64_t i = 0; i < s->vertices; i++) {
        double x[3] = {s->vertex[i][0], s->vertex[i][1], s->vertex[i][2]};
        double n[3] = {s->normal[i][0], s->normal[i][1], s->normal[i][2]};
        rp_job_turn(job, x);
        rp_job_turn(job, n);
        const float both[6] = {(float)x[0], (float)x[1], (float)x[2],
                               (float)n[0], (float)n[1], (float)n[2]};
        rp_out_bytes(&o, both, sizeof both);
    }
    for (int64_t i = 0; i < s->triangles; i++) {
        const unsigned char three = 3;
        rp_out_bytes(&o, &three, 1);
        rp_out_bytes(&o, s->triangle[i], sizeof s->triangle[i]);
    }
    return rp_out_close(&o);
}

// One file, or one for each frame where it deforms.
static rp_result write_meshes(const rp_job *job, int index)
{
    const rp_record_collider *c = rp_record_collider_at(job->record, index);
    char path[RP_JOB_PATH], name[RP_EXPORT_NAME];
    rp_export_collider_name(job, index, name);
    rp_job_path(job, path, "colliders/%s.ply", name);
    if (!c->deforms) {
        return write_mesh(job, &c->surface, "collider", name, path);
    }
    for (int64_t i = 0; i < job->frames; i++) {
        rp_surface now;
        RP_TRY(rp_record_surface(job->record, index, (double)job->frame[i], &now));
        rp_job_path(job, path, "colliders/%s.%04lld.ply", name, (long long)job->frame[i]);
        const rp_result result = write_mesh(job, &now, "collider", name, path);
        rp_surface_free(&now);
        RP_TRY(result);
    }
    return RP_OK;
}

rp_result rp_export_colliders(const rp_job *job)
{
    char path[RP_JOB_PATH], name[RP_EXPORT_NAME];
    rp_out o;
    if (job->info.colliders == 0) {
        return RP_OK;
    }
    rp_job_path(job, path, "colliders");
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return rp_file_cannot("make", path, errno);
    }
    for (int i = 0; i < job->info.colliders; i++) {
        RP_TRY(write_meshes(job, i));
    }
    rp_job_path(job, path, "colliders.csv");
    RP_TRY(rp_out_open(&o, job, path));
    rp_out_text(&o, "frame,time_s,collider,x_m,y_m,z_m,qx,qy,qz,qw\n");
    for (int64_t f = 0; f < job->frames; f++) {
        for (int i = 0; i < job->info.colliders; i++) {
            const rp_pose p = rp_job_pose(job, i, (double)job->frame[f]);
            rp_export_collider_name(job, i, name);
            rp_out_text(&o, "%lld,%.17g,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n",
                        (long long)job->frame[f], job->time[f], name, p.position[0], p.position[1],
                        p.position[2], p.rotation[0], p.rotation[1], p.rotation[2], p.rotation[3]);
        }
    }
    return rp_out_close(&o);
}

// ---- pieces ----

rp_result rp_export_pieces(const rp_job *job)
{
    char path[RP_JOB_PATH], name[RP_EXPORT_NAME];
    rp_job_path(job, path, "pieces");
    if (job->pieces.count > 0 && mkdir(path, 0777) != 0 && errno != EEXIST) {
        return rp_file_cannot("make", path, errno);
    }
    for (int i = 0; i < job->pieces.count; i++) {
        rp_job_piece_name(job, i, name);
        rp_job_path(job, path, "pieces/%s.ply", name);
        RP_TRY(write_mesh(job, &job->pieces.list[i].surface, "piece", name, path));
    }
    return RP_OK;
}

static rp_result finish(rp_job *job)
{
    RP_TRY(rp_export_pieces(job));
    return rp_export_colliders(job);
}

const rp_exporter rp_export_ply = {.name = "ply", .frame = write_frame, .finish = finish};
