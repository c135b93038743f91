// repose export: frames for other programs.
#include "commands.h"
#include "host.h"
#include "progress.h"
#include "runs.h"
#include "say.h"

#include <repose/export.h>

#include <string.h>
#include <unistd.h>

static const char *const formats[] = {"vtp", "ply", "vdb", "usda", "csv"};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static const option export_options[] = {
    {.name = "--to",
     .value = "FORMAT",
     .help =
         "vtp (ParaView), ply (Blender from 4.1 on, Houdini), vdb (volumes),\nusda (USD) or csv",
     .words = "vtp ply vdb usda csv"},
    {.name = "-o", .value = "FOLDER", .help = "where to (DIR-FORMAT)", .words = "DIR"},
    {.name = "--frames", .value = "A:B", .help = "from frame A to frame B (all)"},
    {.name = "--every", .value = "N", .help = "each N-th frame only (1)"},
    {.name = "--columns",
     .value = "LIST",
     .help = "besides position, velocity, id and radius: names with commas between\n(vtp and csv: "
             "all, others: none)"},
    {.name = "--up",
     .value = "AXIS",
     .help = "y or z: which axis points up in the files (as in the scene)",
     .words = "y z"},
    {.name = "--voxel", .value = "M", .help = "size of a voxel of a vdb (half a cell)"},
    {.name = "--pieces",
     .help = "pieces of bodies that break (fracture) as meshes with poses, and as particles only\n"
             "what has left its piece"},
    {.name = "--away",
     .value = "M",
     .help = "farther than this from where its piece takes it a particle has left it (dx)"},
    {.name = "--surface", .help = "ply: the surface of water as a mesh besides, a file per frame"},
    {.name = "--clips",
     .help = "usda: a file per frame, joined by value clips, however few they are"},
    {.name = "--quiet", .help = "say nothing but errors"},
    {0},
};

// How far it has come.
typedef struct counter {
    int64_t done, frames;
    bool shown; // on a terminal
} counter;

static void show_progress(void *context, int64_t done, int64_t frames)
{
    counter *c = context;
    c->done = done;
    c->frames = frames;
    if (c->shown) {
        fprintf(stderr, "\rframe %lld of %lld\033[K%s", (long long)done, (long long)frames,
                done == frames ? "\n" : "");
    }
}

static bool read_format(const args *a, rp_format *format)
{
    const char *text = args_value(a, "--to");
    for (int i = 0; text != NULL && i < FORMATS; i++) {
        if (strcmp(text, formats[i]) == 0) {
            *format = (rp_format)i;
            return true;
        }
    }
    say_usage(text != NULL ? "--to: want vtp, ply, vdb, usda or csv, got '%s'"
                           : "export: --to is missing: want vtp, ply, vdb, usda or csv",
              text);
    return false;
}

// Options that would change nothing in this format.
static bool check_pairs(const args *a, rp_format format)
{
    static const char *const of_vdb[] = {"--voxel", NULL}, *const of_usda[] = {"--clips", NULL};
    static const char *const of_ply[] = {"--surface", NULL};
    static const char *const not_vdb[] = {"--columns", NULL};
    static const char *const of_pieces[] = {"--away", NULL};
    return !(!args_has(a, "--pieces") && args_useless(a, of_pieces, "for --pieces only")) &&
           !(format != RP_FORMAT_VDB && args_useless(a, of_vdb, "for --to vdb only")) &&
           !(format != RP_FORMAT_PLY && args_useless(a, of_ply, "for --to ply only")) &&
           !(format != RP_FORMAT_USDA && args_useless(a, of_usda, "for --to usda only")) &&
           !(format == RP_FORMAT_VDB &&
             args_useless(a, not_vdb,
                          "not for --to vdb, which holds density, velocity and surface"));
}

static int end_early(const counter *c)
{
    if (c->shown && c->done > 0 && c->done < c->frames) {
        fputc('\n', stderr);
    }
    if (c->frames > 0) {
        say_usage("stopped after %lld of %lld frames; run it again to write all of them",
                  (long long)c->done, (long long)c->frames);
    } else {
        say_usage("stopped before the first frame; run it again to write all of them");
    }
    return 128 + signal_came();
}

static int export_main(const args *a)
{
    rp_export_def def = rp_default_export_def();
    char out[RUN_PATH];
    bool wrong = false;
    counter c = {.shown = isatty(STDERR_FILENO) && !args_has(a, "--quiet")};
    const char *up = args_value(a, "--up"), *folder = a->operand[0];
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') {
        length--;
    }
    def.every = args_integer(a, "--every", 1, 1000000, 1, &wrong);
    def.voxel = args_number(a, "--voxel", 1e-9, 1e6, 0.0, &wrong);
    def.columns = args_value(a, "--columns");
    def.clips = args_has(a, "--clips");
    def.surface = args_has(a, "--surface");
    def.pieces = args_has(a, "--pieces");
    def.away = args_number(a, "--away", 1e-9, 1e6, 0.0, &wrong);
    def.up = up == NULL ? 0 : strcmp(up, "z") == 0 ? 2 : 1;
    def.progress = show_progress;
    def.stop = signal_stops;
    def.context = &c;
    if (up != NULL && def.up != 2 && strcmp(up, "y") != 0) {
        return say_usage("--up: want y or z, got '%s'", up);
    }
    if (wrong || !read_format(a, &def.format) || !check_pairs(a, def.format) ||
        !args_frames(a, "--frames", &def.first, &def.last)) {
        return EXIT_USAGE;
    }
    if (args_has(a, "-o")) {
        snprintf(out, sizeof out, "%s", args_value(a, "-o"));
    } else {
        snprintf(out, sizeof out, "%.*s-%s", (int)length, folder, formats[def.format]);
    }
    signals_catch();
    const rp_result result = rp_export(folder, &def, out);
    if (result == RP_ERR_STOPPED) {
        return end_early(&c);
    }
    if (result != RP_OK) {
        return say_error(result, false);
    }
    say_quietly(args_has(a, "--quiet"));
    say("%s holds %s as %s", out, folder, formats[def.format]);
    return EXIT_DONE;
}

const command command_export = {
    .name = "export",
    .operands = "DIR",
    .least = 1,
    .most = 1,
    .operand_words = "DIR",
    .summary = "write frames as files that other programs open",
    .text = "Writes the frames of the run in DIR for other programs, with colliders as meshes.\n"
            "docs/export.md has the names and units of each format.\n"
            "\n"
            "  repose export out --to vtp                  out-vtp/particles.pvd, for ParaView\n"
            "  repose export out --to ply --up z           out-ply/particles.0000.ply ..., for "
            "Blender\n"
            "  repose export out --to usda --every 2 --columns velocity\n"
            "  repose export out --to usda --pieces        shards as meshes that move",
    .option = export_options,
    .main = export_main,
};
