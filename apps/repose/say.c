#include "say.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Lines that were said, as long as there is memory for them.
typedef struct lines {
    char **line;
    int count;
} lines;
enum { LINES_MOST = 1024, TEXT = 4096 }; // lines, bytes of one

static FILE *log_file;
static lines early; // before there was a log
static lines known; // of the library and warnings: each is said once
static rp_run *record;
static bool quiet;
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER; // the library says things from any thread

static bool is_among(const lines *l, const char *text)
{
    for (int i = 0; i < l->count; i++) {
        if (strcmp(l->line[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static void keep(lines *l, const char *text)
{
    char **grown =
        l->count < LINES_MOST ? realloc(l->line, ((size_t)l->count + 1) * sizeof *grown) : NULL;
    char *copy = grown != NULL ? strdup(text) : NULL;
    l->line = grown != NULL ? grown : l->line;
    if (copy != NULL) {
        l->line[l->count++] = copy;
    }
}

static void forget(lines *l)
{
    for (int i = 0; i < l->count; i++) {
        free(l->line[i]);
    }
    free(l->line);
    *l = (lines){0};
}

// Names, titles and what scripts print may hold commands to a terminal: those do not get there.
static void put_text(bool to_terminal, const char *said)
{
    char when[32], text[TEXT + 16], line[TEXT + 64];
    snprintf(text, sizeof text, "%s", said);
    rp_make_text(text, false);
    const time_t now = time(NULL);
    struct tm utc;
    if (to_terminal) {
        fprintf(stderr, "repose: %s\n", text);
    }
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    snprintf(line, sizeof line, "%s %s", when, text);
    if (log_file != NULL) {
        fprintf(log_file, "%s\n", line);
        fflush(log_file);
    } else {
        keep(&early, line);
    }
}

static void put(bool to_terminal, const char *format, va_list list)
{
    char text[TEXT];
    vsnprintf(text, sizeof text, format, list);
    pthread_mutex_lock(&busy);
    put_text(to_terminal, text);
    pthread_mutex_unlock(&busy);
}

void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    put(!quiet, format, list);
    va_end(list);
}

int say_usage(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    put(true, format, list);
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

static const char WARNING[] = "warning: ";

// What was said before is not said again: a scene is made into a world more than once.
static void say_once(rp_log_level level, const char *message)
{
    const bool warning = level == RP_LOG_WARNING;
    char line[TEXT + 16];
    snprintf(line, sizeof line, "%s%s", warning ? WARNING : "", message);
    if (!is_among(&known, line)) {
        keep(&known, line);
        put_text(warning || !quiet, line);
        if (warning && record != NULL) {
            rp_run_warn(record, message);
        }
    }
}

static void hook(rp_log_level level, const char *message, void *context)
{
    (void)context;
    pthread_mutex_lock(&busy);
    if (level == RP_LOG_SCRIPT) {
        put_text(!quiet, message);
    } else if (level != RP_LOG_DEBUG) {
        say_once(level, message);
    }
    pthread_mutex_unlock(&busy);
}

void say_warning(const char *format, ...)
{
    char text[TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    hook(RP_LOG_WARNING, text, NULL);
}

const char *said_warning(int index)
{
    for (int i = 0; i < known.count; i++) {
        const char *line = known.line[i];
        if (strncmp(line, WARNING, sizeof WARNING - 1) == 0 && index-- == 0) {
            return line + sizeof WARNING - 1;
        }
    }
    return NULL;
}

// What lies there already and is no ordinary file is left alone: nobody may read a pipe.
static FILE *open_log(const char *path)
{
    struct stat about;
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd >= 0 && (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(fd);
        return NULL;
    }
    return fd >= 0 ? fdopen(fd, "a") : NULL;
}

void say_print(const char *format, ...)
{
    char text[TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    rp_make_text(text, false);
    fputs(text, stdout);
}

void say_to(const char *path, rp_run *run)
{
    pthread_mutex_lock(&busy);
    if (log_file != NULL) {
        fclose(log_file);
    }
    log_file = path != NULL ? open_log(path) : NULL;
    for (int i = 0; log_file != NULL && i < early.count; i++) {
        fprintf(log_file, "%s\n", early.line[i]);
    }
    forget(&early);
    record = run;
    for (int i = 0; record != NULL && said_warning(i) != NULL; i++) {
        rp_run_warn(record, said_warning(i));
    }
    pthread_mutex_unlock(&busy);
}

static void hear_nothing(rp_log_level level, const char *message, void *context)
{
    (void)level, (void)message, (void)context;
}

void say_nothing(bool nothing) { rp_set_log_hook(nothing ? hear_nothing : hook, NULL); }

void say_quietly(bool be_quiet)
{
    quiet = be_quiet;
    rp_set_log_hook(hook, NULL);
}
