# Tracy's names for programs written for Tracy: libTracyClient with its C functions, the headers under include/tracy, the
# package Tracy (find_package(Tracy), target Tracy::TracyClient) and tracy.pc. docs/tracy-headers.md.

# Switches that a project sets for Tracy's own build; all are taken, docs/tracy-headers.md says what they mean here.
set(STROBE_TRACY_SWITCHES TRACY_ON_DEMAND TRACY_NO_CALLSTACK TRACY_NO_CALLSTACK_INLINES TRACY_ONLY_LOCALHOST
    TRACY_NO_BROADCAST TRACY_ONLY_IPV4 TRACY_NO_CODE_TRANSFER TRACY_NO_CONTEXT_SWITCH TRACY_NO_EXIT TRACY_NO_SAMPLING
    TRACY_NO_VERIFY TRACY_NO_VSYNC_CAPTURE TRACY_NO_FRAME_IMAGE TRACY_NO_SYSTEM_TRACING TRACY_PATCHABLE_NOPSLEDS
    TRACY_DELAYED_INIT TRACY_MANUAL_LIFETIME TRACY_FIBERS TRACY_NO_CRASH_HANDLER TRACY_TIMER_FALLBACK
    TRACY_DISALLOW_HW_TIMER TRACY_LIBUNWIND_BACKTRACE TRACY_SYMBOL_OFFLINE_RESOLVE
    TRACY_LIBBACKTRACE_ELF_DYNLOAD_SUPPORT TRACY_DEBUGINFOD TRACY_IGNORE_MEMORY_FAULTS TRACY_VERBOSE
    TRACY_NO_INTERNAL_MESSAGE TRACY_DEMANGLE)

file(GLOB tracy_client_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tracy_client/*.c)
foreach(kind shared on_demand static)
    if(kind STREQUAL static)
        add_library(tracy_client_static STATIC ${tracy_client_sources})
    else()
        add_library(tracy_client_${kind} SHARED ${tracy_client_sources})
        target_link_options(tracy_client_${kind} PRIVATE -Wl,-z,nodelete)
    endif()
    target_include_directories(tracy_client_${kind} PRIVATE src include)
    set_target_properties(tracy_client_${kind} PROPERTIES OUTPUT_NAME TracyClient EXPORT_NAME tracy_${kind}
        INSTALL_RPATH "$ORIGIN;$ORIGIN/..")
endforeach()
target_link_libraries(tracy_client_shared PRIVATE strobe_lib_shared)
target_link_libraries(tracy_client_on_demand PRIVATE strobe_lib_shared)

# The macros' inline functions use libstrobe, and a linker looks for names only in the libraries of its own command line. So that
# -lTracyClient is enough there, the library has libstrobe's names too and says (DT_FILTER) that libstrobe.so.0 is where they are:
# the loader of glibc puts that one before ours, and what is behind our names is never used. Other loaders know no filters.
include(CheckCSourceCompiles)
check_c_source_compiles("#include <features.h>\n#ifndef __GLIBC__\n#error no\n#endif\nint main(void) { return 0; }" STROBE_GLIBC)
if(STROBE_GLIBC)
    set(names ${CMAKE_BINARY_DIR}/tracy_client_names.c)
    add_custom_command(OUTPUT ${names}
        COMMAND ${CMAKE_COMMAND} -DREADELF=${CMAKE_READELF} -DLIBRARY=$<TARGET_FILE:strobe_lib_shared> -DOUT=${names} -P
            ${PROJECT_SOURCE_DIR}/cmake/FilterNames.cmake
        DEPENDS strobe_lib_shared ${PROJECT_SOURCE_DIR}/cmake/FilterNames.cmake VERBATIM)
    set_source_files_properties(${names} PROPERTIES COMPILE_OPTIONS "-fno-sanitize=all;-Wno-missing-prototypes")
    foreach(kind shared on_demand)
        target_sources(tracy_client_${kind} PRIVATE ${names})
        target_link_options(tracy_client_${kind} PRIVATE -Wl,-F,$<TARGET_SONAME_FILE_NAME:strobe_lib_shared>)
    endforeach()
endif()
target_link_libraries(tracy_client_static PUBLIC strobe_lib_static)
# with TRACY_ON_DEMAND a zone's context is larger: a library of its own for programs that were built so
target_compile_definitions(tracy_client_on_demand PRIVATE TRACY_ON_DEMAND)
set_target_properties(tracy_client_on_demand PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tracy-on-demand)

# The library under the names that programs linked to Tracy's own look for.
set(STROBE_TRACY_VERSIONS 0.11.0 0.11.1 0.12.0 0.12.1 0.12.2 0.13.0 0.13.1 0.14.0 0.14.1)
foreach(folder . tracy-on-demand)
    foreach(version ${STROBE_TRACY_VERSIONS})
        file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${folder})
        file(CREATE_LINK libTracyClient.so ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${folder}/libTracyClient.so.${version}
            SYMBOLIC)
        install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${folder}/libTracyClient.so.${version}
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/${folder})
    endforeach()
endforeach()

# In this build tree, and for projects that add it as a folder: as Tracy's own target.
add_library(tracy_client_interface INTERFACE)
target_include_directories(tracy_client_interface INTERFACE ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/include/tracy)
target_link_libraries(tracy_client_interface INTERFACE tracy_client_shared strobe_lib_shared)
if(TRACY_ENABLE AND (NOT DEFINED ENABLE_TRACY OR ENABLE_TRACY)) # tt-metal's name for the same
    target_compile_definitions(tracy_client_interface INTERFACE TRACY_ENABLE)
endif()
add_library(Tracy::TracyClient ALIAS tracy_client_interface)

install(TARGETS tracy_client_shared tracy_client_static EXPORT StrobeTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tracy_client_on_demand EXPORT StrobeTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tracy-on-demand)
install(DIRECTORY include/tracy DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(cmake/TracyConfig.cmake.in ${CMAKE_BINARY_DIR}/TracyConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tracy PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TracyConfigVersion.cmake VERSION 0.14.1
    COMPATIBILITY AnyNewerVersion)
configure_file(cmake/tracy.pc.in ${CMAKE_BINARY_DIR}/tracy.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/TracyConfig.cmake ${CMAKE_BINARY_DIR}/TracyConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tracy)
install(FILES ${CMAKE_BINARY_DIR}/tracy.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
