/* file.js - a trace file as a list of blocks: closed, cut or holed (docs/file-format.md).
 * Reads the head, the trailer and the indices; of a file that was not closed, the headers of the
 * blocks. Payloads are read when asked for, and only if their hash is right.
 * SPDX-License-Identifier: MIT */
import {decompress} from './zstd.js';
import {Cursor, FormatError, textOf} from './bytes.js';
import {hashIs} from './xxh64.js';

export const EVENTS = 1, RECORDS = 2, INDEX = 3, FOOTER = 4, LOD = 5;
const HEAD = 4096, BLOCK_HEAD = 72, ENTRY = 48, TRAILER = 32;
const MAX_PAYLOAD = 16 << 20, MAX_LEVELS = 16;
const MAGIC = [0x89, 0x53, 0x54, 0x52, 0x4f, 0x42, 0x45, 0x0a];

function viewOf(bytes) {
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function u64(view, at) {
    return view.getUint32(at, true) + view.getUint32(at + 4, true) * 4294967296;
}

function startsWith(bytes, text) {
    for (let i = 0; i < text.length; i++)
        if (bytes[i] !== text.charCodeAt(i))
            return false;
    return bytes.length >= text.length;
}

function padded(n) {
    return n + (8 - n % 8) % 8;
}

/* What to do with a file that is no trace. */
function wordsFor(bytes) {
    const start = textOf(bytes.subarray(0, 64)).trimStart();
    if (['tlZ', 'tZst', 'tr\ufffdP', 'tracy'].some((magic) => start.startsWith(magic)))
        return 'this is a trace of Tracy: `strobe view FILE` shows it, `strobe import FILE` makes a .strobe trace of it that can be dropped here';
    if (start.startsWith('{') || start.startsWith('[') || bytes[0] === 0x1f && bytes[1] === 0x8b)
        return 'this looks like a trace in JSON: `strobe view FILE` shows it, `strobe import FILE` makes a .strobe trace of it that can be dropped here';
    return bytes.length ? 'this is no .strobe trace: its first bytes are others' : 'this file is empty';
}

/** Decompress one frame whose size must come out right. */
export function inflate(stored, raw) {
    if (raw > MAX_PAYLOAD)
        throw new FormatError('more than 16 MiB after decompression');
    let out;
    try {
        out = decompress(stored, new Uint8Array(raw));
    } catch (error) {
        throw new FormatError(error.message);
    }
    if (out.length !== raw)
        throw new FormatError(`a frame of ${out.length} bytes instead of ${raw}`);
    return out;
}

function readKinds(text) {
    const kinds = new Map();
    for (const line of text.split('\n')) {
        const [number, name, letters, fields] = line.split(' ');
        if (fields !== undefined)
            kinds.set(Number(number), {
                name, letters: letters === '-' ? '' : letters,
                fields: fields === '-' ? [] : fields.split(','),
            });
    }
    return kinds;
}

/** A block as its index entry or its header tells it. Ticks as [lo, hi] of 32 bits. */
function entryAt(view, at) {
    return {
        offset: u64(view, at), tickMin: [view.getUint32(at + 8, true), view.getUint32(at + 12, true)],
        tickMax: [view.getUint32(at + 16, true), view.getUint32(at + 20, true)],
        nEvents: u64(view, at + 24), nZones: u64(view, at + 32), bytes: view.getUint32(at + 40, true),
        type: view.getUint8(at + 44), level: view.getUint8(at + 45),
    };
}

export class TraceFile {
    constructor(source) {
        this.source = source;
        this.blocks = [];  /* EVENTS and RECORDS, in the order of the file */
        this.extra = [];   /* blocks of types that are neither: kept for those who know them */
        this.holes = 0;    /* places where blocks are missing or damaged */
        this.closed = false;
        this.totals = null;
    }

    static async open(source) {
        const file = new TraceFile(source);
        await file.readHead();
        if (!await file.readIndexed())
            await file.scan();
        return file;
    }

    async readHead() {
        const bytes = await this.source.read(0, HEAD);
        if (bytes.length < HEAD || MAGIC.some((b, i) => bytes[i] !== b))
            throw new FormatError(wordsFor(bytes));
        const view = viewOf(bytes);
        this.version = view.getUint32(8, true);
        if (this.version > 1)
            throw new FormatError(`the trace has version ${this.version}; this page reads version 1`);
        if (!hashIs(bytes.subarray(0, HEAD - 8), view, HEAD - 8))
            throw new FormatError('the head of the trace is damaged');
        this.ledgerAt = u64(view, 16);
        this.firstBlock = u64(view, 32);
        this.createdNs = view.getBigUint64(40, true);
        this.uuid = Array.from(bytes.subarray(48, 64), (b) => b.toString(16).padStart(2, '0')).join('');
        this.schema = readKinds(textOf(bytes.subarray(896, 4088)).replace(/\0+$/, ''));
    }

    /* The block list by trailer, footer and indices. False: there is none, or it is damaged. */
    async readIndexed() {
        const size = this.source.size;
        if (size < this.firstBlock + TRAILER)
            return false;
        const bytes = await this.source.read(size - TRAILER, TRAILER), view = viewOf(bytes);
        if (!startsWith(bytes, 'STRBEND\n') || u64(view, 16) !== size - TRAILER || !hashIs(bytes.subarray(0, 24), view, 24))
            return false;
        try {
            const footer = await this.header(u64(view, 8));
            if (!footer || footer.type !== FOOTER)
                return false;
            const levels = this.readFooter((await this.payload(footer)).body);
            for (let level = levels.length - 1; level > 0; level--)
                levels[level - 1] = (await this.expand(levels[level])).concat(levels[level - 1]);
            this.take(levels[0] || []);
            this.closed = true;
            return true;
        } catch (error) {
            if (!(error instanceof FormatError))
                throw error;
            return false;
        }
    }

    readFooter(body) {
        const c = new Cursor(body), totals = {kinds: new Map(), losses: new Map()};
        for (const table of [totals.kinds, totals.losses])
            for (let n = c.count(); n > 0; n--) {
                const key = c.varint();
                table.set(key, c.varint());
            }
        totals.nProcesses = c.varint();
        totals.nThreads = c.varint();
        totals.firstTick = c.big();
        totals.lastTick = c.big();
        const levels = [];
        for (let n = c.count(MAX_LEVELS); n > 0; n--) {
            const bytes = c.slice(c.varint() * ENTRY);
            levels.push(this.entries(bytes));
        }
        this.totals = totals;
        return levels;
    }

    entries(bytes) {
        const view = viewOf(bytes), out = [];
        for (let at = 0; at + ENTRY <= bytes.length; at += ENTRY)
            out.push(entryAt(view, at));
        return out;
    }

    /* What the INDEX blocks of a level list. A damaged one throws: then the file is scanned. */
    async expand(entries) {
        const out = [];
        for (const entry of entries) {
            const block = await this.header(entry.offset);
            if (!block || block.type !== INDEX)
                throw new FormatError('an index is damaged');
            for (const below of this.entries((await this.payload(block)).body))
                out.push(below);
        }
        return out;
    }

    take(entries) {
        for (const entry of entries)
            (entry.type === EVENTS || entry.type === RECORDS ? this.blocks : this.extra).push(entry);
    }

    /** The header at an offset, or null if there is no good one. */
    async header(offset) {
        const bytes = await this.source.read(offset, BLOCK_HEAD);
        return bytes.length < BLOCK_HEAD || !startsWith(bytes, 'SBLK') ? null : this.headerOf(bytes, offset);
    }

    headerOf(bytes, offset) {
        const view = viewOf(bytes);
        if (!hashIs(bytes.subarray(0, 64), view, 64))
            return null;
        const headBytes = view.getUint32(16, true), bodyBytes = view.getUint32(20, true);
        return {
            offset, type: bytes[4], level: bytes[5], seq: u64(view, 8), headBytes, bodyBytes,
            headRaw: view.getUint32(24, true), nEvents: bytes[4] === EVENTS ? view.getUint32(28, true) : 0, nZones: 0,
            tickMin: [view.getUint32(32, true), view.getUint32(36, true)],
            tickMax: [view.getUint32(40, true), view.getUint32(44, true)],
            bytes: BLOCK_HEAD + headBytes + bodyBytes,
        };
    }

    /* All blocks, header by header; after damage, the next good one. */
    async scan(from = this.firstBlock, seq = 0) {
        let at = from;
        while (at + BLOCK_HEAD <= this.source.size) {
            const block = await this.header(at);
            if (block && at + block.bytes <= this.source.size) {
                this.holes += block.seq > seq ? 1 : 0;
                seq = block.seq + 1;
                this.take([block]);
                at = padded(at + block.bytes);
            } else if (block) {
                break; /* the file's end cuts it */
            } else {
                at = await this.nextMagic(at + 8);
            }
        }
        this.scanned = {at, seq};
    }

    /** Blocks that were appended since the last scan; true if there are any. */
    async grow() {
        const n = this.blocks.length;
        await this.scan(this.scanned.at, this.scanned.seq);
        return this.blocks.length > n;
    }

    async nextMagic(at) {
        const step = 1 << 16;
        for (; at < this.source.size; at += step) {
            const bytes = await this.source.read(at, step + BLOCK_HEAD);
            for (let i = 0; i < step && i + BLOCK_HEAD <= bytes.length; i += 8)
                if (bytes[i] === 0x53 && bytes[i + 1] === 0x42 && startsWith(bytes.subarray(i, i + 4), 'SBLK') &&
                    this.headerOf(bytes.subarray(i, i + BLOCK_HEAD), at + i))
                    return at + i;
        }
        return at;
    }

    /** Head and body of a block, decompressed as the header says. FormatError: damaged. */
    async payload(entry) {
        const bytes = await this.source.read(entry.offset, Math.min(entry.bytes, MAX_PAYLOAD + BLOCK_HEAD));
        const block = bytes.length >= BLOCK_HEAD && startsWith(bytes, 'SBLK') ? this.headerOf(bytes, entry.offset) : null;
        if (!block || bytes.length < block.bytes || block.bytes > MAX_PAYLOAD + BLOCK_HEAD)
            throw new FormatError('a block is damaged');
        if (!hashIs(bytes.subarray(BLOCK_HEAD, block.bytes), viewOf(bytes), 56))
            throw new FormatError('a block is damaged');
        const head = bytes.subarray(BLOCK_HEAD, BLOCK_HEAD + block.headBytes);
        return {
            block, head: block.headRaw ? inflate(head, block.headRaw) : head,
            body: bytes.subarray(BLOCK_HEAD + block.headBytes, block.bytes),
        };
    }

    /** The records of the reserved ledger, or null. */
    async ledger() {
        let best = null, bestSeq = -1;
        for (const slot of [0, 1]) {
            const bytes = await this.source.read(this.ledgerAt + slot * 32768, 32768);
            if (!startsWith(bytes, 'STRBLEDG'))
                continue;
            const view = viewOf(bytes), n = view.getUint32(16, true), data = bytes.subarray(32, 32 + n);
            if (data.length === n && hashIs(data, view, 24) && u64(view, 8) > bestSeq) {
                bestSeq = u64(view, 8);
                best = data;
            }
        }
        return best;
    }
}
