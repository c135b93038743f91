#include "core/columns.h"

#include "check.h"

#include <ctype.h>
#include <string.h>

static rp_layout layout_of(int dim, rp_precision precision)
{
    rp_world_def def = rp_default_world_def();
    def.dimension = dim;
    def.precision = precision;
    def.dx = 0.1;
    return rp_layout_make(&def);
}

// What the public header promises, written down a second time by hand.
static const struct {
    rp_column_id id;
    const char *name;
    int comps2, comps3, single, twice;
} promise[] = {
    {RP_COL_POSITION, "position", 2, 3, 4, 8},
    {RP_COL_VELOCITY, "velocity", 2, 3, 4, 8},
    {RP_COL_AFFINE, "affine", 4, 9, 4, 8},
    {RP_COL_STRAIN, "strain", 3, 6, 4, 8},
    {RP_COL_HARDENING, "hardening", 1, 1, 4, 8},
    {RP_COL_VOLUME_GAIN, "volume_gain", 1, 1, 4, 8},
    {RP_COL_VOLUME_RATIO, "volume_ratio", 1, 1, 4, 8},
    {RP_COL_RATE, "rate", 3, 6, 4, 8},
    {RP_COL_CONSOLIDATION, "consolidation", 1, 1, 4, 8},
    {RP_COL_PLASTIC_VOLUME, "plastic_volume", 1, 1, 4, 8},
    {RP_COL_SATURATION, "saturation", 1, 1, 4, 8},
    {RP_COL_BOND, "bond", 1, 1, 4, 8},
    {RP_COL_STRENGTH, "strength", 1, 1, 4, 8},
    {RP_COL_NORMAL, "normal", 2, 3, 4, 8},
    {RP_COL_AREA, "area", 1, 1, 4, 8},
    {RP_COL_PARTNER, "partner", 1, 1, 4, 8},
    {RP_COL_SLACK, "slack", 1, 1, 4, 8},
    {RP_COL_OPENING, "opening", 1, 1, 4, 8},
    {RP_COL_MASS, "mass", 1, 1, 4, 8},
    {RP_COL_VOLUME, "volume", 1, 1, 4, 8},
    {RP_COL_DEPTH, "depth", 1, 1, 4, 8},
    {RP_COL_GROUP, "group", 1, 1, 2, 2},
    {RP_COL_ID, "id", 1, 1, 8, 8},
};
enum { PROMISES = sizeof promise / sizeof promise[0] };

// Catches a column in one list and not in the other.
static void the_list_has_every_public_column_in_its_order(void)
{
    int rows = 0;
#define COUNT(id, name, kind, comps, neutral, unit, sentence)                                      \
    CHECK_EQUAL(RP_COL_##id, rows);                                                                \
    rows++;
    RP_COLUMNS(COUNT)
    CHECK_EQUAL(rows, RP_COL_COUNT);
    CHECK_EQUAL(PROMISES, RP_COL_COUNT);
    for (int i = 0; i < PROMISES; i++) {
        CHECK_EQUAL(promise[i].id, i);
    }
}

// Catches a row without text: outputs would have attributes that say nothing.
static void every_column_says_what_it_is(void)
{
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const rp_column_info *info = &rp_column_table[c];
        check_context("column %d", c);
        CHECK(info->name != NULL && info->unit != NULL && info->sentence != NULL);
        CHECK(strlen(info->name) > 0 && strlen(info->unit) > 0 && strlen(info->sentence) > 0);
        CHECK(strcmp(info->name, promise[c].name) == 0);
        // a name is a word that a script can write
        for (const char *at = info->name; *at; at++) {
            CHECK(islower((unsigned char)*at) || *at == '_');
        }
    }
}

// Catches two columns of one name, which a file could not keep apart.
static void names_are_different(void)
{
    for (int a = 0; a < RP_COL_COUNT; a++) {
        for (int b = 0; b < a; b++) {
            CHECK(strcmp(rp_column_name(a), rp_column_name(b)) != 0);
        }
    }
}

// Catches a name that is read past the table's end.
static void an_unknown_column_has_a_name_too(void)
{
    for (int c = 0; c < RP_COL_COUNT; c++) {
        CHECK(rp_column_name(c) == rp_column_table[c].name);
    }
    CHECK(strcmp(rp_column_name(RP_COL_COUNT), "?") == 0);
    CHECK(strcmp(rp_column_name((rp_column_id)-1), "?") == 0);
    CHECK(strcmp(rp_column_name((rp_column_id)1000), "?") == 0);
}

// Catches a column that is a number too short in 3D, or half as wide in double precision.
static void sizes_follow_dimension_and_precision(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int precision = RP_SINGLE; precision <= RP_DOUBLE; precision++) {
            const rp_layout l = layout_of(dim, (rp_precision)precision);
            CHECK_EQUAL(rp_real_bytes(&l), precision == RP_SINGLE ? 4 : 8);
            CHECK_EQUAL(rp_sym_comps(dim), dim * (dim + 1) / 2);
            for (int c = 0; c < RP_COL_COUNT; c++) {
                check_context("%dD, precision %d, %s", dim, precision, rp_column_name(c));
                CHECK_EQUAL(rp_layout_comps(&l, c),
                            dim == 2 ? promise[c].comps2 : promise[c].comps3);
                CHECK_EQUAL(rp_layout_bytes(&l, c),
                            precision == RP_SINGLE ? promise[c].single : promise[c].twice);
            }
        }
    }
}

TEST_MAIN(TEST(the_list_has_every_public_column_in_its_order), TEST(every_column_says_what_it_is),
          TEST(names_are_different), TEST(an_unknown_column_has_a_name_too),
          TEST(sizes_follow_dimension_and_precision))
