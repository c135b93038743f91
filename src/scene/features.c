// What a scene asks of a method: each thing it says is honoured, without meaning, or impossible.
#include "scene/scene.h"

#include <stdio.h>
#include <string.h>

// What a scene says becomes a feature where it gives this key of this word itself; without a key
// the word alone is enough. A word of "material" is any of them. Where `only` is not 0, it is that
// number or that choice which counts.
static const struct {
    const char *word, *key;
    rp_feature feature;
    int only;
} asked[] = {
    {"material", "young", RP_FEATURE_STIFFNESS, 0},
    {"material", "poisson", RP_FEATURE_STIFFNESS, 0},
    {"material", "hardening", RP_FEATURE_HARDENING, 0},
    {"material", "cohesion", RP_FEATURE_COHESION, 0},
    {"material", "volume_correction", RP_FEATURE_VOLUME_CORRECTION, 0},
    {"material", "inertial", RP_FEATURE_INERTIAL, 0},
    {"material", "dilation_angle", RP_FEATURE_DILATION, 0},
    {"material", "flow", RP_FEATURE_RESTING, RP_FLOW_RESTING},
    {"scene", "order", RP_FEATURE_ORDER, 0},
    {"scene", "transfer", RP_FEATURE_TRANSFER, 0},
    {"scene", "gradient", RP_FEATURE_GRADIENT, 0},
    {"scene", "elastic_share", RP_FEATURE_ELASTIC_SHARE, 0},
    {"scene", "acceleration", RP_FEATURE_ACCELERATION, 0},
    {"scene", "settle", RP_FEATURE_SETTLE, 0},
    {"scene", "dimension", RP_FEATURE_TWO_DIMENSIONS, 2},
    {"scene", "precision", RP_FEATURE_DOUBLE, 1},
    {"output", "energy", RP_FEATURE_ENERGY, 0},
    {"particles", "body", RP_FEATURE_BODIES, 0},
    {"emitter", "body", RP_FEATURE_BODIES, 0},
    {"particles", "prestress", RP_FEATURE_PRESTRESS, 1},
    {"collider", NULL, RP_FEATURE_COLLIDERS, 0},
    {"collider", "motion", RP_FEATURE_MOTION, 0},
    {"collider", "velocity", RP_FEATURE_MOTION, 0},
    {"collider", "spin", RP_FEATURE_MOTION, 0},
    {"collider", "keys", RP_FEATURE_MOTION, 0},
    {"collider", "permeable", RP_FEATURE_PERMEABLE, 0},
    {"particles", "within", RP_FEATURE_MIXTURE, 0},
    {"mesh_sequence", NULL, RP_FEATURE_DEFORMING, 0},
    {"rigid", NULL, RP_FEATURE_RIGID, 0},
    {"fracture", NULL, RP_FEATURE_FRACTURE, 0},
    {"material", "viscosity", RP_FEATURE_VISCOSITY, 0},
    {"emitter", NULL, RP_FEATURE_EMITTERS, 0},
    {"sink", NULL, RP_FEATURE_SINKS, 0},
    {"domain", NULL, RP_FEATURE_DOMAIN, 0},
    {"domain", "periodic", RP_FEATURE_PERIODIC, 0},
};

static bool is_word(const scene_call *call, const char *word)
{
    return strcmp(word, "material") == 0 ? call->word->kind == WORD_MATERIAL
                                         : strcmp(call->word->name, word) == 0;
}

// False, 0 and {0, 0, 0} ask for nothing.
static bool is_nothing(const scene_value *v)
{
    return (v->kind == TAKES_BOOLEAN && !v->boolean) ||
           (v->kind == TAKES_NUMBER && v->number == 0.0) ||
           (v->kind == TAKES_AXES && !v->axes[0] && !v->axes[1] && !v->axes[2]) ||
           (v->kind == TAKES_VECTOR && rp_is_zero(v->vector));
}

// Said by the scene itself, and to ask for something.
static bool is_asked(const scene_call *call, const char *key, int only)
{
    for (int k = 0; k < call->word->keys; k++) {
        const scene_value *v = &call->value[k];
        if (strcmp(call->word->key[k].name, key) == 0 && v->given) {
            const int64_t value = v->kind == TAKES_CHOICE    ? v->choice
                                  : v->kind == TAKES_INTEGER ? v->integer
                                                             : 0;
            return v->kind != 0 && !is_nothing(v) && (only == 0 || value == only);
        }
    }
    return false;
}

uint64_t rp_scene_features(const scene_call *call)
{
    uint64_t features = 0;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        if (is_word(call, asked[i].word) &&
            (asked[i].key == NULL || is_asked(call, asked[i].key, asked[i].only))) {
            features |= 1ull << asked[i].feature;
        }
    }
    return features;
}

static rp_result check_call(const rp_scene *scene, const scene_call *call,
                            const rp_method_info *method)
{
    char remark[512];
    rp_result result = rp_method_check(method, rp_scene_features(call), remark, sizeof remark);
    if (result == RP_OK && call->word->kind == WORD_MATERIAL) {
        rp_material_kind kind;
        result = rp_material_kind_named(call->word->name + strlen("material."), &kind);
        result = result == RP_OK ? rp_method_check_material(method, kind) : result;
    }
    return result == RP_OK ? RP_OK : rp_call_place(scene, call, RP_ERR_ARGUMENT);
}

// Options that another method would have.
static void add_foreign_options(const rp_scene *scene, const rp_method_info *method, char *remark,
                                size_t size)
{
    for (int m = 0; m < rp_methods(); m++) {
        const rp_method_info *other = rp_method_at(m);
        if (other->options > 0 && strcmp(other->name, method->name) != 0 &&
            is_asked(scene->said, other->name, 0)) {
            const size_t used = strlen(remark);
            snprintf(remark + used, size - used, "%sscene.%s",
                     used > 0 ? ", " : "without meaning for this method: ", other->name);
        }
    }
}

rp_result rp_scene_check_features(const rp_scene *scene, const rp_method_info *method)
{
    uint64_t features = 0;
    bool sand = false, water = false;
    char remark[1024];
    for (const scene_call *call = scene->first; call != NULL; call = call->next) {
        const rp_result result = check_call(scene, call, method);
        if (result != RP_OK) {
            return result;
        }
        features |= rp_scene_features(call);
        sand = sand || strcmp(call->word->name, "material.sand") == 0;
        water = water || strcmp(call->word->name, "material.water") == 0;
    }
    features |= sand && water ? 1ull << RP_FEATURE_MIXTURE : 0;
    if (sand && method->regard[RP_FEATURE_ORDER] == RP_HONOURED &&
        rp_call_choice(scene->said, "order") == 0) {
        return rp_call_fail(scene, scene->said, "order",
                            "sand wants \"quadratic\" or \"cubic\" splines, got \"linear\": its "
                            "forces would jump from cell to cell, and make energy out of nothing");
    }
    const rp_result result = rp_method_check(method, features, remark, sizeof remark);
    add_foreign_options(scene, method, remark, sizeof remark);
    if (remark[0] != '\0') {
        rp_log(RP_LOG_INFO, "%s: method %s: %s", scene->path, method->name, remark);
    }
    return result;
}
