// A folder for the files of one test, removed with all that is in it.
#pragma once

typedef struct test_folder {
    char path[64];
} test_folder;

test_folder test_folder_make(void);
void test_folder_remove(test_folder *folder);

// folder/name, in one of a few buffers that take turns.
const char *test_path(const test_folder *folder, const char *name);
// Entries in the folder.
int test_folder_entries(const test_folder *folder);

// A whole file; ends the program when that fails. The bytes are the caller's to free.
void test_write_file(const char *path, const void *bytes, long size);
void *test_read_file(const char *path, long *size);
// Files that this process holds open.
int test_open_files(void);
