// The surface of water of a frame.
#include "export/job.h"

#include "repose/skin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Water and all else of a frame, as the surface wants them.
typedef struct pools {
    double (*point)[3];
    float (*velocity)[3], *volume;
    int64_t water, sand, all; // water from the front, sand from the back
} pools;

static bool make_pools(pools *p, int64_t all)
{
    *p = (pools){.all = all};
    p->point = malloc(((size_t)all + 1) * sizeof *p->point);
    p->velocity = malloc(((size_t)all + 1) * sizeof *p->velocity);
    p->volume = malloc(((size_t)all + 1) * sizeof *p->volume);
    return p->point != NULL && p->velocity != NULL && p->volume != NULL;
}

static void free_pools(pools *p)
{
    free(p->point);
    free(p->velocity);
    free(p->volume);
}

static rp_result fill_pools(rp_reader *reader, pools *p, double *largest)
{
    rp_batch b = {.want = RP_READ_POSITION | RP_READ_VELOCITY | RP_READ_MASS};
    rp_result result = RP_OK;
    *largest = 0.0;
    while ((result = rp_reader_next(reader, &b)) == RP_OK && b.count > 0) {
        for (int64_t i = 0; i < b.count; i++) {
            const char *species = rp_reader_species(reader, b.species[i]);
            const bool water = species != NULL && strcmp(species, "water") == 0;
            if (b.flags[i] != 0 || !(b.volume[i] > 0.0)) {
                continue;
            }
            const int64_t at = water ? p->water++ : p->all - ++p->sand;
            memcpy(p->point[at], b.position[i], sizeof p->point[at]);
            p->volume[at] = (float)b.volume[i];
            *largest = water ? fmax(*largest, b.volume[i]) : *largest;
            for (int a = 0; a < 3; a++) {
                p->velocity[at][a] = (float)b.velocity[i][a];
            }
        }
    }
    rp_batch_free(&b);
    return result;
}

static rp_result make_surface(const rp_job *job, int64_t frame, const pools *p, bool flat,
                              double largest, rp_surface *surface, float (**velocity)[3])
{
    rp_skin_def def = rp_default_skin_def();
    rp_skin_wall *wall;
    rp_skin_face *face;
    rp_skin *skin;
    const int64_t sand = p->all - p->sand;
    def.spacing = flat ? sqrt(largest) : cbrt(largest);
    def.flat = flat;
    def.water = (rp_skin_crowd){(const double(*)[3])p->point, (const float(*)[3])p->velocity,
                                p->volume, p->water};
    def.sand =
        (rp_skin_crowd){(const double(*)[3])p->point + sand, NULL, p->volume + sand, p->sand};
    RP_TRY(rp_record_walls(job->record, frame, 0.0, &wall, &def.walls));
    def.wall = wall;
    rp_result result = rp_record_faces(job->record, frame, &face, &def.faces);
    def.face = face;
    result = result == RP_OK ? rp_skin_open(&def, &skin) : result;
    if (result == RP_OK) {
        result = rp_skin_surface(skin, surface, velocity);
        rp_skin_close(skin);
    }
    free(face);
    free(wall);
    return result;
}

rp_result rp_job_water(const rp_job *job, int64_t frame, rp_surface *surface, float (**velocity)[3])
{
    rp_reader *reader;
    pools p;
    double largest = 0.0;
    *surface = (rp_surface){0};
    *velocity = NULL;
    RP_TRY(rp_job_open(job, frame, &reader));
    const rp_frame_info *info = rp_reader_info(reader);
    rp_result result = make_pools(&p, info->particles)
                           ? fill_pools(reader, &p, &largest)
                           : rp_fail(RP_ERR_MEMORY, "no memory for the water of a frame");
    if (result == RP_OK && p.water > 0) {
        result = make_surface(job, frame, &p, info->dimension == 2, largest, surface, velocity);
    }
    free_pools(&p);
    rp_reader_close(reader);
    return result;
}
