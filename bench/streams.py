"""streams.py - a .tracy file of ours in the container that Tracy's own capture writes since 0.11.1: four streams of zstd, level 3, blocks of
64 KiB in turn.  SPDX-License-Identifier: MIT"""
import ctypes
import ctypes.util
import struct

import measure

STREAMS, BLOCK, FLUSH = 4, 65536, 1


class Buffer(ctypes.Structure):
    """ZSTD_inBuffer, ZSTD_outBuffer"""
    _fields_ = [("bytes", ctypes.c_char_p), ("size", ctypes.c_size_t), ("pos", ctypes.c_size_t)]


def library(name):
    found = ctypes.util.find_library(name)
    if not found:
        raise measure.Failed(f"no lib{name}")
    return ctypes.CDLL(found)


def blocks_of(file):
    """The content of a container of ours, LZ4 in one stream, block by block."""
    lz4, before = library("lz4"), b""
    if file.read(6) != b"tr\xfdP\0\1":
        raise measure.Failed("not a .tracy file of ours")
    while length := file.read(4):
        stored, out = file.read(*struct.unpack("<I", length)), ctypes.create_string_buffer(BLOCK)
        n = lz4.LZ4_decompress_safe_usingDict(stored, out, len(stored), BLOCK, before, len(before))
        before = out.raw[:n]
        yield before


def put_in_streams(source, target):
    zstd = library("zstd")
    zstd.ZSTD_createCCtx.restype = zstd.ZSTD_compressStream2.restype = ctypes.c_void_p
    streams = [ctypes.c_void_p(zstd.ZSTD_createCCtx()) for _ in range(STREAMS)]
    room = ctypes.create_string_buffer(2 * BLOCK)
    with open(source, "rb") as file, open(target, "wb") as out:
        out.write(b"tr\xfdP\1" + bytes([STREAMS]))
        for i, block in enumerate(blocks_of(file)):
            given = Buffer(block, len(block), 0)
            made = Buffer(ctypes.cast(room, ctypes.c_char_p), len(room), 0)
            if zstd.ZSTD_compressStream2(streams[i % STREAMS], ctypes.byref(made), ctypes.byref(given), FLUSH):
                raise measure.Failed("zstd failed")
            out.write(struct.pack("<I", made.pos) + room.raw[:made.pos])
    for stream in streams:
        zstd.ZSTD_freeCCtx(stream)
