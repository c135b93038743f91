// SPDX-License-Identifier: Apache-2.0
// Bodies that break: cuts through a body, and glue on the cuts that holds the pieces together.
//
//     rp_cut_def cut_def = rp_default_cut_def(); // a plane, some, a zigzag, cells, a shape
//     rp_cut_create(&cut_def, &cut);             // def.fields has room for its pieces
//     particles.cut = cut;                       // fields from particles.field on
//     rp_world_add_particles(world, &particles, NULL);
//     rp_glue_def glue = rp_default_glue_def();
//     glue.cut = cut, glue.strength[0] = glue.strength[1] = 10e3;
//     rp_world_add_glue(world, &glue, NULL);
#pragma once

#include "shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rp_world rp_world;

/// What a body is cut by.
typedef enum rp_cut_kind {
    RP_CUT_PLANES,  ///< one or more, each through the whole body
    RP_CUT_ZIGZAG,  ///< a plane folded into teeth with flanks of 45 degrees
    RP_CUT_VORONOI, ///< what is nearest to each of some sites is a piece
    RP_CUT_SHAPE,   ///< what is inside of a shape, and what is not
} rp_cut_kind;

/// How a body is cut into pieces.
typedef struct rp_cut_def {
    rp_cut_kind kind;
    int dimension;
    const rp_shape *const *shape; ///< [shapes] that the body is made of; held by the cut
    int shapes;
    double spacing;            ///< of its particles [m]: pieces that are much smaller are not found
    const double (*point)[3];  ///< [count] of planes, of the zigzag, or sites of cells [m]
    const double (*normal)[3]; ///< [count] of planes and of the zigzag, of any length but 0
    /// Planes or sites. Without `point`, so many sites are placed in the body by `seed`, each as
    /// far from the others as the best of some tries.
    int count;
    double tooth;           ///< of a zigzag, from the bottom of a tooth to its tip [m]
    double along[3];        ///< of a zigzag: where teeth follow each other
    const rp_shape *cutter; ///< of RP_CUT_SHAPE
    uint64_t seed;
    uint32_t cookie;
} rp_cut_def;

/// A plane across x through the origin, in 3D.
RP_API rp_cut_def rp_default_cut_def(void);

/// A body in pieces. It never changes once it is made.
typedef struct rp_cut rp_cut;
/// @param[out] cut released with rp_cut_destroy(); NULL on failure
/// @return RP_ERR_ARGUMENT also where a cut misses the body
RP_API rp_result rp_cut_create(const rp_cut_def *def, rp_cut **cut);
/// Give a reference back; the last one frees the cut. NULL is fine.
RP_API void rp_cut_destroy(rp_cut *cut);
/// One more reference to the same cut. @return the cut
RP_API rp_cut *rp_cut_retain(const rp_cut *cut);
/// How many pieces there are, at least 2.
RP_API int rp_cut_pieces(const rp_cut *cut);
/// The piece that a place belongs to, 0 to rp_cut_pieces() - 1.
RP_API int rp_cut_piece(const rp_cut *cut, const double x[3]);
/// A piece as a shape, for its surface and its volume. It holds the cut.
/// @param piece 0 to rp_cut_pieces() - 1
/// @param[out] shape released with rp_shape_release(); NULL on failure
RP_API rp_result rp_cut_shape(const rp_cut *cut, int piece, rp_shape **shape);

/// A patch of the surface between two pieces.
typedef struct rp_cut_patch {
    double x[3];      ///< its middle [m]
    double normal[3]; ///< of length 1, from the first piece to the second
    double area;      ///< [m^2], in 2D of a slice one metre thick
    int piece[2];     ///< the first is the lower
    int plane;        ///< of RP_CUT_PLANES, which of them; else 0
} rp_cut_patch;
typedef rp_result (*rp_cut_visit)(void *context, const rp_cut_patch *patch);
/// Calls `visit` for every patch of the cuts inside the body, in the same order every time, and
/// ends when it fails.
/// @param spacing of patches [m]
/// @param open where there are none; may be NULL
RP_API rp_result rp_cut_scatter(const rp_cut *cut, double spacing, const rp_shape *open,
                                rp_cut_visit visit, void *context);

/// When glue breaks.
typedef enum rp_criterion {
    RP_CRITERION_TRACTION, ///< by the stress across the cut [Pa] (docs/theory.md, section 23)
    RP_CRITERION_PAPER,    ///< by the force between nodes [N], Wretborn (2017) (20) to (22), mended
} rp_criterion;

/// Glue on the cuts of a body.
typedef struct rp_glue_def {
    const rp_cut *cut;
    int field; ///< of the first piece; the others follow
    /// That it withstands across the cut, drawn evenly from one to the other: [Pa], or [N] where
    /// the criterion is the paper's.
    double strength[2];
    const double (*strengths)[2]; ///< [planes of the cut] instead; NULL: all are alike
    double shear;                 ///< that it withstands along the cut, as a share of its strength
    double friction; ///< pressure across the cut adds so much of it to what it withstands along it
    /// How far a cut opens or slides until nothing is left of its strength, which falls in
    /// proportion [m]; 0: it breaks at once.
    double softening;
    rp_criterion criterion;
    const rp_shape *open; ///< where there is none; may be NULL
    double spacing;       ///< of particles of glue [m]; 0: half of dx
    uint64_t seed;        ///< of strengths
    const char *name;     ///< for messages and frames; copied; NULL: "glue"
    bool bare;            ///< no particles: for a world that a state will be restored into
    uint32_t cookie;
} rp_glue_def;

/// As strong along the cut as across it, no friction, by traction.
RP_API rp_glue_def rp_default_glue_def(void);
/// @param[out] added particles of glue; may be NULL
/// @return on failure the world is exactly as it was
RP_API rp_result rp_world_add_glue(rp_world *world, const rp_glue_def *def, int64_t *added);

/// What broke between two pieces in a step.
typedef struct rp_crack_row {
    double time;             ///< at the start of the step [s]
    int32_t body[2];         ///< fields, the first is the lower
    int64_t glue;            ///< particles of it
    double area;             ///< that they stood for [m^2]
    double kinetic, elastic; ///< that the whole world lost in that step [J]
} rp_crack_row;
/// What broke since this was last asked, in the order of time and pairs; it is forgotten then. A
/// run takes it, too, for cracks.csv.
/// @param[out] out of `most` rows; what does not fit stays. @return how many
RP_API int64_t rp_world_take_cracks(rp_world *world, rp_crack_row *out, int64_t most);

#ifdef __cplusplus
}
#endif
