#include "base/text.h"

#include <string.h>

// Bytes of the UTF-8 character at text, 0 when it is none.
static size_t character(const unsigned char *text)
{
    const unsigned char c = text[0];
    const size_t length = c < 0x80                ? 1
                          : c >= 0xc2 && c < 0xe0 ? 2
                          : c >= 0xe0 && c < 0xf0 ? 3
                          : c >= 0xf0 && c < 0xf5 ? 4
                                                  : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    // longer than needed, halves of surrogate pairs, beyond the last character
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] >= 0xa0) ||
        (c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] >= 0x90)) {
        return 0;
    }
    return length;
}

// The second row of control characters, U+0080 to U+009F, is commands to a terminal, too.
static bool is_control(const unsigned char *text)
{
    return text[0] < 0x20 || text[0] == 0x7f || (text[0] == 0xc2 && text[1] < 0xa0);
}

bool rp_is_text(const char *text, size_t size)
{
    const unsigned char *c = (const unsigned char *)text, *end = c + size;
    while (c < end) {
        const size_t length = character(c);
        if (length == 0 || is_control(c)) {
            return false;
        }
        c += length;
    }
    return true;
}

void rp_make_text(char *text, bool one_line)
{
    while (*text != '\0') {
        const size_t length = character((const unsigned char *)text);
        const bool stays = !one_line && (*text == '\n' || *text == '\t');
        const bool wrong = length == 0 || (is_control((const unsigned char *)text) && !stays);
        for (size_t i = 0; i < (length > 0 ? length : 1); i++, text++) {
            *text = wrong ? '?' : *text;
        }
    }
}

rp_result rp_check_name(const char *field, const char *name)
{
    const size_t length = strnlen(name, RP_NAME_SIZE);
    if (length == 0 || length == RP_NAME_SIZE) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want 1 to %d bytes, got %s", field, RP_NAME_SIZE - 1,
                       length == 0 ? "none" : "more");
    }
    if (!rp_is_text(name, length)) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want one line of UTF-8 text, got other bytes", field);
    }
    return RP_OK;
}
