/* importer.js - a thread of the page that makes a trace of files of other profilers, by the importers' module, once. It is sent
 * {module, files: [{path, blob}]}, and sends {share} while it reads, then {words, blob} or {error}.  SPDX-License-Identifier: MIT */
import {Files} from './files.js';

const SHARE_MS = 100;

/** Tells at most ten times a second how much of `total` bytes was read. */
function progress(total) {
    let n = 0, last = 0;
    return (more) => {
        n += more;
        if (performance.now() - last < SHARE_MS)
            return;
        last = performance.now();
        postMessage({share: total ? Math.min(1, n / total) : 1});
    };
}

function makeTrace(module, dropped) {
    const files = new Files(dropped, progress(dropped.reduce((sum, file) => sum + file.blob.size, 0)));
    const {exports} = new WebAssembly.Instance(module, files.imports(() => exports.memory.buffer));
    exports._initialize();
    const list = new TextEncoder().encode(dropped.map((file) => `${file.path}\0`).join('')), at = exports.alloc(list.length);
    new Uint8Array(exports.memory.buffer).set(list, at);
    const answer = exports.import(at, list.length), memory = new Uint8Array(exports.memory.buffer);
    if (!answer)
        throw new Error('the page has no memory for this');
    const {error, words} = JSON.parse(new TextDecoder().decode(memory.subarray(answer, memory.indexOf(0, answer))));
    if (error)
        throw new Error(files.failure ? files.failure.message : error);
    return {words, blob: files.named.get('trace.strobe').blob()};
}

onmessage = ({data}) => {
    try {
        postMessage(makeTrace(data.module, data.files));
    } catch (error) {
        postMessage({error: error instanceof WebAssembly.RuntimeError ? `the importer failed at this: ${error.message}` : error.message});
    }
};
