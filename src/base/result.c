#include "base/result.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCE = 1024 };

static _Thread_local char sentence[SENTENCE];

// Set by the host before it starts threads that use the library.
static rp_log_hook log_hook;
static void *log_context;
static rp_assert_hook assert_hook;

// Numbers look the same whatever locale the host has chosen, and a cut message shows that it was
// cut.
static void format_message(char text[SENTENCE], const char *format, va_list arguments)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t host = uselocale(plain);
    const int length = vsnprintf(text, SENTENCE, format, arguments);
    uselocale(host);
    if (plain != (locale_t)0) {
        freelocale(plain);
    }

    if (length < 0) {
        snprintf(text, SENTENCE, "%s", format);
    } else if (length >= SENTENCE) {
        memcpy(text + SENTENCE - sizeof "...", "...", sizeof "...");
    }
}

const char *rp_last_error(void) { return sentence; }

rp_result rp_fail(rp_result code, const char *format, ...)
{
    RP_ASSERT(code != RP_OK);

    // the arguments may quote rp_last_error(), so its buffer is written last
    char text[SENTENCE];
    va_list arguments;
    va_start(arguments, format);
    format_message(text, format, arguments);
    va_end(arguments);
    memcpy(sentence, text, sizeof sentence);
    return code;
}

void rp_set_log_hook(rp_log_hook hook, void *context)
{
    log_hook = hook;
    log_context = context;
}

void rp_log(rp_log_level level, const char *format, ...)
{
    if (log_hook == NULL) {
        return;
    }
    char text[SENTENCE];
    va_list arguments;
    va_start(arguments, format);
    format_message(text, format, arguments);
    va_end(arguments);
    log_hook(level, text, log_context);
}

void rp_set_assert_hook(rp_assert_hook hook) { assert_hook = hook; }

void rp_assert_failed(const char *condition, const char *file, int line)
{
    if (assert_hook != NULL) {
        assert_hook(condition, file, line);
        return;
    }
    fprintf(stderr, "repose: %s:%d: this should hold: %s\n", file, line, condition);
    abort();
}
