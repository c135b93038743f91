// SPDX-License-Identifier: Apache-2.0
// What particles are coloured by, as numbers: for whoever draws them otherwise than render.h does,
// and wants them to look the same.
#pragma once

#include "reader.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rp_color_kind {
    RP_COLOR_GRAINS,  ///< three shades of a material's colour; a number stands for one of each
    RP_COLOR_NUMBERS, ///< along a ramp of colours
    RP_COLOR_CLASSES, ///< whole numbers, a colour each
} rp_color_kind;

typedef struct rp_colors rp_colors;

typedef struct rp_colors_info {
    rp_color_kind kind;
    char name[64], unit[32];
    char label[8][40]; ///< of classes; empty: it has none
} rp_colors_info;

/// @param reader must outlive the colours
/// @param name as rp_render_def.color
/// @param[out] colors released with rp_colors_close(); NULL on failure
RP_API rp_result rp_colors_open(rp_reader *reader, const char *name, rp_colors **colors);
RP_API void rp_colors_close(rp_colors *colors);
RP_API void rp_colors_get_info(const rp_colors *colors, rp_colors_info *out);
/// The numbers of all particles of the frame.
RP_API rp_result rp_colors_read(const rp_colors *colors, double *out);
/// The colour of a number, sRGB; of numbers along a ramp 0 is its start and 1 its end.
RP_API void rp_colors_rgb(const rp_colors *colors, double value, unsigned char rgb[3]);

/// Along that ramp, 0 to 1: dark violet over teal to pale yellow, ever lighter, in steps that look
/// equally large.
RP_API void rp_color_ramp(double t, unsigned char rgb[3]);

#ifdef __cplusplus
}
#endif
