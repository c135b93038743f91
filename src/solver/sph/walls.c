#include "solver/sph/walls.h"

#include "base/result.h"
#include "base/threads.h"

#include <string.h>

void rp_sph_walls_free(rp_sph_walls *walls, const rp_allocator *a)
{
    rp_buffer_free(&walls->entry, a);
    rp_buffer_free(&walls->first, a);
}

typedef struct finding {
    const rp_sph_job *job;
    const rp_collider *collider;
    int colliders;
    double dt;
    uint32_t *first;    // [page + 1]
    rp_sph_wall *entry; // NULL: they are counted
} finding;

static void place_of(const rp_set *set, const rp_page *page, rp_local slot, double x[3])
{
    x[2] = 0.0;
    for (int a = 0; a < set->layout.dim; a++) {
        x[a] = rp_set_value(set, RP_COL_POSITION, slot, a, page);
    }
}

static void add_real(const rp_set *set, void *array, rp_local slot, double value)
{
    if (set->layout.precision == RP_SINGLE) {
        ((float *)array)[slot] += (float)value;
    } else {
        ((double *)array)[slot] += value;
    }
}

// The colliders that are near one particle become entries, and part of its surroundings.
static void weigh(const finding *f, rp_local slot, rp_sph_wall *entry, int count)
{
    const rp_set *set = f->job->set;
    const rp_sph_kernel *k = f->job->kernel;
    double share[RP_COLLIDER_LIMIT], open = 1.0, stiffness = 0.0;
    for (int i = 0; i < count; i++) {
        share[i] = rp_sph_wall_fill(k, entry[i].distance / set->layout.h);
        open *= 1.0 - share[i];
    }
    for (int i = 0; i < count; i++) {
        double others = 1.0;
        for (int j = 0; j < count; j++) {
            others *= j == i ? 1.0 : 1.0 - share[j];
        }
        entry[i].weight = others * rp_sph_wall_slope(k, entry[i].distance / set->layout.h);
        stiffness += 4.0 * entry[i].weight * entry[i].weight;
    }
    add_real(set, f->job->fill, slot, 1.0 - open);
    add_real(set, f->job->stiffness, slot, stiffness);
}

static void find_page(void *context, int64_t index, int thread)
{
    (void)thread;
    const finding *f = context;
    const rp_set *set = f->job->set;
    const rp_page *page = &rp_set_page(set)[index];
    const double h = set->layout.h;
    double middle[3];
    const double reach = rp_layout_page_ball(&set->layout, page->block, middle);
    uint16_t near[RP_COLLIDER_LIMIT];
    int nears = 0;
    uint32_t at = f->entry != NULL ? f->first[index] : 0;
    for (int c = 0; c < f->colliders; c++) {
        if (rp_collider_distance(&f->collider[c], middle) < reach + h) {
            near[nears++] = (uint16_t)c;
        }
    }
    for (rp_local slot = page->first; slot < page->first + page->count && nears > 0; slot++) {
        double x[3], normal[3];
        int count = 0;
        place_of(set, page, slot, x);
        for (int k = 0; k < nears; k++) {
            const rp_collider *c = &f->collider[near[k]];
            const double distance = rp_collider_look(c, x, normal);
            if (!(distance < h)) {
                continue;
            }
            if (f->entry != NULL) {
                rp_sph_wall *w = &f->entry[at + (uint32_t)count];
                *w = (rp_sph_wall){.slot = slot,
                                   .collider = near[k],
                                   .contact = (uint8_t)c->contact,
                                   .friction = c->friction,
                                   .distance = distance};
                memcpy(w->at, x, sizeof x);
                memcpy(w->normal, normal, sizeof normal);
                if (c->moves) {
                    rp_collider_velocity(c, x, f->dt, w->velocity);
                }
            }
            count++;
        }
        if (f->entry != NULL && count > 0) {
            weigh(f, slot, f->entry + at, count);
        }
        at += (uint32_t)count;
    }
    if (f->entry == NULL) {
        f->first[index + 1] = at;
    }
}

rp_result rp_sph_walls_find(rp_sph_walls *walls, const rp_collider *collider, int colliders,
                            double dt, int threads, rp_sph_job *job)
{
    const rp_set *set = job->set;
    const size_t pages = (size_t)set->pages;
    RP_ASSERT(colliders <= RP_COLLIDER_LIMIT);
    finding f = {.job = job, .collider = collider, .colliders = colliders, .dt = dt};
    if (walls->first.bytes < (pages + 1) * sizeof(uint32_t)) {
        RP_TRY(rp_buffer_reserve(&walls->first, set->allocator, (2 * pages + 1) * sizeof(uint32_t),
                                 0, "particles near colliders"));
    }
    f.first = walls->first.data;
    f.first[0] = 0;
    rp_parallel_for(threads, set->pages, 4, find_page, &f);
    for (size_t p = 0; p < pages; p++) {
        f.first[p + 1] += f.first[p];
    }
    const size_t bytes = (size_t)f.first[pages] * sizeof(rp_sph_wall);
    if (walls->entry.bytes < bytes) {
        RP_TRY(rp_buffer_reserve(&walls->entry, set->allocator, bytes + bytes / 4, 0,
                                 "particles near colliders"));
    }
    job->walls = f.first;
    job->wall = f.entry = walls->entry.data;
    if (bytes > 0) {
        rp_parallel_for(threads, set->pages, 4, find_page, &f);
    }
    return RP_OK;
}

void rp_sph_walls_sum(const rp_sph_job *job, rp_body *body)
{
    const rp_set *set = job->set;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (uint32_t w = job->walls[p]; w < job->walls[p + 1]; w++) {
            const rp_sph_wall *wall = &job->wall[w];
            double mass, volume, given[3];
            rp_set_measure(set, page, wall->slot, &mass, &volume);
            for (int a = 0; a < 3; a++) {
                given[a] = -mass * wall->push[a];
            }
            // pushed where it was, it went on along its velocity: that turns nothing
            rp_body_push(&body[wall->collider], wall->at, given);
            for (int a = 0; a < 3; a++) {
                body[wall->collider].worked -= given[a] * wall->velocity[a];
            }
        }
    }
}
