// docs/scene.md, from the table of words.
#include "scene/words.h"

#include <locale.h>
#include <repose/scene.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char opening[] =
    "# Scenes\n"
    "\n"
    "A scene is a [Lua 5.4](https://www.lua.org/manual/5.4/) script that says what there is: words "
    "with tables of\n"
    "named fields. Units are SI, angles are in degrees, y points up unless `scene { up = \"z\" }` "
    "says otherwise. The\n"
    "order of the words does not matter, except that a material or a shape is made before it is "
    "used.\n"
    "\n"
    "This page is made from the table that also checks scenes (`src/scene/words.c`), so it lists "
    "every word and\n"
    "every field. A field without a default must be given. A field that is misspelt, of the wrong "
    "type, out of\n"
    "range, or in contradiction to another is refused with file, line and the nearest known "
    "spelling. Words of\n"
    "other tools (`E`, `plane`, `duration`) are answered with what they are called here.\n"
    "\n"
    "A *vector* is a list of numbers, `{x, y, z}`; in a 2D scene `{x, y}` will do, and a third "
    "number is not looked\n"
    "at. A *function* of the time `t` in seconds, or of a place, returns a vector as a list or as "
    "separate numbers.\n"
    "Functions of time must be pure: the same `t` gives the same result. They are called twice at "
    "several times\n"
    "when the scene is read, and a scene where the results differ is refused.\n"
    "\n"
    "## What a script may use\n"
    "\n"
    "Lua's own language, and `assert error getmetatable ipairs next pairs pcall print rawequal "
    "rawget rawlen rawset\n"
    "select setmetatable tonumber tostring type xpcall`, `math`, `table` without `move`, and of "
    "`string` the\n"
    "functions `byte char format len lower rep reverse sub upper`. Nothing reads files, sees the "
    "clock or runs for\n"
    "ever: a script has 10 s of processor time and 256 MiB, a function called later has 1 s.\n"
    "\n"
    "The same script always means the same scene. `pairs` and `next` go through numbers, then "
    "strings, then booleans,\n"
    "each in order. `math.random` follows `seed` of `scene` (call `scene` first, or get the "
    "numbers of seed 0), and is\n"
    "for the script itself, not for functions that are called later. `table.sort` keeps the order "
    "of equals. `print`\n"
    "writes to the log.\n";

static void write_cell(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|') {
            fputc('\\', out);
        }
        fputc(*text, out);
    }
}

static void write_takes(FILE *out, const scene_key *key)
{
    char takes[512], range[80];
    rp_scene_describe_takes(key, takes, sizeof takes);
    rp_scene_describe_range(key->range, range, sizeof range);
    write_cell(out, takes);
    if ((key->takes & TAKES_FUNCTION) != 0) {
        fprintf(out, " of %s", key->arguments);
    }
    const bool numbers = (key->takes & (TAKES_NUMBER | TAKES_INTEGER)) != 0;
    if (numbers && range[0] != '\0') {
        fprintf(out, ", %s", range);
    }
}

static void write_default(FILE *out, const scene_key *key)
{
    if (key->otherwise != NULL) {
        fprintf(out, "`%s`", key->otherwise);
    } else if (key->absent != NULL) {
        write_cell(out, key->absent);
    } else {
        fputs("**required**", out);
    }
}

static void write_keys(FILE *out, const scene_word *word)
{
    if (word->by_place) {
        fprintf(out, "\n`%s(", word->name);
        for (int k = 0; k < word->keys; k++) {
            const bool open = (word->key[k].takes & TAKES_SHAPES) != 0;
            fprintf(out, "%s%s", k > 0 ? ", " : "", open ? "shape, …" : word->key[k].name);
        }
        fputs(")`\n", out);
    }
    fputs("\n| field | takes | unit | default | |\n|---|---|---|---|---|\n", out);
    for (int k = 0; k < word->keys; k++) {
        const scene_key *key = &word->key[k];
        fprintf(out, "| `%s` | ", key->name);
        write_takes(out, key);
        fprintf(out, " | %s | ", key->unit != NULL ? key->unit : "");
        write_default(out, key);
        fputs(" | ", out);
        write_cell(out, key->sentence);
        if (key->not_with != NULL) {
            fprintf(out, " Not together with `%s`.", key->not_with);
        }
        fputs(" |\n", out);
    }
}

// The tables inside a word, each after the key that it belongs to.
static void write_forms(FILE *out, const scene_word *word, const char *path)
{
    for (int k = 0; k < word->keys; k++) {
        const scene_key *key = &word->key[k];
        if (key->form == NULL) {
            continue;
        }
        char inner[96];
        snprintf(inner, sizeof inner, "%s.%s", path, key->name);
        fprintf(out, "\nFields of the table that `%s` %s:\n", inner,
                (key->takes & TAKES_FUNCTION) != 0 ? "returns" : "takes");
        write_keys(out, key->form);
        write_forms(out, key->form, inner);
    }
}

static void write_word(FILE *out, const scene_word *word)
{
    fprintf(out, "\n## %s\n\n%s\n", word->name, word->sentence);
    if (word->kind == WORD_ONCE) {
        fprintf(out, "Said %s.\n", word->needed ? "exactly once" : "at most once");
    }
    write_keys(out, word);
    write_forms(out, word, word->name);
    fprintf(out, "\n```lua\n%s```\n", word->example);
}

char *rp_scene_reference(void)
{
    char *text = NULL;
    size_t size = 0;
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    FILE *out = plain != (locale_t)0 ? open_memstream(&text, &size) : NULL;
    if (out == NULL) {
        if (plain != (locale_t)0) {
            freelocale(plain);
        }
        return NULL;
    }
    const locale_t host = uselocale(plain);
    fputs(opening, out);
    for (int w = 0; w < rp_scene_word_count(); w++) {
        write_word(out, rp_scene_word_at(w));
    }
    uselocale(host);
    freelocale(plain);
    const bool failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}
