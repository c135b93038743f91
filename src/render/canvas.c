#include "render/canvas.h"

#include "render/font.h"
#include "render/vec.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void blend(rp_canvas *c, int x, int y, float share, rp_ink ink)
{
    if (x < 0 || y < 0 || x >= c->width || y >= c->height || share <= 0.0f) {
        return;
    }
    unsigned char *p = &c->rgb[3 * ((size_t)y * (size_t)c->width + (size_t)x)];
    const float a = ink.opacity * (share < 1.0f ? share : 1.0f);
    const float want[3] = {ink.r, ink.g, ink.b};
    for (int k = 0; k < 3; k++) {
        p[k] = (unsigned char)((float)p[k] + a * (want[k] - (float)p[k]) + 0.5f);
    }
}

void rp_canvas_fill(rp_canvas *c, float x0, float y0, float x1, float y1, rp_ink ink)
{
    for (int y = (int)floorf(y0); y < (int)ceilf(y1); y++) {
        for (int x = (int)floorf(x0); x < (int)ceilf(x1); x++) {
            const float across = fminf(x1, (float)x + 1.0f) - fmaxf(x0, (float)x);
            const float down = fminf(y1, (float)y + 1.0f) - fmaxf(y0, (float)y);
            blend(c, x, y, across * down, ink);
        }
    }
}

// How far a pixel's middle is from a line.
static float gap(float px, float py, float x0, float y0, float x1, float y1)
{
    const float dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
    const float t = length2 > 0.0f ? ((px - x0) * dx + (py - y0) * dy) / length2 : 0.0f;
    const float s = clampf(t, 0.0f, 1.0f);
    return hypotf(px - x0 - s * dx, py - y0 - s * dy);
}

static int within(float x, int most) { return (int)clampf(x, 0.0f, (float)most); }

void rp_canvas_line(rp_canvas *c, float x0, float y0, float x1, float y1, float width, rp_ink ink)
{
    const float pad = 0.5f * width + 1.0f;
    const int left = within(fminf(x0, x1) - pad, c->width),
              right = within(fmaxf(x0, x1) + pad + 1.0f, c->width);
    const int top = within(fminf(y0, y1) - pad, c->height),
              bottom = within(fmaxf(y0, y1) + pad + 1.0f, c->height);
    for (int y = top; y < bottom; y++) {
        for (int x = left; x < right; x++) {
            const float d = gap((float)x + 0.5f, (float)y + 0.5f, x0, y0, x1, y1);
            blend(c, x, y, 0.5f * width - d + 0.5f, ink);
        }
    }
}

void rp_canvas_disc(rp_canvas *c, float x, float y, float radius, rp_ink ink)
{
    rp_canvas_line(c, x, y, x, y, 2.0f * radius, ink);
}

// ---- words ----

// A stroke after the other, to a mask of how much of each pixel they cover: where strokes meet
// they do not add up.
typedef struct mask {
    int left, top, width, height;
    float *cover;
} mask;

static void mask_line(mask *m, float x0, float y0, float x1, float y1, float width)
{
    const float pad = 0.5f * width + 1.0f;
    const int left = within(fminf(x0, x1) - pad - (float)m->left, m->width),
              right = within(fmaxf(x0, x1) + pad + 1.0f - (float)m->left, m->width);
    const int top = within(fminf(y0, y1) - pad - (float)m->top, m->height),
              bottom = within(fmaxf(y0, y1) + pad + 1.0f - (float)m->top, m->height);
    for (int y = top; y < bottom; y++) {
        for (int x = left; x < right; x++) {
            const float d =
                gap((float)(x + m->left) + 0.5f, (float)(y + m->top) + 0.5f, x0, y0, x1, y1);
            float *at = &m->cover[(size_t)y * (size_t)m->width + (size_t)x];
            *at = fmaxf(*at, clampf(0.5f * width - d + 0.5f, 0.0f, 1.0f));
        }
    }
}

// Draws one character, or only measures it. @return how far the next one is
static float character(mask *m, char letter, float x, float y, float unit, float pen)
{
    const char *stroke = rp_font_strokes(letter);
    float px = 0.0f, py = 0.0f;
    bool down = false;
    for (; m != NULL && *stroke != '\0'; stroke++) {
        if (*stroke == ' ') {
            down = false;
            continue;
        }
        float nx, ny;
        rp_font_point(stroke++, &nx, &ny);
        nx = x + unit * nx;
        ny = y - unit * ny;
        if (down) {
            mask_line(m, px, py, nx, ny, pen);
        }
        px = nx;
        py = ny;
        down = true;
    }
    return unit * rp_font_advance(letter);
}

static float line_of(mask *m, float x, float y, float size, const char *text)
{
    const float unit = size / RP_FONT_CAPITAL, pen = fmaxf(1.0f, 0.13f * size);
    const float start = x;
    bool raised = false;
    for (; *text != '\0'; text++) {
        if (*text == '^') {
            raised = true;
            continue;
        }
        raised = raised && (isdigit((unsigned char)*text) || *text == '-');
        x += raised ? character(m, *text, x, y - 0.5f * size, 0.62f * unit, 0.8f * pen)
                    : character(m, *text, x, y, unit, pen);
    }
    return x - start;
}

float rp_canvas_text_width(float size, const char *text)
{
    return line_of(NULL, 0.0f, 0.0f, size, text);
}

void rp_canvas_text(rp_canvas *c, float x, float y, float size, rp_ink ink, const char *text)
{
    mask m = {.left = (int)floorf(x - size), .top = (int)floorf(y - 2.0f * size)};
    m.width = (int)ceilf(rp_canvas_text_width(size, text) + 2.0f * size);
    m.height = (int)ceilf(3.0f * size);
    m.cover = calloc((size_t)m.width * (size_t)m.height, sizeof *m.cover);
    if (m.cover == NULL) {
        return; // a picture without its words is better than none
    }
    line_of(&m, x, y, size, text);
    for (int j = 0; j < m.height; j++) {
        for (int i = 0; i < m.width; i++) {
            blend(c, m.left + i, m.top + j, m.cover[(size_t)j * (size_t)m.width + (size_t)i], ink);
        }
    }
    free(m.cover);
}

// ---- numbers ----

double rp_canvas_step(double range, int marks)
{
    const double rough = range / marks, power = pow(10.0, floor(log10(rough)));
    const double lead = rough / power;
    return power * (lead < 1.5 ? 1.0 : lead < 3.5 ? 2.0 : lead < 7.5 ? 5.0 : 10.0);
}

void rp_canvas_number(double value, double step, char out[24])
{
    value = fabs(value) < 1e-9 * step ? 0.0 : value;
    const double most = fmax(fabs(value), step);
    if (most >= 1e5 || step < 1e-4) {
        snprintf(out, 24, "%.3g", value);
        return;
    }
    const int digits = step >= 1.0 ? 0 : (int)ceil(-log10(step) - 1e-9);
    snprintf(out, 24, "%.*f", digits, value);
}

// Of the widest number along an axis.
static float widest_number(double low, double high, double step, float size)
{
    float widest = 0.0f;
    for (double v = step * ceil(low / step - 1e-9); v <= high + 1e-9 * step; v += step) {
        char text[24];
        rp_canvas_number(v, step, text);
        widest = fmaxf(widest, rp_canvas_text_width(size, text));
    }
    return widest;
}

double rp_canvas_apart(double low, double high, float pixels, float size)
{
    enum { MARKS = 5, WIDER = 8 };
    double step = rp_canvas_step(high - low, MARKS);
    for (int i = 0; i < WIDER; i++) {
        const float between = (float)(step / (high - low)) * pixels;
        if (widest_number(low, high, step, size) + size <= between) {
            break;
        }
        step = rp_canvas_step(2.2 * step, 1);
    }
    return step;
}
