# The viewer's page: its reader against the command in node, and the page in a real browser.
# playwright-core comes from the registry into the build tree; the browser is the distribution's.
find_program(STROBE_NODE node)
find_program(STROBE_CHROMIUM NAMES chromium chromium-browser google-chrome)
set(STROBE_VIEWER ${CMAKE_CURRENT_LIST_DIR}/viewer)
set(STROBE_VIEWER_OUT ${CMAKE_BINARY_DIR}/viewer)
file(MAKE_DIRECTORY ${STROBE_VIEWER_OUT})
if(STROBE_NODE AND TARGET strobe AND NOT STROBE_SANITIZE)
    add_test(NAME viewer/traces COMMAND ${STROBE_PYTHON} -B ${STROBE_VIEWER}/traces.py ${STROBE_VIEWER_OUT}/traces)
    set_tests_properties(viewer/traces PROPERTIES FIXTURES_SETUP viewer_traces)
    add_test(NAME viewer/large COMMAND make_trace ${STROBE_VIEWER_OUT}/made.strobe 400000 3 100)
    set_tests_properties(viewer/large PROPERTIES FIXTURES_SETUP viewer_traces)
    set(traces ${STROBE_VIEWER_OUT}/made.strobe)
    foreach(name rich names ages one none open losses locs tracks cut kinds)
        list(APPEND traces ${STROBE_VIEWER_OUT}/traces/${name}.strobe)
    endforeach()
    add_test(NAME viewer/engine COMMAND ${STROBE_NODE} ${STROBE_VIEWER}/test_engine.mjs $<TARGET_FILE:strobe> ${traces})
    set_tests_properties(viewer/engine PROPERTIES FIXTURES_REQUIRED viewer_traces TIMEOUT 600 LABELS viewer)
    if(STROBE_CHROMIUM)
        add_test(NAME viewer/setup COMMAND ${STROBE_VIEWER}/setup.sh ${STROBE_VIEWER_OUT}/npm)
        set_tests_properties(viewer/setup PROPERTIES FIXTURES_SETUP viewer_modules)
        add_test(NAME viewer/page COMMAND ${STROBE_NODE} ${STROBE_VIEWER}/test_page.mjs $<TARGET_FILE:strobe>
            ${STROBE_VIEWER_OUT}/npm/node_modules ${STROBE_VIEWER_OUT}/traces ${STROBE_VIEWER_OUT}/shots)
        # the same page, asking the server
        add_test(NAME viewer/server COMMAND ${STROBE_NODE} ${STROBE_VIEWER}/test_page.mjs $<TARGET_FILE:strobe>
            ${STROBE_VIEWER_OUT}/npm/node_modules ${STROBE_VIEWER_OUT}/traces ${STROBE_VIEWER_OUT}/shots-server --server)
        set_tests_properties(viewer/page viewer/server PROPERTIES FIXTURES_REQUIRED "viewer_traces;viewer_modules" TIMEOUT 900 LABELS viewer)
    endif()
endif()
