"""test_stats.py - bench/stats.py on made-up rounds whose truth is known.  SPDX-License-Identifier: MIT"""
import math
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import stats  # noqa: E402

EXPERIMENTS, TRUTH, MOST_ROUNDS = 2000, 1.07, 24


def even(rng, i):
    return rng.gauss(0, 0.02), rng.gauss(0, 0.02)


def heavy_tails(rng, i):
    """Cauchy: neither a mean nor a variance."""
    return tuple(0.01 * math.tan(math.pi * (rng.random() - 0.5)) for _ in "ab")


def one_sided(rng, i):
    """Other programs only ever make a run slower: a third of the runs, some by ten times."""
    return tuple(abs(rng.gauss(0, 0.01)) + (math.log(rng.paretovariate(1.2)) if rng.random() < 0.33 else 0) for _ in "ab")


def drift(rng, i):
    """The machine gets slower by 2 % per run, also from a round's first run to its second; the order changes from round to round."""
    first, second = 0.04 * i, 0.04 * i + 0.02
    a, b = (first, second) if i % 2 == 0 else (second, first)
    return a + rng.gauss(0, 0.02), b + rng.gauss(0, 0.02)


def bouts(rng, i):
    """Every third round is ten times as noisy, and slower by half."""
    noise, shift = (0.2, 0.4) if i // 4 % 3 == 0 else (0.02, 0)
    return rng.gauss(shift, noise), rng.gauss(shift, noise)


def coverage(noise, share):
    """How often the interval has the truth in it, and how many rounds it took: until it is narrow, as bench/measure.py does."""
    rng, hits, rounds = random.Random(1), 0, 0
    for _ in range(EXPERIMENTS):
        ratios = []
        while len(ratios) < MOST_ROUNDS:
            a, b = noise(rng, len(ratios))
            ratios.append(TRUTH * math.exp(a - b))
            if len(ratios) >= stats.FEWEST and stats.is_narrow(*stats.estimate(ratios), share):
                break
        _, low, high = stats.estimate(ratios)
        hits += low <= TRUTH <= high
        rounds += len(ratios)
    return hits / EXPERIMENTS, rounds / EXPERIMENTS


class Estimates(unittest.TestCase):
    def test_the_estimate_is_the_median_of_all_means_of_two(self):
        self.assertEqual(stats.centre([1, 2, 6])[0], 2.75)  # of 1, 1.5, 2, 3.5, 4, 6

    def test_the_cut_is_that_of_the_signed_rank_tables(self):
        tables = {6: 0, 7: 2, 8: 3, 10: 8, 15: 25, 20: 52, 25: 89}  # two-sided, 5 %
        self.assertEqual({n: stats._cut(n, 0.95) for n in tables}, tables)

    def test_five_rounds_have_no_interval(self):
        self.assertEqual(stats.estimate([1.0] * 5), (1.0, None, None))
        self.assertEqual(stats.estimate([1.0] * stats.FEWEST), (1.0, 1.0, 1.0))

    def test_a_spoilt_round_in_eight_moves_the_estimate_little(self):
        value, low, high = stats.estimate([1.01, 1.02, 1.03, 1.02, 1.01, 1.02, 1.03, 40.0])
        self.assertTrue(1.01 <= low <= value <= 1.03)

    def test_zero_and_negative_values_are_taken_as_they_are(self):
        self.assertEqual(stats.estimate([0.0] * 8), (0.0, 0.0, 0.0))
        self.assertEqual(stats.estimate([-1.0] * 8, plain=True), (-1.0, -1.0, -1.0))

    def test_an_interval_whose_ends_differ_by_half_is_void(self):
        self.assertTrue(stats.is_void(1.0, 1.6))
        self.assertFalse(stats.is_void(1.0, 1.4))
        self.assertTrue(stats.is_void(-0.1, 0.1))
        self.assertFalse(stats.is_void(-0.1, 0.1, grain=0.3))

    def test_verdicts(self):
        for low, high, words in ((0.995, 1.004, "the same within 1 %"), (0.8, 0.9, "faster"), (1.02, 1.2, "slower"), (0.99, 1.04, "the same within 5 %"),
                                 (0.9, 1.2, "can't tell"), (None, None, "can't tell")):
            self.assertEqual(stats.verdict(low, high), words)
        for low, high, words in ((-1, 2, "can't tell"), (0, 0, "the same"), (-2, -1, "faster"), (1, 2, "slower"), (None, None, "can't tell")):
            self.assertEqual(stats.difference_verdict(low, high), words)


class Coverage(unittest.TestCase):
    def hold(self, noise):
        for share in (0.0, 0.02):  # all rounds; stopped as soon as it is narrow
            found, rounds = coverage(noise, share)
            print(f"{noise.__name__}, {f'until ±{100 * share:.0f} %' if share else 'all rounds'}: {100 * found:.1f} % of the intervals hold the truth, {rounds:.1f} rounds")
            self.assertGreaterEqual(found, 0.93)

    def test_intervals_hold_the_truth_with_even_noise(self):
        self.hold(even)

    def test_intervals_hold_the_truth_with_heavy_tails(self):
        self.hold(heavy_tails)

    def test_intervals_hold_the_truth_when_runs_only_get_slower(self):
        self.hold(one_sided)

    def test_intervals_hold_the_truth_while_the_machine_drifts(self):
        self.hold(drift)

    def test_intervals_hold_the_truth_through_bouts_of_noise(self):
        self.hold(bouts)


if __name__ == "__main__":
    unittest.main()
