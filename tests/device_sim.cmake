# Devices from outside: the example, the guide's program, what is installed. (Kernels and their markers: unit/test_device_sim.)
set_tests_properties(unit/test_device_sim unit/test_device_kernels PROPERTIES TIMEOUT 900
    ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${CMAKE_BINARY_DIR}/kernels")
if(TARGET strobe-device-add AND NOT STROBE_SANITIZE)
    add_test(NAME device/example COMMAND strobe-device-add 3)
    set_tests_properties(device/example PROPERTIES TIMEOUT 300
        PASS_REGULAR_EXPRESSION "262144 words in 256 tiles on 8x8 cores: 0 wrong; 6720 markers, 0 dropped"
        ENVIRONMENT "TT_METAL_DEVICE_PROFILER=1;TT_METAL_PROFILER_DIR=${CMAKE_CURRENT_BINARY_DIR}/device_example;STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${CMAKE_BINARY_DIR}/kernels")
    add_test(NAME device/recorded COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_recorded.py ${CMAKE_BINARY_DIR})
    set_tests_properties(device/recorded PROPERTIES TIMEOUT 900 DEPENDS device/example
        ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel")
    add_test(NAME device/run_files COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_run_files.py ${CMAKE_BINARY_DIR})
    set_tests_properties(device/run_files PROPERTIES TIMEOUT 300 DEPENDS device/example
        ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${CMAKE_BINARY_DIR}/kernels")
    add_test(NAME device/seed COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_seed.py ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    set_tests_properties(device/seed PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
