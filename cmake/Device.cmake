# libstrobe-device: what programs link that run kernels on a device (include/strobe/device.h, include/tt_metal), and the headers
# that kernels are compiled with. No part of libstrobe.
if(TARGET strobe_device_host AND NOT STROBE_WHEEL)
    file(GLOB device_sources CONFIGURE_DEPENDS src/device/*.c src/device_files/*.c src/device_board/*.c src/device_sim/*.c src/device_qemu/*.c src/device_host/*.c)
    list(APPEND device_sources src/base/err.c src/base/array.c src/base/hash.c src/base/map.c
        src/base/number.c src/base/out.c src/base/ready.c src/base/sort.c src/base/sort_order.c src/base/utf8.c
        src/fifo/device_fifo_write.c src/fifo/map_twice.c src/ring/alive.c src/ring/session.c)
    foreach(kind SHARED STATIC)
        string(TOLOWER ${kind} lower)
        add_library(strobe_device_lib_${lower} ${kind} ${device_sources})
        target_include_directories(strobe_device_lib_${lower} PRIVATE src kernel
            PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
        target_compile_definitions(strobe_device_lib_${lower} PRIVATE STROBE_DEVICE_LIBRARY
            STROBE_INSTALLED_KERNELS="${CMAKE_INSTALL_FULL_DATADIR}/strobe/kernel")
        set_target_properties(strobe_device_lib_${lower} PROPERTIES OUTPUT_NAME strobe-device
            VERSION ${PROJECT_VERSION} SOVERSION 0 EXPORT_NAME device_${lower})
        target_link_libraries(strobe_device_lib_${lower} PUBLIC strobe_lib_${lower} PRIVATE Threads::Threads m ${CMAKE_DL_LIBS})
    endforeach()
    target_link_options(strobe_device_lib_shared PRIVATE -Wl,-z,defs)
    install(TARGETS strobe_device_lib_shared strobe_device_lib_static EXPORT StrobeDeviceTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT device
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT device)
    install(EXPORT StrobeDeviceTargets NAMESPACE Strobe:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Strobe COMPONENT device)
    install(DIRECTORY kernel DESTINATION ${CMAKE_INSTALL_DATADIR}/strobe COMPONENT device)
    install(DIRECTORY examples/ttnn DESTINATION ${CMAKE_INSTALL_DATADIR}/strobe COMPONENT device PATTERN __pycache__ EXCLUDE)
    install(FILES include/strobe/device.h include/strobe/device_records.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strobe COMPONENT device)
    install(DIRECTORY include/tt_metal include/tt-metalium DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT device)
    configure_file(cmake/strobe-device.pc.in ${CMAKE_BINARY_DIR}/strobe-device.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/strobe-device.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT device)
endif()
