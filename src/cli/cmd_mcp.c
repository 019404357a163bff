/* cmd_mcp.c - strobe mcp: traces for assistants, by the Model Context Protocol on stdin and stdout (JSON-RPC 2.0, a message per
 * line). It only reads, answers one question after the other, and holds one line and one answer.  docs/mcp.md.
 * SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/mcp_tools.h"
#include "cli/out.h"

static const char help[] =
    "usage: strobe mcp [--folder FOLDER]\n"
    "\n"
    "Serves the traces of a folder to an assistant that speaks the Model Context Protocol on stdin "
    "and stdout: info, query,\n"
    "explain, diff, find. All of them only read, each ends within a minute and answers with at "
    "most "
    "1 MiB.\n"
    "\n"
    "  --folder FOLDER   whose traces may be read, and those below it; default: this one\n"
    "\n"
    "example, as an assistant's settings have it:\n"
    "  {\"mcpServers\": {\"strobe\": {\"command\": \"strobe\", \"args\": [\"mcp\", \"--folder\", "
    "\"/home/me/traces\"]}}}\n";

enum { MAX_LINE = 1 << 20 };
enum {
    PARSE_ERROR = -32700,
    INVALID_REQUEST = -32600,
    NO_METHOD = -32601,
    INVALID_PARAMS = -32602
};

struct server {
    char folder[PATH_MAX];
    struct strobe_json_tree tree;
    struct strobe_out *out;
    struct strobe_out answer; /* of a tool */
};

/* ---- replies ---- */

/* The id of a request comes back as it was: a text or a number. */
static void put_id(struct strobe_json_writer *json, const struct strobe_json_tree *tree,
                   uint32_t id)
{
    unsigned type = id ? strobe_json_tree_node(tree, id)->type : STROBE_JSON_NULL;
    size_t n;
    if (type == STROBE_JSON_STRING) {
        const char *text = strobe_json_tree_text(tree, id, &n);
        strobe_json_write_text(json, "id", text, n);
    } else if (type == STROBE_JSON_INT || type == STROBE_JSON_FLOAT) {
        strobe_json_write_raw(json, "id", strobe_json_tree_text(tree, id, NULL));
    } else {
        strobe_json_write_null(json, "id");
    }
}

static void begin_reply(struct server *server, struct strobe_json_writer *json, uint32_t id)
{
    *json = (struct strobe_json_writer){.out = server->out};
    strobe_json_write_open(json, NULL, '{');
    strobe_json_write_string(json, "jsonrpc", "2.0");
    put_id(json, &server->tree, id);
}

static void end_reply(struct server *server, struct strobe_json_writer *json)
{
    strobe_json_write_close(json, '}');
    strobe_out_char(server->out, '\n');
    strobe_out_flush(server->out);
}

static void refuse(struct server *server, uint32_t id, int code, const char *words)
{
    struct strobe_json_writer json;
    begin_reply(server, &json, id);
    strobe_json_write_open(&json, "error", '{');
    strobe_json_write_i(&json, "code", code);
    strobe_json_write_string(&json, "message", words);
    strobe_json_write_close(&json, '}');
    end_reply(server, &json);
}

/* ---- requests ---- */

static void initialize(struct server *server, uint32_t id, uint32_t params)
{
    static const char *const versions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};
    const char *wanted = strobe_json_tree_text(
        &server->tree, strobe_json_tree_get(&server->tree, params, "protocolVersion"), NULL);
    const char *version = versions[0];
    struct strobe_json_writer json;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        if (!strcmp(wanted, versions[i]))
            version = versions[i];
    begin_reply(server, &json, id);
    strobe_json_write_open(&json, "result", '{');
    strobe_json_write_string(&json, "protocolVersion", version);
    strobe_json_write_raw(&json, "capabilities", "{\"tools\":{}}");
    strobe_json_write_open(&json, "serverInfo", '{');
    strobe_json_write_string(&json, "name", "strobe");
    strobe_json_write_string(&json, "version", STROBE_VERSION);
    strobe_json_write_close(&json, '}');
    strobe_json_write_string(
        &json, "instructions",
        "Start with explain; prove what it says with query. Times are ns after "
        "the start of the recording.");
    strobe_json_write_close(&json, '}');
    end_reply(server, &json);
}

static void list_tools(struct server *server, uint32_t id)
{
    struct strobe_json_writer json;
    begin_reply(server, &json, id);
    strobe_json_write_open(&json, "result", '{');
    strobe_json_write_open(&json, "tools", '[');
    strobe_mcp_tools_put(&json);
    strobe_json_write_close(&json, ']');
    strobe_json_write_close(&json, '}');
    end_reply(server, &json);
}

static void call_tool(struct server *server, uint32_t id, uint32_t params)
{
    const struct strobe_json_tree *tree = &server->tree;
    const char *name =
        strobe_json_tree_text(tree, strobe_json_tree_get(tree, params, "name"), NULL);
    uint32_t arguments = strobe_json_tree_get(tree, params, "arguments");
    struct strobe_json_writer json;
    strobe_out_clear(&server->answer);
    enum strobe_mcp_result result =
        strobe_mcp_tools_call(server->folder, name, tree, arguments, &server->answer);
    if (result == STROBE_MCP_NO_TOOL) {
        refuse(server, id, INVALID_PARAMS, "there is no tool of that name");
        return;
    }
    begin_reply(server, &json, id);
    strobe_json_write_open(&json, "result", '{');
    strobe_json_write_open(&json, "content", '[');
    strobe_json_write_open(&json, NULL, '{');
    strobe_json_write_string(&json, "type", "text");
    strobe_json_write_text(&json, "text", strobe_out_string(&server->answer), server->answer.len);
    strobe_json_write_close(&json, '}');
    strobe_json_write_close(&json, ']');
    strobe_json_write_bool(&json, "isError", result != STROBE_MCP_OK);
    strobe_json_write_close(&json, '}');
    end_reply(server, &json);
}

static void reply_empty(struct server *server, uint32_t id)
{
    struct strobe_json_writer json;
    begin_reply(server, &json, id);
    strobe_json_write_raw(&json, "result", "{}");
    end_reply(server, &json);
}

static void take_line(struct server *server, const char *line, size_t n)
{
    const struct strobe_json_options options = {.max_depth = 32, .max_bytes = MAX_LINE};
    struct strobe_json_tree *tree = &server->tree;
    tree->max_nodes = 10000;
    if (strobe_json_tree_parse(tree, line, n, &options)) {
        refuse(server, 0, PARSE_ERROR, "this is no JSON");
        return;
    }
    uint32_t id = strobe_json_tree_get(tree, 1, "id");
    uint32_t params = strobe_json_tree_get(tree, 1, "params");
    const char *method = strobe_json_tree_text(tree, strobe_json_tree_get(tree, 1, "method"), NULL);
    if (!*method)
        refuse(server, id, INVALID_REQUEST, "a request has a method");
    else if (!id) /* a notification: nobody waits for an answer */
        return;
    else if (!strcmp(method, "initialize"))
        initialize(server, id, params);
    else if (!strcmp(method, "ping"))
        reply_empty(server, id);
    else if (!strcmp(method, "tools/list"))
        list_tools(server, id);
    else if (!strcmp(method, "tools/call"))
        call_tool(server, id, params);
    else
        refuse(server, id, NO_METHOD, "there is no such method");
}

/* Lines until stdin ends; one that is too long is refused and skipped. */
static int serve(struct server *server)
{
    char *line = malloc(MAX_LINE);
    size_t n = 0;
    if (!line)
        return STROBE_EXIT_FAILED;
    for (int c; (c = getchar()) != EOF && !server->out->error;) {
        if (c != '\n') {
            if (n < MAX_LINE)
                line[n] = (char)c;
            n += n <= MAX_LINE;
            continue;
        }
        if (n > MAX_LINE)
            take_line(server, "", 0);
        else if (n)
            take_line(server, line, n);
        n = 0;
    }
    free(line);
    return STROBE_EXIT_OK;
}

int strobe_cli_mcp(int argc, char **argv)
{
    static const struct option known[] = {{"folder", 1, NULL, 'f'}, {"help", 0, NULL, 'h'}, {0}};
    static struct server server;
    struct strobe_out out;
    const char *folder = ".";
    for (int c; (c = strobe_cli_option(argc, argv, "h", known)) != -1;) {
        if (c == 'h') {
            fputs(help, stdout);
            return STROBE_EXIT_OK;
        }
        if (c == '?')
            return STROBE_EXIT_USAGE;
        folder = optarg;
    }
    if (optind < argc) {
        strobe_cli_error("mcp", "'%s' is too much: traces are named in the questions",
                         argv[optind]);
        return STROBE_EXIT_USAGE;
    }
    if (!realpath(folder, server.folder)) {
        strobe_cli_error("mcp", "%s: no such folder", folder);
        return STROBE_EXIT_FAILED;
    }
    if (!strobe_out_open(&out, 1))
        return STROBE_EXIT_FAILED;
    server.out = &out;
    int code = serve(&server);
    strobe_json_tree_free(&server.tree);
    strobe_out_free(&server.answer);
    return strobe_out_close(&out, "mcp") ? STROBE_EXIT_FAILED : code;
}
