"""objects.py N: makes and drops small objects, and says the CPU time of each.  SPDX-License-Identifier: MIT"""
import sys
import time


def make(n):
    kept = [None] * 64
    for i in range(n):
        kept[i & 63] = [i, i + 1, str(i)]


def main(n):
    make(1000)
    begin = time.process_time()
    make(n)
    print('BENCH {"ns": %.3f}' % ((time.process_time() - begin) * 1e9 / n))


if __name__ == "__main__":
    main(int(sys.argv[1]))
