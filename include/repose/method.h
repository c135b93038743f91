// SPDX-License-Identifier: Apache-2.0
// Methods: how time is stepped. One list, from which scenes, the command, messages and
// docs/methods.md are made.
#pragma once

#include "material.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a scene or a def may ask for, as far as methods differ in it: X(ID, name, sentence). The
/// name is what remarks and docs/methods.md call it.
#define RP_FEATURES(X)                                                                             \
    X(HARDENING, "hardening of sand", "friction that changes as sand deforms")                     \
    X(COHESION, "cohesion of sand", "strength without pressure")                                   \
    X(STIFFNESS, "young and poisson", "moduli that a material is given")                           \
    X(VOLUME_CORRECTION, "volume_correction of sand", "volume gained by separation is paid back")  \
    X(INERTIAL, "inertial of sand", "friction that grows with the rate of shear")                  \
    X(DILATION, "dilation_angle of sand", "sheared sand swells")                                   \
    X(RESTING, "flow of sand", "slides swell and rest pays it back")                               \
    X(VISCOSITY, "viscosity", "liquids that are thick")                                            \
    X(ORDER, "scene.order", "the splines between particles and grid")                              \
    X(TRANSFER, "scene.transfer", "how velocity travels between particles and grid")               \
    X(GRADIENT, "scene.gradient", "how stress becomes force")                                      \
    X(ELASTIC_SHARE, "scene.elastic_share", "how near steps come to the limit of elastic waves")   \
    X(ACCELERATION, "scene.acceleration", "a field of accelerations")                              \
    X(SETTLE, "scene.settle", "rest before time begins")                                           \
    X(ENERGY, "output.energy", "an account of where energy goes")                                  \
    X(BODIES, "particles.body", "bodies with a velocity of their own that touch each other")       \
    X(MIXTURE, "sand with water", "both in one scene, each with a velocity of its own")            \
    X(PERMEABLE, "collider.permeable", "what water passes and sand does not")                      \
    X(FRACTURE, "fracture", "bodies that break along glue")                                        \
    X(PRESTRESS, "particles.prestress", "particles that start with their weight")                  \
    X(COLLIDERS, "collider", "solid things, at rest")                                              \
    X(MOTION, "collider.motion", "solid things that move")                                         \
    X(DEFORMING, "mesh_sequence", "solid things that deform")                                      \
    X(RIGID, "rigid", "solid things that are moved by what they run into")                         \
    X(EMITTERS, "emitter", "particles that are poured")                                            \
    X(SINKS, "sink", "particles that vanish")                                                      \
    X(DOMAIN, "domain", "a border")                                                                \
    X(PERIODIC, "domain.periodic", "space that repeats")                                           \
    X(TWO_DIMENSIONS, "scene.dimension = 2", "plane strain")                                       \
    X(DOUBLE, "scene.precision = double", "numbers of 64 bits")

typedef enum rp_feature {
#define RP_FEATURE_ID(id, name, sentence) RP_FEATURE_##id,
    RP_FEATURES(RP_FEATURE_ID)
#undef RP_FEATURE_ID
        RP_FEATURE_COUNT,
} rp_feature;

/// What a method does with a feature.
typedef enum rp_regard {
    RP_HONOURED,    ///< it does what is asked
    RP_MEANINGLESS, ///< it has no use for it: a remark names it, and the run goes on
    RP_IMPOSSIBLE,  ///< it cannot do it: a sentence, and no run
} rp_regard;

enum { RP_OPTION_LIMIT = 16 }; ///< numbers that the struct of a method's options has room for

/// A method as everybody may know it.
typedef struct rp_method_info {
    const char *name;     ///< what a scene writes: "explicit"
    const char *sentence; ///< what it is good for
    bool built;           ///< false: it is planned, and refused
    unsigned materials;   ///< that it can simulate, as 1u << rp_material_kind
    rp_regard regard[RP_FEATURE_COUNT];
    const char *why[RP_FEATURE_COUNT]; ///< what to do instead where it is not honoured; or NULL
    /// Options of its own, `scene { NAME = { ... } }`: members of a struct that lies in
    /// rp_world_def.option.
    const rp_property *option;
    int options;
} rp_method_info;

RP_API int rp_methods(void);
/// @param index 0 to rp_methods() - 1
RP_API const rp_method_info *rp_method_at(int index);
/// @return RP_ERR_ARGUMENT for one that is not known or not built, with the list of all
RP_API rp_result rp_method_named(const char *name, const rp_method_info **method);
/// What each method does with what scenes say, as Markdown: docs/methods.md.
/// @return released with free(); NULL when there is no memory
RP_API char *rp_methods_reference(void);
RP_API const char *rp_feature_name(rp_feature feature);
RP_API const char *rp_feature_sentence(rp_feature feature);

/// Can it simulate this material? @return RP_ERR_UNSUPPORTED with a sentence when it cannot
RP_API rp_result rp_method_check_material(const rp_method_info *method, rp_material_kind kind);
/// What a method makes of what is asked, as 1ull << rp_feature.
/// @param[out] remark names everything without meaning in one sentence; empty where there is
/// nothing
/// @return RP_ERR_UNSUPPORTED with a sentence for what it cannot do
RP_API rp_result rp_method_check(const rp_method_info *method, uint64_t features, char *remark,
                                 size_t size);

#ifdef __cplusplus
}
#endif
