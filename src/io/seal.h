// A seal on a file: its length and checksum, in 24 bytes behind its end. HDF5 reads nothing beyond
// the end that its own header names, so a sealed file opens everywhere; and a file that was cut,
// damaged or never finished is known before a byte of it is interpreted.
#pragma once

#include "repose/base.h"

// Append the seal to an open file that may be read and written.
rp_result rp_seal(int fd, const char *path);

// @param[out] bytes of the file before its seal
// @return RP_ERR_FILE when there is no seal, or when it is broken
rp_result rp_seal_check(int fd, const char *path, uint64_t *bytes);
