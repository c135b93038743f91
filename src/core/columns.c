#include "core/columns.h"

#define ROW(id, name_, kind_, comps_, neutral_, unit_, sentence_)                                  \
    [RP_COL_##id] = {name_, RP_KIND_##kind_, RP_##comps_, neutral_, unit_, sentence_},
const rp_column_info rp_column_table[RP_COL_COUNT] = {RP_COLUMNS(ROW)};

int rp_layout_comps(const rp_layout *l, rp_column_id column)
{
    const int comps[] = {
        [RP_SCALAR] = 1,
        [RP_VECTOR] = l->dim,
        [RP_MATRIX] = l->dim * l->dim,
        [RP_SYMMETRIC] = rp_sym_comps(l->dim),
    };
    return comps[rp_column_table[column].comps];
}

int rp_layout_bytes(const rp_layout *l, rp_column_id column)
{
    const int bytes[] = {
        [RP_KIND_REAL] = rp_real_bytes(l),
        [RP_KIND_POSITION] = rp_real_bytes(l),
        [RP_KIND_U16] = 2,
        [RP_KIND_U64] = 8,
    };
    return bytes[rp_column_table[column].kind];
}

const char *rp_column_name(rp_column_id column)
{
    return column >= 0 && column < RP_COL_COUNT ? rp_column_table[column].name : "?";
}
