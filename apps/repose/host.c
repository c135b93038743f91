#include "host.h"

#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// ---- memory ----

// A number from a file that may hold "max" or not be there at all.
static size_t read_number(const char *path, size_t otherwise)
{
    FILE *file = fopen(path, "re");
    unsigned long long value;
    const bool found = file != NULL && fscanf(file, "%llu", &value) == 1;
    if (file != NULL) {
        fclose(file);
    }
    return found ? (size_t)value : otherwise;
}

static size_t machine_memory(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    unsigned long long kib = 0;
    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "MemAvailable: %llu kB", &kib);
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib > 0 ? (size_t)kib << 10 : SIZE_MAX;
}

size_t available_memory(void)
{
    const size_t machine = machine_memory();
    const size_t most = read_number("/sys/fs/cgroup/memory.max", SIZE_MAX);
    const size_t used = read_number("/sys/fs/cgroup/memory.current", 0);
    // what the group has cached of files would be given up
    const size_t group = most == SIZE_MAX ? SIZE_MAX : most > used ? most - used : 0;
    return group < machine ? group : machine;
}

size_t peak_memory(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    size_t kilobytes = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "VmHWM: %zu kB", &kilobytes);
    }
    if (file != NULL) {
        fclose(file);
    }
    return 1024 * kilobytes;
}

bool forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "we");
    const bool told = file != NULL && fputs("5", file) >= 0;
    return file != NULL && fclose(file) == 0 && told;
}

size_t resident_memory(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    size_t total, resident = 0;
    if (file != NULL && fscanf(file, "%zu %zu", &total, &resident) != 2) {
        resident = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

// ---- descriptors ----

bool descriptors_fill(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        // open() takes the lowest that is free, which is this one
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) {
            return false;
        }
    }
    return true;
}

// ---- signals ----

static atomic_int caught; // a handler writes it, any thread may ask

static void on_signal(int number)
{
    if (caught != 0) {
        _exit(128 + number);
    }
    caught = number;
}

void signals_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        // what the parent wants ignored stays ignored
        struct sigaction before, action = {.sa_handler = on_signal};
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }
}

int signal_came(void) { return caught; }

bool signal_stops(void *context)
{
    (void)context;
    return caught != 0;
}

// ---- control ----

bool control_open(control *c, int fd)
{
    *c = (control){.fd = fd};
    return fcntl(fd, F_GETFL) >= 0;
}

static void obey(control *c, const char *word)
{
    if (strcmp(word, "pause") == 0) {
        c->paused = !c->stop; // what is to end does not wait
    } else if (strcmp(word, "resume") == 0) {
        c->paused = false;
    } else if (strcmp(word, "stop") == 0) {
        c->stop = true;
        c->paused = false;
    } else if (word[0] != '\0') {
        say_warning("control: want pause, resume or stop, got '%s'", word);
    }
}

// What one read brings; false at the end of the channel.
static bool take_bytes(control *c)
{
    char bytes[256];
    const ssize_t n = read(c->fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return true;
    }
    for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            c->line[c->length] = '\0';
            c->length = 0;
            obey(c, c->line);
        } else if (c->length < sizeof c->line - 1 && bytes[i] != '\r') {
            c->line[c->length++] = bytes[i];
        }
    }
    return n > 0;
}

static void take_in(control *c, int milliseconds)
{
    struct pollfd ready = {.fd = c->fd, .events = POLLIN};
    // without a descriptor poll only waits
    if (poll(&ready, 1, milliseconds) > 0 && !take_bytes(c)) {
        c->fd = -1;
        c->paused = false; // nobody is left who could say "resume"
    }
}

void control_look(control *c)
{
    do {
        take_in(c, c->paused ? 100 : 0);
    } while (c->paused && caught == 0);
}

bool control_stops(control *c)
{
    enum { EVERY_MS = 50 };
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const int64_t now = 1000 * (int64_t)t.tv_sec + t.tv_nsec / 1000000;
    if (c->fd >= 0 && now >= c->due) {
        c->due = now + EVERY_MS;
        take_in(c, 0);
    }
    return c->stop || caught != 0;
}
