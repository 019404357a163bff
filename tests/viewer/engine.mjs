/* engine.mjs - the page's reader in node: the module that the build made (build/page), over a file or bytes. Its answers come as those of
 * the page's other engines, {json, arrays}.  SPDX-License-Identifier: MIT */
import fs from 'node:fs';
import path from 'node:path';
import {Reader} from '../../web/engine/reader.js';
import {Source} from '../../web/engine/source.js';

const TYPES = {f64: Float64Array, u32: Uint32Array, f32: Float32Array, u8: Uint8Array};

/** A frame as {json, arrays} (docs/viewer-protocol.md). */
export function decode(frame) {
    const n = new DataView(frame).getUint32(4, true), json = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 8, n)));
    const arrays = Object.fromEntries(Object.entries(json.arrays || {}).map(([name, a]) => [name, new TYPES[a.type](frame, a.at, a.n)]));
    delete json.arrays;
    return {json: {...json, id: new DataView(frame).getUint32(0, true)}, arrays};
}

/** The module that was built along with a binary. */
export function moduleOf(strobe) {
    return new WebAssembly.Module(fs.readFileSync(path.join(path.dirname(strobe), '..', 'page', 'engine.wasm')));
}

/** A file that is read as it is asked for. */
export function fileSource(file) {
    const handle = fs.openSync(file, 'r');
    return new Source(fs.fstatSync(handle).size, (from, to) => {
        const bytes = new Uint8Array(to - from);
        return bytes.subarray(0, fs.readSync(handle, bytes, 0, bytes.length, from));
    });
}

export function bytesSource(bytes) {
    return new Source(bytes.length, (from, to) => bytes.subarray(from, to));
}

export class Engine {
    /** Throws in words where the trace can't be opened. */
    static open(module, name, open) {
        const engine = new Engine();
        engine.traps = [];
        engine.reader = new Reader(module, name, open, (why) => engine.traps.push(why));
        const {json} = decode(engine.reader.begin(1));
        if (json.error)
            throw new Error(json.error);
        return engine;
    }

    static openFile(strobe, file) {
        return Engine.open(moduleOf(strobe), path.basename(file), () => fileSource(file));
    }

    answer(q) {
        return decode(this.reader.ask(q));
    }
}
