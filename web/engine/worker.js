/* worker.js - a thread of the page with an engine in it: is handed a trace, then answers questions with frames.
 * Of the waiting pixels questions only the newest is answered. Where only parts of the trace are there, questions that need more wait for `whole`.
 * SPDX-License-Identifier: MIT */
import {Reader, makeFrame} from './reader.js';
import {openSource} from './source.js';

const waiting = [], early = [], channel = new MessageChannel();
let reader = null;

function send(frame) {
    postMessage(frame, [frame]);
}

function open(q) {
    reader = new Reader(q.module, q.name, () => openSource(q), (why) => send(makeFrame(0, {tell: 'restarted', why})));
    if (q.isLater)
        return makeFrame(q.id, {opened: false});
    return reader.begin(q.id) || makeFrame(q.id, {error: 'too little of the trace is there'});
}

/* All of the trace has come: what waited for it is answered before what is asked next. */
function complete({id, blob}) {
    reader.renew(() => openSource({blob}));
    early.forEach(() => channel.port2.postMessage(0));
    waiting.unshift(...early.splice(0));
    return makeFrame(id, {opened: true});
}

function ask(q) {
    const frame = reader.ask(q);
    if (frame)
        return frame;
    early.push(q);
    return makeFrame(0, {tell: 'early'});
}

function answer(q) {
    if (q.ask === 'pixels' && waiting.some((other) => other.ask === 'pixels'))
        return makeFrame(q.id, {error: 'overtaken'});
    if (q.ask === 'open')
        return open(q);
    if (!reader)
        return makeFrame(q.id, {error: 'no trace is open'});
    return q.ask === 'whole' ? complete(q) : ask(q);
}

/* What has arrived meanwhile is let in before the next question is begun. */
channel.port1.onmessage = () => waiting.length && send(answer(waiting.shift()));

onmessage = (event) => {
    waiting.push(event.data);
    channel.port2.postMessage(0);
};
