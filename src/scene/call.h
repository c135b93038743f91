// What a scene said: one `scene_call` per call of a word, with one value per key of the word.
//
// Records live in Lua's memory, so that the cap counts them. Texts, functions and tables inside a
// call are kept alive by the call; calls are kept alive by whoever holds them (a value in the
// script, another call, the scene's list).
#pragma once

#include "scene/words.h"

#include <lua.h>
#include <repose/repose.h>

struct scene_call;

// A function of the script that C may call.
typedef struct scene_function {
    rp_scene *scene;
    const struct scene_call *call;
    int key;  // of the call's word
    int line; // where it begins
} scene_function;

typedef struct scene_value {
    unsigned kind; // one of TAKES_…; 0: there is none
    bool given;    // by the scene; otherwise a default
    int count;     // components of a vector, rows of a matrix, shapes, points, tables, strings
    int comps;     // of each of some places
    union {
        double number;
        int64_t integer;
        bool boolean;
        int choice; // of scene_key.choices
        const char *text;
        double vector[3]; // of a range the first two
        double (*places)[3];
        bool axes[3];
        double matrix[3][3];
        scene_function function;
        struct scene_call *call; // shape, material or table
        struct scene_call **shapes;
        struct scene_call **tables;
        double (*points)[2];
        const char **texts; // of a list of strings, NULL behind the last
    };
} scene_value;

typedef struct scene_call {
    const scene_word *word;
    struct scene_call *next; // in the order in which the scene said them
    int line;
    int index;       // among those of the same group
    bool used;       // by another call
    rp_shape *shape; // of a shape, once the scene is whole
    scene_value set; // of a param, when its value came from outside
    scene_value value[];
} scene_call;

// A file that the script named.
typedef struct scene_file {
    char *name; // by the script
    char *copy; // where NAME.files has it
    char *path; // where it was read
} scene_file;

struct rp_scene {
    struct sandbox *sandbox;
    char *path, *text;
    size_t text_size;
    rp_scene_param *param; // as set from outside
    int params;
    char *method; // set from outside; NULL: as the scene says
    double load_seconds, call_seconds;
    char *folder;     // of the files that the scene names
    scene_file *file; // those that were read
    int files;

    scene_call *first, *last; // all that was said, in order
    // once the script has ended
    const scene_call *said; // scene { ... }
    int dimension;
    int up; // the axis: 1 or 2
    char *title;
    char *resolved;
    struct scene_body *body; // those that particles name and their pieces, in the order of names
    int bodies;              // with "rest", which is always there
    int fields;              // velocity fields of all of them
    struct scene_fracture *fracture; // bodies that break
    int fractures;
    rp_places *places; // from a planned world to the one that runs
};

// Values by name. Asking for a key that the word does not have, or for another kind than the value
// is, is a bug.
const scene_value *rp_call_value(const scene_call *call, const char *key);
double rp_call_number(const scene_call *call, const char *key);
int64_t rp_call_integer(const scene_call *call, const char *key);
bool rp_call_boolean(const scene_call *call, const char *key);
int rp_call_choice(const scene_call *call, const char *key);
const char *rp_call_text(const scene_call *call, const char *key); // NULL: none
const double *rp_call_vector(const scene_call *call, const char *key);

static inline bool rp_is_zero(const double v[3])
{
    return v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0;
}
// x, y or z, for messages.
static inline char rp_axis_name(int axis) { return "xyz"[axis]; }

// The next call of a word from `call` on, NULL: none.
const scene_call *rp_call_find(const scene_call *call, const char *word);

// A failure that names the place of the call in the scene: "file:line: word: …", or
// "file:line: word.key: …" when there is a key.
rp_result rp_call_fail(const rp_scene *scene, const scene_call *call, const char *key,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
// A warning with such a place.
void rp_call_warn(const rp_scene *scene, const scene_call *call, const char *key,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
// Put the place of the call in front of the last sentence, unless it names one already: what the
// script's functions say does. Gives the result back.
rp_result rp_call_place(const rp_scene *scene, const scene_call *call, rp_result result);
