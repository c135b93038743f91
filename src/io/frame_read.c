// Looking at a frame: what it is of, and its columns.
#include "io/frame.h"

#include "base/memory.h"
#include "base/result.h"
#include "io/seal.h"
#include "repose/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// --- opening ---

// An ordinary file, or why not. A pipe does not make us wait.
static rp_result open_file(const char *path, int *fd)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, &info) != 0) {
        return rp_file_cannot("read", path, errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return rp_fail(RP_ERR_FILE, "cannot read %s: %s", path,
                       S_ISDIR(info.st_mode) ? strerror(EISDIR) : "it is no ordinary file");
    }
    return RP_OK;
}

static rp_result check_format(const rp_h5 *h5, int *out)
{
    int32_t format;
    if (!rp_h5_has_attribute(h5, RP_AT_REPOSE, "format")) {
        return rp_h5_damaged(h5, "no frame of Repose: /repose@format is missing");
    }
    RP_TRY(rp_h5_get_numbers(h5, RP_AT_REPOSE, "format", RP_H5_I32, 1, &format));
    if (format > RP_FRAME_FORMAT) {
        // not damaged: nobody may take its place
        rp_h5_damaged(h5,
                      "this frame has format %d, this version reads up to %d: use a newer Repose",
                      format, RP_FRAME_FORMAT);
        return RP_ERR_UNSUPPORTED;
    }
    *out = format;
    return format >= 1 ? RP_OK : rp_h5_damaged(h5, "this frame has format %d", format);
}

static rp_result read_precision(const rp_h5 *h5, rp_precision *precision)
{
    char text[16];
    RP_TRY(rp_h5_get_text(h5, RP_AT_REPOSE, "precision", text, sizeof text));
    if (strcmp(text, "single") != 0 && strcmp(text, "double") != 0) {
        return rp_h5_damaged(h5, "/repose@precision is '%s'", text);
    }
    *precision = strcmp(text, "single") == 0 ? RP_SINGLE : RP_DOUBLE;
    return RP_OK;
}

// Frames of format 1 have one species, and do not name it.
static rp_result read_species(rp_frame *frame)
{
    uint64_t count = 1;
    if (frame->format == 1) {
        strcpy(frame->species_name[0], "solid");
    } else {
        RP_TRY(rp_h5_count_texts(&frame->h5, RP_AT_SPECIES "/name", RP_SPECIES_NAME, &count));
        if (count > RP_SET_LIMIT) {
            return rp_h5_damaged(&frame->h5, "%llu species", (unsigned long long)count);
        }
        RP_TRY(rp_h5_get_texts(&frame->h5, RP_AT_SPECIES "/name", RP_SPECIES_NAME, count,
                               frame->species_name));
    }
    for (uint64_t s = 0; s < count; s++) {
        frame->species_name[s][RP_SPECIES_NAME - 1] = '\0';
    }
    frame->species = (int)count;
    return RP_OK;
}

static rp_result read_info(rp_frame *frame)
{
    const rp_h5 *h5 = &frame->h5;
    rp_frame_info *info = &frame->info;
    int32_t dimension;
    RP_TRY(check_format(h5, &frame->format));
    info->format = frame->format;
    RP_TRY(rp_h5_get_numbers(h5, RP_AT_REPOSE, "frame", RP_H5_I64, 1, &info->frame));
    RP_TRY(rp_h5_get_numbers(h5, RP_AT_REPOSE, "step", RP_H5_I64, 1, &info->step));
    RP_TRY(rp_h5_get_numbers(h5, RP_AT_REPOSE, "time", RP_H5_F64, 1, &info->time));
    RP_TRY(rp_h5_get_numbers(h5, RP_AT_REPOSE, "dx", RP_H5_F64, 1, &info->dx));
    RP_TRY(rp_h5_get_numbers(h5, RP_AT_REPOSE, "fps", RP_H5_F64, 1, &info->fps));
    RP_TRY(rp_h5_get_numbers(h5, RP_AT_REPOSE, "dimension", RP_H5_I32, 1, &dimension));
    RP_TRY(read_precision(h5, &info->precision));
    RP_TRY(rp_h5_get_text(h5, RP_AT_REPOSE, "title", info->title, sizeof info->title));
    RP_TRY(rp_h5_get_text(h5, RP_AT_REPOSE, "failure", info->failure, sizeof info->failure));
    if (dimension != 2 && dimension != 3) {
        return rp_h5_damaged(h5, "a frame of %d dimensions", dimension);
    }
    info->dimension = dimension;
    RP_TRY(read_species(frame));
    info->species = frame->species;
    info->whole = rp_h5_has(h5, RP_AT_PAGES);
    return RP_OK;
}

// --- columns ---

static void path_of_column(const char *name, char path[RP_FRAME_PATH])
{
    if (strcmp(name, "position") == 0) {
        snprintf(path, RP_FRAME_PATH, RP_AT_POINTS);
    } else {
        snprintf(path, RP_FRAME_PATH, RP_AT_COLUMNS "/%s", name);
    }
}

// Takes a dataset into the list of columns.
static rp_result add_column(rp_frame *frame, const char *name)
{
    rp_frame_column_info *column = &frame->column[frame->info.columns];
    char path[RP_FRAME_PATH];
    rp_h5_rows rows;
    if (strlen(name) >= sizeof column->name || frame->info.columns == RP_FRAME_COLUMNS) {
        return rp_h5_damaged(&frame->h5, "more or longer names of columns than a frame may have");
    }
    snprintf(column->name, sizeof column->name, "%s", name);
    path_of_column(name, path);
    RP_TRY(rp_h5_open_rows(&frame->h5, path, &rows));
    column->comps = rows.comps > 0 ? rows.comps : 1;
    const uint64_t count = rows.rows;
    rp_h5_close_rows(&rows);
    if (frame->info.columns == 0) {
        frame->info.particles = (int64_t)count;
    } else if (count != (uint64_t)frame->info.particles) {
        return rp_h5_damaged(&frame->h5, "/%s has %llu rows, there are %lld particles", path,
                             (unsigned long long)count, (long long)frame->info.particles);
    }
    RP_TRY(rp_h5_get_text(&frame->h5, path, RP_H5_UNIT, column->unit, sizeof column->unit));
    RP_TRY(rp_h5_get_text(&frame->h5, path, RP_H5_DESCRIPTION, column->sentence,
                          sizeof column->sentence));
    frame->info.columns++;
    return RP_OK;
}

typedef struct column_walk {
    rp_frame *frame;
    rp_result result;
} column_walk;

static herr_t visit_column(hid_t group, const char *name, const H5L_info_t *link, void *context)
{
    (void)group, (void)link;
    column_walk *walk = context;
    walk->result = add_column(walk->frame, name);
    return walk->result == RP_OK ? 0 : 1;
}

static rp_result find_columns(rp_frame *frame)
{
    column_walk walk = {.frame = frame, .result = RP_OK};
    RP_TRY(add_column(frame, "position"));
    if (frame->column[0].comps != 3) {
        return rp_h5_damaged(&frame->h5, "/" RP_AT_POINTS " has not three components");
    }
    if (!rp_h5_has(&frame->h5, RP_AT_COLUMNS) ||
        H5Literate_by_name(frame->h5.file, RP_AT_COLUMNS, H5_INDEX_NAME, H5_ITER_INC, NULL,
                           visit_column, &walk, H5P_DEFAULT) < 0) {
        return rp_h5_damaged(&frame->h5, "/" RP_AT_COLUMNS " is missing");
    }
    return walk.result;
}

// --- the public side ---

static rp_result open_frame(rp_frame *frame)
{
    uint64_t size = 0;
    RP_TRY(open_file(frame->path, &frame->fd));
    RP_TRY(rp_seal_check(frame->fd, frame->path, &size));
    RP_TRY(rp_h5_open(&frame->h5, frame->fd, size, frame->path));
    RP_TRY(read_info(frame));
    return find_columns(frame);
}

rp_result rp_frame_open(const char *path, rp_frame **out)
{
    rp_frame *frame = calloc(1, sizeof *frame);
    char *name = strdup(path);
    *out = NULL;
    if (frame == NULL || name == NULL) {
        free(frame);
        free(name);
        return rp_fail(RP_ERR_MEMORY, "no memory to open %s", path);
    }
    frame->fd = -1;
    frame->h5.file = -1;
    frame->path = name;
    const rp_result result = open_frame(frame);
    if (result != RP_OK) {
        rp_frame_close(frame);
        return result;
    }
    *out = frame;
    return RP_OK;
}

void rp_frame_close(rp_frame *frame)
{
    if (frame == NULL) {
        return;
    }
    rp_h5_leave(&frame->h5);
    if (frame->fd >= 0) {
        close(frame->fd);
    }
    free(frame->path);
    free(frame);
}

void rp_frame_get_info(const rp_frame *frame, rp_frame_info *out) { *out = frame->info; }

const char *rp_frame_species_name(const rp_frame *frame, int index)
{
    return index >= 0 && index < frame->species ? frame->species_name[index] : NULL;
}

rp_result rp_frame_column(const rp_frame *frame, int index, rp_frame_column_info *out)
{
    if (index < 0 || index >= frame->info.columns) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want column 0 to %d, got %d", frame->path,
                       frame->info.columns - 1, index);
    }
    *out = frame->column[index];
    return RP_OK;
}

const rp_frame_column_info *rp_frame_column_named(const rp_frame *frame, const char *name)
{
    for (int i = 0; i < frame->info.columns; i++) {
        if (strcmp(frame->column[i].name, name) == 0) {
            return &frame->column[i];
        }
    }
    return NULL;
}

rp_result rp_frame_check_rows(const rp_frame *frame, int64_t first, int64_t count)
{
    return first >= 0 && count >= 0 && first <= frame->info.particles &&
                   count <= frame->info.particles - first
               ? RP_OK
               : rp_fail(RP_ERR_ARGUMENT, "%s has %lld particles, want %lld from %lld on",
                         frame->path, (long long)frame->info.particles, (long long)count,
                         (long long)first);
}

rp_result rp_frame_read_as(const rp_frame *frame, const char *column, int64_t first, int64_t count,
                           rp_h5_type type, void *out)
{
    if (rp_frame_column_named(frame, column) == NULL) {
        return rp_fail(RP_ERR_ARGUMENT, "%s has no column '%s'", frame->path, column);
    }
    RP_TRY(rp_frame_check_rows(frame, first, count));
    char path[RP_FRAME_PATH];
    rp_h5_rows rows;
    path_of_column(column, path);
    rp_h5_enter();
    RP_TRY(rp_h5_open_rows(&frame->h5, path, &rows));
    const rp_result result =
        rp_h5_get_rows(&frame->h5, &rows, (uint64_t)first, (uint64_t)count, type, out);
    rp_h5_close_rows(&rows);
    return result;
}

rp_result rp_frame_read(const rp_frame *frame, const char *column, int64_t first, int64_t count,
                        double *out)
{
    return rp_frame_read_as(frame, column, first, count, RP_H5_F64, out);
}

// One dataset of the groups as doubles; all of them have as many rows.
static rp_result read_group_column(const rp_frame *frame, const char *name, uint64_t count,
                                   double *out)
{
    char path[RP_FRAME_PATH];
    rp_h5_rows rows;
    snprintf(path, sizeof path, RP_AT_GROUPS "/%s", name);
    RP_TRY(rp_h5_open_rows(&frame->h5, path, &rows));
    const rp_result result =
        rows.rows == count && rows.comps <= 1
            ? rp_h5_get_rows(&frame->h5, &rows, 0, count, RP_H5_F64, out)
            : rp_h5_damaged(&frame->h5, "/%s has not one number for each group", path);
    rp_h5_close_rows(&rows);
    return result;
}

static rp_result read_groups(const rp_frame *frame, uint64_t count, double *number,
                             rp_frame_group *group)
{
    static const char *const name[] = {"material", "field", "volume", "mass"};
    for (int k = 0; k < 4; k++) {
        RP_TRY(read_group_column(frame, name[k], count, number));
        for (uint64_t i = 0; i < count; i++) {
            const int whole = number[i] >= 0.0 && number[i] <= UINT16_MAX ? (int)number[i] : 0;
            switch (k) {
            case 0:
                group[i].material = whole;
                break;
            case 1:
                group[i].field = whole;
                break;
            case 2:
                group[i].volume = number[i];
                break;
            default:
                group[i].mass = number[i];
            }
        }
    }
    return RP_OK;
}

rp_result rp_frame_groups(const rp_frame *frame, rp_frame_group **groups, int *count)
{
    rp_h5_rows rows;
    *groups = NULL;
    *count = 0;
    rp_h5_enter();
    RP_TRY(rp_h5_open_rows(&frame->h5, RP_AT_GROUPS "/mass", &rows));
    const uint64_t n = rows.rows;
    rp_h5_close_rows(&rows);
    if (n > UINT16_MAX) {
        return rp_h5_damaged(&frame->h5, "%llu groups", (unsigned long long)n);
    }
    rp_frame_group *group = calloc(n + 1, sizeof *group);
    double *number = calloc(n + 1, sizeof *number);
    rp_result result = group != NULL && number != NULL
                           ? read_groups(frame, n, number, group)
                           : rp_fail(RP_ERR_MEMORY, "no memory for the groups of %s", frame->path);
    free(number);
    if (result != RP_OK) {
        free(group);
        return result;
    }
    *groups = group;
    *count = (int)n;
    return RP_OK;
}
