// How a scene comes about: read (load.c), checked as a whole (check.c) while its shapes are made
// (shapes.c), its functions tried (functions.c), doubted (doubts.c), written down (resolve.c), made
// into a world (build.c).
#pragma once

#include "scene/call.h"

// What only shows when all has been said: the dimension of vectors, contradictions between values,
// required words. Fills in defaults that depend on other values, and makes the shapes.
rp_result rp_scene_check(rp_scene *scene);
// Make the shape that the call of a word for shapes describes; those it is made of were made
// before.
rp_result rp_scene_make_shape(rp_scene *scene, scene_call *call);

// Functions of time must be pure: each is called twice at several times and compared bit for bit.
rp_result rp_scene_check_functions(const rp_scene *scene);

// Functions of the script as C sees them. `call` and `key` must hold a function.
rp_vector_of_time rp_scene_vector_of_time(const scene_call *call, const char *key);
rp_vector_of_place rp_scene_vector_of_place(const scene_call *call, const char *key);
rp_vector_field rp_scene_vector_field(const scene_call *call, const char *key);
rp_pose_of_time rp_scene_pose_of_time(const scene_call *call, const char *key);
// How a collider moves, by whatever it said: a function, key frames, velocity and spin; no call
// when it stands still.
rp_pose_of_time rp_scene_motion(const scene_call *r);

// Where on a grid from `min` to `max` a function of (x, z), in 2D of x, is asked for heights.
typedef struct scene_samples {
    double min[2], max[2];
    int columns, rows;
    double *height; // [row][column]
} scene_samples;
// Within the time that loading may take.
rp_result rp_scene_sample(const scene_call *call, const char *key, const scene_samples *samples);

// The path of a file that the scene names, which is now on the list of files that were read; NULL
// when there is no memory. Belongs to the scene.
const char *rp_scene_take_file(rp_scene *scene, const char *name);

// The collider of that name that was said before `before`; NULL: none.
const scene_call *rp_scene_find_collider(const rp_scene *scene, const char *name,
                                         const scene_call *before);
// A body of particles and its number, which is that of its velocity field.
typedef struct scene_body {
    const char *name;
    int number; // of a body in pieces, that of the first
    int pieces; // velocity fields from `number` on, where the name means all of them; else 0
    const struct scene_fracture *fracture; // that breaks it, or NULL
} scene_body;
// A body that breaks.
typedef struct scene_fracture {
    const scene_call *call;
    rp_cut *cut;
    char (*name)[RP_NAME_SIZE]; // [pieces]
} scene_fracture;
void rp_scene_free_fractures(rp_scene *scene);
// Cut the bodies that break; before they are numbered, after shapes are made.
rp_result rp_scene_cut_bodies(rp_scene *scene);
// Number the bodies in the order in which the scene names them first; refuse contacts of bodies
// that nobody has, pairs that are named twice, and bodies that lie in each other; warn of
// particles of one body that do. After shapes are made.
rp_result rp_scene_check_bodies(rp_scene *scene);
// How deep two shapes lie in each other [m], and where; 0: they do not.
double rp_scene_overlap(const rp_scene *scene, const rp_shape *a, const rp_shape *b,
                        double where[3]);
// Does a contact name a body that is in pieces?
bool rp_scene_names_all(const rp_scene *scene, const scene_call *contact);
// NULL: there is none of this name.
const scene_body *rp_scene_find_body(const rp_scene *scene, const char *name);

// The same among colliders and rigid bodies; `before` NULL: among all of them.
const scene_call *rp_scene_find_solid(const rp_scene *scene, const char *name,
                                      const scene_call *before);
// Cells after which space repeats, 0 for an open axis, -1 when the domain's sides do not allow it.
int rp_scene_period(const rp_scene *scene, const scene_call *domain, int axis);
// A block of the grid has this many cells along an axis, and a period is made of whole blocks.
int rp_scene_block_cells(const rp_scene *scene, int axis);

// Warn of what is not wrong but hardly meant: angles that look like radians, a scene that looks as
// if z were up in it.
void rp_scene_doubt(const rp_scene *scene);

// The scene as JSON, released with free(); NULL when there is no memory.
char *rp_scene_resolve(const rp_scene *scene);

// What a call asks of a method, as 1ull << rp_feature.
uint64_t rp_scene_features(const scene_call *call);
// Refuses what the method cannot simulate; one remark names all that it has no use for.
rp_result rp_scene_check_features(const rp_scene *scene, const rp_method_info *method);
