/* trace.js - one open trace: its blocks by time, decoded parts kept in bounded memory.
 * Answers are made of this in pixels.js, zones.js, stats.js, flame.js, search.js.
 * SPDX-License-Identifier: MIT */
import {FormatError} from './bytes.js';
import {EVENTS, LOD, RECORDS, TraceFile} from './file.js';
import {Model} from './model.js';
import {readFine, readNode} from './lod.js';
import {readParts, readStreams, replayPart} from './part.js';
import {Tables} from './tables.js';

const KEEP_HEADS = 64 << 20, KEEP_ZONES = 128 << 20, KEEP_FINE = 64 << 20, KEEP_NODES = 96 << 20, MOST_NOTED = 64, TURN_MS = 8;

/* Keeps what was used last, up to a number of bytes. */
class Kept {
    constructor(most) {
        this.most = most;
        this.bytes = 0;
        this.map = new Map();
    }

    get(key) {
        const hit = this.map.get(key);
        if (hit) {
            this.map.delete(key);
            this.map.set(key, hit);
        }
        return hit && hit.value;
    }

    set(key, value, bytes) {
        this.bytes -= this.map.has(key) ? this.map.get(key).bytes : 0;
        this.map.set(key, {value, bytes});
        this.bytes += bytes;
        for (const [old, hit] of this.map) {
            if (this.bytes <= this.most || old === key)
                break;
            this.map.delete(old);
            this.bytes -= hit.bytes;
        }
    }
}

export class Trace {
    constructor(source, file) {
        this.source = source;
        this.file = file;
        this.heads = new Kept(KEEP_HEADS);
        this.zones = new Kept(KEEP_ZONES);
        this.fine = new Kept(KEEP_FINE);
        this.nodes = [];          /* LOD blocks, with the EVENTS blocks that each covers */
        this.damaged = new Set(); /* offsets of blocks whose payload is bad */
        this.rest = async () => {}; /* lets other questions be answered */
        this.rested = 0;
        this.depths = [];         /* of threads, by index: as far as they are known without events */
    }

    static async open(source) {
        const trace = new Trace(source, await TraceFile.open(source));
        trace.model = new Model(trace.file.schema);
        await trace.readRecords();
        await trace.settle();
        trace.tables = new Tables(trace);
        await trace.tables.collect();
        return trace;
    }

    async readRecords() {
        for (const block of this.file.blocks)
            if (block.type === RECORDS)
                await this.readRecordBlock(block);
        const ledger = await this.file.ledger();
        if (ledger)
            this.model.readRecords(ledger);
    }

    async readRecordBlock(block) {
        try {
            this.model.readBlock((await this.file.payload(block)).body);
        } catch (error) {
            this.damage(block, error);
        }
    }

    /* Times of blocks as differences to the base; the range; depths. */
    async settle() {
        const {totals} = this.file, syncs = this.model.syncs, events = this.file.blocks.filter((b) => b.type === EVENTS);
        this.model.settle(totals ? totals.firstTick : syncs.length ? syncs[0].tick : 0n);
        this.base = this.model.base;
        this.clock = this.model.clock;
        for (const b of events) {
            b.min = this.base.of(...b.tickMin);
            b.max = this.base.of(...b.tickMax);
        }
        this.events = events;
        const told = events.filter((b) => b.nEvents);
        this.lastEvent = told.reduce((m, b) => Math.max(m, b.max), -Infinity);
        this.firstEvent = told.reduce((m, b) => Math.min(m, b.min), Infinity);
        this.isEmpty = !told.length;
        await this.readNodes();
        await this.noteDepths();
    }

    note(thread, n) {
        this.depths[thread.index] = Math.max(this.depths[thread.index] || 1, n);
    }

    depthsOf(thread) {
        return this.depths[thread.index] || 1;
    }

    /* What LOD blocks tell, and the heads of the newest blocks that none covers. */
    async noteDepths() {
        for (const node of this.nodes)
            for (const t of node.tracks.values())
                this.note(t.thread, t.nDepths);
        for (const block of this.loose.slice(-MOST_NOTED).reverse())
            for (const part of await this.parts(block))
                if (part.nEvents)
                    this.note(part.thread, Math.max(part.nBelow + part.stack.length, part.lod ? part.lod.depths.length : 0));
    }

    /* Heads of LOD blocks, as far as they fit into memory. Blocks of none are in `loose`. */
    async readNodes() {
        let bytes = 0;
        this.nodes = [];
        for (const block of this.file.extra.filter((b) => b.type === LOD)) {
            try {
                const {head} = await this.file.payload(block);
                if ((bytes += 4 * head.length) > KEEP_NODES)
                    break;
                const node = readNode(head, this.base);
                node.block = block;
                node.blocks = this.events.filter((b) => b.offset >= node.firstOffset && b.offset < block.offset);
                if (node.blocks.length !== node.nBlocks || node.blocks.some((b) => b.node))
                    continue; /* some are missing: its sums are not theirs */
                for (const b of node.blocks)
                    b.node = node;
                for (const t of node.tracks.values())
                    t.thread = this.model.thread(t.proc, t.track);
                node.min = node.blocks.reduce((m, b) => Math.min(m, b.min), Infinity);
                node.max = node.blocks.reduce((m, b) => Math.max(m, b.max), -Infinity);
                this.nodes.push(node);
            } catch (error) {
                this.damage(block, error);
            }
        }
        this.loose = this.events.filter((b) => !b.node);
    }

    /** The fine lanes of a node; null if they are damaged. */
    async fineLanes(node) {
        let fine = this.fine.get(node.block.offset);
        if (fine)
            return fine;
        try {
            const {body} = await this.file.payload(node.block);
            fine = readFine(node, body, this.base);
            this.fine.set(node.block.offset, fine, 8 * body.length);
            return fine;
        } catch (error) {
            this.damage(node.block, error);
            return null;
        }
    }

    /** Whether a block may hold events of these kinds (a bigint with a bit each). */
    mayHold(block, kinds) {
        return !block.node || ((block.node.kinds.get(block.offset) || 0n) & kinds) !== 0n;
    }

    damage(block, error) {
        if (!(error instanceof FormatError))
            throw error;
        this.damaged.add(block.offset);
    }

    /** EVENTS blocks that have something in [from, to] (ticks). */
    blocksIn(from, to) {
        return this.events.filter((b) => b.max >= from && b.min <= to);
    }

    /** The heads of a block's parts, [] if it is damaged. */
    async parts(block) {
        let parts = this.heads.get(block.offset);
        if (parts)
            return parts;
        try {
            const {head} = await this.file.payload(block);
            parts = readParts(head, this.base);
            this.heads.set(block.offset, parts, 4 * head.length + 4096);
        } catch (error) {
            this.damage(block, error);
            this.heads.set(block.offset, parts = [], 64);
        }
        for (const part of parts)
            part.thread = this.model.thread(part.proc, part.track);
        return parts;
    }

    /** Heads with the summaries' sums; not kept. */
    async partsWithSums(block) {
        try {
            const parts = readParts((await this.file.payload(block)).head, this.base, true);
            for (const part of parts)
                part.thread = this.model.thread(part.proc, part.track);
            return parts;
        } catch (error) {
            this.damage(block, error);
            return [];
        }
    }

    /** Zones of all parts of a block, by number of the part; null for a damaged part. */
    async decoded(block) {
        let list = this.zones.get(block.offset);
        if (list)
            return list;
        list = await this.decode(block, null);
        this.zones.set(block.offset, list, list.reduce((n, z) => n + (z ? 35 * z.begin.length : 0), 256));
        return list;
    }

    /** Decode a block, with every other event given to `sink(kind, tick, fields, run)`. */
    async decode(block, sink, pieces = null) {
        const parts = await this.parts(block);
        let streams;
        try {
            streams = readStreams((await this.file.payload(block)).body);
        } catch (error) {
            this.damage(block, error);
            return parts.map(() => null);
        }
        return parts.map((part) => {
            try {
                return replayPart(part, streams, this.file.schema, sink, pieces ? pieces(part) : undefined, !!part.thread.twin);
            } catch (error) {
                this.damage(block, error);
                return null;
            }
        });
    }

    /** Called by long questions now and then: every few ms others get a turn. */
    async giveWay() {
        if (performance.now() - this.rested < TURN_MS)
            return;
        await this.rest();
        this.rested = performance.now();
    }

    /* --- time ------------------------------------------------------------------------------ */

    time(tick) {
        return this.clock.time(tick);
    }

    /** The first tick at or after a time. */
    tickAt(ns) {
        let tick = Math.ceil(this.clock.tickNear(ns));
        while (this.time(tick - 1) >= ns)
            tick--;
        while (this.time(tick) < ns)
            tick++;
        return Math.max(tick, -Number(this.base.value));
    }

    /** The ticks of a question's from and to; all where it names none. */
    range(q) {
        return {lo: isNumber(q.from) ? this.tickAt(q.from) : -Number(this.base.value), hi: isNumber(q.to) ? this.tickAt(q.to) : Infinity};
    }

    /** The same as the ticks lo to hi that are in [from, to). */
    span(q) {
        const {lo, hi} = this.range(q);
        return {lo, hi: isNumber(q.to) ? hi - 1 : hi};
    }
}

function isNumber(x) {
    return typeof x === 'number' && Number.isFinite(x);
}
