#!/usr/bin/env python3
"""test_reader.py [CLASS]: the Python writer and reader of traces against each other."""
import argparse
import os
import random
import struct
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import strobe_check  # noqa: E402
import strobe_format as sf  # noqa: E402
import strobe_reader as sr  # noqa: E402
import strobe_writer as sw  # noqa: E402


class Case(unittest.TestCase):
    """A folder for files, and ways to make and to check them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-reader-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "t.strobe")

    def generate(self, footer=True, index_every=256, block_events=40000, **options):
        """A random trace; returns its writer."""
        args = argparse.Namespace(zones=3000, threads=4, procs=2, seed=1, kinds="all")
        vars(args).update(options)
        writer = sw.Writer(self.path, index_every, block_events)
        sw.Generator(writer, args).run()
        writer.close(footer)
        return writer

    def writer(self, n_locs=4, **options):
        """A trace made by hand: process 1, thread 1, locations from 1 on."""
        writer = sw.Writer(self.path, **options)
        thread = writer.thread(1, 1)
        for i in range(1, n_locs + 1):
            writer.loc(1, i, f"zone {i}")
        return writer, thread

    def check(self, path=None, **options):
        """Facts of a file in which the checker finds nothing wrong."""
        checker = strobe_check.Checker(path or self.path, **options)
        self.assertEqual(checker.run(), [])
        return checker.facts

    def assert_facts(self, writer, facts):
        """The reader found what the writer wrote."""
        expected = writer.facts()
        for key in ("events", "kinds", "open", "unfinished", "lost_begin", "processes", "threads"):
            self.assertEqual(expected[key], facts[key], key)
        names = ("proc", "loc", "name", "count", "total", "self", "min", "max")
        self.assertEqual(expected["zones"], [{n: row[n] for n in names} for row in facts["zones"]])
        rows = {(row["proc"], row["track"]): row for row in facts["ledger"]}
        for row in expected["ledger"]:
            mine = rows[row["proc"], row["track"]]
            self.assertEqual(row, {key: mine[key] for key in row})
        for proc, track, cause, n in expected["other_losses"]:
            self.assertEqual(rows[proc, track]["dropped"][str(cause)], n)

    def contents(self):
        """The bytes of the file."""
        with open(self.path, "rb") as file:
            return file.read()

    def replace(self, data):
        """Other bytes for the file."""
        with open(self.path, "wb") as file:
            file.write(data)


class Agree(Case):
    """Random traces."""

    def test_zones(self):
        for seed in range(4):
            self.assert_facts(self.generate(kinds="zones", seed=seed), self.check(must_be_closed=True))

    def test_all_kinds(self):
        for seed in range(6):
            self.assert_facts(self.generate(seed=seed), self.check(must_be_closed=True))

    def test_many_blocks(self):
        """Indices of several levels."""
        self.assert_facts(self.generate(block_events=100, index_every=3), self.check(must_be_closed=True))

    def test_no_footer(self):
        writer = self.generate(footer=False, block_events=500, index_every=4)
        facts = self.check()
        self.assertFalse(facts["closed"])
        self.assert_facts(writer, facts)

    def test_listed_stack(self):
        """A writer may list all open zones instead of those that end."""
        with mock.patch.object(sw.Writer.__init__, "__defaults__", (256, sf.EVENTS_MAX, sf.SCHEMA, True)):
            writer = self.generate(block_events=300)
        self.assert_facts(writer, self.check())

    def test_zones_are_the_facts(self):
        """zones() and events() say the same as the sums."""
        facts = self.generate(block_events=700).facts()
        zones = list(sr.Trace(self.path).zones())
        self.assertEqual(sum(row["count"] for row in facts["zones"]), sum(z.state == sr.ENDED for z in zones))
        self.assertEqual(sum(row["self"] for row in facts["zones"]), sum(z.self for z in zones))
        self.assertEqual(facts["unfinished"], sum(z.state == sr.UNFINISHED for z in zones))
        self.assertEqual(facts["open"], sum(z.state == sr.OPEN for z in zones))
        events = list(sr.Trace(self.path).events())
        self.assertEqual(len(events), facts["events"] - facts["kinds"]["3"] - facts["kinds"]["26"])
        texts = [e.fields[2] for e in events if e.kind == 8]
        self.assertIn(b"one two three", texts)


class Edges(Case):
    """Traces made by hand."""

    def row(self, facts, loc):
        """(count, total, self, min, max) of a location."""
        row = next(r for r in facts["zones"] if r["loc"] == loc)
        return tuple(row[key] for key in ("count", "total", "self", "min", "max"))

    def test_empty(self):
        sw.Writer(self.path).close()
        self.assertEqual(self.check()["events"], 0)

    def test_nested(self):
        writer, thread = self.writer()
        thread.begin(1, 100)
        thread.begin(2, 110)
        thread.end(150)
        thread.begin(2, 160)
        thread.end(170)
        thread.end(200)
        writer.close()
        facts = self.check()
        self.assertEqual(self.row(facts, 1), (1, 100, 50, 100, 100))
        self.assertEqual(self.row(facts, 2), (2, 50, 50, 10, 40))

    def test_unfinished(self):
        """A zone whose end is missing is in no sum; its finished children aren't its parent's."""
        writer, thread = self.writer()
        thread.begin(1, 100)
        thread.begin(2, 110)
        thread.begin(3, 120)
        thread.end(130)
        thread.end_pop(1, 200)
        writer.close()
        facts = self.check()
        self.assertEqual(self.row(facts, 1), (1, 100, 100, 100, 100))
        self.assertEqual([row["loc"] for row in facts["zones"]], [1, 3])
        self.assertEqual(facts["unfinished"], 1)

    def test_open_and_lost(self):
        writer, thread = self.writer()
        thread.end_lost(3, 90)
        thread.begin(1, 100)
        thread.begin(2, 110)
        writer.close(footer=False)
        facts = self.check()
        self.assertEqual([(z["loc"], z["begin"], z["depth"]) for z in facts["open_zones"]], [(1, 100, 0), (2, 110, 1)])
        self.assertEqual((facts["lost_begin"], facts["zones"]), (1, []))

    def test_backwards(self):
        """An end before its begin: duration 0. Ticks that go back need no more than a varint."""
        writer, thread = self.writer()
        thread.begin(1, 1 << 40)
        thread.begin(2, (1 << 40) + 65535)
        thread.end((1 << 40) + 65534)
        thread.end(1 << 39)
        writer.close()
        facts = self.check()
        self.assertEqual(self.row(facts, 1), (1, 0, 0, 0, 0))
        self.assertEqual(self.row(facts, 2), (1, 0, 0, 0, 0))

    def test_across_blocks(self):
        """Zones that end in a later block than they began."""
        writer, thread = self.writer()
        for depth in range(1, 5):
            thread.begin(depth, 100 * depth)
            writer.flush()
        for depth in range(4):
            thread.end(1000 + depth)
            writer.flush()
        writer.close()
        facts = self.check()
        self.assertEqual(self.row(facts, 4), (1, 600, 600, 600, 600))
        self.assertEqual(self.row(facts, 1), (1, 903, 903 - 802, 903, 903))

    def test_gap_keeps_outer_zones(self):
        """After a gap the head says which zones are open."""
        writer, thread = self.writer()
        thread.begin(1, 100)
        thread.begin(2, 110)
        thread.lose(7, keep=1)
        thread.begin(3, 200)
        thread.end(210)
        thread.end(300)
        writer.close()
        facts = self.check()
        self.assertEqual(self.row(facts, 1), (1, 200, 190, 200, 200))
        self.assertEqual(facts["unfinished"], 1)
        self.assertEqual(facts["ledger"][0]["hole_words"], 7)
        self.assertEqual(facts["ledger"][0]["emitted"], 5 + 7)

    def test_many_locations(self):
        """More than 192 in a part: the index is in side."""
        writer, thread = self.writer(n_locs=300)
        for i in range(1, 301):
            thread.begin(i, 1000 * i)
            thread.end(1000 * i + i)
        writer.close()
        facts = self.check()
        self.assertEqual([row["total"] for row in facts["zones"]], list(range(1, 301)))

    def test_deep(self):
        """Deeper than the level of detail goes, with a summary."""
        writer, thread = self.writer()
        tick = 1 << 50
        for _ in range(10):
            for depth in range(40):
                tick += 70000
                thread.begin(1 + depth % 4, tick)
            for _ in range(40):
                tick += 3
                thread.end(tick)
        writer.close()
        checker = strobe_check.Checker(self.path)
        self.assertEqual(checker.run(), [])
        self.assertEqual(checker.n_summaries, 1)
        self.assert_facts(writer, checker.facts)

    def test_fiber_over_threads(self):
        """A fiber's zone begins on one thread and ends on another, below a thread's own zone."""
        writer, one = self.writer()
        two = writer.thread(1, 2)
        two.begin(4, 5)
        one.event("fiber_enter", 10, 77)
        one.begin(1, 20)
        one.begin(2, 25)
        one.event("fiber_leave", 30)
        one.begin(3, 31)
        one.end(33)
        two.event("fiber_enter", 40, 77)
        two.end_lost(1, 60)
        two.end_lost(2, 61)
        two.event("fiber_leave", 70)
        two.end(80)
        writer.close()
        facts = self.check()
        self.assertEqual(self.row(facts, 1), (1, 40, 40, 40, 40))
        self.assertEqual(self.row(facts, 4), (1, 75, 75, 75, 75))
        self.assertEqual((facts["unfinished"], facts["lost_begin"]), (1, 1))
        self.assert_facts(writer, facts)

    def test_fiber_over_blocks(self):
        """The head of a part says which fiber runs."""
        writer, thread = self.writer()
        thread.event("fiber_enter", 10, 77)
        thread.begin(1, 20)
        writer.flush()
        thread.end(50)
        writer.close()
        self.assertEqual(self.row(self.check(), 1), (1, 30, 30, 30, 30))

    def test_pieces_and_extras(self):
        """Texts in pieces, also across blocks; what belongs to a zone is with it."""
        writer, thread = self.writer()
        thread.begin(1, 10)
        thread.event("str_piece", 11, "a")
        writer.flush()
        thread.event("callstack", 12, [1 << 63, 5, (1 << 64) - 1])
        thread.event("zone_value", 13, 9)
        thread.event("zone_text", 14, "b")
        thread.end(20)
        writer.close()
        self.check()
        zone = next(sr.Trace(self.path).zones())
        self.assertEqual(zone.extras, ((6, 9), (4, b"ab")))
        events = list(sr.Trace(self.path).events())
        self.assertEqual(events[1].callstack, [1 << 63, 5, (1 << 64) - 1])
        self.assertEqual(events[2], sr.Event(1, 1, 14, 4, [b"ab"], None))

    def test_what_names_its_zone_belongs_to_that_zone(self):
        """Kinds 50 to 53: the innermost open zone of the location, in another block too, in a fiber too; or none."""
        writer, thread = self.writer()
        for start in (0, 100):
            thread.begin(1, start + 10)
            thread.begin(2, start + 11)
            thread.event("zone_text_at", start + 12, 1, "outer")
            writer.flush()
            thread.begin(2, start + 13)
            thread.event("zone_value_at", start + 14, 1, 7)
            thread.event("zone_color_at", start + 15, 2, 0x123456)
            thread.event("str_piece", start + 16, "re")
            thread.event("zone_name_at", start + 17, 1, "named")
            thread.event("zone_text_at", start + 18, 3, "nobody's")
            for tick in (20, 21, 22):
                thread.end(start + tick)
            if not start:
                thread.event("fiber_enter", 90, 5)
        writer.close()
        self.check()
        expected = [(2, ((7, 0x123456),)), (2, None), (1, ((4, b"outer"), (6, 7), (5, b"renamed")))]
        self.assertEqual([(zone.loc, zone.extras) for zone in sr.Trace(self.path).zones()], 2 * expected)

    def test_unknown_kind(self):
        """The schema says how to step over a kind that the reader doesn't know."""
        letters = "uidnlsa"
        names = ",".join(f"f{i}" for i in range(7))
        writer, thread = self.writer(schema=sf.SCHEMA + f"40 later {letters} {names}\n")
        writer.record("string", 5, "name", proc=1)
        with mock.patch.dict(sw.KINDS, {40: ("later", letters, [])}):
            thread.event(40, 10, 1, -(1 << 63), 1.5, 5, 1, "text", [3, 2])
        writer.close()
        self.assertEqual(self.check()["kind_names"], {"later": 1})
        event = next(sr.Trace(self.path).events())
        self.assertEqual(event.fields, [1, -(1 << 63), 1.5, 5, 1, b"text", [3, 2]])

    def test_kind_records(self):
        """A kind for which the head has no line is described by a record before its first."""
        writer, thread = self.writer()
        writer.record("kind", "88 code uuus start,offset,total,bytes")
        with mock.patch.dict(sw.KINDS, {88: ("code", "uuus", [])}):
            writer.record(88, 0x1000, 0, 2, b"\x90\xc3", proc=1)
        thread.begin(1, 10)
        writer.close()
        self.assertEqual(self.check()["events"], 1)
        code = [r for r in sr.Trace(self.path).records if r.name == "code"]
        self.assertEqual([(r.proc, r.fields) for r in code], [(1, [0x1000, 0, 2, b"\x90\xc3"])])

    def test_unknown_block(self):
        writer, thread = self.writer()
        writer.flush()
        writer.block(9, b"", b"something later")
        thread.begin(1, 10)
        writer.close()
        self.assertEqual(self.check()["events"], 1)

    def test_recovered(self):
        """A trailer in the middle is no block; the last footer counts."""
        writer, thread = self.writer(index_every=2)
        thread.begin(1, 10)
        writer.flush()
        writer.write_footer()
        writer.record("recording", 15, 2)
        thread.end(20)
        writer.close()
        facts = self.check(must_be_closed=True)
        self.assertEqual((self.row(facts, 1)[1], facts["skipped"]), (10, []))

    def test_torn_block_then_recovered(self):
        """A half-written block that recovery left behind costs nothing else."""
        writer, thread = self.writer()
        thread.begin(1, 10)
        writer.flush()
        writer.file.write(sf.BLOCK_MAGIC + bytes(60))
        thread.end(20)
        writer.close()
        facts = self.check()
        self.assertEqual(len(facts["skipped"]), 1)
        self.assertEqual(self.row(facts, 1)[1], 10)

    def test_time(self):
        """The axis: mult from the points of each piece, a jump starts a piece."""
        writer, _ = self.writer()
        for tick, mono, jump in ((1000, 5000, 0), (4000, 6201, 0), (90000, 100, 1), (96000, 2502, 0)):
            writer.record("clock_sync", 1, tick, mono, 0, 0, jump)
        writer.close()
        trace = sr.Trace(self.path)
        mult = (1201 << 32) // 3000
        self.assertEqual(trace.mult, mult)
        self.assertEqual(trace.ticks_ns(3000), 3000 * mult >> 32)
        self.assertEqual(trace.tick_ns(999), 5000 + (-mult >> 32))
        self.assertEqual(trace.tick_ns(90001), 100 + (mult >> 32))

    def test_refused(self):
        """What is no trace of this version is refused in words."""
        sw.Writer(self.path).close()
        data = self.contents()
        for bad, words in ((b"", "shorter"), (b"x" + data[1:], "magic"), (data[:8] + b"\3" + data[9:], "version 3"),
                           (data[:200] + b"x" + data[201:], "hash")):
            self.replace(bad)
            with self.assertRaisesRegex(sf.FormatError, words):
                sr.Trace(self.path)


class Cut(Case):
    """Files that end anywhere."""

    def test_cut(self):
        self.generate(zones=600, block_events=250, index_every=3)
        data = self.contents()
        ends = [block.end for block in sr.Trace(self.path).blocks]
        last = 0
        for size in list(range(sf.HEAD_BYTES, len(data), 331)) + [len(data) - 1, len(data) - 32]:
            self.replace(data[:size])
            facts = self.check()
            self.assertEqual(facts["blocks"], sum(end <= sf.padded(size) for end in ends), size)
            self.assertFalse(facts["closed"])
            if size < len(data) - 32:
                self.assertGreaterEqual(facts["events"], last)
                last = facts["events"]

    def test_zero_tail(self):
        """A power cut may leave zeros instead of the last bytes."""
        self.generate(zones=600, block_events=250)
        data = self.contents()
        self.replace(data[:-3000] + bytes(3000))
        self.check()

    def test_before_head(self):
        self.generate(zones=10)
        data = self.contents()
        for size in (0, 1, 4095):
            self.replace(data[:size])
            self.assertRaises(sf.FormatError, sr.Trace, self.path)


class Holes(Case):
    """Files with damage in their middle."""

    def test_zero_pages(self):
        """Whatever page is lost: the rest is read, and what is missing is known."""
        truth = self.generate(zones=2000, block_events=250, index_every=3).facts()
        data = self.contents()
        n_closed = 0
        for at in range(sf.FIRST_BLOCK // 4096 * 4096, len(data), 4096):
            self.replace(data[:at] + bytes(len(data[at:at + 4096])) + data[at + 4096:])
            facts = self.check(holes_allowed=True)
            self.assertTrue(facts["holes"] or facts["cut_at"])
            self.assert_ledger(truth, facts)
            if facts["lost_in_holes"] is not None:
                n_closed += 1
                self.assertEqual(facts["events"] + facts["lost_in_holes"], truth["events"])
        self.assertGreater(n_closed, 2)

    def assert_ledger(self, truth, facts):
        """No thread has more than it had; gaps only where events are missing."""
        rows = {(row["proc"], row["track"]): row for row in facts["ledger"]}
        for row in truth["ledger"]:
            mine = rows.get((row["proc"], row["track"]))
            if mine and mine["stored"] == row["stored"]:
                self.assertEqual(mine["gap_words"], row["gap_words"])
            elif mine:
                self.assertLess(mine["stored"], row["stored"])

    def test_told(self):
        """Without leave, a hole is a disagreement."""
        self.generate(zones=2000, block_events=250)
        data = bytearray(self.contents())
        data[sr.Trace(self.path).blocks[3].offset + 80] ^= 1
        self.replace(data)
        found = strobe_check.Checker(self.path).run()
        self.assertEqual(len(found), 1)
        self.assertIn("hole of 1 blocks from seq 3", found[0])

    def test_one_byte(self):
        """A wrong byte anywhere costs one block at most (or is in padding)."""
        self.generate(zones=500, block_events=200, index_every=3)
        data = self.contents()
        n_blocks = len(sr.Trace(self.path).blocks)
        chance = random.Random(7)
        for _ in range(60):
            bad = bytearray(data)
            at = chance.randrange(sf.FIRST_BLOCK, len(data) - 32)
            bad[at] ^= 1 << chance.randrange(8)
            self.replace(bad)
            checker = strobe_check.Checker(self.path, holes_allowed=True)
            found = checker.run()
            if checker.facts["blocks"] == n_blocks:
                self.assertTrue("padding" in found[0] and len(found) == 1)
            else:
                self.assertEqual((found, checker.facts["blocks"]), ([], n_blocks - 1))

    def test_exact_gap(self):
        """Positions tell how many words a lost block had."""
        writer, thread = self.writer()
        for i in range(30):
            thread.begin(1, 10 * i)
            thread.end(10 * i + 5)
            if i % 10 == 9:
                writer.flush()
        writer.close()
        data = bytearray(self.contents())
        second = [b for b in sr.Trace(self.path).blocks if b.type == sf.EVENTS][1]
        data[second.offset] = 0
        self.replace(data)
        facts = self.check(holes_allowed=True)
        row = facts["ledger"][0]
        self.assertEqual((row["stored"], row["hole_words"], row["emitted"]), (40, 20, 60))
        self.assertEqual(facts["lost_in_holes"], 20)
        self.assertEqual(facts["holes"][0]["n_blocks"], 1)


def add_one(function, position):
    """The same function with one element of its tuple (or the number it returns) increased."""
    def changed(*args, **kwargs):
        value = function(*args, **kwargs)
        if isinstance(value, tuple):
            return value[:position] + (value[position] + 1,) + value[position + 1:]
        return value + 1
    return changed


class Finds(Case):
    """The checker finds what is wrong."""

    def assert_found(self, words, **options):
        """The checker says something that has these words."""
        found = strobe_check.Checker(self.path, **options).run()
        self.assertTrue(any(words in text for text in found), f"{words!r} not in {found[:5]}")

    def make(self, zones=1500, **options):
        """A trace with summaries, several blocks, and an index."""
        return self.generate(zones=zones, block_events=1200, threads=1, procs=1, index_every=3, kinds="zones", **options)

    def test_histogram(self):
        with mock.patch.object(sw, "histogram_bucket", add_one(sw.histogram_bucket, 0)):
            self.make()
        self.assert_found("summary of location")

    def test_detail(self):
        real = sw.Part.add_busy
        short = staticmethod(lambda buckets, shift, begin, end: real(buckets, shift, begin, end - 1))
        with mock.patch.object(sw.Part, "add_busy", short):
            self.make()
        self.assert_found("detail of depth")

    def test_tick_min(self):
        with mock.patch.object(sw.Part, "tick_min", add_one(sw.Part.tick_min, 0)):
            self.make()
        self.assert_found("tick_min")

    def test_footer(self):
        for field in ("kinds", "losses"):
            writer = sw.Writer(self.path)
            getattr(writer, field)[5] += 1
            writer.close()
            self.assert_found(f"footer: {field}")

    def test_stack(self):
        """A head that disagrees with the events before."""
        for change, words in ((lambda t: t.stack.append([1, 5, 0]), "zones open at its start"),
                              (lambda t: t.stack[0].__setitem__(2, 99), "open zone 0"),
                              (lambda t: setattr(t, "fiber", 3), "fiber 3 at its start")):
            writer, thread = self.writer()
            thread.begin(1, 10)
            writer.flush()
            change(thread)
            thread.event("message", 15, 0, 0, "x")
            if not thread.fiber:
                thread.end(20)
            writer.close()
            self.assert_found(words)

    def test_end_without_begin(self):
        writer, thread = self.writer()
        thread.emit(sf.END, 10)
        writer.close()
        self.assert_found("an end without an open zone")

    def test_twice(self):
        """A word that is stored twice."""
        writer, thread = self.writer()
        thread.begin(1, 10)
        writer.flush()
        thread.pos = 0
        thread.end(20)
        writer.close()
        self.assert_found("1 words are stored twice")

    def test_no_name(self):
        writer, thread = self.writer()
        thread.begin(99, 10)
        thread.event("frame", 11, 98)
        writer.close()
        self.assert_found("loc 99 is used")
        self.assert_found("string 98 is used")

    def test_name_too_late(self):
        writer, thread = self.writer()
        thread.begin(99, 10)
        writer.flush()
        writer.loc(1, 99, "late")
        writer.close()
        self.assert_found("but its record is in the block at")

    def test_index(self):
        """Entries that are wrong or missing."""
        with mock.patch.object(sw.Writer, "list_entry", lambda self, entry, level=1: None):
            self.make()
        self.assert_found("can't be reached")
        real = sw.Writer.list_entry

        def wrong(writer, entry, level=1):
            fields = sf.ENTRY.unpack(entry)
            real(writer, sf.ENTRY.pack(*fields[:4], fields[4] + 1, *fields[5:]), level)
        with mock.patch.object(sw.Writer, "list_entry", wrong):
            self.make()
        self.assert_found("events and zones")

    def test_header(self):
        """Fields of a block's header, with hashes that are right."""
        for offset, words in ((7, "flags"), (28, "n_items"), (40, "tick_max"), (48, "prev_index")):
            self.make(zones=300)
            block = next(b for b in sr.Trace(self.path).blocks if b.type == sf.EVENTS)
            data = bytearray(self.contents())
            data[block.offset + offset] ^= 1
            head = data[block.offset:block.offset + 64]
            data[block.offset + 64:block.offset + 72] = struct.pack("<Q", sw.xxh64(head))
            self.replace(data)
            self.assert_found(words)

    def test_not_closed(self):
        self.make(footer=False)
        self.assert_found("not closed", must_be_closed=True)

    def test_any_payload(self):
        """Whatever is in a block with right hashes: a problem is told, nothing is thrown."""
        self.generate(zones=400, block_events=300)
        data = self.contents()
        blocks = [b for b in sr.Trace(self.path).blocks if b.type in (sf.EVENTS, sf.RECORDS)]
        chance = random.Random(5)
        for _ in range(150):
            bad, block = bytearray(data), chance.choice(blocks)
            start, stop = block.offset + sf.BLOCK_HEAD_BYTES, block.offset + block.bytes
            bad[chance.randrange(start, stop)] ^= 1 << chance.randrange(8)
            bad[block.offset + 56:block.offset + 64] = struct.pack("<Q", sw.xxh64(bad[start:stop]))
            bad[block.offset + 64:block.offset + 72] = struct.pack("<Q", sw.xxh64(bad[block.offset:block.offset + 64]))
            self.replace(bad)
            strobe_check.Checker(self.path).run()


if __name__ == "__main__":
    unittest.main()
