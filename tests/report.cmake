# The op report: goldens, planted faults, shims, peers. All data is under tests/report.
set(report_tests test_goldens test_choice test_faults test_profile test_regions test_shims test_peers test_real_reports test_noc test_counter_tables)
foreach(name ${report_tests})
    add_test(NAME report/${name} COMMAND ${STROBE_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/report/${name}.py)
    set_tests_properties(report/${name} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77
        ENVIRONMENT "STROBE_BIN=$<TARGET_FILE:strobe>;PYTHONDONTWRITEBYTECODE=1")
endforeach()
set_tests_properties(report/test_goldens report/test_faults report/test_regions report/test_noc report/test_counter_tables PROPERTIES LABELS asan)

foreach(name text csv json messages devops)
    set_tests_properties(unit/test_report_${name} PROPERTIES LABELS asan)
endforeach()
