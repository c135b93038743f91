#include "view/gate.h"

#include "view/page_files.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool rp_gate_is_loopback(const char *address)
{
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, address, &four) == 1) {
        return ntohl(four.s_addr) >> 24 == 127;
    }
    return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool is_address(const char *text)
{
    struct in6_addr any;
    return inet_pton(AF_INET, text, &any) == 1 || inet_pton(AF_INET6, text, &any) == 1;
}

// "name:port", "1.2.3.4:port" or "[::1]:port" without the port, which must be ours; a browser
// leaves out that of http.
static bool split_host(const rp_gate *gate, const char *host, char name[256])
{
    const bool bracket = host[0] == '[';
    const char *end = bracket ? strchr(host, ']') : host + strcspn(host, ":");
    if (end == NULL || end - host > 250) {
        return false;
    }
    snprintf(name, 256, "%.*s", (int)(end - host) - bracket, host + bracket);
    end += bracket;
    char want[16];
    snprintf(want, sizeof want, ":%d", gate->port);
    return strcmp(end, want) == 0 || (*end == '\0' && gate->port == 80);
}

bool rp_gate_host(const rp_gate *gate, const char *host)
{
    char name[256];
    if (host == NULL || !split_host(gate, host, name)) {
        return false;
    }
    if (strcasecmp(name, "localhost") == 0 || rp_gate_is_loopback(name)) {
        return true;
    }
    return !gate->loopback && name[0] != '\0' &&
           (is_address(name) || strcasecmp(name, gate->machine) == 0);
}

bool rp_gate_origin(const rp_gate *gate, const char *origin, const char *host)
{
    static const char http[] = "http://";
    return origin != NULL && strncasecmp(origin, http, sizeof http - 1) == 0 &&
           strcasecmp(origin + sizeof http - 1, host) == 0 && rp_gate_host(gate, host);
}

// ---- the token ----

static bool same(const char *want, const char *given, size_t length)
{
    unsigned char differ = (unsigned char)(length != RP_VIEW_TOKEN);
    for (size_t i = 0; i < RP_VIEW_TOKEN; i++) {
        // as many comparisons for a short one
        differ |= (unsigned char)(want[i] ^ (i < length ? given[i] : '\0'));
    }
    return differ == 0;
}

bool rp_gate_token(const rp_gate *gate, const char *given)
{
    return gate->token[0] == '\0' ||
           (given != NULL && same(gate->token, given, strnlen(given, RP_VIEW_TOKEN + 1)));
}

bool rp_gate_cookie(const rp_gate *gate, const char *cookies)
{
    char name[32];
    const int length = snprintf(name, sizeof name, "repose_%d=", gate->port);
    if (gate->token[0] == '\0') {
        return true;
    }
    for (const char *at = cookies; at != NULL && *at != '\0';) {
        at += strspn(at, " ;");
        const size_t size = strcspn(at, "; ");
        if (strncmp(at, name, (size_t)length) == 0 &&
            same(gate->pass, at + length, size - (size_t)length)) {
            return true;
        }
        at += size;
    }
    return false;
}

void rp_gate_make_cookie(const rp_gate *gate, char out[128])
{
    // cookies do not know ports: the name keeps several servers apart
    snprintf(out, 128, "repose_%d=%s; HttpOnly; SameSite=Strict; Path=/", gate->port, gate->pass);
}

// ---- files ----

const rp_page_file *rp_gate_file(const char *path)
{
    for (size_t i = 0; i < sizeof rp_page_files / sizeof rp_page_files[0]; i++) {
        if (strcmp(rp_page_files[i].path, path) == 0) {
            return &rp_page_files[i];
        }
    }
    return NULL;
}

bool rp_gate_inside(const char *folder, const char *path)
{
    char *outer = realpath(folder, NULL), *inner = realpath(path, NULL);
    const size_t length = outer != NULL ? strlen(outer) : 0;
    const bool inside = outer != NULL && inner != NULL && strncmp(outer, inner, length) == 0 &&
                        (inner[length] == '/' || strcmp(outer, "/") == 0);
    free(outer);
    free(inner);
    return inside;
}
