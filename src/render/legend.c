#include "render/legend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const rp_ink DARK = {38, 40, 46, 1.0f};

static float letter_size(const rp_canvas *c)
{
    return fmaxf(8.0f, (float)(c->height < c->width ? c->height : c->width) / 52.0f);
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

// A bar with marks, at the right.
static void draw_ramp(rp_canvas *c, const rp_quantity *q)
{
    const float s = letter_size(c), tall = 0.46f * (float)c->height, wide = 1.3f * s;
    const float right = (float)c->width - 2.6f * s, left = right - wide;
    const float top = 0.5f * ((float)c->height - tall), bottom = top + tall;
    for (int y = (int)top; y < (int)bottom; y++) {
        unsigned char rgb[3];
        const double t = ((double)bottom - y - 0.5) / (double)tall;
        rp_quantity_color(q, q->low + t * (q->high - q->low), rgb);
        rp_canvas_fill(c, left, (float)y, right, (float)y + 1.0f,
                       (rp_ink){rgb[0], rgb[1], rgb[2], 1.0f});
    }
    const double step = rp_canvas_step(q->high - q->low, 5);
    for (double v = step * ceil(q->low / step - 1e-9); v <= q->high + 1e-9 * step; v += step) {
        char text[24];
        const float y = bottom - tall * (float)((v - q->low) / (q->high - q->low));
        rp_canvas_number(v, step, text);
        rp_canvas_line(c, left - 0.45f * s, y, left - 1.0f, y, fmaxf(1.0f, 0.1f * s), DARK);
        rp_canvas_text(c, left - 0.8f * s - rp_canvas_text_width(s, text), y + 0.5f * s, s, DARK,
                       text);
    }
    char text[128];
    title(q, text);
    rp_canvas_text(c, right - rp_canvas_text_width(s, text), top - 1.4f * s, s, DARK, text);
}

static void draw_classes(rp_canvas *c, const rp_quantity *q)
{
    const float s = letter_size(c), row = 2.1f * s;
    const int most = (int)(sizeof q->label / sizeof q->label[0]);
    const int rows = q->classes < most ? q->classes : most;
    float widest = 0.0f;
    char text[128];
    for (int i = 0; i < rows; i++) {
        snprintf(text, sizeof text, "%s", q->label[i]);
        widest = fmaxf(widest, rp_canvas_text_width(s, text));
    }
    title(q, text);
    widest = fmaxf(widest, rp_canvas_text_width(s, text) - 1.8f * s);
    const float left = (float)c->width - 2.6f * s - widest, top = 3.0f * s;
    rp_canvas_text(c, left - 1.8f * s, top, s, DARK, text);
    for (int i = 0; i < rows; i++) {
        unsigned char rgb[3];
        const float y = top + row * (float)(i + 1);
        rp_quantity_color(q, i, rgb);
        rp_canvas_disc(c, left - 1.2f * s, y - 0.5f * s, 0.55f * s,
                       (rp_ink){rgb[0], rgb[1], rgb[2], 1.0f});
        rp_canvas_text(c, left, y, s, DARK, q->label[i]);
    }
}

void rp_legend_draw(rp_canvas *c, const rp_quantity *q)
{
    if (q->kind == RP_QUANTITY_NUMBERS) {
        draw_ramp(c, q);
    } else if (q->kind == RP_QUANTITY_CLASSES) {
        draw_classes(c, q);
    }
}

void rp_legend_stamp(rp_canvas *c, double time, double fps)
{
    char text[64];
    const float s = 1.25f * letter_size(c);
    // as many digits as tell two frames apart
    const int digits = fps > 0.0 ? (int)fmax(0.0, ceil(log10(fps)) + 1.0) : 3;
    snprintf(text, sizeof text, "t = %.*f s", digits < 9 ? digits : 9, time);
    rp_canvas_text(c, 2.4f * s, (float)c->height - 2.2f * s, s, DARK, text);
}
