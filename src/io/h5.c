#include "io/h5.h"

#include "base/result.h"
#include "repose/file.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "frames are little-endian");

// What is in the file and what is in memory is the same, so that nothing is converted.
static hid_t type_id(rp_h5_type type)
{
    switch (type) {
    case RP_H5_U8:
        return H5T_STD_U8LE;
    case RP_H5_U16:
        return H5T_STD_U16LE;
    case RP_H5_I32:
        return H5T_STD_I32LE;
    case RP_H5_U64:
        return H5T_STD_U64LE;
    case RP_H5_I64:
        return H5T_STD_I64LE;
    case RP_H5_F32:
        return H5T_IEEE_F32LE;
    case RP_H5_F64:
        break;
    }
    return H5T_IEEE_F64LE;
}

int rp_h5_bytes(rp_h5_type type)
{
    const int bytes[] = {[RP_H5_U8] = 1,  [RP_H5_U16] = 2, [RP_H5_I32] = 4, [RP_H5_U64] = 8,
                         [RP_H5_I64] = 8, [RP_H5_F32] = 4, [RP_H5_F64] = 8};
    return bytes[type];
}

// --- opening, closing, and what went wrong ---

static void before_first_use(void) { H5dont_atexit(); }

void rp_h5_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, before_first_use);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

// The innermost error is the one that says something.
static herr_t keep_first(unsigned depth, const H5E_error2_t *error, void *cause)
{
    if (depth == 0 && error->desc != NULL) {
        snprintf(cause, sizeof((rp_h5 *)0)->cause, "%s", error->desc);
    }
    return 0;
}

static void note_failure(rp_h5 *h5)
{
    if (!h5->failed) {
        h5->failed = true;
        snprintf(h5->cause, sizeof h5->cause, "HDF5 gave up");
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, h5->cause);
    }
}

// The id, or a negative one when it or anything before failed.
static hid_t good(rp_h5 *h5, hid_t id)
{
    if (id < 0) {
        note_failure(h5);
    }
    return id;
}

void rp_h5_expect(rp_h5 *h5, herr_t status) { good(h5, status); }

static void start(rp_h5 *h5, int fd, uint64_t size, const char *path)
{
    *h5 = (rp_h5){.file = -1, .disk = {.fd = fd, .size = size}, .path = path};
    rp_h5_enter();
}

rp_result rp_h5_create(rp_h5 *h5, int fd, const char *path)
{
    start(h5, fd, 0, path);
    const hid_t access = good(h5, rp_disk_access(&h5->disk));
    if (access >= 0) {
        h5->file = good(h5, H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access));
        H5Pclose(access);
    }
    return h5->file >= 0 ? RP_OK : rp_h5_close(h5);
}

rp_result rp_h5_open(rp_h5 *h5, int fd, uint64_t size, const char *path)
{
    start(h5, fd, size, path);
    const hid_t access = rp_disk_access(&h5->disk);
    if (access >= 0) {
        h5->file = H5Fopen(path, H5F_ACC_RDONLY, access);
        H5Pclose(access);
    }
    if (h5->file >= 0) {
        return RP_OK;
    }
    rp_disk_release(&h5->disk);
    return h5->disk.error != 0 ? rp_file_cannot("read", path, h5->disk.error)
                               : rp_h5_damaged(h5, "HDF5 cannot make sense of it");
}

rp_result rp_h5_close(rp_h5 *h5)
{
    if (h5->file >= 0) {
        rp_h5_expect(h5, H5Fclose(h5->file));
    }
    rp_disk_release(&h5->disk);
    h5->file = -1;
    if (h5->disk.error != 0) {
        return rp_file_cannot("write", h5->path, h5->disk.error);
    }
    return h5->failed ? rp_fail(RP_ERR_FILE, "cannot write %s: %s", h5->path, h5->cause) : RP_OK;
}

void rp_h5_leave(rp_h5 *h5)
{
    if (h5->file >= 0) {
        rp_h5_enter();
        H5Fclose(h5->file);
        rp_disk_release(&h5->disk);
    }
    h5->file = -1;
}

rp_result rp_h5_damaged(const rp_h5 *h5, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return rp_fail(RP_ERR_FILE, "%s: %s", h5->path, what);
}

// --- writing ---

// A failed disk only makes the rest a waste of time: HDF5 has noticed nothing.
static bool stopped(const rp_h5 *h5) { return h5->failed || h5->disk.error != 0; }

void rp_h5_put_group(rp_h5 *h5, const char *path)
{
    if (stopped(h5)) {
        return;
    }
    const hid_t group = good(h5, H5Gcreate2(h5->file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (group >= 0) {
        rp_h5_expect(h5, H5Gclose(group));
    }
}

static void put_attribute(rp_h5 *h5, const char *object, const char *name, hid_t type, hid_t space,
                          const void *data)
{
    const hid_t attribute = good(h5, H5Acreate_by_name(h5->file, object, name, type, space,
                                                       H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (attribute >= 0) {
        rp_h5_expect(h5, H5Awrite(attribute, type, data));
        rp_h5_expect(h5, H5Aclose(attribute));
    }
}

static hid_t text_type(size_t bytes, H5T_cset_t set)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, bytes) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
                      H5Tset_cset(type, set) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

// Bytes of a text when it must not be longer than `most`: no character is cut in two.
static size_t cut_text(const char *text, size_t most)
{
    size_t length = strnlen(text, most + 1);
    if (length > most) {
        length = most;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    return length;
}

static bool is_ascii(const char *text)
{
    while (*text > 0) {
        text++;
    }
    return *text == 0;
}

void rp_h5_put_text(rp_h5 *h5, const char *object, const char *name, const char *text)
{
    if (stopped(h5)) {
        return;
    }
    // an empty text takes a byte, since HDF5 has no type of none
    const size_t length = cut_text(text, RP_H5_TEXT - 1);
    const hid_t type = good(
        h5, text_type(length > 0 ? length : 1, is_ascii(text) ? H5T_CSET_ASCII : H5T_CSET_UTF8));
    const hid_t space = good(h5, H5Screate(H5S_SCALAR));
    if (type >= 0 && space >= 0) {
        put_attribute(h5, object, name, type, space, text);
    }
    H5Sclose(space);
    H5Tclose(type);
}

void rp_h5_put_numbers(rp_h5 *h5, const char *object, const char *name, rp_h5_type type, int count,
                       const void *numbers)
{
    if (stopped(h5)) {
        return;
    }
    const hsize_t extent = (hsize_t)count;
    const hid_t space =
        good(h5, count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, NULL));
    if (space >= 0) {
        put_attribute(h5, object, name, type_id(type), space, numbers);
        H5Sclose(space);
    }
}

// How a dataset is laid out. No times in it, so that the same state gives the same file; nothing is
// filled in, since every row is written.
static hid_t creation(const rp_h5_spec *spec)
{
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    bool fine = list >= 0 && H5Pset_obj_track_times(list, 0) >= 0 &&
                H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0;
    if (fine && spec->packed && spec->rows > 0) {
        const hsize_t chunk = spec->rows < RP_H5_CHUNK ? spec->rows : RP_H5_CHUNK;
        // H5Pset_deflate() would let it be left out where memory runs out: other bytes for the same
        // frame
        const unsigned level = 1;
        fine = H5Pset_chunk(list, 1, &chunk) >= 0 &&
               H5Pset_filter(list, H5Z_FILTER_SHUFFLE, H5Z_FLAG_MANDATORY, 0, NULL) >= 0 &&
               H5Pset_filter(list, H5Z_FILTER_DEFLATE, H5Z_FLAG_MANDATORY, 1, &level) >= 0;
    }
    if (!fine && list >= 0) {
        H5Pclose(list);
    }
    return fine ? list : -1;
}

static hid_t create_dataset(rp_h5 *h5, const rp_h5_spec *spec, hid_t type)
{
    const hsize_t extent[2] = {spec->rows, (hsize_t)spec->comps};
    const hid_t space = good(h5, H5Screate_simple(spec->comps > 0 ? 2 : 1, extent, NULL));
    const hid_t layout = good(h5, creation(spec));
    const hid_t link = good(h5, H5Pcreate(H5P_LINK_CREATE));
    hid_t dataset = -1;
    if (space >= 0 && layout >= 0 && link >= 0) {
        rp_h5_expect(h5, H5Pset_create_intermediate_group(link, 1));
        dataset =
            good(h5, H5Dcreate2(h5->file, spec->path, type, space, link, layout, H5P_DEFAULT));
    }
    H5Pclose(link);
    H5Pclose(layout);
    H5Sclose(space);
    if (dataset >= 0) {
        rp_h5_put_text(h5, spec->path, RP_H5_UNIT, spec->unit);
        rp_h5_put_text(h5, spec->path, RP_H5_DESCRIPTION, spec->description);
    }
    return dataset;
}

hid_t rp_h5_begin_rows(rp_h5 *h5, const rp_h5_spec *spec)
{
    return stopped(h5) ? -1 : create_dataset(h5, spec, type_id(spec->type));
}

// Pick rows of a dataset of one or two axes. @return how many axes it has, negative on failure
static int select_rows(hid_t space, uint64_t first, uint64_t count, hsize_t extent[2])
{
    const hsize_t start[2] = {first, 0};
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > 2 || H5Sget_simple_extent_dims(space, extent, NULL) < 0) {
        return -1;
    }
    extent[0] = count;
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) < 0 ? -1 : rank;
}

typedef enum direction { TO_FILE, FROM_FILE } direction;

static bool pass_rows(direction way, hid_t dataset, uint64_t first, uint64_t count, hid_t type,
                      void *rows)
{
    hsize_t extent[2] = {0, 0};
    const hid_t space = H5Dget_space(dataset);
    const int rank = space < 0 ? -1 : select_rows(space, first, count, extent);
    const hid_t memory = rank < 0 ? -1 : H5Screate_simple(rank, extent, NULL);
    bool passed = false;
    if (memory >= 0) {
        passed = way == TO_FILE ? H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, rows) >= 0
                                : H5Dread(dataset, type, memory, space, H5P_DEFAULT, rows) >= 0;
        H5Sclose(memory);
    }
    if (space >= 0) {
        H5Sclose(space);
    }
    return passed;
}

void rp_h5_put_rows(rp_h5 *h5, hid_t dataset, uint64_t first, uint64_t count, rp_h5_type type,
                    const void *rows)
{
    if (!stopped(h5) && count > 0 &&
        !pass_rows(TO_FILE, dataset, first, count, type_id(type), (void *)(uintptr_t)rows)) {
        note_failure(h5);
    }
}

void rp_h5_end_rows(rp_h5 *h5, hid_t dataset)
{
    if (dataset >= 0) {
        rp_h5_expect(h5, H5Dclose(dataset));
    }
}

void rp_h5_put_dataset(rp_h5 *h5, const rp_h5_spec *spec, const void *rows)
{
    const hid_t dataset = rp_h5_begin_rows(h5, spec);
    rp_h5_put_rows(h5, dataset, 0, spec->rows, spec->type, rows);
    rp_h5_end_rows(h5, dataset);
}

void rp_h5_put_texts(rp_h5 *h5, const char *path, int count, int bytes, const void *texts,
                     const char *description)
{
    if (stopped(h5)) {
        return;
    }
    const rp_h5_spec spec = {
        .path = path, .rows = (uint64_t)count, .unit = "1", .description = description};
    const hid_t type = good(h5, text_type((size_t)bytes, H5T_CSET_ASCII));
    if (type < 0) {
        return;
    }
    const hid_t dataset = create_dataset(h5, &spec, type);
    if (dataset >= 0 && count > 0) {
        rp_h5_expect(h5, H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts));
    }
    rp_h5_end_rows(h5, dataset);
    H5Tclose(type);
}

// --- reading ---

// A link to an object of this file: others may lead anywhere.
static bool is_hard_link(const rp_h5 *h5, const char *path)
{
    H5L_info_t link;
    return H5Lexists(h5->file, path, H5P_DEFAULT) > 0 &&
           H5Lget_info(h5->file, path, &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
}

bool rp_h5_has(const rp_h5 *h5, const char *path)
{
    // HDF5 wants every group on the way to be there
    char part[256];
    if (strlen(path) >= sizeof part) {
        return false;
    }
    for (const char *end = path; *end != 0;) {
        end += strcspn(end + 1, "/") + 1;
        snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
        if (!is_hard_link(h5, part)) {
            return false;
        }
    }
    return true;
}

bool rp_h5_has_attribute(const rp_h5 *h5, const char *object, const char *name)
{
    return rp_h5_has(h5, object) && H5Aexists_by_name(h5->file, object, name, H5P_DEFAULT) > 0;
}

static hid_t open_attribute(const rp_h5 *h5, const char *object, const char *name)
{
    return rp_h5_has_attribute(h5, object, name)
               ? H5Aopen_by_name(h5->file, object, name, H5P_DEFAULT, H5P_DEFAULT)
               : -1;
}

static int64_t numbers_in(hid_t attribute)
{
    const hid_t space = H5Aget_space(attribute);
    const hssize_t count = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    if (space >= 0) {
        H5Sclose(space);
    }
    return count;
}

// A text of known length, of less than RP_H5_TEXT bytes.
static bool is_short_text(hid_t type)
{
    return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
           H5Tget_size(type) > 0 && H5Tget_size(type) < RP_H5_TEXT;
}

rp_result rp_h5_get_text(const rp_h5 *h5, const char *object, const char *name, char *text,
                         size_t size)
{
    text[0] = 0;
    const hid_t attribute = open_attribute(h5, object, name);
    if (attribute < 0) {
        return RP_OK;
    }
    char whole[RP_H5_TEXT] = "";
    const hid_t type = H5Aget_type(attribute);
    // a type of our own with the same size: the file's may have bells
    const hid_t plain = type >= 0 && is_short_text(type) && numbers_in(attribute) == 1
                            ? text_type(H5Tget_size(type), H5Tget_cset(type))
                            : -1;
    const bool got = plain >= 0 && H5Aread(attribute, plain, whole) >= 0;
    if (plain >= 0) {
        H5Tclose(plain);
    }
    if (type >= 0) {
        H5Tclose(type);
    }
    H5Aclose(attribute);
    if (!got) {
        return rp_h5_damaged(h5, "/%s@%s is no text", object, name);
    }
    snprintf(text, size, "%.*s", (int)cut_text(whole, size - 1), whole);
    return RP_OK;
}

// Numbers may come as another type of their class when it is no wider: what a script wrote.
static bool is_number(hid_t type, rp_h5_type want)
{
    const H5T_class_t class = H5Tget_class(type);
    return class == H5Tget_class(type_id(want)) && H5Tget_size(type) <= (size_t)rp_h5_bytes(want);
}

rp_result rp_h5_get_numbers(const rp_h5 *h5, const char *object, const char *name, rp_h5_type type,
                            int count, void *numbers)
{
    const hid_t attribute = open_attribute(h5, object, name);
    if (attribute < 0) {
        return rp_h5_damaged(h5, "/%s@%s is missing", object, name);
    }
    const hid_t own = H5Aget_type(attribute);
    const bool got = own >= 0 && is_number(own, type) && numbers_in(attribute) == count &&
                     H5Aread(attribute, type_id(type), numbers) >= 0;
    if (own >= 0) {
        H5Tclose(own);
    }
    H5Aclose(attribute);
    return got ? RP_OK : rp_h5_damaged(h5, "/%s@%s is not what it should be", object, name);
}

// Rank and extents of a dataset whose numbers have `bytes` each; false when it cannot be: no
// numbers of ours are compressed, so that none take more room than the file has.
static bool measure(const rp_h5 *h5, hid_t dataset, uint64_t bytes, rp_h5_rows *rows)
{
    hsize_t extent[2] = {0, 1};
    const hid_t space = H5Dget_space(dataset);
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    const bool plain = rank >= 1 && rank <= 2 && H5Sget_simple_extent_type(space) == H5S_SIMPLE &&
                       H5Sget_simple_extent_dims(space, extent, NULL) == rank;
    if (space >= 0) {
        H5Sclose(space);
    }
    const uint64_t most = h5->disk.size / bytes;
    if (!plain || extent[1] == 0 || extent[1] > 64 || extent[0] > most / extent[1]) {
        return false;
    }
    rows->rows = extent[0];
    rows->comps = rank == 2 ? (int)extent[1] : 0;
    return true;
}

static bool is_dataset(const rp_h5 *h5, const char *path)
{
    H5O_info_t info;
    return rp_h5_has(h5, path) &&
           H5Oget_info_by_name2(h5->file, path, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
           info.type == H5O_TYPE_DATASET;
}

// One run of bytes in this file: neither compressed, nor put together from elsewhere.
static bool is_plain(hid_t dataset)
{
    const hid_t creation_list = H5Dget_create_plist(dataset);
    const bool plain = creation_list >= 0 && H5Pget_layout(creation_list) == H5D_CONTIGUOUS &&
                       H5Pget_external_count(creation_list) == 0;
    if (creation_list >= 0) {
        H5Pclose(creation_list);
    }
    return plain;
}

static hid_t open_dataset(const rp_h5 *h5, const char *path)
{
    const hid_t dataset = is_dataset(h5, path) ? H5Dopen2(h5->file, path, H5P_DEFAULT) : -1;
    if (dataset >= 0 && !is_plain(dataset)) {
        H5Dclose(dataset);
        return -1;
    }
    return dataset;
}

// Fills in what its type says; false when it is none of numbers.
static bool look_at_type(hid_t dataset, rp_h5_rows *rows)
{
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    const size_t bytes = type < 0 ? 0 : H5Tget_size(type);
    if (type >= 0) {
        H5Tclose(type);
    }
    rows->bytes = (int)bytes;
    return (class == H5T_INTEGER || class == H5T_FLOAT) && bytes >= 1 && bytes <= 8;
}

rp_result rp_h5_open_rows(const rp_h5 *h5, const char *path, rp_h5_rows *rows)
{
    *rows = (rp_h5_rows){.dataset = open_dataset(h5, path)};
    if (rows->dataset < 0) {
        return rp_h5_damaged(h5, "/%s is missing or no dataset of a frame", path);
    }
    if (!look_at_type(rows->dataset, rows) ||
        !measure(h5, rows->dataset, (uint64_t)rows->bytes, rows)) {
        rp_h5_close_rows(rows);
        return rp_h5_damaged(h5, "/%s is no rows of numbers, or larger than the file", path);
    }
    return RP_OK;
}

rp_result rp_h5_expect_rows(const rp_h5 *h5, const char *path, rp_h5_type type, uint64_t count,
                            int comps, rp_h5_rows *rows)
{
    RP_TRY(rp_h5_open_rows(h5, path, rows));
    const hid_t own = H5Dget_type(rows->dataset);
    const bool same = own >= 0 && H5Tequal(own, type_id(type)) > 0;
    if (own >= 0) {
        H5Tclose(own);
    }
    if (!same || rows->rows != count || rows->comps != comps) {
        rp_h5_close_rows(rows);
        return rp_h5_damaged(h5, "/%s has not the type or not the size it should have", path);
    }
    return RP_OK;
}

void rp_h5_close_rows(rp_h5_rows *rows)
{
    if (rows->dataset >= 0) {
        H5Dclose(rows->dataset);
    }
    rows->dataset = -1;
}

rp_result rp_h5_get_rows(const rp_h5 *h5, const rp_h5_rows *rows, uint64_t first, uint64_t count,
                         rp_h5_type type, void *out)
{
    RP_ASSERT(first <= rows->rows && count <= rows->rows - first);
    if (count == 0 || pass_rows(FROM_FILE, rows->dataset, first, count, type_id(type), out)) {
        return RP_OK;
    }
    return h5->disk.error != 0 ? rp_file_cannot("read", h5->path, h5->disk.error)
                               : rp_h5_damaged(h5, "HDF5 cannot read a part of it");
}

rp_result rp_h5_get_dataset(const rp_h5 *h5, const char *path, rp_h5_type type, uint64_t count,
                            int comps, void *out)
{
    rp_h5_rows rows;
    RP_TRY(rp_h5_expect_rows(h5, path, type, count, comps, &rows));
    const rp_result result = rp_h5_get_rows(h5, &rows, 0, count, type, out);
    rp_h5_close_rows(&rows);
    return result;
}

// Opens a dataset of texts of `bytes` each; negative when it is none.
static hid_t open_texts(const rp_h5 *h5, const char *path, int bytes, rp_h5_rows *rows)
{
    const hid_t dataset = open_dataset(h5, path);
    const hid_t type = dataset < 0 ? -1 : H5Dget_type(dataset);
    const bool texts = type >= 0 && is_short_text(type) && H5Tget_size(type) == (size_t)bytes &&
                       measure(h5, dataset, (uint64_t)bytes, rows) && rows->comps == 0;
    if (type >= 0) {
        H5Tclose(type);
    }
    if (!texts && dataset >= 0) {
        H5Dclose(dataset);
    }
    return texts ? dataset : -1;
}

rp_result rp_h5_count_texts(const rp_h5 *h5, const char *path, int bytes, uint64_t *count)
{
    rp_h5_rows rows;
    const hid_t dataset = open_texts(h5, path, bytes, &rows);
    if (dataset < 0) {
        return rp_h5_damaged(h5, "/%s is missing or no list of names", path);
    }
    *count = rows.rows;
    H5Dclose(dataset);
    return RP_OK;
}

rp_result rp_h5_get_texts(const rp_h5 *h5, const char *path, int bytes, uint64_t count, void *out)
{
    rp_h5_rows rows;
    const hid_t dataset = open_texts(h5, path, bytes, &rows);
    const hid_t type = dataset < 0 ? -1 : text_type((size_t)bytes, H5T_CSET_ASCII);
    const bool got =
        type >= 0 && rows.rows == count &&
        (count == 0 || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    if (type >= 0) {
        H5Tclose(type);
    }
    if (dataset >= 0) {
        H5Dclose(dataset);
    }
    return got ? RP_OK : rp_h5_damaged(h5, "/%s cannot be read", path);
}
