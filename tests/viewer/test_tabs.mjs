/* test_tabs.mjs: several traces in one page: opened one after the other, gone to and fro, closed. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import path from 'node:path';
import {fresh, near, open, page, place, run, setView, settled, shot, startServer, state, text, traces} from './browser.mjs';

const names = () => page.locator('.tracename').allInnerTexts();
const from = () => state(() => Math.round(window.strobe.view.from / 1e6));

async function isShown(name) {
    await page.waitForFunction((n) => window.strobe && window.strobe.trace && window.strobe.trace.name === n && !window.strobe.main.hidden, name);
    await settled();
}

async function drop(name) {
    await page.locator('input[type=file]').first().setInputFiles(path.join(traces, name));
    await isShown(name);
}

const tests = {
    async 'a trace that is dropped gets a tab, and each keeps its place, its tracks and its selection'() {
        await open('rich');
        assert.equal(await page.locator('.tracetabs').isHidden(), true, 'one trace needs no tabs');
        await setView(400, 500);
        const p = await place('main', 1, 453);
        await settled();
        await page.mouse.click(p.x, p.y);
        await page.waitForFunction(() => window.strobe.selection);
        await state(() => window.strobe.toggleCollapse(window.strobe.trace.tracks.find((t) => t.name === 'worker 1').id));
        await settled();
        const {t0} = await state(() => window.strobe.selection);
        await drop('daily.strobe');
        assert.deepEqual(await names(), ['rich.strobe', 'daily.strobe']);
        assert.equal(await page.locator('.tracetab.current').innerText().then((t) => t.split('\n')[0]), 'daily.strobe');
        await setView(100, 200);
        await shot('tabs');
        await page.locator('.tracename', {hasText: 'rich'}).click();
        await isShown('rich.strobe');
        assert.equal(await from(), 400);
        await page.waitForFunction((t) => window.strobe.selection && window.strobe.selection.t0 === t, t0);
        assert.equal(await state(() => window.strobe.timeline.layout.rows.find((r) => r.track.name === 'worker 1').collapsed), true);
        assert.match(await page.title(), /^rich\.strobe/);
        await page.locator('.timeline').focus();
        await page.keyboard.press('Alt+PageDown');
        await isShown('daily.strobe');
        assert.equal(await from(), 100);
        await page.keyboard.press('Alt+PageUp');
        await isShown('rich.strobe');
    },
    async 'Back and Forward lead from trace to trace, to the place that one was at'() {
        await open('rich');
        await setView(400, 500);
        await drop('daily.strobe');
        await setView(100, 200);
        await page.goBack();
        await isShown('rich.strobe');
        assert.equal(await from(), 400);
        await page.goForward();
        await isShown('daily.strobe');
        assert.equal(await from(), 100);
        assert.deepEqual(await names(), ['rich.strobe', 'daily.strobe']);
    },
    async 'a tab is closed, and what answered for it ends'() {
        await open('rich');
        await drop('daily.strobe');
        await drop('one.strobe');
        const closed = await state(() => {
            const [, {engine}] = window.strobe.tabs.list, old = engine.close;
            window.nClosed = 0;
            engine.close = function close() {
                window.nClosed++;
                return old.call(this);
            };
            return engine === window.strobe.engine;
        });
        assert.equal(closed, false);
        await page.locator('.tracetab', {hasText: 'daily'}).locator('button', {hasText: '✕'}).click();
        assert.equal(await state(() => window.nClosed), 1);
        assert.deepEqual(await names(), ['rich.strobe', 'one.strobe']);
        assert.equal(await page.locator('.name').isHidden(), true, 'the tab has the name');
        await state(() => window.strobe.act('closeTrace'));
        await isShown('rich.strobe');
        assert.equal(await page.locator('.tracetabs').isHidden(), true);
        assert.equal(await text('.name'), 'rich.strobe');
        await setView(300, 350);
        near(await from(), 300, 0);
    },
    async 'no more than eight are open: the oldest goes, and the page says so'() {
        await open('rich');
        for (let i = 0; i < 8; i++)
            await drop(['one.strobe', 'daily.strobe'][i % 2]);
        assert.equal((await names()).length, 8);
        assert.match(await text('.toast'), /rich\.strobe was closed/);
    },
    async 'traces of a server’s folder open beside each other, and the start page is in between'() {
        const {child, link} = await startServer(traces);
        try {
            await fresh();
            await page.goto(link);
            await page.locator('.traces a', {hasText: 'rich.strobe'}).click();
            await isShown('rich.strobe');
            assert.match(await state(() => location.search), /trace=rich\.strobe/);
            await setView(400, 500);
            await page.locator('.logo').click();
            await page.locator('.traces a', {hasText: 'daily.strobe'}).click();
            await isShown('daily.strobe');
            assert.deepEqual(await names(), ['rich.strobe', 'daily.strobe']);
            await page.locator('.tracename', {hasText: 'rich'}).click();
            await isShown('rich.strobe');
            assert.equal(await from(), 400);
            await page.reload(); /* the address is that of the one that was shown */
            await isShown('rich.strobe');
            assert.equal(await from(), 400);
        } finally {
            child.kill();
            await fresh();
        }
    },
};

await run(tests);
