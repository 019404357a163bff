# zstd.cmake - the sources of zstd (cmake/crate.cmake). strobe_zstd_source(OUT WHY) sets OUT to the folder `lib`, or WHY to the reason that
# there is none.
include(cmake/crate.cmake)
set(STROBE_ZSTD_SOURCE "" CACHE PATH "the folder lib of zstd's sources; empty: fetched")

function(strobe_zstd_source out why)
    if(STROBE_ZSTD_SOURCE)
        if(NOT EXISTS ${STROBE_ZSTD_SOURCE}/zstd.h)
            set(${why} "${STROBE_ZSTD_SOURCE} has no zstd.h" PARENT_SCOPE)
        endif()
        set(${out} ${STROBE_ZSTD_SOURCE} PARENT_SCOPE)
        return()
    endif()
    strobe_crate_source(source reason zstd-sys 2.0.16 91e19ebc2adc8f83e43039e79776e3fda8ca919132d68a1fed6a5faca2683748 zstd/lib/zstd.h
        "bindgen 0.72.99 cc 1.99.0 pkg-config 0.3.99")
    set(${out} "${source}" PARENT_SCOPE)
    if(NOT source)
        set(${why} "${reason}" PARENT_SCOPE)
    endif()
endfunction()
