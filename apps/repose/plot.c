#include "plot.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 560, HEIGHT = 300, LEFT = 66, RIGHT = 14, TOP = 30, BOTTOM = 46, COLOURS = 6 };

void put_escaped(FILE *out, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

// One axis: from values to pixels.
typedef struct axis {
    double low, high;   // of what is shown, as logarithms on a logarithmic axis
    double begin, span; // pixels
    bool log;
} axis;

static double shown(const axis *a, double value) { return a->log ? log10(value) : value; }

static double pixel(const axis *a, double value)
{
    return a->begin + a->span * (shown(a, value) - a->low) / (a->high - a->low);
}

static bool at(const json_t *series, size_t i, const axis *x, const axis *y, double out[2])
{
    const json_t *px = json_array_get(json_object_get(series, "x"), i);
    const json_t *py = json_array_get(json_object_get(series, "y"), i);
    out[0] = json_number_value(px);
    out[1] = json_number_value(py);
    return json_is_number(px) && json_is_number(py) && isfinite(shown(x, out[0])) &&
           isfinite(shown(y, out[1]));
}

static size_t length_of(const json_t *series)
{
    return json_array_size(json_object_get(series, "x"));
}

static void find_range(const json_t *all, axis *x, axis *y)
{
    size_t i;
    const json_t *series;
    x->low = y->low = INFINITY;
    x->high = y->high = -INFINITY;
    json_array_foreach(all, i, series)
    {
        double p[2];
        for (size_t k = 0; k < length_of(series); k++) {
            if (at(series, k, x, y, p)) {
                x->low = fmin(x->low, shown(x, p[0]));
                x->high = fmax(x->high, shown(x, p[0]));
                y->low = fmin(y->low, shown(y, p[1]));
                y->high = fmax(y->high, shown(y, p[1]));
            }
        }
    }
    for (int k = 0; k < 2; k++) {
        axis *a = k ? y : x;
        if (!(a->low <= a->high)) {
            a->low = 0.0;
            a->high = 1.0;
        }
        const double room =
            a->high > a->low ? 0.05 * (a->high - a->low) : 0.5 * fabs(a->low) + 1e-12;
        a->low -= k || a->high == a->low ? room : 0.0;
        a->high += k || a->high == a->low ? room : 0.0;
    }
}

// A round number of which four to eight fit.
static double tick_step(double span)
{
    const double raw = span / 5.0, power = pow(10.0, floor(log10(raw)));
    const double lead = raw / power;
    return power * (lead < 1.5 ? 1.0 : lead < 3.5 ? 2.0 : lead < 7.5 ? 5.0 : 10.0);
}

static void draw_tick(FILE *out, const axis *a, bool vertical, double value, const char *label)
{
    const double p = a->begin + a->span * (value - a->low) / (a->high - a->low);
    if (vertical) {
        fprintf(out,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"tick\" x=\"%d\" y=\"%.1f\""
                " text-anchor=\"end\">%s</text>",
                LEFT, p, WIDTH - RIGHT, LEFT - 6, p + 4.0, label);
    } else {
        fprintf(out,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"tick\" x=\"%.1f\" y=\"%d\""
                " text-anchor=\"middle\">%s</text>",
                p, TOP, HEIGHT - BOTTOM, p, HEIGHT - BOTTOM + 16, label);
    }
}

static void draw_axis(FILE *out, const axis *a, bool vertical)
{
    const double step =
        a->log ? fmax(1.0, tick_step(a->high - a->low)) : tick_step(a->high - a->low);
    int ticks = 0;
    for (double v = ceil(a->low / step) * step; v <= a->high + 1e-9 * step && ticks < 20;
         v += step, ticks++) {
        char label[32];
        snprintf(label, sizeof label, "%.5g",
                 a->log                  ? pow(10.0, v)
                 : fabs(v) < 1e-9 * step ? 0.0
                                         : v);
        draw_tick(out, a, vertical, v, label);
    }
    // less than a decade: the ends are all there is to say
    for (int end = 0; end < 2 && a->log && ticks < 2; end++) {
        char label[32];
        const double v = end ? a->high : a->low;
        snprintf(label, sizeof label, "%.3g", pow(10.0, v));
        draw_tick(out, a, vertical, v, label);
    }
}

static void draw_series(FILE *out, const json_t *series, int colour, const axis *x, const axis *y)
{
    const char *style = json_string_value(json_object_get(series, "style"));
    const bool points = style != NULL && strcmp(style, "points") == 0;
    bool pen = false;
    double p[2];
    if (points) {
        for (size_t k = 0; k < length_of(series); k++) {
            if (at(series, k, x, y, p)) {
                fprintf(out, "<circle class=\"c%d dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", colour,
                        pixel(x, p[0]), pixel(y, p[1]));
            }
        }
        return;
    }
    fprintf(out, "<path class=\"c%d line%s\" d=\"", colour,
            style != NULL && strcmp(style, "dashed") == 0 ? " dashed" : "");
    for (size_t k = 0; k < length_of(series); k++) {
        const bool good = at(series, k, x, y, p);
        if (good) {
            fprintf(out, "%c%.1f %.1f", pen ? 'L' : 'M', pixel(x, p[0]), pixel(y, p[1]));
        }
        pen = good;
    }
    fputs("\"/>", out);
}

void plot_svg(FILE *out, const json_t *plot)
{
    const json_t *all = json_object_get(plot, "series"), *series;
    axis x = {.begin = LEFT, .span = WIDTH - LEFT - RIGHT};
    axis y = {.begin = HEIGHT - BOTTOM, .span = -(HEIGHT - BOTTOM - TOP)};
    size_t i;
    x.log = json_is_true(json_object_get(plot, "log_x"));
    y.log = json_is_true(json_object_get(plot, "log_y"));
    find_range(all, &x, &y);
    fprintf(out,
            "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\"><text class=\"title\" x=\"%d\" "
            "y=\"16\">",
            WIDTH, HEIGHT, LEFT);
    put_escaped(out, json_string_value(json_object_get(plot, "title")));
    fputs("</text>", out);
    draw_axis(out, &x, false);
    draw_axis(out, &y, true);
    fprintf(out, "<text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10);
    put_escaped(out, json_string_value(json_object_get(plot, "x")));
    fprintf(out,
            "</text><text class=\"label\" transform=\"translate(14 %d) rotate(-90)\" "
            "text-anchor=\"middle\">",
            (TOP + HEIGHT - BOTTOM) / 2);
    put_escaped(out, json_string_value(json_object_get(plot, "y")));
    fputs("</text>", out);
    json_array_foreach(all, i, series) { draw_series(out, series, (int)(i % COLOURS), &x, &y); }
    fputs("</svg><p class=\"legend\">", out);
    json_array_foreach(all, i, series)
    {
        fprintf(out, "<span class=\"c%d\">■</span> ", (int)(i % COLOURS));
        put_escaped(out, json_string_value(json_object_get(series, "name")));
        fputs(" &nbsp; ", out);
    }
    fputs("</p>\n", out);
}
