// Shapes to test with, each with its own idea of what is inside and where its surface is.
#pragma once

#include "repose/shape.h"

#include "random.h"

#define PI 3.14159265358979323846

enum { SAMPLES = 4000 }; // random places to look at

// All lie within the cube from -1 to 1. `inside` is written down anew, from the definition; `on`
// gives a point of the surface from two numbers in [0, 1).
typedef struct specimen {
    const char *name;
    rp_result (*make)(rp_shape **);
    bool (*inside)(const double x[3]);
    void (*on)(double u, double v, double x[3]);
    double volume; // by formula; 0: infinite
} specimen;

enum { SPECIMENS = 13 };
extern const specimen specimens[SPECIMENS];

// The shape that the test needs: without it there is nothing to test.
rp_shape *must(rp_result result, rp_shape *shape);
rp_shape *made(rp_result (*make)(rp_shape **));

// Two of them that tests name.
rp_result make_hills(rp_shape **s);
rp_result make_pill(rp_shape **s);

double square(double x);
// A point of a polyline, by the share of its length.
void on_line(const double (*p)[2], int points, double u, double out[2]);
// out = x + by n
void step(const double x[3], double by, const double n[3], double out[3]);
// In the cube from -1 to 1.
void random_place(uint64_t *random, double x[3]);
// A volume, and in 2D an area, against the share of random places that lie inside.
void compare_volumes(const rp_shape *shape, uint64_t *random);
