#include "base/threads.h"
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

static const int thread_counts[] = {1, 2, 3, 7};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof thread_counts[0], MOST_THREADS = 7 };

// ---- which indices run, and where ----

typedef struct visits {
    int *times; // per index
    struct {
        int64_t bodies, outside;
        char rim[64]; // threads write side by side
    } thread[MOST_THREADS];
    int threads;
} visits;

static void visit(void *ctx, int64_t i, int thread)
{
    visits *v = ctx;
    v->times[i]++;
    if (thread < 0 || thread >= v->threads) {
        v->thread[0].outside++;
    } else {
        v->thread[thread].bodies++;
    }
}

static void visit_all(int threads, int64_t count, int64_t chunk)
{
    check_context("%d threads, %lld items, chunk %lld", threads, (long long)count,
                  (long long)chunk);
    visits v = {.times = calloc((size_t)count + 1, sizeof(int)), .threads = threads};
    CHECK(v.times != NULL);
    rp_parallel_for(threads, count, chunk, visit, &v);
    int wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        wrong += v.times[i] != 1;
    }
    wrong += v.times[count] != 0;
    free(v.times);
    CHECK_EQUAL(wrong, 0);

    // a scratch counter per thread adds up only when no two threads share a number
    int64_t bodies = 0;
    for (int t = 0; t < MOST_THREADS; t++) {
        bodies += v.thread[t].bodies;
        CHECK_EQUAL(v.thread[t].outside, 0);
    }
    CHECK_EQUAL(bodies, count);
}

// Catches a range that is cut short, doubled at chunk borders, or numbered by the wrong thread.
static void every_index_is_visited_once(void)
{
    static const int64_t counts[] = {0, 1, 2, 63, 64, 65, 1000, 100001};
    static const int64_t chunks[] = {0, 1, 7, 64, 1000000};
    for (int t = 0; t < THREAD_COUNTS; t++) {
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
            for (size_t c = 0; c < sizeof chunks / sizeof chunks[0]; c++) {
                CHECK_HELPER(visit_all(thread_counts[t], counts[n], chunks[c]));
            }
        }
    }
}

typedef struct callers {
    pthread_t caller;
    int64_t elsewhere, last, disorder; // plain numbers: all on one thread
} callers;

static void note_caller(void *ctx, int64_t i, int thread)
{
    callers *c = ctx;
    c->elsewhere += thread != 0 || !pthread_equal(pthread_self(), c->caller);
    c->disorder += i != c->last + 1;
    c->last = i;
}

// Catches a team woken for less than a chunk of work, and one thread that is not the caller.
static void little_work_stays_on_the_calling_thread(void)
{
    callers few = {.caller = pthread_self(), .last = -1};
    rp_parallel_for(4, 64, 64, note_caller, &few);
    CHECK_EQUAL(few.last, 63);
    CHECK_EQUAL(few.elsewhere, 0);
    CHECK_EQUAL(few.disorder, 0);

    callers alone = {.caller = pthread_self(), .last = -1};
    rp_parallel_for(1, 5000, 1, note_caller, &alone);
    CHECK_EQUAL(alone.last, 4999);
    CHECK_EQUAL(alone.elsewhere, 0);
    CHECK_EQUAL(alone.disorder, 0);
}

typedef struct meeting {
    atomic_int arrived;
    atomic_bool missed;
} meeting;

static void wait_for_the_others(void *ctx, int64_t i, int thread)
{
    (void)i;
    (void)thread;
    meeting *m = ctx;
    atomic_fetch_add(&m->arrived, 1);
    const time_t start = time(NULL);
    while (atomic_load(&m->arrived) < 3) {
        if (time(NULL) - start > 20) {
            atomic_store(&m->missed, true);
            return;
        }
        usleep(100);
    }
}

// Catches a loop that runs on one thread after all, or hands all items to the first that comes.
static void three_items_run_at_the_same_time_on_three_threads(void)
{
    meeting m = {0};
    rp_parallel_for(3, 3, 1, wait_for_the_others, &m);
    CHECK(!atomic_load(&m.missed));
    CHECK_EQUAL(atomic_load(&m.arrived), 3);
}

// Catches a count from another source than the processors this process may use.
static void the_default_is_the_processors_we_may_use(void)
{
    CHECK(rp_default_threads() >= 1);
    CHECK(rp_default_threads() <= sysconf(_SC_NPROCESSORS_CONF));
}

typedef struct outer_loop {
    atomic_int inner[8];
} outer_loop;

static void count_inner(void *ctx, int64_t i, int thread)
{
    (void)i;
    (void)thread;
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static void loop_within(void *ctx, int64_t i, int thread)
{
    (void)thread;
    outer_loop *o = ctx;
    rp_parallel_for(3, 100, 1, count_inner, &o->inner[i]);
}

// Catches a pool that waits for itself.
static void a_loop_may_hold_a_loop(void)
{
    outer_loop o = {0};
    rp_parallel_for(3, 8, 1, loop_within, &o);
    for (int i = 0; i < 8; i++) {
        CHECK_EQUAL(atomic_load(&o.inner[i]), 100);
    }
}

static void *many_loops(void *ctx)
{
    atomic_int *wrong = ctx;
    for (int round = 0; round < 3000; round++) {
        atomic_int visited = 0;
        rp_parallel_for(2 + round % 6, 50, 1 + round % 3, count_inner, &visited);
        atomic_fetch_add(wrong, atomic_load(&visited) != 50);
    }
    return NULL;
}

// Catches a worker that comes late and takes part in a loop that is over, or in the next one with
// what it knew of the last: short loops in quick succession, from two host threads at once.
static void loops_of_two_hosts_do_not_mix(void)
{
    pthread_t other;
    atomic_int wrong = 0;
    CHECK(pthread_create(&other, NULL, many_loops, &wrong) == 0);
    many_loops(&wrong);
    pthread_join(other, NULL);
    CHECK_EQUAL(atomic_load(&wrong), 0);
}

// Catches a child that waits for threads that only its parent has.
static void a_forked_child_loops_on(void)
{
    for (int round = 0; round < 50; round++) {
        atomic_int visited = 0;
        rp_parallel_for(8, 64, 1, count_inner, &visited);
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(20);
            atomic_int again = 0;
            rp_parallel_for(8, 64, 1, count_inner, &again);
            _exit(atomic_load(&again) == 64 ? 0 : 1);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_EQUAL(status, 0);
    }
}

// ---- the float mode ----

#ifdef __SSE__

enum {
    STICKY = 0x3f, // exception flags, raised by any arithmetic
    UPWARD = 0x4000,
    BODIES = 4000,
};

// Sums in functions of their own, on volatile numbers: or the compiler does them itself, in its own
// mode, or moves them past a change of the mode.
static const volatile double denormal = 0x1p-1060, smallest_normal = 0x1p-1022, one = 1.0;
static const volatile float denormal_float = 0x1p-140f;

#define NOT_MOVED __attribute__((noinline))
NOT_MOVED static bool operands_count(void) { return denormal * 0x1p500 != 0.0; }
NOT_MOVED static bool float_operands_count(void) { return denormal_float * 0x1p100f != 0.0f; }
NOT_MOVED static bool rounds_up(void) { return one + 0x1p-60 != 1.0; }
NOT_MOVED static bool results_are_kept(void)
{
    // as bits: a comparison would take the denormal for zero
    const double half = smallest_normal * 0.5;
    uint64_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits != 0;
}

typedef struct float_seen {
    bool operand_counted[BODIES], result_kept[BODIES], float_counted[BODIES], rounded_up[BODIES];
} float_seen;

static void look_at_arithmetic(void *ctx, int64_t i, int thread)
{
    (void)thread;
    float_seen *seen = ctx;
    seen->operand_counted[i] = operands_count();
    seen->result_kept[i] = results_are_kept();
    seen->float_counted[i] = float_operands_count();
    seen->rounded_up[i] = rounds_up();
}

// Catches a thread that runs a step with the host's mode, or keeps ours when the step is over.
static void every_thread_flushes_denormals_and_leaves_as_it_came(void)
{
    static float_seen seen;
    const unsigned usual = _mm_getcsr() & ~(unsigned)STICKY, host = usual | UPWARD;
    for (int t = 0; t < THREAD_COUNTS; t++) {
        const int threads = thread_counts[t];
        check_context("%d threads", threads);
        seen = (float_seen){0};
        _mm_setcsr(host);
        const bool host_counts = operands_count(), host_rounds_up = rounds_up();
        rp_parallel_for(threads, BODIES, 1, look_at_arithmetic, &seen);
        const unsigned after = _mm_getcsr() & ~(unsigned)STICKY;
        _mm_setcsr(usual);

        CHECK(host_counts && host_rounds_up); // or this test sees nothing
        for (int i = 0; i < BODIES; i++) {
            CHECK(!seen.operand_counted[i]);
            CHECK(!seen.float_counted[i]);
            CHECK(!seen.result_kept[i]);
            CHECK(!seen.rounded_up[i]);
        }
        CHECK_EQUAL(after, host);
    }
}

// Catches a leave that switches flushing off instead of going back to what was.
static void float_modes_nest(void)
{
    const unsigned before = _mm_getcsr();
    const rp_float_mode outer = rp_float_mode_enter();
    const rp_float_mode inner = rp_float_mode_enter();
    const bool flushed_twice = !operands_count();
    rp_float_mode_leave(inner);
    const bool flushed_once = !operands_count();
    rp_float_mode_leave(outer);
    const unsigned after = _mm_getcsr();
    CHECK(flushed_twice);
    CHECK(flushed_once);
    CHECK_EQUAL(after, before);
    CHECK(operands_count());
}

#else

static void every_thread_flushes_denormals_and_leaves_as_it_came(void) {}
static void float_modes_nest(void) {}

#endif

TEST_MAIN(TEST(every_index_is_visited_once), TEST(little_work_stays_on_the_calling_thread),
          TEST(three_items_run_at_the_same_time_on_three_threads),
          TEST(the_default_is_the_processors_we_may_use), TEST(a_loop_may_hold_a_loop),
          TEST(loops_of_two_hosts_do_not_mix), TEST(a_forked_child_loops_on),
          TEST(every_thread_flushes_denormals_and_leaves_as_it_came), TEST(float_modes_nest))
