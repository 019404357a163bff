# Models of the ring protocol, proved by SPIN: tests/model/README.md. Larger searches: make test-model.
if(NOT STROBE_SANITIZE)
    add_test(NAME model/proofs COMMAND ${STROBE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/model/run_models.py)
    set_tests_properties(model/proofs PROPERTIES TIMEOUT 900)
endif()
