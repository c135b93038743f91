// The language of scenes as one table: every word, every key, what it takes and what it is without
// one. Words of materials and options of methods come from their own lists. Checks, defaults,
// docs/scene.md and the resolved scene are all made from it, so a key that is not here does not
// exist, and one that is here is checked, documented and written down.
#pragma once

#include <stdbool.h>

// What a key takes. Most take one kind of thing; a key that takes several adds them up.
enum {
    TAKES_NUMBER = 1 << 0,
    TAKES_INTEGER = 1 << 1,
    TAKES_BOOLEAN = 1 << 2,
    TAKES_STRING = 1 << 3,
    TAKES_CHOICE = 1 << 4,  // one of scene_key.choices
    TAKES_VECTOR = 1 << 5,  // as many numbers as the scene has dimensions
    TAKES_VECTOR3 = 1 << 6, // three numbers in 2D too
    TAKES_AXES = 1 << 7,    // a boolean per dimension
    TAKES_MATRIX = 1 << 8,  // as many rows as dimensions, each a vector
    TAKES_TABLE = 1 << 9,   // named fields, listed by scene_key.form
    TAKES_FUNCTION = 1 << 10,
    TAKES_SHAPE = 1 << 11,
    TAKES_MATERIAL = 1 << 12,
    TAKES_SHAPES = 1 << 13,  // one or more, all arguments that are left
    TAKES_POINTS = 1 << 14,  // a list of pairs of numbers
    TAKES_TABLES = 1 << 15,  // a list of tables, each as scene_key.form lists
    TAKES_STRINGS = 1 << 16, // a list of different strings, of which one will be chosen; where
                             // there are scene_key.choices, a list of any of these
    TAKES_CUT = 1 << 17,     // a plane, a zigzag and so on, of a body that breaks
    TAKES_RANGE = 1 << 18,   // two numbers, from the least to the largest
    TAKES_PLACES = 1 << 19,  // a list of vectors
};

// Of a number, or of every number of a vector. Only finite numbers are in any range.
typedef struct scene_range {
    double low, high;           // may be infinite
    bool above_low, below_high; // the ends themselves are out
} scene_range;

struct scene_word;

typedef struct scene_key {
    const char *name;
    unsigned takes;
    const char *unit; // NULL: a bare number or none at all
    scene_range range;
    const char *const *choices; // NULL-terminated
    // of a TAKES_TABLE or TAKES_TABLES, and of the table that a function returns; a key that takes
    // both a boolean and a table understands `true` as the table with all its defaults
    const struct scene_word *form;
    const char *arguments; // of a function, as a scene writes them
    const char *otherwise; // the default, as a scene would write it
    const char *absent;    // what it means to leave it out, when there is no plain default;
                           // neither of the two: the key must be given
    const char *not_with;  // keys that it contradicts, separated by spaces
    const char *sentence;
} scene_key;

typedef enum scene_kind {
    WORD_ONCE,     // may be said once, such as scene
    WORD_MANY,     // adds something to the world
    WORD_MATERIAL, // makes a value
    WORD_SHAPE,    // makes a value
    WORD_CUT,      // makes a value
    WORD_PARAM,    // param(name, default, note): keys by position
    WORD_FORM,     // not a word: the fields of a table inside one
} scene_kind;

typedef struct scene_word {
    const char *name; // as scenes write it
    scene_kind kind;
    bool needed;       // a scene without it is refused
    const char *group; // where the resolved scene has it
    const char *sentence;
    const scene_key *key;
    int keys;
    const char *example; // a whole scene; NULL for a form
    bool by_place;       // its keys are arguments, as in offset(shape, distance)
} scene_word;

int rp_scene_word_count(void);
// @param index 0 to rp_scene_word_count() - 1
const scene_word *rp_scene_word_at(int index);

// The place of a key in its word. Asking for one that is not there is a bug.
int rp_scene_key_index(const scene_word *word, const char *key);
// NULL when there is none.
const scene_word *rp_scene_find_word(const char *name);

// What other tools call something that is called `ours` here, or is said in another way.
typedef struct scene_foreign {
    // where: a word or form, "material" or "shape" for all of them, "any" for all that have the key
    // `ours`; "words" and "materials" for names of the script; "collider.contact" for a choice
    const char *in;
    const char *theirs; // names in lower case and without underscores, separated by spaces
    const char *ours;   // NULL: `how` says it all
    const char *how;    // more about it; may be NULL where `ours` is not
} scene_foreign;

int rp_scene_foreign_count(void);
// @param index 0 to rp_scene_foreign_count() - 1
const scene_foreign *rp_scene_foreign_at(int index);
// In just this place; NULL when nothing is known of the name.
const scene_foreign *rp_scene_find_foreign(const char *in, const char *theirs);
// As a key of a word; NULL when nothing is known of the name.
const scene_foreign *rp_scene_foreign_key(const scene_word *word, const char *theirs);
// "; did you mean 'frames' (frames = duration * fps)?" into text: from what is known of the name,
// or else from its spelling. With `mark` around the suggestion and `before` in front of it; "" when
// both are NULL. What is no suggestion ends with a full stop.
void rp_scene_suggest(const scene_foreign *known, const char *nearest, const char *before,
                      char mark, char *text, int size);

// "a number", "a vector or a function" into text.
void rp_scene_describe_takes(const scene_key *key, char *text, int size);
// "\"a\", \"b\" or \"c\"" into text.
void rp_scene_describe_choices(const char *const *choices, char *text, int size);
// "> 0", "0 to 1", "" for any number
void rp_scene_describe_range(scene_range range, char *text, int size);
