// From linear light to the bytes of a picture and back.
#pragma once

#include "render/vec.h"

// One component, 0 to 1, of sRGB to linear light and back.
float rp_linear_of(float srgb);
float rp_srgb_of(float linear);

// A filmic curve: shadows fall a little, highlights lean against white and never reach it.
vec rp_tone_curve(vec light);
void rp_tone_bytes(vec light, unsigned char rgb[3]);
