#!/usr/bin/env python3
"""gen_run.py OUT [options]: the logs of an invented tt-metal run, different for every seed.

Writes OUT/.logs/{tracy_ops_data,tracy_ops_times,profile_log_device}.csv. Deterministic: the same options
give the same bytes.
"""
import argparse
import json
import os
import random

HEADER = ("PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
          "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data")
SOURCES = {"BRISC-FW": ("brisc.cc", 433), "BRISC-KERNEL": ("brisck.cc", 78),
           "NCRISC-FW": ("ncrisc.cc", 129), "NCRISC-KERNEL": ("ncrisck.cc", 70),
           "TRISC-FW": ("trisc.cc", 150), "TRISC-KERNEL": ("trisck.cc", 86),
           "ERISC-FW": ("erisc.cc", 99), "ERISC-KERNEL": ("erisck.cc", 55),
           "CB-COMPUTE-WAIT-FRONT": ("llk_io_unpack.h", 68),
           "CB-COMPUTE-RESERVE-BACK": ("llk_io_pack.h", 21),
           "USER-A": ("kernel.cpp", 10), "USER-B": ("kernel.cpp", 20),
           "CQ-DISPATCH": ("cq_dispatch.cpp", 1000)}
RISCS = ["BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2", "ERISC"]
COUNTERS = ["FPU_COUNTER", "SFPU_COUNTER", "MATH_COUNTER", "SRCA_WRITE_ACTUAL", "SRCB_WRITE_ACTUAL",
            "SRCB_WRITE_NOT_BLOCKED_PORT", "SRCA_WRITE_NOT_BLOCKED_OVR", "UNPACK0_BUSY_THREAD0",
            "UNPACK1_BUSY_THREAD0", "SRCA_WRITE_AVAILABLE", "SRCB_WRITE_AVAILABLE",
            "PACKER_DEST_READ_AVAILABLE", "PACKER_BUSY", "DEST_READ_GRANTED_0", "AVAILABLE_MATH",
            "MATH_INSTRN_STARTED", "MATH_INSTRN_AVAILABLE", "MATH_FIDELITY_STALL",
            "DATA_HAZARD_STALLS_MOVD2A", "MATH_INSTRN_HF_1_CYCLE", "MATH_INSTRN_HF_2_CYCLE",
            "MATH_INSTRN_HF_4_CYCLE", "FPU_INSTRN_AVAILABLE_1", "CFG_INSTRN_AVAILABLE_0",
            "THREAD_STALLS_0", "THREAD_STALLS_1", "THREAD_STALLS_2", "THREAD_INSTRUCTIONS_0",
            "THREAD_INSTRUCTIONS_1", "WAITING_FOR_SRCA_VALID", "WAITING_FOR_MATH_IDLE_1",
            "WAITING_FOR_NONZERO_SEM_0", "WAITING_FOR_NONFULL_SEM_2", "WAITING_FOR_SFPU_IDLE_1",
            "L1_0_UNPACKER_0", "L1_0_UNPACKER_1_ECC_PACK1", "L1_0_TDMA_BUNDLE_0_RISC",
            "L1_0_TDMA_BUNDLE_1_TRISC", "L1_0_NOC_RING0_OUTGOING_0", "L1_0_NOC_RING0_OUTGOING_1",
            "L1_0_NOC_RING0_INCOMING_0", "L1_0_NOC_RING0_INCOMING_1", "L1_0_UNPACKER_0_GRANT",
            "L1_0_PORT1_GRANT", "L1_0_NOC_RING0_OUTGOING_0_GRANT", "L1_0_NOC_RING0_OUTGOING_1_GRANT",
            "L1_0_NOC_RING0_INCOMING_0_GRANT", "L1_0_NOC_RING0_INCOMING_1_GRANT",
            "MATH_NOT_STALLED_DEST_WR_PORT", "PACKER_BUSY_0", "PACKER_BUSY_1", "PACKER_BUSY_2"]
TRICKY = {"plain": "1.0", "comma, key": "a, b", "quote": "it's", "double": 'say "x"', "both": "'\"",
          "tab": "a\tb", "back": "a\\b", "line": "a\nb", "uni": "\u00e9\u2192\u4e2d", "nul": "\x01"}


def fold(text):
    """The 16-bit hash of a zone's text."""
    value = 2166136261
    for byte in text.encode():
        value = ((value ^ byte) * 16777619) & 0xffffffff
    return (value & 0xffff) ^ (value >> 16)


class Run:
    def __init__(self, options):
        self.o = options
        self.rng = random.Random(options.seed)
        self.markers = []  # device, core, risc, time, sequence, the rest of the line
        self.messages, self.zones, self.children = [], [], []
        self.cpp = []
        self.clock = {d: 10 ** 12 * (d + 1) for d in range(options.devices)}
        self.now = 1000
        self.full = {}

    def marker(self, device, core, risc, time, op, trace, zone, kind, data=0, meta="", timer=None):
        file, line = SOURCES.get(zone, ("", 0))
        if timer is None:
            timer = fold(f"{zone},/fw/{file},{line},KERNEL_PROFILER")
        text = (f"{timer},{time},{data},{op},{trace[0]},{trace[1]},{zone},{kind},{line},"
                f"{'/fw/' + file if file else ''},{meta}")
        self.markers.append((device, core, RISCS.index(risc), time, len(self.markers), text))

    def zone(self, device, core, risc, zone, begin, end, op, trace, meta=""):
        self.marker(device, core, risc, begin, op, trace, zone, "ZONE_START", meta=meta)
        self.marker(device, core, risc, end, op, trace, zone, "ZONE_END", meta=meta)

    def run_op(self, device, op, cores, compute, trace=("", "")):
        """One run of an op on the device."""
        rng, base = self.rng, self.clock[device]
        meta = f'{{"sub_device_id":{op >> 10 & 1};"sub_device_manager_id":7}}' if self.o.sub else ""
        last = base
        for k, core in enumerate(cores):
            start = base + k * rng.randrange(3, 30)
            ends = []
            for risc, offset in (("NCRISC", 30), ("TRISC_0", 40), ("TRISC_1", 41), ("TRISC_2", 42)):
                name = risc.split("_")[0]
                t0, busy = start + offset, 1500 + rng.randrange(4000)
                ends.append(t0 + 150 + busy + 250)
                self.zone(device, core, risc, f"{name}-FW", t0, ends[-1], op, trace, meta)
                if name == "TRISC" and not compute:
                    continue
                self.zone(device, core, risc, f"{name}-KERNEL", t0 + 150, t0 + 150 + busy, op, trace, meta)
                if self.o.user:
                    self.zone(device, core, risc, "USER-A", t0 + 200, t0 + 300, op, trace, meta)
                    self.zone(device, core, risc, "USER-B", t0 + 300, t0 + 700, op, trace, meta)
                if self.o.sums and risc == "TRISC_0":
                    self.marker(device, core, risc, t0 + 1, op, trace, "CB-COMPUTE-WAIT-FRONT",
                                "ZONE_TOTAL", rng.randrange(900))
                if self.o.sums and risc == "TRISC_2":
                    self.marker(device, core, risc, t0 + 1, op, trace, "CB-COMPUTE-RESERVE-BACK",
                                "ZONE_TOTAL", rng.randrange(500))
            busy = 1500 + rng.randrange(4000)
            end = max(ends + [start + 150 + busy]) + 200 + rng.randrange(200)
            self.zone(device, core, "BRISC", "BRISC-FW", start, end, op, trace, meta)
            self.zone(device, core, "BRISC", "BRISC-KERNEL", start + 150, start + 150 + busy, op, trace, meta)
            if self.o.counters:
                self.counters(device, core, op, trace, end - 120)
            last = max(last, end)
        if self.o.erisc:
            core = (25, 17)
            self.zone(device, core, "ERISC", "ERISC-FW", base + 5, last - 7, op, trace, meta)
            self.zone(device, core, "ERISC", "ERISC-KERNEL", base + 50, last - 60, op, trace, meta)
        if self.o.dispatch and not trace[0]:
            self.dispatch(device, op, base, last)
        self.clock[device] = last + rng.randrange(500, 60000)

    def counters(self, device, core, op, trace, time):
        rng = self.rng
        chosen = COUNTERS if self.o.counters == "all" else COUNTERS[:6]
        for n, name in enumerate(chosen):
            if rng.random() < 0.03:
                continue
            ref, value = rng.randrange(1000, 9000), 0 if rng.random() < 0.1 else rng.randrange(9000)
            meta = f'{{"counter type":"{name}";"ref cnt":{ref};"value":{value}}}'
            self.marker(device, core, "BRISC", time + n // 8, op, trace, "", "TS_DATA",
                        ref << 32 | value, meta, 9090)

    def dispatch(self, device, op, begin, end):
        core = (0, 9)
        def command(risc, t0, t1, name, run=None):
            self.marker(device, core, risc, t0, 0, ("", ""), "CQ-DISPATCH", "ZONE_START")
            if run is not None:
                self.marker(device, core, risc, t0 + 1, 0, ("", ""), "", "TS_DATA", run,
                            f'{{"workers_runtime_id":{run}}}', 7)
            self.marker(device, core, risc, t0 + 2, 0, ("", ""), "", "TS_DATA", 1,
                        f'{{"dispatch_command_type":"{name}"}}', 8)
            self.marker(device, core, risc, t1, 0, ("", ""), "CQ-DISPATCH", "ZONE_END")
        middle = begin + (end - begin) // 2
        command("BRISC", begin + 10, begin + 100, "CQ_DISPATCH_CMD_WRITE_PACKED", op)
        command("BRISC", begin + 110, middle, "CQ_DISPATCH_CMD_WAIT")
        command("BRISC", middle + 10, end - 90, "CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL")
        command("NCRISC", middle + 50, end - 60, "CQ_DISPATCH_CMD_SEND_GO_SIGNAL")

    def tensor(self, device):
        rng, pick = self.rng, self.rng.choice
        shape = {a: f"{n}[{n - rng.randrange(3) if n > 3 else n}]" for a, n in
                 zip("WZYX", (1, rng.randrange(1, 9), 32 * rng.randrange(1, 9), 32 * rng.randrange(1, 99)))}
        storage = {"device_id": device, "memory_config": {
            "buffer_type": pick(["DRAM", "L1"]), "memory_layout": pick(["INTERLEAVED", "height_sharded"])}}
        return {"dtype": pick(["BFLOAT16", "BFLOAT8_B", "UINT32"]), "layout": pick(["TILE", "ROW_MAJOR"]),
                "shape": shape, "storage_type": storage if rng.random() < 0.9 else "HOST"}

    def describe(self, device, op, kind):
        rng = self.rng
        attributes = dict(TRICKY) if self.o.tricky and kind % 3 == 0 else {"alpha": str(rng.random()), "n": "7"}
        sizes = {"TENSIX_DM_0_max_kernel_size": 2272, "TENSIX_DM_1_max_kernel_size": rng.randrange(4000)}
        if kind % 2:
            sizes.update({"TENSIX_COMPUTE_10_max_kernel_size": 5, "ACTIVE_ETH_DM_0_max_kernel_size": 0,
                          "TENSIX_COMPUTE_2_max_kernel_size": 6})
        return {"attributes": attributes, "device_id": device, "global_call_count": op,
                "input_tensors": [self.tensor(device) for _ in range(rng.randrange(4))],
                "kernel_info": {"compute_kernels": [{"math_fidelity": rng.choice(["HiFi2", "LoFi"]),
                                                     "name": f"k{n}/1/", "source": f"c{n}.cpp"}
                                                    for n in range(rng.randrange(3))],
                                "datamovement_kernels": [{"name": "r/1/", "source": "r, 1.cpp"}],
                                "kernel_sizes": sizes},
                "op_code": f"Op{kind}DeviceOperation", "op_hash": 10 ** 18 + kind,
                "op_type": "tt_dnn_device", "optional_input_tensors": [],
                "output_tensors": [self.tensor(device) for _ in range(rng.randrange(1, 3))],
                "performance_model": {"bandwidth_ns": rng.randrange(1, 999), "compute_ns": rng.randrange(1, 9999),
                                      "ideal_ns": rng.randrange(1, 999),
                                      "input_bws": [rng.random() * 10 ** rng.randrange(-6, 18)],
                                      "output_bws": [0.1, 292.5714416503906, 1e22]},
                "program_cache_hit": False}

    def enqueue(self, device, op, kind):
        """The host's side of one op: message and zone."""
        start, wait = self.now, self.rng.randrange(100, 9000)
        key = (device, kind)
        cached = key in self.full and not self.o.no_cache
        if key not in self.full:
            self.full[key] = self.describe(device, op, kind)
        info = dict(self.full[key], global_call_count=op)
        head = (f'TT_DNN_DEVICE_OP: {json.dumps(info["op_code"])}, {info["op_hash"]}, {device}, '
                f'{"true" if cached else "false"}, {op}')
        body = "" if cached else " ->\n" + json.dumps(info, indent=4, sort_keys=True).replace("`", "``")
        self.messages.append((f"`{head}{body}`", start + 50))
        self.zones.append(("TT_DNN_DEVICE_OP", op, start, wait))
        for _ in range(self.rng.randrange(3) if self.rng.random() < 0.4 else 0):
            name = self.rng.choice(["CompileProgram", "HWCommandQueue_write_buffer", "another"])
            self.children.append((name, op, start + 10, self.rng.randrange(50)))
        self.now += wait + self.rng.randrange(50, 400)

    def message(self, text):
        self.messages.append((f"`{text}`", self.now))
        self.now += self.rng.randrange(20, 200)

    def fallback(self, number):
        op = 1 << 31 | number << 10
        info = {"attributes": {"fn": "torch.relu"}, "global_call_count": op, "op_type": "python_fallback",
                "input_tensors": [dict(self.tensor(0), storage_type="HOST")], "op_code": "torch.relu"}
        self.messages.append((f'`TT_DNN_FALL_BACK_OP:"torch.relu" ->\n{json.dumps(info, indent=4)}`', self.now + 5))
        self.zones.append(("TT_DNN_FALL_BACK_OP", op, self.now, 90))
        self.now += 150

    def build(self):
        o, rng, program = self.o, self.rng, 0
        grid = [(x, y) for y in range(1, 5) for x in range(1, 9)]
        kinds = {}
        def shape_of(kind):
            if kind not in kinds:
                kinds[kind] = (rng.sample(grid, rng.randrange(1, o.cores + 1)), rng.random() < 0.8)
            return kinds[kind]
        for n in range(o.ops):
            program += 1
            kind = rng.randrange(o.kinds or max(3, o.ops // 8))
            for device in range(o.devices):
                self.enqueue(device, program << 10 | device, kind)
                self.run_op(device, program << 10 | device, *shape_of(kind))
            if o.signposts and rng.random() < 0.1:
                self.message(f"TT_SIGNPOST: part {n}" + ("\nwith a message" if n % 2 else ""))
            if o.fallbacks and rng.random() < 0.1:
                program += 1
                self.fallback(program)
        traces = []
        for trace in range(o.traces):
            ops = []
            for device in range(o.devices):
                self.message(f"TT_METAL_TRACE_BEGIN: {device}, {trace + 4}")
            for _ in range(rng.randrange(1, 6)):
                program += 1
                kind = rng.randrange(o.kinds or max(3, o.ops // 8))
                ops.append((program, kind))
                for device in range(o.devices):
                    self.message(f"TT_METAL_TRACE_ENQUEUE_PROGRAM: {device}, {trace + 4}, {program}")
                    self.enqueue(device, program << 10 | device, kind)
            for device in range(o.devices):
                self.message(f"TT_METAL_TRACE_END: {device}, {trace + 4}")
            traces.append((trace + 4, ops))
        replays = [t for t in traces for _ in range(o.replays)]
        rng.shuffle(replays)
        counts = {}
        for trace, ops in replays:
            counts[trace] = counts.get(trace, 0) + 1
            for device in range(o.devices):
                self.message(f"TT_METAL_TRACE_REPLAY: {device}, {trace}")
                for number, kind in ops:
                    self.run_op(device, number << 10 | device, *shape_of(kind), trace=(trace, counts[trace]))

    def write(self):
        folder = f"{self.o.out}/.logs"
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/tracy_ops_data.csv", "w") as f:
            f.write("MessageName;total_ns\n")
            for text, ns in sorted(self.messages, key=lambda m: m[1]):
                f.write(f"{text};{ns}\n")
        with open(f"{folder}/tracy_ops_times.csv", "w") as f:
            f.write("name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,value,"
                    "special_parent_text\n")
            for name, op, start, ns in self.zones:
                f.write(f'{name},/src/a.hpp,10,,"id:{op}",{start},{ns},1,id:{op},\n')
            for name, op, start, ns in self.children:
                f.write(f"{name},/src/b.cpp,20,,,{start},{ns},1,,id:{op}\n")
            f.write("Other,/src/c.cpp,30,,,5,6,1,,\n")
        with open(f"{folder}/profile_log_device.csv", "w") as f:
            f.write(f"ARCH: {self.o.arch}, CHIP_FREQ[MHz]: {self.o.freq}, Max Compute Cores: 64\n{HEADER}\n")
            for device, core, risc, _, _, text in sorted(self.markers, key=lambda m: (m[0], m[1], m[2], m[3], m[4])):
                f.write(f"{device},{core[0]},{core[1]},{RISCS[risc]},{text}\n")


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ops", type=int, default=50)
    parser.add_argument("--kinds", type=int, default=0, help="different ops; 0: an eighth of all")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--cores", type=int, default=6)
    parser.add_argument("--freq", type=int, default=1000)
    parser.add_argument("--arch", default="wormhole_b0")
    parser.add_argument("--traces", type=int, default=0)
    parser.add_argument("--replays", type=int, default=3)
    parser.add_argument("--counters", choices=["some", "all"])
    for flag in ("sub", "user", "sums", "erisc", "dispatch", "signposts", "fallbacks", "tricky", "no-cache"):
        parser.add_argument(f"--{flag}", action="store_true")
    return parser.parse_args(arguments)


def main(arguments=None):
    run = Run(parse(arguments))
    run.build()
    run.write()
    return run


if __name__ == "__main__":
    main()
