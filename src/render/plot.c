#include "render/plot.h"

#include "render/legend.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOTS = 60000 };

static const rp_ink DARK = {38, 40, 46, 1.0f}, FAINT = {38, 40, 46, 0.28f};
static const rp_ink CONE = {120, 104, 70, 0.9f};

typedef struct dot {
    double stress[3]; // compression positive [Pa]; in an order that the id draws
    double pressure, shear;
    rp_case is;
} dot;

typedef struct scatter {
    dot *dot;
    int dots;
    int64_t count[3]; // of all particles, by case
    const rp_yield *yield;
    int material, d;
    double most; // pressure that the diagram reaches [Pa]
} scatter;

// A rectangle of the picture with its scale.
typedef struct panel {
    float left, right, top, bottom; // [pixels]
    double x0, x1, y0, y1;          // what they stand for
} panel;

static float px(const panel *p, double x)
{
    return p->left + (p->right - p->left) * (float)((x - p->x0) / (p->x1 - p->x0));
}
static float py(const panel *p, double y)
{
    return p->bottom - (p->bottom - p->top) * (float)((y - p->y0) / (p->y1 - p->y0));
}

// What the numbers along an axis are in.
typedef struct pressure_unit {
    const char *name;
    double size; // [Pa]
} pressure_unit;

static pressure_unit unit_for(double most)
{
    return most < 1e4   ? (pressure_unit){"Pa", 1.0}
           : most < 1e7 ? (pressure_unit){"kPa", 1e3}
                        : (pressure_unit){"MPa", 1e6};
}

static float letter_size(const rp_canvas *c)
{
    return fmaxf(8.0f, (float)(c->height < c->width ? c->height : c->width) / 52.0f);
}

static rp_ink ink_of(rp_case is, float opacity)
{
    static const rp_quantity cases = {.kind = RP_QUANTITY_CLASSES, .is_case = true};
    unsigned char rgb[3];
    rp_quantity_color(&cases, is, rgb);
    return (rp_ink){rgb[0], rgb[1], rgb[2], opacity};
}

// ---- reading ----

// The sand that most particles are of.
static rp_result choose_material(const rp_quantity *q, rp_reading *r, scatter *s)
{
    int64_t *count = calloc((size_t)q->materials, sizeof *count);
    rp_result result = count != NULL ? RP_OK : rp_fail(RP_ERR_MEMORY, "no memory for a diagram");
    while (result == RP_OK && (result = rp_reader_next(r->reader, &r->batch)) == RP_OK &&
           r->batch.count > 0) {
        for (int64_t i = 0; i < r->batch.count; i++) {
            const int m = r->batch.material[i];
            if (m < q->materials && q->yield[m].def->kind == RP_SAND) {
                s->material = ++count[m] > count[s->material] ? m : s->material;
            }
        }
    }
    const bool none = result == RP_OK && q->yield[s->material].def->kind != RP_SAND;
    free(count);
    return none
               ? rp_fail(RP_ERR_ARGUMENT, "plot: want sand, whose cone it shows, and there is none")
               : result;
}

static void add_dot(scatter *s, const double strain[6], uint64_t id, rp_case is)
{
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                    {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    double principal[3], sum = 0.0, square = 0.0;
    dot *o = &s->dot[s->dots++];
    rp_stress_principal(s->yield, strain, principal);
    const uint64_t draw = (id + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    for (int k = 0; k < 3; k++) {
        const int from = s->d == 3 ? order[draw % 6][k]
                         : k == 2  ? 2
                                   : (int)((draw + (uint64_t)k) % 2);
        o->stress[k] = -principal[from];
        sum += principal[k];
    }
    for (int k = 0; k < s->d; k++) {
        square += (principal[k] - sum / s->d) * (principal[k] - sum / s->d);
    }
    o->pressure = -sum / s->d;
    o->shear = sqrt(square);
    o->is = is;
}

static rp_result read_dots(rp_reading *r, scatter *s)
{
    const rp_batch *b = &r->batch;
    const int64_t stride = 1 + r->info->particles / DOTS;
    rp_result result;
    while ((result = rp_reader_next(r->reader, &r->batch)) == RP_OK && b->count > 0) {
        for (int64_t i = 0; i < b->count; i++) {
            if (b->material[i] != s->material) {
                continue;
            }
            const rp_case is =
                rp_stress_case(s->yield, b->strain[i], b->volume_gain[i], b->hardening[i]);
            s->count[is]++;
            if ((b->first + i) % stride == 0 && s->dots < DOTS && isfinite(b->strain[i][0])) {
                add_dot(s, b->strain[i], b->id[i], is);
            }
        }
    }
    return result;
}

static rp_result read_scatter(const rp_quantity *q, rp_reading *r, scatter *s)
{
    RP_TRY(rp_reader_need(r->reader, RP_READ_STRAIN, "plot: yield"));
    if (q->yield == NULL) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "plot: yield needs the materials, which are in run.json of a run's folder");
    }
    r->batch.want = RP_READ_GROUP;
    RP_TRY(choose_material(q, r, s));
    s->dot = malloc(DOTS * sizeof *s->dot);
    if (s->dot == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for a diagram");
    }
    s->yield = &q->yield[s->material];
    s->d = r->info->dimension;
    s->most = q->high > 0.0 ? q->high : 1.0;
    r->batch.want = RP_READ_GROUP | RP_READ_ID | RP_READ_STRAIN | RP_READ_STATE;
    r->batch.next = 0;
    return read_dots(r, s);
}

// ---- drawing ----

static void draw_axis_x(rp_canvas *c, const panel *p, const char *name)
{
    const float s = letter_size(c);
    const pressure_unit unit = unit_for(p->x1);
    const double low = p->x0 / unit.size, high = p->x1 / unit.size;
    const double step = rp_canvas_apart(low, high, p->right - p->left, s);
    char text[96];
    rp_canvas_line(c, p->left, p->bottom, p->right, p->bottom, fmaxf(1.0f, 0.1f * s), DARK);
    for (double v = step * ceil(low / step - 1e-9); v <= high + 1e-9 * step; v += step) {
        const float x = px(p, v * unit.size);
        rp_canvas_number(v, step, text);
        rp_canvas_line(c, x, p->bottom, x, p->bottom + 0.45f * s, 1.0f, DARK);
        rp_canvas_text(c, x - 0.5f * rp_canvas_text_width(s, text), p->bottom + 1.8f * s, s, DARK,
                       text);
    }
    snprintf(text, sizeof text, "%s (%s)", name, unit.name);
    rp_canvas_text(c, p->right - rp_canvas_text_width(s, text), p->bottom + 3.8f * s, s, DARK,
                   text);
}

static void draw_axis_y(rp_canvas *c, const panel *p, const char *name)
{
    const float s = letter_size(c);
    const pressure_unit unit = unit_for(p->x1); // as along x: slopes can be read off
    const double low = p->y0 / unit.size, high = p->y1 / unit.size;
    const double step = rp_canvas_step(high - low, 5);
    char text[96];
    rp_canvas_line(c, p->left, p->bottom, p->left, p->top, fmaxf(1.0f, 0.1f * s), DARK);
    for (double v = step * ceil(low / step - 1e-9); v <= high + 1e-9 * step; v += step) {
        const float y = py(p, v * unit.size);
        rp_canvas_number(v, step, text);
        rp_canvas_line(c, p->left - 0.45f * s, y, p->left, y, 1.0f, DARK);
        rp_canvas_text(c, p->left - 0.8f * s - rp_canvas_text_width(s, text), y + 0.5f * s, s, DARK,
                       text);
    }
    snprintf(text, sizeof text, "%s (%s)", name, unit.name);
    const float widest = (float)c->width - 0.5f * s - rp_canvas_text_width(s, text);
    rp_canvas_text(c, fminf(p->left - s, widest), p->top - 1.3f * s, s, DARK, text);
}

// Inside first, so that what yields lies on top.
static void draw_dots(rp_canvas *c, const panel *p, const scatter *s,
                      void (*place)(const scatter *, const double *, double *, double *), bool flat)
{
    static const rp_case turn[3] = {RP_CASE_INSIDE, RP_CASE_SLIDING, RP_CASE_APART};
    const float radius = fmaxf(1.0f, letter_size(c) * 0.11f);
    for (int k = 0; k < 3; k++) {
        const rp_ink ink = ink_of(turn[k], turn[k] == RP_CASE_APART ? 0.9f : 0.42f);
        for (int i = 0; i < s->dots; i++) {
            const dot *o = &s->dot[i];
            if (o->is != turn[k]) {
                continue;
            }
            double x = o->pressure, y = o->shear;
            if (!flat) {
                place(s, o->stress, &x, &y);
            }
            const float at_x = px(p, x), at_y = py(p, y);
            if (at_x > p->left - 3.0f && at_x < p->right && at_y > p->top &&
                at_y < p->bottom + 3.0f) {
                rp_canvas_disc(c, at_x, at_y, turn[k] == RP_CASE_APART ? 2.0f * radius : radius,
                               ink);
            }
        }
    }
}

// Shear over pressure, with the line of yielding.
static void draw_meridian(rp_canvas *c, const panel *at, const scatter *s)
{
    panel p = *at;
    const double slope = s->yield->slope * s->d, cohesion = s->yield->def->cohesion;
    p.x0 = fmin(0.0, -cohesion / fmax(slope, 1e-9)) - 0.04 * s->most;
    p.x1 = 1.05 * s->most;
    p.y0 = 0.0;
    p.y1 = 1.12 * (cohesion + slope * s->most);
    draw_axis_x(c, &p, "pressure");
    draw_axis_y(c, &p, "shear, norm of the deviator");
    draw_dots(c, &p, s, NULL, true);
    const double tip = slope > 0.0 ? -cohesion / slope : p.x0;
    rp_canvas_line(c, px(&p, tip), py(&p, 0.0), px(&p, p.x1), py(&p, cohesion + slope * p.x1), 1.8f,
                   CONE);
}

// The space of the stresses, looked at across the axis on which all are equal.
static void place_in_cone(const scatter *s, const double x[3], double *across, double *up)
{
    (void)s;
    const double e = (x[0] + x[1] + x[2]) / sqrt(3.0), u = (x[0] - x[1]) / sqrt(2.0);
    const double w = (x[0] + x[1] - 2.0 * x[2]) / sqrt(6.0);
    *across = e + 0.34 * u;
    *up = -w + 0.16 * u;
}

static void place_in_plane(const scatter *s, const double x[3], double *across, double *up)
{
    (void)s;
    *across = x[0];
    *up = x[1];
}

// A point of the cone: at a pressure, and an angle about the axis.
static void on_cone(const scatter *s, double pressure, double angle, double x[3])
{
    const double r = s->yield->def->cohesion + s->yield->slope * 3.0 * pressure;
    const double u = r * cos(angle), w = r * sin(angle);
    x[0] = pressure + u / sqrt(2.0) + w / sqrt(6.0);
    x[1] = pressure - u / sqrt(2.0) + w / sqrt(6.0);
    x[2] = pressure - 2.0 * w / sqrt(6.0);
}

static void cone_line(rp_canvas *c, const panel *p, const double a[3], const double b[3],
                      float width, rp_ink ink)
{
    double x0, y0, x1, y1;
    place_in_cone(NULL, a, &x0, &y0);
    place_in_cone(NULL, b, &x1, &y1);
    rp_canvas_line(c, px(p, x0), py(p, y0), px(p, x1), py(p, y1), width, ink);
}

static void draw_cone(rp_canvas *c, const panel *at, const scatter *s)
{
    enum { AROUND = 96, RINGS = 4, RIBS = 12 };
    panel p = *at;
    const double reach = 1.05 * s->most, slope = s->yield->slope * 3.0;
    const double tip = -s->yield->def->cohesion / fmax(slope, 1e-9);
    const double r = s->yield->def->cohesion + slope * reach, e = sqrt(3.0) * reach;
    p.x0 = sqrt(3.0) * tip - 0.06 * e;
    p.x1 = e + 0.40 * r;
    p.y0 = -1.15 * r;
    p.y1 = 1.15 * r;
    // the three axes, and where all are equal
    static const char *const name[3] = {"1", "2", "3"};
    const float size = letter_size(c);
    for (int k = 0; k < 3; k++) {
        double end[3] = {0}, x, y;
        end[k] = 0.62 * e;
        cone_line(c, &p, (double[3]){0}, end, 1.2f, FAINT);
        place_in_cone(s, end, &x, &y);
        rp_canvas_text(c, px(&p, x) + 0.4f * size, py(&p, y) + 0.4f * size, size, DARK, name[k]);
    }
    cone_line(c, &p, (double[3]){0}, (double[3]){reach, reach, reach}, 1.0f, FAINT);
    draw_dots(c, &p, s, place_in_cone, false);
    for (int ring = 1; ring <= RINGS; ring++) {
        const double pressure = tip + (reach - tip) * ring / RINGS;
        for (int k = 0; k < AROUND; k++) {
            double a[3], b[3];
            on_cone(s, pressure, 2.0 * M_PI * k / AROUND, a);
            on_cone(s, pressure, 2.0 * M_PI * (k + 1) / AROUND, b);
            cone_line(c, &p, a, b, ring == RINGS ? 1.6f : 0.9f, CONE);
        }
    }
    for (int rib = 0; rib < RIBS; rib++) {
        double a[3], b[3];
        on_cone(s, tip, 0.0, a);
        on_cone(s, reach, 2.0 * M_PI * rib / RIBS, b);
        cone_line(c, &p, a, b, 0.9f, CONE);
    }
    rp_canvas_text(c, p.left, p.top - 1.3f * size, size, DARK,
                   "principal stresses 1, 2, 3 and the yield cone");
}

static void draw_wedge(rp_canvas *c, const panel *at, const scatter *s)
{
    panel p = *at;
    const double alpha = s->yield->slope, cohesion = s->yield->def->cohesion;
    const double side = fminf(p.right - p.left, p.bottom - p.top);
    p.right = p.left + (float)side;
    p.top = p.bottom - (float)side;
    p.x0 = p.y0 = -0.05 * s->most - cohesion / fmax(2.0 * alpha, 1e-9);
    p.x1 = p.y1 = 2.0 * s->most;
    draw_axis_x(c, &p, "principal stress 1");
    draw_axis_y(c, &p, "principal stress 2");
    draw_dots(c, &p, s, place_in_plane, false);
    for (int k = 0; k < 2; k++) {
        // half the difference of the two is the shear over sqrt 2
        const double tip = -cohesion / fmax(2.0 * alpha, 1e-9);
        const double end = (p.x1 - cohesion / sqrt(2.0)) / (1.0 + sqrt(2.0) * alpha);
        const double r = (cohesion + 2.0 * alpha * end) / sqrt(2.0) * (k == 0 ? 1.0 : -1.0);
        rp_canvas_line(c, px(&p, tip), py(&p, tip), px(&p, end + r), py(&p, end - r), 1.8f, CONE);
    }
}

// Above: how many particles are of each case, of what material, and when, all in one row.
static void draw_key(rp_canvas *c, const scatter *s, const char *time)
{
    static const char *const words[3] = {"I  inside the cone", "II  apart", "III  sliding"};
    const int64_t all = s->count[0] + s->count[1] + s->count[2];
    char text[3][96], material[160];
    snprintf(material, sizeof material, "material: %s", s->yield->def->name);
    // of all, per size of a letter
    float wide = 7.5f + rp_canvas_text_width(1.0f, material) + rp_canvas_text_width(1.0f, time);
    for (int k = 0; k < 3; k++) {
        const double share = all > 0 ? 100.0 * (double)s->count[k] / (double)all : 0.0;
        snprintf(text[k], sizeof text[k], "%s: %" PRId64 " (%.0f %%)", words[k], s->count[k],
                 share);
        wide += 3.2f + rp_canvas_text_width(1.0f, text[k]);
    }
    const float size = fminf(letter_size(c), (float)c->width / wide);
    float x = 3.0f * size;
    for (int k = 0; k < 3; k++) {
        rp_canvas_disc(c, x, 2.5f * size, 0.55f * size, ink_of((rp_case)k, 1.0f));
        rp_canvas_text(c, x + 1.2f * size, 3.0f * size, size, DARK, text[k]);
        x += 3.2f * size + rp_canvas_text_width(size, text[k]);
    }
    rp_canvas_text(c, x, 3.0f * size, size, DARK, material);
    rp_canvas_text(c, (float)c->width - 2.0f * size - rp_canvas_text_width(size, time), 3.0f * size,
                   size, DARK, time);
}

rp_result rp_plot_yield(const rp_render *render, const char *path, rp_canvas *c)
{
    rp_reading r;
    scatter s = {0};
    char time[64] = "";
    RP_TRY(rp_reading_begin(render, path, 0, &r));
    if (render->def.stamp) {
        rp_legend_time(r.info->time, r.info->fps, time);
    }
    const rp_result result = read_scatter(&render->quantity, &r, &s);
    rp_reading_end(&r);
    if (result == RP_OK) {
        const float size = letter_size(c), w = (float)c->width, h = (float)c->height;
        const panel left = {4.0f * size + (s.d == 2 ? 4.0f * size : 0.0f),
                            0.5f * w - 2.0f * size,
                            8.0f * size,
                            h - 6.0f * size,
                            0,
                            1,
                            0,
                            1};
        const panel right = {
            0.5f * w + 7.0f * size, w - 3.0f * size, 8.0f * size, h - 6.0f * size, 0, 1, 0, 1};
        memset(c->rgb, 250, (size_t)c->width * (size_t)c->height * 3);
        if (s.d == 3) {
            draw_cone(c, &left, &s);
        } else {
            draw_wedge(c, &left, &s);
        }
        draw_meridian(c, &right, &s);
        draw_key(c, &s, time);
    }
    free(s.dot);
    return result;
}
