/* test_dropped.mjs: files of other profilers that are dropped on the page become the trace that `strobe import` makes of them, without a
 * server. Arguments: browser.mjs; the pages of this test have no trace of their own.
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import zlib from 'node:zlib';
import {Engine} from './engine.mjs';
import {page, run, says, server, settled, shot, state, still, strobe, text} from './browser.mjs';

const data = path.join(path.dirname(fileURLToPath(import.meta.url)), '..'), golden = path.join(data, 'report', 'golden');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-dropped-'));

/* What is compared: all tracks, all totals, the sums of all zones, the ops of a device. */
const QUESTIONS = [{ask: 'stats', limit: 1000}, {ask: 'ops'}, {ask: 'messages', limit: 100}];
const facts = ({totals, tracks, range, notes, clock}) => ({totals, range, notes, clock, tracks: tracks.map(({kind, name, n_depths}) => [kind, name, n_depths])});
const plain = ({json, arrays}) => ({...json, id: 0, ...Object.fromEntries(Object.entries(arrays).map(([name, a]) => [name, [...a].map(String)]))});

function made(from) {
    const to = path.join(folder, `${path.basename(from)}-${Math.random()}.strobe`);
    execFileSync(strobe, ['import', '-o', to, from], {stdio: 'pipe'});
    const engine = Engine.openFile(strobe, to);
    return [facts(engine.answer({id: 1, ask: 'trace'}).json), ...QUESTIONS.map((q) => plain(engine.answer({id: 1, ...q})))];
}

async function shown() {
    const answers = [];
    for (const q of QUESTIONS)
        answers.push(plain(await state(async (question) => {
            const {json, arrays} = await window.strobe.engine.ask(question);
            return {json, arrays: Object.fromEntries(Object.entries(arrays).map(([name, a]) => [name, [...a]]))};
        }, q)));
    return [facts((await state(() => window.strobe.engine.ask({ask: 'trace'}))).json), ...answers];
}

async function choose(selector, files) {
    await page.goto('about:blank');
    await page.goto(server.url);
    await page.locator(selector).setInputFiles(files);
}

async function isAsImported(selector, files, from = files) {
    await choose(selector, files);
    await page.waitForFunction(() => window.strobe.trace || document.querySelector('.startstate.failed'));
    assert.equal(await state(() => window.strobe.trace ? '' : document.querySelector('.startstate').innerText), '');
    await settled();
    assert.deepEqual(await shown(), made(from));
}

const FILE = 'input[type=file]:not([webkitdirectory])', FOLDER = 'input[webkitdirectory]';

const tests = {
    async 'a file of Tracy compressed by LZ4'() {
        await isAsImported(FILE, path.join(data, 'tracy_files', 'data', 'by_capture_63.tracy'));
    },
    async 'a file of Tracy 0.14'() {
        await isAsImported(FILE, path.join(data, 'tracy_files', 'data', 'v0.14.0', fs.readdirSync(path.join(data, 'tracy_files', 'data', 'v0.14.0')).find((name) => name.endsWith('.tracy'))));
        await shot('dropped-tracy');
    },
    async 'Chrome\'s JSON, and the same compressed'() {
        const json = path.join(data, 'import', 'seeds', 'object.json'), packed = path.join(folder, 'object.json.gz');
        fs.writeFileSync(packed, zlib.gzipSync(fs.readFileSync(json)));
        await isAsImported(FILE, json);
        await isAsImported(FILE, packed);
        assert.equal(await state(() => window.strobe.trace.name), 'object.strobe');
    },
    async 'while a file is read the page says how far it is'() {
        const file = path.join(folder, 'many.json'), events = Array.from({length: 60000}, (_, i) => `{"ph":"X","pid":1,"tid":${i % 4},"ts":${10 * i},"dur":5,"name":"step ${i % 50}"}`);
        fs.writeFileSync(file, `[${events.join(',\n')}]`);
        await page.goto('about:blank');
        await page.goto(server.url);
        await state(() => {
            window.told = [];
            new MutationObserver(() => window.told.push(document.querySelector('.startstate').textContent)).observe(document.querySelector('.start'), {subtree: true, childList: true, characterData: true});
        });
        await page.locator(FILE).setInputFiles(file);
        await page.waitForFunction(() => window.strobe.trace);
        await settled();
        const shares = (await state(() => window.told)).map((words) => /^Reading the file: (\d+) %$/.exec(words)).filter(Boolean).map((m) => Number(m[1]));
        assert.ok(shares.length > 0 && shares.every((share, i) => share <= 100 && share >= (shares[i - 1] || 0)), shares.join());
        assert.equal(await state(async () => (await window.strobe.engine.ask({ask: 'stats'})).json.n_zones), 60000);
    },
    async 'of a file of Tracy, plots of percentages have their %, and Info tells host, kernel and CPU apart'() {
        const session = path.join(folder, 'percent.json'), file = path.join(folder, 'percent.tracy');
        fs.writeFileSync(session, JSON.stringify({
            program: 'game', capture: 'game', host: 'OS: Linux 6.1\nCPU: Some CPU\nUser: me@box\n', pid: 7, epoch: 1700000000, exec_time: 1,
            locations: {a: {name: 'work', function: 'work', file: 'a.c', line: 1}}, threads: [{id: 1, name: 'main', zones: [{loc: 'a', start: 1000, end: 7000}], messages: []}],
            plots: [{name: 'load', format: 'percent', points: [[1000, 12.5], [5000, 80], [8000, 50]]}], frames: [], memory: [], locks: [], gpu: [],
        }));
        execFileSync('python3', ['-B', path.join(data, 'tracy_files', 'write_tracy.py'), session, file, '--store']);
        await isAsImported(FILE, file);
        const p = await still(() => {
            const s = window.strobe, tl = s.timeline, row = tl.visibleRows().find((r) => r.row.track.kind === 'plot'), box = tl.canvas.getBoundingClientRect();
            return {x: box.left + tl.xOf(5000) + 2, y: box.top + row.y + row.row.height / 2};
        });
        await page.mouse.click(p.x, p.y);
        await says('.details', /value\s+80(\.0)? %/);
        await page.locator('[data-panel=info]').click();
        await says('.drawer', /kernel\s+Linux 6.1/);
        await says('.drawer', /CPU\s+Some CPU/);
        assert.doesNotMatch(await text('.drawer'), /OS:/);
    },
    async 'times of Chrome’s JSON are relative to its start'() {
        const json = path.join(folder, 'late.json');
        fs.writeFileSync(json, JSON.stringify([{ph: 'X', pid: 1, tid: 1, ts: 1700000000000000, dur: 500, name: 'first'}, {ph: 'X', pid: 1, tid: 1, ts: 1700000000001000, dur: 500, name: 'second'}]));
        await choose(FILE, json);
        await page.waitForFunction(() => window.strobe.trace);
        await settled();
        const p = await still(() => {
            const s = window.strobe, tl = s.timeline, row = tl.visibleRows().find((r) => r.row.track.kind === 'thread'), box = tl.canvas.getBoundingClientRect();
            return {x: box.left + tl.xOf(s.trace.range[1] - 2e5), y: box.top + row.y + 12};
        });
        await page.mouse.click(p.x, p.y);
        await says('.details', /begins\s+1(\.0+)? ms/);
    },
    async 'a trace of Perfetto'() {
        await isAsImported(FILE, path.join(data, 'import', 'seeds_perfetto', 'interned'));
        assert.equal(await state(() => window.strobe.trace.totals.zones), 11);
    },
    async 'folded stacks, as a user has them'() {
        const folded = path.join(folder, 'app.folded');
        fs.writeFileSync(folded, 'app;main;work 70\napp;main;work;deep 20\napp;main;rest 10\n');
        await isAsImported(FILE, folded);
        assert.equal(await state(() => window.strobe.trace.totals.samples), 100);
    },
    async 'the folder of a run with a device log, its ops with their figures'() {
        const run = path.join(golden, 'A_host_device_legacy', 'logs');
        await isAsImported(FOLDER, run);
        await shot('dropped-device');
    },
    async 'what is no trace of anybody is refused in words, and another file can be opened'() {
        const other = path.join(folder, 'other.bin');
        fs.writeFileSync(other, 'nothing that anybody knows');
        await choose(FILE, other);
        await says('.startstate.failed', /neither a trace of Strobe or Tracy/);
        await page.locator(FILE).setInputFiles(path.join(data, 'import', 'seeds', 'array.json'));
        await page.waitForFunction(() => window.strobe.trace);
    },
};

try {
    await run(tests);
} finally {
    fs.rmSync(folder, {recursive: true});
}
