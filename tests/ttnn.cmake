# Ops to profile (examples/ttnn): their results, and the op report of programs that run them. Kernels are built once per build folder.
if(TARGET strobe_device_lib_shared AND TARGET strobe_python AND TARGET strobe AND NOT STROBE_SANITIZE)
    foreach(name ops report)
        add_test(NAME ttnn/${name} COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/ttnn/test_${name}.py ${CMAKE_BINARY_DIR})
        set_tests_properties(ttnn/${name} PROPERTIES TIMEOUT 900
            ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${STROBE_TEST_KERNELS}")
    endforeach()
    set_tests_properties(ttnn/report PROPERTIES DEPENDS ttnn/ops) # which builds the kernels
    if(TARGET strobe-nano-gpt)
        add_test(NAME ttnn/native COMMAND strobe-nano-gpt 3) # fails where the loss does not fall
        set_tests_properties(ttnn/native PROPERTIES TIMEOUT 900 DEPENDS ttnn/ops
            ENVIRONMENT "TT_METAL_DEVICE_PROFILER=1;TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES=1;STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${STROBE_TEST_KERNELS}")
    endif()
endif()
