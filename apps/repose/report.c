#include "report.h"

#include "plot.h"
#include "progress.h"
#include "say.h"
#include "scenes.h"

#include <repose/file.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *text(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value != NULL ? value : "";
}

check_state state_of(const json_t *check)
{
    const json_t *expectation, *list = json_object_get(check, "expectations");
    size_t i;
    if (strcmp(text(check, "state"), "waiting") == 0) {
        return CHECK_WAITING;
    }
    if (strcmp(text(check, "state"), "running") == 0) {
        return CHECK_RUNNING;
    }
    json_array_foreach(list, i, expectation)
    {
        if (!json_is_true(json_object_get(expectation, "pass"))) {
            return CHECK_FAILED;
        }
    }
    return json_object_get(check, "error") != NULL ? CHECK_FAILED : CHECK_PASSED;
}

tally count_checks(const json_t *checks)
{
    tally t = {0};
    const json_t *check, *expectation;
    size_t i, k;
    json_array_foreach(checks, i, check)
    {
        const check_state state = state_of(check);
        t.passed += state == CHECK_PASSED;
        t.failed += state == CHECK_FAILED;
        t.missing += state == CHECK_WAITING || state == CHECK_RUNNING;
        json_array_foreach(json_object_get(check, "expectations"), k, expectation)
        {
            const bool met = json_is_true(json_object_get(expectation, "pass"));
            t.met += met;
            t.missed += !met;
        }
    }
    return t;
}

// ---- numbers ----

static double number(const json_t *value)
{
    const char *word = json_string_value(value);
    if (word != NULL) {
        return strcmp(word, "inf") == 0 ? INFINITY : strcmp(word, "-inf") == 0 ? -INFINITY : NAN;
    }
    return json_is_number(value) ? json_number_value(value) : NAN;
}

// "2.00 to 2.50", "at most 0.015", "at least 1.4"
static void put_band(FILE *out, const json_t *e)
{
    const double low = number(json_object_get(e, "low")), high = number(json_object_get(e, "high"));
    if (isinf(low) && isinf(high)) {
        fputs("any number", out);
    } else if (isinf(high)) {
        fprintf(out, "at least %.5g", low);
    } else if (isinf(low)) {
        fprintf(out, "at most %.5g", high);
    } else {
        fprintf(out, "%.5g to %.5g", low, high);
    }
}

// ---- the page ----

static const char STYLE[] =
    ":root{--bg:#fdfcf9;--ink:#26231e;--soft:#6f6a60;--line:#e0dbcf;--good:#2f7d4f;--bad:#b3372f;"
    "--c0:#b5651d;--c1:#2b6ca3;--c2:#4b8b3b;--c3:#8b4a8b;--c4:#a33b3b;--c5:#5b6770;color-scheme:"
    "light dark}"
    "@media(prefers-color-scheme:dark){:root{--bg:#1d1c1a;--ink:#e6e1d6;--soft:#a09a8c;--line:#"
    "3a3732;"
    "--good:#6fc38f;--bad:#ee8077;--c0:#e0a060;--c1:#78b4e6;--c2:#8cc87a;--c3:#cf95cf;--c4:#e88;"
    "--c5:#aab6bf}}"
    "body{background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,sans-serif;max-width:60rem;"
    "margin:2rem auto;padding:0 1rem}h1{font-weight:600}h2{margin-top:3rem;border-top:1px solid "
    "var(--line);padding-top:1.2rem;font-size:1.25rem}table{border-collapse:collapse;width:100%;"
    "font-variant-numeric:tabular-nums}th,td{text-align:left;padding:.3rem .6rem .3rem 0;"
    "border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--soft);font-weight:500;"
    "font-size:.85rem}.good{color:var(--good)}.bad{color:var(--bad);font-weight:600}"
    ".soft,.source{color:var(--soft);font-size:.85rem}.why{border-left:3px solid var(--bad);"
    "padding-left:.8rem}a{color:inherit}pre{overflow:auto;background:#8881;padding:.8rem;font-size:"
    ".8rem}"
    "svg.plot{width:100%;max-width:40rem;display:block}.plot text{fill:var(--ink);font-size:12px}"
    ".plot .tick,.plot .label{fill:var(--soft);font-size:11px}.plot .title{font-size:13px}"
    ".grid{stroke:var(--line);fill:none}.line{fill:none;stroke:currentColor;stroke-width:1.6}"
    ".dashed{stroke-dasharray:6 4}.dot{fill:currentColor}.c0{color:var(--c0)}.c1{color:var(--c1)}"
    ".c2{color:var(--c2)}.c3{color:var(--c3)}.c4{color:var(--c4)}.c5{color:var(--c5)}"
    ".legend{font-size:.85rem;margin:.2rem 0 1rem;padding-left:4.2rem}";

static const char *word_of(check_state state)
{
    static const char *const words[] = {
        [CHECK_WAITING] = "<span class=\"soft\">not run</span>",
        [CHECK_RUNNING] = "<span class=\"soft\">not finished</span>",
        [CHECK_PASSED] = "<span class=\"good\">passed</span>",
        [CHECK_FAILED] = "<span class=\"bad\">failed</span>",
    };
    return words[state];
}

static void put_summary(FILE *out, const json_t *checks)
{
    const json_t *check;
    size_t i;
    fputs("<table><tr><th>check</th><th></th><th>expectations</th><th>result</th><th>time</th></"
          "tr>\n",
          out);
    json_array_foreach(checks, i, check)
    {
        json_t *one = json_pack("[O]", check);
        const tally t = count_checks(one);
        json_decref(one);
        fputs("<tr><td><a href=\"#", out);
        put_escaped(out, text(check, "id"));
        fputs("\">", out);
        put_escaped(out, text(check, "id"));
        fputs("</a></td><td>", out);
        put_escaped(out, text(check, "title"));
        fprintf(out, "</td><td>%d of %d</td><td>%s</td><td>", t.met, t.met + t.missed,
                word_of(state_of(check)));
        if (json_object_get(check, "seconds") != NULL) {
            fprintf(out, "%.1f s", json_number_value(json_object_get(check, "seconds")));
        }
        fputs("</td></tr>\n", out);
    }
    fputs("</table>\n", out);
}

static void put_expectations(FILE *out, const json_t *check)
{
    const json_t *e;
    size_t i;
    fputs("<table><tr><th>what</th><th>expected</th><th>measured</th><th>band</th><th></th></tr>\n",
          out);
    json_array_foreach(json_object_get(check, "expectations"), i, e)
    {
        const double want = number(json_object_get(e, "want"));
        const bool pass = json_is_true(json_object_get(e, "pass"));
        fputs("<tr><td>", out);
        put_escaped(out, text(e, "what"));
        fputs("<div class=\"source\">", out);
        put_escaped(out, text(e, "source"));
        fputs("</div>", out);
        if (!pass && text(e, "why")[0] != '\0') {
            fputs("<div class=\"why\">", out);
            put_escaped(out, text(e, "why"));
            fputs("</div>", out);
        }
        fputs("</td><td>", out);
        if (!isnan(want)) {
            fprintf(out, "%.5g ", want);
            put_escaped(out, text(e, "unit"));
        }
        fprintf(out, "</td><td>%.5g ", number(json_object_get(e, "value")));
        put_escaped(out, text(e, "unit"));
        fputs("</td><td>", out);
        put_band(out, e);
        fprintf(out, "</td><td>%s</td></tr>\n", word_of(pass ? CHECK_PASSED : CHECK_FAILED));
    }
    fputs("</table>\n", out);
}

static void put_paragraph(FILE *out, const char *class, const char *words)
{
    if (words[0] != '\0') {
        fprintf(out, "<p class=\"%s\">", class);
        put_escaped(out, words);
        fputs("</p>\n", out);
    }
}

static void put_runs(FILE *out, const json_t *check)
{
    const json_t *run, *value;
    const char *before = "", *key;
    size_t i;
    json_array_foreach(json_object_get(check, "runs"), i, run)
    {
        fputs("<p class=\"soft\">Run ", out);
        fprintf(out, "%zu ", i + 1);
        put_escaped(out, text(run, "name"));
        fprintf(out, ": %lld particles, %lld steps, %.1f s",
                (long long)json_integer_value(json_object_get(run, "particles")),
                (long long)json_integer_value(json_object_get(run, "steps")),
                json_number_value(json_object_get(run, "seconds")));
        json_object_foreach(json_object_get(run, "set"), key, value)
        {
            fputs(", ", out);
            put_escaped(out, key);
            fputs(" = ", out);
            put_escaped(out, json_string_value(value));
        }
        if (text(run, "failure")[0] != '\0') {
            fputs("; it ended with: ", out);
            put_escaped(out, text(run, "failure"));
        }
        fputs("</p>\n", out);
        if (strcmp(before, text(run, "scene")) != 0) {
            fputs("<details><summary>scene</summary><pre>", out);
            put_escaped(out, text(run, "scene"));
            fputs("</pre></details>\n", out);
        }
        before = text(run, "scene");
    }
}

static void put_check(FILE *out, const json_t *check)
{
    const json_t *item;
    size_t i;
    const check_state state = state_of(check);
    fputs("<h2 id=\"", out);
    put_escaped(out, text(check, "id"));
    fputs("\">", out);
    put_escaped(out, text(check, "id"));
    fputs(" &nbsp; ", out);
    put_escaped(out, text(check, "title"));
    fprintf(out, " &nbsp; %s</h2>\n", word_of(state));
    put_paragraph(out, "setup", text(check, "setup"));
    put_paragraph(out, "source", text(check, "source"));
    if (state == CHECK_WAITING || state == CHECK_RUNNING) {
        return;
    }
    if (text(check, "error")[0] != '\0') {
        put_paragraph(out, "why", text(check, "error"));
    }
    put_expectations(out, check);
    if (state == CHECK_FAILED) {
        put_paragraph(out, "why", text(check, "why"));
    }
    json_array_foreach(json_object_get(check, "notes"), i, item)
    {
        put_paragraph(out, "note", json_string_value(item));
    }
    json_array_foreach(json_object_get(check, "plots"), i, item) { plot_svg(out, item); }
    put_runs(out, check);
}

static void put_page(FILE *out, const json_t *checks, double seconds, const char *command)
{
    const tally t = count_checks(checks);
    const json_t *check;
    size_t i;
    char when[64], length[32];
    const time_t now = time(NULL);
    struct tm utc;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
    print_duration(seconds, length);
    fprintf(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><title>Repose: validation</title><style>%s</style></head>"
        "<body>\n<h1>Repose against references</h1>\n<p><b>%d passed, %d failed</b>",
        STYLE, t.passed, t.failed);
    if (t.missing > 0) {
        fprintf(out, ", %d not run", t.missing);
    }
    fprintf(
        out,
        " (%d of %d expectations met). Version " RP_VERSION ", %s, after %s.</p>\n"
        "<p class=\"soft\">A check passes when every measured number lies within its band. Bands "
        "come from the sources. [A] exact, [S] printed in a paper, [X] laboratory, [DEM] discrete "
        "simulation, [R] another program, [P] another program's test, [M] literature from memory, "
        "eng. engineering judgement. <code>",
        t.met, t.met + t.missed, when, length);
    put_escaped(out, command);
    fputs("</code></p>\n", out);
    put_summary(out, checks);
    json_array_foreach(checks, i, check) { put_check(out, check); }
    fputs("</body></html>\n", out);
}

// ---- the table ----

static void put_quoted(FILE *out, const char *words)
{
    fputc('"', out);
    for (; *words != '\0'; words++) {
        fputs(*words == '"' ? "\"\"" : *words == '\n' ? " " : (char[]){*words, '\0'}, out);
    }
    fputc('"', out);
}

static void put_csv(FILE *out, const json_t *checks)
{
    const json_t *check, *e;
    size_t i, k;
    fputs("check,title,what,expected,measured,low,high,unit,result,source,check_seconds,"
          "explanation\n",
          out);
    json_array_foreach(checks, i, check)
    {
        static const char *const words[] = {"not run", "not finished", "passed", "failed"};
        const size_t count = json_array_size(json_object_get(check, "expectations"));
        const double seconds = json_number_value(json_object_get(check, "seconds"));
        json_array_foreach(json_object_get(check, "expectations"), k, e)
        {
            const bool pass = json_is_true(json_object_get(e, "pass"));
            put_quoted(out, text(check, "id"));
            fputc(',', out);
            put_quoted(out, text(check, "title"));
            fputc(',', out);
            put_quoted(out, text(e, "what"));
            fprintf(out, ",%.9g,%.9g,%.9g,%.9g,", number(json_object_get(e, "want")),
                    number(json_object_get(e, "value")), number(json_object_get(e, "low")),
                    number(json_object_get(e, "high")));
            put_quoted(out, text(e, "unit"));
            fprintf(out, ",%s,", pass ? "passed" : "failed");
            put_quoted(out, text(e, "source"));
            fprintf(out, ",%.1f,", seconds);
            put_quoted(out, pass                        ? ""
                            : text(e, "why")[0] != '\0' ? text(e, "why")
                                                        : text(check, "why"));
            fputc('\n', out);
        }
        // one that ended early, or has not come yet
        if (count == 0 || text(check, "error")[0] != '\0') {
            put_quoted(out, text(check, "id"));
            fputc(',', out);
            put_quoted(out, text(check, "title"));
            fprintf(out, ",,,,,,,%s,", words[state_of(check)]);
            put_quoted(out, text(check, "source"));
            fprintf(out, ",%.1f,", seconds);
            put_quoted(out, text(check, "error"));
            fputc('\n', out);
        }
    }
}

// ---- files ----

static int write_file(const char *folder, const char *name, const char *bytes, size_t size)
{
    char path[PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const rp_result result = rp_file_write_all(path, bytes, size);
    return result == RP_OK ? 0 : say_error(result, false);
}

int report_write(const char *folder, const json_t *checks, double seconds, const char *command)
{
    char *page = NULL, *table = NULL;
    size_t page_size = 0, table_size = 0;
    FILE *out = open_memstream(&page, &page_size);
    if (out != NULL) {
        put_page(out, checks, seconds, command);
        fclose(out);
    }
    out = open_memstream(&table, &table_size);
    if (out != NULL) {
        put_csv(out, checks);
        fclose(out);
    }
    int status = page != NULL && table != NULL ? 0 : say_usage("out of memory: the report");
    status = status == 0 ? write_file(folder, "report.html", page, page_size) : status;
    status = status == 0 ? write_file(folder, "results.csv", table, table_size) : status;
    free(page);
    free(table);
    return status;
}
