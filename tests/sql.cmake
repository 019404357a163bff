# SQL over traces.
if(TARGET strobe_sql AND TARGET make_trace)
    set(STROBE_SQL ${CMAKE_CURRENT_LIST_DIR}/sql)
    add_test(NAME sql/query COMMAND ${STROBE_PYTHON} -B ${STROBE_SQL}/test_query.py $<TARGET_FILE:strobe> $<TARGET_FILE:strobe-demo>
        $<TARGET_FILE:make_trace> ${PROJECT_SOURCE_DIR})
    set_tests_properties(sql/query PROPERTIES LABELS asan TIMEOUT 900)
endif()
