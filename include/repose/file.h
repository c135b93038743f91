// SPDX-License-Identifier: Apache-2.0
// Files that are whole or as they were. What is written goes to PATH.tmp; only a commit makes it
// PATH, after it has reached the disk.
//
//   rp_file file;
//   RP_TRY(rp_file_replace(&file, path));
//   rp_result result = rp_file_write(&file, bytes, size);      // as often as needed
//   return rp_file_end(&file, result);                         // commits or aborts
#pragma once

#include "base.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_file {
    int fd;           ///< of PATH.tmp
    char *path, *tmp; ///< owned
} rp_file;

/// Open PATH.tmp, empty; one that an earlier run left behind is replaced.
/// @return RP_ERR_FILE with path and cause; then there is nothing to end
RP_API rp_result rp_file_replace(rp_file *file, const char *path);

/// Append at the file descriptor's place.
RP_API rp_result rp_file_write(const rp_file *file, const void *bytes, size_t size);

/// After RP_OK sync, close and rename; on anything else, and when that fails, remove PATH.tmp and
/// leave `path` as it was. @return `result`, or why the commit failed
RP_API rp_result rp_file_end(rp_file *file, rp_result result);

/// A whole small file in one go.
RP_API rp_result rp_file_write_all(const char *path, const void *bytes, size_t size);

/// Open a file that somebody named, to be read. What is no ordinary file is refused: a pipe may
/// never answer, and a device never end.
RP_API rp_result rp_file_open(const char *path, FILE **file);

/// All of such a file, with a 0 behind its end.
/// @param most how many bytes are still reasonable; one that has more is refused
/// @param[out] data to be freed with free(); NULL on failure
RP_API rp_result rp_file_read_all(const char *path, size_t most, char **data, size_t *size);

/// "cannot write PATH: No space left on device"
RP_API rp_result rp_file_cannot(const char *verb, const char *path, int error);

#ifdef __cplusplus
}
#endif
