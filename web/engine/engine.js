/* engine.js - answers the page's questions about one trace (docs/viewer-protocol.md) from its bytes.
 * Runs in a worker of the page; in node for the tests. Never throws at a question: says why in words.
 * SPDX-License-Identifier: MIT */
import {causeName} from './model.js';
import {flame} from './flame.js';
import {pixels} from './pixels.js';
import {find, flows, frames, messages} from './search.js';
import {histogram, instances, stats} from './stats.js';
import {Trace} from './trace.js';
import {listTracks, processTrack, threadTrack} from './tracks.js';
import {step, zone} from './zones.js';

const TOTALS = {zones: [63], spans: [21], messages: [8], frames: [11, 12], plots: [9, 10], locks: [17], allocs: [14], flows: [23], samples: [27], gpu_zones: [39]};
const MOST_NAMES = 4096;

export class Engine {
    static async open(source) {
        const engine = new Engine();
        engine.trace = await Trace.open(source);
        return engine;
    }

    /** The answer to a question: {json, arrays}. `isOvertaken()` as in pixels.js. */
    async answer(q, isOvertaken = () => false) {
        const ask = Object.hasOwn(questions, String(q.ask)) ? questions[q.ask] : null;
        if (!ask)
            return {json: {id: q.id, error: 'there is no such question'}, arrays: {}};
        try {
            const {json, arrays} = await ask(this.trace, q, isOvertaken);
            return {json: Object.assign({id: q.id}, json), arrays};
        } catch (error) {
            return {json: {id: q.id, error: error.message}, arrays: {}};
        }
    }
}

function totalsOf(trace) {
    const {totals} = trace.file, out = {events: trace.events.reduce((n, b) => n + b.nEvents, 0)};
    for (const [name, kinds] of totals ? Object.entries(TOTALS) : [])
        out[name] = kinds.reduce((n, k) => n + (totals.kinds.get(k) || 0), 0);
    return out;
}

function lossesOf(trace) {
    return [...trace.model.losses.values()].map(({process, track, cause, count, first, last}) => {
        const thread = track ? process.threads.get(track) : null;
        return {track: thread ? threadTrack(thread) : processTrack(process), cause: causeName(cause), count, from: trace.model.timeOf(first), to: trace.model.timeOf(last)};
    });
}

function processesOf(trace) {
    return trace.model.list.map((p) => ({
        track: processTrack(p), pid: p.pid, parent_pid: p.parent, exe: p.exe, cwd: p.cwd, argv: p.argv,
        ended: p.end ? trace.model.timeOf(p.end.tick) : null, how: p.end ? p.end.how : 0, value: p.end ? p.end.value : 0,
        clock_error_ns: trace.model.maps.reduce((most, m) => (m.process === p ? Math.max(most, m.error) : most), 0),
    }));
}

function traceFacts(trace) {
    const m = trace.model, losses = lossesOf(trace), totals = totalsOf(trace), dropped = losses.reduce((n, l) => n + l.count, 0), stored = totals.events, o = m.overhead;
    const json = {
        name: trace.source.name, uuid: trace.file.uuid, bytes: trace.source.size, closed: trace.file.closed, live: false,
        range: trace.isEmpty ? [0, 0] : [trace.time(trace.firstEvent), trace.time(trace.lastEvent)], origin_real_ns: String(trace.clock.originReal), origin_mono_ns: String(trace.clock.originMono),
        tracks: listTracks(trace), totals, losses, coverage: {emitted: stored + dropped, stored, dropped, exact: !trace.file.holes},
        clock: {kind: trace.clock.kind, error_ns: trace.clock.errorNs, jumps: trace.clock.pieces.slice(1).map((p) => trace.time(p.t0))}, host: m.host, processes: processesOf(trace), notes: [...m.notes, ...m.kept, ...m.unrecorded],
        holes: trace.file.holes, limits: trace.tables.limits(), has_flows: trace.tables.flows.length > 0,
    };
    if (o)
        json.overhead = {recorder_cpu_ns: o.recorder_cpu_ns, event_ps: o.event_ps, waited_ns: o.waited_ns};
    return {json, arrays: {}};
}

function names(trace, q) {
    const locs = [];
    for (const id of (Array.isArray(q.locs) ? q.locs : []).slice(0, MOST_NAMES)) {
        const row = trace.model.locRow(id);
        if (row)
            locs.push({id, name: row.name, function: row.function, file: row.file, line: row.line, color: row.color});
    }
    return {json: {locs}, arrays: {}};
}

function source(trace, q) {
    const row = trace.model.locs[q.loc - 1];
    if (!row)
        throw new Error('there is no such location');
    return {json: {file: row.file, line: row.line, why: 'the page has no access to source files'}, arrays: {}};
}

const questions = {trace: traceFacts, names, pixels, zone, step, stats, histogram, instances, flame, find, messages, frames, flows, source};
