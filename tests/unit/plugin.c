// A plugin for tests of the loader: a version, and a number.
const int *test_plugin_get(void);

__attribute__((visibility("default"))) const int *test_plugin_get(void)
{
    static const int table[] = {7, 42};
    return table;
}
