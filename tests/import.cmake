# Chrome's JSON as a trace.
if(TARGET strobe_import)
    set(STROBE_IMPORT ${CMAKE_CURRENT_LIST_DIR}/import)
    add_test(NAME import/chrome COMMAND ${STROBE_PYTHON} -B ${STROBE_IMPORT}/test_import.py $<TARGET_FILE:strobe> $<TARGET_FILE:strobe-demo>)
    add_executable(fuzz_chrome ${STROBE_IMPORT}/fuzz_chrome.c ${CMAKE_CURRENT_LIST_DIR}/fuzz/seeds.c)
    target_link_libraries(fuzz_chrome PRIVATE strobe_import)
    add_test(NAME import/fuzz COMMAND fuzz_chrome ${STROBE_IMPORT}/seeds 500)
    set_tests_properties(import/chrome import/fuzz PROPERTIES LABELS asan TIMEOUT 900)
endif()
