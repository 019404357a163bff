/* zones.js - questions about one zone: its details, its neighbours.  SPDX-License-Identifier: MIT */
import {addExtra, ENDED, OPEN, UNFINISHED} from './part.js';
import {hasLoc} from './stats.js';
import {lastTickAt, tickAt} from './pixels.js';

const STATES = {[ENDED]: 'ended', [UNFINISHED]: 'unfinished', [OPEN]: 'open'};
const MOST_BLOCKS = 256, MOST_ROWS = 100, STEP_BLOCKS = 2000;

/** All zones of a track that touch [lo, hi], each once: {begin, end, self, depth, loc, state, extra}. */
export async function zonesIn(trace, track, lo, hi, most = MOST_BLOCKS) {
    if (track.kind !== 'thread')
        return listIn(trace, track, lo, hi);
    const found = new Map();
    let n = 0, lastZones = null, lastPart = null;
    for (const block of await blocksFor(trace, track, lo, hi)) {
        const parts = await trace.parts(block);
        const mine = parts.some((p) => trace.threadTrack(p.proc, p.track) === track.id);
        if (!mine || ++n > most)
            continue;
        const lists = await trace.decoded(block);
        parts.forEach((part, i) => {
            if (trace.threadTrack(part.proc, part.track) !== track.id || !lists[i])
                return;
            takeTouching(found, lists[i], lo, hi);
            if (part.first <= hi) {
                lastZones = lists[i];
                lastPart = part;
            }
        });
    }
    if (lastZones)
        lastZones.open.forEach((z, i) => {
            const depth = lastPart.nBelow + i, key = `${depth}/${z.begin}`;
            if (z.begin <= hi && !found.has(key))
                found.set(key, {begin: z.begin, end: trace.lastEvent, self: 0, depth, loc: z.loc, state: OPEN, extra: z.extra});
        });
    return [...found.values()];
}

const LOOK_BACK = 64;

/* Blocks with something of a range; behind a track's last event, the block with that: what it leaves open goes on. */
async function blocksFor(trace, track, lo, hi) {
    const blocks = trace.blocksIn(lo, hi), before = trace.events.filter((b) => b.max < lo).slice(-LOOK_BACK).reverse();
    for (const block of before)
        if ((await trace.parts(block)).some((p) => trace.threadTrack(p.proc, p.track) === track.id))
            return [block, ...blocks];
    return blocks;
}

function takeTouching(found, list, lo, hi) {
    for (let i = 0; i < list.n; i++)
        if (list.end[i] >= lo && list.begin[i] <= hi)
            found.set(`${list.depth[i]}/${list.begin[i]}/${list.end[i] === list.begin[i] ? i : ''}`, {
                begin: list.begin[i], end: list.end[i], self: list.self[i], depth: list.depth[i], loc: list.loc[i], state: list.state[i],
                extra: list.extras instanceof Map ? list.extras.get(i) : list.extras[i],
            });
}

function listIn(trace, track, lo, hi) {
    const list = trace.others && trace.others.lists.get(track.id), found = new Map();
    if (list)
        for (let i = 0; i < list.n; i++)
            if (list.end[i] >= lo && list.begin[i] <= hi)
                found.set(i, {begin: list.begin[i], end: list.end[i], self: list.self[i], depth: list.depth[i], loc: list.loc[i], state: list.state[i], extra: list.extras[i]});
    return [...found.values()];
}

function tally(zones) {
    const rows = new Map();
    for (const z of zones) {
        const row = rows.get(z.loc) || rows.set(z.loc, {loc: z.loc, count: 0, ticks: 0}).get(z.loc);
        row.count++;
        row.ticks += Math.max(0, z.end - z.begin);
    }
    return [...rows.values()].sort((a, b) => b.ticks - a.ticks).slice(0, MOST_ROWS);
}

/* Texts of a zone may be in the parts before the one that it ends in. */
async function gatherExtra(trace, track, zone) {
    if (track.kind !== 'thread')
        return zone.extra || {};
    const extra = {};
    for (const block of trace.blocksIn(zone.begin, zone.end).slice(0, MOST_BLOCKS)) {
        const parts = await trace.parts(block);
        if (!parts.some((p) => trace.threadTrack(p.proc, p.track) === track.id))
            continue;
        const lists = await trace.decoded(block);
        parts.forEach((part, i) => {
            if (lists[i] && trace.threadTrack(part.proc, part.track) === track.id)
                mergeExtra(extra, part, lists[i], zone);
        });
    }
    return extra;
}

function mergeExtra(extra, part, list, zone) {
    const open = list.open[zone.depth - part.nBelow];
    let from = open && open.begin === zone.begin ? open.extra : null;
    for (const [i, e] of list.extras)
        if (list.depth[i] === zone.depth && list.begin[i] === zone.begin)
            from = e;
    if (!from)
        return;
    for (const text of from.texts || [])
        addExtra(extra, 4, text);
    for (const key of ['name', 'value', 'color'])
        if (from[key] !== undefined)
            extra[key] = from[key];
}

/* One per depth: of several (unfinished ones share their end with others) the innermost in time. */
function parentsOf(near, zone) {
    const byDepth = new Map();
    for (const z of near) {
        const other = byDepth.get(z.depth);
        if (z.depth < zone.depth && z.begin <= zone.begin && z.end >= zone.end && (!other || z.begin >= other.begin))
            byDepth.set(z.depth, z);
    }
    return [...byDepth.values()].sort((a, b) => a.depth - b.depth);
}

async function describe(trace, track, zone) {
    const near = await zonesIn(trace, track, zone.begin, zone.end);
    const within = near.filter((z) => z.depth > zone.depth && z.begin >= zone.begin && z.end <= zone.end);
    const parents = parentsOf(near, zone);
    const direct = within.filter((z) => z.depth === zone.depth + 1), extra = await gatherExtra(trace, track, zone);
    const rows = (list) => tally(list).map((r) => ({loc: r.loc, count: r.count, total: trace.clock.duration(r.ticks)}));
    const t0 = trace.time(zone.begin), ticks = Math.max(0, zone.end - zone.begin);
    return {
        zone: {
            track: track.id, t0, t1: zone.state === OPEN ? null : t0 + trace.clock.duration(ticks), loc: zone.loc, depth: zone.depth,
            self: zone.state === ENDED ? trace.clock.duration(zone.self) : null, state: STATES[zone.state] || 'ended', children: direct.length,
            text: (extra.texts || []).join('\n'), name: extra.name || '', value: extra.value === undefined ? '' : String(extra.value),
            color: extra.color || 0, stack: [],
        },
        parents: parents.map((z) => ({t0: trace.time(z.begin), t1: trace.time(z.end), loc: z.loc, depth: z.depth})),
        children: rows(direct), inside: rows(within), messages: messagesIn(trace, track, zone),
    };
}

function messagesIn(trace, track, zone) {
    if (!trace.others)
        return [];
    return trace.others.messages.filter((m) => m.track === track.id && m.tick >= zone.begin && m.tick <= zone.end).slice(0, MOST_ROWS)
        .map((m) => ({t: trace.time(m.tick), text: m.text, severity: m.severity}));
}

/** Answer "zone". */
export async function zone(trace, q) {
    const track = trace.trackOf(q.track), at = tickAt(trace, Number(q.at));
    if (!track)
        return {json: {zone: null}, arrays: {}};
    const slack = Math.ceil((q.slack || 0) / trace.clock.nsPerTick) + 1;
    let best = null, far = Infinity;
    for (const z of await zonesIn(trace, track, at - slack, at + slack)) {
        if (z.depth !== q.depth)
            continue;
        const d = at < z.begin ? z.begin - at : at > z.end ? at - z.end : -1 / (1 + z.end - z.begin);
        if (d < far || d === far && z.begin < best.begin) {
            best = z;
            far = d;
        }
    }
    return {json: best ? await describe(trace, track, best) : {zone: null}, arrays: {}};
}

/** Answer "step": the next or previous zone of the same depth or location on a track. */
export async function step(trace, q) {
    const track = trace.trackOf(q.track), next = q.to !== 'previous', at = (next ? lastTickAt : tickAt)(trace, Number(q.at));
    if (!track)
        return {json: {zone: null}, arrays: {}};
    let loc = q.loc || 0;
    if (q.same === 'loc' && !loc) {
        const here = await zonesIn(trace, track, at - 1, at + 1);
        loc = (here.find((z) => z.depth === q.depth && z.begin <= at && z.end >= at) || {loc: 0}).loc;
    }
    const fits = (z) => (q.same === 'loc' ? z.loc === loc : z.depth === q.depth) && (next ? z.begin > at : z.begin < at);
    const better = (z, best) => !best || (next ? z.begin < best.begin : z.begin > best.begin);
    const best = track.kind === 'thread' ? await stepThread(trace, track, at, next, loc, q, fits, better)
        : listIn(trace, track, -Infinity, Infinity).filter(fits).reduce((b, z) => better(z, b) ? z : b, null);
    return {json: best ? await describe(trace, track, best) : {zone: null}, arrays: {}};
}

async function stepThread(trace, track, at, next, loc, q, fits, better) {
    const blocks = trace.events.filter((b) => next ? b.max >= at : b.min <= at).sort((a, b) => next ? a.min - b.min : b.max - a.max);
    let best = null, n = 0;
    for (const block of blocks) {
        if (best && (next ? block.min > best.begin : block.max < best.begin) || ++n > STEP_BLOCKS)
            break;
        const parts = await trace.parts(block);
        const wanted = parts.filter((p) => trace.threadTrack(p.proc, p.track) === track.id && (q.same !== 'loc' || hasLoc(trace, p, loc)));
        if (!wanted.length)
            continue;
        const lists = await trace.decoded(block);
        for (const part of wanted) {
            const found = new Map(), list = lists[parts.indexOf(part)];
            if (!list)
                continue;
            takeTouching(found, list, -Infinity, Infinity);
            for (const z of found.values())
                if (fits(z) && better(z, best))
                    best = z;
        }
    }
    return best;
}
