#include "render/show.h"

#include <stdlib.h>

void rp_reading_end(rp_reading *r)
{
    rp_reader_close(r->reader);
    rp_batch_free(&r->batch);
    free(r->number);
    *r = (rp_reading){0};
}

rp_result rp_reading_begin(const rp_render *render, const char *path, unsigned want, rp_reading *r)
{
    *r = (rp_reading){.batch.want = want | rp_quantity_wants(&render->quantity)};
    RP_TRY(rp_reader_open(path, render->record, &r->reader));
    r->info = rp_reader_info(r->reader);
    r->number = malloc(RP_BATCH * sizeof *r->number);
    if (r->number == NULL) {
        rp_reading_end(r);
        return rp_fail(RP_ERR_MEMORY, "no memory to read %s", path);
    }
    return RP_OK;
}

rp_result rp_reading_at(const rp_render *render, rp_reading *r, int64_t first, int64_t count)
{
    RP_TRY(rp_reader_read(r->reader, first, count, &r->batch));
    return rp_quantity_read(&render->quantity, r->reader, &r->batch, r->number);
}

static rp_result read_crowd(const rp_render *render, rp_reading *r, rp_crowd *crowd)
{
    const rp_batch *b = &r->batch;
    for (int64_t left; (left = r->info->particles - b->next) > 0;) {
        RP_TRY(rp_reading_at(render, r, b->next, left < RP_BATCH ? left : RP_BATCH));
        for (int64_t i = 0; i < b->count; i++) {
            const size_t at = rp_crowd_add(crowd, b->position[i]);
            if (at == SIZE_MAX) {
                continue;
            }
            rp_quantity_color(&render->quantity, r->number[i], crowd->color[at]);
            crowd->radius[at] =
                (float)(render->def.radius > 0.0 ? render->def.radius
                        : b->volume[i] > 0.0 ? rp_radius_of_volume(b->volume[i], r->info->dimension)
                                             : 0.25 * r->info->dx);
            for (int a = 0; a < 3 && crowd->velocity != NULL; a++) {
                const double v = b->velocity[i][a];
                crowd->velocity[at][a] = isfinite(v) ? (float)v : 0.0f;
            }
        }
    }
    return RP_OK;
}

rp_result rp_show_read(const rp_render *render, const char *path, rp_crowd *crowd)
{
    const bool moving = render->def.shutter > 0.0;
    rp_reading r;
    RP_TRY(rp_reading_begin(render, path,
                            RP_READ_POSITION | RP_READ_MASS | (moving ? RP_READ_VELOCITY : 0), &r));
    rp_result result = rp_crowd_open(crowd, r.info->particles, r.info->dimension == 2, moving);
    if (result == RP_OK) {
        crowd->radius = malloc((crowd->room + 1) * sizeof *crowd->radius);
        result = crowd->radius != NULL
                     ? read_crowd(render, &r, crowd)
                     : rp_fail(RP_ERR_MEMORY, "no memory for the %lld particles of %s",
                               (long long)r.info->particles, path);
        if (result != RP_OK) {
            rp_crowd_free(crowd);
        }
    }
    rp_reading_end(&r);
    return result;
}
