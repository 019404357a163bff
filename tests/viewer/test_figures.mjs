/* test_figures.mjs STROBE FOLDER: the figures of ops and regions that both engines give are those of the command: of `strobe report` over the
 * same logs (traces_ops.py leaves its tables beside the traces), and of `strobe report --by-region`.  SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {Engine} from './engine.mjs';
import {Socket, serve} from './socket.mjs';
import {csvRows} from './csv.mjs';

const [strobe, folder] = process.argv.slice(2).map((p) => path.resolve(p));
const COLUMNS = {op: 'GLOBAL CALL COUNT', cores: 'CORE COUNT', host: 'HOST DURATION [ns]', kernel: 'DEVICE KERNEL DURATION [ns]', fw: 'DEVICE FW DURATION [ns]', gap: 'OP TO OP LATENCY [ns]', util: 'PM FPU UTIL (%)'};

const traceOf = (name) => path.join(folder, `${name}.strobe`);

/** Ask both engines; they must agree. Resolves to what each question got. */
async function askBoth(name, ...questions) {
    fs.utimesSync(traceOf(name), 1e9, 1e9); /* long ago: it is not being written */
    const server = await serve(strobe, traceOf(name)), socket = await Socket.open(server.link), engine = Engine.openFile(strobe, traceOf(name)), out = [];
    try {
        for (const q of questions) {
            const mine = engine.answer({id: 1, ...q}), {id, ...json} = mine.json, theirs = await socket.ask(q);
            assert.deepEqual({json: {...theirs.json, id: undefined}, arrays: theirs.arrays}, {json: {...json, id: undefined}, arrays: mine.arrays}, `${name}: ${JSON.stringify(q)}`);
            out.push({json, arrays: mine.arrays});
        }
    } finally {
        socket.close();
        server.stop();
    }
    return out;
}

/* The report's rows that are ops, in its order. */
function reportOf(name) {
    return csvRows(fs.readFileSync(path.join(folder, `${name}.csv`), 'utf8')).filter((r) => r['OP TYPE'] !== 'signpost');
}

function same(name, rows, {json, arrays}, slack = {}) {
    assert.equal(json.exact, true);
    assert.equal(arrays.row.length, rows.length, `${name}: as many ops as rows of the report`);
    rows.forEach((row, i) => {
        for (const [key, column] of Object.entries(COLUMNS)) {
            const due = row[column] === undefined || row[column] === '' ? NaN : Number(row[column]), off = Math.abs(arrays[key][i] - due);
            if (column in row && !(key in slack && Number.isNaN(due)))
                assert.ok(Object.is(arrays[key][i], due) || off <= (slack[key] || 0), `${name}, row ${i}, ${key}: the page has ${arrays[key][i]}, the report ${row[column]}`);
        }
        if ('OP CODE' in row)
            assert.equal(json.names[arrays.name[i]], row['OP CODE']);
    });
}

/* What bounds each op, as the command says. */
function boundsOf(logs) {
    const out = fs.mkdtempSync(path.join(folder, 'bounds-'));
    try {
        const {slowest} = JSON.parse(execFileSync(strobe, ['report', logs, '--json', '--top', '100000', '--no-date', '-o', out], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']}));
        return new Map(slowest.map((op) => [`${op.id} ${op.replay || 0}`, op.bound]));
    } finally {
        fs.rmSync(out, {recursive: true});
    }
}

const tests = {
    async 'ops of logs have the very figures of the report'() {
        for (const name of ['golden_A', 'golden_B', 'golden_D', 'golden_E', 'golden_F', 'hosted', 'large']) {
            const [answer] = await askBoth(name, {ask: 'ops', limit: 100000});
            same(name, reportOf(name), answer);
        }
    },
    async 'ops of a device log alone have the very figures of the device-only report'() {
        const [answer] = await askBoth('golden_C', {ask: 'ops'});
        same('golden_C', reportOf('golden_C'), answer);
    },
    async 'what bounds an op is what the report says'() {
        const [{json, arrays}] = await askBoth('large', {ask: 'ops', limit: 100000}), due = boundsOf(path.join(folder, 'large.logs'));
        arrays.op.forEach((op, i) => assert.equal(json.bounds[arrays.bound[i]], due.get(`${op} ${arrays.session[i]}`), `op ${op}`));
        assert.deepEqual([...new Set(arrays.bound)].map((b) => json.bounds[b]).sort(), ['compute', 'data movement', 'dispatch']);
    },
    async 'ops of a recording have the figures of its logs, give or take the cycle that aligns two cores'() {
        if (!fs.existsSync(traceOf('sim')))
            return;
        const [answer] = await askBoth('sim', {ask: 'ops'}, {ask: 'cores', row: 0});
        same('sim', reportOf('sim'), answer, {kernel: 1, fw: 1, gap: 1, host: 0, cores: 0});
        assert.ok(answer.arrays.host.every((ns) => ns > 0), 'what launched it is known');
        assert.ok(answer.arrays.host_t0.every((t, i) => t < answer.arrays.t0[i]), 'and is before its kernels');
    },
    async 'a row is where its firmware ran'() {
        const [{arrays}] = await askBoth('golden_A', {ask: 'ops'}), rows = reportOf('golden_A');
        const first = Number(rows[0]['DEVICE FW START CYCLE']);
        for (let i = 0; i < 3; i++)
            assert.deepEqual([arrays.t0[i], arrays.t1[i]], [Number(rows[i]['DEVICE FW START CYCLE']) - first, Number(rows[i]['DEVICE FW END CYCLE']) - first]);
    },
    async 'the zone that launched an op is found by its number'() {
        const [{arrays}] = await askBoth('hosted', {ask: 'ops'});
        assert.deepEqual([...arrays.host_t1].slice(0, 3).map((t, i) => t - arrays.host_t0[i]), [6000, 6000, 6000]);
        assert.deepEqual([...arrays.host_depth].slice(0, 3), [1, 1, 1]);
        assert.equal(arrays.host_track[3], 0);
    },
    async 'the cores of an op are those of the report, each with its kernels'() {
        const rows = reportOf('golden_A'), answers = await askBoth('golden_A', ...[0, 1, 2, 3].map((row) => ({ask: 'cores', row})));
        answers.forEach(({arrays}, i) => {
            const cores = new Map();
            arrays.track.forEach((_, k) => {
                const key = `${arrays.x[k]},${arrays.y[k]}`;
                cores.set(key, Math.max(cores.get(key) || 0, arrays.kernel[k]));
            });
            assert.equal(cores.size, Number(rows[i]['CORE COUNT'] || 0));
            for (const risc of ['BRISC', 'NCRISC', 'TRISC0', 'TRISC1', 'TRISC2'].entries()) {
                const mine = [...arrays.kernel].filter((_, k) => arrays.risc[k] === risc[0]), due = Number(rows[i][`DEVICE ${risc[1]} KERNEL DURATION [ns]`] || 0);
                assert.ok(mine.every((ns) => ns <= due), `${risc[1]} of op ${i}: ${mine} within ${due}`);
            }
        });
    },
    async 'rows come in the order that is asked for, and those that fit alone'() {
        const [kernel, back, name, filtered, bound, device] = await askBoth('large', {ask: 'ops', sort: 'kernel', limit: 50}, {ask: 'ops', sort: 'kernel', order: 'reversed', limit: 50}, {ask: 'ops', sort: 'name', limit: 1000},
            {ask: 'ops', filter: 'SOFT', limit: 1000}, {ask: 'ops', bound: 'dispatch', limit: 1000}, {ask: 'ops', device: 268435457, limit: 1000});
        const sorted = (a) => [...a].every((v, i) => !i || a[i - 1] >= v), names = [...name.arrays.name].map((n) => name.json.names[n]);
        assert.ok(sorted(kernel.arrays.kernel) && sorted([...back.arrays.kernel].reverse()));
        assert.deepEqual(names, [...names].sort());
        assert.deepEqual([filtered.json.n_rows, filtered.json.names], [50, ['SoftmaxDeviceOperation']]);
        assert.ok(bound.json.n_rows > 0 && bound.json.n_rows < 600 && bound.arrays.bound.every((b) => bound.json.bounds[b] === 'dispatch'));
        assert.equal(device.json.n_rows, 300);
        assert.ok(device.arrays.op.every((op) => op % 1024 === 1));
    },
    async 'an op that is not there is an error in words'() {
        const engine = Engine.openFile(strobe, traceOf('golden_A'));
        assert.equal(engine.answer({id: 1, ask: 'cores', row: 99}).json.error, 'there is no such op');
    },
    async 'sums by region are those of the command'() {
        const cases = [[], [['zone:step*'], ['load']], [['message:m'], [], 'process'], [['zone:step 1'], ['*o*'], 'thread'], [['signpost:measure', 'span:'], []]];
        for (const [regions = [], zones = [], scope] of cases) {
            const words = ['report', '--by-region', '--json', ...regions.flatMap((r) => ['--region', r]), ...zones.flatMap((z) => ['--zone', z]), ...(scope ? ['--scope', scope] : []), traceOf('regions')];
            const due = JSON.parse(execFileSync(strobe, words, {encoding: 'utf8'})).regions;
            const [{json, arrays}] = await askBoth('regions', {ask: 'regions', regions: regions.length ? regions : undefined, zones: zones.length ? zones : undefined, scope});
            const rows = (k) => [...arrays.region].flatMap((r, i) => (r === k ? [{name: json.names[arrays.name[i]], count: arrays.count[i], total_ns: arrays.total[i], self_ns: arrays.self[i]}] : []));
            assert.deepEqual(json.regions.map((r, k) => ({region: r.name, kind: r.kind, stretches: r.stretches, ns: r.ns, zones_count: r.zones, self_ns: r.self, zones: rows(k)})), due, words.join(' '));
            assert.ok(due.length > 0);
        }
    },
};

let failed = 0;
for (const [name, test] of Object.entries(tests))
    try {
        await test();
        console.log(`ok    ${name}`);
    } catch (error) {
        failed++;
        console.log(`FAIL  ${name}\n${String(error.stack).slice(0, 3000)}`);
    }
process.exit(failed ? 1 : 0);
