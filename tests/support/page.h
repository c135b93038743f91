// Pages in docs/ that are made from tables in the code.
#pragma once

// The page is what the library makes of its table today; else the test fails with the first line
// that is not, and with how to make the page anew.
// @param name such as "scene.md"
// @param want is released; NULL fails
void check_page(const char *name, char *want);
