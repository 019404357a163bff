# SPDX-License-Identifier: MIT
"""What ops tell the profiler: a host zone and a message per op, the messages of traces; and what a program may ask for in return.

The texts are those that tt-metal's tools read (docs/op-report.md). They are emitted while TTNN_OP_PROFILER is 1, which
`python -m tracy -r` sets, and somebody records. Without the package `strobe` nothing is emitted, and ops run all the same."""
import contextlib
import json
import os
import sys

try:
    import strobe
except ImportError:
    strobe = None

OP_ZONE, FALLBACK_ZONE = "TT_DNN_DEVICE_OP", "TT_DNN_FALL_BACK_OP"
MESSAGE_MAX_BYTES = 65534
DEVICE_BITS = 10


def is_set(variable):
    return os.environ.get(variable, "").startswith("1")


def is_on():
    return strobe is not None and is_set("TTNN_OP_PROFILER") and strobe.recording()


def zone(name):
    """A zone of the host, or nothing where nobody records."""
    return strobe.zone(name) if strobe is not None else contextlib.nullcontext()


def op_id(base, device_index, is_fallback=False):
    """The number of an op in reports: program and device."""
    return is_fallback << 31 | (base & 0x1FFFFF) << DEVICE_BITS | device_index


def send(text):
    """A message; the back-ticks are the quotes of the CSV file that it comes to."""
    strobe.message(f"`{text}`")


def described(tensor, device_index=None):
    """A tensor as reports have it."""
    padded, logical = tensor.padded_shape, tensor.shape.four()
    if tensor.mesh:
        storage = {"device_id": device_index, "memory_config": {"buffer_type": tensor.config.buffer_type.name,
                                                                "memory_layout": tensor.config.memory_layout.name}}
    else:
        storage = "HOST"
    return {"storage_type": storage, "layout": tensor.layout.name, "dtype": tensor.dtype.name,
            "shape": {axis: f"{size}[{real}]" for axis, size, real in zip("WZYX", padded.four(), logical)}}


class DeviceOp:
    """One launch of a program on one device: a zone, and in it a message. The whole description goes out once per program and
    device, unless TT_METAL_PROFILER_NO_CACHE_OP_INFO is 1."""
    sent = set()  # (device, hash) that were described

    def __init__(self, op, device, base, is_hit):
        self.op, self.device, self.id, self.is_hit = op, device, op_id(base, device.index), is_hit
        self.zone = strobe.zone(OP_ZONE) if is_on() else None

    def __enter__(self):
        if self.zone:
            self.zone.begin()
            self.zone.text(f"id:{self.id}")
            send(self.message())
        return self

    def __exit__(self, *exception):
        if self.zone:
            self.zone.end()

    def message(self):
        code, key = self.op.code.replace(",", ";"), (self.device.index, self.op.hash)
        head = f'{OP_ZONE}: "{code}", {self.op.hash}, {self.device.index}, {str(self.is_hit).lower()}, {self.id}'
        if key in DeviceOp.sent and not is_set("TT_METAL_PROFILER_NO_CACHE_OP_INFO"):
            return head
        DeviceOp.sent.add(key)
        return f"{head} ->\n{fitting(self.describe(), len(head) + 8)}"

    def describe(self):
        op = self.op
        return {"global_call_count": self.id, "op_code": op.code, "op_type": "tt_dnn_device", "device_id": self.device.index,
                "op_hash": op.hash, "program_cache_hit": self.is_hit, "attributes": op.attributes,
                "input_tensors": [described(tensor, self.device.index) for tensor in op.inputs], "optional_input_tensors": [],
                "output_tensors": [described(tensor, self.device.index) for tensor in op.outputs],
                "kernel_info": op.kernel_info(), "performance_model": op.model(self.device)}


def fitting(record, n_taken):
    """The record as JSON that fits into one message: compact, then without kernels, then without attributes."""
    for indent, without in ((4, ()), (None, ()), (None, ("kernel_info",)), (None, ("kernel_info", "attributes"))):
        text = json.dumps({key: value for key, value in record.items() if key not in without}, indent=indent)
        if len(text.encode()) + n_taken <= MESSAGE_MAX_BYTES:
            return text
    print(f"ttnn: the description of {record['op_code']} is over {MESSAGE_MAX_BYTES} bytes and is left out", file=sys.stderr)
    return json.dumps({key: record[key] for key in ("global_call_count", "op_code", "op_type", "device_id", "op_hash")})


@contextlib.contextmanager
def fallback_op(code, base, inputs, attributes):
    """An op that runs in Python: its zone and its message."""
    if not is_on():
        yield
        return
    number = op_id(base, 0, True)
    with strobe.zone(FALLBACK_ZONE) as here:
        here.text(f"id:{number}")
        record = {"global_call_count": number, "op_code": code, "op_type": "python_fallback", "attributes": attributes,
                  "input_tensors": [described(tensor, tensor.mesh.devices[0].index if tensor.mesh else None) for tensor in inputs]}
        send(f'{FALLBACK_ZONE}:"{code}" ->\n{fitting(record, 80)}')
        yield


def trace_message(kind, device, *numbers):
    """BEGIN, END, REPLAY, RELEASE or ENQUEUE_PROGRAM of a trace."""
    if is_on() and (kind == "END" or is_set("TT_METAL_PROFILER_TRACE_TRACKING")):
        send(f"TT_METAL_TRACE_{kind}: {', '.join(map(str, (device.index, *numbers)))}")
