#include "repose/file.h"

#include "base/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

rp_result rp_file_cannot(const char *verb, const char *path, int error)
{
    return rp_fail(RP_ERR_FILE, "cannot %s %s: %s", verb, path, strerror(error));
}

// The first `length` bytes of path, then suffix; NULL when there is no memory.
static char *joined(const char *path, size_t length, const char *suffix)
{
    char *text = malloc(length + strlen(suffix) + 1);
    if (text != NULL) {
        memcpy(text, path, length);
        strcpy(text + length, suffix);
    }
    return text;
}

static void forget_names(rp_file *file)
{
    free(file->path);
    free(file->tmp);
    *file = (rp_file){.fd = -1};
}

rp_result rp_file_replace(rp_file *file, const char *path)
{
    const size_t length = strlen(path);
    *file =
        (rp_file){.fd = -1, .path = joined(path, length, ""), .tmp = joined(path, length, ".tmp")};
    if (file->path == NULL || file->tmp == NULL) {
        forget_names(file);
        return rp_fail(RP_ERR_MEMORY, "no memory for the name of %s", path);
    }
    // removed first, so that a link in its place is not followed
    unlink(file->tmp);
    file->fd = open(file->tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd < 0) {
        const rp_result result = rp_file_cannot("write", file->tmp, errno);
        forget_names(file);
        return result;
    }
    return RP_OK;
}

rp_result rp_file_write(const rp_file *file, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t written = write(file->fd, at, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return rp_file_cannot("write", file->path, written < 0 ? errno : ENOSPC);
        }
        at += written;
        size -= (size_t)written;
    }
    return RP_OK;
}

// A rename is on the disk when its directory is. A directory that may be written but not read, or a
// file system that cannot sync one, is no fault of the file's.
static rp_result sync_directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory =
        slash == NULL ? joined(".", 1, "") : joined(path, (size_t)(slash - path), "/");
    const int fd = directory != NULL ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(directory);
    if (fd < 0) {
        return RP_OK;
    }
    const bool synced = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
    const rp_result result = synced ? RP_OK : rp_file_cannot("write", path, errno);
    close(fd);
    return result;
}

static rp_result commit(rp_file *file)
{
    const bool synced = fsync(file->fd) == 0;
    int error = synced ? 0 : errno;
    if (close(file->fd) != 0 && error == 0) {
        error = errno;
    }
    file->fd = -1;
    if (error == 0 && rename(file->tmp, file->path) != 0) {
        error = errno;
    }
    return error == 0 ? sync_directory_of(file->path) : rp_file_cannot("write", file->path, error);
}

rp_result rp_file_end(rp_file *file, rp_result result)
{
    if (result == RP_OK) {
        result = commit(file);
    }
    if (file->fd >= 0) {
        close(file->fd);
    }
    if (result != RP_OK) {
        unlink(file->tmp); // gone already when only the directory could not be synced
    }
    forget_names(file);
    return result;
}

rp_result rp_file_write_all(const char *path, const void *bytes, size_t size)
{
    rp_file file;
    RP_TRY(rp_file_replace(&file, path));
    return rp_file_end(&file, rp_file_write(&file, bytes, size));
}
