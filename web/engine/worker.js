/* worker.js - engine B's thread: opens a trace that it is handed, then answers questions one by one.
 * Of the waiting pixels questions only the newest is answered.  SPDX-License-Identifier: MIT */
import {BlobSource, BytesSource, HttpSource} from './source.js';
import {Engine} from './engine.js';

let engine = null, busy = false;
const waiting = [];

function reply(json, arrays = {}) {
    const buffers = new Set(Object.values(arrays).map((a) => a.buffer));
    postMessage({json, arrays}, [...buffers]);
}

async function open({file, url, bytes, name, id}) {
    try {
        const source = file ? new BlobSource(file, name || file.name) : bytes ? new BytesSource(bytes, name) : await HttpSource.open(url);
        engine = await Engine.open(source);
        reply({id, opened: true});
    } catch (error) {
        reply({id, error: error.message});
    }
}

function isOvertaken() {
    return waiting.some((q) => q.ask === 'pixels');
}

async function work() {
    busy = true;
    while (waiting.length) {
        const q = waiting.shift();
        if (q.ask === 'open') {
            await open(q);
            continue;
        }
        if (q.ask === 'pixels' && isOvertaken()) {
            reply({id: q.id, error: 'overtaken'});
            continue;
        }
        const {json, arrays} = engine ? await engine.answer(q, isOvertaken) : {json: {id: q.id, error: 'no trace is open'}, arrays: {}};
        reply(json, arrays);
    }
    busy = false;
}

onmessage = (event) => {
    waiting.push(event.data);
    if (!busy)
        work();
};
