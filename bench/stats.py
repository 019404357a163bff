"""stats.py - what a series of paired rounds says: an estimate, its 95 % interval, and a verdict.  Standard library only.

The estimate is Hodges and Lehmann's: the median of all means of two rounds (a round with itself too). The interval goes with it: the means
that Wilcoxon's signed-rank test does not reject. It needs no normal noise, only that a round errs to both sides alike, which pairing
brings about: both sides of a ratio have the same disturbances. Ratios and times are looked at as logarithms, what may be zero as it is.

Rounds are added until the interval is narrow enough. tests/bench/test_stats.py counts how often such an interval holds the truth, with heavy
tails, drift and this stopping rule.
SPDX-License-Identifier: MIT"""
import functools
import math
import statistics

CONFIDENCE = 0.95
FEWEST = 6  # rounds: below, no interval of that confidence exists
SAME = (0.01, 0.02, 0.05)
WIDEST = 1.5  # an interval whose ends differ by more says nothing


@functools.lru_cache(maxsize=None)
def _cut(n, confidence):
    """How many of the sorted means lie outside on each side: the most that leaves the confidence; -1: none does."""
    ways = [1]  # ways[s]: subsets of 1..n with the sum s
    for rank in range(1, n + 1):
        ways = [(ways[s] if s < len(ways) else 0) + (ways[s - rank] if s >= rank else 0) for s in range(len(ways) + rank)]
    below, most = 0, (1 - confidence) / 2 * 2 ** n
    for s, count in enumerate(ways):
        below += count
        if below > most:
            return s - 1
    return -1


def _means(values):
    """All means of two, sorted."""
    return sorted((a + b) / 2 for i, a in enumerate(values) for b in values[i:])


def centre(values, confidence=CONFIDENCE):
    """(estimate, low, high); low and high are None where the rounds are too few."""
    means, cut = _means(values), _cut(len(values), confidence)
    if cut < 0:
        return statistics.median(means), None, None
    return statistics.median(means), means[cut], means[-1 - cut]


def estimate(values, plain=False):
    """(estimate, low, high) of positive values, or of any if plain."""
    if plain or min(values) <= 0:
        return centre(values)
    found = centre([math.log(v) for v in values])
    return tuple(one if one is None else math.exp(one) for one in found)


def is_narrow(value, low, high, share):
    """Is the interval's half width at most that share of the value?"""
    return low is not None and high - low <= 2 * share * abs(value)


def is_void(low, high, grain=0.0):
    """Do the ends differ by half and more, and by more than the grain that matters?"""
    if low is None or high - low <= grain:
        return False
    return low <= 0 < high or max(abs(low), abs(high)) > WIDEST * min(abs(low), abs(high))


def verdict(low, high, words=("faster", "slower")):
    """What an interval of new : old says, where less is better."""
    if low is None:
        return "can't tell"

    def within(share):
        return 1 / (1 + share) <= low and high <= 1 + share
    if within(SAME[0]):
        return f"the same within {100 * SAME[0]:.0f} %"
    if high < 1 or low > 1:
        return words[0] if high < 1 else words[1]
    return next((f"the same within {100 * share:.0f} %" for share in SAME if within(share)), "can't tell")


def difference_verdict(low, high, words=("faster", "slower")):
    """The same for an interval of new - old."""
    if low is None or low < 0 < high:
        return "can't tell"
    return "the same" if low == high == 0 else words[0] if high <= 0 else words[1]
