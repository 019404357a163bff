# Traces put together, and pieces of them.
if(TARGET strobe-hello-c AND TARGET make_trace AND TARGET make_paired)
    add_test(NAME merge/command COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/merge/test_merge.py $<TARGET_FILE:strobe> $<TARGET_FILE:strobe-hello-c>
        $<TARGET_FILE:make_trace> $<TARGET_FILE:make_paired>)
    set_tests_properties(merge/command PROPERTIES LABELS asan TIMEOUT 600)
endif()
