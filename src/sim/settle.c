// Before time begins: sand that carries its weight from the start, and sand that is left alone
// until it rests.
#include "base/result.h"
#include "base/threads.h"
#include "model/material.h"
#include "model/sand.h"
#include "sim/world.h"

#include <math.h>

// ---- prestress ----

// How far it is from x along a unit vector to where the shape ends. The distance to the surface is
// never overestimated, so that a step of its length stays inside.
static double way_out(const rp_shape *shape, int dim, const double x[3], const double along[3],
                      double least)
{
    double lower[3], upper[3], most = 0.0, s = 0.0, inside = 0.0;
    rp_shape_bounds(shape, dim, lower, upper);
    for (int a = 0; a < dim; a++) {
        most += upper[a] - lower[a];
    }
    for (double depth = 1.0; depth > 0.0 && s < most;) {
        const double at[3] = {x[0] + s * along[0], x[1] + s * along[1], x[2] + s * along[2]};
        depth = -rp_shape_distance(shape, at, NULL);
        if (depth > 0.0) {
            inside = s;
            s += fmax(depth, least);
        }
    }
    // the surface is between the last place inside and the first outside
    for (int i = 0; i < 40; i++) {
        const double middle = 0.5 * (inside + s);
        const double at[3] = {x[0] + middle * along[0], x[1] + middle * along[1],
                              x[2] + middle * along[2]};
        *(rp_shape_distance(shape, at, NULL) <= 0.0 ? &inside : &s) = middle;
    }
    return inside;
}

// docs/theory.md (37) to (39)
void rp_prestress_at(const rp_world *world, const rp_particles_def *def, const double gravity[3],
                     const double x[3], double strain[6])
{
    static const int row[2][6] = {{0, 1, 0}, {0, 1, 2, 0, 0, 1}};
    static const int column[2][6] = {{0, 1, 1}, {0, 1, 2, 1, 2, 2}};
    const rp_material_def *material = &world->material[def->material.index];
    const int dim = world->def.dimension;
    double p[RP_PARAM_COUNT], up[3] = {0}, g = 0.0;
    rp_material_parameters(material, dim, p);
    for (int a = 0; a < dim; a++) {
        g += gravity[a] * gravity[a];
    }
    g = sqrt(g);
    for (int a = 0; a < dim && g > 0.0; a++) {
        up[a] = -gravity[a] / g;
    }
    const double depth = g > 0.0 ? way_out(def->shape, dim, x, up, 0.05 * world->def.dx) : 0.0;
    const double weight = material->density * g * depth;
    const double lambda = p[RP_PARAM_LAMBDA], mu = p[RP_PARAM_MU];

    // sideways as a layer that cannot spread, unless it would yield
    double lateral = lambda / (lambda + 2.0 * mu);
    if (material->kind == RP_SAND && weight > 0.0) {
        const double slope = p[RP_PARAM_SLOPE];
        const double shear = sqrt((dim - 1.0) / dim);
        const double least =
            (shear - slope - material->cohesion / weight) / (shear + slope * (dim - 1.0));
        lateral = fmax(lateral, least);
    }
    const double trace = -weight * (1.0 + (dim - 1.0) * lateral) / (dim * lambda + 2.0 * mu);
    const double side = (-lateral * weight - lambda * trace) / (2.0 * mu);
    const double upright = (-weight - lambda * trace) / (2.0 * mu);
    for (int c = 0; c < rp_sym_comps(dim); c++) {
        const int i = row[dim - 2][c], j = column[dim - 2][c];
        strain[c] = (i == j ? side : 0.0) + (upright - side) * up[i] * up[j];
    }
}

// ---- settle ----

// The rate at which the slowest swing of the whole is damped critically: twice its frequency, a
// quarter of a wave over the height.
static rp_result damping_rate(const rp_world *world, const double gravity[3], double *rate)
{
    const rp_layout *l = &world->grid.layout;
    double g = 0.0, low = INFINITY, high = -INFINITY, stiffness = 0.0;
    for (int a = 0; a < l->dim; a++) {
        g += gravity[a] * gravity[a];
    }
    for (int s = 0; s < world->species_count; s++) {
        stiffness = fmax(stiffness, world->species[s].stiffness);
        for (rp_local p = 0; p < world->set[s].pages; p++) {
            const rp_page *page = &rp_set_page(&world->set[s])[p];
            double y = 0.0, reach = 0.0;
            for (int a = 0; a < l->dim; a++) {
                const double along = g > 0.0 ? gravity[a] / sqrt(g) : a == 1;
                const double cells = l->cells[a];
                y += along * l->h * cells * (page->block[a] + 0.5);
                reach += fabs(along) * 0.5 * cells * l->h;
            }
            low = fmin(low, y - reach);
            high = fmax(high, y + reach);
        }
    }
    double ends[] = {-low, high};
    RP_TRY(rp_reduce_max(world->comm, ends, 2));
    const double height = ends[1] + ends[0];
    *rate = height > 0.0 ? 3.14159265358979323846 * sqrt(stiffness) / height : 0.0;
    return RP_OK;
}

static void scale_velocities(rp_set *set, double scale)
{
    static const rp_column_id columns[] = {RP_COL_VELOCITY, RP_COL_AFFINE};
    for (int k = 0; k < 2; k++) {
        const int comps = set->column[columns[k]].comps;
        if (!rp_set_has(set, columns[k])) {
            continue;
        }
        for (rp_local slot = 0; slot < set->slots; slot++) {
            for (int c = 0; c < comps; c++) {
                void *value = rp_set_at(set, columns[k], slot, c);
                if (set->layout.precision == RP_SINGLE) {
                    *(float *)value *= (float)scale;
                } else {
                    *(double *)value *= scale;
                }
            }
        }
    }
}

static void damp(rp_world *world, double scale)
{
    for (int s = 0; s < world->species_count; s++) {
        scale_velocities(&world->set[s], scale);
    }
}

static rp_result settle_in_mode(rp_world *world, double seconds)
{
    double gravity[3];
    RP_TRY(rp_world_gravity(world, gravity));
    RP_TRY(rp_world_move_colliders(world, 0.0));
    for (double left = seconds; left > 0.0;) {
        rp_step step = rp_world_make_step(world);
        for (int a = 0; a < 3; a++) {
            step.gravity[a] = gravity[a];
        }
        const double least = rp_world_least_limit(world, &step, 1.0 / world->def.fps);
        RP_TRY(rp_world_check_dt(world, least));
        const double steps = fmax(1.0, ceil(left / least * (1.0 - 1e-12)));
        step.dt = left / steps;
        RP_TRY(rp_world_solve(world, &step));
        double rate;
        RP_TRY(damping_rate(world, gravity, &rate));
        damp(world, exp(-rate * step.dt));
        left = steps > 1.0 || step.dt < left ? left - step.dt : 0.0;
        const bool sorts = rp_world_wants_sort(world);
        RP_TRY(rp_world_push_out(world, sorts));
        RP_TRY(sorts ? rp_world_drain(world) : RP_OK);
    }
    damp(world, 0.0);
    world->funds = NAN;                       // what damping took is in no account
    rp_pair_loads_forget(&world->pair_loads); // of time that does not count
    return RP_OK;
}

rp_result rp_world_settle(rp_world *world, double seconds)
{
    RP_TRY(rp_world_check_steppable(world));
    RP_TRY(rp_world_honours(world, RP_FEATURE_SETTLE));
    if (!(seconds >= 0.0 && isfinite(seconds))) {
        return rp_fail(RP_ERR_ARGUMENT, "settle: want >= 0 s, got %g", seconds);
    }
    const rp_float_mode mode = rp_float_mode_enter();
    rp_world_hold_rigids(world, true);
    const rp_result result = settle_in_mode(world, seconds);
    rp_world_hold_rigids(world, false);
    rp_float_mode_leave(mode);
    return rp_world_ends(world, result);
}
