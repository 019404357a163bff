/* test_totals.mjs STROBE SEED TRACES...: what the page shows is what `strobe stats` and `strobe csv` print of the same
 * ranges. The name of each test is the sentence that it proves.  SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import path from 'node:path';
import {csvRows} from './csv.mjs';
import {Engine} from './engine.mjs';
import {random} from './questions.mjs';
import {Socket, serve} from './socket.mjs';

const [strobe, seed, ...paths] = process.argv.slice(2), RANGES = 6;
const COLUMNS = ['count', 'total', 'self', 'mean', 'min', 'max', 'std', 'p50', 'p90', 'p99'];

function command(...args) {
    return execFileSync(strobe, args, {maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']}).toString();
}

/* The page's two ways to ask. */
async function bothOf(file) {
    const server = await serve(strobe, file), socket = await Socket.open(server.link), engine = Engine.openFile(strobe, file);
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

    async 'counts are those of the rows of the CSV, shortest and longest to a nanosecond, and sums lose nothing'(file, ask, range) {
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
            assert.equal(count, sums.count, at);
            /* a row's duration is a difference of two times, a statistic's is cut to whole ns by itself */
            assert.ok(sums.min - min >= -1 && sums.min - min <= 1 && sums.max - max >= 0 && sums.max - max <= 1, `${at}: ${min} to ${max} ns, ${sums.min} to ${sums.max} in rows`);
            assert.ok(Math.abs(total - sums.total) <= 2 + sums.count / 4, `${at}: ${total} ns in all, ${sums.total} in ${sums.count} rows`);
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

/* Once for each engine, of the trace with a bit of everything. */
const facts = {
    async 'GPU contexts and the processors of device cores are tracks'(ask) {
        const {tracks} = (await ask({ask: 'trace'})).json, byId = new Map(tracks.map((t) => [t.id, t]));
        const pathOf = (t) => (t ? `${pathOf(byId.get(t.parent))}/${t.kind} ${t.name}` : '');
        assert.deepEqual(tracks.filter((t) => ['gpu', 'device', 'core', 'risc'].includes(t.kind)).map(pathOf), [
            '/process everything/gpu queue 0, thread 11', '/process everything/gpu queue 0, thread 12', '/process everything/gpu GPU context 2', '/process other/device Device 4',
            '/process other/device Device 4/core Logical (1,2) Physical (3,4)', '/process other/device Device 4/core Logical (1,2) Physical (3,4)/risc NCRISC',
            '/process other/device Device 4/core Logical (1,2) Physical (3,4)/risc TRISC_0']);
    },

    async 'the zones of a device core are on its lanes'(ask) {
        const {tracks, range} = (await ask({ask: 'trace'})).json, risc = tracks.find((t) => t.kind === 'risc');
        const {json, arrays} = await ask({ask: 'pixels', from: range[0], to: range[1], width: 10, budget: 100, lanes: [[risc.id, 0, 2]]});
        const counts = json.lanes.map(([, , first, n]) => arrays.count.slice(first, first + n).reduce((a, b) => a + b, 0));
        assert.deepEqual([risc.n_depths, counts[1]], [2, 120]);
    },

    async 'a zone tells its call stack by the symbols of the file'(ask) {
        const {tracks} = (await ask({ask: 'trace'})).json, main = tracks.find((t) => t.name === 'thread 0'), {json} = await ask({ask: 'zone', track: main.id, depth: 0, at: 405});
        assert.deepEqual(json.stack, [
            {address: '0x400100', name: 'inner', file: 'in.c', line: 11, image: 'libwork.so'}, {address: '0x400100', name: 'outer', file: 'out.c', line: 12, image: 'libwork.so'},
            {address: '0x400200', name: '', file: '', line: 0, image: '/usr/lib/libwork.so'}, {address: '0x999999', name: '', file: '', line: 0, image: ''}]);
    },

    async 'a zone tells what its thread waited for'(ask) {
        const {tracks} = (await ask({ask: 'trace'})).json, main = tracks.find((t) => t.name === 'thread 0'), {json} = await ask({ask: 'zone', track: main.id, depth: 0, at: 412});
        assert.equal(json.waits.length, 1);
        assert.equal(json.n_waits, 1);
        assert.equal(json.waits[0].t1 - json.waits[0].t0, json.waited);
        assert.equal(json.waits[0].lock, tracks.find((t) => t.id === json.waits[0].track).name);
    },

    async 'a lock that several threads hold is held until none does'(ask) {
        const {tracks} = (await ask({ask: 'trace'})).json, lock = tracks.find((t) => t.kind === 'locks');
        for (let at = 400, last = -1; at < 1e6; at += 20) {
            const {json} = await ask({ask: 'zone', track: lock.id, depth: 0, at});
            if (json.zone && json.zone.t0 !== last)
                assert.ok(json.zone.t0 >= last, 'holds overlap');
            last = json.zone ? json.zone.t0 : last;
            if (json.zone)
                at = json.zone.t1;
        }
    },
};

let failed = 0;
async function prove(name, run) {
    try {
        await run();
        console.log(`ok    ${name}`);
    } catch (error) {
        failed++;
        console.log(`FAIL  ${name}\n${error.message.slice(0, 3000)}`);
    }
}

for (const file of paths) {
    const {asks, stop} = await bothOf(file), ranges = await rangesOf(asks[0]);
    for (const [name, run] of Object.entries(tests))
        await prove(`${name} (${path.basename(file)})`, async () => {
            for (const range of ranges)
                for (const ask of asks)
                    await run(file, ask, range);
        });
    for (const [name, run] of path.basename(file) === 'all.strobe' ? Object.entries(facts) : [])
        await prove(name, () => Promise.all(asks.map((ask) => run(ask))));
    stop();
}
process.exit(failed ? 1 : 0);
