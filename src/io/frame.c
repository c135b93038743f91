#include "io/frame.h"

#include <stddef.h>

const rp_frame_number rp_frame_number_table[RP_FRAME_NUMBERS] = {
    {"dimension", offsetof(rp_state_header, dim), RP_H5_I32, 1, "1"},
    {"order", offsetof(rp_state_header, order), RP_H5_I32, 1, "1"},
    {"dx", offsetof(rp_state_header, h), RP_H5_F64, 1, "m"},
    {"fps", offsetof(rp_state_header, fps), RP_H5_F64, 1, "1/s"},
    {"period", offsetof(rp_state_header, period), RP_H5_I32, 3, "blocks"},
    {"fields", offsetof(rp_state_header, fields), RP_H5_I32, 1, "1"},
    {"seed", offsetof(rp_state_header, seed), RP_H5_U64, 1, "1"},
};

#define NAME_BYTES(id, name, kind, shape, neutral, unit, sentence) +sizeof(name)
_Static_assert(0 RP_COLUMNS(NAME_BYTES) <= RP_FRAME_LIST, "a species can keep all columns");

#define OF(member) offsetof(rp_state_species, member)
const rp_frame_species_number rp_frame_species_table[RP_FRAME_SPECIES_NUMBERS] = {
    {"groups", OF(groups), RP_H5_I32, "1", "rows of /repose/groups, one species after the other"},
    {"pages", OF(pages), RP_H5_I32, "1", "rows of /repose/pages, likewise"},
    {"count", OF(count), RP_H5_I32, "1", "particles in its pages"},
    {"births", OF(births), RP_H5_I32, "1", "particles that the next step adds: its last ones"},
    {"doomed", OF(doomed), RP_H5_I32, "1", "particles that the next step removes"},
    {"travel", OF(travel), RP_H5_F64, "cells", "the farthest that any may have moved since a sort"},
};

const rp_frame_column_info rp_derived_table[RP_DERIVED_COUNT] = {
#define INFO(id, name, comps, unit, sentence) [RP_DERIVED_##id] = {name, unit, sentence, comps},
    RP_DERIVED_COLUMNS(INFO)
#undef INFO
};

rp_h5_type rp_frame_type(const rp_layout *layout, rp_column_id column)
{
    const bool single = layout->precision == RP_SINGLE;
    switch (rp_column_table[column].kind) {
    case RP_KIND_U16:
        return RP_H5_U16;
    case RP_KIND_U64:
        return RP_H5_U64;
    case RP_KIND_POSITION:
        return single ? RP_H5_I32 : RP_H5_F64;
    case RP_KIND_REAL:
        break;
    }
    return single ? RP_H5_F32 : RP_H5_F64;
}

int rp_frame_comps(const rp_layout *layout, rp_column_id column)
{
    return rp_column_table[column].comps == RP_SCALAR ? 0 : rp_layout_comps(layout, column);
}

bool rp_frame_is_entry_name(const char *name)
{
    char last = '/';
    for (int i = 0; i < RP_STATE_NAME; last = name[i++]) {
        const char c = name[i];
        const bool word =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!word && last == '/') {
            return false;
        }
        if (c == 0) {
            return true;
        }
        if (!word && c != '/') {
            return false;
        }
    }
    return false;
}
