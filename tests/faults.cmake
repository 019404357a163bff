# Faults: memory, disk and shared memory fail, recorders stand still, signals rain, a program destroys its own pool.
# STROBE_FAULT_SIGNALS: how many signals (default 100,000); STROBE_FAULT_ALL=1: every allocation, not a selection.
set(STROBE_FAULTS ${CMAKE_CURRENT_LIST_DIR}/faults)
if(TARGET strobe_lib_static AND NOT STROBE_SANITIZE)
    add_executable(fault_program ${STROBE_FAULTS}/fault_program.c)
    target_include_directories(fault_program PRIVATE ${CMAKE_CURRENT_LIST_DIR}/death)
    target_link_libraries(fault_program PRIVATE strobe_lib_static Threads::Threads)
    foreach(fault io malloc)
        add_library(fault_${fault} SHARED ${STROBE_FAULTS}/fault_${fault}.c)
        target_link_libraries(fault_${fault} PRIVATE ${CMAKE_DL_LIBS})
    endforeach()
    foreach(class Malloc Disk DiskForGood SmallShm Stall Signals Overwrite)
        string(TOLOWER ${class} name)
        add_test(NAME faults/${name} COMMAND ${STROBE_PYTHON} -B ${STROBE_FAULTS}/test_faults.py
            ${CMAKE_BINARY_DIR} ${class})
        set_tests_properties(faults/${name} PROPERTIES TIMEOUT 900)
    endforeach()
    set_tests_properties(faults/stall PROPERTIES RUN_SERIAL TRUE)
endif()
