# Ops to profile (examples/ttnn): their results, and the op report of programs that run them. Kernels are built once per build folder.
if(TARGET strobe_device_lib_shared AND TARGET strobe_python AND TARGET strobe AND NOT STROBE_SANITIZE)
    foreach(name ops report)
        add_test(NAME ttnn/${name} COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/ttnn/test_${name}.py ${CMAKE_BINARY_DIR})
        set_tests_properties(ttnn/${name} PROPERTIES TIMEOUT 900
            ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${CMAKE_BINARY_DIR}/kernels")
    endforeach()
    set_tests_properties(ttnn/report PROPERTIES DEPENDS ttnn/ops) # which builds the kernels
endif()
