/* opencl_abi.h - what a layer of OpenCL's loaders is made of: the table of functions between a program and its platform, and the few numbers of
 * the API that we use. Places in the table are those of the ICD interface (CL/cl_icd.h of the Khronos headers), which only grows; that
 * calls arrive where they should is seen with a real platform: tests/peers.  SPDX-License-Identifier: MIT */
#ifndef STROBE_LAYERS_OPENCL_ABI_H
#define STROBE_LAYERS_OPENCL_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef void *strobe_cl_object; /* cl_command_queue, cl_event, cl_kernel, ... */
typedef void (*strobe_cl_function)(void);

/* Places in the table: X(function, place). */
#define STROBE_CL_PLACES(X)        \
    X(clGetDeviceInfo, 3)          \
    X(clCreateCommandQueue, 9)     \
    X(clGetKernelInfo, 39)         \
    X(clWaitForEvents, 41)         \
    X(clRetainEvent, 43)           \
    X(clReleaseEvent, 44)          \
    X(clGetEventProfilingInfo, 45) \
    X(clFinish, 47)                \
    X(clEnqueueReadBuffer, 48)     \
    X(clEnqueueWriteBuffer, 49)    \
    X(clEnqueueCopyBuffer, 50)     \
    X(clEnqueueMapBuffer, 56)      \
    X(clEnqueueUnmapMemObject, 58) \
    X(clEnqueueNDRangeKernel, 59)  \
    X(clSetEventCallback, 81)      \
    X(clEnqueueFillBuffer, 102)    \
    X(clCreateCommandQueueWithProperties, 123)

#define STROBE_CL_PLACE(function, place) STROBE_CL_##function = place,
enum { STROBE_CL_PLACES(STROBE_CL_PLACE) };
#undef STROBE_CL_PLACE

enum { STROBE_CL_TABLE_MAX = 512 };
enum { STROBE_CL_SUCCESS = 0, STROBE_CL_INVALID_VALUE = -30 };
enum { STROBE_CL_LAYER_API_VERSION = 0x4240, STROBE_CL_LAYER_API_VERSION_100 = 100 };
enum { STROBE_CL_DEVICE_NAME = 0x102b, STROBE_CL_KERNEL_NAME = 0x1190 };
enum { STROBE_CL_QUEUE_PROPERTIES = 0x1093, STROBE_CL_QUEUE_PROFILING = 2 };
enum { STROBE_CL_COMPLETE = 0 };
enum {
    STROBE_CL_PROFILING_QUEUED = 0x1280,
    STROBE_CL_PROFILING_SUBMIT = 0x1281,
    STROBE_CL_PROFILING_START = 0x1282,
    STROBE_CL_PROFILING_END = 0x1283,
};

#endif
