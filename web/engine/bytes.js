/* bytes.js - reads numbers and texts out of bytes that nobody vouches for.
 * Every read is bounded: one past the end throws FormatError, and never loops.
 * Ticks are 64 bits wide: they leave here as differences to a base, exact below 2^53.
 * SPDX-License-Identifier: MIT */

export class FormatError extends Error {}

const decoder = new TextDecoder('utf-8', {ignoreBOM: true});

/** A 64-bit base that ticks are counted from, cut in pieces of 28 bits as varints are. */
export class Base {
    /** @param {bigint} value */
    constructor(value) {
        this.value = value;
        this.lo = Number(value & 0xfffffffn);
        this.mid = Number(value >> 28n & 0xfffffffn);
        this.top = Number(value >> 56n);
        this.lo32 = Number(value & 0xffffffffn);
        this.hi32 = Number(value >> 32n);
    }

    /** The difference of a u64 in two halves to the base. */
    of(lo32, hi32) {
        return (hi32 - this.hi32) * 4294967296 + (lo32 - this.lo32);
    }

    /** The difference of a number or bigint to the base. */
    ofValue(value) {
        return Number(BigInt(value) - this.value);
    }
}

/** A place in bytes. */
export class Cursor {
    constructor(bytes, at = 0, end = bytes.length) {
        this.bytes = bytes;
        this.at = at;
        this.end = end;
    }

    /** A varint as a double: exact below 2^53. */
    varint() {
        const bytes = this.bytes;
        let b = bytes[this.at++];
        if (b < 128)
            return this.checked(b);
        let value = b & 127, scale = 128;
        for (let i = 1; i < 10; i++) {
            b = bytes[this.at++];
            value += (b & 127) * scale;
            if (b < 128)
                return this.checked(value);
            scale *= 128;
        }
        throw new FormatError('a number runs over its end');
    }

    checked(value) {
        if (this.at > this.end)
            throw new FormatError('a number runs over its end');
        return value;
    }

    /** A varint as a number where that is exact, else as a bigint. */
    whole() {
        const at = this.at, value = this.varint();
        if (value < 9007199254740992)
            return value;
        this.at = at;
        return this.big();
    }

    /** A zigzag varint as a double. */
    zigzag() {
        const n = this.varint();
        if (n <= 0xffffffff)
            return (n >>> 1) ^ -(n & 1);
        return n % 2 ? -(n + 1) / 2 : n / 2;
    }

    /** The same as a number where that is exact, else as a bigint. */
    wholeZigzag() {
        const z = this.whole();
        if (typeof z === 'number')
            return z % 2 ? -(z + 1) / 2 : z / 2;
        return z & 1n ? -(z + 1n >> 1n) : z >> 1n;
    }

    /** A varint less the base. */
    tick(base) {
        let lo = 0, mid = 0, top = 0;
        for (let i = 0; i < 10; i++) {
            const b = this.bytes[this.at++], digit = b & 127;
            if (i < 4)
                lo |= digit << 7 * i;
            else if (i < 8)
                mid |= digit << 7 * (i - 4);
            else
                top |= digit << 7 * (i - 8);
            if (b < 128)
                return this.checked((top - base.top) * 72057594037927936 +
                                    (mid - base.mid) * 268435456 + (lo - base.lo));
        }
        throw new FormatError('a number runs over its end');
    }

    /** A varint as a bigint. */
    big() {
        let value = 0n;
        for (let i = 0n; i < 70n; i += 7n) {
            const b = this.bytes[this.at++];
            value |= BigInt(b & 127) << i;
            if (b < 128)
                return BigInt.asUintN(64, this.checked(value));
        }
        throw new FormatError('a number runs over its end');
    }

    /** A count of things that each take at least one byte: never more than bytes are left. */
    count(most = Infinity) {
        const n = this.varint();
        if (n > this.end - this.at || n > most)
            throw new FormatError(`a count of ${n} can't be true`);
        return n;
    }

    slice(n) {
        if (n > this.end - this.at)
            throw new FormatError('a text runs over its end');
        this.at += n;
        return this.bytes.subarray(this.at - n, this.at);
    }

    text() {
        return decoder.decode(this.slice(this.varint()));
    }

    double() {
        const s = this.slice(8);
        return new DataView(s.buffer, s.byteOffset, 8).getFloat64(0, true);
    }

    skipVarint() {
        for (let i = 0; i < 10; i++)
            if (this.bytes[this.at++] < 128)
                return void this.checked(0);
        throw new FormatError('a number runs over its end');
    }
}

/** The lowest bits of a whole number, which may be a bigint, as a number. */
export function lowBits(x, bits) {
    return typeof x === 'number' && x >= 0 && x < 2 ** bits ? x : Number(BigInt.asUintN(bits, BigInt(x)));
}

export function textOf(bytes) {
    return decoder.decode(bytes);
}

/** Bytes joined. */
export function joined(list) {
    if (list.length === 1)
        return list[0];
    const out = new Uint8Array(list.reduce((n, part) => n + part.length, 0));
    let at = 0;
    for (const part of list) {
        out.set(part, at);
        at += part.length;
    }
    return out;
}
