# Deaths: programs and recorders are killed at any moment, files are holed as by a power cut.
# STROBE_DEATH_ROUNDS: how many random kills of the recorder (default 100).
set(STROBE_DEATH ${CMAKE_CURRENT_LIST_DIR}/death)
if(TARGET strobe_lib_shared AND NOT STROBE_SANITIZE)
    add_executable(death_emitter ${STROBE_DEATH}/death_emitter.c)
    target_link_libraries(death_emitter PRIVATE strobe_lib_shared Threads::Threads)
    foreach(class Programs Recorder Both Million PowerCut)
        string(TOLOWER ${class} name)
        add_test(NAME death/${name} COMMAND ${STROBE_PYTHON} -B ${STROBE_DEATH}/test_death.py
            ${CMAKE_BINARY_DIR} ${class})
        set_tests_properties(death/${name} PROPERTIES TIMEOUT 900)
    endforeach()
endif()
