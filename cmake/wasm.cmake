# wasm.cmake - the engine as a WebAssembly module for the page: build/page/engine.wasm.gz. It is made of the same sources as
# the server's, with clang, lld and wasi-libc; STROBE_MODULE is empty, and the build says why, where one of them is missing.
include(cmake/zstd.cmake)
option(STROBE_WASM "build the page's WebAssembly module, where its tools are there" ON)
find_program(STROBE_WASM_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
find_program(STROBE_GZIP gzip)
set(STROBE_MODULE "")
set(wasm_folder ${CMAKE_BINARY_DIR}/wasm)
# clang 14 crashes with -flto or -mbulk-memory
set(wasm_flags --target=wasm32-wasi -O2 -ffunction-sections -fdata-sections)
# the stack comes first, so that what runs over it is a trap and does not write into data
set(wasm_link ${wasm_flags} -mexec-model=reactor -Wl,--gc-sections -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=1048576)

# Set OUT to why the module can't be made; empty: it can.
function(strobe_wasm_missing out)
    set(${out} "" PARENT_SCOPE)
    if(NOT STROBE_WASM)
        set(${out} "STROBE_WASM is off" PARENT_SCOPE)
    elseif(NOT STROBE_WASM_CLANG OR NOT STROBE_GZIP)
        set(${out} "clang or gzip is missing" PARENT_SCOPE)
    else()
        file(WRITE ${wasm_folder}/try.c
            "#include <stdio.h>\n__attribute__((export_name(\"f\"))) int f(char *s, double x) {return snprintf(s, 9, \"%f\", x);}\n")
        execute_process(COMMAND ${STROBE_WASM_CLANG} ${wasm_link} ${wasm_folder}/try.c -o ${wasm_folder}/try.wasm
            RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        if(failed)
            set(${out} "${STROBE_WASM_CLANG} makes no WebAssembly: lld, wasi-libc or its libclang-rt-*-dev-wasm32 is missing" PARENT_SCOPE)
        endif()
    endif()
endfunction()

strobe_wasm_missing(wasm_why)
if(NOT wasm_why)
    strobe_zstd_source(zstd_lib wasm_why)
endif()
if(wasm_why)
    message(WARNING "without the page's WebAssembly module (${wasm_why}): the page can't read traces by itself, and `strobe export --to html` will refuse")
    return()
endif()

# The rooms of the answers, without what writes, starts threads or asks the system.
set(wasm_sources "")
foreach(room base file query engine wasm)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${room}/*.c)
    list(APPEND wasm_sources ${sources})
endforeach()
list(FILTER wasm_sources EXCLUDE REGEX "/base/(confine|descendants|ready|regular)\\.c$")
list(FILTER wasm_sources EXCLUDE REGEX "/file/(copy|encode|encode_[a-z]+|file_ends|file_pack|file_write|lod_write|notes|paired_write|records|source_fd)\\.c$")
list(FILTER wasm_sources EXCLUDE REGEX "/query/(cut|feed_thread|gpu_run|pair|pair_blocks|pair_levels|samples|sums|symbols|trace_open)\\.c$")
set(zstd_sources "")
foreach(name common/entropy_common common/error_private common/fse_decompress common/xxhash common/zstd_common
        decompress/huf_decompress decompress/zstd_ddict decompress/zstd_decompress decompress/zstd_decompress_block)
    list(APPEND zstd_sources ${zstd_lib}/${name}.c)
endforeach()

set(wasm_objects "")
foreach(source ${wasm_sources} ${zstd_sources})
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(room ${source} DIRECTORY)
    get_filename_component(room ${room} NAME)
    set(object ${wasm_folder}/${room}_${name}.o)
    if(source IN_LIST zstd_sources)
        set(options -DZSTD_DISABLE_ASM -DHUF_FORCE_DECOMPRESS_X1 -DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT -DZSTD_STRIP_ERROR_STRINGS=1 -DZSTD_LEGACY_SUPPORT=0)
    else()
        set(options -std=gnu17 -Wall -Wextra -Wshorten-64-to-32 -Werror -D_GNU_SOURCE -DSTROBE_VERSION="${PROJECT_VERSION}"
            -I${CMAKE_CURRENT_SOURCE_DIR}/src -I${CMAKE_CURRENT_SOURCE_DIR}/include -I${zstd_lib} -I${zstd_lib}/common)
    endif()
    add_custom_command(OUTPUT ${object} DEPFILE ${object}.d DEPENDS ${source} VERBATIM
        COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${STROBE_WASM_CLANG} ${wasm_flags} ${options} -MD -MT ${object} -MF ${object}.d -c ${source} -o ${object}
        COMMENT "Building WebAssembly object ${room}_${name}.o")
    list(APPEND wasm_objects ${object})
endforeach()
set(STROBE_MODULE ${CMAKE_BINARY_DIR}/page/engine.wasm.gz)
add_custom_command(OUTPUT ${STROBE_MODULE} DEPENDS ${wasm_objects} VERBATIM
    COMMAND ${STROBE_WASM_CLANG} ${wasm_link} ${wasm_objects} -o ${CMAKE_BINARY_DIR}/page/engine.wasm
    COMMAND ${STROBE_GZIP} -9nkf ${CMAKE_BINARY_DIR}/page/engine.wasm
    COMMENT "Linking page/engine.wasm.gz")
