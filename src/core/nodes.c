#include "core/nodes.h"

#include "base/result.h"
#include "base/threads.h"
#include "core/exchange.h"

#include <math.h>

static double number_at(const rp_layout *l, const void *numbers, int at)
{
    return l->precision == RP_SINGLE ? (double)((const float *)numbers)[at]
                                     : ((const double *)numbers)[at];
}

rp_result rp_nodes_number(rp_node_numbers *numbers, const rp_grid *grid, double least)
{
    const rp_layout *l = &grid->layout;
    if (!rp_comm_alone(grid->comm)) {
        return rp_fail(RP_ERR_UNSUPPORTED, "nodes are not numbered across several ranks yet");
    }
    const size_t bytes = (size_t)grid->pages * (size_t)l->nodes * sizeof(uint32_t);
    if (numbers->number.bytes < bytes) {
        RP_TRY(rp_buffer_reserve(&numbers->number, grid->allocator, bytes + bytes / 4, 0,
                                 "numbers of nodes"));
    }
    uint32_t *number = numbers->number.data;
    numbers->count = 0;
    for (rp_local p = 0; p < grid->pages; p++) {
        const void *node = rp_grid_nodes(grid, RP_CH_MOMENTUM, p);
        for (int n = 0; n < l->nodes; n++) {
            const bool heavy = number_at(l, node, n * RP_QUAD + 3) > least;
            *number++ = heavy ? (uint32_t)numbers->count++ : RP_NO_NUMBER;
        }
    }
    return RP_OK;
}

void rp_node_numbers_free(rp_node_numbers *numbers, const rp_allocator *a)
{
    rp_buffer_free(&numbers->number, a);
}

typedef struct dot_job {
    const rp_grid *grid;
    int channel[2], comps;
    double *partial;
} dot_job;

static void dot_page(void *context, int64_t page, int thread)
{
    (void)thread;
    const dot_job *job = context;
    const rp_grid *grid = job->grid;
    const void *x = rp_grid_nodes(grid, job->channel[0], (rp_local)page);
    const void *y = rp_grid_nodes(grid, job->channel[1], (rp_local)page);
    const int wide[2] = {grid->channel[job->channel[0]].comps,
                         grid->channel[job->channel[1]].comps};
    double sum = 0.0;
    for (int n = 0; n < grid->layout.nodes; n++) {
        for (int c = 0; c < job->comps; c++) {
            sum += number_at(&grid->layout, x, n * wide[0] + c) *
                   number_at(&grid->layout, y, n * wide[1] + c);
        }
    }
    job->partial[page] = sum;
}

double rp_nodes_dot(const rp_grid *grid, int a, int b, int comps, int threads, double *partial)
{
    RP_ASSERT(comps <= grid->channel[a].comps && comps <= grid->channel[b].comps);
    dot_job job = {.grid = grid, .channel = {a, b}, .comps = comps, .partial = partial};
    rp_parallel_for(threads, grid->pages, 16, dot_page, &job);
    double total = 0.0;
    rp_sum sum = {
        .comm = grid->comm, .allocator = grid->allocator, .numbers = 1, .context = &total};
    for (rp_local p = 0; p < grid->pages; p++) {
        if (rp_grid_owns(grid, p)) {
            rp_sum_put(&sum, rp_grid_page(grid)[p].key, rp_grid_page(grid)[p].field, 0,
                       &partial[p]);
        }
    }
    return rp_sum_end(&sum) == RP_OK ? total : NAN;
}
