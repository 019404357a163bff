# The lines that other projects' documents print, as docs/printed-lines.md lists them: the list itself, and (minutes each) its blocks.
add_test(NAME printed/list COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/printed/test_list.py)
if(TARGET strobe-nano-gpt AND TARGET strobe_python AND NOT STROBE_SANITIZE)
    foreach(name shell python cpp)
        add_test(NAME printed/${name} COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/printed/test_${name}.py ${CMAKE_BINARY_DIR})
        set_tests_properties(printed/${name} PROPERTIES TIMEOUT 3600 LABELS full SKIP_RETURN_CODE 77
            ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${STROBE_TEST_KERNELS}")
    endforeach()
endif()
