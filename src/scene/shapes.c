// Shapes from the calls that describe them, made when all has been said: a shape in 2D is another
// than in 3D, and some are as fine as the grid.
#include "repose/mesh.h"
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)

static rp_result make_half_space(rp_scene *scene, scene_call *r)
{
    const double *normal = rp_call_vector(r, "normal");
    if (rp_is_zero(normal)) {
        return rp_call_fail(scene, r, "normal", "want a vector that is not 0, got 0");
    }
    return rp_shape_half_space(rp_call_vector(r, "point"), normal, &r->shape);
}

static rp_result make_sphere(rp_scene *scene, scene_call *r)
{
    (void)scene;
    return rp_shape_sphere(rp_call_vector(r, "center"), rp_call_number(r, "radius"), &r->shape);
}

static rp_result make_box(rp_scene *scene, scene_call *r)
{
    const double *lower = rp_call_vector(r, "min"), *upper = rp_call_vector(r, "max");
    for (int a = 0; a < scene->dimension; a++) {
        if (!(lower[a] < upper[a])) {
            return rp_call_fail(scene, r, "max", "want > min along %c, which is %g, got %g",
                                rp_axis_name(a), lower[a], upper[a]);
        }
    }
    // a rectangle is a box without ends
    const bool flat = scene->dimension == 2;
    const double low[3] = {lower[0], lower[1], flat ? -INFINITY : lower[2]};
    const double high[3] = {upper[0], upper[1], flat ? INFINITY : upper[2]};
    double most = INFINITY;
    for (int a = 0; a < scene->dimension; a++) {
        most = fmin(most, 0.5 * (upper[a] - lower[a]));
    }
    const double round = rp_call_number(r, "round");
    if (!(round <= most)) {
        return rp_call_fail(scene, r, "round",
                            "want at most half the shortest side, which is %g m, got %g", most,
                            round);
    }
    return rp_shape_rounded_box(low, high, round, &r->shape);
}

static rp_result make_capsule(rp_scene *scene, scene_call *r)
{
    (void)scene;
    return rp_shape_capsule(rp_call_vector(r, "a"), rp_call_vector(r, "b"),
                            rp_call_number(r, "radius"), &r->shape);
}

// In 2D the plane cuts a shape through its axis, so that axis must lie in it.
static rp_result check_axis(rp_scene *scene, const scene_call *r)
{
    if (rp_is_zero(rp_call_vector(r, "axis"))) {
        return rp_call_fail(scene, r, "axis", "want a vector that is not 0%s, got 0",
                            scene->dimension == 2 ? " and lies in the plane of a 2D scene" : "");
    }
    return RP_OK;
}

// Cylinder or cone.
static rp_result make_turned(rp_scene *scene, scene_call *r,
                             rp_result (*shape)(const double base[3], const double axis[3],
                                                double radius, double height, rp_shape **))
{
    const rp_result result = check_axis(scene, r);
    return result != RP_OK
               ? result
               : shape(rp_call_vector(r, "base"), rp_call_vector(r, "axis"),
                       rp_call_number(r, "radius"), rp_call_number(r, "height"), &r->shape);
}

static rp_result make_cylinder(rp_scene *scene, scene_call *r)
{
    return make_turned(scene, r, rp_shape_cylinder);
}

static rp_result make_cone(rp_scene *scene, scene_call *r)
{
    return make_turned(scene, r, rp_shape_cone);
}

static rp_result make_torus(rp_scene *scene, scene_call *r)
{
    if (scene->dimension == 2) {
        return rp_call_fail(scene, r, NULL,
                            "want a 3D scene, got a 2D one: use spheres there, or subtract one "
                            "from another");
    }
    const rp_result result = check_axis(scene, r);
    return result != RP_OK
               ? result
               : rp_shape_torus(rp_call_vector(r, "center"), rp_call_vector(r, "axis"),
                                rp_call_number(r, "major"), rp_call_number(r, "minor"), &r->shape);
}

static rp_result make_ellipsoid(rp_scene *scene, scene_call *r)
{
    const double *radii = rp_call_vector(r, "radii");
    // an ellipse is an elliptic cylinder without ends
    const double full[3] = {radii[0], radii[1], scene->dimension == 2 ? INFINITY : radii[2]};
    return rp_shape_ellipsoid(rp_call_vector(r, "center"), full, &r->shape);
}

static rp_result make_revolve(rp_scene *scene, scene_call *r)
{
    const rp_result result = check_axis(scene, r);
    if (result != RP_OK) {
        return result;
    }
    const scene_value *profile = rp_call_value(r, "profile");
    const scene_value *thickness = rp_call_value(r, "thickness");
    rp_revolve_def def = rp_default_revolve_def();
    memcpy(def.base, rp_call_vector(r, "base"), sizeof def.base);
    memcpy(def.axis, rp_call_vector(r, "axis"), sizeof def.axis);
    def.profile = (const double(*)[2])profile->points;
    def.points = profile->count;
    def.thickness = thickness->kind != 0 ? thickness->number : 0.0;
    def.round = rp_call_number(r, "round");
    return rp_shape_revolve(&def, &r->shape);
}

// Heights of a function at about the wanted spacing.
static rp_result sample_heights(rp_scene *scene, const scene_call *r, rp_height_field_def *def,
                                double **heights)
{
    enum { MOST = 1 << 24 };
    const scene_value *given = rp_call_value(r, "spacing");
    const double spacing = given->kind != 0 ? given->number : rp_call_number(scene->said, "dx");
    const double columns = ceil((def->max[0] - def->min[0]) / spacing) + 1.0;
    const double rows =
        scene->dimension == 2 ? 1.0 : ceil((def->max[1] - def->min[1]) / spacing) + 1.0;
    if (!(columns * rows <= MOST)) {
        return rp_call_fail(scene, r, "spacing", "want at most %d heights, got %g x %g", MOST,
                            columns, rows);
    }
    *heights = malloc((size_t)(columns * rows) * sizeof **heights);
    if (*heights == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for %g heights", columns * rows);
    }
    def->columns = (int)columns;
    def->rows = (int)rows;
    const double sign = def->z_up ? -1.0 : 1.0;
    return rp_scene_sample(r, "height",
                           &(scene_samples){.min = {def->min[0], sign * def->min[1]},
                                            .max = {def->max[0], sign * def->max[1]},
                                            .columns = def->columns,
                                            .rows = def->rows,
                                            .height = *heights});
}

// Heights of a picture: black is as high as min, white as max.
static rp_result read_heights(rp_scene *scene, const scene_call *r, rp_height_field_def *def,
                              double **heights)
{
    const double low = rp_call_vector(r, "min")[scene->up];
    const double high = rp_call_vector(r, "max")[scene->up];
    const char *path = rp_scene_take_file(scene, rp_call_text(r, "file"));
    if (path == NULL) {
        return RP_ERR_MEMORY;
    }
    const rp_result result = rp_read_grey_png(path, heights, &def->columns, &def->rows);
    if (result != RP_OK) {
        return result;
    }
    if (scene->dimension == 2 && def->rows != 1) {
        return rp_call_fail(scene, r, "file", "want a picture one pixel high in 2D, got %d",
                            def->rows);
    }
    for (size_t i = 0; i < (size_t)def->columns * (size_t)def->rows; i++) {
        (*heights)[i] = low + (high - low) * (*heights)[i];
    }
    return RP_OK;
}

static rp_result make_height_field(rp_scene *scene, scene_call *r)
{
    const double *min = rp_call_vector(r, "min"), *max = rp_call_vector(r, "max");
    const bool file = rp_call_value(r, "file")->kind != 0;
    if (!file && rp_call_value(r, "height")->kind == 0) {
        return rp_call_fail(scene, r, "height",
                            "want a function, or file in its place, got nothing");
    }
    for (int a = 0; a < scene->dimension; a++) {
        if (a != scene->up && !(min[a] < max[a])) {
            return rp_call_fail(scene, r, "max", "want > min along %c, which is %g, got %g",
                                rp_axis_name(a), min[a], max[a]);
        }
    }
    rp_height_field_def def = rp_default_height_field_def();
    double *heights = NULL;
    // with z up the landscape is turned, and its second axis is that of -y
    def.z_up = scene->up == 2;
    def.min[0] = min[0];
    def.max[0] = max[0];
    def.min[1] = def.z_up ? -max[1] : min[2];
    def.max[1] = def.z_up ? -min[1] : max[2];
    rp_result result =
        file ? read_heights(scene, r, &def, &heights) : sample_heights(scene, r, &def, &heights);
    if (result == RP_OK) {
        def.height = heights;
        result = rp_shape_height_field(&def, &r->shape);
    }
    free(heights);
    return result;
}

typedef struct gltf_file {
    rp_scene *scene;
    const char *name;
} gltf_file;

// A glTF file names others that hold its numbers. They count as read, too.
static rp_result take_beside(void *context, const char *name)
{
    const gltf_file *mesh = context;
    const char *slash = strrchr(mesh->name, '/');
    const size_t folder = slash != NULL ? (size_t)(slash + 1 - mesh->name) : 0;
    char *path = malloc(folder + strlen(name) + 1);
    const char *taken = NULL;
    if (path != NULL) {
        memcpy(path, mesh->name, folder);
        strcpy(path + folder, name);
        taken = rp_scene_take_file(mesh->scene, path);
    }
    free(path);
    return taken != NULL ? RP_OK
                         : rp_fail(RP_ERR_MEMORY, "%s: no memory for its files", mesh->name);
}

static rp_result make_mesh(rp_scene *scene, scene_call *r)
{
    if (scene->dimension == 2) {
        return rp_call_fail(scene, r, NULL, "want it in a 3D scene, got it in 2D");
    }
    scene_value *resolution = &r->value[rp_scene_key_index(r->word, "resolution")];
    const double dx = rp_call_number(scene->said, "dx");
    rp_mesh_def def = rp_default_mesh_def();
    def.file = rp_scene_take_file(scene, rp_call_text(r, "file"));
    if (def.file == NULL) {
        return RP_ERR_MEMORY;
    }
    const scene_value *up = rp_call_value(r, "up");
    def.scale = rp_call_number(r, "scale");
    def.turn = up->kind != 0 ? scene->up - (up->choice == 0 ? 1 : 2) : 0;
    def.resolution = resolution->given ? resolution->number : 0.0;
    def.repair = rp_call_boolean(r, "repair");
    def.uses = take_beside;
    def.context = &(gltf_file){scene, rp_call_text(r, "file")};
    RP_TRY(rp_shape_mesh_for(&def, dx, &r->shape));
    rp_mesh_fit fit;
    rp_shape_mesh_fit(r->shape, &fit);
    if (2.0 * fit.resolution > fit.thickness) {
        rp_call_warn(
            scene, r, "resolution",
            "%.3g m is too coarse for a mesh that is %.2g m thick in places, which will have "
            "holes; want at most %.2g m",
            fit.resolution, fit.thickness, 0.25 * fit.thickness);
    }
    resolution->kind = TAKES_NUMBER;
    resolution->number = fit.resolution;
    return RP_OK;
}

// A name with the number in place of %d or %04d. @param least how many there must be of these.
// @return false when it is less, or more than one
static bool number_name(const char *pattern, int64_t number, int least, char *out, size_t size)
{
    size_t at = 0;
    int found = 0;
    for (const char *c = pattern; *c != '\0'; c++) {
        int digits = 0;
        if (*c == '%') {
            const char *d = c + 1;
            for (; *d >= '0' && *d <= '9' && digits < 100; d++) {
                digits = 10 * digits + (*d - '0');
            }
            if (*d != 'd' || digits > 20) {
                return false;
            }
            c = d;
            found++;
            at += (size_t)snprintf(out + at, size - at, "%0*lld", digits, (long long)number);
        } else if (at < size) {
            out[at++] = *c;
        }
        if (at >= size) {
            return false;
        }
    }
    out[at] = '\0';
    return found >= least && found <= 1;
}

static rp_result list_files(rp_scene *scene, const scene_call *r, const char **file, int64_t first,
                            int count)
{
    char name[1024];
    for (int i = 0; i < count; i++) {
        if (!number_name(rp_call_text(r, "files"), first + i, count > 1, name, sizeof name)) {
            return rp_call_fail(scene, r, "files",
                                "want one %%d or %%04d, where the number goes, got '%s'",
                                rp_call_text(r, "files"));
        }
        file[i] = rp_scene_take_file(scene, name);
        if (file[i] == NULL) {
            return RP_ERR_MEMORY;
        }
    }
    return RP_OK;
}

static rp_result make_mesh_sequence(rp_scene *scene, scene_call *r)
{
    enum { MOST = 100000 };
    const int64_t first = rp_call_integer(r, "first"), last = rp_call_integer(r, "last");
    if (scene->dimension == 2) {
        return rp_call_fail(scene, r, NULL, "want it in a 3D scene, got it in 2D");
    }
    if (last < first || last - first >= MOST) {
        return rp_call_fail(scene, r, "last",
                            "want first, which is %lld, and up to %d more, got %lld",
                            (long long)first, MOST - 1, (long long)last);
    }
    rp_sequence_def def = rp_default_sequence_def();
    def.count = (int)(last - first) + 1;
    const char **file = calloc((size_t)def.count, sizeof *file);
    if (file == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for the scene", scene->path);
    }
    const scene_value *up = rp_call_value(r, "up"), *thickness = rp_call_value(r, "thickness");
    def.file = file;
    def.fps = rp_call_number(r, "fps");
    def.start = rp_call_number(r, "start");
    def.loop = rp_call_boolean(r, "loop");
    def.scale = rp_call_number(r, "scale");
    def.turn = up->kind != 0 ? scene->up - (up->choice == 0 ? 1 : 2) : 0;
    def.thickness = thickness->kind != 0 ? thickness->number : 0.0;
    rp_result result = list_files(scene, r, file, first, def.count);
    result = result == RP_OK ? rp_shape_sequence(&def, &r->shape) : result;
    free(file);
    return result;
}

// Operators: what they take was made before them
// ------------------------------------------------------------------------------

static const rp_shape *operand(const scene_call *r)
{
    return rp_call_value(r, "shape")->call->shape;
}

static rp_result make_combination(rp_scene *scene, scene_call *r)
{
    const bool subtract = strcmp(r->word->name, "subtract") == 0;
    const scene_value *v = rp_call_value(r, subtract ? "others" : "shapes");
    rp_shape **part = malloc((size_t)v->count * sizeof(rp_shape *));
    if (part == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for the scene", scene->path);
    }
    for (int i = 0; i < v->count; i++) {
        part[i] = v->shapes[i]->shape;
    }
    const rp_result result = subtract ? rp_shape_subtract(operand(r), part, v->count, &r->shape)
                             : strcmp(r->word->name, "union") == 0
                                 ? rp_shape_union(part, v->count, &r->shape)
                                 : rp_shape_intersect(part, v->count, &r->shape);
    free(part);
    return result;
}

static rp_result make_offset(rp_scene *scene, scene_call *r)
{
    (void)scene;
    return rp_shape_offset(operand(r), rp_call_number(r, "distance"), &r->shape);
}

static rp_result make_invert(rp_scene *scene, scene_call *r)
{
    (void)scene;
    return rp_shape_invert(operand(r), &r->shape);
}

static rp_result make_move(rp_scene *scene, scene_call *r)
{
    const scene_call *place = rp_call_value(r, "place")->call;
    const scene_value *rotation = rp_call_value(place, "rotation");
    double turn[4] = {0.0, 0.0, 0.0, 1.0};
    if (rotation->kind == TAKES_TABLE) {
        const double *axis = rp_call_vector(rotation->call, "axis");
        const double length = hypot(hypot(axis[0], axis[1]), axis[2]);
        if (!(length > 0.0 && isfinite(length))) {
            return rp_call_fail(scene, r, "place.rotation.axis",
                                "want a vector that is not 0, got 0");
        }
        if (scene->dimension == 2 && (axis[0] != 0.0 || axis[1] != 0.0)) {
            return rp_call_fail(scene, r, "place.rotation.axis",
                                "want {0, 0, 1} in 2D, got {%g, %g, %g}", axis[0], axis[1],
                                axis[2]);
        }
        const double half = 0.5 * DEGREE * rp_call_number(rotation->call, "angle");
        for (int a = 0; a < 3; a++) {
            turn[a] = sin(half) * (axis[a] / length);
        }
        turn[3] = cos(half);
    }
    return rp_shape_move(operand(r), rp_call_vector(place, "position"), turn,
                         rp_call_number(place, "scale"), &r->shape);
}

// All of them
// --------------------------------------------------------------------------------------------------

rp_result rp_scene_make_shape(rp_scene *scene, scene_call *call)
{
    static const struct {
        const char *word;
        rp_result (*make)(rp_scene *, scene_call *);
    } shapes[] = {
        {"half_space", make_half_space},
        {"sphere", make_sphere},
        {"box", make_box},
        {"capsule", make_capsule},
        {"cylinder", make_cylinder},
        {"cone", make_cone},
        {"torus", make_torus},
        {"ellipsoid", make_ellipsoid},
        {"revolve", make_revolve},
        {"height_field", make_height_field},
        {"mesh", make_mesh},
        {"mesh_sequence", make_mesh_sequence},
        {"union", make_combination},
        {"intersect", make_combination},
        {"subtract", make_combination},
        {"offset", make_offset},
        {"invert", make_invert},
        {"move", make_move},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (strcmp(call->word->name, shapes[i].word) == 0) {
            return shapes[i].make(scene, call);
        }
    }
    rp_assert_failed(call->word->name, __FILE__, __LINE__);
    return RP_ERR_ARGUMENT;
}
