/* browser.mjs - a real browser with the page in it, driven as a user would; what is shown can be asked for. Every test of the page is called
 * with STROBE MODULES TRACES SHOTS [--server] [--slow] [PART…]: with PART only the tests with that in their name; with --server the server
 * answers instead of the page's own reader; with --slow the browser's CPU is six times as slow. Pictures go to the folder SHOTS.
 * SPDX-License-Identifier: MIT */
import {spawn} from 'node:child_process';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {host} from './host.mjs';

export const LABEL = 208, PATIENCE = 60000;
export const [strobe, modules, traces, shots] = process.argv.slice(2, 6).map((p) => path.resolve(p));
const words = process.argv.slice(6);
const isRemote = words.includes('--server'), isSlow = words.includes('--slow'), parts = words.filter((w) => !w.startsWith('--'));
const {chromium} = await import(pathToFileURL(path.join(modules, 'playwright-core', 'index.mjs')).href);
const web = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..', 'web');
const made = path.join(path.dirname(strobe), '..', 'page'); /* what the build makes for the page */
fs.mkdirSync(shots, {recursive: true});

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => fs.existsSync(p));
export const server = await host({'/': [web, made], '/t/': [traces]});
const browser = await chromium.launch({executablePath, args: process.getuid() === 0 ? ['--no-sandbox'] : []});
let context, errors;
export let page;

/** `strobe view` over a folder of traces, with the page's files as they are in the tree: {child, link}. */
export async function startServer(folder) {
    const child = spawn(strobe, ['view', '--no-open', '--web', web, folder], {stdio: ['ignore', 'pipe', 'pipe']});
    let said = '';
    for await (const bytes of child.stdout) {
        const link = /http:\/\/\S+/.exec(said += bytes);
        if (link)
            return {child, link: link[0]};
    }
    throw new Error(`strobe view said: ${said}`);
}

const viewer = isRemote ? await startServer(traces) : null;

/** A new page with nothing kept. `expected`: errors that the test causes. */
export async function fresh(options = {}, expected = /^$/) {
    if (context)
        await context.close();
    context = await browser.newContext({viewport: {width: 1400, height: 860}, colorScheme: 'light', permissions: ['clipboard-read', 'clipboard-write'], ...options});
    page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    if (isSlow)
        await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', {rate: 6});
    errors = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && !/404|source list for the Content Security Policy/.test(message.text()) && !expected.test(message.text()) && errors.push(message.text()));
}

/** Everything asked for has been answered and drawn, at the size that the canvas has. */
export async function settled() {
    await page.waitForFunction(() => {
        const s = window.strobe, tl = s && s.timeline;
        return s && s.trace && s.engine.waiting.size === 0 && !tl.data.pending && !s.frame && !s.urlTimer && !s.drawer.timer && !s.drawer.nRunning && !s.names.timer && tl.height === Math.max(60, Math.round(tl.canvas.getBoundingClientRect().height) / tl.zoom) &&
            (tl.data.fine || !tl.layout.rows.some((r) => !r.header && r.track.n_depths));
    }, null, {timeout: PATIENCE, polling: 30});
}

export async function open(name, hash = '') {
    await page.goto('about:blank');
    await page.goto(viewer ? `${viewer.link}&trace=${name}.strobe${hash}` : `${server.url}/?url=/t/${name}.strobe${hash}`);
    await settled();
}

export const state = (f, arg) => page.evaluate(f, arg);
export const view = () => state(() => ({...window.strobe.view}));
export const span = async () => state(() => window.strobe.view.to - window.strobe.view.from);
export const shot = (name) => page.screenshot({path: path.join(shots, `${name}.png`)});
export const text = (selector) => page.locator(selector).first().innerText();
export const near = (a, b, slack, what) => assert.ok(Math.abs(a - b) <= slack, `${what || ''} ${a} is not near ${b}`);
export const clipboard = () => state(() => navigator.clipboard.readText());

/** Wait until a selector's text fits. */
export const says = (selector, pattern) => page.waitForFunction(([s, source]) => {
    const element = document.querySelector(s);
    return element && new RegExp(source).test(element.innerText);
}, [selector, pattern.source]);

/** What `f` finds on a page that has settled and stays so: places on the screen move while a panel opens, a track is scrolled to or an answer tells
 * of more depths. */
export async function still(f, arg) {
    await settled();
    for (let was = await state(f, arg); ; ) {
        await settled();
        const now = await state(f, arg);
        if (JSON.stringify(now) === JSON.stringify(was))
            return now;
        was = now;
    }
}

/** The place on the screen of a time on a track's lane. */
export function place(trackName, depth, ms) {
    return still(([name, d, t]) => {
        const s = window.strobe, track = s.trace.tracks.find((x) => x.name === name && x.kind !== 'process'), tl = s.timeline, box = tl.canvas.getBoundingClientRect();
        s.showTrack(track.id, d);
        const row = tl.visibleRows().find((r) => r.row.track.id === track.id && !r.row.header);
        return {x: box.left + tl.xOf(t * 1e6) * tl.zoom, y: box.top + (row.y + 3 + d * 19 + 9) * tl.zoom};
    }, [trackName, depth, ms]);
}

export async function clickZone(trackName, depth, ms, options) {
    const p = await place(trackName, depth, ms);
    await page.mouse.move(p.x, p.y);
    await page.mouse.click(p.x, p.y, options);
    await settled();
}

export async function drag(from, to, button = 'left', modifier) {
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

export async function setView(fromMs, toMs) {
    await state(([a, b]) => window.strobe.setView(a * 1e6, b * 1e6), [fromMs, toMs]);
    await settled();
}

/** Open a panel by its tab. */
export async function panel(id) {
    if (await page.locator('.drawer').isHidden())
        await page.locator('.topbar [data-act=drawer]').click();
    await page.locator(`[data-panel=${id}]`).click();
    await settled();
}

/** Type into the search box and wait for its answer. */
export async function search(what) {
    await page.locator('.search').fill(what);
    await page.waitForFunction((w) => window.strobe.search.text === w && !document.querySelector('.hits').textContent.includes('…'), what);
}

/** The pixel of the timeline at a place, as [r, g, b]. */
export function pixel(p) {
    return state(({x, y}) => {
        const c = window.strobe.timeline.canvas, box = c.getBoundingClientRect();
        return [...c.getContext('2d').getImageData(Math.round(x - box.left), Math.round(y - box.top), 1, 1).data].slice(0, 3);
    }, p);
}

/** Run all, one after the other, and leave. `local`: what only the page's own reader can do. */
export async function run(tests, local = /^$/) {
    let failed = 0;
    await fresh();
    for (const [name, test] of Object.entries(tests)) {
        if (parts.length && !parts.some((p) => name.includes(p)) || isRemote && local.test(name))
            continue;
        const start = performance.now();
        try {
            errors.length = 0;
            await test();
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
}
