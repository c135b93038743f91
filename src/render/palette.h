// Colours for data. Steps of equal size look equally large: the colours are chosen in Oklab, where
// distance is what the eye sees.
#pragma once

// 0 to 1: dark violet over teal to pale yellow, ever lighter.
void rp_palette_ramp(double t, unsigned char rgb[3]);
// Colours that are far apart, for things that are counted.
void rp_palette_class(int number, unsigned char rgb[3]);
