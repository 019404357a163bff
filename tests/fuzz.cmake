# fuzz_file: damaged traces are read without harm. A short run here; tests/fuzz/coverage.sh file tells what it reaches.
if(TARGET strobe_query)
    add_executable(fuzz_file ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_file.c
        ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/mutate.c ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/drive.c)
    target_link_libraries(fuzz_file PRIVATE strobe_engine strobe_export strobe_tracy_file strobe_bridge strobe_query
        strobe_collector)
    add_test(NAME fuzz/file COMMAND fuzz_file ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/seeds 1500 1)
    set_tests_properties(fuzz/file PROPERTIES LABELS "asan" TIMEOUT 120)
endif()
