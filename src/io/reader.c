// Columns, groups and the materials of the run become particles. What is known of a particle
// without being a column, and what a frame without some column means, is told here and nowhere
// else.
#include "repose/reader.h"

#include "base/result.h"
#include "core/columns.h"
#include "io/frame.h"
#include "io/mixture.h"
#include "io/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rp_reader {
    rp_frame *frame;
    const rp_record *record;      // may be NULL
    rp_mixture mixture;           // of the materials that it knows
    double *column[RP_COL_COUNT]; // of a batch, for laws; allocated when first asked for
    rp_frame_group *group;
    int groups;
    rp_batch scratch; // for what is worked out from something else
    rp_smooth smooth; // pressure around particles; made when first asked for
    bool smoothed;
};

// ---- what a frame has ----

// A column, if it has that many components.
static bool has_column(const rp_reader *r, const char *name, int comps)
{
    const rp_frame_column_info *column = rp_frame_column_named(r->frame, name);
    return column != NULL && column->comps == comps;
}

static int comps_of(const rp_reader *r, rp_column_id column)
{
    return rp_mixture_comps(&r->mixture, column);
}

// The columns that the laws of the run need, as 1u << rp_column_id; of a run that is not known,
// those of a solid.
static unsigned law_columns(const rp_reader *r)
{
    return r->mixture.materials > 0 ? rp_mixture_needs(&r->mixture) : 1u << RP_COL_STRAIN;
}

// Which of the columns that laws give a name stands for, if the frame does not keep it itself;
// RP_DERIVED_COUNT: none.
static int derived_named(const rp_reader *r, const char *name)
{
    int k = 0;
    while (k < RP_DERIVED_COUNT && strcmp(rp_derived_table[k].name, name) != 0) {
        k++;
    }
    return k < RP_DERIVED_COUNT && has_column(r, name, rp_derived_table[k].comps) ? RP_DERIVED_COUNT
                                                                                  : k;
}

// The first column that is not there; NULL: all are.
static const char *missing(const rp_reader *r, unsigned want)
{
    static const struct {
        unsigned want;
        rp_column_id column;
    } rests[] = {
        {RP_READ_VELOCITY, RP_COL_VELOCITY},
        {RP_READ_ID, RP_COL_ID},
        {RP_READ_GROUP | RP_READ_MASS, RP_COL_GROUP},
        {RP_READ_STRAIN, RP_COL_STRAIN},
    };
    for (size_t k = 0; k < sizeof rests / sizeof rests[0]; k++) {
        const char *name = rp_column_name(rests[k].column);
        if ((want & rests[k].want) != 0 && !has_column(r, name, comps_of(r, rests[k].column))) {
            return name;
        }
    }
    const bool asked =
        (want & RP_READ_RATIO) != 0 ||
        ((want & RP_READ_STRESS) != 0 && derived_named(r, "stress") == RP_DERIVED_STRESS);
    const unsigned law = asked ? law_columns(r) : 0;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if ((law >> c & 1) != 0 && !has_column(r, rp_column_name(c), comps_of(r, c))) {
            return rp_column_name(c);
        }
    }
    return NULL;
}

bool rp_reader_has(const rp_reader *r, unsigned want)
{
    const bool asks =
        (want & RP_READ_STRESS) != 0 && derived_named(r, "stress") == RP_DERIVED_STRESS;
    return missing(r, want) == NULL && (!asks || r->mixture.materials > 0);
}

rp_result rp_reader_need(const rp_reader *r, unsigned want, const char *who)
{
    const char *column = missing(r, want);
    if (column != NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "%s needs the column %s, and %s has none", who, column,
                       r->frame->path);
    }
    return rp_reader_has(r, want)
               ? RP_OK
               : rp_fail(RP_ERR_ARGUMENT,
                         "%s needs the materials, which are in run.json of a run's folder", who);
}

const char *rp_reader_species(const rp_reader *r, int index)
{
    return rp_frame_species_name(r->frame, index);
}

int rp_reader_fields(const rp_reader *r)
{
    int fields = 0;
    for (int i = 0; i < r->groups; i++) {
        fields = r->group[i].field >= fields ? r->group[i].field + 1 : fields;
    }
    return fields;
}

// ---- what is stored ----

// A column of reals in rows of `wide`, with 0 where space has an axis less.
static rp_result read_reals(const rp_reader *r, rp_column_id column, const rp_batch *b, int wide,
                            double *out)
{
    const char *name = rp_column_name(column);
    const int comps = column == RP_COL_POSITION ? 3 : comps_of(r, column);
    if (!has_column(r, name, comps)) {
        for (int64_t i = 0; i < b->count * wide; i++) {
            out[i] = rp_column_table[column].neutral;
        }
        return RP_OK;
    }
    RP_TRY(rp_frame_read(r->frame, name, b->first, b->count, out));
    // from the last row to the first, so that none is written over before it has moved
    for (int64_t i = b->count - 1; i >= 0 && comps < wide; i--) {
        double row[6] = {0};
        for (int c = 0; c < comps; c++) {
            row[wide == 6 && c == 2 ? 3 : c] = out[i * comps + c]; // xx yy xy
        }
        memcpy(out + i * wide, row, (size_t)wide * sizeof *row);
    }
    return RP_OK;
}

static rp_result read_ids(const rp_reader *r, rp_batch *b)
{
    if (has_column(r, "id", 1)) {
        return rp_frame_read_as(r->frame, "id", b->first, b->count, RP_H5_U64, b->id);
    }
    for (int64_t i = 0; i < b->count; i++) {
        b->id[i] = (uint64_t)(b->first + i);
    }
    return RP_OK;
}

// What particles share with their group, unless they have a column of it.
static rp_result read_groups(const rp_reader *r, rp_batch *b)
{
    const bool known = has_column(r, "group", 1);
    if (known) {
        RP_TRY(rp_frame_read_as(r->frame, "group", b->first, b->count, RP_H5_U16, b->group));
    }
    memset(b->species, 0, (size_t)b->count);
    if (has_column(r, "species", 1)) {
        RP_TRY(rp_frame_read_as(r->frame, "species", b->first, b->count, RP_H5_U8, b->species));
    }
    for (int64_t i = 0; i < b->count; i++) {
        static const rp_frame_group none = {.material = RP_GROUP_NONE};
        const bool has = known && b->group[i] < r->groups;
        const rp_frame_group *group = has ? &r->group[b->group[i]] : &none;
        b->group[i] = has ? b->group[i] : RP_GROUP_NONE;
        b->flags[i] |= known && !has ? RP_PARTICLE_DOOMED : 0;
        b->flags[i] |= has && group->mass == 0.0 ? RP_PARTICLE_MASSLESS : 0;
        b->material[i] = (uint16_t)group->material;
        b->field[i] = (uint16_t)group->field;
        if ((b->want & RP_READ_MASS) != 0) {
            b->mass[i] = group->mass;
            b->volume[i] = group->volume;
        }
    }
    if ((b->want & RP_READ_MASS) != 0 && has_column(r, "mass", 1)) {
        RP_TRY(rp_frame_read(r->frame, "mass", b->first, b->count, b->mass));
    }
    return (b->want & RP_READ_MASS) != 0 && has_column(r, "volume", 1)
               ? rp_frame_read(r->frame, "volume", b->first, b->count, b->volume)
               : RP_OK;
}

// All but what a law would have to say.
static rp_result read_stored(const rp_reader *r, int64_t first, int64_t count, rp_batch *b)
{
    RP_TRY(rp_frame_check_rows(r->frame, first, count));
    RP_TRY(rp_batch_reserve(b, count));
    b->first = first;
    b->count = count;
    b->next = first + count;
    memset(b->flags, 0, (size_t)count);
    if ((b->want & RP_READ_POSITION) != 0) {
        RP_TRY(read_reals(r, RP_COL_POSITION, b, 3, b->position[0]));
        for (int64_t i = 0; i < count; i++) {
            const double *x = b->position[i];
            b->flags[i] |= isfinite(x[0] + x[1] + x[2]) ? 0 : RP_PARTICLE_NOWHERE;
        }
    }
    if ((b->want & RP_READ_VELOCITY) != 0) {
        RP_TRY(read_reals(r, RP_COL_VELOCITY, b, 3, b->velocity[0]));
    }
    if ((b->want & RP_READ_ID) != 0) {
        RP_TRY(read_ids(r, b));
    }
    if ((b->want & (RP_READ_GROUP | RP_READ_MASS)) != 0) {
        RP_TRY(read_groups(r, b));
    }
    if ((b->want & RP_READ_STRAIN) != 0) {
        RP_TRY(read_reals(r, RP_COL_STRAIN, b, 6, b->strain[0]));
    }
    if ((b->want & RP_READ_STATE) != 0) {
        RP_TRY(read_reals(r, RP_COL_HARDENING, b, 1, b->hardening));
        RP_TRY(read_reals(r, RP_COL_VOLUME_GAIN, b, 1, b->volume_gain));
    }
    return RP_OK;
}

// ---- what the law makes of it ----

// Room for the columns of a batch.
static rp_result reserve_columns(rp_reader *r, unsigned columns)
{
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if ((columns >> c & 1) != 0 && r->column[c] == NULL) {
            r->column[c] = malloc(RP_BATCH * (size_t)comps_of(r, c) * sizeof(double));
            if (r->column[c] == NULL) {
                return rp_fail(RP_ERR_MEMORY, "no memory for the columns of %s", r->frame->path);
            }
        }
    }
    return RP_OK;
}

// What the laws of their materials say of some particles, in the scratch batch: log_ratio and
// stress. NAN where the material is not known.
static rp_result apply_law(rp_reader *r, int64_t first, int64_t count)
{
    rp_batch *b = &r->scratch;
    const unsigned columns = law_columns(r);
    rp_material_state state = {{NULL}};
    b->want = RP_READ_GROUP | RP_READ_STRAIN | RP_READ_RATIO | RP_READ_STRESS;
    RP_TRY(read_stored(r, first, count, b));
    RP_TRY(reserve_columns(r, columns));
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if ((columns >> c & 1) != 0 && has_column(r, rp_column_name(c), comps_of(r, c))) {
            RP_TRY(rp_frame_read(r->frame, rp_column_name(c), first, count, r->column[c]));
            state.column[c] = r->column[c];
        }
    }
    for (int64_t i = 0; i < count; i++) {
        // a solid of which the moduli are not known still has a volume
        b->log_ratio[i] = b->strain[i][0] + b->strain[i][1] + b->strain[i][2];
        for (int c = 0; c < 6; c++) {
            b->stress[i][c] = NAN;
        }
    }
    RP_TRY(rp_mixture_ask(&r->mixture, b->material, &state, count, b->stress, b->log_ratio));
    // what the frame keeps itself needs no law
    return derived_named(r, "stress") == RP_DERIVED_STRESS
               ? RP_OK
               : rp_frame_read(r->frame, "stress", first, count, b->stress[0]);
}

rp_result rp_reader_read(rp_reader *r, int64_t first, int64_t count, rp_batch *b)
{
    RP_TRY(read_stored(r, first, count, b));
    const bool ratio = (b->want & RP_READ_RATIO) != 0, stress = (b->want & RP_READ_STRESS) != 0;
    const rp_batch *law = &r->scratch;
    for (int64_t done = 0; done < count && (ratio || stress); done += RP_BATCH) {
        RP_TRY(apply_law(r, first + done, count - done < RP_BATCH ? count - done : RP_BATCH));
        const size_t n = (size_t)law->count;
        if (ratio) {
            memcpy(b->log_ratio + done, law->log_ratio, n * sizeof *law->log_ratio);
        }
        if (stress) {
            memcpy(b->stress + done, law->stress, n * sizeof *law->stress);
        }
    }
    return RP_OK;
}

rp_result rp_reader_next(rp_reader *r, rp_batch *b)
{
    const int64_t left = r->frame->info.particles - b->next;
    return rp_reader_read(r, b->next, left < RP_BATCH ? left : RP_BATCH, b);
}

// ---- columns ----

static bool is_listed(const rp_reader *r, int k)
{
    return derived_named(r, rp_derived_table[k].name) == k && rp_reader_has(r, RP_READ_STRESS);
}

int rp_reader_columns(const rp_reader *r)
{
    int columns = r->frame->info.columns;
    for (int k = 0; k < RP_DERIVED_COUNT; k++) {
        columns += is_listed(r, k);
    }
    return columns;
}

rp_result rp_reader_column(const rp_reader *r, int index, rp_frame_column_info *out)
{
    int left = index - r->frame->info.columns;
    for (int k = 0; k < RP_DERIVED_COUNT && left >= 0; k++) {
        if (is_listed(r, k) && left-- == 0) {
            *out = rp_derived_table[k];
            return RP_OK;
        }
    }
    return rp_frame_column(r->frame, index, out);
}

rp_result rp_reader_read_column(rp_reader *r, const char *name, int64_t first, int64_t count,
                                double *out)
{
    const int k = derived_named(r, name), dim = r->frame->info.dimension;
    if (k == RP_DERIVED_COUNT) {
        return rp_frame_read(r->frame, name, first, count, out);
    }
    RP_TRY(rp_frame_check_rows(r->frame, first, count));
    RP_TRY(rp_reader_need(r, RP_READ_STRESS, name));
    for (int64_t done = 0; done < count; done += RP_BATCH) {
        const int64_t n = count - done < RP_BATCH ? count - done : RP_BATCH;
        RP_TRY(apply_law(r, first + done, n));
        for (int64_t i = 0; i < n; i++) {
            const double *stress = r->scratch.stress[i];
            if (k == RP_DERIVED_STRESS) {
                memcpy(out + 6 * (done + i), stress, sizeof r->scratch.stress[i]);
            } else {
                out[done + i] = rp_pressure_of(stress, dim);
            }
        }
    }
    return RP_OK;
}

// The pressure of all particles onto nodes, each by its volume.
static rp_result smooth_pressure(rp_reader *r)
{
    rp_batch b = {.want = RP_READ_POSITION | RP_READ_MASS | RP_READ_RATIO};
    double *pressure = malloc(RP_BATCH * sizeof *pressure);
    rp_result result = pressure != NULL ? RP_OK : rp_fail(RP_ERR_MEMORY, "no memory for pressures");
    rp_smooth_open(&r->smooth, r->frame->info.dimension, r->frame->info.dx);
    while (result == RP_OK && (result = rp_reader_next(r, &b)) == RP_OK && b.count > 0) {
        result = rp_reader_read_column(r, "pressure", b.first, b.count, pressure);
        for (int64_t i = 0; i < b.count && result == RP_OK; i++) {
            const bool matter = (b.flags[i] & (RP_PARTICLE_DOOMED | RP_PARTICLE_MASSLESS)) == 0;
            const double volume = b.volume[i] > 0.0 ? b.volume[i] * exp(b.log_ratio[i]) : 1.0;
            result = rp_smooth_add(&r->smooth, b.position[i], matter ? volume : 0.0, pressure[i]);
        }
    }
    free(pressure);
    rp_batch_free(&b);
    r->smoothed = result == RP_OK;
    if (!r->smoothed) {
        rp_smooth_close(&r->smooth);
    }
    return result;
}

// ---- numbers by name ----

typedef struct value {
    enum { FROM_COLUMN, FROM_SMOOTH, FROM_MATERIAL, FROM_FIELD, FROM_SPECIES } from;
    char column[64];
    int comps, comp; // of the column; -1: its length
    rp_value_info info;
} value;

// What stands behind the dot: x, y, z of a vector, xx, yy and so on of a symmetric tensor, or a
// number; -1: none of these.
static int component(const char *name, int comps, bool tensor)
{
    static const char *const axes[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    static const char *const flat[] = {"xx", "yy", "xy"};
    for (int k = 0; k < comps && tensor; k++) {
        if (strcmp(name, comps == 6 ? axes[k] : flat[k]) == 0) {
            return k;
        }
    }
    char *end;
    const bool letter = !tensor && name[0] >= 'x' && name[0] <= 'z' && name[1] == '\0';
    const bool digit = name[0] >= '0' && name[0] <= '9';
    const long number = letter ? name[0] - 'x' : strtol(name, &end, 10);
    return (letter || (digit && *end == '\0')) && number < comps ? (int)number : -1;
}

// Symmetric tensors of this many components: stress, and what laws keep.
static bool is_tensor(const char *column, int comps)
{
    bool symmetric = strcmp(column, rp_derived_table[RP_DERIVED_STRESS].name) == 0;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        symmetric = symmetric || (rp_column_table[c].comps == RP_SYMMETRIC &&
                                  strcmp(rp_column_name(c), column) == 0);
    }
    return symmetric && (comps == 3 || comps == 6);
}

static bool find_column(const rp_reader *r, const char *name, value *v)
{
    const char *dot = strrchr(name, '.');
    const size_t length = dot != NULL ? (size_t)(dot - name) : strlen(name);
    if (length >= sizeof v->column) {
        return false;
    }
    memcpy(v->column, name, length);
    v->column[length] = '\0';
    const int k = derived_named(r, v->column);
    const rp_frame_column_info *column =
        k < RP_DERIVED_COUNT ? &rp_derived_table[k] : rp_frame_column_named(r->frame, v->column);
    if (column == NULL) {
        return false;
    }
    v->comps = column->comps;
    v->comp = dot != NULL     ? component(dot + 1, v->comps, is_tensor(v->column, v->comps))
              : v->comps == 1 ? 0
                              : -1;
    v->info.needs |= k < RP_DERIVED_COUNT ? RP_READ_STRESS : 0;
    v->info.length = dot == NULL && v->comps > 1;
    memcpy(v->info.unit, column->unit, sizeof v->info.unit);
    return dot == NULL || v->comp >= 0;
}

static int up_of(const rp_reader *r)
{
    rp_record_info info;
    if (r->record == NULL) {
        return rp_record_up(r->frame->path);
    }
    rp_record_get_info(r->record, &info);
    return info.up;
}

static bool find_value(const rp_reader *r, const char *name, value *v)
{
    static const struct {
        const char *name, *column; // that it is another name of
        value value;
    } words[] = {
        {"speed", "velocity", {.info = {.unit = "m/s", .needs = RP_READ_VELOCITY}}},
        {"height", "position.y", {.info = {.unit = "m", .needs = RP_READ_POSITION}}},
        {"smooth_pressure", "pressure", {.from = FROM_SMOOTH, .info = {.unit = "Pa"}}},
        {"material", NULL, {FROM_MATERIAL, .info = {"1", RP_READ_GROUP, .names = true}}},
        {"body", NULL, {FROM_FIELD, .info = {"1", RP_READ_GROUP, .names = true}}},
        {"species", NULL, {FROM_SPECIES, .info = {"1", RP_READ_GROUP, .names = true}}},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].name, name) == 0) {
            *v = words[i].value;
            if (words[i].column != NULL) {
                const bool z = strcmp(name, "height") == 0 && up_of(r) == 2;
                find_column(r, z ? "position.z" : words[i].column,
                            v); // rp_reader_need() tells when it is not there
            }
            return true;
        }
    }
    *v = (value){.from = FROM_COLUMN};
    return find_column(r, name, v);
}

bool rp_reader_knows(const rp_reader *r, const char *name, rp_value_info *out)
{
    value v;
    const bool known = find_value(r, name, &v);
    *out = known ? v.info : (rp_value_info){.unit = "1"};
    return known;
}

static const char *body_name(const rp_reader *r, int number)
{
    rp_record_info info = {.bodies = 0};
    if (r->record != NULL) {
        rp_record_get_info(r->record, &info);
    }
    return number < info.bodies ? rp_record_body(r->record, number) : NULL;
}

const char *rp_reader_label(const rp_reader *r, const char *name, int number)
{
    value v;
    const bool known = find_value(r, name, &v) && number >= 0;
    return known && v.from == FROM_MATERIAL && number < r->mixture.materials
               ? rp_record_material(r->record, number)->name
           : known && v.from == FROM_SPECIES ? rp_reader_species(r, number)
           : known && v.from == FROM_FIELD   ? body_name(r, number)
                                             : NULL;
}

// @param rows [count][comps] of a column
static rp_result read_values(rp_reader *r, const value *v, int64_t first, int64_t count,
                             double *rows, double *out)
{
    rp_batch *b = &r->scratch;
    switch (v->from) {
    case FROM_SMOOTH:
        RP_TRY(r->smoothed ? RP_OK : smooth_pressure(r));
        b->want = RP_READ_POSITION;
        RP_TRY(read_stored(r, first, count, b));
        for (int64_t i = 0; i < count; i++) {
            out[i] = rp_smooth_at(&r->smooth, b->position[i]);
        }
        return RP_OK;
    case FROM_MATERIAL:
    case FROM_FIELD:
    case FROM_SPECIES:
        b->want = RP_READ_GROUP;
        RP_TRY(read_stored(r, first, count, b));
        for (int64_t i = 0; i < count; i++) {
            out[i] = v->from == FROM_MATERIAL ? b->material[i]
                     : v->from == FROM_FIELD  ? b->field[i]
                                              : b->species[i];
        }
        return RP_OK;
    default:
        RP_TRY(rp_reader_read_column(r, v->column, first, count, v->comps == 1 ? out : rows));
        for (int64_t i = 0; i < count && v->comps > 1; i++) {
            const double *x = rows + v->comps * i;
            double square = 0.0;
            for (int c = 0; c < v->comps; c++) {
                square += x[c] * x[c];
            }
            out[i] = v->comp >= 0 ? x[v->comp] : sqrt(square);
        }
        return RP_OK;
    }
}

rp_result rp_reader_values(rp_reader *r, const char *name, int64_t first, int64_t count,
                           double *out)
{
    value v;
    if (!find_value(r, name, &v)) {
        return rp_fail(RP_ERR_ARGUMENT, "%s has no column '%s'", r->frame->path, name);
    }
    RP_TRY(rp_frame_check_rows(r->frame, first, count));
    RP_TRY(rp_reader_need(r, v.info.needs, name));
    const int64_t most = count < RP_BATCH ? count : RP_BATCH;
    double *rows = malloc(((size_t)(most * v.comps) + 1) * sizeof *rows);
    rp_result result = rows != NULL
                           ? RP_OK
                           : rp_fail(RP_ERR_MEMORY, "no memory for a column of %s", r->frame->path);
    for (int64_t done = 0; done < count && result == RP_OK; done += most) {
        const int64_t left = count - done;
        result = read_values(r, &v, first + done, left < most ? left : most, rows, out + done);
    }
    free(rows);
    return result;
}

rp_result rp_reader_largest(rp_reader *r, double *volume)
{
    rp_batch b = {.want = RP_READ_MASS};
    rp_result result = RP_OK;
    *volume = 0.0;
    for (int i = 0; i < r->groups; i++) {
        *volume = fmax(*volume, r->group[i].volume);
    }
    if (has_column(r, "volume", 1)) {
        *volume = 0.0;
        while ((result = rp_reader_next(r, &b)) == RP_OK && b.count > 0) {
            for (int64_t i = 0; i < b.count; i++) {
                *volume = fmax(*volume, b.volume[i]);
            }
        }
        rp_batch_free(&b);
    }
    return result;
}

// ---- opening ----

rp_result rp_reader_open(const char *path, const rp_record *record, rp_reader **out)
{
    rp_reader *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory to read %s", path);
    }
    rp_record_info info = {0};
    if (record != NULL) {
        rp_record_get_info(record, &info);
    }
    r->record = record;
    rp_result result = rp_frame_open(path, &r->frame);
    result = result == RP_OK ? rp_frame_groups(r->frame, &r->group, &r->groups) : result;
    result = result == RP_OK
                 ? rp_mixture_open(&r->mixture,
                                   info.materials > 0 ? rp_record_material(record, 0) : NULL,
                                   info.materials, r->frame->info.dimension, RP_BATCH)
                 : result;
    if (result != RP_OK) {
        rp_reader_close(r);
        return result;
    }
    *out = r;
    return RP_OK;
}

void rp_reader_close(rp_reader *r)
{
    if (r != NULL) {
        rp_frame_close(r->frame);
        rp_batch_free(&r->scratch);
        free(r->group);
        for (int c = 0; c < RP_COL_COUNT; c++) {
            free(r->column[c]);
        }
        rp_mixture_close(&r->mixture);
        rp_smooth_close(&r->smooth);
        free(r);
    }
}

const rp_frame_info *rp_reader_info(const rp_reader *r) { return &r->frame->info; }
const rp_frame *rp_reader_frame(const rp_reader *r) { return r->frame; }
const rp_record *rp_reader_record(const rp_reader *r) { return r->record; }
