/* truth.mjs - what `strobe csv` prints of a trace, in columns: zones by thread and depth, frames by process, lists of the zones of a name.
 * There may be tens of millions. No cell of these traces has a quote in it.  SPDX-License-Identifier: MIT */
import {spawn} from 'node:child_process';

/** Lines of a command, one by one. */
async function lines(strobe, args, take) {
    const child = spawn(strobe, args, {stdio: ['ignore', 'pipe', 'inherit']});
    let rest = '';
    for await (const bytes of child.stdout) {
        const text = rest + bytes.latin1Slice();
        let at = 0;
        for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
            take(text.slice(at, text[end - 1] === '\r' ? end - 1 : end));
            at = end + 1;
        }
        rest = text.slice(at);
    }
}

/* Rows of a kind: `take(row, at)`, where `at` names the columns. */
async function rowsOf(strobe, file, kind, take) {
    let at = null;
    await lines(strobe, ['csv', '--kind', kind, file], (row) => {
        if (at)
            take(row, at);
        else
            at = Object.fromEntries(row.split(',').map((f, i) => [f, i]));
    });
}

/* Where a column begins; -1 behind a text's end. */
function columnAt(row, from, n) {
    let at = from;
    for (let i = 0; i < n; i++)
        at = row.indexOf(',', at) + 1;
    return at;
}

const TYPES = {t0: Float64Array, length: Float64Array, self: Float64Array, name: Uint32Array};

/** Zones of one lane, or frames of one set, by their begins. */
export class Column {
    constructor() {
        for (const [key, type] of Object.entries(TYPES))
            this[key] = new type(1024);
        this.n = 0; /* length -1: it never ended */
    }

    add(t0, length, self, name) {
        if (this.n === this.t0.length)
            for (const key of Object.keys(TYPES)) {
                const more = new TYPES[key](2 * this.n);
                more.set(this[key]);
                this[key] = more;
            }
        const i = this.n++;
        [this.t0[i], this.length[i], this.self[i], this.name[i]] = [t0, length, self, name];
    }

    sort() {
        let isSorted = true;
        for (let i = 1; i < this.n && isSorted; i++)
            isSorted = this.t0[i - 1] <= this.t0[i];
        const order = isSorted ? null : Uint32Array.from({length: this.n}, (_, i) => i).sort((a, b) => this.t0[a] - this.t0[b]);
        for (const key of Object.keys(TYPES))
            this[key] = order ? TYPES[key].from(order, (i) => this[key][i]) : this[key].slice(0, this.n);
    }

    /** How many begin at or before a time. */
    before(t) {
        let low = 0, high = this.n;
        while (low < high) {
            const mid = low + high >> 1;
            if (this.t0[mid] <= t)
                low = mid + 1;
            else
                high = mid;
        }
        return low;
    }

    end(i) {
        return this.length[i] < 0 ? Infinity : this.t0[i] + this.length[i];
    }

    /** The one over a time, or -1. Those of a lane do not overlap. */
    at(t) {
        const i = this.before(t) - 1;
        return i >= 0 && this.end(i) >= t ? i : -1;
    }
}

export class Truth {
    static async of(strobe, file) {
        const truth = new Truth();
        Object.assign(truth, {zones: new Map(), names: [], numbers: new Map(), frames: new Map(), n: 0});
        await rowsOf(strobe, file, 'zones', (row, at) => truth.addZone(row, at));
        await rowsOf(strobe, file, 'frames', (row, at) => truth.addMark(row, at));
        for (const column of truth.zones.values())
            column.sort();
        for (const [key, marks] of truth.frames)
            truth.frames.set(key, framesOf(marks));
        return truth;
    }

    /* Columns of a row are looked for from left to right, and nothing is made of those that are not needed. */
    addZone(row, at) {
        const name0 = columnAt(row, 0, at.name), start0 = columnAt(row, name0, at.start_ns - at.name), length0 = row.indexOf(',', start0) + 1, self0 = row.indexOf(',', length0) + 1,
            depth0 = row.indexOf(',', self0) + 1, isEnded = row.endsWith(',ended');
        if (!isEnded && !row.endsWith(',open'))
            return;
        const who = row.slice(0, name0), depth = Number(row.slice(depth0, row.indexOf(',', depth0))), name = row.slice(name0, row.indexOf(',', name0));
        if (who !== this.who) { /* rows come thread by thread */
            const words = who.split(',');
            this.who = who;
            this.lanes = [];
            this.thread = `${words[at.pid]}/${words[at.tid]}`;
        }
        let number = this.numbers.get(name);
        if (number === undefined) {
            this.numbers.set(name, number = this.names.length);
            this.names.push(name);
        }
        if (!this.lanes[depth]) {
            const key = `${this.thread}/${depth}`;
            this.lanes[depth] = this.zones.get(key) || this.zones.set(key, new Column()).get(key);
        }
        this.lanes[depth].add(Number(row.slice(start0, length0 - 1)), isEnded ? Number(row.slice(length0, self0 - 1)) : -1, isEnded ? Number(row.slice(self0, depth0 - 1)) : 0, number);
        this.n++;
    }

    addMark(row, at) {
        const words = row.split(','), key = words[at.pid];
        if (!this.frames.has(key))
            this.frames.set(key, []);
        this.frames.get(key).push(Number(words[at.time_ns]));
    }

    /** The column of a track's depth, as the page names tracks. */
    lane(track, depth) {
        return track.kind === 'frames' ? this.frames.get(String(track.pid)) : this.zones.get(`${track.pid}/${track.tid}/${depth}`);
    }

    /** Where the zones of each name that ended are: by name [{column, index}…] as two arrays, columns and indices. */
    index() {
        const columns = [...this.zones.values()], counts = new Uint32Array(this.names.length + 1);
        for (const column of columns)
            for (let i = 0; i < column.n; i++)
                if (column.length[i] >= 0)
                    counts[column.name[i] + 1]++;
        for (let i = 1; i < counts.length; i++)
            counts[i] += counts[i - 1];
        const firsts = counts.slice(), which = new Uint16Array(counts.at(-1)), where = new Uint32Array(counts.at(-1));
        columns.forEach((column, c) => {
            for (let i = 0; i < column.n; i++)
                if (column.length[i] >= 0) {
                    const to = counts[column.name[i]]++;
                    [which[to], where[to]] = [c, i];
                }
        });
        Object.assign(this, {columns, firsts, which, where});
    }

    /** Begins, durations and self times of all zones of a name that ended, in an order that a list has: [[t0, length, self]…]. */
    list(name, sort, isReversed) {
        if (!this.columns)
            this.index();
        const number = this.numbers.get(name), rows = [];
        for (let i = this.firsts[number]; i < (this.firsts[number + 1] ?? this.which.length); i++) {
            const column = this.columns[this.which[i]], at = this.where[i];
            rows.push([column.t0[at], column.length[at], column.self[at]]);
        }
        rows.sort(sort === 'duration' ? (a, b) => b[1] - a[1] || a[0] - b[0] : (a, b) => a[0] - b[0] || a[1] - b[1]);
        return isReversed ? rows.reverse() : rows;
    }
}

/* From mark to mark. */
function framesOf(marks) {
    const frames = new Column();
    marks.sort((a, b) => a - b).forEach((t, i) => i + 1 < marks.length && frames.add(t, marks[i + 1] - t, 0, 0));
    frames.sort();
    return frames;
}
