# Files of strangers: small ones that stand for large ones, JSON that names a million of everything.
if(TARGET strobe_import AND TARGET strobe_query)
    set(STROBE_HOSTILE ${CMAKE_CURRENT_LIST_DIR}/hostile)
    foreach(name bombs json)
        add_test(NAME hostile/${name} COMMAND ${STROBE_PYTHON} -B ${STROBE_HOSTILE}/test_${name}.py $<TARGET_FILE:strobe>)
        set_tests_properties(hostile/${name} PROPERTIES LABELS asan TIMEOUT 900)
    endforeach()
endif()
