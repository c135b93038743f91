#include "render/tone.h"

float rp_linear_of(float srgb)
{
    return srgb <= 0.04045f ? srgb / 12.92f : powf((srgb + 0.055f) / 1.055f, 2.4f);
}

float rp_srgb_of(float linear)
{
    return linear <= 0.0031308f ? 12.92f * linear : 1.055f * powf(linear, 1.0f / 2.4f) - 0.055f;
}

// A rational curve with a slope below 1 at 0 (the toe), a middle grey of 0.18 that stays where it
// is, and 1 as its limit.
static float film(float x)
{
    const float lift = 0.26f, bend = 0.62f, toe = 0.30f;
    return x * (x + lift) / (x * (x + bend) + toe);
}

vec rp_tone_curve(vec light)
{
    // bright colours bleach a little, as film does, instead of turning into pure hues
    const float peak = vec_most(light);
    const vec white = {peak, peak, peak};
    const vec c = vec_mix(light, white, 0.25f * smoothly(0.8f, 6.0f, peak));
    return (vec){film(c.x), film(c.y), film(c.z)};
}

void rp_tone_bytes(vec light, unsigned char rgb[3])
{
    const vec c = rp_tone_curve(light);
    const float v[3] = {c.x, c.y, c.z};
    for (int i = 0; i < 3; i++) {
        rgb[i] = (unsigned char)(255.0f * clampf(rp_srgb_of(v[i]), 0.0f, 1.0f) + 0.5f);
    }
}
