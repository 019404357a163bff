/* test_share.mjs: what leaves the page and comes back: links, notes, copies, pictures, pages that are one file. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import {execFileSync} from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {clickZone, clipboard, drag, fresh, near, open, page, panel, place, run, says, setView, settled, shot, shots, startServer, state, strobe, text, traces, view} from './browser.mjs';

const MEGA = 1000000, MOST_BYTES = 15 * MEGA;

/* `strobe export --to html` of a trace, opened from disk in a browser without a network; its bytes. */
async function openExport(name, trace, ...options) {
    const file = path.join(shots, '..', `${name}.html`);
    execFileSync(strobe, ['export', '--to', 'html', ...options, '-o', file, trace], {stdio: 'ignore'});
    await fresh({offline: true});
    await page.goto(pathToFileURL(file).href);
    await settled();
    return fs.statSync(file).size;
}

/* Make a note with the keyboard at a place. */
async function note(p, words) {
    await page.mouse.move(p.x, p.y);
    await page.keyboard.press('KeyM');
    await page.locator('.box textarea').fill(words);
    await page.keyboard.press('Enter');
    await settled();
}

/* A server of its own over a new folder: make(folder) puts a trace there and names it, use(link, path) looks at it. */
async function inFolder(make, use) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strobe-page-')), name = await make(folder), served = await startServer(folder);
    try {
        await use(`${served.link}&trace=${name}`, path.join(folder, name));
    } finally {
        served.child.kill();
        fs.rmSync(folder, {recursive: true});
    }
    await fresh();
}

const notesShown = async () => {
    await panel('notes');
    return page.locator('.noterow input').evaluateAll((inputs) => inputs.map((i) => i.value));
};

const tests = {
    async 'after the view was dragged the link is that of where one let go, and Back leads to where one was'() {
        await open('rich');
        await setView(395, 425);
        const before = await view();
        await drag({x: 900, y: 300}, {x: 700, y: 300}, 'right');
        const after = await view(), link = page.url();
        assert.ok(after.from > before.from + 1e6, 'the view moved');
        await fresh();
        await page.goto(link);
        await settled();
        near((await view()).from, after.from, 1);
        await open('rich', '#v=395000000,425000000');
        await drag({x: 900, y: 300}, {x: 700, y: 300}, 'left', 'Shift');
        await page.goBack();
        await page.waitForFunction((from) => Math.abs(window.strobe.view.from - from) < 1, before.from);
    },
    async 'the link holds view, selection, panel and notes'() {
        await open('rich');
        await setView(395, 425);
        await clickZone('main', 1, 413);
        await state(() => window.strobe.notes.make(410e6, 412e6, 'slow here'));
        await settled();
        const link = page.url();
        await fresh();
        await page.goto(link);
        await settled();
        near((await view()).from, 395e6, 10);
        assert.equal(await state(() => window.strobe.names.name(window.strobe.selection.loc)), 'frame');
        assert.equal(await state(() => window.strobe.notes.list[0].text), 'slow here');
        assert.match(await text('.tab.current'), /Details/);
        await page.locator('[data-panel=notes]').click();
        await settled();
        assert.equal(await page.locator('.noterow input').inputValue(), 'slow here');
        await shot('notes');
    },
    async 'Back and Forward lead to what was looked for, and to the tracks that were pinned then'() {
        await open('rich');
        const find = (name) => state((n) => window.strobe.findByName(n), name), there = (name, nPinned) => page.waitForFunction(([n, k]) => {
            const s = window.strobe;
            return (s.found ? s.names.name(s.found.loc) : '') === n && s.choice.pinned.length === k && s.timeline.layout.pinned.length === k;
        }, [name, nPinned]);
        await page.keyboard.press('Home');
        await find('tile');
        await page.keyboard.press('Home');
        await find('encode');
        await state(() => window.strobe.togglePin(window.strobe.trace.tracks.find((t) => t.name === 'main').id));
        await settled();
        for (const [go, name, nPinned] of [['goBack', 'tile', 0], ['goBack', '', 0], ['goForward', 'tile', 0], ['goForward', 'encode', 1]]) {
            await page[go]();
            await there(name, nPinned);
            await settled();
            assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('z') || '', name);
        }
    },
    async 'a link with a zone selected on a hidden track leaves it hidden'() {
        await open('rich');
        await setView(395, 425);
        await clickZone('main', 1, 413);
        await state(() => window.strobe.hideTrack(window.strobe.selection.track));
        await settled();
        await page.reload();
        await settled();
        assert.deepEqual(await state(() => [window.strobe.choice.hidden.size, window.strobe.selection !== null]), [1, true]);
    },
    async 'a link has what was done to the tracks: collapsed, moved, limited, filtered, scaled, scrolled to'() {
        const shown = () => state(() => {
            const {choice, timeline, trace} = window.strobe, name = (id) => trace.tracks.find((t) => t.id === id).name;
            return {collapsed: [...choice.collapsed].map(name), rows: timeline.layout.rows.map((r) => [r.track.name, r.lanes]), plots: [...choice.plots].map(([id, how]) => [name(id), how]), flags: [choice.fitsHeight, choice.sharesScale, choice.filter], scroll: Math.round(timeline.scroll), picture: timeline.canvas.toDataURL()};
        });
        await page.setViewportSize({width: 1400, height: 420});
        await open('rich', '#v=395000000,425000000');
        await state(() => {
            const s = window.strobe, track = (name) => s.trace.tracks.find((t) => t.name === name && t.kind !== 'process');
            s.toggleCollapse(track('worker 2').id);
            s.reorder(track('worker 1'), track('main'), false);
            s.setDepthLimit(track('worker 0').id, 2);
            s.setPlot(s.trace.tracks.find((t) => t.kind === 'plot').id, {zero: true, log: false});
            s.shareScale(true);
        });
        await settled();
        await state(() => window.strobe.timeline.scrollTo(90));
        await settled();
        assert.match(page.url(), /&e=/);
        const before = await shown(), link = page.url();
        await page.goto('about:blank');
        await page.goto(link);
        await settled();
        assert.deepEqual(await shown(), before);
        await state(() => window.strobe.filterTracks('work'));
        await settled();
        const {rows} = await shown();
        await page.reload();
        await settled();
        assert.deepEqual((await shown()).rows, rows);
        await state(() => window.strobe.toggleCollapse(window.strobe.trace.tracks.find((t) => t.name === 'worker 0').id));
        await settled();
        await page.keyboard.press('Control+z'); /* and it is undone */
        await page.waitForFunction(() => window.strobe.choice.collapsed.size === 1);
        await page.setViewportSize({width: 1400, height: 860});
    },
    async 'an area of a whole process is the same one in its link'() {
        await open('tracks');
        await state(() => { const s = window.strobe; s.selectTrack(s.trace.tracks.find((t) => t.kind === 'process')); });
        await settled();
        const n = await state(() => window.strobe.area.tracks.length), link = page.url();
        assert.ok(n > 200 && link.length < 2000, `${n} tracks, ${link.length} characters`);
        await fresh();
        await page.goto(link);
        await settled();
        assert.equal(await state(() => window.strobe.area.tracks.length), n);
        const odd = await state(() => { const s = window.strobe; s.area.tracks = s.area.tracks.filter((id, i) => i % 2); s.areaDone(); return s.area.tracks.length; });
        await says('.toast', new RegExp(`The area is in the link, but for ${(odd - 200).toLocaleString('en-US')} tracks`));
    },
    async 'a picture of the view is saved by a button'() {
        await open('rich');
        const [file] = await Promise.all([page.waitForEvent('download'), page.locator('[data-act=png]').click()]);
        const bytes = fs.readFileSync(await file.path());
        assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
        assert.ok(bytes.length > 10000);
    },
    async 'an exported page opens from disk, with no server and no network'() {
        await openExport('rich', path.join(traces, 'rich.strobe'));
        await setView(395, 425);
        await clickZone('main', 1, 403);
        assert.match(await text('.details'), /frame number 40/);
        assert.equal(await page.locator('button.logo').count(), 0, 'there is nothing else to open');
        await openExport('piece', path.join(traces, 'rich.strobe'), '--range', '400ms..500ms', '--process', 'renderer');
        near((await view()).from, 399e6, 1e6);
        await clickZone('main', 1, 443);
        assert.match(await text('.details'), /frame number 44/);
        assert.deepEqual(await state(() => window.strobe.trace.tracks.filter((t) => t.kind === 'process').map((t) => t.name)), ['renderer']);
        assert.equal(await state(() => window.hacked), undefined);
        await fresh();
    },
    async 'an exported page shows its trace from afar before all of it has come, and what was asked meanwhile is answered then'() {
        const file = path.join(shots, '..', 'early.html');
        execFileSync(strobe, ['export', '--to', 'html', '-o', file, path.join(traces, 'dense.strobe')], {stdio: 'ignore'});
        const bytes = fs.readFileSync(file), mark = 'data-trace="', first = bytes.indexOf(mark), rest = bytes.indexOf(mark, first + 1) + 10000;
        assert.ok(first > 0 && rest > 10000, 'it has what comes first, and the rest');
        let go;
        const asked = new Promise((resolve) => { go = resolve; });
        const slow = http.createServer(async (request, response) => {
            response.writeHead(200, {'Content-Type': 'text/html; charset=utf-8'});
            response.write(bytes.subarray(0, rest));
            await asked;
            response.end(bytes.subarray(rest));
        });
        await new Promise((resolve) => { slow.listen(0, '127.0.0.1', resolve); });
        try {
            await fresh();
            await page.goto(`http://127.0.0.1:${slow.address().port}/`, {waitUntil: 'commit'});
            await page.waitForFunction(() => window.strobe && window.strobe.timeline.data.fine && window.strobe.timeline.frames.length);
            await page.waitForFunction(() => window.strobe.minimap.busy && !window.strobe.frame);
            await shot('early');
            const seen = () => state(() => {
                const tl = window.strobe.timeline, {data} = tl.ctx.getImageData(220, 60, tl.width - 240, tl.height - 80), colours = new Set();
                for (let i = 0; i < data.length; i += 4)
                    colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
                return colours.size;
            });
            assert.ok(await seen() > 20, `${await seen()} colours: the zones are drawn`);
            assert.equal(await state(() => window.strobe.trace.read), 0);
            await state(() => { window.told = window.strobe.engine.ask({ask: 'stats', limit: 10}); });
            go();
            await page.waitForFunction(() => window.strobe.trace.read === 1);
            await settled();
            const count = JSON.parse(execFileSync(strobe, ['stats', '--json', path.join(traces, 'dense.strobe')], {stdio: ['ignore', 'pipe', 'ignore']})).zones.reduce((n, z) => n + z.count, 0);
            assert.equal(await state(async () => (await window.told).json.n_zones), count);
        } finally {
            go();
            slow.close();
            await fresh();
        }
    },
    async 'an exported page of a million zones is small'() {
        const trace = path.join(shots, '..', 'million.strobe');
        execFileSync(path.join(path.dirname(strobe), 'make_trace'), [trace, String(MEGA), '3', '100']);
        assert.ok(await openExport('million', trace) <= MOST_BYTES);
        assert.ok(await state(() => window.strobe.trace.totals.zones) >= MEGA);
        await panel('stats');
        await says('.state', /1,000,000 zones/);
        await fresh();
    },
    async 'the server shows the source of a zone, where the file is at hand'() {
        await inFolder(async (folder) => {
            execFileSync(strobe, ['record', '-o', path.join(folder, 'hello.strobe'), '--', path.join(path.dirname(strobe), 'strobe-hello-c')], {stdio: 'ignore', cwd: path.dirname(path.dirname(strobe))});
            return 'hello.strobe';
        }, async (link) => {
            await page.goto(link);
            await settled();
            const [from, to] = await state(() => window.strobe.trace.range);
            await clickZone('strobe-hello-c', 0, (from + to) / 2e6);
            await page.locator('.details button.link', {hasText: 'hello.c'}).click();
            await says('.source .here', /STROBE_SCOPE\("main"\);/);
            await shot('source');
        });
    },
    async 'the server keeps notes beside the trace, and exports have them'() {
        const words = '慢 </script><b>here</b>';
        await inFolder(async (folder) => {
            fs.copyFileSync(path.join(traces, 'rich.strobe'), path.join(folder, 'rich.strobe'));
            return 'rich.strobe';
        }, async (link, trace) => {
            await page.goto(link);
            await settled();
            await note(await place('worker 1', 0, 300), words);
            for (let i = 0; i < 600 && !fs.existsSync(`${trace}.notes.json`); i++)
                await page.waitForTimeout(50);
            await fresh();
            await page.goto(link);
            await settled();
            assert.deepEqual(await notesShown(), [words]);
            await openExport('noted', trace);
            assert.deepEqual(await notesShown(), [words]);
        });
    },
    async 'notes that two pages of the server make, change and remove are all kept'() {
        await inFolder(async (folder) => {
            fs.copyFileSync(path.join(traces, 'rich.strobe'), path.join(folder, 'rich.strobe'));
            return 'rich.strobe';
        }, async (link, trace) => {
            const kept = () => fs.existsSync(`${trace}.notes.json`) && JSON.parse(fs.readFileSync(`${trace}.notes.json`, 'utf8')).map((n) => n[2]).join();
            const until = async (words) => {
                for (let i = 0; i < 600 && kept() !== words; i++)
                    await page.waitForTimeout(20);
                assert.equal(kept(), words);
            };
            await page.goto(link);
            await settled();
            const other = await page.context().newPage();
            await other.goto(link);
            await other.waitForFunction(() => window.strobe && window.strobe.trace && window.strobe.notes.seen);
            await note(await place('worker 1', 0, 300), 'one');
            await until('one');
            await other.evaluate(() => window.strobe.notes.make(600e6, 600e6, 'two'));
            await until('one,two');
            await panel('notes');
            await page.waitForFunction(() => document.querySelectorAll('.noterow').length === 2); /* nobody asked for it here */
            await other.evaluate(() => { const {list} = window.strobe.notes; list[0].text = 'ONE'; window.strobe.notes.changed(); });
            await until('ONE,two');
            await state(() => window.strobe.notes.make(700e6, 700e6, 'three'));
            await until('ONE,two,three');
            assert.deepEqual(await notesShown(), ['ONE', 'two', 'three']);
            await page.locator('.noterow button', {hasText: '✕'}).first().click();
            await until('two,three');
            await other.evaluate(() => window.strobe.notes.make(800e6, 800e6, 'four'));
            await until('two,three,four');
            const last = page.locator('.noterow input').last();
            await page.waitForFunction(() => [...document.querySelectorAll('.noterow input')].map((input) => input.value).join() === 'two,three,four');
            await last.press('End');
            await last.pressSequentially(' and'); /* while another page's note comes, what is being written stays */
            await other.evaluate(() => window.strobe.notes.make(100e6, 100e6, 'zero'));
            await page.waitForFunction(() => document.querySelectorAll('.noterow').length === 4);
            assert.equal(await last.inputValue(), 'four and');
            assert.ok(await last.evaluate((input) => input === document.activeElement));
            await page.keyboard.press('Enter');
            await until('zero,two,three,four and');
            await other.evaluate(() => { const {notes} = window.strobe; notes.remove(notes.list[0]); });
            await until('two,three,four and');
            await Promise.all([other.evaluate(() => window.strobe.notes.make(810e6, 810e6, 'five')), state(() => window.strobe.notes.make(820e6, 820e6, 'six'))]);
            await until('two,three,four and,five,six');
            await other.close();
        });
    },
    async 'notes of a trace without a server stay in the browser, and leave as a file'() {
        await open('one');
        await note(await place('main', 0, 1.2), 'the only one');
        await page.reload();
        await settled();
        assert.deepEqual(await notesShown(), ['the only one']);
        const [file] = await Promise.all([page.waitForEvent('download'), page.locator('.notebar button').click()]);
        assert.equal(file.suggestedFilename(), 'one.strobe.notes.json');
        assert.equal(JSON.parse(fs.readFileSync(await file.path(), 'utf8'))[0][2], 'the only one');
        const other = await page.context().newPage();
        await other.goto(page.url());
        await other.waitForFunction(() => window.strobe && window.strobe.trace);
        await other.evaluate(() => window.strobe.notes.make(1.4e6, 1.4e6, 'of another tab'));
        await page.waitForFunction(() => window.strobe.notes.list.length === 2);
        await other.close();
        await state(() => window.strobe.notes.make(1.45e6, 1.45e6, 'and one more'));
        assert.deepEqual(await notesShown(), ['the only one', 'of another tab', 'and one more']);
        for (let i = 0; i < 2; i++)
            await state(() => window.strobe.notes.remove(window.strobe.notes.list[1]));
        await settled();
        await page.locator('.noterow button', {hasText: '✕'}).click();
        await says('.notes', /No notes yet/);
    },
    async 'a row, a table and a zone are copied'() {
        await open('rich', '#p=stats');
        await says('.trow', /tile/);
        await page.locator('.trow').first().click({button: 'right'});
        await says('.toast', /row copied/);
        assert.match(await clipboard(), /^tile\t1900\t\d+\t/);
        await page.locator('.panel button', {hasText: 'Copy table'}).click();
        await says('.toast', /table copied/);
        const lines = (await clipboard()).split('\n');
        assert.equal(lines.length, 11);
        assert.match(lines[0], /^zone\tcount\ttotal/);
        await setView(395, 425);
        await clickZone('main', 1, 403);
        await page.locator('.details button', {hasText: /^Copy$/}).click();
        await says('.toast', /^copied$/);
        assert.match(await clipboard(), /^frame\tsrc\/render\.c:20\tmain\t\d+\t\d+\t\d+\tframe number 40$/);
    },
    async 'a row is one line in a copied table, whatever is in its names'() {
        await open('names', '#p=stats');
        await says('.tbody', /渲染一帧/);
        await page.locator('.panel button', {hasText: 'Copy table'}).click();
        await says('.toast', /table copied/);
        const lines = (await clipboard()).split('\n');
        assert.deepEqual(lines.map((line) => line.split('\t').length), Array(8).fill(13));
        assert.ok(lines.some((line) => line.startsWith('tab and line\t')));
    },
    async 'a process chosen as a whole is a command of its own'() {
        await open('rich');
        const p = await place('encoder', 0, 500);
        await page.mouse.click(60, p.y, {button: 'right'});
        await page.locator('.menu button', {hasText: 'Select all of it'}).click();
        await settled();
        await page.locator('.details button', {hasText: 'Copy as command'}).click();
        await says('.toast', /copied/);
        const command = await clipboard();
        assert.match(command, /^strobe stats --range -?\d+ns\.\.\d+ns --process 4002 'rich\.strobe'$/);
        const said = execFileSync(strobe, [...command.replace(/'rich\.strobe'/, '--json').split(' ').slice(1), path.join(traces, 'rich.strobe')]);
        assert.deepEqual(JSON.parse(said).zones.map((z) => [z.name, z.count]), [['encode', 100]]);
    },
};

await run(tests, /exported|the server|notes/);
