// repose render: pictures of a run.
#include "commands.h"
#include "host.h"
#include "last_words.h"
#include "progress.h"
#include "runs.h"
#include "say.h"

#include <repose/render.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const option render_options[] = {
    {.name = "--preview", .help = "the same view in a tenth of the time, in plainer light"},
    {.name = "--frame", .value = "N", .help = "which frame of the run (the last)"},
    {.name = "-o",
     .value = "FILE",
     .help = "the picture, a PNG (DIR.png, or FRAME.png beside the frame), or the\nmovie, an MP4 "
             "(DIR.mp4)",
     .words = "FILE"},
    {.name = "--size", .value = "WxH", .help = "its size in pixels (1280x720)"},
    {.name = "--samples", .value = "N", .help = "of each pixel: more of them, less noise (64)"},
    {.name = "--camera",
     .value = "EYE/LOOK",
     .help = "where the camera stands and what it looks at, in metres:\n1,0.5,2/0,0.1,0 (as the "
             "scene says, else so that all is seen)"},
    {.name = "--fov", .value = "DEG", .help = "how much it sees from bottom to top (30)"},
    {.name = "--color",
     .value = "WHAT",
     .help =
         "grains, speed, pressure, smooth_pressure, case, material, body, species,\nheight, id, "
         "a column, or a component of one such as velocity.y\nor stress.xy (grains)",
     .words = "grains speed pressure smooth_pressure case material body height id"},
    {.name = "--range",
     .value = "LOW,HIGH",
     .help = "of the colours, where they stand for numbers, or of the pressure in a\ndiagram (what "
             "most particles of the run have)"},
    {.name = "--no-legend", .help = "do not write what the colours mean"},
    {.name = "--time", .help = "write the simulated time into the picture"},
    {.name = "--droplets", .help = "water as spheres, not as a surface"},
    {.name = "--shutter",
     .value = "SHARE",
     .help =
         "of the time between two frames for which it is open, 0 to 1:\nblurs what is fast (0)"},
    {.name = "--plot",
     .value = "WHAT",
     .help = "a diagram in place of the picture: yield shows principal stresses\nand the cone on "
             "which sand yields",
     .words = "yield"},
    {.name = "--movie",
     .help = "a movie (DIR.mp4) of all frames, by the ffmpeg program; pictures that\nare there "
             "already in DIR.frames are kept"},
    {.name = "--frames", .value = "A:B", .help = "of a movie: from frame A to frame B (all)"},
    {.name = "--every", .value = "N", .help = "of a movie: each N-th frame only (1)"},
    {.name = "--fps", .value = "N", .help = "of a movie: frames per second (as it happened)"},
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

static bool read_range(const args *a, rp_render_def *def)
{
    const char *text = args_value(a, "--range");
    char rest;
    def->has_range = text != NULL;
    if (text != NULL && sscanf(text, "%lf,%lf%c", &def->range[0], &def->range[1], &rest) != 2) {
        say_usage("--range: want LOW,HIGH, got '%s'", text);
        return false;
    }
    return true;
}

static bool read_plot(const args *a, rp_render_def *def)
{
    const char *text = args_value(a, "--plot");
    if (text != NULL && strcmp(text, "yield") != 0) {
        say_usage("--plot: want yield, got '%s'", text);
        return false;
    }
    def->plot = text != NULL ? RP_PLOT_YIELD : RP_PLOT_NONE;
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
    def->shutter = args_number(a, "--shutter", 0.0, 1.0, 0.0, &wrong);
    def->droplets = args_has(a, "--droplets");
    def->color = args_value(a, "--color");
    def->legend = !args_has(a, "--no-legend");
    def->stamp = args_has(a, "--time");
    return !wrong && read_camera(a, def) && read_size(a, def) && read_range(a, def) &&
           read_plot(a, def);
}

// A name that promises another kind of file than the one that is written is refused; one that
// promises nothing is not.
static bool check_ending(const char *path, bool movie)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.'), *want = movie ? ".mp4" : ".png";
    if (dot == NULL || dot == name || strcasecmp(dot, want) == 0) {
        return true;
    }
    say_usage("-o: %s: want a name that ends in %s, got '%s'",
              movie ? "movies are written as MP4" : "pictures are written as PNG", want, path);
    return false;
}

// DIR and an ending, or what -o says.
static bool name_output(const args *a, bool movie, char out[RUN_PATH])
{
    const char *path = a->operand[0];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    if (args_has(a, "-o")) {
        snprintf(out, RUN_PATH, "%s", args_value(a, "-o"));
        return check_ending(out, movie);
    }
    snprintf(out, RUN_PATH, "%.*s%s", (int)length, path, movie ? ".mp4" : ".png");
    return true;
}

// Options that would change nothing are no good wish: better to say so than to draw something else
// than what was meant.
static bool check_pairs(const args *a)
{
    static const char *const of_movies[] = {"--frames", "--every", "--fps", NULL};
    static const char *const of_runs[] = {"--frame", NULL};
    static const char *const of_pictures[] = {"--color",    "--no-legend", "--camera",  "--fov",
                                              "--radius",   "--shutter",   "--samples", "--preview",
                                              "--droplets", NULL};
    const bool movie = args_has(a, "--movie");
    struct stat about;
    const bool single = stat(a->operand[0], &about) == 0 && !S_ISDIR(about.st_mode);
    if (movie && args_has(a, "--frame")) {
        say_usage("--movie and --frame: want one of them; --frames FIRST:LAST chooses some");
        return false;
    }
    return !(!movie && args_useless(a, of_movies, "for movies only, with --movie")) &&
           !(single && args_useless(a, of_runs, "for the folder of a run only, not for a frame")) &&
           !(args_has(a, "--plot") &&
             args_useless(a, of_pictures, "for pictures of particles only, not for --plot"));
}

typedef struct counter {
    int64_t done, frames;
    double began;
    int64_t first; // that were there already; -1: not yet known
    bool terminal;
} counter;

static void show_progress(void *context, int64_t done, int64_t frames)
{
    counter *c = context;
    char left[32] = "";
    c->done = done;
    c->frames = frames;
    if (c->first < 0) {
        c->first = done;
        c->began = wall_clock();
        if (done > 0) {
            say("%lld of %lld pictures are there already", (long long)done, (long long)frames);
        }
        return;
    }
    const double each = (wall_clock() - c->began) / (double)(done - c->first);
    print_duration(each * (double)(frames - done), left);
    fprintf(stderr, "%spicture %lld of %lld  %.2g s each  %s left%s", c->terminal ? "\r" : "",
            (long long)done, (long long)frames, each, left, c->terminal ? "\033[K" : "\n");
    if (c->terminal && done == frames) {
        fputc('\n', stderr);
    }
}

static int end_early(const counter *c, const char *out)
{
    if (c == NULL || c->frames == 0) {
        say_usage("stopped before %s was finished; run it again to make it", out);
    } else {
        if (c->terminal && c->done > c->first && c->done < c->frames) {
            fputc('\n', stderr);
        }
        say_usage("stopped; %lld of %lld pictures are there, run it again to go on",
                  (long long)c->done, (long long)c->frames);
    }
    return 128 + signal_came();
}

static int make_movie(const args *a, const rp_render *render, const char *mp4)
{
    bool wrong = false;
    counter c = {.first = -1, .terminal = isatty(STDERR_FILENO)};
    rp_movie_def def = rp_default_movie_def();
    def.every = args_integer(a, "--every", 1, 1000000, 1, &wrong);
    def.fps = args_number(a, "--fps", 0.1, 1000.0, 0.0, &wrong);
    def.progress = show_progress;
    def.context = &c;
    if (wrong || !args_frames(a, "--frames", &def.first, &def.last)) {
        return EXIT_USAGE;
    }
    const rp_result result = rp_render_movie(render, &def, mp4);
    if (result == RP_ERR_STOPPED) {
        return end_early(&c, mp4);
    }
    if (result != RP_OK) {
        return say_error(result, false);
    }
    say("%s shows %lld frame%s of %s", mp4, (long long)c.frames, c.frames == 1 ? "" : "s",
        a->operand[0]);
    return EXIT_DONE;
}

static int make_picture(const args *a, const rp_render *render, int64_t frame, const char *png)
{
    double time = 0.0;
    rp_result result = rp_render_frame(render, frame, png);
    result = result == RP_OK ? rp_render_which(render, &frame, &time) : result;
    if (result != RP_OK) {
        return result == RP_ERR_STOPPED ? end_early(NULL, png) : say_error(result, false);
    }
    say("%s shows frame %lld of %s, at %.6g s", png, (long long)frame, a->operand[0], time);
    return EXIT_DONE;
}

static int render_main(const args *a)
{
    rp_render_def def;
    char out[RUN_PATH];
    bool wrong = false;
    const bool movie = args_has(a, "--movie");
    const int64_t frame = args_integer(a, "--frame", 0, 999999, -1, &wrong);
    if (wrong || !read_def(a, &def) || !check_pairs(a) || !name_output(a, movie, out)) {
        return EXIT_USAGE;
    }
    rp_render *render;
    def.stop = signal_stops;
    signals_catch();
    last_words_watch();
    const rp_result result = rp_render_open(a->operand[0], &def, &render);
    if (result != RP_OK) {
        return say_error(result, false);
    }
    const int status = movie ? make_movie(a, render, out) : make_picture(a, render, frame, out);
    rp_render_close(render);
    return status;
}

const command command_render = {
    .name = "render",
    .operands = "DIR|FRAME",
    .least = 1,
    .most = 1,
    .operand_words = "FILE",
    .summary = "make pictures and movies",
    .text =
        "Makes a picture (PNG) of a frame: of the last one of the run in DIR, of --frame N, or of\n"
        "the file FRAME. Every particle is a small sphere in one of three colours of sand.\n"
        "\n"
        "  repose render column-collapse-out                      column-collapse-out.png\n"
        "  repose render out --frame 12 -o twelve.png --size 1920x1080\n"
        "  repose render out --color speed --time\n"
        "  repose render out --movie --shutter 0.5                out.mp4",
    .option = render_options,
    .main = render_main,
};
