/* mcp_tools.h - the tools of strobe mcp: info, query, explain, diff, find.  SPDX-License-Identifier: MIT */
#ifndef STROBE_CLI_MCP_TOOLS_H
#define STROBE_CLI_MCP_TOOLS_H

#include "base/json_tree.h"
#include "base/json_write.h"

/* The tools as members of a JSON array: name, description, schema of the arguments. */
void strobe_mcp_tools_put(struct strobe_json_writer *json);

enum strobe_mcp_result {
    STROBE_MCP_OK = 0,
    STROBE_MCP_FAILED = 1,  /* the tool says why, in its text */
    STROBE_MCP_NO_TOOL = 2, /* there is none of this name */
};

/* Run a tool with the arguments of node `arguments`; its answer is added to `out`. Files are looked for in `folder` (borrowed,
 * absolute, without links) and below it, nowhere else. */
enum strobe_mcp_result strobe_mcp_tools_call(const char *folder, const char *name,
                                             const struct strobe_json_tree *tree,
                                             uint32_t arguments, struct strobe_out *out);

#endif
