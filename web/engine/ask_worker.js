/* ask_worker.js - a thread of the page that answers long questions, by the module with SQLite in it (src/wasm_ask). It is sent {module, traces: [{name,
 * blob or url}]}, the one that is shown first, then questions; it answers with frames (docs/viewer-protocol.md). An instance that has trapped is
 * thrown away.  SPDX-License-Identifier: MIT */
import {makeFrame} from './reader.js';
import {openSource} from './source.js';

const OK = 0, BAD_FD = 8;

class Asker {
    constructor(module, traces) {
        Object.assign(this, {module, traces, sources: [], exports: null, failure: null});
    }

    source(i) {
        if (!this.sources[i] && this.traces[i])
            this.sources[i] = openSource(this.traces[i]);
        return this.sources[i];
    }

    /* What the C library wants of a system: the time and random bytes. It has no files. */
    system() {
        const none = () => BAD_FD, names = WebAssembly.Module.imports(this.module).filter(({module}) => module === 'wasi_snapshot_preview1').map(({name}) => name), memory = () => this.exports.memory.buffer;
        const known = {
            clock_time_get: (clock, precision, at) => {
                new DataView(memory()).setBigUint64(at, BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)), true);
                return OK;
            },
            random_get: (at, n) => {
                crypto.getRandomValues(new Uint8Array(memory(), at, n));
                return OK;
            },
        };
        return Object.fromEntries(names.map((name) => [name, known[name] || none]));
    }

    guarded(f, otherwise) {
        return (...words) => {
            try {
                return f(...words);
            } catch (error) {
                this.failure = error;
                return otherwise;
            }
        };
    }

    start() {
        const bytes = (at, n) => new Uint8Array(this.exports.memory.buffer, at, n);
        const strobe = {
            read: this.guarded((i, out, n, at) => {
                this.source(i).read(bytes(out, n), at);
                return 1;
            }, 0),
            size: this.guarded((i) => (this.source(i) ? this.source(i).size : -1), -1),
            find: (at, n) => {
                const name = new TextDecoder().decode(bytes(at, n).slice());
                return this.traces.findIndex((t) => t.name === name);
            },
        };
        this.exports = new WebAssembly.Instance(this.module, {strobe, wasi_snapshot_preview1: this.system()}).exports;
        this.exports._initialize();
    }

    ask(question) {
        const text = new TextEncoder().encode(JSON.stringify(question)), at = this.exports.alloc(text.length);
        if (!at)
            throw new RangeError('the page has no memory for this');
        new Uint8Array(this.exports.memory.buffer).set(text, at);
        const answer = this.exports.ask(at, text.length);
        this.exports.free(at);
        if (!answer)
            throw new RangeError('the page has no memory for this answer');
        const frame = this.exports.memory.buffer.slice(answer, answer + this.exports.frame_bytes());
        this.exports.free(answer);
        return frame;
    }

    /** A frame in any case. What could not be read must not look like damage of the trace. */
    answer(question) {
        try {
            this.failure = null;
            if (!this.exports)
                this.start();
            const frame = this.ask(question);
            return this.failure ? makeFrame(question.id, {error: `the trace can't be read: ${this.failure.message}`}) : frame;
        } catch (error) {
            this.exports = null;
            return makeFrame(question.id, {error: error instanceof WebAssembly.RuntimeError ? `the page's SQL failed at this (${error.message}) and was started anew` : error.message});
        }
    }
}

let asker = null;

onmessage = ({data}) => {
    if (data.module) {
        asker = new Asker(data.module, data.traces);
        return;
    }
    const frame = asker.answer(data);
    postMessage(frame, [frame]);
};
