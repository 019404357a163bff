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
import {page, run, says, server, settled, shot, state, strobe} from './browser.mjs';

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
