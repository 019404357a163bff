/* pixels.js - the question "what do these pixels show?". From the parts' levels of detail where they are
 * fine enough, from events elsewhere: a view costs what it shows.
 * SPDX-License-Identifier: MIT */
import {FROM_DETAIL, Grid, HAS_TEXT, IS_ZONE, Items, Lane, NEVER_ENDS, OPEN_AT_END} from './lanes.js';
import {ENDED, OPEN, UNFINISHED} from './part.js';

/** The first tick at or after a time. */
export function tickAt(trace, ns) {
    let tick = Math.ceil(trace.clock.tickNear(ns));
    while (trace.time(tick - 1) >= ns)
        tick--;
    while (trace.time(tick) < ns)
        tick++;
    return tick;
}

/** The last tick of a time: several ticks may be at one ns. */
export function lastTickAt(trace, ns) {
    return tickAt(trace, Math.floor(ns) + 1) - 1;
}

/* The lanes of one asked track, made as depths are met. */
class TrackLanes {
    constructor(track, first, n, grid) {
        Object.assign(this, {track, first, n, grid, lanes: new Map(), parts: []});
    }

    at(depth) {
        if (depth < this.first || depth >= this.first + this.n)
            return null;
        let lane = this.lanes.get(depth);
        if (!lane)
            this.lanes.set(depth, lane = new Lane(this.grid.n));
        return lane;
    }
}

/* Buckets of a level of detail; `locOf(i)`: location of a stored number. */
function addDetail(asked, lanes, locOf) {
    const grid = asked.grid, {width, depths} = lanes;
    depths.forEach((row, depth) => {
        const lane = asked.at(depth);
        if (!lane)
            return;
        for (let i = 0; i < row.n; i++) {
            const b = grid.bucket(row.at[i]) - grid.first;
            if (b >= 0 && b < grid.n) {
                lane.used = true;
                lane.count[b] += row.count[i];
                lane.busy[b] += row.busy[i];
                if (row.count[i] && row.loc[i])
                    lane.offer(b, row.longest[i], locOf(row.loc[i]), 0, 0, FROM_DETAIL);
            } else if (b >= grid.n && row.count[i] && row.loc[i]) {
                const end = row.at[i] + width, begin = end - row.longest[i];
                if (begin <= grid.last)
                    lane.open.push({t0: begin, loc: locOf(row.loc[i]), flags: IS_ZONE | OPEN_AT_END | FROM_DETAIL});
            }
        }
    });
}

/* Busy time of zones that are open over the whole part or beyond its listed ones. */
function addOpenBefore(asked, part, previous) {
    if (!previous || previous.pos + previous.nWords !== part.pos)
        return;
    for (let depth = 0; depth < part.nBelow + part.stack.length; depth++) {
        const lane = asked.at(depth);
        if (lane)
            lane.spread(asked.grid, previous.last, part.first);
    }
}

function addZones(asked, part, zones) {
    const grid = asked.grid;
    for (let i = 0; i < zones.n; i++) {
        const lane = asked.at(zones.depth[i]);
        if (!lane)
            continue;
        const begin = Math.max(zones.begin[i], part.first), flags = zones.extras.has(i) ? HAS_TEXT : 0;
        if (zones.state[i] !== ENDED) {
            lane.spread(grid, begin, zones.end[i]);
            continue;
        }
        const b = grid.bucket(zones.end[i]) - grid.first;
        lane.spread(grid, begin, zones.end[i]);
        if (zones.begin[i] <= grid.last && zones.end[i] > grid.last)
            lane.open.push({t0: zones.begin[i], loc: zones.loc[i], flags: IS_ZONE | OPEN_AT_END | flags});
        if (b >= 0 && b < grid.n) {
            lane.used = true;
            lane.count[b]++;
            lane.offer(b, Math.max(0, zones.end[i] - zones.begin[i]), zones.loc[i], zones.begin[i], zones.end[i], flags);
        }
    }
    zones.open.forEach((z, i) => {
        const lane = asked.at(part.nBelow + i);
        if (lane)
            lane.spread(grid, Math.max(z.begin, part.first), zones.lastTick);
    });
    for (let depth = 0; depth < part.nBelow; depth++) {
        const lane = asked.at(depth);
        if (lane)
            lane.spread(grid, part.first, zones.lastTick);
    }
}

/* A part behind the view: zones that it lists were open at the view's end. */
function addBehind(asked, part, locOf) {
    part.stack.forEach((z, i) => {
        const lane = asked.at(part.nBelow + i);
        if (lane && z.begin <= asked.grid.last) {
            lane.spread(asked.grid, z.begin, asked.grid.last + 1);
            lane.open.push({t0: z.begin, loc: locOf(part.proc, z.loc), flags: IS_ZONE | OPEN_AT_END});
        }
    });
}

/* Zones left open by a track's last part up to the view's end, if no later part ends them. */
function addNeverEnding(trace, asked, nBelow, zones) {
    const grid = asked.grid;
    zones.open.forEach((z, i) => {
        const lane = asked.at(nBelow + i);
        if (!lane || z.begin > grid.last || lane.open.some((o) => o.t0 === z.begin))
            return;
        lane.spread(grid, zones.lastTick, Math.min(grid.last, trace.lastEvent) + 1);
        lane.open.push({t0: z.begin, loc: z.loc, flags: IS_ZONE | OPEN_AT_END | NEVER_ENDS});
    });
}

async function readThreads(trace, asked, grid, isOvertaken) {
    const wanted = new Map(), last = new Map(), from = grid.start(0), to = grid.start(grid.n);
    for (const a of asked)
        if (a.track.kind === 'thread')
            wanted.set(a.track.id, a);
    if (!wanted.size)
        return true;
    for (const node of trace.nodes) {
        if (node.max < from || node.min > to)
            continue;
        if (isOvertaken())
            return false;
        const rest = await readNode(trace, node, wanted, last, grid);
        if (rest.size && !await readBlocks(trace, node.blocks, rest, last, grid, isOvertaken))
            return false;
    }
    if (!await readBlocks(trace, trace.loose, wanted, last, grid, isOvertaken))
        return false;
    await readOpen(trace, wanted, last, grid);
    return true;
}

/* What a node's lanes tell; the tracks for which they are too coarse are given back. */
async function readNode(trace, node, wanted, last, grid) {
    const rest = new Map();
    for (const [id, a] of wanted) {
        const key = `${a.track.proc}/${a.track.number}`, t = node.tracks.get(key);
        if (!t)
            continue;
        const locOf = (n) => trace.model.loc(t.proc, n - 1);
        let lanes = t.lanes.width <= grid.size ? t.lanes : null;
        if (!lanes && t.fineWidth <= grid.size) {
            const fine = await trace.fineLanes(node);
            lanes = fine && fine.get(key);
        }
        if (!lanes) {
            rest.set(id, a);
            continue;
        }
        addDetail(a, lanes, locOf);
        if (t.first <= grid.last)
            last.set(id, {node: t});
    }
    return rest;
}

async function readBlocks(trace, blocks, wanted, last, grid, isOvertaken) {
    const locOf = (proc, id) => trace.model.loc(proc, id), from = grid.start(0), to = grid.start(grid.n);
    for (const block of blocks) {
        if (block.max < from || block.min > to)
            continue;
        if (isOvertaken())
            return false;
        const parts = await trace.parts(block);
        for (let i = 0; i < parts.length; i++) {
            const part = parts[i], id = trace.threadTrack(part.proc, part.track), a = wanted.get(id);
            if (!a)
                continue;
            const before = last.get(id);
            if (part.first > grid.last) {
                addBehind(a, part, locOf);
                continue;
            }
            addOpenBefore(a, part, before && before.part);
            last.set(id, {part, block, i});
            if (part.lod && part.lod.width <= grid.size) {
                addDetail(a, part.lod, (n) => locOf(part.proc, part.locs[n - 1]));
                continue;
            }
            const zones = (await trace.decoded(block))[i];
            if (zones)
                addZones(a, part, zones);
        }
    }
    return true;
}

/* What is open at the view's end and does not end: asks the last part of each track that reaches it. */
async function readOpen(trace, wanted, last, grid) {
    for (const [id, at] of last) {
        if (!await isLastPart(trace, id, at))
            continue;
        if (at.node) {
            const open = at.node.open.map((z) => ({begin: z.begin, loc: trace.model.loc(at.node.proc, z.loc)}));
            addNeverEnding(trace, wanted.get(id), 0, {open, lastTick: at.node.last});
            continue;
        }
        const zones = (await trace.decoded(at.block))[at.i];
        if (zones && zones.open.length)
            addNeverEnding(trace, wanted.get(id), at.part.nBelow, zones);
    }
}

/* Whether what was read of a track up to the view's end is all there is of it. */
async function isLastPart(trace, id, at) {
    const key = `${trace.trackOf(id).proc}/${trace.trackOf(id).number}`, node = trace.nodes.findLast((n) => n.tracks.has(key));
    if (at.node)
        return node && node.tracks.get(key) === at.node && !trace.loose.length;
    if (!trace.lastParts)
        await findLastParts(trace);
    const final = trace.lastParts.get(id);
    return final ? final === `${at.block.offset}/${at.i}` : !node || node.blocks.includes(at.block);
}

const LOOK_BACK = 512;

/* The last part of each thread, among the last blocks of the file. */
async function findLastParts(trace) {
    trace.lastParts = new Map();
    for (const block of trace.events.slice(-LOOK_BACK))
        (await trace.parts(block)).forEach((part, i) => trace.lastParts.set(trace.threadTrack(part.proc, part.track), `${block.offset}/${i}`));
}

function addList(asked, list) {
    for (let i = 0; i < list.n; i++) {
        const lane = asked.at(list.depth[i]);
        if (!lane)
            continue;
        const flags = list.extras[i] ? HAS_TEXT : 0;
        if (list.state[i] === UNFINISHED)
            lane.spread(asked.grid, list.begin[i], list.end[i]);
        else if (list.state[i] === OPEN && list.begin[i] <= asked.grid.last)
            lane.open.push({t0: list.begin[i], loc: list.loc[i], flags: IS_ZONE | OPEN_AT_END | NEVER_ENDS});
        else if (list.state[i] === ENDED)
            lane.addZone(asked.grid, list.begin[i], list.end[i], list.loc[i], flags);
    }
}

function addMessages(asked, list) {
    const lane = asked.at(0), grid = asked.grid;
    for (const m of list) {
        const b = grid.bucket(m.tick) - grid.first;
        if (!lane || b < 0 || b >= grid.n)
            continue;
        lane.used = true;
        lane.count[b]++;
        lane.loc[b] = Math.max(lane.loc[b], m.severity + 1);
    }
}

/* Buckets with values: min, max, last. */
function plotItems(trace, grid, plot) {
    const out = [];
    let from = 0, to = plot.t.length;
    while (from < to) {
        const mid = from + to >> 1;
        if (plot.t[mid] < grid.start(0))
            from = mid + 1;
        else
            to = mid;
    }
    for (let i = Math.max(0, from - 1), last = null; i < plot.t.length; i++) {
        const b = grid.bucket(plot.t[i]), v = plot.v[i];
        if (last && last.b === b) {
            last.min = Math.min(last.min, v);
            last.max = Math.max(last.max, v);
            last.last = v;
        } else {
            out.push(last = {b, t0: plot.t[i], min: v, max: v, last: v});
        }
        if (plot.t[i] > grid.last)
            break;
    }
    return out;
}

function chooseLevel(asked, grid, base, budget) {
    for (;;) {
        if (countItems(asked, grid) <= budget || grid.k >= 62)
            return grid;
        const odd = ((grid.first % 2) + 2) % 2 === 1, wide = new Grid(grid.lo, grid.hi, grid.k + 1, base);
        for (const a of asked) {
            for (const [depth, lane] of a.lanes)
                a.lanes.set(depth, lane.halve(odd));
            a.grid = wide;
        }
        grid = wide;
    }
}

/* Whether even much wider buckets give more items than asked for: then the fine ones need not be read. */
async function startLevel(trace, q, k, make, budget, isOvertaken) {
    for (const more of trace.nodes.length ? [4, 3, 2, 1] : []) {
        const {asked, grid} = make(k + more);
        if (!await readThreads(trace, asked, grid, isOvertaken))
            return null;
        if (countItems(asked, grid) > budget)
            return k + more;
    }
    return k;
}

function countItems(asked, grid) {
    let n = 0;
    for (const a of asked)
        for (const lane of a.lanes.values())
            n += lane.items(grid, null);
    return n;
}

/** Answer "pixels". `isOvertaken()`: a newer question waits, so give up. */
export async function pixels(trace, q, isOvertaken) {
    const from = Number(q.from), to = Math.max(Number(q.to), from + 1), overtaken = {json: {error: 'overtaken'}, arrays: {}};
    const width = Math.min(16384, Math.max(1, Math.floor(q.width) || 1)), budget = Math.min(1e6, Math.max(100, q.budget || 5000));
    const lo = tickAt(trace, from), hi = Math.max(lo + 1, tickAt(trace, to));
    const make = (level) => {
        const grid = new Grid(lo, hi, level, trace.base), asked = [];
        for (const [id, first, n] of (q.lanes || []).slice(0, 4096)) {
            const track = trace.trackOf(id);
            if (track)
                asked.push(new TrackLanes(track, first, Math.min(n, 512), grid));
        }
        return {grid, asked};
    };
    const exact = Grid.level(lo, hi, width), first = q.quick ? quickLevel(trace, exact, make) : exact;
    const k = await startLevel(trace, q, first, make, budget, isOvertaken);
    if (k === null)
        return overtaken;
    const {grid, asked} = make(k);
    if (!await readThreads(trace, asked, grid, isOvertaken))
        return overtaken;
    addOthers(trace, asked);
    const plots = asked.filter((a) => a.track.kind === 'plot'), values = plots.map((a) => plotItems(trace, grid, trace.others.plots.get(a.track.id) || {t: [], v: []}));
    const answer = write(trace, asked, chooseLevel(asked, grid, trace.base, budget), plots, values, to);
    answer.json.coarse = first > exact && k === first;
    return answer;
}

const MANY_BLOCKS = 40, MOST_COARSER = 5;

/* A level at which few blocks have to be read for the events in them. */
function quickLevel(trace, exact, make) {
    let k = exact;
    for (; k < exact + MOST_COARSER; k++) {
        const {asked, grid} = make(k), from = grid.start(0), to = grid.start(grid.n);
        let n = 0;
        for (const node of trace.nodes) {
            const tooCoarse = asked.some(({track}) => {
                const t = node.tracks.get(`${track.proc}/${track.number}`);
                return t && t.lanes.width > grid.size && t.fineWidth > grid.size;
            });
            if (tooCoarse && node.max >= from && node.min <= to)
                n += node.blocks.filter((b) => b.max >= from && b.min <= to && !trace.zones.map.has(b.offset)).length;
        }
        if (n <= MANY_BLOCKS)
            break;
    }
    return k;
}

function addOthers(trace, asked) {
    for (const a of asked) {
        const list = trace.others && trace.others.lists.get(a.track.id);
        if (list)
            addList(a, list);
        else if (a.track.kind === 'messages' && trace.others)
            addMessages(a, trace.others.messagesOf.get(a.track.id) || []);
    }
}

function write(trace, asked, grid, plots, values, to) {
    const nValues = values.reduce((n, v) => n + v.length, 0), lanes = [], rows = [];
    let room = nValues;
    for (const a of asked)
        for (const depth of [...a.lanes.keys()].sort((x, y) => x - y)) {
            const list = [];
            a.lanes.get(depth).items(grid, (item) => list.push(item));
            if (list.length)
                rows.push([a.track.id, depth, list, a.grid.k]);
            room += list.length;
        }
    const items = new Items(room), end = Math.max(to, trace.time(grid.last));
    for (const [id, depth, list, level] of rows) {
        lanes.push([id, depth, items.n, list.length, level]);
        for (const item of list)
            putItem(trace, items, item, end);
    }
    const min = new Float64Array(nValues), max = new Float64Array(nValues), last = new Float64Array(nValues);
    let at = 0;
    plots.forEach((a, p) => {
        lanes.push([a.track.id, 0, items.n, values[p].length, a.grid.k, at]);
        for (const v of values[p]) {
            min[at] = v.min, max[at] = v.max, last[at++] = v.last;
            items.put(trace.time(v.t0), trace.time((v.b + 1) * grid.size - grid.mod), 0, 1, 0, 0);
        }
    });
    return {
        json: {
            k: grid.k, bucket_ns: trace.clock.duration(grid.size), lanes, limits: trace.limits,
            n_depths: asked.map((a) => [a.track.id, a.track.n_depths]),
        },
        arrays: {t0: items.t0, t1: items.t1, loc: items.loc, count: items.count, busy: items.busy, flags: items.flags, min, max, last},
    };
}

function putItem(trace, items, item, to) {
    const t0 = trace.time(item.t0);
    let t1 = to;
    if (item.t1 !== null)
        t1 = item.flags & IS_ZONE ? t0 + trace.clock.duration(item.ticks) : trace.time(item.t1);
    items.put(t0, t1, item.loc, item.count, item.busy, item.flags);
}
