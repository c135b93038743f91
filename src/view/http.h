// The head of a request, as far as the page's server wants to know it. Pure: no sockets here.
//
// It comes from anybody, so nothing is guessed: lines end in CRLF, a header that matters is there
// at most once, paths are taken as they are spelled. What is not like that is a bad request, and
// the connection ends with it; bodies are never read.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { RP_HTTP_HEAD = 16 << 10 }; // bytes of a head: cookies of all servers of a machine are in it

typedef struct rp_http {
    const char *method, *path; // the path without what follows '?'
    const char *token;         // of ?token=, or NULL
    // headers; empty: not there
    const char *host, *origin, *cookie;
    const char *key, *version, *protocols; // Sec-WebSocket-…
    bool upgrade;                          // to a WebSocket, said as it has to be
} rp_http;

// @return bytes of a head with its empty line; 0: its end has not come yet
size_t rp_http_head_size(const char *text, size_t size);

// @param text a whole head, which is cut up: `out` points into it
// @return false: no request
bool rp_http_parse(char *text, size_t size, rp_http *out);

// Is `word` among words between commas? Letters of either size.
bool rp_http_list_has(const char *list, const char *word);
