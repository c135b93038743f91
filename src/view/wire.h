// WebSocket on the wire (RFC 6455): the hand that is shaken, and frames. Pure: no sockets here.
//
// A page's frames are masked, every one; control frames are whole and short; lengths take as few
// bytes as they can. Whoever sends anything else is no browser, and is hung up on.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RP_WIRE_TEXT = 1,
    RP_WIRE_BINARY = 2,
    RP_WIRE_CLOSE = 8,
    RP_WIRE_PING = 9,
    RP_WIRE_PONG = 10,

    RP_WIRE_NORMAL = 1000, // why a connection is closed
    RP_WIRE_WRONG = 1002,  // this is not the protocol
    RP_WIRE_KIND = 1003,   // no messages of this kind
    RP_WIRE_REFUSED = 1008,
    RP_WIRE_LONG = 1009,

    RP_WIRE_CONTROL = 125, // bytes of a control frame at most
    RP_WIRE_HEAD = 14,     // bytes of a frame's head at most
    RP_WIRE_ACCEPT = 28,   // letters of the answer to a key
};

// "dGhlIHNhbXBsZSBub25jZQ==" → "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
// @return false: no key, which is 16 bytes in base 64
bool rp_wire_accept(const char *key, char out[RP_WIRE_ACCEPT + 1]);

typedef struct rp_wire_read {
    // given: how much a message may have, and its frames so far
    size_t room;
    // of the frame under way
    unsigned char head[RP_WIRE_HEAD], mask[4];
    int have;        // bytes of its head
    bool inside;     // its head is whole
    int kind;        // RP_WIRE_…; of one that goes on, that of the message
    bool last;       // of its message
    size_t left, at; // bytes to come, and those that came
    // the message under way: its kind, 0: none; bytes so far
    int message;
    size_t size;
} rp_wire_read;

// What has been read.
typedef struct rp_wire_part {
    int kind;            // of the frame; 0: nothing but parts of a head
    unsigned char *data; // unmasked, in place
    size_t size, at;     // where in its frame (control) or message it belongs
    bool whole;          // and with that the frame (control) or message is whole
} rp_wire_part;

// Reads from the beginning of `data` up to the end of a frame, or as much as there is.
// @param[out] used bytes
// @return 0, or RP_WIRE_WRONG, RP_WIRE_LONG, RP_WIRE_KIND: hang up with that
int rp_wire_take(rp_wire_read *r, unsigned char *data, size_t size, size_t *used,
                 rp_wire_part *out);

// The head of a whole frame from us, which is not masked. @return its bytes
int rp_wire_head(int kind, size_t size, unsigned char out[RP_WIRE_HEAD]);

// A frame that says why, of at most RP_WIRE_CONTROL bytes and its head. @return its bytes
int rp_wire_close(int why, const char *words, unsigned char out[RP_WIRE_HEAD + RP_WIRE_CONTROL]);
