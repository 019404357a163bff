/* model.js - the facts of a trace: processes, threads, names, clock, losses, and its tree of tracks.
 * Fed with RECORDS blocks in the order of the file; later records of a key replace earlier ones.
 * Holds what records say and nothing per event. SPDX-License-Identifier: MIT */
import {Base, Cursor, FormatError, lowBits} from './bytes.js';
import {Clock} from './clock.js';
import {Pieces, readFields} from './part.js';
import {inflate} from './file.js';
import {findTwins} from './twins.js';

const CAUSES = ['pool full: the recorder did not keep up', 'shared memory full: no room for the pool', 'no room for the name of a location or a thread',
    'the disk was full or failed', 'over --max-file', 'the program overwrote its own records', 'a damaged part of the file',
    'the program died, or the recording ended, while it wrote the record', 'a peer sent what can\'t be right, or too much',
    'no room for the pool under the file size limit (ulimit -f)', 'no memory for the thread\'s state', 'a signal handler jumped out of the middle of a record',
    'the trace reached the recorder\'s file size limit: raise ulimit -f', 'a process could not take part; one for each, its events are not known'];
const UNNAMED = 0x80000000;

/** What a loss's number means. */
export function causeName(cause) {
    return CAUSES[cause] || 'a cause that this version does not know';
}

function baseName(path) {
    return path.split('/').pop();
}

export class Model {
    constructor(schema) {
        this.schema = schema;
        this.processes = new Map(); /* proc: facts, in the order in which they are first told of */
        this.list = [];             /* the same by index */
        this.threads = [];          /* of all processes, likewise */
        this.locs = [];             /* in the order of the records: {name, function, file, line, color} */
        this.canon = [];            /* by index in locs: the number of the first one with the same content */
        this.strings = new Map();
        this.syncs = [];
        this.recordings = [];
        this.losses = new Map();
        this.notes = [];
        this.kept = [];
        this.unrecorded = [];
        this.host = {name: '', kernel: '', cpu: ''};
        this.overhead = null;
        this.maps = [];
        this.contexts = []; /* of GPUs: [process, id], in the order of the records */
        this.pieces = new Pieces();
    }

    process(proc) {
        let p = this.processes.get(proc);
        if (!p) {
            p = {proc, index: this.list.length, pid: 0, parent: 0, start: 0, exe: '', cwd: '', argv: [], name: '', threads: new Map(), fibers: new Map(),
                locks: new Map(), plots: new Map(), gpus: new Map(), symbols: new Map(), locs: new Map(), modules: [], end: null, twin: null, isKnown: false, client: null};
            this.processes.set(proc, p);
            this.list.push(p);
        }
        return p;
    }

    thread(proc, track) {
        const process = this.process(proc);
        let t = process.threads.get(track);
        if (!t) {
            t = {process, proc, track, index: this.threads.length, tid: 0, name: '', start: null, end: null, twin: null, isKnown: false};
            process.threads.set(track, t);
            this.threads.push(t);
        }
        return t;
    }

    gpu(proc, id) {
        const process = this.process(proc);
        let context = process.gpus.get(id);
        if (!context) {
            process.gpus.set(id, context = {});
            this.contexts.push([process, id]);
        }
        return context;
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
        if (kind >= 64 && kind < 96)
            this.process(proc);
        const take = takers[kind];
        if (!take)
            return;
        if (take.exact)
            return take.exact(this, c, proc);
        take(this, readFields(c, known.letters, this.pieces), proc);
    }

    addLoc(proc, [id, line, color, func, file, name]) {
        const ids = this.process(proc).locs, row = {name: name || func, function: func, file, line: lowBits(line, 32), color: lowBits(color, 32), own: name};
        if (ids.has(id))
            this.locs[ids.get(id)] = row;
        else
            ids.set(id, this.locs.push(row) - 1);
    }

    /* Locations with the same content have one number: that of the first one. */
    numberLocs() {
        const byContent = new Map();
        this.canon = this.locs.map((row, i) => {
            const key = `${row.own}\0${row.function}\0${row.file}\0${row.line}`;
            if (!byContent.has(key))
                byContent.set(key, i + 1);
            return byContent.get(key);
        });
    }

    /** The number of a process's location in answers, by the process's index. */
    loc(process, id) {
        const index = this.list[process].locs.get(id);
        return index === undefined ? UNNAMED + (process % 2048) * 1048576 + lowBits(id, 20) : this.canon[index];
    }

    /** What is known of a number, or null: it is no location's. */
    locRow(number) {
        if (number >= UNNAMED && number < 2 * UNNAMED)
            return {name: `loc ${number % 1048576}`, function: '', file: '', line: 0, color: 0};
        return this.locs[number - 1] || null;
    }

    string(proc, id) {
        return id === 0 ? '' : this.strings.get(`${proc}/${id}`) ?? `string ${id}`;
    }

    /** Once records are read: base and clock. `firstTick`: where no recording is told of. */
    settle(firstTick) {
        const first = this.recordings[0];
        this.base = new Base(first ? first.tick : firstTick);
        this.clock = new Clock(this.syncs, this.base);
        this.numberLocs();
        findTwins(this);
    }

    /** The tick of a time on a process's own clock (bigints). */
    ownTick(process, time) {
        const pieces = this.maps.filter((m) => m.process === process);
        if (!pieces.length)
            return time;
        const piece = pieces.findLast((p) => p.time <= time) || pieces[0];
        return piece.tick + ((time - piece.time) * piece.mult >> 32n);
    }

    processName(p) {
        const q = p.twin || p;
        if (q.name)
            return q.name;
        return q.exe ? baseName(q.exe) || q.exe : `process ${q.proc}`;
    }

    threadName(t) {
        const q = t.twin && t.twin.name ? t.twin : t;
        return q.name || `thread ${q.tid || q.track}`;
    }

    lockName(process, id) {
        const known = process.locks.get(id), index = known && !known.name ? process.locs.get(known.loc) : undefined;
        return known && known.name || (index !== undefined ? this.locs[index].name : `lock ${id}`);
    }

    fiberName(process, id) {
        return process.fibers.get(id) || `fiber ${id}`;
    }

    /** ns of an absolute tick. */
    timeOf(tick) {
        return this.clock.time(this.base.ofValue(tick));
    }
}

/* One function per kind of record that is used. `exact`: has ticks, which need all 64 bits. */
const takers = {
    64: (m, [pid, parent, start, exe, cwd, argv], proc) =>
        void Object.assign(m.process(proc), {pid, parent, start, exe, cwd, argv: argv ? argv.split('\0') : [], isKnown: true}),
    65: {exact(m, c, proc) {
        const track = c.varint(), t = m.thread(proc, track);
        t.isKnown = true;
        t.tid = c.varint();
        t.start = c.big();
        t.name = c.text() || t.name;
    }},
    66: (m, [track, name], proc) => void (m.thread(proc, track).name = name),
    67: (m, fields, proc) => m.addLoc(proc, fields),
    68: (m, [id, text], proc) => void m.strings.set(`${proc}/${id}`, text),
    70: (m, [name], proc) => void (m.process(proc).name = name),
    69: {exact(m, c, proc) {
        const base = c.big(), size = c.big();
        c.skipVarint();
        c.slice(c.varint());
        m.process(proc).modules.push({base, size, path: c.text()});
    }},
    71: (m, [plot, format, step, color], proc) => void m.process(proc).plots.set(plot, {format, step, color}),
    72: (m, [lock, loc, name], proc) => void m.process(proc).locks.set(lock, {loc, name}),
    73: (m, [fiber, name], proc) => void m.process(proc).fibers.set(fiber, name),
    75: {exact(m, c, proc) {
        Object.assign(m.gpu(proc, c.varint()), {type: c.varint(), calibrated: c.varint(), tid: c.varint(), host: c.big(), time: c.wholeZigzag(), period: c.double()});
    }},
    76: (m, [context, name], proc) => void (m.gpu(proc, context).name = name),
    79: {exact(m, c, proc) {
        const address = c.big(), inlined = c.varint(), line = c.varint();
        c.varint();
        const symbols = m.process(proc).symbols, row = {inlined, line, name: c.text(), file: c.text(), image: c.text()};
        const rows = (symbols.get(address) || []).filter((other) => other.inlined !== inlined).concat(row);
        symbols.set(address, rows.sort((a, b) => a.inlined - b.inlined));
    }},
    85: {exact(m, c, proc) {
        c.varint();
        const mul = c.double();
        m.process(proc).client = {mul: Number.isFinite(mul) ? mul : 1, initBegin: c.big()};
    }},
    97: {exact(m, c) {
        m.syncs.push({clock: c.varint(), tick: c.big(), mono: c.big(), real: c.big(), error: c.varint(), jump: c.varint()});
    }},
    98: {exact(m, c) {
        const process = m.process(c.varint()), track = c.varint(), cause = c.varint(), count = c.varint(), first = c.big(), last = c.big();
        const key = `${process.index}/${Math.min(cause, 255)}/${track}`, row = m.losses.get(key);
        if (!row)
            return void m.losses.set(key, {process, track, cause, count, first, last});
        Object.assign(row, {count: row.count + count, cause, first: first < row.first ? first : row.first, last: last > row.last ? last : row.last});
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
        const o = m.overhead || (m.overhead = {recorder_cpu_ns: 0, event_ps: 0, waited_ns: 0, n: 0}), all = o.n + n;
        o.event_ps = all ? Number((BigInt(o.event_ps) * BigInt(o.n) + BigInt(ps) * BigInt(n)) / BigInt(all)) : ps;
        o.recorder_cpu_ns += cpu;
        o.waited_ns += waited;
        o.n = all;
    },
    103: (m, [, text]) => void m.notes.push(text),
    104: {exact(m, c) {
        m.recordings.push({tick: c.big(), what: c.varint()});
    }},
    105: (m, [, reason]) => void m.kept.push(`kept because of: ${reason}`),
    106: {exact(m, c) {
        const process = m.process(c.varint()), z = c.big(), time = z & 1n ? -(z + 1n >> 1n) : z >> 1n, tick = c.big(), mult = c.big(), error = c.varint();
        if (mult)
            m.maps.push({process, time, tick, mult, error});
    }},
    107: (m, [, , what, reason]) => void m.unrecorded.push(`not recorded: ${what}: ${reason}`),
};
