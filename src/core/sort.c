// The full sort: particles to pages. Happens every few dozen steps, so it favours little memory
// over speed: columns are moved one component at a time through one spare component.
//
//   1 code    where each particle goes, relative to its old page; counted per old page     parallel
//   2 plan    streams (old page -> new page, or births -> new page) sorted by key          serial
//   3 source  for every new slot the slot or birth that fills it; in a page by cell        parallel
//   4 move    each column through `source`                                                 parallel
//
// Everything that can fail comes before the first change to the set.
#include "core/set.h"

#include "base/result.h"
#include "base/threads.h"
#include "core/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REACH = 2,            // blocks a particle may have crossed since the last sort
    SPAN = 2 * REACH + 1, //
    CODES = SPAN * SPAN * SPAN,
    CODE_DEAD = CODES,
    CODE_LOST = CODES + 1, // farther than REACH: the step's runaway check should have caught it
    PAGE_CHUNK = 4,        // pages a thread takes at a go
};
#define FROM_BIRTH   0x80000000u
#define FROM_NOWHERE UINT32_MAX

// Particles of one old page (or of the inbox) that go to the same new page, in order.
typedef struct stream {
    uint64_t key;
    int32_t block[3];
    uint16_t field;
    uint16_t code; // which of the old page's particles
    uint32_t
        order; // old page, or the number of old pages plus the first birth: ties keep this order
    rp_local count;
} stream;

typedef struct birth_key {
    uint64_t key;
    int32_t block[3];
    uint16_t field;
    uint32_t index;
} birth_key;
_Static_assert(2 * sizeof(birth_key) == RP_SORT_BIRTH_BYTES, "plans count on it");

typedef struct sorter {
    rp_set *set;
    uint16_t *code;            // [old slot]
    uint32_t (*cursor)[CODES]; // [old page]: count per code, then the next new slot per code
    uint32_t *source;          // [new slot]
    void *spare;               // one component of every new slot
    rp_page *new_page;
    rp_local new_pages, new_slots, old_pages;
    birth_key *birth; // sorted
    stream *stream;   // sorted
    bool lost;
    // the column being moved
    rp_column_id column;
    int comp;
    int32_t shift[CODES]; // cells along axis `comp` from the old block to the new one, per code
} sorter;

static int32_t floor_div(int32_t a, int32_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

static void code_offset(int code, int32_t offset[3])
{
    offset[0] = code / (SPAN * SPAN) - REACH;
    offset[1] = code / SPAN % SPAN - REACH;
    offset[2] = code % SPAN - REACH;
}

// Where a particle goes, relative to its page.
static int code_of(const rp_set *set, rp_local slot)
{
    int code = 0;
    if (*(uint16_t *)rp_set_at(set, RP_COL_GROUP, slot, 0) == RP_GROUP_DEAD) {
        return CODE_DEAD;
    }
    for (int a = 0; a < 3; a++) {
        const int32_t offset =
            a < set->layout.dim ? floor_div(rp_set_cell(set, slot, a), set->layout.cells[a]) : 0;
        if (offset < -REACH || offset > REACH) {
            return CODE_LOST;
        }
        code = code * SPAN + offset + REACH;
    }
    return code;
}

bool rp_set_find_block(const rp_set *set, const rp_page *page, rp_local slot, int32_t block[3])
{
    const int code = code_of(set, slot);
    int32_t offset[3];
    code_offset(code, offset);
    for (int a = 0; a < 3; a++) {
        block[a] = page->block[a] + offset[a];
    }
    rp_block_wrap(&set->layout, block);
    return code < CODES;
}

static void code_page(void *ctx, int64_t i, int thread)
{
    (void)thread;
    sorter *s = ctx;
    const rp_set *set = s->set;
    const rp_page *page = &rp_set_page(set)[i];
    uint32_t *count = s->cursor[i];
    memset(count, 0, sizeof s->cursor[i]);
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        const int code = code_of(set, slot);
        if (code < CODES) {
            count[code]++;
        } else if (code == CODE_LOST) {
            __atomic_store_n(&s->lost, true, __ATOMIC_RELAXED);
        }
        s->code[slot] = (uint16_t)code;
    }
}

static int compare_births(const void *pa, const void *pb)
{
    const birth_key *a = pa, *b = pb;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->field != b->field) {
        return a->field < b->field ? -1 : 1;
    }
    return a->index < b->index ? -1 : 1;
}

static int compare_streams(const void *pa, const void *pb)
{
    const stream *a = pa, *b = pb;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->field != b->field) {
        return a->field < b->field ? -1 : 1;
    }
    if (a->order != b->order) {
        return a->order < b->order ? -1 : 1;
    }
    // periodic images of one page may meet in the same new page
    return a->code < b->code ? -1 : a->code > b->code;
}

static rp_result check_block(const int32_t block[3])
{
    for (int a = 0; a < 3; a++) {
        if (block[a] <= -RP_BLOCK_LIMIT || block[a] >= RP_BLOCK_LIMIT - 1) {
            return rp_fail(RP_ERR_LIMIT,
                           "a particle left the addressable space: block %d along axis %d, want "
                           "less than %d from the origin",
                           (int)block[a], a, RP_BLOCK_LIMIT);
        }
    }
    return RP_OK;
}

static rp_result place_birth(const rp_set *set, rp_local index, int32_t block[3], double local[3])
{
    return rp_layout_place(&set->layout, rp_set_birth(set, RP_COL_POSITION, index, 0), block,
                           local);
}

static rp_result key_births(const rp_set *set, birth_key *birth)
{
    for (rp_local i = 0; i < set->inbox.count; i++) {
        birth_key *b = &birth[i];
        double local[3];
        RP_TRY(place_birth(set, i, b->block, local));
        rp_block_wrap(&set->layout, b->block);
        const uint16_t group = *(uint16_t *)rp_set_birth(set, RP_COL_GROUP, i, 0);
        b->field = rp_set_group(set)[group].field;
        b->key = rp_block_key(b->block);
        b->index = (uint32_t)i;
    }
    if (set->inbox.count > 0) {
        qsort(birth, (size_t)set->inbox.count, sizeof *birth, compare_births);
    }
    return RP_OK;
}

// List what goes where. Returns the number of streams; with out NULL it only counts.
static size_t list_streams(const sorter *s, stream *out)
{
    const rp_set *set = s->set;
    size_t n = 0;
    for (rp_local p = 0; p < s->old_pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (int code = 0; code < CODES; code++) {
            if (s->cursor[p][code] == 0) {
                continue;
            }
            if (out != NULL) {
                int32_t offset[3];
                code_offset(code, offset);
                stream *to = &out[n];
                *to = (stream){.field = page->field,
                               .code = (uint16_t)code,
                               .order = (uint32_t)p,
                               .count = (rp_local)s->cursor[p][code]};
                for (int a = 0; a < 3; a++) {
                    to->block[a] = page->block[a] + offset[a];
                }
                rp_block_wrap(&set->layout, to->block);
                to->key = rp_block_key(to->block);
            }
            n++;
        }
    }
    for (rp_local i = 0; i < set->inbox.count;) {
        rp_local end = i + 1;
        while (end < set->inbox.count && s->birth[end].key == s->birth[i].key &&
               s->birth[end].field == s->birth[i].field) {
            end++;
        }
        if (out != NULL) {
            out[n] = (stream){.key = s->birth[i].key,
                              .field = s->birth[i].field,
                              .order = (uint32_t)(s->old_pages + i),
                              .count = end - i};
            memcpy(out[n].block, s->birth[i].block, sizeof out[n].block);
        }
        n++;
        i = end;
    }
    return n;
}

// Pages from sorted streams. Returns their number; with out NULL it only counts pages and slots.
static rp_local lay_pages(const stream *streams, size_t n, rp_page *out, int64_t *slots)
{
    rp_local pages = 0;
    int64_t end = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || streams[i].key != streams[i - 1].key ||
            streams[i].field != streams[i - 1].field) {
            end = (end + RP_LANES - 1) / RP_LANES * RP_LANES;
            if (out != NULL) {
                out[pages] = (rp_page){
                    .key = streams[i].key, .field = streams[i].field, .first = (rp_local)end};
                memcpy(out[pages].block, streams[i].block, sizeof out[pages].block);
            }
            pages++;
        }
        if (out != NULL) {
            out[pages - 1].count += streams[i].count;
        }
        end += streams[i].count;
    }
    *slots = (end + RP_LANES - 1) / RP_LANES * RP_LANES;
    return pages;
}

// Where each stream begins in the new slots, and the births' sources at once.
static void aim_streams(sorter *s, size_t n)
{
    const stream *streams = s->stream;
    rp_local page = -1, next = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || streams[i].key != streams[i - 1].key ||
            streams[i].field != streams[i - 1].field) {
            page++;
            next = s->new_page[page].first;
        }
        if (streams[i].order < (uint32_t)s->old_pages) {
            s->cursor[streams[i].order][streams[i].code] = (uint32_t)next;
        } else {
            const birth_key *birth = &s->birth[streams[i].order - (uint32_t)s->old_pages];
            for (rp_local b = 0; b < streams[i].count; b++) {
                s->source[next + b] = FROM_BIRTH | birth[b].index;
            }
        }
        next += streams[i].count;
    }
    for (page = 0; page < s->new_pages; page++) {
        const rp_local end = page + 1 < s->new_pages ? s->new_page[page + 1].first : s->new_slots;
        for (rp_local i = s->new_page[page].first + s->new_page[page].count; i < end; i++) {
            s->source[i] = FROM_NOWHERE;
        }
    }
}

static void source_page(void *ctx, int64_t i, int thread)
{
    (void)thread;
    sorter *s = ctx;
    const rp_page *page = &rp_set_page(s->set)[i];
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        if (s->code[slot] < CODES) {
            s->source[s->cursor[i][s->code[slot]]++] = (uint32_t)slot;
        }
    }
}

// The new position of a particle, relative to its new page, in the column's own type.
static void move_position(const sorter *s, uint32_t from, int comp, void *out)
{
    const rp_set *set = s->set;
    const bool single = set->layout.precision == RP_SINGLE;
    if (from & FROM_BIRTH) {
        int32_t block[3];
        double local[3];
        place_birth(set, (rp_local)(from & ~FROM_BIRTH), block, local);
        if (single) {
            *(int32_t *)out = (int32_t)lrint(ldexp(local[comp], RP_FIXED_BITS));
        } else {
            *(double *)out = local[comp];
        }
        return;
    }
    int32_t offset[3];
    code_offset(s->code[from], offset);
    const int32_t cells = offset[comp] * set->layout.cells[comp];
    const void *at = rp_set_at(set, RP_COL_POSITION, (rp_local)from, comp);
    if (single) {
        // a far position may wrap round on the way, never at the end
        *(uint32_t *)out = *(const uint32_t *)at - ((uint32_t)cells << RP_FIXED_BITS);
    } else {
        *(double *)out = *(const double *)at - cells;
    }
}

// The cell of its new block that a particle will be in, cells along the last axis side by side.
static int new_cell(const sorter *s, uint32_t from)
{
    const rp_layout *l = &s->set->layout;
    int cell = 0;
    for (int a = 0; a < l->dim; a++) {
        union {
            int32_t fixed;
            double real;
        } x;
        move_position(s, from, a, &x);
        const int at = l->precision == RP_SINGLE ? x.fixed >> RP_FIXED_BITS : (int)floor(x.real);
        // rounding may put a position onto a face
        cell = cell * l->cells[a] + (at < 0 ? 0 : at < l->cells[a] ? at : l->cells[a] - 1);
    }
    return cell;
}

// Kernels keep the nodes of a cell in registers as long as particles stay in it, so those of one
// cell become neighbours. Among themselves they keep their order.
static void order_page(void *ctx, int64_t i, int thread)
{
    (void)thread;
    enum { CELLS_MOST = 256 };
    const sorter *s = ctx;
    const rp_page *page = &s->new_page[i];
    uint32_t *source = s->source + page->first, *by_cell = (uint32_t *)s->spare + 2 * page->first;
    uint32_t *cell = by_cell + page->count, next[CELLS_MOST + 1] = {0};
    for (rp_local k = 0; k < page->count; k++) {
        cell[k] = (uint32_t)new_cell(s, source[k]);
        next[cell[k] + 1]++;
    }
    for (int c = 0; c < CELLS_MOST; c++) {
        next[c + 1] += next[c];
    }
    for (rp_local k = 0; k < page->count; k++) {
        by_cell[next[cell[k]]++] = source[k];
    }
    memcpy(source, by_cell, (size_t)page->count * sizeof *source);
}

// One component of all particles of a page, each a number of type `type`: those that were there are
// fetched by `fetch`, which sees where as `at` and its source as `from`.
#define GATHER(type, fetch)                                                                        \
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {                  \
        const uint32_t from = s->source[slot];                                                     \
        type *to = (type *)s->spare + slot;                                                        \
        if (from & FROM_BIRTH) {                                                                   \
            gather_birth(s, from, to);                                                             \
        } else {                                                                                   \
            const type *at =                                                                       \
                (const type *)column + (size_t)(from / RP_LANES) * stride + from % RP_LANES;       \
            *to = fetch;                                                                           \
        }                                                                                          \
    }

static void gather_birth(const sorter *s, uint32_t from, void *out)
{
    if (s->column == RP_COL_POSITION) {
        move_position(s, from, s->comp, out);
    } else {
        memcpy(out, rp_set_birth(s->set, s->column, (rp_local)(from & ~FROM_BIRTH), s->comp),
               s->set->column[s->column].bytes);
    }
}

static void gather_page(void *ctx, int64_t i, int thread)
{
    (void)thread;
    const sorter *s = ctx;
    const rp_set *set = s->set;
    const rp_page *page = &s->new_page[i];
    const int bytes = set->column[s->column].bytes;
    const size_t stride = (size_t)set->column[s->column].comps * RP_LANES;
    const char *column = (const char *)set->column[s->column].buffer.data +
                         (size_t)s->comp * RP_LANES * (size_t)bytes;
    if (s->column == RP_COL_POSITION && bytes == 4) {
        // a far position may wrap round on the way, never at the end
        GATHER(uint32_t, *at - ((uint32_t)s->shift[s->code[from]] << RP_FIXED_BITS));
    } else if (s->column == RP_COL_POSITION) {
        GATHER(double, *at - s->shift[s->code[from]]);
    } else if (bytes == 4) {
        GATHER(uint32_t, *at);
    } else if (bytes == 8) {
        GATHER(uint64_t, *at);
    } else {
        GATHER(uint16_t, *at);
    }
    const rp_local end = page->first + page->count,
                   padded = (end + RP_LANES - 1) / RP_LANES * RP_LANES;
    memset((char *)s->spare + (size_t)end * (size_t)bytes, 0,
           (size_t)(padded - end) * (size_t)bytes);
}

static void put_back_page(void *ctx, int64_t i, int thread)
{
    (void)thread;
    const sorter *s = ctx;
    const rp_set *set = s->set;
    const rp_page *page = &s->new_page[i];
    const size_t tile = (size_t)RP_LANES * set->column[s->column].bytes;
    for (rp_local slot = page->first; slot < page->first + page->count; slot += RP_LANES) {
        memcpy(rp_set_at(set, s->column, slot, s->comp),
               (const char *)s->spare + (size_t)(slot / RP_LANES) * tile, tile);
    }
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + RP_CACHE_LINE - 1) / RP_CACHE_LINE * RP_CACHE_LINE;
}

// Scratch is laid out as code | cursor | streams | source | new pages | spare; it grows as the
// sizes of the later parts become known.
enum { PART_CODE, PART_CURSOR, PART_STREAMS, PART_SOURCE, PART_PAGES, PART_SPARE, PARTS };

static rp_result reserve_parts(sorter *s, rp_buffer *scratch, const size_t bytes[PARTS], int kept)
{
    size_t at[PARTS + 1] = {0};
    for (int i = 0; i < PARTS; i++) {
        at[i + 1] = at[i] + whole_lines(bytes[i]);
    }
    // never nothing: parts are places in it
    RP_TRY(rp_buffer_reserve(scratch, s->set->allocator, at[PARTS] + RP_CACHE_LINE, at[kept],
                             "sorting particles"));
    char *data = scratch->data;
    s->code = (uint16_t *)(data + at[PART_CODE]);
    s->cursor = (uint32_t(*)[CODES])(data + at[PART_CURSOR]);
    s->stream = (stream *)(data + at[PART_STREAMS]);
    s->source = (uint32_t *)(data + at[PART_SOURCE]);
    s->new_page = (rp_page *)(data + at[PART_PAGES]);
    s->spare = data + at[PART_SPARE];
    return RP_OK;
}

void rp_set_mark_mixed(rp_set *set)
{
    for (rp_local p = 0; p < set->pages; p++) {
        rp_page *page = &rp_set_page(set)[p];
        page->flags &= (uint16_t)~RP_PAGE_MIXED;
        const uint16_t first = *(uint16_t *)rp_set_at(set, RP_COL_GROUP, page->first, 0);
        for (rp_local i = 1; i < page->count; i++) {
            if (*(uint16_t *)rp_set_at(set, RP_COL_GROUP, page->first + i, 0) != first) {
                page->flags |= RP_PAGE_MIXED;
                break;
            }
        }
    }
}

rp_result rp_set_reserve(rp_set *set, rp_local slots, rp_local pages)
{
    for (int c = 0; c < RP_COL_COUNT; c++) {
        rp_column *column = &set->column[c];
        const size_t slot_bytes = (size_t)column->comps * column->bytes;
        if (column->buffer.bytes < slot_bytes * (size_t)slots) {
            // a little more than needed: a spreading heap needs a few more slots at every sort
            RP_TRY(rp_buffer_reserve(&column->buffer, set->allocator,
                                     slot_bytes * ((size_t)slots / 16 * 17 + 1024),
                                     slot_bytes * (size_t)set->slots, rp_column_table[c].name));
        }
    }
    const size_t page_bytes = (size_t)pages * sizeof(rp_page);
    if (set->page_buffer.bytes < page_bytes) {
        RP_TRY(rp_buffer_reserve(&set->page_buffer, set->allocator, page_bytes + page_bytes / 4,
                                 (size_t)(set->pages + set->ghosts) * sizeof(rp_page), "pages"));
    }
    return RP_OK;
}

static rp_result plan_and_move(sorter *s, rp_buffer *scratch, rp_buffer *births, int threads)
{
    rp_set *set = s->set;
    // births are many once and few later, so their keys do not stay in scratch
    RP_TRY(rp_buffer_reserve(births, set->allocator, (size_t)set->inbox.count * sizeof *s->birth, 0,
                             "sorting particles"));
    s->birth = births->data;
    size_t bytes[PARTS] = {
        [PART_CODE] = (size_t)set->slots * sizeof *s->code,
        [PART_CURSOR] = (size_t)set->pages * sizeof *s->cursor,
    };

    // 1 code
    RP_TRY(reserve_parts(s, scratch, bytes, 0));
    RP_TRY(key_births(set, s->birth));
    rp_parallel_for(threads, set->pages, PAGE_CHUNK, code_page, s);
    if (s->lost) {
        return rp_fail(RP_ERR_DIVERGED, "a particle crossed more than %d blocks between two sorts",
                       REACH);
    }

    // 2 plan
    const size_t streams = list_streams(s, NULL);
    bytes[PART_STREAMS] = streams * sizeof *s->stream;
    RP_TRY(reserve_parts(s, scratch, bytes, PART_STREAMS));
    list_streams(s, s->stream);
    for (size_t i = 0; i < streams; i++) {
        RP_TRY(check_block(s->stream[i].block));
    }
    if (streams > 0) {
        qsort(s->stream, streams, sizeof *s->stream, compare_streams);
    }
    int64_t slots;
    s->new_pages = lay_pages(s->stream, streams, NULL, &slots);
    if (slots > INT32_MAX / 2) {
        return rp_fail(RP_ERR_LIMIT, "a particle set holds at most %d slots", INT32_MAX / 2);
    }
    s->new_slots = (rp_local)slots;

    // room for everything, before anything changes
    bytes[PART_SOURCE] = (size_t)slots * sizeof *s->source;
    bytes[PART_PAGES] = (size_t)s->new_pages * sizeof *s->new_page;
    bytes[PART_SPARE] = (size_t)slots * sizeof(uint64_t);
    RP_TRY(reserve_parts(s, scratch, bytes, PART_SOURCE));
    RP_TRY(rp_set_reserve(set, s->new_slots, s->new_pages));

    // 3 source
    lay_pages(s->stream, streams, s->new_page, &slots);
    aim_streams(s, streams);
    rp_parallel_for(threads, set->pages, PAGE_CHUNK, source_page, s);
    rp_parallel_for(threads, s->new_pages, PAGE_CHUNK, order_page, s);

    // 4 move
    for (int c = 0; c < RP_COL_COUNT; c++) {
        s->column = c;
        for (s->comp = 0; s->comp < set->column[c].comps; s->comp++) {
            for (int code = 0; code < CODES && c == RP_COL_POSITION; code++) {
                int32_t offset[3];
                code_offset(code, offset);
                s->shift[code] = offset[s->comp] * set->layout.cells[s->comp];
            }
            rp_parallel_for(threads, s->new_pages, PAGE_CHUNK, gather_page, s);
            rp_parallel_for(threads, s->new_pages, PAGE_CHUNK, put_back_page, s);
        }
        // these births are in: give their memory back before the next column needs some
        rp_buffer_free(&set->inbox.column[c], set->allocator);
    }
    if (s->new_pages > 0) {
        memcpy(set->page_buffer.data, s->new_page, bytes[PART_PAGES]);
    }
    return RP_OK;
}

rp_result rp_set_sort(rp_set *set, rp_buffer *scratch, int threads)
{
    RP_TRY(rp_migrate(set));
    sorter s = {.set = set, .old_pages = set->pages};
    rp_buffer births = {0};
    const rp_result result = plan_and_move(&s, scratch, &births, threads);
    rp_buffer_free(&births, set->allocator);
    RP_TRY(rp_agree(set->comm, result, NULL, 0));

    set->pages = s.new_pages;
    set->ghosts = 0;
    set->slots = s.new_slots;
    set->count += set->inbox.count - set->doomed;
    set->doomed = 0;
    set->inbox.count = 0;
    set->travel = 0.0;
    rp_set_mark_mixed(set);
    return RP_OK;
}
