# The device's words: the writer compiled natively against the decoders, a second decoder in Python, the cost on rv32 under QEMU.
if(NOT TARGET strobe_device)
    return()
endif()
set(device_tests ${CMAKE_CURRENT_LIST_DIR}/device)
if(STROBE_SANITIZE MATCHES thread) # it knows no fences; in these programs one thread plays kernel and relay
    add_compile_options(-Wno-tsan)
endif()
add_library(device_native STATIC ${device_tests}/native.c ${device_tests}/writer_stream.c ${device_tests}/writer_classic.c)
target_include_directories(device_native PUBLIC ${device_tests} ${PROJECT_SOURCE_DIR}/kernel)

foreach(name test_device_stream test_device_classic_writer)
    add_executable(${name} ${device_tests}/${name}.c)
    target_link_libraries(${name} PRIVATE device_native strobe_device PkgConfig::CMOCKA)
    add_test(NAME device/${name} COMMAND ${name})
    set_tests_properties(device/${name} PROPERTIES LABELS "asan")
endforeach()

# The stream that the benchmarks record.
target_sources(test_device_lanes PRIVATE ${PROJECT_SOURCE_DIR}/bench/device/made.c)
target_include_directories(test_device_lanes PRIVATE ${PROJECT_SOURCE_DIR}/bench)

add_executable(worked_device ${device_tests}/worked_device.c)
target_link_libraries(worked_device PRIVATE device_native)

# A million random zones: what the writer wrote is what both readers read.
add_library(device_random_zones_main OBJECT ${device_tests}/random_zones.c)
target_link_libraries(device_random_zones_main PRIVATE device_native strobe_device)
add_executable(device_random_zones $<TARGET_OBJECTS:device_random_zones_main>)
target_link_libraries(device_random_zones PRIVATE device_native strobe_device)
add_test(NAME device/random_zones COMMAND device_random_zones 1000100 1 ${CMAKE_CURRENT_BINARY_DIR}/device_frames.bin ${CMAKE_CURRENT_BINARY_DIR}/device_expected.bin)
set_tests_properties(device/random_zones PROPERTIES FIXTURES_SETUP device_frames LABELS "asan")
add_test(NAME device/second_reader COMMAND ${STROBE_PYTHON} -B ${device_tests}/reader.py ${CMAKE_CURRENT_BINARY_DIR}/device_frames.bin ${CMAKE_CURRENT_BINARY_DIR}/device_expected.bin)
set_tests_properties(device/second_reader PROPERTIES FIXTURES_REQUIRED device_frames)


# Instructions per zone on rv32: counted, so it is a test and no benchmark.
add_test(NAME device/cost COMMAND ${STROBE_PYTHON} -B ${device_tests}/cost.py ${PROJECT_SOURCE_DIR})
set_tests_properties(device/cost PROPERTIES SKIP_RETURN_CODE 77)

# Every macro, in both forms, as a shared object: what it writes has the names that its ELF file says. Off, it is no code at all.
set_target_properties(device_native PROPERTIES C_VISIBILITY_PRESET default)
add_executable(test_device_macros ${device_tests}/test_device_macros.c)
target_link_libraries(test_device_macros PRIVATE device_native strobe_device ${CMAKE_DL_LIBS})
set_target_properties(test_device_macros PROPERTIES ENABLE_EXPORTS ON)
set(device_classic_options PROFILE_KERNEL=9)
set(device_streaming_options PROFILE_KERNEL=1 PROFILE_STREAMING PROFILE_SYNC_EVENTS STROBE_DEVICE_UNIT=12)
foreach(form classic streaming)
    add_library(device_kernel_${form} MODULE ${device_tests}/kernel_all.cc)
    target_include_directories(device_kernel_${form} PRIVATE ${device_tests} ${PROJECT_SOURCE_DIR}/kernel)
    target_compile_definitions(device_kernel_${form} PRIVATE "STROBE_DEVICE_PLATFORM=\"platform_native.h\"" ${device_${form}_options})
    set_target_properties(device_kernel_${form} PROPERTIES CXX_VISIBILITY_PRESET default)
    add_test(NAME device/macros_${form} COMMAND sh -c "'$<TARGET_FILE:test_device_macros>' '$<TARGET_FILE:device_kernel_${form}>' ${form} | diff - '${device_tests}/macros_${form}.txt'")
endforeach()
add_test(NAME device/macros_off COMMAND ${STROBE_PYTHON} -B ${device_tests}/off.py ${PROJECT_SOURCE_DIR} ${CMAKE_CXX_COMPILER})

# Zones written by tt-metal's own header, which is taken out of its wheel at that time. It is x86's assembler that knows mfence.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT STROBE_SANITIZE)
    foreach(test "upstream;400000" "upstream_millions;1000100")
        list(GET test 0 name)
        list(GET test 1 n_zones)
        add_test(NAME device/${name} COMMAND ${STROBE_PYTHON} -B ${device_tests}/upstream/upstream.py ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/peers/ttnn ${n_zones} ${CMAKE_CXX_COMPILER}
            $<TARGET_OBJECTS:device_random_zones_main> $<TARGET_FILE:device_native> $<TARGET_FILE:strobe_device> $<TARGET_FILE:strobe_base> -lm)
        set_tests_properties(device/${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 2400)
    endforeach()
    set_tests_properties(device/upstream_millions PROPERTIES LABELS "full")
endif()

# The files of a run, of raw words.
if(TARGET strobe_device_files AND TARGET strobe)
    add_executable(device_write_files ${device_tests}/write_files.c)
    target_link_libraries(device_write_files PRIVATE strobe_device_files)
    add_test(NAME device/files COMMAND ${STROBE_PYTHON} -B ${device_tests}/test_files.py ${PROJECT_SOURCE_DIR} $<TARGET_FILE:device_write_files> $<TARGET_FILE:strobe>)
    set_tests_properties(device/files PROPERTIES TIMEOUT 300)
endif()

# Logs of real hardware, and ours, as traces.
if(TARGET strobe_device_import AND TARGET strobe)
    add_test(NAME device/import COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/device_import/test_device_import.py ${PROJECT_SOURCE_DIR} $<TARGET_FILE:strobe>)
    set_tests_properties(device/import PROPERTIES TIMEOUT 300)
endif()
