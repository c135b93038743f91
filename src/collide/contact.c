#include "collide/contact.h"

#include <math.h>

void rp_contact_resolve(rp_contact contact, double friction, const double normal[3], double phi,
                        double dt, double v[3])
{
    if (contact == RP_STICKY) {
        if (phi <= 0.0) {
            v[0] = v[1] = v[2] = 0.0;
        }
        return;
    }
    const double vn = v[0] * normal[0] + v[1] * normal[1] + v[2] * normal[2];
    double push = 0.0; // change of the normal velocity that the wall causes
    if (contact == RP_SEPARATE) {
        // phi(x') >= min(phi(x), 0)
        const double least = phi > 0.0 ? -phi / dt : 0.0;
        push = vn < least ? least - vn : 0.0;
    } else if (phi <= 0.0) {
        push = -vn;
    }
    if (push == 0.0) {
        return;
    }
    double t[3], t2 = 0.0;
    for (int a = 0; a < 3; a++) {
        t[a] = v[a] - vn * normal[a];
        t2 += t[a] * t[a];
    }
    // friction takes at most friction * |push| and never reverses the slip
    const double slip = sqrt(t2), bite = friction * fabs(push);
    const double kept = slip > bite ? 1.0 - bite / slip : 0.0;
    for (int a = 0; a < 3; a++) {
        v[a] = kept * t[a] + (vn + push) * normal[a];
    }
}
