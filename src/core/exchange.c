#include "core/exchange.h"

#include "base/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rp_result rp_tell_all(rp_comm *comm, const void *data, size_t bytes, rp_bytes *in)
{
    rp_bytes out[RP_RANK_LIMIT];
    for (int r = 0; r < comm->size; r++) {
        out[r] = (rp_bytes){data, bytes};
    }
    return comm->exchange(comm, out, in);
}

// A buffer that is written from its start on; the first failure stays.
static void *append(rp_buffer *buffer, size_t *used, size_t bytes, const rp_allocator *a,
                    rp_result *result)
{
    if (*result == RP_OK && buffer->bytes < *used + bytes) {
        *result = rp_buffer_reserve(buffer, a, 2 * *used + bytes + 1024, *used,
                                    "what other ranks are told");
    }
    if (*result != RP_OK) {
        return NULL;
    }
    *used += bytes;
    return (char *)buffer->data + *used - bytes;
}

// ---- reduce ----

rp_result rp_agree(rp_comm *comm, rp_result own, void *shared, size_t bytes)
{
    enum { SENTENCE = 1024, SHARED = 256 };
    if (rp_comm_alone(comm)) {
        return own;
    }
    struct {
        int32_t result;
        char sentence[SENTENCE];
        unsigned char shared[SHARED];
    } said = {.result = own};
    rp_bytes in[RP_RANK_LIMIT];
    RP_ASSERT(bytes <= SHARED);
    if (own != RP_OK) {
        snprintf(said.sentence, sizeof said.sentence, "%s", rp_last_error());
        if (bytes > 0) {
            memcpy(said.shared, shared, bytes);
        }
    }
    // most of the time there is nothing to say
    RP_TRY(rp_tell_all(comm, &said, own == RP_OK ? 0 : sizeof said, in));
    for (int r = 0; r < comm->size; r++) {
        if (in[r].bytes > 0) {
            memcpy(&said, in[r].data, sizeof said);
            if (bytes > 0) {
                memcpy(shared, said.shared, bytes);
            }
            return rp_fail((rp_result)said.result, "%s", said.sentence);
        }
    }
    return RP_OK;
}

rp_result rp_reduce_max(rp_comm *comm, double *value, int count)
{
    rp_bytes in[RP_RANK_LIMIT];
    if (rp_comm_alone(comm)) {
        return RP_OK;
    }
    RP_TRY(rp_tell_all(comm, value, (size_t)count * sizeof *value, in));
    for (int r = 0; r < comm->size; r++) {
        for (int i = 0; i < count; i++) {
            value[i] = fmax(value[i], ((const double *)in[r].data)[i]);
        }
    }
    return RP_OK;
}

rp_result rp_reduce_add(rp_comm *comm, int64_t *value, int count)
{
    rp_bytes in[RP_RANK_LIMIT];
    if (rp_comm_alone(comm)) {
        return RP_OK;
    }
    RP_TRY(rp_tell_all(comm, value, (size_t)count * sizeof *value, in));
    for (int i = 0; i < count; i++) {
        value[i] = 0;
        for (int r = 0; r < comm->size; r++) {
            value[i] += ((const int64_t *)in[r].data)[i];
        }
    }
    return RP_OK;
}

// A row of a sum; its numbers follow.
typedef struct row {
    uint64_t key;
    uint32_t field, which, order, padding;
    double number[];
} row;

void rp_sum_add(const rp_sum *sum, uint32_t which, const double *numbers)
{
    if (sum->add != NULL) {
        sum->add(sum->context, which, numbers);
        return;
    }
    double *into = sum->context;
    for (int i = 0; i < sum->numbers; i++) {
        into[i] += numbers[i];
    }
}

static size_t row_bytes(const rp_sum *sum)
{
    return sizeof(row) + (size_t)sum->numbers * sizeof(double);
}

void rp_sum_keep(rp_sum *sum, uint64_t key, uint16_t field, uint32_t which, const double *numbers)
{
    row *to = append(&sum->rows, &sum->bytes, row_bytes(sum), sum->allocator, &sum->result);
    if (to != NULL) {
        *to = (row){.key = key, .field = field, .which = which, .order = sum->count++};
        memcpy(to->number, numbers, (size_t)sum->numbers * sizeof(double));
    }
}

static int compare_rows(const void *pa, const void *pb)
{
    const row *a = *(const row *const *)pa, *b = *(const row *const *)pb;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->field != b->field) {
        return a->field < b->field ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

static rp_result merge_rows(rp_sum *sum)
{
    rp_bytes in[RP_RANK_LIMIT];
    rp_buffer list = {0};
    RP_TRY(rp_agree(sum->comm, sum->result, NULL, 0));
    RP_TRY(rp_tell_all(sum->comm, sum->rows.data, sum->bytes, in));
    size_t count = 0;
    for (int r = 0; r < sum->comm->size; r++) {
        count += in[r].bytes / row_bytes(sum);
    }
    rp_result result =
        rp_buffer_reserve(&list, sum->allocator, count * sizeof(row *) + 1, 0, "rows of a sum");
    const row **rows = list.data;
    size_t n = 0;
    for (int r = 0; r < sum->comm->size && result == RP_OK; r++) {
        for (size_t at = 0; at < in[r].bytes; at += row_bytes(sum)) {
            rows[n++] = (const row *)((const char *)in[r].data + at);
        }
    }
    if (n > 0) {
        qsort(rows, n, sizeof *rows, compare_rows);
    }
    for (size_t i = 0; i < n; i++) {
        rp_sum_add(sum, rows[i]->which, rows[i]->number);
    }
    rp_buffer_free(&list, sum->allocator);
    return rp_agree(sum->comm, result, NULL, 0);
}

rp_result rp_sum_end(rp_sum *sum)
{
    const rp_result result = rp_comm_alone(sum->comm) ? RP_OK : merge_rows(sum);
    rp_buffer_free(&sum->rows, sum->allocator);
    return result;
}

// ---- migrate ----

// Particles that are about to be in a block.
typedef struct load {
    uint64_t key;
    int64_t count;
} load;

static int compare_loads(const void *pa, const void *pb)
{
    const load *a = pa, *b = pb;
    return a->key < b->key ? -1 : a->key > b->key;
}

// What a rank says about its particles when it sends some: a header, pieces of pages, then column
// by column all numbers of a component.
typedef struct parcel {
    int64_t pieces, particles;
} parcel;

typedef struct piece {
    int32_t block[3], count;
    uint32_t field;
} piece;

typedef struct moving {
    rp_set *set;
    uint64_t first[RP_RANK_LIMIT + 1]; // key from which on blocks are those of a rank
    rp_buffer loads, rank, parcel[RP_RANK_LIMIT];
    size_t parcel_bytes[RP_RANK_LIMIT];
    rp_bytes in[RP_RANK_LIMIT];
} moving;

static const uint16_t STAYS = UINT16_MAX;

static bool birth_key(const rp_set *set, rp_local index, uint64_t *key)
{
    int32_t block[3];
    double local[3];
    if (rp_layout_place(&set->layout, rp_set_birth(set, RP_COL_POSITION, index, 0), block, local) !=
        RP_OK) {
        return false; // the sort says so
    }
    rp_block_wrap(&set->layout, block);
    *key = rp_block_key(block);
    return true;
}

static bool particle_key(const rp_set *set, const rp_page *page, rp_local slot, uint64_t *key)
{
    int32_t block[3];
    if (!rp_set_find_block(set, page, slot, block)) {
        return false;
    }
    *key = rp_block_key(block);
    return true;
}

static void add_load(moving *m, size_t *used, uint64_t key, rp_result *result)
{
    load *last = *used > 0 ? (load *)((char *)m->loads.data + *used) - 1 : NULL;
    if (last == NULL || last->key != key) {
        last = append(&m->loads, used, sizeof *last, m->set->allocator, result);
        if (last == NULL) {
            return;
        }
        *last = (load){.key = key};
    }
    last->count++;
}

// Blocks as runs in key order, of about as many particles each. Births are on all ranks: the first
// one counts them.
static rp_result cut(moving *m)
{
    const rp_set *set = m->set;
    rp_comm *comm = set->comm;
    size_t used = 0;
    uint64_t key;
    rp_result result = RP_OK;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            if (particle_key(set, page, slot, &key)) {
                add_load(m, &used, key, &result);
            }
        }
    }
    for (rp_local i = 0; i < set->inbox.count && comm->rank == 0; i++) {
        if (birth_key(set, i, &key)) {
            add_load(m, &used, key, &result);
        }
    }
    RP_TRY(rp_agree(comm, result, NULL, 0));
    RP_TRY(rp_tell_all(comm, m->loads.data, used, m->in));
    used = 0;
    for (int r = 0; r < comm->size; r++) {
        void *to = append(&m->loads, &used, m->in[r].bytes, set->allocator, &result);
        if (to != NULL && m->in[r].bytes > 0) {
            memcpy(to, m->in[r].data, m->in[r].bytes);
        }
    }
    RP_TRY(rp_agree(comm, result, NULL, 0));
    load *all = m->loads.data;
    const size_t count = used / sizeof *all;
    if (count > 0) {
        qsort(all, count, sizeof *all, compare_loads);
    }
    int64_t particles = 0, before = 0;
    for (size_t i = 0; i < count; i++) {
        particles += all[i].count;
    }
    int rank = 0;
    m->first[0] = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || all[i].key != all[i - 1].key) {
            while (rank < before * comm->size / particles) {
                m->first[++rank] = all[i].key;
            }
        }
        before += all[i].count;
    }
    while (rank < comm->size) {
        m->first[++rank] = UINT64_MAX;
    }
    return RP_OK;
}

static int rank_of(const moving *m, uint64_t key)
{
    int rank = m->set->comm->size - 1;
    while (m->first[rank] > key) {
        rank--;
    }
    return rank;
}

static bool stays_here(const rp_set *set, rp_local birth, const void *context)
{
    const moving *m = context;
    uint64_t key;
    return !birth_key(set, birth, &key) || rank_of(m, key) == set->comm->rank;
}

// All that goes to one rank.
static rp_result pack(moving *m, int rank)
{
    const rp_set *set = m->set;
    const uint16_t *to = m->rank.data;
    rp_buffer *buffer = &m->parcel[rank];
    size_t *used = &m->parcel_bytes[rank];
    rp_result result = RP_OK;
    parcel about = {0};
    append(buffer, used, sizeof about, set->allocator, &result);
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        piece part = {.field = page->field};
        memcpy(part.block, page->block, sizeof part.block);
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            part.count += to[slot] == rank;
        }
        if (part.count > 0) {
            void *at = append(buffer, used, sizeof part, set->allocator, &result);
            if (at != NULL) {
                memcpy(at, &part, sizeof part);
            }
            about.pieces++;
            about.particles += part.count;
        }
    }
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const size_t bytes = set->column[c].bytes;
        for (int k = 0; k < set->column[c].comps; k++) {
            char *at =
                append(buffer, used, (size_t)about.particles * bytes, set->allocator, &result);
            for (rp_local p = 0; p < set->pages && at != NULL; p++) {
                const rp_page *page = &rp_set_page(set)[p];
                for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
                    if (to[slot] == rank) {
                        memcpy(at, rp_set_at(set, c, slot, k), bytes);
                        at += bytes;
                    }
                }
            }
        }
    }
    if (result == RP_OK) {
        memcpy(buffer->data, &about, sizeof about);
    }
    return result;
}

// Who goes where, and what they carry. Nothing changes yet.
static rp_result pack_all(moving *m)
{
    const rp_set *set = m->set;
    const int own = set->comm->rank;
    bool any[RP_RANK_LIMIT] = {0};
    RP_TRY(rp_buffer_reserve(&m->rank, set->allocator, (size_t)set->slots * sizeof(uint16_t) + 1, 0,
                             "where particles go"));
    uint16_t *to = m->rank.data;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            uint64_t key;
            const int rank = particle_key(set, page, slot, &key) ? rank_of(m, key) : own;
            to[slot] = rank == own ? STAYS : (uint16_t)rank;
            any[rank] = true;
        }
    }
    for (int r = 0; r < set->comm->size; r++) {
        if (r != own && any[r]) {
            RP_TRY(pack(m, r));
        }
    }
    return RP_OK;
}

static rp_local whole_tiles(int64_t particles)
{
    return (rp_local)((particles + RP_LANES - 1) / RP_LANES * RP_LANES);
}

// Room for what has come, behind what is there.
static rp_result make_room(const moving *m, rp_local *slots)
{
    rp_set *set = m->set;
    int64_t all = set->slots, pages = set->pages;
    for (int r = 0; r < set->comm->size; r++) {
        parcel about = {0};
        if (m->in[r].bytes > 0) {
            memcpy(&about, m->in[r].data, sizeof about);
        }
        for (int64_t i = 0; i < about.pieces; i++) {
            piece part;
            memcpy(&part, (const char *)m->in[r].data + sizeof about + (size_t)i * sizeof part,
                   sizeof part);
            all += whole_tiles(part.count);
            pages++;
        }
    }
    if (all > INT32_MAX / 2) {
        return rp_fail(RP_ERR_LIMIT, "a particle set holds at most %d slots", INT32_MAX / 2);
    }
    *slots = (rp_local)all;
    return rp_set_reserve(set, *slots, (rp_local)pages);
}

// Pieces of pages become pages, with their particles in the order that they had there.
static void unpack(rp_set *set, const rp_bytes *in)
{
    parcel about;
    memcpy(&about, in->data, sizeof about);
    const char *part_at = (const char *)in->data + sizeof about;
    const char *at = part_at + (size_t)about.pieces * sizeof(piece);
    const rp_local first_page = set->pages;
    for (int64_t i = 0; i < about.pieces; i++) {
        piece part;
        memcpy(&part, part_at + (size_t)i * sizeof part, sizeof part);
        rp_page page = {.key = rp_block_key(part.block),
                        .field = (uint16_t)part.field,
                        .first = set->slots,
                        .count = part.count};
        memcpy(page.block, part.block, sizeof page.block);
        rp_set_page(set)[set->pages++] = page;
        set->slots += whole_tiles(part.count);
        set->count += part.count;
    }
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const size_t bytes = set->column[c].bytes;
        for (int k = 0; k < set->column[c].comps; k++) {
            for (rp_local p = first_page; p < set->pages; p++) {
                const rp_page *page = &rp_set_page(set)[p];
                for (rp_local i = 0; i < page->count; i++, at += bytes) {
                    memcpy(rp_set_at(set, c, page->first + i, k), at, bytes);
                }
            }
        }
    }
}

static int compare_pages(const void *pa, const void *pb)
{
    const rp_page *a = pa, *b = pb;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return a->field < b->field ? -1 : a->field > b->field;
}

static void move(moving *m, rp_local slots)
{
    rp_set *set = m->set;
    const uint16_t *to = m->rank.data;
    set->ghosts = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            if (to[slot] != STAYS) {
                rp_set_kill(set, slot);
            }
        }
    }
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const size_t each = (size_t)set->column[c].comps * set->column[c].bytes;
        if (each > 0 && slots > set->slots) {
            memset((char *)set->column[c].buffer.data + each * (size_t)set->slots, 0,
                   each * (size_t)(slots - set->slots));
        }
    }
    for (int r = 0; r < set->comm->size; r++) {
        if (m->in[r].bytes > 0) {
            unpack(set, &m->in[r]);
        }
    }
    if (set->pages > 0) {
        qsort(set->page_buffer.data, (size_t)set->pages, sizeof(rp_page), compare_pages);
    }
    rp_set_keep_births(set, stays_here, m);
}

static rp_result migrate(moving *m)
{
    rp_comm *comm = m->set->comm;
    rp_bytes out[RP_RANK_LIMIT];
    rp_local slots = 0;
    RP_TRY(cut(m));
    RP_TRY(rp_agree(comm, pack_all(m), NULL, 0));
    for (int r = 0; r < comm->size; r++) {
        out[r] = (rp_bytes){m->parcel[r].data, m->parcel_bytes[r]};
    }
    RP_TRY(comm->exchange(comm, out, m->in));
    // what came must outlast the next exchange, so that there is none before it is unpacked
    const rp_result room = make_room(m, &slots);
    if (room == RP_OK) {
        move(m, slots);
    }
    return rp_agree(comm, room, NULL, 0);
}

rp_result rp_migrate(rp_set *set)
{
    if (rp_comm_alone(set->comm)) {
        return RP_OK;
    }
    moving *m = rp_new(set->allocator, sizeof *m, "particles that change rank");
    rp_result result = rp_agree(set->comm, m != NULL ? RP_OK : RP_ERR_MEMORY, NULL, 0);
    if (m == NULL) {
        return result;
    }
    m->set = set;
    result = result == RP_OK ? migrate(m) : result;
    rp_buffer_free(&m->loads, set->allocator);
    rp_buffer_free(&m->rank, set->allocator);
    for (int r = 0; r < set->comm->size; r++) {
        rp_buffer_free(&m->parcel[r], set->allocator);
    }
    rp_delete(set->allocator, m, sizeof *m);
    return result;
}

// ---- halos ----

// What others need to know of a page: its key follows from its block.
typedef struct outline {
    int32_t block[3];
    uint16_t field;
    uint8_t set, reach_lo[3], reach_hi[3];
} outline;

static rp_page page_of(const outline *o)
{
    rp_page page = {.key = rp_block_key(o->block), .field = o->field};
    memcpy(page.block, o->block, sizeof page.block);
    memcpy(page.reach_lo, o->reach_lo, sizeof page.reach_lo);
    memcpy(page.reach_hi, o->reach_hi, sizeof page.reach_hi);
    return page;
}

static rp_result outline_pages(rp_grid *grid, const rp_set *set, int sets, size_t *bytes)
{
    rp_result result = RP_OK;
    *bytes = 0;
    for (int s = 0; s < sets; s++) {
        for (rp_local p = 0; p < set[s].pages; p++) {
            const rp_page *page = &rp_set_page(&set[s])[p];
            outline *o = append(&grid->halo.message, bytes, sizeof *o, grid->allocator, &result);
            if (o != NULL) {
                *o = (outline){.field = page->field, .set = (uint8_t)s};
                memcpy(o->block, page->block, sizeof o->block);
                memcpy(o->reach_lo, page->reach_lo, sizeof o->reach_lo);
                memcpy(o->reach_hi, page->reach_hi, sizeof o->reach_hi);
            }
        }
    }
    return result;
}

static rp_result add_shared(rp_buffer *list, rp_local *count, rp_shared item, const rp_allocator *a)
{
    rp_result result = RP_OK;
    size_t used = (size_t)*count * sizeof item;
    rp_shared *to = append(list, &used, sizeof item, a, &result);
    if (to != NULL) {
        *to = item;
        ++*count;
    }
    return result;
}

// A page of another rank: does it reach node pages of this one? Those are its rank's, too.
static rp_result meet(rp_grid *grid, rp_set *set, const outline *o, int rank, bool *met)
{
    rp_halo *h = &grid->halo;
    uint16_t *lowest = h->lowest.data;
    const rp_page page = page_of(o);
    *met = false;
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t block[3];
        if (!rp_page_near_block(&grid->layout, &page, n, block)) {
            continue;
        }
        const uint32_t node = rp_grid_find(grid, rp_block_key(block), page.field);
        if (node != RP_NO_PAGE) {
            *met = true;
            lowest[node] = rank < lowest[node] ? (uint16_t)rank : lowest[node];
            RP_TRY(add_shared(&h->nodes, &h->nodes_count,
                              (rp_shared){.rank = rank, .page = (rp_local)node}, grid->allocator));
        }
    }
    if (*met) {
        rp_set *own = &set[o->set];
        RP_TRY(rp_set_reserve(own, own->slots, own->pages + own->ghosts + 1));
        rp_set_page(own)[own->pages + own->ghosts] = page;
        RP_TRY(
            add_shared(&h->take, &h->takes,
                       (rp_shared){.rank = rank, .set = o->set, .page = own->pages + own->ghosts},
                       grid->allocator));
        own->ghosts++;
    }
    return RP_OK;
}

static int compare_shared(const void *pa, const void *pb)
{
    const rp_shared *a = pa, *b = pb;
    return a->rank != b->rank ? a->rank - b->rank : a->page < b->page ? -1 : a->page > b->page;
}

// Each once, by rank and in key order.
static void tidy_nodes(rp_halo *h)
{
    rp_shared *node = h->nodes.data;
    rp_local kept = 0;
    if (h->nodes_count > 0) {
        qsort(node, (size_t)h->nodes_count, sizeof *node, compare_shared);
    }
    for (rp_local i = 0; i < h->nodes_count; i++) {
        if (i == 0 || compare_shared(&node[i], &node[i - 1]) != 0) {
            node[kept++] = node[i];
        }
    }
    h->nodes_count = kept;
}

// Who reaches whom; writes for each rank which of its outlines are wanted here.
static rp_result meet_all(rp_grid *grid, rp_set *set, const rp_bytes *in, size_t *bytes,
                          size_t *wanted)
{
    rp_halo *h = &grid->halo;
    const int own = grid->comm->rank;
    rp_result result = RP_OK;
    size_t used = 0;
    RP_TRY(rp_buffer_reserve(&h->lowest, grid->allocator,
                             (size_t)grid->pages * sizeof(uint16_t) + 1, 0, "ranks of nodes"));
    for (rp_local p = 0; p < grid->pages; p++) {
        ((uint16_t *)h->lowest.data)[p] = (uint16_t)own;
    }
    for (int r = 0; r < grid->comm->size; r++) {
        const outline *o = in[r].data;
        wanted[r] = used;
        for (size_t i = 0; i < in[r].bytes / sizeof *o && r != own; i++) {
            bool met;
            RP_TRY(meet(grid, set, &o[i], r, &met));
            if (met) {
                int32_t *to = append(&h->message, &used, sizeof *to, grid->allocator, &result);
                RP_TRY(result);
                *to = (int32_t)i;
            }
        }
        bytes[r] = used - wanted[r];
    }
    tidy_nodes(h);
    return RP_OK;
}

// The pages that rank r wants: numbers of outlines, which went through the sets in their order.
static rp_result give_pages(rp_grid *grid, const rp_set *set, int rank, const rp_bytes *wanted)
{
    int s = 0;
    rp_local before = 0;
    for (size_t i = 0; i < wanted->bytes / sizeof(int32_t); i++) {
        const rp_local page = ((const int32_t *)wanted->data)[i];
        while (page - before >= set[s].pages) {
            before += set[s++].pages;
        }
        RP_TRY(add_shared(&grid->halo.give, &grid->halo.gives,
                          (rp_shared){.rank = rank, .set = s, .page = page - before},
                          grid->allocator));
    }
    return RP_OK;
}

rp_result rp_halo_find(rp_grid *grid, rp_set *set, int sets, rp_result result)
{
    rp_halo *h = &grid->halo;
    rp_comm *comm = grid->comm;
    rp_bytes in[RP_RANK_LIMIT], out[RP_RANK_LIMIT];
    size_t own = 0, bytes[RP_RANK_LIMIT], at[RP_RANK_LIMIT];
    for (int s = 0; s < sets; s++) {
        set[s].ghosts = 0;
    }
    if (rp_comm_alone(comm)) {
        return result;
    }
    h->gives = h->takes = h->nodes_count = 0;
    result = result == RP_OK ? outline_pages(grid, set, sets, &own) : result;
    RP_TRY(rp_agree(comm, result, NULL, 0));
    RP_TRY(rp_tell_all(comm, h->message.data, own, in));
    // a rank that failed wants nothing, and says so afterwards
    result = meet_all(grid, set, in, bytes, at);
    for (int r = 0; r < comm->size; r++) {
        out[r] =
            result == RP_OK ? (rp_bytes){(char *)h->message.data + at[r], bytes[r]} : (rp_bytes){0};
    }
    RP_TRY(comm->exchange(comm, out, in));
    for (int r = 0; r < comm->size && result == RP_OK; r++) {
        result = give_pages(grid, set, r, &in[r]);
    }
    return rp_agree(comm, result, NULL, 0);
}

// The planes of an arena that its particles can reach.
static char *arena_part(const rp_grid *grid, const rp_set *set, const rp_shared *s, int channel,
                        size_t *bytes)
{
    const rp_page *page = &rp_set_page(&set[s->set])[s->page];
    const size_t plane = (size_t)(grid->layout.arena[1] * grid->layout.arena[2]) *
                         (size_t)grid->channel[channel].comps *
                         (size_t)rp_real_bytes(&grid->layout);
    *bytes = (size_t)(page->reach_hi[0] - page->reach_lo[0]) * plane;
    return (char *)rp_grid_arena(grid, s->set, page, channel) + page->reach_lo[0] * plane;
}

// Where the parts of a message to each rank begin.
typedef struct cursor {
    size_t used, first[RP_RANK_LIMIT + 1];
    int rank;
} cursor;

static void begin_rank(cursor *c, int rank)
{
    while (c->rank <= rank) {
        c->first[c->rank++] = c->used;
    }
}

static rp_result send(rp_grid *grid, cursor *c, rp_result result, rp_bytes *in)
{
    rp_comm *comm = grid->comm;
    rp_bytes out[RP_RANK_LIMIT];
    begin_rank(c, comm->size);
    RP_TRY(rp_agree(comm, result, NULL, 0));
    for (int r = 0; r < comm->size; r++) {
        const size_t bytes = c->first[r + 1] - c->first[r];
        out[r] =
            (rp_bytes){bytes > 0 ? (char *)grid->halo.message.data + c->first[r] : NULL, bytes};
    }
    return comm->exchange(comm, out, in);
}

rp_result rp_halo_add(rp_grid *grid, const rp_set *set, unsigned channels)
{
    if (rp_comm_alone(grid->comm)) {
        return RP_OK;
    }
    rp_halo *h = &grid->halo;
    rp_bytes in[RP_RANK_LIMIT];
    rp_result result = RP_OK;
    cursor c = {0};
    for (rp_local i = 0; i < h->gives; i++) {
        const rp_shared *s = &((const rp_shared *)h->give.data)[i];
        begin_rank(&c, s->rank);
        for (int k = 0; k < RP_CHANNEL_LIMIT; k++) {
            if (channels & grid->scatters[s->set] & 1u << k) {
                size_t bytes;
                const char *from = arena_part(grid, set, s, k, &bytes);
                void *to = append(&h->message, &c.used, bytes, grid->allocator, &result);
                if (to != NULL) {
                    memcpy(to, from, bytes);
                }
            }
        }
    }
    RP_TRY(send(grid, &c, result, in));
    size_t at[RP_RANK_LIMIT] = {0};
    for (rp_local i = 0; i < h->takes; i++) {
        const rp_shared *s = &((const rp_shared *)h->take.data)[i];
        for (int k = 0; k < RP_CHANNEL_LIMIT; k++) {
            if (channels & grid->scatters[s->set] & 1u << k) {
                size_t bytes;
                char *to = arena_part(grid, set, s, k, &bytes);
                RP_ASSERT(at[s->rank] + bytes <= in[s->rank].bytes);
                memcpy(to, (const char *)in[s->rank].data + at[s->rank], bytes);
                at[s->rank] += bytes;
            }
        }
    }
    return RP_OK;
}

rp_result rp_halo_copy(rp_grid *grid, int channel)
{
    if (rp_comm_alone(grid->comm)) {
        return RP_OK;
    }
    rp_halo *h = &grid->halo;
    rp_bytes in[RP_RANK_LIMIT];
    rp_result result = RP_OK;
    cursor c = {0};
    const size_t bytes = (size_t)grid->layout.nodes * (size_t)grid->channel[channel].comps *
                         (size_t)rp_real_bytes(&grid->layout);
    for (rp_local i = 0; i < h->nodes_count; i++) {
        const rp_shared *s = &((const rp_shared *)h->nodes.data)[i];
        begin_rank(&c, s->rank);
        if (rp_grid_owns(grid, s->page)) {
            void *to = append(&h->message, &c.used, bytes, grid->allocator, &result);
            if (to != NULL) {
                memcpy(to, rp_grid_nodes(grid, channel, s->page), bytes);
            }
        }
    }
    RP_TRY(send(grid, &c, result, in));
    size_t at[RP_RANK_LIMIT] = {0};
    for (rp_local p = 0; p < grid->pages; p++) {
        const int from = ((const uint16_t *)h->lowest.data)[p];
        if (from != grid->comm->rank) {
            RP_ASSERT(at[from] + bytes <= in[from].bytes);
            memcpy(rp_grid_nodes(grid, channel, p), (const char *)in[from].data + at[from], bytes);
            at[from] += bytes;
        }
    }
    return RP_OK;
}
