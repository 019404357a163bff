/* stats.js - statistics by location, histograms, instances: the figures of `strobe stats`.
 * Sums are whole ticks, converted once at the end (docs/file-format.md, "Statistics").
 * SPDX-License-Identifier: MIT */
import {ENDED} from './part.js';
import {asciiLower, byTime, countOf, hasLoc, hasWords, walkThreads, walkZones} from './walk.js';
import {rowNumber} from './rows.js';
import {isSummed} from './tables.js';
import {Choice} from './tracks.js';

const SAFE = 4503599627370496; /* 2^52 */
const MOST_INSTANCES = 1 << 18, MOST_EVENTS = 1 << 25;

/** Bucket of a duration. */
export function bucketOf(d) {
    if (d < 32)
        return d;
    let e = Math.floor(Math.log2(d));
    if (2 ** e > d)
        e--;
    else if (2 ** (e + 1) <= d)
        e++;
    return 32 * (e - 4) + Math.floor(d / 2 ** (e - 5)) % 32;
}

export function bucketLow(bucket) {
    if (bucket < 32)
        return bucket;
    const e = Math.floor(bucket / 32) + 4;
    return (32 + bucket % 32) * 2 ** (e - 5);
}

export function bucketWidth(bucket) {
    return bucket < 32 ? 1 : 2 ** (Math.floor(bucket / 32) - 1);
}

class Row {
    constructor(loc) {
        this.loc = loc;
        this.count = 0;
        this.total = this.self = this.squares = 0n;
        this.t = this.s = this.q = 0; /* the same, not yet added up */
        this.min = Infinity;
        this.max = 0;
        this.histogram = new Map();
    }

    add(d, self) {
        this.count++;
        this.t += d;
        this.s += self;
        if (d < 67108864)
            this.q += d * d;
        else
            this.squares += BigInt(d) * BigInt(d);
        if (this.t > SAFE || this.q > SAFE || this.s > SAFE)
            this.flush();
        this.min = Math.min(this.min, d);
        this.max = Math.max(this.max, d);
        const b = bucketOf(d);
        this.histogram.set(b, (this.histogram.get(b) || 0) + 1);
    }

    flush() {
        this.total += BigInt(this.t);
        this.self += BigInt(this.s);
        this.squares += BigInt(this.q);
        this.t = this.s = this.q = 0;
    }

    addSums(sums) {
        this.count += sums.count;
        this.total += sums.total;
        this.self += sums.self;
        this.squares += sums.squares;
        if (sums.count) {
            this.min = Math.min(this.min, sums.min);
            this.max = Math.max(this.max, sums.max);
        }
        for (let i = 0; i < sums.buckets.length; i += 2)
            this.histogram.set(sums.buckets[i], (this.histogram.get(sums.buckets[i]) || 0) + sums.buckets[i + 1]);
    }

    sorted() {
        return [...this.histogram].sort((a, b) => a[0] - b[0]);
    }

    percentile(p, sorted) {
        const rank = Math.ceil(p * this.count / 100);
        let before = 0, i = 0;
        for (; i + 1 < sorted.length && before + sorted[i][1] < rank; i++)
            before += sorted[i][1];
        const bucket = sorted[i][0], middle = bucketLow(bucket) + Math.floor(bucketWidth(bucket) / 2);
        return Math.min(this.max, Math.max(this.min, middle));
    }

    deviation() {
        if (this.count < 2)
            return 0n;
        const n = BigInt(this.count), q = this.total / n, r = this.total % n;
        const off = this.squares - 2n * q * this.total + n * q * q, less = r * r / n;
        return off < less ? 0n : root((off - less) / (n - 1n));
    }

    /** The figures in ns. */
    figures(clock) {
        this.flush();
        const sorted = this.sorted(), total = clock.sum(this.total), ns = (d) => clock.duration(d);
        return {
            loc: this.loc, count: this.count, total, self: clock.sum(this.self), min: ns(this.min), max: ns(this.max),
            mean: Math.floor(total / this.count), std: clock.sum(this.deviation()),
            p50: ns(this.percentile(50, sorted)), p90: ns(this.percentile(90, sorted)), p99: ns(this.percentile(99, sorted)),
        };
    }
}

function root(n) {
    if (n < 2n)
        return n;
    let x = BigInt(Math.floor(Math.sqrt(Number(n))));
    while (x * x > n)
        x--;
    while ((x + 1n) * (x + 1n) <= n)
        x++;
    return x;
}

/** Rows by location over what is chosen. `only`: one location's row. */
async function sum(trace, q, only = 0) {
    const span = trace.span(q), choice = new Choice(trace, q.tracks), rows = new Map(), numbers = new Set([only]);
    const row = (loc) => rows.get(loc) || rows.set(loc, new Row(loc)).get(loc);
    const add = (loc, begin, end, self) => {
        if (begin >= span.lo && begin <= span.hi && (!only || loc === only))
            row(loc).add(Math.max(0, end - begin), self);
    };
    const zones = (list, part) => {
        for (let i = 0; i < list.n; i++)
            if (list.state[i] === ENDED)
                add(trace.model.loc(part.thread.process.index, list.id[i]), list.begin[i], list.end[i], list.self[i]);
    };
    const whole = (part) => {
        for (const sums of part.sums) {
            const loc = trace.model.loc(part.thread.process.index, part.locs[sums.index]);
            if (!only || loc === only)
                row(loc).addSums(sums);
        }
        return true;
    };
    trace.tables.needAll();
    await walkThreads(trace, span, choice, {whole, zones, wantsPart: only ? (part) => hasLoc(trace, part, numbers) : null});
    for (const table of trace.tables.list)
        if (isSummed(table.kind) && choice.hasTable(table))
            for (const r of table.rows)
                if (r.end !== Infinity)
                    add(rowNumber(trace, r.loc), r.begin, r.end, r.self);
    for (const [loc, r] of rows)
        if (!r.count)
            rows.delete(loc);
    return rows;
}

const COLUMNS = ['count', 'total', 'self', 'mean', 'min', 'max', 'std', 'p50', 'p90', 'p99'];

/* As sorted, or from the end. */
function inOrder(rows, q) {
    return q.order === 'reversed' ? rows.reverse() : rows;
}

/** Answer "stats". */
export async function stats(trace, q) {
    const key = JSON.stringify([q.from ?? null, q.to ?? null, q.tracks || null]), words = asciiLower(String(q.filter || ''));
    if (!trace.lastStats || trace.lastStats.key !== key) {
        const sums = [...(await sum(trace, q)).values()], rows = sums.map((r) => Object.assign(r.figures(trace.clock), {name: trace.model.locRow(r.loc).name}));
        trace.lastStats = {key, rows, self: trace.clock.sum(sums.reduce((ticks, r) => ticks + r.self, 0n))};
    }
    const {lastStats} = trace, rows = inOrder(sortRows(lastStats.rows.filter((r) => hasWords(r.name, words)), q.sort), q), shown = rows.slice(0, countOf(q.limit, 10000, 4294967295));
    const arrays = {loc: Uint32Array.from(shown, (r) => r.loc)}, total = (column) => rows.reduce((n, r) => n + r[column], 0);
    for (const column of COLUMNS)
        arrays[column] = Float64Array.from(shown, (r) => r[column]);
    return {json: {n_rows: rows.length, n_zones: total('count'), total: total('total'), self: total('self'), whole_self: lastStats.self}, arrays};
}

/* By code points, as bytes of UTF-8 are ordered: those beyond U+FFFF are surrogates here, which go behind all others. */
function compareNames(a, b) {
    for (let i = 0; i < a.length && i < b.length; i++) {
        const c = a.charCodeAt(i), d = b.charCodeAt(i);
        if (c !== d)
            return behind(c) - behind(d);
    }
    return a.length - b.length;
}

function behind(unit) {
    return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

function sortRows(rows, sort) {
    const column = sort === 'name' || COLUMNS.includes(sort) ? sort : 'total';
    return rows.sort((a, b) => (column === 'name' ? 0 : b[column] - a[column]) || compareNames(a.name, b.name) || a.loc - b.loc);
}

/** Answer "histogram". */
export async function histogram(trace, q) {
    const row = q.loc ? (await sum(trace, q, q.loc)).get(q.loc) : null;
    if (!row)
        return {json: {count: 0}, arrays: {low: new Float64Array(0), high: new Float64Array(0), n: new Float64Array(0)}};
    const {loc, ...json} = row.figures(trace.clock), sorted = row.sorted(), ns = (d) => trace.clock.duration(d);
    return {
        json, arrays: {
            low: Float64Array.from(sorted, ([b]) => ns(bucketLow(b))),
            high: Float64Array.from(sorted, ([b]) => ns(bucketLow(b) + bucketWidth(b))), n: Float64Array.from(sorted, ([, n]) => n),
        },
    };
}

/** Answer "instances": the zones of a location, with their durations in [min, max] ns. */
export async function instances(trace, q) {
    const found = [], low = q.min ?? -1, high = q.max ?? Infinity, numbers = new Set([q.loc]);
    let total = 0;
    const take = (zone) => {
        const ns = trace.clock.duration(zone.end - zone.begin);
        if (zone.loc !== q.loc || ns < low || ns > high)
            return;
        if (found.length < MOST_INSTANCES)
            found.push(Object.assign(zone, {ns, order: total}));
        total++;
    };
    const exact = await walkZones(trace, trace.span(q), new Choice(trace, q.tracks), {take, wantsPart: (part) => hasLoc(trace, part, numbers), most: MOST_EVENTS});
    found.sort(q.sort === 'duration' ? (a, b) => b.end - b.begin - (a.end - a.begin) || byTime(a, b) : byTime);
    const shown = inOrder(found, q).slice(0, countOf(q.limit, 1000, MOST_INSTANCES)), t0 = Float64Array.from(shown, (z) => trace.time(z.begin));
    return {
        json: {total, exact, texts: shown.map((z) => (z.extra && z.extra.texts || []).join('\n'))}, arrays: {
            t0, t1: Float64Array.from(shown, (z, i) => t0[i] + z.ns), self: Float64Array.from(shown, (z) => trace.clock.duration(z.self)),
            track: Uint32Array.from(shown, (z) => z.track), depth: Uint32Array.from(shown, (z) => z.depth),
        },
    };
}
