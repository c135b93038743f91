#include "repose/property.h"

#include "base/number.h"
#include "base/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)

static bool is_angle(const rp_property *p)
{
    return p->unit != NULL && strcmp(p->unit, "degrees") == 0;
}

double rp_property_get(const rp_property *p, const void *base)
{
    const void *at = (const char *)base + p->offset;
    switch (p->type) {
    case RP_PROPERTY_NUMBER:
        return is_angle(p) ? *(const double *)at / DEGREE : *(const double *)at;
    case RP_PROPERTY_CHOICE:
        return *(const int *)at;
    case RP_PROPERTY_BOOLEAN:
    case RP_PROPERTY_TABLE:
        return *(const bool *)at;
    }
    return NAN;
}

void rp_property_set(const rp_property *p, void *base, double value)
{
    void *at = (char *)base + p->offset;
    switch (p->type) {
    case RP_PROPERTY_NUMBER:
        *(double *)at = is_angle(p) ? DEGREE * value : value;
        break;
    case RP_PROPERTY_CHOICE:
        *(int *)at = (int)value;
        break;
    case RP_PROPERTY_BOOLEAN:
    case RP_PROPERTY_TABLE:
        *(bool *)at = value != 0.0;
        break;
    }
}

double rp_property_default(const rp_property *p)
{
    if (p->otherwise == NULL) {
        return p->none;
    }
    if (p->type == RP_PROPERTY_NUMBER) {
        double value = NAN;
        const bool number = rp_parse_number(p->otherwise, &value);
        RP_ASSERT(number);
        return value;
    }
    // a choice is written in quotes
    const size_t length = strlen(p->otherwise);
    for (int c = 0; p->type == RP_PROPERTY_CHOICE && p->choices[c] != NULL; c++) {
        if (strlen(p->choices[c]) + 2 == length &&
            strncmp(p->otherwise + 1, p->choices[c], length - 2) == 0) {
            return c;
        }
    }
    return strcmp(p->otherwise, "true") == 0;
}

void rp_property_range(const rp_property *p, char *text, size_t size)
{
    const char *low = p->above_low ? ">" : ">=", *high = p->below_high ? "<" : "<=";
    if (isinf(p->low) && isinf(p->high)) {
        snprintf(text, size, "%s", "");
    } else if (isinf(p->high)) {
        snprintf(text, size, "%s %.16g", low, p->low);
    } else if (isinf(p->low)) {
        snprintf(text, size, "%s %.16g", high, p->high);
    } else if (!p->above_low && !p->below_high) {
        snprintf(text, size, "%.16g to %.16g", p->low, p->high);
    } else {
        snprintf(text, size, "%s %.16g and %s %.16g", low, p->low, high, p->high);
    }
}

static int choices_of(const rp_property *p)
{
    int count = 0;
    while (p->choices[count] != NULL) {
        count++;
    }
    return count;
}

bool rp_property_allows(const rp_property *p, double value)
{
    if (p->type == RP_PROPERTY_NUMBER) {
        return isfinite(value) && (p->above_low ? value > p->low : value >= p->low) &&
               (p->below_high ? value < p->high : value <= p->high);
    }
    return value >= 0.0 && value < (p->type == RP_PROPERTY_CHOICE ? choices_of(p) : 2);
}

void rp_properties_reset(const rp_property *p, int count, void *base)
{
    for (int i = 0; i < count; i++) {
        rp_property_set(&p[i], base, rp_property_default(&p[i]));
        rp_properties_reset(p[i].form, p[i].forms, base);
    }
}

// Left out: what lies below the range of one that may be absent.
static bool is_absent(const rp_property *p, const void *base)
{
    const double value = rp_property_get(p, base);
    return p->otherwise == NULL && p->absent != NULL && isfinite(value) && value < p->low;
}

// One that has a default gives way to one that was said instead.
bool rp_properties_gives_way(const rp_property *p, int index, int count, const void *base)
{
    const char *list = p[index].not_with;
    for (int i = 0; i < count && list != NULL && p[index].otherwise != NULL; i++) {
        const char *found = strstr(list, p[i].name);
        if (found != NULL && p[i].otherwise == NULL && !is_absent(&p[i], base)) {
            return true;
        }
    }
    return false;
}

static rp_result refuse(const rp_property *p, const void *base, const char *owner)
{
    char range[96], radians[48] = "";
    const double value = rp_property_get(p, base);
    if (p->type == RP_PROPERTY_CHOICE) {
        snprintf(range, sizeof range, "0 to %d", choices_of(p) - 1);
    } else {
        rp_property_range(p, range, sizeof range);
    }
    if (is_angle(p)) {
        snprintf(radians, sizeof radians, " (%g rad)", value * DEGREE);
    }
    return rp_fail(RP_ERR_ARGUMENT, "%s.%s: want %s%s%s, got %g%s", owner, p->name,
                   range[0] != '\0' ? range : "a finite number", p->unit != NULL ? " " : "",
                   p->unit != NULL ? p->unit : "", value, radians);
}

rp_result rp_properties_check(const rp_property *p, int count, const void *base, const char *owner)
{
    for (int i = 0; i < count; i++) {
        if (is_absent(&p[i], base) || rp_properties_gives_way(p, i, count, base)) {
            continue;
        }
        if (!rp_property_allows(&p[i], rp_property_get(&p[i], base))) {
            return refuse(&p[i], base, owner);
        }
        if (p[i].type == RP_PROPERTY_TABLE && rp_property_get(&p[i], base) != 0.0) {
            char path[96];
            snprintf(path, sizeof path, "%s.%s", owner, p[i].name);
            RP_TRY(rp_properties_check(p[i].form, p[i].forms, base, path));
        }
    }
    return RP_OK;
}
