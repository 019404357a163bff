/* test_engine.mjs STROBE TRACES...: the page's reader against the command, in node. The name of each test is the
 * sentence that it proves.  SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {Source} from '../../web/engine/source.js';
import {KEYS, MOUSE} from '../../web/view/keys.js';
import {csvRows} from './csv.mjs';
import {Engine, bytesSource, moduleOf} from './engine.mjs';

const [strobe, ...paths] = process.argv.slice(2);
const near = paths.filter((p) => !/far|crowd/.test(p)); /* each command, and each engine that is opened, reads the 5 GiB of nothing in `far`; `crowd` is large, too */
const COLUMNS = ['count', 'total', 'self', 'mean', 'min', 'max', 'std', 'p50', 'p90', 'p99'];

function random(seed) {
    let x = seed;
    return () => (x = Math.imul(x ^ x >>> 15, 0x2c1b3c6d) + 0x6d2b79f5 >>> 0) / 4294967296;
}

const module = moduleOf(strobe);

function open(file) {
    return Engine.openFile(strobe, file);
}

function openBytes(bytes) {
    return Engine.open(module, 'x', () => bytesSource(bytes));
}

function ask(engine, q) {
    const answer = engine.answer({id: 1, ...q});
    assert.equal(answer.json.error, undefined, `${q.ask}: ${answer.json.error}`);
    return answer;
}

function command(...args) {
    return execFileSync(strobe, args, {maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']}).toString();
}

function statsRows(engine, q) {
    const {arrays} = ask(engine, {ask: 'stats', limit: 1e9, ...q}), rows = new Map();
    for (let i = 0; i < arrays.loc.length; i += 4096) {
        const {json} = ask(engine, {ask: 'names', locs: [...arrays.loc.subarray(i, i + 4096)]});
        json.locs.forEach((l, k) => rows.set(`${l.name}|${l.function}|${l.file}|${l.line}`, COLUMNS.map((c) => arrays[c][i + k])));
    }
    return rows;
}

function commandRows(file, ...more) {
    const rows = new Map();
    for (const r of JSON.parse(command('stats', '--json', ...more, file)).zones)
        rows.set(`${r.name}|${r.function}|${r.file}|${r.line}`, COLUMNS.map((c) => r[c === 'count' ? c : `${c}_ns`]));
    return rows;
}

function same(mine, theirs, what) {
    assert.deepEqual([...mine].sort(), [...theirs].sort(), what);
}

function lanesOf(engine) {
    const {json} = ask(engine, {ask: 'trace'});
    return {trace: json, lanes: json.tracks.filter((t) => t.n_depths && t.kind === 'thread').map((t) => [t.id, 0, 16])};
}

/* What a pixels answer counts, and whether it keeps its rules. */
function checkPixels({json, arrays}, q) {
    let n = 0;
    for (const [, , first, count] of json.lanes)
        for (let i = first; i < first + count; i++) {
            assert.ok(arrays.t1[i] >= arrays.t0[i], 'an item ends before it begins');
            assert.ok(i === first || arrays.t1[i] >= arrays.t1[i - 1] - 1, 'items are not by their ends'); /* a zone's is its begin and its duration, each cut to whole ns */
            assert.ok(arrays.busy[i] >= 0 && arrays.busy[i] <= 1.0001);
            if (!(arrays.flags[i] & 4))
                n += arrays.count[i];
        }
    assert.ok(arrays.t0.length <= q.budget + 1 || json.k >= 62, 'more items than asked for');
    return n;
}

const tests = {
    async 'an order may be reversed, and a filter does not change what shares are of'() {
        const engine = open(paths.find((p) => p.endsWith('/rich.strobe'))), reversed = {order: 'reversed'}, list = (a) => [...a];
        for (const sort of ['total', 'name', 'count']) {
            const there = ask(engine, {ask: 'stats', sort}), back = ask(engine, {ask: 'stats', sort, ...reversed});
            assert.deepEqual(list(back.arrays.loc), list(there.arrays.loc).reverse(), sort);
            assert.deepEqual(list((ask(engine, {ask: 'stats', sort, ...reversed, limit: 2})).arrays.loc), list(back.arrays.loc).slice(0, 2));
        }
        const {json: all} = ask(engine, {ask: 'stats'}), {json: some, arrays} = ask(engine, {ask: 'stats', filter: 'shade'});
        assert.ok(Math.abs(all.whole_self - all.self) <= all.n_rows && some.self < all.self / 2);
        assert.equal(some.whole_self, all.whole_self);
        const times = list((ask(engine, {ask: 'instances', loc: arrays.loc[0], sort: 'time', ...reversed, limit: 9})).arrays.t0);
        assert.deepEqual(times, list(times).sort((a, b) => b - a));
        assert.ok(times[0] > 9e8);
    },
    async 'the document lists every key and every use of the mouse'() {
        const text = fs.readFileSync(new URL('../../docs/viewer.md', import.meta.url), 'utf8');
        for (const row of KEYS)
            assert.ok(text.includes(`| \`${row.show}\` | ${row.help} |`), row.show);
        for (const row of MOUSE)
            assert.ok(text.includes(`| ${row.show} | ${row.help} |`), row.show);
    },

    async 'statistics are those of the command, to the last digit'() {
        for (const file of near)
            same(statsRows(open(file), {}), commandRows(file), file);
    },

    async 'statistics of a range are those of the command'() {
        for (const file of near.filter((p) => !/locs|tracks|none|open/.test(p))) {
            const engine = open(file), {trace} = lanesOf(engine), [a, b] = trace.range, next = random(11);
            for (let i = 0; i < 6; i++) {
                const from = Math.floor(a + (b - a) * next()), to = Math.floor(from + (b - from) * next()) + 1;
                same(statsRows(engine, {from, to}), commandRows(file, '--range', `${from}ns..${to}ns`), `${file} ${from}..${to}`);
            }
        }
    },

    async 'every zone is in the pixels, at any width and budget'() {
        for (const file of near) {
            const engine = open(file), {trace, lanes} = lanesOf(engine);
            if (!lanes.length)
                continue;
            const zones = countZones(file), next = random(3);
            for (const width of [1, 97, 1600]) {
                let n = 0;
                for (let i = 0; i < lanes.length; i += 1000) { /* a question has at most 64 KiB */
                    const q = {ask: 'pixels', from: trace.range[0] - 1000, to: trace.range[1] + 1000, width, budget: 1000 + Math.floor(50000 * next()), lanes: lanes.slice(i, i + 1000)};
                    n += checkPixels(ask(engine, q), q);
                }
                assert.equal(n, zones, `${file} at ${width}`);
            }
        }
    },

    async 'of a few among many threads each pixel is exact, at any depth: their events are read, however many there are of others'() {
        const engine = open(paths.find((p) => p.endsWith('/crowd.strobe'))), {trace} = lanesOf(engine), few = trace.tracks.filter((t) => t.kind === 'thread').slice(0, 2), [from, to] = trace.range;
        assert.ok(trace.totals.zones > 1 << 20, 'there is too much to read all of it');
        const question = (n) => ({ask: 'pixels', from, to, width: 1700, budget: 100000, lanes: few.map((t) => [t.id, 0, n])}), told = ask(engine, question(few[0].n_depths)).json.n_depths;
        assert.deepEqual(told, few.map((t) => [t.id, 101]), 'how deep they are');
        const q = question(101), answer = ask(engine, q), {arrays} = ask(engine, {ask: 'stats', tracks: few.map((t) => t.id), limit: 1e9});
        assert.equal(answer.json.seen_depths, undefined);
        assert.deepEqual([...new Set(answer.json.lanes.map((lane) => lane[4]))], [answer.json.k], 'buckets are as wide as a pixel');
        assert.equal(checkPixels(answer, q), arrays.count.reduce((sum, n) => sum + n, 0));
        assert.equal(new Set(answer.json.lanes.map((lane) => lane[1])).size, 101);
    },

    async 'a zone tells its times, parents and children as the CSV has them'() {
        for (const file of paths.filter((p) => /rich|kinds/.test(path.basename(p)))) {
            const engine = open(file), {trace} = lanesOf(engine), rows = csvRows(command('csv', '--kind', 'zones', file)).filter((r) => r.state === 'ended' && r.tid);
            const next = random(23), byTid = new Map(trace.tracks.filter((t) => t.kind === 'thread').map((t) => [`${t.pid}/${t.tid}`, t.id]));
            for (let i = 0; i < 40; i++) {
                const r = rows[Math.floor(rows.length * next())], t0 = Number(r.start_ns), length = Number(r.duration_ns);
                if (length < 4)
                    continue;
                const {json} = ask(engine, {ask: 'zone', track: byTid.get(`${r.pid}/${r.tid}`), depth: Number(r.depth), at: t0 + Math.floor(length / 2)});
                assert.equal(json.zone.t0, t0, JSON.stringify(r));
                assert.equal(json.zone.t1 - json.zone.t0, length, JSON.stringify(r));
                assert.equal(json.zone.self, Number(r.self_ns), JSON.stringify(r));
                assert.equal(json.zone.text, r.text);
                if (!/kinds/.test(file)) /* has zones that end under others: those above then are one level lower */
                    assert.equal(json.parents.length, Number(r.depth));
            }
        }
    },

    async 'search counts what the CSV counts'() {
        for (const file of paths.filter((p) => /rich/.test(path.basename(p)))) {
            const engine = open(file), word = 'rays', rows = csvRows(command('csv', '--kind', 'zones', file));
            const {json} = ask(engine, {ask: 'find', text: word, what: ['zones'], limit: 10});
            assert.equal(json.total, rows.filter((r) => r.name.toLowerCase().includes(word)).length);
        }
    },

    async 'a file that is cut anywhere opens, or says why not'() {
        const whole = fs.readFileSync(paths.find((p) => /kinds/.test(p)));
        for (let n = 0; n < whole.length; n += 1777)
            mustOpen(whole.subarray(0, n));
    },

    async 'a damaged file never hangs or throws anything but words'() {
        const whole = fs.readFileSync(paths.find((p) => /kinds/.test(p))), next = random(99);
        for (let i = 0; i < 60; i++) {
            const bytes = new Uint8Array(whole);
            for (let k = 0; k < 20; k++)
                bytes[69632 + Math.floor((bytes.length - 69632) * next())] ^= 1 << Math.floor(8 * next());
            mustOpen(bytes);
        }
    },

    async 'a flame graph of few paths has those with the most time, and the time of all'() {
        const engine = open(paths.find((p) => /made/.test(p)));
        const whole = (limit) => {
            for (;;) { // a question looks at so many events, and the same one goes on from there
                const answer = ask(engine, {ask: 'flame', limit});
                if (answer.json.exact)
                    return answer;
            }
        };
        const all = whole(200000), few = whole(30);
        assert.equal(few.json.total, all.json.total);
        assert.equal(few.json.left_out, all.arrays.loc.length - 30);
        assert.deepEqual([few.arrays.loc.length, few.arrays.parent.every((p, i) => p <= i)], [30, true]);
        const sorted = (list) => [...list].sort((a, b) => b - a);
        assert.deepEqual(sorted(few.arrays.total), sorted(all.arrays.total).slice(0, 30));
    },

    async 'a trap costs one answer: the next question gets a new instance, and the page is told'() {
        const engine = open(paths.find((p) => /rich/.test(p))), {reader} = engine, before = ask(engine, {ask: 'stats'}), old = reader.exports;
        reader.with = (text, f) => f(0xfff00000, 100); /* a question out of its memory */
        const {json} = engine.answer({id: 7, ask: 'trace'});
        delete reader.with;
        assert.equal(json.id, 7);
        assert.match(json.error, /started anew/);
        assert.equal(engine.traps.length, 1);
        assert.deepEqual(ask(engine, {ask: 'stats'}), before);
        assert.ok(reader.exports && reader.exports !== old);
    },

    async 'a trace that can not be read any more says so, and is not taken for a damaged one'() {
        const bytes = fs.readFileSync(paths.find((p) => /made/.test(p)));
        let isGone = false;
        const engine = Engine.open(module, 'x', () => new Source(bytes.length, (from, to) => {
            if (isGone)
                throw new Error('NotReadable');
            return bytes.subarray(from, to);
        }));
        isGone = true;
        assert.match(engine.answer({id: 2, ask: 'flame'}).json.error, /can't be read: NotReadable/);
    },

    async 'pages of a source that are kept are bounded, and reads over their edges are whole'() {
        const bytes = new Uint8Array(40 << 20).map((_, i) => i * 2654435761 >>> 24), source = bytesSource(bytes), next = random(31);
        for (let i = 0; i < 300; i++) {
            const at = Math.floor((bytes.length - 600000) * next()), out = new Uint8Array(1 + Math.floor(600000 * next()));
            source.read(out, at);
            assert.deepEqual(Buffer.compare(out, bytes.subarray(at, at + out.length)), 0);
            assert.ok(source.pages.size <= 64);
        }
        assert.throws(() => source.read(new Uint8Array(9), bytes.length - 4), /ends before/);
    },

    async 'what is farther than 4 GiB into a file is read'() {
        const file = paths.find((p) => /far/.test(p)), engine = open(file);
        assert.ok(fs.statSync(file).size > 5 * 2 ** 30);
        const {json} = ask(engine, {ask: 'trace'});
        assert.deepEqual([json.bytes > 5 * 2 ** 30, json.closed, json.holes], [true, true, 0]);
        same(statsRows(engine, {}), commandRows(file), file);
        const last = ask(engine, {ask: 'find', text: 'late', what: ['zones']}).json;
        assert.equal(last.total, 50);
    },

    async 'a file of another kind is refused with what to do'() {
        for (const [start, word] of [['{"traceEvents":[]}', 'JSON'], [' [', 'JSON'], ['tlZ\x04', 'Tracy'], ['tZst', 'Tracy'], ['hello', 'no .strobe'], ['', 'empty']])
            assert.throws(() => openBytes(new TextEncoder().encode(start)), new RegExp(word));
    },

    async 'questions that make no sense are answered in words'() {
        const engine = open(paths.find((p) => /rich/.test(p)));
        for (const q of [{ask: 'nonsense'}, {ask: 'pixels'}, {ask: 'pixels', from: 'x', to: {}, width: -1, lanes: [[99, 0, 1]]}, {ask: 'zone'}, {ask: 'stats', from: 5, to: 1, tracks: ['a']},
            {ask: 'names', locs: [-1, 1e9, 'x']}, {ask: 'find'}, {ask: 'flame', tracks: [12345]}, {ask: 'histogram', loc: 1e9}, {ask: 'frames', track: 77}, {ask: 'step', track: -4}, {}]) {
            const {json} = await engine.answer({id: 3, ...q});
            assert.equal(json.id, 3);
        }
    },
};

/* It opens and answers, or says why not; nothing traps. */
function mustOpen(bytes) {
    let engine;
    try {
        engine = openBytes(bytes);
    } catch (error) {
        return void assert.doesNotMatch(error.message, /started anew/);
    }
    const {json: trace} = ask(engine, {ask: 'trace'}), lanes = trace.tracks.filter((t) => t.n_depths).map((t) => [t.id, 0, 16]);
    ask(engine, {ask: 'stats'});
    if (lanes.length)
        ask(engine, {ask: 'pixels', from: trace.range[0], to: trace.range[1], width: 300, lanes});
    return void assert.deepEqual(engine.traps, []);
}

/* Zones of threads that ended; a level of detail has 16 depths. */
function countZones(file) {
    return csvRows(command('csv', '--kind', 'zones', file)).filter((r) => r.state === 'ended' && r.tid && Number(r.depth) < 16).length;
}

let failed = 0;
for (const [name, run] of Object.entries(tests)) {
    const start = performance.now();
    try {
        await run();
        console.log(`ok    ${name} (${Math.round(performance.now() - start)} ms)`);
    } catch (error) {
        failed++;
        console.log(`FAIL  ${name}\n${String(error.stack).slice(0, 3000)}`);
    }
}
process.exit(failed ? 1 : 0);
