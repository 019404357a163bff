// child.hpp - a program started beside the demo, joined by pipes.  SPDX-License-Identifier: MIT
#ifndef DEMO_CHILD_HPP
#define DEMO_CHILD_HPP

#include <string>
#include <sys/types.h>

struct Child {
    pid_t pid = -1;
    int to = -1;   // its stdin
    int from = -1; // its stdout
};

// Start the program `name` from the folder of this one. Exits with a message where that fails.
Child start_child(const std::string &name);

// Close its stdin and wait for it. Its exit status.
int end_child(Child &child);

#endif
