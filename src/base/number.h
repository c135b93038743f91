// Numbers as text in the C locale, whatever the host has set.
#pragma once

#include <stdbool.h>

enum { RP_NUMBER_TEXT = 32 };

// With as many digits as bring a double back.
const char *rp_print_number(double value, char out[RP_NUMBER_TEXT]);
// All of the text must be a number.
bool rp_parse_number(const char *text, double *value);
