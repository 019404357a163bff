#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""grade.py FILTER [DEVICE KERNELS]: the Python demo. Makes pictures, has native code blur them and a device darken their corners, and looks
at the result: Python's functions, zones by hand and the C library's zones end up on one track, the device's kernels below them.
FILTER and DEVICE are the libraries made of filter.c and vignette.cpp, KERNELS the folder of the device's kernels."""
import ctypes
import math
import os
import sys
import threading

import strobe

WIDTH, HEIGHT, PICTURES = 320, 180, 8


def load_library(path):
    blur = ctypes.CDLL(path).demo_blur
    blur.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_int]
    return blur


class Device:
    """A small device, simulated; one picture at a time."""

    def __init__(self, path, kernels):
        os.environ.setdefault("STROBE_SIM_GRID_X", "2")
        os.environ.setdefault("STROBE_SIM_GRID_Y", "2")
        os.environ.setdefault("STROBE_SIM_MHZ", "20")
        self.library, self.lock = ctypes.CDLL(path), threading.Lock()
        if self.library.demo_device_open(kernels.encode(), WIDTH, HEIGHT):
            sys.exit(1)

    def darken_corners(self, pixels):
        with self.lock:
            if self.library.demo_device_vignette(pixels, WIDTH * HEIGHT):
                raise RuntimeError("the device refused a picture")

    def close(self):
        self.library.demo_device_close()


def paint(number):
    """A picture: rings around a point that moves."""
    picture = bytearray(WIDTH * HEIGHT)
    with strobe.zone("paint", 0xE08020):
        for y in range(HEIGHT):
            picture[y * WIDTH:(y + 1) * WIDTH] = row(y, number)
    return picture


def row(y, number):
    away = (y - HEIGHT / 2) ** 2
    return bytes([int(127 + 127 * math.sin(math.sqrt(away + (x - 10 * number) ** 2) / 4)) for x in range(WIDTH)])


def contrast(picture):
    return max(picture) - min(picture)


def grade(blur, device, number):
    picture = paint(number)
    before = contrast(picture)
    pixels = ctypes.create_string_buffer(bytes(picture), len(picture))
    with strobe.zone("native", 0x2080E0):
        blur(pixels, WIDTH, HEIGHT, 1 + number % 4)
    if device:
        with strobe.zone("device", 0x30A060):
            device.darken_corners(pixels)
    after = contrast(pixels.raw)
    strobe.plot("contrast", after)
    strobe.frame("picture")
    return before, after


def work(blur, device, numbers):
    for number in numbers:
        before, after = grade(blur, device, number)
        strobe.message(f"picture {number}: contrast {before} -> {after}")


def main():
    blur = load_library(sys.argv[1])
    device = Device(*sys.argv[2:]) if len(sys.argv) > 2 else None
    threads = [threading.Thread(target=work, args=(blur, device, range(first, PICTURES, 2)), name=f"grader {first}")
               for first in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if device:
        device.close()
    print(f"graded {PICTURES} pictures")


if __name__ == "__main__":
    main()
