// A frame without what only a restart needs: everything else is copied as it is.
#include "io/frame.h"

#include "base/result.h"
#include "io/seal.h"
#include "repose/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_only[] = {RP_AT_AFFINE, RP_AT_PAGES, RP_AT_POSITION, RP_AT_REGISTRY,
                                         RP_AT_ENTRIES};

enum { DEEPEST = 4 }; // groups within groups that a frame has

typedef struct copier {
    hid_t from, to;
    char path[4 * RP_FRAME_PATH]; // of the group that is being copied; "" for the root
    int depth;
} copier;

static bool is_state_only(const char *path)
{
    for (size_t i = 0; i < sizeof state_only / sizeof state_only[0]; i++) {
        if (strcmp(path, state_only[i]) == 0) {
            return true;
        }
    }
    return false;
}

static herr_t copy_attribute_data(hid_t from, hid_t to, hid_t type)
{
    const size_t bytes = (size_t)H5Aget_storage_size(from);
    void *data = malloc(bytes > 0 ? bytes : 1);
    const herr_t status =
        data != NULL && H5Aread(from, type, data) >= 0 && H5Awrite(to, type, data) >= 0 ? 0 : -1;
    free(data);
    return status;
}

static herr_t copy_attribute(hid_t object, const char *name, const H5A_info_t *info, void *target)
{
    (void)info;
    const hid_t from = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t type = H5Aget_type(from), space = H5Aget_space(from);
    const hid_t to = H5Acreate2(*(hid_t *)target, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const herr_t status = to >= 0 ? copy_attribute_data(from, to, type) : -1;
    H5Aclose(to);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(from);
    return status;
}

static herr_t copy_members(copier *c);

static herr_t copy_group(copier *c)
{
    const hid_t from = H5Gopen2(c->from, c->path, H5P_DEFAULT);
    hid_t to = H5Gcreate2(c->to, c->path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    herr_t status = from >= 0 && to >= 0 ? 0 : -1;
    if (status >= 0) {
        status = H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_attribute, &to);
    }
    H5Gclose(to);
    H5Gclose(from);
    return status >= 0 ? copy_members(c) : -1;
}

static herr_t copy_member(hid_t group, const char *name, const H5L_info_t *link, void *context)
{
    (void)group;
    copier *c = context;
    const size_t parent = strlen(c->path);
    H5O_info_t info;
    const int length =
        snprintf(c->path + parent, sizeof c->path - parent, "%s%s", parent > 0 ? "/" : "", name);
    herr_t status = -1;
    if (length > 0 && (size_t)length < sizeof c->path - parent && link->type == H5L_TYPE_HARD &&
        H5Oget_info_by_name2(c->from, c->path, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0) {
        status = is_state_only(c->path) ? 0
                 : info.type == H5O_TYPE_GROUP
                     ? copy_group(c)
                     : H5Ocopy(c->from, c->path, c->to, c->path, H5P_DEFAULT, H5P_DEFAULT);
    }
    c->path[parent] = 0;
    return status;
}

static herr_t copy_members(copier *c)
{
    if (c->depth == DEEPEST) {
        return -1;
    }
    c->depth++;
    const herr_t status = H5Literate_by_name(c->from, c->path[0] ? c->path : "/", H5_INDEX_NAME,
                                             H5_ITER_INC, NULL, copy_member, c, H5P_DEFAULT);
    c->depth--;
    return status;
}

static rp_result write_copy(const rp_frame *frame, const rp_file *file)
{
    rp_h5 h5;
    RP_TRY(rp_h5_create(&h5, file->fd, file->path));
    copier c = {.from = frame->h5.file, .to = h5.file};
    rp_h5_expect(&h5, copy_members(&c));
    RP_TRY(rp_h5_close(&h5));
    return rp_seal(file->fd, file->path);
}

rp_result rp_frame_drop_state(const char *path)
{
    rp_frame *frame;
    rp_file file;
    RP_TRY(rp_frame_open(path, &frame));
    rp_result result = frame->info.whole ? rp_file_replace(&file, path) : RP_OK;
    if (result == RP_OK && frame->info.whole) {
        result = rp_file_end(&file, write_copy(frame, &file));
    }
    rp_frame_close(frame);
    return result;
}
