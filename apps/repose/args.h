// Command lines from a table: parsing, --help, the man page and the shell completion all come from
// the same descriptions.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { OPTION_MOST = 24, VALUE_MOST = 64 };

typedef struct option {
    const char *name;  // "--frames", or "-o"
    const char *value; // what it takes, such as "N"; NULL: nothing
    const char *help;  // one sentence; may hold line breaks
    const char *
        words; // for the completion: what the value may be, "FILE", "DIR", "METHOD"; NULL: anything
    bool many; // may be given again and again
} option;

typedef struct args args;

typedef struct command {
    const char *name;
    const char *operands;      // as shown in the usage line, such as "SCENE"
    int least, most;           // how many operands
    const char *operand_words; // for the completion, as option.words
    const char *summary;       // one line for the list of commands
    const char *text;          // what a newcomer wants to know
    const option *option;      // ends with a NULL name
    int (*main)(const args *a);
} command;

struct args {
    const command *command;
    int argc; // all of the command line, for the record
    char **argv;
    const char *operand[VALUE_MOST];
    int operands;
    struct {
        const char *value[VALUE_MOST];
        int count; // how often it was given
    } given[OPTION_MOST];
};

// @return 0, or the exit status after something has been said: 0 < status for an error, -1 when
// --help was answered
int args_parse(args *a, const command *c, int argc, char **argv);

bool args_has(const args *a, const char *name);
// The last value given, or NULL.
const char *args_value(const args *a, const char *name);
int args_count(const args *a, const char *name);
const char *args_nth(const args *a, const char *name, int n);

// A number in [least, most]; `otherwise` when the option was not given. A wrong one is said and
// sets *wrong.
double args_number(const args *a, const char *name, double least, double most, double otherwise,
                   bool *wrong);
int64_t args_integer(const args *a, const char *name, int64_t least, int64_t most,
                     int64_t otherwise, bool *wrong);

// FIRST:LAST, either of which may be left out, into the two; untouched when the option was not
// given. A wrong one is said. @return false then
bool args_frames(const args *a, const char *name, int64_t *first, int64_t *last);

// Of options that would do nothing here, the first that was given is refused: "NAME: WHY".
// @param names ends with NULL. @return true: there was one, and it was said
bool args_useless(const args *a, const char *const *names, const char *why);

void args_help(const command *c, FILE *out);
void args_man(const command *const *commands, int count, FILE *out);
void args_bash(const command *const *commands, int count, FILE *out);
