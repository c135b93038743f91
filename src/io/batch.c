// The arrays of a batch of particles, all of which follow one table.
#include "base/result.h"
#include "repose/reader.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY(name, want)                                                                          \
    {                                                                                              \
        offsetof(rp_batch, name), sizeof *((rp_batch *)NULL)->name, want                           \
    }
static const struct {
    size_t at, bytes; // where its pointer is; of a particle
    unsigned want;    // any of these; 0: always
} arrays[] = {
    ARRAY(flags, 0),
    ARRAY(position, RP_READ_POSITION),
    ARRAY(velocity, RP_READ_VELOCITY),
    ARRAY(id, RP_READ_ID),
    ARRAY(group, RP_READ_GROUP | RP_READ_MASS),
    ARRAY(material, RP_READ_GROUP | RP_READ_MASS),
    ARRAY(field, RP_READ_GROUP | RP_READ_MASS),
    ARRAY(species, RP_READ_GROUP | RP_READ_MASS),
    ARRAY(mass, RP_READ_MASS),
    ARRAY(volume, RP_READ_MASS),
    ARRAY(strain, RP_READ_STRAIN),
    ARRAY(hardening, RP_READ_STATE),
    ARRAY(volume_gain, RP_READ_STATE),
    ARRAY(log_ratio, RP_READ_RATIO),
    ARRAY(stress, RP_READ_STRESS),
};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

static char *array_of(const rp_batch *b, int k)
{
    char *data;
    memcpy(&data, (const char *)b + arrays[k].at, sizeof data);
    return data;
}

void rp_batch_free(rp_batch *b)
{
    for (int k = 0; k < ARRAYS; k++) {
        free(array_of(b, k));
    }
    *b = (rp_batch){.want = b->want};
}

rp_result rp_batch_reserve(rp_batch *b, int64_t room)
{
    if (room > b->room) {
        rp_batch_free(b);
        b->room = room;
    }
    for (int k = 0; k < ARRAYS; k++) {
        if ((arrays[k].want == 0 || (arrays[k].want & b->want) != 0) && array_of(b, k) == NULL) {
            void *data = calloc((size_t)b->room + 1, arrays[k].bytes);
            if (data == NULL) {
                rp_batch_free(b);
                return rp_fail(RP_ERR_MEMORY, "no memory for %lld particles of a frame",
                               (long long)room);
            }
            memcpy((char *)b + arrays[k].at, &data, sizeof data);
        }
    }
    return RP_OK;
}

int64_t rp_batch_drop(rp_batch *b, unsigned flags)
{
    const int64_t count = b->count;
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if ((b->flags[i] & flags) != 0) {
            continue;
        }
        for (int k = 0; k < ARRAYS && kept < i; k++) {
            char *data = array_of(b, k);
            if (data != NULL) {
                memcpy(data + (size_t)kept * arrays[k].bytes, data + (size_t)i * arrays[k].bytes,
                       arrays[k].bytes);
            }
        }
        kept++;
    }
    b->count = kept;
    return count - kept;
}
