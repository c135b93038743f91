// Hostile messages and headers for the server of the live page. The first byte chooses: what a page
// sends, a Host with an Origin, cookies, or a path. Whatever is let through must be what the rest
// of the server relies on.
#include "base/result.h"
#include "view/gate.h"
#include "view/message.h"

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
