# wasm.cmake - the page's WebAssembly modules: the engine, build/page/engine.wasm.gz, the importers, build/page/import.wasm.gz, what answers long
# questions, with SQLite in it, build/page/ask.wasm.gz, and a disassembler, build/page/code.wasm.gz. All but the last are made of the same sources as the commands,
# with clang, lld and wasi-libc. STROBE_MODULES names those that can be made; the build says why one can't.
include(cmake/zstd.cmake)
option(STROBE_WASM "build the page's WebAssembly module, where its tools are there" ON)
find_program(STROBE_WASM_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
find_program(STROBE_GZIP gzip)
set(STROBE_MODULES_FROM "" CACHE PATH "a build of the same sources: its modules are taken instead of made once more")
set(STROBE_MODULES "")
if(STROBE_MODULES_FROM)
    foreach(name engine ask import code)
        set(made ${STROBE_MODULES_FROM}/page/${name}.wasm)
        if(EXISTS ${made}.gz)
            add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/page/${name}.wasm.gz DEPENDS ${made}.gz VERBATIM
                COMMAND ${CMAKE_COMMAND} -E copy ${made} ${made}.gz ${CMAKE_BINARY_DIR}/page
                COMMENT "Copying page/${name}.wasm.gz")
            list(APPEND STROBE_MODULES ${name}.wasm.gz)
        endif()
    endforeach()
    return()
endif()
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

# Compile sources into objects of the module's own folder; FLAGS follow. Appends to OUT.
function(strobe_wasm_objects out module flags)
    set(objects ${${out}})
    foreach(source ${ARGN})
        get_filename_component(name ${source} NAME_WE)
        get_filename_component(room ${source} DIRECTORY)
        get_filename_component(room ${room} NAME)
        set(object ${wasm_folder}/${module}/${room}_${name}.o)
        add_custom_command(OUTPUT ${object} DEPFILE ${object}.d DEPENDS ${source} VERBATIM
            COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${STROBE_WASM_CLANG} ${wasm_flags} ${flags} -MD -MT ${object} -MF ${object}.d -c ${source} -o ${object}
            COMMENT "Building WebAssembly object ${module}/${room}_${name}.o")
        list(APPEND objects ${object})
    endforeach()
    file(MAKE_DIRECTORY ${wasm_folder}/${module})
    set(${out} ${objects} PARENT_SCOPE)
endfunction()

function(strobe_wasm_module name)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/page/${name}.wasm.gz DEPENDS ${ARGN} VERBATIM
        COMMAND ${STROBE_WASM_CLANG} ${wasm_link} ${ARGN} -o ${CMAKE_BINARY_DIR}/page/${name}.wasm
        COMMAND ${STROBE_GZIP} -9nkf ${CMAKE_BINARY_DIR}/page/${name}.wasm
        COMMENT "Linking page/${name}.wasm.gz")
    list(APPEND STROBE_MODULES ${name}.wasm.gz)
    set(STROBE_MODULES ${STROBE_MODULES} PARENT_SCOPE)
endfunction()

set(wasm_zstd_options -DZSTD_DISABLE_ASM -DHUF_FORCE_DECOMPRESS_X1 -DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT -DZSTD_STRIP_ERROR_STRINGS=1 -DZSTD_LEGACY_SUPPORT=0)
set(wasm_options -std=gnu17 -Wall -Wextra -Wshorten-64-to-32 -Werror -D_GNU_SOURCE -DSTROBE_VERSION="${PROJECT_VERSION}"
    -I${CMAKE_CURRENT_SOURCE_DIR}/src -I${CMAKE_CURRENT_SOURCE_DIR}/include -I${zstd_lib} -I${zstd_lib}/common)

# All of some rooms.
function(strobe_wasm_rooms out)
    set(found "")
    foreach(room ${ARGN})
        file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${room}/*.c)
        list(APPEND found ${sources})
    endforeach()
    set(${out} ${found} PARENT_SCOPE)
endfunction()

# The engine: the rooms of the answers, without what writes, starts threads or asks the system.
strobe_wasm_rooms(wasm_sources base file query engine wasm)
list(FILTER wasm_sources EXCLUDE REGEX "/base/(confine|descendants|ready|regular)\\.c$")
list(FILTER wasm_sources EXCLUDE REGEX "/file/(copy|encode|encode_[a-z]+|file_ends|file_pack|file_write|lod_write|notes|paired_write|records|source_fd)\\.c$")
list(FILTER wasm_sources EXCLUDE REGEX "/query/(cut|feed_thread|gpu_order|merge|pair|pair_blocks|pair_levels|pair_spans|samples|source_files|sums|symbols|trace_open)\\.c$")
set(zstd_sources "")
foreach(name common/entropy_common common/error_private common/fse_decompress common/xxhash common/zstd_common
        decompress/huf_decompress decompress/zstd_ddict decompress/zstd_decompress decompress/zstd_decompress_block)
    list(APPEND zstd_sources ${zstd_lib}/${name}.c)
endforeach()
set(wasm_objects "")
strobe_wasm_objects(wasm_objects engine "${wasm_options}" ${wasm_sources})
strobe_wasm_objects(wasm_objects engine "${wasm_zstd_options}" ${zstd_sources})
strobe_wasm_module(engine ${wasm_objects})

# The disassembler: Capstone for x86-64 and arm64, all of it in the page, so that recorder and server need none.
strobe_crate_source(capstone wasm_why capstone-sys 0.18.0 a4e8087cab6731295f5a2a2bd82989ba4f41d3a428aab2e7c98d8f4db38aac05 capstone/cs.c
    "cc 1.99.0 bindgen 0.69.99 regex 1.99.0")
if(capstone)
    file(GLOB capstone_sources ${capstone}/*.c ${capstone}/arch/X86/*.c ${capstone}/arch/AArch64/*.c)
    list(FILTER capstone_sources EXCLUDE REGEX "X86ATTInstPrinter")
    set(wasm_objects "")
    strobe_wasm_objects(wasm_objects code "-w;-DCAPSTONE_USE_SYS_DYN_MEM;-DCAPSTONE_HAS_X86;-DCAPSTONE_HAS_ARM64;-DCAPSTONE_X86_ATT_DISABLE;-I${capstone}/include" ${capstone_sources})
    strobe_wasm_rooms(wasm_sources base wasm_code)
    list(FILTER wasm_sources EXCLUDE REGEX "/base/(confine|descendants|ready|regular)\\.c$")
    strobe_wasm_objects(wasm_objects code "${wasm_options};-isystem${capstone}/include" ${wasm_sources})
    strobe_wasm_module(code ${wasm_objects})
else()
    message(WARNING "without the page's disassembler (${wasm_why}): it shows source lines with samples, but no instructions")
endif()

# What answers long questions: SQL, explain, compare; for size, since it is loaded when somebody asks. SQLite comes from a crate that carries it.
strobe_crate_source(sqlite_lib wasm_why libsqlite3-sys 0.30.1 2e99fb7a497b1e3339bc746195567ed8d3e24945ecd636e3619d20b9de9e9149 sqlite3/sqlite3.c
    "pkg-config 0.3.99 vcpkg 0.2.99")
if(sqlite_lib)
    strobe_wasm_rooms(wasm_sources base file query sql diff explain ask wasm_ask)
    list(FILTER wasm_sources EXCLUDE REGEX "/base/(confine|descendants|ready|regular)\\.c$")
    list(FILTER wasm_sources EXCLUDE REGEX "/file/(copy|encode|encode_[a-z]+|file_ends|file_pack|file_write|lod_write|notes|paired_write|records|source_fd)\\.c$")
    list(FILTER wasm_sources EXCLUDE REGEX "/query/(cut|feed_thread|gpu_order|merge|pair|pair_blocks|pair_levels|pair_spans|samples|sums|symbols|trace_open)\\.c$")
    list(FILTER wasm_sources EXCLUDE REGEX "/sql/(arrow|columns|columns_build|columns_source|columns_zones|handover|heap)\\.c$")
    list(APPEND wasm_sources ${CMAKE_CURRENT_SOURCE_DIR}/src/engine/json.c ${CMAKE_CURRENT_SOURCE_DIR}/src/engine/reply.c)
    set(wasm_objects "")
    strobe_wasm_objects(wasm_objects ask "${wasm_options};-Os;-I${sqlite_lib}" ${wasm_sources})
    strobe_wasm_objects(wasm_objects ask "${wasm_zstd_options};-Os" ${zstd_sources})
    strobe_wasm_objects(wasm_objects ask "-Os;-DSQLITE_OS_OTHER=1;-DSQLITE_THREADSAFE=0;-DSQLITE_ENABLE_MATH_FUNCTIONS;-DSQLITE_OMIT_LOAD_EXTENSION;-DSQLITE_OMIT_WAL;-DSQLITE_OMIT_SHARED_CACHE;-DSQLITE_OMIT_DEPRECATED;-DSQLITE_OMIT_UTF16;-DSQLITE_OMIT_TRACE;-DSQLITE_MAX_MMAP_SIZE=0;-DSQLITE_OMIT_COMPLETE;-DSQLITE_OMIT_GET_TABLE;-DSQLITE_OMIT_INCRBLOB;-DSQLITE_OMIT_LOCALTIME" ${sqlite_lib}/sqlite3.c)
    strobe_wasm_module(ask ${wasm_objects})
else()
    message(WARNING "without the page's SQL (${wasm_why}): a page without a server has no queries, explanations and comparisons")
endif()

# The importers: what reads files of others, and what writes traces. The page's files stand in for the system's.
strobe_crate_source(lz4_lib wasm_why lz4-sys 1.11.1 6bd8c0d6c6ed0cd30b3652886bb8711dc4bb01d637a68105a3d5158039b418e6 liblz4/lib/lz4.h
    "libc 0.2.999 cc 1.99.0")
if(NOT lz4_lib)
    message(WARNING "without the page's importers (${wasm_why}): the page reads .strobe traces alone")
    return()
endif()
strobe_wasm_rooms(wasm_sources base file build import tracy_file device report device_import wasm_import)
list(APPEND wasm_sources ${CMAKE_CURRENT_SOURCE_DIR}/src/query/texts.c)
list(FILTER wasm_sources EXCLUDE REGEX "/base/(confine|descendants|ready|regular)\\.c$")
list(FILTER wasm_sources EXCLUDE REGEX "/tracy_file/(code|csv[a-z_]*|gather[a-z_]*|model|rare|spool|stacks|switches|write[a-z_]*)\\.c$")
list(FILTER wasm_sources EXCLUDE REGEX "/report/(compare|device_json|folders|setups|write_[a-z]+)\\.c$")
file(GLOB zstd_sources ${zstd_lib}/common/*.c ${zstd_lib}/compress/*.c ${zstd_lib}/decompress/*.c)
list(FILTER zstd_sources EXCLUDE REGEX "/(pool|threading|debug|zstdmt_compress)\\.c$")
set(wasm_objects "")
strobe_wasm_objects(wasm_objects import "${wasm_options};-I${lz4_lib};-I${CMAKE_CURRENT_SOURCE_DIR}/kernel;-isystem${CMAKE_CURRENT_SOURCE_DIR}/src/wasm_import/posix;-idirafter/usr/include/${CMAKE_LIBRARY_ARCHITECTURE};-DO_DIRECT=0;-DF_DUPFD_CLOEXEC=1030" ${wasm_sources})
strobe_wasm_objects(wasm_objects import "${wasm_zstd_options}" ${zstd_sources})
strobe_wasm_objects(wasm_objects import "" ${lz4_lib}/lz4.c)
strobe_wasm_module(import ${wasm_objects})
