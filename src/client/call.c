/* call.c - a process that can't join its session says so, by a way that needs no folder (wire/call.h).
 * Never allocates, prints, exits or waits.  SPDX-License-Identifier: MIT */
#include "client/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire/call.h"

void strobe_client_call(const char *folder, int error)
{
    struct strobe_call call = {.magic = STROBE_CALL_MAGIC,
                               .version = 1,
                               .error = (uint32_t)error,
                               .pid = (uint32_t)getpid(),
                               .uid = (uint32_t)geteuid()};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *name = getenv(STROBE_CALL_ENV);
    size_t n_name = name ? strlen(name) : 0;
    if (!n_name || n_name > sizeof to.sun_path - 1)
        return;
    memcpy(to.sun_path + 1, name, n_name); /* its first byte is 0: no file */
    prctl(PR_GET_NAME, call.program);
    snprintf(call.folder, sizeof call.folder, "%s", folder);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    sendto(fd, &call, sizeof call, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&to,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n_name));
    close(fd);
}
