// A species: particles alike in columns and life ("solid", "water", "glue"), with what kernels read
// of their groups. sim owns the species of a world, solvers see them, io walks them: a section each
// in a saved state, one after the other in a frame.
#pragma once

#include "core/grid.h"

enum { RP_SPECIES_NAME = 16 };

typedef struct rp_species {
    char name[RP_SPECIES_NAME];
    rp_set *set; // sets lie one after the other, so that a grid can take them all
    // kept beside set->group, written when a group is added
    rp_buffer group_reals;   // real[groups][RP_GROUP_REALS]: what kernels spread over lanes
    rp_buffer group_doubles; // the same in double, for sums
    rp_buffer group_laws;    // uint8_t[groups]: rp_material_kind
    double stiffness;        // largest modulus over density of any of its materials [m^2/s^2]
    double viscosity;        // largest viscosity over density, likewise [m^2/s]
    double lightest; // least particle mass of any group [kg], own masses apart; 0: none has any
} rp_species;
