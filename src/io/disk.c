#include "io/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct disk_file {
    H5FD_t base; // first: HDF5 sees only this
    rp_disk *disk;
    haddr_t end; // of what HDF5 has allocated
} disk_file;

static H5FD_t *open_disk(const char *name, unsigned flags, hid_t access, haddr_t limit)
{
    (void)name, (void)flags, (void)limit;
    rp_disk *const *disk = H5Pget_driver_info(access);
    disk_file *file = disk != NULL ? calloc(1, sizeof *file) : NULL;
    if (file != NULL) {
        file->disk = *disk;
    }
    return (H5FD_t *)file;
}

static herr_t close_disk(H5FD_t *file)
{
    free(file);
    return 0;
}

// Which of two open files comes first; 0 when they are the same.
static int compare(const H5FD_t *a, const H5FD_t *b)
{
    const uintptr_t x = (uintptr_t)((const disk_file *)a)->disk;
    const uintptr_t y = (uintptr_t)((const disk_file *)b)->disk;
    return (x > y) - (x < y);
}

static herr_t features(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t allocated(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const disk_file *)file)->end;
}

static herr_t allocate(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((disk_file *)file)->end = end;
    return 0;
}

static haddr_t file_size(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const disk_file *)file)->disk->size;
}

static void note_error(rp_disk *disk, int error)
{
    if (disk->error == 0) {
        disk->error = error;
    }
}

static herr_t read_disk(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes,
                        void *out)
{
    (void)type, (void)transfer;
    rp_disk *disk = ((disk_file *)file)->disk;
    // beyond the end are zeros, as HDF5 expects of a driver
    const uint64_t there = at < disk->size ? disk->size - at : 0;
    size_t left = bytes < there ? bytes : (size_t)there;
    memset((char *)out + left, 0, bytes - left);
    while (left > 0) {
        const ssize_t got = pread(disk->fd, out, left, (off_t)at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            note_error(disk, got < 0 ? errno : EIO);
            return -1;
        }
        out = (char *)out + got;
        at += (haddr_t)got;
        left -= (size_t)got;
    }
    return 0;
}

static herr_t write_disk(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes,
                         const void *data)
{
    (void)type, (void)transfer;
    rp_disk *disk = ((disk_file *)file)->disk;
    while (bytes > 0 && disk->error == 0) {
        const ssize_t put = pwrite(disk->fd, data, bytes, (off_t)at);
        if (put > 0) {
            data = (const char *)data + put;
            at += (haddr_t)put;
            bytes -= (size_t)put;
            disk->size = at > disk->size ? at : disk->size;
        } else if (put == 0 || errno != EINTR) {
            note_error(disk, put < 0 ? errno : ENOSPC);
        }
    }
    return 0;
}

// The file ends where the last allocation does.
static herr_t cut(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    const disk_file *f = (const disk_file *)file;
    if (f->disk->error == 0 && f->disk->size != f->end) {
        if (ftruncate(f->disk->fd, (off_t)f->end) != 0) {
            note_error(f->disk, errno);
        }
        f->disk->size = f->end;
    }
    return 0;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 2)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600, // any from 512 on that is not registered
#endif
    .name = "repose",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(rp_disk *),
    .open = open_disk,
    .close = close_disk,
    .cmp = compare,
    .query = features,
    .get_eoa = allocated,
    .set_eoa = allocate,
    .get_eof = file_size,
    .read = read_disk,
    .write = write_disk,
    .truncate = cut,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t rp_disk_access(rp_disk *disk)
{
    // registered anew for every file: a global would not survive a host that calls H5close()
    const hid_t id = H5FDregister(&driver);
    const hid_t access = id < 0 ? -1 : H5Pcreate(H5P_FILE_ACCESS);
    const bool good = access >= 0 && H5Pset_driver(access, id, &disk) >= 0 &&
                      H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0;
    disk->driver = id > 0 ? id : 0;
    if (!good && access >= 0) {
        H5Pclose(access);
    }
    return good ? access : -1;
}

void rp_disk_release(rp_disk *disk)
{
    if (disk->driver > 0) {
        H5FDunregister(disk->driver);
    }
    disk->driver = 0;
}
