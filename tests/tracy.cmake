# Tracy's protocol: recorded sessions and stand-in clients into traces, judged by the second reader's means.
set(STROBE_TRACY ${CMAKE_CURRENT_LIST_DIR}/tracy)
if(TARGET strobe_tracy)
    add_executable(tracy_probe ${STROBE_TRACY}/tracy_probe.c)
    target_link_libraries(tracy_probe PRIVATE strobe_tracy)
endif()
