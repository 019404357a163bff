/* engine.js - answers the page's questions about one trace (docs/viewer-protocol.md) from its bytes.
 * Runs in a worker of the page; in node for the tests. Never throws at a question: says why in words.
 * SPDX-License-Identifier: MIT */
import {Others} from './others.js';
import {causeName} from './model.js';
import {pixels} from './pixels.js';
import {find, flows, frames, messages} from './search.js';
import {flame, histogram, instances, stats} from './stats.js';
import {Trace} from './trace.js';
import {step, zone} from './zones.js';

const KIND_TOTALS = {spans: [21], messages: [8], frames: [11, 12], plots: [9, 10], locks: [17], allocs: [14], flows: [23], samples: [27], gpu_zones: [39]};

export class Engine {
    static async open(source) {
        const engine = new Engine();
        engine.trace = await Trace.open(source);
        if (Others.maybe(engine.trace)) {
            engine.trace.others = new Others(engine.trace);
            await engine.trace.others.collect();
        }
        return engine;
    }

    /** The answer to a question: {json, arrays}. `isOvertaken()` as in pixels.js. */
    async answer(q, isOvertaken = () => false) {
        const ask = questions[q.ask];
        if (!ask)
            return {json: {id: q.id, error: `no such question: ${String(q.ask).slice(0, 40)}`}, arrays: {}};
        try {
            const {json, arrays} = await ask(this.trace, q, isOvertaken);
            return {json: Object.assign({id: q.id}, json), arrays};
        } catch (error) {
            return {json: {id: q.id, error: error.message}, arrays: {}};
        }
    }
}

function total(trace, kinds) {
    const totals = trace.file.totals;
    return totals ? kinds.reduce((n, k) => n + (totals.kinds.get(k) || 0), 0) : undefined;
}

function totalsOf(trace) {
    const out = {}, totals = trace.file.totals;
    out.events = totals ? [...totals.kinds.values()].reduce((a, b) => a + b, 0) : trace.events.reduce((n, b) => n + b.nEvents, 0);
    out.zones = trace.file.closed ? trace.events.reduce((n, b) => n + b.nZones, 0) : undefined;
    for (const [name, kinds] of Object.entries(KIND_TOTALS))
        out[name] = total(trace, kinds);
    return out;
}

function lossesOf(trace) {
    return trace.model.losses.filter((l) => l.count).map((l) => ({
        track: l.track ? trace.threadTrack(l.proc, l.track) : trace.processTrack(l.proc), cause: causeName(l.cause), count: l.count,
        from: trace.model.timeOf(l.first), to: trace.model.timeOf(l.last),
    }));
}

const ORDER = ['thread', 'fiber', 'spans', 'gpu', 'device', 'core', 'risc', 'frames', 'plot', 'messages', 'locks'];

/* Parents before children, as they are to be shown. */
function tracksOf(trace) {
    const kids = new Map();
    for (const t of trace.tracks)
        (kids.get(t.parent) || kids.set(t.parent, []).get(t.parent)).push(t);
    const out = [], rank = (t) => t.kind === 'frames' ? -1 : ORDER.indexOf(t.kind);
    const visit = (list) => {
        for (const t of list) {
            const {id, parent, kind, name, pid, tid, n_depths, n_events, format} = t;
            out.push({id, parent, kind, name, pid, tid, n_depths, n_events, format});
            visit((kids.get(id) || []).sort((a, b) => rank(a) - rank(b)));
        }
    };
    visit((kids.get(0) || []).filter((t) => kids.has(t.id)));
    return out;
}

function processesOf(trace) {
    return [...trace.model.processes.values()].map((p) => ({
        track: trace.processTrack(p.proc), pid: p.pid, parent_pid: p.parent, exe: p.exe, cwd: p.cwd, argv: p.argv,
        ended: p.end ? trace.model.timeOf(p.end.tick) : null, how: p.end ? p.end.how : 0, value: p.end ? p.end.value : 0,
        clock_error_ns: trace.model.maps.reduce((most, m) => (m.proc === p.proc ? Math.max(most, m.error) : most), 0),
    }));
}

function traceFacts(trace) {
    const m = trace.model, losses = lossesOf(trace), totals = totalsOf(trace);
    const dropped = losses.reduce((n, l) => n + l.count, 0);
    trace.nameTracks();
    return {
        json: {
            name: trace.source.name, uuid: trace.file.uuid, bytes: trace.source.size, closed: trace.file.closed, live: false,
            range: [trace.time(trace.firstEvent), trace.time(trace.lastEvent)], origin_real_ns: String(trace.clock.originReal),
            origin_mono_ns: String(trace.clock.originMono), tracks: tracksOf(trace), totals, losses,
            coverage: {emitted: totals.events + dropped, stored: totals.events, dropped, hole_words: 0, exact: !trace.file.holes && !trace.damaged.size},
            clock: {kind: m.syncs.length && m.syncs[0].clock === 1 ? 'tsc' : 'monotonic', error_ns: trace.clock.errorNs, jumps: trace.clock.pieces.slice(1).map((p) => trace.time(p.t0))}, host: m.host,
            overhead: m.overhead, processes: processesOf(trace), notes: m.notes, holes: trace.file.holes + trace.damaged.size, limits: trace.limits,
            has_flows: !!(trace.others && trace.others.flows.size),
        },
        arrays: {},
    };
}

function names(trace, q) {
    const rows = trace.model.locRows, locs = [];
    for (const id of (q.locs || []).slice(0, 4096))
        if (rows[id])
            locs.push(Object.assign({id}, rows[id]));
    return {json: {locs}, arrays: {}};
}

const questions = {
    trace: traceFacts, names, pixels, zone, step, stats, histogram, instances, flame, find, messages, frames, flows,
    source: (trace, q) => ({json: {file: (trace.model.locRows[q.loc] || {file: ''}).file, line: (trace.model.locRows[q.loc] || {line: 0}).line,
        why: 'the page has no access to source files'}, arrays: {}}),
};
