/* lod.js - LOD blocks: what many EVENTS blocks look like from afar, by track and depth.
 * A node is one such block; its coarse lanes and facts are in the head, the fine lanes in the body.
 * SPDX-License-Identifier: MIT */
import {Cursor, FormatError} from './bytes.js';
import {inflate} from './file.js';

const MAX_TRACKS = 8192, MAX_DEPTHS = 16, MAX_OPEN = 64;

/* Lanes of a track: per depth the buckets' first tick, count, busy, longest, location id + 1. */
function readLanes(c, first, base) {
    const shift = c.varint();
    if (shift > 62)
        throw new FormatError('a level of detail with a shift that can\'t be');
    const width = 2 ** shift, wide = BigInt(shift), depths = [];
    const start = Number(((base.value + BigInt(first)) >> wide << wide) - base.value);
    for (let n = c.count(MAX_DEPTHS); n > 0; n--) {
        const used = c.count();
        const row = {n: used, at: new Float64Array(used), count: new Uint32Array(used), busy: new Float64Array(used), longest: new Float64Array(used), loc: new Float64Array(used)};
        for (let i = 0, bucket = 0; i < used; i++) {
            row.at[i] = start + (bucket += c.zigzag()) * width;
            row.count[i] = c.varint();
            row.busy[i] = c.varint();
            row.longest[i] = c.varint();
            row.loc[i] = c.varint();
        }
        depths.push(row);
    }
    return {shift, width, depths};
}

function readOpen(c, last) {
    const open = [];
    for (let n = c.count(MAX_OPEN); n > 0; n--) {
        const id = c.varint();
        open.push({id, begin: last - c.zigzag()});
    }
    return open;
}

/** The head of an LOD block. */
export function readNode(head, base) {
    const c = new Cursor(head), node = {firstOffset: c.varint(), nBlocks: c.varint(), kinds: new Map(), tracks: new Map(), fine: null};
    for (let n = c.count(), offset = node.firstOffset; n > 0; n--) {
        offset += c.varint();
        node.kinds.set(offset, c.big());
    }
    for (let n = c.count(MAX_TRACKS); n > 0; n--) {
        const t = {proc: c.varint(), track: c.varint(), nParts: c.varint(), nEvents: c.varint(), nZones: c.varint(), first: c.tick(base)};
        t.last = t.first + c.zigzag();
        t.low = c.varint();
        t.depth = c.varint();
        t.open = readOpen(c, t.last);
        t.fineShift = c.varint();
        t.lanes = readLanes(c, t.first, base);
        t.nDepths = Math.max(t.lanes.depths.length, t.depth);
        node.tracks.set(`${t.proc}/${t.track}`, t);
    }
    return node;
}

/** The fine lanes of all tracks of a node, by the same keys. */
export function readFine(node, body, base) {
    const view = new DataView(body.buffer, body.byteOffset, body.length);
    if (body.length < 8)
        throw new FormatError('a level of detail without lanes');
    const raw = view.getUint32(0, true), stored = view.getUint32(4, true), bytes = body.subarray(8, 8 + stored);
    const c = new Cursor(bytes.length === raw ? bytes : inflate(bytes, raw)), fine = new Map();
    for (const [key, t] of node.tracks)
        fine.set(key, readLanes(c, t.first, base));
    return fine;
}
