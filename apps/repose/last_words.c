#define _GNU_SOURCE // REG_RSP
#include "last_words.h"

#include "say.h"

#include <repose/threads.h>

#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// Nothing here may ask for memory or take a lock: the process is already lost.

enum {
    STACK = 64 << 10, // bytes of the stack that are looked at
    MAPS = 256 << 10, // bytes of /proc/self/maps
    NAME = 64,
};

static char maps[MAPS];
static atomic_bool spared; // main() has ended, or others have begun with this already

// ---- whose code ----

static const char *const libraries[][2] = {
    {"libhdf5", "HDF5"},       {"libembree", "Embree"}, {"libtbb", "TBB"},        {"liblua", "Lua"},
    {"libjansson", "jansson"}, {"libpng", "libpng"},    {"libopenvdb", "OpenVDB"}};

// What people call it; NULL: not one of those.
static const char *library(const char *file)
{
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (strncmp(file, libraries[i][0], strlen(libraries[i][0])) == 0) {
            return libraries[i][1];
        }
    }
    return NULL;
}

typedef struct code {
    char name[NAME]; // of the file, without its folder
    bool ours;
} code;

static uintptr_t read_hex(const char **at)
{
    uintptr_t value = 0;
    for (;; ++*at) {
        const char c = **at;
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) {
            return value;
        }
        value = 16 * value + (uintptr_t)digit;
    }
}

static void read_maps(void)
{
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    for (ssize_t got = 1; fd >= 0 && got > 0 && size < MAPS - 1;
         size += (size_t)(got > 0 ? got : 0)) {
        got = read(fd, maps + size, MAPS - 1 - size);
    }
    maps[size] = '\0';
}

// Is there code of ours at this address, or of a library above? Others, the C library first of all,
// are where everybody's crashes end.
static bool code_at(uintptr_t address, code *out)
{
    // "55d0c0a00000-55d0c0a21000 r-xp 00000000 08:01 1234   /usr/lib/libhdf5.so"
    for (const char *at = maps; *at != '\0';) {
        const char *const end = at + strcspn(at, "\n");
        const uintptr_t low = read_hex(&at);
        at += *at == '-';
        const uintptr_t high = read_hex(&at);
        if (address >= low && address < high) {
            const char *path = memchr(at, '/', (size_t)(end - at));
            const char *name = path;
            for (const char *c = path; c != NULL && c < end; c++) {
                name = *c == '/' ? c + 1 : name;
            }
            const size_t length = name != NULL ? (size_t)(end - name) : 0;
            char self[4096];
            const ssize_t known = readlink("/proc/self/exe", self, sizeof self);
            const bool ours =
                path != NULL && known == end - path && memcmp(self, path, (size_t)known) == 0;
            if (at[3] != 'x' || length == 0 || (!ours && library(name) == NULL)) {
                return false;
            }
            memset(out->name, 0, NAME);
            memcpy(out->name, name, length < NAME - 1 ? length : NAME - 1);
            out->ours = ours;
            return true;
        }
        at = end + (*end == '\n');
    }
    return false;
}

// The innermost code: where it happened, or else the first address of code on the stack, which is
// most often who called.
static code whose(uintptr_t address, uintptr_t stack)
{
    code found = {.name = "a library"};
    read_maps();
    if (address != 0 && code_at(address, &found)) {
        return found;
    }
    // a stack ends somewhere: no more of it is read than its mapping has. One that ran out has its
    // end in the mapping below it, which cannot be read.
    uintptr_t end = stack;
    for (const char *at = maps; *at != '\0';) {
        const uintptr_t low = read_hex(&at);
        at += *at == '-';
        const uintptr_t high = read_hex(&at);
        if (stack >= low && stack < high) {
            end = high;
            stack = at[1] == 'r' ? stack : high;
        }
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    end = end - stack > STACK ? stack + STACK : end;
    stack = (stack + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
    for (; stack + sizeof(void *) <= end; stack += sizeof(void *)) {
        if (code_at(*(const uintptr_t *)stack, &found)) {
            break;
        }
    }
    return found;
}

// ---- what is said ----

static const char ENDED[] = " could not go on and ended the process";
static const char WAITS[] = " could not go on: it waits for itself";

static void put(const char *text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

static void tell(const code *who, const char *what)
{
    const char *name = library(who->name);
    put("repose: ");
    put(name != NULL ? name : who->name);
    if (name != NULL && strcmp(name, who->name + 3) != 0) {
        put(" (");
        put(who->name);
        put(")");
    }
    put(what);
    put("; most likely there was no memory left. Files that are whole stay so, and a run goes on "
        "with --resume\n");
}

// ---- how it ends ----

// What a thread was doing when a signal came.
static void place_of(const void *context, uintptr_t *code_address, uintptr_t *stack)
{
    const ucontext_t *at = context;
#if defined(__x86_64__)
    *code_address = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
    *stack = (uintptr_t)at->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    *code_address = at->uc_mcontext.pc;
    *stack = at->uc_mcontext.sp;
#else
    *code_address = 0;
    *stack = (uintptr_t)&at;
#endif
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)info;
    uintptr_t code_address, stack;
    place_of(context, &code_address, &stack);
    if (!atomic_exchange(&spared, true)) {
        const code who = whose(code_address, stack);
        if (!who.ours) {
            tell(&who, ENDED);
            _exit(EXIT_FILE);
        }
        put("repose: this is a bug in Repose, please report it with what led here\n");
    }
    signal(number, SIG_DFL); // returning does it again
}

static void on_exit_of_others(void)
{
    if (!atomic_exchange(&spared, true)) {
        const int here = 0;
        const code who = whose(0, (uintptr_t)&here);
        if (!who.ours) {
            tell(&who, ENDED);
            _exit(EXIT_FILE);
        }
    }
}

// jansson leaves out what it has no memory for, and half a record is worse than none.
static void *allocate_json(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL && !atomic_exchange(&spared, true)) {
        tell(&(code){.name = "libjansson"}, ENDED);
        _exit(EXIT_FILE);
    }
    return memory;
}

void last_words_prepare(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    rp_thread_begin();
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        // who has a better handler, such as a sanitizer, keeps it
        struct sigaction before;
        const struct sigaction action = {.sa_sigaction = on_crash,
                                         .sa_flags = SA_SIGINFO | SA_ONSTACK};
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            sigaction(numbers[i], &action, NULL);
        }
    }
    atexit(on_exit_of_others);
    json_set_alloc_funcs(allocate_json, free);
}

// ---- libraries that wait for ever ----

static pthread_t watched;

static void on_standstill(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    uintptr_t code_address, stack;
    place_of(context, &code_address, &stack);
    const code who = whose(code_address, stack);
    const char *name = library(who.name);
    if (name != NULL && (strcmp(name, "TBB") == 0 || strcmp(name, "Embree") == 0) &&
        !atomic_exchange(&spared, true)) {
        tell(&who, WAITS);
        _exit(EXIT_FILE);
    }
}

// Does the main thread wait for a lock, or the like?
static bool main_waits(void)
{
    char path[64], text[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)getpid());
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    return got > 0 && strtol(text, NULL, 10) == SYS_futex;
}

static void *watch(void *unused)
{
    enum { STILL = 15, AGAIN = 5 }; // [s]
    double last = 0.0;
    for (int still = 0;;) {
        struct timespec now;
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        const double used = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
        still = used - last < 0.002 ? still + 1 : 0; // what looking takes is less
        last = used;
        if (still >= STILL && main_waits()) {
            pthread_kill(watched, SIGUSR2);
            still = STILL - AGAIN;
        }
    }
    return unused;
}

void last_words_watch(void)
{
    const struct sigaction action = {.sa_sigaction = on_standstill,
                                     .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigset_t all, before;
    pthread_t thread;
    watched = pthread_self();
    sigaction(SIGUSR2, &action, NULL);
    // signals are for others
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, NULL) == 0) {
        pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void last_words_spare(void) { atomic_store(&spared, true); }
