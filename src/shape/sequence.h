// Surfaces that deform. A sequence is a shape like others: it never changes, and holds where the
// vertices of its triangles are at several times. What changes is a morph, which everyone who lets
// a sequence play has of his own: the surface at the start and at the end of a step.
//
// Distances are exact, by the nearest triangle at the start of the step; in the step each place of
// a triangle moves as its corners do. The side of a closed surface is told by the normal of what is
// nearest: of a triangle, of the two at an edge, or of all around a vertex, weighted by their
// angles, which gives the right side for any closed surface that does not cut itself (J. A.
// Baerentzen and H. Aanaes, 2005).
#pragma once

#include "shape/class.h"

// Is it one? Nothing else deforms, and operators take none.
bool rp_shape_deforms(const rp_shape *shape);
// A sentence for whoever wants a shape that stays as it is; `name` is "sink.shape".
rp_result rp_shape_check_still(const char *name, const rp_shape *shape);

typedef struct rp_morph rp_morph;

// As it is at its start, at rest.
// @param shape a sequence, which the morph keeps
rp_result rp_morph_make(const rp_shape *shape, rp_morph **out);
void rp_morph_free(rp_morph *morph);
// In a step from t to t + dt.
void rp_morph_move(rp_morph *morph, double t, double dt);
// The step is over: it starts where it has ended.
void rp_morph_end_step(rp_morph *morph);
// Distance at the start of the step, with the way out and the place that is nearest.
double rp_morph_look(const rp_morph *morph, const double x[3], double normal[3],
                     rp_mesh_spot *spot);
// How far a place moves in the step [m].
void rp_morph_way(const rp_morph *morph, const rp_mesh_spot *spot, double out[3]);
// A box around it, anywhere in the step.
void rp_morph_bounds(const rp_morph *morph, double lower[3], double upper[3]);
// How far any vertex goes in the step, of those that come into this box [m].
double rp_morph_longest_way(const rp_morph *morph, const double lower[3], const double upper[3]);

// What is known of a sequence, for whoever draws it.
typedef struct rp_sequence_info {
    int count;
    double fps, start;
    bool loop;
} rp_sequence_info;
rp_sequence_info rp_sequence_info_of(const rp_shape *shape);
// Its surface at one of its times, into an empty mesh: the same triangles at all of them.
rp_result rp_sequence_surface(const rp_shape *shape, int index, rp_mesh *out);
