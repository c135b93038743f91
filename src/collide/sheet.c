#include "collide/sheet.h"

#include <math.h>
#include <string.h>

static double real_at(const rp_layout *l, const void *numbers, int at)
{
    return l->precision == RP_SINGLE ? (double)((const float *)numbers)[at]
                                     : ((const double *)numbers)[at];
}

// The moments of one patch of two pages of a block.
static void look_at_patch(const rp_meetings *m, rp_local b, rp_local d, int patch,
                          double out[RP_PATCH_MOMENTS])
{
    const rp_layout *l = &m->grid->layout;
    const void *q_b = rp_grid_nodes(m->grid, RP_CH_MOMENTUM, b);
    const void *q_d = rp_grid_nodes(m->grid, RP_CH_MOMENTUM, d);
    memset(out, 0, RP_PATCH_MOMENTS * sizeof *out);
    for (int i = patch / 2 * RP_PATCH; i < (patch / 2 + 1) * RP_PATCH; i++) {
        for (int j = patch % 2 * RP_PATCH; j < (patch % 2 + 1) * RP_PATCH; j++) {
            for (int k = 0; k < l->cells[2]; k++) {
                const int n = (i * l->cells[1] + j) * l->cells[2] + k;
                const double one = real_at(l, q_b, n * RP_QUAD + 3),
                             other = real_at(l, q_d, n * RP_QUAD + 3);
                if (!(one > m->least && other > m->least)) {
                    continue;
                }
                const double weight = one * other / (one + other);
                const double x = i, y = j, z = k;
                const double term[RP_PATCH_MOMENTS] = {1.0,   x,     y,     z,     x * x,
                                                       y * y, z * z, x * y, x * z, y * z};
                for (int t = 0; t < RP_PATCH_MOMENTS; t++) {
                    out[t] += weight * term[t];
                }
            }
        }
    }
}

// Add the moments of a patch, moved by `away` cells, with a weight.
static void add_patch(const double from[RP_PATCH_MOMENTS], const double away[3], double weight,
                      double to[RP_PATCH_MOMENTS])
{
    const double w = weight * from[0];
    const double x = weight * from[1], y = weight * from[2], z = weight * from[3];
    to[0] += w;
    to[1] += x + w * away[0];
    to[2] += y + w * away[1];
    to[3] += z + w * away[2];
    to[4] += weight * from[4] + (2.0 * x + w * away[0]) * away[0];
    to[5] += weight * from[5] + (2.0 * y + w * away[1]) * away[1];
    to[6] += weight * from[6] + (2.0 * z + w * away[2]) * away[2];
    to[7] += weight * from[7] + x * away[1] + y * away[0] + w * away[0] * away[1];
    to[8] += weight * from[8] + x * away[2] + z * away[0] + w * away[0] * away[2];
    to[9] += weight * from[9] + y * away[2] + z * away[1] + w * away[1] * away[2];
}

void rp_sheet_around(const rp_grid *grid, rp_local page, uint32_t around[RP_NEAR])
{
    const rp_layout *l = &grid->layout;
    const rp_node_page *own = &rp_grid_page(grid)[page];
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t offset[3], block[3];
        rp_near_offset(n, offset);
        for (int a = 0; a < 3; a++) {
            block[a] = own->block[a] + offset[a];
        }
        rp_block_wrap(l, block);
        around[n] = n == RP_NEAR_SELF ? (uint32_t)page
                    : l->dim == 2 && offset[2] != 0
                        ? RP_NO_PAGE
                        : rp_grid_find(grid, rp_block_key(block), own->field);
    }
}

void rp_sheet_lens(const rp_meetings *m, const uint32_t around_b[RP_NEAR],
                   const uint32_t around_d[RP_NEAR], int patch, rp_lens *out)
{
    static const double THIN = 0.05;   // [cells^2]: least spread
    static const double REACH2 = 64.0; // [cells^2]
    const rp_layout *l = &m->grid->layout;
    const int own[3] = {patch / 2, patch % 2, 0};
    double sum[RP_PATCH_MOMENTS] = {0};
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t step[3];
        rp_near_offset(n, step);
        const double r2 = (double)RP_PATCH * RP_PATCH *
                          (step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
        if (r2 >= REACH2 || (l->dim == 2 && step[2] != 0)) {
            continue;
        }
        // the block that the patch is in, and which of its patches it is
        int32_t away[3] = {0, 0, step[2]};
        int at[2];
        for (int a = 0; a < 2; a++) {
            const int place = own[a] + step[a];
            away[a] = place < 0 ? -1 : place > 1 ? 1 : 0;
            at[a] = place - 2 * away[a];
        }
        const int near = (away[0] + 1) * 9 + (away[1] + 1) * 3 + away[2] + 1;
        if (around_b[near] == RP_NO_PAGE || around_d[near] == RP_NO_PAGE) {
            continue;
        }
        double moment[RP_PATCH_MOMENTS];
        look_at_patch(m, (rp_local)around_b[near], (rp_local)around_d[near], at[0] * 2 + at[1],
                      moment);
        const double share = 1.0 - r2 / REACH2;
        const double shift[3] = {(double)away[0] * l->cells[0], (double)away[1] * l->cells[1],
                                 (double)away[2] * l->cells[2]};
        add_patch(moment, shift, share * share, sum);
    }
    // spread, about the middle; what lies across the plane in 2D stays apart
    double A[3][3] = {{0}}, power[3][3] = {{0}};
    static const int place[3][3] = {{4, 7, 8}, {7, 5, 9}, {8, 9, 6}};
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            A[a][c] =
                sum[0] > 0.0 ? (sum[place[a][c]] - sum[1 + a] * sum[1 + c] / sum[0]) / sum[0] : 0.0;
        }
        A[a][a] += THIN;
    }
    // adjugate: the inverse up to its size, which does not matter
    double inverse[3][3];
    double size = 0.0;
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            const int i = (c + 1) % 3, j = (c + 2) % 3, k = (a + 1) % 3, o = (a + 2) % 3;
            inverse[a][c] = A[i][k] * A[j][o] - A[i][o] * A[j][k];
        }
        size += inverse[a][a];
    }
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            inverse[a][c] /= size;
        }
    }
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                power[a][c] += inverse[a][k] * inverse[k][c];
            }
        }
    }
    memset(out, 0, sizeof *out);
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                out->turn[a][c] += power[a][k] * inverse[k][c];
            }
        }
    }
    out->known = true;
}

void rp_sheet_pad(const rp_grid *grid, const uint32_t around[RP_NEAR],
                  double padded[RP_PADDED_MOST])
{
    const rp_layout *l = &grid->layout;
    const int dim = l->dim;
    const int margin[3] = {RP_SMOOTH, RP_SMOOTH, dim == 3 ? RP_SMOOTH : 0};
    const int side[3] = {l->cells[0] + 2 * margin[0], l->cells[1] + 2 * margin[1],
                         l->cells[2] + 2 * margin[2]};
    memset(padded, 0, (size_t)(side[0] * side[1] * side[2]) * sizeof *padded);
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t offset[3];
        const uint32_t found = around[n];
        rp_near_offset(n, offset);
        if (found == RP_NO_PAGE) {
            continue;
        }
        const void *q = rp_grid_nodes(grid, RP_CH_MOMENTUM, (rp_local)found);
        int lo[3], hi[3]; // of its nodes
        for (int a = 0; a < 3; a++) {
            lo[a] = offset[a] < 0 ? l->cells[a] - margin[a] : 0;
            hi[a] = offset[a] > 0 ? margin[a] : l->cells[a];
        }
        for (int i = lo[0]; i < hi[0]; i++) {
            for (int j = lo[1]; j < hi[1]; j++) {
                for (int k = lo[2]; k < hi[2]; k++) {
                    const int at = ((i + offset[0] * l->cells[0] + margin[0]) * side[1] + j +
                                    offset[1] * l->cells[1] + margin[1]) *
                                       side[2] +
                                   k + offset[2] * l->cells[2] + margin[2];
                    const int number = (i * l->cells[1] + j) * l->cells[2] + k;
                    padded[at] = real_at(l, q, number * RP_QUAD + 3);
                }
            }
        }
    }
}

void rp_sheet_gradient(const rp_layout *l, const double *padded, const int node[3], double out[3])
{
    static const double keep[] = {1, 4, 6, 4, 1}, slope[] = {-1, -2, 0, 2, 1};
    enum { TAPS = 2 * RP_SMOOTH + 1 };
    const int dim = l->dim, side1 = l->cells[1] + 2 * RP_SMOOTH,
              side2 = dim == 3 ? l->cells[2] + 2 * RP_SMOOTH : 1;
    double sum[3] = {0};
    for (int i = 0; i < TAPS; i++) {
        for (int j = 0; j < TAPS; j++) {
            const double *row = padded + ((node[0] + i) * side1 + node[1] + j) * side2 + node[2];
            double kept = row[0], sloped = 0.0;
            if (dim == 3) {
                kept = sloped = 0.0;
                for (int k = 0; k < TAPS; k++) {
                    kept += keep[k] * row[k];
                    sloped += slope[k] * row[k];
                }
            }
            sum[0] -= slope[i] * keep[j] * kept;
            sum[1] -= keep[i] * slope[j] * kept;
            sum[2] -= keep[i] * keep[j] * sloped;
        }
    }
    memcpy(out, sum, sizeof sum);
}

// ---- the normal ----

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

// Bodies that disagree about where their surface points: the one with the corner is wrong, and the
// one with the face is right. So of all that could be the normal it is the one along which they are
// farthest apart: what separates them at all does so with the widest gap. Where none of the
// gradients separates them, the fitted plane may.
// @param gap along the normal that there is; @return along the one that is chosen
static double find_widest(const rp_sight *b, const rp_sight *d, const double *gradient[2],
                          double gap, double normal[3], int64_t *fits)
{
    static const double APART = -0.5; // [cells]: less is in each other
    double best[3] = {normal[0], normal[1], normal[2]}, widest = gap;
    for (int i = 0; i < 3; i++) {
        double way[3] = {normal[0], normal[1], normal[2]};
        if (i < 2) {
            const double length = length_of(gradient[i]);
            if (!(length > 0.0)) {
                continue;
            }
            for (int a = 0; a < 3; a++) {
                way[a] = (i == 0 ? 1.0 : -1.0) * gradient[i][a] / length;
            }
        } else {
            if (widest > APART) {
                break;
            }
            rp_sight_separate(b, d, way);
            ++*fits;
        }
        const double other = rp_sight_gap(b, d, way);
        if (other > widest) {
            widest = other;
            memcpy(best, way, sizeof best);
        }
    }
    memcpy(normal, best, sizeof best);
    return widest;
}

double rp_sheet_normal(const rp_sight *b, const rp_sight *d, const double gradient_b[3],
                       const double gradient_d[3], const rp_lens *lens, double normal[3],
                       int64_t *fits)
{
    static const double SAME = 0.99;
    static const double WORSE = 0.3; // [cells]: roughness
    const double *gradient[2] = {gradient_b, gradient_d};
    const double lengths = length_of(gradient_b) * length_of(gradient_d);
    double same = 0.0, way[3] = {0}, rough[3];
    for (int a = 0; a < 3; a++) {
        same -= gradient_b[a] * gradient_d[a];
        rough[a] = gradient_b[a] - gradient_d[a];
    }
    const double length = length_of(rough);
    for (int a = 0; a < 3 && length > 0.0; a++) {
        normal[a] = rough[a] / length;
    }
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            way[a] += lens->turn[a][c] * normal[c];
        }
    }
    double gap = rp_sight_gap(b, d, normal);
    // the normal of the sheet, unless they lie in each other along it more than along the other
    const double turned = length_of(way);
    for (int a = 0; a < 3 && turned > 0.0; a++) {
        way[a] /= turned;
    }
    const double other = turned > 0.0 ? rp_sight_gap(b, d, way) : -INFINITY;
    if (other >= gap - WORSE) {
        memcpy(normal, way, sizeof way);
        return other;
    }
    return same > SAME * lengths ? gap : find_widest(b, d, gradient, gap, normal, fits);
}
