// Tests what the live page's server takes from a network and how it packs numbers:
// src/view/message.c, gate.c, http.c, wire.c and lattice.c. Sockets are the matter of
// tests/tools/test_view.py.
#include "view/gate.h"
#include "view/http.h"
#include "view/lattice.h"
#include "view/message.h"
#include "view/wire.h"

#include "check.h"
#include "folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- messages ----

static rp_result parse(const char *text, rp_message *out)
{
    // exactly as many bytes as there are: an end is not a 0
    const size_t size = strlen(text);
    char *copy = malloc(size > 0 ? size : 1);
    memcpy(copy, text, size);
    const rp_result result = rp_message_parse(copy, size, out);
    free(copy);
    return result;
}

static void a_message_says_what_it_wants(void)
{
    rp_message m;
    CHECK_OK(parse("{\"want\":\"frame\",\"frame\":12,\"color\":\"velocity.y\"}", &m));
    CHECK(m.want == RP_WANT_FRAME && m.frame == 12 && strcmp(m.color, "velocity.y") == 0);
    CHECK_OK(parse(
        "{\"want\":\"pick\",\"frame\":0,\"color\":\"speed\",\"from\":[1,2,3],\"along\":[0,0,-2],"
        "\"spread\":0.01,\"plane\":[0,0,0,0]}",
        &m));
    CHECK(m.want == RP_WANT_PICK && m.from[2] == 3.0);
    CHECK_NEAR(m.along[2], -1.0, 1e-15);
    CHECK_OK(
        parse("{\"want\":\"follow\",\"frame\":1,\"color\":\"speed\",\"id\":9007199254740992}", &m));
    CHECK(m.want == RP_WANT_FOLLOW && m.id == UINT64_C(9007199254740992));
    CHECK_OK(parse("{\"want\":\"view\",\"color\":\"speed\"}", &m));
    CHECK(m.want == RP_WANT_VIEW && strcmp(m.color, "speed") == 0);
    CHECK_OK(parse(" {\"want\":\"stop\"} ", &m));
    CHECK(m.want == RP_WANT_ORDER && m.order.word == RP_VIEW_STOP);
    CHECK_OK(parse("{\"want\":\"start\",\"keep\":true,\"set\":{\"angle\":\"30\",\"name\":\"a b\"}}",
                   &m));
    CHECK(m.order.word == RP_VIEW_START && m.order.keep && m.order.params == 2);
    CHECK(strcmp(m.order.param[0].name, "angle") == 0);
    CHECK(strcmp(m.order.param[1].value, "a b") == 0);
}

// Each of these would be a hole if it went through: catches a check that was left out.
static void what_is_not_expected_is_refused(void)
{
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "null",
        "12",
        "{}",
        "{\"want\":7}",
        "{\"want\":\"fram\",\"frame\":1,\"color\":\"speed\"}",
        "{\"want\":\"frame\",\"frame\":-1,\"color\":\"speed\"}",
        "{\"want\":\"frame\",\"frame\":1.5,\"color\":\"speed\"}",
        "{\"want\":\"frame\",\"frame\":99999999999,\"color\":\"speed\"}",
        "{\"want\":\"frame\",\"frame\":\"1\",\"color\":\"speed\"}",
        "{\"want\":\"frame\",\"frame\":1}",
        "{\"want\":\"frame\",\"frame\":1,\"color\":\"\"}",
        "{\"want\":\"frame\",\"frame\":1,\"color\":\"../../etc\"}",
        "{\"want\":\"frame\",\"frame\":1,\"color\":\"a/b\"}",
        "{\"want\":\"frame\",\"frame\":1,\"color\":\"a\\u0000b\"}",
        "{\"want\":\"frame\",\"frame\":1,\"color\":"
        "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
        "{\"want\":\"frame\",\"frame\":1,\"color\":\"speed\",\"more\":1}",
        "{\"want\":\"frame\",\"frame\":1,\"frame\":1,\"color\":\"speed\"}",
        "{\"want\":\"frame\",\"frame\":1,\"color\":\"speed\"} x",
        "{\"want\":\"stop\",\"now\":true}",
        "{\"want\":\"start\"}",
        "{\"want\":\"start\",\"set\":{},\"keep\":1}",
        "{\"want\":\"start\",\"set\":{\"a b\":\"1\"},\"keep\":true}",
        "{\"want\":\"start\",\"set\":{\"\":\"1\"},\"keep\":true}",
        "{\"want\":\"start\",\"set\":{\"--resume\":\"1\"},\"keep\":true}",
        "{\"want\":\"start\",\"set\":{\"a\":1},\"keep\":true}",
        "{\"want\":\"start\",\"set\":{\"a\":\"line\\nbreak\"},\"keep\":true}",
        "{\"want\":\"pick\",\"frame\":0,\"color\":\"speed\",\"from\":[1,2],\"along\":[0,0,1],"
        "\"spread\":0,"
        "\"plane\":[0,0,0,0]}",
        "{\"want\":\"pick\",\"frame\":0,\"color\":\"speed\",\"from\":[1,2,3],\"along\":[0,0,0],"
        "\"spread\":0,"
        "\"plane\":[0,0,0,0]}",
        "{\"want\":\"pick\",\"frame\":0,\"color\":\"speed\",\"from\":[1,2,1e300],\"along\":[0,0,1],"
        "\"spread\":0,"
        "\"plane\":[0,0,0,0]}",
        "{\"want\":\"pick\",\"frame\":0,\"color\":\"speed\",\"from\":[1,2,3],\"along\":[0,0,1],"
        "\"spread\":2,"
        "\"plane\":[0,0,0,0]}",
        "{\"want\":\"follow\",\"frame\":1,\"color\":\"speed\",\"id\":-1}",
        "{\"want\":\"follow\",\"frame\":1,\"id\":1}",
        "{\"want\":\"view\"}",
        "{\"want\":\"view\",\"color\":\"../x\"}",
        "{\"want\":\"view\",\"frame\":1,\"color\":\"speed\"}",
        "\xff\xfe",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        rp_message m;
        check_context("%s", bad[i]);
        CHECK_EQUAL(parse(bad[i], &m), RP_ERR_ARGUMENT);
        CHECK(rp_last_error()[0] != '\0');
    }
}

static void a_message_has_a_bounded_size(void)
{
    const size_t size = RP_MESSAGE_BYTES + 1;
    char *text = malloc(size + 1);
    rp_message m;
    memset(text, ' ', size);
    memcpy(text, "{\"want\":\"stop\"}", 15);
    CHECK_OK(rp_message_parse(text, size - 1, &m));
    CHECK_ERROR(rp_message_parse(text, size, &m), RP_ERR_ARGUMENT, "bytes");
    // nothing but opening brackets: the parser's stack is bounded too
    memset(text, '[', size);
    CHECK_EQUAL(rp_message_parse(text, size - 1, &m), RP_ERR_ARGUMENT);
    free(text);
}

// ---- the gate ----

static const rp_gate here = {.port = 8137, .loopback = true, .machine = "box"};
static const rp_gate open_gate = {
    .port = 8137,
    .loopback = false,
    .machine = "box",
    .token = "0123456789abcdef0123456789abcdef",
    .pass = "fedcba9876543210fedcba9876543210",
};

// Catches DNS rebinding, other ports, and names that merely begin like ours.
static void only_hosts_of_this_machine_are_served(void)
{
    static const char *const good[] = {"127.0.0.1:8137", "localhost:8137", "LOCALHOST:8137",
                                       "[::1]:8137", "127.9.9.9:8137"};
    static const char *const bad[] = {"",
                                      "127.0.0.1",
                                      "127.0.0.1:8138",
                                      "127.0.0.1:81370",
                                      "evil.example:8137",
                                      "127.0.0.1.evil.example:8137",
                                      "localhost.evil.example:8137",
                                      "localhost:8137:8137",
                                      "localhost:8137/",
                                      "[::1",
                                      "[::1]",
                                      "[::1]x:8137",
                                      ":8137",
                                      "box:8137",
                                      "192.168.0.7:8137",
                                      "0x7f.1:8137"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        check_context("%s", good[i]);
        CHECK(rp_gate_host(&here, good[i]));
        CHECK(rp_gate_host(&open_gate, good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        check_context("%s", bad[i]);
        CHECK(!rp_gate_host(&here, bad[i]));
    }
    CHECK(!rp_gate_host(&here, NULL));
    CHECK(rp_gate_host(&open_gate, "box:8137"));
    CHECK(rp_gate_host(&open_gate, "192.168.0.7:8137"));
    CHECK(rp_gate_host(&open_gate, "[fe80::1]:8137"));
    CHECK(!rp_gate_host(&open_gate, "evil.example:8137"));
    CHECK(!rp_gate_host(&open_gate, "192.168.0.7:1"));
}

static void only_our_own_page_may_ask(void)
{
    const char *host = "127.0.0.1:8137";
    CHECK(rp_gate_origin(&here, "http://127.0.0.1:8137", host));
    static const char *const bad[] = {"",
                                      "null",
                                      "http://evil.example",
                                      "http://127.0.0.1",
                                      "http://127.0.0.1:8137.evil.example",
                                      "https://127.0.0.1:8137",
                                      "http://127.0.0.1:8137/",
                                      "http://localhost:8137",
                                      "file://",
                                      "127.0.0.1:8137"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        check_context("%s", bad[i]);
        CHECK(!rp_gate_origin(&here, bad[i], host));
    }
    CHECK(!rp_gate_origin(&here, NULL, host));
    CHECK(!rp_gate_origin(&here, "http://evil.example:8137", "evil.example:8137"));
}

static void a_token_is_needed_where_one_is_wanted(void)
{
    char cookie[128];
    CHECK(rp_gate_token(&here, NULL) && rp_gate_cookie(&here, NULL));
    CHECK(rp_gate_token(&open_gate, "0123456789abcdef0123456789abcdef"));
    CHECK(!rp_gate_token(&open_gate, NULL));
    CHECK(!rp_gate_token(&open_gate, ""));
    CHECK(!rp_gate_token(&open_gate, "0123456789abcdef0123456789abcde"));
    CHECK(!rp_gate_token(&open_gate, "0123456789abcdef0123456789abcdeF"));
    CHECK(!rp_gate_token(&open_gate, "0123456789abcdef0123456789abcdef0"));
    CHECK(rp_gate_cookie(&open_gate, "a=1; repose_8137=fedcba9876543210fedcba9876543210; b"));
    CHECK(!rp_gate_cookie(&open_gate, "repose_8138=fedcba9876543210fedcba9876543210"));
    CHECK(!rp_gate_cookie(&open_gate, "xrepose_8137=fedcba9876543210fedcba9876543210"));
    CHECK(!rp_gate_cookie(&open_gate, "repose_8137=; repose_8137=fedc"));
    // other servers of the machine see the cookie: it must not hold the token
    CHECK(!rp_gate_cookie(&open_gate, "repose_8137=0123456789abcdef0123456789abcdef"));
    CHECK(!rp_gate_token(&open_gate, open_gate.pass));
    CHECK(!rp_gate_cookie(&open_gate, NULL));
    rp_gate_make_cookie(&open_gate, cookie);
    CHECK(rp_gate_cookie(&open_gate, cookie));
    char one[RP_VIEW_TOKEN + 1], two[RP_VIEW_TOKEN + 1];
    CHECK_OK(rp_view_token(one));
    CHECK_OK(rp_view_token(two));
    CHECK(strlen(one) == RP_VIEW_TOKEN && strcmp(one, two) != 0);
}

static void the_loopback_is_told_from_the_world(void)
{
    CHECK(rp_gate_is_loopback("127.0.0.1") && rp_gate_is_loopback("::1"));
    CHECK(rp_gate_is_loopback("127.1.2.3"));
    CHECK(!rp_gate_is_loopback("0.0.0.0") && !rp_gate_is_loopback("::"));
    CHECK(!rp_gate_is_loopback("128.0.0.1") && !rp_gate_is_loopback("127.0.0.1.example"));
}

static void no_path_but_those_of_the_page_exists(void)
{
    CHECK(rp_gate_file("/") != NULL);
    static const char *const bad[] = {
        "", "//", "/..", "/../etc/passwd", "/etc", "/%2e%2e/x", "/index.html/..", "/frames"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        check_context("%s", bad[i]);
        CHECK(rp_gate_file(bad[i]) == NULL);
    }
}

// A link in a folder that somebody sent does not lead out of it.
static void links_do_not_lead_out_of_a_folder(void)
{
    test_folder in = test_folder_make(), out = test_folder_make();
    char dots[256];
    test_write_file(test_path(&in, "a"), "a", 1);
    test_write_file(test_path(&out, "b"), "b", 1);
    CHECK_EQUAL(symlink(test_path(&out, "b"), test_path(&in, "link")), 0);
    CHECK_EQUAL(symlink(test_path(&in, "a"), test_path(&in, "fine")), 0);
    CHECK(rp_gate_inside(in.path, test_path(&in, "a")));
    CHECK(rp_gate_inside(in.path, test_path(&in, "fine")));
    CHECK(!rp_gate_inside(in.path, test_path(&in, "link")));
    CHECK(!rp_gate_inside(in.path, test_path(&in, "none")));
    CHECK(!rp_gate_inside(in.path, in.path));
    snprintf(dots, sizeof dots, "%s/../%s/b", in.path, strrchr(out.path, '/') + 1);
    CHECK(!rp_gate_inside(in.path, dots));
    test_folder_remove(&in);
    test_folder_remove(&out);
}

// ---- requests ----

static bool request(const char *text, char room[1024], rp_http *out)
{
    const size_t size = strlen(text);
    memcpy(room, text, size + 1);
    return rp_http_head_size(room, size) == size && rp_http_parse(room, size, out);
}

static void a_request_is_taken_as_it_is_spelled(void)
{
    char room[1024];
    rp_http asked;
    CHECK(request("GET /page.js?x=1&token=ab%20c&y HTTP/1.1\r\nhost:  a:1\t\r\nCookie: b=c\r\n\r\n",
                  room, &asked));
    CHECK(strcmp(asked.method, "GET") == 0 && strcmp(asked.path, "/page.js") == 0);
    CHECK(strcmp(asked.token, "ab%20c") == 0 && strcmp(asked.host, "a:1") == 0);
    CHECK(strcmp(asked.cookie, "b=c") == 0 && asked.origin[0] == '\0' && !asked.upgrade);
    CHECK(request(
        "GET / HTTP/1.1\r\nUpgrade: h2c, WebSocket\r\nConnection: keep-alive,Upgrade\r\n\r\n", room,
        &asked));
    CHECK(asked.upgrade && asked.token == NULL);
    CHECK(request("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgraded\r\n\r\n", room,
                  &asked));
    CHECK(!asked.upgrade);
    CHECK_EQUAL(rp_http_head_size("GET / HTTP/1.1\r\nhost: a\r\n", 25), 0);
    CHECK_EQUAL(rp_http_head_size("GET / HTTP/1.1\r\n\r\nmore", 22), 18);
    static const char *const bad[] = {"\r\n\r\n",
                                      "GET\r\n\r\n",
                                      "GET /\r\n\r\n",
                                      "GET  / HTTP/1.1\r\n\r\n",
                                      "GET / HTTP/2\r\n\r\n",
                                      "G(T / HTTP/1.1\r\n\r\n",
                                      "GET / HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n",
                                      "GET / HTTP/1.1\r\nhost a\r\n\r\n",
                                      "GET / HTTP/1.1\r\nhost : a\r\n\r\n",
                                      "GET / HTTP/1.1\r\n a: b\r\n\r\n",
                                      "GET / HTTP/1.1\r\na: b\nc: d\r\n\r\n",
                                      "GET / HTTP/1.1\r\na: b\rc: d\r\n\r\n",
                                      "GET /\x1b HTTP/1.1\r\n\r\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        check_context("%zu: %s", i, bad[i]);
        CHECK(!request(bad[i], room, &asked));
    }
}

// ---- frames on the wire ----

static void a_key_is_answered(void)
{
    char accept[RP_WIRE_ACCEPT + 1];
    CHECK(rp_wire_accept("dGhlIHNhbXBsZSBub25jZQ==", accept)); // RFC 6455, section 1.3
    CHECK(strcmp(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") == 0);
    CHECK(!rp_wire_accept("", accept) && !rp_wire_accept("dGhlIHNhbXBsZSBub25jZQ=", accept));
    CHECK(!rp_wire_accept("dGhlIHNhbXBsZSBub25jZQ=a", accept));
    CHECK(!rp_wire_accept("dGhlIHNhbXBsZSBub25j Q==", accept));
}

// A frame as a page sends it. @return its bytes
static size_t put_frame(int first, const char *text, size_t size, unsigned char *out)
{
    static const unsigned char mask[4] = {0xa5, 0, 0x7f, 0x11};
    const size_t head = (size_t)rp_wire_head(0, size, out);
    out[0] = (unsigned char)first;
    out[1] |= 0x80;
    memcpy(out + head, mask, 4);
    for (size_t i = 0; i < size; i++) {
        out[head + 4 + i] = (unsigned char)text[i] ^ mask[i % 4];
    }
    return head + 4 + size;
}

// Two parts of a message with a ping in between and a long message, however a network cuts them.
static void frames_may_come_in_any_pieces(void)
{
    enum { LONG = 70000 };
    unsigned char *bytes = malloc(LONG + 1000), *copy = malloc(LONG + 1000);
    char *text = malloc(LONG), *got = malloc(LONG);
    size_t size = 0;
    for (int i = 0; i < LONG; i++) {
        text[i] = (char)('a' + i % 23);
    }
    size += put_frame(0x01, text, 5, bytes);
    size += put_frame(0x89, "ping", 4, bytes + size);
    size += put_frame(0x80, text + 5, 300, bytes + size);
    size += put_frame(0x81, text, LONG, bytes + size);
    size += put_frame(0x81, "", 0, bytes + size);
    for (size_t piece = 1; piece < size; piece += piece < 320 ? 1 : 9973) {
        rp_wire_read r = {.room = LONG};
        size_t messages = 0, pings = 0, used = 0;
        const size_t want[] = {305, LONG, 0};
        memcpy(copy, bytes, size);
        check_context("%zu at a time", piece);
        for (size_t at = 0; at < size;) {
            rp_wire_part part;
            const size_t end =
                at / piece * piece + piece < size ? at / piece * piece + piece : size;
            CHECK_EQUAL(rp_wire_take(&r, copy + at, end - at, &used, &part), 0);
            at += used;
            memcpy(got + part.at, part.data != NULL ? part.data : copy, part.size);
            if (part.whole && part.kind == RP_WIRE_PING) {
                CHECK(part.at + part.size == 4);
                pings++;
            } else if (part.whole) {
                CHECK(part.kind == RP_WIRE_TEXT && part.at + part.size == want[messages++]);
            }
            // what the ping has written over comes from there again
            memcpy(got, text, 5);
        }
        CHECK_EQUAL(messages, 3);
        CHECK_EQUAL(pings, 1);
        CHECK(memcmp(got, text, LONG) == 0);
    }
    free(bytes);
    free(copy);
    free(text);
    free(got);
}

// Each as soon as it can be known, since the rest may never come.
static void frames_of_no_browser_are_refused(void)
{
    static const struct {
        int code, size;
        unsigned char bytes[RP_WIRE_HEAD];
    } bad[] = {
        {RP_WIRE_WRONG, 2, {0x81, 0x05}},         // not masked
        {RP_WIRE_WRONG, 2, {0x89, 0x00}},         // nor a ping
        {RP_WIRE_WRONG, 1, {0xc1}},               // reserved bits
        {RP_WIRE_WRONG, 6, {0x83, 0x80}},         // reserved kinds
        {RP_WIRE_WRONG, 6, {0x8b, 0x80}},         //
        {RP_WIRE_WRONG, 6, {0x80, 0x80}},         // goes on with nothing
        {RP_WIRE_WRONG, 6, {0x09, 0x80}},         // a ping in parts
        {RP_WIRE_WRONG, 8, {0x89, 0xfe, 0, 126}}, // a long ping
        {RP_WIRE_WRONG, 8, {0x81, 0xfe, 0, 125}}, // more bytes than are needed
        {RP_WIRE_WRONG, 14, {0x81, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff}}, //
        {RP_WIRE_WRONG, 14, {0x81, 0xff, 0x80, 0, 0, 0, 0, 1, 0, 0}},    // a length with a sign
        {RP_WIRE_LONG, 14, {0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0}},
        {RP_WIRE_LONG, 8, {0x01, 0xfe, 0x03, 0xe9}},
        {RP_WIRE_KIND, 6, {0x82, 0x80}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        rp_wire_read r = {.room = 1000};
        int code = 0;
        check_context("%zu", i);
        for (int k = 0; k < bad[i].size; k++) {
            unsigned char byte = bad[i].bytes[k];
            rp_wire_part part;
            size_t used;
            CHECK_EQUAL(code, 0);
            code = rp_wire_take(&r, &byte, 1, &used, &part);
        }
        CHECK_EQUAL(code, bad[i].code);
    }
}

// Each part is short enough, all of them are not.
static void a_message_in_parts_has_a_bounded_size_too(void)
{
    unsigned char bytes[700];
    char text[600] = {0};
    rp_wire_read r = {.room = 1000};
    rp_wire_part part;
    size_t used = 0, size = put_frame(0x01, text, sizeof text, bytes);
    CHECK_EQUAL(rp_wire_take(&r, bytes, size, &used, &part), 0);
    size = put_frame(0x00, text, 400, bytes);
    CHECK_EQUAL(rp_wire_take(&r, bytes, size, &used, &part), 0);
    size = put_frame(0x80, text, 1, bytes);
    CHECK_EQUAL(rp_wire_take(&r, bytes, size, &used, &part), RP_WIRE_LONG);
}

static void a_farewell_fits_in_its_frame(void)
{
    unsigned char frame[RP_WIRE_HEAD + RP_WIRE_CONTROL];
    char words[300];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    CHECK_EQUAL(rp_wire_close(RP_WIRE_REFUSED, words, frame), 2 + RP_WIRE_CONTROL);
    CHECK(frame[0] == 0x88 && frame[1] == RP_WIRE_CONTROL && frame[2] == 1008 >> 8 &&
          frame[3] == (1008 & 255));
}

// ---- the lattice ----

static void codes_are_near_what_they_stand_for(void)
{
    static const double range[][2] = {
        {0, 1}, {-0.3, 0.7},     {1e5, 1e5 + 1e-3}, {-1e-9, 1e-9}, {5, 5},
        {0, 0}, {-1e200, 1e200}, {3, 1e7},          {-7.25, -7.0}, {1e-300, 2e-300}};
    for (size_t r = 0; r < sizeof range / sizeof range[0]; r++) {
        const double low = range[r][0], high = range[r][1];
        const rp_lattice l = rp_lattice_for(low, high);
        check_context("%g to %g: origin %g, unit %g", low, high, l.origin, l.unit);
        CHECK(l.unit > 0.0 && l.origin <= low);
        // less than a pixel in 30000, or less than anybody can see beside the distance from 0
        CHECK(l.unit <= (high - low) / 30000.0 || l.unit <= fabs(low) * 0x1p-45 || low == high ||
              l.unit < 1e-270);
        for (int i = 0; i <= 100; i++) {
            const double x = low + (high - low) * i / 100.0;
            const uint16_t code = rp_lattice_code(&l, x);
            CHECK(code != RP_CODE_NONE);
            CHECK_NEAR(rp_lattice_value(&l, code), x, 0.500001 * l.unit);
        }
    }
}

static void what_is_no_number_gets_no_place(void)
{
    const rp_lattice l = rp_lattice_for(0.0, 1.0), none = rp_lattice_for(NAN, 1.0);
    CHECK_EQUAL(rp_lattice_code(&l, NAN), RP_CODE_NONE);
    CHECK_EQUAL(rp_lattice_code(&l, INFINITY), RP_CODE_NONE);
    CHECK_EQUAL(rp_lattice_code(&l, -INFINITY), RP_CODE_NONE);
    CHECK_EQUAL(rp_lattice_code(&l, 1e300), RP_CODE_NONE);
    CHECK_EQUAL(rp_lattice_code(&l, -0.5), RP_CODE_NONE);
    CHECK(isnan(rp_lattice_value(&l, RP_CODE_NONE)));
    CHECK(none.unit == 1.0 && rp_lattice_for(-INFINITY, INFINITY).unit == 1.0);
}

// A heap that spreads a little keeps its lattice, so grains at rest keep their codes.
static void a_lattice_stays_while_its_range_grows_a_little(void)
{
    const rp_lattice a = rp_lattice_for(-0.3, 0.3);
    for (int i = 0; i < 50; i++) {
        const rp_lattice b = rp_lattice_for(-0.3 - 2e-4 * i, 0.3 + 2e-4 * i);
        check_context("after %d", i);
        CHECK(rp_lattice_same(&a, &b));
    }
    const rp_lattice c = rp_lattice_for(-3.0, 3.0);
    CHECK(!rp_lattice_same(&a, &c));
}

static void only_blocks_that_changed_are_found(void)
{
    enum { COUNT = 5 * RP_BLOCK + 7 };
    uint16_t *before = calloc(3 * COUNT, sizeof *before), *now = calloc(3 * COUNT, sizeof *now);
    uint32_t changed[8];
    CHECK_EQUAL(rp_changed_blocks(before, now, COUNT, 3, changed), 0);
    now[3 * RP_BLOCK * 2] = 1; // the first of block 2
    now[3 * COUNT - 1] = 1;    // the very last
    CHECK_EQUAL(rp_changed_blocks(before, now, COUNT, 3, changed), 2);
    CHECK(changed[0] == 2 && changed[1] == 5);
    free(before);
    free(now);
}

TEST_MAIN(TEST(a_message_says_what_it_wants), TEST(what_is_not_expected_is_refused),
          TEST(a_message_has_a_bounded_size), TEST(only_hosts_of_this_machine_are_served),
          TEST(only_our_own_page_may_ask), TEST(a_token_is_needed_where_one_is_wanted),
          TEST(the_loopback_is_told_from_the_world), TEST(no_path_but_those_of_the_page_exists),
          TEST(links_do_not_lead_out_of_a_folder), TEST(a_request_is_taken_as_it_is_spelled),
          TEST(a_key_is_answered), TEST(frames_may_come_in_any_pieces),
          TEST(frames_of_no_browser_are_refused), TEST(a_message_in_parts_has_a_bounded_size_too),
          TEST(a_farewell_fits_in_its_frame), TEST(codes_are_near_what_they_stand_for),
          TEST(what_is_no_number_gets_no_place),
          TEST(a_lattice_stays_while_its_range_grows_a_little),
          TEST(only_blocks_that_changed_are_found))
