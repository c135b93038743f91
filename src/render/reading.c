#include "render/show.h"

#include <stdlib.h>

void rp_reading_end(rp_reading *r)
{
    rp_frame_close(r->frame);
    free(r->group);
    free(r->position);
    free(r->number);
    free(r->source);
    free(r->scratch);
    *r = (rp_reading){0};
}

rp_result rp_reading_begin(const char *path, rp_reading *r)
{
    *r = (rp_reading){0};
    RP_TRY(rp_frame_open(path, &r->frame));
    rp_frame_get_info(r->frame, &r->info);
    r->position = malloc(RP_SHOW_CHUNK * sizeof *r->position);
    r->number = malloc(RP_SHOW_CHUNK * sizeof *r->number);
    r->source = malloc(RP_SHOW_CHUNK * sizeof *r->source);
    r->scratch = malloc(RP_SHOW_CHUNK * 16 * sizeof *r->scratch);
    const rp_result result =
        r->position != NULL && r->number != NULL && r->source != NULL && r->scratch != NULL
            ? rp_frame_groups(r->frame, &r->group, &r->groups)
            : rp_fail(RP_ERR_MEMORY, "no memory to read %s", path);
    if (result != RP_OK) {
        rp_reading_end(r);
    }
    return result;
}

static double radius_of(const rp_render *render, const rp_reading *r, double group)
{
    const bool known = group >= 0.0 && group < r->groups;
    const double volume = known ? r->group[(int)group].volume : 0.0;
    return render->def.radius > 0.0 ? render->def.radius
           : volume > 0.0           ? rp_radius_of_volume(volume, r->info.dimension)
                                    : 0.25 * r->info.dx;
}

// Grains have the colour of their material, where the scene gives it one.
static void paint(const rp_render *render, const rp_reading *r, double group, double value,
                  unsigned char rgb[3])
{
    const bool known = group >= 0.0 && group < r->groups && render->record != NULL;
    double color[3];
    if (known && render->quantity.kind == RP_QUANTITY_GRAINS &&
        rp_record_material_color(render->record, r->group[(int)group].material, color)) {
        rp_grain_tint(color, value >= 0.0 && value < 0x1p64 ? (uint64_t)value : 0, rgb);
    } else {
        rp_quantity_color(&render->quantity, value, rgb);
    }
}

static rp_result read_chunk(const rp_render *render, rp_reading *r, int64_t first, int64_t count,
                            rp_crowd *crowd)
{
    const bool groups = rp_column_comps(r->frame, "group") == 1;
    const int d = r->info.dimension;
    const bool moving = crowd->velocity != NULL && rp_column_comps(r->frame, "velocity") == d;
    RP_TRY(rp_frame_read(r->frame, "position", first, count, r->position[0]));
    RP_TRY(rp_quantity_read(&render->quantity, r->frame, r->group, r->groups, first, count,
                            r->scratch, r->number));
    if (groups) {
        RP_TRY(rp_frame_read(r->frame, "group", first, count, r->source));
    }
    if (moving) {
        RP_TRY(rp_frame_read(r->frame, "velocity", first, count, r->scratch));
    }
    for (int64_t i = 0; i < count; i++) {
        const size_t at = rp_crowd_add(crowd, r->position[i]);
        if (at == SIZE_MAX) {
            continue;
        }
        paint(render, r, groups ? r->source[i] : -1.0, r->number[i], crowd->color[at]);
        crowd->radius[at] = (float)radius_of(render, r, groups ? r->source[i] : -1.0);
        for (int a = 0; a < 3 && crowd->velocity != NULL; a++) {
            const double v = moving && a < d ? r->scratch[i * d + a] : 0.0;
            crowd->velocity[at][a] = isfinite(v) ? (float)v : 0.0f;
        }
    }
    return RP_OK;
}

rp_result rp_show_read(const rp_render *render, const char *path, rp_crowd *crowd)
{
    rp_reading r;
    RP_TRY(rp_reading_begin(path, &r));
    rp_result result =
        rp_crowd_open(crowd, r.info.particles, r.info.dimension == 2, render->def.shutter > 0.0);
    if (result == RP_OK) {
        crowd->radius = malloc((crowd->room + 1) * sizeof *crowd->radius);
        if (crowd->radius == NULL) {
            result = rp_fail(RP_ERR_MEMORY, "no memory for the %lld particles of %s",
                             (long long)r.info.particles, path);
        }
        for (int64_t first = 0; result == RP_OK && first < r.info.particles;
             first += RP_SHOW_CHUNK) {
            const int64_t left = r.info.particles - first;
            result =
                read_chunk(render, &r, first, left < RP_SHOW_CHUNK ? left : RP_SHOW_CHUNK, crowd);
        }
        if (result != RP_OK) {
            rp_crowd_free(crowd);
        }
    }
    rp_reading_end(&r);
    return result;
}
