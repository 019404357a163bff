# Memory and locks: tests/memlock. Programs with planted causes (a leak, an allocation storm, a convoy, locks in two orders), and what the
# commands and the page say of them.
if(STROBE_CLIENT_ONLY OR NOT TARGET strobe_lib_shared)
    return()
endif()
set(memlock_folder ${CMAKE_CURRENT_LIST_DIR}/memlock)
set(memlock_bin ${CMAKE_BINARY_DIR}/bin/memlock)
add_executable(memlock_marked ${memlock_folder}/marked.c)
target_link_libraries(memlock_marked PRIVATE strobe_lib_shared Threads::Threads)
set_target_properties(memlock_marked PROPERTIES OUTPUT_NAME marked RUNTIME_OUTPUT_DIRECTORY ${memlock_bin})
add_test(NAME memlock/marked COMMAND ${STROBE_PYTHON} -B ${memlock_folder}/test_marked.py $<TARGET_FILE:strobe> ${memlock_bin})
set_tests_properties(memlock/marked PROPERTIES TIMEOUT 300 ENVIRONMENT "STROBE_MARKED=$<TARGET_FILE:memlock_marked>;STROBE_SAMPLE=0")
