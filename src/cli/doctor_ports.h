/* doctor_ports.h - who listens on the ports that Tracy's programs use.  SPDX-License-Identifier:
 * MIT */
#ifndef STROBE_CLI_DOCTOR_PORTS_H
#define STROBE_CLI_DOCTOR_PORTS_H

#include <stdbool.h>

enum {
    STROBE_DOCTOR_PORT_FIRST = 8086,
    STROBE_DOCTOR_PORT_LAST = 8105, /* a Tracy client tries the next one when its own is taken */
    STROBE_DOCTOR_PORTS_MAX = 40,   /* IPv4 and IPv6 */
};

struct strobe_doctor_port {
    int port;
    bool loopback;       /* only this machine can reach it */
    unsigned long inode; /* of its socket */
    int pid;             /* 0: not to be seen by us */
    char program[32];
};

/* The listening sockets in that range; their number. */
int strobe_cli_doctor_ports(struct strobe_doctor_port out[STROBE_DOCTOR_PORTS_MAX]);

/* Who listens on one port, whichever it is. False: nobody. */
bool strobe_doctor_port_holder(int port, struct strobe_doctor_port *out);

#endif
