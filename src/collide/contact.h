// The law of contact at a node (docs/theory.md, section 5).
#pragma once

#include "repose/collider.h"

// The velocity of a node at signed distance phi (negative: inside the wall) after contact over a
// step dt. One law for every collider: the caller passes velocities relative to it.
void rp_contact_resolve(rp_contact contact, double friction, const double normal[3], double phi,
                        double dt, double v[3]);
