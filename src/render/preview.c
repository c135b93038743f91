// From particles or a frame to a picture: checks what the caller gave, fills in what was left open.
#include "repose/preview.h"
#include "repose/frame.h"

#include "render/splat.h"

#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COOKIE = 0x9ec7e3,
    WIDEST = 8192,  // pixels
    CHUNK = 1 << 16 // particles read at a time
};
static const double RADIUS_MIN = 1e-9, RADIUS_MAX = 1e6; // [m]
static const double FOV_MIN = 0.017, FOV_MAX = 2.62;     // a little beyond 1 and 150 degrees [rad]
static const double APART = 1e-9;                        // eye and what it looks at, at least [m]

rp_preview_def rp_default_preview_def(void)
{
    return (rp_preview_def){
        .width = 1280, .height = 720, .fov = 30.0 * (M_PI / 180.0), .cookie = COOKIE};
}

// ---- what the caller gave ----

static rp_result check_place(const char *name, const double x[3])
{
    for (int i = 0; i < 3; i++) {
        if (!(fabs(x[i]) <= RP_FARTHEST)) {
            return rp_fail(RP_ERR_ARGUMENT,
                           "preview.%s: want finite numbers, up to %g m, got %g %g %g", name,
                           RP_FARTHEST, x[0], x[1], x[2]);
        }
    }
    return RP_OK;
}

static rp_result check_size(const char *name, int pixels)
{
    if (pixels < 1 || pixels > WIDEST) {
        return rp_fail(RP_ERR_ARGUMENT, "preview.%s: want 1 to %d, got %d", name, WIDEST, pixels);
    }
    return RP_OK;
}

static rp_result check_def(const rp_preview_def *def)
{
    if (def->cookie != COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "preview: start from rp_default_preview_def()");
    }
    rp_result result = check_size("width", def->width);
    if (result == RP_OK) {
        result = check_size("height", def->height);
    }
    if (result == RP_OK && def->has_eye) {
        result = check_place("eye", def->eye);
    }
    if (result == RP_OK && def->has_look) {
        result = check_place("look_at", def->look_at);
    }
    if (result != RP_OK) {
        return result;
    }
    if (!(def->fov >= FOV_MIN && def->fov <= FOV_MAX)) {
        return rp_fail(RP_ERR_ARGUMENT, "preview.fov: want %g to %g rad, got %g", FOV_MIN, FOV_MAX,
                       def->fov);
    }
    if (def->radius != 0.0 && !(def->radius >= RADIUS_MIN && def->radius <= RADIUS_MAX)) {
        return rp_fail(
            RP_ERR_ARGUMENT,
            "preview.radius: want %g to %g m, or 0 to take it from the particles, got %g",
            RADIUS_MIN, RADIUS_MAX, def->radius);
    }
    return RP_OK;
}

// ---- what the caller left open ----

static rp_vec3 to_vec(const double x[3]) { return (rp_vec3){x[0], x[1], x[2]}; }

static rp_result complete_view(const rp_preview_def *def, const rp_cloud *cloud, rp_view *view)
{
    *view = (rp_view){.width = def->width, .height = def->height, .fov = def->fov};
    view->radius = def->radius > 0.0 ? def->radius : rp_cloud_radius(cloud);
    rp_view_aim(view, cloud);
    if (def->has_eye) {
        view->eye = to_vec(def->eye);
        view->look = def->has_look ? to_vec(def->look_at) : rp_cloud_middle(cloud);
    } else if (def->has_look) {
        const rp_vec3 e = view->eye, l = view->look, to = to_vec(def->look_at);
        view->eye = (rp_vec3){to.x + e.x - l.x, to.y + e.y - l.y, to.z + e.z - l.z};
        view->look = to;
    }
    const rp_vec3 e = view->eye, l = view->look;
    if (def->has_eye && fabs(e.x - l.x) + fabs(e.y - l.y) + fabs(e.z - l.z) < APART) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "preview.eye: the camera stands at %g %g %g and looks at the same place",
                       e.x, e.y, e.z);
    }
    return RP_OK;
}

static rp_result draw(const rp_preview_def *def, const rp_cloud *cloud, unsigned char *rgb)
{
    rp_view view;
    const rp_result result = complete_view(def, cloud, &view);
    if (result == RP_OK && !rp_view_draw(&view, cloud, rgb)) {
        return rp_fail(RP_ERR_MEMORY, "no memory for a picture of %d x %d pixels and %zu particles",
                       def->width, def->height, cloud->count);
    }
    return result;
}

rp_result rp_preview_points(const double *position, const uint64_t *id, int64_t count,
                            int dimension, const rp_preview_def *def, unsigned char *rgb)
{
    rp_result result = check_def(def);
    if (result != RP_OK) {
        return result;
    }
    if (dimension != 2 && dimension != 3) {
        return rp_fail(RP_ERR_ARGUMENT, "preview.dimension: want 2 or 3, got %d", dimension);
    }
    if (count < 0) {
        return rp_fail(RP_ERR_ARGUMENT, "preview.count: want 0 or more, got %lld",
                       (long long)count);
    }
    rp_cloud cloud;
    if (!rp_cloud_open(&cloud, count, dimension == 2)) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the %lld particles of a picture",
                       (long long)count);
    }
    rp_cloud_add(&cloud, (const double(*)[3])position, id, 0, count);
    rp_cloud_close(&cloud);
    result = draw(def, &cloud, rgb);
    rp_cloud_free(&cloud);
    return result;
}

// ---- frames ----

// A frame may come from anywhere: its ids are used only where they are single numbers.
static bool has_ids(const rp_frame *frame, const rp_frame_info *info)
{
    rp_frame_column_info column;
    for (int i = 0; i < info->columns && rp_frame_column(frame, i, &column) == RP_OK; i++) {
        if (strcmp(column.name, "id") == 0) {
            return column.comps == 1;
        }
    }
    return false;
}

typedef struct chunk {
    double position[CHUNK][3], number[CHUNK];
    uint64_t id[CHUNK];
} chunk;

static rp_result read_chunks(const rp_frame *frame, const rp_frame_info *info, chunk *part,
                             rp_cloud *cloud)
{
    const bool ids = has_ids(frame, info);
    for (int64_t first = 0; first < info->particles; first += CHUNK) {
        const int64_t left = info->particles - first, count = left < CHUNK ? left : CHUNK;
        rp_result result = rp_frame_read(frame, "position", first, count, part->position[0]);
        if (result == RP_OK && ids) {
            result = rp_frame_read(frame, "id", first, count, part->number);
        }
        if (result != RP_OK) {
            return result;
        }
        for (int64_t i = 0; i < count && ids; i++) {
            const double x = part->number[i];
            part->id[i] = x >= 0.0 && x < 0x1p64 ? (uint64_t)x : 0;
        }
        rp_cloud_add(cloud, part->position, ids ? part->id : NULL, first, count);
    }
    return RP_OK;
}

// @param[out] cloud to be freed by the caller when this succeeds
static rp_result read_cloud(const char *path, rp_cloud *cloud)
{
    rp_frame *frame;
    rp_result result = rp_frame_open(path, &frame);
    if (result != RP_OK) {
        return result;
    }
    rp_frame_info info;
    rp_frame_get_info(frame, &info);
    chunk *part = malloc(sizeof *part);
    const bool enough = rp_cloud_open(cloud, info.particles, info.dimension == 2) && part != NULL;
    result = enough ? read_chunks(frame, &info, part, cloud)
                    : rp_fail(RP_ERR_MEMORY, "no memory for the %lld particles of %s",
                              (long long)info.particles, path);
    if (result == RP_OK) {
        rp_cloud_close(cloud);
    } else {
        rp_cloud_free(cloud);
    }
    free(part);
    rp_frame_close(frame);
    return result;
}

// To a file beside it first, so that `path` is never half a picture.
static rp_result write_png(const char *path, int width, int height, const unsigned char *rgb)
{
    const size_t size = strlen(path) + sizeof ".tmp";
    char *part = malloc(size);
    if (part == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory to write %s", path);
    }
    snprintf(part, size, "%s.tmp", path);
    rp_result result = RP_OK;
    FILE *file = fopen(part, "wb");
    if (file == NULL) {
        result = rp_fail(RP_ERR_FILE, "cannot write %s: %s", part, strerror(errno));
        goto done;
    }
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    const bool encoded = png_image_write_to_stdio(&image, file, 0, rgb, 0, NULL) != 0;
    const bool closed = fclose(file) == 0;
    if (!encoded || !closed || rename(part, path) != 0) {
        const char *why = !encoded ? image.message : strerror(errno);
        result = rp_fail(RP_ERR_FILE, "cannot write %s: %s", path, why);
        remove(part);
    }
done:
    free(part);
    return result;
}

rp_result rp_preview_frame(const char *frame, const rp_preview_def *def, const char *png)
{
    rp_result result = check_def(def);
    if (result != RP_OK) {
        return result;
    }
    if (strcmp(frame, png) == 0) {
        return rp_fail(RP_ERR_ARGUMENT, "the picture would take the place of its frame, %s", frame);
    }
    rp_cloud cloud;
    result = read_cloud(frame, &cloud);
    if (result != RP_OK) {
        return result;
    }
    unsigned char *rgb = malloc((size_t)def->width * (size_t)def->height * 3);
    result = rgb != NULL ? draw(def, &cloud, rgb)
                         : rp_fail(RP_ERR_MEMORY, "no memory for a picture of %d x %d pixels",
                                   def->width, def->height);
    rp_cloud_free(&cloud);
    if (result == RP_OK) {
        result = write_png(png, def->width, def->height, rgb);
    }
    free(rgb);
    return result;
}
