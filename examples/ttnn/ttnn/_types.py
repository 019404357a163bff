# SPDX-License-Identifier: MIT
"""Names and numbers of tensors: data types, layouts, memory. Spelled as ttnn spells them."""
import enum


class DataType(enum.Enum):
    """value: (number of the format in device.h, bytes of an element)"""
    BFLOAT16 = (5, 2)
    FLOAT32 = (0, 4)
    UINT32 = (24, 4)

    @property
    def format(self):
        return self.value[0]

    @property
    def n_bytes(self):
        return self.value[1]


class Layout(enum.Enum):
    ROW_MAJOR = 0
    TILE = 1


class BufferType(enum.Enum):
    DRAM = 0
    L1 = 1


class TensorMemoryLayout(enum.Enum):
    INTERLEAVED = 0


class MathFidelity(enum.Enum):
    LoFi = 0
    HiFi2 = 2
    HiFi3 = 3
    HiFi4 = 4


class MemoryConfig:
    """Where a tensor's pages are: round the banks of DRAM, or round the L1 of the workers."""

    def __init__(self, memory_layout=TensorMemoryLayout.INTERLEAVED, buffer_type=BufferType.DRAM):
        if isinstance(memory_layout, BufferType):
            memory_layout, buffer_type = TensorMemoryLayout.INTERLEAVED, memory_layout
        self.memory_layout, self.buffer_type = memory_layout, buffer_type

    def __eq__(self, other):
        return isinstance(other, MemoryConfig) and self.buffer_type is other.buffer_type

    def __hash__(self):
        return hash(self.buffer_type)

    def __repr__(self):
        return f"MemoryConfig(memory_layout=TensorMemoryLayout::{self.memory_layout.name};buffer_type=BufferType::{self.buffer_type.name})"


DRAM_MEMORY_CONFIG = MemoryConfig(buffer_type=BufferType.DRAM)
L1_MEMORY_CONFIG = MemoryConfig(buffer_type=BufferType.L1)
TILE_SIZE = 32


class Shape(tuple):
    """Sizes of a tensor, from the outermost to the innermost."""

    @property
    def rank(self):
        return len(self)

    def padded(self):
        """The sizes in whole tiles, as four of them: W, Z, Y, X."""
        outer = (1,) * (4 - len(self)) + tuple(self)
        return outer[:2] + tuple(-(-size // TILE_SIZE) * TILE_SIZE for size in outer[2:])

    def four(self):
        return (1,) * (4 - len(self)) + tuple(self)

    def volume(self):
        product = 1
        for size in self:
            product *= size
        return product
