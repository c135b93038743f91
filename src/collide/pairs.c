#include "collide/pairs.h"

#include "base/result.h"

#include <string.h>

rp_pairs rp_pairs_default(void)
{
    return (rp_pairs){.all = {.contact = RP_SEPARATE, .normals = RP_NORMALS_AUTO, .gap = true}};
}

void rp_pairs_free(rp_pairs *pairs, const rp_allocator *a) { rp_buffer_free(&pairs->list, a); }

// Where the pair is, or would be.
static int place_of(const rp_pairs *pairs, int b, int d, bool *there)
{
    const rp_pair *list = pairs->list.data;
    int low = 0, high = pairs->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        const rp_pair *p = &list[middle];
        if (p->body[0] < b || (p->body[0] == b && p->body[1] < d)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *there = low < pairs->count && list[low].body[0] == b && list[low].body[1] == d;
    return low;
}

rp_result rp_pairs_set(rp_pairs *pairs, const rp_allocator *a, int b, int d,
                       const rp_pair_rule *rule)
{
    const int lower = b < d ? b : d, upper = b < d ? d : b;
    bool there;
    const int at = place_of(pairs, lower, upper, &there);
    if (!there) {
        const size_t held = (size_t)pairs->count * sizeof(rp_pair);
        if (held + sizeof(rp_pair) > pairs->list.bytes) {
            const rp_result result = rp_buffer_reserve(
                &pairs->list, a, 2 * held + 16 * sizeof(rp_pair), held, "pairs of bodies");
            if (result != RP_OK) {
                return result;
            }
        }
        rp_pair *list = pairs->list.data;
        memmove(&list[at + 1], &list[at], (size_t)(pairs->count - at) * sizeof *list);
        list[at] = (rp_pair){.body = {(uint16_t)lower, (uint16_t)upper}};
        pairs->count++;
    }
    ((rp_pair *)pairs->list.data)[at].rule = *rule;
    return RP_OK;
}

const rp_pair_rule *rp_pairs_rule(const rp_pairs *pairs, int b, int d)
{
    bool there = false;
    const int at = pairs->count > 0 ? place_of(pairs, b, d, &there) : 0;
    return there ? &((const rp_pair *)pairs->list.data)[at].rule : &pairs->all;
}

static rp_local load_place(const rp_pair_loads *loads, int b, int d)
{
    rp_local low = 0, high = loads->count;
    while (low < high) {
        const rp_local middle = low + (high - low) / 2;
        const rp_pair_load *p = rp_pair_loads_at(loads, middle);
        if (p->body[0] < b || (p->body[0] == b && p->body[1] < d)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

rp_result rp_pair_loads_reserve(rp_pair_loads *loads, const rp_allocator *a, int64_t more)
{
    const size_t each = sizeof(rp_pair_load), held = (size_t)loads->count * each;
    const size_t wanted = held + (size_t)more * each;
    if (wanted <= loads->list.bytes) {
        return RP_OK;
    }
    return rp_buffer_reserve(&loads->list, a, wanted + wanted / 2, held, "pairs that touch");
}

void rp_pair_loads_add(rp_pair_loads *loads, int b, int d, const double impulse[3], double rubbed)
{
    const rp_local at = load_place(loads, b, d);
    rp_pair_load *list = loads->list.data;
    if (at == loads->count || list[at].body[0] != b || list[at].body[1] != d) {
        RP_ASSERT((size_t)(loads->count + 1) * sizeof *list <= loads->list.bytes);
        memmove(&list[at + 1], &list[at], (size_t)(loads->count - at) * sizeof *list);
        list[at] = (rp_pair_load){.body = {b, d}};
        loads->count++;
    }
    for (int k = 0; k < 3; k++) {
        list[at].given[k] += impulse[k];
    }
    list[at].rubbed[0] += rubbed;
}

void rp_pair_loads_end_frame(rp_pair_loads *loads, double fps)
{
    rp_pair_load *list = loads->list.data;
    rp_local kept = 0;
    for (rp_local i = 0; i < loads->count; i++) {
        rp_pair_load p = list[i];
        bool touched = false;
        for (int k = 0; k < 3; k++) {
            touched = touched || p.given[k] != 0.0;
            p.force[k] = p.given[k] * fps;
            p.given[k] = 0.0;
        }
        p.rubbed[1] = p.rubbed[0];
        p.rubbed[0] = 0.0;
        if (touched) {
            list[kept++] = p;
        }
    }
    loads->count = kept;
}

void rp_pair_loads_forget(rp_pair_loads *loads)
{
    rp_pair_load *list = loads->list.data;
    for (rp_local i = 0; i < loads->count; i++) {
        memset(list[i].given, 0, sizeof list[i].given);
        list[i].rubbed[0] = 0.0;
    }
}
