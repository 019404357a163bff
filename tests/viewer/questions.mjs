/* questions.mjs - random questions that a page could ask about a trace, the same for the same seed.
 * Every sort of question is in it, at every zoom, with what is missing and what is out of range.
 * SPDX-License-Identifier: MIT */

/** Numbers from 0 to 1. */
export function random(seed) {
    let x = seed >>> 0;
    return () => {
        x = x + 0x6d2b79f5 >>> 0;
        let t = Math.imul(x ^ x >>> 15, 1 | x);
        t ^= t + Math.imul(t ^ t >>> 7, 61 | t);
        return ((t ^ t >>> 14) >>> 0) / 4294967296;
    };
}

/** `known`: {trace, locs, names}: the trace's facts, locations and some of their names. `most`: ns that a costly question may span. */
export class Questions {
    constructor(known, seed, most = Infinity) {
        Object.assign(this, {known, most, next: random(seed)});
        this.zoned = known.trace.tracks.filter((t) => t.n_depths);
        this.frames = known.trace.tracks.filter((t) => t.kind === 'frames');
    }

    below(n) {
        return Math.floor(n * this.next());
    }

    pick(list) {
        return list[this.below(list.length)];
    }

    chance(p) {
        return this.next() < p;
    }

    /** A stretch of time: from all of the trace and more to a few ns. */
    range(most = Infinity) {
        const [a, b] = this.known.trace.range, whole = Math.max(1, b - a);
        const span = Math.min(most, whole * 2 ** (2 - 32 * this.next() * (this.chance(0.5) ? 1 : 0.3))), from = a - span / 4 + (whole - span / 2) * this.next();
        return this.chance(0.7) ? {from: Math.floor(from), to: Math.floor(from + span) + 1} : {from, to: from + span};
    }

    /** Some tracks, or all. */
    tracks() {
        const all = this.known.trace.tracks;
        return this.chance(0.5) ? {} : {tracks: Array.from({length: 1 + this.below(3)}, () => this.pick(all).id)};
    }

    /** A time in the trace. */
    time() {
        const [a, b] = this.known.trace.range;
        return Math.floor(a + (b - a) * (1.1 * this.next() - 0.05));
    }

    order() {
        return this.chance(0.3) ? {order: 'reversed'} : {};
    }

    word() {
        const name = this.pick(this.known.names) || 'a', letters = [...name], at = this.below(letters.length), word = letters.slice(at, at + 1 + this.below(6)).join('');
        return this.chance(0.2) ? word.toUpperCase() : word;
    }

    /** A part of a name, as it is or with what may stand for others. */
    pattern() {
        const word = this.word();
        return this.chance(0.4) ? word : this.pick([`*${word}*`, `${word}*`, `?${word}*`, '*', `[a-m]*`, `*[!${word}]`]);
    }

    one() {
        const kinds = Object.keys(asks), weights = kinds.map((k) => asks[k].weight || 1);
        let at = weights.reduce((a, b) => a + b) * this.next(), i = 0;
        while ((at -= weights[i]) >= 0)
            i++;
        return {ask: kinds[i], ...asks[kinds[i]](this)};
    }
}

const asks = {
    trace: () => ({}),
    names: (q) => ({locs: Array.from({length: q.below(20)}, () => q.chance(0.9) ? q.pick(q.known.locs) : q.below(5000))}),
    pixels: (q) => {
        const lanes = q.chance(0.3) ? q.zoned.slice(0, 64) : [...new Set(Array.from({length: 1 + q.below(6)}, () => q.pick(q.zoned)))];
        return {...q.range(), width: 1 + q.below(q.chance(0.5) ? 2000 : 100), budget: 100 + q.below(q.chance(0.3) ? 400 : 20000),
            lanes: lanes.map((t) => [t.id, q.chance(0.8) ? 0 : q.below(4), 1 + q.below(t.n_depths + 2)])};
    },
    zone: (q) => {
        const track = q.pick(q.zoned);
        return {track: track.id, depth: q.below(track.n_depths + 1), at: q.time(), ...q.chance(0.5) ? {slack: q.below(1e6)} : {}};
    },
    step: (q) => {
        const track = q.pick(q.zoned);
        return {track: track.id, depth: q.below(track.n_depths), at: q.time(), to: q.chance(0.5) ? 'next' : 'previous', same: q.chance(0.5) ? 'loc' : 'depth', loc: q.pick(q.known.locs)};
    },
    stats: (q) => ({...q.chance(0.2) ? {} : q.range(q.most), ...q.tracks(), ...q.chance(0.3) ? {filter: q.word()} : {}, ...q.chance(0.5) ? {limit: q.below(50)} : {},
        sort: q.pick(['total', 'self', 'count', 'mean', 'min', 'max', 'std', 'name']), ...q.order()}),
    histogram: (q) => ({loc: q.pick(q.known.locs), ...q.chance(0.3) ? {} : q.range(q.most), ...q.tracks()}),
    instances: (q) => ({loc: q.pick(q.known.locs), ...q.range(q.most), ...q.tracks(), ...q.chance(0.3) ? {min: q.below(1e6)} : {}, ...q.chance(0.3) ? {max: q.below(1e7)} : {},
        sort: q.pick(['time', 'duration']), ...q.order(), ...q.chance(0.5) ? {limit: q.below(2000)} : {}}),
    flame: (q) => ({...q.range(q.most), ...q.tracks(), mode: q.pick(['tree', 'down', 'up']), ...q.chance(0.5) ? {limit: 1 + q.below(300)} : {}}),
    find: (q) => ({text: q.word(), ...q.range(q.most), ...q.chance(0.5) ? {what: ['zones', 'texts', 'messages', 'tracks'].filter(() => q.chance(0.6))} : {},
        ...q.chance(0.4) ? {after: q.time()} : q.chance(0.5) ? {before: q.time()} : {}, limit: q.below(60), width: 1 + q.below(300)}),
    messages: (q) => ({...q.range(), ...q.tracks(), ...q.chance(0.3) ? {filter: q.word()} : {}, ...q.chance(0.3) ? {severity: q.below(5)} : {}, ...q.chance(0.2) ? {color: q.below(2)} : {}, ...q.chance(0.3) ? {after: q.time()} : {},
        ...q.chance(0.5) ? {limit: q.below(50)} : {}}),
    frames: (q) => ({track: (q.chance(0.9) && q.pick(q.frames) || q.pick(q.known.trace.tracks)).id, ...q.range(), ...q.chance(0.5) ? {limit: q.below(50)} : {}}),
    images: (q) => ({track: (q.chance(0.9) && q.pick(q.frames) || q.pick(q.known.trace.tracks)).id}),
    image: (q) => ({image: q.below(q.chance(0.9) ? 30 : 1e6)}),
    flows: (q) => ({...q.range(), ...q.tracks(), ...q.chance(0.5) ? {limit: q.below(50)} : {}}),
    colors: (q) => ({...q.range(q.most), ...q.tracks(), ...q.chance(0.5) ? {min: q.below(1e6)} : {}}),
    ops: (q) => ({...q.chance(0.7) ? {} : q.range(), ...q.chance(0.3) ? {filter: q.word()} : {}, ...q.chance(0.2) ? {bound: q.pick(['host', 'dispatch', 'kernel', 'waiting', 'none'])} : {}, ...q.chance(0.2) ? {device: q.pick(q.known.trace.tracks).id} : {},
        sort: q.pick(['', 'kernel', 'gap', 'host', 'fw', 'cores', 'util', 'bound', 'device', 'name']), ...q.order(), ...q.chance(0.3) ? {limit: q.below(20)} : {}}),
    cores: (q) => ({row: q.below(q.chance(0.8) ? 4 : 1000)}),
    regions: (q) => ({...q.chance(0.2) ? {} : {regions: Array.from({length: 1 + q.below(2)}, () => `${q.pick(['zone', 'span', 'message', 'signpost', 'none'])}:${q.pattern()}`)}, ...q.chance(0.5) ? {zones: [q.pattern()]} : {},
        ...q.chance(0.5) ? {scope: q.pick(['all', 'process', 'thread'])} : {}, ...q.chance(0.3) ? {limit: q.below(100)} : {}}),
    strips: (q) => ({...q.range(), width: 1 + q.below(q.chance(0.5) ? 2000 : 20), tracks: Array.from({length: 1 + q.below(5)}, () => q.pick(q.known.trace.tracks).id)}),
    samples: (q) => ({...q.chance(0.3) ? {} : q.range(q.most), ...q.tracks(), ...q.chance(0.3) ? {of: 'waits'} : {}, mode: q.pick(['tree', 'up']), ...q.chance(0.3) ? {loc: q.pick(q.known.locs)} : {}, ...q.chance(0.5) ? {limit: 1 + q.below(30)} : {}}),
    ghosts: (q) => ({track: q.pick(q.known.trace.tracks).id, ...q.range(), ...q.chance(0.3) ? {limit: 1 + q.below(50)} : {}}),
    sample: (q) => ({track: q.pick(q.known.trace.tracks).id, at: q.time(), slack: q.below(1e7)}),
    clocks: () => ({}),
    nothing: () => ({}),
};
asks.pixels.weight = 8;
asks.zone.weight = 4;
asks.step.weight = asks.stats.weight = asks.find.weight = 2;
asks.trace.weight = asks.clocks.weight = asks.nothing.weight = 0.3;
asks.regions.weight = 0.5; /* each reads the whole trace twice */
