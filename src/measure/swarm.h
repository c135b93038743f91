// The particles of a frame as plain arrays, and what can be read off them. Everything here is a
// function of the swarm alone, so that tests can make swarms of which the answers are known.
#pragma once

#include <repose/repose.h>

typedef struct rp_swarm {
    rp_frame_info info;
    rp_batch batch; // to which all arrays belong; what was not wanted is NULL
    int64_t count;
    bool z_up;               // else y is
    double (*x)[3], (*v)[3]; // [m], [m/s]; 0 along the third axis in 2D
    double *mass, *volume;   // [kg], [m^3] at rest
    double *log_ratio;       // of the volume to that at rest
    double (*stress)[6];     // Cauchy: xx yy zz xy xz yz [Pa]; zz in 2D is that of plane strain
    uint64_t *id;
    double *number; // that was asked for by its name
} rp_swarm;

// Which particles, and what of them besides `want` of rp_read.
typedef struct rp_swarm_choice {
    const char *species; // the name of one; NULL: all
    const char *number;  // of rp_reader_values; NULL: none
} rp_swarm_choice;

// @param want of rp_read
rp_result rp_swarm_make(int64_t count, unsigned want, rp_swarm *out);
// Without those that the next step removes, and with a warning without those that are nowhere.
// @param choice NULL: all
rp_result rp_swarm_read(rp_reader *reader, unsigned want, const rp_swarm_choice *choice,
                        rp_swarm *out);
void rp_swarm_free(rp_swarm *swarm);

// places[i] is where the particle of swarm `a` at i is in swarm `b`, or -1. The caller frees it.
rp_result rp_swarm_match(const rp_swarm *a, const rp_swarm *b, int64_t **places);

// The value that a share of the numbers does not exceed, linear in between; sorts them. NAN of
// none.
double rp_quantile(double *value, int64_t count, double share);

// Along what something is measured: 0, 1, 2 an axis, 3 the distance from the upright axis through
// an origin (in 2D from the upright line).
enum { RP_ALONG_RADIUS = 3 };
double rp_along(const rp_swarm *swarm, int64_t i, int along, const double origin[3]);

typedef struct rp_runout {
    double low, high;   // quantiles of 1 - share and share; of a radius 0 and share
    double least, most; // of all
} rp_runout;
rp_result rp_swarm_runout(const rp_swarm *swarm, int along, const double origin[3], double share,
                          rp_runout *out);

// Columns of width `width` along an axis or a radius.
typedef struct rp_bins {
    double first, width; // [m]
    int count;
} rp_bins;
// From the least to the most, on multiples of the width.
rp_bins rp_swarm_bins(const rp_swarm *swarm, int along, const double origin[3], double width);
// -1: in none
int rp_bin_of(const rp_bins *bins, double place);

typedef struct rp_column_height {
    double place; // middle of the column [m]
    double top;   // quantile of the heights above the floor [m]; NAN when there is none
    double solid; // volume at rest over the area [m]
    int64_t particles;
} rp_column_height;
// @param depth extent across a level 3D profile [m]; 0: that of the swarm
rp_result rp_swarm_profile(const rp_swarm *swarm, int along, const double origin[3],
                           const rp_bins *bins, double share, double depth, rp_column_height *out);

typedef struct rp_slope {
    double slope; // falls this much per metre
    double r2;    // share of the variance that the line explains
    double crest; // highest column [m]
    int columns;  // that the line was fitted to
} rp_slope;
// A line through columns between two shares of the crest's height, on the side of greater places
// (side > 0) or of smaller ones.
void rp_profile_slope(const rp_column_height *column, int columns, double from, double to, int side,
                      rp_slope *out);

typedef struct rp_roundness {
    double mean;      // of the sectors' radii [m]
    double deviation; // their standard deviation over the mean
    double cos4;      // amplitude of their fourfold part over the mean
    int empty;        // sectors without particles
} rp_roundness;
// Radii are quantiles; `radius` has room for all sectors.
rp_result rp_swarm_roundness(const rp_swarm *swarm, const double origin[3], double share,
                             int sectors, double *radius, rp_roundness *out);

// The best of all bodies at once, by mass. Marks without mass are left out.
// @param places of the particles of `now` in `then`
// @param away what is farther from where the body takes it has left it [m]
rp_result rp_swarm_fit(const rp_swarm *now, const rp_swarm *then, const int64_t *places, int bodies,
                       double away, rp_fit *fit);

typedef struct rp_bulk {
    double solid;   // sum of current volumes [m^3]
    double bulk;    // of upright columns of a cell, up to the highest particle and half a spacing
    double densest; // most particles in a cell, over what their volume at rest would allow
} rp_bulk;
rp_result rp_swarm_bulk(const rp_swarm *swarm, double floor, rp_bulk *out);

// The axis that points up, and that which is level and not x.
static inline int rp_swarm_up(const rp_swarm *swarm) { return swarm->z_up ? 2 : 1; }
static inline int rp_swarm_level(const rp_swarm *swarm) { return swarm->z_up ? 1 : 2; }
