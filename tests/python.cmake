# The Python package: tests/python/test_*.py, each with two interpreters where there are two: the one in PATH (before 3.12: the frame
# hook) and the newest with sys.monitoring. All of them: make test-python.
if(TARGET strobe_python)
    set(STROBE_PYTHON_TESTS ${CMAKE_CURRENT_LIST_DIR}/python)
    add_library(strobe_python_counting MODULE ${STROBE_PYTHON_TESTS}/counting.c)
    target_compile_definitions(strobe_python_counting PRIVATE Py_LIMITED_API=0x03090000)
    target_include_directories(strobe_python_counting SYSTEM PRIVATE ${STROBE_PYTHON_INCLUDE})
    target_link_libraries(strobe_python_counting PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(strobe_python_counting PROPERTIES PREFIX "" OUTPUT_NAME counting SUFFIX .abi3.so
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python-tests/modules)

    set(pythons "")
    find_program(STROBE_TEST_PYTHON NAMES python3 DOC "the interpreter that the package is tested with")
    file(GLOB installed $ENV{HOME}/.pyenv/versions/3.1[2-9]*/bin/python3 $ENV{PYENV_ROOT}/versions/3.1[2-9]*/bin/python3
        /usr/bin/python3.1[2-9] /usr/local/bin/python3.1[2-9])
    list(SORT installed COMPARE NATURAL ORDER DESCENDING)
    set(newest "")
    if(installed)
        list(GET installed 0 newest)
    endif()
    foreach(python ${STROBE_TEST_PYTHON} ${newest})
        execute_process(COMMAND ${python} -c "import sys, venv; print('%d.%d' % sys.version_info[:2], end='')"
            OUTPUT_VARIABLE version ERROR_QUIET RESULT_VARIABLE failed)
        if(NOT failed AND NOT version IN_LIST pythons)
            list(APPEND pythons ${version})
            file(GLOB suites CONFIGURE_DEPENDS ${STROBE_PYTHON_TESTS}/test_*.py)
            foreach(suite ${suites})
                get_filename_component(name ${suite} NAME_WE)
                string(REPLACE "test_" "" name ${name})
                add_test(NAME python/${version}/${name} COMMAND ${STROBE_PYTHON} -B ${STROBE_PYTHON_TESTS}/run.py ${python}
                    ${CMAKE_BINARY_DIR} ${suite})
                set_tests_properties(python/${version}/${name} PROPERTIES TIMEOUT 900)
            endforeach()
        endif()
    endforeach()
endif()
