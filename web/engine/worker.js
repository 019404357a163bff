/* worker.js - a thread of the page with an engine in it: is handed a trace, then answers questions with frames.
 * Of the waiting pixels questions only the newest is answered.  SPDX-License-Identifier: MIT */
import {Reader, makeFrame} from './reader.js';
import {openSource} from './source.js';

const waiting = [], channel = new MessageChannel();
let reader = null;

function send(frame) {
    postMessage(frame, [frame]);
}

function answer(q) {
    if (q.ask === 'pixels' && waiting.some((other) => other.ask === 'pixels'))
        return makeFrame(q.id, {error: 'overtaken'});
    if (q.ask !== 'open')
        return reader ? reader.ask(q) : makeFrame(q.id, {error: 'no trace is open'});
    reader = new Reader(q.module, q.name, () => openSource(q), (why) => send(makeFrame(0, {tell: 'restarted', why})));
    return q.isLater ? makeFrame(q.id, {opened: false}) : reader.begin(q.id);
}

/* What has arrived meanwhile is let in before the next question is begun. */
channel.port1.onmessage = () => send(answer(waiting.shift()));

onmessage = (event) => {
    waiting.push(event.data);
    channel.port2.postMessage(0);
};
