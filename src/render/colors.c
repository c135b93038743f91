// The numbers behind the colours of pictures, for others.
#include "repose/colors.h"

#include "render/palette.h"
#include "render/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rp_colors {
    rp_quantity quantity;
    rp_reader *reader;
};

rp_result rp_colors_open(rp_reader *reader, const char *name, rp_colors **out)
{
    *out = NULL;
    rp_colors *colors = calloc(1, sizeof *colors);
    if (colors == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: what particles are coloured by");
    }
    colors->reader = reader;
    const rp_result result = rp_quantity_choose(&colors->quantity, name, reader);
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
    rp_batch batch = {.want = rp_quantity_wants(&colors->quantity)};
    rp_result result;
    do {
        result = rp_reader_next(colors->reader, &batch);
        result = result == RP_OK ? rp_quantity_read(&colors->quantity, colors->reader, &batch,
                                                    out + batch.first)
                                 : result;
    } while (result == RP_OK && batch.count > 0);
    rp_batch_free(&batch);
    return result;
}

void rp_colors_rgb(const rp_colors *colors, double value, unsigned char rgb[3])
{
    rp_quantity_color(&colors->quantity, value, rgb);
}

void rp_color_ramp(double t, unsigned char rgb[3]) { rp_palette_ramp(t, rgb); }
