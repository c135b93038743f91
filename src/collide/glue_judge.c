// Which glue breaks: by the stress across and along its cut, or by the forces of the paper.
#include "collide/glue_set.h"
#include "collide/glue_stress.h"

#include "base/result.h"
#include "base/threads.h"

// How much of what glue withstands is used up, docs/theory.md (C3): at 1 it breaks.
static double use_of(const rp_glue_rule *rule, double strength, const double stress[3][3],
                     const double normal[3], int dim)
{
    double traction[3] = {0}, across = 0.0, along2 = 0.0;
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            traction[i] += stress[i][j] * normal[j];
        }
        across += traction[i] * normal[i];
    }
    for (int i = 0; i < dim; i++) {
        const double along = traction[i] - across * normal[i];
        along2 += along * along;
    }
    const double pull = across > 0.0 ? across / strength : 0.0;
    const double shear = rule->shear * strength + rule->friction * (across < 0.0 ? -across : 0.0);
    return sqrt(pull * pull + along2 / (shear * shear));
}

// ---- the criterion of the paper ----

// Wretborn (2017) (20), with outward normals and the sign that lets tension break:
// docs/theory.md (C5). @return the force between two bodies at a node, without what presses
static double force_between(const double *b, const double *d, int dim)
{
    double normal[3] = {0}, gap[3] = {0}, bb = 0.0, dd = 0.0, nn = 0.0, push_b = 0.0, push_d = 0.0;
    double force2 = 0.0;
    for (int a = 0; a < dim; a++) {
        bb += b[3 + a] * b[3 + a];
        dd += d[3 + a] * d[3 + a];
    }
    if (!(bb > 0.0 && dd > 0.0)) {
        return 0.0;
    }
    for (int a = 0; a < dim; a++) {
        normal[a] = b[3 + a] / sqrt(bb) - d[3 + a] / sqrt(dd);
        nn += normal[a] * normal[a];
    }
    for (int a = 0; a < dim && nn > 0.0; a++) {
        normal[a] /= sqrt(nn);
        push_b += b[a] * normal[a];
        push_d -= d[a] * normal[a];
    }
    push_b = push_b > 0.0 ? push_b : 0.0;
    push_d = push_d > 0.0 ? push_d : 0.0;
    for (int a = 0; a < dim; a++) {
        gap[a] = b[a] - push_b * normal[a] - (d[a] + push_d * normal[a]);
        force2 += gap[a] * gap[a];
    }
    return sqrt(force2);
}

// What a thread works with.
typedef struct judge_room {
    rp_smear smear;
    double (*held)[2]; // [node]: strengths of glue there, and their weights
    bool *open;        // [node]: the force is too much for them
} judge_room;

// Strengths of all glue between two bodies, at the nodes of the lattice.
static void hold_nodes(judge_room *m, int partner)
{
    const rp_set *set = m->smear.job->species[m->smear.job->glue].set;
    const rp_layout *l = &set->layout;
    const rp_page *page = rp_set_page(set);
    memset(m->held, 0, rp_smear_nodes(&m->smear) * sizeof *m->held);
    for (int n = 0; n < RP_NEAR; n++) {
        int32_t offset[3];
        uint64_t key;
        if (!neighbour(l, m->smear.page->block, n, offset, &key)) {
            continue;
        }
        for (rp_local p = find_block(set, key); p < set->pages && page[p].key == key; p++) {
            for (rp_local slot = page[p].first;
                 slot < page[p].first + page[p].count && page[p].field == m->smear.page->field;
                 slot++) {
                const double strength = read_real(set, RP_COL_STRENGTH, slot, 0);
                double x[3];
                rp_smear_reach r;
                if (!(strength > 0.0) || is_dead(set, slot) || partner_of(set, slot) != partner) {
                    continue;
                }
                read_place(set, slot, x);
                for (int a = 0; a < l->dim; a++) {
                    x[a] += (double)(offset[a] * l->cells[a]);
                }
                rp_smear_find(&m->smear, x, &r);
                for (int k = 0; k < r.count; k++) {
                    m->held[r.node[k]][0] += r.weight[k] * strength;
                    m->held[r.node[k]][1] += r.weight[k];
                }
            }
        }
    }
}

// Nodes whose glue between two bodies gives way.
static void open_nodes(judge_room *m, int partner)
{
    const int dim = m->smear.job->grid->layout.dim;
    const size_t nodes = rp_smear_nodes(&m->smear);
    const int b = rp_smear_body(&m->smear, m->smear.page->field),
              d = rp_smear_body(&m->smear, partner);
    hold_nodes(m, partner);
    for (size_t n = 0; n < nodes; n++) {
        m->open[n] = b >= 0 && d >= 0 && m->held[n][1] > 0.0 &&
                     force_between((const double *)&m->smear.sum[(size_t)b * nodes + n],
                                   (const double *)&m->smear.sum[(size_t)d * nodes + n],
                                   dim) >= m->held[n][0] / m->held[n][1];
    }
}

// Does glue reach an open node?
static bool gives_way(const judge_room *m, const double x[3])
{
    rp_smear_reach r;
    bool any = false;
    rp_smear_find(&m->smear, x, &r);
    for (int k = 0; k < r.count; k++) {
        any = any || (m->open[r.node[k]] && r.weight[k] > 0.0);
    }
    return any;
}

// ---- all of it ----

// Where a slack is asked for.
static const double BREAKS = -1.0, SOFTENS = -2.0, AS_IT_WAS = INFINITY;

typedef struct breaking {
    const rp_glue_job *job;
    judge_room *room; // [thread]
    double *slack;    // [slot]: strengths stay as they are while others look at them
    int32_t *broken;  // [page]
    bool forces;      // now it is the turn of the paper's criterion
} breaking;

static const rp_glue_rule *rule_of(const rp_glue_job *job, rp_local slot)
{
    return &job->rule[material_of(job->species[job->glue].set, slot)];
}

// Is it glue that is due, and by this criterion?
static bool is_work(const breaking *b, rp_local slot)
{
    return is_due(b->job->species[b->job->glue].set, slot) &&
           (rule_of(b->job, slot)->criterion == RP_CRITERION_PAPER) == b->forces;
}

static bool has_work(const breaking *b, const rp_page *page)
{
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        if (is_work(b, slot)) {
            return true;
        }
    }
    return false;
}

// What it says of one particle of glue. @param[out] slack 0 or what may be added; where nothing is
// around it, nobody knows. @return true: its strength is overcome
static bool judge(judge_room *m, rp_local slot, int *partner, double *slack)
{
    const rp_glue_job *job = m->smear.job;
    const rp_set *set = job->species[job->glue].set;
    const rp_glue_rule *rule = rule_of(job, slot);
    const double strength = read_real(set, RP_COL_STRENGTH, slot, 0);
    const int other = partner_of(set, slot);
    double x[3], normal[3] = {0}, stress[3][3] = {{0}};
    read_place(set, slot, x);
    *slack = 0.0; // forces at nodes may be anything in the next step
    if (rule->criterion == RP_CRITERION_PAPER) {
        if (other != *partner) {
            open_nodes(m, other);
            *partner = other;
        }
        return gives_way(m, x);
    }
    for (int a = 0; a < set->layout.dim; a++) {
        normal[a] = read_real(set, RP_COL_NORMAL, slot, a);
    }
    bool alone; // the pieces are apart, and it holds nothing
    if (!rp_smear_stress(&m->smear, x, m->smear.page->field, other, stress, &alone)) {
        return false;
    }
    if (alone) {
        return true;
    }
    const double use = use_of(rule, strength, stress, normal, set->layout.dim);
    const double weaker = rule->shear < 1.0 ? rule->shear * strength : strength;
    if (!(use < 1.0)) {
        return true;
    }
    // twice what the gradient can add: it turns, and sees particles that are strained faster
    static const double SAFE = 2.0;
    *slack = (1.0 - use) * weaker / (1.0 + rule->friction) / (SAFE * m->smear.modulus);
    return false;
}

static void break_page(void *ctx, int64_t index, int thread)
{
    const breaking *b = ctx;
    const rp_set *set = b->job->species[b->job->glue].set;
    const rp_page *page = &rp_set_page(set)[index];
    judge_room *m = &b->room[thread];
    int partner = -1;
    if (!has_work(b, page)) {
        return;
    }
    rp_smear_around(&m->smear, page, b->forces);
    for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
        double slack;
        if (is_work(b, slot)) {
            const bool gone = softens(set, slot);
            const bool gives = gone || judge(m, slot, &partner, &slack);
            const bool breaks = gives && (gone || !(rule_of(b->job, slot)->softening > 0.0));
            b->slack[slot] = breaks ? BREAKS : gives ? SOFTENS : slack;
            b->broken[index] += breaks;
        }
    }
}

static int find_crack(const rp_crack *list, int count, int b, int d)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        const rp_crack *k = &list[middle];
        if (k->body[0] < b || (k->body[0] == b && k->body[1] < d)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// What broke, page by page.
static int sum_cracks(const breaking *b, rp_crack *list)
{
    const rp_set *set = b->job->species[b->job->glue].set;
    int count = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count && b->broken[p] > 0;
             slot++) {
            if (b->slack[slot] != BREAKS) {
                continue;
            }
            const int own = page->field, other = partner_of(set, slot);
            const int at = find_crack(list, count, own, other);
            if (at == count || list[at].body[0] != own || list[at].body[1] != other) {
                memmove(&list[at + 1], &list[at], (size_t)(count - at) * sizeof *list);
                list[at] = (rp_crack){.body = {own, other}};
                count++;
            }
            list[at].area += read_real(set, RP_COL_AREA, slot, 0);
            list[at].glue++;
        }
    }
    return count;
}

rp_result rp_glue_judge(const rp_glue_job *job, rp_verdict *out)
{
    static const char what[] = "stress around glue";
    const rp_set *set = job->species[job->glue].set;
    const size_t threads = (size_t)job->threads, pages = (size_t)set->pages + 1;
    breaking b = {.job = job};
    *out = (rp_verdict){0};
    int most = 2;
    for (rp_local p = 0; p < set->pages; p++) {
        const int around = rp_smear_room(job, &rp_set_page(set)[p]);
        most = around > most ? around : most;
    }
    b.room = rp_scratch_get(job->scratch, threads * sizeof *b.room, what);
    b.slack = rp_scratch_get(job->scratch, ((size_t)set->slots + 1) * sizeof *b.slack, what);
    b.broken = rp_scratch_get(job->scratch, pages * sizeof *b.broken, what);
    if (b.room == NULL || b.slack == NULL || b.broken == NULL) {
        return RP_ERR_MEMORY;
    }
    for (size_t t = 0; t < threads; t++) {
        judge_room *m = &b.room[t];
        RP_TRY(rp_smear_begin(&m->smear, job, most));
        m->held = rp_scratch_get(job->scratch, RP_SMEAR_NODES * sizeof *m->held, what);
        m->open = rp_scratch_get(job->scratch, RP_SMEAR_NODES * sizeof *m->open, what);
        if (m->held == NULL || m->open == NULL) {
            return RP_ERR_MEMORY;
        }
    }
    for (rp_local slot = 0; slot < set->slots; slot++) {
        b.slack[slot] = AS_IT_WAS;
    }
    memset(b.broken, 0, pages * sizeof *b.broken);
    for (int forces = 0; forces < 2; forces++) {
        b.forces = forces;
        rp_parallel_for(job->threads, set->pages, 1, break_page, &b);
    }
    out->slack = b.slack;
    int64_t broken = 0;
    for (rp_local p = 0; p < set->pages; p++) {
        broken += b.broken[p];
    }
    if (broken == 0) {
        return RP_OK;
    }
    out->crack = rp_scratch_get(job->scratch, (size_t)(broken + 1) * sizeof *out->crack, what);
    if (out->crack == NULL) {
        return RP_ERR_MEMORY;
    }
    out->cracks = sum_cracks(&b, out->crack);
    return RP_OK;
}

static const double BEGINS = 1e-30; // more than nothing [m]

void rp_glue_settle(rp_set *set, const rp_verdict *verdict)
{
    for (rp_local p = 0; p < set->pages; p++) {
        const rp_page *page = &rp_set_page(set)[p];
        for (rp_local slot = page->first; slot < page->first + page->count; slot++) {
            const double slack = verdict->slack[slot];
            if (slack == BREAKS) {
                write_real(set, RP_COL_STRENGTH, slot, 0, 0.0);
            } else if (slack == SOFTENS) {
                write_real(set, RP_COL_OPENING, slot, 0, BEGINS);
                write_real(set, RP_COL_SLACK, slot, 0, 1.0);
            } else if (slack != AS_IT_WAS) {
                write_real(set, RP_COL_SLACK, slot, 0, slack);
            }
        }
    }
}
