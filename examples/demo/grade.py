#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""grade.py LIBRARY: the Python demo. Makes pictures, has native code blur them, and looks at the result: Python's functions,
zones by hand and the C library's zones end up on one track."""
import ctypes
import math
import sys
import threading

import strobe

WIDTH, HEIGHT, PICTURES = 160, 90, 12


def load_library(path):
    blur = ctypes.CDLL(path).demo_blur
    blur.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_int]
    return blur


def paint(number):
    """A picture: rings around a point that moves."""
    picture = bytearray(WIDTH * HEIGHT)
    with strobe.zone("paint", 0xE08020):
        for y in range(HEIGHT):
            picture[y * WIDTH:(y + 1) * WIDTH] = row(y, number)
    return picture


def row(y, number):
    away = (y - HEIGHT / 2) ** 2
    return bytes(int(127 + 127 * math.sin(math.sqrt(away + (x - 10 * number) ** 2) / 4)) for x in range(WIDTH))


def contrast(picture):
    return max(picture) - min(picture)


def grade(blur, number):
    picture = paint(number)
    before = contrast(picture)
    pixels = ctypes.create_string_buffer(bytes(picture), len(picture))
    with strobe.zone("native", 0x2080E0):
        blur(pixels, WIDTH, HEIGHT, 1 + number % 4)
    after = contrast(pixels.raw)
    strobe.plot("contrast", after)
    strobe.frame("picture")
    return before, after


def work(blur, numbers):
    for number in numbers:
        before, after = grade(blur, number)
        strobe.message(f"picture {number}: contrast {before} -> {after}")


def main():
    blur = load_library(sys.argv[1])
    threads = [threading.Thread(target=work, args=(blur, range(first, PICTURES, 2)), name=f"grader {first}")
               for first in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"graded {PICTURES} pictures")


if __name__ == "__main__":
    main()
