/* html.h - a trace as one HTML file: the viewer's page with the trace inside. It opens from disk, with no
 * server and no network.  SPDX-License-Identifier: MIT */
#ifndef STROBE_EXPORT_HTML_H
#define STROBE_EXPORT_HTML_H

#include "base/err.h"
#include "export/out.h"

/* Write the page with the bytes of the file `fd` (read from its start) in it; `name` is what the page
 * shows for it. STROBE_ERR_IO: the file can't be read. */
enum strobe_err strobe_html_write(int fd, const char *name, struct strobe_out *out);

#endif
