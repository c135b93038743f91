// What the command says on stderr and in run.log, and the exit codes that go with it.
#pragma once

#include <repose/repose.h>

#include <stdbool.h>
#include <stdio.h>

enum {
    EXIT_DONE = 0,
    EXIT_USAGE = 2,  // bad usage or scene
    EXIT_FAILED = 3, // the simulation failed
    EXIT_FILE = 4,   // input or output
};

// "repose: ..." on stderr, and in the log file when there is one. @return EXIT_USAGE
int say_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
// "repose: warning: ...": once, however often, and also when all is to be quiet.
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
// On standard output, where words come from files that anybody may have written: without commands
// to a terminal.
void say_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Warnings that were given so far, those of the library too; NULL behind the last.
const char *said_warning(int index);

// The sentence of the call that failed. @param running it was a step, not a description
// @return the exit code for that kind of failure
int say_error(rp_result result, bool running);

// Also write to a file, and warnings into the record of a run, from now on; NULL: no longer. What
// was said before goes there too, and so does what the library logs.
void say_to(const char *path, rp_run *run);
// Not a word of what the library logs, until further notice.
void say_nothing(bool nothing);
// Only warnings and errors, no notes.
void say_quietly(bool quiet);
