/* library.h - DuckDB's library, found when somebody asks for it: the functions of its C API that are used, by dlopen, so that
 * nothing here is linked with it or needs its header. All of them are there since its version 1.0.
 * SPDX-License-Identifier: MIT */
#ifndef STROBE_DUCK_LIBRARY_H
#define STROBE_DUCK_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DuckDB's objects are pointers to something of its own. */
typedef void *duck_object;

/* OFFSET SIZE FIELD     (LP64) of DuckDB, passed by value
 *      0   40 unused    what older programs read
 *     40    8 internal */
struct duck_result {
    uint64_t unused[3];
    void *unused_columns;
    char *unused_error;
    void *internal;
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct duck_result) == 48, "DuckDB's layout");

/* OFFSET SIZE FIELD
 *      0    4 n         bytes of the text
 *      4   12 inlined   the text, where it has 12 bytes at the most; else
 *      8    8 at        where it is */
struct duck_text {
    uint32_t n;
    union {
        char inlined[12];
        struct {
            char prefix[4];
            char at[sizeof(char *)];
        };
    };
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct duck_text) == 16, "DuckDB's layout");

struct duck_huge {
    uint64_t low;
    int64_t high;
};

/* Numbers of DuckDB's types; those that are missing here are not read. */
enum duck_type {
    DUCK_BOOLEAN = 1,
    DUCK_TINYINT = 2,
    DUCK_SMALLINT = 3,
    DUCK_INTEGER = 4,
    DUCK_BIGINT = 5,
    DUCK_UTINYINT = 6,
    DUCK_USMALLINT = 7,
    DUCK_UINTEGER = 8,
    DUCK_UBIGINT = 9,
    DUCK_FLOAT = 10,
    DUCK_DOUBLE = 11,
    DUCK_HUGEINT = 16,
    DUCK_VARCHAR = 17,
    DUCK_DECIMAL = 19,
    DUCK_NULL = 36,
};

enum { DUCK_STATEMENT_SELECT = 1 };

/* result, name, arguments: duckdb_<name>. */
#define STROBE_DUCK_FUNCTIONS(X)                                                                  \
    X(const char *, library_version, (void))                                                      \
    X(int, create_config, (duck_object * config))                                                 \
    X(int, set_config, (duck_object config, const char *name, const char *value))                 \
    X(void, destroy_config, (duck_object * config))                                               \
    X(int, open_ext, (const char *path, duck_object *db, duck_object config, char **error))       \
    X(void, close, (duck_object * db))                                                            \
    X(int, connect, (duck_object db, duck_object * connection))                                   \
    X(void, disconnect, (duck_object * connection))                                               \
    X(void, interrupt, (duck_object connection))                                                  \
    X(void, free, (void *block))                                                                  \
    X(uint64_t, extract_statements, (duck_object connection, const char *text, duck_object *out)) \
    X(const char *, extract_statements_error, (duck_object extracted))                            \
    X(void, destroy_extracted, (duck_object * extracted))                                         \
    X(int, prepare_extracted_statement,                                                           \
      (duck_object connection, duck_object extracted, uint64_t i, duck_object * out))             \
    X(const char *, prepare_error, (duck_object prepared))                                        \
    X(int, prepared_statement_type, (duck_object prepared))                                       \
    X(int, execute_prepared, (duck_object prepared, struct duck_result * out))                    \
    X(void, destroy_prepare, (duck_object * prepared))                                            \
    X(int, query, (duck_object connection, const char *text, struct duck_result *out))            \
    X(const char *, result_error, (struct duck_result * result))                                  \
    X(void, destroy_result, (struct duck_result * result))                                        \
    X(uint64_t, column_count, (struct duck_result * result))                                      \
    X(const char *, column_name, (struct duck_result * result, uint64_t column))                  \
    X(int, column_type, (struct duck_result * result, uint64_t column))                           \
    X(duck_object, column_logical_type, (struct duck_result * result, uint64_t column))           \
    X(int, decimal_internal_type, (duck_object type))                                             \
    X(uint8_t, decimal_scale, (duck_object type))                                                 \
    X(duck_object, fetch_chunk, (struct duck_result result))                                      \
    X(void, destroy_data_chunk, (duck_object * chunk))                                            \
    X(uint64_t, data_chunk_get_size, (duck_object chunk))                                         \
    X(void, data_chunk_set_size, (duck_object chunk, uint64_t n))                                 \
    X(duck_object, data_chunk_get_vector, (duck_object chunk, uint64_t column))                   \
    X(uint64_t, vector_size, (void))                                                              \
    X(void *, vector_get_data, (duck_object vector))                                              \
    X(uint64_t *, vector_get_validity, (duck_object vector))                                      \
    X(void, vector_ensure_validity_writable, (duck_object vector))                                \
    X(void, vector_assign_string_element_len,                                                     \
      (duck_object vector, uint64_t row, const char *text, uint64_t n))                           \
    X(duck_object, create_logical_type, (int type))                                               \
    X(void, destroy_logical_type, (duck_object * type))                                           \
    X(void, add_replacement_scan,                                                                 \
      (duck_object db, void (*scan)(duck_object info, const char *name, void *context),           \
       void *context, void (*release)(void *)))                                                   \
    X(void, replacement_scan_set_function_name, (duck_object info, const char *name))             \
    X(duck_object, create_table_function, (void))                                                 \
    X(void, destroy_table_function, (duck_object * function))                                     \
    X(void, table_function_set_name, (duck_object function, const char *name))                    \
    X(void, table_function_add_named_parameter,                                                   \
      (duck_object function, const char *name, duck_object type))                                 \
    X(void, table_function_set_extra_info,                                                        \
      (duck_object function, void *context, void (*release)(void *)))                             \
    X(void, table_function_set_bind, (duck_object function, void (*bind)(duck_object)))           \
    X(void, table_function_set_init, (duck_object function, void (*init)(duck_object)))           \
    X(void, table_function_set_function,                                                          \
      (duck_object function, void (*fill)(duck_object info, duck_object chunk)))                  \
    X(void, table_function_supports_projection_pushdown, (duck_object function, bool does))       \
    X(int, register_table_function, (duck_object connection, duck_object function))               \
    X(void *, bind_get_extra_info, (duck_object info))                                            \
    X(void, bind_add_result_column, (duck_object info, const char *name, duck_object type))       \
    X(duck_object, bind_get_named_parameter, (duck_object info, const char *name))                \
    X(void, bind_set_bind_data, (duck_object info, void *data, void (*release)(void *)))          \
    X(void, bind_set_error, (duck_object info, const char *words))                                \
    X(void *, init_get_bind_data, (duck_object info))                                             \
    X(uint64_t, init_get_column_count, (duck_object info))                                        \
    X(uint64_t, init_get_column_index, (duck_object info, uint64_t i))                            \
    X(void, init_set_init_data, (duck_object info, void *data, void (*release)(void *)))          \
    X(void, init_set_error, (duck_object info, const char *words))                                \
    X(void *, function_get_init_data, (duck_object info))                                         \
    X(void, function_set_error, (duck_object info, const char *words))                            \
    X(int64_t, get_int64, (duck_object value))                                                    \
    X(char *, get_varchar, (duck_object value))                                                   \
    X(void, destroy_value, (duck_object * value))

struct strobe_duck_library {
#define MEMBER(result, name, arguments) result(*name) arguments;
    STROBE_DUCK_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* The library, loaded at the first call and kept; NULL: there is none, and `why` has the words. One thread. */
const struct strobe_duck_library *strobe_duck_library(char why[512]);

#endif
