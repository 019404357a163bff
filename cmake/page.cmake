# page.cmake - the files under web/ become a table in the binary: page_files.S holds the bytes,
# page_table.h names them. The assembler reads the files themselves, so nothing has to be converted.
file(GLOB_RECURSE page_paths CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/web
    ${CMAKE_CURRENT_SOURCE_DIR}/web/*.html ${CMAKE_CURRENT_SOURCE_DIR}/web/*.css ${CMAKE_CURRENT_SOURCE_DIR}/web/*.js
    ${CMAKE_CURRENT_SOURCE_DIR}/web/*.mjs ${CMAKE_CURRENT_SOURCE_DIR}/web/*.svg)
list(SORT page_paths) # bytewise, as bsearch wants it

set(page_type_html "text/html")
set(page_type_css "text/css")
set(page_type_js "text/javascript")
set(page_type_mjs "text/javascript")
set(page_type_svg "image/svg+xml")

# The page in the binary names its modules, so that the browser asks for all of them at once.
set(page_folder ${CMAKE_BINARY_DIR}/page)
set(page_modules ${page_paths})
list(FILTER page_modules INCLUDE REGEX "^(engines|panels/.*|view/.*)\\.js$")
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
    if(path STREQUAL index.html)
        set(file ${page_folder}/index.html)
    endif()
    string(REGEX REPLACE ".*\\." "" end ${path})
    string(APPEND page_bytes "    .globl strobe_page_${number}\n    .hidden strobe_page_${number}\nstrobe_page_${number}:\n"
        "    .incbin \"${file}\"\n"
        "    .globl strobe_page_${number}_end\n    .hidden strobe_page_${number}_end\nstrobe_page_${number}_end:\n    .byte 0\n")
    string(APPEND page_names "extern const unsigned char strobe_page_${number}[], strobe_page_${number}_end[];\n")
    file(SIZE ${file} bytes)
    string(APPEND page_rows "    {\"${path}\", \"${page_type_${end}}; charset=utf-8\", strobe_page_${number}, ${bytes}},\n")
    list(APPEND page_depends ${CMAKE_CURRENT_SOURCE_DIR}/web/${path})
    math(EXPR number "${number} + 1")
endforeach()
# a file that changes its size changes the table, so the table is made anew
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_depends})
file(GENERATE OUTPUT ${page_folder}/page_files.S CONTENT "${page_bytes}")
file(GENERATE OUTPUT ${page_folder}/page_table.h
    CONTENT "/* made by cmake/page.cmake */\n${page_names}static const struct strobe_page_file files[] = {\n${page_rows}};\n")

enable_language(ASM)
add_library(strobe_page STATIC src/page/page.c ${page_folder}/page_files.S)
target_include_directories(strobe_page PUBLIC src PRIVATE ${page_folder})
set_source_files_properties(${page_folder}/page_files.S PROPERTIES OBJECT_DEPENDS "${page_depends}" LANGUAGE ASM COMPILE_OPTIONS "-fno-sanitize=all")
