// Runs: a world stepped to its last frame, and a folder that is whole at every moment.
#include "repose/run.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/result.h"
#include "io/material_json.h"
#include "io/writer.h"
#include "repose/file.h"
#include "repose/frame.h"
#include "sim/probes.h"
#include "sim/shapes.h"
#include "sim/world.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RUN_FORMAT = 1, GUILTY_MOST = 1 << 20 };

struct rp_run {
    rp_folder folder;
    rp_run_mode mode;
    json_t *record; // run.json; NULL in a folder that holds none
    char *about;    // the record's "about", as text
    // of a resumed run, decided once: where it goes on
    bool has_state;
    char newest[RP_PATH];
    int64_t newest_frame;
    json_t *warnings;       // sentences, each once
    size_t warnings_noted;  // how many of them run.json has
    pthread_mutex_t warned; // guards them
};

rp_run_def rp_default_run_def(void)
{
    return (rp_run_def){.frames = 1, .energy_limit = 10.0, .cookie = RP_DEF_COOKIE};
}

// The sentence of an error, kept over what is done to clean up after it.
typedef struct kept_error {
    rp_result result;
    char sentence[1024];
} kept_error;

static kept_error keep_error(rp_result result)
{
    kept_error e = {.result = result};
    snprintf(e.sentence, sizeof e.sentence, "%s", result != RP_OK ? rp_last_error() : "");
    return e;
}

static rp_result fail_again(const kept_error *e)
{
    return e->result == RP_OK ? RP_OK : rp_fail(e->result, "%s", e->sentence);
}

// ---- open ----

static rp_result read_record(rp_run *run)
{
    char *text, path[RP_PATH];
    size_t size;
    json_error_t error;
    RP_TRY(rp_folder_read(&run->folder, "run.json", &text, &size));
    rp_folder_path(&run->folder, "run.json", path);
    run->record = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (run->record == NULL) {
        return rp_fail(RP_ERR_FILE, "%s:%d: %s", path, error.line, error.text);
    }
    const json_t *format = json_object_get(run->record, "format");
    if (!json_is_integer(format) || !json_is_object(json_object_get(run->record, "about"))) {
        return rp_fail(RP_ERR_FILE, "%s: this is no record of a run", path);
    }
    if (json_integer_value(format) > RUN_FORMAT) {
        return rp_fail(RP_ERR_FILE,
                       "%s: it has format %" JSON_INTEGER_FORMAT
                       ", this version reads up to %d: use a newer Repose",
                       path, json_integer_value(format), RUN_FORMAT);
    }
    const json_t *warnings = json_object_get(run->record, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const char *sentence = json_string_value(json_array_get(warnings, i));
        rp_run_warn(run, sentence != NULL ? sentence : "");
    }
    run->about = json_dumps(json_object_get(run->record, "about"), JSON_COMPACT);
    return run->about != NULL ? RP_OK : rp_fail(RP_ERR_MEMORY, "out of memory: a run's record");
}

static rp_result look_around(rp_run *run)
{
    const bool has_run = rp_folder_has_run(&run->folder);
    switch (run->mode) {
    case RP_RUN_NEW:
        return !has_run ? RP_OK
                        : rp_fail(RP_ERR_ARGUMENT,
                                  "%s already holds a run: --resume goes on with it, "
                                  "--overwrite removes it, -o chooses another folder",
                                  run->folder.path);
    case RP_RUN_OVERWRITE:
        return RP_OK; // removed when there is a world to take its place
    case RP_RUN_RESUME:
        break;
    }
    if (!has_run) {
        return rp_fail(RP_ERR_ARGUMENT, "%s holds no run to resume", run->folder.path);
    }
    RP_TRY(read_record(run));
    return rp_folder_newest(&run->folder, run->newest, &run->newest_frame, &run->has_state);
}

rp_result rp_run_open(const char *folder, rp_run_mode mode, rp_run **out)
{
    rp_run *run = *out = calloc(1, sizeof *run);
    if (run == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: a run");
    }
    run->mode = mode;
    run->warnings = json_array();
    pthread_mutex_init(&run->warned, NULL);
    rp_result result = rp_folder_open(&run->folder, folder);
    if (result == RP_OK) {
        result = look_around(run);
    }
    if (result != RP_OK) {
        rp_run_close(run);
        *out = NULL;
    }
    return result;
}

void rp_run_close(rp_run *run)
{
    if (run != NULL) {
        rp_folder_close(&run->folder);
        json_decref(run->record);
        json_decref(run->warnings);
        pthread_mutex_destroy(&run->warned);
        free(run->about);
        free(run);
    }
}

const char *rp_run_about(const rp_run *run) { return run->about; }

void rp_run_warn(rp_run *run, const char *sentence)
{
    enum { MOST = 1000 };
    pthread_mutex_lock(&run->warned);
    bool known = json_array_size(run->warnings) >= MOST;
    for (size_t i = 0; !known && i < json_array_size(run->warnings); i++) {
        known = strcmp(json_string_value(json_array_get(run->warnings, i)), sentence) == 0;
    }
    json_t *text = !known ? json_string(sentence) : NULL; // NULL also for what is no UTF-8
    if (text != NULL) {
        json_array_append_new(run->warnings, text);
    }
    pthread_mutex_unlock(&run->warned);
}

bool rp_run_has_state(const rp_run *run) { return run->has_state; }

// ---- what a run writes ----

typedef struct go {
    rp_run *run;
    const rp_run_def *def;
    rp_writer *writer;
    double began, saved; // wall clock [s]: of the run, of the last state in mid-frame
    rp_stats before;     // at the end of the last frame, for the seconds in its line
    double written;      // seconds that the writer had worked by then
    bool stopped;        // before there was a frame
    bool torn;  // the last step is counted, but not all was done that belongs to it: no state of it
    bool begun; // nothing is left of a run that is overwritten
    double held;           // seconds for which the last frame kept the steps waiting
    rp_probe_lines read;   // by probes since the last state
    rp_probe_lines cracks; // likewise, of what broke
} go;

// As they are now, for run.json.
static json_t *list_warnings(rp_run *run)
{
    pthread_mutex_lock(&run->warned);
    json_t *list = json_copy(run->warnings);
    run->warnings_noted = json_array_size(list);
    pthread_mutex_unlock(&run->warned);
    return list;
}

// Files that were copied into the folder, so that who removes the run knows which are its own.
static json_t *list_copies(const go *g)
{
    const bool again = g->run->mode == RP_RUN_RESUME;
    json_t *known = json_object_get(g->run->record, "copies");
    json_t *list = json_is_array(known) ? json_incref(known) : json_array();
    for (int i = 0; !again && i < g->def->files; i++) {
        if (g->def->file[i].from != NULL) {
            json_array_append_new(list, json_string(g->def->file[i].name));
        }
    }
    return list;
}

static bool has_new_warnings(rp_run *run)
{
    pthread_mutex_lock(&run->warned);
    const bool more = json_array_size(run->warnings) != run->warnings_noted;
    pthread_mutex_unlock(&run->warned);
    return more;
}

static rp_result write_record(const go *g, const char *status)
{
    const rp_world *world = g->def->world;
    char host[256] = "", when[32], path[RP_PATH];
    const time_t now = time(NULL);
    struct tm utc;
    if (gethostname(host, sizeof host - 1) != 0 || !rp_is_text(host, strlen(host))) {
        host[0] = '\0';
    }
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_t *materials = json_array(), *species = json_array();
    for (int i = 0; i < world->materials; i++) {
        json_array_append_new(materials, rp_material_to_json(&world->material[i]));
    }
    for (int i = 0; i < world->species_count; i++) {
        json_array_append_new(species, json_string(world->species[i].name));
    }
    json_t *bodies = json_array();
    for (int i = 0; i < world->def.fields; i++) {
        char name[RP_NAME_SIZE];
        rp_world_body_name(world, i, name);
        json_array_append_new(bodies, json_string(name));
    }
    const rp_method_info *method = &world->solver->info;
    json_t *options =
        rp_properties_to_json(method->option, method->options, world->def.option, json_object());
    json_t *about = json_loads(g->def->about != NULL ? g->def->about : "{}", 0, NULL);
    json_t *record = json_pack(
        "{s:i, s:s, s:s, s:s?, s:s, s:I, s:I, s:I, s:s, s:s, s:i, s:I, s:s, s:s, s:f, s:o, s:o, "
        "s:o, s:o, s:o, s:o, s:o}", //
        "format", RUN_FORMAT, "repose", RP_VERSION, "status", status, "title", g->def->title,
        "method", world->solver->info.name, "frames", (json_int_t)g->def->frames, "frames_done",
        (json_int_t)world->time.frame, "steps", (json_int_t)world->time.step, "instruction_set",
        rp_world_isa(world), "precision", world->def.precision == RP_SINGLE ? "single" : "double",
        "threads", world->threads, "seed", (json_int_t)world->def.seed, "host", host, "written",
        when, "seconds", rp_seconds() - g->began, "materials", materials, "species", species,
        "bodies", bodies, "options", options, "copies", list_copies(g), "warnings",
        list_warnings(g->run), "about", about);
    char *text =
        record != NULL ? json_dumps(record, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(record);
    if (text == NULL) {
        return rp_fail(RP_ERR_MEMORY, "cannot make run.json: out of memory, or rp_run_def.about "
                                      "is no JSON object");
    }
    rp_folder_path(&g->run->folder, "run.json", path);
    const rp_result result = rp_file_write_all(path, text, strlen(text));
    free(text);
    return result;
}

static const char STATS_HEADER[] =
    "frame,time_s,steps,dt_s,limiter,particles,born,removed,removed_sink,removed_domain,clamped,"
    "mass_kg,momentum_x_kg_m_s,"
    "momentum_y_kg_m_s,momentum_z_kg_m_s,kinetic_J,elastic_J,potential_J,max_speed_m_s,pages,"
    "sorts";
static const char ENERGY_HEADER[] =
    ",affine_J,plastic_J,contact_J,friction_J,transfer_J,stepping_J,brought_J";

enum { LINE_MOST = 2048, LINES_MOST = 1 << 20 }; // bytes of a line, of lines that wait

// What every run has, the parts of the method's steps and the numbers that only it has; runs that
// keep account of energy have more.
static void stats_header(const rp_world *world, char out[LINE_MOST])
{
    const rp_stats *s = &world->stats;
    char *at = out + sprintf(out, "%s", STATS_HEADER);
    for (int i = 0; i < s->stages; i++) {
        at += sprintf(at, ",%s_s", s->stage[i]);
    }
    at += sprintf(at, ",write_s,hold_s%s", world->def.energy ? ENERGY_HEADER : "");
    for (int i = 0; i < s->extras; i++) {
        at += sprintf(at, ",%s", s->extra_name[i]);
    }
    strcpy(at, "\n");
}

static const char FORCES_HEADER[] =
    "frame,time_s,collider,name,x_m,y_m,z_m,qx,qy,qz,qw,force_x_N,force_y_N,force_z_N,torque_x_N_m,"
    "torque_y_N_m,torque_z_N_m\n";

static const char BODIES_HEADER[] =
    "frame,time_s,body,name,x_m,y_m,z_m,qx,qy,qz,qw,velocity_x_m_s,velocity_y_m_s,velocity_z_m_s,"
    "spin_x_rad_s,spin_y_rad_s,spin_z_rad_s,force_x_N,force_y_N,force_z_N,torque_x_N_m,"
    "torque_y_N_m,torque_z_N_m\n";

static char *put_number(char *at, double value)
{
    char text[RP_NUMBER_TEXT];
    return at + sprintf(at, ",%s", rp_print_number(value, text));
}

static char *put_numbers(char *at, const double *value, int count)
{
    for (int i = 0; i < count; i++) {
        at = put_number(at, value[i]);
    }
    return at;
}

static rp_result stats_line(const go *g, const rp_stats *s, const rp_totals *t, double writing,
                            char **out)
{
    double gravity[3], potential = 0.0;
    RP_TRY(rp_world_gravity(g->def->world, gravity));
    for (int a = 0; a < 3; a++) {
        potential -= t->mass * gravity[a] * t->center[a];
    }
    char *at = *out = malloc(LINE_MOST);
    if (at == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: a line of stats.csv");
    }
    at += sprintf(at, "%" PRId64, s->frame);
    at = put_number(at, s->time);
    at += sprintf(at, ",%" PRId64, s->step);
    at = put_number(at, s->dt);
    at += sprintf(at, ",%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64,
                  s->limiter, s->particles, s->born, s->removed, s->sunk, s->left, s->clamped);
    const double numbers[] = {t->mass,    t->momentum[0], t->momentum[1], t->momentum[2],
                              t->kinetic, t->elastic,     potential,      s->max_speed};
    at = put_numbers(at, numbers, sizeof numbers / sizeof numbers[0]);
    at += sprintf(at, ",%" PRId64 ",%" PRId64, s->pages, s->sorts);
    for (int i = 0; i < s->stages; i++) {
        at = put_number(at, s->seconds[i] - g->before.seconds[i]);
    }
    at = put_number(at, writing);
    at = put_number(at, g->held);
    if (g->def->world->def.energy) {
        rp_energy e;
        rp_world_energy(g->def->world, &e);
        const double lost[] = {e.affine,   e.plastic,  e.contact, e.friction,
                               e.transfer, e.stepping, e.brought};
        at = put_numbers(at, lost, sizeof lost / sizeof lost[0]);
    }
    at = put_numbers(at, s->extra, s->extras);
    strcpy(at, "\n");
    return RP_OK;
}

// Its number, and its name in quotes.
static char *put_name(char *at, int number, const char *name)
{
    at += sprintf(at, ",%d,\"", number);
    // a table program would take what begins like this for a formula
    if (strchr("=+-@", name[0]) != NULL) {
        *at++ = '\'';
    }
    for (const char *c = name; *c != '\0'; c++) {
        *at++ = *c;
        if (*c == '"') {
            *at++ = '"';
        }
    }
    *at++ = '"';
    return at;
}

// A line for each rigid body; *out stays NULL when there is none.
static rp_result body_lines(const go *g, const rp_stats *s, char **out)
{
    const int bodies = rp_world_rigids(g->def->world);
    char *at = *out = bodies > 0 ? malloc((size_t)bodies * LINE_MOST) : NULL;
    if (bodies > 0 && at == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: lines of bodies.csv");
    }
    for (int i = 0; i < bodies; i++) {
        rp_rigid_state r;
        rp_world_rigid(g->def->world, i, &r);
        at += sprintf(at, "%" PRId64, s->frame);
        at = put_number(at, s->time);
        at = put_name(at, i, r.name);
        at = put_numbers(at, r.pose.position, 3);
        at = put_numbers(at, r.pose.rotation, 4);
        at = put_numbers(at, r.velocity, 3);
        at = put_numbers(at, r.spin, 3);
        at = put_numbers(at, r.force, 3);
        at = put_numbers(at, r.torque, 3);
        *at++ = '\n';
    }
    if (at != NULL) {
        *at = '\0';
    }
    return RP_OK;
}

// A line for each collider; *out stays NULL when there is none.
static rp_result force_lines(const go *g, const rp_stats *s, char **out)
{
    const int colliders = rp_world_colliders(g->def->world);
    char *at = *out = colliders > 0 ? malloc((size_t)colliders * LINE_MOST) : NULL;
    if (colliders > 0 && at == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: lines of forces.csv");
    }
    for (int i = 0; i < colliders; i++) {
        rp_collider_load load;
        rp_world_collider_load(g->def->world, i, &load);
        at += sprintf(at, "%" PRId64, s->frame);
        at = put_number(at, s->time);
        at = put_name(at, i, load.name);
        at = put_numbers(at, load.pose.position, 3);
        at = put_numbers(at, load.pose.rotation, 4);
        at = put_numbers(at, load.force, 3);
        at = put_numbers(at, load.torque, 3);
        *at++ = '\n';
    }
    if (at != NULL) {
        *at = '\0';
    }
    return RP_OK;
}

static const char CONTACTS_HEADER[] =
    "frame,time_s,body,other,name,other_name,force_x_N,force_y_N,force_z_N,rubbed_J\n";

// In quotes, for a table.
static char *put_text(char *at, const char *name)
{
    *at++ = ',';
    *at++ = '"';
    // a table program would take what begins like this for a formula
    if (strchr("=+-@", name[0]) != NULL) {
        *at++ = '\'';
    }
    for (const char *c = name; *c != '\0'; c++) {
        *at++ = *c;
        if (*c == '"') {
            *at++ = '"';
        }
    }
    *at++ = '"';
    return at;
}

static bool has_glue(const rp_world *world)
{
    return rp_glue_find(world->species, world->species_count) >= 0;
}

// A line for each pair of bodies that touched within the frame.
static rp_result contact_lines(const go *g, const rp_stats *s, char **out)
{
    enum { BYTES = 1024 };
    const rp_world *world = g->def->world;
    const rp_pair_loads *loads = &world->pair_loads;
    char *at = *out = loads->count > 0 ? malloc((size_t)loads->count * BYTES) : NULL;
    if (loads->count > 0 && at == NULL) {
        return rp_fail(RP_ERR_MEMORY, "out of memory: lines of contacts.csv");
    }
    for (rp_local i = 0; i < loads->count; i++) {
        const rp_pair_load *load = rp_pair_loads_at(loads, i);
        at += sprintf(at, "%" PRId64, s->frame);
        at = put_number(at, s->time);
        at += sprintf(at, ",%d,%d", load->body[0], load->body[1]);
        for (int k = 0; k < 2; k++) {
            char name[RP_NAME_SIZE];
            rp_world_body_name(world, load->body[k], name);
            at = put_text(at, name);
        }
        at = put_numbers(at, load->force, 3);
        at = put_number(at, load->rubbed[1]);
        *at++ = '\n';
        *at = '\0';
    }
    return RP_OK;
}

static const char CRACKS_HEADER[] =
    "step,time_s,body,other,name,other_name,glue,area_m2,kinetic_J,elastic_J\n";

// What broke in the step that was just done.
static rp_result crack_lines(go *g)
{
    enum { BYTES = 1024 };
    rp_world *world = g->def->world;
    rp_probe_lines *lines = &g->cracks;
    const size_t most = (size_t)world->crack_count * BYTES;
    if (world->crack_count == 0) {
        return RP_OK;
    }
    if (lines->room - lines->used < most) {
        const size_t room = 2 * (lines->used + most);
        char *text = realloc(lines->text, room);
        if (text == NULL) {
            return rp_fail(RP_ERR_MEMORY, "out of memory: lines of cracks.csv");
        }
        lines->text = text;
        lines->room = room;
    }
    char *at = lines->text + lines->used;
    for (rp_local i = 0; i < world->crack_count; i++) {
        const rp_crack_row *row = (rp_crack_row *)world->cracks.data + i;
        at += sprintf(at, "%" PRId64, world->time.step);
        at = put_number(at, row->time);
        at += sprintf(at, ",%d,%d", row->body[0], row->body[1]);
        for (int k = 0; k < 2; k++) {
            char name[RP_NAME_SIZE];
            rp_world_body_name(world, row->body[k], name);
            at = put_text(at, name);
        }
        at += sprintf(at, ",%" PRId64, row->glue);
        at = put_number(at, row->area);
        at = put_number(at, row->kinetic);
        at = put_number(at, row->elastic);
        *at++ = '\n';
        *at = '\0';
    }
    lines->used = (size_t)(at - lines->text);
    world->crack_count = 0;
    return RP_OK;
}

// Lines of probes and cracks go to the writer with the state that they lead to.
static char *take_lines(rp_probe_lines *lines)
{
    char *text = lines->text;
    *lines = (rp_probe_lines){0};
    return text;
}

// They are written at once where they are many, or no state will follow.
static rp_result write_lines(go *g)
{
    char *text = take_lines(&g->read), *cracks = take_lines(&g->cracks);
    rp_result result = rp_writer_wait(g->writer); // those before them come first
    if (result == RP_OK && text != NULL) {
        result = rp_table_append(&g->run->folder, "probes.csv", text);
    }
    if (result == RP_OK && cracks != NULL) {
        result = rp_table_append(&g->run->folder, "cracks.csv", cracks);
    }
    free(text);
    free(cracks);
    return result;
}

// Hand the world's state to the writer, after it has done with the last one.
static rp_result save_frame(go *g, const rp_stats *stats, const rp_totals *totals)
{
    const rp_folder *folder = &g->run->folder;
    rp_writing w = {0};
    RP_TRY(rp_writer_wait(g->writer));
    const double written = rp_writer_seconds(g->writer);
    rp_result result = stats_line(g, stats, totals, written - g->written, &w.stats);
    result = result == RP_OK ? force_lines(g, stats, &w.forces) : result;
    result = result == RP_OK ? body_lines(g, stats, &w.bodies) : result;
    result = result == RP_OK ? contact_lines(g, stats, &w.contacts) : result;
    result = result == RP_OK ? rp_world_save(g->def->world, &w.state, &w.size) : result;
    if (result != RP_OK) {
        free(w.stats);
        free(w.forces);
        free(w.bodies);
        free(w.contacts);
        return result;
    }
    w.probes = take_lines(&g->read);
    w.cracks = take_lines(&g->cracks);
    rp_folder_frame(folder, stats->frame, w.path);
    w.fps = g->def->world->def.fps;
    rp_folder_path(folder, "state.hdf", g->def->world->chosen ? w.whole : w.remove);
    if (g->def->latest && stats->frame >= 2) {
        rp_folder_frame(folder, stats->frame - 2, w.drop_state);
    }
    rp_writer_write(g->writer, &w);
    g->before = *stats;
    g->written = written;
    return RP_OK;
}

static rp_result save_middle(go *g)
{
    rp_writing w = {0};
    RP_TRY(rp_writer_wait(g->writer));
    RP_TRY(rp_world_save(g->def->world, &w.state, &w.size));
    w.probes = take_lines(&g->read);
    w.cracks = take_lines(&g->cracks);
    rp_folder_path(&g->run->folder, "state.hdf", w.path);
    rp_writer_write(g->writer, &w);
    g->saved = rp_seconds();
    return RP_OK;
}

// The last state, with the sentence and the guilty marked.
static rp_result write_failure(const go *g, const char *sentence)
{
    const rp_world *world = g->def->world;
    uint64_t *guilty = calloc(GUILTY_MOST, sizeof *guilty);
    rp_frame_words words = {.title = g->def->title, .failure = sentence, .guilty = guilty};
    char path[RP_PATH];
    void *state;
    size_t size;
    if (guilty != NULL) {
        const int64_t count = rp_world_guilty(world, guilty, GUILTY_MOST);
        words.guilty_count = count < GUILTY_MOST ? count : GUILTY_MOST;
    }
    rp_result result = rp_world_save(world, &state, &size);
    if (result == RP_OK) {
        rp_folder_path(&g->run->folder, "failure.hdf", path);
        result = rp_frame_write(path, state, size, &words);
        rp_state_free(state);
    }
    free(guilty);
    return result;
}

// ---- start ----

// The folders that a path leads through, from its byte `first` on.
static rp_result make_folders(char path[RP_PATH], size_t first)
{
    for (char *slash = strchr(path + first, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        const rp_result result = made ? RP_OK : rp_file_cannot("make", path, errno);
        *slash = '/';
        RP_TRY(result);
    }
    return RP_OK;
}

// Is there nothing where a copy belongs, or that copy? A process that was killed before its run
// began has left it.
static rp_result check_place(const char *from, const char *to)
{
    uint64_t ours, theirs;
    if (access(to, F_OK) != 0) {
        return RP_OK;
    }
    RP_TRY(rp_checksum_file(from, &ours));
    RP_TRY(rp_checksum_file(to, &theirs));
    return ours == theirs
               ? RP_OK
               : rp_fail(RP_ERR_ARGUMENT,
                         "%s is in the way: a copy of %s belongs there, and it is another file", to,
                         from);
}

static rp_result copy_file(const char *from, const char *to)
{
    enum { PIECE = 1 << 16 };
    char piece[PIECE];
    RP_TRY(check_place(from, to));
    if (access(to, F_OK) == 0) {
        return RP_OK;
    }
    FILE *in;
    rp_file out;
    RP_TRY(rp_file_open(from, &in));
    rp_result result = rp_file_replace(&out, to);
    if (result == RP_OK) {
        for (size_t n = 1; n > 0 && result == RP_OK;) {
            n = fread(piece, 1, sizeof piece, in);
            result = rp_file_write(&out, piece, n);
        }
        result = result == RP_OK && ferror(in) ? rp_file_cannot("read", from, errno) : result;
        result = rp_file_end(&out, result);
    }
    fclose(in);
    return result;
}

// Does the run that the folder holds say that it copied this file?
static bool is_copy_of_old(const json_t *record, const char *name)
{
    const json_t *copies = json_object_get(record, "copies");
    for (size_t i = 0; i < json_array_size(copies); i++) {
        const char *copy = json_string_value(json_array_get(copies, i));
        if (copy != NULL && strcmp(copy, name) == 0) {
            return true;
        }
    }
    return false;
}

// Before a run is removed: a run of its own copy of its scene cannot take its place, and neither
// can one that would then find something else in the way.
static rp_result check_sources(const go *g)
{
    char path[RP_PATH];
    json_t *record = rp_folder_json(&g->run->folder, "run.json");
    char *folder = realpath(g->run->folder.path, NULL);
    const size_t length = folder != NULL ? strlen(folder) : 0;
    rp_result result = RP_OK;
    for (int i = 0; folder != NULL && result == RP_OK && i < g->def->files; i++) {
        const char *from = g->def->file[i].from, *name = g->def->file[i].name;
        char *real = from != NULL ? realpath(from, NULL) : NULL;
        if (real != NULL && strncmp(real, folder, length) == 0 && real[length] == '/') {
            result = rp_fail(RP_ERR_ARGUMENT,
                             "the scene reads %s, in the folder that would be overwritten: -o "
                             "chooses another folder",
                             from);
        } else if (from != NULL && !is_copy_of_old(record, name)) {
            result = check_place(from, rp_folder_path(&g->run->folder, name, path));
        }
        free(real);
    }
    free(folder);
    json_decref(record);
    return result;
}

static rp_result write_files(const go *g)
{
    char path[RP_PATH];
    for (int i = 0; i < g->def->files; i++) {
        const rp_run_file *file = &g->def->file[i];
        rp_folder_path(&g->run->folder, file->name, path);
        RP_TRY(make_folders(path, strlen(g->run->folder.path) + 1));
        RP_TRY(file->from != NULL ? copy_file(file->from, path)
                                  : rp_file_write_all(path, file->data, file->size));
    }
    return RP_OK;
}

static rp_run_answer ask(const go *g, const rp_stats *stats, const rp_totals *totals)
{
    const rp_run_progress progress = {.stats = stats, .totals = totals, .frames = g->def->frames};
    return g->def->tick != NULL ? g->def->tick(g->def->context, &progress) : RP_RUN_GO;
}

// A frame's time at once, so that somebody may ask to stop: then there is no state yet, and
// resuming settles anew.
static rp_result settle(go *g)
{
    rp_world *world = g->def->world;
    const double piece = 1.0 / world->def.fps;
    for (double left = g->def->settle; left > 0.0 && !g->stopped; left -= piece) {
        rp_stats stats;
        const rp_result result = rp_world_settle(world, left < piece ? left : piece);
        g->stopped = result == RP_ERR_STOPPED;
        RP_TRY(g->stopped ? RP_OK : result);
        rp_world_stats(world, &stats);
        g->stopped = g->stopped || ask(g, &stats, NULL) == RP_RUN_STOP;
    }
    return g->def->settle > 0.0 && !g->stopped ? rp_world_prepare(world) : RP_OK;
}

static rp_result start_new(go *g)
{
    char path[RP_PATH];
    rp_stats stats;
    rp_totals totals;
    RP_TRY(rp_world_prepare(g->def->world));
    if (g->run->mode == RP_RUN_OVERWRITE) {
        RP_TRY(check_sources(g));
        RP_TRY(rp_folder_clear(&g->run->folder));
    }
    g->begun = true;
    if (g->run->mode != RP_RUN_RESUME) {
        RP_TRY(write_files(g)); // a run that was killed before its first frame has them
        RP_TRY(rp_world_write_shapes(g->def->world, &g->run->folder));
    }
    RP_TRY(write_record(g, "running"));
    rp_folder_path(&g->run->folder, "frames", path);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return rp_file_cannot("make", path, errno);
    }
    rp_folder_path(&g->run->folder, "stats.csv", path);
    char header[LINE_MOST];
    stats_header(g->def->world, header);
    RP_TRY(rp_file_write_all(path, header, strlen(header)));
    rp_folder_path(&g->run->folder, "forces.csv", path);
    RP_TRY(rp_file_write_all(path, FORCES_HEADER, strlen(FORCES_HEADER)));
    if (g->def->world->rigids > 0) {
        rp_folder_path(&g->run->folder, "bodies.csv", path);
        RP_TRY(rp_file_write_all(path, BODIES_HEADER, strlen(BODIES_HEADER)));
    }
    if (g->def->world->def.contact) {
        rp_folder_path(&g->run->folder, "contacts.csv", path);
        RP_TRY(rp_file_write_all(path, CONTACTS_HEADER, strlen(CONTACTS_HEADER)));
    }
    if (g->def->world->probes > 0) {
        rp_folder_path(&g->run->folder, "probes.csv", path);
        RP_TRY(rp_file_write_all(path, rp_probes_header, strlen(rp_probes_header)));
    }
    if (has_glue(g->def->world)) {
        rp_folder_path(&g->run->folder, "cracks.csv", path);
        RP_TRY(rp_file_write_all(path, CRACKS_HEADER, strlen(CRACKS_HEADER)));
    }
    RP_TRY(settle(g));
    g->def->world->crack_count = 0; // before time begins
    if (g->stopped) {
        return RP_OK;
    }
    rp_world_stats(g->def->world, &stats);
    rp_world_totals(g->def->world, &totals);
    rp_watch_begin(g->def->world, &totals);
    RP_TRY(rp_probes_read(g->def->world, -INFINITY, &g->read));
    return save_frame(g, &stats, &totals);
}

static void note_other_machine(const go *g)
{
    const char *isa = json_string_value(json_object_get(g->run->record, "instruction_set"));
    if (isa != NULL && strcmp(isa, rp_world_isa(g->def->world)) != 0) {
        rp_log(RP_LOG_WARNING,
               "this run was begun with instruction set %s and goes on with %s: the bits will "
               "differ from a run without a break",
               isa, rp_world_isa(g->def->world));
    }
}

// What a kill left half done: temporary files, states that a later frame has made superfluous, an
// index without the last frame.
static rp_result tidy_up(const go *g)
{
    const rp_folder *folder = &g->run->folder;
    char path[RP_PATH];
    rp_folder_sweep(folder);
    rp_folder_path(folder, "state.hdf", path);
    if (strcmp(path, g->run->newest) != 0) {
        unlink(path);
    }
    for (int64_t frame = 0; g->def->latest && frame + 1 < g->run->newest_frame; frame++) {
        rp_folder_frame(folder, frame, path);
        if (access(path, F_OK) == 0 && rp_folder_is_whole(path)) {
            RP_TRY(rp_frame_drop_state(path));
        }
    }
    unlink(rp_folder_path(folder, "failure.hdf", path));
    return rp_folder_index(folder, g->def->world->def.fps);
}

static rp_result start_again(go *g)
{
    const rp_folder *folder = &g->run->folder;
    void *state;
    size_t size;
    RP_TRY(rp_frame_read_state(g->run->newest, &state, &size));
    const rp_result result = rp_world_restore(g->def->world, state, size);
    rp_state_free(state);
    RP_TRY(result);
    note_other_machine(g);
    char header[LINE_MOST];
    stats_header(g->def->world, header);
    RP_TRY(rp_table_cut(folder, "stats.csv", header, g->run->newest_frame));
    RP_TRY(rp_table_cut(folder, "forces.csv", FORCES_HEADER, g->run->newest_frame));
    if (g->def->world->rigids > 0) {
        RP_TRY(rp_table_cut(folder, "bodies.csv", BODIES_HEADER, g->run->newest_frame));
    }
    if (g->def->world->def.contact) {
        RP_TRY(rp_table_cut(folder, "contacts.csv", CONTACTS_HEADER, g->run->newest_frame));
    }
    if (g->def->world->probes > 0) {
        RP_TRY(rp_table_cut(folder, "probes.csv", rp_probes_header, g->def->world->time.step));
    }
    if (has_glue(g->def->world)) {
        RP_TRY(rp_table_cut(folder, "cracks.csv", CRACKS_HEADER, g->def->world->time.step));
    }
    RP_TRY(tidy_up(g));
    RP_TRY(write_record(g, "running"));
    rp_world_stats(g->def->world, &g->before);
    return RP_OK;
}

// ---- go ----

// One step, and what its end calls for.
static rp_result advance(go *g, rp_run_answer *answer)
{
    rp_world *world = g->def->world;
    rp_stats stats;
    rp_totals totals;
    const int64_t frame = world->time.frame;
    const double before = rp_world_time(world);
    const int64_t step = world->time.step;
    const rp_result stepped = rp_world_step(world);
    g->torn = world->time.step != step;
    RP_TRY(stepped);
    const bool frame_ended = world->time.frame != frame;
    rp_world_stats(world, &stats);
    RP_TRY(rp_probes_read(world, before, &g->read));
    RP_TRY(crack_lines(g));
    g->torn = frame_ended;
    if (g->read.used + g->cracks.used > LINES_MOST) {
        RP_TRY(write_lines(g));
    }
    if (frame_ended) {
        const double since = rp_seconds();
        rp_world_totals(world, &totals);
        RP_TRY(rp_watch_frame(world, &totals, g->def->energy_limit));
        rp_world_look_at_mouths(world);
        RP_TRY(save_frame(g, &stats, &totals));
        g->torn = false;
        g->held = rp_seconds() - since;
        if (has_new_warnings(g->run)) {
            RP_TRY(write_record(g, "running"));
        }
    } else if (g->def->save_seconds > 0.0 && rp_seconds() - g->saved > g->def->save_seconds &&
               rp_writer_idle(g->writer)) {
        RP_TRY(save_middle(g));
    }
    *answer = ask(g, &stats, frame_ended ? &totals : NULL);
    return RP_OK;
}

static rp_result run_to_end(go *g, rp_run_end *end)
{
    rp_world *world = g->def->world;
    rp_stats stats;
    if (g->stopped) {
        *end = RP_RUN_STOPPED;
        return RP_OK;
    }
    rp_world_stats(world, &stats);
    rp_run_answer answer = ask(g, &stats, NULL);
    while (answer == RP_RUN_GO && world->time.frame < g->def->frames) {
        const rp_result result = advance(g, &answer);
        // a function of the host's was told to stop: the step was not done, or not to its end, and
        // is when the run goes on
        const bool stopped = result == RP_ERR_STOPPED && !world->failed;
        RP_TRY(stopped ? RP_OK : result);
        answer = stopped ? RP_RUN_STOP : answer;
    }
    const bool finished = world->time.frame >= g->def->frames && !g->torn;
    if (!finished && !g->torn && world->time.part > 0.0) {
        RP_TRY(save_middle(g));
    }
    RP_TRY(rp_writer_wait(g->writer));
    *end = finished ? RP_RUN_FINISHED : RP_RUN_STOPPED;
    return RP_OK;
}

// What went wrong stays the sentence; what can be saved is.
static void save_what_can_be(go *g, const char *sentence)
{
    const rp_world *world = g->def->world;
    if (rp_writer_wait(g->writer) != RP_OK) {
        return;
    }
    if (world->failed && write_failure(g, sentence) != RP_OK) {
        rp_log(RP_LOG_WARNING, "no failure.hdf: %s", rp_last_error());
    } else if (!world->failed && !g->torn && world->time.part > 0.0 &&
               (save_middle(g) != RP_OK || rp_writer_wait(g->writer) != RP_OK)) {
        rp_log(RP_LOG_WARNING, "no state.hdf: %s", rp_last_error());
    }
    if (world->failed && write_lines(g) != RP_OK) { // what led there
        rp_log(RP_LOG_WARNING, "the last lines of probes.csv or cracks.csv are lost: %s",
               rp_last_error());
    }
}

static rp_result check_run_def(const rp_run_def *def)
{
    if (def->cookie != RP_DEF_COOKIE) {
        return rp_fail(RP_ERR_ARGUMENT, "run: start from rp_default_run_def()");
    }
    if (!(def->settle >= 0.0 && def->settle < 1e9)) {
        return rp_fail(RP_ERR_ARGUMENT, "run.settle: want >= 0 s, got %g", def->settle);
    }
    if (def->title != NULL && !rp_is_text(def->title, strlen(def->title))) {
        return rp_fail(RP_ERR_ARGUMENT, "run.title: want one line of UTF-8 text, got other bytes");
    }
    if (def->frames < 0) {
        return rp_fail(RP_ERR_ARGUMENT, "run.frames: want >= 0, got %" PRId64, def->frames);
    }
    if (!(def->energy_limit == 0.0 || def->energy_limit > 1.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "run.energy_limit: want > 1, or 0 for none, got %g",
                       def->energy_limit);
    }
    if (!(def->save_seconds >= 0.0)) {
        return rp_fail(RP_ERR_ARGUMENT, "run.save_seconds: want >= 0 s, got %g", def->save_seconds);
    }
    return RP_OK;
}

static rp_result go_on(go *g, rp_run_end *end)
{
    static const char *const status[] = {"finished", "interrupted", "failed"};
    rp_result started = g->run->has_state ? start_again(g) : start_new(g);
    if (started == RP_ERR_STOPPED) {
        g->stopped = true;
        started = RP_OK;
    }
    const kept_error error = keep_error(started == RP_OK ? run_to_end(g, end) : started);
    if (started == RP_OK && error.result != RP_OK) {
        save_what_can_be(g, error.sentence);
    }
    if (started != RP_OK && (!g->begun || !rp_folder_has_run(&g->run->folder))) {
        return fail_again(&error); // nothing was begun, and what there was stays as it is
    }
    const rp_result recorded = write_record(g, status[*end]);
    return error.result == RP_OK ? recorded : fail_again(&error);
}

rp_result rp_run_go(rp_run *run, const rp_run_def *def, rp_run_end *end)
{
    *end = RP_RUN_FAILED;
    RP_TRY(check_run_def(def));
    if (!rp_comm_alone(def->world->comm)) {
        return rp_fail(RP_ERR_UNSUPPORTED, "run.world: several ranks cannot write a run yet");
    }
    go g = {.run = run, .def = def};
    g.began = g.saved = rp_seconds();
    RP_TRY(rp_writer_open(&g.writer, &run->folder, def->title, &def->world->choice));
    const kept_error error = keep_error(go_on(&g, end));
    const rp_result closed = rp_writer_close(g.writer);
    free(g.read.text);
    free(g.cracks.text);
    *end = error.result == RP_OK && closed == RP_OK ? *end : RP_RUN_FAILED;
    return error.result == RP_OK ? closed : fail_again(&error);
}

int64_t rp_run_last_frame(const char *folder)
{
    return rp_folder_last_frame(&(rp_folder){.path = (char *)(uintptr_t)folder, .lock = -1});
}

bool rp_run_is_active(const char *folder)
{
    return rp_folder_is_locked(&(rp_folder){.path = (char *)(uintptr_t)folder, .lock = -1});
}

rp_result rp_run_frame_path(const char *folder, int64_t frame, char *out, size_t size)
{
    char path[RP_PATH];
    const rp_folder run = {.path = (char *)(uintptr_t)folder, .lock = -1};
    const size_t length = strlen(rp_folder_frame(&run, frame, path));
    if (length >= size) {
        return rp_fail(RP_ERR_ARGUMENT, "run.folder: its path is too long: %.60s...", folder);
    }
    memcpy(out, path, length + 1);
    return RP_OK;
}
