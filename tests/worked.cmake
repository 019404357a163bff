# The worked examples of docs/ring-protocol.md and docs/file-format.md, printed by a program and compared.
add_executable(worked ${CMAKE_CURRENT_LIST_DIR}/worked/worked.c)
target_link_libraries(worked PRIVATE ${all_rooms} PkgConfig::CMOCKA)
add_test(NAME worked/examples COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/worked/check_worked.py ${PROJECT_SOURCE_DIR} $<TARGET_FILE:worked> $<TARGET_FILE:worked_device>)
