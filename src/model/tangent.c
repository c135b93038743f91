#include "base/result.h"
#include "model/law.h"

#include <math.h>
#include <string.h>

// Components of columns, by dimension.
enum { SCALAR, VECTOR, MATRIX, SYMMETRIC };
static const int comps_of[4][2] = {
    [SCALAR] = {1, 1}, [VECTOR] = {2, 3}, [MATRIX] = {4, 9}, [SYMMETRIC] = {3, 6}};
#define SHAPE(id, name, kind, shape, neutral, unit, sentence) [RP_COL_##id] = shape,
static const int shape_of[RP_COL_COUNT] = {RP_COLUMNS(SHAPE)};

// The stress after a step whose increment is that of the tile plus `much` of the direction.
static void stress_after(const rp_law *law, int dim, const rp_law_tile *tile,
                         const double (*direction)[RP_LANES], const double much[RP_LANES],
                         double (*out)[RP_LANES])
{
    _Alignas(64) double column[RP_COL_COUNT][9][RP_LANES], increment[9][RP_LANES];
    rp_law_tile copy = *tile;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        if (tile->column[c] != NULL) {
            const size_t comps = (size_t)comps_of[shape_of[c]][dim - 2];
            memcpy(column[c], tile->column[c], comps * sizeof column[c][0]);
            copy.column[c] = column[c];
        }
    }
    for (int k = 0; k < dim * dim; k++) {
        for (int l = 0; l < RP_LANES; l++) {
            increment[k][l] =
                ((const double(*)[RP_LANES])tile->increment)[k][l] + much[l] * direction[k][l];
        }
    }
    copy.increment = increment;
    law->update(&copy);
    law->stress(&copy, out);
}

void rp_law_tangent(const rp_law *law, int dim, const rp_law_tile *tile,
                    const double (*direction)[RP_LANES], double (*out)[RP_LANES])
{
    if (law->tangent != NULL) {
        law->tangent(tile, direction, out);
        return;
    }
    // the cube root of round-off is where differences are best
    const double step = 6e-6;
    const int sym = dim * (dim + 1) / 2;
    _Alignas(64) double ahead[6][RP_LANES], behind[6][RP_LANES];
    double much[RP_LANES], back[RP_LANES];
    for (int l = 0; l < RP_LANES; l++) {
        double most = 0.0;
        for (int k = 0; k < dim * dim; k++) {
            most = fmax(most, fabs(direction[k][l]));
        }
        much[l] = most > 0.0 ? step / most : 0.0;
        back[l] = -much[l];
    }
    stress_after(law, dim, tile, direction, much, ahead);
    stress_after(law, dim, tile, direction, back, behind);
    for (int c = 0; c < sym; c++) {
        for (int l = 0; l < RP_LANES; l++) {
            out[c][l] = much[l] > 0.0 ? (ahead[c][l] - behind[c][l]) / (2.0 * much[l]) : 0.0;
        }
    }
}
