#include "io/writer.h"

#include "base/clock.h"
#include "base/result.h"
#include "base/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rp_writer {
    const rp_folder *folder;
    char title[128];
    rp_frame_choice choice;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    // guarded by the mutex
    bool busy, ending;
    rp_writing writing;
    rp_result result; // of the first write that failed
    char sentence[1024];
    double seconds;
};

static rp_result carry_out(const rp_writer *writer, const rp_writing *w)
{
    const bool chosen = w->whole[0] != '\0';
    rp_frame_words words = {.title = writer->title, .choice = chosen ? &writer->choice : NULL};
    if (w->stats != NULL) {
        RP_TRY(rp_table_append(writer->folder, "stats.csv", w->stats));
    }
    if (w->forces != NULL) {
        RP_TRY(rp_table_append(writer->folder, "forces.csv", w->forces));
    }
    if (w->bodies != NULL) {
        RP_TRY(rp_table_append(writer->folder, "bodies.csv", w->bodies));
    }
    if (w->contacts != NULL) {
        RP_TRY(rp_table_append(writer->folder, "contacts.csv", w->contacts));
    }
    if (w->probes != NULL) {
        RP_TRY(rp_table_append(writer->folder, "probes.csv", w->probes));
    }
    if (w->cracks != NULL) {
        RP_TRY(rp_table_append(writer->folder, "cracks.csv", w->cracks));
    }
    RP_TRY(rp_frame_write(w->path, w->state, w->size, &words));
    if (w->fps > 0.0) {
        RP_TRY(rp_folder_index(writer->folder, w->fps));
    }
    if (chosen) {
        words.choice = NULL;
        RP_TRY(rp_frame_write(w->whole, w->state, w->size, &words));
    }
    if (w->remove[0] != '\0') {
        unlink(w->remove);
    }
    if (w->drop_state[0] != '\0' && access(w->drop_state, F_OK) == 0) {
        RP_TRY(rp_frame_drop_state(w->drop_state));
    }
    return RP_OK;
}

static void *work(void *context)
{
    rp_writer *writer = context;
    rp_thread_begin();
    pthread_mutex_lock(&writer->mutex);
    for (;;) {
        while (!writer->busy && !writer->ending) {
            pthread_cond_wait(&writer->changed, &writer->mutex);
        }
        if (!writer->busy) {
            break;
        }
        pthread_mutex_unlock(&writer->mutex);
        const double began = rp_seconds();
        const rp_result result = carry_out(writer, &writer->writing);
        rp_state_free(writer->writing.state);
        free(writer->writing.stats);
        free(writer->writing.forces);
        free(writer->writing.bodies);
        free(writer->writing.contacts);
        free(writer->writing.probes);
        free(writer->writing.cracks);
        pthread_mutex_lock(&writer->mutex);
        if (result != RP_OK && writer->result == RP_OK) {
            writer->result = result;
            snprintf(writer->sentence, sizeof writer->sentence, "%s", rp_last_error());
        }
        writer->seconds += rp_seconds() - began;
        writer->busy = false;
        pthread_cond_broadcast(&writer->changed);
    }
    pthread_mutex_unlock(&writer->mutex);
    return NULL;
}

rp_result rp_writer_open(rp_writer **out, const rp_folder *folder, const char *title,
                         const rp_frame_choice *choice)
{
    rp_writer *writer = *out = calloc(1, sizeof *writer);
    if (writer == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: the writer of frames");
    }
    writer->folder = folder;
    writer->choice = *choice;
    snprintf(writer->title, sizeof writer->title, "%s", title != NULL ? title : "");
    pthread_mutex_init(&writer->mutex, NULL);
    pthread_cond_init(&writer->changed, NULL);
    // signals belong to the host's threads
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&writer->thread, NULL, work, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        free(writer);
        *out = NULL;
        return rp_fail(RP_ERR_MEMORY, "cannot start a thread that writes frames: %s",
                       strerror(error));
    }
    return RP_OK;
}

rp_result rp_writer_wait(rp_writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    while (writer->busy) {
        pthread_cond_wait(&writer->changed, &writer->mutex);
    }
    const rp_result result =
        writer->result == RP_OK ? RP_OK : rp_fail(writer->result, "%s", writer->sentence);
    pthread_mutex_unlock(&writer->mutex);
    return result;
}

void rp_writer_write(rp_writer *writer, const rp_writing *writing)
{
    pthread_mutex_lock(&writer->mutex);
    RP_ASSERT(!writer->busy);
    writer->writing = *writing;
    writer->busy = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->mutex);
}

bool rp_writer_idle(rp_writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    const bool idle = !writer->busy;
    pthread_mutex_unlock(&writer->mutex);
    return idle;
}

double rp_writer_seconds(rp_writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    const double seconds = writer->seconds;
    pthread_mutex_unlock(&writer->mutex);
    return seconds;
}

rp_result rp_writer_close(rp_writer *writer)
{
    if (writer == NULL) {
        return RP_OK;
    }
    const rp_result result = rp_writer_wait(writer);
    pthread_mutex_lock(&writer->mutex);
    writer->ending = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->mutex);
    pthread_join(writer->thread, NULL);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->mutex);
    free(writer);
    return result;
}
