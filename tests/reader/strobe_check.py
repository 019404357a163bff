"""strobe_check.py - holds a trace against docs/file-format.md: everything the file says about itself is worked
out again from the events, and compared. Used by strobe_reader.py --check.
"""
import collections
import struct

import strobe_format as sf
import strobe_blocks
import strobe_paired
import strobe_reader
from strobe_format import FormatError, read_varint

TYPE_NAMES = {sf.EVENTS: "EVENTS", sf.RECORDS: "RECORDS", sf.INDEX: "INDEX", sf.FOOTER: "FOOTER", sf.LOD: "LOD",
              sf.PAIRED: "PAIRED", sf.PAIRED_LOD: "PAIRED_LOD"}


def name_of(block):
    """How a block is called in a message."""
    return f"{TYPE_NAMES.get(block.type, f'type {block.type}')} block at {block.offset}"


class Checker:
    """One file; run() gives the list of disagreements."""

    def __init__(self, path, must_be_closed=False, holes_allowed=False):
        self.trace = strobe_reader.Trace(path)
        self.must_be_closed, self.holes_allowed = must_be_closed, holes_allowed
        self.totals = strobe_reader.Totals()
        self.sums = {}      # offset: BlockSum of an EVENTS block
        self.facts = None
        self.n_summaries = 0
        self.n_paired = 0   # rows of paired tracks
        self.lods = []      # LodSum of each LOD block
        self.last_ticks = {}    # (proc, track): last tick of its last part with events
        self.n_lost_known = None     # events, if footer and holes are there
        self.nested = collections.Counter()     # (proc, loc): nested sums of all parts; None: a part does not know its own
        self.trace.want_nested = True

    def problem(self, text):
        """Note a disagreement."""
        self.trace.problem(text)

    def expect(self, right, text):
        """Note a disagreement unless it is right."""
        if not right:
            self.trace.problem(text)

    def run(self):
        """All checks."""
        trace = self.trace
        self.check_file()
        self.check_blocks()
        self.read_lods()
        for part in trace.parts():
            self.totals.add_part(part)
            self.check_part(part)
        self.check_all_nested()
        self.check_event_blocks()
        for lod in self.lods:
            lod.compare(self)
        self.n_paired = strobe_paired.check(trace, self.problem)
        self.facts = strobe_reader.build_facts(trace, self.totals, *strobe_reader.finish(trace, self.totals))
        self.check_words()
        self.check_names()
        self.check_records()
        footer = self.check_footer() if trace.closed else None
        self.facts["lost_in_holes"] = self.n_lost_known
        self.check_indices(footer)
        return trace.problems

    def summary(self):
        """One line for a file that is right."""
        trace = self.trace
        end = "closed" if trace.closed else "not closed" if trace.cut_at is None else f"cut at {trace.cut_at}"
        return (f"right: {self.facts['events']} events in {len(trace.blocks)} blocks, {self.n_summaries} summaries, {self.n_paired} paired rows, "
                f"{len(trace.holes)} holes, {end}")

    # -- the file and its blocks -------------------------------------------------------------------------

    def check_file(self):
        """File head, trailer, holes."""
        trace = self.trace
        fixed = (trace.head_bytes, trace.ledger_off, trace.ledger_bytes, trace.first_block)
        self.expect(fixed == (sf.HEAD_BYTES, sf.LEDGER_OFF, sf.LEDGER_BYTES, sf.FIRST_BLOCK),
                    f"file head: head_bytes, ledger_off, ledger_bytes, first_block are {fixed}")
        self.expect(not any(trace.head_reserved), "file head: reserved bytes aren't 0")
        self.expect(b"\0" not in trace.session and "\0" not in trace.schema_text, "file head: NUL inside a text")
        for number, kind in sf.parse_schema(sf.SCHEMA).items():
            self.expect(trace.schema.get(number) == kind, f"schema: kind {number} is {trace.schema.get(number)}")
        if not self.holes_allowed:
            for hole in trace.holes:
                self.problem(f"hole of {hole.n_blocks} blocks from seq {hole.seq} on, bytes {hole.offset}-{hole.end}")
        if trace.closed:
            lost = any(hole.offset <= trace.trailer < hole.end for hole in trace.holes)
            self.expect(lost or trace.footer_block is not None and trace.footer_block is trace.blocks[-1],
                        f"trailer: footer at {trace.trailer}, which isn't the last block or no FOOTER")
        elif self.must_be_closed:
            self.problem("not closed: no trailer at the end")
        self.check_slots()

    def check_slots(self):
        """The reserved ledger: at most one slot may be half written."""
        trace, used, right = self.trace, 0, 0
        for number in (0, 1):
            start = trace.ledger_off + number * sf.SLOT_BYTES
            slot = trace.data[start:start + sf.SLOT_BYTES]
            if len(slot) < sf.SLOT.size or not any(slot[:sf.SLOT.size]):
                continue
            used += 1
            magic, _, size, _, stored = sf.SLOT.unpack_from(slot)
            data = slot[sf.SLOT.size:sf.SLOT.size + size]
            right += magic == sf.SLOT_MAGIC and strobe_blocks.xxh64(data) == stored
        self.expect(used < 2 or right, "reserved ledger: both slots are damaged")

    def check_blocks(self):
        """What every block's header says."""
        trace, last_index = self.trace, 0
        for block in trace.blocks:
            what = name_of(block)
            self.expect(block.flags == 0 or block.type in (sf.EVENTS, sf.LOD, sf.PAIRED_LOD) and block.flags == 1 and (trace.version > 1 or block.type != sf.EVENTS), f"{what}: flags {block.flags}")
            self.expect((block.level > 0) == (block.type == sf.INDEX), f"{what}: level {block.level}")
            self.expect(block.head_bytes == 0 or block.type not in TYPE_NAMES or block.type in (sf.EVENTS, sf.LOD),
                        f"{what}: has a head")
            self.expect(block.head_raw <= sf.BLOCK_MAX, f"{what}: head_raw {block.head_raw}")
            self.expect(block.tick_min <= block.tick_max, f"{what}: tick_min {block.tick_min} > {block.tick_max}")
            self.expect(not any(trace.data[block.offset + block.bytes:block.end]), f"{what}: padding isn't 0")
            if not trace.holes:
                own = block.offset if block.type == sf.INDEX else last_index    # a recovery lists everything anew
                self.expect(block.prev_index in (last_index, own),
                            f"{what}: prev_index {block.prev_index}, the last INDEX is at {last_index}")
            if block.type == sf.INDEX:
                last_index = block.offset

    def check_event_blocks(self):
        """What the headers of EVENTS blocks say, against their events."""
        for block in self.trace.blocks:
            if block.type != sf.EVENTS:
                continue
            sums, what = self.sums.get(block.offset), name_of(block)
            if sums is None:
                self.expect(block.n_items == 0, f"{what}: n_items {block.n_items}, but no part")
                continue
            self.expect(block.n_items == sums.n_events, f"{what}: n_items {block.n_items}, has {sums.n_events}")
            self.expect(sums.n_events <= sf.EVENTS_MAX, f"{what}: {sums.n_events} events")
            if not sums.n_events:
                continue
            self.expect(block.tick_max == sums.high, f"{what}: tick_max {block.tick_max}, latest is {sums.high}")
            self.expect(block.tick_min <= sums.low and (sums.unsure or block.tick_min >= sums.low_open),
                        f"{what}: tick_min {block.tick_min}, earliest is {sums.low} (with open zones {sums.low_open})")

    # -- parts -------------------------------------------------------------------------------------------

    def check_part(self, part):
        """One part: its head against its events."""
        what = self.trace.where(part)
        self.expect(part.track > 0, f"{what}: track 0")
        self.expect(part.n_events or part.n_words, f"{what}: nothing in it")
        self.expect(part.n_words >= part.n_events, f"{what}: {part.n_events} events in {part.n_words} words")
        self.expect(part.first_step == 0, f"{what}: its first event is not at first_tick")
        self.expect(part.span == part.last_tick - part.first_tick,
                    f"{what}: span {part.span}, is {part.last_tick - part.first_tick}")
        self.expect(part.flags & 3 != 2 and part.flags & 12 != 8 and part.flags < 16, f"{what}: flags {part.flags}")
        self.check_nested(part, what)
        self.expect(len(set(part.locs)) == len(part.locs), f"{what}: a location is listed twice")
        lowest = min((zone[3] for zone in part.ended), default=part.n_below)
        lowest = min([zone[2] for zone in part.cut] + [lowest])
        self.expect(lowest >= part.n_below, f"{what}: a zone at depth {lowest} ends, n_below is {part.n_below}")
        self.check_early(part, what)
        self.sums.setdefault(part.block.offset, BlockSum()).add(part)
        if part.n_events:
            key = (part.proc, part.track)
            for lod in self.lods:
                if lod.first_offset <= part.block.offset < lod.block.offset:
                    lod.add(part, self.last_ticks.get(key, part.first_tick))
            self.last_ticks[key] = part.last_tick
        if part.summary is not None:
            self.n_summaries += 1
            self.check_stats(part, what)
            self.check_detail(part, what)
        else:
            self.expect(part.n_events < sf.SUMMARY_FROM or len(part.locs) > sf.SUMMARY_LOCS,
                        f"{what}: {part.n_events} events without a summary")

    def check_nested(self, part, what):
        """The nested sums; over all parts they are those of the events."""
        if part.nested is None:
            self.nested = None
            return
        self.expect(bool(part.nested) == bool(part.flags & 8) and all(part.nested.values()), f"{what}: nested sums {part.nested}")
        if self.nested is not None:
            for loc, ticks in part.nested.items():
                self.nested[part.proc, loc] += ticks

    def check_all_nested(self):
        """Where every part knows its nested sums."""
        if self.nested is None or self.trace.holes:
            return
        found = {place: ticks for place, ticks in self.trace.nested.items() if ticks}
        for place in found.keys() | self.nested.keys():
            self.expect(found.get(place, 0) == self.nested[place],
                        f"nested sum of location {place} is {self.nested[place]}, by its events {found.get(place, 0)}")

    def check_early(self, part, what):
        """start_early: how long before the part the lowest zone listed began."""
        early = max(0, part.first_tick - part.stack[0][1]) if part.stack else 0
        self.expect(part.start_early == early, f"{what}: start_early {part.start_early}, is {early}")

    def check_stats(self, part, what):
        """The summary's statistics per location."""
        found = {}
        for begin, end, own, _, loc, _ in part.ended:
            d = end - begin if end > begin else 0
            row = found.get(loc)
            if row is None:
                row = found[loc] = [0, 0, 0, d, d, 0, {}]
            row[0] += 1
            row[1] += d
            row[2] += own
            if d < row[3]:
                row[3] = d
            elif d > row[4]:
                row[4] = d
            row[5] += d * d
            e = d.bit_length() - 1
            bucket = d if d < 32 else 32 * (e - 4) + (d >> e - 5 & 31)
            row[6][bucket] = row[6].get(bucket, 0) + 1
        stored = {part.locs[i] if i < len(part.locs) else f"index {i}": s for i, s in part.summary[0].items()}
        for loc in found.keys() | stored.keys():
            mine, theirs = tuple(found.get(loc, ())), stored.get(loc, ())
            self.expect(mine == theirs, f"{what}: summary of location {loc} is {theirs}, by its events {mine}")

    def check_detail(self, part, what):
        """The summary's level of detail."""
        _, shift, stored = part.summary
        self.expect(len(stored) <= sf.LOD_DEPTHS, f"{what}: {len(stored)} depths")
        numbers = [number for buckets in stored for number in buckets]
        self.expect(not numbers or max(numbers) - min(numbers) < sf.LOD_BUCKETS,
                    f"{what}: more than {sf.LOD_BUCKETS} buckets from first to last")
        found = make_detail(part, shift)
        for depth, mine in enumerate(found):
            theirs = stored[depth] if depth < len(stored) else {}
            for number in mine.keys() | theirs.keys():
                a, b = tuple(mine.get(number, NOTHING)), theirs.get(number, NOTHING)
                if not is_same(a, b, part.n_back):
                    self.problem(f"{what}: detail of depth {depth} bucket {number} (shift {shift}) is {b}, "
                                 f"by its events {a}")

    def read_lods(self):
        """All LOD blocks: their parts are added up while the events are read."""
        for block in self.trace.blocks:
            if block.type == sf.LOD:
                try:
                    self.lods.append(LodSum(block, *strobe_blocks.read_lod(self.trace.head(block), self.trace.body(block), block.flags)))
                except (strobe_reader.FormatError, IndexError, struct.error) as error:
                    self.problem(f"{name_of(block)}: {error}")

    # -- over all blocks ---------------------------------------------------------------------------------

    def check_words(self):
        """No word of a thread is stored twice."""
        for (proc, number), track in sorted(self.trace.tracks.items()):
            _, twice = track.gaps()
            self.expect(not twice, f"proc {proc} track {number}: {twice} words are stored twice")

    def check_names(self):
        """Every id that is used has its record, in a block before."""
        trace = self.trace
        if trace.holes:
            return
        kinds = {"l": "loc", "n": "string"}
        for (letter, proc, id_), offset in sorted(trace.used.items()):
            if id_:
                self.check_named((kinds[letter], proc, id_), offset)
        for part_of in sorted(self.trace.tracks):
            self.expect(("thread", *part_of) in trace.keyed, f"proc {part_of[0]} track {part_of[1]}: no thread record")
        for proc in sorted({proc for proc, _ in trace.tracks}):
            self.expect(("process", proc) in trace.keyed, f"proc {proc}: no process record")

    def check_named(self, key, offset):
        """One id."""
        named = self.trace.first_named.get(key)
        if named is None:
            self.problem(f"proc {key[1]}: {key[0]} {key[2]} is used in the block at {offset} and has no record")
        else:
            self.expect(named < offset, f"proc {key[1]}: {key[0]} {key[2]} is used in the block at {offset}, "
                                        f"but its record is in the block at {named}")

    def check_records(self):
        """Losses and clocks."""
        trace = self.trace
        for loss in trace.losses:
            self.expect(loss[2] < len(sf.LOSS_CAUSES) and loss[4] <= loss[5], f"loss record {loss}")
        self.expect(len({sync[0] for sync in trace.syncs}) < 2, "clock_sync records of two clocks")
        for sync in trace.syncs:
            self.expect(sync[0] in (1, 2) and sync[5] in (0, 1), f"clock_sync record {sync}")
        self.expect(trace.mult > 0, f"clock_sync records: mult is {trace.mult}")
        self.expect(not trace.pieces or trace.holes, "a piece record that no text follows")

    # -- index and footer --------------------------------------------------------------------------------

    def check_footer(self):
        """The footer's totals against a recount; returns its entries per level."""
        block = self.trace.footer_block
        if block is None:
            return None
        try:
            footer = read_footer(self.trace.body(block))
        except FormatError as error:
            self.problem(f"{name_of(block)}: {error}")
            return None
        if self.trace.holes:
            self.n_lost_known = sum(footer.kinds.values()) - self.facts["events"]
            self.expect(self.n_lost_known >= 0, f"footer: {-self.n_lost_known} events fewer than there are")
        else:
            self.check_footer_totals(footer)
        return footer.levels

    def check_footer_totals(self, footer):
        """Kinds, losses, processes, threads, ticks."""
        trace, counts = self.trace, self.trace.kind_counts()
        merged = collections.Counter({k: n for k, n in counts.items() if k not in (sf.END_POP, sf.END_LOST)})
        merged[sf.END] += counts[sf.END_POP] + counts[sf.END_LOST]
        self.expect(+footer.kinds in (+counts, +merged), f"footer: kinds {dict(footer.kinds)}, are {dict(counts)}")
        self.check_footer_losses(footer)
        named = {key[1] for key in trace.keyed if key[0] == "process"}
        seen = {proc for proc, _ in trace.tracks}
        self.expect(footer.n_procs in (len(named), len(named | seen)),
                    f"footer: {footer.n_procs} processes, are {len(named)}")
        named = {key[1:] for key in trace.keyed if key[0] == "thread"}
        self.expect(footer.n_threads in (len(named), len(named | set(trace.tracks))),
                    f"footer: {footer.n_threads} threads, are {len(named)}")
        if self.sums:
            low = min(s.low_event for s in self.sums.values())
            early = min(b.tick_min for b in trace.blocks if b.type == sf.EVENTS)
            high = max(s.high for s in self.sums.values())
            self.expect(footer.first_tick in (low, early) and footer.last_tick == high,
                        f"footer: ticks {footer.first_tick}-{footer.last_tick}, are {low}-{high}")

    def check_footer_losses(self, footer):
        """Losses of the records; those of the reserved ledger and of gaps may be among them or not."""
        blocks, reserved = collections.Counter(), collections.Counter()
        for loss in self.trace.losses:
            blocks[loss[2]] += loss[3]
        for loss in self.trace.reserved_losses:
            reserved[loss[2]] += loss[3]
        gaps = collections.Counter({sf.HOLE: sum(row["gap_words"] for row in self.facts["ledger"])})
        possible = [blocks, blocks - reserved, blocks + gaps, blocks - reserved + gaps]
        self.expect(any(+footer.losses == +p for p in possible),
                    f"footer: losses {dict(footer.losses)}, are {dict(blocks)} of which reserved {dict(reserved)}")

    def check_indices(self, footer_levels):
        """Every block is listed once, in order, with what its header and its events say."""
        trace = self.trace
        indices = collections.defaultdict(list)
        mended = any(block.type == sf.INDEX and block.prev_index == block.offset for block in trace.blocks)
        if mended and footer_levels is None:
            return      # its indices don't count: the file is scanned
        counting = self.below_footer(footer_levels) if mended or trace.holes and footer_levels is not None else None
        for block in trace.blocks:
            if block.type == sf.INDEX and (counting is None or block.offset in counting):
                indices[block.level].append(block)
        self.indices = {block.offset for blocks in indices.values() for block in blocks}
        top = max(indices, default=0) + 1
        if footer_levels is not None:
            top = max(top, len(footer_levels))
        below = {}      # offset of an INDEX block: (n_events, n_zones) under it
        for level in range(1, top + 1):
            entries = []
            for block in indices[level]:
                entries += self.index_entries(block, below)
            if footer_levels is not None and level <= len(footer_levels):
                entries += footer_levels[level - 1]
            self.check_level(level, entries, footer_levels is not None, below)

    def below_footer(self, footer_levels):
        """Offsets of the INDEX blocks that the footer reaches: in a file that was mended, older ones don't count."""
        blocks = {block.offset: block for block in self.trace.blocks if block.type == sf.INDEX}
        pending = [entry.offset for level in footer_levels for entry in level if entry.type == sf.INDEX]
        found = set()
        while pending:
            offset = pending.pop()
            if offset in found or offset not in blocks:
                continue
            found.add(offset)
            body = self.trace.body(blocks[offset])
            pending += [fields[0] for fields in sf.ENTRY.iter_unpack(body[:len(body) // 48 * 48]) if fields[6] == sf.INDEX]
        return found

    def index_entries(self, block, below):
        """Entries of an INDEX block, and its own sums."""
        what, body = name_of(block), self.trace.body(block)
        self.expect(len(body) == block.n_items * sf.ENTRY.size, f"{what}: {len(body)} bytes, n_items {block.n_items}")
        entries = [strobe_blocks.Entry(*fields) for fields in sf.ENTRY.iter_unpack(body[:len(body) // 48 * 48])]
        below[block.offset] = (sum(e.n_events for e in entries), sum(e.n_zones for e in entries))
        timed = [e for e in entries if e.n_events] or entries
        self.expect(block.tick_min in (min(e.tick_min for e in timed), min(e.tick_min for e in entries))
                    and block.tick_max in (max(e.tick_max for e in timed), max(e.tick_max for e in entries)),
                    f"{what}: ticks {block.tick_min}-{block.tick_max} aren't those of its entries")
        self.expect(all(e.offset < block.offset for e in entries), f"{what}: lists a block behind it")
        return entries

    def check_level(self, level, entries, closed, below):
        """All entries of one level against the blocks that are there."""
        trace = self.trace
        wanted = {b.offset: b for b in trace.blocks
                  if (b.type in (sf.EVENTS, sf.RECORDS, sf.LOD, sf.PAIRED, sf.PAIRED_LOD) if level == 1 else b.offset in self.indices and b.level == level - 1)}
        offsets = [entry.offset for entry in entries]
        self.expect(offsets == sorted(set(offsets)), f"index level {level}: entries out of order or twice")
        for entry in entries:
            block = wanted.get(entry.offset)
            if block is not None:
                self.check_entry(level, entry, block, below)
            elif not any(hole.offset <= entry.offset < hole.end for hole in trace.holes):
                self.problem(f"index level {level}: no such block at {entry.offset}")
        if trace.holes:
            return
        missing = sorted(set(wanted) - set(offsets))
        if not closed:
            missing = [offset for offset in missing if offsets and offset < offsets[-1]]
        for offset in missing:
            self.problem(f"index level {level}: {name_of(wanted[offset])} can't be reached")

    def check_entry(self, level, entry, block, below):
        """One entry."""
        what = f"index level {level}, entry of {name_of(block)}"
        self.expect((entry.tick_min, entry.tick_max) == (block.tick_min, block.tick_max), f"{what}: wrong ticks")
        self.expect(entry.bytes in (block.bytes, block.end - block.offset), f"{what}: {entry.bytes} bytes")
        self.expect((entry.type, entry.level, entry.zero) == (block.type, block.level, 0), f"{what}: wrong type or level")
        counts = (entry.n_events, entry.n_zones)
        if block.type == sf.EVENTS:
            sums = self.sums.get(block.offset) or BlockSum()
            possible = [(sums.n_events, sums.n_ended), (sums.n_events, sums.n_ended + sums.n_lost_begin)]
        else:
            possible = [below.get(block.offset, (0, 0))] if block.type == sf.INDEX else [(0, 0)]
        self.expect(counts in possible, f"{what}: events and zones {counts}, are {possible[0]}")


class BlockSum:
    """What the parts of an EVENTS block add up to."""

    def __init__(self):
        self.n_events = self.n_ended = self.n_lost_begin = self.high = 0
        self.low = self.low_open = self.low_event = 1 << 64
        self.unsure = False

    def add(self, part):
        """One more part."""
        self.n_events += part.n_events
        self.n_ended += len(part.ended)
        self.n_lost_begin += part.streams[0].count(sf.END_LOST)
        if not part.n_events:   # pads, or damage: no time
            return
        self.high = max(self.high, part.tick_high)
        self.low_event = min(self.low_event, part.tick_low)
        self.low = min([self.low, part.tick_low] + [zone[0] for zone in part.ended])
        begins = [zone[0] for zone in part.left_open] + [zone[0] for zone in part.cut]
        self.low_open = min([self.low_open, self.low] + begins)
        self.unsure = self.unsure or part.n_unsure > 0


class LodSum:
    """An LOD block, and what the parts that it covers add up to."""

    def __init__(self, block, first_offset, n_blocks, masks, tracks):
        self.block, self.first_offset, self.n_blocks, self.masks = block, first_offset, n_blocks, masks
        self.stored = {(t.proc, t.track): t for t in tracks}
        self.found = {}     # (proc, track): depths at the fine shift
        self.facts = {}     # (proc, track): [n_parts, n_events, n_zones, first_tick, last_tick, low, depth]
        self.unknown = set()
        self.n_back = 0
        self.offsets = set()

    def add(self, part, gap_from):
        """One more part; gap_from is the last tick of the one before."""
        key = (part.proc, part.track)
        self.offsets.add(part.block.offset)
        self.n_back += part.n_back
        stored = self.stored.get(key)
        if stored is None:
            self.unknown.add(key)
            return
        shift = stored.fine[0]
        depths = self.found.setdefault(key, [{} for _ in range(sf.LOD_DEPTHS)])
        for depth, buckets in enumerate(make_detail(part, shift)):
            for number, row in buckets.items():
                loc = part.locs[row[3] - 1] + 1 if row[3] else 0
                add_bucket(depths[depth].setdefault(number, list(NOTHING)), [*row[:3], loc, row[4]])
        start = part.n_below + len(part.stack)
        for depth in range(min(start, sf.LOD_DEPTHS)):
            spread(depths[depth], shift, gap_from, part.first_tick)
        facts = self.facts.setdefault(key, [0, 0, 0, part.first_tick, 0, start, 0])
        facts[0] += 1
        facts[1] += part.n_events
        facts[2] += len(part.ended)
        facts[4] = part.last_tick
        facts[5] = min(facts[5], part.n_below)
        facts[6] = len(part.left_open)

    def compare(self, check):
        """Say what is not as it should be."""
        what = name_of(self.block)
        check.expect(not self.unknown, f"{what}: lacks {sorted(self.unknown)}")
        check.expect(check.trace.holes or len(self.offsets) <= self.n_blocks, f"{what}: covers {self.n_blocks} blocks, has {len(self.offsets)}")
        if check.trace.holes:
            return
        for key, stored in self.stored.items():
            facts = self.facts.get(key)
            mine = [stored.n_parts, stored.n_events, stored.n_zones, stored.first_tick, stored.last_tick]
            check.expect(facts is not None and facts[:5] == mine and facts[6] == stored.depth,
                         f"{what}: {key} is {mine}, depth {stored.depth}, by its parts {facts}")
            check.expect(len(stored.open) == min(stored.depth, 64), f"{what}: {key} lists {len(stored.open)} open zones")
            self.compare_lanes(check, f"{what}, track {key}", self.found.get(key, []), stored.fine)
            by = stored.coarse[0] - stored.fine[0]
            check.expect(by >= 0, f"{what}: coarse lanes are finer")
            coarse = [coarser(buckets, by) for buckets in self.found.get(key, [])]
            self.compare_lanes(check, f"{what}, track {key}, coarse", coarse, stored.coarse)

    def compare_lanes(self, check, what, found, lanes):
        """All buckets of one track."""
        shift, stored = lanes
        for depth, mine in enumerate(found):
            theirs = stored[depth] if depth < len(stored) else {}
            for number in mine.keys() | theirs.keys():
                a, b = tuple(mine.get(number, NOTHING)), theirs.get(number, NOTHING)
                if not is_same(a, b, self.n_back):
                    check.problem(f"{what}: depth {depth} bucket {number} (shift {shift}) is {b}, by its events {a}")


def coarser(buckets, by):
    """Buckets that are 2^by times wider."""
    out = {}
    for number, row in sorted(buckets.items()):
        add_bucket(out.setdefault(number >> by, list(NOTHING)), row)
    return out


NOTHING = (0, 0, 0, 0, None)     # count, busy, longest, its location, its end


def is_same(mine, stored, n_back):
    """The stored bucket against one made of events. Busy is not sure where ticks went back; old files have no ends."""
    busy = mine[1] == stored[1] or n_back and abs(mine[1] - stored[1]) <= n_back
    return busy and mine[0] == stored[0] and mine[2:4] == stored[2:4] and stored[4] in (None, mine[4])


def add_bucket(into, row):
    """Add one to another: of zones of the same length that with the lower location, then that which ended first."""
    if row[3] and (not into[3] or row[2] > into[2] or row[2] == into[2] and (row[3], row[4]) < (into[3], into[4])):
        into[2:] = row[2:]
    into[0] += row[0]
    into[1] += row[1]


def make_detail(part, shift):
    """Per depth {bucket: [count, busy, longest, index of its location + 1, end]}, from the events of a part."""
    depths = [{} for _ in range(sf.LOD_DEPTHS)]
    index = {loc: i for i, loc in reversed(list(enumerate(part.locs, 1)))}
    first, last = part.first_tick, part.last_tick
    for begin, end, _, depth, loc, _ in part.ended:
        if depth >= sf.LOD_DEPTHS:
            continue
        buckets, number = depths[depth], max(end, first) >> shift
        row = buckets.get(number)
        if row is None:
            row = buckets[number] = list(NOTHING)
        duration = end - begin if end > begin else 0
        mine = index.get(loc, 0)
        if duration > row[2] or not row[0] or duration == row[2] and (loc, end) < (part.locs[row[3] - 1], row[4]):
            row[2:] = duration, mine, end
        row[0] += 1
        if begin >> shift == number and begin >= first and end <= last:
            row[1] += duration
        else:
            spread(buckets, shift, max(begin, first), min(end, last))
    for begin, end, depth in part.cut:
        if depth < sf.LOD_DEPTHS:
            spread(depths[depth], shift, max(begin, first), min(end, last))
    for begin, depth in part.left_open[:sf.LOD_DEPTHS]:
        spread(depths[depth], shift, max(begin, first), last)
    return depths


def spread(buckets, shift, begin, end):
    """Add the ticks from begin to end to the buckets they are in."""
    if begin >= end:
        return
    for number in range(begin >> shift, (end - 1 >> shift) + 1):
        row = buckets.setdefault(number, list(NOTHING))
        row[1] += min(end, number + 1 << shift) - max(begin, number << shift)


Footer = collections.namedtuple("Footer", "kinds losses n_procs n_threads first_tick last_tick levels")


def read_footer(data):
    """The body of a FOOTER block."""
    at, tables = 0, []
    for _ in range(2):
        n, at = read_varint(data, at)
        table = collections.Counter()
        for _ in range(n):
            key, at = read_varint(data, at)
            if key in table:
                raise FormatError(f"{key} twice")
            table[key], at = read_varint(data, at)
        tables.append(table)
    numbers = []
    for _ in range(5):
        value, at = read_varint(data, at)
        numbers.append(value)
    levels = []
    for _ in range(numbers.pop()):
        n, at = read_varint(data, at)
        if at + 48 * n > len(data):
            raise FormatError("entries run over the end")
        levels.append([strobe_blocks.Entry(*sf.ENTRY.unpack_from(data, at + 48 * i)) for i in range(n)])
        at += 48 * n
    if at != len(data):
        raise FormatError(f"{len(data) - at} bytes too many")
    return Footer(*tables, *numbers, levels)
