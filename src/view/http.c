#define _GNU_SOURCE // memmem
#include "view/http.h"

#include <string.h>
#include <strings.h>

size_t rp_http_head_size(const char *text, size_t size)
{
    const char *end = memmem(text, size, "\r\n\r\n", 4);
    return end != NULL ? (size_t)(end - text) + 4 : 0;
}

bool rp_http_list_has(const char *list, const char *word)
{
    const size_t length = strlen(word);
    while (*list != '\0') {
        list += strspn(list, ", \t");
        const size_t size = strcspn(list, ", \t");
        if (size == length && strncasecmp(list, word, size) == 0) {
            return true;
        }
        list += size;
    }
    return false;
}

// What a method and the name of a header are made of.
static bool is_word(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "!#$%&'*+-.^_`|~";
    return text[0] != '\0' && text[strspn(text, letters)] == '\0';
}

// "GET /page.js?token=1 HTTP/1.1"
static bool parse_first(char *line, rp_http *out)
{
    char *path = strchr(line, ' ');
    if (path == NULL) {
        return false;
    }
    *path++ = '\0';
    char *version = strchr(path, ' ');
    if (version == NULL) {
        return false;
    }
    *version++ = '\0';
    char *query = strchr(path, '?');
    if (query != NULL) {
        *query++ = '\0';
    }
    for (char *next; query != NULL; query = next) {
        next = strchr(query, '&');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (strncmp(query, "token=", 6) == 0) {
            out->token = query + 6;
        }
    }
    out->method = line;
    out->path = path;
    return is_word(line) && path[0] != '\0' &&
           (strcmp(version, "HTTP/1.1") == 0 || strcmp(version, "HTTP/1.0") == 0);
}

typedef struct header {
    const char *name, *value;
} header;

enum { HOST, ORIGIN, COOKIE, UPGRADE, CONNECTION, KEY, VERSION, PROTOCOL, KNOWN };

// One of those above is remembered, others are left. @return false: no header, or one for the
// second time
static bool parse_header(char *line, header known[KNOWN])
{
    char *value = strchr(line, ':');
    if (value == NULL) {
        return false;
    }
    *value++ = '\0';
    value += strspn(value, " \t");
    for (char *end = value + strlen(value); end > value && (end[-1] == ' ' || end[-1] == '\t');) {
        *--end = '\0';
    }
    for (int i = 0; i < KNOWN; i++) {
        if (strcasecmp(line, known[i].name) == 0) {
            if (known[i].value[0] != '\0') {
                return false;
            }
            known[i].value = value;
        }
    }
    return is_word(line);
}

bool rp_http_parse(char *text, size_t size, rp_http *out)
{
    header known[KNOWN] = {[HOST] = {"host", ""},
                           [ORIGIN] = {"origin", ""},
                           [COOKIE] = {"cookie", ""},
                           [UPGRADE] = {"upgrade", ""},
                           [CONNECTION] = {"connection", ""},
                           [KEY] = {"sec-websocket-key", ""},
                           [VERSION] = {"sec-websocket-version", ""},
                           [PROTOCOL] = {"sec-websocket-protocol", ""}};
    *out = (rp_http){0};
    // line by line; in the middle of one nothing but what can be written, and tabs
    char *const end = text + size;
    for (char *line = text, *next; line < end; line = next) {
        char *stop = memchr(line, '\r', (size_t)(end - line));
        if (stop == NULL || stop + 1 == end || stop[1] != '\n') {
            return false;
        }
        for (const char *c = line; c < stop; c++) {
            if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f) {
                return false;
            }
        }
        *stop = '\0';
        next = stop + 2;
        if (line == text) {
            if (!parse_first(line, out)) {
                return false;
            }
        } else if (*line != '\0' && !parse_header(line, known)) {
            return false;
        }
    }
    out->host = known[HOST].value;
    out->origin = known[ORIGIN].value;
    out->cookie = known[COOKIE].value;
    out->key = known[KEY].value;
    out->version = known[VERSION].value;
    out->protocols = known[PROTOCOL].value;
    out->upgrade = rp_http_list_has(known[UPGRADE].value, "websocket") &&
                   rp_http_list_has(known[CONNECTION].value, "upgrade");
    return out->method != NULL;
}
