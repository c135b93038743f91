// A picture as a PNG file, whole or not there.
#pragma once

#include "repose/base.h"

// @param quick larger, and written in less time
rp_result rp_png_write(const char *path, int width, int height, const unsigned char *rgb,
                       bool quick);
