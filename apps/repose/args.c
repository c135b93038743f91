#include "args.h"

#include "say.h"

#include <repose/nearest.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int find_option(const command *c, const char *name, size_t length)
{
    for (int i = 0; c->option[i].name != NULL; i++) {
        if (strlen(c->option[i].name) == length && memcmp(c->option[i].name, name, length) == 0) {
            return i;
        }
    }
    return -1;
}

static int say_unknown(const command *c, const char *name)
{
    rp_nearest near = rp_nearest_start(name);
    for (int i = 0; c->option[i].name != NULL; i++) {
        rp_nearest_try(&near, c->option[i].name);
    }
    if (near.best != NULL) {
        return say_usage("%s: no option '%s'; did you mean %s?", c->name, name, near.best);
    }
    return say_usage("%s: no option '%s'; repose %s --help lists them", c->name, name, c->name);
}

// One option at *i, and its value if it takes one: "--frames 3", "--frames=3", "-o out", "-oout".
static int take_option(args *a, int argc, char **argv, int *i)
{
    const char *word = argv[*i], *equals = strchr(word, '=');
    const bool is_short = word[1] != '-';
    size_t length = is_short ? 2 : equals != NULL ? (size_t)(equals - word) : strlen(word);
    const char *value =
        is_short ? (word[2] != '\0' ? word + 2 : NULL) : (equals != NULL ? equals + 1 : NULL);
    const int k = find_option(a->command, word, length);
    if (k < 0) {
        return say_unknown(a->command, word);
    }
    const option *o = &a->command->option[k];
    if (o->value == NULL && value != NULL) {
        return say_usage("%s takes no value, got '%s'", o->name, value);
    }
    if (o->value != NULL && value == NULL) {
        if (*i + 1 == argc) {
            return say_usage("%s wants a value: %s %s", o->name, o->name, o->value);
        }
        value = argv[++*i];
    }
    if (a->given[k].count > 0 && !o->many) {
        return say_usage("%s is given twice", o->name);
    }
    if (a->given[k].count == VALUE_MOST) {
        return say_usage("%s is given more than %d times", o->name, VALUE_MOST);
    }
    a->given[k].value[a->given[k].count++] = value;
    return 0;
}

int args_parse(args *a, const command *c, int argc, char **argv)
{
    *a = (args){.command = c, .argc = argc, .argv = argv};
    bool only_operands = false;
    for (int i = 2; i < argc; i++) {
        const char *word = argv[i];
        if (!only_operands && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            args_help(c, stdout);
            return -1;
        }
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && word[0] == '-' && word[1] != '\0') {
            const int status = take_option(a, argc, argv, &i);
            if (status != 0) {
                return status;
            }
        } else if (a->operands == c->most) {
            return say_usage("%s: want %s, got '%s' too", c->name,
                             c->most > 0 ? c->operands : "no operands", word);
        } else {
            a->operand[a->operands++] = word;
        }
    }
    if (a->operands < c->least) {
        return say_usage("%s: want %s; repose %s --help tells more", c->name, c->operands, c->name);
    }
    return 0;
}

int args_count(const args *a, const char *name)
{
    const int k = find_option(a->command, name, strlen(name));
    return k >= 0 ? a->given[k].count : 0;
}

const char *args_nth(const args *a, const char *name, int n)
{
    return a->given[find_option(a->command, name, strlen(name))].value[n];
}

bool args_has(const args *a, const char *name) { return args_count(a, name) > 0; }

const char *args_value(const args *a, const char *name)
{
    const int count = args_count(a, name);
    return count > 0 ? args_nth(a, name, count - 1) : NULL;
}

double args_number(const args *a, const char *name, double least, double most, double otherwise,
                   bool *wrong)
{
    const char *text = args_value(a, name);
    if (text == NULL) {
        return otherwise;
    }
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= least && value <= most)) {
        if (isinf(most)) {
            say_usage("%s: want a number of at least %g, got '%s'", name, least, text);
        } else {
            say_usage("%s: want a number from %g to %g, got '%s'", name, least, most, text);
        }
        *wrong = true;
        return otherwise;
    }
    return value;
}

int64_t args_integer(const args *a, const char *name, int64_t least, int64_t most,
                     int64_t otherwise, bool *wrong)
{
    const char *text = args_value(a, name);
    if (text == NULL) {
        return otherwise;
    }
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > most) {
        say_usage("%s: want a whole number from %lld to %lld, got '%s'", name, (long long)least,
                  (long long)most, text);
        *wrong = true;
        return otherwise;
    }
    return value;
}

bool args_useless(const args *a, const char *const *names, const char *why)
{
    for (; *names != NULL; names++) {
        if (args_has(a, *names)) {
            say_usage("%s: %s", *names, why);
            return true;
        }
    }
    return false;
}

// ---- what the table says, in three languages ----

static void print_option(const option *o, FILE *out)
{
    char left[64];
    snprintf(left, sizeof left, "%s%s%s", o->name, o->value != NULL ? " " : "",
             o->value != NULL ? o->value : "");
    fprintf(out, "  %-20s ", left);
    for (const char *c = o->help; *c != '\0'; c++) {
        fputc(*c, out);
        if (*c == '\n') {
            fprintf(out, "%23s", "");
        }
    }
    fputc('\n', out);
}

bool args_frames(const args *a, const char *name, int64_t *first, int64_t *last)
{
    const char *text = args_value(a, name);
    if (text == NULL) {
        return true;
    }
    char *rest = NULL;
    const char *colon = strchr(text, ':');
    bool right = colon != NULL;
    if (right && colon != text) {
        *first = strtoll(text, &rest, 10);
        right = rest == colon && *first >= 0;
    }
    if (right && colon[1] != '\0') {
        *last = strtoll(colon + 1, &rest, 10);
        right = *rest == '\0' && *last >= *first;
    }
    if (!right) {
        say_usage("%s: want FIRST:LAST, got '%s'", name, text);
    }
    return right;
}

void args_help(const command *c, FILE *out)
{
    fprintf(out, "Usage: repose %s%s%s%s\n\n%s\n\nOptions:\n", c->name,
            c->operands[0] != '\0' ? " " : "", c->operands,
            c->option[0].name != NULL ? " [options]" : "", c->text);
    for (const option *o = c->option; o->name != NULL; o++) {
        print_option(o, out);
    }
    print_option(&(option){.name = "--help", .help = "this text"}, out);
}

// Text for the man page: a hyphen must stay one, and no line may start as a request.
static void man_text(const char *text, FILE *out)
{
    bool line_start = true;
    for (const char *c = text; *c != '\0'; c++) {
        if (line_start && (*c == '.' || *c == '\'')) {
            fputs("\\&", out);
        }
        line_start = *c == '\n';
        if (*c == '-') {
            fputs("\\-", out);
        } else if (*c == '\\') {
            fputs("\\e", out);
        } else {
            fputc(*c, out);
        }
    }
}

static void man_command(const command *c, FILE *out)
{
    fprintf(out, ".SS \"repose %s %s\"\n", c->name, c->operands);
    fputs(".nf\n", out);
    man_text(c->text, out);
    fputs("\n.fi\n", out);
    for (const option *o = c->option; o->name != NULL; o++) {
        fputs(".TP\n.B ", out);
        man_text(o->name, out);
        fprintf(out, "%s%s\n", o->value != NULL ? " " : "", o->value != NULL ? o->value : "");
        man_text(o->help, out);
        fputc('\n', out);
    }
}

void args_man(const command *const *commands, int count, FILE *out)
{
    fputs(".TH REPOSE 1\n.SH NAME\nrepose \\- simulate granular matter\n.SH SYNOPSIS\n", out);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s.B repose %s\n%s\n", i > 0 ? ".br\n" : "", commands[i]->name,
                commands[i]->operands[0] != '\0' ? commands[i]->operands : "\\&");
    }
    fputs(".SH COMMANDS\n", out);
    for (int i = 0; i < count; i++) {
        man_command(commands[i], out);
    }
    fputs(".SH \"EXIT STATUS\"\n.TP\n0\ndone\n.TP\n2\nbad usage or scene\n.TP\n3\nthe simulation "
          "failed\n.TP\n4\na file could not be read or written\n.TP\n129, 130, 143\ninterrupted "
          "by SIGHUP, SIGINT or SIGTERM; what is whole stays, and a run saves its state\n"
          ".SH ENVIRONMENT\n.TP\n.B REPOSE_ISA\nthe instruction set to use: plain, avx2 or "
          "avx512\n.TP\n.B NO_COLOR\nno colours on a terminal\n",
          out);
}

// What completes an option's value or an operand, in bash.
static const char *completion_of(const char *words)
{
    return strcmp(words, "FILE") == 0    ? "COMPREPLY=($(compgen -f -- \"$cur\"))"
           : strcmp(words, "DIR") == 0   ? "COMPREPLY=($(compgen -d -- \"$cur\"))"
           : strcmp(words, "SCENE") == 0 ? "COMPREPLY=($(compgen -f -X '!*.lua' -- \"$cur\") "
                                           "$(compgen -d -- \"$cur\") $(compgen -W \"$(repose list "
                                           "--names 2>/dev/null)\" -- \"$cur\"))"
                                         : NULL;
}

// The names of the methods that can be used.
static void method_words(char *out, size_t size)
{
    out[0] = '\0';
    for (int m = 0; m < rp_methods(); m++) {
        const rp_method_info *info = rp_method_at(m);
        const size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", used > 0 && info->built ? " " : "",
                 info->built ? info->name : "");
    }
}

static void bash_reply(const char *words, FILE *out)
{
    char methods[256];
    if (strcmp(words, "METHOD") == 0) {
        method_words(methods, sizeof methods);
        words = methods;
    }
    const char *known = completion_of(words);
    if (known != NULL) {
        fputs(known, out);
    } else {
        fprintf(out, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", words);
    }
}

static void bash_command(const command *c, FILE *out)
{
    fprintf(out, "    %s)\n        case $prev in\n", c->name);
    for (const option *o = c->option; o->name != NULL; o++) {
        if (o->value != NULL) {
            fprintf(out, "        %s) ", o->name);
            if (o->words != NULL) {
                bash_reply(o->words, out);
                fputs("; ", out);
            }
            fputs("return ;;\n", out);
        }
    }
    fputs("        esac\n        if [[ $cur == -* ]]; then\n            COMPREPLY=($(compgen -W '",
          out);
    for (const option *o = c->option; o->name != NULL; o++) {
        fprintf(out, "%s ", o->name);
    }
    fputs("--help' -- \"$cur\"))\n", out);
    if (c->operand_words != NULL) {
        fputs("        else\n            ", out);
        bash_reply(c->operand_words, out);
        fputc('\n', out);
    }
    fputs("        fi ;;\n", out);
}

void args_bash(const command *const *commands, int count, FILE *out)
{
    fputs("# bash completion for repose\n_repose() {\n    local cur=${COMP_WORDS[COMP_CWORD]} "
          "prev=${COMP_WORDS[COMP_CWORD-1]}\n    COMPREPLY=()\n    if ((COMP_CWORD == 1)); then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s ", commands[i]->name);
    }
    fputs("--help --version' -- \"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n",
          out);
    for (int i = 0; i < count; i++) {
        bash_command(commands[i], out);
    }
    fputs("    esac\n}\ncomplete -o filenames -F _repose repose\n", out);
}
