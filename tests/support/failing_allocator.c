#include "failing_allocator.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

// Kept apart from the memory itself, so that a sanitizer sees both of its ends.
struct failing_allocator_block {
    struct failing_allocator_block *next;
    void *memory;
    size_t size;
};

static void *allocate(size_t size, size_t align, void *context)
{
    failing_allocator *fa = context;
    pthread_mutex_lock(&fa->mutex);
    void *memory = NULL;
    if (fa->count++ == fa->fail_at) {
        fa->failed = true;
    } else if (posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, size) ==
               0) {
        struct failing_allocator_block *block = malloc(sizeof *block);
        if (block == NULL) {
            abort(); // the machine is out of memory, which is no test
        }
        memset(memory, 0xff, size);
        *block = (struct failing_allocator_block){fa->blocks, memory, size};
        fa->blocks = block;
        fa->outstanding_blocks++;
        fa->outstanding_bytes += size;
    }
    pthread_mutex_unlock(&fa->mutex);
    return memory;
}

static void release(void *memory, size_t size, void *context)
{
    failing_allocator *fa = context;
    pthread_mutex_lock(&fa->mutex);
    struct failing_allocator_block **link = &fa->blocks;
    while (*link != NULL && (*link)->memory != memory) {
        link = &(*link)->next;
    }
    struct failing_allocator_block *block = *link;
    if (block == NULL || block->size != size) {
        fa->wrong_releases++;
    }
    if (block != NULL) {
        *link = block->next;
        fa->outstanding_blocks--;
        fa->outstanding_bytes -= block->size;
        free(block->memory);
        free(block);
    }
    pthread_mutex_unlock(&fa->mutex);
}

void failing_allocator_init(failing_allocator *fa, int64_t fail_at)
{
    *fa = (failing_allocator){
        .allocator = {allocate, release, fa},
        .fail_at = fail_at,
    };
    pthread_mutex_init(&fa->mutex, NULL);
}

void failing_allocator_finish(failing_allocator *fa)
{
    if (fa->outstanding_blocks > 0) {
        check_record(NULL, 0, "leak: %lld blocks with %zu bytes; allocation %lld was to fail",
                     (long long)fa->outstanding_blocks, fa->outstanding_bytes,
                     (long long)fa->fail_at);
    }
    if (fa->wrong_releases > 0) {
        check_record(NULL, 0, "%lld blocks released wrongly; allocation %lld was to fail",
                     (long long)fa->wrong_releases, (long long)fa->fail_at);
    }
    for (struct failing_allocator_block *block = fa->blocks, *next; block != NULL; block = next) {
        next = block->next;
        free(block->memory);
        free(block);
    }
    pthread_mutex_destroy(&fa->mutex);
}
