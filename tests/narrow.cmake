# Rooms that the page's module is made of, on a machine of 32 bits, with sanitizers: what WebAssembly has not. Made by clang with -m32 in the
# tree with the address sanitizer; zstd from its sources (cmake/zstd.cmake), a few lines in place of cmocka (narrow/cmocka.h). Rings and
# collector are for machines of 64 bits alone.
if(NOT STROBE_SANITIZE MATCHES address OR STROBE_CLIENT_ONLY)
    return()
endif()
find_program(STROBE_NARROW_CLANG clang)
set(narrow_folder ${CMAKE_BINARY_DIR}/narrow)
set(narrow_system -m32 -msse2 -fforce-enable-int128 -idirafter /usr/include/x86_64-linux-gnu)
# clang alone takes NULL + 0 for a step out of an object
set(narrow_sanitize -fsanitize=address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all)
set(narrow_why "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES x86_64 AND STROBE_NARROW_CLANG)
    file(WRITE ${narrow_folder}/try.c "#include <errno.h>\n#include <stdlib.h>\nint main(void) {return errno;}\n")
    execute_process(COMMAND ${STROBE_NARROW_CLANG} ${narrow_system} ${narrow_sanitize} ${narrow_folder}/try.c -o ${narrow_folder}/try -latomic
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
        set(narrow_why "clang -m32 links no program: libc6-dev-i386 or lib32gcc-12-dev is missing")
    else()
        strobe_zstd_source(narrow_zstd narrow_why)
    endif()
else()
    set(narrow_why "no clang for x86-64")
endif()
if(narrow_why)
    message(STATUS "without the tests for 32 bits: ${narrow_why}")
    return()
endif()

set(narrow_flags ${narrow_system} -std=gnu17 -O1 -g -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DSTROBE_ASSERTS -DSTROBE_VERSION="${PROJECT_VERSION}"
    -I${CMAKE_CURRENT_LIST_DIR}/narrow -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include -I${narrow_zstd} -I${narrow_zstd}/common
    -Wall -Wextra -Wshorten-64-to-32 -Wno-atomic-alignment -Werror ${narrow_sanitize})
set(narrow_sources ${CMAKE_CURRENT_LIST_DIR}/narrow/int128.c)
foreach(room base file query engine)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
    list(APPEND narrow_sources ${sources})
endforeach()
list(FILTER narrow_sources EXCLUDE REGEX "/query/symbols\\.c$") # libdw
file(GLOB zstd_sources ${narrow_zstd}/common/*.c ${narrow_zstd}/compress/*.c ${narrow_zstd}/decompress/*.c)
set(narrow_objects "")
foreach(source ${narrow_sources} ${zstd_sources})
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(room ${source} DIRECTORY)
    get_filename_component(room ${room} NAME)
    set(object ${narrow_folder}/${room}_${name}.o)
    set(flags ${narrow_flags})
    if(source IN_LIST zstd_sources)
        set(flags ${narrow_system} -O1 -DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=0)
    elseif(name STREQUAL int128) # what a sanitizer would call itself
        set(flags ${narrow_system} -O2)
    endif()
    add_custom_command(OUTPUT ${object} DEPFILE ${object}.d DEPENDS ${source} VERBATIM
        COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${STROBE_NARROW_CLANG} ${flags} -MD -MT ${object} -MF ${object}.d -c ${source} -o ${object}
        COMMENT "Building 32-bit object ${room}_${name}.o")
    list(APPEND narrow_objects ${object})
endforeach()
set(narrow_archive ${narrow_folder}/rooms.a)
add_custom_command(OUTPUT ${narrow_archive} DEPENDS ${narrow_objects} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E rm -f ${narrow_archive} COMMAND ${CMAKE_AR} rc ${narrow_archive} ${narrow_objects})
set(narrow_programs "")
foreach(source unit/test_base_array unit/test_base_map unit/test_base_number unit/test_base_utf8 unit/test_encode unit/test_file_read
        unit/test_query_clock unit/test_query_cut unit/test_query_pixels unit/test_query_stats unit/test_query_sums unit/test_query_walk
        fuzz/fuzz_ask)
    get_filename_component(name ${source} NAME)
    set(program ${narrow_folder}/${name})
    set(narrow_more "")
    if(name MATCHES "^fuzz_")
        set(narrow_more ${CMAKE_CURRENT_LIST_DIR}/fuzz/seeds.c -DSTROBE_FUZZ_SEEDS="${CMAKE_CURRENT_LIST_DIR}/fuzz/seeds")
    endif()
    add_custom_command(OUTPUT ${program} DEPENDS ${CMAKE_CURRENT_LIST_DIR}/${source}.c ${narrow_archive} VERBATIM
        COMMAND ${STROBE_NARROW_CLANG} ${narrow_flags} -Wno-shorten-64-to-32 ${CMAKE_CURRENT_LIST_DIR}/${source}.c ${narrow_more} ${narrow_archive} -o ${program} -lm -lpthread -latomic)
    list(APPEND narrow_programs ${program})
    if(source MATCHES "^unit/")
        add_test(NAME narrow/${name} COMMAND ${program})
        set_tests_properties(narrow/${name} PROPERTIES LABELS asan)
    endif()
endforeach()
add_custom_target(narrow ALL DEPENDS ${narrow_programs})
add_test(NAME narrow/questions_of_any_bytes COMMAND ${narrow_folder}/fuzz_ask ${CMAKE_CURRENT_LIST_DIR}/fuzz/seeds/ask 20000)
set_tests_properties(narrow/questions_of_any_bytes PROPERTIES LABELS asan)
