// cancelled.cpp - a thread that is cancelled in its poll: its objects are destroyed, as without a preloaded library.
// SPDX-License-Identifier: MIT
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct Object {
    ~Object()
    {
        puts("destroyed");
    }
};

static void *wait_for_ever(void *)
{
    Object object;
    poll(nullptr, 0, -1);
    return nullptr;
}

int main()
{
    pthread_t thread;
    pthread_create(&thread, nullptr, wait_for_ever, nullptr);
    usleep(50000);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    puts("joined");
}
