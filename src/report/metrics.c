/* metrics.c - the formulas over performance counters, and their statistics over an op's cores.
 * v is a counter's value, r its reference count. Unknown values are NaN and infinities become NaN;
 * the statistics leave NaN out. Means are summed with compensation, as pandas sums them, and in its
 * order, for the last digit's sake: the order of the markers where all counters of the metric come
 * in the same order, else the order of the cores' places. SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/map.h"
#include "report/metrics.h"
#include "report/metrics_table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_METRICS = sizeof table / sizeof table[0] };
static_assert(sizeof table / sizeof table[0] <= (size_t)STROBE_REPORT_METRICS_MAX,
              "one place for each metric");

/* One core's counters, for the metric under way. */
struct core {
    const struct strobe_report_metrics *metrics;
    const double *values, *refs; /* by counter number; NaN: this core did not say */
    const uint32_t *kinds;       /* of the metric's counters */
};

static bool is_present(const struct strobe_report_metrics *metrics, int metric, int counter)
{
    return metrics->kinds[metric * COUNTERS_MAX + counter] != UINT32_MAX;
}

static double pick(const struct core *core, const double *from, int counter)
{
    uint32_t kind = core->kinds[counter];
    if (kind == UINT32_MAX)
        return core->metrics->mode == STROBE_REPORT_METRICS_DEVICE ? 0 : NAN;
    return from[kind];
}

static double v(const struct core *core, int counter)
{
    return pick(core, core->values, counter);
}

static double r(const struct core *core, int counter)
{
    return pick(core, core->refs, counter);
}

static bool is_device(const struct core *core)
{
    return core->metrics->mode == STROBE_REPORT_METRICS_DEVICE;
}

static double divide(const struct core *core, double part, double whole, double scale)
{
    if (is_device(core) && !(whole > 0))
        return NAN;
    double ratio = part / whole * scale;
    return isinf(ratio) ? NAN : ratio;
}

/* Share of `whole` that `part` is not, never below 0. */
static double rest(const struct core *core, double part, double whole)
{
    if (is_device(core) && !(whole > 0))
        return NAN;
    double ratio = (whole - part) / whole * 100;
    if (is_device(core))
        return ratio > 0 ? ratio : 0;
    if (ratio < 0)
        return 0;
    return isinf(ratio) ? NAN : ratio;
}

static double mean_known(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : (a + b) / 2;
}

/* The packer's port: the unified one where it exists. */
static int packer_port(const struct core *core, int first)
{
    return core->kinds[first] != UINT32_MAX ? first : first + 1;
}

static double packer(const struct core *core)
{
    if (core->metrics->packer_busy)
        return divide(core, v(core, 0), v(core, 1), 100);
    if (core->kinds[2] != UINT32_MAX)
        return divide(core, v(core, 2), v(core, 0), 100);
    return NAN;
}

static double handoff(const struct core *core)
{
    if (core->metrics->packer_busy)
        return divide(core, v(core, 0), v(core, 1), 100);
    return core->kinds[0] == UINT32_MAX ? NAN : divide(core, v(core, 0), r(core, 0), 100);
}

static double pressure2(const struct core *core)
{
    double wanted = v(core, 0) + v(core, 1);
    return rest(core, v(core, 2) + v(core, 3), wanted);
}

/* All eight ports; ports that no core reports are left out. */
static double total_bandwidth(const struct core *core)
{
    int port = packer_port(core, 7);
    double sum = 0;
    for (int i = 0; i < 7; i++)
        if (core->kinds[i] != UINT32_MAX)
            sum += v(core, i);
    if (core->kinds[port] != UINT32_MAX)
        sum += v(core, port);
    return divide(core, sum, 8 * r(core, 0), 100);
}

static double contention(const struct core *core)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < 5; i++) {
        bool both = core->kinds[i] != UINT32_MAX && core->kinds[i + 5] != UINT32_MAX;
        if (is_device(core) ? !(v(core, i) > 0) : !both)
            continue;
        sum += rest(core, v(core, i + 5), v(core, i));
        n++;
    }
    return n ? sum / n : NAN;
}

static double overlap(const struct core *core)
{
    double sum = 0;
    for (int i = 1; i < COUNTERS_MAX; i++)
        sum += v(core, i);
    return divide(core, sum, v(core, 0), 1);
}

/* An unknown first engine makes all unknown; later ones are passed over. */
static double imbalance(const struct core *core)
{
    double least = v(core, 0), most = least;
    for (int i = 1; i < 4; i++) {
        double busy = v(core, i);
        least = busy < least ? busy : least;
        most = busy > most ? busy : most;
    }
    return divide(core, most - least, most, 100);
}

static double shares(const struct core *core, enum form form)
{
    double out = v(core, 0) + v(core, 1), in = v(core, 2) + v(core, 3), reads, writes;
    switch (form) {
    case FORM_READ_WRITE:
        reads = v(core, 0) + v(core, 1) + v(core, 2);
        writes = v(core, packer_port(core, 5)) + v(core, 3) + v(core, 4);
        return divide(core, reads, reads + writes, 100);
    case FORM_ASYMMETRY:
        return divide(core, out, out + in, 100);
    case FORM_BALANCE:
        return divide(core, out + in, v(core, 4) + (out + in), 100);
    default: /* FORM_TDMA_SHARE */
        return divide(core, v(core, 4) + v(core, 5), v(core, 4) + v(core, 5) + out + in, 100);
    }
}

static double fidelity(const struct core *core, enum form form)
{
    double one = v(core, 0), two = v(core, 1), four = v(core, 2), total = one + two + four;
    if (form == FORM_HIFI)
        return divide(core, two + four, total, 100);
    return divide(core, one + 2 * two + 4 * four, total, 1);
}

static double unpackers(const struct core *core)
{
    int second = is_device(core) ? 4 : 2;
    return mean_known(divide(core, v(core, 0), v(core, 1), 100),
                      divide(core, v(core, second), v(core, 3), 100));
}

static double difference(const struct core *core)
{
    if (is_device(core))
        return rest(core, v(core, 0), v(core, 1));
    return divide(core, v(core, 1) - v(core, 0), v(core, 1), 100);
}

static double evaluate(const struct core *core, enum form form)
{
    switch (form) {
    case FORM_UTIL:
    case FORM_ENGINE:
        return divide(core, v(core, 0), r(core, 0), 100);
    case FORM_RATE:
        return divide(core, v(core, 0), r(core, 0), 1);
    case FORM_RATIO:
    case FORM_MATH_PIPE:
        return divide(core, v(core, 0), v(core, 1), 100);
    case FORM_UNPACKER1:
        return divide(core, v(core, is_device(core) ? 2 : 0), v(core, 1), 100);
    case FORM_UNPACKERS:
        return unpackers(core);
    case FORM_PACKER:
        return packer(core);
    case FORM_HANDOFF:
        return handoff(core);
    case FORM_FLOW:
        return divide(core, (v(core, 0) + v(core, 1)) / 2, (v(core, 2) + v(core, 3)) / 2, 100);
    case FORM_COMPLEMENT:
    case FORM_UNPACKER_PRESSURE:
        return rest(core, v(core, 0), v(core, 1));
    case FORM_HIFI:
    case FORM_HF_CYCLES:
        return fidelity(core, form);
    case FORM_MEAN2:
        return divide(core, (v(core, 0) + v(core, 1)) / 2, r(core, 0), 100);
    case FORM_PORT_UTIL:
        return divide(core, v(core, packer_port(core, 0)), r(core, packer_port(core, 0)), 100);
    case FORM_PRESSURE2:
        return pressure2(core);
    case FORM_PORT_PRESSURE:
        return rest(core, v(core, 2), v(core, packer_port(core, 0)));
    case FORM_DIFFERENCE:
    case FORM_DEST_WRITE:
        return difference(core);
    case FORM_TOTAL_BW:
        return total_bandwidth(core);
    case FORM_CONTENTION:
        return contention(core);
    case FORM_OVERLAP:
        return overlap(core);
    case FORM_IMBALANCE:
        return imbalance(core);
    case FORM_COMPUTE_UNPACK:
        return divide(core, v(core, 0), v(core, 1) + v(core, 2), 100);
    default:
        return shares(core, form);
    }
}

/* ---- which metrics a device has ---- */

static bool has_all(const struct strobe_report_metrics *metrics, int metric)
{
    for (int i = 0; i < COUNTERS_MAX && table[metric].counters[i]; i++)
        if (!is_present(metrics, metric, i))
            return false;
    return true;
}

static bool is_active_full(const struct strobe_report_metrics *m, int i)
{
    if (table[i].device_only)
        return false;
    switch (table[i].form) {
    case FORM_PRESSURE2:
        return is_present(m, i, 0) && is_present(m, i, 2);
    case FORM_UNPACKER_PRESSURE:
        return has_all(m, i) && m->unpacker_grants;
    case FORM_PORT_UTIL:
        return is_present(m, i, 0) || is_present(m, i, 1);
    case FORM_PORT_PRESSURE:
        return (is_present(m, i, 0) || is_present(m, i, 1)) && is_present(m, i, 2);
    case FORM_DEST_WRITE:
        return has_all(m, i) && m->dest_write;
    case FORM_TOTAL_BW:
    case FORM_READ_WRITE:
        return is_present(m, i, 0) && is_present(m, i, 1);
    case FORM_ASYMMETRY:
    case FORM_BALANCE:
        return is_present(m, i, 0) && is_present(m, i, 4);
    case FORM_TDMA_SHARE:
        return is_present(m, i, 0) && is_present(m, i, 6);
    case FORM_CONTENTION:
        return is_present(m, i, 5) && is_present(m, i, 6);
    default:
        return table[i].base || has_all(m, i);
    }
}

static bool is_active_device(const struct strobe_report_metrics *m, int i)
{
    switch (table[i].form) {
    case FORM_UNPACKER1:
        return is_present(m, i, 2);
    case FORM_UNPACKERS:
        return is_present(m, i, 0);
    case FORM_PACKER:
        return m->packer_busy || is_present(m, i, 2);
    case FORM_MATH_PIPE:
        return m->math_started;
    case FORM_HANDOFF:
        return m->packer_busy || is_present(m, i, 0);
    case FORM_UNPACKER_PRESSURE:
        return m->unpacker_grants;
    case FORM_DEST_WRITE:
        return m->dest_write;
    case FORM_ENGINE:
        return strobe_report_counters_name(m->counters, "PACKER_BUSY_0") != UINT32_MAX;
    case FORM_OVERLAP:
    case FORM_IMBALANCE:
        return has_all(m, i);
    case FORM_COMPUTE_UNPACK:
        return is_present(m, i, 0) && is_present(m, i, 1);
    default:
        return strcmp(table[i].name, "Unpacker0 Write Efficiency") || is_present(m, i, 0);
    }
}

static bool any_nonzero(const struct strobe_report_metrics *metrics, const char *name)
{
    uint32_t kind = strobe_report_counters_name(metrics->counters, name);
    for (size_t i = metrics->from; kind != UINT32_MAX && i < metrics->to; i++)
        if (metrics->counters->values[i].kind == kind && metrics->counters->values[i].value > 0)
            return true;
    return false;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Of n values, none NaN; they are sorted. */
static double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Do the unpacker's grants belong to its requests? On some chips they count something else. */
static bool grants_fit(const struct strobe_report_metrics *metrics)
{
    const struct strobe_report_counter_value *all = metrics->counters->values;
    uint32_t asked = strobe_report_counters_name(metrics->counters, "L1_0_UNPACKER_0");
    uint32_t granted = strobe_report_counters_name(metrics->counters, "L1_0_UNPACKER_0_GRANT");
    double *ratios = malloc((metrics->to - metrics->from + 1) * sizeof *ratios);
    size_t n = 0;
    for (size_t i = metrics->from; ratios && i < metrics->to; i++) {
        if (all[i].kind != asked || !(all[i].value > 0))
            continue;
        for (size_t k = i; k-- > metrics->from;)
            if (all[k].run != all[i].run || all[k].counter != all[i].counter ||
                all[k].core != all[i].core)
                break;
            else if (all[k].kind == granted)
                ratios[n++] = all[k].value / all[i].value;
        for (size_t k = i + 1; k < metrics->to && all[k].run == all[i].run &&
                               all[k].counter == all[i].counter && all[k].core == all[i].core;
             k++)
            if (all[k].kind == granted)
                ratios[n++] = all[k].value / all[i].value;
    }
    bool fit = n && median_of(ratios, n) > 0.1;
    free(ratios);
    return fit;
}

static void find_kinds(struct strobe_report_metrics *metrics)
{
    bool *seen = calloc(metrics->counters->n_names + 1, sizeof *seen);
    for (size_t i = metrics->from; seen && i < metrics->to; i++)
        seen[metrics->counters->values[i].kind] = true;
    for (int i = 0; i < N_METRICS; i++)
        for (int k = 0; k < COUNTERS_MAX; k++) {
            const char *name = table[i].counters[k];
            uint32_t kind =
                name ? strobe_report_counters_name(metrics->counters, name) : UINT32_MAX;
            metrics->kinds[i * COUNTERS_MAX + k] =
                kind != UINT32_MAX && seen && seen[kind] ? kind : UINT32_MAX;
        }
    free(seen);
}

/* ---- the order of the cores ---- */

static const struct strobe_report_counter_value *sorted_values; /* for qsort; set by hash_orders */

static int compare_markers(const void *a, const void *b)
{
    const struct strobe_report_counter_value *x = &sorted_values[*(const size_t *)a];
    const struct strobe_report_counter_value *y = &sorted_values[*(const size_t *)b];
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->core < y->core ? -1 : x->core > y->core;
}

/* Per counter, a hash of which cores of which ops have it, in the order of its markers. */
static uint64_t *hash_orders(const struct strobe_report_metrics *metrics)
{
    size_t n = metrics->to - metrics->from;
    size_t *order = malloc((n + 1) * sizeof *order);
    uint64_t *hashes = calloc(metrics->counters->n_names + 1, sizeof *hashes);
    for (size_t i = 0; order && i < n; i++)
        order[i] = metrics->from + i;
    sorted_values = metrics->counters->values;
    if (order)
        qsort(order, n, sizeof *order, compare_markers);
    for (size_t i = 0; order && hashes && i < n; i++) {
        const struct strobe_report_counter_value *value = &sorted_values[order[i]];
        const uint64_t parts[] = {hashes[value->kind], value->run, (uint64_t)value->counter,
                                  value->core};
        hashes[value->kind] = strobe_hash_bytes(parts, sizeof parts, strobe_hash_seed());
    }
    free(order);
    return hashes;
}

/* The counters that a metric really takes: some have a second choice. */
static bool is_taken(const struct strobe_report_metrics *m, int metric, int counter)
{
    switch (table[metric].form) {
    case FORM_PACKER:
        return m->packer_busy ? counter < 2 : counter != 1;
    case FORM_HANDOFF:
        return m->packer_busy || counter == 0;
    case FORM_UNPACKER1:
        return counter < 2;
    case FORM_UNPACKERS:
        return counter < 2; /* the second pair follows the first */
    case FORM_UNPACKER_PRESSURE:
        return counter == 1;
    case FORM_PORT_UTIL:
    case FORM_PORT_PRESSURE:
        return counter == 2 || is_present(m, metric, 0) == (counter == 0);
    case FORM_TOTAL_BW:
        return is_present(m, metric, counter) && (counter != 8 || !is_present(m, metric, 7));
    case FORM_READ_WRITE:
        return counter < 5 || is_present(m, metric, 5) == (counter == 5);
    case FORM_ASYMMETRY:
        return counter < 4;
    case FORM_TDMA_SHARE:
        return counter < 6;
    case FORM_CONTENTION:
        return is_present(m, metric, counter % 5) && is_present(m, metric, counter % 5 + 5);
    default:
        return true;
    }
}

static void find_order(struct strobe_report_metrics *metrics, int metric, const uint64_t *hashes)
{
    uint32_t first = UINT32_MAX;
    metrics->order[metric] = UINT32_MAX;
    for (int i = 0; i < COUNTERS_MAX && table[metric].counters[i]; i++) {
        if (!is_taken(metrics, metric, i))
            continue;
        uint32_t kind = metrics->kinds[metric * COUNTERS_MAX + i];
        if (kind == UINT32_MAX || (first != UINT32_MAX && hashes[kind] != hashes[first]))
            return;
        first = kind;
    }
    metrics->order[metric] = first;
}

bool strobe_report_metrics_open(struct strobe_report_metrics *metrics,
                                const struct strobe_report_counters *counters, uint32_t device,
                                enum strobe_report_metrics_mode mode)
{
    *metrics = (struct strobe_report_metrics){.counters = counters, .mode = mode, .device = device};
    while (metrics->from < counters->n && counters->values[metrics->from].device < device)
        metrics->from++;
    metrics->to = metrics->from;
    while (metrics->to < counters->n && counters->values[metrics->to].device == device)
        metrics->to++;
    if (metrics->from == metrics->to)
        return false;
    metrics->kinds = malloc(N_METRICS * COUNTERS_MAX * sizeof *metrics->kinds);
    if (!metrics->kinds)
        return false;
    find_kinds(metrics);
    metrics->packer_busy = any_nonzero(metrics, "PACKER_BUSY");
    metrics->math_started = any_nonzero(metrics, "MATH_INSTRN_STARTED");
    metrics->dest_write = any_nonzero(metrics, "MATH_NOT_STALLED_DEST_WR_PORT");
    metrics->unpacker_grants = grants_fit(metrics);
    uint64_t *hashes = hash_orders(metrics);
    for (int i = 0; i < N_METRICS; i++) {
        metrics->order[i] = UINT32_MAX;
        if (hashes && mode == STROBE_REPORT_METRICS_FULL)
            find_order(metrics, i, hashes);
    }
    free(hashes);
    for (int i = 0; i < N_METRICS; i++)
        metrics->active[i] = mode == STROBE_REPORT_METRICS_FULL ? is_active_full(metrics, i)
                                                                : is_active_device(metrics, i);
    return true;
}

void strobe_report_metrics_close(struct strobe_report_metrics *metrics)
{
    free(metrics->kinds);
    *metrics = (struct strobe_report_metrics){0};
}

/* ---- one op ---- */

/* A core's value and what puts it in order. */
struct sample {
    double value;
    uint64_t first;
    int64_t second;
};

static bool is_before(const struct sample *a, const struct sample *b)
{
    return a->first != b->first ? a->first < b->first : a->second < b->second;
}

static void sort_samples(struct sample *samples, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct sample sample = samples[i];
        size_t k = i;
        for (; k > 0 && is_before(&sample, &samples[k - 1]); k--)
            samples[k] = samples[k - 1];
        samples[k] = sample;
    }
}

static void set_stats(struct sample *samples, size_t n, double *values,
                      double stats[STROBE_REPORT_STATS])
{
    size_t known = 0;
    double sum = 0, lost = 0;
    sort_samples(samples, n);
    for (size_t i = 0; i < n; i++)
        if (!isnan(samples[i].value)) {
            double add = samples[i].value - lost, next = sum + add;
            lost = next - sum - add;
            sum = next;
            values[known++] = samples[i].value;
        }
    for (int i = 0; i < STROBE_REPORT_STATS; i++)
        stats[i] = NAN;
    if (!known)
        return;
    stats[3] = sum / (double)known;
    stats[1] = median_of(values, known);
    stats[0] = values[0];
    stats[2] = values[known - 1];
}

static size_t find_op(const struct strobe_report_metrics *metrics, uint64_t run, int64_t counter)
{
    const struct strobe_report_counter_value *values = metrics->counters->values;
    return (size_t)STROBE_ARRAY_BISECT(metrics->from, metrics->to, i,
                                       values[i].run < run ||
                                           (values[i].run == run && values[i].counter < counter));
}

/* Tables of one core, by counter. */
struct tables {
    double *values, *refs;
    uint64_t *times;
};

/* Fill one core's tables from its values; the result is where the next core begins. */
static size_t gather_core(const struct strobe_report_metrics *metrics, size_t at, size_t end,
                          const struct tables *tables)
{
    const struct strobe_report_counter_value *all = metrics->counters->values;
    uint32_t core = all[at].core;
    for (uint32_t i = 0; i < metrics->counters->n_names; i++)
        tables->values[i] = tables->refs[i] = NAN;
    for (; at < end && all[at].core == core; at++)
        if (isnan(tables->values[all[at].kind])) {
            tables->values[all[at].kind] = all[at].value;
            tables->refs[all[at].kind] = all[at].ref;
            tables->times[all[at].kind] = all[at].time;
        }
    return at;
}

static void add_sums(const struct strobe_report_metrics *metrics, size_t at, size_t end,
                     double sums[3])
{
    static const char *const names[] = {"SFPU_COUNTER", "FPU_COUNTER", "MATH_COUNTER"};
    for (int i = 0; i < 3; i++) {
        uint32_t kind = strobe_report_counters_name(metrics->counters, names[i]);
        sums[i] = NAN;
        for (size_t k = at; k < end && kind != UINT32_MAX; k++)
            if (metrics->counters->values[k].kind == kind)
                sums[i] = (isnan(sums[i]) ? 0 : sums[i]) + metrics->counters->values[k].value;
    }
}

/* One metric on one core. */
static struct sample take_sample(const struct strobe_report_metrics *metrics, int metric,
                                 const struct tables *tables,
                                 const struct strobe_report_counter_value *any)
{
    struct core core = {metrics, tables->values, tables->refs,
                        &metrics->kinds[metric * COUNTERS_MAX]};
    struct sample sample = {.value = evaluate(&core, table[metric].form)};
    uint32_t order = metrics->order[metric];
    if (order == UINT32_MAX) {
        sample.first = (uint64_t)any->x;
        sample.second = any->y;
    } else {
        sample.first = isnan(tables->values[order]) ? UINT64_MAX : tables->times[order];
        sample.second = any->core;
    }
    return sample;
}

/* Evaluate all metrics on all cores between two places of the table. */
static void set_all_stats(const struct strobe_report_metrics *metrics, size_t from, size_t end,
                          const struct tables *tables, struct sample *samples,
                          struct strobe_report_op_metrics *out)
{
    size_t n = end - from, n_cores = 0;
    for (size_t at = from; at < end; n_cores++) {
        const struct strobe_report_counter_value *any = &metrics->counters->values[at];
        at = gather_core(metrics, at, end, tables);
        for (int i = 0; i < N_METRICS; i++)
            if (metrics->active[i])
                samples[(size_t)i * n + n_cores] = take_sample(metrics, i, tables, any);
    }
    double *values = malloc((n_cores + 1) * sizeof *values);
    for (int i = 0; values && i < N_METRICS; i++)
        if (metrics->active[i])
            set_stats(samples + (size_t)i * n, n_cores, values, out->stats[i]);
    free(values);
}

void strobe_report_metrics_op(const struct strobe_report_metrics *metrics, uint64_t run,
                              int64_t counter, struct strobe_report_op_metrics *out)
{
    const struct strobe_report_counter_value *all = metrics->counters->values;
    size_t from = find_op(metrics, run, counter), end = from;
    while (end < metrics->to && all[end].run == run && all[end].counter == counter)
        end++;
    for (int i = 0; i < N_METRICS; i++)
        for (int k = 0; k < STROBE_REPORT_STATS; k++)
            out->stats[i][k] = NAN;
    add_sums(metrics, from, end, out->sums);
    out->found = end > from;
    uint32_t n_names = metrics->counters->n_names;
    struct sample *samples = out->found ? malloc(N_METRICS * (end - from) * sizeof *samples) : NULL;
    double *cells = samples ? malloc(2 * n_names * sizeof *cells) : NULL;
    uint64_t *times = cells ? calloc(n_names, sizeof *times) : NULL;
    if (times)
        set_all_stats(metrics, from, end, &(struct tables){cells, cells + n_names, times}, samples,
                      out);
    free(samples);
    free(cells);
    free(times);
}

/* ---- names ---- */

int strobe_report_metric_count(void)
{
    return N_METRICS;
}

void strobe_report_metric_header(int metric, int stat, struct strobe_out *out)
{
    static const char *const stats[] = {"Min", "Median", "Max", "Avg"};
    static const char *const grids[] = {"Avg SFPU util on full grid (%)",
                                        "Avg FPU util on full grid (%)",
                                        "Avg Math util on full grid (%)"};
    if (metric < 3 && stat == 3)
        strobe_out_text(out, grids[metric]);
    else
        strobe_out_format(out, "%s %s%s", table[metric].name, stats[stat],
                          table[metric].raw ? "" : " (%)");
}

bool strobe_report_metric_device_only(int metric)
{
    return table[metric].device_only;
}
