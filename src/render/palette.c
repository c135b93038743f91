#include "render/palette.h"

#include "render/tone.h"

#include <stdbool.h>

// Oklab (lightness, and colour as chroma and hue) to linear light; may leave the range of sRGB.
static vec from_oklch(float L, float chroma, float hue)
{
    const float a = chroma * cosf(hue), b = chroma * sinf(hue);
    const float l = L + 0.3963377774f * a + 0.2158037573f * b;
    const float m = L - 0.1055613458f * a - 0.0638541728f * b;
    const float s = L - 0.0894841775f * a - 1.2914855480f * b;
    const float l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
    return (vec){4.0767416621f * l3 - 3.3077115913f * m3 + 0.2309699292f * s3,
                 -1.2684380046f * l3 + 2.6097574011f * m3 - 0.3413193965f * s3,
                 -0.0041960863f * l3 - 0.7034186147f * m3 + 1.7076147010f * s3};
}

static bool is_shown(vec c) { return fminf(c.x, fminf(c.y, c.z)) >= 0.0f && vec_most(c) <= 1.0f; }

static void to_bytes(float L, float chroma, float hue, unsigned char rgb[3])
{
    // as much of the chroma as sRGB can show
    float low = 0.0f, high = 1.0f;
    vec c = from_oklch(L, chroma, hue);
    for (int k = 0; k < 16 && !is_shown(c); k++) {
        const float middle = 0.5f * (low + high);
        *(is_shown(from_oklch(L, middle * chroma, hue)) ? &low : &high) = middle;
        c = k == 15 ? from_oklch(L, low * chroma, hue) : c;
    }
    const float v[3] = {c.x, c.y, c.z};
    for (int k = 0; k < 3; k++) {
        rgb[k] = (unsigned char)(255.0f * rp_srgb_of(clampf(v[k], 0.0f, 1.0f)) + 0.5f);
    }
}

void rp_palette_ramp(double t, unsigned char rgb[3])
{
    const float x = clampf((float)t, 0.0f, 1.0f);
    const float hue = 5.15f - 3.35f * x; // violet, blue, teal, green, yellow [rad]
    to_bytes(0.28f + 0.64f * x, 0.13f + 0.03f * x, hue, rgb);
}

void rp_palette_class(int number, unsigned char rgb[3])
{
    const float hue = 1.2f + 2.39996f * (float)number; // by the golden angle
    to_bytes(0.78f - 0.13f * (float)(number % 3), 0.14f, hue, rgb);
}
