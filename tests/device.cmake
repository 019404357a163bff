# The device's words: the writer compiled natively against the decoders, a second decoder in Python, the cost on rv32 under QEMU.
if(NOT TARGET strobe_device)
    return()
endif()
set(device_tests ${CMAKE_CURRENT_LIST_DIR}/device)
add_library(device_native STATIC ${device_tests}/native.c ${device_tests}/writer_stream.c)
target_include_directories(device_native PUBLIC ${device_tests} ${PROJECT_SOURCE_DIR}/kernel)

foreach(name test_device_stream)
    add_executable(${name} ${device_tests}/${name}.c)
    target_link_libraries(${name} PRIVATE device_native strobe_device PkgConfig::CMOCKA)
    add_test(NAME device/${name} COMMAND ${name})
    set_tests_properties(device/${name} PROPERTIES LABELS "asan")
endforeach()

add_executable(worked_device ${device_tests}/worked_device.c)
target_link_libraries(worked_device PRIVATE device_native)

# A million random zones: what the writer wrote is what both readers read.
add_executable(device_random_zones ${device_tests}/random_zones.c)
target_link_libraries(device_random_zones PRIVATE device_native strobe_device)
add_test(NAME device/random_zones COMMAND device_random_zones 1000100 1 ${CMAKE_CURRENT_BINARY_DIR}/device_frames.bin ${CMAKE_CURRENT_BINARY_DIR}/device_expected.bin)
set_tests_properties(device/random_zones PROPERTIES FIXTURES_SETUP device_frames LABELS "asan")
add_test(NAME device/second_reader COMMAND ${STROBE_PYTHON} -B ${device_tests}/reader.py ${CMAKE_CURRENT_BINARY_DIR}/device_frames.bin ${CMAKE_CURRENT_BINARY_DIR}/device_expected.bin)
set_tests_properties(device/second_reader PROPERTIES FIXTURES_REQUIRED device_frames)
