/* pixels.js - the question "what do these pixels show?". From LOD blocks where they are fine enough, then from the parts'
 * summaries, from events only close up: a view costs what it shows.
 * SPDX-License-Identifier: MIT */
import {BEYOND, Grid, IS_ZONE, Lanes} from './lanes.js';
import {ENDED, UNFINISHED} from './part.js';
import {openAt} from './open.js';
import {rowNumber} from './rows.js';
import {trackOf} from './tracks.js';

const MOST_LANES = 4096, MOST_DEPTHS = 512, MOST_CELLS = 1 << 20, MOST_BLOCKS = 512, MOST_EVENTS = 1 << 21, MOST_LEVEL = 62;

/* ---- what is read ---- */

/* Buckets of a level of detail; `idOf(n)`: id of a stored number. */
function addDetail(lanes, {depths}, idOf) {
    depths.forEach((row, depth) => {
        if (depth < lanes.first || depth >= lanes.first + lanes.n)
            return;
        for (let i = 0; i < row.n; i++)
            lanes.addCell(depth, row.at[i], row.count[i], row.busy[i], row.longest[i], row.loc[i] ? idOf(row.loc[i] - 1) + 1 : 0);
    });
}

function addZones(lanes, part, zones) {
    let deepest = 0;
    for (let i = 0; i < zones.n; i++) {
        deepest = Math.max(deepest, zones.depth[i] + 1);
        if (zones.state[i] === UNFINISHED)
            lanes.addBusy(zones.depth[i], Math.max(zones.begin[i], part.first), zones.end[i]);
        else
            lanes.addZone(zones.depth[i], zones.begin[i], zones.end[i], zones.id[i], part.first);
    }
    const nOpen = part.nBelow + zones.open.length;
    for (let depth = 0; depth < nOpen; depth++) {
        const z = zones.open[depth - part.nBelow];
        lanes.addBusy(depth, z ? Math.max(z.begin, part.first) : part.first, part.last);
    }
    lanes.nSeen = Math.max(lanes.nSeen, deepest, nOpen);
}

/* What is open at a part's start was open since the part before. */
function addGap(lanes, part) {
    const from = lanes.lastTick === null ? lanes.lo : lanes.lastTick, n = Math.min(part.nBelow + part.stack.length, MOST_DEPTHS);
    for (let depth = 0; depth < n && from < part.first; depth++)
        lanes.addBusy(depth, from, part.first);
    lanes.lastTick = part.last;
}

async function readBlock(trace, block, wanted) {
    const parts = await trace.parts(block);
    for (let i = 0; i < parts.length; i++) {
        const part = parts[i], lanes = wanted.get(part.thread);
        if (!lanes || !part.nEvents || part.first > lanes.hi)
            continue;
        addGap(lanes, part);
        if (part.last < lanes.lo)
            continue;
        if (part.lod && part.lod.shift <= lanes.grid.k) {
            addDetail(lanes, part.lod, (n) => part.locs[n]);
            lanes.nSeen = Math.max(lanes.nSeen, part.lod.depths.length);
            continue;
        }
        const zones = (await trace.decoded(block))[i];
        if (zones)
            addZones(lanes, part, zones);
    }
}

/* What a node's lanes tell; the tracks for which they are too coarse are given back. */
async function readNode(trace, node, wanted) {
    const rest = new Map();
    for (const [key, t] of node.tracks) {
        const lanes = wanted.get(t.thread);
        if (!lanes)
            continue;
        let from = t.lanes.shift <= lanes.grid.k ? t.lanes : null;
        if (!from && t.fineShift <= lanes.grid.k) {
            const fine = await trace.fineLanes(node);
            from = fine && fine.get(key);
        }
        if (!from) {
            rest.set(t.thread, lanes);
            continue;
        }
        lanes.lastTick = t.last;
        addDetail(lanes, from, (id) => id);
    }
    return rest;
}

/* The threads' lanes. False: a newer question waits. */
async function readThreads(trace, wanted, lo, hi, isOvertaken) {
    const isIn = (x) => x.min <= hi && x.max >= lo;
    for (let b = 0; b < trace.events.length && wanted.size;) {
        const {node} = trace.events[b], blocks = node ? node.blocks : [trace.events[b]];
        b += blocks.length;
        if (!isIn(node || blocks[0]))
            continue;
        const rest = node ? await readNode(trace, node, wanted) : wanted;
        for (const block of rest.size ? blocks.filter(isIn) : []) {
            if (isOvertaken())
                return false;
            await readBlock(trace, block, rest);
        }
    }
    return true;
}

function readRows(lanes) {
    for (const row of lanes.track.table.rows) {
        if (row.begin > lanes.hi || row.end < lanes.lo)
            continue;
        if (row.end === Infinity)
            lanes.addBusy(row.depth, row.begin, lanes.hi + 1);
        else
            lanes.addZone(row.depth, row.begin, row.end, row.loc, -Infinity);
        if (row.end > lanes.hi)
            lanes.open[row.depth] = {begin: row.begin, id: row.loc};
    }
}

/* Zones that are open at the end of the last bucket, and their busy time since the last part. */
async function findOpen(trace, asked) {
    const byEnd = new Map();
    for (const lanes of asked)
        if (!lanes.track.table)
            (byEnd.get(lanes.hi) || byEnd.set(lanes.hi, []).get(lanes.hi)).push(lanes);
    for (const [tick, group] of byEnd) {
        const lists = await openAt(trace, tick, group.map((l) => l.track.thread));
        for (const lanes of group) {
            lanes.open = lists.get(lanes.track.thread);
            lanes.open.forEach((z, depth) => lanes.addBusy(depth, Math.max(z.begin, lanes.lastTick === null ? lanes.lo : lanes.lastTick), lanes.hi + 1));
        }
    }
}

/* ---- levels ---- */

/* The level that the question starts with. */
function firstLevel(trace, lo, hi, width, asked) {
    const nRows = asked.reduce((n, lanes) => n + lanes.n, 0);
    let k = 0;
    while (k < MOST_LEVEL && width <= Math.floor((hi - lo) / 2 ** (k + 1)))
        k++;
    while (k < MOST_LEVEL && nRows * new Grid(lo, hi, k, trace.base).n > MOST_CELLS)
        k++;
    return k;
}

/* A range with much in it is shown at the level that LOD blocks have, or summaries. */
async function findLevels(trace, lo, hi, wanted, k) {
    const levels = new Map(), isIn = (x) => x.min <= hi && x.max >= lo, blocks = trace.events.filter(isIn);
    const raise = (thread, shift) => {
        if (wanted.has(thread) && shift > (levels.get(thread) ?? k))
            levels.set(thread, shift);
    };
    const byLod = blocks.length > MOST_BLOCKS, byParts = blocks.reduce((n, b) => n + b.nEvents, 0) > MOST_EVENTS;
    for (const node of byLod ? trace.nodes.filter(isIn) : [])
        for (const t of node.tracks.values())
            raise(t.thread, t.fineShift);
    for (const block of byParts ? blocks.filter((b) => !(byLod && b.node)) : [])
        for (const part of await trace.parts(block))
            if (part.nEvents && part.lod && part.first <= hi && part.last >= lo)
                raise(part.thread, part.lod.shift);
    return levels;
}

/* Items of all lanes, as wide as it takes: {k, lists}. */
function makeItems(asked, k, budget, lastTick) {
    for (let level = k; ; level++) {
        let left = budget;
        const lists = [];
        for (const lanes of asked) {
            const items = left < 0 ? null : lanes.items(left, lastTick);
            left = items ? left - items.reduce((n, [, list]) => n + list.length, 0) : -1;
            lists.push(items);
        }
        if (left >= 0)
            return {k: level, lists};
        if (level >= MOST_LEVEL)
            throw new Error('over a limit');
        for (const lanes of asked)
            if (lanes.grid.k < level + 1)
                lanes.coarsen();
    }
}

/* ---- plots and messages ---- */

/* One mark per bucket of those that are looked at; of a plot also of the last value before and the first one behind. */
function marksOf(trace, table, grid) {
    const isPlot = table.kind === 'plot', list = isPlot ? table.values : trace.tables.messages.filter((m) => m.table === table), marks = [];
    let first = grid.first, end = grid.first + grid.n;
    if (isPlot) {
        const before = list.findLast((v) => grid.bucket(v.tick) < first), behind = list.find((v) => grid.bucket(v.tick) >= end);
        first = before ? grid.bucket(before.tick) : first;
        end = behind ? grid.bucket(behind.tick) + 1 : end;
    }
    for (const {tick, value, severity} of list) {
        const bucket = grid.bucket(tick), last = marks[marks.length - 1], level = isPlot ? 0 : severity + 1;
        if (bucket < first || bucket >= end)
            continue;
        if (last && last.bucket === bucket)
            Object.assign(last, {min: Math.min(last.min, value), max: Math.max(last.max, value), last: value, count: last.count + 1, level: Math.max(last.level, level)});
        else
            marks.push({bucket, min: value, max: value, last: value, count: 1, level});
    }
    return marks;
}

/* ---- the answer ---- */

/* Items as columns. */
class Columns {
    constructor(n, nValues) {
        this.n = this.nValues = 0;
        this.arrays = {t0: new Float64Array(n), t1: new Float64Array(n), loc: new Uint32Array(n), count: new Uint32Array(n), busy: new Float32Array(n), flags: new Uint8Array(n),
            min: new Float64Array(nValues), max: new Float64Array(nValues), last: new Float64Array(nValues)};
    }

    put(t0, t1, loc, count, busy, flags) {
        const i = this.n++, a = this.arrays;
        [a.t0[i], a.t1[i], a.loc[i], a.count[i], a.busy[i], a.flags[i]] = [t0, t1, loc, count, busy, flags];
    }

    putValues({min, max, last}) {
        const i = this.nValues++, a = this.arrays;
        [a.min[i], a.max[i], a.last[i]] = [min, max, last];
    }
}

function putItem(trace, columns, lanes, item) {
    const t0 = trace.time(item.begin), isWhole = (item.flags & (IS_ZONE | BEYOND)) === IS_ZONE, {table, thread} = lanes.track;
    const t1 = isWhole ? t0 + trace.clock.duration(item.end - item.begin) : trace.time(item.end);
    const loc = !item.loc ? 0 : table ? rowNumber(trace, item.loc - 1) : trace.model.loc(thread.process.index, item.loc - 1);
    columns.put(t0, t1, loc, Math.min(item.count, 4294967295), item.end > item.begin ? Math.min(1, item.busy / (item.end - item.begin)) : 0, item.flags);
}

function write(trace, asked, others, {k, lists}, lo, hi) {
    const grid = new Grid(lo, hi, k, trace.base), marks = others.map((o) => marksOf(trace, o.table, grid)), lanes = [];
    const nItems = lists.reduce((n, list) => list.reduce((m, [, items]) => m + items.length, n), 0), nMarks = marks.reduce((n, m) => n + m.length, 0);
    const columns = new Columns(nItems + nMarks, marks.reduce((n, m, i) => n + (others[i].table.kind === 'plot' ? m.length : 0), 0));
    asked.forEach((of, i) => {
        for (const [depth, items] of lists[i]) {
            lanes.push([of.track.id, depth, columns.n, items.length, of.grid.k]);
            for (const item of items)
                putItem(trace, columns, of, item);
        }
    });
    others.forEach((of, i) => {
        lanes.push([of.id, 0, columns.n, marks[i].length, k, columns.nValues]);
        for (const m of marks[i]) {
            columns.put(trace.time(grid.start(m.bucket)), trace.time(grid.start(m.bucket + 1)), m.level, m.count, 0, 0);
            if (of.table.kind === 'plot')
                columns.putValues(m);
        }
    });
    const nDepths = (of) => Math.max(of.nSeen, of.track.table ? of.track.table.nDepths : trace.depthsOf(of.track.thread));
    return {json: {k, bucket_ns: trace.clock.duration(grid.size), lanes, n_depths: asked.map((of) => [of.track.id, nDepths(of)])}, arrays: columns.arrays};
}

/* The tracks of a question: those with lanes, and plots and messages. */
function readLanes(trace, q) {
    const asked = [], others = [], ids = new Set();
    for (const lane of Array.isArray(q.lanes) ? q.lanes.slice(0, MOST_LANES) : []) {
        const [id, first, n] = [count(lane[0], 0), count(lane[1], 0), count(lane[2], 16)], track = trackOf(trace, id);
        if (!track || track.process || track.thread && track.thread.twin && !track.table)
            continue;
        if (track.table && ['plot', 'messages'].includes(track.table.kind))
            others.push(track);
        else if (!ids.has(id) && !(track.table && ['device', 'core'].includes(track.table.kind)))
            asked.push(new Lanes(track, first, Math.min(n, MOST_DEPTHS)));
        ids.add(id);
    }
    return {asked, others};
}

function count(x, otherwise) {
    return typeof x === 'number' && x >= 0 ? Math.floor(x) : otherwise;
}

/** Answer "pixels". `isOvertaken()`: a newer question waits, so give up. */
export async function pixels(trace, q, isOvertaken) {
    const {lo, hi: to} = trace.range(q), hi = Math.max(lo, Math.min(to, Number((1n << 62n) - trace.base.value)));
    const width = Math.min(16384, Math.max(1, count(q.width, 1000))), budget = Math.min(1e6, Math.max(100, count(q.budget, 5000)));
    const {asked, others} = readLanes(trace, q), k = firstLevel(trace, lo, hi, width, asked);
    const wanted = new Map(asked.filter((l) => !l.track.table).map((l) => [l.track.thread, l]));
    const levels = wanted.size ? await findLevels(trace, lo, hi, wanted, k) : new Map();
    for (const lanes of asked)
        lanes.setGrid(new Grid(lo, hi, levels.get(lanes.track.thread) ?? k, trace.base));
    const first = asked.reduce((m, l) => Math.min(m, l.lo), lo), last = asked.reduce((m, l) => Math.max(m, l.hi), hi);
    if (!await readThreads(trace, wanted, first, last, isOvertaken))
        return {json: {error: 'overtaken'}, arrays: {}};
    for (const lanes of asked)
        if (lanes.track.table)
            readRows(lanes);
    await findOpen(trace, asked);
    return write(trace, asked, others, makeItems(asked, k, budget, trace.isEmpty ? 0 : trace.lastEvent), lo, hi);
}
