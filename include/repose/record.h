// SPDX-License-Identifier: Apache-2.0
// What a run's folder says besides its frames: the camera, materials, and colliders with their
// meshes and the way they went. For whoever shows or converts a run; nothing here locks or writes.
#pragma once

#include "skin.h"
#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_record rp_record;

typedef struct rp_record_info {
    char title[128];
    int dimension;
    double fps;                     ///< frames per second of simulated time [1/s]
    int64_t last;                   ///< the highest number of a frame; -1: there is none
    int up;                         ///< the axis that points up: 1 for y, 2 for z
    bool has_camera;                ///< the scene has one
    double eye[3], look_at[3], fov; ///< [m], [m], [rad] from bottom to top
    int materials, colliders;
    int bodies; ///< velocity fields that it has names of; 0 in older folders
} rp_record_info;

/// @param[out] record released with rp_record_close(); NULL on failure
/// @return RP_ERR_FILE when the folder holds no run
RP_API rp_result rp_record_open(const char *folder, rp_record **record);
RP_API void rp_record_close(rp_record *record);
/// The axis that points up in the run of a folder, or in that which a frame lies in, without
/// reading more of it; 1 where nothing says.
RP_API int rp_record_up(const char *path);
RP_API void rp_record_get_info(const rp_record *record, rp_record_info *out);

/// Where a frame is. @return false when the folder has no such frame
RP_API bool rp_record_frame(const rp_record *record, int64_t frame, char *path, size_t size);

/// @param index 0 to rp_record_info.materials - 1
RP_API const rp_material_def *rp_record_material(const rp_record *record, int index);

/// The name of a body of particles: "rest" for 0.
/// @param index 0 to rp_record_info.bodies - 1
RP_API const char *rp_record_body(const rp_record *record, int index);

/// The surface of a body that is a piece of one that may break, as it was cut: where it was before
/// the first step.
/// @param[out] surface released with rp_surface_free(); without vertices where it is no such piece
RP_API rp_result rp_record_piece(const rp_record *record, int body, rp_surface *surface);

/// The colour that the scene gives to its grains.
/// @param[out] rgb sRGB, 0 to 1; untouched where there is none
/// @return false: they have the colours of sand, or there is no such material
RP_API bool rp_record_material_color(const rp_record *record, int index, double rgb[3]);

/// A collider as pictures want it: the mesh stands where the pose is (0, 0, 0) unturned.
typedef struct rp_record_collider {
    char name[RP_NAME_SIZE];
    int number; ///< counted from 0 in the order of the scene, as in forces.csv
    rp_look look;
    double color[3]; ///< sRGB, 0 to 1
    bool moves;
    bool deforms;       ///< rp_record_surface() says how
    rp_surface surface; ///< belongs to the record; of one that deforms, as it is at first
} rp_record_collider;
/// @param index 0 to rp_record_info.colliders - 1
RP_API const rp_record_collider *rp_record_collider_at(const rp_record *record, int index);

/// How one that deforms goes on: where the vertices of its surface are at several times, and
/// straight on in between.
typedef struct rp_record_sequence {
    int64_t count;      ///< of times
    double fps, start;  ///< times in a second, and when the first one is [s]
    bool loop;          ///< after the last comes the first again; else it stays as in the last
    float (*vertex)[3]; ///< [count][surface.vertices]; belongs to the record
} rp_record_sequence;
/// @return false when the collider does not deform
RP_API bool rp_record_sequence_of(const rp_record *record, int collider, rp_record_sequence *out);
/// The surface of a collider as it is at a frame, or in between, where its pose is (0, 0, 0).
/// @param[out] surface released with rp_surface_free()
RP_API rp_result rp_record_surface(const rp_record *record, int collider, double frame,
                                   rp_surface *surface);

/// Where a collider is at a frame, or in between.
RP_API rp_pose rp_record_pose(const rp_record *record, int collider, double frame);
/// Walls of water: half-spaces, where they are at a frame.
/// @param record NULL: there are none
/// @param over how far water reaches into those that are not hidden [m]
/// @param[out] wall released with free(); NULL on failure
RP_API rp_result rp_record_walls(const rp_record *record, int64_t frame, double over,
                                 rp_skin_wall **wall, int *walls);
/// The faces of boxes, likewise.
/// @param[out] face released with free(); NULL on failure
RP_API rp_result rp_record_faces(const rp_record *record, int64_t frame, rp_skin_face **face,
                                 int *faces);

#ifdef __cplusplus
}
#endif
