#include "view/lattice.h"

#include <math.h>
#include <string.h>

static const double STEP = 4096.0;    // units that the origin jumps by
static const double PLACES = 65534.0; // the last code
static const double LARGEST = 1e300;  // sums and differences of such are finite

rp_lattice rp_lattice_for(double low, double high)
{
    if (!(low >= -LARGEST && high <= LARGEST && low <= high)) {
        return (rp_lattice){0.0, 1.0};
    }
    // the extent, or what a double can still tell apart around the value
    const double extent = fmax(high - low, fmax(fmax(fabs(low), fabs(high)) * 0x1p-32, 0x1p-900));
    const double unit = exp2(ceil(log2(extent / (PLACES - STEP - 1.0))));
    return (rp_lattice){floor(low / (STEP * unit)) * (STEP * unit), unit};
}

uint16_t rp_lattice_code(const rp_lattice *lattice, double value)
{
    const double place = (value - lattice->origin) / lattice->unit;
    return place > -0.5 && place < PLACES + 0.5 ? (uint16_t)(place + 0.5) : RP_CODE_NONE;
}

double rp_lattice_value(const rp_lattice *lattice, uint16_t code)
{
    return code == RP_CODE_NONE ? NAN : lattice->origin + lattice->unit * (double)code;
}

bool rp_lattice_same(const rp_lattice *a, const rp_lattice *b)
{
    return a->origin == b->origin && a->unit == b->unit;
}

int64_t rp_changed_blocks(const uint16_t *before, const uint16_t *now, int64_t count, int comps,
                          uint32_t *changed)
{
    int64_t found = 0;
    for (int64_t first = 0; first < count; first += RP_BLOCK) {
        const int64_t size = count - first < RP_BLOCK ? count - first : RP_BLOCK;
        if (memcmp(before + first * comps, now + first * comps,
                   (size_t)(size * comps) * sizeof *now) != 0) {
            changed[found++] = (uint32_t)(first / RP_BLOCK);
        }
    }
    return found;
}
