// repose render: pictures of a run.
#include "commands.h"
#include "runs.h"
#include "say.h"

#include <repose/render.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option render_options[] = {
    {.name = "--preview", .help = "the same view in a tenth of the time, grainy"},
    {.name = "--frame", .value = "N", .help = "which frame of the run (the last)"},
    {.name = "-o",
     .value = "FILE",
     .help = "the picture (DIR.png, or FRAME.png beside the frame)",
     .words = "FILE"},
    {.name = "--size", .value = "WxH", .help = "its size in pixels (1280x720)"},
    {.name = "--samples", .value = "N", .help = "of each pixel: more of them, less noise (64)"},
    {.name = "--camera",
     .value = "EYE/LOOK",
     .help = "where the camera stands and what it looks at, in metres:\n1,0.5,2/0,0.1,0 (as the "
             "scene says, else so that all is seen)"},
    {.name = "--fov", .value = "DEG", .help = "how much it sees from bottom to top (30)"},
    {.name = "--radius", .value = "M", .help = "of a particle (from its volume)"},
    {.name = "--threads", .value = "N", .help = "how many to use (all processors)"},
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

static bool read_camera(const args *a, rp_render_def *def)
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

static bool read_size(const args *a, rp_render_def *def)
{
    const char *text = args_value(a, "--size");
    char rest;
    if (text != NULL && sscanf(text, "%5dx%5d%c", &def->width, &def->height, &rest) != 2) {
        say_usage("--size: want WIDTHxHEIGHT in pixels, got '%s'", text);
        return false;
    }
    return true;
}

static bool read_def(const args *a, rp_render_def *def)
{
    bool wrong = false;
    *def = rp_default_render_def();
    def->preview = args_has(a, "--preview");
    def->samples = (int)args_integer(a, "--samples", 1, 65536, 0, &wrong);
    def->threads = (int)args_integer(a, "--threads", 1, 1024, 0, &wrong);
    def->fov = args_number(a, "--fov", 1.0, 150.0, 0.0, &wrong) * (M_PI / 180.0);
    def->radius = args_number(a, "--radius", 1e-9, 1e6, 0.0, &wrong);
    return !wrong && read_camera(a, def) && read_size(a, def);
}

// DIR and an ending, or what -o says.
static void name_output(const args *a, const char *ending, char out[RUN_PATH])
{
    const char *path = a->operand[0];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    if (args_has(a, "-o")) {
        snprintf(out, RUN_PATH, "%s", args_value(a, "-o"));
    } else {
        snprintf(out, RUN_PATH, "%.*s%s", (int)length, path, ending);
    }
}

static int render_main(const args *a)
{
    rp_render_def def;
    char png[RUN_PATH];
    bool wrong = false;
    const int64_t frame = args_integer(a, "--frame", 0, 999999, -1, &wrong);
    if (wrong || !read_def(a, &def)) {
        return EXIT_USAGE;
    }
    name_output(a, ".png", png);
    rp_render *render;
    rp_result result = rp_render_open(a->operand[0], &def, &render);
    if (result == RP_OK) {
        result = rp_render_frame(render, frame, png);
        rp_render_close(render);
    }
    if (result != RP_OK) {
        return say_error(result, false);
    }
    say("%s shows %s", png, a->operand[0]);
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
        "  repose render column-collapse-out                      column-collapse-out.png\n"
        "  repose render out --frame 12 -o twelve.png --size 1920x1080",
    .option = render_options,
    .main = render_main,
};
