/* clock.js - ticks to nanoseconds, bit for bit as docs/file-format.md says ("Time").
 * Ticks come relative to the trace's base; times go out relative to the origin. Doubles throughout:
 * products of 64 by 33 bits are taken apart so that nothing is rounded.
 * SPDX-License-Identifier: MIT */

const TWO32 = 4294967296;

function distance(a, b) {
    return a > b ? a - b : b - a;
}

export class Clock {
    /** @param {{clock:number, tick:bigint, mono:bigint, real:bigint, error:number, jump:number}[]} syncs
     *  @param {Base} base  the tick of the origin */
    constructor(syncs, base) {
        this.kind = !syncs.length ? 'none' : syncs[0].clock === 2 ? 'monotonic' : 'tsc';
        const plain = this.kind === 'tsc' ? syncs.filter((s) => !s.jump) : [], first = plain[0], last = plain[plain.length - 1];
        let mult = 1n << 32n;
        if (plain.length > 1 && last.tick > first.tick && last.mono >= first.mono)
            mult = ((last.mono - first.mono) << 32n) / (last.tick - first.tick);
        this.mult = mult >> 62n ? 1n << 62n : mult;
        this.multHi = Number(this.mult >> 32n);
        this.multLo = Number(this.mult & 0xffffffffn);
        this.multNumber = Number(this.mult);
        this.nsPerTick = this.multNumber / TWO32;
        this.makePieces(this.kind === 'tsc' ? syncs : [], first, base);
        this.errorNs = syncs.reduce((most, s) => Math.max(most, s.error, Number(distance(this.absolute(s.tick), s.mono))), 0);
        this.originReal = this.originMono + (syncs.length ? syncs[0].real - syncs[0].mono : 0n);
    }

    /* Pieces: first tick, its ns, so that ns = m0 + (t - t0) * mult >> 32; `pieces` has them relative to base and origin. */
    makePieces(syncs, first, base) {
        const whole = syncs.filter((s) => s === first || s.jump).map((s) => ({t0: s.tick, m0: s.mono}));
        this.whole = whole.length ? whole.sort((a, b) => (a.t0 < b.t0 ? -1 : a.t0 > b.t0 ? 1 : 0)) : [{t0: 0n, m0: 0n}];
        this.originMono = this.absolute(base.value);
        this.pieces = this.whole.map((p) => ({t0: Number(p.t0 - base.value), m0: Number(p.m0 - this.originMono)}));
    }

    /** The time of a whole tick (bigint) on the host's axis. */
    absolute(tick) {
        const piece = this.whole.findLast((p) => p.t0 <= tick) || this.whole[0];
        return piece.m0 + ((tick - piece.t0) * this.mult >> 32n);
    }

    /** A duration of d ticks (d >= 0) in ns. */
    duration(d) {
        const high = Math.floor(d / TWO32), low = d - high * TWO32;
        const a = Math.floor(low / 65536), b = low - a * 65536;
        const part = a * this.multLo + Math.floor(b * this.multLo / 65536);
        return high * this.multNumber + low * this.multHi + Math.floor(part / 65536);
    }

    /* The same for d of either sign, rounded towards minus infinity. */
    shifted(d) {
        if (d >= 0)
            return this.duration(d);
        const ns = this.duration(-d);
        return BigInt(-d) * this.mult === BigInt(ns) << 32n ? -ns : -ns - 1;
    }

    /** A sum of ticks (bigint) in ns. */
    sum(ticks) {
        return Number(ticks * this.mult >> 32n);
    }

    /** The time of a tick, in ns after the origin. */
    time(tick) {
        let piece = this.pieces[0];
        for (let i = 1; i < this.pieces.length; i++)
            if (this.pieces[i].t0 <= tick)
                piece = this.pieces[i];
        return piece.m0 + this.shifted(tick - piece.t0);
    }

    /** A tick near a time: good to a tick or two, for looking things up. */
    tickNear(ns) {
        let piece = this.pieces[0];
        for (let i = 1; i < this.pieces.length; i++)
            if (this.pieces[i].m0 <= ns)
                piece = this.pieces[i];
        return piece.t0 + (ns - piece.m0) / this.nsPerTick;
    }
}
