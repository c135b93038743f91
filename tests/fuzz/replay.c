// Runs a fuzz target over files, or over all files of folders: how a corpus becomes a test.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST = 1 << 20 };

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(LARGEST);
    if (file == NULL || data == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
    }
    const size_t size = fread(data, 1, LARGEST, file);
    fclose(file);
    // a copy of the exact size, so that reading past its end is seen
    uint8_t *exact = malloc(size > 0 ? size : 1);
    memcpy(exact, data, size);
    free(data);
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 0;
}

static int replay_all(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return replay(path);
    }
    int failed = 0, count = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            char file[4096];
            snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
            failed |= replay_all(file);
            count++;
        }
    }
    closedir(folder);
    return failed || count == 0;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    for (int i = 1; i < argc; i++) {
        failed |= replay_all(argv[i]);
    }
    return failed;
}
