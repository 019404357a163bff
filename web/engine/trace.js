/* trace.js - one open trace: its blocks by time, decoded parts kept in bounded memory, its tracks.
 * Answers are made of this in pixels.js, zones.js, stats.js, search.js.
 * SPDX-License-Identifier: MIT */
import {FormatError} from './bytes.js';
import {EVENTS, LOD, RECORDS, TraceFile} from './file.js';
import {Model} from './model.js';
import {readFine, readNode} from './lod.js';
import {readParts, readStreams, replayPart} from './part.js';

const KEEP_HEADS = 64 << 20, KEEP_ZONES = 128 << 20, KEEP_FINE = 64 << 20, KEEP_NODES = 96 << 20, SAMPLE = 64;

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
        this.tracks = [];
        this.trackIds = new Map();
        this.limits = [];
    }

    static async open(source) {
        const trace = new Trace(source, await TraceFile.open(source));
        trace.model = new Model(trace.file.schema);
        await trace.readRecords();
        await trace.settle();
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

    /* Times of blocks as differences to the base; the range; the tracks. */
    async settle() {
        const events = this.file.blocks.filter((b) => b.type === EVENTS);
        const [lo, hi] = events.length ? events[0].tickMin : [0, 0];
        this.model.settle(BigInt(hi) << 32n | BigInt(lo));
        this.base = this.model.base;
        this.clock = this.model.clock;
        for (const b of events) {
            b.min = this.base.of(...b.tickMin);
            b.max = this.base.of(...b.tickMax);
        }
        this.events = events;
        this.lastEvent = events.reduce((m, b) => Math.max(m, b.max), -Infinity);
        this.firstEvent = events.reduce((m, b) => Math.min(m, b.min), Infinity);
        if (!events.length)
            this.firstEvent = this.lastEvent = 0;
        await this.readNodes();
        await this.findTracks();
    }

    /* Heads of LOD blocks, as far as they fit into memory. Blocks of none are in `loose`. */
    async readNodes() {
        let bytes = 0;
        this.nodes = [];
        const covered = new Set();
        for (const block of this.file.extra.filter((b) => b.type === LOD)) {
            try {
                const {head} = await this.file.payload(block);
                if ((bytes += 4 * head.length) > KEEP_NODES)
                    break;
                const node = readNode(head, this.base);
                node.block = block;
                node.blocks = this.events.filter((b) => b.offset >= node.firstOffset && b.offset < block.offset && !covered.has(b));
                if (node.blocks.length !== node.nBlocks)
                    continue; /* some are missing: its sums are not theirs */
                for (const b of node.blocks)
                    covered.add(b);
                node.min = node.blocks.reduce((m, b) => Math.min(m, b.min), Infinity);
                node.max = node.blocks.reduce((m, b) => Math.max(m, b.max), -Infinity);
                this.nodes.push(node);
            } catch (error) {
                this.damage(block, error);
            }
        }
        this.loose = this.events.filter((b) => !covered.has(b));
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
        const node = this.nodes.find((n) => block.offset >= n.firstOffset && block.offset < n.block.offset);
        return !node || ((node.kinds.get(block.offset) || 0n) & kinds) !== 0n;
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
            this.meet(part);
        return parts;
    }

    /** Heads with the summaries' sums; not kept. */
    async partsWithSums(block) {
        try {
            return readParts((await this.file.payload(block)).head, this.base, true);
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
        this.zones.set(block.offset, list, list.reduce((n, z) => n + (z ? 31 * z.begin.length : 0), 256));
        return list;
    }

    /** Decode a block, with every other event given to `sink(kind, tick, fields, run)`. */
    async decode(block, sink, pieces) {
        const parts = await this.parts(block);
        let streams;
        try {
            streams = readStreams((await this.file.payload(block)).body);
        } catch (error) {
            this.damage(block, error);
            return parts.map(() => null);
        }
        const locOf = (proc, id) => this.model.loc(proc, id);
        return parts.map((part) => {
            try {
                const zones = replayPart(part, streams, this.file.schema, locOf, sink, pieces && pieces(part));
                this.meetZones(part, zones);
                return zones;
            } catch (error) {
                this.damage(block, error);
                return null;
            }
        });
    }

    /* --- tracks ---------------------------------------------------------------------------- */

    track(key, make) {
        let id = this.trackIds.get(key);
        if (!id) {
            id = this.trackIds.size + 1;
            this.trackIds.set(key, id);
            this.tracks.push(Object.assign({id, parent: 0, kind: 'thread', name: '', pid: 0, tid: 0, n_depths: 0, n_events: 0, key}, make()));
            this.byId = null;
        }
        return id;
    }

    trackOf(id) {
        this.byId = this.byId || new Map(this.tracks.map((t) => [t.id, t]));
        return this.byId.get(id);
    }

    processTrack(proc) {
        const p = this.model.process(proc);
        return this.track(`p${proc}`, () => ({kind: 'process', name: this.model.processName(p), pid: p.pid, proc}));
    }

    /** The id of a thread's track. */
    threadTrack(proc, number) {
        const key = `t${proc}/${number}`, id = this.trackIds.get(key);
        if (id)
            return id;
        const parent = this.processTrack(proc), t = this.model.thread(proc, number);
        return this.track(key, () => ({kind: 'thread', parent, name: t.name || `thread ${t.tid || number}`, pid: this.model.process(proc).pid,
            tid: t.tid, proc, number, n_depths: 1}));
    }

    meet(part) {
        const track = this.trackOf(this.threadTrack(part.proc, part.track));
        const depths = Math.max(part.nBelow + part.stack.length, part.lod ? part.lod.depths.length : 0);
        track.n_depths = Math.max(track.n_depths, depths);
    }

    meetZones(part, zones) {
        const track = this.trackOf(this.threadTrack(part.proc, part.track));
        let deepest = 0;
        for (let i = 0; i < zones.n; i++)
            if (zones.depth[i] >= deepest)
                deepest = zones.depth[i] + 1;
        track.n_depths = Math.max(track.n_depths, deepest, part.nBelow + zones.open.length);
    }

    /* Tracks that records name, and those of some blocks over the whole trace (for their depths). */
    async findTracks() {
        for (const p of this.model.processes.values()) {
            this.processTrack(p.proc);
            for (const t of p.threads.values())
                this.threadTrack(p.proc, t.track);
        }
        for (const node of this.nodes)
            for (const t of node.tracks.values()) {
                const track = this.trackOf(this.threadTrack(t.proc, t.track));
                track.n_depths = Math.max(track.n_depths, t.nDepths);
                track.n_events += t.nEvents;
            }
        const n = this.loose.length, step = Math.max(1, Math.floor(n / SAMPLE));
        for (let i = 0; i < n; i += step) {
            const parts = await this.parts(this.loose[i]);
            if (parts.some((p) => !p.lod))
                await this.decoded(this.loose[i]);
        }
        this.nameTracks();
    }

    /** Names may come after the first event of a thread. */
    nameTracks() {
        for (const track of this.tracks) {
            if (track.kind === 'thread') {
                const t = this.model.thread(track.proc, track.number);
                track.name = t.name || `thread ${t.tid || track.number}`;
            } else if (track.kind === 'process') {
                track.name = this.model.processName(this.model.process(track.proc));
            }
        }
    }

    time(tick) {
        return this.clock.time(tick);
    }
}
