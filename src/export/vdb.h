// What the plugin repose-vdb.so offers. It is C++ for the sake of OpenVDB, lies beside the program,
// and is opened only when a vdb is asked for: a build or a machine without OpenVDB can do all else.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RP_VDB_VERSION = 2 };

typedef struct rp_vdb_particles {
    int64_t count;
    const double (*position)[3]; // [m]
    const float (*velocity)[3];  // [m/s]
    const float *radius, *mass;  // [m], [kg]
    const uint16_t *material;    // of each
    // each material with a name gets grids of its own besides those of all; NULL: no names
    const char *const *name;
    int materials;
    double voxel;     // [m]
    double time, fps; // [s], [1/s]
    int64_t frame;
    int z_up;
} rp_vdb_particles;

typedef struct rp_vdb_plugin {
    int version;
    // 0, or -1 with a sentence in `why`
    int (*write)(const char *path, const rp_vdb_particles *particles, char *why, size_t size);
} rp_vdb_plugin;

// The one name that the plugin exports.
const rp_vdb_plugin *rp_vdb_plugin_get(void);

#ifdef __cplusplus
}
#endif
