// Where scenes are: a file that the user names, or one that comes with Repose. Those lie in
// scenes/THEME/NAME.lua, where a theme is a paper or what they have in common. No two have the same
// name, so that the name alone says which is meant.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PATH_SIZE = 4096 };

// A folder that comes with Repose, such as "checks". @return false when there is none
bool shared_folder(const char *name, char out[PATH_SIZE]);

typedef struct scene_file {
    char theme[256], name[256];
    char path[PATH_SIZE];
} scene_file;
// The scenes that come with Repose, by theme and name.
// @param[out] files released with free(); NULL: there are none
// @return how many
int scenes_along(scene_file **files);
// The path of one by its name, with or without ".lua". @return false when there is none
bool scene_along(const char *name, char out[PATH_SIZE]);

// The file that the user means: a path, or the name of a scene that comes with Repose.
void scene_path(const char *name, char out[PATH_SIZE]);

// For a name that is neither: the scene that was perhaps meant. @return false when there is none
bool scene_suggestion(const char *name, char out[256]);

// The name without folder and ".lua".
void scene_name(const char *path, char out[256]);
