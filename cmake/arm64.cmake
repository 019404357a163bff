# arm64.cmake - toolchain file: build for arm64 on another machine, with Debian's cross compiler. docs/arm64.md
#     cmake -DCMAKE_TOOLCHAIN_FILE=cmake/arm64.cmake -DSTROBE_ARM64_ROOT=<folder of an arm64 system> ...
# Without STROBE_ARM64_ROOT: the compiler's own libc, enough for -DSTROBE_CLIENT_ONLY=ON.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES STROBE_ARM64_ROOT)
if(STROBE_ARM64_ROOT)
    set(CMAKE_SYSROOT ${STROBE_ARM64_ROOT})
    set(ENV{PKG_CONFIG_SYSROOT_DIR} ${STROBE_ARM64_ROOT})
    set(ENV{PKG_CONFIG_LIBDIR} ${STROBE_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${STROBE_ARM64_ROOT}/usr/share/pkgconfig)
else()
    set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
