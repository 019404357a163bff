# page.cmake - the files under web/, and those that are made for the page, become a table in the binary: page_files.S
# holds the bytes, page_table.h names them. The assembler reads the files themselves, so nothing has to be converted.
include(cmake/wasm.cmake)
set(page_folder ${CMAKE_BINARY_DIR}/page)
file(GLOB_RECURSE page_paths CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/web
    ${CMAKE_CURRENT_SOURCE_DIR}/web/*.html ${CMAKE_CURRENT_SOURCE_DIR}/web/*.css ${CMAKE_CURRENT_SOURCE_DIR}/web/*.js
    ${CMAKE_CURRENT_SOURCE_DIR}/web/*.mjs ${CMAKE_CURRENT_SOURCE_DIR}/web/*.svg)

# What the page has to know of the C sources: page/facts.js, from their enums.
function(strobe_page_facts header pattern out)
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${header} text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    if(NOT text MATCHES "enum ${pattern} {([^}]*)}")
        message(FATAL_ERROR "${header} has no enum ${pattern}")
    endif()
    string(REGEX MATCHALL "STROBE_[A-Z_]+ = [0-9]+" found "${CMAKE_MATCH_1}")
    list(TRANSFORM found REPLACE "STROBE_" "")
    set(${out} ${found} PARENT_SCOPE)
endfunction()
strobe_page_facts(src/query/pixels.h strobe_pixel_flag page_flags)
strobe_page_facts(include/strobe/strobe.h strobe_severity page_severities)
list(JOIN page_flags ", " page_flags)
# The names in a source's table of questions, of those whose line fits.
function(strobe_page_questions source pattern out)
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${source} text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    string(REGEX MATCHALL "{\"[a-z]+\", ${pattern}}" found "${text}")
    if(NOT found)
        message(FATAL_ERROR "${source}: its table of questions looks different")
    endif()
    list(TRANSFORM found REPLACE "{\"([a-z]+)\".*" "'\\1'")
    list(JOIN found ", " found)
    set(${out} ${found} PARENT_SCOPE)
endfunction()
strobe_page_questions(src/engine/engine.c "strobe_engine_answer_[a-z]+, 1" page_slow) # may take long
strobe_page_questions(src/ask/asker.c "strobe_ask_answer_[a-z]+" page_long)           # may read the whole trace
list(TRANSFORM page_severities REPLACE "([A-Z]+) = ([0-9]+)" "'\\1'")
list(JOIN page_severities ", " page_severities)
string(TOLOWER "${page_severities}" page_severities)
file(GENERATE OUTPUT ${page_folder}/facts.js CONTENT
    "/* made by cmake/page.cmake */\nexport const ${page_flags};\nexport const SEVERITIES = [${page_severities}];\nexport const SLOW = [${page_slow}];\nexport const LONG = [${page_long}];\n")
set(page_made facts.js ${STROBE_MODULES})
list(APPEND page_paths ${page_made})
list(SORT page_paths) # bytewise, as bsearch wants it

set(page_type_html "text/html")
set(page_type_css "text/css")
set(page_type_js "text/javascript")
set(page_type_mjs "text/javascript")
set(page_type_svg "image/svg+xml")
set(page_type_gz "application/gzip")

# The page in the binary names its modules, so that the browser asks for all of them at once.
set(page_modules ${page_paths})
list(FILTER page_modules INCLUDE REGEX "^(engines|facts|panels/.*|view/.*)\\.js$")
list(TRANSFORM page_modules REPLACE "(.+)" "<link rel=\"modulepreload\" href=\"\\1\">\n")
list(JOIN page_modules "" page_modules)
file(READ ${CMAKE_CURRENT_SOURCE_DIR}/web/index.html page_index)
string(REPLACE "<script " "${page_modules}<script " page_index "${page_index}")
file(WRITE ${page_folder}/index.html "${page_index}")

set(page_bytes "    .section .note.GNU-stack,\"\",%progbits\n    .section .rodata\n")
set(page_names "")
set(page_rows "")
set(page_depends "")
set(number 0)
foreach(path ${page_paths})
    set(file ${CMAKE_CURRENT_SOURCE_DIR}/web/${path})
    set(changes ${file})
    if(path STREQUAL index.html OR path IN_LIST page_made)
        set(file ${page_folder}/${path})
    endif()
    if(path IN_LIST page_made)
        set(changes ${file})
    endif()
    string(REGEX REPLACE ".*\\." "" end ${path})
    string(APPEND page_bytes "    .globl strobe_page_${number}\n    .hidden strobe_page_${number}\nstrobe_page_${number}:\n"
        "    .incbin \"${file}\"\n"
        "    .globl strobe_page_${number}_end\n    .hidden strobe_page_${number}_end\nstrobe_page_${number}_end:\n    .byte 0\n")
    string(APPEND page_names "extern const unsigned char strobe_page_${number}[], strobe_page_${number}_end[];\n")
    string(APPEND page_rows "    {\"${path}\", \"${page_type_${end}}; charset=utf-8\", strobe_page_${number}, strobe_page_${number}_end},\n")
    list(APPEND page_depends ${changes})
    math(EXPR number "${number} + 1")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/web/index.html)
file(GENERATE OUTPUT ${page_folder}/page_files.S CONTENT "${page_bytes}")
file(GENERATE OUTPUT ${page_folder}/page_table.h
    CONTENT "/* made by cmake/page.cmake */\n${page_names}static const struct strobe_page_file files[] = {\n${page_rows}};\n")

enable_language(ASM)
add_library(strobe_page STATIC src/page/page.c ${page_folder}/page_files.S)
target_include_directories(strobe_page PUBLIC src PRIVATE ${page_folder})
set_source_files_properties(${page_folder}/page_files.S PROPERTIES OBJECT_DEPENDS "${page_depends}" LANGUAGE ASM COMPILE_OPTIONS "-fno-sanitize=all")
