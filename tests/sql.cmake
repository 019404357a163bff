# SQL over traces. A sanitizer build runs what reaches most of the code; every test there would take as long as all of unit/.
if(TARGET strobe_sql AND TARGET make_trace)
    set(STROBE_SQL ${CMAKE_CURRENT_LIST_DIR}/sql)
    set(STROBE_SQL_CLASSES "")
    if(STROBE_SANITIZE)
        set(STROBE_SQL_CLASSES Ids Forms)
    endif()
    add_test(NAME sql/query COMMAND ${STROBE_PYTHON} -B ${STROBE_SQL}/test_query.py $<TARGET_FILE:strobe> $<TARGET_FILE:strobe-demo>
        $<TARGET_FILE:make_trace> ${PROJECT_SOURCE_DIR} ${STROBE_SQL_CLASSES})
    set_tests_properties(sql/query PROPERTIES LABELS asan TIMEOUT 900)
    set(STROBE_SQL_EXPORT ${STROBE_PYTHON} -B ${STROBE_SQL}/test_export.py $<TARGET_FILE:strobe> $<TARGET_FILE:strobe-demo> $<TARGET_FILE:make_trace>
        ${CMAKE_BINARY_DIR}/python)
    add_test(NAME sql/export COMMAND ${STROBE_SQL_EXPORT})
    set_tests_properties(sql/export PROPERTIES LABELS asan TIMEOUT 900)
    if(NOT STROBE_SANITIZE) # the libraries that read Arrow and Parquet, by pip
        add_test(NAME sql/readers COMMAND ${STROBE_SQL_EXPORT} --readers)
        set_tests_properties(sql/readers PROPERTIES LABELS full SKIP_RETURN_CODE 77 TIMEOUT 1800)
    endif()
endif()
