/* test_recorder.c - one recording as a library call: a real child program from start to end, refusals, states. The child is this
 * program, run with a word (see main).  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "query/stats.h"
#include "recorder/recorder.h"
#include "recorder/trace_file.h"
#include "strobe/strobe.h"

enum { N_ZONES = 1000, EXIT_CODE = 7 };

static char dir[] = "/tmp/strobe-recorder-XXXXXX";
static char self[] = "/proc/self/exe", zones[] = "zones", nothing[] = "/nonexistent/program";

struct heard {
    uint32_t n_rounds, n_ending; /* calls of round while RECORDING and ENDING */
    uint32_t n_words;
    uint32_t stop_after; /* ask for the end in that round, 0: never */
};

static void hear_word(void *context, const struct strobe_recorder_word *word)
{
    struct heard *heard = context;
    (void)word;
    heard->n_words++;
}

static void hear_round(void *context, struct strobe_recorder *recorder)
{
    struct heard *heard = context;
    struct strobe_recorder_progress progress;
    strobe_recorder_progress(recorder, &progress);
    assert_int_equal(progress.status.n_lost, 0);
    if (strobe_recorder_state(recorder) == STROBE_RECORDER_ENDING) {
        heard->n_ending++;
        return;
    }
    assert_int_equal(strobe_recorder_state(recorder), STROBE_RECORDER_RECORDING);
    if (++heard->n_rounds == heard->stop_after)
        strobe_recorder_ask_to_stop(recorder);
}

static struct strobe_recorder_options options_for(const char *name, char **command,
                                                  struct heard *heard)
{
    struct strobe_recorder_options options = {
        .command = command,
        .session = command ? NULL : "unit",
        .ready_fd = -1,
        .bridge_port = -1,
        .pool_bytes = STROBE_DEFAULT_POOL,
        .context = heard,
        .say = hear_word,
        .round = hear_round,
    };
    *heard = (struct heard){0};
    snprintf(options.path, sizeof options.path, "%s/%s.strobe", dir, name);
    return options;
}

/* How often the zone `name` stands in the trace. */
static uint64_t count_zones(const char *path, const char *name)
{
    struct strobe_trace *trace = NULL;
    struct strobe_stats stats = {0};
    struct strobe_stats_options options = {0};
    uint64_t count = 0;
    assert_int_equal(strobe_trace_open(path, 0, &trace), STROBE_OK);
    assert_int_equal(strobe_stats_run(trace, &options, &stats), STROBE_OK);
    for (uint32_t i = 0; i < stats.n_rows; i++) {
        char room[STROBE_NAME_ROOM];
        uint32_t n;
        const char *own =
            strobe_trace_loc_name(trace, stats.rows[i].loc, stats.rows[i].loc_id, room, &n);
        if (n == strlen(name) && !memcmp(own, name, n))
            count += stats.rows[i].count;
    }
    strobe_stats_free(&stats);
    strobe_trace_close(trace);
    return count;
}

static void a_command_is_recorded_from_start_to_end(void **state)
{
    (void)state;
    char *command[] = {self, zones, NULL};
    struct heard heard;
    struct strobe_recorder_options options = options_for("command", command, &heard);
    struct strobe_recorder *recorder = NULL;
    assert_int_equal(strobe_recorder_open(&options, &recorder), STROBE_OK);
    assert_int_equal(strobe_recorder_state(recorder), STROBE_RECORDER_MADE);
    assert_int_equal(strobe_recorder_start(recorder), STROBE_OK);
    assert_int_equal(strobe_recorder_state(recorder), STROBE_RECORDER_RECORDING);
    assert_int_equal(strobe_recorder_run(recorder), STROBE_OK);
    assert_int_equal(strobe_recorder_state(recorder), STROBE_RECORDER_ENDED);
    const struct strobe_recorder_outcome *outcome = strobe_recorder_outcome(recorder);
    assert_true(outcome->command_ended && WIFEXITED(outcome->command_status));
    assert_int_equal(WEXITSTATUS(outcome->command_status), EXIT_CODE);
    assert_int_equal(outcome->failure, STROBE_RECORDER_FAILED_NOT);
    assert_int_equal(outcome->status.n_procs, 1);
    assert_int_equal(outcome->status.n_zones, N_ZONES);
    assert_int_equal(outcome->status.n_lost, 0);
    assert_string_equal(outcome->path, options.path);
    assert_string_equal(outcome->ledger, "");
    assert_true(heard.n_rounds > 0);
    assert_int_equal(heard.n_ending, 1);
    strobe_recorder_wait(recorder);
    strobe_recorder_close(recorder);
    assert_int_equal(count_zones(options.path, "unit zone"), N_ZONES);
}

static void a_command_that_is_not_there_is_refused_and_leaves_no_file(void **state)
{
    (void)state;
    char *command[] = {nothing, NULL};
    struct heard heard;
    struct strobe_recorder_options options = options_for("refused", command, &heard);
    struct strobe_recorder *recorder = NULL;
    assert_int_equal(strobe_recorder_open(&options, &recorder), STROBE_OK);
    assert_int_equal(strobe_recorder_start(recorder), STROBE_ERR_NOTFOUND);
    assert_int_equal(strobe_recorder_state(recorder), STROBE_RECORDER_FAILED);
    const struct strobe_recorder_outcome *outcome = strobe_recorder_outcome(recorder);
    assert_int_equal(outcome->failure, STROBE_RECORDER_FAILED_COMMAND);
    assert_int_equal(outcome->system_error, ENOENT);
    assert_false(outcome->command_ended);
    strobe_recorder_wait(recorder);
    strobe_recorder_close(recorder);
    assert_int_equal(access(options.path, F_OK), -1);
    assert_int_equal(heard.n_rounds + heard.n_ending, 0);
}

static void a_recording_that_is_not_run_is_ended_by_close(void **state)
{
    (void)state;
    struct heard heard;
    struct strobe_recorder_options options = options_for("closed", NULL, &heard);
    struct strobe_recorder *recorder = NULL;
    assert_int_equal(strobe_recorder_open(&options, &recorder), STROBE_OK);
    assert_int_equal(strobe_recorder_start(recorder), STROBE_OK);
    strobe_recorder_close(recorder);
    assert_int_equal(heard.n_ending, 1);
    assert_int_equal(count_zones(options.path, "unit zone"), 0); /* it opens */
}

static void a_recording_ends_when_it_is_asked_to(void **state)
{
    (void)state;
    struct heard heard;
    struct strobe_recorder_options options = options_for("asked", NULL, &heard);
    struct strobe_recorder *recorder = NULL;
    heard.stop_after = 3;
    assert_int_equal(strobe_recorder_open(&options, &recorder), STROBE_OK);
    assert_int_equal(strobe_recorder_start(recorder), STROBE_OK);
    assert_int_equal(strobe_recorder_run(recorder), STROBE_OK);
    assert_int_equal(heard.n_rounds, 3);
    strobe_recorder_close(recorder);
}

static void a_process_starts_one_recording_at_a_time(void **state)
{
    (void)state;
    struct heard heard, other_heard;
    struct sigaction before, now;
    struct strobe_recorder_options options = options_for("one", NULL, &heard);
    struct strobe_recorder_options other = options_for("other", NULL, &other_heard);
    struct strobe_recorder *recorder = NULL, *second = NULL;
    other.session = "other";
    sigaction(SIGTERM, NULL, &before);
    assert_int_equal(strobe_recorder_open(&options, &recorder), STROBE_OK);
    assert_int_equal(strobe_recorder_open(&other, &second), STROBE_OK);
    assert_int_equal(strobe_recorder_start(recorder), STROBE_OK);
    assert_int_equal(strobe_recorder_start(second), STROBE_ERR_BUSY);
    assert_int_equal(strobe_recorder_state(second), STROBE_RECORDER_FAILED);
    strobe_recorder_close(second);
    sigaction(SIGTERM, NULL, &now);
    assert_ptr_not_equal(now.sa_handler, before.sa_handler); /* the first one's, still */
    strobe_recorder_close(recorder);
    sigaction(SIGTERM, NULL, &now);
    assert_ptr_equal(now.sa_handler, before.sa_handler);
    assert_int_equal(strobe_recorder_open(&other, &second), STROBE_OK);
    assert_int_equal(strobe_recorder_start(second), STROBE_OK);
    strobe_recorder_close(second);
}

static void options_without_one_thing_to_record_are_invalid(void **state)
{
    (void)state;
    char *command[] = {self, NULL};
    struct heard heard;
    struct strobe_recorder_options options = options_for("invalid", command, &heard);
    struct strobe_recorder *recorder = NULL;
    options.pid = 1;
    assert_int_equal(strobe_recorder_open(&options, &recorder), STROBE_ERR_INVALID);
    options.pid = 0;
    options.command = NULL;
    assert_int_equal(strobe_recorder_open(&options, &recorder), STROBE_ERR_INVALID);
    assert_null(recorder);
    strobe_recorder_close(NULL);
}

static void a_deleted_trace_that_can_not_be_copied_is_lost_with_a_reason(void **state)
{
    (void)state;
    struct strobe_trace_file file = {.fd = -1};
    struct strobe_file_writer *writer = NULL;
    struct rlimit before, small;
    char path[sizeof dir + 16];
    snprintf(path, sizeof path, "%s/lost.strobe", dir);
    assert_int_equal(strobe_file_create(path, "", 0, &writer), STROBE_OK);
    assert_int_equal(strobe_trace_file_open(&file, writer, path), STROBE_OK);
    assert_int_equal(strobe_trace_file_look(&file), STROBE_TRACE_FILE_NO_NEWS);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(strobe_trace_file_look(&file), STROBE_TRACE_FILE_IS_DELETED);
    assert_int_equal(strobe_trace_file_look(&file), STROBE_TRACE_FILE_NO_NEWS); /* said once */
    assert_int_equal(strobe_file_finish(writer), STROBE_OK);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100;
    setrlimit(RLIMIT_FSIZE, &small);
    enum strobe_err err = strobe_trace_file_settle(&file);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_not_equal(err, STROBE_OK);
    assert_int_equal(file.state, STROBE_TRACE_FILE_LOST);
    assert_string_equal(file.path, path);
    assert_int_equal(access(path, F_OK), -1); /* no part of it is left */
    strobe_trace_file_close(&file);
}

static int make_folder(void **state)
{
    (void)state;
    char sessions[sizeof dir + 16];
    if (!mkdtemp(dir))
        return -1;
    snprintf(sessions, sizeof sessions, "%s/sessions", dir);
    return setenv("STROBE_DIR", sessions, 1);
}

static int remove_folder(void **state)
{
    (void)state;
    char command[sizeof dir + 16];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_recorded_from_start_to_end),
        cmocka_unit_test(a_command_that_is_not_there_is_refused_and_leaves_no_file),
        cmocka_unit_test(a_recording_that_is_not_run_is_ended_by_close),
        cmocka_unit_test(a_recording_ends_when_it_is_asked_to),
        cmocka_unit_test(a_process_starts_one_recording_at_a_time),
        cmocka_unit_test(options_without_one_thing_to_record_are_invalid),
        cmocka_unit_test(a_deleted_trace_that_can_not_be_copied_is_lost_with_a_reason),
    };
    if (argc > 1 && !strcmp(argv[1], "zones")) {
        for (int i = 0; i < N_ZONES; i++) {
            STROBE_SCOPE("unit zone");
        }
        return EXIT_CODE;
    }
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
