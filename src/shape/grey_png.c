// Numbers from a grey picture, for height fields.
#include "base/result.h"
#include "repose/file.h"
#include "repose/shape.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PIXELS = 1 << 24 };

typedef struct reader {
    const char *path;
    FILE *file;
    png_structp png;
    png_infop info;
    unsigned char *row;
    double *values;
    int columns, rows;
    char sentence[160]; // of libpng
} reader;

// libpng leaves by a jump; its sentence is kept for ours.
static void fail(png_structp png, png_const_charp sentence)
{
    reader *r = png_get_error_ptr(png);
    snprintf(r->sentence, sizeof r->sentence, "%s", sentence);
    longjmp(png_jmpbuf(png), 1);
}

static void ignore(png_structp png, png_const_charp sentence)
{
    (void)png;
    (void)sentence;
}

static rp_result read_head(reader *r)
{
    png_init_io(r->png, r->file);
    png_read_info(r->png, r->info);
    const png_uint_32 width = png_get_image_width(r->png, r->info);
    const png_uint_32 height = png_get_image_height(r->png, r->info);
    const int color = png_get_color_type(r->png, r->info);
    if ((color & ~PNG_COLOR_MASK_ALPHA) != PNG_COLOR_TYPE_GRAY) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want a grey PNG, got one with colours", r->path);
    }
    if ((double)width * (double)height > MOST_PIXELS) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want at most %d pixels, got %u x %u", r->path,
                       MOST_PIXELS, width, height);
    }
    r->columns = (int)width;
    r->rows = (int)height;
    return RP_OK;
}

static rp_result read_rows(reader *r)
{
    png_set_expand_gray_1_2_4_to_8(r->png);
    png_set_strip_alpha(r->png);
    if (png_set_interlace_handling(r->png) > 1) {
        return rp_fail(RP_ERR_ARGUMENT, "%s: want a PNG that is not interlaced, got one that is",
                       r->path);
    }
    png_read_update_info(r->png, r->info);
    const bool wide = png_get_bit_depth(r->png, r->info) == 16;
    r->row = malloc(png_get_rowbytes(r->png, r->info));
    r->values = malloc((size_t)r->columns * (size_t)r->rows * sizeof *r->values);
    if (r->row == NULL || r->values == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for the picture", r->path);
    }
    for (int y = 0; y < r->rows; y++) {
        png_read_row(r->png, r->row, NULL);
        for (int x = 0; x < r->columns; x++) {
            r->values[(size_t)y * (size_t)r->columns + (size_t)x] =
                wide ? (r->row[2 * x] * 256 + r->row[2 * x + 1]) / 65535.0 : r->row[x] / 255.0;
        }
    }
    png_read_end(r->png, NULL);
    return RP_OK;
}

static rp_result read_picture(reader *r)
{
    r->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, r, fail, ignore);
    r->info = r->png != NULL ? png_create_info_struct(r->png) : NULL;
    if (r->info == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for the picture", r->path);
    }
    if (setjmp(png_jmpbuf(r->png)) != 0) {
        return rp_fail(RP_ERR_FILE, "%s: cannot be read as a PNG: %s", r->path, r->sentence);
    }
    RP_TRY(read_head(r));
    return read_rows(r);
}

rp_result rp_read_grey_png(const char *path, double **values, int *columns, int *rows)
{
    *values = NULL;
    reader *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return rp_fail(RP_ERR_MEMORY, "%s: no memory for the picture", path);
    }
    r->path = path;
    rp_result result = rp_file_open(path, &r->file);
    result = result == RP_OK ? read_picture(r) : result;
    png_destroy_read_struct(&r->png, &r->info, NULL);
    if (r->file != NULL) {
        fclose(r->file);
    }
    if (result == RP_OK) {
        *values = r->values;
        *columns = r->columns;
        *rows = r->rows;
    } else {
        free(r->values);
    }
    free(r->row);
    free(r);
    return result;
}
