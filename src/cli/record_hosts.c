/* record_hosts.c - see record_hosts.h.  SPDX-License-Identifier: MIT */
#include "cli/record_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/cli.h"

#define VARIABLE "STROBE_CLOCK_KEY"

static char key[STROBE_HOSTS_KEY_MAX];

const char *strobe_record_hosts_read_key(const char *path, struct strobe_recorder_options *options)
{
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(key, 1, sizeof key, file) : 0;
    if (file)
        fclose(file);
    while (n && (key[n - 1] == '\n' || key[n - 1] == '\r'))
        n--; /* as an editor leaves it */
    options->clock_key = key;
    options->n_clock_key = n;
    return n >= STROBE_HOSTS_KEY_MIN ? NULL
                                     : "a file with 16 bytes and more, as "
                                       "'openssl rand -hex 32' makes them";
}

bool strobe_record_hosts_complete(struct strobe_recorder_options *options)
{
    const char *text = getenv(VARIABLE);
    if (!options->listen && !options->n_peers)
        return true;
    if (!options->clock_key && text) {
        options->clock_key = key;
        options->n_clock_key = strnlen(text, sizeof key);
        memcpy(key, text, options->n_clock_key);
    }
    unsetenv(VARIABLE); /* no business of the command's */
    if (options->n_clock_key >= STROBE_HOSTS_KEY_MIN)
        return true;
    strobe_cli_error("record",
                     "--listen and --peer want a key that all hosts share, of 16 bytes and more: "
                     "--clock-key FILE, or " VARIABLE " ('openssl rand -hex 32' makes one)");
    return false;
}

void strobe_record_hosts_show_failure(const struct strobe_recorder_options *options,
                                      const struct strobe_recorder_outcome *outcome)
{
    const char *address = outcome->address ? outcome->address : "comparing clocks";
    int is_listen = options->listen && address == options->listen;
    if (outcome->err == STROBE_ERR_INVALID)
        strobe_cli_error("record", "%s %s: it wants an address like %s",
                         is_listen ? "--listen" : "--peer", address,
                         is_listen ? "7400 or 10.0.0.1:7400" : "node1:7400");
    else if (outcome->err == STROBE_ERR_BUSY)
        strobe_cli_error("record", "--listen %s: another program has this port", address);
    else
        strobe_cli_error("record", "%s %s: %s", is_listen ? "--listen" : "--peer", address,
                         strobe_err_text(outcome->err));
}

void strobe_record_hosts_show_end(const struct strobe_hosts_status *status)
{
    char best[32];
    if (status->n_peers)
        fprintf(stderr,
                "strobe: clocks compared with %u of %u peers%s%s, the shortest way there and back "
                "%s%s\n",
                status->n_answering, status->n_peers, status->silent[0] ? ", not with " : "",
                status->silent,
                status->best_ns ? strobe_number_show_ns(status->best_ns, best) : "-",
                status->has_kernel ? "" : ", without the kernel's stamps");
    if (status->listens)
        fprintf(stderr, "strobe: %u other recorders asked for the clock\n", status->n_asking);
    if (status->n_unstored)
        fprintf(stderr, "strobe: %llu records of clocks were lost: the trace did not take them\n",
                (unsigned long long)status->n_unstored);
    if (status->n_refused)
        fprintf(stderr, "strobe: %u datagrams were refused: they were not signed with this key\n",
                status->n_refused);
}
