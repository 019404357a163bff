# Devices from outside: the example, the guide's program, what is installed. (Kernels and their markers: unit/test_device_sim.)
set_tests_properties(unit/test_device_sim unit/test_device_kernels PROPERTIES TIMEOUT 900
    ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${STROBE_TEST_KERNELS}")
if(TARGET strobe-device-add AND NOT STROBE_SANITIZE)
    add_executable(device_churn ${CMAKE_CURRENT_LIST_DIR}/device_sim/churn.c)
    target_link_libraries(device_churn PRIVATE strobe_device_lib_shared)
    add_executable(device_pair ${CMAKE_CURRENT_LIST_DIR}/device_sim/pair.c)
    target_link_libraries(device_pair PRIVATE strobe_device_lib_shared)
    add_executable(device_marks ${CMAKE_CURRENT_LIST_DIR}/device_sim/marks.c)
    target_link_libraries(device_marks PRIVATE strobe_device_lib_shared)
    add_executable(device_sim_truth ${CMAKE_CURRENT_LIST_DIR}/device_sim/truth.c)
    target_include_directories(device_sim_truth PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/kernel)
    target_link_libraries(device_sim_truth PRIVATE strobe_device_host)
    add_test(NAME device/example COMMAND strobe-device-add 3)
    set_tests_properties(device/example PROPERTIES TIMEOUT 300
        PASS_REGULAR_EXPRESSION "262144 words in 256 tiles on 8x8 cores: 0 wrong; 6720 markers, 0 dropped"
        ENVIRONMENT "TT_METAL_DEVICE_PROFILER=1;TT_METAL_PROFILER_DIR=${CMAKE_CURRENT_BINARY_DIR}/device_example;STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${STROBE_TEST_KERNELS}")
    add_test(NAME device/recorded COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_recorded.py ${CMAKE_BINARY_DIR})
    set_tests_properties(device/recorded PROPERTIES TIMEOUT 900 DEPENDS device/example
        ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel")
    add_test(NAME device/run_files COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_run_files.py ${CMAKE_BINARY_DIR})
    set_tests_properties(device/run_files PROPERTIES TIMEOUT 300 DEPENDS device/example
        ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${STROBE_TEST_KERNELS}")
    foreach(name death faults sessions choice tracy_view flows variables links clock marks)
        add_test(NAME device/${name} COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_${name}.py ${CMAKE_BINARY_DIR})
        set_tests_properties(device/${name} PROPERTIES TIMEOUT 1200 DEPENDS device/example ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel")
    endforeach()
    add_test(NAME device/clock_1000 COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_clock.py ${CMAKE_BINARY_DIR} 1000)
    add_test(NAME device/ledger COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_ledger.py ${CMAKE_BINARY_DIR})
    add_test(NAME device/death_50 COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_death.py ${CMAKE_BINARY_DIR})
    set_tests_properties(device/ledger device/death_50 device/clock_1000 PROPERTIES TIMEOUT 3600 LABELS full DEPENDS device/example
        ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_DEATH_ROUNDS=50")
    add_test(NAME device/seed COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_seed.py ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    set_tests_properties(device/seed PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()

# Kernels of tt-metal's wheel, which is taken from STROBE_TTNN or downloaded: needs the network, so not a part of every run.
if(TARGET strobe_device_lib_shared AND NOT STROBE_SANITIZE)
    add_executable(device_wheel_kernels ${CMAKE_CURRENT_LIST_DIR}/device_sim/wheel_kernels.cc)
    target_compile_features(device_wheel_kernels PRIVATE cxx_std_17)
    target_include_directories(device_wheel_kernels PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(device_wheel_kernels PRIVATE strobe_device_lib_shared)
    add_test(NAME device/wheel_kernels COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_wheel.py ${CMAKE_BINARY_DIR} $<TARGET_FILE:device_wheel_kernels> ${CMAKE_BINARY_DIR}/peers/ttnn)
    set_tests_properties(device/wheel_kernels PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77 LABELS "full"
        ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel")
endif()

# Callbacks of the program itself: batches of records, runs of programs. In C++17 and in C++20.
if(TARGET strobe_device_lib_shared AND NOT STROBE_SANITIZE)
    foreach(standard 17 20)
        add_executable(device_records_${standard} ${CMAKE_CURRENT_LIST_DIR}/device_sim/records.cc)
        target_compile_features(device_records_${standard} PRIVATE cxx_std_${standard})
        target_link_libraries(device_records_${standard} PRIVATE strobe_device_lib_shared Threads::Threads)
    endforeach()
    foreach(case batches times slow realtime_off realtime_classic inside)
        add_test(NAME device/records_${case} COMMAND device_records_17 ${case})
        set_tests_properties(device/records_${case} PROPERTIES TIMEOUT 300
            ENVIRONMENT "TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES=1;STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${STROBE_TEST_KERNELS}")
    endforeach()
endif()

# `python -m tracy` with a device: an option, a variable, a trouble each. What needs kernels of its own is for the full suite.
if(TARGET strobe_device_lib_shared AND TARGET strobe_python_tree AND NOT STROBE_SANITIZE)
    add_executable(device_options ${CMAKE_CURRENT_LIST_DIR}/device_sim/options.cc)
    target_compile_features(device_options PRIVATE cxx_std_17)
    target_link_libraries(device_options PRIVATE strobe_device_lib_shared)
    foreach(test "options Options Complete" "options_modes Modes" "profiler_variables" "troubles")
        separate_arguments(test)
        list(POP_FRONT test name)
        string(REPLACE _modes "" file ${name})
        add_test(NAME device/${name} COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_sim/test_${file}.py ${CMAKE_BINARY_DIR} ${test})
        set_tests_properties(device/${name} PROPERTIES TIMEOUT 900 DEPENDS device/example
            ENVIRONMENT "STROBE_KERNEL_DIR=${PROJECT_SOURCE_DIR}/kernel;STROBE_KERNEL_CACHE=${STROBE_TEST_KERNELS}")
    endforeach()
    set_tests_properties(device/options_modes device/profiler_variables PROPERTIES LABELS full)
endif()
