/* xxh64.js - XXH64 with seed 0, in halves of 32 bits: bigints would take a hundred times as long.
 * A number of 64 bits is a pair (hi, lo) of int32; results are left in `hi` and `lo` of the module.
 * SPDX-License-Identifier: MIT */

const P1H = 0x9e3779b1 | 0, P1L = 0x85ebca87 | 0;
const P2H = 0xc2b2ae3d | 0, P2L = 0x27d4eb4f | 0;
const P3H = 0x165667b1 | 0, P3L = 0x9e3779f9 | 0;
const P4H = 0x85ebca77 | 0, P4L = 0xc2b2ae63 | 0;
const P5H = 0x27d4eb2f | 0, P5L = 0x165667c5 | 0;

let hi = 0, lo = 0;

/* (hi, lo) = a * b mod 2^64 */
function multiply(ah, al, bh, bl) {
    const a0 = al & 0xffff, a1 = al >>> 16, b0 = bl & 0xffff, b1 = bl >>> 16;
    const low = a0 * b0, m1 = a1 * b0 + (low >>> 16), m2 = a0 * b1 + (m1 & 0xffff);
    lo = Math.imul(al, bl);
    /* m1 may have 33 bits: divided, not shifted */
    hi = a1 * b1 + Math.floor(m1 / 65536) + (m2 >>> 16) + Math.imul(ah, bl) + Math.imul(al, bh) | 0;
}

/* (hi, lo) += b */
function add(bh, bl) {
    const sum = (lo >>> 0) + (bl >>> 0);
    lo = sum | 0;
    hi = hi + bh + (sum > 0xffffffff ? 1 : 0) | 0;
}

function rotate(n) {
    const h = hi, l = lo;
    if (n < 32) {
        hi = h << n | l >>> 32 - n;
        lo = l << n | h >>> 32 - n;
    } else {
        hi = l << n - 32 | h >>> 64 - n;
        lo = h << n - 32 | l >>> 64 - n;
    }
}

/* (hi, lo) ^= (hi, lo) >>> n */
function fold(n) {
    const h = hi;
    if (n < 32) {
        hi ^= h >>> n;
        lo ^= lo >>> n | h << 32 - n;
    } else {
        lo ^= h >>> n - 32;
    }
}

/* (hi, lo) = round((ah, al), (xh, xl)) */
function round(ah, al, xh, xl) {
    multiply(xh, xl, P2H, P2L);
    add(ah, al);
    rotate(31);
    multiply(hi, lo, P1H, P1L);
}

/* Four lanes over all stripes of 32 bytes, joined in (hi, lo). */
function stripes(view, n) {
    const h = [0, P2H, 0, 0], l = [0, P2L, 0, 0];
    hi = P1H, lo = P1L, add(P2H, P2L), h[0] = hi, l[0] = lo;
    hi = 0, lo = 0;
    const negative = ~P1L + 1;
    h[3] = ~P1H + (negative === 0 ? 1 : 0) | 0, l[3] = negative | 0;
    for (let at = 0; at + 32 <= n; at += 32)
        for (let k = 0; k < 4; k++) {
            round(h[k], l[k], view.getInt32(at + 8 * k + 4, true), view.getInt32(at + 8 * k, true));
            h[k] = hi, l[k] = lo;
        }
    join(h, l);
}

function join(h, l) {
    let sh = 0, sl = 0;
    [1, 7, 12, 18].forEach((n, k) => {
        hi = h[k], lo = l[k], rotate(n), add(sh, sl);
        sh = hi, sl = lo;
    });
    for (let k = 0; k < 4; k++) {
        round(0, 0, h[k], l[k]);
        hi = sh ^ hi, lo = sl ^ lo;
        multiply(hi, lo, P1H, P1L), add(P4H, P4L);
        sh = hi, sl = lo;
    }
}

/* The bytes behind the last stripe. */
function rest(view, at, n) {
    for (; at + 8 <= n; at += 8) {
        const h = hi, l = lo;
        round(0, 0, view.getInt32(at + 4, true), view.getInt32(at, true));
        hi ^= h, lo ^= l, rotate(27);
        multiply(hi, lo, P1H, P1L), add(P4H, P4L);
    }
    if (at + 4 <= n) {
        const h = hi, l = lo;
        multiply(0, view.getInt32(at, true), P1H, P1L);
        hi ^= h, lo ^= l, rotate(23);
        multiply(hi, lo, P2H, P2L), add(P3H, P3L);
        at += 4;
    }
    for (; at < n; at++) {
        const h = hi, l = lo;
        multiply(0, view.getUint8(at), P5H, P5L);
        hi ^= h, lo ^= l, rotate(11);
        multiply(hi, lo, P1H, P1L);
    }
}

function compute(bytes) {
    const n = bytes.length, view = new DataView(bytes.buffer, bytes.byteOffset, n);
    if (n >= 32)
        stripes(view, n);
    else
        hi = P5H, lo = P5L;
    add(Math.floor(n / 4294967296), n | 0);
    rest(view, n - n % 32, n);
    fold(33), multiply(hi, lo, P2H, P2L);
    fold(29), multiply(hi, lo, P3H, P3L);
    fold(32);
}

/** Whether the hash of `bytes` is the one stored at `at` of `view`. */
export function hashIs(bytes, view, at) {
    compute(bytes);
    return lo === view.getInt32(at, true) && hi === view.getInt32(at + 4, true);
}

/** The hash as a bigint. */
export function xxh64(bytes) {
    compute(bytes);
    return BigInt(hi >>> 0) << 32n | BigInt(lo >>> 0);
}
