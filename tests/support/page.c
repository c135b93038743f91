#include "page.h"

#include "check.h"
#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_page(const char *name, char *want)
{
    char path[512];
    long size;
    snprintf(path, sizeof path, PROJECT_SOURCE_DIR "/docs/%s", name);
    char *got = test_read_file(path, &size);
    const long length = want != NULL ? (long)strlen(want) : -1;
    int line = 1;
    long same = 0;
    for (; same < size && same < length && got[same] == want[same]; same++) {
        line += want[same] == '\n';
    }
    if (same != size || same != length) {
        check_record(__FILE__, __LINE__,
                     "docs/%s is not what the code says from line %d on: `make docs` makes it anew",
                     name, line);
    }
    free(got);
    free(want);
}
