"""contents.py - contents of .tracy files byte by byte, for tests: every section filled, in every layout.

Written from the description of the format, apart from the reader that it tests."""
import struct

pack = struct.pack


def listof(items):
    return pack("<Q", len(items)) + b"".join(items)


def lstr(text):
    return pack("<Q", len(text)) + text


def full(version):
    """A content with something in every section that the layout has. version: (minor, patch)."""
    v = version[0] * 100 + version[1]
    ref = lambda i: pack("<QB", i, 3)
    idx = lambda i: pack("<I", i + 1)[:3]
    strings = [b"Frame", b"work", b"file.c", b"text of a zone", b"name of a zone", b"message", b"a plot", b"a pool", b"main",
               b"fiber", b"other process", b"other thread", b"lock", b"gpu", b"libc.so", b"section", b"note", b"it crashed"]
    out = [b"tracy" + bytes([0, *version])]
    if v < 1203:
        out.append(pack("<Q", 7))
    out.append(pack("<QdqQQqBI", 1, 1.0, 10000, 0, 42, 0, 2, 3) + b"GenuineIntel" + (b"\0" if v >= 902 else b""))
    out.append(lstr(b"capture") + lstr(b"program") + pack("<QQ", 1700000000, 1600000000) + lstr(b"host\nmore"))
    core = pack("<I", 5) + listof([pack("<I", 6), pack("<I", 7)])
    out.append(listof([pack("<I", 0) + listof([pack("<I", 1) + listof([core])] if v >= 1102 else [core])]))
    out.append(pack("<QqQI", 100, 9000, 18, 1))
    main = pack("<QB", 0, 1) + listof([pack("<qi", d, i) for d, i in ((0, -1), (10, -1), (100, 0), (200, -1))])
    spans = pack("<QB", 7, 0) + listof([pack("<qqi", 50, 20, -1), pack("<qqi", 10, -81, -1)])
    out.append(listof([main, spans]))
    if v >= 1304:
        item = pack("<q", 100)[:6] + pack("<q", 900)[:6] + idx(15)
        out.append(listof([item]) if v == 1304 else
                   listof([pack("<H", 3) + listof([item])]) + listof([pack("<H", 3) + idx(15)]))
    out.append(listof([pack("<Q", i + 1) + lstr(s) for i, s in enumerate(strings)]))
    out.append(listof([pack("<QQ", 0, 1)] + [pack("<QQ", i + 1, i + 1) for i in range(len(strings))]))
    out.append(listof([pack("<QQ", 100, 9), pack("<QQ", (1 << 32) + 1, 10)]))
    out.append(listof([pack("<QQQ", 900, 11, 12)]))
    out.append(listof([pack("<Q", x) for x in (0, 100, 101)]) + listof([pack("<Q", x) for x in (0, 100, 900)]))
    loc = ref(1) + ref(1) + ref(2) + pack("<II", 12, 0x332211)
    out.append(listof([pack("<Q", 77) + loc]) + listof([pack("<Q", 0), pack("<Q", 77)]) + listof([loc]))
    out.append(listof([pack("<hQ", 1, 3), pack("<hQ", -1, 1)]) + listof([pack("<hQ", 1, 2)]))
    events = [pack("<qhBB", d, l, t, k) for d, l, t, k in ((5, 1, 0, 0), (5, 0, 0, 1), (5, 0, 1, 3), (5, 0, 0, 2), (1, 0, 1, 4),
                                                          (1, 0, 1, 5))]
    out.append(listof([pack("<I", 1) + idx(12) + pack("<hBBqq", 1, 1, 1, 20, 800) + listof([pack("<Q", 100), pack("<Q", 101)]) +
                       listof(events)]))
    meta = b"\x01\x03" if v >= 1302 else b""
    out.append(listof([pack("<Qq", i, 10) + ref(5) + pack("<I", c) + idx(0) + meta for i, c in ((5, 0xff112233), (6, 0xffffffff))]))
    out.append(listof([bytes(12), idx(0) + idx(3) + idx(4) + b"\x11\x22\x33"]))

    def zone(loc, start, extra, kids, end):
        return pack("<hqI", loc, start, extra) + timeline(kids) + pack("<q", end)

    def timeline(zones):
        return pack("<I", len(zones)) + b"".join(zones)

    hint = pack("<i", 1) if v >= 1101 else b""
    leaf = zone(-1, 5, 0, [], 10)
    samples = listof([pack("<q", 7) + idx(0)])
    one = pack("<QQQB", 100, 4, 1, 0) + hint + timeline([zone(1, 10, 1, [leaf, leaf], 20), zone(1, 5, 0, [], -66)]) + \
        listof([pack("<Q", 5)]) + samples + samples
    fiber = pack("<QQQB", (1 << 32) + 1, 1, 0, 1) + hint + timeline([zone(1, 310, 0, [], 20)]) + listof([pack("<Q", 6)]) + \
        listof([]) + listof([])
    out.append(pack("<QQ", 5, 1) + listof([one, fiber]))

    def gpu_zone(c, g, kids, ce, ge):
        return pack("<qqh", c, g, 1) + idx(0) + pack("<HQ", 1, len(kids)) + b"".join(kids) + pack("<qq", ce, ge) + \
            (pack("<H", 9) if v >= 1204 else b"")

    notes = listof([pack("<q", 4) + idx(16)]) if v >= 1204 else b""
    values = listof([pack("<H", 9) + listof([pack("<qd", 4, 2.5)])]) if v >= 1204 else b""
    gpu = pack("<QBQfB", 0, 1, 3, 1.0, 2) + idx(13) + pack("<Q", 0) + notes + \
        listof([pack("<QQ", 100, 2) + gpu_zone(100, 200, [gpu_zone(1, 1, [], 1, 1)], 5, 5) + gpu_zone(5, 5, [], -113, -213)]) + values
    out.append(pack("<QQ", 3, 1) + listof([gpu]))
    out.append(listof([pack("<BBBBIQddd", 0, 1, 1, 0, 0x112233, 7, 0, 2, 3) + listof([pack("<qd", 5, 1.0), pack("<qd", 5, 2.0)])]))
    block = lambda p, t, life, a, b: pack("<QQ", p, 16) + idx(0) + idx(0) + pack("<qqHH", t, life, a, b)
    pool = lambda name: pack("<QQQQ", name, 2, 1, 1) + block(4096, 10, 20, 1, 1) + block(8192, 5, -1, 2, 0) + \
        pack("<QQQQ", 8208, 4096, 16, name)
    out.append(pack("<QQ", 2, 4) + pool(0) + pool(8))
    out.append(listof([pack("<HQQ", 2, 0x1000, 0x2000)]))
    out.append(listof([pack("<QB", 0x1000, 2) + idx(14) + (idx(1) + idx(2) + pack("<IQ", 3, 0x900)) * 2]))
    out.append(listof([ref(5), pack("<QB", 6, 2)]))
    out.append(pack("<I", 3) + b"dic" + listof([pack("<HHB", 4, 4, 1) + b"12345678"]))
    more = b"\x02" if v >= 1103 else b""
    runs = lambda reason, carrier: listof([pack("<qqqBbbQ", 300, 2, 20, 1, reason, 3, carrier) + more,
                                           pack("<qqqBbbQ", 5, 2, 20, 1, reason, 3, carrier) + more])
    out.append(listof([pack("<Q", 100) + runs(4, 0), pack("<Q", (1 << 32) + 1) + runs(99, 100)]))
    out.append(pack("<Q", 1) + listof([pack("<qqH", 5, 9, 2)]) + pack("<Q", 0) * 255)
    out.append(listof([pack("<QQ", 900, 99)]) + listof([pack("<QqII", 900, 5, 1, 1)]))
    out.append(pack("<QQ", 1, 1) + listof([pack("<Q", 0x900) + bytes(24)]))
    out.append(listof([pack("<QI", 0x900, 4) + b"code"]) + listof([pack("<QQ", 1, 0x900)]))
    out.append(listof([pack("<Q", 0x1000) + listof([pack("<q", 5)]) * 6]))
    out.append(listof([pack("<I", 6) + b"file.c" + pack("<I", 3) + b"int"]))
    return b"".join(out)


LAYOUTS = ((9, 0), (10, 0), (11, 0), (11, 1), (11, 2), (11, 3), (12, 2), (12, 3), (13, 1), (13, 2), (13, 4), (13, 6), (14, 0))


def file_of(content, magic=b"tr\xfdP\0\x01"):
    """A file with one stream of literal-only LZ4 blocks around a content."""
    out = [magic]
    for at in range(0, len(content), 65536):
        raw = content[at:at + 65536]
        block = bytes([len(raw) << 4]) + raw if len(raw) < 15 else \
            b"\xf0" + b"\xff" * ((len(raw) - 15) // 255) + bytes([(len(raw) - 15) % 255]) + raw
        out.append(pack("<I", len(block)) + block)
    return b"".join(out)
