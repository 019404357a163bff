// hello.cpp - the smallest program worth recording, in C++, with a second thread.
//     c++ hello.cpp $(pkg-config --cflags --libs strobe) && strobe record ./a.out
// SPDX-License-Identifier: MIT
#include <strobe/strobe.h>

#include <cstdio>
#include <string>
#include <thread>

static std::size_t greet(const std::string &whom)
{
    STROBE_SCOPE("greet");
    STROBE_TEXTF("%s", whom.c_str());
    return ("hello, " + whom).size();
}

int main()
{
    STROBE_FUNCTION(); // a zone with the function's own name
    std::size_t letters = 0;
    std::thread other([] {
        STROBE_THREAD_NAME("greeter");
        for (int i = 0; i < 100; i++)
            greet("thread " + std::to_string(i));
    });
    for (int i = 0; i < 100; i++)
        letters += greet("world " + std::to_string(i));
    other.join();
    std::printf("hello: %zu letters\n", letters);
    return 0;
}
