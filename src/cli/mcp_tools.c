/* mcp_tools.c - what an assistant may ask: each tool is one of our commands, with arguments that were looked at.
 * All of them only read. A file must lie in the server's folder or below it.  SPDX-License-Identifier: MIT */
#include "cli/mcp_tools.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/mcp_run.h"

enum { MAX_FILES = 32, MAX_WORDS = 2 * MAX_FILES + 16, MAX_LISTED = 200 };

struct call {
    const char *folder;
    const struct strobe_json_tree *tree;
    uint32_t arguments;
    struct strobe_out *out;
    const char *words[MAX_WORDS + 1];
    uint32_t n_words;
    char *paths[2 * MAX_FILES]; /* owned */
    uint32_t n_paths;
};

static void add_word(struct call *call, const char *word)
{
    STROBE_ASSERT(call->n_words < MAX_WORDS);
    call->words[call->n_words++] = word;
    call->words[call->n_words] = NULL;
}

/* The text of an argument, NULL: it is not there, or is none. */
static const char *text_of(const struct call *call, const char *name)
{
    uint32_t node = strobe_json_tree_get(call->tree, call->arguments, name);
    if (!node || strobe_json_tree_node(call->tree, node)->type != STROBE_JSON_STRING)
        return NULL;
    return strobe_json_tree_text(call->tree, node, NULL);
}

static int64_t number_of(const struct call *call, const char *name, int64_t otherwise)
{
    uint32_t node = strobe_json_tree_get(call->tree, call->arguments, name);
    if (!node || strobe_json_tree_node(call->tree, node)->type != STROBE_JSON_INT)
        return otherwise;
    return strtoll(strobe_json_tree_text(call->tree, node, NULL), NULL, 10);
}

/* A file of the folder as a word. 0: it is none, and that was said. */
static int add_file(struct call *call, const char *name)
{
    char wanted[PATH_MAX], real[PATH_MAX];
    size_t n = strlen(call->folder);
    int length = snprintf(wanted, sizeof wanted, "%s%s%s", *name == '/' ? "" : call->folder,
                          *name == '/' ? "" : "/", name);
    if (length < 0 || (size_t)length >= sizeof wanted || call->n_paths == 2 * MAX_FILES ||
        !realpath(wanted, real) || strncmp(real, call->folder, n) || (n > 1 && real[n] != '/')) {
        strobe_out_format(call->out,
                          "there is no file of that name in the folder of this server: ");
        strobe_out_utf8(call->out, name, strlen(name));
        return 0;
    }
    char *path = strdup(real);
    if (!path)
        return 0;
    call->paths[call->n_paths++] = path;
    add_word(call, path);
    return 1;
}

static int add_named_file(struct call *call)
{
    const char *name = text_of(call, "file");
    if (name)
        return add_file(call, name);
    strobe_out_text(call->out, "the argument 'file' is missing");
    return 0;
}

/* A list of files; a text alone is a list of one. */
static int add_files(struct call *call, const char *name)
{
    uint32_t node = strobe_json_tree_get(call->tree, call->arguments, name), n = 0;
    int ok = node && strobe_json_tree_node(call->tree, node)->type == STROBE_JSON_ARRAY;
    uint32_t child = ok ? strobe_json_tree_node(call->tree, node)->first : 0;
    for (; ok && child && n < MAX_FILES; n++) {
        ok = add_file(call, strobe_json_tree_text(call->tree, child, NULL));
        child = strobe_json_tree_node(call->tree, child)->next;
    }
    if (!call->out->len && (!n || child))
        strobe_out_format(call->out, "the argument '%s' takes a list of 1 to %d files", name,
                          MAX_FILES);
    return ok && n && !child;
}

static enum strobe_mcp_result run_words(struct call *call, const char *input)
{
    return strobe_mcp_run_command(call->words, input, call->out) ? STROBE_MCP_FAILED
                                                                 : STROBE_MCP_OK;
}

/* ---- the tools ---- */

static int is_trace(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 7 && !strcmp(entry->d_name + n - 7, ".strobe");
}

/* The traces of the folder, with their sizes. */
static enum strobe_mcp_result list_traces(struct call *call)
{
    struct dirent **entries = NULL;
    struct strobe_json_writer json = {.out = call->out};
    int n = scandir(call->folder, &entries, is_trace, alphasort);
    strobe_json_write_open(&json, NULL, '[');
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        struct stat facts;
        int length = snprintf(path, sizeof path, "%s/%s", call->folder, entries[i]->d_name);
        if (i < MAX_LISTED && length > 0 && (size_t)length < sizeof path && !stat(path, &facts)) {
            strobe_json_write_open(&json, NULL, '{');
            strobe_json_write_string(&json, "file", entries[i]->d_name);
            strobe_json_write_i(&json, "bytes", facts.st_size);
            strobe_json_write_i(&json, "modified_unix", facts.st_mtime);
            strobe_json_write_close(&json, '}');
        }
        free(entries[i]);
    }
    free(entries);
    strobe_json_write_close(&json, ']');
    return STROBE_MCP_OK;
}

static enum strobe_mcp_result call_info(struct call *call)
{
    if (!text_of(call, "file"))
        return list_traces(call);
    add_word(call, "info");
    add_word(call, "--json");
    return add_named_file(call) ? run_words(call, NULL) : STROBE_MCP_FAILED;
}

static enum strobe_mcp_result ask(struct call *call, const char *sql)
{
    if (strlen(sql) > STROBE_MCP_MAX_INPUT) {
        strobe_out_text(call->out, "the query is too long");
        return STROBE_MCP_FAILED;
    }
    static const char *const words[] = {"query", "--format", "jsonl", "--timeout",
                                        "30s",   "--memory", "512M"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        add_word(call, words[i]);
    return add_named_file(call) ? run_words(call, sql) : STROBE_MCP_FAILED;
}

static enum strobe_mcp_result call_query(struct call *call)
{
    const char *sql = text_of(call, "sql");
    if (sql)
        return ask(call, sql);
    add_word(call, "query");
    add_word(call, "--tables");
    return run_words(call, NULL);
}

/* Those of the members that are there, each as an option. */
static void add_options(struct call *call, const char *const *names, const char *const *options,
                        int n)
{
    for (int i = 0; i < n; i++)
        if (text_of(call, names[i])) {
            add_word(call, options[i]);
            add_word(call, text_of(call, names[i]));
        }
}

static enum strobe_mcp_result call_explain(struct call *call)
{
    static const char *const names[] = {"zone", "from", "to"};
    static const char *const options[] = {"--zone", "--from", "--to"};
    add_word(call, "explain");
    add_word(call, "--json");
    add_options(call, names, options, 3);
    add_word(call, "--");
    return add_named_file(call) ? run_words(call, NULL) : STROBE_MCP_FAILED;
}

static enum strobe_mcp_result call_diff(struct call *call)
{
    static const char *const words[] = {"diff", "--format", "json", "--all"};
    static const char *const names[] = {"of", "metric"};
    static const char *const options[] = {"--of", "--metric"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        add_word(call, words[i]);
    add_options(call, names, options, 2);
    if (!add_files(call, "a"))
        return STROBE_MCP_FAILED;
    add_word(call, "--");
    return add_files(call, "b") ? run_words(call, NULL) : STROBE_MCP_FAILED;
}

/* A text between quotes, as SQL and LIKE read it: nothing in it is a pattern. */
static void put_like(struct strobe_out *sql, const char *text)
{
    strobe_out_text(sql, " LIKE '%");
    for (; *text; text++) {
        if (strchr("%_\\", *text))
            strobe_out_char(sql, '\\');
        if (*text == '\'')
            strobe_out_char(sql, '\'');
        strobe_out_char(sql, *text);
    }
    strobe_out_text(sql, "%' ESCAPE '\\'");
}

static enum strobe_mcp_result call_find(struct call *call)
{
    const char *name = text_of(call, "name");
    int64_t limit = number_of(call, "limit", 20), least = number_of(call, "min_ns", 0);
    struct strobe_out sql = {0};
    if (!name) {
        strobe_out_text(call->out, "the argument 'name' is missing");
        return STROBE_MCP_FAILED;
    }
    strobe_out_text(&sql, "SELECT id, name, ts, dur, self, depth, track_id, process_id, text FROM "
                          "zone WHERE name");
    put_like(&sql, name);
    strobe_out_format(&sql, " AND dur >= %lld ORDER BY dur DESC LIMIT %lld", (long long)least,
                      (long long)(limit < 1      ? 1
                                  : limit > 1000 ? 1000
                                                 : limit));
    enum strobe_mcp_result result =
        sql.error ? STROBE_MCP_FAILED : ask(call, strobe_out_string(&sql));
    strobe_out_free(&sql);
    return result;
}

#define TEXT(name, what) "\"" name "\":{\"type\":\"string\",\"description\":\"" what "\"}"
#define FILES(name, what)                                               \
    "\"" name "\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}," \
    "\"description\":\"" what "\"}"
#define NUMBER(name, what) "\"" name "\":{\"type\":\"integer\",\"description\":\"" what "\"}"
#define TRACE              TEXT("file", "a .strobe trace in the folder of the server")

/* `properties`: members of the schema; `required`: names of those that must be there. */
static const struct {
    const char *name, *description, *properties, *required;
    enum strobe_mcp_result (*call)(struct call *call);
} tools[] = {
    {"info",
     "What is in a trace: processes, clock, coverage, losses, overhead, as JSON. Without a file: "
     "the traces of the folder.",
     TRACE, "", call_info},
    {"query",
     "SQL (SQLite) over a trace that can only be read; a JSON object per row. Times are ns. "
     "Without sql: the tables and their columns. LIMIT large answers: more than 1 MiB is cut off.",
     TRACE "," TEXT("sql", "SELECT or WITH statements"), "", call_query},
    {"explain",
     "Where the time went: the critical path, the cause, the places, each with a query that "
     "proves its number, as JSON.",
     TRACE "," TEXT("zone", "explain the zones of this name") "," TEXT(
         "from", "a time after the start: 2s") "," TEXT("to", "likewise"),
     "\"file\"", call_explain},
    {"diff",
     "What changed between two sets of runs, zone by zone, with intervals, as JSON. Give three "
     "runs of each at the least.",
     FILES("a", "traces before") "," FILES("b", "traces after") "," TEXT(
         "of", "zones, ops, samples, memory or counters; zones "
               "without it") "," TEXT("metric", "mean, self or total; mean "
                                                "without it"),
     "\"a\",\"b\"", call_diff},
    {"find", "Zones whose name has a text in it, the longest first; a JSON object per zone.",
     TRACE "," TEXT("name", "part of the name") "," NUMBER("min_ns", "at least so long") "," NUMBER(
         "limit", "at most so many; 20 without it, 1000 at most"),
     "\"file\",\"name\"", call_find},
};

static void put_schema(struct strobe_json_writer *json, const char *properties,
                       const char *required)
{
    strobe_json_write_open(json, "inputSchema", '{');
    strobe_json_write_string(json, "type", "object");
    strobe_json_write_open(json, "properties", '{');
    strobe_out_text(json->out, properties);
    strobe_json_write_close(json, '}');
    strobe_json_write_open(json, "required", '[');
    strobe_out_text(json->out, required);
    strobe_json_write_close(json, ']');
    strobe_json_write_close(json, '}');
}

void strobe_mcp_tools_put(struct strobe_json_writer *json)
{
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        strobe_json_write_open(json, NULL, '{');
        strobe_json_write_string(json, "name", tools[i].name);
        strobe_json_write_string(json, "description", tools[i].description);
        put_schema(json, tools[i].properties, tools[i].required);
        strobe_json_write_raw(json, "annotations", "{\"readOnlyHint\":true}");
        strobe_json_write_close(json, '}');
    }
}

enum strobe_mcp_result strobe_mcp_tools_call(const char *folder, const char *name,
                                             const struct strobe_json_tree *tree,
                                             uint32_t arguments, struct strobe_out *out)
{
    struct call call = {.folder = folder, .tree = tree, .arguments = arguments, .out = out};
    enum strobe_mcp_result result = STROBE_MCP_NO_TOOL;
    add_word(&call, "strobe");
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (!strcmp(name, tools[i].name))
            result = tools[i].call(&call);
    for (uint32_t i = 0; i < call.n_paths; i++)
        free(call.paths[i]);
    return result;
}
