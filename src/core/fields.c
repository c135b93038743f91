#include "core/fields.h"

#define ROW(id, name_, kind_, comps_, unit_, sentence_)                                            \
    [RP_COL_##id] = {name_, RP_KIND_##kind_, RP_##comps_, unit_, sentence_},
const rp_field_info rp_field_table[RP_COL_COUNT] = {RP_FIELDS(ROW)};

int rp_field_comps(const rp_layout *l, rp_column_id column)
{
    const int comps[] = {
        [RP_SCALAR] = 1,
        [RP_VECTOR] = l->dim,
        [RP_MATRIX] = l->dim * l->dim,
        [RP_SYMMETRIC] = rp_sym_comps(l->dim),
    };
    return comps[rp_field_table[column].comps];
}

int rp_field_bytes(const rp_layout *l, rp_column_id column)
{
    const int bytes[] = {
        [RP_KIND_REAL] = rp_real_bytes(l),
        [RP_KIND_POSITION] = rp_real_bytes(l),
        [RP_KIND_U16] = 2,
        [RP_KIND_U64] = 8,
    };
    return bytes[rp_field_table[column].kind];
}

const char *rp_column_name(rp_column_id column)
{
    return column >= 0 && column < RP_COL_COUNT ? rp_field_table[column].name : "?";
}
