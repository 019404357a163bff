"""strobe_format.py - the numbers and small encodings of docs/file-format.md, for the writer and the reader.

Only what both need to agree on: constants, varints, the layout of a block's header. What a number in a file
means (pairing, summaries, the ledger) is worked out on each side alone, so that one can check the other.
"""
import struct

MAGIC = b"\x89STROBE\n"
VERSION = 2
HEAD_BYTES = 4096
LEDGER_OFF = 4096
LEDGER_BYTES = 65536
FIRST_BLOCK = 69632
FILE_HEAD = struct.Struct("<8sIIQQQQ16sQ56s768s3192sQ")

BLOCK_MAGIC = b"SBLK"
EVENTS, RECORDS, INDEX, FOOTER, LOD, PAIRED, PAIRED_LOD = 1, 2, 3, 4, 5, 6, 7
BLOCK_HEAD = struct.Struct("<4sBBHQIIIIQQQQQ")
BLOCK_HEAD_BYTES = 72
BLOCK_MAX = 16 << 20
EVENTS_MAX = 65536
SUMMARY_FROM = 512
SUMMARY_LOCS = 256
LOD_DEPTHS = 16
LOD_BUCKETS = 128

ENTRY = struct.Struct("<QQQQQIBBH")
TRAILER = struct.Struct("<8sQQQ")
TRAILER_MAGIC = b"STRBEND\n"
SLOT = struct.Struct("<8sQIIQ")
SLOT_MAGIC = b"STRBLEDG"
SLOT_BYTES = 32768

END, END_POP, END_LOST, PIECE = 0, 1, 2, 3
FIBER_ENTER, FIBER_LEAVE, CALLSTACK, END_UNDER, BEGIN = 19, 20, 26, 61, 63
LOSS_CAUSES = ("pool full", "shared memory full", "no room for a name", "disk", "file limit",
               "overwritten by the program", "hole", "unfinished record", "refused", "file size limit of the pool",
               "no memory for a thread", "abandoned record", "file size limit of the trace", "process not recorded",
               "not heard at the end", "no room on the device", "no room in the kernel's buffer", "throttled", "stack cut",
               "stack longer than its copy", "thread not sampled", "switches turned off",
               "no room for reasons of waits")
HOLE = 6
GAP_CAUSES = (3, 4, 5, 6, 12)      # losses of words that were emitted: a gap is theirs
U64 = (1 << 64) - 1

SCHEMA = """\
0 zone_end - -
1 zone_end_pop u n_unfinished
2 zone_end_at l location
3 str_piece s text
4 zone_text s text
5 zone_name s name
6 zone_value u value
7 zone_color u color
8 message uus severity,color,text
9 plot_int ni plot,value
10 plot_double nd plot,value
11 frame n frame
12 frame_start n frame
13 frame_end n frame
14 alloc nuu pool,address,size
15 free nu pool,address
16 lock_wait uu lock,shared
17 lock_obtain uu lock,shared
18 lock_release uu lock,shared
19 fiber_enter u fiber
20 fiber_leave - -
21 span_begin ul span,location
22 span_end u span
23 flow_begin u flow
24 flow_step u flow
25 flow_end u flow
26 callstack a addresses
27 sample ua cpu,addresses
28 switch_in uu cpu,reason
29 switch_out uu cpu,reason
30 trigger s reason
31 app_info s text
50 zone_text_at ls location,text
51 zone_name_at ls location,name
52 zone_value_at lu location,value
53 zone_color_at lu location,color
60 zone_loose - -
61 zone_end_under u n_above
63 zone_begin l location
64 process uuusss pid,parent_pid,start_time,exe,cwd,argv
65 thread uuus track,tid,start_tick,name
66 thread_name us track,name
67 loc uuusss id,line,color,function,file,name
68 string us id,text
69 module uuuss base,size,offset,build_id,path
70 program_name s name
71 plot_config uuuu plot,format,step,color
72 lock_name uus lock,location,name
73 fiber_name us fiber,name
74 environment s assignment
96 pool usu proc,file,meta_pos
97 clock_sync uuuuuu clock,tick,mono_ns,real_ns,error_ns,jump
98 loss uuuuuu proc,track,cause,count,first_tick,last_tick
99 process_end uuuu proc,tick,how,value
100 thread_end uuu proc,track,tick
101 host sss hostname,kernel,cpu
102 overhead uuuu recorder_cpu_ns,event_ps,waited_ns,n_events
103 note us proc,text
104 recording uu tick,what
105 trigger_kept us tick,reason
107 unrecorded uuss pid,tick,what,reason
108 outer_pid uuu proc,pid,pid_ns
109 kind s line
"""


class FormatError(Exception):
    """Bytes that the document doesn't allow."""


def parse_schema(text):
    """{number: (name, letters, [field names])} of a schema; a line that isn't one raises FormatError."""
    kinds = {}
    for line in text.splitlines():
        words = line.split(" ")
        if len(words) != 4 or not words[0].isdigit():
            raise FormatError(f"schema line {line!r}")
        letters = "" if words[2] == "-" else words[2]
        names = [] if words[3] == "-" else words[3].split(",")
        if len(letters) != len(names) or set(letters) - set("uidnlsa"):
            raise FormatError(f"schema line {line!r}")
        if int(words[0]) in kinds:
            raise FormatError(f"schema: kind {words[0]} twice")
        kinds[int(words[0])] = (words[1], letters, names)
    return kinds


def varint(n):
    """LEB128 of an unsigned number."""
    if n < 0 or n > U64:
        raise ValueError(f"no varint: {n}")
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def zigzag(n):
    """Zigzag varint of a signed number."""
    return varint(((n << 1) ^ (n >> 63)) & U64)


def read_varint(data, at):
    """(number, next offset)."""
    value = shift = 0
    while True:
        if at >= len(data):
            raise FormatError("varint runs over the end")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
        if shift > 63:
            raise FormatError("varint of more than 10 bytes")
    if value > U64:
        raise FormatError("varint above 64 bits")
    return value, at


def read_zigzag(data, at):
    """(signed number, next offset)."""
    n, at = read_varint(data, at)
    return (n >> 1) ^ -(n & 1), at


def signed64(n):
    """The signed number with the same lower 64 bits."""
    n &= U64
    return n - (1 << 64) if n >> 63 else n


def encode_fields(letters, values):
    """The bytes of a kind's fields."""
    out = bytearray()
    for letter, value in zip(letters, values, strict=True):
        if letter in "unl":
            out += varint(value)
        elif letter == "i":
            out += zigzag(value)
        elif letter == "d":
            out += struct.pack("<d", value)
        elif letter == "s":
            text = value.encode() if isinstance(value, str) else value
            out += varint(len(text)) + text
        else:
            out += varint(len(value))
            last = 0
            for address in value:
                out += zigzag(signed64(address - last))
                last = address
    return bytes(out)


def decode_fields(letters, data, at):
    """([values], next offset); texts as bytes, lists as lists."""
    values = []
    for letter in letters:
        if letter in "unl":
            value, at = read_varint(data, at)
        elif letter == "i":
            value, at = read_zigzag(data, at)
        elif letter == "d":
            if at + 8 > len(data):
                raise FormatError("double runs over the end")
            value = struct.unpack_from("<d", data, at)[0]
            at += 8
        elif letter == "s":
            size, at = read_varint(data, at)
            if at + size > len(data):
                raise FormatError("text runs over the end")
            value = bytes(data[at:at + size])
            at += size
        else:
            count, at = read_varint(data, at)
            if count > len(data) - at:
                raise FormatError("list runs over the end")
            value, last = [], 0
            for _ in range(count):
                step, at = read_zigzag(data, at)
                last = (last + step) & U64
                value.append(last)
        values.append(value)
    return values, at


def padded(size):
    """Rounded up to a multiple of 8."""
    return (size + 7) & ~7
