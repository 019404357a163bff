# The second reader of the trace file: Python, from docs/file-format.md alone.
set(STROBE_READER ${CMAKE_CURRENT_LIST_DIR}/reader)
foreach(class Agree Edges Cut Holes Finds)
    string(TOLOWER ${class} name)
    add_test(NAME reader/${name} COMMAND ${STROBE_PYTHON} -B ${STROBE_READER}/test_reader.py ${class})
endforeach()
if(TARGET strobe_query)
    add_test(NAME reader/compare COMMAND ${STROBE_PYTHON} -B ${STROBE_READER}/test_compare.py $<TARGET_FILE:strobe>)
endif()
