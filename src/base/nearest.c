#include "repose/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LONGEST = 63 };

static int least(int a, int b) { return a < b ? a : b; }

// Edits that turn one word into the other: a letter more, less, changed, or two neighbours swapped.
static int edit_distance(const char *a, int m, const char *b, int n)
{
    int rows[3][LONGEST + 1];
    for (int j = 0; j <= n; j++) {
        rows[0][j] = j;
    }
    for (int i = 1; i <= m; i++) {
        int *row = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            const int changed =
                tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
            row[j] = least(above[j - 1] + changed, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[m % 3][n];
}

rp_nearest rp_nearest_start(const char *wanted)
{
    // a third of the letters may be wrong
    return (rp_nearest){wanted, NULL, (int)strnlen(wanted, LONGEST) / 3 + 2};
}

void rp_nearest_try(rp_nearest *n, const char *candidate)
{
    const int wanted = (int)strnlen(n->wanted, LONGEST + 1);
    const int length = (int)strnlen(candidate, LONGEST + 1);
    if (wanted > LONGEST || length > LONGEST) {
        return;
    }
    // nothing is near a word that must be typed anew
    const int distance = edit_distance(n->wanted, wanted, candidate, length);
    const bool nearer =
        distance < n->distance ||
        // whatever the order of candidates, one answer
        (distance == n->distance && n->best != NULL && strcmp(candidate, n->best) < 0);
    if (nearer && distance < wanted) {
        n->distance = distance;
        n->best = candidate;
    }
}
