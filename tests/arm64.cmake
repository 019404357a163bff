# The client as arm64 code: tests/arm64/test_gate.py. Skipped, with a reason, where there is no cross compiler.
add_test(NAME arm64/gate COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/arm64/test_gate.py ${PROJECT_SOURCE_DIR})
# ... and run, under qemu-user: every event is stored by this machine's recorder.
if(TARGET strobe AND NOT STROBE_SANITIZE AND CMAKE_SYSTEM_PROCESSOR MATCHES x86_64)
    add_test(NAME arm64/smoke COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/arm64/test_smoke.py ${CMAKE_BINARY_DIR})
    set_tests_properties(arm64/smoke PROPERTIES TIMEOUT 900)
endif()
