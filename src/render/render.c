// The public side: checks what the caller gave, chooses what was left open, reads frames.
#include "repose/render.h"

#include "render/legend.h"
#include "render/plot.h"
#include "render/png.h"
#include "render/sampler.h"
#include "render/show.h"
#include "repose/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    COOKIE = 0x9ec7e4,
    WIDEST = 8192, // pixels
};
static const double RADIUS_MIN = 1e-9, RADIUS_MAX = 1e6; // [m]
static const double FOV_MIN = 0.017, FOV_MAX = 2.62;     // a little beyond 1 and 150 degrees [rad]
static const double FOV = 30.0 * (M_PI / 180.0);
static const float FLOOR[3] = {0.56f, 0.53f, 0.49f};

rp_render_def rp_default_render_def(void)
{
    return (rp_render_def){.width = 1280, .height = 720, .legend = true, .cookie = COOKIE};
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
    if (!(def->shutter >= 0.0 && def->shutter <= 1.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "render.shutter: want 0 to 1 of a frame, got %g",
                       def->shutter);
    }
    if (def->has_range &&
        !(def->range[0] < def->range[1] && isfinite(def->range[1] - def->range[0]))) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "render.range: want two numbers, the lower first, got %g and %g",
                       def->range[0], def->range[1]);
    }
    return check_whole("plot", (int)def->plot, RP_PLOT_NONE, RP_PLOT_YIELD);
}

// ---- what the caller left open ----

static rp_shot make_shot(const rp_render_def *def)
{
    rp_shot shot = {.mood = RP_MOOD_SUN};
    shot.camera.width = def->width;
    shot.camera.height = def->height;
    shot.camera.fov = def->fov > 0.0 ? def->fov : FOV;
    shot.camera.z_up = def->z_up;
    shot.effort.samples = def->samples > 0 ? def->samples : def->preview ? 1 : 64;
    shot.effort.bounces = 2;
    shot.effort.quick = def->preview;
    shot.effort.stop = def->stop;
    shot.effort.stop_context = def->stop_context;
    shot.effort.threads = def->threads > 0 ? def->threads : rp_default_threads();
    memcpy(shot.ground_color, FLOOR, sizeof FLOOR);
    return shot;
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
        result = rp_show_view(def, &crowd, crowd.count, radius, &shot.camera);
    }
    if (result == RP_OK) {
        result = rp_shot_take(&shot, &crowd, NULL, 0, radius, rgb);
    }
    rp_crowd_free(&crowd);
    return result;
}

// ---- a run ----

static void take_camera(rp_render *render)
{
    rp_render_def *def = &render->def;
    rp_record_info info;
    if (render->record == NULL) {
        def->z_up = def->z_up || rp_record_up(render->path) == 2;
        return;
    }
    rp_record_get_info(render->record, &info);
    def->z_up = info.up == 2;
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
    return rp_show_survey(render);
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
    render->color = strdup(def->plot == RP_PLOT_YIELD ? "pressure"
                           : def->color != NULL       ? def->color
                                                      : "grains");
    if (render->color == NULL) {
        rp_render_close(render);
        return rp_fail(RP_ERR_MEMORY, "no memory for pictures of %s", path);
    }
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
        rp_quantity_free(&render->quantity);
        free(render->color);
        free(render->path);
        free(render);
    }
}

void rp_render_get_view(const rp_render *render, rp_render_view *out)
{
    const rp_camera *v = &render->shot.camera;
    const rp_quantity *q = &render->quantity;
    *out = (rp_render_view){
        .width = v->width, .height = v->height, .fov = v->fov, .parallel = v->parallel};
    memcpy(out->eye, v->eye, sizeof out->eye);
    memcpy(out->look_at, v->look, sizeof out->look_at);
    if (q->kind == RP_QUANTITY_NUMBERS) {
        out->has_range = true;
        out->range[0] = q->low;
        out->range[1] = q->high;
    }
}

// ---- a picture ----

// Particles, and what stands around them.
static rp_result draw_particles(const rp_render *render, int64_t frame, const char *path,
                                unsigned char *rgb)
{
    rp_crowd crowd;
    rp_pool water;
    rp_prop *prop = NULL;
    int props = 0;
    rp_shot shot = render->shot;
    shot.shutter = render->def.shutter / (render->fps > 0.0 ? render->fps : 24.0);
    RP_TRY(rp_show_read(render, path, &crowd, &water));
    rp_result result = RP_OK;
    if (render->record != NULL) {
        shot.cuts = rp_props_cuts(render->record, &shot.camera, frame, shot.cut);
        result =
            rp_props_make(render->record, &shot.camera, frame, render->def.shutter, &prop, &props);
    } else if ((prop = calloc(1, sizeof *prop)) == NULL) {
        result = rp_fail(RP_ERR_MEMORY, "no memory for the water of a picture");
    }
    if (result == RP_OK && water.count > 0) {
        result = rp_pool_show(&water, &crowd, render->record, frame, &shot, &prop[props++]);
    }
    rp_pool_free(&water);
    if (result == RP_OK) {
        result = rp_shot_take(&shot, &crowd, prop, props, 0.0, rgb);
    }
    rp_props_free(prop, props);
    rp_crowd_free(&crowd);
    return result;
}

static rp_result look_up(const char *path, rp_frame_info *info)
{
    rp_frame *frame;
    RP_TRY(rp_frame_open(path, &frame));
    rp_frame_get_info(frame, info);
    rp_frame_close(frame);
    return RP_OK;
}

rp_result rp_render_which(const rp_render *render, int64_t *frame, double *time)
{
    char path[RP_SHOW_PATH];
    rp_frame_info info;
    RP_TRY(rp_show_find(render, frame, path));
    RP_TRY(look_up(path, &info));
    *frame = render->record != NULL ? *frame : info.frame;
    *time = info.time;
    return RP_OK;
}

static rp_result draw_words(const rp_render *render, const char *path, rp_canvas *canvas)
{
    if (render->def.legend && render->def.plot == RP_PLOT_NONE) {
        rp_legend_draw(canvas, &render->quantity);
    }
    if (render->def.stamp && render->def.plot == RP_PLOT_NONE) { // a diagram has it in its key
        rp_frame_info info;
        RP_TRY(look_up(path, &info));
        rp_legend_stamp(canvas, info.time, info.fps);
    }
    return RP_OK;
}

rp_result rp_render_frame(const rp_render *render, int64_t frame, const char *png)
{
    char path[RP_SHOW_PATH];
    const int width = render->def.width, height = render->def.height;
    RP_TRY(rp_show_find(render, &frame, path));
    if (strcmp(path, png) == 0) {
        return rp_fail(RP_ERR_ARGUMENT, "the picture would take the place of its frame, %s", path);
    }
    if (rp_effort_ends(&render->shot.effort)) {
        return rp_fail(RP_ERR_STOPPED, "stopped before %s was begun", png);
    }
    rp_canvas canvas = {width, height, malloc((size_t)width * (size_t)height * 3)};
    if (canvas.rgb == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for a picture of %d x %d pixels", width, height);
    }
    rp_result result = render->def.plot == RP_PLOT_YIELD
                           ? rp_plot_yield(render, path, &canvas)
                           : draw_particles(render, frame, path, canvas.rgb);
    if (result == RP_OK) {
        result = draw_words(render, path, &canvas);
    }
    if (result == RP_OK) {
        result = rp_png_write(png, width, height, canvas.rgb, render->def.preview);
    }
    free(canvas.rgb);
    return result;
}
