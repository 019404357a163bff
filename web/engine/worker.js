/* worker.js - engine B's thread: opens a trace that it is handed, then answers questions.
 * Drawing goes first: questions that may take long have a queue of their own and give way every few ms. Of the waiting
 * pixels questions only the newest is answered.  SPDX-License-Identifier: MIT */
import {BlobSource, BytesSource, HttpSource} from './source.js';
import {Engine} from './engine.js';

const SLOW = ['stats', 'histogram', 'instances', 'flame', 'find'];
const queues = {quick: {waiting: [], busy: false}, slow: {waiting: [], busy: false}};
let engine = null;

function reply(json, arrays = {}) {
    const buffers = new Set(Object.values(arrays).map((a) => a.buffer));
    postMessage({json, arrays}, [...buffers]);
}

async function open({file, url, bytes, name, id}) {
    try {
        const source = file ? new BlobSource(file, name || file.name) : bytes ? new BytesSource(bytes, name) : await HttpSource.open(url);
        engine = await Engine.open(source);
        engine.trace.rest = rest;
        reply({id, opened: true});
    } catch (error) {
        reply({id, error: error.message});
    }
}

function isOvertaken() {
    return queues.quick.waiting.some((q) => q.ask === 'pixels');
}

/* Lets messages in, and what they ask be answered first. */
const channel = new MessageChannel();
function rest() {
    return new Promise((resolve) => {
        channel.port1.onmessage = resolve;
        channel.port2.postMessage(0);
    });
}

async function work(queue) {
    queue.busy = true;
    while (queue.waiting.length) {
        const q = queue.waiting.shift();
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
    queue.busy = false;
}

onmessage = (event) => {
    const queue = SLOW.includes(event.data.ask) ? queues.slow : queues.quick;
    queue.waiting.push(event.data);
    if (!queue.busy)
        work(queue);
};
