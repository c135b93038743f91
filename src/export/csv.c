// A table per frame; the name of a column ends with its unit.
#include "export/job.h"

#include <string.h>

// "kg/m^3" becomes "_kg_m3", "1" nothing.
static void unit_suffix(const char *unit, char out[40])
{
    char *at = out;
    if (unit[0] != '\0' && strcmp(unit, "1") != 0) {
        *at++ = '_';
        for (const char *u = unit; *u != '\0' && at < out + 38; u++) {
            if (*u != '^') {
                *at++ = *u == '/' || *u == ' ' ? '_' : *u;
            }
        }
    }
    *at = '\0';
}

static void put_header(rp_out *o, const rp_cargo *c)
{
    // tensors by their axes, as in tables of probes and measurements
    static const char *const axes[6] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    rp_out_text(o, "id,x_m,y_m,z_m,vx_m_s,vy_m_s,vz_m_s,radius_m,mass_kg");
    for (int k = 0; k < c->extras; k++) {
        char unit[40];
        unit_suffix(c->extra[k].unit, unit);
        for (int q = 0; q < c->extra[k].comps; q++) {
            if (c->extra[k].comps == 1) {
                rp_out_text(o, ",%s%s", c->extra[k].name, unit);
            } else if (c->extra[k].comps == 6) {
                rp_out_text(o, ",%s_%s%s", c->extra[k].name, axes[q], unit);
            } else {
                rp_out_text(o, ",%s_%d%s", c->extra[k].name, q, unit);
            }
        }
    }
    rp_out_text(o, "\n");
}

static rp_result write_frame(rp_job *job, int64_t index, rp_cargo *c)
{
    char path[RP_JOB_PATH];
    rp_out o;
    rp_job_path(job, path, "particles.%04lld.csv", (long long)job->frame[index]);
    RP_TRY(rp_out_open(&o, job, path));
    put_header(&o, c);
    for (int64_t i = 0; i < c->count; i++) {
        const double *x = c->position[i];
        const float *v = c->velocity[i];
        rp_out_text(&o, "%llu,%.10g,%.10g,%.10g,%.8g,%.8g,%.8g,%.8g,%.8g",
                    (unsigned long long)c->id[i], x[0], x[1], x[2], (double)v[0], (double)v[1],
                    (double)v[2], (double)c->radius[i], (double)c->mass[i]);
        for (int k = 0; k < c->extras; k++) {
            for (int q = 0; q < c->extra[k].comps; q++) {
                rp_out_text(&o, ",%.9g", (double)c->extra[k].data[i * c->extra[k].comps + q]);
            }
        }
        rp_out_text(&o, "\n");
    }
    return rp_out_close(&o);
}

static rp_result finish(rp_job *job)
{
    char path[RP_JOB_PATH];
    rp_out o;
    RP_TRY(rp_export_pieces(job));
    RP_TRY(rp_export_colliders(job));
    rp_job_path(job, path, "frames.csv");
    RP_TRY(rp_out_open(&o, job, path));
    rp_out_text(&o, "frame,time_s,file\n");
    for (int64_t i = 0; i < job->frames; i++) {
        rp_out_text(&o, "%lld,%.17g,particles.%04lld.csv\n", (long long)job->frame[i], job->time[i],
                    (long long)job->frame[i]);
    }
    return rp_out_close(&o);
}

const rp_exporter rp_export_csv = {
    .name = "csv", .all_columns = true, .frame = write_frame, .finish = finish};
