/* main.c - replay SCENARIO walks FILE | random N SEED | search PREEMPTIONS MAX: real ring code in a given order of steps.
 * A file of walks has a line "walk NAME" before the steps of each, which are lines "ACTOR LABEL".
 * Prints one line of figures; exits with 1 at the first violation, after it has said which walk or seed shows it.
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay.h"

static const struct scenario *const scenarios[] = {
    &scenario_segments, &scenario_signals, &scenario_ending,   &scenario_attach,
    &scenario_waiting,  &scenario_cancel,  &scenario_liveness,
};

static struct {
    const char *scenario, *kind;
    char walk[64];
    unsigned long long n_walks, n_followed, n_left_out, n_hooks;
} run;

static void say_figures(void)
{
    printf("%-9s %-7s %6llu walks, %9llu steps of code", run.scenario, run.kind, run.n_walks,
           run.n_hooks);
    if (run.n_followed)
        printf(", %llu steps of the model: %llu in its order, %llu that the code had no use for",
               run.n_followed + run.n_left_out, run.n_followed, run.n_left_out);
    printf("\n");
}

/* An assertion of the code itself. */
static void on_abort(int number)
{
    char text[160];
    int n = snprintf(text, sizeof text, "%s %s %s: stopped by signal %d\n", run.scenario, run.kind,
                     run.walk, number);
    if (write(1, text, (size_t)n) < 0)
        _exit(2);
    _exit(1);
}

static void count(bool is_good)
{
    run.n_walks++;
    run.n_followed += replay.n_followed;
    run.n_left_out += replay.n_left_out;
    run.n_hooks += replay.n_hooks;
    replay.n_hooks = 0;
    if (is_good)
        return;
    printf("%s %s %s: %s\n", run.scenario, run.kind, run.walk, replay.violation);
    exit(1);
}

static void run_walks(const struct scenario *scenario, const char *path)
{
    enum { STEPS_MAX = 20000 };
    static struct step steps[STEPS_MAX];
    uint32_t n = 0;
    char line[128], next[64] = "";
    FILE *file = fopen(path, "re");
    if (!file) {
        fprintf(stderr, "replay: %s can't be read\n", path);
        exit(2);
    }
    for (;;) {
        bool is_over = !fgets(line, sizeof line, file);
        if (is_over || !strncmp(line, "walk ", 5)) {
            if (next[0]) {
                memcpy(run.walk, next, sizeof run.walk);
                count(replay_walk(scenario, steps, n));
            }
            n = 0;
            if (is_over)
                break;
            sscanf(line + 5, "%63s", next);
        } else if (n < STEPS_MAX &&
                   sscanf(line, "%15s %23[^\n]", steps[n].actor, steps[n].label) == 2) {
            n++;
        }
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    const struct scenario *scenario = NULL;
    for (uint32_t i = 0; argc > 3 && i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (!strcmp(argv[1], scenarios[i]->name))
            scenario = scenarios[i];
    if (!scenario) {
        fprintf(stderr,
                "usage: replay SCENARIO walks FILE | random N SEED | search PREEMPTIONS MAX\n");
        return 2;
    }
    run.scenario = scenario->name;
    run.kind = argv[2];
    replay.is_verbose = getenv("REPLAY_VERBOSE") != NULL;
    signal(SIGABRT, on_abort);
    signal(SIGSEGV, on_abort);
    if (!strcmp(argv[2], "walks")) {
        run_walks(scenario, argv[3]);
    } else if (!strcmp(argv[2], "random") && argc > 4) {
        uint64_t first = strtoull(argv[4], NULL, 10), n = strtoull(argv[3], NULL, 10);
        for (uint64_t i = 0; i < n; i++) {
            snprintf(run.walk, sizeof run.walk, "%llu", (unsigned long long)(first + i));
            count(replay_random_walk(scenario, first + i));
        }
    } else if (!strcmp(argv[2], "search") && argc > 4) {
        uint64_t n = replay_search(scenario, (uint32_t)strtoul(argv[3], NULL, 10),
                                   strtoull(argv[4], NULL, 10));
        snprintf(run.walk, sizeof run.walk, "order %llu", (unsigned long long)n);
        count(!replay.violation[0]);
        run.n_walks = n;
    }
    say_figures();
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s' '%s.task'", world.dir, world.dir);
    return world.dir[0] ? system(command) : 0;
}
