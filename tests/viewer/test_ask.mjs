/* test_ask.mjs: the panels that ask: SQL typed in the page, where the time went, what changed between runs; used as a user would, and held to what the commands
 * say. Arguments: browser.mjs.  SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {clipboard, fresh, open, page, panel, run, says, settled, shot, shots, startServer, state, still, strobe, text, traces, view} from './browser.mjs';

const ENDLESS = 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c';
const command = (...words) => execFileSync(strobe, words, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']});
const file = (name) => path.join(traces, `${name}.strobe`);
const csv = (name, sql) => command('query', '--format', 'csv', file(name), sql);
const resultRows = () => state(() => window.strobe.drawer.panel('query').query.table.rows);

/* Type a statement and run it; its answer is there. */
async function ask(sql) {
    await page.locator('.sql').fill(sql);
    await page.locator('.query .run').click();
    await says('.answers .state', /rows?,/);
    await settled();
}

async function openQuery(name = 'rich') {
    await open(name);
    await panel('query');
}

/* The zone is selected, and in view. */
async function selects(t0, dur) {
    await page.waitForFunction(([a, b]) => window.strobe.selection && window.strobe.selection.t0 === a && window.strobe.selection.t1 - a === b, [t0, dur]);
    const v = await view();
    assert.ok(v.from <= t0 && v.to >= t0 + dur, JSON.stringify([v, t0, dur]));
}

/* Two runs in a folder of their own, one shown and the other chosen to compare with; use(path of both) looks at them. */
async function withTwo(use) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-two-')), [rich, cut] = ['rich.strobe', 'cut.strobe'].map((name) => path.join(folder, name)), isServed = process.argv.includes('--server');
    fs.copyFileSync(file('rich'), rich);
    command('cut', '--range', '0ms..300ms', '-o', cut, rich);
    const served = isServed ? await startServer(folder) : null;
    try {
        if (isServed) {
            await page.goto(`${served.link}&trace=rich.strobe`);
            await settled();
        } else
            await open('rich');
        await panel('compare');
        if (isServed)
            await page.locator('select[aria-label="add a trace"]').selectOption('cut.strobe');
        else
            await page.locator('input[aria-label="add files"]').setInputFiles(cut);
        await says('.compare .state', /1 against 1 run,/);
        await use(rich, cut);
    } finally {
        if (served)
            served.child.kill();
        fs.rmSync(folder, {recursive: true});
    }
    await fresh();
}

const tests = {
    async 'a statement that is typed has the answer of the command, and is copied as its CSV'() {
        const sql = 'SELECT name, function, count, total, self / 1e6 AS self_ms, p99, NULL AS none, total * 1e12 AS large, 1e-7 * count AS small FROM stat WHERE kind = \'zone\' ORDER BY self DESC';
        await openQuery();
        await ask(sql);
        await page.locator('.copyCsv').click();
        await says('.toast', /copied as CSV/);
        assert.equal(await clipboard(), csv('rich', sql));
        await shot('query');
    },
    async 'all zones of a trace come out as the command has them'() {
        const sql = 'SELECT id, ts, dur, self, depth, name, track_id, parent_id, state, value, text FROM zone ORDER BY ts, depth, track_id LIMIT 5000';
        await openQuery();
        await ask(sql);
        await page.locator('.copyCsv').click();
        await says('.toast', /copied as CSV/);
        assert.equal(await clipboard(), csv('rich', sql));
    },
    async 'a click on a column sorts, a second one turns it around'() {
        await openQuery();
        await ask('SELECT name, count FROM stat WHERE kind = \'zone\'');
        const counts = async () => (await resultRows()).map((r) => r[1]), head = page.locator('.answers .thead button', {hasText: 'count'});
        await head.click();
        const down = await counts();
        assert.deepEqual(down, down.slice().sort((a, b) => b - a));
        await head.click();
        assert.deepEqual(await counts(), down.slice().sort((a, b) => a - b));
    },
    async 'a click on a row goes to its zone, by time or by id'() {
        await openQuery();
        await ask('SELECT name, dur, ts, track_id, depth FROM slowest');
        const [, dur, ts] = (await resultRows())[2];
        await page.locator('.answers .trow').nth(2).click();
        await selects(ts, dur);
        await ask('SELECT id, name FROM slowest');
        await state(() => window.strobe.setSelection(null));
        await page.locator('.answers .trow').nth(2).click();
        await selects(ts, dur);
        await ask('SELECT dur, ts, track_id FROM zone WHERE depth = 2 ORDER BY dur DESC LIMIT 9');
        const [zoneDur, zoneTs] = (await resultRows())[4];
        await page.locator('.answers .trow').nth(4).click();
        await selects(zoneTs, zoneDur);
    },
    async 'an error is shown with its place'() {
        await openQuery();
        await page.locator('.sql').fill('SELECT name,\n  count\nFORM stat');
        await page.keyboard.press('Control+Enter');
        await says('.sqlerror', /near "stat"|near "FORM"/);
        assert.match(await text('.sqlerror'), /\nFORM stat\n *\^ line 3, column \d/);
        assert.ok(await state(() => /^(FORM|stat)$/.test(document.querySelector('.sql').value.slice(document.querySelector('.sql').selectionStart, document.querySelector('.sql').selectionEnd))));
        await shot('query-error');
        await page.locator('.sql').fill('DELETE FROM zone');
        await page.locator('.query .run').click();
        await says('.sqlerror', /can only be read|may not be modified/);
    },
    async 'an answer is a chart where it has numbers, and a click on a bar goes to the row'() {
        await openQuery();
        await ask('SELECT name, dur, ts, track_id FROM slowest');
        await page.locator('.pickChart').click();
        await page.waitForFunction(() => window.strobe.drawer.panel('query').query.chart.marks.length === 20);
        await page.locator('select[aria-label=across]').selectOption({label: 'name'});
        const bar = await still(() => {
            const {chart} = window.strobe.drawer.panel('query').query, m = chart.marks[3], box = chart.canvas.getBoundingClientRect();
            return {x: box.left + (m.left + m.right) / 2, y: box.top + chart.box.bottom - 3, dur: m.y, ts: m.row[2]};
        });
        await shot('query-chart');
        await page.mouse.click(bar.x, bar.y);
        await selects(bar.ts, bar.dur);
        await ask('SELECT name FROM loc');
        assert.ok(await page.locator('.pickChart').isDisabled());
    },
    async 'rows with a time become a track, a click on one goes there, and it can be removed'() {
        await openQuery();
        await ask('SELECT name, dur, ts, track_id FROM slowest');
        await page.locator('.addTrack').click();
        await settled();
        const p = await still(() => {
            const tl = window.strobe.timeline, {row, y} = tl.visibleRows().find((r) => r.row.track.kind === 'asked'), [one] = row.track.rows, box = tl.canvas.getBoundingClientRect();
            return {x: box.left + tl.xOf((one.t0 + one.t1) / 2), y: box.top + y + 3 + one.lane * 19 + 9, t0: one.t0, dur: one.t1 - one.t0, label: one.label, left: box.left + 60, top: box.top + y + 10};
        });
        await page.mouse.move(p.x, p.y);
        await says('.tip', new RegExp(p.label));
        await shot('query-track');
        await page.mouse.click(p.x, p.y);
        await selects(p.t0, p.dur);
        await page.mouse.click(p.left, p.top, {button: 'right'});
        await page.locator('.menu button', {hasText: 'Remove it'}).click();
        await page.waitForFunction(() => !window.strobe.timeline.layout.rows.some((r) => r.track.kind === 'asked'));
    },
    async 'a statement without end holds up no drawing, and can be stopped'() {
        await openQuery();
        await page.locator('.sql').fill(ENDLESS);
        await page.locator('.query .run').click();
        await page.locator('.query .halt').waitFor();
        const n = await state(() => window.strobe.timeline.data.nAsked);
        await state(() => window.strobe.setView(400e6, 401e6));
        await page.waitForFunction((before) => window.strobe.timeline.data.nAsked > before && !window.strobe.timeline.data.pending, n);
        assert.ok(await page.locator('.query .halt').isVisible());
        await page.locator('.query .halt').click();
        await says('.sqlerror', /stopped/);
        await ask('SELECT 1 AS one');
        assert.deepEqual(await resultRows(), [[1]]);
    },
    async 'examples run, and statements are kept in the history'() {
        await openQuery();
        await page.locator('select[aria-label=examples]').focus();
        await page.locator('select[aria-label=examples]').selectOption({label: 'Was anything lost?'});
        await page.locator('.query .run').click();
        await says('.answers .state', /1 row,/);
        await ask('SELECT 2 AS two');
        await page.reload();
        await settled();
        await panel('query');
        assert.equal(await page.locator('.sql').inputValue(), 'SELECT 2 AS two');
        await page.locator('.sql').focus();
        await page.keyboard.press('Alt+ArrowUp');
        await page.keyboard.press('Alt+ArrowUp');
        assert.match(await page.locator('.sql').inputValue(), /FROM coverage/);
    },
    async 'where the time went is said as the command says it, and the path is drawn'() {
        await open('rich');
        await panel('explain');
        await says('.explain .state', /critical path/);
        await settled();
        const want = JSON.parse(command('explain', '--json', file('rich'))), got = await state(() => window.strobe.drawer.panel('explain').explain.answer.json);
        assert.deepEqual(got.statements, want.statements);
        assert.equal(await page.locator('.statement').count(), want.statements.length);
        assert.ok(await state(() => window.strobe.timeline.path.n_drawn) > 0);
        const sum = await state(() => {
            const {t0, t1} = window.strobe.timeline.path.of.arrays;
            return t0.reduce((ns, t, i) => ns + t1[i] - t, 0);
        });
        assert.ok(Math.abs(sum - want.path_ns) <= 1 + want.path_ns / 1e6, `${sum} is not ${want.path_ns}`);
        await shot('explain');
        await page.locator('.explain input[type=checkbox]').uncheck();
        await page.waitForFunction(() => window.strobe.timeline.path.n_drawn === 0);
    },
    async 'a statement leads to its zones, and its query gives its number'() {
        await open('rich');
        await panel('explain');
        await says('.explain .state', /critical path/);
        const {statements} = JSON.parse(command('explain', '--json', file('rich'))), place = statements.findIndex((s) => s.evidence.length && s.query && s.value !== undefined), s = statements[place];
        const [[ts, dur]] = csv('rich', `SELECT ts, dur FROM zone WHERE id = ${s.evidence[0]}`).trim().split('\n').slice(1).map((line) => line.split(',').map(Number));
        await page.locator('.statement').nth(place).locator('button', {hasText: 'zone 1'}).click();
        await selects(ts, dur);
        await page.locator('.statement').nth(place).locator('button', {hasText: 'query'}).click();
        await says('.answers .state', /rows?,/);
        assert.equal((await resultRows())[0][0], s.value);
    },
    async 'two runs are compared as the command compares them, zone by zone'() {
        await withTwo(async (rich, cut) => {
            const want = JSON.parse(command('diff', '--format', 'json', rich, '--', cut)), got = await state(() => window.strobe.drawer.panel('compare').compare.answer);
            assert.deepEqual(got.zones, want.zones);
            await page.locator('.compare .left .trow').first().click();
            await page.waitForFunction((name) => window.strobe.drawer.panel('compare').compare.histograms.bins?.every((b) => Math.abs(b.reduce((x, y) => x + y, 0) - 1) < 1e-6) && document.querySelector('.compare .figures b').textContent === name, want.zones[0].name);
            await shot('compare');
            await page.locator('.compare select[aria-label="beside the table"]').selectOption('flame');
            await page.waitForFunction(() => window.strobe.drawer.panel('compare').compare.graph.boxes.length > 3);
            const [a, b] = await state(() => window.strobe.drawer.panel('compare').compare.graph.root.ab);
            assert.ok(a > b && b > 0, `${a} ${b}`);
            await shot('compare-flame');
        });
    },
    async 'the other run is shown below, aligned by a zone'() {
        await withTwo(async () => {
            await page.locator('.compare .below').click();
            await page.waitForFunction(() => window.strobe.beside && window.strobe.beside.timeline.data.fine && !window.strobe.beside.timeline.data.pending);
            await page.locator('.compare input[aria-label="align by zone"]').fill('encode');
            await page.keyboard.press('Enter');
            await says('.besidehead', /first “encode” begins/);
            const firsts = await state(async () => {
                const s = window.strobe, {beside} = s, first = async (engine, name) => {
                    const {arrays} = await engine.ask({ask: 'stats', filter: name, limit: 50}), {json} = await engine.ask({ask: 'names', locs: [...arrays.loc]}), loc = json.locs.find((l) => l.name === name).id;
                    return (await engine.ask({ask: 'instances', loc, sort: 'time', limit: 1})).arrays.t0[0];
                };
                return [s.timeline.xOf(await first(s.engine, 'encode')), beside.timeline.xOf(await first(beside.engine, 'encode'))];
        });
        assert.ok(Math.abs(firsts[0] - firsts[1]) < 1e-6, String(firsts));
        await shot('compare-below');
        await page.locator('.compare .below').click();
        await page.waitForFunction(() => !document.querySelector('.beside'));
        });
    },
    async 'an exported page has its SQL where that was asked for'() {
        const out = path.join(shots, '..', 'asked.html'), plain = path.join(shots, '..', 'unasked.html'), sql = 'SELECT name, count, total FROM stat ORDER BY total DESC, name';
        command('export', '--to', 'html', '--sql', '-o', out, file('rich'));
        command('export', '--to', 'html', '-o', plain, file('rich'));
        assert.ok(fs.statSync(out).size - fs.statSync(plain).size <= 1.34e6, 'a megabyte at the most, as base64');
        await fresh({offline: true});
        await page.goto(pathToFileURL(out).href);
        await settled();
        await panel('query');
        await ask(sql);
        assert.deepEqual(await resultRows(), csv('rich', sql).trim().split('\n').slice(1).map((line) => {
            const cells = line.split(',');
            return [cells.slice(0, -2).join(','), Number(cells.at(-2)), Number(cells.at(-1))];
        }));
        await page.goto(pathToFileURL(plain).href);
        await settled();
        assert.equal(await page.locator('[data-panel=query]').count(), 0);
        await fresh();
    },
};

await run(tests, /exported page/);
