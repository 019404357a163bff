/* test_lists.mjs STROBE TRACE: every number of the panels is the command's. Sums of the trace and of parts of it are those of `strobe stats`; of every
 * name the first answer has the first 1,000 rows of what was looked at, and once all was, the list has the true count and is the one of `strobe csv`, row
 * by row, in each order; the server and the page's reader give the same. STROBE_NAMES: of how many names (all), STROBE_RANGES: how many parts (6),
 * STROBE_SEED: which.  SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import {Engine} from './engine.mjs';
import {random} from './questions.mjs';
import {Socket, serve} from './socket.mjs';
import {Truth} from './truth.mjs';

const [strobe, file] = process.argv.slice(2), RANGES = Number(process.env.STROBE_RANGES || 6), FIRST = 1000, ALL = 2 ** 18;
const COLUMNS = ['count', 'total', 'self', 'mean', 'min', 'max', 'std', 'p50', 'p90', 'p99'], ORDERS = [['duration'], ['time'], ['duration', 'reversed'], ['time', 'reversed']];
const next = random(Number(process.env.STROBE_SEED || 7));

/* An answer that comes in steps, and how many it took. */
async function whole(ask, q) {
    for (let share = -1, n = 1; ; n++) {
        const answer = await ask(q);
        assert.equal(answer.json.error, undefined);
        if (answer.json.exact)
            return {...answer, steps: n};
        assert.ok(answer.json.share > share, 'no progress');
        share = answer.json.share;
    }
}

async function namesOf(ask) {
    const names = new Map();
    for (let first = 1, n = 1; n; first += 4096) {
        const {json} = await ask({ask: 'names', locs: Array.from({length: 4096}, (_, i) => first + i)});
        json.locs.forEach((l) => names.set(l.id, l.name));
        n = json.locs.length;
    }
    return names;
}

/* Sums, and the histogram of one name, against `strobe stats`. */
async function checkSums(ask, names, range) {
    const args = range ? ['--range', `${range.from}ns..${range.to}ns`] : [];
    const theirs = JSON.parse(execFileSync(strobe, ['stats', '--json', ...args, file], {maxBuffer: 1 << 30})).zones.map((r) => [r.name, ...COLUMNS.map((c) => r[c === 'count' ? c : `${c}_ns`])]).sort();
    const {arrays, json} = await whole(ask, {ask: 'stats', ...range, limit: 1e9});
    assert.deepEqual(Array.from(arrays.loc, (loc, i) => [names.get(loc), ...COLUMNS.map((c) => arrays[c][i])]).sort(), theirs, `sums of ${JSON.stringify(range)}`);
    assert.equal(json.n_rows, theirs.length);
    if (!arrays.loc.length)
        return;
    const loc = arrays.loc[Math.floor(arrays.loc.length * next())], about = await whole(ask, {ask: 'histogram', loc, ...range});
    assert.deepEqual([names.get(loc), ...COLUMNS.map((c) => about.json[c])], theirs.find(([name]) => name === names.get(loc)));
    assert.equal(about.arrays.n.reduce((a, b) => a + b, 0), about.json.count);
}

/* The list of a name in one order. Equal durations, or begins, may come in another order of ns. */
async function checkList(ask, truth, loc, name, [sort, order], limit) {
    const q = {ask: 'instances', loc, sort, order, limit}, due = truth.list(name, sort, Boolean(order)), {json, arrays} = await whole(ask, q), n = Math.min(limit, due.length), at = sort === 'duration' ? 1 : 0;
    assert.equal(json.total, due.length, `${name}: the count`);
    const rows = Array.from(arrays.t0, (t0, i) => [t0, arrays.t1[i] - t0, arrays.self[i]]);
    assert.equal(rows.length, n, `${name}: rows`);
    for (let i = 0; i < n; i++)
        assert.equal(rows[i][at], due[i][at], `${name} by ${sort} ${order || ''}, row ${i}`);
    if (n < due.length)
        return n;
    const key = ([t0, length, self]) => `${t0} ${length} ${self}`;
    assert.deepEqual(rows.map(key).sort(), due.map(key).sort(), `${name}: all rows`);
    return n;
}

fs.utimesSync(file, 1e9, 1e9); /* long ago: it is not being written */
const truth = await Truth.of(strobe, file), server = await serve(strobe, file), engine = Engine.openFile(strobe, file);
let socket = await Socket.open(server.link);

/* A new connection: one that is silent for a minute, since this process was busy, is given up by the server. */
async function reconnect() {
    const old = socket;
    socket = await Socket.open(server.link);
    old.close();
}

const asks = [(q) => socket.ask(q), async (q) => engine.answer({id: 1, ...q})], found = {rows: 0, lists: 0, slowest: 0};
try {
    const [a, b] = (await asks[0]({ask: 'trace'})).json.range, names = await namesOf(asks[0]), ranges = [undefined];
    for (let i = 0; i < RANGES; i++) {
        const from = Math.floor(a + (b - a) * next());
        ranges.push({from, to: Math.floor(from + (b - from) * 10 ** (-4 * next())) + 1});
    }
    for (const range of ranges)
        for (const ask of asks) {
            await checkSums(ask, names, range);
            await reconnect();
        }
    const {arrays} = await whole(asks[0], {ask: 'stats', limit: 1e9}), listed = Array.from(arrays.loc, (loc) => [loc, names.get(loc)]), most = Number(process.env.STROBE_NAMES || listed.length);
    for (const [i, [loc, name]] of listed.entries()) {
        if (listed.length > most && next() > most / listed.length)
            continue;
        await reconnect();
        const start = performance.now(), first = await asks[0]({ask: 'instances', loc, sort: 'duration', limit: FIRST});
        found.slowest = Math.max(found.slowest, performance.now() - start);
        assert.equal(first.arrays.t0.length, Math.min(FIRST, first.json.total));
        for (const [k, order] of ORDERS.entries()) {
            if (k && k !== 1 + i % 3)
                continue; /* the longest first of every name, one other order of each */
            found.rows += await checkList(asks[(i + k) % 2], truth, loc, name, order, k ? FIRST : ALL);
            found.lists++;
        }
    }
    console.log(`${truth.n} zones, ${truth.names.length} names: ${ranges.length} sums of both engines and ${found.lists} lists with ${found.rows} rows are those of the command; first answers in at most ${found.slowest.toFixed(0)} ms`);
} finally {
    socket.close();
    server.stop();
}
