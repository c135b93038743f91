// The numbers behind the colours of pictures, for others.
#include "repose/colors.h"

#include "render/palette.h"
#include "render/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rp_colors {
    rp_quantity quantity;
    const rp_frame *frame;
    rp_frame_group *group;
    int groups;
};

rp_result rp_colors_open(const rp_record *record, const rp_frame *frame, const char *name,
                         rp_colors **out)
{
    *out = NULL;
    rp_colors *colors = calloc(1, sizeof *colors);
    if (colors == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: what particles are coloured by");
    }
    colors->frame = frame;
    rp_result result = rp_quantity_choose(&colors->quantity, name, record, frame);
    if (result == RP_OK) {
        result = rp_frame_groups(frame, &colors->group, &colors->groups);
    }
    if (result != RP_OK) {
        rp_colors_close(colors);
        return result;
    }
    colors->quantity.low = 0.0;
    colors->quantity.high = 1.0;
    *out = colors;
    return RP_OK;
}

void rp_colors_close(rp_colors *colors)
{
    if (colors != NULL) {
        rp_quantity_free(&colors->quantity);
        free(colors->group);
        free(colors);
    }
}

void rp_colors_get_info(const rp_colors *colors, rp_colors_info *out)
{
    const rp_quantity *q = &colors->quantity;
    out->kind = (rp_color_kind)q->kind;
    memcpy(out->name, q->name, sizeof out->name);
    memcpy(out->unit, q->unit, sizeof out->unit);
    memcpy(out->label, q->label, sizeof out->label);
}

rp_result rp_colors_read(const rp_colors *colors, double *out)
{
    enum { ROWS = 65536 };
    rp_frame_info info;
    rp_frame_get_info(colors->frame, &info);
    double *scratch = malloc((size_t)ROWS * 16 * sizeof *scratch);
    rp_result result = scratch != NULL ? RP_OK : rp_fail(RP_ERR_MEMORY, "out of memory: colours");
    for (int64_t first = 0; first < info.particles && result == RP_OK; first += ROWS) {
        const int64_t count = info.particles - first < ROWS ? info.particles - first : ROWS;
        result = rp_quantity_read(&colors->quantity, colors->frame, colors->group, colors->groups,
                                  first, count, scratch, out + first);
    }
    free(scratch);
    return result;
}

void rp_colors_rgb(const rp_colors *colors, double value, unsigned char rgb[3])
{
    rp_quantity_color(&colors->quantity, value, rgb);
}

void rp_color_ramp(double t, unsigned char rgb[3]) { rp_palette_ramp(t, rgb); }
