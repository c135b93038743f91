// docs/methods.md: features times methods, from the tables of the solvers.
#include "repose/method.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char opening[] =
    "# Methods\n\n"
    "<!-- made by `make docs` from the tables of the solvers; edits here are lost -->\n\n"
    "`scene { method = \"…\" }` or `--method` says how time is stepped. A scene is written once: "
    "what it\n"
    "says is honoured by a method, or has no meaning for it (a remark names it, and the run goes "
    "on), or\n"
    "is impossible (a sentence, exit code 2, and nothing runs).\n\n"
    "| method | | what it is good for |\n|---|---|---|\n";

static void write_head(FILE *out, const char *first)
{
    fprintf(out, "| %s |", first);
    for (int m = 0; m < rp_methods(); m++) {
        fprintf(out, " %s |", rp_method_at(m)->name);
    }
    fputs("\n|---|", out);
    for (int m = 0; m < rp_methods(); m++) {
        fputs("---|", out);
    }
    fputc('\n', out);
}

static void write_materials(FILE *out)
{
    write_head(out, "material");
    for (int k = 0; k < RP_MATERIAL_KINDS; k++) {
        const rp_material_info *info = rp_material_info_of((rp_material_kind)k);
        if (info->example == NULL) {
            continue; // none that scenes name
        }
        fprintf(out, "| `material.%s` |", info->name);
        for (int m = 0; m < rp_methods(); m++) {
            const rp_method_info *method = rp_method_at(m);
            fprintf(out, " %s |",
                    !method->built               ? "–"
                    : method->materials >> k & 1 ? "yes"
                                                 : "impossible");
        }
        fputc('\n', out);
    }
}

static void write_features(FILE *out)
{
    static const char *const words[] = {
        [RP_HONOURED] = "yes", [RP_MEANINGLESS] = "no meaning", [RP_IMPOSSIBLE] = "impossible"};
    write_head(out, "what a scene says");
    for (int f = 0; f < RP_FEATURE_COUNT; f++) {
        fprintf(out, "| %s: %s |", rp_feature_name((rp_feature)f),
                rp_feature_sentence((rp_feature)f));
        for (int m = 0; m < rp_methods(); m++) {
            const rp_method_info *method = rp_method_at(m);
            fprintf(out, " %s |", method->built ? words[method->regard[f]] : "–");
        }
        fputc('\n', out);
    }
}

static void write_options(FILE *out, const rp_method_info *method)
{
    fprintf(out,
            "\n## Options of %s\n\nIn a scene: `scene { %s = { … } }`.\n\n"
            "| option | unit | default | |\n|---|---|---|---|\n",
            method->name, method->name);
    for (int i = 0; i < method->options; i++) {
        const rp_property *p = &method->option[i];
        fprintf(out, "| `%s` | %s | %s | %s |\n", p->name, p->unit != NULL ? p->unit : "",
                p->otherwise != NULL ? p->otherwise : p->absent, p->sentence);
    }
}

char *rp_methods_reference(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    fputs(opening, out);
    for (int m = 0; m < rp_methods(); m++) {
        const rp_method_info *method = rp_method_at(m);
        fprintf(out, "| `%s` | %s | %s |\n", method->name,
                method->built ? "built" : "not built yet", method->sentence);
    }
    fputs("\n## Materials\n\n", out);
    write_materials(out);
    fputs("\n## Features\n\n", out);
    write_features(out);
    for (int m = 0; m < rp_methods(); m++) {
        if (rp_method_at(m)->options > 0) {
            write_options(out, rp_method_at(m));
        }
    }
    const bool failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}
