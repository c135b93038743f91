#include "render/quantity.h"

#include "render/crowd.h"
#include "render/palette.h"
#include "repose/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "grains", "speed", "pressure", "smooth_pressure", "case", "material", "body", "height", "id"};
enum { WORDS = sizeof words / sizeof words[0] };

// ---- choosing ----

static rp_result unknown(const char *name, const rp_reader *reader)
{
    rp_nearest nearest = rp_nearest_start(name);
    rp_frame_column_info column[64];
    char list[64 * 65] = "";
    for (int i = 0; i < WORDS; i++) {
        rp_nearest_try(&nearest, words[i]);
    }
    for (int i = 0; i < rp_reader_columns(reader) && i < 64; i++) {
        if (rp_reader_column(reader, i, &column[i]) == RP_OK) {
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
                   "color: no quantity '%s'; want grains, speed, pressure, smooth_pressure, case, "
                   "material, body, height, id or a column:%s",
                   name, list);
}

// The cone of each material, to tell cases by; none where no material is known.
static rp_result take_cones(rp_quantity *q, const rp_reader *reader)
{
    rp_record_info info = {0};
    if (q->record != NULL) {
        rp_record_get_info(q->record, &info);
    }
    if (info.materials == 0) {
        return RP_OK;
    }
    q->yield = calloc((size_t)info.materials, sizeof *q->yield);
    if (q->yield == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for materials");
    }
    q->materials = info.materials;
    for (int i = 0; i < info.materials; i++) {
        q->yield[i] =
            rp_yield_of(rp_record_material(q->record, i), rp_reader_info(reader)->dimension);
    }
    return RP_OK;
}

// What has no cone is a class of its own, where there is any.
static bool only_sand(const rp_quantity *q)
{
    rp_record_info info;
    rp_record_get_info(q->record, &info);
    bool only = true;
    for (int i = 0; i < info.materials; i++) {
        only = only && rp_record_material(q->record, i)->kind == RP_SAND;
    }
    return only;
}

static void label(rp_quantity *q, const rp_reader *example)
{
    static const char *const cases[] = {[RP_CASE_INSIDE] = "I  inside the cone",
                                        [RP_CASE_APART] = "II  apart",
                                        [RP_CASE_SLIDING] = "III  sliding",
                                        [RP_CASE_NONE] = "no sand"};
    for (int i = 0; i < (int)(sizeof q->label / sizeof q->label[0]); i++) {
        const char *text = q->is_case && i < 4 ? cases[i] : rp_reader_label(example, q->name, i);
        snprintf(q->label[i], sizeof q->label[i], "%s", text != NULL ? text : "");
    }
    q->classes = q->is_case                     ? 3 + !only_sand(q)
                 : strcmp(q->name, "body") == 0 ? rp_reader_fields(example)
                                                : 0;
}

rp_result rp_quantity_choose(rp_quantity *q, const char *name, const rp_reader *example)
{
    rp_value_info info = {"1", .needs = RP_READ_STRAIN, .names = true}; // as a case has it
    char who[80];
    name = name != NULL ? name : "grains";
    *q = (rp_quantity){.kind = RP_QUANTITY_GRAINS, .record = rp_reader_record(example)};
    snprintf(q->name, sizeof q->name, "%s", name);
    snprintf(who, sizeof who, "color: %s", q->name);
    if (strcmp(name, "grains") == 0) {
        return RP_OK;
    }
    q->is_case = strcmp(name, "case") == 0;
    if (strlen(name) >= sizeof q->name || (!q->is_case && !rp_reader_knows(example, name, &info))) {
        return unknown(name, example);
    }
    RP_TRY(rp_reader_need(example, info.needs, who));
    // a diagram of pressures shows the cone too
    if (q->is_case || strcmp(name, "pressure") == 0) {
        RP_TRY(take_cones(q, example));
    }
    if (q->is_case && q->yield == NULL) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "%s needs the materials, which are in run.json of a run's folder", who);
    }
    q->kind = info.names ? RP_QUANTITY_CLASSES : RP_QUANTITY_NUMBERS;
    q->length = info.length;
    snprintf(q->unit, sizeof q->unit, "%s", strcmp(info.unit, "1") != 0 ? info.unit : "");
    if (info.names) {
        label(q, example);
    }
    return RP_OK;
}

void rp_quantity_free(rp_quantity *q)
{
    free(q->yield);
    q->yield = NULL;
}

// ---- reading ----

unsigned rp_quantity_wants(const rp_quantity *q)
{
    return q->kind == RP_QUANTITY_GRAINS ? RP_READ_ID | RP_READ_GROUP
           : q->is_case                  ? RP_READ_GROUP | RP_READ_STRAIN | RP_READ_STATE
                                         : 0;
}

rp_result rp_quantity_read(const rp_quantity *q, rp_reader *reader, const rp_batch *b, double *out)
{
    if (q->kind != RP_QUANTITY_GRAINS && !q->is_case) {
        return rp_reader_values(reader, q->name, b->first, b->count, out);
    }
    RP_TRY(rp_reader_need(reader, q->is_case ? RP_READ_STRAIN : 0, "color: case"));
    for (int64_t i = 0; i < b->count; i++) {
        const int material = b->material[i];
        double color[3];
        if (q->is_case) {
            const rp_yield *y = &q->yield[material < q->materials ? material : 0];
            out[i] = rp_stress_case(y, b->strain[i], b->volume_gain[i], b->hardening[i]);
        } else {
            const bool tinted =
                q->record != NULL && rp_record_material_color(q->record, material, color);
            out[i] = rp_grain_shade(b->id[i]) + (tinted ? 3 * (material + 1) : 0);
        }
    }
    return RP_OK;
}

// ---- colours ----

void rp_quantity_color(const rp_quantity *q, double value, unsigned char rgb[3])
{
    static const unsigned char case_color[3][3] = {{46, 160, 67}, {214, 52, 44}, {40, 98, 214}};
    const int whole = value >= 0.0 && value < 1e6 ? (int)value : 0;
    double color[3];
    switch (q->kind) {
    case RP_QUANTITY_GRAINS:
        rp_shade_color(
            q->record != NULL && rp_record_material_color(q->record, whole / 3 - 1, color) ? color
                                                                                           : NULL,
            whole % 3, rgb);
        return;
    case RP_QUANTITY_CLASSES:
        if (q->is_case) {
            memcpy(rgb, case_color[value < 0.5 ? 0 : value < 1.5 ? 1 : 2], 3);
        } else {
            rp_palette_class(whole, rgb);
        }
        return;
    case RP_QUANTITY_NUMBERS:
        rp_palette_ramp((value - q->low) / (q->high - q->low), rgb);
    }
}
