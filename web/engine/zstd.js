/* zstd.js - unpacks zstd frames (RFC 8878) into a buffer of known size. No dictionaries, checksums are not looked at:
 * blocks of a trace have their own. Garbage in gives an error and never more than the buffer.
 * SPDX-License-Identifier: MIT */

const MAGIC = 0xfd2fb528;
const MAX_BLOCK = 1 << 17;

function bad(what) {
    throw new Error(`zstd: ${what}`);
}

function highBit(v) {
    return 31 - Math.clz32(v);
}

/* ---- bits, read backwards: the last bit set in the stream's last byte marks its end ---- */

class BackBits {
    constructor(bytes, from, to) {
        if (to <= from || !bytes[to - 1])
            bad('a bit stream without its end');
        this.bytes = bytes;
        this.from = from;
        this.left = (to - from - 1) * 8 + highBit(bytes[to - 1]); // bits not read yet; may go below zero
    }

    /** The n bits before the place, 25 at most; what lies before the start is zeros. */
    at(place, n) {
        if (place < 0)
            return place + n > 0 ? (this.at(0, place + n) << -place) >>> 0 : 0;
        const b = this.bytes, i = this.from + (place >> 3);
        return ((b[i] | b[i + 1] << 8 | b[i + 2] << 16 | b[i + 3] << 24) >>> (place & 7)) & ((1 << n) - 1);
    }

    read(n) {
        if (n > 24) {
            const high = this.read(n - 16);
            return high * 65536 + this.read(16);
        }
        this.left -= n;
        return n ? this.at(this.left, n) : 0;
    }
}

/* ---- FSE tables ---- */

/** Probabilities from a table's description; where it ends goes to out.at. */
function readProbabilities(bytes, from, to, maxLog, maxSymbol, out) {
    let place = from * 8;
    const peek = (n) => ((bytes[place >> 3] | bytes[(place >> 3) + 1] << 8 | bytes[(place >> 3) + 2] << 16) >>> (place & 7)) & ((1 << n) - 1);
    const log = peek(4) + 5, found = [];
    place += 4;
    if (log > maxLog)
        bad('a table that is too large');
    for (let remaining = 1 << log; remaining > 0;) {
        const bits = highBit(remaining + 1) + 1, lower = (1 << (bits - 1)) - 1, threshold = (1 << bits) - 2 - remaining;
        let value = peek(bits);
        place += bits;
        if ((value & lower) < threshold) {
            value &= lower;
            place--;
        } else if (value > lower) {
            value -= threshold;
        }
        found.push(value - 1);
        remaining -= Math.abs(value - 1);
        for (let zeros = value === 1 ? 3 : 0; zeros === 3;) {
            zeros = peek(2);
            place += 2;
            for (let i = 0; i < zeros; i++)
                found.push(0);
        }
        if (remaining < 0 || found.length > maxSymbol + 1 || place > to * 8)
            bad('a table that makes no sense');
    }
    out.at = (place + 7) >> 3;
    out.log = log;
    return found;
}

/** For each state: symbol, bits to read, and what they are added to. */
function makeTable(probabilities, log) {
    const size = 1 << log, symbol = new Uint8Array(size), bits = new Uint8Array(size), base = new Uint16Array(size);
    const next = new Uint16Array(probabilities.length), step = (size >> 1) + (size >> 3) + 3;
    let high = size, place = 0;
    probabilities.forEach((p, s) => {
        next[s] = p < 0 ? 1 : p;
        if (p < 0)
            symbol[--high] = s;
    });
    probabilities.forEach((p, s) => {
        for (let i = 0; i < p; i++) {
            symbol[place] = s;
            do
                place = (place + step) & (size - 1);
            while (place >= high);
        }
    });
    for (let i = 0; i < size; i++) {
        const n = next[symbol[i]]++;
        bits[i] = log - highBit(n);
        base[i] = (n << bits[i]) - size;
    }
    return {log, symbol, bits, base};
}

function oneSymbol(symbol) {
    return {log: 0, symbol: Uint8Array.of(symbol), bits: new Uint8Array(1), base: new Uint16Array(1)};
}

/* ---- Huffman ---- */

function readWeights(bytes, from, to) {
    const table = {}, stream = new BackBits(bytes, readProbabilitiesEnd(bytes, from, to, table), to), t = table.table, weights = [];
    let a = stream.read(t.log), b = stream.read(t.log);
    while (weights.length < 255) {
        weights.push(t.symbol[a]);
        if (stream.left < t.bits[a]) {
            weights.push(t.symbol[b]);
            break;
        }
        a = t.base[a] + stream.read(t.bits[a]);
        [a, b] = [b, a];
    }
    return weights;
}

function readProbabilitiesEnd(bytes, from, to, out) {
    const probabilities = readProbabilities(bytes, from, to, 6, 255, out);
    out.table = makeTable(probabilities, out.log);
    return out.at;
}

/** The tree of a block's literals: a table by the next `log` bits. */
function readTree(bytes, from, to, out) {
    const head = bytes[from];
    let weights;
    if (head < 128) {
        out.at = from + 1 + head;
        if (out.at > to)
            bad('a tree that is cut');
        weights = readWeights(bytes, from + 1, out.at);
    } else {
        out.at = from + 1 + ((head - 126) >> 1);
        weights = Array.from({length: head - 127}, (_, i) => (i & 1 ? bytes[from + 1 + (i >> 1)] & 15 : bytes[from + 1 + (i >> 1)] >> 4));
    }
    let sum = weights.reduce((total, w) => total + (w ? 1 << (w - 1) : 0), 0);
    const log = sum ? highBit(sum) + 1 : 0, rest = (1 << log) - sum;
    if (!sum || log > 11 || rest & (rest - 1) || weights.length > 255)
        bad('a tree that makes no sense');
    weights.push(highBit(rest) + 1);
    const symbol = new Uint8Array(1 << log), bits = new Uint8Array(1 << log);
    sum = 0;
    for (let w = 1; w <= log; w++)
        weights.forEach((weight, s) => {
            if (weight !== w)
                return;
            symbol.fill(s, sum, sum + (1 << (w - 1)));
            bits.fill(log + 1 - w, sum, sum + (1 << (w - 1)));
            sum += 1 << (w - 1);
        });
    return {log, symbol, bits};
}

function unpackStream(tree, bytes, from, to, out, at, end) {
    const stream = new BackBits(bytes, from, to), {log, symbol, bits} = tree, start = stream.from, mask = (1 << log) - 1;
    let left = stream.left;
    for (; at < end && left >= 32; at++) { // far from the start: no look behind it
        const place = left - log, i = start + (place >> 3), code = ((bytes[i] | bytes[i + 1] << 8 | bytes[i + 2] << 16) >>> (place & 7)) & mask;
        out[at] = symbol[code];
        left -= bits[code];
    }
    for (; at < end; at++) {
        const code = stream.at(left - log, log);
        out[at] = symbol[code];
        left -= bits[code];
    }
    if (left)
        bad('literals that do not end where they should');
}

/* ---- blocks ---- */

const LITERAL_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const MATCH_BITS = [...new Array(32).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const bases = (bits, first) => {
    const out = [];
    bits.forEach((n) => {
        out.push(first);
        first += 2 ** n;
    });
    return Uint32Array.from(out);
};
const LITERAL_BASE = bases(LITERAL_BITS, 0), MATCH_BASE = bases(MATCH_BITS, 3);
const KINDS = { // of a sequence's three numbers: largest symbol, largest table, the table that needs no description
    literal: {max: 35, log: 9, usual: makeTable([4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1], 6)},
    offset: {max: 31, log: 8, usual: makeTable([1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1], 5)},
    match: {max: 52, log: 9, usual: makeTable([1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1], 6)},
};

class Frame {
    constructor(out) {
        this.out = out;
        this.n = 0; // bytes made so far
        this.repeats = [1, 4, 8];
        this.tables = {};
        this.tree = null;
        this.literals = new Uint8Array(0);
    }

    need(n) {
        if (this.n + n > this.out.length)
            bad('more bytes than were said');
    }

    /** The literals of a block; where they end. */
    readLiterals(bytes, from, to) {
        const b = bytes[from], type = b & 3, form = b >> 2 & 3;
        if (type < 2) {
            const n_head = form === 1 ? 2 : form === 3 ? 3 : 1;
            const size = n_head === 1 ? b >> 3 : n_head === 2 ? b >> 4 | bytes[from + 1] << 4 : b >> 4 | bytes[from + 1] << 4 | bytes[from + 2] << 12;
            from += n_head;
            const n = type === 0 ? size : 1;
            if (from + n > to || size > MAX_BLOCK)
                bad('literals that are cut');
            this.literals = type === 0 ? bytes.subarray(from, from + size) : new Uint8Array(size).fill(bytes[from]);
            return from + n;
        }
        const n_bits = form < 2 ? 10 : form === 2 ? 14 : 18, n_head = form < 2 ? 3 : form + 2;
        let head = 0;
        for (let i = n_head - 1; i >= 0; i--)
            head = head * 256 + bytes[from + i];
        const size = Math.floor(head / 16) % 2 ** n_bits, packed = Math.floor(head / 16 / 2 ** n_bits) % 2 ** n_bits, end = from + n_head + packed;
        if (end > to || size > MAX_BLOCK)
            bad('literals that are cut');
        const where = {at: from + n_head};
        if (type === 2)
            this.tree = readTree(bytes, where.at, end, where);
        if (!this.tree)
            bad('no tree to repeat');
        this.unpackLiterals(bytes, where.at, end, size, form === 0 ? 1 : 4);
        return end;
    }

    unpackLiterals(bytes, from, to, size, n_streams) {
        const out = this.literals = new Uint8Array(size);
        if (n_streams === 1) {
            unpackStream(this.tree, bytes, from, to, out, 0, size);
            return;
        }
        const piece = (size + 3) >> 2;
        let at = from + 6;
        for (let i = 0; i < 4; i++) {
            const end = i < 3 ? at + (bytes[from + 2 * i] | bytes[from + 2 * i + 1] << 8) : to;
            if (end > to || piece * 3 > size)
                bad('literals that are cut');
            unpackStream(this.tree, bytes, at, end, out, i * piece, i < 3 ? (i + 1) * piece : size);
            at = end;
        }
    }

    /** The table of one of a sequence's numbers; where it ends goes to where.at. */
    readTable(name, mode, bytes, to, where) {
        const kind = KINDS[name];
        if (mode === 0)
            this.tables[name] = kind.usual;
        else if (mode === 1)
            this.tables[name] = oneSymbol(bytes[where.at++]);
        else if (mode === 2)
            this.tables[name] = makeTable(readProbabilities(bytes, where.at, to, kind.log, kind.max, where), where.log);
        if (!this.tables[name])
            bad('no table to repeat');
        if (this.tables[name].symbol.some((s) => s > kind.max))
            bad('a symbol that is too large');
        return this.tables[name];
    }

    offsetOf(value, n_literals) {
        const r = this.repeats;
        if (value > 3) {
            this.repeats = [value - 3, r[0], r[1]];
            return value - 3;
        }
        const i = value - 1 + (n_literals ? 0 : 1), offset = i < 3 ? r[i] : r[0] - 1;
        if (i)
            this.repeats = i === 1 ? [offset, r[0], r[2]] : [offset, r[0], r[1]];
        return offset;
    }

    copy(offset, length) {
        const out = this.out;
        this.need(length);
        if (offset < 1 || offset > this.n)
            bad('a match before the start');
        if (offset >= length) {
            out.copyWithin(this.n, this.n - offset, this.n - offset + length);
            this.n += length;
        } else {
            for (const end = this.n + length; this.n < end; this.n++)
                out[this.n] = out[this.n - offset];
        }
    }

    putLiterals(from, n) {
        this.need(n);
        if (from + n > this.literals.length)
            bad('more literals than there are');
        if (n < 16)
            for (let i = 0; i < n; i++)
                this.out[this.n + i] = this.literals[from + i];
        else
            this.out.set(this.literals.subarray(from, from + n), this.n);
        this.n += n;
    }

    unpackSequences(stream, n, tables) {
        const {literal, offset, match} = tables;
        let l = stream.read(literal.log), o = stream.read(offset.log), m = stream.read(match.log), used = 0;
        for (let i = 0; i < n; i++) {
            const code = offset.symbol[o], value = 2 ** code + stream.read(code);
            const length = MATCH_BASE[match.symbol[m]] + stream.read(MATCH_BITS[match.symbol[m]]);
            const n_literals = LITERAL_BASE[literal.symbol[l]] + stream.read(LITERAL_BITS[literal.symbol[l]]);
            this.putLiterals(used, n_literals);
            used += n_literals;
            this.copy(this.offsetOf(value, n_literals), length);
            if (i + 1 < n) {
                l = literal.base[l] + stream.read(literal.bits[l]);
                m = match.base[m] + stream.read(match.bits[m]);
                o = offset.base[o] + stream.read(offset.bits[o]);
            }
            if (stream.left < 0)
                bad('sequences that are cut');
        }
        return used;
    }

    unpackBlock(bytes, from, to) {
        let at = this.readLiterals(bytes, from, to), used = 0, n = bytes[at++];
        if (n > 127)
            n = n < 255 ? (n - 128 << 8) + bytes[at++] : bytes[at++] + (bytes[at++] << 8) + 0x7f00;
        if (n) {
            const modes = bytes[at], where = {at: at + 1}, tables = {};
            tables.literal = this.readTable('literal', modes >> 6, bytes, to, where);
            tables.offset = this.readTable('offset', modes >> 4 & 3, bytes, to, where);
            tables.match = this.readTable('match', modes >> 2 & 3, bytes, to, where);
            used = this.unpackSequences(new BackBits(bytes, where.at, to), n, tables);
        }
        this.putLiterals(used, this.literals.length - used);
    }
}

/** Where the first block of a frame starts. */
function skipHeader(bytes) {
    if (bytes.length < 6 || (bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24) >>> 0 !== MAGIC)
        bad('not a frame');
    const b = bytes[4], single = b >> 5 & 1;
    if (b & 3)
        bad('a dictionary is wanted');
    return 5 + (single ? 0 : 1) + (b >> 6 ? 1 << (b >> 6) : single);
}

/** Unpack the frame in `bytes` into `out`; the part of it that was filled. Throws if it makes no sense. */
export function decompress(bytes, out) {
    const frame = new Frame(out);
    for (let at = skipHeader(bytes), last = 0; !last;) {
        if (at + 3 > bytes.length)
            bad('a frame that is cut');
        const head = bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16, type = head >> 1 & 3, size = head >> 3;
        last = head & 1;
        at += 3;
        const end = at + (type === 1 ? 1 : size);
        if (type === 3 || end > bytes.length || size > MAX_BLOCK)
            bad('a block that makes no sense');
        if (type === 2) {
            frame.unpackBlock(bytes, at, end);
        } else {
            frame.need(size);
            if (type === 0)
                out.set(bytes.subarray(at, end), frame.n);
            else
                out.fill(bytes[at], frame.n, frame.n + size);
            frame.n += size;
        }
        at = end;
    }
    return out.subarray(0, frame.n);
}
