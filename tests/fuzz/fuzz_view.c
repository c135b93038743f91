// Hostile messages and headers for the server of the live page. The first byte chooses: what a page
// sends, a Host with an Origin, cookies, or a path; from 0xe0 on frames, from 0xf0 on a request.
// Whatever is let through must be what the rest of the server relies on.
#include "base/result.h"
#include "view/gate.h"
#include "view/http.h"
#include "view/message.h"
#include "view/wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_message(const char *text, size_t size)
{
    rp_message m;
    if (rp_message_parse(text, size, &m) != RP_OK) {
        RP_ASSERT(rp_last_error()[0] != '\0');
        return;
    }
    RP_ASSERT(size <= RP_MESSAGE_BYTES && m.frame >= 0);
    RP_ASSERT(strlen(m.color) < sizeof m.color && strchr(m.color, '/') == NULL);
    RP_ASSERT(m.order.params >= 0 && m.order.params <= RP_VIEW_PARAMS);
    for (int i = 0; i < m.order.params; i++) {
        // they become words of a command line
        RP_ASSERT(m.order.param[i].name[0] != '\0' && m.order.param[i].name[0] != '-');
        RP_ASSERT(strchr(m.order.param[i].name, '=') == NULL);
        RP_ASSERT(strlen(m.order.param[i].value) < sizeof m.order.param[i].value);
    }
    if (m.want == RP_WANT_PICK) {
        const double *a = m.along;
        RP_ASSERT(fabs(sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) - 1.0) < 1e-6);
    }
}

static void try_headers(const rp_gate *gate, char *text)
{
    // "host origin"
    char *blank = strchr(text, ' ');
    if (blank != NULL) {
        *blank = '\0';
    }
    const bool host = rp_gate_host(gate, text);
    const bool origin = rp_gate_origin(gate, blank != NULL ? blank + 1 : NULL, text);
    RP_ASSERT(host || !origin);
    RP_ASSERT(!host || strstr(text, ":8137") != NULL);
}

static void try_request(char *text, size_t size)
{
    rp_http asked;
    const size_t head = rp_http_head_size(text, size);
    if (head == 0 || !rp_http_parse(text, head, &asked)) {
        return;
    }
    RP_ASSERT(asked.method[0] != '\0' && asked.path[0] != '\0' && strchr(asked.path, '?') == NULL);
    const char *const parts[] = {asked.method, asked.path, asked.host,    asked.origin,
                                 asked.cookie, asked.key,  asked.version, asked.protocols};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        RP_ASSERT(parts[i] + strlen(parts[i]) < text + head || parts[i][0] == '\0');
    }
    char accept[RP_WIRE_ACCEPT + 1];
    RP_ASSERT(!rp_wire_accept(asked.key, accept) || strlen(accept) == RP_WIRE_ACCEPT);
    rp_http_list_has(asked.protocols, "repose-view");
}

// Whole and byte by byte they must come to the same.
static uint64_t try_frames(unsigned char *data, size_t size, size_t piece)
{
    enum { ROOM = 1000 };
    rp_wire_read r = {.room = ROOM};
    uint64_t sum = 14695981039346656037u;
    for (size_t at = 0; at < size;) {
        rp_wire_part part;
        size_t used = 0;
        const size_t end = at / piece * piece + piece < size ? at / piece * piece + piece : size;
        const int wrong = rp_wire_take(&r, data + at, end - at, &used, &part);
        if (wrong != 0) {
            return sum ^ (uint64_t)wrong;
        }
        RP_ASSERT(used > 0 && used <= end - at);
        at += used;
        RP_ASSERT(part.at + part.size <= (part.kind >= RP_WIRE_CLOSE ? RP_WIRE_CONTROL : ROOM));
        RP_ASSERT(part.kind != RP_WIRE_BINARY && (part.kind != 0 || part.size == 0));
        for (size_t i = 0; i < part.size; i++) {
            sum = (sum ^ part.data[i]) * 1099511628211u;
        }
        sum = part.whole ? (sum ^ (uint64_t)part.kind) * 1099511628211u : sum;
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const rp_gate gate[2] = {
        {.port = 8137, .loopback = true, .machine = "box"},
        {.port = 8137, .machine = "box", .token = "0123456789abcdef0123456789abcdef"}};
    if (size == 0) {
        return 0;
    }
    char *text = malloc(size); // the first byte is not part of it, a 0 is
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] >= 0xf0) {
        try_request(text, size - 1);
        free(text);
        return 0;
    }
    if (data[0] >= 0xe0) {
        const uint64_t whole = try_frames((unsigned char *)text, size - 1, size);
        memcpy(text, data + 1, size - 1);
        RP_ASSERT(try_frames((unsigned char *)text, size - 1, 1) == whole);
        free(text);
        return 0;
    }
    switch (data[0] % 4) {
    case 0:
        try_message((const char *)data + 1, size - 1);
        break;
    case 1:
        try_headers(&gate[data[0] / 4 % 2], text);
        break;
    case 2:
        RP_ASSERT(!rp_gate_cookie(&gate[1], text) || strstr(text, gate[1].token) != NULL);
        RP_ASSERT(!rp_gate_token(&gate[1], text) || strcmp(text, gate[1].token) == 0);
        break;
    default:
        RP_ASSERT(rp_gate_file(text) == NULL || strstr(text, "..") == NULL);
    }
    free(text);
    return 0;
}
