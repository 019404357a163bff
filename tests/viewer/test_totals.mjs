/* test_totals.mjs STROBE SEED TRACES...: what the page shows is what `strobe stats` and `strobe csv` print of the same
 * ranges. The name of each test is the sentence that it proves.  SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {BytesSource} from '../../web/engine/source.js';
import {Engine} from '../../web/engine/engine.js';
import {csvRows} from './csv.mjs';
import {random} from './questions.mjs';
import {Socket, serve} from './socket.mjs';

const [strobe, seed, ...paths] = process.argv.slice(2), RANGES = 6;
const COLUMNS = ['count', 'total', 'self', 'mean', 'min', 'max', 'std', 'p50', 'p90', 'p99'];

function command(...args) {
    return execFileSync(strobe, args, {maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']}).toString();
}

/* The page's two ways to ask. */
async function bothOf(file) {
    const server = await serve(strobe, file), socket = await Socket.open(server.link), engine = await Engine.open(new BytesSource(new Uint8Array(fs.readFileSync(file)), path.basename(file)));
    return {asks: [(q) => socket.ask(q), (q) => engine.answer({id: 1, ...q})], stop: () => (socket.close(), server.stop())};
}

/* Some ranges of whole ns, and all of the trace. */
async function rangesOf(ask) {
    const [a, b] = (await ask({ask: 'trace'})).json.range, next = random(Number(seed)), out = [null];
    while (out.length < RANGES) {
        const from = Math.floor(a + (b - a) * next());
        out.push({from, to: Math.floor(from + (b - from) * next() ** 2) + 1});
    }
    return out;
}

function args(range) {
    return range ? ['--range', `${range.from}ns..${range.to}ns`] : [];
}

async function namesOf(ask, locs) {
    const rows = new Map();
    for (let i = 0; i < locs.length; i += 4096)
        for (const l of (await ask({ask: 'names', locs: [...locs.slice(i, i + 4096)]})).json.locs)
            rows.set(l.id, `${l.name}|${l.function}|${l.file}|${l.line}`);
    return rows;
}

const keyOf = (r) => `${r.name}|${r.function}|${r.file}|${r.line}`;
const placeOf = (r) => `${r.function}|${r.file}|${Number(r.line) || 0}`; /* zones may have names of their own */
const placeIn = (key) => key.split('|').slice(-3).join('|');

/* Rows of the page by location. */
async function pageRows(ask, range) {
    const {arrays} = await ask({ask: 'stats', ...range, limit: 1e9}), names = await namesOf(ask, arrays.loc);
    return new Map(Array.from(arrays.loc, (loc, i) => [names.get(loc), Object.fromEntries(COLUMNS.map((c) => [c, arrays[c][i]]))]));
}

const tests = {
    async 'the page\'s statistics are those of the command, to the last digit'(file, ask, range) {
        const theirs = JSON.parse(command('stats', '--json', ...args(range), file)).zones;
        const rows = theirs.map((r) => [keyOf(r), Object.fromEntries(COLUMNS.map((c) => [c, r[c === 'count' ? c : `${c}_ns`]]))]);
        assert.deepEqual([...await pageRows(ask, range)].sort(), rows.sort());
    },

    async 'counts, shortest and longest are those of the rows of the CSV, and sums lose nothing'(file, ask, range) {
        const byPlace = new Map(), mine = new Map();
        for (const r of csvRows(command('csv', ...args(range), file)).filter((row) => row.state === 'ended')) {
            const at = placeOf(r), ns = Number(r.duration_ns), {count, total, min, max} = byPlace.get(at) || {count: 0, total: 0, min: Infinity, max: 0};
            byPlace.set(at, {count: count + 1, total: total + ns, min: Math.min(min, ns), max: Math.max(max, ns)});
        }
        for (const [key, r] of await pageRows(ask, range)) {
            const at = placeIn(key), {count, total, min, max} = mine.get(at) || {count: 0, total: 0, min: Infinity, max: 0};
            mine.set(at, {count: count + r.count, total: total + r.total, min: Math.min(min, r.min), max: Math.max(max, r.max)});
        }
        assert.equal(mine.size, byPlace.size);
        for (const [at, sums] of byPlace) {
            const {count, total, min, max} = mine.get(at);
            assert.deepEqual({count, min, max}, {count: sums.count, min: sums.min, max: sums.max}, at);
            assert.ok(total >= sums.total && total <= sums.total + sums.count, `${at}: ${total} ns in all, ${sums.total} in ${sums.count} rows that are each cut to whole ns`);
        }
    },

    async 'the zones of a location are rows of the CSV, each with its time and duration'(file, ask, range) {
        const {arrays: {loc}} = await ask({ask: 'stats', ...range, limit: 3}), names = await namesOf(ask, loc), csv = csvRows(command('csv', ...args(range), file));
        const rows = [...csv, ...csvRows(command('csv', '--kind', 'spans', ...args(range), file))].filter((r) => r.state === 'ended');
        const tracks = (await ask({ask: 'trace'})).json.tracks.filter((t) => ['thread', 'fiber', 'spans'].includes(t.kind)).map((t) => t.id);
        for (const [number, key] of names) {
            const {arrays: a} = await ask({ask: 'instances', ...range, tracks, loc: number, limit: 1e6}), known = new Set(rows.filter((r) => placeOf(r) === placeIn(key)).map((r) => `${r.start_ns} ${r.duration_ns}`));
            const missing = Array.from(a.t0, (t0, i) => `${t0} ${a.t1[i] - t0}`).filter((m) => !known.has(m));
            assert.deepEqual(missing.slice(0, 3), [], `${key}: not in the CSV`);
        }
    },

    async 'messages are the rows of the CSV, one by one'(file, ask, range) {
        const {json} = await ask({ask: 'messages', ...range, limit: 1e6}), rows = csvRows(command('csv', '--kind', 'messages', ...args(range), file));
        assert.equal(json.total, rows.length);
        assert.deepEqual(json.messages.map((m) => `${m.t} ${m.text}`).sort(), rows.map((r) => `${r.time_ns} ${r.text}`).sort());
    },
};

let failed = 0;
for (const file of paths) {
    const {asks, stop} = await bothOf(file), ranges = await rangesOf(asks[0]);
    for (const [name, run] of Object.entries(tests)) {
        try {
            for (const range of ranges)
                for (const ask of asks)
                    await run(file, ask, range).catch((error) => {
                        error.message = `${JSON.stringify(range)}, ${ask === asks[0] ? 'server' : 'page'}: ${error.message}`;
                        throw error;
                    });
            console.log(`ok    ${name} (${path.basename(file)})`);
        } catch (error) {
            failed++;
            console.log(`FAIL  ${name} (${path.basename(file)})\n${error.message.slice(0, 3000)}`);
        }
    }
    stop();
}
process.exit(failed ? 1 : 0);
