// SPDX-License-Identifier: Apache-2.0
// Properties: members of a plain struct that are told about, so that scenes, files, checks and the
// manual can be made from one list. Materials have them, and the options of methods.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rp_property_type {
    RP_PROPERTY_NUMBER,  ///< a double
    RP_PROPERTY_BOOLEAN, ///< a bool
    RP_PROPERTY_CHOICE,  ///< an enum, in the order of `choices`
    RP_PROPERTY_TABLE,   ///< a bool that says whether it is on, and the properties of `form`
} rp_property_type;

/// One value, as everybody who reads or writes it needs to know it.
typedef struct rp_property {
    const char *name;
    rp_property_type type;
    const char *unit;           ///< NULL: a bare number; "degrees": radians in the struct
    double low, high;           ///< range of a number, in its unit; may be infinite
    bool above_low, below_high; ///< the ends themselves are out
    const char *const *choices; ///< NULL-terminated
    const char *otherwise;      ///< the default, as text; NULL: `absent` says what it means
    const char *absent;
    double none;          ///< what the struct holds where it is absent
    const char *not_with; ///< properties that it contradicts, separated by spaces
    const char *sentence;
    const struct rp_property *form;
    int forms;
    size_t offset; ///< of its member in the struct
} rp_property;

/// The value in the unit of the property: booleans as 0 and 1, choices as their place.
RP_API double rp_property_get(const rp_property *property, const void *base);
RP_API void rp_property_set(const rp_property *property, void *base, double value);
/// The default, as rp_property_set() takes it.
RP_API double rp_property_default(const rp_property *property);
/// "> 0", "0 to 1", "" for any number.
RP_API void rp_property_range(const rp_property *property, char *text, size_t size);
/// Is it a value that the property can have?
RP_API bool rp_property_allows(const rp_property *property, double value);
/// Does the property at `index` have nothing to say, because one that it contradicts was given?
RP_API bool rp_properties_gives_way(const rp_property *property, int index, int count,
                                    const void *base);
/// Set everything to its default.
RP_API void rp_properties_reset(const rp_property *property, int count, void *base);
/// Check every value, with a sentence that names the property behind `owner` and a dot. One whose
/// value is that of an absent one is not looked at.
RP_API rp_result rp_properties_check(const rp_property *property, int count, const void *base,
                                     const char *owner);

#ifdef __cplusplus
}
#endif
