#include "base/result.h"
#include "check.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Catches a code that is lost on the way, and arguments that do not reach the sentence.
static void a_failure_returns_its_code_and_a_sentence(void)
{
    const rp_result result = rp_fail(RP_ERR_FILE, "%s: want %d, got %g", "pour.density", 3, -0.5);
    CHECK_EQUAL(result, RP_ERR_FILE);
    CHECK(strcmp(rp_last_error(), "pour.density: want 3, got -0.5") == 0);
}

// Catches formatting into the buffer that an argument still points at.
static void a_sentence_may_quote_the_one_before(void)
{
    rp_fail(RP_ERR_FILE, "no such file");
    const rp_result result =
        rp_fail(RP_ERR_ARGUMENT, "scene 'heap': %s (%s)", rp_last_error(), rp_last_error());
    CHECK_EQUAL(result, RP_ERR_ARGUMENT);
    CHECK(strcmp(rp_last_error(), "scene 'heap': no such file (no such file)") == 0);
}

// Catches a write past the buffer, and a cut that looks like a whole sentence.
static void a_long_sentence_is_cut_and_shows_it(void)
{
    char word[5000];
    memset(word, 'x', sizeof word);
    word[sizeof word - 1] = 0;
    rp_fail(RP_ERR_FILE, "%s", word);
    const size_t length = strlen(rp_last_error());
    CHECK(length >= 511 && length < sizeof word);
    CHECK(strcmp(rp_last_error() + length - 4, "x...") == 0);
}

// A reader of messages splits them at points and commas: a German host must not move them. Catches
// formatting in the host's locale; says so where no such locale is installed.
static void numbers_have_a_point_in_every_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++) {
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    }
    uselocale(LC_GLOBAL_LOCALE);
    char host[16];
    snprintf(host, sizeof host, "%g", 0.5);
    rp_fail(RP_ERR_ARGUMENT, "%g", 0.5);
    char again[16];
    snprintf(again, sizeof again, "%g", 0.5);
    setlocale(LC_NUMERIC, "C");

    CHECK(strcmp(rp_last_error(), "0.5") == 0);
    CHECK(strcmp(host, again) == 0); // the host keeps its own
    if (!found) {
        printf(
            "     no locale with a decimal comma on this machine: the next line proves little\n");
    }
}

typedef struct other_thread {
    bool starts_empty, keeps_its_own;
} other_thread;

static void *fail_elsewhere(void *argument)
{
    other_thread *seen = argument;
    seen->starts_empty = strcmp(rp_last_error(), "") == 0;
    rp_fail(RP_ERR_MEMORY, "there");
    seen->keeps_its_own = strcmp(rp_last_error(), "there") == 0;
    return NULL;
}

// Catches a sentence shared by threads, and a NULL before the first failure.
static void every_thread_has_its_own_sentence(void)
{
    rp_fail(RP_ERR_FILE, "here");
    other_thread seen = {0};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, fail_elsewhere, &seen) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(seen.starts_empty);
    CHECK(seen.keeps_its_own);
    CHECK(strcmp(rp_last_error(), "here") == 0);
}

typedef struct log_seen {
    int calls;
    rp_log_level level;
    char message[64];
} log_seen;

static void remember_log(rp_log_level level, const char *message, void *context)
{
    log_seen *seen = context;
    seen->calls++;
    seen->level = level;
    snprintf(seen->message, sizeof seen->message, "%s", message);
}

// Catches a lost level or context, and a library that goes on talking after the hook is gone.
static void the_log_hook_hears_everything_until_it_is_removed(void)
{
    log_seen seen = {0};
    rp_set_log_hook(remember_log, &seen);
    rp_log(RP_LOG_INFO, "%d pages", 7);
    CHECK_EQUAL(seen.calls, 1);
    CHECK_EQUAL(seen.level, RP_LOG_INFO);
    CHECK(strcmp(seen.message, "7 pages") == 0);

    rp_set_log_hook(NULL, NULL);
    rp_log(RP_LOG_WARNING, "nobody listens");
    CHECK_EQUAL(seen.calls, 1);
}

// Catches a log call that overwrites the sentence of a failure being passed up.
static void a_message_leaves_the_last_error_alone(void)
{
    check_expect_warning();
    rp_fail(RP_ERR_FILE, "disk full");
    rp_log(RP_LOG_WARNING, "%d frames kept", 3);
    CHECK(strcmp(rp_last_error(), "disk full") == 0);
    CHECK(strcmp(check_last_warning(), "3 frames kept") == 0);
}

static int assert_line;
static char assert_text[64], assert_file[256];

static void remember_assert(const char *condition, const char *file, int line)
{
    snprintf(assert_text, sizeof assert_text, "%s", condition);
    snprintf(assert_file, sizeof assert_file, "%s", file);
    assert_line = line;
}

// Catches an assert that fires when it holds, or forgets where it stands.
static void a_broken_assert_tells_the_hook_where_it_stands(void)
{
    rp_set_assert_hook(remember_assert);
    assert_line = 0;
    RP_ASSERT(1 + 1 == 2);
    CHECK_EQUAL(assert_line, 0);
    RP_ASSERT(1 + 1 == 3);
    CHECK_EQUAL(assert_line, __LINE__ - 1);
    CHECK(strcmp(assert_text, "1 + 1 == 3") == 0);
    CHECK(strcmp(assert_file, __FILE__) == 0);
}

// Catches a default that carries on after a bug, and a NULL that does not restore it.
static void without_a_hook_a_broken_assert_ends_the_program(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    fflush(stdout);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        rp_set_assert_hook(NULL);
        RP_ASSERT(!"sand flows uphill");
        _exit(0);
    }
    close(ends[1]);
    char text[512] = "";
    size_t length = 0;
    for (ssize_t n; (n = read(ends[0], text + length, sizeof text - 1 - length)) > 0;) {
        length += (size_t)n;
    }
    close(ends[0]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(text, "sand flows uphill") != NULL);
    CHECK(strstr(text, "test_result.c:") != NULL);
}

// Catches a failure without an error code, which its caller would take for a success.
static void failing_with_ok_is_a_bug(void)
{
    check_expect_assert();
    (void)rp_fail(RP_OK, "fine");
    CHECK(strcmp(check_last_assert(), "code != RP_OK") == 0);
}

static int steps_taken;

static rp_result take_step(rp_result result)
{
    steps_taken++;
    return result;
}

static rp_result three_steps(rp_result second)
{
    RP_TRY(take_step(RP_OK));
    RP_TRY(take_step(second));
    RP_TRY(take_step(RP_OK));
    return RP_OK;
}

// Catches a macro that evaluates its call twice, or goes on after a failure.
static void try_leaves_at_the_first_failure(void)
{
    steps_taken = 0;
    CHECK_EQUAL(three_steps(RP_OK), RP_OK);
    CHECK_EQUAL(steps_taken, 3);
    steps_taken = 0;
    CHECK_EQUAL(three_steps(RP_ERR_LIMIT), RP_ERR_LIMIT);
    CHECK_EQUAL(steps_taken, 2);
}

TEST_MAIN(TEST(a_failure_returns_its_code_and_a_sentence),
          TEST(a_sentence_may_quote_the_one_before), TEST(a_long_sentence_is_cut_and_shows_it),
          TEST(numbers_have_a_point_in_every_locale), TEST(every_thread_has_its_own_sentence),
          TEST(the_log_hook_hears_everything_until_it_is_removed),
          TEST(a_message_leaves_the_last_error_alone),
          TEST(a_broken_assert_tells_the_hook_where_it_stands),
          TEST(without_a_hook_a_broken_assert_ends_the_program), TEST(failing_with_ok_is_a_bug),
          TEST(try_leaves_at_the_first_failure))
