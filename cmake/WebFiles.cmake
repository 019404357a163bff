# strobe_web_files(OUT FOLDER): writes a C file that holds every file of FOLDER, by .incbin. The list is made anew when files
# come or go, the object when one of them changes.
function(strobe_web_files out folder)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*)
    set(code "/* made by cmake/WebFiles.cmake */\n#include \"serve/web_files.h\"\n")
    set(table "")
    set(wanted "")
    set(i 0)
    foreach(file ${files})
        file(RELATIVE_PATH path ${folder} ${file})
        if(path MATCHES "\\.(html|js|mjs|css|svg|png|json|woff2|wasm|ico|txt)$" AND NOT path MATCHES "(^|/)(node_modules|tests?)/")
            string(APPEND code "__asm__(\".section .rodata\\n.balign 8\\n.global strobe_web_${i}\\nstrobe_web_${i}:\\n\"\n"
                "        \".incbin \\\"${file}\\\"\\n.global strobe_web_${i}_end\\nstrobe_web_${i}_end:\\n.byte 0\\n.previous\\n\");\n"
                "extern const uint8_t strobe_web_${i}[] __attribute__((visibility(\"hidden\")));\n"
                "extern const uint8_t strobe_web_${i}_end[] __attribute__((visibility(\"hidden\")));\n")
            string(APPEND table "    {\"/${path}\", strobe_web_${i}, strobe_web_${i}_end},\n")
            list(APPEND wanted ${file})
            math(EXPR i "${i} + 1")
        endif()
    endforeach()
    string(APPEND code "const struct strobe_web_file strobe_web_files[] = {\n${table}    {NULL, NULL, NULL},\n};\n")
    file(WRITE ${out}.new "${code}")
    configure_file(${out}.new ${out} COPYONLY)
    set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS "${wanted}")
endfunction()
