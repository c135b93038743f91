// Glue that softens: at nodes it pulls with what is left of its strength against what comes apart.
#include "collide/glue_set.h"

// Glue whose strength falls, and two of the pages at a node of a block.
typedef struct soft_glue {
    const rp_glue *glue;
    const rp_node_block *block;
    rp_local number; // of the block
    int thread, pages[2];
    bool bound;
    uint64_t (*mask)[RP_GLUE_WORDS];
    double normal[3];
    double strength, shear; // what is left across the cut [N], and of that along it
} soft_glue;

// What is left of its strength [Pa].
static double strength_left(const rp_set *set, rp_local slot, const rp_glue_rule *rule)
{
    const double left = 1.0 - read_real(set, RP_COL_OPENING, slot, 0) / rule->softening;
    return read_real(set, RP_COL_STRENGTH, slot, 0) * (left > 0.0 ? left : 0.0);
}

// The force that it withstands is that of an ellipse; an impulse takes no more than all of what
// comes apart. What other glue holds together at the node goes along.
static void pull_at(const soft_glue *s, int n, double weight)
{
    const rp_glue *g = s->glue;
    const rp_layout *l = &g->grid->layout;
    struct glue_room *room = &g->room[s->thread];
    double mass[2] = {0}, v[2][3] = {{0}}, u[3] = {0}, across;
    int pages = 0, unit[2] = {-1, -1};
    for (int p = 0; p < s->block->count; p++) {
        if (s->mask[p][n / 64] >> n % 64 & 1) {
            room->unit[pages] = pages;
            room->here[pages++] = p;
        }
    }
    if (s->bound) {
        rp_glue_units(g, s->number, s->thread, n, room->here, pages, room->unit);
    }
    for (int i = 0; i < pages; i++) {
        for (int k = 0; k < 2; k++) {
            unit[k] = room->here[i] == s->pages[k] ? room->unit[i] : unit[k];
        }
    }
    if (unit[0] < 0 || unit[1] < 0 || unit[0] == unit[1]) {
        return;
    }
    for (int i = 0; i < pages; i++) {
        const void *q = rp_grid_nodes(g->grid, RP_CH_MOMENTUM, s->block->first + room->here[i]);
        for (int k = 0; k < 2 && (room->unit[i] == unit[0] || room->unit[i] == unit[1]); k++) {
            mass[k] += room->unit[i] == unit[k] ? node_real(l, q, n * RP_QUAD + 3) : 0.0;
            for (int a = 0; a < l->dim && room->here[i] == s->pages[k]; a++) {
                v[k][a] = node_real(l, q, n * RP_QUAD + a);
            }
        }
    }
    for (int a = 0; a < l->dim; a++) {
        u[a] = v[1][a] - v[0][a];
    }
    const double length = coming_apart(s->normal, l->dim, u, &across);
    if (!(length > 0.0)) {
        return;
    }
    const double c = across / length, along2 = 1.0 - c * c > 0.0 ? 1.0 - c * c : 0.0;
    const double force = s->strength / sqrt(c * c + along2 / (s->shear * s->shear));
    const double whole = mass[0] * mass[1] / (mass[0] + mass[1]) * length;
    const double impulse = fmin(force * weight * g->dt, whole);
    for (int i = 0; i < pages; i++) {
        void *q = rp_grid_nodes(g->grid, RP_CH_MOMENTUM, s->block->first + room->here[i]);
        for (int k = 0; k < 2; k++) {
            const double change = (k == 0 ? impulse : -impulse) / (length * mass[k]);
            for (int a = 0; a < l->dim && room->unit[i] == unit[k]; a++) {
                put_node_real(l, q, n * RP_QUAD + a, v[k][a] + change * u[a]);
            }
        }
    }
}

static void pull_around(const soft_glue *s, const double x[3])
{
    const rp_layout *l = &s->glue->grid->layout;
    double w[3][4] = {{1.0}, {1.0}, {1.0}};
    int base[3] = {0}, wide[3] = {1, 1, 1};
    for (int a = 0; a < l->dim; a++) {
        base[a] = (int)floor(x[a] - l->shift);
        wide[a] = l->order + 1;
        for (int i = 0; i <= l->order; i++) {
            double slope;
            w[a][i] = spline(x[a] - (base[a] + i), l->order, &slope);
        }
    }
    for (int k = 0; k < wide[0] * wide[1] * wide[2]; k++) {
        const int at[3] = {k / (wide[1] * wide[2]), k / wide[2] % wide[1], k % wide[2]};
        int n = 0;
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            const int node = base[a] + at[a];
            inside = inside && node >= 0 && node < l->cells[a];
            n = n * l->cells[a] + node;
        }
        const double weight = w[0][at[0]] * w[1][at[1]] * w[2][at[2]];
        if (inside && weight > 0.0) {
            pull_at(s, n, weight);
        }
    }
}

void rp_glue_soften(const rp_glue *g, rp_local b, int thread, bool bound,
                    uint64_t (*mask)[RP_GLUE_WORDS])
{
    const rp_layout *l = &g->grid->layout;
    const rp_node_block *block = &rp_grid_block(g->grid)[b];
    const int32_t *here = rp_grid_page(g->grid)[block->first].block;
    const rp_page *page = rp_set_page(g->set);
    soft_glue s = {
        .glue = g, .block = block, .number = b, .thread = thread, .bound = bound, .mask = mask};
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t offset[3];
        uint64_t key;
        if (!neighbour(l, here, n, offset, &key)) {
            continue;
        }
        for (rp_local p = find_block(g->set, key); p < g->set->pages && page[p].key == key; p++) {
            s.pages[0] = g->pages[p].soft ? page_of_field(g->grid, block, page[p].field) : -1;
            for (rp_local slot = page[p].first;
                 slot < page[p].first + page[p].count && s.pages[0] >= 0; slot++) {
                const rp_glue_rule *rule = &g->rule[material_of(g->set, slot)];
                double x[3];
                if (!softens(g->set, slot)) {
                    continue;
                }
                s.pages[1] = page_of_field(g->grid, block, partner_of(g->set, slot));
                if (s.pages[1] < 0) {
                    continue;
                }
                s.strength =
                    strength_left(g->set, slot, rule) * read_real(g->set, RP_COL_AREA, slot, 0);
                s.shear = rule->shear;
                read_place(g->set, slot, x);
                for (int a = 0; a < l->dim; a++) {
                    s.normal[a] = read_real(g->set, RP_COL_NORMAL, slot, a);
                    x[a] += (double)(offset[a] * l->cells[a]);
                }
                pull_around(&s, x);
            }
        }
    }
}
