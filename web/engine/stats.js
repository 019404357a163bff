/* stats.js - statistics by location, histograms, instances, flame graphs: the figures of `strobe stats`.
 * Sums are whole ticks, converted once at the end (docs/file-format.md, "Statistics").
 * SPDX-License-Identifier: MIT */
import {ENDED} from './part.js';
import {chosen, walkLists, walkThreads} from './walk.js';
import {tickAt} from './pixels.js';

const SAFE = 4503599627370496; /* 2^52 */
const MOST_INSTANCES = 200000, MOST_PATHS = 20000;

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
async function sum(trace, choice, only) {
    const rows = new Map();
    const row = (loc) => rows.get(loc) || rows.set(loc, new Row(loc)).get(loc);
    const addList = (track, list) => {
        for (let i = 0; i < list.n; i++)
            if (list.state[i] === ENDED && list.begin[i] >= choice.lo && list.begin[i] <= choice.hi && (!only || list.loc[i] === only))
                row(list.loc[i]).add(Math.max(0, list.end[i] - list.begin[i]), list.self[i]);
    };
    const addWhole = (track, part) => {
        for (const sums of part.sums) {
            const loc = trace.model.loc(part.proc, part.locs[sums.index]);
            if (!only || loc === only)
                row(loc).addSums(sums);
        }
        return true;
    };
    await walkThreads(trace, choice, {whole: addWhole, zones: addList, wantsPart: only ? (part) => hasLoc(trace, part, only) : null});
    walkLists(trace, choice, ['fiber'], addList);
    for (const [loc, r] of rows)
        if (!r.count)
            rows.delete(loc);
    return rows;
}

export function hasLoc(trace, part, loc) {
    const locs = part.locs;
    for (let i = 0; i < locs.length; i++)
        if (trace.model.loc(part.proc, locs[i]) === loc)
            return true;
    return part.stack.some((z) => trace.model.loc(part.proc, z.loc) === loc);
}

const COLUMNS = ['count', 'total', 'self', 'mean', 'min', 'max', 'std', 'p50', 'p90', 'p99'];

/** Answer "stats". */
export async function stats(trace, q) {
    const choice = chosen(trace, q), names = trace.model.locRows, text = String(q.filter || '').toLowerCase();
    const key = JSON.stringify([q.from ?? null, q.to ?? null, q.tracks || null, trace.events.length]);
    if (!trace.lastStats || trace.lastStats.key !== key) {
        const rows = [...(await sum(trace, choice)).values()].map((r) => r.figures(trace.clock));
        trace.lastStats = {key, rows};
    }
    let rows = trace.lastStats.rows;
    if (text)
        rows = rows.filter((r) => [names[r.loc].name, names[r.loc].function, names[r.loc].file].some((t) => t.toLowerCase().includes(text)));
    rows = sortRows(rows.slice(), q.sort || 'total', names);
    const shown = rows.slice(0, q.limit === undefined ? 10000 : Math.max(0, q.limit));
    const arrays = {loc: Uint32Array.from(shown, (r) => r.loc)};
    for (const column of COLUMNS)
        arrays[column] = Float64Array.from(shown, (r) => r[column]);
    return {
        json: {n_rows: rows.length, total: rows.reduce((n, r) => n + r.total, 0), n_zones: rows.reduce((n, r) => n + r.count, 0),
            self: rows.reduce((n, r) => n + r.self, 0), rows: shown.map((r) => r.loc)},
        arrays,
    };
}

function sortRows(rows, sort, names) {
    if (sort === 'name')
        return rows.sort((a, b) => (names[a.loc].name < names[b.loc].name ? -1 : names[a.loc].name > names[b.loc].name ? 1 : a.loc - b.loc));
    return rows.sort((a, b) => b[sort] - a[sort] || a.loc - b.loc);
}

/** Answer "histogram". */
export async function histogram(trace, q) {
    const row = (await sum(trace, chosen(trace, q), q.loc)).get(q.loc);
    if (!row)
        return {json: {count: 0}, arrays: {low: new Float64Array(0), high: new Float64Array(0), n: new Float64Array(0)}};
    const json = row.figures(trace.clock), sorted = row.sorted(), ns = (d) => trace.clock.duration(d);
    return {
        json, arrays: {
            low: Float64Array.from(sorted, ([b]) => ns(bucketLow(b))),
            high: Float64Array.from(sorted, ([b]) => ns(bucketLow(b) + bucketWidth(b))), n: Float64Array.from(sorted, ([, n]) => n),
        },
    };
}

/** Answer "instances": the zones of a location, with their durations in [min, max] ns. */
export async function instances(trace, q) {
    const choice = chosen(trace, q), found = [];
    let total = 0;
    const low = q.min ?? 0, high = q.max ?? Infinity;
    const take = (track, list) => {
        for (let i = 0; i < list.n; i++) {
            if (list.loc[i] !== q.loc || list.state[i] !== ENDED || list.begin[i] < choice.lo || list.begin[i] > choice.hi)
                continue;
            const ticks = Math.max(0, list.end[i] - list.begin[i]), ns = trace.clock.duration(ticks);
            if (ns < low || ns > high)
                continue;
            total++;
            if (found.length < MOST_INSTANCES)
                found.push({t0: list.begin[i], ns, self: list.self[i], track, depth: list.depth[i], text: textOf(list, i)});
        }
    };
    await walkThreads(trace, choice, {zones: take, wantsPart: (part) => hasLoc(trace, part, q.loc)});
    walkLists(trace, choice, ['fiber', 'spans', 'gpu'], take);
    found.sort(q.sort === 'duration' ? (a, b) => b.ns - a.ns || a.t0 - b.t0 : (a, b) => a.t0 - b.t0);
    const shown = found.slice(0, q.limit ?? 1000), t0 = Float64Array.from(shown, (z) => trace.time(z.t0));
    return {
        json: {total, texts: shown.map((z) => z.text)}, arrays: {
            t0, t1: Float64Array.from(shown, (z, i) => t0[i] + z.ns), self: Float64Array.from(shown, (z) => trace.clock.duration(z.self)),
            track: Uint32Array.from(shown, (z) => z.track), depth: Uint32Array.from(shown, (z) => z.depth),
        },
    };
}

function textOf(list, i) {
    const extra = list.extras instanceof Map ? list.extras.get(i) : list.extras[i];
    return extra && extra.texts ? extra.texts.join('\n') : '';
}

/* A tree of paths; nodes by key parent/loc. */
class Paths {
    constructor(limit) {
        this.limit = limit;
        this.map = new Map();
        this.nodes = [];
        this.leftOut = 0;
    }

    node(parent, loc) {
        const key = parent * 4294967296 + loc;
        let at = this.map.get(key);
        if (at === undefined) {
            if (this.nodes.length >= this.limit) {
                this.leftOut++;
                return -1;
            }
            at = this.nodes.length;
            this.map.set(key, at);
            this.nodes.push({parent, loc, count: 0, total: 0, self: 0});
        }
        return at;
    }
}

/* Zones of a list by track, outermost first. */
function addPaths(paths, zones, up, ns) {
    const stack = [];
    for (const z of zones) {
        while (stack.length && (stack[stack.length - 1].depth >= z.depth || stack[stack.length - 1].end < z.end))
            stack.pop();
        if (up) {
            addUp(paths, stack, z, ns);
        } else {
            const above = stack.length ? stack[stack.length - 1].node : 0, at = above < 0 ? -1 : paths.node(above, z.loc);
            if (at >= 0)
                addTo(paths.nodes[at], ns(z.end - z.begin), ns(z.self));
            z.node = at < 0 ? -1 : at + 1;
        }
        stack.push(z);
    }
}

function addTo(node, total, self) {
    node.count++;
    node.total += total;
    node.self += self;
}

function addUp(paths, stack, z, ns) {
    const self = ns(z.self);
    let at = paths.node(0, z.loc);
    for (let i = stack.length; at >= 0; at = paths.node(at + 1, stack[i].loc)) {
        addTo(paths.nodes[at], self, i === stack.length ? self : 0);
        if (--i < 0)
            break;
    }
}

/** Answer "flame". */
export async function flame(trace, q) {
    const choice = chosen(trace, q), tracks = new Map(), paths = new Paths(Math.min(MOST_PATHS, q.limit || 5000));
    let n = 0;
    const take = (track, list) => {
        const out = tracks.get(track) || tracks.set(track, []).get(track);
        for (let i = 0; i < list.n; i++)
            if (list.state[i] === ENDED && list.begin[i] >= choice.lo && list.begin[i] <= choice.hi && n++ < 2000000)
                out.push({begin: list.begin[i], end: list.end[i], self: list.self[i], depth: list.depth[i], loc: list.loc[i], node: 0});
    };
    await walkThreads(trace, choice, {zones: take});
    walkLists(trace, choice, ['fiber'], take);
    for (const zones of tracks.values()) {
        zones.sort((a, b) => a.begin - b.begin || a.depth - b.depth);
        addPaths(paths, zones, q.mode === 'up', (d) => trace.clock.duration(Math.max(0, d)));
    }
    const nodes = paths.nodes, column = (type, f) => type.from(nodes, f);
    return {
        json: {left_out: paths.leftOut, limits: n > 2000000 ? [`the flame graph holds the first 2,000,000 of ${n} zones`] : []}, arrays: {
            parent: column(Uint32Array, (x) => x.parent), loc: column(Uint32Array, (x) => x.loc), count: column(Float64Array, (x) => x.count),
            total: column(Float64Array, (x) => x.total), self: column(Float64Array, (x) => x.self),
        },
    };
}

/** The tick of a time, for tests. */
export {tickAt};
