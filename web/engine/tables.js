/* tables.js - what is shown one by one: messages, frames, plots, locks and flows, and the zones that no single track
 * tells: of fibers, spans, threads that several clients saw, GPU contexts. It is found by one pass over the events, made
 * once and only if the trace may have such events; what is kept is bounded, and what is left out is told.
 * SPDX-License-Identifier: MIT */
import {BEGIN, END_LOST, Pieces} from './part.js';
import {lowBits} from './bytes.js';
import {pairGpu} from './gpu.js';
import {pairLoose} from './loose.js';
import {NO_LOC} from './rows.js';

const MOST_ROWS = 1 << 20, MOST_LOOSE = 6000000, MOST_BYTES = 4 * (30 << 20), SMALL_BYTES = 8 << 20;
const WANTED = [3, 8, 9, 10, 11, 12, 13, 16, 17, 18, 23, 24, 25], LOOSE = [19, 21, 22], GPU = [39];
export const LOCK_WAIT = 16;
const LOCK_OBTAIN = 17, LOCK_RELEASE = 18, FRAME_START = 12, FRAME_END = 13, FIBER_ENTER = 19, MOST_HOLDERS = 256;

/** A track of its own. Rows: {begin, end (Infinity: open), loc (rowLoc), depth, self, extra}. */
class Table {
    constructor(index, kind, process, id, sub, name) {
        Object.assign(this, {index, kind, process, id, sub, name, parent: null, thread: null, rows: [], values: [], points: [], nDepths: 1});
    }

    get hasZones() {
        return ['thread', 'fiber', 'spans', 'gpu', 'risc'].includes(this.kind);
    }
}

const byTick = (a, b) => a.tick - b.tick; /* stable: equal ticks stay in the order of reading */

export class Tables {
    constructor(trace) {
        Object.assign(this, {trace, list: [], keys: new Map(), threads: new Map(), messages: [], flows: [], loose: [], gpu: [], nRows: 0, order: 0, nValues: 0, nPoints: 0, nLeftOut: 0, isUnpaired: false, isShort: false});
    }

    /** Whether the trace may have events of some kinds. */
    mayHave(kinds) {
        const {file, nodes} = this.trace;
        if (file.totals)
            return kinds.some((kind) => file.totals.kinds.get(kind) > 0);
        const bits = bitsOf(kinds);
        return nodes.some((node) => [...node.kinds.values()].some((k) => (k & bits) !== 0n)) || this.trace.source.size < SMALL_BYTES;
    }

    make(kind, process, id, name, sub = 0) {
        const key = `${kind}/${process.index}/${id}/${sub}`;
        let table = this.keys.get(key);
        if (!table) {
            table = new Table(this.list.length, kind, process, id, sub, name);
            this.keys.set(key, table);
            this.list.push(table);
        }
        return table;
    }

    add(table, row) {
        if (this.nRows >= MOST_ROWS) {
            this.isShort = this.isShort || isSummed(table.kind);
            return void this.nLeftOut++;
        }
        this.nRows++;
        table.rows.push(row);
        table.nDepths = Math.max(table.nDepths, row.depth + 1);
    }

    async collect() {
        const trace = this.trace, tooLarge = trace.source.size > MOST_BYTES;
        const byLoose = trace.model.hasTwins || this.mayHave(LOOSE), byGpu = this.mayHave(GPU);
        this.isUnpaired = (byLoose || byGpu) && tooLarge;
        this.takesLoose = byLoose && !tooLarge;
        this.takesGpu = byGpu && !tooLarge;
        if (this.takesLoose || this.takesGpu || this.mayHave(WANTED.slice(1)))
            await this.readBlocks();
        this.settle();
        if (this.takesLoose && !this.isUnpaired)
            pairLoose(this);
        if (this.takesGpu)
            pairGpu(this);
        this.loose = this.gpu = null;
    }

    /* A fiber's or shared thread's zones go on into blocks with no other event of interest. */
    async readBlocks() {
        const trace = this.trace, pieces = new Map(), bits = bitsOf([...WANTED, ...GPU, 40, 41, 42, 43, 44]);
        const piecesOf = (part) => {
            const kept = pieces.get(part.thread);
            const own = kept && kept.next === part.pos ? kept.own : new Pieces();
            pieces.set(part.thread, {own, next: part.pos + part.nWords});
            return own;
        };
        const sink = (kind, tick, fields, run) => this.take(kind, tick, fields, run);
        for (const block of trace.events)
            if (this.takesLoose || trace.mayHold(block, bits))
                await trace.decode(block, sink, piecesOf);
    }

    take(kind, tick, fields, run) {
        if (kind === BEGIN || kind === END_LOST || kind >= 4 && kind <= 7 || kind === 21 || kind === 22)
            return this.takeLoose(kind, tick, fields, run);
        if (kind >= 39 && kind <= 44) {
            if (this.takesGpu)
                this.gpu.push({kind, tick, fields, process: run.part.thread.process, thread: run.part.thread});
            return;
        }
        const take = takers[kind];
        if (take)
            take(this, kind, tick, fields, run.part.thread, run);
    }

    takeLoose(kind, tick, [value, loc], run) {
        if (!this.takesLoose || this.isUnpaired || !(run.fiber || run.isShared || kind === 21 || kind === 22))
            return;
        if (this.loose.length >= MOST_LOOSE) {
            this.isUnpaired = true;
            this.loose = [];
            return;
        }
        const isSpan = kind === 21 || kind === 22;
        this.loose.push({kind, tick, thread: run.part.thread, lane: isSpan ? 'spans' : run.fiber ? 'fiber' : 'thread', id: isSpan ? value : run.fiber, value: isSpan ? loc : value});
    }

    /* Sorted by time; frames and holds made of what happened. */
    settle() {
        this.messages.sort(byTick);
        this.flows.sort((a, b) => a.process.index - b.process.index || (a.flow < b.flow ? -1 : a.flow > b.flow ? 1 : a.tick - b.tick));
        for (const table of this.list) {
            table.values.sort(byTick);
            table.points.sort(byTick);
            if (table.kind === 'frames')
                this.makeFrames(table);
            else if (table.kind === 'locks')
                this.makeHolds(table);
        }
    }

    makeFrames(table) {
        let since = null;
        for (const {kind, tick} of table.points) {
            if (kind !== FRAME_START && since !== null)
                this.add(table, {begin: since, end: tick, loc: NO_LOC, depth: 0, self: tick - since, extra: null});
            since = kind === FRAME_END ? null : tick;
        }
    }

    /* A lock is held from the moment that somebody has it until nobody does. */
    makeHolds(table) {
        const holders = new Set();
        let since = 0;
        for (const {kind, tick, thread} of table.points) {
            if (kind === LOCK_OBTAIN && !holders.has(thread) && holders.size < MOST_HOLDERS) {
                since = holders.size ? since : tick;
                holders.add(thread);
            } else if (kind === LOCK_RELEASE && holders.delete(thread) && !holders.size) {
                this.add(table, {begin: since, end: tick, loc: NO_LOC, depth: 0, self: tick - since, extra: null});
            }
        }
        if (holders.size)
            this.add(table, {begin: since, end: Infinity, loc: NO_LOC, depth: 0, self: 0, extra: null});
    }

    /** Throws where zones that belong into statistics are not here. */
    needAll() {
        const {model} = this.trace;
        if (this.isShort || this.isUnpaired && (model.hasTwins || this.mayHave([FIBER_ENTER])))
            throw new Error('the page cannot pair so many zones of fibers and shared threads; `strobe stats` and `strobe view` can');
    }

    /** What is not shown, in words. */
    limits() {
        const out = [];
        if (this.isUnpaired)
            out.push('fibers, spans and GPU zones are not shown: the trace is too large to pair them');
        if (this.nLeftOut)
            out.push('not all messages, frames, plots and spans are shown');
        return out;
    }
}

/** Whether zones of a kind of track are in statistics. */
export function isSummed(kind) {
    return kind === 'fiber' || kind === 'thread';
}

function bitsOf(kinds) {
    return kinds.reduce((b, kind) => b | 1n << BigInt(kind), 0n);
}

function takeMessage(o, kind, tick, [severity, color, text], thread) {
    if (o.messages.length >= MOST_ROWS)
        return void o.nLeftOut++;
    const table = o.make('messages', thread.process, 0, () => 'messages');
    o.messages.push({tick, thread, table, severity: lowBits(severity, 8), color: lowBits(color, 32), text});
}

function takePlot(o, kind, tick, [id, value], thread) {
    const table = o.make('plot', thread.process, id, () => o.trace.model.string(thread.proc, id));
    if (o.nValues++ >= MOST_ROWS)
        return void o.nLeftOut++;
    table.values.push({tick, value: Number(value)});
}

function takePoint(o, kind, tick, [id], thread) {
    const {process} = thread, isLock = kind >= LOCK_WAIT, model = o.trace.model;
    const table = o.make(isLock ? 'locks' : 'frames', process, id, isLock ? () => model.lockName(process, id) : () => model.string(thread.proc, id) || 'frames');
    if (o.nPoints++ >= MOST_ROWS)
        return void o.nLeftOut++;
    table.points.push({tick, kind, thread, order: o.order++});
}

function takeFlow(o, kind, tick, [flow], thread, run) {
    if (o.flows.length >= MOST_ROWS)
        return void o.nLeftOut++;
    o.flows.push({flow, tick, process: thread.process, thread, depth: Math.max(0, run.nBelow + run.stack.length - 1)});
}

const takers = {8: takeMessage, 9: takePlot, 10: takePlot, 11: takePoint, 12: takePoint, 13: takePoint, 16: takePoint, 17: takePoint, 18: takePoint,
    23: takeFlow, 24: takeFlow, 25: takeFlow};
