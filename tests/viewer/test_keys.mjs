/* test_keys.mjs: every row of the tables of keys and mouse (web/view/keys.js) does what it says. Arguments: browser.mjs.
 * SPDX-License-Identifier: MIT */
import assert from 'node:assert/strict';
import {LABEL, clickZone, drag, near, open, page, place, run, search, setView, settled, shot, span, state, text, view} from './browser.mjs';
import {KEYS, MOUSE} from '../../web/view/keys.js';

/* Press a row of the key table. */
async function press(row) {
    const name = {C: 'Control', S: 'Shift', A: 'Alt'}, keys = [...row.mods].map((m) => name[m]);
    await page.keyboard.press([...keys, row.code].join('+'));
    await settled();
}

const says = (f) => page.waitForFunction(f);

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
    async fitHeight(row) {
        await page.setViewportSize({width: 1400, height: 480});
        await settled();
        const heights = () => state(() => { const tl = window.strobe.timeline; return [tl.layout.height, tl.scrollRoom()]; }), [before, room] = await heights();
        assert.ok(before > room);
        await press(row);
        const [after, left] = await heights();
        assert.ok(after <= left + 1, `${after} of ${left}`);
        await shot('fit-height');
        await press(row);
        assert.equal((await heights())[0], before);
        await page.setViewportSize({width: 1400, height: 860});
    },
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
    async undo(row) { await setView(400, 500); await setView(600, 650); await press(row); await page.waitForFunction(() => Math.abs(window.strobe.view.from - 400e6) < 10); },
    async redo(row) { await setView(400, 500); await setView(600, 650); await page.keyboard.press('Control+KeyZ'); await page.waitForFunction(() => Math.abs(window.strobe.view.from - 400e6) < 10); await settled(); await press(row); await page.waitForFunction(() => Math.abs(window.strobe.view.from - 600e6) < 10); },
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
    async zoneLeft(row) { await setView(395, 425); await clickZone('main', 1, 413); const a = await state(() => window.strobe.selection.t0); await press(row); near(await state(() => window.strobe.selection.t0), a - 10e6, 10); },
    async zoneRight(row) { await setView(395, 425); await clickZone('main', 1, 403); const a = await state(() => window.strobe.selection.t0); await press(row); near(await state(() => window.strobe.selection.t0), a + 10e6, 10); },
    async zoneUp(row) { await setView(399, 412); await clickZone('main', 2, 400.5); await press(row); assert.equal(await state(() => window.strobe.selection.depth), 1); },
    async zoneDown(row) { await setView(399, 412); await clickZone('main', 1, 400.5); await press(row); await says(() => window.strobe.selection.depth === 2); },
    async trackUp(row) { await setView(399, 412); await clickZone('worker 1', 0, 404); await press(row); await says(() => window.strobe.trackOf(window.strobe.selection.track).name === 'worker 0'); },
    async trackDown(row) { await setView(399, 412); await clickZone('worker 0', 0, 404); await press(row); await says(() => window.strobe.trackOf(window.strobe.selection.track).name === 'worker 1'); },
    async zoneMenu(row) { await setView(395, 425); await clickZone('main', 1, 403); await press(row); assert.match(await text('.menu'), /Find all of this name/); await page.keyboard.press('Escape'); },
    async nextMessage(row) { await setView(395, 425); await press(row); await says(() => document.querySelector('.toast').textContent.includes('checkpoint 50')); },
    async previousMessage(row) { await setView(395, 425); await press(row); await says(() => document.querySelector('.toast').textContent.includes('checkpoint 40')); },
    async nextNote(row) { await setView(395, 425); await state(() => window.strobe.notes.make(600e6, 600e6, 'after')); await press(row); await says(() => document.querySelector('.toast').textContent.includes('after')); },
    async previousNote(row) { await setView(700, 725); await state(() => window.strobe.notes.make(600e6, 600e6, 'after')); await press(row); await says(() => document.querySelector('.toast').textContent.includes('after')); },
    async hide(row) { await page.keyboard.press('Home'); await settled(); const p = await place('worker 1', 0, 300); await page.mouse.move(p.x, p.y); await press(row); assert.ok(await state(() => !window.strobe.timeline.layout.rows.some((r) => r.track.name === 'worker 1'))); },
    async showAll(row) { await press(row); assert.ok(await state(() => window.strobe.timeline.layout.rows.some((r) => r.track.name === 'worker 1'))); },
    async parent(row) { await setView(399, 412); await clickZone('main', 2, 400.5); await press(row); assert.equal(await state(() => window.strobe.names.name(window.strobe.selection.loc)), 'frame'); },
    async areaFromSelection(row) { await setView(395, 425); await clickZone('main', 1, 403); await press(row); near(await state(() => window.strobe.area.to - window.strobe.area.from), 10e6, 1e5); },
    async areaFromView(row) { await setView(400, 500); await press(row); assert.deepEqual(await state(() => [window.strobe.area.from, window.strobe.area.to]), [400e6, 500e6]); },
    async trackMenu(row) { await press(row); await page.locator('.box input').fill('worker 2'); await page.keyboard.press('Enter'); assert.match(await text('.menu'), /^worker 2[^]*Move it up[^]*Hide it/); await page.keyboard.press('Escape'); },
    async mark(row) {
        await page.mouse.move(700, 300);
        await page.keyboard.press(row.code);
        await page.locator('.box textarea').fill('look here');
        await page.keyboard.press('Enter');
        await settled();
        assert.equal(await state(() => window.strobe.notes.list[0].text), 'look here');
    },
    async clear(row) { await setView(395, 425); await clickZone('main', 1, 403); await press(row); assert.equal(await state(() => window.strobe.selection), null); },
    async search(row) { await page.mouse.click(700, 300); await settled(); await press(row); assert.ok(await state(() => document.activeElement === window.strobe.search.input)); await page.keyboard.press('Escape'); },
    async nextHit(row) { await search('rays'); await press(row); await page.waitForFunction(() => / of 1,800/.test(document.querySelector('.hits').textContent)); },
    async previousHit(row) { await search('rays'); await press(row); await page.waitForFunction(() => / of 1,800/.test(document.querySelector('.hits').textContent)); },
    async findTrack(row) { await page.mouse.click(700, 300); await settled(); await press(row); await page.locator('.box input').fill('worker 2'); assert.match(await text('.choice'), /worker 2/); await page.keyboard.press('Enter'); assert.equal(await page.locator('.overlay').isHidden(), true); },
    async nextTrace(row) { await press(row); await says(() => /One trace is open/.test(document.querySelector('.toast').textContent)); },
    async previousTrace(row) { await press(row); await says(() => /One trace is open/.test(document.querySelector('.toast').textContent)); },
    async pin(row) { await page.keyboard.press('Home'); await settled(); const p = await place('worker 1', 0, 300); await page.mouse.move(p.x, p.y); await press(row); assert.equal(await state(() => window.strobe.timeline.layout.pinned.length), 1); },
    async drawer(row) { await press(row); assert.equal(await page.locator('.drawer').isVisible(), true); await press(row); assert.equal(await page.locator('.drawer').isVisible(), false); },
    async commands(row) { await press(row); await page.locator('.box input').fill('panel: statistics'); await page.keyboard.press('Enter'); await settled(); assert.match(await text('.tab.current'), /Statistics/); },
    async help(row) { await press(row); assert.match(await text('.box'), /Keys and mouse/); assert.equal(await page.locator('.keys tr').count(), KEYS.length + MOUSE.length); await page.keyboard.press('Escape'); },
};

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
    async 'right click'() { await setView(395, 425); await clickZone('main', 1, 403, {button: 'right'}); await page.locator('.menu button', {hasText: 'Find all of this name'}).click(); await settled(); assert.match(await text('.find h2'), /frame/); },
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
        await page.reload();
        await settled();
        const b = await span();
        await page.mouse.wheel(0, -100);
        await page.waitForFunction((old) => window.strobe.view.to - window.strobe.view.from < old, b);
        assert.equal(await page.locator('.overlay').isHidden(), true, 'asked once');
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
    async 'right click on a track\'s name'() {
        const p = await place('worker 0', 0, 500), lanes = () => state(() => window.strobe.timeline.layout.rows.find((r) => r.track.name === 'worker 0').lanes);
        for (const [item, n] of [['Show only the outermost depth', 1], ['Show all depths', 3]]) {
            await page.mouse.click(60, p.y, {button: 'right'});
            await page.locator('.menu button', {hasText: item}).click();
            await settled();
            assert.equal(await lanes(), n);
        }
        await page.mouse.click(60, p.y, {button: 'right'});
        await shot('menu');
        await page.keyboard.press('Escape');
        assert.equal(await page.locator('.menu').isHidden(), true);
    },
    async 'drag a track\'s name'() { const a = await place('main', 0, 500), b = await place('worker 2', 1, 500), order = () => state(() => window.strobe.timeline.layout.rows.filter((r) => r.track.kind === 'thread').map((r) => r.track.name)); await drag({x: 60, y: a.y}, {x: 60, y: b.y + 20}); const names = await order(); assert.ok(names.indexOf('main') > names.indexOf('worker 2'), names.join()); },
};

const tests = {
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
    async 'Space presses the button or box that keys went to'() {
        await open('rich', '#p=stats');
        const press = async (selector) => {
            await page.locator(selector).focus();
            await page.keyboard.press('Shift+Tab');
            await page.keyboard.press('Tab');
            await page.keyboard.press('Space');
        };
        await press('#limit');
        await page.waitForFunction(() => window.strobe.limitToView);
        await press('.topbar [data-act=theme]');
        assert.equal(await state(() => document.documentElement.dataset.theme), 'dark');
        await press('.topbar [data-act=theme]');
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

await run(tests);
