// Materials of a world, the species that they make, and the groups of their particles.
#include "base/result.h"
#include "base/text.h"
#include "model/material.h"
#include "sim/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

rp_species *rp_world_species_of(rp_world *world, rp_material material)
{
    return &world->species[world->species_of[material.index]];
}

int rp_world_fields(const rp_world *world)
{
    return world->needs.apart != NULL ? 2 : world->def.fields;
}

int rp_world_field_of(const rp_world *world, rp_material material, int field)
{
    const char *apart = world->needs.apart;
    const char *name = world->species[world->species_of[material.index]].name;
    return apart != NULL && strcmp(apart, name) == 0 ? 1 : field;
}

// The species of this name, made when it is the first of its kind.
static rp_result find_species(rp_world *world, const rp_material_class *class, int *index)
{
    const char *name = class->info.species;
    for (*index = 0; *index < world->species_count; ++*index) {
        if (strcmp(world->species[*index].name, name) == 0) {
            return RP_OK;
        }
    }
    if (world->species_count == RP_SET_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d species", RP_SET_LIMIT);
    }
    rp_species *species = &world->species[world->species_count];
    rp_set *set = &world->set[world->species_count];
    const bool solid = strcmp(name, "solid") == 0;
    const unsigned columns =
        class->massless ? 0 : world->needs.columns | (solid ? world->needs.solid_columns : 0);
    RP_TRY(rp_set_init(set, &world->grid.layout, columns, &world->allocator));
    set->comm = world->comm;
    *species = (rp_species){.set = set};
    snprintf(species->name, sizeof species->name, "%s", name);
    rp_grid_let_scatter(&world->grid, world->species_count, name, rp_set_has_mass(set));
    world->species_count++;
    rp_grid_forget(&world->grid); // it knows nothing of this one
    return RP_OK;
}

// Numbers of which products with volumes and speeds are numbers of the world's precision, too.
static rp_result check_precision(const rp_world *world, const rp_material_def *def,
                                 const rp_material_class *class)
{
    const bool single = world->def.precision == RP_SINGLE;
    const double most = single ? 1e30 : 1e250;
    const double modulus = class->modulus != NULL ? class->modulus(def, world->def.dimension) : 0.0;
    const double value[] = {def->density, modulus};
    static const char *const what[] = {"density", "stiffness"}, *const unit[] = {"kg/m^3", "Pa"};
    for (int i = 0; i < 2; i++) {
        if (value[i] != 0.0 && !(value[i] >= 1.0 / most && value[i] <= most)) {
            return rp_fail(RP_ERR_ARGUMENT, "%s.%s: want %g to %g %s in %s precision, got %g",
                           class->info.name, what[i], 1.0 / most, most, unit[i],
                           single ? "single" : "double", value[i]);
        }
    }
    return RP_OK;
}

rp_result rp_world_add_material(rp_world *world, const rp_material_def *def, rp_material *material)
{
    RP_TRY(rp_material_check(def, world->def.dimension));
    RP_TRY(rp_check_name("material.name", def->name));
    RP_TRY(rp_method_check_material(&world->solver->info, def->kind));
    if (world->materials == RP_MATERIAL_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d materials", RP_MATERIAL_LIMIT);
    }
    const rp_material_class *class = rp_material_class_of(def->kind);
    RP_TRY(check_precision(world, def, class));
    // their gradients do not fade where a particle enters a cell, and a node that it hardly touches
    // would feel all of its viscosity
    if (world->def.order == 1 && class->viscosity != NULL && class->viscosity(def) > 0.0) {
        return rp_fail(RP_ERR_UNSUPPORTED,
                       "%s.viscosity: want quadratic or cubic splines with it, got linear ones",
                       class->info.name);
    }
    if (world->needs.apart != NULL && def->kind == RP_SAND && !(def->porosity > 0.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "sand.porosity: want > 0 with method %s, got %g",
                       world->solver->info.name, def->porosity);
    }
    const int before = world->species_count;
    int index;
    RP_TRY(find_species(world, class, &index));
    rp_species *species = &world->species[index];
    const unsigned needs = rp_material_needs(def);
    unsigned added = 0;
    for (int c = 0; c < RP_COL_COUNT; c++) {
        const bool missing = needs >> c & 1 && !rp_set_has(species->set, c);
        if (missing && rp_set_want(species->set, c) != RP_OK) {
            // all or nothing: columns that only this material would have had go again
            for (int d = 0; d < c; d++) {
                species->set->column[d].comps *= !(added >> d & 1);
            }
            world->species_count = before;
            return RP_ERR_MEMORY;
        }
        added |= (unsigned)missing << c;
    }
    if (def->density > 0.0) {
        const double modulus =
            class->modulus != NULL ? class->modulus(def, world->def.dimension) : 0.0;
        const double viscosity = class->viscosity != NULL ? class->viscosity(def) : 0.0;
        species->stiffness = fmax(species->stiffness, modulus / def->density);
        species->viscosity = fmax(species->viscosity, viscosity / def->density);
    }
    material->index = (uint16_t)world->materials;
    world->species_of[world->materials] = (uint8_t)index;
    world->material[world->materials++] = *def;
    return RP_OK;
}

int rp_world_materials(const rp_world *world) { return world->materials; }

const rp_material_def *rp_world_material(const rp_world *world, int index)
{
    RP_ASSERT(index >= 0 && index < world->materials);
    return &world->material[index];
}

// ---- groups ----

rp_result rp_world_reserve_groups(rp_world *world, rp_species *species, int groups)
{
    const rp_allocator *a = &world->allocator;
    const size_t row = (size_t)RP_GROUP_REALS * rp_real_bytes(&world->grid.layout);
    const struct {
        rp_buffer *buffer;
        size_t row;
        const char *what;
    } table[] = {
        {&species->group_reals, row, "group parameters"},
        {&species->group_doubles, RP_GROUP_REALS * sizeof(double), "group parameters"},
        {&species->group_laws, 1, "group laws"},
        {&species->set->group_buffer, sizeof(rp_group), "particle groups"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].buffer->bytes < (size_t)groups * table[i].row) {
            RP_TRY(rp_buffer_reserve(table[i].buffer, a, (2 * (size_t)groups + 4) * table[i].row,
                                     (size_t)species->set->groups * table[i].row, table[i].what));
        }
    }
    return RP_OK;
}

uint16_t rp_world_put_group(rp_world *world, rp_species *species, const rp_group *group)
{
    const rp_material_def *def = &world->material[group->material];
    uint16_t index;
    const rp_result result = rp_set_add_group(species->set, group, &index);
    RP_ASSERT(result == RP_OK); // there is room
    double *value = (double *)species->group_doubles.data + (size_t)index * RP_GROUP_REALS;
    rp_material_parameters(def, world->def.dimension, value);
    value[RP_GROUP_MASS] = group->mass;
    value[RP_GROUP_VOLUME] = group->volume;
    for (int i = 0; i < RP_GROUP_REALS; i++) {
        if (world->def.precision == RP_SINGLE) {
            ((float *)species->group_reals.data)[index * RP_GROUP_REALS + i] = (float)value[i];
        } else {
            ((double *)species->group_reals.data)[index * RP_GROUP_REALS + i] = value[i];
        }
    }
    ((uint8_t *)species->group_laws.data)[index] = (uint8_t)def->kind;
    const bool lighter = species->lightest == 0.0 || group->mass < species->lightest;
    species->lightest = lighter ? group->mass : species->lightest;
    return index;
}

// Frames number the groups of all species one after the other.
static int all_groups(const rp_world *world)
{
    int groups = 0;
    for (int s = 0; s < world->species_count; s++) {
        groups += world->set[s].groups;
    }
    return groups;
}

rp_result rp_world_add_group(rp_world *world, rp_material material, int field, double volume,
                             uint16_t *index)
{
    rp_species *species = rp_world_species_of(world, material);
    const rp_set *set = species->set;
    const rp_group group = {.material = material.index,
                            .field = (uint16_t)rp_world_field_of(world, material, field),
                            .volume = volume,
                            .mass = world->material[material.index].density * volume};
    // a source that pours again and again needs one group
    for (rp_local i = 0; i < set->groups; i++) {
        const rp_group *old = &rp_set_group(set)[i];
        if (old->material == group.material && old->field == group.field &&
            old->volume == group.volume) {
            *index = (uint16_t)i;
            return RP_OK;
        }
    }
    if (all_groups(world) >= RP_GROUP_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d groups of particles",
                       RP_GROUP_LIMIT);
    }
    RP_TRY(rp_world_reserve_groups(world, species, set->groups + 1));
    *index = rp_world_put_group(world, species, &group);
    return RP_OK;
}

rp_result rp_world_add_groups(rp_world *world, rp_material material, int field, int fields,
                              double volume, uint16_t *first)
{
    rp_species *species = rp_world_species_of(world, material);
    if (all_groups(world) + fields > RP_GROUP_LIMIT) {
        return rp_fail(RP_ERR_LIMIT, "a world holds at most %d groups of particles",
                       RP_GROUP_LIMIT);
    }
    RP_TRY(rp_world_reserve_groups(world, species, species->set->groups + fields));
    *first = (uint16_t)species->set->groups;
    for (int i = 0; i < fields; i++) {
        const rp_group group = {.material = material.index,
                                .field = (uint16_t)rp_world_field_of(world, material, field + i),
                                .volume = volume,
                                .mass = world->material[material.index].density * volume};
        rp_world_put_group(world, species, &group);
    }
    return RP_OK;
}
