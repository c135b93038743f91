#include "view/wire.h"

#include <string.h>

// ---- shaking hands ----

static uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }

// SHA-1 of a text of at most 119 bytes (FIPS 180-4). It protects nothing here: it shows that a
// server has understood what it was asked.
static void sha1(const char *text, unsigned char out[20])
{
    unsigned char padded[128] = {0};
    const size_t length = strlen(text), blocks = (length + 9 + 63) / 64;
    memcpy(padded, text, length);
    padded[length] = 0x80;
    padded[64 * blocks - 2] = (unsigned char)(8 * length >> 8);
    padded[64 * blocks - 1] = (unsigned char)(8 * length);
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (size_t block = 0; block < blocks; block++) {
        uint32_t w[80], v[5];
        for (int i = 0; i < 16; i++) {
            const unsigned char *b = padded + 64 * block + 4 * i;
            w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
        }
        for (int i = 16; i < 80; i++) {
            w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        }
        memcpy(v, h, sizeof v);
        for (int i = 0; i < 80; i++) {
            static const uint32_t add[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
            const uint32_t f = i < 20   ? (v[1] & v[2]) | (~v[1] & v[3])
                               : i < 40 ? v[1] ^ v[2] ^ v[3]
                               : i < 60 ? (v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3])
                                        : v[1] ^ v[2] ^ v[3];
            const uint32_t next = rotate(v[0], 5) + f + v[4] + add[i / 20] + w[i];
            v[4] = v[3];
            v[3] = v[2];
            v[2] = rotate(v[1], 30);
            v[1] = v[0];
            v[0] = next;
        }
        for (int i = 0; i < 5; i++) {
            h[i] += v[i];
        }
    }
    for (int i = 0; i < 20; i++) {
        out[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool rp_wire_accept(const char *key, char out[RP_WIRE_ACCEPT + 1])
{
    enum { KEY = 22 }; // and two =
    char text[64 + 1];
    if (strlen(key) != KEY + 2 || strspn(key, base64) != KEY || strcmp(key + KEY, "==") != 0) {
        return false;
    }
    memcpy(text, key, KEY + 2);
    strcpy(text + KEY + 2, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    unsigned char sum[21] = {0};
    sha1(text, sum);
    for (int i = 0; i < RP_WIRE_ACCEPT; i++) {
        const int bit = 6 * i;
        const unsigned pair = (unsigned)sum[bit / 8] << 8 | (bit / 8 < 20 ? sum[bit / 8 + 1] : 0);
        out[i] = base64[pair >> (10 - bit % 8) & 63];
    }
    out[RP_WIRE_ACCEPT - 1] = '='; // 20 bytes are 27 letters
    out[RP_WIRE_ACCEPT] = '\0';
    return true;
}

// ---- frames ----

// Bytes of the head, as far as its first two tell.
static int head_size(const unsigned char *head, int have)
{
    const int length = have > 1 ? head[1] & 127 : 0;
    return have < 2 ? 2 : 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + 4;
}

// A head that is whole; 0 or why not.
static int open_frame(rp_wire_read *r)
{
    const unsigned char *h = r->head;
    const int kind = h[0] & 15, bytes = (h[1] & 127) == 126 ? 2 : (h[1] & 127) == 127 ? 8 : 0;
    uint64_t size = h[1] & 127;
    for (int i = 0; i < bytes; i++) {
        size = (i == 0 ? 0 : size << 8) | h[2 + i];
    }
    const bool control = kind >= RP_WIRE_CLOSE;
    r->last = (h[0] & 0x80) != 0;
    // bytes that were not needed, or a length that has a sign
    if ((bytes == 2 && size < 126) || (bytes == 8 && (size < 65536 || size >> 63 != 0))) {
        return RP_WIRE_WRONG;
    }
    if (control ? kind > RP_WIRE_PONG || !r->last || size > RP_WIRE_CONTROL
                : kind > RP_WIRE_BINARY || (kind == 0) != (r->message != 0)) {
        return RP_WIRE_WRONG;
    }
    if (!control) {
        r->message = kind != 0 ? kind : r->message;
        if (r->message == RP_WIRE_BINARY) {
            return RP_WIRE_KIND;
        }
        if (size > r->room - r->size) {
            return RP_WIRE_LONG;
        }
    }
    r->kind = control ? kind : r->message;
    r->left = (size_t)size;
    r->at = 0;
    r->inside = true;
    memcpy(r->mask, h + 2 + bytes, 4);
    return 0;
}

int rp_wire_take(rp_wire_read *r, unsigned char *data, size_t size, size_t *used, rp_wire_part *out)
{
    size_t at = 0;
    *out = (rp_wire_part){0};
    while (!r->inside && at < size) {
        r->head[r->have++] = data[at++];
        // as soon as it can be known: what follows may never come
        if ((r->have == 1 && (r->head[0] & 0x70) != 0) || (r->have == 2 && r->head[1] < 0x80)) {
            return RP_WIRE_WRONG;
        }
        if (r->have >= 2 && r->have == head_size(r->head, r->have)) {
            const int wrong = open_frame(r);
            if (wrong != 0) {
                return wrong;
            }
        }
    }
    *used = at;
    if (!r->inside) {
        return 0;
    }
    const bool control = r->kind >= RP_WIRE_CLOSE;
    const size_t part = size - at < r->left ? size - at : r->left;
    for (size_t i = 0; i < part; i++) {
        data[at + i] ^= r->mask[(r->at + i) % 4];
    }
    *out = (rp_wire_part){.kind = r->kind,
                          .data = data + at,
                          .size = part,
                          .at = control ? r->at : r->size,
                          .whole = part == r->left && r->last};
    *used = at + part;
    r->at += part;
    r->left -= part;
    r->size += control ? 0 : part;
    if (r->left == 0) {
        r->inside = false;
        r->have = 0;
        if (!control && r->last) {
            r->message = 0;
            r->size = 0;
        }
    }
    return 0;
}

int rp_wire_head(int kind, size_t size, unsigned char out[RP_WIRE_HEAD])
{
    const int bytes = size < 126 ? 0 : size < 65536 ? 2 : 8;
    out[0] = (unsigned char)(0x80 | kind);
    out[1] = (unsigned char)(bytes == 0 ? size : bytes == 2 ? 126 : 127);
    for (int i = 0; i < bytes; i++) {
        out[2 + i] = (unsigned char)((uint64_t)size >> 8 * (bytes - 1 - i));
    }
    return 2 + bytes;
}

int rp_wire_close(int why, const char *words, unsigned char out[RP_WIRE_HEAD + RP_WIRE_CONTROL])
{
    const size_t length = strnlen(words, RP_WIRE_CONTROL - 2);
    const int head = rp_wire_head(RP_WIRE_CLOSE, 2 + length, out);
    out[head] = (unsigned char)(why >> 8);
    out[head + 1] = (unsigned char)why;
    memcpy(out + head + 2, words, length);
    return head + 2 + (int)length;
}
