// Put before a program with LD_PRELOAD: the N-th call that it makes for memory, or to the disk,
// fails.
//
//   FAIL_CALLS=memory:17     the 17th, and no other
//   FAIL_CALLS=write:3+      the 3rd and all that follow
//   COUNT_CALLS=FILE         at the end a line for each kind: "memory 4711 1 2 5 ...", how many
//   there were, and
//                            the numbers of those that came from a place that none before came from
//
// A place is the few functions on the stack that led to the call: calls from the same place fail
// alike. Counted from main() on. What glibc calls within itself (a write behind printf) is not
// seen.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { MEMORY, OPEN, READ, WRITE, SYNC, RENAME, KINDS };
static const char *const name[KINDS] = {"memory", "open", "read", "write", "sync", "rename"};
static const int error[KINDS] = {ENOMEM, EMFILE, EIO, ENOSPC, EIO, EACCES};

static atomic_long calls[KINDS];
static long first[KINDS]; // which is to fail; 0: none
static bool following, counting, listing;

// ---- places ----

enum { DEPTH = 6, SKIPPED = 3, PLACES = 1 << 16 };
static uint64_t known[PLACES]; // hashes of places; 0: free
static long seen[KINDS][PLACES / 8];
static int seen_count[KINDS];
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool inside; // of backtrace(), which asks for memory itself

__attribute__((noinline)) static void note_place(int kind, long n)
{
    void *stack[DEPTH];
    inside = true;
    const int depth = backtrace(stack, DEPTH);
    inside = false;
    uint64_t hash = (uint64_t)kind + 1;
    for (int i = SKIPPED; i < depth; i++) {
        hash = (hash ^ (uintptr_t)stack[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    pthread_mutex_lock(&busy);
    size_t i = hash % PLACES;
    while (known[i] != 0 && known[i] != hash) {
        i = (i + 1) % PLACES;
    }
    if (known[i] == 0 && seen_count[kind] < PLACES / 8) {
        known[i] = hash;
        seen[kind][seen_count[kind]++] = n;
    }
    pthread_mutex_unlock(&busy);
}

// not inline, so that as many functions are skipped everywhere
__attribute__((noinline)) static bool fails(int kind)
{
    if (!counting || inside) {
        return false;
    }
    const long n = atomic_fetch_add(&calls[kind], 1) + 1;
    if (listing) {
        note_place(kind, n);
    }
    const bool now = first[kind] > 0 && (n == first[kind] || (following && n > first[kind]));
    if (now) {
        errno = error[kind];
    }
    return now;
}

// ---- from main() on, to the end ----

static void read_orders(void)
{
    const char *order = getenv("FAIL_CALLS");
    for (int k = 0; order != NULL && k < KINDS; k++) {
        const size_t length = strlen(name[k]);
        if (strncmp(order, name[k], length) == 0 && order[length] == ':') {
            char *rest;
            first[k] = strtol(order + length + 1, &rest, 10);
            following = *rest == '+';
        }
    }
    listing = getenv("COUNT_CALLS") != NULL;
    // a program that it starts is its own master
    unsetenv("FAIL_CALLS");
    unsetenv("LD_PRELOAD");
    counting = true;
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("COUNT_CALLS");
    counting = false;
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    for (int k = 0; file != NULL && k < KINDS; k++) {
        fprintf(file, "%s %ld", name[k], atomic_load(&calls[k]));
        for (int i = 0; i < seen_count[k]; i++) {
            fprintf(file, " %ld", seen[k][i]);
        }
        fputc('\n', file);
    }
    if (file != NULL) {
        fclose(file);
    }
}

static int (*real_main)(int, char **, char **);

static int watched_main(int argc, char **argv, char **environment)
{
    read_orders();
    return real_main(argc, argv, environment);
}

// The function of the same name that comes after ours.
#define NEXT(function)                                                                             \
    static __typeof__(function) *next;                                                             \
    if (next == NULL) {                                                                            \
        next = (__typeof__(function) *)dlsym(RTLD_NEXT, #function);                                \
    }

int __libc_start_main(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                      void (*)(void), void *);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack)
{
    NEXT(__libc_start_main)
    real_main = main;
    return next(watched_main, argc, argv, init, fini, rtld_fini, stack);
}

// ---- memory: glibc's own under their second names, since dlsym() asks for memory itself ----

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) { return fails(MEMORY) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size)
{
    return fails(MEMORY) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(MEMORY) ? NULL : __libc_realloc(memory, size);
}

void *memalign(size_t align, size_t size)
{
    return fails(MEMORY) ? NULL : __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails(MEMORY) ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    void *memory = fails(MEMORY) ? NULL : __libc_memalign(align, size);
    *out = memory != NULL ? memory : *out;
    return memory != NULL ? 0 : ENOMEM;
}

void *mmap(void *at, size_t size, int access, int flags, int fd, off_t offset)
{
    NEXT(mmap)
    return (flags & MAP_ANONYMOUS) != 0 && fails(MEMORY)
               ? MAP_FAILED
               : next(at, size, access, flags, fd, offset);
}

// ---- files ----

#define OPENS(function, folder, folder_argument)                                                   \
    int function(folder const char *path, int flags, ...)                                          \
    {                                                                                              \
        NEXT(function)                                                                             \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;       \
        va_end(list);                                                                              \
        return fails(OPEN) ? -1 : next(folder_argument path, flags, mode);                         \
    }
#define COMMA ,
OPENS(open, , )
OPENS(open64, , )
OPENS(openat, int folder COMMA, folder COMMA)
OPENS(openat64, int folder COMMA, folder COMMA)

// A call that gives `wrong` when it fails.
#define CALL(kind, wrong, type, function, parameters, arguments)                                   \
    type function parameters                                                                       \
    {                                                                                              \
        NEXT(function)                                                                             \
        return fails(kind) ? wrong : next arguments;                                               \
    }
CALL(OPEN, NULL, FILE *, fopen, (const char *path, const char *mode), (path, mode))
CALL(OPEN, NULL, FILE *, fopen64, (const char *path, const char *mode), (path, mode))
CALL(OPEN, -1, int, mkdir, (const char *path, mode_t mode), (path, mode))
CALL(READ, -1, ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))
CALL(READ, -1, ssize_t, pread, (int fd, void *data, size_t size, off_t at), (fd, data, size, at))
CALL(READ, -1, ssize_t, pread64, (int fd, void *data, size_t size, off64_t at),
     (fd, data, size, at))
CALL(WRITE, -1, ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
CALL(WRITE, -1, ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at),
     (fd, data, size, at))
CALL(WRITE, -1, ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at),
     (fd, data, size, at))
CALL(WRITE, -1, int, ftruncate, (int fd, off_t size), (fd, size))
CALL(WRITE, -1, int, ftruncate64, (int fd, off64_t size), (fd, size))
CALL(SYNC, -1, int, fsync, (int fd), (fd))
CALL(SYNC, -1, int, fdatasync, (int fd), (fd))
CALL(RENAME, -1, int, rename, (const char *from, const char *to), (from, to))

// stdio reads behind our back: whoever asks for bytes is told that there are none, and why
size_t fread(void *restrict data, size_t size, size_t count, FILE *restrict file)
{
    NEXT(fread)
    if (fails(READ)) {
        file->_flags |= 0x20; // _IO_ERR_SEEN: what ferror() looks at
        return 0;
    }
    return next(data, size, count, file);
}
