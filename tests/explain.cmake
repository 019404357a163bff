# What a trace is explained by. Planted causes need context switches: without perf events the tests of those are skipped, and say so.
if(TARGET strobe_explain AND TARGET strobe_lib_shared)
    set(STROBE_EXPLAIN ${CMAKE_CURRENT_LIST_DIR}/explain)
    add_executable(explain_planted ${STROBE_EXPLAIN}/planted.c)
    target_link_libraries(explain_planted PRIVATE strobe_lib_shared Threads::Threads)
    set_target_properties(explain_planted PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/programs)
    add_test(NAME explain/command COMMAND ${STROBE_PYTHON} -B ${STROBE_EXPLAIN}/test_explain.py $<TARGET_FILE:strobe> $<TARGET_FILE:explain_planted> Explain)
    add_test(NAME explain/planted COMMAND ${STROBE_PYTHON} -B ${STROBE_EXPLAIN}/test_explain.py $<TARGET_FILE:strobe> $<TARGET_FILE:explain_planted>
        Planted.test_planted_causes_come_first_and_every_number_has_its_query)
    set_tests_properties(explain/planted PROPERTIES LABELS full TIMEOUT 900)
    set_tests_properties(explain/command PROPERTIES LABELS asan TIMEOUT 600)
endif()
