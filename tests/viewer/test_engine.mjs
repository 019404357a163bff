/* test_engine.mjs STROBE TRACES...: the page's reader against the command, in node. The name of each test is the
 * sentence that it proves.  SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {BytesSource} from '../../web/engine/source.js';
import {Engine} from '../../web/engine/engine.js';
import {FormatError} from '../../web/engine/bytes.js';
import {Paths} from '../../web/engine/flame.js';
import {KEYS, MOUSE} from '../../web/view/keys.js';
import {xxh64} from '../../web/engine/xxh64.js';
import {csvRows} from './csv.mjs';

const [strobe, ...paths] = process.argv.slice(2);
const COLUMNS = ['count', 'total', 'self', 'mean', 'min', 'max', 'std', 'p50', 'p90', 'p99'];

function random(seed) {
    let x = seed;
    return () => (x = Math.imul(x ^ x >>> 15, 0x2c1b3c6d) + 0x6d2b79f5 >>> 0) / 4294967296;
}

async function open(file) {
    return Engine.open(new BytesSource(new Uint8Array(fs.readFileSync(file)), path.basename(file)));
}

async function ask(engine, q) {
    const answer = await engine.answer({id: 1, ...q});
    assert.equal(answer.json.error, undefined, `${q.ask}: ${answer.json.error}`);
    return answer;
}

function command(...args) {
    return execFileSync(strobe, args, {maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']}).toString();
}

async function statsRows(engine, q) {
    const {arrays} = await ask(engine, {ask: 'stats', limit: 1e9, ...q}), rows = new Map();
    for (let i = 0; i < arrays.loc.length; i += 4096) {
        const {json} = await ask(engine, {ask: 'names', locs: [...arrays.loc.subarray(i, i + 4096)]});
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

async function lanesOf(engine) {
    const {json} = await ask(engine, {ask: 'trace'});
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
        const engine = await open(paths.find((p) => p.endsWith('/rich.strobe'))), reversed = {order: 'reversed'}, list = (a) => [...a];
        for (const sort of ['total', 'name', 'count']) {
            const there = await ask(engine, {ask: 'stats', sort}), back = await ask(engine, {ask: 'stats', sort, ...reversed});
            assert.deepEqual(list(back.arrays.loc), list(there.arrays.loc).reverse(), sort);
            assert.deepEqual(list((await ask(engine, {ask: 'stats', sort, ...reversed, limit: 2})).arrays.loc), list(back.arrays.loc).slice(0, 2));
        }
        const {json: all} = await ask(engine, {ask: 'stats'}), {json: some, arrays} = await ask(engine, {ask: 'stats', filter: 'shade'});
        assert.ok(Math.abs(all.whole_self - all.self) <= all.n_rows && some.self < all.self / 2);
        assert.equal(some.whole_self, all.whole_self);
        const times = list((await ask(engine, {ask: 'instances', loc: arrays.loc[0], sort: 'time', ...reversed, limit: 9})).arrays.t0);
        assert.deepEqual(times, list(times).sort((a, b) => b - a));
        assert.ok(times[0] > 9e8);
    },
    async 'the hash is XXH64'() {
        assert.equal(xxh64(new Uint8Array(0)), 0xef46db3751d8e999n);
        assert.equal(xxh64(new TextEncoder().encode('a')), 0xd24ec4f1a98c6e5bn);
        assert.equal(xxh64(new TextEncoder().encode('xxhash is a fast hash, this is more than 32 bytes')) > 0n, true);
    },

    async 'the document lists every key and every use of the mouse'() {
        const text = fs.readFileSync(new URL('../../docs/viewer.md', import.meta.url), 'utf8');
        for (const row of KEYS)
            assert.ok(text.includes(`| \`${row.show}\` | ${row.help} |`), row.show);
        for (const row of MOUSE)
            assert.ok(text.includes(`| ${row.show} | ${row.help} |`), row.show);
    },

    async 'statistics are those of the command, to the last digit'() {
        for (const file of paths)
            same(await statsRows(await open(file), {}), commandRows(file), file);
    },

    async 'statistics of a range are those of the command'() {
        for (const file of paths.filter((p) => !/locs|tracks|none|open/.test(p))) {
            const engine = await open(file), {trace} = await lanesOf(engine), [a, b] = trace.range, next = random(11);
            for (let i = 0; i < 6; i++) {
                const from = Math.floor(a + (b - a) * next()), to = Math.floor(from + (b - from) * next()) + 1;
                same(await statsRows(engine, {from, to}), commandRows(file, '--range', `${from}ns..${to}ns`), `${file} ${from}..${to}`);
            }
        }
    },

    async 'every zone is in the pixels, at any width and budget'() {
        for (const file of paths) {
            const engine = await open(file), {trace, lanes} = await lanesOf(engine);
            if (!lanes.length)
                continue;
            const zones = engine.trace.events.length ? await countZones(engine) : 0, next = random(3);
            for (const width of [1, 97, 1600]) {
                const q = {ask: 'pixels', from: trace.range[0] - 1000, to: trace.range[1] + 1000, width, budget: 100 + Math.floor(50000 * next()), lanes};
                assert.equal(checkPixels(await ask(engine, q), q), zones, `${file} at ${width}`);
            }
        }
    },

    async 'merged levels of detail and events give the same pixels'() {
        for (const file of paths) {
            const engine = await open(file), plain = await open(file), {trace, lanes} = await lanesOf(engine), next = random(17);
            if (!engine.trace.nodes.length || !lanes.length)
                continue;
            plain.trace.nodes = [];
            for (const block of plain.trace.events)
                block.node = null;
            for (let i = 0; i < 20; i++) {
                const span = (trace.range[1] - trace.range[0]) * 2 ** (-8 * next()), from = trace.range[0] + (trace.range[1] - trace.range[0] - span) * next();
                const q = {ask: 'pixels', from, to: from + span, width: 50 + Math.floor(400 * next()), budget: 1e6, lanes}, a = await ask(engine, q), b = await ask(plain, q);
                assert.equal(a.json.k, b.json.k);
                assert.deepEqual(tally(a), tally(b), `${file} ${JSON.stringify([q.from, q.to, q.width])}`);
            }
        }
    },

    async 'a zone tells its times, parents and children as the CSV has them'() {
        for (const file of paths.filter((p) => /rich|kinds|demo/.test(p))) {
            const engine = await open(file), {trace} = await lanesOf(engine), rows = csvRows(command('csv', '--kind', 'zones', file)).filter((r) => r.state === 'ended' && r.tid);
            const next = random(23), byTid = new Map(trace.tracks.filter((t) => t.kind === 'thread').map((t) => [`${t.pid}/${t.tid}`, t.id]));
            for (let i = 0; i < 40; i++) {
                const r = rows[Math.floor(rows.length * next())], t0 = Number(r.start_ns), length = Number(r.duration_ns);
                if (length < 4)
                    continue;
                const {json} = await ask(engine, {ask: 'zone', track: byTid.get(`${r.pid}/${r.tid}`), depth: Number(r.depth), at: t0 + Math.floor(length / 2)});
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
        for (const file of paths.filter((p) => /rich|demo/.test(p))) {
            const engine = await open(file), word = /rich/.test(file) ? 'rays' : 'tile', rows = csvRows(command('csv', '--kind', 'zones', file));
            const {json} = await ask(engine, {ask: 'find', text: word, what: ['zones'], limit: 10});
            assert.equal(json.total, rows.filter((r) => r.name.toLowerCase().includes(word)).length);
        }
    },

    async 'a file that is cut anywhere opens, or says why not'() {
        const whole = fs.readFileSync(paths.find((p) => /kinds/.test(p)));
        for (let n = 0; n < whole.length; n += 1777)
            await mustOpen(new Uint8Array(whole.subarray(0, n)));
    },

    async 'a damaged file never hangs or throws anything but words'() {
        const whole = fs.readFileSync(paths.find((p) => /kinds/.test(p))), next = random(99);
        for (let i = 0; i < 60; i++) {
            const bytes = new Uint8Array(whole);
            for (let k = 0; k < 20; k++)
                bytes[69632 + Math.floor((bytes.length - 69632) * next())] ^= 1 << Math.floor(8 * next());
            await mustOpen(bytes);
        }
    },

    async 'a long question gives way to others'() {
        const engine = await open(paths.find((p) => /made/.test(p))), {trace, lanes} = await lanesOf(engine);
        let nDrawn = 0, isLong = true;
        engine.trace.rest = async () => {
            const {json} = await ask(engine, {ask: 'pixels', from: trace.range[0], to: trace.range[1], width: 100, lanes});
            nDrawn += isLong && json.lanes.length ? 1 : 0;
        };
        await ask(engine, {ask: 'flame', from: trace.range[0], to: trace.range[1]});
        isLong = false;
        assert.ok(nDrawn > 1, `${nDrawn} drawings while a flame graph was made`);
    },

    async 'a flame graph of few paths has those with the most time, and the time of all'() {
        const engine = await open(paths.find((p) => /made/.test(p))), all = await ask(engine, {ask: 'flame', limit: 200000}), few = await ask(engine, {ask: 'flame', limit: 30});
        assert.equal(few.json.total, all.json.total);
        assert.equal(few.json.left_out, all.arrays.loc.length - 30);
        assert.deepEqual([few.arrays.loc.length, few.arrays.parent.every((p, i) => p <= i)], [30, true]);
        const sorted = (list) => [...list].sort((a, b) => b - a);
        assert.deepEqual(sorted(few.arrays.total), sorted(all.arrays.total).slice(0, 30));
    },

    async 'where there are too many paths the upper levels are complete'() {
        const next = random(5), few = new Paths(false, 3000), all = new Paths(false, 1e9), sums = (paths) => paths.nodes.filter((n) => n.depth < few.levels).map((n) => [n.depth, n.loc, n.count, n.total, n.self]).sort();
        for (let i = 0; i < 30000; i++) {
            const depth = Math.floor(6 * next()), locs = Array.from({length: 6}, () => 1 + Math.floor(9 * next())), zone = {depth, ticks: 10 + i % 7, self: i % 5};
            few.add(zone, locs);
            all.add(zone, locs);
        }
        assert.ok(few.levels > 1 && few.levels < 6 && few.leftOut > 0);
        assert.deepEqual(sums(few), sums(all));
    },

    async 'a file of another kind is refused with what to do'() {
        for (const [start, word] of [['{"traceEvents":[]}', 'JSON'], [' [', 'JSON'], ['tlZ\x04', 'Tracy'], ['tZst', 'Tracy'], ['hello', 'no .strobe'], ['', 'empty']])
            await assert.rejects(Engine.open(new BytesSource(new TextEncoder().encode(start), 'x')), (error) => error instanceof FormatError && error.message.includes(word));
    },

    async 'questions that make no sense are answered in words'() {
        const engine = await open(paths.find((p) => /rich/.test(p)));
        for (const q of [{ask: 'nonsense'}, {ask: 'pixels'}, {ask: 'pixels', from: 'x', to: {}, width: -1, lanes: [[99, 0, 1]]}, {ask: 'zone'}, {ask: 'stats', from: 5, to: 1, tracks: ['a']},
            {ask: 'names', locs: [-1, 1e9, 'x']}, {ask: 'find'}, {ask: 'flame', tracks: [12345]}, {ask: 'histogram', loc: 1e9}, {ask: 'frames', track: 77}, {ask: 'step', track: -4}, {}]) {
            const {json} = await engine.answer({id: 3, ...q});
            assert.equal(json.id, 3);
        }
    },
};

async function mustOpen(bytes) {
    try {
        const engine = await Engine.open(new BytesSource(bytes, 'x')), {trace, lanes} = await lanesOf(engine);
        await ask(engine, {ask: 'stats'});
        if (lanes.length)
            await ask(engine, {ask: 'pixels', from: trace.range[0], to: trace.range[1], width: 300, lanes});
    } catch (error) {
        assert.ok(error instanceof FormatError, error.stack);
    }
}

async function countZones(engine) {
    let n = 0;
    for (const block of engine.trace.events)
        for (const list of await engine.trace.decode(block, null))
            for (let i = 0; list && i < list.n; i++)
                n += list.state[i] === 0 && list.depth[i] < 16 ? 1 : 0; /* a level of detail has 16 depths */
    return n;
}

/* Counts and locations per lane: what must be equal, whoever gives them. Begins may be within a bucket. */
function tally({json, arrays}) {
    return json.lanes.map(([track, depth, first, n]) => {
        let zones = 0, cells = 0, open = 0;
        for (let i = first; i < first + n; i++) {
            open += arrays.flags[i] & 4 ? 1 : 0;
            zones += (arrays.flags[i] & 5) === 1 ? 1 : 0;
            cells += arrays.flags[i] & 1 ? 0 : arrays.count[i];
        }
        return [track, depth, zones, cells];
    });
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
