// VTK PolyData, appended: particles.NNNN.vtp with a vertex cell per particle, colliders that stand
// still as colliders.vtp, those that move as colliders.NNNN.vtp where they are, and particles.pvd
// and particles.vtp.series, which give the times.
//
// Appended blocks are in base 64. Raw ones would be a quarter smaller, but since Debian's expat
// waits for long tokens to be complete, ParaView 5.11 finds no data after <AppendedData
// encoding="raw">; it does after the shorter <AppendedData>, which means base 64.
#include "export/job.h"

#include <stdlib.h>

// Where the appended blocks begin: each has its length in front, 8 bytes, encoded by themselves.
// And what of the block that is being written does not yet make three bytes.
typedef struct blocks {
    uint64_t next;
    unsigned char rest[3];
    int rests;
} blocks;

static uint64_t encoded(uint64_t bytes) { return (bytes + 2) / 3 * 4; }

static uint64_t block(blocks *b, uint64_t bytes)
{
    const uint64_t at = b->next;
    b->next += encoded(sizeof(uint64_t)) + encoded(bytes);
    return at;
}

// ---- base 64 ----

static void put_three(rp_out *o, const unsigned char x[3], int count)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t all = (uint32_t)x[0] << 16 | (count > 1 ? (uint32_t)x[1] << 8 : 0) |
                         (count > 2 ? (uint32_t)x[2] : 0);
    const char four[4] = {digit[all >> 18 & 63], digit[all >> 12 & 63],
                          count > 1 ? digit[all >> 6 & 63] : '=',
                          count > 2 ? digit[all & 63] : '='};
    rp_out_bytes(o, four, sizeof four);
}

static void put_data(rp_out *o, blocks *b, const void *data, size_t bytes)
{
    const unsigned char *x = data, *end = x + bytes;
    while (x < end) {
        b->rest[b->rests++] = *x++;
        if (b->rests == 3) {
            put_three(o, b->rest, 3);
            b->rests = 0;
        }
    }
}

static void end_block(rp_out *o, blocks *b)
{
    if (b->rests > 0) {
        put_three(o, b->rest, b->rests);
        b->rests = 0;
    }
}

static void put_array(rp_out *o, blocks *b, const char *type, const char *name, int comps,
                      uint64_t bytes)
{
    // VTK takes six numbers for xx yy zz xy yz xz unless it is told otherwise
    static const char tensor[] = " ComponentName0=\"xx\" ComponentName1=\"yy\" "
                                 "ComponentName2=\"zz\" ComponentName3=\"xy\" "
                                 "ComponentName4=\"xz\" ComponentName5=\"yz\"";
    rp_out_text(o,
                "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\"%s "
                "format=\"appended\" offset=\"%llu\"/>\n",
                type, name, comps, comps == 6 ? tensor : "", (unsigned long long)block(b, bytes));
}

// The block before ends, and one of so many bytes begins.
static void put_length(rp_out *o, blocks *b, uint64_t bytes)
{
    end_block(o, b);
    put_data(o, b, &bytes, sizeof bytes);
    end_block(o, b);
}

static void put_head(rp_out *o, double time, int64_t frame)
{
    rp_out_text(o,
                "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n"
                "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                "format=\"ascii\">%.17g</DataArray>\n"
                "<DataArray type=\"Int64\" Name=\"frame\" NumberOfTuples=\"1\" "
                "format=\"ascii\">%lld</DataArray>\n</FieldData>\n",
                time, (long long)frame);
}

// The vertex cells: 0, 1, 2 ... and 1, 2, 3 ...
static void put_counting(rp_out *o, blocks *b, int64_t from, int64_t count)
{
    put_length(o, b, (uint64_t)count * sizeof(int64_t));
    for (int64_t i = 0; i < count; i++) {
        const int64_t value = from + i;
        put_data(o, b, &value, sizeof value);
    }
}

static rp_result write_frame(rp_job *job, int64_t index, rp_cargo *c)
{
    char path[RP_JOB_PATH];
    rp_out o;
    blocks b = {0};
    const uint64_t n = (uint64_t)c->count;
    rp_job_path(job, path, "particles.%04lld.vtp", (long long)job->frame[index]);
    RP_TRY(rp_out_open(&o, job, path));
    put_head(&o, c->time, c->frame);
    rp_out_text(
        &o,
        "<Piece NumberOfPoints=\"%llu\" NumberOfVerts=\"%llu\" NumberOfLines=\"0\" "
        "NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<PointData Scalars=\"pscale\" Vectors=\"v\">\n",
        (unsigned long long)n, (unsigned long long)n);
    put_array(&o, &b, "Float32", "v", 3, n * 12);
    put_array(&o, &b, "Float32", "pscale", 1, n * 4);
    put_array(&o, &b, "Int64", "id", 1, n * 8);
    put_array(&o, &b, "UInt8", "Cd", 3, n * 3);
    for (int k = 0; k < c->extras; k++) {
        put_array(&o, &b, "Float32", c->extra[k].name, c->extra[k].comps,
                  n * 4 * (uint64_t)c->extra[k].comps);
    }
    rp_out_text(&o, "</PointData>\n<Points>\n");
    put_array(&o, &b, "Float64", "P", 3, n * 24);
    rp_out_text(&o, "</Points>\n<Verts>\n");
    put_array(&o, &b, "Int64", "connectivity", 1, n * 8);
    put_array(&o, &b, "Int64", "offsets", 1, n * 8);
    rp_out_text(&o, "</Verts>\n</Piece>\n</PolyData>\n<AppendedData>\n_");
    put_length(&o, &b, n * 12);
    put_data(&o, &b, c->velocity, n * 12);
    put_length(&o, &b, n * 4);
    put_data(&o, &b, c->radius, n * 4);
    put_length(&o, &b, n * 8);
    put_data(&o, &b, c->id, n * 8);
    put_length(&o, &b, n * 3);
    put_data(&o, &b, c->color, n * 3);
    for (int k = 0; k < c->extras; k++) {
        const uint64_t bytes = n * 4 * (uint64_t)c->extra[k].comps;
        put_length(&o, &b, bytes);
        put_data(&o, &b, c->extra[k].data, bytes);
    }
    put_length(&o, &b, n * 24);
    put_data(&o, &b, c->position, n * 24);
    put_counting(&o, &b, 0, c->count);
    put_counting(&o, &b, 1, c->count);
    end_block(&o, &b);
    rp_out_text(&o, "\n</AppendedData>\n</VTKFile>\n");
    return rp_out_close(&o);
}

// ---- colliders and pieces ----

// Meshes of one kind lie in one file, or in one for each frame.
typedef enum kind { STILL, MOVING, PIECES } kind;

static int meshes(const rp_job *job, kind which)
{
    return which == PIECES ? job->pieces.count : job->info.colliders;
}

// The i-th as it is and where it is at a frame; without vertices where it is of another kind.
// @param[out] made of one that deforms, released with rp_surface_free()
static rp_result look_at(const rp_job *job, kind which, int i, int64_t index, rp_surface *made,
                         const rp_surface **surface, rp_pose *pose)
{
    static const rp_surface none = {0};
    *made = none;
    *surface = &none;
    if (which == PIECES) {
        *pose = rp_job_piece_pose(job, i, index);
        const rp_fit *fit = &job->pieces.fit[index * job->pieces.count + i];
        *surface = fit->particles > 0 ? &job->pieces.list[i].surface : &none;
        return RP_OK;
    }
    const rp_record_collider *c = rp_record_collider_at(job->record, i);
    *pose = rp_job_pose(job, i, (double)job->frame[index]);
    if (c->moves != (which == MOVING)) {
        return RP_OK;
    }
    *surface = &c->surface;
    if (c->deforms && which == MOVING) {
        RP_TRY(rp_record_surface(job->record, i, (double)job->frame[index], made));
        *surface = made;
    }
    return RP_OK;
}

static bool there_are(const rp_job *job, kind which)
{
    bool any = which == PIECES && job->pieces.count > 0;
    for (int i = 0; i < job->info.colliders && which != PIECES; i++) {
        any = any || rp_record_collider_at(job->record, i)->moves == (which == MOVING);
    }
    return any;
}

static rp_result write_meshes(const rp_job *job, int64_t index, kind which)
{
    static const char *const names[] = {"colliders", "colliders", "pieces"};
    rp_result result = RP_OK;
    char path[RP_JOB_PATH];
    rp_out o;
    blocks b = {0};
    uint64_t points = 0, cells = 0;
    const rp_surface *s;
    rp_surface made;
    rp_pose pose;
    for (int i = 0; i < meshes(job, which); i++) {
        RP_TRY(look_at(job, which, i, index, &made, &s, &pose));
        points += (uint64_t)s->vertices;
        cells += (uint64_t)s->triangles;
        rp_surface_free(&made);
    }
    if (which != STILL) {
        rp_job_path(job, path, "%s.%04lld.vtp", names[which], (long long)job->frame[index]);
    } else {
        rp_job_path(job, path, "colliders.vtp");
    }
    RP_TRY(rp_out_open(&o, job, path));
    put_head(&o, job->time[index], job->frame[index]);
    rp_out_text(&o,
                "<Piece NumberOfPoints=\"%llu\" NumberOfVerts=\"0\" NumberOfLines=\"0\" "
                "NumberOfStrips=\"0\" NumberOfPolys=\"%llu\">\n<PointData Normals=\"N\">\n",
                (unsigned long long)points, (unsigned long long)cells);
    put_array(&o, &b, "Float32", "N", 3, points * 12);
    const char *number_of = which == PIECES ? "body" : "collider";
    rp_out_text(&o, "</PointData>\n<CellData Scalars=\"%s\">\n", number_of);
    put_array(&o, &b, "Int32", number_of, 1, cells * 4);
    rp_out_text(&o, "</CellData>\n<Points>\n");
    put_array(&o, &b, "Float32", "P", 3, points * 12);
    rp_out_text(&o, "</Points>\n<Polys>\n");
    put_array(&o, &b, "Int64", "connectivity", 1, cells * 24);
    put_array(&o, &b, "Int64", "offsets", 1, cells * 8);
    rp_out_text(&o, "</Polys>\n</Piece>\n</PolyData>\n<AppendedData>\n_");
    for (int pass = 0; pass < 4; pass++) {
        // normals, numbers, points, corners
        put_length(&o, &b, pass == 1 ? cells * 4 : pass == 3 ? cells * 24 : points * 12);
        int64_t base = 0;
        for (int i = 0; i < meshes(job, which) && result == RP_OK; i++) {
            result = look_at(job, which, i, index, &made, &s, &pose);
            for (int64_t v = 0; v < s->vertices && pass % 2 == 0; v++) {
                float x[3];
                rp_job_place(job, &pose, pass == 0 ? s->normal[v] : s->vertex[v], pass == 2, x);
                put_data(&o, &b, x, sizeof x);
            }
            for (int64_t t = 0; t < s->triangles && pass % 2 == 1; t++) {
                const int32_t number = which == PIECES ? job->pieces.list[i].body : i;
                const int64_t corner[3] = {base + s->triangle[t][0], base + s->triangle[t][1],
                                           base + s->triangle[t][2]};
                put_data(&o, &b, pass == 1 ? (const void *)&number : corner,
                         pass == 1 ? sizeof number : sizeof corner);
            }
            base += s->vertices;
            rp_surface_free(&made);
        }
    }
    put_length(&o, &b, cells * 8);
    for (uint64_t i = 1; i <= cells; i++) {
        const int64_t end = (int64_t)(3 * i);
        put_data(&o, &b, &end, sizeof end);
    }
    end_block(&o, &b);
    rp_out_text(&o, "\n</AppendedData>\n</VTKFile>\n");
    o.result = o.result == RP_OK ? result : o.result;
    return rp_out_close(&o);
}

// ---- the series ----

static rp_result write_pvd(const rp_job *job)
{
    char path[RP_JOB_PATH];
    rp_out o;
    rp_job_path(job, path, "particles.pvd");
    RP_TRY(rp_out_open(&o, job, path));
    rp_out_text(&o, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                    "byte_order=\"LittleEndian\">\n<Collection>\n");
    for (int64_t i = 0; i < job->frames; i++) {
        rp_out_text(&o,
                    "<DataSet timestep=\"%.17g\" part=\"0\" name=\"particles\" "
                    "file=\"particles.%04lld.vtp\"/>\n",
                    job->time[i], (long long)job->frame[i]);
        int part = 1;
        if (there_are(job, STILL)) {
            rp_out_text(&o,
                        "<DataSet timestep=\"%.17g\" part=\"%d\" name=\"colliders\" "
                        "file=\"colliders.vtp\"/>\n",
                        job->time[i], part++);
        }
        if (there_are(job, MOVING)) {
            rp_out_text(&o,
                        "<DataSet timestep=\"%.17g\" part=\"%d\" name=\"moving colliders\" "
                        "file=\"colliders.%04lld.vtp\"/>\n",
                        job->time[i], part++, (long long)job->frame[i]);
        }
        if (there_are(job, PIECES)) {
            rp_out_text(&o,
                        "<DataSet timestep=\"%.17g\" part=\"%d\" name=\"pieces\" "
                        "file=\"pieces.%04lld.vtp\"/>\n",
                        job->time[i], part++, (long long)job->frame[i]);
        }
    }
    rp_out_text(&o, "</Collection>\n</VTKFile>\n");
    return rp_out_close(&o);
}

static rp_result write_series(const rp_job *job)
{
    char path[RP_JOB_PATH];
    rp_out o;
    rp_job_path(job, path, "particles.vtp.series");
    RP_TRY(rp_out_open(&o, job, path));
    rp_out_text(&o, "{ \"file-series-version\": \"1.0\", \"files\": [\n");
    for (int64_t i = 0; i < job->frames; i++) {
        rp_out_text(&o, "  { \"name\": \"particles.%04lld.vtp\", \"time\": %.17g }%s\n",
                    (long long)job->frame[i], job->time[i], i + 1 < job->frames ? "," : "");
    }
    rp_out_text(&o, "] }\n");
    return rp_out_close(&o);
}

static rp_result finish(rp_job *job)
{
    if (there_are(job, STILL)) {
        RP_TRY(write_meshes(job, 0, STILL));
    }
    for (int64_t i = 0; i < job->frames && there_are(job, MOVING); i++) {
        RP_TRY(write_meshes(job, i, MOVING));
    }
    for (int64_t i = 0; i < job->frames && there_are(job, PIECES); i++) {
        RP_TRY(write_meshes(job, i, PIECES));
    }
    RP_TRY(write_series(job));
    return write_pvd(job);
}

const rp_exporter rp_export_vtp = {
    .name = "vtp", .all_columns = true, .frame = write_frame, .finish = finish};
