// The machine and the terminal that the command runs on: memory, signals, the control channel.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes that this process could still get: of the machine, or of the group it is confined to.
size_t available_memory(void);
// What this process holds now, and the most that it has held since it began or since forget_peak()
// [bytes]; 0 where the system does not tell.
size_t resident_memory(void);
size_t peak_memory(void);
// @return false: the system cannot
bool forget_peak(void);

// Where standard input, output or error is closed, /dev/null takes its place: otherwise the next
// file that is opened would, and what is said would be written into it.
// @return false: it cannot
bool descriptors_fill(void);

// INT, TERM and HUP (the terminal is gone) are noted; a second one ends the process at once.
void signals_catch(void);
// The one that came, or 0.
int signal_came(void);
// The same as a yes or no, for what the library asks.
bool signal_stops(void *context);

// "pause", "resume" and "stop", a word a line, on a file descriptor.
typedef struct control {
    int fd; // -1: none
    char line[64];
    size_t length;
    bool paused, stop;
    int64_t due; // when to look at it again in control_stops() [ms]
} control;

// @return false when the descriptor cannot be read
bool control_open(control *c, int fd);
// Take in what has come. While paused, wait for more, or for a signal.
void control_look(control *c);
// Is the run to end, by a word or a signal? Does not wait, and may be asked as often as one likes.
bool control_stops(control *c);
