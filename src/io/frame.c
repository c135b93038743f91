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
    {"travel", offsetof(rp_state_header, travel), RP_H5_F64, 1, "cells"},
    {"doomed", offsetof(rp_state_header, doomed), RP_H5_I32, 1, "1"},
    {"births", offsetof(rp_state_header, births), RP_H5_I32, 1, "1"},
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
