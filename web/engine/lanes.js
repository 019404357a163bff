/* lanes.js - what a row of pixels shows: zones and shaded cells out of buckets of 2^k ticks.
 * The rules are docs/viewer-protocol.md's ("pixels"); nothing here reads the file.
 * SPDX-License-Identifier: MIT */

export const IS_ZONE = 1, FROM_DETAIL = 2, OPEN_AT_END = 4, NEVER_ENDS = 8, HAS_TEXT = 16;

/** The buckets that a question looks at. Ticks are relative to the trace's base. */
export class Grid {
    constructor(lo, hi, k, base) {
        this.lo = lo;
        this.hi = hi;
        this.k = k;
        this.size = 2 ** k;
        this.mod = Number(base.value % (1n << BigInt(k)));
        this.first = this.bucket(lo);
        this.n = this.bucket(hi) - this.first + 1;
        this.last = this.start(this.n) - 1; /* the last tick that is looked at */
    }

    bucket(tick) {
        return Math.floor((tick + this.mod) / this.size);
    }

    /** First tick of the i-th bucket looked at. */
    start(i) {
        return (this.first + i) * this.size - this.mod;
    }

    static level(lo, hi, width) {
        const k = Math.floor(Math.log2(Math.max(1, (hi - lo) / width)));
        return Math.max(0, 2 ** k * width <= hi - lo ? k : k - 1);
    }
}

/** One depth of one track. `id` is the location's number in the file, for ties. */
export class Lane {
    constructor(n) {
        this.n = n;
        this.count = new Uint32Array(n);
        this.busy = new Float64Array(n);
        this.longest = new Float64Array(n).fill(-1);
        this.loc = new Uint32Array(n);
        this.t0 = new Float64Array(n);
        this.t1 = new Float64Array(n);
        this.flags = new Uint8Array(n);
        this.open = []; /* zones that are open at the end of the view */
        this.used = false;
    }

    /** A zone that ends in bucket b, longer than what was there or with a lower location. */
    offer(b, ticks, loc, t0, t1, flags) {
        if (ticks > this.longest[b] || ticks === this.longest[b] && loc < this.loc[b]) {
            this.longest[b] = ticks;
            this.loc[b] = loc;
            this.t0[b] = t0;
            this.t1[b] = t1;
            this.flags[b] = flags;
        }
    }

    /** Ticks [from, to) in which something was open. */
    spread(grid, from, to) {
        from = Math.max(from, grid.start(0));
        to = Math.min(to, grid.start(grid.n));
        if (!(to > from))
            return;
        this.used = true;
        const first = grid.bucket(from) - grid.first, last = Math.min(grid.n - 1, grid.bucket(to) - grid.first);
        if (first === last)
            return void (this.busy[first] += to - from);
        this.busy[first] += grid.start(first + 1) - from;
        for (let b = first + 1; b < last; b++)
            this.busy[b] += grid.size;
        this.busy[last] += to - grid.start(last);
    }

    /** A zone that is known exactly. */
    addZone(grid, begin, end, loc, flags) {
        const b = grid.bucket(end) - grid.first;
        this.spread(grid, begin, end);
        if (begin <= grid.last && end > grid.last)
            this.open.push({t0: begin, loc, flags: IS_ZONE | OPEN_AT_END | flags});
        if (b < 0 || b >= grid.n)
            return;
        this.used = true;
        this.count[b]++;
        this.offer(b, Math.max(0, end - begin), loc, begin, end, flags);
    }

    /** Double the buckets' size: the grid's level grows by one. */
    halve(oddFirst) {
        const shift = oddFirst ? 1 : 0, n = this.n + shift + 1 >> 1, wide = new Lane(n);
        for (let i = 0; i < this.n; i++) {
            const b = i + shift >> 1;
            wide.count[b] += this.count[i];
            wide.busy[b] += this.busy[i];
            if (this.longest[i] >= 0)
                wide.offer(b, this.longest[i], this.loc[i], this.t0[i], this.t1[i], this.flags[i]);
        }
        wide.open = this.open;
        wide.used = this.used;
        return wide;
    }

    /** Items by time, through `put(t0, t1, loc, count, busy, flags)`; returns how many. */
    items(grid, put) {
        const zones = [], touched = new Uint8Array(this.n);
        this.findZones(grid, zones, touched);
        const cells = this.findCells(grid, touched);
        if (!put)
            return zones.length + cells.length;
        const all = zones.concat(cells);
        all.sort((a, b) => a.t0 - b.t0 || b.t1 - a.t1);
        for (const item of all)
            put(item);
        return all.length;
    }

    findZones(grid, zones, touched) {
        for (let b = 0; b < this.n; b++) {
            if (this.longest[b] < grid.size || this.longest[b] < 1)
                continue;
            const fromDetail = this.flags[b] & FROM_DETAIL;
            const t1 = fromDetail ? grid.start(b + 1) : this.t1[b], t0 = fromDetail ? t1 - this.longest[b] : this.t0[b];
            zones.push({t0, t1, ticks: this.longest[b], loc: this.loc[b], count: 1, busy: 1, flags: IS_ZONE | this.flags[b]});
            touch(grid, touched, t0, t1);
        }
        for (const z of this.open) {
            zones.push({t0: z.t0, t1: null, ticks: 0, loc: z.loc, count: 1, busy: 1, flags: z.flags});
            touch(grid, touched, z.t0, grid.last + 1);
        }
    }

    findCells(grid, touched) {
        const cells = [];
        let last = null, lastBucket = -2;
        for (let b = 0; b < this.n; b++) {
            const own = this.longest[b] >= Math.max(1, grid.size) ? 1 : 0, beyond = this.count[b] - own;
            if (beyond <= 0 && !(this.busy[b] > 0 && !touched[b]))
                continue;
            const share = Math.floor(8 * this.busy[b] / grid.size);
            if (last && lastBucket === b - 1 && last.loc === this.loc[b] && last.share === share) {
                last.t1 = grid.start(b + 1);
                last.count += Math.max(0, beyond);
                last.ticks += this.busy[b];
                last.n++;
            } else {
                last = {t0: grid.start(b), t1: grid.start(b + 1), loc: this.loc[b], count: Math.max(0, beyond), ticks: this.busy[b], share, n: 1, flags: 0};
                cells.push(last);
            }
            lastBucket = b;
        }
        for (const cell of cells)
            cell.busy = Math.min(1, cell.ticks / (cell.n * grid.size));
        return cells;
    }
}

function touch(grid, touched, t0, t1) {
    const first = Math.max(0, grid.bucket(t0) - grid.first);
    const last = Math.min(touched.length - 1, grid.bucket(Math.max(t0, t1 - 1)) - grid.first);
    if (last >= first)
        touched.fill(1, first, last + 1);
}

/** Items of many lanes as columns. */
export class Items {
    constructor(room) {
        this.n = 0;
        this.t0 = new Float64Array(room);
        this.t1 = new Float64Array(room);
        this.loc = new Uint32Array(room);
        this.count = new Uint32Array(room);
        this.busy = new Float32Array(room);
        this.flags = new Uint8Array(room);
    }

    put(t0, t1, loc, count, busy, flags) {
        const i = this.n++;
        this.t0[i] = t0;
        this.t1[i] = t1;
        this.loc[i] = loc;
        this.count[i] = count;
        this.busy[i] = busy;
        this.flags[i] = flags;
    }
}
