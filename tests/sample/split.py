"""split.py SECONDS: a known split of CPU time between two functions, without a mark. It prints the true one, in percent, and a result."""
import sys
import time


def work(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def seventy(n):
    return work(7 * n)


def thirty(n):
    return sorted([work(3 * n)], key=lambda x: x)[0]  # through C and back


def main(seconds):
    spent, result = [0.0, 0.0], 0
    end = time.process_time() + seconds
    while time.process_time() < end:
        before = time.process_time()
        result = seventy(3000)
        between = time.process_time()
        result += thirty(3000)
        spent[0] += between - before
        spent[1] += time.process_time() - between
    print(round(100 * spent[0] / sum(spent), 2), result)


if __name__ == "__main__":
    main(float(sys.argv[1]))
