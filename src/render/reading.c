#include "render/show.h"
#include "render/tone.h"

#include <stdlib.h>
#include <string.h>

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

// Where colours stand for data every particle is shown.
static bool is_pool(const rp_render *render, const rp_reading *r, int species)
{
    const char *name = rp_reader_species(r->reader, species);
    return render->quantity.kind == RP_QUANTITY_GRAINS && !render->def.droplets && name != NULL &&
           strcmp(name, "water") == 0;
}

// Marks without mass: among grains they are out of sight.
static bool is_glue(const rp_render *render, const rp_reading *r, int species)
{
    const char *name = rp_reader_species(r->reader, species);
    return render->quantity.kind == RP_QUANTITY_GRAINS && name != NULL && strcmp(name, "glue") == 0;
}

static bool has_pool(const rp_render *render, const rp_reading *r)
{
    for (int i = 0; rp_reader_species(r->reader, i) != NULL; i++) {
        if (is_pool(render, r, i)) {
            return true;
        }
    }
    return false;
}

static void take_color(const rp_render *render, int material, rp_pool *water)
{
    double color[3];
    if (water->count == 0 && render->record != NULL &&
        rp_record_material_color(render->record, material, color)) {
        water->colored = true;
        water->color = (vec){rp_linear_of((float)color[0]), rp_linear_of((float)color[1]),
                             rp_linear_of((float)color[2])};
    }
}

static rp_result read_crowd(const rp_render *render, rp_reading *r, rp_crowd *crowd, rp_pool *water)
{
    const rp_batch *b = &r->batch;
    for (int64_t left; (left = r->info->particles - b->next) > 0;) {
        RP_TRY(rp_reading_at(render, r, b->next, left < RP_BATCH ? left : RP_BATCH));
        for (int64_t i = 0; i < b->count; i++) {
            if (is_glue(render, r, b->species[i])) {
                continue;
            }
            if (water->room > 0 && is_pool(render, r, b->species[i])) {
                take_color(render, b->material[i], water);
                rp_pool_add(water, b->position[i], crowd->velocity != NULL ? b->velocity[i] : NULL,
                            b->volume[i]);
                continue;
            }
            const size_t at = rp_crowd_add(crowd, b->position[i]);
            if (at == SIZE_MAX) {
                continue;
            }
            rp_quantity_color(&render->quantity, r->number[i], crowd->color[at]);
            crowd->radius[at] =
                (float)(render->def.radius > 0.0 ? render->def.radius
                        : b->volume[i] > 0.0 ? rp_radius_of_volume(b->volume[i], r->info->dimension)
                                             : 0.25 * r->info->dx);
            if (crowd->volume != NULL) {
                crowd->volume[at] = (float)b->volume[i];
            }
            for (int a = 0; a < 3 && crowd->velocity != NULL; a++) {
                const double v = b->velocity[i][a];
                crowd->velocity[at][a] = isfinite(v) ? (float)v : 0.0f;
            }
        }
    }
    return RP_OK;
}

rp_result rp_show_read(const rp_render *render, const char *path, rp_crowd *crowd, rp_pool *water)
{
    const bool moving = render->def.shutter > 0.0;
    rp_reading r;
    *water = (rp_pool){0};
    RP_TRY(rp_reading_begin(render, path,
                            RP_READ_POSITION | RP_READ_MASS | (moving ? RP_READ_VELOCITY : 0), &r));
    const bool pool = has_pool(render, &r);
    rp_result result = rp_crowd_open(crowd, r.info->particles, r.info->dimension == 2, moving);
    if (result == RP_OK && pool) {
        result = rp_pool_open(water, r.info->particles, moving);
    }
    if (result == RP_OK) {
        crowd->radius = malloc((crowd->room + 1) * sizeof *crowd->radius);
        crowd->volume = pool ? malloc((crowd->room + 1) * sizeof *crowd->volume) : NULL;
        result = crowd->radius != NULL && pool == (crowd->volume != NULL)
                     ? read_crowd(render, &r, crowd, water)
                     : rp_fail(RP_ERR_MEMORY, "no memory for the %lld particles of %s",
                               (long long)r.info->particles, path);
    }
    if (result != RP_OK) {
        rp_crowd_free(crowd);
        rp_pool_free(water);
    }
    rp_reading_end(&r);
    return result;
}
