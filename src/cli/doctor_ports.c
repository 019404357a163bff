/* doctor_ports.c - listening sockets from /proc/net/tcp and tcp6, their owners from /proc/PID/fd.
 * SPDX-License-Identifier: MIT */
#include "cli/doctor_ports.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 127.x.x.x and ::1 as the kernel prints them: words in host order, in hex. */
static bool is_loopback(const char *address)
{
    if (strlen(address) == 8)
        return !strcmp(address + 6, "7F");
    return !strcmp(address, "00000000000000000000000001000000") ||
           (!strncmp(address, "0000000000000000FFFF0000", 24) && !strcmp(address + 30, "7F"));
}

static int read_table(const char *path, unsigned first, unsigned last,
                      struct strobe_doctor_port *out, int n)
{
    char line[512], address[64];
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        unsigned port, state;
        unsigned long inode;
        if (sscanf(line, " %*d: %63[0-9A-F]:%x %*s %x %*s %*s %*s %*s %*s %lu", address, &port,
                   &state, &inode) != 4)
            continue;
        enum { LISTEN = 0x0a };
        if (state != LISTEN || port < first || port > last || n == STROBE_DOCTOR_PORTS_MAX)
            continue;
        out[n++] = (struct strobe_doctor_port){
            .port = (int)port, .loopback = is_loopback(address), .inode = inode};
    }
    if (file)
        fclose(file);
    return n;
}

static void name_owner(int pid, struct strobe_doctor_port *port)
{
    char path[64];
    port->pid = pid;
    snprintf(port->program, sizeof port->program, "?");
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fgets(port->program, sizeof port->program, file))
        port->program[strcspn(port->program, "\n")] = 0;
    fclose(file);
}

/* Look through one process's descriptors for the sockets. */
static void look_into(int pid, struct strobe_doctor_port *ports, int n)
{
    char path[320], link[64];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        unsigned long inode;
        snprintf(path, sizeof path, "/proc/%d/fd/%s", pid, entry->d_name);
        ssize_t length = readlink(path, link, sizeof link - 1);
        link[length > 0 ? length : 0] = 0;
        if (sscanf(link, "socket:[%lu]", &inode) != 1)
            continue;
        for (int i = 0; i < n; i++)
            if (ports[i].inode == inode && !ports[i].pid)
                name_owner(pid, &ports[i]);
    }
    closedir(dir);
}

static int find_ports(unsigned first, unsigned last, struct strobe_doctor_port *out)
{
    int n = read_table("/proc/net/tcp", first, last, out, 0);
    n = read_table("/proc/net/tcp6", first, last, out, n);
    DIR *proc = n ? opendir("/proc") : NULL;
    if (!proc)
        return n;
    for (struct dirent *entry; (entry = readdir(proc));) {
        int pid = atoi(entry->d_name);
        if (pid > 0)
            look_into(pid, out, n);
    }
    closedir(proc);
    return n;
}

int strobe_cli_doctor_ports(struct strobe_doctor_port out[STROBE_DOCTOR_PORTS_MAX])
{
    return find_ports(STROBE_DOCTOR_PORT_FIRST, STROBE_DOCTOR_PORT_LAST, out);
}

bool strobe_doctor_port_holder(int port, struct strobe_doctor_port *out)
{
    struct strobe_doctor_port found[STROBE_DOCTOR_PORTS_MAX];
    int n = find_ports((unsigned)port, (unsigned)port, found);
    if (n)
        *out = found[0];
    return n > 0;
}
