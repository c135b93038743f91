// Words that users give, and that end in records, tables and on terminals.
#pragma once

#include "repose/base.h"

// A name that is kept whole or refused. @param field "collider.name", for the sentence
rp_result rp_check_name(const char *field, const char *name);
