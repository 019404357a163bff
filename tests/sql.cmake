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
endif()
