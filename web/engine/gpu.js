/* gpu.js - zones of GPU contexts with their times on the GPU, on the trace's ticks; a context that is a core of a device
 * has a lane per processor. Rules: docs/file-format.md, "GPU zones"; docs/viewer-protocol.md for the tracks.
 * Times are whole ns (bigints) on the client's axis.  SPDX-License-Identifier: MIT */
import {lowBits} from './bytes.js';
import {rowLoc} from './rows.js';

const BEGIN = 39, END = 40, TIME = 41, CALIBRATION = 42, SYNC = 43;
const RISCS = ['BRISC', 'NCRISC', 'TRISC_0', 'TRISC_1', 'TRISC_2', 'ERISC', 'RISC 6', 'RISC 7'];
const toBig = (x) => (Number.isFinite(x) ? BigInt(Math.trunc(x)) : 0n);

/* A process's axis: ns of its own times, and the ticks of these ns. */
class Axis {
    constructor(trace, process) {
        this.trace = trace;
        this.process = process;
        this.client = process.client;
        const model = trace.model, begin = this.client && this.client.initBegin;
        this.offset = this.client && model.list.length !== 1 ? this.relative(model.ownTick(process, begin)) : 0n;
    }

    relative(tick) {
        return this.trace.clock.absolute(tick) - this.trace.clock.originMono;
    }

    ns(time) {
        const {client} = this, t = BigInt(time);
        return client ? toBig(Number(BigInt.asIntN(64, t - client.initBegin)) * client.mul) + this.offset : this.relative(t);
    }

    /** The tick, relative to the trace's base. */
    tick(ns) {
        const {client, trace} = this;
        if (!client)
            return trace.tickAt(Number(ns));
        const ticks = Math.min(9e18, Math.max(-9e18, Number(ns - this.offset) / (client.mul > 0 ? client.mul : 1)));
        return Number(trace.model.ownTick(this.process, client.initBegin + toBig(ticks)) - trace.base.value);
    }
}

/* One context, and what waits for its time. */
class Resolver {
    constructor(trace, process, context) {
        Object.assign(this, {context, axis: new Axis(trace, process), zones: [], waiting: new Map(), stacks: new Map(), mod: 1, last: 0n, overflow: 0n, nOverflows: 0n});
        this.gpu = this.gpuNs(BigInt(context.time));
        this.cpu = this.axis.ns(context.host);
        this.diff = this.cpu - this.gpu;
    }

    gpuNs(time) {
        return this.context.period === 1 ? time : toBig(this.context.period * Number(time));
    }

    /* A counter that falls by more than 2^31 began anew at the next power of two above what it was. */
    unwrap(time) {
        if (time < this.last - (1n << 31n)) {
            if (!this.overflow)
                this.overflow = this.last > 0n ? 1n << BigInt(this.last.toString(2).length) : 0n;
            this.nOverflows++;
        }
        this.last = time;
        return time + this.overflow * this.nOverflows;
    }

    resolve(raw) {
        const time = this.unwrap(raw), {period} = this.context;
        if (!this.context.calibrated)
            return this.gpuNs(time) + this.diff;
        const since = period === 1 ? Number(time - this.gpu) : period * Number(time) - Number(this.gpu);
        return toBig(since * this.mod + Number(this.cpu));
    }

    take({kind, fields}) {
        const [, a, b, c] = fields;
        if (kind === BEGIN)
            this.begin(a, b, c);
        else if (kind === END)
            this.end(a, b);
        else if (kind === TIME)
            this.time(a, BigInt(b));
        else if (kind === CALIBRATION)
            this.calibrate(BigInt(a), b, c);
        else if (kind === SYNC)
            this.sync(BigInt(a), b);
    }

    stack(tid) {
        const key = this.context.tid ? 0 : tid;
        return this.stacks.get(key) || this.stacks.set(key, []).get(key);
    }

    begin(query, tid, id) {
        const stack = this.stack(tid), zone = {id, tid: this.context.tid || tid, depth: stack.length, parent: stack[stack.length - 1] || null, begin: null, end: null, inside: 0};
        stack.push(zone);
        this.zones.push(zone);
        this.waiting.set(query, zone);
    }

    end(query, tid) {
        const zone = this.stack(tid).pop();
        if (zone)
            this.waiting.set(query, zone);
    }

    time(query, raw) {
        const ns = this.resolve(raw), zone = this.waiting.get(query);
        this.waiting.delete(query);
        if (zone)
            zone[zone.begin === null ? 'begin' : 'end'] = ns;
    }

    calibrate(time, host, delta) {
        const gpu = this.gpuNs(time), passed = gpu - this.gpu;
        if (passed)
            this.mod = Number(delta) / Number(passed);
        this.gpu = gpu;
        this.cpu = this.axis.ns(host);
    }

    sync(time, host) {
        this.diff = this.axis.ns(host) - this.gpuNs(time);
        this.last = this.overflow = this.nOverflows = 0n;
    }
}

/* "Device: 3, Logical (1,2) …" is a core of a device: a lane for each of its processors. */
function tableOf(tables, process, context, zone) {
    const core = /^Device: (\d+), (.*)$/s.exec(context.name), tid = context.tid ? 0 : zone.tid;
    if (!core) {
        const name = context.name || `GPU context ${context.id}`;
        return tables.make('gpu', process, context.id, () => (tid ? `${name}, thread ${tid}` : name), tid);
    }
    const device = tables.make('device', process, Number(core[1]), () => `Device ${Number(core[1])}`), at = tables.make('core', process, context.id, () => core[2]);
    const risc = tables.make('risc', process, context.id, () => RISCS[lowBits(zone.tid, 3)], zone.tid);
    at.parent = device;
    risc.parent = at;
    return risc;
}

function takeZones(tables, process, context, resolver) {
    const {axis, zones} = resolver;
    for (const z of zones) {
        if (z.begin === null)
            continue;
        z.t0 = axis.tick(z.begin);
        z.t1 = z.end === null ? Infinity : Math.max(z.t0, axis.tick(z.end));
        if (z.end !== null && z.parent)
            z.parent.inside += z.t1 - z.t0;
    }
    for (const z of zones)
        if (z.begin !== null)
            tables.add(tableOf(tables, process, context, z),
                {begin: z.t0, end: z.t1, loc: rowLoc(process, z.id), depth: z.depth, self: z.end === null ? 0 : Math.max(0, z.t1 - z.t0 - z.inside), extra: null});
}

/** Resolve all GPU zones. Contexts come in the order of the records, then of the events; the events of one as they are in
 *  the file where one thread has them all, else by tick. */
export function pairGpu(tables) {
    const contexts = new Map(), key = (process, id) => `${process.index}/${id}`;
    for (const [process, id] of tables.trace.model.contexts)
        contexts.set(key(process, id), {process, id, events: []});
    for (const e of tables.gpu) {
        const at = key(e.process, e.fields[0]);
        (contexts.get(at) || contexts.set(at, {process: e.process, id: e.fields[0], events: []}).get(at)).events.push(e);
    }
    for (const {process, id, events} of contexts.values()) {
        if (!events.length)
            continue;
        const context = {name: '', type: 0, calibrated: 0, tid: 0, host: 0n, time: 0, period: 0, ...process.gpus.get(id), id}, resolver = new Resolver(tables.trace, process, context);
        if (events.some((e) => e.thread !== events[0].thread))
            events.sort((a, b) => a.tick - b.tick);
        for (const e of events)
            resolver.take(e);
        takeZones(tables, process, context, resolver);
    }
}
