#include "base/result.h"
#include "repose/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static rp_result cannot_read(const char *path, const char *why)
{
    return rp_fail(RP_ERR_FILE, "%s: cannot be read: %s", path, why);
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "it is a folder"
           : S_ISFIFO(mode) ? "it is a pipe, and what comes from one cannot be read twice"
           : S_ISSOCK(mode) ? "it is a socket"
                            : "it is a device";
}

rp_result rp_file_open(const char *path, FILE **file)
{
    struct stat about;
    *file = NULL;
    // without O_NONBLOCK a pipe that nobody writes to would keep us here for ever
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &about) != 0) {
        const int error = errno;
        if (fd >= 0) {
            close(fd);
        }
        // a socket cannot be opened at all
        return cannot_read(path, error == ENXIO ? kind_of(S_IFSOCK) : strerror(error));
    }
    if (!S_ISREG(about.st_mode)) {
        close(fd);
        return cannot_read(path, kind_of(about.st_mode));
    }
    *file = fdopen(fd, "rb");
    if (*file == NULL) {
        close(fd);
        return rp_fail(RP_ERR_MEMORY, "%s: no memory to read it", path);
    }
    return RP_OK;
}

static rp_result read_to_end(const char *path, FILE *file, size_t most, char **data, size_t *size)
{
    size_t room = 0, got = 1;
    while (got > 0) {
        if (*size + 1 >= room) {
            room = 2 * room + 4096;
            char *more = realloc(*data, room);
            if (more == NULL) {
                return rp_fail(RP_ERR_MEMORY, "%s: no memory for %zu bytes of it", path, room);
            }
            *data = more;
        }
        got = fread(*data + *size, 1, room - 1 - *size, file);
        *size += got;
        if (*size > most) {
            return rp_fail(RP_ERR_LIMIT, "%s: want at most %zu bytes, got more", path, most);
        }
    }
    (*data)[*size] = '\0';
    return ferror(file) ? cannot_read(path, strerror(errno)) : RP_OK;
}

rp_result rp_file_read_all(const char *path, size_t most, char **data, size_t *size)
{
    FILE *file;
    *data = NULL;
    *size = 0;
    RP_TRY(rp_file_open(path, &file));
    const rp_result result = read_to_end(path, file, most, data, size);
    fclose(file);
    if (result != RP_OK) {
        free(*data);
        *data = NULL;
        *size = 0;
    }
    return result;
}
