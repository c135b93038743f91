#define _GNU_SOURCE // memfd_create, posix_spawn_file_actions_addclosefrom_np
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool fail(child *c, const char *what, int error)
{
    snprintf(c->sentence, sizeof c->sentence, "cannot start a run: %s: %s", what, strerror(error));
    c->status = 4;
    return false;
}

// Descriptor 3 is where it is told things; it inherits no others of ours, the port least of all.
static int spawn(pid_t *pid, int control, int said, char *const *words)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t manner;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&manner);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, said, 2);
    posix_spawn_file_actions_adddup2(&files, control, 3);
    posix_spawn_file_actions_addclosefrom_np(&files, 4);
    posix_spawnattr_setsigmask(&manner, &none);
    posix_spawnattr_setflags(&manner, POSIX_SPAWN_SETSIGMASK);
    const int error = posix_spawn(pid, "/proc/self/exe", &files, &manner, words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&manner);
    return error;
}

bool child_start(child *c, char *const *words)
{
    int ends[2];
    *c = (child){.control = -1, .said = -1};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return fail(c, "a pipe", errno);
    }
    // numbers above those that are given away, so that giving does not overwrite
    const int reading = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    c->said = memfd_create("said", MFD_CLOEXEC);
    const int said = c->said >= 0 ? fcntl(c->said, F_DUPFD_CLOEXEC, 10) : -1;
    const int error = reading < 0 || said < 0 ? errno : spawn(&c->pid, reading, said, words);
    close(ends[0]);
    if (reading >= 0) {
        close(reading);
    }
    if (said >= 0) {
        close(said);
    }
    c->control = ends[1];
    if (error != 0) {
        close(c->control);
        if (c->said >= 0) {
            close(c->said);
        }
        c->pid = 0;
        return fail(c, words[0], error);
    }
    return true;
}

bool child_tell(child *c, const char *word)
{
    char line[16];
    const int size = snprintf(line, sizeof line, "%s\n", word);
    return c->pid != 0 && write(c->control, line, (size_t)size) == size;
}

// The last sentences that it said, without the name in front of each.
static void take_sentence(child *c)
{
    char text[4096];
    const off_t end = lseek(c->said, 0, SEEK_END);
    const off_t from = end > (off_t)sizeof text - 1 ? end - (off_t)sizeof text + 1 : 0;
    const ssize_t size = pread(c->said, text, sizeof text - 1, from);
    text[size > 0 ? size : 0] = '\0';
    c->sentence[0] = '\0';
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        static const char name[] = "repose: ";
        line += strncmp(line, name, sizeof name - 1) == 0 ? sizeof name - 1 : 0;
        if (strncmp(line, "warning:", 8) != 0) {
            const size_t used = strlen(c->sentence);
            snprintf(c->sentence + used, sizeof c->sentence - used, "%s%s", used > 0 ? "; " : "",
                     line);
        }
    }
}

bool child_lives(child *c)
{
    int how = 0;
    const pid_t ended = c->pid != 0 ? waitpid(c->pid, &how, WNOHANG) : 0;
    if (ended != c->pid && !(ended < 0 && errno == ECHILD)) {
        return true;
    }
    if (c->pid == 0) {
        return false;
    }
    // where nobody keeps the status of children (SIGCHLD is ignored), all went well for all we know
    c->status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    c->sentence[0] = '\0';
    if (WIFSIGNALED(how)) {
        snprintf(c->sentence, sizeof c->sentence, "the run's process was ended by signal %d (%s)",
                 WTERMSIG(how), strsignal(WTERMSIG(how)));
    } else if (c->status != 0 && c->status != 128 + SIGINT && c->status != 128 + SIGTERM &&
               c->status != 128 + SIGHUP) {
        take_sentence(c);
    }
    close(c->control);
    close(c->said);
    c->pid = 0;
    c->paused = c->stopping = false;
    return false;
}
