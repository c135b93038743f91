#include "view/aims.h"

#include "view/gate.h"

#include "repose/render.h"
#include "repose/run.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void rp_aims_end(rp_aims *a)
{
    for (size_t i = 0; i < sizeof a->aim / sizeof a->aim[0]; i++) {
        rp_parcel_release(&a->aim[i].parcel);
    }
}

// Any frame may be looked at, so all must lie in the folder when links are followed.
static rp_result check_frames(const char *folder)
{
    char path[4400 + 256], frames[4400];
    rp_result result = RP_OK;
    snprintf(frames, sizeof frames, "%s/frames", folder);
    DIR *list = rp_gate_inside(folder, frames) ? opendir(frames) : NULL;
    if (list == NULL) {
        return rp_fail(RP_ERR_FILE, "there are no frames in %s", folder);
    }
    for (const struct dirent *entry; result == RP_OK && (entry = readdir(list)) != NULL;) {
        if (entry->d_type == DT_REG || entry->d_type == DT_DIR) {
            continue;
        }
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", frames, entry->d_name);
        const bool fine =
            rp_gate_inside(folder, path) && stat(path, &about) == 0 && S_ISREG(about.st_mode);
        result = fine ? RP_OK
                      : rp_fail(RP_ERR_FILE,
                                "%s is a link that leads out of the run's folder, or "
                                "no file",
                                path);
    }
    closedir(list);
    return result;
}

static rp_result survey(const rp_frames *f, const char *color, rp_render_view *out)
{
    rp_render *render;
    rp_render_def def = rp_default_render_def();
    if (f->record == NULL) {
        return rp_fail(RP_ERR_FILE, "%s tells nothing of its scene yet", f->folder);
    }
    RP_TRY(check_frames(f->folder));
    def.color = color;
    def.legend = false; // a page has its own, and it is not in the way
    RP_TRY(rp_render_open(f->folder, &def, &render));
    rp_render_get_view(render, out);
    rp_render_close(render);
    return RP_OK;
}

static rp_result make(const rp_frames *f, const char *color, rp_aim *out)
{
    rp_render_view view;
    RP_TRY(survey(f, color, &view));
    json_t *range = view.has_range ? json_pack("[f,f]", view.range[0], view.range[1]) : json_null();
    out->parcel = rp_parcel_text(json_pack(
        "{s:s, s:I, s:I, s:s, s:o, s:o, s:f, s:b, s:o, s:f}", "type", "view", "generation",
        (json_int_t)out->generation, "last", (json_int_t)out->last, "color", color, "eye",
        rp_json_triple(view.eye), "look_at", rp_json_triple(view.look_at), "fov", view.fov,
        "parallel", view.parallel, "range", range, "aspect", (double)view.width / view.height));
    return out->parcel.piece[0] != NULL ? RP_OK
                                        : rp_fail(RP_ERR_MEMORY, "out of memory: a view of a run");
}

rp_result rp_aims_send(rp_aims *a, const rp_frames *f, const char *color, rp_parcel *out)
{
    enum { MOST = sizeof a->aim / sizeof a->aim[0] };
    rp_aim *old = NULL;
    for (int i = 0; i < MOST && old == NULL; i++) {
        old = strcmp(a->aim[i].color, color) == 0 ? &a->aim[i] : NULL;
    }
    rp_aim now = {.generation = f->generation, .last = rp_run_last_frame(f->folder)};
    snprintf(now.color, sizeof now.color, "%s", color);
    if (old == NULL || old->generation != now.generation || old->last != now.last) {
        RP_TRY(make(f, color, &now));
        if (old == NULL) {
            old = &a->aim[a->next];
            a->next = (a->next + 1) % MOST;
        }
        rp_parcel_release(&old->parcel);
        *old = now;
    }
    *out = rp_parcel_share(&old->parcel);
    return RP_OK;
}
