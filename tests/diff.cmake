# Runs compared.
if(TARGET strobe_diff AND TARGET strobe-hello-c)
    add_test(NAME diff/command COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/diff/test_diff.py $<TARGET_FILE:strobe> $<TARGET_FILE:strobe-hello-c>)
    set_tests_properties(diff/command PROPERTIES LABELS asan TIMEOUT 900)
endif()
