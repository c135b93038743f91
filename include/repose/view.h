// SPDX-License-Identifier: Apache-2.0
// A page that shows a run in a browser, while it runs or afterwards, and the server behind it.
//
// The server reads the folder of a run and never writes there; starting, pausing and stopping a run
// is left to the host. Frames wait for clients, never the other way round.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RP_VIEW_PARAMS = 32, RP_VIEW_TOKEN = 32 };

typedef enum rp_view_word {
    RP_VIEW_PAUSE,
    RP_VIEW_RESUME,
    RP_VIEW_STOP,
    RP_VIEW_START
} rp_view_word;

/// What somebody at the page wants of the run.
typedef struct rp_view_order {
    rp_view_word word; ///< resume also goes on with a run that was stopped
    /// Of a start: values for params of the scene, as --set would give them.
    struct {
        char name[64], value[256];
    } param[RP_VIEW_PARAMS];
    int params;
    bool keep; ///< of a start: leave the present run alone and take another folder
} rp_view_order;

/// What the host knows about its run and the files cannot say.
typedef struct rp_view_run {
    char folder[4096];   ///< the one to show
    bool ours;           ///< the host has started the run and can pause and stop it
    bool active;         ///< its process lives
    int64_t starts;      ///< how many processes the host has started so far
    bool paused;         ///< as ordered
    bool stopping;       ///< an order to stop is on its way
    bool can_start;      ///< the scene is known
    char sentence[1024]; ///< why the last run failed to start, or failed; empty: it did not
    char notice[1024];   ///< why the last order came to nothing; empty: it did not
    bool quit;           ///< rp_view_serve() is to come back
} rp_view_run;

typedef struct rp_view_def {
    const char *address; ///< an IP address to listen on; copied, as all that is pointed to
    int port;            ///< 0: any that is free
    /// Who asks must know it, in the form that rp_view_token() gives; NULL: nobody is asked.
    const char *token;
    size_t cache;      ///< bytes of frames to remember
    int64_t particles; ///< more than so many are thinned out before they are sent
    /// Called a few times a second, and after every order, by a thread of the server's own.
    void (*look)(void *context, rp_view_run *out);
    /// By the same thread. @return what rp_last_error() says is shown on the page
    rp_result (*order)(void *context, const rp_view_order *order);
    void *context;
    uint32_t cookie; ///< filled in by rp_default_view_def()
} rp_view_def;

/// 127.0.0.1, any port, no token, 1 GiB, 4 million particles; `look` must be set.
RP_API rp_view_def rp_default_view_def(void);

typedef struct rp_view rp_view;

/// Take the port. An address that is not this machine's own (127.0.0.1, ::1) wants a token.
/// @param[out] view released with rp_view_close(); NULL on failure
/// @return RP_ERR_FILE when the port is in use
RP_API rp_result rp_view_open(const rp_view_def *def, rp_view **view);
RP_API int rp_view_port(const rp_view *view);
/// Serve until rp_view_run.quit.
RP_API rp_result rp_view_serve(rp_view *view);
RP_API void rp_view_close(rp_view *view);

/// A token that nobody guesses: 128 random bits in hexadecimal.
RP_API rp_result rp_view_token(char out[RP_VIEW_TOKEN + 1]);

#ifdef __cplusplus
}
#endif
