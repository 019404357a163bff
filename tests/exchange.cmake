# Stack samples out to other tools and in from them: tests/exchange.
if(TARGET strobe_import AND TARGET sample_burner)
    set(exchange_folder ${CMAKE_CURRENT_LIST_DIR}/exchange)
    set(exchange_exports ${STROBE_PYTHON} -B ${exchange_folder}/test_exports.py $<TARGET_FILE:strobe> $<TARGET_FILE:sample_burner>)
    add_test(NAME exchange/exports COMMAND ${exchange_exports})
    add_test(NAME exchange/exports_judged COMMAND ${exchange_exports} full)
    set_tests_properties(exchange/exports exchange/exports_judged PROPERTIES TIMEOUT 300)
    set_tests_properties(exchange/exports_judged PROPERTIES LABELS full)
endif()
