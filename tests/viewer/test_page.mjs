/* test_page.mjs STROBE MODULES TRACES SHOTS [--server] [PART…]: the page in a real browser, driven as a user would; what is
 * shown is checked. With PART, only the tests with that in their name; with --server the server answers instead of the page's
 * own reader. Pictures go to the folder SHOTS.
 * SPDX-License-Identifier: MIT */
import {execFileSync, spawn} from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {host} from './host.mjs';
import {KEYS, MOUSE} from '../../web/view/keys.js';

const [strobe, modules, traces, shots, ...words] = process.argv.slice(2), remote = words.includes('--server'), parts = words.filter((w) => w !== '--server');
const {chromium} = await import(pathToFileURL(path.join(modules, 'playwright-core', 'index.mjs')).href);
const web = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..', 'web');
const LABEL = 208, RULER = 28, PATIENCE = 60000;
fs.mkdirSync(shots, {recursive: true});

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => fs.existsSync(p));
const server = await host({'/': `${web}/`, '/t/': `${traces}/`});
const browser = await chromium.launch({executablePath, args: process.getuid() === 0 ? ['--no-sandbox'] : []});
let context, page, errors;

/* `strobe view` over the folder of traces, with the page's files as they are in the tree. */
async function startServer() {
    const child = spawn(strobe, ['view', '--no-open', '--web', web, traces], {stdio: ['ignore', 'pipe', 'pipe']});
    let said = '';
    for await (const bytes of child.stdout) {
        const link = /http:\/\/\S+/.exec(said += bytes);
        if (link)
            return {child, link: link[0]};
    }
    throw new Error(`strobe view said: ${said}`);
}

const viewer = remote ? await startServer() : null;

async function fresh(options = {}) {
    if (context)
        await context.close();
    context = await browser.newContext({viewport: {width: 1400, height: 860}, colorScheme: 'light', permissions: ['clipboard-read', 'clipboard-write'], ...options});
    page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    errors = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && !/404|source list for the Content Security Policy/.test(message.text()) && errors.push(message.text()));
}

/* Everything asked for has been answered and drawn. */
async function settled() {
    await page.waitForFunction(() => {
        const s = window.strobe;
        return s && s.trace && s.engine.waiting.size === 0 && !s.timeline.data.pending && !s.frame && !s.urlTimer && (s.timeline.data.fine || !s.trace.tracks.some((t) => t.n_depths));
    }, null, {timeout: PATIENCE, polling: 30});
}

async function open(name, hash = '') {
    await page.goto('about:blank');
    await page.goto(remote ? `${viewer.link}&trace=${name}.strobe${hash}` : `${server.url}/?url=/t/${name}.strobe${hash}`);
    await settled();
}

const state = (f, arg) => page.evaluate(f, arg);
const view = () => state(() => ({...window.strobe.view}));
const span = async () => state(() => window.strobe.view.to - window.strobe.view.from);
const shot = (name) => page.screenshot({path: path.join(shots, `${name}.png`)});

/* The place on the screen of a time on a track's lane. */
function place(trackName, depth, ms) {
    return state(([name, d, t]) => {
        const s = window.strobe, track = s.trace.tracks.find((x) => x.name === name), tl = s.timeline, box = tl.canvas.getBoundingClientRect();
        s.showTrack(track.id, d);
        const row = tl.visibleRows().find((r) => r.row.track.id === track.id && !r.row.header);
        return {x: box.left + tl.xOf(t * 1e6), y: box.top + row.y + 3 + d * 19 + 9};
    }, [trackName, depth, ms]);
}

async function clickZone(trackName, depth, ms, options) {
    const p = await place(trackName, depth, ms);
    await page.mouse.move(p.x, p.y);
    await page.mouse.click(p.x, p.y, options);
    await settled();
}

async function drag(from, to, button = 'left', modifier) {
    if (modifier)
        await page.keyboard.down(modifier);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down({button});
    await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, {steps: 3});
    await page.mouse.move(to.x, to.y);
    await page.mouse.up({button});
    if (modifier)
        await page.keyboard.up(modifier);
    await settled();
}

async function setView(fromMs, toMs) {
    await state(([a, b]) => window.strobe.setView(a * 1e6, b * 1e6), [fromMs, toMs]);
    await settled();
}

const text = (selector) => page.locator(selector).first().innerText();
const near = (a, b, slack, what) => assert.ok(Math.abs(a - b) <= slack, `${what || ''} ${a} is not near ${b}`);

/* Press a row of the key table. */
async function press(row) {
    const name = {C: 'Control', S: 'Shift', A: 'Alt'}, keys = [...row.mods].map((m) => name[m]);
    await page.keyboard.press([...keys, row.code].join('+'));
    await settled();
}

/* The pixel of the timeline at a place, as [r, g, b]. */
function pixel(p) {
    return state(({x, y}) => {
        const c = window.strobe.timeline.canvas, box = c.getBoundingClientRect();
        return [...c.getContext('2d').getImageData(Math.round(x - box.left), Math.round(y - box.top), 1, 1).data].slice(0, 3);
    }, p);
}

/* One check per act of the key table. */
const keyChecks = {
    async zoomIn(row) { const a = await span(); await press(row); assert.ok(await span() < a); },
    async zoomOut(row) { await setView(400, 600); const a = await span(); await press(row); assert.ok(await span() > a); },
    async zoomInFast(row) { const a = await span(); await press(row); near(await span() / a, 0.5, 0.01); },
    async zoomOutFast(row) { await setView(400, 500); const a = await span(); await press(row); near(await span() / a, 2, 0.01); },
    async panLeft(row) { await setView(400, 500); await press(row); assert.ok((await view()).from < 400e6); },
    async panRight(row) { await setView(400, 500); await press(row); assert.ok((await view()).from > 400e6); },
    async panLeftFast(row) { await setView(400, 500); await press(row); near((await view()).from, 350e6, 1e5); },
    async panRightFast(row) { await setView(400, 500); await press(row); near((await view()).from, 450e6, 1e5); },
    async fitAll(row) { await setView(400, 500); await press(row); assert.ok(await state(() => window.strobe.isWhole())); },
    async fitSelection(row) { await setView(395, 425); await clickZone('main', 1, 403); await press(row); near(await span(), 12e6, 1e6); },
    async back(row) { await setView(400, 500); await page.keyboard.press('Home'); await settled(); await press(row); await page.waitForFunction(() => Math.abs(window.strobe.view.from - 400e6) < 10); },
    async forward(row) {
        await setView(400, 500);
        await page.keyboard.press('Home');
        await settled();
        await page.goBack();
        await page.waitForFunction(() => Math.abs(window.strobe.view.from - 400e6) < 10);
        await press(row);
        await page.waitForFunction(() => window.strobe.isWhole());
    },
    async follow(row) { const a = await state(() => window.strobe.following); await press(row); assert.equal(await state(() => window.strobe.following), !a); },
    async previous(row) { await setView(395, 425); await clickZone('main', 1, 413); const a = await state(() => window.strobe.selection.t0); await press(row); near(await state(() => window.strobe.selection.t0), a - 10e6, 10); },
    async next(row) { await setView(395, 425); await clickZone('main', 1, 403); const a = await state(() => window.strobe.selection.t0); await press(row); near(await state(() => window.strobe.selection.t0), a + 10e6, 10); },
    async flowNext(row) {
        await setView(399, 405);
        await clickZone('main', 2, 401.5);
        await page.waitForFunction(() => window.strobe.flows.length > 0);
        await press(row);
        assert.equal(await state(() => window.strobe.trackOf(window.strobe.selection.track).name), 'worker 0');
    },
    async flowBack(row) {
        await setView(399, 405);
        await clickZone('worker 0', 0, 402.3);
        await page.waitForFunction(() => window.strobe.flows.length > 0);
        await press(row);
        assert.equal(await state(() => window.strobe.trackOf(window.strobe.selection.track).name), 'main');
    },
    async parent(row) { await setView(399, 412); await clickZone('main', 2, 400.5); await press(row); assert.equal(await state(() => window.strobe.names.name(window.strobe.selection.loc)), 'frame'); },
    async areaFromSelection(row) { await setView(395, 425); await clickZone('main', 1, 403); await press(row); near(await state(() => window.strobe.area.to - window.strobe.area.from), 10e6, 1e5); },
    async mark(row) {
        await page.mouse.move(700, 300);
        await page.keyboard.press(row.code);
        await page.locator('.box textarea').fill('look here');
        await page.keyboard.press('Enter');
        await settled();
        assert.equal(await state(() => window.strobe.notes.list[0].text), 'look here');
    },
    async clear(row) { await setView(395, 425); await clickZone('main', 1, 403); await press(row); assert.equal(await state(() => window.strobe.selection), null); },
    async search(row) { await page.mouse.click(700, 300); await press(row); assert.ok(await state(() => document.activeElement === window.strobe.search.input)); await page.keyboard.press('Escape'); },
    async nextHit(row) { await search('rays'); await press(row); await page.waitForFunction(() => / of 1,800/.test(document.querySelector('.hits').textContent)); },
    async previousHit(row) { await search('rays'); await press(row); await page.waitForFunction(() => / of 1,800/.test(document.querySelector('.hits').textContent)); },
    async findTrack(row) { await page.mouse.click(700, 300); await press(row); await page.locator('.box input').fill('worker 2'); assert.match(await text('.choice'), /worker 2/); await page.keyboard.press('Enter'); assert.equal(await page.locator('.overlay').isHidden(), true); },
    async pin(row) { await page.keyboard.press('Home'); await settled(); const p = await place('worker 1', 0, 300); await page.mouse.move(p.x, p.y); await press(row); assert.equal(await state(() => window.strobe.timeline.layout.pinned.length), 1); },
    async drawer(row) { await press(row); assert.equal(await page.locator('.drawer').isVisible(), true); await press(row); assert.equal(await page.locator('.drawer').isVisible(), false); },
    async commands(row) { await press(row); await page.locator('.box input').fill('panel: statistics'); await page.keyboard.press('Enter'); await settled(); assert.match(await text('.tab.current'), /Statistics/); },
    async help(row) { await press(row); assert.match(await text('.box'), /Keys and mouse/); assert.equal(await page.locator('.keys tr').count(), KEYS.length + MOUSE.length); await page.keyboard.press('Escape'); },
};

async function search(words) {
    await page.locator('.search').fill(words);
    await page.waitForFunction((w) => window.strobe.search.text === w && !document.querySelector('.hits').textContent.includes('…'), words);
}

/* One check per row of the mouse table. */
const at = (x, y) => ({x: LABEL + x, y});
const mouseChecks = {
    async 'left drag'() { await setView(0, 1000); await drag(at(200, 250), at(500, 400)); assert.ok(await state(() => window.strobe.area.tracks.length > 0)); near(await state(() => window.strobe.area.to - window.strobe.area.from), 300 / 1192 * 1e9, 2e6); },
    async 'right drag'() { await setView(400, 500); await drag(at(600, 300), at(300, 300), 'right'); assert.ok((await view()).from > 420e6); },
    async 'Shift + left drag'() { await setView(400, 500); await drag(at(300, 300), at(600, 300), 'left', 'Shift'); assert.ok((await view()).from < 380e6); },
    async 'middle drag'() { await setView(0, 1000); await drag(at(200, 300), at(500, 300), 'middle'); near(await span(), 300 / 1192 * 1e9, 2e6); },
    async 'Ctrl + middle drag'() { await setView(400, 500); await drag(at(298, 300), at(894, 300), 'middle', 'Control'); near(await span(), 200e6, 2e6); },
    async 'double click'() { await setView(395, 425); const p = await place('main', 1, 403); await page.mouse.dblclick(p.x, p.y); await settled(); near(await span(), 12e6, 1e6); },
    async 'middle click'() { await setView(395, 425); await clickZone('main', 1, 403, {button: 'middle'}); near(await span(), 12e6, 1e6); },
    async 'click'() { await setView(395, 425); await clickZone('main', 1, 403); assert.match(await text('.details h2'), /frame/); },
    async 'Ctrl + click'() { await setView(395, 425); const p = await place('worker 1', 1, 404); await page.keyboard.down('Control'); await page.mouse.click(p.x, p.y); await page.keyboard.up('Control'); await settled(); assert.match(await text('.find h2'), /trace rays/); },
    async 'wheel'() {
        await setView(0, 1000);
        await page.mouse.move(700, 300);
        await page.mouse.wheel(0, 40);
        await page.locator('.box[data-kind=wheel] button.main').first().click();
        await page.setViewportSize({width: 1400, height: 420});
        await page.mouse.wheel(0, 100);
        await page.waitForFunction(() => window.strobe.timeline.scroll > 0);
        await page.setViewportSize({width: 1400, height: 860});
        await state(() => window.strobe.setWheel(true));
        const a = await span();
        await page.mouse.wheel(0, -100);
        await page.waitForFunction((old) => window.strobe.view.to - window.strobe.view.from < old, a);
        await state(() => window.strobe.setWheel(false));
    },
    async 'Shift + wheel'() { await setView(400, 500); await page.mouse.move(700, 300); await page.keyboard.down('Shift'); await page.mouse.wheel(0, 100); await page.keyboard.up('Shift'); await page.waitForFunction(() => window.strobe.view.from > 400e6 + 1); },
    async 'Ctrl + wheel, pinch'() { await setView(400, 500); const a = await span(); await page.mouse.move(700, 300); await page.keyboard.down('Control'); await page.mouse.wheel(0, -100); await page.keyboard.up('Control'); await page.waitForFunction((old) => window.strobe.view.to - window.strobe.view.from < old, a); },
    async 'wheel on ruler or minimap'() {
        await setView(400, 500);
        for (const selector of ['.timeline', '.minimap']) {
            const a = await span(), box = await page.locator(selector).boundingBox();
            await page.mouse.move(700, box.y + 8);
            await page.mouse.wheel(0, -60);
            await page.waitForFunction((old) => window.strobe.view.to - window.strobe.view.from < old, a);
        }
    },
    async 'drag on the minimap'() { await setView(400, 500); const box = await page.locator('.minimap').boundingBox(); await drag({x: 400, y: box.y + 20}, {x: 1100, y: box.y + 20}); assert.ok((await view()).from > 600e6); near(await span(), 100e6, 1e5); },
    async 'click on a track\'s name'() {
        const p = await place('main', 0, 500), a = await state(() => window.strobe.timeline.layout.height);
        await page.mouse.click(60, p.y);
        await settled();
        assert.ok(await state(() => window.strobe.timeline.layout.height) < a);
        await page.mouse.click(60, p.y);
    },
    async 'drag a track\'s name'() { const a = await place('main', 0, 500), b = await place('worker 2', 1, 500), order = () => state(() => window.strobe.timeline.layout.rows.filter((r) => r.track.kind === 'thread').map((r) => r.track.name)); await drag({x: 60, y: a.y}, {x: 60, y: b.y + 20}); const names = await order(); assert.ok(names.indexOf('main') > names.indexOf('worker 2'), names.join()); },
};

const tests = {
    async 'the whole trace is shown, every process and kind of track'() {
        await open('rich');
        const kinds = await state(() => [...new Set(window.strobe.timeline.layout.rows.map((r) => r.track.kind))].sort());
        assert.deepEqual(kinds, ['fiber', 'frames', 'locks', 'messages', 'plot', 'process', 'spans', 'thread']);
        const p = await place('main', 0, 500);
        assert.notDeepEqual(await pixel(p), [244, 246, 248]);
        await shot('timeline');
    },
    async 'a dropped file opens'() {
        await page.goto(`${server.url}/`);
        await page.waitForFunction(() => window.strobe && !document.querySelector('.start').hidden);
        await shot('start');
        await page.locator('input[type=file]').setInputFiles(path.join(traces, 'one.strobe'));
        await settled();
        assert.equal(await text('.name'), 'one.strobe');
    },
    async 'what is no trace is refused in words'() {
        await page.goto(`${server.url}/?url=/style.css`);
        await page.waitForFunction(() => /no \.strobe trace/.test(document.querySelector('.startstate').textContent));
    },
    async 'a tooltip and outlines follow the pointer'() {
        await open('rich');
        await setView(399, 412);
        const p = await place('worker 1', 1, 403);
        await page.mouse.move(p.x, p.y);
        await page.waitForFunction(() => !document.querySelector('.tip').hidden);
        assert.match(await text('.tip'), /trace rays[\s\S]*duration[\s\S]*render\.c:70/);
        assert.ok(await state(() => window.strobe.hover.loc > 0));
        await shot('hover');
        const f = await place('main', 1, 405);
        await page.mouse.move(f.x, f.y);
        await page.waitForFunction(() => /frame number 40/.test(document.querySelector('.tip').textContent));
    },
    async 'details tell times, text, source, parents and children'() {
        await open('rich');
        await setView(395, 425);
        await clickZone('main', 1, 403);
        const said = await text('.details');
        for (const word of [/frame number 40/, /9,999,9/, /src\/render\.c:20/, /Inside of\s+0\s+run/, /update/, /wait/, /Messages inside[\s\S]*checkpoint 40/])
            assert.match(said, word);
        await shot('details');
        await page.locator('.details button.link', {hasText: 'src/render.c:20'}).click();
        await page.waitForFunction(() => !document.querySelector('.source').hidden);
    },
    async 'statistics are sortable, filtered, and those of the command'() {
        await open('rich');
        await state(() => window.strobe.drawer.show('stats'));
        await settled();
        const command = JSON.parse(execFileSync(strobe, ['stats', '--json', path.join(traces, 'rich.strobe')])), mine = await statsShown();
        for (const row of command.zones)
            assert.deepEqual(mine[row.name], [row.count, row.total_ns, row.self_ns], row.name);
        await page.locator('.thead button[data-key=count]').click();
        await settled();
        assert.match(await text('.trow'), /tile/);
        await shot('statistics');
        await page.locator('.bar input').fill('encode');
        await page.waitForFunction(() => /^1 names/.test(document.querySelector('.state').textContent));
        assert.match(await text('.trow'), /encode/);
    },
    async 'find zone shows the histogram, and a brush chooses from it'() {
        await open('rich');
        await state(() => window.strobe.findByName('trace rays'));
        await state(() => window.strobe.drawer.show('find'));
        await settled();
        assert.match(await text('.figures'), /1,800/);
        await page.waitForFunction(() => /1,800 zones/.test(document.querySelector('.find .state').textContent));
        const box = await page.locator('.find .plotarea').boundingBox();
        await shot('find');
        await drag({x: box.x + box.width * 0.6, y: box.y + 20}, {x: box.x + box.width * 0.9, y: box.y + 30});
        await page.waitForFunction(() => / between /.test(document.querySelector('.find .state').textContent));
        assert.ok(await state(() => window.strobe.highlight.min > 0));
        for (const by of ['thread', 'process', 'text', 'parent']) {
            await page.locator('.find select').selectOption(by);
            await page.waitForFunction(() => document.querySelectorAll('.groups tr').length > 0);
        }
        await page.locator('.find .trow').first().click();
        await settled();
        assert.equal(await state(() => window.strobe.names.name(window.strobe.selection.loc)), 'trace rays');
    },
    async 'flame graph and tables add up'() {
        await open('rich');
        await state(() => window.strobe.drawer.show('flame'));
        await settled();
        const boxes = await state(() => window.strobe.drawer.panel('flame').boxes().map((b) => [window.strobe.names.name(b.node.loc), b.node.total]));
        assert.ok(boxes.some(([name]) => name === 'shade'));
        await shot('flame');
        for (const mode of ['down', 'up']) {
            await page.locator('.panel select').selectOption(mode);
            await page.waitForFunction(() => document.querySelectorAll('.treerow').length > 3);
        }
        await page.locator('.treerow').nth(1).click();
        await shot('bottom-up');
    },
    async 'messages are filtered, and a click goes there'() {
        await open('rich');
        await state(() => window.strobe.drawer.show('messages'));
        await settled();
        assert.match(await text('.state'), /10 messages/);
        await page.locator('.bar input').fill('checkpoint 5');
        await page.waitForFunction(() => /1 messages/.test(document.querySelector('.state').textContent));
        await page.locator('.trow').first().click();
        await settled();
        const v = await view();
        assert.ok(v.from < 500e6 && v.to > 500e6 && v.to - v.from < 200e6);
        await shot('messages');
    },
    async 'frames have a chart with target lines'() {
        await open('rich');
        await state(() => window.strobe.drawer.show('frames'));
        await settled();
        assert.match(await text('.figures'), /99/);
        await shot('frames');
        const box = await page.locator('.chart .plotarea').boundingBox();
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
        await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
        await page.waitForFunction(() => window.strobe.selection && window.strobe.trackOf(window.strobe.selection.track).kind === 'frames');
    },
    async 'info tells coverage, overhead and processes'() {
        await open('rich', '#p=info');
        const said = await text('.info');
        for (const word of [/coverage\s+100\.0 %/, /one event\s+11\.0 ns/, /build-7/, /Process 4001/, /\/usr\/bin\/renderer/])
            assert.match(said, word);
        await shot('info');
    },
    async 'an area of time and tracks has zones, counters and flows of its own'() {
        await open('rich');
        await setView(0, 1000);
        const a = await place('main', 0, 200), b = await place('worker 2', 2, 300);
        await drag(a, b);
        const said = await text('.details');
        assert.match(said, /Area of (99|100|101)/);
        assert.match(said, /Zones by name/);
        await shot('area');
        const range = await state(() => window.strobe.range()), command = JSON.parse(execFileSync(strobe, ['stats', '--json', '--process', 'renderer', '--range', `${range.from}ns..${range.to}ns`, path.join(traces, 'rich.strobe')]));
        await page.locator('[data-panel=stats]').click();
        await settled();
        const mine = await statsShown(), tile = command.zones.find((z) => z.name === 'tile');
        assert.deepEqual(mine.tile, [tile.count, tile.total_ns, tile.self_ns]);
        assert.match(await page.evaluate(() => window.strobe.copyCommand()), /^strobe stats --range \d+ns\.\.\d+ns 'rich\.strobe'$/);
        const edge = await state(() => window.strobe.timeline.xOf(window.strobe.area.to));
        await drag({x: edge, y: 200}, {x: edge + 100, y: 200});
        assert.ok(await state(() => window.strobe.area.to > 330e6));
    },
    async 'limit to view makes panels count what is seen'() {
        await open('rich', '#p=stats');
        await setView(100, 200);
        await page.locator('#limit').check();
        await page.waitForFunction(() => /^view of/.test(document.querySelector('.rangenote').textContent));
        await settled();
        await page.waitForTimeout(150);
        await settled();
        assert.equal((await statsShown()).frame[0], 10);
    },
    async 'search finds zones, texts, messages and tracks, and steps through them'() {
        await open('rich');
        await search('checkpoint 3');
        await page.waitForFunction(() => /1 hits/.test(document.querySelector('.hits').textContent));
        await search('frame number 4');
        await page.waitForFunction(() => /11 hits/.test(document.querySelector('.hits').textContent));
        await page.locator('.search').press('Enter');
        await page.waitForFunction(() => /1 of 11/.test(document.querySelector('.hits').textContent));
        await page.locator('.search').press('Enter');
        await page.waitForFunction(() => /2 of 11/.test(document.querySelector('.hits').textContent));
        await settled();
        near(await state(() => window.strobe.selection.t0), 400e6, 1e6);
        await page.locator('.search').press('Shift+Enter');
        await page.waitForFunction(() => /1 of 11/.test(document.querySelector('.hits').textContent));
        await search('worker');
        await page.waitForFunction(() => /3 tracks/.test(document.querySelector('.hits').textContent));
        await search('shade');
        await shot('search');
    },
    async 'keys typed into a field steal nothing'() {
        await open('rich');
        const v = await view();
        await page.locator('.search').click();
        await page.keyboard.type('wasd fmpqr?');
        await page.waitForTimeout(400);
        await settled();
        assert.deepEqual(await view(), v);
        assert.equal(await page.locator('.search').inputValue(), 'wasd fmpqr?');
        assert.equal(await page.locator('.overlay').isHidden(), true);
    },
    async 'the link holds view, selection, panel and notes'() {
        await open('rich');
        await setView(395, 425);
        await clickZone('main', 1, 413);
        await state(() => window.strobe.notes.add(410e6, 412e6, 'slow here'));
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
    async 'tracks are filtered, limited, pinned'() {
        await open('rich');
        await page.locator('.trackfilter').fill('worker');
        await settled();
        assert.equal(await state(() => window.strobe.timeline.layout.rows.filter((r) => !r.header).length), 3);
        await page.locator('.trackfilter').fill('');
        await state(() => window.strobe.setDepthLimit(window.strobe.trace.tracks.find((t) => t.name === 'worker 0').id, 1));
        await settled();
        assert.equal(await state(() => window.strobe.timeline.layout.rows.find((r) => r.track.name === 'worker 0').lanes), 1);
        await state(() => window.strobe.togglePin(window.strobe.trace.tracks.find((t) => t.name === 'encoder' && t.kind === 'thread').id));
        await settled();
        await shot('pinned');
    },
    async 'times are relative, UTC or raw'() {
        await open('rich');
        await page.locator('[data-act=timeMode]').click();
        assert.equal(await text('[data-act=timeMode]'), 'UTC');
        await page.locator('[data-act=timeMode]').click();
        assert.equal(await text('[data-act=timeMode]'), 'raw');
    },
    async 'light and dark, 100 % and 200 %'() {
        for (const scheme of ['light', 'dark'])
            for (const scale of [1, 2]) {
                await fresh({colorScheme: scheme, deviceScaleFactor: scale, viewport: {width: 1400 / scale, height: 860 / scale}});
                await open('rich', '#v=395000000,425000000');
                assert.equal(await state(() => document.documentElement.dataset.theme), scheme);
                await shot(`${scheme}-${scale}00`);
            }
        await fresh();
    },
    async 'a picture of the view is saved by a button'() {
        await open('rich');
        const [file] = await Promise.all([page.waitForEvent('download'), page.locator('[data-act=png]').click()]);
        const bytes = fs.readFileSync(await file.path());
        assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
        assert.ok(bytes.length > 10000);
    },
    async 'names in any script are shown, HTML in names never runs'() {
        await open('names');
        await setView(0, 900);
        for (const ms of [150, 250, 350, 450, 550, 650, 750]) {
            await clickZone('主线程', 0, ms);
            const p = await place('主线程', 0, ms);
            await page.mouse.move(p.x + 3, p.y);
            await page.waitForTimeout(100);
        }
        for (const panel of ['stats', 'messages', 'flame', 'info', 'find']) {
            await state((id) => window.strobe.drawer.show(id), panel);
            await settled();
        }
        await search('<img');
        assert.equal(await state(() => window.hacked), undefined);
        assert.equal(await page.locator('img[src=x]').count(), 0);
        await state(() => window.strobe.drawer.show('stats'));
        await settled();
        assert.match(await text('.tbody'), /渲染一帧/);
        await shot('names');
    },
    async 'a zone of three days and one of a nanosecond'() {
        await open('ages');
        const day = 86400e9;
        const begins = await state(async () => {
            const s = window.strobe, {arrays} = await s.engine.ask({ask: 'stats', filter: 'one ns'}), found = await s.engine.ask({ask: 'instances', loc: arrays.loc[0], limit: 5, sort: 'time'});
            s.setView(found.arrays.t0[4] - 10, found.arrays.t0[4] + 10);
            return found.arrays.t0[4];
        });
        await settled();
        await clickZoneAt('fast', 0, begins + 0.5);
        assert.match(await text('.details'), /1 ns/);
        await page.keyboard.press('Home');
        await settled();
        await clickZoneAt('slow', 0, day * 1.5);
        assert.match(await text('.details'), /3 d 0 h/);
        await shot('ages');
    },
    async 'one zone, none, and zones that never end'() {
        await open('one');
        await clickZone('main', 0, 1.2);
        assert.match(await text('.details h2'), /only zone/);
        await open('none');
        assert.match(await text('.toast'), /no events/);
        await open('open');
        await clickZone('main', 0, 2.5);
        assert.match(await text('.details'), /not ended/);
        await shot('never-ends');
    },
    async '100,000 locations'() {
        await open('locs', '#p=stats');
        await page.waitForFunction(() => /100,000 names/.test(document.querySelector('.state').textContent));
    },
    async 'a cut file opens, and says so'() {
        await open('cut', '#p=info');
        assert.match(await text('.info'), /not closed/);
        assert.ok(await state(() => window.strobe.timeline.data.fine.arrays.t0.length > 100));
    },
    async 'losses are drawn where they are'() {
        await open('losses', '#p=info');
        assert.match(await text('.info'), /1,234: pool full/);
        const inside = await state(() => {
            const s = window.strobe, tl = s.timeline, row = tl.visibleRows().find((r) => r.row.track.name === 'lossy'), c = tl.canvas.getContext('2d');
            return [...c.getImageData(Math.round(tl.xOf(50e6)), Math.round(row.y + row.row.height - 3), 1, 1).data].slice(0, 3);
        });
        assert.deepEqual(inside, [179, 38, 30]);
        await shot('losses');
    },
    async 'a frame has at most 5,000 shapes and 500 labels'() {
        for (const name of ['rich', 'tracks']) {
            await open(name);
            await state(() => { window.strobe.timeline.frames.length = 0; });
            await page.mouse.move(800, 300);
            for (const key of 'wwwwddddssssaaaawwwwwwwwdddd')
                await page.keyboard.press(`Key${key.toUpperCase()}`);
            await settled();
            const most = await state(() => window.strobe.timeline.frames.reduce((m, f) => [Math.max(m[0], f.shapes), Math.max(m[1], f.labels)], [0, 0]));
            assert.ok(most[0] > 20 && most[0] <= 5000 && most[1] <= 500, `${name}: ${most}`);
        }
        await shot('tracks');
    },
    async 'an exported page opens from disk, with no server and no network'() {
        const file = path.join(shots, '..', 'rich.html');
        execFileSync(strobe, ['export', '--to', 'html', '-o', file, path.join(traces, 'rich.strobe')], {stdio: 'ignore'});
        await fresh({offline: true});
        await page.goto(pathToFileURL(file).href);
        await settled();
        await setView(395, 425);
        await clickZone('main', 1, 403);
        assert.match(await text('.details'), /frame number 40/);
        const piece = path.join(shots, '..', 'piece.html');
        execFileSync(strobe, ['export', '--to', 'html', '--range', '400ms..500ms', '--process', 'renderer', '-o', piece, path.join(traces, 'rich.strobe')], {stdio: 'ignore'});
        await page.goto(pathToFileURL(piece).href);
        await settled();
        near((await view()).from, 399e6, 1e6);
        await clickZone('main', 1, 443);
        assert.match(await text('.details'), /frame number 44/);
        assert.equal(await state(() => window.hacked), undefined);
        await fresh();
    },
    async 'every row of the key table does what it says'() {
        await open('rich');
        for (const row of KEYS) {
            assert.ok(keyChecks[row.act], `no check for ${row.act}`);
            await state(() => { history.replaceState(null, '', location.pathname + location.search); window.strobe.choice.pinned = []; window.strobe.timeline.relayout(); window.strobe.drawer.hide(); });
            await page.keyboard.press('Escape');
            await settled();
            await page.mouse.move(700, 330);
            try {
                await keyChecks[row.act](row);
            } catch (error) {
                error.message = `${row.show}: ${error.message}`;
                throw error;
            }
        }
        await page.keyboard.press('Shift+Slash');
        await shot('help');
        await page.keyboard.press('Escape');
    },
    async 'every row of the mouse table does what it says'() {
        await open('rich');
        for (const row of MOUSE) {
            assert.ok(mouseChecks[row.show], `no check for ${row.show}`);
            await page.keyboard.press('Escape');
            await state(() => { window.strobe.drawer.hide(); window.strobe.choice.order.clear(); window.strobe.timeline.relayout(); });
            await settled();
            try {
                await mouseChecks[row.show]();
            } catch (error) {
                error.message = `${row.show}: ${error.message}`;
                throw error;
            }
        }
    },
};

async function statsShown() {
    return state(() => Object.fromEntries(window.strobe.drawer.panel('stats').table.rows.map((r) => [r.row.name, [r.count, r.total, r.self]])));
}

async function clickZoneAt(track, depth, ns) {
    return clickZone(track, depth, ns / 1e6);
}

let failed = 0;
await fresh();
for (const [name, run] of Object.entries(tests)) {
    if (parts.length && !parts.some((p) => name.includes(p)) || remote && /dropped|no trace|exported/.test(name))
        continue;
    const start = performance.now();
    try {
        errors.length = 0;
        await run();
        assert.deepEqual(errors, [], 'errors on the page');
        console.log(`ok    ${name} (${Math.round(performance.now() - start)} ms)`);
    } catch (error) {
        failed++;
        console.log(`FAIL  ${name}\n${String(error.stack).slice(0, 1500)}\n${errors.join('\n')}`);
        await page.screenshot({path: path.join(shots, 'failed.png')}).catch(() => {});
        await fresh();
    }
}
await browser.close();
server.close();
if (viewer)
    viewer.child.kill();
process.exit(failed ? 1 : 0);
