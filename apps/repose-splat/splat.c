// repose-splat: a quick picture of points.
//
//   repose-splat FILE -o OUT.png [--size WxH] [--eye x,y,z] [--look x,y,z] [--fov DEG] [--radius M]
//
// Numbers are read in the C locale: the program never sets another.
#include "draw.h"

#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char HELP[] =
    "Usage: repose-splat FILE -o OUT.png [options]\n"
    "Make a picture of the points in FILE: lines of x,y,z in metres, y up, or x,y for a 2D world.\n"
    "Blank lines and lines that start with # are skipped. FILE may be - for standard input.\n"
    "\n"
    "  -o OUT.png      the picture\n"
    "  --size WxH      its size in pixels (1280x720)\n"
    "  --eye x,y,z     where the camera stands in metres (so that all points are in the picture)\n"
    "  --look x,y,z    what it looks at (the middle of the points)\n"
    "  --fov DEG       how much it sees from bottom to top, in degrees (30)\n"
    "  --radius M      size of a point in metres (from the distance between neighbours)\n"
    "  --help          this text\n"
    "\n"
    "Ends with 0, with 2 when an option or the input cannot be used, with 4 when a file cannot be "
    "read or written.\n";

enum { BAD_INPUT = 2, BAD_FILE = 4 };
enum { SIZE_MAX_PIXELS = 8192 };
static const double FARTHEST = 1e9; // [m]

_Noreturn __attribute__((format(printf, 2, 3))) static void fail(int status, const char *format,
                                                                 ...)
{
    va_list list;
    va_start(list, format);
    fputs("repose-splat: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(status);
}

// Numbers with commas between them and nothing else.
// @return how many, up to 3; 0 when the text is something else
static int parse_numbers(const char *text, double out[3])
{
    static const char SPACE[] = " \t\r\n";
    for (int n = 0; n < 3; n++) {
        char *end;
        out[n] = strtod(text, &end);
        if (end == text) {
            return 0;
        }
        text = end + strspn(end, SPACE);
        if (*text == '\0') {
            return n + 1;
        }
        if (*text++ != ',') {
            return 0;
        }
    }
    return 0;
}

static bool usable(const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (!(fabs(x[i]) <= FARTHEST)) {
            return false;
        }
    }
    return true;
}

typedef struct cloud {
    vec *points;
    size_t count;
    int dimension; // numbers per line
} cloud;

static cloud read_points(const char *path)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    FILE *file = is_stdin ? stdin : fopen(path, "r");
    if (file == NULL) {
        fail(BAD_FILE, "cannot read %s: %s", name, strerror(errno));
    }
    cloud c = {0};
    size_t capacity = 0, line_size = 0;
    char *line = NULL;
    ssize_t length;
    for (long number = 1; (length = getline(&line, &line_size, file)) >= 0; number++) {
        const bool is_text = strlen(line) == (size_t)length;
        line[strcspn(line, "\r\n")] = '\0';
        if (is_text && (line[strspn(line, " \t")] == '\0' || line[0] == '#')) {
            continue;
        }
        double x[3] = {0};
        const int n = is_text ? parse_numbers(line, x) : 0;
        if (n < 2) {
            fail(BAD_INPUT, "%s:%ld: want x,y,z or x,y in metres, got '%.60s'", name, number, line);
        }
        if (!usable(x, n)) {
            fail(BAD_INPUT, "%s:%ld: want finite numbers, up to %g m, got '%.60s'", name, number,
                 FARTHEST, line);
        }
        if (c.count > 0 && n != c.dimension) {
            fail(BAD_INPUT, "%s:%ld: want %d numbers as in the lines before, got '%.60s'", name,
                 number, c.dimension, line);
        }
        if (c.count == capacity) {
            capacity = capacity > 0 ? 2 * capacity : 1 << 16;
            c.points = realloc(c.points, capacity * sizeof *c.points);
            if (c.points == NULL) {
                fail(BAD_FILE, "not enough memory for the points of %s", name);
            }
        }
        c.points[c.count++] = (vec){x[0], x[1], x[2]};
        c.dimension = n;
    }
    if (!feof(file)) {
        fail(BAD_FILE, "cannot read %s: %s", name, strerror(errno));
    }
    if (c.count == 0) {
        fail(BAD_INPUT, "%s has no points: want lines of x,y,z or x,y in metres", name);
    }
    free(line);
    if (!is_stdin) {
        fclose(file);
    }
    return c;
}

// To a file beside it first, so that `path` is never half a picture.
static void write_png(const char *path, int width, int height, const unsigned char *rgb)
{
    char *part = malloc(strlen(path) + sizeof ".tmp");
    if (part == NULL) {
        fail(BAD_FILE, "not enough memory to write %s", path);
    }
    strcat(strcpy(part, path), ".tmp");
    FILE *file = fopen(part, "wb");
    if (file == NULL) {
        fail(BAD_FILE, "cannot write %s: %s", part, strerror(errno));
    }
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    const bool encoded = png_image_write_to_stdio(&image, file, 0, rgb, 0, NULL) != 0;
    const bool closed = fclose(file) == 0;
    if (!encoded || !closed || rename(part, path) != 0) {
        const char *why = !encoded ? image.message : strerror(errno);
        remove(part);
        fail(BAD_FILE, "cannot write %s: %s", path, why);
    }
    free(part);
}

typedef struct options {
    const char *input, *output;
    bool has_eye, has_look;
    view view; // radius 0: from the points
} options;

static vec parse_place(const char *option, const char *value)
{
    double x[3];
    if (parse_numbers(value, x) != 3 || !usable(x, 3)) {
        fail(BAD_INPUT, "%s: want x,y,z in metres, got '%s'", option, value);
    }
    return (vec){x[0], x[1], x[2]};
}

static double parse_within(const char *option, const char *value, double least, double most,
                           const char *unit)
{
    double x[3];
    if (parse_numbers(value, x) != 1 || !(x[0] >= least && x[0] <= most)) {
        fail(BAD_INPUT, "%s: want %g to %g %s, got '%s'", option, least, most, unit, value);
    }
    return x[0];
}

static void parse_size(const char *value, view *v)
{
    char rest;
    if (sscanf(value, "%4dx%4d%c", &v->width, &v->height, &rest) != 2 || v->width < 1 ||
        v->height < 1 || v->width > SIZE_MAX_PIXELS || v->height > SIZE_MAX_PIXELS) {
        fail(BAD_INPUT, "--size: want WIDTHxHEIGHT in pixels, 1 to %d each, got '%s'",
             SIZE_MAX_PIXELS, value);
    }
}

static options parse_options(int argc, char **argv)
{
    options o = {.view = {.width = 1280, .height = 720, .fov = 30.0}};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strcmp(name, "--help") == 0) {
            fputs(HELP, stdout);
            exit(0);
        }
        if (name[0] != '-' || name[1] == '\0') {
            if (o.input != NULL) {
                fail(BAD_INPUT, "want one input file, got '%s' and '%s'", o.input, name);
            }
            o.input = name;
            continue;
        }
        static const char *const KNOWN[] = {"-o", "--size", "--eye", "--look", "--fov", "--radius"};
        enum { OUTPUT, SIZE, EYE, LOOK, FOV, RADIUS, KNOWN_COUNT };
        int k = 0;
        while (k < KNOWN_COUNT && strcmp(name, KNOWN[k]) != 0) {
            k++;
        }
        if (k == KNOWN_COUNT) {
            fail(BAD_INPUT, "no option '%s'; repose-splat --help lists them", name);
        }
        if (++i == argc) {
            fail(BAD_INPUT, "%s wants a value; repose-splat --help tells which", name);
        }
        const char *value = argv[i];
        switch (k) {
        case OUTPUT:
            o.output = value;
            break;
        case SIZE:
            parse_size(value, &o.view);
            break;
        case EYE:
            o.view.eye = parse_place(name, value), o.has_eye = true;
            break;
        case LOOK:
            o.view.look = parse_place(name, value), o.has_look = true;
            break;
        case FOV:
            o.view.fov = parse_within(name, value, 1.0, 150.0, "degrees");
            break;
        case RADIUS:
            o.view.radius = parse_within(name, value, 1e-9, 1e6, "m");
            break;
        }
    }
    if (o.input == NULL || o.output == NULL) {
        fail(BAD_INPUT, "want an input file and -o OUT.png; repose-splat --help tells more");
    }
    return o;
}

int main(int argc, char **argv)
{
    const options o = parse_options(argc, argv);
    const cloud c = read_points(o.input);

    // what the user left open
    view v = o.view;
    v.flat = c.dimension == 2;
    if (v.radius == 0.0) {
        v.radius = fitting_radius(c.points, c.count);
    }
    frame_points(c.points, c.count, &v);
    if (o.has_eye) {
        v.eye = o.view.eye;
        v.look = o.has_look ? o.view.look : middle_of(c.points, c.count);
    } else if (o.has_look) {
        const vec e = v.eye, l = v.look, to = o.view.look;
        v.eye = (vec){to.x + e.x - l.x, to.y + e.y - l.y, to.z + e.z - l.z};
        v.look = to;
    }
    if (v.eye.x == v.look.x && v.eye.y == v.look.y && v.eye.z == v.look.z) {
        fail(BAD_INPUT,
             "the camera stands at %g,%g,%g and looks at the same place: want --eye and --look to "
             "differ",
             v.eye.x, v.eye.y, v.eye.z);
    }

    unsigned char *rgb = malloc((size_t)v.width * v.height * 3);
    if (rgb == NULL || !draw_points(c.points, c.count, &v, rgb)) {
        fail(BAD_FILE, "not enough memory for a picture of %d x %d pixels", v.width, v.height);
    }
    write_png(o.output, v.width, v.height, rgb);
    free(rgb);
    free(c.points);
    return 0;
}
