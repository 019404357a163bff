# Devices whose cores are processes of QEMU. Without it, or without the cross compiler, the tests say so and are skipped.
if(TARGET strobe-device-add AND NOT STROBE_SANITIZE)
    set(qemu_tests ${CMAKE_CURRENT_LIST_DIR}/device_qemu)
    add_executable(device_qemu_truth ${qemu_tests}/truth.c)
    target_link_libraries(device_qemu_truth PRIVATE strobe_device_lib_shared)
    foreach(name runs faults clock)
        add_test(NAME device/qemu_${name} COMMAND ${STROBE_PYTHON} -B ${qemu_tests}/test_${name}.py ${CMAKE_BINARY_DIR})
        set_tests_properties(device/qemu_${name} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
            ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${STROBE_TEST_KERNELS}")
    endforeach()
endif()
