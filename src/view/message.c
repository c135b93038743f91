#include "view/message.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static rp_result wrong(const char *key, const char *want)
{
    return rp_fail(RP_ERR_ARGUMENT, "%s: want %s", key, want);
}

static rp_result read_whole(const json_t *object, const char *key, int64_t most, int64_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) > most) {
        return wrong(key, "a whole number");
    }
    *out = json_integer_value(value);
    return RP_OK;
}

static rp_result read_numbers(const json_t *object, const char *key, int count, double *out)
{
    const json_t *list = json_object_get(object, key);
    if (!json_is_array(list) || json_array_size(list) != (size_t)count) {
        return wrong(key, "a list of numbers");
    }
    for (int i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        out[i] = json_number_value(value);
        // no scene is that large, and sums of squares stay finite
        if (!json_is_number(value) || !(fabs(out[i]) <= 1e30)) {
            return wrong(key, "numbers up to 1e30");
        }
    }
    return RP_OK;
}

// Text that is safe to hand on: printable, of bounded length. UTF-8 was checked by the parser.
static bool is_text(const json_t *value, size_t most)
{
    const char *text = json_string_value(value);
    const size_t length = json_string_length(value);
    if (text == NULL || length > most || strlen(text) != length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

static bool is_name(const char *text, const char *more)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    for (; *text != '\0'; text++) {
        if (strchr(letters, *text) == NULL && strchr(more, *text) == NULL) {
            return false;
        }
    }
    return true;
}

static rp_result read_color(const json_t *object, char out[RP_COLOR_BYTES])
{
    const json_t *value = json_object_get(object, "color");
    if (!is_text(value, RP_COLOR_BYTES - 1) || json_string_length(value) == 0 ||
        !is_name(json_string_value(value), ".")) {
        return wrong("color", "the name of a column, or of one component such as velocity.y");
    }
    strcpy(out, json_string_value(value));
    return RP_OK;
}

static rp_result read_ray(const json_t *object, rp_message *out)
{
    RP_TRY(read_numbers(object, "from", 3, out->from));
    RP_TRY(read_numbers(object, "along", 3, out->along));
    RP_TRY(read_numbers(object, "plane", 4, out->plane));
    const double length = sqrt(out->along[0] * out->along[0] + out->along[1] * out->along[1] +
                               out->along[2] * out->along[2]);
    if (!(length > 1e-30)) {
        return wrong("along", "a direction");
    }
    for (int k = 0; k < 3; k++) {
        out->along[k] /= length;
    }
    const json_t *spread = json_object_get(object, "spread");
    out->spread = json_number_value(spread);
    return json_is_number(spread) && out->spread >= 0.0 && out->spread <= 1.0
               ? RP_OK
               : wrong("spread", "0 to 1");
}

static rp_result read_params(const json_t *object, rp_view_order *out)
{
    json_t *set = json_object_get(object, "set"), *value;
    const char *name;
    if (!json_is_object(set) || json_object_size(set) > RP_VIEW_PARAMS) {
        return wrong("set", "an object with at most 32 params");
    }
    json_object_foreach(set, name, value)
    {
        const size_t length = strlen(name);
        if (length == 0 || length >= sizeof out->param[0].name || !is_name(name, "")) {
            return wrong("set", "names of letters, digits and _");
        }
        if (!is_text(value, sizeof out->param[0].value - 1)) {
            return wrong("set", "values of printable text, at most 255 bytes each");
        }
        strcpy(out->param[out->params].name, name);
        strcpy(out->param[out->params++].value, json_string_value(value));
    }
    const json_t *keep = json_object_get(object, "keep");
    out->keep = json_is_true(keep);
    return json_is_boolean(keep) ? RP_OK : wrong("keep", "true or false");
}

// Each want with all of its keys; "want" itself is among them.
static rp_result read_order(const json_t *object, const char *want, rp_message *out, size_t *keys)
{
    static const char *const word[] = {"pause", "resume", "stop", "start"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(want, word[i]) == 0) {
            out->want = RP_WANT_ORDER;
            out->order.word = (rp_view_word)i;
            *keys = i == RP_VIEW_START ? 3 : 1;
            return i == RP_VIEW_START ? read_params(object, &out->order) : RP_OK;
        }
    }
    return wrong("want", "frame, pick, follow, view, pause, resume, stop or start");
}

static rp_result read_message(const json_t *object, rp_message *out)
{
    enum { MOST_FRAMES = 1 << 30 };
    static const int64_t exact = INT64_C(1) << 53; // whole numbers that a browser can tell apart
    const char *want = json_string_value(json_object_get(object, "want"));
    size_t keys = 0;
    want = want != NULL ? want : "";
    *out = (rp_message){0};
    if (strcmp(want, "frame") == 0) {
        out->want = RP_WANT_FRAME;
        keys = 3;
        RP_TRY(read_whole(object, "frame", MOST_FRAMES, &out->frame));
        RP_TRY(read_color(object, out->color));
    } else if (strcmp(want, "pick") == 0) {
        out->want = RP_WANT_PICK;
        keys = 7;
        RP_TRY(read_whole(object, "frame", MOST_FRAMES, &out->frame));
        RP_TRY(read_color(object, out->color));
        RP_TRY(read_ray(object, out));
    } else if (strcmp(want, "follow") == 0) {
        int64_t id = 0;
        out->want = RP_WANT_FOLLOW;
        keys = 4;
        RP_TRY(read_whole(object, "frame", MOST_FRAMES, &out->frame));
        RP_TRY(read_color(object, out->color));
        RP_TRY(read_whole(object, "id", exact, &id));
        out->id = (uint64_t)id;
    } else if (strcmp(want, "view") == 0) {
        out->want = RP_WANT_VIEW;
        keys = 2;
        RP_TRY(read_color(object, out->color));
    } else {
        RP_TRY(read_order(object, want, out, &keys));
    }
    return json_object_size(object) == keys
               ? RP_OK
               : rp_fail(RP_ERR_ARGUMENT, "%s: there are keys that it does not take", want);
}

rp_result rp_message_parse(const char *text, size_t size, rp_message *out)
{
    json_error_t error;
    if (size > RP_MESSAGE_BYTES) {
        return rp_fail(RP_ERR_ARGUMENT, "a message of %zu bytes, want at most %d", size,
                       RP_MESSAGE_BYTES);
    }
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    rp_result result;
    if (json_is_object(object)) {
        result = read_message(object, out);
    } else {
        result = rp_fail(RP_ERR_ARGUMENT, "want a JSON object: %s",
                         object == NULL ? error.text : "this is something else");
    }
    json_decref(object);
    return result;
}
