#include "render/png.h"

#include "repose/file.h"

#include <png.h>
#include <stdlib.h>

rp_result rp_png_write(const char *path, int width, int height, const unsigned char *rgb,
                       bool quick)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    image.flags = quick ? PNG_IMAGE_FLAG_FAST : 0;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *bytes = malloc(size);
    if (bytes == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory for a picture of %d x %d pixels", width, height);
    }
    const rp_result result = png_image_write_to_memory(&image, bytes, &size, 0, rgb, 0, NULL)
                                 ? rp_file_write_all(path, bytes, size)
                                 : rp_fail(RP_ERR_FILE, "cannot write %s: %s", path, image.message);
    free(bytes);
    return result;
}
