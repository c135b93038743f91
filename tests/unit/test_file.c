// Tests src/io/file.c: a file is whole or as it was.
#include "repose/file.h"

#include "check.h"
#include "folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_content(const char *path, const char *want)
{
    long size;
    char *bytes = test_read_file(path, &size);
    CHECK_EQUAL(size, strlen(want));
    CHECK(memcmp(bytes, want, (size_t)size) == 0);
    free(bytes);
}

static void a_file_is_replaced_whole(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "run.json");
    CHECK_OK(rp_file_write_all(path, "first", 5));
    CHECK_HELPER(check_content(path, "first"));
    CHECK_OK(rp_file_write_all(path, "", 0));
    CHECK_HELPER(check_content(path, ""));

    // until the end, the old one is there
    rp_file file;
    CHECK_OK(rp_file_write_all(path, "old", 3));
    CHECK_OK(rp_file_replace(&file, path));
    CHECK_OK(rp_file_write(&file, "ne", 2));
    CHECK_HELPER(check_content(path, "old"));
    CHECK_OK(rp_file_write(&file, "w", 1));
    CHECK_OK(rp_file_end(&file, RP_OK));
    CHECK_HELPER(check_content(path, "new"));
    CHECK_EQUAL(test_folder_entries(&folder), 1);
    test_folder_remove(&folder);
}

static void a_failure_leaves_the_old_file_and_no_other(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "run.json");
    const int open_files = test_open_files();
    rp_file file;
    CHECK_OK(rp_file_write_all(path, "old", 3));
    CHECK_OK(rp_file_replace(&file, path));
    CHECK_OK(rp_file_write(&file, "new", 3));
    CHECK_EQUAL(rp_file_end(&file, RP_ERR_DIVERGED), RP_ERR_DIVERGED);
    CHECK_HELPER(check_content(path, "old"));
    CHECK_EQUAL(test_folder_entries(&folder), 1);

    // the name is taken by a folder that is not empty
    CHECK_EQUAL(mkdir(test_path(&folder, "taken"), 0777), 0);
    test_write_file(test_path(&folder, "taken/inside"), "x", 1);
    CHECK_ERROR(rp_file_write_all(test_path(&folder, "taken"), "new", 3), RP_ERR_FILE, "taken: ");
    CHECK_EQUAL(test_folder_entries(&folder), 2);
    CHECK_ERROR(rp_file_write_all(test_path(&folder, "no/such"), "new", 3), RP_ERR_FILE,
                "no/such.tmp: No such file or directory");
    CHECK_EQUAL(test_open_files(), open_files);
    test_folder_remove(&folder);
}

// A killed run leaves PATH.tmp behind; and a link there must not lead us to somebody's file.
static void what_lies_at_the_temporary_name_is_replaced(void)
{
    test_folder folder = test_folder_make();
    const char *path = test_path(&folder, "a"), *victim = test_path(&folder, "victim");
    test_write_file(victim, "mine", 4);
    CHECK_EQUAL(symlink(victim, test_path(&folder, "a.tmp")), 0);
    CHECK_OK(rp_file_write_all(path, "new", 3));
    CHECK_HELPER(check_content(path, "new"));
    CHECK_HELPER(check_content(victim, "mine"));
    test_write_file(test_path(&folder, "a.tmp"), "left behind", 11);
    CHECK_OK(rp_file_write_all(path, "newer", 5));
    CHECK_HELPER(check_content(path, "newer"));
    CHECK_EQUAL(test_folder_entries(&folder), 2);
    test_folder_remove(&folder);
}

static void a_name_without_a_folder_is_in_the_current_one(void)
{
    test_folder folder = test_folder_make();
    char before[512];
    CHECK(getcwd(before, sizeof before) != NULL);
    CHECK_EQUAL(chdir(folder.path), 0);
    const rp_result result = rp_file_write_all("plain", "new", 3);
    CHECK_EQUAL(chdir(before), 0);
    CHECK_OK(result);
    CHECK_HELPER(check_content(test_path(&folder, "plain"), "new"));
    test_folder_remove(&folder);
}

TEST_MAIN(TEST(a_file_is_replaced_whole), TEST(a_failure_leaves_the_old_file_and_no_other),
          TEST(what_lies_at_the_temporary_name_is_replaced),
          TEST(a_name_without_a_folder_is_in_the_current_one))
