#define _GNU_SOURCE
// A pool of threads that share loops by taking chunks from a counter. The caller takes chunks too,
// and at the end waits only for those that have begun: a thread that the machine keeps waiting
// holds nobody up. Idle threads look for work for a short while, then sleep, so that a process that
// shares its processors does not burn them.
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#ifdef __SSE__
#include <xmmintrin.h>
enum {
    FLUSH_RESULTS = 0x8000,  // a denormal result becomes zero (FTZ)
    FLUSH_OPERANDS = 0x0040, // a denormal operand counts as zero (DAZ)
    ROUNDING = 0x6000,       // both bits clear: to nearest
};
#endif

rp_float_mode rp_float_mode_enter(void)
{
#ifdef __SSE__
    const unsigned saved = _mm_getcsr();
    _mm_setcsr((saved & ~(unsigned)ROUNDING) | FLUSH_RESULTS | FLUSH_OPERANDS);
    return (rp_float_mode){saved};
#else
    return (rp_float_mode){0};
#endif
}

void rp_float_mode_leave(rp_float_mode mode)
{
#ifdef __SSE__
    _mm_setcsr(mode.saved);
#else
    (void)mode;
#endif
}

// ---- the pool ----

enum {
    WORKERS_MOST = 1023,
    LOOKS = 4000, // that an idle thread takes before it sleeps: some tens of microseconds
};

typedef struct loop {
    void (*body)(void *ctx, int64_t i, int thread);
    void *ctx;
    int64_t count, chunk;
    int threads;
    atomic_llong next; // first index that nobody has taken
} loop;

// One loop at a time. `turn` is odd while a loop is open; workers enter it by counting themselves
// `inside` and then looking whether it is still open, and it is closed by making `turn` even and
// waiting until nobody is inside: either the worker sees it closed, or the closer sees the worker.
static struct {
    pthread_mutex_t busy; // held by the caller whose loop it is
    loop loop;
    atomic_ulong turn;
    atomic_int inside, sleeping;
    pthread_mutex_t mutex; // of the sleepers
    pthread_cond_t wake;
    int workers; // that exist; written under `busy`
} pool = {
    .busy = PTHREAD_MUTEX_INITIALIZER,
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .wake = PTHREAD_COND_INITIALIZER,
};

static void relax(void)
{
#ifdef __SSE__
    _mm_pause();
#endif
}

static void take_chunks(loop *l, int thread)
{
    const rp_float_mode mode = rp_float_mode_enter();
    for (;;) {
        const int64_t first = atomic_fetch_add(&l->next, l->chunk);
        if (first >= l->count) {
            break;
        }
        const int64_t end = l->count - first < l->chunk ? l->count : first + l->chunk;
        for (int64_t i = first; i < end; i++) {
            l->body(l->ctx, i, thread);
        }
    }
    rp_float_mode_leave(mode);
}

// Until there is an open loop that this thread has not seen.
static unsigned long wait_for_turn(unsigned long seen)
{
    for (int looks = 0;; looks++) {
        const unsigned long turn = atomic_load(&pool.turn);
        if (turn != seen && turn % 2 == 1) {
            return turn;
        }
        if (looks < LOOKS) {
            relax();
            continue;
        }
        pthread_mutex_lock(&pool.mutex);
        atomic_fetch_add(&pool.sleeping, 1);
        if (atomic_load(&pool.turn) == turn) {
            pthread_cond_wait(&pool.wake, &pool.mutex);
        }
        atomic_fetch_sub(&pool.sleeping, 1);
        pthread_mutex_unlock(&pool.mutex);
        looks = 0;
    }
}

void rp_thread_begin(void)
{
    enum { BYTES = 64 << 10 };
    static _Thread_local char own[BYTES];
    stack_t before;
    sigset_t crashes;
    sigemptyset(&crashes);
    for (int i = 0; i < 5; i++) {
        sigaddset(&crashes, (const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}[i]);
    }
    pthread_sigmask(SIG_UNBLOCK, &crashes, NULL);
    if (sigaltstack(NULL, &before) == 0 && (before.ss_flags & SS_DISABLE) != 0) {
        sigaltstack(&(stack_t){.ss_sp = own, .ss_size = BYTES}, NULL);
    }
}

static void *work(void *number)
{
    rp_thread_begin();
    const int thread = (int)(intptr_t)number;
    for (unsigned long seen = 0;;) {
        seen = wait_for_turn(seen);
        atomic_fetch_add(&pool.inside, 1);
        const unsigned long turn = atomic_load(&pool.turn);
        if (turn % 2 == 1 && thread < pool.loop.threads) {
            seen = turn;
            take_chunks(&pool.loop, thread);
        }
        atomic_fetch_sub(&pool.inside, 1);
    }
    return NULL;
}

// A forked child has none of the threads, and what they were doing is not its business.
static void start_over(void)
{
    pool.workers = 0;
    atomic_store(&pool.inside, 0);
    atomic_store(&pool.sleeping, 0);
    atomic_store(&pool.turn, 0);
    pthread_mutex_init(&pool.busy, NULL);
    pthread_mutex_init(&pool.mutex, NULL);
    pthread_cond_init(&pool.wake, NULL);
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, start_over); }

// As many as can be had; with fewer the loop only takes longer.
static void grow(int workers)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    sigset_t all, before;
    sigfillset(&all); // signals belong to the host's threads
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.workers < workers && pool.workers < WORKERS_MOST) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)(intptr_t)(pool.workers + 1)) != 0) {
            break;
        }
        pthread_detach(thread);
        pool.workers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void open_loop(void)
{
    atomic_fetch_add(&pool.turn, 1);
    if (atomic_load(&pool.sleeping) > 0) {
        pthread_mutex_lock(&pool.mutex);
        pthread_cond_broadcast(&pool.wake);
        pthread_mutex_unlock(&pool.mutex);
    }
}

static void close_loop(void)
{
    atomic_fetch_add(&pool.turn, 1);
    for (int looks = 0; atomic_load(&pool.inside) > 0; looks++) {
        if (looks < LOOKS) {
            relax();
        } else {
            sched_yield();
        }
    }
}

void rp_parallel_for(int threads, int64_t count, int64_t chunk,
                     void (*body)(void *ctx, int64_t i, int thread), void *ctx)
{
    chunk = chunk < 1 ? 1 : chunk;
    // somebody else's loop, or one within a loop, is no reason to wait
    if (threads <= 1 || count <= chunk || pthread_mutex_trylock(&pool.busy) != 0) {
        loop alone = {.body = body, .ctx = ctx, .count = count, .chunk = count > 0 ? count : 1};
        take_chunks(&alone, 0);
        return;
    }
    grow(threads - 1);
    pool.loop.body = body;
    pool.loop.ctx = ctx;
    pool.loop.count = count;
    pool.loop.chunk = chunk;
    pool.loop.threads = threads;
    atomic_store(&pool.loop.next, 0);
    open_loop();
    take_chunks(&pool.loop, 0);
    close_loop();
    pthread_mutex_unlock(&pool.busy);
}

int rp_default_threads(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}
