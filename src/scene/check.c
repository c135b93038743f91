// What only shows when all has been said.
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char axis_name[] = "xyz";

// Dimensions
// -----------------------------------------------------------------------------------------------

static bool has_axes(unsigned kind)
{
    return kind == TAKES_VECTOR || kind == TAKES_AXES || kind == TAKES_MATRIX;
}

// In 2D the third component is not looked at; it is set to 0, so that nobody does by mistake.
static void flatten(scene_value *v)
{
    v->count = 2;
    if (v->kind == TAKES_VECTOR) {
        v->vector[2] = 0.0;
    } else if (v->kind == TAKES_AXES) {
        v->axes[2] = false;
    } else {
        for (int a = 0; a < 3; a++) {
            v->matrix[a][2] = v->matrix[2][a] = 0.0;
        }
    }
}

static rp_result fit_dimension(rp_scene *scene, scene_record *record)
{
    for (int k = 0; k < record->word->keys; k++) {
        scene_value *v = &record->value[k];
        if (!has_axes(v->kind)) {
            continue;
        }
        if (v->count < scene->dimension) {
            return rp_record_fail(scene, record, record->word->key[k].name,
                                  "want 3 components in a 3D scene, got %d", v->count);
        }
        if (scene->dimension == 2) {
            flatten(v);
        }
    }
    return RP_OK;
}

// Shapes
// -----------------------------------------------------------------------------------------------------

static bool is_zero(const double v[3]) { return v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0; }

static rp_result make_half_space(rp_scene *scene, scene_record *r)
{
    const double *normal = rp_record_vector(r, "normal");
    if (is_zero(normal)) {
        return rp_record_fail(scene, r, "normal", "want a vector that is not 0, got 0");
    }
    return rp_shape_half_space(rp_record_vector(r, "point"), normal, &r->shape);
}

static rp_result make_sphere(rp_scene *scene, scene_record *r)
{
    (void)scene;
    return rp_shape_sphere(rp_record_vector(r, "center"), rp_record_number(r, "radius"), &r->shape);
}

static rp_result make_box(rp_scene *scene, scene_record *r)
{
    const double *lower = rp_record_vector(r, "min"), *upper = rp_record_vector(r, "max");
    for (int a = 0; a < scene->dimension; a++) {
        if (!(lower[a] < upper[a])) {
            return rp_record_fail(scene, r, "max", "want > min along %c, which is %g, got %g",
                                  axis_name[a], lower[a], upper[a]);
        }
    }
    // a rectangle is a box without ends
    const bool flat = scene->dimension == 2;
    const double low[3] = {lower[0], lower[1], flat ? -INFINITY : lower[2]};
    const double high[3] = {upper[0], upper[1], flat ? INFINITY : upper[2]};
    return rp_shape_box(low, high, &r->shape);
}

// A path of the script: relative ones begin at the folder of the scene. NULL: no memory
static char *path_of(const rp_scene *scene, const char *file)
{
    const char *slash = strrchr(scene->path, '/');
    const size_t folder = file[0] == '/' || slash == NULL ? 0 : (size_t)(slash - scene->path) + 1;
    char *path = malloc(folder + strlen(file) + 1);
    if (path != NULL) {
        memcpy(path, scene->path, folder);
        strcpy(path + folder, file);
    }
    return path;
}

static rp_result make_mesh(rp_scene *scene, scene_record *r)
{
    if (scene->dimension == 2) {
        return rp_record_fail(scene, r, NULL, "want it in a 3D scene, got it in 2D");
    }
    scene_value *resolution = &r->value[rp_scene_key_index(r->word, "resolution")];
    if (!resolution->given) {
        resolution->kind = TAKES_NUMBER;
        resolution->number = rp_record_number(scene->said, "dx");
    }
    r->file = path_of(scene, rp_record_text(r, "file"));
    if (r->file == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for the path of a mesh");
    }
    rp_mesh_def def = rp_default_mesh_def();
    def.file = r->file;
    def.scale = rp_record_number(r, "scale");
    def.resolution = resolution->number;
    def.repair = rp_record_boolean(r, "repair");
    return rp_shape_mesh(&def, &r->shape);
}

// Materials, particles, colliders
// ---------------------------------------------------------------------------

static rp_result check_material(rp_scene *scene, scene_record *r)
{
    const size_t room = sizeof((rp_material_def *)0)->name;
    const size_t length = strlen(rp_record_text(r, "name"));
    if (length >= room) {
        return rp_record_fail(scene, r, "name", "want at most %zu bytes, got %zu", room - 1,
                              length);
    }
    return RP_OK;
}

static rp_result check_sand(rp_scene *scene, scene_record *r)
{
    const bool hardens = rp_record_value(r, "hardening")->kind == TAKES_TABLE;
    const char *const replaced[] = {"friction_angle", "friction_coefficient"};
    for (int i = 0; hardens && i < 2; i++) {
        if (rp_record_value(r, replaced[i])->given) {
            return rp_record_fail(scene, r, replaced[i],
                                  "want none with hardening, which makes its own, got one");
        }
    }
    return check_material(scene, r);
}

// The root along as many axes as there are, exact for whole roots.
static double root(double x, int dimension)
{
    const double r = dimension == 2 ? sqrt(x) : cbrt(x), whole = round(r);
    return (dimension == 2 ? whole * whole : whole * whole * whole) == x ? whole : r;
}

static rp_result check_particles(rp_scene *scene, scene_record *r)
{
    const bool by_place = rp_record_value(r, "velocity")->kind == TAKES_FUNCTION;
    if (by_place && rp_record_value(r, "velocity_gradient")->kind != 0) {
        return rp_record_fail(scene, r, "velocity_gradient",
                              "want none with a function as velocity, got one");
    }
    if (rp_record_choice(r, "sampling") != RP_LATTICE && rp_record_value(r, "jitter")->given) {
        return rp_record_fail(scene, r, "jitter",
                              "want none without sampling = \"lattice\", got %g",
                              rp_record_number(r, "jitter"));
    }
    scene_value *per_cell = &r->value[rp_scene_key_index(r->word, "per_cell")];
    scene_value *spacing = &r->value[rp_scene_key_index(r->word, "spacing")];
    if (!spacing->given && !per_cell->given) {
        per_cell->kind = TAKES_INTEGER;
        per_cell->integer = scene->dimension == 2 ? 4 : 8;
    }
    if (!spacing->given) {
        spacing->kind = TAKES_NUMBER;
        spacing->number =
            rp_record_number(scene->said, "dx") / root((double)per_cell->integer, scene->dimension);
    }
    return RP_OK;
}

static rp_result check_collider(rp_scene *scene, scene_record *r)
{
    const bool sticky = rp_record_choice(r, "contact") == RP_STICKY;
    if (sticky && rp_record_value(r, "friction")->given) {
        return rp_record_fail(scene, r, "friction",
                              "want none with sticky contact, where nothing slides, got %g",
                              rp_record_number(r, "friction"));
    }
    return RP_OK;
}

// Words that are said once
// ------------------------------------------------------------------------------------

static rp_result check_camera(rp_scene *scene, scene_record *r)
{
    const double *eye = rp_record_vector(r, "eye"), *look_at = rp_record_vector(r, "look_at");
    if (eye[0] == look_at[0] && eye[1] == look_at[1] && eye[2] == look_at[2]) {
        return rp_record_fail(scene, r, "look_at", "want another point than eye, got the same");
    }
    return RP_OK;
}

int rp_scene_block_cells(const rp_scene *scene, int axis)
{
    return scene->dimension == 3 && axis == 2 ? 4 : 8;
}

int rp_scene_period(const rp_scene *scene, const scene_record *domain, int axis)
{
    if (!rp_record_value(domain, "periodic")->axes[axis]) {
        return 0;
    }
    const double *lower = rp_record_vector(domain, "min"), *upper = rp_record_vector(domain, "max");
    const double cells = (upper[axis] - lower[axis]) / rp_record_number(scene->said, "dx");
    const double whole = round(cells);
    // sides are written as decimal numbers, so they miss by round-off
    const bool fits = whole > 0.0 && whole < 1e9 && fabs(cells - whole) <= 1e-9 * whole;
    return fits && (int)whole % rp_scene_block_cells(scene, axis) == 0 ? (int)whole : -1;
}

static rp_result check_domain(rp_scene *scene, scene_record *r)
{
    const double *lower = rp_record_vector(r, "min"), *upper = rp_record_vector(r, "max");
    const double dx = rp_record_number(scene->said, "dx");
    bool any = false;
    for (int a = 0; a < scene->dimension; a++) {
        const bool periodic = rp_record_value(r, "periodic")->axes[a];
        any = any || periodic;
        if (!(lower[a] < upper[a])) {
            return rp_record_fail(scene, r, "max", "want > min along %c, which is %g, got %g",
                                  axis_name[a], lower[a], upper[a]);
        }
        // space repeats from the origin on, and colliders do not
        if (periodic && lower[a] != 0.0) {
            return rp_record_fail(scene, r, "min", "want 0 along %c, which is periodic, got %g",
                                  axis_name[a], lower[a]);
        }
        if (rp_scene_period(scene, r, a) < 0) {
            const int block = rp_scene_block_cells(scene, a);
            return rp_record_fail(scene, r, "max",
                                  "want a multiple of %d cells, which are %g m, above min along %c,"
                                  " got %.17g m, which are %.17g cells",
                                  block, block * dx, axis_name[a], upper[a] - lower[a],
                                  (upper[a] - lower[a]) / dx);
        }
    }
    if (!any) {
        return rp_record_fail(scene, r, "periodic",
                              "want at least one axis; without, a domain has no effect");
    }
    return RP_OK;
}

// All of it
// ----------------------------------------------------------------------------------------------------

static rp_result check_record(rp_scene *scene, scene_record *record)
{
    static const struct {
        const char *word;
        rp_result (*check)(rp_scene *, scene_record *);
    } checks[] = {
        {"half_space", make_half_space},
        {"sphere", make_sphere},
        {"box", make_box},
        {"mesh", make_mesh},
        {"material.sand", check_sand},
        {"material.elastic", check_material},
        {"particles", check_particles},
        {"collider", check_collider},
        {"camera", check_camera},
        {"domain", check_domain},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (strcmp(record->word->name, checks[i].word) == 0) {
            return checks[i].check(scene, record);
        }
    }
    return RP_OK;
}

static bool is_method(const char *name)
{
    const scene_word *word = rp_scene_find_word("scene");
    const char *const *choices = word->key[rp_scene_key_index(word, "method")].choices;
    for (int c = 0; choices[c] != NULL; c++) {
        if (strcmp(choices[c], name) == 0) {
            return true;
        }
    }
    return false;
}

static rp_result check_method(const rp_scene *scene)
{
    if (scene->method == NULL || is_method(scene->method)) {
        return RP_OK;
    }
    char wanted[160];
    const scene_word *word = scene->said->word;
    rp_scene_describe_takes(&word->key[rp_scene_key_index(word, "method")], wanted, sizeof wanted);
    return rp_record_fail(scene, scene->said, "method", "want %s, got '%s' in its place", wanted,
                          scene->method);
}

static rp_result check_needed(const rp_scene *scene)
{
    for (int w = 0; w < rp_scene_word_count; w++) {
        const scene_word *word = &rp_scene_words[w];
        if (word->needed && rp_record_find(scene->first, word->name) == NULL) {
            return rp_fail(RP_ERR_ARGUMENT, "%s: want %s { ... }, got a script without it",
                           scene->path, word->name);
        }
    }
    return RP_OK;
}

// The file's name without folder and ending.
static char *title_of(const rp_scene *scene)
{
    const char *given = rp_record_text(scene->said, "title");
    const char *slash = strrchr(scene->path, '/');
    char *title = strdup(given != NULL ? given : slash != NULL ? slash + 1 : scene->path);
    char *dot = title != NULL && given == NULL ? strrchr(title, '.') : NULL;
    if (dot != NULL && dot != title) {
        *dot = '\0';
    }
    return title;
}

rp_result rp_scene_check(rp_scene *scene)
{
    rp_result result = check_needed(scene);
    if (result != RP_OK) {
        return result;
    }
    scene->said = rp_record_find(scene->first, "scene");
    scene->dimension = (int)rp_record_integer(scene->said, "dimension");
    scene->title = title_of(scene);
    if (scene->title == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for the scene", scene->path);
    }
    result = check_method(scene);
    for (scene_record *r = scene->first; result == RP_OK && r != NULL; r = r->next) {
        result = fit_dimension(scene, r);
        if (result == RP_OK) {
            result = rp_record_place(scene, r, check_record(scene, r));
        }
    }
    return result;
}
