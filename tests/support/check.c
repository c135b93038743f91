#include "check.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    TEXT = 512,
    PRINTED = 10, // failures printed per test; a helper in a loop can produce thousands
    SKIPPED = 77,
};

static const double SLOW = 0.5; // [s] of processor time; what takes longer is said to

// What the running test has done so far. Bodies of parallel loops log and check too.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *test_name = "";
static int failures;
static char context[TEXT];
static bool warning_expected, warning_allowed, assert_expected;
static int warnings, asserts;
static char last_warning[TEXT], last_assert[TEXT];

static const char *result_name(rp_result result)
{
    switch (result) {
    case RP_OK:
        return "RP_OK";
    case RP_ERR_ARGUMENT:
        return "RP_ERR_ARGUMENT";
    case RP_ERR_MEMORY:
        return "RP_ERR_MEMORY";
    case RP_ERR_LIMIT:
        return "RP_ERR_LIMIT";
    case RP_ERR_DIVERGED:
        return "RP_ERR_DIVERGED";
    case RP_ERR_FILE:
        return "RP_ERR_FILE";
    case RP_ERR_UNSUPPORTED:
        return "RP_ERR_UNSUPPORTED";
    case RP_ERR_STOPPED:
        return "RP_ERR_STOPPED";
    }
    return "an unknown result";
}

void check_record(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&mutex);
    failures++;
    if (failures <= PRINTED) {
        printf("     ");
        if (file != NULL) {
            printf("%s:%d: ", file, line);
        }
        vprintf(format, arguments);
        if (context[0]) {
            printf(" [%s]", context);
        }
        printf("\n");
    }
    pthread_mutex_unlock(&mutex);
    va_end(arguments);
}

bool check_equal(const char *file, int line, const char *what, long long got, long long want)
{
    if (got != want) {
        check_record(file, line, "%s: got %lld, want %lld", what, got, want);
    }
    return got == want;
}

bool check_near(const char *file, int line, const char *what, double got, double want,
                double tolerance)
{
    // equal infinities have no difference
    const bool near = got == want || fabs(got - want) <= tolerance;
    if (!near) {
        check_record(file, line, "%s: got %.17g, want %.17g, difference %.3g, tolerance %.3g", what,
                     got, want, got - want, tolerance);
    }
    return near;
}

bool check_ok(const char *file, int line, const char *call, rp_result got)
{
    if (got != RP_OK) {
        check_record(file, line, "%s: got %s, \"%s\"", call, result_name(got), rp_last_error());
    }
    return got == RP_OK;
}

bool check_error(const char *file, int line, const char *call, rp_result got, rp_result want,
                 const char *text)
{
    if (got != want) {
        // after RP_OK the sentence is an older call's
        check_record(file, line, "%s: got %s, \"%s\", want %s", call, result_name(got),
                     got == RP_OK ? "" : rp_last_error(), result_name(want));
        return false;
    }
    if (strstr(rp_last_error(), text) == NULL) {
        check_record(file, line, "%s: no \"%s\" in \"%s\"", call, text, rp_last_error());
        return false;
    }
    return true;
}

void check_context(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&mutex);
    vsnprintf(context, sizeof context, format, arguments);
    pthread_mutex_unlock(&mutex);
    va_end(arguments);
}

int check_rounds(int often)
{
#ifdef CHECK_COVER
    return often > 4 ? often / 4 : 1;
#else
    return often;
#endif
}

bool check_long(void) { return getenv("REPOSE_LONG_TESTS") != NULL; }

int check_failures(void)
{
    pthread_mutex_lock(&mutex);
    const int count = failures;
    pthread_mutex_unlock(&mutex);
    return count;
}

void check_expect_warning(void) { warning_expected = true; }

void check_allow_warning(void) { warning_allowed = true; }
const char *check_last_warning(void) { return last_warning; }
void check_expect_assert(void) { assert_expected = true; }
const char *check_last_assert(void) { return last_assert; }

static void on_log(rp_log_level level, const char *message, void *unused)
{
    (void)unused;
    if (level < RP_LOG_WARNING) {
        return;
    }
    pthread_mutex_lock(&mutex);
    warnings++;
    snprintf(last_warning, sizeof last_warning, "%s", message);
    pthread_mutex_unlock(&mutex);
    if (!warning_expected && !warning_allowed) {
        check_record(NULL, 0, "warning: %s", message);
    }
}

static void on_assert(const char *condition, const char *file, int line)
{
    if (!assert_expected) {
        check_record(file, line, "RP_ASSERT(%s)", condition);
        printf("FAIL %s (ended here)\n", test_name);
        fflush(stdout);
        abort();
    }
    pthread_mutex_lock(&mutex);
    asserts++;
    snprintf(last_assert, sizeof last_assert, "%s", condition);
    pthread_mutex_unlock(&mutex);
}

static bool passes(const check_test *test)
{
    test_name = test->name;
    failures = warnings = asserts = 0;
    warning_expected = warning_allowed = assert_expected = false;
    context[0] = last_warning[0] = last_assert[0] = 0;

    // each time anew, since a test may have set its own
    rp_set_log_hook(on_log, NULL);
    rp_set_assert_hook(on_assert);
    test->run();
    rp_set_log_hook(NULL, NULL);
    rp_set_assert_hook(NULL);

    // a test that stopped early did not get to it
    if (failures == 0 && warning_expected && warnings == 0) {
        check_record(NULL, 0, "a warning was expected and none came");
    }
    if (failures == 0 && assert_expected && asserts == 0) {
        check_record(NULL, 0, "a broken assert was expected and none came");
    }
    if (failures > PRINTED) {
        printf("     and %d more failures\n", failures - PRINTED);
    }
    return failures == 0;
}

// Of this process and of children that have ended. `make test` has a budget, so tests say what they
// take of it.
static double processor_seconds(void)
{
    double sum = 0.0;
    for (int i = 0; i < 2; i++) {
        struct rusage use;
        getrusage(i == 0 ? RUSAGE_SELF : RUSAGE_CHILDREN, &use);
        sum += (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
               1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    }
    return sum;
}

int check_main(int argc, char **argv, const check_test *tests, int count)
{
    // line by line, so that a crash does not take the names before it along
    setvbuf(stdout, NULL, _IOLBF, 0);

    const char *filter = argc > 1 ? argv[1] : "";
    int passed = 0, failed = 0;
    for (int i = 0; i < count; i++) {
        if (strstr(tests[i].name, filter) == NULL) {
            continue;
        }
        const double began = processor_seconds();
        const bool good = passes(&tests[i]);
        const double took = processor_seconds() - began;
        passed += good;
        failed += !good;
        printf("%s %s", good ? "ok  " : "FAIL", tests[i].name);
        if (took > SLOW) {
            printf(" (%.1f s)", took);
        }
        printf("\n");
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 ? 1 : passed > 0 ? 0 : SKIPPED;
}
