#include "measure/table.h"

#include "repose/file.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *no_memory(void)
{
    rp_fail(RP_ERR_MEMORY, "out of memory: the table of a measurement");
    return NULL;
}

rp_measured *rp_measured_make(const char *names)
{
    rp_measured *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return no_memory();
    }
    for (const char *at = names; *at != '\0'; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        char(*name)[32] = realloc(table->name, ((size_t)table->columns + 1) * sizeof *name);
        if (name == NULL) {
            rp_measured_free(table);
            return no_memory();
        }
        table->name = name;
        snprintf(name[table->columns++], sizeof *name, "%.*s", (int)length, at);
        at += length;
    }
    return table;
}

void rp_measured_free(rp_measured *table)
{
    if (table != NULL) {
        free(table->name);
        free(table->value);
        free(table);
    }
}

int rp_measured_column(const rp_measured *table, const char *name)
{
    for (int c = 0; c < table->columns; c++) {
        if (strcmp(table->name[c], name) == 0) {
            return c;
        }
    }
    return -1;
}

double *rp_measured_add_row(rp_measured *table)
{
    const size_t columns = (size_t)table->columns, rows = (size_t)table->rows;
    // doubled when the count is a power of two
    if ((rows & (rows - 1)) == 0) {
        const size_t room = rows == 0 ? 1 : 2 * rows;
        double *value = realloc(table->value, room * columns * sizeof *value);
        if (value == NULL) {
            return no_memory();
        }
        table->value = value;
    }
    double *row = table->value + rows * columns;
    for (size_t c = 0; c < columns; c++) {
        row[c] = NAN;
    }
    table->rows++;
    return row;
}

// ---- files ----

// Text between quotes, as a run writes names: quotes in it are twice, and a mark before what looks
// like a formula. Its end becomes a 0. @return behind the last quote
static char *unquote(char **field)
{
    char *from = *field + 1, *to = from;
    for (; *from != '\0' && (*from != '"' || from[1] == '"'); from++) {
        from += *from == '"';
        *to++ = *from;
    }
    char *behind = from + (*from == '"');
    *to = '\0';
    *field += 1;
    *field += (*field)[0] == '\'' && (*field)[1] != '\0' && strchr("=+-@", (*field)[1]) != NULL;
    return behind;
}

// The fields of a line that begins at *at; commas become ends. @return how many, or -1 for a line
// that is torn
static int split(char **at, char *field[64])
{
    char *line = *at, *end = line + strcspn(line, "\n");
    int fields = 0;
    if (*end != '\n') {
        return -1; // the last one, if it was being written
    }
    *end = '\0';
    *at = end + 1;
    while (fields < 64) {
        field[fields++] = line;
        if (*line == '"') {
            line = unquote(&field[fields - 1]);
        } else {
            line += strcspn(line, ",");
        }
        if (*line != ',') {
            break;
        }
        *line++ = '\0';
    }
    return fields;
}

static double number_of(const char *text)
{
    static locale_t plain;
    char *end;
    if (plain == (locale_t)0) {
        plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    }
    const locale_t before = uselocale(plain);
    const double value = strtod(text, &end);
    uselocale(before);
    return end != text && *end == '\0' ? value : NAN;
}

static rp_result read_rows(char *text, int64_t first, int64_t last, const char *want,
                           rp_measured *table)
{
    char *field[64];
    const int name = rp_measured_column(table, "name"), body = rp_measured_column(table, "body"),
              number = body >= 0 ? body : rp_measured_column(table, "collider");
    for (int fields; *text != '\0' && (fields = split(&text, field)) >= 0;) {
        const double frame = number_of(field[0]);
        if (fields != table->columns || !(frame >= (double)first && frame <= (double)last) ||
            (want != NULL && name >= 0 && strcmp(field[name], want) != 0 &&
             (want[0] != '#' || number < 0 || strcmp(field[number], want + 1) != 0))) {
            continue;
        }
        double *row = rp_measured_add_row(table);
        if (row == NULL) {
            return RP_ERR_MEMORY;
        }
        for (int c = 0; c < fields; c++) {
            row[c] = number_of(field[c]);
        }
    }
    return RP_OK;
}

rp_result rp_csv_read(const char *folder, const char *file, int64_t first, int64_t last,
                      const char *want, rp_measured **out)
{
    char path[4096], *field[64];
    *out = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    char *text;
    size_t size;
    RP_TRY(rp_file_read_all(path, SIZE_MAX, &text, &size));
    char *at = text;
    const int fields = split(&at, field);
    rp_measured *table = fields > 0 ? rp_measured_make("") : NULL;
    rp_result result = fields > 0 ? (table != NULL ? RP_OK : RP_ERR_MEMORY)
                                  : rp_fail(RP_ERR_FILE, "%s has no line of names", path);
    if (result == RP_OK) {
        table->name = calloc(64, sizeof *table->name);
        table->columns = table->name != NULL ? fields : 0;
        result = table->name != NULL ? RP_OK : (no_memory(), RP_ERR_MEMORY);
    }
    for (int c = 0; c < fields && result == RP_OK; c++) {
        snprintf(table->name[c], sizeof table->name[c], "%.31s", field[c]);
    }
    result = result == RP_OK ? read_rows(at, first, last, want, table) : result;
    free(text);
    if (result != RP_OK) {
        rp_measured_free(table);
        return result;
    }
    *out = table;
    return RP_OK;
}
