/* model.js - the facts of a trace: processes, threads, names, clock, losses, and its tree of tracks.
 * Fed with RECORDS blocks in the order of the file; later records of a key replace earlier ones.
 * Holds what records say and nothing per event. SPDX-License-Identifier: MIT */
import {Base, Cursor, FormatError} from './bytes.js';
import {Clock} from './clock.js';
import {Pieces, readFields} from './part.js';
import {inflate} from './file.js';

const CAUSES = ['pool full', 'shared memory full', 'no room for a name', 'disk', 'file limit', 'overwritten by the program',
    'hole', 'unfinished record', 'refused'];

/** What a loss's number means. */
export function causeName(cause) {
    return CAUSES[cause] || `cause ${cause}`;
}

function baseName(path) {
    return path.split('/').pop();
}

export class Model {
    constructor(schema) {
        this.schema = schema;
        this.processes = new Map(); /* proc: facts */
        this.locRows = [null];      /* number: {name, function, file, line, color} */
        this.locNumbers = new Map();
        this.locByContent = new Map();
        this.strings = new Map();
        this.syncs = [];
        this.recordings = [];
        this.losses = [];
        this.notes = [];
        this.host = null;
        this.overhead = null;
        this.maps = [];
        this.pieces = new Pieces();
    }

    process(proc) {
        let p = this.processes.get(proc);
        if (!p) {
            p = {proc, pid: 0, parent: 0, start: 0, exe: '', cwd: '', argv: [], name: '', threads: new Map(), fibers: new Map(),
                locks: new Map(), plots: new Map(), gpus: new Map(), symbols: new Map(), end: null, env: []};
            this.processes.set(proc, p);
        }
        return p;
    }

    thread(proc, track) {
        const threads = this.process(proc).threads;
        let t = threads.get(track);
        if (!t)
            threads.set(track, t = {proc, track, tid: 0, name: '', start: null, end: null});
        return t;
    }

    /** Take the records of a block's body. */
    readBlock(body) {
        const view = new DataView(body.buffer, body.byteOffset, body.length);
        if (body.length < 8)
            throw new FormatError('a block of records without records');
        const raw = view.getUint32(0, true), stored = view.getUint32(4, true), bytes = body.subarray(8, 8 + stored);
        this.readRecords(bytes.length === raw ? bytes : inflate(bytes, raw));
    }

    readRecords(bytes) {
        const c = new Cursor(bytes);
        while (c.at < c.end) {
            const kind = c.varint(), size = c.varint(), from = c.at;
            if (size > c.end - from)
                throw new FormatError('a record runs over its block');
            this.readRecord(kind, new Cursor(bytes, from, from + size));
            c.at = from + size;
        }
    }

    readRecord(kind, c) {
        const known = this.schema.get(kind);
        if (!known)
            return;
        if (kind === 3)
            return void this.pieces.list.push(c.slice(c.varint()));
        const proc = kind >= 64 && kind < 96 ? c.varint() : 0;
        const take = takers[kind];
        if (!take)
            return;
        if (take.exact)
            return take.exact(this, c, proc);
        take(this, readFields(c, known.letters, this.pieces), proc);
    }

    addLoc(proc, [id, line, color, func, file, name]) {
        const show = name || func, key = `${name}\0${func}\0${file}\0${line}`;
        let number = this.locByContent.get(key);
        if (!number) {
            number = this.locRows.length;
            this.locRows.push({name: show, function: func, file, line, color});
            this.locByContent.set(key, number);
        }
        this.locMap(proc).set(id, number);
    }

    locMap(proc) {
        let map = this.locNumbers.get(proc);
        if (!map)
            this.locNumbers.set(proc, map = new Map());
        return map;
    }

    /** The trace's number of a process's location; one is made for an id that no record names. */
    loc(proc, id) {
        const map = this.locMap(proc), number = map.get(id);
        if (number)
            return number;
        map.set(id, this.locRows.length);
        this.locRows.push({name: `location ${id}`, function: '', file: '', line: 0, color: 0});
        return this.locRows.length - 1;
    }

    string(proc, id) {
        return this.strings.get(`${proc}/${id}`) ?? `string ${id}`;
    }

    /** Once records are read: base and clock. May be called again when more came. */
    settle(firstTick) {
        if (!this.base) {
            const first = this.recordings[0];
            this.base = new Base(first ? first.tick : firstTick);
        }
        this.clock = new Clock(this.syncs, this.base);
    }

    /** The tick (relative) of a time on a process's own clock. */
    ownTick(proc, time) {
        const t = BigInt(time), pieces = this.maps.filter((m) => m.proc === proc);
        if (!pieces.length)
            return this.base.ofValue(t);
        let piece = pieces[0];
        for (const p of pieces)
            if (p.time <= t)
                piece = p;
        return this.base.ofValue(piece.tick + ((t - piece.time) * piece.mult >> 32n));
    }

    processName(p) {
        if (p.name)
            return p.name;
        return baseName(p.exe) || (p.argv[0] ? baseName(p.argv[0]) : '') || `process ${p.pid}`;
    }

    /** ns of an absolute tick. */
    timeOf(tick) {
        return this.clock.time(this.base.ofValue(tick));
    }
}

/* One function per kind of record that is used. `exact`: has ticks, which need all 64 bits. */
const takers = {
    64: (m, [pid, parent, start, exe, cwd, argv], proc) =>
        void Object.assign(m.process(proc), {pid, parent, start, exe, cwd, argv: argv.split('\0').filter((w, i, a) => w || i < a.length - 1)}),
    65: {exact(m, c, proc) {
        const track = c.varint(), t = m.thread(proc, track);
        t.tid = c.varint();
        t.start = c.big();
        t.name = c.text() || t.name;
    }},
    66: (m, [track, name], proc) => void (m.thread(proc, track).name = name),
    67: (m, fields, proc) => m.addLoc(proc, fields),
    68: (m, [id, text], proc) => void m.strings.set(`${proc}/${id}`, text),
    70: (m, [name], proc) => void (m.process(proc).name = name),
    71: (m, [plot, format, step, color], proc) => void m.process(proc).plots.set(plot, {format, step, color}),
    72: (m, [lock, loc, name], proc) => void m.process(proc).locks.set(lock, {loc, name}),
    73: (m, [fiber, name], proc) => void m.process(proc).fibers.set(fiber, name),
    75: {exact(m, c, proc) {
        const context = c.varint(), g = {type: c.varint(), calibrated: c.varint(), tid: c.varint(), host: c.big()};
        g.time = c.zigzag();
        g.period = c.double();
        const gpus = m.process(proc).gpus;
        gpus.set(context, Object.assign(gpus.get(context) || {name: ''}, g));
    }},
    76: (m, [context, name], proc) => {
        const gpus = m.process(proc).gpus;
        gpus.set(context, Object.assign(gpus.get(context) || {}, {name}));
    },
    79: {exact(m, c, proc) {
        const address = c.big(), inlined = c.varint(), line = c.varint();
        c.varint();
        const symbols = m.process(proc).symbols, key = address.toString(16);
        const row = {inlined, line, function: c.text(), file: c.text(), image: c.text()};
        (symbols.get(key) || symbols.set(key, []).get(key)).push(row);
    }},
    97: {exact(m, c) {
        m.syncs.push({clock: c.varint(), tick: c.big(), mono: c.big(), real: c.big(), error: c.varint(), jump: c.varint()});
    }},
    98: {exact(m, c) {
        m.losses.push({proc: c.varint(), track: c.varint(), cause: c.varint(), count: c.varint(), first: c.big(), last: c.big()});
    }},
    99: {exact(m, c) {
        const p = m.process(c.varint());
        p.end = {tick: c.big(), how: c.varint(), value: c.varint()};
    }},
    100: {exact(m, c) {
        const proc = c.varint(), t = m.thread(proc, c.varint());
        t.end = c.big();
    }},
    101: (m, [name, kernel, cpu]) => void (m.host = {name, kernel, cpu}),
    102: (m, [cpu, ps, waited, n]) => {
        const o = m.overhead || (m.overhead = {recorder_cpu_ns: 0, event_ps: 0, waited_ns: 0, n_events: 0});
        o.recorder_cpu_ns += cpu;
        o.event_ps = Math.max(o.event_ps, ps);
        o.waited_ns += waited;
        o.n_events += n;
    },
    103: (m, [, text]) => void m.notes.push(text),
    104: {exact(m, c) {
        m.recordings.push({tick: c.big(), what: c.varint()});
    }},
    105: (m, [, reason]) => void m.notes.push(`kept because of: ${reason}`),
    106: {exact(m, c) {
        const proc = c.varint(), z = c.big(), time = z & 1n ? -(z + 1n >> 1n) : z >> 1n;
        m.maps.push({proc, time, tick: c.big(), mult: c.big(), error: c.varint()});
    }},
    107: (m, [pid, , what, reason]) => void m.notes.push(`not recorded: ${what} (pid ${pid}): ${reason}`),
};
