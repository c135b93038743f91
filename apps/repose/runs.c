#include "runs.h"

#include "say.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int run_record(const char *folder, json_t **record)
{
    char path[RUN_PATH];
    json_error_t error;
    snprintf(path, sizeof path, "%s/run.json", folder);
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        say_usage("%s is no run folder: %s is no ordinary file", folder, path);
        return EXIT_FILE;
    }
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
