# fuzz_file: damaged traces are read without harm. A short run here; tests/fuzz/coverage.sh file tells what it reaches.
if(TARGET strobe_query)
    add_executable(fuzz_file ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_file.c
        ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/mutate.c ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/drive.c)
    target_link_libraries(fuzz_file PRIVATE strobe_engine strobe_export strobe_tracy_file strobe_bridge strobe_query
        strobe_collector)
    add_test(NAME fuzz/file COMMAND fuzz_file ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/seeds 1500 1)
    set_tests_properties(fuzz/file PROPERTIES LABELS "asan" TIMEOUT 900)
endif()

# fuzz_pool: a collector over pools that change while they are mapped. Calls between rooms are led through the harness, which
# changes the pools there.
if(TARGET strobe_collector)
    add_executable(fuzz_pool ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/fuzz_pool.c)
    target_link_libraries(fuzz_pool PRIVATE strobe_collector)
    foreach(led strobe_encode_words strobe_encode_zone_begin strobe_encode_zone_end strobe_records_begin
            strobe_build_block_lose strobe_collector_add_segment fstat clock_gettime nanosleep)
        target_link_options(fuzz_pool PRIVATE -Wl,--wrap=${led})
    endforeach()
    add_test(NAME fuzz/pool COMMAND fuzz_pool ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/pool_seeds.txt 120 1)
    set_tests_properties(fuzz/pool PROPERTIES LABELS "asan" TIMEOUT 900)
endif()
