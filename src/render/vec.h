// Small vectors in single precision: places on the stage, directions, linear colours.
#pragma once

#include <math.h>

typedef struct vec {
    float x, y, z;
} vec;

static inline vec vec_of(const float v[3]) { return (vec){v[0], v[1], v[2]}; }
static inline vec vec_add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec vec_sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vec vec_mul(vec a, vec b) { return (vec){a.x * b.x, a.y * b.y, a.z * b.z}; }
static inline vec vec_scale(float s, vec a) { return (vec){s * a.x, s * a.y, s * a.z}; }
// a + s b
static inline vec vec_along(vec a, float s, vec b)
{
    return (vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline vec vec_mix(vec a, vec b, float t) { return vec_along(a, t, vec_sub(b, a)); }
static inline float vec_dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline float vec_length(vec a) { return sqrtf(vec_dot(a, a)); }
static inline vec vec_unit(vec a) { return vec_scale(1.0f / vec_length(a), a); }
static inline vec vec_cross(vec a, vec b)
{
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline float vec_most(vec a)
{
    const float m = a.x > a.y ? a.x : a.y;
    return m > a.z ? m : a.z;
}

// Two unit vectors at right angles to the unit vector n and to each other.
static inline void vec_frame(vec n, vec *a, vec *b)
{
    const vec other = fabsf(n.y) < 0.9f ? (vec){0, 1, 0} : (vec){1, 0, 0};
    *a = vec_unit(vec_cross(other, n));
    *b = vec_cross(n, *a);
}

static inline float clampf(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}
// From 0 at `low` to 1 at `high`, without corners.
static inline float smoothly(float low, float high, float x)
{
    const float t = clampf((x - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}
