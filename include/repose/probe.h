// SPDX-License-Identifier: Apache-2.0
// Probes: what passes at a point, through a plane or with a particle while a world steps. They only
// look: a world computes the same with them and without.
//
// A run reads each every so many seconds of simulated time, at the end of the first step that
// reaches it, and writes what it read to probes.csv.
#pragma once

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rp_probe_kind {
    RP_PROBE_POINT,    ///< means over the particles around a point
    RP_PROBE_PLANE,    ///< mass that crosses a plane
    RP_PROBE_PARTICLE, ///< one particle, wherever it goes
} rp_probe_kind;

enum { RP_PROBE_NAME = 32 }; ///< bytes of a name, its end included

typedef struct rp_probe_def {
    rp_probe_kind kind;
    const char *name; ///< letters, digits and _; no other probe's; NULL: its number
    double point[3];  ///< where it is, or a point of the plane [m]
    double normal[3]; ///< of the plane, of any length but 0: what goes along with it counts as more
    /// Of a point: how far it looks along each axis [m]; 0: 2 dx. Of a plane: what crosses it
    /// within this distance of `point` counts; 0: all of it.
    double radius;
    uint64_t particle; ///< id
    double every;      ///< time between readings [s]; 0: after every step
    uint32_t cookie;
} rp_probe_def;
RP_API rp_probe_def rp_default_probe_def(void);

RP_API rp_result rp_world_add_probe(rp_world *world, const rp_probe_def *def);
RP_API int rp_world_probes(const rp_world *world);
/// @param index 0 to rp_world_probes() - 1; the name belongs to the world
RP_API void rp_world_probe(const rp_world *world, int index, rp_probe_def *out);

/// What a probe reads; NAN where it does not know: what a kind has not, what is of particles where
/// there are none. docs/run-folder.md has the formulas.
typedef struct rp_probe_reading {
    double position[3]; ///< of the point, of the plane's point, of the particle [m]
    double velocity[3]; ///< of the particle, or the mean by mass around the point [m/s]
    double density;     ///< of the particle, or mass per volume around the point [kg/m^3]
    double stress[6];   ///< Cauchy xx yy zz xy xz yz [Pa], of a point the mean by volume
    double pressure;    ///< of that stress [Pa]
    double flux;        ///< through the plane along its normal [kg/s]; in 2D per metre, as below
    double passed;      ///< the same summed over all steps so far [kg]
} rp_probe_reading;
/// Reads as of the last step. Particles that wait to be born do not count.
RP_API rp_result rp_world_read_probe(const rp_world *world, int index, rp_probe_reading *out);

#ifdef __cplusplus
}
#endif
