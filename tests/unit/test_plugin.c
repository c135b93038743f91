// Tests src/base/plugin.c with tests/unit/plugin.c, which the build makes into test-plugin.so.
#include "repose/plugin.h"

#include "check.h"
#include "folder.h"

#include <stdlib.h>

// Catches a sentence that does not say what to install.
static void a_missing_plugin_is_named_with_what_it_wants(void)
{
    const void *table;
    CHECK_ERROR(rp_plugin_open("repose-nothing.so", "get", 1, "install nothing", &table),
                RP_ERR_UNSUPPORTED, "repose-nothing.so is missing: install nothing");
}

// Catches a plugin that is called with another idea of its table. Any library that is there does
// for one without the function; a file that is no library for one that cannot be opened.
static void what_is_no_plugin_of_ours_is_refused(void)
{
    test_folder folder = test_folder_make();
    const void *table;
    const char *path = test_path(&folder, "repose-other.so");
    test_write_file(path, "no library", 10);
    CHECK(setenv("REPOSE_PLUGINS", folder.path, 1) == 0);
    CHECK_ERROR(rp_plugin_open("repose-other.so", "get", 1, "x", &table), RP_ERR_UNSUPPORTED,
                "cannot be opened");
    CHECK(setenv("REPOSE_PLUGINS", TEST_PLUGIN_FOLDER, 1) == 0);
    CHECK_ERROR(rp_plugin_open("test-plugin.so", "no_such_function", 1, "x", &table),
                RP_ERR_UNSUPPORTED, "another version");
    CHECK_ERROR(rp_plugin_open("test-plugin.so", "test_plugin_get", 8, "x", &table),
                RP_ERR_UNSUPPORTED, "another version");
    CHECK(table == NULL);
    CHECK_OK(rp_plugin_open("test-plugin.so", "test_plugin_get", 7, "x", &table));
    CHECK_EQUAL(((const int *)table)[1], 42);
    CHECK(unsetenv("REPOSE_PLUGINS") == 0);
    test_folder_remove(&folder);
}

TEST_MAIN(TEST(a_missing_plugin_is_named_with_what_it_wants),
          TEST(what_is_no_plugin_of_ours_is_refused))
