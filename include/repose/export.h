// SPDX-License-Identifier: Apache-2.0
// Frames of a run as files that other programs open. docs/export.md has the names and units in
// each.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rp_format {
    RP_FORMAT_VTP,  ///< ParaView: a file per frame, with .pvd and .vtp.series
    RP_FORMAT_PLY,  ///< Blender from 4.1 on, Houdini: binary, a file per frame
    RP_FORMAT_VDB,  ///< OpenVDB: density, velocity and a level set, a file per frame
    RP_FORMAT_USDA, ///< USD: points with time samples, or a file per frame with value clips
    RP_FORMAT_CSV,  ///< a table per frame
} rp_format;

typedef struct rp_export_def {
    rp_format format;
    int64_t first, last; ///< frames; -1 as the last: the run's last
    int64_t every;       ///< each frame, each second one, ...
    const char *columns; ///< besides position, velocity, id and radius: names with commas between;
                         ///< NULL: all for vtp and csv, none for others
    int up;              ///< turn everything so that y (1) or z (2) points up; 0: as in the run
    double voxel;        ///< of a vdb [m]; 0: half a cell of the grid
    bool pieces;         ///< of bodies that may break as meshes with poses; particles are then only
                         ///< those of other bodies, and debris that has left its piece
    double away;         ///< farther than this from where its piece takes it is debris [m]; 0: dx
    bool surface;        ///< ply: that of water as a mesh besides, a file per frame
    bool clips;          ///< usda: a file per frame, however small they are
    /// Called when a frame is finished; may be NULL.
    void (*progress)(void *context, int64_t done, int64_t frames);
    /// Asked now and then: once it says true the export ends with RP_ERR_STOPPED; files that are
    /// whole stay. May be NULL.
    bool (*stop)(void *context);
    void *context;   ///< of both
    uint32_t cookie; ///< filled in by rp_default_export_def()
} rp_export_def;

/// All frames as vtp, up as in the run.
RP_API rp_export_def rp_default_export_def(void);

/// Write frames of the run in `folder` into the folder `out`, which is made where needed. Each file
/// is whole or as it was.
/// @return RP_ERR_UNSUPPORTED for vdb in a build without OpenVDB
RP_API rp_result rp_export(const char *folder, const rp_export_def *def, const char *out);

#ifdef __cplusplus
}
#endif
