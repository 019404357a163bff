/* texts.c - texts of odd lengths and bytes.
 *   texts          messages, zone texts and names: empty, long, and no UTF-8
 *   texts tight    long messages that do not fit a small pool, a short one after each
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strobe/strobe.h"

static char bytes[1 << 20];

static void tight(void)
{
    for (int i = 0; i < 200; i++) {
        char text[32];
        memset(bytes, 'a' + i % 26, sizeof bytes);
        strobe_message(STROBE_INFO, 0, bytes, 100000);
        int n = snprintf(text, sizeof text, "short %d", i);
        strobe_message(STROBE_INFO, 0, text, (size_t)n);
    }
}

static void lengths(void)
{
    static const size_t sizes[] = {0, 1, 719, 720, 721, 65535, 65536, 65537, sizeof bytes};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)('A' + i % 23);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        STROBE_SCOPE("texts");
        strobe_message(STROBE_INFO, 0, bytes, sizes[i]);
        strobe_zone_text(bytes, sizes[i]);
    }
}

int main(int argc, char **argv)
{
    static const char odd[] = "\xff\xfe valid \xc3\x28 \0 after";
    if (argc > 1 && !strcmp(argv[1], "tight")) {
        tight();
        return 0;
    }
    lengths();
    strobe_message(STROBE_WARNING, 0, odd, sizeof odd - 1);
    struct strobe_zone zone = strobe_zone_begin_at(NULL, 0, NULL, bytes, 5000, 0);
    strobe_zone_name(bytes + 1, 5000);
    strobe_zone_end(&zone);
    zone = strobe_zone_begin_at("f", 0, "g", "", 0, 0);
    strobe_zone_end(&zone);
    char *name = strndup(bytes, 5000);
    strobe_plot_named(name, 1);
    strobe_set_thread_name(name);
    strobe_set_program_name(name);
    strobe_messagef(STROBE_INFO, 0, "%s", name);
    free(name);
    return 0;
}
