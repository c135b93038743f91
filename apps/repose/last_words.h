// What is said when a library ends the process: HDF5 calls exit() in the middle of its work when
// memory runs out, others crash, jansson goes on with half of what it was to write. Then it is told
// which, and the exit status is that of a file that could not be read or written. A crash of our
// own is a bug: it is called one, and dumps its core.
#pragma once

// To be called first in main(), and last.
void last_words_prepare(void);
void last_words_spare(void);
// From now on, notice when a library waits for itself for ever in the calling thread, as TBB does
// below Embree where it found no memory for its threads: nothing computes for a quarter of a
// minute, and its code waits for a lock. By the main thread.
void last_words_watch(void);
