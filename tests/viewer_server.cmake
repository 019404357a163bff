# The viewer's server, from outside: a page without a browser.
if(TARGET strobe_serve AND TARGET make_trace)
    foreach(class Answers Guard Live Imports Threads Command)
        string(TOLOWER ${class} name)
        add_test(NAME viewer/server_${name} COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/viewer/test_server.py
            $<TARGET_FILE:strobe> $<TARGET_FILE:make_trace> $<TARGET_FILE:strobe-demo> ${class})
        set_tests_properties(viewer/server_${name} PROPERTIES TIMEOUT 900)
    endforeach()
    set_property(GLOBAL APPEND PROPERTY STROBE_THREADED strobe make_trace strobe-demo)
    set_tests_properties(viewer/server_threads PROPERTIES LABELS tsan ENVIRONMENT TSAN_OPTIONS=halt_on_error=1)
endif()
