// SPDX-License-Identifier: Apache-2.0
// Scenes: a Lua file in, a world out. docs/scene.md lists every word.
#pragma once

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_scene rp_scene;

/// A value for param(NAME, ...), as --set NAME=VALUE gives it.
typedef struct rp_scene_param {
    const char *name, *value;
} rp_scene_param;

typedef struct rp_scene_def {
    const char *path; ///< of the file; messages name it
    /// Where files that the script names are, such as those of height fields; NULL: in the folder
    /// of `path`.
    const char *folder;
    const char *text; ///< the script, when it does not come from the file; NULL: read the file
    size_t text_size; ///< bytes of it
    const rp_scene_param *param;
    int params;
    const char *method; ///< replaces scene.method; NULL: as the scene says
    size_t memory;      ///< bytes that Lua may use; 0: 256 MiB
    /// Processor time that the script, and a function of it, may take.
    double load_seconds, call_seconds;
    /// Asked now and then while the script or one of its functions runs: once it says true, they
    /// end with RP_ERR_STOPPED, and so does the call that needed them. NULL: they go on.
    bool (*stop)(void *context);
    void *stop_context;
    uint32_t cookie;
} rp_scene_def;

/// 256 MiB, 10 s for the script and 1 s for a call; the path must be set.
RP_API rp_scene_def rp_default_scene_def(void);

/// Run the script and check everything it says. What a def points to is copied.
/// @param[out] scene owned by the caller; NULL on failure
RP_API rp_result rp_scene_load(const rp_scene_def *def, rp_scene **scene);
/// Worlds made from the scene call its functions: destroy them first.
RP_API void rp_scene_free(rp_scene *scene);

typedef enum rp_frame_state { RP_STATE_ALL, RP_STATE_LATEST } rp_frame_state;

typedef struct rp_scene_info {
    int dimension; ///< 2 or 3
    rp_precision precision;
    int order; ///< of the splines
    rp_gradient gradient;
    bool energy;       ///< see rp_world_def.energy
    const char *title; ///< belongs to the scene, as all pointers here
    const char *method;
    int64_t frames;
    double fps;
    double settle;        ///< see rp_run_def.settle [s]
    double energy_limit;  ///< see rp_run_def.energy_limit
    rp_frame_state state; ///< which frames keep all that a restart needs
    int up;               ///< the axis that points up: 1 for y, 2 for z
    bool has_camera;
    double eye[3], look_at[3], fov; ///< [m], [m], [rad] from bottom to top
} rp_scene_info;
RP_API void rp_scene_get_info(const rp_scene *scene, rp_scene_info *out);

/// The scene with every default filled in, as JSON. Belongs to the scene.
RP_API const char *rp_scene_resolved(const rp_scene *scene);
/// The script as it was read; resuming runs it again. Belongs to the scene.
RP_API const char *rp_scene_text(const rp_scene *scene, size_t *size);

/// Files that the script made the loader read (meshes, height fields), besides itself. Beside a
/// script NAME.lua they are looked for in NAME.files first: there a run keeps copies of them.
RP_API int rp_scene_files(const rp_scene *scene);
/// Its path; the name that the script gave it; where a copy belongs, below NAME.files. NULL behind
/// the last.
RP_API const char *rp_scene_file(const rp_scene *scene, int index);
RP_API const char *rp_scene_file_name(const rp_scene *scene, int index);
RP_API const char *rp_scene_file_copy(const rp_scene *scene, int index);

typedef struct rp_scene_world_def {
    int threads;                   ///< 0: as many as the process may use
    const rp_allocator *allocator; ///< NULL: the library's own
    size_t memory;                 ///< see rp_world_def.memory
    bool plan;                     ///< see rp_world_def.plan
    bool empty;                    ///< without the particles: their state will be restored
    const rp_gradient *gradient;   ///< in place of what the scene, resolved or not, says; NULL
    uint32_t cookie;
} rp_scene_world_def;
RP_API rp_scene_world_def rp_default_scene_world_def(void);

/// Materials, particles and colliders as the scene describes them.
/// @param[out] world owned by the caller; NULL on failure
RP_API rp_result rp_scene_create_world(rp_scene *scene, const rp_scene_world_def *def,
                                       rp_world **world);

/// The reference of all words as Markdown, made from the same table as the checks.
/// @return released with free(); NULL when there is no memory
RP_API char *rp_scene_reference(void);

#ifdef __cplusplus
}
#endif
