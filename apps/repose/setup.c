#include "setup.h"

#include "host.h"
#include "say.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

int params_of(const args *a, rp_scene_param out[VALUE_MOST])
{
    static char *kept[VALUE_MOST]; // names, for as long as the process lives
    const int count = args_count(a, "--set");
    for (int i = 0; i < count; i++) {
        // the command line is ours to cut
        char *word = (char *)(uintptr_t)args_nth(a, "--set", i), *equals = strchr(word, '=');
        if (equals == NULL || equals == word) {
            say_usage("--set: want NAME=VALUE, got '%s'", word);
            return -1;
        }
        char *name = strndup(word, (size_t)(equals - word));
        free(kept[i]);
        kept[i] = name;
        out[i] = (rp_scene_param){.name = name, .value = equals + 1};
        for (int k = 0; k < i; k++) {
            if (strcmp(out[k].name, name) == 0) {
                say_usage("--set: '%s' is given twice", name);
                return -1;
            }
        }
    }
    return count;
}

size_t memory_limit(const args *a, bool *wrong)
{
    const double gb = args_number(a, "--memory", 1e-3, 1e6, 0.0, wrong);
    return gb > 0.0 ? (size_t)(gb * 1e9) : available_memory();
}

size_t first_frame_bytes(const rp_plan *plan)
{
    // a frame is written through rows of up to five megabytes
    const size_t rows = plan->particles < 65536 ? 80 * (size_t)plan->particles : 5 << 20;
    const size_t writing = plan->bytes + plan->state_bytes + rows;
    return BASE_BYTES + (writing > plan->setup_bytes ? writing : plan->setup_bytes);
}

void print_bytes(double bytes, char out[32])
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int k = 0;
    for (; bytes >= 999.5 && k < 5; k++) {
        bytes /= 1000.0;
    }
    snprintf(out, 32, "%.3g %s", bytes, unit[k]);
}

disk_use disk_needed(const rp_plan *plan, int64_t poured, int64_t frames)
{
    const double n = (double)plan->particles + (double)poured, files = (double)(frames + 1);
    // points as float64 on top of the state, the material, and the topology, which packs well
    const double state =
        (double)plan->state_bytes + (double)poured * EACH_IN_FRAME + n * 14.0 + 40e3;
    if (plan->row_bytes > 0) { // chosen columns, and one state
        const double frame = n * (double)plan->row_bytes + 40e3;
        return (disk_use){.frame = frame, .all = frame * files + state};
    }
    return (disk_use){.frame = state, .all = state * files};
}

// The disk that a folder will be on: of the nearest above it that is there.
static bool find_disk(const char *folder, struct statvfs *disk)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", folder);
    while (statvfs(path, disk) != 0) {
        char *slash = strrchr(path, '/');
        if (slash == NULL) {
            return statvfs(".", disk) == 0;
        }
        *(slash > path ? slash : slash + 1) = '\0';
        if (slash == path) {
            return statvfs("/", disk) == 0;
        }
    }
    return true;
}

int check_disk(const char *folder, const disk_use *use)
{
    struct statvfs disk;
    if (!find_disk(folder, &disk)) {
        return 0;
    }
    const double block = (double)disk.f_frsize, all = block * (double)disk.f_blocks;
    const double left = block * (double)disk.f_bavail;
    const bool never = use->all > all && all > 0.0; // some file systems do not tell
    char need[32], have[32];
    print_bytes(use->all, need);
    print_bytes(never ? all : left, have);
    if (never) {
        return say_usage("the frames take about %s in all, and the disk of %s holds %s: fewer "
                         "frames, a larger dx or output { columns = ... } take less",
                         need, folder, have);
    }
    if (use->all > left && all > 0.0) {
        say_warning("the frames take about %s in all, and the disk of %s has %s free", need, folder,
                    have);
    }
    return 0;
}

int say_no_scene(rp_result result, const char *name)
{
    char meant[256];
    const int status = say_error(result, false);
    if (result == RP_ERR_FILE && name != NULL && scene_suggestion(name, meant)) {
        say_usage("did you mean the scene %s? `repose list` shows those that come along", meant);
    }
    return status;
}

int plan_scene(rp_scene *scene, size_t memory, double seconds, rp_plan *plan, int64_t *poured)
{
    rp_scene_world_def def = rp_default_scene_world_def();
    rp_world *world;
    int bodies = 0;
    def.plan = true;
    def.threads = 1;
    def.memory = memory;
    rp_result result = rp_scene_create_world(scene, &def, &world);
    if (result == RP_OK) {
        result = rp_world_plan(world, plan);
        result = result == RP_OK ? rp_world_foresee(world) : result;
        *poured = rp_world_poured_by(world, seconds);
        bodies = rp_world_rigids(world);
        rp_world_destroy(world);
    }
    if (result != RP_OK) {
        return say_error(result, false);
    }
    if (plan->particles == 0 && *poured == 0 && bodies == 0) {
        say_warning(
            "the scene has no particles, neither at the start nor later: nothing will move");
    }
    const size_t needed = first_frame_bytes(plan);
    if (needed > memory) {
        return say_usage(
            "this scene needs about %.3g GB for its %lld particles, and there are %.3g "
            "GB: choose a larger dx, fewer particles per cell or a smaller shape",
            1e-9 * (double)needed, (long long)plan->particles, 1e-9 * (double)memory);
    }
    return 0;
}
