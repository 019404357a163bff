/* clock.js - ticks to nanoseconds, bit for bit as docs/file-format.md says ("Time").
 * Ticks come relative to the trace's base; times go out relative to the origin. Doubles throughout:
 * products of 64 by 33 bits are taken apart so that nothing is rounded.
 * SPDX-License-Identifier: MIT */

const TWO32 = 4294967296;

export class Clock {
    /** @param {{clock:number, tick:bigint, mono:bigint, real:bigint, error:number, jump:number}[]} syncs
     *  @param {Base} base  the tick of the origin */
    constructor(syncs, base) {
        const isNs = syncs.length > 0 && syncs[0].clock === 2;
        const plain = isNs ? [] : syncs.filter((s) => s.clock === 1 && s.jump === 0);
        const first = plain[0], last = plain[plain.length - 1];
        let mult = 1n << 32n;
        if (plain.length > 1 && last.tick !== first.tick)
            mult = BigInt.asUintN(64, ((last.mono - first.mono) << 32n) / (last.tick - first.tick));
        this.mult = mult;
        this.multHi = Number(mult >> 32n);
        this.multLo = Number(mult & 0xffffffffn);
        this.multNumber = Number(mult);
        this.nsPerTick = this.multNumber / TWO32;
        this.makePieces(isNs ? [] : syncs, first, base);
        this.setError(syncs, first, isNs);
        this.setReal(syncs, base);
    }

    /* Pieces: first tick (relative), its ns, so that ns = ns0 + (t - t0) * mult >> 32. */
    makePieces(syncs, first, base) {
        const pieces = [{t0: first ? first.tick : 0n, m0: first ? first.mono : 0n}];
        for (const s of syncs)
            if (s.jump === 1)
                pieces.push({t0: s.tick, m0: s.mono});
        const origin = this.absolute(pieces, base.value);
        this.originMono = origin;
        this.pieces = pieces.map((p) => ({t0: Number(p.t0 - base.value), m0: Number(p.m0 - origin)}));
        if (!first && pieces.length === 1) /* ticks are ns: the axis is the base's */
            this.pieces = [{t0: 0, m0: 0}];
    }

    absolute(pieces, tick) {
        let piece = pieces[0];
        for (const p of pieces)
            if (p !== pieces[0] && p.t0 <= tick)
                piece = p;
        return piece.m0 + ((tick - piece.t0) * this.mult >> 32n);
    }

    setError(syncs, first, isNs) {
        this.errorNs = 0;
        for (const s of syncs) {
            this.errorNs = Math.max(this.errorNs, s.error);
            if (isNs || s.jump || !first)
                continue;
            const line = first.mono + ((s.tick - first.tick) * this.mult >> 32n);
            const off = Number(line > s.mono ? line - s.mono : s.mono - line);
            this.errorNs = Math.max(this.errorNs, off);
        }
    }

    /* Real time of the origin in ns, as a bigint; 0n: not known. */
    setReal(syncs, base) {
        const s = syncs[0];
        this.originReal = s ? s.real - (s.mono - this.originMono) : 0n;
        void base;
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
