# Runs compared.
if(TARGET strobe_diff AND TARGET strobe-hello-c)
    add_test(NAME diff/command COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/diff/test_diff.py $<TARGET_FILE:strobe> $<TARGET_FILE:strobe-hello-c>)
    set_tests_properties(diff/command PROPERTIES LABELS asan TIMEOUT 900)
endif()
if(TARGET strobe_lib_shared AND NOT STROBE_SANITIZE) # bench/diff.py compares runs of it
    add_executable(diff_work ${CMAKE_CURRENT_LIST_DIR}/diff/work.cpp)
    target_link_libraries(diff_work PRIVATE strobe_lib_shared)
    target_compile_options(diff_work PRIVATE -O2)
    set_target_properties(diff_work PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/programs)
endif()
