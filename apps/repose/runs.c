#include "runs.h"

#include "say.h"

#include <repose/file.h>

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

json_t *load_json(const char *path, json_error_t *error)
{
    char *text;
    size_t size;
    if (rp_file_read_all(path, SIZE_MAX, &text, &size) != RP_OK) {
        *error = (json_error_t){.line = 0};
        snprintf(error->text, sizeof error->text, "it cannot be read");
        return NULL;
    }
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, error);
    free(text);
    return json;
}

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
    *record = load_json(path, &error);
    if (!json_is_object(*record)) {
        say_usage("%s:%d: %s", path, error.line, *record == NULL ? error.text : "want an object");
        json_decref(*record);
        return EXIT_FILE;
    }
    return 0;
}
