/* reader.js - the engine (src/engine, as a WebAssembly module) over a source of bytes. Answers are frames (docs/viewer-protocol.md).
 * An instance that has trapped is of no use any more: it is thrown away, and the next question gets a new one.
 * SPDX-License-Identifier: MIT */

/** A frame without arrays. */
export function makeFrame(id, json) {
    const bytes = new TextEncoder().encode(JSON.stringify(json)), n = bytes.length + 7 & ~7, frame = new Uint8Array(8 + n).fill(32, 8), view = new DataView(frame.buffer);
    view.setUint32(0, id, true);
    view.setUint32(4, n, true);
    frame.set(bytes, 8);
    return frame.buffer;
}

export class Reader {
    /** `open()` gives the source: called again for a new instance. Of one that is `early`, with the events still to come, what they hold one by one is
     * not looked for. `onTrap(why)` is called when one was lost. */
    constructor(module, name, open, onTrap = () => {}) {
        Object.assign(this, {module, name, open, onTrap, exports: null, failure: null});
    }

    /* A new instance with the trace open in it; throws where that can't be done. */
    start() {
        const source = this.open(), none = () => 8; /* EBADF: the C library has no files, whatever it is linked with */
        const system = Object.fromEntries(WebAssembly.Module.imports(this.module).filter(({module}) => module === 'wasi_snapshot_preview1').map(({name}) => [name, none]));
        const read = (out, n, at) => {
            try {
                source.read(new Uint8Array(this.exports.memory.buffer, out, n), at);
                return 1;
            } catch (error) {
                this.failure = error;
                return 0;
            }
        };
        this.failure = null;
        this.exports = new WebAssembly.Instance(this.module, {strobe: {read, size: () => source.size}, wasi_snapshot_preview1: system}).exports;
        this.exports._initialize();
        const answer = this.frame(this.with(`${this.name}\0`, (at) => this.exports.open(at, source.isEarly ? 1 : 0)));
        const {error} = JSON.parse(new TextDecoder().decode(new Uint8Array(answer, 8)));
        if (error) {
            this.exports = null;
            throw new Error(this.failure ? this.failure.message : error);
        }
    }

    /* Call `f(at, n)` with a text in the module's memory. */
    with(text, f) {
        const bytes = new TextEncoder().encode(text), at = this.exports.alloc(bytes.length);
        if (!at)
            throw new Error('the page has no memory for this');
        new Uint8Array(this.exports.memory.buffer).set(bytes, at);
        const result = f(at, bytes.length);
        this.exports.free(at);
        return result;
    }

    frame(at) {
        if (!at)
            throw new Error('the page has no memory for this answer');
        const frame = this.exports.memory.buffer.slice(at, at + this.exports.frame_bytes());
        this.exports.free(at);
        return frame;
    }

    /** Open the trace now; else the first question does. */
    begin(id) {
        return this.guard(id, () => makeFrame(id, {opened: true}));
    }

    ask(question) {
        return this.guard(question.id, () => this.frame(this.with(JSON.stringify(question), (at, n) => this.exports.ask(at, n))));
    }

    /** From now on `open()` gives another source. */
    renew(open) {
        Object.assign(this, {open, exports: null});
    }

    /* A frame; null where bytes are still to come. What could not be read must not look like damage of the trace. */
    guard(id, f) {
        try {
            if (!this.exports)
                this.start();
            this.failure = null;
            const frame = f();
            if (this.failure && this.failure.isEarly)
                throw this.failure;
            return this.failure ? makeFrame(id, {error: `the trace can't be read: ${this.failure.message}`}) : frame;
        } catch (error) {
            if (this.failure && this.failure.isEarly) {
                this.exports = null; /* it may take what it missed for damage */
                return null;
            }
            const isTrap = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
            if (isTrap) {
                this.exports = null;
                this.onTrap(error.message);
            }
            return makeFrame(id, {error: isTrap ? `the page's reader failed at this (${error.message}) and was started anew` : error.message});
        }
    }
}
