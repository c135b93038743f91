#include "render/quantity.h"

#include "render/crowd.h"
#include "render/palette.h"
#include "repose/nearest.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"grains",   "speed", "pressure", "case",
                                    "material", "body",  "height",   "id"};
enum { WORDS = sizeof words / sizeof words[0] };

int rp_column_comps(const rp_frame *frame, const char *name)
{
    rp_frame_info info;
    rp_frame_column_info column;
    rp_frame_get_info(frame, &info);
    for (int i = 0; i < info.columns && rp_frame_column(frame, i, &column) == RP_OK; i++) {
        if (strcmp(column.name, name) == 0) {
            return column.comps;
        }
    }
    return 0;
}

// ---- choosing ----

static rp_result unknown(const char *name, const rp_frame *frame)
{
    rp_nearest nearest = rp_nearest_start(name);
    rp_frame_info info;
    rp_frame_column_info column[64];
    char list[64 * 65] = "";
    rp_frame_get_info(frame, &info);
    for (int i = 0; i < WORDS; i++) {
        rp_nearest_try(&nearest, words[i]);
    }
    for (int i = 0; i < info.columns && i < 64; i++) {
        if (rp_frame_column(frame, i, &column[i]) == RP_OK) {
            rp_nearest_try(&nearest, column[i].name);
            const size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, " %.63s", column[i].name);
        }
    }
    if (nearest.best != NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "color: no quantity '%s'; did you mean '%s'?", name,
                       nearest.best);
    }
    return rp_fail(RP_ERR_ARGUMENT,
                   "color: no quantity '%s'; want grains, speed, pressure, case, material, body, "
                   "height, id or a column:%s",
                   name, list);
}

// A column, or a component of one behind a dot: .x .y .z or its number.
static rp_result choose_column(rp_quantity *q, const char *name, const rp_frame *frame)
{
    const char *dot = strrchr(name, '.');
    const size_t length = dot != NULL ? (size_t)(dot - name) : strlen(name);
    if (length >= sizeof q->column) {
        return unknown(name, frame);
    }
    memcpy(q->column, name, length);
    q->comps = rp_column_comps(frame, q->column);
    q->comp = -1;
    if (dot != NULL) {
        q->comp = strlen(dot) == 2 && strchr("xyz", dot[1]) != NULL ? dot[1] - 'x'
                  : isdigit((unsigned char)dot[1])                  ? atoi(dot + 1)
                                                                    : q->comps;
    }
    if (q->comps == 0 || q->comp >= q->comps) {
        return unknown(name, frame);
    }
    rp_frame_info info;
    rp_frame_column_info column;
    rp_frame_get_info(frame, &info);
    for (int i = 0; i < info.columns && rp_frame_column(frame, i, &column) == RP_OK; i++) {
        if (strcmp(column.name, q->column) == 0) {
            snprintf(q->unit, sizeof q->unit, "%s", strcmp(column.unit, "1") ? column.unit : "");
        }
    }
    q->source = RP_FROM_COLUMN;
    q->kind = RP_QUANTITY_NUMBERS;
    snprintf(q->name, sizeof q->name, "%.60s", name);
    return RP_OK;
}

// What stress is made of: moduli from the scene, strain from the frame.
static rp_result take_materials(rp_quantity *q, const rp_record *record, const rp_frame *frame)
{
    rp_record_info info = {0};
    rp_frame_info about;
    rp_frame_get_info(frame, &about);
    if (record != NULL) {
        rp_record_get_info(record, &info);
    }
    if (info.materials == 0) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "color: %s needs the moduli of the materials, which are in "
                       "scene.resolved.json of a run's folder",
                       q->name);
    }
    if (rp_column_comps(frame, "strain") != (about.dimension == 2 ? 3 : 6)) {
        return rp_fail(RP_ERR_ARGUMENT, "color: %s needs the column strain, and there is none",
                       q->name);
    }
    q->yield = calloc((size_t)info.materials, sizeof *q->yield);
    if (q->yield == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for materials");
    }
    q->materials = info.materials;
    for (int i = 0; i < info.materials; i++) {
        q->yield[i] = rp_yield_of(rp_record_material(record, i), about.dimension);
    }
    return RP_OK;
}

static void label(rp_quantity *q, int number, const char *text)
{
    if (number < (int)(sizeof q->label / sizeof q->label[0])) {
        snprintf(q->label[number], sizeof q->label[0], "%s", text);
    }
}

rp_result rp_quantity_choose(rp_quantity *q, const char *name, const rp_record *record,
                             const rp_frame *example)
{
    *q = (rp_quantity){.kind = RP_QUANTITY_GRAINS, .comp = -1};
    name = name != NULL ? name : "grains";
    snprintf(q->name, sizeof q->name, "%.60s", name);
    if (strcmp(name, "grains") == 0) {
        strcpy(q->column, "id");
        q->comps = rp_column_comps(example, "id");
        return RP_OK;
    }
    if (strcmp(name, "pressure") == 0) {
        q->kind = RP_QUANTITY_NUMBERS;
        q->source = RP_FROM_PRESSURE;
        strcpy(q->unit, "Pa");
        return take_materials(q, record, example);
    }
    if (strcmp(name, "case") == 0) {
        q->kind = RP_QUANTITY_CLASSES;
        q->source = RP_FROM_CASE;
        q->classes = 3;
        label(q, RP_CASE_INSIDE, "I  inside the cone");
        label(q, RP_CASE_APART, "II  apart");
        label(q, RP_CASE_SLIDING, "III  sliding");
        return take_materials(q, record, example);
    }
    if (strcmp(name, "body") == 0) {
        q->kind = RP_QUANTITY_CLASSES;
        q->source = RP_FROM_BODY;
        return RP_OK;
    }
    const bool height = strcmp(name, "height") == 0, speed = strcmp(name, "speed") == 0;
    RP_TRY(choose_column(q, height ? "position.y" : speed ? "velocity" : name, example));
    snprintf(q->name, sizeof q->name, "%.60s", name);
    if (strcmp(name, "material") == 0) {
        rp_record_info info = {0};
        q->kind = RP_QUANTITY_CLASSES;
        q->unit[0] = '\0';
        if (record != NULL) {
            rp_record_get_info(record, &info);
        }
        for (int i = 0; i < info.materials; i++) {
            label(q, i, rp_record_material(record, i)->name);
        }
    }
    return RP_OK;
}

void rp_quantity_free(rp_quantity *q)
{
    free(q->yield);
    q->yield = NULL;
}

// ---- reading ----

static rp_result read_stress(const rp_quantity *q, const rp_frame *frame,
                             const rp_frame_group *group, int groups, int64_t first, int64_t count,
                             double *scratch, double *out)
{
    const int comps = rp_column_comps(frame, "strain");
    double *source = scratch + 6 * count, *gain = scratch + 7 * count, *q_of = scratch + 8 * count;
    const bool gains = rp_column_comps(frame, "volume_gain") == 1;
    const bool hardens = rp_column_comps(frame, "hardening") == 1;
    RP_TRY(rp_frame_read(frame, "strain", first, count, scratch));
    RP_TRY(rp_frame_read(frame, "group", first, count, source));
    if (gains) {
        RP_TRY(rp_frame_read(frame, "volume_gain", first, count, gain));
    }
    if (hardens) {
        RP_TRY(rp_frame_read(frame, "hardening", first, count, q_of));
    }
    for (int64_t i = 0; i < count; i++) {
        const int g = source[i] >= 0.0 && source[i] < groups ? (int)source[i] : -1;
        const int material = g >= 0 && group[g].material < q->materials ? group[g].material : 0;
        const rp_yield *y = &q->yield[material];
        const double *h = scratch + comps * i;
        out[i] = q->source == RP_FROM_PRESSURE
                     ? rp_stress_pressure(y, h)
                     : rp_stress_case(y, h, gains ? gain[i] : 0.0, hardens ? q_of[i] : 0.0);
    }
    return RP_OK;
}

rp_result rp_quantity_read(const rp_quantity *q, const rp_frame *frame, const rp_frame_group *group,
                           int groups, int64_t first, int64_t count, double *scratch, double *out)
{
    if (q->source == RP_FROM_PRESSURE || q->source == RP_FROM_CASE) {
        return read_stress(q, frame, group, groups, first, count, scratch, out);
    }
    if (q->source == RP_FROM_BODY) {
        RP_TRY(rp_frame_read(frame, "group", first, count, scratch));
        for (int64_t i = 0; i < count; i++) {
            const double g = scratch[i];
            out[i] = g >= 0.0 && g < groups ? group[(int)g].field : 0;
        }
        return RP_OK;
    }
    const int comps = rp_column_comps(frame, q->column);
    if (comps != q->comps || comps > 16 || comps == 0) {
        for (int64_t i = 0; i < count; i++) {
            out[i] = (double)(first + i); // a frame without ids: its particles are told by place
        }
        return q->kind == RP_QUANTITY_GRAINS
                   ? RP_OK
                   : rp_fail(RP_ERR_ARGUMENT, "color: a frame has no column '%s'", q->column);
    }
    RP_TRY(rp_frame_read(frame, q->column, first, count, scratch));
    for (int64_t i = 0; i < count; i++) {
        const double *x = scratch + comps * i;
        double square = 0.0;
        for (int k = 0; k < comps; k++) {
            square += x[k] * x[k];
        }
        out[i] = q->comp >= 0 ? x[q->comp] : comps == 1 ? x[0] : sqrt(square);
    }
    return RP_OK;
}

// ---- colours ----

void rp_quantity_color(const rp_quantity *q, double value, unsigned char rgb[3])
{
    static const unsigned char case_color[3][3] = {{46, 160, 67}, {214, 52, 44}, {40, 98, 214}};
    switch (q->kind) {
    case RP_QUANTITY_GRAINS:
        rp_grain_color(value >= 0.0 && value < 0x1p64 ? (uint64_t)value : 0, rgb);
        return;
    case RP_QUANTITY_CLASSES:
        if (q->source == RP_FROM_CASE) {
            memcpy(rgb, case_color[value < 0.5 ? 0 : value < 1.5 ? 1 : 2], 3);
        } else {
            rp_palette_class(value >= 0.0 && value < 1e6 ? (int)value : 0, rgb);
        }
        return;
    case RP_QUANTITY_NUMBERS:
        rp_palette_ramp((value - q->low) / (q->high - q->low), rgb);
    }
}
