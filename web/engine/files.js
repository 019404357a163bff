/* files.js - the files of the importers' module (src/wasm_import): what was dropped, and what the module makes, as descriptors for the functions of
 * WASI that its C library calls. Nothing is on a disk but what the browser keeps of dropped files there.  SPDX-License-Identifier: MIT */
import {openSource} from './source.js';

const CHUNK = 1 << 20, FIRST_FD = 3, OK = 0, BAD_FD = 8, INVALID = 28, IO = 29, NO_ENTRY = 44, IS_REGULAR = 4;

/** A file that is made: bytes in chunks; what was never written is zero. */
export class MadeFile {
    constructor() {
        this.chunks = [];
        this.size = 0;
    }

    /* Call `f(chunk, from, to, done)` for each piece of n bytes at an offset. */
    each(at, n, f) {
        for (let done = 0; done < n;) {
            const number = Math.floor((at + done) / CHUNK), from = at + done - number * CHUNK, to = Math.min(CHUNK, from + n - done);
            f(number, from, to, done);
            done += to - from;
        }
    }

    read(out, at) {
        this.each(at, out.length, (number, from, to, done) => {
            const chunk = this.chunks[number];
            if (chunk)
                out.set(chunk.subarray(from, to), done);
            else
                out.fill(0, done, done + to - from);
        });
    }

    write(bytes, at) {
        this.each(at, bytes.length, (number, from, to, done) => {
            this.chunks[number] = this.chunks[number] || new Uint8Array(CHUNK);
            this.chunks[number].set(bytes.subarray(done, done + to - from), from);
        });
        this.size = Math.max(this.size, at + bytes.length);
    }

    resize(n) {
        const last = Math.floor(n / CHUNK);
        if (n < this.size && this.chunks[last])
            this.chunks[last].fill(0, n - last * CHUNK);
        this.chunks.length = Math.min(this.chunks.length, Math.ceil(n / CHUNK));
        this.size = n;
    }

    blob() {
        const parts = [];
        for (let at = 0; at < this.size; at += CHUNK)
            parts.push((this.chunks[at / CHUNK] || new Uint8Array(CHUNK)).subarray(0, Math.min(CHUNK, this.size - at)));
        return new Blob(parts);
    }
}

/* A dropped file; `onRead(n)` hears of bytes that are read for the first time. */
class DroppedFile {
    constructor(blob, onRead) {
        Object.assign(this, {source: openSource({blob}), size: blob.size, furthest: 0, onRead});
    }

    read(out, at) {
        this.source.read(out, at);
        if (at + out.length > this.furthest) {
            this.onRead(at + out.length - this.furthest);
            this.furthest = at + out.length;
        }
    }
}

/** Descriptors. `dropped`: [{path, blob}]. */
export class Files {
    constructor(dropped, onRead) {
        this.named = new Map(dropped.map(({path, blob}) => [path, new DroppedFile(blob, onRead)]));
        this.open = [];
        this.failure = null;
    }

    openFile(path, isNew) {
        const file = !path || isNew && !this.named.has(path) ? new MadeFile() : this.named.get(path);
        if (!file)
            return -1;
        if (path)
            this.named.set(path, file);
        const free = this.open.findIndex((entry) => !entry), place = free < 0 ? this.open.length : free;
        this.open[place] = {file, at: 0};
        return place + FIRST_FD;
    }

    /** The functions that the module imports; `memory()` is its memory. */
    imports(memory) {
        const view = () => new DataView(memory()), bytes = (at, n) => new Uint8Array(memory(), at, n);
        const withFile = (f) => (fd, ...rest) => {
            const entry = this.open[fd - FIRST_FD];
            try {
                return entry ? f(entry, ...rest) ?? OK : BAD_FD;
            } catch (error) {
                this.failure = error;
                return IO;
            }
        };
        const close = (fd) => {
            this.open[fd - FIRST_FD] = null;
            return OK;
        };
        const open = (at, n, isNew) => this.openFile(new TextDecoder().decode(bytes(at, n)), isNew);
        return {strobe: {open}, wasi_snapshot_preview1: {...moveCalls(view, bytes, withFile), ...factCalls(view, bytes, withFile), ...systemCalls(view, bytes), fd_close: close}};
    }
}

/* The pieces of memory that a call names, one after the other; `f(where, length, before)` says how many bytes of one were moved. */
function eachPiece(view, list, n, f) {
    let total = 0;
    for (let i = 0; i < n; i++) {
        const where = view().getUint32(list + 8 * i, true), length = view().getUint32(list + 8 * i + 4, true), n_moved = f(where, length, total);
        total += n_moved;
        if (n_moved < length)
            break;
    }
    return total;
}

/* Calls that move bytes; without an offset at the descriptor's own place. */
function moveCalls(view, bytes, withFile) {
    const readAt = ({file}, list, n, at) => eachPiece(view, list, n, (where, length, before) => {
        const n_bytes = Math.max(0, Math.min(length, file.size - at - before));
        if (n_bytes)
            file.read(bytes(where, n_bytes), at + before);
        return n_bytes;
    });
    const writeAt = ({file}, list, n, at) => eachPiece(view, list, n, (where, length, before) => {
        file.write(bytes(where, length), at + before);
        return length;
    });
    const atPlace = (move) => withFile((entry, list, n, resultAt) => {
        const n_moved = move(entry, list, n, entry.at);
        entry.at += n_moved;
        view().setUint32(resultAt, n_moved, true);
    });
    const atOffset = (move) => withFile((entry, list, n, at, resultAt) => view().setUint32(resultAt, move(entry, list, n, Number(at)), true));
    return {fd_read: atPlace(readAt), fd_write: atPlace(writeAt), fd_pread: atOffset(readAt), fd_pwrite: atOffset(writeAt)};
}

/* Calls about a file's size and place. */
function factCalls(view, bytes, withFile) {
    return {
        fd_seek: withFile((entry, by, whence, resultAt) => {
            const at = Number(by) + [0, entry.at, entry.file.size][whence];
            if (!(at >= 0))
                return INVALID;
            entry.at = at;
            return view().setBigUint64(resultAt, BigInt(at), true);
        }),
        fd_filestat_get: withFile((entry, at) => {
            bytes(at, 64).fill(0);
            view().setUint8(at + 16, IS_REGULAR);
            view().setBigUint64(at + 32, BigInt(entry.file.size), true);
        }),
        fd_fdstat_get: withFile((entry, at) => {
            bytes(at, 24).fill(0);
            view().setUint8(at, IS_REGULAR);
        }),
        fd_filestat_set_size: withFile((entry, n) => entry.file.resize(Number(n))),
        fd_allocate: withFile((entry, at, n) => {
            entry.file.size = Math.max(entry.file.size, Number(at) + Number(n));
        }),
    };
}

/* What there is no disk, no folder and no process for, and what the browser has. */
function systemCalls(view, bytes) {
    const none = () => NO_ENTRY, done = () => OK, bad = () => BAD_FD;
    return {
        fd_sync: done, fd_datasync: done, fd_fdstat_set_flags: done, fd_prestat_get: bad, fd_prestat_dir_name: bad, fd_readdir: bad,
        path_filestat_get: none, path_open: none, path_unlink_file: none,
        clock_time_get: (clock, precision, at) => {
            view().setBigUint64(at, BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)), true);
            return OK;
        },
        random_get: (at, n) => {
            crypto.getRandomValues(bytes(at, n));
            return OK;
        },
        proc_exit: (code) => {
            throw new Error(`the importer ended with ${code}`);
        },
    };
}
