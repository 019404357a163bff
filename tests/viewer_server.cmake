# The viewer's server, from outside: a page without a browser.
if(TARGET strobe_serve AND TARGET make_trace)
    add_executable(fuzz_ask ${CMAKE_CURRENT_LIST_DIR}/fuzz/fuzz_ask.c)
    target_link_libraries(fuzz_ask PRIVATE strobe_serve)
    add_test(NAME viewer/make_small_trace COMMAND make_trace ${CMAKE_CURRENT_BINARY_DIR}/ask.strobe 3000 3 20 4)
    set_tests_properties(viewer/make_small_trace PROPERTIES FIXTURES_SETUP ask_trace LABELS asan)
    add_test(NAME viewer/questions_of_any_bytes COMMAND fuzz_ask 100000 7 ${CMAKE_CURRENT_BINARY_DIR}/ask.strobe)
    set_tests_properties(viewer/questions_of_any_bytes PROPERTIES FIXTURES_REQUIRED ask_trace LABELS asan)
    foreach(class Answers Guard Live Imports Command)
        string(TOLOWER ${class} name)
        add_test(NAME viewer/server_${name} COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/viewer/test_server.py
            $<TARGET_FILE:strobe> $<TARGET_FILE:make_trace> $<TARGET_FILE:strobe-demo> ${class})
        set_tests_properties(viewer/server_${name} PROPERTIES TIMEOUT 300)
    endforeach()
    # threads, pages that come and go
    set_tests_properties(viewer/server_live viewer/server_imports PROPERTIES LABELS tsan ENVIRONMENT TSAN_OPTIONS=halt_on_error=1)
endif()
