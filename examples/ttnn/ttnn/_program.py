# SPDX-License-Identifier: MIT
"""Ops as programs: which kernels run on which cores with which buffers between them, the cache of programs, and the launch.

Every op has one shape: a reader fills circular buffers, a compute kernel (where there is one) turns them into tiles of buffer 16,
a writer takes those to the output. Work is split into units, of which each core gets a stretch. What differs between two launches of
a program are arguments: addresses."""
import ctypes
import hashlib
import itertools

from ttnn import _library
from ttnn._device import KERNELS
from ttnn._library import BRISC, COMPUTE, NCRISC, call, words
from ttnn._profiler import DeviceOp, trace_message, zone
from ttnn._tensor import Pages, Tensor
from ttnn._types import DRAM_MEMORY_CONFIG, DataType, MathFidelity

TILE_BYTES_FLOAT32 = 4096
next_base_id = itertools.count(1).__next__  # of programs' launches: what a report counts


class Ring:
    """A circular buffer: its number, pages, and their format."""

    def __init__(self, index, n_pages, tensor=None, page_bytes=TILE_BYTES_FLOAT32, format=DataType.FLOAT32.format):
        self.index, self.n_pages = index, n_pages
        self.page_bytes = tensor.page_bytes() if tensor else page_bytes
        self.format = tensor.dtype.format if tensor else format


def placed(pages):
    """The two arguments that say where a tensor is."""
    return [pages.address, pages.struct.memory]


def stretches(n_units, grid):
    """Cores in a rectangle, none without work, as [(x, y, first unit, number of units)]."""
    columns = min(n_units, grid[0])
    rows = max(1, min(grid[1], n_units // grid[0]))
    n_cores, out, first = columns * rows, [], 0
    for i in range(n_cores):
        n = n_units // n_cores + (i < n_units % n_cores)
        out.append((i % columns, i // columns, first, n))
        first += n
    return out


class Program:
    """A program on one device, for all launches of an op."""

    def __init__(self, op, device):
        self.handle, self.cores = ctypes.c_void_p(), stretches(op.n_units, device.grid)
        call("program_create", self.handle)
        call("program_rename", self.handle, op.code.encode())
        whole = _library.Cores(0, 0, self.cores[-1][0], self.cores[-1][1])
        for ring in op.rings:
            call("program_ring", self.handle, whole, ring.index, ring.page_bytes, ring.n_pages, ring.format)
        self.kernels = {}
        for name, risc in op.kernels():
            number = ctypes.c_uint32()
            kernel = _library.Kernel(path=str(KERNELS / name).encode(), cores=whole, risc=risc)
            call("program_kernel", self.handle, kernel, number)
            self.kernels[risc] = number.value

    def set_arguments(self, op, inputs, output):
        for x, y, first, n in self.cores:
            core = _library.Cores(x, y, x, y)
            arguments = {NCRISC: op.reader_arguments([placed(pages) for pages in inputs], first, n),
                         BRISC: placed(output) + op.written(first, n), COMPUTE: op.compute_arguments(n)}
            for risc, kernel in self.kernels.items():
                values = words(arguments[risc])
                call("program_args", self.handle, kernel, core, values, len(values))

    def free(self):
        if self.handle:
            call("program_free", self.handle)
            self.handle = None

    def __del__(self):
        self.free()


class Op:
    """One call of an op, before it runs. reader_arguments(places, first, n) and compute_arguments(n) are those of a core with n
    units from `first` on."""

    def __init__(self, code, inputs, shape, n_units, reader, reader_arguments, rings, compute=None, compute_arguments=lambda n: [],
                 attributes=None, layout=None, memory_config=None, pages_per_unit=1, n_macs=0):
        self.code, self.inputs, self.n_units, self.reader, self.compute = code, inputs, n_units, reader, compute
        self.reader_arguments, self.compute_arguments, self.pages_per_unit, self.n_macs = reader_arguments, compute_arguments, pages_per_unit, n_macs
        self.config = memory_config or inputs[0].config or DRAM_MEMORY_CONFIG
        self.mesh = inputs[0].mesh
        output = Tensor([], shape, inputs[0].dtype, layout or inputs[0].layout, self.mesh, self.config)
        if output.dtype is DataType.UINT32:
            output.dtype = inputs[-1].dtype  # numbers of rows: the table's type
        self.outputs = [output]
        self.rings = [*rings, Ring(16, 2, output)]
        self.attributes = {name: str(value) for name, value in (attributes or {}).items()}
        self.attributes["output_mem_config"] = repr(self.config)
        facts = (code, sorted(self.attributes.items()), [(tuple(t.shape), t.dtype.name, t.layout.name, repr(t.config)) for t in [*inputs, output]])
        self.hash = int.from_bytes(hashlib.blake2b(repr(facts).encode(), digest_size=8).digest(), "little")

    def kernels(self):
        return [(self.reader, NCRISC), ("writer_pages.cpp", BRISC)] + ([(self.compute, COMPUTE)] if self.compute else [])

    def written(self, first, n):
        """The pages of the output that a stretch of units is."""
        return [first * self.pages_per_unit, n * self.pages_per_unit]

    def kernel_info(self):
        """The kernels as reports have them: paths from this package's folder, and a name for each program's."""
        def described(name):
            return {"source": f"ttnn/kernels/{name}", "name": f"{name[:-len('.cpp')]}/{self.hash}/"}

        moving = [described(name) for name, risc in self.kernels() if risc != COMPUTE]
        computing = [{"math_fidelity": MathFidelity.HiFi4.name, **described(self.compute)}] if self.compute else []
        return {"compute_kernels": computing, "datamovement_kernels": moving, "kernel_sizes": {}}

    def model(self, device):
        """What the op would take at best: all cores at 4096 products a cycle each, or DRAM at 32 bytes a cycle and bank."""
        cycles_ns = 1000 / device.frequency_mhz
        n_bytes = [tensor.n_pages() * tensor.page_bytes() for tensor in [*self.inputs, *self.outputs]]
        moved = max(1, round(sum(n_bytes) / (32 * 8) * cycles_ns))
        computed = max(1, round(self.n_macs / (4096 * device.grid[0] * device.grid[1]) * cycles_ns))
        ideal = max(moved, computed)
        rates = [round(size / ideal, 3) for size in n_bytes]
        return {"compute_ns": computed, "ideal_ns": ideal, "bandwidth_ns": moved, "input_bws": rates[:-1], "output_bws": rates[-1:]}

    def run(self):
        """Launch the op on every device of the mesh; its output, which is there when the queue got to it."""
        output, base = self.outputs[0], next_base_id()
        n_bytes = output.n_pages() * output.page_bytes()
        for at, device in enumerate(self.mesh.devices):
            output.shards.append(Pages(device, n_bytes, output.page_bytes(), self.config))
            program = device.programs.get(self.hash)
            with DeviceOp(self, device, base, program is not None):
                self.launch(device, at, program, base)
        return output

    def launch(self, device, at, program, base):
        inputs, output = [tensor.shards[at] for tensor in self.inputs], self.outputs[0].shards[at]
        is_new = program is None
        if is_new:
            program = device.programs[self.hash] = Program(self, device)
        program.set_arguments(self, inputs, output)
        if device.is_capturing:
            trace_message("ENQUEUE_PROGRAM", device, device.trace, base)
        with zone("CompileProgram" if is_new else "EnqueueProgram"):  # the first launch builds the kernels
            call("device_enqueue", device.handle, program.handle, _library.Launch(0, base))
