// A look at the whole run, to choose what the caller left open: a few particles of a few frames.
#include "render/legend.h"
#include "render/show.h"
#include "render/tone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SURVEYED = 9,          // frames
    SURVEY_MOST = 1 << 18, // particles of them all
    RUN = 256,             // of these are read together
};
static const double APART = 1e-9; // eye and what it looks at, at least [m]

// What was seen.
typedef struct sights {
    rp_crowd crowd;
    double *value; // of the quantity
    size_t values;
    double radius; // of the largest grain [m]
} sights;

rp_result rp_show_find(const rp_render *render, int64_t *frame, char path[RP_SHOW_PATH])
{
    rp_record_info info;
    if (render->record == NULL) {
        return snprintf(path, RP_SHOW_PATH, "%s", render->path) < RP_SHOW_PATH
                   ? RP_OK
                   : rp_fail(RP_ERR_ARGUMENT, "the path of a frame is too long");
    }
    rp_record_get_info(render->record, &info);
    *frame = *frame >= 0 ? *frame : info.last;
    if (!rp_record_frame(render->record, *frame, path, RP_SHOW_PATH)) {
        return rp_fail(RP_ERR_ARGUMENT, "%s has no frame %lld; its last is %lld", render->path,
                       (long long)*frame, (long long)info.last);
    }
    return RP_OK;
}

rp_result rp_show_view(const rp_render_def *def, const rp_crowd *crowd, size_t grains,
                       double radius, rp_camera *v)
{
    rp_crowd_bounds(crowd, v->lower, v->upper);
    double corner[2][3];
    memcpy(corner[0], v->lower, sizeof corner[0]);
    memcpy(corner[1], v->upper, sizeof corner[1]);
    const bool empty = crowd->count == 0;
    RP_TRY(rp_camera_aim(v, (const double(*)[3])(empty ? corner : crowd->point), empty ? 0 : grains,
                         empty ? 2 : crowd->count, radius, crowd->flat));
    double apart = 0.0;
    for (int a = 0; a < 3; a++) {
        const double middle = 0.5 * (v->lower[a] + v->upper[a]);
        if (def->has_eye) {
            v->eye[a] = def->eye[a];
            v->look[a] = def->has_look ? def->look_at[a] : middle;
        } else if (def->has_look) {
            v->eye[a] += def->look_at[a] - v->look[a];
            v->look[a] = def->look_at[a];
        }
        apart += fabs(v->eye[a] - v->look[a]);
    }
    if (!(apart >= APART)) {
        return rp_fail(RP_ERR_ARGUMENT,
                       "render.eye: the camera stands at %g %g %g and looks at the same place",
                       v->eye[0], v->eye[1], v->eye[2]);
    }
    // a slice is seen as it is from straight ahead, unless somebody wants a lens and nothing else
    const bool ahead = v->eye[0] == v->look[0] && v->eye[1] == v->look[1] && v->eye[2] > v->look[2];
    v->parallel = crowd->flat && ahead && (def->has_eye || def->has_look || def->fov == 0.0);
    v->lower[v->z_up ? 2 : 1] -= radius; // grains lie on the ground, not in it
    return RP_OK;
}

static rp_result survey_run(const rp_render *render, rp_reading *r, int64_t first, int64_t count,
                            sights *s)
{
    RP_TRY(rp_reading_at(render, r, first, count));
    for (int64_t i = 0; i < count; i++) {
        if (rp_crowd_add(&s->crowd, r->batch.position[i]) != SIZE_MAX && isfinite(r->number[i])) {
            s->value[s->values++] = r->number[i];
        }
    }
    return RP_OK;
}

// A few particles of a frame, in runs that lie evenly among all.
static rp_result survey_frame(const rp_render *render, const char *path, int64_t most, sights *s)
{
    rp_reading r;
    RP_TRY(rp_reading_begin(render, path, RP_READ_POSITION, &r));
    double largest;
    rp_result result = rp_reader_largest(r.reader, &largest);
    s->radius = fmax(s->radius, rp_radius_of_volume(largest, r.info->dimension));
    s->crowd.flat = r.info->dimension == 2;
    const int64_t runs = (r.info->particles + RUN - 1) / RUN, wanted = most / RUN;
    const int64_t taken = runs < wanted ? runs : wanted;
    for (int64_t k = 0; k < taken && result == RP_OK; k++) {
        const int64_t first = k * runs / taken * RUN, left = r.info->particles - first;
        result = survey_run(render, &r, first, left < RUN ? left : RUN, s);
    }
    rp_reading_end(&r);
    return result;
}

static rp_result survey_frames(const rp_render *render, sights *s)
{
    char path[RP_SHOW_PATH];
    rp_record_info info;
    if (render->record == NULL) {
        return survey_frame(render, render->path, SURVEY_MOST, s);
    }
    rp_record_get_info(render->record, &info);
    for (int64_t k = 0; k < SURVEYED; k++) {
        const int64_t frame = k * info.last / (SURVEYED - 1);
        if ((k == 0 || frame != (k - 1) * info.last / (SURVEYED - 1)) &&
            rp_record_frame(render->record, frame, path, sizeof path)) {
            const rp_result result = survey_frame(render, path, SURVEY_MOST / SURVEYED, s);
            // one that cannot be read is no reason not to draw another
            if (result == RP_ERR_FILE) {
                rp_log(RP_LOG_WARNING, "the camera was aimed without frame %lld: %s",
                       (long long)frame, rp_last_error());
            } else {
                RP_TRY(result);
            }
        }
    }
    return RP_OK;
}

static int upward(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// What all but one in a hundred have, from a few thousand of them.
static rp_result usual_box(const rp_crowd *crowd, double lower[3], double upper[3])
{
    enum { SAMPLES = 8192 };
    const size_t step = crowd->count / SAMPLES + 1;
    double *sample = malloc((SAMPLES + 1) * sizeof *sample);
    if (sample == NULL) {
        return rp_fail(RP_ERR_MEMORY, "no memory to aim the camera");
    }
    for (int a = 0; a < 3; a++) {
        size_t found = 0;
        for (size_t i = 0; i < crowd->count; i += step) {
            sample[found++] = crowd->point[i][a];
        }
        qsort(sample, found, sizeof *sample, upward);
        lower[a] = sample[found / 100];
        upper[a] = sample[found - 1 - found / 100];
    }
    free(sample);
    return RP_OK;
}

// Forget those few that are more than four times as far away from most others as these are from
// each other: flung off, or fallen past the floor. Where they are many, they belong to it.
static rp_result leave_strays(rp_crowd *crowd)
{
    double lower[3], upper[3], wide = 0.0;
    if (crowd->count == 0) {
        return RP_OK;
    }
    RP_TRY(usual_box(crowd, lower, upper));
    for (int a = 0; a < 3; a++) {
        wide = fmax(wide, upper[a] - lower[a]);
    }
    for (int pass = 0; pass < 2; pass++) {
        size_t kept = 0;
        for (size_t i = 0; i < crowd->count; i++) {
            const double *x = crowd->point[i];
            double away = 0.0;
            for (int a = 0; a < 3; a++) {
                away = fmax(away, fmax(lower[a] - x[a], x[a] - upper[a]));
            }
            if (away > 4.0 * wide) {
                continue;
            }
            if (pass == 1) {
                memmove(crowd->point[kept], x, sizeof crowd->point[kept]);
            }
            kept++;
        }
        if (crowd->count - kept > crowd->count / 100) {
            return RP_OK;
        }
        crowd->count = pass == 1 ? kept : crowd->count;
    }
    return RP_OK;
}

// What stands around is to be seen too, if it is not much larger than what happens.
static void survey_props(const rp_render *render, rp_crowd *crowd)
{
    rp_record_info info;
    double lower[3], upper[3], size = 0.0;
    if (render->record == NULL) {
        return;
    }
    rp_record_get_info(render->record, &info);
    rp_crowd_bounds(crowd, lower, upper);
    for (int a = 0; a < 3; a++) {
        size = fmax(size, upper[a] - lower[a]);
    }
    for (int i = 0; i < info.colliders; i++) {
        const rp_record_collider *c = rp_record_collider_at(render->record, i);
        const bool drawn = c->look != RP_LOOK_HIDDEN && i != rp_props_ground(render->record);
        const int64_t stride = 1 + c->surface.vertices / 2000;
        for (int pass = 0; pass < 2 && drawn && c->surface.vertices > 4; pass++) {
            double far = 0.0;
            for (int k = 0; k < SURVEYED; k++) {
                const double frame = (double)k * (double)info.last / (SURVEYED - 1);
                const rp_pose pose = rp_record_pose(render->record, i, frame);
                rp_surface made = {0};
                if (c->deforms && rp_record_surface(render->record, i, frame, &made) != RP_OK) {
                    continue;
                }
                for (int64_t v = 0; v < c->surface.vertices; v += stride) {
                    double x[3];
                    rp_props_place(&pose, (c->deforms ? &made : &c->surface)->vertex[v], x);
                    for (int a = 0; a < 3; a++) {
                        far = fmax(far, fmax(lower[a] - x[a], x[a] - upper[a]));
                    }
                    if (pass == 1 && crowd->count < crowd->room) {
                        rp_crowd_add(crowd, x);
                    }
                }
                rp_surface_free(&made);
            }
            if (far > 1.5 * size) {
                break;
            }
        }
    }
}

static void take_ground(rp_render *render)
{
    const int ground = render->record != NULL ? rp_props_ground(render->record) : -1;
    if (ground < 0) {
        return;
    }
    const rp_record_collider *c = rp_record_collider_at(render->record, ground);
    render->shot.has_ground = true;
    for (int a = 0; a < 3; a++) {
        render->shot.ground_point[a] = (double)c->surface.vertex[0][a];
        render->shot.ground_normal[a] = (double)c->surface.normal[0][a];
    }
    // without a colour of its own it is the pale sheet that pictures have anyway
    const rp_collider_def usual = rp_default_collider_def();
    if (memcmp(c->color, usual.color, sizeof c->color) != 0) {
        render->shot.horizon = true;
        for (int a = 0; a < 3; a++) {
            render->shot.ground_color[a] = rp_linear_of((float)c->color[a]);
        }
    }
}

// All but half a percent at each end; what cannot be negative starts at 0.
static void choose_range(rp_quantity *q, sights *s)
{
    if (q->kind == RP_QUANTITY_CLASSES) {
        double most = 0.0;
        for (size_t i = 0; i < s->values; i++) {
            most = s->value[i] < RP_GROUP_NONE ? fmax(most, s->value[i]) : most;
        }
        q->classes = q->classes > 0 ? q->classes : (int)fmin(most, 1e6) + 1;
        for (int i = 0; i < q->classes && i < (int)(sizeof q->label / sizeof q->label[0]); i++) {
            if (q->label[i][0] == '\0') {
                snprintf(q->label[i], sizeof q->label[i], "%d", i);
            }
        }
    }
    if (q->kind != RP_QUANTITY_NUMBERS || q->has_range) {
        return;
    }
    q->low = 0.0;
    q->high = 1.0;
    if (s->values > 0) {
        qsort(s->value, s->values, sizeof *s->value, upward);
        q->low = s->value[s->values / 200];
        q->high = s->value[s->values - 1 - s->values / 200];
        q->low = q->length ? 0.0 : q->low;
    }
    if (!(q->high > q->low)) {
        const double middle = q->low, room = fmax(fabs(middle), 1e-12);
        q->low = middle - 0.5 * room;
        q->high = middle + 0.5 * room;
    }
}

static rp_result choose_quantity(rp_render *render)
{
    char path[RP_SHOW_PATH];
    int64_t last = -1;
    rp_reader *reader;
    RP_TRY(rp_show_find(render, &last, path));
    rp_result result = rp_reader_open(path, render->record, &reader);
    while (result == RP_ERR_FILE && render->record != NULL && last-- > 0) {
        if (rp_record_frame(render->record, last, path, sizeof path)) {
            result = rp_reader_open(path, render->record, &reader);
        }
    }
    RP_TRY(result);
    render->fps = rp_reader_info(reader)->fps;
    result = rp_quantity_choose(&render->quantity, render->color, reader);
    rp_reader_close(reader);
    if (result == RP_OK && render->def.has_range && render->quantity.kind != RP_QUANTITY_NUMBERS) {
        result = rp_fail(RP_ERR_ARGUMENT,
                         "range: want color to be a number, such as speed; %s has no range",
                         render->quantity.name);
    }
    render->quantity.has_range = render->def.has_range;
    render->quantity.low = render->def.range[0];
    render->quantity.high = render->def.range[1];
    if (render->quantity.kind != RP_QUANTITY_GRAINS) {
        render->shot.mood = RP_MOOD_CHART;
    }
    return result;
}

rp_result rp_show_survey(rp_render *render)
{
    enum { AROUND = 1 << 16 }; // points of colliders
    sights s = {.radius = 0.0};
    RP_TRY(choose_quantity(render));
    take_ground(render);
    RP_TRY(rp_crowd_open(&s.crowd, SURVEY_MOST + AROUND, false, false));
    s.value = malloc(SURVEY_MOST * sizeof *s.value);
    rp_result result = s.value != NULL
                           ? survey_frames(render, &s)
                           : rp_fail(RP_ERR_MEMORY, "no memory to look at %s", render->path);
    result = result == RP_OK ? leave_strays(&s.crowd) : result;
    if (result == RP_OK) {
        choose_range(&render->quantity, &s);
        const size_t grains = s.crowd.count;
        survey_props(render, &s.crowd);
        double radius = render->def.radius > 0.0 ? render->def.radius : s.radius;
        radius = radius > 0.0 ? radius : rp_crowd_radius(&s.crowd);
        rp_camera *camera = &render->shot.camera;
        if (render->def.legend) {
            camera->free_right =
                (double)rp_legend_width(camera->width, camera->height, &render->quantity) /
                camera->width;
        }
        result = rp_show_view(&render->def, &s.crowd, grains, radius, camera);
    }
    rp_crowd_free(&s.crowd);
    free(s.value);
    return result;
}
