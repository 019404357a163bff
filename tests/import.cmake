# Chrome's JSON as a trace.
if(TARGET strobe_import)
    set(STROBE_IMPORT ${CMAKE_CURRENT_LIST_DIR}/import)
    add_test(NAME import/chrome COMMAND ${STROBE_PYTHON} -B ${STROBE_IMPORT}/test_import.py $<TARGET_FILE:strobe> $<TARGET_FILE:strobe-demo>)
    set_tests_properties(import/chrome PROPERTIES LABELS asan TIMEOUT 900)
endif()
