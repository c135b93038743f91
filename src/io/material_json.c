#include "io/material_json.h"

#include "base/result.h"

#include <stdio.h>
#include <string.h>

json_t *rp_properties_to_json(const rp_property *p, int count, const void *base, json_t *out)
{
    for (int i = 0; i < count; i++) {
        const double value = rp_property_get(&p[i], base);
        json_t *json = NULL;
        switch (p[i].type) {
        case RP_PROPERTY_NUMBER:
            json = (p[i].otherwise == NULL && !rp_property_allows(&p[i], value)) ||
                           rp_properties_gives_way(p, i, count, base)
                       ? json_null()
                       : json_real(value);
            break;
        case RP_PROPERTY_BOOLEAN:
            json = json_boolean(value != 0.0);
            break;
        case RP_PROPERTY_CHOICE:
            json = json_string(p[i].choices[(int)value]);
            break;
        case RP_PROPERTY_TABLE:
            json = value != 0.0 ? rp_properties_to_json(p[i].form, p[i].forms, base, json_object())
                                : json_false();
            break;
        }
        json_object_set_new(out, p[i].name, json);
    }
    return out;
}

json_t *rp_material_to_json(const rp_material_def *def)
{
    const rp_material_info *info = rp_material_info_of(def->kind);
    json_t *out = json_pack("{s:s, s:s, s:s}", "material", info->name, "name", def->name, "species",
                            info->species);
    return out != NULL ? rp_properties_to_json(info->property, info->properties, def, out) : NULL;
}

static rp_result property_from_json(const rp_property *p, const json_t *json, const char *kind,
                                    rp_material_def *def);

static rp_result properties_from_json(const rp_property *p, int count, const json_t *json,
                                      const char *kind, rp_material_def *def)
{
    for (int i = 0; i < count; i++) {
        const json_t *value = json_object_get(json, p[i].name);
        if (value != NULL && !json_is_null(value)) {
            RP_TRY(property_from_json(&p[i], value, kind, def));
        }
    }
    return RP_OK;
}

static rp_result property_from_json(const rp_property *p, const json_t *json, const char *kind,
                                    rp_material_def *def)
{
    if (p->type == RP_PROPERTY_NUMBER && json_is_number(json)) {
        rp_property_set(p, def, json_number_value(json));
        return RP_OK;
    }
    if (p->type == RP_PROPERTY_CHOICE && json_is_string(json)) {
        for (int c = 0; p->choices[c] != NULL; c++) {
            if (strcmp(p->choices[c], json_string_value(json)) == 0) {
                rp_property_set(p, def, c);
                return RP_OK;
            }
        }
    }
    if (p->type == RP_PROPERTY_TABLE && json_is_object(json)) {
        rp_property_set(p, def, 1.0);
        return properties_from_json(p->form, p->forms, json, kind, def);
    }
    if (p->type != RP_PROPERTY_NUMBER && json_is_boolean(json)) {
        rp_property_set(p, def, json_is_true(json));
        return RP_OK;
    }
    return rp_fail(RP_ERR_FILE, "material %s: its %s cannot be read", kind, p->name);
}

rp_result rp_material_from_json(const json_t *json, rp_material_def *def)
{
    // a resolved scene has the word of the scene, run.json the name of the kind
    const char *said = json_string_value(json_object_get(json, "word"));
    const char *word = said != NULL && strncmp(said, "material.", 9) == 0
                           ? said + 9
                           : json_string_value(json_object_get(json, "material"));
    const char *name = json_string_value(json_object_get(json, "name"));
    rp_material_kind kind;
    if (word == NULL) {
        return rp_fail(RP_ERR_FILE, "a material does not say what it is");
    }
    if (rp_material_kind_named(word, &kind) != RP_OK) {
        return RP_ERR_FILE;
    }
    *def = rp_default_material_def(kind);
    const rp_material_info *info = rp_material_info_of(kind);
    snprintf(def->name, sizeof def->name, "%s", name != NULL ? name : word);
    RP_TRY(properties_from_json(info->property, info->properties, json, word, def));
    return rp_properties_check(info->property, info->properties, def, word);
}
