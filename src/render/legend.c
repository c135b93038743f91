#include "render/legend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const rp_ink DARK = {38, 40, 46, 1.0f}, BACKING = {244, 244, 242, 0.72f};

static float letter_size(int width, int height)
{
    return fmaxf(8.0f, (float)(height < width ? height : width) / 52.0f);
}

static void title(const rp_quantity *q, char out[128])
{
    char name[64];
    snprintf(name, sizeof name, "%s", q->name);
    for (char *c = name; *c != '\0'; c++) {
        *c = *c == '_' ? ' ' : *c;
    }
    if (q->unit[0] != '\0') {
        snprintf(out, 128, "%s (%s)", name, q->unit);
    } else {
        snprintf(out, 128, "%s", name);
    }
}

static double step_of(const rp_quantity *q) { return rp_canvas_step(q->high - q->low, 5); }

static double first_mark(const rp_quantity *q)
{
    const double step = step_of(q);
    return step * ceil(q->low / step - 1e-9);
}

static int rows_of(const rp_quantity *q)
{
    const int most = (int)(sizeof q->label / sizeof q->label[0]);
    return q->classes < most ? q->classes : most;
}

// The i-th of the marks beside a bar; false: there are no more. A range as narrow as a rounding has
// one mark.
static bool mark_at(const rp_quantity *q, int i, double *value)
{
    enum { MARKS_MOST = 20 };
    const double step = step_of(q);
    *value = first_mark(q) + i * step;
    return i < MARKS_MOST && *value <= q->high + 1e-9 * step && (i == 0 || *value > first_mark(q));
}

// Of the widest line, beside what shows its colour.
static float widest_of(const rp_quantity *q, float s)
{
    char text[128];
    float widest = 0.0f;
    if (q->kind == RP_QUANTITY_NUMBERS) {
        double v;
        for (int i = 0; mark_at(q, i, &v); i++) {
            rp_canvas_number(v, step_of(q), text);
            widest = fmaxf(widest, rp_canvas_text_width(s, text));
        }
    }
    for (int i = 0; q->kind == RP_QUANTITY_CLASSES && i < rows_of(q); i++) {
        widest = fmaxf(widest, rp_canvas_text_width(s, q->label[i]));
    }
    title(q, text);
    return fmaxf(widest, rp_canvas_text_width(s, text) - 2.2f * s);
}

float rp_legend_width(int width, int height, const rp_quantity *q)
{
    const float s = letter_size(width, height);
    return q->kind == RP_QUANTITY_GRAINS ? 0.0f : widest_of(q, s) + 5.8f * s;
}

// In the upper right corner: a name, and below it a bar with marks or a row for each class.
void rp_legend_draw(rp_canvas *c, const rp_quantity *q)
{
    if (q->kind == RP_QUANTITY_GRAINS) {
        return;
    }
    char text[128];
    const float s = letter_size(c->width, c->height), row = 2.1f * s;
    const bool ramp = q->kind == RP_QUANTITY_NUMBERS;
    const float tall = ramp ? 0.4f * (float)c->height : row * (float)rows_of(q) - 0.6f * s;
    const float right = (float)c->width - 1.2f * s;
    const float left = (float)c->width - rp_legend_width(c->width, c->height, q) + 0.4f * s;
    const float name = 3.4f * s, top = name + 1.2f * s, bottom = top + tall,
                words = left + 3.2f * s;
    rp_canvas_fill(c, left, 1.2f * s, right, bottom + 1.1f * s, BACKING);
    title(q, text);
    rp_canvas_text(c, left + s, name, s, DARK, text);
    for (int i = 0; !ramp && i < rows_of(q); i++) {
        unsigned char rgb[3];
        const float y = top + s + row * (float)i;
        rp_quantity_color(q, i, rgb);
        rp_canvas_disc(c, left + 1.6f * s, y - 0.5f * s, 0.55f * s,
                       (rp_ink){rgb[0], rgb[1], rgb[2], 1.0f});
        rp_canvas_text(c, words, y, s, DARK, q->label[i]);
    }
    if (!ramp) {
        return;
    }
    for (int y = (int)top; y < (int)bottom; y++) {
        unsigned char rgb[3];
        const double t = ((double)bottom - y - 0.5) / (double)tall;
        rp_quantity_color(q, q->low + t * (q->high - q->low), rgb);
        rp_canvas_fill(c, left + s, (float)y, left + 2.2f * s, (float)y + 1.0f,
                       (rp_ink){rgb[0], rgb[1], rgb[2], 1.0f});
    }
    double v;
    for (int i = 0; mark_at(q, i, &v); i++) {
        const float y = bottom - tall * (float)((v - q->low) / (q->high - q->low));
        rp_canvas_number(v, step_of(q), text);
        rp_canvas_line(c, left + 2.3f * s, y, left + 2.65f * s, y, fmaxf(1.0f, 0.1f * s), DARK);
        rp_canvas_text(c, words, y + 0.5f * s, s, DARK, text);
    }
}

void rp_legend_time(double time, double fps, char out[64])
{
    const int digits = fps > 0.0 ? (int)fmax(0.0, ceil(log10(fps)) + 1.0) : 3;
    snprintf(out, 64, "t = %.*f s", digits < 9 ? digits : 9, time);
}

void rp_legend_stamp(rp_canvas *c, double time, double fps)
{
    char text[64];
    const float s = 1.25f * letter_size(c->width, c->height);
    rp_legend_time(time, fps, text);
    const float y = (float)c->height - 2.2f * s;
    rp_canvas_fill(c, s, y - 2.0f * s, 3.0f * s + rp_canvas_text_width(s, text), y + s, BACKING);
    rp_canvas_text(c, 2.0f * s, y, s, DARK, text);
}
