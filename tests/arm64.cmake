# The client as arm64 code: tests/arm64/test_gate.py. Skipped, with a reason, where there is no cross compiler.
add_test(NAME arm64/gate COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/arm64/test_gate.py ${PROJECT_SOURCE_DIR})
