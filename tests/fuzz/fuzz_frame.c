// Hostile frames. An input is one of two things:
//
//   a file          it starts as HDF5 does: opened as it is. The seal refuses nearly all of them
//                   before HDF5 sees them, which is the point: HDF5 itself falls over some.
//   a list of edits anything else: done to a good frame through HDF5, and sealed again. So the file
//                   is sound and what it says is not, and all that is tested is our own reader.
//
// Edits are a few bytes each: what to do, to which object, and how. Whatever comes of it, a state
// that is read must survive being written and read again.
#define _GNU_SOURCE // memfd_create
#include "base/result.h"
#include "io/disk.h"
#include "io/seal.h"
#include "repose/reader.h"

#include "frame_world.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// --- files in memory ---

typedef struct memory_file {
    int fd;
    char path[64];
} memory_file;

static memory_file new_file(void)
{
    memory_file file = {.fd = memfd_create("frame", MFD_CLOEXEC)};
    RP_ASSERT(file.fd >= 0);
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

static void fill_file(const memory_file *file, const void *data, size_t size)
{
    RP_ASSERT(pwrite(file->fd, data, size, 0) == (ssize_t)size);
}

// For files that must have a name: where syncing costs nothing.
static void new_folder(char folder[64])
{
    snprintf(folder, 64, "%s/repose-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    RP_ASSERT(mkdtemp(folder) != NULL);
}

// --- good frames to start from ---

enum { BASES = 4, MOST_NAMES = 100, MOST_BYTES = 1 << 16 };

typedef struct base_frame {
    rp_world *world;
    void *data;
    size_t size;
    char name[MOST_NAMES][96]; // of all objects in it
    int names;
} base_frame;

static herr_t note_name(hid_t file, const char *name, const H5O_info_t *info, void *context)
{
    (void)file, (void)info;
    base_frame *base = context;
    if (base->names < MOST_NAMES) {
        snprintf(base->name[base->names++], sizeof base->name[0], "%s", name);
    }
    return 0;
}

static void make_base(base_frame *base, int which)
{
    const uint64_t guilty[] = {2};
    char folder[64], path[80];
    new_folder(folder);
    snprintf(path, sizeof path, "%s/base.hdf", folder);
    base->world =
        frame_world(2 + which % 2, which / 2 ? RP_DOUBLE : RP_SINGLE, 2, FRAME_PENDING, 1);
    frame_state state = frame_world_save(base->world);
    RP_ASSERT(rp_frame_write(path, state.data, state.size,
                             &(rp_frame_words){.title = "base",
                                               .failure = "none",
                                               .guilty = guilty,
                                               .guilty_count = 1}) == RP_OK);
    rp_state_free(state.data);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, note_name, base, H5O_INFO_BASIC);
    H5Fclose(file);
    FILE *in = fopen(path, "rb");
    base->data = malloc(MOST_BYTES);
    base->size = fread(base->data, 1, MOST_BYTES, in);
    RP_ASSERT(base->size < MOST_BYTES);
    fclose(in);
    unlink(path);
    rmdir(folder);
}

static const base_frame *base_frame_of(int which)
{
    static base_frame base[BASES];
    if (base[which].data == NULL) {
        make_base(&base[which], which);
    }
    return &base[which];
}

// --- edits ---

typedef struct script {
    const uint8_t *at, *end;
} script;

static uint64_t take(script *s, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes && s->at < s->end; i++) {
        value |= (uint64_t)*s->at++ << 8 * i;
    }
    return value;
}

static hid_t some_type(script *s)
{
    const hid_t types[] = {H5T_STD_U8LE,      H5T_STD_U16LE,  H5T_STD_I32LE,  H5T_STD_U64LE,
                           H5T_STD_I64LE,     H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F64BE,
                           H5T_STD_I16BE,     H5T_C_S1,       H5T_STD_B8LE,   H5T_STD_REF_OBJ,
                           H5T_NATIVE_LDOUBLE};
    return types[take(s, 1) % (sizeof types / sizeof types[0])];
}

static hid_t some_space(script *s)
{
    // a third extent is mostly 1; the first may be far more than there is
    const int rank = (int)(take(s, 1) % 4), wide = (int)(take(s, 1) % 5);
    const hsize_t extent[3] = {take(s, wide), take(s, 1), 1};
    return rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, extent, NULL);
}

// Some bytes of a dataset or an attribute, in its own type.
static void scribble(script *s, char *data, size_t size)
{
    const size_t at = take(s, 2);
    const int bytes = 1 << take(s, 1) % 4;
    const uint64_t value = take(s, bytes);
    if (size >= (size_t)bytes) {
        memcpy(data + at % (size - (size_t)bytes + 1), &value, (size_t)bytes);
    }
}

static void change_dataset(script *s, hid_t object)
{
    static char data[MOST_BYTES];
    const hid_t type = H5Dget_type(object), space = H5Dget_space(object);
    const size_t size = H5Tget_size(type) * (size_t)H5Sget_simple_extent_npoints(space);
    if (size <= sizeof data && H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0) {
        scribble(s, data, size);
        H5Dwrite(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    }
    H5Sclose(space);
    H5Tclose(type);
}

static void change_attribute(script *s, hid_t object)
{
    static char data[MOST_BYTES];
    const int count = H5Aget_num_attrs(object);
    const hsize_t which = take(s, 1);
    if (count <= 0) {
        return;
    }
    const hid_t attribute = H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC,
                                           which % (hsize_t)count, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    if (H5Aget_storage_size(attribute) <= sizeof data && H5Aread(attribute, type, data) >= 0) {
        scribble(s, data, (size_t)H5Aget_storage_size(attribute));
        H5Awrite(attribute, type, data);
    }
    H5Tclose(type);
    H5Aclose(attribute);
}

// Another type or extent, or gone.
static void replace_attribute(script *s, hid_t object)
{
    char name[64];
    const int count = H5Aget_num_attrs(object);
    const hsize_t which = take(s, 1);
    if (count <= 0 ||
        H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, which % (hsize_t)count, name,
                           sizeof name, H5P_DEFAULT) < 0) {
        return;
    }
    H5Adelete(object, name);
    if (take(s, 1) % 4 > 0) {
        const hid_t type = some_type(s), space = some_space(s);
        H5Aclose(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose(space);
    }
}

// Another dataset, a group, another object by the same name, or nothing.
static void replace_object(script *s, hid_t file, const char *name, const base_frame *base)
{
    const int how = (int)(take(s, 1) % 6);
    H5Ldelete(file, name, H5P_DEFAULT);
    if (how == 1) {
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    } else if (how == 2) {
        const char *other = base->name[take(s, 1) % (uint64_t)base->names];
        H5Lcreate_hard(file, other, file, name, H5P_DEFAULT, H5P_DEFAULT);
    } else if (how == 3) {
        const char *other = base->name[take(s, 1) % (uint64_t)base->names];
        H5Lcreate_soft(other, file, name, H5P_DEFAULT, H5P_DEFAULT);
    } else if (how > 3) {
        const hid_t type = some_type(s), space = some_space(s);
        H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose(space);
    }
}

static void edit(script *s, hid_t file, const base_frame *base)
{
    const int what = (int)(take(s, 1) % 4);
    const char *name = base->name[take(s, 1) % (uint64_t)base->names];
    if (what == 0) {
        replace_object(s, file, name, base);
        return;
    }
    const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (object < 0) {
        return;
    }
    if (what == 1) {
        change_attribute(s, object);
    } else if (what == 2) {
        replace_attribute(s, object);
    } else if (H5Iget_type(object) == H5I_DATASET) {
        change_dataset(s, object);
    }
    H5Oclose(object);
}

static void edit_file(script *s, const memory_file *file, const base_frame *base)
{
    rp_disk disk = {.fd = file->fd, .size = base->size};
    const hid_t access = rp_disk_access(&disk);
    const hid_t h5 = H5Fopen(file->path, H5F_ACC_RDWR, access);
    H5Pclose(access);
    RP_ASSERT(h5 >= 0);
    while (s->at < s->end) {
        edit(s, h5, base);
    }
    H5Fclose(h5);
    rp_disk_release(&disk);
    RP_ASSERT(rp_seal(file->fd, file->path) == RP_OK);
}

// --- what is done with the result ---

static void must_have_a_sentence(rp_result result)
{
    if (result != RP_OK) {
        RP_ASSERT(rp_last_error()[0] != 0);
    }
}

static void look_at(const char *path)
{
    static double out[1 << 20];
    rp_frame *frame;
    rp_frame_info info;
    const rp_result opened = rp_frame_open(path, &frame);
    must_have_a_sentence(opened);
    if (opened != RP_OK) {
        return;
    }
    rp_frame_get_info(frame, &info);
    for (int i = 0; i < info.columns; i++) {
        rp_frame_column_info column;
        RP_ASSERT(rp_frame_column(frame, i, &column) == RP_OK);
        if (info.particles * column.comps <= (int64_t)(sizeof out / sizeof *out)) {
            must_have_a_sentence(rp_frame_read(frame, column.name, 0, info.particles, out));
        }
    }
    rp_frame_close(frame);
}

// Its particles, and every column by name.
static void read_particles(const char *path)
{
    static double out[1 << 20];
    rp_reader *reader;
    rp_frame_column_info column;
    rp_batch batch = {.want = 2 * RP_READ_STRESS - 1};
    const rp_result opened = rp_reader_open(path, NULL, &reader);
    must_have_a_sentence(opened);
    if (opened != RP_OK) {
        return;
    }
    rp_result result;
    while ((result = rp_reader_next(reader, &batch)) == RP_OK && batch.count > 0) {
    }
    must_have_a_sentence(result);
    for (int i = 0; i < rp_reader_info(reader)->columns; i++) {
        const int64_t count = rp_reader_info(reader)->particles;
        RP_ASSERT(rp_frame_column(rp_reader_frame(reader), i, &column) == RP_OK);
        if (count <= (int64_t)(sizeof out / sizeof *out)) {
            must_have_a_sentence(rp_reader_values(reader, column.name, 0, count, out));
        }
    }
    rp_batch_free(&batch);
    rp_reader_close(reader);
}

static void write_again(const void *state, size_t size)
{
    char folder[64], path[80];
    void *again;
    size_t again_size;
    new_folder(folder);
    snprintf(path, sizeof path, "%s/again.hdf", folder);
    if (rp_frame_write(path, state, size, NULL) == RP_OK) {
        RP_ASSERT(rp_frame_read_state(path, &again, &again_size) == RP_OK);
        RP_ASSERT(again_size == size && memcmp(again, state, size) == 0);
        rp_state_free(again);
        RP_ASSERT(rp_frame_drop_state(path) == RP_OK);
        unlink(path);
    }
    rmdir(folder);
}

static void use(const memory_file *file, rp_world *world)
{
    void *state;
    size_t size;
    look_at(file->path);
    read_particles(file->path);
    const rp_result read = rp_frame_read_state(file->path, &state, &size);
    must_have_a_sentence(read);
    if (read == RP_OK) {
        write_again(state, size);
        if (world != NULL) {
            must_have_a_sentence(rp_world_restore(world, state, size));
        }
        rp_state_free(state);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t hdf5[4] = {0x89, 'H', 'D', 'F'};
    const memory_file file = new_file();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (size >= sizeof hdf5 && memcmp(data, hdf5, sizeof hdf5) == 0) {
        fill_file(&file, data, size);
        use(&file, NULL);
    } else if (size > 0) {
        script s = {.at = data + 1, .end = data + size};
        const base_frame *base = base_frame_of(data[0] % BASES);
        fill_file(&file, base->data, base->size);
        edit_file(&s, &file, base);
        use(&file, base->world);
    }
    close(file.fd);
    return 0;
}
