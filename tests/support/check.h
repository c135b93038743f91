// The test harness. A test is a static function whose name is a sentence:
//
//   static void a_dropped_grain_falls(void)
//   {
//       CHECK_OK(rp_world_step(world));
//       CHECK_NEAR(height, 0.5 * g * t * t, 1e-12);
//   }
//
//   TEST_MAIN(TEST(a_dropped_grain_falls), TEST(...))
//
// The program takes one argument, a part of a name: only tests that contain it are run. It exits
// with 0 when all passed, 1 when some failed, and 77, for ctest to skip, when none has such a name.
//
// A check that fails is recorded with its place and returns from the function it stands in, so it
// works in void functions only. When a helper with checks must stop its caller too, call it through
// CHECK_HELPER. A warning the library logs during a test fails the test, unless it was expected.
#pragma once

#include "repose/base.h"

typedef struct check_test {
    const char *name;
    void (*run)(void);
} check_test;

// clang-format off
#define TEST(function) {#function, function}
// clang-format on

#define TEST_MAIN(...)                                                                             \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const check_test tests_[] = {__VA_ARGS__};                                          \
        return check_main(argc, argv, tests_, (int)(sizeof tests_ / sizeof tests_[0]));            \
    }

// Holds in every build.
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            check_record(__FILE__, __LINE__, "CHECK(%s)", #condition);                             \
            return;                                                                                \
        }                                                                                          \
    } while (0)

// Integers, compared as long long; on failure both are printed.
#define CHECK_EQUAL(got, want)                                                                     \
    do {                                                                                           \
        if (!check_equal(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))) {         \
            return;                                                                                \
        }                                                                                          \
    } while (0)

// |got - want| <= tolerance, an absolute one; a NaN is near nothing.
#define CHECK_NEAR(got, want, tolerance)                                                           \
    do {                                                                                           \
        if (!check_near(__FILE__, __LINE__, #got, (got), (want), (tolerance))) {                   \
            return;                                                                                \
        }                                                                                          \
    } while (0)

#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        if (!check_ok(__FILE__, __LINE__, #call, (call))) {                                        \
            return;                                                                                \
        }                                                                                          \
    } while (0)

// The call comes back with this code, and its sentence contains this text.
#define CHECK_ERROR(call, code, text)                                                              \
    do {                                                                                           \
        if (!check_error(__FILE__, __LINE__, #call, (call), (code), (text))) {                     \
            return;                                                                                \
        }                                                                                          \
    } while (0)

// Runs a helper and returns when a check inside it failed.
#define CHECK_HELPER(call)                                                                         \
    do {                                                                                           \
        const int check_before_ = check_failures();                                                \
        call;                                                                                      \
        if (check_failures() != check_before_) {                                                   \
            return;                                                                                \
        }                                                                                          \
    } while (0)

// What is printed with the failures that follow, such as the variant under test. Every test starts
// without one.
void check_context(const char *format, ...) __attribute__((format(printf, 1, 2)));

// From here to its end the test may log warnings, and fails when it logs none.
void check_expect_warning(void);
// The same, but none is as well.
void check_allow_warning(void);
// The newest warning of this test, "" when there was none.
const char *check_last_warning(void);

// From here to its end the test may break asserts, which then return to the code that broke them;
// the test fails when none does. An assert that nobody expects ends the program.
void check_expect_assert(void);
// The condition of the newest assert this test broke, "" when there was none.
const char *check_last_assert(void);

// 1 in builds with an address sanitizer: it looks at memory, and is slow.
#ifdef __has_feature
#define CHECK_HAS_FEATURE(name) __has_feature(name)
#else
#define CHECK_HAS_FEATURE(name) 0
#endif
#if defined __SANITIZE_ADDRESS__ || CHECK_HAS_FEATURE(address_sanitizer)
#define CHECK_SANITIZED 1
#else
#define CHECK_SANITIZED 0
#endif

// How often to do what a test repeats: so often, or a quarter of it in builds that cover the code
// but look for other mistakes than those of numbers (REPOSE_COVER). At least 1.
int check_rounds(int often);

// Whether REPOSE_LONG_TESTS is set, as by `make check-all`: cases and rounds that take long and
// seldom find what the others do not are for then.
bool check_long(void);

// Failures of the running test so far.
int check_failures(void);

// What the macros are made of. Any thread may call these. A failure without a place has file NULL.
void check_record(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool check_equal(const char *file, int line, const char *what, long long got, long long want);
bool check_near(const char *file, int line, const char *what, double got, double want,
                double tolerance);
bool check_ok(const char *file, int line, const char *call, rp_result got);
bool check_error(const char *file, int line, const char *call, rp_result got, rp_result want,
                 const char *text);
int check_main(int argc, char **argv, const check_test *tests, int count);
