// child.cpp - starting and ending the demo's other programs.  SPDX-License-Identifier: MIT
#include "child.hpp"

#include <strobe/strobe.h>

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static std::string folder_of_this_program()
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    std::string self(path, n > 0 ? static_cast<size_t>(n) : 0);
    return self.substr(0, self.rfind('/') + 1);
}

Child start_child(const std::string &name)
{
    STROBE_SCOPE("start child");
    STROBE_TEXTF("%s", name.c_str());
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) {
        std::perror("pipe");
        std::exit(1);
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    std::string path = folder_of_this_program() + name;
    char *argv[] = {path.data(), nullptr};
    Child child;
    int err = posix_spawn(&child.pid, path.c_str(), &actions, nullptr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    if (err) {
        std::fprintf(stderr, "%s: cannot be started\n", path.c_str());
        std::exit(1);
    }
    child.to = in[1];
    child.from = out[0];
    return child;
}

int end_child(Child &child)
{
    STROBE_SCOPE("wait for child");
    int status = 0;
    close(child.to);
    waitpid(child.pid, &status, 0);
    close(child.from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
