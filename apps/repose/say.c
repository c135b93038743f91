#include "say.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static FILE *log_file;
static bool quiet;

static void put(bool to_terminal, const char *mark, const char *format, va_list list)
{
    char text[4096];
    vsnprintf(text, sizeof text, format, list);
    if (to_terminal) {
        fprintf(stderr, "repose: %s%s\n", mark, text);
    }
    if (log_file != NULL) {
        char when[32];
        const time_t now = time(NULL);
        struct tm utc;
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
        fprintf(log_file, "%s %s%s\n", when, mark, text);
        fflush(log_file);
    }
}

void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    put(!quiet, "", format, list);
    va_end(list);
}

int say_usage(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    put(true, "", format, list);
    va_end(list);
    return EXIT_USAGE;
}

int say_error(rp_result result, bool running)
{
    say_usage("%s", rp_last_error());
    switch (result) {
    case RP_ERR_FILE:
        return EXIT_FILE;
    case RP_ERR_DIVERGED:
        return EXIT_FAILED;
    case RP_ERR_MEMORY:
    case RP_ERR_LIMIT:
        return running ? EXIT_FAILED : EXIT_USAGE;
    default:
        return EXIT_USAGE;
    }
}

static void hook(rp_log_level level, const char *message, void *context)
{
    (void)context;
    if (level == RP_LOG_WARNING) {
        say("warning: %s", message);
    } else if (level == RP_LOG_INFO) {
        say("%s", message);
    }
}

void say_to(const char *path)
{
    if (log_file != NULL) {
        fclose(log_file);
    }
    log_file = path != NULL ? fopen(path, "ae") : NULL;
}

void say_quietly(bool be_quiet)
{
    quiet = be_quiet;
    rp_set_log_hook(hook, NULL);
}
