# Clocks that go wrong while a program is recorded: tests/clocks/test_clocks.py.
set(STROBE_CLOCKS ${CMAKE_CURRENT_LIST_DIR}/clocks)
if(TARGET strobe_lib_shared AND NOT STROBE_SANITIZE) # as death_emitter, the program that is recorded
    add_library(fault_clock SHARED ${STROBE_CLOCKS}/fault_clock.c)
    foreach(class Wall Asleep Ahead Apart Back)
        string(TOLOWER ${class} name)
        add_test(NAME clocks/${name} COMMAND ${STROBE_PYTHON} -B ${STROBE_CLOCKS}/test_clocks.py ${CMAKE_BINARY_DIR} ${class})
        set_tests_properties(clocks/${name} PROPERTIES TIMEOUT 900)
    endforeach()
endif()
