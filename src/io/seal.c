#include "io/seal.h"

#include "base/checksum.h"
#include "base/memory.h"
#include "base/result.h"
#include "repose/file.h"
#include "repose/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct seal {
    char magic[8];
    uint64_t bytes;    // of the file before the seal
    uint64_t checksum; // of those bytes
} seal;
_Static_assert(sizeof(seal) == 24, "as it is on the disk");

static const char magic[8] = {'R', 'P', 'S', 'E', 'A', 'L', '1', '\n'};

enum { PIECE = 1 << 20 };

// Exactly `bytes` from a place in a file.
static rp_result read_at(int fd, const char *path, void *out, size_t bytes, uint64_t at)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = pread(fd, (char *)out + done, bytes - done, (off_t)(at + done));
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            return rp_file_cannot("read", path, got == 0 ? EIO : errno);
        }
    }
    return RP_OK;
}

static rp_result checksum_of(int fd, const char *path, uint64_t bytes, uint64_t *checksum)
{
    const rp_allocator *a = rp_default_allocator();
    rp_buffer piece = {0};
    RP_TRY(rp_buffer_reserve(&piece, a, PIECE, 0, "a piece of a file"));
    rp_checksum sum = rp_checksum_begin();
    rp_result result = RP_OK;
    for (uint64_t at = 0; at < bytes && result == RP_OK; at += PIECE) {
        const size_t size = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
        result = read_at(fd, path, piece.data, size, at);
        rp_checksum_add(&sum, piece.data, result == RP_OK ? size : 0);
    }
    rp_buffer_free(&piece, a);
    *checksum = rp_checksum_end(&sum);
    return result;
}

static rp_result size_of(int fd, const char *path, uint64_t *bytes)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return rp_file_cannot("read", path, errno);
    }
    *bytes = (uint64_t)info.st_size;
    return RP_OK;
}

rp_result rp_seal(int fd, const char *path)
{
    seal s;
    memcpy(s.magic, magic, sizeof magic);
    RP_TRY(size_of(fd, path, &s.bytes));
    RP_TRY(checksum_of(fd, path, s.bytes, &s.checksum));
    if (lseek(fd, 0, SEEK_END) < 0) {
        return rp_file_cannot("write", path, errno);
    }
    return rp_file_write(&(rp_file){.fd = fd, .path = (char *)(uintptr_t)path}, &s, sizeof s);
}

// What a file without a seal might be, by its first bytes.
static rp_result no_seal(int fd, const char *path)
{
    static const char hdf5[8] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
    char first[8];
    const bool is_hdf5 =
        pread(fd, first, sizeof first, 0) == sizeof first && memcmp(first, hdf5, sizeof hdf5) == 0;
    return rp_fail(RP_ERR_FILE, "%s: %s", path,
                   is_hdf5 ? "no frame of Repose, or cut off, or changed by another program"
                           : "no frame of Repose");
}

rp_result rp_seal_check(int fd, const char *path, uint64_t *bytes)
{
    seal s;
    uint64_t size = 0, checksum = 0;
    RP_TRY(size_of(fd, path, &size));
    if (size < sizeof s) {
        return no_seal(fd, path);
    }
    RP_TRY(read_at(fd, path, &s, sizeof s, size - sizeof s));
    if (memcmp(s.magic, magic, sizeof magic) != 0) {
        return no_seal(fd, path);
    }
    if (s.bytes == size - sizeof s) {
        RP_TRY(checksum_of(fd, path, s.bytes, &checksum));
        if (checksum == s.checksum) {
            *bytes = s.bytes;
            return RP_OK;
        }
    }
    return rp_fail(RP_ERR_FILE, "%s: damaged: its contents are not what was written", path);
}

rp_result rp_checksum_file(const char *path, uint64_t *checksum)
{
    uint64_t bytes = 0;
    FILE *file;
    RP_TRY(rp_file_open(path, &file));
    const int fd = fileno(file);
    rp_result result = size_of(fd, path, &bytes);
    result = result == RP_OK ? checksum_of(fd, path, bytes, checksum) : result;
    fclose(file);
    return result;
}
