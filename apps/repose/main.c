// repose: simulate granular matter. Finds the command and hands over.
#include "commands.h"
#include "host.h"
#include "last_words.h"
#include "say.h"

#include <repose/repose.h>

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const command *const commands[] = {
    &command_run,  &command_check,  &command_list,    &command_info,     &command_render,
    &command_view, &command_export, &command_measure, &command_validate, &command_bench};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int help(FILE *out)
{
    fputs("Usage: repose COMMAND [options]\n\n"
          "Repose simulates granular matter: sand that flows, piles up and comes to rest.\n"
          "Try: repose run column-collapse\n\nCommands:\n",
          out);
    for (int i = 0; i < COMMANDS; i++) {
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    }
    fputs("\nrepose COMMAND --help tells more about each; repose --version says which this is.\n",
          out);
    return EXIT_DONE;
}

static int unknown(const char *name)
{
    rp_nearest near = rp_nearest_start(name);
    for (int i = 0; i < COMMANDS; i++) {
        rp_nearest_try(&near, commands[i]->name);
    }
    return near.best != NULL ? say_usage("no command '%s'; did you mean %s?", name, near.best)
                             : say_usage("no command '%s'; repose --help lists them", name);
}

// As `repose measure ... | head` does when it has seen enough.
static bool reader_has_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

// What a command printed must have arrived: a full disk behind stdout is an error too.
static int finish(int status)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_DONE && !reader_has_gone()) {
        say_usage("cannot write to standard output");
        return EXIT_FILE;
    }
    return status;
}

static int run_command(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "--help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        return finish(help(argc > 1 ? stdout : stderr) + (argc > 1 ? EXIT_DONE : EXIT_USAGE));
    }
    if (strcmp(name, "--version") == 0) {
        puts("repose " RP_VERSION);
        return finish(EXIT_DONE);
    }
    // for the build: these come from the same tables as the help
    if (strcmp(name, "--print-man") == 0 || strcmp(name, "--print-bash") == 0) {
        (strcmp(name, "--print-man") == 0 ? args_man : args_bash)(commands, COMMANDS, stdout);
        return finish(EXIT_DONE);
    }
    static const struct {
        const char *name;
        char *(*make)(void);
    } pages[] = {{"--print-scene-reference", rp_scene_reference},
                 {"--print-measure-reference", rp_measure_reference},
                 {"--print-methods-reference", rp_methods_reference}};
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (strcmp(name, pages[i].name) == 0) {
            char *text = pages[i].make();
            fputs(text != NULL ? text : "", stdout);
            free(text);
            return finish(text != NULL ? EXIT_DONE : EXIT_FAILED);
        }
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            args a;
            const int status = args_parse(&a, commands[i], argc, argv);
            return finish(status != 0 ? (status > 0 ? status : EXIT_DONE) : commands[i]->main(&a));
        }
    }
    return unknown(name);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file that grows too big is a write that fails
    if (!descriptors_fill()) {
        return EXIT_FILE; // to whom could it be said?
    }
    last_words_prepare();
    say_quietly(false);
    const int status = run_command(argc, argv);
    last_words_spare();
    return status;
}
