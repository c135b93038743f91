// SPDX-License-Identifier: Apache-2.0
// Results, messages and the hooks a host program may set. Everything else in repose/ builds on
// this.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RP_API     __attribute__((visibility("default")))
#define RP_VERSION "0.1.0"

/// What a call came back with. The sentence for the user is in rp_last_error().
typedef enum rp_result {
    RP_OK = 0,
    RP_ERR_ARGUMENT, ///< a value the caller gave cannot be used
    RP_ERR_MEMORY,   ///< an allocation failed
    RP_ERR_LIMIT,    ///< the world outgrew a limit of the data layout; the sentence names it
    RP_ERR_DIVERGED, ///< the state is no longer physical (NaN, runaway speed); the world has failed
    RP_ERR_FILE,     ///< a file could not be opened, read or written
    RP_ERR_UNSUPPORTED, ///< this build or this machine lacks what the call needs
    RP_ERR_STOPPED,     ///< the caller's own function said to stop
} rp_result;

/// The sentence that belongs to the last call that failed on this thread. Never NULL.
RP_API const char *rp_last_error(void);

/// Set that sentence and return the code; for functions that the library calls back, such as
/// rp_vector_of_time.
RP_API rp_result rp_fail(rp_result code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum { RP_NAME_SIZE = 64 }; ///< of a name of a collider, emitter or material, its 0 included

/// Is it one line of UTF-8 that a terminal takes for text and not for a command?
RP_API bool rp_is_text(const char *text, size_t size);
/// Put '?' in the place of every byte that is not part of such text; line ends and tabs may stay.
RP_API void rp_make_text(char *text, bool one_line);

/// Leave the calling function with the result of a step that failed.
#define RP_TRY(call)                                                                               \
    do {                                                                                           \
        const rp_result try_result_ = (call);                                                      \
        if (try_result_ != RP_OK) {                                                                \
            return try_result_;                                                                    \
        }                                                                                          \
    } while (0)

typedef enum rp_log_level {
    RP_LOG_DEBUG,
    RP_LOG_INFO,   ///< a remark
    RP_LOG_SCRIPT, ///< what the script of a scene printed
    RP_LOG_WARNING,
} rp_log_level;

/// Receives what the library has to say besides errors. The library itself never prints.
typedef void (*rp_log_hook)(rp_log_level level, const char *message, void *context);

/// Set the process-wide log hook; NULL makes the library silent again (the default).
RP_API void rp_set_log_hook(rp_log_hook hook, void *context);

/// Say something through that hook.
RP_API void rp_log(rp_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Called when the library or its caller has a bug. The default writes to stderr and aborts;
/// a hook that returns lets the program go on at its own risk.
typedef void (*rp_assert_hook)(const char *condition, const char *file, int line);

/// Replace the assert hook; NULL restores the default.
RP_API void rp_set_assert_hook(rp_assert_hook hook);

/// What a broken assertion calls; it goes on to the hook.
RP_API void rp_assert_failed(const char *condition, const char *file, int line);

/// Where a world gets its memory from. Both calls may come from any thread.
typedef struct rp_allocator {
    /// @return size bytes aligned to `align` (a power of two), or NULL when there are none
    void *(*allocate)(size_t size, size_t align, void *context);
    void (*release)(void *memory, size_t size, void *context);
    void *context;
} rp_allocator;

#ifdef __cplusplus
}
#endif
