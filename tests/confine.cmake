# Imports are done by a process that can do nothing else. The command with planted steps in its readers is a program of the tests alone. (Sanitizers can't live with the filter.)
if(TARGET strobe_import AND NOT STROBE_SANITIZE AND NOT STROBE_CLIENT_ONLY)
    add_executable(strobe_planted ${cli_sources} ${CMAKE_CURRENT_LIST_DIR}/confine/planted.c)
    target_link_libraries(strobe_planted PRIVATE ${cli_uses} ${cli_libs} ${CMAKE_DL_LIBS})
    target_link_options(strobe_planted PRIVATE -Wl,--wrap=strobe_chrome_import -Wl,--wrap=strobe_tracy_import)
    add_test(NAME confine/imports COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/confine/test_confine.py $<TARGET_FILE:strobe_planted>
        ${PROJECT_SOURCE_DIR}/tests/tracy_files/fuzz/seeds/file_14_0)
    set_tests_properties(confine/imports PROPERTIES TIMEOUT 300)
endif()
