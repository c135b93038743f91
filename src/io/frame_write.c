// A state becomes a frame. Columns go through a buffer of RP_H5_CHUNK particles, so that writing
// needs little memory besides the state.
#include "io/frame.h"

#include "base/result.h"
#include "io/mixture.h"
#include "io/rows.h"
#include "io/seal.h"
#include "repose/file.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VTK_VERTEX = 1, ASKED = 1024 }; // particles of which laws are asked at once

typedef struct writer {
    rp_h5 h5;
    rp_state_view view;
    rp_frame_words words;
    int64_t particles;
    rp_frame_time time;
    void *rows;      // RP_H5_CHUNK of the widest column
    uint64_t *id;    // as many ids
    uint16_t *group; // as many groups; the same memory
    // of a frame that keeps stress
    rp_mixture mixture;
    double *column[RP_COL_COUNT]; // ASKED rows of what laws need
    void *stored;                 // as many of one column as the state has them
    rp_result *asked;             // how asking went
} writer;

typedef struct column {
    rp_h5_spec spec;
    rp_column_id id;
    void (*fill)(const writer *w, const struct column *column, rp_stretch part, void *rows);
} column;

// --- columns ---

static void put_real(void *rows, int64_t i, rp_h5_type type, double value)
{
    if (type == RP_H5_F32) {
        ((float *)rows)[i] = (float)value;
    } else {
        ((double *)rows)[i] = value;
    }
}

// What particles of a species without the column have: the neutral value, of mass and volume what
// their group says.
static void fill_neutral(const writer *w, const column *c, rp_stretch part, void *rows)
{
    const rp_state_part *own = &w->view.part[part.species];
    const int comps = c->spec.comps > 0 ? c->spec.comps : 1;
    const bool mass = c->id == RP_COL_MASS, volume = c->id == RP_COL_VOLUME;
    if (mass || volume) {
        rp_rows_gather(&w->view, RP_COL_GROUP, part, w->group);
    }
    for (int64_t i = 0; i < (int64_t)part.count * comps; i++) {
        const uint16_t group = mass || volume ? w->group[i] : RP_GROUP_DEAD;
        const rp_state_group *g = group < own->about->groups ? &own->group[group] : NULL;
        put_real(rows, i, c->spec.type,
                 g == NULL ? rp_column_table[c->id].neutral
                 : mass    ? g->mass
                           : g->volume);
    }
}

static void fill_stored(const writer *w, const column *c, rp_stretch part, void *rows)
{
    if (w->view.part[part.species].about->columns >> c->id & 1) {
        rp_rows_gather(&w->view, c->id, part, rows);
    } else {
        fill_neutral(w, c, part, rows);
    }
}

static void fill_metres(const writer *w, const column *c, rp_stretch part, void *rows)
{
    (void)c;
    rp_rows_gather_metres(&w->view, part, rows);
}

// Groups are numbered over all species.
static void fill_group(const writer *w, const column *c, rp_stretch part, void *rows)
{
    (void)c;
    uint16_t *group = rows;
    rp_rows_gather(&w->view, RP_COL_GROUP, part, group);
    for (int32_t i = 0; i < part.count; i++) {
        group[i] = group[i] == RP_GROUP_DEAD
                       ? RP_GROUP_DEAD
                       : (uint16_t)(group[i] + w->view.part[part.species].first_group);
    }
}

// The dead have lost their group, and with it their material.
static void fill_material(const writer *w, const column *c, rp_stretch part, void *rows)
{
    (void)c;
    const rp_state_part *own = &w->view.part[part.species];
    uint16_t *material = rows;
    rp_rows_gather(&w->view, RP_COL_GROUP, part, material);
    for (int32_t i = 0; i < part.count; i++) {
        const uint16_t group = material[i];
        material[i] =
            group < own->about->groups ? (uint16_t)own->group[group].material : RP_GROUP_DEAD;
    }
}

// The body is the velocity field of the group.
static void fill_body(const writer *w, const column *c, rp_stretch part, void *rows)
{
    (void)c;
    const rp_state_part *own = &w->view.part[part.species];
    uint16_t *body = rows;
    rp_rows_gather(&w->view, RP_COL_GROUP, part, body);
    for (int32_t i = 0; i < part.count; i++) {
        const uint16_t group = body[i];
        body[i] = group < own->about->groups ? (uint16_t)own->group[group].field : RP_GROUP_DEAD;
    }
}

static void fill_species(const writer *w, const column *c, rp_stretch part, void *rows)
{
    (void)w, (void)c;
    memset(rows, part.species, (size_t)part.count);
}

static void fill_guilty(const writer *w, const column *c, rp_stretch part, void *rows)
{
    (void)c;
    uint8_t *guilty = rows;
    rp_rows_gather(&w->view, RP_COL_ID, part, w->id);
    for (int32_t i = 0; i < part.count; i++) {
        guilty[i] = w->words.guilty_count > 0 &&
                    bsearch(&w->id[i], w->words.guilty, (size_t)w->words.guilty_count,
                            sizeof(uint64_t), rp_compare_ids) != NULL;
    }
}

static void end_asking(writer *w)
{
    rp_mixture_close(&w->mixture);
    for (int c = 0; c < RP_COL_COUNT; c++) {
        free(w->column[c]);
    }
    free(w->stored);
}

// Room for what laws need of ASKED particles.
static rp_result prepare_asking(writer *w)
{
    const rp_frame_choice *choice = w->words.choice;
    RP_TRY(rp_mixture_open(&w->mixture, choice->material, choice->materials, w->view.layout.dim,
                           ASKED));
    const unsigned needs = rp_mixture_needs(&w->mixture);
    w->stored = malloc(ASKED * 9 * sizeof(double));
    bool enough = w->stored != NULL;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if ((needs >> c & 1) != 0) {
            w->column[c] =
                malloc(ASKED * (size_t)rp_mixture_comps(&w->mixture, c) * sizeof(double));
            enough = enough && w->column[c] != NULL;
        }
    }
    return enough ? RP_OK : rp_fail(RP_ERR_MEMORY, "out of memory: the stress of a frame");
}

// What the laws need of some particles of a species, as doubles.
static rp_material_state state_of(const writer *w, rp_stretch part)
{
    rp_material_state state = {{NULL}};
    const bool single = w->view.layout.precision == RP_SINGLE;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (w->column[c] == NULL || !(w->view.part[part.species].about->columns >> c & 1)) {
            continue;
        }
        rp_rows_gather(&w->view, c, part, w->stored);
        for (int64_t i = 0; i < (int64_t)part.count * rp_mixture_comps(&w->mixture, c); i++) {
            w->column[c][i] =
                single ? (double)((const float *)w->stored)[i] : ((const double *)w->stored)[i];
        }
        state.column[c] = w->column[c];
    }
    return state;
}

// Stress, or the pressure that follows from it.
static void fill_derived(const writer *w, const column *c, rp_stretch all, void *rows)
{
    double stress[ASKED][6], log_ratio[ASKED];
    uint16_t material[ASKED];
    rp_stretch part = all;
    for (int32_t done = 0; done < all.count; done += part.count) {
        part.first = all.first + done;
        part.count = all.count - done < ASKED ? all.count - done : ASKED;
        fill_material(w, c, part, material);
        const rp_material_state state = state_of(w, part);
        memset(stress, 0, sizeof stress);
        const rp_result result =
            rp_mixture_ask(&w->mixture, material, &state, part.count, stress, log_ratio);
        *w->asked = *w->asked == RP_OK ? result : *w->asked;
        for (int32_t i = 0; i < part.count; i++) {
            for (int k = 0; k < c->spec.comps; k++) {
                put_real(rows, (int64_t)(done + i) * 6 + k, c->spec.type, stress[i][k]);
            }
            if (c->spec.comps == 0) {
                put_real(rows, done + i, c->spec.type,
                         rp_pressure_of(stress[i], w->view.layout.dim));
            }
        }
    }
}

static void put_column(writer *w, const column *c)
{
    const hid_t dataset = rp_h5_begin_rows(&w->h5, &c->spec);
    const size_t row =
        (size_t)rp_h5_bytes(c->spec.type) * (size_t)(c->spec.comps > 0 ? c->spec.comps : 1);
    rp_rows_walk walk = {.view = &w->view};
    rp_stretch part;
    uint64_t written = 0;
    int32_t waiting = 0;
    while (written + (uint64_t)waiting < c->spec.rows &&
           rp_rows_next(&walk, RP_H5_CHUNK - waiting, &part)) {
        c->fill(w, c, part, (char *)w->rows + (size_t)waiting * row);
        waiting += part.count;
        if (waiting == RP_H5_CHUNK) {
            rp_h5_put_rows(&w->h5, dataset, written, RP_H5_CHUNK, c->spec.type, w->rows);
            written += RP_H5_CHUNK;
            waiting = 0;
        }
    }
    rp_h5_put_rows(&w->h5, dataset, written, (uint64_t)waiting, c->spec.type, w->rows);
    rp_h5_end_rows(&w->h5, dataset);
}

static void put_field(writer *w, rp_column_id id)
{
    char path[RP_FRAME_PATH];
    snprintf(path, sizeof path, RP_AT_COLUMNS "/%s", rp_column_table[id].name);
    const column c = {.spec = {.path = path,
                               .type = rp_frame_type(&w->view.layout, id),
                               .rows = (uint64_t)w->particles,
                               .comps = rp_frame_comps(&w->view.layout, id),
                               .unit = rp_column_table[id].unit,
                               .description = rp_column_table[id].sentence},
                      .id = id,
                      .fill = id == RP_COL_GROUP ? fill_group : fill_stored};
    put_column(w, &c);
}

static void put_derived(writer *w, const rp_frame_column_info *info)
{
    char path[RP_FRAME_PATH];
    snprintf(path, sizeof path, RP_AT_COLUMNS "/%.63s", info->name);
    put_column(w, &(column){.spec = {.path = path,
                                     .type = rp_frame_type(&w->view.layout, RP_COL_STRAIN),
                                     .rows = (uint64_t)w->particles,
                                     .comps = info->comps > 1 ? info->comps : 0,
                                     .unit = info->unit,
                                     .description = info->sentence},
                            .fill = fill_derived});
}

static bool is_chosen(const writer *w, rp_column_id c)
{
    const rp_frame_choice *choice = w->words.choice;
    return choice == NULL || choice->columns >> c & 1 || c == RP_COL_GROUP || c == RP_COL_ID;
}

static void put_columns(writer *w)
{
    const uint64_t rows = (uint64_t)w->particles;
    put_column(w, &(column){.spec = {.path = RP_AT_POINTS,
                                     .type = RP_H5_F64,
                                     .rows = rows,
                                     .comps = 3,
                                     .unit = "m",
                                     .description = "where the particle is"},
                            .fill = fill_metres});
    for (int c = 0; c < RP_COL_COUNT; c++) {
        bool kept = false;
        for (int i = 0; i < w->view.header->species; i++) {
            kept = kept || w->view.part[i].about->columns >> c & 1;
        }
        if (c != RP_COL_POSITION && kept && is_chosen(w, c)) {
            put_field(w, c);
        }
    }
    for (int k = 0; k < RP_DERIVED_COUNT && w->words.choice != NULL; k++) {
        if ((w->words.choice->derived >> k & 1) != 0) {
            put_derived(w, &rp_derived_table[k]);
        }
    }
    put_column(w, &(column){.spec = {.path = RP_AT_COLUMNS "/material",
                                     .type = RP_H5_U16,
                                     .rows = rows,
                                     .unit = "1",
                                     .description = "of the particle's group; 65535 when it is "
                                                    "about to be removed"},
                            .fill = fill_material});
    if (w->view.header->fields > 1) {
        put_column(w,
                   &(column){.spec = {.path = RP_AT_COLUMNS "/body",
                                      .type = RP_H5_U16,
                                      .rows = rows,
                                      .unit = "1",
                                      .description = "number of the body, 0 for the rest; run.json "
                                                     "has the names"},
                             .fill = fill_body});
    }
    put_column(w, &(column){.spec = {.path = RP_AT_COLUMNS "/species",
                                     .type = RP_H5_U8,
                                     .rows = rows,
                                     .unit = "1",
                                     .description = "row of /repose/species/name"},
                            .fill = fill_species});
    if (w->words.guilty != NULL) {
        put_column(w, &(column){.spec = {.path = RP_AT_COLUMNS "/guilty",
                                         .type = RP_H5_U8,
                                         .rows = rows,
                                         .unit = "1",
                                         .description = "1 where the state is not physical"},
                                .fill = fill_guilty});
    }
}

// --- what makes it VTK's ---

static void put_count(writer *w, const char *path, const char *description, int64_t count)
{
    const rp_h5_spec spec = {
        .path = path, .type = RP_H5_I64, .rows = 1, .unit = "1", .description = description};
    rp_h5_put_dataset(&w->h5, &spec, &count);
}

// first, first + 1, ...
static void put_ramp(writer *w, const char *path, const char *description, int64_t rows)
{
    const rp_h5_spec spec = {.path = path,
                             .type = RP_H5_I64,
                             .rows = (uint64_t)rows,
                             .unit = "1",
                             .description = description,
                             .packed = true};
    const hid_t dataset = rp_h5_begin_rows(&w->h5, &spec);
    int64_t *ramp = w->rows;
    for (int64_t first = 0; first < rows; first += RP_H5_CHUNK) {
        const int64_t count = rows - first < RP_H5_CHUNK ? rows - first : RP_H5_CHUNK;
        for (int64_t i = 0; i < count; i++) {
            ramp[i] = first + i;
        }
        rp_h5_put_rows(&w->h5, dataset, (uint64_t)first, (uint64_t)count, RP_H5_I64, ramp);
    }
    rp_h5_end_rows(&w->h5, dataset);
}

static void put_types(writer *w)
{
    const rp_h5_spec spec = {.path = RP_AT_VTK "/Types",
                             .type = RP_H5_U8,
                             .rows = (uint64_t)w->particles,
                             .unit = "1",
                             .description = "of cells: VTK_VERTEX",
                             .packed = true};
    const hid_t dataset = rp_h5_begin_rows(&w->h5, &spec);
    memset(w->rows, VTK_VERTEX, RP_H5_CHUNK);
    for (uint64_t first = 0; first < spec.rows; first += RP_H5_CHUNK) {
        const uint64_t count = spec.rows - first < RP_H5_CHUNK ? spec.rows - first : RP_H5_CHUNK;
        rp_h5_put_rows(&w->h5, dataset, first, count, RP_H5_U8, w->rows);
    }
    rp_h5_end_rows(&w->h5, dataset);
}

static double seconds(const writer *w)
{
    return ((double)w->time.frame + w->time.part) / w->view.header->fps;
}

// One vertex per particle.
static void put_grid(writer *w)
{
    const int64_t version[2] = {1, 0};
    rp_h5_put_group(&w->h5, RP_AT_VTK);
    rp_h5_put_numbers(&w->h5, RP_AT_VTK, "Version", RP_H5_I64, 2, version);
    rp_h5_put_text(&w->h5, RP_AT_VTK, "Type", "UnstructuredGrid");
    put_count(w, RP_AT_VTK "/NumberOfPoints", "particles", w->particles);
    put_count(w, RP_AT_VTK "/NumberOfCells", "one vertex per particle", w->particles);
    put_count(w, RP_AT_VTK "/NumberOfConnectivityIds", "one per cell", w->particles);
    put_ramp(w, RP_AT_VTK "/Connectivity", "the particle of each cell", w->particles);
    put_ramp(w, RP_AT_VTK "/Offsets", "where each cell begins in Connectivity", w->particles + 1);
    put_types(w);
    const double time = seconds(w);
    const rp_h5_spec spec = {.path = RP_AT_VTK "/FieldData/TimeValue",
                             .type = RP_H5_F64,
                             .rows = 1,
                             .unit = "s",
                             .description = "simulated time"};
    rp_h5_put_dataset(&w->h5, &spec, &time);
}

// --- what VTK has no place for ---

static void put_units(writer *w)
{
    char units[512] = "time s; frame 1; step 1; part 1; particles 1";
    for (int i = 0; i < RP_FRAME_NUMBERS; i++) {
        const size_t used = strlen(units);
        snprintf(units + used, sizeof units - used, "; %s %s", rp_frame_number_table[i].name,
                 rp_frame_number_table[i].unit);
    }
    rp_h5_put_text(&w->h5, RP_AT_REPOSE, "units", units);
}

static void put_header(writer *w)
{
    rp_h5 *h5 = &w->h5;
    const rp_state_header *h = w->view.header;
    const int32_t format = RP_FRAME_FORMAT;
    const double time = seconds(w);
    rp_h5_put_group(h5, RP_AT_REPOSE);
    rp_h5_put_numbers(h5, RP_AT_REPOSE, "format", RP_H5_I32, 0, &format);
    rp_h5_put_text(h5, RP_AT_REPOSE, "version", RP_VERSION);
    rp_h5_put_text(h5, RP_AT_REPOSE, "method", h->method);
    rp_h5_put_text(h5, RP_AT_REPOSE, "title", w->words.title);
    rp_h5_put_text(h5, RP_AT_REPOSE, "failure", w->words.failure);
    rp_h5_put_numbers(h5, RP_AT_REPOSE, "time", RP_H5_F64, 0, &time);
    rp_h5_put_numbers(h5, RP_AT_REPOSE, "frame", RP_H5_I64, 0, &w->time.frame);
    rp_h5_put_numbers(h5, RP_AT_REPOSE, "step", RP_H5_I64, 0, &w->time.step);
    rp_h5_put_numbers(h5, RP_AT_REPOSE, "part", RP_H5_F64, 0, &w->time.part);
    rp_h5_put_numbers(h5, RP_AT_REPOSE, "particles", RP_H5_I64, 0, &w->particles);
    rp_h5_put_text(h5, RP_AT_REPOSE, "precision", h->precision == RP_SINGLE ? "single" : "double");
    for (int i = 0; i < RP_FRAME_NUMBERS; i++) {
        const rp_frame_number *n = &rp_frame_number_table[i];
        rp_h5_put_numbers(h5, RP_AT_REPOSE, n->name, n->type, n->count > 1 ? n->count : 0,
                          (const char *)h + n->offset);
    }
    put_units(w);
}

// One number of every group, of all species one after the other.
static void put_group_numbers(writer *w, const char *path, rp_h5_type type, size_t offset,
                              const char *unit, const char *description)
{
    const size_t bytes = (size_t)rp_h5_bytes(type);
    const rp_h5_spec spec = {.path = path,
                             .type = type,
                             .rows = (uint64_t)w->view.groups,
                             .unit = unit,
                             .description = description};
    char *at = w->rows;
    for (int s = 0; s < w->view.header->species; s++) {
        const rp_state_part *part = &w->view.part[s];
        for (int32_t g = 0; g < part->about->groups; g++, at += bytes) {
            memcpy(at, (const char *)&part->group[g] + offset, bytes);
        }
    }
    rp_h5_put_dataset(&w->h5, &spec, w->rows);
}
_Static_assert((int)RP_GROUP_LIMIT <= (int)RP_H5_CHUNK, "all groups fit the buffer");

static void put_groups(writer *w)
{
    put_group_numbers(w, RP_AT_GROUPS "/material", RP_H5_I32, offsetof(rp_state_group, material),
                      "1", "number of the group's material");
    put_group_numbers(w, RP_AT_GROUPS "/field", RP_H5_I32, offsetof(rp_state_group, field), "1",
                      "number of the group's velocity field");
    put_group_numbers(w, RP_AT_GROUPS "/volume", RP_H5_F64, offsetof(rp_state_group, volume), "m^3",
                      "of one particle at rest");
    put_group_numbers(w, RP_AT_GROUPS "/mass", RP_H5_F64, offsetof(rp_state_group, mass), "kg",
                      "of one particle");
}

// Names, what each keeps, and its numbers: a row each.
static void put_species(writer *w)
{
    const int species = w->view.header->species;
    char name[RP_SET_LIMIT][RP_SPECIES_NAME] = {{0}}, list[RP_SET_LIMIT][RP_FRAME_LIST] = {{0}};
    for (int s = 0; s < species; s++) {
        const rp_state_species *about = w->view.part[s].about;
        memcpy(name[s], about->name, sizeof name[s]);
        for (int c = 0; c < RP_COL_COUNT; c++) {
            const size_t used = strlen(list[s]);
            snprintf(list[s] + used, sizeof list[s] - used, "%s%s",
                     used > 0 && about->columns >> c & 1 ? " " : "",
                     about->columns >> c & 1 ? rp_column_table[c].name : "");
        }
    }
    rp_h5_put_texts(&w->h5, RP_AT_SPECIES "/name", species, RP_SPECIES_NAME, name[0],
                    "what the numbers of the column species mean");
    rp_h5_put_texts(&w->h5, RP_AT_SPECIES "/columns", species, RP_FRAME_LIST, list[0],
                    "columns that each keeps; in others it has neutral values");
    for (int i = 0; i < RP_FRAME_SPECIES_NUMBERS; i++) {
        const rp_frame_species_number *n = &rp_frame_species_table[i];
        const size_t bytes = (size_t)rp_h5_bytes(n->type);
        char path[RP_FRAME_PATH], numbers[RP_SET_LIMIT * sizeof(double)];
        for (int s = 0; s < species; s++) {
            memcpy(numbers + (size_t)s * bytes, (const char *)w->view.part[s].about + n->offset,
                   bytes);
        }
        snprintf(path, sizeof path, RP_AT_SPECIES "/%s", n->name);
        const rp_h5_spec spec = {.path = path,
                                 .type = n->type,
                                 .rows = (uint64_t)species,
                                 .unit = n->unit,
                                 .description = n->description};
        rp_h5_put_dataset(&w->h5, &spec, numbers);
    }
}

static void put_registry(writer *w)
{
    const rp_state_view *view = &w->view;
    const int32_t entries = view->header->entries;
    char *names = w->rows;
    for (int32_t e = 0; e < entries; e++) {
        memcpy(names + e * RP_STATE_NAME, view->entry[e].name, RP_STATE_NAME);
    }
    rp_h5_put_texts(&w->h5, RP_AT_ENTRIES, entries, RP_STATE_NAME, names,
                    "what /repose/registry holds, in the order of the state");
    for (int32_t e = 0; e < entries; e++) {
        char path[RP_FRAME_PATH];
        snprintf(path, sizeof path, RP_AT_REGISTRY "/%.*s", RP_STATE_NAME, view->entry[e].name);
        const int columns = (int)view->entry[e].columns;
        const rp_h5_spec bytes = {.path = path,
                                  .type = RP_H5_U8,
                                  .rows = view->entry[e].bytes,
                                  .unit = "1",
                                  .description = "bytes as its owner keeps them"};
        const rp_h5_spec table = {.path = path,
                                  .type = RP_H5_F64,
                                  .rows = columns > 0 ? bytes.rows / (8 * (uint64_t)columns) : 0,
                                  .comps = columns,
                                  .unit = "SI",
                                  .description = "a table; docs/frames.md names its columns"};
        rp_h5_put_dataset(&w->h5, columns > 0 ? &table : &bytes,
                          rp_state_at(view, view->entry_at[e]));
    }
}

static void put_pages(writer *w)
{
    rp_h5_spec spec = {.path = RP_AT_PAGES,
                       .type = RP_H5_I32,
                       .comps = sizeof(rp_state_page) / sizeof(int32_t),
                       .unit = "1",
                       .description = "block x, y, z; field; first slot; particles"};
    for (int s = 0; s < w->view.header->species; s++) {
        spec.rows += (uint64_t)w->view.part[s].about->pages;
    }
    const hid_t dataset = rp_h5_begin_rows(&w->h5, &spec);
    uint64_t first = 0;
    for (int s = 0; s < w->view.header->species; s++) {
        const rp_state_part *part = &w->view.part[s];
        rp_h5_put_rows(&w->h5, dataset, first, (uint64_t)part->about->pages, RP_H5_I32, part->page);
        first += (uint64_t)part->about->pages;
    }
    rp_h5_end_rows(&w->h5, dataset);
}

// As they are stored, where metres do not bring them back; births have theirs as metres, and a row
// of zeros here.
static void fill_cells(const writer *w, const column *c, rp_stretch part, void *rows)
{
    if (part.page != NULL) {
        rp_rows_gather(&w->view, c->id, part, rows);
    } else {
        memset(rows, 0,
               (size_t)part.count * (size_t)c->spec.comps * (size_t)rp_h5_bytes(c->spec.type));
    }
}

static void put_state(writer *w)
{
    const rp_state_header *h = w->view.header;
    put_pages(w);
    put_registry(w);
    if (!rp_metres_are_exact(&w->view.layout)) {
        const column c = {.spec = {.path = RP_AT_POSITION,
                                   .type = rp_frame_type(&w->view.layout, RP_COL_POSITION),
                                   .rows = (uint64_t)w->particles,
                                   .comps = w->view.layout.dim,
                                   .unit = h->precision == RP_SINGLE ? "2^-26 cells" : "cells",
                                   .description = "from the page's origin; 0 for births"},
                          .id = RP_COL_POSITION,
                          .fill = fill_cells};
        put_column(w, &c);
    }
}

// --- all of it ---

static rp_result check_entries(const rp_state_view *view)
{
    for (int32_t e = 0; e < view->header->entries; e++) {
        if (!rp_frame_is_entry_name(view->entry[e].name)) {
            return rp_fail(RP_ERR_ARGUMENT, "state: '%.*s' is no name of an entry", RP_STATE_NAME,
                           view->entry[e].name);
        }
    }
    return RP_OK;
}

static rp_result check_state(const rp_state_view *view)
{
    RP_TRY(check_entries(view));
    return rp_rows_check(view);
}

static rp_frame_time time_of(const rp_state_view *view)
{
    rp_frame_time time = {0};
    for (int32_t e = 0; e < view->header->entries; e++) {
        if (strncmp(view->entry[e].name, RP_TIME_ENTRY, RP_STATE_NAME) == 0 &&
            view->entry[e].bytes == sizeof time) {
            memcpy(&time, rp_state_at(view, view->entry_at[e]), sizeof time);
        }
    }
    return time;
}

static rp_result write_file(writer *w, const rp_file *file)
{
    RP_TRY(rp_h5_create(&w->h5, file->fd, file->path));
    put_grid(w);
    put_columns(w);
    put_header(w);
    put_groups(w);
    put_species(w);
    if (w->words.choice == NULL) {
        put_state(w);
    }
    RP_TRY(rp_h5_close(&w->h5));
    RP_TRY(*w->asked);
    return rp_seal(file->fd, file->path);
}

static rp_result replace_file(writer *w, const char *path)
{
    rp_file file;
    RP_TRY(rp_file_replace(&file, path));
    return rp_file_end(&file, write_file(w, &file));
}

rp_result rp_frame_write(const char *path, const void *state, size_t size,
                         const rp_frame_words *words)
{
    writer w = {.words = words != NULL ? *words : (rp_frame_words){0}};
    w.words.title = w.words.title != NULL ? w.words.title : "";
    w.words.failure = w.words.failure != NULL ? w.words.failure : "";
    RP_TRY(rp_state_view_make(state, size, &w.view));
    RP_TRY(check_state(&w.view));
    w.particles = w.view.particles;
    w.time = time_of(&w.view);

    const rp_allocator *a = rp_default_allocator();
    rp_buffer rows = {0}, id = {0};
    rp_result asked = RP_OK;
    w.asked = &asked;
    rp_result result = rp_buffer_reserve(&rows, a, RP_FRAME_ROWS_BYTES, 0, "rows of a frame");
    if (result == RP_OK) {
        result = rp_buffer_reserve(&id, a, RP_H5_CHUNK * sizeof(uint64_t), 0, "rows of a frame");
    }
    if (result == RP_OK && w.words.choice != NULL && w.words.choice->derived != 0) {
        result = prepare_asking(&w);
    }
    if (result == RP_OK) {
        w.rows = rows.data;
        w.id = id.data;
        w.group = id.data;
        result = replace_file(&w, path);
    }
    end_asking(&w);
    rp_buffer_free(&id, a);
    rp_buffer_free(&rows, a);
    return result;
}
