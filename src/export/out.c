#include "export/job.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 1 << 20 };

rp_result rp_out_open(rp_out *o, const rp_job *job, const char *path)
{
    *o = (rp_out){.buffer = malloc(BUFFER), .job = job};
    if (o->buffer == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory to write %s", path);
    }
    const rp_result result = rp_file_replace(&o->file, path);
    if (result != RP_OK) {
        free(o->buffer);
    }
    return result;
}

static void flush(rp_out *o)
{
    if (o->result == RP_OK) {
        o->result = rp_job_go_on(o->job);
    }
    if (o->result == RP_OK) {
        o->result = rp_file_write(&o->file, o->buffer, o->used);
    }
    o->used = 0;
}

void rp_out_bytes(rp_out *o, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        const size_t room = BUFFER - o->used, part = size < room ? size : room;
        memcpy(o->buffer + o->used, at, part);
        o->used += part;
        at += part;
        size -= part;
        if (o->used == BUFFER) {
            flush(o);
        }
    }
}

void rp_out_text(rp_out *o, const char *format, ...)
{
    enum { LONGEST = 4096 };
    va_list list;
    if (BUFFER - o->used < LONGEST) {
        flush(o);
    }
    va_start(list, format);
    const int length = vsnprintf(o->buffer + o->used, LONGEST, format, list);
    va_end(list);
    o->used += (size_t)(length < LONGEST ? length : LONGEST - 1);
}

rp_result rp_out_close(rp_out *o)
{
    flush(o);
    free(o->buffer);
    return rp_file_end(&o->file, o->result);
}
