/* lanes.js - what a row of pixels shows: zones and shaded cells out of buckets of 2^k ticks.
 * The rules are docs/viewer-protocol.md's ("pixels"); nothing here reads the file.
 * SPDX-License-Identifier: MIT */

export const IS_ZONE = 1, ABOUT = 2, BEYOND = 4, NEVER_ENDS = 8;

/** The buckets that a question looks at. Ticks and buckets are relative to the trace's base. */
export class Grid {
    constructor(lo, hi, k, base) {
        Object.assign(this, {lo, hi, k, base, size: 2 ** k, mod: Number(base.value % (1n << BigInt(k)))});
        this.first = this.bucket(lo);
        this.n = this.bucket(hi) - this.first + 1;
    }

    bucket(tick) {
        return Math.floor((tick + this.mod) / this.size);
    }

    /** First tick of a bucket. */
    start(bucket) {
        return bucket * this.size - this.mod;
    }

    coarser() {
        return new Grid(this.lo, this.hi, this.k + 1, this.base);
    }
}

/** One depth of one track: per bucket count, busy, longest, and its location's id + 1. */
class Row {
    constructor(n) {
        this.count = new Float64Array(n);
        this.busy = new Float64Array(n);
        this.longest = new Float64Array(n);
        this.loc = new Float64Array(n);
    }

    add(i, count, busy, longest, loc) {
        this.count[i] += count;
        this.busy[i] += busy;
        if (loc && (!this.loc[i] || longest > this.longest[i] || longest === this.longest[i] && loc < this.loc[i])) {
            this.longest[i] = longest;
            this.loc[i] = loc;
        }
    }
}

/** The lanes of one asked track. */
export class Lanes {
    constructor(track, first, n) {
        Object.assign(this, {track, first, n, rows: new Map(), exact: new Map(), open: [], nSeen: 0, lastTick: null});
    }

    setGrid(grid) {
        this.grid = grid;
        this.lo = grid.start(grid.first);
        this.hi = grid.start(grid.first + grid.n) - 1; /* stays when the grid gets coarser */
    }

    row(depth) {
        if (depth < this.first || depth >= this.first + this.n)
            return null;
        let row = this.rows.get(depth);
        if (!row)
            this.rows.set(depth, row = new Row(this.grid.n));
        return row;
    }

    addCell(depth, tick, count, busy, longest, loc) {
        const i = this.grid.bucket(tick) - this.grid.first, row = i >= 0 && i < this.grid.n ? this.row(depth) : null;
        if (row)
            row.add(i, count, busy, longest, loc);
    }

    /** A zone was open from one tick to another. */
    addBusy(depth, from, to) {
        const grid = this.grid;
        let at = Math.max(from, this.lo);
        const end = Math.min(to, this.hi + 1), row = at < end ? this.row(depth) : null;
        while (row && at < end) {
            const bucket = grid.bucket(at), next = Math.min(end, grid.start(bucket + 1));
            row.busy[bucket - grid.first] += next - at;
            at = next;
        }
    }

    /** A zone that ended. Times before `first` (of its part) were counted by the parts before. */
    addZone(depth, begin, end, id, first) {
        const counted = Math.max(end, first), longest = Math.max(0, end - begin), grid = this.grid, b = grid.bucket(counted) - grid.first;
        this.addCell(depth, counted, 1, 0, longest, id + 1);
        this.addBusy(depth, Math.max(begin, first), end);
        if (longest < grid.size || b < 0 || b >= grid.n || depth < this.first || depth >= this.first + this.n)
            return;
        if (!this.exact.has(depth))
            this.exact.set(depth, []);
        this.exact.get(depth).push({begin, end, loc: id + 1});
    }

    /** Buckets twice as wide. */
    coarsen() {
        const from = this.grid, to = from.coarser();
        for (const [depth, row] of this.rows) {
            const wide = new Row(to.n);
            for (let i = 0; i < from.n; i++)
                if (row.count[i] || row.busy[i])
                    wide.add(to.bucket(from.start(from.first + i)) - to.first, row.count[i], row.busy[i], row.longest[i], row.loc[i]);
            this.rows.set(depth, wide);
        }
        this.grid = to;
    }

    /** Items of all depths: [[depth, items], …]; null: more than `most`. */
    items(most, lastTick) {
        const out = [];
        let left = most;
        for (let depth = this.first; depth < this.first + this.n; depth++) {
            const row = this.rows.get(depth), open = this.open[depth];
            if (!row && !open)
                continue;
            const list = itemsOf(this, depth, row, open, lastTick);
            if ((left -= list.length) < 0)
                return null;
            if (list.length)
                out.push([depth, list]);
        }
        return out;
    }
}

/* The zones of a lane by their ends; `from`, `to`: the first and last bucket that they touch. */
function zonesOf(lanes, depth, row, open, lastTick) {
    const grid = lanes.grid, zones = [], byBucket = new Map();
    for (const z of lanes.exact.get(depth) || []) {
        const b = grid.bucket(z.end);
        (byBucket.get(b) || byBucket.set(b, []).get(b)).push(z);
    }
    for (let i = 0; row && i < grid.n; i++) {
        if (!row.count[i] || row.longest[i] < grid.size)
            continue;
        const bucket = grid.first + i, longest = row.longest[i], exact = (byBucket.get(bucket) || []).find((z) => z.end - z.begin === longest && z.loc === row.loc[i]);
        const end = exact ? exact.end : grid.start(bucket + 1);
        zones.push({begin: end - longest, end, loc: row.loc[i], count: 1, busy: 0, flags: exact ? IS_ZONE : IS_ZONE | ABOUT,
            from: grid.bucket(grid.start(bucket) - longest), to: grid.bucket(exact ? end : end - 1)});
    }
    if (open)
        zones.push({begin: open.begin, end: lanes.hi + 1, loc: open.id + 1, count: 1, busy: 0, flags: IS_ZONE | BEYOND | (lanes.hi >= lastTick ? NEVER_ENDS : 0),
            from: grid.bucket(open.begin), to: grid.bucket(lanes.hi)});
    for (let i = zones.length - 1; i > 0; i--) /* zones may overlap */
        zones[i - 1].from = Math.min(zones[i - 1].from, zones[i].from);
    return zones;
}

/* Zones and cells in the order of their ends; a zone goes before the cell of its last bucket. */
function itemsOf(lanes, depth, row, open, lastTick) {
    const grid = lanes.grid, zones = zonesOf(lanes, depth, row, open, lastTick), nEnded = zones.length - (open ? 1 : 0), items = [];
    let next = 0, touching = 0, last = null;
    for (let i = 0; row && i < grid.n; i++) {
        const bucket = grid.first + i, isZone = next < nEnded && row.count[i] && row.longest[i] >= grid.size, count = row.count[i] - (isZone ? 1 : 0);
        if (isZone) {
            items.push(zones[next++]);
            last = null;
        }
        while (touching < zones.length && zones[touching].to < bucket)
            touching++;
        const isTouched = touching < zones.length && zones[touching].from <= bucket;
        if (!count && !(row.busy[i] && !isTouched))
            continue;
        const share = Math.floor(8 * row.busy[i] / grid.size), begin = grid.start(bucket);
        if (last && last.end === begin && last.share === share && last.loc === row.loc[i]) {
            last.end = begin + grid.size;
            last.count += count;
            last.busy += row.busy[i];
        } else {
            items.push(last = {begin, end: begin + grid.size, loc: row.loc[i], count, busy: row.busy[i], share, flags: 0});
        }
    }
    if (open)
        items.push(zones[nEnded]);
    return items;
}
