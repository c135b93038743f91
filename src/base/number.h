// Numbers as text in the C locale, whatever the host has set.
#pragma once

enum { RP_NUMBER_TEXT = 32 };

// With as many digits as bring a double back.
const char *rp_print_number(double value, char out[RP_NUMBER_TEXT]);
