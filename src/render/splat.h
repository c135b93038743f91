// Points as small lit spheres on a light ground, seen by a pinhole camera.
//
// A cloud is filled part by part and closed; then the view is completed from it and the picture
// drawn. All numbers in a cloud are finite, so nothing below has to look out for others.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RP_FARTHEST 1e9 // points beyond are left out [m]

typedef struct rp_vec3 {
    double x, y, z;
} rp_vec3;

typedef struct rp_cloud {
    rp_vec3 *point;       // [m]
    unsigned char *grain; // which of the colours
    size_t count, room;
    bool flat;            // a 2D world, best seen and lit from the front
    rp_vec3 lower, upper; // bounds, once closed; of a metre around the origin when there is none
} rp_cloud;

typedef struct rp_view {
    int width, height; // of the picture [pixels]
    rp_vec3 eye, look; // camera and what it looks at [m]; y is up
    double fov;        // vertical [rad]
    double radius;     // of each point [m]
} rp_view;

// @return false when there is not enough memory
bool rp_cloud_open(rp_cloud *cloud, int64_t room, bool flat);
void rp_cloud_free(rp_cloud *cloud);
// Takes in what is finite. Ids decide the colour; without them numbers from `first` on do.
void rp_cloud_add(rp_cloud *cloud, const double (*position)[3], const uint64_t *id, int64_t first,
                  int64_t count);
void rp_cloud_close(rp_cloud *cloud);

// The middle of the bounds.
rp_vec3 rp_cloud_middle(const rp_cloud *cloud);
// A radius that makes sand look closed, from the distance between neighbours [m].
double rp_cloud_radius(const rp_cloud *cloud);

// Set eye and look so that all points are in the picture, seen from a little above or, when flat,
// from the front. Wants the other fields to be set.
void rp_view_aim(rp_view *view, const rp_cloud *cloud);

// Draw into rgb[height][width][3], which is sRGB. Wants eye and look to be apart.
// @return false when there is not enough memory
bool rp_view_draw(const rp_view *view, const rp_cloud *cloud, unsigned char *rgb);
