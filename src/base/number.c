#define _GNU_SOURCE // strtod_l
#include "base/number.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t c_locale;

static void make_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

const char *rp_print_number(double value, char out[RP_NUMBER_TEXT])
{
    pthread_once(&once, make_locale);
    const locale_t before = c_locale != (locale_t)0 ? uselocale(c_locale) : (locale_t)0;
    snprintf(out, RP_NUMBER_TEXT, "%.17g", value);
    if (before != (locale_t)0) {
        uselocale(before);
    }
    return out;
}

bool rp_parse_number(const char *text, double *value)
{
    char *end;
    pthread_once(&once, make_locale);
    *value = c_locale != (locale_t)0 ? strtod_l(text, &end, c_locale) : strtod(text, &end);
    return end != text && *end == '\0';
}
