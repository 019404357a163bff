# .tracy files in and out, Tracy's tools by their names, the bridge.
set(STROBE_TRACY_FILES ${CMAKE_CURRENT_LIST_DIR}/tracy_files)
if(TARGET strobe_tracy_file)
    foreach(class Imports Exports Tables Bridges Captures)
        string(TOLOWER ${class} name)
        add_test(NAME tracy_files/${name} COMMAND ${STROBE_PYTHON} -B ${STROBE_TRACY_FILES}/test_files.py ${CMAKE_BINARY_DIR} ${class})
        set_tests_properties(tracy_files/${name} PROPERTIES TIMEOUT 900)
    endforeach()
    set_tests_properties(tracy_files/imports tracy_files/exports PROPERTIES LABELS asan)
    add_test(NAME tracy_files/real_tools COMMAND ${STROBE_PYTHON} -B ${STROBE_TRACY_FILES}/test_real_tools.py ${CMAKE_BINARY_DIR})
    set_tests_properties(tracy_files/real_tools PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77) # STROBE_TRACY_TOOLS names none
endif()
