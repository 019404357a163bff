/* test_same.mjs STROBE N SEED TRACES...: the server and the page's module give the same answers to N random questions
 * about each trace: every number, every name, every order (docs/viewer-protocol.md).  SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {Engine} from './engine.mjs';
import {Questions} from './questions.mjs';
import {Socket, serve} from './socket.mjs';

const [strobe, count, seed, ...paths] = process.argv.slice(2);
const MOST_EVENTS = 200000; /* that a costly question may look at */

/* What a question has to be made of. */
async function learn(server) {
    const trace = (await server.ask({ask: 'trace'})).json, {arrays} = await server.ask({ask: 'stats', limit: 5000});
    const locs = arrays.loc.length ? [...arrays.loc] : [1], {json} = await server.ask({ask: 'names', locs: locs.slice(0, 2000)});
    return {trace, locs, names: json.locs.map((l) => l.name).concat(trace.tracks.map((t) => t.name)).filter(Boolean)};
}

function plain({json, arrays}) {
    const {id, ...rest} = json;
    return {json: rest, arrays: Object.fromEntries(Object.entries(arrays).map(([name, a]) => [name, Array.from(a)]))};
}

/* The first place where two answers differ, in words. */
function difference(a, b, at = '') {
    if (Object.is(a, b) || a === b)
        return null;
    if (!a || !b || typeof a !== 'object' || typeof b !== 'object')
        return `${at}: server ${JSON.stringify(a)}, page ${JSON.stringify(b)}`;
    if (Array.isArray(a) && a.length !== b.length)
        return `${at}: server has ${a.length}, page ${b.length}: ${JSON.stringify(a).slice(0, 300)} ${JSON.stringify(b).slice(0, 300)}`;
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        const found = difference(a[key], b[key], `${at}.${key}`);
        if (found)
            return found;
    }
    return null;
}

async function compare(file) {
    fs.utimesSync(file, 1e9, 1e9); /* long ago: it is not being written */
    const server = await serve(strobe, file), socket = await Socket.open(server.link), engine = Engine.openFile(strobe, file), counts = {};
    const differences = [], took = [0, 0];
    try {
        const known = await learn(socket), [a, b] = known.trace.range;
        const questions = new Questions(known, Number(seed), (b - a) * MOST_EVENTS / Math.max(MOST_EVENTS, known.trace.coverage.stored));
        for (let i = 0; i < count && differences.length < 10; i++) {
            const q = questions.one(), t0 = performance.now(), theirs = await socket.ask(q), t1 = performance.now(), mine = engine.answer({id: 1, ...q});
            took[0] += t1 - t0;
            took[1] += performance.now() - t1;
            counts[q.ask] = (counts[q.ask] || 0) + 1;
            const found = difference(plain(theirs), plain(mine));
            if (found)
                differences.push(`${JSON.stringify(q)}\n    ${found}`);
        }
    } finally {
        socket.close();
        server.stop();
    }
    assert.equal(differences.length, 0, `${differences.length} differences\n  ${differences.join('\n  ')}`);
    return `${Object.entries(counts).map(([k, n]) => `${k} ${n}`).join(', ')}; server ${Math.round(took[0])} ms, page ${Math.round(took[1])} ms`;
}

let failed = 0;
for (const file of paths) {
    const name = `server and page answer the same about ${path.basename(file)}`;
    try {
        console.log(`ok    ${name} (${await compare(file)})`);
    } catch (error) {
        failed++;
        console.log(`FAIL  ${name}\n${String(error.stack).slice(0, 12000)}`);
    }
}
process.exit(failed ? 1 : 0);
