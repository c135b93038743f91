// repose render: a picture of a frame.
#include "commands.h"
#include "runs.h"
#include "say.h"

#include <repose/preview.h>
#include <repose/run.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const option render_options[] = {
    {.name = "--preview", .help = "the quick picture (the only kind there is so far)"},
    {.name = "--frame", .value = "N", .help = "which frame of the run (the last)"},
    {.name = "-o",
     .value = "FILE",
     .help = "the picture (DIR.png, or FRAME.png beside the frame)",
     .words = "FILE"},
    {.name = "--size", .value = "WxH", .help = "its size in pixels (1280x720)"},
    {.name = "--camera",
     .value = "EYE/LOOK",
     .help = "where the camera stands and what it looks at, in metres:\n1,0.5,2/0,0.1,0 (as the "
             "scene says, else so that all is seen)"},
    {.name = "--fov", .value = "DEG", .help = "how much it sees from bottom to top (30)"},
    {.name = "--radius", .value = "M", .help = "of a particle (from the distance between them)"},
    {0},
};

// Three numbers with commas between them; `end` is what must follow.
static const char *read_place(const char *text, double out[3], char end)
{
    for (int a = 0; a < 3 && text != NULL; a++) {
        char *rest;
        out[a] = strtod(text, &rest);
        const char want = a < 2 ? ',' : end;
        text = rest != text && *rest == want && isfinite(out[a]) ? rest + 1 : NULL;
    }
    return text;
}

static bool read_camera(const args *a, rp_preview_def *def)
{
    const char *text = args_value(a, "--camera");
    if (text == NULL) {
        return true;
    }
    const char *look = read_place(text, def->eye, '/');
    if (look == NULL || read_place(look, def->look_at, '\0') == NULL) {
        say_usage("--camera: want x,y,z/x,y,z in metres, got '%s'", text);
        return false;
    }
    def->has_eye = def->has_look = true;
    return true;
}

static bool read_size(const args *a, rp_preview_def *def)
{
    const char *text = args_value(a, "--size");
    char rest;
    if (text != NULL && sscanf(text, "%5dx%5d%c", &def->width, &def->height, &rest) != 2) {
        say_usage("--size: want WIDTHxHEIGHT in pixels, got '%s'", text);
        return false;
    }
    return true;
}

static void vector_of(const json_t *array, double out[3])
{
    for (size_t i = 0; i < 3; i++) {
        out[i] = json_number_value(json_array_get(array, i));
    }
}

// What the scene says about the camera, unless the command line does.
static void scene_camera(const json_t *record, const args *a, rp_preview_def *def)
{
    const json_t *camera = json_object_get(json_object_get(record, "about"), "camera");
    if (!json_is_object(camera) || args_has(a, "--camera")) {
        return;
    }
    vector_of(json_object_get(camera, "eye"), def->eye);
    vector_of(json_object_get(camera, "look_at"), def->look_at);
    def->has_eye = def->has_look = true;
    if (!args_has(a, "--fov")) {
        def->fov = json_number_value(json_object_get(camera, "fov_degrees")) * (M_PI / 180.0);
    }
}

// Which file to draw and where to: of a run its last frame or the one that is asked for.
static int choose(const args *a, rp_preview_def *def, char frame[RUN_PATH], char png[RUN_PATH])
{
    struct stat about;
    bool wrong = false;
    const char *path = a->operand[0];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    const int64_t number = args_integer(a, "--frame", 0, 999999, -1, &wrong);
    if (wrong) {
        return EXIT_USAGE;
    }
    if (stat(path, &about) != 0) {
        say_usage("cannot read %s: there is no such file or folder", path);
        return EXIT_FILE;
    }
    if (S_ISDIR(about.st_mode)) {
        json_t *record;
        const int status = run_record(path, &record);
        if (status != 0) {
            return status;
        }
        scene_camera(record, a, def);
        json_decref(record);
        const int64_t last = rp_run_last_frame(path);
        if (last < 0 || number > last) {
            return say_usage("%s has no frame %lld; its last is %lld", path, (long long)number,
                             (long long)last);
        }
        const rp_result found =
            rp_run_frame_path(path, number >= 0 ? number : last, frame, RUN_PATH);
        if (found != RP_OK) {
            return say_error(found, false);
        }
    } else {
        snprintf(frame, RUN_PATH, "%s", path);
    }
    if (args_has(a, "-o")) {
        snprintf(png, RUN_PATH, "%s", args_value(a, "-o"));
    } else {
        snprintf(png, RUN_PATH, "%.*s.png", (int)length, path);
    }
    return 0;
}

static int render_main(const args *a)
{
    rp_preview_def def = rp_default_preview_def();
    char frame[RUN_PATH], png[RUN_PATH];
    bool wrong = false;
    def.fov =
        args_number(a, "--fov", 1.0, 150.0, def.fov * (180.0 / M_PI), &wrong) * (M_PI / 180.0);
    def.radius = args_number(a, "--radius", 1e-9, 1e6, 0.0, &wrong);
    if (wrong || !read_camera(a, &def) || !read_size(a, &def)) {
        return EXIT_USAGE;
    }
    const int status = choose(a, &def, frame, png);
    if (status != 0) {
        return status;
    }
    const rp_result result = rp_preview_frame(frame, &def, png);
    if (result != RP_OK) {
        return say_error(result, false);
    }
    say("%s shows %s", png, frame);
    return EXIT_DONE;
}

const command command_render = {
    .name = "render",
    .operands = "DIR|FRAME",
    .least = 1,
    .most = 1,
    .operand_words = "FILE",
    .summary = "make a picture of a frame",
    .text =
        "Makes a picture (PNG) of a frame: of the last one of the run in DIR, of --frame N, or of\n"
        "the file FRAME. Every particle is a small sphere in one of three colours of sand.\n"
        "\n"
        "  repose render column-collapse-out --preview            column-collapse-out.png\n"
        "  repose render out --frame 12 -o twelve.png --size 1920x1080",
    .option = render_options,
    .main = render_main,
};
