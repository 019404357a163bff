"""pytracy_app.py: functions traced by pytracy, which has Tracy's client in it.  SPDX-License-Identifier: MIT"""
import pytracy

CALLS = 300


def leaf(n):
    return n + 1


def work():
    total = 0
    for i in range(CALLS):
        total += leaf(i)
    return total


pytracy.enable_tracing(True)
work()
pytracy.enable_tracing(False)
