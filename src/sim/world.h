// The world: owns particles, grid, walls and the solver; chooses the step; implements
// include/repose/.
#pragma once

#include "core/grid.h"
#include "core/species.h"
#include "repose/fracture.h"
#include "repose/frame.h"
#include "repose/probe.h"
#include "sim/watch.h"
#include "solver/solver.h"

// Of a rigid body and a collider that deforms.
#define RP_NO_RIGIDS "rigid '%s' and collider '%s', which deforms: the two do not meet yet"

// Of a frame: a step that is shorter moves nothing any more, and a frame has no end.
#define RP_LEAST_STEP 1e-12

enum { RP_MATERIAL_LIMIT = 256, RP_EMITTER_LIMIT = 64, RP_SINK_LIMIT = 64, RP_PROBE_LIMIT = 256 };

// Particles per block of a world that is only planned: open addressing, where neither is any place
// is free.
typedef struct rp_plan_block {
    uint64_t key;
    int32_t block[3];
    uint16_t species, field;
    int64_t count;
    int64_t pending;           // counted, but their volume is not known yet
    double x[3];               // of one of them [m]
    int32_t least[3], most[3]; // cells that they are in
    double volume, coarse;     // of all of them, and of the largest of them [m^d]
    double mass;               // of all of them [kg]
} rp_plan_block;
typedef struct rp_plan_table {
    rp_buffer buffer;
    size_t size, used;              // places in all, a power of two; places taken
    double mass[RP_MATERIAL_LIMIT]; // of each material [kg]
    double lower[3], upper[3];      // where particles are [m]
} rp_plan_table;

// What a frame says of a collider; a table of doubles.
typedef struct rp_load {
    rp_pose pose;               // at the end of the last step
    double force[3], torque[3]; // mean over the last whole frame [N], [N m]
    double given[6];            // momentum and angular momentum since then [kg m/s], [kg m^2/s]
} rp_load;

// A free rigid body, besides what its collider and its body say.
typedef struct rp_rigid {
    int collider;
    double reach; // of its points from its centre of mass [m]
    double friction, restitution;
    double force[3], torque[3];
    rp_vector_of_time force_of_time, torque_of_time;
} rp_rigid;

// How it moves, which is state; a table of doubles.
typedef struct rp_rigid_motion {
    rp_pose pose;                // of its centre of mass
    double velocity[3], spin[3]; // [m/s], [rad/s]
    double force[3], torque[3];  // mean over the last whole frame [N], [N m]
    double given[6];             // momentum and angular momentum since then [kg m/s], [kg m^2/s]
} rp_rigid_motion;

typedef struct rp_emitter {
    // described once
    rp_material material;
    int field;
    double velocity[3], start, stop;
    double interval;    // between layers [s]
    double layers_most; // how many there are in all; may be infinite
    double spacing;
    double volume;  // of a particle [m^3]
    rp_buffer site; // double[sites][3]: where the particles of a layer are
    int32_t sites;
    double side[2][3]; // unit vectors that span the layer; in 2D the second is 0
    rp_shape *shape;   // a reference of its own
    char name[RP_NAME_SIZE];
    // of a mouth that moves
    bool moves;
    rp_pose_of_time motion;
    int parent;      // the collider that it goes along with, or -1
    double about[3]; // where the parent was when all was described, if it is a rigid body
    rp_placing from; // where the parent is at the start of the step
    rp_buffer order; // int32_t[sites]: in which order grains leave
} rp_emitter;

typedef struct rp_domain {
    double lower[3], upper[3]; // infinite where there is none
    rp_leave leave;
    bool set;
} rp_domain;

typedef struct rp_probe {
    rp_probe_def def; // its normal has length 1
    char name[RP_PROBE_NAME];
} rp_probe;

struct rp_world {
    // described once
    rp_world_def def;
    rp_allocator given; // a copy: the def may have lived on the stack
    rp_limited limited;
    rp_allocator allocator; // the given one, within the limit if there is one
    const rp_kernels *kernels;
    const rp_law *const *laws;
    const rp_solver *solver;
    rp_needs needs;
    rp_material_def material[RP_MATERIAL_LIMIT];
    uint8_t species_of[RP_MATERIAL_LIMIT]; // number of each material's species
    int materials;
    int colliders, rigids;
    rp_vector_of_time joint_speed[RP_JOINT_LIMIT];
    rp_company company; // of which echoes are state
    rp_emitter emitter[RP_EMITTER_LIMIT];
    int emitters;
    rp_shape *sink[RP_SINK_LIMIT];
    int sinks;
    rp_domain domain;
    rp_pairs pairs;                            // how bodies touch
    rp_glue_rule glue_rule[RP_MATERIAL_LIMIT]; // of materials that are glue
    struct {
        rp_cut *cut;
        int field;               // of its first piece
    } broken[RP_MATERIAL_LIMIT]; // bodies that may break, held
    int broken_count;
    rp_buffer body_names; // char[fields][RP_NAME_SIZE]; empty before the first name
    rp_probe probe[RP_PROBE_LIMIT];
    int probes;
    rp_frame_choice choice; // of columns that frames keep
    bool chosen;            // else they keep all
    int threads;
    rp_comm *comm; // of the ranks that hold the particles together; NULL: there is only this one

    // state
    rp_set set[RP_SET_LIMIT]; // of the species
    rp_species species[RP_SET_LIMIT];
    int species_count; // grows with the first material of each
    rp_grid grid;
    void *solver_state;
    rp_time time;
    uint64_t next_id;
    int fillings; // shapes filled so far; not saved: it only finds places again
    double newborn_speed, newborn_gradient;
    double layers[RP_EMITTER_LIMIT]; // poured so far, by each emitter; grains of one that moves
    double buried[RP_EMITTER_LIMIT]; // 1: it was said of its mouth
    double passed[RP_PROBE_LIMIT];   // through the plane of each probe [kg]
    rp_pair_loads pair_loads;        // of bodies of particles that touch
    rp_energy energy;                // lost so far
    rp_watch watch;                  // on energy that nothing brought in
    rp_buffer cracks;                // rp_crack_row, since somebody took them
    rp_local crack_count;
    double funds; // energy of particles at the end of the last step [J]; NAN: not known
    rp_registry registry;

    rp_scratch scratch;
    rp_stats stats; // born, removed and sorts are state too
    bool failed;    // a step diverged: readable, but not to be stepped
    rp_failure failure;

    rp_plan_table plan; // of a world that only counts

    // RP_COLLIDER_LIMIT of each, pages that nobody touches: an entry is written when it comes
    rp_collider *collider;
    rp_rigid *rigid; // some of the colliders
    // state
    rp_load *load;
    rp_body *body;           // of each collider, in the step that is being taken
    rp_rigid_motion *motion; // of rigid bodies
};

// Make a new world one of several ranks that hold the particles of one world together. From then on
// all ranks make the same calls, readings among them, and get the same answers; what a rank holds
// of particles and nodes is its own. A step that fails, fails on all, and leaves failed worlds.
// @param comm must outlive the world
void rp_world_join(rp_world *world, rp_comm *comm);

// The species that particles of a material belong to.
rp_species *rp_world_species_of(rp_world *world, rp_material material);
// How many velocity fields there are: those of bodies, and one that the method gives a species.
int rp_world_fields(const rp_world *world);
// The velocity field of particles of a material: the one that is asked for, unless the method gives
// its species one of its own.
int rp_world_field_of(const rp_world *world, rp_material material, int field);
// Can the world's method do this? A sentence when it cannot.
rp_result rp_world_honours(const rp_world *world, rp_feature feature);

// Room for this many groups of a species in all, then one group more, which cannot fail.
rp_result rp_world_reserve_groups(rp_world *world, rp_species *species, int groups);
uint16_t rp_world_put_group(rp_world *world, rp_species *species, const rp_group *group);
// The group of these particles: a new one, or an old one that is the same. All or nothing.
rp_result rp_world_add_group(rp_world *world, rp_material material, int field, double volume,
                             uint16_t *index);
// New groups of consecutive fields. All or nothing.
rp_result rp_world_add_groups(rp_world *world, rp_material material, int field, int fields,
                              double volume, uint16_t *first);

// What a particle is born with; the rest is neutral.
typedef struct rp_birth {
    const double *x, *v;    // [3]
    const double *gradient; // [3][3]; NULL: none
    const double *strain;   // [6]; NULL: none
    double depth;           // below the surface of a solid [m]; 0: nobody knows
} rp_birth;
rp_result rp_world_check_target(const rp_world *world, const char *what, uint32_t cookie,
                                rp_material material, int field);
// Does the method take particles so far apart [m]? A sentence when it does not.
// @param what as the user wrote it; tolerance: share that they may be off
rp_result rp_world_check_spacing(const rp_world *world, const char *what, double spacing,
                                 double tolerance);
// Particles that have not stepped yet bound the next step, too.
void rp_world_note_newborn(rp_world *world, const double v[3], const double *gradient);
// One particle into the inbox, `index` places beyond its count; rp_world_end_births() gives all of
// them their group.
void rp_world_put_birth(rp_world *world, const rp_species *species, rp_local index,
                        const rp_birth *birth);
void rp_world_end_births(rp_world *world, const rp_species *species, rp_local count,
                         uint16_t group);
// `count` particles of one volume, at rest in every column but these.
rp_result rp_world_give_birth(rp_world *world, rp_material material, int field, double volume,
                              const double (*position)[3], const double (*velocity)[3],
                              rp_local count);

// Where all colliders are at the start and at the end of a step of dt; free ones as if nothing
// acted on them in it.
rp_result rp_world_move_colliders(rp_world *world, double dt);
void rp_world_place_rigids(rp_world *world, double dt);
// Refuses bodies that lie in each other or in colliders, where they are now.
rp_result rp_world_check_rigids(rp_world *world);
// Rigid bodies at the start of a step, with what gravity and scripts add; then where the step has
// brought them; then what acted on them.
rp_result rp_world_begin_rigids(rp_world *world, const rp_step *step);
rp_result rp_world_end_rigids(rp_world *world, const rp_step *step);
void rp_world_note_rigids(rp_world *world, bool frame_ends);
// Let them stand where they are, as colliders do, and let them go again.
void rp_world_hold_rigids(rp_world *world, bool hold);
// The longest step that they allow [s].
double rp_world_rigid_limit(const rp_world *world);

// Let glue break before a step, if it may; then, once the step is done, note what that took.
rp_result rp_world_break_glue(rp_world *world, rp_step *step);
void rp_world_note_cracks(rp_world *world);
// Take out glue that broke, at the end of a frame.
void rp_world_clear_glue(rp_world *world);

// Let emitters pour what is due at the start of a step.
rp_result rp_world_pour(rp_world *world);
// Say it, once, of each emitter that pours into what lies before it. At the ends of frames.
void rp_world_look_at_mouths(rp_world *world);
// Keep where their parents are at the start of the step, which what comes after it may change.
void rp_world_note_mouths(rp_world *world);
// Let those whose mouths move pour what became due in a step of dt that has just ended.
// @param gravity in that step
rp_result rp_world_pour_moving(rp_world *world, double dt, const double gravity[3]);
// A mouth may not leap while it pours, nor grains appear far from it: makes a step shorter, but not
// shorter than `floor`.
// @param[out] bounded has it?
rp_result rp_world_bound_by_mouths(rp_world *world, double floor, double *least, bool *bounded);
// Where a site of an emitter's mouth is at time t; with a rigid body, where the body is now.
rp_result rp_emitter_site(const rp_world *world, const rp_emitter *e, int32_t site, double t,
                          double out[3]);
// Remove what is in sinks, see to what has left the domain.
rp_result rp_world_drain(rp_world *world);
void rp_pour_free(rp_world *world);

// Put back what has sunk into colliders, at the end of a step.
// @param all false: only into thin ones, and not in every step
rp_result rp_world_push_out(rp_world *world, bool all);

// One particle that a plan counts; then the volume of all of them, or nothing of it.
rp_result rp_plan_count(rp_world *world, const double x[3], rp_material material, int field);
void rp_plan_commit(rp_world *world, rp_material material, double volume);
void rp_plan_drop(rp_world *world);
void rp_plan_free(rp_world *world);

double rp_world_time(const rp_world *world);
rp_result rp_world_gravity(const rp_world *world, double out[3]);
// All that a solver may see of this world; the length of the step is not chosen yet.
rp_step rp_world_make_step(rp_world *world);
// Kinetic energy of what APIC carries besides velocities [J].
double rp_world_affine(const rp_world *world);
// The least of the solver's limits, of dt_max and of `most` [s]; stats say which.
double rp_world_least_limit(rp_world *world, const rp_step *step, double most);
// A step so short that time would stand still is none, and the world has failed.
rp_result rp_world_check_dt(rp_world *world, double dt);
// Take the step with the solver and note what came of it, time apart.
rp_result rp_world_solve(rp_world *world, rp_step *step);
// Must any species be sorted before the next step?
bool rp_world_wants_sort(const rp_world *world);
// Refuses planned and failed worlds.
rp_result rp_world_check_steppable(const rp_world *world);
// What a step, or what is like one, came to: with several ranks there is no trying again.
rp_result rp_world_ends(rp_world *world, rp_result result);
// The strain of a particle that carries what lies above it, see RP_PRESTRESS_K0.
// @param gravity at the start
void rp_prestress_at(const rp_world *world, const rp_particles_def *def, const double gravity[3],
                     const double x[3], double strain[6]);
// The least of all limits, then cut so that the frame ends on a whole number of equal steps. Fails
// when a collider's motion does.
// @param[out] steps how many of them are left
rp_result rp_world_choose_dt(rp_world *world, rp_step *step, double *steps);
