// The public side: checks what the caller gave, chooses what was left open, reads frames.
#include "repose/render.h"

#include "render/png.h"
#include "render/props.h"
#include "render/sampler.h"
#include "render/shot.h"
#include "repose/record.h"
#include "repose/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    COOKIE = 0x9ec7e4,
    WIDEST = 8192,   // pixels
    CHUNK = 1 << 16, // particles read at a time
    PATH_MOST = 8192,
    SURVEYED = 9,         // frames that are looked at to choose a view
    SURVEY_MOST = 1 << 18 // particles of them all
};
static const double RADIUS_MIN = 1e-9, RADIUS_MAX = 1e6; // [m]
static const double FOV_MIN = 0.017, FOV_MAX = 2.62;     // a little beyond 1 and 150 degrees [rad]
static const double FOV = 30.0 * (M_PI / 180.0);
static const double APART = 1e-9; // eye and what it looks at, at least [m]
static const float FLOOR[3] = {0.60f, 0.575f, 0.54f};

struct rp_render {
    rp_render_def def;
    char *path;        // of the run or the frame
    rp_record *record; // NULL: a single frame
    rp_shot shot;
};

rp_render_def rp_default_render_def(void)
{
    return (rp_render_def){.width = 1280, .height = 720, .cookie = COOKIE};
}

// ---- what the caller gave ----

static rp_result check_place(const char *name, const double x[3])
{
    for (int i = 0; i < 3; i++) {
        if (!(fabs(x[i]) <= RP_FARTHEST)) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "render.%s: want finite numbers, up to %g m, got %g %g %g", name,
                           RP_FARTHEST, x[0], x[1], x[2]);
        }
    }
    return RP_OK;
}

static rp_result check_whole(const char *name, int value, int least, int most)
{
    return value >= least && value <= most
               ? RP_OK
               : rp_fail(RP_ERR_ARGUMENT, "render.%s: want %d to %d, got %d", name, least, most,
                         value);
}

static rp_result check_def(const rp_render_def *def)
{
    if (def->cookie != COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "render: start from rp_default_render_def()");
    }
    RP_TRY(check_whole("width", def->width, 1, WIDEST));
    RP_TRY(check_whole("height", def->height, 1, WIDEST));
    RP_TRY(check_whole("samples", def->samples, 0, SAMPLER_MOST));
    RP_TRY(check_whole("threads", def->threads, 0, 1024));
    if (def->has_eye) {
        RP_TRY(check_place("eye", def->eye));
    }
    if (def->has_look) {
        RP_TRY(check_place("look_at", def->look_at));
    }
    if (def->fov != 0.0 && !(def->fov >= FOV_MIN && def->fov <= FOV_MAX)) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "render.fov: want %g to %g rad, or 0 for the scene's, got %g", FOV_MIN,
                       FOV_MAX, def->fov);
    }
    if (def->radius != 0.0 && !(def->radius >= RADIUS_MIN && def->radius <= RADIUS_MAX)) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "render.radius: want %g to %g m, or 0 to take it from the particles, got %g",
                       RADIUS_MIN, RADIUS_MAX, def->radius);
    }
    return RP_OK;
}

// ---- what the caller left open ----

static rp_shot make_shot(const rp_render_def *def)
{
    rp_shot shot = {.quick = def->preview, .mood = RP_MOOD_SUN};
    shot.view.width = def->width;
    shot.view.height = def->height;
    shot.view.fov = def->fov > 0.0 ? def->fov : FOV;
    shot.effort.samples = def->samples > 0 ? def->samples : def->preview ? 2 : 64;
    shot.effort.bounces = def->preview ? 0 : 2;
    shot.effort.threads = def->threads > 0 ? def->threads : rp_default_threads();
    memcpy(shot.ground_color, FLOOR, sizeof FLOOR);
    return shot;
}

// The view that shows all of the crowd, and then what the caller wants of it.
static rp_result choose_view(const rp_render_def *def, const rp_crowd *crowd, double radius,
                             rp_view *v)
{
    rp_crowd_bounds(crowd, v->lower, v->upper);
    const double corner[2][3] = {{v->lower[0], v->lower[1], v->lower[2]},
                                 {v->upper[0], v->upper[1], v->upper[2]}};
    RP_TRY(rp_view_aim(v, crowd->count > 0 ? crowd->point : corner,
                       crowd->count > 0 ? crowd->count : 2, radius, crowd->flat));
    double apart = 0.0;
    for (int a = 0; a < 3; a++) {
        const double middle = 0.5 * (v->lower[a] + v->upper[a]);
        if (def->has_eye) {
            v->eye[a] = def->eye[a];
            v->look[a] = def->has_look ? def->look_at[a] : middle;
        } else if (def->has_look) {
            v->eye[a] += def->look_at[a] - v->look[a];
            v->look[a] = def->look_at[a];
        }
        apart += fabs(v->eye[a] - v->look[a]);
    }
    if (!(apart >= APART)) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "render.eye: the camera stands at %g %g %g and looks at the same place",
                       v->eye[0], v->eye[1], v->eye[2]);
    }
    v->lower[1] -= radius; // grains lie on the ground, not in it
    return RP_OK;
}

// ---- particles that come from elsewhere ----

static rp_result fill_crowd(rp_crowd *crowd, const double *position, const uint64_t *id,
                            int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const size_t at = rp_crowd_add(crowd, &position[3 * i]);
        if (at != SIZE_MAX) {
            rp_grain_color(id != NULL ? id[i] : (uint64_t)i, crowd->color[at]);
        }
    }
    return RP_OK;
}

rp_result rp_render_points(const double *position, const uint64_t *id, int64_t count, int dimension,
                           const rp_render_def *def, unsigned char *rgb)
{
    RP_TRY(check_def(def));
    if (dimension != 2 && dimension != 3) {
        return rp_fail(RP_ERR_ARGUMENT, "render.dimension: want 2 or 3, got %d", dimension);
    }
    if (count < 0) {
        return rp_fail(RP_ERR_ARGUMENT, "render.count: want 0 or more, got %lld", (long long)count);
    }
    rp_crowd crowd;
    RP_TRY(rp_crowd_open(&crowd, count, dimension == 2, false));
    rp_result result = fill_crowd(&crowd, position, id, count);
    const double radius = def->radius > 0.0 ? def->radius : rp_crowd_radius(&crowd);
    rp_shot shot = make_shot(def);
    if (result == RP_OK) {
        result = choose_view(def, &crowd, radius, &shot.view);
    }
    if (result == RP_OK) {
        result = rp_shot_take(&shot, &crowd, NULL, 0, radius, rgb);
    }
    rp_crowd_free(&crowd);
    return result;
}

// ---- frames ----

// A frame may come from anywhere: a column is used only where it has as many components as it
// should.
static bool has_column(const rp_frame *frame, const char *name, int comps)
{
    rp_frame_info info;
    rp_frame_column_info column;
    rp_frame_get_info(frame, &info);
    for (int i = 0; i < info.columns && rp_frame_column(frame, i, &column) == RP_OK; i++) {
        if (strcmp(column.name, name) == 0) {
            return column.comps == comps;
        }
    }
    return false;
}

// One frame while it is read.
typedef struct reading {
    rp_frame *frame;
    rp_frame_info info;
    rp_frame_group *group;
    int groups;
    double (*position)[3], *number, *source; // of a chunk
} reading;

static void end_reading(reading *r)
{
    rp_frame_close(r->frame);
    free(r->group);
    free(r->position);
    free(r->number);
    free(r->source);
}

static rp_result begin_reading(const char *path, reading *r)
{
    *r = (reading){0};
    RP_TRY(rp_frame_open(path, &r->frame));
    rp_frame_get_info(r->frame, &r->info);
    r->position = malloc(CHUNK * sizeof *r->position);
    r->number = malloc(CHUNK * sizeof *r->number);
    r->source = malloc(CHUNK * sizeof *r->source);
    rp_result result = r->position != NULL && r->number != NULL && r->source != NULL
                           ? rp_frame_groups(r->frame, &r->group, &r->groups)
                           : rp_fail(RP_ERR_MEMORY, "no memory to read %s", path);
    if (result != RP_OK) {
        end_reading(r);
    }
    return result;
}

static double radius_of(const rp_render *render, const reading *r, double group)
{
    const bool known = group >= 0.0 && group < r->groups;
    const double volume = known ? r->group[(int)group].volume : 0.0;
    return render->def.radius > 0.0 ? render->def.radius
           : volume > 0.0           ? rp_radius_of_volume(volume, r->info.dimension)
                                    : 0.25 * r->info.dx;
}

static rp_result read_chunk(const rp_render *render, reading *r, int64_t first, int64_t count,
                            rp_crowd *crowd)
{
    const bool ids = has_column(r->frame, "id", 1), groups = has_column(r->frame, "group", 1);
    RP_TRY(rp_frame_read(r->frame, "position", first, count, r->position[0]));
    if (ids) {
        RP_TRY(rp_frame_read(r->frame, "id", first, count, r->number));
    }
    if (groups) {
        RP_TRY(rp_frame_read(r->frame, "group", first, count, r->source));
    }
    for (int64_t i = 0; i < count; i++) {
        const size_t at = rp_crowd_add(crowd, r->position[i]);
        if (at == SIZE_MAX) {
            continue;
        }
        const double x = ids ? r->number[i] : (double)(first + i);
        rp_grain_color(x >= 0.0 && x < 0x1p64 ? (uint64_t)x : 0, crowd->color[at]);
        crowd->radius[at] = (float)radius_of(render, r, groups ? r->source[i] : -1.0);
    }
    return RP_OK;
}

static rp_result read_crowd(const rp_render *render, const char *path, rp_crowd *crowd)
{
    reading r;
    RP_TRY(begin_reading(path, &r));
    rp_result result = rp_crowd_open(crowd, r.info.particles, r.info.dimension == 2, false);
    if (result == RP_OK) {
        crowd->radius = malloc((crowd->room + 1) * sizeof *crowd->radius);
        if (crowd->radius == NULL) {
            result = rp_fail(RP_ERR_MEMORY, "no memory for the %lld particles of %s",
                             (long long)r.info.particles, path);
        }
        for (int64_t first = 0; result == RP_OK && first < r.info.particles; first += CHUNK) {
            const int64_t left = r.info.particles - first;
            result = read_chunk(render, &r, first, left < CHUNK ? left : CHUNK, crowd);
        }
        if (result != RP_OK) {
            rp_crowd_free(crowd);
        }
    }
    end_reading(&r);
    return result;
}

// ---- a look at the whole run ----

// A few particles of a frame, in runs that lie evenly among all.
static rp_result survey_frame(const char *path, int64_t most, rp_crowd *crowd, double *radius)
{
    enum { RUN = 256 };
    reading r;
    RP_TRY(begin_reading(path, &r));
    crowd->flat = r.info.dimension == 2;
    rp_result result = RP_OK;
    for (int i = 0; i < r.groups; i++) {
        *radius = fmax(*radius, rp_radius_of_volume(r.group[i].volume, r.info.dimension));
    }
    const int64_t runs = (r.info.particles + RUN - 1) / RUN, wanted = most / RUN;
    const int64_t taken = runs < wanted ? runs : wanted;
    for (int64_t k = 0; k < taken && result == RP_OK; k++) {
        const int64_t first = k * runs / taken * RUN, left = r.info.particles - first;
        const int64_t count = left < RUN ? left : RUN;
        result = rp_frame_read(r.frame, "position", first, count, r.position[0]);
        for (int64_t i = 0; i < count && result == RP_OK; i++) {
            rp_crowd_add(crowd, r.position[i]);
        }
    }
    end_reading(&r);
    return result;
}

static rp_result survey(rp_render *render, rp_crowd *crowd, double *radius)
{
    char path[PATH_MOST];
    rp_record_info info;
    if (render->record == NULL) {
        return survey_frame(render->path, SURVEY_MOST, crowd, radius);
    }
    rp_record_get_info(render->record, &info);
    for (int64_t k = 0; k < SURVEYED; k++) {
        const int64_t frame = k * info.last / (SURVEYED - 1);
        if ((k == 0 || frame != (k - 1) * info.last / (SURVEYED - 1)) &&
            rp_record_frame(render->record, frame, path, sizeof path)) {
            RP_TRY(survey_frame(path, SURVEY_MOST / SURVEYED, crowd, radius));
        }
    }
    return RP_OK;
}

// What stands around is to be seen too, if it is not much larger than what happens.
static void survey_props(const rp_render *render, rp_crowd *crowd)
{
    rp_record_info info;
    double lower[3], upper[3], size = 0.0;
    if (render->record == NULL) {
        return;
    }
    rp_record_get_info(render->record, &info);
    rp_crowd_bounds(crowd, lower, upper);
    for (int a = 0; a < 3; a++) {
        size = fmax(size, upper[a] - lower[a]);
    }
    for (int i = 0; i < info.colliders; i++) {
        const rp_record_collider *c = rp_record_collider_at(render->record, i);
        const bool drawn = c->look != RP_LOOK_HIDDEN && i != rp_props_ground(render->record);
        const int64_t stride = 1 + c->surface.vertices / 2000;
        for (int pass = 0; pass < 2 && drawn && c->surface.vertices > 4; pass++) {
            double far = 0.0;
            for (int k = 0; k < SURVEYED; k++) {
                const rp_pose pose = rp_record_pose(render->record, i,
                                                    (double)k * (double)info.last / (SURVEYED - 1));
                for (int64_t v = 0; v < c->surface.vertices; v += stride) {
                    double x[3];
                    rp_props_place(&pose, c->surface.vertex[v], x);
                    for (int a = 0; a < 3; a++) {
                        far = fmax(far, fmax(lower[a] - x[a], x[a] - upper[a]));
                    }
                    if (pass == 1 && crowd->count < crowd->room) {
                        rp_crowd_add(crowd, x);
                    }
                }
            }
            if (far > 1.5 * size) {
                break;
            }
        }
    }
}

static void take_ground(rp_render *render)
{
    const int ground = render->record != NULL ? rp_props_ground(render->record) : -1;
    if (ground < 0) {
        return;
    }
    const rp_record_collider *c = rp_record_collider_at(render->record, ground);
    render->shot.has_ground = true;
    for (int a = 0; a < 3; a++) {
        render->shot.ground_point[a] = (double)c->surface.vertex[0][a];
        render->shot.ground_normal[a] = (double)c->surface.normal[0][a];
    }
}

static void take_camera(rp_render *render)
{
    rp_render_def *def = &render->def;
    rp_record_info info;
    if (render->record == NULL) {
        return;
    }
    rp_record_get_info(render->record, &info);
    if (info.has_camera && !def->has_eye && !def->has_look) {
        memcpy(def->eye, info.eye, sizeof def->eye);
        memcpy(def->look_at, info.look_at, sizeof def->look_at);
        def->has_eye = def->has_look = true;
        def->fov = def->fov > 0.0 ? def->fov : info.fov;
    }
}

static rp_result prepare(rp_render *render)
{
    struct stat about;
    rp_crowd crowd;
    double radius = 0.0;
    if (stat(render->path, &about) != 0) {
        return rp_fail(RP_ERR_FILE, "cannot read %s: %s", render->path, strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) {
        rp_record_info info;
        RP_TRY(rp_record_open(render->path, &render->record));
        rp_record_get_info(render->record, &info);
        if (info.last < 0) {
            return rp_fail(RP_ERR_FILE, "%s has no frames yet", render->path);
        }
    }
    take_camera(render);
    render->shot = make_shot(&render->def);
    take_ground(render);
    RP_TRY(rp_crowd_open(&crowd, SURVEY_MOST + (1 << 16), false, false));
    rp_result result = survey(render, &crowd, &radius);
    if (result == RP_OK) {
        survey_props(render, &crowd);
        radius = render->def.radius > 0.0 ? render->def.radius : radius;
        radius = radius > 0.0 ? radius : rp_crowd_radius(&crowd);
        result = choose_view(&render->def, &crowd, radius, &render->shot.view);
    }
    rp_crowd_free(&crowd);
    return result;
}

rp_result rp_render_open(const char *path, const rp_render_def *def, rp_render **out)
{
    *out = NULL;
    RP_TRY(check_def(def));
    rp_render *render = calloc(1, sizeof *render);
    if (render == NULL || (render->path = strdup(path)) == NULL) {
        free(render);
        return rp_fail(RP_ERR_MEMORY, "no memory for pictures of %s", path);
    }
    render->def = *def;
    const rp_result result = prepare(render);
    if (result != RP_OK) {
        rp_render_close(render);
        return result;
    }
    *out = render;
    return RP_OK;
}

void rp_render_close(rp_render *render)
{
    if (render != NULL) {
        rp_record_close(render->record);
        free(render->path);
        free(render);
    }
}

// ---- a picture ----

static rp_result find_frame(const rp_render *render, int64_t *frame, char path[PATH_MOST])
{
    rp_record_info info;
    if (render->record == NULL) {
        return snprintf(path, PATH_MOST, "%s", render->path) < PATH_MOST
                   ? RP_OK
                   : rp_fail(RP_ERR_ARGUMENT, "the path of a frame is too long");
    }
    rp_record_get_info(render->record, &info);
    *frame = *frame >= 0 ? *frame : info.last;
    if (!rp_record_frame(render->record, *frame, path, PATH_MOST)) {
        return rp_fail(RP_ERR_ARGUMENT, "%s has no frame %lld; its last is %lld", render->path,
                       (long long)*frame, (long long)info.last);
    }
    return RP_OK;
}

// The picture itself, from a crowd and what stands around it.
static rp_result draw(const rp_render *render, int64_t frame, rp_crowd *crowd, unsigned char *rgb)
{
    rp_prop *prop = NULL;
    int props = 0;
    if (render->record != NULL) {
        const rp_scale scale = rp_shot_scale(&render->shot.view);
        RP_TRY(rp_props_make(render->record, &scale, frame, 0.0, &prop, &props));
    }
    const rp_result result = rp_shot_take(&render->shot, crowd, prop, props, 0.0, rgb);
    rp_props_free(prop, props);
    return result;
}

rp_result rp_render_frame(const rp_render *render, int64_t frame, const char *png)
{
    char path[PATH_MOST];
    rp_crowd crowd;
    const rp_view *view = &render->shot.view;
    RP_TRY(find_frame(render, &frame, path));
    if (strcmp(path, png) == 0) {
        return rp_fail(RP_ERR_ARGUMENT, "the picture would take the place of its frame, %s", path);
    }
    RP_TRY(read_crowd(render, path, &crowd));
    unsigned char *rgb = malloc((size_t)view->width * (size_t)view->height * 3);
    rp_result result = rgb != NULL
                           ? draw(render, frame, &crowd, rgb)
                           : rp_fail(RP_ERR_MEMORY, "no memory for a picture of %d x %d pixels",
                                     view->width, view->height);
    if (result == RP_OK) {
        result = rp_png_write(png, view->width, view->height, rgb);
    }
    rp_crowd_free(&crowd);
    free(rgb);
    return result;
}
