/* zones.js - questions about one zone: its details, its neighbours.  SPDX-License-Identifier: MIT */
import {addExtra, BEGIN, ENDED} from './part.js';
import {LOCK_WAIT} from './tables.js';
import {openAt} from './open.js';
import {rowNumber} from './rows.js';
import {tableTrack, threadTrack, trackOf} from './tracks.js';

const MOST_PARTS = 256, MOST_ROWS = 100, MOST_SUMS = 4096, MOST_IN_BLOCK = 64, CALLSTACK = 26, OWN_TIME = 49, LOCK_OBTAIN = 17, LOCK_RELEASE = 18;
const STACK_BITS = 1n << BigInt(CALLSTACK);

function distance(begin, end, tick) {
    return begin > tick ? begin - tick : tick > end ? tick - end : 0;
}

/* Keeps the zone that is nearest to a tick, of equals the first to begin. */
class Nearest {
    constructor(tick, slack) {
        Object.assign(this, {tick, slack, best: null, far: Infinity});
    }

    offer(begin, end, key) {
        const far = distance(begin, end, this.tick);
        if (far > this.slack || far > this.far || far === this.far && begin >= this.best.begin)
            return;
        this.far = far;
        this.best = key;
    }
}

/* Sums by location, most ticks first. */
class Sums {
    constructor() {
        this.rows = new Map();
    }

    add(loc, ticks) {
        let row = this.rows.get(loc);
        if (!row) {
            if (this.rows.size >= MOST_SUMS)
                return;
            this.rows.set(loc, row = {loc, count: 0, ticks: 0});
        }
        row.count++;
        row.ticks += ticks;
    }

    list(trace, numberOf) {
        return [...this.rows.values()].sort((a, b) => b.ticks - a.ticks || a.loc - b.loc).slice(0, MOST_ROWS)
            .map((r) => ({loc: numberOf(r.loc), count: r.count, total: trace.clock.duration(r.ticks)}));
    }
}

function newDetail(key) {
    return {begin: key.begin, end: null, loc: key.loc, depth: key.depth, self: 0, state: 'open', nChildren: 0, isWhole: true, isCarried: false, extra: {}, parents: [], children: new Sums(), inside: new Sums()};
}

/* ---- zones of threads: key {begin, loc (id), depth} ---- */

async function findZone(trace, thread, depth, tick, slack) {
    const open = (await openAt(trace, tick, [thread])).get(thread)[depth];
    if (open)
        return {begin: open.begin, loc: open.id, depth};
    const near = new Nearest(tick, slack), lo = tick - slack, hi = tick + slack;
    for (const block of slack ? trace.blocksIn(lo, hi) : []) {
        const parts = await trace.parts(block);
        for (const [i, part] of parts.entries()) {
            if (part.thread !== thread || !part.nEvents || part.last < lo || part.first - part.early > hi)
                continue;
            const zones = (await trace.decoded(block))[i];
            for (let k = 0; zones && k < zones.n; k++)
                if (zones.depth[k] === depth && zones.state[k] === ENDED)
                    near.offer(zones.begin[k], Math.max(zones.begin[k], zones.end[k]), {begin: zones.begin[k], loc: zones.id[k], depth});
        }
    }
    return near.best;
}

async function stepZone(trace, thread, tick, isNext, fits) {
    const blocks = isNext ? trace.events : [...trace.events].reverse();
    let best = null, nLooked = 0;
    for (const block of blocks) {
        if (nLooked >= MOST_PARTS)
            break;
        if (isNext ? block.max < tick || best && block.min > best.begin : block.min > tick || best && block.max < best.begin)
            continue;
        const parts = await trace.parts(block), own = [...parts.keys()].filter((i) => parts[i].thread === thread && parts[i].nEvents).slice(0, MOST_IN_BLOCK);
        if (!own.length)
            continue;
        nLooked++;
        const lists = await trace.decoded(block);
        for (const zones of own.map((i) => lists[i]))
            for (let k = 0; zones && k < zones.n; k++) {
                const begin = zones.begin[k], isFar = isNext ? begin <= tick || best && begin >= best.begin : begin >= tick || best && begin <= best.begin;
                if (!isFar && zones.state[k] === ENDED && fits(zones.id[k], zones.depth[k]))
                    best = {begin, loc: zones.id[k], depth: zones.depth[k]};
            }
    }
    return best;
}

function isSame(detail, z) {
    return z && z.begin === detail.begin && z.id === detail.loc;
}

/* The zone is open after a part, and what was said of it there is kept. */
function carry(detail, part, zones) {
    const z = zones.open[detail.depth - part.nBelow];
    if (detail.depth >= part.nBelow)
        detail.isCarried = isSame(detail, z);
    if (isSame(detail, z) && z.extra)
        mergeExtra(detail.extra, z.extra);
}

/* It was open after the part before and is not at the start of this one: its end is in a hole. */
function isGivenUp(detail, part) {
    return detail.isCarried && detail.depth >= part.nBelow && !isSame(detail, part.stack[detail.depth - part.nBelow]);
}

function mergeExtra(to, from) {
    for (const text of from.texts || [])
        addExtra(to, 4, text);
    for (const key of ['name', 'value', 'color'])
        if (from[key] !== undefined)
            to[key] = from[key];
}

/* The zones that end in a part: the one that is looked for, and those inside it. True: it ended. */
function lookAtRows(detail, zones) {
    for (let i = 0; i < zones.n; i++) {
        const depth = zones.depth[i], ticks = Math.max(0, zones.end[i] - zones.begin[i]);
        if (depth === detail.depth && zones.begin[i] === detail.begin && zones.id[i] === detail.loc) {
            const isEnded = zones.state[i] === ENDED;
            Object.assign(detail, {state: isEnded ? 'ended' : 'unfinished', end: isEnded ? zones.begin[i] + ticks : null, self: isEnded ? zones.self[i] : 0});
            mergeExtra(detail.extra, zones.extras.get(i) || {});
            return true;
        }
        if (depth <= detail.depth || zones.begin[i] < detail.begin || zones.state[i] !== ENDED)
            continue;
        detail.inside.add(zones.id[i], ticks);
        if (depth === detail.depth + 1) {
            detail.children.add(zones.id[i], ticks);
            detail.nChildren++;
        }
    }
    return false;
}

/* True: the blocks of an LOD block need not be looked at: the thread is not in them, or the zone goes on all through them
 * and enough was read of it. */
function canSkip(node, thread, detail, nParts) {
    const t = node.tracks.get(`${thread.proc}/${thread.track}`);
    if (!t)
        return true;
    if (t.low <= detail.depth || nParts < MOST_PARTS)
        return false;
    detail.isWhole = false;
    return true;
}

async function findEnd(trace, thread, detail) {
    let nParts = 0;
    for (let b = 0; b < trace.events.length; b++) {
        const block = trace.events[b], {node} = block;
        if (block.max < detail.begin)
            continue;
        if (node && block === node.blocks[0] && canSkip(node, thread, detail, nParts)) {
            b += node.blocks.length - 1;
            continue;
        }
        const parts = await trace.parts(block), own = [];
        for (const [i, part] of parts.entries()) {
            if (part.thread !== thread || !part.nEvents || part.last < detail.begin || own.length >= MOST_IN_BLOCK)
                continue;
            if (nParts + own.length < MOST_PARTS || part.nBelow <= detail.depth)
                own.push(i);
            else
                detail.isWhole = false;
        }
        for (const i of own) {
            const zones = (await trace.decoded(block))[i];
            nParts++;
            if (isGivenUp(detail, parts[i]))
                return void (detail.state = 'unfinished');
            if (!zones)
                continue;
            if (lookAtRows(detail, zones))
                return;
            carry(detail, parts[i], zones);
        }
    }
}

async function lookZone(trace, thread, key) {
    const detail = newDetail(key), open = (await openAt(trace, key.begin, [thread])).get(thread);
    open.slice(0, key.depth).forEach((z, depth) => detail.parents.push({begin: z.begin, loc: z.id, depth}));
    await findEnd(trace, thread, detail);
    return detail;
}

/* ---- zones of tables: the rows themselves ---- */

function openRow(table, depth, tick) {
    return table.rows.reduce((found, row) => (row.depth === depth && row.begin <= tick && row.end > tick && (!found || row.begin > found.begin) ? row : found), null);
}

function findRow(table, depth, tick, slack) {
    const open = openRow(table, depth, tick), near = new Nearest(tick, slack);
    for (const row of open || !slack ? [] : table.rows)
        if (row.depth === depth && row.end !== Infinity)
            near.offer(row.begin, row.end, row);
    return open || near.best;
}

function stepRow(table, tick, isNext, fits) {
    let best = null;
    for (const row of table.rows)
        if (row.end !== Infinity && fits(row.loc, row.depth) && (isNext ? row.begin > tick && (!best || row.begin < best.begin) : row.begin < tick && (!best || row.begin > best.begin)))
            best = row;
    return best;
}

function lookRow(table, row) {
    const isOpen = row.end === Infinity, detail = Object.assign(newDetail(row), {end: isOpen ? null : row.end, self: row.self, state: isOpen ? 'open' : 'ended', extra: row.extra || {}});
    if (table.kind === 'spans') /* they overlap: none is inside another */
        return detail;
    for (const r of table.rows) {
        if (r.depth <= row.depth || r.begin < row.begin || r.end > row.end || r.end === Infinity)
            continue;
        detail.inside.add(r.loc, r.end - r.begin);
        if (r.depth === row.depth + 1) {
            detail.children.add(r.loc, r.end - r.begin);
            detail.nChildren++;
        }
    }
    for (let depth = 0; depth < row.depth; depth++) {
        const parent = openRow(table, depth, row.begin);
        if (parent)
            detail.parents.push({begin: parent.begin, loc: parent.loc, depth});
    }
    return detail;
}

/* ---- around it ---- */

function messagesIn(trace, track, begin, end) {
    return trace.tables.messages.filter((m) => m.tick >= begin && m.tick <= end && isOwn(track, m.thread)).slice(0, MOST_ROWS)
        .map((m) => ({t: trace.time(m.tick), text: m.text, severity: m.severity}));
}

function isOwn(track, thread) {
    return track.thread !== null && threadTrack(thread) === track.id;
}

/* What the thread waited for: each until it has the lock. */
function waitsIn(trace, track, begin, end) {
    const waits = [];
    for (const table of trace.tables.list.filter((t) => t.kind === 'locks'))
        table.points.forEach((point, i) => {
            if (point.kind !== LOCK_WAIT || point.tick < begin || point.tick > end || !isOwn(track, point.thread))
                return;
            const next = table.points.slice(i + 1).find((p) => p.thread === point.thread && p.kind !== LOCK_RELEASE);
            waits.push({tick: point.tick, ticks: next && next.kind === LOCK_OBTAIN ? next.tick - point.tick : null, order: point.order, table});
        });
    waits.sort((a, b) => a.tick - b.tick || a.order - b.order);
    const ended = waits.filter((w) => w.ticks !== null), time = (w) => trace.time(w.tick);
    return {
        waits: waits.slice(0, MOST_ROWS).map((w) => ({t0: time(w), t1: w.ticks === null ? null : time(w) + trace.clock.duration(w.ticks), lock: w.table.name(), track: tableTrack(w.table)})),
        n_waits: ended.length, waited: trace.clock.duration(ended.reduce((n, w) => n + w.ticks, 0)),
    };
}

/* The addresses that came before a zone's begin; [] if none did. */
async function stackAt(trace, thread, {begin, loc}) {
    for (const block of trace.blocksIn(begin, begin)) {
        const parts = trace.mayHold(block, STACK_BITS) ? await trace.parts(block) : [];
        if (!parts.some((p) => p.thread === thread && p.nEvents && p.first <= begin && p.last >= begin))
            continue;
        let waiting = [], found = null;
        const sink = (kind, tick, fields, run) => {
            if (found || run.part.thread !== thread || run.part.last < begin || kind === OWN_TIME)
                return;
            if (kind === CALLSTACK)
                return void (waiting = fields[0]);
            if (kind === BEGIN && tick === begin && fields[0] === loc)
                found = waiting;
            waiting = [];
        };
        await trace.decode(block, sink);
        if (found)
            return found;
    }
    return [];
}

function framesOf(process, addresses) {
    return addresses.flatMap((address) => {
        const module = process.modules.findLast((m) => address >= m.base && address < m.base + m.size), image = module ? module.path : '';
        const rows = process.symbols.get(address) || [{name: '', file: '', line: 0, image: ''}];
        return rows.map((r) => ({address: `0x${address.toString(16)}`, name: r.name, file: r.file, line: r.line, image: r.image || image}));
    });
}

async function describe(trace, track, key) {
    if (!key)
        return {json: {zone: null}, arrays: {}};
    const {table, thread} = track, z = table ? lookRow(table, key) : await lookZone(trace, thread, key), isEnded = z.state === 'ended';
    const numberOf = (loc) => (table ? rowNumber(trace, loc) : trace.model.loc(thread.process.index, loc)), t0 = trace.time(z.begin), {extra} = z, end = isEnded ? z.end : Infinity;
    return {
        json: {
            zone: {
                track: track.id, t0, t1: isEnded ? t0 + trace.clock.duration(z.end - z.begin) : null, self: isEnded ? trace.clock.duration(z.self) : null, loc: numberOf(z.loc), depth: z.depth,
                state: z.state, children: z.nChildren, whole: z.isWhole, text: (extra.texts || []).join('\n'), name: extra.name || '', value: extra.value === undefined ? '' : String(extra.value), color: extra.color || 0,
            },
            parents: z.parents.map((p) => ({t0: trace.time(p.begin), loc: numberOf(p.loc), depth: p.depth})), children: z.children.list(trace, numberOf), inside: z.inside.list(trace, numberOf),
            messages: messagesIn(trace, track, z.begin, end), ...waitsIn(trace, track, z.begin, end), stack: table ? [] : framesOf(thread.process, await stackAt(trace, thread, z)),
        },
        arrays: {},
    };
}

function placeOf(trace, q) {
    const track = trackOf(trace, q.track);
    if (!track || !track.table && (!track.thread || track.thread.twin))
        throw new Error('that track has no zones');
    return track;
}

/** Answer "zone". */
export async function zone(trace, q) {
    const track = placeOf(trace, q), at = Number(q.at) || 0, tick = trace.tickAt(at), slack = trace.tickAt(at + Math.max(0, q.slack || 0)) - tick, depth = q.depth || 0;
    return describe(trace, track, track.table ? findRow(track.table, depth, tick, slack) : await findZone(trace, track.thread, depth, tick, slack));
}

/** Answer "step": the next or previous zone of the same depth or location on a track. */
export async function step(trace, q) {
    const track = placeOf(trace, q), {table, thread} = track, isNext = q.to !== 'previous', at = Number(q.at) || 0;
    const tick = isNext ? trace.tickAt(Math.floor(at) + 1) - 1 : trace.tickAt(at); /* several ticks may be one ns: those of `at` itself are stepped over */
    if (table)
        return describe(trace, track, stepRow(table, tick, isNext, q.same === 'loc' ? (loc) => rowNumber(trace, loc) === q.loc : (loc, depth) => depth === (q.depth || 0)));
    const isNamed = q.loc < 0x80000000, fits = q.same === 'loc' ? (id) => isNamed && trace.model.loc(thread.process.index, id) === q.loc : (id, depth) => depth === (q.depth || 0);
    return describe(trace, track, await stepZone(trace, thread, tick, isNext, fits));
}
