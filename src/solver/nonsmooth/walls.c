// What walls leave of the room at nodes, what they ask of nodes, and what they get from them.
#include "base/threads.h"
#include "solver/nonsmooth/loops.h"

#include <string.h>

// The integral over half of a node's hat, before it along an axis or behind it, of what lies on the
// free side of a plane across the axis, at a distance of d cells from the node.
// @param towards does the half lie on the way out of the wall?
static double room_across(double d, bool towards)
{
    const double c = d < -1.0 ? -1.0 : d > 1.0 ? 1.0 : d;
    if (towards) {
        return c < 0.0 ? 0.5 * (1.0 + c) * (1.0 + c) : 0.5;
    }
    return c < 0.0 ? 0.0 : c - 0.5 * c * c;
}

// The same for any walls, which are flat as far as the node sees: by samples in the cells around.
static void room_among(const rp_constraint *c, int count, int dim, double h, double room[8])
{
    enum { SIDE = 4 };
    static const double weight[SIDE] = {0.125, 0.375, 0.375, 0.125};
    const double apart = 2.0 / SIDE;
    memset(room, 0, 8 * sizeof *room);
    for (int i = 0; i < (dim == 3 ? SIDE * SIDE * SIDE : SIDE * SIDE); i++) {
        const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        double share = 1.0;
        int side = 0;
        for (int a = 0; a < dim; a++) {
            share *= weight[at[a]];
            side |= (at[a] >= SIDE / 2) << a;
        }
        for (int k = 0; k < count; k++) {
            double gap = c[k].distance / h;
            for (int a = 0; a < dim; a++) {
                gap += c[k].normal[a] * (-1.0 + apart * (at[a] + 0.5));
            }
            share *= fmin(1.0, fmax(0.0, 0.5 + gap / apart));
        }
        room[side] += share;
    }
}

// The part of a node's hat outside of walls, in each of the cells around it (bits: behind it along
// x, y, z).
static void room_of(const rp_constraint *c, int count, int dim, double h, double room[8])
{
    for (int a = 0; a < dim && count == 1; a++) {
        if (fabs(c->normal[a]) > 1.0 - 1e-9) {
            for (int side = 0; side < 1 << dim; side++) {
                const bool towards = (side >> a & 1) == (c->normal[a] > 0.0);
                room[side] = room_across(c->distance / h, towards) * (dim == 3 ? 0.25 : 0.5);
            }
            return;
        }
    }
    room_among(c, count, dim, h, room);
}

// Colliders are known to pages up to two cells away.
static rp_listing listing_of(const loops *l)
{
    return (rp_listing){.dt = l->step->dt, .reach = 2.0 * l->h};
}

static bool holds(const rp_constraint *c) { return c->contact == RP_STICKY && c->distance <= 0.0; }

// Can this wall change the node's velocity?
static bool grips(const rp_constraint *c)
{
    return c->contact == RP_SEPARATE || (c->contact == RP_SLIP && c->distance <= 0.0);
}

// The ways out of the walls that a node is on, where none of them rubs: sand there bears no shear
// along the wall (Daviet and Bertails-Descoubes take it out, too). Nothing otherwise.
static void find_smooth(const rp_constraint *c, int count, double out[3][3])
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (c[i].distance > 0.0) {
            continue;
        }
        if (c[i].contact == RP_STICKY || c[i].friction > 0.0 || found == 3) {
            memset(out, 0, 3 * sizeof *out);
            return;
        }
        memcpy(out[found++], c[i].normal, sizeof out[0]);
    }
}

void rp_loops_walls(void *context, int64_t page, int thread)
{
    const loops *l = context;
    const rp_grid *grid = l->step->grid;
    const int nodes = grid->layout.nodes;
    rp_constraint *list = l->list + (size_t)thread * (size_t)l->list_most;
    double(*room)[8] = l->room + (size_t)page * (size_t)nodes;
    const rp_listing wanted = listing_of(l);
    const int32_t count = rp_touches_list(&l->touches, grid, (rp_local)page, &wanted, list);
    rp_local found = 0;
    for (int n = 0; n < nodes; n++) {
        for (int side = 0; side < 8; side++) {
            room[n][side] = grid->layout.dim == 3 ? 0.125 : 0.25;
        }
    }
    memset(l->smooth + (size_t)page * (size_t)nodes, 0, (size_t)nodes * sizeof *l->smooth);
    for (int32_t i = 0; i < count;) {
        int32_t end = i;
        bool held = false;
        for (; end < count && list[end].node == list[i].node; end++) {
            held = held || (holds(&list[end]));
        }
        for (int32_t k = i; k < end && !held; k++) {
            found += grips(&list[k]);
        }
        found += held; // by one, and no other has a say
        room_of(list + i, end - i, grid->layout.dim, l->h, room[list[i].node]);
        find_smooth(list + i, end - i,
                    l->smooth[(size_t)page * (size_t)nodes + (size_t)list[i].node]);
        i = end;
    }
    l->f.page_grip[page + 1] = found;
}

// A wall that holds a node takes its freedom: the node has the wall's velocity and no inverse mass,
// and what it would have done is kept with the grip.
static void fill_grip(const loops *l, const rp_constraint *c, uint32_t node, rp_local index)
{
    const rp_friction_problem *f = &l->f;
    rp_friction_grip *grip = &f->grip[index];
    *grip = (rp_friction_grip){.node = node,
                               .at = 1 + (uint32_t)f->nodes + (uint32_t)index,
                               .collider = c->collider,
                               .contact = c->contact,
                               .friction = c->friction,
                               .distance = c->distance / l->h};
    double *own = f->start + (size_t)grip->at * 4, *u = f->start + (size_t)node * 4;
    memset(own, 0, 4 * sizeof *own);
    for (int a = 0; a < 3; a++) {
        grip->normal[a] = c->normal[a];
        grip->velocity[a] = a < f->dim ? c->velocity[a] * l->time / l->h : 0.0;
    }
    if (c->contact == RP_STICKY) {
        memcpy(own, u, 4 * sizeof *own);
        memcpy(u, grip->velocity, sizeof grip->velocity);
        u[3] = 0.0;
    }
}

void rp_loops_start(void *context, int64_t page, int thread)
{
    const loops *l = context;
    const rp_friction_problem *f = &l->f;
    const rp_grid *grid = l->step->grid;
    const int nodes = grid->layout.nodes;
    const uint32_t *number = rp_nodes_numbers(&l->state->numbers, grid, (rp_local)page);
    for (int n = 0; n < nodes; n++) {
        if (number[n] == RP_NO_NUMBER) {
            continue;
        }
        const size_t node = (size_t)page * (size_t)nodes + (size_t)n;
        const rp_node_sum *sum = &l->sum[node];
        double *u = f->start + ((size_t)number[n] + 1) * 4;
        for (int a = 0; a < 3; a++) {
            u[a] = a < f->dim ? sum->momentum[a] / sum->mass + l->push[a] : 0.0;
            u[a] += l->field != NULL ? l->field[node][a] * l->time / l->h : 0.0;
        }
        // no node is so light that the stress of a cell throws it farther than this
        u[3] = f->dt / (sum->mass + 1e-8 * f->dt);
    }
    rp_constraint *list = l->list + (size_t)thread * (size_t)l->list_most;
    const rp_listing wanted = listing_of(l);
    const int32_t count = rp_touches_list(&l->touches, grid, (rp_local)page, &wanted, list);
    rp_local next = f->page_grip[page];
    for (int32_t i = 0; i < count;) {
        int32_t end = i;
        const rp_constraint *holder = NULL;
        for (; end < count && list[end].node == list[i].node; end++) {
            if (holder == NULL && holds(&list[end])) {
                holder = &list[end];
            }
        }
        const uint32_t node = number[list[i].node] + 1;
        for (int32_t k = i; k < end; k++) {
            if (holder != NULL ? &list[k] == holder : grips(&list[k])) {
                fill_grip(l, &list[k], node, next++);
            }
        }
        i = end;
    }
}

// What a node gave up to the collider of one of its grips, `change` of its velocity.
static void give(const loops *l, rp_local page, const rp_friction_grip *grip,
                 const double change[3])
{
    const rp_grid *grid = l->step->grid;
    const rp_touch *touch = &l->touches.page[page];
    const size_t place = l->place[grip->node - 1];
    const int n = (int)(place % (size_t)grid->layout.nodes);
    const double mass = l->sum[place].mass * mass_unit(l);
    double x[3], arm[3], lost[3];
    rp_layout_node(&grid->layout, rp_grid_page(grid)[page].block, n, x);
    for (int a = 0; a < 3; a++) {
        arm[a] = x[a] - l->step->collider[grip->collider].begin.position[a];
        lost[a] = a < l->f.dim ? -mass * change[a] * l->h / l->time : 0.0;
    }
    double velocity[3];
    const rp_collider *met = &l->step->collider[grip->collider];
    if (met->morph != NULL) {
        rp_collider_velocity(met, x, l->step->dt, velocity);
    }
    for (uint32_t pair = touch->first; pair < touch->first + touch->count; pair++) {
        if (l->touches.near[pair] == grip->collider) {
            rp_impulse_add(&l->touches.given[pair].impulse, arm, lost);
            for (int a = 0; a < 3 && met->morph != NULL; a++) {
                l->touches.given[pair].worked -= lost[a] * velocity[a];
            }
        }
    }
}

static void gifts_of_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    const rp_touch *touch = &l->touches.page[page];
    memset(l->touches.given + touch->first, 0, touch->count * sizeof *l->touches.given);
    for (rp_local i = l->f.page_grip[page]; i < l->f.page_grip[page + 1]; i++) {
        const rp_friction_grip *grip = &l->f.grip[i];
        if (grip->contact != RP_STICKY) {
            give(l, (rp_local)page, grip, l->f.u + (size_t)grip->at * 4);
        }
    }
}

// What held nodes gave up is what they would have done: with their masses, and nobody who holds
// them.
static void held_of_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const loops *l = context;
    for (rp_local i = l->f.page_grip[page]; i < l->f.page_grip[page + 1]; i++) {
        const rp_friction_grip *grip = &l->f.grip[i];
        if (grip->contact == RP_STICKY) {
            double change[3] = {0};
            for (int a = 0; a < l->f.dim; a++) {
                change[a] = grip->velocity[a] - l->f.u[(size_t)grip->node * 4 + (size_t)a];
            }
            give(l, (rp_local)page, grip, change);
        }
    }
}

void rp_loops_give(loops *l)
{
    rp_friction_problem *f = &l->f;
    const int threads = l->step->threads;
    bool held = false;
    rp_parallel_for(threads, f->pages, 8, gifts_of_page, l);
    memcpy(f->u, f->start, rp_friction_velocities(f) * 4 * sizeof(double));
    for (rp_local i = 0; i < f->grips; i++) {
        if (f->grip[i].contact == RP_STICKY) {
            memcpy(f->u + (size_t)f->grip[i].node * 4, f->start + (size_t)f->grip[i].at * 4,
                   4 * sizeof(double));
            held = true;
        }
    }
    if (held) {
        rp_friction_apply(f, l->k, threads);
        rp_parallel_for(threads, f->pages, 8, held_of_page, l);
    }
}
