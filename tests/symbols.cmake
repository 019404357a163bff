# The lists of symbols that the shared libraries export: tests/symbols/*.txt.
if(TARGET tracy_client_shared AND NOT STROBE_SANITIZE)
    add_test(NAME symbols/exported COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/symbols/check_symbols.py
        ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/lib/libstrobe.so ${CMAKE_BINARY_DIR}/lib/libTracyClient.so)
endif()
