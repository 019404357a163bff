# make_trace: writes large traces, for measurements and tests.
if(TARGET strobe_file)
    add_executable(make_trace ${CMAKE_CURRENT_SOURCE_DIR}/make_trace.c)
    target_link_libraries(make_trace PRIVATE strobe_file)
endif()
if(TARGET strobe_query)
    add_executable(make_paired ${CMAKE_CURRENT_SOURCE_DIR}/make_paired.c)
    target_link_libraries(make_paired PRIVATE strobe_query)
endif()
