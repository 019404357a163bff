# SPDX-License-Identifier: MIT
"""Devices and meshes of them: opening, closing, waiting, traces, reading the profiler."""
import ctypes
import os
import pathlib
import weakref

from ttnn import _library, _perf_data
from ttnn._library import call
from ttnn._profiler import trace_message, zone

KERNELS = pathlib.Path(__file__).resolve().parent / "kernels"


class Device:
    """One device. Users have it as a mesh of one."""

    def __init__(self, index, n_devices):
        options = _library.Options()
        call("device_options_init", options)
        options.n_devices = max(options.n_devices, n_devices, index + 1)
        self.opened, self.index, self.buffers, self.held, self.is_capturing = ctypes.c_void_p(), index, weakref.WeakSet(), [], False
        call("device_open", options, index, self.opened)
        info = _library.Info()
        call("device_describe", self.handle, info)
        self.grid, self.frequency_mhz, self.is_marked = (info.grid_x, info.grid_y), info.frequency_mhz, info.mode != _library.MODE_OFF
        self.programs = {}  # {hash of an op: its program}; the program cache

    @property
    def handle(self):
        """For the library; an error where the device is closed."""
        if not self.opened:
            raise _library.DeviceError(f"device {self.index} is closed")
        return self.opened

    def close(self):
        if not self.opened:
            return
        for pages in list(self.buffers):
            pages.free()
        for program in self.programs.values():
            program.free()
        call("device_close", self.opened)
        self.programs, self.opened, self.held = {}, None, []


class MeshShape(tuple):
    """Rows and columns of a mesh."""

    def __new__(cls, *sizes):
        return super().__new__(cls, sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes)


class MeshDevice:
    """Devices that run the same programs, each on its own shard."""

    def __init__(self, shape, first=0):
        self.shape, self.devices = MeshShape(shape), []
        n = self.shape[0] * self.shape[1]
        try:
            for index in range(first, first + n):
                self.devices.append(Device(index, first + n))
        except _library.DeviceError:
            self.close()
            raise
        for device in self.devices:
            _perf_data.DATA.open(device.index)
        _open.add(self)

    def get_num_devices(self):
        return len(self.devices)

    def get_device_ids(self):
        return [device.index for device in self.devices]

    def id(self):
        return self.devices[0].index

    def compute_with_storage_grid_size(self):
        return self.devices[0].grid

    def enable_program_cache(self):
        """Nothing to do: it is always on."""

    def disable_and_clear_program_cache(self):
        for device in self.devices:
            device.programs.clear()

    def num_program_cache_entries(self):
        return len(self.devices[0].programs)

    def close(self):
        for device in self.devices:
            device.close()
        _open.discard(self)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


_open = weakref.WeakSet()


def open_device(device_id=0, **_):
    """One device, as a mesh of one. Further arguments of ttnn's are accepted and mean nothing here."""
    return MeshDevice((1, 1), device_id)


def open_mesh_device(mesh_shape=None, **_):
    """A mesh of rows x columns devices; without a shape, or with `...`, all that STROBE_SIM_DEVICES says there are."""
    if mesh_shape is None or mesh_shape is Ellipsis:
        mesh_shape = (1, int(os.environ.get("STROBE_SIM_DEVICES", "1")))
    return MeshDevice(mesh_shape)


def close_device(device):
    """Let it finish, read its profiler a last time, write its files."""
    device.close()


close_mesh_device = close_device


def get_num_devices():
    return int(os.environ.get("STROBE_SIM_DEVICES", "1"))


def GetNumAvailableDevices():
    return get_num_devices()


def synchronize_device(device, cq_id=None):
    """Wait until all that was enqueued has run."""
    with zone("Synchronize"):
        for one in device.devices:
            call("device_finish", one.handle)


def ReadDeviceProfiler(device):
    """Take what kernels recorded so far from the device: its buffers are empty afterwards, and the perf-data getters know it."""
    with zone("ReadDeviceProfiler"):
        for one in device.devices:
            call("device_finish", one.handle)
            if one.is_marked:
                call("device_read", one.handle)
    _perf_data.DATA.read()


class Trace(int):
    """The number of a trace on the first device; and those on all."""
    numbers = ()


def begin_trace_capture(device, cq_id=0, **_):
    """From here on ops are kept, not run, until end_trace_capture."""
    numbers = []
    for one in device.devices:
        number = ctypes.c_uint32()
        call("device_trace_begin", one.handle, number)
        one.is_capturing, one.trace = True, number.value
        numbers.append(number.value)
        trace_message("BEGIN", one, number.value)
    trace = Trace(numbers[0])
    trace.numbers = tuple(numbers)
    return trace


def end_trace_capture(device, trace_id, cq_id=0):
    for one, number in zip(device.devices, trace_id.numbers):
        call("device_trace_end", one.handle, number)
        one.is_capturing = False
        trace_message("END", one, number)


def execute_trace(device, trace_id, cq_id=0, blocking=True):
    """Run what was captured once more, with the tensors that it had then."""
    with zone("ExecuteTrace"):
        for one, number in zip(device.devices, trace_id.numbers):
            trace_message("REPLAY", one, number)
            call("device_trace_replay", one.handle, number)
    if blocking:
        synchronize_device(device)


def release_trace(device, trace_id):
    """Forget a trace. The tensors that were made while it was captured live on where something still refers to them."""
    for one, number in zip(device.devices, trace_id.numbers):
        trace_message("RELEASE", one, number)
        call("device_trace_free", one.handle, number)
        one.held = []


def close_all():
    """Devices that the program left open: their profiles would be lost."""
    for mesh in list(_open):
        mesh.close()
