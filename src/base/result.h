// Results with a sentence, messages, and the two kinds of wrong (docs/architecture.md, Errors).
#pragma once

#include "repose/base.h"

// A bug in our own code or a caller's. Checked in every build: it is never in an inner loop.
#define RP_ASSERT(condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            rp_assert_failed(#condition, __FILE__, __LINE__);                                      \
        }                                                                                          \
    } while (0)

// Every def struct carries this; it is how a def that did not start from its defaults is caught.
#define RP_DEF_COOKIE 0x7e905eu
