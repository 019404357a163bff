# Real Tracy clients under `strobe record`: tests/peers/test_peers.py. They are fetched and built under build/peers; here two versions
# of the crate and one wheel of IREE, in `make test-peers` (STROBE_ALL_PEERS=1) all of them.
if(NOT STROBE_SANITIZE)
    find_program(STROBE_PEERS_PYTHON NAMES python3.11 python3)
    foreach(class Crates Many Short Killed Ends Others Iree)
        string(TOLOWER ${class} name)
        add_test(NAME peers/${name} COMMAND ${STROBE_PEERS_PYTHON} -B
            ${CMAKE_CURRENT_LIST_DIR}/peers/test_peers.py ${CMAKE_BINARY_DIR} ${class})
        set_tests_properties(peers/${name} PROPERTIES TIMEOUT 900)
    endforeach()
    foreach(class Loaded Strangers)
        string(TOLOWER ${class} name)
        add_test(NAME peers/${name} COMMAND ${STROBE_PEERS_PYTHON} -B
            ${CMAKE_CURRENT_LIST_DIR}/peers/test_loaded.py ${CMAKE_BINARY_DIR} ${class})
        set_tests_properties(peers/${name} PROPERTIES TIMEOUT 900)
    endforeach()
    foreach(class Nvtx Greenlets OpenCL Torch Jax)
        string(TOLOWER ${class} name)
        add_test(NAME peers/${name} COMMAND ${STROBE_PEERS_PYTHON} -B
            ${CMAKE_CURRENT_LIST_DIR}/peers/test_frameworks.py ${CMAKE_BINARY_DIR} ${class})
        set_tests_properties(peers/${name} PROPERTIES TIMEOUT 1800)
        if(class MATCHES "^(OpenCL|Torch|Jax)$") # a hundred MB and more each
            set_tests_properties(peers/${name} PROPERTIES LABELS full)
        endif()
    endforeach()
endif()
