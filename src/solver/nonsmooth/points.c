// The stress points of the friction problem: where they are, what they see, what they withstand.
#include "solver/nonsmooth/loops.h"

#include <string.h>

void rp_loops_near(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_grid *grid = l->step->grid;
    const rp_node_page *own = &rp_grid_page(grid)[page];
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t block[3], offset[3];
        rp_near_offset(n, offset);
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            block[a] = own->block[a] + offset[a];
            inside = inside && (a < grid->layout.dim || offset[a] == 0) &&
                     block[a] >= -RP_BLOCK_LIMIT && block[a] < RP_BLOCK_LIMIT;
        }
        if (inside) {
            rp_block_wrap(&grid->layout, block);
        }
        l->near[page][n] =
            inside ? rp_grid_find(grid, rp_block_key(block), own->field) : RP_NO_PAGE;
    }
}

// Pages of one colour have no neighbour in common: two colours along an axis, and a third one for
// the last block where space repeats after an odd number of them.
static int colour_of(const rp_layout *l, const int32_t block[3])
{
    int colour = 0;
    for (int a = 0; a < l->dim; a++) {
        const bool odd_end =
            l->period[a] > 1 && l->period[a] % 2 == 1 && block[a] == l->period[a] - 1;
        colour = colour * 3 + (odd_end ? 2 : block[a] & 1);
    }
    return colour;
}

void rp_loops_colour(loops *l)
{
    const rp_grid *grid = l->step->grid;
    rp_friction_problem *f = &l->f;
    rp_local next = 0;
    for (int c = 0; c < RP_COLOURS_MOST; c++) {
        f->colour[c] = next;
        for (rp_local p = 0; p < grid->pages; p++) {
            if (colour_of(&grid->layout, rp_grid_page(grid)[p].block) == c &&
                f->page_chunk[p + 1] > f->page_chunk[p]) {
                f->in_colour[next++] = p;
            }
        }
    }
    f->colour[RP_COLOURS_MOST] = next;
}

// The colour of a point in its page: two an axis for cells, three for nodes, or four where a block
// is its own neighbour.
static int colour_of_point(const rp_layout *l, bool cells, int n)
{
    const int at[3] = {n / (l->cells[1] * l->cells[2]), n / l->cells[2] % l->cells[1],
                       n % l->cells[2]};
    int colour = 0;
    for (int a = 0; a < l->dim; a++) {
        colour = colour * 4 + at[a] % (cells ? 2 : l->period[a] == 1 ? 4 : 3);
    }
    return colour;
}

enum { POINT_COLOURS = 64 };

// Colours of the stress points of a page, by node or cell; -1: it is none.
static void find_points(const loops *l, rp_local page, int colour[NODES_MOST])
{
    const rp_grid *grid = l->step->grid;
    const uint32_t *number = rp_nodes_numbers(&l->state->numbers, grid, page);
    bool is[NODES_MOST] = {false};
    for (int s = 0; s < l->step->species_count && l->cells; s++) {
        if (counts(&l->step->set[s])) {
            const uint32_t *first = rp_loops_around(l, s, page).cell[0];
            for (int n = 0; n < grid->layout.nodes && first != NULL; n++) {
                is[n] = is[n] || first[n + 1] > first[n];
            }
        }
    }
    for (int n = 0; n < grid->layout.nodes; n++) {
        is[n] = l->cells ? is[n] : number[n] != RP_NO_NUMBER;
        colour[n] = is[n] ? colour_of_point(&grid->layout, l->cells, n) : -1;
    }
}

rp_local rp_loops_chunks(const loops *l, rp_local page, int32_t *walled, rp_local *points)
{
    const rp_grid *grid = l->step->grid;
    int count[POINT_COLOURS] = {0}, colour[NODES_MOST];
    rp_local chunks = 0, first[POINT_COLOURS];
    find_points(l, page, colour);
    for (int n = 0; n < grid->layout.nodes; n++) {
        if (colour[n] >= 0) {
            count[colour[n]]++;
            ++*points;
        }
    }
    for (int c = 0; c < POINT_COLOURS; c++) {
        first[c] = chunks;
        chunks += (count[c] + RP_CHUNK - 1) / RP_CHUNK;
        count[c] = 0;
    }
    for (int n = 0; n < grid->layout.nodes && walled != NULL && !l->cells; n++) {
        const size_t node = (size_t)page * (size_t)grid->layout.nodes + (size_t)n;
        if (colour[n] >= 0 && size_of(l->smooth[node][0]) > 0.0) {
            walled[first[colour[n]] + count[colour[n]] / RP_CHUNK] = 1;
        }
        count[colour[n] >= 0 ? colour[n] : 0] += colour[n] >= 0;
    }
    return chunks;
}

// Numbers, from 1, of the nodes of a page and of those one farther on each side.
static void cube_of_page(const loops *l, rp_local page, uint32_t *cube)
{
    const rp_grid *grid = l->step->grid;
    const rp_layout *layout = &grid->layout;
    const int wide[3] = {layout->cells[0] + 2, layout->cells[1] + 2,
                         layout->dim == 3 ? layout->cells[2] + 2 : 1};
    for (int x = 0; x < wide[0]; x++) {
        for (int y = 0; y < wide[1]; y++) {
            for (int z = 0; z < wide[2]; z++) {
                int at[3] = {x - 1, y - 1, layout->dim == 3 ? z - 1 : 0}, near = 0;
                for (int a = 0; a < 3; a++) {
                    const int side = at[a] < 0 ? -1 : at[a] >= layout->cells[a] ? 1 : 0;
                    at[a] -= side * layout->cells[a];
                    near = near * 3 + side + 1;
                }
                const uint32_t other = l->near[page][near];
                uint32_t number = RP_NO_NUMBER;
                if (other != RP_NO_PAGE) {
                    number = rp_nodes_numbers(
                        &l->state->numbers, grid,
                        (rp_local)
                            other)[(at[0] * layout->cells[1] + at[1]) * layout->cells[2] + at[2]];
                }
                *cube++ = number == RP_NO_NUMBER ? 0 : number + 1;
            }
        }
    }
}

static double room_at(const loops *l, size_t node)
{
    double sum = 0.0;
    for (int side = 0; side < 1 << l->f.dim; side++) {
        sum += l->room[node][side];
    }
    return sum;
}

// What sand withstands of shear beside friction, for what it holds in all: viscosity, and what rate
// adds to friction, taken so at the pressure and the rate that there were in the last step that in
// steady flow nothing is missing, theory (G7).
static double thick_of(const loops *l, const rp_node_sum *all, const rp_node_stress *before)
{
    const options *o = l->step->option;
    const double across = sqrt(2.0 / l->f.dim);
    const double p = before != NULL ? fmax(0.0, across * before->lambda[0] / l->pressure) : 0.0;
    const double half = all->rate * sqrt(p) + all->shear;
    double thick = o->viscosity * l->time / (l->h * l->h) * all->mass / all->volume;
    thick += all->faster > 0.0 && half > 0.0 ? all->faster * p / half : 0.0;
    return thick / all->volume;
}

// Sand that is loose by a twentieth does not cohere.
static double dense_share(double empty, double room)
{
    return empty > 0.0 ? fmax(0.0, 1.0 - 20.0 * empty / room) : 1.0;
}

// A stress point that is a node: its links, what volume it may gain, its friction.
static void fill_node(const loops *l, rp_local page, int n, const uint32_t *cube, rp_local chunk,
                      int lane, const rp_node_stress *before)
{
    const rp_friction_problem *f = &l->f;
    const rp_layout *layout = &l->step->grid->layout;
    const int at[3] = {n / (layout->cells[1] * layout->cells[2]),
                       n / layout->cells[2] % layout->cells[1], n % layout->cells[2]};
    const int wide_y = layout->cells[1] + 2, wide_z = layout->dim == 3 ? layout->cells[2] + 2 : 1;
    const size_t own = (size_t)chunk * RP_CHUNK + (size_t)lane;
    double sum[RP_LINKS_MOST * 3] = {0}, b[RP_LINKS_MOST * 3];
    for (int s = 0; s < l->step->species_count; s++) {
        if (counts(&l->step->set[s])) {
            const rp_grains from = rp_loops_around(l, s, page);
            l->k->vectors(&from, at, b);
            for (int i = 0; i < f->links * 3; i++) {
                sum[i] += b[i];
            }
        }
    }
    rp_friction_link *link = f->link + own * (size_t)f->links;
    for (int i = 0; i < f->links; i++) {
        const int x = at[0] + (layout->dim == 3 ? i / 9 : i / 3),
                  y = at[1] + (layout->dim == 3 ? i / 3 % 3 : i % 3),
                  z = layout->dim == 3 ? at[2] + i % 3 : 0;
        link[i].node = cube[(x * wide_y + y) * wide_z + z];
        for (int a = 0; a < 3; a++) {
            link[i].b[a] = (float)sum[i * 3 + a];
        }
    }
    const size_t node = (size_t)page * (size_t)layout->nodes + (size_t)n;
    const rp_node_sum *here = &l->sum[node];
    const double gain = fmax(0.0, room_at(l, node) - here->volume) / f->dt;
    const double across = sqrt(2.0 / layout->dim);
    f->k[own] = across * gain;
    f->mu[own] = across * here->friction / here->volume;
    f->thick[own] = thick_of(l, here, before);
    f->glue[own] =
        here->glue / here->volume * dense_share(room_at(l, node) - here->volume, room_at(l, node));
}

// One that is a cell. Free volume is that of its corners: what the cell itself holds says too
// little, since its particles are few.
static void fill_cell(const loops *l, rp_local page, int n, const uint32_t *cube, rp_local chunk,
                      int lane, const rp_node_stress *before)
{
    const rp_friction_problem *f = &l->f;
    const rp_layout *layout = &l->step->grid->layout;
    const int at[3] = {n / (layout->cells[1] * layout->cells[2]),
                       n / layout->cells[2] % layout->cells[1], n % layout->cells[2]};
    const int wide_y = layout->cells[1] + 2, wide_z = layout->dim == 3 ? layout->cells[2] + 2 : 1;
    const size_t own = (size_t)chunk * RP_CHUNK + (size_t)lane;
    double sum[8 * 3] = {0}, b[8 * 3];
    rp_node_sum all = {0}, some;
    for (int s = 0; s < l->step->species_count; s++) {
        if (counts(&l->step->set[s])) {
            const rp_grains from = rp_loops_around(l, s, page);
            l->k->corners(&from, at, b, &some);
            rp_loops_add(&all, &some, 1);
            for (int i = 0; i < f->links * 3; i++) {
                sum[i] += b[i];
            }
        }
    }
    rp_friction_link *link = f->link + own * (size_t)f->links;
    double room = 0.0, loose = 0.0;
    int corners = 0;
    for (int i = 0; i < f->links; i++) {
        const int x = at[0] + (i & 1), y = at[1] + (i >> 1 & 1), z = at[2] + (i >> 2);
        const int in_cube = ((x + 1) * wide_y + y + 1) * wide_z + (layout->dim == 3 ? z + 1 : 0);
        link[i].node = cube[in_cube];
        for (int a = 0; a < 3; a++) {
            link[i].b[a] = (float)sum[i * 3 + a];
        }
        if (link[i].node == 0) {
            continue;
        }
        const size_t node = l->place[link[i].node - 1];
        const double free = room_at(l, node);
        room += l->room[node][f->links - 1 - i];
        if (free > 1e-3) {
            loose += 1.0 - l->sum[node].volume / free;
            corners++;
        }
    }
    const double across = sqrt(2.0 / layout->dim);
    const double empty = corners > 0 ? room * loose / corners : 0.0;
    f->k[own] = across * fmax(0.0, fmin(empty, room - all.volume)) / f->dt;
    f->mu[own] = across * all.friction / all.volume;
    f->thick[own] = thick_of(l, &all, before);
    f->glue[own] = all.glue / all.volume * dense_share(fmin(empty, room - all.volume), room);
    f->bulk[own] = (float)all.volume;
}

// The vector of the shear n t^T + t n^T (cone.h).
static void shear_vector(int dim, const double n[3], const double t[3], double out[6])
{
    if (dim == 2) {
        out[0] = 0.0;
        out[1] = n[0] * t[0] - n[1] * t[1];
        out[2] = n[0] * t[1] + n[1] * t[0];
        return;
    }
    out[0] = 0.0;
    out[1] = n[0] * t[0] - n[1] * t[1];
    out[2] = (2.0 * n[2] * t[2] - n[0] * t[0] - n[1] * t[1]) / sqrt(3.0);
    out[3] = n[0] * t[1] + n[1] * t[0];
    out[4] = n[0] * t[2] + n[2] * t[0];
    out[5] = n[1] * t[2] + n[2] * t[1];
}

// The shears along walls without friction, at right angles to each other; returns how many.
static int find_off(int dim, const double smooth[3][3], double off[RP_OFF_MOST][6])
{
    int found = 0;
    for (int w = 0; w < 3 && size_of(smooth[w]) > 0.0; w++) {
        const double *n = smooth[w];
        // two directions along the wall, from the axis that lies flattest
        const int flat = fabs(n[0]) <= fabs(n[1]) && (dim == 2 || fabs(n[0]) <= fabs(n[2])) ? 0
                         : dim == 2 || fabs(n[1]) <= fabs(n[2])                             ? 1
                                                                                            : 2;
        double t[2][3];
        for (int a = 0; a < 3; a++) {
            t[0][a] = (a == flat) - n[flat] * n[a];
        }
        const double length = size_of(t[0]);
        for (int a = 0; a < 3; a++) {
            t[0][a] /= length;
        }
        for (int a = 0; a < 3; a++) {
            t[1][a] = n[(a + 1) % 3] * t[0][(a + 2) % 3] - n[(a + 2) % 3] * t[0][(a + 1) % 3];
        }
        for (int k = 0; k < dim - 1 && found < RP_OFF_MOST; k++) {
            double s[6] = {0}, left = 0.0;
            shear_vector(dim, n, t[k], s);
            for (int i = 0; i < found; i++) {
                double along = 0.0;
                for (int a = 0; a < 6; a++) {
                    along += s[a] * off[i][a];
                }
                for (int a = 0; a < 6; a++) {
                    s[a] -= along * off[i][a];
                }
            }
            for (int a = 0; a < 6; a++) {
                left += s[a] * s[a];
            }
            if (left > 1e-6) { // else other walls have taken it
                for (int a = 0; a < 6; a++) {
                    off[found][a] = s[a] / sqrt(left);
                }
                found++;
            }
        }
    }
    return found;
}

// What walls take from a point: noted for the sweeps, and taken from the stress it starts with.
static void fill_off(const loops *l, size_t node, rp_local chunk, int lane)
{
    const rp_friction_problem *f = &l->f;
    double off[RP_OFF_MOST][6] = {{0}};
    const int found = find_off(f->dim, (const double(*)[3])l->smooth[node], off);
    double *to = f->off + (size_t)f->off_at[chunk] * RP_OFF_MOST * (size_t)f->size * RP_CHUNK;
    double *lambda = f->lambda + (size_t)chunk * (size_t)f->size * RP_CHUNK + (size_t)lane;
    for (int i = 0; i < found; i++) {
        double along = 0.0;
        for (int a = 0; a < f->size; a++) {
            to[(i * f->size + a) * RP_CHUNK + lane] = off[i][a];
            along += off[i][a] * lambda[a * RP_CHUNK];
        }
        for (int a = 0; a < f->size; a++) {
            lambda[a * RP_CHUNK] -= along * off[i][a];
        }
    }
}

static void clear_lane(const rp_friction_problem *f, rp_local chunk, int lane)
{
    const size_t own = (size_t)chunk * RP_CHUNK + (size_t)lane;
    f->point[own] = 0;
    f->k[own] = f->mu[own] = f->thick[own] = f->glue[own] = 0.0;
    if (f->bulk != NULL) {
        f->bulk[own] = 0.0f;
    }
    memset(f->link + own * (size_t)f->links, 0, (size_t)f->links * sizeof *f->link);
    for (int c = 0; c < f->size; c++) {
        f->lambda[((size_t)chunk * (size_t)f->size + (size_t)c) * RP_CHUNK + (size_t)lane] = 0.0;
    }
}

void rp_loops_points(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_friction_problem *f = &l->f;
    const rp_grid *grid = l->step->grid;
    uint32_t cube[CUBE_MOST];
    const rp_node_stress *before[NODES_MOST];
    int colour[NODES_MOST];
    rp_local chunk = f->page_chunk[page];
    if (chunk == f->page_chunk[page + 1]) {
        return;
    }
    cube_of_page(l, (rp_local)page, cube);
    rp_loops_warm(l, (rp_local)page, before);
    find_points(l, (rp_local)page, colour);
    for (int c = 0; c < POINT_COLOURS; c++) {
        int lane = 0;
        for (int n = 0; n < grid->layout.nodes; n++) {
            if (colour[n] != c) {
                continue;
            }
            f->point[(size_t)chunk * RP_CHUNK + (size_t)lane] = (uint32_t)n + 1;
            if (l->cells) {
                fill_cell(l, (rp_local)page, n, cube, chunk, lane, before[n]);
            } else {
                fill_node(l, (rp_local)page, n, cube, chunk, lane, before[n]);
            }
            for (int i = 0; i < f->size; i++) {
                f->lambda[((size_t)chunk * (size_t)f->size + (size_t)i) * RP_CHUNK + (size_t)lane] =
                    before[n] != NULL ? rp_loops_kept(before[n], f->dim, i) / l->pressure
                    : i == 0          ? f->glue[(size_t)chunk * RP_CHUNK + (size_t)lane]
                                      : 0.0;
            }
            if (f->off_at[chunk] >= 0) {
                fill_off(l, (size_t)page * (size_t)grid->layout.nodes + (size_t)n, chunk, lane);
            }
            f->lanes[chunk] = (uint8_t)++lane;
            if (lane == RP_CHUNK) {
                chunk++;
                lane = 0;
            }
        }
        for (int empty = lane; lane > 0 && empty < RP_CHUNK; empty++) {
            clear_lane(f, chunk, empty);
        }
        chunk += lane > 0;
    }
}
