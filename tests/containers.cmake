# Namespaces: programs and recorders inside and outside of containers made with unshare. Needs root; skips without.
# STROBE_CONTAINER_ROUNDS: how often each shape is run (default 1).
set(STROBE_CONTAINERS ${CMAKE_CURRENT_LIST_DIR}/containers)
if(TARGET strobe_lib_shared AND NOT STROBE_SANITIZE) # as death_emitter, the program inside; its file comes after this one
    foreach(class Shapes Kills Refused Memory Tools)
        string(TOLOWER ${class} name)
        add_test(NAME containers/${name} COMMAND ${STROBE_PYTHON} -B ${STROBE_CONTAINERS}/test_containers.py
            ${CMAKE_BINARY_DIR} ${class})
        set_tests_properties(containers/${name} PROPERTIES TIMEOUT 900)
    endforeach()
endif()
