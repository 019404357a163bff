# Libraries that other APIs load into the traced program, where `strobe record` names them in its environment: docs/frameworks.md.
foreach(layer nvtx opencl)
    add_library(strobe_layer_${layer} SHARED src/layers/names.c src/layers/${layer}.c)
    target_include_directories(strobe_layer_${layer} PRIVATE src include)
    target_compile_options(strobe_layer_${layer} PRIVATE -fno-sanitize=all) # it runs in other people's programs
    target_link_libraries(strobe_layer_${layer} PRIVATE strobe_lib_shared Threads::Threads ${CMAKE_DL_LIBS})
    target_link_options(strobe_layer_${layer} PRIVATE -fno-sanitize=all -Wl,-z,nodelete)
    set_target_properties(strobe_layer_${layer} PROPERTIES OUTPUT_NAME strobe-${layer}
        BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
    install(TARGETS strobe_layer_${layer} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
