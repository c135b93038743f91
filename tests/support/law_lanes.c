#include "law_lanes.h"

#include <string.h>

int law_variants(law_variant out[LAW_VARIANTS])
{
    int count = 0;
    for (int isa = 0; isa < RP_ISA_COUNT; isa++) {
        for (int dim = 2; dim <= 3; dim++) {
            for (int bits = 32; bits <= 64; bits += 32) {
                const rp_law *const *laws =
                    rp_isa_supported(isa) ? rp_laws_find(dim, bits, isa) : NULL;
                if (laws != NULL) {
                    out[count++] =
                        (law_variant){laws, dim, bits, isa, bits == 32 ? 0x1p-24 : 0x1p-53};
                }
            }
        }
    }
    return count;
}

double law_rounded(const law_variant *v, double x) { return v->bits == 32 ? (double)(float)x : x; }

void law_round_lane(const law_variant *v, law_lane *lane)
{
    // a lane is nothing but doubles
    double *number = (double *)lane;
    for (size_t k = 0; k < sizeof *lane / sizeof *number; k++) {
        number[k] = law_rounded(v, number[k]);
    }
}

// A tile in either precision; the larger one gives the room.
typedef struct tile_memory {
    _Alignas(64) double parameter[RP_PARAM_COUNT][RP_LANES];
    _Alignas(64) double increment[9][RP_LANES];
    _Alignas(64) double density[RP_LANES];
    _Alignas(64) double strain[6][RP_LANES];
    _Alignas(64) double hardening[RP_LANES];
    _Alignas(64) double volume_gain[RP_LANES];
    _Alignas(64) double volume_ratio[RP_LANES], rate[6][RP_LANES], consolidation[RP_LANES];
    _Alignas(64) double plastic_volume[RP_LANES];
    _Alignas(64) double stress[6][RP_LANES];
} tile_memory;

static void put(const law_variant *v, void *column, int component, int lane, double x)
{
    if (v->bits == 32) {
        ((float *)column)[RP_LANES * component + lane] = (float)x;
    } else {
        ((double *)column)[RP_LANES * component + lane] = x;
    }
}

static double get(const law_variant *v, const void *column, int component, int lane)
{
    return v->bits == 32 ? (double)((const float *)column)[RP_LANES * component + lane]
                         : ((const double *)column)[RP_LANES * component + lane];
}

static rp_law_tile fill(const law_variant *v, tile_memory *m, const law_lane lane[RP_LANES])
{
    const int components = v->dim == 2 ? 3 : 6;
    for (int i = 0; i < RP_LANES; i++) {
        for (int k = 0; k < RP_PARAM_COUNT; k++) {
            put(v, m->parameter, k, i, lane[i].parameter[k]);
        }
        for (int k = 0; k < v->dim * v->dim; k++) {
            put(v, m->increment, k, i, lane[i].increment[k]);
        }
        for (int k = 0; k < components; k++) {
            put(v, m->strain, k, i, lane[i].strain[k]);
            put(v, m->rate, k, i, lane[i].rate[k]);
        }
        put(v, m->density, 0, i, lane[i].density);
        put(v, m->hardening, 0, i, lane[i].hardening);
        put(v, m->volume_gain, 0, i, lane[i].volume_gain);
        put(v, m->volume_ratio, 0, i, lane[i].volume_ratio);
        put(v, m->consolidation, 0, i, lane[i].consolidation);
        put(v, m->plastic_volume, 0, i, lane[i].plastic_volume);
    }
    return (rp_law_tile){.parameter = m->parameter,
                         .increment = m->increment,
                         .density = m->density,
                         .dt = 1.0,
                         .fall_rate = LAW_FALL_RATE,
                         .column = {[RP_COL_STRAIN] = m->strain,
                                    [RP_COL_HARDENING] = m->hardening,
                                    [RP_COL_VOLUME_GAIN] = m->volume_gain,
                                    [RP_COL_VOLUME_RATIO] = m->volume_ratio,
                                    [RP_COL_RATE] = m->rate,
                                    [RP_COL_CONSOLIDATION] = m->consolidation,
                                    [RP_COL_PLASTIC_VOLUME] = m->plastic_volume}};
}

void law_update(const law_variant *v, rp_material_kind law, law_lane lane[RP_LANES],
                law_columns columns)
{
    tile_memory m;
    rp_law_tile tile = fill(v, &m, lane);
    if (!(columns & LAW_WITH_HARDENING)) {
        tile.column[RP_COL_HARDENING] = NULL;
    }
    if (!(columns & LAW_WITH_GAIN)) {
        tile.column[RP_COL_VOLUME_GAIN] = NULL;
    }
    if (!(columns & LAW_WITH_RATE)) {
        tile.column[RP_COL_RATE] = NULL;
    }
    if (columns & LAW_WITHOUT_PLASTIC_VOLUME) {
        tile.column[RP_COL_PLASTIC_VOLUME] = NULL;
    }
    v->laws[law]->update(&tile);
    for (int i = 0; i < RP_LANES; i++) {
        for (int k = 0; k < (v->dim == 2 ? 3 : 6); k++) {
            lane[i].strain[k] = get(v, m.strain, k, i);
            lane[i].rate[k] = get(v, m.rate, k, i);
        }
        lane[i].hardening = get(v, m.hardening, 0, i);
        lane[i].volume_gain = get(v, m.volume_gain, 0, i);
        lane[i].volume_ratio = get(v, m.volume_ratio, 0, i);
        lane[i].consolidation = get(v, m.consolidation, 0, i);
        lane[i].plastic_volume = get(v, m.plastic_volume, 0, i);
    }
}

void law_stress(const law_variant *v, rp_material_kind law, const law_lane lane[RP_LANES],
                double out[RP_LANES][6])
{
    tile_memory m;
    const rp_law_tile tile = fill(v, &m, lane);
    v->laws[law]->stress(&tile, m.stress);
    for (int i = 0; i < RP_LANES; i++) {
        for (int k = 0; k < (v->dim == 2 ? 3 : 6); k++) {
            out[i][k] = get(v, m.stress, k, i);
        }
    }
}

void law_energy(const law_variant *v, rp_material_kind law, const law_lane lane[RP_LANES],
                double out[RP_LANES])
{
    tile_memory m;
    const rp_law_tile tile = fill(v, &m, lane);
    v->laws[law]->energy(&tile, m.stress);
    for (int i = 0; i < RP_LANES; i++) {
        out[i] = get(v, m.stress, 0, i);
    }
}

void law_update_one(const law_variant *v, rp_material_kind law, law_lane *lane, law_columns columns)
{
    law_lane all[RP_LANES];
    for (int i = 0; i < RP_LANES; i++) {
        all[i] = *lane;
    }
    law_update(v, law, all, columns);
    *lane = all[0];
}

void law_stress_one(const law_variant *v, rp_material_kind law, const law_lane *lane, double out[6])
{
    law_lane all[RP_LANES];
    double stress[RP_LANES][6];
    for (int i = 0; i < RP_LANES; i++) {
        all[i] = *lane;
    }
    law_stress(v, law, all, stress);
    memcpy(out, stress[0], sizeof stress[0]);
}
