#include "folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(int good, const char *what)
{
    if (!good) {
        perror(what);
        abort();
    }
}

test_folder test_folder_make(void)
{
    test_folder folder;
    const char *base = getenv("TMPDIR");
    snprintf(folder.path, sizeof folder.path, "%.40s/repose-XXXXXX", base != NULL ? base : "/tmp");
    must(mkdtemp(folder.path) != NULL, folder.path);
    return folder;
}

static int entries(const char *path, int removing)
{
    DIR *directory = opendir(path);
    must(directory != NULL, path);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        count++;
        char name[512];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (removing && unlink(name) != 0) {
            entries(name, removing);
            rmdir(name);
        }
    }
    closedir(directory);
    return count;
}

void test_folder_remove(test_folder *folder)
{
    chmod(folder->path, 0700);
    entries(folder->path, 1);
    rmdir(folder->path);
}

int test_folder_entries(const test_folder *folder) { return entries(folder->path, 0); }

const char *test_path(const test_folder *folder, const char *name)
{
    static char buffer[8][256];
    static int turn;
    char *path = buffer[turn++ % 8];
    snprintf(path, sizeof buffer[0], "%s/%s", folder->path, name);
    return path;
}

void test_write_file(const char *path, const void *bytes, long size)
{
    FILE *file = fopen(path, "wb");
    must(file != NULL, path);
    must(fwrite(bytes, 1, (size_t)size, file) == (size_t)size, path);
    must(fclose(file) == 0, path);
}

void *test_read_file(const char *path, long *size)
{
    FILE *file = fopen(path, "rb");
    must(file != NULL, path);
    must(fseek(file, 0, SEEK_END) == 0, path);
    *size = ftell(file);
    rewind(file);
    void *bytes = malloc((size_t)*size + 1);
    must(bytes != NULL, path);
    must(fread(bytes, 1, (size_t)*size, file) == (size_t)*size, path);
    fclose(file);
    return bytes;
}

int test_open_files(void) { return entries("/proc/self/fd", 0); }
