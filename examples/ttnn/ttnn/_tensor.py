# SPDX-License-Identifier: MIT
"""Tensors: numbers on the host, or pages on the devices of a mesh. Between them: bfloat16, tiles of four faces, padding.

A tensor of several devices has a shard per device: the same shape everywhere (a replica, or the pieces of a larger one)."""
import array
import ctypes
import random
import sys

from ttnn import _library
from ttnn._profiler import zone
from ttnn._types import DRAM_MEMORY_CONFIG, TILE_SIZE, DataType, Layout, Shape

if sys.byteorder != "little":
    raise ImportError("ttnn on the simulator needs a little-endian machine")

FACE = 16
# of a tile's place row * 32 + column: where the four faces have it
PLACES = [((row // FACE) * 2 + column // FACE) * FACE * FACE + row % FACE * FACE + column % FACE
          for row in range(TILE_SIZE) for column in range(TILE_SIZE)]


def to_words(values, dtype):
    """Floats, or ints of UINT32, as the bytes of a data type; to the nearest, ties to even."""
    if dtype is DataType.UINT32:
        return array.array("I", [int(value) for value in values]).tobytes()
    floats = array.array("f", values)
    if dtype is DataType.FLOAT32:
        return floats.tobytes()
    bits = array.array("I", floats.tobytes())
    return array.array("H", [(word >> 16 | 0x40) if word & 0x7FFFFFFF > 0x7F800000 else (word + 0x7FFF + (word >> 16 & 1)) >> 16 & 0xFFFF
                             for word in bits]).tobytes()


def from_words(data, dtype):
    """What to_words made, as a list."""
    if dtype is DataType.UINT32:
        return array.array("I", data).tolist()
    if dtype is DataType.FLOAT32:
        return array.array("f", data).tolist()
    return array.array("f", array.array("I", [half << 16 for half in array.array("H", data)]).tobytes()).tolist()


def tilize(values, shape):
    """Numbers in the order of their rows, as whole tiles in the order of the pages; what pads them is 0."""
    _, _, height, width = shape.four()
    *_, rows, columns = shape.padded()
    out = []
    for plane in range(shape.volume() // (height * width) if shape.volume() else 0):
        base = plane * height * width
        for top in range(0, rows, TILE_SIZE):
            for left in range(0, columns, TILE_SIZE):
                tile = [0.0] * (TILE_SIZE * TILE_SIZE)
                n = min(TILE_SIZE, width - left)
                for row in range(min(TILE_SIZE, height - top)):
                    at = base + (top + row) * width + left
                    for column, value in enumerate(values[at:at + n]):
                        tile[PLACES[row * TILE_SIZE + column]] = value
                out += tile
    return out


def untilize(values, shape):
    """What tilize made, without its padding."""
    _, _, height, width = shape.four()
    *_, rows, columns = shape.padded()
    per_plane, per_row, size = rows * columns, columns // TILE_SIZE, TILE_SIZE * TILE_SIZE
    places = [((column // TILE_SIZE) * size, column % TILE_SIZE) for column in range(width)]
    out = []
    for plane in range(shape.volume() // (height * width) if shape.volume() else 0):
        for row in range(height):
            base, line = plane * per_plane + row // TILE_SIZE * per_row * size, row % TILE_SIZE * TILE_SIZE
            out += [values[base + tile + PLACES[line + column]] for tile, column in places]
    return out


class Pages:
    """A buffer of one device; it is freed with the last tensor that uses it."""

    def __init__(self, device, n_bytes, page_bytes, memory_config):
        self.struct, self.device = _library.Buffer(), device
        _library.call("device_buffer_create", device.handle, memory_config.buffer_type.value, n_bytes, page_bytes, self.struct)
        device.buffers.add(self)
        if device.is_capturing:
            device.held.append(self)  # a trace has its address: kept until the trace is released

    def check(self):
        if not self.struct.device:
            raise RuntimeError("this tensor was deallocated, or its device is closed")

    @property
    def address(self):
        self.check()
        return self.struct.address

    def write(self, data):
        self.check()
        with zone("HWCommandQueue_write_buffer"):
            _library.call("device_buffer_write", self.struct, 0, data, len(data))

    def read(self):
        self.check()
        data = ctypes.create_string_buffer(self.struct.bytes)
        with zone("HWCommandQueue_read_buffer"):
            _library.call("device_buffer_read", self.struct, 0, data, self.struct.bytes)
        return data.raw

    def free(self):
        if self.struct.device:
            self.device.buffers.discard(self)
            _library.call("device_buffer_free", self.struct)
            self.struct.device = None

    def __del__(self):
        if getattr(self, "struct", None) is not None:
            self.free()


class Tensor:
    """Numbers with a shape. Made by from_list and its kin and by ops; `shards` is a list of numbers each on the host, Pages on devices."""

    def __init__(self, shards, shape, dtype=DataType.BFLOAT16, layout=Layout.ROW_MAJOR, mesh=None, memory_config=None):
        self.shards, self.shape, self.dtype, self.layout = shards, Shape(shape), dtype, layout
        self.mesh, self.config = mesh, memory_config

    @property
    def padded_shape(self):
        return Shape(self.shape.padded() if self.layout is Layout.TILE else self.shape.four())

    def storage_type(self):
        return "DEVICE" if self.mesh else "HOST"

    def memory_config(self):
        return self.config

    def device(self):
        return self.mesh

    def is_allocated(self):
        return not self.mesh or all(pages.struct.device for pages in self.shards)

    def page_bytes(self):
        if self.layout is Layout.TILE:
            return TILE_SIZE * TILE_SIZE * self.dtype.n_bytes
        return self.shape.four()[3] * self.dtype.n_bytes

    def n_pages(self):
        return self.padded_shape.volume() * self.dtype.n_bytes // self.page_bytes()

    def to(self, mesh, memory_config=DRAM_MEMORY_CONFIG):
        return to_device(self, mesh, memory_config)

    def cpu(self):
        return from_device(self)

    def to_list(self, shard=0):
        """The numbers as nested lists, of one shard."""
        flat = from_device(self).shards[shard] if self.mesh else self.shards[shard]
        for size in reversed(self.shape[1:]):
            flat = [flat[at:at + size] for at in range(0, len(flat), size)]
        return flat

    def __add__(self, other):
        import ttnn
        return ttnn.add(self, other)

    def __sub__(self, other):
        import ttnn
        return ttnn.subtract(self, other)

    def __mul__(self, other):
        import ttnn
        return ttnn.multiply(self, other)

    def __matmul__(self, other):
        import ttnn
        return ttnn.matmul(self, other)

    def __repr__(self):
        return f"ttnn.Tensor(shape={list(self.shape)}, dtype={self.dtype.name}, layout={self.layout.name}, on={self.storage_type()})"


def from_list(values, dtype=DataType.BFLOAT16, layout=Layout.TILE, device=None, memory_config=DRAM_MEMORY_CONFIG, mesh_mapper=None):
    """A tensor of nested lists; with `device` there at once. mesh_mapper: how it is spread over the devices (default: a replica each)."""
    flat, shape = values, []
    while flat and isinstance(flat[0], (list, tuple)):
        n = len(flat[0])
        if any(not isinstance(part, (list, tuple)) or len(part) != n for part in flat):
            raise ValueError("the rows have different lengths")
        shape.append(n)
        flat = [value for part in flat for value in part]
    shape.insert(0, len(values))
    if len(shape) > 4:
        raise ValueError(f"a tensor has up to 4 sizes, not {len(shape)}")
    return from_flat(list(flat), shape, dtype, layout, device, memory_config, mesh_mapper)


def from_flat(flat, shape, dtype=DataType.BFLOAT16, layout=Layout.TILE, device=None, memory_config=DRAM_MEMORY_CONFIG, mesh_mapper=None):
    tensor = Tensor([flat], shape, dtype, layout)
    if mesh_mapper:
        tensor = mesh_mapper(tensor)
    return to_device(tensor, device, memory_config) if device is not None else tensor


def from_torch(values, dtype=DataType.BFLOAT16, layout=Layout.ROW_MAJOR, device=None, memory_config=DRAM_MEMORY_CONFIG, mesh_mapper=None):
    """A tensor of whatever has tolist(), or of nested lists."""
    return from_list(values.tolist() if hasattr(values, "tolist") else values, dtype, layout, device, memory_config, mesh_mapper)


def to_torch(tensor, mesh_composer=None):
    """A torch.Tensor where torch is there, else nested lists."""
    values = mesh_composer(tensor) if mesh_composer else tensor.to_list()
    try:
        import torch
    except ImportError:
        return values
    return torch.tensor(values)


def full(shape, fill_value, dtype=DataType.BFLOAT16, layout=Layout.TILE, device=None, memory_config=DRAM_MEMORY_CONFIG):
    return from_flat([fill_value] * Shape(shape).volume(), shape, dtype, layout, device, memory_config)


def zeros(shape, dtype=DataType.BFLOAT16, layout=Layout.TILE, device=None, memory_config=DRAM_MEMORY_CONFIG):
    return full(shape, 0.0, dtype, layout, device, memory_config)


def ones(shape, dtype=DataType.BFLOAT16, layout=Layout.TILE, device=None, memory_config=DRAM_MEMORY_CONFIG):
    return full(shape, 1.0, dtype, layout, device, memory_config)


def rand(shape, dtype=DataType.BFLOAT16, layout=Layout.TILE, device=None, memory_config=DRAM_MEMORY_CONFIG, seed=None):
    """Numbers in [0, 1)."""
    dice = random.Random(seed)
    return from_flat([dice.random() for _ in range(Shape(shape).volume())], shape, dtype, layout, device, memory_config)


def to_device(tensor, device, memory_config=DRAM_MEMORY_CONFIG):
    """The tensor on every device of a mesh: one shard each, or the one that there is on all of them."""
    if tensor.mesh:
        return tensor
    devices = device.devices
    if len(tensor.shards) not in (1, len(devices)):
        raise ValueError(f"{len(tensor.shards)} shards do not fit onto {len(devices)} devices")
    out = Tensor([], tensor.shape, tensor.dtype, tensor.layout, device, memory_config)
    packed = {}
    for i, one in enumerate(devices):
        at = i % len(tensor.shards)
        if at not in packed:
            values = tensor.shards[at]
            packed[at] = to_words(tilize(values, tensor.shape) if tensor.layout is Layout.TILE else values, tensor.dtype)
        pages = Pages(one, len(packed[at]), out.page_bytes(), memory_config)
        pages.write(packed[at])
        out.shards.append(pages)
    return out


def from_device(tensor):
    """The tensor on the host, when all that was enqueued has run."""
    if not tensor.mesh:
        return tensor
    shards = [from_words(pages.read(), tensor.dtype) for pages in tensor.shards]
    if tensor.layout is Layout.TILE:
        shards = [untilize(values, tensor.shape) for values in shards]
    return Tensor(shards, tensor.shape, tensor.dtype, tensor.layout)


def to_layout(tensor, layout, **_):
    """The same numbers in another layout; a tensor on a device goes through the host."""
    if tensor.layout is layout:
        return tensor
    host = from_device(tensor)
    other = Tensor(host.shards, host.shape, host.dtype, layout)
    return to_device(other, tensor.mesh, tensor.config) if tensor.mesh else other


def deallocate(tensor, force=True):
    """Free its pages now, not with the last reference."""
    for pages in tensor.shards if tensor.mesh else ():
        pages.free()
