/* fuzz_report.c - the report's readers on logs of any bytes. The first byte of an input is a letter that says which log it is; those that are read by
 * their names are put into a folder in memory.  SPDX-License-Identifier: MIT
 */
#include "../../fuzz/seeds.h"
#include "report/compare.h"
#include "report/cpp_report.h"
#include "report/csv.h"
#include "report/devops.h"
#include "report/dispatch.h"
#include "report/host.h"
#include "report/json.h"
#include "report/noc.h"
#include "report/noc_log.h"
#include "report/noc_ops.h"
#include "report/op2op.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long long checksum; /* so that no reading is optimised away */

static void fuzz_csv(const char *bytes, size_t len)
{
    static const char dialects[][2] = {{';', '`'}, {',', '"'}};
    for (int i = 0; i < 2; i++) {
        struct strobe_report_csv csv;
        if (!strobe_report_csv_open_memory(&csv, bytes, len, dialects[i][0], dialects[i][1]))
            while (!strobe_report_csv_next(&csv))
                for (int k = 0; k < csv.n_cells; k++)
                    checksum += csv.cells[k].len + (csv.cells[k].len ? csv.cells[k].at[0] : 0);
        strobe_report_csv_close(&csv);
    }
}

static void fuzz_messages(const char *bytes, size_t len)
{
    struct strobe_report_faults faults = {0};
    struct strobe_report_host host;
    struct strobe_report_csv csv;
    strobe_report_host_open(&host, &faults);
    if (!strobe_report_csv_open_memory(&csv, bytes, len, ';', '`'))
        while (!strobe_report_csv_next(&csv))
            strobe_report_host_message(&host, strobe_report_csv_cell(&csv, 0), (int64_t)csv.line,
                                       csv.line, csv.cut);
    strobe_report_host_resolve(&host);
    checksum += host.n_ops + strobe_report_faults_total(&faults);
    strobe_report_csv_close(&csv);
    strobe_report_host_close(&host);
    strobe_report_faults_free(&faults);
}

static void fuzz_json(const char *bytes, size_t len)
{
    static struct strobe_json_tree json;
    struct strobe_report_descs descs = {0};
    struct strobe_report_desc facts;
    struct strobe_out text = {0};
    uint32_t desc;
    if (!strobe_report_json_parse(&json, bytes, len)) {
        strobe_report_json_str(&json, 1, &text);
        if (!strobe_report_desc_from_json(&descs, &json, 1, &desc, &facts))
            checksum += descs.all[desc]->text.len;
    }
    checksum += text.len;
    strobe_out_free(&text);
    strobe_report_descs_free(&descs);
}

static void fuzz_device(const char *bytes, size_t len)
{
    struct strobe_report_faults faults = {0};
    struct strobe_report_log log;
    struct strobe_report_device_ops ops;
    struct strobe_report_counters counters = {0};
    struct strobe_report_op2op op2op = {0};
    strobe_report_log_open(&log, &faults);
    strobe_report_device_ops_open(&ops, &log);
    ops.counters = &counters;
    ops.op2op = &op2op;
    strobe_report_log_read_memory(&log, bytes, len, strobe_report_device_ops_take, &ops);
    strobe_report_device_ops_finish(&ops);
    uint32_t *order = strobe_report_device_ops_order(&ops);
    checksum += ops.n + log.n_rows + op2op.n + (ops.n ? order[0] : 0);
    free(order);
    strobe_report_counters_free(&counters);
    strobe_report_op2op_free(&op2op);
    strobe_report_device_ops_close(&ops);
    strobe_report_log_close(&log);
    strobe_report_faults_free(&faults);
}

/* ---- logs that are read by their names ---- */

static char folder[] = "/dev/shm/strobe-fuzz-XXXXXX";
static char written[8][96]; /* files in it */
static unsigned n_written;

static void remove_folder(void)
{
    for (unsigned i = 0; i < n_written; i++)
        unlink(written[i]);
    rmdir(folder);
}

static const char *put_file(const char *name, const char *bytes, size_t len)
{
    static char path[96];
    static int is_made;
    if (!is_made && !mkdtemp(folder))
        abort();
    if (!is_made)
        atexit(remove_folder);
    is_made = 1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unsigned i = 0;
    while (i < n_written && strcmp(written[i], path))
        i++;
    if (i == n_written)
        strcpy(written[n_written++], path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        abort();
    close(fd);
    return path;
}

static void fuzz_noc(const char *bytes, size_t len)
{
    struct strobe_report_faults faults = {0};
    struct strobe_report_noc noc = {0};
    put_file(STROBE_REPORT_NOC_FILE, bytes, len);
    strobe_report_noc_read(&noc, folder, &faults);
    checksum += strobe_report_noc_find(&noc, 1, -1, -1) != NULL;
    strobe_report_noc_free(&noc);
    strobe_report_faults_free(&faults);
}

static void fuzz_noc_trace(const char *bytes, size_t len)
{
    struct strobe_report_faults faults = {0};
    struct strobe_report_noc_ops ops = {0};
    put_file("noc_trace_dev0_ID1024.json", bytes, len);
    strobe_report_noc_ops_read(&ops, folder, strobe_report_noc_grid_of("sim"), &faults);
    const struct strobe_report_noc_figures *figures =
        strobe_report_noc_ops_find(&ops, 1024, -1, -1, 0);
    checksum += figures ? figures->n_bytes : 0;
    strobe_report_noc_ops_free(&ops);
    strobe_report_faults_free(&faults);
}

static void fuzz_cpp(const char *bytes, size_t len)
{
    struct strobe_report_faults faults = {0};
    struct strobe_report_cpp cpp = {0};
    put_file(STROBE_REPORT_CPP_FILE, bytes, len);
    strobe_report_cpp_read(&cpp, folder, &faults);
    checksum += strobe_report_cpp_find(&cpp, 0, 1024);
    strobe_report_cpp_free(&cpp);
    strobe_report_faults_free(&faults);
}

/* Messages of one op, then times of any kind. */
static void fuzz_times(const char *bytes, size_t len)
{
    static const char message[] =
        "MessageName;total_ns\n`TT_DNN_DEVICE_OP: \"Matmul\", 7, 0, false, 1024 ->\n"
        "{\"op_code\": \"Matmul\", \"device_id\": 0, \"global_call_count\": 1024}`;100\n";
    struct strobe_report_faults faults = {0};
    struct strobe_report_host host;
    strobe_report_host_open(&host, &faults);
    put_file(STROBE_REPORT_MESSAGES_FILE, message, sizeof message - 1);
    put_file(STROBE_REPORT_TIMES_FILE, bytes, len);
    strobe_report_host_read_messages(&host, folder);
    strobe_report_host_read_times(&host, folder);
    checksum += host.n_ops + strobe_report_faults_total(&faults);
    strobe_report_host_close(&host);
    strobe_report_faults_free(&faults);
}

/* Two reports with a NUL between them. */
static void fuzz_compare(const char *bytes, size_t len)
{
    enum strobe_report_verdict verdict;
    struct strobe_out out = {0};
    const char *cut = memchr(bytes, 0, len);
    size_t n_first = cut ? (size_t)(cut - bytes) : len;
    char first[96];
    strcpy(first, put_file("first.csv", bytes, n_first));
    const char *second =
        put_file("second.csv", cut ? cut + 1 : bytes, cut ? len - n_first - 1 : len);
    strobe_report_compare(first, second, len & 1, &verdict, &out);
    strobe_out_free(&out);
}

/* As a file: in the order that it has, then sorted where it is scattered; dispatch cores by a second reading. */
static void fuzz_log(const char *bytes, size_t len)
{
    struct strobe_report_faults faults = {0};
    struct strobe_report_log log;
    struct strobe_report_device_ops ops;
    struct strobe_report_log_options options = {.copy_fd = -1};
    const char *path = put_file(STROBE_REPORT_DEVICE_FILE, bytes, len);
    strobe_report_log_open(&log, &faults);
    strobe_report_device_ops_open(&ops, &log);
    strobe_report_device_ops_read(&ops, path, &options);
    strobe_report_dispatch_attach(&ops, path, len & 1);
    struct strobe_report_noc_ops noc = {0};
    strobe_report_noc_log_read(&noc, &ops, path, strobe_report_noc_grid_of(log.arch));
    checksum += noc.n ? noc.runs[0].figures.n_bytes : 0;
    strobe_report_noc_ops_free(&noc);
    strobe_report_device_ops_close(&ops);
    strobe_report_log_close(&log);
    strobe_report_faults_free(&faults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct {
        char letter;
        void (*read)(const char *bytes, size_t len);
    } logs[] = {{'c', fuzz_csv}, {'m', fuzz_messages}, {'j', fuzz_json},  {'d', fuzz_device},
                {'n', fuzz_noc}, {'p', fuzz_cpp},      {'t', fuzz_times}, {'q', fuzz_compare},
                {'l', fuzz_log}, {'r', fuzz_noc_trace}};
    if (!n)
        return 0;
    char *exact = malloc(n); /* so that a byte too far is seen */
    memcpy(exact, data + 1, n - 1);
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++)
        if (logs[i].letter == (char)data[0])
            logs[i].read(exact, n - 1);
    free(exact);
    return 0;
}
