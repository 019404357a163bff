# SPDX-License-Identifier: MIT
"""libstrobe-device by ctypes: the structs and calls of include/strobe/device.h that ops need, and its failures as exceptions."""
import ctypes
import os
import pathlib
import shutil
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p

NAMES = ("libstrobe-device.so", "libstrobe-device.so.0")
BRISC, NCRISC, COMPUTE = 0, 1, 2
MODE_OFF = 0


class Options(Structure):
    _fields_ = [("bytes", c_size_t), ("backend", c_char_p), ("n_devices", c_uint32), ("grid_x", c_uint32), ("grid_y", c_uint32),
                ("n_ethernet", c_uint32), ("n_dispatch", c_uint32), ("n_banks", c_uint32), ("bank_mib", c_uint32), ("mode", c_int),
                ("policy", c_int), ("record", c_uint32), ("perf_counters", c_uint32), ("support_count", c_uint32),
                ("block_cycles", c_uint32), ("clock", c_int), ("seed", c_uint64), ("frequency_mhz", c_double), ("offset_ns", c_double),
                ("drift_ppm", c_double), ("jitter_ns", c_double), ("core_origin_ns", c_double), ("reset_skew_ns", c_double),
                ("hang_cycles", c_uint64), ("relay_slowdown", c_uint32), ("kernel_dir", c_char_p), ("include_dirs", c_char_p),
                ("cache_dir", c_char_p), ("compiler", c_char_p)]


class Info(Structure):
    _fields_ = [("index", c_uint32), ("grid_x", c_uint32), ("grid_y", c_uint32), ("n_cores", c_uint32), ("n_banks", c_uint32),
                ("l1_bytes", c_uint64), ("bank_bytes", c_uint64), ("frequency_mhz", c_double), ("mode", c_int)]


class Cores(Structure):
    _fields_ = [("x0", c_uint32), ("y0", c_uint32), ("x1", c_uint32), ("y1", c_uint32)]


class Define(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Kernel(Structure):
    _fields_ = [("path", c_char_p), ("text", c_char_p), ("name", c_char_p), ("cores", Cores), ("risc", c_int),
                ("compile_args", POINTER(c_uint32)), ("n_compile_args", c_uint32), ("defines", POINTER(Define)),
                ("n_defines", c_uint32)]


class Launch(Structure):
    _fields_ = [("flow", c_uint64), ("runtime_id", c_uint32)]


class Buffer(Structure):
    _fields_ = [("device", c_void_p), ("memory", c_int), ("page_bytes", c_uint32), ("bytes", c_uint64), ("address", c_uint64)]


class DeviceError(RuntimeError):
    """A call of libstrobe-device failed; the text is its reason."""


# name: argument types. All of them return enum strobe_device_result, unless they are in RETURNS.
CALLS = {
    "device_options_init": [POINTER(Options)],
    "device_open": [POINTER(Options), c_uint32, POINTER(c_void_p)],
    "device_close": [c_void_p],
    "device_describe": [c_void_p, POINTER(Info)],
    "program_create": [POINTER(c_void_p)],
    "program_free": [c_void_p],
    "program_rename": [c_void_p, c_char_p],
    "program_kernel": [c_void_p, POINTER(Kernel), POINTER(c_uint32)],
    "program_args": [c_void_p, c_uint32, Cores, POINTER(c_uint32), c_uint32],
    "program_ring": [c_void_p, Cores, c_uint32, c_uint32, c_uint32, c_int],
    "device_enqueue": [c_void_p, c_void_p, POINTER(Launch)],
    "device_finish": [c_void_p],
    "device_trace_begin": [c_void_p, POINTER(c_uint32)],
    "device_trace_end": [c_void_p, c_uint32],
    "device_trace_replay": [c_void_p, c_uint32],
    "device_trace_free": [c_void_p, c_uint32],
    "device_buffer_create": [c_void_p, c_int, c_uint64, c_uint32, POINTER(Buffer)],
    "device_buffer_free": [POINTER(Buffer)],
    "device_buffer_write": [POINTER(Buffer), c_uint64, c_void_p, c_uint64],
    "device_buffer_read": [POINTER(Buffer), c_uint64, c_void_p, c_uint64],
    "device_read": [c_void_p],
    "device_reason": [],
}
RETURNS = {"device_close": None, "device_describe": None, "program_free": None, "device_buffer_free": None, "device_reason": c_char_p}


def candidates():
    """Where the library may be, best first: $STROBE_DEVICE_LIBRARY, beside this tree's build, beside the `strobe` command, where the
    system looks."""
    said = os.environ.get("STROBE_DEVICE_LIBRARY")
    if said:
        yield said
        return
    command = os.environ.get("STROBE_BIN") or shutil.which("strobe")
    here = pathlib.Path(__file__).resolve()
    folders = [pathlib.Path(command).resolve().parents[1] / part for part in ("lib", "lib64", "lib/x86_64-linux-gnu")] if command else []
    folders += [parent / "lib" for parent in here.parents[2:5]] + [here.parents[3] / "build" / "lib"]
    for folder in folders:
        for name in NAMES:
            if (folder / name).exists():
                yield str(folder / name)
    yield from NAMES


def load():
    """The library, with its calls typed; ImportError says how to get it."""
    tried = []
    for path in candidates():
        try:
            found = ctypes.CDLL(path)
        except OSError as problem:
            tried.append(str(problem))
            continue
        for name, types in CALLS.items():
            call = getattr(found, f"strobe_{name}")
            call.argtypes, call.restype = types, RETURNS.get(name, c_int)
        return found
    raise ImportError("libstrobe-device is not found: build Strobe (cmake --build build) or name it in STROBE_DEVICE_LIBRARY. " + "; ".join(tried))


library = load()


def call(name, *arguments):
    """A call of the library; DeviceError with its reason where it fails."""
    result = getattr(library, f"strobe_{name}")(*arguments)
    if result and name not in RETURNS:
        reason = library.strobe_device_reason().decode("utf-8", "replace")
        raise DeviceError(reason or f"strobe_{name} failed ({result})")


def words(values):
    """Numbers as an array of 32-bit words."""
    return (c_uint32 * len(values))(*[value & 0xFFFFFFFF for value in values])
