// A plot of a check as SVG. Colours and fonts come from the page that it stands in.
#pragma once

#include <jansson.h>
#include <stdio.h>

// plot: {title, x, y, log_x, log_y, series: [{name, style, x: [...], y: [...]}]}; style "line",
// "dashed" or "points".
void plot_svg(FILE *out, const json_t *plot);

// Text with what HTML reserves written out.
void put_escaped(FILE *out, const char *text);
