# What is installed is hardened: tests/hardening/test_hardening.py looks at the files of this build.
if(NOT STROBE_SANITIZE)
    add_test(NAME hardening/installed COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/hardening/test_hardening.py
        ${CMAKE_BINARY_DIR})
endif()
