// `repose run` as a process of its own, told to pause, resume and stop. What it says goes to a file
// that nobody need read: it never waits for us.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct child {
    pid_t pid;   // 0: none
    int control; // where it reads words
    int said;    // its standard error
    bool paused, stopping;
    int status;          // of the last one: its exit code, or 128 + signal
    char sentence[1024]; // why it failed; empty: it did not
} child;

// @param words of the command line after "repose", ending with NULL
// @return false: it could not be started, and `sentence` says why
bool child_start(child *c, char *const *words);
// One of the words of --control-fd. @return false: nobody listens
bool child_tell(child *c, const char *word);
// Has it ended since? Does not wait. @return whether it lives
bool child_lives(child *c);
