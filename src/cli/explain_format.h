/* explain_format.h - how an explanation is shown.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_EXPLAIN_FORMAT_H
#define STROBE_CLI_EXPLAIN_FORMAT_H

#include "base/out.h"
#include "explain/explain.h"

void strobe_explain_put_text(struct strobe_out *out, const struct strobe_explain *explain,
                             int with_queries);
void strobe_explain_put_json(struct strobe_out *out, const struct strobe_explain *explain);

#endif
