// USD as text. Below /Run, so that whoever refers to the file gets all of it: Particles of type
// Points, Colliders with a Mesh each, Pieces likewise where they were asked for, and Materials.
// Time codes are the run's frame numbers. While there are few samples all of them go into run.usda;
// beyond that, or when asked for, each frame is a file of its own and run.usda joins them by value
// clips.
//
// USD interpolates between two frames number by number where arrays are as long in both. So every
// particle has the same place in the arrays of all frames (roster.h).
#include "export/job.h"
#include "export/roster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 1000000 }; // particles of all frames together

// What is kept until the end: all frames when everything goes into one file, else the first.
typedef struct keep {
    rp_roster roster;
    rp_cargo *cargo;
    int64_t count;
    bool clips;
} keep;

// ---- attributes ----

typedef enum attribute { POINTS, VELOCITIES, WIDTHS, IDS, COLORS, EXTENT, EXTRA } attribute;

static int attributes(const rp_cargo *c) { return EXTRA + c->extras; }

// Ids and colours stay, and sizes unless particles come or go.
static bool is_steady(const keep *k, int which)
{
    return which == IDS || which == COLORS || (which == WIDTHS && !k->roster.changes);
}

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
        rp_out_text(o, "        %s", text[which]);
    } else {
        const rp_cargo_extra *e = &c->extra[which - EXTRA];
        rp_out_text(o, "        %s primvars:%s", e->comps == 3 ? "float3[]" : "float[]", e->name);
    }
}

// What stands behind a declaration that has no samples.
static void put_metadata(rp_out *o, const rp_cargo *c, int which)
{
    const int comps = which < EXTRA ? 1 : c->extra[which - EXTRA].comps;
    if (which == WIDTHS || which == COLORS || which >= EXTRA) {
        rp_out_text(o, " (\n            interpolation = \"vertex\"\n");
        if (comps != 1 && comps != 3) {
            rp_out_text(o, "            elementSize = %d\n", comps);
        }
        rp_out_text(o, "        )");
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

static void put_list(rp_out *o, const rp_cargo *c, int which)
{
    rp_out_text(o, "[");
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
    rp_out_text(o, "]");
}

static void put_samples(rp_out *o, const keep *k, const rp_cargo *cargo, int64_t count)
{
    for (int which = 0; which < attributes(cargo); which++) {
        if (is_steady(k, which)) {
            continue;
        }
        put_declaration(o, cargo, which);
        rp_out_text(o, ".timeSamples = {\n");
        for (int64_t i = 0; i < count; i++) {
            rp_out_text(o, "            %lld: ", (long long)cargo[i].frame);
            put_list(o, &cargo[i], which);
            rp_out_text(o, ",\n");
        }
        rp_out_text(o, "        }\n");
    }
}

// ---- layers ----

static void put_head(rp_out *o, const rp_job *job)
{
    rp_out_text(o,
                "#usda 1.0\n(\n    defaultPrim = \"Run\"\n    metersPerUnit = 1\n"
                "    upAxis = \"%s\"\n    startTimeCode = %lld\n    endTimeCode = %lld\n"
                "    timeCodesPerSecond = %.17g\n    framesPerSecond = %.17g\n)\n\n",
                job->z_up ? "Z" : "Y", (long long)job->frame[0],
                (long long)job->frame[job->frames - 1], job->info.fps, job->info.fps);
}

static void put_linear(rp_out *o, const double rgb[3])
{
    rp_out_text(o, "(%.4g, %.4g, %.4g)", (double)linear((unsigned char)(255.0 * rgb[0])),
                (double)linear((unsigned char)(255.0 * rgb[1])),
                (double)linear((unsigned char)(255.0 * rgb[2])));
}

static void put_points(rp_out *o, const rp_job *job, const keep *k)
{
    const rp_cargo *c = &k->cargo[0];
    rp_out_text(o, "    def Points \"Particles\" (\n"
                   "        prepend apiSchemas = [\"MaterialBindingAPI\"]\n");
    if (k->clips) {
        rp_out_text(o, "        clips = {\n            dictionary default = {\n"
                       "                asset[] assetPaths = [");
        for (int64_t i = 0; i < job->frames; i++) {
            rp_out_text(o, "%s@./particles.%04lld.usda@", i > 0 ? ", " : "",
                        (long long)job->frame[i]);
        }
        rp_out_text(o, "]\n                asset manifestAssetPath = "
                       "@./particles.manifest.usda@\n"
                       "                string primPath = \"/Run/Particles\"\n"
                       "                double2[] active = [");
        for (int64_t i = 0; i < job->frames; i++) {
            rp_out_text(o, "%s(%lld, %lld)", i > 0 ? ", " : "", (long long)job->frame[i],
                        (long long)i);
        }
        rp_out_text(o, "]\n                double2[] times = [");
        for (int64_t i = 0; i < job->frames; i++) {
            rp_out_text(o, "%s(%lld, %lld)", i > 0 ? ", " : "", (long long)job->frame[i],
                        (long long)job->frame[i]);
        }
        rp_out_text(o, "]\n            }\n        }\n");
    }
    rp_out_text(o, "    )\n    {\n        rel material:binding = </Run/Materials/Particles>\n");
    for (int which = 0; which < attributes(c); which++) {
        put_declaration(o, c, which);
        if (is_steady(k, which)) {
            rp_out_text(o, " = ");
            put_list(o, c, which);
        }
        put_metadata(o, c, which);
    }
    if (!k->clips) {
        put_samples(o, k, k->cargo, k->count);
    }
    rp_out_text(o, "    }\n");
}

// A collider or a piece of a body: what is said of its mesh.
typedef struct thing {
    const char *scope; // "Colliders" or "Pieces"
    int index;
    char name[RP_EXPORT_NAME];
    const rp_surface *surface;
    const double *color; // sRGB
    rp_look look;
    bool moves, deforms;
} thing;

static thing collider_thing(const rp_job *job, int index)
{
    const rp_record_collider *c = rp_record_collider_at(job->record, index);
    thing t = {.scope = "Colliders",
               .index = index,
               .surface = &c->surface,
               .color = c->color,
               .look = c->look,
               .moves = c->moves,
               .deforms = c->deforms};
    rp_export_collider_name(job, index, t.name);
    return t;
}

static thing piece_thing(const rp_job *job, int index)
{
    const rp_job_piece *p = &job->pieces.list[index];
    thing t = {.scope = "Pieces",
               .index = index,
               .surface = &p->surface,
               .color = p->color,
               .look = RP_LOOK_SOLID,
               .moves = true};
    rp_job_piece_name(job, index, t.name);
    return t;
}

static bool is_piece(const thing *t) { return strcmp(t->scope, "Pieces") == 0; }

// A value, or one for each frame where it moves.
static void put_pose(rp_out *o, const rp_job *job, const thing *t, bool turn)
{
    const bool moves = t->moves;
    rp_out_text(o, "            %s%s", turn ? "quatf xformOp:orient" : "double3 xformOp:translate",
                moves ? ".timeSamples = {\n" : " = ");
    for (int64_t i = 0; i < (moves ? job->frames : 1); i++) {
        const rp_pose p = is_piece(t) ? rp_job_piece_pose(job, t->index, i)
                                      : rp_job_pose(job, t->index, (double)job->frame[i]);
        const double *x = p.position, *q = p.rotation;
        if (moves) {
            rp_out_text(o, "                %lld: ", (long long)job->frame[i]);
        }
        if (turn) {
            rp_out_text(o, "(%.9g, %.9g, %.9g, %.9g)", q[3], q[0], q[1], q[2]);
        } else {
            rp_out_text(o, "(%.17g, %.17g, %.17g)", x[0], x[1], x[2]);
        }
        rp_out_text(o, moves ? ",\n" : "\n");
    }
    rp_out_text(o, moves ? "            }\n" : "");
}

// A piece that has no particles any more is not there.
static void put_visibility(rp_out *o, const rp_job *job, const thing *t)
{
    const rp_job_pieces *p = &job->pieces;
    bool gone = false;
    for (int64_t i = 0; i < job->frames && is_piece(t); i++) {
        gone = gone || p->fit[i * p->count + t->index].particles == 0;
    }
    if (t->look == RP_LOOK_HIDDEN) {
        rp_out_text(o, "            token visibility = \"invisible\"\n");
    }
    if (!gone) {
        return;
    }
    rp_out_text(o, "            token visibility.timeSamples = {\n");
    for (int64_t i = 0; i < job->frames; i++) {
        rp_out_text(o, "                %lld: \"%s\",\n", (long long)job->frame[i],
                    p->fit[i * p->count + t->index].particles > 0 ? "inherited" : "invisible");
    }
    rp_out_text(o, "            }\n");
}

static void put_vectors(rp_out *o, const rp_job *job, float (*vector)[3], int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double x[3] = {vector[i][0], vector[i][1], vector[i][2]};
        rp_job_turn(job, x);
        rp_out_text(o, "%s(%.7g, %.7g, %.7g)", i > 0 ? ", " : "", x[0], x[1], x[2]);
    }
}

// Points and normals of a mesh that deforms, at each frame.
static rp_result put_deforming(rp_out *o, const rp_job *job, int index)
{
    for (int pass = 0; pass < 2; pass++) {
        rp_out_text(o, pass == 0 ? "            point3f[] points.timeSamples = {\n"
                                 : "            normal3f[] normals (\n"
                                   "                interpolation = \"vertex\"\n            )\n"
                                   "            normal3f[] normals.timeSamples = {\n");
        for (int64_t i = 0; i < job->frames; i++) {
            rp_surface s;
            RP_TRY(rp_record_surface(job->record, index, (double)job->frame[i], &s));
            rp_out_text(o, "                %lld: [", (long long)job->frame[i]);
            put_vectors(o, job, pass == 0 ? s.vertex : s.normal, s.vertices);
            rp_out_text(o, "],\n");
            rp_surface_free(&s);
        }
        rp_out_text(o, "            }\n");
    }
    return RP_OK;
}

static rp_result put_mesh(rp_out *o, const rp_job *job, const thing *t)
{
    const rp_surface *s = t->surface;
    rp_out_text(o,
                "        def Mesh \"%s\" (\n"
                "            prepend apiSchemas = [\"MaterialBindingAPI\"]\n        )\n        {\n"
                "            rel material:binding = </Run/Materials/%s/%s>\n"
                "            uniform token subdivisionScheme = \"none\"\n",
                t->name, t->scope, t->name);
    put_visibility(o, job, t);
    rp_out_text(o, "            color3f[] primvars:displayColor = [");
    put_linear(o, t->color);
    rp_out_text(o, "]\n");
    if (t->look == RP_LOOK_GLASS) {
        rp_out_text(o, "            float[] primvars:displayOpacity = [0.2]\n");
    }
    rp_out_text(o, "            int[] faceVertexCounts = [");
    for (int64_t i = 0; i < s->triangles; i++) {
        rp_out_text(o, i > 0 ? ", 3" : "3");
    }
    rp_out_text(o, "]\n            int[] faceVertexIndices = [");
    for (int64_t i = 0; i < s->triangles; i++) {
        rp_out_text(o, "%s%u, %u, %u", i > 0 ? ", " : "", s->triangle[i][0], s->triangle[i][1],
                    s->triangle[i][2]);
    }
    rp_out_text(o, "]\n");
    if (t->deforms) {
        RP_TRY(put_deforming(o, job, t->index));
    } else {
        rp_out_text(o, "            point3f[] points = [");
        put_vectors(o, job, s->vertex, s->vertices);
        rp_out_text(o, "]\n            normal3f[] normals = [");
        put_vectors(o, job, s->normal, s->vertices);
        rp_out_text(o, "] (\n                interpolation = \"vertex\"\n            )\n");
    }
    put_pose(o, job, t, false);
    put_pose(o, job, t, true);
    rp_out_text(o, "            uniform token[] xformOpOrder = [\"xformOp:translate\", "
                   "\"xformOp:orient\"]\n        }\n");
    return RP_OK;
}

// Matte, or glass; in a colour of its own or, where it is NULL, in that of each point.
static void put_material(rp_out *o, const char *path, const char *name, const double color[3],
                         bool glass)
{
    rp_out_text(o,
                "        def Material \"%s\"\n        {\n"
                "            token outputs:surface.connect = <%s/%s/Surface.outputs:surface>\n\n"
                "            def Shader \"Surface\"\n            {\n"
                "                uniform token info:id = \"UsdPreviewSurface\"\n"
                "                color3f inputs:diffuseColor",
                name, path, name);
    if (color != NULL) {
        rp_out_text(o, " = ");
        put_linear(o, color);
    } else {
        rp_out_text(o, ".connect = <%s/%s/Color.outputs:result>", path, name);
    }
    rp_out_text(o, "\n                float inputs:roughness = %s\n", glass ? "0.05" : "0.9");
    if (glass) {
        rp_out_text(o, "                float inputs:ior = 1.5\n"
                       "                float inputs:opacity = 0.2\n");
    }
    rp_out_text(o, "                token outputs:surface\n            }\n");
    if (color == NULL) {
        rp_out_text(o, "\n            def Shader \"Color\"\n            {\n"
                       "                uniform token info:id = \"UsdPrimvarReader_float3\"\n"
                       "                string inputs:varname = \"displayColor\"\n"
                       "                float3 outputs:result\n            }\n");
    }
    rp_out_text(o, "        }\n");
}

// Meshes of one scope, and then their materials.
static rp_result put_things(rp_out *o, const rp_job *job, thing (*get)(const rp_job *, int),
                            int count, const char *scope)
{
    rp_out_text(o, "\n    def Xform \"%s\"\n    {\n", scope);
    for (int i = 0; i < count; i++) {
        const thing t = get(job, i);
        RP_TRY(put_mesh(o, job, &t));
    }
    rp_out_text(o, "    }\n");
    return RP_OK;
}

static void put_materials(rp_out *o, const rp_job *job, thing (*get)(const rp_job *, int),
                          int count, const char *scope)
{
    char path[RP_NAME_SIZE];
    snprintf(path, sizeof path, "/Run/Materials/%s", scope);
    rp_out_text(o, "\n        def Scope \"%s\"\n        {\n", scope);
    for (int i = 0; i < count; i++) {
        const thing t = get(job, i);
        put_material(o, path, t.name, t.color, t.look == RP_LOOK_GLASS);
    }
    rp_out_text(o, "        }\n");
}

static rp_result write_run(const rp_job *job, const keep *k)
{
    char path[RP_JOB_PATH];
    rp_out o;
    const int colliders = job->info.colliders, pieces = job->pieces.count;
    rp_job_path(job, path, "run.usda");
    RP_TRY(rp_out_open(&o, job, path));
    put_head(&o, job);
    rp_out_text(&o, "def Xform \"Run\" (\n    kind = \"component\"\n)\n{\n");
    put_points(&o, job, k);
    rp_result result = put_things(&o, job, collider_thing, colliders, "Colliders");
    if (result == RP_OK && pieces > 0) {
        result = put_things(&o, job, piece_thing, pieces, "Pieces");
    }
    rp_out_text(&o, "\n    def Scope \"Materials\"\n    {\n");
    put_material(&o, "/Run/Materials", "Particles", NULL, false);
    put_materials(&o, job, collider_thing, colliders, "Colliders");
    if (pieces > 0) {
        put_materials(&o, job, piece_thing, pieces, "Pieces");
    }
    rp_out_text(&o, "    }\n}\n");
    o.result = o.result == RP_OK ? result : o.result;
    return rp_out_close(&o);
}

// ---- clips ----

static rp_result write_clip(const rp_job *job, const keep *k, const rp_cargo *c)
{
    char path[RP_JOB_PATH];
    rp_out o;
    rp_job_path(job, path, "particles.%04lld.usda", (long long)c->frame);
    RP_TRY(rp_out_open(&o, job, path));
    put_head(&o, job);
    rp_out_text(&o, "over \"Run\"\n{\n    over \"Particles\"\n    {\n");
    put_samples(&o, k, c, 1);
    rp_out_text(&o, "    }\n}\n");
    return rp_out_close(&o);
}

// The names without values: what clips may have something to say about.
static rp_result write_manifest(const rp_job *job, const keep *k)
{
    char path[RP_JOB_PATH];
    rp_out o;
    rp_job_path(job, path, "particles.manifest.usda");
    RP_TRY(rp_out_open(&o, job, path));
    rp_out_text(&o, "#usda 1.0\n\nover \"Run\"\n{\n    over \"Particles\"\n    {\n");
    for (int which = 0; which < attributes(&k->cargo[0]); which++) {
        if (!is_steady(k, which)) {
            put_declaration(&o, &k->cargo[0], which);
            rp_out_text(&o, "\n");
        }
    }
    rp_out_text(&o, "    }\n}\n");
    return rp_out_close(&o);
}

// ---- the exporter ----

static void drop(rp_job *job)
{
    keep *k = job->state;
    for (int64_t i = 0; i < k->count; i++) {
        rp_cargo_free(&k->cargo[i]);
    }
    rp_roster_free(&k->roster);
    free(k->cargo);
    free(k);
}

static rp_result start(rp_job *job)
{
    keep *k = calloc(1, sizeof *k);
    if (k == NULL || (k->cargo = calloc((size_t)job->frames, sizeof *k->cargo)) == NULL) {
        free(k);
        return rp_fail(RP_ERR_MEMORY, "no memory for %lld frames", (long long)job->frames);
    }
    job->state = k;
    job->drop = drop;
    RP_TRY(rp_roster_make(job, &k->roster));
    k->clips = job->def->clips || k->roster.count > FEW / job->frames;
    return RP_OK;
}

static rp_result write_frame(rp_job *job, int64_t index, rp_cargo *c)
{
    keep *k = job->state;
    RP_TRY(rp_roster_fill(&k->roster, c));
    const rp_result result = k->clips ? write_clip(job, k, c) : RP_OK;
    if (result == RP_OK && (!k->clips || index == 0)) {
        k->cargo[k->count++] = *c;
        *c = (rp_cargo){0}; // kept
    }
    return result;
}

static rp_result finish(rp_job *job)
{
    const keep *k = job->state;
    if (k->clips) {
        RP_TRY(write_manifest(job, k));
    }
    return write_run(job, k);
}

const rp_exporter rp_export_usda = {
    .name = "usda", .start = start, .frame = write_frame, .finish = finish};
