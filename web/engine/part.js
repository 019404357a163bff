/* part.js - the parts of an EVENTS block: their heads, and their events as zones and other events.
 * A part stands alone: the zones that were open before it are listed in its head.
 * SPDX-License-Identifier: MIT */
import {Cursor, FormatError, joined, lowBits, textOf} from './bytes.js';
import {inflate} from './file.js';

const MAX_PARTS = 65536, MAX_OPEN = 1 << 20, MAX_BUCKETS = 128;
export const ENDED = 0, UNFINISHED = 1, OPEN = 2, NO_BEGIN = 3;
const FIRST_SHORT = 64;
export const BEGIN = 63, END_LOST = 2;

/** Heads of all parts of a block. With `sums`, the summaries' statistics too. */
export function readParts(head, base, sums = false) {
    const c = new Cursor(head), parts = [];
    let firstEvent = 0, bigAt = 0, sideAt = 0;
    for (let n = c.count(MAX_PARTS); n > 0; n--) {
        const part = readPart(c, base, sums);
        Object.assign(part, {firstEvent, bigAt, sideAt});
        firstEvent += part.nEvents;
        bigAt += part.nBig;
        sideAt += part.nSide;
        parts.push(part);
    }
    return parts;
}

function readPart(c, base, sums) {
    const part = {proc: c.varint(), track: c.varint(), pos: c.varint(), nWords: c.varint(), nEvents: c.varint()};
    part.first = c.tick(base);
    part.last = part.first + c.zigzag();
    part.early = c.varint();
    part.fiber = c.varint();
    part.nBelow = c.varint();
    part.stack = readStack(c, part.first);
    part.locs = readLocs(c);
    part.nBig = c.varint();
    part.nSide = c.varint();
    part.lod = part.sums = null;
    if (c.varint() & 1) {
        part.sums = readSums(c, sums);
        part.lod = readDetail(c, part.first, base);
    }
    return part;
}

function readStack(c, first) {
    const stack = [];
    for (let n = c.count(MAX_OPEN); n > 0; n--) {
        const id = c.varint(), begin = first - c.zigzag();
        stack.push({id, begin, children: c.varint()});
    }
    return stack;
}

function readLocs(c) {
    const n = c.count(MAX_OPEN), locs = new Float64Array(n);
    let last = 0;
    for (let i = 0; i < n; i++)
        locs[i] = last += c.zigzag();
    return locs;
}

function readSums(c, wanted) {
    const n = c.count(), rows = wanted ? [] : null;
    for (let i = 0; i < n; i++) {
        if (wanted) {
            const row = {index: c.varint(), count: c.varint(), total: c.big(), self: c.big(), min: c.varint(), max: c.varint()};
            row.squares = c.big() | c.big() << 64n;
            row.buckets = [];
            for (let k = c.count(), bucket = 0; k > 0; k--)
                row.buckets.push(bucket += c.varint(), c.varint());
            rows.push(row);
            continue;
        }
        for (let k = 0; k < 8; k++)
            c.skipVarint();
        for (let k = 2 * c.count(); k > 0; k--)
            c.skipVarint();
    }
    return rows;
}

/* Level of detail: per depth the buckets' first tick, count, busy, longest, location + 1. */
function readDetail(c, first, base) {
    const shift = c.varint();
    if (shift > 62)
        throw new FormatError('a level of detail with a shift that can\'t be');
    const width = 2 ** shift, wide = BigInt(shift); /* of buckets */
    const start = Number(((base.value + BigInt(first)) >> wide << wide) - base.value), depths = [];
    for (let n = c.count(16); n > 0; n--)
        depths.push(readBuckets(c, start, width));
    return {shift, width, depths};
}

function readBuckets(c, start, width) {
    const n = c.count(MAX_BUCKETS);
    const row = {
        n, at: new Float64Array(n), count: new Uint32Array(n), busy: new Float64Array(n),
        longest: new Float64Array(n), loc: new Uint32Array(n),
    };
    for (let i = 0, bucket = 0; i < n; i++) {
        bucket += c.varint();
        row.at[i] = start + bucket * width;
        row.count[i] = c.varint();
        row.busy[i] = c.varint();
        row.longest[i] = c.varint();
        row.loc[i] = c.varint();
    }
    return row;
}

/** The five streams of a block's body. */
export function readStreams(body) {
    if (body.length < 40)
        throw new FormatError('a block without streams');
    const view = new DataView(body.buffer, body.byteOffset, body.length), streams = [];
    let at = 40;
    for (let i = 0; i < 5; i++) {
        const raw = view.getUint32(8 * i, true), stored = view.getUint32(8 * i + 4, true);
        if (stored > body.length - at || raw > 16 << 20)
            throw new FormatError('a stream runs over its block');
        streams.push(expand(body.subarray(at, at + stored), raw));
        at += stored;
    }
    return streams;
}

function expand(stored, raw) {
    if (stored.length === raw)
        return stored;
    return stored.length === 1 && raw > 1 ? new Uint8Array(raw).fill(stored[0]) : inflate(stored, raw);
}

/** Zones of a part: columns that grow. Ticks are relative to the base. */
class Zones {
    constructor(room) {
        this.n = 0;
        this.begin = new Float64Array(room);
        this.end = new Float64Array(room);
        this.self = new Float64Array(room);
        this.depth = new Uint16Array(room);
        this.id = new Float64Array(room); /* of its location in the file */
        this.state = new Uint8Array(room);
        this.extras = new Map(); /* index: {texts, name, value, color} */
    }

    add(begin, end, self, depth, id, state, extra) {
        const i = this.n++;
        this.begin[i] = begin;
        this.end[i] = end;
        this.self[i] = self;
        this.depth[i] = Math.min(depth, 65535);
        this.id[i] = id;
        this.state[i] = state;
        if (extra)
            this.extras.set(i, extra);
    }
}

/** What comes before a text field, by thread: pieces may end in a later part. */
export class Pieces {
    constructor() {
        this.list = [];
    }

    /** The text with what came before it. */
    finish(bytes) {
        if (!this.list.length)
            return bytes;
        this.list.push(bytes);
        const all = joined(this.list);
        this.list = [];
        return all;
    }
}

/** Reads the fields of one event; `refs` are left as ids, text as strings. */
export function readFields(c, letters, pieces, isPiece = false) {
    const out = [], lastText = letters.lastIndexOf('s');
    for (let i = 0; i < letters.length; i++) {
        const letter = letters[i];
        if (letter === 's') {
            let bytes = c.slice(c.varint());
            if (isPiece) {
                out.push(bytes);
                continue;
            }
            if (i === lastText && pieces)
                bytes = pieces.finish(bytes);
            out.push(textOf(bytes));
        } else if (letter === 'i') {
            out.push(c.wholeZigzag());
        } else if (letter === 'd') {
            out.push(c.double());
        } else if (letter === 'a') {
            out.push(readList(c));
        } else {
            out.push(c.whole());
        }
    }
    return out;
}

function readList(c) {
    const list = [];
    let last = 0n;
    for (let n = c.count(); n > 0; n--) {
        const z = c.big();
        last = BigInt.asUintN(64, last + (z & 1n ? -(z + 1n >> 1n) : z >> 1n));
        list.push(last);
    }
    return list;
}

/** Decode a part. `sink(kind, tick, fields, run)`: called for every event that is no plain zone of the thread, and of a
 *  thread with several tracks (`isShared`) for its zones, too; may be null.
 *  @returns {Zones} those that end or are found unfinished in it, `open`: those left open. */
export function replayPart(part, streams, schema, sink = null, pieces = new Pieces(), isShared = false) {
    const [sym, lo, hi, bigBytes, sideBytes] = streams;
    const n = part.nEvents, from = part.firstEvent;
    if (from + n > sym.length || from + n > lo.length || from + n > hi.length)
        throw new FormatError('a part runs over its block');
    const big = new Cursor(bigBytes, part.bigAt, part.bigAt + part.nBig);
    const side = new Cursor(sideBytes, part.sideAt, part.sideAt + part.nSide);
    const zones = new Zones(n + part.stack.length);
    const stack = part.stack.map((z) => ({id: z.id, begin: z.begin, children: z.children, extra: null}));
    const run = {tick: part.first, fiber: part.fiber, stack, zones, nBelow: part.nBelow, side, part, schema, sink, pieces, isShared};
    for (let i = from; i < from + n; i++) {
        let step = lo[i] + 256 * hi[i];
        if (step === 65535)
            step = big.zigzag();
        run.tick += step;
        const s = sym[i];
        if (s >= BEGIN)
            beginZone(run, s === BEGIN ? side.varint() : s - FIRST_SHORT);
        else if (s === 0)
            endZone(run, ENDED);
        else
            otherEvent(run, s);
    }
    zones.open = stack;
    zones.lastTick = run.tick;
    return zones;
}

function beginZone(run, index) {
    if (index >= run.part.locs.length)
        throw new FormatError('a zone at a location that its part does not list');
    const id = run.part.locs[index];
    if (run.sink)
        run.sink(BEGIN, run.tick, [id], run);
    if (run.fiber)
        return;
    if (run.stack.length > MAX_OPEN)
        throw new FormatError('more open zones than can be');
    run.stack.push({id, begin: run.tick, children: 0, extra: null});
}

function tellEnd(run, id) {
    if (run.sink && (run.isShared || run.fiber))
        run.sink(END_LOST, run.tick, [id], run);
}

function endZone(run, state) {
    const zone = run.stack.pop();
    if (!zone)
        return void tellEnd(run, 0);
    const depth = run.nBelow + run.stack.length, ticks = Math.max(0, run.tick - zone.begin);
    run.zones.add(zone.begin, run.tick, Math.max(0, ticks - zone.children), depth, zone.id, state, zone.extra);
    if (state !== ENDED)
        return;
    if (run.stack.length)
        run.stack[run.stack.length - 1].children += ticks;
    tellEnd(run, zone.id);
}

function otherEvent(run, kind) {
    if (kind === 1) {
        const n = run.side.varint();
        for (let k = 0; k < n && run.stack.length; k++)
            endZone(run, UNFINISHED);
        return endZone(run, ENDED);
    }
    if (kind === 61)
        return endUnder(run, run.side.varint());
    const known = run.schema.get(kind);
    if (!known)
        throw new FormatError(`an event of kind ${kind}, which the file does not tell of`);
    const fields = readFields(run.side, known.letters, run.pieces, kind === 3);
    if (kind === 3)
        return void run.pieces.list.push(fields[0]);
    if (kind >= 4 && kind <= 7 && !run.fiber && !run.isShared)
        return extraOf(run, kind, fields[0]);
    if (kind === END_LOST)
        return tellEnd(run, fields[0]);
    if (run.sink)
        run.sink(kind, run.tick, fields, run);
    if (kind === 19)
        run.fiber = fields[0];
    else if (kind === 20)
        run.fiber = 0;
}

/* The zone below the `above` innermost ones ends; those stay open, each one level lower. */
function endUnder(run, above) {
    const at = run.stack.length - 1 - above;
    if (at < 0)
        return tellEnd(run, 0);
    const [zone] = run.stack.splice(at, 1), ticks = Math.max(0, run.tick - zone.begin);
    run.zones.add(zone.begin, run.tick, Math.max(0, ticks - zone.children), run.nBelow + at, zone.id, ENDED, zone.extra);
    if (at > 0)
        run.stack[at - 1].children += ticks;
    tellEnd(run, zone.id);
}

function extraOf(run, kind, value) {
    const zone = run.stack[run.stack.length - 1];
    if (zone)
        addExtra(zone.extra || (zone.extra = {}), kind, value);
}

/** Note a text, name, value or colour. */
export function addExtra(extra, kind, value) {
    if (kind === 4)
        (extra.texts || (extra.texts = [])).push(value);
    else if (kind === 5)
        extra.name = value;
    else if (kind === 6)
        extra.value = value;
    else
        extra.color = lowBits(value, 24);
}
