// A small font of straight strokes, so that words in pictures need no library.
//
// A glyph is a text of points, two characters each: x from 0 to 8 and y in hexadecimal, with the
// baseline at 3, small letters up to 9 and capitals up to c. A space lifts the pen.
#pragma once

#define RP_FONT_CAPITAL 9.0f // height of a capital

const char *rp_font_strokes(char letter);
// A point of a glyph, from the baseline up.
void rp_font_point(const char *at, float *x, float *y);
// From the left of a letter to that of the next.
float rp_font_advance(char letter);
