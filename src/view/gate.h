// Who is let in. A browser tells three things that a page of somebody else cannot forge: the Host
// that it was told to ask, the Origin of the page that asks, and the token that the page was opened
// with. Each is checked here, without sockets.
//
//   Host    on the loopback: 127.0.0.1, ::1 or localhost, and our port. A foreign name that was
//           made to point to this machine (DNS rebinding) is none of them. With --listen: any
//           address in digits, or the machine's own name.
//   Origin  the page that we served, at the Host that was asked; a WebSocket has to have one.
//   token   where one is wanted: compared in a time that does not depend on where it differs. The
//           page keeps it for itself and shows it to the socket. Its files can also be had with a
//           cookie, so that a reload works; cookies reach every port of a machine, whoever listens
//           there, so what they hold opens nothing but these files.
#pragma once

#include "repose/view.h"

typedef struct rp_gate {
    int port;
    bool loopback;                 // listens there only
    char machine[256];             // its own name
    char token[RP_VIEW_TOKEN + 1]; // empty: none is wanted
    char pass[RP_VIEW_TOKEN + 1];  // for the page's files, in a cookie
} rp_gate;

// Is it an address of this machine that no other can reach?
bool rp_gate_is_loopback(const char *address);

bool rp_gate_host(const rp_gate *gate, const char *host);
bool rp_gate_origin(const rp_gate *gate, const char *origin, const char *host);

// @param given a token, or NULL
bool rp_gate_token(const rp_gate *gate, const char *given);
// May a browser with this Cookie header have the page's files? "a=1; repose_8137=PASS"
bool rp_gate_cookie(const rp_gate *gate, const char *cookies);
// What the browser is to send from then on.
void rp_gate_make_cookie(const rp_gate *gate, char out[128]);

// A file of the page, which is part of the program: no path is ever looked up on a disk.
typedef struct rp_page_file {
    const char *path, *type;
    const unsigned char *data;
    size_t size;
} rp_page_file;
// @return NULL for all that is not spelled exactly like one of them
const rp_page_file *rp_gate_file(const char *path);

// Does `path` lie in `folder` when all links are followed? What does not exist does not.
bool rp_gate_inside(const char *folder, const char *path);
