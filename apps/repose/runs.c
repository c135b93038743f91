#include "runs.h"

#include "say.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

int run_record(const char *folder, json_t **record)
{
    char path[RUN_PATH];
    json_error_t error;
    snprintf(path, sizeof path, "%s/run.json", folder);
    if (access(path, R_OK) != 0) {
        say_usage("%s is no run folder: cannot read %s: %s", folder, path, strerror(errno));
        return EXIT_FILE;
    }
    *record = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(*record)) {
        say_usage("%s:%d: %s", path, error.line, *record == NULL ? error.text : "want an object");
        json_decref(*record);
        return EXIT_FILE;
    }
    return 0;
}

int64_t run_last_frame(const char *folder)
{
    char path[RUN_PATH];
    int64_t last = -1;
    snprintf(path, sizeof path, "%s/frames", folder);
    DIR *frames = opendir(path);
    for (struct dirent *e; frames != NULL && (e = readdir(frames)) != NULL;) {
        long long number;
        int end = 0;
        if (sscanf(e->d_name, "frame.%lld.hdf%n", &number, &end) == 1 && end > 0 &&
            e->d_name[end] == '\0' && number > last) {
            last = number;
        }
    }
    if (frames != NULL) {
        closedir(frames);
    }
    return last;
}

const char *run_frame_path(const char *folder, int64_t frame, char out[RUN_PATH])
{
    snprintf(out, RUN_PATH, "%s/frames/frame.%06lld.hdf", folder, (long long)frame);
    return out;
}
