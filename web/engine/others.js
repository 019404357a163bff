/* others.js - everything that is no plain zone of a thread: zones of fibers, spans, GPU zones, frames,
 * plots, messages, locks, flows. It is found by one pass over the events, made when first needed and
 * only if the footer tells of such events; what is kept is bounded, and what is left out is counted.
 * SPDX-License-Identifier: MIT */
import {EVENTS} from './file.js';
import {addExtra, ENDED, OPEN, Pieces, UNFINISHED} from './part.js';

const MOST = 6000000; /* events kept */
const BEGIN = 63, END_LOST = 2;
const WANTED = [3, 8, 9, 10, 11, 12, 13, 16, 17, 18, 19, 21, 22, 23, 24, 25, 39, 40, 41, 42, 43];

/** Zones in memory, by begin: of a fiber, of spans, of a lock, of frames. */
export class ZoneList {
    constructor() {
        this.begin = [];
        this.end = [];
        this.self = [];
        this.depth = [];
        this.loc = [];
        this.state = [];
        this.extras = [];
    }

    get n() {
        return this.begin.length;
    }

    add(begin, end, self, depth, loc, state, extra = null) {
        this.begin.push(begin);
        this.end.push(end);
        this.self.push(self);
        this.depth.push(depth);
        this.loc.push(loc);
        this.state.push(state);
        this.extras.push(extra);
    }
}

export class Others {
    constructor(trace) {
        this.trace = trace;
        this.n = 0;
        this.leftOut = 0;
        this.messages = [];       /* {tick, track, severity, color, text, process} */
        this.plots = new Map();   /* track id: {t: [], v: []} */
        this.lists = new Map();   /* track id: ZoneList */
        this.flows = new Map();   /* `proc/flow`: [{tick, track, kind}] */
        this.raw = {fibers: new Map(), spans: new Map(), frames: new Map(), locks: new Map(), gpus: new Map()};
    }

    /** Whether a trace may have any. */
    static maybe(trace) {
        const totals = trace.file.totals;
        return !totals || WANTED.some((kind) => kind !== 3 && totals.kinds.get(kind) > 0);
    }

    async collect() {
        const trace = this.trace, pieces = new Map(), bits = WANTED.reduce((b, kind) => b | 1n << BigInt(kind), 0n);
        const piecesOf = (part) => {
            const key = `${part.proc}/${part.track}`;
            if (!pieces.has(key))
                pieces.set(key, new Pieces());
            return pieces.get(key);
        };
        for (const block of trace.file.blocks)
            if (block.type === EVENTS && (this.hasFibers() || trace.mayHold(block, bits)))
                await trace.decode(block, (kind, tick, fields, run) => this.take(kind, tick, fields, run), piecesOf);
        this.finish();
    }

    /* A fiber's zones go on into blocks with no other event of interest. */
    hasFibers() {
        const totals = this.trace.file.totals;
        return !totals || totals.kinds.get(19) > 0;
    }

    take(kind, tick, fields, run) {
        const take = takers[kind];
        if (!take && !(run.fiber && kind >= 4 && kind <= 7))
            return;
        if (this.n >= MOST)
            return void this.leftOut++;
        this.n++;
        if (run.fiber && (kind === BEGIN || kind === END_LOST || kind >= 4 && kind <= 7))
            return this.push('fibers', `${run.part.proc}/${run.fiber}`, {kind, tick, value: fields[0], proc: run.part.proc, id: run.fiber, track: run.part.track});
        take(this, kind, tick, fields, run);
    }

    push(what, key, event) {
        const map = this.raw[what], list = map.get(key);
        if (list)
            list.push(event);
        else
            map.set(key, [event]);
    }

    threadOf(run) {
        return this.trace.threadTrack(run.part.proc, run.part.track);
    }

    finish() {
        const byTick = (a, b) => a.tick - b.tick; /* stable: equal ticks stay in the order of the file */
        for (const map of Object.values(this.raw))
            for (const list of map.values())
                list.sort(byTick);
        for (const [key, list] of this.raw.fibers)
            this.pairFiber(key, list);
        for (const [key, list] of this.raw.spans)
            this.pairSpans(key, list);
        for (const [key, list] of this.raw.frames)
            this.pairFrames(key, list);
        for (const [key, list] of this.raw.locks)
            this.pairLock(key, list);
        for (const [key, list] of this.raw.gpus)
            this.pairGpu(key, list);
        this.messages.sort(byTick);
        this.makeMessageTracks();
        for (const plot of this.plots.values())
            sortPlot(plot);
        for (const list of this.flows.values())
            list.sort(byTick);
        this.raw = null;
        if (this.leftOut)
            this.trace.limits.push(`${this.leftOut} events of fibers, spans, plots, messages and the like are beyond what the page keeps`);
    }

    makeTrack(key, kind, proc, name, list, more = {}) {
        const parent = this.trace.processTrack(proc);
        const id = this.trace.track(key, () => ({kind, parent, name, pid: this.trace.model.process(proc).pid, proc}));
        const depths = list instanceof ZoneList ? list.depth.reduce((m, d) => Math.max(m, d + 1), 1) : 1;
        Object.assign(this.trace.trackOf(id), {n_depths: depths, n_events: list ? list.n ?? list.length : 0}, more);
        if (list instanceof ZoneList)
            this.lists.set(id, list);
        return id;
    }

    /* By time: an end closes the innermost zone of its location, those above it are unfinished. */
    pairFiber(key, events) {
        const {proc, id} = events[0], list = new ZoneList(), stack = [];
        const close = (tick, state) => {
            const z = stack.pop(), ticks = Math.max(0, tick - z.begin);
            list.add(z.begin, tick, Math.max(0, ticks - z.children), stack.length, z.loc, state, z.extra);
            if (state === ENDED && stack.length)
                stack[stack.length - 1].children += ticks;
        };
        for (const e of events) {
            if (e.kind === BEGIN) {
                stack.push({begin: e.tick, loc: e.value, children: 0, extra: null});
            } else if (e.kind === END_LOST) {
                let at = stack.length - 1;
                while (at >= 0 && stack[at].loc !== e.value)
                    at--;
                while (at >= 0 && stack.length > at + 1)
                    close(e.tick, UNFINISHED);
                if (at >= 0)
                    close(e.tick, ENDED);
            } else if (stack.length) {
                const z = stack[stack.length - 1];
                addExtra(z.extra || (z.extra = {}), e.kind, e.value);
            }
        }
        while (stack.length)
            close(this.trace.lastEvent, OPEN);
        this.makeTrack(`f${key}`, 'fiber', proc, this.trace.model.process(proc).fibers.get(id) || `fiber ${id}`, list);
    }

    pairSpans(key, events) {
        const list = new ZoneList(), open = new Map(), busy = [];
        const close = (span, tick, state) => {
            busy[span.depth] = false;
            list.add(span.begin, tick, Math.max(0, tick - span.begin), span.depth, span.loc, state);
        };
        for (const e of events) {
            const span = open.get(e.id);
            if (e.kind === 21) {
                if (span)
                    close(span, e.tick, UNFINISHED);
                let depth = busy.findIndex((b) => !b);
                if (depth < 0)
                    depth = busy.length;
                busy[depth] = true;
                open.set(e.id, {begin: e.tick, loc: e.value, depth});
            } else if (span) {
                close(span, e.tick, ENDED);
                open.delete(e.id);
            }
        }
        for (const span of open.values())
            close(span, this.trace.lastEvent, OPEN);
        this.makeTrack(`s${key}`, 'spans', Number(key), 'spans', list);
    }

    pairFrames(key, events) {
        const list = new ZoneList(), {proc, id} = events[0];
        let begin = null;
        for (const e of events) {
            if (e.kind === 11 && begin !== null || e.kind === 13 && begin !== null)
                list.add(begin, e.tick, e.tick - begin, 0, 0, ENDED);
            begin = e.kind === 13 ? null : e.tick;
        }
        const name = id ? this.trace.model.string(proc, id) : '';
        this.makeTrack(`F${key}`, 'frames', proc, name || 'frames', list);
    }

    pairLock(key, events) {
        const list = new ZoneList(), held = new Map(), {proc, id} = events[0];
        for (const e of events) {
            if (e.kind === 17) {
                held.set(e.track, e.tick);
            } else if (e.kind === 18 && held.has(e.track)) {
                const begin = held.get(e.track);
                list.add(begin, e.tick, e.tick - begin, 0, 0, ENDED);
                held.delete(e.track);
            }
        }
        for (const begin of held.values())
            list.add(begin, this.trace.lastEvent, 0, 0, 0, OPEN);
        const known = this.trace.model.process(proc).locks.get(id);
        const loc = known && known.loc ? this.trace.model.locRows[this.trace.model.loc(proc, known.loc)] : null;
        this.makeTrack(`L${key}`, 'locks', proc, known && known.name || loc && loc.name || `lock ${id}`, list);
    }

    /* Begins and ends by the order asked for; their times on the GPU come later, by query. */
    pairGpu(key, events) {
        const {proc, id} = events[0], context = this.trace.model.process(proc).gpus.get(id), list = new ZoneList();
        if (!context || context.period === undefined)
            return;
        const axis = new GpuAxis(this.trace, context, proc), stacks = new Map(), waiting = new Map(), done = [];
        for (const e of events) {
            const [query, tid, loc] = e.fields;
            const stack = stacks.get(tid) || stacks.set(tid, []).get(tid);
            if (e.kind === 39) {
                const zone = {loc, t0: null, t1: null, depth: stack.length};
                stack.push(zone);
                waiting.set(query, (t) => { zone.t0 = t; });
                done.push(zone);
            } else if (e.kind === 40 && stack.length) {
                const zone = stack.pop();
                waiting.set(query, (t) => { zone.t1 = t; });
            } else if (e.kind === 41) {
                const set = waiting.get(query);
                if (set)
                    set(axis.tick(e.time));
                waiting.delete(query);
            } else {
                axis.calibrate(e);
            }
        }
        for (const z of done)
            if (z.t0 !== null)
                list.add(z.t0, z.t1 === null ? this.trace.lastEvent : Math.max(z.t0, z.t1), z.t1 === null ? 0 : Math.max(0, z.t1 - z.t0), z.depth, z.loc, z.t1 === null ? OPEN : ENDED);
        this.makeTrack(`G${key}`, 'gpu', proc, context.name || `GPU context ${id}`, list);
    }

    makeMessageTracks() {
        const byProcess = new Map();
        for (const m of this.messages)
            (byProcess.get(m.process) || byProcess.set(m.process, []).get(m.process)).push(m);
        this.messagesOf = new Map();
        for (const [proc, list] of byProcess)
            this.messagesOf.set(this.makeTrack(`M${proc}`, 'messages', proc, 'messages', list), list);
    }
}

/* A GPU's clock on the trace's axis. */
class GpuAxis {
    constructor(trace, context, proc) {
        this.clock = trace.clock;
        this.period = context.period;
        this.m = 1;
        this.g = context.period * context.time;
        this.c = trace.clock.time(trace.model.ownTick(proc, context.host));
        this.proc = proc;
        this.calibrated = false;
        this.trace = trace;
    }

    calibrate(e) {
        const g = this.period * e.time, c = this.clock.time(this.trace.model.ownTick(this.proc, e.at));
        if (e.kind === 42 && e.delta > 0 && g !== this.g)
            this.m = e.delta / (g - this.g);
        this.g = g;
        this.c = c;
    }

    tick(time) {
        return Math.round(this.clock.tickNear((this.period * time - this.g) * this.m + this.c));
    }
}

function sortPlot(plot) {
    const order = Array.from(plot.t.keys()).sort((a, b) => plot.t[a] - plot.t[b]);
    plot.t = Float64Array.from(order, (i) => plot.t[i]);
    plot.v = Float64Array.from(order, (i) => plot.v[i]);
}

function takePlot(o, kind, tick, [id, value], run) {
    const proc = run.part.proc, key = `P${proc}/${id}`;
    let at = o.trace.trackIds.get(key);
    if (!at || !o.plots.has(at)) {
        const config = o.trace.model.process(proc).plots.get(id) || {format: 0, step: 0, color: 0};
        at = o.makeTrack(key, 'plot', proc, o.trace.model.string(proc, id), null, {format: config.format, step: config.step, color: config.color});
        o.plots.set(at, {t: [], v: []});
    }
    const plot = o.plots.get(at);
    plot.t.push(tick);
    plot.v.push(value);
    o.trace.trackOf(at).n_events++;
}

function takeFrame(o, kind, tick, [id], run) {
    o.push('frames', `${run.part.proc}/${id}`, {kind, tick, proc: run.part.proc, id});
}

function takeLock(o, kind, tick, [id], run) {
    o.push('locks', `${run.part.proc}/${id}`, {kind, tick, proc: run.part.proc, id, track: run.part.track});
}

function takeFlow(o, kind, tick, [id], run) {
    const key = `${run.part.proc}/${id}`, list = o.flows.get(key) || o.flows.set(key, []).get(key);
    list.push({tick, track: o.threadOf(run), kind, depth: Math.max(0, run.nBelow + run.stack.length - 1)});
}

function takeGpu(o, kind, tick, fields, run) {
    const [id, ...rest] = fields, proc = run.part.proc, event = {kind, tick, proc, id, fields: rest};
    if (kind === 39)
        event.fields = [rest[0], rest[1], o.trace.model.loc(proc, rest[2])];
    else if (kind === 41)
        Object.assign(event, {fields: [rest[0], 0], time: rest[1]});
    else if (kind >= 42)
        Object.assign(event, {fields: [-1, 0], time: rest[0], at: rest[1], delta: kind === 42 ? rest[2] : 0});
    o.push('gpus', `${proc}/${id}`, event);
}

const nothing = () => {};
const takers = {
    2: nothing, 63: nothing,
    8: (o, kind, tick, [severity, color, text], run) =>
        void o.messages.push({tick, track: o.threadOf(run), severity: severity & 255, color, text, process: run.part.proc}),
    9: takePlot, 10: takePlot, 11: takeFrame, 12: takeFrame, 13: takeFrame, 16: takeLock, 17: takeLock, 18: takeLock,
    21: (o, kind, tick, [id, loc], run) => o.push('spans', run.part.proc, {kind, tick, id, value: o.trace.model.loc(run.part.proc, loc)}),
    22: (o, kind, tick, [id], run) => o.push('spans', run.part.proc, {kind, tick, id}),
    23: takeFlow, 24: takeFlow, 25: takeFlow, 39: takeGpu, 40: takeGpu, 41: takeGpu, 42: takeGpu, 43: takeGpu,
};
