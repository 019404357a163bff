# SPDX-License-Identifier: MIT
"""python -m microbenchmark.driver: matmuls on IREE's instrumented runtime, in a process of their own that is recorded.

Exit codes: 0 done; 1 a result is wrong, or nothing could be run or recorded; 2 usage.
"""
import argparse
import sys

from microbenchmark import experiment, output, plot


def make_parser():
    parser = argparse.ArgumentParser(prog="python -m microbenchmark.driver", description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("-c", "--check", action="store_true", help="only check that the results are right")
    add("-t", "--trace", metavar="FILE", help="keep the trace: FILE.tracy, or FILE.strobe")
    add("-d", "--dispatches", metavar="FILE.csv", help="keep the table of all dispatches, as iree-tracy-csvexport has it")
    add("--csv", metavar="FILE", help="the results as CSV")
    add("--json", metavar="FILE", help="the results and every iteration as JSON")
    add("--plot", metavar="FILE", help="the rates over the sizes: FILE.svg or FILE.png")
    add("--sizes", help="sizes of the matmuls: 32,64,... (default: 32 to 384)")
    add("--iterations", type=int, default=experiment.ITERATIONS, help="of each (default: %(default)s)")
    add("--device", default="local-sync", help="IREE's device: local-sync (default), local-task")
    add("--cold", action="store_true", help="inputs that no cache holds")
    return parser


def sizes_of(text, parser):
    from microbenchmark import matmul
    if not text:
        return matmul.SIZES
    try:
        sizes = [int(word) for word in text.split(",")]
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 1:
        parser.error(f"--sizes {text}: numbers from 1 on, with commas between")
    return sizes


def write(given, results):
    print(output.table(results), end="")
    if given.csv:
        output.write_csv(results, given.csv)
    if given.json:
        output.write_json(results, given.json)
    if given.plot:
        plot.write(results, given.plot, "matmul n x n x n", "n", "GMAC/s")


def main(words=None):
    parser = make_parser()
    given = parser.parse_args(words)
    if given.iterations < 1:
        parser.error(f"--iterations {given.iterations} is not a count")
    if given.plot and not given.plot.endswith((".svg", ".png")):
        parser.error(f"--plot {given.plot}: a file that ends in .svg or .png")
    try:
        from microbenchmark import matmul
        runs = [matmul.invocation(n, given.cold) for n in sizes_of(given.sizes, parser)]
        wanted = experiment.Experiment(runs, given.iterations, given.device)
        if given.check:
            for name in wanted.check():
                print(f"{name}: right")
            return 0
        write(given, wanted.run(given.trace, given.dispatches))
    except ImportError as problem:
        print(f"microbenchmark: {problem}: pip install iree-base-runtime iree-base-compiler numpy", file=sys.stderr)
        return 1
    except (experiment.ExperimentError, OSError) as problem:
        print(f"microbenchmark: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
