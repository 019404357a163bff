# Traces for assistants.
if(TARGET strobe_explain AND TARGET make_trace)
    add_test(NAME mcp/protocol COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/mcp/test_mcp.py $<TARGET_FILE:strobe> $<TARGET_FILE:make_trace>)
    set_tests_properties(mcp/protocol PROPERTIES LABELS asan TIMEOUT 600)
endif()
