// Where scenes are: a file that the user names, or one that comes with Repose.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PATH_SIZE = 4096 };

// A folder that comes with Repose, such as "checks". @return false when there is none
bool shared_folder(const char *name, char out[PATH_SIZE]);
// The folder of the scenes that come with it. @return false when there is none
bool scenes_folder(char out[PATH_SIZE]);

// The file that the user means: a path, or the name of a scene that comes with Repose.
void scene_path(const char *name, char out[PATH_SIZE]);

// For a name that is neither: the scene that was perhaps meant. @return false when there is none
bool scene_suggestion(const char *name, char out[256]);

// The name without folder and ".lua".
void scene_name(const char *path, char out[256]);
