// Tests pictures as heights: src/shape/grey_png.c.
#include "repose/shape.h"
#include "shape/class.h"

#include "check.h"
#include "random.h"
#include "specimens.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_png(const char *path, int columns, int rows, int bits, int color,
                      const unsigned char *bytes, size_t stride)
{
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)columns, (png_uint_32)rows, bits, color,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int y = 0; y < rows; y++) {
        png_write_row(png, bytes + (size_t)y * stride);
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

static void grey_pictures_are_read(void)
{
    char path[] = "/tmp/repose_test_XXXXXX";
    close(mkstemp(path));
    double *values;
    int columns, rows;
    const unsigned char eight[] = {0, 51, 255, 102, 0, 204}, wide[] = {0, 0, 0x80, 0, 0xff, 0xff};
    const unsigned char bits[] = {0xa0}, color[] = {1, 2, 3, 4, 5, 6};
    const unsigned char alpha[] = {51, 7, 102, 9};
    write_png(path, 3, 2, 8, PNG_COLOR_TYPE_GRAY, eight, 3);
    CHECK_OK(rp_read_grey_png(path, &values, &columns, &rows));
    CHECK_EQUAL(columns, 3);
    CHECK_EQUAL(rows, 2);
    for (int i = 0; i < 6; i++) {
        CHECK_NEAR(values[i], eight[i] / 255.0, 1e-16);
    }
    free(values);
    write_png(path, 3, 1, 16, PNG_COLOR_TYPE_GRAY, wide, 6);
    CHECK_OK(rp_read_grey_png(path, &values, &columns, &rows));
    CHECK_NEAR(values[1], 32768.0 / 65535.0, 1e-16);
    CHECK_NEAR(values[2], 1.0, 0.0);
    free(values);
    write_png(path, 4, 1, 1, PNG_COLOR_TYPE_GRAY, bits, 1);
    CHECK_OK(rp_read_grey_png(path, &values, &columns, &rows));
    CHECK(values[0] == 1.0 && values[1] == 0.0 && values[2] == 1.0 && values[3] == 0.0);
    free(values);
    write_png(path, 2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, alpha, 4);
    CHECK_OK(rp_read_grey_png(path, &values, &columns, &rows));
    CHECK_NEAR(values[1], 0.4, 1e-16);
    free(values);
    write_png(path, 2, 1, 8, PNG_COLOR_TYPE_RGB, color, 6);
    CHECK_ERROR(rp_read_grey_png(path, &values, &columns, &rows), RP_ERR_ARGUMENT,
                "want a grey PNG, got one with colours");
    CHECK(values == NULL);
    // cut short, and no picture at all
    write_png(path, 3, 2, 8, PNG_COLOR_TYPE_GRAY, eight, 3);
    CHECK_EQUAL(truncate(path, 50), 0);
    CHECK_ERROR(rp_read_grey_png(path, &values, &columns, &rows), RP_ERR_FILE,
                "cannot be read as a PNG");
    CHECK_EQUAL(truncate(path, 0), 0);
    CHECK_ERROR(rp_read_grey_png(path, &values, &columns, &rows), RP_ERR_FILE,
                "cannot be read as a PNG");
    unlink(path);
    CHECK_ERROR(rp_read_grey_png(path, &values, &columns, &rows), RP_ERR_FILE, "cannot be read");
}

TEST_MAIN(TEST(grey_pictures_are_read))
