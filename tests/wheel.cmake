# The wheels: built once, then what is in them, and their suite in a fresh environment on the newest CPython of the
# machine; the oldest one is a full test. All of them, and systems with nothing but Python: make test-python.
if(TARGET strobe_python AND NOT STROBE_SANITIZE)
    set(wheel_tests ${CMAKE_CURRENT_LIST_DIR}/wheel)
    set(wheel_place ${CMAKE_BINARY_DIR}/dist ${CMAKE_BINARY_DIR}/venvs)
    add_test(NAME wheel/build COMMAND ${STROBE_PYTHON} -B ${PROJECT_SOURCE_DIR}/python/backend/strobe_backend.py
        ${CMAKE_BINARY_DIR}/dist)
    # the first to be started: others wait for it
    set_tests_properties(wheel/build PROPERTIES FIXTURES_SETUP wheels TIMEOUT 900 COST 1000
        ENVIRONMENT CMAKE_ARGS=-DSTROBE_MODULES_FROM=${CMAKE_BINARY_DIR})
    add_test(NAME wheel/contents COMMAND ${STROBE_PYTHON} -B ${wheel_tests}/test_build.py ${wheel_place} Contents Manners)
    foreach(end oldest newest)
        add_test(NAME wheel/suite-${end} COMMAND ${STROBE_PYTHON} -B ${wheel_tests}/run_all.py ${wheel_place} --${end}
            --suite ${wheel_tests}/suite)
    endforeach()
    add_test(NAME wheel/documents COMMAND ${STROBE_PYTHON} -B ${wheel_tests}/run_all.py ${wheel_place} --newest
        --suite ${wheel_tests}/seeds)
    add_test(NAME wheel/iree COMMAND ${STROBE_PYTHON} -B ${wheel_tests}/test_iree.py ${wheel_place})
    add_test(NAME wheel/ways COMMAND ${STROBE_PYTHON} -B ${wheel_tests}/test_ways.py ${wheel_place} $<TARGET_FILE:strobe>)
    add_test(NAME wheel/microbenchmark COMMAND ${STROBE_PYTHON} -B ${wheel_tests}/test_microbenchmark.py ${wheel_place})
    set_tests_properties(wheel/contents wheel/suite-oldest wheel/suite-newest wheel/documents wheel/iree wheel/ways wheel/microbenchmark PROPERTIES
        FIXTURES_REQUIRED wheels TIMEOUT 900 COST 500)
    set_tests_properties(wheel/suite-oldest PROPERTIES LABELS full) # every CPython there is: make test-python
    set_tests_properties(wheel/iree wheel/ways wheel/microbenchmark PROPERTIES RESOURCE_LOCK venvs_iree) # the same environment
    set_tests_properties(wheel/suite-newest wheel/documents PROPERTIES RESOURCE_LOCK venvs) # the same environment
endif()
