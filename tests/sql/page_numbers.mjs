/* page_numbers.mjs STROBE FILE SQL…: what the page says of a trace, as JSON: its statistics by its own module, and each statement's rows by its own
 * module with SQLite and by its server.  SPDX-License-Identifier: MIT */
import fs from 'node:fs';
import path from 'node:path';
import {Engine, decode} from '../viewer/engine.mjs';
import {Socket, serve} from '../viewer/socket.mjs';

const [strobe, file, ...statements] = process.argv.slice(2), MANY = 1e6;
const COLUMNS = ['count', 'total', 'self', 'min', 'max'];

function statistics() {
    const engine = Engine.openFile(strobe, file), {arrays} = engine.answer({id: 1, ask: 'stats', limit: 1e9}), names = new Map();
    for (let i = 0; i < arrays.loc.length; i += 4096)
        for (const l of engine.answer({id: 2, ask: 'names', locs: [...arrays.loc.slice(i, i + 4096)]}).json.locs)
            names.set(l.id, l);
    return Array.from(arrays.loc, (loc, i) => [names.get(loc).name, names.get(loc).function, names.get(loc).line, ...COLUMNS.map((c) => arrays[c][i])]);
}

/* The page's thread with SQLite in it, here: a worker's scope, and a file that is read at once. */
async function openAsker() {
    const frames = [];
    globalThis.postMessage = (frame) => frames.push(frame);
    globalThis.onmessage = null;
    globalThis.FileReaderSync = class {
        readAsArrayBuffer({from, to}) {
            const bytes = new Uint8Array(to - from), handle = fs.openSync(file, 'r'), n = fs.readSync(handle, bytes, 0, bytes.length, from);
            fs.closeSync(handle);
            return bytes.buffer.slice(0, n);
        }
    };
    await import('../../web/engine/ask_worker.js');
    const module = new WebAssembly.Module(fs.readFileSync(path.join(path.dirname(strobe), '..', 'page', 'ask.wasm')));
    globalThis.onmessage({data: {module, traces: [{name: path.basename(file), blob: {size: fs.statSync(file).size, slice: (from, to) => ({from, to})}}]}});
    return (question) => {
        globalThis.onmessage({data: {id: 3, ...question}});
        return decode(frames.pop()).json;
    };
}

const server = await serve(strobe, file), socket = await Socket.open(server.link), ask = await openAsker();
const question = (sql) => ({ask: 'query', sql, limit: MANY});
const out = {stats: statistics(), served: [], own: []};
for (const sql of statements) {
    out.served.push((await socket.ask(question(sql))).json);
    out.own.push(ask(question(sql)));
}
socket.close();
server.stop();
console.log(JSON.stringify(out));
